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

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use svc_tests::gateway::Setup;
use svc_tests::organization::Organization;
use svc_tests::wire::Request;
use svc_tests::world::World;
use svc_tests::{outbox, postgres};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

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

/// A receiver that costs next to nothing beside what it receives from: it answers 204 and notes when. Paths are
/// `/in/{number}/…`, counted by their number, and `/dead/…`, which get no answer.
struct Sink {
    address: SocketAddr,
    arrivals: Arc<[Mutex<Vec<Instant>>]>,
    _serving: JoinSet<()>,
}

/// 60 s: what takes longer is no measurement.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(2);

impl Sink {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let numbers = ORGANIZATIONS.max(BACKLOG_ENDPOINTS);
        let arrivals: Arc<[_]> = (0..numbers).map(|_| Mutex::default()).collect();
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, Arc::clone(&arrivals)));
        Self {
            address,
            arrivals,
            _serving: serving,
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn count(&self, number: usize) -> usize {
        self.arrivals[number].lock().expect("arrivals").len()
    }

    /// Waits until so many have come with this number; gives when the last of them did.
    async fn wait(&self, number: usize, count: usize) -> Instant {
        let began = Instant::now();
        loop {
            if let Some(at) = self.arrivals[number]
                .lock()
                .expect("arrivals")
                .get(count - 1)
            {
                return *at;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "{} of {count} deliveries came",
                self.count(number)
            );
            tokio::time::sleep(LOOK).await;
        }
    }

    /// When those with this number came, without the first `skipped`.
    fn since(&self, number: usize, skipped: usize) -> Vec<Instant> {
        self.arrivals[number].lock().expect("arrivals")[skipped..].to_vec()
    }
}

async fn serve(listener: TcpListener, arrivals: Arc<[Mutex<Vec<Instant>>]>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).ok();
        connections.spawn(connection(stream, Arc::clone(&arrivals)));
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(mut stream: TcpStream, arrivals: Arc<[Mutex<Vec<Instant>>]>) {
    let mut buffer = Vec::with_capacity(16 * 1024);
    loop {
        while let Some((number, length)) = request(&buffer) {
            let Some(number) = number else {
                return std::future::pending().await;
            };
            let at = Instant::now();
            arrivals[number].lock().expect("arrivals").push(at);
            buffer.drain(..length);
            if stream.write_all(b"HTTP/1.1 204 .\r\n\r\n").await.is_err() {
                return;
            }
        }
        if !matches!(stream.read_buf(&mut buffer).await, Ok(1..)) {
            return;
        }
    }
}

/// The number and the bytes of a request that is whole; no number for a dead one.
fn request(buffer: &[u8]) -> Option<(Option<usize>, usize)> {
    let end = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&buffer[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let mut parts = lines.next()?.split(['/', ' ']).skip(2);
    let is_live = parts.next()? == "in";
    let number = parts.next()?.parse().ok().filter(|_| is_live);
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        is_length.then(|| value.parse::<usize>().ok()).flatten()
    });
    let whole = end + length.unwrap_or(0);
    (buffer.len() >= whole).then_some((number, whole))
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
    let paths = (0..BACKLOG_ENDPOINTS).map(|at| format!("/in/{at}/"));
    register(&world, &organization.key, paths, &sink).await;
    world.gateway.signal("TERM");
    world.gateway.ended().await;
    let store = outbox::store(&world.gateway).await;
    outbox::publish(&store, &organization.id, 0..BACKLOG_EVENTS).await;
    world.gateway.start().await;
    let mut times = Vec::new();
    for number in 0..BACKLOG_ENDPOINTS {
        sink.wait(number, BACKLOG_EVENTS).await;
        times.extend(sink.since(number, 0));
    }
    let (first, last) = (times.iter().min(), times.iter().max());
    let (first, last) = first.zip(last).expect("deliveries");
    let seconds = last.duration_since(*first).as_secs_f64();
    f64::from(u32::try_from(times.len()).expect("a count")) / seconds
}

/// An organization whose records are made through the API.
struct Clinic {
    organization: Organization,
    records: String,
    healthy: usize,
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
        let is_dead = |at: &usize| (number * ENDPOINTS + at).is_multiple_of(DEAD_IN);
        let dead = (0..ENDPOINTS).filter(is_dead).count();
        let paths = (0..ENDPOINTS).map(|at| {
            let kind = if is_dead(&at) { "dead" } else { "in" };
            format!("/{kind}/{number}/{at}")
        });
        register(world, key, paths, sink).await;
        let records = format!("{entity}/records");
        Self {
            organization,
            records,
            healthy: ENDPOINTS - dead,
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
    let mut took = Vec::new();
    for _ in 0..EVENTS {
        for (number, clinic) in clinics.iter().enumerate() {
            let before = sink.count(number);
            let asked = Instant::now();
            let key = &clinic.organization.key;
            let body = json!({"fields": {"number": 1}});
            data(&world, key, "POST", &clinic.records, body).await;
            sink.wait(number, before + clinic.healthy).await;
            let new = sink.since(number, before).into_iter();
            took.extend(new.map(|at| at.saturating_duration_since(asked)));
            tokio::time::sleep(BETWEEN).await;
        }
    }
    took
}
