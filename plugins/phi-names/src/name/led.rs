//! Names that something before them leads to: what the person is, a greeting, an introduction.

use super::degree::{is_degree_before, is_told_of_staff};
use super::eponym::is_eponym;
use super::listed::{is_small_noun, listed, reversed};
use super::pair::{
    is_aid, is_given_of_pair, is_pair_in_capitals, is_pair_of_somebody, is_small_pair,
    is_sure_surname, is_word_name, uncased_end,
};
use super::told::labelled;
use super::{finding, is_blocked, name_end};
use crate::kind::Finding;
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use phi_lexicon::roles::Role;

const LED_SCORE: u16 = 800;
/// `patient Hernandez`: nobody means anybody else, not even in the definition of a tool.
const PATIENT_SCORE: u16 = 850;

/// What is a name by itself is no less of one behind a word that leads to it.
fn score(sentence: &Sentence<'_>, first: usize) -> u16 {
    let whole = listed(sentence, first).or_else(|| reversed(sentence, first));
    whole.map_or(LED_SCORE, |(finding, _)| finding.score.max(LED_SCORE))
}

/// What stands between a label and its value: a sign with white space or emphasis around it, the border of a cell, a
/// tab, or dots that lead to it.
pub(super) fn is_label_gap(gap: &[u8]) -> bool {
    let is_around = |byte: &u8| matches!(byte, b' ' | b'\t' | b'*' | b'_');
    let begin = gap.iter().position(|byte| !is_around(byte));
    let Some(begin) = begin else {
        return gap.contains(&b'\t');
    };
    let end = gap.iter().rposition(|byte| !is_around(byte));
    let sign = end.and_then(|end| gap.get(begin..=end)).unwrap_or_default();
    match sign {
        b":" | b"|" | b"=" | b":**" | b":</b>" => true,
        b"-" => gap == b" - ",
        b"#" => gap == b"# ",
        _ => sign.len() >= 4 && sign.iter().all(|byte| *byte == b'.'),
    }
}

/// How much the word before says that a name follows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    Strong,
    Weak,
}

impl Strength {
    pub(super) fn of_person(token: &Token, text: &str) -> Self {
        let word = token.text(text);
        if [
            "named",
            "name",
            "attn",
            "attending",
            "signed",
            "by",
            "nicknamed",
        ]
        .iter()
        .any(|strong| word.eq_ignore_ascii_case(strong))
        {
            Self::Strong
        } else {
            Self::Weak
        }
    }
}

/// `patient John`, `wife Mary`, `Patient Name: DOE, JANE`, `signed by J. Smith`.
pub(super) fn behind_person(
    sentence: &Sentence<'_>,
    at: usize,
    strength: Strength,
) -> Option<(Finding, usize)> {
    let gap = sentence.gap(at);
    let is_labelled = is_label_gap(gap);
    // `Pt. Rodriguez`.
    let is_shortened = gap == b". " && sentence.token(at).is_some_and(|word| word.len() == 2);
    let is_listed = gap == b", ";
    // `md: MarkdownIt` is no degree.
    let degree = sentence.token(at).filter(|word| word.is(Role::Credential));
    if degree.is_some_and(|degree| {
        !(is_degree_before(sentence, at, degree) || is_labelled && degree.shape == Shape::Upper)
    }) {
        return None;
    }
    let is_kin_word = sentence.token(at).is_some_and(|word| word.is(Role::Kin));
    // `dad (Suresh) has epilepsy`.
    let is_bracketed = is_kin_word && gap == b" (" && closes_behind(sentence, at + 1);
    if !is_labelled && !is_listed && !is_shortened && !is_bracketed && !matches!(gap, b" " | b"  ")
    {
        // `Name is Jane`.
        return None;
    }
    if is_labelled
        && leads_to_people(sentence, at)
        && let Some(found) = labelled(sentence, at)
    {
        return Some(found);
    }
    let mut first = at + 1;
    let mut token = sentence.token(first)?;
    let says = token.text(sentence.text);
    if ["is", "was", "name", "called", "named", "by"]
        .iter()
        .any(|word| says.eq_ignore_ascii_case(word))
        && !is_labelled
    {
        first += 1;
        if token.is(Role::Person) {
            return None;
        }
        token = sentence.token(first)?;
        if !matches!(sentence.gap(first - 1), b" " | b": ") {
            return None;
        }
    }
    // `Baby girl Alvarez`.
    let is_child = |token: &Token| {
        let word = token.text(sentence.text);
        word.eq_ignore_ascii_case("girl") || word.eq_ignore_ascii_case("boy")
    };
    if is_child(token) && sentence.gap(first) == b" " {
        first += 1;
        token = sentence.token(first)?;
    }
    // What a sign makes a label is no name: `Subject: RE: …`.
    let is_label = sentence.sign(first) == b':';
    let is_of_patient = sentence.token(at).is_some_and(|word| {
        ["patient", "pt"]
            .iter()
            .any(|one| word.text(sentence.text).eq_ignore_ascii_case(one))
    });
    // `Pt Washington, seen`, but `patient Washington DC`.
    let is_surname_of_patient = is_of_patient
        && token.is(Role::State)
        && token.class.is_surname()
        && token.shape == Shape::Capital
        && !sentence.token(first + 1).is_some_and(Token::is_capital);
    // `6 mo Augmentin`, `300 fa`: no mother and no father.
    let is_measure = is_kin_word
        && sentence.token(at).is_some_and(|word| word.len() == 2)
        && at
            .checked_sub(1)
            .and_then(|at| sentence.token(at))
            .is_some_and(|number| number.shape == Shape::Number);
    if is_measure {
        return None;
    }
    if is_blocked(token) && !is_surname_of_patient
        || is_label
        || token.shape == Shape::Number
        || token.is_glued
    {
        return None;
    }
    let is_strong = is_labelled || strength == Strength::Strong && first == at + 1;
    let fits = match sentence.writing {
        Writing::Cased if token.is_capital() => {
            let next = sentence.token(first + 1);
            let pair = next.is_some_and(|next| {
                next.is_capital()
                    && (next.class.is_name() || next.class.is_unknown())
                    && !is_blocked(next)
            }) && sentence.is_joined_to(first);
            let known = token.class.is_sure() || token.class.is_name() && !token.class.is_word();
            let is_somebody = token.shape == Shape::Capital
                && token.len() > 2
                && !matches!(sentence.sign(first), b'(' | b'<' | b'&' | b'[' | b'{')
                && token.class.is_unknown()
                && leads_to_one_name(sentence, at, is_labelled);
            // `Spouse: Lars`, `spouse Ebenezer died`.
            let does = || {
                sentence.gap(first) == b" "
                    && next.is_some_and(|next| next.shape == Shape::Lower)
                    && !token.class.is_common()
            };
            let is_kin = token.class.is_given()
                && is_kin_word
                && (is_labelled && !sentence.is_joined_to(first)
                    || !is_labelled && (does() || is_word_name(sentence, first)))
                || token.class.is_given()
                    && !token.class.is_common()
                    && leads_to_one_given(sentence, at)
                    && does()
                // `RN: Joy; MD: …`.
                || is_labelled
                    && token.class.is_given()
                    && token.shape == Shape::Capital
                    && leads_to_one_name(sentence, at, true)
                    && matches!(sentence.sign(first), b',' | b';' | b'.' | b'\n' | 0);
            known
                || degree.is_some() && is_told_of_staff(sentence, first)
                || is_surname_of_patient
                || is_somebody
                || is_kin
                // `PCP: Grace Oyelaran`.
                || is_labelled
                    && pair
                    && token.class.is_given()
                    && next.is_some_and(|next| next.class.is_unknown())
                || is_pair_of_somebody(sentence, at, first)
                || is_strong && pair && !token.class.is_common()
                || is_strong && token.class.is_unknown() && pair
        }
        Writing::Cased if token.shape == Shape::Initial => return None,
        // `Pt was frank with us`.
        Writing::Cased if is_of_patient && says.eq_ignore_ascii_case("was") => false,
        Writing::Cased => {
            let class = token.class_of(sentence.text);
            class.is_given() && class.is_sure() && token.len() > 2
        }
        Writing::Uncased => {
            // `next patient is svetlana`.
            let is_given =
                is_of_patient && first > at + 1 && token.class.is_given() && !token.class.is_word();
            let is_surname = is_of_patient
                && first == at + 1
                && (is_sure_surname(token) && !is_aid(token.text(sentence.text))
                    || is_given_of_pair(sentence, first))
                && sentence.is_joined_to(first);
            let is_of_family =
                is_kin_word && token.class.is_given() && !token.class.is_common() && gap == b" ";
            let is_walker = is_of_patient && is_aid(token.text(sentence.text));
            let is_of_nurse = degree.is_some()
                && token.role.is_none()
                && token.len() > 3
                && (token.class.is_name() && !token.class.is_word() || token.class.is_unknown());
            (token.class.is_sure() && (token.class.is_given() && !is_walker || is_strong)
                || is_given
                || is_surname
                || is_of_family
                || is_of_nurse
                || is_pair_in_capitals(sentence, first))
                && !is_small_noun(sentence, first)
        }
    };
    if !fits || is_eponym(sentence, first) {
        return None;
    }
    let end = name_end(sentence, first);
    let is_name = sentence
        .token(at)
        .is_some_and(|word| word.text(sentence.text).eq_ignore_ascii_case("name"));
    let is_small_patient = is_of_patient && first > at + 1 && sentence.writing == Writing::Uncased;
    // `attending: lokesh patel`.
    let is_small_labelled = is_labelled
        && token.shape == Shape::Lower
        && sentence.writing == Writing::Cased
        && sentence.is_joined_to(first);
    let end = if is_name || is_small_patient || is_small_labelled {
        small_names_end(sentence, first, end)
    } else {
        end
    };
    let end = if sentence.writing == Writing::Uncased {
        uncased_end(sentence, first, end)
    } else {
        end
    };
    let end = reversed(sentence, first).map_or(end, |(_, reversed)| reversed.max(end));
    let is_patient = sentence
        .token(at)
        .is_some_and(|word| word.text(sentence.text).eq_ignore_ascii_case("patient"));
    let score = if is_patient && token.class.is_sure() && !token.class.is_word() {
        PATIENT_SCORE
    } else {
        score(sentence, first)
    };
    Some((finding(sentence, first, end, score)?.contextual(), end))
}

/// Whether a bracket closes right behind the word.
fn closes_behind(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.sign(at) == b')'
}

/// Whether one given name may stand behind the word, as behind those of a family.
fn leads_to_one_given(sentence: &Sentence<'_>, at: usize) -> bool {
    let label = sentence
        .token(at)
        .map_or("", |token| token.text(sentence.text));
    let mut words = WHO_ACTS.iter().chain(&WHO_ELSE);
    words.any(|word| label.eq_ignore_ascii_case(word)) && !label.eq_ignore_ascii_case("pt")
}

/// `Hi Jane,`, `Dear Ms. Doe`, `Regards,\nJane`.
pub(super) fn behind_greeting(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let gap = sentence.gap(at);
    let ends_letter = [
        "thanks",
        "regards",
        "sincerely",
        "cheers",
        "best",
        "thx",
        "respectfully",
        "warmly",
        "rgds",
        "yours",
    ]
    .iter()
    .any(|word| {
        sentence
            .token(at)
            .is_some_and(|token| token.text(sentence.text).eq_ignore_ascii_case(word))
    });
    let is_near = matches!(gap, b" " | b", " | b" , ")
        || ends_letter
            && (matches!(gap.first(), Some(b',' | b'!' | b'.' | b'\n'))
                && gap.len() <= 4
                && gap.contains(&b'\n')
                || ends_line(sentence, at + 1)
                    && matches!(gap, b" - " | b" -" | b" \xe2\x80\x93 " | b", - " | b"! - "));
    let first = sentence.token(at + 1)?;
    if !is_near || is_blocked(first) || first.shape == Shape::Number {
        return None;
    }
    let is_own_line =
        gap.contains(&b'\n') && (gap.first() == Some(&b',') || ends_line(sentence, at + 1));
    if gap.contains(&b'\n') && !is_own_line {
        return None;
    }
    let fits = if sentence.writing == Writing::Cased && first.is_capital() {
        first.class.is_sure()
            || first.class.is_given()
            || (is_own_line || gap == b" ") && !first.class.is_word()
    } else if sentence.writing == Writing::Uncased {
        first.class.is_given() && first.class.is_sure()
    } else {
        let class = first.class_of(sentence.text);
        class.is_given() && class.is_sure()
    };
    if !fits {
        return None;
    }
    let end = name_end(sentence, at + 1);
    Some((
        finding(sentence, at + 1, end, score(sentence, at + 1))?.contextual(),
        end,
    ))
}

/// Whether the name that begins at the token ends its line: `Jess`, `Jess W.`.
fn ends_line(sentence: &Sentence<'_>, at: usize) -> bool {
    let mut last = name_end(sentence, at).saturating_sub(1);
    if sentence.gap(last) == b" "
        && sentence
            .token(last + 1)
            .is_some_and(|token| token.shape == Shape::Initial)
    {
        last += 1;
    }
    let gap = sentence.gap(last);
    gap.contains(&b'\n') || sentence.token(last + 1).is_none()
}

/// `my name is Jane`, `I'm Jane`, `this is Dr`… the name begins at the token.
pub(super) fn introduced(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    let before = sentence.before(at)?;
    if !ends_introduction(before.text(sentence.text).as_bytes()) {
        return None;
    }
    let head = sentence.text.get(..token.start)?.trim_end();
    // Whose name it is tells `Will` from what somebody will do.
    let is_given = token.shape == Shape::Capital
        && token.class.is_given()
        && ["my", "his", "her", "their"]
            .iter()
            .any(|whose| ends_with(head, &format!("{whose} name is")));
    if is_blocked(token) && !is_given {
        return None;
    }
    let is_introduced = [
        "name is",
        "name's",
        "i'm",
        "i am",
        "this is",
        "name:",
        "goes by",
        "known as",
        "aka",
        "calls himself",
        "calls herself",
    ]
    .iter()
    .any(|words| ends_with(head, words))
        // `hey doc its hank weatherford`, `Dr Castro, it's Wren.`
        || ["its", "it's"].iter().any(|words| ends_with(head, words))
            && (is_small_pair(sentence, at) || is_own_name(sentence, at));
    if !is_introduced || before.shape == Shape::Number {
        return None;
    }
    let class = token.class_of(sentence.text);
    let is_key = ends_with(head, "name:");
    let says_name = ["name is", "name's", "name:"]
        .iter()
        .any(|words| ends_with(head, words));
    let fits = match sentence.writing {
        // `- name: Run tests` is a step of a build.
        _ if is_key
            && class.is_word()
            && !class.is_sure()
            && sentence.gap(at) == b" "
            && sentence.token(at + 1).is_some_and(|next| {
                next.shape == Shape::Lower && !next.class_of(sentence.text).is_surname()
            }) =>
        {
            false
        }
        // `name: CI`, `name: ehr-gateway` are jobs and services.
        _ if is_key && !class.is_name() && (token.shape == Shape::Lower || token.len() < 4) => {
            false
        }
        Writing::Cased if token.is_capital() => {
            // `this is Temperance Okwuosa`.
            let is_before_new = || {
                sentence.gap(at) == b" "
                    && !class.is_common()
                    && token.shape == Shape::Capital
                    && sentence.token(at + 1).is_some_and(|next| {
                        next.shape == Shape::Capital
                            && next.role.is_none()
                            && (next.class.is_unknown()
                                || next.class.is_surname() && !next.class.is_word())
                    })
                    && matches!(sentence.sign(at + 1), b',' | b'.' | b'\n' | 0)
            };
            class.is_name() || class.is_unknown() || is_before_new()
        }
        _ => {
            class.is_given() && class.is_sure()
                || is_small_pair(sentence, at)
                || says_name && is_small_name(sentence, token)
        }
    };
    if !fits {
        return None;
    }
    let end = name_end(sentence, at);
    let end = if says_name || token.shape == Shape::Lower && is_small_pair(sentence, at) {
        small_names_end(sentence, at, end)
    } else {
        end
    };
    Some((
        finding(sentence, at, end, score(sentence, at))?.contextual(),
        end,
    ))
}

/// Whether a given name with a capital ends the sentence: `it's Wren.`
fn is_own_name(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.token(at).is_some_and(|token| {
        token.shape == Shape::Capital
            && token.class.is_given()
            && !token.class.is_common()
            && !token.class.is_city()
            && token.role.is_none()
    }) && matches!(sentence.sign(at), b'.' | b',' | b'!' | b'\n')
}

/// `PCP: Achebe`, `née Kowalska`: labels behind which nothing but a name stands.
fn leads_to_one_name(sentence: &Sentence<'_>, at: usize, is_labelled: bool) -> bool {
    let is_one_of = |words: &[&str]| {
        let label = sentence.token(at).map(|token| token.text(sentence.text));
        label.is_some_and(|label| words.iter().any(|word| label.eq_ignore_ascii_case(word)))
    };
    let is_kin = || sentence.token(at).is_some_and(|token| token.is(Role::Kin));
    // `Patient Szymborska denies pain`, `Patient Chidi Okafor seen`, but `Patient Portal`.
    let is_followed = || {
        let is_part = |next: &Token| {
            next.shape == Shape::Capital
                && next.role.is_none()
                && (next.class.is_unknown() || next.class.is_surname() && !next.class.is_word())
        };
        let last = at + 1 + usize::from(sentence.token(at + 2).is_some_and(is_part));
        let is_given_a_drug = |next: &Token| DONE_WITH_DRUGS.contains(&next.text(sentence.text));
        // `Nurse Hopkirk.`
        let ends = last == at + 1
            && is_one_of(&["nurse", "midwife", "chaplain"])
            && matches!(
                sentence.sign(last),
                b'.' | b',' | b';' | b')' | b'"' | b'\n' | 0
            );
        if ends && sentence.gap(at) == b" " {
            return true;
        }
        (at + 1..=last).all(|at| sentence.gap(at) == b" ")
            && sentence
                .token(last + 1)
                .is_some_and(|next| next.shape == Shape::Lower && !is_given_a_drug(next))
    };
    is_one_of(&["née", "nee", "surname", "baby", "infant"])
        || is_kin()
        || is_labelled && is_one_of(&ONE_NAME)
        || !is_labelled && is_one_of(&WHO_ACTS) && is_followed()
}

/// Whoever is said to do something: `hospitalist Mbeki who accepts`.
pub(super) const WHO_ACTS: [&str; 13] = [
    "patient",
    "pt",
    "hospitalist",
    "chaplain",
    "nurse",
    "midwife",
    "intensivist",
    "friend",
    "neighbor",
    "roommate",
    "rn",
    "np",
    "lpn",
];

/// Others behind whom a given name and a surname stand; some are things of programs too.
pub(super) const WHO_ELSE: [&str; 39] = [
    "doula",
    "sonographer",
    "pharmacist",
    "therapist",
    "physician",
    "surgeon",
    "counselor",
    "psychologist",
    "technologist",
    "phlebotomist",
    "dietitian",
    "perfusionist",
    "pediatrician",
    "driver",
    "client",
    "resident",
    "student",
    "attorney",
    "lawyer",
    "sponsor",
    "medic",
    "paramedic",
    "scribe",
    "sitter",
    "caseworker",
    "teacher",
    "coach",
    "supervisor",
    "landlord",
    "aide",
    "intern",
    "fellow",
    "interpreter",
    "witness",
    "coworker",
    "veteran",
    "officer",
    "boss",
    "caregiver",
];

/// What is done with a drug: `Pt Zosyn started`.
pub(super) const DONE_WITH_DRUGS: [&str; 15] = [
    "infusion",
    "infusions",
    "therapy",
    "dose",
    "refill",
    "prescription",
    "started",
    "stopped",
    "held",
    "given",
    "dosed",
    "drip",
    "gtt",
    "level",
    "increased",
];

/// Labels behind which one word is a name.
const ONE_NAME: [&str; 35] = [
    "scribe",
    "medic",
    "sponsor",
    "attorney",
    "sitter",
    "supervisor",
    "physician",
    "presenter",
    "rn",
    "lpn",
    "md",
    "np",
    "crna",
    "nurse",
    "technologist",
    "technician",
    "referring",
    "ordering",
    "therapist",
    "midwife",
    "pcp",
    "surgeon",
    "attending",
    "caregiver",
    "guardian",
    "radiologist",
    "pathologist",
    "anesthesiologist",
    "hospitalist",
    "prescriber",
    "claimant",
    "insured",
    "subscriber",
    "guarantor",
    "dentist",
];

/// Whether the label leads to people, and not to what is written about or done by them.
fn leads_to_people(sentence: &Sentence<'_>, at: usize) -> bool {
    let label = sentence.token(at).map(|token| token.text(sentence.text));
    let others = ["subject", "called", "by", "attention", "contact", "partner"];
    label.is_some_and(|label| !others.iter().any(|other| label.eq_ignore_ascii_case(other)))
}

fn ends_with(head: &str, words: &str) -> bool {
    let tail = head.len().checked_sub(words.len());
    let tail = tail.and_then(|at| head.as_bytes().get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(words.as_bytes()))
}

/// Where a name in small letters ends whose first words end at `end`: `my name is tyrone washington`.
fn small_names_end(sentence: &Sentence<'_>, first: usize, mut end: usize) -> usize {
    /// Words of such a name.
    const MOST: usize = 3;
    while end < first + MOST
        && sentence.is_joined_to(end - 1)
        && sentence
            .token(end)
            .is_some_and(|next| is_small_name(sentence, next))
    {
        end += 1;
    }
    end
}

/// A word in small letters that is a name, or no word of the language.
fn is_small_name(sentence: &Sentence<'_>, token: &Token) -> bool {
    let class = token.class_of(sentence.text);
    token.shape == Shape::Lower
        && token.len() > 1
        && !token.is_glued
        && (class.is_unknown() && token.role.is_none()
            || class.is_name() && !class.is_word()
            || class.is_surname() && token.is(Role::State))
}

/// Whether an introduction may end with the word: most words need no closer look.
fn ends_introduction(word: &[u8]) -> bool {
    match word {
        [_] => matches!(word, b"m" | b"M"),
        [b'i' | b'I', b't' | b'T', b's' | b'S'] => true,
        [_, _] => [b"is", b"am", b"by", b"as", b"it"]
            .iter()
            .any(|last| word.eq_ignore_ascii_case(*last)),
        // `Surname:` and `himself` as well; none is longer.
        [.., a, b] if word.len() <= b"himself".len() => matches!(
            (a, b),
            (b'm' | b'M', b'e' | b'E') | (b'k' | b'K', b'a' | b'A') | (b'l' | b'L', b'f' | b'F')
        ),
        _ => false,
    }
}
