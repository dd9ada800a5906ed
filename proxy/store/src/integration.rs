//! Credentials of other services (contract 11). The secret is sealed under a key of its own, made anew with every
//! secret, which the organization key wraps; revoking a credential destroys both (contract 19.4).

use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::api_key::{Creator, LAST_USED_STEP_MS};
use crate::engine::{Connection, Row, args};
use crate::page::{Listing, Page, Paged};
use crate::seal::Content;
use crate::sealed_secret::{self, Owner, SealedSecret, Table, table};
use crate::{Store, StoreError, Transaction, organization};

static TABLE: Table = table!("integrations", "id");

/// Rows with the number of their bindings.
macro_rules! select {
    () => {
        "SELECT * FROM (SELECT c.*, (SELECT COUNT(*) FROM integration_bindings b WHERE b.integration_id = c.id) \
         AS bindings_count FROM integrations c) AS i"
    };
}

/// One credential, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integration {
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub name: String,
    /// As it was given; every call goes below it.
    pub base_url: String,
    pub auth: Auth,
    /// End of the secret, for people.
    pub secret_hint: String,
    /// One more with every rotation.
    pub secret_version: u32,
    /// Names that lead to it now.
    pub bindings_count: u32,
    pub created_by: Creator,
    pub created_at: Timestamp,
    pub rotated_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    /// Accurate to [`LAST_USED_STEP_MS`].
    pub last_used_at: Option<Timestamp>,
}

/// How the secret is presented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    Bearer,
    Basic { username: String },
    Header { name: String },
}

impl Auth {
    /// The word of `auth.scheme`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Bearer => "bearer",
            Self::Basic { .. } => "basic",
            Self::Header { .. } => "header",
        }
    }

    fn name(&self) -> Option<&str> {
        match self {
            Self::Bearer => None,
            Self::Basic { username: name } | Self::Header { name } => Some(name),
        }
    }

    fn parse(word: &str, name: Option<String>) -> Option<Self> {
        match (word, name) {
            ("bearer", None) => Some(Self::Bearer),
            ("basic", Some(username)) => Some(Self::Basic { username }),
            ("header", Some(name)) => Some(Self::Header { name }),
            _ => None,
        }
    }
}

/// Seals the secret of the credential `id` under a fresh key.
///
/// # Errors
/// Those of the organization's keys.
pub async fn seal_secret(
    store: &Store,
    org_id: &str,
    id: &str,
    secret: &Content,
) -> Result<SealedSecret, StoreError> {
    sealed_secret::seal(store, owner(id, org_id), secret).await
}

/// Opens the secret of a credential.
pub(crate) async fn open_secret(
    store: &Store,
    integration: &Integration,
    sealed: &SealedSecret,
) -> Result<Content, StoreError> {
    sealed_secret::open(store, owner(&integration.id, &integration.org_id), sealed).await
}

/// Stores a credential.
///
/// # Errors
/// Those of the database.
pub async fn insert(
    tx: &mut Transaction<'_>,
    integration: &Integration,
    sealed: SealedSecret,
) -> Result<(), StoreError> {
    let Integration {
        id,
        org_id,
        mode,
        name,
        base_url,
        auth,
        secret_hint,
        secret_version,
        bindings_count: _,
        created_by,
        created_at,
        rotated_at,
        revoked_at,
        last_used_at,
    } = integration;
    let SealedSecret {
        secret,
        wrapped_key,
    } = sealed;
    tx.cx
        .execute(
            "INSERT INTO integrations (id, org_id, mode, type, name, base_url, auth_scheme, auth_name, secret, \
             wrapped_key, secret_hint, secret_version, created_by_type, created_by_id, created_at, rotated_at, \
             revoked_at, last_used_at) \
             VALUES ($1, $2, $3, 'custom_http', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
            args![
                id,
                org_id,
                *mode,
                name,
                base_url,
                auth.word(),
                auth.name(),
                secret,
                wrapped_key,
                secret_hint,
                *secret_version,
                &created_by.kind,
                &created_by.id,
                *created_at,
                *rotated_at,
                *revoked_at,
                *last_used_at,
            ],
        )
        .await
        .map(drop)
}

/// Locks a credential for the rest of the transaction: nobody rotates, revokes or binds it meanwhile.
///
/// # Errors
/// Those of the database.
pub async fn lock(
    tx: &mut Transaction<'_>,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Integration>, StoreError> {
    // As `agent::lock`: an update that changes nothing holds the row on both engines alike.
    let sql = "UPDATE integrations SET name = name WHERE id = $1 AND org_id = $2 AND mode = $3";
    tx.cx.execute(sql, args![id, org_id, mode]).await?;
    read(tx.cx, org_id, mode, id).await
}

/// Puts another secret in the place of the old one, which is gone with it.
///
/// # Errors
/// [`StoreError::Missing`] for a credential that is not there or revoked.
pub async fn rotate(
    tx: &mut Transaction<'_>,
    integration: &Integration,
    sealed: SealedSecret,
) -> Result<(), StoreError> {
    let SealedSecret {
        secret,
        wrapped_key,
    } = sealed;
    let arguments = args![
        &integration.id,
        secret,
        wrapped_key,
        &integration.secret_hint,
        integration.secret_version,
        integration.rotated_at
    ];
    let sql = "UPDATE integrations SET secret = $2, wrapped_key = $3, secret_hint = $4, secret_version = $5, \
               rotated_at = $6 WHERE id = $1 AND revoked_at IS NULL";
    tx.cx.execute_one("integration", sql, arguments).await
}

/// Revokes a credential and destroys its secret; one that is revoked keeps its first time. Its bindings stay.
///
/// # Errors
/// Those of the database.
pub async fn revoke(tx: &mut Transaction<'_>, id: &str, now: Timestamp) -> Result<(), StoreError> {
    let sql = "UPDATE integrations SET revoked_at = $2, secret = NULL, wrapped_key = NULL \
               WHERE id = $1 AND revoked_at IS NULL";
    tx.cx.execute(sql, args![id, now]).await.map(drop)
}

/// The credential of this organization and mode with this id.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Integration>, StoreError> {
    let (org_id, id) = (org_id.to_owned(), id.to_owned());
    store
        .db
        .read(move |cx| Box::pin(async move { read(cx, &org_id, mode, &id).await }))
        .await
}

/// How many credentials an organization has that are not revoked, and will have until one is added in this transaction.
///
/// # Errors
/// Those of the database.
pub async fn count_active(
    tx: &mut Transaction<'_>,
    org_id: &str,
    mode: Mode,
) -> Result<u32, StoreError> {
    organization::hold(tx, org_id).await?;
    let sql = "SELECT COUNT(*) AS found FROM integrations \
               WHERE org_id = $1 AND mode = $2 AND revoked_at IS NULL";
    tx.cx.count(sql, args![org_id, mode]).await
}

/// A page of an organization's credentials; `revoked` keeps those that are, or are not.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    org_id: &str,
    mode: Mode,
    revoked: Option<bool>,
    page: &Page,
) -> Result<Paged<Integration>, StoreError> {
    let mut listing = Listing::new(
        concat!(select!(), " WHERE i.org_id = $1 AND i.mode = $2"),
        args![org_id, mode],
    );
    listing.only_set("i.revoked_at", revoked);
    listing.page(store, page, from_row).await
}

/// Notes that a credential was used, at most once in [`LAST_USED_STEP_MS`].
///
/// # Errors
/// Those of the database.
pub async fn touch(store: &Store, id: &str, now: Timestamp) -> Result<(), StoreError> {
    let arguments = args![id, now, now.plus_ms(-LAST_USED_STEP_MS)];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "UPDATE integrations SET last_used_at = $2 \
                           WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)";
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await
}

/// Wraps the keys of an organization's secrets with its newest key.
///
/// # Errors
/// Those of the database and of the keys.
pub async fn rewrap(store: &Store, org_id: &str) -> Result<u64, StoreError> {
    sealed_secret::rewrap(store, &TABLE, org_id).await
}

async fn read(
    cx: &mut Connection,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Integration>, StoreError> {
    let sql = concat!(
        select!(),
        " WHERE i.id = $1 AND i.org_id = $2 AND i.mode = $3"
    );
    cx.one(sql, args![id, org_id, mode], from_row).await
}

/// A row of [`select`], or of a join that names its columns alike.
pub(crate) fn from_row(row: &Row) -> Result<Integration, StoreError> {
    let scheme: String = row.get("auth_scheme")?;
    let auth = Auth::parse(&scheme, row.get("auth_name")?);
    Ok(Integration {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        name: row.get("name")?,
        base_url: row.get("base_url")?,
        auth: auth.ok_or(StoreError::Corrupt {
            column: "auth_scheme",
        })?,
        secret_hint: row.get("secret_hint")?,
        secret_version: row.get("secret_version")?,
        bindings_count: row.get("bindings_count")?,
        created_by: Creator::from_row(row)?,
        created_at: row.get("created_at")?,
        rotated_at: row.get("rotated_at")?,
        revoked_at: row.get("revoked_at")?,
        last_used_at: row.get("last_used_at")?,
    })
}

const fn owner<'a>(id: &'a str, org_id: &'a str) -> Owner<'a> {
    Owner {
        table: &TABLE,
        row_id: id,
        org_id,
    }
}
