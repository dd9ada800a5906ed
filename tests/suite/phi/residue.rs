//! Where PHI must leave no trace: logs at trace level, metrics, audit rows, the bytes of the database, spans.

use serde_json::json;
use svc_tests::books;
use svc_tests::database::Database;
use svc_tests::fake::{PROVIDER_KEY, mark};
use svc_tests::world::World;

use super::{PLANTED, core};

/// Runs of every ending with PHI in them, then a look into everything that the gateway leaves behind.
#[tokio::test]
async fn planted_values_are_nowhere() {
    let world = World::start(None).await;
    let (redacting, blocking) = (
        world.organization(),
        world.organization_with(&["--phi-mode", "block"]),
    );
    let all: String = PLANTED
        .iter()
        .map(|(_, value)| format!("{value}; "))
        .collect();
    let secret = "zanzibarwombat";
    for behaviour in [
        json!({}),
        json!({"status": 400}),
        json!({"status": 500}),
        json!({"event_count": 6, "close_after_events": 5}),
        json!({"malformed_after_events": 3, "event_count": 6}),
        json!({"html_page": true}),
    ] {
        for streamed in [true, false] {
            // Failures in a row would open the circuit, and nothing would come as far as the provider.
            world
                .gateway
                .chat(&redacting.key, json!({"message": "well"}))
                .await;
            let mark = mark();
            let mut order = behaviour.clone();
            order["contains"] = json!(mark);
            world.fake.expect(order).await;
            let body = json!({"message": format!("{mark} {secret} {all}"), "system": format!("{secret} {all}"), "stream": streamed});
            let answer = world
                .gateway
                .answer(&svc_tests::gateway::chat(&redacting.key, body.clone()))
                .await;
            books::pair(&world.gateway.database, answer.request_id()).await;
            world
                .gateway
                .answer(&svc_tests::gateway::chat(&blocking.key, body))
                .await;
        }
    }
    let broken = format!("{{\"message\": \"{secret} {all}\", ");
    let request = svc_tests::wire::Request::new("POST", &format!("/v1/ai/chat?x={secret}"))
        .bearer(&redacting.key);
    world
        .gateway
        .answer(
            &request
                .header("Content-Type", "application/json")
                .body(broken.as_bytes()),
        )
        .await;
    books::check(&world.gateway.database, &redacting.id).await;

    let metrics = world.gateway.admin_page("/metrics").await.text();
    let audit = world
        .gateway
        .database
        .rows("SELECT document FROM audit", &[])
        .await;
    let audit: String = audit.iter().map(|row| row.to_string()).collect();
    let mut places = vec![
        ("log", world.gateway.log().into_bytes()),
        ("metrics", metrics.into_bytes()),
        ("audit", audit.into_bytes()),
    ];
    let Database::Sqlite(path) = &world.gateway.database else {
        panic!("not on SQLite")
    };
    for suffix in ["", "-wal"] {
        let mut file = path.clone().into_os_string();
        file.push(suffix);
        places.push(("database", std::fs::read(file).unwrap_or_default()));
    }
    assert!(
        places[0].1.len() > 1000,
        "a log at trace level is longer than that"
    );
    let needles = PLANTED.iter().map(|(_, value)| core(value)).chain([
        secret,
        "536228714",
        PROVIDER_KEY,
        &redacting.key,
    ]);
    for needle in needles {
        for (place, bytes) in &places {
            let found = bytes
                .windows(needle.len())
                .position(|window| window == needle.as_bytes());
            let around = found.map(|at| {
                String::from_utf8_lossy(&bytes[at.saturating_sub(200)..(at + 60).min(bytes.len())])
            });
            assert!(found.is_none(), "{needle} in the {place}: {around:?}");
        }
    }
}
