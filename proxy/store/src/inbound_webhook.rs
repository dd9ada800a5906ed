//! Inbound webhooks: who may post records to an entity (contract 17.1). Of a token its digest is kept and nothing else.

use svc_core::entity::{Mapping, Schema};
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::api_key::LAST_USED_STEP_MS;
use crate::engine::{Row, args};
use crate::entity::{self, Entity, entity_columns};
use crate::organization::WebhookPayload;
use crate::page::{Listing, Page, Paged};
use crate::{Store, StoreError, Transaction, app};

/// Rows with the key and the fields of their entity.
macro_rules! select {
    () => {
        "SELECT i.*, (SELECT e.key FROM entities e WHERE e.id = i.entity_id) AS entity_key, \
         (SELECT e.fields FROM entities e WHERE e.id = i.entity_id) AS entity_fields FROM inbound_webhooks i"
    };
}

/// One webhook, without its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboundWebhook {
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub app_id: String,
    pub entity_id: String,
    pub entity_key: String,
    pub name: String,
    pub status: Status,
    /// Prefix and last four characters.
    pub token_hint: String,
    pub field_mapping: Mapping,
    /// Requests per minute; `None`: what the policy says.
    pub per_minute: Option<u32>,
    pub created_at: Timestamp,
    /// Accurate to [`LAST_USED_STEP_MS`].
    pub last_used_at: Option<Timestamp>,
}

/// Whether a token leads anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Active,
    Inactive,
}

impl Status {
    /// The word of `status`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
        }
    }

    /// Reads a word of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "active" => Some(Self::Active),
            "inactive" => Some(Self::Inactive),
            _ => None,
        }
    }
}

/// A webhook, and what its mapping can lead to by now.
#[derive(Clone, Debug)]
pub struct Configured {
    pub webhook: InboundWebhook,
    /// Of its entity.
    pub schema: Schema,
}

/// Where a token leads.
pub struct Entrance {
    pub webhook: InboundWebhook,
    pub entity: Entity,
    /// What the organization's outbound webhooks carry of a record that comes in here.
    pub webhook_payload: WebhookPayload,
}

/// The active webhook with this token, and what its records are.
///
/// # Errors
/// Those of the database.
pub async fn by_token(
    store: &Store,
    token_digest: &[u8; 32],
) -> Result<Option<Entrance>, StoreError> {
    let arguments = args![&token_digest[..]];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = concat!(
                    "SELECT i.*, o.webhook_payload, ",
                    entity_columns!(),
                    " FROM inbound_webhooks i JOIN entities e ON e.id = i.entity_id \
                     JOIN organizations o ON o.id = i.org_id \
                     WHERE i.token_digest = $1 AND i.status = 'active'"
                );
                cx.one(sql, arguments, entrance).await
            })
        })
        .await
}

fn entrance(row: &Row) -> Result<Entrance, StoreError> {
    Ok(Entrance {
        webhook: from_row(row)?,
        entity: entity::from_row(row)?,
        webhook_payload: row.word("webhook_payload", WebhookPayload::parse)?,
    })
}

/// Notes that a webhook was used, where the last note is old enough.
///
/// # Errors
/// Those of the database.
pub async fn touch(
    tx: &mut Transaction<'_>,
    webhook: &InboundWebhook,
    now: Timestamp,
) -> Result<(), StoreError> {
    let stale = now.plus_ms(-LAST_USED_STEP_MS);
    if webhook.last_used_at.is_some_and(|at| at > stale) {
        return Ok(());
    }
    let sql = "UPDATE inbound_webhooks SET last_used_at = $2 \
               WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)";
    let arguments = args![&webhook.id, now, stale];
    tx.cx.execute(sql, arguments).await.map(drop)
}

/// Stores a webhook.
///
/// # Errors
/// Those of the database.
pub async fn insert(
    tx: &mut Transaction<'_>,
    webhook: &InboundWebhook,
    token_digest: &[u8; 32],
) -> Result<(), StoreError> {
    let InboundWebhook {
        id,
        org_id,
        mode,
        app_id,
        entity_id,
        entity_key: _,
        name,
        status,
        token_hint,
        field_mapping,
        per_minute,
        created_at,
        last_used_at,
    } = webhook;
    let arguments = args![
        id,
        org_id,
        *mode,
        app_id,
        entity_id,
        name,
        status.word(),
        &token_digest[..],
        token_hint,
        &field_mapping.to_json(),
        *per_minute,
        *created_at,
        *last_used_at,
    ];
    let sql = "INSERT INTO inbound_webhooks (id, org_id, mode, app_id, entity_id, name, status, token_digest, \
               token_hint, field_mapping, per_minute, created_at, last_used_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    tx.cx.execute(sql, arguments).await.map(drop)
}

/// How many webhooks an app has, and will have until one is added in this transaction.
///
/// # Errors
/// Those of the database.
pub async fn count(tx: &mut Transaction<'_>, app_id: &str) -> Result<u32, StoreError> {
    app::hold(tx, app_id).await?;
    let sql = "SELECT COUNT(*) AS found FROM inbound_webhooks WHERE app_id = $1";
    tx.cx.count(sql, args![app_id]).await
}

/// The webhook of this app with this id.
///
/// # Errors
/// Those of the database.
pub async fn find(store: &Store, app_id: &str, id: &str) -> Result<Option<Configured>, StoreError> {
    let arguments = args![id, app_id];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let row = cx.row(FIND, arguments).await?;
                row.as_ref().map(configured).transpose()
            })
        })
        .await
}

const FIND: &str = concat!(select!(), " WHERE i.id = $1 AND i.app_id = $2");

/// Locks a webhook for the rest of the transaction.
///
/// # Errors
/// Those of the database.
pub async fn lock(
    tx: &mut Transaction<'_>,
    app_id: &str,
    id: &str,
) -> Result<Option<Configured>, StoreError> {
    let sql = "UPDATE inbound_webhooks SET name = name WHERE id = $1 AND app_id = $2";
    tx.cx.execute(sql, args![id, app_id]).await?;
    let row = tx.cx.row(FIND, args![id, app_id]).await?;
    row.as_ref().map(configured).transpose()
}

/// Stores what may be changed of a webhook: name, status, mapping and limit.
///
/// # Errors
/// [`StoreError::Missing`] for one that is not there.
pub async fn update(tx: &mut Transaction<'_>, webhook: &InboundWebhook) -> Result<(), StoreError> {
    let arguments = args![
        &webhook.id,
        &webhook.name,
        webhook.status.word(),
        &webhook.field_mapping.to_json(),
        webhook.per_minute,
    ];
    let sql = "UPDATE inbound_webhooks SET name = $2, status = $3, field_mapping = $4, per_minute = $5 WHERE id = $1";
    tx.cx.execute_one("inbound webhook", sql, arguments).await
}

/// Puts another token in the place of the old one, which leads nowhere from then on.
///
/// # Errors
/// [`StoreError::Missing`] for one that is not there.
pub async fn rotate(
    tx: &mut Transaction<'_>,
    id: &str,
    token_digest: &[u8; 32],
    token_hint: &str,
) -> Result<(), StoreError> {
    let arguments = args![id, &token_digest[..], token_hint];
    let sql = "UPDATE inbound_webhooks SET token_digest = $2, token_hint = $3 WHERE id = $1";
    tx.cx.execute_one("inbound webhook", sql, arguments).await
}

/// Removes a webhook; whether there was one. Its records stay.
///
/// # Errors
/// Those of the database.
pub async fn delete(tx: &mut Transaction<'_>, app_id: &str, id: &str) -> Result<bool, StoreError> {
    let sql = "DELETE FROM inbound_webhooks WHERE id = $1 AND app_id = $2";
    Ok(tx.cx.execute(sql, args![id, app_id]).await? > 0)
}

/// A page of an app's webhooks; `status` keeps those that have it.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    app_id: &str,
    status: Option<Status>,
    page: &Page,
) -> Result<Paged<Configured>, StoreError> {
    let mut listing = Listing::new(concat!(select!(), " WHERE i.app_id = $1"), args![app_id]);
    if let Some(status) = status {
        listing.only("i.status = ?", status.word());
    }
    listing.page(store, page, configured).await
}

fn configured(row: &Row) -> Result<Configured, StoreError> {
    let schema = Schema::stored(row.get("entity_fields")?);
    Ok(Configured {
        webhook: from_row(row)?,
        schema: schema.ok_or(StoreError::Corrupt {
            column: "entities.fields",
        })?,
    })
}

fn from_row(row: &Row) -> Result<InboundWebhook, StoreError> {
    let mapping = Mapping::stored(row.get("field_mapping")?);
    Ok(InboundWebhook {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        app_id: row.get("app_id")?,
        entity_id: row.get("entity_id")?,
        entity_key: row.get("entity_key")?,
        name: row.get("name")?,
        status: row.word("status", Status::parse)?,
        token_hint: row.get("token_hint")?,
        field_mapping: mapping.ok_or(StoreError::Corrupt {
            column: "field_mapping",
        })?,
        per_minute: row.get("per_minute")?,
        created_at: row.get("created_at")?,
        last_used_at: row.get("last_used_at")?,
    })
}
