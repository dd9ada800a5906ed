//! Titles that are words of charts and forms too: `Severe MR.`, `she has MS.`, `Lt Palm`, `form REV. B`.

use phi_text::label::Labels;

use super::is_name_and_no_word;
use crate::sentence::Sentence;
use crate::token::{Shape, Token};
use crate::vocabulary::Role;

/// Whether the title may be a word of the charts that a capital follows by chance: `Severe MR. Trace TR`, `MS Contin`,
/// `Lt Knee`, `she has ms. Gait is stable`, `Severe DR. Macula flat`, `form REV. B`.
pub(super) fn may_be_no_title(sentence: &Sentence<'_>, at: usize, title: &Token) -> bool {
    let is_one_of = |words: &[&str]| {
        let title = title.text(sentence.text);
        words.iter().any(|word| title.eq_ignore_ascii_case(word))
    };
    let ends_sentence = sentence.gap(at).contains(&b'.');
    is_one_of(&["lt"])
        || match title.shape {
            Shape::Upper => is_one_of(&["mr", "ms"]) || ends_sentence && is_one_of(&["dr", "rev"]),
            Shape::Lower => ends_sentence && is_one_of(&["mr", "ms"]),
            _ => false,
        }
}

/// Whether the word behind such a title is a name by itself: a surname that charts do not have there, or longer than
/// what is written short in charts.
pub(super) fn is_surely_titled(sentence: &Sentence<'_>, title: usize, first: usize) -> bool {
    /// Letters of a name that no list has.
    const MIN_LEN: usize = 6;
    let (Some(title_word), Some(word)) = (sentence.token(title), sentence.token(first)) else {
        return false;
    };
    // `MS CONTIN` is a drug.
    let is_drug = sentence.gap(title) == b" " && title_word.text(sentence.text) == "MS";
    let has_dot = sentence.gap(title).contains(&b'.');
    let is_long = word.class.is_unknown() && word.len() >= MIN_LEN;
    let is_titled = |title: &str| title_word.text(sentence.text).eq_ignore_ascii_case(title);
    // A lieutenant, or the left side.
    let (is_revision, is_left) = (is_titled("rev"), is_titled("lt"));
    match (title_word.shape, word.shape) {
        // `REV. J. White`, but `REV. B Approved` is a form.
        (_, Shape::Initial) if is_revision => {
            is_name_and_no_word(sentence, first + 1)
                || sentence.gap(first).contains(&b'.')
                    && sentence
                        .token(first + 1)
                        .is_some_and(|next| next.is_capital() && next.class.is_surname())
        }
        (_, Shape::Initial) => sentence.token(first + 1).is_some_and(Token::is_capital),
        (_, Shape::Lower) => true,
        (Shape::Upper, Shape::Upper) if is_long => !is_drug,
        (Shape::Lower, Shape::Capital) if is_long => true,
        (Shape::Upper, Shape::Capital) if is_long && has_dot => !is_graded(sentence, title),
        (Shape::Upper, Shape::Upper) if is_revision => is_revered(sentence, first, word),
        // `DR. WILL`, `DR. SMALL`: sentences do not begin in capitals.
        (Shape::Upper, Shape::Upper)
            if has_dot && !is_left && is_shouted_name(sentence, title, first) =>
        {
            true
        }
        // `DR. DE LA CRUZ`, but `Mild MR. LA is large`.
        _ if word.is(Role::Particle) => {
            let is_particle = |token: &Token| token.is(Role::Particle);
            sentence.token(first + 1).is_some_and(is_particle)
                || is_name_and_no_word(sentence, first + 1)
                || word.class.is_name() && !is_graded(sentence, title)
        }
        _ if !word.class.is_word() => word.class.is_name(),
        _ => {
            let is_person = || {
                acts(sentence, first)
                    || !is_of_charts(word, is_left && has_dot) && !is_graded(sentence, title)
            };
            word.class.is_sure() || word.class.is_surname() && is_person()
        }
    }
}

/// `REV. WHITE`, but `REV. DATE 02/12` and `REV. JUNE`.
fn is_revered(sentence: &Sentence<'_>, at: usize, word: &Token) -> bool {
    const OF_FORMS: [&str; 4] = ["date", "level", "page", "code"];
    let is_of_form = OF_FORMS
        .iter()
        .any(|known| word.text(sentence.text).eq_ignore_ascii_case(known));
    let is_dated = sentence
        .token(at + 1)
        .is_some_and(|next| next.shape == Shape::Number && sentence.gap(at) == b" ");
    word.class.is_surname() && word.role.is_none() && !is_of_form && !is_dated
}

/// Whether a word in capitals behind a title in capitals is a name, whether or not a list has it: `DR. SMALL`,
/// `DR. HUQ`. What is short and in no list may be a measure: `MR. RVSP 40`, `MS. EDSS 3`.
fn is_shouted_name(sentence: &Sentence<'_>, title: usize, first: usize) -> bool {
    const MIN_LEN: usize = 3;
    /// Before what somebody has.
    const OWNS: [&str; 7] = ["has", "had", "have", "of", "hx", "dx", "o"];
    /// What a doctor's is, or what is done with one.
    const OF_DOCTORS: [&str; 12] = [
        "office", "order", "orders", "stat", "visit", "appt", "note", "notes", "aware", "notified",
        "name", "list",
    ];
    let (Some(title_word), Some(word)) = (sentence.token(title), sentence.token(first)) else {
        return false;
    };
    if word.len() < MIN_LEN || is_graded(sentence, title) {
        return false;
    }
    if word.class.is_surname() {
        return true;
    }
    let is_number_behind = sentence
        .token(first + 1)
        .is_some_and(|next| next.shape == Shape::Number && sentence.gap(first) == b" ");
    let is_one_of = |at: Option<usize>, words: &[&str]| {
        at.and_then(|at| sentence.token(at)).is_some_and(|word| {
            let word = word.text(sentence.text);
            words.iter().any(|known| word.eq_ignore_ascii_case(known))
        })
    };
    let is_thing =
        is_one_of(Some(first), &OF_DOCTORS) || WORDS_OF_CHARTS.by_hash(word.hash.value()).is_some();
    if word.role.is_some() || is_number_behind || is_thing {
        return false;
    }
    let is_doctor = title_word.text(sentence.text) == "DR";
    let before = title.checked_sub(1);
    let is_met = is_one_of(
        before,
        &["by", "ask", "tell", "told", "saw", "paged", "dear"],
    ) || is_one_of(before, &["with"])
        && is_one_of(
            title.checked_sub(2),
            &[
                "spoke",
                "spoken",
                "discussed",
                "met",
                "talked",
                "speak",
                "meet",
            ],
        );
    is_doctor
        || is_met
        || acts(sentence, first)
        || !word.class.is_unknown() && !is_one_of(before, &OWNS)
}

/// Whether something follows the word at `at` that people do: `MR. Wall called`.
fn acts(sentence: &Sentence<'_>, at: usize) -> bool {
    const DEEDS: [&str; 21] = [
        "called",
        "calls",
        "came",
        "said",
        "says",
        "told",
        "asked",
        "asks",
        "agreed",
        "agrees",
        "states",
        "stated",
        "reports",
        "reported",
        "denies",
        "wants",
        "lives",
        "arrived",
        "requested",
        "refused",
        "returned",
    ];
    sentence.gap(at) == b" "
        && sentence
            .token(at + 1)
            .is_some_and(|next| DEEDS.contains(&next.text(sentence.text)))
}

/// Surnames that begin a sentence of a chart, or are a part of the body or a program: `Lt Lower lobe`, `MS Word`. A
/// lieutenant has a dot, and no part of the body.
fn is_of_charts(word: &Token, is_officer: bool) -> bool {
    match WORDS_OF_CHARTS.by_hash(word.hash.value()) {
        Some(Chart::Body) => true,
        Some(Chart::Text) => !is_officer,
        None => false,
    }
}

/// `Mild MR. Wall motion normal`, `1+ MR. Prior echo`: how bad something is, which nobody is.
fn is_graded(sentence: &Sentence<'_>, title: usize) -> bool {
    const GRADES: [&str; 11] = [
        "no",
        "trace",
        "trivial",
        "physiologic",
        "physiological",
        "minimal",
        "mild",
        "moderate",
        "mod",
        "severe",
        "significant",
    ];
    let Some(before) = sentence.before(title) else {
        return false;
    };
    let gap = sentence.gap(title - 1);
    let is_grade = || {
        let before = before.text(sentence.text);
        GRADES
            .iter()
            .any(|grade| before.eq_ignore_ascii_case(grade))
    };
    gap == b" " && is_grade() || gap == b"+ " && before.shape == Shape::Number
}

/// What a surname is in a chart.
#[derive(Clone, Copy)]
enum Chart {
    /// A word that a sentence begins with, or a part of a program's name.
    Text,
    /// A part of the body, or where it is.
    Body,
}

use Chart::{Body, Text};

#[rustfmt::skip]
static WORDS_OF_CHARTS: Labels<Chart, 256> = Labels::new(&[
    // What a sentence begins with.
    ("able", Text), ("both", Text), ("check", Text), ("clear", Text), ("continue", Text), ("current", Text),
    ("daily", Text), ("deep", Text), ("done", Text), ("due", Text), ("during", Text), ("each", Text), ("every", Text),
    ("falls", Text), ("few", Text), ("fine", Text), ("given", Text), ("good", Text), ("hence", Text), ("just", Text),
    ("keep", Text), ("large", Text), ("less", Text), ("level", Text), ("like", Text), ("many", Text), ("max", Text),
    ("mean", Text), ("memory", Text), ("mood", Text), ("near", Text), ("needs", Text), ("normal", Text),
    ("older", Text), ("overall", Text), ("peak", Text), ("plate", Text), ("pleasant", Text), ("poor", Text),
    ("prior", Text), ("range", Text), ("rather", Text), ("risk", Text), ("round", Text), ("score", Text),
    ("severe", Text), ("shows", Text), ("six", Text), ("seven", Text), ("stable", Text), ("start", Text),
    ("steady", Text), ("still", Text), ("straight", Text), ("strong", Text), ("study", Text), ("such", Text),
    ("supple", Text), ("takes", Text), ("tone", Text), ("trace", Text), ("unchanged", Text), ("walks", Text),
    ("weight", Text), ("well", Text), ("were", Text), ("will", Text), ("works", Text),
    // Parts of the body, and where they are.
    ("arch", Body), ("arms", Body), ("ball", Body), ("base", Body), ("brow", Body), ("cheek", Body), ("chin", Body),
    ("colon", Body), ("cord", Body), ("field", Body), ("fields", Body), ("finger", Body), ("hands", Body),
    ("limb", Body), ("lobe", Body), ("lower", Body), ("main", Body), ("mass", Body), ("nail", Body), ("palm", Body),
    ("patella", Body), ("pons", Body), ("port", Body), ("shin", Body), ("sole", Body), ("stump", Body),
    ("temple", Body), ("tongue", Body), ("trunk", Body), ("vessel", Body), ("vessels", Body), ("wall", Body),
    // Behind `MS`.
    ("azure", Text), ("edge", Text), ("power", Text), ("server", Text), ("surface", Text), ("word", Text),
]);
