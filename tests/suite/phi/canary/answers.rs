//! Every place of a provider's answer where text may stand: what the fake is told, and what the caller may see of it.

use serde_json::{Value, json};

use super::places::Route;
use super::plant::Plant;
use crate::phi::ran;

/// Who sees the text around the values; the values themselves nobody may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The caller, on every surface.
    Everywhere,
    /// The caller of the messages surface, from a provider of kind A: nobody else has a place for it.
    OnMessagesFromA,
    /// Nobody: a provider's words about a failure, or what the gateway does not pass on.
    Nowhere,
}

pub(super) struct AnswerPlace {
    pub(super) name: &'static str,
    pub(super) seen: Seen,
    /// What the fake does, but for the request that it is for.
    pub(super) order: fn(&Plant) -> Value,
}

impl Seen {
    pub(super) fn by_caller(self, route: Route, kind: &str) -> bool {
        match self {
            Self::Everywhere => true,
            Self::OnMessagesFromA => route == Route::Messages && kind == "A",
            Self::Nowhere => false,
        }
    }
}

const fn says(name: &'static str, seen: Seen, order: fn(&Plant) -> Value) -> AnswerPlace {
    AnswerPlace { name, seen, order }
}

/// Pieces that cut through everything.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters
        .chunks(5)
        .map(|piece| piece.iter().collect())
        .collect()
}

#[rustfmt::skip] // One place, one line.
pub(super) const ANSWERS: &[AnswerPlace] = &[
    says("text", Seen::Everywhere, |p| json!({"text": p.text()})),
    says("text in small pieces", Seen::Everywhere, |p| json!({"text_chunks": pieces(&p.text())})),
    says("thinking", Seen::OnMessagesFromA, |p| json!({"thinking": p.text(), "text": "so"})),
    says("a tool's name", Seen::Nowhere, |p| json!({"tools": [{"name": p.text(), "input": {}}]})),
    says("sealed thinking that anybody can read", Seen::Nowhere, |p| json!({"redacted_thinking": p.text(), "text": "so"})),
    says("tool arguments", Seen::Everywhere, |p| json!({"tools": [{"name": "look", "input": {"a": [{"b": p.text()}]}}]})),
    says("keys of tool arguments", Seen::Everywhere, |p| json!({"tools": [{"name": "look", "input": {"a": {p.text(): 1}}}]})),
    says("numbers of tool arguments", Seen::Everywhere, |p| json!({"tools": [{"name": "look", "input": {"a": p.tracer, "b": p.number()}}]})),
    says("an error's words", Seen::Nowhere, |p| json!({"status": 400, "error_message": p.text()})),
    says("an error's type", Seen::Nowhere, |p| json!({"status": 400, "error_type": p.text()})),
    says("a failure's words", Seen::Nowhere, |p| json!({"status": 500, "error_message": p.text()})),
    says("a limit's words", Seen::Nowhere, |p| json!({"status": 429, "error_message": p.text(), "retry_after": "7"})),
    says("a refused credential's words", Seen::Nowhere, |p| json!({"status": 401, "error_message": p.text()})),
    says("when to come again", Seen::Nowhere, |p| json!({"status": 429, "retry_after": p.text()})),
    says("a page", Seen::Nowhere, |p| json!({"raw_body": format!("<html>{}</html>", p.text()), "content_type": "text/html"})),
    says("a page with an error", Seen::Nowhere, |p| json!({"status": 502, "raw_body": format!("<html>{}</html>", p.text()), "content_type": "text/html"})),
    says("a media type", Seen::Nowhere, |p| json!({"raw_body": "{}", "content_type": format!("text/{}", p.ssn())})),
    says("JSON of another shape", Seen::Nowhere, |p| json!({"raw_body": json!({"note": p.text(), "choices": p.text()}).to_string(), "content_type": "application/json"})),
];

/// As [`ANSWERS`], where only a stream has it. What came before the failure has been seen.
#[rustfmt::skip] // One place, one line.
pub(super) const STREAMED_ANSWERS: &[AnswerPlace] = &[
    says("an error event", Seen::Nowhere, |p| json!({"text": "so it is said", "error_event_after_events": 2, "error_message": p.text()})),
    says("an event of another shape", Seen::Nowhere, |p| json!({"raw_body": format!("data: {}\n\n", p.text()), "content_type": "text/event-stream"})),
    says("a name of an event", Seen::Nowhere, |p| json!({"raw_body": format!("event: {}\ndata: {{}}\n\n", p.text()), "content_type": "text/event-stream"})),
    says("a comment", Seen::Nowhere, |p| json!({"raw_body": format!(": {}\n\n", p.text()), "content_type": "text/event-stream"})),
    says("a provider's tool", Seen::Nowhere, |p| json!({"raw_body": ran(&p.text(), "srvtoolu_1"), "content_type": "text/event-stream"})),
    says("what a provider's tool was called for", Seen::Nowhere, |p| json!({"raw_body": ran("search", &p.text()), "content_type": "text/event-stream"})),
    says("a cut text", Seen::Everywhere, |p| json!({"text_chunks": pieces(&p.text()), "close_after_events": 30})),
];
