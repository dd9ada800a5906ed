//! Social security numbers: `219-09-9999`, bare or masked ones where the words around say so.

use super::{Finding, OTHER_ID, SSN};
use crate::number::{Gap, Numbers};
use crate::text::{before, byte_before, has};

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
    if numbers.has_lengths(at, &[3, 2, 4]) && numbers.stands_alone(at, at + 2) {
        let score = match (numbers.gap(at), numbers.gap(at + 1)) {
            (Gap::Dash, Gap::Dash) => 950,
            (Gap::Dot, Gap::Dot) | (Gap::Space, Gap::Space) => 700,
            _ => return None,
        };
        let (area, group, serial) = (
            numbers.value(at)?,
            numbers.value(at + 1)?,
            numbers.value(at + 2)?,
        );
        let found =
            |kind: usize, score: u16| Finding::new(kind, start, numbers.group(at + 2).end, score);
        if is_valid(area, group, serial) {
            return Some(found(SSN, score));
        }
        // Said to be one, it is somebody's with a slip of the pen.
        if has(before(text, start), LABELS) {
            return Some(found(SSN, 800).contextual());
        }
        return is_taxpayer(area, group).then(|| found(OTHER_ID, 700));
    }
    if !numbers.stands_alone(at, at) {
        return masked(numbers, at);
    }
    let is_labelled = || has(before(text, start), LABELS);
    match numbers.group(at).len() {
        9 if is_labelled() => {
            let value = numbers.value(at)?;
            let is_valid = is_valid(value / 1_000_000, value / 10_000 % 100, value % 10_000);
            is_valid.then_some(Finding::new(SSN, start, numbers.group(at).end, 850).contextual())
        }
        4 if has(before(text, start), LAST_FOUR) && is_labelled() => {
            Some(Finding::new(SSN, start, numbers.group(at).end, 800).contextual())
        }
        4 => masked(numbers, at),
        _ => None,
    }
}

const LAST_FOUR: &[&str] = &[
    "last 4",
    "last four",
    "last-4",
    "ending in",
    "ending",
    "ends in",
    "ends with",
];

/// The digits of `xxx-xx-1234` and `***-**-1234`.
fn masked(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let group = numbers.group(at);
    let head = numbers.text.get(group.start.checked_sub(7)?..group.start)?;
    let is_masked = matches!(head, [a, b, c, b'-', d, e, b'-'] if [a, b, c, d, e].iter().all(|byte| b"xX*".contains(byte)));
    let stands_alone = group.len() == 4 && !byte_before(head, 0).is_ascii_alphanumeric();
    (is_masked && stands_alone)
        .then_some(Finding::new(SSN, group.start, group.end, 850).contextual())
}

/// Area not 000, 666 or 900 to 999; group not 00; serial not 0000 (Social Security Administration).
const fn is_valid(area: u32, group: u32, serial: u32) -> bool {
    area != 0 && area != 666 && area < 900 && group != 0 && serial != 0
}

/// Numbers of taxpayers who have no social security number begin with a 9 (IRS, Publication 1915); the groups in use
/// were widened more than once, so none is left out.
const fn is_taxpayer(area: u32, group: u32) -> bool {
    900 <= area && area <= 999 && group != 0
}
