//! Claims of pharmacies (NCPDP Telecommunication D.0): fields behind a separator, each with two signs that say what it
//! is: `␜CAJANE␜CBDOE`. The separators are control characters, and stand in print-outs in many ways.

use super::{DAY, MAX_VALUE_BYTES, Visit};
use crate::chunk;
use crate::text::{byte, byte_before, starts};

/// Fields that identify somebody, by the label that people give them (NCPDP data dictionary).
const LABELS: [(&[u8; 2], &[u8]); 53] = [
    (b"C4", b"dob"),
    (b"CA", b"first name"),
    (b"CB", b"last name"),
    (b"CM", b"street"),
    (b"CN", b"address"),
    (b"CP", b"zip"),
    (b"CQ", b"phone"),
    (b"CY", b"patient id"),
    (b"C2", b"cardholder id"),
    (b"CC", b"first name"),
    (b"CD", b"last name"),
    (b"C1", b"group id"),
    (b"N5", b"medicaid id"),
    (b"2A", b"member id"),
    (b"NU", b"cardholder id"),
    (b"D2", b"rx number"),
    (b"EN", b"rx number"),
    (b"EP", DAY),
    (b"DE", DAY),
    (b"D1", DAY),
    (b"DY", DAY),
    (b"E8", DAY),
    (b"EV", b"prior auth number"),
    (b"PY", b"prior auth number"),
    (b"F3", b"authorization number"),
    (b"DB", b"prescriber number"),
    (b"DR", b"last name"),
    (b"2J", b"first name"),
    (b"2K", b"street"),
    (b"2M", b"address"),
    (b"2P", b"zip"),
    (b"PM", b"phone"),
    (b"DL", b"provider number"),
    (b"4E", b"last name"),
    (b"E9", b"provider number"),
    (b"CF", b"employer name"),
    (b"CG", b"street"),
    (b"CH", b"address"),
    (b"CJ", b"zip"),
    (b"CK", b"phone"),
    (b"CL", b"contact name"),
    (b"DZ", b"claim number"),
    (b"A7", b"claim number"),
    (b"PE", b"first name"),
    (b"PF", b"last name"),
    (b"PG", b"street"),
    (b"PH", b"address"),
    (b"PK", b"zip"),
    (b"3Q", b"facility name"),
    (b"3U", b"street"),
    (b"5J", b"address"),
    (b"6D", b"zip"),
    (b"4G", b"provider number"),
];

/// What stands before a field, in letters of any case.
const SEPARATORS: [&[u8]; 8] = [
    b"\x1c",
    b"<fs>",
    b"<1c>",
    b"<0x1c>",
    b"\\x1c",
    b"\\u001c",
    b"^\\",
    "\u{241c}".as_bytes(),
];
/// What stands before a group and a segment, and at the end of all.
const DIVIDERS: [&[u8]; 22] = [
    b"\x1d",
    b"\x1e",
    b"\x03",
    b"<gs>",
    b"<rs>",
    b"<etx>",
    b"<1d>",
    b"<1e>",
    b"<0x1d>",
    b"<0x1e>",
    b"<03>",
    b"<0x03>",
    b"\\x1d",
    b"\\x1e",
    b"\\x03",
    b"\\u001d",
    b"\\u001e",
    b"\\u0003",
    b"^]",
    b"^^",
    "\u{241d}".as_bytes(),
    "\u{241e}".as_bytes(),
];
/// What all of these begin with.
const FIRSTS: [u8; 7] = [0x1c, 0x1d, 0x1e, b'<', b'\\', b'^', 0xe2];

/// Bytes of the header of a transmission.
const HEADER_BYTES: usize = 56;

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    // The first field, which is read when another one comes: a separator alone may be anything.
    let mut held: Option<(&[u8], usize, usize)> = None;
    let mut is_message = false;
    let mut at = 0;
    while let Some((mark, start)) = next(text, at) {
        at = start;
        let id = text.get(start..start + 2).unwrap_or_default();
        let is_id = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        if id.len() < 2 || !id.iter().all(is_id) {
            continue;
        }
        let (value, end) = (start + 2, field_end(text, start + 2));
        let label = LABELS.iter().find(|(known, _)| *known == id);
        let label = label.map_or(&b""[..], |(_, label)| label);
        let Some(first) = held.replace((label, value, end)) else {
            header(text, mark, visit);
            continue;
        };
        if !is_message {
            field(text, first, visit);
        }
        is_message = true;
        field(text, (label, value, end), visit);
        at = end;
    }
}

fn field(text: &[u8], (label, start, mut end): (&[u8], usize, usize), visit: &mut Visit<'_>) {
    while end > start && byte_before(text, end) == b' ' {
        end -= 1;
    }
    if start < end && !label.is_empty() {
        visit(label, start, end);
    }
}

/// Where a separator begins next, and where it ends.
fn next(text: &[u8], mut at: usize) -> Option<(usize, usize)> {
    loop {
        at = chunk::next_of(text, at, FIRSTS)?;
        let rest = text.get(at..)?;
        if let Some(mark) = SEPARATORS.iter().find(|mark| starts(rest, mark)) {
            return Some((at, at + mark.len()));
        }
        at += 1;
    }
}

fn field_end(text: &[u8], start: usize) -> usize {
    let limit = text.len().min(start + MAX_VALUE_BYTES);
    let near = text.get(..limit).unwrap_or_default();
    let line = chunk::next_of(near, start, [b'\n', b'\r', b'"']).unwrap_or(limit);
    let near = near.get(..line).unwrap_or_default();
    let mut at = start;
    while let Some(sign) = chunk::next_of(near, at, FIRSTS) {
        let rest = text.get(sign..).unwrap_or_default();
        let mut marks = SEPARATORS.iter().chain(&DIVIDERS);
        if marks.any(|mark| starts(rest, mark)) {
            return sign;
        }
        at = sign + 1;
    }
    line
}

/// Who provides, and the day, in the header before the first field: numbers of fixed lengths.
fn header(text: &[u8], mark: usize, visit: &mut Visit<'_>) {
    /// Where the version stands, the provider and the day.
    const VERSION: usize = 6;
    const PROVIDER: (usize, usize) = (23, 38);
    const DAY_OF_SERVICE: (usize, usize) = (38, 46);
    let from = mark.saturating_sub(HEADER_BYTES + MAX_SEGMENT_BYTES);
    let near = text.get(from..mark).unwrap_or_default();
    let Some(version) = near.windows(3).position(|part| part == b"D0B") else {
        return;
    };
    let Some(start) = (from + version).checked_sub(VERSION) else {
        return;
    };
    let is_bank = text
        .get(start..start + VERSION)
        .is_some_and(|bin| bin.iter().all(u8::is_ascii_digit));
    let day = (start + DAY_OF_SERVICE.0, start + DAY_OF_SERVICE.1);
    if is_bank && (day.0..day.1).all(|at| byte(text, at).is_ascii_digit()) {
        field(
            text,
            (b"npi", start + PROVIDER.0, start + PROVIDER.1),
            visit,
        );
        field(text, (DAY, day.0, day.1), visit);
    }
}

/// Bytes of what may stand between the header and its first field.
const MAX_SEGMENT_BYTES: usize = 16;
