//! What changes while a body is on its way: who may do what is judged by what holds when the body is whole, and what is
//! made then has that time.

use std::time::Duration;

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::wire::{Answer, Connection};
use svc_tests::world::World;

use super::{call, data};
use crate::engines::on_both_engines;

on_both_engines! {
    a_revoked_key_makes_nothing,
    a_chat_is_held_to_the_settings_of_its_end,
    a_revoked_credential_of_an_agent_speaks_with_nobody,
    a_closed_inbound_webhook_makes_no_record,
    what_is_made_late_is_of_its_end,
}

/// A request that was let in by its head.
pub(crate) struct Slow {
    connection: Connection,
    body: String,
}

/// A body that comes by then came with its head.
const LATE: Duration = Duration::from_millis(150);

impl Slow {
    /// Without a key for whoever is known by the path.
    pub(crate) async fn begin(world: &World, key: Option<&str>, to: &str, body: Value) -> Self {
        let body = body.to_string();
        let authorization = key.map(|key| format!("Authorization: Bearer {key}\r\n"));
        let head = format!(
            "{to} HTTP/1.1\r\nHost: gateway.test\r\nContent-Type: application/json\r\n{}\
             Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
            authorization.unwrap_or_default(),
            body.len()
        );
        let mut connection = world.gateway.connect().await;
        connection.send(head.as_bytes()).await;
        // The body is wanted: its sender was judged.
        assert_eq!(connection.line().await, "HTTP/1.1 100 Continue");
        assert_eq!(connection.line().await, "");
        Self { connection, body }
    }

    pub(crate) async fn end(mut self) -> Answer {
        tokio::time::sleep(LATE).await;
        self.connection.send(self.body.as_bytes()).await;
        self.connection.reply().await.whole().await.0
    }
}

pub(crate) fn told(answer: &Answer) -> (u16, String) {
    let code = answer.json()["error"]["code"].clone();
    (answer.status, code.as_str().unwrap_or_default().to_owned())
}

async fn a_revoked_key_makes_nothing(world: &World) {
    let owner = world.organization().key;
    let scopes = json!({"name": "leaked", "scopes": ["control:keys", "ai:chat"]});
    let made = data(world, &owner, "POST", "/v1/api_keys", scopes).await;
    let leaked = made["key"].as_str().unwrap();
    let wanted = json!({"name": "minted", "scopes": ["ai:chat"]});
    let slow = Slow::begin(world, Some(leaked), "POST /v1/api_keys", wanted.clone()).await;
    let path = format!("/v1/api_keys/{}", made["id"].as_str().unwrap());
    data(world, &owner, "DELETE", &path, Value::Null).await;
    let refused = slow.end().await;
    assert_eq!(told(&refused), (401, "INVALID_API_KEY".to_owned()));
    let listed = data(world, &owner, "GET", "/v1/api_keys", Value::Null).await;
    let names = listed.as_array().unwrap().iter().map(|key| &key["name"]);
    assert!(names.into_iter().all(|name| name != "minted"), "{listed}");
    // Whose key holds is served.
    let slow = Slow::begin(world, Some(&owner), "POST /v1/api_keys", wanted).await;
    assert_eq!(slow.end().await.status, 201);
}

async fn a_chat_is_held_to_the_settings_of_its_end(world: &World) {
    for (change, code) in [
        (json!({"ai_paused": true}), "AI_PAUSED"),
        (json!({"phi_mode": "block"}), "PHI_BLOCKED"),
    ] {
        let organization = world.organization();
        let key = &organization.key;
        let message = format!("{} SSN 536-22-1234", mark());
        let body = json!({"message": message, "stream": false});
        let slow = Slow::begin(world, Some(key), "POST /v1/ai/chat", body).await;
        let path = format!("/v1/orgs/{}", organization.id);
        data(world, key, "PATCH", &path, change).await;
        let refused = slow.end().await;
        assert_eq!(told(&refused), (403, code.to_owned()));
    }
}

async fn a_revoked_credential_of_an_agent_speaks_with_nobody(world: &World) {
    let key = world.organization().key;
    let body = json!({"name": "Intake", "scope_grants": [{"scope": "ai:chat"}]});
    let agent = data(world, &key, "POST", "/v1/agents", body).await["agent"][0].clone();
    let path = format!("/v1/agents/{}/credentials", agent["id"].as_str().unwrap());
    let made = data(world, &key, "POST", &path, json!({})).await;
    let secret = made["credential"].as_str().unwrap();
    let body = json!({"message": mark(), "stream": false});
    let slow = Slow::begin(world, Some(secret), "POST /v1/ai/chat", body).await;
    let path = format!("{path}/{}/revoke", made["id"].as_str().unwrap());
    data(world, &key, "POST", &path, Value::Null).await;
    let refused = slow.end().await;
    assert_eq!(told(&refused), (401, "AGENT_CREDENTIAL_REVOKED".to_owned()));
}

async fn a_closed_inbound_webhook_makes_no_record(world: &World) {
    let key = world.organization().key;
    let app = data(world, &key, "POST", "/v1/apps", json!({"name": "Intake"})).await;
    let app = format!("/v1/apps/{}", app["id"].as_str().unwrap());
    let entity = format!("{app}/entities/patient");
    let fields = json!({"fields": [{"key": "note", "type": "string"}]});
    data(world, &key, "PUT", &entity, fields).await;
    let webhooks = format!("{app}/inbound-webhooks");
    for (method, body, status) in [
        ("PATCH", json!({"status": "inactive"}), 404),
        ("DELETE", Value::Null, 404),
        ("PATCH", json!({"name": "another name"}), 201),
    ] {
        let lab = json!({"entity_key": "patient", "name": "Lab"});
        let made = data(world, &key, "POST", &webhooks, lab).await;
        let to = format!(
            "POST /api/svc/v1/incoming/{}",
            made["token"].as_str().unwrap()
        );
        let slow = Slow::begin(world, None, &to, json!({"note": "a"})).await;
        let path = format!("{webhooks}/{}", made["id"].as_str().unwrap());
        data(world, &key, method, &path, body).await;
        let answer = slow.end().await;
        assert_eq!(answer.status, status, "{method}: {}", answer.text());
    }
    let records = data(
        world,
        &key,
        "GET",
        &format!("{entity}/records"),
        Value::Null,
    )
    .await;
    assert_eq!(records.as_array().unwrap().len(), 1, "{records}");
}

async fn what_is_made_late_is_of_its_end(world: &World) {
    let key = world.organization().key;
    let key = key.as_str();
    let begin = async |to: &str, body| Slow::begin(world, Some(key), to, body).await;
    let one = |answer: &Answer| answer.json()["data"]["agent"][0].clone();
    let slow = begin("POST /v1/agents", json!({"name": "slow"})).await;
    let quick = call(world, key, "POST", "/v1/agents", json!({"name": "quick"})).await;
    let (slow, quick) = (one(&slow.end().await), one(&quick));
    let time = |record: &Value, name: &str| record[name].as_str().unwrap().to_owned();
    assert!(
        time(&slow, "created_at") > time(&quick, "created_at"),
        "{slow}"
    );
    // Whoever asks for what is new since the quick one finds both.
    let since = time(&quick, "created_at");
    let path = format!("/v1/agents?created_after={since}");
    let found = data(world, key, "GET", &path, Value::Null).await;
    assert_eq!(found.as_array().unwrap().len(), 2, "{found}");

    let path = format!("/v1/agents/{}", quick["id"].as_str().unwrap());
    let slow = begin(&format!("PATCH {path}"), json!({"name": "renamed"})).await;
    let quick = call(world, key, "PATCH", &path, json!({"description": "d"})).await;
    let (slow, quick) = (one(&slow.end().await), one(&quick));
    assert!(
        time(&slow, "updated_at") > time(&quick, "updated_at"),
        "{slow}"
    );
    assert_eq!(slow["description"], "d");
}
