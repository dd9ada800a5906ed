//! What the parts do together. Detectors here know a fixed list of values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod disguised;
mod documents;
mod earlier;
mod listed;
mod positions;
mod redacting;
mod refusing;
mod replying;
mod restoring;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Map;

use super::*;
use crate::chat::{ChatRequest, Message, Part, Role, Sampling};

/// Callers as most are.
const RESTORED: Listener = Listener {
    gets_values: true,
    stored_messages: 0,
};

/// Kind and value of everything that the detector of a test knows.
type Values<'v> = &'v [(&'v str, &'v str)];

fn chat(messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        model: "m".into(),
        system: Vec::new(),
        has_house_prompt: false,
        messages,
        tools: Vec::new(),
        tool_choice: None,
        parallel_tool_calls: None,
        max_tokens: None,
        sampling: Sampling::default(),
        stop_sequences: Vec::new(),
        response_format: None,
        reasoning_tokens: None,
        metadata: BTreeMap::new(),
        stream: false,
        ext: Map::new(),
    }
}

fn turn(role: Role, text: &str) -> Message {
    Message {
        role,
        content: vec![Part::text(text)],
        name: None,
    }
}

/// A redactor of a reply to `text`.
fn redactor_after(text: &str, map: &PlaceholderMap) -> ReplyRedactor {
    ReplyRedactor::new(map, Arc::new(ChatRequest::of_user_text(text)))
}

fn user(text: &str) -> Message {
    turn(Role::User, text)
}

fn assistant(text: &str) -> Message {
    turn(Role::Assistant, text)
}

fn candidates<'v>(text: &str, values: Values<'v>) -> Vec<Candidate<'v>> {
    let mut found = Vec::new();
    for (kind, value) in values {
        for (start, hit) in text.match_indices(value) {
            found.push(Candidate {
                start,
                end: start + hit.len(),
                kind,
                score: 900,
                verified: false,
                partial: false,
                detector: 0,
            });
        }
    }
    found
}

fn findings(scan: &TextScan, values: Values<'_>, map: &PlaceholderMap) -> Vec<Finding> {
    let merged = merge(scan, &candidates(scan.reading().0, values), |claim, _| {
        claim.score >= 500
    });
    sweep(scan, merged, map, &Allowed::default()).unwrap()
}

fn guard(chat: &mut ChatRequest, values: Values<'_>, map: &mut PlaceholderMap) -> Counts {
    let scan = TextScan::of(chat);
    let findings = findings(&scan, values, map);
    redact(chat, &scan, &findings, map, Listener::default()).unwrap()
}

/// Redacts one user text under a map; gives what the provider sees.
fn masked(text: &str, values: Values<'_>, map: &mut PlaceholderMap) -> String {
    let mut chat = chat(vec![user(text)]);
    guard(&mut chat, values, map);
    said(&chat, 0)
}

fn said(chat: &ChatRequest, at: usize) -> String {
    match &chat.messages[at].content[0] {
        Part::Text { text, .. } => text.clone(),
        _ => panic!("no text"),
    }
}

fn table(map: &PlaceholderMap) -> Arc<RestoreTable> {
    Arc::new(RestoreTable::of(map))
}

fn unmasked(text: &str, map: &PlaceholderMap) -> String {
    restore(text, &table(map), Channel::Prose).0
}

/// Whether no JSON begins in a text, in whose strings and beside them values are written otherwise.
fn holds_no_json(text: &str) -> bool {
    text.match_indices(['{', '['])
        .all(|(at, _)| !text[at + 1..].trim_ascii_start().starts_with('"'))
}
