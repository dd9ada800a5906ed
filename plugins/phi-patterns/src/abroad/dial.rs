//! Telephone numbers of all countries behind a label.

use super::{MAX_BYTES, digit, is_end, space_len};
use crate::kind::{FAX, Finding, PHONE};
use crate::text::{byte, starts};

const DIGITS: std::ops::RangeInclusive<usize> = 6..=15;
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
    while at < start + MAX_BYTES {
        let mut len = 0;
        while let Some((_, bytes)) = digit(text, at) {
            (at, len) = (at + bytes, len + 1);
        }
        if len == 0 || digits + len > *DIGITS.end() {
            break;
        }
        *lengths.get_mut(groups)? = len;
        (groups, digits, end) = (groups + 1, digits + len, at);
        at += gap_len(text, at);
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
    let is_choice = groups > 2
        && said
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'/');
    let is_hours = is_time(b'.') && matches!(byte(text, start + 5), b'-' | b' ');
    (is_number && !is_hours && !is_day && !is_choice).then_some((start, end))
}

/// The next number of a list: `0221 5558123, 0171 5558124`, `… oder …`.
pub(super) fn next(text: &[u8], last: &Finding) -> Option<Finding> {
    const SIGNS: [&str; 16] = [
        " / ", " oder ", " ou ", " o ", " of ", " lub ", " veya ", " eller ", " или ", " або ",
        "; ", ", ", "、", "，", "/", ",",
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
