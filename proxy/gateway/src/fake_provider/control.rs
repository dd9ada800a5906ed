//! The control side of the fake: tests put a script here and ask what was received.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use axum::{Json, Router};
use http::{StatusCode, Uri};
use serde_json::json;

use crate::fake_provider::journal::Journal;
use crate::fake_provider::script::{Orders, Script, TooMany};

/// What tests see and change.
#[derive(Clone)]
pub(crate) struct Control {
    pub(crate) script: Arc<Script>,
    pub(crate) journal: Arc<Journal>,
}

/// Which requests to show, and what to wait for before showing them.
struct Wanted {
    /// Only requests with a number above this.
    after: u64,
    /// Wait until so many requests have come since the last clearing.
    await_received: u64,
    /// Wait until so many of them have ended, in whatever way.
    await_ended: u64,
    timeout_ms: u64,
}

/// 10 s: longer than anything a test waits for, shorter than its patience.
const DEFAULT_TIMEOUT_MS: u64 = 10_000;

/// The routes of the control side.
pub(crate) fn router(control: Control) -> Router {
    Router::new()
        .route(
            "/_control/script",
            put(replace_script)
                .post(extend_script)
                .delete(clear_script)
                .get(show_script),
        )
        .route("/_control/requests", get(requests).delete(clear_requests))
        .layer(DefaultBodyLimit::disable())
        .with_state(control)
}

async fn replace_script(State(control): State<Control>, Json(orders): Json<Orders>) -> Response {
    waiting(control.script.replace(orders.behaviours))
}

async fn extend_script(State(control): State<Control>, Json(orders): Json<Orders>) -> Response {
    waiting(control.script.extend(orders.behaviours))
}

async fn clear_script(State(control): State<Control>) -> Response {
    waiting(control.script.replace(Vec::new()))
}

/// How many behaviours are still waiting.
async fn show_script(State(control): State<Control>) -> Response {
    waiting(Ok(control.script.waiting()))
}

/// The requests received; 408 with what there is when the awaited ones do not come.
async fn requests(State(control): State<Control>, uri: Uri) -> Response {
    let Some(wanted) = wanted(uri.query().unwrap_or_default()) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let mut counts = control.journal.counts();
    let come = counts.wait_for(|counts| {
        counts.received >= wanted.await_received && counts.ended >= wanted.await_ended
    });
    let patience = Duration::from_millis(wanted.timeout_ms);
    let status = match tokio::time::timeout(patience, come).await {
        Ok(_) => StatusCode::OK,
        Err(_) => StatusCode::REQUEST_TIMEOUT,
    };
    let counts = *counts.borrow();
    let entries = control.journal.entries(wanted.after);
    (status, Json(json!({"counts": counts, "requests": entries}))).into_response()
}

async fn clear_requests(State(control): State<Control>) -> Response {
    control.journal.clear();
    StatusCode::NO_CONTENT.into_response()
}

fn waiting(changed: Result<usize, TooMany>) -> Response {
    match changed {
        Ok(waiting) => Json(json!({"waiting": waiting})).into_response(),
        Err(TooMany) => (
            StatusCode::UNPROCESSABLE_ENTITY,
            Json(json!({"error": "too many behaviours"})),
        )
            .into_response(),
    }
}

/// Reads `name=number` pairs; none when one is unknown or no number.
fn wanted(query: &str) -> Option<Wanted> {
    let mut wanted = Wanted {
        after: 0,
        await_received: 0,
        await_ended: 0,
        timeout_ms: DEFAULT_TIMEOUT_MS,
    };
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, number) = pair.split_once('=')?;
        let field = match name {
            "after" => &mut wanted.after,
            "await_received" => &mut wanted.await_received,
            "await_ended" => &mut wanted.await_ended,
            "timeout_ms" => &mut wanted.timeout_ms,
            _ => return None,
        };
        *field = number.parse().ok()?;
    }
    Some(wanted)
}
