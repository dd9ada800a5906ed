//! Idempotency keys (contract 4): one effect, one answer, whatever happens in between.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use super::{data, request};
use crate::engines::{on_both_engines, on_worlds_of_their_own};

on_both_engines! {
    fifty_duplicates_have_one_effect,
    an_answer_is_given_again_to_the_byte,
    a_different_request_is_refused,
    a_duplicate_of_one_that_runs_is_told_to_come_back,
    a_refusal_frees_its_key,
    an_address_is_the_same_however_it_is_written,
    keys_have_a_form,
}

on_worlds_of_their_own! {
    a_kill_at_any_moment_leaves_one_effect,
}

async fn create(world: &World, key: &str, idempotency_key: &str, name: &str) -> Answer {
    world
        .gateway
        .answer(&creation(key, idempotency_key, name))
        .await
}

fn creation(key: &str, idempotency_key: &str, name: &str) -> Request {
    let body = json!({"name": name, "scopes": ["ai:chat"]});
    request(key, "POST", "/v1/api_keys", &body).header("Idempotency-Key", idempotency_key)
}

/// Keys of this name.
async fn made(world: &World, key: &str, name: &str) -> usize {
    let keys = data(world, key, "GET", "/v1/api_keys?limit=100", Value::Null).await;
    let keys = keys.as_array().unwrap();
    keys.iter().filter(|key| key["name"] == name).count()
}

async fn fifty_duplicates_have_one_effect(world: &World) {
    let organization = world.organization();
    let owner = &organization.key;
    let answers = join_all((0..50).map(|_| create(world, owner, "once", "one of fifty"))).await;
    assert_eq!(made(world, owner, "one of fifty").await, 1);
    let bodies: BTreeSet<Vec<u8>> = answers
        .iter()
        .filter(|answer| answer.status == 201)
        .map(|answer| answer.body.clone())
        .collect();
    assert_eq!(bodies.len(), 1, "every success is the same answer");
    let first = answers
        .iter()
        .filter(|answer| answer.status == 201 && answer.header("idempotent-replayed").is_none());
    assert_eq!(first.count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        let error = answer.json()["error"].clone();
        assert_eq!(
            (answer.status, &error["details"]["reason"]),
            (409, &json!("in_progress"))
        );
        assert_eq!(error["retryable"], true);
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
}

async fn an_answer_is_given_again_to_the_byte(world: &World) {
    let organization = world.organization();
    let owner = &organization.key;
    let first = create(world, owner, "k", "again").await;
    let again = create(world, owner, "\"k\"", "again").await;
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(first.header("idempotent-replayed"), None);
    for name in ["request-id", "content-type", "svc-version"] {
        assert_eq!(again.header(name), first.header(name), "{name}");
    }
    let sql = "SELECT event, document FROM audit WHERE org_id = $1 AND event = 'request.replayed'";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    assert_eq!(rows.len(), 1);
    let details = books::document(&rows[0])["details"].clone();
    assert_eq!(details["original_request_id"], first.request_id());
    // Another principal's key is another key, and a key has nothing to do with other methods.
    let other = world.organization();
    assert_eq!(
        create(world, &other.key, "k", "again")
            .await
            .header("idempotent-replayed"),
        None
    );
    let id = first.json()["data"]["id"].as_str().unwrap().to_owned();
    let revoke = request(owner, "DELETE", &format!("/v1/api_keys/{id}"), &Value::Null);
    let revoked = world
        .gateway
        .answer(&revoke.header("Idempotency-Key", "k"))
        .await;
    assert_eq!(revoked.status, 200, "{}", revoked.text());
}

async fn an_address_is_the_same_however_it_is_written(world: &World) {
    let owner = world.organization().key;
    let agent = data(
        world,
        &owner,
        "POST",
        "/v1/agents",
        json!({"name": "Intake"}),
    )
    .await;
    let path = format!(
        "/v1/agents/{}/archive",
        agent["agent"][0]["id"].as_str().unwrap()
    );
    let escaped = path.replace("agt_", "%61gt_");
    let mut bodies = Vec::new();
    for path in [&path, &escaped] {
        let request = request(&owner, "POST", path, &Value::Null);
        let archived = world
            .gateway
            .answer(&request.header("Idempotency-Key", "k"))
            .await;
        assert_eq!(archived.status, 200, "{}", archived.text());
        bodies.push(archived.body);
    }
    assert_eq!(bodies[0], bodies[1]);
}

async fn a_different_request_is_refused(world: &World) {
    let owner = world.organization().key;
    assert_eq!(create(world, &owner, "k", "first").await.status, 201);
    let body = json!({"scopes": ["ai:chat"], "name": "first"});
    let same = request(&owner, "POST", "/v1/api_keys", &body).header("Idempotency-Key", "k");
    assert_eq!(
        world.gateway.answer(&same).await.status,
        201,
        "the order of members is no difference"
    );
    let refused = create(world, &owner, "k", "second").await;
    assert_eq!(refused.status, 409);
    let error = refused.json()["error"].clone();
    assert_eq!(error["code"], "IDEMPOTENCY_CONFLICT");
    assert_eq!(error["details"]["reason"], "body_mismatch");
    assert_eq!(error["retryable"], false);
    let elsewhere = request(&owner, "POST", "/v1/agents", &json!({"name": "first"}));
    let elsewhere = world
        .gateway
        .answer(&elsewhere.header("Idempotency-Key", "k"))
        .await;
    assert_eq!(elsewhere.status, 409);
}

async fn a_duplicate_of_one_that_runs_is_told_to_come_back(world: &World) {
    let organization = world.organization();
    let owner = &organization.key;
    assert_eq!(create(world, owner, "k", "slow").await.status, 201);
    // As if the first one still ran, with a lease until the year 2286.
    let sql = "UPDATE idempotency SET owner = 'req_slow', response = NULL, expires_at = NULL, \
               lease_until = 9999999999999 WHERE org_id = $1";
    let database = &world.gateway.database;
    database.change(sql, &[&organization.id]).await;
    let refused = create(world, owner, "k", "slow").await;
    assert_eq!(refused.status, 409);
    let error = refused.json()["error"].clone();
    assert_eq!(error["code"], "IDEMPOTENCY_CONFLICT");
    assert_eq!(error["details"]["reason"], "in_progress");
    assert_eq!(error["retryable"], true);
    assert_eq!(refused.header("retry-after"), Some("1"));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("still runs"), "{message}");
    // Another request is one, whether or not the first one runs.
    let other = create(world, owner, "k", "other").await;
    let error = other.json()["error"].clone();
    assert_eq!(error["details"]["reason"], "body_mismatch");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("different request"), "{message}");
}

async fn a_refusal_frees_its_key(world: &World) {
    let owner = world.organization().key;
    let refused = create(world, &owner, "k", "").await;
    assert_eq!(refused.status, 422);
    let row = books::single(&world.gateway.database, refused.request_id()).await;
    assert_eq!(row["event"], "api_key.denied");
    assert_eq!(create(world, &owner, "k", "now good").await.status, 201);
}

async fn keys_have_a_form(world: &World) {
    let owner = world.organization().key;
    for bad in ["", "\"\"", "a b", &"k".repeat(256), "\u{fc}"] {
        let refused = create(world, &owner, bad, "x").await;
        assert_eq!(refused.status, 422, "{bad}");
        assert_eq!(refused.json()["error"]["param"], "$header.Idempotency-Key");
    }
    assert_eq!(
        create(world, &owner, &"k".repeat(255), "x").await.status,
        201
    );
}

/// Callers that never give up on their keys, over a gateway that is killed again and again.
async fn a_kill_at_any_moment_leaves_one_effect(world: &World) {
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let owner = &organization.key;
    for round in 0..4_u32 {
        let names: Vec<String> = (0..12)
            .map(|at| format!("round-{round}-key-{at}"))
            .collect();
        let first = join_all(
            names
                .iter()
                .map(|name| ask_once(world, creation(owner, name, name))),
        );
        let killer = async {
            // Later in each round, so that every step is hit.
            tokio::time::sleep(std::time::Duration::from_millis(u64::from(round) * 7)).await;
            world.gateway.kill();
        };
        let (told, ()) = futures_util::future::join(first, killer).await;
        world.gateway.start().await;
        for (name, told) in names.iter().zip(told) {
            // A claim whose owner died is taken over once its lease has ended.
            let sql = "UPDATE idempotency SET lease_until = 0 WHERE owner IS NOT NULL AND $1 <> ''";
            world.gateway.database.change(sql, &[name]).await;
            let answer = create(world, owner, name, name).await;
            assert_eq!(answer.status, 201, "{}", answer.text());
            assert_eq!(made(world, owner, name).await, 1, "{name}");
            if let Some(body) = told {
                assert_eq!(answer.body, body, "what was told stays");
            }
        }
    }
}

/// The body of a success, if one came before the end.
async fn ask_once(world: &World, request: Request) -> Option<Vec<u8>> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(world.gateway.address)
        .await
        .ok()?;
    let request = request.header("Connection", "close");
    stream.write_all(&request.bytes()).await.ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    head.starts_with("HTTP/1.1 201")
        .then(|| body.as_bytes().to_vec())
}
