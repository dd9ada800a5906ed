//! The chat-completions wire format of the fake (provider kind B): how requests are read and answers written.
//!
//! What is refused stands in [`validation`] and [`messages`]; this file trusts what passed them. The format has no
//! place for thinking: ordered thinking counts as reasoning and is not shown.

mod messages;
mod schema;
mod validation;

use http::HeaderMap;
use serde_json::{Value, json};

use crate::fake_provider::format::{
    Data, Event, Format, JSON_PIECE_CHARS, MEDIA_CHARS, Operation, Refusal, chars, role,
};
use crate::fake_provider::reply::{Ask, Block, Reply, Stop, Usage, input_text, pieces, tokens};

pub(crate) static FORMAT: Format = Format {
    name: "chat-completions",
    path: "/v1/chat/completions",
    count_path: None,
    credential_headers: &["authorization"],
    request_id_header: "x-request-id",
    headers: &[
        ("openai-organization", "org_of_the_operator"),
        ("openai-processing-ms", "7"),
        ("openai-version", "2020-10-01"),
        ("x-ratelimit-limit-requests", "4000"),
        ("x-ratelimit-remaining-requests", "3999"),
        ("server", "fake-provider"),
    ],
    read,
    whole,
    events,
    count: |tokens| json!({"input_tokens": tokens}),
    error: |refusal, _| error(refusal),
    error_event: |refusal| event(error(refusal), true),
    error_kind,
};

/// Seconds since the Unix epoch: an answer is always the same.
const CREATED: u64 = 1_795_000_000;

fn read(_operation: Operation, _headers: &HeaderMap, body: &Value) -> Result<Ask, Refusal> {
    validation::check(body).map_err(Refusal::invalid)?;
    let all = body.get("messages").and_then(Value::as_array);
    let all = all.map(Vec::as_slice).unwrap_or_default();
    let last = last_turn(all);
    let said = texts(last, "user");
    let answers = texts(last, "tool");
    let answered = last.iter().any(|message| role(message) == "tool");
    let stop = match body.get("stop") {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(several)) => several
            .iter()
            .filter_map(|sequence| sequence.as_str().map(ToOwned::to_owned))
            .collect(),
        _ => Vec::new(),
    };
    let format = body.get("response_format");
    Ok(Ask {
        model: body
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        stream: body.get("stream") == Some(&Value::Bool(true)),
        stream_usage: body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true)),
        tool_answer: (answered && said.is_empty()).then_some(answers),
        said,
        forced_tool: forced_tool(body),
        output_schema: format.and_then(output_schema),
        thinking: false,
        max_tokens: body.get("max_completion_tokens").and_then(Value::as_u64),
        stop_sequences: stop,
        input_chars: all.iter().map(message_chars).sum::<u64>()
            + body
                .get("tools")
                .map_or(0, |tools| chars(&tools.to_string())),
    })
}

/// The last neighbouring messages that are not the model's own.
fn last_turn(all: &[Value]) -> &[Value] {
    let is_callers = |message: &Value| matches!(role(message), "user" | "tool");
    let mut turns = all.chunk_by(|one, next| is_callers(one) == is_callers(next));
    turns
        .rfind(|turn| turn.first().is_some_and(is_callers))
        .unwrap_or_default()
}

/// The texts of the messages with a role, in order.
fn texts(turn: &[Value], wanted: &str) -> String {
    let texts: Vec<String> = turn
        .iter()
        .filter(|message| role(message) == wanted)
        .filter_map(|message| message.get("content").map(said))
        .collect();
    texts.join("\n")
}

/// The text of a content.
fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| part.get("text").and_then(Value::as_str))
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

fn forced_tool(body: &Value) -> Option<(String, Value)> {
    let choice = body.get("tool_choice")?;
    let functions = body.get("tools")?.as_array()?;
    let mut functions = functions.iter().filter_map(|tool| tool.get("function"));
    let function = match choice.as_str() {
        Some("required") => functions.next()?,
        Some(_) => return None,
        None => {
            let name = choice.pointer("/function/name")?;
            functions.find(|function| function.get("name") == Some(name))?
        }
    };
    let schema = function.get("parameters").cloned().unwrap_or(json!({}));
    Some((function.get("name")?.as_str()?.to_owned(), schema))
}

fn output_schema(format: &Value) -> Option<Value> {
    match format.get("type")?.as_str()? {
        "json_object" => Some(json!({"type": "object"})),
        "json_schema" => format.pointer("/json_schema/schema").cloned(),
        _ => None,
    }
}

/// Characters of everything a model would read in a message.
fn message_chars(message: &Value) -> u64 {
    let content = match message.get("content") {
        Some(Value::String(text)) => chars(text),
        Some(Value::Array(parts)) => parts
            .iter()
            .map(|part| match part.get("text").and_then(Value::as_str) {
                Some(text) => chars(text),
                None => MEDIA_CHARS,
            })
            .sum(),
        _ => 0,
    };
    let calls = message
        .get("tool_calls")
        .map_or(0, |calls| chars(&calls.to_string()));
    content + calls
}

fn whole(reply: &Reply) -> Value {
    let mut text = String::new();
    let mut calls = Vec::new();
    for (at, block) in reply.blocks.iter().enumerate() {
        match block {
            Block::Text(pieces) => text.push_str(&pieces.concat()),
            Block::Thinking { .. } | Block::RedactedThinking(_) => {}
            Block::ToolUse { id, name, input } => calls.push(json!({
                "id": call_id(id.as_deref(), reply.seq, at),
                "type": "function",
                "function": {"name": name, "arguments": input_text(input)},
            })),
        }
    }
    let content = if text.is_empty() && !calls.is_empty() {
        Value::Null
    } else {
        text.into()
    };
    let mut message = json!({
        "role": "assistant", "content": content, "refusal": null, "annotations": [],
    });
    if let (Some(fields), false) = (message.as_object_mut(), calls.is_empty()) {
        fields.insert("tool_calls".into(), calls.into());
    }
    let choice = json!({
        "index": 0, "message": message, "logprobs": null, "finish_reason": stop(&reply.stop),
    });
    json!({
        "id": id(reply),
        "object": "chat.completion",
        "created": CREATED,
        "model": reply.model,
        "choices": [choice],
        "usage": usage(reply),
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
    })
}

fn events(reply: &Reply) -> Vec<Event> {
    let first = json!({"role": "assistant", "content": "", "refusal": null});
    let mut events = vec![event(chunk(reply, first, Value::Null), false)];
    let mut calls = 0;
    for (at, block) in reply.blocks.iter().enumerate() {
        let deltas: Vec<Value> = match block {
            Block::Text(pieces) => pieces
                .iter()
                .map(|piece| json!({"content": piece}))
                .collect(),
            Block::Thinking { .. } | Block::RedactedThinking(_) => Vec::new(),
            Block::ToolUse { id, name, input } => {
                let index = calls;
                calls += 1;
                let id = call_id(id.as_deref(), reply.seq, at);
                let start = json!({"tool_calls": [{
                    "index": index, "id": id, "type": "function",
                    "function": {"name": name, "arguments": ""},
                }]});
                let fragments = pieces(&input_text(input), JSON_PIECE_CHARS);
                let fragments = fragments.into_iter().map(|fragment| {
                    json!({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]})
                });
                std::iter::once(start).chain(fragments).collect()
            }
        };
        let deltas = deltas.into_iter();
        events.extend(deltas.map(|delta| event(chunk(reply, delta, Value::Null), false)));
    }
    events.push(event(
        chunk(reply, json!({}), stop(&reply.stop).into()),
        true,
    ));
    if reply.stream_usage {
        let mut last = chunk(reply, json!({}), Value::Null);
        if let Some(fields) = last.as_object_mut() {
            fields.insert("choices".into(), json!([]));
            fields.insert("usage".into(), usage(reply));
        }
        events.push(event(last, true));
    }
    events.push(Event {
        name: "",
        data: Data::Word("[DONE]"),
        terminal: true,
    });
    events
}

fn chunk(reply: &Reply, delta: Value, finish_reason: Value) -> Value {
    let choice =
        json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason});
    let mut chunk = json!({
        "id": id(reply),
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": reply.model,
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
        "choices": [choice],
        "obfuscation": "xxxxxxx",
    });
    // Whoever asks for usage gets the field in every chunk (wire.md 2, point 35).
    if let (Some(fields), true) = (chunk.as_object_mut(), reply.stream_usage) {
        fields.insert("usage".into(), Value::Null);
    }
    chunk
}

fn id(reply: &Reply) -> String {
    format!("chatcmpl-fake{:06}", reply.seq)
}

fn call_id(ordered: Option<&str>, seq: u64, at: usize) -> String {
    ordered.map_or_else(|| format!("call_fake_{seq:06}_{at}"), ToOwned::to_owned)
}

fn stop(stop: &Stop) -> &str {
    match stop {
        Stop::End | Stop::Sequence(_) => "stop",
        Stop::MaxTokens => "length",
        Stop::ToolUse => "tool_calls",
        Stop::Ordered(word) => word,
    }
}

/// What was read from a cache, or written to it, is part of the prompt.
fn usage(reply: &Reply) -> Value {
    let Usage {
        input_tokens,
        output_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
    } = reply.usage;
    let prompt = input_tokens + cache_read_input_tokens + cache_creation_input_tokens;
    let thought: u64 = reply
        .blocks
        .iter()
        .map(|block| match block {
            Block::Thinking { pieces, .. } => tokens(chars(&pieces.concat())),
            Block::RedactedThinking(data) => tokens(chars(data)),
            Block::Text(_) | Block::ToolUse { .. } => 0,
        })
        .sum();
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": output_tokens,
        "total_tokens": prompt + output_tokens,
        "prompt_tokens_details": {"cached_tokens": cache_read_input_tokens, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": thought, "audio_tokens": 0},
    })
}

const fn event(data: Value, terminal: bool) -> Event {
    Event {
        name: "",
        data: Data::Json(data),
        terminal,
    }
}

/// The word of a script stands as type and as code: real ones use either.
fn error(refusal: &Refusal) -> Value {
    let (kind, code) = match &refusal.kind {
        Some(word) => (word.as_str(), Some(word.as_str())),
        None => (error_kind(refusal.status), code(refusal.status)),
    };
    json!({"error": {"message": refusal.message, "type": kind, "param": null, "code": code}})
}

const fn error_kind(status: u16) -> &'static str {
    match status {
        429 => "requests",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

const fn code(status: u16) -> Option<&'static str> {
    match status {
        401 => Some("invalid_api_key"),
        404 => Some("model_not_found"),
        429 => Some("rate_limit_exceeded"),
        _ => None,
    }
}
