//! The Messages wire format of the fake (provider kind A): how requests are read and answers written.
//!
//! What is refused stands in [`validation`] and [`turns`]; this file trusts what passed them.

mod schema;
mod turns;
pub(crate) mod validation;

use http::HeaderMap;
use serde_json::{Map, Value, json};

use crate::fake_provider::format::{
    Data, Event, Format, JSON_PIECE_CHARS, MEDIA_CHARS, Operation, Refusal, chars, role,
};
use crate::fake_provider::reply::{Ask, Block, Reply, Stop, Usage, input_text, pieces};

pub(crate) static FORMAT: Format = Format {
    name: "messages",
    path: "/v1/messages",
    count_path: Some("/v1/messages/count_tokens"),
    credential_headers: &["x-api-key", "authorization"],
    request_id_header: "request-id",
    headers: &[
        ("anthropic-organization-id", "org_of_the_operator"),
        ("anthropic-ratelimit-requests-limit", "4000"),
        ("anthropic-ratelimit-requests-remaining", "3999"),
        ("server", "fake-provider"),
    ],
    read,
    whole,
    events,
    count: |tokens| json!({"input_tokens": tokens}),
    error,
    error_event: |refusal| event("error", error_fields(refusal), true),
    error_kind,
};

fn read(operation: Operation, headers: &HeaderMap, body: &Value) -> Result<Ask, Refusal> {
    validation::check(operation, headers, body)?;
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    let turns = body.get("messages").and_then(Value::as_array);
    let last = turns.and_then(|turns| turns.iter().rev().find(|turn| role(turn) == "user"));
    let content = last.and_then(|turn| turn.get("content"));
    let stop_sequences = body.get("stop_sequences").and_then(Value::as_array);
    Ok(Ask {
        model: text("model").to_owned(),
        stream: body.get("stream") == Some(&Value::Bool(true)),
        stream_usage: true,
        said: content.map(said).unwrap_or_default(),
        tool_answer: content.and_then(tool_answer),
        forced_tool: forced_tool(body),
        output_schema: body.pointer("/output_config/format/schema").cloned(),
        thinking: body
            .pointer("/thinking/type")
            .is_some_and(|kind| kind != "disabled"),
        max_tokens: body.get("max_tokens").and_then(Value::as_u64),
        stop_sequences: stop_sequences
            .into_iter()
            .flatten()
            .filter_map(|sequence| sequence.as_str().map(ToOwned::to_owned))
            .collect(),
        input_chars: ["system", "messages"]
            .iter()
            .filter_map(|name| body.get(*name))
            .map(text_chars)
            .sum::<u64>()
            + body
                .get("tools")
                .map_or(0, |tools| chars(&tools.to_string())),
    })
}

/// The text blocks of a turn, in order.
fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks
                .iter()
                .filter(|block| block.get("type").is_some_and(|kind| kind == "text"))
                .filter_map(|block| block.get("text").and_then(Value::as_str))
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// The text of a turn's tool results; none when it has text of its own, which is then answered instead.
fn tool_answer(content: &Value) -> Option<String> {
    let blocks = content.as_array()?;
    if !said(content).is_empty() {
        return None;
    }
    let results: Vec<String> = blocks
        .iter()
        .filter(|block| block.get("type").is_some_and(|kind| kind == "tool_result"))
        .map(|block| block.get("content").map(said).unwrap_or_default())
        .collect();
    (!results.is_empty()).then(|| results.join("\n"))
}

fn forced_tool(body: &Value) -> Option<(String, Value)> {
    let choice = body.get("tool_choice")?;
    let tools = body.get("tools")?.as_array()?;
    let tool = match choice.get("type")?.as_str()? {
        "any" => tools.first()?,
        "tool" => tools
            .iter()
            .find(|tool| tool.get("name") == choice.get("name"))?,
        _ => return None,
    };
    let schema = tool.get("input_schema").cloned().unwrap_or(json!({}));
    Some((tool.get("name")?.as_str()?.to_owned(), schema))
}

/// Characters of everything a model would read in a system prompt or in turns.
fn text_chars(value: &Value) -> u64 {
    match value {
        Value::String(text) => chars(text),
        Value::Array(all) => all.iter().map(text_chars).sum(),
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            Some("image" | "document") => MEDIA_CHARS,
            Some("tool_use") => {
                chars(
                    &fields
                        .get("name")
                        .map_or_else(String::new, Value::to_string),
                ) + chars(
                    &fields
                        .get("input")
                        .map_or_else(String::new, Value::to_string),
                )
            }
            _ => ["text", "content", "thinking"]
                .iter()
                .filter_map(|name| fields.get(*name))
                .map(text_chars)
                .sum(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn whole(reply: &Reply) -> Value {
    let content = reply.blocks.iter().enumerate();
    let content: Vec<Value> = content
        .map(|(at, block)| match block {
            Block::Text(pieces) => json!({"type": "text", "text": pieces.concat()}),
            Block::Thinking { pieces, signature } => {
                json!({"type": "thinking", "thinking": pieces.concat(), "signature": signature})
            }
            Block::RedactedThinking(data) => json!({"type": "redacted_thinking", "data": data}),
            Block::ToolUse { id, name, input } => {
                let id = tool_id(id.as_deref(), reply.seq, at);
                // A text is no object: nothing of it can stand here.
                let none = json!({});
                let input = if input.is_string() { &none } else { input };
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        })
        .collect();
    let (reason, sequence) = stop(&reply.stop);
    let mut message = opening(reply);
    message.insert("content".into(), content.into());
    message.insert("stop_reason".into(), reason.into());
    message.insert("stop_sequence".into(), sequence);
    message.insert("usage".into(), usage(reply.usage));
    Value::Object(message)
}

fn events(reply: &Reply) -> Vec<Event> {
    let mut message = opening(reply);
    // Provisional, as the real one gives it: the cumulative count comes with message_delta.
    let mut provisional = reply.usage;
    provisional.output_tokens = provisional.output_tokens.min(1);
    message.insert("usage".into(), usage(provisional));
    let mut events = vec![event(
        "message_start",
        json!({"type": "message_start", "message": message}),
        false,
    )];
    for (at, block) in reply.blocks.iter().enumerate() {
        block_events(reply.seq, at, block, &mut events);
    }
    let (reason, sequence) = stop(&reply.stop);
    let delta = json!({"stop_reason": reason, "stop_sequence": sequence});
    events.push(event(
        "message_delta",
        json!({"type": "message_delta", "delta": delta, "usage": usage(reply.usage)}),
        true,
    ));
    events.push(event("message_stop", json!({"type": "message_stop"}), true));
    events
}

fn block_events(seq: u64, at: usize, block: &Block, events: &mut Vec<Event>) {
    let start = match block {
        Block::Text(_) => json!({"type": "text", "text": ""}),
        Block::Thinking { .. } => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Block::RedactedThinking(data) => json!({"type": "redacted_thinking", "data": data}),
        Block::ToolUse { id, name, .. } => {
            let id = tool_id(id.as_deref(), seq, at);
            json!({"type": "tool_use", "id": id, "name": name, "input": {}})
        }
    };
    events.push(event(
        "content_block_start",
        json!({"type": "content_block_start", "index": at, "content_block": start}),
        false,
    ));
    if at == 0 {
        events.push(event("ping", json!({"type": "ping"}), false));
    }
    let deltas: Vec<Value> = match block {
        Block::Text(pieces) => pieces
            .iter()
            .map(|piece| json!({"type": "text_delta", "text": piece}))
            .collect(),
        Block::Thinking { pieces, signature } => pieces
            .iter()
            .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
            .chain([json!({"type": "signature_delta", "signature": signature})])
            .collect(),
        Block::RedactedThinking(_) => Vec::new(),
        Block::ToolUse { input, .. } => input_pieces(input)
            .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
            .collect(),
    };
    events.extend(deltas.into_iter().map(|delta| {
        event(
            "content_block_delta",
            json!({"type": "content_block_delta", "index": at, "delta": delta}),
            false,
        )
    }));
    events.push(event(
        "content_block_stop",
        json!({"type": "content_block_stop", "index": at}),
        false,
    ));
}

/// The real one opens with an empty fragment, and sends nothing else for an empty input (wire.md 2).
fn input_pieces(input: &Value) -> impl Iterator<Item = String> + use<> {
    let empty = input.as_object().is_some_and(Map::is_empty);
    let rest = if empty {
        Vec::new()
    } else {
        pieces(&input_text(input), JSON_PIECE_CHARS)
    };
    std::iter::once(String::new()).chain(rest)
}

fn opening(reply: &Reply) -> Map<String, Value> {
    let mut message = Map::new();
    message.insert("id".into(), format!("msg_fake_{:06}", reply.seq).into());
    message.insert("type".into(), "message".into());
    message.insert("role".into(), "assistant".into());
    message.insert("model".into(), reply.model.clone().into());
    message.insert("content".into(), json!([]));
    message.insert("stop_reason".into(), Value::Null);
    message.insert("stop_sequence".into(), Value::Null);
    message
}

fn tool_id(ordered: Option<&str>, seq: u64, at: usize) -> String {
    ordered.map_or_else(|| format!("toolu_fake_{seq:06}_{at}"), ToOwned::to_owned)
}

fn stop(stop: &Stop) -> (&str, Value) {
    match stop {
        Stop::End => ("end_turn", Value::Null),
        Stop::MaxTokens => ("max_tokens", Value::Null),
        Stop::Sequence(sequence) => ("stop_sequence", sequence.clone().into()),
        Stop::ToolUse => ("tool_use", Value::Null),
        Stop::Ordered(word) => (word, Value::Null),
    }
}

fn usage(usage: Usage) -> Value {
    let Usage {
        input_tokens,
        output_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
    } = usage;
    json!({
        "input_tokens": input_tokens,
        "cache_creation_input_tokens": cache_creation_input_tokens,
        "cache_read_input_tokens": cache_read_input_tokens,
        "output_tokens": output_tokens,
        "service_tier": "standard",
    })
}

const fn event(name: &'static str, data: Value, terminal: bool) -> Event {
    Event {
        name,
        data: Data::Json(data),
        terminal,
    }
}

fn error(refusal: &Refusal, request_id: &str) -> Value {
    let mut fields = error_fields(refusal);
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("request_id".into(), request_id.into());
    }
    fields
}

fn error_fields(refusal: &Refusal) -> Value {
    json!({
        "type": "error",
        "error": {"type": FORMAT.kind_of(refusal), "message": refusal.message},
    })
}

const fn error_kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}
