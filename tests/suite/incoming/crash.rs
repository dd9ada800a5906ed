//! kill -9 in the middle of every statement of an inbound request, and in the middle of a burst: a key makes one
//! record, what was acknowledged is there, and each record has its row.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::json;
use svc_tests::patience::eventually;
use svc_tests::stall::Stall;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use super::{Inbound, record_id};

#[tokio::test]
async fn no_step_leaves_half_of_a_record_on_sqlite() {
    every_step(&World::start(None).await).await;
}

#[tokio::test]
async fn no_step_leaves_half_of_a_record_on_postgres() {
    let database = tokio::task::spawn_blocking(svc_tests::postgres::database).await;
    every_step(&World::start(Some(database.unwrap())).await).await;
}

#[tokio::test]
async fn a_burst_that_is_killed_is_finished_on_sqlite() {
    burst(&World::start(None).await).await;
}

#[tokio::test]
async fn a_burst_that_is_killed_is_finished_on_postgres() {
    let database = tokio::task::spawn_blocking(svc_tests::postgres::database).await;
    burst(&World::start(Some(database.unwrap())).await).await;
}

/// The statements of one request, which are one transaction.
const STEPS: [(&str, &str); 4] = [
    ("idempotency", "INSERT"),
    ("records", "INSERT"),
    ("inbound_webhooks", "UPDATE"),
    ("audit", "INSERT"),
];

async fn every_step(world: &World) {
    for (table, operation) in STEPS {
        let inbound = Inbound::of(world).await;
        let request = inbound.keyed("once", &json!({"mrn": "1"}));
        let organization = &inbound.organization;
        let stall = Stall::at(&world.gateway.database, table, operation, organization).await;
        let mut connection = world.gateway.connect().await;
        connection.send(&request.bytes()).await;
        stall.reached().await;
        world.gateway.kill();
        stall.lift().await;
        world.gateway.start().await;
        let answer = finished(world, &request).await;
        let id = record_id(&answer);
        // Nothing of the first one was left: it is not answered again, and nobody waited for a lease.
        assert_eq!(answer.header("idempotent-replayed"), None, "{table}");
        let again = world.gateway.answer(&request).await;
        assert_eq!(again.body, answer.body);
        let records = inbound.records(world).await;
        assert_eq!(
            (records.len(), &records[0]["id"]),
            (1, &json!(id)),
            "{table}"
        );
        one_row_each(world, &inbound).await;
    }
}

/// Asks until the database has cleared up after the kill.
async fn finished(world: &World, request: &Request) -> Answer {
    eventually("an answer after the restart", async || {
        let answer = world.gateway.answer(request).await;
        (answer.status != 503).then_some(answer)
    })
    .await
}

/// Every record has the row of its making, and every such row its record.
async fn one_row_each(world: &World, inbound: &Inbound) {
    let database = &world.gateway.database;
    let sql = "SELECT r.id AS record, a.id AS row_id FROM records r \
               FULL OUTER JOIN (SELECT * FROM audit WHERE org_id = $1 AND event = 'record.created') a \
               ON a.target_id = r.id WHERE (r.org_id = $1 OR r.org_id IS NULL) \
               AND (r.id IS NULL OR a.id IS NULL)";
    let halves = database.rows(sql, &[&inbound.organization]).await;
    assert!(halves.is_empty(), "{halves:?}");
}

const ROUNDS: usize = 3;
const SENDERS: usize = 12;
/// Keys of one sender in a round; more than any gets through before the kill.
const KEYS: usize = 60;

/// Senders that work through keys of their own, over a gateway that is killed; then every key is sent again.
async fn burst(world: &World) {
    let inbound = Inbound::of(world).await;
    for round in 0..ROUNDS {
        let told = join_all((0..SENDERS).map(|sender| send(world, &inbound, round, sender)));
        let before = count(world, &inbound).await;
        let killer = async {
            let wanted = before + 5 + 20 * round;
            eventually("some records", async || {
                (count(world, &inbound).await >= wanted).then_some(())
            })
            .await;
            world.gateway.kill();
        };
        let (told, ()) = futures_util::future::join(told, killer).await;
        world.gateway.start().await;
        for (sender, (sent, told)) in told.into_iter().enumerate() {
            let mut ids = BTreeMap::new();
            for at in 0..sent {
                let request = inbound.keyed(&key(round, sender, at), &json!({"mrn": "1"}));
                let id = record_id(&finished(world, &request).await);
                if let Some(told) = told.get(&at) {
                    assert_eq!(told, &id, "what was told stays");
                }
                ids.insert(id, at);
            }
            assert_eq!(ids.len(), sent, "each key has a record of its own");
        }
        one_row_each(world, &inbound).await;
    }
    let sql = "SELECT COUNT(*) AS count FROM idempotency WHERE principal_id = $1";
    let keys = world
        .gateway
        .database
        .rows(sql, &[&inbound.webhook_id])
        .await;
    assert_eq!(keys[0]["count"], json!(count(world, &inbound).await));
}

fn key(round: usize, sender: usize, at: usize) -> String {
    format!("round {round} sender {sender} key {at}")
}

async fn count(world: &World, inbound: &Inbound) -> usize {
    let sql = "SELECT COUNT(*) AS count FROM records WHERE org_id = $1";
    let rows = world
        .gateway
        .database
        .rows(sql, &[&inbound.organization])
        .await;
    usize::try_from(rows[0]["count"].as_u64().unwrap()).unwrap()
}

/// One sender until the gateway is gone: how many keys it has sent, and the records that it was told of.
async fn send(
    world: &World,
    inbound: &Inbound,
    round: usize,
    sender: usize,
) -> (usize, BTreeMap<usize, String>) {
    let mut told = BTreeMap::new();
    for at in 0..KEYS {
        let request = inbound.keyed(&key(round, sender, at), &json!({"mrn": "1"}));
        match ask(world, &request.header("Connection", "close")).await {
            Some(id) => told.insert(at, id),
            None => return (at + 1, told),
        };
    }
    (KEYS, told)
}

/// The record of a success, if one came before the end.
async fn ask(world: &World, request: &Request) -> Option<String> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(world.gateway.address)
        .await
        .ok()?;
    stream.write_all(&request.bytes()).await.ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    if !head.starts_with("HTTP/1.1 201") {
        return None;
    }
    let body: serde_json::Value = serde_json::from_str(body).ok()?;
    Some(body["data"]["record_id"].as_str()?.to_owned())
}
