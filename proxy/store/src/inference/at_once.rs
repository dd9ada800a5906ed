//! On PostgreSQL an inference is opened, and settled, by one statement each ([decision 40]): one trip to the server in
//! place of five and six, and the row of the budget, which all requests of an organization share, is locked while the
//! server works and while nobody travels. Whatever does not go its usual way changes nothing here and goes the long way.
//!
//! Each statement names its organization wherever it reads or writes; a transaction of one statement has no room for the
//! name that row-level security asks for ([`crate::tenant`]).
//!
//! [decision 40]: ../../../../docs/decisions/0040-an-inference-in-two-trips.md

use std::sync::Arc;

use crate::audit::audit_columns;
use crate::budget::{self, hold_columns, take_sql};
use crate::engine::{Connection, args};
use crate::ledger::{self, ledger_columns, postings};
use crate::{Store, StoreError};

use super::{Asked, End};

/// What of `$1` to `$7` is the hold's too: organization, mode, cycle and the two amounts.
const OPEN: &str = concat!(
    "WITH taken AS (",
    take_sql!(),
    "), hold AS (INSERT INTO holds (",
    hold_columns!(),
    ") SELECT $8, $1, $2, $3, $4, $5, $9, $10 FROM taken), \
     intent AS (INSERT INTO audit (",
    audit_columns!(),
    ") SELECT $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26 FROM taken) \
     SELECT held_credits_micro FROM taken"
);

/// `$1` to `$24` are those of the postings: `$2` the organization, `$3` its mode, `$4` the request, `$5` and `$6` what is
/// charged, `$8` the cycle.
const SETTLE: &str = concat!(
    "WITH gone AS (DELETE FROM holds WHERE request_id = $4 AND org_id = $2 AND mode = $3 AND cycle_start = $8 \
     RETURNING credits_micro, spend_micro), \
     terminal AS (INSERT INTO audit (",
    audit_columns!(),
    ") SELECT $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40 FROM gone), \
     posted AS (INSERT INTO ledger (",
    ledger_columns!(),
    ") SELECT posting.* FROM gone, (",
    postings!(),
    ") AS posting), \
     booked AS (UPDATE budgets SET used_credits_micro = used_credits_micro + $5, \
     used_spend_micro = used_spend_micro + $6, held_credits_micro = held_credits_micro - gone.credits_micro, \
     held_spend_micro = held_spend_micro - gone.spend_micro FROM gone \
     WHERE org_id = $2 AND mode = $3 AND cycle_start = $8) \
     SELECT credits_micro FROM gone"
);

/// Takes the hold and writes the intent; `false` where that cannot be done so, and nothing was changed.
pub(super) async fn open(store: &Store, asked: &Arc<Asked>) -> Result<bool, StoreError> {
    let Asked {
        intent,
        hold,
        work: _,
    } = asked.as_ref();
    let Some(worst_case) = hold.worst_case.filter(|_| store.db.is_postgres()) else {
        return Ok(false);
    };
    let mut arguments = budget::take_arguments(hold, budget::amounts(worst_case));
    arguments.extend(args![&hold.request_id, &hold.replica_id, hold.now]);
    arguments.extend_from_slice(&intent.0);
    let asked = Arc::clone(asked);
    let row = store.db.write_alone(move |cx| {
        asked.work.begins();
        Box::pin(cx.row(OPEN, arguments))
    });
    match row.await {
        // The request has a hold already.
        Err(StoreError::Exists { constraint }) if constraint == "holds_pkey" => Ok(false),
        row => Ok(row?.is_some()),
    }
}

/// Takes the hold away, and writes the terminal row, the postings and the budget; `false` where the request has no hold in
/// the cycle that it is billed in, or is billed in none, and nothing was changed.
pub(super) async fn settle(cx: &mut Connection, end: &End) -> Result<bool, StoreError> {
    let (Some(entry), Connection::Postgres(_)) = (&end.entry, &*cx) else {
        return Ok(false);
    };
    let mut arguments = ledger::arguments(&end.org_id, end.mode, &end.request_id, entry, end.now);
    arguments.extend_from_slice(&end.terminal.0);
    Ok(cx.row(SETTLE, arguments).await?.is_some())
}

/// As [`settle`], where there is nothing else to write.
pub(super) async fn settle_alone(store: &Store, end: &Arc<End>) -> Result<bool, StoreError> {
    if end.turn.is_some() || !store.db.is_postgres() {
        return Ok(false);
    }
    let end = Arc::clone(end);
    let settled = store
        .db
        .write_alone(move |cx| Box::pin(async move { settle(cx, &end).await }));
    settled.await
}
