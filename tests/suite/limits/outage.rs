//! Counters that are down: each replica counts its part by itself, never without a limit, and comes back without a
//! restart (contract 19.5).

use std::time::Instant;

use serde_json::json;
use svc_tests::fake::mark;
use svc_tests::gateway::Setup;
use svc_tests::patience::eventually;
use svc_tests::redis::Redis;
use svc_tests::replicas::Replicas;
use svc_tests::wire::Request;

const LIMIT: u64 = 20;

#[tokio::test]
async fn each_replica_counts_its_part_while_redis_is_down() {
    let mut server = Redis::start();
    let url = server.url();
    let replicas = Replicas::start(|setup: Setup| setup.key("limits", "store", url.as_str())).await;
    let limit = LIMIT.to_string();
    let organization = replicas.organization_with(&["--per-minute", &limit]);
    let ask = async |at: usize| {
        let request = Request::new("GET", "/v1/usage").bearer(&organization.key);
        replicas.both[at].answer(&request).await
    };
    let answer = ask(0).await;
    assert_eq!(answer.header("x-ratelimit-remaining"), Some("19"));
    server.kill();
    for (at, gateway) in replicas.both.iter().enumerate() {
        // Half of the limit each, in a bucket of its own that is whole.
        let start = Instant::now();
        let mut passed = 0;
        for _ in 0..LIMIT {
            let answer = ask(at).await;
            assert_eq!(
                answer.header("x-ratelimit-limit"),
                Some("10"),
                "{}",
                answer.text()
            );
            match answer.status {
                200 => passed += 1,
                status => assert_eq!(status, 429),
            }
        }
        // One more for every six seconds that this took.
        let gained = start.elapsed().as_secs() / 6;
        assert!((10..=11 + gained).contains(&passed), "{passed}");
        assert_eq!(gateway.metric("svc_limits_down").await, 1.0);
        assert!(gateway.log().contains("do not answer"));
    }
    server.start_again();
    for gateway in &replicas.both {
        eventually("the counters", async || {
            (gateway.metric("svc_limits_down").await == 0.0).then_some(())
        })
        .await;
    }
    // The server came back empty: one bucket for both, whole.
    let told = [ask(0).await, ask(1).await];
    assert_eq!(
        told.each_ref()
            .map(|answer| answer.header("x-ratelimit-remaining")),
        [Some("19"), Some("18")]
    );
}

#[tokio::test]
async fn a_gateway_starts_and_serves_without_its_redis() {
    let mut server = Redis::start();
    let url = server.url();
    server.kill();
    let world =
        svc_tests::world::World::with(|setup| setup.key("limits", "store", url.as_str())).await;
    let organization = world.organization_with(&["--per-minute", "2"]);
    for status in [200, 200, 429] {
        let answer = world
            .gateway
            .chat(&organization.key, json!({"message": mark()}))
            .await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    server.start_again();
    eventually("the counters", async || {
        (world.gateway.metric("svc_limits_down").await == 0.0).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_login_that_failed_is_tried_again() {
    let server = Redis::start();
    server.demand_password("", "another");
    let url = server.url_with("right");
    let world =
        svc_tests::world::World::with(|setup| setup.key("limits", "store", url.as_str())).await;
    let organization = world.organization_with(&["--per-minute", "2"]);
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": mark()}))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(world.gateway.metric("svc_limits_down").await, 1.0);
    server.demand_password("another", "right");
    eventually("the counters", async || {
        (world.gateway.metric("svc_limits_down").await == 0.0).then_some(())
    })
    .await;
}
