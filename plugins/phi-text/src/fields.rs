//! Fields of structured text: what has a label by its place. Each format has a module. Prose has none. No format is
//! checked: what looks like one is read as far as it goes.

mod aligned;
mod astm;
mod banner;
mod bare;
mod boxes;
mod call;
mod condition;
mod copy;
mod dicom;
mod fhir;
mod frame;
mod gdt;
mod header;
mod hinted;
mod hl7;
mod json;
mod keyed;
mod keyword;
mod lines;
mod markup;
mod ncpdp;
mod object;
mod option;
mod pair;
mod record;
mod rows;
mod subscript;
mod table;
mod typed;
mod vcard;
mod x12;
mod yaml;

use crate::chunk;

pub use keyed::{MAX_KEYS, keyed};

/// Called with the label and where its value stands, quotes excluded. Labels are as written, or `PID-5` and `NM1-3`
/// where the format numbers its fields.
pub type Visit<'v> = dyn FnMut(&[u8], usize, usize) + 'v;

/// The label of what a patient's resource is called by (FHIR).
pub const PATIENT_ID: &[u8] = b"patient id";

/// The label of an identifier whose system says its kind, or nothing does (FHIR).
pub const IDENTIFIER: &[u8] = b"identifier value";

/// The label of a day that is written in eight digits (NCPDP, GDT).
pub const DAY: &[u8] = b"day in digits";

/// Bytes of the longest label.
pub const MAX_LABEL_BYTES: usize = 64;
/// Bytes of the longest value that is one thing and no text.
pub const MAX_VALUE_BYTES: usize = 256;

/// Visits every field of `text`. A value may be visited under more than one label.
pub fn each(text: &[u8], visit: &mut Visit<'_>) {
    // What a field of HL7 v2 is called in XML, in JSON and in lists is the field, and a hint makes no other label.
    let visit: &mut Visit<'_> = &mut |label, start, end| {
        visit(label, start, end);
        if let Some(label) = hinted::without_hint(label) {
            visit(label, start, end);
        }
        let mut numbered = [0; hl7::LABEL_BYTES];
        if let Some(label) = hl7::of_path(&mut numbered, label) {
            visit(label, start, end);
        }
    };
    let signs = Signs::of(text);
    if signs.has(PIPE) {
        hl7::each(text, visit);
    }
    if signs.has(COLON) {
        hl7::listed(text, visit);
        yaml::each(text, visit);
        bare::each(text, visit);
    }
    if signs.has(STAR) || signs.has(TILDE) {
        x12::each(text, visit);
    }
    if signs.has(QUOTE) && (signs.has(COLON) || signs.has(EQUALS) && signs.has(CLOSE)) {
        json::each(text, visit);
        object::each(text, visit);
    }
    if signs.has(MARK) {
        ncpdp::each(text, visit);
    }
    if signs.has(QUOTE) && signs.has(SQUARE) {
        rows::each(text, visit);
    }
    if chunk::next_double(text, 0, b'-').is_some() {
        option::each(text, visit);
    }
    if signs.has(SQUARE) {
        subscript::each(text, visit);
    }
    if signs.has(BRACKET) {
        hinted::each(text, visit);
    }
    if signs.has(EQUALS) || signs.has(OPEN) && signs.has(CLOSE) {
        pair::each(text, visit);
    }
    if signs.has(OPEN) && signs.has(CLOSE) {
        markup::each(text, visit);
    }
    if signs.has(QUOTE) {
        condition::each(text, visit);
    }
    if signs.has(QUOTE) && signs.has(BRACKET) {
        call::each(text, visit);
    }
    if signs.has(QUOTE) && (signs.has(BRACKET) || signs.has(COLON)) {
        keyword::each(text, visit);
    }
    if signs.has(BRACKET) && (signs.has(QUOTE) || signs.has(SQUARE)) {
        dicom::each(text, visit);
    }
    if signs.has(PIPE) {
        banner::each(text, visit);
    }
    let has_gaps = chunk::next_double(text, 0, b' ').is_some();
    if signs.has(LINE) && has_gaps {
        aligned::each(text, visit);
    }
    let may_be_table = signs.has(PIPE)
        || signs.has(TAB) && signs.has(LINE)
        || signs.has(SEMICOLON) && signs.has(LINE)
        || signs.has(COMMA) && (signs.has(LINE) || signs.has(BRACKET));
    if may_be_table {
        table::each(text, visit);
    }
    if signs.has(LINE) {
        boxes::each(text, visit);
    }
    let has = lines::Has {
        bars: signs.has(PIPE),
        tabs: signs.has(TAB),
        brackets: signs.has(BRACKET),
        gaps: has_gaps,
    };
    lines::each(text, has, visit);
}

/// Which signs a text has at all: most have too few to be structured.
#[derive(Clone, Copy)]
struct Signs(u16);

const PIPE: u16 = 1;
const STAR: u16 = 1 << 1;
const TILDE: u16 = 1 << 2;
const QUOTE: u16 = 1 << 3;
const COLON: u16 = 1 << 4;
const EQUALS: u16 = 1 << 5;
const OPEN: u16 = 1 << 6;
const CLOSE: u16 = 1 << 7;
const COMMA: u16 = 1 << 8;
const TAB: u16 = 1 << 9;
const LINE: u16 = 1 << 10;
const BRACKET: u16 = 1 << 11;
const SQUARE: u16 = 1 << 12;
const MARK: u16 = 1 << 13;
const SEMICOLON: u16 = 1 << 14;

const SIGNS: [u16; 256] = {
    let mut signs = [0; 256];
    signs[b'|' as usize] = PIPE;
    signs[b'*' as usize] = STAR;
    signs[b'~' as usize] = TILDE;
    signs[b'"' as usize] = QUOTE;
    signs[b'\'' as usize] = QUOTE;
    signs[b':' as usize] = COLON;
    signs[b'=' as usize] = EQUALS;
    signs[b'<' as usize] = OPEN | MARK;
    signs[b'>' as usize] = CLOSE;
    signs[b',' as usize] = COMMA;
    signs[b'\t' as usize] = TAB;
    signs[b'\n' as usize] = LINE;
    signs[b'\r' as usize] = LINE;
    signs[b'(' as usize] = BRACKET;
    signs[b')' as usize] = BRACKET;
    signs[b'[' as usize] = SQUARE;
    signs[b';' as usize] = SEMICOLON;
    signs[b'^' as usize] = MARK;
    signs[b'\\' as usize] = MARK;
    signs[0x1c] = MARK;
    signs[0xe2] = MARK;
    signs
};

impl Signs {
    fn of(text: &[u8]) -> Self {
        let sign = |byte: &u8| SIGNS.get(usize::from(*byte)).copied().unwrap_or_default();
        // Several at a time: see `chunk`.
        let (chunks, rest) = text.as_chunks::<8>();
        let mut signs = 0;
        for [a, b, c, d, e, f, g, h] in chunks {
            signs |= sign(a) | sign(b) | sign(c) | sign(d);
            signs |= sign(e) | sign(f) | sign(g) | sign(h);
        }
        for byte in rest {
            signs |= sign(byte);
        }
        Self(signs)
    }

    const fn has(self, sign: u16) -> bool {
        self.0 & sign != 0
    }
}

/// Whether `label` can be one: short, and begins with a letter.
fn is_label(label: &[u8]) -> bool {
    label.len() <= MAX_LABEL_BYTES
        && label.first().is_some_and(u8::is_ascii_alphabetic)
        && label
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b" _-.#/:()[]@".contains(byte))
}

/// Where a value begins and ends without white space and quotes around it; nothing where none is left.
fn trimmed(text: &[u8], mut start: usize, mut end: usize) -> Option<(usize, usize)> {
    while start < end && is_edge(text, start) {
        start += 1;
    }
    while start < end && is_edge(text, end - 1) {
        end -= 1;
    }
    (start < end).then_some((start, end))
}

/// Whether white space or a quote stands at `at`.
fn is_edge(text: &[u8], at: usize) -> bool {
    text.get(at)
        .is_none_or(|byte| b" \t\r\n\"'`".contains(byte))
}

#[cfg(test)]
mod tests;
