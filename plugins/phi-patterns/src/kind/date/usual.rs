//! Days without a year behind usual words, in series and behind values: `recheck INR 3/19`, `doses 7/8, 7/15`,
//! `K 4.1 (3/12)`.

use super::{is_day, is_month};
use crate::number::Numbers;
use crate::text::{before, begins_with, byte, byte_before, has, is_word};

/// What is done on a day, told less surely than by the words of `said`: no part of something may stand with it.
const TOLD: &[&str] = &[
    "recheck",
    "rechecked",
    "repeat",
    "repeated",
    "spoke",
    "starts",
    "start",
    "no show",
    "discussed",
    "reviewed",
    "stitches out",
    "sutures out",
    "staples out",
    "rec'd",
    "recd",
    "rep'd",
    "resched",
    "talked",
    "left vm",
    "lvm",
    "eval",
    "evaluated",
    "screened",
    "assessed",
    "injection",
    "inj",
    "swap",
    "swapped",
    "scope",
    "scoped",
    "left with",
    "left at",
    "dropped off",
    "picked up",
    "handed in",
    "handed over",
];

pub(super) fn is_told(numbers: &Numbers<'_>, at: usize, clause: &[u8], behind: &[u8]) -> bool {
    let is_end = matches!(
        byte(behind, 0),
        0 | b'.' | b',' | b';' | b')' | b'\n' | b'\r'
    ) || begins_with(
        behind,
        &[
            "re", "re:", "w", "w/", "by", "with", "at", "for", "and", "@", "-", "|",
        ],
    );
    is_end && !is_part(numbers, at) && has(clause, TOLD)
}

/// `1/2`, `3/4`, `7/10`: a part of something, or a score.
pub(super) fn is_part(numbers: &Numbers<'_>, at: usize) -> bool {
    let (Some(first), Some(second)) = (numbers.value(at), numbers.value(at + 1)) else {
        return true;
    };
    first <= second && (second < 9 || second == 10 && first != 4)
}

/// `4/3`, `2/27`: more than the whole, or of no scale in use.
pub(super) fn is_no_score(numbers: &Numbers<'_>, at: usize) -> bool {
    let (Some(first), Some(second)) = (numbers.value(at), numbers.value(at + 1)) else {
        return false;
    };
    first > second || second > 12 && !matches!(second, 15 | 20 | 30)
}

/// `7/8, 7/15, 7/22`, `4/3 2.1, 4/10 3.4`: days of one month or of the next one beside each other.
pub(super) fn is_series(numbers: &Numbers<'_>, at: usize) -> bool {
    let text = numbers.text;
    let (Some(month), Some(day)) = (numbers.value(at), numbers.value(at + 1)) else {
        return false;
    };
    let follows = |first: (u32, u32), second: (u32, u32), has_value: bool| {
        let is_sure = first.1.max(second.1) > 12 && first.1 != second.1;
        // `3/1 182, 3/2 160`: a value for each day.
        let is_diary = has_value && first.1 + 1 == second.1;
        first.0 == second.0 && first.0 > 1 && first.1 < second.1 && (second.1 >= 8 || is_diary)
            || first.0 + 1 == second.0 && is_sure && second.1 < first.1
    };
    let next = pair_after(text, numbers.group(at + 1).end);
    let last = pair_before(text, numbers.group(at).start);
    next.is_some_and(|(next, has_value)| follows((month, day), next, has_value))
        || last.is_some_and(|(last, has_value)| follows(last, (month, day), has_value))
}

/// Bytes of a value between two days, and of the days.
const MAX_BYTES: usize = 16;

/// The day behind the comma at `end`, a value before it passed over, and whether there is such a value of more than one
/// digit.
fn pair_after(text: &[u8], end: usize) -> Option<((u32, u32), bool)> {
    let rest = text.get(end..text.len().min(end + MAX_BYTES))?;
    let value = rest.strip_prefix(b" ").map_or(0, |value| {
        1 + value
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
            .count()
    });
    let rest = if value > 1 { rest.get(value..)? } else { rest };
    let rest = [&b", "[..], b" and ", b","]
        .iter()
        .find_map(|sign| rest.strip_prefix(*sign))?;
    let (month, rest) = number(rest)?;
    let (day, rest) = number(rest.strip_prefix(b"/")?)?;
    let is_whole = !is_word(byte(rest, 0)) && byte(rest, 0) != b'/';
    (is_whole && is_month(month) && is_day(day)).then_some(((month, day), value > 2))
}

/// As [`pair_after`], the day before `start`.
fn pair_before(text: &[u8], start: usize) -> Option<((u32, u32), bool)> {
    let head = text.get(start.saturating_sub(MAX_BYTES)..start)?;
    let head = [&b", "[..], b" and ", b","]
        .iter()
        .find_map(|sign| head.strip_suffix(*sign))?;
    let from = head
        .iter()
        .rposition(|byte| *byte == b'/')
        .and_then(|slash| {
            let digits = head
                .get(..slash)?
                .iter()
                .rev()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            Some(slash - digits)
        })?;
    let lead = byte_before(head, from);
    let (month, rest) = number(head.get(from..)?)?;
    let (day, rest) = number(rest.strip_prefix(b"/")?)?;
    let is_value = rest.strip_prefix(b" ").is_some_and(|value| {
        !value.is_empty()
            && value
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    });
    let is_whole = (rest.is_empty() || is_value) && !is_word(lead) && lead != b'/';
    let has_value = is_value && rest.len() > 2;
    (is_whole && is_month(month) && is_day(day)).then_some(((month, day), has_value))
}

/// The two numbers of `8/10` that `text` begins with.
pub(super) fn pair(text: &[u8]) -> Option<(u32, u32)> {
    let (first, rest) = number(text)?;
    let (second, rest) = number(rest.strip_prefix(b"/")?)?;
    (!is_word(byte(rest, 0)) && byte(rest, 0) != b'/').then_some((first, second))
}

/// A number of one or two digits, and what is behind it.
fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = text.get(..digits).filter(|_| matches!(digits, 1 | 2))?;
    let value = value
        .iter()
        .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
    Some((value, text.get(digits..)?))
}

/// `K 4.1 (3/12)`, `Na 131 (4/3)`: in brackets behind the value of a laboratory. Parts of a hundred are told so too.
pub(super) fn is_of_value(numbers: &Numbers<'_>, at: usize, near: &[u8]) -> bool {
    let is_closed = byte(numbers.text, numbers.group(at + 1).end) == b')';
    let Some(head) = near.strip_suffix(b" (").filter(|_| is_closed) else {
        return false;
    };
    let len = head
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    let value = head.get(head.len() - len..).unwrap_or_default();
    let whole = value
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let is_small = (1..=2).contains(&whole)
        && whole < len
        && byte(value, 0) != b'0'
        && (whole == 1 || byte(value, 0) == b'1');
    let is_great = whole == len && whole == 3;
    (is_small || is_great) && !is_part(numbers, at)
}

/// `0830 2/27`: behind a time of day.
pub(super) fn is_behind_time(numbers: &Numbers<'_>, at: usize, near: &[u8]) -> bool {
    let Some(head) = near.strip_suffix(b" ") else {
        return false;
    };
    let is_time = matches!(
        head,
        [.., b'0'..=b'1', b'0'..=b'9', b'0'..=b'5', b'0'..=b'9']
            | [.., b'2', b'0'..=b'3', b'0'..=b'5', b'0'..=b'9']
    );
    let lead = byte_before(
        before(head, head.len()),
        head.len().min(40).saturating_sub(4),
    );
    is_time
        && !is_word(lead)
        && lead != b'.'
        && is_no_score(numbers, at)
        && numbers.value(at + 1) > Some(12)
}
