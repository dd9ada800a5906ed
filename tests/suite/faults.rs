//! A store that goes away, and comes back, under a running gateway (contract 19.5): nothing runs that cannot be
//! recorded, nothing is served without a limit, and nobody has to restart anything.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use svc_tests::books;
use svc_tests::database::Database;
use svc_tests::fake::mark;
use svc_tests::gateway::Setup;
use svc_tests::organization::{Organization, bootstrap};
use svc_tests::patience::eventually;
use svc_tests::postgres::{Durability, Server};
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;
use svc_tests::{fake::FakeProvider, guardian, program};

/// What needs no write: judged by what is remembered of the caller, and counted.
async fn read(world: &World, key: &str) -> Answer {
    let request = Request::new("GET", "/v1/models").bearer(key);
    world.gateway.answer(&request).await
}

/// 503, retryable, and nothing reached a provider.
async fn fails_closed(world: &World, organization: &Organization) {
    let unheard = mark();
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": unheard}))
        .await;
    let error = answer.json()["error"].clone();
    assert_eq!(
        (answer.status, &error["code"], &error["retryable"]),
        (503, &json!("INFERENCE_UNAVAILABLE"), &json!(true)),
        "{}",
        answer.text()
    );
    assert!(answer.header("retry-after").is_some());
    assert!(world.fake.seen(&unheard).await.is_empty());
    let write = Request::new("POST", "/v1/api_keys")
        .bearer(&organization.key)
        .json(&json!({"name": "never", "scopes": ["ai:chat"]}));
    for write in [write.clone(), write.header("Idempotency-Key", "k")] {
        let answer = world.gateway.answer(&write).await;
        assert_eq!(answer.status, 503, "{}", answer.text());
    }
}

async fn served_again(world: &World, organization: &Organization) {
    eventually("an answer", async || {
        let answer = world
            .gateway
            .chat(&organization.key, json!({"message": mark()}))
            .await;
        assert!([200, 503].contains(&answer.status), "{}", answer.text());
        (answer.status == 200).then_some(())
    })
    .await;
    let list = Request::new("GET", "/v1/api_keys?limit=100").bearer(&organization.key);
    let keys = world.gateway.answer(&list).await.json();
    let keys: Vec<&Value> = keys["data"].as_array().unwrap().iter().collect();
    assert!(keys.iter().all(|key| key["name"] != "never"));
    books::check(&world.gateway.database, &organization.id).await;
}

#[tokio::test]
async fn postgres_stops_and_comes_back() {
    let server = tokio::task::spawn_blocking(|| Server::start(Durability::None))
        .await
        .unwrap();
    let world = World::start(Some(server.database())).await;
    let organization = world.organization_with(&["--per-minute", "5"]);
    let pid = world.gateway.pid();
    // Somebody else waits for the first connections: on a busy machine that is as long as for counters that are down.
    let other = world.organization();
    assert_eq!(read(&world, &other.key).await.status, 200);
    eventually("the counters", async || {
        (world.gateway.metric("svc_limits_down").await == 0.0).then_some(())
    })
    .await;
    assert_eq!(read(&world, &organization.key).await.status, 200);
    assert_eq!(world.gateway.metric("svc_limits_down").await, 0.0);
    server.stop();
    // Known callers are served what needs no record, within limits that this replica counts by itself.
    let told = join_all((0..8).map(|_| read(&world, &organization.key))).await;
    let mut told: Vec<u16> = told.iter().map(|answer| answer.status).collect();
    told.sort_unstable();
    assert_eq!(told, [200, 200, 200, 200, 200, 429, 429, 429]);
    fails_closed(&world, &organization).await;
    assert_eq!(world.gateway.metric("svc_limits_down").await, 1.0);
    assert_eq!(world.gateway.admin_page("/readyz").await.status, 503);
    assert_eq!(world.gateway.admin_page("/healthz").await.status, 200);
    // 30 s later nobody is known any more.
    eventually("the end of what is remembered", async || {
        (read(&world, &organization.key).await.status == 503).then_some(())
    })
    .await;
    server.start_again();
    eventually("the counters", async || {
        (world.gateway.metric("svc_limits_down").await == 0.0).then_some(())
    })
    .await;
    let raise = "UPDATE api_keys SET per_minute = 1000000 WHERE org_id = $1";
    world
        .gateway
        .database
        .change(raise, &[&organization.id])
        .await;
    let raise = "UPDATE organizations SET per_minute = 1000000 WHERE id = $1";
    world
        .gateway
        .database
        .change(raise, &[&organization.id])
        .await;
    eventually("the new limits", async || {
        (read(&world, &organization.key).await.status == 200).then_some(())
    })
    .await;
    served_again(&world, &organization).await;
    assert_eq!(world.gateway.pid(), pid);
}

/// Once it is known that the database is gone, nobody waits to be told so: not while it refuses connections, nor while it
/// keeps them and says nothing.
#[tokio::test]
async fn nobody_waits_for_a_database_that_is_gone() {
    let server = tokio::task::spawn_blocking(|| Server::start(Durability::None))
        .await
        .unwrap();
    let world = World::start(Some(server.database())).await;
    let organization = world.organization();
    let told = |words: &str| world.gateway.log().matches(words).count();
    for (outages, is_silent) in [(1, false), (2, true)] {
        served_again(&world, &organization).await;
        if is_silent {
            server.freeze();
        } else {
            server.stop();
        }
        // Every wait for a connection, and every statement without an answer, is 5 s or more.
        eventually("a refusal at once", async || {
            let start = Instant::now();
            fails_closed(&world, &organization).await;
            let page = world.gateway.admin_page("/readyz").await;
            assert_eq!(page.status, 503, "{}", page.text());
            let is_known = told("the database is gone") >= outages;
            (is_known && start.elapsed() < Duration::from_secs(3)).then_some(())
        })
        .await;
        if is_silent {
            server.thaw();
        } else {
            server.start_again();
        }
    }
    served_again(&world, &organization).await;
    world.gateway.ready().await;
    let log = world.gateway.log();
    assert!(told("the database is back") >= 2, "{log}");
    // What is tried again every second does not say so every time.
    for again in [
        "sealed yet",
        "could not be looked for",
        "could not be renewed",
    ] {
        let lines = log.lines().filter(|line| line.contains(again));
        let lines = lines.filter(|line| line.contains("ERROR")).count();
        assert!(lines <= 2, "{log}");
    }
}

/// A run that has ended and cannot be written down is told from those that are in flight.
#[tokio::test]
async fn runs_whose_end_could_not_be_written_are_counted() {
    let server = tokio::task::spawn_blocking(|| Server::start(Durability::None))
        .await
        .unwrap();
    let world = World::start(Some(server.database())).await;
    let organization = world.organization();
    let unwritten = async || world.gateway.metric("svc_unwritten_runs").await;
    let slow = mark();
    let order = json!({"contains": slow, "event_count": 10, "delay_between_events_ms": 200});
    world.fake.expect(order).await;
    let body = json!({"message": slow});
    let mut stream = world.gateway.stream(&organization.key, body).await;
    stream.until("message.delta").await;
    let in_flight = world.gateway.metric("svc_unsettled_runs").await;
    assert!(in_flight > 0.0 && unwritten().await == 0.0);
    server.stop();
    let events = stream.rest().await;
    assert_eq!(events.last().unwrap().name, "error");
    eventually("a run that is late", async || {
        (unwritten().await > 0.0).then_some(())
    })
    .await;
    server.start_again();
    eventually("a run that is written", async || {
        (unwritten().await == 0.0).then_some(())
    })
    .await;
    books::check(&world.gateway.database, &organization.id).await;
}

/// A disk that is full: no file may grow. The process is told so in place of the disk, which tests cannot fill.
#[tokio::test]
async fn a_full_disk_under_sqlite() {
    let world = unlimited().await;
    let organization = bootstrap(&world.gateway, &["--per-minute", "1000000"]);
    assert_eq!(read(&world, &organization.key).await.status, 200);
    let pid = world.gateway.pid();
    limit_files(pid, "4096");
    fails_closed(&world, &organization).await;
    // What the disk refused is over: nothing is kept in memory, to be written to it again and again.
    for runs in ["svc_unsettled_runs", "svc_unwritten_runs"] {
        assert_eq!(world.gateway.metric(runs).await, 0.0, "{runs}");
    }
    // What needs no write goes on.
    assert_eq!(read(&world, &organization.key).await.status, 200);
    eventually("a gateway that is not ready", async || {
        let page = world.gateway.admin_page("/readyz").await;
        (page.status == 503).then_some(())
    })
    .await;
    limit_files(pid, "unlimited");
    served_again(&world, &organization).await;
    world.gateway.ready().await;
    assert_eq!(world.gateway.pid(), pid);
}

/// Another program keeps SQLite's lock. Whoever meets it first waits as long as a statement may, nobody once with each
/// statement.
#[tokio::test]
async fn a_lock_of_another_program_is_waited_for_once() {
    let world = World::start(None).await;
    let organization = world.organization();
    assert_eq!(read(&world, &organization.key).await.status, 200);
    let Database::Sqlite(path) = &world.gateway.database else {
        panic!("a file")
    };
    let options = SqliteConnectOptions::new().filename(path);
    let mut other = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql("BEGIN IMMEDIATE")
        .execute(&mut other)
        .await
        .unwrap();
    let start = Instant::now();
    // Three requests that write, of several statements each.
    fails_closed(&world, &organization).await;
    assert!(
        start.elapsed() < Duration::from_secs(9),
        "{:?}",
        start.elapsed()
    );
    other.close().await.unwrap();
    served_again(&world, &organization).await;
    world.gateway.ready().await;
}

/// A gateway whose writes beyond a limit fail, as on a full disk, in place of killing it.
async fn unlimited() -> World {
    let fake = FakeProvider::start();
    let gateway = Setup::new(&fake.base_url()).prepare();
    let plain = gateway.command();
    let mut command = Command::new("env");
    command.env_clear();
    command.arg("--ignore-signal=XFSZ").arg(plain.get_program());
    command.args(plain.get_args()).arg("serve");
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = plain.get_current_dir() {
        command.current_dir(folder);
    }
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starting the gateway");
    guardian::watch(child.id());
    gateway.adopt(child);
    gateway.ready().await;
    World { fake, gateway }
}

/// Bytes that a file of this process may have; the hard limit stays.
fn limit_files(pid: u32, bytes: &str) {
    let (pid, limit) = (pid.to_string(), format!("--fsize={bytes}:"));
    program::output_of(Command::new("prlimit").args(["--pid", &pid, &limit]));
}
