//! The audit log, queried (contract 14.3). Every query leaves a row of its own, with its filters.

use serde_json::json;
use svc_core::fault::Problems;
use svc_store::audit::{self, Filter};
use svc_store::page::{Order, Position};

use crate::call::{Answering, Call, Reply, store_fault};
use crate::cursor::Binding;
use crate::query::{PageSize, Query};

/// Contract 1.4.
const PAGE: PageSize = PageSize {
    default: 50,
    most: 1_000,
};
/// Events that one query may name.
const MAX_EVENTS: usize = 50;
const RESULTS: [&str; 5] = ["success", "denied", "failure", "cancelled", "unknown"];

pub(crate) fn query(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = Binding::of(&call)?;
        let asked = query.shown();
        let filter = filter(&mut query, &mut problems);
        let page = query.page_between(("from", "to"), PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let caller = &call.caller;
        let (store, organization) = (&call.gateway.store, &caller.organization_id);
        let found = audit::list(store, organization, caller.mode, &filter, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let last = found.rows.last().filter(|_| found.has_more);
        let last = last.map(|row| Position {
            at: row.occurred_at,
            id: row.id.clone(),
        });
        let count = found.rows.len();
        let rows = found.rows.into_iter().map(|row| row.document);
        Ok(Reply {
            data: rows.collect(),
            pagination: Some(query.pagination(&page, &binding, last.as_ref())),
            details: [
                ("filters".to_owned(), asked),
                ("rows".to_owned(), json!(count)),
            ]
            .into_iter()
            .collect(),
        })
    })
}

fn filter(query: &mut Query, problems: &mut Problems) -> Filter {
    let is_event = |word: &str| {
        let name = word.strip_suffix(".*").unwrap_or(word);
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'.'));
        is_name.then(|| word.to_owned())
    };
    let events = query.words("event", is_event, problems);
    if events.len() > MAX_EVENTS {
        problems.add(
            "$query.event",
            format!("must be named at most {MAX_EVENTS} times"),
        );
    }
    let known = |words: &'static [&'static str]| {
        move |word: &str| words.contains(&word).then(|| word.to_owned())
    };
    Filter {
        events,
        actor_id: query.one("actor_id", problems),
        actor_type: query.one("actor_type", problems),
        request_id: query.one("request_id", problems),
        target_type: query.one("target_type", problems),
        target_id: query.one("target_id", problems),
        result: query.word("result", known(&RESULTS), problems),
        surface: query.one("surface", problems),
        model: query.one("model", problems),
        phi_detected: query.word("phi_detected", truth, problems),
        order: query.word("order", order, problems).unwrap_or_default(),
    }
}

fn truth(word: &str) -> Option<bool> {
    match word {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn order(word: &str) -> Option<Order> {
    match word {
        "desc" => Some(Order::NewestFirst),
        "asc" => Some(Order::OldestFirst),
        _ => None,
    }
}
