//! Lines of vCards: `N;CHARSET=UTF-8:Doe;Ann`, `ADR;TYPE=home:;;12 Elm St;Ely;NV;89301`, whose values have several parts.

use super::{MAX_VALUE_BYTES, Visit, trimmed};
use crate::text::{byte, starts};

/// Properties with the labels of their parts (RFC 6350, 6.2 and 6.3).
const PROPERTIES: [(&[u8], &[&[u8]]); 8] = [
    (b"N", &[b"last name", b"first name", b"middle name"]),
    (b"FN", &[b"full name"]),
    (b"NICKNAME", &[b"nickname"]),
    (
        b"ADR",
        &[b"", b"street", b"street", b"address", b"", b"zip"],
    ),
    (b"TEL", &[b"phone"]),
    (b"BDAY", &[b"dob"]),
    (b"DEATHDATE", &[b"dob"]),
    (b"UID", &[b"record id"]),
];
const BEGINNING: &[u8] = b"BEGIN:VCARD";
const END: &[u8] = b"END:VCARD";

#[derive(Default)]
pub(super) struct Reader {
    is_inside: bool,
}

impl Reader {
    pub(super) fn line(&mut self, text: &[u8], start: usize, end: usize, visit: &mut Visit<'_>) {
        let line = text.get(start..end).unwrap_or_default();
        if starts(line, BEGINNING) {
            self.is_inside = true;
        } else if self.is_inside && starts(line, END) {
            self.is_inside = false;
        } else if self.is_inside {
            property(text, start, end, visit);
        }
    }
}

fn property(text: &[u8], start: usize, end: usize, visit: &mut Visit<'_>) {
    let line = text.get(start..end.min(start + MAX_VALUE_BYTES));
    let line = line.unwrap_or_default();
    let Some(colon) = line.iter().position(|byte| *byte == b':') else {
        return;
    };
    let name = line.get(..colon).unwrap_or_default();
    let name = name.split(|byte| *byte == b';').next().unwrap_or(name);
    // `item1.TEL`
    let name = name.rsplit(|byte| *byte == b'.').next().unwrap_or(name);
    let known = PROPERTIES
        .iter()
        .find(|(known, _)| name.eq_ignore_ascii_case(known));
    let Some((_, labels)) = known else {
        return;
    };
    let mut from = start + colon + 1;
    if starts(text.get(from..end).unwrap_or_default(), b"tel:") {
        from += 4;
    }
    for label in *labels {
        let mut stop = from;
        while stop < end && (byte(text, stop) != b';' || labels.len() == 1) {
            stop += 1;
        }
        if !label.is_empty()
            && let Some((start, end)) = trimmed(text, from, stop)
        {
            visit(label, start, end);
        }
        from = stop + 1;
        if from > end {
            break;
        }
    }
}
