//! Licences with a check digit: DEA registrations by themselves, provider identifiers (NPI) where a label says so.

use super::card::luhn;
use super::{Finding, LICENSE_NUMBER};

/// First letters of registrants (21 CFR 1301, DEA number assignment).
const REGISTRANTS: &[u8] = b"ABCDEFGHJKLMPRSTUX";

/// Two letters (the second may be a 9), seven digits: (d1+d3+d5) + 2 (d2+d4+d6) ends with d7.
pub fn find_dea(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    let [first, second, digits @ ..] = text.get(start..end).filter(|code| code.len() == 9)? else {
        return None;
    };
    let is_shape = REGISTRANTS.contains(&first.to_ascii_uppercase())
        && (second.is_ascii_alphabetic() || *second == b'9')
        && digits.iter().all(u8::is_ascii_digit);
    if !is_shape {
        return None;
    }
    let mut value = digits.iter().map(|digit| u32::from(digit - b'0'));
    let mut next = || value.next().unwrap_or_default();
    let (d1, d2, d3, d4, d5, d6, d7) = (next(), next(), next(), next(), next(), next(), next());
    ((d1 + d3 + d5 + 2 * (d2 + d4 + d6)) % 10 == d7)
        .then_some(Finding::new(LICENSE_NUMBER, start, end, 850).verified())
}

/// Ten digits, first 1 or 2, Luhn with 80840 before them (45 CFR 162.406).
pub fn is_npi(digits: &[u8]) -> bool {
    let mut prefixed = [8, 0, 8, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    if digits.len() != 10 || !matches!(digits.first(), Some(b'1' | b'2')) {
        return false;
    }
    for (slot, digit) in prefixed.iter_mut().skip(5).zip(digits) {
        *slot = digit.wrapping_sub(b'0');
    }
    digits.iter().all(u8::is_ascii_digit) && luhn(&prefixed)
}
