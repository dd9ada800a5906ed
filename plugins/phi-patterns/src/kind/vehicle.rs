//! Vehicle identification numbers: seventeen characters whose ninth checks the others (49 CFR 565.15).

use super::{Finding, VEHICLE_ID};

const LENGTH: usize = 17;
/// Weight of each position; the check digit itself has none.
const WEIGHTS: [u32; LENGTH] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
/// Values of `A` to `Z`; 0 for I, O and Q, which do not occur.
const VALUES: [u32; 26] = [
    1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 0, 7, 0, 9, 2, 3, 4, 5, 6, 7, 8, 9,
];

pub fn find(text: &[u8], start: usize, end: usize) -> Option<Finding> {
    let code = text.get(start..end).filter(|code| code.len() == LENGTH)?;
    let digits = code.iter().filter(|byte| byte.is_ascii_digit()).count();
    // A number of seventeen digits and a word of seventeen letters are none.
    if !(4..=15).contains(&digits) {
        return None;
    }
    let mut sum = 0;
    for (byte, weight) in code.iter().zip(WEIGHTS) {
        let value = match byte.to_ascii_uppercase() {
            digit @ b'0'..=b'9' => u32::from(digit - b'0'),
            letter => match VALUES.get(usize::from(letter.checked_sub(b'A')?)) {
                Some(0) | None => return None,
                Some(value) => *value,
            },
        };
        sum += value * weight;
    }
    let check = match sum % 11 {
        10 => b'X',
        digit => b'0' + u8::try_from(digit).ok()?,
    };
    code.get(8)?
        .eq_ignore_ascii_case(&check)
        .then_some(Finding::new(VEHICLE_ID, start, end, 900).verified())
}
