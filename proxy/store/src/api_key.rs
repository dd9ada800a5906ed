//! API keys (contract 9): kept as SHA-256, found by it together with all that the gates ask about the caller.

use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::baa;
use crate::engine::{Connection, Row, args};
use crate::organization::{self, Organization, organization_columns};
use crate::page::{Listing, Page, Paged};
use crate::user::Role;
use crate::{Store, StoreError, Transaction};

/// One key. The secret itself is nowhere in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub name: String,
    /// Prefix and last four characters.
    pub hint: String,
    /// Words of [`svc_core::scope::Scope`].
    pub scopes: Vec<String>,
    /// A date of [`svc_core::version::ApiVersion`], for requests that name none.
    pub default_version: Option<String>,
    /// Requests per minute; `None` is the policy's default.
    pub per_minute: Option<u32>,
    /// The user who answers for what the key does.
    pub delegating_user_id: Option<String>,
    pub created_by: Creator,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    /// Accurate to [`LAST_USED_STEP_MS`].
    pub last_used_at: Option<Timestamp>,
}

/// Who made a key: `user` or `api_key`, and its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creator {
    pub kind: String,
    pub id: String,
}

impl Creator {
    /// Of the columns `created_by_type` and `created_by_id`.
    pub(crate) fn from_row(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            kind: row.get("created_by_type")?,
            id: row.get("created_by_id")?,
        })
    }
}

/// Where a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Active,
    Expired,
    Revoked,
}

impl ApiKey {
    /// Where it stands at `now`: revoked before expired.
    pub fn status(&self, now: Timestamp) -> Status {
        if self.revoked_at.is_some() {
            Status::Revoked
        } else if self.expires_at.is_some_and(|end| end <= now) {
            Status::Expired
        } else {
            Status::Active
        }
    }
}

impl Status {
    /// In the order of the contract's list.
    pub const ALL: &[Self] = &[Self::Active, Self::Expired, Self::Revoked];

    /// The word of `status`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }

    /// Reads a word of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|status| status.word() == word)
    }

    /// What a row of this status fulfils at the time `?`.
    const fn condition(self) -> &'static str {
        match self {
            Self::Active => "(revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?))",
            Self::Expired => "(revoked_at IS NULL AND expires_at <= ?)",
            Self::Revoked => "(revoked_at <= ?)",
        }
    }
}

/// Filters of a list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Any of these; empty: all.
    pub status: Vec<Status>,
    /// `None`: both.
    pub mode: Option<Mode>,
    /// Id of the user or key that made it.
    pub created_by: Option<String>,
}

/// A key with everything that the gates ask about its caller, read in one go.
#[derive(Clone)]
pub struct Verdict {
    pub key: ApiKey,
    pub delegating_user: Option<DelegatingUser>,
    pub organization: Organization,
    pub baa: baa::Standing,
}

/// The user who answers for a credential, as far as the gates ask about them (contract 2, step 7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegatingUser {
    pub id: String,
    pub role: Role,
    pub suspended: bool,
}

/// 60 s: accuracy of `last_used_at` (contract 9).
pub const LAST_USED_STEP_MS: i64 = 60_000;

/// Stores a key under the digest of its secret ([`svc_core::secret::digest`]).
///
/// # Errors
/// [`StoreError::Exists`] when the id or the digest is taken.
pub async fn create(store: &Store, key: &ApiKey, digest: &[u8; 32]) -> Result<(), StoreError> {
    let (key, digest) = (key.clone(), *digest);
    store
        .db
        .write(move |cx| Box::pin(async move { insert(cx, &key, &digest).await }))
        .await
}

/// As [`create`], in a transaction.
///
/// # Errors
/// As [`create`].
pub async fn issue(
    tx: &mut Transaction<'_>,
    key: &ApiKey,
    digest: &[u8; 32],
) -> Result<(), StoreError> {
    insert(tx.cx, key, digest).await
}

pub(crate) async fn insert(
    cx: &mut Connection,
    key: &ApiKey,
    digest: &[u8; 32],
) -> Result<(), StoreError> {
    let ApiKey {
        id,
        org_id,
        mode,
        name,
        hint,
        scopes,
        default_version,
        per_minute,
        delegating_user_id,
        created_by,
        created_at,
        expires_at,
        revoked_at,
        last_used_at,
    } = key;
    cx.execute(
        "INSERT INTO api_keys (id, org_id, mode, name, digest, hint, scopes, default_version, per_minute, \
         delegating_user_id, created_by_type, created_by_id, created_at, expires_at, revoked_at, last_used_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        args![
            id,
            org_id,
            *mode,
            name,
            &digest[..],
            hint,
            &scopes[..],
            default_version,
            *per_minute,
            delegating_user_id,
            &created_by.kind,
            &created_by.id,
            *created_at,
            *expires_at,
            *revoked_at,
            *last_used_at,
        ],
    )
    .await
    .map(drop)
}

/// The key with this digest, whatever its status, and what belongs to it at `now`.
///
/// # Errors
/// Those of the database and of its sealed columns.
pub async fn find_by_digest(
    store: &Store,
    digest: &[u8; 32],
    now: Timestamp,
) -> Result<Option<Verdict>, StoreError> {
    let digest = digest.to_vec();
    let found = store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = concat!(
                    "SELECT k.*, u.role AS delegating_role, u.status AS delegating_status, ",
                    organization_columns!(),
                    " FROM api_keys k JOIN organizations o ON o.id = k.org_id \
                     LEFT JOIN users u ON u.id = k.delegating_user_id AND u.org_id = k.org_id \
                     WHERE k.digest = $1",
                );
                let Some(row) = cx.row(sql, args![digest]).await? else {
                    return Ok(None);
                };
                let key = from_row(&row)?;
                let user = delegating_user(&row, key.delegating_user_id.as_deref())?;
                let baa = baa::read_standing(cx, &key.org_id, now).await?;
                Ok(Some((key, user, organization::from_row(&row)?, baa)))
            })
        })
        .await?;
    let Some((key, delegating_user, stored, baa)) = found else {
        return Ok(None);
    };
    Ok(Some(Verdict {
        key,
        delegating_user,
        organization: organization::open(store, stored).await?,
        baa,
    }))
}

/// The user of this id, whose columns `delegating_role` and `delegating_status` stand in the row.
pub(crate) fn delegating_user(
    row: &Row,
    id: Option<&str>,
) -> Result<Option<DelegatingUser>, StoreError> {
    let role: Option<String> = row.get("delegating_role")?;
    let status: Option<String> = row.get("delegating_status")?;
    let (Some(id), Some(role)) = (id, role) else {
        return Ok(None);
    };
    let role = Role::parse(&role).ok_or(StoreError::Corrupt { column: "role" })?;
    Ok(Some(DelegatingUser {
        id: id.to_owned(),
        role,
        suspended: status.as_deref() != Some("active"),
    }))
}

/// The key of this organization with this id.
///
/// # Errors
/// Those of the database.
pub async fn find(store: &Store, org_id: &str, key_id: &str) -> Result<Option<ApiKey>, StoreError> {
    let sql = "SELECT * FROM api_keys WHERE id = $1 AND org_id = $2";
    store.db.find(sql, args![key_id, org_id], from_row).await
}

/// A page of the keys of this organization, of both modes.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    org_id: &str,
    filter: &Filter,
    page: &Page,
    now: Timestamp,
) -> Result<Paged<Listed>, StoreError> {
    let mut listing = Listing::new(
        "SELECT * FROM (SELECT k.*, u.role AS delegating_role, u.status AS delegating_status FROM api_keys k \
         LEFT JOIN users u ON u.id = k.delegating_user_id AND u.org_id = k.org_id) AS k WHERE org_id = $1",
        args![org_id],
    );
    let Filter {
        status,
        mode,
        created_by,
    } = filter.clone();
    if !status.is_empty() {
        let any: Vec<&str> = status.iter().map(|status| status.condition()).collect();
        listing.only(&format!("({})", any.join(" OR ")), now);
    }
    if let Some(mode) = mode {
        listing.only("mode = ?", mode);
    }
    if let Some(id) = created_by {
        listing.only("created_by_id = ?", id);
    }
    let read = |row: &Row| {
        let key = from_row(row)?;
        let delegating_user = delegating_user(row, key.delegating_user_id.as_deref())?;
        Ok(Listed {
            key,
            delegating_user,
        })
    };
    listing.page(store, page, read).await
}

/// A key as lists show it.
#[derive(Clone, Debug)]
pub struct Listed {
    pub key: ApiKey,
    pub delegating_user: Option<DelegatingUser>,
}

/// A key that was revoked, and the digest by which it is cached.
pub struct Revoked {
    pub listed: Listed,
    pub digest: [u8; 32],
}

/// Revokes a key; one that is revoked keeps its first time of revocation. `None` for a key that this
/// organization does not have.
///
/// # Errors
/// Those of the database.
pub async fn revoke(
    tx: &mut Transaction<'_>,
    org_id: &str,
    key_id: &str,
    now: Timestamp,
) -> Result<Option<Revoked>, StoreError> {
    let sql = "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $3) WHERE id = $1 AND org_id = $2 \
               RETURNING *, (SELECT role FROM users u WHERE u.id = delegating_user_id) AS delegating_role, \
               (SELECT status FROM users u WHERE u.id = delegating_user_id) AS delegating_status";
    let Some(row) = tx.cx.row(sql, args![key_id, org_id, now]).await? else {
        return Ok(None);
    };
    let key = from_row(&row)?;
    let delegating_user = delegating_user(&row, key.delegating_user_id.as_deref())?;
    Ok(Some(Revoked {
        listed: Listed {
            key,
            delegating_user,
        },
        digest: row.get("digest")?,
    }))
}

/// Notes that a key was used. Writes only where the stored time is older than [`LAST_USED_STEP_MS`]; callers
/// keep from asking more often than that.
///
/// # Errors
/// Those of the database.
pub async fn touch(store: &Store, key_id: &str, now: Timestamp) -> Result<(), StoreError> {
    let arguments = args![key_id, now, now.plus_ms(-LAST_USED_STEP_MS)];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "UPDATE api_keys SET last_used_at = $2 \
                           WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)";
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await
}

fn from_row(row: &Row) -> Result<ApiKey, StoreError> {
    Ok(ApiKey {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        name: row.get("name")?,
        hint: row.get("hint")?,
        scopes: row.get("scopes")?,
        default_version: row.get("default_version")?,
        per_minute: row.get("per_minute")?,
        delegating_user_id: row.get("delegating_user_id")?,
        created_by: Creator::from_row(row)?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
        revoked_at: row.get("revoked_at")?,
        last_used_at: row.get("last_used_at")?,
    })
}
