//! Values behind a word that is marked as a key by what stands before it: `:patient/mrn "60417"` of Clojure and Lisp,
//! `(last-name "Doe")`, `:lastName "Doe"` of SPARQL, and the numbered answers of Redis: `1) "mrn"`, `2) "60417"`.

use super::json::string;
use super::{MAX_LABEL_BYTES, Visit, is_label};
use crate::chunk;
use crate::text::{byte, byte_before};

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    // The string of the line before, and its number.
    let mut last: Option<(usize, &[u8])> = None;
    while let Some(quote) = chunk::next_of(text, at, [b'"']) {
        at = quote + 1;
        if byte_before(text, quote) != b' ' {
            continue;
        }
        let Some((start, end, after)) = string(text, quote) else {
            continue;
        };
        at = after;
        let head = text
            .get(quote.saturating_sub(MAX_LABEL_BYTES)..quote)
            .unwrap_or_default();
        if let Some(number) = number(head) {
            match last.take() {
                // The odd ones are keys.
                Some((before, key)) if number == before + 1 && number % 2 == 0 => {
                    if is_label(key) && start < end {
                        visit(key, start, end);
                    }
                }
                _ => last = Some((number, text.get(start..end).unwrap_or_default())),
            }
            continue;
        }
        let key = key(head);
        if is_label(key) && start < end && byte(text, after) != b':' {
            visit(key, start, end);
        }
    }
}

/// `1) ` at the beginning of a line.
fn number(head: &[u8]) -> Option<usize> {
    /// Digits of the number of an answer.
    const DIGITS: std::ops::RangeInclusive<usize> = 1..=5;
    let head = head.strip_suffix(b") ")?;
    let digits = head.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let digits = digits.count();
    let (before, said) = head.split_at_checked(head.len() - digits)?;
    let is_first = before
        .iter()
        .rev()
        .find(|byte| **byte != b' ')
        .is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b')' | b'"'));
    let digit = |number: usize, digit: &u8| number * 10 + usize::from(digit - b'0');
    (DIGITS.contains(&digits) && is_first).then(|| said.iter().fold(0, digit))
}

/// The word before a value, behind a colon or a bracket.
fn key(head: &[u8]) -> &[u8] {
    let mut head = head.trim_ascii_end();
    let is_of_key = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-./?".contains(byte);
    // `:dob #inst "1951-03-14"`
    let tag = head.iter().rev().take_while(is_of_key).count();
    if byte_before(head, head.len() - tag) == b'#' {
        head = head
            .get(..head.len() - tag - 1)
            .unwrap_or_default()
            .trim_ascii_end();
    }
    let len = head.iter().rev().take_while(is_of_key).count();
    let (before, key) = head.split_at_checked(head.len() - len).unwrap_or_default();
    if !matches!(before.last(), Some(b':' | b'(')) {
        return &[];
    }
    // Without its namespace.
    key.rsplit(|byte| *byte == b'/').next().unwrap_or(key)
}
