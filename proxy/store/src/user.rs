//! People of an organization (contract 8).

use svc_core::time::Timestamp;

use crate::engine::{Connection, Row, args};
use crate::page::{Listing, Page, Paged};
use crate::{Store, StoreError, Transaction};

/// What a user may do; `Owner` and `Admin` both satisfy "org admin" (contract 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Owner,
    Admin,
    Compliance,
    Member,
    Viewer,
}

impl Role {
    /// In the order of the contract's list.
    pub const ALL: &[Self] = &[
        Self::Owner,
        Self::Admin,
        Self::Compliance,
        Self::Member,
        Self::Viewer,
    ];

    /// The word of `role`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Compliance => "compliance",
            Self::Member => "member",
            Self::Viewer => "viewer",
        }
    }

    /// Reads a word of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.word() == word)
    }

    /// Whether an application may act for such a user: who may read only, or nothing, hands nothing on (contract 16.3).
    pub const fn may_delegate(self) -> bool {
        matches!(self, Self::Owner | Self::Admin | Self::Member)
    }

    /// Whether the role satisfies gates that ask for an org admin (`ORG_ADMIN_REQUIRED`).
    pub const fn is_org_admin(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }
}

/// One user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: String,
    pub org_id: String,
    /// Unique in the deployment, whatever its case: stored as [`plain_email`].
    pub email: String,
    pub name: String,
    pub role: Role,
    pub suspended: bool,
    /// Whether a second factor is asked for at sign-in.
    pub mfa_enabled: bool,
    pub created_at: Timestamp,
    pub last_login_at: Option<Timestamp>,
}

/// Creates a user.
///
/// # Errors
/// [`StoreError::Exists`] when the id or the address is taken.
pub async fn create(store: &Store, user: &User) -> Result<(), StoreError> {
    let user = user.clone();
    store
        .db
        .write(|cx| Box::pin(async move { insert(cx, &user).await }))
        .await
}

/// As [`create`], with what else belongs to it.
///
/// # Errors
/// As [`create`].
pub async fn add(tx: &mut Transaction<'_>, user: &User) -> Result<(), StoreError> {
    insert(tx.cx, user).await
}

/// An address as it is compared: two that differ in case are one mailbox.
pub fn plain_email(email: &str) -> String {
    email.trim().to_ascii_lowercase()
}

/// RFC 5321, 4.5.3.1.3.
const MAX_EMAIL_BYTES: usize = 254;

/// Whether this can be an address: visible ASCII on both sides of one `@`, without what addresses stand between or need
/// quotes for.
pub fn is_email(text: &str) -> bool {
    let mut sides = text.split('@');
    let filled = |side: Option<&str>| side.is_some_and(|side| !side.is_empty());
    text.len() <= MAX_EMAIL_BYTES
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !br#""<>()[]\,;:"#.contains(&byte))
        && filled(sides.next())
        && filled(sides.next())
        && sides.next().is_none()
}

pub(crate) async fn insert(cx: &mut Connection, user: &User) -> Result<(), StoreError> {
    let User {
        id,
        org_id,
        email,
        name,
        role,
        suspended,
        mfa_enabled,
        created_at,
        last_login_at,
    } = user;
    cx.execute(
        "INSERT INTO users (id, org_id, email, name, role, status, mfa_enabled, created_at, last_login_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        args![
            id,
            org_id,
            plain_email(email),
            name,
            role.word(),
            status_word(*suspended),
            *mfa_enabled,
            *created_at,
            *last_login_at,
        ],
    )
    .await
    .map(drop)
}

/// The user of this organization with this id.
///
/// # Errors
/// Those of the database.
pub async fn find(store: &Store, org_id: &str, user_id: &str) -> Result<Option<User>, StoreError> {
    let (org_id, user_id) = (org_id.to_owned(), user_id.to_owned());
    store
        .db
        .read(move |cx| Box::pin(async move { read(cx, &org_id, &user_id).await }))
        .await
}

/// The user of this organization with this id, as the transaction sees them.
///
/// # Errors
/// Those of the database.
pub async fn find_in(
    tx: &mut Transaction<'_>,
    org_id: &str,
    user_id: &str,
) -> Result<Option<User>, StoreError> {
    read(tx.cx, org_id, user_id).await
}

pub(crate) async fn read(
    cx: &mut Connection,
    org_id: &str,
    user_id: &str,
) -> Result<Option<User>, StoreError> {
    let sql = "SELECT * FROM users WHERE id = $1 AND org_id = $2";
    cx.one(sql, args![user_id, org_id], from_row).await
}

pub(crate) fn from_row(row: &Row) -> Result<User, StoreError> {
    let status: String = row.get("status")?;
    Ok(User {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        email: row.get("email")?,
        name: row.get("name")?,
        role: row.word("role", Role::parse)?,
        suspended: status == status_word(true),
        mfa_enabled: row.get("mfa_enabled")?,
        created_at: row.get("created_at")?,
        last_login_at: row.get("last_login_at")?,
    })
}

/// A page of an organization's people.
///
/// # Errors
/// Those of the database.
pub async fn list(store: &Store, org_id: &str, page: &Page) -> Result<Paged<User>, StoreError> {
    let listing = Listing::new("SELECT * FROM users WHERE org_id = $1", args![org_id]);
    listing.page(store, page, from_row).await
}

/// The user of this organization with this id, whom nobody else changes until the transaction ends: neither them, nor
/// their password, second factor and links. Comes before every other row of theirs that a transaction holds.
///
/// # Errors
/// Those of the database.
pub async fn lock(
    tx: &mut Transaction<'_>,
    org_id: &str,
    user_id: &str,
) -> Result<Option<User>, StoreError> {
    // As `agent::lock`: an update that changes nothing holds the row on both engines alike.
    let sql = "UPDATE users SET role = role WHERE id = $1 AND org_id = $2 RETURNING *";
    tx.cx.one(sql, args![user_id, org_id], from_row).await
}

/// As [`lock`], for somebody who was judged before: `false` where they stand otherwise by now, or something else is
/// asked of them at sign-in.
///
/// # Errors
/// Those of the database.
pub async fn lock_as_judged(tx: &mut Transaction<'_>, judged: &User) -> Result<bool, StoreError> {
    let standing = |user: &User| (user.suspended, user.mfa_enabled);
    let found = lock(tx, &judged.org_id, &judged.id).await?;
    Ok(found.is_some_and(|found| standing(&found) == standing(judged)))
}

/// As [`lock`], and all owners of the organization with them, so that two that give up their role at once do not leave
/// it without one.
///
/// # Errors
/// Those of the database.
pub async fn lock_with_owners(
    tx: &mut Transaction<'_>,
    org_id: &str,
    user_id: &str,
) -> Result<Option<User>, StoreError> {
    let sql = "UPDATE users SET role = role WHERE org_id = $1 AND (id = $2 OR role = $3)";
    let arguments = args![org_id, user_id, Role::Owner.word()];
    tx.cx.execute(sql, arguments).await?;
    read(tx.cx, org_id, user_id).await
}

/// Owners of an organization who are not suspended. Count them under [`lock_with_owners`].
///
/// # Errors
/// Those of the database.
pub async fn count_owners(tx: &mut Transaction<'_>, org_id: &str) -> Result<u32, StoreError> {
    let sql = "SELECT COUNT(*) AS found FROM users WHERE org_id = $1 AND role = $2 AND status = $3";
    let arguments = args![org_id, Role::Owner.word(), status_word(false)];
    tx.cx.count(sql, arguments).await
}

/// Gives a user another role and standing.
///
/// # Errors
/// [`StoreError::Missing`] for a user that the organization does not have.
pub async fn put_standing(
    tx: &mut Transaction<'_>,
    org_id: &str,
    user_id: &str,
    role: Role,
    suspended: bool,
) -> Result<(), StoreError> {
    let sql = "UPDATE users SET role = $3, status = $4 WHERE id = $1 AND org_id = $2";
    let arguments = args![user_id, org_id, role.word(), status_word(suspended)];
    tx.cx.execute_one("user", sql, arguments).await
}

/// Notes that a user has signed in.
///
/// # Errors
/// Those of the database.
pub async fn signed_in(
    tx: &mut Transaction<'_>,
    user_id: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = "UPDATE users SET last_login_at = $2 WHERE id = $1";
    tx.cx.execute(sql, args![user_id, now]).await.map(drop)
}

const fn status_word(suspended: bool) -> &'static str {
    if suspended { "suspended" } else { "active" }
}
