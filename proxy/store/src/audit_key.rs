//! The name of the audit log and the key that signs its checkpoints: made once per deployment, sealed under the
//! master key, the same on every replica. Gives out a signer and the public half, never the key.

use svc_core::checkpoint::{Signer, Verifier};
use svc_core::merkle::{Edge, Head};
use svc_core::time::Timestamp;

use crate::engine::{Row, args};
use crate::seal::{Place, SecretKey};
use crate::{Store, StoreError};

/// The signer of the log; the first caller of all names the log and makes its key and its empty tree.
///
/// # Errors
/// Those of the database, and of a master key that does not open the signing key.
pub async fn open(store: &Store, fresh_origin: &str, now: Timestamp) -> Result<Signer, StoreError> {
    if let Some(signer) = load(store).await? {
        return Ok(signer);
    }
    let seed = SecretKey::generate();
    let wrapped = store.ring.wrap_at(place(fresh_origin), &seed)?;
    let signer = Signer::new(fresh_origin, seed.bytes());
    let key = args![
        1_i64,
        fresh_origin,
        signer.verifier().to_string(),
        wrapped,
        now
    ];
    let edge = Edge::default();
    let (size, root) = (edge.size(), edge.root());
    let tree = args![
        1_i64,
        size,
        edge.bytes(),
        signer.sign(&Head { size, root }),
        now
    ];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "INSERT INTO audit_key (only_row, origin, verifier, wrapped, created_at) \
                           VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
                if cx.execute(sql, key).await? == 1 {
                    let sql = "INSERT INTO audit_tree (only_row, size, edge, checkpoint, signed_at) \
                               VALUES ($1, $2, $3, $4, $5)";
                    cx.execute(sql, tree).await?;
                }
                Ok(())
            })
        })
        .await?;
    // Another replica may have been faster.
    let made = load(store).await?;
    made.ok_or(StoreError::Missing("audit signing key"))
}

/// The public half, where there is one yet.
///
/// # Errors
/// Those of the database.
pub async fn verifier(store: &Store) -> Result<Option<Verifier>, StoreError> {
    let row = read(store).await?;
    row.map(|row| {
        let text: String = row.get("verifier")?;
        Verifier::parse(&text).ok_or(StoreError::Corrupt { column: "verifier" })
    })
    .transpose()
}

/// Wraps the signing key with the current master key; the key itself stays.
///
/// # Errors
/// Those of the database, and of a master key that is not at hand.
pub async fn rewrap(store: &Store) -> Result<(), StoreError> {
    let Some(row) = read(store).await? else {
        return Ok(());
    };
    let (origin, seed) = unwrap(store, &row)?;
    let arguments = args![store.ring.wrap_at(place(&origin), &seed)?];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "UPDATE audit_key SET wrapped = $1 WHERE only_row = 1";
                cx.execute_one("audit signing key", sql, arguments).await
            })
        })
        .await
}

async fn load(store: &Store) -> Result<Option<Signer>, StoreError> {
    let Some(row) = read(store).await? else {
        return Ok(None);
    };
    let (origin, seed) = unwrap(store, &row)?;
    Ok(Some(Signer::new(&origin, seed.bytes())))
}

fn unwrap(store: &Store, row: &Row) -> Result<(String, SecretKey), StoreError> {
    let (origin, wrapped): (String, Vec<u8>) = (row.get("origin")?, row.get("wrapped")?);
    let seed = store.ring.unwrap_at(place(&origin), &wrapped)?;
    Ok((origin, seed))
}

async fn read(store: &Store) -> Result<Option<Row>, StoreError> {
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT origin, verifier, wrapped FROM audit_key WHERE only_row = 1";
                cx.row(sql, args![]).await
            })
        })
        .await
}

const fn place(origin: &str) -> Place<'_> {
    Place {
        table: "audit_key",
        row_id: origin,
        column: "wrapped",
        org_id: "",
    }
}
