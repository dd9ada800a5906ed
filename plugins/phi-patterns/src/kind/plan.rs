//! Medicare beneficiary identifiers: eleven characters in a fixed order of letters and digits, perhaps with dashes
//! or spaces behind the fourth and the seventh (CMS, Medicare Beneficiary Identifier format).

use super::{Finding, HEALTH_PLAN_ID};
use crate::text::{byte, is_word};

const LENGTH: usize = 11;
/// `9` a digit from 1, `0` a digit, `A` a letter, `X` either.
const FORMAT: &[u8; LENGTH] = b"9AX0AX0AA00";

pub fn find(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    if !matches!(end - start, LENGTH | 4) {
        return None;
    }
    let mut at = start;
    for (index, expected) in FORMAT.iter().enumerate() {
        if matches!(index, 4 | 7) && end - start == 4 {
            if !matches!(byte(text, at), b'-' | b' ') {
                return None;
            }
            at += 1;
        }
        let found = byte(text, at).to_ascii_uppercase();
        let is_letter = found.is_ascii_uppercase() && !b"SLOIBZ".contains(&found);
        let fits = match expected {
            b'9' => matches!(found, b'1'..=b'9'),
            b'0' => found.is_ascii_digit(),
            b'A' => is_letter,
            _ => is_letter || found.is_ascii_digit(),
        };
        if !fits {
            return None;
        }
        at += 1;
    }
    let tail = byte(text, at);
    (!is_word(tail) && tail != b'-')
        .then_some(Finding::new(HEALTH_PLAN_ID, start, at, 900).verified())
}
