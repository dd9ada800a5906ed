//! kill -9 in the middle of a burst, again and again: every request that the provider saw has its two audit
//! rows, ledger and audit agree, nothing stays held, and no write of the control plane that was acknowledged is gone.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::database::Database;
use svc_tests::fake::mark;
use svc_tests::gateway::{chat, whole};
use svc_tests::patience::eventually;
use svc_tests::postgres;
use svc_tests::wire::Request;
use svc_tests::world::World;

/// Rounds of one campaign; `make soak` runs the long one.
const ROUNDS: u64 = 3;
const SOAK_ROUNDS: u64 = 100;

/// Callers at once, each of whom asks again as soon as it has its answer.
const CALLERS: usize = 24;

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
fn rounds() -> u64 {
    if std::env::var_os("SVC_SOAK").is_some() {
        SOAK_ROUNDS
    } else {
        ROUNDS
    }
}

async fn campaign(database_url: Option<String>) {
    let world = World::start(database_url).await;
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let (mut answered, mut made) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..rounds() {
        let before = world.fake.count();
        // A quarter streams slowly, so that the kill finds runs at every stage.
        let slow = mark();
        let behaviour = json!({"contains": slow, "times": 9_000, "event_count": 6, "delay_between_events_ms": 15});
        world.fake.expect(behaviour).await;
        let callers = (0..CALLERS).map(|caller| call(&world, &organization.key, caller, &slow));
        let makers = (0..MAKERS).map(|_| make(&world, &organization.key));
        let killer = async {
            // Later in each round: from the first requests on the way to a gateway that runs at full speed.
            let count = usize::try_from(10 + (round * 37) % 150).unwrap();
            world.fake.recorded(before + count).await;
            world.gateway.kill();
        };
        let (told, ids, ()) =
            futures_util::future::join3(join_all(callers), join_all(makers), killer).await;
        answered.extend(told.into_iter().flatten());
        made.extend(ids.into_iter().flatten());
        world.gateway.start().await;
        audit(
            &world.gateway.database,
            world.fake.count(),
            &organization.id,
        )
        .await;
        answered.insert(served_again(&world, &organization.key).await);
    }
    // Whoever has seen success was told the truth: the books know the run as completed.
    for request_id in &answered {
        let (_, terminal) = books::pair(&world.gateway.database, request_id).await;
        assert_eq!(terminal["event"], "inference.completed", "{request_id}");
    }
    books::check(&world.gateway.database, &organization.id).await;
    assert!(!made.is_empty());
    for id in &made {
        let sql = "SELECT k.id FROM api_keys k JOIN audit a ON a.target_id = k.id \
                   WHERE k.id = $1 AND a.event = 'api_key.created'";
        let rows = world.gateway.database.rows(sql, &[id]).await;
        assert_eq!(rows.len(), 1, "{id}");
    }
    // Nor is there a key that the log knows nothing of, or the other way round.
    let sql = "SELECT id FROM api_keys WHERE org_id = $1 AND name = $2 AND id NOT IN \
               (SELECT target_id FROM audit WHERE org_id = $1 AND event = 'api_key.created')";
    let parameters = [organization.id.as_str(), NAME];
    let unknown = world.gateway.database.rows(sql, &parameters).await;
    assert!(unknown.is_empty());
}

/// Writers at once beside the callers.
const MAKERS: usize = 4;
const NAME: &str = "made while it falls";

/// One writer of the control plane, until the gateway is gone; the ids of the keys that it was told of.
async fn make(world: &World, key: &str) -> Vec<String> {
    let mut made = Vec::new();
    loop {
        let body = json!({"name": NAME, "scopes": ["ai:chat"]});
        let request = Request::new("POST", "/v1/api_keys").bearer(key).json(&body);
        let Some(text) = ask(world, &request.header("Connection", "close").bytes()).await else {
            return made;
        };
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        if text.starts_with("HTTP/1.1 201")
            && let Ok(body) = serde_json::from_str::<Value>(body)
            && let Some(id) = body["data"]["id"].as_str()
        {
            made.push(id.to_owned());
        }
    }
}

/// The request that shows that the gateway serves again, with the same key and data. A database that still clears up
/// after the kill may refuse it for a while: 503, retryable, and nothing else.
async fn served_again(world: &World, key: &str) -> String {
    eventually("an answer after the restart", async || {
        let answer = world.gateway.chat(key, json!({"message": mark()})).await;
        assert!([200, 503].contains(&answer.status), "{}", answer.text());
        (answer.status == 200).then(|| answer.request_id().to_owned())
    })
    .await
}

/// One caller, until the gateway is gone; the requests that it saw succeed.
async fn call(world: &World, key: &str, caller: usize, slow: &str) -> Vec<String> {
    let mut succeeded = Vec::new();
    loop {
        let body = match caller % 4 {
            0 => json!({"message": format!("{slow} {caller}")}),
            1 => json!({"message": format!("caller {caller}")}),
            2 => whole(json!({"message": format!("caller {caller}"), "store": false})),
            _ => whole(json!({"message": format!("caller {caller}")})),
        };
        match ask(
            world,
            &chat(key, body).header("Connection", "close").bytes(),
        )
        .await
        {
            Some(text) => succeeded.extend(request_id_of_success(&text)),
            None => return succeeded,
        }
    }
}

/// Everything that a connection gives until it ends; none once nobody listens.
async fn ask(world: &World, bytes: &[u8]) -> Option<String> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(world.gateway.address)
        .await
        .ok()?;
    stream.write_all(bytes).await.ok()?;
    let mut text = Vec::new();
    // Broken off by the kill: what came before counts all the same.
    let _ = tokio::time::timeout(Duration::from_secs(30), stream.read_to_end(&mut text)).await;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The request's id where the answer says that it succeeded: a whole JSON, or a stream with its last event.
fn request_id_of_success(text: &str) -> Option<String> {
    if !text.starts_with("HTTP/1.1 200") {
        return None;
    }
    let done = text.contains("event: run.completed\ndata: ") && text.ends_with("\r\n0\r\n\r\n");
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    if !done && serde_json::from_str::<Value>(body).is_err() {
        return None;
    }
    let line = text
        .lines()
        .find(|line| line.to_ascii_lowercase().starts_with("request-id: "))?;
    line.split_once(": ").map(|(_, id)| id.trim().to_owned())
}

/// After a restart: recovery closes what was open, once the dead replica's lease has ended.
async fn audit(database: &Database, seen: usize, organization_id: &str) {
    eventually("recovery of the open intents", async || {
        let sql = "SELECT request_id FROM audit AS intent WHERE org_id = $1 AND phase = 'requested' AND NOT EXISTS \
                   (SELECT 1 FROM audit AS ending WHERE ending.request_id = intent.request_id AND ending.phase = 'terminal')";
        database.rows(sql, &[organization_id]).await.is_empty().then_some(())
    })
    .await;
    let sql = "SELECT COUNT(*) AS count FROM audit WHERE org_id = $1 AND phase = 'requested'";
    let intents = database.rows(sql, &[organization_id]).await[0]["count"]
        .as_i64()
        .unwrap();
    // The provider is never told whose request it answers, so requests are counted: no more of them than intents.
    let seen = i64::try_from(seen).unwrap();
    assert!(
        intents >= seen,
        "the provider saw {seen} requests, the audit log knows {intents} intents"
    );
    let sql = "SELECT event, result FROM audit WHERE org_id = $1 AND event = 'inference.abandoned'";
    for row in database.rows(sql, &[organization_id]).await {
        assert_eq!(row["result"], "unknown");
    }
    books::check(database, organization_id).await;
}
