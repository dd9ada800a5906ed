//! Places that no list has, by what stands before or behind: homes, counties, labels.

use super::{MAX_CITY_WORDS, is_plain_code};
use crate::kind::{Finding, LOCATION, PERHAPS_LOCATION};
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use phi_lexicon::roles::Role;

/// `lives in Chinle`, `a farm near Llanberis`, `Eland WI`: a place that no list has. It means something only where a
/// person is spoken of: settings live in files too.
pub(super) fn find_home(
    sentence: &Sentence<'_>,
    at: usize,
    first: &Token,
) -> Option<(Finding, usize)> {
    const HOMES: [&str; 9] = [
        "lives", "lived", "living", "resides", "residing", "born", "raised", "native", "stays",
    ];
    const ENDS: [&str; 12] = [
        "with",
        "and",
        "where",
        "who",
        "but",
        "since",
        "for",
        "has",
        "alone",
        "presented",
        "in",
        "until",
    ];
    if sentence.writing == Writing::Uncased
        || first.shape != Shape::Capital
        || first.role.is_some()
        || !first.class.is_unknown()
        || first.len() < 4
    {
        return None;
    }
    let word = |back: usize| {
        at.checked_sub(back)
            .and_then(|at| sentence.token(at))
            .map_or("", |token| token.text(sentence.text))
    };
    let is_home = || {
        matches!(word(1), "in" | "near" | "outside" | "of") && HOMES.contains(&word(2))
            || word(1) == "near"
    };
    let ends = || {
        matches!(sentence.sign(at), b',' | b'.' | b';' | b')' | b'\n' | 0)
            || sentence.gap(at) == b" "
                && sentence
                    .token(at + 1)
                    .is_some_and(|next| ENDS.contains(&next.text(sentence.text)))
    };
    let is_there = at > 0 && sentence.gap(at - 1) == b" " && is_home() && ends();
    let has_state = || {
        sentence.gap(at) == b" "
            && sentence.token(at + 1).is_some_and(|state| {
                state.shape == Shape::Upper && is_plain_code(state.text(sentence.text))
            })
    };
    (is_there || has_state()).then(|| {
        let found = Finding::new(PERHAPS_LOCATION, first.start, first.end, 700).contextual();
        (found, at + 1)
    })
}

/// `Sangamon County`, `San Diego County`.
pub(super) fn find_county(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let first = sentence.token(at)?;
    let is_named = |token: &Token| {
        token.shape == Shape::Capital
            && matches!(
                token.role,
                None | Some(Role::Particle | Role::State | Role::Direction)
            )
            && !(token.class.is_common() && token.class.is_word() && !token.class.is_city())
    };
    if sentence.writing == Writing::Uncased || !is_named(first) {
        return None;
    }
    for last in at + 1..=at + MAX_CITY_WORDS {
        let next = sentence
            .token(last)
            .filter(|_| sentence.gap(last - 1) == b" ")?;
        if ["County", "Parish"].contains(&next.text(sentence.text)) {
            let found = Finding::new(LOCATION, first.start, next.end, 750).contextual();
            return Some((found, last + 1));
        }
        if !is_named(next) {
            return None;
        }
    }
    None
}

/// `City: Riverton`.
pub(super) fn find_labelled_city(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let label = sentence.before(at)?.text(sentence.text);
    let is_label = ["city", "town", "county", "hometown", "birthplace"]
        .iter()
        .any(|word| label.eq_ignore_ascii_case(word));
    let token = sentence.token(at)?;
    let is_place = token.class.is_city() || token.class.is_unknown() || token.class.is_name();
    if !is_label
        || !matches!(sentence.gap(at - 1), b": " | b":")
        || !token.is_capital()
        || !is_place
    {
        return None;
    }
    let found = Finding::new(LOCATION, token.start, token.end, 750).contextual();
    Some((found, at + 1))
}
