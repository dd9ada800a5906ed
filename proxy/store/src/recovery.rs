//! Recovery: closes what replicas that are no longer alive have left open, with one `.abandoned` row each
//! (`inference.abandoned` for an inference, `integration.abandoned` for a call of another service), and gives their
//! holds back (contract 14.2). Any number of replicas may run it at once.

use serde_json::{Value, json};
use svc_core::chat::Usage;
use svc_core::id::IdKind;
use svc_core::metering::Charge;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::audit::{self, Columns, Outcome, Phase};
use crate::budget::{self, Cycle, Hold};
use crate::clock::Clock;
use crate::engine::{Connection, Row, args};
use crate::ledger::{self, BilledTo, Entry};
use crate::{Store, StoreError};

/// What one pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Requests that got their `.abandoned` row.
    pub abandoned: u64,
    /// Holds of requests that never wrote an intent, or have their end.
    pub released: u64,
    /// Whether more is left than one pass takes on.
    pub more: bool,
}

/// What the events of recovery's rows end with.
pub(crate) const ABANDONED: &str = ".abandoned";
/// Requests that one pass closes; each is a transaction of its own.
const PASS_REQUESTS: u32 = 200;
/// A replica that has been dead for a day and left nothing open is forgotten.
const FORGET_AFTER_MS: i64 = svc_core::time::MS_PER_DAY;

/// Closes what is open and belongs to no living replica. The rows that it writes are of `now`, whosever time the leases
/// go by.
///
/// # Errors
/// Those of the database; what was closed before stays closed.
pub async fn recover_abandoned(
    store: &Store,
    (clock, now): (Clock, Timestamp),
) -> Result<Recovered, StoreError> {
    let mut recovered = Recovered::default();
    // One look at the clock for the whole pass: a lease that ends meanwhile is left to the next one.
    let leases_at = leases_at(store, clock, now).await?;
    let orphans = orphans(store, leases_at).await?;
    recovered.more = orphans.len() >= PASS_REQUESTS as usize;
    for request_id in orphans {
        let closed = store
            .db
            .write(move |cx| Box::pin(async move { close(cx, &request_id, leases_at, now).await }))
            .await?;
        match closed {
            Closed::Abandoned => recovered.abandoned += 1,
            Closed::Released => recovered.released += 1,
            Closed::ByAnother => {}
        }
    }
    forget_replicas(store, leases_at).await?;
    Ok(recovered)
}

enum Closed {
    Abandoned,
    Released,
    ByAnother,
}

/// The time by which a pass judges the leases.
async fn leases_at(store: &Store, clock: Clock, now: Timestamp) -> Result<Timestamp, StoreError> {
    store
        .db
        .read(move |cx| Box::pin(async move { clock.now(cx, now).await }))
        .await
}

async fn orphans(store: &Store, leases_at: Timestamp) -> Result<Vec<String>, StoreError> {
    let arguments = args![leases_at, PASS_REQUESTS];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT h.request_id FROM holds h WHERE NOT EXISTS \
                           (SELECT 1 FROM replicas r WHERE r.id = h.replica_id AND r.lease_until > $1) \
                           ORDER BY h.created_at, h.request_id LIMIT $2";
                let rows = cx.rows(sql, arguments).await?;
                rows.iter().map(|row| row.get("request_id")).collect()
            })
        })
        .await
}

async fn close(
    cx: &mut Connection,
    request_id: &str,
    leases_at: Timestamp,
    now: Timestamp,
) -> Result<Closed, StoreError> {
    // Whoever deletes the hold closes the request; a lease renewed since the search keeps it.
    let sql = "DELETE FROM holds WHERE request_id = $1 AND NOT EXISTS \
               (SELECT 1 FROM replicas r WHERE r.id = holds.replica_id AND r.lease_until > $2) \
               RETURNING org_id, mode, cycle_start, credits_micro, spend_micro";
    let Some(hold) = cx.row(sql, args![request_id, leases_at]).await? else {
        return Ok(Closed::ByAnother);
    };
    let hold = budget::hold_from(&hold)?;
    let sql = "SELECT * FROM audit WHERE request_id = $1 AND phase = 'requested' AND org_id = $2 AND mode = $3 \
               AND NOT EXISTS (SELECT 1 FROM audit t WHERE t.request_id = $1 AND t.phase = 'terminal')";
    let intent = cx
        .row(sql, args![request_id, &hold.org_id, hold.mode])
        .await?;
    let closed = match intent {
        Some(intent) => {
            audit::insert(cx, &abandoned(&intent, now)?.into()).await?;
            if !hold.is_free() {
                let entry = entry(cx, &intent, &hold).await?;
                ledger::post(cx, &hold.org_id, hold.mode, request_id, &entry, now).await?;
            }
            Closed::Abandoned
        }
        None => Closed::Released,
    };
    budget::book(cx, &hold, hold.cycle_start, None).await?;
    Ok(closed)
}

/// The terminal row: what the intent says, with an outcome that nobody knows.
fn abandoned(intent: &Row, now: Timestamp) -> Result<Columns, StoreError> {
    let id = IdKind::Audit.make(now, rand::random());
    let requested: String = intent.get("event")?;
    let family = requested.split('.').next().unwrap_or_default();
    let event = format!("{family}{ABANDONED}");
    let model: Option<String> = intent.get("model")?;
    let mut document: Value = intent.get("document")?;
    let outcome = json!({"result": Outcome::Unknown.word(), "status": null, "code": null});
    let mut details = json!({"reason": "replica_lost"});
    if let Some(model) = &model {
        details["model"] = json!(model);
    }
    let changes = [
        ("id", json!(id)),
        ("event", json!(event)),
        ("occurred_at", json!(now.to_string())),
        ("outcome", outcome),
        ("details", details),
    ];
    let object = document.as_object_mut();
    let object = object.ok_or(StoreError::Corrupt { column: "document" })?;
    for (key, value) in changes {
        object.insert(key.to_owned(), value);
    }
    Ok(Columns {
        id,
        org_id: intent.get("org_id")?,
        mode: intent.get::<Option<Mode>>("mode")?,
        request_id: intent.get("request_id")?,
        phase: Phase::Terminal,
        event,
        occurred_at: now,
        actor_type: intent.get("actor_type")?,
        actor_id: intent.get("actor_id")?,
        target_type: intent.get("target_type")?,
        target_id: intent.get("target_id")?,
        outcome: Outcome::Unknown,
        surface: intent.get("surface")?,
        model,
        phi_detected: intent.get("phi_detected")?,
        document: document.to_string(),
    })
}

/// Nobody knows what the run has cost; a row of zeros keeps ledger and audit log in step.
async fn entry(cx: &mut Connection, intent: &Row, hold: &Hold) -> Result<Entry, StoreError> {
    let sql = "SELECT cycle_end FROM budgets WHERE org_id = $1 AND mode = $2 AND cycle_start = $3";
    let cycle = cx
        .row(sql, args![&hold.org_id, hold.mode, hold.cycle_start])
        .await?
        .ok_or(StoreError::Missing("budget"))?;
    let text =
        |column| Ok::<_, StoreError>(intent.get::<Option<String>>(column)?.unwrap_or_default());
    Ok(Entry {
        cycle: Cycle {
            start: hold.cycle_start,
            end: cycle.get("cycle_end")?,
        },
        result: Outcome::Unknown.word().to_owned(),
        model: text("model")?,
        surface: text("surface")?,
        actor_type: text("actor_type")?,
        actor_id: text("actor_id")?,
        billed_to: BilledTo::Operator,
        price_list: String::new(),
        charge: Charge::default(),
        usage: Usage::default(),
    })
}

async fn forget_replicas(store: &Store, leases_at: Timestamp) -> Result<(), StoreError> {
    let arguments = args![leases_at.plus_ms(-FORGET_AFTER_MS)];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "DELETE FROM replicas WHERE lease_until <= $1 AND NOT EXISTS \
                           (SELECT 1 FROM holds h WHERE h.replica_id = replicas.id)";
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await
}
