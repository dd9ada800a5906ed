//! Second factors: the TOTP secret of a user, sealed under a key of its own which the organization key wraps, and the
//! digests of their recovery codes. What a code is and when it is right is not known here.

use svc_core::time::Timestamp;

use crate::engine::args;
use crate::seal::Content;
use crate::sealed_secret::{self, Owner, SealedSecret, Table, table};
use crate::{Store, StoreError, Transaction, user};

static TABLE: Table = table!("second_factors", "user_id");

/// A user's second factor.
pub struct SecondFactor {
    pub secret: Content,
    /// `None`: begun, and asked of nobody yet.
    pub confirmed_at: Option<Timestamp>,
    /// The newest time step whose code was used.
    pub last_step: u64,
    sealed: Vec<u8>,
}

/// A time step of one secret, and of none that takes its place.
pub struct Step {
    step: u64,
    /// The secret as it is stored: no two are sealed alike.
    sealed: Vec<u8>,
}

impl SecondFactor {
    /// A time step that a code was right for.
    pub fn at(self, step: u64) -> Step {
        Step {
            step,
            sealed: self.sealed,
        }
    }
}

/// Seals a secret for the row of this user.
///
/// # Errors
/// Those of the organization's keys.
pub async fn seal_secret(
    store: &Store,
    org_id: &str,
    user_id: &str,
    secret: &Content,
) -> Result<SealedSecret, StoreError> {
    sealed_secret::seal(store, owner(user_id, org_id), secret).await
}

/// Begins an enrolment. One that was begun before is replaced; one that is confirmed stays, and this is
/// [`StoreError::Missing`].
///
/// # Errors
/// Those of the database.
pub async fn begin(
    tx: &mut Transaction<'_>,
    org_id: &str,
    user_id: &str,
    sealed: SealedSecret,
    now: Timestamp,
) -> Result<(), StoreError> {
    let SealedSecret {
        secret,
        wrapped_key,
    } = sealed;
    let sql = "INSERT INTO second_factors (user_id, org_id, secret, wrapped_key, created_at, confirmed_at, last_step) \
               VALUES ($1, $2, $3, $4, $5, NULL, 0) ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, \
               wrapped_key = excluded.wrapped_key, created_at = excluded.created_at \
               WHERE second_factors.confirmed_at IS NULL";
    let arguments = args![user_id, org_id, secret, wrapped_key, now];
    tx.cx
        .execute_one("second factor to begin", sql, arguments)
        .await
}

/// A user's second factor, begun or confirmed.
///
/// # Errors
/// Those of the database and of the keys.
pub async fn find(
    store: &Store,
    org_id: &str,
    user_id: &str,
) -> Result<Option<SecondFactor>, StoreError> {
    let arguments = args![user_id, org_id];
    let row = store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = "SELECT secret, wrapped_key, confirmed_at, last_step FROM second_factors \
                           WHERE user_id = $1 AND org_id = $2";
                cx.row(sql, arguments).await
            })
        })
        .await?;
    let Some(row) = row else { return Ok(None) };
    let sealed = sealed_secret::of_row(&row)?.ok_or(StoreError::Corrupt { column: "secret" })?;
    Ok(Some(SecondFactor {
        secret: sealed_secret::open(store, owner(user_id, org_id), &sealed).await?,
        sealed: sealed.secret,
        confirmed_at: row.get("confirmed_at")?,
        last_step: row.get("last_step")?,
    }))
}

/// Notes that the code of this time step was used. `false` where it, or one after it, was used before, and where the
/// secret is another one by now.
///
/// # Errors
/// Those of the database.
pub async fn use_step(
    tx: &mut Transaction<'_>,
    user_id: &str,
    step: &Step,
) -> Result<bool, StoreError> {
    let Step { step, sealed } = step;
    let sql = "UPDATE second_factors SET last_step = $2 WHERE user_id = $1 AND last_step < $2 AND secret = $3";
    let arguments = args![user_id, *step, &sealed[..]];
    Ok(tx.cx.execute(sql, arguments).await? == 1)
}

/// Confirms the enrolment of a user who is locked ([`user::lock`]) and has used a step of it up. From then on the
/// factor is asked for; the recovery codes go with it.
///
/// # Errors
/// [`StoreError::Missing`] where none was begun.
pub async fn confirm(
    tx: &mut Transaction<'_>,
    org_id: &str,
    user_id: &str,
    codes: &[[u8; 32]],
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE second_factors SET confirmed_at = $2 WHERE user_id = $1 AND confirmed_at IS NULL";
    tx.cx
        .execute_one("second factor to confirm", sql, args![user_id, now])
        .await?;
    let sql = "UPDATE users SET mfa_enabled = $2 WHERE id = $1";
    tx.cx.execute(sql, args![user_id, true]).await?;
    put_codes(tx, org_id, user_id, codes).await
}

/// Puts new recovery codes in the place of all old ones. Locks the user ([`user::lock`]).
///
/// # Errors
/// Those of the database.
pub async fn put_codes(
    tx: &mut Transaction<'_>,
    org_id: &str,
    user_id: &str,
    codes: &[[u8; 32]],
) -> Result<(), StoreError> {
    // Codes that somebody puts at the same time are seen, and go, once they are there.
    user::lock(tx, org_id, user_id).await?;
    let sql = "DELETE FROM recovery_codes WHERE user_id = $1";
    tx.cx.execute(sql, args![user_id]).await?;
    for digest in codes {
        let sql = "INSERT INTO recovery_codes (user_id, org_id, digest) VALUES ($1, $2, $3)";
        tx.cx
            .execute(sql, args![user_id, org_id, &digest[..]])
            .await?;
    }
    Ok(())
}

/// Uses a recovery code up. `false` for one that is not this user's, or was used before.
///
/// # Errors
/// Those of the database.
pub async fn use_code(
    tx: &mut Transaction<'_>,
    user_id: &str,
    digest: &[u8; 32],
    now: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND digest = $2 AND used_at IS NULL";
    Ok(tx.cx.execute(sql, args![user_id, &digest[..], now]).await? == 1)
}

/// Recovery codes that a user has left.
///
/// # Errors
/// Those of the database.
pub async fn codes_left(store: &Store, user_id: &str) -> Result<u32, StoreError> {
    let arguments = args![user_id];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT COUNT(*) AS found FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL";
                cx.count(sql, arguments).await
            })
        })
        .await
}

/// Removes a user's second factor and destroys its secret. `false` where there is none.
///
/// # Errors
/// Those of the database.
pub async fn remove(tx: &mut Transaction<'_>, user_id: &str) -> Result<bool, StoreError> {
    // Which locks the user, as `user::lock` does.
    let sql = "UPDATE users SET mfa_enabled = $2 WHERE id = $1";
    tx.cx.execute(sql, args![user_id, false]).await?;
    let sql = "DELETE FROM recovery_codes WHERE user_id = $1";
    tx.cx.execute(sql, args![user_id]).await?;
    let sql = "DELETE FROM second_factors WHERE user_id = $1";
    Ok(tx.cx.execute(sql, args![user_id]).await? == 1)
}

/// Wraps the keys of an organization's secrets with its newest key.
///
/// # Errors
/// Those of the database and of the keys.
pub async fn rewrap(store: &Store, org_id: &str) -> Result<u64, StoreError> {
    sealed_secret::rewrap(store, &TABLE, org_id).await
}

const fn owner<'a>(user_id: &'a str, org_id: &'a str) -> Owner<'a> {
    Owner {
        table: &TABLE,
        row_id: user_id,
        org_id,
    }
}
