//! Dates with the name of a month: `March 14, 2024`, `14 Mar 2024`, `the 14th of March`, `March 2024`.

use super::words::{COUNTED_AFTER, UNITS_AFTER};
use super::{DATE, Finding, YEARS, is_day};
use crate::text::{after, before, begins_with, byte, byte_before, ends_with, is_word, starts};

/// From the name of a month: `March 14, 2024`, `14 Mar 2024`, `the 14th of March`, `14-MAR-2024`, `March 2024`.
pub fn find_named(text: &[u8], at: usize) -> Option<Finding> {
    let name_end = month_end(text, at)?;
    let day_start = day_before(text, at);
    if day_start.is_none() && is_word(byte_before(text, at)) {
        return None;
    }
    let day_end = if day_start.is_some() {
        None
    } else {
        day_after(text, name_end)
    };
    // In the next line only a whole date is one: a list may begin there.
    let day_end =
        day_end.filter(|end| byte(text, name_end) != b'\n' || year_after(text, *end).is_some());
    let day_end = day_end.map(|end| more_days(text, end));
    let year_end = match day_start {
        Some(start) => year_after(text, name_end).or_else(|| short_year(text, start, at, name_end)),
        None => year_after(text, day_end.unwrap_or(name_end)),
    };
    let end = year_end.or(day_end).unwrap_or(name_end);
    // `14th of` tells as well as a year.
    let is_spelt = day_start
        .and_then(|start| text.get(start..at))
        .is_some_and(|day| day.iter().any(u8::is_ascii_alphabetic));
    let is_sure =
        is_spelt || year_end.is_some() || day_end.is_some_and(|end| is_ordinal(text, end));
    match (day_start, day_end, year_end) {
        (Some(start), _, _) if is_sure || !is_common_word(text, at, name_end) => Some(
            Finding::new(DATE, start, end, if is_sure { 950 } else { 800 }),
        ),
        (None, Some(_), _) if is_sure => Some(Finding::new(DATE, at, end, 950)),
        (None, Some(_), None)
            if !is_common_word(text, at, name_end) && !is_counted(text, at, end) =>
        {
            Some(Finding::new(DATE, at, end, 800))
        }
        (None, None, Some(_)) => Some(Finding::new(DATE, at, end, 750)),
        _ => None,
    }
}

/// Whether something is counted or measured behind the name of the month at `at`, and no day that ends at `end`:
/// `May 9 in thick`, `In May 5 patients fell`.
fn is_counted(text: &[u8], at: usize, end: usize) -> bool {
    let behind = after(text, end);
    let is_in = ends_with(before(text, at), &["in"]);
    begins_with(behind, UNITS_AFTER)
        || begins_with(behind, THICK)
        || is_in && (begins_with(behind, COUNTED_AFTER) || begins_with(behind, COUNTED_IN_MONTHS))
}

/// Inches.
const THICK: &[&str] = &[
    "in.",
    "in thick",
    "in long",
    "in wide",
    "in deep",
    "in tall",
    "in high",
    "in by",
    "in x",
    "in diameter",
];
/// What is counted in the time of a month.
const COUNTED_IN_MONTHS: &[&str] = &[
    "of",
    "people",
    "persons",
    "participants",
    "residents",
    "children",
    "adults",
    "women",
    "men",
    "nurses",
    "cases",
    "deaths",
    "falls",
    "events",
    "new",
    "more",
    "other",
];

/// Where the name ends, its dot included.
pub(super) fn month_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let len = rest
        .iter()
        .take(10)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let word = rest.get(..len)?;
    let is_name = MONTHS.iter().any(|(name, short)| {
        len >= *short && starts(name.as_bytes(), word) && (len == *short || len == name.len())
    });
    let is_month = is_name || word.eq_ignore_ascii_case(b"sept");
    if !is_month || byte(rest, len) >= 0x80 {
        return None;
    }
    Some(at + len + usize::from(byte(rest, len) == b'.' && len < 5))
}

/// `may` and `march` in small letters are verbs more often than months, where nothing before says otherwise.
fn is_common_word(text: &[u8], at: usize, name_end: usize) -> bool {
    let word = text.get(at..name_end).unwrap_or_default();
    matches!(word, b"may" | b"march" | b"mar" | b"dec") && !ends_with(before(text, at), DAY_BEFORE)
}

/// What leads to a day.
const DAY_BEFORE: &[&str] = &[
    "on",
    "since",
    "until",
    "till",
    "by",
    "before",
    "after",
    "from",
    "to",
    "of",
    "around",
    "about",
    "is",
    "was",
    "born",
    "fell",
    "surgery",
    "appt",
    "appointment",
    "visit",
    "seen",
    "admitted",
    "discharged",
    "died",
    "due",
    "scheduled",
    "dated",
    "for",
    "through",
    "thru",
    "last",
    "next",
    "this",
    "dob",
    "birthday",
    "started",
    "started:",
];

/// Where a day before the month begins: `14 `, `14th of `, `14-`.
fn day_before(text: &[u8], at: usize) -> Option<usize> {
    let head = text.get(at.saturating_sub(12)..at)?;
    let mut rest = head.trim_ascii_end();
    let spaces = head.len() - rest.len();
    if spaces > 2 {
        return None;
    }
    if let Some(shorter) = rest
        .strip_suffix(b" of")
        .or_else(|| rest.strip_suffix(b" OF"))
    {
        rest = shorter.trim_ascii_end();
    } else if spaces == 0 {
        rest = rest
            .strip_suffix(b"-")
            .or_else(|| rest.strip_suffix(b"/"))
            .unwrap_or(rest);
    }
    for ordinal in ORDINALS {
        if rest.len() > 2
            && rest
                .get(rest.len() - 2..)
                .is_some_and(|tail| tail.eq_ignore_ascii_case(ordinal))
        {
            rest = rest.get(..rest.len() - 2)?;
            break;
        }
    }
    let digits = rest
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if !(1..=2).contains(&digits) {
        return None;
    }
    let start = at - head.len() + rest.len() - digits;
    let value = rest
        .get(rest.len() - digits..)?
        .iter()
        .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    // `Feb 28-Mar 4`: the day belongs to the month before it.
    let behind_month = spaces == 0 && {
        let head = before(text, start).trim_ascii_end();
        let letters = head
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        letters >= 3 && month_end(head, head.len() - letters).is_some()
    };
    if behind_month {
        return None;
    }
    if !is_day(value) {
        return None;
    }
    let is_one_line = !head
        .get(rest.len()..)
        .is_some_and(|gap| gap.contains(&b'\n'));
    let start = is_one_line
        .then(|| first_day(text, start))
        .flatten()
        .unwrap_or(start);
    let lead = byte_before(text, start);
    // `02APR-04APR2024`.
    let ends_span = || {
        let head = before(text, start - 1);
        let letters = head
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        lead == b'-'
            && letters >= 3
            && month_end(head, head.len() - letters).is_some()
            && byte_before(head, head.len() - letters).is_ascii_digit()
    };
    let stands_alone =
        !is_word(lead) && !matches!(lead, b'-' | b'/' | b'.' | b'_' | b'$') || ends_span();
    stands_alone.then_some(start)
}

/// Where the first day of `5-9 October`, `5 to 9 October`, `5th and 9th of October` begins, whose last one begins at
/// `start`.
fn first_day(text: &[u8], start: usize) -> Option<usize> {
    let head = before(text, start);
    let joint = ["-", " - ", " to ", " and ", " & ", " through "]
        .iter()
        .filter(|joint| {
            let at = head.len().checked_sub(joint.len());
            at.is_some_and(|at| starts(head.get(at..).unwrap_or_default(), joint.as_bytes()))
        })
        .max_by_key(|joint| joint.len())?;
    let mut end = start - joint.len();
    if is_ordinal(text, end) {
        end -= 2;
    }
    let digits = text
        .get(..end)?
        .iter()
        .rev()
        .take(3)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let first = end - digits;
    let value = text
        .get(first..end)?
        .iter()
        .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    let lead = byte_before(text, first);
    let is_first = (1..=2).contains(&digits)
        && is_day(value)
        && !is_word(lead)
        && !matches!(lead, b'-' | b'/' | b'.' | b'_' | b'$' | b':');
    // `from 5 to 9 October`, but `increased 5 to 9 Oct` counts: only what is glued or spelt is sure.
    let is_sure = *joint == "-"
        || text
            .get(end..start)
            .is_some_and(|gap| gap.len() > joint.len());
    let is_told = || ends_with(before(text, first), FIRST_DAY_BEFORE);
    (is_first && (is_sure || is_told())).then_some(first)
}

const FIRST_DAY_BEFORE: &[&str] = &[
    "from",
    "on",
    "between",
    "admitted",
    "hospitalized",
    "seen",
    "the",
    "dates",
    "dates:",
    "stay",
    "hospitalised",
    "inpatient",
    "leave",
];

const ORDINALS: [&[u8]; 4] = [b"st", b"nd", b"rd", b"th"];

/// Where a day behind the month ends: ` 14`, ` 14th`, `-14`.
fn day_after(text: &[u8], name_end: usize) -> Option<usize> {
    let rest = text.get(name_end..)?;
    let gap = gap_len(rest)?;
    if let Some(end) = misread_day(rest, gap) {
        return Some(name_end + end);
    }
    let digits = rest
        .iter()
        .skip(gap)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if !(1..=2).contains(&digits) {
        return None;
    }
    let value = rest
        .get(gap..gap + digits)?
        .iter()
        .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    let mut end = gap + digits;
    end += ordinal_len(rest, end);
    // `March 5.2` and `May 3:30` are no days, `5%` is no day either.
    let tail = (byte(rest, end), byte(rest, end + 1));
    if matches!(tail.0, b'-') && tail.1.is_ascii_digit() {
        end = range_end(rest, end);
    }
    let tail = (byte(rest, end), byte(rest, end + 1));
    let goes_on =
        is_word(tail.0) || tail.0 == b'%' || matches!(tail, (b'.' | b'/' | b':', b'0'..=b'9'));
    (is_day(value) && !goes_on).then_some(name_end + end)
}

/// Where `l5` and `3O` end: a day of two digits, one of which was read as a letter.
fn misread_day(rest: &[u8], gap: usize) -> Option<usize> {
    let day = rest.get(gap..gap + 2)?;
    let is_day = matches!(day, [b'l' | b'I', b'0'..=b'9'] | [b'0'..=b'3', b'O' | b'l']);
    let tail = byte(rest, gap + 2);
    (is_day && !is_word(tail) && !b"%/.-".contains(&tail)
        || is_day && tail == b'.' && !is_word(byte(rest, gap + 3)))
    .then_some(gap + 2)
}

/// Where the second day of `14-17` and `3rd-5th` ends; `end` where there is none.
fn range_end(rest: &[u8], end: usize) -> usize {
    let digits = rest
        .iter()
        .skip(end + 1)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let last = end + 1 + digits;
    if digits <= 2 {
        last + ordinal_len(rest, last)
    } else {
        end
    }
}

/// Bytes of the ordinal behind the day that ends at `end`.
fn ordinal_len(text: &[u8], end: usize) -> usize {
    let tail = text.get(end..end + 2).unwrap_or_default();
    let is_one = ORDINALS
        .iter()
        .any(|ordinal| tail.eq_ignore_ascii_case(ordinal));
    if is_one { tail.len() } else { 0 }
}

/// Where the last day of `14, 15 and 16` ends; `end` where there is one alone.
fn more_days(text: &[u8], mut end: usize) -> usize {
    loop {
        let rest = text.get(end..).unwrap_or_default();
        let signs: [&[u8]; 11] = [
            b", and ",
            b" and the ",
            b" and ",
            b" & ",
            b", ",
            b" through the ",
            b" through ",
            b" thru ",
            b" to the ",
            b" to ",
            b" - ",
        ];
        let Some(sign) = signs.iter().find(|sign| starts(rest, sign)) else {
            return end;
        };
        let day = rest.get(sign.len()..).unwrap_or_default();
        let mut digits = day.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let count = digits;
        let ordinal = ordinal_len(day, digits);
        if digits > 0 && !is_word(byte(day, digits + ordinal)) {
            digits += ordinal;
        }
        let tail = (byte(day, digits), byte(day, digits + 1));
        let value = day
            .iter()
            .take(count.min(3))
            .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
        // What is counted, or a time, stands there as well: `Oct 14, 3 pills`.
        let ends = matches!(tail, (b'.' | b';' | b')' | b'\n' | 0, _))
            && !(tail.0 == b'.' && tail.1.is_ascii_digit())
            || matches!(tail, (b',', b' '))
            || starts(day.get(digits..).unwrap_or_default(), b" and ")
            || digits > count;
        if !(1..=2).contains(&count) || !is_day(value) || !ends {
            return end;
        }
        end += sign.len() + digits;
    }
}

/// Where the year of `14OCT25` and `14 Oct 25` ends; behind a space only where nothing is counted by it.
fn short_year(text: &[u8], day: usize, at: usize, name_end: usize) -> Option<usize> {
    let rest = text.get(name_end..)?;
    let gap = usize::from(byte(rest, 0) == b' ');
    let is_glued = gap == 0 && byte_before(text, at).is_ascii_digit();
    let is_apart = gap == 1 && byte_before(text, at) == b' ' && at - day <= 3;
    let year = rest.get(gap..)?;
    let digits = year.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let tail = (byte(year, digits), byte(year, digits + 1));
    let is_counted = tail.0 == b' ' && is_word(tail.1) || tail.0 == b'%';
    let goes_on = is_word(tail.0)
        || matches!(tail.0, b':' | b'/' | b'-')
        || tail.0 == b'.' && tail.1.is_ascii_digit();
    (digits == 2 && !goes_on && (is_glued || is_apart && !is_counted))
        .then_some(name_end + gap + digits)
}

fn is_ordinal(text: &[u8], end: usize) -> bool {
    end >= 2 && ordinal_len(text, end - 2) > 0
}

/// Where a year behind the month or the day ends: `, 2024`, ` of 2024`, `-2024`, ` '24`.
pub(super) fn year_after(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut gap = rest
        .iter()
        .take(3)
        .take_while(|byte| b" ,-/\n".contains(byte))
        .count();
    if starts(rest.get(gap..)?, b"of ") {
        gap += 3;
    }
    let is_short = byte(rest, gap) == b'\'';
    gap += usize::from(is_short);
    let digits = rest
        .iter()
        .skip(gap)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let value = rest
        .get(gap..gap + digits)?
        .iter()
        .take(4)
        .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    let is_year = if is_short || matches!(byte(rest, 0), b'-' | b'/') && digits == 2 {
        digits == 2
    } else {
        digits == 4 && YEARS.contains(&value)
    };
    let tail = byte(rest, gap + digits);
    (is_year && (!is_word(tail) || tail == b'T')).then_some(from + gap + digits)
}

fn gap_len(rest: &[u8]) -> Option<usize> {
    let len = rest
        .iter()
        .take(2)
        .take_while(|byte| b" -/\n".contains(byte))
        .count();
    (len > 0).then_some(len)
}

/// Full names, then the short form's length that is enough.
const MONTHS: [(&str, usize); 12] = [
    ("january", 3),
    ("february", 3),
    ("march", 3),
    ("april", 3),
    ("may", 3),
    ("june", 3),
    ("july", 3),
    ("august", 3),
    ("september", 3),
    ("october", 3),
    ("november", 3),
    ("december", 3),
];
