//! Universally unique identifiers (RFC 9562): 8-4-4-4-12 hexadecimal digits.

use super::{Finding, OTHER_ID};
use crate::text::{byte, is_word};

const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
/// The one that documentation uses as its example.
const EXAMPLE: &[u8] = b"123e4567-e89b-12d3-a456-426614174000";

pub fn find_uuid(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    if end - start != 8 || byte(text, end) != b'-' {
        return None;
    }
    let mut at = start;
    for (index, len) in GROUPS.iter().enumerate() {
        if index > 0 {
            if byte(text, at) != b'-' {
                return None;
            }
            at += 1;
        }
        if !text.get(at..at + len)?.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        at += len;
    }
    let code = text.get(start..at)?;
    let is_blank = code.iter().all(|byte| matches!(byte, b'0' | b'-'))
        || code.iter().all(|byte| matches!(byte, b'f' | b'F' | b'-'));
    let tail = byte(text, at);
    let stands_alone = !(is_word(tail) || tail == b'-' && is_word(byte(text, at + 1)));
    (!is_blank && stands_alone && !code.eq_ignore_ascii_case(EXAMPLE))
        .then_some(Finding::new(OTHER_ID, start, at, 800))
}
