//! One conversation held on each surface: the provider gets the same bytes, and they mean what was said.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use svc_core::chat::ChatRequest;
use svc_core::fault::Fault;
use svc_core::surface::messages::WireVersion;
use svc_core::surface::{chat_completions, messages};
use svc_tests::fake::mark;
use svc_tests::surfaces::{MAX_TOKENS, MODELS, Surface};
use svc_tests::world::World;

use crate::engines::on_both_engines;

on_both_engines! { a_conversation_is_the_same_to_the_provider_from_every_surface }

/// Conversations tried with each provider kind.
const CASES: usize = 16;

/// A question, and what the model answered: text, and calls with their results.
#[derive(Clone, Debug)]
struct Round {
    ask: String,
    text: Option<String>,
    /// Argument and result.
    calls: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
struct Conversation {
    system: Option<String>,
    rounds: Vec<Round>,
    last: String,
}

/// Letters and marks that no detector takes for anything, and that are awkward in JSON or UTF-8.
fn words() -> impl Strategy<Value = String> {
    "[xzqé\"\\\\🦘{}:,]{1,6}[xzq \n]{0,4}[xzqé\"\\\\🦘]{1,4}"
}

fn conversation() -> impl Strategy<Value = Conversation> {
    let calls = vec((words(), words()), 0..3);
    let round = (words(), proptest::option::of(words()), calls).prop_map(|(ask, text, calls)| {
        // An answer without anything is none.
        let text = if calls.is_empty() {
            text.or(Some("well".to_owned()))
        } else {
            text
        };
        Round { ask, text, calls }
    });
    (proptest::option::of(words()), vec(round, 0..4), words()).prop_map(|(system, rounds, last)| {
        Conversation {
            system,
            rounds,
            last,
        }
    })
}

fn call_id(round: usize, at: usize) -> String {
    format!("call_{round}_{at}")
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"q": {"type": "string"}}})
}

impl Conversation {
    fn has_tools(&self) -> bool {
        self.rounds.iter().any(|round| !round.calls.is_empty())
    }

    /// What the user says in turn, the mark in front.
    fn asks(&self, mark: &str) -> Vec<String> {
        let asks = self.rounds.iter().map(|round| &round.ask);
        asks.chain([&self.last])
            .map(|ask| format!("{mark} {ask}"))
            .collect()
    }

    /// Holds it on the native surface, which keeps the history itself.
    async fn hold(&self, world: &World, key: &str, model: &str, mark: &str) {
        let mut conversation = Value::Null;
        let mut results = Vec::new();
        for (at, ask) in self.asks(mark).into_iter().enumerate() {
            let mut body =
                json!({"model": model, "max_tokens": MAX_TOKENS, "stream": false, "message": ask});
            if let Some(system) = &self.system {
                body["system"] = json!(system);
            }
            if self.has_tools() {
                body["tools"] = json!([{"name": "lookup", "input_schema": schema()}]);
            }
            if at > 0 {
                body["conversation_id"] = conversation.clone();
            }
            if !results.is_empty() {
                body["tool_results"] = json!(std::mem::take(&mut results));
            }
            if let Some(round) = self.rounds.get(at) {
                let calls = round.calls.iter().enumerate();
                let calls: Vec<Value> = calls
                    .map(|(call, (input, result))| {
                        let id = call_id(at, call);
                        results.push(json!({"tool_call_id": id, "content": result}));
                        json!({"id": id, "name": "lookup", "input": {"q": input}})
                    })
                    .collect();
                let order = json!({"contains": mark, "text": round.text, "tools": calls});
                world.fake.expect(order).await;
            }
            let request = Surface::Native.request(key, &body);
            let answer = world.gateway.answer(&request).await;
            assert_eq!(answer.status, 200, "{} {self:#?}", answer.text());
            conversation = answer.json()["data"]["conversation_id"].clone();
        }
    }

    /// The last request of it as a client of the messages surface sends it.
    fn as_messages(&self, model: &str, mark: &str) -> Value {
        let mut turns: Vec<Value> = Vec::new();
        let mut results: Vec<Value> = Vec::new();
        for (at, ask) in self.asks(mark).into_iter().enumerate() {
            let mut content = std::mem::take(&mut results);
            content.push(json!({"type": "text", "text": ask}));
            turns.push(json!({"role": "user", "content": content}));
            let Some(round) = self.rounds.get(at) else {
                break;
            };
            let text = round.text.iter();
            let mut content: Vec<Value> = text
                .map(|text| json!({"type": "text", "text": text}))
                .collect();
            for (call, (input, result)) in round.calls.iter().enumerate() {
                let id = call_id(at, call);
                content.push(
                    json!({"type": "tool_use", "id": id, "name": "lookup", "input": {"q": input}}),
                );
                results.push(json!({"type": "tool_result", "tool_use_id": id, "content": result}));
            }
            turns.push(json!({"role": "assistant", "content": content}));
        }
        let mut body =
            json!({"model": model, "max_tokens": MAX_TOKENS, "stream": false, "messages": turns});
        if let Some(system) = &self.system {
            body["system"] = json!(system);
        }
        if self.has_tools() {
            body["tools"] = json!([{"name": "lookup", "input_schema": schema()}]);
        }
        body
    }

    /// The same as a client of the chat-completions surface sends it.
    fn as_chat_completions(&self, model: &str, mark: &str) -> Value {
        let mut turns: Vec<Value> = Vec::new();
        if let Some(system) = &self.system {
            turns.push(json!({"role": "system", "content": system}));
        }
        for (at, ask) in self.asks(mark).into_iter().enumerate() {
            turns.push(json!({"role": "user", "content": ask}));
            let Some(round) = self.rounds.get(at) else {
                break;
            };
            let mut answer = json!({"role": "assistant", "content": round.text});
            let mut results = Vec::new();
            let mut calls = Vec::new();
            for (call, (input, result)) in round.calls.iter().enumerate() {
                let id = call_id(at, call);
                let arguments = json!({"q": input}).to_string();
                calls.push(json!({"id": id, "type": "function", "function": {"name": "lookup", "arguments": arguments}}));
                results.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
            }
            if !calls.is_empty() {
                answer["tool_calls"] = json!(calls);
            }
            turns.push(answer);
            turns.append(&mut results);
        }
        let mut body =
            json!({"model": model, "max_tokens": MAX_TOKENS, "stream": false, "messages": turns});
        if self.has_tools() {
            body["tools"] = json!([{"type": "function", "function": {"name": "lookup", "parameters": schema()}}]);
        }
        body
    }
}

/// Reads a body in the format of a provider kind.
fn decoded(kind: &str, body: &Value) -> Result<ChatRequest, Fault> {
    let bytes = body.to_string().into_bytes();
    let decoded = match kind {
        "A" => messages::decode(&bytes, WireVersion::Classic),
        _ => chat_completions::decode(&bytes),
    };
    decoded.map(|decoded| decoded.chat)
}

async fn a_conversation_is_the_same_to_the_provider_from_every_surface(world: &World) {
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let key = &organization.key;
    let mut runner = TestRunner::default();
    for _ in 0..CASES {
        let conversation = conversation().new_tree(&mut runner).unwrap().current();
        for (kind, model) in MODELS {
            let mark = mark();
            conversation.hold(world, key, model, &mark).await;
            let as_messages = conversation.as_messages(model, &mark);
            let as_chat = conversation.as_chat_completions(model, &mark);
            for (surface, body) in [
                (Surface::Messages, &as_messages),
                (Surface::ChatCompletions, &as_chat),
            ] {
                let answer = world.gateway.answer(&surface.request(key, body)).await;
                assert_eq!(answer.status, 200, "{} {conversation:#?}", answer.text());
            }
            let seen = world.fake.seen(&mark).await;
            let bodies: Vec<String> = seen
                .iter()
                .skip(conversation.rounds.len())
                .map(|request| request["body"].to_string())
                .collect();
            let [native, of_messages, of_chat] = &bodies[..] else {
                panic!("{} requests: {conversation:#?}", bodies.len());
            };
            assert_eq!(native, of_messages, "{conversation:#?}");
            assert_eq!(of_messages, of_chat, "{conversation:#?}");
            // What the provider reads is what was said.
            let said = if kind == "A" { &as_messages } else { &as_chat };
            let read = decoded(kind, &seen[conversation.rounds.len()]["body"]);
            let same = read.is_ok_and(|read| decoded(kind, said).is_ok_and(|said| said == read));
            assert!(same, "{native} {conversation:#?}");
        }
    }
}
