//! The recomputation of usage (contract 12.2): every cycle's sums are compared with the ledger, and what differs is
//! repaired, logged, counted and written to the audit log. Expected are exactly none.

use serde_json::{Map, Value};
use svc_core::time::Timestamp;
use svc_store::audit::{Row, Target};
use svc_store::budget::Sums;
use svc_store::recomputation::{self, Cycle, Drift};
use svc_store::{Store, StoreError};

use crate::moment;

/// What one run has found.
#[derive(Default)]
pub struct Report {
    /// Cycles that were looked at.
    pub cycles: u64,
    /// Cycles that were repaired, and what they had been.
    pub drifts: Vec<(Cycle, Drift)>,
    /// Cycles that the database did not let be looked at or repaired. The log says why.
    pub failed: u64,
}

/// Recomputes every cycle that ends after `since`. One that fails keeps no other waiting.
///
/// # Errors
/// Those of looking for cycles; what was repaired before stays repaired.
pub async fn recompute(store: &Store, since: Timestamp) -> Result<Report, StoreError> {
    let mut report = Report::default();
    let mut last = None;
    loop {
        let page = recomputation::cycles(store, since, last.as_ref()).await?;
        for cycle in &page {
            report.cycles += 1;
            match recompute_one(store, cycle).await {
                Ok(Some(drift)) => report.drifts.push((cycle.clone(), drift)),
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(
                        org_id = cycle.org_id,
                        mode = cycle.mode.word(),
                        cycle_start = %cycle.start,
                        %error,
                        "the sums of a cycle could not be recomputed; it will be tried again"
                    );
                    report.failed += 1;
                }
            }
        }
        match page.into_iter().next_back() {
            Some(cycle) => last = Some(cycle),
            None => return Ok(report),
        }
    }
}

/// What was wrong with a cycle and is right now.
async fn recompute_one(store: &Store, cycle: &Cycle) -> Result<Option<Drift>, StoreError> {
    let Some(found) = recomputation::examine(store, cycle).await? else {
        return Ok(None);
    };
    let repaired = recomputation::repair(store, cycle, &row(cycle, found)).await?;
    if let Some(drift) = repaired {
        tracing::error!(
            org_id = cycle.org_id,
            mode = cycle.mode.word(),
            cycle_start = %cycle.start,
            ?drift,
            "the sums of a cycle were not those of its ledger; they are now"
        );
    }
    Ok(repaired)
}

fn row(cycle: &Cycle, drift: Drift) -> Row {
    let target = Target {
        kind: "cycle".into(),
        id: cycle.start.to_string(),
    };
    let details = Map::from_iter([
        ("kept".to_owned(), shown(drift.kept)),
        ("recomputed".to_owned(), shown(drift.recomputed)),
    ]);
    let owner = (cycle.org_id.clone(), cycle.mode);
    let (event, now) = ("usage.recomputed", moment::now());
    Row::of_system(event, Some(owner), Some(target), details, now)
}

/// Sums as rows and the command line show them.
pub fn shown(sums: Sums) -> Value {
    let Sums {
        used_credits,
        used_spend_usd,
        held_credits,
        held_spend_usd,
    } = sums;
    let fields = [
        ("used_credits", used_credits),
        ("used_spend_usd", used_spend_usd),
        ("held_credits", held_credits),
        ("held_spend_usd", held_spend_usd),
    ];
    let fields = fields.map(|(name, amount)| (name.to_owned(), amount.to_json()));
    Value::Object(Map::from_iter(fields))
}
