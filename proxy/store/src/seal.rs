//! Sealing of columns: AES-256-GCM with a random nonce, bound to the place where the value stands, naming the
//! version of the key (contract 19.4). Pure: no keys are found or kept here.

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{Aead, AeadInOut as _, Generate, Key as CipherKey, KeyInit, Nonce, Payload};

/// Text that may be PHI. It has no `Debug`, `Display` or `Serialize`, so that it reaches no log by accident.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Content(String);

impl Content {
    /// Takes a text in.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text in clear: for what seals it, sends it, or shows it to whoever may see it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As [`Self::as_str`], without a copy.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// 256 bits of AES key.
#[derive(Clone)]
pub struct SecretKey([u8; KEY_BYTES]);

impl SecretKey {
    /// The key of these bytes, which must be random.
    pub const fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    /// A fresh key from the operating system's randomness.
    pub fn generate() -> Self {
        Self(CipherKey::<Aes256Gcm>::generate().into())
    }

    pub(crate) const fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

/// Where a sealed value stands. A value moved to another row, column or organization does not open.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub table: &'a str,
    pub row_id: &'a str,
    pub column: &'a str,
    pub org_id: &'a str,
}

/// Why a sealed value cannot be made or read. Says nothing of its content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("a sealed value of {column} does not open with its key and place")]
    Rejected { column: String },
    #[error("a sealed value has an unknown form")]
    Malformed,
    #[error("version {version} of the {owner} key is not at hand")]
    KeyMissing { owner: &'static str, version: u32 },
    #[error("master key: {0}")]
    MasterKey(String),
}

/// Length of an AES-256 key.
pub const KEY_BYTES: usize = 32;
/// First byte of every sealed value; the next four are the key version, then the nonce.
const FORM: u8 = 1;
const VERSION_END: usize = 5;
const NONCE_END: usize = VERSION_END + 12;
const TAG_BYTES: usize = 16;

/// The version of a data key that is never replaced: the first and only one of what it belongs to.
pub(crate) const ONLY_VERSION: u32 = 1;

/// Encrypts `plain` under version `key_version` of a key.
///
/// # Errors
/// [`SealError::Rejected`] for a value too long for the cipher (64 GiB).
pub fn seal(
    key: &SecretKey,
    key_version: u32,
    place: Place<'_>,
    plain: &[u8],
) -> Result<Vec<u8>, SealError> {
    let mut sealed = Vec::with_capacity(NONCE_END + plain.len() + TAG_BYTES);
    sealed.push(FORM);
    sealed.extend(key_version.to_be_bytes());
    let nonce = Nonce::<Aes256Gcm>::generate();
    let aad = associated_data(&sealed, place);
    sealed.extend(nonce);
    sealed.extend(plain);
    let text = sealed.get_mut(NONCE_END..).unwrap_or_default();
    let tag = cipher(key)
        .encrypt_inout_detached(&nonce, &aad, text.into())
        .map_err(|_| rejected(place))?;
    sealed.extend(tag);
    Ok(sealed)
}

/// Decrypts what [`seal`] made for the same key and place.
///
/// # Errors
/// [`SealError::Rejected`] where key, place or any byte differs; [`SealError::Malformed`].
pub fn open(key: &SecretKey, place: Place<'_>, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
    key_version(sealed)?;
    let (header, rest) = sealed
        .split_at_checked(VERSION_END)
        .ok_or(SealError::Malformed)?;
    let (nonce, text) = rest
        .split_at_checked(NONCE_END - VERSION_END)
        .ok_or(SealError::Malformed)?;
    let nonce = Nonce::<Aes256Gcm>::try_from(nonce).map_err(|_| SealError::Malformed)?;
    let aad = associated_data(header, place);
    let payload = Payload {
        msg: text,
        aad: &aad,
    };
    cipher(key)
        .decrypt(&nonce, payload)
        .map_err(|_| rejected(place))
}

/// The version of the key that a value was sealed with.
///
/// # Errors
/// [`SealError::Malformed`].
pub fn key_version(sealed: &[u8]) -> Result<u32, SealError> {
    match sealed.first_chunk::<VERSION_END>() {
        Some([FORM, a, b, c, d]) => Ok(u32::from_be_bytes([*a, *b, *c, *d])),
        _ => Err(SealError::Malformed),
    }
}

/// Seals a key under another key.
///
/// # Errors
/// As [`seal`].
pub fn wrap(
    outer: &SecretKey,
    outer_version: u32,
    place: Place<'_>,
    inner: &SecretKey,
) -> Result<Vec<u8>, SealError> {
    seal(outer, outer_version, place, inner.bytes())
}

/// Opens what [`wrap`] made.
///
/// # Errors
/// As [`open`].
pub fn unwrap(outer: &SecretKey, place: Place<'_>, wrapped: &[u8]) -> Result<SecretKey, SealError> {
    let bytes = open(outer, place, wrapped)?;
    let bytes = bytes.try_into().map_err(|_| SealError::Malformed)?;
    Ok(SecretKey(bytes))
}

pub(crate) fn open_text(
    key: &SecretKey,
    place: Place<'_>,
    sealed: &[u8],
) -> Result<Content, SealError> {
    let text = String::from_utf8(open(key, place, sealed)?).map_err(|_| SealError::Malformed)?;
    Ok(Content(text))
}

fn cipher(key: &SecretKey) -> Aes256Gcm {
    Aes256Gcm::new(&CipherKey::<Aes256Gcm>::from(key.0))
}

fn rejected(place: Place<'_>) -> SealError {
    SealError::Rejected {
        column: format!("{}.{}", place.table, place.column),
    }
}

/// The header and the place, each part preceded by its length so that no two places read alike.
fn associated_data(header: &[u8], place: Place<'_>) -> Vec<u8> {
    let Place {
        table,
        row_id,
        column,
        org_id,
    } = place;
    let mut aad = header.to_vec();
    for part in [table, row_id, column, org_id] {
        aad.extend((part.len() as u64).to_be_bytes());
        aad.extend(part.as_bytes());
    }
    aad
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const PLACE: Place<'_> = Place {
        table: "messages",
        row_id: "msg_1",
        column: "content",
        org_id: "org_1",
    };

    #[test]
    fn a_value_opens_only_with_its_key_in_its_place() {
        let key = SecretKey::generate();
        let sealed = seal(&key, 7, PLACE, b"blood pressure").unwrap();
        assert_eq!(key_version(&sealed), Ok(7));
        assert_eq!(open(&key, PLACE, &sealed).unwrap(), b"blood pressure");
        let elsewhere = [
            Place {
                table: "message",
                row_id: "smsg_1",
                ..PLACE
            },
            Place {
                row_id: "msg_2",
                ..PLACE
            },
            Place {
                column: "phi_map",
                ..PLACE
            },
            Place {
                org_id: "org_2",
                ..PLACE
            },
        ];
        for place in elsewhere {
            assert!(open(&key, place, &sealed).is_err());
        }
        assert!(open(&SecretKey::generate(), PLACE, &sealed).is_err());
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let key = SecretKey::generate();
        let sealed = seal(&key, 1, PLACE, b"x").unwrap();
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(open(&key, PLACE, &changed).is_err(), "byte {at}");
            assert!(open(&key, PLACE, &sealed[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn equal_values_never_look_alike() {
        let key = SecretKey::generate();
        let sealed = |text| seal(&key, 1, PLACE, text).unwrap();
        assert_ne!(sealed(b"same"), sealed(b"same"));
    }

    #[test]
    fn wrapped_keys_open_again() {
        let (outer, inner) = (SecretKey::generate(), SecretKey::generate());
        let wrapped = wrap(&outer, 3, PLACE, &inner).unwrap();
        assert_eq!(
            unwrap(&outer, PLACE, &wrapped).unwrap().bytes(),
            inner.bytes()
        );
    }
}
