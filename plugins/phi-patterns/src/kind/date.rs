//! Dates finer than a year in digits. A bare year stays. Those with the name of a month are in `date::named`, those that
//! are spelt out in `spoken`.

mod alone;
mod brief;
mod dose;
mod named;
mod ordinal;
mod packed;
mod quarter;
mod said;
mod score;
mod season;
mod usual;
mod words;

pub use alone::{find_holiday, find_month};
pub use named::find_named;
pub use season::find_season;

use super::{DATE, Finding};
use crate::number::{Gap, Numbers};
use crate::text::{after, before, begins_with, byte, byte_before, ends_with, has, is_word, starts};

use said::is_said;
use words::{DATE_WORDS, DOUBTFUL_DATE_WORDS, LEADS, MEASURE_BEFORE, UNITS_AFTER};

/// Years that a date in a record has.
const YEARS: std::ops::RangeInclusive<u32> = 1850..=2150;

/// From a group of digits: `3/14/2024`, `2024-03-14`, `20240314`, `03/2024`, and `3/14` where the words say so.
pub fn find_numeric(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let gap = numbers.gap(at);
    let start = numbers.group(at).start;
    let finding =
        |last: usize, score: u16| Finding::new(DATE, start, numbers.group(last).end, score);
    if at > 0 && matches!(numbers.gap(at - 1), Gap::Dash | Gap::Dot | Gap::Slash) {
        return None;
    }
    if let Some(found) = brief::find(numbers, at) {
        return Some(found);
    }
    if is_glued(numbers.text, start) {
        return None;
    }
    let found = match numbers.group(at).len() {
        6 | 8 => packed::find(numbers, at),
        1 | 4 => quarter::find(numbers, at),
        9..=13 => packed::counted(numbers, at),
        _ => None,
    };
    if found.is_some() {
        return found;
    }
    if !matches!(gap, Gap::Dash | Gap::Dot | Gap::Slash) {
        return packed(numbers, at)
            .or_else(|| of_birth(numbers, at))
            .or_else(|| apart(numbers, at))
            .or_else(|| of_arguments(numbers, at))
            .or_else(|| ordinal::find(numbers, at));
    }
    if gap == Gap::Dash && is_packed_time(numbers, at) {
        return packed(numbers, at);
    }
    if numbers.gap(at + 1) == gap {
        if let Some(last) = whole_span(numbers, at) {
            return Some(finding(last, 700));
        }
        let score = triple(numbers, at).filter(|_| !is_bound(numbers, at))?;
        return Some(finding(at + 2, score));
    }
    if let Some(last) = days(numbers, at) {
        return Some(finding(last, 850));
    }
    if let Some(last) = months(numbers, at) {
        return Some(finding(last, 850));
    }
    if let Some(last) = stay(numbers, at) {
        return Some(finding(last, 650).contextual());
    }
    if let Some(last) = range(numbers, at) {
        return Some(finding(last, 600).contextual());
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
        // `DOB: 6/58`, a month and a year.
        (1 | 2, 2) if gap == Gap::Slash && is_month(first) && !is_day(second) => {
            let near = before(numbers.text, start).trim_ascii_end();
            let near = near.strip_suffix(b":").unwrap_or(near);
            ends_with(near, BIRTH_WORDS).then(|| finding(at + 1, 700).contextual())
        }
        (1 | 2, 1 | 2) if gap == Gap::Slash => {
            let is_date = is_month(first) && is_day(second) && is_said(numbers, at)
                || is_british(numbers, at, (first, second));
            is_date.then(|| finding(at + 1, 600).contextual())
        }
        // `f/u 5-1.`, where no span is counted.
        (1 | 2, 1 | 2) if gap == Gap::Dash => {
            let text = numbers.text;
            let end = numbers.group(at + 1).end;
            let ends = matches!(byte(text, end), 0 | b'.' | b',' | b';' | b')' | b'\n');
            // `3-6` may be weeks.
            let is_date = is_month(first)
                && is_day(second)
                && (first > second || !is_month(second))
                && ends
                && ends_with(before(text, start), DASHED_BEFORE);
            is_date.then(|| finding(at + 1, 600).contextual())
        }
        _ => None,
    }
}

/// `from 18/11:`, `until 30/4.`: a day and a month, more than any score has of its whole.
fn is_british(numbers: &Numbers<'_>, at: usize, (day, month): (u32, u32)) -> bool {
    /// Behind which something may be told of the day.
    const LEADS: &[&str] = &[
        "from",
        "since",
        "until",
        "till",
        "w/c",
        "admitted",
        "discharged",
        "dob",
        "seen",
        "seen on",
    ];
    // `24/7` is always.
    if day <= 12 || !is_day(day) || !is_month(month) || (day, month) == (24, 7) {
        return false;
    }
    let text = numbers.text;
    let end = numbers.group(at + 1).end;
    let near = before(text, numbers.group(at).start);
    let is_end = matches!(
        byte(text, end),
        0 | b'.' | b',' | b';' | b':' | b')' | b'\n'
    ) && !is_word(byte(text, end + 1));
    let goes_on = byte(text, end) == b' '
        && byte(text, end + 1).is_ascii_alphabetic()
        && !begins_with(after(text, end), UNITS_AFTER);
    // `Vision improved from 20/10 in right eye`.
    let is_vision = has(near, &["vision", "acuity", "va", "bcva"]);
    is_end && is_said(numbers, at) || (is_end || goes_on && !is_vision) && ends_with(near, LEADS)
}

/// Words right before a month and a day with a dash between, behind which nothing is counted.
const DASHED_BEFORE: &[&str] = &[
    "f/u",
    "seen on",
    "admitted",
    "admitted on",
    "discharged",
    "discharged on",
    "urgent care",
    "appt",
    "appt on",
    "dos",
    "visit on",
    "surgery on",
    "since",
    "rtc",
    "lmp",
];

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
        (4, 1 | 2, 1 | 2) => {
            let is_date = YEARS.contains(&a) && is_month_and_day(b, c) && !is_release(numbers, at);
            is_date.then_some(950)
        }
        (1 | 2, 1 | 2, 4) => (YEARS.contains(&c)
            && (is_month_and_day(a, b) || is_month_and_day(b, a))
            && !is_version(numbers, at))
        .then_some(950),
        (1 | 2, 1 | 2, 2) if dose::is_three(numbers, at) => None,
        (1 | 2, 1 | 2, 2) if is_month_and_day(a, b) || is_month_and_day(b, a) => {
            match numbers.gap(at) {
                Gap::Slash => Some(850),
                Gap::Dash => Some(700),
                // Versions and sections look the same.
                _ => {
                    let near = before(numbers.text, numbers.group(at).start);
                    let behind = numbers.text.get(numbers.group(at + 2).end..)?;
                    let is_timed = matches!(
                        behind,
                        [b' ', b'0'..=b'2', b'0'..=b'9', b':', b'0'..=b'5', ..]
                    );
                    let is_told =
                        has(near, DATE_WORDS) || has(near, DOUBTFUL_DATE_WORDS) || has(near, LEADS);
                    // `LP done 03.14.25`: nothing else is numbered with a zero before.
                    let is_padded = byte(numbers.text, numbers.group(at).start) == b'0'
                        && numbers.group(at + 1).len() == 2
                        && !is_version(numbers, at);
                    (is_timed || is_told || is_padded).then_some(600)
                }
            }
        }
        // `DOB 65-02-14`.
        (2, 2, 2) if a > 31 && is_month_and_day(b, c) && numbers.gap(at) == Gap::Dash => {
            let near = before(numbers.text, numbers.group(at).start).trim_ascii_end();
            let near = near.strip_suffix(b":").unwrap_or(near);
            ends_with(near, BIRTH_WORDS).then_some(750)
        }
        _ => None,
    }
}

/// `Version 10.4.2026`.
fn is_version(numbers: &Numbers<'_>, at: usize) -> bool {
    numbers.gap(at) == Gap::Dot
        && ends_with(
            before(numbers.text, numbers.group(at).start),
            &["version", "version:", "ver", "ver.", "release", "build"],
        )
}

/// `web:2026.3.1`, `certifi==2024.7.4`: programs are numbered by the month as well, mostly without zeros.
fn is_release(numbers: &Numbers<'_>, at: usize) -> bool {
    if numbers.gap(at) != Gap::Dot {
        return false;
    }
    let (text, start) = (numbers.text, numbers.group(at).start);
    let head = byte_before(text, start);
    let is_tag = matches!(head, b':' | b'=' | b'@' | b'^' | b'~')
        && !matches!(byte_before(text, start - 1), b' ' | b'\t' | 0);
    is_tag || is_version(numbers, at)
}

/// `admit_date >= '2025-01-01'`: in a condition, the first or last day of a month is where a period begins or ends,
/// and no day of anybody.
fn is_bound(numbers: &Numbers<'_>, at: usize) -> bool {
    let (text, start) = (numbers.text, numbers.group(at).start);
    let Some(head) = before(text, start).strip_suffix(b"'") else {
        return false;
    };
    let head = head.trim_ascii_end();
    let head = ["date", "timestamp"]
        .iter()
        .find(|word| ends_with(head, &[word]))
        .and_then(|word| head.get(..head.len() - word.len()))
        .unwrap_or(head)
        .trim_ascii_end();
    let is_compared = [&b">="[..], b"<=", b" >", b" <"]
        .iter()
        .any(|sign| head.ends_with(sign))
        || ends_with(head, &["between"])
        || ends_with(head, &["' and"]) && has(head, &["between"]);
    is_compared && numbers.group(at).len() == 4 && is_edge_of_month(numbers, at)
}

fn is_edge_of_month(numbers: &Numbers<'_>, at: usize) -> bool {
    let (Some(month), Some(day)) = (numbers.value(at + 1), numbers.value(at + 2)) else {
        return false;
    };
    match day {
        1 | 31 => true,
        30 => matches!(month, 4 | 6 | 9 | 11),
        28 | 29 => month == 2,
        _ => false,
    }
}

/// The last group of `6-20-24-6-22-24`: two whole dates with the sign between that is inside of them.
fn whole_span(numbers: &Numbers<'_>, at: usize) -> Option<usize> {
    let is_date = |at: usize| {
        let lengths = numbers.group(at).len() <= 2 && numbers.group(at + 1).len() <= 2;
        let year = matches!(numbers.group(at + 2).len(), 2 | 4);
        let (month, day) = (numbers.value(at), numbers.value(at + 1));
        lengths && year && month.is_some_and(is_month) && day.is_some_and(is_day)
    };
    let is_one_sign = (at..at + 5).all(|index| numbers.gap(index) == Gap::Dash);
    let is_span = is_one_sign
        && is_date(at)
        && is_date(at + 3)
        && numbers.group(at + 2).len() == numbers.group(at + 5).len();
    (is_span && numbers.stands_alone(at, at + 5)).then_some(at + 5)
}

/// The last group of `6/20-22`, where somebody was in a hospital.
fn stay(numbers: &Numbers<'_>, at: usize) -> Option<usize> {
    const STAYS: &[&str] = &[
        "hospitalized",
        "hospitalised",
        "admitted",
        "inpatient",
        "admission",
        "stay",
        "in hospital",
    ];
    let is_shape = numbers.gap(at) == Gap::Slash
        && numbers.gap(at + 1) == Gap::Dash
        && (0..3).all(|index| numbers.group(at + index).len() <= 2)
        && numbers.stands_alone(at, at + 2);
    let (month, first, last) = (
        numbers.value(at)?,
        numbers.value(at + 1)?,
        numbers.value(at + 2)?,
    );
    let (start, end) = (numbers.group(at).start, numbers.group(at + 2).end);
    let is_span = is_shape && is_month(month) && first < last && is_day(last);
    let is_told = || {
        begins_with(after(numbers.text, end), STAYS)
            || ends_with(before(numbers.text, start), STAYS)
    };
    (is_span && is_told()).then_some(at + 2)
}

/// The last group of `10/14-17/2025`.
fn days(numbers: &Numbers<'_>, at: usize) -> Option<usize> {
    let gaps = (numbers.gap(at), numbers.gap(at + 1), numbers.gap(at + 2));
    let is_span = gaps == (Gap::Slash, Gap::Dash, Gap::Slash)
        && numbers.group(at).len() <= 2
        && is_month(numbers.value(at)?)
        && is_day(numbers.value(at + 1)?)
        && is_day(numbers.value(at + 2)?)
        && numbers.group(at + 3).len() == 4
        && YEARS.contains(&numbers.value(at + 3)?);
    (is_span && numbers.stands_alone(at, at + 3)).then_some(at + 3)
}

/// The last group of `06/2023-09/2023`.
fn months(numbers: &Numbers<'_>, at: usize) -> Option<usize> {
    let is_one = |at: usize| {
        numbers.gap(at) == Gap::Slash
            && numbers.group(at).len() <= 2
            && numbers.group(at + 1).len() == 4
            && numbers.value(at).is_some_and(is_month)
            && numbers
                .value(at + 1)
                .is_some_and(|year| YEARS.contains(&year))
    };
    let is_span = is_one(at) && numbers.gap(at + 1) == Gap::Dash && is_one(at + 2);
    (is_span && numbers.stands_alone(at, at + 3)).then_some(at + 3)
}

/// The last group of `2/28-3/4`, where the words say that it is a span of days.
fn range(numbers: &Numbers<'_>, at: usize) -> Option<usize> {
    // `6/20-6/22/24`.
    let has_year = numbers.gap(at + 3) == Gap::Slash
        && matches!(numbers.group(at + 4).len(), 2 | 4)
        && !is_tight(numbers, at + 4);
    let last = at + 3 + usize::from(has_year);
    let is_range = numbers.gap(at) == Gap::Slash
        && numbers.gap(at + 1) == Gap::Dash
        && numbers.gap(at + 2) == Gap::Slash
        && (!is_tight(numbers, at + 3) || has_year)
        && !is_word(byte(numbers.text, numbers.group(last).end));
    let is_pair = |at: usize| {
        let lengths = numbers.group(at).len() <= 2 && numbers.group(at + 1).len() <= 2;
        let (month, day) = (numbers.value(at), numbers.value(at + 1));
        lengths && month.is_some_and(is_month) && day.is_some_and(is_day)
    };
    let is_said = || {
        let near = before(numbers.text, numbers.group(at).start);
        !has(near, MEASURE_BEFORE)
    };
    (is_range && is_pair(at) && is_pair(at + 2) && is_said()).then_some(last)
}

/// Labels of the day of birth, behind which any six or eight digits are one.
const BIRTH_WORDS: &[&str] = &[
    "dob",
    "d.o.b",
    "date of birth",
    "birthdate",
    "birth date",
    "birthday",
    "bday",
    "born",
];

/// Labels right behind which six or eight digits are a day.
const SERVICE_WORDS: &[&str] = &[
    "dos",
    "date of service",
    "service date",
    "dod",
    "date of death",
    "doa",
    "date of admission",
    "admit date",
    "admission date",
    "date of discharge",
    "discharge date",
    "visit date",
];

/// `dob=date(1981, 4, 9)`, `admitted = datetime(2025, 3, 14)`: as programs make a day that has somebody's label.
fn of_arguments(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    const MAKERS: &[&str] = &["date(", "datetime(", "localdate.of("];
    let (text, group) = (numbers.text, numbers.group(at));
    let near = before(text, group.start);
    let is_made = group.len() == 4
        && byte_before(text, group.start) == b'('
        && YEARS.contains(&numbers.value(at)?)
        && MAKERS.iter().any(|maker| {
            let tail = near.len().checked_sub(maker.len());
            tail.is_some_and(|tail| starts(near.get(tail..).unwrap_or_default(), maker.as_bytes()))
        });
    if !is_made
        || !has(near, BIRTH_WORDS) && !has(near, SERVICE_WORDS) && !has(near, ARGUMENT_WORDS)
    {
        return None;
    }
    let mut end = group.end;
    for fits in [is_month, is_day] {
        let rest = text.get(end..)?.strip_prefix(b",")?;
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let value = rest
            .get(..digits)
            .filter(|_| matches!(digits, 1 | 2))?
            .iter()
            .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
        if !fits(value) {
            return None;
        }
        end = text.len() - rest.len() + digits;
    }
    matches!(byte(text, end), b')' | b',')
        .then_some(Finding::new(DATE, group.start, end, 800).contextual())
}

/// What variables of somebody's days are called besides.
const ARGUMENT_WORDS: &[&str] = &[
    "birth",
    "admit",
    "admitted",
    "admission",
    "discharge",
    "discharged",
    "visit",
    "death",
    "onset",
    "encounter",
    "appt",
    "appointment",
];

/// `DOB: 03041961`, `DOS 010526`, `DOB 03 04 1961`, `DOB: 3 / 4 / 61`.
fn of_birth(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let (text, group) = (numbers.text, numbers.group(at));
    if is_word(byte_before(text, group.start)) || group.len() > 8 {
        return None;
    }
    let near = before(text, group.start);
    let near = near.get(near.len().saturating_sub(20)..)?;
    let labelled = near.trim_ascii_end();
    let labelled = labelled.strip_suffix(b":").unwrap_or(labelled);
    let is_service = matches!(group.len(), 6 | 8) && ends_with(labelled, SERVICE_WORDS);
    if !is_service && !has(near, BIRTH_WORDS) {
        return None;
    }
    let finding = |end: usize| Some(Finding::new(DATE, group.start, end, 800).contextual());
    let fits =
        |month: u32, day: u32| is_month(month) && is_day(day) || is_month(day) && is_day(month);
    let value = numbers.value(at)?;
    match group.len() {
        8 if fits(value / 1_000_000, value / 10_000 % 100) && YEARS.contains(&(value % 10_000)) => {
            return finding(group.end);
        }
        6 if fits(value / 10_000, value / 100 % 100) => return finding(group.end),
        // `2141965`, the month without its zero.
        7 if fits(value / 1_000_000, value / 10_000 % 100) && YEARS.contains(&(value % 10_000)) => {
            return finding(group.end);
        }
        1 | 2 => {}
        _ => return None,
    }
    // Apart by spaces, perhaps with a slash between them.
    let mut end = group.end;
    for most in [2, 4] {
        let rest = text.get(end..)?;
        let gap = rest
            .iter()
            .take(3)
            .take_while(|byte| b" /-.".contains(byte))
            .count();
        let digits = rest
            .iter()
            .skip(gap)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if gap == 0 || !(1..=most).contains(&digits) || digits == 3 {
            return None;
        }
        end += gap + digits;
    }
    (!is_word(byte(text, end))).then(|| finding(end)).flatten()
}

/// `11 / 04 / 1951`: spaces around the signs, as a scan or a form has them.
fn apart(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let (text, group) = (numbers.text, numbers.group(at));
    if !matches!(group.len(), 1 | 2) || byte(text, group.end) != b' ' {
        return None;
    }
    let number = |from: usize, most: usize| {
        let digits = text
            .get(from..)?
            .iter()
            .take(most + 1)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let value = text
            .get(from..from + digits)?
            .iter()
            .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
        (1..=most)
            .contains(&digits)
            .then_some((value, from + digits))
    };
    let sign = text.get(group.end..group.end + 3)?;
    if sign != b" / " {
        return None;
    }
    let (day, day_end) = number(group.end + sign.len(), 2)?;
    if text.get(day_end..day_end + sign.len()) != Some(sign) {
        return None;
    }
    let (year, end) = number(day_end + sign.len(), 4)?;
    let month = numbers.value(at)?;
    let fits = is_month(month) && is_day(day) || is_month(day) && is_day(month);
    let is_whole = end == day_end + sign.len() + 4 && !is_word(byte(text, end));
    (fits && is_whole && (1900..=2100).contains(&year)).then_some(Finding::new(
        DATE,
        group.start,
        end,
        700,
    ))
}

/// Whether `202403041123-0500` goes on with its zone.
fn is_packed_time(numbers: &Numbers<'_>, at: usize) -> bool {
    matches!(numbers.group(at).len(), 12 | 14)
        && numbers.group(at + 1).len() == 4
        && !is_tight(numbers, at + 1)
}

/// `20240314`, `20240314083000` and `20240314T083000Z`, as interfaces write them.
fn packed(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let group = numbers.group(at);
    let tail = byte(numbers.text, group.end);
    let is_followed_by_time = group.len() == 8
        && matches!(tail, b'T' | b't')
        && byte(numbers.text, group.end + 1).is_ascii_digit()
        && !is_word(byte_before(numbers.text, group.start));
    let stands_alone =
        is_followed_by_time || is_packed_time(numbers, at) || numbers.stands_alone(at, at);
    if !matches!(group.len(), 8 | 12 | 14) || !stands_alone {
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
    // `seed(20240101)` begins a row of random numbers.
    let near = before(numbers.text, group.start).trim_ascii_end();
    let near = near
        .strip_suffix(b"(")
        .or(near.strip_suffix(b"="))
        .or(near.strip_suffix(b":"));
    if near.is_some_and(|near| ends_with(near, SEEDS)) {
        return None;
    }
    let is_recent = (1900..=2100).contains(&value(0, 4)?);
    let is_time = group.len() == 8 || value(8, 10)? < 24 && value(10, 12)? < 60;
    let is_date = is_recent && is_month(value(4, 6)?) && is_day(value(6, 8)?) && is_time;
    is_date.then_some(Finding::new(DATE, group.start, group.end, 700))
}

const SEEDS: &[&str] = &[
    "seed",
    "random_state",
    "manual_seed",
    "default_rng",
    "seed_everything",
    "set_seed",
    "rng",
    "srand",
];

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
