//! Numbers in groups behind their label, and those in brackets behind a name.

use super::super::{Finding, MRN};
use super::{BEHIND_SCORE, digits_len};
use crate::number::Numbers;
use crate::text::{begins_with, byte, byte_before, is_word};
use crate::trigger::Form;

/// Where a number ends whose digits stand in groups as they were heard: `9 2281 0047 1`, `447 188 2`. More groups than
/// a code has, or one that is shorter than any other number behind a code; counts and dates are words apart.
pub(super) fn read_out(text: &[u8], start: usize, form: Form, may_count: bool) -> Option<usize> {
    const MAX_GROUP: usize = 5;
    const MAX_GROUPS: usize = 6;
    const ALL: std::ops::RangeInclusive<usize> = 6..=16;
    if !matches!(form, Form::Code | Form::Mixed | Form::Distinct) {
        return None;
    }
    if let Some(end) = australian_end(text, start) {
        return Some(end);
    }
    let (mut end, mut all, mut groups) = (start, 0, 0);
    let (mut is_uncommon, mut has_year) = (false, false);
    let mut last = 0;
    while groups < MAX_GROUPS {
        let from = end + usize::from(groups > 0);
        let digits = digits_len(text, from);
        if !(1..=MAX_GROUP).contains(&digits) || digits == 5 && groups > 0 {
            break;
        }
        let tail = byte(text, from + digits);
        let is_other = is_word(tail)
            || b"/%:-".contains(&tail)
            || tail == b'.' && byte(text, from + digits + 1).is_ascii_digit();
        // `MRN 448 102 on 3/4`: what has a sign of its own begins something else.
        if is_other {
            break;
        }
        let is_year = digits == 4
            && matches!(
                (byte(text, from), byte(text, from + 1)),
                (b'1', b'9') | (b'2', b'0')
            );
        // `4471`, `0099`, `12 345 6`: as few counts and measures look.
        is_uncommon |= digits == 4 || byte(text, from) == b'0' || groups > 1 && digits < last;
        has_year |= is_year;
        last = digits;
        (end, all, groups) = (from + digits, all + digits, groups + 1);
        if byte(text, end) != b' ' {
            break;
        }
    }
    let first = digits_len(text, start);
    // What is counted stands behind: `case 4471 22 patients`.
    let behind = text.get(end..).unwrap_or_default();
    let goes_on = matches!(behind, [b' ', next, ..] if next.is_ascii_lowercase())
        && !begins_with(behind, BEHIND_NUMBERS);
    // Two groups are a number only where they look like halves of one.
    let is_code = match groups {
        2 => {
            let second = all - first;
            let is_half = (3..=4).contains(&first) || first == 5 && byte(text, start) == b'0';
            is_half && (3..=4).contains(&second) && form != Form::Distinct
        }
        0 | 1 => false,
        _ => true,
    };
    // `1 2 3 4 5 6 7` goes on as a series does.
    let is_series =
        groups == MAX_GROUPS && byte(text, end) == b' ' && digits_len(text, end + 1) > 0;
    let is_count = is_series || has_year || may_count && !is_uncommon || all < 2 * groups;
    (is_code && !goes_on && !is_count && ALL.contains(&all)).then_some(end)
}

/// `2953 14621 7`: the number of a Medicare card of Australia.
fn australian_end(text: &[u8], start: usize) -> Option<usize> {
    const GROUPS: [usize; 3] = [4, 5, 1];
    let mut end = start;
    for (at, digits) in GROUPS.iter().enumerate() {
        end += usize::from(at > 0 && byte(text, end) == b' ');
        if digits_len(text, end) != *digits {
            return None;
        }
        end += digits;
    }
    (!is_word(byte(text, end))).then_some(end)
}

/// What may go on behind a number in small letters.
const BEHIND_NUMBERS: &[&str] = &[
    "on", "is", "was", "for", "and", "with", "at", "in", "from", "per", "to", "ends", "open",
    "closed", "dob", "exp", "here", "has", "as", "but", "or", "he", "she", "pls", "please", "room",
    "rm", "came", "says", "said", "not", "that",
];

/// Where a number ends that is said in groups: `MRN: 44 71 223`.
pub(super) fn groups_end(text: &[u8], start: usize, form: Form) -> Option<usize> {
    /// Digits of a group, and of all of them.
    const GROUP: std::ops::RangeInclusive<usize> = 2..=3;
    const ALL: std::ops::RangeInclusive<usize> = 6..=12;
    let mut end = start;
    let (mut all, mut groups) = (0, 0);
    loop {
        let digits = digits_len(text, end);
        if !GROUP.contains(&digits) {
            return None;
        }
        (all, groups, end) = (all + digits, groups + 1, end + digits);
        if !matches!(byte(text, end), b' ' | b'-') || !byte(text, end + 1).is_ascii_digit() {
            break;
        }
        end += 1;
    }
    // Two are a measure and another one, a slash a date or a pressure.
    let is_number = matches!(form, Form::Code | Form::Mixed | Form::Distinct)
        && groups > 2
        && ALL.contains(&all);
    let tail = byte(text, end);
    (is_number && !is_word(tail) && !matches!(tail, b'/' | b'%')).then_some(end)
}

/// `SZABO,ILONA M (8817201)`: in brackets behind a name as lists have it.
pub(super) fn in_brackets(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    const DIGITS: std::ops::RangeInclusive<usize> = 6..=10;
    /// Bytes of a name.
    const NAME_BYTES: usize = 48;
    let (text, group) = (numbers.text, numbers.group(at));
    if !DIGITS.contains(&group.len())
        || byte_before(text, group.start) != b'('
        || byte(text, group.end) != b')'
    {
        return None;
    }
    let head = text.get(group.start.saturating_sub(NAME_BYTES)..group.start - 1)?;
    let head = head.strip_suffix(b" ")?;
    let is_part = |byte: &u8| byte.is_ascii_uppercase() || *byte >= 0x80 || b"-'".contains(byte);
    let comma = head.iter().rposition(|byte| *byte == b',')?;
    let given = head.get(comma + 1..)?.trim_ascii_start();
    let family = head
        .get(..comma)?
        .iter()
        .rev()
        .take_while(|byte| is_part(byte))
        .count();
    let mut words = given.split(|byte| *byte == b' ');
    let is_given = words
        .next()
        .is_some_and(|word| word.len() > 1 && word.iter().all(is_part));
    let is_initial = words
        .next()
        .is_none_or(|word| word.len() == 1 && word.iter().all(u8::is_ascii_uppercase));
    let is_name =
        family > 2 && family + given.len() > 6 && is_given && is_initial && words.next().is_none();
    is_name.then_some(Finding::new(MRN, group.start, group.end, BEHIND_SCORE).contextual())
}
