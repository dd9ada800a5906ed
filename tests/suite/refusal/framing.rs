//! Requests that come too large, too slowly, or not as HTTP: an answer at once, nothing half-written.

use std::time::{Duration, Instant};

use serde_json::json;
use svc_tests::fake::mark;
use svc_tests::gateway::chat;
use svc_tests::surfaces::{SURFACES, Surface};
use svc_tests::wire::{Answer, Connection, Request};
use svc_tests::world::{BODY_BYTES, BODY_MS, HEADER_MS, World};

use super::{error_of, expect};
use crate::engines::on_impatient;

on_impatient! {
    a_length_over_the_limit_is_refused_unread,
    chunks_over_the_limit_are_refused_on_the_way,
    a_body_at_the_limit_passes_in_any_framing,
    a_stalled_body_is_refused_in_time,
    a_dripping_body_is_refused_in_time,
    a_dripping_head_is_closed_in_time,
    broken_heads_are_refused,
    ambiguous_lengths_are_refused,
    a_stray_line_end_does_no_harm,
    an_expected_continue_is_given_when_the_body_is_wanted,
    an_unread_body_does_not_spoil_the_answer,
    a_misframed_body_is_refused_in_the_shape_of_its_surface,
    a_misframed_body_of_nobody_is_unauthorized,
}

fn head(key: &str, framing: &str) -> Vec<u8> {
    format!(
        "POST /v1/ai/chat HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\n{framing}\r\n\r\n"
    )
    .into_bytes()
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// A chat whose body has exactly so many bytes.
fn body_of(bytes: usize) -> Vec<u8> {
    let frame = json!({"message": "", "stream": false}).to_string();
    json!({"message": "m".repeat(bytes - frame.len()), "stream": false})
        .to_string()
        .into_bytes()
}

/// How much later than a deadline an answer may come: the machine runs other tests too.
const SLACK: Duration = Duration::from_secs(5);

/// An answer that comes after `ms`, and not long after it.
async fn refused_after(connection: Connection, start: Instant, ms: i64) -> Answer {
    let answer = connection.reply().await.whole().await.0;
    let deadline = Duration::from_millis(ms.unsigned_abs());
    assert!(
        start.elapsed() + Duration::from_millis(50) >= deadline,
        "after {:?}",
        start.elapsed()
    );
    assert!(
        start.elapsed() < deadline + SLACK,
        "after {:?}",
        start.elapsed()
    );
    answer
}

async fn a_length_over_the_limit_is_refused_unread(world: &World) {
    let organization = world.organization();
    for length in [BODY_BYTES + 1, 10 * BODY_BYTES, i64::MAX] {
        let mut connection = world.gateway.connect().await;
        connection
            .send(&head(
                &organization.key,
                &format!("Content-Length: {length}"),
            ))
            .await;
        let answer = connection.reply().await.whole().await.0;
        assert_eq!(answer.status, 413);
        let error = expect(&answer, "PAYLOAD_TOO_LARGE", Some("$body"));
        assert_eq!(error["details"]["limit_bytes"], BODY_BYTES);
    }
}

async fn chunks_over_the_limit_are_refused_on_the_way(world: &World) {
    let organization = world.organization();
    let mut connection = world.gateway.connect().await;
    connection
        .send(&head(&organization.key, "Transfer-Encoding: chunked"))
        .await;
    let piece = chunk(&[b'x'; 10_000]);
    for _ in 0..11 {
        if connection.try_send(&piece).await.is_err() {
            break;
        }
    }
    // Never ended by us: the answer comes without the last chunk.
    expect(
        &connection.reply().await.whole().await.0,
        "PAYLOAD_TOO_LARGE",
        Some("$body"),
    );
}

async fn a_body_at_the_limit_passes_in_any_framing(world: &World) {
    let organization = world.organization();
    let limit = usize::try_from(BODY_BYTES).unwrap();
    // The fake echoes at most 2,000 characters; what matters is that the body came whole, over 64 KiB.
    let body = body_of(limit);
    assert_eq!(body.len(), limit);
    let mut connection = world.gateway.connect().await;
    connection
        .send(
            &[
                head(&organization.key, &format!("Content-Length: {limit}")),
                body.clone(),
            ]
            .concat(),
        )
        .await;
    let (answer, mut connection) = connection.reply().await.whole().await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut bytes = head(&organization.key, "Transfer-Encoding: chunked");
    body.chunks(777)
        .for_each(|piece| bytes.extend(chunk(piece)));
    bytes.extend(b"0\r\n\r\n");
    connection.send(&bytes).await;
    let (answer, _) = connection.reply().await.whole().await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = world
        .gateway
        .answer(
            &Request::new("POST", "/v1/ai/chat")
                .bearer(&organization.key)
                .header("Content-Type", "application/json")
                .body(&body_of(limit + 1)),
        )
        .await;
    expect(&answer, "PAYLOAD_TOO_LARGE", Some("$body"));
}

async fn a_stalled_body_is_refused_in_time(world: &World) {
    let organization = world.organization();
    for framing in ["Content-Length: 100", "Transfer-Encoding: chunked"] {
        let mut connection = world.gateway.connect().await;
        let start = Instant::now();
        connection
            .send(&[head(&organization.key, framing), chunk(b"{\"message\":")].concat())
            .await;
        let answer = refused_after(connection, start, BODY_MS).await;
        assert_eq!(answer.status, 422);
        expect(&answer, "VALIDATION_FAILED", Some("$body"));
    }
}

/// A deadline for the whole body, not for each of its bytes.
async fn a_dripping_body_is_refused_in_time(world: &World) {
    let organization = world.organization();
    let mut connection = world.gateway.connect().await;
    let start = Instant::now();
    connection
        .send(&head(&organization.key, "Content-Length: 10000"))
        .await;
    let deadline = Duration::from_millis(BODY_MS.unsigned_abs());
    while start.elapsed() < deadline + Duration::from_millis(300) {
        if connection.try_send(b" ").await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    let answer = refused_after(connection, start, BODY_MS).await;
    expect(&answer, "VALIDATION_FAILED", Some("$body"));
}

async fn a_dripping_head_is_closed_in_time(world: &World) {
    let mut connection = world.gateway.connect().await;
    let start = Instant::now();
    let deadline = Duration::from_millis(HEADER_MS.unsigned_abs());
    while start.elapsed() < deadline + SLACK {
        if connection.try_send(b"G").await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert!(
        start.elapsed() >= deadline && start.elapsed() < deadline + SLACK,
        "after {:?}",
        start.elapsed()
    );
}

async fn broken_heads_are_refused(world: &World) {
    let organization = world.organization();
    let large = format!("X-Large: {}", "x".repeat(70_000));
    let broken: Vec<Vec<u8>> = vec![
        b"GET /v1/ai/chat HTTP/1.1\r\nno colon\r\n\r\n".to_vec(),
        b"GET /v1/ai/chat HTTP/1.1\r\nbad name: x\r\n\r\n".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        head(&organization.key, &large),
    ];
    let mut unanswered = Vec::new();
    for bytes in broken {
        let mut connection = world.gateway.connect().await;
        // The gateway may have closed before the last of these bytes.
        let _ = connection.try_send(&bytes).await;
        let Some(reply) = connection.reply_if_any().await else {
            unanswered.push(String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned());
            continue;
        };
        let answer = reply.whole().await.0;
        assert!((400..500).contains(&answer.status), "{}", answer.text());
        error_of(&answer);
    }
    assert!(
        unanswered.is_empty(),
        "closed without an answer: {unanswered:#?}"
    );
}

/// Two ways to read a body are one too many: what follows could be taken for a request of its own.
async fn ambiguous_lengths_are_refused(world: &World) {
    let organization = world.organization();
    let smuggled = mark();
    let inner = chat(&organization.key, json!({"message": smuggled})).bytes();
    let mut wrong = Vec::new();
    for framing in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Content-Length: 4\r\nContent-Length: 9",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "Content-Length: +4",
        "Content-Length: -1",
        "Content-Length: 0x4",
    ] {
        let mut connection = world.gateway.connect().await;
        let bytes = [
            head(&organization.key, framing),
            b"0\r\n\r\n".to_vec(),
            inner.clone(),
        ]
        .concat();
        let _ = connection.try_send(&bytes).await;
        let (answer, mut connection) = connection.reply().await.whole().await;
        if !(400..500).contains(&answer.status) || !connection.closes().await {
            wrong.push(format!(
                "{framing}: {}, and the connection goes on",
                answer.status
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(world.fake.seen(&smuggled).await.is_empty());
}

async fn a_stray_line_end_does_no_harm(world: &World) {
    let organization = world.organization();
    let mut connection = world.gateway.connect().await;
    for turn in 0..3 {
        let mut bytes = chat(
            &organization.key,
            json!({"message": mark(), "stream": turn == 1}),
        )
        .bytes();
        bytes.extend(b"\r\n");
        connection.send(&bytes).await;
        let (answer, kept) = connection.reply().await.whole().await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        connection = kept;
    }
}

async fn an_expected_continue_is_given_when_the_body_is_wanted(world: &World) {
    let organization = world.organization();
    let body = json!({"message": mark(), "stream": false}).to_string();
    let framing = format!("Expect: 100-continue\r\nContent-Length: {}", body.len());
    let mut connection = world.gateway.connect().await;
    connection.send(&head(&organization.key, &framing)).await;
    assert_eq!(connection.line().await, "HTTP/1.1 100 Continue");
    assert_eq!(connection.line().await, "");
    connection.send(body.as_bytes()).await;
    assert_eq!(connection.reply().await.whole().await.0.status, 200);
    // Who is not let in is told so instead.
    let mut connection = world.gateway.connect().await;
    connection
        .send(&head("svc_api_live_nobody", &framing))
        .await;
    assert_eq!(connection.line().await, "HTTP/1.1 401 Unauthorized");
}

/// A refusal before the body is read must reach a caller who is still sending it.
async fn an_unread_body_does_not_spoil_the_answer(world: &World) {
    for _ in 0..8 {
        let mut connection = world.gateway.connect().await;
        let bytes = [
            head("svc_api_live_nobody", "Content-Length: 300000"),
            vec![b'x'; 300_000],
        ]
        .concat();
        let _ = connection.try_send(&bytes).await;
        expect(
            &connection.reply().await.whole().await.0,
            "INVALID_API_KEY",
            None,
        );
    }
}

/// With the headers of every answer, whether the chunk that breaks the framing comes with the head or later.
async fn a_misframed_body_is_refused_in_the_shape_of_its_surface(world: &World) {
    let key = world.organization().key;
    for (surface, pause) in broken_ways() {
        let (answer, body) = misframed(world, surface, &key, pause).await;
        assert_eq!(surface.code(&body), "VALIDATION_FAILED", "{body}");
        let (status, is_shaped) = match surface {
            Surface::Native => (422, body["success"] == false),
            Surface::Messages => (422, body["type"] == "error"),
            Surface::ChatCompletions => (400, answer.header("x-request-id").is_some()),
        };
        assert!(answer.status == status && is_shaped, "{body}");
        assert!(answer.header("svc-version").is_some(), "{body}");
    }
}

/// Whose body it is comes first, as for every other fault of a body.
async fn a_misframed_body_of_nobody_is_unauthorized(world: &World) {
    for (surface, pause) in broken_ways() {
        let (answer, body) = misframed(world, surface, "svc_api_live_nobody", pause).await;
        assert_eq!(surface.code(&body), "INVALID_API_KEY", "{body}");
        assert_eq!(answer.status, 401, "{body}");
    }
}

/// On each surface, in one packet with the head and some time behind it.
fn broken_ways() -> impl Iterator<Item = (Surface, Duration)> {
    let pauses = [Duration::ZERO, Duration::from_millis(50)];
    SURFACES
        .into_iter()
        .flat_map(move |surface| pauses.map(|pause| (surface, pause)))
}

async fn misframed(
    world: &World,
    surface: Surface,
    key: &str,
    pause: Duration,
) -> (Answer, serde_json::Value) {
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        surface.path()
    );
    let mut connection = world.gateway.connect().await;
    if pause.is_zero() {
        connection.send(format!("{head}ZZ\r\n").as_bytes()).await;
    } else {
        connection.send(head.as_bytes()).await;
        tokio::time::sleep(pause).await;
        let _ = connection.try_send(b"ZZ\r\n").await;
    }
    let answer = connection.reply().await.whole().await.0;
    let body = answer.json();
    (answer, body)
}
