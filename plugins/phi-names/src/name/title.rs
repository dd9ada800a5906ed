//! Names behind a title. Some titles are words of charts too.

mod chart;

use super::pair::{is_noun_for_name, is_small_pair, uncased_end};
use super::thing::is_titled_thing;
use super::{finding, is_blocked, is_name_word, name_end};
use crate::kind::Finding;
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use chart::{is_surely_titled, may_be_no_title};
use phi_lexicon::roles::Role;

const SCORE: u16 = 900;

/// `Dr. Kumar`, `mr . smith`: the word behind a title is a name unless it cannot be one.
pub(super) fn behind_title(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let title = sentence.token(at)?;
    if !sentence.is_next_to(at) || is_titled_thing(sentence, at) {
        return None;
    }
    // `on a cache miss. Billed by …`: no word that is shortened.
    let said = title.text(sentence.text);
    if said == "miss" && sentence.writing == Writing::Cased && sentence.gap(at).contains(&b'.') {
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

/// `Spoke with Sr. Garcia`, `el Sr. Xuereb`: a Spanish title where no name stands before it that it ends. Blood and
/// boards have `Sr.` as well: `Sr. Creatinine`, `Sr. Engineer`.
pub(super) fn behind_senor(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    is_senor(sentence, at)
        .then(|| behind_title(sentence, at))
        .flatten()
}

/// Whether the suffix at `at` is the title before another name.
pub(super) fn is_senor(sentence: &Sentence<'_>, at: usize) -> bool {
    /// What nothing but the title stands behind.
    const LEADS: [&str; 4] = ["el", "del", "al", "estimado"];
    let is_sr = sentence
        .token(at)
        .is_some_and(|token| token.text(sentence.text).eq_ignore_ascii_case("sr"));
    if !is_sr || !sentence.is_next_to(at) {
        return false;
    }
    let before = sentence
        .before(at)
        .filter(|_| sentence.is_joined_to(at - 1));
    let is_led = before.is_some_and(|before| {
        let before = before.text(sentence.text);
        LEADS.iter().any(|lead| before.eq_ignore_ascii_case(lead))
    });
    let ends_name =
        || before.is_some_and(|before| before.class.is_name() && is_name_word(sentence, before));
    // `Sr. de la Cruz`, `Sr. J. Garcia`.
    let first = at + 1 + particles(sentence, at + 1);
    let is_initial = sentence
        .token(first)
        .is_some_and(|token| token.shape == Shape::Initial);
    is_led || may_be_senor(sentence, first + usize::from(is_initial)) && !ends_name()
}

/// `Sr. Garcia`, `Sr. Vega`, but `Sr. AST 40`, `Sr. Banker`: a surname that is no word of every day, no measure of the
/// blood and no work.
fn may_be_senor(sentence: &Sentence<'_>, at: usize) -> bool {
    const NOBODY: [&str; 20] = [
        "ast",
        "alt",
        "chol",
        "alb",
        "mag",
        "phos",
        "bili",
        "trop",
        "trig",
        "cort",
        "osm",
        "bun",
        "ace",
        "banker",
        "prom",
        "warden",
        "steward",
        "tutor",
        "chancellor",
        "seaman",
    ];
    /// Words of every day by the towns that are called so.
    const OF_SPAIN: [&str; 2] = ["costa", "villa"];
    let Some(word) = sentence.token(at) else {
        return false;
    };
    let is_one_of = |words: &[&str]| {
        let word = word.text(sentence.text);
        words.iter().any(|known| word.eq_ignore_ascii_case(known))
    };
    let is_surname = word.class.is_surname()
        && word.role.is_none()
        && (!word.class.is_common() || is_one_of(&OF_SPAIN));
    (is_name_and_no_word(sentence, at) || is_surname) && !is_one_of(&NOBODY)
}

fn is_name_and_no_word(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence
        .token(at)
        .is_some_and(|token| token.class.is_name() && !token.class.is_word())
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
