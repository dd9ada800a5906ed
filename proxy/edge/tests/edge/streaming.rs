//! Responses in batches: order, heartbeats, clean ends, clients that do not read.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{HeaderMap, StatusCode};
use svc_core::fault::Fault;
use svc_edge::Limits;
use svc_pipeline::response::{Body, ByteStream, Heartbeat, Response};
use tokio::sync::{mpsc, oneshot};

use crate::house::{House, Plan};
use crate::peers::{HANGS, connect, read_answer, read_chunk, read_until, send, until};

/// A stream that a test feeds.
pub(crate) struct Fed {
    pub(crate) batches: mpsc::Receiver<Bytes>,
    pub(crate) heartbeat: Option<Heartbeat>,
    /// Told by being dropped.
    pub(crate) _alive: Option<oneshot::Sender<()>>,
}

impl ByteStream for Fed {
    fn next(&mut self) -> BoxFuture<'_, Option<Bytes>> {
        self.batches.recv().boxed()
    }

    fn heartbeat(&self) -> Option<Heartbeat> {
        self.heartbeat.clone()
    }

    fn abort(self: Box<Self>, fault: Fault) -> BoxFuture<'static, Bytes> {
        async move { Bytes::from(format!("event: error {}\n\n", fault.code.word())) }.boxed()
    }
}

pub(crate) fn streamed(stream: Fed) -> Response {
    Response {
        status: StatusCode::OK,
        headers: HeaderMap::new(),
        body: Body::Stream(Box::new(stream)),
    }
}

/// A house that answers its first request with the stream given.
pub(crate) async fn streaming_house(plan: Plan, stream: Fed) -> House {
    let stream = parking_lot::Mutex::new(Some(stream));
    House::open(plan, move |_, _| {
        let stream = stream.lock().take();
        async move { streamed(stream.expect("one request")) }
    })
    .await
}

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn batches_come_one_by_one_and_end_cleanly() {
    let (feed, batches) = mpsc::channel(4);
    let fed = Fed {
        batches,
        heartbeat: None,
        _alive: None,
    };
    let house = streaming_house(Plan::default(), fed).await;
    let mut client = connect(house.address).await;
    send(&mut client, GET).await;
    let head = read_until(&mut client, b"\r\n\r\n").await;
    assert!(
        String::from_utf8(head)
            .unwrap()
            .contains("Transfer-Encoding: chunked")
    );
    for batch in ["one", "two"] {
        feed.send(Bytes::from_static(batch.as_bytes()))
            .await
            .unwrap();
        assert_eq!(read_chunk(&mut client).await.unwrap(), batch.as_bytes());
    }
    drop(feed);
    assert_eq!(read_chunk(&mut client).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_fill_the_silence_and_nothing_else() {
    let interval = Duration::from_millis(200);
    let (feed, batches) = mpsc::channel(4);
    let heartbeat = Some(Heartbeat {
        interval,
        bytes: Bytes::from_static(BEAT),
    });
    let fed = Fed {
        batches,
        heartbeat,
        _alive: None,
    };
    let house = streaming_house(Plan::default(), fed).await;
    let mut client = connect(house.address).await;
    let started = Instant::now();
    send(&mut client, GET).await;
    read_until(&mut client, b"\r\n\r\n").await;
    let mut beats = Vec::new();
    for _ in 0..3 {
        assert_eq!(read_chunk(&mut client).await.unwrap(), BEAT);
        beats.push(started.elapsed());
    }
    // A batch in the middle of the silence: the next beat counts from it.
    tokio::time::sleep(interval / 2).await;
    let fed = Instant::now();
    feed.send(Bytes::from_static(b"data")).await.unwrap();
    let mut seen = read_chunk(&mut client).await.unwrap();
    while seen == BEAT {
        seen = read_chunk(&mut client).await.unwrap();
    }
    assert_eq!(seen, b"data");
    assert_eq!(read_chunk(&mut client).await.unwrap(), BEAT);
    let after_batch = fed.elapsed();
    eprintln!("heartbeats set to {interval:?} came at {beats:?}, after a batch {after_batch:?}");
    // Whoever reads late sees them late, never early.
    for (beat, count) in beats.into_iter().zip(1..) {
        assert!(beat >= interval * count, "{beat:?}");
        assert!(beat < interval * count + LATE, "{beat:?}");
    }
    assert!(after_batch >= interval && after_batch < interval + LATE);
}

const BEAT: &[u8] = b": beat\n\n";
/// What a loaded machine may add.
const LATE: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_http_1_0_gets_the_end_by_close() {
    let (feed, batches) = mpsc::channel(4);
    let fed = Fed {
        batches,
        heartbeat: None,
        _alive: None,
    };
    let house = streaming_house(Plan::default(), fed).await;
    let mut client = connect(house.address).await;
    send(&mut client, "GET / HTTP/1.0\r\n\r\n").await;
    feed.send(Bytes::from_static(b"all")).await.unwrap();
    drop(feed);
    let seen = read_until(&mut client, b"never").await;
    let seen = String::from_utf8(seen).unwrap();
    assert!(seen.ends_with("\r\n\r\nall"), "{seen}");
    assert!(!seen.to_lowercase().contains("chunked"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_given_up() {
    let limits = Limits {
        write: Duration::from_millis(300),
        ..Limits::default()
    };
    let (feed, batches) = mpsc::channel(4);
    let (alive, dropped) = oneshot::channel();
    let fed = Fed {
        batches,
        heartbeat: None,
        _alive: Some(alive),
    };
    let plan = Plan {
        limits,
        ..Plan::default()
    };
    let house = streaming_house(plan, fed).await;
    let mut client = connect(house.address).await;
    send(&mut client, GET).await;
    let batch = Bytes::from(vec![b'x'; 1 << 20]);
    let feeding = tokio::spawn(async move { while feed.send(batch.clone()).await.is_ok() {} });
    assert!(tokio::time::timeout(HANGS, dropped).await.is_ok());
    feeding.await.unwrap();
    until(|| house.metric("svc_edge_client_disconnects_total") == 1.0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_whole_body_arrives_whole() {
    let body = Bytes::from(vec![b'y'; 3_000_001]);
    let answer = body.clone();
    let house = House::open(Plan::default(), move |_, _| {
        let body = answer.clone();
        async move { crate::house::text(200, body) }
    })
    .await;
    let mut client = connect(house.address).await;
    for _ in 0..2 {
        send(&mut client, GET).await;
        assert!(read_answer(&mut client).await.body == body);
    }
}
