//! Keys of the people that agents speak with. Conversations of a person are sealed below the person's own key; to
//! erase a person is to destroy that key, and nothing of theirs opens any more (contract 19.4).

use svc_core::id::IdKind;
use svc_core::secret::{self, Mode};
use svc_core::time::Timestamp;

use crate::audit;
use crate::engine::{Connection, Row, args};
use crate::seal::{self, Place, SecretKey};
use crate::{Store, StoreError, Transaction, org_key, phi_list};

/// The opened key of a person.
#[derive(Clone)]
pub struct EndUserKey {
    pub(crate) id: String,
    pub(crate) key: SecretKey,
}

/// What an erasure has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Keys that are no more: one for each mode in which the person was known.
    pub keys: u64,
    /// Conversations that do not open any more.
    pub conversations: u64,
}

/// The key of a person; made where there is none. Whoever begins to speak with a person asks for it then, and not when
/// there is something to store: who is erased in between is erased.
///
/// # Errors
/// Those of the database and of the keys.
pub async fn key_of(
    store: &Store,
    org_id: &str,
    mode: Mode,
    runtime_user: &str,
    now: Timestamp,
) -> Result<EndUserKey, StoreError> {
    if let Some(row) = find(store, org_id, mode, runtime_user).await? {
        return open_row(store, org_id, &row).await;
    }
    let id = IdKind::Bare.make(now, rand::random());
    let keys = org_key::load(store, org_id).await?;
    let (version, outer) = keys.current()?;
    let wrapped = seal::wrap(outer, version, place(&id, org_id), &SecretKey::generate())?;
    let arguments = args![id, org_id, mode, runtime_user, wrapped, now];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "INSERT INTO end_user_keys (id, org_id, mode, runtime_user, wrapped, created_at) \
                           VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (org_id, mode, runtime_user) DO NOTHING";
                cx.execute(sql, arguments).await
            })
        })
        .await?;
    // Another turn of the same person may have been faster: what is stored counts.
    let row = find(store, org_id, mode, runtime_user).await?;
    open_row(
        store,
        org_id,
        &row.ok_or(StoreError::Missing("end user key"))?,
    )
    .await
}

/// How an audit row names a person: HMAC-SHA-256 in hex, under the key of the organization's lists. The same for all rows
/// about that person; without the key nobody can try names.
///
/// # Errors
/// Those of the database and of the keys.
pub async fn pseudonym(
    store: &Store,
    org_id: &str,
    runtime_user: &str,
    now: Timestamp,
) -> Result<String, StoreError> {
    let key = phi_list::made(store, org_id, now).await?;
    let digest = secret::keyed_digest(key.bytes(), "end user", runtime_user);
    Ok(hex::encode(digest))
}

/// Opens the key with this id.
pub(crate) async fn open(
    store: &Store,
    org_id: &str,
    id: String,
    wrapped: &[u8],
) -> Result<EndUserKey, StoreError> {
    let outer = org_key::opening(store, org_id, wrapped).await?;
    let key = seal::unwrap(&outer, place(&id, org_id), wrapped)?;
    Ok(EndUserKey { id, key })
}

/// Destroys the keys of a person in both modes, takes their name off their conversations, and says so in the audit log;
/// all or nothing. Erasing somebody who is erased or was never known changes nothing and writes no row.
///
/// # Errors
/// Those of the database.
pub async fn erase(
    store: &Store,
    org_id: &str,
    runtime_user: &str,
    now: Timestamp,
    row: impl FnOnce(Erased) -> audit::Row + Send + 'static,
) -> Result<Erased, StoreError> {
    let (keys, conversations) = (
        args![org_id, runtime_user, now],
        args![org_id, runtime_user, Vec::<u8>::new()],
    );
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let erased = Erased {
                    keys: cx
                        .execute(
                            "UPDATE end_user_keys SET wrapped = NULL, runtime_user = NULL, erased_at = $3 \
                             WHERE org_id = $1 AND runtime_user = $2",
                            keys,
                        )
                        .await?,
                    // Conversations from before there were keys of people lose their own.
                    conversations: cx
                        .execute(
                            "UPDATE conversations SET wrapped_key = $3, phi_map = NULL, runtime_user = NULL \
                             WHERE org_id = $1 AND runtime_user = $2",
                            conversations,
                        )
                        .await?,
                };
                if erased != Erased::default() {
                    audit::record(&mut Transaction::alone(cx), &row(erased)).await?;
                }
                Ok(erased)
            })
        })
        .await
}

/// Wraps keys that older versions of the organization key have wrapped with the current one. Returns how many.
///
/// # Errors
/// Those of the database and of sealed columns.
pub async fn rewrap(store: &Store, org_id: &str) -> Result<u64, StoreError> {
    let keys = org_key::load(store, org_id).await?;
    let (version, current) = keys.current()?;
    let mut after = String::new();
    let mut moved = 0;
    loop {
        let page = args![org_id, &after];
        let rows = store
            .db
            .read(|cx| {
                Box::pin(async move {
                    let sql = "SELECT id, wrapped FROM end_user_keys \
                               WHERE org_id = $1 AND erased_at IS NULL AND id > $2 ORDER BY id LIMIT 100";
                    cx.rows(sql, page).await
                })
            })
            .await?;
        let Some(last) = rows.last() else {
            return Ok(moved);
        };
        after = last.get("id")?;
        for row in &rows {
            let wrapped: Vec<u8> = row.get("wrapped")?;
            if seal::key_version(&wrapped)? == version {
                continue;
            }
            let EndUserKey { id, key } = open_row(store, org_id, row).await?;
            let again = seal::wrap(current, version, place(&id, org_id), &key)?;
            // Conditional: a key that was destroyed meanwhile stays destroyed.
            let arguments = args![id, wrapped, again];
            moved += store
                .db
                .write(|cx| Box::pin(async move { replace(cx, arguments).await }))
                .await?;
        }
    }
}

async fn replace(
    cx: &mut Connection,
    arguments: Vec<crate::engine::Arg>,
) -> Result<u64, StoreError> {
    let sql = "UPDATE end_user_keys SET wrapped = $3 WHERE id = $1 AND wrapped = $2";
    cx.execute(sql, arguments).await
}

async fn find(
    store: &Store,
    org_id: &str,
    mode: Mode,
    runtime_user: &str,
) -> Result<Option<Row>, StoreError> {
    let arguments = args![org_id, mode, runtime_user];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT id, wrapped FROM end_user_keys \
                           WHERE org_id = $1 AND mode = $2 AND runtime_user = $3";
                cx.row(sql, arguments).await
            })
        })
        .await
}

async fn open_row(store: &Store, org_id: &str, row: &Row) -> Result<EndUserKey, StoreError> {
    let wrapped: Vec<u8> = row.get("wrapped")?;
    open(store, org_id, row.get("id")?, &wrapped).await
}

fn place<'a>(id: &'a str, org_id: &'a str) -> Place<'a> {
    Place {
        table: "end_user_keys",
        row_id: id,
        column: "wrapped",
        org_id,
    }
}
