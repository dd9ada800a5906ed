//! Two days without separators, from one to the other: `DOS 030125-030425`, `from 03012025 thru 03042025`.

use super::{BIRTH_WORDS, DATE, Finding, SERVICE_WORDS, is_day, is_month};
use crate::number::{Gap, Numbers};
use crate::text::{before, byte, byte_before, ends_with, is_word, starts};

/// What stands between the two.
const BETWEEN: [&str; 6] = ["-", " - ", " thru ", " through ", " to ", "\u{2013}"];
/// Right before the first of two days of six digits.
const LEADS: &[&str] = &[
    "from",
    "dates",
    "dates of service",
    "service dates",
    "stay",
    "los",
];

pub(super) fn find(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let (text, group) = (numbers.text, numbers.group(at));
    let len = group.len();
    if !matches!(len, 6 | 8) || is_word(byte_before(text, group.start)) {
        return None;
    }
    let rest = text.get(group.end..)?;
    let sign = BETWEEN.iter().find(|sign| starts(rest, sign.as_bytes()))?;
    let start = group.end + sign.len();
    let end = start + len;
    let is_pair = is_packed(text.get(group.start..group.end)?)
        && is_packed(text.get(start..end)?)
        && !is_word(byte(text, end))
        && !(byte(text, end) == b'-' && byte(text, end + 1).is_ascii_digit());
    let is_led = || {
        let near = before(text, group.start).trim_ascii_end();
        let near = near.strip_suffix(b":").unwrap_or(near);
        ends_with(near, SERVICE_WORDS) || ends_with(near, BIRTH_WORDS) || ends_with(near, LEADS)
    };
    let is_alone = at == 0 || matches!(numbers.gap(at - 1), Gap::Space | Gap::None | Gap::Wide);
    (is_pair && is_alone && is_led())
        .then_some(Finding::new(DATE, group.start, end, 750).contextual())
}

/// `date_of_birth: -277516800`: a day in seconds or milliseconds from 1970 on.
pub(super) fn counted(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    const LABELS: &[&str] = &[
        "dob",
        "date of birth",
        "date_of_birth",
        "birth date",
        "birth_date",
        "birthdate",
        "dob_epoch",
        "dob_ts",
        "dob_ms",
    ];
    let (text, group) = (numbers.text, numbers.group(at));
    let near = before(text, group.start);
    let near = near.strip_suffix(b"-").unwrap_or(near).trim_ascii_end();
    let label = near.strip_suffix(b":").or(near.strip_suffix(b"="))?;
    let is_whole = !is_word(byte(text, group.end)) && numbers.gap(at) != Gap::Dash;
    let start = group.start - usize::from(byte_before(text, group.start) == b'-');
    (is_whole && ends_with(label, LABELS))
        .then_some(Finding::new(DATE, start, group.end, 800).contextual())
}

/// `030125`, `03012025`: a month, a day and a year.
fn is_packed(digits: &[u8]) -> bool {
    if !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let value = |from: usize, to: usize| {
        let part = digits.get(from..to).unwrap_or_default();
        part.iter()
            .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
    };
    let is_year = digits.len() == 6 || (1900..2100).contains(&value(4, 8));
    is_month(value(0, 2)) && is_day(value(2, 4)) && is_year
}
