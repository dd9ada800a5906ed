//! Names behind a title.

use super::pair::{is_noun_for_name, is_small_pair, uncased_end};
use super::thing::is_titled_thing;
use super::{finding, is_blocked, name_end};
use crate::kind::Finding;
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use crate::vocabulary::Role;

const SCORE: u16 = 900;

/// `Dr. Kumar`, `mr . smith`: the word behind a title is a name unless it cannot be one.
pub(super) fn behind_title(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let title = sentence.token(at)?;
    if !sentence.is_next_to(at) || is_titled_thing(sentence, at) {
        return None;
    }
    // `Dr. van der Merwe`.
    let particles = particles(sentence, at + 1);
    let first = sentence.token(at + 1 + particles)?;
    if sentence.writing == Writing::Cased
        && may_be_no_title(sentence, at, title)
        && !is_surely_titled(sentence, at, at + 1 + particles)
    {
        return None;
    }
    // `Dr. Smith` and `doctor smith`, but `doctor will` and `the doctor said`.
    let is_spelt = title.len() > 3;
    let fits = if first.shape == Shape::Initial {
        sentence
            .token(at + particles + 2)
            .is_some_and(|next| next.is_capital() && !next.class.is_common())
            || !is_spelt
    } else if first.is_capital() && sentence.writing == Writing::Cased {
        (!is_blocked(first)
            || !is_spelt
                && (first.class.is_surname() || is_noun_for_name(sentence, at + 1 + particles)))
            && !(is_spelt && first.class.is_common() && !first.class.is_sure())
    } else {
        // `mr` without a dot may be a scan.
        let is_sure_title = !is_spelt
            && (sentence.gap(at).contains(&b'.')
                || !title.text(sentence.text).eq_ignore_ascii_case("mr"));
        // `mrs abernethy fam`: of no other meaning.
        let is_mrs = title.text(sentence.text).eq_ignore_ascii_case("mrs");
        may_follow_uncased(sentence, first, is_sure_title, is_mrs)
            || is_small_pair(sentence, at + 1 + particles)
    };
    if !fits {
        return None;
    }
    let mut end = name_end(sentence, at + 1 + particles);
    // `DR. BJORN AASGAARD`, `mr tunde alao`.
    if sentence.writing == Writing::Uncased && end == at + 2 + particles {
        end = uncased_end(sentence, at + 1 + particles, end);
    }
    // `doctor bill hathaway`, in a text with capitals.
    if first.shape == Shape::Lower && is_small_pair(sentence, at + 1 + particles) {
        end = end.max(at + 3 + particles);
    }
    Some((finding(sentence, at + 1, end, SCORE)?.contextual(), end))
}

/// Whether the title may be a word of the charts that a capital follows by chance: `Severe MR. Trace TR`, `MS Contin`,
/// `Lt Knee`, `she has ms. Gait is stable`.
fn may_be_no_title(sentence: &Sentence<'_>, at: usize, title: &Token) -> bool {
    let is_one_of = |words: &[&str]| {
        let title = title.text(sentence.text);
        words.iter().any(|word| title.eq_ignore_ascii_case(word))
    };
    let ends_sentence = sentence.gap(at).contains(&b'.');
    is_one_of(&["lt"])
        || match title.shape {
            Shape::Upper => ends_sentence || is_one_of(&["mr", "ms"]),
            Shape::Lower => ends_sentence && is_one_of(&["mr", "ms"]),
            _ => false,
        }
}

/// Whether the word behind such a title is a name by itself: known as nothing else, or longer than what is written short in
/// charts.
fn is_surely_titled(sentence: &Sentence<'_>, title: usize, first: usize) -> bool {
    /// Letters of a name that no list has.
    const MIN_LEN: usize = 6;
    let (Some(title_word), Some(word)) = (sentence.token(title), sentence.token(first)) else {
        return false;
    };
    // `MS CONTIN` is a drug.
    let is_drug = sentence.gap(title) == b" " && title_word.text(sentence.text) == "MS";
    let is_long = word.class.is_unknown() && word.len() >= MIN_LEN;
    match (title_word.shape, word.shape) {
        (_, Shape::Initial) => sentence
            .token(first + 1)
            .is_some_and(|next| next.is_capital() && !next.class.is_common()),
        (_, Shape::Lower) => true,
        (Shape::Upper, Shape::Upper) if is_long => !is_drug,
        (Shape::Lower, Shape::Capital) if is_long => true,
        _ => word.class.is_sure() || word.class.is_name() && !word.class.is_word(),
    }
}

/// How many particles in small letters stand from `at` on, before the rest of a name.
fn particles(sentence: &Sentence<'_>, at: usize) -> usize {
    /// Of `de la` and `van der`.
    const MOST: usize = 2;
    (at..at + MOST)
        .take_while(|at| {
            let is_one = |token: &Token| token.is(Role::Particle) && token.shape == Shape::Lower;
            sentence.token(*at).is_some_and(is_one) && sentence.is_joined_to(*at)
        })
        .count()
}

/// Small letters, or all capitals: the lists decide.
fn may_follow_uncased(
    sentence: &Sentence<'_>,
    token: &Token,
    is_short_title: bool,
    is_mrs: bool,
) -> bool {
    if is_blocked(token) || token.shape == Shape::Number || token.len() < 2 {
        return false;
    }
    // Cased texts are asked here about words in small letters, whose class nobody looked up.
    if sentence.writing == Writing::Cased && token.shape == Shape::Lower {
        let class = token.class_of(sentence.text);
        return is_short_title && class.is_name() && class.is_sure()
            || is_short_title && class.is_surname() && !class.is_word()
            || is_mrs
                && (class.is_unknown() || class.is_surname() && !class.is_common())
                && token.role.is_none()
                && token.len() > 3;
    }
    token.class.is_sure()
        || is_short_title
            && (token.class.is_surname() || token.class.is_unknown())
            && token.len() > 2
        || token.class.is_name() && !token.class.is_word()
}
