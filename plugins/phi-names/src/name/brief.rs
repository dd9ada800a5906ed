//! Names that stand alone with the sign that gives them away: `/s/ Perpetua Hollis`, `Pt: Q. Tathley` as all of a text, a
//! newborn by its mother's name (`BG Nguyen DOL 3`), a family (`the Hollises arrived`).

use super::roster::{begins_line, ends_here};
use super::{finding, is_blocked, name_end};
use crate::kind::Finding;
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use phi_lexicon::{Hash, look_up};

const SCORE: u16 = 800;
/// Tokens of a text that is a label and a name and nothing else.
const MOST_TOKENS: usize = 4;

/// Labels of people, of whom one surname says enough where it is all.
const LABELS: [&str; 12] = [
    "patient",
    "pt",
    "attending",
    "provider",
    "physician",
    "surgeon",
    "nurse",
    "pcp",
    "resident",
    "guarantor",
    "client",
    "name",
];
/// What a newborn is called, before its mother's name: baby boy, baby girl, newborn.
const NEWBORNS: [&str; 3] = ["BB", "BG", "NB"];
/// What is told of newborns alone, near by.
const OF_NEWBORNS: [&str; 24] = [
    "dol",
    "bili",
    "tcb",
    "tsb",
    "voided",
    "void",
    "stooled",
    "mec",
    "meconium",
    "apgar",
    "apgars",
    "nicu",
    "circ",
    "latch",
    "latched",
    "breastfeeding",
    "breastfed",
    "formula",
    "mob",
    "nursery",
    "newborn",
    "wga",
    "cchd",
    "caput",
];
/// What families do, behind their name.
const DONE_BY_FAMILIES: [&str; 26] = [
    "arrived", "visited", "called", "came", "come", "are", "were", "have", "had", "live", "lived",
    "want", "wanted", "report", "reported", "say", "said", "left", "moved", "adopted", "asked",
    "agreed", "met", "and", "will", "both",
];

/// The name that begins at the token.
pub(super) fn find(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    if sentence.writing == Writing::Uncased && sentence.tokens.len() > MOST_TOKENS {
        return None;
    }
    if !matches!(token.shape, Shape::Capital | Shape::Initial) {
        return initials(sentence, at, token);
    }
    if token.shape == Shape::Initial
        && let Some(found) = initials(sentence, at, token)
    {
        return Some(found);
    }
    signed(sentence, at, token)
        .or_else(|| all_of_a_text(sentence, at))
        .or_else(|| newborn(sentence, at, token))
        .or_else(|| family(sentence, at, token))
}

fn found(sentence: &Sentence<'_>, at: usize, end: usize) -> Option<(Finding, usize)> {
    Some((finding(sentence, at, end, SCORE)?.contextual(), end))
}

/// `/s/ Perpetua Hollis`: whatever the name is (17 CFR 232.302).
pub(super) fn signed(
    sentence: &Sentence<'_>,
    at: usize,
    token: &Token,
) -> Option<(Finding, usize)> {
    let head = sentence.text.as_bytes().get(..token.start)?;
    let head = head.strip_suffix(b" ").unwrap_or(head);
    let sign = head.strip_suffix(b"/s/").or(head.strip_suffix(b"/S/"))?;
    let is_path = sign.last().is_some_and(|last| !last.is_ascii_whitespace());
    let mut end = name_end(sentence, at);
    // A word that a name has too: `/s/ Siri Halvard`.
    if end == at + 1 && sentence.is_joined_to(at) && sentence.token(end).is_some_and(may_be_surname)
    {
        end += 1;
    }
    (!is_path && end > at + 1).then(|| found(sentence, at, end))?
}

fn may_be_surname(token: &Token) -> bool {
    token.shape == Shape::Capital
        && !token.is_glued
        && !is_blocked(token)
        && !token.class.is_common()
}

/// A surname that no list needs to know.
fn is_rare(token: &Token) -> bool {
    token.shape == Shape::Capital
        && token.len() > 3
        && token.role.is_none()
        && !token.is_glued
        && (token.class.is_unknown() || token.class.is_surname() && !token.class.is_word())
}

/// `Patient: Tathley`, `Attending: Q. Tathley`, `Pt: Tathley, Q.` and nothing else.
fn all_of_a_text(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let tokens = sentence.tokens.len();
    if at != 1 || tokens > MOST_TOKENS || sentence.gap(0) != b": " {
        return None;
    }
    let label = sentence.token(0)?.text(sentence.text);
    let is_one_of = |labels: &[&str]| labels.iter().any(|one| label.eq_ignore_ascii_case(one));
    if !is_one_of(&LABELS) {
        return None;
    }
    let (first, second) = (sentence.token(1)?, sentence.token(2));
    let fits = match (first.shape, second) {
        (Shape::Initial, Some(surname)) => {
            tokens == 3 && matches!(sentence.gap(1), b". " | b" ") && is_rare(surname)
        }
        (Shape::Capital, Some(initial)) => {
            tokens == 3
                && initial.shape == Shape::Initial
                && matches!(sentence.gap(1), b", " | b" ")
                && is_rare(first)
        }
        // `Name: Chrome`.
        (Shape::Capital, None) => is_rare(first) && !is_one_of(&["name", "client", "provider"]),
        _ => false,
    };
    fits.then(|| found(sentence, 1, tokens))?
}

/// `BG Nguyen DOL 3`, `BB Vesterby bili 12`: at the beginning of a line, and something newborn behind.
fn newborn(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    /// Tokens behind that may tell of it.
    const REACH: usize = 6;
    let before = at.checked_sub(1)?;
    let is_led = sentence.gap(before) == b" "
        && sentence
            .token(before)
            .is_some_and(|word| NEWBORNS.contains(&word.text(sentence.text)))
        && begins_line(sentence, before);
    let is_told = |token: &Token| {
        let word = token.text(sentence.text);
        OF_NEWBORNS
            .iter()
            .any(|told| word.eq_ignore_ascii_case(told))
    };
    let fits = is_led
        && is_rare(token)
        && (at + 1..at + 1 + REACH).any(|at| sentence.token(at).is_some_and(is_told));
    fits.then(|| found(sentence, at, at + 1))?
}

/// `JD is a 45 yo`, `R.S., 62-year-old`, `Pt M.T. c/o`: initials of whoever is told of, by the age behind or the patient
/// before.
fn initials(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    const OTHERS: [&str; 19] = [
        "MD", "DO", "RN", "NP", "PA", "US", "UK", "AM", "PM", "CP", "HX", "DX", "AF", "OT", "RX",
        "TX", "FX", "SX", "PE",
    ];
    const PATIENTS: [&str; 2] = ["pt", "patient"];
    let end = match token.shape {
        Shape::Upper if token.len() == 2 => at + 1,
        Shape::Initial if sentence.sign(at) == b'.' && sentence.gap(at) == b"." => at + 2,
        _ => return None,
    };
    let last = sentence.token(end - 1)?;
    let is_dotted = end > at + 1;
    if token.role.is_some()
        || token.is_glued
        || is_dotted && (last.shape != Shape::Initial || sentence.sign(end - 1) != b'.')
        || !is_dotted && (token.class.is_word() || !sentence.is_first(at))
    {
        return None;
    }
    let written = sentence.text.get(token.start..last.end)?;
    let is_other = |other: &&str| {
        let letters = written.bytes().filter(|letter| *letter != b'.');
        letters.eq(other.bytes())
    };
    if OTHERS.iter().any(is_other) {
        return None;
    }
    let is_patients = || {
        is_dotted
            && sentence.before(at).is_some_and(|before| {
                let word = before.text(sentence.text);
                PATIENTS.iter().any(|one| word.eq_ignore_ascii_case(one))
            })
            && sentence.gap(at - 1) == b" "
    };
    let behind = sentence.text.get(last.end..)?;
    (is_patients() || is_age(behind.strip_prefix('.').unwrap_or(behind)))
        .then(|| found(sentence, at, end))?
}

/// Whether a text begins with somebody's age: `, 62-year-old`, ` is a 45 yo`, ` (58M)`.
fn is_age(behind: &str) -> bool {
    const LEADS: [&str; 4] = [" is a ", " is an ", ", ", " ("];
    const YEARS: [&str; 8] = [
        "yo", "y/o", "y.o.", "year-old", "year old", "yr old", "M)", "F)",
    ];
    let rest = LEADS.iter().find_map(|lead| behind.strip_prefix(lead));
    let Some(rest) = rest else {
        return false;
    };
    let years = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let digits = rest.len() - years.len();
    let years = years.strip_prefix([' ', '-']).unwrap_or(years);
    (1..=3).contains(&digits) && YEARS.iter().any(|word| years.starts_with(word))
}

/// `the Hollises arrived`: the plural of a surname behind its article, and what families do.
fn family(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    let before = sentence.before(at)?;
    if sentence.gap(at - 1) != b" " || !before.text(sentence.text).eq_ignore_ascii_case("the") {
        return None;
    }
    let word = token.text(sentence.text);
    // The others are found as a household is.
    let stem = word.strip_suffix("es")?;
    let class = look_up(Hash::new().over(stem));
    let does = sentence.token(at + 1).is_some_and(|next| {
        sentence.gap(at) == b" " && DONE_BY_FAMILIES.contains(&next.text(sentence.text))
    });
    let fits = token.shape == Shape::Capital
        && token.role.is_none()
        && class.is_surname()
        && !class.is_word()
        && (does || !class.is_city() && ends_here(sentence, at + 1));
    fits.then(|| found(sentence, at, at + 1))?
}
