//! Messages of laboratory devices (ASTM E1394, LIS2-A2): records of one letter, `P|1|60417|||Doe^Ann||19620314|F`.

use super::hl7::until;
use super::{DAY, Visit, trimmed};
use crate::text::byte;

/// Fields that identify somebody: the record, the number of the field, and the label that people give it.
const LABELS: [(u8, usize, &[u8]); 20] = [
    (b'P', 3, b"patient id"),
    (b'P', 4, b"patient id"),
    (b'P', 5, b"patient id"),
    (b'P', 6, b"patient name"),
    (b'P', 7, b"mothers maiden name"),
    (b'P', 8, b"dob"),
    (b'P', 11, b"patient address"),
    (b'P', 13, b"phone"),
    (b'P', 14, b"physician name"),
    (b'P', 24, DAY),
    (b'P', 26, b"admission id"),
    (b'O', 3, b"specimen id"),
    (b'O', 4, b"specimen id"),
    (b'O', 7, DAY),
    (b'O', 8, DAY),
    (b'O', 17, b"physician name"),
    (b'O', 18, b"phone"),
    (b'R', 12, DAY),
    (b'R', 13, DAY),
    (b'Q', 3, b"specimen id"),
];
/// Fields of one record that are looked at.
const MAX_FIELDS: usize = 32;

pub(super) fn line(text: &[u8], start: usize, end: usize, visit: &mut Visit<'_>) {
    // A frame begins with a control character and its number.
    let head = text.get(start..end).unwrap_or_default();
    let wrap = head
        .iter()
        .take(8)
        .take_while(|byte| b" \t>\"\x02".contains(byte) || byte.is_ascii_digit());
    let at = start + wrap.count();
    let record = byte(text, at);
    let is_record = LABELS.iter().any(|(known, ..)| *known == record)
        && byte(text, at + 1) == b'|'
        && byte(text, at + 2).is_ascii_digit()
        && matches!(byte(text, at + 3), b'|' | b'0'..=b'9');
    if !is_record {
        return;
    }
    let mut from = at;
    for number in 1..MAX_FIELDS {
        if from > end {
            break;
        }
        let stop = until(text, from, end, b'|');
        let label = LABELS
            .iter()
            .find(|(known, field, _)| (*known, *field) == (record, number));
        if let Some((_, _, label)) = label
            && let Some((start, end)) = trimmed(text, from, stop)
        {
            visit(label, start, end);
        }
        from = stop + 1;
    }
}
