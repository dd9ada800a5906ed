//! Surnames that begin with a particle, where no title or given name stands before: `van der Westhuizen`, `el-Sayed`.

use super::eponym::is_eponym;
use super::{finding, has_article, name_end};
use crate::kind::Finding;
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use phi_lexicon::roles::Role;

const PARTICLE_SCORE: u16 = 700;

/// Two particles that stand before a surname and before nothing else in English.
const PAIRS: [(&str, &str); 8] = [
    ("van", "der"),
    ("van", "den"),
    ("van", "de"),
    ("von", "der"),
    ("de", "la"),
    ("de", "los"),
    ("von", "dem"),
    ("op", "den"),
];
/// Particles that are of no other language of medicine.
const ALONE: [&str; 6] = ["van", "von", "bin", "ibn", "dos", "abu"];
/// Surnames that are known for a thing.
const THINGS: [&str; 9] = [
    "Gogh",
    "Waals",
    "Bergh",
    "Willebrand",
    "Tourette",
    "Quervain",
    "Hippel",
    "Recklinghausen",
    "Gierke",
];

/// The name that begins with the particle at the token.
pub(super) fn find(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    if sentence.writing == Writing::Uncased {
        return None;
    }
    if has_article(token, sentence.text) {
        const THINGS: [&str; 6] = [
            "el-Nino",
            "el-Niño",
            "al-Anon",
            "al-Qaeda",
            "al-Qaida",
            "al-Jazeera",
        ];
        if THINGS.contains(&token.text(sentence.text)) {
            return None;
        }
        return Some((finding(sentence, at, at + 1, PARTICLE_SCORE)?, at + 1));
    }
    if !token.is(Role::Particle) || token.is_glued || sentence.gap(at) != b" " {
        return None;
    }
    let word = |at: usize| {
        sentence
            .token(at)
            .map_or("", |token| token.text(sentence.text))
    };
    let first = word(at);
    let is_pair = PAIRS.iter().any(|(one, two)| {
        first.eq_ignore_ascii_case(one) && word(at + 1).eq_ignore_ascii_case(two)
    });
    let last = at + 1 + usize::from(is_pair);
    let surname = sentence.token(last)?;
    let class = surname.class;
    let is_written = surname.shape == Shape::Capital
        && sentence.gap(last - 1) == b" "
        && !surname.is_glued
        && surname.role.is_none()
        && surname.len() > 3
        && (class.is_unknown()
            || class.is_surname() && !class.is_word()
            || class.is_name() && is_pair);
    if !is_written
        || THINGS.iter().any(|thing| word(last).starts_with(thing))
        || is_eponym(sentence, last)
    {
        return None;
    }
    let is_small = token.shape == Shape::Lower;
    let is_behind_person = at.checked_sub(1).is_some_and(|before| {
        matches!(sentence.gap(before), b" " | b": ")
            && sentence
                .token(before)
                .is_some_and(|token| token.is(Role::Person) || token.is(Role::Kin))
    });
    let is_alone = ALONE.iter().any(|one| first.eq_ignore_ascii_case(one))
        && !class.is_city()
        && (is_small || first == "Van" || first == "Von" || first == "Dos");
    // `Rio de la Plata`, `Instituto de la Salud`: part of a longer name of something.
    let is_inside = is_small
        && at.checked_sub(1).is_some_and(|before| {
            sentence.gap(before) == b" "
                && sentence
                    .token(before)
                    .is_some_and(|token| token.is_capital() && token.role.is_none())
        });
    let fits = !is_inside && (is_pair || is_alone || is_behind_person && class.is_surname());
    fits.then(|| {
        let end = name_end(sentence, last);
        Some((finding(sentence, at, end, PARTICLE_SCORE)?, end))
    })?
}
