//! Endpoints of outbound webhooks (contract 15.1). Each has a key of its own, which the organization key wraps and
//! which seals its secrets and the bodies of its deliveries; removing an endpoint destroys it (contract 19.4).

use serde_json::Value;
use svc_core::plan::Tier;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_core::webhook::{FEATURE, Subscription};

use crate::engine::{Connection, Row, args};
use crate::page::{Listing, Page, Paged};
use crate::seal::{self, Content, Place, SecretKey};
use crate::sealed_secret::{self, Owner, SealedSecret, Table, table};
use crate::{Store, StoreError, Transaction, organization};

static TABLE: Table = table!("webhook_endpoints", "id");

/// One endpoint, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub url: String,
    pub description: Option<String>,
    pub subscription: Subscription,
    /// Attempts at once, over all replicas, 1 to 50 (contract 15.1).
    pub max_in_flight: u32,
    /// `None`: enabled.
    pub disabled: Option<Disabled>,
    /// End of the secret, for people.
    pub secret_hint: String,
    pub secret_created_at: Timestamp,
    /// Until when the secret before the present one signs too.
    pub previous_secret_expires_at: Option<Timestamp>,
    pub health: Health,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Why an endpoint gets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disabled {
    /// Somebody has switched it off.
    Manual,
    /// Every attempt of days has failed.
    Failing,
    /// It has answered 410, and the operator lets that count.
    Gone,
}

impl Disabled {
    pub const ALL: &[Self] = &[Self::Manual, Self::Failing, Self::Gone];

    /// The word of `disabled_reason`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Failing => "failing",
            Self::Gone => "gone",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|reason| reason.word() == word)
    }
}

/// How deliveries to an endpoint have gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Accurate to a second while all goes well.
    pub last_success_at: Option<Timestamp>,
    pub last_failure_at: Option<Timestamp>,
    /// Attempts since the last success.
    pub consecutive_failures: u32,
}

/// Seals the first secret of the endpoint `id` under a fresh key, which is the endpoint's own.
///
/// # Errors
/// Those of the organization's keys.
pub async fn seal_secret(
    store: &Store,
    org_id: &str,
    id: &str,
    secret: &Content,
) -> Result<SealedSecret, StoreError> {
    sealed_secret::seal(store, owner(id, org_id), secret).await
}

/// Stores an endpoint.
///
/// # Errors
/// Those of the database.
pub async fn insert(
    tx: &mut Transaction<'_>,
    endpoint: &Endpoint,
    sealed: SealedSecret,
) -> Result<(), StoreError> {
    let Endpoint {
        id,
        org_id,
        mode,
        url,
        description,
        subscription,
        max_in_flight,
        disabled,
        secret_hint,
        secret_created_at,
        previous_secret_expires_at: _,
        health: _,
        created_at,
        updated_at,
    } = endpoint;
    let Subscription {
        events,
        app_id,
        entity_keys,
    } = subscription;
    let SealedSecret {
        secret,
        wrapped_key,
    } = sealed;
    tx.cx
        .execute(
            "INSERT INTO webhook_endpoints (id, org_id, mode, url, description, events, app_id, entity_keys, \
             max_in_flight, disabled_reason, wrapped_key, secret, secret_hint, secret_created_at, \
             consecutive_failures, exhausted_count, created_at, updated_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0, 0, $15, $16)",
            args![
                id,
                org_id,
                *mode,
                url,
                description,
                events.as_slice(),
                app_id,
                entity_keys.as_deref().map(array),
                *max_in_flight,
                disabled.map(Disabled::word),
                wrapped_key,
                secret,
                secret_hint,
                *secret_created_at,
                *created_at,
                *updated_at,
            ],
        )
        .await
        .map(drop)
}

fn array(list: &[String]) -> String {
    Value::from(list.to_vec()).to_string()
}

/// Locks an endpoint for the rest of the transaction: nobody changes it or takes deliveries of it meanwhile.
///
/// # Errors
/// Those of the database.
pub async fn lock(
    tx: &mut Transaction<'_>,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Endpoint>, StoreError> {
    // As `agent::lock`: an update that changes nothing holds the row on both engines alike.
    let sql = "UPDATE webhook_endpoints SET url = url WHERE id = $1 AND org_id = $2 AND mode = $3";
    tx.cx.execute(sql, args![id, org_id, mode]).await?;
    read(tx.cx, org_id, mode, id).await
}

/// Changes what callers may change of an endpoint that is locked. One that was disabled and is not any more starts its
/// health anew.
///
/// # Errors
/// [`StoreError::Missing`] for an endpoint that is not there.
pub async fn update(tx: &mut Transaction<'_>, endpoint: &Endpoint) -> Result<(), StoreError> {
    let Endpoint {
        id,
        org_id: _,
        mode: _,
        url,
        description,
        subscription,
        max_in_flight,
        disabled,
        secret_hint: _,
        secret_created_at: _,
        previous_secret_expires_at: _,
        health: _,
        created_at: _,
        updated_at,
    } = endpoint;
    let Subscription {
        events,
        app_id,
        entity_keys,
    } = subscription;
    let arguments = args![
        id,
        url,
        description,
        events.as_slice(),
        app_id,
        entity_keys.as_deref().map(array),
        *max_in_flight,
        disabled.map(Disabled::word),
        *updated_at,
    ];
    // An endpoint that is switched on again starts with a clean record: what failed before does not count.
    let sql = "UPDATE webhook_endpoints SET url = $2, description = $3, events = $4, app_id = $5, entity_keys = $6, \
               max_in_flight = $7, updated_at = $9, \
               consecutive_failures = CASE WHEN disabled_reason IS NOT NULL AND $8 IS NULL \
               THEN 0 ELSE consecutive_failures END, \
               failing_since = CASE WHEN disabled_reason IS NOT NULL AND $8 IS NULL THEN NULL ELSE failing_since END, \
               exhausted_count = CASE WHEN disabled_reason IS NOT NULL AND $8 IS NULL THEN 0 ELSE exhausted_count END, \
               disabled_reason = $8 WHERE id = $1 AND deleted_at IS NULL";
    tx.cx
        .execute_one("webhook endpoint", sql, arguments)
        .await?;
    tx.touch(id);
    Ok(())
}

/// What a rotation puts in the place of the secret.
#[derive(Clone)]
pub struct NewSecret {
    pub secret: Content,
    pub hint: String,
    pub at: Timestamp,
    /// Until when the present secret signs too; `None`: no longer.
    pub previous_until: Option<Timestamp>,
}

/// Puts another secret in the place of the present one, which becomes the previous one; an older previous one is gone,
/// because a signature has room for two (contract 15.1).
///
/// # Errors
/// [`StoreError::Missing`] for an endpoint that is not there, and those of its keys.
pub async fn rotate(
    tx: &mut Transaction<'_>,
    endpoint: &Endpoint,
    new: &NewSecret,
) -> Result<(), StoreError> {
    let Endpoint { id, org_id, .. } = endpoint;
    let sql =
        "SELECT wrapped_key, secret FROM webhook_endpoints WHERE id = $1 AND deleted_at IS NULL";
    let row = tx.cx.row(sql, args![id]).await?;
    let row = row.ok_or(StoreError::Missing("webhook endpoint"))?;
    let (wrapped, present): (Vec<u8>, Vec<u8>) = (row.get("wrapped_key")?, row.get("secret")?);
    let outer = tx.org_key(org_id, &wrapped).await?;
    let key = open_key(&outer, id, org_id, &wrapped)?;
    let previous = match new.previous_until {
        Some(_) => {
            let present = seal::open_text(&key, place(id, "secret", org_id), &present)?;
            let place = place(id, "previous_secret", org_id);
            Some(sealed_secret::seal_text(&key, place, &present)?)
        }
        None => None,
    };
    let arguments = args![
        id,
        sealed_secret::seal_text(&key, place(id, "secret", org_id), &new.secret)?,
        &new.hint,
        new.at,
        previous,
        new.previous_until,
    ];
    let sql = "UPDATE webhook_endpoints SET secret = $2, secret_hint = $3, secret_created_at = $4, updated_at = $4, \
               previous_secret = $5, previous_secret_expires_at = $6 WHERE id = $1 AND deleted_at IS NULL";
    tx.cx.execute_one("webhook endpoint", sql, arguments).await
}

/// Removes an endpoint and destroys its key: no body of its deliveries opens any more. Its deliveries that wait become
/// `cancelled`, [`SETTLED_AT_ONCE`] of them here and the rest when their turn comes; those that were held are so at once
/// ([`crate::webhook_delivery`]).
///
/// # Errors
/// [`StoreError::Missing`] for an endpoint that is not there, and those of the database.
pub async fn remove(tx: &mut Transaction<'_>, id: &str, now: Timestamp) -> Result<(), StoreError> {
    let sql = "UPDATE webhook_endpoints SET deleted_at = $2, updated_at = $2, wrapped_key = NULL, secret = NULL, \
               previous_secret = NULL, previous_secret_expires_at = NULL WHERE id = $1 AND deleted_at IS NULL";
    tx.cx
        .execute_one("webhook endpoint", sql, args![id, now])
        .await?;
    settle_waiting(tx.cx, id, "cancelled", now).await?;
    tx.touch(id);
    Ok(())
}

/// Deliveries that one transaction settles: it holds the writer for some ten milliseconds.
pub(crate) const SETTLED_AT_ONCE: u32 = 2_000;

/// Ends what waits at an endpoint that gets nothing any more. What is being delivered is left to its end, and so is
/// what another transaction is busy with: who looks at this endpoint next finds what becomes of that.
pub(crate) async fn settle_waiting(
    cx: &mut Connection,
    id: &str,
    status: &'static str,
    now: Timestamp,
) -> Result<u64, StoreError> {
    macro_rules! ending {
        ($lock:literal) => {
            concat!(
                "WITH ended AS (SELECT id AS gone FROM webhook_deliveries WHERE endpoint_id = $1 AND due_at IS NOT NULL \
                 AND (leased_by IS NULL OR due_at <= $3) ORDER BY due_at, id LIMIT $4",
                $lock,
                ") UPDATE webhook_deliveries SET status = $2, due_at = NULL, leased_by = NULL, settled_at = $3 \
                 WHERE id IN (SELECT gone FROM ended)"
            )
        };
    }
    let sql = match cx {
        Connection::Sqlite(_) | Connection::Writer(_) => ending!(""),
        Connection::Postgres(_) => ending!(" FOR NO KEY UPDATE SKIP LOCKED"),
    };
    cx.execute(sql, args![id, status, now, SETTLED_AT_ONCE])
        .await
}

/// The endpoint of this organization and mode with this id; one that was removed is not there.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Endpoint>, StoreError> {
    let (org_id, id) = (org_id.to_owned(), id.to_owned());
    store
        .db
        .read(move |cx| Box::pin(async move { read(cx, &org_id, mode, &id).await }))
        .await
}

/// How many endpoints an organization has in this mode, and will have until one is added in this transaction.
///
/// # Errors
/// Those of the database.
pub async fn count(tx: &mut Transaction<'_>, org_id: &str, mode: Mode) -> Result<u32, StoreError> {
    organization::hold(tx, org_id).await?;
    let sql = "SELECT COUNT(*) AS found FROM webhook_endpoints \
               WHERE org_id = $1 AND mode = $2 AND deleted_at IS NULL";
    tx.cx.count(sql, args![org_id, mode]).await
}

/// Which endpoints a list shows.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// `None`: enabled or not.
    pub enabled: Option<bool>,
    /// Endpoints that have asked for this event, by its name or with all of them.
    pub event: Option<&'static str>,
}

/// A page of an organization's endpoints.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    org_id: &str,
    mode: Mode,
    filter: &Filter,
    page: &Page,
) -> Result<Paged<Endpoint>, StoreError> {
    let mut listing = Listing::new(
        "SELECT * FROM webhook_endpoints WHERE org_id = $1 AND mode = $2 AND deleted_at IS NULL",
        args![org_id, mode],
    );
    listing.only_set("disabled_reason", filter.enabled.map(|enabled| !enabled));
    if let Some(event) = filter.event {
        // A JSON array of words that hold no quotation mark.
        let named = format!("%\"{event}\"%");
        listing.any(vec![
            ("events LIKE ?".into(), named.into()),
            ("events = ?".into(), "[\"*\"]".into()),
        ]);
    }
    listing.page(store, page, from_row).await
}

/// Wraps the keys of an organization's endpoints with its newest key.
///
/// # Errors
/// Those of the database and of the keys.
pub async fn rewrap(store: &Store, org_id: &str) -> Result<u64, StoreError> {
    sealed_secret::rewrap(store, &TABLE, org_id).await
}

async fn read(
    cx: &mut Connection,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Endpoint>, StoreError> {
    let sql = "SELECT * FROM webhook_endpoints WHERE id = $1 AND org_id = $2 AND mode = $3 AND deleted_at IS NULL";
    cx.one(sql, args![id, org_id, mode], from_row).await
}

fn from_row(row: &Row) -> Result<Endpoint, StoreError> {
    Ok(Endpoint {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        url: row.get("url")?,
        description: row.get("description")?,
        subscription: subscription(row)?,
        max_in_flight: row.get("max_in_flight")?,
        disabled: disabled(row)?,
        secret_hint: row.get("secret_hint")?,
        secret_created_at: row.get("secret_created_at")?,
        previous_secret_expires_at: row.get("previous_secret_expires_at")?,
        health: Health {
            last_success_at: row.get("last_success_at")?,
            last_failure_at: row.get("last_failure_at")?,
            consecutive_failures: row.get("consecutive_failures")?,
        },
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

pub(crate) fn subscription(row: &Row) -> Result<Subscription, StoreError> {
    Ok(Subscription {
        events: row.get("events")?,
        app_id: row.get("app_id")?,
        entity_keys: row.get("entity_keys")?,
    })
}

pub(crate) fn disabled(row: &Row) -> Result<Option<Disabled>, StoreError> {
    let reason: Option<String> = row.get("disabled_reason")?;
    reason
        .map(|word| {
            Disabled::parse(&word).ok_or(StoreError::Corrupt {
                column: "disabled_reason",
            })
        })
        .transpose()
}

/// What the organization of an endpoint has agreed to and decided, as columns for [`is_off`].
macro_rules! owners {
    () => {
        "(SELECT o.features FROM organizations AS o WHERE o.id = webhook_endpoints.org_id) AS features, \
         (SELECT o.plan_tier FROM organizations AS o WHERE o.id = webhook_endpoints.org_id) AS plan_tier"
    };
}
pub(crate) use owners;

/// Whether the organization of an endpoint has no webhooks: it has switched them off, or its plan is none of those that
/// have them.
pub(crate) fn is_off(row: &Row, with_webhooks: &[Tier]) -> Result<bool, StoreError> {
    let features: Option<Value> = row.get("features")?;
    let switched = features.as_ref().and_then(|features| features.get(FEATURE));
    let is_switched_off = switched.and_then(Value::as_bool) == Some(false);
    let tier = row.word("plan_tier", Tier::parse)?;
    Ok(is_switched_off || !with_webhooks.contains(&tier))
}

/// The endpoint's own key.
pub(crate) fn open_key(
    outer: &SecretKey,
    id: &str,
    org_id: &str,
    wrapped: &[u8],
) -> Result<SecretKey, StoreError> {
    Ok(seal::unwrap(
        outer,
        place(id, "wrapped_key", org_id),
        wrapped,
    )?)
}

pub(crate) const fn owner<'a>(id: &'a str, org_id: &'a str) -> Owner<'a> {
    Owner {
        table: &TABLE,
        row_id: id,
        org_id,
    }
}

pub(crate) const fn place<'a>(id: &'a str, column: &'a str, org_id: &'a str) -> Place<'a> {
    owner(id, org_id).place(column)
}
