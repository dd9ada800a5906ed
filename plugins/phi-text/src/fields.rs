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
mod signs;
mod subscript;
mod table;
mod typed;
mod vcard;
mod x12;
mod yaml;

use signs::{
    BOX, BRACKET, CALL, CLOSE, CODE, COLON, COMMA, DASHES, ELEMENT, EQUALS, GAP, HINT, HUMP, LINE,
    MARK, NUMBERED, OBJECT, OPEN, PIPE, QUOTE, ROW, SEGMENT, SEMICOLON, SPACED, SQUARE, STRING,
    Signs, TAB, TAG,
};

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
    for (needs, read) in READERS {
        if signs.have(needs) {
            read(text, visit);
        }
    }
    lines::each(text, signs, visit);
}

/// Reads the fields of one format in a text.
type Read = fn(&[u8], &mut Visit<'_>);

/// Who reads what, in this order: a text without one of each of these signs has no field of the format.
const READERS: [(&[u32], Read); 23] = [
    (&[SEGMENT], hl7::each),
    (&[NUMBERED, CODE], hl7::listed),
    (&[COLON, HUMP], yaml::each),
    (&[COLON, OBJECT], bare::each),
    (&[ELEMENT], x12::each),
    (&[QUOTE, COLON | EQUALS, COLON | CLOSE], json::each),
    (&[QUOTE, COLON | EQUALS, COLON | CLOSE], object::each),
    (&[MARK], ncpdp::each),
    (&[SQUARE, COMMA], rows::each),
    (&[DASHES], option::each),
    (&[SQUARE, EQUALS | OPEN | BRACKET], subscript::each),
    (&[HINT], hinted::each),
    (&[EQUALS | OPEN, EQUALS | CLOSE], pair::each),
    (&[ROW, CLOSE], markup::each),
    (&[STRING], condition::each),
    (&[CALL], call::each),
    (&[SPACED, BRACKET | COLON], keyword::each),
    (&[TAG, COMMA, QUOTE | SQUARE | COLON], dicom::each),
    (&[PIPE], banner::each),
    (&[LINE, GAP], aligned::each),
    (&[PIPE | TAB | SEMICOLON | COMMA, PIPE | LINE], table::each),
    (&[BRACKET], table::statements),
    (&[LINE, BOX], boxes::each),
];

/// Whether `label` can be one: short, and begins with a letter.
fn is_label(label: &[u8]) -> bool {
    label.len() <= MAX_LABEL_BYTES
        && label.first().is_some_and(u8::is_ascii_alphabetic)
        && label.iter().all(|byte| is_of_label(*byte))
}

fn is_of_label(byte: u8) -> bool {
    OF_LABEL.get(usize::from(byte)) == Some(&true)
}

/// Which bytes labels have.
const OF_LABEL: [bool; 256] = {
    let mut of_label = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        of_label[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let signs = b" _-.#/:()[]@";
    let mut at = 0;
    while at < signs.len() {
        of_label[signs[at] as usize] = true;
        at += 1;
    }
    of_label
};

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
