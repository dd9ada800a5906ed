//! kill -9 while deliveries are under way, again and again: none is lost, and what comes twice has the same id and the
//! same bytes.

use std::collections::BTreeMap;

use svc_tests::outbox;
use svc_tests::patience::eventually;
use svc_tests::postgres;

use super::Hooks;

/// Rounds of one campaign; `make soak` runs the long one.
const ROUNDS: usize = 2;
const SOAK_ROUNDS: usize = 20;
/// Over 20 rounds: 1,500.
const EVENTS_PER_ROUND: usize = 75;

#[tokio::test]
async fn nothing_is_lost_on_sqlite() {
    campaign(None).await;
}

#[tokio::test]
async fn nothing_is_lost_on_postgres() {
    let database = tokio::task::spawn_blocking(postgres::database)
        .await
        .unwrap();
    campaign(Some(database)).await;
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long to test is for the person at the terminal"
)]
fn rounds() -> usize {
    if std::env::var_os("SVC_SOAK").is_some() {
        SOAK_ROUNDS
    } else {
        ROUNDS
    }
}

async fn campaign(database_url: Option<String>) {
    let hooks = Hooks::start(database_url).await;
    hooks.endpoint(&hooks.sink.url("/slow/3")).await;
    let rounds = rounds();
    for round in 0..rounds {
        let numbers = round * EVENTS_PER_ROUND..(round + 1) * EVENTS_PER_ROUND;
        let before = hooks.sink.received("/slow").len();
        // Further into each round: from the first delivery to the last ones.
        let until = before + 1 + round * 31 % (EVENTS_PER_ROUND - 10);
        let publishing = outbox::publish(&hooks.store, &hooks.organization.id, numbers);
        let killing = async {
            hooks.sink.wait("/slow", until).await;
            hooks.world.gateway.kill();
        };
        futures_util::future::join(publishing, killing).await;
        hooks.world.gateway.start().await;
    }
    let expected = rounds * EVENTS_PER_ROUND;
    let sql = "SELECT id FROM webhook_deliveries WHERE status <> 'delivered'";
    eventually("the end of the queue", async || {
        let open = hooks.world.gateway.database.rows(sql, &[]).await;
        open.is_empty().then_some(())
    })
    .await;
    let all = hooks
        .world
        .gateway
        .database
        .rows("SELECT id FROM webhook_deliveries", &[])
        .await;
    assert_eq!(all.len(), expected);
    let mut bodies: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for received in hooks.sink.received("/slow") {
        let body = bodies
            .entry(received.id().to_owned())
            .or_insert_with(|| received.body.clone());
        assert_eq!(body, &received.body);
    }
    for delivery in &all {
        assert!(bodies.contains_key(delivery["id"].as_str().unwrap()));
    }
    assert_eq!(bodies.len(), expected);
}
