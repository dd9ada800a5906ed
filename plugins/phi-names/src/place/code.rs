//! Postal codes behind, and some before, what says that they are one; those that begin with a letter are in `street`.

use phi_text::text::byte;

use super::{MAX_CITY_WORDS, is_behind_street, is_small_state_code, is_state_code, phrase, street};
use crate::kind::{Finding, LOCATION};
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use phi_lexicon::Class;
use phi_lexicon::roles::Role;

/// `VIC 3175`, `QC H7N 3X9`, `SE15 4HA`, `500018`: what stands behind cities of Australia, Canada, Britain and India,
/// from the token on.
pub(super) fn is_code_abroad(sentence: &Sentence<'_>, at: usize) -> bool {
    const PROVINCES: [&str; 12] = [
        "QC", "ON", "BC", "AB", "MB", "SK", "NS", "NB", "NL", "PE", "NT", "YT",
    ];
    let (Some(word), Some(next)) = (sentence.token(at), sentence.token(at + 1)) else {
        return sentence
            .token(at)
            .is_some_and(|token| is_pin(sentence, token));
    };
    let text = word.text(sentence.text);
    sentence.gap(at) == b" "
        && (is_australian(text, next.text(sentence.text))
            || PROVINCES.contains(&text) && street::is_canadian(sentence.text, next.start))
        || street::is_british(sentence.text, word.start)
        || is_pin(sentence, word)
}

/// `VIC` and `3175`.
fn is_australian(state: &str, code: &str) -> bool {
    const STATES: [&str; 8] = ["NSW", "VIC", "QLD", "TAS", "ACT", "WA", "SA", "NT"];
    STATES.contains(&state) && code.len() == 4 && code.bytes().all(|byte| byte.is_ascii_digit())
}

/// Six digits without a zero first, as postal codes of India have.
fn is_pin(sentence: &Sentence<'_>, token: &Token) -> bool {
    let word = token.text(sentence.text).as_bytes();
    // `Mumbai 100000 people`.
    let is_counted = || {
        let rest = sentence.text.as_bytes().get(token.end..);
        matches!(rest, Some([b' ', b'a'..=b'z', ..]))
    };
    token.shape == Shape::Number
        && word.len() == 6
        && matches!(word.first(), Some(b'1'..=b'8'))
        && word.iter().all(u8::is_ascii_digit)
        && !word.ends_with(b"000")
        && !is_counted()
}

pub(super) fn is_zip(word: &str) -> bool {
    word.len() == 5 && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The postal code at the token: behind a state, or behind its label.
pub fn find_zip(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    if let Some(found) = find_zip_abroad(sentence, at, token) {
        return Some(found);
    }
    if token.shape != Shape::Number || !is_zip(token.text(sentence.text)) {
        return None;
    }
    let before = sentence.before(at)?;
    let word = before.text(sentence.text);
    let is_near = matches!(
        sentence.gap(at - 1),
        b" " | b"  " | b": " | b", " | b":" | b" is "
    );
    let is_labelled = ["zip", "zipcode", "postal", "postcode"]
        .iter()
        .any(|label| word.eq_ignore_ascii_case(label))
        || word.eq_ignore_ascii_case("code")
            && at > 1
            && sentence.token(at - 2).is_some_and(|label| {
                let label = label.text(sentence.text);
                label.eq_ignore_ascii_case("zip") || label.eq_ignore_ascii_case("postal")
            });
    let is_uncased = sentence.writing == Writing::Uncased;
    let is_behind_state = is_state_code(word)
        || before.is(Role::State) && (before.is_capital() || is_uncased)
        || is_uncased && is_small_state_code(word) && sentence.gap(at - 1) == b" "
        || is_behind_city_of_street(sentence, at);
    if !is_near || !is_labelled && !is_behind_state {
        return None;
    }
    let rest = sentence
        .text
        .as_bytes()
        .get(token.end..)
        .unwrap_or_default();
    let has_more = byte(rest, 0) == b'-'
        && rest
            .iter()
            .skip(1)
            .take_while(|byte| byte.is_ascii_digit())
            .count()
            == 4;
    let end = token.end + if has_more { 5 } else { 0 };
    Some((
        Finding::new(LOCATION, token.start, end, 800).contextual(),
        at + 1,
    ))
}

/// `VIC 3175`, `Hyderabad 500018`, `79104 Freiburg`: the codes behind or before cities of other countries.
fn find_zip_abroad(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    if !matches!(token.len(), 4..=6) {
        return None;
    }
    let before = sentence.before(at)?;
    let gap = sentence.gap(at - 1);
    let text = token.text(sentence.text);
    let fits = match text.len() {
        4 => gap == b" " && is_australian(before.text(sentence.text), text),
        5 => is_zip_before_city(sentence, at),
        _ => {
            matches!(gap, b" " | b" - " | b"-" | b", ")
                && is_pin(sentence, token)
                && is_city(before)
        }
    };
    fits.then(|| {
        (
            Finding::new(LOCATION, token.start, token.end, 800).contextual(),
            at + 1,
        )
    })
}

/// `Hauptstr. 5, 69117 Heidelberg`: five digits between the number of a house and a city.
pub(super) fn is_zip_before_city(sentence: &Sentence<'_>, at: usize) -> bool {
    sentence
        .token(at)
        .is_some_and(|token| is_zip(token.text(sentence.text)))
        && sentence.gap(at) == b" "
        && sentence.token(at + 1).is_some_and(is_city)
        && sentence.before(at).is_some_and(|house| {
            house.shape == Shape::Number
                && house.len() <= 4
                && matches!(sentence.gap(at - 1), b", " | b"\n")
        })
}

fn is_city(token: &Token) -> bool {
    token.shape == Shape::Capital && token.class.is_city() && !token.class.is_word()
}

/// `4417 Old Mill Rd, Shelbyville 40065`: whether a city stands before the code, and a street before the city.
fn is_behind_city_of_street(sentence: &Sentence<'_>, at: usize) -> bool {
    (1..=MAX_CITY_WORDS).any(|words| {
        at.checked_sub(words).is_some_and(|first| {
            is_behind_street(sentence, first)
                && sentence
                    .token(first)
                    .is_some_and(|city| city.shape == Shape::Capital)
                && phrase(sentence, first, at - 1).is_some_and(Class::is_city)
        })
    })
}
