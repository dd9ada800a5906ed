//! Devices with a serial number in a label of their own: GS1 element strings, `(01)…(17)…(21)…` (FDA UDI).

use super::{DEVICE_ID, Finding};
use crate::number::Numbers;
use crate::text::{byte, byte_before};

/// Bytes of the longest element string.
const MAX_BYTES: usize = 128;

/// From the `01` between brackets. Without a serial number, `(21)`, it says which model it is and no more.
pub fn find_udi(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let text = numbers.text;
    let group = numbers.group(at);
    let is_first = group.len() == 2
        && byte_before(text, group.start) == b'('
        && text.get(group.start..group.end + 1) == Some(b"01)");
    if !is_first {
        return None;
    }
    let start = group.start - 1;
    let rest = text.get(start..text.len().min(start + MAX_BYTES))?;
    let len = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"()-./".contains(byte))
        .count();
    let mut end = start + len;
    while matches!(byte_before(text, end), b'.' | b'-' | b'/' | b'(') {
        end -= 1;
    }
    let code = text.get(start..end)?;
    let has_serial = code.windows(4).any(|part| part == b"(21)");
    (has_serial && byte(text, group.end + 1).is_ascii_digit())
        .then_some(Finding::new(DEVICE_ID, start, end, 950).verified())
}

/// Fifteen digits with Luhn's check (3GPP TS 23.003, 6.2).
pub fn is_imei(digits: &[u8]) -> bool {
    let mut values = [0; 15];
    for (slot, digit) in values.iter_mut().zip(digits) {
        *slot = digit.wrapping_sub(b'0');
    }
    digits.len() == 15 && digits.iter().all(u8::is_ascii_digit) && super::card::luhn(&values)
}
