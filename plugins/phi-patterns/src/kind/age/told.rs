//! Ages that a sentence tells of somebody: `Mrs. Alvarez is 97 and lives alone`, `she was 94 when he died`. Values that
//! are told in the same words are measures.

use super::{KIN, UNITS};
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
/// How a sentence goes on behind an age, though it begins as a unit does.
const GOES_ON: &[&str] = &["in good health"];
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
];

/// Whether somebody is named before a verb and a number: `Mrs. Alvarez is 97`, `who is 94`, `her neighbor was 93`.
pub(super) fn is_told(text: &[u8], start: usize, behind: &[u8]) -> bool {
    let near = before(text, start);
    let Some(subject) = subject(near, &[" is ", " was "]) else {
        return false;
    };
    (is_titled(subject) || ends_with(subject, OTHERS) || ends_with(subject, KIN))
        && !has_measure(clause(near))
        && !is_measure(behind)
}

/// Whether the number is what somebody's age was, or is by now: `she was 94 when he died`, `dx at 80, now 95`.
pub(super) fn is_passing(text: &[u8], start: usize, behind: &[u8]) -> bool {
    let near = before(text, start);
    ends_with(near, &["she was", "he was", "now"])
        && !has_measure(clause(near))
        && !is_measure(behind)
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

/// The words of the same sentence in `near`.
fn clause(near: &[u8]) -> &[u8] {
    let ends = |pair: &[u8]| matches!(pair, [b'.', b' '] | [b';' | b'\n', _]);
    let end = near.windows(2).rposition(ends).map_or(0, |at| at + 1);
    let clause = near.get(end..).unwrap_or_default();
    // The dot of a title ends no sentence.
    match near.get(..end) {
        Some(head) if ends_with(head, &["mr.", "mrs.", "ms.", "dr."]) => near,
        _ => clause,
    }
}

/// Whether the number goes on, or a word behind it says that it is no age.
fn is_measure(behind: &[u8]) -> bool {
    let goes_on = match byte(behind, 0) {
        b'.' | b',' | b'-' | b'/' | b':' => is_word(byte(behind, 1)),
        first => is_word(first),
    };
    let is_counted = || begins_with(behind, UNITS) || begins_with(behind, COUNTED);
    goes_on || is_counted() && !begins_with(behind, GOES_ON)
}
