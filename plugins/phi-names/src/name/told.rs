//! Names of words that no list has, or that are words of every day: what stands before or behind tells.

use super::eponym::{is_eponym, is_of_a_thing};
use super::pair::is_sure_surname;
use super::{MAX_WORDS, finding, name_end};
use crate::kind::Finding;
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use phi_lexicon::roles::Role;

const TOLD_SCORE: u16 = 850;

/// Bytes of a word that no list has, where capitals tell nothing: shorter ones are abbreviations.
const MIN_UNKNOWN_BYTES: usize = 4;

/// `Patient Name: Will Long`, `PATIENT: OYELARAN, BABATUNDE`: two words of a name behind the label at `at`.
pub(super) fn labelled(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let first = at + 1;
    let (one, two) = (sentence.token(first)?, sentence.token(first + 1)?);
    if !is_written(sentence, one) || !is_written(sentence, two) || is_of_a_thing(sentence, first) {
        return None;
    }
    let may_be = |token| may_be_name(sentence, token);
    let (given, surname) = (one.class_of(sentence.text), two.class_of(sentence.text));
    // `Name: Grace Park`.
    let is_name = sentence.writing == Writing::Cased
        && sentence
            .token(at)
            .is_some_and(|label| label.text(sentence.text).eq_ignore_ascii_case("name"));
    let is_person = match sentence.gap(first) {
        b", " | b"," | b"^" => {
            may_be(one) && may_be(two) || given.is_surname() && surname.is_given()
        }
        b" " | b"  " => {
            let third = sentence.token(first + 2).filter(|third| {
                sentence.is_joined_to(first + 1) && third.is_capital() && third.role.is_none()
            });
            may_be(one) && may_be(two)
                || given.is_given() && (surname.is_surname() || is_name) && third.is_none()
        }
        _ => false,
    };
    // In transcripts the label is who speaks: `Patient: Augmentin, Detroal and two more`.
    let goes_on = sentence.writing == Writing::Cased
        && is_said_by(sentence, at)
        && sentence.is_joined_to(first + 1)
        && !has_label_behind(sentence, first + 2)
        && sentence
            .token(first + 2)
            .is_some_and(|next| next.shape != Shape::Initial);
    let cased = sentence.writing == Writing::Cased;
    // Small words of every day are a sentence: `patient: will go home`.
    let is_small =
        |token: &Token| token.shape == Shape::Lower && token.class_of(sentence.text).is_word();
    if !is_person || goes_on || !cased && (is_small(one) || is_small(two)) {
        return None;
    }
    let mut end = (first + 2).max(name_end(sentence, first));
    while sentence.is_joined_to(end - 1)
        && sentence
            .token(end)
            .is_some_and(|token| token.shape == Shape::Initial)
    {
        end += 1;
    }
    Some((finding(sentence, first, end, TOLD_SCORE)?.contextual(), end))
}

/// `Babatunde Oyelaran DOB 1/2/1970`, `OYELARAN, BABATUNDE (MRN 4471882)`, `Garcia, 67F`: what is said of people alone
/// stands right behind.
pub(super) fn before_facts(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let first = sentence.token(at)?;
    let may_be = |token: &&Token| is_written(sentence, token) && may_be_name(sentence, token);
    if is_eponym(sentence, at) {
        return None;
    }
    if let Some(found) = words_before_facts(sentence, at, first) {
        return Some(found);
    }
    // `Emergency contact Tuck (friend)`: any word that nothing is called by otherwise.
    let is_contact = || {
        sentence
            .before(at)
            .is_some_and(|label| label.text(sentence.text).eq_ignore_ascii_case("contact"))
    };
    let is_called = first.shape == Shape::Capital
        && first.role.is_none()
        && !first.class.is_common()
        && is_contact()
        && has_kin_behind(sentence, at + 1);
    if is_called {
        return Some((
            finding(sentence, at, at + 1, TOLD_SCORE)?.contextual(),
            at + 1,
        ));
    }
    if !may_be(&first) {
        return None;
    }
    let is_reversed = matches!(sentence.gap(at), b", " | b",");
    let mut end = at + 1;
    while end < at + MAX_WORDS
        && (sentence.is_joined_to(end - 1) || is_reversed && end == at + 1)
        && sentence
            .token(end)
            .is_some_and(|next| may_be(&next) || end > at + 1 && next.shape == Shape::Initial)
    {
        end += 1;
    }
    let is_told = if has_kin_behind(sentence, end) {
        true
    } else if end > at + 1 {
        has_label_behind(sentence, end) || age_behind(sentence, end).is_some()
    } else {
        // One word has to be a surname, and the age to have a sex.
        let is_new = || {
            first.class.is_unknown()
                && first.shape == Shape::Capital
                && first.len() > MIN_UNKNOWN_BYTES
                && sentence.is_first(at)
                // `Pythia 70M parameters`.
                && !sentence.token(end + 1).is_some_and(|next| {
                    let next = next.text(sentence.text);
                    ["param", "model", "vari", "check"].iter().any(|head| next.starts_with(head))
                })
        };
        (first.class.is_surname() || is_new())
            && !first.class.is_word()
            && (first.class.is_sure() || !first.class.is_city())
            && !first.class.is_big_city()
            && age_behind(sentence, end) == Some(true)
    };
    if !is_told {
        return None;
    }
    Some((finding(sentence, at, end, TOLD_SCORE)?.contextual(), end))
}

/// `Summer Rose, 19F`, `Fern Gallowglass (DOB …)`, `Haverford, Clement 71M`, `Yamashiro, K. 66M`: a given name that is
/// a word too beside a name, or an initial behind a surname.
fn words_before_facts(
    sentence: &Sentence<'_>,
    at: usize,
    first: &Token,
) -> Option<(Finding, usize)> {
    let second = sentence.token(at + 1)?;
    let is_part =
        |token: &Token| token.shape == Shape::Capital && token.role.is_none() && !token.is_glued;
    if sentence.writing == Writing::Uncased || !is_part(first) {
        return None;
    }
    let (one, two) = (first.class, second.class);
    let has_fact =
        || has_label_behind(sentence, at + 2) || age_behind(sentence, at + 2) == Some(true);
    let is_new = |token: &Token| may_be_name(sentence, token);
    let fits = match sentence.gap(at) {
        b" " => {
            is_part(second) && one.is_given() && (two.is_name() || is_new(second)) && has_fact()
        }
        b", " if second.shape == Shape::Initial => {
            (one.is_surname() || one.is_unknown())
                && is_new(first)
                && age_behind(sentence, at + 2) == Some(true)
        }
        // `Eastwick` is a town too.
        b", " => {
            is_part(second)
                && two.is_given()
                && (is_new(first) || one.is_city() && !one.is_word())
                && has_fact()
        }
        _ => false,
    };
    fits.then(|| {
        Some((
            finding(sentence, at, at + 2, TOLD_SCORE)?.contextual(),
            at + 2,
        ))
    })?
}

/// `Discussed with Okafor`, `spoke to Okafor`, where no department is meant.
pub(super) fn spoken_with(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    // `discussed w/ okonkwo from gi`, in a text of small letters.
    let name = sentence.token(at).filter(|name| match sentence.writing {
        Writing::Cased => name.shape == Shape::Capital,
        Writing::Uncased => is_sure_surname(name),
    })?;
    let word = |back: usize| {
        let token = sentence.token(at.checked_sub(back)?)?;
        Some(token.text(sentence.text))
    };
    let is_to = || {
        let to = ["spoke", "spoken", "talked", "speaking"];
        word(1) == Some("to")
            && word(2).is_some_and(|said| to.iter().any(|one| said.eq_ignore_ascii_case(one)))
    };
    let is_with = (matches!(word(1), Some("with" | "w")) || is_to())
        && matches!(sentence.gap(at - 1), b" " | b"/ ");
    let is_said =
        || word(2).is_some_and(|said| SPOKEN.iter().any(|one| said.eq_ignore_ascii_case(one)));
    let text = name.text(sentence.text);
    let is_department = || {
        DEPARTMENTS.iter().any(|head| {
            let start = text.as_bytes().get(..head.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(head.as_bytes()))
        })
    };
    // `spoke to April`: nobody speaks to a month.
    let is_given = name.class.is_given() && matches!(name.role, None | Some(Role::Stop));
    let is_somebody = is_given || may_be_name(sentence, name);
    if !is_with || !is_said() || !is_somebody || name.is_glued || is_department() {
        return None;
    }
    let end = name_end(sentence, at);
    Some((finding(sentence, at, end, TOLD_SCORE)?.contextual(), end))
}

/// `Call Tarquin from Dexcom support`, `Please text Bogumil when it is done`.
pub(super) fn called_up(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    const CALLS: [&str; 6] = ["call", "text", "page", "phone", "ring", "email"];
    const BEHIND: [&str; 12] = [
        "from", "at", "about", "re", "if", "when", "before", "after", "back", "today", "tomorrow",
        "asap",
    ];
    let name = sentence
        .token(at)
        .filter(|name| name.shape == Shape::Capital && name.role.is_none() && !name.is_glued)?;
    let class = name.class;
    let is_somebody = class.is_given() && !class.is_common() && !class.is_city()
        || class.is_unknown() && name.len() > MIN_UNKNOWN_BYTES;
    let call = sentence.before(at).filter(|call| {
        is_somebody && matches!(call.len(), 4 | 5) && sentence.gap(at - 1) == b" "
    })?;
    let is_call = CALLS
        .iter()
        .any(|one| call.text(sentence.text).eq_ignore_ascii_case(one));
    let is_followed = || {
        sentence.gap(at) == b" "
            && sentence
                .token(at + 1)
                .is_some_and(|next| BEHIND.contains(&next.text(sentence.text)))
    };
    (is_call && is_followed()).then(|| {
        Some((
            finding(sentence, at, at + 1, TOLD_SCORE)?.contextual(),
            at + 1,
        ))
    })?
}

/// What is done with somebody by speaking.
const SPOKEN: [&str; 27] = [
    "reviewed",
    "coordinated",
    "agreed",
    "communicated",
    "checked",
    "appt",
    "appointment",
    "follow-up",
    "followup",
    "msg",
    "message",
    "voicemail",
    "vm",
    "verified",
    "confirmed",
    "rounded",
    "speaking",
    "discussed",
    "spoke",
    "spoken",
    "talked",
    "conferred",
    "staffed",
    "d",
    "met",
    "visited",
    "consulted",
];
/// How departments begin, in full and as they are shortened.
const DEPARTMENTS: [&str; 35] = [
    "podia", "dent", "rehab", "wound", "pall", "allerg", "bariat", "geriat", "hepat", "palliat",
    "vasc", "anes", "card", "derm", "endo", "gastro", "gyn", "hem", "hosp", "infect", "interv",
    "neph", "neuro", "onc", "opht", "ortho", "path", "ped", "pharm", "psych", "pulm", "rad",
    "rheum", "surg", "uro",
];

/// Whether the label is one that speakers have.
fn is_said_by(sentence: &Sentence<'_>, at: usize) -> bool {
    let label = sentence.token(at).map(|token| token.text(sentence.text));
    label.is_some_and(|label| {
        ["patient", "pt", "client", "nurse"]
            .iter()
            .any(|one| label.eq_ignore_ascii_case(one))
    })
}

/// A word that may be part of a name and is no other word.
pub(super) fn may_be_name(sentence: &Sentence<'_>, token: &Token) -> bool {
    let class = token.class;
    let is_long = token.len() >= MIN_UNKNOWN_BYTES
        || sentence.writing == Writing::Cased && token.shape == Shape::Capital;
    let is_new = class.is_unknown() && is_long && !ends_as_findings_do(token.text(sentence.text));
    token
        .role
        .is_none_or(|role| matches!(role, Role::Particle | Role::Eponym))
        && (is_new || class.is_name() && (class.is_sure() || !class.is_word()))
}

/// `afebrile, normotensive`: what is said of patients is in no list either.
pub(super) fn ends_as_findings_do(word: &str) -> bool {
    const ENDS: [&str; 30] = [
        "ive", "ile", "ous", "ated", "ized", "itis", "osis", "emia", "uria", "tic", "ical", "ing",
        "less", "phalic", "cillin", "mycin", "statin", "pril", "olol", "azole", "pathy", "ectomy",
        "otomy", "ostomy", "scopy", "gram", "ology", "algia", "penia", "plasty",
    ];
    ENDS.iter().any(|end| {
        let tail = word
            .len()
            .checked_sub(end.len())
            .and_then(|at| word.as_bytes().get(at..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(end.as_bytes()))
    })
}

/// Written as a name is in such a text.
fn is_written(sentence: &Sentence<'_>, token: &Token) -> bool {
    let fits = match sentence.writing {
        Writing::Cased => token.is_capital(),
        Writing::Uncased => token.shape != Shape::Number && token.shape != Shape::Initial,
    };
    fits && !token.is_glued && token.len() > 1
}

/// Whether what a person alone has stands right behind the name that ends before `end`.
fn has_label_behind(sentence: &Sentence<'_>, end: usize) -> bool {
    let is_near = matches!(
        sentence.gap(end - 1),
        b" " | b"  " | b", " | b" (" | b": " | b" - " | b"; " | b" | "
    );
    let label = sentence.token(end).map(|token| token.text(sentence.text));
    // `Zyaire Coleman b. 08.14.2019`, `Fern Gallowglass (Subscriber ID …)`.
    let is_before = |label: &str, gap: &[u8], word: &str| {
        label.eq_ignore_ascii_case(word) && sentence.gap(end) == gap
    };
    is_near
        && label.is_some_and(|label| {
            ["dob", "mrn", "born"]
                .iter()
                .any(|one| label.eq_ignore_ascii_case(one))
                || is_before(label, b". ", "b")
                    && sentence
                        .token(end + 1)
                        .is_some_and(|day| day.shape == Shape::Number)
                || ["member", "subscriber"]
                    .iter()
                    .any(|one| is_before(label, b" ", one))
                    && sentence
                        .token(end + 1)
                        .is_some_and(|id| id.text(sentence.text) == "ID")
        })
}

/// `Sefa (brother)`.
fn has_kin_behind(sentence: &Sentence<'_>, end: usize) -> bool {
    sentence.gap(end - 1) == b" ("
        && sentence.token(end).is_some_and(|kin| {
            kin.is(Role::Kin)
                || [
                    "friend",
                    "neighbor",
                    "neighbour",
                    "roommate",
                    "caregiver",
                    "guardian",
                ]
                .contains(&kin.text(sentence.text))
        })
        && sentence.sign(end) == b')'
}

/// `[7:02 PM] Dele Oyelaran: ok`: who speaks in a conversation that was copied.
pub(super) fn speaking(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let first = sentence.token(at)?;
    if sentence.sign(at) == b':' && begins_turn(sentence, at, first) {
        return Some((
            finding(sentence, at, at + 1, TOLD_SCORE)?.contextual(),
            at + 1,
        ));
    }
    let before = sentence.before(at)?;
    let is_time = before.shape == Shape::Number
        || matches!(before.text(sentence.text), "AM" | "PM" | "am" | "pm");
    if !is_time
        || sentence.gap(at - 1) != b"] "
        || !is_written(sentence, first)
        || !may_be_name(sentence, first)
    {
        return None;
    }
    let end = name_end(sentence, at);
    if sentence.sign(end - 1) != b':' {
        return None;
    }
    Some((finding(sentence, at, end, TOLD_SCORE)?.contextual(), end))
}

/// `Jess: hey its me`: a given name that is no word at the head of a line, with a colon and small letters behind.
fn begins_turn(sentence: &Sentence<'_>, at: usize, name: &Token) -> bool {
    let begins_line = at
        .checked_sub(1)
        .is_none_or(|before| sentence.gap(before).contains(&b'\n'));
    let class = name.class;
    let next = sentence
        .token(at + 1)
        .filter(|next| next.shape == Shape::Lower)
        .map_or("", |next| next.text(sentence.text));
    let is_word_of_talk = || TALK.contains(&next);
    begins_line
        && sentence.writing == Writing::Cased
        && name.shape == Shape::Capital
        && name.role.is_none()
        && !name.is_glued
        && class.is_given()
        && !class.is_city()
        && sentence.gap(at) == b": "
        && (next.len() > 1 && !class.is_word() || !class.is_common() && is_word_of_talk())
}

/// How turns of a conversation begin.
const TALK: [&str; 18] = [
    "hey", "hi", "hello", "ok", "okay", "yes", "no", "yep", "nope", "i", "im", "its", "u", "we",
    "thx", "thanks", "lol", "yeah",
];

/// Whether an age stands right behind, and then whether it has a sex: `54 y.o. male`, `67F`, `(55 M)`.
pub(super) fn age_behind(sentence: &Sentence<'_>, end: usize) -> Option<bool> {
    let is_initial = || {
        sentence
            .token(end - 1)
            .is_some_and(|last| last.shape == Shape::Initial)
    };
    let is_near = matches!(sentence.gap(end - 1), b" " | b", " | b" (")
        || sentence.gap(end - 1) == b". " && is_initial();
    let number = sentence
        .token(end)
        .filter(|token| is_near && token.shape == Shape::Number)?;
    let rest = sentence.text.get(number.start..)?;
    let digits = rest.len()
        - rest
            .trim_start_matches(|sign: char| sign.is_ascii_digit())
            .len();
    let behind = rest.get(digits..)?;
    let behind = behind.strip_prefix([' ', '-']).unwrap_or(behind);
    let word = behind.get(
        ..behind
            .find(|sign: char| !sign.is_ascii_alphabetic())
            .unwrap_or(behind.len()),
    )?;
    let is_one_of = |words: &[&str]| words.iter().any(|one| word.eq_ignore_ascii_case(one));
    if !(1..=3).contains(&digits) {
        None
    } else if ["M", "F", "yoM", "yoF", "yM", "yF"].contains(&word) {
        Some(true)
    } else {
        is_one_of(&["yo", "y", "year", "years", "yr", "yrs"]).then_some(false)
    }
}
