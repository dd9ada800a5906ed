//! How fast webhooks are delivered, on each engine: to a receiver on the loopback as fast as it goes, and to a thousand
//! endpoints of which one in twenty is dead.
//!
//! `webhooks` starts its own gateways (the program beside it) and databases that keep what they commit, and prints two
//! tables. The first counts what is delivered of a backlog. The second makes records through the API and takes the time
//! from the request, which lies before the commit, to the arrival of the first attempt at a healthy endpoint.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a tool of the bench: what goes wrong ends it, and its output is its product"
)]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_tests::gateway::Setup;
use svc_tests::organization::Organization;
use svc_tests::sink::Sink;
use svc_tests::wire::Request;
use svc_tests::world::World;
use svc_tests::{outbox, postgres};

/// Organizations, each with as many endpoints as it may have (contract 15.1).
const ORGANIZATIONS: usize = 20;
const ENDPOINTS: usize = 50;
/// One in twenty is dead: takes connections and answers nothing.
const DEAD_IN: usize = 20;
/// Events of each organization; one event is fifty deliveries.
const EVENTS: usize = 20;
/// 100 ms between two events, of one organization after the other: 500 deliveries a second.
const BETWEEN: Duration = Duration::from_millis(100);
/// Deliveries of the backlog.
const BACKLOG_ENDPOINTS: usize = 20;
const BACKLOG_EVENTS: usize = 1_000;

fn main() {
    let databases = [postgres::durable_database(), postgres::durable_database()];
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let [first, second] = databases.map(Some);
    runtime.block_on(async {
        println!("| database | deliveries/s to a receiver on the loopback |\n|---|---:|");
        for (name, database_url) in [("SQLite", None), ("PostgreSQL", first)] {
            println!("| {name} | {:.0} |", backlog(database_url).await);
        }
        println!("\n| database | endpoints | dead | p50 ms | p99 ms |\n|---|---:|---:|---:|---:|");
        for (name, database_url) in [("SQLite", None), ("PostgreSQL", second)] {
            let mut took = thousand(database_url).await;
            took.sort();
            let at = |percent: usize| {
                let index = (took.len() * percent / 100).min(took.len().saturating_sub(1));
                took.get(index).map_or(0, Duration::as_millis)
            };
            let endpoints = ORGANIZATIONS * ENDPOINTS;
            let (dead, p50, p99) = (endpoints / DEAD_IN, at(50), at(99));
            println!("| {name} | {endpoints} | {dead} | {p50} | {p99} |");
        }
    });
}

/// A gateway that may deliver to this machine.
async fn world(database_url: Option<String>, sink: &Sink) -> World {
    let port = i64::from(sink.address.port());
    World::with(|setup: Setup| {
        let networks = vec![toml::Value::from("127.0.0.0/8")];
        setup
            .on(database_url)
            .key("telemetry", "log_level", "info")
            .key("integrations", "allowed_networks", networks)
            .key("integrations", "plain_http", true)
            .key(
                "integrations",
                "allowed_ports",
                vec![toml::Value::from(port)],
            )
    })
    .await
}

async fn data(world: &World, key: &str, method: &str, path: &str, body: Value) -> Value {
    let request = Request::new(method, path).bearer(key).json(&body);
    let answer = world.gateway.answer(&request).await;
    assert!((200..300).contains(&answer.status), "{}", answer.text());
    answer.json()["data"].take()
}

/// Endpoints of an organization at these paths.
async fn register(world: &World, key: &str, paths: impl Iterator<Item = String>, sink: &Sink) {
    for path in paths {
        let body =
            json!({"url": sink.url(&path), "events": ["record.created"], "max_in_flight": 50});
        data(world, key, "POST", "/v1/webhooks", body).await;
    }
}

/// Deliveries a second out of a backlog that is there when the gateway starts.
async fn backlog(database_url: Option<String>) -> f64 {
    let sink = Sink::start().await;
    let world = world(database_url, &sink).await;
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let paths = (0..BACKLOG_ENDPOINTS).map(|at| format!("/in/{at}"));
    register(&world, &organization.key, paths, &sink).await;
    world.gateway.signal("TERM");
    world.gateway.ended().await;
    let store = outbox::store(&world.gateway).await;
    outbox::publish(&store, &organization.id, 0..BACKLOG_EVENTS).await;
    world.gateway.start().await;
    let received = sink.wait("/in", BACKLOG_ENDPOINTS * BACKLOG_EVENTS).await;
    let (first, last) = (received.first(), received.last());
    let (first, last) = first.zip(last).expect("deliveries");
    let seconds = last.at.duration_since(first.at).as_secs_f64();
    f64::from(u32::try_from(received.len()).expect("a count")) / seconds
}

/// An organization whose records are made through the API.
struct Clinic {
    organization: Organization,
    records: String,
}

impl Clinic {
    async fn open(world: &World, sink: &Sink, number: usize) -> Self {
        let organization = world.organization_with(&["--per-minute", "1000000"]);
        let key = &organization.key;
        let app = data(world, key, "POST", "/v1/apps", json!({"name": "Intake"})).await;
        let app = app["id"].as_str().expect("an id");
        let entity = format!("/v1/apps/{app}/entities/patient");
        let fields = json!({"fields": [{"key": "number", "type": "integer"}]});
        data(world, key, "PUT", &entity, fields).await;
        let paths = (0..ENDPOINTS).map(|at| {
            let is_dead = (number * ENDPOINTS + at).is_multiple_of(DEAD_IN);
            format!("/{}/{number}/", if is_dead { "dead" } else { "in" })
        });
        register(world, key, paths, sink).await;
        let records = format!("{entity}/records");
        Self {
            organization,
            records,
        }
    }
}

/// From the request that makes a record to the first attempt at each healthy endpoint.
async fn thousand(database_url: Option<String>) -> Vec<Duration> {
    let sink = Sink::start().await;
    let world = world(database_url, &sink).await;
    let mut clinics = Vec::new();
    for number in 0..ORGANIZATIONS {
        clinics.push(Clinic::open(&world, &sink, number).await);
    }
    let dead = (ORGANIZATIONS * ENDPOINTS).div_ceil(DEAD_IN);
    let mut took = Vec::new();
    for _ in 0..EVENTS {
        for (number, clinic) in clinics.iter().enumerate() {
            let path = format!("/in/{number}/");
            let before = sink.received(&path).len();
            let asked = Instant::now();
            let key = &clinic.organization.key;
            let body = json!({"fields": {"number": 1}});
            data(&world, key, "POST", &clinic.records, body).await;
            let healthy = ENDPOINTS - dead / ORGANIZATIONS;
            let received = sink.wait(&path, before + healthy).await;
            let new = received.iter().skip(before);
            took.extend(new.map(|one| one.at.saturating_duration_since(asked)));
            tokio::time::sleep(BETWEEN).await;
        }
    }
    took
}
