//! Dates finer than a year in digits. A bare year stays. Those with the name of a month are in `date::named`, those that
//! are spelt out in `spoken`.

mod named;
mod said;

pub use named::find_named;

use super::{DATE, Finding};
use crate::number::{Gap, Numbers};
use crate::text::{before, byte, byte_before, has, is_word};

use said::{DATE_WORDS, is_said};

/// Years that a date in a record has.
const YEARS: std::ops::RangeInclusive<u32> = 1850..=2150;

/// From a group of digits: `3/14/2024`, `2024-03-14`, `20240314`, `03/2024`, and `3/14` where the words say so.
pub fn find_numeric(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let gap = numbers.gap(at);
    let start = numbers.group(at).start;
    let finding =
        |last: usize, score: u16| Finding::new(DATE, start, numbers.group(last).end, score);
    if at > 0 && matches!(numbers.gap(at - 1), Gap::Dash | Gap::Dot | Gap::Slash)
        || is_glued(numbers.text, start)
    {
        return None;
    }
    if !matches!(gap, Gap::Dash | Gap::Dot | Gap::Slash) {
        return packed(numbers, at);
    }
    if numbers.gap(at + 1) == gap {
        return triple(numbers, at).map(|score| finding(at + 2, score));
    }
    if is_tight(numbers, at + 1) || is_word(byte(numbers.text, numbers.group(at + 1).end)) {
        return None;
    }
    let (first, second) = (numbers.value(at)?, numbers.value(at + 1)?);
    match (numbers.group(at).len(), numbers.group(at + 1).len()) {
        (1 | 2, 4) if gap != Gap::Dot && is_month(first) && YEARS.contains(&second) => {
            Some(finding(at + 1, 750))
        }
        (4, 2) if gap != Gap::Dot && is_month(second) && YEARS.contains(&first) => {
            Some(finding(at + 1, 700))
        }
        (1 | 2, 1 | 2) if gap == Gap::Slash => {
            let is_date = (is_month(first) && is_day(second)) && is_said(numbers, at);
            is_date.then(|| finding(at + 1, 600).contextual())
        }
        _ => None,
    }
}

/// Three groups with the same sign between; the score, when they are a date.
fn triple(numbers: &Numbers<'_>, at: usize) -> Option<u16> {
    let tail = byte(numbers.text, numbers.group(at + 2).end);
    // A time may follow: `2024-03-14T08:00`.
    if is_tight(numbers, at + 2) || is_word(tail) && tail != b'T' && tail != b't' {
        return None;
    }
    let (a, b, c) = (
        numbers.value(at)?,
        numbers.value(at + 1)?,
        numbers.value(at + 2)?,
    );
    let is_month_and_day = |month: u32, day: u32| is_month(month) && is_day(day);
    match (
        numbers.group(at).len(),
        numbers.group(at + 1).len(),
        numbers.group(at + 2).len(),
    ) {
        (4, 1 | 2, 1 | 2) => (YEARS.contains(&a) && is_month_and_day(b, c)).then_some(950),
        (1 | 2, 1 | 2, 4) => (YEARS.contains(&c)
            && (is_month_and_day(a, b) || is_month_and_day(b, a)))
        .then_some(950),
        (1 | 2, 1 | 2, 2) if is_month_and_day(a, b) || is_month_and_day(b, a) => {
            match numbers.gap(at) {
                Gap::Slash => Some(850),
                Gap::Dash => Some(700),
                // Versions and sections look the same.
                _ => has(before(numbers.text, numbers.group(at).start), DATE_WORDS).then_some(600),
            }
        }
        _ => None,
    }
}

/// `20240314` and `20240314083000`, as interfaces write them.
fn packed(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let group = numbers.group(at);
    if !matches!(group.len(), 8 | 12 | 14) || !numbers.stands_alone(at, at) {
        return None;
    }
    let digits = numbers.text.get(group.start..group.end)?;
    let value = |from: usize, to: usize| {
        let part = digits.get(from..to)?;
        Some(
            part.iter()
                .fold(0, |value, digit| value * 10 + u32::from(digit - b'0')),
        )
    };
    let is_recent = (1900..=2100).contains(&value(0, 4)?);
    let is_time = group.len() == 8 || value(8, 10)? < 24 && value(10, 12)? < 60;
    let is_date = is_recent && is_month(value(4, 6)?) && is_day(value(6, 8)?) && is_time;
    is_date.then_some(Finding::new(DATE, group.start, group.end, 700))
}

fn is_tight(numbers: &Numbers<'_>, index: usize) -> bool {
    matches!(numbers.gap(index), Gap::Dash | Gap::Dot | Gap::Slash)
}

/// A letter, an underscore or a sign of money before makes it something else.
fn is_glued(text: &[u8], start: usize) -> bool {
    let head = byte_before(text, start);
    is_word(head)
        || matches!(head, b'_' | b'$' | b'-' | b'/' | b'.')
            && is_word(byte_before(text, start.saturating_sub(1)))
}

const fn is_month(value: u32) -> bool {
    1 <= value && value <= 12
}

const fn is_day(value: u32) -> bool {
    1 <= value && value <= 31
}
