//! Proof that whoever redeems a code began the request for it (RFC 7636, `S256` only).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// Base64url of 32 bytes (RFC 7636, 4.2).
const CHALLENGE_CHARS: usize = 43;
/// RFC 7636, 4.1.
const VERIFIER_CHARS: std::ops::RangeInclusive<usize> = 43..=128;

/// Whether a text has the form of an S256 challenge.
pub fn is_challenge(text: &str) -> bool {
    text.len() == CHALLENGE_CHARS
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Whether a text has the form of a verifier: 43 to 128 unreserved characters.
pub fn is_verifier(text: &str) -> bool {
    VERIFIER_CHARS.contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// Whether the verifier is the challenge's. The challenge stands in an address, so that how long this takes tells
/// nothing.
pub fn proves(verifier: &str, challenge: &str) -> bool {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())) == challenge
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc_holds() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        assert!(is_verifier(verifier) && is_challenge(challenge));
        assert!(proves(verifier, challenge));
        assert!(!proves(challenge, challenge));
    }

    #[test]
    fn lengths_and_alphabets_are_exact() {
        for (text, verifier, challenge) in [
            ("a".repeat(42), false, false),
            ("a".repeat(43), true, true),
            ("a".repeat(44), true, false),
            ("a".repeat(128), true, false),
            ("a".repeat(129), false, false),
            (format!("{}~", "a".repeat(42)), true, false),
            (format!("{}=", "a".repeat(42)), false, false),
            (format!("{}+", "a".repeat(42)), false, false),
        ] {
            assert_eq!(is_verifier(&text), verifier, "{text}");
            assert_eq!(is_challenge(&text), challenge, "{text}");
        }
    }
}
