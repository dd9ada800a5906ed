//! Days behind words that otherwise are labels of codes.

use crate::text::byte;

/// `Visit on 2026-03-04`, `encounter date 2026-03-04`, `claim filed 2026-03-04`: it happened then, and is not called that.
pub fn follows(text: &[u8], at: usize) -> bool {
    const WORDS: [&[u8]; 12] = [
        b"date",
        b"dated",
        b"from",
        b"filed",
        b"opened",
        b"closed",
        b"placed",
        b"made",
        b"seen",
        b"collected",
        b"received",
        b"submitted",
    ];
    let is_one = |at: usize| {
        let day = text.get(at..at + 10).unwrap_or_default();
        let is_written = day
            .iter()
            .zip(b"dddd-dd-dd")
            .all(|(byte, form)| match form {
                b'd' => byte.is_ascii_digit(),
                sign => byte == sign,
            });
        is_written
            && matches!(day, [b'1', b'9', ..] | [b'2', b'0', ..])
            && matches!(
                day.get(5..7),
                Some([b'0', b'1'..=b'9'] | [b'1', b'0'..=b'2'])
            )
            && matches!(
                day.get(8..10),
                Some([b'0', b'1'..=b'9'] | [b'1' | b'2', _] | [b'3', b'0' | b'1'])
            )
            && !byte(text, at + 10).is_ascii_digit()
            && byte(text, at + 10) != b'-'
    };
    is_one(at)
        || WORDS.iter().any(|word| {
            let end = at + word.len();
            text.get(at..end)
                .is_some_and(|said| said.eq_ignore_ascii_case(word))
                && byte(text, end) == b' '
                && is_one(end + 1)
        })
}

#[cfg(test)]
mod tests {
    use super::follows;

    #[test]
    fn a_day_is_no_code() {
        for text in [
            "2026-03-04",
            "2026-03-04.",
            "date 2026-03-04",
            "Filed 1998-12-31 by",
        ] {
            assert!(follows(text.as_bytes(), 0), "{text}");
        }
        for text in [
            "2026-03-041",
            "2026-13-04",
            "2026-03-04-7",
            "1026-03-04",
            "dates 2026-03-04",
            "2026-03",
            "",
        ] {
            assert!(!follows(text.as_bytes(), 0), "{text}");
        }
    }
}
