//! Both shipped drivers side by side: one canonical request means the same at either kind, and an answer means the
//! same streamed, whole, and from either kind.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_core::chat::{
    ChatEvent, ChatReply, ChatRequest, Document, Media, Message, Part, ReplyBuilder,
    ResponseFormat, Role, ToolChoice, ToolResult,
};
use svc_plugin::{Driver, Framing, StreamEnd};

use crate::exchange::{
    body, call, chat, content_type, driver_of, frames, result, run, schema, tool, turn, user, words,
};
use crate::stage::{ALPHA, BETA};

async fn drivers() -> (Arc<Driver>, Arc<Driver>) {
    (
        driver_of("provider-alpha", &ALPHA).await,
        driver_of("provider-beta", &BETA).await,
    )
}

// ------------------------------------------------------------------- requests

fn plain() -> ChatRequest {
    chat(vec![user("Hello")])
}

fn full() -> ChatRequest {
    let failed = Part::ToolResult(ToolResult {
        call_id: "call_2".to_owned(),
        is_error: true,
        content: vec![Part::text("no"), Part::text("entry")],
        cache_mark: None,
    });
    let file = Part::Document(Document {
        media: Media::Inline {
            media_type: "application/pdf".to_owned(),
            data: vec![4, 5].into(),
        },
        title: Some("t.pdf".to_owned()),
        context: None,
        cache_mark: None,
    });
    let mut request = chat(vec![
        Message {
            name: Some("ann".to_owned()),
            ..turn(
                Role::User,
                vec![
                    Part::text("look at "),
                    Part::text(""),
                    Part::text("this"),
                    Part::Image(
                        Media::Inline {
                            media_type: "image/png".to_owned(),
                            data: vec![1, 2, 3].into(),
                        }
                        .into(),
                    ),
                    Part::Image(Media::Url("https://example.org/a.png".to_owned()).into()),
                    file,
                ],
            )
        },
        user("and that"),
        turn(
            Role::Assistant,
            vec![
                Part::Reasoning {
                    text: "hm".to_owned(),
                    signature: Some("sig".to_owned()),
                    driver: None,
                },
                Part::text("I look."),
                call("call_1", "look_up"),
                call("call_2", "look_up"),
            ],
        ),
        turn(Role::User, vec![failed]),
        turn(
            Role::User,
            vec![Part::text("well?"), result("call_1", "found")],
        ),
        turn(Role::Assistant, vec![Part::text("Well.")]),
        user("thanks"),
    ]);
    request.system = vec![Part::text("Be brief."), Part::text("Be kind.")];
    request.tools = vec![tool("look_up"), tool("write_down")];
    request.tool_choice = Some(ToolChoice::Named("look_up".to_owned()));
    request.parallel_tool_calls = Some(false);
    request.sampling.temperature = Some(0.5);
    request.sampling.top_p = Some(0.9);
    request.stop_sequences = vec!["END".to_owned(), "STOP".to_owned()];
    request.response_format = Some(ResponseFormat::JsonSchema {
        name: None,
        schema: schema(),
        strict: None,
    });
    request
        .metadata
        .insert("user_id".to_owned(), "u1".to_owned());
    request.stream = false;
    request
}

fn with_choice(choice: ToolChoice) -> ChatRequest {
    let mut request = full();
    request.tool_choice = Some(choice);
    request.parallel_tool_calls = None;
    request
}

/// What a Messages body says, in words of neither format.
fn said_by_a(body: &Value) -> Value {
    let turns = list(&body["messages"]).map(|turn| {
        let items = list(&turn["content"]).filter_map(item_of_a).collect();
        (turn["role"].as_str().unwrap().to_owned(), items)
    });
    let system = match &body["system"] {
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().map(|block| text(&block["text"])).collect();
            texts.join("\n\n").into()
        }
        other => other.clone(),
    };
    let tools: Vec<Value> = list(&body["tools"])
        .map(|tool| {
            json!([
                tool["name"],
                tool["description"],
                tool["input_schema"],
                tool["strict"]
            ])
        })
        .collect();
    let choice = &body["tool_choice"];
    json!({
        "model": body["model"],
        "system": system,
        "turns": merged_turns(turns),
        "tools": tools,
        "choice": match choice["type"].as_str() {
            Some("any") => json!("required"),
            Some("tool") => json!({"named": choice["name"]}),
            _ => choice["type"].clone(),
        },
        "one_call": choice["disable_parallel_tool_use"] == true,
        "limit": body["max_tokens"],
        "sampling": [body["temperature"], body["top_p"]],
        "stop": body["stop_sequences"],
        "schema": body["output_config"]["format"]["schema"],
        "user": body["metadata"]["user_id"],
        "stream": body["stream"],
    })
}

fn item_of_a(block: &Value) -> Option<Value> {
    Some(match block["type"].as_str().unwrap() {
        "text" => json!({"text": block["text"]}),
        "image" | "document" => {
            let source = &block["source"];
            let address = match source["type"].as_str().unwrap() {
                "url" => text(&source["url"]).to_owned(),
                _ => format!(
                    "data:{};base64,{}",
                    text(&source["media_type"]),
                    text(&source["data"])
                ),
            };
            json!({"media": address, "title": block["title"]})
        }
        "tool_use" => json!({"call": block["id"], "name": block["name"], "input": block["input"]}),
        "tool_result" => {
            let texts: Vec<&str> = list(&block["content"])
                .map(|part| text(&part["text"]))
                .collect();
            json!({"result": block["tool_use_id"], "error": block["is_error"] == true, "answer": texts.join("\n")})
        }
        // Kind B has no place for it.
        "thinking" | "redacted_thinking" => return None,
        other => panic!("{other}"),
    })
}

/// What a chat-completions body says, in the same words.
fn said_by_b(body: &Value) -> Value {
    let mut system = Value::Null;
    let mut turns: Vec<(String, Vec<Value>)> = Vec::new();
    for message in list(&body["messages"]) {
        match text(&message["role"]) {
            "system" => system = message["content"].clone(),
            "tool" => {
                let content = text(&message["content"]);
                let failed = content.strip_prefix("Error: ");
                turns.push((
                    "user".to_owned(),
                    vec![json!({
                        "result": message["tool_call_id"],
                        "error": failed.is_some(),
                        "answer": failed.unwrap_or(content),
                    })],
                ));
            }
            role => turns.push((role.to_owned(), items_of_b(message))),
        }
    }
    let tools: Vec<Value> = list(&body["tools"])
        .map(|tool| &tool["function"])
        .map(|tool| {
            json!([
                tool["name"],
                tool["description"],
                tool["parameters"],
                tool["strict"]
            ])
        })
        .collect();
    json!({
        "model": body["model"],
        "system": system,
        "turns": merged_turns(turns.into_iter()),
        "tools": tools,
        "choice": match &body["tool_choice"] {
            Value::Object(choice) => json!({"named": choice["function"]["name"]}),
            word => word.clone(),
        },
        "one_call": body["parallel_tool_calls"] == false,
        "limit": body["max_completion_tokens"],
        "sampling": [body["temperature"], body["top_p"]],
        "stop": body["stop"],
        "schema": body["response_format"]["json_schema"]["schema"],
        "user": body["user"],
        "stream": body["stream"],
    })
}

fn items_of_b(message: &Value) -> Vec<Value> {
    let mut items: Vec<Value> = match &message["content"] {
        Value::String(text) => vec![json!({"text": text})],
        content => list(content)
            .map(|part| match text(&part["type"]) {
                "text" => json!({"text": part["text"]}),
                "image_url" => json!({"media": part["image_url"]["url"], "title": null}),
                "file" => {
                    json!({"media": part["file"]["file_data"], "title": part["file"]["filename"]})
                }
                other => panic!("{other}"),
            })
            .collect(),
    };
    items.extend(list(&message["tool_calls"]).map(|call| {
        let input: Value = serde_json::from_str(text(&call["function"]["arguments"])).unwrap();
        json!({"call": call["id"], "name": call["function"]["name"], "input": input})
    }));
    items
}

/// Neighbours of one role as one turn, neighbouring texts as one text.
fn merged_turns(turns: impl Iterator<Item = (String, Vec<Value>)>) -> Value {
    let mut merged: Vec<(String, Vec<Value>)> = Vec::new();
    for (role, items) in turns {
        if merged.last().is_none_or(|(last, _)| *last != role) {
            merged.push((role, Vec::new()));
        }
        let all = &mut merged.last_mut().unwrap().1;
        for item in items {
            match (
                all.last_mut().and_then(|last| last.get_mut("text")),
                item.get("text"),
            ) {
                (Some(last), Some(more)) => {
                    *last = format!("{}{}", text(last), text(more)).into();
                }
                _ => all.push(item),
            }
        }
    }
    json!(merged)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_request_says_the_same_to_either_kind() {
    let (alpha, beta) = drivers().await;
    for request in [
        plain(),
        full(),
        with_choice(ToolChoice::Auto),
        with_choice(ToolChoice::None),
        with_choice(ToolChoice::Required),
    ] {
        let a = said_by_a(&body(&alpha, &request).await);
        let b = said_by_b(&body(&beta, &request).await);
        assert_eq!(a, b);
        assert!(!a["turns"].as_array().unwrap().is_empty());
    }
    // The words of the comparison lose nothing on the way.
    let full = said_by_b(&body(&beta, &full()).await);
    let turns = full["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 5);
    assert_eq!(turns[0][1].as_array().unwrap().len(), 5);
    assert_eq!(
        turns[2][1],
        json!([
            {"result": "call_1", "error": false, "answer": "found"},
            {"result": "call_2", "error": true, "answer": "no\nentry"},
            {"text": "well?"},
        ])
    );
}

// -------------------------------------------------------------------- answers

const STREAM_OF_A: [&str; 12] = [
    r#"{"type":"message_start","message":{"id":"id_1","model":"m-1","usage":{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":1}}}"#,
    r#"{"type":"ping"}"#,
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ca"}}"#,
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"f\u00e9"}}"#,
    r#"{"type":"content_block_stop","index":0}"#,
    r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"call_1","name":"one","input":{}}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"q\":"}}"#,
    r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
    r#"{"type":"content_block_stop","index":1}"#,
    r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":31}}"#,
    r#"{"type":"message_stop"}"#,
];

const STREAM_OF_B: [&str; 8] = [
    r#"{"id":"id_1","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"ca"},"finish_reason":null}],"usage":null}"#,
    r#"{"id":"id_1","model":"m-1","choices":[{"index":0,"delta":{"content":"f\u00e9"},"finish_reason":null}]}"#,
    r#"{"id":"id_1","model":"m-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"one","arguments":""}}]}}]}"#,
    r#"{"id":"id_1","model":"m-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":"}}]}}]}"#,
    r#"{"id":"id_1","model":"m-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}"#,
    r#"{"id":"id_1","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
    r#"{"id":"id_1","model":"m-1","choices":[],"usage":{"prompt_tokens":13,"completion_tokens":31,"prompt_tokens_details":{"cached_tokens":4}}}"#,
    "[DONE]",
];

fn whole_of_a() -> Value {
    json!({
        "type": "message", "id": "id_1", "model": "m-1", "role": "assistant",
        "content": [
            {"type": "text", "text": "café"},
            {"type": "tool_use", "id": "call_1", "name": "one", "input": {"q": 1}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 9, "cache_read_input_tokens": 4, "output_tokens": 31},
    })
}

fn whole_of_b() -> Value {
    json!({
        "id": "id_1", "object": "chat.completion", "model": "m-1",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "café",
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "one", "arguments": "{\"q\":1}"}}],
        }}],
        "usage": {"prompt_tokens": 13, "completion_tokens": 31, "prompt_tokens_details": {"cached_tokens": 4}},
    })
}

async fn streamed(driver: &Driver, transcript: &[&str]) -> Vec<ChatEvent> {
    let mut run = run(driver).await;
    let head = run.head(200, &content_type("text/event-stream")).await;
    assert_eq!(head, Ok(Framing::Sse));
    let mut events = Vec::new();
    assert_eq!(run.push(&frames(transcript), &mut events).await, Ok(()));
    assert_eq!(run.close(StreamEnd::Complete, &mut events).await, Ok(()));
    merged(events)
}

async fn whole(driver: &Driver, answer: &Value) -> Vec<ChatEvent> {
    let mut run = run(driver).await;
    let head = run.head(200, &content_type("application/json")).await;
    assert_eq!(head, Ok(Framing::WholeBody));
    let mut events = Vec::new();
    let bytes = answer.to_string();
    assert_eq!(run.push_bytes(bytes.as_bytes(), &mut events).await, Ok(()));
    assert_eq!(run.close(StreamEnd::Complete, &mut events).await, Ok(()));
    merged(events)
}

/// Pieces put together and signs of life left out: how a stream is cut says nothing.
fn merged(events: Vec<ChatEvent>) -> Vec<ChatEvent> {
    let mut merged: Vec<ChatEvent> = Vec::new();
    for event in events {
        match (merged.last_mut(), &event) {
            (_, ChatEvent::KeepAlive) => {}
            (Some(ChatEvent::Text(text)), ChatEvent::Text(more)) => text.push_str(more),
            (
                Some(ChatEvent::ToolCallDelta { index, fragment }),
                ChatEvent::ToolCallDelta {
                    index: of,
                    fragment: more,
                },
            ) if index == of => fragment.push_str(more),
            _ => merged.push(event),
        }
    }
    merged
}

fn reply(events: &[ChatEvent]) -> ChatReply {
    let mut builder = ReplyBuilder::default();
    for event in events {
        builder.push(event);
    }
    builder.finish().unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test]
async fn an_answer_means_the_same_streamed_and_whole_and_from_either_kind() {
    let (alpha, beta) = drivers().await;
    let of_a = streamed(&alpha, &STREAM_OF_A).await;
    assert_eq!(words(&of_a), words(&whole(&alpha, &whole_of_a()).await));
    let of_b = streamed(&beta, &STREAM_OF_B).await;
    assert_eq!(words(&of_b), words(&whole(&beta, &whole_of_b()).await));

    let (from_a, from_b) = (reply(&of_a), reply(&of_b));
    assert!(from_a.content == from_b.content);
    assert_eq!(from_a.content.len(), 2);
    assert_eq!(from_a.usage, from_b.usage);
    let reason = |reply: &ChatReply| reply.finish.as_ref().map(|finish| finish.reason);
    assert_eq!(reason(&from_a), reason(&from_b));
}
