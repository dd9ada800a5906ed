//! Attributes of DICOM: as tools print them, `(0010,0020) LO [440182]  # 6, 1 PatientID`,
//! `(0010, 0020) Patient ID   LO: '440182'`, and as keys of JSON, `"00100020"` (DICOM PS3.18, F.2). Those that identify
//! somebody have the label that people give them.

use super::{MAX_VALUE_BYTES, Visit};
use crate::chunk;
use crate::text::byte;

/// Attributes of patients, staff, institutions and devices (DICOM PS3.6, PS3.15 table E.1-1).
const LABELS: [(&[u8; 8], &[u8]); 49] = [
    (b"00080014", b"sop instance uid"),
    (b"00080018", b"sop instance uid"),
    (b"00080050", b"accession number"),
    (b"00080080", b"hospital name"),
    (b"00080081", b"address"),
    (b"00080090", b"referring physician"),
    (b"00081048", b"physician name"),
    (b"00081050", b"physician name"),
    (b"00081060", b"physician name"),
    (b"00081070", b"physician name"),
    (b"00081155", b"sop instance uid"),
    (b"00083010", b"sop instance uid"),
    (b"00100010", b"patient name"),
    (b"00100020", b"patient id"),
    (b"00100030", b"dob"),
    (b"00101000", b"patient id"),
    (b"00101001", b"patient name"),
    (b"00101005", b"maiden name"),
    (b"00101010", b"age"),
    (b"00101040", b"patient address"),
    (b"00101050", b"health plan id"),
    (b"00101060", b"mothers maiden name"),
    (b"00101090", b"mrn"),
    (b"00102154", b"phone"),
    (b"00120040", b"subject id"),
    (b"00120042", b"subject id"),
    (b"00181000", b"serial number"),
    (b"00181002", b"device id"),
    (b"00181004", b"device id"),
    (b"00181005", b"device id"),
    (b"00181007", b"device id"),
    (b"00181008", b"device id"),
    (b"0018700a", b"device id"),
    (b"0020000d", b"study instance uid"),
    (b"0020000e", b"series instance uid"),
    (b"00200010", b"study id"),
    (b"00200052", b"frame of reference uid"),
    (b"00200200", b"sop instance uid"),
    (b"00321032", b"physician name"),
    (b"00380010", b"admission id"),
    (b"00380060", b"admission id"),
    (b"00400009", b"study id"),
    (b"00400253", b"study id"),
    (b"00401001", b"study id"),
    (b"00402016", b"order id"),
    (b"00402017", b"order id"),
    (b"0040a124", b"sop instance uid"),
    (b"00880140", b"sop instance uid"),
    (b"30060024", b"sop instance uid"),
];

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(open) = chunk::next_of(text, at, [b'(']) {
        at = at_bracket(text, open, visit).unwrap_or(open + 1);
    }
}

/// Visits the value of the attribute whose bracket is at `open`; gives where it ends.
fn at_bracket(text: &[u8], open: usize, visit: &mut Visit<'_>) -> Option<usize> {
    let (tag, end) = tag(text, open)?;
    let label = label(&tag)?;
    let (start, end) = value(text, end)?;
    visit(label, start, end);
    Some(end)
}

/// The label of the attribute that a key of JSON numbers: eight hexadecimal digits.
pub fn attribute(key: &[u8]) -> Option<&'static [u8]> {
    let tag: [u8; 8] = key.try_into().ok()?;
    label(&tag.map(|byte| byte.to_ascii_lowercase()))
}

fn label(tag: &[u8; 8]) -> Option<&'static [u8]> {
    let found = LABELS.iter().find(|(known, _)| *known == tag);
    found.map(|(_, label)| *label)
}

/// The digits of the tag at `open`, and where it ends.
fn tag(text: &[u8], open: usize) -> Option<([u8; 8], usize)> {
    /// Where the comma stands.
    const COMMA: usize = 5;
    if byte(text, open + COMMA) != b',' {
        return None;
    }
    let second = open + COMMA + 1 + usize::from(byte(text, open + COMMA + 1) == b' ');
    let digits = text.get(open + 1..open + COMMA)?.iter();
    let digits = digits.chain(text.get(second..second + 4)?);
    let mut tag = [0; 8];
    for (slot, digit) in tag.iter_mut().zip(digits) {
        *slot = digit.to_ascii_lowercase();
    }
    let is_tag = tag.iter().all(u8::is_ascii_hexdigit) && byte(text, second + 4) == b')';
    is_tag.then_some((tag, second + 5))
}

/// What stands between brackets, or behind a colon between quotes or as a unique identifier, in the same line.
fn value(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let rest = text.get(from..text.len().min(from + MAX_VALUE_BYTES))?;
    let line = rest.split(|byte| *byte == b'\n').next()?;
    let Some(open) = line
        .iter()
        .position(|byte| matches!(byte, b'[' | b'\'' | b'"'))
    else {
        return unique(line).map(|(start, end)| (from + start, from + end));
    };
    let close = match byte(line, open) {
        b'[' => b']',
        quote => quote,
    };
    let inside = line.get(open + 1..)?;
    let len = inside.iter().position(|byte| *byte == close)?;
    let start = from + open + 1;
    (len > 0).then_some((start, start + len))
}

/// `UI: 1.2.840.…`, which has no quotes.
fn unique(line: &[u8]) -> Option<(usize, usize)> {
    const SIGN: &[u8] = b"UI: ";
    let start = line.windows(SIGN.len()).position(|part| part == SIGN)? + SIGN.len();
    let rest = line.get(start..)?;
    let len = rest
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    (len > 0).then_some((start, start + len))
}
