//! Budgets: what an organization has used and holds in a billing cycle, and what it may (contract 12).
//!
//! A hold of the worst case is taken by one conditional `UPDATE` before a run, so that requests racing at a
//! cap can never pass it together; settlement gives it back and books what was really used.

use svc_core::metering::Charge;
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::engine::{Arg, Connection, Row, args};
use crate::{Store, StoreError, Transaction, organization};

/// Caps that an organization sets itself per cycle; `None` is no cap, zero blocks everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// The most that may be used and held in a cycle.
    pub credits: Option<Micro>,
    /// The most dollars that runs may cost at providers, held ones among them.
    pub spend_usd: Option<Micro>,
    /// Fractions of a cap at which to tell the organization, in millionths.
    pub alert_thresholds: Vec<Micro>,
    /// Id of who has set them last; `None` where nobody has.
    pub updated_by: Option<String>,
    pub updated_at: Option<Timestamp>,
}

/// One cycle of one organization and mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    pub start: Timestamp,
    /// The start of the next cycle.
    pub end: Timestamp,
}

/// The sums of a cycle. `held` is the sum of the holds of requests in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// What settled runs were charged.
    pub used_credits: Micro,
    /// What settled runs have cost at providers, those that failed among them.
    pub used_spend_usd: Micro,
    pub held_credits: Micro,
    pub held_spend_usd: Micro,
}

/// A hold to be taken for one request.
#[derive(Clone, Debug)]
pub struct HoldRequest {
    pub request_id: String,
    pub org_id: String,
    pub mode: Mode,
    pub cycle: Cycle,
    /// Credits that the plan includes in this cycle; `None` is without limit.
    pub allotment: Option<Micro>,
    /// The most that the run can cost. Less than one millionth counts as one, so that a limit of zero blocks.
    /// `None` for what costs nothing: no limit refuses it, and its hold only keeps the lease on the request.
    pub worst_case: Option<Charge>,
    /// Whose lease keeps the hold alive ([`crate::replica`]).
    pub replica_id: String,
    pub now: Timestamp,
}

/// What stands in the way of a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `CONSUMPTION_BLOCKED`: the plan's allotment.
    PlanCredits,
    /// `BUDGET_EXCEEDED`: the organization's own caps.
    CreditCap,
    /// As the one before, in dollars.
    SpendCap,
}

/// Why there is no hold, with the numbers that the error tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub limit: Limit,
    pub sums: Sums,
    pub allotment: Option<Micro>,
    pub credit_cap: Option<Micro>,
    pub spend_cap_usd: Option<Micro>,
}

/// The answer to a [`HoldRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reservation {
    Held,
    Refused(Refusal),
}

/// What [`check`] says of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It would be taken out of this room.
    Fits(Room),
    Refused(Refusal),
}

/// How often a hold is tried again when the limit that refused it has gone away in between.
const RESERVE_ATTEMPTS: usize = 3;

/// Judges a hold without taking it, for the checks that come before the intent.
///
/// # Errors
/// Those of the database.
pub async fn check(store: &Store, request: &HoldRequest) -> Result<Judgement, StoreError> {
    let request = request.clone();
    store
        .db
        .read(|cx| Box::pin(async move { judge(cx, &request).await }))
        .await
}

/// What is left under every limit of a cycle. An amount without a limit is [`Micro`]'s greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub credits: Micro,
    pub spend_usd: Micro,
}

/// The sums of a cycle; zero where nothing has happened in it.
///
/// # Errors
/// Those of the database.
pub async fn sums(
    store: &Store,
    org_id: &str,
    mode: Mode,
    cycle_start: Timestamp,
) -> Result<Sums, StoreError> {
    let id = org_id.to_owned();
    store
        .db
        .read(move |cx| Box::pin(async move { read_sums(cx, &id, mode, cycle_start).await }))
        .await
}

/// The caps in force.
///
/// # Errors
/// Those of the database.
pub async fn caps(store: &Store, org_id: &str, mode: Mode) -> Result<Caps, StoreError> {
    let id = org_id.to_owned();
    store
        .db
        .read(move |cx| Box::pin(async move { read_caps(cx, &id, mode).await }))
        .await
}

/// Replaces the caps; they count from the next hold on.
///
/// # Errors
/// Those of the database.
pub async fn put_caps(
    tx: &mut Transaction<'_>,
    org_id: &str,
    mode: Mode,
    caps: &Caps,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Caps {
        credits,
        spend_usd,
        alert_thresholds,
        updated_by,
        updated_at: _,
    } = caps;
    let thresholds: Vec<i64> = alert_thresholds.iter().map(|share| share.0).collect();
    let thresholds = serde_json::Value::from(thresholds);
    let sql = "INSERT INTO budget_caps (org_id, mode, credit_cap_micro, spend_cap_micro, \
               alert_thresholds, updated_by, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7) \
               ON CONFLICT (org_id, mode) DO UPDATE SET \
               credit_cap_micro = excluded.credit_cap_micro, \
               spend_cap_micro = excluded.spend_cap_micro, \
               alert_thresholds = excluded.alert_thresholds, \
               updated_by = excluded.updated_by, updated_at = excluded.updated_at";
    let arguments = args![
        org_id,
        mode,
        *credits,
        *spend_usd,
        &thresholds,
        updated_by,
        now
    ];
    tx.cx.execute(sql, arguments).await.map(drop)
}

/// The caps in force, which nobody else changes until the transaction ends. There may be no row of them to lock: it is
/// the organization that is held.
///
/// # Errors
/// Those of the database.
pub async fn lock_caps(
    tx: &mut Transaction<'_>,
    org_id: &str,
    mode: Mode,
) -> Result<Caps, StoreError> {
    organization::hold(tx, org_id).await?;
    read_caps(tx.cx, org_id, mode).await
}

pub(crate) async fn read_caps(
    cx: &mut Connection,
    org_id: &str,
    mode: Mode,
) -> Result<Caps, StoreError> {
    let row = cx
        .row(
            "SELECT credit_cap_micro, spend_cap_micro, alert_thresholds, updated_by, updated_at \
             FROM budget_caps WHERE org_id = $1 AND mode = $2",
            args![org_id, mode],
        )
        .await?;
    let Some(row) = row else {
        return Ok(Caps::default());
    };
    let column = "alert_thresholds";
    let thresholds: serde_json::Value = row.get(column)?;
    let thresholds = thresholds.as_array().map(|shares| {
        let micro = shares.iter().map(|share| share.as_i64().map(Micro));
        micro.collect::<Option<Vec<Micro>>>()
    });
    Ok(Caps {
        credits: row.get("credit_cap_micro")?,
        spend_usd: row.get("spend_cap_micro")?,
        alert_thresholds: thresholds.flatten().ok_or(StoreError::Corrupt { column })?,
        updated_by: row.get("updated_by")?,
        updated_at: row.get("updated_at")?,
    })
}

async fn read_sums(
    cx: &mut Connection,
    org_id: &str,
    mode: Mode,
    cycle_start: Timestamp,
) -> Result<Sums, StoreError> {
    let sql = "SELECT used_credits_micro, used_spend_micro, held_credits_micro, held_spend_micro \
               FROM budgets WHERE org_id = $1 AND mode = $2 AND cycle_start = $3";
    let row = cx.row(sql, args![org_id, mode, cycle_start]).await?;
    row.as_ref().map_or(Ok(Sums::default()), sums_from)
}

fn sums_from(row: &Row) -> Result<Sums, StoreError> {
    Ok(Sums {
        used_credits: row.get("used_credits_micro")?,
        used_spend_usd: row.get("used_spend_micro")?,
        held_credits: row.get("held_credits_micro")?,
        held_spend_usd: row.get("held_spend_micro")?,
    })
}

/// The amounts that a hold takes: at least one millionth of each.
pub(crate) fn amounts(worst_case: Charge) -> (Micro, Micro) {
    let least = Micro(1);
    let Charge {
        sonnet_equivalent_tokens: _,
        credits,
        cost_usd,
    } = worst_case;
    (credits.max(least), cost_usd.max(least))
}

/// Takes the amounts of a hold out of what is left under every limit, if there is so much. The caps are compared with the
/// row itself: a join with them, which is what `NOT EXISTS` becomes on PostgreSQL, is not judged again once the row that
/// another request has changed is there.
macro_rules! take_sql {
    () => {
        "UPDATE budgets SET held_credits_micro = held_credits_micro + $4, held_spend_micro = held_spend_micro + $5 \
         WHERE org_id = $1 AND mode = $2 AND cycle_start = $3 \
         AND used_credits_micro + held_credits_micro + $4 <= $6 \
         AND used_credits_micro + held_credits_micro + $4 <= COALESCE((SELECT MIN(c.credit_cap_micro) \
         FROM budget_caps c WHERE c.org_id = $1 AND c.mode = $2), $7) \
         AND used_spend_micro + held_spend_micro + $5 <= COALESCE((SELECT MIN(c.spend_cap_micro) \
         FROM budget_caps c WHERE c.org_id = $1 AND c.mode = $2), $7) \
         RETURNING held_credits_micro"
    };
}
pub(crate) use take_sql;

/// The seven arguments of [`take_sql!`].
pub(crate) fn take_arguments(request: &HoldRequest, (credits, spend): (Micro, Micro)) -> Vec<Arg> {
    // No cap.
    let none = Micro(i64::MAX);
    args![
        &request.org_id,
        request.mode,
        request.cycle.start,
        credits,
        spend,
        request.allotment.unwrap_or(none),
        none
    ]
}

/// Takes a hold within a transaction, or tells which limit refuses it. A second call for the same request changes
/// nothing.
pub(crate) async fn take(
    cx: &mut Connection,
    request: &HoldRequest,
) -> Result<Reservation, StoreError> {
    let HoldRequest {
        request_id: _,
        org_id,
        mode,
        cycle,
        allotment: _,
        worst_case,
        replica_id: _,
        now: _,
    } = request;
    let Some(worst_case) = worst_case else {
        open_cycle(cx, org_id, *mode, *cycle).await?;
        insert_hold(cx, request, (Micro::ZERO, Micro::ZERO)).await?;
        return Ok(Reservation::Held);
    };
    let (credits, spend) = amounts(*worst_case);
    for _ in 0..RESERVE_ATTEMPTS {
        let arguments = take_arguments(request, (credits, spend));
        let taken = cx.row(take_sql!(), arguments).await?;
        if taken.is_some() {
            if !insert_hold(cx, request, (credits, spend)).await? {
                // The request has its hold already; that one counts, this one does not.
                let hold = Hold {
                    org_id: org_id.clone(),
                    mode: *mode,
                    cycle_start: cycle.start,
                    credits,
                    spend,
                };
                book(cx, &hold, cycle.start, None).await?;
            }
            return Ok(Reservation::Held);
        }
        if open_cycle(cx, org_id, *mode, *cycle).await? {
            continue;
        }
        // A repeat of a request that has its hold is not a second request.
        let sql = "SELECT 1 FROM holds WHERE request_id = $1";
        if cx.row(sql, args![&request.request_id]).await?.is_some() {
            return Ok(Reservation::Held);
        }
        // On PostgreSQL another request may have given back its hold by now; then nothing refuses any more.
        if let Judgement::Refused(refusal) = judge(cx, request).await? {
            return Ok(Reservation::Refused(refusal));
        }
    }
    Err(StoreError::Unavailable(
        "the budget is contended".to_owned(),
    ))
}

/// The columns of a hold.
macro_rules! hold_columns {
    () => {
        "request_id, org_id, mode, cycle_start, credits_micro, spend_micro, replica_id, created_at"
    };
}
pub(crate) use hold_columns;

/// Writes the hold of a request; `false` when it has one already.
async fn insert_hold(
    cx: &mut Connection,
    request: &HoldRequest,
    (credits, spend): (Micro, Micro),
) -> Result<bool, StoreError> {
    let HoldRequest {
        request_id,
        org_id,
        mode,
        cycle,
        allotment: _,
        worst_case: _,
        replica_id,
        now,
    } = request;
    let sql = concat!(
        "INSERT INTO holds (",
        hold_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (request_id) DO NOTHING"
    );
    let values = args![
        request_id,
        org_id,
        *mode,
        cycle.start,
        credits,
        spend,
        replica_id,
        *now
    ];
    Ok(cx.execute(sql, values).await? == 1)
}

/// Reads whether a hold would be taken, in the order of the checks: plan, credit cap, spend cap.
async fn judge(cx: &mut Connection, request: &HoldRequest) -> Result<Judgement, StoreError> {
    let sums = read_sums(cx, &request.org_id, request.mode, request.cycle.start).await?;
    let caps = read_caps(cx, &request.org_id, request.mode).await?;
    let fits = Judgement::Fits(room(request.allotment, &caps, &sums));
    let Some(worst_case) = request.worst_case else {
        return Ok(fits);
    };
    let (credits, spend) = amounts(worst_case);
    let credits_then = sums.used_credits + sums.held_credits + credits;
    let spend_then = sums.used_spend_usd + sums.held_spend_usd + spend;
    let passes = |limit: Option<Micro>, then: Micro| limit.is_some_and(|limit| then > limit);
    let limit = if passes(request.allotment, credits_then) {
        Limit::PlanCredits
    } else if passes(caps.credits, credits_then) {
        Limit::CreditCap
    } else if passes(caps.spend_usd, spend_then) {
        Limit::SpendCap
    } else {
        return Ok(fits);
    };
    Ok(Judgement::Refused(Refusal {
        limit,
        sums,
        allotment: request.allotment,
        credit_cap: caps.credits,
        spend_cap_usd: caps.spend_usd,
    }))
}

fn room(allotment: Option<Micro>, caps: &Caps, sums: &Sums) -> Room {
    let least = |limits: [Option<Micro>; 2], taken: Micro| {
        let limit = limits.into_iter().flatten().min();
        limit.map_or(Micro(i64::MAX), |limit| limit - taken)
    };
    Room {
        credits: least(
            [allotment, caps.credits],
            sums.used_credits + sums.held_credits,
        ),
        spend_usd: least(
            [caps.spend_usd, None],
            sums.used_spend_usd + sums.held_spend_usd,
        ),
    }
}

/// Makes sure that the row of a cycle exists; `true` when it did not.
pub(crate) async fn open_cycle(
    cx: &mut Connection,
    org_id: &str,
    mode: Mode,
    cycle: Cycle,
) -> Result<bool, StoreError> {
    let inserted = cx.execute(
        "INSERT INTO budgets (org_id, mode, cycle_start, cycle_end, used_credits_micro, used_spend_micro, \
         held_credits_micro, held_spend_micro) VALUES ($1, $2, $3, $4, 0, 0, 0, 0) \
         ON CONFLICT (org_id, mode, cycle_start) DO NOTHING",
        args![org_id, mode, cycle.start, cycle.end],
    )
    .await?;
    Ok(inserted == 1)
}

/// A hold that was taken away and whose amounts are still in the sums; [`book`] takes them out.
pub(crate) struct Hold {
    pub(crate) org_id: String,
    pub(crate) mode: Mode,
    pub(crate) cycle_start: Timestamp,
    pub(crate) credits: Micro,
    pub(crate) spend: Micro,
}

impl Hold {
    /// Whether it is the hold of a request that costs nothing.
    pub(crate) fn is_free(&self) -> bool {
        self.credits == Micro::ZERO && self.spend == Micro::ZERO
    }
}

/// Takes the hold of a request away, if it still has one. Only one of several that try gets it.
pub(crate) async fn remove_hold(
    cx: &mut Connection,
    request_id: &str,
) -> Result<Option<Hold>, StoreError> {
    let sql = "DELETE FROM holds WHERE request_id = $1 \
               RETURNING org_id, mode, cycle_start, credits_micro, spend_micro";
    let row = cx.row(sql, args![request_id]).await?;
    row.as_ref().map(hold_from).transpose()
}

pub(crate) fn hold_from(row: &Row) -> Result<Hold, StoreError> {
    Ok(Hold {
        org_id: row.get("org_id")?,
        mode: row.get("mode")?,
        cycle_start: row.get("cycle_start")?,
        credits: row.get("credits_micro")?,
        spend: row.get("spend_micro")?,
    })
}

/// Takes a removed hold out of its cycle and adds what was used to the cycle that it is billed in.
pub(crate) async fn book(
    cx: &mut Connection,
    hold: &Hold,
    billed_in: Timestamp,
    used: Option<Charge>,
) -> Result<(), StoreError> {
    let used = used.unwrap_or_default();
    if billed_in != hold.cycle_start {
        add(cx, hold, billed_in, used, (Micro::ZERO, Micro::ZERO)).await?;
        let held = (hold.credits, hold.spend);
        return add(cx, hold, hold.cycle_start, Charge::default(), held).await;
    }
    add(cx, hold, billed_in, used, (hold.credits, hold.spend)).await
}

async fn add(
    cx: &mut Connection,
    hold: &Hold,
    cycle_start: Timestamp,
    used: Charge,
    held: (Micro, Micro),
) -> Result<(), StoreError> {
    cx.execute_one(
        "budget",
        "UPDATE budgets SET used_credits_micro = used_credits_micro + $4, \
         used_spend_micro = used_spend_micro + $5, held_credits_micro = held_credits_micro - $6, \
         held_spend_micro = held_spend_micro - $7 WHERE org_id = $1 AND mode = $2 AND cycle_start = $3",
        args![
            &hold.org_id,
            hold.mode,
            cycle_start,
            used.credits,
            used.cost_usd,
            held.0,
            held.1
        ],
    )
    .await
}
