//! The load generator of `make bench`: a bounded number of requests against one address on the loopback, as
//! fast as the answers come or at a fixed rate, and what they took. Prints one line of JSON. No two requests are the
//! same, of one run or of two: `turnaaaaaaaa` in the body becomes another word in each.
//!
//! `load ports COUNT` prints free ports, one a line.
//! `load postgres` starts a PostgreSQL server, prints the address of a database and keeps it until its input ends.
//! `load detector FOLDER` builds a detector that finds nothing and puts it there; run in the repository's root.
//! `load events ADDRESS PATH BODY_FILE [HEADER: VALUE]...` prints how many events one streamed answer has.
//! `load run ADDRESS PATH BODY_FILE REQUESTS CONNECTIONS RATE [HEADER: VALUE]...`; rate 0: as fast as it goes.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a tool of the bench: what goes wrong ends it, and its output is its product"
)]

#[path = "../../proxy/gateway/build/guest.rs"]
mod guest;

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use guest::Workshop;
use serde_json::json;
use svc_tests::port;
use svc_tests::postgres;
use svc_tests::turn;
use svc_tests::wire::{Connection, Request};

/// More than any run of the bench asks for.
const MOST_REQUESTS: usize = 200_000;
const MOST_CONNECTIONS: usize = 256;
/// Longest run, whatever was asked for.
const MOST_TIME: Duration = Duration::from_secs(300);

struct Plan {
    address: SocketAddr,
    bytes: Vec<u8>,
    requests: usize,
    connections: usize,
    /// Requests per second over all connections; 0 is no limit.
    rate: u32,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["ports", count] => {
            let count: usize = count.parse().expect("a count");
            (0..count).for_each(|_| println!("{}", port::free().port()));
        }
        ["postgres"] => {
            println!("{}", postgres::durable_database());
            std::io::stdin().lines().for_each(drop);
        }
        ["detector", folder] => detector(Path::new(folder)),
        ["events", address, path, body, ref headers @ ..] => {
            let plan = plan([address, path, body, "1", "1", "0"], headers);
            println!("{}", runtime().block_on(events(plan)));
        }
        [
            "run",
            address,
            path,
            body,
            requests,
            connections,
            rate,
            ref headers @ ..,
        ] => {
            let plan = plan([address, path, body, requests, connections, rate], headers);
            println!("{}", runtime().block_on(run(plan)));
        }
        _ => panic!(
            "load ports COUNT | load postgres | load detector FOLDER | load events ADDRESS PATH BODY_FILE [HEADER: VALUE]... | load run ADDRESS PATH BODY_FILE REQUESTS CONNECTIONS RATE [HEADER: VALUE]..."
        ),
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime")
}

/// The detector that finds nothing in what is asked here.
fn detector(folder: &Path) {
    // Cargo runs in the folder of the guests.
    let root = std::env::current_dir().expect("the repository's root");
    let workshop = Workshop {
        sources: root.join("plugins"),
        target_folder: root.join("target/guests"),
    };
    let manifest = std::fs::read_to_string("tests/bench/detector.toml").expect("its manifest");
    let module = workshop.compile("quiet").expect("the guest");
    let component = guest::encode(&module).expect("a component");
    guest::write_plugin(folder, &component, &manifest).expect("the plugin folder");
}

async fn events(plan: Plan) -> usize {
    let mut connection = Connection::open(plan.address).await;
    connection.send(&plan.bytes).await;
    let (answer, _) = connection.reply().await.whole().await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = answer.text();
    text.lines()
        .filter(|line| line.starts_with("data:"))
        .count()
}

fn plan([address, path, body, requests, connections, rate]: [&str; 6], headers: &[&str]) -> Plan {
    let address: SocketAddr = address.parse().expect("an address");
    assert!(address.ip().is_loopback(), "loopback only");
    let body = std::fs::read(body).expect("the body file");
    let mut request = Request::new("POST", path)
        .header("Content-Type", "application/json")
        .body(&body);
    for header in headers {
        let (name, value) = header.split_once(": ").expect("HEADER: VALUE");
        request = request.header(name, value);
    }
    let number = |text: &str, most: usize| text.parse::<usize>().expect("a number").clamp(1, most);
    Plan {
        address,
        bytes: request.bytes(),
        requests: number(requests, MOST_REQUESTS),
        connections: number(connections, MOST_CONNECTIONS),
        rate: rate.parse().expect("a rate"),
    }
}

async fn run(plan: Plan) -> serde_json::Value {
    let start = Instant::now();
    let runs = join_all((0..plan.connections).map(|number| caller(&plan, number, start)));
    let took = tokio::time::timeout(MOST_TIME, runs)
        .await
        .expect("the run took too long");
    let seconds = start.elapsed().as_secs_f64();
    let mut latencies_us: Vec<u128> = took.into_iter().flatten().collect();
    latencies_us.sort_unstable();
    let percentile = |per_mille: usize| {
        latencies_us.get((latencies_us.len() * per_mille / 1000).min(latencies_us.len() - 1))
    };
    json!({
        "requests": latencies_us.len(),
        "seconds": seconds,
        "p50_us": percentile(500),
        "p90_us": percentile(900),
        "p99_us": percentile(990),
        "max_us": latencies_us.last(),
    })
}

/// One connection's share. With a rate, a request is due at its time whether or not the one before has come
/// back, and waits count: a slow answer does not hide the ones behind it.
async fn caller(plan: &Plan, number: usize, start: Instant) -> Vec<u128> {
    let mut connection = Connection::open(plan.address).await;
    let mut latencies_us = Vec::with_capacity(plan.requests / plan.connections + 1);
    // Nor are requests of two runs: a gateway that was asked before remembers what stood in them.
    let before = MOST_REQUESTS * std::process::id() as usize;
    for turn in (number..plan.requests).step_by(plan.connections) {
        let bytes = turn::numbered(&plan.bytes, before + turn);
        let mut due = Instant::now();
        if plan.rate > 0 {
            let turn = u32::try_from(turn).expect("bounded above");
            let planned = start + Duration::from_secs(1) / plan.rate * turn;
            if planned < due {
                due = planned;
            } else {
                tokio::time::sleep_until(planned.into()).await;
                // How late the timer wakes us is not the other side's doing.
                due = Instant::now();
            }
        }
        connection.send(&bytes).await;
        let (answer, kept) = connection.reply().await.whole().await;
        assert!((200..=201).contains(&answer.status), "{}", answer.text());
        connection = kept;
        latencies_us.push(due.elapsed().as_micros());
    }
    latencies_us
}
