//! Whom a request is for, in the caller's words, which the provider keeps for its own watch over misuse.

use std::borrow::Cow;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The entry of `chat-request.metadata` that names a user.
const USER_ID: &str = "user_id";

/// The user's name. Providers refuse one that is longer than they take: its SHA-256 in hex stands in then, which is
/// the same for the same user and says nothing of them. Every provider takes its 64 characters.
pub fn user_id(metadata: &[(String, String)], max_chars: usize) -> Option<Cow<'_, str>> {
    let (_, id) = metadata.iter().find(|(name, _)| name == USER_ID)?;
    let fits = id.chars().count() <= max_chars;
    Some(if fits {
        Cow::Borrowed(id)
    } else {
        Cow::Owned(stand_in(id))
    })
}

fn stand_in(id: &str) -> String {
    Sha256::digest(id)
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(id: &str, max_chars: usize) -> Option<String> {
        let metadata = [(USER_ID.to_owned(), id.to_owned())];
        user_id(&metadata, max_chars).map(Cow::into_owned)
    }

    #[test]
    fn what_is_too_long_has_a_stand_in_that_stays_the_same() {
        for fits in [String::new(), "u1".to_owned(), "é".repeat(64)] {
            assert_eq!(sent(&fits, 64).as_ref(), Some(&fits));
        }
        let long = "a".repeat(65);
        let digest = "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0";
        assert_eq!(sent(&long, 64).as_deref(), Some(digest));
        assert_eq!(sent(&long, 256), Some(long));
        assert_eq!(user_id(&[], 64), None);
    }
}
