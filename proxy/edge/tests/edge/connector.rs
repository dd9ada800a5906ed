//! The way out: pools, repetition, deadlines, framing, address rules.
//!
//! One thread: pingora opens a new connection where the pool's watcher lets go of one a moment late, which is
//! harmless and would only blur what is counted here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Method};
use prometheus::Registry;
use svc_core::address::AddressRules;
use svc_edge::{ConnectorOptions, PingoraConnector, UpstreamMetrics};
use svc_pipeline::upstream::{
    Connector, Deadlines, InboundResponse, OutboundRequest, Reached, Repetition, Target,
    UpstreamError,
};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::house::{connector, metric};
use crate::peers::{HANGS, Upstream, closed, read_until, shared, target};

fn request() -> OutboundRequest {
    OutboundRequest {
        method: Method::POST,
        path_and_query: "/v1".to_owned(),
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"hello"),
        repetition: Repetition::Harmless,
        reached: Reached::default(),
    }
}

async fn whole(mut response: InboundResponse) -> Result<Vec<u8>, UpstreamError> {
    let mut body = Vec::new();
    while let Some(bytes) = response.body.next().await? {
        body.extend_from_slice(&bytes);
    }
    // The end stays the end.
    assert_eq!(response.body.next().await, Ok(None));
    Ok(body)
}

async fn takes_request(stream: &mut TcpStream) {
    let seen = read_until(stream, b"hello").await;
    let seen = String::from_utf8(seen).unwrap();
    assert!(seen.starts_with("POST /v1 HTTP/1.1\r\n"), "{seen:?}");
    assert!(
        seen.to_lowercase().contains("content-length: 5"),
        "{seen:?}"
    );
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Sends one request and lets the upstream answer it with these bytes.
async fn exchange(
    connector: &PingoraConnector,
    target: &Arc<Target>,
    stream: &mut TcpStream,
    bytes: &[u8],
) -> Result<Vec<u8>, UpstreamError> {
    let sending = tokio::spawn(connector.send(Arc::clone(target), request()));
    takes_request(stream).await;
    stream.write_all(bytes).await.unwrap();
    whole(sending.await.unwrap()?).await
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let mut upstream = Upstream::open().await;
    let (connector, registry) = connector();
    let target = shared(upstream.target());
    let sending = tokio::spawn(connector.send(Arc::clone(&target), request()));
    let mut stream = upstream.accept().await;
    takes_request(&mut stream).await;
    // Interim heads are passed over.
    stream
        .write_all(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        .await
        .unwrap();
    stream.write_all(OK).await.unwrap();
    assert_eq!(whole(sending.await.unwrap().unwrap()).await.unwrap(), b"ok");
    for _ in 0..3 {
        let body = exchange(&connector, &target, &mut stream, OK).await;
        assert_eq!(body.unwrap(), b"ok");
    }
    assert!(!upstream.has_more());
    assert_eq!(metric(&registry, "svc_upstream_connects_total"), 1.0);
    assert_eq!(metric(&registry, "svc_upstream_reuses_total"), 3.0);
    assert_eq!(metric(&registry, "svc_upstream_requests_in_flight"), 0.0);
}

#[tokio::test]
async fn a_stale_pooled_connection_is_replaced_once() {
    let mut upstream = Upstream::open().await;
    let (connector, registry) = connector();
    let target = shared(upstream.target());
    // Two connections in the pool, so that the repetition could meet a second stale one.
    let first = tokio::spawn(connector.send(Arc::clone(&target), request()));
    let mut one = upstream.accept().await;
    let second = tokio::spawn(connector.send(Arc::clone(&target), request()));
    let mut two = upstream.accept().await;
    for stream in [&mut one, &mut two] {
        takes_request(stream).await;
        stream.write_all(OK).await.unwrap();
    }
    for sent in [first, second] {
        assert_eq!(whole(sent.await.unwrap().unwrap()).await.unwrap(), b"ok");
    }
    let sending = tokio::spawn(connector.send(Arc::clone(&target), request()));
    // Whichever is used closes when the request arrives: the race of every idle time-out.
    let mut other = tokio::select! {
        _ = read_until(&mut one, b"hello") => {
            drop(one);
            two
        }
        _ = read_until(&mut two, b"hello") => {
            drop(two);
            one
        }
    };
    let mut fresh = upstream.accept().await;
    takes_request(&mut fresh).await;
    fresh.write_all(OK).await.unwrap();
    assert_eq!(whole(sending.await.unwrap().unwrap()).await.unwrap(), b"ok");
    assert_eq!(metric(&registry, "svc_upstream_stale_retries_total"), 1.0);
    // The fresh connection has joined the usual pool: two more requests need no other.
    let third = tokio::spawn(connector.send(Arc::clone(&target), request()));
    let fourth = tokio::spawn(connector.send(Arc::clone(&target), request()));
    for stream in [&mut other, &mut fresh] {
        takes_request(stream).await;
        stream.write_all(OK).await.unwrap();
    }
    for sent in [third, fourth] {
        assert_eq!(whole(sent.await.unwrap().unwrap()).await.unwrap(), b"ok");
    }
    assert!(!upstream.has_more());
}

#[tokio::test]
async fn a_fresh_connection_that_took_the_request_is_never_repeated() {
    let mut upstream = Upstream::open().await;
    let (connector, _) = connector();
    let target = shared(upstream.target());
    let sending = tokio::spawn(connector.send(Arc::clone(&target), request()));
    let mut stream = upstream.accept().await;
    takes_request(&mut stream).await;
    drop(stream);
    assert_eq!(sending.await.unwrap().err(), Some(UpstreamError::Reset));
    assert!(!upstream.has_more());
}

#[tokio::test]
async fn an_answer_that_has_begun_is_never_repeated() {
    let mut upstream = Upstream::open().await;
    let (connector, registry) = connector();
    let target = shared(upstream.target());
    let sending = tokio::spawn(connector.send(Arc::clone(&target), request()));
    let mut stream = upstream.accept().await;
    takes_request(&mut stream).await;
    stream.write_all(OK).await.unwrap();
    whole(sending.await.unwrap().unwrap()).await.unwrap();
    let sending = tokio::spawn(connector.send(Arc::clone(&target), request()));
    takes_request(&mut stream).await;
    stream.write_all(b"HTTP/1.1 20").await.unwrap();
    drop(stream);
    assert_eq!(sending.await.unwrap().err(), Some(UpstreamError::Reset));
    assert_eq!(metric(&registry, "svc_upstream_stale_retries_total"), 0.0);
    assert!(!upstream.has_more());
}

/// A connection of the pool that took the request, and an upstream that then leaves without a word.
async fn left_in_silence(repetition: Repetition, after: Duration) -> (Option<UpstreamError>, bool) {
    let mut upstream = Upstream::open().await;
    let (connector, _) = connector();
    let target = shared(upstream.target());
    let again = || OutboundRequest {
        repetition,
        ..request()
    };
    let sending = tokio::spawn(connector.send(Arc::clone(&target), again()));
    let mut stream = upstream.accept().await;
    takes_request(&mut stream).await;
    stream.write_all(OK).await.unwrap();
    whole(sending.await.unwrap().unwrap()).await.unwrap();
    let sending = tokio::spawn(connector.send(Arc::clone(&target), again()));
    takes_request(&mut stream).await;
    tokio::time::sleep(after).await;
    drop(stream);
    let is_asked_again = tokio::select! {
        mut fresh = upstream.accept() => {
            takes_request(&mut fresh).await;
            fresh.write_all(OK).await.unwrap();
            true
        }
        () = tokio::time::sleep(Duration::from_millis(300)) => false,
    };
    (sending.await.unwrap().err(), is_asked_again)
}

#[tokio::test]
async fn what_may_have_been_done_is_not_sent_again() {
    let at_once = Duration::ZERO;
    for (repetition, after, asked_again) in [
        (Repetition::Harmless, at_once, true),
        (Repetition::Harmful, at_once, false),
        // No connection that was closed before: the upstream had the request for a while.
        (Repetition::Harmless, Duration::from_millis(1_100), false),
    ] {
        let error = (!asked_again).then_some(UpstreamError::Reset);
        let found = left_in_silence(repetition, after).await;
        assert_eq!(found, (error, asked_again), "{repetition:?} {after:?}");
    }
}

#[tokio::test]
async fn a_half_closed_upstream_fails_at_once() {
    let mut upstream = Upstream::open().await;
    let (connector, _) = connector();
    let sending = tokio::spawn(connector.send(shared(upstream.target()), request()));
    let mut stream = upstream.accept().await;
    takes_request(&mut stream).await;
    let started = Instant::now();
    stream.shutdown().await.unwrap();
    assert_eq!(sending.await.unwrap().err(), Some(UpstreamError::Reset));
    assert!(started.elapsed() < Duration::from_secs(1));
    assert!(closed(&mut stream).await.is_some());
}

#[tokio::test]
async fn a_body_ends_as_its_framing_says() {
    let cases: [(&str, Result<&[u8], UpstreamError>); 6] = [
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
            Err(UpstreamError::Truncated),
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
            Err(UpstreamError::Truncated),
        ),
        ("HTTP/1.1 200 OK\r\n\r\nto the end", Ok(b"to the end")),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfull\r\n0\r\n\r\n",
            Ok(b"full"),
        ),
        ("HTTP/1.1 204 No Content\r\n\r\n", Ok(b"")),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
            Err(UpstreamError::Protocol),
        ),
    ];
    for (bytes, expected) in cases {
        let mut upstream = Upstream::open().await;
        let (connector, _) = connector();
        let sending = tokio::spawn(connector.send(shared(upstream.target()), request()));
        let mut stream = upstream.accept().await;
        takes_request(&mut stream).await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
        drop(stream);
        let body = whole(sending.await.unwrap().unwrap()).await;
        assert_eq!(
            body.as_deref().map_err(|error| *error),
            expected,
            "{bytes:?}"
        );
    }
}

#[tokio::test]
async fn what_is_not_http_is_a_protocol_error() {
    for bytes in [
        "nonsense\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ] {
        let mut upstream = Upstream::open().await;
        let (connector, _) = connector();
        let sending = tokio::spawn(connector.send(shared(upstream.target()), request()));
        let mut stream = upstream.accept().await;
        takes_request(&mut stream).await;
        stream.write_all(bytes.as_bytes()).await.unwrap();
        assert_eq!(
            sending.await.unwrap().err(),
            Some(UpstreamError::Protocol),
            "{bytes:?}"
        );
    }
}

#[tokio::test]
async fn every_deadline_has_its_own_word() {
    let short = Duration::from_millis(150);
    let long = Deadlines {
        connect: HANGS,
        head: HANGS,
        idle: HANGS,
        total: HANGS,
    };
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf".as_slice();
    let cases = [
        (
            Deadlines {
                head: short,
                ..long
            },
            &b""[..],
            UpstreamError::HeadTimeout,
        ),
        (
            Deadlines {
                total: short,
                ..long
            },
            &b""[..],
            UpstreamError::TotalTimeout,
        ),
        (
            Deadlines {
                idle: short,
                ..long
            },
            head,
            UpstreamError::IdleTimeout,
        ),
        (
            Deadlines {
                total: short,
                ..long
            },
            head,
            UpstreamError::TotalTimeout,
        ),
    ];
    for (deadlines, bytes, expected) in cases {
        let mut upstream = Upstream::open().await;
        let (connector, registry) = connector();
        let target = shared(Target {
            deadlines,
            ..upstream.target()
        });
        let started = Instant::now();
        let sending = tokio::spawn(connector.send(target, request()));
        let mut stream = upstream.accept().await;
        takes_request(&mut stream).await;
        stream.write_all(bytes).await.unwrap();
        let error = match sending.await.unwrap() {
            Ok(response) => whole(response).await.err(),
            Err(error) => Some(error),
        };
        assert_eq!(error, Some(expected));
        assert!(started.elapsed() < Duration::from_secs(3));
        assert!(closed(&mut stream).await.is_some());
        assert_eq!(metric(&registry, "svc_upstream_errors_total"), 1.0);
    }
}

#[tokio::test]
async fn what_cannot_be_reached_says_why() {
    let (connector, _) = connector();
    // A port that nobody listens on: it was ours a moment ago.
    let gone = crate::house::free_address();
    let refused = connector
        .send(shared(target("alpha", gone)), request())
        .await;
    assert_eq!(refused.err(), Some(UpstreamError::Connect));
    let silent = Upstream::open().await;
    let handshake = Target {
        tls: true,
        deadlines: Deadlines {
            connect: Duration::from_millis(150),
            ..silent.target().deadlines
        },
        ..silent.target()
    };
    let slow = connector.send(shared(handshake), request()).await;
    assert_eq!(slow.err(), Some(UpstreamError::ConnectTimeout));
}

#[tokio::test]
async fn names_of_the_hosts_file_resolve_and_fall_through() {
    let mut upstream = Upstream::open().await;
    let (connector, _) = connector();
    let target = shared(Target {
        host: "localhost".into(),
        ..upstream.target()
    });
    let sending = tokio::spawn(connector.send(target, request()));
    let mut stream = upstream.accept().await;
    takes_request(&mut stream).await;
    stream.write_all(OK).await.unwrap();
    assert!(sending.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_forbidden_address_is_never_connected() {
    let mut upstream = Upstream::open().await;
    let metrics = UpstreamMetrics::register(&Registry::new()).unwrap();
    let rules = AddressRules::default();
    let rule = Arc::new(move |_: &Target, address: std::net::IpAddr| rules.allow(address));
    let connector = PingoraConnector::new(ConnectorOptions::default(), rule, metrics).unwrap();
    for host in ["127.0.0.1", "localhost", "::ffff:127.0.0.1"] {
        let target = shared(Target {
            host: host.into(),
            ..upstream.target()
        });
        let sent = connector.send(target, request()).await;
        assert_eq!(sent.err(), Some(UpstreamError::Forbidden), "{host}");
    }
    assert!(!upstream.has_more());
}
