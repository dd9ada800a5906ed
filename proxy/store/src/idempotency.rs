//! Idempotency keys (contract 4): who runs the request that a key stands for, and what it was answered.
//!
//! A key is claimed in a transaction of its own. Its response is stored in the transaction of the effect, so that
//! neither is ever there without the other; a key whose owner died is claimed again once its lease has ended.

use hkdf::Hkdf;
use sha2::Sha256;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::engine::{Connection, args};
use crate::org_key;
use crate::seal::{self, Place, SecretKey};
use crate::sweep::{SWEEP_ROWS, sweep};
use crate::{Store, StoreError, Transaction};

/// What a key belongs to: one principal of one organization and mode.
#[derive(Clone, Debug)]
pub struct Scope {
    pub org_id: String,
    pub mode: Mode,
    /// Id of the credential, the person at a page or the inbound webhook that sent the key.
    pub principal_id: String,
    /// SHA-256 of the key's text.
    pub key_digest: [u8; 32],
}

/// A request that wants to be the one.
#[derive(Clone, Debug)]
pub struct Claim {
    pub scope: Scope,
    /// SHA-256 over what makes two requests the same.
    pub fingerprint: [u8; 32],
    /// The request id.
    pub owner: String,
    pub now: Timestamp,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// Run it, and then [`complete`] or [`release`] it.
    Mine,
    /// It ran: the response as it was sealed.
    Completed(Vec<u8>),
    /// Another request runs it.
    InProgress { first_seen_at: Timestamp },
    /// The key was used for a different request.
    Mismatch { first_seen_at: Timestamp },
}

/// 60 s: how long an owner may take; above the deadline of every control-plane request (contract 4).
pub const LEASE_MS: i64 = 60_000;
/// 24 h: how long a response is given again (spec, Limits).
pub const REPLAY_MS: i64 = 86_400_000;
/// Claims a key, or tells what stands there.
///
/// # Errors
/// Those of the database.
pub async fn claim(store: &Store, claim: &Claim) -> Result<Claimed, StoreError> {
    let claim = claim.clone();
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                let mut tx = Transaction::alone(cx);
                take(&mut tx, &claim).await
            })
        })
        .await
}

async fn take(tx: &mut Transaction<'_>, claim: &Claim) -> Result<Claimed, StoreError> {
    let Claim {
        scope,
        fingerprint,
        owner,
        now,
    } = claim;
    let Scope {
        org_id,
        mode,
        principal_id,
        key_digest,
    } = scope;
    // A row that is over, or whose owner is gone, is as good as none.
    let taken = tx
        .cx
        .execute(
            "INSERT INTO idempotency (org_id, mode, principal_id, key_digest, fingerprint, owner, lease_until, \
             first_seen_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
             ON CONFLICT (org_id, mode, principal_id, key_digest) DO UPDATE SET \
             fingerprint = excluded.fingerprint, owner = excluded.owner, lease_until = excluded.lease_until, \
             first_seen_at = excluded.first_seen_at, response = NULL, expires_at = NULL \
             WHERE idempotency.expires_at <= $8 OR (idempotency.owner IS NOT NULL AND idempotency.lease_until <= $8)",
            args![
                org_id,
                *mode,
                principal_id,
                &key_digest[..],
                &fingerprint[..],
                owner,
                now.plus_ms(LEASE_MS),
                *now,
            ],
        )
        .await?;
    if taken == 1 {
        return Ok(Claimed::Mine);
    }
    let row = tx
        .cx
        .row(
            "SELECT fingerprint, response, first_seen_at FROM idempotency \
             WHERE org_id = $1 AND mode = $2 AND principal_id = $3 AND key_digest = $4",
            args![org_id, *mode, principal_id, &key_digest[..]],
        )
        .await?
        .ok_or(StoreError::Missing("idempotency key"))?;
    let first_seen_at = row.get("first_seen_at")?;
    let known: Vec<u8> = row.get("fingerprint")?;
    let response: Option<Vec<u8>> = row.get("response")?;
    Ok(match response {
        _ if known != fingerprint => Claimed::Mismatch { first_seen_at },
        Some(response) => Claimed::Completed(response),
        None => Claimed::InProgress { first_seen_at },
    })
}

/// Extends a claim that is still its owner's; one that was lost stays lost.
///
/// # Errors
/// Those of the database.
pub async fn extend(
    store: &Store,
    scope: &Scope,
    owner: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Scope {
        org_id,
        mode,
        principal_id,
        key_digest,
    } = scope;
    let lease_until = now.plus_ms(LEASE_MS);
    let arguments = args![
        org_id,
        *mode,
        principal_id,
        &key_digest[..],
        owner,
        lease_until
    ];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "UPDATE idempotency SET lease_until = $6 \
                           WHERE org_id = $1 AND mode = $2 AND principal_id = $3 AND key_digest = $4 AND owner = $5";
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await
}

/// Stores the response of a claim in the transaction of its effect.
///
/// # Errors
/// [`StoreError::Missing`] when the claim was lost to another request: the effect must not be.
pub async fn complete(
    tx: &mut Transaction<'_>,
    scope: &Scope,
    owner: &str,
    response: Vec<u8>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Scope {
        org_id,
        mode,
        principal_id,
        key_digest,
    } = scope;
    tx.cx
        .execute_one(
            "idempotency claim",
            "UPDATE idempotency SET owner = NULL, response = $6, expires_at = $7 \
             WHERE org_id = $1 AND mode = $2 AND principal_id = $3 AND key_digest = $4 AND owner = $5",
            args![
                org_id,
                *mode,
                principal_id,
                &key_digest[..],
                owner,
                response,
                now.plus_ms(REPLAY_MS),
            ],
        )
        .await
}

/// Stores the response of a key that is not claimed before, in the transaction of an effect that is one transaction and
/// nothing else: of two that run at once the second waits here, and finds what the first one stored. `None` where this
/// response is the one.
///
/// # Errors
/// Those of the database; [`StoreError::Missing`] where somebody has claimed the key and not answered yet.
pub async fn keep(
    tx: &mut Transaction<'_>,
    scope: &Scope,
    response: Vec<u8>,
    now: Timestamp,
) -> Result<Option<Vec<u8>>, StoreError> {
    let Scope {
        org_id,
        mode,
        principal_id,
        key_digest,
    } = scope;
    let kept = tx
        .cx
        .execute(
            "INSERT INTO idempotency (org_id, mode, principal_id, key_digest, fingerprint, owner, lease_until, \
             first_seen_at, response, expires_at) VALUES ($1, $2, $3, $4, $5, NULL, $6, $6, $7, $8) \
             ON CONFLICT (org_id, mode, principal_id, key_digest) DO UPDATE SET \
             lease_until = excluded.lease_until, first_seen_at = excluded.first_seen_at, \
             response = excluded.response, expires_at = excluded.expires_at WHERE idempotency.expires_at <= $6",
            args![
                org_id,
                *mode,
                principal_id,
                &key_digest[..],
                Vec::<u8>::new(),
                now,
                response,
                now.plus_ms(REPLAY_MS),
            ],
        )
        .await?;
    if kept == 1 {
        return Ok(None);
    }
    let found = kept_response(tx.cx, scope, now).await?;
    found
        .map(Some)
        .ok_or(StoreError::Missing("idempotency key"))
}

/// The response that [`keep`] has stored for a key, as it was sealed.
///
/// # Errors
/// Those of the database.
pub async fn kept(
    store: &Store,
    scope: &Scope,
    now: Timestamp,
) -> Result<Option<Vec<u8>>, StoreError> {
    let scope = scope.clone();
    store
        .db
        .read(move |cx| Box::pin(async move { kept_response(cx, &scope, now).await }))
        .await
}

async fn kept_response(
    cx: &mut Connection,
    scope: &Scope,
    now: Timestamp,
) -> Result<Option<Vec<u8>>, StoreError> {
    let Scope {
        org_id,
        mode,
        principal_id,
        key_digest,
    } = scope;
    let sql = "SELECT response FROM idempotency WHERE org_id = $1 AND mode = $2 AND principal_id = $3 \
               AND key_digest = $4 AND response IS NOT NULL AND expires_at > $5";
    let arguments = args![org_id, *mode, principal_id, &key_digest[..], now];
    let row = cx.row(sql, arguments).await?;
    row.map(|row| row.get("response")).transpose()
}

/// Gives a claim up that had no effect, so that its key may be used again.
///
/// # Errors
/// Those of the database.
pub async fn release(
    tx: &mut Transaction<'_>,
    scope: &Scope,
    owner: &str,
) -> Result<(), StoreError> {
    let Scope {
        org_id,
        mode,
        principal_id,
        key_digest,
    } = scope;
    tx.cx
        .execute(
            "DELETE FROM idempotency \
             WHERE org_id = $1 AND mode = $2 AND principal_id = $3 AND key_digest = $4 AND owner = $5",
            args![org_id, *mode, principal_id, &key_digest[..], owner],
        )
        .await
        .map(drop)
}

/// Removes keys that are over, and claims whose owners died as long ago as a response is kept; gives how many. An owner
/// that is only late may still complete a claim that nobody else has taken.
///
/// # Errors
/// Those of the database.
pub async fn sweep(store: &Store, now: Timestamp) -> Result<u64, StoreError> {
    let arguments = args![now, now.plus_ms(-REPLAY_MS), SWEEP_ROWS];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = sweep!(
                    "idempotency",
                    "org_id, mode, principal_id, key_digest",
                    "(expires_at <= $1 OR (expires_at IS NULL AND lease_until <= $2))",
                    "LIMIT $3"
                );
                cx.execute(sql, arguments).await
            })
        })
        .await
}

/// Seals and opens the response of one key. Needs the key's text, which the database does not have (contract 4):
/// a stored response may hold a secret that is shown once.
pub struct Envelope {
    org_id: String,
    row_id: String,
    key_text: String,
    version: u32,
    key: SecretKey,
}

impl Envelope {
    /// The envelope of one key: `key_text` is the key as it was sent.
    ///
    /// # Errors
    /// Those of the organization's key.
    pub async fn of(store: &Store, scope: &Scope, key_text: &str) -> Result<Self, StoreError> {
        let keys = org_key::load(store, &scope.org_id).await?;
        let (version, key) = keys.current()?;
        Ok(Self {
            org_id: scope.org_id.clone(),
            row_id: row_id(scope),
            key_text: key_text.to_owned(),
            version,
            key: derive(key, key_text)?,
        })
    }

    /// Seals a response for [`complete`] or [`keep`].
    ///
    /// # Errors
    /// As [`seal::seal`].
    pub fn seal(&self, response: &[u8]) -> Result<Vec<u8>, StoreError> {
        Ok(seal::seal(&self.key, self.version, self.place(), response)?)
    }

    /// Opens what [`Self::seal`] made for this key, with whatever version of the organization's key.
    ///
    /// # Errors
    /// [`StoreError::Seal`] for a response of another key.
    pub async fn open(&self, store: &Store, sealed: &[u8]) -> Result<Vec<u8>, StoreError> {
        let key = org_key::opening(store, &self.org_id, sealed).await?;
        let key = derive(&key, &self.key_text)?;
        Ok(seal::open(&key, self.place(), sealed)?)
    }

    fn place(&self) -> Place<'_> {
        Place {
            table: "idempotency",
            row_id: &self.row_id,
            column: "response",
            org_id: &self.org_id,
        }
    }
}

fn row_id(scope: &Scope) -> String {
    let digest = hex::encode(scope.key_digest);
    format!("{}/{}/{digest}", scope.mode.word(), scope.principal_id)
}

fn derive(key: &SecretKey, key_text: &str) -> Result<SecretKey, StoreError> {
    let mut derived = [0; seal::KEY_BYTES];
    Hkdf::<Sha256>::new(Some(b"svc idempotency response"), key.bytes())
        .expand(key_text.as_bytes(), &mut derived)
        .map_err(|_| StoreError::Corrupt {
            column: "idempotency.response",
        })?;
    Ok(SecretKey::from_bytes(derived))
}
