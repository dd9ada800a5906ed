//! Providers that fail: every failure is the contract's error, never a success, and never in their words.

mod circuit;
mod meanwhile;
mod reasoning;
mod route;
mod transport;
mod truncated;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::gateway::{chat, whole};
use svc_tests::patience::eventually;
use svc_tests::sse;
use svc_tests::wire::Answer;
use svc_tests::world::{PROVIDER_HEAD_MS, PROVIDER_IDLE_MS, World};

use crate::engines::{on_both_engines, on_impatient, on_worlds_of_their_own};
use crate::refusal::error_of;

on_both_engines! { every_odd_but_legal_framing_is_read }

on_worlds_of_their_own! {
    a_truncated_stream_is_an_error_and_no_success,
    every_status_of_a_provider_is_mapped,
    a_page_of_a_proxy_is_never_relayed,
    a_cut_off_whole_answer_is_an_error,
    a_stale_connection_is_replaced_without_a_second_request,
    an_event_of_failure_ends_the_stream,
    a_ping_is_no_answer,
    an_open_circuit_refuses_at_once,
}

on_impatient! {
    a_provider_that_never_answers_is_left_in_time,
    a_provider_that_falls_silent_is_left_in_time,
    a_silent_stream_gets_heartbeats,
    a_stream_begins_with_its_first_event_however_long_that_takes_to_judge,
    a_provider_that_only_pings_keeps_no_heartbeat_back,
}

/// Asks with a behaviour of the fake.
async fn with(world: &World, key: &str, mut behaviour: Value, streamed: bool) -> (Answer, String) {
    let mark = mark();
    behaviour["contains"] = json!(mark);
    world.fake.expect(behaviour).await;
    let body = json!({"message": mark, "stream": streamed});
    (world.gateway.answer(&chat(key, body)).await, mark)
}

/// A good call: failures in a row would open the circuit, which has a test of its own.
async fn sound(world: &World, key: &str) {
    let answer = world.gateway.chat(key, json!({"message": mark()})).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// Contract 21: an open circuit is INFERENCE_UNAVAILABLE, and the provider is left alone.
async fn an_open_circuit_refuses_at_once(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let refused = eventually("an open circuit", async || {
        let (answer, mark) = with(world, key, json!({"status": 500}), false).await;
        (answer.status != 502).then_some((answer, mark))
    });
    let (answer, unheard) = refused.await;
    let error = error_of(&answer);
    assert_eq!(
        (answer.status, &error["code"], &error["retryable"]),
        (503, &json!("INFERENCE_UNAVAILABLE"), &json!(true))
    );
    assert!(world.fake.seen(&unheard).await.is_empty());
    let (_, terminal) = books::pair(&world.gateway.database, answer.request_id()).await;
    assert_eq!(terminal["event"], "inference.failed");
    // It closes again by itself once the provider is well; what was ordered and not fetched is the first answer.
    world.fake.forget().await;
    eventually("a closed circuit", async || {
        // Ten seconds of asking must not use up what a key may ask in a minute.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let answer = world.gateway.chat(key, json!({"message": mark()})).await;
        (answer.status == 200).then_some(())
    })
    .await;
    sound(world, key).await;
    books::check(&world.gateway.database, &organization.id).await;
}

async fn every_status_of_a_provider_is_mapped(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    for (status, retryable, reason) in [
        (400, false, Some("provider_rejected")),
        (413, false, Some("context_too_long")),
        (422, false, Some("provider_rejected")),
        (401, true, None),
        (403, true, None),
        (404, true, None),
        (405, true, None),
        (408, true, None),
        (415, true, None),
        (421, true, None),
        (429, true, None),
        (500, true, None),
        (502, true, None),
        (503, true, None),
        (504, true, None),
        (529, true, None),
    ] {
        for streamed in [true, false] {
            let words = "zanzibar the provider's own words";
            let (answer, mark) = with(
                world,
                key,
                json!({"status": status, "error_message": words}),
                streamed,
            )
            .await;
            assert_eq!(answer.status, 502, "{status}: {}", answer.text());
            let error = error_of(&answer);
            assert_eq!(
                (&error["code"], &error["retryable"]),
                (&json!("INFERENCE_UPSTREAM_FAILURE"), &json!(retryable)),
                "{status}"
            );
            if let Some(reason) = reason {
                let given = error["details"]["reason"].as_str().unwrap();
                let known = given == reason || (status == 413 && given == "provider_rejected");
                assert!(known, "{status}: {given}");
            }
            let shown = format!("{:?} {}", answer.headers, answer.text());
            for leaked in ["zanzibar", "anthropic", "fake", "org_of_the_operator"] {
                assert!(!shown.contains(leaked), "{leaked}: {shown}");
            }
            // Content was sent: no second attempt, whatever the status says.
            assert_eq!(world.fake.seen(&mark).await.len(), 1, "{status}");
            sound(world, key).await;
        }
    }
    for (said, heard) in [
        ("7", "7"),
        ("Wed, 21 Oct 2015 07:28:00 GMT", "1"),
        ("soon", "1"),
        ("86400", "60"),
        ("Fri, 01 Jan 2100 00:00:00 GMT", "60"),
    ] {
        let order = json!({"status": 429, "retry_after": said});
        let (answer, _) = with(world, key, order, true).await;
        assert_eq!(answer.header("retry-after"), Some(heard), "{said}");
    }
    for status in [408, 500, 502, 503, 504] {
        let order = json!({"status": status, "retry_after": "9"});
        let (answer, _) = with(world, key, order, true).await;
        assert_eq!(answer.header("retry-after"), Some("9"), "{status}");
        sound(world, key).await;
    }
    books::check(&world.gateway.database, &organization.id).await;
}

async fn a_page_of_a_proxy_is_never_relayed(world: &World) {
    let organization = world.organization();
    for behaviour in [
        json!({"html_page": true}),
        json!({"html_page": true, "status": 503}),
        json!({"raw_body": "{\"type\":", "content_type": "application/json"}),
    ] {
        for streamed in [true, false] {
            sound(world, &organization.key).await;
            let (answer, _) = with(world, &organization.key, behaviour.clone(), streamed).await;
            assert!(
                !answer.text().contains("This page is not an answer"),
                "{}",
                answer.text()
            );
            if answer.status == 200 {
                // The stream had opened before the page was seen for what it is.
                assert!(
                    answer.text().contains("event: error\n")
                        && !answer.text().contains("run.completed"),
                    "{}",
                    answer.text()
                );
            } else {
                assert_eq!(
                    (answer.status, &error_of(&answer)["code"]),
                    (502, &json!("INFERENCE_UPSTREAM_FAILURE"))
                );
            }
        }
    }
    books::check(&world.gateway.database, &organization.id).await;
}

async fn a_truncated_stream_is_an_error_and_no_success(world: &World) {
    let organization = world.organization();
    let broken = [
        json!({"close_after_events": 6, "close": "cut"}),
        json!({"close_after_events": 6, "close": "reset"}),
        json!({"close_after_events": 6, "close": "end"}),
        json!({"close_after_events": 6, "close": "half_close"}),
        json!({"no_terminal_event": true}),
        json!({"malformed_after_events": 6}),
    ];
    for mut behaviour in broken {
        let mark = mark();
        sound(world, &organization.key).await;
        behaviour["event_count"] = json!(12);
        behaviour["contains"] = json!(mark);
        world.fake.expect(behaviour.clone()).await;
        let events = world
            .gateway
            .stream(&organization.key, json!({"message": mark}))
            .await
            .rest()
            .await;
        assert_eq!(
            sse::names(&events),
            ["run.started", "message.delta", "error"],
            "{behaviour}"
        );
        let error = &events.last().unwrap().data;
        let names: Vec<&String> = error.as_object().unwrap().keys().collect();
        assert_eq!(names, ["code", "message", "retryable", "failure_layer"]);
        assert_eq!(
            (&error["code"], &error["failure_layer"]),
            (&json!("INFERENCE_UPSTREAM_FAILURE"), &json!("provider"))
        );
        assert_eq!(error["retryable"], true);
        let request_id = events[0].data["request_id"].as_str().unwrap();
        let (_, terminal) = books::pair(&world.gateway.database, request_id).await;
        assert_eq!(terminal["event"], "inference.failed", "{behaviour}");
        let sql = "SELECT id FROM messages WHERE request_id = $1";
        assert!(
            world
                .gateway
                .database
                .rows(sql, &[request_id])
                .await
                .is_empty()
        );
    }
    books::check(&world.gateway.database, &organization.id).await;
}

async fn an_event_of_failure_ends_the_stream(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let failing = json!({"contains": mark, "event_count": 9, "error_event_after_events": 6, "error_type": "overloaded_error",
        "error_message": "zanzibar"});
    world.fake.expect(failing).await;
    let events = world
        .gateway
        .stream(&organization.key, json!({"message": mark}))
        .await
        .rest()
        .await;
    assert_eq!(
        sse::names(&events),
        ["run.started", "message.delta", "error"]
    );
    assert!(!format!("{events:?}").contains("zanzibar"));
}

const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";

/// A stream of kind A, in these words, that comes so slowly that no frame comes with the next.
fn slowly(stream: &str, interval_ms: u64) -> Value {
    json!({"raw_body": stream, "content_type": "text/event-stream", "drip_bytes": 36, "drip_interval_ms": interval_ms})
}

/// Signs of life, and then a refusal.
fn pings_and_an_error() -> Value {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"zanzibar"}}"#;
    slowly(&format!("{PING}{PING}event: error\ndata: {error}\n\n"), 10)
}

async fn a_ping_is_no_answer(world: &World) {
    let organization = world.organization();
    for streamed in [true, false] {
        let (answer, _) = with(world, &organization.key, pings_and_an_error(), streamed).await;
        assert_eq!(
            (answer.status, &error_of(&answer)["code"]),
            (502, &json!("INFERENCE_UPSTREAM_FAILURE"))
        );
        assert!(!answer.text().contains("zanzibar"), "{}", answer.text());
    }
    books::check(&world.gateway.database, &organization.id).await;
}

async fn a_provider_that_only_pings_keeps_no_heartbeat_back(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let reply = [
        r#"{"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":1,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let reply: String = reply
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect();
    // 20 pings, each 50 ms behind the one before.
    let mut order = slowly(&format!("{}{reply}", PING.repeat(20)), 50);
    order["contains"] = json!(mark);
    world.fake.expect(order).await;
    let mut stream = world
        .gateway
        .stream(&organization.key, json!({"message": mark}))
        .await;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    let text = names.iter().position(|name| *name == "message.delta");
    let before = &names[..text.expect("text")];
    let beats = before.iter().filter(|name| **name == "heartbeat").count();
    // 200 ms of silence each.
    assert!(beats >= 2, "{names:?}");
    assert_eq!(names.last(), Some(&"run.completed"));
    assert_eq!(sse::text_of(&events), "ok");
}

async fn a_cut_off_whole_answer_is_an_error(world: &World) {
    let organization = world.organization();
    for close in ["cut", "reset"] {
        let (answer, _) = with(
            world,
            &organization.key,
            json!({"close_after_events": 1, "close": close}),
            false,
        )
        .await;
        assert_eq!(
            (answer.status, &error_of(&answer)["code"]),
            (502, &json!("INFERENCE_UPSTREAM_FAILURE")),
            "{close}"
        );
    }
    books::check(&world.gateway.database, &organization.id).await;
}

async fn every_odd_but_legal_framing_is_read(world: &World) {
    let organization = world.organization();
    let text = "ünïcødé 🦘 text that is long enough to be cut in many places.";
    for mut behaviour in [
        json!({"line_end": "crlf"}),
        json!({"line_end": "cr"}),
        json!({"bom": true}),
        json!({"comments": true}),
        json!({"no_space": true}),
        json!({"multi_line_data": true}),
        json!({"id_and_retry": true}),
        json!({"unterminated": true}),
        json!({"drip_bytes": 1}),
        json!({"drip_bytes": 7, "line_end": "crlf", "comments": true, "multi_line_data": true, "id_and_retry": true}),
        json!({"thinking": "a thought"}),
        json!({"redacted_thinking": "c2VhbGVk"}),
    ] {
        let mark = mark();
        behaviour["contains"] = json!(mark);
        behaviour["text"] = json!(text);
        world.fake.expect(behaviour.clone()).await;
        let events = world
            .gateway
            .stream(&organization.key, json!({"message": mark}))
            .await
            .rest()
            .await;
        assert_eq!(
            sse::names(&events),
            ["run.started", "message.delta", "run.completed"],
            "{behaviour}"
        );
        assert_eq!(sse::text_of(&events), text, "{behaviour}");
    }
}

/// A pooled connection that the provider has closed in the meantime is no reason to fail, nor to ask twice.
async fn a_stale_connection_is_replaced_without_a_second_request(world: &World) {
    let organization = world.organization();
    for _ in 0..5 {
        // Fills the pool, then has the provider close behind its answer.
        let (answer, _) = with(
            world,
            &organization.key,
            json!({"close_after_events": 2, "close": "cut"}),
            false,
        )
        .await;
        drop(answer);
        let (answer, mark) = with(world, &organization.key, json!({}), false).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(world.fake.seen(&mark).await.len(), 1);
    }
}

async fn a_provider_that_never_answers_is_left_in_time(world: &World) {
    let organization = world.organization();
    let start = Instant::now();
    let (answer, mark) = with(
        world,
        &organization.key,
        json!({"stall_after_events": 0}),
        false,
    )
    .await;
    assert_eq!(
        (answer.status, &error_of(&answer)["code"]),
        (502, &json!("INFERENCE_UPSTREAM_FAILURE"))
    );
    let deadline = Duration::from_millis(PROVIDER_HEAD_MS.unsigned_abs());
    assert!(
        start.elapsed() >= deadline && start.elapsed() < deadline * 4,
        "{:?}",
        start.elapsed()
    );
    assert!(!world.fake.ended(&mark).await["closed_by_peer_at_us"].is_null());
    books::check(&world.gateway.database, &organization.id).await;
}

async fn a_provider_that_falls_silent_is_left_in_time(world: &World) {
    let organization = world.organization();
    for streamed in [true, false] {
        let mark = mark();
        let stalls = if streamed { 6 } else { 1 };
        world
            .fake
            .expect(json!({"contains": mark, "event_count": 9, "stall_after_events": stalls}))
            .await;
        let start = Instant::now();
        let body = json!({"message": mark});
        if streamed {
            let events = world
                .gateway
                .stream(&organization.key, body)
                .await
                .rest()
                .await;
            assert_eq!(
                sse::names(&events),
                ["run.started", "message.delta", "error"]
            );
        } else {
            let answer = world
                .gateway
                .answer(&chat(&organization.key, whole(body)))
                .await;
            assert_eq!(answer.status, 502);
        }
        let deadline = Duration::from_millis(PROVIDER_IDLE_MS.unsigned_abs());
        assert!(
            start.elapsed() >= deadline && start.elapsed() < deadline * 5,
            "{:?}",
            start.elapsed()
        );
    }
    books::check(&world.gateway.database, &organization.id).await;
}

/// A provider may send a long answer at once, whatever it was asked for.
async fn a_stream_begins_with_its_first_event_however_long_that_takes_to_judge(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let text = "marsupial ".repeat(30_000);
    let whole = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 1},
    });
    let order = json!({
        "contains": mark, "raw_body": whole.to_string(), "content_type": "application/json",
    });
    world.fake.expect(order).await;
    let body = json!({"message": mark});
    let mut stream = world.gateway.stream(&organization.key, body).await;
    let mut names = Vec::new();
    while let Some(event) = stream.next().await {
        names.push(event.name);
    }
    assert_eq!(names.first().map(String::as_str), Some("run.started"));
    assert_eq!(names.last().map(String::as_str), Some("run.completed"));
}

/// Before the provider's first event and between two of them.
async fn a_silent_stream_gets_heartbeats(world: &World) {
    let organization = world.organization();
    let mark = mark();
    // The first word goes on when the second begins.
    let slow = json!({"contains": mark, "text": "ok then", "delay_before_head_ms": 900, "delay_between_events_ms": 700});
    world.fake.expect(slow).await;
    let mut stream = world
        .gateway
        .stream(&organization.key, json!({"message": mark}))
        .await;
    let mut names = Vec::new();
    while let Some(event) = stream.next().await {
        if event.name == "heartbeat" {
            assert_eq!(event.data, json!({}));
        }
        names.push(event.name);
    }
    assert_eq!(names.first().map(String::as_str), Some("run.started"));
    assert_eq!(names.last().map(String::as_str), Some("run.completed"));
    let text = names
        .iter()
        .position(|name| name == "message.delta")
        .unwrap();
    let before = names[..text]
        .iter()
        .filter(|name| *name == "heartbeat")
        .count();
    let after = names[text..]
        .iter()
        .filter(|name| *name == "heartbeat")
        .count();
    // 200 ms of silence each; the fake is silent for 0.9 s and again between its events.
    assert!(before >= 3 && after >= 2, "{names:?}");
}
