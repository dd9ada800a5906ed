//! Receivers of others: Stripe's official verifiers take our deliveries and refuse what was tampered with, and so do the
//! receivers that docs/webhooks.md gives away, each run as it stands there.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use svc_tests::patience::{PATIENCE, eventually};
use svc_tests::sink::Received;
use svc_tests::wire::{Connection, Request};
use svc_tests::{guardian, port, program};

use super::Hooks;

#[expect(
    dead_code,
    clippy::disallowed_methods,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a program of its own, for people without our clock and configuration"
)]
#[path = "../../../docs/receivers/receiver.rs"]
mod receiver;

/// A program that set-up has installed.
fn installed(path: &str) -> PathBuf {
    let found = program::repository().join(path);
    assert!(found.exists(), "{path} is missing: run make setup");
    found
}

fn python() -> Command {
    Command::new(installed(".toolchain/sdk-python/bin/python"))
}

/// The Node that was installed with the SDKs, or the machine's where none is made for it.
fn node() -> Command {
    let packages = installed(".toolchain/sdk-node/node_modules");
    let found = ["x64", "arm64"]
        .map(|machine| packages.join(format!("node-linux-{machine}/bin/node")))
        .into_iter()
        .find(|node| node.exists());
    Command::new(found.unwrap_or_else(|| "node".into()))
}

#[tokio::test]
async fn stripes_verifiers_believe_our_deliveries_and_nothing_else() {
    let hooks = Hooks::start(None).await;
    let endpoint = hooks.endpoint(&hooks.sink.url("/in")).await;
    hooks.publish(1).await;
    hooks.sink.wait("/in", 1).await;
    let path = format!(
        "/v1/webhooks/{}/rotate-secret",
        endpoint["id"].as_str().unwrap()
    );
    let new = hooks.data("POST", &path, json!({})).await;
    hooks.publish(1).await;
    let received = hooks.sink.wait("/in", 2).await;
    let (old, new) = (
        endpoint["secret"].as_str().unwrap(),
        new["secret"].as_str().unwrap(),
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases.json");
    let cases = cases(&received, old, new);
    std::fs::write(&file, Value::from(cases).to_string()).unwrap();
    let tests = program::repository().join("tests/sdk");
    program::output_of(
        python()
            .arg(tests.join("python/verify_webhook.py"))
            .arg(&file),
    );
    program::output_of(node().arg(tests.join("node/verify_webhook.mjs")).arg(&file));
}

/// What is believed, and what differs from it in one thing.
fn cases(received: &[Received], old: &str, new: &str) -> Vec<Value> {
    let (before, after) = (&received[0], &received[1]);
    let header = |one: &Received| one.header("svc-signature").to_owned();
    assert_eq!(header(after).matches("v1=").count(), 2);
    let mut changed = after.body.clone();
    let last = changed.len() - 3;
    changed[last] ^= 1;
    let written_again =
        serde_json::to_vec_pretty(&serde_json::from_slice::<Value>(&after.body).unwrap()).unwrap();
    let now: i64 = header(after)[2..12].parse().unwrap();
    let later = header(after).replacen(&now.to_string(), &(now + 1).to_string(), 1);
    // Signed as it should be, ten minutes ago.
    let at = svc_core::time::Timestamp((now - 600) * 1_000);
    let stale = svc_webhook::signature::header([new], &after.body, at);
    [
        ("one signature", old, header(before), &before.body, true),
        ("the new secret", new, header(after), &after.body, true),
        ("the old secret", old, header(after), &after.body, true),
        (
            "a secret from after",
            new,
            header(before),
            &before.body,
            false,
        ),
        ("a changed byte", new, header(after), &changed, false),
        ("written again", new, header(after), &written_again, false),
        ("another time", new, later, &after.body, false),
        ("an old time", new, stale, &after.body, false),
        ("no prefix", &new[6..], header(after), &after.body, false),
    ]
    .into_iter()
    .map(|(name, secret, header, body, expected)| {
        json!({"name": name, "secret": secret, "header": header, "body": STANDARD.encode(body),
               "expected": expected})
    })
    .collect()
}

/// A receiver in a process of its own; it ends with its value.
struct Receiving(Child);

impl Drop for Receiving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        guardian::forget(self.0.id());
    }
}

fn start(mut command: Command, file: &str, address: SocketAddr, secret: &str) -> Receiving {
    let path = program::repository().join("docs/receivers").join(file);
    command
        .arg(path)
        .env("PORT", address.port().to_string())
        .env("WEBHOOK_SECRET", secret)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let child = command.spawn().expect("starting a receiver");
    guardian::watch(child.id());
    Receiving(child)
}

#[tokio::test]
async fn the_receivers_of_the_documentation_believe_deliveries_and_nothing_else() {
    let addresses = [port::free(), port::free(), port::free()];
    let ports = addresses.map(|address| address.port());
    let hooks = Hooks::with(None, &ports, |setup| {
        // Until a receiver listens.
        setup.key("webhooks", "delays_ms", vec![toml::Value::from(0); 6])
    })
    .await;
    let mut secrets = Vec::new();
    let mut endpoints = Vec::new();
    for address in addresses {
        let endpoint = hooks.endpoint(&format!("http://{address}/in")).await;
        secrets.push(endpoint["secret"].as_str().unwrap().to_owned());
        endpoints.push(endpoint);
    }
    let _python = start(python(), "receiver.py", addresses[0], &secrets[0]);
    let _node = start(node(), "receiver.mjs", addresses[1], &secrets[1]);
    let (taken, takes) = mpsc::sync_channel(16);
    let listener = std::net::TcpListener::bind(addresses[2]).unwrap();
    let secret = vec![secrets[2].clone()];
    let rust = std::thread::Builder::new().name("receiver".to_owned());
    rust.spawn(move || {
        receiver::receive(&listener, &secret, |body| {
            taken.send(body.to_vec()).unwrap()
        })
    })
    .unwrap();
    for address in addresses {
        eventually("a receiver that listens", async || {
            tokio::net::TcpStream::connect(address).await.ok()
        })
        .await;
    }
    hooks.publish(2).await;
    for endpoint in &endpoints {
        for delivery in hooks.settled(endpoint, 2, "delivered").await {
            assert_eq!(delivery["attempt_count"], 1, "{delivery}");
        }
    }
    for _ in 0..2 {
        let body = takes.recv_timeout(PATIENCE).unwrap();
        let event: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(event["event"], "record.created");
    }
    for (address, secret) in addresses.iter().zip(&secrets) {
        forged(*address, secret).await;
    }
    assert!(
        takes.recv_timeout(Duration::ZERO).is_err(),
        "forged ones are not taken"
    );
}

/// Every receiver takes what is signed now and refuses what is not.
async fn forged(address: SocketAddr, secret: &str) {
    let body = br#"{"id":"01JD0000000000000000000001","event":"record.created"}"#;
    let now = now();
    let sign = |secret: &str, seconds: i64| {
        let at = svc_core::time::Timestamp((now + seconds) * 1_000);
        svc_webhook::signature::header([secret], body, at)
    };
    let good = sign(secret, 0);
    let (time, tag) = good.split_once(',').unwrap();
    for (header, expected) in [
        (sign(secret, -400), 400),
        (sign(secret, 400), 400),
        (sign("whsec_another", 0), 400),
        (sign(&secret[6..], 0), 400),
        (time.to_owned(), 400),
        (tag.to_owned(), 400),
        (format!("{time},{time},{tag}"), 400),
        (format!("{time},v1="), 400),
        (format!("{time},v1=é"), 400),
        // More digits than a number is read from.
        (format!("t={},v1=aa", "1".repeat(5_000)), 400),
        ("nonsense".to_owned(), 400),
    ] {
        let request = Request::new("POST", "/in").header("Svc-Signature", &header);
        let request = request.header("X-Svc-Webhook-Id", "01JD0000000000000000000001");
        let request = request.header("Connection", "close");
        let request = request.body(body);
        let mut connection = Connection::open(address).await;
        connection.send(&request.bytes()).await;
        let status = connection.reply().await.whole().await.0.status;
        assert_eq!(status, expected, "{header} at {address}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "receivers have the clock of the machine"
)]
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap().as_secs()).unwrap()
}

#[test]
fn the_documentation_shows_the_receivers_as_they_are() {
    let folder = program::repository().join("docs");
    let page = std::fs::read_to_string(folder.join("webhooks.md")).unwrap();
    for file in ["receiver.py", "receiver.mjs", "receiver.rs"] {
        let path: PathBuf = Path::new("receivers").join(file);
        let text = std::fs::read_to_string(folder.join(&path)).unwrap();
        assert!(
            page.contains(text.trim_end()),
            "{file} is not in webhooks.md as it is"
        );
    }
}
