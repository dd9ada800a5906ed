//! Titles that are words of charts and forms too: `Severe MR.`, `she has MS.`, `Lt Palm`, `form REV. B`.

use phi_text::label::Labels;

use super::is_name_and_no_word;
use crate::sentence::Sentence;
use crate::token::{Shape, Token};
use phi_lexicon::roles::Role;

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

/// Whether the word behind such a title is a name by itself: a surname that charts do not have there, somebody who does
/// something or is met, or longer than what is written short in charts.
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
        (_, Shape::Initial) if is_revision => is_revered_by_initial(sentence, title, first),
        (_, Shape::Initial) => sentence.token(first + 1).is_some_and(Token::is_capital),
        (_, Shape::Lower) => true,
        (Shape::Upper, Shape::Upper) if is_long => !is_drug,
        (Shape::Lower, Shape::Capital) if is_long => true,
        (Shape::Upper, Shape::Capital) if is_long && has_dot => !is_graded(sentence, title, word),
        // Nobody writes `she has ms. Good` often: small letters with a dot are a title.
        (Shape::Lower, _) if has_dot && is_surname(sentence, first, word) => {
            !is_graded(sentence, title, word) || !is_in_charts(word)
        }
        (Shape::Upper, _) if is_revision => is_revered(sentence, title, first, word),
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
                || word.class.is_name() && !is_graded(sentence, title, word)
        }
        _ if !word.class.is_word() => word.class.is_name(),
        _ => {
            word.class.is_sure()
                || is_surname(sentence, first, word)
                    && (is_person(sentence, title, first, is_left)
                        || (!is_of_charts(word, is_left && has_dot)
                            || is_titled("dr") && !is_owned(sentence, title))
                            && !is_graded(sentence, title, word))
        }
    }
}

/// `she has DR. Good control`: a disease. Where nobody has it, `DR.` is a doctor.
fn is_owned(sentence: &Sentence<'_>, title: usize) -> bool {
    const LEADS: [&str; 12] = [
        "has", "had", "have", "of", "hx", "dx", "with", "no", "and", "for", "without", "as",
    ];
    is_one_of(sentence, title.checked_sub(1), &LEADS)
}

/// Whether the surname at `first` does something or is met. Of the left palm, much is told as of somebody.
fn is_person(sentence: &Sentence<'_>, title: usize, first: usize, is_left: bool) -> bool {
    let is_side = is_left
        && sentence.token(first).is_some_and(|word| {
            let meaning = WORDS_OF_CHARTS.by_hash(word.hash.value());
            matches!(meaning, Some(Body))
        });
    let has_dot = sentence.gap(title).contains(&b'.');
    acts(sentence, first)
        || is_told_of(sentence, first)
        || is_spoken_to(sentence, title)
        || !is_side && has_something(sentence, first)
        || (!is_side || has_dot) && is_met(sentence, title)
}

/// `REV. J. White`, `by REV. J White`.
fn is_revered_by_initial(sentence: &Sentence<'_>, title: usize, first: usize) -> bool {
    let is_led = sentence.gap(first).contains(&b'.')
        || is_spoken_to(sentence, title)
        || is_one_of(sentence, title.checked_sub(1), &CLERGY)
        || acts(sentence, first + 1);
    is_name_and_no_word(sentence, first + 1)
        || is_led
            && sentence
                .token(first + 1)
                .is_some_and(|next| next.is_capital() && is_surname(sentence, first + 1, next))
}

/// What stands before the title of a clergyman.
const CLERGY: [&str; 5] = ["by", "chaplain", "pastor", "minister", "priest"];

/// `REV. WHITE`, `by REV. HUQ`, but `REV. DATE 02/12` and `REV. JUNE 2019`.
fn is_revered(sentence: &Sentence<'_>, title: usize, first: usize, word: &Token) -> bool {
    const OF_FORMS: [&str; 4] = ["date", "level", "page", "code"];
    const DOCUMENTS: [&str; 5] = ["form", "policy", "document", "doc", "version"];
    const MONTHS: [&str; 20] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "jan",
        "feb",
        "mar",
        "apr",
        "aug",
        "sept",
        "oct",
        "nov",
    ];
    if acts(sentence, first)
        || has_something(sentence, first)
        || is_told_of(sentence, first)
        || is_spoken_to(sentence, title)
        || is_one_of(sentence, title.checked_sub(1), &CLERGY)
    {
        return true;
    }
    let is_of_document = title
        .checked_sub(1)
        .and_then(|before| sentence.token(before))
        .is_some_and(|before| before.shape == Shape::Number)
        || is_one_of(sentence, title.checked_sub(1), &DOCUMENTS);
    let is_dated = is_one_of(sentence, Some(first), &MONTHS)
        && (is_of_document || is_number_behind(sentence, first));
    is_surname(sentence, first, word) && !is_one_of(sentence, Some(first), &OF_FORMS) && !is_dated
}

/// What the lists have as a surname, or a word of places that many are called by.
fn is_surname(sentence: &Sentence<'_>, at: usize, word: &Token) -> bool {
    const OF_PLACES: [&str; 4] = ["hill", "lake", "north", "west"];
    word.class.is_surname() || is_one_of(sentence, Some(at), &OF_PLACES)
}

/// Whether a word in capitals behind a title in capitals is a name, whether or not a list has it: `DR. SMALL`,
/// `DR. HUQ`. What is short and in no list may be a measure: `MR. RVSP 40`, `MS. EDSS 3`.
fn is_shouted_name(sentence: &Sentence<'_>, title: usize, first: usize) -> bool {
    const MIN_LEN: usize = 3;
    /// Before what somebody has.
    const OWNS: [&str; 7] = ["has", "had", "have", "of", "hx", "dx", "o"];
    /// What a doctor's is, or what is done with one.
    const OF_DOCTORS: [&str; 20] = [
        "office",
        "order",
        "orders",
        "stat",
        "visit",
        "appt",
        "note",
        "notes",
        "aware",
        "notified",
        "name",
        "list",
        "first",
        "immediately",
        "team",
        "please",
        "now",
        "asap",
        "today",
        "before",
    ];
    /// What measures do as well.
    const OF_MEASURES: [&str; 5] = ["declined", "declines", "fell", "here", "available"];
    /// What goes on behind a valve or a disease.
    const OF_DISEASES: [&str; 8] = [
        "aortic",
        "mitral",
        "tricuspid",
        "pulmonic",
        "valve",
        "hold",
        "echo",
        "meds",
    ];
    let (Some(title_word), Some(word)) = (sentence.token(title), sentence.token(first)) else {
        return false;
    };
    if word.len() < MIN_LEN || is_graded(sentence, title, word) {
        return false;
    }
    if is_surname(sentence, first, word) {
        return true;
    }
    let is_doctor = title_word.text(sentence.text) == "DR";
    let is_thing = is_in_charts(word)
        || is_one_of(sentence, Some(first), &OF_DOCTORS)
        || !is_doctor && is_one_of(sentence, Some(first), &OF_DISEASES);
    if word.role.is_some() || is_number_behind(sentence, first) || is_thing {
        return false;
    }
    // `MS. EDSS declined`.
    let is_told = is_one_of(sentence, Some(first + 1), &OF_MEASURES);
    is_doctor
        || is_spoken_to(sentence, title)
        || is_one_of(sentence, title.checked_sub(1), &["by"])
        || acts(sentence, first) && !is_told
        || !word.class.is_unknown() && !is_one_of(sentence, title.checked_sub(1), &OWNS)
}

fn is_one_of(sentence: &Sentence<'_>, at: Option<usize>, words: &[&str]) -> bool {
    at.and_then(|at| sentence.token(at)).is_some_and(|word| {
        let word = word.text(sentence.text);
        words.iter().any(|known| word.eq_ignore_ascii_case(known))
    })
}

fn is_number_behind(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence
        .token(at + 1)
        .is_some_and(|next| next.shape == Shape::Number && sentence.gap(at) == b" ")
}

/// Whether the words before the title say that somebody is met or spoken of: `saw MR. Wall`.
fn is_met(sentence: &Sentence<'_>, title: usize) -> bool {
    const MEETS: [&str; 2] = ["by", "see"];
    let before = title.checked_sub(1);
    is_spoken_to(sentence, title)
        || is_one_of(sentence, before, &MEETS)
            && before.is_some_and(|before| sentence.gap(before) == b" ")
}

/// As [`is_met`], by words that no part of a body stands behind either: `Dear MR. Wall`, `Patient: MR. Strong`.
fn is_spoken_to(sentence: &Sentence<'_>, title: usize) -> bool {
    const SPEAKS_TO: [&str; 13] = [
        "saw", "met", "visited", "ask", "asked", "tell", "told", "call", "called", "paged", "dear",
        "hi", "hello",
    ];
    /// Before `with`.
    const SPEAKS: [&str; 11] = [
        "spoke",
        "spoken",
        "discussed",
        "met",
        "talked",
        "speak",
        "meet",
        "up",
        "it",
        "reviewed",
        "meeting",
    ];
    /// Before `by`.
    const SEES: [&str; 6] = [
        "seen",
        "examined",
        "evaluated",
        "visited",
        "signed",
        "brought",
    ];
    const LABELS: [&str; 5] = ["patient", "pt", "name", "re", "attn"];
    let before = title.checked_sub(1);
    let far = title.checked_sub(2);
    let gap = before.map_or(&b""[..], |before| sentence.gap(before));
    is_one_of(sentence, before, &SPEAKS_TO) && gap == b" "
        || is_one_of(sentence, before, &["with"]) && is_one_of(sentence, far, &SPEAKS)
        || is_one_of(sentence, before, &["by"]) && is_one_of(sentence, far, &SEES)
        || is_one_of(sentence, before, &LABELS) && (gap.starts_with(b":") || gap == b", ")
}

/// Whether something follows the word at `at` that only people do or have: `MR. Wall called`, `MR. Strong's wife`.
fn acts(sentence: &Sentence<'_>, at: usize) -> bool {
    const DEEDS: [&str; 43] = [
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
        "denied",
        "wants",
        "lives",
        "arrived",
        "requested",
        "refused",
        "refuses",
        "returned",
        "returns",
        "presents",
        "presented",
        "complains",
        "complained",
        "underwent",
        "visited",
        "admits",
        "endorses",
        "endorsed",
        "feels",
        "felt",
        "declined",
        "declines",
        "died",
        "fell",
        "tolerated",
        "understands",
        "here",
        "available",
    ];
    /// Behind `was`.
    const SUFFERED: [&str; 8] = [
        "seen",
        "admitted",
        "discharged",
        "transferred",
        "referred",
        "diagnosed",
        "brought",
        "told",
    ];
    let gap = sentence.gap(at);
    let is_owner = gap.starts_with(b"'s ") || gap.starts_with("\u{2019}s ".as_bytes());
    let is_pair = |verb: &str, words: &[&str]| {
        is_one_of(sentence, Some(at + 1), &[verb])
            && sentence.gap(at + 1) == b" "
            && is_one_of(sentence, Some(at + 2), words)
    };
    is_owner
        || gap == b" "
            && (is_one_of(sentence, Some(at + 1), &DEEDS)
                || is_pair("was", &SUFFERED)
                || is_pair("is", &["here"])
                || is_pair("went", &["home", "to", "for"])
                || is_pair("will", &["return", "call", "come", "follow", "go"]))
}

/// `MR. Strong has pain`, `MR. Strong is a smoker`, but `MS. Mood has improved`.
fn has_something(sentence: &Sentence<'_>, at: usize) -> bool {
    /// Surnames of hardly anybody, of which charts tell as much.
    const THINGS: [&str; 9] = [
        "mood", "memory", "tone", "weight", "level", "score", "risk", "study", "range",
    ];
    const DEEDS: [&str; 12] = [
        "has", "had", "did", "does", "went", "goes", "will", "would", "can", "could", "got", "gets",
    ];
    let is_a = is_one_of(sentence, Some(at + 1), &["is"])
        && is_one_of(sentence, Some(at + 2), &["a", "an", "doing", "feeling"]);
    sentence.gap(at) == b" "
        && !is_one_of(sentence, Some(at), &THINGS)
        && (is_one_of(sentence, Some(at + 1), &DEEDS) || is_a)
}

/// `MR. Wall, 67, was seen`, but `Lt Palm, 3 cm laceration`: an age between commas.
fn is_told_of(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence.gap(at) == b", "
        && sentence
            .token(at + 1)
            .is_some_and(|next| next.shape == Shape::Number && next.len() == 2)
        && sentence.gap(at + 1).starts_with(b",")
}

fn is_in_charts(word: &Token) -> bool {
    WORDS_OF_CHARTS.by_hash(word.hash.value()).is_some()
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

/// `Mild MR. Wall motion normal`, `1+ MR. Prior echo`: how bad something is, which nobody is. Where there is
/// `no MR. LEE`, nobody is there; `no MR. Wall` is told of a valve.
fn is_graded(sentence: &Sentence<'_>, title: usize, word: &Token) -> bool {
    const GRADES: [&str; 10] = [
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
    let is_no = || {
        let is_valve = sentence
            .token(title)
            .is_some_and(|title| title.text(sentence.text) == "MR")
            && is_in_charts(word);
        is_one_of(sentence, title.checked_sub(1), &["no"]) && (!word.class.is_surname() || is_valve)
    };
    let is_grade = || is_one_of(sentence, title.checked_sub(1), &GRADES) || is_no();
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
