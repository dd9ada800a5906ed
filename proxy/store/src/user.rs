//! People of an organization (contract 8).

use svc_core::time::Timestamp;

use crate::engine::{Connection, Row, args};
use crate::{Store, StoreError};

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
    pub const ALL: &[Self] = &[
        Self::Owner,
        Self::Admin,
        Self::Compliance,
        Self::Member,
        Self::Viewer,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Compliance => "compliance",
            Self::Member => "member",
            Self::Viewer => "viewer",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.word() == word)
    }

    pub const fn is_org_admin(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }
}

/// One user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: String,
    pub org_id: String,
    /// Unique in the deployment, compared as stored.
    pub email: String,
    pub name: String,
    pub role: Role,
    pub suspended: bool,
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
            email,
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

pub(crate) async fn read(
    cx: &mut Connection,
    org_id: &str,
    user_id: &str,
) -> Result<Option<User>, StoreError> {
    let sql = "SELECT * FROM users WHERE id = $1 AND org_id = $2";
    let row = cx.row(sql, args![user_id, org_id]).await?;
    row.as_ref().map(from_row).transpose()
}

fn from_row(row: &Row) -> Result<User, StoreError> {
    let role: String = row.get("role")?;
    let status: String = row.get("status")?;
    Ok(User {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        email: row.get("email")?,
        name: row.get("name")?,
        role: Role::parse(&role).ok_or(StoreError::Corrupt { column: "role" })?,
        suspended: status == status_word(true),
        mfa_enabled: row.get("mfa_enabled")?,
        created_at: row.get("created_at")?,
        last_login_at: row.get("last_login_at")?,
    })
}

const fn status_word(suspended: bool) -> &'static str {
    if suspended { "suspended" } else { "active" }
}
