//! Clients that leave, at every stage; how soon an upstream knows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method};
use svc_core::fault::Fault;
use svc_edge::PingoraConnector;
use svc_pipeline::request::BodyReader;
use svc_pipeline::response::{Body, ByteStream, Heartbeat, Response};
use svc_pipeline::upstream::{
    Connector, InboundBody, OutboundRequest, Reached, Repetition, Target,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

use crate::house::{House, Plan, connector, text};
use crate::peers::{HANGS, Upstream, closed, connect, read_chunk, read_until, send, shared, until};

/// Usually 0.1 ms; 50 is the promise, ten times that what a build machine with other work may take.
pub(crate) const SOON: Duration = Duration::from_millis(500);

struct Passed(Box<dyn InboundBody>);

impl ByteStream for Passed {
    fn next(&mut self) -> BoxFuture<'_, Option<Bytes>> {
        async move { self.0.next().await.ok().flatten() }.boxed()
    }

    fn heartbeat(&self) -> Option<Heartbeat> {
        None
    }

    fn abort(self: Box<Self>, _: Fault) -> BoxFuture<'static, Bytes> {
        async { Bytes::new() }.boxed()
    }
}

/// Sends every request on, body and all, and streams the answer back.
pub(crate) async fn pass(
    connector: PingoraConnector,
    target: Arc<Target>,
    mut body: BodyReader,
) -> Response {
    let Ok(body) = body.read(1 << 20).await else {
        return text(400, "no body");
    };
    let request = OutboundRequest {
        method: Method::POST,
        path_and_query: "/upstream".to_owned(),
        headers: HeaderMap::new(),
        body,
        repetition: Repetition::Harmless,
        reached: Reached::default(),
    };
    match connector.send(target, request).await {
        Ok(answer) => Response {
            status: answer.status,
            headers: answer.headers,
            body: Body::Stream(Box::new(Passed(answer.body))),
        },
        Err(error) => text(502, error.word()),
    }
}

async fn passing_house(target: Target) -> House {
    let (connector, _) = connector();
    let target = shared(target);
    House::open(Plan::default(), move |_, body| {
        pass(connector.clone(), Arc::clone(&target), body)
    })
    .await
}

const POST: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";

fn report(stage: &str, left: Instant, seen: Option<Instant>) {
    let late = seen.expect("the upstream sees the close") - left;
    assert!(late < SOON, "{stage}: {late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_sending_its_body() {
    let (told, hears) = oneshot::channel::<()>();
    let told = parking_lot::Mutex::new(Some(told));
    let house = House::open(Plan::default(), move |_, mut body| {
        let told = told.lock().take();
        async move {
            let _told = told;
            let _ = body.read(1 << 20).await;
            std::future::pending().await
        }
    })
    .await;
    let mut client = connect(house.address).await;
    send(
        &mut client,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\nhalf",
    )
    .await;
    while house.metric("svc_edge_requests_in_flight") < 1.0 {
        tokio::task::yield_now().await;
    }
    let left = Instant::now();
    drop(client);
    // The service is dropped: its sender goes, and nothing was sent.
    assert!(tokio::time::timeout(HANGS, hears).await.unwrap().is_err());
    report(
        "sending its body (service dropped)",
        left,
        Some(Instant::now()),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_upstream_is_being_connected() {
    let mut upstream = Upstream::open().await;
    // A TLS handshake that never gets an answer is a connection that is not there yet.
    let target = Target {
        tls: true,
        ..upstream.target()
    };
    let house = passing_house(target).await;
    let mut client = connect(house.address).await;
    send(&mut client, POST).await;
    let mut stream = upstream.accept().await;
    let mut hello = [0; 16];
    stream.read_exact(&mut hello).await.unwrap();
    let left = Instant::now();
    drop(client);
    report("connecting", left, closed(&mut stream).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_waiting_for_the_head() {
    let mut upstream = Upstream::open().await;
    let house = passing_house(upstream.target()).await;
    for _ in 0..10 {
        let mut client = connect(house.address).await;
        send(&mut client, POST).await;
        let mut stream = upstream.accept().await;
        read_until(&mut stream, b"hello").await;
        let left = Instant::now();
        drop(client);
        report("waiting for the head", left, closed(&mut stream).await);
    }
    until(|| house.metric("svc_edge_client_disconnects_total") == 10.0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_waiting_after_a_stray_line_end() {
    let mut upstream = Upstream::open().await;
    let house = passing_house(upstream.target()).await;
    let mut client = connect(house.address).await;
    send(&mut client, POST).await;
    let mut stream = upstream.accept().await;
    read_until(&mut stream, b"hello").await;
    send(&mut client, "\r\n").await;
    let left = Instant::now();
    drop(client);
    report(
        "waiting, after a stray line end",
        left,
        closed(&mut stream).await,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_answer_streams() {
    let mut upstream = Upstream::open().await;
    let house = passing_house(upstream.target()).await;
    for _ in 0..10 {
        let mut client = connect(house.address).await;
        send(&mut client, POST).await;
        let mut stream = upstream.accept().await;
        read_until(&mut stream, b"hello").await;
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n";
        stream.write_all(head).await.unwrap();
        read_until(&mut client, b"\r\n\r\n").await;
        assert_eq!(read_chunk(&mut client).await.unwrap(), b"one");
        let left = Instant::now();
        drop(client);
        report("the answer streams", left, closed(&mut stream).await);
    }
}
