//! Credentials of agents (contract 10): kept as SHA-256, found by it together with their agent, application,
//! organization and all that the gates ask about the caller.

use serde_json::Value;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::agent::{Agent, Line};
use crate::api_key::{DelegatingUser, delegating_user};
use crate::engine::{Connection, Row, args};
use crate::organization::{self, Organization, organization_columns};
use crate::page::{Listing, Page, Paged};
use crate::{Store, StoreError, Transaction, agent, baa, oauth_application};

/// One credential. The secret itself is nowhere in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentCredential {
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub agent_id: String,
    pub source: Source,
    /// Record id of the OAuth application that it was issued through; `None` where it came by the API.
    pub application_id: Option<String>,
    pub label: Option<String>,
    /// Prefix and last four characters.
    pub hint: String,
    /// The grants as contract 10 shows them; what counts is their intersection with the agent's.
    pub scope_grants: Value,
    /// The person whom the agent speaks with; only such a credential owns stored conversations.
    pub runtime_user: Option<String>,
    /// The user who answers for it.
    pub delegated_by: String,
    /// Requests per minute; `None`: the policy's default.
    pub per_minute: Option<u32>,
    /// Requests in flight; `None`: the policy's default.
    pub concurrency: Option<u32>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// Accurate to [`crate::api_key::LAST_USED_STEP_MS`].
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// How a credential came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Api,
    Oauth,
}

impl Source {
    /// The word of `source`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Oauth => "oauth",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        match word {
            "api" => Some(Self::Api),
            "oauth" => Some(Self::Oauth),
            _ => None,
        }
    }
}

/// Where a credential stands; depends on its agent, and on those that the agent acts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Active,
    /// Its agent is archived, or one that the agent acts for.
    Suspended,
    Expired,
    Revoked,
}

impl Status {
    /// In the order of the contract's list.
    pub const ALL: &[Self] = &[Self::Active, Self::Suspended, Self::Expired, Self::Revoked];

    /// The word of `status`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended => "suspended",
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

    /// What a row of [`listed`] with this status fulfils at the time `?`.
    const fn condition(self) -> &'static str {
        match self {
            Self::Active => "revoked_at IS NULL AND expires_at > ? AND line_archived_at IS NULL",
            Self::Suspended => {
                "revoked_at IS NULL AND expires_at > ? AND line_archived_at IS NOT NULL"
            }
            Self::Expired => "revoked_at IS NULL AND expires_at <= ?",
            Self::Revoked => "revoked_at <= ?",
        }
    }
}

impl AgentCredential {
    /// Where it stands at `now`: revoked before expired, and expired before suspended. `line_archived_at` is that of
    /// its agent's [`Line`].
    pub fn status(&self, line_archived_at: Option<Timestamp>, now: Timestamp) -> Status {
        if self.revoked_at.is_some() {
            Status::Revoked
        } else if self.expires_at <= now {
            Status::Expired
        } else if line_archived_at.is_some() {
            Status::Suspended
        } else {
            Status::Active
        }
    }
}

/// Whether what a credential was issued through still stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// Its own organization, or an application in use.
    Stands,
    ApplicationRevoked,
    ApplicationMissing,
}

/// A credential with everything that the gates ask about its caller, read in one go.
#[derive(Clone)]
pub struct Verdict {
    pub credential: AgentCredential,
    pub issuer: Issuer,
    /// Its agent, and those that the agent acts for.
    pub line: Line,
    /// The user who answers for it.
    pub delegating_user: Option<DelegatingUser>,
    pub organization: Organization,
    pub baa: baa::Standing,
}

/// Stores a credential under the digest of its secret.
///
/// # Errors
/// [`StoreError::Exists`] when the digest is taken.
pub async fn insert(
    tx: &mut Transaction<'_>,
    credential: &AgentCredential,
    digest: &[u8; 32],
) -> Result<(), StoreError> {
    let AgentCredential {
        id,
        org_id,
        mode,
        agent_id,
        source,
        application_id,
        label,
        hint,
        scope_grants,
        runtime_user,
        delegated_by,
        per_minute,
        concurrency,
        created_at,
        expires_at,
        last_used_at,
        revoked_at,
    } = credential;
    tx.cx
        .execute(
            "INSERT INTO agent_credentials (id, org_id, mode, agent_id, source, application_id, label, digest, \
             hint, scope_grants, runtime_user, delegated_by, per_minute, concurrency, created_at, expires_at, \
             last_used_at, revoked_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
            args![
                id,
                org_id,
                *mode,
                agent_id,
                source.word(),
                application_id,
                label,
                &digest[..],
                hint,
                scope_grants,
                runtime_user,
                delegated_by,
                *per_minute,
                *concurrency,
                *created_at,
                *expires_at,
                *last_used_at,
                *revoked_at,
            ],
        )
        .await
        .map(drop)
}

/// Credentials of an agent that are neither revoked nor expired; whether the agent is archived makes no difference.
/// Count them under [`agent::lock`].
///
/// # Errors
/// Those of the database.
pub async fn count_active(
    tx: &mut Transaction<'_>,
    agent_id: &str,
    now: Timestamp,
) -> Result<u32, StoreError> {
    let sql = "SELECT COUNT(*) AS found FROM agent_credentials \
               WHERE agent_id = $1 AND revoked_at IS NULL AND expires_at > $2";
    tx.cx.count(sql, args![agent_id, now]).await
}

/// Revokes a credential; one that is revoked keeps its first time. With it, the digest by which it is cached. `None`
/// for a credential that the agent does not have.
///
/// # Errors
/// Those of the database.
pub async fn revoke(
    tx: &mut Transaction<'_>,
    agent: &Agent,
    id: &str,
    now: Timestamp,
) -> Result<Option<(AgentCredential, [u8; 32])>, StoreError> {
    let sql = "UPDATE agent_credentials SET revoked_at = COALESCE(revoked_at, $5) \
               WHERE id = $1 AND agent_id = $2 AND org_id = $3 AND mode = $4 RETURNING *";
    let arguments = args![id, &agent.id, &agent.org_id, agent.mode, now];
    let Some(row) = tx.cx.row(sql, arguments).await? else {
        return Ok(None);
    };
    Ok(Some((from_row(&row)?, row.get("digest")?)))
}

/// Revokes a credential whose code was used again. The digest by which it is cached; none where it was over already.
///
/// # Errors
/// Those of the database.
pub async fn revoke_issued(
    tx: &mut Transaction<'_>,
    id: &str,
    now: Timestamp,
) -> Result<Option<[u8; 32]>, StoreError> {
    let sql = "UPDATE agent_credentials SET revoked_at = $2 \
               WHERE id = $1 AND revoked_at IS NULL AND expires_at > $2 RETURNING digest";
    let digest = |row: &Row| row.get("digest");
    tx.cx.one(sql, args![id, now], digest).await
}

/// The digests by which those credentials of an agent, and of all that act for it, are cached that are neither revoked
/// nor expired.
///
/// # Errors
/// Those of the database.
pub async fn digests(
    tx: &mut Transaction<'_>,
    agent_id: &str,
    now: Timestamp,
) -> Result<Vec<[u8; 32]>, StoreError> {
    let sql = "WITH RECURSIVE family (id) AS (SELECT id FROM agents WHERE id = $1 UNION \
               SELECT a.id FROM agents a JOIN family f ON a.parent_agent_id = f.id) \
               SELECT digest FROM agent_credentials \
               WHERE agent_id IN (SELECT id FROM family) AND revoked_at IS NULL AND expires_at > $2";
    let rows = tx.cx.rows(sql, args![agent_id, now]).await?;
    rows.iter().map(|row| row.get("digest")).collect()
}

/// A credential, and since when its agent or one that the agent acts for is archived.
pub type Listed = (AgentCredential, Option<Timestamp>);

/// The beginning of a statement that reads [`Listed`] rows.
macro_rules! listed {
    () => {
        "SELECT * FROM (SELECT c.*, (WITH RECURSIVE line (parent_agent_id, archived_at) AS \
         (SELECT parent_agent_id, archived_at FROM agents WHERE id = c.agent_id UNION \
         SELECT a.parent_agent_id, a.archived_at FROM agents a JOIN line l ON a.id = l.parent_agent_id) \
         SELECT MIN(archived_at) FROM line) AS line_archived_at FROM agent_credentials c) AS c"
    };
}

fn listed(row: &Row) -> Result<Listed, StoreError> {
    Ok((from_row(row)?, row.get("line_archived_at")?))
}

/// A page of an agent's credentials.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    agent: &Agent,
    status: &[Status],
    page: &Page,
    now: Timestamp,
) -> Result<Paged<Listed>, StoreError> {
    let mut listing = Listing::new(
        concat!(
            listed!(),
            " WHERE agent_id = $1 AND org_id = $2 AND mode = $3"
        ),
        args![&agent.id, &agent.org_id, agent.mode],
    );
    let any = status.iter().map(|status| {
        let condition = format!("({})", status.condition());
        (condition.into(), now.into())
    });
    listing.any(any.collect());
    listing.page(store, page, listed).await
}

/// A page of the credentials that speak with a person, of whatever agent.
///
/// # Errors
/// Those of the database.
pub async fn of_user(
    store: &Store,
    org_id: &str,
    mode: Mode,
    runtime_user: &str,
    page: &Page,
) -> Result<Paged<Listed>, StoreError> {
    let listing = Listing::new(
        concat!(
            listed!(),
            " WHERE org_id = $1 AND mode = $2 AND runtime_user = $3"
        ),
        args![org_id, mode, runtime_user],
    );
    listing.page(store, page, listed).await
}

/// The credential with this digest, whatever its status, and what belongs to it at `now`: its application may be another
/// organization's, whoever asks.
///
/// # Errors
/// Those of the database and of its sealed columns; [`StoreError::Missing`] where its agent, or one that the agent acts
/// for, is gone.
pub async fn find_by_digest(
    store: &Store,
    digest: &[u8; 32],
    now: Timestamp,
) -> Result<Option<Verdict>, StoreError> {
    let digest = digest.to_vec();
    let found = store
        .db
        .read_of_all(move |cx| Box::pin(async move { read(cx, digest, now).await }))
        .await?;
    let Some(found) = found else {
        return Ok(None);
    };
    let Found {
        credential,
        issuer,
        line,
        delegating_user,
        stored,
        baa,
    } = found;
    Ok(Some(Verdict {
        credential,
        issuer,
        line,
        delegating_user,
        organization: organization::open(store, stored).await?,
        baa,
    }))
}

/// A verdict whose organization is not opened yet.
struct Found {
    credential: AgentCredential,
    issuer: Issuer,
    line: Line,
    delegating_user: Option<DelegatingUser>,
    stored: organization::Stored,
    baa: baa::Standing,
}

async fn read(
    cx: &mut Connection,
    digest: Vec<u8>,
    now: Timestamp,
) -> Result<Option<Found>, StoreError> {
    let sql = concat!(
        "SELECT c.*, u.role AS delegating_role, u.status AS delegating_status, ",
        organization_columns!(),
        " FROM agent_credentials c JOIN organizations o ON o.id = c.org_id \
         LEFT JOIN users u ON u.id = c.delegated_by AND u.org_id = c.org_id \
         WHERE c.digest = $1",
    );
    let Some(row) = cx.row(sql, args![digest]).await? else {
        return Ok(None);
    };
    let credential = from_row(&row)?;
    Ok(Some(Found {
        issuer: issuer(cx, credential.application_id.as_deref()).await?,
        line: agent::line(cx, &credential.agent_id).await?,
        delegating_user: delegating_user(&row, Some(&credential.delegated_by))?,
        stored: organization::from_row(&row)?,
        baa: baa::read_standing(cx, &credential.org_id, now).await?,
        credential,
    }))
}

async fn issuer(cx: &mut Connection, application_id: Option<&str>) -> Result<Issuer, StoreError> {
    let Some(id) = application_id else {
        return Ok(Issuer::Stands);
    };
    Ok(match oauth_application::revocation(cx, id).await? {
        None => Issuer::ApplicationMissing,
        Some(None) => Issuer::Stands,
        Some(Some(_)) => Issuer::ApplicationRevoked,
    })
}

/// Notes that a credential was used, as [`crate::api_key::touch`].
///
/// # Errors
/// Those of the database.
pub async fn touch(store: &Store, id: &str, now: Timestamp) -> Result<(), StoreError> {
    let arguments = args![id, now, now.plus_ms(-crate::api_key::LAST_USED_STEP_MS)];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "UPDATE agent_credentials SET last_used_at = $2 \
                           WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)";
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await
}

fn from_row(row: &Row) -> Result<AgentCredential, StoreError> {
    Ok(AgentCredential {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        agent_id: row.get("agent_id")?,
        source: row.word("source", Source::parse)?,
        application_id: row.get("application_id")?,
        label: row.get("label")?,
        hint: row.get("hint")?,
        scope_grants: row.get("scope_grants")?,
        runtime_user: row.get("runtime_user")?,
        delegated_by: row.get("delegated_by")?,
        per_minute: row.get("per_minute")?,
        concurrency: row.get("concurrency")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
        last_used_at: row.get("last_used_at")?,
        revoked_at: row.get("revoked_at")?,
    })
}
