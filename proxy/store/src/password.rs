//! Password hashes, in a table of their own so that no other read brings them along. What a hash means is not known
//! here.

use svc_core::time::Timestamp;

use crate::engine::{Connection, args};
use crate::user::User;
use crate::{Store, StoreError, Transaction, user};

/// The user with this address, whatever its case, and the hash of their password where they have one.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    email: &str,
) -> Result<Option<(User, Option<String>)>, StoreError> {
    let email = user::plain_email(email);
    store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = "SELECT * FROM users WHERE email = $1";
                let Some(row) = cx.row(sql, args![email]).await? else {
                    return Ok(None);
                };
                let user = user::from_row(&row)?;
                let phc = read(cx, &user.id).await?;
                Ok(Some((user, phc)))
            })
        })
        .await
}

/// The hash of a user's password.
///
/// # Errors
/// Those of the database.
pub async fn of(store: &Store, user_id: &str) -> Result<Option<String>, StoreError> {
    let user_id = user_id.to_owned();
    store
        .db
        .read(move |cx| Box::pin(async move { read(cx, &user_id).await }))
        .await
}

async fn read(cx: &mut Connection, user_id: &str) -> Result<Option<String>, StoreError> {
    let sql = "SELECT phc FROM passwords WHERE user_id = $1";
    let row = cx.row(sql, args![user_id]).await?;
    row.map(|row| row.get("phc")).transpose()
}

/// As [`user::lock_as_judged`], for somebody whose password was right: also `false` where its hash is another one by
/// now. Judging a password takes longer than setting one.
///
/// # Errors
/// Those of the database.
pub async fn lock_as_judged(
    tx: &mut Transaction<'_>,
    judged: &User,
    phc: &str,
) -> Result<bool, StoreError> {
    let stands = user::lock_as_judged(tx, judged).await?;
    Ok(stands && read(tx.cx, &judged.id).await?.as_deref() == Some(phc))
}

/// Sets the password of a user who is locked ([`user::lock`]).
///
/// # Errors
/// Those of the database.
pub async fn put(
    tx: &mut Transaction<'_>,
    org_id: &str,
    user_id: &str,
    phc: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO passwords (user_id, org_id, phc, changed_at) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (user_id) DO UPDATE SET phc = excluded.phc, changed_at = excluded.changed_at";
    tx.cx
        .execute(sql, args![user_id, org_id, phc, now])
        .await
        .map(drop)
}
