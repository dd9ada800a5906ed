//! What was used in a cycle, or in any span of time (contract 12.3).

use serde_json::{Map, Value, json};
use svc_core::fault::{Fault, Problems};
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_pipeline::moment;
use svc_store::budget;
use svc_store::usage::{self, Group, GroupBy, Span, Used};

use crate::call::{Answering, Call, Reply, store_fault};

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        let (cycle_start, cycle_end) = call.now.cycle(call.caller.cycle_anchor_day);
        let (span, group_by) = wanted(&mut call, cycle_start, cycle_end)?;
        let store = &call.gateway.store;
        // What was completed before this instant is in all that is read.
        let as_of = moment::now();
        let used = usage::read(store, &span, group_by, as_of).await;
        let used = used.map_err(|error| store_fault(&error))?;
        let now = budget::sums(store, &span.org_id, span.mode, cycle_start).await;
        let now = now.map_err(|error| store_fault(&error))?;
        let record = record(&span, group_by, &used, now.used_credits, as_of, &call);
        Ok(Reply::of(record))
    })
}

fn wanted(
    call: &mut Call,
    cycle_start: Timestamp,
    cycle_end: Timestamp,
) -> Result<(Span, Option<GroupBy>), Fault> {
    let mut problems = Problems::default();
    let (start, end) = (
        call.query.time("from", &mut problems),
        call.query.time("to", &mut problems),
    );
    let (from, to) = (start.unwrap_or(cycle_start), end.unwrap_or(cycle_end));
    if from > to && problems.is_empty() {
        // What was not sent is not to blame.
        let (name, problem) = match (start, end) {
            (Some(_), Some(_)) => ("$query.from", "must not be after to"),
            (Some(_), None) => ("$query.from", "is after the current cycle: give to as well"),
            (None, _) => (
                "$query.to",
                "is before the current cycle: give from as well",
            ),
        };
        problems.add(name, problem);
    }
    let group_by = call.query.word("group_by", GroupBy::parse, &mut problems);
    let mode = call.query.word("mode", Mode::parse, &mut problems);
    if mode == Some(Mode::Live) && call.caller.mode == Mode::Test {
        problems.add("$query.mode", "a test key sees test usage only");
    }
    call.query.end(&mut problems);
    problems.into_result()?;
    let span = Span {
        org_id: call.caller.organization_id.clone(),
        mode: mode.unwrap_or(call.caller.mode),
        from,
        to,
    };
    Ok((span, group_by))
}

/// The usage as contract 12.3 shows it. What remains is of the cycle that runs now, whichever span is asked for.
fn record(
    span: &Span,
    group_by: Option<GroupBy>,
    used: &Used,
    used_now: Micro,
    as_of: Timestamp,
    call: &Call,
) -> Value {
    let Used {
        credits,
        spend_usd,
        sonnet_equivalent_tokens,
        tokens,
        requests,
        actions,
        breakdown,
    } = used;
    let included = call.caller.allotment(&call.policy.plans);
    let total = requests.succeeded + requests.blocked + requests.failed + requests.cancelled;
    let lines = breakdown.iter();
    let lines = lines.filter_map(|group| Some(line(group, group_by?)));
    json!({
        "object": "usage",
        "mode": span.mode.word(),
        "period": {"start": span.from.to_string(), "end": span.to.to_string()},
        "credits_included": included.to_json(),
        "credits_used": credits.to_json(),
        "credits_remaining": (included - used_now).max(Micro::ZERO).to_json(),
        "spend_usd": spend_usd.to_json(),
        "sonnet_equivalent_tokens": sonnet_equivalent_tokens,
        "tokens": {
            "input": tokens.input_tokens,
            "output": tokens.output_tokens,
            "cache_read": tokens.cache_read_input_tokens,
            "cache_creation": tokens.cache_creation_input_tokens,
        },
        "requests": {
            "total": total,
            "succeeded": requests.succeeded,
            "blocked": requests.blocked,
            "failed": requests.failed,
            "cancelled": requests.cancelled,
        },
        "meters": {"agent_actions": actions, "api_agent_actions": actions},
        "breakdown": lines.collect::<Value>(),
        "as_of": as_of.to_string(),
    })
}

fn line(group: &Group, group_by: GroupBy) -> Value {
    let mut line = Map::new();
    line.insert(group_by.word().to_owned(), Value::from(group.name.clone()));
    line.insert("requests".to_owned(), group.requests.into());
    line.insert("credits".to_owned(), group.credits.to_json());
    line.insert("cost_usd".to_owned(), group.cost_usd.to_json());
    Value::Object(line)
}
