//! The messages stream as a client reads it: a validator that is as strict as the strictest SDK, and puts the
//! message together as they do.

use proptest::prelude::*;
use serde_json::{Value, json};
use svc_core::chat::{ChatEvent, FinishReason, Usage};
use svc_core::surface::ReplyEncoder;
use svc_core::surface::messages::Encoder;

use super::replies::{
    USAGE, Written, any_reason, delta, end, events, finish, frames, head, start, steps, text, write,
};

/// A block that is open on the wire.
struct Open {
    block: Value,
    arguments: String,
}

/// Reads a whole stream; panics at the first frame that breaks the format.
fn read(stream: &str) -> Value {
    let mut message = Value::Null;
    let mut open: Option<Open> = None;
    let (mut is_ended, mut is_stopped) = (false, false);
    for frame in frames(stream) {
        let data: Value = serde_json::from_str(&frame.data).unwrap();
        assert_eq!(data["type"], frame.name.as_str(), "name and type are one");
        assert!(!is_stopped, "nothing comes behind message_stop");
        match frame.name.as_str() {
            "ping" => {}
            "message_start" => {
                assert!(message.is_null(), "one start");
                message = data["message"].clone();
                for counter in [
                    "input_tokens",
                    "output_tokens",
                    "cache_read_input_tokens",
                    "cache_creation_input_tokens",
                ] {
                    assert!(message["usage"][counter].is_u64(), "{counter}");
                }
            }
            "content_block_start" => {
                assert!(open.is_none() && !is_ended, "one block at a time");
                let next = message["content"].as_array().unwrap().len();
                assert_eq!(data["index"], next, "dense");
                open = Some(Open {
                    block: data["content_block"].clone(),
                    arguments: String::new(),
                });
            }
            "content_block_delta" => {
                assert_eq!(data["index"], message["content"].as_array().unwrap().len());
                grow(open.as_mut().expect("a block is open"), &data["delta"]);
            }
            "content_block_stop" => {
                let content = message["content"].as_array_mut().unwrap();
                assert_eq!(data["index"], content.len());
                let Open {
                    mut block,
                    arguments,
                } = open.take().expect("a block is open");
                if block["type"] == "tool_use" {
                    block["input"] = serde_json::from_str(&arguments).expect("arguments are JSON");
                }
                content.push(block);
            }
            "message_delta" => {
                assert!(open.is_none() && !is_ended && !message.is_null());
                is_ended = true;
                for field in ["stop_reason", "stop_sequence"] {
                    message[field] = data["delta"][field].clone();
                }
                message["usage"] = data["usage"].clone();
            }
            "message_stop" => {
                assert!(is_ended);
                is_stopped = true;
            }
            other => panic!("unknown event {other}"),
        }
    }
    assert!(is_stopped, "a good stream says so");
    message
}

fn grow(open: &mut Open, delta: &Value) {
    let (kind, field) = match delta["type"].as_str().unwrap() {
        "text_delta" => ("text", "text"),
        "thinking_delta" => ("thinking", "thinking"),
        "signature_delta" => {
            // SDKs set it, they do not add to it.
            assert_eq!(open.block["type"], "thinking");
            assert_eq!(open.block["signature"], "", "once");
            open.block["signature"] = delta["signature"].clone();
            return;
        }
        "input_json_delta" => {
            assert_eq!(open.block["type"], "tool_use");
            let piece = delta["partial_json"].as_str().unwrap();
            assert!(!piece.is_empty());
            open.arguments.push_str(piece);
            return;
        }
        other => panic!("unknown delta {other}"),
    };
    assert_eq!(open.block["type"], kind);
    let joined = format!(
        "{}{}",
        open.block[field].as_str().unwrap(),
        delta[field].as_str().unwrap()
    );
    open.block[field] = json!(joined);
}

proptest! {
    #[test]
    fn any_order_of_events_is_one_valid_stream_and_equals_the_whole(steps in steps(), reason in any_reason()) {
        let written = write::<Encoder>(&events(steps), &finish(reason));
        prop_assert_eq!(read(&written.stream), written.whole);
    }
}

#[test]
fn calls_that_interleave_come_one_after_the_other() {
    let events = [
        start(0, "a", "f"),
        start(1, "b", "g"),
        delta(1, "{\"y\":"),
        delta(0, "{\"x\":1}"),
        delta(1, "2}"),
        end(1),
        text("late"),
        end(0),
    ];
    let message = read(&write::<Encoder>(&events, &finish(FinishReason::Stop)).stream);
    assert_eq!(
        message["content"],
        json!([
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
            {"type": "tool_use", "id": "b", "name": "g", "input": {"y": 2}},
            {"type": "text", "text": "late"},
        ])
    );
    assert_eq!(message["stop_reason"], "tool_use");
}

#[test]
fn a_call_that_never_got_its_arguments_stays_without() {
    let events = [text("so"), start(0, "a", "f"), end(0)];
    let written = write::<Encoder>(&events, &finish(FinishReason::Length));
    let names: Vec<String> = frames(&written.stream)
        .into_iter()
        .map(|frame| frame.name)
        .collect();
    // Clients put no input together where no piece of one comes.
    assert_eq!(
        names,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    assert!(written.stream.contains("\"max_tokens\""));
    assert_eq!(
        written.whole["content"],
        json!([{"type": "text", "text": "so"}])
    );
}

#[test]
fn text_is_sent_as_it_comes() {
    let mut encoder = Encoder::default();
    let mut out = Vec::new();
    encoder.open(&head(), &mut out);
    assert!(out.is_empty(), "the start waits for the first counts");
    let counted = Usage {
        input_tokens: 9,
        ..Usage::default()
    };
    encoder.event(&ChatEvent::Usage(counted), &mut out).unwrap();
    let begun: Value =
        serde_json::from_str(&frames(&String::from_utf8(out.clone()).unwrap())[0].data).unwrap();
    assert_eq!(begun["message"]["usage"]["input_tokens"], 9);
    out.clear();
    encoder.event(&text("a"), &mut out).unwrap();
    assert!(out.ends_with(b"{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n"));
    out.clear();
    encoder.event(&text("b"), &mut out).unwrap();
    assert_eq!(frames(&String::from_utf8(out).unwrap()).len(), 1);
}

#[test]
fn a_prompt_that_its_provider_has_not_counted_yet_has_our_count() {
    let begun = |events: &[ChatEvent]| {
        let stream = write::<Encoder>(events, &finish(FinishReason::Stop)).stream;
        let start: Value = serde_json::from_str(&frames(&stream)[0].data).unwrap();
        start["message"]["usage"]["input_tokens"].clone()
    };
    let ours = head().estimated_input_tokens;
    assert_eq!(begun(&[text("a"), ChatEvent::Usage(USAGE)]), ours);
    let nothing = ChatEvent::Usage(Usage::default());
    assert_eq!(begun(&[nothing, text("a")]), ours);
    let counted = ChatEvent::Usage(USAGE);
    assert_eq!(begun(&[counted, text("a")]), USAGE.input_tokens);
    let cached = ChatEvent::Usage(Usage {
        cache_read_input_tokens: 5,
        ..Usage::default()
    });
    assert_eq!(begun(&[cached, text("a")]), 0);
}

#[test]
fn a_refusal_tells_its_category_without_an_explanation() {
    let told = |reason, category: Option<&str>| {
        let mut finish = finish(reason);
        finish.refused_category = category.map(str::to_owned);
        let Written { stream, whole } = write::<Encoder>(&[text("x")], &finish);
        let frames = frames(&stream);
        let end = frames
            .iter()
            .find(|frame| frame.data.contains("message_delta"));
        let end: Value = serde_json::from_str(&end.unwrap().data).unwrap();
        assert_eq!(end["delta"].get("stop_details"), whole.get("stop_details"));
        whole.get("stop_details").cloned()
    };
    let expected = json!({"type": "refusal", "category": "bio", "explanation": null});
    assert_eq!(told(FinishReason::Refusal, Some("bio")), Some(expected));
    assert_eq!(told(FinishReason::Refusal, None), None);
    assert_eq!(told(FinishReason::Stop, Some("bio")), None);
}

#[test]
fn stop_reasons_are_the_wire_formats() {
    let stop = |reason, raw: &str, stop: Option<&str>| {
        let mut finish = finish(reason);
        finish.raw = raw.into();
        finish.stop_sequence = stop.map(str::to_owned);
        let whole = write::<Encoder>(&[text("x")], &finish).whole;
        (whole["stop_reason"].clone(), whole["stop_sequence"].clone())
    };
    for (reason, raw, sequence, word) in [
        (FinishReason::Stop, "stop", None, "end_turn"),
        (
            FinishReason::Stop,
            "stop_sequence",
            Some("END"),
            "stop_sequence",
        ),
        (FinishReason::Length, "length", None, "max_tokens"),
        (
            FinishReason::Length,
            "model_context_window_exceeded",
            None,
            "model_context_window_exceeded",
        ),
        (FinishReason::ToolCalls, "tool_calls", None, "tool_use"),
        (FinishReason::Refusal, "refusal", None, "refusal"),
        (
            FinishReason::ContentFilter,
            "content_filter",
            None,
            "refusal",
        ),
        (FinishReason::Other, "new", None, "max_tokens"),
    ] {
        assert_eq!(
            stop(reason, raw, sequence),
            (json!(word), json!(sequence)),
            "{raw}"
        );
    }
}

#[test]
fn the_whole_message_counts_as_metered() {
    let whole = write::<Encoder>(&[], &finish(FinishReason::Stop)).whole;
    assert_eq!(whole["usage"]["input_tokens"], USAGE.input_tokens);
    assert_eq!(whole["content"], json!([]));
}
