//! The words that make `3/4` a date, and those that make it a measurement, a score or a grade.

use super::words::{
    AFTER_DAY, COUNTED_AFTER, COUNTED_BEFORE, DATE_WORDS, DEEDS_AFTER, DEEDS_BEFORE,
    DOUBTFUL_DATE_WORDS, EVENTS, FINDINGS_AFTER, GOES_ON, LEADS, MACHINES, MEASURE_BEFORE, OF_DAYS,
    PLACES_AFTER, PROCEDURES_BEFORE, SHORT_EVENTS, STUDIES, UNITS_AFTER,
};
use super::{score, usual};
use crate::kind::clause::clause;
use crate::number::Numbers;
use crate::text::{after, before, begins_with, byte, byte_before, ends_with, has, is_word};

/// Whether the words around say that a bare `3/4` is a date, and none says that it is something else.
pub(super) fn is_said(numbers: &Numbers<'_>, at: usize) -> bool {
    let near = before(numbers.text, numbers.group(at).start);
    let behind = after(numbers.text, numbers.group(at + 1).end);
    // The clause decides, not the sentence before.
    let clause = clause(near);
    if is_secondary(numbers, at)
        && !ends_with(near, OF_DAYS)
        && (!ends_with_date_word(near) || begins_with_illness(behind))
    {
        return false;
    }
    let is_about_a_day = || {
        is_of_event(numbers, at, near)
            || has_date_word(numbers, at, clause)
            || has(clause, LEADS) && !score::is_one(numbers, at, near, behind)
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
    is_about_a_day()
        && !is_measure(numbers, at, near, behind)
        && !is_part_of_something(numbers, at, near, behind)
        && !score::is_of_questionnaire(numbers, at, near, behind)
}

/// `MVC 3/7`, `flu: 3/7`: right behind what happened to somebody, or its label where nothing else is told.
fn is_of_event(numbers: &Numbers<'_>, at: usize, near: &[u8]) -> bool {
    let end = numbers.group(at + 1).end;
    let is_end = matches!(
        byte(numbers.text, end),
        0 | b'.' | b',' | b';' | b')' | b'\n' | b'\r'
    ) && !is_word(byte(numbers.text, end + 1));
    let label = near.trim_ascii_end().strip_suffix(b":");
    match label {
        Some(label) => is_end && (ends_with(label, SHORT_EVENTS) || ends_with(label, EVENTS)),
        None => ends_with(near, SHORT_EVENTS),
    }
}

/// Whether a word before or behind says that it is a measurement or a grade. A day that is no grade may stand beside
/// such a word: `chest pain since 3/14`, `seen 3/14 pain is better`.
fn is_measure(numbers: &Numbers<'_>, at: usize, near: &[u8], behind: &[u8]) -> bool {
    let is_no_score = usual::is_no_score(numbers, at);
    let is_of_day = || {
        is_no_score
            && !is_setting(numbers, at, near)
            && (ends_with(near, OF_DAYS) || ends_with_date_word(near))
    };
    begins_with(behind, UNITS_AFTER)
        || begins_with(behind, &["am", "pm"]) && !is_no_score
        || begins_with(behind, FINDINGS_AFTER)
            && !(is_no_score && is_led(numbers, at, near, behind))
        || has(clause(near), MEASURE_BEFORE) && !is_of_day()
}

/// `pressure support on 10/5`, `vent ratio on 2/1`: what a machine is set to, and no more than that.
fn is_setting(numbers: &Numbers<'_>, at: usize, near: &[u8]) -> bool {
    /// Of the second number of a ratio.
    const MOST: u32 = 4;
    let clause = clause(near);
    ends_with(near, &["on"])
        && (has(clause, MACHINES) && are_pressures(numbers, at)
            || has(clause, &["ratio"]) && numbers.value(at + 1) <= Some(MOST))
}

/// `BiPAP started 10/5 in ED`, where nothing leads to a day.
fn is_of_pressures(numbers: &Numbers<'_>, at: usize, near: &[u8]) -> bool {
    are_pressures(numbers, at) && has(clause(near), &["cpap", "bipap"]) && !ends_with(near, OF_DAYS)
}

/// Two pressures for breathing, the first the higher.
fn are_pressures(numbers: &Numbers<'_>, at: usize) -> bool {
    /// What is breathed out against, in cm of water.
    const PEEP: std::ops::RangeInclusive<u32> = 4..=8;
    let (first, second) = (numbers.value(at), numbers.value(at + 1));
    first > second && second.is_some_and(|second| PEEP.contains(&second))
}

/// Whether a word in the clause makes the pair a date.
fn has_date_word(numbers: &Numbers<'_>, at: usize, clause: &[u8]) -> bool {
    has(clause, DATE_WORDS)
        || has(clause, DOUBTFUL_DATE_WORDS)
            && (!usual::is_part(numbers, at) || is_likely(numbers, at, clause))
}

/// Whether what may be a part of something is rather a day, in a clause with a doubtful word: right behind it, or where
/// nothing that has parts follows: `Follow up with GI 3/4 at noon`. `38 4/7` are weeks.
fn is_likely(numbers: &Numbers<'_>, at: usize, clause: &[u8]) -> bool {
    let behind = after(numbers.text, numbers.group(at + 1).end);
    let is_end = matches!(
        byte(behind, 0),
        0 | b'.' | b',' | b';' | b')' | b'\n' | b'\r'
    );
    let goes_on = (is_end || begins_with(behind, AFTER_DAY))
        && !ends_with(clause, &["in", "with", "of", "at"]);
    let is_mixed = clause
        .trim_ascii_end()
        .last()
        .is_some_and(u8::is_ascii_digit);
    ends_with(clause, DOUBTFUL_DATE_WORDS) && !is_secondary(numbers, at) || goes_on && !is_mixed
}

/// `2/2 CHF exacerbation`: secondary to it.
fn is_secondary(numbers: &Numbers<'_>, at: usize) -> bool {
    let behind = after(numbers.text, numbers.group(at + 1).end);
    (numbers.value(at), numbers.value(at + 1)) == (Some(2), Some(2))
        && byte(behind, 0) == b' '
        && byte(behind, 1).is_ascii_alphabetic()
        && !begins_with(behind, AFTER_DAY)
}

/// `2/2 sepsis`, `2/2 cellulitis`.
fn begins_with_illness(behind: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "chf",
        "copd",
        "uti",
        "aki",
        "dka",
        "pe",
        "dvt",
        "etoh",
        "stroke",
        "infection",
        "bleed",
    ];
    const ENDS: [&[u8]; 6] = [b"itis", b"emia", b"osis", b"onia", b"psis", b"rrhage"];
    let words = behind.trim_ascii_start();
    let letters = words.iter().take_while(|byte| byte.is_ascii_alphabetic());
    let word = words.get(..letters.count()).unwrap_or_default();
    begins_with(behind, WORDS) || ENDS.iter().any(|end| word.ends_with(end))
}

fn ends_with_date_word(near: &[u8]) -> bool {
    ends_with(near, DATE_WORDS) || ends_with(near, DOUBTFUL_DATE_WORDS)
}

/// Whether a word leads to a day: right before it, or anywhere in the clause where it leads to nothing else.
fn is_led(numbers: &Numbers<'_>, at: usize, near: &[u8], behind: &[u8]) -> bool {
    has_date_word(numbers, at, clause(near))
        || ends_with(near, LEADS) && !score::is_one(numbers, at, near, behind)
}

/// `4/5 in the legs`, `11/18 of the points`, `3/4 joints`: behind a day a sentence goes on with the same words, where
/// something leads to it.
fn is_part_of_something(numbers: &Numbers<'_>, at: usize, near: &[u8], behind: &[u8]) -> bool {
    let is_part = usual::is_part(numbers, at);
    let is_improper = is_improper(numbers, at);
    let is_led = || is_led(numbers, at, near, behind);
    // `on 3/14 joints still swollen`.
    if begins_with(behind, COUNTED_AFTER) {
        return is_part && !ends_with(near, DEEDS_BEFORE) || !is_part && !is_improper && !is_led();
    }
    // `MRI 3/14 of the brain`.
    if begins_with(behind, &["of"]) {
        let is_day = usual::is_no_score(numbers, at) && has_date_word(numbers, at, clause(near))
            || ends_with_date_word(near)
            || ends_with(near, LEADS);
        return is_of_counted(behind) || !ends_with(near, STUDIES) && (is_part || !is_day);
    }
    if !begins_with(behind, GOES_ON) {
        return false;
    }
    // `a 3/16 in tube`.
    if ends_with(near, &["a", "an"]) {
        return true;
    }
    if is_part {
        let is_on = ends_with(near, &["on"]);
        let is_day = ends_with(near, DEEDS_BEFORE)
            || ends_with(near, PROCEDURES_BEFORE)
            || ends_with(near, STUDIES)
            || is_on && (has(clause(near), DEEDS_BEFORE) || has(clause(near), PROCEDURES_BEFORE))
            || begins_with(behind, PLACES_AFTER)
                && (is_on || has_date_word(numbers, at, clause(near)));
        return !is_day;
    }
    if is_of_pressures(numbers, at, near) {
        return true;
    }
    let is_of_inches = begins_with(behind, &["in"]) && numbers.value(at + 1) == Some(SIXTEENTHS);
    let begins = || is_padded(numbers, at) || is_entry(numbers, at, near, behind);
    !is_improper && !is_led() && (is_of_inches || !begins())
}

/// `4/12 of the cores`, `3/14 of 14 joints`.
fn is_of_counted(behind: &[u8]) -> bool {
    let of = behind.trim_ascii_start().get("of ".len()..);
    let of = of.unwrap_or_default();
    let things = of.strip_prefix(b"the ").unwrap_or(of);
    let digits = things
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let things = things.get(digits..).unwrap_or_default();
    begins_with(things, UNITS_AFTER) || begins_with(things, COUNTED_AFTER)
}

/// Inches are divided into so many parts; into fewer, a pair is a part anyway.
const SIXTEENTHS: u32 = 16;

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
