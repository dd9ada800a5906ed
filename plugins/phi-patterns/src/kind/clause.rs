//! The sentence that a date or an age stands in, as far as it is near.

use crate::text::{byte, ends_with};

/// The words of the same sentence in `near`; the dot of a title ends none.
pub(super) fn clause(near: &[u8]) -> &[u8] {
    let mut from = near.len();
    while let Some(at) = near
        .get(..from)
        .and_then(|head| head.iter().rposition(|byte| b".;\n".contains(byte)))
    {
        let head = near.get(..at).unwrap_or_default();
        let is_title = byte(near, at) == b'.' && ends_with(head, &["mr", "mrs", "ms", "dr"]);
        let is_point = byte(near, at) == b'.' && byte(near, at + 1).is_ascii_digit();
        if !is_title && !is_point {
            return near.get(at + 1..).unwrap_or_default();
        }
        from = at;
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_points_end_no_sentence() {
        assert_eq!(clause(b"BP 120/80. Mr. Jones is "), b" Mr. Jones is ");
        assert_eq!(clause(b"seen; INR was 2.5 on "), b" INR was 2.5 on ");
        assert_eq!(clause(b"a line\nDr. Lee, Mrs. Lee"), b"Dr. Lee, Mrs. Lee");
        assert_eq!(clause(b"one two"), b"one two");
    }
}
