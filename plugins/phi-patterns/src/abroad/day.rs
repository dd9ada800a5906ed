//! Days as other languages write them, behind a label: `3. März 1958`, `1958. november 3.`, `1958年11月3日`,
//! `ngày 3 tháng 11 năm 1958`. The label says that it is a day, so no language's months need to be known.

use phi_text::text::char_at;

use super::{MAX_BYTES, digit, is_end};
use crate::text::byte;

/// A part of a day: a number with its digits, or a word with its letters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Number(u32, usize),
    Word(usize),
}

/// Parts that are looked at, and the letters of the longest word.
const MAX_PARTS: usize = 8;
const MAX_LETTERS: usize = 14;

/// Where the day begins and ends that stands at `start`.
pub(super) fn find(text: &[u8], start: usize, is_birth: bool) -> Option<(usize, usize)> {
    let mut parts = [(Part::Word(0), 0, 0); MAX_PARTS];
    let (mut count, mut at) = (0, start);
    while count < MAX_PARTS && at < start + MAX_BYTES {
        let Some((part, end)) = part(text, at) else {
            break;
        };
        *parts.get_mut(count)? = (part, at, end);
        count += 1;
        at = end + gap_len(text, end);
    }
    let parts = parts.get(..count)?;
    // A weekday, an article or the name of an age of years before it.
    (0..=2).find_map(|skipped| {
        let behind = parts.get(skipped..)?;
        let is_led = parts
            .iter()
            .take(skipped)
            .all(|part| matches!(part.0, Part::Word(_)));
        let len = is_led.then(|| len(behind, is_birth))??;
        // `data: 10, 20, 30`
        let is_signed = || {
            let ends = behind.iter().take(2);
            ends.map(|(_, _, end)| byte(text, *end))
                .all(|sign| matches!(sign, b'.' | b'/' | b'-'))
        };
        if len == 3 && is_numbers(behind) && !is_birth && !is_signed() {
            return None;
        }
        let (_, from, _) = *behind.first()?;
        let (_, _, to) = *behind.get(len - 1)?;
        let to = unit_end(text, to);
        // The name of the age belongs to the day where nothing is between.
        let from = match parts.get(..skipped)? {
            [.., (_, word, end)] if *end == from => *word,
            _ => from,
        };
        (is_end(text, to) && !is_amount(text, to)).then_some((from, to))
    })
}

/// Whether the day is three numbers.
fn is_numbers(parts: &[(Part, usize, usize)]) -> bool {
    let numbers = parts.iter().take(3);
    numbers
        .filter(|part| matches!(part.0, Part::Number(..)))
        .count()
        == 3
}

/// How many parts make a day.
fn len(parts: &[(Part, usize, usize)], is_birth: bool) -> Option<usize> {
    use Part::{Number, Word};
    let part = |at: usize| parts.get(at).map(|part| part.0);
    // Bytes between a part and the next.
    let gap = |at: usize| Some(parts.get(at + 1)?.1 - parts.get(at)?.2);
    let is_glued = |at: usize| gap(at) == Some(0);
    // `1958. `
    let is_apart = |at: usize| gap(at) > Some(1);
    match (part(0)?, part(1), part(2), part(3), part(4), part(5)) {
        (Number(packed, 8), ..) if is_birth => is_packed(packed).then_some(1),
        (Number(a, la), Some(Number(b, lb)), Some(Number(c, lc)), ..) => {
            is_day((a, la), (b, lb), (c, lc)).then_some(3)
        }
        // `1958年11月3日`: what is between has no space around; years of an emperor are short.
        (
            Number(year, _),
            Some(Word(1)),
            Some(Number(month, 1 | 2)),
            Some(Word(1)),
            Some(Number(day, 1 | 2)),
            _,
        ) if is_glued(0) || is_glued(1) => {
            ((1..=12).contains(&month) && (1..=31).contains(&day) && year < 2600).then_some(5)
        }
        // `3 tháng 11 năm 1958`
        (
            Number(day, 1 | 2),
            Some(Word(_)),
            Some(Number(month, 1 | 2)),
            Some(Word(_)),
            Some(Number(year, 4)),
            _,
        ) => ((1..=31).contains(&day) && (1..=12).contains(&month) && is_year(year)).then_some(5),
        (Number(day, 1 | 2), Some(Word(month)), Some(Number(year, 4)), ..) if month > 2 => {
            ((1..=31).contains(&day) && is_year(year)).then_some(3)
        }
        // `3 de novembro de 1958`, `3rd of …`, `1er octobre 1961`
        (Number(day, 1 | 2), Some(Word(one)), Some(Word(two)), Some(Number(year, 4)), ..)
            if one > 2 || two > 2 =>
        {
            ((1..=31).contains(&day) && is_year(year)).then_some(4)
        }
        (
            Number(day, 1 | 2),
            Some(Word(1..=3)),
            Some(Word(3..)),
            Some(Word(1..=3)),
            Some(Number(year, 4)),
            _,
        ) => ((1..=31).contains(&day) && is_year(year)).then_some(5),
        // `1958. november 3.`
        (Number(year, 4), Some(Word(3..)), Some(Number(day, 1 | 2)), ..) if is_apart(0) => {
            ((1..=31).contains(&day) && is_year(year)).then_some(3)
        }
        _ => None,
    }
}

/// The part at `at`, and where it ends.
fn part(text: &[u8], at: usize) -> Option<(Part, usize)> {
    let (mut end, mut value, mut len) = (at, 0_u32, 0);
    while let Some((digit, bytes)) = digit(text, end).filter(|_| len < 9) {
        (end, value, len) = (end + bytes, value * 10 + digit, len + 1);
    }
    if len > 0 {
        return Some((Part::Number(value, len), end));
    }
    while let Some(sign) = char_at(text, end) {
        // Signs of Hindi stand with its letters.
        let is_letter =
            sign.is_alphabetic() || matches!(sign, '\u{900}'..='\u{963}' | '\u{2019}' | '\'');
        if !is_letter || len > MAX_LETTERS {
            break;
        }
        (end, len) = (end + sign.len_utf8(), len + 1);
    }
    (1..=MAX_LETTERS)
        .contains(&len)
        .then_some((Part::Word(len), end))
}

/// Bytes between two parts: a sign of days with a space, perhaps.
fn gap_len(text: &[u8], at: usize) -> usize {
    let mut len = 0;
    len += match byte(text, at) {
        b'.' | b'/' | b'-' | b',' => 1,
        _ => match char_at(text, at) {
            // Signs of ordinal numbers, and the comma of Arabic.
            Some(sign @ ('º' | 'ª' | '°' | '\u{60c}')) => sign.len_utf8(),
            _ => 0,
        },
    };
    len + super::space_len(text, at + len)
}

/// Where a day ends that has its unit behind it: `3日`, `3일`.
fn unit_end(text: &[u8], at: usize) -> usize {
    match char_at(text, at) {
        Some(unit @ ('日' | '号' | '일')) => at + unit.len_utf8(),
        _ => at,
    }
}

/// Whether what ends there is no year but an amount: `2 comprimés 2000 mg`, `3 Bilder 1920 x 1080`.
fn is_amount(text: &[u8], to: usize) -> bool {
    const UNITS: [&[u8]; 5] = [b" mg", b" ml", b" g", b" x", b" px"];
    let rest = text.get(to..).unwrap_or_default();
    UNITS
        .iter()
        .any(|unit| rest.starts_with(unit) && !byte(rest, unit.len()).is_ascii_alphanumeric())
}

/// Years of all calendars that records have.
fn is_year(year: u32) -> bool {
    (1200..=2600).contains(&year)
}

fn is_day(first: (u32, usize), second: (u32, usize), third: (u32, usize)) -> bool {
    let fits = |day: u32, month: u32| (1..=31).contains(&day) && (1..=12).contains(&month);
    match (first, second, third) {
        ((year, 4), (month, 1 | 2), (day, 1 | 2)) => is_year(year) && fits(day, month),
        ((one, 1 | 2), (two, 1 | 2), (year, 4)) => {
            is_year(year) && (fits(one, two) || fits(two, one))
        }
        ((one, 1 | 2), (two, 1 | 2), (_, 2)) => fits(one, two) || fits(two, one),
        _ => false,
    }
}

/// `03111958`, `19581103`
fn is_packed(packed: u32) -> bool {
    let is = |year: u32, month: u32, day: u32| {
        (1850..=2150).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day)
    };
    is(packed / 10_000, packed / 100 % 100, packed % 100)
        || is(packed % 10_000, packed / 10_000 % 100, packed / 1_000_000)
}
