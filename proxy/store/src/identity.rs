//! Who people are at an OpenID provider: its issuer and the subject that never changes hands there.

use svc_core::time::Timestamp;

use crate::engine::{Connection, args};
use crate::user::User;
use crate::{Store, StoreError, Transaction, session, user};

/// One identity of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// As the provider writes it, to the byte.
    pub issuer: String,
    pub subject: String,
}

/// The user of this identity.
///
/// # Errors
/// Those of the database.
pub async fn find(store: &Store, identity: &Identity) -> Result<Option<User>, StoreError> {
    let Identity { issuer, subject } = identity.clone();
    store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = "SELECT u.* FROM identities i JOIN users u ON u.id = i.user_id \
                           WHERE i.issuer = $1 AND i.subject = $2";
                let row = cx.row(sql, args![issuer, subject]).await?;
                row.as_ref().map(user::from_row).transpose()
            })
        })
        .await
}

/// As [`user::lock_as_judged`], for somebody who was known by an identity: also `false` where it is theirs no more.
///
/// # Errors
/// Those of the database.
pub async fn lock_as_judged(
    tx: &mut Transaction<'_>,
    judged: &User,
    identity: &Identity,
) -> Result<bool, StoreError> {
    let stands = user::lock_as_judged(tx, judged).await?;
    Ok(stands && is_of(tx.cx, identity, &judged.id).await?)
}

async fn is_of(
    cx: &mut Connection,
    identity: &Identity,
    user_id: &str,
) -> Result<bool, StoreError> {
    let Identity { issuer, subject } = identity;
    let sql = "SELECT 1 FROM identities WHERE issuer = $1 AND subject = $2 AND user_id = $3";
    let found = cx.row(sql, args![issuer, subject, user_id]).await?;
    Ok(found.is_some())
}

/// Ties an identity to a user who is locked ([`user::lock`]). Other ways into the account that are open end with it
/// ([`session::end_all`]). `false` where either is tied to somebody else.
///
/// # Errors
/// Those of the database.
pub async fn tie(
    tx: &mut Transaction<'_>,
    user: &User,
    identity: &Identity,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let Identity { issuer, subject } = identity;
    let sql = "INSERT INTO identities (issuer, subject, user_id, org_id, created_at) \
               VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";
    let arguments = args![issuer, subject, &user.id, &user.org_id, now];
    if tx.cx.execute(sql, arguments).await? == 1 {
        session::end_all(tx, &user.id).await?;
        return Ok(true);
    }
    // Two that come back at once are one person.
    is_of(tx.cx, identity, &user.id).await
}

/// Forgets who a user is at every provider; the next verified address is believed again.
///
/// # Errors
/// Those of the database.
pub async fn forget(tx: &mut Transaction<'_>, user_id: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM identities WHERE user_id = $1";
    tx.cx.execute(sql, args![user_id]).await.map(drop)
}
