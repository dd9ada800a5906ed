//! A published version never changes shape for a caller who pins it: the answer of every operation in every version
//! is frozen in `tests/golden/version/` (contract 5).

use serde_json::Value;
use svc_core::version::ApiVersion;
use svc_tests::golden;
use svc_tests::openapi::document;
use svc_tests::wire::Answer;
use svc_tests::world::World;

use super::{delivery, file, organization, path, request, request_with};
use crate::engines::on_worlds_of_their_own;

on_worlds_of_their_own! { every_operation_keeps_its_shape_in_every_version }

async fn every_operation_keeps_its_shape_in_every_version(world: &World) {
    for version in ApiVersion::ALL {
        let organization = organization(world);
        for operation in document().operations() {
            // What another service answers is not ours to freeze, and what takes no credential has no versions.
            if operation.successes().is_empty() || operation.gate == "own" {
                continue;
            }
            let place = path(world, &organization, &operation.path).await;
            let takes_pages = has_cursor(&operation.body["parameters"]);
            if takes_pages {
                // One member shows the shape; which others there are is the walk's matter.
                let makes_one = document().operation("POST", &place);
                if let Some(makes_one) = makes_one.filter(|one| one.path == operation.path) {
                    let making = request(makes_one, &place).bearer(&organization.key);
                    assert_eq!(world.gateway.answer(&making).await.status, 201);
                }
            }
            if operation.path == "/v1/webhooks/deliveries" {
                delivery(world, &organization).await;
            }
            let page: &[&str] = if takes_pages { &["limit=1"] } else { &[] };
            let request = request_with(operation, &place, page).bearer(&organization.key);
            let request = request.header("Svc-Version", version.word());
            let answer = world.gateway.answer(&request).await;
            let is_expected = operation.successes().contains(&answer.status);
            assert!(is_expected, "{}", answer.text());
            assert_eq!(answer.header("svc-version"), Some(version.word()));
            let name = format!("version/{version}/{}.txt", file(operation));
            golden::compare(&name, &golden::answer(&masked(answer, takes_pages)));
        }
    }
}

fn has_cursor(parameters: &Value) -> bool {
    let parameters = parameters.as_array().into_iter().flatten();
    parameters
        .map(|parameter| document().resolve(parameter))
        .any(|parameter| parameter["name"] == "cursor")
}

/// What differs from run to run besides ids and times: secrets, how long it took, and what else there is.
fn masked(mut answer: Answer, takes_pages: bool) -> Answer {
    for (name, value) in &mut answer.headers {
        if OF_A_DOCUMENT.contains(&name.as_str()) {
            "*".clone_into(value);
        }
    }
    let is_json = answer.header("content-type") == Some("application/json");
    if !is_json {
        answer.body.clear();
        return answer;
    }
    let mut body = answer.json();
    mask(&mut body);
    if takes_pages {
        body["meta"]["pagination"]["has_more"] = Value::from("<boolean>");
        body["meta"]["pagination"]["next_cursor"] = Value::from("<cursor>");
    }
    answer.body = body.to_string().into_bytes();
    answer
}

/// Headers that are about bytes with times and ids in them.
const OF_A_DOCUMENT: &[&str] = &["etag", "repr-digest"];

const OF_THE_RUN: &[&str] = &[
    "hint",
    "token",
    "token_hint",
    "key",
    "credential",
    "client_id",
    "client_secret",
    "slug",
    "wall_time_ms",
    "updated_by",
    "user_agent",
    "credits_used",
    "credits_remaining",
    "spend_usd",
    "sonnet_equivalent_tokens",
    "current_credits",
    "current_spend_usd",
    "input",
    "output",
    "total",
    "succeeded",
    "agent_actions",
    "api_agent_actions",
    "leaf_index",
    "leaf_hash",
    "tree_size",
    "requests",
    "p50",
    "p95",
    "digest",
    "size_bytes",
    "sha256",
    "key_id",
    "value",
    "checkpoint",
    "to",
];

/// As [`OF_THE_RUN`], whatever stands there.
const WHOLE: &[&str] = &["integrity", "hashes"];

fn mask(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(fields) => {
            // Integrations show the end of a secret that the request holds, endpoints of webhooks that of a new one.
            let is_endpoint = fields.get("object") == Some(&Value::from("webhook_endpoint"));
            for (name, value) in fields.iter_mut() {
                let is_leaf = !value.is_object() && !value.is_array() && !value.is_null();
                // The end of a secret that the gateway makes; integrations bring their own.
                let is_made = value
                    .as_str()
                    .is_some_and(|text| text.starts_with("svc_cs_"));
                let is_new = is_endpoint && ["secret", "secret_hint"].contains(&name.as_str());
                let is_made = is_made || is_new;
                let is_of_the_run = is_leaf && (is_made || OF_THE_RUN.contains(&name.as_str()));
                if is_of_the_run || WHOLE.contains(&name.as_str()) {
                    *value = Value::from(format!("<{name}>"));
                } else {
                    mask(value);
                }
            }
        }
        _ => {}
    }
}
