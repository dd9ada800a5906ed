//! A reply says the same streamed and whole, on every surface, from either provider kind.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::surfaces::{End, FORMS, Form, Heard, MODELS, SURFACES, Surface};
use svc_tests::wire::Answer;
use svc_tests::world::World;

use crate::engines::on_sqlite;

on_sqlite! {
    every_reply_says_the_same_streamed_and_whole,
    what_a_reply_says_may_be_sent_back,
}

/// Replies tried; each is given twelve times.
const CASES: usize = 24;

/// What a provider says.
#[derive(Clone, Debug)]
struct Reply {
    thinking: Option<String>,
    is_sealed: bool,
    text: Vec<String>,
    /// Arguments of each call.
    calls: Vec<Value>,
    /// Input, output, read from the cache.
    usage: [u32; 3],
    is_cut_short: bool,
}

/// Letters and marks that no detector takes for anything, and that are awkward in JSON or UTF-8.
fn words() -> impl Strategy<Value = String> {
    "[xzqé\"\\\\\n 🦘{}:,\u{301}]{1,10}"
}

fn arguments() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_i64..10).prop_map(Value::from),
        words().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec(("[xzqj\"]{1,4}", inner), 0..3)
                .prop_map(|fields| fields.into_iter().collect::<Value>()),
        ]
    });
    vec(("[xzqj]{1,6}", value), 0..3).prop_map(|fields| fields.into_iter().collect::<Value>())
}

fn reply() -> impl Strategy<Value = Reply> {
    let usage = (1_u32..900, 1_u32..900, 0_u32..900);
    (
        proptest::option::of(words()),
        any::<bool>(),
        vec(words(), 0..5),
        vec(arguments(), 0..4),
        usage,
        any::<bool>(),
    )
        .prop_map(
            |(thinking, is_sealed, text, calls, usage, is_cut_short)| Reply {
                thinking,
                is_sealed,
                text,
                calls,
                usage: [usage.0, usage.1, usage.2],
                is_cut_short,
            },
        )
}

impl Reply {
    /// The behaviour of the fake; kind B has no reasoning to show.
    fn order(&self, kind: &str, mark: &str) -> Value {
        let [input, output, cached] = self.usage;
        let calls = self.calls.iter().enumerate();
        let calls: Vec<Value> = calls
            .map(
                |(at, input)| json!({"id": format!("call_{at}"), "name": "lookup", "input": input}),
            )
            .collect();
        let mut order = json!({
            "contains": mark, "times": 2, "text_chunks": self.text, "tools": calls,
            "usage": {"input_tokens": input, "output_tokens": output, "cache_read_input_tokens": cached},
        });
        if kind == "A" {
            order["thinking"] = json!(self.thinking);
            if self.is_sealed {
                order["redacted_thinking"] = json!("c2VhbGVk");
            }
        }
        if self.is_cut_short && self.calls.is_empty() {
            let word = if kind == "A" { "max_tokens" } else { "length" };
            order["stop_reason"] = json!(word);
        }
        order
    }

    /// What every surface must say of it.
    fn check(&self, surface: Surface, kind: &str, heard: &Heard) {
        let calls = self.calls.iter().enumerate();
        let calls: Vec<(String, String, Value)> = calls
            .map(|(at, input)| (format!("call_{at}"), "lookup".to_owned(), input.clone()))
            .collect();
        assert_eq!(heard.calls, calls);
        // Beside calls, this surface has no text in the whole answer (wire.md 2, point 14).
        if surface != Surface::ChatCompletions || calls.is_empty() {
            assert_eq!(heard.text, self.text.concat());
        }
        let shown = usize::from(self.thinking.is_some()) + usize::from(self.is_sealed);
        let is_shown = surface == Surface::Messages && kind == "A";
        assert_eq!(heard.reasoning.len(), if is_shown { shown } else { 0 });
        assert_eq!(heard.end, Some(End::Well));
    }
}

async fn every_reply_says_the_same_streamed_and_whole(world: &World) {
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let mut runner = TestRunner::default();
    for _ in 0..CASES {
        let reply = reply().new_tree(&mut runner).unwrap().current();
        for (kind, model) in MODELS {
            for surface in SURFACES {
                let mark = mark();
                world.fake.expect(reply.order(kind, &mark)).await;
                let mut heard = Vec::new();
                for form in FORMS {
                    let body = surface.question(model, &mark, form);
                    let request = surface.request(&organization.key, &body);
                    let answer = world.gateway.answer(&request).await;
                    let said = match form {
                        Form::Streamed => surface.heard(&answer),
                        Form::Whole => surface.read(&answer),
                    };
                    reply.check(surface, kind, &said);
                    heard.push(said);
                }
                if surface == Surface::ChatCompletions && !reply.calls.is_empty() {
                    heard.iter_mut().for_each(|said| said.text.clear());
                }
                assert_eq!(heard[0], heard[1], "{surface:?} {kind} {reply:#?}");
            }
        }
    }
}

/// Models call tools that nobody has named, by names that no tool may have, and write what is no text.
async fn what_a_reply_says_may_be_sent_back(world: &World) {
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let key = &organization.key;
    for (_, model) in MODELS {
        for surface in SURFACES {
            for form in FORMS {
                let mark = mark();
                let input = json!({"x": "a\0b"});
                let call =
                    json!({"id": "call_1", "name": "multi_tool_use.parallel", "input": input});
                let order = json!({"contains": mark, "text": "so\0", "tools": [call]});
                world.fake.expect(order).await;
                let mut body = surface.question(model, &mark, form);
                body["tools"] = lookup(surface);
                let answer = super::ask(world, key, surface, &body).await;
                let heard = match form {
                    Form::Streamed => surface.heard(&answer),
                    Form::Whole => surface.read(&answer),
                };
                let [(id, name, arguments)] = heard.calls.as_slice() else {
                    panic!("{}", answer.text());
                };
                assert_eq!((&**id, &**name), ("call_1", "unnamed_tool"));
                assert_eq!(arguments, &json!({"x": "a\u{fffd}b"}));
                assert!(!answer.text().contains("\\u0000"), "{}", answer.text());
                let back = answered(surface, body, &answer, arguments);
                let next = super::ask(world, key, surface, &back).await;
                assert_eq!(next.status, 200, "{model} {}", next.text());
            }
        }
    }
}

fn lookup(surface: Surface) -> Value {
    let schema = json!({"type": "object"});
    match surface {
        Surface::Native | Surface::Messages => json!([{"name": "lookup", "input_schema": schema}]),
        Surface::ChatCompletions => {
            json!([{"type": "function", "function": {"name": "lookup", "parameters": schema}}])
        }
    }
}

/// The request that follows a reply with one call: its result.
fn answered(surface: Surface, mut body: Value, reply: &Answer, arguments: &Value) -> Value {
    let (id, name) = ("call_1", "unnamed_tool");
    let turns = match surface {
        Surface::Native => {
            let text = reply.text();
            let conversation = text.split("\"conversation_id\":\"").nth(1).unwrap();
            let conversation = conversation.split('"').next().unwrap();
            let results =
                json!([{"tool_call_id": id, "content": "no such tool", "is_error": true}]);
            return json!({
                "model": body["model"], "conversation_id": conversation, "tool_results": results,
                "tools": body["tools"],
            });
        }
        Surface::Messages => {
            let call = json!({"type": "tool_use", "id": id, "name": name, "input": arguments});
            let result =
                json!({"type": "tool_result", "tool_use_id": id, "content": "no such tool"});
            [
                json!({"role": "assistant", "content": [call]}),
                json!({"role": "user", "content": [result]}),
            ]
        }
        Surface::ChatCompletions => {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            let call = json!({"id": id, "type": "function", "function": function});
            [
                json!({"role": "assistant", "content": null, "tool_calls": [call]}),
                json!({"role": "tool", "tool_call_id": id, "content": "no such tool"}),
            ]
        }
    };
    body["messages"].as_array_mut().unwrap().extend(turns);
    body
}
