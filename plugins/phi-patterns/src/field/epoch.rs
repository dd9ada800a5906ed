//! Days as programs count them, in seconds or milliseconds from 1970 on, also negative: `"dob": -277516800`,
//! `"/Date(-277516800000)/"`. Only fields of what is done for somebody count: `created_at` is any record's.

use crate::kind::{DATE, Finding};
use crate::text::{byte, byte_before, starts};

/// What a field is about; the first alone are days, the others beside a word of time.
const DAYS: [&str; 9] = [
    "dob",
    "birth",
    "birthdate",
    "dateofdeath",
    "deceased",
    "dateofservice",
    "servicedate",
    "admitdate",
    "dischargedate",
];
const EVENTS: [&str; 14] = [
    "admit",
    "admission",
    "discharg",
    "appointment",
    "appt",
    "encounter",
    "visit",
    "death",
    "onset",
    "surgery",
    "diagnosis",
    "immunization",
    "collected",
    "seen",
];
const TIMES: [&str; 6] = ["date", "time", "stamp", "epoch", "day", "millis"];
/// What the name of a time ends with.
const ENDS: [&str; 9] = ["_at", "_ts", "_on", "_ms", "_AT", "_TS", "At", "Ts", "On"];

/// What says that a field is a number of somebody, however it goes on: `deceased_ssn`, `visit_daytime_phone`.
const NUMBERS: [&str; 13] = [
    "ssn", "phone", "tel", "fax", "mrn", "account", "acct", "number", "no", "id", "zip", "npi",
    "csn",
];

/// Digits of seconds from 1973 on, and of milliseconds.
const DIGITS: core::ops::RangeInclusive<usize> = 9..=13;

/// The number in the field, if it is a day.
pub(super) fn find(text: &[u8], label: &[u8], start: usize, end: usize) -> Option<Finding> {
    let value = text.get(start..end)?;
    // Most values are words.
    if !matches!(value.first(), Some(b'-' | b'/' | b'\\' | b'0'..=b'9')) {
        return None;
    }
    let lead = match value {
        [b'\\', b'/', ..] => "\\/Date(".len(),
        [b'/', ..] => "/Date(".len(),
        _ => 0,
    };
    let is_wrapped = lead > 0 && value.get(..lead)?.ends_with(b"/Date(");
    if lead > 0 && !is_wrapped {
        return None;
    }
    let number = value.get(lead..)?;
    let is_negative = number.first() == Some(&b'-');
    let digits = number.get(usize::from(is_negative)..)?;
    let count = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let rest = digits.get(count..)?;
    let is_whole = rest.is_empty() || is_wrapped && rest.contains(&b')');
    if !DIGITS.contains(&count) || !is_whole || !is_wrapped && !is_of_day(label) {
        return None;
    }
    // The sign before it, where the format takes it for none of the value.
    let from = start + lead;
    let is_signed = !is_negative && from.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'-');
    let from = from - usize::from(is_signed);
    let to = start + lead + usize::from(is_negative) + count;
    Some(Finding::new(DATE, from, to, 850).contextual())
}

fn is_of_day(label: &[u8]) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| has_part(label, word.as_bytes()));
    let ends = |end: &&str| label.ends_with(end.as_bytes());
    (has(&DAYS) || has(&EVENTS) && (has(&TIMES) || ENDS.iter().any(ends))) && !is_of_number(label)
}

fn is_of_number(label: &[u8]) -> bool {
    NUMBERS.iter().any(|word| {
        let word = word.as_bytes();
        (0..label.len()).any(|at| {
            let end = at + word.len();
            starts(label.get(at..).unwrap_or_default(), word)
                && is_word_start(label, at)
                && (!byte(label, end).is_ascii_alphabetic() || is_word_start(label, end))
        })
    })
}

/// Whether the letters of a label have a part, whatever separates its words. It begins with one of them, as in the
/// middle of others it is chance (`adobe`, `responseEndTime`), or ends the label: `patientdob`.
fn has_part(label: &[u8], part: &[u8]) -> bool {
    let letters = |at: usize| {
        let rest = label.get(at..).unwrap_or_default().iter();
        rest.filter(|byte| byte.is_ascii_alphabetic())
            .map(u8::to_ascii_lowercase)
    };
    let is_last = |at: usize| {
        let rest = letters(at).take(part.len() + 1);
        rest.eq(part.iter().copied()) && is_in_one_word(label, at)
    };
    (0..label.len()).any(|at| {
        byte(label, at).is_ascii_alphabetic()
            && (is_word_start(label, at) && letters(at).take(part.len()).eq(part.iter().copied())
                || is_last(at))
    })
}

/// Whether nothing but letters stands from `at` to the end of a label.
fn is_in_one_word(label: &[u8], at: usize) -> bool {
    label
        .get(at..)
        .is_some_and(|rest| rest.iter().all(u8::is_ascii_alphabetic))
}

/// Whether a word of a label begins at a letter: `birth_date`, `birthDate`, `PIDBirthDate`.
fn is_word_start(label: &[u8], at: usize) -> bool {
    let head = byte_before(label, at);
    let is_hump = byte(label, at).is_ascii_uppercase()
        && (head.is_ascii_lowercase() || byte(label, at + 1).is_ascii_lowercase());
    !head.is_ascii_alphabetic() || is_hump
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_other_words_and_numbers_of_somebody_are_no_days() {
        for label in [
            "dob",
            "date_of_birth",
            "dateofbirth",
            "patientdob",
            "PatientDOB",
            "PIDBirthDate",
            "admitted_at",
            "visitDate",
            "visit_notes_date",
        ] {
            assert!(is_of_day(label.as_bytes()), "{label}");
        }
        for label in [
            "deceased_ssn",
            "deceasedSSN",
            "birth_mother_phone",
            "birthMotherPhone2",
            "visit_daytime_phone",
            "adobe_id",
            "responseEndTime",
            "upload_object_bytes",
        ] {
            assert!(!is_of_day(label.as_bytes()), "{label}");
        }
    }
}
