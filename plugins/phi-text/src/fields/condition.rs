//! Conditions of SQL that are no pairs: `name LIKE '%Okonkwo%'`, `mrn IN ('440182', '440277')`, `mrn <> '440182'`,
//! `upper(name) = upper('Okonkwo')`, `mrn BETWEEN '440182' AND '440277'`, and values that get a name behind them:
//! `'440182' AS mrn`.

use super::{MAX_LABEL_BYTES, MAX_VALUE_BYTES, Visit, is_label};
use crate::chunk;
use crate::text::{byte, byte_before, ends_with, is_word, starts};

/// Bytes between the name of a column and the quote of its value.
const MAX_SIGN_BYTES: usize = 32;
/// Functions around a value or a column: `upper(trim('Okonkwo'))`.
const MAX_FUNCTIONS: usize = 2;

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    // The column of the list or range whose values go on, and where the last of them ends.
    let mut open: Option<(&[u8], usize)> = None;
    while let Some(quote) = chunk::next_of(text, at, [b'\'']) {
        at = quote + 1;
        // An apostrophe, and not the quote of `N'Okonkwo'`.
        let prefix = byte_before(text, quote);
        let has_prefix = matches!(prefix, b'N' | b'E') && !is_word(byte_before(text, quote - 1));
        if is_word(prefix) && !has_prefix {
            continue;
        }
        let Some(end) = value_end(text, quote + 1) else {
            continue;
        };
        at = end + 1;
        let label = match open {
            Some((label, last)) if goes_on(text, last, quote) => Some((label, true)),
            _ => compared(text, quote),
        };
        if let Some((label, _)) = label {
            value(text, label, quote + 1, end, visit);
        }
        open = label
            .filter(|(_, is_open)| *is_open)
            .map(|(label, _)| (label, end + 1));
        if let Some(label) = named_behind(text, end + 1) {
            value(text, label, quote + 1, end, visit);
        }
    }
}

/// Whether nothing stands between two values of a list or a range but what divides them.
fn goes_on(text: &[u8], last: usize, quote: usize) -> bool {
    let gap = text.get(last..quote).unwrap_or_default();
    let gap = gap.strip_suffix(b"N").unwrap_or(gap).trim_ascii();
    gap == b"," || gap.eq_ignore_ascii_case(b"and")
}

/// The column that is compared with the value whose quote is at `quote`, and whether further values may follow.
fn compared(text: &[u8], quote: usize) -> Option<(&[u8], bool)> {
    let from = quote.saturating_sub(MAX_SIGN_BYTES + MAX_LABEL_BYTES);
    let head = text.get(from..quote)?;
    let head = match head {
        [before @ .., b'N' | b'E'] => before,
        _ => head,
    };
    let mut head = head.trim_ascii_end();
    let mut is_in_function = false;
    for _ in 0..MAX_FUNCTIONS {
        let Some(before) = head.strip_suffix(b"(") else {
            break;
        };
        if ends_with(before, &["in"]) {
            return column(without_word(before), true);
        }
        let name = without_word(before);
        if name.len() == before.trim_ascii_end().len() {
            return None;
        }
        (head, is_in_function) = (name, true);
    }
    let words = ["like", "ilike", "rlike", "regexp"];
    if ends_with(head, &words) {
        return column(without_word(head), false);
    }
    if ends_with(head, &["between"]) {
        return column(without_word(head), true);
    }
    // `\set name 'Okonkwo'` of psql.
    if without_word(head).ends_with(b"\\set") {
        return column(head, false);
    }
    let is_sign = |byte: &&u8| b"=<>!".contains(byte);
    let signs = head.iter().rev().take_while(is_sign).count();
    let (before, sign) = head.split_at_checked(head.len() - signs)?;
    let is_in_function = is_in_function || before.trim_ascii_end().ends_with(b")");
    match sign {
        b"<>" => column(before, false),
        // Without a function it is a pair.
        b"=" | b"==" | b"!=" if is_in_function => column(before, false),
        _ => None,
    }
}

/// The name that `head` ends with, perhaps negated or in a function: `lower(name) NOT`.
fn column(head: &[u8], is_open: bool) -> Option<(&[u8], bool)> {
    let head = head.trim_ascii_end();
    let mut head = if ends_with(head, &["not"]) {
        without_word(head)
    } else {
        head
    };
    for _ in 0..MAX_FUNCTIONS {
        let Some(inside) = head.strip_suffix(b")") else {
            break;
        };
        head = inside.trim_ascii_end();
    }
    let head = head
        .strip_suffix(b"]")
        .or(head.strip_suffix(b"\""))
        .or(head.strip_suffix(b"`"))
        .unwrap_or(head);
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let len = head.iter().rev().take_while(is_of_name).count();
    let label = head.get(head.len() - len..)?;
    is_label(label).then_some((label, is_open))
}

/// The name that a value gets behind itself: `'440182' AS mrn`.
fn named_behind(text: &[u8], end: usize) -> Option<&[u8]> {
    let rest = text.get(end..text.len().min(end + MAX_SIGN_BYTES + MAX_LABEL_BYTES))?;
    let rest = rest.strip_prefix(b"::text").unwrap_or(rest);
    let behind = rest.trim_ascii_start();
    if behind.len() == rest.len() || !starts(behind, b"as ") {
        return None;
    }
    let name = behind.get(3..)?.trim_ascii_start();
    let name = match name {
        [b'"' | b'[' | b'`', name @ ..] => name,
        _ => name,
    };
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let len = name.iter().take_while(is_of_name).count();
    name.get(..len).filter(|name| is_label(name))
}

/// What stands before the last word.
fn without_word(head: &[u8]) -> &[u8] {
    let head = head.trim_ascii_end();
    let is_of_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let word = head.iter().rev().take_while(is_of_word).count();
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
fn value(text: &[u8], label: &[u8], mut start: usize, mut end: usize, visit: &mut Visit<'_>) {
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
