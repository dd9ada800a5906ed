//! Leaving: early when nothing is open, with a word when something is, and handing the sockets over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use svc_edge::{Departure, Start};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};

use crate::house::{House, Plan, free_address, text};
use crate::peers::{HANGS, closed, connect, read_answer, read_chunk, read_until, send};
use crate::streaming::{Fed, streaming_house};

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_edge_leaves_at_once() {
    let plan = Plan {
        drain_deadline: Duration::from_secs(60),
        ..Plan::default()
    };
    let house = House::open(plan, |_, _| async { text(200, "ok") }).await;
    let mut idle = connect(house.address).await;
    send(&mut idle, GET).await;
    read_answer(&mut idle).await;
    let started = Instant::now();
    house.handle.drain();
    assert_eq!(house.left().await, Departure::Drained);
    eprintln!("an idle edge left after {:?}", started.elapsed());
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(closed(&mut idle).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_in_flight_is_finished_first() {
    let plan = Plan {
        drain_deadline: Duration::from_secs(60),
        ..Plan::default()
    };
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    let house = House::open(plan, move |_, _| {
        let wait = Arc::clone(&wait);
        async move {
            wait.notified().await;
            text(200, "done")
        }
    })
    .await;
    let address = house.address;
    let mut client = connect(address).await;
    send(&mut client, GET).await;
    while house.metric("svc_edge_requests_in_flight") < 1.0 {
        tokio::task::yield_now().await;
    }
    house.handle.drain();
    // The listener is gone while the request goes on.
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    // The admin's one knows.
    let mut admin = connect(house.admin).await;
    send(&mut admin, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(read_answer(&mut admin).await.body, b"leaving");
    go.notify_one();
    let answer = read_answer(&mut client).await;
    assert_eq!(answer.body, b"done");
    assert_eq!(answer.header("connection"), Some("close"));
    let started = Instant::now();
    assert_eq!(house.left().await, Departure::Drained);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_deadline_streams_end_with_an_error_event() {
    let (feed, batches) = mpsc::channel(4);
    let fed = Fed {
        batches,
        heartbeat: None,
        _alive: None,
    };
    let house = streaming_house(Plan::default(), fed).await;
    let mut client = connect(house.address).await;
    send(&mut client, GET).await;
    read_until(&mut client, b"\r\n\r\n").await;
    feed.send(Bytes::from_static(b"one")).await.unwrap();
    assert_eq!(read_chunk(&mut client).await.unwrap(), b"one");
    let started = Instant::now();
    house.handle.drain();
    let last = read_chunk(&mut client).await.unwrap();
    assert_eq!(last, b"event: error INFERENCE_UNAVAILABLE\n\n");
    assert_eq!(read_chunk(&mut client).await, None);
    assert!(started.elapsed() >= Duration::from_millis(190));
    assert_eq!(house.left().await, Departure::CutOff);
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_deadline_a_waiting_request_gets_503() {
    let house = House::open(Plan::default(), |_, _| std::future::pending()).await;
    let mut client = connect(house.address).await;
    send(&mut client, GET).await;
    while house.metric("svc_edge_requests_in_flight") < 1.0 {
        tokio::task::yield_now().await;
    }
    house.handle.drain();
    let answer = read_answer(&mut client).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(house.left().await, Departure::CutOff);
}

/// Sends requests until told to stop; every one must be answered. Returns how many went to the successor.
async fn client_loop(address: std::net::SocketAddr, stop: Arc<AtomicBool>) -> (usize, usize) {
    let (mut old, mut new) = (0, 0);
    let mut kept: Option<TcpStream> = None;
    while !stop.load(Ordering::Relaxed) {
        let mut stream = match kept.take() {
            Some(stream) => stream,
            None => TcpStream::connect(address).await.expect("somebody listens"),
        };
        stream
            .write_all(GET.as_bytes())
            .await
            .expect("the request goes out");
        let answer = read_answer(&mut stream).await;
        match answer.body.as_slice() {
            b"old" => old += 1,
            b"new" => new += 1,
            other => panic!("who is {other:?}?"),
        }
        if answer.header("connection") == Some("keep-alive") {
            kept = Some(stream);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    (old, new)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_successor_takes_the_sockets_over_without_a_lost_request() {
    let address = free_address();
    let dir = tempfile::tempdir().unwrap();
    let plan = |start| Plan {
        drain_deadline: Duration::from_secs(20),
        start,
        upgrade_sock: Some(dir.path().join("upgrade.sock")),
        address: Some(address),
        ..Plan::default()
    };
    let old = House::open(plan(Start::Bind), |_, _| async { text(200, "old") }).await;
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..4)
        .map(|_| tokio::spawn(client_loop(address, Arc::clone(&stop))))
        .collect();
    let mut new = House::begin(plan(Start::TakeOver), |_, _| async { text(200, "new") });
    old.handle.hand_over();
    assert!(new.handle.listening().await);
    assert_eq!(old.left().await, Departure::Drained);
    // The old one is gone; what is served from here is the successor's.
    tokio::time::sleep(Duration::from_millis(200)).await;
    stop.store(true, Ordering::Relaxed);
    let (mut by_old, mut by_new) = (0, 0);
    for client in clients {
        let (old, new) = client.await.expect("no request was lost");
        assert!(new > 0);
        by_old += old;
        by_new += new;
    }
    eprintln!("hand-over under load: {by_old} requests before, {by_new} after, none lost");
}

/// Longer than pingora's own patience, after which it ended the process.
#[tokio::test(flavor = "multi_thread")]
async fn a_successor_waits_for_as_long_as_it_takes() {
    let address = free_address();
    let dir = tempfile::tempdir().unwrap();
    let plan = |start| Plan {
        start,
        upgrade_sock: Some(dir.path().join("upgrade.sock")),
        address: Some(address),
        ..Plan::default()
    };
    let mut new = House::begin(plan(Start::TakeOver), |_, _| async { text(200, "new") });
    tokio::time::sleep(Duration::from_secs(8)).await;
    assert!(!new.pid_file().exists(), "it serves nothing yet");
    let old = House::open(plan(Start::Bind), |_, _| async { text(200, "old") }).await;
    old.handle.hand_over();
    assert!(new.handle.listening().await);
    assert_eq!(old.left().await, Departure::Drained);
    let mut client = connect(address).await;
    send(&mut client, GET).await;
    assert_eq!(read_answer(&mut client).await.body, b"new");
}

/// The child's address, where this test runs as its own child.
const CHILD: &str = "EDGE_TEST_CHILD_ADDRESS";

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_drains_the_process() {
    if let Ok(address) = std::env::var(CHILD) {
        return child(address.parse().unwrap()).await;
    }
    let address = free_address();
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "departure::sigterm_drains_the_process"])
        .env(CHILD, address.to_string())
        .kill_on_drop(true)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut client = loop {
        match TcpStream::connect(address).await {
            Ok(stream) => break stream,
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    // The first half of the body tells the child that the request has begun; the second ends it.
    let request = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
    send(&mut client, request).await;
    read_until(&mut client, b"\r\n\r\n").await;
    let pid = child.id().unwrap().to_string();
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &pid])
        .status();
    assert!(killed.unwrap().success());
    while TcpStream::connect(address).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    send(&mut client, "done").await;
    assert_eq!(read_answer(&mut client).await.body, b"done");
    let started = Instant::now();
    let status = tokio::time::timeout(HANGS, child.wait()).await.unwrap();
    assert!(status.unwrap().success());
    assert!(started.elapsed() < Duration::from_secs(3));
}

async fn child(address: std::net::SocketAddr) {
    let plan = Plan {
        drain_deadline: Duration::from_secs(60),
        address: Some(address),
        ..Plan::default()
    };
    let house = House::open(plan, |_, mut body| async move {
        text(200, body.read(100).await.unwrap())
    })
    .await;
    assert_eq!(house.left().await, Departure::Drained);
}
