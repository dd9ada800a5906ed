//! OTLP traces: sent when an address is configured, and free of content.

use std::time::Duration;

use serde_json::json;
use svc_tests::fake::mark;
use svc_tests::patience::in_time;
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

/// A collector that takes connections and never answers delays no stop, and no lease is renewed meanwhile.
#[tokio::test]
async fn a_silent_collector_delays_no_stop() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let world =
        World::with(|setup| setup.key("telemetry", "otlp_endpoint", endpoint.as_str())).await;
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
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let world =
        World::with(|setup| setup.key("telemetry", "otlp_endpoint", endpoint.as_str())).await;
    let organization = world.organization();
    let secret = "zanzibarwombat";
    let mark = mark();
    let body = json!({"message": format!("{mark} {secret} 536-22-8714"), "system": secret});
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(answer.status, 200);
    let request_id = answer.request_id().to_owned();
    in_time("a span of the request", async {
        loop {
            let (path, body) = collect(&listener).await;
            assert_eq!(path, "/v1/traces");
            let text = String::from_utf8_lossy(&body).into_owned();
            for needle in [
                secret,
                "536-22-8714",
                mark.as_str(),
                organization.key.as_str(),
            ] {
                assert!(!text.contains(needle), "{needle} in a span");
            }
            if text.contains(&request_id) {
                return;
            }
        }
    })
    .await;
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
