//! Apps: what entities and inbound webhooks belong to (contract 17.2).

use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::engine::{Row, args};
use crate::page::{Listing, Page, Paged};
use crate::{Store, StoreError, Transaction, organization};

/// One app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// A bare ULID.
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub name: String,
    pub created_at: Timestamp,
}

/// Stores an app.
///
/// # Errors
/// Those of the database.
pub async fn insert(tx: &mut Transaction<'_>, app: &App) -> Result<(), StoreError> {
    let App {
        id,
        org_id,
        mode,
        name,
        created_at,
    } = app;
    let sql = "INSERT INTO apps (id, org_id, mode, name, created_at) VALUES ($1, $2, $3, $4, $5)";
    let arguments = args![id, org_id, *mode, name, *created_at];
    tx.cx.execute(sql, arguments).await.map(drop)
}

/// Keeps others from adding to what this app has, for the rest of the transaction: two that count the same cannot both
/// add. An update that changes nothing holds the row on both engines alike.
///
/// # Errors
/// Those of the database.
pub(crate) async fn hold(tx: &mut Transaction<'_>, app_id: &str) -> Result<(), StoreError> {
    let sql = "UPDATE apps SET name = name WHERE id = $1";
    tx.cx.execute(sql, args![app_id]).await.map(drop)
}

/// How many apps an organization has, and will have until one is added in this transaction.
///
/// # Errors
/// Those of the database.
pub async fn count(tx: &mut Transaction<'_>, org_id: &str, mode: Mode) -> Result<u32, StoreError> {
    organization::hold(tx, org_id).await?;
    let sql = "SELECT COUNT(*) AS found FROM apps WHERE org_id = $1 AND mode = $2";
    tx.cx.count(sql, args![org_id, mode]).await
}

/// The app of this organization and mode with this id.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<App>, StoreError> {
    let sql = "SELECT * FROM apps WHERE id = $1 AND org_id = $2 AND mode = $3";
    store.db.find(sql, args![id, org_id, mode], from_row).await
}

/// A page of an organization's apps.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    org_id: &str,
    mode: Mode,
    page: &Page,
) -> Result<Paged<App>, StoreError> {
    let listing = Listing::new(
        "SELECT * FROM apps WHERE org_id = $1 AND mode = $2",
        args![org_id, mode],
    );
    listing.page(store, page, from_row).await
}

fn from_row(row: &Row) -> Result<App, StoreError> {
    Ok(App {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        name: row.get("name")?,
        created_at: row.get("created_at")?,
    })
}
