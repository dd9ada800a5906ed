//! Idempotency keys of both kinds of writes, control plane and solve (contract 4): duplicates at once, and kill -9 in
//! the middle of every step.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::organization::Organization;
use svc_tests::patience::eventually;
use svc_tests::stall::Stall;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use crate::engines::on_both_engines;

on_both_engines! {
    fifty_duplicates_of_a_solve_are_one,
    a_solve_is_answered_again_to_the_byte,
    a_refused_solve_frees_its_key,
}

mod a_kill_in_the_middle_of_a_step {
    use super::{kill_at_every_step, own_world};

    #[tokio::test]
    async fn sqlite() {
        kill_at_every_step(&own_world(false).await).await;
    }

    #[tokio::test]
    async fn postgres() {
        kill_at_every_step(&own_world(true).await).await;
    }
}

async fn own_world(on_postgres: bool) -> World {
    let database = match on_postgres {
        true => Some(
            tokio::task::spawn_blocking(svc_tests::postgres::database)
                .await
                .unwrap(),
        ),
        false => None,
    };
    World::start(database).await
}

/// One nurse for one shift.
fn spec() -> Value {
    json!({
        "version": 1,
        "resources": [{"id": "ana"}],
        "slots": [{"id": "day", "day": "2026-11-02", "requirements": [{"count": 1}]}],
        "constraints": [],
        "preferences": [],
        "options": {"time_limit_seconds": 10},
    })
}

fn solve(owner: &str, key: &str, spec: &Value) -> Request {
    let request = Request::new("POST", "/v1/solve").bearer(owner).json(spec);
    request.header("Idempotency-Key", key)
}

fn create_key(owner: &str, key: &str, name: &str) -> Request {
    let body = json!({"name": name, "scopes": ["ai:chat"]});
    let request = Request::new("POST", "/v1/api_keys")
        .bearer(owner)
        .json(&body);
    request.header("Idempotency-Key", key)
}

/// Audit rows of this event that say success.
async fn successes(world: &World, organization: &Organization, event: &str) -> usize {
    let sql = "SELECT id FROM audit WHERE org_id = $1 AND event = $2 AND result = 'success'";
    let database = &world.gateway.database;
    database.rows(sql, &[&organization.id, event]).await.len()
}

/// Solver runs that were answered: the row of one that is answered again is not the only one of its request.
async fn runs(world: &World, organization: &Organization) -> usize {
    let sql = "SELECT id FROM audit WHERE org_id = $1 AND event = 'workflow.solve_completed' \
               AND result = 'success' AND phase = 'single'";
    let database = &world.gateway.database;
    database.rows(sql, &[&organization.id]).await.len()
}

const SOLVED: &str = "workflow.solve_completed";
const REPLAYED: &str = "request.replayed";

async fn fifty_duplicates_of_a_solve_are_one(world: &World) {
    let organization = world.organization();
    let request = solve(&organization.key, "once", &spec());
    let answers = join_all((0..50).map(|_| world.gateway.answer(&request))).await;
    let good = answers.iter().filter(|answer| answer.status == 200);
    let bodies: BTreeSet<&[u8]> = good.clone().map(|answer| answer.body.as_slice()).collect();
    assert_eq!(bodies.len(), 1, "every success is the same answer");
    let first = good.filter(|answer| answer.header("idempotent-replayed").is_none());
    assert_eq!(first.count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        let error = answer.json()["error"].clone();
        assert_eq!(
            (answer.status, &error["details"]["reason"]),
            (409, &json!("in_progress"))
        );
    }
    assert_eq!(runs(world, &organization).await, 1);
}

async fn a_solve_is_answered_again_to_the_byte(world: &World) {
    let organization = world.organization();
    let first = world
        .gateway
        .answer(&solve(&organization.key, "k", &spec()))
        .await;
    assert_eq!(first.status, 200, "{}", first.text());
    let again = world
        .gateway
        .answer(&solve(&organization.key, "k", &spec()))
        .await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    for name in ["request-id", "content-type", "svc-version"] {
        assert_eq!(again.header(name), first.header(name), "{name}");
    }
    assert_eq!(runs(world, &organization).await, 1);
    assert_eq!(successes(world, &organization, REPLAYED).await, 1);
    // Each call says what it came to, and the second is not metered (spec, rules 8 and 9; contract 4).
    let database = &world.gateway.database;
    let sql = "SELECT request_id FROM audit WHERE org_id = $1 AND event = $2";
    let replay = database.rows(sql, &[&organization.id, REPLAYED]).await;
    let replay = books::rows(database, replay[0]["request_id"].as_str().unwrap()).await;
    let events: Vec<&Value> = replay.iter().map(|row| &row["event"]).collect();
    assert_eq!(events, [REPLAYED, SOLVED]);
    let run = books::single(database, first.request_id()).await;
    let (run, again) = (books::document(&run), books::document(&replay[1]));
    assert_eq!(run["outcome"], again["outcome"]);
    for name in ["solver_status", "conflict_ids", "spec_sha256"] {
        assert_eq!(run["details"][name], again["details"][name], "{name}");
    }
    let usage = Request::new("GET", "/v1/usage").bearer(&organization.key);
    let usage = world.gateway.answer(&usage).await.json();
    assert_eq!(usage["data"]["meters"]["agent_actions"], 1);
    books::check(database, &organization.id).await;
    let mut other = spec();
    other["options"]["time_limit_seconds"] = json!(9);
    let refused = world
        .gateway
        .answer(&solve(&organization.key, "k", &other))
        .await;
    let error = refused.json()["error"].clone();
    assert_eq!(
        (refused.status, &error["code"], &error["details"]["reason"]),
        (409, &json!("IDEMPOTENCY_CONFLICT"), &json!("body_mismatch"))
    );
    // Without a key every call is its own.
    let plain = Request::new("POST", "/v1/solve")
        .bearer(&organization.key)
        .json(&spec());
    let plain = world.gateway.answer(&plain).await;
    assert_ne!(plain.request_id(), first.request_id());
}

async fn a_refused_solve_frees_its_key(world: &World) {
    let organization = world.organization();
    let mut bad = spec();
    bad["slots"][0]["day"] = json!("2026-02-30");
    let refused = world
        .gateway
        .answer(&solve(&organization.key, "k", &bad))
        .await;
    assert_eq!(refused.status, 422);
    let row = books::single(&world.gateway.database, refused.request_id()).await;
    assert_eq!(row["event"], SOLVED);
    let good = world
        .gateway
        .answer(&solve(&organization.key, "k", &spec()))
        .await;
    assert_eq!(good.status, 200, "{}", good.text());
    let form = world
        .gateway
        .answer(&solve(&organization.key, "a b", &spec()))
        .await;
    assert_eq!(form.json()["error"]["param"], "$header.Idempotency-Key");
}

/// The statements of a keyed write, in their order: its claim; its effect, row and answer, which are one transaction.
const STEPS: [(&str, &str, bool); 4] = [
    ("idempotency", "INSERT", true),
    ("api_keys", "INSERT", false),
    ("audit", "INSERT", true),
    ("idempotency", "UPDATE", true),
];

async fn kill_at_every_step(world: &World) {
    for (table, operation, also_solve) in STEPS {
        let organization = world.organization();
        let owner = &organization.key;
        let name = format!("{table}-{operation}");
        kill_during(
            world,
            &organization,
            (table, operation),
            create_key(owner, &name, &name),
        )
        .await;
        let created = finish(world, create_key(owner, &name, &name)).await;
        assert_eq!(created.status, 201, "{name}: {}", created.text());
        assert_eq!(made(world, owner, &name).await, 1, "{name}");
        assert_eq!(successes(world, &organization, "api_key.created").await, 1);
        if also_solve {
            let name = format!("solve-{name}");
            let request = || solve(owner, &name, &spec());
            kill_during(world, &organization, (table, operation), request()).await;
            let solved = finish(world, request()).await;
            assert_eq!(solved.status, 200, "{name}: {}", solved.text());
            assert_eq!(runs(world, &organization).await, 1, "{name}");
        }
    }
    an_answer_that_was_lost_is_given_again(world).await;
}

/// A claim that is on its way to the database cannot be called back; whoever sent it does not keep the key. (On SQLite
/// nothing stands between the two.)
#[tokio::test]
async fn who_leaves_while_a_key_is_claimed_frees_it() {
    let world = own_world(true).await;
    let organization = world.organization();
    let request = solve(&organization.key, "left", &spec());
    let known = Request::new("GET", "/v1/usage").bearer(&organization.key);
    assert_eq!(world.gateway.answer(&known).await.status, 200);
    let stall = Stall::at(
        &world.gateway.database,
        "idempotency",
        "INSERT",
        &organization.id,
    )
    .await;
    let mut connection = world.gateway.connect().await;
    connection.send(&request.bytes()).await;
    stall.reached().await;
    drop(connection);
    stall.lift().await;
    eventually("the row of the call that was left", async || {
        let sql = "SELECT id FROM audit WHERE org_id = $1 AND event = 'workflow.solve_completed'";
        let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
        (!rows.is_empty()).then_some(())
    })
    .await;
    let again = world.gateway.answer(&request).await;
    assert_eq!(again.status, 200, "{}", again.text());
    assert_eq!(again.header("idempotent-replayed"), None);
}

/// Sends a request and kills the gateway while it stands in the middle of this statement.
async fn kill_during(
    world: &World,
    organization: &Organization,
    (table, operation): (&'static str, &'static str),
    request: Request,
) {
    // The credential is known before the writer stands still.
    let known = Request::new("GET", "/v1/usage").bearer(&organization.key);
    assert_eq!(world.gateway.answer(&known).await.status, 200);
    let stall = Stall::at(&world.gateway.database, table, operation, &organization.id).await;
    let mut connection = world.gateway.connect().await;
    connection.send(&request.bytes()).await;
    stall.reached().await;
    world.gateway.kill();
    stall.lift().await;
    world.gateway.start().await;
}

/// Asks again until the dead owner's claim is over; its lease is brought forward.
async fn finish(world: &World, request: Request) -> Answer {
    let sql = "UPDATE idempotency SET lease_until = 0 WHERE owner IS NOT NULL";
    world.gateway.database.change(sql, &[]).await;
    eventually("an answer after the restart", async || {
        let answer = world.gateway.answer(&request).await;
        (answer.status != 503).then_some(answer)
    })
    .await
}

/// Keys of this name.
async fn made(world: &World, owner: &str, name: &str) -> usize {
    let list = Request::new("GET", "/v1/api_keys?limit=100").bearer(owner);
    let keys = world.gateway.answer(&list).await.json();
    let keys = keys["data"].as_array().unwrap();
    keys.iter().filter(|key| key["name"] == name).count()
}

/// Killed behind the commit: whoever asks again gets the first answer, secret and all.
async fn an_answer_that_was_lost_is_given_again(world: &World) {
    let organization = world.organization();
    let owner = &organization.key;
    for (name, request) in [
        ("lost", create_key(owner, "lost", "lost")),
        ("lost-solve", solve(owner, "lost-solve", &spec())),
    ] {
        let mut connection = world.gateway.connect().await;
        connection.send(&request.bytes()).await;
        eventually("the commit", async || {
            let sql = "SELECT org_id FROM idempotency WHERE org_id = $1 AND response IS NOT NULL";
            let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
            (rows.len() == if name == "lost" { 1 } else { 2 }).then_some(())
        })
        .await;
        world.gateway.kill();
        world.gateway.start().await;
        let again = finish(world, request).await;
        assert_eq!(
            again.header("idempotent-replayed"),
            Some("true"),
            "{}",
            again.text()
        );
    }
    assert_eq!(made(world, owner, "lost").await, 1);
    assert_eq!(runs(world, &organization).await, 1);
}
