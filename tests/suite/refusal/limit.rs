//! Rate limits: headers, refusals and their details (contract 6).

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use svc_tests::fake::mark;
use svc_tests::policies::Policies;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::expect;
use crate::engines::on_both_engines;

on_both_engines! {
    a_full_bucket_is_refused_with_the_wait,
    the_tightest_bucket_is_shown,
    every_authenticated_request_counts,
}

#[expect(
    clippy::disallowed_methods,
    reason = "compared with a header that counts Unix seconds"
)]
fn now_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

async fn a_full_bucket_is_refused_with_the_wait(world: &World) {
    let organization = world.organization_with(&["--per-minute", "2"]);
    let unheard = mark();
    for remaining in ["1", "0"] {
        let answer = world
            .gateway
            .chat(&organization.key, json!({"message": mark()}))
            .await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("x-ratelimit-limit"), Some("2"));
        assert_eq!(answer.header("x-ratelimit-remaining"), Some(remaining));
    }
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": unheard}))
        .await;
    let error = expect(&answer, "RATE_LIMITED", None);
    assert_eq!((answer.status, &error["retryable"]), (429, &json!(true)));
    let details = &error["details"];
    let wait = details["retry_after_seconds"].as_u64().unwrap();
    // Two a minute: the next one in thirty seconds at the latest.
    assert!((1..=30).contains(&wait), "{wait}");
    assert_eq!(
        (
            &details["scope"],
            &details["limit"],
            &details["window_seconds"]
        ),
        (&json!("key"), &json!(2), &json!(60))
    );
    assert_eq!(answer.header("x-ratelimit-scope"), Some("key"));
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("0"));
    let reset: u64 = answer.header("x-ratelimit-reset").unwrap().parse().unwrap();
    let now = now_seconds();
    assert!((now..=now + 61).contains(&reset), "{reset} at {now}");
    assert!(world.fake.seen(&unheard).await.is_empty());
}

async fn the_tightest_bucket_is_shown(world: &World) {
    let organization = world.organization();
    let database = &world.gateway.database;
    database
        .change(
            "UPDATE organizations SET per_minute = 50, per_day = 3 WHERE id = $1",
            &[&organization.id],
        )
        .await;
    let ask = async || {
        world
            .gateway
            .chat(&organization.key, json!({"message": mark()}))
            .await
    };
    let answer = ask().await;
    assert_eq!(
        (
            answer.header("x-ratelimit-scope"),
            answer.header("x-ratelimit-limit")
        ),
        (Some("org_daily"), Some("3"))
    );
    ask().await;
    ask().await;
    let error = expect(&ask().await, "RATE_LIMITED", None);
    let details = &error["details"];
    assert_eq!(
        (
            &details["scope"],
            &details["limit"],
            &details["window_seconds"]
        ),
        (&json!("org_daily"), &json!(3), &json!(86_400))
    );
    let second = world.organization();
    database
        .change(
            "UPDATE organizations SET per_minute = 1 WHERE id = $1",
            &[&second.id],
        )
        .await;
    assert_eq!(
        world
            .gateway
            .chat(&second.key, json!({"message": mark()}))
            .await
            .status,
        200
    );
    let error = expect(
        &world
            .gateway
            .chat(&second.key, json!({"message": "x"}))
            .await,
        "RATE_LIMITED",
        None,
    );
    assert_eq!(error["details"]["scope"], "org");
}

/// Whatever its status (contract 6).
async fn every_authenticated_request_counts(world: &World) {
    let organization = world.organization_with(&["--per-minute", "3"]);
    assert_eq!(
        world
            .gateway
            .chat(&organization.key, json!({}))
            .await
            .status,
        422
    );
    let path = "/v1/ai/messages/msg_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let read = Request::new("GET", path).bearer(&organization.key);
    assert_eq!(world.gateway.answer(&read).await.status, 404);
    assert_eq!(
        world
            .gateway
            .chat(&organization.key, json!({"message": mark()}))
            .await
            .status,
        200
    );
    expect(&world.gateway.answer(&read).await, "RATE_LIMITED", None);
    // Also those that are refused before the limits are asked.
    let organization = world.organization_with(&["--per-minute", "3", "--scopes", "control:read"]);
    let dated = Request::new("GET", path).bearer(&organization.key);
    let dated = dated.header("Svc-Version", "x");
    let answer = world.gateway.answer(&dated).await;
    expect(&answer, "INVALID_API_VERSION", Some("Svc-Version"));
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("2"));
    let said = json!({"message": mark()});
    let answer = world.gateway.chat(&organization.key, said).await;
    expect(&answer, "MISSING_SCOPE", None);
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("1"));
    let closed = world.organization_with(&["--per-minute", "0"]);
    expect(
        &world
            .gateway
            .chat(&closed.key, json!({"message": "x"}))
            .await,
        "RATE_LIMITED",
        None,
    );
}

/// Step 3: failing authentications of an address are limited, and only they count.
#[tokio::test]
async fn failing_authentications_are_limited_by_address() {
    let policies = Policies::copy();
    policies.edit(
        "plans.toml",
        "failed_authentications_per_minute = 300",
        "failed_authentications_per_minute = 4",
    );
    let world = World::with(|setup| setup.policies(policies.path())).await;
    let organization = world.organization();
    for _ in 0..6 {
        assert_eq!(
            world
                .gateway
                .chat(&organization.key, json!({"message": mark()}))
                .await
                .status,
            200
        );
    }
    let bad = || async {
        world
            .gateway
            .chat("svc_api_live_00000000000000000000000000000000", json!({}))
            .await
    };
    for _ in 0..4 {
        expect(&bad().await, "INVALID_API_KEY", None);
    }
    let error = expect(&bad().await, "RATE_LIMITED", None);
    assert_eq!(
        (&error["details"]["scope"], &error["details"]["limit"]),
        (&json!("address"), &json!(4))
    );
    // Nor is anything read that such an address sends to the endpoints of applications.
    let form = Request::new("POST", "/v1/oauth/token")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(b"code=1&code=2");
    assert_eq!(world.gateway.answer(&form).await.status, 429);
}
