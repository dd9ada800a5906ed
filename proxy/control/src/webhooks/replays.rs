//! Replays: deliveries that are sent again, by their ids or by what they have in common (contract 15.3).

use http::StatusCode;
use serde_json::{Value, json};
use svc_core::fault::{Fault, Problems};
use svc_core::id::IdKind;
use svc_core::surface::fields::Fields;
use svc_core::webhook::EventName;
use svc_pipeline::moment;
use svc_store::webhook_delivery::{Filter, Status};
use svc_store::webhook_replay::{self, Intent, Replay, Skipped, USUAL, Wanted};

use super::{available, left};
use crate::call::{Answering, Call, Deciding, Effect, Reply, change, missing, store_fault};
use crate::input::{self, MAX_ITEMS};

/// Contract 15.3.
const MAX_IDS: usize = 1_000;
/// Contract 1.1: longest identifier.
const MAX_ID_CHARS: usize = 64;
const KIND: &str = "bulk_replay";

pub(crate) fn create(mut call: Call) -> Deciding {
    Box::pin(async move {
        let (wanted, intent) = read_body(&mut call)?;
        available(&call)?;
        let caller = &call.caller;
        let asked = webhook_replay::Call {
            id: moment::id(IdKind::BulkReplay),
            org_id: caller.organization_id.clone(),
            mode: caller.mode,
            wanted,
            intent,
            now: call.now,
        };
        Ok(change(move |mut tx| {
            Box::pin(async move {
                let replay = webhook_replay::replay(&mut tx, &asked).await?;
                let is_dry = asked.intent == Intent::DryRun;
                let data = if is_dry {
                    let mut data = record(&replay, "dry_run");
                    data["id"] = Value::Null;
                    data
                } else {
                    record(&replay, "queued")
                };
                let effect = Effect {
                    status: StatusCode::ACCEPTED,
                    ..Effect::new("replayed", KIND, &replay.id, data)
                };
                let effect = effect.detail("dry_run", is_dry);
                let effect = effect.detail("matched", replay.matched);
                Ok(effect.detail("enqueued", replay.enqueued))
            })
        }))
    })
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let id = call.id("id", IdKind::BulkReplay)?;
        let caller = &call.caller;
        let (store, organization) = (&call.gateway.store, &caller.organization_id);
        let found = webhook_replay::find(store, organization, caller.mode, &id).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let (replay, is_open) = found.ok_or_else(missing)?;
        left(&call)?;
        let status = if is_open { "queued" } else { "completed" };
        Ok(Reply::of(record(&replay, status)))
    })
}

fn read_body(call: &mut Call) -> Result<(Wanted, Intent), Fault> {
    let mut problems = Problems::default();
    call.query.end(&mut problems);
    let mut fields = Fields::top(std::mem::take(&mut call.body));
    let both = (fields.has("delivery_ids"), fields.has("filter"));
    if both.0 == both.1 {
        problems.add("$body", "must have exactly one of delivery_ids and filter");
    }
    let ids = ids(&mut fields, &mut problems);
    let matching = matching(&mut fields, &mut problems);
    let is_dry = fields.boolean("dry_run", &mut problems).unwrap_or(false);
    fields.end_strictly(&mut problems);
    problems.into_result()?;
    let wanted = match (ids, matching) {
        (Some(ids), None) => Wanted::Ids(ids),
        (None, Some(matching)) => matching,
        _ => {
            let reason = "a replay passed validation without its deliveries";
            return Err(Fault::internal(reason));
        }
    };
    let intent = if is_dry {
        Intent::DryRun
    } else {
        Intent::Enqueue
    };
    Ok((wanted, intent))
}

fn ids(fields: &mut Fields, problems: &mut Problems) -> Option<Vec<String>> {
    let ids = fields.take("delivery_ids")?;
    let mut repeated = input::repeated();
    let wrong = |id: &str| repeated(id).or_else(|| input::other_length(id, 0..=MAX_ID_CHARS));
    input::texts(ids, "delivery_ids", 1..=MAX_IDS, problems, wrong)
}

fn matching(fields: &mut Fields, problems: &mut Problems) -> Option<Wanted> {
    let mut fields = Fields::of(fields.take("filter")?, "filter", problems)?;
    let endpoint_id = fields.required_string("endpoint_id", problems);
    fields.require("from", problems);
    let from = input::time(&mut fields, "from", problems);
    let to = input::time(&mut fields, "to", problems);
    let statuses = statuses(&mut fields, problems);
    let events: Vec<&'static str> = EventName::ALL.iter().map(|name| name.word()).collect();
    let event = fields.word("event", &events, problems);
    fields.end_strictly(problems);
    Some(Wanted::Matching {
        filter: Filter {
            endpoint_id: Some(endpoint_id?),
            statuses,
            event,
        },
        from: from?,
        to,
    })
}

fn statuses(fields: &mut Fields, problems: &mut Problems) -> Vec<Status> {
    let path = fields.path_to("status");
    let Some(value) = fields.take("status") else {
        return USUAL.to_vec();
    };
    let words = input::texts(value, &path, 1..=MAX_ITEMS, problems, |word| {
        let is_unknown = Status::parse(word).is_none();
        is_unknown.then(|| "is not a known status".to_owned())
    });
    let statuses = words
        .iter()
        .flatten()
        .filter_map(|word| Status::parse(word));
    statuses.collect()
}

/// What a call came to, as contract 15.3 shows it.
fn record(replay: &Replay, status: &str) -> Value {
    let Replay {
        id,
        org_id: _,
        mode: _,
        matched,
        enqueued,
        skipped,
        truncated,
        created_at: _,
    } = replay;
    let skipped: Value = skipped
        .iter()
        .map(|Skipped { id, reason }| json!({"id": id, "reason": reason.word()}))
        .collect();
    json!({
        "id": id,
        "object": KIND,
        "status": status,
        "matched": matched,
        "enqueued": enqueued,
        "skipped": skipped,
        "truncated": truncated,
    })
}
