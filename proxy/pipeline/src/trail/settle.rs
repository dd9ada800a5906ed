//! The transactions of a trail. What is handed to the store is finished there, whether or not its caller waits;
//! the ends of runs that did not complete run on the background runtime as a whole.

use std::sync::Arc;
use std::time::Duration;

use svc_core::chat::Finish;
use svc_core::fault::{Code, Fault};
use svc_core::metering::Charge;
use svc_core::money::Micro;
use svc_core::surface::PhiMetadata;
use svc_store::inference::{self, Opened, Settled, Settlement, TurnRefusal};
use svc_store::ledger::Entry;
use svc_store::{StoreError, audit, tenant};

use super::row::{self, End};
use super::{Ending, Finished, Operation, Record};
use crate::budget;
use crate::caller::Caller;
use crate::conversation::{ReplyFacts, Turn};
use crate::exchange::given;
use crate::gateway::Gateway;
use crate::metrics::Timing;
use crate::moment;

/// Intent and hold in one transaction.
pub(super) async fn open(gateway: &Arc<Gateway>, record: &Record) -> Result<(), Fault> {
    let caller = given(record.caller.as_deref(), "the caller")?;
    let reservation = given(record.reservation.as_ref(), "the reservation")?;
    let now = moment::now();
    let intent = row::requested(record, now);
    let hold = reservation.hold(gateway, caller, &record.request_id, now);
    let opened = inference::open(&gateway.store, &intent, &hold).await;
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
        Settled::Done | Settled::AlreadySettled => {
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

/// An opened run that did not complete: terminal row and a posting of zero credits that keeps tokens and cost.
pub(super) async fn fail(
    gateway: Arc<Gateway>,
    record: Record,
    ending: Ending,
    status: u16,
    code: Option<Code>,
) -> Result<(), Fault> {
    let background = gateway.background.clone();
    let tenant = tenant_of(&record);
    let end = End {
        ending,
        status,
        code,
    };
    let settling = background.spawn(tenant::in_name_of(tenant, async move {
        fail_opened(&gateway, &record, end).await
    }));
    settling
        .await
        .map_err(|error| Fault::internal(format_args!("settling a run: {error}")))?
}

async fn fail_opened(gateway: &Arc<Gateway>, record: &Record, end: End) -> Result<(), Fault> {
    // Contract 12.1: deducted for a successful response only; the operator was billed all the same.
    let charge = Charge {
        credits: Micro::ZERO,
        sonnet_equivalent_tokens: 0,
        ..charge(record)
    };
    let settlement = settlement(record, end, charge, false)?;
    observe(gateway, record, end.code.map_or("cancelled", Code::word));
    settle_or_keep_trying(gateway, settlement).await
}

/// A request that was refused after the rate limits and before its intent: both rows at once. One whose caller left
/// while the intent was on its way to the store may have it: then it was opened, and ends as such.
pub(super) async fn refuse(
    gateway: Arc<Gateway>,
    record: Record,
    ending: Ending,
    status: u16,
    code: Option<Code>,
) -> Result<(), Fault> {
    let background = gateway.background.clone();
    let tenant = tenant_of(&record);
    let settling = background.spawn(tenant::in_name_of(tenant, async move {
        let now = moment::now();
        let intent = row::requested(&record, now);
        let end = End {
            ending,
            status,
            code,
        };
        let terminal = row::terminal(&record, now, end, Charge::default(), false);
        let written = inference::refuse(&gateway.store, &intent, &terminal).await;
        if written.map_err(|error| unwritten("audit rows of a refusal", &error))? {
            Ok(())
        } else {
            fail_opened(&gateway, &record, end).await
        }
    }));
    settling
        .await
        .map_err(|error| Fault::internal(format_args!("auditing a refusal: {error}")))?
}

/// A request that was refused at steps 5 to 8, or asks nothing of a model: one row.
pub(super) async fn deny(
    gateway: Arc<Gateway>,
    record: Record,
    ending: Ending,
    status: u16,
    code: Option<Code>,
) -> Result<(), Fault> {
    let background = gateway.background.clone();
    let tenant = tenant_of(&record);
    let settling = background.spawn(tenant::in_name_of(tenant, async move {
        let end = End {
            ending,
            status,
            code,
        };
        let row = row::denied(&record, moment::now(), end);
        audit::append(&gateway.store, &[row])
            .await
            .map_err(|error| unwritten("audit row of a denial", &error))
    }));
    settling
        .await
        .map_err(|error| Fault::internal(format_args!("auditing a denial: {error}")))?
}

/// The organization whose rows a record becomes; a caller who is not known yet has none.
fn tenant_of(record: &Record) -> Option<Arc<str>> {
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
async fn settle(gateway: &Gateway, settlement: &Settlement) -> Result<Settled, Fault> {
    let settling = inference::settle(&gateway.store, settlement);
    let settled = tenant::within(&settlement.org_id, settling).await;
    settled.map_err(|error| unwritten("settlement", &error))
}

/// Settles, and goes on trying in the background while the store is down: a run that was opened is settled by
/// the replica that opened it, or by recovery once that replica is gone.
async fn settle_or_keep_trying(
    gateway: &Arc<Gateway>,
    settlement: Settlement,
) -> Result<(), Fault> {
    let error = match inference::settle(&gateway.store, &settlement).await {
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    if error.is_outage() {
        let trying = Arc::clone(gateway);
        trying.metrics.unsettled.inc();
        gateway.background.spawn(async move {
            loop {
                tokio::time::sleep(SETTLE_AGAIN_AFTER).await;
                match inference::settle(&trying.store, &settlement).await {
                    Ok(_) => break,
                    Err(error) if error.is_outage() => {}
                    Err(error) => {
                        let request_id = settlement.request_id;
                        tracing::error!(request_id, %error, "a run cannot be settled; recovery will close it");
                        break;
                    }
                }
            }
            trying.metrics.unsettled.dec();
        });
    }
    Err(unwritten("settlement", &error))
}

/// 1 s: a store that comes back finds what it missed, one attempt per run and second.
const SETTLE_AGAIN_AFTER: Duration = Duration::from_secs(1);

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
