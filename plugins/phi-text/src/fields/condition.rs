//! Conditions of SQL that are no pairs: `name LIKE '%Okonkwo%'`, `mrn IN ('440182', '440277')`.

use super::{MAX_LABEL_BYTES, MAX_VALUE_BYTES, Visit, is_label};
use crate::text::{byte, byte_before, ends_with};

/// Bytes between the name of a column and the quote of its value.
const MAX_SIGN_BYTES: usize = 16;

/// Visits the values of the condition whose first `%` or bracket is at `at`; gives where to go on.
pub(super) fn at_sign(text: &[u8], at: usize, visit: &mut Visit<'_>) -> usize {
    let quote = match byte(text, at) {
        b'(' if byte(text, at + 1) == b'\'' => at + 1,
        b'%' if byte_before(text, at) == b'\'' => at - 1,
        _ => return at + 1,
    };
    let Some(label) = compared(text, quote) else {
        return at + 1;
    };
    let (mut from, mut start) = (at + 1, quote + 1);
    while let Some(end) = value_end(text, start) {
        values(text, label, start, end, visit);
        from = end + 1;
        let Some(next) = next_value(text, end + 1) else {
            break;
        };
        start = next;
    }
    from
}

/// The column that is compared with the value whose quote is at `quote`.
fn compared(text: &[u8], quote: usize) -> Option<&[u8]> {
    let from = quote.saturating_sub(MAX_SIGN_BYTES + MAX_LABEL_BYTES);
    let head = text.get(from..quote)?.trim_ascii_end();
    let head = match head.strip_suffix(b"(") {
        Some(head) if ends_with(head, &["in"]) => without_word(head),
        Some(_) => return None,
        None if ends_with(head, &["like", "ilike"]) => without_word(head),
        None => return None,
    };
    let head = if ends_with(head, &["not"]) {
        without_word(head)
    } else {
        head.trim_ascii_end()
    };
    // `lower(name)`.
    let head = head.strip_suffix(b")").unwrap_or(head);
    let len = head
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    let label = head.get(head.len() - len..)?;
    is_label(label).then_some(label)
}

/// What stands before the last word.
fn without_word(head: &[u8]) -> &[u8] {
    let head = head.trim_ascii_end();
    let word = head
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    head.get(..head.len() - word)
        .unwrap_or_default()
        .trim_ascii_end()
}

fn value_end(text: &[u8], start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let len = rest
        .iter()
        .take(MAX_VALUE_BYTES)
        .position(|byte| matches!(byte, b'\'' | b'\n'))?;
    (byte(rest, len) == b'\'').then_some(start + len)
}

/// Visits a value without the signs that stand for anything.
fn values(text: &[u8], label: &[u8], mut start: usize, mut end: usize, visit: &mut Visit<'_>) {
    while start < end && byte(text, start) == b'%' {
        start += 1;
    }
    while start < end && byte_before(text, end) == b'%' {
        end -= 1;
    }
    if start < end {
        visit(label, start, end);
    }
}

/// Where the next value of a list begins.
fn next_value(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let gap = [&b",'"[..], b", '"]
        .into_iter()
        .find(|gap| rest.starts_with(gap))?;
    Some(at + gap.len())
}
