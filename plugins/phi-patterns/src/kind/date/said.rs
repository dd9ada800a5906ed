//! The words that make `3/4` a date, and those that make it a measurement, a score or a grade.

use super::usual;
use super::words::{
    COUNTED_AFTER, COUNTED_BEFORE, DATE_WORDS, DEEDS_AFTER, LEADS, MEASURE_AFTER, MEASURE_BEFORE,
};
use crate::number::Numbers;
use crate::text::{after, before, begins_with, byte, byte_before, ends_with, has, is_word};

/// Whether the words around say that a bare `3/4` is a date, and none says that it is something else.
pub(super) fn is_said(numbers: &Numbers<'_>, at: usize) -> bool {
    let near = before(numbers.text, numbers.group(at).start);
    let behind = after(numbers.text, numbers.group(at + 1).end);
    // The clause decides, not the sentence before.
    let clause = usual::clause(near);
    let is_led =
        || has(clause, DATE_WORDS) || has(clause, LEADS) && !is_score(numbers, at, near, behind);
    let is_about_a_day = || {
        is_led()
            || is_heading(numbers, at, near)
            || is_entry(numbers, at, near, behind)
            || is_timed(numbers, at)
            || is_aside(numbers, at, near)
            || is_padded(numbers, at) && !has(clause, COUNTED_BEFORE)
            || begins_with(behind, DEEDS_AFTER)
            || is_in_theatre(near)
            || is_between(numbers, at, clause)
            || usual::is_told(numbers, at, clause, behind)
            || usual::is_series(numbers, at)
            || usual::is_of_value(numbers, at, near)
            || usual::is_behind_time(numbers, at, near)
    };
    let is_measure = begins_with(behind, MEASURE_AFTER)
        && !(begins_with(behind, &["am", "pm"]) && usual::is_no_score(numbers, at));
    // `on 3/14 joints still swollen`.
    let is_counted = || {
        begins_with(behind, COUNTED_AFTER)
            && (usual::is_part(numbers, at) || !is_improper(numbers, at) && !is_led())
    };
    is_about_a_day() && !has(clause, MEASURE_BEFORE) && !is_measure && !is_counted()
}

/// `3/1: admitted` at the beginning of a line or sentence; `11/3 pt fell` at that of a line.
fn is_heading(numbers: &Numbers<'_>, at: usize, near: &[u8]) -> bool {
    let text = numbers.text;
    let end = numbers.group(at + 1).end;
    let begins_line = near.is_empty() || matches!(near.last(), Some(b'\n'));
    let begins_sentence = matches!(near.trim_ascii_end().last(), Some(b'.' | b';' | b'\n'));
    let is_titled = byte(text, end) == b':' && byte(text, end + 1) == b' ';
    // `3/4 cup` is a fraction.
    let is_first_word = || {
        let behind = text.get(end..).unwrap_or_default();
        let word = behind.strip_prefix(b" - ").or(behind.strip_prefix(b" "));
        is_improper(numbers, at) && word.is_some_and(|word| byte(word, 0).is_ascii_alphabetic())
    };
    (begins_line || begins_sentence) && is_titled || begins_line && is_first_word()
}

/// `3/12 CXR: RLL infiltrate`, `3/14 labs drawn`: a line of the course of a stay, which begins with its day.
fn is_entry(numbers: &Numbers<'_>, at: usize, near: &[u8], behind: &[u8]) -> bool {
    /// Of what no part is counted: `3/5 CT chest`.
    const STUDIES: &[&str] = &[
        "cxr", "xray", "x-ray", "ct", "cta", "mri", "mra", "echo", "tte", "tee", "ekg", "ecg",
        "eeg", "egd", "kub",
    ];
    let begins_line = near.is_empty() || near.last() == Some(&b'\n');
    let words = [&b" - "[..], b" \xe2\x80\x93 ", b" "]
        .iter()
        .find_map(|gap| behind.strip_prefix(*gap));
    let Some(words) = words.filter(|words| begins_line && byte(words, 0).is_ascii_alphabetic())
    else {
        return false;
    };
    usual::is_no_score(numbers, at)
        || begins_with(words, STUDIES)
        || !usual::is_part(numbers, at) && begins_with(words, DATE_WORDS)
}

/// `from 8/10 to 3/10`, `last 6/10`: so many of ten, or of five at both ends of a change.
fn is_score(numbers: &Numbers<'_>, at: usize, near: &[u8], behind: &[u8]) -> bool {
    const FIVE: u32 = 5;
    const TEN: u32 = 10;
    /// `on 3/10`, `from 9/10 through 10/10`, `COVID neg 8/10`: they lead to nothing else.
    const OF_DAYS: &[&str] = &[
        "on", "since", "until", "till", "due", "by", "next", "through", "thru", "negative", "neg",
        "pos",
    ];
    if usual::is_no_score(numbers, at)
        || ends_with(near, OF_DAYS)
        || begins_with(behind, &["through", "thru", "until", "till"])
    {
        return false;
    }
    let whole = numbers.value(at + 1);
    let next = behind.strip_prefix(b" to ").and_then(usual::pair);
    let last = near.strip_suffix(b" to ").and_then(|head| {
        let word = head.rsplit(|byte| *byte == b' ').next().unwrap_or(head);
        usual::pair(word)
    });
    match next.or(last) {
        Some((first, other)) => {
            whole == Some(other) && first <= other && matches!(other, FIVE | TEN)
        }
        None => whole == Some(TEN),
    }
}

/// `11/3 0900`, `3/1 7:55am`, `2/28 at 10:41`: a time of day behind it.
fn is_timed(numbers: &Numbers<'_>, at: usize) -> bool {
    let text = numbers.text;
    let rest = text.get(numbers.group(at + 1).end..).unwrap_or_default();
    let Some(rest) = rest.strip_prefix(b" ") else {
        return false;
    };
    let rest = rest
        .strip_prefix(b"at ")
        .or(rest.strip_prefix(b"@ "))
        .or(rest.strip_prefix(b"@"))
        .unwrap_or(rest);
    let hours = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = |from: usize, to: usize| {
        let digits = rest.get(from..to).unwrap_or_default();
        digits.iter().fold(0, |value, digit| {
            value * 10 + u32::from(digit.wrapping_sub(b'0'))
        })
    };
    if hours == 4 {
        return value(0, 2) < 24
            && value(2, 4) < 60
            && byte(rest, 0) <= b'2'
            && !is_word(byte(rest, 4))
            && !matches!(
                (byte(rest, 4), byte(rest, 5)),
                (b'-' | b'/' | b'.' | b' ', b'0'..=b'9')
            );
    }
    matches!(hours, 1 | 2)
        && byte(rest, hours) == b':'
        && byte(rest, hours + 1).is_ascii_digit()
        && byte(rest, hours + 2).is_ascii_digit()
        && value(0, hours) < 24
        && value(hours + 1, hours + 3) < 60
}

/// `02/09`: no fraction and no score is written with a zero first.
fn is_padded(numbers: &Numbers<'_>, at: usize) -> bool {
    let (month, day) = (numbers.group(at), numbers.group(at + 1));
    let is_zero = |start: usize| byte(numbers.text, start) == b'0';
    month.len() == 2
        && day.len() == 2
        && (is_zero(month.start) || is_zero(day.start))
        && !matches!(
            byte_before(numbers.text, month.start),
            b'[' | b'(' | b'"' | b'\'' | b'#' | b':'
        )
}

/// `OR 3/1`: the operating room has capitals, the conjunction stands between numbers or is small.
fn is_in_theatre(near: &[u8]) -> bool {
    let head = near.trim_ascii_end();
    let Some(rest) = head.strip_suffix(b"OR") else {
        return false;
    };
    let is_other = rest.trim_ascii_end().last().is_some_and(u8::is_ascii_digit);
    !is_word(byte_before(rest, rest.len())) && !is_other
}

/// Both days of `between 12/20 and 1/4 she fell`, where somebody is spoken of.
fn is_between(numbers: &Numbers<'_>, at: usize, clause: &[u8]) -> bool {
    if !has(clause, &["between"]) {
        return false;
    }
    let end = numbers.group(at + 1).end;
    let behind = after(numbers.text, end);
    const PERSONS: &[&str] = &[
        "he",
        "she",
        "pt",
        "patient",
        "his",
        "her",
        "was",
        "had",
        "fell",
        "hospitalized",
        "i",
    ];
    has(clause, PERSONS) || has(behind, PERSONS)
}

/// `(11/2)`, `[11/3]`, which is no fraction.
fn is_aside(numbers: &Numbers<'_>, at: usize, near: &[u8]) -> bool {
    let is_closed = matches!(byte(numbers.text, numbers.group(at + 1).end), b')' | b']');
    is_closed && matches!(near.last(), Some(b'(' | b'[')) && is_improper(numbers, at)
}

/// `11/3`: more than the whole, as no score and no part of something is.
fn is_improper(numbers: &Numbers<'_>, at: usize) -> bool {
    /// Ratios are smaller: `2/1`, `4/3`.
    const RATIOS: u32 = 4;
    let (first, second) = (numbers.value(at), numbers.value(at + 1));
    first > second && first > Some(RATIOS)
}
