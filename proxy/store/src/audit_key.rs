//! The name of the audit log and who signs its checkpoints and exports: the deployment's key for that purpose
//! ([`crate::signing_key`]). Gives out a signer and the public half, never the key.

use svc_core::checkpoint::{Signer, Verifier};
use svc_core::merkle::{Edge, Head};
use svc_core::time::Timestamp;

use crate::engine::args;
use crate::signing_key::{self, PublicKey, Purpose};
use crate::{Store, StoreError};

/// The signer of the log; the first caller of all names the log and makes its key and its empty tree.
///
/// # Errors
/// Those of the database, and of a master key that does not open the signing key.
pub async fn open(store: &Store, fresh_origin: &str, now: Timestamp) -> Result<Signer, StoreError> {
    let key = signing_key::current(store, Purpose::AuditCheckpoint, now).await?;
    if let Some((origin, _)) = tree(store).await? {
        return Ok(Signer::new(&origin, key.private().clone()));
    }
    let signer = Signer::new(fresh_origin, key.private().clone());
    let edge = Edge::default();
    let (size, root) = (edge.size(), edge.root());
    let checkpoint = signer.sign(&Head { size, root });
    let arguments = args![1_i64, fresh_origin, size, edge.bytes(), checkpoint, now];
    let written = store.db.write(|cx| {
        Box::pin(async move {
            let sql = "INSERT INTO audit_tree (only_row, origin, size, edge, checkpoint, signed_at) \
                       VALUES ($1, $2, $3, $4, $5, $6)";
            cx.execute(sql, arguments).await
        })
    });
    match written.await {
        // Another replica may have been faster: what is stored counts.
        Ok(_) | Err(StoreError::Exists { .. }) => {}
        Err(error) => return Err(error),
    }
    let (origin, _) = tree(store)
        .await?
        .ok_or(StoreError::Missing("audit tree"))?;
    Ok(Signer::new(&origin, key.private().clone()))
}

/// The public half of the key that signed the newest checkpoint; `None` before there is one.
///
/// # Errors
/// Those of the database; [`StoreError::Corrupt`] for a checkpoint that none of the keys signed.
pub async fn verifier(store: &Store) -> Result<Option<Verifier>, StoreError> {
    let signed_it = signed_by(store).await?;
    Ok(signed_it.map(|(_, verifier)| verifier))
}

/// Who signed the newest checkpoint, to sign what goes with it; `None` before there is one.
///
/// # Errors
/// Those of [`verifier`], and of a master key that does not open the signing key.
pub async fn signer(store: &Store) -> Result<Option<Signer>, StoreError> {
    let Some((public, verifier)) = signed_by(store).await? else {
        return Ok(None);
    };
    let key = signing_key::of_public(store, Purpose::AuditCheckpoint, &public.bytes).await?;
    Ok(Some(Signer::new(verifier.origin(), key.private().clone())))
}

async fn signed_by(store: &Store) -> Result<Option<(PublicKey, Verifier)>, StoreError> {
    let Some((origin, checkpoint)) = tree(store).await? else {
        return Ok(None);
    };
    let keys = signing_key::public_keys(store, Purpose::AuditCheckpoint).await?;
    let mut verifiers = keys.into_iter().rev().filter_map(|key| {
        let verifier = Verifier::new(&origin, &key.bytes)?;
        Some((key, verifier))
    });
    let signed_it = verifiers.find(|(_, verifier)| verifier.open(&checkpoint).is_ok());
    let corrupt = StoreError::Corrupt {
        column: "checkpoint",
    };
    signed_it.map(Some).ok_or(corrupt)
}

/// The name of the log and its newest checkpoint.
async fn tree(store: &Store) -> Result<Option<(String, String)>, StoreError> {
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT origin, checkpoint FROM audit_tree WHERE only_row = 1";
                let row = cx.row(sql, args![]).await?;
                row.map(|row| Ok((row.get("origin")?, row.get("checkpoint")?)))
                    .transpose()
            })
        })
        .await
}
