//! International bank account numbers (ISO 13616): country, check digits, account; together 1 modulo 97.

use super::{ACCOUNT_NUMBER, Finding};
use crate::text::{byte, is_word};

/// Characters of the shortest and the longest number in the registry.
const MIN_LENGTH: usize = 15;
const MAX_LENGTH: usize = 34;

pub fn find_iban(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    let head = text.get(start..start + 4)?;
    let is_head = head.iter().take(2).all(u8::is_ascii_alphabetic)
        && head.iter().skip(2).all(u8::is_ascii_digit)
        && (end - start == 4 || end - start >= MIN_LENGTH);
    if !is_head {
        return None;
    }
    let mut code = [0_u8; MAX_LENGTH];
    let mut len = 0;
    let mut at = start;
    // In one piece, or in groups of four.
    loop {
        let found = byte(text, at);
        if found.is_ascii_alphanumeric() {
            *code.get_mut(len)? = found.to_ascii_uppercase();
            len += 1;
            at += 1;
        } else if found == b' '
            && len.is_multiple_of(4)
            && byte(text, at + 1).is_ascii_alphanumeric()
        {
            // The words of the sentence go on behind the number.
            if len >= MIN_LENGTH && is_valid(code.get(..len)?) {
                break;
            }
            at += 1;
        } else {
            break;
        }
    }
    let fits = len >= MIN_LENGTH && !is_word(byte(text, at)) && is_valid(code.get(..len)?);
    fits.then_some(Finding::new(ACCOUNT_NUMBER, start, at, 950).verified())
}

fn is_valid(code: &[u8]) -> bool {
    let rotated = code.iter().skip(4).chain(code.iter().take(4));
    let rest = rotated.fold(0, |rest, byte| {
        if byte.is_ascii_digit() {
            (rest * 10 + u32::from(byte - b'0')) % 97
        } else {
            (rest * 100 + u32::from(byte - b'A') + 10) % 97
        }
    });
    rest == 1
}
