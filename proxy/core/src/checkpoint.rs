//! What the key of the audit log signs, as C2SP `signed-note` with Ed25519: checkpoints (C2SP `tlog-checkpoint`: the
//! log's name, its size and its root), and that an export is whole. Knows no rows; the signing key comes from outside.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};

use crate::merkle::{HASH_BYTES, Hash, Head};

/// What a checkpoint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log, which is the name of its key too.
    pub origin: String,
    pub head: Head,
}

/// Signs for one log.
pub struct Signer {
    origin: String,
    key: SigningKey,
}

/// The public half: who may have signed a checkpoint. Shown as a C2SP verifier key, `name+id+key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verifier {
    origin: String,
    key: VerifyingKey,
}

/// Why a note is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    #[error("is not a signed note of what it should be")]
    Malformed,
    #[error("is of another log than its key")]
    Origin,
    #[error("has no signature of this key")]
    Unsigned,
    #[error("has a signature that is not valid")]
    Forged,
}

/// The first byte of an Ed25519 key in a signed note.
const ED25519: u8 = 1;
const KEY_ID_BYTES: usize = 4;
/// A line that holds a signature begins with an em dash and a space.
const SIGNATURE_MARK: &str = "\u{2014} ";
/// More is no checkpoint of ours: three lines and some signatures of witnesses.
const MAX_NOTE_BYTES: usize = 16 * 1024;

impl Signer {
    /// `origin` is the name of the log, which every checkpoint begins with and the key goes by.
    pub fn new(origin: &str, key: SigningKey) -> Self {
        Self {
            origin: origin.to_owned(),
            key,
        }
    }

    /// The public half of the same key, under the same name.
    pub fn verifier(&self) -> Verifier {
        Verifier {
            origin: self.origin.clone(),
            key: self.key.verifying_key(),
        }
    }

    /// The checkpoint of a tree, signed.
    pub fn sign(&self, head: &Head) -> String {
        self.note(&text(&self.origin, head))
    }

    /// That an export ends behind the bytes of this SHA-256, signed.
    pub fn sign_export(&self, sha256: &[u8; 32]) -> String {
        self.note(&export_text(&self.origin, sha256))
    }

    fn note(&self, text: &str) -> String {
        let mut blob = self.verifier().key_id().to_vec();
        blob.extend(self.key.sign(text.as_bytes()).to_bytes());
        format!(
            "{text}\n{SIGNATURE_MARK}{} {}\n",
            self.origin,
            STANDARD.encode(blob)
        )
    }
}

impl Verifier {
    /// `None` for bytes that are no public key.
    pub fn new(origin: &str, public: &[u8; 32]) -> Option<Self> {
        Some(Self {
            origin: origin.to_owned(),
            key: VerifyingKey::from_bytes(public).ok()?,
        })
    }

    /// Reads `name+id+key`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().splitn(3, '+');
        let (origin, id, key) = (parts.next()?, parts.next()?, parts.next()?);
        let key = STANDARD.decode(key).ok()?;
        let (kind, key) = key.split_first()?;
        let verifier = Self {
            origin: origin.to_owned(),
            key: VerifyingKey::from_bytes(key.try_into().ok()?).ok()?,
        };
        let is_sound = *kind == ED25519
            && !origin.is_empty()
            && !origin.contains(char::is_whitespace)
            && hex::decode(id).ok()? == verifier.key_id();
        is_sound.then_some(verifier)
    }

    /// The name of the log.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The checkpoint in a signed note. Signatures of others (witnesses) are not looked at.
    ///
    /// # Errors
    /// What keeps it from being taken.
    pub fn open(&self, note: &str) -> Result<Checkpoint, CheckpointError> {
        let (text, signatures) = parts(note)?;
        let checkpoint = read(&text).ok_or(CheckpointError::Malformed)?;
        if checkpoint.origin != self.origin {
            return Err(CheckpointError::Origin);
        }
        self.verify(&text, signatures).map(|()| checkpoint)
    }

    /// Whether a note says that an export ends behind the bytes of this SHA-256.
    ///
    /// # Errors
    /// What keeps it from being taken.
    pub fn open_export(&self, note: &str, sha256: &[u8; 32]) -> Result<(), CheckpointError> {
        let (text, signatures) = parts(note)?;
        if text != export_text(&self.origin, sha256) {
            return Err(CheckpointError::Malformed);
        }
        self.verify(&text, signatures)
    }

    /// Whether one of the signatures of a text is this key's.
    fn verify(&self, text: &str, signatures: &str) -> Result<(), CheckpointError> {
        let mark = format!("{SIGNATURE_MARK}{} ", self.origin);
        for line in signatures.lines() {
            let blob = line.strip_prefix(&mark);
            let Some(blob) = blob.and_then(|blob| STANDARD.decode(blob).ok()) else {
                continue;
            };
            let Some((id, signature)) = blob.split_at_checked(KEY_ID_BYTES) else {
                continue;
            };
            if id != self.key_id() {
                continue;
            }
            let signature = Signature::from_slice(signature);
            let signature = signature.map_err(|_| CheckpointError::Forged)?;
            let verified = self.key.verify_strict(text.as_bytes(), &signature);
            return verified.map_err(|_| CheckpointError::Forged);
        }
        Err(CheckpointError::Unsigned)
    }

    fn key_id(&self) -> [u8; KEY_ID_BYTES] {
        let digest: [u8; HASH_BYTES] = Sha256::new()
            .chain_update(self.origin.as_bytes())
            .chain_update([b'\n', ED25519])
            .chain_update(self.key.as_bytes())
            .finalize()
            .into();
        let [a, b, c, d, ..] = digest;
        [a, b, c, d]
    }
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut key = vec![ED25519];
        key.extend(self.key.as_bytes());
        let (id, key) = (hex::encode(self.key_id()), STANDARD.encode(key));
        write!(f, "{}+{id}+{key}", self.origin)
    }
}

/// Text and signatures of a note.
fn parts(note: &str) -> Result<(String, &str), CheckpointError> {
    let malformed = CheckpointError::Malformed;
    if note.len() > MAX_NOTE_BYTES {
        return Err(malformed);
    }
    let (body, signatures) = note.split_once("\n\n").ok_or(malformed)?;
    Ok((format!("{body}\n"), signatures))
}

/// No checkpoint reads like it: its second line is no size.
fn export_text(origin: &str, sha256: &[u8; 32]) -> String {
    format!("{origin}\nexport\nsha256:{}\n", hex::encode(sha256))
}

fn text(origin: &str, head: &Head) -> String {
    let Head { size, root } = head;
    format!("{origin}\n{size}\n{}\n", STANDARD.encode(root))
}

/// Lines after the first three are extensions of the format, signed and without a meaning here.
fn read(text: &str) -> Option<Checkpoint> {
    let mut lines = text.lines();
    let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
    let is_plain = size == "0" || !size.starts_with(['0', '+']);
    let size = size.parse().ok().filter(|_| is_plain)?;
    let root: Hash = STANDARD.decode(root).ok()?.try_into().ok()?;
    Some(Checkpoint {
        origin: origin.to_owned(),
        head: Head { size, root },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::merkle::empty_root;

    const HEAD: Head = Head {
        size: 20_852_163,
        root: [7; HASH_BYTES],
    };

    fn signer(origin: &str, seed: u8) -> Signer {
        Signer::new(origin, SigningKey::from_bytes(&[seed; 32]))
    }

    #[test]
    fn a_checkpoint_opens_with_the_key_of_its_log_alone() {
        let ours = signer("example.com/log", 1);
        let note = ours.sign(&HEAD);
        assert!(note.starts_with("example.com/log\n20852163\nBwcH"));
        let shown = ours.verifier().to_string();
        let verifier = Verifier::parse(&shown).unwrap();
        assert_eq!(verifier.open(&note).unwrap().head, HEAD);
        let other = signer("example.com/log", 2).verifier();
        assert_eq!(other.open(&note), Err(CheckpointError::Unsigned));
        let elsewhere = signer("example.com/other", 1).verifier();
        assert_eq!(elsewhere.open(&note), Err(CheckpointError::Origin));
        let larger = note.replace("20852163", "20852164");
        assert_eq!(verifier.open(&larger), Err(CheckpointError::Forged));
        assert_eq!(verifier.open("x\n1\n"), Err(CheckpointError::Malformed));
        let cosigned = format!("{note}\u{2014} witness.example+1 AAAA\n");
        assert!(verifier.open(&cosigned).is_ok());
    }

    #[test]
    fn an_export_is_whole_where_the_key_of_its_log_says_so() {
        let ours = signer("example.com/log", 1);
        let note = ours.sign_export(&[7; 32]);
        assert!(note.starts_with("example.com/log\nexport\nsha256:0707"));
        let verifier = ours.verifier();
        assert_eq!(verifier.open_export(&note, &[7; 32]), Ok(()));
        assert_eq!(
            verifier.open_export(&note, &[8; 32]),
            Err(CheckpointError::Malformed)
        );
        let other = signer("example.com/log", 2).sign_export(&[7; 32]);
        assert_eq!(
            verifier.open_export(&other, &[7; 32]),
            Err(CheckpointError::Unsigned)
        );
        // Neither is taken for the other.
        assert_eq!(verifier.open(&note), Err(CheckpointError::Malformed));
        assert_eq!(
            verifier.open_export(&ours.sign(&HEAD), &[7; 32]),
            Err(CheckpointError::Malformed)
        );
    }

    /// The key of the Go checksum database, as its clients carry it.
    #[test]
    fn keys_of_others_are_read_and_shown_alike() {
        let key = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
        assert_eq!(Verifier::parse(key).unwrap().to_string(), key);
        // The identifier must be that of the key.
        assert_eq!(Verifier::parse(&key.replace("033d", "033e")), None);
        assert_eq!(Verifier::parse("sum.golang.org"), None);
    }

    #[test]
    fn sizes_are_written_in_one_way_only() {
        let ours = signer("example.com/log", 1);
        let empty = Head {
            size: 0,
            root: empty_root(),
        };
        assert!(ours.verifier().open(&ours.sign(&empty)).is_ok());
        let root = STANDARD.encode(empty_root());
        for size in ["00", "01", "+1", "-1", "1.0", ""] {
            assert_eq!(read(&format!("x\n{size}\n{root}\n")), None, "{size}");
        }
    }
}
