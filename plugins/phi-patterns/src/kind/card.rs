//! Payment cards: known prefix, right length, Luhn.

use super::{CREDIT_CARD, Finding};
use crate::number::{Gap, Numbers};

/// Digits of the shortest and the longest card number (ISO/IEC 7812).
const MIN_DIGITS: usize = 13;
const MAX_DIGITS: usize = 19;

/// Digits of every group but the last: cards are written 4-4-4-4, 4-6-5 or 4-4-4-4-3.
const LEAST_GROUP: usize = 4;

/// First and last prefix of a range, how many digits a prefix has, and the lengths of its numbers.
struct Issuer {
    prefixes: (u32, u32),
    prefix_digits: usize,
    lengths: &'static [usize],
}

const ISSUERS: [Issuer; 11] = [
    Issuer {
        prefixes: (4, 4),
        prefix_digits: 1,
        lengths: &[13, 16, 19],
    },
    Issuer {
        prefixes: (51, 55),
        prefix_digits: 2,
        lengths: &[16],
    },
    Issuer {
        prefixes: (2221, 2720),
        prefix_digits: 4,
        lengths: &[16],
    },
    Issuer {
        prefixes: (34, 34),
        prefix_digits: 2,
        lengths: &[15],
    },
    Issuer {
        prefixes: (37, 37),
        prefix_digits: 2,
        lengths: &[15],
    },
    Issuer {
        prefixes: (300, 305),
        prefix_digits: 3,
        lengths: &[14, 16, 17, 18, 19],
    },
    Issuer {
        prefixes: (36, 39),
        prefix_digits: 2,
        lengths: &[14, 15, 16, 17, 18, 19],
    },
    Issuer {
        prefixes: (3528, 3589),
        prefix_digits: 4,
        lengths: &[16, 17, 18, 19],
    },
    Issuer {
        prefixes: (62, 62),
        prefix_digits: 2,
        lengths: &[16, 17, 18, 19],
    },
    Issuer {
        prefixes: (6011, 6011),
        prefix_digits: 4,
        lengths: &[16, 17, 18, 19],
    },
    Issuer {
        prefixes: (644, 659),
        prefix_digits: 3,
        lengths: &[16, 17, 18, 19],
    },
];

pub fn find(numbers: &Numbers<'_>, at: usize) -> Option<Finding> {
    let gap = numbers.gap(at);
    let mut digits = [0_u8; MAX_DIGITS];
    let mut count = 0;
    let mut index = at;
    loop {
        let group = numbers.group(index);
        for byte in numbers.text.get(group.start..group.end)? {
            *digits.get_mut(count)? = byte - b'0';
            count += 1;
        }
        let digits = digits.get(..count)?;
        if count >= MIN_DIGITS && numbers.stands_alone(at, index) && is_card(digits) {
            return Some(
                Finding::new(CREDIT_CARD, numbers.group(at).start, group.end, 950).verified(),
            );
        }
        // The groups of a card are all apart by the same sign, and none but the last is short: `376 377 378 379 380` counts.
        let is_short = group.end - group.start < LEAST_GROUP;
        let is_apart = matches!(gap, Gap::Dash | Gap::Space | Gap::Dot | Gap::Wide);
        if is_short || !is_apart || numbers.gap(index) != gap {
            return None;
        }
        index += 1;
    }
}

fn is_card(digits: &[u8]) -> bool {
    let is_known = ISSUERS.iter().any(|issuer| {
        let prefix = digits
            .iter()
            .take(issuer.prefix_digits)
            .fold(0, |value, digit| value * 10 + u32::from(*digit));
        (issuer.prefixes.0..=issuer.prefixes.1).contains(&prefix)
            && issuer.lengths.contains(&digits.len())
    });
    is_known && luhn(digits)
}

pub(super) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match (at % 2, u32::from(*digit)) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}
