//! OTLP traces: sent when an address is configured, and free of content.

use std::time::Duration;

use serde_json::json;
use svc_tests::fake::mark;
use svc_tests::patience::{eventually, in_time};
use svc_tests::wire::Request;
use svc_tests::world::World;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Takes one export and gives its path and body.
async fn collect(listener: &TcpListener) -> (String, Vec<u8>) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0_u8; 8192];
        let count = stream.read(&mut piece).await.unwrap();
        bytes.extend_from_slice(&piece[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        if count == 0 || length.is_some_and(|length: usize| bytes.len() >= end + 4 + length) {
            let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(answer).await.unwrap();
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            return (path, bytes.split_off(end + 4));
        }
    }
}

/// A collector, and a gateway that sends its traces there.
async fn traced() -> (TcpListener, World) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let world =
        World::with(|setup| setup.key("telemetry", "otlp_endpoint", endpoint.as_str())).await;
    (listener, world)
}

/// What is exported up to the span of this request.
async fn spans_of(listener: &TcpListener, request_id: &str) -> Vec<Vec<u8>> {
    let mut exports = Vec::new();
    in_time("a span of the request", async {
        loop {
            let (path, body) = collect(listener).await;
            assert_eq!(path, "/v1/traces");
            let is_last = holds(&body, request_id.as_bytes());
            exports.push(body);
            if is_last {
                return;
            }
        }
    })
    .await;
    exports
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

/// A collector that takes connections and never answers delays no stop, and no lease is renewed meanwhile.
#[tokio::test]
async fn a_silent_collector_delays_no_stop() {
    let (_listener, world) = traced().await;
    let organization = world.organization();
    let body = json!({"message": mark()});
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(answer.status, 200);
    let start = std::time::Instant::now();
    world.gateway.signal("TERM");
    assert!(world.gateway.ended().await.success());
    assert!(start.elapsed() < Duration::from_secs(7));
    let log = world.gateway.log();
    assert!(!log.contains("could not be renewed"), "{log}");
}

#[tokio::test]
async fn spans_reach_the_collector_without_content() {
    let (listener, world) = traced().await;
    let organization = world.organization();
    let secret = "zanzibarwombat";
    let mark = mark();
    let body = json!({"message": format!("{mark} {secret} 536-22-8714"), "system": secret});
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(answer.status, 200);
    for span in spans_of(&listener, answer.request_id()).await {
        let text = String::from_utf8_lossy(&span);
        for needle in [
            secret,
            "536-22-8714",
            mark.as_str(),
            organization.key.as_str(),
        ] {
            assert!(!text.contains(needle), "{needle} in a span");
        }
    }
    // A collector that does not answer holds nothing up.
    drop(listener);
    let start = std::time::Instant::now();
    assert_eq!(
        world
            .gateway
            .chat(&organization.key, json!({"message": mark}))
            .await
            .status,
        200
    );
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Spans that nobody takes are lost; that is said once, and counted.
#[tokio::test]
async fn a_collector_that_is_away_is_told_of_once() {
    let (listener, world) = traced().await;
    let organization = world.organization();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let lost = "svc_trace_spans_total{outcome=\"lost\"}";
    for _ in 0..2 {
        let before = world.gateway.metric(lost).await;
        let body = json!({"message": mark()});
        assert_eq!(
            world.gateway.chat(&organization.key, body).await.status,
            200
        );
        eventually("lost spans", async || {
            (world.gateway.metric(lost).await > before).then_some(())
        })
        .await;
    }
    let told = |words: &str| world.gateway.log().matches(words).count();
    assert_eq!(told("the trace collector takes no spans"), 1);
    let listener = TcpListener::bind(address).await.unwrap();
    let body = json!({"message": mark()});
    let answer = world.gateway.chat(&organization.key, body).await;
    spans_of(&listener, answer.request_id()).await;
    eventually("a word that it is back", async || {
        (told("the trace collector takes spans again") == 1).then_some(())
    })
    .await;
    let sent = world
        .gateway
        .metric("svc_trace_spans_total{outcome=\"sent\"}")
        .await;
    let ended = world
        .gateway
        .metric("svc_trace_spans_total{outcome=\"ended\"}")
        .await;
    assert!(sent > 0.0 && ended >= sent, "{sent} of {ended}");
}

/// W3C Trace Context. Words that may travel beside the ids go nowhere.
#[tokio::test]
async fn a_callers_trace_is_continued() {
    let (listener, world) = traced().await;
    let organization = world.organization();
    let (trace, parent) = ([0x4b_u8; 16], [0xa7_u8; 8]);
    let ids = format!("{}-{}", hex::encode(trace), hex::encode(parent));
    let mark = mark();
    let ask = |trace_parent: String| {
        let body = json!({"message": mark, "stream": false});
        let request = Request::new("POST", "/v1/ai/chat").bearer(&organization.key);
        let request = request
            .header("tracestate", "clinic=zanzibarwombat")
            .header("baggage", "patient=zanzibarwombat");
        request.header("traceparent", &trace_parent).json(&body)
    };
    // A trace that is not sampled has no spans here either.
    let unsampled = world.gateway.answer(&ask(format!("00-{ids}-00"))).await;
    assert_eq!(unsampled.status, 200, "{}", unsampled.text());
    // A header that is none is as good as absent.
    for (header, is_joined) in [(format!("00-{ids}-01"), true), (format!("zz-{ids}"), false)] {
        let answer = world.gateway.answer(&ask(header)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let exports = spans_of(&listener, answer.request_id()).await;
        let last = exports.last().unwrap();
        assert_eq!(holds(last, &trace) && holds(last, &parent), is_joined);
        for never in [b"zanzibar".as_slice(), unsampled.request_id().as_bytes()] {
            assert!(!exports.iter().any(|export| holds(export, never)));
        }
    }
    let sent = world.fake.received(&mark).await["headers"].to_string();
    assert!(
        !sent.contains("zanzibar") && !sent.contains("traceparent"),
        "{sent}"
    );
}
