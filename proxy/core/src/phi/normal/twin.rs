//! Numbers in which a letter stands for the digit that it looks like: `536-22-87l4`.

use super::rewrite::{Rewrite, Rewriter};

/// Least digits and letters of such a number, and least real digits.
const MIN_CHARS: usize = 7;
const MIN_DIGITS: usize = 4;

/// Letters in it at most, as a share of its digits: one for so many.
const DIGITS_PER_LETTER: usize = 2;

/// Reads the letters as digits; nothing where there are none.
pub(super) fn straighten(text: &str) -> Option<Rewrite> {
    let bytes = text.as_bytes();
    let mut rewriter = Rewriter::new(text);
    let mut at = 0;
    while at < bytes.len() {
        let end = match run(bytes, at) {
            Run::Number { end } => end,
            Run::Other { end } => {
                at = end;
                continue;
            }
        };
        let number = bytes.get(at..end).unwrap_or_default();
        let digits = number.iter().filter(|byte| byte.is_ascii_digit()).count();
        let letters = number.iter().filter(|byte| twin(**byte).is_some()).count();
        let begins = at
            .checked_sub(1)
            .and_then(|before| bytes.get(before))
            .is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let ends = bytes
            .get(end)
            .is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let is_number = begins
            && ends
            && letters > 0
            && digits >= MIN_DIGITS
            && digits + letters >= MIN_CHARS
            && letters * DIGITS_PER_LETTER <= digits;
        if is_number {
            for (offset, byte) in number.iter().enumerate() {
                if let Some(digit) = twin(*byte) {
                    rewriter.replace(at + offset..at + offset + 1, digit);
                }
            }
        }
        at = end;
    }
    rewriter.finish()
}

/// The digit that a letter looks like.
pub(super) const fn twin(byte: u8) -> Option<&'static str> {
    match byte {
        b'O' | b'o' => Some("0"),
        b'I' | b'l' => Some("1"),
        _ => None,
    }
}

/// What stands at a place, and where to read on.
enum Run {
    /// A row of groups: digits and twins, each group with a digit, one sign between.
    Number { end: usize },
    /// Twins alone, which are no number from whichever of them they are read; or one byte of something else.
    Other { end: usize },
}

fn run(bytes: &[u8], start: usize) -> Run {
    let mut number = None;
    let mut at = start;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || twin(**byte).is_some())
            .count();
        let has_digit = rest.iter().take(length).any(u8::is_ascii_digit);
        if !has_digit {
            return number.unwrap_or(Run::Other {
                end: at + length.max(1),
            });
        }
        at += length;
        let read = Run::Number { end: at };
        at += match bytes.get(at..).unwrap_or_default() {
            [b')', b' ', ..] => 2,
            [b'-' | b'.' | b'/' | b' ' | b')', ..] => 1,
            _ => return read,
        };
        number = Some(read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many runs a text is read as.
    fn runs(text: &str) -> usize {
        let bytes = text.as_bytes();
        let mut at = 0;
        let step = || {
            let (Run::Number { end } | Run::Other { end }) = run(bytes, at);
            at = end;
            (end <= bytes.len()).then_some(())
        };
        std::iter::repeat_with(step).map_while(|step| step).count()
    }

    #[test]
    fn a_run_of_letters_is_read_once() {
        for letter in ["l", "O", "Il", "oO"] {
            let text = format!("l5 {}", letter.repeat(50_000));
            assert_eq!(runs(&text), 3, "{letter}");
            assert!(straighten(&text).is_none(), "{letter}");
        }
    }

    #[test]
    fn numbers_behind_a_run_of_letters_are_read() {
        for (text, reads) in [
            ("llll 536-22-87l4", "llll 536-22-8714"),
            ("lll.5O6-22-8714", "lll.506-22-8714"),
            ("536-22-87l4 lll", "536-22-8714 lll"),
        ] {
            let read = straighten(text);
            assert_eq!(read.as_ref().map(Rewrite::text), Some(reads), "{text}");
        }
        for text in ["", "l", "lll5llll", "OOO-5555-lll"] {
            assert!(straighten(text).is_none(), "{text}");
        }
    }
}
