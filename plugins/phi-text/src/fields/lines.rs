//! Formats whose fields have lines of their own: one walk over the lines of a text for all of them.

use super::signs::{BRACKET, CARD, INNER_TAB, LEAD, LINE, PIPE, SEGMENT, Signs};
use super::{Visit, astm, copy, frame, gdt, record, vcard};
use crate::chunk;

/// Visits the fields of those formats whose signs the text has.
pub(super) fn each(text: &[u8], signs: Signs, visit: &mut Visit<'_>) {
    let mut gdt = signs.have(&[LEAD]).then(gdt::Reader::default);
    let mut vcard = signs.have(&[CARD]).then(vcard::Reader::default);
    let mut frame = signs.have(&[LEAD, LINE]).then(frame::Reader::default);
    let mut copy = signs.have(&[BRACKET, LINE]).then(copy::Reader::default);
    let has_astm = signs.have(&[SEGMENT]);
    let mut record = signs
        .have(&[PIPE | INNER_TAB])
        .then(record::Reader::default);
    let has_any = has_astm
        || gdt.is_some()
        || vcard.is_some()
        || frame.is_some()
        || copy.is_some()
        || record.is_some();
    let mut at = 0;
    while has_any && at < text.len() {
        let end = chunk::next_of(text, at, [b'\n', b'\r']).unwrap_or(text.len());
        if let Some(gdt) = &mut gdt {
            gdt.line(text, at, end, visit);
        }
        if let Some(vcard) = &mut vcard {
            vcard.line(text, at, end, visit);
        }
        if let Some(frame) = &mut frame {
            frame.line(text, at, end, visit);
        }
        if let Some(copy) = &mut copy {
            copy.line(text, at, end, visit);
        }
        if has_astm {
            astm::line(text, at, end, visit);
        }
        if let Some(record) = &mut record {
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
