//! Options of commands: `load --last-name Doe --patient-id '60417'`. Those of one word are read in prose.

use super::json::string;
use super::{MAX_VALUE_BYTES, Visit, is_label};
use crate::chunk;
use crate::text::{byte, byte_before};

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(dashes) = chunk::next_double(text, at, b'-') {
        at = dashes + 2;
        let head = byte_before(text, dashes);
        if !(head.is_ascii_whitespace() || head == 0) {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let len = rest.iter().take(MAX_VALUE_BYTES).take_while(is_of_name);
        let len = len.count();
        let label = rest.get(..len).unwrap_or_default();
        at += len;
        let is_joined = label.contains(&b'-') || label.contains(&b'_');
        if byte(text, at) == b' '
            && is_joined
            && is_label(label)
            && let Some((start, end)) = value(text, at + 1)
            && !is_placeholder(label, text.get(start..end).unwrap_or_default())
        {
            visit(label, start, end);
        }
    }
}

/// Whether a value says in capitals what the option says: `--last-name LAST`, `--patient-id PATIENT_ID`.
fn is_placeholder(label: &[u8], value: &[u8]) -> bool {
    let mut parts = value.split(|byte| matches!(byte, b'-' | b'_'));
    !value.iter().any(u8::is_ascii_lowercase)
        && parts.all(|part| {
            let mut known = label.split(|byte| matches!(byte, b'-' | b'_'));
            known.any(|known| known.eq_ignore_ascii_case(part))
        })
}

/// A string, or a word that begins with a capital or a digit.
fn value(text: &[u8], at: usize) -> Option<(usize, usize)> {
    if let Some((start, end, _)) = string(text, at) {
        return (start < end).then_some((start, end));
    }
    let first = byte(text, at);
    let rest = text.get(at..text.len().min(at + MAX_VALUE_BYTES))?;
    let len = rest.iter().position(|byte| b" \t\n\r\\;|&".contains(byte));
    let begins = first.is_ascii_uppercase() || first.is_ascii_digit() || first >= 0x80;
    begins.then(|| (at, at + len.unwrap_or(rest.len())))
}
