//! A delivery as the interface has it: its headers, its body, its signatures; and what happens to one that fails.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use svc_core::time::Timestamp;
use svc_tests::sink::Received;
use svc_webhook::signature;

use super::{BETWEEN_MS, Hooks, TIMEOUT_MS, on_each};

/// Judges a delivery as its receiver would: whether any signature was made with any of the secrets.
fn believed(received: &Received, secrets: &[&Value]) -> bool {
    let header = received.header("svc-signature");
    let (seconds, signatures) = header.split_once(',').unwrap();
    let seconds = seconds.strip_prefix("t=").unwrap();
    let signatures: Vec<Vec<u8>> = signatures
        .split(',')
        .map(|signature| hex::decode(signature.strip_prefix("v1=").unwrap()).unwrap())
        .collect();
    secrets.iter().any(|secret| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_str().unwrap().as_bytes()).unwrap();
        mac.update(seconds.as_bytes());
        mac.update(b".");
        mac.update(&received.body);
        signatures
            .iter()
            .any(|tag| mac.clone().verify_slice(tag).is_ok())
    })
}

#[tokio::test]
async fn what_is_published_arrives_as_documented() {
    for hooks in on_each().await {
        let endpoint = hooks.endpoint(&hooks.sink.url("/in?clinic=1")).await;
        hooks.publish(1).await;
        let received = hooks.sink.wait("/in?clinic=1", 1).await.remove(0);
        let mut names: Vec<String> = received
            .headers
            .iter()
            .map(|(name, _)| name.to_ascii_lowercase())
            .collect();
        names.sort();
        let expected = [
            "content-length",
            "content-type",
            "host",
            "svc-signature",
            "user-agent",
            "x-svc-webhook-id",
        ];
        assert_eq!(names, expected);
        assert_eq!(received.header("content-type"), "application/json");
        assert_eq!(received.header("user-agent"), "Svc-Webhook/1.0");
        let body: Value = serde_json::from_slice(&received.body).unwrap();
        let fields: Vec<&String> = body.as_object().unwrap().keys().collect();
        assert_eq!(
            fields,
            ["id", "event", "app_id", "entity_key", "timestamp", "data"]
        );
        assert_eq!(body["id"], received.id());
        assert!(body["timestamp"].as_str().unwrap().ends_with("+00:00"));
        assert_eq!(body["data"], json!({"number": 0}));
        let value = received.header("svc-signature");
        assert_eq!(value.matches("v1=").count(), 1);
        assert!(!value.contains(' '));
        assert!(believed(&received, &[&endpoint["secret"]]));
        let mut tampered = received.clone();
        tampered.body[9] ^= 1;
        assert!(!believed(&tampered, &[&endpoint["secret"]]));
        let done = hooks.settled(&endpoint, 1, "delivered").await;
        assert_eq!(done[0]["id"], received.id());
        let delivery = hooks.delivery(&done[0]["id"]).await;
        let attempt = &delivery["attempts"][0];
        assert_eq!(
            (&attempt["status_code"], &attempt["error"]),
            (&json!(204), &Value::Null)
        );
        assert_eq!(attempt["address"], "127.0.0.1");
        assert_eq!(attempt["trigger"], "schedule");
        assert!(delivery["delivered_at"].is_string());
        rotated(&hooks, &endpoint).await;
    }
}

/// Two signatures in the time after a rotation, the new one first; one where the caller wants none of the old.
async fn rotated(hooks: &Hooks, endpoint: &Value) {
    let path = format!(
        "/v1/webhooks/{}/rotate-secret",
        endpoint["id"].as_str().unwrap()
    );
    let new = hooks.data("POST", &path, json!({})).await;
    hooks.publish(1).await;
    let received = hooks.sink.wait("/in", 2).await.remove(1);
    let value = received.header("svc-signature");
    assert_eq!(value.matches("v1=").count(), 2);
    for secret in [&new["secret"], &endpoint["secret"]] {
        assert!(believed(&received, &[secret]));
    }
    let first = value.split(",v1=").nth(1).unwrap();
    let seconds = value.split(',').next().unwrap().strip_prefix("t=").unwrap();
    let at = Timestamp(seconds.parse::<i64>().unwrap() * 1_000);
    let of_new = signature::header([new["secret"].as_str().unwrap()], &received.body, at);
    assert!(of_new.ends_with(first), "the new secret's comes first");
    let shown = format!("/v1/webhooks/{}", endpoint["id"].as_str().unwrap());
    let during = hooks.data("GET", &shown, Value::Null).await;
    assert_eq!(
        during["previous_secret_expires_at"],
        new["previous_secret_expires_at"]
    );
    let sql = "UPDATE webhook_endpoints SET previous_secret_expires_at = 1 WHERE org_id = $1";
    let database = &hooks.world.gateway.database;
    database.change(sql, &[&hooks.organization.id]).await;
    let after = hooks.data("GET", &shown, Value::Null).await;
    assert_eq!(after["previous_secret_expires_at"], Value::Null);
    let at_once = json!({"expire_previous_in_hours": 0});
    let newest = hooks.data("POST", &path, at_once).await;
    assert_eq!(newest["previous_secret_expires_at"], Value::Null);
    hooks.publish(1).await;
    let received = hooks.sink.wait("/in", 3).await.remove(2);
    assert_eq!(received.header("svc-signature").matches("v1=").count(), 1);
    assert!(believed(&received, &[&newest["secret"]]));
    assert!(!believed(&received, &[&new["secret"]]));
}

#[tokio::test]
async fn what_fails_is_tried_five_times_and_given_up() {
    for hooks in on_each().await {
        let mut endpoints = Vec::new();
        for (path, error) in [
            ("/status/500", "status"),
            ("/status/410", "status"),
            ("/redirect/a", "redirect"),
            ("/dead", "timeout"),
        ] {
            let endpoint = hooks.endpoint(&hooks.sink.url(path)).await;
            endpoints.push((endpoint, path, error));
        }
        hooks.publish(1).await;
        for (endpoint, path, error) in &endpoints {
            let given_up = hooks.settled(endpoint, 1, "exhausted").await;
            let delivery = hooks.delivery(&given_up[0]["id"]).await;
            assert_eq!(
                (&delivery["attempt_count"], &delivery["max_attempts"]),
                (&json!(5), &json!(5))
            );
            assert_eq!(delivery["next_attempt_at"], Value::Null);
            let attempts = delivery["attempts"].as_array().unwrap();
            assert_eq!(attempts.len(), 5, "{path}");
            for attempt in attempts {
                assert_eq!(attempt["error"], *error, "{path}");
            }
            let received = hooks.sink.received(path);
            assert_eq!(received.len(), 5, "{path}");
            for again in &received {
                assert_eq!(
                    (again.id(), &again.body),
                    (received[0].id(), &received[0].body)
                );
                assert!(believed(again, &[&endpoint["secret"]]));
            }
            // By the gateway's own clock: a receiver sees an attempt begin only once it has arrived.
            for pair in attempts.windows(2) {
                let began = |attempt: &Value| {
                    Timestamp::parse(attempt["started_at"].as_str().unwrap())
                        .unwrap()
                        .0
                };
                let ended = began(&pair[0]) + pair[0]["duration_ms"].as_i64().unwrap();
                let apart = began(&pair[1]) - ended;
                // Both times are cut to whole milliseconds.
                assert!(apart + 1 >= BETWEEN_MS, "{path}: {apart}");
                let lasted = ended - began(&pair[0]);
                assert!(*error != "timeout" || lasted >= TIMEOUT_MS, "{lasted}");
            }
            let health = hooks
                .data(
                    "GET",
                    &format!("/v1/webhooks/{}", endpoint["id"].as_str().unwrap()),
                    Value::Null,
                )
                .await["health"]
                .take();
            assert_eq!(health["consecutive_failures"], 5);
            assert_eq!(health["last_success_at"], Value::Null);
        }
    }
}

#[tokio::test]
async fn what_recovers_is_delivered_and_long_answers_are_left_unread() {
    for hooks in on_each().await {
        let flaky = hooks.endpoint(&hooks.sink.url("/flaky/2")).await;
        let long = hooks.endpoint(&hooks.sink.url("/long")).await;
        hooks.publish(3).await;
        for delivery in hooks.settled(&flaky, 3, "delivered").await {
            assert_eq!(delivery["attempt_count"], 3);
        }
        for delivery in hooks.settled(&long, 3, "delivered").await {
            assert_eq!(delivery["attempt_count"], 1);
        }
    }
}

#[tokio::test]
async fn an_operator_may_let_receivers_have_a_say() {
    let hooks = Hooks::with(None, &[], |setup| {
        setup
            .key("webhooks", "honour_retry_after", true)
            .key("webhooks", "disable_when_gone", true)
    })
    .await;
    let busy = hooks.endpoint(&hooks.sink.url("/busy/7200")).await;
    let gone = hooks.endpoint(&hooks.sink.url("/status/410")).await;
    hooks.publish(1).await;
    let waiting = hooks.settled(&busy, 1, "retrying").await;
    let times = |field: &str| Timestamp::parse(waiting[0][field].as_str().unwrap()).unwrap();
    let wait_ms = times("next_attempt_at").0 - times("created_at").0;
    assert!(wait_ms >= 7_200_000, "{wait_ms}");
    hooks.settled(&gone, 1, "held").await;
    let path = format!("/v1/webhooks/{}", gone["id"].as_str().unwrap());
    let read = hooks.data("GET", &path, Value::Null).await;
    assert_eq!(
        (&read["status"], &read["disabled_reason"]),
        (&json!("disabled"), &json!("gone"))
    );
}

#[tokio::test]
async fn an_end_in_order_hands_leases_back() {
    for hooks in on_each().await {
        let slow = hooks.endpoint(&hooks.sink.url("/dead")).await;
        let quick = hooks.endpoint(&hooks.sink.url("/in")).await;
        hooks.publish(2).await;
        hooks.sink.wait("/dead", 1).await;
        hooks.settled(&quick, 2, "delivered").await;
        hooks.world.gateway.signal("TERM");
        assert!(hooks.world.gateway.ended().await.success());
        let sql = "SELECT endpoint_id FROM webhook_deliveries WHERE leased_by IS NOT NULL";
        let leased = hooks.world.gateway.database.rows(sql, &[]).await;
        assert!(leased.is_empty());
        let sql = "SELECT id FROM webhook_deliveries WHERE endpoint_id = $1 AND due_at IS NOT NULL";
        let id = slow["id"].as_str().unwrap();
        let waiting = hooks.world.gateway.database.rows(sql, &[id]).await;
        assert_eq!(waiting.len(), 2);
    }
}

#[tokio::test]
async fn what_the_api_changes_is_delivered_to_whoever_asked_for_it() {
    for hooks in on_each().await {
        let app = hooks
            .data("POST", "/v1/apps", json!({"name": "Intake"}))
            .await;
        let entity = format!("/v1/apps/{}/entities/patient", app["id"].as_str().unwrap());
        let fields = json!({"fields": [{"key": "mrn", "type": "string"}]});
        hooks.data("PUT", &entity, fields).await;
        let body = json!({"url": hooks.sink.url("/in"), "app_id": app["id"], "entity_keys": ["patient"],
                          "events": ["record.created", "record.deleted"]});
        let endpoint = hooks.data("POST", "/v1/webhooks", body).await;
        let other =
            json!({"url": hooks.sink.url("/other"), "entity_keys": ["visit"], "events": ["*"]});
        hooks.data("POST", "/v1/webhooks", other).await;
        let records = format!("{entity}/records");
        let record = hooks
            .data("POST", &records, json!({"fields": {"mrn": "4711"}}))
            .await;
        let one = format!("{records}/{}", record["id"].as_str().unwrap());
        hooks
            .data("PATCH", &one, json!({"fields": {"mrn": "4712"}}))
            .await;
        hooks.data("DELETE", &one, Value::Null).await;
        hooks.settled(&endpoint, 2, "delivered").await;
        let mut events = Vec::new();
        for received in hooks.sink.received("/in") {
            let body: Value = serde_json::from_slice(&received.body).unwrap();
            assert_eq!(
                (&body["app_id"], &body["entity_key"]),
                (&app["id"], &json!("patient"))
            );
            assert_eq!(body["data"]["record_id"], record["id"]);
            assert!(
                !String::from_utf8_lossy(&received.body).contains("4711"),
                "thin"
            );
            assert!(believed(&received, &[&endpoint["secret"]]));
            events.push(body["event"].as_str().unwrap().to_owned());
        }
        events.sort();
        assert_eq!(events, ["record.created", "record.deleted"]);
        assert!(hooks.sink.received("/other").is_empty());
    }
}
