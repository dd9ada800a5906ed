//! Second factors: codes of an authenticator app (RFC 6238), and the recovery codes for the day on which the telephone
//! is gone. Pure: what was used before is known to the store.

use qrcode::QrCode;
use qrcode::render::svg;
use rand::RngExt;
use svc_core::fault::Fault;
use svc_core::secret;
use svc_core::time::Timestamp;
use totp_rs::{Builder, Secret, Totp};

/// What apps show beside the code.
const ISSUER: &str = "SVC Gateway";
/// 160 bits (RFC 4226, 4, R6).
const SECRET_BYTES: usize = 20;
pub(crate) const CODE_CHARS: usize = 6;

/// Recovery codes of one set.
const RECOVERY_CODES: usize = 10;
/// 16 characters of 5 bits.
const RECOVERY_CHARS: usize = 16;
const RECOVERY_GROUP: usize = 4;
/// No letter that is read as another (Crockford).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A new secret, in base32.
pub(crate) fn new_secret() -> String {
    Secret::from(rand::rng().random::<[u8; SECRET_BYTES]>()).to_base32()
}

fn totp(secret: &str, account: &str) -> Result<Totp, Fault> {
    let wrong = |error: &dyn std::fmt::Display| Fault::internal(format_args!("totp: {error}"));
    let secret = Secret::try_from_base32(secret).map_err(|error| wrong(&error))?;
    // A colon would end the issuer of the address.
    let account = account.replace(':', " ");
    let builder = Builder::new()
        .with_secret(secret)
        .with_issuer(Some(ISSUER))
        .with_account_name(account);
    builder.build().map_err(|error| wrong(&error))
}

/// The time step of a code that is right now, or was just now.
///
/// # Errors
/// 500 for a stored secret that is none.
pub(crate) fn step(secret: &str, code: &str, now: Timestamp) -> Result<Option<u64>, Fault> {
    let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let seconds = u64::try_from(now.unix_seconds()).unwrap_or_default();
    Ok(totp(secret, "account")?.check(&code, seconds))
}

/// The picture that an app reads the secret from, as inline SVG.
///
/// # Errors
/// 500 when it cannot be drawn.
pub(crate) fn picture(secret: &str, account: &str) -> Result<String, Fault> {
    let wrong = |error: &dyn std::fmt::Display| Fault::internal(format_args!("totp: {error}"));
    let address = totp(secret, account)?
        .to_url()
        .map_err(|error| wrong(&error))?;
    let code = QrCode::new(address).map_err(|error| wrong(&error))?;
    let drawn = code
        .render::<svg::Color<'_>>()
        .min_dimensions(220, 220)
        .build();
    let start = drawn.find("<svg").unwrap_or_default();
    Ok(drawn.get(start..).unwrap_or_default().to_owned())
}

/// A set of recovery codes, as people write them down, and their digests.
pub(crate) fn recovery_codes() -> (Vec<String>, Vec<[u8; 32]>) {
    let codes: Vec<String> = (0..RECOVERY_CODES).map(|_| recovery_code()).collect();
    let digests = codes.iter().map(|code| recovery_digest(code)).collect();
    (codes, digests)
}

fn recovery_code() -> String {
    let mut code = String::with_capacity(RECOVERY_CHARS + RECOVERY_CHARS / RECOVERY_GROUP);
    for at in 0..RECOVERY_CHARS {
        if at > 0 && at % RECOVERY_GROUP == 0 {
            code.push('-');
        }
        let drawn = ALPHABET.get(rand::rng().random_range(0..ALPHABET.len()));
        code.extend(drawn.map(|byte| char::from(*byte)));
    }
    code
}

/// The digest of a recovery code, however it was typed.
pub(crate) fn recovery_digest(code: &str) -> [u8; 32] {
    let plain: String = code
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric())
        .map(|letter| match letter.to_ascii_lowercase() {
            'o' => '0',
            'i' | 'l' => '1',
            other => other,
        })
        .collect();
    secret::digest(&plain)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// RFC 6238, appendix B, with six digits.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = Secret::from(*b"12345678901234567890").to_base32();
        let at = |seconds: i64| Timestamp(seconds * 1_000);
        assert_eq!(step(&secret, "287082", at(59)).unwrap(), Some(1));
        assert_eq!(
            step(&secret, "081 804", at(1_111_111_109)).unwrap(),
            Some(37_037_036)
        );
        assert_eq!(
            step(&secret, "287082", at(59 + 30)).unwrap(),
            Some(1),
            "one step late"
        );
        assert_eq!(step(&secret, "287082", at(59 + 90)).unwrap(), None);
        assert_eq!(step(&secret, "", at(59)).unwrap(), None);
    }

    #[test]
    fn pictures_are_inline_and_name_the_account() {
        let secret = new_secret();
        let picture = picture(&secret, "joy:x@clinic.example").unwrap();
        assert!(
            picture.starts_with("<svg") && picture.ends_with("</svg>"),
            "{picture}"
        );
        assert!(!picture.contains("style="));
    }

    #[test]
    fn recovery_codes_forgive_how_they_are_typed() {
        let (codes, digests) = recovery_codes();
        assert_eq!((codes.len(), digests.len()), (10, 10));
        assert_eq!(codes[0].len(), 19);
        let typed = codes[0]
            .to_uppercase()
            .replace('-', " ")
            .replace('0', "O")
            .replace('1', "I");
        assert_eq!(recovery_digest(&typed), digests[0]);
        assert_ne!(digests[0], digests[1]);
    }
}
