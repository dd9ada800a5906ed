//! Social security numbers: `219-09-9999`, bare or masked ones where the words around say so.

use super::{Finding, OTHER_ID, SSN};
use crate::number::{Gap, Numbers};
use crate::text::{before, byte, byte_before, ends_with, has, is_word};

const LABELS: &[&str] = &[
    "ssn",
    "ssn#",
    "ss#",
    "ss #",
    "ss",
    "social security",
    "social",
    "soc sec",
    "socsec",
];

pub fn find(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let text = numbers.text;
    let start = numbers.group(at).start;
    let is_labelled = || has(before(text, start), LABELS);
    // `999-99-9999`: as a form shows how one is written, or has none.
    let is_template = numbers.has_lengths(at, &[3, 2, 4])
        && [(at, 999), (at + 1, 99), (at + 2, 9999)]
            .iter()
            .all(|(at, nines)| numbers.value(*at) == Some(*nines));
    if is_template {
        return None;
    }
    if numbers.has_lengths(at, &[3, 2, 4])
        && stands_alone(numbers, at, at + 2)
        && let Some(found) = dashed(numbers, at, is_labelled)
    {
        return Some(found);
    }
    if let Some(end) = divided_end(numbers, at) {
        return Some(Finding::new(SSN, start, end, SLIP_SCORE).contextual());
    }
    // `219 099 999`, as it is read out.
    let is_read_out = numbers.has_lengths(at, &[3, 3, 3])
        && matches!(numbers.gap(at), Gap::Space | Gap::Dash)
        && numbers.gap(at + 1) == numbers.gap(at);
    let is_said = || is_labelled() || is_canadian(numbers, at);
    if is_read_out && stands_alone(numbers, at, at + 2) && is_said() {
        let end = numbers.group(at + 2).end;
        return Some(Finding::new(SSN, start, end, SLIP_SCORE).contextual());
    }
    if !stands_alone(numbers, at, at) {
        return masked(numbers, at);
    }
    let found = |score: u16| Finding::new(SSN, start, numbers.group(at).end, score).contextual();
    match numbers.group(at).len() {
        9 if is_labelled() => {
            let value = numbers.value(at)?;
            let is_valid = is_valid(value / 1_000_000, value / 10_000 % 100, value % 10_000);
            Some(found(if is_valid { 850 } else { SLIP_SCORE }))
        }
        4 if is_labelled() && is_last_four(text, start) => Some(found(800)),
        4 => masked(numbers, at),
        _ => None,
    }
}

/// Of a number that is said to be one and cannot be: somebody's with a slip of the pen, or a taxpayer's.
const SLIP_SCORE: u16 = 800;

/// Where nine digits end right behind their label that are divided otherwise: `536-228890`, `536/22/8890`.
fn divided_end(numbers: &Numbers<'_>, at: usize) -> Option<usize> {
    const GROUPS: [&[usize]; 3] = [&[3, 2, 4], &[3, 6], &[5, 4]];
    let (text, start) = (numbers.text, numbers.group(at).start);
    if !matches!(numbers.group(at).len(), 3 | 5) || is_word(byte_before(text, start)) {
        return None;
    }
    let mut lengths = [0; 4];
    let mut end = start;
    let mut groups = 0;
    for slot in &mut lengths {
        let rest = text.get(end..)?;
        *slot = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (end, groups) = (end + *slot, groups + 1);
        let goes_on = b"-/,:.".contains(&byte(text, end)) && byte(text, end + 1).is_ascii_digit();
        if !goes_on {
            break;
        }
        end += 1;
    }
    let is_whole = GROUPS.contains(&lengths.get(..groups)?) && !is_word(byte(text, end));
    (is_whole && is_right_behind(text, start)).then_some(end)
}

/// Whether nothing but a sign or a small word stands between a label and the number.
fn is_right_behind(text: &[u8], start: usize) -> bool {
    let mut head = before(text, start);
    loop {
        let rest = head.trim_ascii_end();
        let rest = rest.strip_suffix(b":").unwrap_or(rest);
        let rest = rest.strip_suffix(b"#").unwrap_or(rest).trim_ascii_end();
        let rest = rest.strip_suffix(b"=").unwrap_or(rest);
        let word = ["is", "number", "no", "no.", "was"]
            .iter()
            .find(|word| ends_with(rest, &[word]));
        head = match word {
            Some(word) => rest.get(..rest.len() - word.len()).unwrap_or_default(),
            None => return ends_with(rest, LABELS),
        };
    }
}

/// Three, two and four digits.
fn dashed(numbers: &Numbers<'_>, at: usize, is_labelled: impl Fn() -> bool) -> Option<Finding> {
    let score = match (numbers.gap(at), numbers.gap(at + 1)) {
        (Gap::Dash, Gap::Dash) => 950,
        (Gap::Dot, Gap::Dot) | (Gap::Space, Gap::Space) => 700,
        (Gap::Wide, Gap::Wide) if is_labelled() => 800,
        _ => return None,
    };
    let (area, group, serial) = (
        numbers.value(at)?,
        numbers.value(at + 1)?,
        numbers.value(at + 2)?,
    );
    let (start, end) = (numbers.group(at).start, numbers.group(at + 2).end);
    if is_valid(area, group, serial) {
        return Some(Finding::new(SSN, start, end, score));
    }
    if is_labelled() {
        return Some(Finding::new(SSN, start, end, SLIP_SCORE).contextual());
    }
    is_taxpayer(area, group).then_some(Finding::new(OTHER_ID, start, end, 700))
}

/// As [`Numbers::stands_alone`], also where a label is glued to the number: `ssn_536-22-8714`, `ssn536228714`.
fn stands_alone(numbers: &Numbers<'_>, from: usize, to: usize) -> bool {
    let head = before(numbers.text, numbers.group(from).start);
    let head = head.strip_suffix(b"_").unwrap_or(head);
    let is_glued_label = head
        .last_chunk::<3>()
        .is_some_and(|label| label.eq_ignore_ascii_case(b"ssn"));
    if is_glued_label {
        let tail = byte(numbers.text, numbers.group(to).end);
        return numbers.stands_alone_after(to) && !is_word(tail);
    }
    numbers.stands_alone(from, to)
}

/// `SIN 046 454 286`, whose digits check each other (Luhn).
fn is_canadian(numbers: &Numbers<'_>, at: usize) -> bool {
    let (text, start) = (numbers.text, numbers.group(at).start);
    let code = text
        .get(start..numbers.group(at + 2).end)
        .unwrap_or_default();
    let mut digits = [0; 9];
    let found = code.iter().filter(|byte| byte.is_ascii_digit());
    for (slot, digit) in digits.iter_mut().zip(found) {
        *slot = digit - b'0';
    }
    has(before(text, start), &["sin", "social insurance"]) && super::card::luhn(&digits)
}

/// What says that four digits are the end of a number.
const LAST_FOUR: &[&str] = &[
    "last 4",
    "last4",
    "last four",
    "lastfour",
    "last-4",
    "last_4",
    "ending in",
    "ending",
    "ends",
];

/// `the last four digits of your social security number: 1234`.
fn is_last_four(text: &[u8], start: usize) -> bool {
    /// More words stand between than near a label.
    const BYTES: usize = 80;
    let before = text.get(start.saturating_sub(BYTES)..start);
    has(before.unwrap_or_default(), LAST_FOUR)
}

/// The digits of `xxx-xx-1234` and `***-**-1234`.
fn masked(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let group = numbers.group(at);
    let head = numbers.text.get(group.start.checked_sub(7)?..group.start)?;
    let is_masked = matches!(head, [a, b, c, b'-', d, e, b'-'] if [a, b, c, d, e].iter().all(|byte| b"xX*".contains(byte)));
    let stands_alone = group.len() == 4 && !byte_before(head, 0).is_ascii_alphanumeric();
    (is_masked && stands_alone)
        .then_some(Finding::new(SSN, group.start, group.end, 850).contextual())
}

/// `S36-22-889O`, `536-2Z-8890`: a number that was read from paper, some digits as letters that look like them.
pub fn find_misread(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    /// Characters of a number with its dashes, and the least of its digits that were read right.
    const BYTES: usize = 11;
    const LEAST_DIGITS: usize = 6;
    let code = text
        .get(start..start + BYTES)
        .filter(|_| end == start + 3)?;
    let mut digits = 0;
    let fits = code.iter().enumerate().all(|(at, byte)| {
        digits += usize::from(byte.is_ascii_digit());
        match at {
            3 | 6 => *byte == b'-',
            _ => byte.is_ascii_digit() || b"OoQDlIiSsZzBGg".contains(byte),
        }
    });
    let tail = byte(text, start + BYTES);
    // Nine digits are looked at as such.
    (fits && (LEAST_DIGITS..9).contains(&digits) && !is_word(tail) && tail != b'-')
        .then_some(Finding::new(SSN, start, start + BYTES, 750))
}

/// Area not 000, 666 or 900 to 999; group not 00; serial not 0000 (Social Security Administration).
const fn is_valid(area: u32, group: u32, serial: u32) -> bool {
    area != 0 && area != 666 && area < 900 && group != 0 && serial != 0
}

/// Numbers of taxpayers who have no social security number begin with a 9 (IRS, Publication 1915); the groups in use
/// were widened more than once, so none is left out. They are no social security numbers, whose area never begins with
/// a 9, and name a person all the same: Safe Harbor's other unique identifying numbers.
const fn is_taxpayer(area: u32, group: u32) -> bool {
    900 <= area && area <= 999 && group != 0
}
