//! Identifiers that a format labels by their place: JSON keys, columns, HL7 v2 and X12 positions.

use std::collections::BTreeSet;

use phi_text::fields;

use crate::abroad;
use crate::kind::labelled::{self, Strength};
use crate::kind::{DATE, Finding, age, birth};
use crate::text::byte;
use crate::trigger::{FIELDS, Form, TRIGGERS};

mod epoch;

/// Appends the findings in the fields of `text`.
pub fn find(text: &[u8], findings: &mut Vec<Finding>) {
    let from = findings.len();
    let mut of_any_kind = Vec::new();
    fields::each(text, &mut |label, start, end| {
        if let Some(found) = find_value(text, label, start, end) {
            if label == fields::IDENTIFIER {
                of_any_kind.push(found);
            } else {
                findings.push(found);
            }
        }
    });
    if of_any_kind.is_empty() {
        return;
    }
    // Where something says what kind it is, it is that.
    let told = findings.get(from..).unwrap_or_default();
    let told: BTreeSet<_> = told.iter().map(|found| found.start).collect();
    of_any_kind.retain(|found| !told.contains(&found.start));
    findings.append(&mut of_any_kind);
}

/// What the value at `start..end` is under its label.
pub fn find_value(text: &[u8], label: &[u8], start: usize, end: usize) -> Option<Finding> {
    if let Some(found) = epoch::find(text, label, start, end) {
        return Some(found);
    }
    if is_birth(label) {
        return date(text, start, end)
            .or_else(|| day_of_year(text, start, end))
            .or_else(|| birth::find_field(text, start, end));
    }
    if label == fields::DAY {
        return date(text, start, end);
    }
    if is_of_a_day(label) {
        return day(text, start, end);
    }
    let (kind, form, strength) = match FIELDS.get(label) {
        Some((kind, form)) => (*kind, *form, strength(label)),
        None => match owned(label).and_then(|label| TRIGGERS.get(label)) {
            None => return abroad::find_value(text, label, start, end),
            Some(trigger) => {
                let (kind, form, is_word_of_every_day) = trigger.code()?;
                let strength = match is_word_of_every_day {
                    true => Strength::Everyday,
                    false => Strength::Sure,
                };
                (kind, form, strength)
            }
        },
    };
    if form == Form::Years {
        return match is_year_of_birth(label) {
            true => birth::find_field(text, start, end),
            false => age::find_field(text, start, end),
        };
    }
    // What is short or a word of every day under these labels stays: `"user": "assistant"`.
    let found = labelled::find_field(text, start, end, kind, form, strength)
        .filter(|found| form != Form::Code || found.end > found.start + 3)?;
    let code = text.get(found.start..found.end)?;
    if labelled::is_range_of_values(label, code) {
        return None;
    }
    // `POSTGRES_USER=app` is a program's own.
    let is_setting = form == Form::Handle
        && label.contains(&b'_')
        && !label.iter().any(u8::is_ascii_lowercase)
        && !text
            .get(found.start..found.end)?
            .iter()
            .any(u8::is_ascii_digit);
    (!is_setting).then_some(found)
}

/// Numbered fields and those of two words have nothing but what they are for; `subject` and `PT` are other things too.
fn strength(label: &[u8]) -> Strength {
    if label.iter().any(|byte| matches!(byte, b'-' | b' ')) {
        Strength::Sure
    } else {
        Strength::Everyday
    }
}

/// What the label is about; nothing where it is any record's `id`.
fn owned(label: &[u8]) -> Option<&[u8]> {
    let label = without_owner(label);
    (!label.eq_ignore_ascii_case(b"id") && !label.eq_ignore_ascii_case(b"ext")).then_some(label)
}

/// `patient_mrn` and `pt.mrn` are about the `mrn`.
fn without_owner(label: &[u8]) -> &[u8] {
    if TRIGGERS.get(label).is_some() {
        return label;
    }
    let split = label
        .iter()
        .position(|byte| matches!(byte, b'_' | b'.' | b' ' | b'-'));
    split.and_then(|at| label.get(at + 1..)).unwrap_or(label)
}

fn is_birth(label: &[u8]) -> bool {
    [
        "dob",
        "birthdate",
        "birth_date",
        "dateofbirth",
        "date_of_birth",
        "deceaseddatetime",
        "birthtime",
        "patientbirthdate",
        "PID-7",
        "DMG-D8",
        "DTP-D8",
    ]
    .iter()
    .any(|word| label.eq_ignore_ascii_case(word.as_bytes()))
}

fn is_year_of_birth(label: &[u8]) -> bool {
    let has = |word: &str| {
        let mut parts = label.windows(word.len());
        parts.any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    has("birth") || has("yob") || has("born")
}

/// Whether a column has the days on which something was done.
fn is_of_a_day(label: &[u8]) -> bool {
    [
        "adm",
        "admit",
        "admitted",
        "admit date",
        "adm date",
        "date",
        "dos",
        "doa",
        "seen",
        "last seen",
        "visit date",
        "appt",
        "d/c",
        "dc",
        "d/c date",
        "discharged",
        "discharge date",
        "surgery date",
        "lmp",
        "edd",
        "due date",
        "next appt",
        "f/u",
    ]
    .iter()
    .any(|word| label.eq_ignore_ascii_case(word.as_bytes()))
}

/// A month and a day with a slash between and nothing else.
fn day(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    let mut parts = text
        .get(start..end)?
        .split(|byte| *byte == b'/')
        .map(|part| {
            let is_number = matches!(part.len(), 1 | 2) && part.iter().all(u8::is_ascii_digit);
            let digit = |value: u32, digit: &u8| value * 10 + u32::from(digit - b'0');
            is_number.then(|| part.iter().fold(0, digit))
        });
    let (Some(Some(month)), Some(Some(day)), None) = (parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    ((1..=12).contains(&month) && (1..=31).contains(&day))
        .then_some(Finding::new(DATE, start, end, 800).contextual())
}

/// `1961-073`: a year and its day (ISO 8601).
fn day_of_year(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    let value = text.get(start..end)?;
    let (year, rest) = value.split_at_checked("1961".len())?;
    let is_one = matches!(year, [b'1', b'9', ..] | [b'2', b'0', ..])
        && year.iter().all(u8::is_ascii_digit)
        && matches!(rest, [b'-', b'0'..=b'3', day @ ..] if day.len() == 2 && day.iter().all(u8::is_ascii_digit));
    is_one.then_some(Finding::new(DATE, start, end, 850).contextual())
}

/// Six or eight digits that are a date because the field is one.
fn date(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    let len = (start..end)
        .take_while(|at| byte(text, *at).is_ascii_digit())
        .count();
    (matches!(len, 6 | 8 | 12 | 14) && start + len == end)
        .then_some(Finding::new(DATE, start, end, 920))
}
