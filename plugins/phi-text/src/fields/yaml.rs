//! `lastName: Okafor` in a line of its own, as YAML and print-outs of objects have it. Keys of one small word are labels
//! of prose too, and left to those who read it.

use super::{MAX_VALUE_BYTES, Visit, trimmed};
use crate::chunk;
use crate::text::{byte, byte_before};

/// Bytes of the longest key.
const MAX_KEY_BYTES: usize = 40;

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(colon) = chunk::next_of(text, at, [b':']) {
        at = colon + 1;
        if byte(text, at) != b' ' {
            continue;
        }
        // `LastName  : Okafor`, as lists of properties are printed.
        let head = text
            .get(colon.saturating_sub(MAX_KEY_BYTES)..colon)
            .unwrap_or_default()
            .trim_ascii_end();
        let len = head
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count();
        let (before, key) = head.split_at(head.len() - len);
        if !is_humped(key) || !begins_line(before) {
            continue;
        }
        let line = text
            .get(at..text.len().min(at + MAX_VALUE_BYTES))
            .unwrap_or_default();
        let end = line.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let end = at + end.unwrap_or(line.len());
        // `firstName: string;`, `lastName: null,` are code.
        if let Some((start, end)) = trimmed(text, at, end)
            && !byte(text, start).is_ascii_lowercase()
            && !has_key(text.get(start..end).unwrap_or_default())
            && !matches!(
                byte_before(text, end),
                b';' | b',' | b'!' | b'(' | b'{' | b'['
            )
        {
            visit(key, start, end);
        }
    }
}

/// Where a text is read as it wraps, a line has several keys.
fn has_key(value: &[u8]) -> bool {
    value.windows(2).any(|pair| pair == b": ")
}

/// `lastName`, `LastName`: a small letter before a large one.
fn is_humped(key: &[u8]) -> bool {
    key.windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Whether nothing but blanks and the mark of a list stands before the key in its line.
fn begins_line(before: &[u8]) -> bool {
    let before = before
        .rsplit(|byte| matches!(byte, b'\n' | b'\r'))
        .next()
        .unwrap_or_default();
    before.iter().all(|byte| b" \t-".contains(byte))
}
