//! Objects whose values have no quotes, as programs print them and YAML writes them in one line:
//! `{LastName:De Boer MRN:60417}`, `{lastName: De Boer, mrn: 60417}`, `map[last_name:Doe mrn:60417]`.

use super::{MAX_LABEL_BYTES, MAX_VALUE_BYTES, Visit, is_label};
use crate::chunk;
use crate::text::{byte, byte_before};

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(colon) = chunk::next_of(text, at, [b':']) {
        at = colon + 1;
        let key = key_before(text, colon);
        if is_label(key) && matches!(byte_before(text, colon - key.len()), b'{' | b'[') {
            at = fields(text, key, colon, visit);
        }
    }
}

/// Visits the fields of the object whose first key ends with the colon at `colon`; gives where they end.
fn fields<'t>(text: &'t [u8], mut key: &'t [u8], mut colon: usize, visit: &mut Visit<'_>) -> usize {
    loop {
        let start = colon + 1 + usize::from(byte(text, colon + 1) == b' ');
        let rest = text.get(start..text.len().min(start + MAX_VALUE_BYTES));
        let rest = rest.unwrap_or_default();
        let Some(len) = rest.iter().position(|byte| b":,}]{[\"'\n\r".contains(byte)) else {
            return start;
        };
        let stop = start + len;
        let next = match byte(text, stop) {
            // `LastName:De Boer MRN:60417`: the last word is the next key.
            b':' => {
                let next = key_before(text, stop);
                let end = stop - next.len();
                if !is_label(next) || byte_before(text, end) != b' ' || end <= start {
                    return stop;
                }
                value(text, key, (start, end - 1), visit);
                Some((next, stop))
            }
            b',' => {
                value(text, key, (start, stop), visit);
                let from = stop + 1;
                let near = text.get(from..text.len().min(from + MAX_LABEL_BYTES));
                let near = near.unwrap_or_default();
                let colon = near.iter().position(|byte| b":,}]\n".contains(byte));
                colon
                    .filter(|colon| byte(near, *colon) == b':')
                    .map(|colon| (key_before(text, from + colon), from + colon))
            }
            b'}' | b']' => {
                value(text, key, (start, stop), visit);
                None
            }
            _ => None,
        };
        match next {
            Some(next) if is_label(next.0) => (key, colon) = next,
            _ => return stop,
        }
    }
}

/// Visits a value that is none of a program: it begins with a capital or a digit, and has no signs.
fn value(text: &[u8], key: &[u8], (start, end): (usize, usize), visit: &mut Visit<'_>) {
    let said = text.get(start..end).unwrap_or_default();
    let begins = said.first().is_some_and(|first| {
        first.is_ascii_uppercase() || first.is_ascii_digit() || *first >= 0x80
    });
    let is_plain = said
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80 || b" '-/+".contains(byte));
    let is_type = TYPES.iter().any(|kind| said.eq_ignore_ascii_case(kind));
    if begins && is_plain && !is_type && !is_declared(said) {
        visit(key, start, end);
    }
}

/// Whether a value is a type of a program by its last part: `PersonName`. `McDonald` is nobody's type.
fn is_declared(said: &[u8]) -> bool {
    KINDS.iter().any(|kind| {
        let head = said.strip_suffix(*kind);
        head.and_then(<[u8]>::last)
            .is_some_and(u8::is_ascii_lowercase)
    })
}

/// What types are called by that programs declare.
const KINDS: [&[u8]; 14] = [
    b"Name", b"String", b"Type", b"Id", b"Date", b"Text", b"Schema", b"Number", b"Value", b"Field",
    b"Enum", b"Props", b"Model", b"Dto",
];

/// What stands for a value where an object is declared.
const TYPES: [&[u8]; 10] = [
    b"string", b"str", b"text", b"number", b"date", b"boolean", b"bool", b"integer", b"int", b"any",
];

/// The name that ends at `end`.
fn key_before(text: &[u8], end: usize) -> &[u8] {
    let head = text
        .get(end.saturating_sub(MAX_LABEL_BYTES)..end)
        .unwrap_or_default();
    let is_of_key = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let len = head.iter().rev().take_while(is_of_key).count();
    head.get(head.len() - len..).unwrap_or_default()
}
