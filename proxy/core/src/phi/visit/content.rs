//! What of opaque data is text: inline documents, and what only claims to be sealed.

use std::borrow::Cow;

use crate::phi::normal::is_readable_blob;

/// The text of an inline document: UTF-8, UTF-16 with its mark, or Latin-1 where the type says text. Images
/// and compressed files have none. A document that is rewritten becomes UTF-8.
pub(super) fn document_text<'d>(media_type: &str, data: &'d [u8]) -> Option<Cow<'d, str>> {
    if let Ok(text) = std::str::from_utf8(data) {
        return Some(Cow::Borrowed(text));
    }
    let unit: Option<fn([u8; 2]) -> u16> = match data {
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        _ => None,
    };
    if let Some(unit) = unit {
        let (pairs, _) = data.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
        return Some(Cow::Owned(String::from_utf16_lossy(&units)));
    }
    let says_text = media_type
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case("text/"));
    says_text.then(|| Cow::Owned(data.iter().copied().map(char::from).collect()))
}

/// Shortest text, in bytes, that is taken for sealed: no seal is shorter, and words without a break are.
const MIN_SEALED_BYTES: usize = 64;

/// Whether a text is what a provider keeps to itself: nobody else can read it, and nobody has to.
pub fn looks_sealed(text: &str) -> bool {
    text.len() >= MIN_SEALED_BYTES
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte))
        && !is_readable_blob(text)
}
