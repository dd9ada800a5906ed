//! Deliveries that are sent again, many at once (contract 15.3). A replay keeps the delivery's id and body, so that
//! receivers that tell duplicates by the id stay right, and starts a schedule anew.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::engine::{Arg, Connection, Row, args};
use crate::outbox::batch::{list, pieces};
use crate::webhook_delivery::{self, Filter, Status};
use crate::{Store, StoreError, Transaction};

/// Deliveries of one call (contract 15.3).
pub const MAX_REPLAYED: u32 = 10_000;

/// What one call has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    /// Deliveries that were asked for, at most [`MAX_REPLAYED`] of a filter.
    pub matched: u32,
    /// Deliveries that are due again, or would be.
    pub enqueued: u32,
    pub skipped: Vec<Skipped>,
    /// Whether more matched than [`MAX_REPLAYED`].
    pub truncated: bool,
    pub created_at: Timestamp,
}

/// A delivery that was not sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub id: String,
    pub reason: Reason,
}

/// Why a delivery was not sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It waits or is under way as it is.
    InFlight,
    EndpointDisabled,
    EndpointDeleted,
    NotFound,
}

impl Reason {
    const ALL: &[Self] = &[
        Self::InFlight,
        Self::EndpointDisabled,
        Self::EndpointDeleted,
        Self::NotFound,
    ];

    /// The word of `skipped[].reason`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::InFlight => "in_flight",
            Self::EndpointDisabled => "endpoint_disabled",
            Self::EndpointDeleted => "endpoint_deleted",
            Self::NotFound => "not_found",
        }
    }
}

/// Which deliveries are wanted.
#[derive(Clone, Debug)]
pub enum Wanted {
    Ids(Vec<String>),
    /// Oldest first, from the one instant up to before the other; `None`: whatever came since.
    Matching {
        filter: Filter,
        from: Timestamp,
        to: Option<Timestamp>,
    },
}

/// Whether anything is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    Enqueue,
    /// Only say what would be.
    DryRun,
}

/// A call for replays.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub wanted: Wanted,
    pub intent: Intent,
    pub now: Timestamp,
}

/// Judges every delivery that is wanted and makes those due that may be sent again. Nothing is stored of a dry run.
///
/// # Errors
/// Those of the database.
pub async fn replay(tx: &mut Transaction<'_>, call: &Call) -> Result<Replay, StoreError> {
    let Call {
        id,
        org_id,
        mode,
        wanted,
        intent,
        now,
    } = call;
    let (found, truncated) = match wanted {
        Wanted::Ids(ids) => (by_ids(tx.cx, call, ids).await?, false),
        Wanted::Matching { filter, from, to } => matching(tx.cx, call, filter, *from, *to).await?,
    };
    let mut report = Replay {
        id: id.clone(),
        org_id: org_id.clone(),
        mode: *mode,
        matched: u32::try_from(found.len()).unwrap_or(u32::MAX),
        enqueued: 0,
        skipped: Vec::new(),
        truncated,
        created_at: *now,
    };
    let mut busy = BTreeSet::new();
    if *intent == Intent::Enqueue {
        // In one order for all, whatever was asked for first: two calls at once never wait for each other in a circle.
        // Nobody else who locks several of these rows waits for one of them.
        let again = found.iter().filter_map(|Found { id, verdict }| {
            let endpoint_id = verdict.as_deref().ok()?;
            Some((id.as_str(), endpoint_id))
        });
        let again: BTreeMap<&str, &str> = again.collect();
        let ids: Vec<&str> = again.keys().copied().collect();
        let mut enqueued = BTreeSet::new();
        for ids in pieces(&ids) {
            enqueued.extend(enqueue(tx.cx, ids, id, *now).await?);
        }
        for (delivery_id, endpoint_id) in again {
            if enqueued.contains(delivery_id) {
                tx.touch(endpoint_id);
            } else {
                busy.insert(delivery_id.to_owned());
            }
        }
    }
    for Found { id, verdict } in found {
        let reason = match verdict {
            Err(reason) => reason,
            Ok(_) if busy.contains(&id) => Reason::InFlight,
            Ok(_) => {
                report.enqueued += 1;
                continue;
            }
        };
        report.skipped.push(Skipped { id, reason });
    }
    if *intent == Intent::Enqueue {
        insert(tx.cx, &report).await?;
    }
    Ok(report)
}

/// A delivery that was asked for: its endpoint where it may be sent again.
struct Found {
    id: String,
    verdict: Result<String, Reason>,
}

/// What is judged of a delivery.
macro_rules! judged {
    () => {
        "SELECT d.id AS id, d.endpoint_id AS endpoint_id, d.due_at AS due_at, e.disabled_reason AS disabled_reason, \
         e.deleted_at AS deleted_at FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id"
    };
}

fn found(row: &Row) -> Result<Found, StoreError> {
    let due_at: Option<Timestamp> = row.get("due_at")?;
    let removed_at: Option<Timestamp> = row.get("deleted_at")?;
    let disabled: Option<String> = row.get("disabled_reason")?;
    let verdict = if removed_at.is_some() {
        Err(Reason::EndpointDeleted)
    } else if disabled.is_some() {
        Err(Reason::EndpointDisabled)
    } else if due_at.is_some() {
        Err(Reason::InFlight)
    } else {
        Ok(row.get("endpoint_id")?)
    };
    Ok(Found {
        id: row.get("id")?,
        verdict,
    })
}

async fn by_ids(
    cx: &mut Connection,
    call: &Call,
    ids: &[String],
) -> Result<Vec<Found>, StoreError> {
    let mut known = HashMap::with_capacity(ids.len());
    for ids in pieces(ids) {
        let mut arguments = args![&call.org_id, call.mode];
        let ids = list(&mut arguments, ids.iter().map(String::as_str));
        let judged = judged!();
        let sql = format!("{judged} WHERE d.org_id = $1 AND d.mode = $2 AND d.id IN ({ids})");
        for row in &cx.rows_of(sql, arguments).await? {
            let found = found(row)?;
            known.insert(found.id, found.verdict);
        }
    }
    let found = ids.iter().map(|id| Found {
        id: id.clone(),
        verdict: known.remove(id).unwrap_or(Err(Reason::NotFound)),
    });
    Ok(found.collect())
}

async fn matching(
    cx: &mut Connection,
    call: &Call,
    filter: &Filter,
    from: Timestamp,
    to: Option<Timestamp>,
) -> Result<(Vec<Found>, bool), StoreError> {
    let Filter {
        endpoint_id,
        statuses,
        event,
    } = filter;
    let mut arguments = args![&call.org_id, call.mode, from];
    let mut sql = concat!(
        judged!(),
        " WHERE d.org_id = $1 AND d.mode = $2 AND d.created_at >= $3"
    )
    .to_owned();
    let mut only = |condition: &str, value: Arg| {
        arguments.push(value);
        sql.push_str(&format!(" AND {condition} ${}", arguments.len()));
    };
    if let Some(id) = endpoint_id {
        only("d.endpoint_id =", id.into());
    }
    if let Some(to) = to {
        only("d.created_at <", to.into());
    }
    if let Some(event) = event {
        only("d.event =", (*event).into());
    }
    let words: Vec<String> = statuses
        .iter()
        .map(|status| {
            arguments.push(status.word().into());
            format!("${}", arguments.len())
        })
        .collect();
    if !words.is_empty() {
        let status = webhook_delivery::status!();
        sql.push_str(&format!(" AND {status} IN ({})", words.join(", ")));
    }
    arguments.push(MAX_REPLAYED.saturating_add(1).into());
    sql.push_str(&format!(
        " ORDER BY d.created_at, d.id LIMIT ${}",
        arguments.len()
    ));
    let rows = cx.rows_of(sql, arguments).await?;
    let truncated = rows.len() > MAX_REPLAYED as usize;
    let kept = rows.iter().take(MAX_REPLAYED as usize);
    Ok((kept.map(found).collect::<Result<_, _>>()?, truncated))
}

/// Makes those of the deliveries due now that are still over; gives their ids.
async fn enqueue(
    cx: &mut Connection,
    ids: &[&str],
    replay_id: &str,
    now: Timestamp,
) -> Result<Vec<String>, StoreError> {
    let lock = match cx {
        Connection::Postgres(_) => " FOR NO KEY UPDATE",
        Connection::Sqlite(_) | Connection::Writer(_) => "",
    };
    let mut arguments = args![replay_id, now];
    let ids = list(&mut arguments, ids.iter().copied());
    let sql = format!(
        "UPDATE webhook_deliveries SET status = 'pending', triggered_by = 'replay', scheduled_count = 0, \
         due_at = $2, settled_at = NULL, replay_id = $1 WHERE due_at IS NULL \
         AND id IN (SELECT id FROM webhook_deliveries WHERE id IN ({ids}) ORDER BY id{lock}) RETURNING id"
    );
    let rows = cx.rows_of(sql, arguments).await?;
    rows.iter().map(|row| row.get("id")).collect()
}

async fn insert(cx: &mut Connection, replay: &Replay) -> Result<(), StoreError> {
    let Replay {
        id,
        org_id,
        mode,
        matched,
        enqueued,
        skipped,
        truncated,
        created_at,
    } = replay;
    let skipped: Value = skipped
        .iter()
        .map(|Skipped { id, reason }| json!({"id": id, "reason": reason.word()}))
        .collect();
    let sql = "INSERT INTO webhook_replays (id, org_id, mode, matched, enqueued, skipped, truncated, created_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let arguments = args![
        id,
        org_id,
        *mode,
        *matched,
        *enqueued,
        &skipped,
        *truncated,
        *created_at,
    ];
    cx.execute(sql, arguments).await.map(drop)
}

/// What a call came to, and whether any of its deliveries is still on its way.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<(Replay, bool)>, StoreError> {
    let (org_id, id) = (org_id.to_owned(), id.to_owned());
    store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = "SELECT * FROM webhook_replays WHERE id = $1 AND org_id = $2 AND mode = $3";
                let Some(row) = cx.row(sql, args![&id, org_id, mode]).await? else {
                    return Ok(None);
                };
                let sql = "SELECT id FROM webhook_deliveries WHERE replay_id = $1 AND due_at IS NOT NULL LIMIT 1";
                let open = cx.row(sql, args![id]).await?;
                Ok(Some((from_row(&row)?, open.is_some())))
            })
        })
        .await
}

fn from_row(row: &Row) -> Result<Replay, StoreError> {
    let skipped: Value = row.get("skipped")?;
    let skipped = skipped.as_array().map(Vec::as_slice).unwrap_or_default();
    let skipped = skipped.iter().map(|item| {
        let word = item["reason"].as_str();
        let reason = Reason::ALL
            .iter()
            .find(|reason| Some(reason.word()) == word);
        Some(Skipped {
            id: item["id"].as_str()?.to_owned(),
            reason: *reason?,
        })
    });
    let skipped: Option<Vec<Skipped>> = skipped.collect();
    Ok(Replay {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        matched: row.get("matched")?,
        enqueued: row.get("enqueued")?,
        skipped: skipped.ok_or(StoreError::Corrupt { column: "skipped" })?,
        truncated: row.get("truncated")?,
        created_at: row.get("created_at")?,
    })
}

/// What is sent again where nothing else is said (contract 15.3).
pub const USUAL: &[Status] = &[Status::Exhausted, Status::Held];
