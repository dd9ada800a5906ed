//! Numbers that are said behind their label, as dictation and calls have them: `phone five zero three five five five …`,
//! `date of birth four twelve sixty eight`.

use crate::text::{byte, is_word, starts};

/// Words of a digit, and of two.
const WORDS: [&str; 31] = [
    "zero",
    "oh",
    "o",
    "one",
    "two",
    "three",
    "fourteen",
    "four",
    "fifteen",
    "five",
    "sixteen",
    "sixty",
    "six",
    "seventeen",
    "seventy",
    "seven",
    "eighteen",
    "eighty",
    "eight",
    "nineteen",
    "ninety",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "hundred",
];
/// What is said between them, and is part of the number.
const BETWEEN: [&str; 7] = [
    "dash", "hyphen", "double", "triple", "thousand", "and", "dot",
];

/// Where the number ends whose first word is at `start`, when it has as many words as `least` or more.
pub fn end(text: &[u8], start: usize, least: usize) -> Option<usize> {
    let (mut at, mut end, mut count) = (start, None, 0);
    loop {
        if let Some(next) = one_of(text, at, &WORDS).or_else(|| digit(text, at)) {
            count += 1;
            end = Some(next);
            at = next;
        } else if let Some(next) = one_of(text, at, &BETWEEN).or_else(|| letter(text, at)) {
            at = next;
        } else {
            break;
        }
        let Some(next) = behind_gap(text, at) else {
            break;
        };
        at = next;
    }
    end.filter(|_| count >= least)
}

/// Where the one of `words` ends that stands at `at` as a whole word.
fn one_of(text: &[u8], at: usize, words: &[&str]) -> Option<usize> {
    let rest = text.get(at..)?;
    let word = words
        .iter()
        .find(|word| starts(rest, word.as_bytes()) && !is_word(byte(rest, word.len())))?;
    Some(at + word.len())
}

/// A digit alone: `5 0 3`.
fn digit(text: &[u8], at: usize) -> Option<usize> {
    (byte(text, at).is_ascii_digit() && !is_word(byte(text, at + 1))).then_some(at + 1)
}

/// A letter alone, as plan numbers begin: `x j b one two three`.
fn letter(text: &[u8], at: usize) -> Option<usize> {
    (byte(text, at).is_ascii_alphabetic() && !is_word(byte(text, at + 1))).then_some(at + 1)
}

/// Where the next word begins, in the same line.
fn behind_gap(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let len = rest
        .iter()
        .take(3)
        .take_while(|byte| matches!(byte, b' ' | b',' | b'-'))
        .count();
    (len > 0).then_some(at + len)
}

#[cfg(test)]
mod tests {
    use super::end;

    #[test]
    fn a_number_goes_on_as_long_as_it_is_said() {
        let said = |text: &str| end(text.as_bytes(), 0, 4).map(|end| text[..end].to_owned());
        assert_eq!(
            said("five zero, three - five and then").as_deref(),
            Some("five zero, three - five")
        );
        assert_eq!(
            said("four twelve sixty eight.").as_deref(),
            Some("four twelve sixty eight")
        );
        assert_eq!(
            said("x j b one two three four a day").as_deref(),
            Some("x j b one two three four")
        );
        assert_eq!(said("five of them"), None);
        assert_eq!(said("fourteenth one two three four"), None);
    }
}
