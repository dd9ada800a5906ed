//! Given name and surname beside each other where no list decides alone: behind a word for somebody, in small letters, in
//! capitals.

use super::led::{DONE_WITH_DRUGS, WHO_ACTS, WHO_ELSE};
use super::told::ends_as_findings_do;
use super::{finding, is_blocked};
use crate::kind::Finding;
use crate::sentence::Sentence;
use crate::token::{Shape, Token};
use phi_lexicon::roles::Role;

/// `Dr. Hand consulted`, `Dr. Pain will see her`: a thing that is somebody's name where something is said of it, and no
/// word that begins a sentence.
pub(super) fn is_noun_for_name(sentence: &Sentence<'_>, at: usize) -> bool {
    const NOUNS: [&str; 23] = [
        "hand", "foot", "knee", "hip", "pain", "heart", "blood", "breast", "spine", "chest", "day",
        "home", "life", "case", "good", "long", "little", "great", "fine", "nice", "hope",
        "church", "bank",
    ];
    let word = sentence
        .token(at)
        .map_or("", |token| token.text(sentence.text));
    NOUNS.iter().any(|noun| word.eq_ignore_ascii_case(noun))
        && sentence
            .token(at)
            .is_some_and(|token| token.shape == Shape::Capital)
        && (sentence.gap(at) == b" "
            && sentence
                .token(at + 1)
                .is_some_and(|next| next.shape == Shape::Lower)
            || matches!(sentence.sign(at), 0 | b'.' | b',' | b';' | b')' | b'\n'))
}

/// `bill hathaway`, in small letters: a given name that may be a word too, and a surname that is none.
pub(super) fn is_small_pair(sentence: &Sentence<'_>, at: usize) -> bool {
    let (Some(given), Some(surname)) = (sentence.token(at), sentence.token(at + 1)) else {
        return false;
    };
    let (one, two) = (
        given.class_of(sentence.text),
        surname.class_of(sentence.text),
    );
    sentence.gap(at) == b" "
        && given.shape != Shape::Number
        && surname.shape == given.shape
        && !is_blocked(given)
        && surname.role.is_none()
        && one.is_given()
        && two.is_surname()
        && two.is_sure()
        && !two.is_word()
}

/// Where a name ends in a text without capitals, or of capitals alone, whose first words end at `end`: behind a given
/// name one word goes on that no list has.
pub(super) fn uncased_end(sentence: &Sentence<'_>, first: usize, end: usize) -> usize {
    let Some(token) = sentence.token(first) else {
        return end;
    };
    let is_last = |at: usize| matches!(sentence.sign(at), 0 | b'\n' | b'.' | b',' | b';');
    let goes_on = |next: &Token| match next.shape {
        // `SCRIBE: TAYLOR B`.
        Shape::Initial => token.shape == Shape::Upper && is_last(end),
        Shape::Upper => {
            // `OLGA PETROVSKAYA`, which is a town too.
            let is_town = next.class.is_city()
                && !next.class.is_word()
                && !next.class.is_big_city()
                && next.role.is_none()
                && token.class.is_given();
            (is_new_in_capitals(next) || is_town) && !ends_as_findings_do(next.text(sentence.text))
        }
        Shape::Lower => {
            token.class.is_given()
                && next.role.is_none()
                && !next.is_glued
                && next.len() > 2
                && next.class.is_unknown()
                && !ends_as_findings_do(next.text(sentence.text))
        }
        _ => false,
    };
    if end == first + 1
        && sentence.is_joined_to(end - 1)
        && sentence.token(end).is_some_and(goes_on)
    {
        end + 1
    } else {
        end
    }
}

/// A surname that is no word, and that no finding or drug is called by.
pub(super) fn is_sure_surname(token: &Token) -> bool {
    let class = token.class;
    class.is_surname()
        && !class.is_word()
        && !class.is_big_city()
        && token.role.is_none()
        && token.len() > 3
}

/// What patients have with them: `patient walker at bedside`.
pub(super) fn is_aid(word: &str) -> bool {
    ["walker", "turner"]
        .iter()
        .any(|aid| word.eq_ignore_ascii_case(aid))
}

/// `tunde alao`, in small letters, behind a word that leads to somebody.
pub(super) fn is_given_of_pair(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_part =
        |token: &Token| token.class.is_name() && !token.class.is_word() && token.role.is_none();
    sentence.token(at).is_some_and(is_part) && sentence.token(at + 1).is_some_and(is_part)
}

/// `RAVINDRA KULKARNI`: two words in capitals that are none of the language, one of which is a name.
pub(super) fn is_pair_in_capitals(sentence: &Sentence<'_>, at: usize) -> bool {
    let (Some(one), Some(two)) = (sentence.token(at), sentence.token(at + 1)) else {
        return false;
    };
    let is_part = |token: &Token| {
        token.shape == Shape::Upper
            && token.role.is_none()
            && !token.is_glued
            && (token.class.is_name() && !token.class.is_word() || is_new_in_capitals(token))
            && !ends_as_findings_do(token.text(sentence.text))
    };
    sentence.gap(at) == b" "
        && is_part(one)
        && is_part(two)
        && (one.class.is_name() || two.class.is_name())
}

/// A given name that is a word of every day too, and stands there as a name: `her husband Bill attended`.
pub(super) fn is_word_name(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_followed = sentence.gap(at) == b" "
        && sentence
            .token(at + 1)
            .is_some_and(|next| next.shape == Shape::Lower);
    is_followed || matches!(sentence.sign(at), 0 | b'.' | b',' | b';' | b')' | b'\n')
}

/// `Patient Oluwaseun Adeyemi.`, `the patient, Nkechi Obi, has`, `Patient Hope Summers seen`: two words written as
/// names behind a word for one person, of which one is a name or both are no words at all.
pub(super) fn is_pair_of_somebody(sentence: &Sentence<'_>, at: usize, first: usize) -> bool {
    let label = sentence
        .token(at)
        .map_or("", |token| token.text(sentence.text));
    let is_one_of = |words: &[&str]| words.iter().any(|word| label.eq_ignore_ascii_case(word));
    let acts = is_one_of(&WHO_ACTS);
    let is_kin = sentence.token(at).is_some_and(|word| word.is(Role::Kin));
    if first != at + 1 || !acts && !is_kin && !is_one_of(&WHO_ELSE) {
        return false;
    }
    let (Some(one), Some(two)) = (sentence.token(first), sentence.token(first + 1)) else {
        return false;
    };
    let is_written = |token: &Token| {
        token.shape == Shape::Capital && token.role.is_none() && !token.is_glued && token.len() > 2
    };
    if sentence.gap(first) != b" " || !is_written(one) || !is_written(two) {
        return false;
    }
    // A title goes on: `Patient Care Coordinator Training`.
    let is_title = sentence.gap(first + 1) == b" "
        && sentence
            .token(first + 2)
            .is_some_and(|next| next.is_capital() && next.class.is_word() && !next.class.is_name());
    let is_part = |token: &Token| {
        (token.class.is_unknown() || token.class.is_name() && !token.class.is_word())
            && !ends_as_findings_do(token.text(sentence.text))
    };
    let are_names = one.class.is_given() && (two.class.is_surname() || is_part(two));
    // `Pt Zosyn Vanco 1 g`.
    let is_dose = || {
        sentence.token(first + 2).is_some_and(|next| {
            next.shape == Shape::Number && sentence.gap(first + 1) == b" "
                || DONE_WITH_DRUGS.contains(&next.text(sentence.text))
        })
    };
    let may_be_new = acts || one.class.is_name() || two.class.is_surname();
    !is_title && (are_names || may_be_new && is_part(one) && is_part(two) && !is_dose())
}

/// A word in capitals that is none of the language, and longer than abbreviations are.
pub(super) fn is_new_in_capitals(token: &Token) -> bool {
    /// Letters of the longest abbreviations.
    const SHORT: usize = 4;
    token.shape == Shape::Upper
        && token.len() > SHORT
        && token.role.is_none()
        && token.class.is_unknown()
        && !token.is_glued
}

/// `("Maria", "Lopez", …)`: a surname that is all of a string, beside a given name that is all of one.
pub(super) fn beside_given_string(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    const SCORE: u16 = 650;
    let is_seam = |gap: &[u8]| matches!(gap, b"\", \"" | b"\",\"" | b"', '" | b"','");
    let is_edge = |gap: &[u8]| matches!(gap.first(), Some(b'"' | b'\'')) && gap.len() > 1;
    let is_given = |at: usize| {
        sentence.token(at).is_some_and(|given| {
            given.shape == Shape::Capital
                && given.class.is_given()
                && given.class.is_sure()
                && !given.class.is_big_city()
                && given.role.is_none()
        })
    };
    let token = sentence.token(at)?;
    let fits = token.shape == Shape::Capital
        && token.class.is_surname()
        && !token.class.is_common()
        && !token.class.is_big_city()
        && token.role.is_none();
    let before = at.checked_sub(1)?;
    let is_behind = is_seam(sentence.gap(before)) && is_given(before) && is_edge(sentence.gap(at));
    let is_before =
        || is_seam(sentence.gap(at)) && is_given(at + 1) && is_edge(sentence.gap(at + 1));
    (fits && (is_behind || is_before())).then_some((finding(sentence, at, at + 1, SCORE)?, at + 1))
}
