//! Names and codes that somebody spells: `M as in Mary, A, C as in Charlie`, `that's E-V-A-N`.

use super::finding;
use crate::kind::Finding;
use crate::sentence::Sentence;
use crate::token::{Shape, Token};

const SPELT_SCORE: u16 = 800;
/// Letters and digits of the longest word that is spelt.
const MAX_ITEMS: usize = 24;

/// What is spelt from the token on.
pub(super) fn find(sentence: &Sentence<'_>, at: usize, token: &Token) -> Option<(Finding, usize)> {
    if token.len() > 1 {
        let fits = is_dashed(token.text(sentence.text)) && is_for_spelling(sentence, at, token);
        return fits.then(|| {
            Some((
                finding(sentence, at, at + 1, SPELT_SCORE)?.contextual(),
                at + 1,
            ))
        })?;
    }
    // `I think`: most single letters are words.
    let goes_on = sentence.token(at + 1).is_some_and(|next| {
        next.shape != Shape::Lower || next.len() == 1 || next.text(sentence.text) == "as"
    });
    if !goes_on || !is_letter(token) {
        return None;
    }
    let (mut end, mut items, mut explained) = (at, 0, 0);
    while items < MAX_ITEMS
        && (items == 0 || is_link(sentence.gap(end - 1)))
        && sentence
            .token(end)
            .is_some_and(|token| is_letter(token) || is_digit(sentence, token))
    {
        let behind = explanation_end(sentence, end);
        explained += usize::from(behind > end + 1);
        end = behind;
        items += 1;
    }
    // `vitamin K as in kale` is one letter.
    (explained > 0 && items > 1)
        .then(|| Some((finding(sentence, at, end, SPELT_SCORE)?.contextual(), end)))?
}

fn is_letter(token: &Token) -> bool {
    token.len() == 1 && token.shape != Shape::Number && !token.is_glued
}

/// `2`, `two`, `oh`.
fn is_digit(sentence: &Sentence<'_>, token: &Token) -> bool {
    const SAID: [&str; 12] = [
        "zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
        "double",
    ];
    if token.shape == Shape::Number {
        return token
            .text(sentence.text)
            .bytes()
            .all(|byte| byte.is_ascii_digit());
    }
    let word = token.text(sentence.text);
    SAID.iter().any(|digit| word.eq_ignore_ascii_case(digit))
}

fn is_link(gap: &[u8]) -> bool {
    matches!(gap, b" " | b", " | b"-" | b" - " | b". " | b"... ")
}

/// The first token behind the letter at `at`, and behind the word that says which one it is.
fn explanation_end(sentence: &Sentence<'_>, at: usize) -> usize {
    let is = |at: usize, word: &str| {
        sentence
            .token(at)
            .is_some_and(|token| token.text(sentence.text).eq_ignore_ascii_case(word))
    };
    let is_next = |at: usize| matches!(sentence.gap(at), b" " | b", ");
    let is_said = is(at + 1, "as")
        && is(at + 2, "in")
        && (at..=at + 2).all(is_next)
        && sentence
            .token(at + 3)
            .is_some_and(|word| word.len() > 2 && word.shape != Shape::Number);
    if is_said { at + 4 } else { at + 1 }
}

/// `that's E-V-A-N`, `Tran T-R-A-N`; what is longer than abbreviations are needs no word before.
fn is_for_spelling(sentence: &Sentence<'_>, at: usize, token: &Token) -> bool {
    const LONG: usize = 6;
    const BEFORE: [&str; 10] = [
        "that's", "thats", "that", "spelled", "spelt", "spell", "spelling", "name", "is", "it's",
    ];
    let letters = token.len().div_ceil(2);
    let is_said = |before: &Token| {
        let word = before.text(sentence.text);
        let own = token.text(sentence.text).bytes().step_by(2);
        BEFORE.iter().any(|one| word.eq_ignore_ascii_case(one))
            || word.len() == letters
                && word
                    .bytes()
                    .zip(own)
                    .all(|(one, two)| one.eq_ignore_ascii_case(&two))
    };
    letters >= LONG || sentence.before(at).is_some_and(is_said)
}

/// `E-V-A-N`, but no `A-B-C-D`.
fn is_dashed(word: &str) -> bool {
    const MIN_LETTERS: usize = 4;
    let bytes = word.as_bytes();
    let is_spelt = bytes.len() >= 2 * MIN_LETTERS - 1
        && bytes.len() % 2 == 1
        && bytes
            .iter()
            .enumerate()
            .all(|(at, byte)| (at % 2 == 1) == (*byte == b'-'));
    let mut letters = bytes.iter().step_by(2);
    let mut next = letters.next().map_or(0, |first| *first);
    is_spelt
        && !letters.all(|letter| {
            next += 1;
            *letter == next
        })
}

#[cfg(test)]
mod tests {
    use detector_kit::cases::{finds, leaves_alone};

    use crate::Names;

    #[test]
    fn what_is_spelt_goes_whole() {
        finds::<Names>(&[
            (
                "It's M as in Mary, A, C as in Charlie, K, E, Y.",
                &["NAME:M as in Mary, A, C as in Charlie, K, E, Y"],
            ),
            (
                "the code is H as in hotel, 4 4 9, thanks",
                &["NAME:H as in hotel, 4 4 9"],
            ),
            (
                "last name is W-O-J-C-I-K on the card",
                &["NAME:W-O-J-C-I-K"],
            ),
        ]);
        leaves_alone::<Names>(&[
            "vitamin K as in kale is fine",
            "I have H I V for the last years",
            "the steps A-B-C-D-E of first aid",
            "X-ray of the T-spine",
            "plan B as in the last visit",
            "type B as in beta; B for benign",
            "a S-T-E-M-I alert",
        ]);
    }
}
