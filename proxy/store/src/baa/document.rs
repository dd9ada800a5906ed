//! What was signed, as bytes: sealed under a key of the document's own, with a detached signature beside it. A stored
//! document is only ever read.

use sha2::{Digest, Sha256};
use svc_core::time::Timestamp;

use crate::engine::{Connection, Row, args};
use crate::seal::{self, Place, SecretKey};
use crate::signing_key::{self, Purpose, SigningKey};
use crate::{Store, StoreError, org_key};

/// A document that is ready to be stored.
pub struct Document {
    acceptance_id: String,
    org_id: String,
    wrapped_key: Vec<u8>,
    sealed: Vec<u8>,
    pub facts: DocumentFacts,
}

/// What everybody may know of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFacts {
    pub size_bytes: u64,
    /// Hex.
    pub sha256: String,
    /// Ed25519 over [`signed_message`].
    pub signature: Vec<u8>,
    pub signing_key_id: String,
}

/// What the signature of a document is over: the hex digits of its SHA-256, as the record shows them.
pub fn signed_message(sha256: &str) -> &[u8] {
    sha256.as_bytes()
}

/// Hashes, signs and seals the document of an acceptance.
///
/// # Errors
/// Those of the database and of the organization's key.
pub async fn seal_document(
    store: &Store,
    org_id: &str,
    acceptance_id: &str,
    key: &SigningKey,
    bytes: &[u8],
) -> Result<Document, StoreError> {
    let keys = org_key::load(store, org_id).await?;
    let (version, outer) = keys.current()?;
    let data_key = SecretKey::generate();
    let place = |column| place(org_id, acceptance_id, column);
    let digest = Sha256::digest(bytes);
    let sha256 = hex::encode(digest);
    Ok(Document {
        acceptance_id: acceptance_id.to_owned(),
        org_id: org_id.to_owned(),
        wrapped_key: seal::wrap(outer, version, place("wrapped_key"), &data_key)?,
        sealed: seal::seal(&data_key, seal::ONLY_VERSION, place("content"), bytes)?,
        facts: DocumentFacts {
            size_bytes: bytes.len() as u64,
            signature: key.sign(signed_message(&sha256)).to_vec(),
            signing_key_id: key.public.key_id.clone(),
            sha256,
        },
    })
}

/// The key that signs documents now.
///
/// # Errors
/// Those of the database and of the master key.
pub async fn signer(
    store: &Store,
    now: Timestamp,
) -> Result<std::sync::Arc<SigningKey>, StoreError> {
    signing_key::current(store, Purpose::Agreement, now).await
}

/// The document of an organization's acceptance; `None` where there is no such acceptance or it has none.
///
/// # Errors
/// Those of the database and of sealed columns; [`StoreError::Corrupt`] for bytes that are not those that were signed.
pub async fn read_document(
    store: &Store,
    org_id: &str,
    acceptance_id: &str,
) -> Result<Option<(Vec<u8>, DocumentFacts)>, StoreError> {
    let arguments = args![org_id, acceptance_id];
    let row = store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT wrapped_key, content, size_bytes, sha256 AS document_sha256, signature, signing_key_id \
                           FROM baa_documents WHERE org_id = $1 AND acceptance_id = $2";
                cx.row(sql, arguments).await
            })
        })
        .await?;
    let Some(row) = row else { return Ok(None) };
    let (wrapped, sealed): (Vec<u8>, Vec<u8>) = (row.get("wrapped_key")?, row.get("content")?);
    let key = unwrap(store, org_id, acceptance_id, &wrapped).await?;
    let bytes = seal::open(&key, place(org_id, acceptance_id, "content"), &sealed)?;
    let facts = facts(&row)?.ok_or(StoreError::Corrupt { column: "sha256" })?;
    let digest = Sha256::digest(&bytes);
    let sha256 = hex::encode(digest);
    if sha256 != facts.sha256 {
        return Err(StoreError::Corrupt { column: "sha256" });
    }
    Ok(Some((bytes, facts)))
}

/// Wraps data keys that older versions of the organization key have wrapped with the current one; documents stay as
/// they are. Returns how many.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn rewrap(store: &Store, org_id: &str) -> Result<u64, StoreError> {
    let keys = org_key::load(store, org_id).await?;
    let (version, current) = keys.current()?;
    let arguments = args![org_id];
    let rows = store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT acceptance_id, wrapped_key FROM baa_documents WHERE org_id = $1";
                cx.rows(sql, arguments).await
            })
        })
        .await?;
    let mut moved = 0;
    for row in rows {
        let (id, wrapped): (String, Vec<u8>) = (row.get("acceptance_id")?, row.get("wrapped_key")?);
        if seal::key_version(&wrapped)? == version {
            continue;
        }
        let key = unwrap(store, org_id, &id, &wrapped).await?;
        let again = seal::wrap(current, version, place(org_id, &id, "wrapped_key"), &key)?;
        let arguments = args![id, wrapped, again];
        moved += store
            .db
            .write(|cx| {
                Box::pin(async move {
                    let sql = "UPDATE baa_documents SET wrapped_key = $3 \
                               WHERE acceptance_id = $1 AND wrapped_key = $2";
                    cx.execute(sql, arguments).await
                })
            })
            .await?;
    }
    Ok(moved)
}

pub(super) async fn insert(cx: &mut Connection, document: &Document) -> Result<(), StoreError> {
    let Document {
        acceptance_id,
        org_id,
        wrapped_key,
        sealed,
        facts:
            DocumentFacts {
                size_bytes,
                sha256,
                signature,
                signing_key_id,
            },
    } = document;
    cx.execute(
        "INSERT INTO baa_documents (acceptance_id, org_id, wrapped_key, content, size_bytes, sha256, signature, \
         signing_key_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        args![
            acceptance_id,
            org_id,
            &wrapped_key[..],
            &sealed[..],
            *size_bytes,
            sha256,
            &signature[..],
            signing_key_id,
        ],
    )
    .await
    .map(drop)
}

pub(super) fn facts(row: &Row) -> Result<Option<DocumentFacts>, StoreError> {
    let size_bytes: Option<u64> = row.get("size_bytes")?;
    let Some(size_bytes) = size_bytes else {
        return Ok(None);
    };
    Ok(Some(DocumentFacts {
        size_bytes,
        sha256: row.get("document_sha256")?,
        signature: row.get("signature")?,
        signing_key_id: row.get("signing_key_id")?,
    }))
}

async fn unwrap(
    store: &Store,
    org_id: &str,
    acceptance_id: &str,
    wrapped: &[u8],
) -> Result<SecretKey, StoreError> {
    let outer = org_key::opening(store, org_id, wrapped).await?;
    Ok(seal::unwrap(
        &outer,
        place(org_id, acceptance_id, "wrapped_key"),
        wrapped,
    )?)
}

fn place<'a>(org_id: &'a str, acceptance_id: &'a str, column: &'a str) -> Place<'a> {
    Place {
        table: "baa_documents",
        row_id: acceptance_id,
        column,
        org_id,
    }
}
