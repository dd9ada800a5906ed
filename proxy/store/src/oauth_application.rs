//! Applications that act for users (contract 16.1): kept with the SHA-256 of their secret, revoked for good together
//! with everything that was issued through them.

use serde_json::Value;
use svc_core::oauth::ClientKind;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::api_key::Creator;
use crate::audit::{self, Actor, ActorKind, Target};
use crate::engine::{Connection, Row, args};
use crate::page::{Listing, Page, Paged};
use crate::{Store, StoreError, Transaction, organization, tenant};

/// One application. Its secret is nowhere in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    /// What it is called on the wire; `id` is that of the record.
    pub client_id: String,
    pub kind: ClientKind,
    pub writable: Writable,
    /// Prefix and last four characters of a confidential application's secret.
    pub secret_hint: Option<String>,
    /// While the secret before the last rotation is accepted too.
    pub previous_secret_expires_at: Option<Timestamp>,
    pub created_by: Creator,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

/// What its organization decides about an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writable {
    pub name: String,
    pub publisher: Option<String>,
    pub redirect_uris: Vec<String>,
    pub homepage_url: Option<String>,
    /// Types of `authorization_details` that it may ask for.
    pub details_types: Vec<String>,
}

/// What an application shows itself by.
#[derive(Clone, PartialEq, Eq)]
pub struct Secrets {
    current: Option<[u8; 32]>,
    previous: Option<([u8; 32], Timestamp)>,
}

impl Secrets {
    /// Whether a secret with this digest is accepted. How long a comparison of digests takes tells nothing of a secret.
    pub fn accept(&self, digest: &[u8; 32], now: Timestamp) -> bool {
        let is_current = self.current.as_ref() == Some(digest);
        let is_previous =
            |(previous, end): &([u8; 32], Timestamp)| previous == digest && *end > now;
        is_current || self.previous.as_ref().is_some_and(is_previous)
    }
}

/// What ended with an application.
pub struct Ended {
    /// Digests by which the credentials that it had issued are cached.
    pub credentials: Vec<[u8; 32]>,
    /// Codes that were not redeemed yet.
    pub codes: u64,
}

/// Stores an application, with the digest of its secret where it has one.
///
/// # Errors
/// [`StoreError::Exists`] when the client id is taken.
pub async fn insert(
    tx: &mut Transaction<'_>,
    application: &Application,
    secret_digest: Option<&[u8; 32]>,
) -> Result<(), StoreError> {
    let Application {
        id,
        org_id,
        mode,
        client_id,
        kind,
        writable,
        secret_hint,
        previous_secret_expires_at: _,
        created_by,
        created_at,
        updated_at,
        revoked_at,
    } = application;
    let Writable {
        name,
        publisher,
        redirect_uris,
        homepage_url,
        details_types,
    } = writable;
    tx.cx
        .execute(
            "INSERT INTO oauth_applications (id, org_id, mode, client_id, name, publisher, type, redirect_uris, \
             homepage_url, details_types, secret_digest, secret_hint, created_by_type, created_by_id, created_at, \
             updated_at, revoked_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
            args![
                id,
                org_id,
                *mode,
                client_id,
                name,
                publisher,
                kind.word(),
                &redirect_uris[..],
                homepage_url,
                &details_types[..],
                secret_digest.map(|digest| digest.to_vec()),
                secret_hint,
                &created_by.kind,
                &created_by.id,
                *created_at,
                *updated_at,
                *revoked_at,
            ],
        )
        .await
        .map(drop)
}

/// Locks an application of this organization and mode for the rest of the transaction.
///
/// # Errors
/// Those of the database.
pub async fn lock(
    tx: &mut Transaction<'_>,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Application>, StoreError> {
    // As `agent::lock`: an update that changes nothing holds the row on both engines alike.
    let sql = "UPDATE oauth_applications SET updated_at = updated_at \
               WHERE id = $1 AND org_id = $2 AND mode = $3 RETURNING *";
    tx.cx.one(sql, args![id, org_id, mode], from_row).await
}

/// As [`lock`], whoever owns it: a code is redeemed, and no revocation comes in between.
///
/// # Errors
/// Those of the database.
pub async fn lock_any(
    tx: &mut Transaction<'_>,
    id: &str,
) -> Result<Option<Application>, StoreError> {
    tenant::lift(tx.cx).await?;
    let sql = "UPDATE oauth_applications SET updated_at = updated_at WHERE id = $1 RETURNING *";
    tx.cx.one(sql, args![id], from_row).await
}

/// Replaces what is writable.
///
/// # Errors
/// [`StoreError::Missing`] for an application that is not there or revoked.
pub async fn update(tx: &mut Transaction<'_>, application: &Application) -> Result<(), StoreError> {
    let Writable {
        name,
        publisher,
        redirect_uris,
        homepage_url,
        details_types,
    } = &application.writable;
    let arguments = args![
        &application.id,
        name,
        publisher,
        &redirect_uris[..],
        homepage_url,
        &details_types[..],
        application.updated_at,
    ];
    let sql = "UPDATE oauth_applications SET name = $2, publisher = $3, redirect_uris = $4, homepage_url = $5, \
               details_types = $6, updated_at = $7 WHERE id = $1 AND revoked_at IS NULL";
    tx.cx.execute_one("application", sql, arguments).await
}

/// Puts another secret in the place of the current one, which is accepted until the application's
/// `previous_secret_expires_at`, or no longer.
///
/// # Errors
/// [`StoreError::Missing`] for an application that has no secret or is revoked.
pub async fn rotate(
    tx: &mut Transaction<'_>,
    application: &Application,
    digest: &[u8; 32],
) -> Result<(), StoreError> {
    let arguments = args![
        &application.id,
        &digest[..],
        &application.secret_hint,
        application.previous_secret_expires_at,
        application.updated_at,
    ];
    let sql = "UPDATE oauth_applications SET previous_digest = \
               CASE WHEN CAST($4 AS BIGINT) IS NULL THEN NULL ELSE secret_digest END, \
               secret_digest = $2, secret_hint = $3, previous_expires_at = $4, updated_at = $5 \
               WHERE id = $1 AND secret_digest IS NOT NULL AND revoked_at IS NULL";
    tx.cx.execute_one("application", sql, arguments).await
}

/// Ends an application and everything that was issued through it, which the log of each credential's organization says;
/// one that is revoked keeps its first time. Call it under [`lock`].
///
/// # Errors
/// Those of the database.
pub async fn revoke(
    tx: &mut Transaction<'_>,
    id: &str,
    now: Timestamp,
) -> Result<Ended, StoreError> {
    let sql = "UPDATE oauth_applications SET revoked_at = $2, updated_at = $2, secret_digest = NULL, \
               previous_digest = NULL, previous_expires_at = NULL WHERE id = $1 AND revoked_at IS NULL";
    tx.cx.execute(sql, args![id, now]).await?;
    // Users of other organizations have consented too.
    tenant::lift(tx.cx).await?;
    let sql = "DELETE FROM oauth_requests WHERE application_id = $1";
    tx.cx.execute(sql, args![id]).await?;
    let sql = "DELETE FROM oauth_codes WHERE application_id = $1 AND used_at IS NULL";
    let codes = tx.cx.execute(sql, args![id]).await?;
    let sql = "UPDATE agent_credentials SET revoked_at = $2 \
               WHERE application_id = $1 AND revoked_at IS NULL AND expires_at > $2 \
               RETURNING id, org_id, mode, agent_id, digest";
    let rows = tx.cx.rows(sql, args![id, now]).await?;
    let mut credentials = Vec::with_capacity(rows.len());
    for credential in &rows {
        audit::record(tx, &row_of_end(credential, id, now)?).await?;
        credentials.push(credential.get("digest")?);
    }
    Ok(Ended { credentials, codes })
}

/// The row of a credential that ends with its application. It follows no request of its organization: whoever ended the
/// application, another organization or the operator, is not named.
fn row_of_end(
    credential: &Row,
    application_id: &str,
    now: Timestamp,
) -> Result<audit::Row, StoreError> {
    let target = Target {
        kind: "agent_credential".to_owned(),
        id: credential.get("id")?,
    };
    let details = [
        ("application_id", application_id.to_owned()),
        ("agent_id", credential.get("agent_id")?),
        ("reason", "application_revoked".to_owned()),
    ];
    let details = details.map(|(name, value)| (name.to_owned(), Value::from(value)));
    let owner = (credential.get("org_id")?, credential.get("mode")?);
    let (event, details) = ("oauth.token_revoked", details.into_iter().collect());
    Ok(audit::Row {
        actor: Actor {
            kind: ActorKind::OauthApplication,
            id: Some(application_id.to_owned()),
            delegating_user_id: None,
            hint: None,
        },
        ..audit::Row::of_system(event, Some(owner), Some(target), details, now)
    })
}

/// How many applications in use an organization has, and will have until one is added in this transaction.
///
/// # Errors
/// Those of the database.
pub async fn count_active(
    tx: &mut Transaction<'_>,
    org_id: &str,
    mode: Mode,
) -> Result<u32, StoreError> {
    organization::hold(tx, org_id).await?;
    let sql = "SELECT COUNT(*) AS found FROM oauth_applications \
               WHERE org_id = $1 AND mode = $2 AND revoked_at IS NULL";
    tx.cx.count(sql, args![org_id, mode]).await
}

/// The application of this organization and mode with this id.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Application>, StoreError> {
    let sql = "SELECT * FROM oauth_applications WHERE id = $1 AND org_id = $2 AND mode = $3";
    store.db.find(sql, args![id, org_id, mode], from_row).await
}

/// The application with this id, whoever owns it: one that a credential or a parked request names.
///
/// # Errors
/// Those of the database.
pub async fn find_any(store: &Store, id: &str) -> Result<Option<Application>, StoreError> {
    let arguments = args![id];
    store
        .db
        .read_of_all(|cx| {
            Box::pin(async move {
                let sql = "SELECT * FROM oauth_applications WHERE id = $1";
                cx.one(sql, arguments, from_row).await
            })
        })
        .await
}

/// The application with this client id, revoked or not, and what it shows itself by.
///
/// # Errors
/// Those of the database.
pub async fn find_by_client_id(
    store: &Store,
    client_id: &str,
) -> Result<Option<(Application, Secrets)>, StoreError> {
    let arguments = args![client_id];
    store
        .db
        .read_of_all(|cx| {
            Box::pin(async move {
                let sql = "SELECT * FROM oauth_applications WHERE client_id = $1";
                let Some(row) = cx.row(sql, arguments).await? else {
                    return Ok(None);
                };
                Ok(Some((from_row(&row)?, secrets(&row)?)))
            })
        })
        .await
}

/// What the organization is called that registered an application.
///
/// # Errors
/// Those of the database; [`StoreError::Missing`] where that organization is gone.
pub async fn owner_name(store: &Store, application: &Application) -> Result<String, StoreError> {
    let arguments = args![&application.org_id];
    store
        .db
        .read_of_all(|cx| {
            Box::pin(async move {
                let sql = "SELECT name FROM organizations WHERE id = $1";
                let row = cx.row(sql, arguments).await?;
                row.ok_or(StoreError::Missing("organization"))?.get("name")
            })
        })
        .await
}

/// A page of an organization's applications; `revoked` keeps those that are, or are not.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    org_id: &str,
    mode: Mode,
    revoked: Option<bool>,
    page: &Page,
) -> Result<Paged<Application>, StoreError> {
    let mut listing = Listing::new(
        "SELECT * FROM oauth_applications WHERE org_id = $1 AND mode = $2",
        args![org_id, mode],
    );
    listing.only_set("revoked_at", revoked);
    listing.page(store, page, from_row).await
}

/// When the application with this id was revoked, if it was; `None` where there is none.
pub(crate) async fn revocation(
    cx: &mut Connection,
    id: &str,
) -> Result<Option<Option<Timestamp>>, StoreError> {
    let sql = "SELECT revoked_at FROM oauth_applications WHERE id = $1";
    let row = cx.row(sql, args![id]).await?;
    row.map(|row| row.get("revoked_at")).transpose()
}

fn secrets(row: &Row) -> Result<Secrets, StoreError> {
    let previous: Option<[u8; 32]> = row.get("previous_digest")?;
    let end: Option<Timestamp> = row.get("previous_expires_at")?;
    Ok(Secrets {
        current: row.get("secret_digest")?,
        previous: previous.zip(end),
    })
}

fn from_row(row: &Row) -> Result<Application, StoreError> {
    Ok(Application {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        client_id: row.get("client_id")?,
        kind: row.word("type", ClientKind::parse)?,
        writable: Writable {
            name: row.get("name")?,
            publisher: row.get("publisher")?,
            redirect_uris: row.get("redirect_uris")?,
            homepage_url: row.get("homepage_url")?,
            details_types: row.get("details_types")?,
        },
        secret_hint: row.get("secret_hint")?,
        previous_secret_expires_at: row.get("previous_expires_at")?,
        created_by: Creator::from_row(row)?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        revoked_at: row.get("revoked_at")?,
    })
}
