//! Degrees that stand before names in what is written in haste.

use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};

/// `RN Tammy`, `MD Winograd paged`, `np castellano`. `PA` is a state and a view of the chest too.
pub(super) fn is_degree_before(sentence: &Sentence<'_>, at: usize, degree: &Token) -> bool {
    let Some(name) = sentence.token(at + 1).filter(|_| sentence.gap(at) == b" ") else {
        return false;
    };
    let is_surname = || {
        name.class.is_surname()
            && !name.class.is_word()
            && !name.class.is_city()
            && !name.text(sentence.text).eq_ignore_ascii_case("anderson")
            && (name.shape == Shape::Capital
                || name.shape == Shape::Upper && sentence.writing == Writing::Uncased)
            && name.role.is_none()
    };
    let behind = sentence
        .token(at + 2)
        .filter(|_| sentence.is_joined_to(at + 1));
    match degree.text(sentence.text) {
        "RN" | "NP" | "LPN" => true,
        "MD" | "PA" | "CRNA" | "CNM" => match behind {
            None => is_surname(),
            Some(next) => {
                is_surname() && next.shape == Shape::Lower || is_told_of_staff(sentence, at + 1)
            }
        },
        "rn" | "np" => sentence.writing == Writing::Uncased,
        _ => false,
    }
}

/// `MD Winograd paged`: whether a word that no list has stands at `at`, and behind it what is done with the staff.
pub(super) fn is_told_of_staff(sentence: &Sentence<'_>, at: usize) -> bool {
    let is_new = |name: &Token| {
        name.class.is_unknown()
            && name.shape == Shape::Capital
            && name.role.is_none()
            && name.len() > 4
    };
    sentence.token(at).is_some_and(is_new)
        && sentence.gap(at) == b" "
        && sentence
            .token(at + 1)
            .is_some_and(|next| DONE_TO_STAFF.contains(&next.text(sentence.text)))
}

/// What is done with somebody of the staff.
const DONE_TO_STAFF: [&str; 9] = [
    "paged",
    "aware",
    "notified",
    "called",
    "informed",
    "updated",
    "here",
    "texted",
    "contacted",
];
