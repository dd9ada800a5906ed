//! Values that an organization always or never takes out of its texts. Kept as HMAC-SHA-256 under a key of the
//! organization's own, which the organization key wraps: no function here lets a value reach a statement.

use svc_core::phi::{DIGEST_BYTES, Kind, ListEntry, ListKey, ListedValue, Listing, ValueLists};
use svc_core::time::Timestamp;

use crate::audit;
use crate::engine::{Connection, Row, args};
use crate::org_key;
use crate::seal::{self, Place, SecretKey};
use crate::{Store, StoreError};

/// Values of one organization, on both lists together: a replica holds them in memory.
pub const MAX_VALUES: usize = 10_000;

/// Values of one change: each is a statement of one transaction, which may take 10 s in all.
pub const MAX_VALUES_PER_CHANGE: usize = 1_000;

/// One entry. What it stands for cannot be read from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub digest: [u8; DIGEST_BYTES],
    /// Bytes of the value's letters and digits.
    pub value_bytes: u32,
    pub listing: Listing,
    pub created_at: Timestamp,
}

/// Puts values on a list; one that stands on the other list leaves it. Returns how many the organization has then.
/// `audit` says who did it and is written with the change.
///
/// # Errors
/// [`StoreError::Missing`] for an unknown organization; [`StoreError::TooMany`] above [`MAX_VALUES`] or
/// [`MAX_VALUES_PER_CHANGE`].
pub async fn put(
    store: &Store,
    org_id: &str,
    listing: &Listing,
    values: &[ListedValue],
    now: Timestamp,
    audit: &audit::Row,
) -> Result<u64, StoreError> {
    bound(values.len())?;
    let key = ListKey::new(made(store, org_id, now).await?.bytes());
    let values: Vec<(Vec<u8>, i64)> = values
        .iter()
        .map(|value| {
            let bytes = i64::try_from(value.bytes()).unwrap_or(i64::MAX);
            (value.digest(&key).to_vec(), bytes)
        })
        .collect();
    let (list, kind) = words(listing);
    let (org, audit) = (org_id.to_owned(), audit.arguments()?);
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                advance(cx, &org, now).await?;
                for (digest, bytes) in values {
                    cx.execute(
                        "INSERT INTO phi_list_entries (org_id, digest, value_bytes, list, kind, created_at) \
                         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (org_id, digest) \
                         DO UPDATE SET list = excluded.list, kind = excluded.kind, created_at = excluded.created_at",
                        args![&org, digest, bytes, list, kind.clone(), now],
                    )
                    .await?;
                }
                let held = count(cx, &org).await?;
                if held > MAX_VALUES as u64 {
                    return Err(StoreError::TooMany(format!(
                        "the lists of an organization hold at most {MAX_VALUES} values"
                    )));
                }
                audit::insert(cx, &audit).await?;
                Ok(held)
            })
        })
        .await
}

fn bound(values: usize) -> Result<(), StoreError> {
    if values > MAX_VALUES_PER_CHANGE {
        let problem = format!("one change names at most {MAX_VALUES_PER_CHANGE} values");
        return Err(StoreError::TooMany(problem));
    }
    Ok(())
}

/// Takes values off their lists; returns how many stood there. `audit` is written with the change; where none stood
/// there, nothing is.
///
/// # Errors
/// [`StoreError::TooMany`] above [`MAX_VALUES_PER_CHANGE`]; those of the database.
pub async fn remove(
    store: &Store,
    org_id: &str,
    digests: &[[u8; DIGEST_BYTES]],
    now: Timestamp,
    audit: &audit::Row,
) -> Result<u64, StoreError> {
    bound(digests.len())?;
    let digests: Vec<Vec<u8>> = digests.iter().map(|digest| digest.to_vec()).collect();
    let (org, audit) = (org_id.to_owned(), audit.arguments()?);
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                let mut removed = 0;
                for digest in digests {
                    let sql = "DELETE FROM phi_list_entries WHERE org_id = $1 AND digest = $2";
                    removed += cx.execute(sql, args![&org, digest]).await?;
                }
                if removed > 0 {
                    advance(cx, &org, now).await?;
                    audit::insert(cx, &audit).await?;
                }
                Ok(removed)
            })
        })
        .await
}

/// The digests that these values have in an organization without asking whether they are listed; none where it has no
/// list.
///
/// # Errors
/// Those of the database and of the keys.
pub async fn digests(
    store: &Store,
    org_id: &str,
    values: &[ListedValue],
) -> Result<Vec<[u8; DIGEST_BYTES]>, StoreError> {
    let Some((key, _)) = header(store, org_id).await? else {
        return Ok(Vec::new());
    };
    let key = ListKey::new(key.bytes());
    Ok(values.iter().map(|value| value.digest(&key)).collect())
}

/// All entries, in the order of their digests.
///
/// # Errors
/// Those of the database.
pub async fn entries(store: &Store, org_id: &str) -> Result<Vec<Entry>, StoreError> {
    let org = org_id.to_owned();
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT digest, value_bytes, list, kind, created_at FROM phi_list_entries \
                           WHERE org_id = $1 ORDER BY digest";
                let rows = cx.rows(sql, args![org]).await?;
                rows.iter().map(from_row).collect()
            })
        })
        .await
}

/// Counts the changes of an organization's lists; 0 where it never had one.
///
/// # Errors
/// Those of the database.
pub async fn revision(store: &Store, org_id: &str) -> Result<i64, StoreError> {
    let org = org_id.to_owned();
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT revision FROM phi_lists WHERE org_id = $1";
                let row = cx.row(sql, args![org]).await?;
                row.map_or(Ok(0), |row| row.get("revision"))
            })
        })
        .await
}

/// The lists of an organization, ready to look for values, with a revision that is not newer than they are.
///
/// # Errors
/// Those of the database and of the keys.
pub async fn load(store: &Store, org_id: &str) -> Result<(i64, ValueLists), StoreError> {
    let Some((key, revision)) = header(store, org_id).await? else {
        return Ok((0, ValueLists::new(ListKey::new(&[0; DIGEST_BYTES]), [])));
    };
    let entries = entries(store, org_id).await?.into_iter().map(|entry| {
        let Entry {
            digest,
            value_bytes,
            listing,
            created_at: _,
        } = entry;
        ListEntry {
            digest,
            bytes: value_bytes as usize,
            listing,
        }
    });
    Ok((
        revision,
        ValueLists::new(ListKey::new(key.bytes()), entries),
    ))
}

/// Wraps the lists' key with the organization's newest one.
///
/// # Errors
/// Those of the database and of the keys.
pub async fn rewrap(store: &Store, org_id: &str) -> Result<(), StoreError> {
    let Some((key, _)) = header(store, org_id).await? else {
        return Ok(());
    };
    let keys = org_key::load(store, org_id).await?;
    let (version, outer) = keys.current()?;
    let wrapped = seal::wrap(outer, version, place(org_id), &key)?;
    let arguments = args![org_id, wrapped];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "UPDATE phi_lists SET wrapped_key = $2 WHERE org_id = $1";
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await
}

/// The key of an organization's lists, made on first use. It outlives rotations of the organization's key, and goes with
/// the organization.
pub(crate) async fn made(
    store: &Store,
    org_id: &str,
    now: Timestamp,
) -> Result<SecretKey, StoreError> {
    if let Some((key, _)) = header(store, org_id).await? {
        return Ok(key);
    }
    let keys = org_key::load(store, org_id).await?;
    let (version, outer) = keys.current()?;
    let wrapped = seal::wrap(outer, version, place(org_id), &SecretKey::generate())?;
    let arguments = args![org_id, wrapped, now];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "INSERT INTO phi_lists (org_id, wrapped_key, revision, updated_at) \
                           VALUES ($1, $2, 0, $3) ON CONFLICT (org_id) DO NOTHING";
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await?;
    // Another process may have been faster; its key is the one.
    let (key, _) = header(store, org_id)
        .await?
        .ok_or(StoreError::Missing("PHI lists"))?;
    Ok(key)
}

/// Key and revision of an organization's lists.
async fn header(store: &Store, org_id: &str) -> Result<Option<(SecretKey, i64)>, StoreError> {
    let org = org_id.to_owned();
    let row = store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT wrapped_key, revision FROM phi_lists WHERE org_id = $1";
                let Some(row) = cx.row(sql, args![org]).await? else {
                    return Ok(None);
                };
                let wrapped: Vec<u8> = row.get("wrapped_key")?;
                Ok(Some((wrapped, row.get("revision")?)))
            })
        })
        .await?;
    let Some((wrapped, revision)) = row else {
        return Ok(None);
    };
    let outer = org_key::opening(store, org_id, &wrapped).await?;
    let key = seal::unwrap(&outer, place(org_id), &wrapped)?;
    Ok(Some((key, revision)))
}

/// Takes the lock of the organization's lists, and says that they have changed.
async fn advance(cx: &mut Connection, org_id: &str, now: Timestamp) -> Result<(), StoreError> {
    cx.execute_one(
        "PHI lists",
        "UPDATE phi_lists SET revision = revision + 1, updated_at = $2 WHERE org_id = $1",
        args![org_id, now],
    )
    .await
}

async fn count(cx: &mut Connection, org_id: &str) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS found FROM phi_list_entries WHERE org_id = $1";
    cx.count(sql, args![org_id]).await
}

fn words(listing: &Listing) -> (&'static str, Option<String>) {
    match listing {
        Listing::Allow => (ALLOW, None),
        Listing::Deny(kind) => (DENY, Some(kind.as_str().to_owned())),
    }
}

const ALLOW: &str = "allow";
const DENY: &str = "deny";

fn from_row(row: &Row) -> Result<Entry, StoreError> {
    let (list, kind): (String, Option<String>) = (row.get("list")?, row.get("kind")?);
    Ok(Entry {
        digest: row.get("digest")?,
        value_bytes: row.get("value_bytes")?,
        listing: match (list.as_str(), kind) {
            (ALLOW, None) => Listing::Allow,
            (DENY, Some(kind)) => Listing::Deny(Kind::named(&kind)),
            _ => return Err(StoreError::Corrupt { column: "list" }),
        },
        created_at: row.get("created_at")?,
    })
}

fn place(org_id: &str) -> Place<'_> {
    Place {
        table: "phi_lists",
        row_id: org_id,
        column: "wrapped_key",
        org_id,
    }
}
