//! The line above a chart that says who it is of: `Smith, John | 02/03/1944 | M | 3384712`. Nothing labels it; a day of
//! birth and a sex beside a number say what the number is.

use super::hl7::{segment_name, wrap_len};
use super::{Visit, trimmed};
use crate::chunk;
use crate::text::{byte, is_word};

/// Cells of a line that is looked at; longer ones are of tables.
const MAX_CELLS: usize = 10;
/// Bytes of the longest line.
const MAX_BYTES: usize = 200;
/// Digits of a number in a chart.
const DIGITS: std::ops::RangeInclusive<usize> = 5..=10;

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(pipe) = chunk::next_of(text, at, [b'|']) {
        at = pipe + 1;
        // Where no sex stands, no line is looked at.
        let cell = at + usize::from(byte(text, at) == b' ');
        if !matches!(byte(text, cell), b'M' | b'F' | b'm' | b'f') {
            continue;
        }
        let from = pipe.saturating_sub(MAX_BYTES);
        let head = text.get(from..pipe).unwrap_or_default();
        let start = head
            .iter()
            .rposition(|byte| matches!(byte, b'\n' | b'\r'))
            .map_or(from, |line| from + line + 1);
        let end = chunk::next_of(text, pipe, [b'\n', b'\r']).unwrap_or(text.len());
        at = end;
        if end - start <= MAX_BYTES && segment_name(text, start + wrap_len(text, start)).is_none() {
            line(text, start, end, visit);
        }
    }
}

fn line(text: &[u8], start: usize, end: usize, visit: &mut Visit<'_>) {
    let (mut name, mut number) = (None, None);
    let (mut dates, mut sexes, mut numbers) = (0, 0, 0);
    let mut from = start;
    for _ in 0..MAX_CELLS {
        if from > end {
            break;
        }
        let stop = chunk::next_of(text, from, [b'|']).map_or(end, |pipe| pipe.min(end));
        if let Some(cell) = trimmed(text, from, stop) {
            let said = text.get(cell.0..cell.1).unwrap_or_default();
            if is_sex(said) {
                sexes += 1;
            } else if is_date(said) {
                dates += 1;
            } else if is_number(said) {
                (number, numbers) = (Some(cell), numbers + 1);
            } else if name.is_none() && is_listed_name(said) {
                name = Some(cell);
            }
        }
        from = stop + 1;
    }
    if dates == 0 || sexes != 1 {
        return;
    }
    if let Some((start, end)) = number.filter(|_| numbers == 1) {
        visit(b"mrn", start, end);
    }
    if let Some((start, end)) = name {
        visit(b"patient name", start, end);
    }
}

fn is_sex(cell: &[u8]) -> bool {
    ["m", "f", "male", "female"]
        .iter()
        .any(|sex| cell.eq_ignore_ascii_case(sex.as_bytes()))
}

/// `02/03/1944`, `1944-02-03`, perhaps behind `DOB`.
fn is_date(cell: &[u8]) -> bool {
    /// Digits of `2/3/44` and of `02/03/1944`.
    const DIGITS: std::ops::RangeInclusive<usize> = 4..=8;
    let cell = cell.rsplit(|byte| *byte == b' ').next().unwrap_or(cell);
    let digits = cell.iter().filter(|byte| byte.is_ascii_digit()).count();
    let signs = cell.iter().filter(|byte| b"/-.".contains(byte)).count();
    DIGITS.contains(&digits) && signs == 2 && digits + signs == cell.len()
}

/// Digits, perhaps with a few capitals before them.
fn is_number(cell: &[u8]) -> bool {
    /// Letters before the digits.
    const MAX_PREFIX: usize = 3;
    let prefix = cell
        .iter()
        .take_while(|byte| byte.is_ascii_uppercase())
        .count();
    let digits = cell.get(prefix..).unwrap_or_default();
    prefix <= MAX_PREFIX && DIGITS.contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
}

/// `Smith, John A`: family name, comma, given names, all with a capital.
fn is_listed_name(cell: &[u8]) -> bool {
    let mut words = cell
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    let has_comma = cell.iter().filter(|byte| **byte == b',').count() == 1;
    has_comma
        && words.clone().count() <= 4
        && words.all(|word| {
            (byte(word, 0).is_ascii_uppercase() || byte(word, 0) >= 0x80)
                && word
                    .iter()
                    .all(|byte| is_word(*byte) && !byte.is_ascii_digit() || b",.'-".contains(byte))
        })
}
