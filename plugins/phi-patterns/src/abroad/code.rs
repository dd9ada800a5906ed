//! Numbers of persons, plans, accounts and things as other countries write them, behind a label.

use phi_text::abroad::Means;

use super::{MAX_BYTES, digit, is_end, space_len};
use crate::text::{byte, starts};

/// Groups apart by spaces.
const MAX_GROUPS: usize = 9;

/// What a number has.
#[derive(Default)]
struct Count {
    digits: usize,
    capitals: usize,
    small: usize,
    signs: usize,
}

impl Count {
    /// Over the letters, the digits and the signs between them from `at` on; gives where they end.
    fn group(&mut self, text: &[u8], mut at: usize) -> usize {
        loop {
            let here = byte(text, at);
            if let Some((_, bytes)) = digit(text, at) {
                self.digits += 1;
                at += bytes;
            } else if here.is_ascii_uppercase() {
                self.capitals += 1;
                at += 1;
            } else if here.is_ascii_lowercase() {
                self.small += 1;
                at += 1;
            } else if matches!(here, b'-' | b'.' | b'/')
                && (byte(text, at + 1).is_ascii_alphanumeric() || digit(text, at + 1).is_some())
            {
                self.signs += 1;
                at += 1;
            } else {
                return at;
            }
        }
    }

    const fn all(&self) -> usize {
        self.digits + self.capitals + self.small
    }
}

/// Where the number ends that begins at `start`.
pub(super) fn end(text: &[u8], start: usize, means: Means) -> Option<usize> {
    let mut count = Count::default();
    if matches!(byte(text, start), b'-' | b'.' | b'/') {
        return None;
    }
    let first = count.group(text, start);
    // `0x7ffff7d8e740` is a place in memory.
    if first == start || matches!(text.get(start..start + 2), Some(b"0x")) {
        return None;
    }
    let (first_digits, mut end) = (count.digits, first);
    for _ in 1..MAX_GROUPS {
        let space = space_len(text, end);
        let from = end + space;
        let mut group = Count::default();
        let to = group.group(text, from);
        // `A 123456780`, `65 170839 J 003`: capitals alone are few.
        let is_group =
            group.digits > 0 && group.small == 0 || group.all() == 1 && group.capitals == 1;
        let goes_on = space > 0 && is_group && is_end(text, to) && to < start + MAX_BYTES;
        if !goes_on {
            break;
        }
        count.digits += group.digits;
        count.capitals += group.capitals;
        count.signs += group.signs;
        end = to;
    }
    // What a sentence goes on with behind a number is no group of it: `884213 2 Seiten`.
    let is_cut = end > first && is_followed_by_a_word(text, end);
    let is_short = is_cut && first_digits < MIN_WHOLE && count.digits < MIN_APART;
    if is_cut && first_digits >= MIN_WHOLE {
        let mut whole = Count::default();
        end = whole.group(text, start);
        count = whole;
    }
    let code = text.get(start..end)?;
    let fits = fits(&count, means) && is_end(text, end) && !is_amount(text, end);
    (fits && !is_short && !is_other(code)).then_some(end)
}

/// Digits of a first group that may be all.
const MIN_WHOLE: usize = 5;
/// Digits of groups that a word follows.
const MIN_APART: usize = 8;

fn fits(count: &Count, means: Means) -> bool {
    let least = match means {
        Means::Citizen | Means::Account => 6,
        Means::Plan => 5,
        Means::Vehicle => 1,
        _ => 4,
    };
    let letters = count.capitals + count.small;
    if means == Means::Vehicle {
        return count.digits > 0
            && count.capitals > 0
            && count.small == 0
            && (4..=9).contains(&count.all());
    }
    count.digits >= least && count.small <= count.digits && letters <= count.digits + 4
}

/// A year, a day, a version or a number with decimals.
fn is_other(code: &[u8]) -> bool {
    const MAX_PARTS: usize = 4;
    let mut lengths = [0; MAX_PARTS];
    let mut parts = 0;
    for part in code.split(|byte| matches!(byte, b'.' | b'-' | b'/')) {
        let Some(slot) = lengths
            .get_mut(parts)
            .filter(|_| part.iter().all(u8::is_ascii_digit))
        else {
            return false;
        };
        *slot = part.len();
        parts += 1;
    }
    let is_year = matches!(code, [b'1', b'9', _, _] | [b'2', b'0', _, _]);
    // `2020-2024`
    let is_year_at = |at: usize| {
        let head = code.get(at..at + 2);
        matches!(head, Some(b"19" | b"20"))
    };
    let is_range = matches!(lengths.get(..parts), Some([4, 4])) && is_year_at(0) && is_year_at(5);
    // `3.101.1`, but `12.345.678`
    let digits: usize = lengths.iter().sum();
    let is_version = code.contains(&b'.')
        && digits < 7
        && matches!(lengths.get(..parts), Some([1 | 2, rest @ ..])
            if rest.len() > 1 && rest.iter().any(|len| *len != 3));
    // `581103/1234` has a day, and more.
    is_year
        || is_range
        || is_version
        || matches!(
            lengths.get(..parts),
            Some([1 | 2, 1 | 2, 4] | [4, 1 | 2, 1 | 2])
        )
}

/// `1500,00`, `1500 €`: what is paid.
fn is_amount(text: &[u8], end: usize) -> bool {
    const UNITS: [&str; 14] = [
        "eur", "usd", "kr", "zł", "kč", "ft", "lei", "ron", "tl", "€", "$", "₽", "руб", "mg",
    ];
    let rest = text.get(end..).unwrap_or_default();
    let behind = rest.get(1..).unwrap_or_default().iter();
    let decimals = behind.take_while(|byte| byte.is_ascii_digit()).count();
    let is_decimal = byte(rest, 0) == b',' && matches!(decimals, 1 | 2);
    let unit = rest.get(space_len(rest, 0)..).unwrap_or_default();
    is_decimal
        || UNITS
            .iter()
            .any(|known| starts(unit, known.as_bytes()) && is_end(unit, known.len()))
}

fn is_followed_by_a_word(text: &[u8], end: usize) -> bool {
    let space = space_len(text, end);
    let next = byte(text, end + space);
    space > 0 && (next.is_ascii_alphabetic() || next >= 0x80)
}
