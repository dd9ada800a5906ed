//! Who may call what: every route of the control plane, by every kind of caller that must not.

use serde_json::{Value, json};
use svc_control::ENDPOINTS;
use svc_core::scope::Scope;
use svc_tests::world::World;

use super::{call, data, key_with, request};
use crate::engines::on_both_engines;

on_both_engines! {
    no_route_is_open_to_the_wrong_caller,
}

/// A path with identifiers of the right form that name nothing.
fn filled(path: &str, organization_id: &str) -> String {
    path.replace("{organization}", organization_id)
        .replace("{credential_id}", "agc_00000000000000000000000000")
        .replace("{binding_id}", "bind_00000000000000000000000000")
        .replace("{project}/{alias}/{*path}", "default/ehr/ping")
        .replace(
            "{id}",
            if path.contains("api_keys") {
                "key_00000000000000000000000000"
            } else if path.contains("integrations") {
                "int_00000000000000000000000000"
            } else {
                "agt_00000000000000000000000000"
            },
        )
}

async fn no_route_is_open_to_the_wrong_caller(world: &World) {
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let owner = &organization.key;
    let agent = json!({"name": "a", "scope_grants": Scope::ALL.iter().map(|scope| json!({"scope": scope.word()})).collect::<Value>()});
    let agent = data(world, owner, "POST", "/v1/agents", agent).await["agent"][0]["id"].clone();
    let path = format!("/v1/agents/{}/credentials", agent.as_str().unwrap());
    let credential = data(
        world,
        owner,
        "POST",
        &path,
        json!({"rate_limits": {"per_minute": 10_000}}),
    )
    .await;
    let credential = credential["credential"].as_str().unwrap().to_owned();
    let revoked = key_with(world, &organization, &["control:read"]).await;
    let keys = data(world, owner, "GET", "/v1/api_keys?limit=1", Value::Null).await;
    data(
        world,
        owner,
        "DELETE",
        &format!("/v1/api_keys/{}", keys[0]["id"].as_str().unwrap()),
        Value::Null,
    )
    .await;
    assert!(ENDPOINTS.len() > 10);
    for endpoint in ENDPOINTS {
        let method = endpoint.method.as_str();
        let path = filled(endpoint.path, &organization.id);
        let label = format!("{method} {path}");
        let nobody = svc_tests::wire::Request::new(method, &path);
        assert_eq!(world.gateway.answer(&nobody).await.status, 401, "{label}");
        assert_eq!(
            call(world, &revoked, method, &path, Value::Null)
                .await
                .status,
            401,
            "{label}"
        );
        let others: Vec<&str> = Scope::ALL
            .iter()
            .filter(|scope| **scope != endpoint.scope)
            .map(|scope| scope.word())
            .collect();
        let without = key_with(world, &organization, &others).await;
        let refused = call(world, &without, method, &path, Value::Null).await;
        assert_eq!(refused.status, 403, "{label}: {}", refused.text());
        let error = refused.json()["error"].clone();
        assert_eq!(
            error["details"]["required_scope"],
            endpoint.scope.word(),
            "{label}"
        );
        let refused = call(world, &credential, method, &path, Value::Null).await;
        let error = refused.json()["error"].clone();
        assert_eq!(
            (refused.status, error["code"].as_str()),
            (403, Some("MISSING_SCOPE")),
            "{label}"
        );
        assert_eq!(
            error["details"]["reason"], "agent_credential_not_allowed",
            "{label}"
        );
        let stranger = world.organization();
        if endpoint.path.contains('{') {
            let answer = world
                .gateway
                .answer(&request(&stranger.key, method, &path, &Value::Null))
                .await;
            let wanted = if endpoint.path.contains("{organization}") {
                403
            } else {
                404
            };
            assert!(
                answer.status == wanted || answer.status == 422,
                "{label}: {}",
                answer.text()
            );
        }
    }
}
