//! `Svc-Version`: resolution, echo, refusal, and the frozen shapes of every version (contract 5).

use serde_json::{Value, json};
use svc_core::version::ApiVersion;
use svc_tests::fake::mark;
use svc_tests::gateway::{chat, whole};
use svc_tests::golden;
use svc_tests::sse::Events;
use svc_tests::wire::Request;
use svc_tests::world::World;

use crate::engines::{on_both_engines, on_sqlite};

on_both_engines! { a_keys_own_version_comes_before_the_deployments }

on_sqlite! {
    every_version_keeps_its_shapes,
    the_resolved_version_is_echoed_from_its_step_on,
    other_versions_are_refused,
}

async fn every_version_keeps_its_shapes(world: &World) {
    let organization = world.organization();
    for version in ApiVersion::ALL {
        let at = |name: &str| format!("{version}_{name}.txt");
        let mark = mark();
        world
            .fake
            .expect(json!({"contains": mark, "times": 2, "text": "A quokka hops about."}))
            .await;
        let body = json!({"message": mark});
        let pinned = |request: Request| request.header("Svc-Version", version.word());
        let answer = world
            .gateway
            .answer(&pinned(chat(&organization.key, whole(body.clone()))))
            .await;
        golden::compare(&at("chat_whole"), &golden::answer(&answer));
        let id = answer.json()["data"]["message"]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let stream = Events::of(
            world
                .gateway
                .ask(&pinned(chat(&organization.key, body)))
                .await,
        );
        golden::compare(&at("chat_stream"), &golden::events(&stream.rest().await));
        let message =
            Request::new("GET", &format!("/v1/ai/messages/{id}")).bearer(&organization.key);
        golden::compare(
            &at("message"),
            &golden::answer(&world.gateway.answer(&pinned(message)).await),
        );
        let bad = pinned(chat(
            &organization.key,
            json!({"message": "x", "max_tokens": 0}),
        ));
        golden::compare(
            &at("error"),
            &golden::answer(&world.gateway.answer(&bad).await),
        );
    }
}

async fn a_keys_own_version_comes_before_the_deployments(world: &World) {
    let organization = world.organization();
    let sql = "UPDATE api_keys SET default_version = '2026-04-01' WHERE id = $1";
    world
        .gateway
        .database
        .change(sql, &[&organization.key_id])
        .await;
    let request = chat(&organization.key, whole(json!({"message": mark()})));
    assert_eq!(
        world.gateway.answer(&request).await.header("svc-version"),
        Some("2026-04-01")
    );
    let request = request.header("Svc-Version", "2026-07-31");
    assert_eq!(
        world.gateway.answer(&request).await.header("svc-version"),
        Some("2026-07-31")
    );
}

async fn the_resolved_version_is_echoed_from_its_step_on(world: &World) {
    let organization = world.organization();
    let limited = world.organization_with(&["--scopes", "control:read"]);
    let pinned = |request: Request| request.header("Svc-Version", "2026-04-01");
    let echo = async |request: Request| {
        let answer = world.gateway.answer(&pinned(request)).await;
        (
            answer.status,
            answer.header("svc-version").map(str::to_owned),
        )
    };
    let version = Some("2026-04-01".to_owned());
    assert_eq!(
        echo(chat(&limited.key, json!({"message": "x"}))).await,
        (403, version.clone())
    );
    assert_eq!(
        echo(chat(&organization.key, json!({}))).await,
        (422, version.clone())
    );
    let missing = Request::new("GET", "/v1/ai/messages/msg_01ARZ3NDEKTSV4RRFFQ69G5FAV")
        .bearer(&organization.key);
    assert_eq!(echo(missing).await, (404, version));
    // Steps 1, 2 and 4 come before it.
    assert_eq!(echo(Request::new("GET", "/v1/nothing")).await, (404, None));
    assert_eq!(echo(Request::new("GET", "/v1/ai/chat")).await, (405, None));
    assert_eq!(
        echo(chat("svc_api_live_nobody", json!({}))).await,
        (401, None)
    );
}

async fn other_versions_are_refused(world: &World) {
    let organization = world.organization();
    let message = mark();
    let refused = async |versions: &[&str]| {
        let mut request = chat(&organization.key, whole(json!({"message": message})));
        for version in versions {
            request = request.header("Svc-Version", version);
        }
        let answer = world.gateway.answer(&request).await;
        assert_eq!(
            (answer.status, answer.header("svc-version")),
            (400, None),
            "{versions:?}: {}",
            answer.text()
        );
        let error = answer.json()["error"].clone();
        assert_eq!(
            (&error["code"], &error["param"]),
            (&json!("INVALID_API_VERSION"), &json!("Svc-Version"))
        );
        let supported: Vec<Value> = ApiVersion::ALL
            .iter()
            .map(|version| json!(version.word()))
            .collect();
        assert_eq!(error["details"]["supported"], json!(supported));
        error["details"]["requested"].clone()
    };
    for version in [
        "2026-04-02",
        "2099-01-01",
        "latest",
        "2026-4-1",
        "2026-07-12, 2026-07-12",
    ] {
        assert_eq!(refused(&[version]).await, version);
    }
    refused(&[""]).await;
    refused(&["2026-07-12", "2026-07-12"]).await;
    assert!(world.fake.seen(&message).await.is_empty());
}
