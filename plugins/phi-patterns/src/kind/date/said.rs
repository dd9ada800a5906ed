//! The words that make `3/4` a date, and those that make it a measurement, a score or a grade.

use crate::number::{Gap, Numbers};
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
    let is_about_a_day = || {
        has(clause, DATE_WORDS)
            || is_heading(numbers, at, near)
            || is_timed(numbers, at)
            || is_aside(numbers, at, near)
    };
    is_about_a_day() && !has(clause, MEASURE_BEFORE) && !begins_with(behind, MEASURE_AFTER)
}

/// `3/1: admitted` at the beginning of a line or sentence; `11/3 pt fell` at that of a line.
fn is_heading(numbers: &Numbers<'_>, at: usize, near: &[u8]) -> bool {
    let text = numbers.text;
    let end = numbers.group(at + 1).end;
    let begins_line = near.is_empty() || matches!(near.last(), Some(b'\n'));
    let begins_sentence = matches!(near.trim_ascii_end().last(), Some(b'.' | b';' | b'\n'));
    let is_titled = byte(text, end) == b':' && byte(text, end + 1) == b' ';
    // `3/4 cup` is a fraction.
    let is_first_word = || {
        let behind = text.get(end..).unwrap_or_default();
        let word = behind.strip_prefix(b" - ").or(behind.strip_prefix(b" "));
        is_improper(numbers, at) && word.is_some_and(|word| byte(word, 0).is_ascii_alphabetic())
    };
    (begins_line || begins_sentence) && is_titled || begins_line && is_first_word()
}

/// `11/3 0900`: a time of day behind it.
fn is_timed(numbers: &Numbers<'_>, at: usize) -> bool {
    let time = numbers.group(at + 2);
    let is_clock = |time: u32| time / 100 < 24 && time % 100 < 60;
    time.len() == 4
        && numbers.gap(at + 1) == Gap::Space
        && numbers.gap(at + 2) == Gap::None
        && byte(numbers.text, time.start) <= b'2'
        && numbers.value(at + 2).is_some_and(is_clock)
}

/// `(11/2)`, `[11/3]`, which is no fraction.
fn is_aside(numbers: &Numbers<'_>, at: usize, near: &[u8]) -> bool {
    let is_closed = matches!(byte(numbers.text, numbers.group(at + 1).end), b')' | b']');
    is_closed && matches!(near.last(), Some(b'(' | b'[')) && is_improper(numbers, at)
}

/// `11/3`: more than the whole, as no score and no part of something is.
fn is_improper(numbers: &Numbers<'_>, at: usize) -> bool {
    /// Ratios are smaller: `2/1`, `4/3`.
    const RATIOS: u32 = 4;
    let (first, second) = (numbers.value(at), numbers.value(at + 1));
    first > second && first > Some(RATIOS)
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
    "week of",
    "as of",
    "called",
    "shot",
    "vaccine",
    "vaccinated",
    "booster",
    "yesterday",
    "today",
    "tomorrow",
    "tonight",
    "picc",
    "foley",
    "lbm",
    "tte",
    "visited",
    "signed",
    "filed",
    "sent",
    "mailed",
    "faxed",
    "received",
    "submitted",
    "resubmitted",
    "rejected",
    "denied",
    "approved",
    "paid",
    "resulted",
    "collected",
    "refilled",
    "filled",
    "dispensed",
    "booked",
    "rescheduled",
    "cancelled",
    "canceled",
    "arrived",
    "baptized",
    "exp",
    "rpt",
    "stent",
    "stents",
    "wrote",
    "written",
    "ships",
    "shipped",
    "stopped",
    "resumed",
    "restarted",
    "signout",
    "updated",
    "negative",
    "neg",
    "pos",
    "s/p",
    "dc",
    "adm",
    "rtc",
    "bcx",
    "ucx",
    "cx",
    "abx",
    "mon",
    "tue",
    "tues",
    "wed",
    "thu",
    "thur",
    "thurs",
    "fri",
    "sat",
    "sun",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
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
    "bottle",
    "bottles",
    "sets",
    "nodes",
    "cores",
    "sites",
    "samples",
    "sessions",
    "visits",
    "claims",
    "cycles",
    "courses",
    "rounds",
    "treatments",
    "fractions",
];
