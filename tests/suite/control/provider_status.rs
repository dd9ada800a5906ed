//! How the providers are doing, out of what was asked of them (contract 18).

use serde_json::{Value, json};
use svc_tests::fake::{FakeProvider, PROVIDER_KEY, mark};
use svc_tests::gateway::Setup;
use svc_tests::organization::bootstrap;
use svc_tests::policies::Policies;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::{code, data};
use crate::engines::on_worlds_of_their_own;

on_worlds_of_their_own! {
    the_status_is_what_traffic_says,
}

const PATH: &str = "/v1/provider-status";

async fn provider(world: &World, key: &str, name: &str) -> Value {
    let status = data(world, key, "GET", PATH, Value::Null).await;
    let providers = status["providers"].as_array().expect("providers");
    let found = providers.iter().find(|provider| provider["name"] == name);
    found
        .unwrap_or_else(|| panic!("{name} in {status}"))
        .clone()
}

async fn the_status_is_what_traffic_says(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let quiet = data(world, key, "GET", PATH, Value::Null).await;
    assert_eq!(
        (&quiet["object"], &quiet["status"]),
        (&json!("provider_status"), &json!("unknown"))
    );
    let alpha = provider(world, key, "alpha").await;
    assert_eq!(
        (
            &alpha["status"],
            &alpha["requests"],
            &alpha["error_rate"],
            &alpha["last_success_at"]
        ),
        (&json!("unknown"), &json!(0), &Value::Null, &Value::Null)
    );
    assert_eq!(
        (&alpha["kind"], &alpha["circuit"]),
        (&json!("A"), &json!("closed"))
    );
    assert_eq!(alpha["latency_ms"], json!({"p50": null, "p95": null}));
    let digest = alpha["driver"]["digest"].as_str().unwrap();
    assert_eq!(digest.len(), "sha256:".len() + 64);
    assert!(alpha["driver"]["version"].is_string());

    for _ in 0..3 {
        let chat = json!({"message": mark(), "model": "alpha-sonnet-4-6"});
        assert_eq!(world.gateway.chat(key, chat).await.status, 200);
    }
    let alpha = provider(world, key, "alpha").await;
    assert_eq!(
        (&alpha["status"], &alpha["requests"], &alpha["error_rate"]),
        (&json!("operational"), &json!(3), &json!(0.0))
    );
    assert!(alpha["latency_ms"]["p50"].as_u64() <= alpha["latency_ms"]["p95"].as_u64());
    assert!(alpha["last_success_at"].is_string() && alpha["last_error"].is_null());
    let models = alpha["models"].as_array().unwrap();
    assert!(models.contains(&json!({"id": "alpha-sonnet-4-6", "status": "operational"})));
    let whole = data(world, key, "GET", PATH, Value::Null).await;
    assert_eq!(whole["status"], "operational");
    assert_eq!(provider(world, key, "beta").await["status"], "unknown");

    // Five failures in a row open the circuit.
    for _ in 0..5 {
        let text = format!("{} [[fake:status 529]]", mark());
        let chat = json!({"message": text, "model": "alpha-sonnet-4-6"});
        assert_ne!(world.gateway.chat(key, chat).await.status, 200);
    }
    let alpha = provider(world, key, "alpha").await;
    assert_eq!(
        (
            &alpha["status"],
            &alpha["requests"],
            &alpha["error_rate"],
            &alpha["circuit"]
        ),
        (&json!("outage"), &json!(8), &json!(0.625), &json!("open"))
    );
    assert_eq!(alpha["last_error"]["code"], "INFERENCE_UPSTREAM_FAILURE");

    // A provider that refuses the operator's key, its rate or the model serves nobody, and answers all the same.
    for status in [401, 403, 404, 429] {
        let text = format!("{} [[fake:status {status}]]", mark());
        let chat = json!({"message": text, "model": "beta-5.5"});
        assert_ne!(world.gateway.chat(key, chat).await.status, 200);
    }
    let beta = provider(world, key, "beta").await;
    assert_eq!(
        (&beta["status"], &beta["error_rate"], &beta["circuit"]),
        (&json!("outage"), &json!(1.0), &json!("closed"))
    );
    assert_eq!(beta["last_error"]["code"], "INFERENCE_UPSTREAM_FAILURE");
    let unknown = code(
        world,
        key,
        "GET",
        "/v1/provider-status?probe=true",
        Value::Null,
        422,
    )
    .await;
    assert_eq!(unknown, "VALIDATION_FAILED");
}

/// A model answers over another provider when its first one is down, and both are shown.
#[tokio::test]
async fn a_provider_that_stands_in_is_shown_with_its_models() {
    const MODEL: &str = "alpha-sonnet-4-6";
    let (down, west) = (FakeProvider::start(), FakeProvider::start());
    let policies = Policies::copy();
    let id = format!("id = \"{MODEL}\"\n");
    let fallback = "fallback = [{ provider = \"west\", upstream_model = \"m\", driver = \"provider-beta\" }]\n";
    policies.edit("models.toml", &id, &format!("{id}{fallback}"));
    let key_file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(key_file.path(), PROVIDER_KEY).unwrap();
    let mut table = toml::Table::new();
    table.insert("base_url".into(), west.base_url().into());
    let path = key_file.path().display().to_string();
    table.insert("api_key_file".into(), path.into());
    let gateway = Setup::new(&down.base_url())
        .policies(policies.path())
        .key("providers", "west", table)
        .start()
        .await;
    let organization = bootstrap(&gateway, &[]);
    for _ in 0..5 {
        let mark = mark();
        let failing = json!({"contains": mark, "status": 500});
        down.expect(failing).await;
        let chat = json!({"message": mark, "model": MODEL, "stream": false});
        let answer = gateway.chat(&organization.key, chat).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let request = Request::new("GET", PATH).bearer(&organization.key);
    let status = gateway.answer(&request).await.json()["data"].take();
    assert_eq!(status["status"], "degraded");
    let named = |name: &str| {
        let mut providers = status["providers"].as_array().unwrap().iter();
        providers.find(|provider| provider["name"] == name).unwrap()
    };
    let (alpha, west) = (named("alpha"), named("west"));
    assert_eq!(
        (&alpha["status"], &west["status"]),
        (&json!("outage"), &json!("operational"))
    );
    assert_eq!(
        (&west["kind"], &west["driver"]["name"]),
        (&json!("B"), &json!("beta"))
    );
    let shown = json!({"id": MODEL, "status": "degraded"});
    assert_eq!(west["models"], json!([shown]));
    let models = alpha["models"].as_array().unwrap();
    assert!(models.contains(&shown));
    assert!(models.contains(&json!({"id": "alpha-haiku-4-5", "status": "outage"})));
}
