//! Connections: heads that drip, grow or break, how many are let in, keep-alive, panics, the admin listener.

use std::time::{Duration, Instant};

use svc_edge::Limits;
use tokio::io::AsyncWriteExt;

use crate::house::{House, Plan, text};
use crate::peers::{closed, connect, read_answer, read_until, send, until};

async fn house(limits: Limits) -> House {
    let plan = Plan {
        limits,
        ..Plan::default()
    };
    House::open(plan, |head, _| async move {
        assert!(head.path != "/panic", "as asked");
        text(
            200,
            format!("{} {} {:?}", head.method, head.path, head.query),
        )
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dripping_head_is_closed() {
    let limits = Limits {
        header_deadline: Duration::from_millis(300),
        ..Limits::default()
    };
    let house = house(limits).await;
    let client = connect(house.address).await;
    let (mut reading, mut writing) = client.into_split();
    let started = Instant::now();
    let drip = tokio::spawn(async move {
        let _ = writing.write_all(b"GET / HTTP/1.1\r\nX-Long: ").await;
        while writing.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let at = closed(&mut reading).await.expect("it is closed");
    assert!(at - started < Duration::from_secs(3));
    drip.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_and_idle_connections_are_closed() {
    let limits = Limits {
        header_deadline: Duration::from_millis(200),
        idle: Duration::from_millis(400),
        ..Limits::default()
    };
    let house = house(limits).await;
    let mut silent = connect(house.address).await;
    let started = Instant::now();
    assert!(closed(&mut silent).await.is_some());
    assert!(started.elapsed() < Duration::from_secs(3));
    let mut idle = connect(house.address).await;
    send(&mut idle, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    read_answer(&mut idle).await;
    let started = Instant::now();
    assert!(closed(&mut idle).await.is_some());
    assert!(started.elapsed() >= Duration::from_millis(380));
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_over_the_limits_get_an_envelope() {
    let limits = Limits {
        header_bytes: 2_000,
        header_count: 10,
        ..Limits::default()
    };
    let house = house(limits).await;
    let long = format!(
        "GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n",
        "x".repeat(2_000)
    );
    let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: 1\r\n".repeat(10));
    let broken = "GET / HTTP/1.1\r\nHost : a\r\n\r\n".to_owned();
    let ambiguous = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx";
    for head in [long, many, broken, ambiguous.to_owned()] {
        let mut client = connect(house.address).await;
        send(&mut client, &head).await;
        let answer = read_answer(&mut client).await;
        assert_eq!(answer.status, 422, "{head}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("request-id"), Some("req_test"));
        assert!(
            String::from_utf8(answer.body)
                .unwrap()
                .contains("\"success\":false")
        );
    }
}

/// Nobody waits for the end of a head that is too large already, and what lies behind a head is none of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_head_without_an_end_is_refused_at_its_limit() {
    let limits = Limits {
        header_bytes: 2_000,
        header_deadline: Duration::from_secs(60),
        ..Limits::default()
    };
    let house = house(limits).await;
    for size in [2_001, 3_000, 200_000] {
        let mut client = connect(house.address).await;
        let head = format!("GET /a HTTP/1.1\r\nHost: a\r\nX: {}", "x".repeat(size));
        send(&mut client, &head).await;
        let answer = read_answer(&mut client).await;
        assert_eq!(answer.status, 422, "{size}");
        let body = String::from_utf8(answer.body).unwrap();
        assert!(body.contains(r#""$header":["is too large"]"#), "{body}");
        assert!(closed(&mut client).await.is_some());
    }
    assert_eq!(house.metric("svc_edge_requests_refused_total"), 3.0);
    let mut client = connect(house.address).await;
    let requests = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n".repeat(100);
    send(&mut client, &requests).await;
    for _ in 0..100 {
        assert_eq!(read_answer(&mut client).await.status, 200);
    }
    assert_eq!(house.metric("svc_edge_requests_refused_total"), 3.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_absolute_address_is_served_by_its_path() {
    let house = house(Limits::default()).await;
    let mut client = connect(house.address).await;
    send(
        &mut client,
        "GET http://a/x%2Fy?q=1 HTTP/1.1\r\nHost: a\r\n\r\n",
    )
    .await;
    let answer = read_answer(&mut client).await;
    assert_eq!(answer.body, b"GET /x%2Fy Some(\"q=1\")");
}

#[tokio::test(flavor = "multi_thread")]
async fn head_has_the_length_and_no_body() {
    let house = house(Limits::default()).await;
    let mut client = connect(house.address).await;
    send(&mut client, "HEAD /h HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let head = read_until(&mut client, b"\r\n\r\n").await;
    assert!(
        String::from_utf8(head)
            .unwrap()
            .contains("Content-Length: 12")
    );
    // The next answer follows at once: no body byte lies between.
    send(&mut client, "GET /g HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(read_answer(&mut client).await.body, b"GET /g None");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_a_500_and_the_connection_lives() {
    let house = house(Limits::default()).await;
    let mut client = connect(house.address).await;
    send(&mut client, "GET /panic HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let answer = read_answer(&mut client).await;
    assert_eq!(answer.status, 500);
    let body = String::from_utf8(answer.body).unwrap();
    assert!(body.contains("INTERNAL_ERROR") && !body.contains("as asked"));
    send(&mut client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(read_answer(&mut client).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_gets_only_so_many_connections() {
    let limits = Limits {
        connections_per_address: 2,
        ..Limits::default()
    };
    let house = house(limits).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut client = connect(house.address).await;
        send(&mut client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_eq!(read_answer(&mut client).await.status, 200);
        held.push(client);
    }
    assert_eq!(house.metric("svc_edge_connections_open"), 2.0);
    let mut third = connect(house.address).await;
    assert!(closed(&mut third).await.is_some());
    until(|| house.metric("svc_edge_connections_refused_total") == 1.0).await;
    held.clear();
    // The places come back when the edge has seen the two leave.
    let started = Instant::now();
    loop {
        let mut client = connect(house.address).await;
        let _ = client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        if read_until(&mut client, b"\r\n\r\n")
            .await
            .starts_with(b"HTTP/1.1 200")
        {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_admin_listener_answers_paths() {
    let house = house(Limits::default()).await;
    let mut client = connect(house.admin).await;
    for (request, status) in [
        ("GET /healthz", 200),
        ("GET /nowhere", 404),
        ("POST /healthz", 405),
    ] {
        send(
            &mut client,
            format!("{request} HTTP/1.1\r\nHost: a\r\n\r\n"),
        )
        .await;
        assert_eq!(read_answer(&mut client).await.status, status, "{request}");
    }
    let pid = std::fs::read_to_string(house.pid_file()).unwrap();
    assert_eq!(pid, std::process::id().to_string());
}
