//! NUL in text, and in JSON text that arrives in pieces the escapes of NUL and of half a character (a UTF-16 surrogate
//! without its other half). Models write them; they are no text, and a reader that takes no such thing would lose all
//! that stands around them.

/// A text with U+FFFD in the place of each NUL: no request may hold that (contract 1.2), and callers send replies back.
pub fn without_nul(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "\u{fffd}")
    } else {
        text
    }
}

/// Puts U+FFFD in the place of each. Holds an escape back until it is whole, and the first half of a character until it
/// is known what follows.
#[derive(Default)]
pub(super) struct Surrogates {
    /// At most two escapes.
    held: String,
}

/// What an escape is the escape of.
enum Escape {
    High,
    Low,
    Nul,
    /// Of a unit that is a character by itself.
    Whole,
    /// Without a number: a backslash and one more sign.
    Short,
    /// More may follow.
    Partial,
}

/// `\u` and four digits.
const LONG_BYTES: usize = 6;
const REPLACEMENT: &str = "\\ufffd";

impl Surrogates {
    /// Takes the next piece in, and gives what may be sent on.
    pub(super) fn take(&mut self, piece: String) -> String {
        if self.held.is_empty() && !piece.contains('\\') {
            return piece;
        }
        let mut text = std::mem::take(&mut self.held);
        text.push_str(&piece);
        let mut sent = String::with_capacity(text.len());
        self.held = mend(&text, &mut sent).to_owned();
        sent
    }

    /// Nothing follows: what is still to be sent on.
    pub(super) fn end(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        match Escape::of(&held) {
            Escape::High => {
                let behind = held.get(LONG_BYTES..).unwrap_or_default();
                REPLACEMENT.to_owned() + behind
            }
            _ => held,
        }
    }
}

/// Appends what is known to `sent`, and gives the rest.
fn mend<'a>(text: &'a str, sent: &mut String) -> &'a str {
    let mut rest = text;
    while let Some((plain, escapes)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        sent.push_str(plain);
        let behind = escapes.get(LONG_BYTES..).unwrap_or_default();
        let (bytes, is_whole) = match (Escape::of(escapes), Escape::of(behind)) {
            (Escape::Partial, _) | (Escape::High, Escape::Partial) => return escapes,
            (Escape::High, Escape::Low) => (2 * LONG_BYTES, true),
            (Escape::High | Escape::Low | Escape::Nul, _) => (LONG_BYTES, false),
            (Escape::Whole, _) => (LONG_BYTES, true),
            (Escape::Short, _) => (short_bytes(escapes), true),
        };
        let (escape, more) = escapes.split_at_checked(bytes).unwrap_or((escapes, ""));
        sent.push_str(if is_whole { escape } else { REPLACEMENT });
        rest = more;
    }
    sent.push_str(rest);
    ""
}

fn short_bytes(escape: &str) -> usize {
    escape.chars().take(2).map(char::len_utf8).sum()
}

impl Escape {
    /// What stands in front of a text.
    fn of(text: &str) -> Self {
        let mut signs = text.bytes();
        match (signs.next(), signs.next()) {
            (None, _) | (Some(b'\\'), None) => return Self::Partial,
            (Some(b'\\'), Some(b'u')) => {}
            _ => return Self::Short,
        }
        let mut unit = 0;
        for _ in 0..4 {
            match signs.next().map(|sign| char::from(sign).to_digit(16)) {
                Some(Some(digit)) => unit = unit << 4 | digit,
                Some(None) => return Self::Short,
                None => return Self::Partial,
            }
        }
        match unit {
            0 => Self::Nul,
            0xd800..0xdc00 => Self::High,
            0xdc00..0xe000 => Self::Low,
            _ => Self::Whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: [(&str, &str); 11] = [
        (r#"{"a": "plain"}"#, r#"{"a": "plain"}"#),
        (r#"{"a": "\ud83d"}"#, r#"{"a": "\ufffd"}"#),
        (r#"{"a": "\uDE00!"}"#, r#"{"a": "\ufffd!"}"#),
        (r#"["\ud83d\ude00\u00e9"]"#, r#"["\ud83d\ude00\u00e9"]"#),
        (r#"["\ud83d\ud83d\ude00"]"#, r#"["\ufffd\ud83d\ude00"]"#),
        (r#"["\\ud83d\n\"\é"]"#, r#"["\\ud83d\n\"\é"]"#),
        (r#"["a\u0000b", "\\u0000"]"#, r#"["a\ufffdb", "\\u0000"]"#),
        (r#"["\ud83d\u0000"]"#, r#"["\ufffd\ufffd"]"#),
        (r#"["\ud83dx\ud83d\n"]"#, r#"["\ufffdx\ufffd\n"]"#),
        (r#"["\ud83d"#, r#"["\ufffd"#),
        (r#"["\ud83d\ud"#, r#"["\ufffd\ud"#),
    ];

    #[test]
    fn half_a_character_is_replaced_however_the_text_is_cut() {
        for (text, expected) in CASES {
            let signs: Vec<char> = text.chars().collect();
            for size in 1..=signs.len() {
                let mut surrogates = Surrogates::default();
                let mut sent: String = signs
                    .chunks(size)
                    .map(|piece| surrogates.take(piece.iter().collect()))
                    .collect();
                sent.push_str(&surrogates.end());
                assert_eq!(sent, expected, "{text} in pieces of {size}");
            }
        }
    }

    #[test]
    fn what_is_no_escape_goes_on_at_once() {
        let mut surrogates = Surrogates::default();
        for piece in [r#"{"a": "b"#, r"\n", r#"c\\"#, r#"\u00e9"}"#] {
            assert_eq!(surrogates.take(piece.to_owned()), piece);
        }
    }
}
