//! Colors as style sheets and pictures write them: `fill="#2e3436"`, `--gray5: #7a7a7a`.

use crate::text::byte_before;

/// What such a value is called, or the last part of what it is called.
const WORDS: &[&str] = &[
    "color",
    "colour",
    "bgcolor",
    "fill",
    "stroke",
    "background",
    "border",
    "link",
    "vlink",
    "alink",
    "shadow",
    "gray",
    "grey",
    "guifg",
    "guibg",
    "ctermfg",
    "ctermbg",
];

/// Bytes of the longest name that is looked at.
const LONGEST: usize = 48;

/// Whether `text[start..end]` is a color behind its sign, right behind a name for one.
pub fn is_one(text: &[u8], start: usize, end: usize) -> bool {
    let value = text.get(start..end).unwrap_or_default();
    let is_hex = matches!(value.len(), 3 | 4 | 6 | 8) && value.iter().all(u8::is_ascii_hexdigit);
    if !is_hex || byte_before(text, start) != b'#' {
        return false;
    }
    let head = text.get(start.saturating_sub(LONGEST)..start - 1);
    let head = head.unwrap_or_default().trim_ascii_end();
    let head = head
        .strip_suffix(b"\"")
        .or_else(|| head.strip_suffix(b"'"))
        .unwrap_or(head);
    let head = head.trim_ascii_end();
    let Some(head) = head.strip_suffix(b":").or_else(|| head.strip_suffix(b"=")) else {
        return false;
    };
    let head = head.trim_ascii_end();
    let head = head
        .strip_suffix(b"\"")
        .or_else(|| head.strip_suffix(b"'"))
        .unwrap_or(head);
    let name = head
        .rsplit(|byte| !byte.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let word = name.get(..name.len() - digits.count()).unwrap_or_default();
    // `backgroundColor`
    let last = word.iter().rposition(u8::is_ascii_uppercase).unwrap_or(0);
    let parts = [word, word.get(last..).unwrap_or_default()];
    parts.iter().any(|part| {
        WORDS
            .iter()
            .any(|known| part.eq_ignore_ascii_case(known.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_color_stands_behind_its_name() {
        let is_color = |text: &str, value: &str| {
            let start = text.rfind(value).unwrap_or_default();
            is_one(text.as_bytes(), start, start + value.len())
        };
        for (text, value) in [
            ("<g fill=\"#2e3436\">", "2e3436"),
            ("<body vlink=\"#840084\">", "840084"),
            ("  --gray5: #7a7a7a;", "7a7a7a"),
            ("guibg=#00ff00", "00ff00"),
            ("{backgroundColor: '#336699'}", "336699"),
            ("{\"stop-color\": \"#336699\"}", "336699"),
        ] {
            assert!(is_color(text, value), "{text}");
        }
        for (text, value) in [
            ("chart #840084", "840084"),
            ("color: red; mrn #840084", "840084"),
            ("refill #840084", "840084"),
            ("Refill request, MRN: #840084", "840084"),
            ("Urine color yellow, chart #448812", "448812"),
            ("style=\"x\" mrn=\"#448812\"", "448812"),
            ("refill: #448812", "448812"),
            ("fill: the form of #8400841", "8400841"),
        ] {
            assert!(!is_color(text, value), "{text}");
        }
    }
}
