//! The outbox of webhooks (contract 15.2 and 19.2): what happened becomes deliveries in the transaction that made it
//! happen, and is delivered by whoever takes a lease on it.
//!
//! Bodies may hold PHI and are sealed under their endpoint's key. [`publish`] stands inside a transaction, where
//! nothing can be awaited but the database, so it reads the wrapped keys there and opens them with the master key that
//! the store holds: callers prepare nothing. Who dispatches is told once the transaction is durable ([`woken`]).

pub(crate) mod batch;
mod health;
mod turn;
mod wakes;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::Serialize;
use serde_json::Value;
use svc_core::id::IdKind;
use svc_core::plan::Tier;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_core::webhook::EventName;

use crate::engine::args;
use crate::org_key;
use crate::seal::{self, Place, SecretKey};
use crate::webhook_endpoint::{self, owners};
use crate::{StoreError, Transaction};

pub use turn::{
    Addressee, Ask, Attempt, Claimed, Done, Due, LEASE_MS, Lane, Lease, Next, Opened, Settled,
    Trigger, claim, depth, hand_back, open, settle, waiting,
};
pub(crate) use wakes::{Outlet, Wakes};
pub use wakes::{Woken, woken};

/// Something that endpoints may have asked to hear of.
pub struct Event {
    pub org_id: String,
    pub mode: Mode,
    pub name: EventName,
    /// A bare ULID.
    pub app_id: String,
    pub entity_key: String,
    /// When it happened: the `timestamp` of every delivery.
    pub at: Timestamp,
    /// May hold PHI where the organization has chosen full payloads.
    pub data: Value,
}

/// What is delivered (spec, Outbound webhook delivery body).
#[derive(Serialize)]
struct Body<'a> {
    id: &'a str,
    event: &'static str,
    app_id: &'a str,
    entity_key: &'a str,
    timestamp: String,
    data: &'a Value,
}

/// Makes one delivery of each event for each endpoint of its organization and mode that has asked for it, inside the
/// caller's transaction; its id and its bytes never change from here on. Deliveries for endpoints that are disabled
/// are `held`, as all are while the organization has switched webhooks off or its plan is not one of `with_webhooks`.
/// Costs one query for an organization without endpoints.
///
/// # Errors
/// Those of the database and of the endpoints' keys.
pub async fn publish(
    tx: &mut Transaction<'_>,
    events: &[Event],
    with_webhooks: &[Tier],
) -> Result<(), StoreError> {
    let mut audiences = BTreeMap::new();
    for event in events {
        let mode = event.mode;
        let owner = (event.org_id.as_str(), mode.word());
        let listeners = match audiences.entry(owner) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                new.insert(audience(tx, &event.org_id, mode, with_webhooks).await?)
            }
        };
        for listener in listeners.iter() {
            let wanted = &listener.subscription;
            if wanted.wants(event.name, &event.app_id, &event.entity_key) {
                deliver(tx, event, listener).await?;
            }
        }
    }
    Ok(())
}

/// An endpoint and the key that bodies for it are sealed with.
struct Listener {
    id: String,
    subscription: svc_core::webhook::Subscription,
    is_held: bool,
    key: SecretKey,
}

async fn audience(
    tx: &mut Transaction<'_>,
    org_id: &str,
    mode: Mode,
    with_webhooks: &[Tier],
) -> Result<Vec<Listener>, StoreError> {
    let sql = concat!(
        "SELECT id, events, app_id, entity_keys, disabled_reason, wrapped_key, ",
        owners!(),
        " FROM webhook_endpoints WHERE org_id = $1 AND mode = $2 AND deleted_at IS NULL",
    );
    let rows = tx.cx.rows(sql, args![org_id, mode]).await?;
    let mut outer: BTreeMap<u32, SecretKey> = BTreeMap::new();
    let mut listeners = Vec::with_capacity(rows.len());
    for row in &rows {
        let wrapped: Vec<u8> = row.get("wrapped_key")?;
        let version = seal::key_version(&wrapped)?;
        let key = match outer.entry(version) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(tx.org_key(org_id, &wrapped).await?),
        };
        let id: String = row.get("id")?;
        let is_off = webhook_endpoint::is_off(row, with_webhooks)?;
        listeners.push(Listener {
            key: webhook_endpoint::open_key(key, &id, org_id, &wrapped)?,
            subscription: webhook_endpoint::subscription(row)?,
            is_held: is_off || webhook_endpoint::disabled(row)?.is_some(),
            id,
        });
    }
    Ok(listeners)
}

async fn deliver(
    tx: &mut Transaction<'_>,
    event: &Event,
    listener: &Listener,
) -> Result<(), StoreError> {
    let Event {
        org_id,
        mode,
        name,
        app_id,
        entity_key,
        at,
        data,
    } = event;
    let id = IdKind::Bare.make(*at, rand::random());
    let body = serde_json::to_vec(&Body {
        id: &id,
        event: name.word(),
        app_id,
        entity_key,
        timestamp: at.with_offset(),
        data,
    });
    let body = body.map_err(|_| StoreError::Corrupt { column: "body" })?;
    let body = seal::seal(
        &listener.key,
        seal::ONLY_VERSION,
        body_place(&id, org_id),
        &body,
    )?;
    let (status, due_at, settled_at) = if listener.is_held {
        ("held", None, Some(*at))
    } else {
        ("pending", Some(*at), None)
    };
    let arguments = args![
        id,
        org_id,
        *mode,
        &listener.id,
        name.word(),
        app_id,
        entity_key,
        body,
        status,
        due_at,
        *at,
        settled_at,
    ];
    let sql = "INSERT INTO webhook_deliveries (id, org_id, mode, endpoint_id, event, app_id, entity_key, body, status, \
               triggered_by, attempt_count, scheduled_count, due_at, created_at, settled_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'schedule', 0, 0, $10, $11, $12)";
    tx.cx.execute(sql, arguments).await?;
    if due_at.is_some() {
        tx.touch(&listener.id);
    }
    Ok(())
}

pub(crate) fn body_place<'a>(id: &'a str, org_id: &'a str) -> Place<'a> {
    Place {
        table: "webhook_deliveries",
        row_id: id,
        column: "body",
        org_id,
    }
}

impl Transaction<'_> {
    /// Notes that an endpoint may have something due; its dispatcher is told when this is durable.
    pub(crate) fn touch(&self, endpoint_id: &str) {
        if let Some(outlet) = self.outlet {
            outlet.touched.lock().insert(endpoint_id.to_owned());
        }
    }

    /// The key of the organization that a sealed value names, without leaving the transaction.
    pub(crate) async fn org_key(
        &mut self,
        org_id: &str,
        sealed: &[u8],
    ) -> Result<SecretKey, StoreError> {
        let outlet = self
            .outlet
            .ok_or(StoreError::Missing("keys of a transaction"))?;
        org_key::within(&outlet.ring, self.cx, org_id, sealed).await
    }
}
