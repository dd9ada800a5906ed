//! Dates as they are said: `july thirty first`, `the fourth of may`, `march second nineteen sixty two`.

use super::{DATE, Finding};
use crate::text::{before, byte, ends_with, is_word, starts};

const ORDINALS: [&str; 31] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twenty first",
    "twenty second",
    "twenty third",
    "twenty fourth",
    "twenty fifth",
    "twenty sixth",
    "twenty seventh",
    "twenty eighth",
    "twenty ninth",
    "thirtieth",
    "thirty first",
];
const CARDINALS: [&str; 28] = [
    "twenty one",
    "twenty two",
    "twenty three",
    "twenty four",
    "twenty five",
    "twenty six",
    "twenty seven",
    "twenty eight",
    "twenty nine",
    "thirty one",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "thirty",
    "ten",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
];
const CENTURIES: [&str; 3] = ["nineteen", "twenty", "two thousand"];
/// Words of a number below a hundred.
const NUMBER_WORDS: [&str; 29] = [
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "oh",
    "o",
];

/// From the name of a month, which ends at `name_end`.
pub fn find(text: &[u8], at: usize, name_end: usize) -> Option<Finding> {
    if let Some(start) = day_before(text, at) {
        let end = year_end(text, name_end).unwrap_or(name_end);
        return Some(Finding::new(DATE, start, end, 850));
    }
    let day = day_behind(text, name_end);
    let is_common = matches!(text.get(at..name_end)?, b"may" | b"march" | b"mar" | b"dec");
    if let Some((end, is_ordinal)) = day {
        let year = year_end(text, end);
        // `june two thousand` has no day.
        if let Some(year) = year_end(text, name_end).filter(|year| *year > end) {
            return Some(Finding::new(DATE, at, year, 750));
        }
        // `may second that` is no date.
        let is_verb = is_common && starts(text.get(name_end + 1..)?, b"second");
        let is_said = is_ordinal
            && (!is_verb
                || ends_with(
                    before(text, at),
                    &["on", "since", "until", "by", "from", "of"],
                ));
        if is_said || year.is_some() || !is_common {
            return Some(Finding::new(DATE, at, year.unwrap_or(end), 850));
        }
    }
    let year = year_end(text, name_end)?;
    Some(Finding::new(DATE, at, year, 750))
}

/// From the first `slash` of `oh two slash fourteen slash twenty twenty six`, which ends at `word_end`.
pub fn find_slashed(text: &[u8], at: usize, word_end: usize) -> Option<Finding> {
    /// Words of a year, as `nineteen hundred eighty one`.
    const YEAR_WORDS: usize = 4;
    let day = number_end(text, word_start(text, word_end)?)?;
    let slash = phrase(text, word_start(text, day)?, "slash")?;
    let mut end = None;
    let mut next = word_start(text, slash);
    for _ in 0..YEAR_WORDS {
        let Some(at) = next else { break };
        let word = NUMBER_WORDS
            .iter()
            .chain(&["hundred", "thousand"])
            .filter_map(|word| phrase(text, at, word))
            .max();
        let digits = text
            .get(at..)?
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let Some(word) = word.or((digits > 0).then_some(at + digits)) else {
            break;
        };
        end = Some(word);
        next = word_start(text, word);
    }
    let start = number_start(text, at)?;
    end.map(|end| Finding::new(DATE, start, end, 850))
}

/// Where the number of one or two words begins that ends one space before `at`.
fn number_start(text: &[u8], at: usize) -> Option<usize> {
    let mut start = None;
    let mut end = at;
    for _ in 0..2 {
        let Some(space) = end
            .checked_sub(1)
            .filter(|space| byte(text, *space) == b' ')
        else {
            break;
        };
        let head = text.get(..space)?;
        let letters = head.iter().rev().take_while(|byte| is_word(**byte)).count();
        let word = head.get(space - letters..)?;
        let is_number = NUMBER_WORDS
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
            || matches!(letters, 1 | 2) && word.iter().all(u8::is_ascii_digit);
        if !is_number {
            break;
        }
        end = space - letters;
        start = Some(end);
    }
    start
}

/// Where the day behind the month ends, and whether it is an ordinal.
fn day_behind(text: &[u8], from: usize) -> Option<(usize, bool)> {
    let mut at = word_start(text, from)?;
    if let Some(end) = phrase(text, at, "the") {
        at = word_start(text, end)?;
    }
    let longest = |words: &[&str]| words.iter().filter_map(|word| phrase(text, at, word)).max();
    longest(&ORDINALS)
        .map(|end| (end, true))
        .or_else(|| longest(&CARDINALS).map(|end| (end, false)))
}

/// Where `third of` before the month begins.
fn day_before(text: &[u8], at: usize) -> Option<usize> {
    /// Bytes of `twenty seventh of `.
    const MAX_BYTES: usize = 24;
    let head = text.get(at.saturating_sub(MAX_BYTES)..at)?;
    let head_start = at - head.len();
    (0..head.len()).find_map(|offset| {
        let start = head_start + offset;
        let is_start = start == 0 || !is_word(byte(text, start - 1));
        if !is_start {
            return None;
        }
        let end = ORDINALS
            .iter()
            .filter_map(|word| phrase(text, start, word))
            .max()?;
        let of = phrase(text, word_start(text, end)?, "of")?;
        (word_start(text, of) == Some(at)).then_some(start)
    })
}

/// Where the year behind `from` ends: `nineteen sixty two`, `two thousand eight`, `O eight`, `2008`.
fn year_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = word_start(text, from)?;
    if byte(text, from) == b',' {
        at = word_start(text, from + 1)?;
    }
    if let Some(of) = phrase(text, at, "of") {
        at = word_start(text, of)?;
    }
    let digits = text
        .get(at..)?
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 4 && matches!(byte(text, at), b'1' | b'2') && !is_word(byte(text, at + 4)) {
        return Some(at + 4);
    }
    let is_short = phrase(text, at, "o").or_else(|| phrase(text, at, "oh"));
    if let Some(end) = is_short {
        return number_end(text, word_start(text, end)?);
    }
    let end = CENTURIES
        .iter()
        .rev()
        .find_map(|word| phrase(text, at, word))?;
    let mut next = word_start(text, end)?;
    if let Some(and) = phrase(text, next, "and") {
        next = word_start(text, and)?;
    }
    match number_end(text, next) {
        Some(end) => Some(end),
        // `two thousand` is a year by itself.
        None => text.get(at..end)?.contains(&b' ').then_some(end),
    }
}

/// Where a number of one or two words ends.
fn number_end(text: &[u8], at: usize) -> Option<usize> {
    let first = NUMBER_WORDS
        .iter()
        .filter_map(|word| phrase(text, at, word))
        .max()?;
    let second = word_start(text, first).and_then(|at| {
        NUMBER_WORDS
            .iter()
            .filter_map(|word| phrase(text, at, word))
            .max()
    });
    Some(second.unwrap_or(first))
}

/// Where `words` end that stand at `at`, their gaps a space or a dash.
fn phrase(text: &[u8], mut at: usize, words: &str) -> Option<usize> {
    for (index, word) in words.split(' ').enumerate() {
        if index > 0 {
            at = word_start(text, at)?;
        }
        if !starts(text.get(at..)?, word.as_bytes()) {
            return None;
        }
        at += word.len();
        if is_word(byte(text, at)) {
            return None;
        }
    }
    Some(at)
}

/// Where the next word begins, one sign away.
fn word_start(text: &[u8], at: usize) -> Option<usize> {
    let gap = usize::from(matches!(byte(text, at), b' ' | b'-'))
        + usize::from(byte(text, at) == b',' && byte(text, at + 1) == b' ') * 2;
    (gap > 0).then_some(at + gap)
}
