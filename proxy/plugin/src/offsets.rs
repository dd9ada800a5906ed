//! Offsets in the unit that a guest counts in, as bytes.

use std::collections::BTreeMap;

/// How a guest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Utf16Units,
    CodePoints,
}

/// Byte positions of `offsets` in `text`, in one pass; offsets that are no character border are left out.
pub(crate) fn to_bytes(
    text: &str,
    unit: Unit,
    offsets: impl Iterator<Item = u32>,
) -> BTreeMap<u32, usize> {
    let mut wanted: Vec<u32> = offsets.collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut found = BTreeMap::new();
    let mut wanted = wanted.into_iter().peekable();
    let mut count: u32 = 0;
    let ends = text
        .char_indices()
        .map(|(at, char)| (at, Some(char)))
        .chain([(text.len(), None)]);
    for (at, char) in ends {
        while let Some(offset) = wanted.next_if(|offset| *offset <= count) {
            if offset == count {
                found.insert(offset, at);
            }
        }
        let width = match (unit, char) {
            (_, None) => 0,
            (Unit::Bytes, Some(char)) => char.len_utf8(),
            (Unit::Utf16Units, Some(char)) => char.len_utf16(),
            (Unit::CodePoints, Some(_)) => 1,
        };
        count = count.saturating_add(u32::try_from(width).unwrap_or(u32::MAX));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_lands_on_the_same_characters() {
        let text = "aé𝄞z";
        let at = |unit, offsets: &[u32]| -> Vec<(u32, usize)> {
            to_bytes(text, unit, offsets.iter().copied())
                .into_iter()
                .collect()
        };
        assert_eq!(
            at(Unit::Bytes, &[0, 1, 2, 3, 7, 8, 9]),
            [(0, 0), (1, 1), (3, 3), (7, 7), (8, 8)]
        );
        assert_eq!(
            at(Unit::Utf16Units, &[2, 3, 4, 5]),
            [(2, 3), (4, 7), (5, 8)]
        );
        assert_eq!(
            at(Unit::CodePoints, &[4, 2, 3, 5]),
            [(2, 3), (3, 7), (4, 8)]
        );
    }
}
