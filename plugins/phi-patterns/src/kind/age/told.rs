//! Ages that a sentence tells of somebody: `Mrs. Alvarez is 97 and lives alone`, `she was 94 when he died`. Values that
//! are told in the same words are measures.

use super::KIN;
use super::unit::is_unit;
use crate::kind::clause::clause;
use crate::text::{before, begins_with, byte, ends_with, has, is_word};

/// Others than [`KIN`] of whom an age is told.
const OTHERS: &[&str] = &[
    "who",
    "neighbor",
    "neighbour",
    "friend",
    "roommate",
    "landlord",
    "landlady",
    "daughter",
    "son",
    "cousin",
    "niece",
    "nephew",
    "sibling",
    "partner",
    "spouse",
    "caregiver",
    "great-grandmother",
    "great-grandfather",
    "nana",
    "client",
    "resident",
    "veteran",
    "mother-in-law",
    "father-in-law",
    "stepmother",
    "stepfather",
];
/// What is counted in the same words, and when something was measured.
const COUNTED: &[&str] = &[
    "times",
    "point",
    "points",
    "patients",
    "people",
    "pills",
    "tablets",
    "tabs",
    "doses",
    "steps",
    "ra",
    "room air",
    "nc",
    "last night",
    "this morning",
    "overnight",
    "earlier",
    "daily",
    "bid",
    "tid",
    "qid",
    "qd",
    "qhs",
    "qam",
    "qpm",
    "prn",
    "u",
    "after neb",
    "after nebs",
    "after o2",
    "after oxygen",
    "after fluids",
    "after suction",
    "after suctioning",
    "after treatment",
];

/// Whether somebody is named before a verb and a number: `Mrs. Alvarez is 97`, `who is 94`, `her neighbor was 93`.
pub(super) fn is_told(text: &[u8], start: usize, behind: &[u8]) -> bool {
    let near = before(text, start);
    let Some(subject) = subject(near, &[" is ", " was "]) else {
        return false;
    };
    (is_titled(subject) || ends_with(subject, OTHERS) || ends_with(subject, KIN))
        && !has_measure(clause(near))
        && !is_measure(near, behind)
}

/// Whether the number is what somebody's age was, or is by now: `she was 94 when he died`, `dx at 80, now 95`.
pub(super) fn is_passing(text: &[u8], start: usize, behind: &[u8]) -> bool {
    let near = before(text, start);
    let is_age = if ends_with(near, &["now"]) {
        is_by_now(near, behind)
    } else {
        ends_with(near, WAS) && !is_fever(text, start, behind)
    };
    is_age && !has_measure(clause(near)) && !is_measure(near, behind)
}

const WAS: &[&str] = &["she was", "he was"];

/// `she was 102 on admission`: somebody was warm more often than so old.
fn is_fever(text: &[u8], start: usize, behind: &[u8]) -> bool {
    text.get(start..)
        .is_some_and(|number| number.starts_with(b"10"))
        && begins_with(behind, &["on", "in the ed", "in the er", "in ed", "in er"])
}

/// `dx at 80, now 95.`, `now 93 w/ CHF`: the sentence ends or goes on about somebody, and what was before is no dose.
fn is_by_now(near: &[u8], behind: &[u8]) -> bool {
    const OF_SOMEBODY: &[&str] = &[
        "with",
        "w",
        "w/",
        "and",
        "who",
        "lives",
        "living",
        "but",
        "frail",
        "dnr",
        "in assisted",
        "in memory",
        "in a nursing",
        "in good health",
        "on hospice",
        "-",
        "\u{2013}",
    ];
    let is_end = matches!(
        byte(behind, 0),
        0 | b'.' | b',' | b';' | b')' | b'\n' | b'\r'
    );
    (is_end || begins_with(behind, OF_SOMEBODY)) && !is_behind_value(near)
}

/// `Toprol was 50, now`, `50 mg BID, now`: a number that was no age, or a word of doses.
fn is_behind_value(near: &[u8]) -> bool {
    /// Behind these a number is an age or a year.
    const OF_LIFE: &[&str] = &[
        "at", "age", "aged", "turned", "since", "in", "until", "around", "about",
    ];
    let head = near.trim_ascii_end();
    let head = head.get(..head.len().saturating_sub("now".len()));
    let head = head.unwrap_or_default().trim_ascii_end();
    let head = head.strip_suffix(b",").unwrap_or(head);
    let word = head.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let lead = head.get(..head.len() - word.len()).unwrap_or_default();
    byte(word, 0).is_ascii_digit() && !ends_with(lead, OF_LIFE) && !ends_with(lead, WAS)
        || ends_with(head, COUNTED)
        || ends_with(head, &["mg", "mcg", "meq", "units"])
}

/// Whether a word says that something is measured.
pub(super) fn has_measure(near: &[u8]) -> bool {
    has(near, MEASURES)
}

/// What is measured, and changes from day to day.
const MEASURES: &[&str] = &[
    "bp",
    "sbp",
    "dbp",
    "hr",
    "sat",
    "sats",
    "spo2",
    "o2",
    "map",
    "rate",
    "pressure",
    "pulse",
    "systolic",
    "sugars",
    "glucose",
    "temps",
    "rates",
    "satting",
    "saturation",
    "bs",
    "fsbg",
    "vitals",
    "weight",
    "wt",
    "temp",
    "temperature",
    "tmax",
    "fever",
    "febrile",
    "sugar",
    "lb",
    "lbs",
    "kg",
    "pounds",
    "score",
    "sodium",
    "platelets",
    "inr",
    "gfr",
    "a1c",
    "ldl",
    "hdl",
    "plt",
    "plts",
    "alt",
    "ast",
    "ferritin",
    "tachy",
    "tachycardic",
    "desat",
    "desats",
    "desatted",
    "desaturated",
];

/// What stands before one of `verbs`, which `near` ends with.
fn subject<'t>(near: &'t [u8], verbs: &[&str]) -> Option<&'t [u8]> {
    verbs
        .iter()
        .find_map(|verb| near.strip_suffix(verb.as_bytes()))
}

/// `Mrs. Alvarez`, `Mr Jan Kowalski`.
fn is_titled(subject: &[u8]) -> bool {
    const TITLES: [&[u8]; 7] = [b"Mr", b"Mrs", b"Ms", b"Miss", b"Mr.", b"Mrs.", b"Ms."];
    /// Words of the name and its title.
    const MOST: usize = 4;
    let mut words = subject.rsplit(|byte| *byte == b' ').take(MOST);
    let is_name = |word: &[u8]| byte(word, 0).is_ascii_uppercase() || byte(word, 0) >= 0x80;
    let first = words.next().is_some_and(is_name);
    first
        && words
            .take_while(|word| is_name(word))
            .any(|word| TITLES.contains(&word))
}

/// Whether the number goes on, or a word behind it says that it is no age.
fn is_measure(near: &[u8], behind: &[u8]) -> bool {
    let goes_on = match byte(behind, 0) {
        b'.' | b',' | b'-' | b'/' | b':' => is_word(byte(behind, 1)),
        first => is_word(first),
    };
    goes_on || is_unit(near, behind) || begins_with(behind, COUNTED)
}
