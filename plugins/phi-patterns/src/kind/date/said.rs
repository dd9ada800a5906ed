//! The words that make `3/4` a date, and those that make it a measurement, a score or a grade.

use crate::number::Numbers;
use crate::text::{after, before, begins_with, has};

/// Whether the words around say that a bare `3/4` is a date, and none says that it is something else.
pub(super) fn is_said(numbers: &Numbers<'_>, at: usize) -> bool {
    let near = before(numbers.text, numbers.group(at).start);
    let behind = after(numbers.text, numbers.group(at + 1).end);
    // The clause decides, not the sentence before.
    let clause = near
        .rsplit(|byte| b".;\n".contains(byte))
        .next()
        .unwrap_or(near);
    has(clause, DATE_WORDS) && !has(clause, MEASURE_BEFORE) && !begins_with(behind, MEASURE_AFTER)
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
];
/// Words that make it a measurement, a score or a grade.
const MEASURE_BEFORE: &[&str] = &[
    "grade", "strength", "pain", "murmur", "reflexes", "dtr", "dtrs", "pulses", "score", "scale",
    "rated", "bp", "pressure", "ratio", "stage", "vision", "acuity", "motor", "power", "gcs",
    "apgar", "apgars", "mg", "dose", "type",
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
];
