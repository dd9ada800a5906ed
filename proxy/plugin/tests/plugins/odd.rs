//! Answers that are odd: what the shipped drivers make of them, and what they hold to be none.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_plugin::{Driver, DriverFailure, DriverFaultKind, Framing};

use crate::exchange::{bare, content_type, driver_of, frames, run, words};
use crate::stage::{ALPHA, BETA};

/// What comes of a stream, and whether it failed as one that nobody can read.
async fn streamed(driver: &Driver, data: &[Value]) -> (Vec<String>, bool) {
    let data: Vec<String> = data.iter().map(Value::to_string).collect();
    of_data(driver, &data).await
}

async fn of_data(driver: &Driver, data: &[String]) -> (Vec<String>, bool) {
    let mut run = run(driver).await;
    let head = run.head(200, &content_type("text/event-stream")).await;
    assert_eq!(head, Ok(Framing::Sse));
    let data: Vec<&str> = data.iter().map(String::as_str).collect();
    let mut events = Vec::new();
    let pushed = bare(run.push(&frames(&data), &mut events).await);
    let failed = match pushed {
        Ok(()) => false,
        Err(DriverFailure::Fault(fault)) => {
            assert_eq!(fault.kind, DriverFaultKind::Protocol);
            true
        }
        Err(failure) => panic!("{failure}"),
    };
    (words(&events), failed)
}

async fn whole(driver: &Driver, answer: &str) -> Vec<String> {
    let mut run = run(driver).await;
    let head = run.head(200, &content_type("application/json")).await;
    assert_eq!(head, Ok(Framing::WholeBody));
    let mut events = Vec::new();
    assert_eq!(run.push_bytes(answer.as_bytes(), &mut events).await, Ok(()));
    words(&events)
}

async fn alpha() -> Arc<Driver> {
    driver_of("provider-alpha", &ALPHA).await
}

async fn beta() -> Arc<Driver> {
    driver_of("provider-beta", &BETA).await
}

/// A stream of kind A around `events`, whose end says `usage`.
fn of_kind_a(events: Vec<Value>, usage: &Value) -> Vec<Value> {
    let start = json!({"type": "message_start", "message": {"id": "m", "model": "a",
        "usage": {"input_tokens": 25, "cache_read_input_tokens": 1_000, "output_tokens": 1}}});
    let end =
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage});
    let mut all = vec![start];
    all.extend(events);
    all.extend([end, json!({"type": "message_stop"})]);
    all
}

fn block(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

#[tokio::test]
async fn signatures_of_neighbors_stay_apart() {
    let driver = alpha().await;
    let thinking = |index: u64, text: &str, signature: &str| {
        let empty = json!({"type": "thinking", "thinking": "", "signature": ""});
        let mut events = vec![block(index, &empty)];
        if !text.is_empty() {
            events.push(delta(
                index,
                &json!({"type": "thinking_delta", "thinking": text}),
            ));
        }
        events.push(delta(
            index,
            &json!({"type": "signature_delta", "signature": signature}),
        ));
        events.push(stop(index));
        events
    };
    let blocks = [
        thinking(0, "", "s1"),
        thinking(1, "", "s2"),
        thinking(2, "hm", "s3"),
    ]
    .concat();
    let stream = of_kind_a(blocks, &json!({"output_tokens": 7}));
    let expected = [
        "reasoning ",
        "signature s1",
        "reasoning ",
        "signature s2",
        "reasoning hm",
        "signature s3",
    ];
    let (events, failed) = streamed(&driver, &stream).await;
    assert!(!failed);
    assert_eq!(events[2..8], expected);
    let answer = json!({
        "type": "message", "id": "m", "model": "a", "stop_reason": "end_turn",
        "content": [
            {"type": "thinking", "thinking": "", "signature": "s1"},
            {"type": "thinking", "thinking": "", "signature": "s2"},
            {"type": "thinking", "thinking": "hm", "signature": "s3"},
        ],
        "usage": {"input_tokens": 25, "output_tokens": 7},
    });
    assert_eq!(whole(&driver, &answer.to_string()).await[2..8], expected);
}

#[tokio::test]
async fn what_was_read_is_never_counted_down() {
    let driver = alpha().await;
    for usage in [
        json!({"output_tokens": 7}),
        json!({"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 7}),
        json!({"input_tokens": null, "cache_read_input_tokens": null, "output_tokens": 7}),
    ] {
        let (events, failed) = streamed(&driver, &of_kind_a(Vec::new(), &usage)).await;
        assert!(!failed);
        assert!(
            events.contains(&"usage 25 7 1000 0".to_owned()),
            "{usage}: {events:?}"
        );
    }
}

/// A call without what its model said would be another call.
#[tokio::test]
async fn arguments_of_no_call_are_a_failure() {
    let driver = alpha().await;
    let call = json!({"type": "tool_use", "id": "t", "name": "f", "input": {}});
    let piece = json!({"type": "input_json_delta", "partial_json": "{\"a\":1}"});
    let usage = json!({"output_tokens": 7});
    let stray = vec![block(1, &call), delta(2, &piece), stop(1)];
    assert!(streamed(&driver, &of_kind_a(stray, &usage)).await.1);
    let late = vec![block(1, &call), stop(1), delta(1, &piece)];
    assert!(streamed(&driver, &of_kind_a(late, &usage)).await.1);
    // The provider's own tools have arguments too, which are nobody else's business.
    let own = json!({"type": "server_tool_use", "id": "s", "name": "search", "input": {}});
    let passed = vec![block(0, &own), delta(0, &piece), stop(0)];
    assert!(!streamed(&driver, &of_kind_a(passed, &usage)).await.1);
}

#[tokio::test]
async fn null_is_as_good_as_absent() {
    let driver = alpha().await;
    let nulls = json!({"type": "text", "text": null, "thinking": null, "signature": null, "citations": null});
    let said = json!({"type": "text_delta", "text": "so", "thinking": null, "signature": null, "partial_json": null});
    let blocks = vec![block(0, &nulls), delta(0, &said), stop(0)];
    let mut stream = of_kind_a(blocks, &json!({"output_tokens": 7}));
    for field in ["id", "model", "content", "stop_reason"] {
        stream[0]["message"][field] = Value::Null;
    }
    let (events, failed) = streamed(&driver, &stream).await;
    assert!(!failed);
    assert!(events.contains(&"text so".to_owned()), "{events:?}");
    let driver = beta().await;
    let chunk = json!({"id": null, "model": null, "choices": [
        {"index": null, "delta": {"role": null, "content": "so", "tool_calls": null}, "finish_reason": "stop"}]});
    let (events, failed) = streamed(&driver, &[chunk]).await;
    assert!(!failed);
    assert!(events.contains(&"text so".to_owned()), "{events:?}");
}

#[tokio::test]
async fn a_stream_of_kind_b_that_says_all_of_it_again_says_it_once() {
    let driver = beta().await;
    let message = json!({"role": "assistant", "content": "Hello"});
    let choice = |choice: Value| json!({"id": "c", "model": "b", "choices": [choice]});
    for last in [
        json!({"index": 0, "message": message, "finish_reason": "stop"}),
        json!({"index": 0, "delta": {}, "message": message, "finish_reason": "stop"}),
    ] {
        let said = json!({"index": 0, "delta": {"content": "Hello"}, "finish_reason": null});
        let (events, failed) = streamed(&driver, &[choice(said), choice(last)]).await;
        assert!(!failed);
        let texts = events.iter().filter(|event| event.starts_with("text"));
        assert_eq!(texts.collect::<Vec<_>>(), ["text Hello"]);
    }
}

#[tokio::test]
async fn a_mark_of_byte_order_begins_no_answer() {
    let answers = [
        (
            alpha().await,
            json!({
                "type": "message", "id": "m", "model": "a", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": "so"}], "usage": {},
            }),
        ),
        (
            beta().await,
            json!({"id": "c", "model": "b", "choices": [
                {"index": 0, "message": {"content": "so"}, "finish_reason": "stop"}]}),
        ),
    ];
    for (driver, answer) in answers {
        let events = whole(&driver, &format!("\u{feff}{answer}")).await;
        assert!(events.contains(&"text so".to_owned()), "{events:?}");
    }
}

#[tokio::test]
async fn events_without_data_say_nothing() {
    let usage = json!({"output_tokens": 7});
    let text = json!({"type": "text", "text": "so"});
    let chunk = json!({"id": "c", "model": "b", "choices": [
        {"index": 0, "delta": {"content": "so"}, "finish_reason": "stop"}]});
    for (driver, stream) in [
        (
            alpha().await,
            of_kind_a(vec![block(0, &text), stop(0)], &usage),
        ),
        (beta().await, vec![chunk]),
    ] {
        let mut data = vec![String::new()];
        for event in &stream {
            data.extend([event.to_string(), " ".to_owned()]);
        }
        let (events, failed) = of_data(&driver, &data).await;
        assert!(!failed);
        assert!(events.contains(&"text so".to_owned()), "{events:?}");
    }
}

#[tokio::test]
async fn zeros_behind_a_count_are_none() {
    let driver = beta().await;
    let said = json!({"id": "c", "model": "b", "choices": [
        {"index": 0, "delta": {"content": "so"}, "finish_reason": "stop"}]});
    let count = |prompt: u64, answer: u64| {
        json!({"id": "c", "model": "b", "choices": [],
            "usage": {"prompt_tokens": prompt, "completion_tokens": answer}})
    };
    let (events, failed) = streamed(&driver, &[said, count(25, 7), count(0, 0)]).await;
    assert!(!failed);
    let counts = events.iter().filter(|event| event.starts_with("usage"));
    assert_eq!(counts.collect::<Vec<_>>(), ["usage 25 7 0 0"]);
}
