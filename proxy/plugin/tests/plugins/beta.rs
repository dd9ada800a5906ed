//! The shipped driver for kind B in its sandbox: canonical requests against exact upstream JSON, transcripts
//! against events.

use std::sync::Arc;

use http::HeaderValue;
use serde_json::{Value, json};
use svc_core::chat::{
    ChatRequest, Document, Media, Message, Part, ResponseFormat, Role, ToolChoice, ToolResult,
};
use svc_core::sse::Frame;
use svc_plugin::{
    AuthPlacement, Driver, DriverFailure, DriverFault, DriverFaultKind, Failed, Framing, StreamEnd,
};

use crate::exchange::{
    bare, body, call, chat, content_type, driver_of, fault, frame, frames, result, run, schema,
    start, tool, turn, unparsed_call, user, words,
};
use crate::stage::BETA;

async fn driver() -> Arc<Driver> {
    driver_of("provider-beta", &BETA).await
}

#[tokio::test]
async fn a_plain_request_is_exact_to_the_byte() {
    let driver = driver().await;
    assert!(
        matches!(driver.auth(), AuthPlacement::Header { name, template } if name == "authorization" && template == "Bearer {secret}")
    );
    let mut request = chat(vec![user("Hello")]);
    request.system = vec![
        Part::text("Be brief."),
        Part::text(""),
        Part::text("Be kind."),
    ];
    let (_, upstream) = start(&driver, &request)
        .await
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(upstream.path, "/v1/chat/completions");
    assert_eq!(upstream.framing, Framing::Sse);
    assert!(!upstream.headers.contains_key("authorization"));
    assert_eq!(
        upstream.body.as_ref(),
        br#"{"model":"model-a","messages":[{"role":"system","content":"Be brief.\n\nBe kind."},{"role":"user","content":"Hello"}],"max_completion_tokens":100,"stream":true,"stream_options":{"include_usage":true}}"#
    );
    request.stream = false;
    let (_, upstream) = start(&driver, &request)
        .await
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(upstream.framing, Framing::WholeBody);
    assert_eq!(upstream.headers["accept"], "application/json");
    let body: Value = serde_json::from_slice(&upstream.body).unwrap();
    assert_eq!(
        (&body["stream"], body.get("stream_options")),
        (&json!(false), None)
    );
}

fn everything() -> ChatRequest {
    let mut request = chat(vec![
        Message {
            name: Some("ann".to_owned()),
            ..turn(
                Role::User,
                vec![
                    Part::Text {
                        text: "look".to_owned(),
                        cache_mark: Some(json!({"type": "ephemeral"})),
                    },
                    Part::Image(
                        Media::Inline {
                            media_type: "image/png".to_owned(),
                            data: vec![1, 2, 3].into(),
                        }
                        .into(),
                    ),
                    Part::Image(Media::Url("https://example.org/a.png".to_owned()).into()),
                    Part::Document(Document {
                        media: Media::Inline {
                            media_type: "application/pdf".to_owned(),
                            data: vec![4, 5].into(),
                        },
                        title: Some("t.pdf".to_owned()),
                        context: Some("c".to_owned()),
                        cache_mark: None,
                    }),
                    Part::Document(Document {
                        media: Media::Text("words".to_owned()),
                        title: Some("t".to_owned()),
                        context: None,
                        cache_mark: None,
                    }),
                ],
            )
        },
        turn(
            Role::Assistant,
            vec![
                Part::Reasoning {
                    text: "hm".to_owned(),
                    signature: Some("sig".to_owned()),
                    driver: None,
                },
                Part::RedactedReasoning {
                    data: "sealed".to_owned(),
                    driver: None,
                },
                Part::text("I look. "),
                Part::text("Now."),
                call("toolu_1", "look_up"),
            ],
        ),
        turn(
            Role::User,
            vec![Part::ToolResult(ToolResult {
                call_id: "toolu_1".to_owned(),
                is_error: true,
                content: vec![Part::text("no such"), Part::text("entry")],
                cache_mark: None,
            })],
        ),
    ]);
    request.tools = vec![tool("look_up")];
    request.tool_choice = Some(ToolChoice::Named("look_up".to_owned()));
    request.parallel_tool_calls = Some(false);
    request.sampling.temperature = Some(3.0);
    request.sampling.top_p = Some(0.5);
    request.stop_sequences = vec!["END".to_owned()];
    request.response_format = Some(ResponseFormat::JsonSchema {
        name: None,
        schema: schema(),
        strict: Some(true),
    });
    request
        .metadata
        .insert("user_id".to_owned(), "u1".to_owned());
    request.ext.insert("seed".to_owned(), json!(7));
    request.stream = false;
    request
}

#[tokio::test]
async fn every_part_and_parameter_has_its_place() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = |url: &str| json!({"type": "image_url", "image_url": {"url": url}});
    let expected = json!({
        "model": "model-a",
        "messages": [
            {"role": "user", "name": "ann", "content": [
                text("look"),
                image("data:image/png;base64,AQID"),
                image("https://example.org/a.png"),
                text("c"),
                {"type": "file", "file": {"filename": "t.pdf", "file_data": "data:application/pdf;base64,BAU="}},
                text("t\n\nwords"),
            ]},
            {"role": "assistant", "content": "I look. Now.", "tool_calls": [
                {"id": "toolu_1", "type": "function", "function": {"name": "look_up", "arguments": "{\"q\":1}"}},
            ]},
            {"role": "tool", "tool_call_id": "toolu_1", "content": "Error: no such\nentry"},
        ],
        "tools": [{"type": "function", "function": {
            "name": "look_up",
            "description": "looks up",
            "parameters": schema(),
            "strict": true,
        }}],
        "tool_choice": {"type": "function", "function": {"name": "look_up"}},
        "parallel_tool_calls": false,
        "max_completion_tokens": 100,
        "temperature": 2.0,
        "top_p": 0.5,
        "stop": ["END"],
        "response_format": {"type": "json_schema", "json_schema": {
            "name": "response", "schema": schema(), "strict": true,
        }},
        "user": "u1",
        "stream": false,
        "seed": 7,
    });
    assert_eq!(body(&*driver().await, &everything()).await, expected);
}

#[tokio::test]
async fn results_follow_their_calls_one_message_each() {
    let long = "x".repeat(50);
    let picture = Part::ToolResult(ToolResult {
        call_id: long.clone(),
        is_error: false,
        content: vec![Part::Image(
            Media::Url("https://example.org/a.png".to_owned()).into(),
        )],
        cache_mark: None,
    });
    let request = chat(vec![
        user("a"),
        turn(Role::Assistant, vec![Part::text("")]),
        turn(
            Role::Assistant,
            vec![call("call:1", "one"), call(&long, "two")],
        ),
        turn(Role::Assistant, vec![Part::text("wait")]),
        user("meanwhile"),
        turn(Role::User, vec![picture]),
        turn(Role::User, vec![result("call:1", "first")]),
    ]);
    let body = body(&*driver().await, &request).await;
    let short = body["messages"][2]["tool_calls"][1]["id"].as_str().unwrap();
    assert!(short.starts_with("call_x") && short.len() <= 40, "{short}");
    let function = |name: &str| json!({"name": name, "arguments": "{\"q\":1}"});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": ""},
            {"role": "assistant", "content": "wait", "tool_calls": [
                {"id": "call:1", "type": "function", "function": function("one")},
                {"id": short, "type": "function", "function": function("two")},
            ]},
            {"role": "tool", "tool_call_id": "call:1", "content": "first"},
            {"role": "tool", "tool_call_id": short, "content": ""},
            {"role": "user", "content": [
                {"type": "text", "text": format!("Attached to the result of {short}:")},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            ]},
            {"role": "user", "content": "meanwhile"},
        ])
    );
    // The history has calls and the request no tools: kind B needs no definitions.
    assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
}

#[tokio::test]
async fn calls_alone_stand_beside_null() {
    let request = chat(vec![
        user("a"),
        turn(Role::Assistant, vec![Part::text(""), call("c", "one")]),
        turn(Role::User, vec![result("c", "first"), Part::text("go on")]),
    ]);
    let body = body(&*driver().await, &request).await;
    assert_eq!(body["messages"][1]["content"], Value::Null);
    assert_eq!(
        body["messages"][3],
        json!({"role": "user", "content": "go on"})
    );
}

#[tokio::test]
async fn a_system_prompt_may_stand_alone() {
    let mut request = chat(Vec::new());
    request.system = vec![Part::text("Greet.")];
    let body = body(&*driver().await, &request).await;
    assert_eq!(
        body["messages"],
        json!([{"role": "system", "content": "Greet."}])
    );
}

#[tokio::test]
async fn arguments_that_are_no_json_object_go_back_as_the_model_wrote_them() {
    let driver = driver().await;
    for text in ["{\"q\": \"x", "[1]", "'é'"] {
        let request = chat(vec![
            user("a"),
            unparsed_call("c", text),
            turn(Role::User, vec![result("c", "not JSON")]),
        ]);
        let body = body(&driver, &request).await;
        assert_eq!(
            body["messages"][1]["tool_calls"][0]["function"]["arguments"],
            text
        );
    }
}

#[tokio::test]
async fn as_many_tools_as_kind_b_takes_and_loose_ones_with_any_schema_pass() {
    let driver = driver().await;
    let mut request = chat(vec![user("a")]);
    request.tools = (0..128).map(|at| tool(&format!("one_{at}"))).collect();
    request.tools[0].input_schema = json!({"type": "object", "properties": {"a": {}}});
    for strict in [None, Some(false)] {
        request.tools[0].strict = strict;
        let body = body(&driver, &request).await;
        assert_eq!(body["tools"].as_array().map(Vec::len), Some(128));
    }
}

fn document_by_address() -> Part {
    Part::Document(Document {
        media: Media::Url("https://example.org/a.pdf".to_owned()),
        title: None,
        context: None,
        cache_mark: None,
    })
}

#[tokio::test]
async fn what_kind_b_cannot_take_is_refused_by_name() {
    let driver = driver().await;
    let unsupported = DriverFaultKind::UnsupportedParameter;
    let invalid = DriverFaultKind::InvalidRequest;
    type Spoil = fn(&mut ChatRequest);
    let cases: [(DriverFaultKind, &str, Spoil); 18] = [
        (unsupported, "tools[1].name", |chat| {
            chat.tools = vec![tool(&"x".repeat(64)), tool(&"x".repeat(65))];
        }),
        (unsupported, "messages[1].content[1].name", |chat| {
            let calls = vec![Part::text("so"), call("c", &"x".repeat(65))];
            chat.messages.extend([
                turn(Role::Assistant, calls),
                turn(Role::User, vec![result("c", "done")]),
            ]);
        }),
        (unsupported, "top_k", |chat| chat.sampling.top_k = Some(3)),
        (unsupported, "thinking", |chat| {
            chat.reasoning_tokens = Some(2_000)
        }),
        (unsupported, "stop_sequences", |chat| {
            chat.stop_sequences = vec!["x".to_owned(); 5]
        }),
        (unsupported, "logprobs", |chat| {
            chat.ext.insert("must-logprobs".to_owned(), json!(true));
        }),
        (invalid, "tool_choice", |chat| {
            chat.tool_choice = Some(ToolChoice::Required)
        }),
        (invalid, "tool_choice", |chat| {
            chat.tools = vec![tool("one")];
            chat.tool_choice = Some(ToolChoice::Named("two".to_owned()));
        }),
        (invalid, "tools[0].name", |chat| {
            chat.tools = vec![tool("a b")]
        }),
        (invalid, "response_format", |chat| {
            chat.response_format = Some(ResponseFormat::JsonSchema {
                name: Some("a b".to_owned()),
                schema: json!({}),
                strict: None,
            });
        }),
        (invalid, "messages", |chat| {
            chat.messages
                .push(turn(Role::Assistant, vec![call("c", "one")]));
        }),
        (invalid, "messages", |chat| {
            chat.messages
                .push(turn(Role::Assistant, vec![call("c", "one")]));
            chat.messages.push(user("b"));
        }),
        (invalid, "messages", |chat| {
            chat.messages
                .push(turn(Role::User, vec![result("c", "of nothing")]));
        }),
        (unsupported, "messages[1].content[1].media", |chat| {
            let content = vec![Part::text("b"), document_by_address()];
            chat.messages.push(turn(Role::User, content));
        }),
        (
            unsupported,
            "messages[2].content[0].content[0].media",
            |chat| {
                let answer = ToolResult {
                    call_id: "c".to_owned(),
                    is_error: false,
                    content: vec![document_by_address()],
                    cache_mark: None,
                };
                chat.messages.extend([
                    turn(Role::Assistant, vec![call("c", "one")]),
                    turn(Role::User, vec![Part::ToolResult(answer)]),
                ]);
            },
        ),
        (unsupported, "tools", |chat| {
            chat.tools = (0..129).map(|at| tool(&format!("one_{at}"))).collect();
        }),
        (unsupported, "tools[1].strict", |chat| {
            chat.tools = vec![tool("one"), tool("two")];
            chat.tools[1].input_schema = json!({"type": "object", "properties": {"a": {}}});
        }),
        (unsupported, "response_format.strict", |chat| {
            chat.response_format = Some(ResponseFormat::JsonSchema {
                name: None,
                schema: json!({"type": "object"}),
                strict: Some(true),
            });
        }),
    ];
    for (kind, param, spoil) in cases {
        let mut request = chat(vec![user("a")]);
        spoil(&mut request);
        let refused = fault(&driver, &request).await;
        assert_eq!(
            (refused.kind, refused.param.as_deref()),
            (kind, Some(param))
        );
        assert!(!refused.retryable);
    }
    let mut tuned = chat(vec![user("a")]);
    tuned.ext.insert("must-effort".to_owned(), json!("low"));
    tuned
        .ext
        .insert("must-service_tier".to_owned(), json!("standard_only"));
    let sent = body(&driver, &tuned).await;
    assert_eq!(sent["reasoning_effort"], "low");
    assert_eq!(sent["service_tier"], "default");

    let mut inert = chat(vec![user("a")]);
    inert.ext.insert("logprobs".to_owned(), json!(true));
    inert.tool_choice = Some(ToolChoice::Auto);
    inert.parallel_tool_calls = Some(true);
    let sent = body(&driver, &inert).await;
    for name in ["logprobs", "tool_choice", "parallel_tool_calls"] {
        assert!(sent.get(name).is_none(), "{name}");
    }
}

/// With everything that real endpoints add: roles, nulls, verdicts on the prompt, mixed calls, late names.
const TRANSCRIPT: [&str; 14] = [
    r#"{"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#,
    r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"model-b-1","service_tier":"default","system_fingerprint":"fp","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x"}"#,
    r#"{"id":"chatcmpl-1","model":"model-b-1","choices":[{"index":0,"delta":{"content":"caf\u00e9"},"finish_reason":null}],"usage":null}"#,
    r#"{"id":"chatcmpl-1","model":"model-b-1","choices":[{"index":1,"delta":{"content":"another choice"},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"model-b-1","choices":[]}"#,
    r#"{"id":"chatcmpl-1","model":"model-b-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"one","arguments":""}}]},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"model-b-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":"}}]},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"model-b-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"arguments":"{\"r\""}},{"index":2,"id":"call_3","type":"function","function":{"name":"three","arguments":""}}]},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"model-b-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"model-b-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"name":"two","arguments":":2}"}}]},"finish_reason":null}]}"#,
    r#"{"id":"chatcmpl-1","model":"model-b-1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":null}"#,
    r#"{"id":"chatcmpl-1","model":"model-b-1","choices":[],"usage":{"prompt_tokens":13,"completion_tokens":31,"total_tokens":44,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":20}}}"#,
    "[DONE]",
    r#"{"id":"chatcmpl-2","choices":[{"index":0,"delta":{"content":"after the end"}}]}"#,
];

const EVENTS: [&str; 14] = [
    "started chatcmpl-1 model-b-1",
    "text café",
    "call 0 call_1 one",
    "delta 0 {\"q\":",
    "call 1 call_3 three",
    "delta 0 1}",
    "call 2 call_2 two",
    "delta 2 {\"r\":2}",
    "end 0",
    "delta 1 {}",
    "end 1",
    "end 2",
    "usage 9 31 4 0",
    "finished tool_calls tool_calls None",
];

#[tokio::test]
async fn a_transcript_gives_the_same_events_in_batches_of_any_size() {
    let driver = driver().await;
    let frames = frames(&TRANSCRIPT);
    for size in 1..=frames.len() {
        let mut run = run(&driver).await;
        let head = run
            .head(200, &content_type("text/event-stream; charset=utf-8"))
            .await;
        assert_eq!(head, Ok(Framing::Sse));
        let mut events = Vec::new();
        for batch in frames.chunks(size) {
            assert_eq!(run.push(batch, &mut events).await, Ok(()));
        }
        assert!(run.finished());
        assert_eq!(run.close(StreamEnd::Complete, &mut events).await, Ok(()));
        assert_eq!(words(&events), EVENTS, "batches of {size}");
    }
}

/// The events of a whole answer.
async fn whole(driver: &Driver, answer: &Value) -> Result<Vec<String>, Failed<DriverFailure>> {
    let mut run = run(driver).await;
    let head = run.head(200, &content_type("application/json")).await;
    assert_eq!(head, Ok(Framing::WholeBody));
    let mut events = Vec::new();
    run.push_bytes(answer.to_string().as_bytes(), &mut events)
        .await?;
    run.close(StreamEnd::Complete, &mut events).await?;
    Ok(words(&events))
}

fn answer(message: Value, reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "model-b-1",
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
        "usage": {"prompt_tokens": 13, "completion_tokens": 31, "prompt_tokens_details": null},
    })
}

#[tokio::test]
async fn a_whole_answer_gives_its_events() {
    let driver = driver().await;
    let message = json!({"role": "assistant", "content": "café", "refusal": null, "annotations": [], "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "one", "arguments": "{\"q\":1}"}},
        {"id": "call_2", "type": "function", "function": {"name": "two", "arguments": ""}},
    ]});
    let events = whole(&driver, &answer(message, "tool_calls")).await;
    assert_eq!(
        events.unwrap_or_else(|failure| panic!("{failure}")),
        [
            "started chatcmpl-1 model-b-1",
            "text café",
            "call 0 call_1 one",
            "delta 0 {\"q\":1}",
            "call 1 call_2 two",
            "end 0",
            "usage 13 31 0 0",
            "delta 1 {}",
            "end 1",
            "finished tool_calls tool_calls None",
        ]
    );
}

/// The first of two silent calls is whole: the second came behind it.
#[tokio::test]
async fn a_call_that_is_cut_off_in_front_of_its_arguments_gets_none() {
    let driver = driver().await;
    let silent = |id: &str| json!({"id": id, "type": "function", "function": {"name": "one", "arguments": ""}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [silent("call_1"), silent("call_2")]});
    let events = whole(&driver, &answer(message, "length")).await;
    assert_eq!(
        events.unwrap_or_else(|failure| panic!("{failure}")),
        [
            "started chatcmpl-1 model-b-1",
            "call 0 call_1 one",
            "call 1 call_2 one",
            "delta 0 {}",
            "end 0",
            "usage 13 31 0 0",
            "end 1",
            "finished length length None",
        ]
    );
}

/// In a whole answer the place tells calls apart: two of one id are not one call, and each can be answered.
#[tokio::test]
async fn calls_of_a_whole_answer_are_not_mixed() {
    let driver = driver().await;
    let call = |name: &str, arguments: &str| json!({"id": "x", "type": "function", "function": {"name": name, "arguments": arguments}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call("one", "{\"p\":1}"), call("two", "{\"q\":2}")]});
    let events = whole(&driver, &answer(message, "tool_calls")).await;
    assert_eq!(
        events.unwrap_or_else(|failure| panic!("{failure}")),
        [
            "started chatcmpl-1 model-b-1",
            "call 0 x one",
            "delta 0 {\"p\":1}",
            "call 1 x_1 two",
            "delta 1 {\"q\":2}",
            "end 0",
            "end 1",
            "usage 13 31 0 0",
            "finished tool_calls tool_calls None",
        ]
    );
}

#[tokio::test]
async fn every_end_has_its_reason() {
    let driver = driver().await;
    let said = json!({"role": "assistant", "content": "yes"});
    let called = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "one", "arguments": "{}"}}]});
    let declined = json!({"role": "assistant", "content": null, "refusal": "I cannot."});
    for (message, raw, last) in [
        (&said, "stop", "finished stop stop None"),
        (&said, "length", "finished length length None"),
        (
            &said,
            "content_filter",
            "finished content_filter content_filter None",
        ),
        // Words that only some endpoints have.
        (&said, "eos", "finished stop eos None"),
        (&said, "max_tokens", "finished length max_tokens None"),
        (&said, "model_length", "finished length model_length None"),
        (
            &said,
            "repetition_truncation",
            "finished length repetition_truncation None",
        ),
        (&said, "sensitive", "finished content_filter sensitive None"),
        (&said, "new_word", "finished other new_word None"),
        // A forced call ends with the ordinary word.
        (&called, "stop", "finished tool_calls stop None"),
        (&declined, "stop", "finished refusal stop None"),
    ] {
        let events = whole(&driver, &answer(message.clone(), raw)).await;
        let events = events.unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(events.last().unwrap(), last);
        if message == &declined {
            assert_eq!(events[1..3], ["declined", "text I cannot."]);
        }
    }
}

#[tokio::test]
async fn error_statuses_become_machine_words() {
    let driver = driver().await;
    let error = |code: &str| json!({"error": {"message": "John Doe asked too often", "type": "requests", "param": null, "code": code}});
    let mut busy = run(&driver).await;
    let mut headers = content_type("application/json");
    headers.insert(http::header::RETRY_AFTER, HeaderValue::from_static("3"));
    headers.insert("retry-after-ms", HeaderValue::from_static("2500"));
    assert_eq!(busy.head(429, &headers).await, Ok(Framing::WholeBody));
    let mut events = Vec::new();
    let body = error("rate_limit_exceeded").to_string();
    let expected = DriverFault {
        kind: DriverFaultKind::RateLimited,
        param: None,
        upstream_code: Some("rate_limit_exceeded".to_owned()),
        retryable: true,
        retry_after_ms: Some(2_500),
    };
    let answer = busy.push_bytes(body.as_bytes(), &mut events).await;
    assert_eq!(bare(answer), Err(DriverFailure::Fault(expected)));
    for (status, code, kind) in [
        (
            400,
            "context_length_exceeded",
            DriverFaultKind::ContextTooLong,
        ),
        (400, "content_filter", DriverFaultKind::ContentRefused),
        (429, "insufficient_quota", DriverFaultKind::UpstreamAuth),
        (404, "model_not_found", DriverFaultKind::ModelUnavailable),
    ] {
        let mut run = run(&driver).await;
        assert!(
            run.head(status, &content_type("application/json"))
                .await
                .is_ok()
        );
        let answer = run
            .push_bytes(error(code).to_string().as_bytes(), &mut events)
            .await;
        let Err(DriverFailure::Fault(fault)) = bare(answer) else {
            panic!("{status} is no failure");
        };
        assert_eq!((fault.kind, fault.retryable), (kind, false), "{code}");
        assert_eq!(fault.upstream_code.as_deref(), Some(code));
    }
    for (status, kind) in [
        (400, DriverFaultKind::InvalidRequest),
        (401, DriverFaultKind::UpstreamAuth),
        (500, DriverFaultKind::UpstreamFailure),
        (503, DriverFaultKind::Overloaded),
        (200, DriverFaultKind::Protocol),
    ] {
        let answer = run(&driver)
            .await
            .head(status, &content_type("text/html"))
            .await;
        assert!(
            matches!(bare(answer), Err(DriverFailure::Fault(fault)) if fault.kind == kind),
            "{status}"
        );
    }
}

fn kind(answer: Result<(), Failed<DriverFailure>>) -> Option<(DriverFaultKind, bool)> {
    match bare(answer) {
        Err(DriverFailure::Fault(fault)) => Some((fault.kind, fault.retryable)),
        _ => None,
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_or_badly_is_a_failure_after_its_events() {
    let driver = driver().await;
    // The finish chunk and the usage have come, the mark of the end has not.
    let begun: Vec<Frame> = frames(&TRANSCRIPT[..12]);
    for (end, expected) in [
        (StreamEnd::Complete, (DriverFaultKind::Protocol, true)),
        (StreamEnd::Truncated, (DriverFaultKind::Protocol, true)),
        (
            StreamEnd::TimedOut,
            (DriverFaultKind::UpstreamFailure, true),
        ),
        (StreamEnd::Reset, (DriverFaultKind::UpstreamFailure, true)),
    ] {
        let mut run = run(&driver).await;
        assert!(
            run.head(200, &content_type("text/event-stream"))
                .await
                .is_ok()
        );
        let mut events = Vec::new();
        assert_eq!(run.push(&begun, &mut events).await, Ok(()));
        assert_eq!(kind(run.close(end, &mut events).await), Some(expected));
        assert_eq!(words(&events), EVENTS[..13]);
    }
    for (data, expected) in [
        (
            r#"{"error":{"message":"x","type":"server_error","code":null}}"#,
            DriverFaultKind::UpstreamFailure,
        ),
        (
            r#"{"error":{"message":"x","type":"tokens","code":"rate_limit_exceeded"}}"#,
            DriverFaultKind::RateLimited,
        ),
        (
            r#"{"error":{"message":"x","type":"BadRequestError","code":400}}"#,
            DriverFaultKind::UpstreamFailure,
        ),
        (
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c"}]},"finish_reason":"tool_calls"}]}"#,
            DriverFaultKind::Protocol,
        ),
        ("<html>", DriverFaultKind::Protocol),
        ("[DONE]", DriverFaultKind::Protocol),
    ] {
        let mut run = run(&driver).await;
        assert!(
            run.head(200, &content_type("text/event-stream"))
                .await
                .is_ok()
        );
        let mut events = Vec::new();
        let sent = [frame(TRANSCRIPT[1]), frame(TRANSCRIPT[2]), frame(data)];
        let failed = kind(run.push(&sent, &mut events).await).map(|fault| fault.0);
        assert_eq!(failed, Some(expected), "{data}");
        assert_eq!(events.len(), 2, "what came before the failure counts");
    }
}

#[tokio::test]
async fn an_answer_that_is_none_is_a_failure() {
    let driver = driver().await;
    for (answer, expected) in [
        (json!({"id": "x", "choices": []}), DriverFaultKind::Protocol),
        (
            json!({"error": {"message": "x", "type": "server_error"}}),
            DriverFaultKind::UpstreamFailure,
        ),
        (
            json!({"choices": [{"index": 0, "message": {"content": "a"}, "finish_reason": null}]}),
            DriverFaultKind::Protocol,
        ),
        (json!([]), DriverFaultKind::Protocol),
    ] {
        let failed = whole(&driver, &answer).await.map(drop);
        assert_eq!(
            kind(failed).map(|fault| fault.0),
            Some(expected),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_configuration_is_refused() {
    let mut stage = crate::stage::Stage::new();
    let mut fields = serde_json::Map::new();
    fields.insert("x".to_owned(), true.into());
    stage
        .configuration
        .insert("provider-beta".to_owned(), fields);
    stage.install(
        "provider-beta",
        &BETA,
        &crate::stage::shipped_manifest("provider-beta"),
    );
    assert!(stage.open().await.driver("provider-beta").is_err());
}
