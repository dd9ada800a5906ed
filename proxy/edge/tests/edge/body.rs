//! Request bodies: size, time, framing, and what is left of a connection afterwards.

use std::time::{Duration, Instant};

use bytes::Bytes;
use svc_edge::Limits;
use svc_pipeline::request::{BodyError, BodyReader};
use svc_pipeline::response::Response;
use tokio::io::AsyncWriteExt;

use crate::house::{House, Plan, text};
use crate::peers::{closed, connect, read_answer, read_until, send};

const LIMIT_BYTES: usize = 1_000_000;

async fn echo(mut body: BodyReader) -> Response {
    match body.read(LIMIT_BYTES).await {
        Ok(bytes) => text(200, bytes),
        Err(BodyError::TooLarge { limit_bytes }) => text(413, limit_bytes.to_string()),
        Err(BodyError::TimedOut) => text(408, "too slow"),
        Err(BodyError::Misframed) => text(422, "misframed"),
        Err(BodyError::Gone) => text(400, "gone"),
    }
}

async fn echo_house(limits: Limits) -> House {
    let plan = Plan {
        limits,
        ..Plan::default()
    };
    House::open(plan, |_, body| echo(body)).await
}

fn post(length: usize) -> String {
    format!("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_over_64_kib_is_echoed_on_a_kept_connection() {
    let house = echo_house(Limits::default()).await;
    let mut client = connect(house.address).await;
    let body: Vec<u8> = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
    for _ in 0..2 {
        send(&mut client, post(body.len())).await;
        send(&mut client, &body).await;
        let answer = read_answer(&mut client).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("connection"), Some("keep-alive"));
        assert!(answer.body == body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_are_put_together() {
    let house = echo_house(Limits::default()).await;
    let mut client = connect(house.address).await;
    send(
        &mut client,
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    )
    .await;
    send(&mut client, "6\r\n world\r\n0\r\n\r\n").await;
    assert_eq!(read_answer(&mut client).await.body, b"hello world");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declared_length_over_the_limit_is_refused_unread() {
    let house = echo_house(Limits::default()).await;
    let mut client = connect(house.address).await;
    let started = Instant::now();
    send(&mut client, post(LIMIT_BYTES + 1)).await;
    let answer = read_answer(&mut client).await;
    assert_eq!(
        (answer.status, answer.body.as_slice()),
        (413, &b"1000000"[..])
    );
    assert_eq!(answer.header("connection"), Some("close"));
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_reaches_a_client_that_is_still_sending() {
    let house = echo_house(Limits::default()).await;
    let client = connect(house.address).await;
    let (mut reading, mut writing) = client.into_split();
    let sender = tokio::spawn(async move {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        writing.write_all(head.as_bytes()).await.unwrap();
        let chunk = [b"8000\r\n".as_slice(), &[b'x'; 0x8000], b"\r\n"].concat();
        // 3 MB: three times the limit, within the lingering close.
        for _ in 0..96 {
            if writing.write_all(&chunk).await.is_err() {
                break;
            }
        }
        writing
    });
    let answer = read_answer(&mut reading).await;
    assert_eq!(answer.status, 413);
    drop(sender.await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_body_times_out() {
    let limits = Limits {
        body_deadline: Duration::from_millis(300),
        ..Limits::default()
    };
    let house = echo_house(limits).await;
    let mut client = connect(house.address).await;
    let started = Instant::now();
    send(&mut client, post(100)).await;
    send(&mut client, "half").await;
    let answer = read_answer(&mut client).await;
    assert_eq!(answer.status, 408);
    assert!(started.elapsed() >= Duration::from_millis(290));
    assert!(started.elapsed() < Duration::from_secs(3));
    assert!(closed(&mut client).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dripping_body_times_out_as_a_whole() {
    let limits = Limits {
        body_deadline: Duration::from_millis(300),
        ..Limits::default()
    };
    let house = echo_house(limits).await;
    let client = connect(house.address).await;
    let (mut reading, mut writing) = client.into_split();
    writing.write_all(post(100_000).as_bytes()).await.unwrap();
    let started = Instant::now();
    let drip = tokio::spawn(async move {
        while writing.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let answer = read_answer(&mut reading).await;
    assert_eq!(answer.status, 408);
    assert!(started.elapsed() < Duration::from_secs(3));
    drip.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_a_body_is_told_of_broken_framing() {
    let house = echo_house(Limits::default()).await;
    let mut client = connect(house.address).await;
    send(
        &mut client,
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    )
    .await;
    let answer = read_answer(&mut client).await;
    assert_eq!(
        (answer.status, answer.body.as_slice()),
        (422, &b"misframed"[..])
    );
    assert!(closed(&mut client).await.is_some());
}

/// What pingora takes for the end of a body is not the beginning of a message that somebody smuggled into it.
#[tokio::test(flavor = "multi_thread")]
async fn a_chunk_without_a_size_is_broken_framing() {
    let house = echo_house(Limits::default()).await;
    let smuggled = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    for (coding, body) in [
        ("chunked", "2\r\n{}\r\n\r\n\r\n"),
        ("chunked", "\r\n\r\n"),
        ("chunked", "2\r\n{}\r\n;ext\r\n\r\n"),
        ("chunked", "2\r\n{}\r\n0\r\nno colon\r\n\r\n"),
        ("chunked, chunked", "2\r\n{}\r\n0\r\n\r\n"),
        ("gzip, chunked", "2\r\n{}\r\n0\r\n\r\n"),
    ] {
        let head = format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: {coding}\r\n\r\n");
        // In one packet, and with the body in one of its own.
        for parts in [
            vec![format!("{head}{body}{smuggled}")],
            vec![head.clone(), format!("{body}{smuggled}")],
        ] {
            let mut client = connect(house.address).await;
            for part in parts {
                send(&mut client, part).await;
                tokio::task::yield_now().await;
            }
            let answer = read_answer(&mut client).await;
            assert_eq!(answer.status, 422, "{coding} {body:?}");
            assert_eq!(answer.header("connection"), Some("close"));
            assert!(closed(&mut client).await.is_some());
        }
    }
    // What is framed as it should be is served on, its trailers too.
    let mut client = connect(house.address).await;
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n";
    let body = "2;x\r\n{}\r\n0\r\nDigest: none\r\n\r\n";
    for _ in 0..2 {
        send(&mut client, format!("{head}{body}{head}{body}")).await;
        for _ in 0..2 {
            let answer = read_answer(&mut client).await;
            assert_eq!((answer.status, &answer.body[..]), (200, &b"{}"[..]));
        }
    }
}

/// Pingora encodes what a request line must not have; the head that it gives is then another than the one that came.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_line_that_is_rewritten_is_the_last_of_its_connection() {
    let house = echo_house(Limits::default()).await;
    let mut client = connect(house.address).await;
    let head = "POST /a b HTTP/1.1\r\nHost: a\r\n";
    send(&mut client, format!("{head}Content-Length: 2\r\n\r\n{{}}")).await;
    let answer = read_answer(&mut client).await;
    assert_eq!((answer.status, &answer.body[..]), (200, &b"{}"[..]));
    // No later request on it is blamed for that.
    assert_eq!(answer.header("connection"), Some("close"));
    assert!(closed(&mut client).await.is_some());
    let mut client = connect(house.address).await;
    let chunked = "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    send(&mut client, format!("{head}{chunked}")).await;
    let answer = read_answer(&mut client).await;
    assert_eq!(answer.status, 422);
    let told = String::from_utf8(answer.body).unwrap();
    assert!(told.contains("$path"), "{told}");
    assert!(closed(&mut client).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_expects_100_gets_it_when_the_body_is_wanted() {
    let house = House::open(Plan::default(), |head, body| async move {
        match head.path.as_str() {
            "/wanted" => echo(body).await,
            _ => text(401, "no"),
        }
    })
    .await;
    let ask = |path: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        )
    };
    let mut client = connect(house.address).await;
    send(&mut client, ask("/wanted")).await;
    let interim = read_until(&mut client, b"\r\n\r\n").await;
    assert!(interim.starts_with(b"HTTP/1.1 100 "), "{interim:?}");
    send(&mut client, "hello").await;
    assert_eq!(read_answer(&mut client).await.body, b"hello");
    // Refused without having asked for the body: no 100, and the connection ends.
    send(&mut client, ask("/unwanted")).await;
    let answer = read_answer(&mut client).await;
    assert_eq!(
        (answer.status, answer.header("connection")),
        (401, Some("close"))
    );
}

/// It would take an interim head for the answer (RFC 9110, 10.1.1 and 15.2).
#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_http_1_0_gets_no_100() {
    let house = House::open(Plan::default(), |_, body| echo(body)).await;
    let mut client = connect(house.address).await;
    let head = "POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    send(&mut client, head).await;
    // Long enough for an interim head to come.
    tokio::time::sleep(Duration::from_millis(100)).await;
    send(&mut client, "hello").await;
    let answer = read_answer(&mut client).await;
    assert_eq!(
        (answer.status, answer.body.as_slice()),
        (200, &b"hello"[..])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_unread_body_does_not_cost_the_connection() {
    let house = House::open(Plan::default(), |_, _| async { text(401, "no") }).await;
    let mut client = connect(house.address).await;
    for _ in 0..3 {
        send(&mut client, format!("{}{}", post(4_000), "x".repeat(4_000))).await;
        let answer = read_answer(&mut client).await;
        assert_eq!(
            (answer.status, answer.header("connection")),
            (401, Some("keep-alive"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stray_line_end_after_the_body_harms_nothing() {
    let house = House::open(Plan::default(), |_, body| async move {
        let answer = echo(body).await;
        // Long enough for the line end to arrive while the request is served.
        tokio::time::sleep(Duration::from_millis(100)).await;
        answer
    })
    .await;
    let mut client = connect(house.address).await;
    for _ in 0..3 {
        send(&mut client, format!("{}hello", post(5))).await;
        send(&mut client, "\r\n").await;
        let answer = read_answer(&mut client).await;
        assert_eq!(
            (answer.status, answer.body.as_slice()),
            (200, &b"hello"[..])
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_requests_are_served_in_order() {
    let house = echo_house(Limits::default()).await;
    let mut client = connect(house.address).await;
    send(&mut client, format!("{0}one\r\n{0}two{0}abc", post(3))).await;
    for expected in [b"one", b"two", b"abc"] {
        assert_eq!(read_answer(&mut client).await.body, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_reading_finds_nothing() {
    let house = House::open(Plan::default(), |_, mut body| async move {
        let first = body.read(100).await.unwrap();
        let second = body.read(100).await.unwrap();
        text(
            200,
            Bytes::from(format!("{}+{}", first.len(), second.len())),
        )
    })
    .await;
    let mut client = connect(house.address).await;
    send(&mut client, format!("{}hello", post(5))).await;
    assert_eq!(read_answer(&mut client).await.body, b"5+0");
}
