//! `{ lastName: "value" }`, `:last_name => "value"`: objects and named arguments as programs write them, the key without
//! quotes.

use super::json::{skip_space, string};
use super::{MAX_LABEL_BYTES, Visit, is_label};
use crate::chunk;
use crate::text::{byte, byte_before};

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut from = 0;
    while let Some(sign) = chunk::next_of(text, from, [b':', b'>']) {
        from = sign + 1;
        let value = behind_wrapper(text, skip_space(text, from));
        if !matches!(byte(text, value), b'"' | b'\'') {
            continue;
        }
        let key_end = if byte(text, sign) == b':' {
            sign
        } else if byte_before(text, sign) == b'=' {
            behind_name(text, sign - 1)
        } else {
            continue;
        };
        let key = key_before(text, key_end);
        if is_label(key)
            && let Some((start, end, _)) = string(text, value)
            && start < end
        {
            visit(key, start, end);
        }
    }
}

/// Where the value begins that something is around which only says that it is there, or what it is:
/// `Some("Doe")`, `Some(Mrn("60417"))`, `<<"Doe">>`.
fn behind_wrapper(text: &[u8], mut at: usize) -> usize {
    for _ in 0..MAX_WRAPPERS {
        // What they begin with.
        let first = byte(text, at);
        if !first.is_ascii_uppercase() && !matches!(first, b'n' | b'<') {
            break;
        }
        let rest = text.get(at..).unwrap_or_default();
        let wrapper = WRAPPERS.iter().find(|known| rest.starts_with(known));
        at += wrapper.map_or(0, |wrapper| wrapper.len());
    }
    at
}

const MAX_WRAPPERS: usize = 2;
const WRAPPERS: [&[u8]; 14] = [
    b"Some(",
    b"Just ",
    b"Ok(",
    b"String::from(",
    b"Mrn(",
    b"MRN(",
    b"Name(",
    b"PatientId(",
    b"NumberInt(",
    b"NumberLong(",
    b"NumberDecimal(",
    b"ISODate(",
    b"new Date(",
    b"<<",
];

/// Where the name ends before the sign at `at`.
fn behind_name(text: &[u8], mut at: usize) -> usize {
    while byte_before(text, at) == b' ' {
        at -= 1;
    }
    at
}

/// The name that ends here, where it begins behind white space or a bracket.
fn key_before(text: &[u8], end: usize) -> &[u8] {
    let head = text
        .get(end.saturating_sub(MAX_LABEL_BYTES)..end)
        .unwrap_or_default();
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let len = head.iter().rev().take_while(is_of_name).count();
    let opens = matches!(
        byte_before(text, end - len),
        0 | b' ' | b'\t' | b'\n' | b'{' | b'(' | b',' | b':'
    );
    if opens {
        head.get(head.len() - len..).unwrap_or_default()
    } else {
        &[]
    }
}
