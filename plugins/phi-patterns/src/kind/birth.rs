//! Years of birth that tell an age over 89, which Safe Harbor counts with those ages (45 CFR 164.514(b)(2)(i)(C): "all
//! elements of dates (including year) indicative of such age"). Other years stay.

use super::{AGE_OVER_89, Finding};
use crate::number::{Gap, Numbers};
use crate::text::{after, before, begins_with, byte, byte_before, ends_with, is_word, starts};

/// A detector has no clock, so the last year is fixed: who was born in 1940 is 90 in 2030. Until then a few years too many
/// are hidden, and behind it none is left that tells such an age for a while: raise it before 2031. Nobody who lives was
/// born before the first.
const YEARS: std::ops::RangeInclusive<u32> = 1890..=1940;

/// What stands right before a year of birth.
const BEFORE: &[&str] = &[
    "born",
    "born in",
    "born:",
    "b.",
    "dob",
    "dob:",
    "d.o.b.",
    "yob",
    "yob:",
    "y.o.b.",
    "year of birth",
    "year of birth:",
    "date of birth",
    "date of birth:",
    "birth year",
    "birth year:",
    "birth date",
    "birthdate",
    "birthdate:",
];

/// Behind these it is a weight, or the hour of a birth: `born 1930 via section`, `born 1900 g`.
const NO_YEAR: &[&str] = &[
    "g",
    "gm",
    "gms",
    "grams",
    "via",
    "by",
    "at",
    "hrs",
    "hours",
    "h",
    "vaginally",
    "today",
    "yesterday",
    "ml",
    "weighing",
    ". apgar",
    ". apgars",
];

/// Behind these a bare `born` tells the hour of a birth: `infant born 1930`.
const OF_NEWBORNS: &[&str] = &[
    "infant born",
    "baby born",
    "newborn born",
    "neonate born",
    "girl born",
    "boy born",
];

/// From a group of four digits: `DOB: 1929`, `(b. 1928)`.
pub fn find(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let group = numbers.group(at);
    if group.len() != 4 || !YEARS.contains(&numbers.value(at)?) {
        return None;
    }
    let is_tight = |gap: Gap| matches!(gap, Gap::Dash | Gap::Dot | Gap::Slash);
    let (text, start, end) = (numbers.text, group.start, group.end);
    if at > 0 && is_tight(numbers.gap(at - 1))
        || is_tight(numbers.gap(at))
        || is_word(byte(text, end))
    {
        return None;
    }
    let head = byte_before(text, start);
    if !matches!(head, b' ' | b':' | b'\t' | b'\n' | b'.' | b'=' | b'(') {
        return None;
    }
    let near = before(text, start);
    let near = near.strip_suffix(b"=").unwrap_or(near);
    let behind = after(text, end);
    let is_hour =
        ends_with(near, OF_NEWBORNS) || begins_with(behind, NO_YEAR) || is_to_mother(behind);
    (ends_with(near, BEFORE) && !is_hour)
        .then_some(Finding::new(AGE_OVER_89, start, end, 800).contextual())
}

/// `born 1930 to a G2P1 mother`, but `born 1930 to a German family`.
fn is_to_mother(behind: &[u8]) -> bool {
    /// Before the number of her pregnancies.
    const LEAD: &[u8] = b"to a g";
    let behind = behind.trim_ascii_start();
    starts(behind, LEAD) && byte(behind, LEAD.len()).is_ascii_digit()
}

/// The year in a field of its own.
pub fn find_field(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    let value = text.get(start..end).filter(|value| value.len() == 4)?;
    let year = value.iter().try_fold(0, |year, digit| {
        digit
            .is_ascii_digit()
            .then(|| year * 10 + u32::from(digit - b'0'))
    })?;
    YEARS
        .contains(&year)
        .then_some(Finding::new(AGE_OVER_89, start, end, 850).contextual())
}
