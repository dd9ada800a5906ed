//! Dates as people write them, read only where there is no doubt which date it is. `03/04/1961` is in March or in April,
//! and whoever wrote it knows: such a date stays as it is. So do those without a whole year, and in other languages.

use std::ops::RangeInclusive;

use jiff::civil::Date;

/// Bytes of the longest spelling that is read.
pub(super) const MAX_BYTES: usize = 40;

/// Whether dates are written with such a letter.
pub(super) const fn is_of_date(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, ' ' | ',' | '.' | '-' | '/')
}

/// The date that a text is, as ISO 8601 and JSON Schema write it.
pub(super) fn iso(text: &str) -> Option<String> {
    if !text.chars().all(is_of_date) {
        return None;
    }
    let parts: Vec<&str> = text
        .split([' ', ',', '.', '-', '/'])
        .filter(|part| !part.is_empty() && !part.eq_ignore_ascii_case("of"))
        .collect();
    let [first, second, third] = parts.as_slice() else {
        return None;
    };
    let date = match (month(first), month(second)) {
        (Some(of), None) => date(year(third)?, of, day(second)?),
        (None, Some(of)) => match year(first) {
            Some(of_year) => date(of_year, of, day(third)?),
            None => date(year(third)?, of, day(first)?),
        },
        _ => match year(first) {
            // Nobody writes the day in the middle behind a year.
            Some(of_year) => date(of_year, number(second)?, number(third)?),
            None => either_way(year(third)?, number(first)?, number(second)?),
        },
    };
    Some(date?.to_string())
}

/// The date of two numbers and a year where only one order gives one, or both give the same.
fn either_way(of_year: i16, first: i8, second: i8) -> Option<Date> {
    match (date(of_year, first, second), date(of_year, second, first)) {
        (Some(one), Some(other)) => (one == other).then_some(one),
        (one, other) => one.or(other),
    }
}

fn date(of_year: i16, of_month: i8, on: i8) -> Option<Date> {
    Date::new(of_year, of_month, on).ok()
}

fn year(text: &str) -> Option<i16> {
    let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let read: Option<i16> = is_year.then(|| text.parse().ok())?;
    read.filter(|read| YEARS.contains(read))
}

/// Others are of another calendar, or a mistake.
const YEARS: RangeInclusive<i16> = 1850..=2150;

fn number(text: &str) -> Option<i8> {
    let is_number = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// A day of a month, `4th` too.
fn day(text: &str) -> Option<i8> {
    let lower = text.to_ascii_lowercase();
    let ends = ["st", "nd", "rd", "th"];
    let digits = ends.iter().find_map(|end| lower.strip_suffix(end));
    number(digits.unwrap_or(&lower))
}

/// The number of a month by its English name, which three letters stand for.
fn month(text: &str) -> Option<i8> {
    let lower = text.to_ascii_lowercase();
    let lower = if lower == "sept" { "sep" } else { &lower };
    let mut months = MONTHS.iter();
    let at = months.position(|name| lower == *name || name.get(..3) == Some(lower))?;
    i8::try_from(at + 1).ok()
}

const MONTHS: [&str; 12] = [
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
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_without_doubt_is_read() {
        for text in [
            "1961-03-04",
            "1961-3-4",
            "1961/03/04",
            "1961.03.04",
            "March 4, 1961",
            "MARCH 4 1961",
            "Mar. 4, 1961",
            "March 4th, 1961",
            "4 March 1961",
            "4th of March 1961",
            "04-Mar-1961",
            "1961 Mar 4",
        ] {
            assert_eq!(iso(text).as_deref(), Some("1961-03-04"), "{text}");
        }
        // In one order alone, or the same in both.
        assert_eq!(iso("25.12.1961").as_deref(), Some("1961-12-25"));
        assert_eq!(iso("12/25/1961").as_deref(), Some("1961-12-25"));
        assert_eq!(iso("03/03/1961").as_deref(), Some("1961-03-03"));
        assert_eq!(iso("Sept 4, 1961").as_deref(), Some("1961-09-04"));
    }

    #[test]
    fn any_other_is_left_as_it_is() {
        for text in [
            "03/04/1961",
            "3.4.1961",
            "03/04/61",
            "March 4, 61",
            "March 1961",
            "1961",
            "19610304",
            "31 February 1961",
            "1961-13-04",
            "4. M\u{e4}rz 1961",
            "March 4, 1961 at 5",
            "Mayor 4, 1961",
            "March April 1961",
            "1961-03-04T00:00:00",
            "",
            "- -",
        ] {
            assert_eq!(iso(text), None, "{text}");
        }
    }
}
