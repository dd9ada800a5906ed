//! Outbound webhooks: what is published arrives, signed and at least once, whatever the receivers do.

mod address;
mod crash;
mod delivery;
mod fairness;
mod receivers;
mod replay;
mod replicas;

use serde_json::{Value, json};
use svc_store::Store;
use svc_tests::gateway::Setup;
use svc_tests::organization::Organization;
use svc_tests::outbox;
use svc_tests::patience::eventually;
use svc_tests::postgres;
use svc_tests::sink::Sink;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

/// A gateway whose retries come quickly, and a receiver on this machine.
struct Hooks {
    world: World,
    sink: Sink,
    organization: Organization,
    store: Store,
}

/// Milliseconds between attempts.
const BETWEEN_MS: i64 = 30;
/// Milliseconds for a 2xx: short, and long enough for a busy machine.
const TIMEOUT_MS: i64 = 3_000;

/// Retries every [`BETWEEN_MS`] and lets deliveries go to this machine.
fn quick(setup: Setup, ports: &[u16]) -> Setup {
    let delays: Vec<toml::Value> = [0]
        .into_iter()
        .chain([BETWEEN_MS; 5])
        .map(toml::Value::from)
        .collect();
    let ports: Vec<toml::Value> = ports
        .iter()
        .map(|port| toml::Value::from(i64::from(*port)))
        .collect();
    setup
        .key("webhooks", "delays_ms", delays)
        .key("webhooks", "jitter_percent", 0)
        .key("webhooks", "timeout_ms", TIMEOUT_MS)
        .key(
            "integrations",
            "allowed_networks",
            vec![toml::Value::from("127.0.0.0/8")],
        )
        .key("integrations", "plain_http", true)
        .key("integrations", "allowed_ports", ports)
}

impl Hooks {
    async fn start(database_url: Option<String>) -> Self {
        Self::with(database_url, &[], |setup| setup).await
    }

    async fn with(
        database_url: Option<String>,
        more_ports: &[u16],
        further: impl FnOnce(Setup) -> Setup,
    ) -> Self {
        let sink = Sink::start().await;
        let mut ports = vec![sink.address.port()];
        ports.extend(more_ports);
        let world = World::with(|setup| further(quick(setup.on(database_url), &ports))).await;
        let organization = world.organization_with(&["--per-minute", "1000000"]);
        let store = outbox::store(&world.gateway).await;
        Self {
            world,
            sink,
            organization,
            store,
        }
    }

    async fn call(&self, method: &str, path: &str, body: Value) -> Answer {
        let request = Request::new(method, path).bearer(&self.organization.key);
        let request = if body.is_null() {
            request
        } else {
            request.json(&body)
        };
        self.world.gateway.answer(&request).await
    }

    /// What a call that must succeed gives as `data`.
    async fn data(&self, method: &str, path: &str, body: Value) -> Value {
        let answer = self.call(method, path, body).await;
        assert!((200..=202).contains(&answer.status), "{}", answer.text());
        answer.json()["data"].take()
    }

    /// An endpoint for every event at this address.
    async fn endpoint(&self, url: &str) -> Value {
        let body = json!({"url": url, "events": ["*"]});
        self.data("POST", "/v1/webhooks", body).await
    }

    async fn publish(&self, count: usize) {
        outbox::publish(&self.store, &self.organization.id, 0..count).await;
    }

    /// The deliveries of an endpoint, once all of them have this status.
    async fn settled(&self, endpoint: &Value, count: usize, status: &str) -> Vec<Value> {
        let id = endpoint["id"].as_str().unwrap();
        let path = format!("/v1/webhooks/deliveries?limit=100&endpoint_id={id}&status={status}");
        eventually("the end of the deliveries", async || {
            let found = self.data("GET", &path, Value::Null).await;
            let found = found.as_array().unwrap().clone();
            (found.len() >= count).then_some(found)
        })
        .await
    }

    /// A delivery with its attempts.
    async fn delivery(&self, id: &Value) -> Value {
        let path = format!("/v1/webhooks/deliveries/{}", id.as_str().unwrap());
        self.data("GET", &path, Value::Null).await
    }
}

/// Both engines.
async fn on_each() -> [Hooks; 2] {
    let database = tokio::task::spawn_blocking(postgres::database)
        .await
        .expect("a database");
    [Hooks::start(None).await, Hooks::start(Some(database)).await]
}
