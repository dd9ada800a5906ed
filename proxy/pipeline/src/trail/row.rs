//! Audit rows of what is asked of a model (contract 14.1): counts, codes and ids.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use svc_core::fault::Code;
use svc_core::metering::Charge;
use svc_core::phi::Counts;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_core::version::ApiVersion;
use svc_store::audit::{Actor, ActorKind, Outcome, Phase, Phi, Request, Row, Target};
use svc_store::ledger::BilledTo;

use super::{Ending, Intention, Operation, Record};
use crate::caller::Caller;
use crate::moment;

impl Ending {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub(crate) const fn outcome(self) -> Outcome {
        match self {
            Self::Completed => Outcome::Success,
            Self::Blocked => Outcome::Denied,
            Self::Failed => Outcome::Failure,
            Self::Cancelled => Outcome::Cancelled,
        }
    }
}

/// How a run ended, in the words of its row.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) ending: Ending,
    pub(crate) status: u16,
    pub(crate) code: Option<Code>,
}

/// The row of the intent. Its outcome is not known yet.
pub(super) fn requested(record: &Record, at: Timestamp) -> Row {
    if let Some(intention) = &record.intention {
        return intended(record, intention, Phase::Requested, "requested", at);
    }
    let mut details = common(record);
    let reservation = record.reservation.as_ref();
    if let Some(charge) = reservation.and_then(|reservation| reservation.worst_case) {
        details.insert("credits_held".into(), charge.credits.to_json());
    }
    let row = row(record, Phase::Requested, "requested", at, details);
    Row {
        outcome: Outcome::Unknown,
        ..row
    }
}

/// The row of the end. `charge` is what was billed; tokens and cost stand there for failed runs too. Of what an endpoint
/// was to do outside, it is the row of an end that it could not tell itself: it was not done, or nobody knows.
pub(super) fn terminal(
    record: &Record,
    at: Timestamp,
    end: End,
    charge: Charge,
    stored: bool,
) -> Row {
    if let Some(intention) = &record.intention {
        let happened = end.ending.word();
        return ended(
            intended(record, intention, Phase::Terminal, happened, at),
            end,
        );
    }
    let usage = record.usage;
    let mut details = common(record);
    details.insert("stored".into(), Value::from(stored));
    details.insert("input_tokens".into(), Value::from(usage.input_tokens));
    details.insert("output_tokens".into(), Value::from(usage.output_tokens));
    details.insert(
        "cache_read_input_tokens".into(),
        Value::from(usage.cache_read_input_tokens),
    );
    details.insert(
        "cache_creation_input_tokens".into(),
        Value::from(usage.cache_creation_input_tokens),
    );
    details.insert("credits".into(), charge.credits.to_json());
    details.insert("cost_usd".into(), charge.cost_usd.to_json());
    if record.billed_to == BilledTo::Organization {
        details.insert("billed_to".into(), record.billed_to.word().into());
    }
    ended(
        row(record, Phase::Terminal, end.ending.word(), at, details),
        end,
    )
}

/// A row of what an endpoint does outside, with what it is about.
fn intended(
    record: &Record,
    intention: &Intention,
    phase: Phase,
    happened: &str,
    at: Timestamp,
) -> Row {
    let Intention { target, details } = intention;
    Row {
        target: Some(target.clone()),
        ..row(record, phase, happened, at, details.clone())
    }
}

/// The one row of a request that was refused at steps 5 to 8 of the order of checks.
pub(super) fn denied(record: &Record, at: Timestamp, end: End) -> Row {
    let mut details = common(record);
    let happened = if record.operation == Operation::Solve {
        details.insert("solver_status".into(), Value::from("rejected"));
        SOLVED
    } else {
        "denied"
    };
    ended(row(record, Phase::Single, happened, at, details), end)
}

/// What the one row of a solve is called, however it ended.
const SOLVED: &str = "solve_completed";

/// What the row of a control-plane request says beside who asked.
pub struct Entry {
    /// The family and a past participle: `api_key.created`.
    pub event: String,
    pub target: Option<Target>,
    /// HTTP status of the answer.
    pub status: u16,
    pub details: Map<String, Value>,
}

/// The one row of a control-plane request that did what it was asked to.
pub(super) fn control(record: &Record, entry: Entry) -> Row {
    let Entry {
        event,
        target,
        status,
        details,
    } = entry;
    let row = row(record, Phase::Single, "", moment::now(), details);
    Row {
        event,
        outcome: Outcome::Success,
        status: Some(status),
        target,
        ..row
    }
}

/// A row as the second of two.
pub(super) fn last(row: Row) -> Row {
    Row {
        phase: Phase::Terminal,
        ..row
    }
}

pub(super) fn ended(row: Row, end: End) -> Row {
    Row {
        outcome: end.ending.outcome(),
        status: Some(end.status),
        code: end.code.map(|code| code.word().to_owned()),
        ..row
    }
}

fn row(
    record: &Record,
    phase: Phase,
    happened: &str,
    at: Timestamp,
    mut details: Map<String, Value>,
) -> Row {
    if record
        .caller
        .as_ref()
        .is_some_and(|caller| caller.is_person)
    {
        details.insert("via".into(), Value::from("ui"));
    }
    let (org_id, mode) = tenant(record).unzip();
    Row {
        id: moment::audit_id(),
        phase,
        event: format!("{}.{happened}", record.operation.word()),
        occurred_at: at,
        org_id,
        mode,
        actor: actor(record),
        request: Some(Request {
            id: record.request_id.clone(),
            method: record.method.clone(),
            path: record.path.clone(),
            surface: Some(record.surface.word().to_owned()),
            svc_version: record
                .version
                .map(|version: ApiVersion| version.word().to_owned()),
            ip: Some(record.client.clone()),
            user_agent: record.user_agent.clone(),
        }),
        target: record.message_id.clone().map(|id| Target {
            kind: "message".into(),
            id,
        }),
        outcome: Outcome::Unknown,
        status: None,
        code: None,
        phi: record.scan.as_ref().map(|scan| Phi {
            mode: scan.phi.mode.to_owned(),
            entity_counts: entity_counts(&scan.phi.counts),
            detectors: scan.detectors.clone(),
            policy_epoch: record.policy_epoch,
        }),
        model: record.model.as_ref().map(|model| model.id.clone()),
        details,
    }
}

fn entity_counts(counts: &Counts) -> BTreeMap<String, u64> {
    let counts = counts.iter();
    counts
        .map(|(kind, count)| (kind.to_owned(), count))
        .collect()
}

/// Organization and mode of whoever asks.
fn tenant(record: &Record) -> Option<(String, Mode)> {
    let caller = record.caller.as_deref();
    let caller = caller.map(|caller| (caller.organization_id.clone(), caller.mode));
    let party = record.party.as_ref();
    caller.or_else(|| party.map(|party| (party.organization_id.clone(), party.mode)))
}

fn actor(record: &Record) -> Actor {
    match (record.caller.as_deref(), &record.party) {
        (Some(caller), _) if caller.is_person => Actor {
            kind: ActorKind::User,
            id: Some(caller.key_id.clone()),
            delegating_user_id: None,
            hint: None,
        },
        (Some(caller), _) => Actor {
            kind: Caller::actor(caller),
            id: Some(caller.key_id.clone()),
            delegating_user_id: caller.delegating_user.as_ref().map(|user| user.id.clone()),
            hint: Some(caller.key_hint.clone()),
        },
        (None, Some(party)) => Actor {
            kind: party.kind,
            id: Some(party.id.clone()),
            delegating_user_id: None,
            hint: party.hint.clone(),
        },
        (None, None) => Actor {
            kind: ActorKind::Anonymous,
            id: None,
            delegating_user_id: None,
            hint: None,
        },
    }
}

/// Members of `details` in most rows, at most.
const DETAILS: usize = 12;

fn common(record: &Record) -> Map<String, Value> {
    let mut details = Map::with_capacity(DETAILS);
    if let Some(model) = &record.model {
        details.insert("provider".into(), Value::from(model.kind.word()));
    }
    details.insert("policy_epoch".into(), Value::from(record.policy_epoch));
    details
}
