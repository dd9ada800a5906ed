//! Tables that are drawn with lines, `│ mrn │ zip │`, as databases and libraries for tables print them: read as those
//! with pipes.

use super::{Visit, lines, table};
use crate::chunk;

/// What every sign of a box (U+2500 to U+257F) is in UTF-8 but for its last byte.
const FIRST: u8 = 0xe2;
const SECONDS: [u8; 2] = [0x94, 0x95];
/// `│`, `┃`, `┆`, `┊` and `║`, which divide cells.
const BARS: [[u8; 3]; 5] = [
    [0xe2, 0x94, 0x82],
    [0xe2, 0x94, 0x83],
    [0xe2, 0x94, 0x86],
    [0xe2, 0x94, 0x8a],
    [0xe2, 0x95, 0x91],
];

/// Visits the cells below their labels.
pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    if !has_bar(text) {
        return;
    }
    // Of the same length, so that places stay what they are.
    let mut plain = text.to_vec();
    let mut at = 0;
    while let Some(sign) = chunk::next_of(text, at, [FIRST]) {
        at = sign + 1;
        let Some([first, second, third]) =
            text.get(sign..sign + 3).and_then(|sign| sign.first_chunk())
        else {
            break;
        };
        if !SECONDS.contains(second) {
            continue;
        }
        let as_written: &[u8; 3] = match BARS.contains(&[*first, *second, *third]) {
            true => b"  |",
            false => b"---",
        };
        if let Some(slot) = plain.get_mut(sign..sign + 3) {
            slot.copy_from_slice(as_written);
        }
    }
    table::each(&plain, visit);
    lines::records(&plain, visit);
}

fn has_bar(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(sign) = chunk::next_of(text, at, [FIRST]) {
        if text
            .get(sign..sign + 3)
            .is_some_and(|sign| BARS.iter().any(|bar| sign == bar))
        {
            return true;
        }
        at = sign + 1;
    }
    false
}
