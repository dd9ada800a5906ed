//! What a value is whose keys and neighbours are texts of their own, as a walk over JSON meets them, where the key
//! right before it does not say it. Reads no value.

use super::{PATIENT_ID, dicom};

/// Texts back to the farthest that counts: `{"00100010": {"vr": "PN", "Value": [{"Alphabetic": …}]}}`.
pub const MAX_KEYS: usize = 5;

/// The label of what stands behind `keys`, the nearest first.
pub fn keyed<'t>(mut keys: impl Iterator<Item = &'t [u8]>) -> Option<&'static [u8]> {
    /// Texts between a tag and its `Value`: the `vr` and what it is.
    const BETWEEN: usize = 2;
    let mut key = keys.next()?;
    if GROUPS.contains(&key) {
        key = keys.next()?;
    }
    match key {
        b"Value" => keys
            .take(BETWEEN + 1)
            .find(|key| key.len() == TAG_BYTES)
            .and_then(dicom::attribute),
        b"id" => (keys.next() == Some(b"Patient") && keys.next() == Some(b"resourceType"))
            .then_some(PATIENT_ID),
        _ => None,
    }
}

/// Digits of a tag.
const TAG_BYTES: usize = 8;
/// Ways to write a name (DICOM PS3.18, F.2.2).
pub(super) const GROUPS: [&[u8]; 3] = [b"Alphabetic", b"Ideographic", b"Phonetic"];
