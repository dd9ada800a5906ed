//! Keys that the deployment signs with, one for each purpose: Ed25519, the private half wrapped by the master key.
//!
//! A key of one purpose never signs for another, so that no signature can be passed off as one of another kind. Keys
//! are made when they are first needed, by whichever replica comes first.

use std::sync::Arc;

use ed25519_dalek::{Signature, Signer, SigningKey as Ed25519, VerifyingKey};
use sha2::{Digest, Sha256};
use svc_core::time::Timestamp;

use crate::engine::{Row, args};
use crate::seal::{self, Place, SecretKey};
use crate::{Store, StoreError};

/// What a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Documents of accepted agreements (contract 13).
    Agreement,
    /// Checkpoints and exports of the audit log (contract 14.4).
    AuditCheckpoint,
}

impl Purpose {
    /// The word of the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Agreement => "agreement",
            Self::AuditCheckpoint => "audit_checkpoint",
        }
    }
}

/// A key that is ready to sign.
pub struct SigningKey {
    pub public: PublicKey,
    private: Ed25519,
}

/// The half of a key that anybody may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// 1 for the first key of a purpose; one more with every rotation.
    pub version: u32,
    /// That of [`key_id`].
    pub key_id: String,
    pub bytes: [u8; PUBLIC_BYTES],
    pub created_at: Timestamp,
}

/// Length of an Ed25519 public key.
pub const PUBLIC_BYTES: usize = 32;
/// Length of an Ed25519 signature.
pub const SIGNATURE_BYTES: usize = 64;
const FIRST_VERSION: u32 = 1;
/// Bytes of the public key's SHA-256 that name it.
const KEY_ID_BYTES: usize = 8;

impl SigningKey {
    /// The detached signature over the bytes as they are; [`verifies`] judges it.
    pub fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.private.sign(message).to_bytes()
    }

    /// For formats that sign with the key itself.
    pub(crate) const fn private(&self) -> &Ed25519 {
        &self.private
    }
}

/// The key that signs for `purpose` now; made if there is none.
///
/// # Errors
/// Those of the database and of the master key.
pub async fn current(
    store: &Store,
    purpose: Purpose,
    now: Timestamp,
) -> Result<Arc<SigningKey>, StoreError> {
    if let Some(row) = newest(store, purpose).await? {
        return open(store, purpose, &row);
    }
    insert(store, purpose, FIRST_VERSION, now).await?;
    // Another replica may have been faster: what is stored counts.
    let row = newest(store, purpose).await?;
    open(
        store,
        purpose,
        &row.ok_or(StoreError::Missing("signing key"))?,
    )
}

/// The key of a purpose that has this public half.
///
/// # Errors
/// Those of the database and of the master key; [`StoreError::Missing`] where no key has it.
pub async fn of_public(
    store: &Store,
    purpose: Purpose,
    bytes: &[u8; PUBLIC_BYTES],
) -> Result<Arc<SigningKey>, StoreError> {
    let key_id = key_id(bytes);
    let row = store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = "SELECT * FROM signing_keys WHERE purpose = $1 AND key_id = $2";
                cx.row(sql, args![purpose.word(), key_id]).await
            })
        })
        .await?;
    open(
        store,
        purpose,
        &row.ok_or(StoreError::Missing("signing key"))?,
    )
}

/// Every public key of a purpose, oldest first: what it has ever signed can be verified with one of them.
///
/// # Errors
/// Those of the database.
pub async fn public_keys(store: &Store, purpose: Purpose) -> Result<Vec<PublicKey>, StoreError> {
    let rows = store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = "SELECT * FROM signing_keys WHERE purpose = $1 ORDER BY version";
                cx.rows(sql, args![purpose.word()]).await
            })
        })
        .await?;
    rows.iter().map(public).collect()
}

/// Makes a new key for what is signed from now on.
///
/// # Errors
/// [`StoreError::Exists`] when another rotation was faster.
pub async fn rotate(store: &Store, purpose: Purpose, now: Timestamp) -> Result<(), StoreError> {
    let newest = public_keys(store, purpose).await?.pop();
    let version = newest.map_or(FIRST_VERSION, |key| key.version.saturating_add(1));
    match insert(store, purpose, version, now).await? {
        0 => Err(StoreError::Exists {
            constraint: "signing_keys".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Whether the master key opens the newest key of every purpose.
///
/// # Errors
/// [`StoreError::Seal`] where it does not, and those of the database.
pub(crate) async fn check(store: &Store) -> Result<(), StoreError> {
    for purpose in [Purpose::Agreement, Purpose::AuditCheckpoint] {
        if let Some(row) = newest(store, purpose).await? {
            open(store, purpose, &row)?;
        }
    }
    Ok(())
}

/// Wraps every key with the current master key. Returns how many had another one.
///
/// # Errors
/// Those of the database, and [`StoreError::Seal`] where a key is opened by no master key that is at hand.
pub async fn rewrap(store: &Store) -> Result<u64, StoreError> {
    let rows = store
        .db
        .read(|cx| Box::pin(async move { cx.rows("SELECT * FROM signing_keys", args![]).await }))
        .await?;
    let (version, master) = store.ring.master().current()?;
    let mut moved = 0;
    for row in rows {
        let wrapped: Vec<u8> = row.get("wrapped")?;
        let (purpose, key_id): (String, String) = (row.get("purpose")?, row.get("key_id")?);
        let wrapped_with = seal::key_version(&wrapped)?;
        let old = store.ring.master().version(wrapped_with)?;
        // Also where nothing is left to do: another key of the same version would look like success.
        let private = seal::unwrap(old, place(&purpose, &key_id), &wrapped)?;
        if wrapped_with == version {
            continue;
        }
        let again = seal::wrap(master, version, place(&purpose, &key_id), &private)?;
        let arguments = args![key_id, wrapped, again];
        moved += store
            .db
            .write(|cx| {
                Box::pin(async move {
                    let sql =
                        "UPDATE signing_keys SET wrapped = $3 WHERE key_id = $1 AND wrapped = $2";
                    cx.execute(sql, arguments).await
                })
            })
            .await?;
    }
    Ok(moved)
}

async fn newest(store: &Store, purpose: Purpose) -> Result<Option<Row>, StoreError> {
    store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql =
                    "SELECT * FROM signing_keys WHERE purpose = $1 ORDER BY version DESC LIMIT 1";
                cx.row(sql, args![purpose.word()]).await
            })
        })
        .await
}

fn open(store: &Store, purpose: Purpose, row: &Row) -> Result<Arc<SigningKey>, StoreError> {
    let public = public(row)?;
    let wrapped: Vec<u8> = row.get("wrapped")?;
    let master = store.ring.master().version(seal::key_version(&wrapped)?)?;
    let private = seal::unwrap(master, place(purpose.word(), &public.key_id), &wrapped)?;
    let private = Ed25519::from_bytes(private.bytes());
    if private.verifying_key().to_bytes() != public.bytes {
        return Err(StoreError::Corrupt {
            column: "signing_keys.public_key",
        });
    }
    Ok(Arc::new(SigningKey { public, private }))
}

fn public(row: &Row) -> Result<PublicKey, StoreError> {
    let bytes: Vec<u8> = row.get("public_key")?;
    Ok(PublicKey {
        version: row.get("version")?,
        key_id: row.get("key_id")?,
        bytes: bytes.try_into().map_err(|_| StoreError::Corrupt {
            column: "signing_keys.public_key",
        })?,
        created_at: row.get("created_at")?,
    })
}

async fn insert(
    store: &Store,
    purpose: Purpose,
    version: u32,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let private = SecretKey::generate();
    let public = Ed25519::from_bytes(private.bytes())
        .verifying_key()
        .to_bytes();
    let key_id = key_id(&public);
    let (master_version, master) = store.ring.master().current()?;
    let wrapped = seal::wrap(
        master,
        master_version,
        place(purpose.word(), &key_id),
        &private,
    )?;
    let arguments = args![purpose.word(), version, key_id, &public[..], wrapped, now];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "INSERT INTO signing_keys (purpose, version, key_id, public_key, wrapped, created_at) \
                           VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (purpose, version) DO NOTHING";
                cx.execute(sql, arguments).await
            })
        })
        .await
}

/// Whether the owner of `public` signed `message`.
pub fn verifies(public: &[u8; PUBLIC_BYTES], message: &[u8], signature: &[u8]) -> bool {
    let key = VerifyingKey::from_bytes(public);
    let signature = Signature::from_slice(signature);
    matches!((key, signature), (Ok(key), Ok(signature)) if key.verify_strict(message, &signature).is_ok())
}

/// What a public key is called: the first 8 bytes of its SHA-256, in hex.
pub fn key_id(public: &[u8; PUBLIC_BYTES]) -> String {
    let digest = Sha256::digest(public);
    let named = digest.get(..KEY_ID_BYTES).unwrap_or_default();
    hex::encode(named)
}

/// Bound to the purpose: whoever can write to the table cannot make one purpose's key another's.
fn place<'a>(purpose: &'a str, key_id: &'a str) -> Place<'a> {
    Place {
        table: "signing_keys",
        row_id: key_id,
        column: purpose,
        org_id: "",
    }
}
