//! The bundled fake provider as a process of its own, and its control side.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::patience::{PATIENCE, eventually};
use crate::wire::{Answer, Connection, Request};
use crate::{guardian, program};

/// The operator's key at the provider. It must never be seen anywhere else.
pub const PROVIDER_KEY: &str = "operator-key-qzvwxkjy";

pub struct FakeProvider {
    child: Child,
    pub address: SocketAddr,
    record: PathBuf,
    _folder: tempfile::TempDir,
}

static MARKS: AtomicU32 = AtomicU32::new(0);

/// A word that no other test says: the fake is told, and asked, about messages by it. Letters only, and no name ends so:
/// no detector takes it for anything.
pub fn mark() -> String {
    const LETTERS: &[u8; 16] = b"bcdfghjkmpqrtvwx";
    let mut number = MARKS.fetch_add(1, Ordering::Relaxed);
    let mut word = String::from("quokka");
    for _ in 0..4 {
        word.push(char::from(LETTERS[number as usize % LETTERS.len()]));
        number /= 16;
    }
    word
}

impl FakeProvider {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts one with more options of `svc-gateway fake-provider`.
    pub fn start_with(options: &[&str]) -> Self {
        Self::launch(PROVIDER_KEY, options)
    }

    /// Starts one that knows another key than the operator's.
    pub fn start_for(key: &str) -> Self {
        Self::launch(key, &[])
    }

    fn launch(key: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        guardian::folder(folder.path());
        let record = folder.path().join("requests.jsonl");
        let mut command = program::command();
        command.args([
            "fake-provider",
            "--listen",
            "127.0.0.1:0",
            "--api-key",
            key,
            "--record",
        ]);
        command
            .arg(&record)
            .args(options)
            .current_dir(folder.path());
        let mut child = command
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .expect("starting the fake provider");
        guardian::watch(child.id());
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("its output"));
        out.read_line(&mut line).expect("its first line");
        let said: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        let address = said["listening"]
            .as_str()
            .and_then(|text| text.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address: {line:?}"));
        Self {
            child,
            address,
            record,
            _folder: folder,
        }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds behaviours behind those that wait.
    pub async fn expect(&self, behaviours: Value) {
        let behaviours = if behaviours.is_array() {
            behaviours
        } else {
            json!([behaviours])
        };
        let request =
            Request::new("POST", "/_control/script").json(&json!({"behaviours": behaviours}));
        let answer = self.control(&request).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    /// Takes back every behaviour that waits.
    pub async fn forget(&self) {
        let answer = self
            .control(&Request::new("DELETE", "/_control/script"))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    /// Every request so far whose body contains `mark`, the oldest first.
    pub async fn seen(&self, mark: &str) -> Vec<Value> {
        let (_, requests) = self.requests("").await;
        requests
            .into_iter()
            .filter(|request| request["body"].to_string().contains(mark))
            .collect()
    }

    /// Waits for the first request with `mark`.
    pub async fn received(&self, mark: &str) -> Value {
        self.first(mark, "received", |_| true).await
    }

    /// Waits until the first request with `mark` has ended, in whatever way.
    pub async fn ended(&self, mark: &str) -> Value {
        let over = |request: &Value| {
            request["finished"] == true
                || request["closed_by_script"] == true
                || !request["closed_by_peer_at_us"].is_null()
        };
        self.first(mark, "ended", over).await
    }

    async fn first(&self, mark: &str, event: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut query = String::new();
        loop {
            let (counts, requests) = self.requests(&query).await;
            let found = requests
                .into_iter()
                .find(|request| request["body"].to_string().contains(mark));
            if let Some(found) = found.filter(&wanted) {
                return found;
            }
            assert!(
                query.is_empty() || counts["timed_out"] != true,
                "no request with {mark} has {event}"
            );
            let next = counts[event].as_u64().unwrap_or(0) + 1;
            query = format!("?await_{event}={next}&timeout_ms={}", PATIENCE.as_millis());
        }
    }

    async fn requests(&self, query: &str) -> (Value, Vec<Value>) {
        let answer = self
            .control(&Request::new("GET", &format!("/_control/requests{query}")))
            .await;
        let mut body = answer.json();
        let requests = match body["requests"].take() {
            Value::Array(requests) => requests,
            other => panic!("no requests: {other}"),
        };
        let mut counts = body["counts"].take();
        counts["timed_out"] = Value::Bool(answer.status == 408);
        (counts, requests)
    }

    /// The lines of the record file: what the provider saw, whatever has become of anyone since.
    pub fn record(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.record).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a whole line"))
            .collect()
    }

    /// How many requests there are in [`Self::record`]: its lines, which are not read otherwise.
    pub fn count(&self) -> usize {
        let record = std::fs::read(&self.record).unwrap_or_default();
        record.iter().filter(|byte| **byte == b'\n').count()
    }

    pub fn record_path(&self) -> &Path {
        &self.record
    }

    async fn control(&self, request: &Request) -> Answer {
        let mut connection = Connection::open(self.address).await;
        connection.send(&request.bytes()).await;
        connection.reply().await.whole().await.0
    }

    /// Waits for `count` requests in the record file.
    pub async fn recorded(&self, count: usize) {
        eventually("requests in the record file", async || {
            (self.count() >= count).then_some(())
        })
        .await;
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        guardian::forget(self.child.id());
    }
}
