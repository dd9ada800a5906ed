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
        let Some(end) = number_end(bytes, at) else {
            at += 1;
            continue;
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
const fn twin(byte: u8) -> Option<&'static str> {
    match byte {
        b'O' | b'o' => Some("0"),
        b'I' | b'l' => Some("1"),
        _ => None,
    }
}

/// Where a row of groups that starts here ends: digits and twins, each group with a digit, one sign between.
fn number_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut end = None;
    let mut at = start;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || twin(**byte).is_some())
            .count();
        let has_digit = rest.iter().take(length).any(u8::is_ascii_digit);
        if !has_digit {
            return end;
        }
        end = Some(at + length);
        at += length;
        at += match bytes.get(at..).unwrap_or_default() {
            [b')', b' ', ..] => 2,
            [b'-' | b'.' | b'/' | b' ' | b')', ..] => 1,
            _ => return end,
        };
    }
}
