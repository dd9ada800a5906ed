//! How the fake breaks, and how it notices that its caller has left.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::{Fake, ask, ask_stream, assemble, events, read_to_end, read_until, start, with};

/// The last chunk of a whole chunked body.
const LAST_CHUNK: &str = "0\r\n\r\n";

fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_micros()).unwrap()
}

/// The request's end as the journal has it, after it has come.
async fn ended(fake: &Fake) -> Value {
    fake.requests("await_ended=1").await.remove(0)
}

#[tokio::test]
async fn a_cut_stream_ends_without_its_last_chunk() {
    let fake = start().await;
    fake.order(json!([{"close_after_events": 4, "close": "cut"}]))
        .await;
    let mut stream = fake.connect(&ask_stream("some longer text")).await;
    let (seen, end) = read_to_end(&mut stream).await;
    assert_eq!(seen.matches("event: ").count(), 4);
    assert!(!seen.ends_with(LAST_CHUNK) && end.is_ok());
    let seen = ended(&fake).await;
    assert_eq!(seen["closed_by_script"], true);
    assert_eq!(seen["closed_by_peer_at_us"], Value::Null);
}

#[tokio::test]
async fn a_reset_is_a_reset() {
    let fake = start().await;
    fake.order(json!([
        {"close_after_events": 2, "close": "reset", "delay_between_events_ms": 5},
        {"close_after_events": 0, "close": "reset"},
    ]))
    .await;
    let mut stream = fake.connect(&ask_stream("x")).await;
    let (seen, end) = read_to_end(&mut stream).await;
    assert_eq!(seen.matches("event: ").count(), 2);
    assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    let mut stream = fake.connect(&ask_stream("x")).await;
    let (seen, end) = read_to_end(&mut stream).await;
    assert_eq!(seen, "");
    assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_half_closed_connection_still_notices_its_caller_leaving() {
    let fake = start().await;
    fake.order(json!([{"close_after_events": 3, "close": "half_close"}]))
        .await;
    let mut stream = fake.connect(&ask_stream("x")).await;
    let (seen, end) = read_to_end(&mut stream).await;
    assert_eq!(seen.matches("event: ").count(), 3);
    assert!(!seen.ends_with(LAST_CHUNK) && end.is_ok());
    // The other direction is open, so nobody has left yet.
    let before = fake.requests("").await.remove(0);
    assert_eq!(before["closed_by_peer_at_us"], Value::Null);
    drop(stream);
    let seen = ended(&fake).await;
    assert_eq!(seen["closed_by_script"], true);
    assert_ne!(seen["closed_by_peer_at_us"], Value::Null);
}

#[tokio::test]
async fn a_stream_that_just_ends_is_whole_http() {
    let fake = start().await;
    fake.order(json!([{"no_terminal_event": true}, {"close_after_events": 3, "close": "end"}]))
        .await;
    for last in ["content_block_stop", "ping"] {
        let text = fake.send_text(&ask_stream("x")).await;
        assert_eq!(events(text.as_bytes()).last().unwrap().0, last);
    }
}

#[tokio::test]
async fn a_json_answer_breaks_in_its_middle() {
    let fake = start().await;
    fake.order(json!([{"close_after_events": 1, "close": "cut"}]))
        .await;
    let mut stream = fake.connect(&ask("x")).await;
    let (seen, _) = read_to_end(&mut stream).await;
    let (head, body) = seen.split_once("\r\n\r\n").unwrap();
    let length = head.split_once("content-length: ").unwrap().1;
    let length: usize = length.split_once("\r\n").unwrap().0.parse().unwrap();
    assert_eq!(body.len(), length / 2);
}

#[tokio::test]
async fn a_caller_that_leaves_is_noticed_at_every_stage() {
    let fake = start().await;
    let stages = [
        (json!({"stall_after_events": 0}), ask_stream("x"), None),
        (json!({"delay_before_head_ms": 60_000}), ask("x"), None),
        (
            json!({"stall_after_events": 3}),
            ask_stream("x"),
            Some("ping"),
        ),
        (
            json!({"event_count": 50, "delay_between_events_ms": 2000, "delay_before_head_ms": 1}),
            ask_stream("x"),
            None,
        ),
        (json!({"stall_after_events": 1}), ask("x"), Some("msg_fake")),
    ];
    for (behaviour, body, mark) in stages {
        fake.client
            .delete(fake.url("/_control/requests"))
            .send()
            .await
            .unwrap();
        fake.order(json!([behaviour])).await;
        let mut stream = fake.connect(&body).await;
        fake.requests("await_received=1").await;
        if let Some(mark) = mark {
            read_until(&mut stream, mark).await;
        }
        let left_at_us = now_us();
        drop(stream);
        let seen = ended(&fake).await;
        let noticed_at_us = seen["closed_by_peer_at_us"].as_u64().unwrap();
        // Mostly well under 1 ms; the bound is for busy machines.
        let late_us = noticed_at_us.saturating_sub(left_at_us);
        assert!(late_us < 100_000, "{behaviour}: {late_us} µs");
        assert_eq!(seen["finished"], false);
    }
}

#[tokio::test]
async fn a_stream_reset_over_http_2_is_noticed_and_the_connection_lives() {
    let fake = start().await;
    fake.order(json!([{"stall_after_events": 3}])).await;
    let client = reqwest::Client::builder()
        .http2_prior_knowledge()
        .build()
        .unwrap();
    let send = async |body: &Value| {
        let mut request = fake.request("/v1/messages", body).build().unwrap();
        *request.version_mut() = http::Version::HTTP_2;
        client.execute(request).await.unwrap()
    };
    let mut response = send(&ask_stream("x")).await;
    assert_eq!(response.version(), http::Version::HTTP_2);
    response.chunk().await.unwrap().unwrap();
    drop(response);
    let seen = ended(&fake).await;
    assert_ne!(seen["closed_by_peer_at_us"], Value::Null);
    assert_eq!(send(&ask("x")).await.status(), 200);
    let requests = fake.requests("await_ended=2").await;
    assert_eq!(requests[0]["connection"], requests[1]["connection"]);
}

#[tokio::test]
async fn odd_framing_says_the_same() {
    let fake = start().await;
    let plain = events(fake.send_text(&ask_stream("the same")).await.as_bytes());
    for oddity in [
        json!({"line_end": "crlf"}),
        json!({"line_end": "cr", "comments": true}),
        json!({"bom": true, "no_space": true}),
        json!({"multi_line_data": true, "id_and_retry": true}),
        json!({"unterminated": true}),
        json!({"line_end": "crlf", "bom": true, "comments": true, "multi_line_data": true, "drip_bytes": 1}),
    ] {
        fake.order(json!([oddity])).await;
        let response = fake.request("/v1/messages", &ask_stream("the same"));
        let bytes = response.send().await.unwrap().bytes().await.unwrap();
        assert_eq!(bytes.starts_with(b"\xEF\xBB\xBF"), oddity["bom"] == true);
        assert_eq!(assemble(&events(&bytes)), assemble(&plain), "{oddity}");
    }
}

#[tokio::test]
async fn dripping_takes_its_time_from_the_first_byte() {
    let fake = start().await;
    fake.order(json!([{"drip_bytes": 20, "drip_interval_ms": 2, "raw_body": "x".repeat(200)}]))
        .await;
    let started = Instant::now();
    let mut stream = fake.connect(&ask("x")).await;
    let mut first = [0; 4096];
    assert_eq!(stream.read(&mut first).await.unwrap(), 20);
    read_until(&mut stream, &"x".repeat(200)).await;
    assert!(started.elapsed() >= Duration::from_millis(20));
}

#[tokio::test]
async fn what_is_no_answer_looks_like_one() {
    let fake = start().await;
    fake.order(json!([
        {"html_page": true},
        {"raw_body": "{\"type\":", "content_type": "application/json"},
        {"malformed_after_events": 3},
        {"error_event_after_events": 2, "error_type": "overloaded_error"},
    ]))
    .await;
    let response = fake
        .request("/v1/messages", &ask("x"))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    assert!(
        response.headers()["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/html")
    );
    assert_eq!(fake.send_text(&ask("x")).await, "{\"type\":");
    let text = fake.send_text(&ask_stream("x")).await;
    let broken = text
        .split("\n\n")
        .nth(3)
        .unwrap()
        .split_once("data: ")
        .unwrap()
        .1;
    assert!(serde_json::from_str::<Value>(broken).is_err());
    let text = fake.send_text(&ask_stream("x")).await;
    let (name, data) = events(text.as_bytes()).pop().unwrap();
    assert_eq!(name, "error");
    assert_eq!(data["error"]["type"], "overloaded_error");
}

#[tokio::test]
async fn ordered_pieces_come_one_event_each() {
    let fake = start().await;
    let count = async |body: Value| {
        let text = fake.send_text(&body).await;
        text.matches("text_delta").count()
    };
    fake.order(json!([{"event_count": 500}, {"text_chunks": ["a", "bc", ""]}, {"text": "abcdef", "event_count": 3}]))
        .await;
    assert_eq!(count(ask_stream("x")).await, 500);
    assert_eq!(
        count(with(ask_stream("x"), "max_tokens", json!(1))).await,
        3
    );
    assert_eq!(count(ask_stream("x")).await, 3);
}

#[tokio::test]
async fn answers_that_come_together_wait_for_each_other() {
    let fake = start().await;
    fake.order(json!([{"contains": "both", "times": 2, "together": true}]))
        .await;
    let mut first = fake.connect(&ask("both")).await;
    assert_eq!(fake.requests("await_received=1").await.len(), 1);
    fake.send_text(&ask("alone")).await;
    assert_eq!(fake.requests("").await[0]["finished"], false);
    let mut second = fake.connect(&ask("both")).await;
    for stream in [&mut first, &mut second] {
        read_until(stream, "end_turn").await;
    }
}
