//! The control plane: bytes in, bytes out, rows in the audit log, on both engines.

mod agents;
mod apps;
mod audit;
mod audit_export;
mod baa;
mod end_users;
mod erasure;
mod idempotency;
mod integrations;
mod keys;
pub(crate) mod meanwhile;
mod organization;
mod provider_status;
mod records;

use serde_json::Value;
use svc_tests::organization::Organization;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

/// A call of the control plane; `body` is null where there is none.
fn request(key: &str, method: &str, path: &str, body: &Value) -> Request {
    let request = Request::new(method, path).bearer(key);
    if body.is_null() {
        request
    } else {
        request.json(body)
    }
}

async fn call(world: &World, key: &str, method: &str, path: &str, body: Value) -> Answer {
    world
        .gateway
        .answer(&request(key, method, path, &body))
        .await
}

/// What a call that must succeed gives as `data`.
pub(crate) async fn data(world: &World, key: &str, method: &str, path: &str, body: Value) -> Value {
    let answer = call(world, key, method, path, body).await;
    assert!((200..=201).contains(&answer.status), "{}", answer.text());
    let envelope = answer.json();
    assert_eq!(envelope["success"], true);
    assert_eq!(envelope["meta"]["request_id"], answer.request_id());
    envelope["data"].clone()
}

/// The code of a call that must fail with this status.
async fn code(
    world: &World,
    key: &str,
    method: &str,
    path: &str,
    body: Value,
    status: u16,
) -> String {
    let answer = call(world, key, method, path, body).await;
    assert_eq!(answer.status, status, "{}", answer.text());
    let code = &answer.json()["error"]["code"];
    code.as_str().expect("a code").to_owned()
}

/// A key of the organization with these scopes.
async fn key_with(world: &World, organization: &Organization, scopes: &[&str]) -> String {
    let body = serde_json::json!({"name": "of a test", "scopes": scopes});
    let made = data(world, &organization.key, "POST", "/v1/api_keys", body).await;
    made["key"].as_str().expect("a key").to_owned()
}
