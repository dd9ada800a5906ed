//! The words that make `3/4` a date, and those that make it a measurement, a score or a grade.

use crate::number::Numbers;
use crate::text::{after, before, begins_with, byte, has};

/// Whether the words around say that a bare `3/4` is a date, and none says that it is something else.
pub(super) fn is_said(numbers: &Numbers<'_>, at: usize) -> bool {
    let near = before(numbers.text, numbers.group(at).start);
    let behind = after(numbers.text, numbers.group(at + 1).end);
    // The clause decides, not the sentence before.
    let clause = near
        .rsplit(|byte| b".;\n".contains(byte))
        .next()
        .unwrap_or(near);
    let is_about_a_day = || has(clause, DATE_WORDS) || is_heading(numbers, at, near);
    is_about_a_day() && !has(clause, MEASURE_BEFORE) && !begins_with(behind, MEASURE_AFTER)
}

/// `3/1: admitted` at the beginning of a line or sentence.
fn is_heading(numbers: &Numbers<'_>, at: usize, near: &[u8]) -> bool {
    let end = numbers.group(at + 1).end;
    let is_first = matches!(
        near.trim_ascii_end().last(),
        None | Some(b'.' | b';' | b'\n')
    ) || matches!(near.last(), Some(b'\n'));
    is_first && byte(numbers.text, end) == b':' && byte(numbers.text, end + 1) == b' '
}

/// Words that make a bare `3/4` a date.
pub(super) const DATE_WORDS: &[&str] = &[
    "on",
    "date",
    "dated",
    "dob",
    "d.o.b",
    "born",
    "birthday",
    "birthdate",
    "since",
    "until",
    "till",
    "seen",
    "visit",
    "appt",
    "appointment",
    "admitted",
    "admit",
    "admission",
    "discharged",
    "discharge",
    "scheduled",
    "due",
    "by",
    "from",
    "started",
    "lmp",
    "edd",
    "surgery",
    "dos",
    "expires",
    "last",
    "next",
    "through",
    "thru",
    "before",
    "after",
    // What is done on a day.
    "mri",
    "ct",
    "cxr",
    "xray",
    "x-ray",
    "echo",
    "ekg",
    "ecg",
    "eeg",
    "egd",
    "ultrasound",
    "colonoscopy",
    "endoscopy",
    "biopsy",
    "cath",
    "lab",
    "labs",
    "draw",
    "drawn",
    "culture",
    "cultures",
    "f/u",
    "followup",
    "follow-up",
    "placed",
    "removed",
    "pulled",
    "inserted",
    "extubated",
    "intubated",
    "transferred",
    "transfused",
    "lkw",
    "onset",
    "last dose",
    "bday",
    "expired",
    "died",
    "deceased",
    "fell",
    "d/c",
    "dc'd",
    "consult",
    "clinic",
    "fever",
];
/// Words that make it a measurement, a score or a grade.
pub(super) const MEASURE_BEFORE: &[&str] = &[
    "grade", "strength", "pain", "murmur", "reflexes", "dtr", "dtrs", "pulses", "score", "scale",
    "rated", "bp", "pressure", "ratio", "stage", "vision", "acuity", "motor", "power", "gcs",
    "apgar", "apgars", "mg", "dose of", "type", "pulse", "edema", "muscle", "reflex", "biceps",
    "patellar", "heart", "ef", "tab", "tabs", "d5",
];
pub(super) const MEASURE_AFTER: &[&str] = &[
    "murmur",
    "systolic",
    "diastolic",
    "strength",
    "in",
    "pain",
    "bilaterally",
    "throughout",
    "out",
    "mg",
    "mcg",
    "ml",
    "cc",
    "g",
    "%",
    "mmhg",
    "mm",
    "cm",
    "tab",
    "tabs",
    "tablet",
    "tablets",
    "cup",
    "cups",
    "inch",
    "inches",
    "reflexes",
    "pulses",
    "on",
    "scale",
    "sem",
    "hsm",
    "days",
    "times",
    "doses",
    "dose",
    "weeks",
    "hours",
    "ratio",
    "of",
    "units",
    "pm",
    "am",
    "ns",
    "normal saline",
    "pitting",
    "edema",
    "teaspoon",
    "tsp",
    "pack",
    "ppd",
    "pills",
    "pill",
];
