//! Endpoints that are switched off, removed and replayed to.

use serde_json::{Value, json};
use svc_tests::patience::eventually;
use svc_tests::policies::Policies;
use svc_tests::wire::Request;
use svc_tests::{postgres, program};

use super::{Hooks, on_each};

#[tokio::test]
async fn what_was_held_or_given_up_is_sent_again_with_its_id_and_body() {
    for hooks in on_each().await {
        let endpoint = hooks.endpoint(&hooks.sink.url("/flaky/5")).await;
        let path = format!("/v1/webhooks/{}", endpoint["id"].as_str().unwrap());
        hooks.publish(2).await;
        hooks.settled(&endpoint, 2, "exhausted").await;
        let off = hooks
            .data("PATCH", &path, json!({"status": "disabled"}))
            .await;
        assert_eq!(
            (&off["status"], &off["disabled_reason"]),
            (&json!("disabled"), &json!("manual"))
        );
        hooks.publish(1).await;
        hooks.settled(&endpoint, 1, "held").await;
        let matching = json!({"endpoint_id": endpoint["id"], "from": "2026-01-01T00:00:00Z"});
        let replay = "/v1/webhooks/deliveries/bulk-replay";
        let refused = hooks
            .data("POST", replay, json!({"filter": matching}))
            .await;
        assert_eq!(
            (&refused["matched"], &refused["enqueued"]),
            (&json!(3), &json!(0))
        );
        assert_eq!(refused["skipped"][0]["reason"], "endpoint_disabled");
        let on = hooks
            .data("PATCH", &path, json!({"status": "enabled"}))
            .await;
        assert_eq!(on["health"]["consecutive_failures"], 0);
        let body = json!({"filter": matching, "dry_run": true});
        let would = hooks.data("POST", replay, body).await;
        assert_eq!(
            (&would["status"], &would["enqueued"], &would["id"]),
            (&json!("dry_run"), &json!(3), &Value::Null)
        );
        let before = hooks.sink.received("/flaky");
        let answer = hooks
            .call("POST", replay, json!({"filter": matching}))
            .await;
        assert_eq!(answer.status, 202);
        let report = answer.json()["data"].take();
        assert_eq!(
            (&report["status"], &report["enqueued"]),
            (&json!("queued"), &json!(3))
        );
        // Two come for the sixth time; the one that was held has failed five times by now.
        hooks.settled(&endpoint, 2, "delivered").await;
        hooks.settled(&endpoint, 1, "exhausted").await;
        let received = hooks.sink.received("/flaky");
        for again in &received {
            if let Some(first) = before.iter().find(|one| one.id() == again.id()) {
                assert_eq!(first.body, again.body);
            }
        }
        let id = before[0].id();
        let delivery = hooks.delivery(&json!(id)).await;
        assert_eq!(
            (&delivery["attempt_count"], &delivery["max_attempts"]),
            (&json!(6), &json!(10))
        );
        assert_eq!(delivery["attempts"][5]["trigger"], "replay");
        let path_of_report = format!(
            "/v1/webhooks/bulk-replays/{}",
            report["id"].as_str().unwrap()
        );
        let read = hooks.data("GET", &path_of_report, Value::Null).await;
        assert_eq!(
            (&read["status"], &read["id"]),
            (&json!("completed"), &report["id"])
        );
        let ids = json!({"delivery_ids": [id, "01JD0000000000000000000000"]});
        let some = hooks.data("POST", replay, ids).await;
        assert_eq!(some["skipped"][0]["reason"], "not_found");
        hooks.settled(&endpoint, 2, "delivered").await;
        let gone = hooks.data("DELETE", &path, Value::Null).await;
        assert_eq!(
            gone,
            json!({"id": endpoint["id"], "object": "webhook_endpoint", "deleted": true})
        );
        assert_eq!(hooks.call("GET", &path, Value::Null).await.status, 404);
        let refused = hooks
            .data("POST", replay, json!({"delivery_ids": [id]}))
            .await;
        assert_eq!(refused["skipped"][0]["reason"], "endpoint_deleted");
    }
}

#[tokio::test]
async fn what_happens_while_webhooks_are_switched_off_is_held() {
    for hooks in on_each().await {
        let endpoint = hooks.endpoint(&hooks.sink.url("/in")).await;
        let settings = format!("/v1/orgs/{}", hooks.organization.id);
        let off = json!({"features": {"webhooks": false}});
        hooks.data("PATCH", &settings, off).await;
        let refused = hooks.call("GET", "/v1/webhooks", Value::Null).await;
        assert_eq!(refused.status, 403, "{}", refused.text());
        let error = &refused.json()["error"];
        assert_eq!(error["code"], "FEATURE_NOT_AVAILABLE");
        let details = json!({"reason": "switched_off", "required_tier": null});
        assert_eq!(error["details"], details);
        hooks.publish(1).await;
        let on = json!({"features": {"webhooks": null}});
        hooks.data("PATCH", &settings, on).await;
        hooks.settled(&endpoint, 1, "held").await;
        assert!(hooks.sink.received("/in").is_empty());
        hooks.publish(1).await;
        hooks.settled(&endpoint, 1, "delivered").await;
    }
}

/// What is left of webhooks under a plan without them can be looked at and ended.
#[tokio::test]
async fn what_happens_under_a_plan_without_webhooks_is_held() {
    let policies = Policies::copy();
    policies.edit("plans.toml", "features = [\"webhooks\"]", "features = []");
    let database = tokio::task::spawn_blocking(postgres::database);
    for database in [None, Some(database.await.unwrap())] {
        let hooks = Hooks::with(database, &[], |setup| setup.policies(policies.path())).await;
        let endpoint = hooks.endpoint(&hooks.sink.url("/in")).await;
        let path = format!("/v1/webhooks/{}", endpoint["id"].as_str().unwrap());
        let mut command = hooks.world.gateway.command();
        command.args(["admin", "set-plan", "--tier", "evaluation"]);
        let set = program::run(command.args(["--organization", &hooks.organization.id]));
        assert!(set.status.success(), "{}", program::text(&set.stderr));
        let rotate = format!("{path}/rotate-secret");
        eventually("the plan", async || {
            let rotated = hooks.call("POST", &rotate, json!({})).await;
            let error = rotated.json()["error"].clone();
            (error["code"] == "FEATURE_NOT_AVAILABLE").then_some(())
        })
        .await;
        // Held where it waits, and where it happens.
        hooks.publish(1).await;
        let app = hooks
            .data("POST", "/v1/apps", json!({"name": "Intake"}))
            .await;
        let entity = format!("/v1/apps/{}/entities/visit", app["id"].as_str().unwrap());
        let fields = json!({"fields": [{"key": "mrn", "type": "string"}]});
        hooks.data("PUT", &entity, fields).await;
        let held = hooks.settled(&endpoint, 2, "held").await;
        assert!(hooks.sink.received("/in").is_empty());
        let again = json!({"delivery_ids": [held[0]["id"]]});
        for (method, path, body) in [
            (
                "PATCH",
                path.as_str(),
                json!({"url": hooks.sink.url("/other")}),
            ),
            ("PATCH", &path, json!({"status": "enabled"})),
            ("POST", "/v1/webhooks/deliveries/bulk-replay", again),
        ] {
            let refused = hooks.call(method, path, body).await;
            let error = refused.json()["error"].clone();
            assert_eq!(error["details"]["required_tier"], "standard", "{path}");
        }
        let listed = hooks.data("GET", "/v1/webhooks", Value::Null).await;
        assert_eq!(listed[0]["id"], endpoint["id"]);
        let off = json!({"status": "disabled"});
        let disabled = hooks.data("PATCH", &path, off).await;
        assert_eq!(disabled["status"], "disabled");
        hooks.data("DELETE", &path, Value::Null).await;
        let nothing = hooks.call("GET", "/v1/webhooks", Value::Null).await;
        assert_eq!(nothing.status, 403, "{}", nothing.text());
    }
}

#[tokio::test]
async fn what_was_delivered_once_says_so_whatever_becomes_of_a_replay() {
    for hooks in on_each().await {
        let endpoint = hooks.endpoint(&hooks.sink.url("/in")).await;
        let path = format!("/v1/webhooks/{}", endpoint["id"].as_str().unwrap());
        hooks.publish(1).await;
        let first = hooks.settled(&endpoint, 1, "delivered").await.remove(0);
        assert!(first["delivered_at"].is_string());
        let replay = "/v1/webhooks/deliveries/bulk-replay";
        let again = json!({"delivery_ids": [first["id"]]});
        for (url, status) in [("/flaky/100", "exhausted"), ("/in", "delivered")] {
            let url = json!({"url": hooks.sink.url(url)});
            hooks.data("PATCH", &path, url).await;
            hooks.data("POST", replay, again.clone()).await;
            let replayed = hooks.settled(&endpoint, 1, status).await.remove(0);
            assert_eq!(replayed["delivered_at"], first["delivered_at"], "{status}");
        }
    }
}

#[tokio::test]
async fn what_is_held_is_cancelled_with_its_endpoint() {
    for hooks in on_each().await {
        let endpoint = hooks.endpoint(&hooks.sink.url("/in")).await;
        let other = hooks.endpoint(&hooks.sink.url("/in")).await;
        let path = |endpoint: &Value| format!("/v1/webhooks/{}", endpoint["id"].as_str().unwrap());
        for endpoint in [&endpoint, &other] {
            let off = json!({"status": "disabled"});
            hooks.data("PATCH", &path(endpoint), off).await;
        }
        hooks.publish(2).await;
        hooks.settled(&endpoint, 2, "held").await;
        hooks.data("DELETE", &path(&endpoint), Value::Null).await;
        let mut ids = Vec::new();
        for delivery in hooks.settled(&endpoint, 2, "cancelled").await {
            let read = hooks.delivery(&delivery["id"]).await;
            assert_eq!(read["status"], "cancelled");
            ids.push(delivery["id"].clone());
        }
        let of = |status: &str| {
            let id = endpoint["id"].as_str().unwrap();
            format!("/v1/webhooks/deliveries?endpoint_id={id}&status={status}")
        };
        let held = hooks.data("GET", &of("held"), Value::Null).await;
        assert_eq!(held, json!([]));
        let both = format!("{}&status=held", of("cancelled"));
        let cancelled = hooks.data("GET", &both, Value::Null).await;
        assert_eq!(cancelled.as_array().unwrap().len(), 2);
        // What was held elsewhere stays so.
        hooks.settled(&other, 2, "held").await;
        let replay = "/v1/webhooks/deliveries/bulk-replay";
        let wanted = json!({"delivery_ids": ids});
        let report = hooks.data("POST", replay, wanted).await;
        assert_eq!(report["skipped"][0]["reason"], "endpoint_deleted");
        let matching = json!({"endpoint_id": endpoint["id"], "from": "2026-01-01T00:00:00Z"});
        let usual = hooks
            .data("POST", replay, json!({"filter": matching}))
            .await;
        assert_eq!(usual["matched"], 0);
    }
}

#[tokio::test]
async fn every_problem_of_a_request_is_told() {
    let hooks = super::Hooks::start(None).await;
    let replay = "/v1/webhooks/deliveries/bulk-replay";
    for (path, body, fields) in [
        (
            "/v1/webhooks",
            json!({"url": "ftp://x", "events": ["record.made", "*", 5], "app_id": "x", "entity_keys": [],
                   "max_in_flight": 51, "extra": 1}),
            &[
                "url",
                "events[0]",
                "events[1]",
                "events[2]",
                "app_id",
                "entity_keys",
                "max_in_flight",
                "extra",
            ][..],
        ),
        ("/v1/webhooks", json!({}), &["url", "events"]),
        (replay, json!({}), &["$body"]),
        (
            replay,
            json!({"delivery_ids": [], "filter": {"status": ["lost"], "from": "yesterday"}}),
            &[
                "$body",
                "delivery_ids",
                "filter.endpoint_id",
                "filter.from",
                "filter.status[0]",
            ],
        ),
        (
            replay,
            json!({"delivery_ids": ["a", "b", "a"]}),
            &["delivery_ids[2]"],
        ),
    ] {
        let refused = hooks.call("POST", path, body).await;
        assert_eq!(refused.status, 422);
        let details = refused.json()["error"]["details"].take();
        for field in fields {
            assert!(details.get(*field).is_some(), "{field}: {details}");
        }
    }
    let endpoint = hooks.endpoint(&hooks.sink.url("/in")).await;
    let path = format!(
        "/v1/webhooks/{}/rotate-secret",
        endpoint["id"].as_str().unwrap()
    );
    let refused = hooks
        .call("POST", &path, json!({"expire_previous_in_hours": 169}))
        .await;
    assert_eq!(refused.json()["error"]["param"], "expire_previous_in_hours");
    for _ in 1..50 {
        hooks.endpoint(&hooks.sink.url("/in")).await;
    }
    let body = json!({"url": hooks.sink.url("/in"), "events": ["*"]});
    let refused = hooks.call("POST", "/v1/webhooks", body).await;
    assert_eq!(refused.status, 422, "at most 50");
}

#[tokio::test]
async fn a_filter_is_about_an_app_and_entities_that_there_can_be() {
    let hooks = super::Hooks::start(None).await;
    let stranger = hooks.world.organization();
    let request = Request::new("POST", "/v1/apps").bearer(&stranger.key);
    let request = request.json(&json!({"name": "Theirs"}));
    let theirs = hooks.world.gateway.answer(&request).await.json();
    let theirs = theirs["data"]["id"].clone();
    assert!(theirs.is_string());
    let ours = hooks
        .data("POST", "/v1/apps", json!({"name": "Ours"}))
        .await;
    let ours = ours["id"].clone();
    let wanted = json!({"url": hooks.sink.url("/in"), "events": ["*"], "app_id": ours,
                        "entity_keys": ["patient"]});
    let made = hooks.data("POST", "/v1/webhooks", wanted.clone()).await;
    let path = format!("/v1/webhooks/{}", made["id"].as_str().unwrap());
    for (field, value, param) in [
        ("app_id", theirs, "app_id"),
        ("app_id", json!("01JD0000000000000000000000"), "app_id"),
        (
            "entity_keys",
            json!(["patient", "Patient"]),
            "entity_keys[1]",
        ),
        ("entity_keys", json!(["a".repeat(41)]), "entity_keys[0]"),
        ("entity_keys", json!(["a", "b", "a"]), "entity_keys[2]"),
    ] {
        let mut other = wanted.clone();
        other[field] = value.clone();
        let mut change = json!({});
        change[field] = value;
        for (method, path, body) in [
            ("POST", "/v1/webhooks", other),
            ("PATCH", path.as_str(), change),
        ] {
            let refused = hooks.call(method, path, body).await;
            let found = refused.json()["error"]["param"].take();
            assert_eq!((refused.status, found), (422, json!(param)), "{method}");
        }
    }
    let same = hooks.data("PATCH", &path, json!({"app_id": ours})).await;
    assert_eq!(same["app_id"], ours);
    let all = hooks.data("PATCH", &path, json!({"app_id": null})).await;
    assert_eq!(all["app_id"], Value::Null);
}
