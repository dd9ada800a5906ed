//! Links that let somebody set a password once: invitations and resets. Kept as SHA-256 of the token in them.

use svc_core::time::Timestamp;

use crate::engine::{Row, args};
use crate::user::User;
use crate::{Store, StoreError, Transaction, user};

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Invitation,
    Reset,
}

impl Purpose {
    /// The word of audit rows and of the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Invitation => "invitation",
            Self::Reset => "reset",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        match word {
            "invitation" => Some(Self::Invitation),
            "reset" => Some(Self::Reset),
            _ => None,
        }
    }
}

/// One link, without its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub user_id: String,
    pub org_id: String,
    pub purpose: Purpose,
    /// The user on whose authority it lets in; `None`: the operator.
    pub issued_by: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// Issues a link. Every earlier one of the same user is void from then on. Locks the user ([`user::lock`]).
///
/// # Errors
/// Those of the database.
pub async fn issue(
    tx: &mut Transaction<'_>,
    link: &Link,
    digest: &[u8; 32],
) -> Result<(), StoreError> {
    let Link {
        user_id,
        org_id,
        purpose,
        issued_by,
        created_at,
        expires_at,
    } = link;
    // A link that somebody issues at the same time is seen, and goes, once it is there.
    user::lock(tx, org_id, user_id).await?;
    void(tx, user_id).await?;
    let sql = "INSERT INTO account_links (digest, user_id, org_id, purpose, issued_by, created_at, expires_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let arguments = args![
        &digest[..],
        user_id,
        org_id,
        purpose.word(),
        issued_by,
        *created_at,
        *expires_at
    ];
    tx.cx.execute(sql, arguments).await.map(drop)
}

/// Makes every link of a user void who is locked ([`user::lock`]).
///
/// # Errors
/// Those of the database.
pub(crate) async fn void(tx: &mut Transaction<'_>, user_id: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM account_links WHERE user_id = $1";
    tx.cx.execute(sql, args![user_id]).await.map(drop)
}

/// The link with this digest, if it is still good, and whom it is for.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    digest: &[u8; 32],
    now: Timestamp,
) -> Result<Option<(Link, User)>, StoreError> {
    let digest = digest.to_vec();
    store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = "SELECT * FROM account_links WHERE digest = $1 AND expires_at > $2";
                let Some(row) = cx.row(sql, args![digest, now]).await? else {
                    return Ok(None);
                };
                let link = from_row(&row)?;
                let user = user::read(cx, &link.org_id, &link.user_id).await?;
                Ok(user.map(|user| (link, user)))
            })
        })
        .await
}

/// Uses a link up. `false` where somebody was faster, or it is over.
///
/// # Errors
/// Those of the database.
pub async fn redeem(
    tx: &mut Transaction<'_>,
    digest: &[u8; 32],
    now: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "DELETE FROM account_links WHERE digest = $1 AND expires_at > $2";
    Ok(tx.cx.execute(sql, args![&digest[..], now]).await? == 1)
}

fn from_row(row: &Row) -> Result<Link, StoreError> {
    Ok(Link {
        user_id: row.get("user_id")?,
        org_id: row.get("org_id")?,
        purpose: row.word("purpose", Purpose::parse)?,
        issued_by: row.get("issued_by")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
    })
}
