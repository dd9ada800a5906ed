//! Records of German practices (GDT, BDT, LDT, KVDT): lines of three digits for the length, four for the field, and its
//! value: `0183101Mustermann`.

use super::{DAY, Visit};
use crate::text::byte;

/// Fields that identify somebody, by the label that people give them (GDT 2.1 and 3.5, KVDT).
const LABELS: [(&[u8; 4], &[u8]); 38] = [
    (b"3000", b"patient id"),
    (b"3101", b"last name"),
    (b"3102", b"first name"),
    (b"3103", b"dob"),
    (b"3105", b"versichertennummer"),
    (b"3106", b"address"),
    (b"3107", b"street"),
    (b"3109", b"street"),
    (b"3112", b"zip"),
    (b"3113", b"address"),
    (b"3119", b"versichertennummer"),
    (b"3121", b"zip"),
    (b"3122", b"address"),
    (b"3201", b"last name"),
    (b"3202", b"first name"),
    (b"3203", b"dob"),
    (b"3205", b"street"),
    (b"3206", b"address"),
    (b"3601", b"accession number"),
    (b"3602", b"accession number"),
    (b"3612", DAY),
    (b"3617", b"phone"),
    (b"3618", b"phone"),
    (b"3626", b"phone"),
    (b"0203", b"practice name"),
    (b"0205", b"street"),
    (b"0206", b"address"),
    (b"0208", b"phone"),
    (b"0209", b"fax"),
    (b"0211", b"physician name"),
    (b"0212", b"physician id"),
    (b"4109", DAY),
    (b"5000", DAY),
    (b"6200", DAY),
    (b"8301", DAY),
    (b"8310", b"order number"),
    (b"8311", b"order number"),
    (b"8432", DAY),
];

/// Digits of the length and of the field.
const HEAD_BYTES: usize = 7;
/// Bytes of the end of a line, which count.
const END_BYTES: usize = 2;
/// The field that a record begins with: its kind.
const KIND: &[u8] = b"8000";

/// What the lines before are.
#[derive(Default)]
pub(super) struct Reader {
    /// A line that may be any number, until another one follows.
    held: Option<Line>,
    is_record: bool,
}

impl Reader {
    pub(super) fn line(&mut self, text: &[u8], start: usize, end: usize, visit: &mut Visit<'_>) {
        let is_open = self.is_record || self.held.is_some();
        if !is_open && !byte(text, lead_end(text, start, end)).is_ascii_digit() {
            return;
        }
        let Some(line) = Line::read(text, start, end, self.is_record) else {
            let is_blank = text
                .get(start..end)
                .is_some_and(|line| line.trim_ascii().is_empty());
            if !is_blank {
                *self = Self::default();
            }
            return;
        };
        self.is_record |= self.held.is_some() || text.get(line.field..line.value) == Some(KIND);
        if let Some(held) = self.held.take() {
            held.visit(text, visit);
        }
        if self.is_record || line.is_said(text) {
            line.visit(text, visit);
        } else {
            self.held = Some(line);
        }
    }
}

/// Where what is put before lines ends.
fn lead_end(text: &[u8], start: usize, end: usize) -> usize {
    let line = text.get(start..end).unwrap_or_default();
    let is_lead = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'>' | b'"');
    start + line.iter().take_while(is_lead).count()
}

struct Line {
    field: usize,
    value: usize,
    end: usize,
}

impl Line {
    /// The line at `start`, where its length is right. In a record it may be wrong: examples are counted by hand.
    fn read(text: &[u8], start: usize, end: usize, is_record: bool) -> Option<Self> {
        let start = lead_end(text, start, end);
        let head = text.get(start..start + HEAD_BYTES)?;
        let value = start + HEAD_BYTES;
        let said = text.get(value..end)?;
        if !head.iter().all(u8::is_ascii_digit) || said.is_empty() {
            return None;
        }
        if byte(text, value) == b' ' && !is_record {
            return None;
        }
        let length = head
            .iter()
            .take(3)
            .fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
        // In characters, whatever encoding they had.
        let letters = said.iter().filter(|byte| *byte & 0xc0 != 0x80).count();
        let (least, most) = (HEAD_BYTES + letters, HEAD_BYTES + said.len() + END_BYTES);
        let slack = if is_record { most } else { 1 };
        ((least - slack.min(least))..=most + slack)
            .contains(&length)
            .then_some(Self {
                field: start + 3,
                value,
                end,
            })
    }

    /// Whether words stand right behind the digits, as in no number.
    fn is_said(&self, text: &[u8]) -> bool {
        let first = byte(text, self.value);
        first.is_ascii_uppercase() || first >= 0x80
    }

    fn visit(&self, text: &[u8], visit: &mut Visit<'_>) {
        let id = text.get(self.field..self.value);
        if let Some((_, label)) = LABELS.iter().find(|(known, _)| id == Some(*known)) {
            visit(label, self.value, self.end);
        }
    }
}
