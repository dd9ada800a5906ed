//! The log of deliveries (contract 15.3): what was sent where, with every attempt. Bodies stay sealed; nobody reads
//! them here.

use std::collections::HashMap;

use svc_core::secret::Mode;
use svc_core::time::{MS_PER_DAY, Timestamp};
use svc_core::webhook::AttemptError;

use crate::engine::{Arg, Connection, Row, args};
use crate::outbox::{Attempt, Trigger};
use crate::page::{Listing, Page, Paged};
use crate::{Store, StoreError};

/// The status of a delivery `d`. What was held is cancelled with its endpoint (contract 15.2). It is said when it is
/// read: there may be a month of such rows, more than the writer has time for when an endpoint is removed.
macro_rules! status {
    () => {
        "CASE WHEN d.status = 'held' AND EXISTS (SELECT 1 FROM webhook_endpoints removed \
         WHERE removed.id = d.endpoint_id AND removed.deleted_at IS NOT NULL) THEN 'cancelled' ELSE d.status END"
    };
}
pub(crate) use status;

/// Rows without their bodies.
macro_rules! select {
    () => {
        concat!(
            "SELECT id, org_id, mode, endpoint_id, event, app_id, entity_key, ",
            status!(),
            " AS status, attempt_count, scheduled_count, due_at, created_at, delivered_at FROM webhook_deliveries d"
        )
    };
}
/// One delivery, without its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// A bare ULID: `id` of the body and `X-Svc-Webhook-Id`, the same over all attempts and replays.
    pub id: String,
    pub org_id: String,
    pub mode: Mode,
    pub endpoint_id: String,
    /// Word of [`svc_core::webhook::EventName`].
    pub event: String,
    pub app_id: String,
    pub entity_key: String,
    pub status: Status,
    /// Attempts over all schedules.
    pub attempt_count: u32,
    /// Those of them in the schedule that runs; a replay starts another one.
    pub scheduled_count: u32,
    /// `None` where nothing is due, and while an attempt is under way.
    pub next_attempt_at: Option<Timestamp>,
    pub created_at: Timestamp,
    /// The first time that it was: a replay takes nothing of it back.
    pub delivered_at: Option<Timestamp>,
}

/// Where a delivery stands (contract 15.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Pending,
    Delivering,
    Delivered,
    Retrying,
    Exhausted,
    Cancelled,
    Held,
}

impl Status {
    /// In the order of the contract's list.
    pub const ALL: &[Self] = &[
        Self::Pending,
        Self::Delivering,
        Self::Delivered,
        Self::Retrying,
        Self::Exhausted,
        Self::Cancelled,
        Self::Held,
    ];

    /// The word of `status`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivering => "delivering",
            Self::Delivered => "delivered",
            Self::Retrying => "retrying",
            Self::Exhausted => "exhausted",
            Self::Cancelled => "cancelled",
            Self::Held => "held",
        }
    }

    /// Reads a word of [`Self::word`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|status| status.word() == word)
    }
}

/// One attempt with its number and what set it off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// From 1 on, over all schedules.
    pub number: u32,
    pub triggered_by: Trigger,
    pub attempt: Attempt,
}

/// Attempts that a record shows, the latest ones: twenty replays of five.
pub const SHOWN_ATTEMPTS: u32 = 100;

/// Which deliveries a list shows.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub endpoint_id: Option<String>,
    /// Any of them; empty: whatever their status.
    pub statuses: Vec<Status>,
    /// Word of [`svc_core::webhook::EventName`].
    pub event: Option<&'static str>,
}

/// A page of an organization's deliveries, each as [`find`] gives it.
///
/// # Errors
/// Those of the database.
pub async fn list(
    store: &Store,
    org_id: &str,
    mode: Mode,
    filter: &Filter,
    page: &Page,
) -> Result<Paged<Detailed>, StoreError> {
    let Filter {
        endpoint_id,
        statuses,
        event,
    } = filter;
    let mut listing = Listing::new(
        concat!(select!(), " WHERE org_id = $1 AND mode = $2"),
        args![org_id, mode],
    );
    if let Some(id) = endpoint_id {
        listing.only("endpoint_id = ?", id);
    }
    let words = statuses.iter();
    listing.any(
        words
            .map(|status| (concat!(status!(), " = ?").into(), status.word().into()))
            .collect(),
    );
    if let Some(event) = event {
        listing.only("event = ?", *event);
    }
    let page = page.clone();
    store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let Paged { rows, has_more } = listing.read(cx, &page, from_row).await?;
                let ids = rows.iter().map(|delivery| delivery.id.as_str());
                let mut attempts = attempts(cx, ids).await?;
                let rows = rows.into_iter().map(|delivery| {
                    let own = attempts.remove(&delivery.id).unwrap_or_default();
                    (delivery, own)
                });
                Ok(Paged {
                    rows: rows.collect(),
                    has_more,
                })
            })
        })
        .await
}

/// A delivery and its last [`SHOWN_ATTEMPTS`] attempts, first ones first.
pub type Detailed = (Delivery, Vec<Logged>);

/// A delivery of this organization and mode.
///
/// # Errors
/// Those of the database.
pub async fn find(
    store: &Store,
    org_id: &str,
    mode: Mode,
    id: &str,
) -> Result<Option<Detailed>, StoreError> {
    let (org_id, id) = (org_id.to_owned(), id.to_owned());
    store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let sql = concat!(select!(), " WHERE id = $1 AND org_id = $2 AND mode = $3");
                let Some(row) = cx.row(sql, args![&id, org_id, mode]).await? else {
                    return Ok(None);
                };
                let mut attempts = attempts(cx, [id.as_str()].into_iter()).await?;
                let own = attempts.remove(&id).unwrap_or_default();
                Ok(Some((from_row(&row)?, own)))
            })
        })
        .await
}

/// By delivery: the last [`SHOWN_ATTEMPTS`] of each, first ones first.
async fn attempts<'d>(
    cx: &mut Connection,
    deliveries: impl Iterator<Item = &'d str>,
) -> Result<HashMap<String, Vec<Logged>>, StoreError> {
    let ids = deliveries.map(Arg::from).collect();
    let found = cx.rows_over(ids, |ids| {
        format!(
            "SELECT * FROM (SELECT delivery_id, number, triggered_by, started_at, duration_ms, status_code, error, \
             address, ROW_NUMBER() OVER (PARTITION BY delivery_id ORDER BY number DESC) AS place FROM webhook_attempts \
             WHERE delivery_id IN ({ids})) last_ones WHERE place <= {SHOWN_ATTEMPTS} ORDER BY delivery_id, number"
        )
    });
    let mut attempts: HashMap<String, Vec<Logged>> = HashMap::new();
    for row in &found.await? {
        let of_one = attempts.entry(row.get("delivery_id")?).or_default();
        of_one.push(logged(row)?);
    }
    Ok(attempts)
}

fn from_row(row: &Row) -> Result<Delivery, StoreError> {
    let status = row.word("status", Status::parse)?;
    let due_at: Option<Timestamp> = row.get("due_at")?;
    Ok(Delivery {
        id: row.get("id")?,
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        endpoint_id: row.get("endpoint_id")?,
        event: row.get("event")?,
        app_id: row.get("app_id")?,
        entity_key: row.get("entity_key")?,
        status,
        attempt_count: row.get("attempt_count")?,
        scheduled_count: row.get("scheduled_count")?,
        // Of one under way it is the end of a lease, which is nobody's business.
        next_attempt_at: due_at.filter(|_| status != Status::Delivering),
        created_at: row.get("created_at")?,
        delivered_at: row.get("delivered_at")?,
    })
}

fn logged(row: &Row) -> Result<Logged, StoreError> {
    let error: Option<String> = row.get("error")?;
    let error =
        error.map(|word| AttemptError::parse(&word).ok_or(StoreError::Corrupt { column: "error" }));
    let status_code: Option<u32> = row.get("status_code")?;
    let status_code = status_code.map(|code| {
        u16::try_from(code).map_err(|_| StoreError::Corrupt {
            column: "status_code",
        })
    });
    Ok(Logged {
        number: row.get("number")?,
        triggered_by: Trigger::read(row)?,
        attempt: Attempt {
            started_at: row.get("started_at")?,
            duration_ms: row.get("duration_ms")?,
            status_code: status_code.transpose()?,
            error: error.transpose()?,
            address: row.get("address")?,
        },
    })
}

/// 30 days: how long held deliveries are kept (contract 15.2), and every other one that is over with them.
pub const KEPT_DAYS: i64 = 30;

/// Deliveries of one transaction, so that the writer is free in between.
const SWEPT_AT_ONCE: u32 = 200;

/// Removes deliveries with their attempts [`KEPT_DAYS`] after they were over, and reports of replays as long after they
/// were made; one batch of each. Returns how many deliveries are gone.
///
/// # Errors
/// Those of the database.
pub async fn sweep(store: &Store, now: Timestamp) -> Result<u64, StoreError> {
    let before = now.plus_ms(-KEPT_DAYS * MS_PER_DAY);
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                // Locks them: one that is replayed now is passed over, or is replayed too late.
                macro_rules! over {
                    ($lock:literal) => {
                        concat!(
                            "WITH over AS (SELECT id AS gone FROM webhook_deliveries WHERE settled_at < $1 \
                             ORDER BY settled_at, id LIMIT $2",
                            $lock,
                            ") UPDATE webhook_deliveries SET settled_at = settled_at \
                             WHERE id IN (SELECT gone FROM over) RETURNING id"
                        )
                    };
                }
                let sql = match cx {
                    Connection::Sqlite(_) | Connection::Writer(_) => over!(""),
                    Connection::Postgres(_) => over!(" FOR UPDATE SKIP LOCKED"),
                };
                let found = cx.rows(sql, args![before, SWEPT_AT_ONCE]).await?;
                for row in &found {
                    let id: String = row.get("id")?;
                    let sql = "DELETE FROM webhook_attempts WHERE delivery_id = $1";
                    cx.execute(sql, args![&id]).await?;
                    let sql = "DELETE FROM webhook_deliveries WHERE id = $1";
                    cx.execute(sql, args![&id]).await?;
                }
                let sql = "DELETE FROM webhook_replays WHERE id IN \
                           (SELECT id FROM webhook_replays WHERE created_at < $1 ORDER BY created_at LIMIT $2)";
                cx.execute(sql, args![before, SWEPT_AT_ONCE]).await?;
                Ok(found.len() as u64)
            })
        })
        .await
}
