//! The effects of one inference, each in one transaction (contract 12.2, 14.2, 19.1): its intent with its hold
//! before the first upstream byte; its end with charge, budget and conversation; or its refusal. Every one may
//! be repeated: what is recorded already is not recorded again.

mod at_once;
mod progress;

use std::sync::Arc;

use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use crate::audit::{self, Phase};
use crate::budget::{self, HoldRequest, Reservation};
use crate::conversation::{self, SealedTurn, Turn};
use crate::engine::{Connection, args};
use crate::ledger::{self, Entry};
use crate::recovery::ABANDONED;
use crate::{Store, StoreError, org_key};
pub use progress::Progress;
use progress::Work;

/// What [`open`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// The intent is durable and the hold is taken.
    Held,
    /// Nothing was written; [`refuse`] records the refusal.
    Refused(budget::Refusal),
    /// The request has an intent already.
    AlreadyOpen,
}

/// How an inference ended.
pub struct Settlement {
    pub request_id: String,
    pub org_id: String,
    pub mode: Mode,
    /// `.completed`, `.blocked`, `.failed` or `.cancelled` of what the intent calls it (`inference`).
    pub terminal: audit::Row,
    /// `None` where the provider was never reached, or nothing is charged.
    pub entry: Option<Entry>,
    /// What is stored of the conversation.
    pub turn: Option<Turn>,
    pub now: Timestamp,
}

/// What [`settle`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    Done,
    /// This settlement is recorded already, or another that did not complete the run; nothing was changed.
    AlreadySettled,
    /// Another settlement has completed the run; nothing was changed.
    Completed,
    /// The request has another terminal row: recovery took this replica for dead. Nothing was changed, and nothing of
    /// the run is billed or kept.
    ClosedByRecovery,
    /// Nothing was changed, because the turn cannot be stored. Settle again without it, or load the
    /// conversation and build the turn anew.
    TurnRefused(TurnRefusal),
}

/// Why a turn cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnRefusal {
    /// Another turn has added placeholders since the conversation was loaded.
    Moved,
    /// The conversation is gone, or its person or organization was erased.
    Gone,
}

/// What [`open`] is asked to write.
struct Asked {
    intent: audit::Arguments,
    hold: HoldRequest,
    work: Work,
}

/// Writes the intent and takes the hold. `progress` tells of it whoever does not wait.
///
/// # Errors
/// Those of the database: the request must not reach a provider.
pub async fn open(
    store: &Store,
    intent: &audit::Row,
    hold: &HoldRequest,
    progress: &Progress,
) -> Result<Opened, StoreError> {
    expect_phase(intent, Phase::Requested)?;
    let asked = Arc::new(Asked {
        intent: intent.arguments()?,
        hold: hold.clone(),
        work: Work::of(progress),
    });
    let opened = match at_once::open(store, &asked).await {
        Ok(true) => Ok(Opened::Held),
        Ok(false) => {
            let again = store.db.write_again(move |cx| {
                let asked = Arc::clone(&asked);
                asked.work.begins();
                Box::pin(async move { hold_and_tell(cx, &asked.intent, &asked.hold).await })
            });
            again.await
        }
        Err(error) => Err(error),
    };
    match opened {
        Err(error) if audit::is_there(&error) => Ok(Opened::AlreadyOpen),
        other => other,
    }
}

async fn hold_and_tell(
    cx: &mut Connection,
    intent: &audit::Arguments,
    hold: &HoldRequest,
) -> Result<Opened, StoreError> {
    // The hold first: what it locks is then locked in the same order as at settlement.
    if let Reservation::Refused(refusal) = budget::take(cx, hold).await? {
        return Ok(Opened::Refused(refusal));
    }
    // A row that is there undoes the hold with the transaction.
    audit::insert(cx, intent).await?;
    Ok(Opened::Held)
}

/// Writes both rows of a request that is refused before it reaches a provider, and gives back its hold if it
/// has one. `false`: it had these rows already.
///
/// # Errors
/// Those of the database.
pub async fn refuse(
    store: &Store,
    intent: &audit::Row,
    terminal: &audit::Row,
) -> Result<bool, StoreError> {
    expect_phase(intent, Phase::Requested)?;
    expect_phase(terminal, Phase::Terminal)?;
    let request_id = terminal.request.as_ref().map(|request| request.id.clone());
    let (intent, terminal) = (intent.arguments()?, terminal.arguments()?);
    let refused = store
        .db
        .write(|cx| {
            Box::pin(async move {
                if let Some(request_id) = request_id
                    && let Some(hold) = budget::remove_hold(cx, &request_id).await?
                {
                    budget::book(cx, &hold, hold.cycle_start, None).await?;
                }
                for row in [intent, terminal] {
                    audit::insert(cx, &row).await?;
                }
                Ok(true)
            })
        })
        .await;
    match refused {
        Err(error) if audit::is_there(&error) => Ok(false),
        other => other,
    }
}

/// Ends an inference that [`open`] began: terminal row, postings, budget, hold and turn stand or fall together.
///
/// # Errors
/// [`StoreError::Missing`] when the request was never opened for this organization and mode, and those of the
/// database; then the settlement is to be tried again, or [`crate::recovery`] closes the request once the
/// replica's lease has ended.
pub async fn settle(store: &Store, settlement: &Settlement) -> Result<Settled, StoreError> {
    let Settlement {
        request_id,
        org_id,
        mode,
        terminal,
        entry,
        turn,
        now,
    } = settlement;
    expect_phase(terminal, Phase::Terminal)?;
    let turn = match turn {
        Some(turn) => match SealedTurn::new(store, org_id, *mode, request_id, turn, *now).await {
            Err(StoreError::Missing(org_key::ERASED)) => {
                return Ok(Settled::TurnRefused(TurnRefusal::Gone));
            }
            sealed => Some(sealed?),
        },
        None => None,
    };
    let end = End {
        request_id: request_id.clone(),
        org_id: org_id.clone(),
        mode: *mode,
        terminal: terminal.arguments()?,
        entry: entry.clone(),
        turn,
        now: *now,
    };
    let end = Arc::new(end);
    let settled = match at_once::settle_alone(store, &end).await {
        Ok(true) => Ok(Settled::Done),
        Ok(false) => record_in_turn(store, end).await,
        Err(error) => Err(error),
    };
    match settled {
        Err(error) if audit::is_there(&error) => ended_by(store, settlement).await,
        Err(StoreError::Moved) => Ok(Settled::TurnRefused(TurnRefusal::Moved)),
        Err(StoreError::Missing(GONE)) => Ok(Settled::TurnRefused(TurnRefusal::Gone)),
        other => other,
    }
}

/// A transaction of several statements.
async fn record_in_turn(store: &Store, end: Arc<End>) -> Result<Settled, StoreError> {
    if end.turn.as_ref().is_some_and(SealedTurn::may_clash) {
        // A clash is its own caller's matter alone.
        let once = store
            .db
            .write(move |cx| Box::pin(async move { record(cx, &end).await }));
        return once.await;
    }
    let again = store.db.write_again(move |cx| {
        let end = Arc::clone(&end);
        Box::pin(async move { record(cx, &end).await })
    });
    again.await
}

/// How a request ended that has its terminal row.
async fn ended_by(store: &Store, settlement: &Settlement) -> Result<Settled, StoreError> {
    let Settlement {
        request_id,
        org_id,
        mode,
        terminal,
        ..
    } = settlement;
    let rows = audit::by_request(store, org_id, *mode, request_id).await?;
    let another_says = |end: &str| {
        rows.iter().any(|row| {
            let event = row["event"].as_str().unwrap_or_default();
            event.ends_with(end) && row["id"] != terminal.id.as_str()
        })
    };
    Ok(if another_says(ABANDONED) {
        Settled::ClosedByRecovery
    } else if another_says(COMPLETED) {
        Settled::Completed
    } else {
        Settled::AlreadySettled
    })
}

/// End of the name of what a completed run is called.
const COMPLETED: &str = ".completed";

/// A settlement whose turn is sealed.
struct End {
    request_id: String,
    org_id: String,
    mode: Mode,
    terminal: audit::Arguments,
    entry: Option<Entry>,
    turn: Option<SealedTurn>,
    now: Timestamp,
}

/// What [`conversation::insert_turn`] misses when there is no such conversation.
const GONE: &str = "conversation";

fn expect_phase(row: &audit::Row, phase: Phase) -> Result<(), StoreError> {
    if row.phase == phase && row.request.is_some() {
        return Ok(());
    }
    Err(StoreError::Missing("request or phase of the audit row"))
}

async fn record(cx: &mut Connection, end: &End) -> Result<Settled, StoreError> {
    if !at_once::settle(cx, end).await? {
        book(cx, end).await?;
    }
    if let Some(turn) = &end.turn {
        conversation::insert_turn(cx, turn.clone()).await?;
    }
    Ok(Settled::Done)
}

/// All of a settlement but its turn.
async fn book(cx: &mut Connection, end: &End) -> Result<(), StoreError> {
    let End {
        request_id,
        org_id,
        mode,
        terminal,
        entry,
        turn: _,
        now,
    } = end;
    let (mode, now) = (*mode, *now);
    // Hold, audit row, postings, budget, conversation: recovery locks in the same order.
    let hold = budget::remove_hold(cx, request_id).await?;
    // A hold of this organization and mode came with the intent; without one, the intent itself is looked for.
    let opened = |hold: &budget::Hold| hold.org_id == *org_id && hold.mode == mode;
    if !hold.as_ref().is_some_and(opened) {
        let sql = "SELECT 1 FROM audit WHERE request_id = $1 AND phase = 'requested' \
                   AND org_id = $2 AND mode = $3";
        let intent = cx.row(sql, args![request_id, org_id, mode]).await?;
        intent.ok_or(StoreError::Missing("open inference"))?;
    }
    audit::insert(cx, terminal).await?;
    if let Some(entry) = entry {
        ledger::post(cx, org_id, mode, request_id, entry, now).await?;
        let known = |hold: &budget::Hold| hold.cycle_start == entry.cycle.start;
        if !hold.as_ref().is_some_and(known) {
            budget::open_cycle(cx, org_id, mode, entry.cycle).await?;
        }
    }
    let hold = hold.or_else(|| {
        entry.as_ref().map(|entry| budget::Hold {
            org_id: org_id.clone(),
            mode,
            cycle_start: entry.cycle.start,
            credits: svc_core::money::Micro::ZERO,
            spend: svc_core::money::Micro::ZERO,
        })
    });
    if let Some(hold) = &hold {
        let billed_in = entry
            .as_ref()
            .map_or(hold.cycle_start, |entry| entry.cycle.start);
        let used = entry.as_ref().map(|entry| entry.charge);
        budget::book(cx, hold, billed_in, used).await?;
    }
    Ok(())
}
