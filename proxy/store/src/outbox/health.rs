//! How an endpoint fares: counted with what is settled, and its end where everything has failed for days (contract
//! 15.2).

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use svc_core::secret::Mode;
use svc_core::time::{MS_PER_DAY, Timestamp};

use super::batch::{pieces, values};
use super::turn::{Done, Next, Settled};
use crate::audit::{self, Target};
use crate::engine::{Arg, Connection, Row, args};
use crate::webhook_endpoint::{Disabled, disabled, settle_waiting};
use crate::{StoreError, Transaction};

/// Contract 15.2: every attempt has failed for 5 days…
const FAILING_MS: i64 = 5 * MS_PER_DAY;
/// …and as many deliveries were given up.
const MIN_EXHAUSTED: u32 = 20;

/// What the attempts of one transaction say about one endpoint.
#[derive(Clone, Copy, Default)]
struct Fared {
    success_at: Option<Timestamp>,
    failure_at: Option<Timestamp>,
    /// Since the last success among them: failures, the first of them, and deliveries given up.
    failures: u32,
    since: Option<Timestamp>,
    exhausted: u32,
    is_gone: bool,
}

impl Fared {
    fn add(&mut self, done: &Done) {
        let ended_at = done.attempt.ended_at();
        match done.next {
            Next::Delivered => {
                *self = Self {
                    success_at: Some(ended_at),
                    failure_at: self.failure_at,
                    is_gone: self.is_gone,
                    ..Self::default()
                };
            }
            Next::Retry { .. } | Next::Exhausted | Next::Gone => {
                self.failure_at = Some(ended_at);
                self.failures += 1;
                self.since = self.since.or(Some(ended_at));
                self.exhausted += u32::from(done.next == Next::Exhausted);
                self.is_gone |= done.next == Next::Gone;
            }
        }
    }

    fn columns(&self, endpoint_id: &str) -> Vec<Arg> {
        let Self {
            success_at,
            failure_at,
            failures,
            since,
            exhausted,
            is_gone: _,
        } = self;
        args![
            endpoint_id,
            success_at.is_some(),
            *success_at,
            *failure_at,
            *failures,
            *since,
            *exhausted,
        ]
    }
}

/// Counts attempts at their endpoints and disables those that are beyond hope.
pub(super) async fn note(
    cx: &mut Connection,
    done: &[&Done],
    now: Timestamp,
) -> Result<Settled, StoreError> {
    let mut endpoints: BTreeMap<&str, Fared> = BTreeMap::new();
    for done in done {
        let fared = endpoints.entry(done.lease.endpoint_id.as_str());
        fared.or_default().add(done);
    }
    let mut settled = Settled::default();
    if let Connection::Postgres(_) = cx {
        let all: Vec<(&str, Fared)> = endpoints.iter().map(|(id, fared)| (*id, *fared)).collect();
        for piece in pieces(&all) {
            for row in over(cx, piece, HOLD).await? {
                settled.held.push(row.get("id")?);
            }
        }
        endpoints.retain(|id, _| settled.held.iter().any(|held| held == id));
    }
    let endpoints: Vec<(&str, Fared)> = endpoints.into_iter().collect();
    for piece in pieces(&endpoints) {
        for row in over(cx, piece, COUNT).await? {
            let id: String = row.get("id")?;
            let is_gone = piece
                .iter()
                .any(|(other, fared)| *other == id && fared.is_gone);
            if let Some(reason) = verdict(&row, is_gone, now)? {
                disable(cx, &row, &id, reason, now).await?;
                settled.disabled.push((id, reason));
            }
        }
    }
    Ok(settled)
}

/// Which rows change. While all goes well a row changes once a second: nobody asks for more.
macro_rules! has_news {
    () => {
        "(fared.failures > 0 OR e.consecutive_failures > 0 OR e.last_success_at IS NULL \
         OR e.last_success_at <= fared.success_at - 1000)"
    };
}

/// Locks the endpoints that change, in one order on every replica.
const HOLD: &str = concat!(
    "SELECT e.id AS id FROM webhook_endpoints AS e JOIN fared ON e.id = fared.endpoint WHERE ",
    has_news!(),
    " ORDER BY e.id FOR NO KEY UPDATE OF e"
);

/// Gives the rows that have changed.
const COUNT: &str = concat!(
    "UPDATE webhook_endpoints AS e SET last_success_at = COALESCE(fared.success_at, e.last_success_at), \
     last_failure_at = COALESCE(fared.failure_at, e.last_failure_at), \
     consecutive_failures = fared.failures + CASE WHEN fared.succeeded THEN 0 ELSE e.consecutive_failures END, \
     failing_since = CASE WHEN fared.succeeded THEN fared.since ELSE COALESCE(e.failing_since, fared.since) END, \
     exhausted_count = fared.exhausted + CASE WHEN fared.succeeded THEN 0 ELSE e.exhausted_count END \
     FROM fared WHERE e.id = fared.endpoint AND ",
    has_news!(),
    " RETURNING id, org_id, mode, disabled_reason, deleted_at, failing_since, exhausted_count"
);

/// Runs a statement over `fared`, a table of how these endpoints have fared; they are sorted.
async fn over(
    cx: &mut Connection,
    endpoints: &[(&str, Fared)],
    statement: &'static str,
) -> Result<Vec<Row>, StoreError> {
    let mut arguments = args![];
    let rows = endpoints.iter().map(|(id, fared)| fared.columns(id));
    let values = values(&mut arguments, rows);
    let sql = format!(
        "WITH fared (endpoint, succeeded, success_at, failure_at, failures, since, exhausted) AS (VALUES {values}) \
         {statement}"
    );
    cx.rows_of(sql, arguments).await
}

/// Whether an endpoint has come to its end.
fn verdict(row: &Row, is_gone: bool, now: Timestamp) -> Result<Option<Disabled>, StoreError> {
    let removed_at: Option<Timestamp> = row.get("deleted_at")?;
    if removed_at.is_some() || disabled(row)?.is_some() {
        return Ok(None);
    }
    if is_gone {
        return Ok(Some(Disabled::Gone));
    }
    let since: Option<Timestamp> = row.get("failing_since")?;
    let exhausted: u32 = row.get("exhausted_count")?;
    let is_failing =
        since.is_some_and(|since| since.plus_ms(FAILING_MS) <= now) && exhausted >= MIN_EXHAUSTED;
    Ok(is_failing.then_some(Disabled::Failing))
}

async fn disable(
    cx: &mut Connection,
    row: &Row,
    id: &str,
    reason: Disabled,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = "UPDATE webhook_endpoints SET disabled_reason = $2, updated_at = $3 WHERE id = $1";
    cx.execute(sql, args![id, reason.word(), now]).await?;
    settle_waiting(cx, id, "held", now).await?;
    let (org_id, mode): (String, Mode) = (row.get("org_id")?, row.get("mode")?);
    let mut details = Map::new();
    details.insert("reason".to_owned(), Value::from(reason.word()));
    let target = Target {
        kind: "webhook_endpoint".to_owned(),
        id: id.to_owned(),
    };
    let event = "webhook_endpoint.disabled";
    let row = audit::Row::of_system(event, Some((org_id, mode)), Some(target), details, now);
    audit::record(&mut Transaction::alone(cx), &row).await
}
