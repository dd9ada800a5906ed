//! Sessions of people who are signed in: kept as SHA-256 of the cookie, found by it together with the user and their
//! organization. How long a session may be idle is decided by whoever asks.

use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::engine::{Row, args};
use crate::identity::Identity;
use crate::organization::{self, Organization, organization_columns};
use crate::sweep::{SWEEP_ROWS, sweep};
use crate::user::User;
use crate::{Store, StoreError, Transaction, baa, link, user};

/// How far somebody has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The second factor is still to come.
    Password,
    Whole,
}

impl Stage {
    const fn word(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Whole => "whole",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        match word {
            "password" => Some(Self::Password),
            "whole" => Some(Self::Whole),
            _ => None,
        }
    }
}

/// One session. The cookie itself is nowhere in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: String,
    pub user_id: String,
    pub org_id: String,
    /// Of what the pages show.
    pub mode: Mode,
    pub stage: Stage,
    /// How they have shown who they are: a word of audit rows.
    pub shown_by: String,
    /// To be tied to the user once they are wholly in.
    pub identity: Option<Identity>,
    pub created_at: Timestamp,
    /// Accurate to [`SEEN_STEP_MS`].
    pub seen_at: Timestamp,
    /// The end whatever happens.
    pub expires_at: Timestamp,
}

impl Session {
    /// Whether it is over: past its end, or idle for too long. What was not noted of its last use counts for it.
    pub fn is_over(&self, idle_ms: i64, now: Timestamp) -> bool {
        let seen_at = self.seen_at.plus_ms(SEEN_STEP_MS);
        self.expires_at <= now || seen_at.plus_ms(idle_ms) <= now
    }
}

/// 10 s: how exactly the last use of a session is known, so that not every page is a write.
pub const SEEN_STEP_MS: i64 = 10_000;

/// A session with everything that pages ask about whoever has it.
#[derive(Clone)]
pub struct SignedIn {
    pub session: Session,
    pub user: User,
    pub organization: Organization,
    pub baa: baa::Standing,
}

/// Stores a session under the digest of its cookie. Its user is locked ([`user::lock`]), so that whatever ends their
/// sessions meanwhile ends this one too.
///
/// # Errors
/// [`StoreError::Exists`] when the digest is taken.
pub async fn insert(
    tx: &mut Transaction<'_>,
    session: &Session,
    digest: &[u8; 32],
) -> Result<(), StoreError> {
    let Session {
        id,
        user_id,
        org_id,
        mode,
        stage,
        shown_by,
        identity,
        created_at,
        seen_at,
        expires_at,
    } = session;
    let (issuer, subject) = match identity {
        Some(Identity { issuer, subject }) => (Some(issuer.as_str()), Some(subject.as_str())),
        None => (None, None),
    };
    let sql = "INSERT INTO sessions (id, digest, user_id, org_id, mode, stage, created_at, seen_at, expires_at, \
               shown_by, issuer, subject) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let arguments = args![
        id,
        &digest[..],
        user_id,
        org_id,
        *mode,
        stage.word(),
        *created_at,
        *seen_at,
        *expires_at,
        shown_by,
        issuer,
        subject
    ];
    tx.cx.execute(sql, arguments).await.map(drop)
}

/// The session with this digest, over or not, and what belongs to it at `now`; `None` where its user is gone.
///
/// # Errors
/// Those of the database and of its sealed columns; [`StoreError::Missing`] where its organization is gone.
pub async fn find(
    store: &Store,
    digest: &[u8; 32],
    now: Timestamp,
) -> Result<Option<SignedIn>, StoreError> {
    let digest = digest.to_vec();
    let found = store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = "SELECT * FROM sessions WHERE digest = $1";
                let Some(row) = cx.row(sql, args![digest]).await? else {
                    return Ok(None);
                };
                let session = from_row(&row)?;
                let Some(user) = user::read(cx, &session.org_id, &session.user_id).await? else {
                    return Ok(None);
                };
                let sql = concat!(
                    "SELECT ",
                    organization_columns!(),
                    " FROM organizations o WHERE o.id = $1"
                );
                let organization = cx.row(sql, args![&session.org_id]).await?;
                let organization = organization::from_row(
                    &organization.ok_or(StoreError::Missing("organization"))?,
                )?;
                let baa = baa::read_standing(cx, &session.org_id, now).await?;
                Ok(Some((session, user, organization, baa)))
            })
        })
        .await?;
    let Some((session, user, stored, baa)) = found else {
        return Ok(None);
    };
    Ok(Some(SignedIn {
        session,
        user,
        organization: organization::open(store, stored).await?,
        baa,
    }))
}

/// Notes that a session was used, at most once in [`SEEN_STEP_MS`].
///
/// # Errors
/// Those of the database.
pub async fn touch(store: &Store, id: &str, now: Timestamp) -> Result<(), StoreError> {
    let arguments = args![id, now, now.plus_ms(-SEEN_STEP_MS)];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "UPDATE sessions SET seen_at = $2 WHERE id = $1 AND seen_at <= $3";
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await
}

/// Shows another mode from now on.
///
/// # Errors
/// Those of the database.
pub async fn show(store: &Store, id: &str, mode: Mode) -> Result<(), StoreError> {
    let arguments = args![id, mode];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "UPDATE sessions SET mode = $2 WHERE id = $1";
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await
}

/// Whether a session is still there. Ask under [`user::lock`].
///
/// # Errors
/// Those of the database.
pub async fn is_there(tx: &mut Transaction<'_>, id: &str) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM sessions WHERE id = $1";
    Ok(tx.cx.row(sql, args![id]).await?.is_some())
}

/// Ends one session; one that is over already is no error.
///
/// # Errors
/// Those of the database.
pub async fn end(tx: &mut Transaction<'_>, id: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM sessions WHERE id = $1";
    tx.cx.execute(sql, args![id]).await.map(drop)
}

/// Ends every way into the account of a user who is locked ([`user::lock`]) that is open: sessions, and links that set a
/// password, which would open the next one. Gives how many sessions.
///
/// # Errors
/// Those of the database.
pub async fn end_all(tx: &mut Transaction<'_>, user_id: &str) -> Result<u64, StoreError> {
    link::void(tx, user_id).await?;
    let sql = "DELETE FROM sessions WHERE user_id = $1";
    tx.cx.execute(sql, args![user_id]).await
}

/// Removes sessions and links that are over, and attempts that nobody counts any more; one batch of each. Gives how
/// many rows.
///
/// # Errors
/// Those of the database.
pub async fn sweep(store: &Store, idle_ms: i64, now: Timestamp) -> Result<u64, StoreError> {
    let idle = now.plus_ms(-idle_ms - SEEN_STEP_MS);
    let old = now.plus_ms(-crate::throttle::FORGOTTEN_MS);
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                // Each along the index of its column.
                let sql = sweep!(
                    "sessions",
                    "id",
                    "expires_at <= $1",
                    "ORDER BY expires_at LIMIT $2"
                );
                let mut gone = cx.execute(sql, args![now, SWEEP_ROWS]).await?;
                let sql = sweep!(
                    "sessions",
                    "id",
                    "seen_at <= $1",
                    "ORDER BY seen_at LIMIT $2"
                );
                gone += cx.execute(sql, args![idle, SWEEP_ROWS]).await?;
                let sql = sweep!("account_links", "digest", "expires_at <= $1", "LIMIT $2");
                gone += cx.execute(sql, args![now, SWEEP_ROWS]).await?;
                let sql = sweep!(
                    "login_attempts",
                    "bucket",
                    "since <= $1 AND closed_until <= $1",
                    "ORDER BY since LIMIT $2"
                );
                gone += cx.execute(sql, args![old, SWEEP_ROWS]).await?;
                Ok(gone)
            })
        })
        .await
}

fn from_row(row: &Row) -> Result<Session, StoreError> {
    let (issuer, subject): (Option<String>, Option<String>) =
        (row.get("issuer")?, row.get("subject")?);
    let identity = issuer.zip(subject);
    Ok(Session {
        shown_by: row.get("shown_by")?,
        identity: identity.map(|(issuer, subject)| Identity { issuer, subject }),
        id: row.get("id")?,
        user_id: row.get("user_id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        stage: row.word("stage", Stage::parse)?,
        created_at: row.get("created_at")?,
        seen_at: row.get("seen_at")?,
        expires_at: row.get("expires_at")?,
    })
}
