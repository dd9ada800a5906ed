//! The chat-completions stream as a client reads it: a validator that puts the message together as SDKs do.

use proptest::prelude::*;
use serde_json::{Value, json};
use svc_core::chat::{ChatEvent, FinishReason};
use svc_core::surface::chat_completions::Encoder;

use super::replies::{any_reason, delta, end, events, finish, frames, start, steps, text, write};

/// Reads a whole stream into a `chat.completion`; panics at the first chunk that breaks the format.
fn read(stream: &str) -> Value {
    let lines = frames(stream);
    let (done, chunks) = lines.split_last().unwrap();
    assert_eq!((done.name.as_str(), done.data.as_str()), ("", "[DONE]"));
    let chunks: Vec<Value> = chunks
        .iter()
        .map(|frame| {
            assert!(frame.name.is_empty(), "no event lines");
            serde_json::from_str(&frame.data).unwrap()
        })
        .collect();
    let (last, chunks) = chunks.split_last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert_eq!(
        chunks[0]["choices"][0]["delta"],
        json!({"role": "assistant"})
    );

    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    let mut finish_reason = Value::Null;
    for chunk in chunks {
        assert_eq!(chunk["object"], "chat.completion.chunk");
        for field in ["id", "created", "model"] {
            assert_eq!(chunk[field], last[field], "{field} stays");
        }
        assert!(
            finish_reason.is_null(),
            "the finish chunk is the penultimate"
        );
        let choice = &chunk["choices"][0];
        finish_reason = choice["finish_reason"].clone();
        for field in ["content", "refusal"] {
            if let Some(piece) = choice["delta"][field].as_str() {
                let before = message[field].as_str().unwrap_or_default();
                message[field] = json!(format!("{before}{piece}"));
            }
        }
        for call in choice["delta"]["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
        {
            grow(&mut message, call);
        }
    }
    json!({
        "id": last["id"], "object": "chat.completion", "created": last["created"], "model": last["model"],
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason}],
        "usage": last["usage"],
    })
}

fn grow(message: &mut Value, piece: &Value) {
    if message["tool_calls"].is_null() {
        message["tool_calls"] = json!([]);
    }
    let calls = message["tool_calls"].as_array_mut().unwrap();
    let at = usize::try_from(piece["index"].as_u64().unwrap()).unwrap();
    if at == calls.len() {
        assert_eq!(piece["type"], "function");
        assert!(piece["id"].is_string() && piece["function"]["name"].is_string());
        let mut call = piece.clone();
        call.as_object_mut().unwrap().shift_remove("index");
        calls.push(call);
        return;
    }
    let function = &mut calls[at]["function"];
    let joined = format!(
        "{}{}",
        function["arguments"].as_str().unwrap(),
        piece["function"]["arguments"].as_str().unwrap()
    );
    function["arguments"] = json!(joined);
}

/// A stream may have carried text before a call, and arguments keep the model's own spelling there (wire.md 2,
/// point 14).
fn as_whole(mut read: Value) -> Value {
    let message = &mut read["choices"][0]["message"];
    if !message["tool_calls"].is_null() {
        message["content"] = Value::Null;
    }
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten() {
        let text = call["function"]["arguments"].as_str().unwrap();
        let arguments: Value = serde_json::from_str(text).expect("arguments are JSON");
        call["function"]["arguments"] = json!(arguments.to_string());
    }
    read
}

proptest! {
    #[test]
    fn any_order_of_events_is_one_valid_stream_and_equals_the_whole(steps in steps(), reason in any_reason()) {
        let written = write::<Encoder>(&events(steps), &finish(reason));
        prop_assert_eq!(as_whole(read(&written.stream)), written.whole);
    }
}

#[test]
fn calls_that_interleave_come_one_after_the_other() {
    let events = [
        text("let me "),
        text("look"),
        start(0, "a", "f"),
        start(1, "b", "g"),
        delta(1, "{\"y\":"),
        delta(0, "{\"x\":1}"),
        delta(1, "2}"),
        end(0),
        end(1),
    ];
    let written = write::<Encoder>(&events, &finish(FinishReason::Stop));
    let places = [
        "\"name\":\"f\"",
        "{\\\"x\\\":1}",
        "\"name\":\"g\"",
        "{\\\"y\\\":2}",
    ]
    .map(|piece| written.stream.find(piece));
    assert!(places.is_sorted() && !places.contains(&None), "{places:?}");
    let message = &read(&written.stream)["choices"][0];
    assert_eq!(message["message"]["content"], "let me look");
    assert_eq!(
        message["message"]["tool_calls"][1]["function"]["arguments"],
        "{\"y\":2}"
    );
    assert_eq!(message["finish_reason"], "tool_calls");
    assert_eq!(
        written.whole["choices"][0]["message"]["content"],
        Value::Null
    );
}

#[test]
fn a_call_that_never_got_its_arguments_stays_without() {
    let events = [text("so"), start(0, "a", "f"), end(0)];
    let written = write::<Encoder>(&events, &finish(FinishReason::Length));
    let choice = &read(&written.stream)["choices"][0];
    assert_eq!(
        choice["message"]["tool_calls"][0]["function"],
        json!({"name": "f", "arguments": ""})
    );
    assert_eq!(choice["finish_reason"], "length");
    let message = &written.whole["choices"][0]["message"];
    assert_eq!(message["content"], "so");
    assert!(message.get("tool_calls").is_none(), "{message}");
}

#[test]
fn arguments_that_are_no_object_are_shown_as_the_model_wrote_them() {
    for text in ["{\"a\": \"x", "[1, 2]", "{'a': 1}"] {
        let events = [start(0, "a", "f"), delta(0, text), end(0)];
        let written = write::<Encoder>(&events, &finish(FinishReason::ToolCalls));
        for body in [read(&written.stream), written.whole] {
            let call = &body["choices"][0]["message"]["tool_calls"][0];
            assert_eq!(call["function"], json!({"name": "f", "arguments": text}));
        }
    }
}

#[test]
fn finish_reasons_are_the_wire_formats() {
    for (reason, word) in [
        (FinishReason::Stop, "stop"),
        (FinishReason::Length, "length"),
        (FinishReason::ToolCalls, "tool_calls"),
        (FinishReason::Refusal, "content_filter"),
        (FinishReason::ContentFilter, "content_filter"),
        (FinishReason::Other, "length"),
    ] {
        let whole = write::<Encoder>(&[text("x")], &finish(reason)).whole;
        assert_eq!(whole["choices"][0]["finish_reason"], word);
    }
}

#[test]
fn a_refusal_stands_in_its_place_and_in_the_text() {
    let said = [ChatEvent::Declined, text("I can"), text("not.")];
    let written = write::<Encoder>(&said, &finish(FinishReason::Refusal));
    for body in [read(&written.stream), written.whole] {
        let choice = &body["choices"][0];
        assert_eq!(
            choice["message"],
            json!({"role": "assistant", "content": "I cannot.", "refusal": "I cannot."})
        );
        // Where it is another word, SDKs raise an error in the place of the refusal.
        assert_eq!(choice["finish_reason"], "stop");
    }
    // SDKs that read the text as JSON look for a refusal in each piece first.
    assert_eq!(written.stream.matches("\"refusal\":\"").count(), 2);
    assert_eq!(written.stream.matches("\"content\":\"").count(), 2);
    let cut = write::<Encoder>(&said, &finish(FinishReason::Length)).whole;
    assert_eq!(cut["choices"][0]["finish_reason"], "length");
}

#[test]
fn input_counts_hold_the_cache() {
    let whole = write::<Encoder>(&[text("x")], &finish(FinishReason::Stop)).whole;
    assert_eq!(
        whole["usage"],
        json!({
            "prompt_tokens": 19, "completion_tokens": 7, "total_tokens": 26,
            "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 3},
        })
    );
}
