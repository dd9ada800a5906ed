//! Telephone numbers of all countries behind a label.

use super::{MAX_BYTES, digit, is_end, space_len};
use crate::kind::{FAX, Finding, PHONE};
use crate::text::{byte, starts};

const DIGITS: std::ops::RangeInclusive<usize> = 6..=15;
/// Digits of a number that another one may follow.
const LEAST_WHOLE: usize = 8;
/// Groups of digits that are looked at.
const MAX_GROUPS: usize = 10;

/// Where the number begins and ends that stands at `start`.
pub(super) fn find(text: &[u8], start: usize) -> Option<(usize, usize)> {
    let first = byte(text, start);
    let has_sign = matches!(first, b'+' | b'(');
    if !has_sign && digit(text, start).is_none() {
        return None;
    }
    let mut at = start + usize::from(has_sign);
    at += usize::from(first == b'(' && byte(text, at) == b'+');
    let mut lengths = [0; MAX_GROUPS];
    let (mut groups, mut digits, mut end) = (0, 0, start);
    // Where a number ended that may be whole.
    let mut whole = None;
    while at < start + MAX_BYTES {
        let mut len = 0;
        while let Some((_, bytes)) = digit(text, at) {
            (at, len) = (at + bytes, len + 1);
        }
        if len == 0 {
            break;
        }
        if digits + len > *DIGITS.end() {
            (groups, digits, end) = whole.unwrap_or((groups, digits, end));
            break;
        }
        *lengths.get_mut(groups)? = len;
        (groups, digits, end) = (groups + 1, digits + len, at);
        at += gap_len(text, at);
        let gap = text.get(end..at).unwrap_or_default();
        if digits >= LEAST_WHOLE && (gap.contains(&b'/') || gap == b" - ") {
            whole = Some((groups, digits, end));
        }
        if at == end {
            break;
        }
    }
    let is_number = DIGITS.contains(&digits) && is_end(text, end);
    // `Tel.: 08.00-16.00`, `Tel.: 12.03.2024`
    let lengths = lengths.get(..groups)?;
    let is_time = |sign: u8| {
        lengths == [2, 2, 2, 2] && byte(text, start + 2) == sign && byte(text, start + 8) == sign
    };
    let is_day = matches!(lengths, [1 | 2, 1 | 2, 4] | [4, 1 | 2, 1 | 2]);
    // `GSM: 850/900/1800`
    let said = text.get(start..end).unwrap_or_default();
    let is_choice = groups > 1
        && lengths.iter().all(|len| *len <= 4)
        && said
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'/');
    // `2020-2024`, `1.200.000`, `10.0.0.12`
    let mut years = said.split(|byte| !byte.is_ascii_digit());
    let is_years = matches!(lengths, [4, 4])
        && years.all(|year| year.starts_with(b"19") || year.starts_with(b"20"));
    let is_dotted = groups > 1
        && said
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let is_thousands =
        first != b'0' && matches!(lengths, [1..=3, rest @ ..] if rest.iter().all(|len| *len == 3));
    let is_address = groups == 4 && digits < 8;
    let is_other = is_choice || is_years || is_dotted && (is_thousands || is_address);
    let is_hours = is_time(b'.') && matches!(byte(text, start + 5), b'-' | b' ');
    (is_number && !is_hours && !is_day && !is_other).then_some((start, end))
}

/// The next number of a list: `0221 5558123, 0171 5558124`, `… oder …`.
pub(super) fn next(text: &[u8], last: &Finding) -> Option<Finding> {
    const SIGNS: [&str; 26] = [
        " - ", " – ", " y ", " e ", " en ", " i ", " und ", " et ", " u. ", " o. ", " / ",
        " oder ", " ou ", " o ", " of ", " lub ", " veya ", " eller ", " или ", " або ", "; ",
        ", ", "、", "，", "/", ",",
    ];
    if !matches!(last.kind, PHONE | FAX) {
        return None;
    }
    let rest = text.get(last.end..)?;
    let sign = SIGNS.iter().find(|sign| starts(rest, sign.as_bytes()))?;
    let (start, end) = find(text, last.end + sign.len())?;
    Some(Finding::new(last.kind, start, end, last.score).contextual())
}

/// Bytes between two groups of digits.
fn gap_len(text: &[u8], at: usize) -> usize {
    /// Signs in a row: `) - (`.
    const MOST: usize = 4;
    let mut len = 0;
    for _ in 0..MOST {
        let here = at + len;
        len += match byte(text, here) {
            b'-' | b'.' | b'/' | b'(' | b')' => 1,
            // Hyphens and the short dash.
            0xe2 if matches!(text.get(here..here + 3), Some([_, 0x80, 0x90..=0x93])) => 3,
            _ => space_len(text, here),
        };
        if digit(text, at + len).is_some() {
            return len;
        }
    }
    0
}
