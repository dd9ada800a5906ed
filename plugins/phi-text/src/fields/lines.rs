//! Formats whose fields have lines of their own: one walk over the lines of a text for all of them.

use super::{Visit, astm, copy, frame, gdt, record, vcard};
use crate::chunk;

/// What a text has that some of the formats need.
#[derive(Clone, Copy)]
pub(super) struct Has {
    pub(super) bars: bool,
    pub(super) tabs: bool,
    pub(super) brackets: bool,
    pub(super) gaps: bool,
}

pub(super) fn each(text: &[u8], has: Has, visit: &mut Visit<'_>) {
    let mut gdt = gdt::Reader::default();
    let mut vcard = vcard::Reader::default();
    let mut copy = copy::Reader::default();
    let mut frame = frame::Reader::default();
    let mut record = record::Reader::default();
    let mut at = 0;
    while at < text.len() {
        let end = chunk::next_of(text, at, [b'\n', b'\r']).unwrap_or(text.len());
        gdt.line(text, at, end, visit);
        vcard.line(text, at, end, visit);
        if has.gaps {
            frame.line(text, at, end, visit);
        }
        if has.tabs && has.brackets {
            copy.line(text, at, end, visit);
        }
        if has.bars {
            astm::line(text, at, end, visit);
        }
        if has.bars || has.tabs {
            record.line(text, at, end, visit);
        }
        let is_pair = text.get(end..end + 2) == Some(b"\r\n");
        at = end + 1 + usize::from(is_pair);
    }
}

/// Visits the records of a table that is drawn with lines.
pub(super) fn records(text: &[u8], visit: &mut Visit<'_>) {
    let mut record = record::Reader::default();
    let mut at = 0;
    while at < text.len() {
        let end = chunk::next_of(text, at, [b'\n', b'\r']).unwrap_or(text.len());
        record.line(text, at, end, visit);
        at = end + 1;
    }
}
