//! What users are asked and what they answered (contract 16.3): requests that wait for a decision, and the codes of
//! those that were allowed. Both are found by the SHA-256 of what was handed out, which is nowhere here.

use serde_json::Value;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::engine::{Row, args};
use crate::sweep::{SWEEP_ROWS, sweep};
use crate::{Store, StoreError, Transaction, tenant};

/// 10 min: how long a request waits (contract 16.3).
pub const PARKED_MS: i64 = 600_000;
/// 60 s: the life of a code (contract 16.3).
pub const CODE_MS: i64 = 60_000;
/// Wrong verifiers that burn a code (contract 16.4).
pub const MAX_ATTEMPTS: u32 = 3;
/// A request that was found good and waits for its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    /// The agent's organization.
    pub org_id: String,
    pub mode: Mode,
    pub application_id: String,
    pub redirect_uri: String,
    /// As it stands in the query that it came in.
    pub state: Option<String>,
    /// 43 characters of base64url (`S256`).
    pub code_challenge: String,
    pub agent_id: String,
    /// `authorization_details` as sent.
    pub details: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// What a user has allowed, until the application asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    pub org_id: String,
    pub mode: Mode,
    pub application_id: String,
    pub redirect_uri: String,
    pub code_challenge: String,
    pub agent_id: String,
    pub user_id: String,
    /// What was granted, as a credential has it.
    pub scope_grants: Value,
    /// The life of the credential, in hours.
    pub expiry_hours: u32,
    /// Wrong verifiers so far.
    pub attempts: u32,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// Redeemed, or burned.
    pub used_at: Option<Timestamp>,
    /// What it produced; none where it was burned.
    pub credential_id: Option<String>,
}

/// Keeps a request; `session_id` is that of whoever is signed in already.
///
/// # Errors
/// Those of the database.
pub async fn park(
    store: &Store,
    digest: &[u8; 32],
    parked: &Parked,
    session_id: Option<&str>,
) -> Result<(), StoreError> {
    let Parked {
        org_id,
        mode,
        application_id,
        redirect_uri,
        state,
        code_challenge,
        agent_id,
        details,
        created_at,
        expires_at,
    } = parked;
    let arguments = args![
        &digest[..],
        org_id,
        *mode,
        application_id,
        redirect_uri,
        state,
        code_challenge,
        agent_id,
        details,
        session_id,
        *created_at,
        *expires_at,
    ];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "INSERT INTO oauth_requests (digest, org_id, mode, application_id, redirect_uri, state, \
                           code_challenge, agent_id, details, session_id, created_at, expires_at) \
                           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await
}

/// Where the answer to the request with this digest goes, whosever it is; none where it is over or decided.
///
/// # Errors
/// Those of the database.
pub async fn destination(
    store: &Store,
    digest: &[u8; 32],
    now: Timestamp,
) -> Result<Option<String>, StoreError> {
    let arguments = args![&digest[..], now];
    store
        .db
        .read_of_all(|cx| {
            Box::pin(async move {
                let sql =
                    "SELECT redirect_uri FROM oauth_requests WHERE digest = $1 AND expires_at > $2";
                let row = cx.row(sql, arguments).await?;
                let address: Option<String> = row
                    .as_ref()
                    .map(|row| row.get("redirect_uri"))
                    .transpose()?;
                Ok(address)
            })
        })
        .await
}

/// The request with this digest, which is this session's from now on; none where it is another's, over or decided.
///
/// # Errors
/// Those of the database.
pub async fn claim(
    store: &Store,
    digest: &[u8; 32],
    session_id: &str,
    now: Timestamp,
) -> Result<Option<Parked>, StoreError> {
    let arguments = args![&digest[..], session_id, now];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                // The user may be of another organization than the agent, and is told so.
                tenant::lift(cx).await?;
                let sql = "UPDATE oauth_requests SET session_id = $2 \
                           WHERE digest = $1 AND (session_id IS NULL OR session_id = $2) AND expires_at > $3 \
                           RETURNING *";
                let row = cx.row(sql, arguments).await?;
                row.as_ref().map(parked).transpose()
            })
        })
        .await
}

/// Takes the request out, for the one decision that there is; none where it is not this session's, over or decided.
///
/// # Errors
/// Those of the database.
pub async fn take(
    tx: &mut Transaction<'_>,
    digest: &[u8; 32],
    session_id: &str,
    now: Timestamp,
) -> Result<Option<Parked>, StoreError> {
    tenant::lift(tx.cx).await?;
    let sql = "DELETE FROM oauth_requests WHERE digest = $1 AND session_id = $2 AND expires_at > $3 RETURNING *";
    let row = tx.cx.row(sql, args![&digest[..], session_id, now]).await?;
    row.as_ref().map(parked).transpose()
}

/// Stores a code.
///
/// # Errors
/// Those of the database.
pub async fn insert(
    tx: &mut Transaction<'_>,
    digest: &[u8; 32],
    code: &Code,
) -> Result<(), StoreError> {
    let Code {
        org_id,
        mode,
        application_id,
        redirect_uri,
        code_challenge,
        agent_id,
        user_id,
        scope_grants,
        expiry_hours,
        attempts,
        created_at,
        expires_at,
        used_at,
        credential_id,
    } = code;
    tx.cx
        .execute(
            "INSERT INTO oauth_codes (digest, org_id, mode, application_id, redirect_uri, code_challenge, agent_id, \
             user_id, scope_grants, expiry_hours, attempts, created_at, expires_at, used_at, credential_id, kept_until) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $13)",
            args![
                &digest[..],
                org_id,
                *mode,
                application_id,
                redirect_uri,
                code_challenge,
                agent_id,
                user_id,
                scope_grants,
                *expiry_hours,
                *attempts,
                *created_at,
                *expires_at,
                *used_at,
                credential_id,
            ],
        )
        .await
        .map(drop)
}

/// The code with this digest, which nobody else redeems until the transaction ends. Call it under
/// [`crate::oauth_application::lock_any`].
///
/// # Errors
/// Those of the database.
pub async fn lock(tx: &mut Transaction<'_>, digest: &[u8; 32]) -> Result<Option<Code>, StoreError> {
    let sql = "UPDATE oauth_codes SET attempts = attempts WHERE digest = $1 RETURNING *";
    let row = tx.cx.row(sql, args![&digest[..]]).await?;
    row.as_ref().map(code).transpose()
}

/// The code with this digest, for what is judged before anything is done with it.
///
/// # Errors
/// Those of the database.
pub async fn find(store: &Store, digest: &[u8; 32]) -> Result<Option<Code>, StoreError> {
    let digest = digest.to_vec();
    store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = "SELECT * FROM oauth_codes WHERE digest = $1";
                let row = cx.row(sql, args![digest]).await?;
                row.as_ref().map(code).transpose()
            })
        })
        .await
}

/// Counts a wrong verifier; the last one burns the code. Whether it did.
///
/// # Errors
/// Those of the database.
pub async fn count_attempt(
    tx: &mut Transaction<'_>,
    digest: &[u8; 32],
    now: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE oauth_codes SET attempts = attempts + 1, \
               used_at = CASE WHEN attempts + 1 >= $2 THEN CAST($3 AS BIGINT) ELSE NULL END \
               WHERE digest = $1 AND used_at IS NULL RETURNING used_at";
    let row = tx
        .cx
        .row(sql, args![&digest[..], MAX_ATTEMPTS, now])
        .await?;
    let used_at: Option<Timestamp> = match row {
        Some(row) => row.get("used_at")?,
        None => None,
    };
    Ok(used_at.is_some())
}

/// Notes what a code produced. One compare-and-set: it succeeds once.
///
/// # Errors
/// [`StoreError::Missing`] for a code that was used.
pub async fn redeem(
    tx: &mut Transaction<'_>,
    digest: &[u8; 32],
    credential_id: &str,
    credential_expires_at: Timestamp,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = "UPDATE oauth_codes SET used_at = $2, credential_id = $3, kept_until = $4 \
               WHERE digest = $1 AND used_at IS NULL";
    let arguments = args![&digest[..], now, credential_id, credential_expires_at];
    tx.cx.execute_one("code", sql, arguments).await
}

/// Removes requests and codes that are over; gives how many.
///
/// # Errors
/// Those of the database.
pub async fn sweep(store: &Store, now: Timestamp) -> Result<u64, StoreError> {
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                let sql = sweep!("oauth_requests", "digest", "expires_at <= $1", "LIMIT $2");
                let requests = cx.execute(sql, args![now, SWEEP_ROWS]).await?;
                let sql = sweep!("oauth_codes", "digest", "kept_until <= $1", "LIMIT $2");
                let codes = cx.execute(sql, args![now, SWEEP_ROWS]).await?;
                Ok(requests + codes)
            })
        })
        .await
}

fn parked(row: &Row) -> Result<Parked, StoreError> {
    Ok(Parked {
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        application_id: row.get("application_id")?,
        redirect_uri: row.get("redirect_uri")?,
        state: row.get("state")?,
        code_challenge: row.get("code_challenge")?,
        agent_id: row.get("agent_id")?,
        details: row.get("details")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
    })
}

fn code(row: &Row) -> Result<Code, StoreError> {
    Ok(Code {
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        application_id: row.get("application_id")?,
        redirect_uri: row.get("redirect_uri")?,
        code_challenge: row.get("code_challenge")?,
        agent_id: row.get("agent_id")?,
        user_id: row.get("user_id")?,
        scope_grants: row.get("scope_grants")?,
        expiry_hours: row.get("expiry_hours")?,
        attempts: row.get("attempts")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
        used_at: row.get("used_at")?,
        credential_id: row.get("credential_id")?,
    })
}
