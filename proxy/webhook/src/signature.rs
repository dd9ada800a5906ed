//! The signature of a delivery, made and judged (spec, Outbound webhook signature). Pure: time comes in.
//!
//! The key is the whole secret as it was shown, `whsec_` included, which is what Stripe's libraries do; so their
//! verifiers take our deliveries as they are.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use svc_core::time::Timestamp;

/// 5 minutes, either way (spec, Limits).
pub const TOLERANCE_SECONDS: i64 = 300;

/// Signatures of one header that are looked at; a rotation needs two.
const MAX_SIGNATURES: usize = 16;
/// Block of SHA-256.
const BLOCK_BYTES: usize = 64;

/// The value of `Svc-Signature`: `t=1795205837,v1=…`, with one `v1` for each secret in their order and no spaces.
pub fn header<'s>(
    secrets: impl IntoIterator<Item = &'s str>,
    body: &[u8],
    now: Timestamp,
) -> String {
    let seconds = now.unix_seconds().to_string();
    let mut value = format!("t={seconds}");
    for secret in secrets {
        let tag = mac(secret, &seconds, body).finalize().into_bytes();
        value.push_str(",v1=");
        value.push_str(&hex::encode(tag));
    }
    value
}

/// Why a delivery is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("the signature header is malformed")]
    Malformed,
    #[error("the timestamp is more than 5 minutes away")]
    Stale,
    #[error("no signature matches")]
    Forged,
}

/// Judges a delivery as its receiver: `body` is the raw bytes, `header` the value of `Svc-Signature`. Any `v1` may
/// match any of the secrets. Takes the same time whatever is wrong with a signature.
///
/// # Errors
/// [`Rejected`].
pub fn verify(secrets: &[&str], header: &str, body: &[u8], now: Timestamp) -> Result<(), Rejected> {
    let (seconds, signatures) = parse(header).ok_or(Rejected::Malformed)?;
    let is_signed = secrets.iter().any(|secret| {
        let tags = signatures.iter();
        // All are compared, so that nothing is told by how long it takes.
        let matching = tags.filter(|tag| mac(secret, seconds, body).verify_slice(tag).is_ok());
        matching.count() > 0
    });
    if !is_signed {
        return Err(Rejected::Forged);
    }
    let at: i64 = seconds.parse().map_err(|_| Rejected::Malformed)?;
    let distance = now.unix_seconds().abs_diff(at);
    if distance > TOLERANCE_SECONDS.unsigned_abs() {
        return Err(Rejected::Stale);
    }
    Ok(())
}

/// The timestamp as it was written and every `v1`; entries of other schemes are passed over.
fn parse(header: &str) -> Option<(&str, Vec<Vec<u8>>)> {
    let mut seconds = None;
    let mut signatures = Vec::new();
    for entry in header.split(',') {
        match entry.split_once('=')? {
            ("t", value) if seconds.is_none() && is_number(value) => seconds = Some(value),
            ("t", _) => return None,
            ("v1", value) if signatures.len() < MAX_SIGNATURES => {
                signatures.push(hex::decode(value).ok()?);
            }
            ("v1", _) => return None,
            _ => {}
        }
    }
    seconds
        .filter(|_| !signatures.is_empty())
        .map(|seconds| (seconds, signatures))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// HMAC-SHA256 over the timestamp, a dot and the body.
fn mac(secret: &str, seconds: &str, body: &[u8]) -> Hmac<Sha256> {
    let mut block = [0; BLOCK_BYTES];
    // RFC 2104, 2: a key longer than a block is hashed first; a shorter one is filled up with zeros.
    let hashed = Sha256::digest(secret.as_bytes());
    let key = if secret.len() > BLOCK_BYTES {
        &hashed[..]
    } else {
        secret.as_bytes()
    };
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    mac.update(seconds.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const SECRET: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const OLD: &str = "whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
    const BODY: &[u8] = br#"{"id":"01J"}"#;
    const NOW: Timestamp = Timestamp(1_795_205_837_999);

    #[test]
    fn a_header_has_one_entry_a_secret_and_no_spaces() {
        let value = header([SECRET, OLD], BODY, NOW);
        let parts: Vec<&str> = value.split(',').collect();
        assert_eq!(parts.len(), 3);
        assert_eq!(parts[0], "t=1795205837");
        for part in &parts[1..] {
            let tag = part.strip_prefix("v1=").unwrap();
            let is_lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
            assert!(tag.len() == 64 && tag.bytes().all(is_lower), "{tag}");
        }
        assert_ne!(parts[1], parts[2]);
        // By another program: printf '1795205837.{"id":"01J"}' | openssl dgst -sha256 -hmac "$SECRET".
        assert_eq!(
            parts[1],
            "v1=7f0c14cd3e406b6e0bffacff98153f5ae6e26c54f9c45ed68756f438f922a0a1"
        );
    }

    #[test]
    fn either_secret_of_a_rotation_verifies() {
        let both = header([SECRET, OLD], BODY, NOW);
        for secret in [SECRET, OLD] {
            assert_eq!(verify(&[secret], &both, BODY, NOW), Ok(()));
        }
        let stranger = ["whsec_C"];
        assert_eq!(verify(&stranger, &both, BODY, NOW), Err(Rejected::Forged));
        let one = header([SECRET], BODY, NOW);
        assert_eq!(verify(&[OLD, SECRET], &one, BODY, NOW), Ok(()));
        assert_eq!(verify(&[], &one, BODY, NOW), Err(Rejected::Forged));
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let value = header([SECRET], BODY, NOW);
        for at in 0..BODY.len() {
            let mut changed = BODY.to_vec();
            changed[at] ^= 1;
            assert_eq!(
                verify(&[SECRET], &value, &changed, NOW),
                Err(Rejected::Forged)
            );
        }
        let later = value.replace("t=1795205837", "t=1795205838");
        assert_eq!(verify(&[SECRET], &later, BODY, NOW), Err(Rejected::Forged));
    }

    #[test]
    fn five_minutes_count_either_way() {
        let value = header([SECRET], BODY, NOW);
        for (seconds, expected) in [
            (-301, Err(Rejected::Stale)),
            (-300, Ok(())),
            (300, Ok(())),
            (301, Err(Rejected::Stale)),
        ] {
            let now = Timestamp(NOW.unix_seconds() * 1_000).plus_ms(seconds * 1_000);
            assert_eq!(verify(&[SECRET], &value, BODY, now), expected, "{seconds}");
        }
    }

    #[test]
    fn what_is_no_header_is_refused_and_other_schemes_are_passed_over() {
        let value = header([SECRET], BODY, NOW);
        let more = format!("{value},v0=00,v2=zz");
        assert_eq!(verify(&[SECRET], &more, BODY, NOW), Ok(()));
        let (time, tag) = value.split_once(',').unwrap();
        for malformed in [
            "",
            time,
            tag,
            "t=,v1=00",
            "t=-1,v1=00",
            "t=1795205837,v1=0g",
            "t=1795205837, v1=00",
            &format!("{time},{value}"),
            &format!("{time}{}", ",v1=00".repeat(17)),
        ] {
            let refused = verify(&[SECRET], malformed, BODY, NOW);
            assert_ne!(refused, Ok(()), "{malformed}");
        }
        assert_eq!(
            verify(&[SECRET], "t=x,v1=00", BODY, NOW),
            Err(Rejected::Malformed)
        );
    }

    #[test]
    fn secrets_longer_than_a_block_are_hashed_first() {
        let long = "whsec_".to_owned() + &"x".repeat(100);
        let value = header([long.as_str()], BODY, NOW);
        assert_eq!(verify(&[&long], &value, BODY, NOW), Ok(()));
    }
}
