//! Formats of the secrets that the gateway issues (contract 1.1) and the digest they are looked up by.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Random characters of an API key: 26 × log₂ 62 = 154 bits.
const KEY_RANDOM_CHARS: usize = 26;
/// Characters of the CRC-32 that secret scanners check.
const KEY_CHECKSUM_CHARS: usize = 6;
const KEY_CHARS: usize = KEY_RANDOM_CHARS + KEY_CHECKSUM_CHARS;

/// In front of an API key of live mode.
pub const LIVE_KEY_PREFIX: &str = "svc_api_live_";
/// In front of an API key of test mode.
pub const TEST_KEY_PREFIX: &str = "svc_api_test_";
/// In front of an agent credential of live mode; [`TEST_AGENT_PREFIX`] begins with it too.
pub const AGENT_PREFIX: &str = "svc_agt_";

/// Live and test data never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    Live,
    Test,
}

impl Mode {
    /// The word of `mode`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Test => "test",
        }
    }

    /// Reads a word of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "live" => Some(Self::Live),
            "test" => Some(Self::Test),
            _ => None,
        }
    }
}

/// A new API key from 26 random numbers below 62.
pub fn api_key(mode: Mode, mut random: impl FnMut() -> u8) -> String {
    let prefix = if mode == Mode::Live {
        LIVE_KEY_PREFIX
    } else {
        TEST_KEY_PREFIX
    };
    let mut key = String::with_capacity(prefix.len() + KEY_CHARS);
    key.push_str(prefix);
    for _ in 0..KEY_RANDOM_CHARS {
        key.push(base62(u32::from(random())));
    }
    let mut checksum = crc32fast::hash(key.as_bytes());
    let mut tail = [0_u32; KEY_CHECKSUM_CHARS];
    for digit in tail.iter_mut().rev() {
        *digit = checksum % 62;
        checksum /= 62;
    }
    key.extend(tail.map(base62));
    key
}

/// In front of a signing secret; part of the HMAC key (contract 1.1).
pub const SIGNING_PREFIX: &str = "whsec_";

/// A new signing secret of a webhook endpoint from 256 random bits: 43 base64url characters (contract 1.1).
pub fn signing_secret(random: [u8; 32]) -> String {
    format!("{SIGNING_PREFIX}{}", URL_SAFE_NO_PAD.encode(random))
}

/// Random characters of an agent credential: 40 × log₂ 62 = 238 bits.
const AGENT_RANDOM_CHARS: usize = 40;
/// In front of an agent credential of test mode.
pub const TEST_AGENT_PREFIX: &str = "svc_agt_test_";

/// A new agent credential from 40 random numbers below 62.
pub fn agent_credential(mode: Mode, mut random: impl FnMut() -> u8) -> String {
    let mut credential = String::from(match mode {
        Mode::Live => AGENT_PREFIX,
        Mode::Test => TEST_AGENT_PREFIX,
    });
    for _ in 0..AGENT_RANDOM_CHARS {
        credential.push(base62(u32::from(random())));
    }
    credential
}

/// In front of an inbound webhook's token.
pub const INBOUND_PREFIX: &str = "svc_in_";
/// Random characters of an inbound webhook's token: 238 bits.
const INBOUND_RANDOM_CHARS: usize = 40;

/// A new token of an inbound webhook from 40 random numbers below 62.
pub fn inbound_token(random: impl FnMut() -> u8) -> String {
    prefixed(INBOUND_PREFIX, INBOUND_RANDOM_CHARS, random)
}

/// In front of an OAuth client id.
pub const CLIENT_ID_PREFIX: &str = "svc_app_";
/// Characters behind the prefix: 24 × log₂ 62 = 142 bits, so that no two are alike.
const CLIENT_ID_CHARS: usize = 24;
/// In front of an OAuth client secret.
pub const CLIENT_SECRET_PREFIX: &str = "svc_cs_";
/// Characters behind the prefix: 40 × log₂ 62 = 238 bits.
const CLIENT_SECRET_CHARS: usize = 40;

/// A new name of an OAuth application from 24 random numbers below 62. It is no secret.
pub fn client_id(random: impl FnMut() -> u8) -> String {
    prefixed(CLIENT_ID_PREFIX, CLIENT_ID_CHARS, random)
}

/// A new secret of an OAuth application from 40 random numbers below 62.
pub fn client_secret(random: impl FnMut() -> u8) -> String {
    prefixed(CLIENT_SECRET_PREFIX, CLIENT_SECRET_CHARS, random)
}

fn prefixed(prefix: &str, characters: usize, mut random: impl FnMut() -> u8) -> String {
    let mut text = String::from(prefix);
    text.extend((0..characters).map(|_| base62(u32::from(random()))));
    text
}

/// Whether a bearer token has the form of an agent credential, and of which mode. The random part has no `_`, so
/// that the two cannot be confused (contract 1.1).
pub fn agent_mode(token: &str) -> Option<Mode> {
    let (mode, rest) = match (
        token.strip_prefix(TEST_AGENT_PREFIX),
        token.strip_prefix(AGENT_PREFIX),
    ) {
        (Some(rest), _) => (Mode::Test, rest),
        (_, Some(rest)) => (Mode::Live, rest),
        _ => return None,
    };
    (rest.len() == AGENT_RANDOM_CHARS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        .then_some(mode)
}

/// Whether a bearer token has the form of an API key, and of which mode. The checksum is not judged:
/// an operator may provision any 32 alphanumerics (contract 1.1).
pub fn api_key_mode(token: &str) -> Option<Mode> {
    let (mode, rest) = match (
        token.strip_prefix(LIVE_KEY_PREFIX),
        token.strip_prefix(TEST_KEY_PREFIX),
    ) {
        (Some(rest), _) => (Mode::Live, rest),
        (_, Some(rest)) => (Mode::Test, rest),
        _ => return None,
    };
    (rest.len() == KEY_CHARS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        .then_some(mode)
}

/// HMAC-SHA-256 of a text that can be guessed: nobody can try texts without `key`. `purpose` keeps digests of one key for
/// different ends apart.
pub fn keyed_digest(key: &[u8; 32], purpose: &str, text: &str) -> [u8; 32] {
    // A key shorter than a block of the hash is filled up with zeros (RFC 2104, section 2).
    let mut block = [0; 64];
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
    mac.update(purpose.as_bytes());
    mac.update(&[0]);
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

/// SHA-256 of a secret: what the store keeps. No slow hash, these are random values of at least 150 bits.
pub fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// What people may see of a secret: its prefix and last four characters. The prefix ends with the last `_`, so this is
/// not for signing secrets, whose random part may have some.
pub fn hint(secret: &str) -> String {
    let prefix_end = secret.rfind('_').map_or(0, |at| at + 1);
    let tail_start = secret
        .char_indices()
        .rev()
        .nth(3)
        .map_or(0, |(at, _)| at)
        .max(prefix_end);
    format!("{}…{}", &secret[..prefix_end], &secret[tail_start..])
}

fn base62(number: u32) -> char {
    char::from(BASE62[(number % 62) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_secrets_have_the_documented_form() {
        let secret = signing_secret([0xff; 32]);
        assert_eq!(secret.len(), SIGNING_PREFIX.len() + 43);
        assert!(secret.starts_with("whsec_____") && !secret.contains(['+', '/', '=']));
    }

    #[test]
    fn keys_have_the_documented_form() {
        let key = api_key(Mode::Live, || 61);
        assert_eq!(key.len(), LIVE_KEY_PREFIX.len() + 32);
        assert_eq!(api_key_mode(&key), Some(Mode::Live));
        assert_eq!(
            api_key_mode("svc_key_live_0123456789abcdef0123456789abcdef"),
            None
        );
        assert_eq!(
            api_key_mode("svc_api_live_0123456789abcdef0123456789abcde-"),
            None
        );
        assert_eq!(
            hint(&key),
            format!("svc_api_live_…{}", &key[key.len() - 4..])
        );
    }
}
