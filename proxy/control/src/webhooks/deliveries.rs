//! The log of deliveries: what was sent where, and with what success (contract 15.3). No body is ever shown.

use serde_json::{Value, json};
use svc_core::fault::Problems;
use svc_core::id::IdKind;
use svc_core::webhook::{AttemptError, EventName};
use svc_store::outbox::Attempt;
use svc_store::page::Position;
use svc_store::webhook_delivery::{self, Delivery, Detailed, Filter, Logged, Status};

use super::{left, seen};
use crate::call::{Answering, Call, Reply, missing, shown, store_fault};
use crate::cursor;
use crate::query::PAGE;

pub(crate) fn list(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = cursor::Binding::of(&call)?;
        let filter = Filter {
            endpoint_id: query.one("endpoint_id", &mut problems),
            statuses: query.words("status", Status::parse, &mut problems),
            event: query
                .word("event", EventName::parse, &mut problems)
                .map(EventName::word),
        };
        let page = query.page_between(("from", "to"), PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let caller = &call.caller;
        let (store, organization) = (&call.gateway.store, &caller.organization_id);
        let found = webhook_delivery::list(store, organization, caller.mode, &filter, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        seen(&call, &found.rows)?;
        let last = found.last(|(row, _)| Position::new(row.created_at, &row.id));
        let most = call.gateway.settings.webhook_max_attempts;
        let rows = found.rows.iter().map(|row| record(row, most));
        Ok(Reply::page(
            rows.collect(),
            query.pagination(&page, &binding, last.as_ref()),
        ))
    })
}

pub(crate) fn read(mut call: Call) -> Answering {
    Box::pin(async move {
        call.takes_nothing()?;
        let id = call.id("id", IdKind::Bare)?;
        let caller = &call.caller;
        let (store, organization) = (&call.gateway.store, &caller.organization_id);
        let found = webhook_delivery::find(store, organization, caller.mode, &id).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let found = found.ok_or_else(missing)?;
        left(&call)?;
        let most = call.gateway.settings.webhook_max_attempts;
        Ok(Reply::of(record(&found, most)))
    })
}

/// The delivery as contract 15.3 shows it.
fn record((delivery, attempts): &Detailed, max_attempts: u32) -> Value {
    let Delivery {
        id,
        org_id: _,
        mode: _,
        endpoint_id,
        event,
        app_id,
        entity_key,
        status,
        attempt_count,
        scheduled_count,
        next_attempt_at,
        created_at,
        delivered_at,
    } = delivery;
    // Those before the replay come on top.
    let before = attempt_count.saturating_sub(*scheduled_count);
    json!({
        "id": id,
        "object": "webhook_delivery",
        "endpoint_id": endpoint_id,
        "event": event,
        "app_id": app_id,
        "entity_key": entity_key,
        "status": status.word(),
        "attempt_count": attempt_count,
        "max_attempts": before.saturating_add(max_attempts),
        "next_attempt_at": shown(*next_attempt_at),
        "created_at": created_at.to_string(),
        "delivered_at": shown(*delivered_at),
        "attempts": attempts.iter().map(attempt).collect::<Vec<_>>(),
    })
}

fn attempt(logged: &Logged) -> Value {
    let Logged {
        number,
        triggered_by,
        attempt,
    } = logged;
    let Attempt {
        started_at,
        duration_ms,
        status_code,
        error,
        address,
    } = attempt;
    json!({
        "number": number,
        "trigger": triggered_by.word(),
        "started_at": started_at.to_string(),
        "duration_ms": duration_ms,
        "status_code": status_code,
        "error": error.map(AttemptError::word),
        "address": address,
    })
}
