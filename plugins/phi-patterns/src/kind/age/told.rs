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
    "when i checked",
    "when we checked",
    "when checked",
    "when rechecked",
    "on recheck",
];

/// Whether somebody is named before a verb and a number: `Mrs. Alvarez is 97`, `who is 94`, `her neighbor was 93`.
pub(super) fn is_told(text: &[u8], start: usize, behind: &[u8]) -> bool {
    let near = before(text, start);
    let Some(subject) = subject(near, &[" is ", " was "]) else {
        return false;
    };
    // `Mr. Alt is 94`: a name is no measure.
    let (is_somebody, lead) = match titled_at(subject) {
        Some(at) => (true, subject.get(..at).unwrap_or_default()),
        None => (ends_with(subject, OTHERS) || ends_with(subject, KIN), near),
    };
    is_somebody && !has_measure(last_part(clause(lead))) && !is_measure(near, behind)
}

/// Whether the number is what somebody's age was, or is by now: `she was 94 when he died`, `dx at 80, now 95`.
pub(super) fn is_passing(text: &[u8], start: usize, behind: &[u8]) -> bool {
    let near = before(text, start);
    let is_age = if let Some(head) = head_of_now(near) {
        is_somebody_before(head) && !is_measured(near, behind)
            || is_by_now(head, behind) && !has_measure(clause(near))
    } else {
        ends_with(near, WAS) && !is_fever(text, start, behind) && !is_measured(near, behind)
    };
    is_age && !is_measure(near, behind)
}

/// What stands before `now`, which `near` ends with.
fn head_of_now(near: &[u8]) -> Option<&[u8]> {
    if !ends_with(near, &["now"]) {
        return None;
    }
    let near = near.trim_ascii_end();
    let head = near.get(..near.len() - "now".len())?.trim_ascii_end();
    Some(head.strip_suffix(b",").unwrap_or(head))
}

/// `mother now 93`, `Mrs. Alvarez, now 94`, `he is now 94`.
fn is_somebody_before(head: &[u8]) -> bool {
    let head = [&b" is"[..], b" was"]
        .iter()
        .find_map(|verb| head.strip_suffix(*verb))
        .unwrap_or(head);
    ends_with(head, KIN)
        || ends_with(head, OTHERS)
        || ends_with(head, &["he", "she"])
        || titled_at(head).is_some()
}

/// Whether something was measured in the part of the sentence before an age, or in an earlier one what a number in such
/// a sentence tells most: `BP was low, he was 94 lying`, but `AST elevated, she was 97`,
/// `BP was low, she was 97 and frail`.
pub(super) fn is_measured(near: &[u8], behind: &[u8]) -> bool {
    let clause = clause(near);
    has_measure(last_part(clause)) || has(clause, VITALS) && !begins_with(behind, OF_SOMEBODY)
}

/// The words behind the last comma.
fn last_part(clause: &[u8]) -> &[u8] {
    clause
        .rsplit(|byte| *byte == b',')
        .next()
        .unwrap_or_default()
}

const WAS: &[&str] = &["she was", "he was"];

/// `she was 102 on admission`: somebody was warm more often than so old.
fn is_fever(text: &[u8], start: usize, behind: &[u8]) -> bool {
    text.get(start..)
        .is_some_and(|number| number.starts_with(b"10"))
        && begins_with(behind, &["on", "in the ed", "in the er", "in ed", "in er"])
}

/// `dx at 80, now 95.`, `now 93 w/ CHF`: the sentence ends or goes on about somebody, and what was before is no dose.
fn is_by_now(head: &[u8], behind: &[u8]) -> bool {
    let is_end = matches!(
        byte(behind, 0),
        0 | b'.' | b',' | b';' | b')' | b'\n' | b'\r'
    );
    (is_end || begins_with(behind, OF_SOMEBODY)) && !is_behind_value(head)
}

/// How a sentence goes on about somebody.
const OF_SOMEBODY: &[&str] = &[
    "with",
    "w",
    "w/",
    "and",
    "who",
    "is",
    "has",
    "had",
    "still",
    "fell",
    "years",
    "yrs",
    "here",
    "presents",
    "presenting",
    "presented",
    "admitted",
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

/// `Toprol was 50, now`, `50 mg BID, now`: a number that was no age and no year, or a word of doses.
fn is_behind_value(head: &[u8]) -> bool {
    /// Behind these a number is an age, a year, a stage or how often.
    const OF_LIFE: &[&str] = &[
        "at", "age", "aged", "turned", "since", "in", "until", "around", "about", "stage", "ckd",
        "x", "grade", "type", "dm",
    ];
    let word = head.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let lead = head.get(..head.len() - word.len()).unwrap_or_default();
    byte(word, 0).is_ascii_digit()
        && !is_of_date(word)
        && !ends_with(lead, OF_LIFE)
        && !ends_with(lead, WAS)
        || ends_with(head, COUNTED)
        || ends_with(head, &["mg", "mcg", "meq", "units"])
}

/// `2010`, `2/2020`.
fn is_of_date(word: &[u8]) -> bool {
    /// Of whoever lives, and of what is told of their parents.
    const YEARS: std::ops::RangeInclusive<&[u8]> = b"1850"..=b"2150";
    let is_year = word.len() == 4 && word.iter().all(u8::is_ascii_digit) && YEARS.contains(&word);
    is_year || word.contains(&b'/')
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

/// What is measured beside somebody's bed, and told of them by a number alone.
const VITALS: &[&str] = &[
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
    "satting",
    "saturation",
    "temp",
    "temperature",
    "tmax",
    "fever",
    "febrile",
    "vitals",
    "weight",
    "wt",
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

/// Where the title begins of `Mrs. Alvarez`, `Mr Jan Kowalski`.
fn titled_at(subject: &[u8]) -> Option<usize> {
    const TITLES: [&[u8]; 7] = [b"Mr", b"Mrs", b"Ms", b"Miss", b"Mr.", b"Mrs.", b"Ms."];
    /// Words of the name and its title.
    const MOST: usize = 4;
    let is_name = |word: &[u8]| byte(word, 0).is_ascii_uppercase() || byte(word, 0) >= 0x80;
    let mut at = subject.len();
    for word in subject.rsplit(|byte| *byte == b' ').take(MOST) {
        let is_first = at == subject.len();
        at = at.saturating_sub(word.len());
        if !is_name(word) {
            return None;
        }
        if TITLES.contains(&word) && !is_first {
            return Some(at);
        }
        // The space before it.
        at = at.saturating_sub(1);
    }
    None
}

/// Whether the number goes on, or a word behind it says that it is no age.
fn is_measure(near: &[u8], behind: &[u8]) -> bool {
    let goes_on = match byte(behind, 0) {
        b'.' | b',' | b'-' | b'/' | b':' => is_word(byte(behind, 1)),
        first => is_word(first),
    };
    goes_on || is_unit(near, behind) || begins_with(behind, COUNTED)
}
