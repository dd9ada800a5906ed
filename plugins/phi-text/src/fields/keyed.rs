//! What a value is whose keys and neighbours are texts of their own, as a walk over JSON meets them, where the key
//! right before it does not say it. Reads no value.

use super::{PATIENT_ID, dicom};

/// Texts back to the farthest that counts: `{"resourceType": "Patient", "meta": {"versionId": "3", "lastUpdated": …,
/// "profile": […]}, "id": …}`.
pub const MAX_KEYS: usize = 16;

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
        b"id" => is_patient(keys).then_some(PATIENT_ID),
        _ => None,
    }
}

/// Whether the type that was said last is a patient (FHIR R4), and nothing but what says how its data are kept stands
/// behind it.
fn is_patient<'t>(keys: impl Iterator<Item = &'t [u8]>) -> bool {
    let mut behind = None;
    for key in keys {
        match key {
            b"resourceType" => return behind == Some(b"Patient".as_slice()),
            b"contact" | b"link" | b"contained" | b"extension" | b"identifier" => return false,
            _ => behind = Some(key),
        }
    }
    false
}

/// Digits of a tag.
const TAG_BYTES: usize = 8;
/// Ways to write a name (DICOM PS3.18, F.2.2).
pub(super) const GROUPS: [&[u8]; 3] = [b"Alphabetic", b"Ideographic", b"Phonetic"];
