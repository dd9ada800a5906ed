//! The transactions of a trail. What is handed to the store is finished there, whether or not its caller waits;
//! the ends of runs that did not complete run on the background runtime as a whole.

use std::sync::Arc;
use std::time::Duration;

use svc_core::chat::Finish;
use svc_core::fault::{Code, Fault};
use svc_core::metering::Charge;
use svc_core::money::Micro;
use svc_core::surface::PhiMetadata;
use svc_store::audit::Row;
use svc_store::inference::{self, Opened, Progress, Settled, Settlement, TurnRefusal};
use svc_store::ledger::Entry;
use svc_store::{Store, StoreError, audit, tenant};
use tokio::sync::oneshot;

use super::refusal::{self, Refusal};
use super::row::{self, End};
use super::{Ending, Finished, Opening, Operation, Record};
use crate::budget;
use crate::caller::Caller;
use crate::conversation::{ReplyFacts, Turn};
use crate::exchange::given;
use crate::gateway::Gateway;
use crate::metrics::Timing;
use crate::moment;
use crate::owed::{Debt, Late};

/// Intent and hold in one transaction. Its end is owed for as long as the intent may stand: while it is on its way, and
/// where the answer to the commit is lost.
pub(super) async fn open(
    gateway: &Arc<Gateway>,
    record: &Record,
    intent: Row,
    opening: &mut Option<Opening>,
) -> Result<(), Fault> {
    let caller = given(record.caller.as_deref(), "the caller")?;
    let reservation = given(record.reservation.as_ref(), "the reservation")?;
    let hold = reservation.hold(gateway, caller, &record.request_id, intent.occurred_at);
    let progress = Progress::default();
    *opening = Some(Opening {
        debt: gateway.owed.run(),
        progress: progress.clone(),
    });
    let opened = inference::open(&gateway.store, &intent, &hold, &progress).await;
    let may_stand = match &opened {
        Ok(opened) => *opened == Opened::Held,
        Err(error) => error.may_have_happened(),
    };
    if !may_stand {
        *opening = None;
    }
    match opened.map_err(|error| unwritten("audit intent", &error))? {
        Opened::Held => Ok(()),
        Opened::Refused(refusal) => Err(budget::refused(&refusal, reservation.cycle)),
        Opened::AlreadyOpen => Err(Fault::internal("a request id was used twice")),
    }
}

/// A good run: charge, terminal row, postings, released hold and stored turn. It runs where it is called: a caller
/// who leaves meanwhile drops it, and the trail then settles what was not handed to the store yet.
pub(super) async fn complete(
    gateway: &Gateway,
    record: &Record,
    finish: &Finish,
    turn: Option<Turn>,
) -> Result<Finished, Fault> {
    let charge = charge(record);
    let end = End {
        ending: Ending::Completed,
        status: 200,
        code: None,
    };
    let mut settlement = settlement(record, end, charge, turn.is_some())?;
    let none = PhiMetadata::default();
    settlement.turn = turn.map(|turn| {
        turn.settled(&ReplyFacts {
            message_id: record.message_id.as_deref().unwrap_or_default(),
            model: record.model.as_ref().map_or("", |model| &model.id),
            usage: record.usage,
            credits: charge.credits,
            finish,
            phi: record.scan.as_ref().map_or(&none, |scan| &scan.phi),
            audit_id: &settlement.terminal.id,
        })
    });
    let mut settled = settle(gateway, &settlement).await?;
    if settled == Settled::TurnRefused(TurnRefusal::Gone) {
        // Erased while the model was speaking: the run is billed, and nothing of it is kept.
        settlement.turn = None;
        let details = &mut settlement.terminal.details;
        details.insert("stored".into(), false.into());
        settled = settle(gateway, &settlement).await?;
    }
    match settled {
        Settled::Done | Settled::AlreadySettled | Settled::Completed => {
            observe(gateway, record, "");
            Ok(Finished {
                usage: record.usage,
                charge,
            })
        }
        Settled::TurnRefused(_) => Err(Fault::unavailable(
            "another turn of the conversation was stored meanwhile",
        )),
        // What is neither billed nor kept is not told to be done.
        Settled::ClosedByRecovery => Err(Fault::unavailable(
            "the run was closed while this replica was taken for dead",
        )),
    }
}

/// A count: its terminal row. It runs where it is called, as [`complete`].
pub(super) async fn count(gateway: &Gateway, record: &Record) -> Result<(), Fault> {
    let end = End {
        ending: Ending::Completed,
        status: 200,
        code: None,
    };
    let settlement = settlement(record, end, Charge::default(), false)?;
    settle(gateway, &settlement).await.map(drop)
}

/// Rows that are on their way to the store on the background runtime, where no disconnect reaches them. The process
/// waits for them; whoever asked for them need not: what cannot be written while nobody waits is logged.
pub(super) struct Writing(oneshot::Receiver<Result<(), Fault>>);

impl Writing {
    /// `rows` writes what a record becomes, in the name of its organization.
    fn begin<F>(
        gateway: Arc<Gateway>,
        record: Record,
        rows: impl FnOnce(Arc<Gateway>, Record) -> F,
    ) -> Self
    where
        F: Future<Output = Result<(), Fault>> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        let (debt, background) = (gateway.owed.rows(), gateway.background.clone());
        let (request_id, tenant) = (record.request_id.clone(), tenant_of(&record));
        let rows = rows(gateway, record);
        background.spawn(tenant::in_name_of(tenant, async move {
            let _until_written = debt;
            if let Err(Err(fault)) = tell.send(rows.await) {
                let cause = fault.cause();
                tracing::error!(request_id, cause, "rows of a left request are not written");
            }
        }));
        Self(told)
    }

    /// Waits for the rows.
    ///
    /// # Errors
    /// 503 where they could not be written.
    pub(super) async fn done(self) -> Result<(), Fault> {
        let written = self.0.await;
        written.unwrap_or_else(|_| Err(Fault::internal("rows were given up")))
    }
}

/// What was opened and did not complete: its terminal row, and for a run a posting of zero credits that keeps tokens and
/// cost. It is owed until it is written.
pub(super) fn fail(gateway: Arc<Gateway>, record: Record, end: End, debt: Option<Debt>) -> Writing {
    Writing::begin(gateway, record, |gateway, record| async move {
        fail_opened(&gateway, &record, end, debt).await
    })
}

pub(super) async fn fail_opened(
    gateway: &Arc<Gateway>,
    record: &Record,
    end: End,
    debt: Option<Debt>,
) -> Result<(), Fault> {
    let settlement = if record.intention.is_some() {
        let terminal = row::terminal(record, moment::now(), end, Charge::default(), false);
        conclusion(record, terminal)?
    } else {
        // Contract 12.1: deducted for a successful response only; the operator was billed all the same.
        let charge = Charge {
            credits: Micro::ZERO,
            sonnet_equivalent_tokens: 0,
            ..charge(record)
        };
        settlement(record, end, charge, false)?
    };
    observe(gateway, record, end.code.map_or("cancelled", Code::word));
    settle_or_keep_trying(gateway, settlement, debt).await
}

/// A request that was refused after the rate limits and before its intent: both rows at once. One whose intent was on
/// its way to the store may have it (its caller left, or the answer to the commit was lost): then it was opened, and
/// ends as such. That much is owed for as long as the store is away.
pub(super) fn refuse(
    gateway: Arc<Gateway>,
    record: Record,
    end: End,
    opening: Option<Opening>,
) -> Writing {
    Writing::begin(gateway, record, |gateway, record| async move {
        let now = moment::now();
        let refusal = Refusal {
            intent: row::requested(&record, now),
            terminal: row::terminal(&record, now, end, Charge::default(), false),
            end,
            record,
        };
        let error = match refusal.write(&gateway).await {
            Ok(ended) => return ended,
            Err(error) => error,
        };
        if let Some(opening) = opening.filter(|_| error.is_outage()) {
            refusal::owe(&gateway, refusal, opening);
        }
        Err(unwritten("audit rows of a refusal", &error))
    })
}

/// A request that was refused at steps 5 to 8, or asks nothing of a model: one row.
pub(super) fn deny(gateway: Arc<Gateway>, record: Record, end: End) -> Writing {
    Writing::begin(gateway, record, |gateway, record| async move {
        let row = row::denied(&record, moment::now(), end);
        let written = audit::append(&gateway.store, &[row]).await;
        written.map_err(|error| unwritten("audit row of a denial", &error))
    })
}

/// What an endpoint was to do outside, done: its last row, and the end of its hold. It runs where it is called, as
/// [`complete`].
pub(super) async fn conclude(
    gateway: &Gateway,
    record: &Record,
    terminal: Row,
) -> Result<(), Fault> {
    let settlement = conclusion(record, terminal)?;
    match settle(gateway, &settlement).await? {
        Settled::Done | Settled::AlreadySettled | Settled::Completed => Ok(()),
        Settled::TurnRefused(_) | Settled::ClosedByRecovery => Err(Fault::unavailable(
            "the call was closed while this replica was taken for dead",
        )),
    }
}

fn conclusion(record: &Record, terminal: Row) -> Result<Settlement, Fault> {
    let caller = given(record.caller.as_deref(), "the caller")?;
    Ok(Settlement {
        request_id: record.request_id.clone(),
        org_id: caller.organization_id.clone(),
        mode: caller.mode,
        now: terminal.occurred_at,
        terminal,
        entry: None,
        turn: None,
    })
}

/// The organization whose rows a record becomes; a caller who is not known yet has none.
pub(super) fn tenant_of(record: &Record) -> Option<Arc<str>> {
    let caller = record.caller.as_ref().map(|caller| &caller.organization_id);
    let party = record.party.as_ref().map(|party| &party.organization_id);
    caller.or(party).map(|org_id| Arc::from(org_id.as_str()))
}

fn charge(record: &Record) -> Charge {
    match &record.model {
        Some(model) if record.operation == Operation::Inference => model.price.charge(record.usage),
        _ => Charge::default(),
    }
}

fn settlement(
    record: &Record,
    end: End,
    charge: Charge,
    stored: bool,
) -> Result<Settlement, Fault> {
    let caller: &Caller = given(record.caller.as_deref(), "the caller")?;
    let reservation = given(record.reservation.as_ref(), "the reservation")?;
    let model = given(record.model.as_ref(), "the model")?;
    let now = moment::now();
    let entry = || Entry {
        cycle: reservation.cycle,
        result: end.ending.outcome().word().to_owned(),
        model: model.id.clone(),
        surface: record.surface.word().to_owned(),
        actor_type: caller.actor().word().to_owned(),
        actor_id: caller.key_id.clone(),
        billed_to: record.billed_to,
        price_list: model.price_list.clone(),
        charge,
        usage: record.usage,
    };
    Ok(Settlement {
        request_id: record.request_id.clone(),
        org_id: caller.organization_id.clone(),
        mode: caller.mode,
        terminal: row::terminal(record, now, end, charge, stored),
        entry: (record.operation == Operation::Inference).then(entry),
        turn: None,
        now,
    })
}

/// A stream is settled where it is read, past the task that knew its organization.
///
/// Where the database went away, what it did with the commit is not known. The same settlement once more tells: what is
/// recorded is not recorded twice.
async fn settle(gateway: &Gateway, settlement: &Settlement) -> Result<Settled, Fault> {
    let settling = tenant::within(&settlement.org_id, async {
        let mut settled = inference::settle(&gateway.store, settlement).await;
        for (asked, wait) in ASK_AGAIN_AFTER.into_iter().enumerate() {
            match &settled {
                Err(StoreError::Unavailable(_) | StoreError::Lost(_)) => {}
                // It was waited for long enough; once more tells whether the commit held.
                Err(StoreError::TimedOut) if asked == 0 => {}
                _ => break,
            }
            tokio::time::sleep(wait).await;
            settled = inference::settle(&gateway.store, settlement).await;
        }
        settled
    });
    let settled = settling.await;
    settled.map_err(|error| unwritten("settlement", &error))
}

/// A connection that broke is made anew at once; a database that changes places takes seconds. The caller waits.
const ASK_AGAIN_AFTER: [Duration; 3] = [
    Duration::from_millis(20),
    Duration::from_millis(500),
    Duration::from_secs(2),
];

/// Settles, and goes on trying in the background for as long as the store is away: a run that was opened is settled by
/// the replica that opened it, or by recovery once that replica is gone. Where something else keeps the store from it,
/// it is tried [`ATTEMPTS`] times.
async fn settle_or_keep_trying(
    gateway: &Arc<Gateway>,
    settlement: Settlement,
    debt: Option<Debt>,
) -> Result<(), Fault> {
    let error = match inference::settle(&gateway.store, &settlement).await {
        Ok(settled) => {
            note(settled, &settlement);
            return Ok(());
        }
        Err(error) => error,
    };
    if is_owed(&error) {
        let late = gateway.owed.late();
        let trying = keep_trying(gateway.store.clone(), settlement, debt, late);
        gateway.background.spawn(tenant::inherited(trying));
    }
    Err(unwritten("settlement", &error))
}

async fn keep_trying(store: Store, settlement: Settlement, debt: Option<Debt>, late: Late) {
    let _until_settled = debt;
    let (mut wait, mut refused) = (SETTLE_AGAIN_AFTER, 0);
    loop {
        tokio::time::sleep(wait).await;
        let request_id = &settlement.request_id;
        match inference::settle(&store, &settlement).await {
            Ok(settled) => return note(settled, &settlement),
            Err(error) if error.is_outage() => wait = SETTLE_AGAIN_AFTER,
            Err(error) if is_owed(&error) && refused < ATTEMPTS => {
                refused += 1;
                wait *= 2;
                tracing::error!(request_id, %error, "a run cannot be settled yet");
            }
            Err(error) => {
                // Recovery does so when this process is gone.
                if is_owed(&error) {
                    late.for_good();
                }
                return tracing::error!(request_id, %error, "a run cannot be settled; recovery will close it");
            }
        }
    }
}

/// Whether there is something to settle: what was never opened is not.
fn is_owed(error: &StoreError) -> bool {
    !matches!(error, StoreError::Missing(_))
}

/// A run that was charged, and whose caller was told of a failure, since the answer of its commit was lost.
fn note(settled: Settled, settlement: &Settlement) {
    if settled == Settled::Completed {
        let request_id = &settlement.request_id;
        tracing::error!(
            request_id,
            "a run that was told as failed stands as completed, and charged"
        );
    }
}

/// 1 s: a store that comes back finds what it missed, one attempt per run and second.
const SETTLE_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// A quarter of an hour in all, each pause twice the one before.
const ATTEMPTS: u32 = 9;

/// Audit fails closed: what could not be written did not happen.
fn unwritten(what: &str, error: &StoreError) -> Fault {
    Fault::unavailable(format_args!("{what}: {error}"))
}

fn observe(gateway: &Gateway, record: &Record, error_type: &str) {
    let Some(model) = &record.model else { return };
    if record.operation != Operation::Inference {
        return;
    }
    let timing = Timing {
        total: record.received.elapsed(),
        first_token: record.first_token,
    };
    gateway
        .metrics
        .run(&model.id, error_type, record.usage, &timing);
}
