//! `key=value`, `key='a value'` and `<key>value</key>`: logs, addresses of the web, SQL conditions, XML.

use super::{MAX_LABEL_BYTES, MAX_VALUE_BYTES, Visit, is_label};
use crate::chunk;
use crate::text::{byte, byte_before};

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut from = 0;
    while let Some(at) = chunk::next_of(text, from, [b'=', b'>']) {
        if byte(text, at) == b'=' {
            equals(text, at, visit);
        } else {
            element(text, at, visit);
        }
        from = at + 1;
    }
}

fn equals(text: &[u8], at: usize, visit: &mut Visit<'_>) {
    let mut key_end = at;
    while key_end > 0 && byte_before(text, key_end) == b' ' {
        key_end -= 1;
    }
    let head = text
        .get(key_end.saturating_sub(MAX_LABEL_BYTES)..key_end)
        .unwrap_or_default();
    let key_len = head.iter().rev().take_while(|byte| is_key(**byte)).count();
    let key = head.get(head.len() - key_len..).unwrap_or_default();
    if !is_label(key) || byte(text, at + 1) == b'=' {
        return;
    }
    let mut start = at + 1;
    while byte(text, start) == b' ' {
        start += 1;
    }
    let quote = byte(text, start);
    let is_quoted = matches!(quote, b'"' | b'\'');
    start += usize::from(is_quoted);
    let rest = text.get(start..).unwrap_or_default();
    let ends = |byte: &u8| {
        if is_quoted {
            *byte == quote || *byte == b'\n'
        } else {
            byte.is_ascii_whitespace() || b"&,;)<>|\"']}".contains(byte)
        }
    };
    let Some(len) = rest
        .iter()
        .take(MAX_VALUE_BYTES)
        .position(ends)
        .or_else(|| (rest.len() < MAX_VALUE_BYTES).then_some(rest.len()))
    else {
        return;
    };
    if len == 0 {
        return;
    }
    visit(key, start, start + len);
    // `<family value="…"/>`: the element says what the value is.
    if key == b"value" && is_quoted {
        let head = text.get(key_end.saturating_sub(MAX_LABEL_BYTES)..key_end - key_len);
        if let Some(name) = head.and_then(|head| head.rsplit(|byte| *byte == b'<').next())
            && is_label(name.trim_ascii_end())
        {
            visit(name.trim_ascii_end(), start, start + len);
        }
    }
}

const fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// The text of an element without elements inside, at the `>` of its start.
fn element(text: &[u8], at: usize, visit: &mut Visit<'_>) {
    let head = text
        .get(at.saturating_sub(MAX_LABEL_BYTES)..at)
        .unwrap_or_default();
    let Some(open) = head.iter().rposition(|byte| *byte == b'<') else {
        return;
    };
    let name = head.get(open + 1..).unwrap_or_default();
    let name = name.split(|byte| *byte == b' ').next().unwrap_or(name);
    // Without its namespace.
    let name = name.rsplit(|byte| *byte == b':').next().unwrap_or(name);
    if !is_label(name) {
        return;
    }
    let start = at + 1;
    let rest = text.get(start..).unwrap_or_default();
    let Some(len) = rest
        .iter()
        .take(MAX_VALUE_BYTES)
        .position(|byte| *byte == b'<')
    else {
        return;
    };
    if len > 0 && byte(text, start + len + 1) == b'/' {
        visit(name, start, start + len);
    }
}
