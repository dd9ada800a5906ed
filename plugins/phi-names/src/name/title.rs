//! Names behind a title. Some titles are words of charts too.

use phi_text::label::Labels;

use super::pair::{is_noun_for_name, is_small_pair, uncased_end};
use super::thing::is_titled_thing;
use super::{finding, is_blocked, is_name_word, name_end};
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
/// `Lt Knee`, `she has ms. Gait is stable`, `Severe DR. Macula flat`.
fn may_be_no_title(sentence: &Sentence<'_>, at: usize, title: &Token) -> bool {
    let is_one_of = |words: &[&str]| {
        let title = title.text(sentence.text);
        words.iter().any(|word| title.eq_ignore_ascii_case(word))
    };
    let ends_sentence = sentence.gap(at).contains(&b'.');
    is_one_of(&["lt"])
        || match title.shape {
            Shape::Upper => is_one_of(&["mr", "ms"]) || ends_sentence && is_one_of(&["dr"]),
            Shape::Lower => ends_sentence && is_one_of(&["mr", "ms"]),
            _ => false,
        }
}

/// Whether the word behind such a title is a name by itself: a surname that charts do not have there, or longer than
/// what is written short in charts.
fn is_surely_titled(sentence: &Sentence<'_>, title: usize, first: usize) -> bool {
    /// Letters of a name that no list has.
    const MIN_LEN: usize = 6;
    let (Some(title_word), Some(word)) = (sentence.token(title), sentence.token(first)) else {
        return false;
    };
    // `MS CONTIN` is a drug.
    let is_drug = sentence.gap(title) == b" " && title_word.text(sentence.text) == "MS";
    let has_dot = sentence.gap(title).contains(&b'.');
    let is_long = word.class.is_unknown() && word.len() >= MIN_LEN;
    match (title_word.shape, word.shape) {
        (_, Shape::Initial) => sentence.token(first + 1).is_some_and(Token::is_capital),
        (_, Shape::Lower) => true,
        (Shape::Upper, Shape::Upper) if is_long => !is_drug,
        (Shape::Lower, Shape::Capital) if is_long => true,
        (Shape::Upper, Shape::Capital) if is_long && has_dot => !is_graded(sentence, title),
        // `DR. DE LA CRUZ`, but `Mild MR. LA is large`.
        _ if word.is(Role::Particle) => {
            let is_particle = |token: &Token| token.is(Role::Particle);
            sentence.token(first + 1).is_some_and(is_particle)
                || is_name_and_no_word(sentence, first + 1)
                || word.class.is_name() && !is_graded(sentence, title)
        }
        _ if !word.class.is_word() => word.class.is_name(),
        _ => {
            // `DR. WILL`: sentences do not begin in capitals.
            let is_shouted = word.shape == Shape::Upper && has_dot;
            let is_person = is_shouted || !is_of_charts(word);
            word.class.is_sure()
                || word.class.is_surname() && is_person && !is_graded(sentence, title)
        }
    }
}

/// Surnames that begin a sentence of a chart, or are a part of the body or a program: `Lt Lower lobe`, `MS Word`.
fn is_of_charts(word: &Token) -> bool {
    WORDS_OF_CHARTS.by_hash(word.hash.value()).is_some()
}

/// `Mild MR. Wall motion normal`: how bad something is, which nobody is.
fn is_graded(sentence: &Sentence<'_>, title: usize) -> bool {
    const GRADES: [&str; 7] = [
        "trace",
        "minimal",
        "mild",
        "moderate",
        "mod",
        "severe",
        "significant",
    ];
    let before = sentence
        .before(title)
        .filter(|_| sentence.gap(title - 1) == b" ");
    before.is_some_and(|before| {
        let before = before.text(sentence.text);
        GRADES
            .iter()
            .any(|grade| before.eq_ignore_ascii_case(grade))
    })
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
    is_led || is_name_and_no_word(sentence, first + usize::from(is_initial)) && !ends_name()
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

#[rustfmt::skip]
static WORDS_OF_CHARTS: Labels<(), 256> = Labels::new(&[
    // What a sentence begins with.
    ("able", ()), ("both", ()), ("check", ()), ("clear", ()), ("daily", ()), ("deep", ()), ("done", ()), ("due", ()),
    ("during", ()), ("each", ()), ("every", ()), ("falls", ()), ("few", ()), ("given", ()), ("hence", ()), ("just", ()),
    ("keep", ()), ("large", ()), ("less", ()), ("level", ()), ("like", ()), ("many", ()), ("max", ()), ("mean", ()),
    ("memory", ()), ("mood", ()), ("near", ()), ("needs", ()), ("older", ()), ("peak", ()), ("plate", ()), ("rather", ()),
    ("round", ()), ("score", ()), ("severe", ()), ("shows", ()), ("six", ()), ("seven", ()), ("start", ()), ("steady", ()),
    ("still", ()), ("straight", ()), ("study", ()), ("such", ()), ("takes", ()), ("tone", ()), ("trace", ()), ("walks", ()),
    ("weight", ()), ("well", ()), ("were", ()), ("will", ()),
    // Parts of the body, and where they are.
    ("arms", ()), ("brow", ()), ("cheek", ()), ("chin", ()), ("colon", ()), ("cord", ()), ("finger", ()), ("hands", ()),
    ("limb", ()), ("lobe", ()), ("lower", ()), ("main", ()), ("nail", ()), ("shin", ()), ("sole", ()), ("tongue", ()),
    ("trunk", ()), ("vessel", ()), ("vessels", ()),
    // Behind `MS`.
    ("azure", ()), ("edge", ()), ("server", ()), ("surface", ()), ("word", ()),
]);
