//! Seasons with their year: `fall of 2007`, `spring 2023`; `fall 1930` may be an accident and its time.

use super::named::year_after;
use super::{DATE, Finding};
use crate::text::{after, before, begins_with, byte, byte_before, ends_with, is_word, starts};

/// From the name of a season, which ends at `name_end`.
pub fn find_season(text: &[u8], at: usize, name_end: usize) -> Option<Finding> {
    let behind = text.get(name_end..)?;
    let is_led = [&b" "[..], b", "].iter().any(|gap| {
        behind.strip_prefix(*gap).is_some_and(|rest| {
            byte(rest, 0).is_ascii_digit() || byte(rest, 0) == b'\'' || starts(rest, b"of ")
        })
    });
    let end = year_after(text, name_end).filter(|_| is_led)?;
    // `Spring 2023.0.1` is a program, `fall 2000 feet` a measure.
    let is_version = byte(text, end) == b'.' && is_word(byte(text, end + 1));
    let is_measure = is_version || begins_with(after(text, end), MEASURES);
    let is_sure =
        || !starts(text.get(at..).unwrap_or_default(), b"fall ") || is_fall(text, at, end);
    (!is_measure && !is_word(byte_before(text, at)) && is_sure())
        .then_some(Finding::new(DATE, at, end, 750))
}

/// Whether `fall` and a number of four digits is a season, and not an accident with its time or its year. The sign
/// before the year, what leads to it, a capital inside of a sentence and a number that is no time say so. Otherwise it is
/// one where nothing around tells of an accident.
fn is_fall(text: &[u8], at: usize, end: usize) -> bool {
    let near = before(text, at);
    let behind = after(text, end);
    let number = text.get(at + "fall ".len()..end).unwrap_or_default();
    let is_titled =
        byte(text, at) == b'F' && byte(text, at + 1) == b'a' && is_inside_of_sentence(near);
    let Some((hours, minutes)) = time(number) else {
        return true;
    };
    if minutes >= MINUTES || is_titled || ends_with(near, LEADS) {
        return true;
    }
    // No patient has a year such as 1845 or 2130, but falls have such times.
    let is_year = matches!(hours, 19 | 20);
    let signs = behind.iter().take_while(|byte| b" ,-".contains(byte));
    let behind = behind.get(signs.count()..).unwrap_or_default();
    let is_accident = || {
        ends_with(near, ACCIDENT_BEFORE)
            || begins_with(behind, ACCIDENT_AFTER)
            || ends_with(near, PAINS_BEFORE) && matches!(byte(behind, 0), 0 | b'.' | b'\n')
            || behind
                .strip_prefix(b":")
                .is_some_and(|behind| begins_with(behind, TOLD_AFTER))
    };
    is_year && (begins_with(behind, DONE_AFTER) || !is_accident())
}

/// Minutes of an hour: `1998` is no time.
const MINUTES: u32 = 60;

/// The two halves of four digits.
fn time(number: &[u8]) -> Option<(u32, u32)> {
    let [a, b, c, d] = number else { return None };
    if !number.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let half = |tens: u8, ones: u8| u32::from(tens - b'0') * 10 + u32::from(ones - b'0');
    Some((half(*a, *b), half(*c, *d)))
}

fn is_inside_of_sentence(near: &[u8]) -> bool {
    let last = near.strip_suffix(b" ").unwrap_or(near).last();
    last.is_some_and(|last| is_word(*last) || matches!(last, b',' | b'(' | b')'))
}

/// What leads to a season.
const LEADS: &[&str] = &[
    "in",
    "in the",
    "since",
    "since the",
    "last",
    "this",
    "next",
    "until",
    "by",
    "during",
    "during the",
    "over the",
    "until the",
    "by the",
    "for the",
    "seen",
    "diagnosed",
    "dx",
    "dx'd",
    "surgery",
    "started",
    "born",
    "scheduled for",
    "hospitalized",
    "hospitalised",
    "discharged",
];
/// What stands before an accident.
const ACCIDENT_BEFORE: &[&str] = &[
    "a",
    "another",
    "the",
    "had",
    "has",
    "with",
    "after",
    "from",
    "s/p",
    "post",
    "due to",
    "2/2",
    "p/w",
    "c/o",
    "h/o",
    "hx of",
    "hx",
    "history of",
    "reports",
    "sustained",
    "suffered",
    "pt",
    "patient",
    "she",
    "he",
    "no",
    "recent",
    "recurrent",
    "witnessed",
    "unwitnessed",
    "mechanical",
    "mech",
    "syncopal",
    "accidental",
    "assisted",
    "inpatient",
    "ground level",
    "ground-level",
    "standing",
    "gl",
    "bed",
    "admitted for",
    "admitted with",
    "seen for",
    "here for",
    "ed for",
    "er for",
    "eval for",
    "evaluated for",
    "hpi:",
    "cc:",
    "reason:",
    "event:",
    "complaint:",
    "mechanism:",
    "moi:",
    "notified of",
    "glf",
    "trip and",
    "slip and",
];
/// What stands before an accident that nothing follows: `Hip pain, fall 2015`.
const PAINS_BEFORE: &[&str] = &["hip pain,", "wrist pain,"];
/// What stands behind an accident and its time.
const ACCIDENT_AFTER: &[&str] = &[
    "last night",
    "tonight",
    "today",
    "yesterday",
    "overnight",
    "this morning",
    "this evening",
    "in bathroom",
    "in the bathroom",
    "in shower",
    "in the shower",
    "in kitchen",
    "in the kitchen",
    "in hallway",
    "in the hallway",
    "in hall",
    "in the hall",
    "in room",
    "in her room",
    "in his room",
    "at bedside",
    "at home",
    "at facility",
    "from bed",
    "from chair",
    "from standing",
    "from wheelchair",
    "from ladder",
    "off",
    "out of bed",
    "onto",
    "down",
    "on stairs",
    "on the stairs",
    "on ice",
    "on floor",
    "while",
    "when",
    "witnessed",
    "unwitnessed",
    "found",
    "landed",
    "hit",
    "with head",
    "w/ head",
    "with hip",
    "w/ hip",
    "with injury",
    "without injury",
    "no loc",
    "no injury",
    "no head strike",
    "per rn",
    "per nursing",
    "per cna",
    "on unit",
    "hrs",
    "hours",
    "hr",
    "h",
];
/// How an accident is told behind its time and a colon.
const TOLD_AFTER: &[&str] = &[
    "tripped",
    "slipped",
    "witnessed",
    "unwitnessed",
    "no loc",
    "no injury",
];
/// What is planned for a season: `had fall 2019 colonoscopy`.
const DONE_AFTER: &[&str] = &[
    "colonoscopy",
    "mammogram",
    "visit",
    "appointment",
    "appt",
    "labs",
    "semester",
    "term",
];
/// What is counted behind `fall` and `spring`.
const MEASURES: &[&str] = &[
    "feet", "ft", "meters", "m", "km", "miles", "units", "people", "patients",
];
