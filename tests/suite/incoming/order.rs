//! The order of checks: with two things wrong, the earlier one is answered.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::gateway::Setup;
use svc_tests::patience::eventually;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use super::{Inbound, made, record_id};
use crate::engines::{on_both_engines, on_worlds_of_their_own};

on_both_engines! {
    tokens_that_lead_nowhere_look_alike,
    the_body_may_have_as_many_bytes_as_the_limit,
    the_earlier_check_answers,
    a_quota_is_counted_by_webhook,
    duplicates_wait_although_the_quota_is_used_up,
    refusals_leave_one_row,
    whoever_leaves_while_the_body_is_sent_leaves_one_row,
}

on_worlds_of_their_own! {
    guessing_addresses_are_not_listened_to,
}

/// Largest body (spec, Limits).
const MOST_BYTES: usize = 262_144;

async fn tokens_that_lead_nowhere_look_alike(world: &World) {
    let inbound = Inbound::of(world).await;
    let patch = async |status: &str| {
        made(
            world,
            &inbound.key,
            "PATCH",
            &inbound.webhook,
            json!({"status": status}),
        )
        .await
    };
    patch("inactive").await;
    let unknown = format!("svc_in_{}", "0".repeat(40));
    let longer = format!("{}0", inbound.token);
    let tokens = [
        inbound.token.as_str(),
        &unknown,
        &longer,
        "x",
        &inbound.token[..46],
        "svc_api_live_x",
    ];
    let mut bodies = Vec::new();
    for token in tokens {
        let path = format!("/api/svc/v1/incoming/{token}");
        let answer = world
            .gateway
            .answer(&Request::new("POST", &path).json(&json!({"mrn": "1"})))
            .await;
        assert_eq!(answer.status, 404, "{}", answer.text());
        let body = answer.text().replace(answer.request_id(), "<id>");
        let headers: Vec<String> = answer
            .headers
            .iter()
            .filter(|(name, _)| !["request-id", "date"].contains(&name.as_str()))
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        bodies.push((body, headers));
    }
    assert!(
        bodies.windows(2).all(|pair| pair[0] == pair[1]),
        "{bodies:?}"
    );
    assert!(bodies[0].0.contains(r#""code":"NOT_FOUND""#));
    patch("active").await;
    let back = world
        .gateway
        .answer(&inbound.post(&json!({"mrn": "1"})))
        .await;
    assert_eq!(back.status, 201);
    let rotate = format!("{}/rotate-token", inbound.webhook);
    let rotated = made(world, &inbound.key, "POST", &rotate, json!({})).await;
    let old = world
        .gateway
        .answer(&inbound.post(&json!({"mrn": "1"})))
        .await;
    assert_eq!(old.status, 404);
    let path = format!(
        "/api/svc/v1/incoming/{}",
        rotated["token"].as_str().unwrap()
    );
    let new = world
        .gateway
        .answer(&Request::new("POST", &path).json(&json!({"mrn": "1"})))
        .await;
    assert_eq!(new.status, 201);
}

/// A JSON object of exactly so many bytes, whose text no field takes.
fn object_of(bytes: usize) -> Vec<u8> {
    let frame = r#"{"mrn":"1","x":""}"#.len();
    format!(r#"{{"mrn":"1","x":"{}"}}"#, "a".repeat(bytes - frame)).into_bytes()
}

async fn the_body_may_have_as_many_bytes_as_the_limit(world: &World) {
    let inbound = Inbound::of(world).await;
    for (bytes, status) in [(MOST_BYTES, 201), (MOST_BYTES + 1, 413)] {
        let body = object_of(bytes);
        let whole = Request::new("POST", &inbound.path()).body(&body);
        let answer = world.gateway.answer(&whole).await;
        assert_eq!(answer.status, status, "{bytes} bytes: {}", answer.text());
        let mut chunked = Vec::new();
        for piece in body.chunks(16_000) {
            chunked.extend(format!("{:x}\r\n", piece.len()).into_bytes());
            chunked.extend(piece);
            chunked.extend(b"\r\n");
        }
        chunked.extend(b"0\r\n\r\n");
        let request = Request::new("POST", &inbound.path()).body(&chunked);
        let request = request
            .without_length()
            .header("Transfer-Encoding", "chunked");
        let answer = world.gateway.answer(&request).await;
        assert_eq!(
            answer.status,
            status,
            "{bytes} bytes in chunks: {}",
            answer.text()
        );
    }
}

/// The code and the first parameter of a refusal.
fn refusal(answer: &Answer) -> (u16, String, Value) {
    let error = answer.json()["error"].take();
    let code = error["code"].as_str().unwrap().to_owned();
    (answer.status, code, error["param"].clone())
}

async fn the_earlier_check_answers(world: &World) {
    let inbound = Inbound::with(world, json!({"per_minute": 1})).await;
    let long_key = "k".repeat(256);
    let ask = async |path: &str, key: Option<&str>, body: &[u8]| {
        let mut request = Request::new("POST", path).body(body);
        if let Some(key) = key {
            request = request.header("X-Idempotency-Key", key);
        }
        world.gateway.answer(&request).await
    };
    let path = inbound.path();
    let too_long = object_of(MOST_BYTES + 1);
    // Token before size.
    let answer = ask("/api/svc/v1/incoming/nobody", Some(&long_key), &too_long).await;
    assert_eq!(refusal(&answer).1, "NOT_FOUND");
    // Size before the key's length.
    let answer = ask(&path, Some(&long_key), &too_long).await;
    assert_eq!(
        (answer.status, refusal(&answer).1.as_str()),
        (413, "PAYLOAD_TOO_LARGE")
    );
    // The key's length before the body's form.
    let answer = ask(&path, Some(&long_key), b"no JSON").await;
    let header = json!("$header.X-Idempotency-Key");
    assert_eq!(
        refusal(&answer),
        (422, "VALIDATION_FAILED".to_owned(), header.clone())
    );
    let answer = ask(&path, Some(""), b"no JSON").await;
    assert_eq!(refusal(&answer).2, header);
    // The body's form before the quota: none of these takes of it.
    for body in [
        &b"no JSON"[..],
        b"[1]",
        b"",
        br#"{"mrn":"1","mrn":"2"}"#,
        b"\"x\"",
    ] {
        let answer = ask(&path, None, body).await;
        assert_eq!(
            refusal(&answer),
            (422, "VALIDATION_FAILED".to_owned(), json!("$body"))
        );
    }
    // A key of 255 characters is one; the one record of this minute.
    let key = "k".repeat(255);
    let first = ask(&path, Some(&key), br#"{"mrn":"1"}"#).await;
    let id = record_id(&first);
    // A used key before the body's form and the quota.
    let again = ask(&path, Some(&key), b"no JSON").await;
    assert_eq!(record_id(&again), id);
    // The quota before the schema.
    let answer = ask(&path, None, b"{}").await;
    assert_eq!(refusal(&answer).1, "ERROR");
    assert_eq!(inbound.records(world).await.len(), 1);
}

async fn a_quota_is_counted_by_webhook(world: &World) {
    let (inbound, other) = (
        Inbound::with(world, json!({"per_minute": 2})).await,
        Inbound::with(world, json!({"per_minute": 2})).await,
    );
    let body = json!({"mrn": "1"});
    for _ in 0..2 {
        record_id(&world.gateway.answer(&inbound.post(&body)).await);
    }
    let refused = world.gateway.answer(&inbound.post(&body)).await;
    assert_eq!(refused.status, 422);
    let error = refused.json()["error"].clone();
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&json!("ERROR"), &json!(true))
    );
    assert_eq!(error["details"]["reason"], "quota_exceeded");
    let seconds = error["details"]["retry_after_seconds"].as_u64().unwrap();
    assert!((1..=60).contains(&seconds));
    assert_eq!(
        refused.header("retry-after"),
        Some(seconds.to_string().as_str())
    );
    record_id(&world.gateway.answer(&other.post(&body)).await);
    let closed = json!({"per_minute": 0});
    made(world, &other.key, "PATCH", &other.webhook, closed).await;
    let refused = world.gateway.answer(&other.post(&body)).await;
    assert_eq!(refusal(&refused).1, "ERROR");
}

/// The first of them takes the last of the quota.
async fn duplicates_wait_although_the_quota_is_used_up(world: &World) {
    let inbound = Inbound::with(world, json!({"per_minute": 1})).await;
    let request = inbound.keyed("once", &json!({"mrn": "1"}));
    let all = (0..8).map(|_| world.gateway.answer(&request));
    let ids: BTreeSet<String> = join_all(all).await.iter().map(record_id).collect();
    assert_eq!(ids.len(), 1);
    let other = inbound.keyed("another", &json!({"mrn": "2"}));
    let refused = world.gateway.answer(&other).await;
    assert_eq!(refusal(&refused).1, "ERROR");
}

async fn refusals_leave_one_row(world: &World) {
    let inbound = Inbound::of(world).await;
    let too_long = Request::new("POST", &inbound.path()).body(&object_of(MOST_BYTES + 1));
    for (request, code) in [
        (inbound.post(&json!({"age": "Rossi"})), "VALIDATION_FAILED"),
        (too_long, "PAYLOAD_TOO_LARGE"),
    ] {
        let refused = world.gateway.answer(&request).await;
        assert_eq!(refusal(&refused).1, code);
        let row = books::single(&world.gateway.database, refused.request_id()).await;
        assert_eq!(row["event"], "incoming.denied");
        let document = books::document(&row);
        assert_eq!(document["outcome"]["code"], code);
        assert_eq!(document["actor"]["id"], inbound.webhook_id.as_str());
        assert!(!document.to_string().contains("Rossi"));
    }
    let unknown = Request::new("POST", "/api/svc/v1/incoming/nobody").json(&json!({}));
    let unknown = world.gateway.answer(&unknown).await;
    assert!(
        books::rows(&world.gateway.database, unknown.request_id())
            .await
            .is_empty()
    );
}

async fn whoever_leaves_while_the_body_is_sent_leaves_one_row(world: &World) {
    let inbound = Inbound::of(world).await;
    let request = inbound.post(&json!({"mrn": "1"}));
    let bytes = request.header("Expect", "100-continue").bytes();
    let mut connection = world.gateway.connect().await;
    connection.send(&bytes[..bytes.len() - 4]).await;
    // Asked for its body, the webhook is found.
    assert_eq!(connection.line().await, "HTTP/1.1 100 Continue");
    drop(connection);
    let sql = "SELECT document FROM audit WHERE org_id = $1 AND actor_type = 'webhook_token'";
    let database = &world.gateway.database;
    let rows = eventually("the row of a left post", async || {
        let rows = database.rows(sql, &[&inbound.organization]).await;
        (!rows.is_empty()).then_some(rows)
    })
    .await;
    assert_eq!(rows.len(), 1);
    let document = books::document(&rows[0]);
    assert_eq!(document["event"], "incoming.denied");
    assert_eq!(document["outcome"]["result"], "cancelled");
    assert_eq!(document["actor"]["id"], inbound.webhook_id.as_str());
    assert!(inbound.records(world).await.is_empty());
}

async fn guessing_addresses_are_not_listened_to(world: &World) {
    let policies = svc_tests::policies::Policies::copy();
    policies.edit(
        "plans.toml",
        "failed_authentications_per_minute = 300",
        "failed_authentications_per_minute = 5",
    );
    let setup = Setup::new(&world.fake.base_url()).policies(policies.path());
    let gateway = setup.start().await;
    let guess = |at: u32| {
        let path = format!("/api/svc/v1/incoming/svc_in_{at:040}");
        Request::new("POST", &path).json(&json!({}))
    };
    for at in 0..5 {
        assert_eq!(gateway.answer(&guess(at)).await.status, 404);
    }
    let refused = gateway.answer(&guess(9)).await;
    let error = refused.json()["error"].clone();
    assert_eq!(
        (refused.status, &error["details"]["scope"]),
        (429, &json!("address"))
    );
    assert!(refused.header("retry-after").is_some());
}
