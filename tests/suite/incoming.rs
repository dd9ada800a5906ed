//! The inbound entrance (spec, inbound webhook; contract 17.1): each row of its order of checks, its limits to the byte,
//! keys that are used again, and kill -9 in the middle of every step.

mod crash;
mod order;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use crate::engines::on_both_engines;

on_both_engines! {
    a_post_makes_a_record_and_says_its_id_alone,
    mapped_nested_and_unknown_keys,
    fifty_duplicates_make_one_record,
    a_key_is_answered_again_whatever_the_body,
    a_key_belongs_to_its_webhook_and_its_day,
    a_delivery_that_comes_back_is_marked,
    the_token_is_shown_nowhere,
}

/// An app with an entity and an inbound webhook, and the key that made them.
struct Inbound {
    organization: String,
    key: String,
    /// The path of the records.
    records: String,
    /// The path of the webhook.
    webhook: String,
    webhook_id: String,
    token: String,
}

fn fields() -> Value {
    json!([
        {"key": "mrn", "type": "string", "required": true, "max_length": 32, "phi": true},
        {"key": "name", "type": "string", "phi": true},
        {"key": "age", "type": "integer", "min": 0},
        {"key": "note", "type": "text", "max_length": 100_000},
        {"key": "more", "type": "json"},
    ])
}

async fn made(world: &World, key: &str, method: &str, path: &str, body: Value) -> Value {
    let request = Request::new(method, path).bearer(key).json(&body);
    let answer = world.gateway.answer(&request).await;
    assert!((200..=201).contains(&answer.status), "{}", answer.text());
    answer.json()["data"].take()
}

impl Inbound {
    /// `more` goes into the webhook.
    async fn with(world: &World, more: Value) -> Self {
        let organization = world.organization_with(&["--per-minute", "1000000"]);
        let key = organization.key;
        let app = made(world, &key, "POST", "/v1/apps", json!({"name": "Intake"})).await;
        let app = format!("/v1/apps/{}", app["id"].as_str().unwrap());
        let entity = format!("{app}/entities/patient");
        made(world, &key, "PUT", &entity, json!({"fields": fields()})).await;
        let mut body = json!({"entity_key": "patient", "name": "Lab", "per_minute": 1_000_000});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let webhooks = format!("{app}/inbound-webhooks");
        let webhook = made(world, &key, "POST", &webhooks, body).await;
        let text = |name: &str| webhook[name].as_str().unwrap().to_owned();
        Self {
            organization: organization.id,
            key,
            records: format!("{entity}/records"),
            webhook: format!("{webhooks}/{}", text("id")),
            webhook_id: text("id"),
            token: text("token"),
        }
    }

    async fn of(world: &World) -> Self {
        Self::with(world, json!({})).await
    }

    fn path(&self) -> String {
        format!("/api/svc/v1/incoming/{}", self.token)
    }

    fn post(&self, body: &Value) -> Request {
        Request::new("POST", &self.path()).json(body)
    }

    fn keyed(&self, key: &str, body: &Value) -> Request {
        self.post(body).header("X-Idempotency-Key", key)
    }

    /// Newest first.
    async fn records(&self, world: &World) -> Vec<Value> {
        let request = Request::new("GET", &format!("{}?limit=100", self.records));
        let answer = world.gateway.answer(&request.bearer(&self.key)).await;
        answer.json()["data"].as_array().unwrap().clone()
    }

    async fn record(&self, world: &World, answer: &Answer) -> Value {
        let id = record_id(answer);
        let request = Request::new("GET", &format!("{}/{id}", self.records));
        let read = world.gateway.answer(&request.bearer(&self.key)).await;
        read.json()["data"].take()
    }
}

/// The id in an answer that must be a success.
fn record_id(answer: &Answer) -> String {
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["data"]["record_id"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn a_post_makes_a_record_and_says_its_id_alone(world: &World) {
    let inbound = Inbound::of(world).await;
    let body = json!({"mrn": "47-11", "age": 40});
    let answer = world.gateway.answer(&inbound.post(&body)).await;
    let id = record_id(&answer);
    assert_eq!(
        answer.text(),
        format!(r#"{{"data":{{"record_id":"{id}"}}}}"#)
    );
    for absent in [
        "svc-version",
        "set-cookie",
        "x-ratelimit-limit",
        "access-control-allow-origin",
    ] {
        assert_eq!(answer.header(absent), None, "{absent}");
    }
    let record = inbound.record(world, &answer).await;
    assert_eq!(
        record["fields"],
        json!({"mrn": "47-11", "name": null, "age": 40, "note": null, "more": null})
    );
    assert_eq!(
        (&record["created_via"], &record["origin_delivery_id"]),
        (&json!("inbound"), &Value::Null)
    );
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(
        (&row["event"], &row["target_id"]),
        (&json!("record.created"), &json!(id))
    );
    let document = books::document(&row);
    assert_eq!(document["actor"]["type"], "webhook_token");
    assert_eq!(document["actor"]["id"], inbound.webhook_id.as_str());
    assert_eq!(document["org_id"], inbound.organization.as_str());
    assert_eq!(document["request"]["path"], "/api/svc/v1/incoming/{token}");
    assert!(!document.to_string().contains("47-11"));
    let webhook = Request::new("GET", &inbound.webhook).bearer(&inbound.key);
    let webhook = world.gateway.answer(&webhook).await.json();
    assert!(webhook["data"]["last_used_at"].is_string());
    let get = world
        .gateway
        .answer(&Request::new("GET", &inbound.path()))
        .await;
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
    // Whatever the sender calls it: what counts is that it is a JSON object.
    let plain = Request::new("POST", &inbound.path()).body(br#"{"mrn":"1"}"#);
    assert_eq!(world.gateway.answer(&plain).await.status, 201);
}

async fn mapped_nested_and_unknown_keys(world: &World) {
    let mapping =
        json!({"patient.id": "mrn", "patient.name.family": "name", "remark": "note", "id": "mrn"});
    let inbound = Inbound::with(world, json!({"field_mapping": mapping})).await;
    let body = json!({
        "patient": {"id": "nested", "name": {"family": "Rossi"}}, "remark": "mapped", "note": "own",
        "age": 7, "colour": "dropped", "more": {"kept": [1, {"as": "is"}]},
    });
    let answer = world.gateway.answer(&inbound.post(&body)).await;
    let record = inbound.record(world, &answer).await;
    assert_eq!(
        record["fields"],
        json!({"mrn": "nested", "name": "Rossi", "age": 7, "note": "mapped",
               "more": {"kept": [1, {"as": "is"}]}})
    );
    let both = json!({"patient": {"id": "first"}, "id": "last"});
    let answer = world.gateway.answer(&inbound.post(&both)).await;
    let record = inbound.record(world, &answer).await;
    assert_eq!(
        record["fields"]["mrn"], "last",
        "the last in mapping order counts"
    );
    // What is wrong is told by the entity's field, wherever it came from.
    let wrong = json!({"patient": {"id": 7}, "remark": true, "age": -1});
    let refused = world.gateway.answer(&inbound.post(&wrong)).await;
    assert_eq!(refused.status, 422);
    let details = refused.json()["error"]["details"].clone();
    let named: Vec<&String> = details.as_object().unwrap().keys().collect();
    assert_eq!(named, ["mrn", "age", "note"]);
}

async fn fifty_duplicates_make_one_record(world: &World) {
    let inbound = Inbound::of(world).await;
    let request = inbound.keyed("once", &json!({"mrn": "1"}));
    let answers = join_all((0..50).map(|_| world.gateway.answer(&request))).await;
    let first = &answers[0];
    for answer in &answers {
        assert_eq!(
            (answer.status, &answer.body),
            (201, &first.body),
            "{}",
            answer.text()
        );
        assert_eq!(answer.request_id(), first.request_id());
    }
    let own = answers
        .iter()
        .filter(|one| one.header("idempotent-replayed").is_none());
    assert_eq!(own.count(), 1);
    let records = inbound.records(world).await;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["id"], record_id(first));
    let sql = "SELECT id FROM audit WHERE org_id = $1 AND event = $2";
    for (event, count) in [("record.created", 1), ("request.replayed", 49)] {
        let rows = world
            .gateway
            .database
            .rows(sql, &[&inbound.organization, event])
            .await;
        assert_eq!(rows.len(), count, "{event}");
    }
}

async fn a_key_is_answered_again_whatever_the_body(world: &World) {
    let inbound = Inbound::of(world).await;
    let first = world
        .gateway
        .answer(&inbound.keyed("k 1", &json!({"mrn": "1"})))
        .await;
    let id = record_id(&first);
    let bodies = [json!({"mrn": "2"}), json!({"age": -1})];
    let mut again: Vec<Request> = bodies
        .iter()
        .map(|body| inbound.keyed("k 1", body))
        .collect();
    let no_json = Request::new("POST", &inbound.path()).body(b"no JSON");
    again.push(no_json.header("X-Idempotency-Key", "k 1"));
    for request in again {
        let answer = world.gateway.answer(&request).await;
        assert_eq!((answer.status, &answer.body), (201, &first.body));
        assert_eq!(answer.header("idempotent-replayed"), Some("true"));
        assert_eq!(answer.request_id(), first.request_id());
    }
    // A refusal is not kept: the key is free.
    let refused = world
        .gateway
        .answer(&inbound.keyed("k 2", &json!({})))
        .await;
    assert_eq!(refused.status, 422);
    let good = world
        .gateway
        .answer(&inbound.keyed("k 2", &json!({"mrn": "3"})))
        .await;
    assert_ne!(record_id(&good), id);
    assert_eq!(inbound.records(world).await.len(), 2);
}

async fn a_key_belongs_to_its_webhook_and_its_day(world: &World) {
    let (inbound, other) = (Inbound::of(world).await, Inbound::of(world).await);
    let body = json!({"mrn": "1"});
    let first = record_id(&world.gateway.answer(&inbound.keyed("k", &body)).await);
    let elsewhere = record_id(&world.gateway.answer(&other.keyed("k", &body)).await);
    assert_ne!(first, elsewhere);
    // 24 hours (spec, Limits): the day of the first key is brought to its end.
    let sql = "UPDATE idempotency SET expires_at = expires_at - 86400000 WHERE principal_id = $1";
    world
        .gateway
        .database
        .change(sql, &[&inbound.webhook_id])
        .await;
    let later = world.gateway.answer(&inbound.keyed("k", &body)).await;
    assert_eq!(later.header("idempotent-replayed"), None);
    assert_ne!(record_id(&later), first);
    let again = world.gateway.answer(&inbound.keyed("k", &body)).await;
    assert_eq!(again.body, later.body);
    let sql =
        "SELECT expires_at - first_seen_at AS kept_ms FROM idempotency WHERE principal_id = $1";
    let rows = world
        .gateway
        .database
        .rows(sql, &[&inbound.webhook_id])
        .await;
    assert_eq!(rows[0]["kept_ms"], 86_400_000);
}

async fn a_delivery_that_comes_back_is_marked(world: &World) {
    let inbound = Inbound::of(world).await;
    for origin in ["01JD3Z8Y7XQ5W4V3T2S1R0P9NM", "anything at all"] {
        let request = inbound
            .post(&json!({"mrn": "1"}))
            .header("X-Svc-Webhook-Id", origin);
        let answer = world.gateway.answer(&request).await;
        let record = inbound.record(world, &answer).await;
        assert_eq!(record["origin_delivery_id"], origin);
        let row = books::single(&world.gateway.database, answer.request_id()).await;
        assert_eq!(books::document(&row)["details"]["redelivered"], true);
    }
}

async fn the_token_is_shown_nowhere(world: &World) {
    let inbound = Inbound::of(world).await;
    let posts = [json!({"mrn": "1"}), json!({})];
    for body in &posts {
        world.gateway.answer(&inbound.keyed("k", body)).await;
    }
    let below = Request::new("POST", &format!("{}/below", inbound.path()));
    assert_eq!(world.gateway.answer(&below).await.status, 404);
    let secret = inbound.token.strip_prefix("svc_in_").unwrap();
    assert!(!world.gateway.log().contains(secret), "in the log");
    let metrics = world.gateway.admin_page("/metrics").await.text();
    assert!(!metrics.contains(secret), "in the metrics");
    assert!(metrics.contains("/api/svc/v1/incoming/{token}"));
    for table in ["audit", "inbound_webhooks", "idempotency", "records"] {
        let rows = world
            .gateway
            .database
            .rows(&format!("SELECT * FROM {table}"), &[])
            .await;
        assert!(!format!("{rows:?}").contains(secret), "in {table}");
    }
}
