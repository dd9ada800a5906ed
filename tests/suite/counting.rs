//! `POST /v1/messages/count_tokens`: content goes to a provider, so every gate but metering stands before it.

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::organization::Organization;
use svc_tests::patience::eventually;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use crate::engines::{on_both_engines, on_sqlite, on_worlds_of_their_own};
use crate::phi::{PLANTED, core};

on_both_engines! {
    the_provider_counts_and_nothing_is_charged,
    a_count_that_fails_is_written_and_not_charged,
    a_caller_who_leaves_ends_the_count,
}

on_sqlite! {
    placeholders_are_counted_in_place_of_phi,
    a_blocking_organization_sends_nothing,
    kind_b_is_estimated_by_the_gateway,
    every_gate_but_metering_stands_before_it,
    what_is_no_prompt_is_refused,
}

on_worlds_of_their_own! { every_failure_of_the_provider_is_mapped }

const PATH: &str = "/v1/messages/count_tokens";
const ALPHA: &str = "alpha-sonnet-4-6";
const BETA: &str = "beta-5.4";

fn prompt(model: &str, text: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": text}]})
}

fn count(key: &str, body: &Value) -> Request {
    Request::new("POST", PATH).bearer(key).json(body)
}

async fn counted(world: &World, organization: &Organization, body: &Value) -> (u64, Answer) {
    let answer = world.gateway.answer(&count(&organization.key, body)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let tokens = answer.json();
    assert_eq!(
        tokens.as_object().map(serde_json::Map::len),
        Some(1),
        "{tokens}"
    );
    (tokens["input_tokens"].as_u64().expect("a count"), answer)
}

/// The messages surface's own error, or the native one of `PHI_BLOCKED`; both have type, code and message.
fn refused(answer: &Answer, status: u16, code: &str) -> Value {
    assert_eq!(answer.status, status, "{}", answer.text());
    let body = answer.json();
    assert_eq!(body["type"], "error", "{body}");
    assert_eq!(body["error"]["code"], code, "{body}");
    body["error"].clone()
}

async fn the_provider_counts_and_nothing_is_charged(world: &World) {
    // Without credits: no budget stands in the way of what costs nothing.
    let organization = world.organization_with(&["--credits", "0"]);
    let mark = mark();
    let body = json!({
        "model": ALPHA, "system": "Be brief.", "messages": [{"role": "user", "content": mark}],
        "tools": [{"name": "look", "input_schema": {"type": "object"}}], "tool_choice": {"type": "auto"},
        "thinking": {"type": "enabled", "budget_tokens": 40_000},
    });
    let request = Request::new("POST", PATH).header("x-api-key", &organization.key);
    let request = request
        .header("anthropic-version", "2023-06-01")
        .json(&body);
    let answer = world.gateway.answer(&request).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let seen = world.fake.received(&mark).await;
    assert_eq!(
        (&seen["method"], &seen["path"]),
        (&json!("POST"), &json!(PATH))
    );
    let sent = seen["body"].as_object().unwrap();
    let fields: Vec<&String> = sent.keys().collect();
    assert_eq!(
        fields,
        [
            "model",
            "system",
            "messages",
            "tools",
            "tool_choice",
            "thinking"
        ]
    );
    assert!(!seen.to_string().contains(&organization.key));
    // What the provider says, and nothing else: the fake counts a token for four characters.
    let chars = "Be brief.".len() + mark.len() + sent["tools"].to_string().len();
    assert_eq!(answer.json(), json!({"input_tokens": chars.div_ceil(4)}));

    let database = &world.gateway.database;
    let (requested, terminal) = books::count(database, answer.request_id()).await;
    assert_eq!(terminal["event"], "token_count.completed");
    assert_eq!(
        (&terminal["result"], &terminal["model"]),
        (&json!("success"), &json!(ALPHA))
    );
    let document = books::document(&terminal);
    assert_eq!(document["request"]["path"], PATH);
    assert_eq!(
        document["details"]["input_tokens"],
        answer.json()["input_tokens"]
    );
    assert_eq!(document["details"]["credits"], json!(0));
    assert_eq!(
        books::document(&requested)["details"].get("credits_held"),
        None
    );
    books::check(database, &organization.id).await;
}

async fn placeholders_are_counted_in_place_of_phi(world: &World) {
    let organization = world.organization();
    for (kind, value) in PLANTED {
        let mark = mark();
        let text = |what: &str| prompt(ALPHA, &format!("{mark} please note {what} for the chart"));
        let (tokens, answer) = counted(world, &organization, &text(value)).await;
        let header = format!("{kind}=1");
        assert_eq!(answer.header("svc-phi-entities"), Some(header.as_str()));
        let replaced = value.replace(core(value), &format!("[{kind}_1]"));
        let (plain, _) = counted(world, &organization, &text(&replaced)).await;
        assert_eq!(tokens, plain, "{kind}");
        for seen in world.fake.seen(&mark).await {
            assert!(!seen.to_string().contains(core(value)), "{kind}: {seen}");
        }
        let (_, terminal) = books::count(&world.gateway.database, answer.request_id()).await;
        assert_eq!(
            books::document(&terminal)["phi"]["entity_counts"],
            json!({kind: 1})
        );
        assert!(!terminal.to_string().contains(core(value)));
    }
}

async fn a_blocking_organization_sends_nothing(world: &World) {
    let organization = world.organization_with(&["--phi-mode", "block"]);
    for model in [ALPHA, BETA] {
        let mark = mark();
        let body = prompt(model, &format!("{mark} 536-22-8714"));
        let answer = world.gateway.answer(&count(&organization.key, &body)).await;
        let error = refused(&answer, 403, "PHI_BLOCKED");
        assert_eq!(error["details"]["counts"], json!({"SSN": 1}));
        assert!(!answer.text().contains("8714"));
        assert!(world.fake.seen(&mark).await.is_empty());
        let (_, terminal) = books::count(&world.gateway.database, answer.request_id()).await;
        assert_eq!(
            (&terminal["event"], &terminal["result"]),
            (&json!("token_count.blocked"), &json!("denied"))
        );
    }
    books::check(&world.gateway.database, &organization.id).await;
}

/// Kind B has no such endpoint: the answer is an upper estimate, and nobody else hears the prompt.
async fn kind_b_is_estimated_by_the_gateway(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let text = format!("{mark} {}", "a word and another ".repeat(50));
    let (tokens, answer) = counted(world, &organization, &prompt(BETA, &text)).await;
    let bytes = u64::try_from(text.len()).unwrap();
    assert!(
        (bytes / 4..bytes).contains(&tokens),
        "{tokens} of {bytes} bytes"
    );
    let mut with_tools = prompt(BETA, &text);
    with_tools["tools"] =
        json!([{"name": "look", "description": text, "input_schema": {"type": "object"}}]);
    let (more, _) = counted(world, &organization, &with_tools).await;
    assert!(more >= tokens + bytes / 4, "{tokens}, then {more}");
    assert!(world.fake.seen(&mark).await.is_empty());
    let (_, terminal) = books::count(&world.gateway.database, answer.request_id()).await;
    assert_eq!(terminal["event"], "token_count.completed");
    assert_eq!(
        books::document(&terminal)["details"]["input_tokens"],
        tokens
    );
    books::check(&world.gateway.database, &organization.id).await;
}

async fn every_gate_but_metering_stands_before_it(world: &World) {
    let database = &world.gateway.database;
    let mark = mark();
    let body = prompt(ALPHA, &mark);
    let answer = world
        .gateway
        .answer(&Request::new("POST", PATH).json(&body))
        .await;
    refused(&answer, 401, "INVALID_API_KEY");

    let unscoped = world.organization_with(&["--scopes", "control:read"]);
    let answer = world.gateway.answer(&count(&unscoped.key, &body)).await;
    refused(&answer, 403, "MISSING_SCOPE");
    let row = books::single(database, answer.request_id()).await;
    assert_eq!(row["event"], "token_count.denied");

    let closed = world.organization_with(&["--per-minute", "0"]);
    let answer = world.gateway.answer(&count(&closed.key, &body)).await;
    refused(&answer, 429, "RATE_LIMITED");

    let without_baa = world.organization_with(&["--no-baa"]);
    let answer = world.gateway.answer(&count(&without_baa.key, &body)).await;
    refused(&answer, 402, "BAA_REQUIRED");
    let (_, terminal) = books::count(database, answer.request_id()).await;
    assert_eq!(terminal["event"], "token_count.blocked");

    let standard = world.organization_with(&["--models", "standard"]);
    for model in ["alpha-opus-4-6", "no-such-model"] {
        let answer = world
            .gateway
            .answer(&count(&standard.key, &prompt(model, &mark)))
            .await;
        refused(&answer, 403, "MODEL_ACCESS_DENIED");
    }
    let get = Request::new("GET", PATH).bearer(&standard.key);
    let answer = world.gateway.answer(&get).await;
    refused(&answer, 405, "METHOD_NOT_ALLOWED");
    assert_eq!(answer.header("allow"), Some("POST"));
    assert!(world.fake.seen(&mark).await.is_empty());
}

async fn what_is_no_prompt_is_refused(world: &World) {
    let organization = world.organization();
    let mark = mark();
    for (field, value) in [
        ("max_tokens", json!(10)),
        ("stream", json!(true)),
        ("temperature", json!(0.5)),
        ("colour", json!("red")),
    ] {
        let mut body = prompt(ALPHA, &mark);
        body[field] = value;
        let answer = world.gateway.answer(&count(&organization.key, &body)).await;
        let error = refused(&answer, 400, "UNSUPPORTED_PARAMETER");
        assert_eq!(error["param"], field);
        let (_, terminal) = books::count(&world.gateway.database, answer.request_id()).await;
        assert_eq!(terminal["event"], "token_count.failed");
    }
    let answer = world
        .gateway
        .answer(&count(&organization.key, &json!({"model": ALPHA})))
        .await;
    refused(&answer, 422, "VALIDATION_FAILED");
    assert!(world.fake.seen(&mark).await.is_empty());
}

async fn every_failure_of_the_provider_is_mapped(world: &World) {
    let organization = world.organization();
    let words = "zanzibar the provider's own words";
    for (behaviour, retryable) in [
        (json!({"status": 400, "error_message": words}), false),
        (json!({"status": 401, "error_message": words}), true),
        (json!({"status": 429, "error_message": words}), true),
        (json!({"status": 500, "error_message": words}), true),
        (json!({"status": 529, "error_message": words}), true),
        (json!({"html_page": true}), true),
        (
            json!({"raw_body": "{\"input_tokens\":", "content_type": "application/json"}),
            true,
        ),
        (
            json!({"raw_body": "{}", "content_type": "application/json"}),
            true,
        ),
    ] {
        // A good call in between: failures in a row would open the circuit.
        counted(world, &organization, &prompt(ALPHA, "sound")).await;
        let mark = mark();
        let mut behaviour = behaviour;
        behaviour["contains"] = json!(mark);
        world.fake.expect(behaviour.clone()).await;
        let answer = world
            .gateway
            .answer(&count(&organization.key, &prompt(ALPHA, &mark)))
            .await;
        let error = refused(&answer, 502, "INFERENCE_UPSTREAM_FAILURE");
        assert_eq!(error["retryable"], retryable, "{behaviour}");
        let shown = format!("{:?} {}", answer.headers, answer.text());
        for leaked in [
            "zanzibar",
            "anthropic",
            "not an answer",
            "org_of_the_operator",
        ] {
            assert!(!shown.contains(leaked), "{leaked}: {shown}");
        }
        assert_eq!(world.fake.seen(&mark).await.len(), 1, "{behaviour}");
    }
    books::check(&world.gateway.database, &organization.id).await;
}

async fn a_count_that_fails_is_written_and_not_charged(world: &World) {
    let organization = world.organization();
    let mark = mark();
    world
        .fake
        .expect(json!({"contains": mark, "status": 400}))
        .await;
    let answer = world
        .gateway
        .answer(&count(&organization.key, &prompt(ALPHA, &mark)))
        .await;
    refused(&answer, 502, "INFERENCE_UPSTREAM_FAILURE");
    let (_, terminal) = books::count(&world.gateway.database, answer.request_id()).await;
    assert_eq!(
        (&terminal["event"], &terminal["result"]),
        (&json!("token_count.failed"), &json!("failure"))
    );
    books::check(&world.gateway.database, &organization.id).await;
}

/// While the provider counts, the intent is on disk; when nobody waits any more, the provider is let go.
async fn a_caller_who_leaves_ends_the_count(world: &World) {
    let organization = world.organization();
    let mark = mark();
    world
        .fake
        .expect(json!({"contains": mark, "stall_after_events": 0}))
        .await;
    let mut connection = world.gateway.connect().await;
    let request = count(&organization.key, &prompt(ALPHA, &mark));
    connection.send(&request.bytes()).await;
    world.fake.received(&mark).await;
    let database = &world.gateway.database;
    let sql = "SELECT request_id, event FROM audit WHERE org_id = $1 AND request_id IS NOT NULL";
    let rows = database.rows(sql, &[&organization.id]).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["event"], "token_count.requested");
    drop(connection);
    let seen = world.fake.ended(&mark).await;
    assert!(seen["closed_by_peer_at_us"].is_u64(), "{seen}");
    let request_id = rows[0]["request_id"].as_str().unwrap();
    let (_, terminal) = books::count(database, request_id).await;
    assert_eq!(terminal["event"], "token_count.cancelled");
    eventually("an empty hold", async || {
        let sql = "SELECT request_id FROM holds WHERE org_id = $1";
        database
            .rows(sql, &[&organization.id])
            .await
            .is_empty()
            .then_some(())
    })
    .await;
    books::check(database, &organization.id).await;
}
