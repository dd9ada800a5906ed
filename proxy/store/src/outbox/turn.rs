//! The dispatcher's side of the outbox: leases are taken on what is due ([`claim`]), and what became of attempts is
//! written ([`settle`]), each in a transaction of its own (contract 19.2). Many in few statements, because each costs
//! PostgreSQL a round trip.
//!
//! Both may run at once, here and on other replicas. A claim locks endpoints by id and waits for no delivery; what is
//! settled are deliveries that nobody else has, and endpoints by id after them: nobody waits in a circle. A lease is a
//! row whose `due_at` lies ahead: whoever does not come back lets it run out. What a replica reports after its lease
//! has run out and the delivery was leased anew or ended changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use svc_core::plan::Tier;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_core::webhook::AttemptError;

use super::batch::{list, pieces, values};
use super::{body_place, health};
use crate::engine::{Arg, Connection, Row, args};
use crate::org_key;
use crate::seal::{self, Content};
use crate::webhook_endpoint::{
    Disabled, disabled, is_off, open_key, owners, place, settle_waiting,
};
use crate::{Store, StoreError};

/// 20 s: the 10 s of an attempt and as much again to get its result stored (contract 19.2).
pub const LEASE_MS: i64 = 20_000;

/// Leases that are wanted at one endpoint.
#[derive(Clone, Debug)]
pub struct Ask {
    pub endpoint_id: String,
    /// Leases that are wanted at most.
    pub most: u32,
}

/// A lease on a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub delivery_id: String,
    pub endpoint_id: String,
    pub org_id: String,
    pub mode: Mode,
    /// When others may take the delivery over.
    pub until: Timestamp,
    /// The number of the attempt that is to be made, over all schedules.
    pub number: u32,
    /// The same within the schedule that runs, from 1 on.
    pub scheduled_number: u32,
    pub triggered_by: Trigger,
    pub created_at: Timestamp,
}

/// Why a delivery is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    Schedule,
    Replay,
}

impl Trigger {
    /// The word of `trigger`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Replay => "replay",
        }
    }

    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        let word: String = row.get("triggered_by")?;
        match word.as_str() {
            "schedule" => Ok(Self::Schedule),
            "replay" => Ok(Self::Replay),
            _ => Err(StoreError::Corrupt {
                column: "triggered_by",
            }),
        }
    }
}

/// One attempt, as the log of deliveries keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub started_at: Timestamp,
    pub duration_ms: u32,
    /// HTTP status, where an answer began.
    pub status_code: Option<u16>,
    /// `None`: delivered.
    pub error: Option<AttemptError>,
    /// Where the connection went, once it was known.
    pub address: Option<String>,
}

impl Attempt {
    /// When it ended.
    pub(super) const fn ended_at(&self) -> Timestamp {
        self.started_at.plus_ms(self.duration_ms as i64)
    }
}

/// An attempt that has ended.
#[derive(Clone, Debug)]
pub struct Done {
    pub lease: Lease,
    pub attempt: Attempt,
    pub next: Next,
}

/// What follows an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Delivered,
    Retry {
        due_at: Timestamp,
    },
    Exhausted,
    /// The endpoint wants nothing any more: it is disabled, and this delivery is held.
    Gone,
}

impl Next {
    /// The status of the delivery and when it is due.
    const fn state(self) -> (&'static str, Option<Timestamp>) {
        match self {
            Self::Delivered => ("delivered", None),
            Self::Retry { due_at } => ("retrying", Some(due_at)),
            Self::Exhausted => ("exhausted", None),
            Self::Gone => ("held", None),
        }
    }
}

/// What [`claim`] has come to.
#[derive(Default)]
pub struct Claimed {
    /// Deliveries that this replica now has a lease on.
    pub due: Vec<Due>,
    /// What is known of the endpoints that were asked for and nobody else was busy with.
    pub lanes: Vec<Lane>,
}

/// What [`settle`] has come to.
#[derive(Default)]
pub struct Settled {
    /// Endpoints that were disabled because of what became of the attempts.
    pub disabled: Vec<(String, Disabled)>,
    /// Results that came too late to count: their lease had run out, and the delivery was leased anew or ended
    /// meanwhile.
    pub late: usize,
    /// Endpoints that this was busy with: whoever asked for them meanwhile has been passed over.
    pub held: Vec<String>,
}

/// An endpoint that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    pub endpoint_id: String,
    /// 0 where the endpoint gets nothing any more.
    pub max_in_flight: u32,
    /// Leases that the claim took there.
    pub taken: u32,
}

/// A delivery that is to be attempted now, still sealed.
pub struct Due {
    pub lease: Lease,
    pub endpoint: Arc<Addressee>,
    body: Vec<u8>,
}

/// Where deliveries go, its secrets sealed.
pub struct Addressee {
    pub id: String,
    pub url: String,
    org_id: String,
    wrapped_key: Vec<u8>,
    secret: Vec<u8>,
    previous: Option<(Vec<u8>, Timestamp)>,
}

/// What is sent and what it is signed with.
pub struct Opened {
    /// The bytes that are sent and signed.
    pub body: Vec<u8>,
    /// The present secret, and the previous one while it signs too.
    pub secrets: Vec<Content>,
}

/// How PostgreSQL runs these transactions: they wait for no disk, because what a crash of the database takes back is
/// attempted again, with the same id; and they walk along indexes, because a row that was leased or settled leaves its
/// old entries behind, and only such a walk marks them as gone for whoever comes next.
const IN_POSTGRESQL: &str = "SET LOCAL synchronous_commit = off; SET LOCAL enable_bitmapscan = off";

async fn prepare(cx: &mut Connection) -> Result<(), StoreError> {
    match cx {
        Connection::Postgres(_) => cx.batch(IN_POSTGRESQL).await,
        Connection::Sqlite(_) | Connection::Writer(_) => Ok(()),
    }
}

/// Writes what became of attempts, in the order in which they ended; all or nothing.
///
/// # Errors
/// Those of the database; then nothing was written, and `done` is to be given again.
pub async fn settle(
    store: &Store,
    replica_id: &str,
    now: Timestamp,
    done: Vec<Done>,
) -> Result<Settled, StoreError> {
    let replica_id = replica_id.to_owned();
    let given = done.len();
    let done = latest(done);
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                prepare(cx).await?;
                let mut marked = BTreeSet::new();
                for done in pieces(&done) {
                    marked.extend(mark(cx, &replica_id, now, done).await?);
                }
                let counted: Vec<&Done> = done
                    .iter()
                    .filter(|done| marked.contains(&done.lease.delivery_id))
                    .collect();
                for done in pieces(&counted) {
                    log(cx, done).await?;
                }
                let mut settled = health::note(cx, &counted, now).await?;
                settled.late = given.saturating_sub(counted.len());
                Ok(settled)
            })
        })
        .await
}

/// Of several results of one delivery, that of its latest lease: the others came too late.
fn latest(mut done: Vec<Done>) -> Vec<Done> {
    let mut leases: BTreeMap<String, Timestamp> = BTreeMap::new();
    for Done { lease, .. } in &done {
        let until = leases
            .entry(lease.delivery_id.clone())
            .or_insert(lease.until);
        *until = lease.until.max(*until);
    }
    done.retain(|done| leases.get(&done.lease.delivery_id) == Some(&done.lease.until));
    done
}

/// Takes leases; all or nothing. What waits at the endpoints of organizations whose plan is not one of `with_webhooks`
/// is held.
///
/// # Errors
/// Those of the database; then none was taken.
pub async fn claim(
    store: &Store,
    replica_id: &str,
    now: Timestamp,
    with_webhooks: Vec<Tier>,
    asks: Vec<Ask>,
) -> Result<Claimed, StoreError> {
    let hand = Hand {
        replica_id: replica_id.to_owned(),
        now,
        with_webhooks,
        skip_locked: if store.db.is_postgres() {
            " FOR NO KEY UPDATE SKIP LOCKED"
        } else {
            ""
        },
    };
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                prepare(cx).await?;
                let mut claimed = Claimed::default();
                for asks in pieces(&asks) {
                    hand.reach(cx, asks, &mut claimed).await?;
                }
                Ok(claimed)
            })
        })
        .await
}

/// The ids of those whose lease still held.
async fn mark(
    cx: &mut Connection,
    replica_id: &str,
    now: Timestamp,
    done: &[Done],
) -> Result<Vec<String>, StoreError> {
    let mut arguments = args![replica_id];
    let rows = done.iter().map(|done| {
        let Done {
            lease,
            attempt,
            next,
        } = done;
        let (status, due_at) = next.state();
        let ended_at = attempt.ended_at();
        let is_over = due_at.is_none();
        let is_delivered = matches!(next, Next::Delivered);
        args![
            &lease.delivery_id,
            lease.until,
            status,
            due_at,
            is_delivered.then_some(ended_at),
            is_over.then_some(now),
        ]
    });
    let values = values(&mut arguments, rows);
    let sql = format!(
        "WITH done (delivery, lease, became, next_at, success_at, over_at) AS (VALUES {values}) \
         UPDATE webhook_deliveries AS d SET status = done.became, due_at = done.next_at, leased_by = NULL, \
         attempt_count = d.attempt_count + 1, scheduled_count = d.scheduled_count + 1, \
         delivered_at = COALESCE(d.delivered_at, done.success_at), settled_at = done.over_at \
         FROM done WHERE d.id = done.delivery AND d.leased_by = $1 AND d.due_at = done.lease RETURNING id"
    );
    let rows = cx.rows_of(sql, arguments).await?;
    rows.iter().map(|row| row.get("id")).collect()
}

/// Writes the attempts.
async fn log(cx: &mut Connection, done: &[&Done]) -> Result<(), StoreError> {
    let mut arguments = args![];
    let rows = done.iter().map(|done| {
        let Done { lease, attempt, .. } = done;
        let Attempt {
            started_at,
            duration_ms,
            status_code,
            error,
            address,
        } = attempt;
        args![
            &lease.delivery_id,
            lease.number,
            &lease.org_id,
            lease.mode,
            lease.triggered_by.word(),
            *started_at,
            *duration_ms,
            status_code.map(u32::from),
            error.map(AttemptError::word),
            address,
        ]
    });
    let values = values(&mut arguments, rows);
    let sql = format!(
        "INSERT INTO webhook_attempts (delivery_id, number, org_id, mode, triggered_by, started_at, duration_ms, \
         status_code, error, address) VALUES {values} RETURNING number"
    );
    cx.rows_of(sql, arguments).await.map(drop)
}

/// Who takes leases, and when.
struct Hand {
    replica_id: String,
    now: Timestamp,
    with_webhooks: Vec<Tier>,
    skip_locked: &'static str,
}

impl Hand {
    async fn reach(
        &self,
        cx: &mut Connection,
        asks: &[Ask],
        claimed: &mut Claimed,
    ) -> Result<(), StoreError> {
        let skip_locked = self.skip_locked;
        let mut arguments = args![];
        let wanted = list(
            &mut arguments,
            asks.iter().map(|ask| ask.endpoint_id.as_str()),
        );
        // Endpoints that another replica is busy with are passed over: it leaves none of their room unused.
        let sql = format!(
            "SELECT id, org_id, url, max_in_flight, disabled_reason, deleted_at, wrapped_key, secret, previous_secret, \
         previous_secret_expires_at, {owners} FROM webhook_endpoints WHERE id IN ({wanted}) ORDER BY id{skip_locked}",
            owners = owners!(),
        );
        let rows = cx.rows_of(sql, arguments).await?;
        let mut open = Vec::new();
        for row in &rows {
            let id: String = row.get("id")?;
            let removed_at: Option<Timestamp> = row.get("deleted_at")?;
            let status = match (removed_at, disabled(row)?) {
                (Some(_), _) => Some("cancelled"),
                (None, Some(_)) => Some("held"),
                (None, None) => is_off(row, &self.with_webhooks)?.then_some("held"),
            };
            let asked = asks.iter().find(|ask| ask.endpoint_id == id);
            match (status, asked) {
                (Some(status), _) => {
                    settle_waiting(cx, &id, status, self.now).await?;
                    claimed.lanes.push(Lane {
                        endpoint_id: id,
                        max_in_flight: 0,
                        taken: 0,
                    });
                }
                (None, Some(ask)) => open.push((row, ask)),
                (None, None) => {}
            }
        }
        for open in pieces(&open) {
            self.lease(cx, open, claimed).await?;
        }
        Ok(())
    }

    /// Takes leases at endpoints that this transaction has locked.
    async fn lease(
        &self,
        cx: &mut Connection,
        open: &[(&Row, &Ask)],
        claimed: &mut Claimed,
    ) -> Result<(), StoreError> {
        let until = self.now.plus_ms(LEASE_MS);
        let mut arguments = args![self.now, until, &self.replica_id];
        let mut arms = Vec::with_capacity(open.len());
        let mut addressees = BTreeMap::new();
        for (row, ask) in open {
            let addressee = Arc::new(addressee(row)?);
            let max_in_flight: u32 = row.get("max_in_flight")?;
            arms.push(arm(
                &mut arguments,
                ask,
                max_in_flight,
                self.skip_locked,
                arms.len(),
            ));
            addressees.insert(ask.endpoint_id.clone(), (addressee, max_in_flight, 0_u32));
        }
        let arms = arms.join(" UNION ALL ");
        // Materialized: picked once, whatever plan the engine makes.
        let sql = format!(
            "WITH picked AS MATERIALIZED ({arms}) \
         UPDATE webhook_deliveries AS d SET status = 'delivering', due_at = $2, leased_by = $3, settled_at = NULL \
         FROM picked WHERE d.id = picked.pick \
         RETURNING id, endpoint_id, org_id, mode, body, attempt_count, scheduled_count, triggered_by, created_at"
        );
        for row in cx.rows_of(sql, arguments).await? {
            let endpoint_id: String = row.get("endpoint_id")?;
            let Some((addressee, _, count)) = addressees.get_mut(&endpoint_id) else {
                continue;
            };
            *count += 1;
            claimed.due.push(due(&row, addressee, until)?);
        }
        let lanes = addressees.into_iter();
        claimed
            .lanes
            .extend(lanes.map(|(endpoint_id, (_, max_in_flight, taken))| Lane {
                endpoint_id,
                max_in_flight,
                taken,
            }));
        Ok(())
    }
}

/// What is due at one endpoint, up to what it may have in flight on all replicas together.
fn arm(
    arguments: &mut Vec<Arg>,
    ask: &Ask,
    max_in_flight: u32,
    skip_locked: &str,
    at: usize,
) -> String {
    let first = arguments.len() + 1;
    arguments.extend(args![&ask.endpoint_id, ask.most, max_in_flight]);
    let (endpoint, most, room) = (first, first + 1, first + 2);
    format!(
        "SELECT pick FROM (SELECT id AS pick FROM webhook_deliveries WHERE endpoint_id = ${endpoint} \
         AND due_at <= $1 ORDER BY due_at, id LIMIT (SELECT CASE WHEN COUNT(*) >= ${room} THEN 0 \
         WHEN ${room} - COUNT(*) < ${most} THEN ${room} - COUNT(*) ELSE ${most} END FROM webhook_deliveries \
         WHERE endpoint_id = ${endpoint} AND leased_by IS NOT NULL AND due_at > $1){skip_locked}) AS lane{at}"
    )
}

fn addressee(row: &Row) -> Result<Addressee, StoreError> {
    let previous: Option<Vec<u8>> = row.get("previous_secret")?;
    let expires_at: Option<Timestamp> = row.get("previous_secret_expires_at")?;
    Ok(Addressee {
        id: row.get("id")?,
        url: row.get("url")?,
        org_id: row.get("org_id")?,
        wrapped_key: row.get("wrapped_key")?,
        secret: row.get("secret")?,
        previous: previous.zip(expires_at),
    })
}

fn due(row: &Row, endpoint: &Arc<Addressee>, until: Timestamp) -> Result<Due, StoreError> {
    let (attempts, scheduled): (u32, u32) =
        (row.get("attempt_count")?, row.get("scheduled_count")?);
    Ok(Due {
        lease: Lease {
            delivery_id: row.get("id")?,
            endpoint_id: endpoint.id.clone(),
            org_id: row.get("org_id")?,
            mode: row.get("mode")?,
            until,
            number: attempts.saturating_add(1),
            scheduled_number: scheduled.saturating_add(1),
            triggered_by: Trigger::read(row)?,
            created_at: row.get("created_at")?,
        },
        endpoint: Arc::clone(endpoint),
        body: row.get("body")?,
    })
}

/// Opens a delivery's body and the secrets that sign it now.
///
/// # Errors
/// Those of the keys.
pub async fn open(store: &Store, due: &Due, now: Timestamp) -> Result<Opened, StoreError> {
    let Addressee {
        id,
        url: _,
        org_id,
        wrapped_key,
        secret,
        previous,
    } = due.endpoint.as_ref();
    let outer = org_key::opening(store, org_id, wrapped_key).await?;
    let key = open_key(&outer, id, org_id, wrapped_key)?;
    let mut secrets = vec![seal::open_text(&key, place(id, "secret", org_id), secret)?];
    if let Some((previous, expires_at)) = previous
        && *expires_at > now
    {
        let place = place(id, "previous_secret", org_id);
        secrets.push(seal::open_text(&key, place, previous)?);
    }
    let body = seal::open(&key, body_place(&due.lease.delivery_id, org_id), &due.body)?;
    Ok(Opened { body, secrets })
}

/// Gives every lease of a replica back: what it holds is due at once. Returns how many deliveries that are.
///
/// # Errors
/// Those of the database; the leases run out then.
pub async fn hand_back(store: &Store, replica_id: &str, now: Timestamp) -> Result<u64, StoreError> {
    let arguments = args![replica_id, now];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "UPDATE webhook_deliveries SET due_at = $2, leased_by = NULL, \
                           status = CASE WHEN scheduled_count = 0 THEN 'pending' ELSE 'retrying' END \
                           WHERE leased_by = $1";
                cx.execute(sql, arguments).await
            })
        })
        .await
}

/// Endpoints behind `after` at which something waits, in the order of their ids, with when the first of it is due.
/// Costs two steps in an index for each, however much waits there.
///
/// # Errors
/// Those of the database.
pub async fn waiting(
    store: &Store,
    after: &str,
    most: u32,
) -> Result<Vec<(String, Timestamp)>, StoreError> {
    let arguments = args![after, most];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "WITH RECURSIVE lane (endpoint, place) AS ( \
                           SELECT (SELECT MIN(endpoint_id) FROM webhook_deliveries \
                           WHERE due_at IS NOT NULL AND endpoint_id > $1), CAST(1 AS BIGINT) \
                           UNION ALL SELECT (SELECT MIN(w.endpoint_id) FROM webhook_deliveries w \
                           WHERE w.due_at IS NOT NULL AND w.endpoint_id > lane.endpoint), lane.place + 1 \
                           FROM lane WHERE lane.endpoint IS NOT NULL AND lane.place < $2) \
                           SELECT endpoint, (SELECT MIN(w.due_at) FROM webhook_deliveries w \
                           WHERE w.endpoint_id = lane.endpoint AND w.due_at IS NOT NULL) AS first_due \
                           FROM lane WHERE endpoint IS NOT NULL ORDER BY endpoint";
                let rows = cx.rows(sql, arguments).await?;
                rows.iter()
                    .map(|row| Ok((row.get("endpoint")?, row.get("first_due")?)))
                    .collect()
            })
        })
        .await
}

/// Deliveries that wait or are under way, counted up to `most`.
///
/// # Errors
/// Those of the database.
pub async fn depth(store: &Store, most: u32) -> Result<u64, StoreError> {
    let arguments = args![most];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT COUNT(*) AS found FROM \
                           (SELECT 1 AS one FROM webhook_deliveries WHERE due_at IS NOT NULL LIMIT $1) AS lanes";
                cx.count(sql, arguments).await
            })
        })
        .await
}
