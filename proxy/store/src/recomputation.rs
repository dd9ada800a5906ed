//! Whether the sums of a billing cycle are what the ledger and the open holds add up to (contract 12.2), and their
//! repair. The sums are a cache, kept in the transactions of the postings: a difference means that somebody else wrote
//! to the database, or a defect.

use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::audit;
use crate::budget::Sums;
use crate::engine::{Connection, args};
use crate::{Store, StoreError};

/// One cycle of one organization and mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    pub org_id: String,
    pub mode: Mode,
    pub start: Timestamp,
}

/// Sums that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// What the cycle has.
    pub kept: Sums,
    /// What ledger and holds add up to.
    pub recomputed: Sums,
}

/// Cycles that one call of [`cycles`] gives.
const PAGE: u32 = 500;

/// Cycles that end after `since`, in a fixed order behind `after`; none once all were given.
///
/// # Errors
/// Those of the database.
pub async fn cycles(
    store: &Store,
    since: Timestamp,
    after: Option<&Cycle>,
) -> Result<Vec<Cycle>, StoreError> {
    let after = after.cloned();
    let (org_id, mode, start) = match &after {
        Some(Cycle {
            org_id,
            mode,
            start,
        }) => (org_id.as_str(), mode.word(), *start),
        None => ("", "", Timestamp(i64::MIN)),
    };
    let arguments = args![since, org_id, mode, start, PAGE];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT org_id, mode, cycle_start FROM budgets WHERE cycle_end > $1 \
                           AND (org_id, mode, cycle_start) > ($2, $3, $4) \
                           ORDER BY org_id, mode, cycle_start LIMIT $5";
                let rows = cx.rows(sql, arguments).await?;
                rows.iter()
                    .map(|row| {
                        Ok(Cycle {
                            org_id: row.get("org_id")?,
                            mode: row.get("mode")?,
                            start: row.get("cycle_start")?,
                        })
                    })
                    .collect()
            })
        })
        .await
}

/// Looks at one cycle, without changing anything. One statement sees one state, so that requests under way are no
/// drift.
///
/// # Errors
/// Those of the database.
pub async fn examine(store: &Store, cycle: &Cycle) -> Result<Option<Drift>, StoreError> {
    let cycle = cycle.clone();
    store
        .db
        .report(|cx| Box::pin(async move { drift(cx, &cycle).await }))
        .await
}

/// Sets the sums of a cycle to what they should be, and writes this row. `None`: they are right by now, and nothing was
/// written.
///
/// # Errors
/// Those of the database; [`StoreError::Missing`] for a cycle that is not there.
pub async fn repair(
    store: &Store,
    cycle: &Cycle,
    row: &audit::Row,
) -> Result<Option<Drift>, StoreError> {
    let (cycle, row) = (cycle.clone(), row.arguments()?);
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                // Settlements post first and book then: whoever holds the row sees either both or neither.
                let sql = "UPDATE budgets SET cycle_end = cycle_end \
                           WHERE org_id = $1 AND mode = $2 AND cycle_start = $3";
                let key = args![&cycle.org_id, cycle.mode, cycle.start];
                cx.execute_one("budget", sql, key).await?;
                let Some(drift) = drift(cx, &cycle).await? else {
                    return Ok(None);
                };
                let sums = drift.recomputed;
                let sql = "UPDATE budgets SET used_credits_micro = $4, used_spend_micro = $5, \
                           held_credits_micro = $6, held_spend_micro = $7 \
                           WHERE org_id = $1 AND mode = $2 AND cycle_start = $3";
                let values = args![
                    &cycle.org_id,
                    cycle.mode,
                    cycle.start,
                    sums.used_credits,
                    sums.used_spend_usd,
                    sums.held_credits,
                    sums.held_spend_usd,
                ];
                cx.execute_one("budget", sql, values).await?;
                audit::insert(cx, &row).await?;
                Ok(Some(drift))
            })
        })
        .await
}

async fn drift(cx: &mut Connection, cycle: &Cycle) -> Result<Option<Drift>, StoreError> {
    let sql = "SELECT b.used_credits_micro, b.used_spend_micro, b.held_credits_micro, b.held_spend_micro, \
               l.credits, l.spend, h.held_credits, h.held_spend FROM budgets b, \
               (SELECT CAST(COALESCE(SUM(amount_micro), 0) AS BIGINT) AS credits, \
               CAST(COALESCE(SUM(cost_usd_micro), 0) AS BIGINT) AS spend FROM ledger \
               WHERE org_id = $1 AND mode = $2 AND cycle_start = $3 AND kind = 'debit') l, \
               (SELECT CAST(COALESCE(SUM(credits_micro), 0) AS BIGINT) AS held_credits, \
               CAST(COALESCE(SUM(spend_micro), 0) AS BIGINT) AS held_spend FROM holds \
               WHERE org_id = $1 AND mode = $2 AND cycle_start = $3) h \
               WHERE b.org_id = $1 AND b.mode = $2 AND b.cycle_start = $3";
    let key = args![&cycle.org_id, cycle.mode, cycle.start];
    let Some(row) = cx.row(sql, key).await? else {
        return Ok(None);
    };
    let micro = |column| row.get::<Micro>(column);
    let kept = Sums {
        used_credits: micro("used_credits_micro")?,
        used_spend_usd: micro("used_spend_micro")?,
        held_credits: micro("held_credits_micro")?,
        held_spend_usd: micro("held_spend_micro")?,
    };
    let recomputed = Sums {
        used_credits: micro("credits")?,
        used_spend_usd: micro("spend")?,
        held_credits: micro("held_credits")?,
        held_spend_usd: micro("held_spend")?,
    };
    Ok((kept != recomputed).then_some(Drift { kept, recomputed }))
}
