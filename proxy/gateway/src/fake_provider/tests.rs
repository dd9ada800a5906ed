//! Tests of the fake over loopback: bytes in, bytes out.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod chat;
mod content;
mod control;
mod fault;
mod refusal;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::fake_provider::{Bound, Options, bind, bind_embedded};

const KEY: &str = "key-of-the-tests";

/// A fake that ends with its test.
struct Fake {
    address: SocketAddr,
    client: reqwest::Client,
    task: JoinHandle<()>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn options() -> Options {
    Options {
        listen: (Ipv4Addr::LOCALHOST, 0).into(),
        api_key: Some(KEY.into()),
        record: None,
        latency_ms: 0,
        event_delay_ms: 0,
        quiet: false,
    }
}

async fn start() -> Fake {
    start_with(options()).await
}

async fn start_with(options: Options) -> Fake {
    run(bind(options).await.unwrap())
}

/// As `serve` starts it for itself.
async fn start_embedded() -> Fake {
    run(bind_embedded(KEY.into()).await.unwrap())
}

fn run(bound: Bound) -> Fake {
    let address = bound.address();
    let task = tokio::spawn(async move {
        bound.run().await.unwrap();
    });
    let client = reqwest::Client::builder().build().unwrap();
    Fake {
        address,
        client,
        task,
    }
}

impl Fake {
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn request(&self, path: &str, body: &Value) -> reqwest::RequestBuilder {
        self.client
            .post(self.url(path))
            .header("x-api-key", KEY)
            .header("anthropic-version", "2023-06-01")
            .json(body)
    }

    async fn send(&self, body: &Value) -> (u16, Value) {
        let response = self.request("/v1/messages", body).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    async fn send_text(&self, body: &Value) -> String {
        let response = self.request("/v1/messages", body).send().await.unwrap();
        response.text().await.unwrap()
    }

    async fn order(&self, behaviours: Value) {
        let response = self
            .client
            .put(self.url("/_control/script"))
            .json(&json!({"behaviours": behaviours}))
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 200);
    }

    async fn requests(&self, query: &str) -> Vec<Value> {
        let url = self.url(&format!("/_control/requests?{query}"));
        let response = self.client.get(url).send().await.unwrap();
        assert_eq!(response.status(), 200, "the awaited requests did not come");
        let mut body: Value = response.json().await.unwrap();
        match body["requests"].take() {
            Value::Array(requests) => requests,
            other => panic!("not a list: {other}"),
        }
    }

    /// A connection of its own on which `body` has been sent.
    async fn connect(&self, body: &Value) -> TcpStream {
        let body = body.to_string();
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: fake\r\nx-api-key: {KEY}\r\n\
             anthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        stream
    }
}

/// Reads until `mark` has come.
async fn read_until(stream: &mut TcpStream, mark: &str) -> String {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap();
        assert!(count > 0, "ended before {mark}");
        seen.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&seen);
        if text.contains(mark) {
            return text.into_owned();
        }
    }
}

/// Reads to the end, however it comes.
async fn read_to_end(stream: &mut TcpStream) -> (String, std::io::Result<()>) {
    let mut seen = Vec::new();
    let end = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut seen))
        .await
        .expect("the connection did not end");
    let text = String::from_utf8_lossy(&seen).into_owned();
    (text, end.map(drop))
}

fn ask(text: &str) -> Value {
    json!({
        "model": "alpha-1",
        "max_tokens": 200,
        "messages": [{"role": "user", "content": text}],
    })
}

fn ask_stream(text: &str) -> Value {
    with(ask(text), "stream", json!(true))
}

fn with(mut body: Value, name: &str, value: Value) -> Value {
    body[name] = value;
    body
}

/// The events of a stream: name and data.
fn events(stream: &[u8]) -> Vec<(String, Value)> {
    let (mut framer, mut frames) = (svc_core::sse::Framer::default(), Vec::new());
    framer.push(stream, &mut frames).unwrap();
    framer.finish(&mut frames).unwrap();
    frames
        .into_iter()
        .map(|frame| (frame.name, serde_json::from_str(&frame.data).unwrap()))
        .collect()
}

/// The message that a stream builds up, without what differs by design (its id).
fn assemble(events: &[(String, Value)]) -> Value {
    let mut message = Value::Null;
    let mut input = String::new();
    for (name, data) in events {
        assert_eq!(data["type"], name.as_str());
        let at = usize::try_from(data["index"].as_u64().unwrap_or(0)).unwrap();
        match name.as_str() {
            "message_start" => message = data["message"].clone(),
            "content_block_start" => {
                let content = message["content"].as_array_mut().unwrap();
                assert_eq!(content.len(), at, "dense and in order");
                content.push(data["content_block"].clone());
                input.clear();
            }
            "content_block_delta" => {
                let block = &mut message["content"][at];
                let delta = &data["delta"];
                let (target, piece) = match delta["type"].as_str().unwrap() {
                    "text_delta" => ("text", &delta["text"]),
                    "thinking_delta" => ("thinking", &delta["thinking"]),
                    "signature_delta" => ("signature", &delta["signature"]),
                    "input_json_delta" => {
                        input.push_str(delta["partial_json"].as_str().unwrap());
                        continue;
                    }
                    other => panic!("unknown delta {other}"),
                };
                let text = block[target].as_str().unwrap().to_owned() + piece.as_str().unwrap();
                block[target] = text.into();
            }
            "content_block_stop" if !input.is_empty() => {
                message["content"][at]["input"] = serde_json::from_str(&input).unwrap();
                input.clear();
            }
            "message_delta" => {
                message["stop_reason"] = data["delta"]["stop_reason"].clone();
                message["stop_sequence"] = data["delta"]["stop_sequence"].clone();
                message["usage"] = data["usage"].clone();
            }
            "content_block_stop" | "message_stop" | "ping" => {}
            other => panic!("unknown event {other}"),
        }
    }
    without_ids(message)
}

/// Ids come from the request's number, so two askings differ in them alone.
fn without_ids(mut message: Value) -> Value {
    message["id"] = Value::Null;
    for block in message["content"].as_array_mut().unwrap() {
        if block["type"] == "tool_use" {
            block["id"] = Value::Null;
        }
    }
    message
}

fn record_file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("seen.jsonl")
}
