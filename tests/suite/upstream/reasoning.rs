//! Signed reasoning goes back to who gave it: another provider could only refuse it (wire.md 2, points 29 and 30).

use std::path::Path;

use serde_json::{Value, json};
use svc_tests::fake::{FakeProvider, PROVIDER_KEY, mark};
use svc_tests::gateway::{Gateway, Setup};
use svc_tests::organization::bootstrap;
use svc_tests::policies::{Policies, plugins};
use svc_tests::program;
use svc_tests::surfaces::{FORMS, Form, Surface};
use svc_tests::wire::Answer;

use crate::guest::write_plugin;

const MODEL: &str = "alpha-sonnet-4-6";
/// Served by the other driver alone.
const OTHER: &str = "alpha-haiku-4-5";

/// Installs kind A's driver once more, under another id of the same length.
fn install_gamma(folder: &Path) {
    let component = std::fs::read(folder.join("provider-alpha/plugin.wasm")).unwrap();
    let (from, to) = (b"provider-alpha", b"provider-gamma");
    let mut renamed = component.clone();
    for at in 0..component.len() - from.len() {
        if component[at..].starts_with(from) {
            renamed[at..at + to.len()].copy_from_slice(to);
        }
    }
    let manifest = program::repository().join("plugins/provider-alpha/plugin.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let manifest = manifest.replace("provider-alpha", "provider-gamma");
    write_plugin(&folder.join("provider-gamma"), &renamed, &manifest).unwrap();
}

/// A gateway with two providers of kind A, each with a driver of its own.
struct Pair {
    first: FakeProvider,
    second: FakeProvider,
    gateway: Gateway,
    key: String,
    _policies: Policies,
    _folders: (tempfile::TempDir, tempfile::NamedTempFile),
}

impl Pair {
    /// The first model falls back on the provider that serves the second one.
    async fn start() -> Self {
        let (first, second) = (FakeProvider::start(), FakeProvider::start());
        let (policies, plugins) = (Policies::copy(), plugins());
        install_gamma(plugins.path());
        let id = format!("id = \"{MODEL}\"\n");
        let route = "provider = \"west\", upstream_model = \"m\", driver = \"provider-gamma\"";
        policies.edit(
            "models.toml",
            &id,
            &format!("{id}fallback = [{{ {route} }}]\n"),
        );
        let id = format!("id = \"{OTHER}\"\nreleased_at = \"2026-04-01T00:00:00Z\"\n");
        let provider = "provider = \"alpha\"\n";
        let moved = "provider = \"west\"\ndriver = \"provider-gamma\"\n";
        policies.edit(
            "models.toml",
            &format!("{id}{provider}"),
            &format!("{id}{moved}"),
        );
        let key_file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(key_file.path(), PROVIDER_KEY).unwrap();
        let mut west = toml::Table::new();
        west.insert("base_url".into(), second.base_url().into());
        let path = key_file.path().display().to_string();
        west.insert("api_key_file".into(), path.into());
        let gateway = Setup::new(&first.base_url())
            .policies(policies.path())
            .plugins(plugins.path())
            .key("providers", "west", west)
            .start()
            .await;
        let key = bootstrap(&gateway, &[]).key;
        Self {
            first,
            second,
            gateway,
            key,
            _policies: policies,
            _folders: (plugins, key_file),
        }
    }

    /// A turn of a stored conversation; what its provider was sent of reasoning, and the conversation.
    async fn say(&self, model: &str, thought: &str, conversation: &Value) -> (Vec<Value>, Value) {
        let mark = mark();
        let fake = if model == OTHER {
            &self.second
        } else {
            &self.first
        };
        let order = json!({"contains": mark, "thinking": thought});
        fake.expect(order).await;
        let mut body = json!({"message": mark, "model": model});
        if !conversation.is_null() {
            body["conversation_id"] = conversation.clone();
        }
        let answer = self.gateway.chat(&self.key, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let sent = &fake.seen(&mark).await[0]["body"];
        let conversation = answer.json()["data"]["conversation_id"].take();
        (thoughts(sent), conversation)
    }
}

impl Pair {
    /// A block of thinking as the first provider has signed it.
    async fn thought(&self, thought: &str) -> Value {
        let (surface, mark) = (Surface::Messages, mark());
        let order = json!({"contains": mark, "thinking": thought});
        self.first.expect(order).await;
        let body = surface.question(MODEL, &mark, Form::Whole);
        let answer = self
            .gateway
            .answer(&surface.request(&self.key, &body))
            .await;
        let block = answer.json()["content"][0].take();
        assert_eq!(block["type"], "thinking", "{}", answer.text());
        block
    }

    /// Two blocks of the second provider, which stands in for the first.
    async fn thoughts_elsewhere(&self, form: Form) -> Vec<Value> {
        let (surface, mark) = (Surface::Messages, mark());
        let failing = json!({"contains": mark, "status": 500});
        self.first.expect(failing).await;
        let order = json!({"contains": mark, "thinking": "two", "redacted_thinking": SEALED});
        self.second.expect(order).await;
        let body = surface.question(MODEL, &mark, form);
        let request = surface.request(&self.key, &body);
        let answer = self.gateway.answer(&request).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let blocks = match form {
            Form::Whole => answer.json()["content"].as_array().unwrap().clone(),
            Form::Streamed => blocks(&answer.text()),
        };
        let is_thought = |block: &Value| block["type"].as_str().unwrap().ends_with("thinking");
        let thoughts: Vec<Value> = blocks.into_iter().filter(is_thought).collect();
        assert_eq!(thoughts.len(), 2, "{}", answer.text());
        thoughts
    }

    /// Brings the turns back; what is answered, and what of reasoning the two providers were sent.
    async fn bring(&self, turns: &Value, is_down: bool) -> (Answer, [Vec<Value>; 2]) {
        let (surface, mark) = (Surface::Messages, mark());
        if is_down {
            let failing = json!({"contains": mark, "status": 500});
            self.first.expect(failing).await;
        }
        let mut body = surface.question(MODEL, &mark, Form::Whole);
        let mut messages = vec![json!({"role": "user", "content": "so"})];
        messages.extend(turns.as_array().unwrap().iter().cloned());
        messages.push(json!({"role": "user", "content": mark}));
        body["messages"] = json!(messages);
        let request = surface.request(&self.key, &body);
        let answer = self.gateway.answer(&request).await;
        let (first, second) = (self.first.seen(&mark).await, self.second.seen(&mark).await);
        let sent = [first, second].map(|seen| {
            seen.iter()
                .flat_map(|seen| reasoning(&seen["body"]))
                .collect()
        });
        (answer, sent)
    }
}

/// What the second provider has sealed itself.
const SEALED: &str = "c2VhbGVk";

/// The content blocks of a stream.
fn blocks(stream: &str) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    for line in stream.lines() {
        let Some(data) = line.strip_prefix("data: ") else {
            continue;
        };
        let mut event: Value = serde_json::from_str(data).unwrap();
        match event["type"].as_str() {
            Some("content_block_start") => blocks.push(event["content_block"].take()),
            Some("content_block_delta") => {
                let block = blocks.last_mut().unwrap();
                for key in ["thinking", "signature"] {
                    if let Some(piece) = event["delta"][key].as_str() {
                        let before = block[key].as_str().unwrap_or_default();
                        block[key] = json!(format!("{before}{piece}"));
                    }
                }
            }
            _ => {}
        }
    }
    blocks
}

/// The thinking in the turns of a request, sealed or not.
fn reasoning(sent: &Value) -> Vec<Value> {
    let turns = sent["messages"].as_array().unwrap().iter();
    let blocks = turns.flat_map(|turn| turn["content"].as_array().into_iter().flatten());
    let said = blocks.filter_map(|block| match block["type"].as_str() {
        Some("thinking") => Some(block["thinking"].clone()),
        Some("redacted_thinking") => Some(block["data"].clone()),
        _ => None,
    });
    said.collect()
}

/// The thinking in the turns of a request.
fn thoughts(sent: &Value) -> Vec<Value> {
    let turns = sent["messages"].as_array().unwrap().iter();
    let blocks = turns.flat_map(|turn| turn["content"].as_array().into_iter().flatten());
    let thinking = blocks.filter(|block| block["type"] == "thinking");
    thinking.map(|block| block["thinking"].clone()).collect()
}

#[tokio::test]
async fn a_stored_conversation_keeps_the_reasoning_of_each_provider_apart() {
    let pair = Pair::start().await;
    let (sent, conversation) = pair.say(OTHER, "one", &Value::Null).await;
    assert!(sent.is_empty());
    let (sent, _) = pair.say(MODEL, "two", &conversation).await;
    assert!(sent.is_empty(), "{sent:?}");
    let (sent, _) = pair.say(OTHER, "three", &conversation).await;
    assert_eq!(sent, [json!("one")]);
    let (sent, _) = pair.say(MODEL, "four", &conversation).await;
    assert_eq!(sent, [json!("two")]);
}

/// What a caller brings is its first provider's, as far as anybody knows.
#[tokio::test]
async fn a_fallback_on_another_driver_gets_no_reasoning() {
    let pair = Pair::start().await;
    let surface = Surface::Messages;
    let thought = pair.thought("one").await;
    for form in FORMS {
        for is_down in [false, true] {
            let mark = mark();
            if is_down {
                let failing = json!({"contains": mark, "status": 500});
                pair.first.expect(failing).await;
            }
            let mut body = surface.question(MODEL, &mark, form);
            body["messages"] = json!([
                {"role": "user", "content": "so"},
                {"role": "assistant", "content": [thought, {"type": "text", "text": "ok"}]},
                {"role": "user", "content": mark},
            ]);
            let answer = pair
                .gateway
                .answer(&surface.request(&pair.key, &body))
                .await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let asked = &pair.first.seen(&mark).await[0]["body"];
            assert_eq!(thoughts(asked), [json!("one")]);
            let then = pair.second.seen(&mark).await;
            assert_eq!(then.len(), usize::from(is_down));
            for seen in then {
                assert!(thoughts(&seen["body"]).is_empty(), "{seen}");
            }
        }
    }
}

/// As long as an outage lasts, the fallback needs what it thought itself, and the first provider never does.
#[tokio::test]
async fn a_fallback_gets_its_own_reasoning_back() {
    let pair = Pair::start().await;
    let text = json!({"type": "text", "text": "ok"});
    for form in FORMS {
        let mut content = pair.thoughts_elsewhere(form).await;
        content.push(text.clone());
        let turns = json!([{"role": "assistant", "content": content}]);
        for is_down in [true, false] {
            let (answer, [first, second]) = pair.bring(&turns, is_down).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            assert!(first.is_empty(), "{first:?}");
            let own = [json!("two"), json!(SEALED)];
            assert_eq!(second, if is_down { &own[..] } else { &[] }, "{form:?}");
        }
    }
    let forged = json!({"type": "redacted_thinking", "data": "svc_reasoning_AAAA"});
    let turns = json!([{"role": "assistant", "content": [forged, text]}]);
    let (answer, _) = pair.bring(&turns, false).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    let error = answer.json()["error"].take();
    assert_eq!(error["code"], "UNSUPPORTED_PARAMETER", "{error}");
    assert_eq!(error["param"], "messages[1].content[0].data", "{error}");
}

/// A turn that a driver does not get is a turn of the caller's body all the same.
#[tokio::test]
async fn a_place_behind_reasoning_of_another_is_that_of_the_body() {
    let pair = Pair::start().await;
    let thoughts = pair.thoughts_elsewhere(Form::Whole).await;
    let source = json!({"type": "base64", "media_type": "application/msword", "data": "AAAA"});
    let turns = json!([
        {"role": "assistant", "content": thoughts},
        {"role": "user", "content": [
            {"type": "text", "text": "read"}, {"type": "document", "source": source},
        ]},
    ]);
    let (answer, _) = pair.bring(&turns, false).await;
    let error = answer.json();
    assert_eq!(
        error["error"]["param"], "messages[2].content[1].source",
        "{error}"
    );
}

/// Its signature is over what no caller may see, or send.
#[tokio::test]
async fn signed_reasoning_with_nul_goes_back_as_it_was() {
    let pair = Pair::start().await;
    let thought = "one\0or two";
    let (_, conversation) = pair.say(MODEL, thought, &Value::Null).await;
    let (sent, _) = pair.say(MODEL, "three", &conversation).await;
    assert_eq!(sent, [json!(thought)]);
    let block = pair.thought(thought).await;
    assert_eq!(block["thinking"], "one\u{fffd}or two");
    let content = json!([block, {"type": "text", "text": "ok"}]);
    let turns = json!([{"role": "assistant", "content": content}]);
    let (answer, [first, _]) = pair.bring(&turns, false).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(first, [json!(thought)]);
}
