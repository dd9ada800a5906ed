//! Where vendors and their endpoints differ: what one kind takes and the other does not, and words and numbers that only
//! some endpoints write.

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::surfaces::{End, FORMS, Form, MODELS, SURFACES, Surface};
use svc_tests::world::World;

use super::ask;
use crate::engines::{on_sqlite, on_worlds_of_their_own};

on_sqlite! {
    a_users_name_is_sent_as_the_provider_takes_it,
    cache_writes_for_an_hour_are_charged_as_such,
    a_reply_that_may_be_cut_never_looks_whole,
    a_jpeg_goes_by_its_own_name,
    a_tools_name_is_as_long_as_its_provider_takes,
    half_a_character_does_not_end_a_reply,
    blocks_of_thinking_keep_their_own_signatures,
}

// Failures in a row would open the circuit for other tests.
on_worlds_of_their_own! { a_failure_in_the_place_of_a_stop_reason_is_a_failure }

/// The body that the provider was sent with `mark`.
async fn sent(world: &World, mark: &str) -> Value {
    world.fake.received(mark).await["body"].clone()
}

async fn a_users_name_is_sent_as_the_provider_takes_it(world: &World) {
    let organization = world.organization();
    let ask_as = async |model: &str, user: &str| {
        let mark = mark();
        let mut body = Surface::Messages.question(model, &mark, Form::Whole);
        body["metadata"] = json!({"user_id": user});
        let answer = ask(world, &organization.key, Surface::Messages, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let sent = sent(world, &mark).await;
        let user = [&sent["user"], &sent["metadata"]["user_id"]];
        let user = user.into_iter().find_map(Value::as_str);
        user.unwrap_or_else(|| panic!("{sent}")).to_owned()
    };
    for ((_, model), max_chars) in MODELS.into_iter().zip([256, 64]) {
        // What tells users apart says no more of anybody than that.
        for id in [
            "user_123",
            "u-17",
            "jdoe",
            "6f1d3c2a-8e4b-4f7a-9b1c-2d3e4f5a6b7c",
        ] {
            assert_eq!(ask_as(model, id).await, id);
        }
        let fits: String = "the quiet ward ".chars().cycle().take(max_chars).collect();
        assert_eq!(ask_as(model, &fits).await, fits);
        let long = format!("{fits}x");
        let stand_in = ask_as(model, &long).await;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        assert!(
            stand_in.len() == 64 && stand_in.bytes().all(is_hex),
            "{stand_in}"
        );
        assert_eq!(ask_as(model, &long).await, stand_in);
        assert_ne!(ask_as(model, &format!("{fits}y")).await, stand_in);
        // Unless it is somebody's address, or the prompt speaks of it.
        assert_eq!(ask_as(model, "jo@example.com").await, "[EMAIL_1]");
        // What PHI Guard has replaced is no part of it.
        let [one, other] = ["jo@example.com", "al@example.com"];
        let of_one = ask_as(model, &format!("{one} {long}")).await;
        assert_eq!(ask_as(model, &format!("{other} {long}")).await, of_one);
    }
}

/// A provider that shows nothing of it signs each block, and takes back what it has signed.
async fn blocks_of_thinking_keep_their_own_signatures(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[0];
    let blocks = [
        ("", "c2lnbmVkIG9uZQ=="),
        ("", "c2lnbmVkIHR3bw=="),
        ("Hm.", "c2lnbmVkIDM="),
    ];
    let blocks = blocks.map(
        |(text, signature)| json!({"type": "thinking", "thinking": text, "signature": signature}),
    );
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "model": "m", "usage": usage}}),
    ];
    for (at, block) in blocks.iter().enumerate() {
        let delta = |kind: &str, field: &str| {
            let delta = json!({"type": kind, field: block[field]});
            json!({"type": "content_block_delta", "index": at, "delta": delta})
        };
        let empty = json!({"type": "thinking", "thinking": "", "signature": ""});
        events.extend([
            json!({"type": "content_block_start", "index": at, "content_block": empty}),
            delta("thinking_delta", "thinking"),
            delta("signature_delta", "signature"),
            json!({"type": "content_block_stop", "index": at}),
        ]);
    }
    let reason = json!({"stop_reason": "end_turn"});
    events.extend([
        json!({"type": "message_delta", "delta": reason, "usage": usage}),
        json!({"type": "message_stop"}),
    ]);
    let stream: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    for form in FORMS {
        let mark = mark();
        let order =
            json!({"contains": mark, "raw_body": stream, "content_type": "text/event-stream"});
        world.fake.expect(order).await;
        let mut body = Surface::Messages.question(model, &mark, form);
        body["max_tokens"] = json!(2_048);
        body["thinking"] = json!({"type": "enabled", "budget_tokens": 1_024});
        let answer = ask(world, &organization.key, Surface::Messages, &body).await;
        let heard = match form {
            Form::Whole => Surface::Messages.read(&answer),
            Form::Streamed => Surface::Messages.heard(&answer),
        };
        assert_eq!(heard.reasoning, blocks, "{}", answer.text());
    }
}

async fn cache_writes_for_an_hour_are_charged_as_such(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[0];
    let minutes = json!({"type": "ephemeral", "ttl": "5m"});
    let hour = json!({"type": "ephemeral", "ttl": "1h"});
    let tool = |cache: &Value| json!([{"name": "look", "input_schema": {"type": "object"}, "cache_control": cache}]);
    // In millionths of a dollar: 1,000 tokens at $1.25 and at $2 a million, and one of output.
    let cases = [
        (json!({"cache_control": minutes}), 1_255),
        (json!({"tools": tool(&minutes)}), 1_255),
        (json!({"cache_control": hour}), 2_005),
        (json!({"tools": tool(&hour)}), 2_005),
        // One price for the mixture.
        (
            json!({"tools": tool(&hour), "cache_control": minutes}),
            2_005,
        ),
    ];
    for (fields, cost) in cases {
        let mark = mark();
        let usage =
            json!({"input_tokens": 0, "output_tokens": 1, "cache_creation_input_tokens": 1_000});
        world
            .fake
            .expect(json!({"contains": mark, "usage": usage}))
            .await;
        let mut body = Surface::Messages.question(model, &mark, Form::Whole);
        for (name, value) in fields.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let answer = ask(world, &organization.key, Surface::Messages, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let database = &world.gateway.database;
        let (debit, _) = books::postings(database, answer.request_id()).await;
        assert_eq!(debit["cost_usd_micro"], cost, "{fields}");
    }
    books::check(&world.gateway.database, &organization.id).await;
}

/// What a reply with this stop reason is called, streamed and whole, with and without a call.
async fn told(world: &World, key: &str, surface: Surface, model: &str, reason: &str) -> Value {
    let mut told = Vec::new();
    for form in FORMS {
        for calls in [json!([]), json!([{"name": "look", "input": {"a": 1}}])] {
            let mark = mark();
            let order =
                json!({"contains": mark, "text": "Well", "tools": calls, "stop_reason": reason});
            world.fake.expect(order).await;
            let mut body = surface.question(model, &mark, form);
            body["tools"] = tools(surface);
            let answer = ask(world, key, surface, &body).await;
            let heard = match form {
                Form::Streamed => surface.heard(&answer),
                Form::Whole => surface.read(&answer),
            };
            assert_eq!(heard.end, Some(End::Well), "{reason}: {}", answer.text());
            told.push(heard.finish);
        }
    }
    told.dedup();
    let [told] = &told[..] else {
        panic!("{surface:?} {model} {reason}: {told:?}");
    };
    told.clone()
}

/// A tool of the surface.
fn tools(surface: Surface) -> Value {
    let schema = json!({"type": "object"});
    match surface {
        Surface::Native | Surface::Messages => json!([{"name": "look", "input_schema": schema}]),
        Surface::ChatCompletions => {
            json!([{"type": "function", "function": {"name": "look", "parameters": schema}}])
        }
    }
}

async fn a_reply_that_may_be_cut_never_looks_whole(world: &World) {
    let organization = world.organization();
    let length = ["length", "max_tokens", "length"];
    for (_, model) in MODELS {
        for (reason, expected) in [
            ("max_tokens", length),
            ("length", length),
            ("model_length", length),
            ("repetition_truncation", length),
            ("sensitive", ["content_filter", "refusal", "content_filter"]),
            ("something_new", ["other", "max_tokens", "length"]),
        ] {
            for (surface, expected) in SURFACES.into_iter().zip(expected) {
                let told = told(world, &organization.key, surface, model, reason).await;
                assert_eq!(told, expected, "{surface:?} {model} {reason}");
            }
        }
    }
}

async fn a_failure_in_the_place_of_a_stop_reason_is_a_failure(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    for reason in [
        "error",
        "network_error",
        "insufficient_system_resource",
        "abort",
    ] {
        for (_, model) in MODELS {
            for surface in SURFACES {
                let case = format!("{reason} {surface:?} {model}");
                // A good call: failures in a row would open the circuit.
                let body = surface.question(model, &mark(), Form::Whole);
                let answer = ask(world, key, surface, &body).await;
                assert_eq!(answer.status, 200, "{case}: {}", answer.text());
                for form in FORMS {
                    let mark = mark();
                    let order = json!({"contains": mark, "event_count": 4, "stop_reason": reason});
                    world.fake.expect(order).await;
                    let body = surface.question(model, &mark, form);
                    let answer = ask(world, key, surface, &body).await;
                    let error = match form {
                        Form::Streamed => match surface.heard(&answer).end {
                            Some(End::Badly(error)) => error,
                            _ => panic!("{case}: {}", answer.text()),
                        },
                        Form::Whole => {
                            assert!(answer.status >= 500, "{case}: {}", answer.text());
                            answer.json()
                        }
                    };
                    assert_eq!(surface.code(&error), "INFERENCE_UPSTREAM_FAILURE", "{case}");
                    for success in ["[DONE]", "message_stop", "message_delta", "run.completed"] {
                        assert!(
                            !answer.text().contains(success),
                            "{case}: {}",
                            answer.text()
                        );
                    }
                    let database = &world.gateway.database;
                    let (_, terminal) = books::pair(database, answer.request_id()).await;
                    assert_eq!(terminal["event"], "inference.failed", "{case}");
                }
            }
        }
    }
    books::check(&world.gateway.database, &organization.id).await;
}

/// Whatever the caller calls it, and also where it is a tool's result.
async fn a_jpeg_goes_by_its_own_name(world: &World) {
    let organization = world.organization();
    let source = json!({"type": "base64", "media_type": "image/jpg", "data": "AQID"});
    let block = json!({"type": "image", "source": source});
    let part = json!({"type": "image_url", "image_url": {"url": "data:image/jpg;base64,AQID"}});
    for (kind, model) in MODELS {
        for (surface, image) in [
            (Surface::Messages, &block),
            (Surface::ChatCompletions, &part),
        ] {
            let mark = mark();
            let content = json!([image, {"type": "text", "text": mark}]);
            let mut body = surface.question(model, &mark, Form::Whole);
            body["messages"] = json!([{"role": "user", "content": content}]);
            let answer = ask(world, &organization.key, surface, &body).await;
            assert_eq!(answer.status, 200, "{kind} {surface:?}: {}", answer.text());
            is_sent_as_jpeg(world, &mark).await;
        }
        let asked = mark();
        let order =
            json!({"contains": asked, "tools": [{"name": "look", "input": {}, "id": "call_1"}]});
        world.fake.expect(order).await;
        let mut body = Surface::Native.question(model, &asked, Form::Whole);
        body["tools"] = tools(Surface::Native);
        let answer = ask(world, &organization.key, Surface::Native, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let mark = mark();
        let mut next = Surface::Native.question(model, &mark, Form::Whole);
        next["tools"] = tools(Surface::Native);
        next["conversation_id"] = answer.json()["data"]["conversation_id"].clone();
        next["tool_results"] = json!([{"tool_call_id": "call_1", "content": [block]}]);
        let answer = ask(world, &organization.key, Surface::Native, &next).await;
        assert_eq!(answer.status, 200, "{kind}: {}", answer.text());
        is_sent_as_jpeg(world, &mark).await;
    }
}

async fn is_sent_as_jpeg(world: &World, mark: &str) {
    let sent = sent(world, mark).await.to_string();
    assert!(
        sent.contains("image/jpeg") && !sent.contains("image/jpg"),
        "{sent}"
    );
}

async fn a_tools_name_is_as_long_as_its_provider_takes(world: &World) {
    let organization = world.organization();
    for (kind, model) in MODELS {
        for surface in SURFACES {
            for length in [64, 65, 128, 129] {
                let name = "n".repeat(length);
                let mut body = surface.question(model, &mark(), Form::Whole);
                body["tools"] = tools(surface);
                let (tool, param) = match surface {
                    Surface::ChatCompletions => {
                        (&mut body["tools"][0]["function"], "tools[0].function.name")
                    }
                    _ => (&mut body["tools"][0], "tools[0].name"),
                };
                tool["name"] = json!(name);
                let answer = ask(world, &organization.key, surface, &body).await;
                let told = match answer.status {
                    200 => None,
                    _ => Some(surface.code(&answer.json())),
                };
                let longest = if surface == Surface::ChatCompletions {
                    64
                } else {
                    128
                };
                let expected = if length > longest {
                    // No model takes it on this surface.
                    Some("VALIDATION_FAILED")
                } else if kind == "B" && length > 64 {
                    Some("UNSUPPORTED_PARAMETER")
                } else {
                    None
                };
                let case = format!("{kind} {surface:?} {length}: {}", answer.text());
                assert_eq!(told.as_deref(), expected, "{case}");
                if expected.is_some() {
                    assert_eq!(answer.json()["error"]["param"], param, "{case}");
                }
            }
        }
        long_names_of_the_history(world, &organization.key, kind, model).await;
    }
}

async fn long_names_of_the_history(world: &World, key: &str, kind: &str, model: &str) {
    let name = "n".repeat(128);
    let call = json!({"type": "tool_use", "id": "c1", "name": name, "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": "done"});
    let body = json!({"model": model, "max_tokens": 64, "messages": [
        {"role": "user", "content": "so"},
        {"role": "assistant", "content": [{"type": "text", "text": "Well"}, call]},
        {"role": "user", "content": [result]},
    ]});
    let answer = ask(world, key, Surface::Messages, &body).await;
    if kind == "A" {
        assert_eq!(answer.status, 200, "{}", answer.text());
    } else {
        let error = answer.json();
        assert_eq!(Surface::Messages.code(&error), "UNSUPPORTED_PARAMETER");
        assert_eq!(error["error"]["param"], "messages[1].content[1].name");
    }
}

/// A reply of kind A whose text and arguments have halves of characters, and whose counts have fractions.
const HALVES_OF_A: [&str; 10] = [
    r#"{"type":"message_start","message":{"type":"message","id":"m","role":"assistant","model":"x","content":[],"usage":{"input_tokens":3.0,"output_tokens":1}}}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"So \ud83d"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ude00."}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","input":{}}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":\"\\ud83d"}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\ud83d\",\"b\":\"\\ud83d\\ude00\"}"}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7.0}}"#,
];
const WHOLE_HALVES_OF_A: &str = r#"{"type":"message","id":"m","role":"assistant","model":"x","content":[{"type":"text","text":"So \ud83d\u002e"},{"type":"tool_use","id":"toolu_1","name":"look","input":{"a":"\ud83d\u0021","b":"\ud83d\ude00"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3.0,"output_tokens":7.0}}"#;

/// The same of kind B.
const HALVES_OF_B: [&str; 6] = [
    r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{"role":"assistant","content":"So \ud83d"},"finish_reason":null}]}"#,
    r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{"content":"\ude00."},"finish_reason":null}]}"#,
    r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"toolu_1","type":"function","function":{"name":"look","arguments":"{\"a\":\"\\ud83d"}}]},"finish_reason":null}]}"#,
    r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\ud83d\",\"b\":\"\\ud83d\\ude00\"}"}}]},"finish_reason":null}]}"#,
    r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    r#"{"id":"c","model":"x","choices":[],"usage":{"prompt_tokens":3.0,"completion_tokens":7.0}}"#,
];
const WHOLE_HALVES_OF_B: &str = r#"{"id":"c","model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"So \ud83d\u002e","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"look","arguments":"{\"a\":\"\\ud83d\\u0021\",\"b\":\"\\ud83d\\ude00\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3.0,"completion_tokens":7.0}}"#;

/// Events of one wire format, with the end that it has.
fn stream_of(kind: &str, events: &[&str]) -> String {
    let end = match kind {
        "A" => r#"{"type":"message_stop"}"#,
        _ => "[DONE]",
    };
    let mut stream = String::new();
    for data in events.iter().chain([&end]) {
        stream.push_str("data: ");
        stream.push_str(data);
        stream.push_str("\n\n");
    }
    stream
}

async fn half_a_character_does_not_end_a_reply(world: &World) {
    let organization = world.organization();
    for (kind, model) in MODELS {
        let (stream, whole) = match kind {
            "A" => (stream_of(kind, &HALVES_OF_A), WHOLE_HALVES_OF_A),
            _ => (stream_of(kind, &HALVES_OF_B), WHOLE_HALVES_OF_B),
        };
        for surface in SURFACES {
            for (form, sent, content_type, text, call) in [
                (
                    Form::Streamed,
                    stream.as_str(),
                    "text/event-stream",
                    "So \u{fffd}\u{fffd}.",
                    json!({"a": "\u{fffd}\u{fffd}", "b": "😀"}),
                ),
                (
                    Form::Whole,
                    whole,
                    "application/json",
                    "So \u{fffd}.",
                    json!({"a": "\u{fffd}!", "b": "😀"}),
                ),
            ] {
                let mark = mark();
                let order =
                    json!({"contains": mark, "raw_body": sent, "content_type": content_type});
                world.fake.expect(order).await;
                let mut body = surface.question(model, &mark, form);
                body["tools"] = tools(surface);
                let answer = ask(world, &organization.key, surface, &body).await;
                let heard = match form {
                    Form::Streamed => surface.heard(&answer),
                    Form::Whole => surface.read(&answer),
                };
                let case = format!("{kind} {surface:?} {form:?}: {}", answer.text());
                assert_eq!(heard.end, Some(End::Well), "{case}");
                // Chat completions have no text beside calls in a whole answer.
                if form == Form::Streamed || surface != Surface::ChatCompletions {
                    assert_eq!(heard.text, text, "{case}");
                }
                let calls: Vec<&Value> = heard.calls.iter().map(|call| &call.2).collect();
                assert_eq!(calls, [&call], "{case}");
                let counts = match surface {
                    Surface::ChatCompletions => [
                        &heard.usage["prompt_tokens"],
                        &heard.usage["completion_tokens"],
                    ],
                    _ => [&heard.usage[0], &heard.usage[1]],
                };
                assert_eq!(counts, [&json!(3), &json!(7)], "{case}");
            }
        }
    }
}
