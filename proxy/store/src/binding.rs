//! The names under which projects use the organization's credentials of other services (contract 11).

use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::engine::{Row, args};
use crate::integration::{self, Integration};
use crate::page::{Listing, Page, Paged};
use crate::seal::Content;
use crate::sealed_secret::{self, SealedSecret};
use crate::{Store, StoreError, Transaction, organization};

/// One name in one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub integration_id: String,
    pub project_id: String,
    /// Unique in its project.
    pub alias: String,
    /// `None`: any path below the base address.
    pub allowed_paths: Option<Vec<String>>,
    pub created_at: Timestamp,
}

/// What a binding comes to when it is used.
pub struct Usable {
    pub binding: Binding,
    pub integration: Integration,
    /// `None` once the credential is revoked: the binding is stale.
    pub secret: Option<Content>,
}

/// Bindings of one organization and mode: a replica holds them in memory.
pub const MAX_BINDINGS: u32 = 500;

/// Stores a binding.
///
/// # Errors
/// [`StoreError::Exists`] when the project uses the alias.
pub async fn insert(tx: &mut Transaction<'_>, binding: &Binding) -> Result<(), StoreError> {
    let Binding {
        id,
        org_id,
        mode,
        integration_id,
        project_id,
        alias,
        allowed_paths,
        created_at,
    } = binding;
    let paths = allowed_paths.as_ref().map(|paths| serde_json::json!(paths));
    tx.cx
        .execute(
            "INSERT INTO integration_bindings (id, org_id, mode, integration_id, project_id, alias, \
             allowed_paths, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            args![
                id,
                org_id,
                *mode,
                integration_id,
                project_id,
                alias,
                paths.map(|paths| paths.to_string()),
                *created_at,
            ],
        )
        .await
        .map(drop)
}

/// Whether the project uses the alias already; nobody else binds it until the transaction ends.
///
/// # Errors
/// Those of the database.
pub async fn is_taken(tx: &mut Transaction<'_>, binding: &Binding) -> Result<bool, StoreError> {
    organization::hold(tx, &binding.org_id).await?;
    let sql = "SELECT 1 AS taken FROM integration_bindings WHERE project_id = $1 AND mode = $2 AND alias = $3";
    let arguments = args![&binding.project_id, binding.mode, &binding.alias];
    Ok(tx.cx.row(sql, arguments).await?.is_some())
}

/// How many bindings an organization has, and will have until one is added in this transaction.
///
/// # Errors
/// Those of the database.
pub async fn count(tx: &mut Transaction<'_>, org_id: &str, mode: Mode) -> Result<u32, StoreError> {
    organization::hold(tx, org_id).await?;
    let sql = "SELECT COUNT(*) AS found FROM integration_bindings WHERE org_id = $1 AND mode = $2";
    tx.cx.count(sql, args![org_id, mode]).await
}

/// Removes a binding; its credential is not affected. Says whether there was one.
///
/// # Errors
/// Those of the database.
pub async fn delete(
    tx: &mut Transaction<'_>,
    integration: &Integration,
    id: &str,
) -> Result<bool, StoreError> {
    let sql =
        "DELETE FROM integration_bindings WHERE id = $1 AND integration_id = $2 AND org_id = $3";
    let arguments = args![id, &integration.id, &integration.org_id];
    Ok(tx.cx.execute(sql, arguments).await? > 0)
}

/// A page of a credential's bindings.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    integration: &Integration,
    page: &Page,
) -> Result<Paged<Binding>, StoreError> {
    let listing = Listing::new(
        "SELECT * FROM integration_bindings WHERE integration_id = $1 AND org_id = $2",
        args![&integration.id, &integration.org_id],
    );
    listing.page(store, page, from_row).await
}

/// Every binding of an organization and mode, with what it leads to.
///
/// # Errors
/// Those of the database and of the keys.
pub async fn usable(store: &Store, org_id: &str, mode: Mode) -> Result<Vec<Usable>, StoreError> {
    let arguments = args![org_id, mode, MAX_BINDINGS];
    let rows = store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT i.*, CAST(0 AS BIGINT) AS bindings_count, b.id AS binding_id, b.project_id, b.alias, \
                           b.allowed_paths, b.created_at AS bound_at \
                           FROM integration_bindings b JOIN integrations i ON i.id = b.integration_id \
                           WHERE b.org_id = $1 AND b.mode = $2 ORDER BY b.id LIMIT $3";
                let rows = cx.rows(sql, arguments).await?;
                rows.iter().map(joined).collect::<Result<Vec<_>, _>>()
            })
        })
        .await?;
    let mut usable = Vec::with_capacity(rows.len());
    for (binding, integration, sealed) in rows {
        let secret = match &sealed {
            Some(sealed) => Some(integration::open_secret(store, &integration, sealed).await?),
            None => None,
        };
        usable.push(Usable {
            binding,
            integration,
            secret,
        });
    }
    Ok(usable)
}

fn joined(row: &Row) -> Result<(Binding, Integration, Option<SealedSecret>), StoreError> {
    let integration = integration::from_row(row)?;
    let binding = Binding {
        id: row.get("binding_id")?,
        org_id: integration.org_id.clone(),
        mode: integration.mode,
        integration_id: integration.id.clone(),
        project_id: row.get("project_id")?,
        alias: row.get("alias")?,
        allowed_paths: paths(row)?,
        created_at: row.get("bound_at")?,
    };
    Ok((binding, integration, sealed_secret::of_row(row)?))
}

fn from_row(row: &Row) -> Result<Binding, StoreError> {
    Ok(Binding {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        integration_id: row.get("integration_id")?,
        project_id: row.get("project_id")?,
        alias: row.get("alias")?,
        allowed_paths: paths(row)?,
        created_at: row.get("created_at")?,
    })
}

fn paths(row: &Row) -> Result<Option<Vec<String>>, StoreError> {
    let Some(text): Option<String> = row.get("allowed_paths")? else {
        return Ok(None);
    };
    let paths = serde_json::from_str(&text).map_err(|_| StoreError::Corrupt {
        column: "allowed_paths",
    })?;
    Ok(Some(paths))
}
