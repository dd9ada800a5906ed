//! Months and holidays without a day, where the words around say that something was done to somebody then: `admitted in
//! March`, `flu shot Oct`, `since Thanksgiving`. What is usual in a month (`the flu season begins in October`), verbs
//! (`may`, `march`) and names are none.

use super::named::month_end;
use super::{DATE, Finding};
use crate::kind::clause::clause;
use crate::text::{after, byte, byte_before, ends_with, has, is_word, starts};

const SCORE: u16 = 650;
/// Bytes before a name in which the words are looked for that tell.
const NEAR_BYTES: usize = 80;

/// From the name of a month.
pub fn find_month(text: &[u8], at: usize) -> Option<Finding> {
    let end = month_end(text, at)?;
    // The dot may be the sentence's.
    let end = end - usize::from(byte_before(text, end) == b'.');
    if is_word(byte_before(text, at)) {
        return None;
    }
    is_month(text, at, end).then_some(Finding::new(DATE, at, end, SCORE).contextual())
}

fn is_month(text: &[u8], at: usize, end: usize) -> bool {
    let name = text.get(at..end).unwrap_or_default();
    let behind = text.get(end..).unwrap_or_default();
    let clause = clause_before(text, at);
    if let Some(first) = other_end(text, clause, at) {
        return is_led(clause_before(text, first), name)
            && tells(clause_before(text, first), behind);
    }
    if !ends_well(name, behind) {
        return false;
    }
    let is_after_deed = || ends_with(clause, DEEDS) && is_unmistakable(name) && is_end(behind);
    is_led(clause, name) && tells(clause, behind)
        || is_after_deed() && !has(clause, GENERAL)
        || is_of_deed(clause, name, behind)
}

/// From the name of a holiday, which ends at `name_end`.
pub fn find_holiday(text: &[u8], at: usize, name_end: usize) -> Option<Finding> {
    if !byte(text, at).is_ascii_uppercase() && !is_among_small_letters(text, at) {
        return None;
    }
    if let Some(end) = super::named::year_after(text, name_end) {
        return Some(Finding::new(DATE, at, end, 850));
    }
    let clause = clause_before(text, at);
    let behind = text.get(name_end..).unwrap_or_default();
    let is_led = ends_with(clause, HOLIDAY_LEADS) && tells(clause, behind);
    let is_after_deed = ends_with(clause, DEEDS) && is_end(behind);
    (is_led || is_after_deed).then_some(Finding::new(DATE, at, name_end, SCORE).contextual())
}

const HOLIDAY_LEADS: &[&str] = &[
    "on", "since", "before", "after", "over", "around", "by", "until", "till", "last", "this",
];

/// The words of the same sentence before `at`.
fn clause_before(text: &[u8], at: usize) -> &[u8] {
    let near = text
        .get(at.saturating_sub(NEAR_BYTES)..at)
        .unwrap_or_default();
    let clause = clause(near);
    clause
        .rsplit(|byte| b"!?".contains(byte))
        .next()
        .unwrap_or(clause)
}

/// Where the month begins that this one is the other end of: `between June and August`.
fn other_end(text: &[u8], clause: &[u8], at: usize) -> Option<usize> {
    let head = clause.trim_ascii_end();
    let joint = ["and", "to", "through", "thru", "or", "-"]
        .iter()
        .find(|joint| ends_with(head, &[joint]))?;
    let head = head.get(..head.len() - joint.len())?.trim_ascii_end();
    let letters = head
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let start = at - clause.len() + head.len() - letters;
    (letters > 0 && month_end(text, start) == Some(start + letters)).then_some(start)
}

/// Whether a word leads to a month that no verb and no name follows.
fn is_led(clause: &[u8], name: &[u8]) -> bool {
    let mut head = clause.trim_ascii_end();
    while let Some(word) = LIMITS.iter().find(|word| ends_with(head, &[word])) {
        head = head
            .get(..head.len() - word.len())
            .unwrap_or_default()
            .trim_ascii_end();
    }
    let has_limit = head.len() < clause.trim_ascii_end().len();
    // `this may help`, `by march they mean`.
    let is_verb_too = matches!(name, b"may" | b"march" | b"mar" | b"dec");
    ends_with(head, LEADS) || (has_limit || ends_with(head, OTHER_LEADS)) && !is_verb_too
}

const LEADS: &[&str] = &["in", "since", "during", "last", "between"];
const OTHER_LEADS: &[&str] = &[
    "until", "till", "by", "through", "thru", "from", "this", "next", "before", "after", "past",
];
const LIMITS: &[&str] = &[
    "early",
    "late",
    "mid",
    "mid-",
    "the end of",
    "end of",
    "the beginning of",
    "beginning of",
    "the middle of",
];

/// Whether the sentence goes on as it does behind a month: with no name, no number and no other half of a word.
fn ends_well(name: &[u8], behind: &[u8]) -> bool {
    if is_end(behind) {
        return true;
    }
    let is_shouted = !name.iter().any(u8::is_ascii_lowercase);
    let [b' ', next, ..] = behind else {
        let rest = behind.strip_prefix(b"-").unwrap_or_default();
        return !rest.is_empty() && month_end(rest, 0).is_some();
    };
    let is_plain = next.is_ascii_lowercase() || is_shouted && next.is_ascii_uppercase();
    let other = [
        "is", "are", "madness", "of", "the", "fracture", "issue", "edition",
    ];
    (is_plain || matches!(next, b'(' | b'-' | b'&' | b'/'))
        && !other.iter().any(|word| starts_word(behind, word))
}

fn starts_word(behind: &[u8], word: &str) -> bool {
    let rest = behind.trim_ascii_start();
    starts(rest, word.as_bytes()) && !is_word(byte(rest, word.len()))
}

fn is_end(behind: &[u8]) -> bool {
    match byte(behind, 0) {
        0 | b'\n' | b'\r' | b'|' => true,
        b'.' | b',' | b';' | b':' | b')' | b'!' | b'?' => !is_word(byte(behind, 1)),
        _ => false,
    }
}

/// Names that are no other word, however they are written; others only with a capital.
fn is_unmistakable(name: &[u8]) -> bool {
    byte(name, 0).is_ascii_uppercase() && !name.eq_ignore_ascii_case(b"may")
        || [
            "january",
            "february",
            "july",
            "september",
            "october",
            "november",
            "december",
            "jan",
            "feb",
            "sept",
            "oct",
            "nov",
        ]
        .iter()
        .any(|word| name == word.as_bytes())
}

/// `Oct flu shot`, `her May visit`: what is done behind the month.
fn is_of_deed(clause: &[u8], name: &[u8], behind: &[u8]) -> bool {
    let is_first = clause.trim_ascii().is_empty()
        || ends_with(
            clause,
            &["-", ",", "(", "\u{2022}", "s/p", "after", "since", "from"],
        );
    let is_somebodys = ends_with(
        clause,
        &[
            "her",
            "his",
            "their",
            "my",
            "the",
            "last",
            "pt's",
            "patient's",
        ],
    );
    let is_deed =
        DEEDS.iter().any(|deed| starts_word(behind, deed)) || starts_word(behind, "flu shot");
    byte(behind, 0) == b' '
        && is_deed
        && byte(name, 0).is_ascii_uppercase()
        && (is_somebodys || is_first && is_unmistakable(name))
        && !name.eq_ignore_ascii_case(b"march")
}

/// Whether the words on both sides are about somebody's care, and not about what is usual.
fn tells(clause: &[u8], behind: &[u8]) -> bool {
    let behind = after(behind, 0);
    let behind = behind
        .split(|byte| b".;\n!?".contains(byte))
        .next()
        .unwrap_or(behind);
    let both = [clause, behind];
    let is_care = || {
        both.iter().any(|part| has(part, DEEDS) || has(part, CARE))
            || both.iter().any(|part| has(part, EVENTS))
                && both.iter().any(|part| has(part, PERSONS))
    };
    !both.iter().any(|part| has(part, GENERAL)) && is_care()
}

/// Where nothing has a capital, holidays have none.
fn is_among_small_letters(text: &[u8], at: usize) -> bool {
    /// Bytes on either side that tell how somebody writes.
    const AROUND_BYTES: usize = 512;
    let around = at.saturating_sub(AROUND_BYTES)..text.len().min(at + AROUND_BYTES);
    !text
        .get(around)
        .is_some_and(|around| around.iter().any(u8::is_ascii_uppercase))
}

/// What is done to a patient, right before a month or behind it.
const DEEDS: &[&str] = &[
    "admitted",
    "readmitted",
    "discharged",
    "hospitalized",
    "hospitalised",
    "admission",
    "discharge",
    "surgery",
    "appt",
    "appointment",
    "visit",
    "colonoscopy",
    "mammogram",
    "mammo",
    "egd",
    "endoscopy",
    "mri",
    "ct",
    "pet",
    "echo",
    "ekg",
    "cxr",
    "x-ray",
    "xray",
    "ultrasound",
    "biopsy",
    "labs",
    "a1c",
    "psa",
    "pap",
    "pap smear",
    "dexa",
    "shot",
    "vaccine",
    "booster",
    "tdap",
    "cath",
    "stent",
    "transplant",
    "chemo",
    "infusion",
    "lmp",
    "eye exam",
    "physical",
    "cleaning",
    "dx'd",
    "dx",
    "s/p",
    "injury",
    "fell",
    "last drink",
    "last drank",
    "last used",
    "last use",
    "last smoked",
];
/// Words of care and of illness that a date is told with.
const CARE: &[&str] = &[
    "d/c",
    "d/c'd",
    "dc'd",
    "hospitalization",
    "hospital",
    "icu",
    "last seen",
    "seen",
    "f/u",
    "follow-up",
    "diagnosed",
    "diagnosis",
    "onset",
    "operation",
    "underwent",
    "transplanted",
    "implanted",
    "biopsied",
    "vaccinated",
    "immunized",
    "chemotherapy",
    "radiation",
    "dialysis",
    "died",
    "passed away",
    "deceased",
    "born",
    "pregnant",
    "miscarriage",
    "miscarried",
    "injured",
    "accident",
    "mvc",
    "mva",
    "fractured",
    "stroke",
    "seizure",
    "seizures",
    "heart attack",
    "relapsed",
    "relapse",
    "sober",
    "detox",
    "rehab",
    "refill",
    "refilled",
    "prescribed",
    "titrated",
    "pain",
    "cough",
    "headaches",
    "symptoms",
    "nausea",
    "fatigue",
    "rash",
    "fever",
    "falls",
    "turned",
    "turns",
    "clinic",
    "er",
    "htn",
    "copd",
    "chf",
];
/// What happens to other things as well, and tells of care where a person is named.
const EVENTS: &[&str] = &[
    "started",
    "restarted",
    "stopped",
    "began",
    "quit",
    "scheduled",
    "rescheduled",
    "due",
    "returned",
    "return",
    "placed",
    "removed",
    "increased",
    "switched",
    "transferred",
    "referred",
    "weight",
    "lost",
    "gained",
    "scan",
    "cycle",
    "last",
    "clean",
    "moved",
    "lb",
    "lbs",
    "kg",
    "meds",
    "therapy",
    "been",
    "himself",
    "herself",
];
const PERSONS: &[&str] = &[
    "he", "she", "his", "her", "him", "my", "i", "i've", "pt", "pt's", "patient", "mr", "mrs",
    "ms", "mother", "father", "mom", "dad", "wife", "husband", "son", "daughter", "himself",
    "herself", "hasn't",
];
/// What says that a sentence is about what is usual, or about something else than a patient.
const GENERAL: &[&str] = &[
    "usually",
    "typically",
    "generally",
    "often",
    "recommended",
    "recommend",
    "recommends",
    "should",
    "season",
    "seasonal",
    "annually",
    "annual",
    "every",
    "each",
    "guideline",
    "guidelines",
    "patients",
    "people",
    "children",
    "adults",
    "study",
    "studies",
    "trial",
    "fda",
    "cdc",
    "published",
    "released",
    "release",
    "version",
    "approved",
    "as seen",
    "best",
    "peaks",
    "peak",
    "rates",
    "cases",
    "incidence",
    "common",
    "data",
    "vaccines",
    "company",
    "revenue",
    "conference",
    "deploy",
    "deployed",
    "updated",
    "rows",
    "table",
    "api",
    "issue",
    "journal",
];
