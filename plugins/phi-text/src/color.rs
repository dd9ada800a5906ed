//! Colors as style sheets and pictures write them: `fill="#2e3436"`, `--gray5: #7a7a7a`.

use crate::text::byte_before;

/// What such a value is called by, or a part of it.
const WORDS: &[&[u8]] = &[
    b"color",
    b"colour",
    b"fill",
    b"stroke",
    b"background",
    b"border",
    b"link",
    b"shadow",
    b"gradient",
    b"gray",
    b"grey",
    b"style",
    b"theme",
    b"fg",
    b"bg",
];

/// Bytes from the value back to the word.
const REACH: usize = 48;

/// Whether `text[start..end]` is a color behind its sign, with a word for it before.
pub fn is_one(text: &[u8], start: usize, end: usize) -> bool {
    let value = text.get(start..end).unwrap_or_default();
    let is_hex = matches!(value.len(), 3 | 4 | 6 | 8) && value.iter().all(u8::is_ascii_hexdigit);
    if !is_hex || byte_before(text, start) != b'#' {
        return false;
    }
    let head = text.get(start.saturating_sub(REACH)..start - 1);
    let line = head
        .unwrap_or_default()
        .rsplit(|byte| matches!(byte, b'\n' | b';' | b'{' | b'<'))
        .next()
        .unwrap_or_default();
    let has = |word: &&[u8]| {
        line.windows(word.len())
            .any(|part| part.eq_ignore_ascii_case(word))
    };
    WORDS.iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_color_has_a_word_before_it() {
        let is_color = |text: &str, value: &str| {
            let start = text.find(value).unwrap_or_default();
            is_one(text.as_bytes(), start, start + value.len())
        };
        for (text, value) in [
            ("<g fill=\"#2e3436\">", "2e3436"),
            ("<body vlink=\"#840084\">", "840084"),
            ("  --gray5: #7a7a7a;", "7a7a7a"),
            ("guibg=#00ff00", "00ff00"),
        ] {
            assert!(is_color(text, value), "{text}");
        }
        for (text, value) in [
            ("chart #840084", "840084"),
            ("color: red; mrn #840084", "840084"),
            ("background 840084", "840084"),
            ("fill the form of #8400841", "8400841"),
        ] {
            assert!(!is_color(text, value), "{text}");
        }
    }
}
