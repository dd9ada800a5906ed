//! Which events a change of a record or a schema leaves in the outbox (spec, events; contract 15.2 and 19.1): one for
//! what is done, none for what is refused or changes nothing, one for many records, and none for a record that comes
//! from a delivery.

use serde_json::{Value, json};
use svc_core::id::IdKind;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;
use svc_core::webhook::Subscription;
use svc_store::master_key::MasterKey;
use svc_store::seal::Content;
use svc_store::webhook_endpoint::{self, Endpoint, Health};
use svc_store::{Store, StoreOptions, TransactionError};
use svc_tests::organization::Organization;
use svc_tests::wire::Request;
use svc_tests::world::World;

use crate::engines::on_both_engines;

on_both_engines! {
    every_change_is_told_once,
}

/// An endpoint for every event, stored beside the gateway; nobody answers there.
async fn endpoint(world: &World, organization: &Organization) {
    let master = MasterKey::load_or_create(&world.gateway.data().join("master.key")).unwrap();
    let url = world.gateway.database.url();
    let runtime = tokio::runtime::Handle::current();
    let store = Store::open(&url, StoreOptions::default(), master, &runtime).await;
    let store = store.unwrap();
    let endpoint = Endpoint {
        id: IdKind::WebhookEndpoint.make(Timestamp(1), u128::from(std::process::id())),
        org_id: organization.id.clone(),
        mode: Mode::Live,
        url: "https://hooks.invalid/in".to_owned(),
        description: None,
        subscription: Subscription {
            events: vec!["*".to_owned()],
            app_id: None,
            entity_keys: None,
        },
        max_in_flight: 1,
        disabled: None,
        secret_hint: "…".to_owned(),
        secret_created_at: Timestamp(1),
        previous_secret_expires_at: None,
        health: Health::default(),
        created_at: Timestamp(1),
        updated_at: Timestamp(1),
    };
    let secret = Content::new("whsec_test");
    let sealed = webhook_endpoint::seal_secret(&store, &organization.id, &endpoint.id, &secret);
    let sealed = sealed.await.unwrap();
    let storing = store.transaction(move |mut tx| {
        Box::pin(async move {
            webhook_endpoint::insert(&mut tx, &endpoint, sealed).await?;
            Ok::<_, TransactionError<()>>(())
        })
    });
    storing.await.unwrap();
    store.close().await;
}

struct Caller<'w> {
    world: &'w World,
    organization: Organization,
}

impl Caller<'_> {
    /// The status, and what stands in `data`.
    async fn call(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let request = Request::new(method, path).bearer(&self.organization.key);
        let request = if body.is_null() {
            request
        } else {
            request.json(&body)
        };
        let answer = self.world.gateway.answer(&request).await;
        (answer.status, answer.json()["data"].take())
    }

    async fn post(&self, token: &str, origin: Option<&str>, body: Value) -> u16 {
        let path = format!("/api/svc/v1/incoming/{token}");
        let mut request = Request::new("POST", &path).json(&body);
        if let Some(origin) = origin {
            request = request.header("X-Svc-Webhook-Id", origin);
        }
        self.world.gateway.answer(&request).await.status
    }

    /// Events of the outbox in the order of their names.
    async fn events(&self, app: &str) -> Vec<String> {
        let sql = "SELECT event FROM webhook_deliveries WHERE org_id = $1 AND app_id = $2 \
                   AND entity_key = 'patient' ORDER BY event";
        let database = &self.world.gateway.database;
        let rows = database.rows(sql, &[&self.organization.id, app]).await;
        let word = |row: &Value| row["event"].as_str().unwrap().to_owned();
        rows.iter().map(word).collect()
    }
}

async fn every_change_is_told_once(world: &World) {
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    endpoint(world, &organization).await;
    let caller = Caller {
        world,
        organization,
    };
    let (_, app) = caller
        .call("POST", "/v1/apps", json!({"name": "Intake"}))
        .await;
    let app = app["id"].as_str().unwrap().to_owned();
    let entity = format!("/v1/apps/{app}/entities/patient");
    let schema = json!({"fields": [{"key": "mrn", "type": "string", "required": true}]});
    let (records, fields) = (
        format!("{entity}/records"),
        |mrn: &str| json!({"fields": {"mrn": mrn}}),
    );
    for status in [201, 200] {
        assert_eq!(caller.call("PUT", &entity, schema.clone()).await.0, status);
    }
    let (status, record) = caller.call("POST", &records, fields("1")).await;
    assert_eq!(status, 201);
    let one = format!("{records}/{}", record["id"].as_str().unwrap());
    assert_eq!(
        caller.call("POST", &records, json!({"fields": {}})).await.0,
        422
    );
    for _ in 0..2 {
        assert_eq!(caller.call("PATCH", &one, fields("2")).await.0, 200);
    }
    assert_eq!(caller.call("DELETE", &one, Value::Null).await.0, 200);
    let many = json!({"records": [fields("3"), fields("4")]});
    let bulk = format!("{records}/bulk");
    assert_eq!(caller.call("POST", &bulk, many).await.0, 201);
    let bad = json!({"records": [fields("3"), {"fields": {}}]});
    assert_eq!(caller.call("POST", &bulk, bad).await.0, 422);
    let told = [
        "record.bulk_created",
        "record.created",
        "record.deleted",
        "record.updated",
        "schema.updated",
    ];
    assert_eq!(caller.events(&app).await, told);
    let webhook = json!({"entity_key": "patient", "name": "Lab"});
    let webhooks = format!("/v1/apps/{app}/inbound-webhooks");
    let (_, webhook) = caller.call("POST", &webhooks, webhook).await;
    let token = webhook["token"].as_str().unwrap();
    let looped = caller
        .post(token, Some("anything"), json!({"mrn": "5"}))
        .await;
    let refused = caller.post(token, None, json!({})).await;
    assert_eq!((looped, refused), (201, 422));
    assert_eq!(
        caller.events(&app).await,
        told,
        "a delivery comes back once"
    );
    assert_eq!(caller.post(token, None, json!({"mrn": "6"})).await, 201);
    let events = caller.events(&app).await;
    let created = events.iter().filter(|event| *event == "record.created");
    assert_eq!((created.count(), events.len()), (2, told.len() + 1));
}
