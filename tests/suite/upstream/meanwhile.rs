//! What changes while a first provider thinks and then fails: the next one gets a request only if it would pass its gates
//! by then, and if they would read it as they did.

use futures_util::future::join;
use serde_json::{Value, json};
use svc_tests::browser::Browser;
use svc_tests::fake::{PROVIDER_KEY, mark};
use svc_tests::gateway::{chat, whole};
use svc_tests::organization::{Organization, bootstrap};
use svc_tests::patience::eventually;
use svc_tests::wire::{Answer, Request};
use svc_tests::{books, program};

use super::route::{MODEL, Pair};
use crate::control::meanwhile::told;

/// How long the first provider thinks: enough for a change through the gateway itself, which then knows of it.
const THINKS_MS: u64 = 700;
/// What another process changes is known after 2 s (contract 19.5).
const THINKS_LONG_MS: u64 = 2_600;

impl Pair {
    fn organization_with(&self, options: &[&str]) -> Organization {
        bootstrap(&self.gateway, options)
    }

    async fn call(&self, key: &str, method: &str, path: &str, body: Value) -> Value {
        let request = Request::new(method, path).bearer(key);
        let request = match body.is_null() {
            true => request,
            false => request.json(&body),
        };
        let answer = self.gateway.answer(&request).await;
        assert!((200..=201).contains(&answer.status), "{}", answer.text());
        answer.json()["data"].clone()
    }

    /// Asks what has this mark in it; something changes once the first provider has it.
    async fn meanwhile(
        &self,
        mark: &str,
        thinks_ms: u64,
        asking: impl Future<Output = Answer>,
        change: impl AsyncFnOnce(),
    ) -> Answer {
        self.sound().await;
        let slow = json!({"contains": mark, "status": 529, "delay_before_head_ms": thinks_ms});
        self.first.expect(slow).await;
        let changing = async {
            self.first.received(mark).await;
            change().await;
        };
        join(asking, changing).await.0
    }

    async fn second_saw(&self, mark: &str) -> usize {
        self.second.seen(mark).await.len()
    }
}

fn question(mark: &str) -> Value {
    whole(json!({"model": MODEL, "message": format!("{mark} SSN 536-22-1234")}))
}

#[tokio::test]
async fn what_holds_no_more_keeps_a_request_from_the_next_provider() {
    let pair = Pair::start().await;
    for (setting, code, event) in [
        (Some(json!({"ai_paused": true})), "AI_PAUSED", "blocked"),
        (Some(json!({"phi_mode": "block"})), "PHI_BLOCKED", "blocked"),
        (None, "INVALID_API_KEY", "failed"),
    ] {
        let organization = pair.organization_with(&[]);
        let owner = &organization.key;
        let scopes = json!({"name": "asks", "scopes": ["ai:chat"]});
        let asks = pair.call(owner, "POST", "/v1/api_keys", scopes).await;
        let mark = mark();
        let request = chat(asks["key"].as_str().unwrap(), question(&mark));
        let change = async || {
            match setting {
                Some(setting) => {
                    let path = format!("/v1/orgs/{}", organization.id);
                    pair.call(owner, "PATCH", &path, setting).await
                }
                None => {
                    let path = format!("/v1/api_keys/{}", asks["id"].as_str().unwrap());
                    pair.call(owner, "DELETE", &path, Value::Null).await
                }
            };
        };
        let asking = pair.gateway.answer(&request);
        let answer = pair.meanwhile(&mark, THINKS_MS, asking, change).await;
        assert_eq!(told(&answer).1, code, "{}", answer.text());
        assert_eq!(pair.second_saw(&mark).await, 0, "{code}");
        let database = &pair.gateway.database;
        let (_, terminal) = books::pair(database, answer.request_id()).await;
        assert_eq!(terminal["event"], format!("inference.{event}"));
        assert_eq!(books::document(&terminal)["outcome"]["code"], code);
        books::check(database, &organization.id).await;
    }
}

#[tokio::test]
async fn an_agreement_that_ended_keeps_a_request_from_the_next_provider() {
    let pair = Pair::start().await;
    let organization = pair.organization_with(&[]);
    let mark = mark();
    let request = chat(&organization.key, question(&mark));
    let change = async || {
        let mut command = pair.gateway.command();
        command.args(["admin", "terminate-baa", "--organization", &organization.id]);
        let ended = tokio::task::spawn_blocking(move || program::run(&mut command));
        assert!(ended.await.unwrap().status.success());
    };
    let asking = pair.gateway.answer(&request);
    let answer = pair.meanwhile(&mark, THINKS_LONG_MS, asking, change).await;
    assert_eq!(told(&answer), (402, "BAA_REQUIRED".to_owned()));
    assert_eq!(pair.second_saw(&mark).await, 0);
    books::check(&pair.gateway.database, &organization.id).await;
}

#[tokio::test]
async fn a_count_is_kept_from_the_next_provider_too() {
    let pair = Pair::start().await;
    let organization = pair.organization_with(&[]);
    let mark = mark();
    let body = json!({"model": MODEL, "messages": [{"role": "user", "content": mark}]});
    let request = Request::new("POST", "/v1/messages/count_tokens")
        .bearer(&organization.key)
        .json(&body);
    let path = format!("/v1/orgs/{}", organization.id);
    let change = async || {
        let paused = json!({"ai_paused": true});
        pair.call(&organization.key, "PATCH", &path, paused).await;
    };
    let asking = pair.gateway.answer(&request);
    let answer = pair.meanwhile(&mark, THINKS_MS, asking, change).await;
    assert_eq!(
        answer.json()["error"]["code"],
        "AI_PAUSED",
        "{}",
        answer.text()
    );
    assert_eq!(pair.second_saw(&mark).await, 0);
    books::count(&pair.gateway.database, answer.request_id()).await;
}

#[tokio::test]
async fn a_person_at_the_playground_is_found_again() {
    let pair = Pair::start().await;
    for is_paused in [true, false] {
        let organization = pair.organization_with(&[]);
        let mut browser = Browser::owner(&pair.gateway, &organization).await;
        let page = browser.get("/ui/playground").await;
        let mut fields = page.hidden("/ui/playground");
        let mark = mark();
        for (name, value) in [("model", MODEL), ("system", ""), ("message", mark.as_str())] {
            fields.push((name.to_owned(), value.to_owned()));
        }
        let request = browser.form("/ui/playground", &fields);
        let path = format!("/v1/orgs/{}", organization.id);
        let change = async || {
            let paused = json!({"ai_paused": is_paused});
            pair.call(&organization.key, "PATCH", &path, paused).await;
        };
        let asking = pair.gateway.answer(&request);
        pair.meanwhile(&mark, THINKS_MS, asking, change).await;
        let seen = pair.second_saw(&mark).await;
        assert_eq!(seen, usize::from(!is_paused));
    }
}

/// As for a request that finds it so: what a later route cannot do is not the caller's doing.
#[tokio::test]
async fn a_revoked_credential_is_not_sent_to_the_next_provider() {
    let pair = Pair::start().await;
    for is_revoked in [true, false] {
        let organization = pair.organization_with(&["--features", "integrations"]);
        let key = &organization.key;
        let own = json!({
            "type": "custom_http", "name": "own", "base_url": pair.second.base_url(),
            "auth": {"scheme": "header", "header_name": "x-api-key"}, "secret": PROVIDER_KEY,
        });
        let made = pair.call(key, "POST", "/v1/integrations", own).await;
        let path = format!("/v1/integrations/{}", made[0]["id"].as_str().unwrap());
        let alias = json!({"project_id": "default", "alias": "west"});
        pair.call(key, "POST", &format!("{path}/bindings"), alias)
            .await;
        let mark = mark();
        let request = chat(key, question(&mark));
        let change = async || {
            if is_revoked {
                pair.call(key, "DELETE", &path, Value::Null).await;
            }
        };
        let asking = pair.gateway.answer(&request);
        let answer = pair.meanwhile(&mark, THINKS_MS, asking, change).await;
        let (status, seen) = if is_revoked { (502, 0) } else { (200, 1) };
        assert_eq!(answer.status, status, "{}", answer.text());
        assert_eq!(pair.second_saw(&mark).await, seen);
        books::check(&pair.gateway.database, &organization.id).await;
    }
}

/// Another set would have read the request in another way: the caller hears of the first failure, and may ask again.
#[tokio::test]
async fn a_new_policy_set_ends_the_attempts() {
    let pair = Pair::start().await;
    let organization = pair.organization_with(&[]);
    let mark = mark();
    let request = chat(&organization.key, question(&mark));
    let change = async || {
        let (from, to) = ("action = \"redact\"", "action = \"block\"");
        pair.policies.edit("phi.toml", from, to);
        eventually("another set", async || {
            let sample = "svc_policy_reloads_total{outcome=\"accepted\"}";
            (pair.gateway.metric(sample).await >= 1.0).then_some(())
        })
        .await;
    };
    let asking = pair.gateway.answer(&request);
    let answer = pair.meanwhile(&mark, THINKS_LONG_MS, asking, change).await;
    assert_eq!(
        told(&answer),
        (502, "INFERENCE_UPSTREAM_FAILURE".to_owned())
    );
    assert_eq!(answer.json()["error"]["retryable"], true);
    assert_eq!(pair.second_saw(&mark).await, 0);
    let again = pair.gateway.answer(&request).await;
    assert_eq!(told(&again), (403, "PHI_BLOCKED".to_owned()));
    books::check(&pair.gateway.database, &organization.id).await;
}
