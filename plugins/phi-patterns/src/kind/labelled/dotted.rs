//! Numbers with dots between their groups: `MRN 12.345.678`, and the unique identifiers of DICOM. Versions, addresses
//! of networks, dates and amounts are none. Knows no label and no kind.

use super::digits_len;
use crate::text::{byte, is_word};

/// Bytes of the longest unique identifier (DICOM PS3.5, 9.1); dotted numbers are no longer.
const MAX_BYTES: usize = 64;
/// What the standards themselves number: DICOM's classes and syntaxes, HL7's code systems.
const STANDARDS: [&[u8]; 2] = [b"1.2.840.10008.", b"2.16.840.1.113883."];

/// A number of groups with dots between, from its first digit on.
struct Dotted<'t> {
    text: &'t [u8],
    groups: usize,
    digits: usize,
}

impl<'t> Dotted<'t> {
    /// Nothing where only one group, or something else than a number, stands at `start`.
    fn at(text: &'t [u8], start: usize) -> Option<Self> {
        let (mut end, mut groups, mut digits) = (start, 0, 0);
        loop {
            let group = digits_len(text, end);
            (end, groups, digits) = (end + group, groups + 1, digits + group);
            if group == 0 || end - start > MAX_BYTES {
                return None;
            }
            if byte(text, end) != b'.' || !byte(text, end + 1).is_ascii_digit() {
                break;
            }
            end += 1;
        }
        let tail = byte(text, end);
        let text = text.get(start..end)?;
        let is_whole = !is_word(tail) && !matches!(tail, b'_' | b'-' | b'/' | b'%' | b'@');
        (groups > 1 && is_whole && !STANDARDS.iter().any(|root| text.starts_with(root))).then_some(
            Self {
                text,
                groups,
                digits,
            },
        )
    }

    fn lengths(&self) -> impl Iterator<Item = usize> {
        self.text.split(|byte| *byte == b'.').map(<[u8]>::len)
    }
}

/// Where the number of a record ends that begins at `start`.
pub(super) fn record_end(text: &[u8], start: usize) -> Option<usize> {
    /// Digits of the shortest numbers of two, of three, and of more groups.
    const DIGITS: [usize; 3] = [7, 6, 8];
    /// Digits of a group that is none of a version.
    const MIN_GROUP: usize = 3;
    let number = Dotted::at(text, start)?;
    let [pair, triple, more] = DIGITS;
    let fits = match number.groups {
        2 => number.digits >= pair && number.lengths().all(|len| len >= MIN_GROUP),
        3 => number.digits >= triple && number.lengths().skip(1).all(|len| len >= MIN_GROUP),
        4 => number.digits >= more && !is_address(&number),
        _ => number.digits >= more,
    };
    fits.then_some(start + number.text.len())
}

/// Where the unique identifier ends that begins at `start`: at least three groups, the first of which is 0, 1 or 2.
pub(super) fn unique_end(text: &[u8], start: usize) -> Option<usize> {
    const MIN_GROUPS: usize = 3;
    const MIN_DIGITS: usize = 8;
    let number = Dotted::at(text, start)?;
    let fits = number.groups >= MIN_GROUPS
        && number.digits >= MIN_DIGITS
        && matches!(number.text, [b'0'..=b'2', b'.', ..]);
    fits.then_some(start + number.text.len())
}

/// `10.20.30.140`.
fn is_address(number: &Dotted<'_>) -> bool {
    let value = |part: &[u8]| {
        part.iter()
            .fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
    };
    let mut parts = number.text.split(|byte| *byte == b'.');
    parts.all(|part| part.len() <= 3 && value(part) <= u32::from(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_dots_are_told_from_versions() {
        for number in [
            "12.345.678",
            "1234.5678",
            "1.2.840.113619.2.55.3.60468811",
            "12.34.56.7890",
            "2.25.3295648192",
        ] {
            let is_one = record_end(number.as_bytes(), 0) == Some(number.len())
                || unique_end(number.as_bytes(), 0) == Some(number.len());
            assert!(is_one, "{number}");
        }
        for other in [
            "1.2.3",
            "2024.10.1",
            "03.10.2024",
            "10.20.30.140",
            "1234.56",
            "17.0.12345",
            "1.2.840.10008.1.2.1",
            "2.16.840.1.113883.6.96",
            "12.345.678x",
            "12345",
            "1.2.3.4.5",
        ] {
            assert_eq!(record_end(other.as_bytes(), 0), None, "{other}");
            assert_eq!(unique_end(other.as_bytes(), 0), None, "{other}");
        }
    }
}
