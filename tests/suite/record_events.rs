//! What endpoints are told of records and schemas (contract 15.2), from the change to the bytes that arrive: thin and
//! full payloads, one event for many records, and none for a record that comes from a delivery.

use serde_json::{Value, json};
use svc_tests::gateway::Setup;
use svc_tests::postgres;
use svc_tests::sink::{Received, Sink};
use svc_tests::wire::Request;
use svc_tests::world::World;

#[tokio::test]
async fn every_change_is_told_once_on_sqlite() {
    every_change_is_told_once(None).await;
}

#[tokio::test]
async fn every_change_is_told_once_on_postgres() {
    let database = tokio::task::spawn_blocking(postgres::database).await;
    every_change_is_told_once(Some(database.unwrap())).await;
}

fn towards(setup: Setup, sink: &Sink) -> Setup {
    let port = toml::Value::from(i64::from(sink.address.port()));
    let loopback = vec![toml::Value::from("127.0.0.0/8")];
    setup
        .key("integrations", "allowed_networks", loopback)
        .key("integrations", "plain_http", true)
        .key("integrations", "allowed_ports", vec![port])
}

/// What a delivery says, its id and time apart.
fn told(received: &Received) -> (String, Value) {
    let body: Value = serde_json::from_slice(&received.body).unwrap();
    assert_eq!(body["id"], received.id());
    let fields: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        ["id", "event", "app_id", "entity_key", "timestamp", "data"]
    );
    assert_eq!(body["entity_key"], "patient");
    (
        body["event"].as_str().unwrap().to_owned(),
        body["data"].clone(),
    )
}

struct Caller<'w> {
    world: &'w World,
    key: String,
}

impl Caller<'_> {
    async fn data(&self, method: &str, path: &str, body: Value) -> Value {
        let request = Request::new(method, path).bearer(&self.key);
        let request = if body.is_null() {
            request
        } else {
            request.json(&body)
        };
        let answer = self.world.gateway.answer(&request).await;
        assert!((200..=201).contains(&answer.status), "{}", answer.text());
        answer.json()["data"].take()
    }

    async fn refused(&self, method: &str, path: &str, body: Value) {
        let request = Request::new(method, path).bearer(&self.key).json(&body);
        assert_eq!(self.world.gateway.answer(&request).await.status, 422);
    }

    async fn post(&self, token: &str, origin: Option<&str>, body: Value) -> String {
        let path = format!("/api/svc/v1/incoming/{token}");
        let mut request = Request::new("POST", &path).json(&body);
        if let Some(origin) = origin {
            request = request.header("X-Svc-Webhook-Id", origin);
        }
        let answer = self.world.gateway.answer(&request).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["data"]["record_id"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

async fn every_change_is_told_once(database_url: Option<String>) {
    let sink = Sink::start().await;
    let world = World::with(|setup| towards(setup.on(database_url), &sink)).await;
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let caller = Caller {
        world: &world,
        key: organization.key.clone(),
    };
    let endpoint = json!({"url": sink.url("/all"), "events": ["*"]});
    caller.data("POST", "/v1/webhooks", endpoint).await;
    let app = caller
        .data("POST", "/v1/apps", json!({"name": "Intake"}))
        .await;
    let app = format!("/v1/apps/{}", app["id"].as_str().unwrap());
    let entity = format!("{app}/entities/patient");
    let schema =
        json!({"fields": [{"key": "mrn", "type": "string", "required": true, "phi": true}]});
    caller.data("PUT", &entity, schema.clone()).await;
    caller.data("PUT", &entity, schema).await;
    let mut wanted = vec![(
        "schema.updated".to_owned(),
        json!({"schema_version": 1, "changes": [{"op": "added", "field": "mrn"}]}),
    )];
    let records = format!("{entity}/records");
    let fields = |mrn: &str| json!({"fields": {"mrn": mrn}});
    let record = caller.data("POST", &records, fields("1")).await;
    let id = record["id"].as_str().unwrap().to_owned();
    let one = format!("{records}/{id}");
    caller
        .refused("POST", &records, fields(&"1".repeat(1_001)))
        .await;
    caller.data("PATCH", &one, fields("2")).await;
    caller.data("PATCH", &one, fields("2")).await;
    caller.data("DELETE", &one, Value::Null).await;
    wanted.extend([
        (
            "record.created".to_owned(),
            json!({"record_id": id, "created_via": "api"}),
        ),
        (
            "record.updated".to_owned(),
            json!({"record_id": id, "changed_fields": ["mrn"]}),
        ),
        ("record.deleted".to_owned(), json!({"record_id": id})),
    ]);
    let many = json!({"records": [fields("3"), fields("4")]});
    let batch = caller.data("POST", &format!("{records}/bulk"), many).await;
    wanted.push((
        "record.bulk_created".to_owned(),
        json!({"batch_id": batch["id"], "count": 2, "record_ids": batch["record_ids"]}),
    ));
    let webhook = json!({"entity_key": "patient", "name": "Lab"});
    let webhook = caller
        .data("POST", &format!("{app}/inbound-webhooks"), webhook)
        .await;
    let token = webhook["token"].as_str().unwrap();
    let posted = caller.post(token, None, json!({"mrn": "5"})).await;
    wanted.push((
        "record.created".to_owned(),
        json!({"record_id": posted, "created_via": "inbound"}),
    ));
    // What comes from a delivery is told to nobody.
    let looped = caller
        .post(
            token,
            Some("01JD3Z8Y7XQ5W4V3T2S1R0P9NM"),
            json!({"mrn": "6"}),
        )
        .await;
    // The whole record, once the organization wants it.
    let payload = json!({"webhook_payload": "full"});
    caller
        .data("PATCH", &format!("/v1/orgs/{}", organization.id), payload)
        .await;
    let full = caller.post(token, None, json!({"mrn": "7"})).await;
    let shown = caller
        .data("GET", &format!("{records}/{full}"), Value::Null)
        .await;
    wanted.push((
        "record.created".to_owned(),
        json!({"record_id": full, "created_via": "inbound", "record": shown}),
    ));
    let mut found: Vec<(String, Value)> = sink
        .wait("/all", wanted.len())
        .await
        .iter()
        .map(told)
        .collect();
    let order = |pair: &(String, Value)| format!("{} {}", pair.0, pair.1);
    found.sort_by_key(order);
    wanted.sort_by_key(order);
    assert_eq!(found, wanted);
    let sql = "SELECT id FROM webhook_deliveries WHERE org_id = $1";
    let deliveries = world.gateway.database.rows(sql, &[&organization.id]).await;
    assert_eq!(deliveries.len(), wanted.len(), "nothing of {looped}");
}
