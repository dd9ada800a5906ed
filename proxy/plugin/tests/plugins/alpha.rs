//! The shipped driver for kind A in its sandbox: canonical requests against exact upstream JSON, transcripts
//! against events.

use std::sync::Arc;

use http::HeaderValue;
use serde_json::{Value, json};
use svc_core::chat::{
    Document, Media, Part, ResponseFormat, Role, Sampling, ToolChoice, ToolResult,
};
use svc_core::sse::Frame;
use svc_plugin::{
    AuthPlacement, Driver, DriverFailure, DriverFault, DriverFaultKind, Failed, Framing, StreamEnd,
};

use crate::exchange::{
    bare, body, call, chat, content_type, driver_of, fault, result, run, schema, start, tool, turn,
    unparsed_call, user, words,
};
use crate::stage::ALPHA;

async fn driver() -> Arc<Driver> {
    driver_of("provider-alpha", &ALPHA).await
}

#[tokio::test]
async fn a_plain_request_is_exact_to_the_byte() {
    let driver = driver().await;
    assert!(
        matches!(driver.auth(), AuthPlacement::Header { name, template } if name == "x-api-key" && template == "{secret}")
    );
    let mut request = chat(vec![user("Hello")]);
    request.system = vec![Part::text("Be brief.")];
    let (_, upstream) = start(&driver, &request)
        .await
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(upstream.path, "/v1/messages");
    assert_eq!(upstream.framing, Framing::Sse);
    assert_eq!(upstream.headers["anthropic-version"], "2023-06-01");
    assert_eq!(
        upstream.body.as_ref(),
        br#"{"model":"model-a","max_tokens":100,"system":"Be brief.","messages":[{"role":"user","content":[{"type":"text","text":"Hello"}]}],"stream":true}"#
    );
}

#[tokio::test]
async fn every_part_has_its_block() {
    let mut request = chat(vec![
        turn(
            Role::User,
            vec![
                Part::Text {
                    text: "look".to_owned(),
                    cache_mark: Some(json!({"type": "ephemeral", "ttl": "1h"})),
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
                    media: Media::Text("words".to_owned()),
                    title: Some("t".to_owned()),
                    context: Some("c".to_owned()),
                    cache_mark: None,
                }),
            ],
        ),
        turn(
            Role::Assistant,
            vec![
                Part::Reasoning {
                    text: "hm".to_owned(),
                    signature: Some("sig".to_owned()),
                    driver: None,
                },
                Part::Reasoning {
                    text: "foreign".to_owned(),
                    signature: None,
                    driver: None,
                },
                Part::RedactedReasoning {
                    data: "sealed".to_owned(),
                    driver: None,
                },
                Part::text(""),
                call("toolu_1", "look_up"),
            ],
        ),
        turn(
            Role::User,
            vec![Part::ToolResult(ToolResult {
                call_id: "toolu_1".to_owned(),
                is_error: true,
                content: Vec::new(),
                cache_mark: None,
            })],
        ),
    ]);
    request.tools = vec![tool("look_up")];
    request.tool_choice = Some(ToolChoice::Named("look_up".to_owned()));
    request.parallel_tool_calls = Some(false);
    request.sampling = Sampling {
        temperature: Some(1.7),
        top_p: Some(0.5),
        top_k: Some(3),
    };
    request.stop_sequences = vec!["END".to_owned()];
    request.max_tokens = Some(4_000);
    request.response_format = Some(ResponseFormat::JsonSchema {
        name: None,
        schema: schema(),
        strict: Some(true),
    });
    request.tools[0].input_examples = Some(json!([{"q": 1}]));
    request
        .metadata
        .insert("user_id".to_owned(), "u1".to_owned());
    request.stream = false;
    let expected = json!({
        "model": "model-a",
        "max_tokens": 4000,
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "look", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AQID"}},
                {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"},
                 "title": "t", "context": "c"},
            ]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "redacted_thinking", "data": "sealed"},
                {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {"q": 1}},
            ]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true}]},
        ],
        "tools": [{
            "name": "look_up",
            "description": "looks up",
            "input_schema": schema(),
            "input_examples": [{"q": 1}],
            "strict": true,
            "cache_control": {"type": "ephemeral"},
        }],
        "tool_choice": {"type": "tool", "name": "look_up", "disable_parallel_tool_use": true},
        "temperature": 1.0,
        "top_p": 0.5,
        "top_k": 3,
        "stop_sequences": ["END"],
        "output_config": {"format": {"type": "json_schema", "schema": schema()}},
        "metadata": {"user_id": "u1"},
        "stream": false,
    });
    assert_eq!(body(&*driver().await, &request).await, expected);
}

#[tokio::test]
async fn only_what_is_promised_is_said_in_words_of_a_grammar() {
    let driver = driver().await;
    let open = json!({"type": "object", "properties": {"z": {"type": "integer", "minimum": 1}, "a": {"type": "null"}}});
    let mut request = chat(vec![user("a")]);
    let mut tools = vec![tool("plain"), tool("strict")];
    tools[0].strict = None;
    for tool in &mut tools {
        tool.input_schema = open.clone();
    }
    request.tools = tools;
    let sent = body(&driver, &request).await;
    assert_eq!(sent["tools"][0]["input_schema"], open);
    // In the order in which they stand: the model answers in it.
    assert_eq!(
        sent["tools"][1]["input_schema"]["properties"].to_string(),
        r#"{"z":{"type":"integer","description":"{\"minimum\":1}"},"a":{"type":"null"}}"#
    );
    assert_eq!(
        sent["tools"][1]["input_schema"]["additionalProperties"],
        json!(false)
    );

    request.tools[1].input_schema["additionalProperties"] = json!({"type": "string"});
    let refused = fault(&driver, &request).await;
    assert_eq!(
        (refused.kind, refused.param.as_deref()),
        (
            DriverFaultKind::UnsupportedParameter,
            Some("tools[1].strict")
        )
    );
    let mut request = chat(vec![user("a")]);
    request.response_format = Some(ResponseFormat::JsonSchema {
        name: None,
        schema: json!({"type": "object"}),
        strict: None,
    });
    let refused = fault(&driver, &request).await;
    assert_eq!(
        (refused.kind, refused.param.as_deref()),
        (
            DriverFaultKind::UnsupportedParameter,
            Some("response_format.schema")
        )
    );
}

#[tokio::test]
async fn turns_merge_results_come_first_and_foreign_ids_are_mapped() {
    let request = chat(vec![
        user("a"),
        turn(Role::Assistant, vec![Part::text("")]),
        user("b"),
        turn(
            Role::Assistant,
            vec![call("call:1", "one"), call("call.1", "two")],
        ),
        user("meanwhile"),
        turn(Role::User, vec![result("call.1", "second")]),
        turn(Role::User, vec![result("call:1", "first")]),
    ]);
    let text = |text: &str| json!({"type": "text", "text": text});
    let answer = |id: &str, words: &str| json!({"type": "tool_result", "tool_use_id": id, "content": [text(words)]});
    let body = body(&*driver().await, &request).await;
    let input = json!({"q": 1});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [text("a"), text("b")]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "x_63616c6c3a31", "name": "one", "input": input},
                {"type": "tool_use", "id": "x_63616c6c2e31", "name": "two", "input": input},
            ]},
            {"role": "user", "content": [
                answer("x_63616c6c3a31", "first"),
                answer("x_63616c6c2e31", "second"),
                text("meanwhile"),
            ]},
        ])
    );
    // The history has calls and the request no tools: definitions are made up and none may be called.
    let schema = json!({"type": "object"});
    assert_eq!(
        body["tools"],
        json!([{"name": "one", "input_schema": schema}, {"name": "two", "input_schema": schema}])
    );
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

/// Kind A wants a user to speak first.
#[tokio::test]
async fn a_system_prompt_alone_has_the_assistant_open_the_conversation() {
    let mut request = chat(Vec::new());
    request.system = vec![Part::text("Greet.")];
    let body = body(&*driver().await, &request).await;
    assert_eq!(body["system"], "Greet.");
    let opening = "(The assistant opens the conversation.)";
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [{"type": "text", "text": opening}]}])
    );
}

#[tokio::test]
async fn arguments_that_are_no_json_object_go_back_in_one() {
    let request = chat(vec![
        user("a"),
        unparsed_call("c", "{\"q\": \"x"),
        turn(Role::User, vec![result("c", "not JSON")]),
    ]);
    let body = body(&*driver().await, &request).await;
    assert_eq!(
        body["messages"][1]["content"][0]["input"],
        json!({"INVALID_JSON": "{\"q\": \"x"})
    );
}

#[tokio::test]
async fn what_kind_a_cannot_take_is_refused_by_name() {
    let driver = driver().await;
    let mut dangling = chat(vec![
        user("a"),
        turn(Role::Assistant, vec![call("toolu_1", "one")]),
        user("b"),
    ]);
    dangling.tools = vec![tool("one")];
    let refused = fault(&driver, &dangling).await;
    assert_eq!(
        (refused.kind, refused.param.as_deref()),
        (DriverFaultKind::InvalidRequest, Some("messages"))
    );

    let mut office = chat(vec![user("a")]);
    let media = Media::Inline {
        media_type: "application/msword".to_owned(),
        data: vec![1].into(),
    };
    office.messages.push(turn(
        Role::User,
        vec![
            Part::text("b"),
            Part::Document(Document {
                media,
                title: None,
                context: None,
                cache_mark: None,
            }),
        ],
    ));
    let refused = fault(&driver, &office).await;
    assert_eq!(
        (refused.kind, refused.param.as_deref()),
        (
            DriverFaultKind::UnsupportedParameter,
            Some("messages[1].content[1].media")
        )
    );

    let mut json_mode = chat(vec![user("a")]);
    json_mode.response_format = Some(ResponseFormat::JsonObject);
    let refused = fault(&driver, &json_mode).await;
    assert_eq!(
        (refused.kind, refused.param.as_deref()),
        (
            DriverFaultKind::UnsupportedParameter,
            Some("response_format")
        )
    );

    let mut unknown = chat(vec![user("a")]);
    unknown.ext.insert("logprobs".to_owned(), json!(true));
    assert!(body(&driver, &unknown).await.get("logprobs").is_none());
    unknown.ext.insert("must-logprobs".to_owned(), json!(true));
    assert_eq!(
        fault(&driver, &unknown).await.param.as_deref(),
        Some("logprobs")
    );

    let mut tuned = chat(vec![user("a")]);
    let thinking = json!({"type": "adaptive", "display": "omitted"});
    tuned
        .ext
        .insert("must-thinking".to_owned(), thinking.clone());
    for (word, sent) in [("minimal", "low"), ("max", "max")] {
        tuned.ext.insert("must-effort".to_owned(), json!(word));
        let body = body(&driver, &tuned).await;
        assert_eq!(body["thinking"], thinking);
        assert_eq!(body["output_config"], json!({"effort": sent}));
    }
    tuned.ext.insert("must-effort".to_owned(), json!("none"));
    assert!(body(&driver, &tuned).await.get("output_config").is_none());
    tuned.ext.shift_remove("must-thinking");
    let silent = body(&driver, &tuned).await["thinking"].clone();
    assert_eq!(silent, json!({"type": "disabled"}));

    // Beside a budget for thinking, neither a forced tool nor sampling.
    let mut tooled = chat(vec![user("a")]);
    tooled.max_tokens = Some(4_000);
    tooled.reasoning_tokens = Some(2_000);
    tooled.tools = vec![tool("one")];
    let enabled = json!({"type": "enabled", "budget_tokens": 2_000});
    assert_eq!(body(&driver, &tooled).await["thinking"], enabled);
    let mut cool = tooled.clone();
    cool.sampling.temperature = Some(0.5);
    tooled.tool_choice = Some(ToolChoice::Required);
    for (request, param) in [(&tooled, "tool_choice.type"), (&cool, "temperature")] {
        let refused = fault(&driver, request).await;
        assert_eq!(
            (refused.kind, refused.param.as_deref()),
            (DriverFaultKind::UnsupportedParameter, Some(param))
        );
    }

    // Four places to cache up to, wherever they are.
    let marked = || Part::Text {
        text: "a".to_owned(),
        cache_mark: Some(json!({"type": "ephemeral"})),
    };
    let mut marks = chat(vec![turn(Role::User, (0..3).map(|_| marked()).collect())]);
    marks.system = vec![marked()];
    body(&driver, &marks).await;
    marks.messages[0].content.push(marked());
    let refused = fault(&driver, &marks).await;
    assert_eq!(
        (refused.kind, refused.param.as_deref()),
        (DriverFaultKind::UnsupportedParameter, Some("cache_control"))
    );

    let mut forced = chat(vec![user("a")]);
    forced.tool_choice = Some(ToolChoice::Required);
    assert_eq!(
        fault(&driver, &forced).await.param.as_deref(),
        Some("tool_choice")
    );
}

const TRANSCRIPT: [(&str, &str); 20] = [
    ("ping", r#"{"type":"ping"}"#),
    (
        "message_start",
        r#"{"type":"message_start","message":{"id":"msg_1","model":"model-a-1","usage":{"input_tokens":9,"cache_read_input_tokens":4,"cache_creation_input_tokens":null,"output_tokens":7}}}"#,
    ),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}"#,
    ),
    (
        "content_block_stop",
        r#"{"type":"content_block_stop","index":0}"#,
    ),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
    ),
    (
        "",
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"caf\u00e9"}}"#,
    ),
    (
        "content_block_stop",
        r#"{"type":"content_block_stop","index":1}"#,
    ),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"one","input":{}}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"q\":"}}"#,
    ),
    (
        "content_block_delta",
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
    ),
    (
        "content_block_stop",
        r#"{"type":"content_block_stop","index":2}"#,
    ),
    (
        "content_block_start",
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_2","name":"two","input":{}}}"#,
    ),
    (
        "content_block_stop",
        r#"{"type":"content_block_stop","index":3}"#,
    ),
    ("something_new", r#"{"type":"something_new","x":1}"#),
    (
        "message_delta",
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":31}}"#,
    ),
    ("message_stop", r#"{"type":"message_stop"}"#),
    ("ping", r#"{"type":"ping"}"#),
];

const EVENTS: [&str; 15] = [
    "alive",
    "started msg_1 model-a-1",
    "usage 9 0 4 0",
    "reasoning hm",
    "signature sig",
    "text café",
    "call 0 toolu_1 one",
    "delta 0 {\"q\":",
    "delta 0 1}",
    "end 0",
    "call 1 toolu_2 two",
    "usage 9 31 4 0",
    "delta 1 {}",
    "end 1",
    "finished tool_calls tool_use None",
];

#[tokio::test]
async fn a_transcript_gives_the_same_events_in_batches_of_any_size() {
    let driver = driver().await;
    let frames: Vec<Frame> = TRANSCRIPT
        .iter()
        .map(|(name, data)| Frame {
            name: (*name).to_owned(),
            data: (*data).to_owned(),
        })
        .collect();
    for size in 1..=frames.len() {
        let mut run = run(&driver).await;
        assert_eq!(
            run.head(200, &content_type("text/event-stream; charset=utf-8"))
                .await,
            Ok(Framing::Sse)
        );
        let mut events = Vec::new();
        for batch in frames.chunks(size) {
            assert_eq!(run.push(batch, &mut events).await, Ok(()));
        }
        assert!(run.finished());
        assert_eq!(run.close(StreamEnd::Complete, &mut events).await, Ok(()));
        assert_eq!(words(&events), EVENTS, "batches of {size}");
    }
}

#[tokio::test]
async fn a_whole_answer_gives_the_events_of_a_stream() {
    let mut answer = json!({
        "type": "message", "id": "msg_1", "model": "model-a-1", "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "text", "text": "café", "citations": null},
            {"type": "tool_use", "id": "toolu_1", "name": "one", "input": {"q": 1}},
            {"type": "tool_use", "id": "toolu_2", "name": "two", "input": {}},
        ],
        "stop_reason": "stop_sequence", "stop_sequence": "END",
        "usage": {"input_tokens": 9, "cache_read_input_tokens": 4, "output_tokens": 31},
    });
    let mut expected = EVENTS[1..].to_vec();
    expected.splice(6..8, ["delta 0 {\"q\":1}"]);
    // That the last input is empty shows at once, not by what follows.
    expected[9..12].rotate_left(1);
    *expected.last_mut().unwrap() = "finished tool_calls stop_sequence Some(\"END\")";
    assert_eq!(words_of(&answer).await, expected);
    // Nobody asked to stop there.
    answer["stop_sequence"] = json!("END of Jane Doe");
    *expected.last_mut().unwrap() = "finished tool_calls stop_sequence None";
    assert_eq!(words_of(&answer).await, expected);
}

/// The end of the reply tells: what came of the last call reads as if its input were empty.
#[tokio::test]
async fn a_call_that_is_cut_off_in_front_of_its_input_gets_none() {
    let driver = driver().await;
    let mut run = run(&driver).await;
    assert_eq!(
        run.head(200, &content_type("text/event-stream")).await,
        Ok(Framing::Sse)
    );
    let frames = TRANSCRIPT.map(|(name, data)| Frame {
        name: name.to_owned(),
        data: data.replace(
            r#""stop_reason":"tool_use""#,
            r#""stop_reason":"max_tokens""#,
        ),
    });
    let mut events = Vec::new();
    assert_eq!(run.push(&frames, &mut events).await, Ok(()));
    let mut expected = EVENTS[..EVENTS.len() - 3].to_vec();
    expected.extend(["end 1", "finished length max_tokens None"]);
    assert_eq!(words(&events), expected);
}

#[tokio::test]
async fn input_that_comes_with_the_start_of_a_call_counts() {
    let driver = driver().await;
    let mut run = run(&driver).await;
    assert_eq!(
        run.head(200, &content_type("text/event-stream")).await,
        Ok(Framing::Sse)
    );
    let frames = TRANSCRIPT.map(|(name, data)| Frame {
        name: name.to_owned(),
        data: data.replace(r#""input":{}"#, r#""input":{"q":2}"#),
    });
    let mut events = Vec::new();
    assert_eq!(run.push(&frames, &mut events).await, Ok(()));
    let words = words(&events);
    let pieces: Vec<&String> = words
        .iter()
        .filter(|word| word.starts_with("delta"))
        .collect();
    let expected = ["delta 0 {\"q\":", "delta 0 1}", "delta 1 {\"q\":2}"];
    assert_eq!(pieces, expected);
}

/// Whether arguments are an object is for whoever reads them: made one here, the call would be run without them.
#[tokio::test]
async fn input_that_is_no_object_goes_on_as_it_came() {
    let driver = driver().await;
    let inputs = [
        (json!(["x"]), "[\"x\"]"),
        (json!("x"), "\"x\""),
        (json!(7), "7"),
        (json!(null), "{}"),
    ];
    for (input, shown) in inputs {
        let answer = json!({
            "type": "message", "id": "msg_1", "model": "model-a-1", "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "one", "input": input}],
            "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 9, "output_tokens": 31},
        });
        let delta = format!("delta 0 {shown}");
        assert_eq!(words_of(&answer).await[3], delta);
        let mut run = run(&driver).await;
        assert_eq!(
            run.head(200, &content_type("text/event-stream")).await,
            Ok(Framing::Sse)
        );
        let whole = format!(r#""input":{input}"#);
        let frames = TRANSCRIPT.map(|(name, data)| Frame {
            name: name.to_owned(),
            data: data.replace(r#""input":{}"#, &whole),
        });
        let mut events = Vec::new();
        assert_eq!(run.push(&frames, &mut events).await, Ok(()));
        // The second call has no piece behind its start.
        let delta = format!("delta 1 {shown}");
        assert!(words(&events).contains(&delta), "{input}");
    }
}

/// What was cut off shows what had come of its input, as if it were all.
#[tokio::test]
async fn a_call_that_is_cut_off_is_left_out() {
    let said = async |reason: &str, last: Value| {
        let answer = json!({
            "type": "message", "id": "msg_1", "model": "model-a-1", "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "one", "input": {"q": 1}}, last],
            "stop_reason": reason, "stop_sequence": null, "usage": {"input_tokens": 9, "output_tokens": 31},
        });
        let words = words_of(&answer).await;
        words.iter().filter(|word| word.starts_with("end")).count()
    };
    let call = || json!({"type": "tool_use", "id": "toolu_2", "name": "two", "input": {"q": "Os"}});
    assert_eq!(said("tool_use", call()).await, 2);
    for limit in ["max_tokens", "model_context_window_exceeded"] {
        assert_eq!(said(limit, call()).await, 1, "{limit}");
    }
    // What stands in front of it is whole, also where it is empty.
    let answer = json!({
        "type": "message", "id": "msg_1", "model": "model-a-1", "role": "assistant",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": "one", "input": {}}, call()],
        "stop_reason": "max_tokens", "stop_sequence": null, "usage": {"input_tokens": 9, "output_tokens": 31},
    });
    let words = words_of(&answer).await;
    assert_eq!(words[2..5], ["call 0 toolu_1 one", "delta 0 {}", "end 0"]);
    // Only a limit cuts.
    for word in ["refusal", "pause_turn", "something_new"] {
        assert_eq!(said(word, call()).await, 2, "{word}");
    }
    let text = json!({"type": "text", "text": "so"});
    assert_eq!(said("max_tokens", text).await, 1);
}

/// The events of an unstreamed answer to a request that may stop at `END`.
async fn words_of(answer: &Value) -> Vec<String> {
    let driver = driver().await;
    let mut request = chat(vec![user("a")]);
    request.stop_sequences = vec!["END".to_owned()];
    let (mut run, _) = start(&driver, &request).await.unwrap();
    assert_eq!(
        run.head(200, &content_type("application/json")).await,
        Ok(Framing::WholeBody)
    );
    let mut events = Vec::new();
    assert_eq!(
        run.push_bytes(answer.to_string().as_bytes(), &mut events)
            .await,
        Ok(())
    );
    assert_eq!(run.close(StreamEnd::Complete, &mut events).await, Ok(()));
    words(&events)
}

#[tokio::test]
async fn error_statuses_become_machine_words() {
    let driver = driver().await;
    let body = br#"{"type":"error","error":{"type":"rate_limit_error","message":"John Doe asked too often"}}"#;
    let mut busy = run(&driver).await;
    let mut headers = content_type("application/json");
    headers.insert(http::header::RETRY_AFTER, HeaderValue::from_static("3"));
    assert_eq!(busy.head(429, &headers).await, Ok(Framing::WholeBody));
    let mut events = Vec::new();
    let expected = DriverFault {
        kind: DriverFaultKind::RateLimited,
        param: None,
        upstream_code: Some("rate_limit_error".to_owned()),
        retryable: true,
        retry_after_ms: Some(3_000),
    };
    assert_eq!(
        bare(busy.push_bytes(body, &mut events).await),
        Err(DriverFailure::Fault(expected))
    );
    for (status, kind) in [
        (400, DriverFaultKind::InvalidRequest),
        (401, DriverFaultKind::UpstreamAuth),
        (404, DriverFaultKind::ModelUnavailable),
        (500, DriverFaultKind::UpstreamFailure),
        (529, DriverFaultKind::Overloaded),
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
    let page = run(&driver)
        .await
        .head(200, &content_type("text/html"))
        .await;
    assert!(
        matches!(bare(page), Err(DriverFailure::Fault(fault)) if fault.kind == DriverFaultKind::Protocol)
    );
}

#[tokio::test]
async fn a_stream_that_ends_early_or_badly_is_a_failure_after_its_events() {
    let driver = driver().await;
    let frame = |data: &str| Frame {
        name: String::new(),
        data: data.to_owned(),
    };
    let begun = [frame(TRANSCRIPT[1].1), frame(TRANSCRIPT[7].1)];
    let kind = |answer: Result<(), Failed<DriverFailure>>| match bare(answer) {
        Err(DriverFailure::Fault(fault)) => Some((fault.kind, fault.retryable)),
        _ => None,
    };
    for (end, expected) in [
        (StreamEnd::Complete, (DriverFaultKind::Protocol, true)),
        (StreamEnd::Truncated, (DriverFaultKind::Protocol, true)),
        (
            StreamEnd::TimedOut,
            (DriverFaultKind::UpstreamFailure, true),
        ),
    ] {
        let mut run = run(&driver).await;
        assert_eq!(
            run.head(200, &content_type("text/event-stream")).await,
            Ok(Framing::Sse)
        );
        let mut events = Vec::new();
        assert_eq!(run.push(&begun, &mut events).await, Ok(()));
        assert_eq!(kind(run.close(end, &mut events).await), Some(expected));
        assert_eq!(
            words(&events),
            ["started msg_1 model-a-1", "usage 9 0 4 0", "text café"]
        );
    }
    for (data, expected) in [
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"x"}}"#,
            DriverFaultKind::Overloaded,
        ),
        ("<html>", DriverFaultKind::Protocol),
        (r#"{"type":"message_stop"}"#, DriverFaultKind::Protocol),
    ] {
        let mut run = run(&driver).await;
        assert_eq!(
            run.head(200, &content_type("text/event-stream")).await,
            Ok(Framing::Sse)
        );
        let mut events = Vec::new();
        let frames = [begun[0].clone(), begun[1].clone(), frame(data)];
        assert_eq!(
            kind(run.push(&frames, &mut events).await).map(|fault| fault.0),
            Some(expected),
            "{data}"
        );
        assert_eq!(events.len(), 3, "what came before the failure counts");
        assert!(matches!(
            bare(run.push(&begun, &mut events).await),
            Err(DriverFailure::Plugin(_))
        ));
    }
}
