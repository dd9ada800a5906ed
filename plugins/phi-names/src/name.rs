//! Names of persons: by what stands before them (titles, kin, greetings, labels), by what stands behind (degrees), and by
//! the lists. Diseases, signs and instruments that bear a name are left alone.

mod brief;
mod degree;
mod eponym;
mod led;
mod listed;
mod pair;
mod particle;
mod roster;
mod spelt;
mod thing;
mod title;
mod told;
mod ward;

use crate::kind::{Finding, NAME};
use crate::sentence::Sentence;
use crate::token::{Shape, Token, Writing};
use phi_lexicon::roles::Role;

use led::{Strength, behind_greeting, behind_person, introduced};
use listed::{alone, described, listed, reversed, with_degree, with_initial};
use title::{behind_senor, behind_title, is_senor};
use told::{before_facts, called_up, speaking, spoken_with};

/// Words of the longest name: families of Spain and Brazil, of Arabia and India have eight and more.
const MAX_WORDS: usize = 16;
/// Words of the longest name that only its place and its capitals give away.
const MAX_GUESSED_WORDS: usize = 5;

/// Whether a further mention of somebody's name means a thing: `Blake drain`.
pub fn is_thing(sentence: &Sentence<'_>, at: usize) -> bool {
    thing::is_scaled(sentence, at) || eponym::is_of_a_thing(sentence, at)
}

/// The name that begins at the token, or stands behind it, and the first token behind.
pub fn find(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at)?;
    if token.is_glued {
        return roster::addressed(sentence, at).or_else(|| brief::signed(sentence, at, token));
    }
    if token.shape == Shape::Number {
        return None;
    }
    let may_be_spelt =
        token.len() == 1 || sentence.text.as_bytes().get(token.start + 1) == Some(&b'-');
    if may_be_spelt && let Some(found) = spelt::find(sentence, at, token) {
        return Some(found);
    }
    let found = led(sentence, at, token);
    // No other rule begins with such a word.
    if found.is_some()
        || token.shape == Shape::Lower && is_blocked(token)
        || thing::is_program(sentence, at)
    {
        return found;
    }
    reversed(sentence, at)
        .or_else(|| introduced(sentence, at))
        .or_else(|| listed(sentence, at))
        .or_else(|| with_initial(sentence, at))
        .or_else(|| with_degree(sentence, at))
        .or_else(|| described(sentence, at))
        .or_else(|| before_facts(sentence, at))
        .or_else(|| spoken_with(sentence, at))
        .or_else(|| called_up(sentence, at))
        .or_else(|| speaking(sentence, at))
        .or_else(|| roster::find(sentence, at))
        .or_else(|| particle::find(sentence, at, token))
        .or_else(|| brief::find(sentence, at))
        .or_else(|| pair::beside_given_string(sentence, at))
        .or_else(|| alone(sentence, at))
}

/// As [`find`], for a word in small letters in a cased text, where most rules find nothing.
pub fn find_small(sentence: &Sentence<'_>, at: usize) -> Option<(Finding, usize)> {
    let token = sentence.token(at).filter(|token| !token.is_glued)?;
    led(sentence, at, token)
        .or_else(|| introduced(sentence, at))
        .or_else(|| particle::find(sentence, at, token))
}

/// `el-Sayed`, `al-Rashid`: an Arabic article in small letters, and a name.
pub fn has_article(token: &Token, text: &str) -> bool {
    /// Of the shortest such name.
    const MIN_BYTES: usize = 6;
    token.len() >= MIN_BYTES
        && matches!(
            text.as_bytes().get(token.start..token.start + 4),
            Some([b'a' | b'e', b'l', b'-', b'A'..=b'Z'])
        )
}

/// The name that the token leads to.
fn led(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    match token.role? {
        Role::Title => behind_title(sentence, at),
        Role::Person => behind_person(sentence, at, Strength::of_person(token, sentence.text)),
        Role::Kin => behind_person(sentence, at, Strength::Weak),
        Role::Greeting => behind_greeting(sentence, at),
        // `RN: Okafor`.
        Role::Credential => behind_person(sentence, at, Strength::Weak),
        Role::Suffix => behind_senor(sentence, at),
        _ => None,
    }
}

/// The first token behind the name that begins at `at`.
fn name_end(sentence: &Sentence<'_>, at: usize) -> usize {
    let most = at + MAX_WORDS;
    let mut end = words_end(sentence, at, most);
    // `Maria "Mia" Lopez`, `Robert (Bob) Castellano`.
    while let Some(behind) = behind_nickname(sentence, end).filter(|behind| *behind < most) {
        end = words_end(sentence, behind, most);
    }
    // `Smith, Jr.`
    if sentence.gap(end - 1) == b", "
        && sentence
            .token(end)
            .is_some_and(|token| token.is(Role::Suffix))
        && !is_senor(sentence, end)
    {
        end += 1;
    }
    end
}

/// The first token behind the words of a name in a row that begin at `at`, at most the token `most`.
fn words_end(sentence: &Sentence<'_>, at: usize, most: usize) -> usize {
    let mut end = at + 1;
    while end < most && sentence.is_joined_to(end - 1) {
        let Some(token) = sentence.token(end) else {
            break;
        };
        let goes_on = match token.role {
            Some(Role::Suffix) => !is_senor(sentence, end),
            // `Ngoc Anh Le`: a surname of its own.
            Some(Role::Particle) if token.shape == Shape::Capital && token.class.is_surname() => {
                true
            }
            Some(Role::Particle) => sentence.token(end + 1).is_some_and(|next| {
                sentence.is_joined_to(end)
                    && (next.is(Role::Particle)
                        || next.is_capital()
                            && !next.is(Role::Suffix)
                            && (next.class.is_name() || next.class.is_unknown()))
            }),
            Some(Role::Credential | Role::Facility | Role::Medical | Role::Title) => false,
            Some(
                Role::Stop
                | Role::Generic
                | Role::Place
                | Role::Person
                | Role::Kin
                | Role::Greeting
                | Role::Street
                | Role::Unit
                | Role::Day,
            ) => false,
            _ => is_name_word(sentence, token),
        };
        if !goes_on || token.is_glued {
            break;
        }
        end += 1;
        // Nothing of a name comes behind `Sr.`.
        if token.is(Role::Suffix) {
            break;
        }
    }
    end
}

/// The surname behind a nickname in quotes or brackets that stands at `at`.
fn behind_nickname(sentence: &Sentence<'_>, at: usize) -> Option<usize> {
    if sentence.gap(at - 1).len() < 2 {
        return None;
    }
    let is_quoted = matches!(
        (sentence.gap(at - 1), sentence.gap(at)),
        (b" \"", b"\" ")
            | (b" (", b") ")
            | (b" '", b"' ")
            | (b" \xe2\x80\x9c", b"\xe2\x80\x9d ")
            | (b" \xe2\x80\x98", b"\xe2\x80\x99 ")
    );
    if !is_quoted || sentence.writing == Writing::Uncased {
        return None;
    }
    let (nickname, surname) = (sentence.token(at)?, sentence.token(at + 1)?);
    let fits = nickname.shape == Shape::Capital
        && nickname.role.is_none()
        && surname.shape == Shape::Capital
        && surname.role.is_none()
        && is_name_word(sentence, surname);
    fits.then_some(at + 1)
}

/// A word that can go on a name: written as one, or known as one.
fn is_name_word(sentence: &Sentence<'_>, token: &Token) -> bool {
    if token.is_glued {
        return false;
    }
    match sentence.writing {
        Writing::Cased => match token.shape {
            Shape::Initial => !matches!(token.text(sentence.text), "I" | "A"),
            Shape::Capital | Shape::Upper => {
                token.class.is_name() && (token.class.is_surname() || !token.class.is_common())
                    || token.class.is_unknown() && token.shape == Shape::Capital
            }
            Shape::Lower | Shape::Number => false,
        },
        Writing::Uncased => {
            token.class.is_name() && !token.class.is_common() && token.shape != Shape::Initial
        }
    }
}

/// Words that are never a name by themselves.
fn is_blocked(token: &Token) -> bool {
    match token.role {
        None | Some(Role::Particle | Role::Suffix | Role::Place) => false,
        Some(Role::Stop | Role::State | Role::Generic) => !token.class.is_sure(),
        Some(Role::Direction) => token.len() < 3,
        Some(Role::Eponym) => false,
        Some(_) => true,
    }
}

fn finding(sentence: &Sentence<'_>, first: usize, end: usize, score: u16) -> Option<Finding> {
    let (start, stop) = (
        sentence.token(first)?.start,
        sentence.token(end.checked_sub(1)?)?.end,
    );
    Some(Finding::new(NAME, start, stop, score))
}
