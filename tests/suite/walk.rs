//! The whole route table, called: by everybody who might, and in every version. A route that is added is walked
//! without another word: its body is the first example of its operation, and what its path names is made through the
//! operation above it.

mod callers;
mod versions;

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::openapi::{Operation, document};
use svc_tests::organization::Organization;
use svc_tests::outbox;
use svc_tests::wire::Request;
use svc_tests::world::World;

/// An organization that may do everything.
fn organization(world: &World) -> Organization {
    world.organization_with(&["--per-minute", "1000000", "--features", "integrations"])
}

/// Several parallel worlds of one database share one project: what must be unique in it is.
fn unique(mut body: Value) -> Value {
    if body.get("alias").is_some() {
        body["alias"] = json!(mark());
    }
    body
}

/// A request of this operation that means well.
fn request(operation: &Operation, path: &str) -> Request {
    request_with(operation, path, &[])
}

/// As [`request`], with more in its query.
fn request_with(operation: &Operation, path: &str, more: &[&str]) -> Request {
    let mut pairs = needed(operation);
    pairs.extend(more.iter().map(|pair| (*pair).to_owned()));
    let mark = if pairs.is_empty() { "" } else { "?" };
    let path = format!("{path}{mark}{}", pairs.join("&"));
    let request = Request::new(&operation.method, &path);
    let content = &operation.body["requestBody"]["content"]["application/json"];
    let examples = content["examples"].as_object();
    match examples.and_then(|examples| examples.values().next()) {
        Some(example) => request.json(&unique(example["value"].clone())),
        None => request,
    }
}

/// A path of this template that names something of the organization, made for this call alone.
async fn path(world: &World, organization: &Organization, template: &str) -> String {
    let (mut path, mut above) = (String::new(), String::new());
    for segment in template.split('/').skip(1) {
        let name = segment
            .strip_prefix('{')
            .and_then(|it| it.strip_suffix('}'));
        let value = match name {
            None => segment.to_owned(),
            Some("organization") => organization.id.clone(),
            Some("project") => "default".to_owned(),
            // Services beyond the gateway have tests of their own (control::integrations).
            Some("alias" | "path") => "nothing".to_owned(),
            Some("runtime_user") => person(world, organization).await,
            Some("app_id") => app(world, organization).await,
            Some("entity_key") => ENTITY.to_owned(),
            Some(_) if above == "/v1/ai/messages" => message(world, organization).await,
            Some(_) if above == "/v1/webhooks/deliveries" => delivery(world, organization).await,
            Some(_) if above == "/v1/webhooks/bulk-replays" => replay(world, organization).await,
            Some(name) => member(world, organization, &path, &above, name).await,
        };
        path.push_str(&format!("/{value}"));
        above.push_str(&format!("/{segment}"));
    }
    path
}

/// The entity of every app of the walk.
const ENTITY: &str = "patient";

/// The id of a new app that has the entity.
async fn app(world: &World, organization: &Organization) -> String {
    let find = |method: &str, path: &str| document().operation(method, path).expect("an operation");
    let made = request(find("POST", "/v1/apps"), "/v1/apps").bearer(&organization.key);
    let made = world.gateway.answer(&made).await.json();
    let id = made["data"]["id"].as_str().expect("an app").to_owned();
    let path = format!("/v1/apps/{id}/entities/{ENTITY}");
    let put = request(find("PUT", &path), &path).bearer(&organization.key);
    assert_eq!(world.gateway.answer(&put).await.status, 201);
    id
}

/// The parameters of a query that an operation cannot do without.
fn needed(operation: &Operation) -> Vec<String> {
    // The log has rows of many kinds by now.
    if operation.path == "/v1/audit" {
        return vec!["event=api_key.created".to_owned()];
    }
    let parameters = operation.body["parameters"].as_array();
    let parameters = parameters.into_iter().flatten();
    let parameters = parameters.map(|parameter| document().resolve(parameter));
    let needed = parameters.filter(|one| one["in"] == "query" && one["required"] == true);
    let pair = |one: &Value| format!("{}={}", one["name"].as_str().unwrap(), one["example"]);
    needed.map(pair).collect()
}

/// The id of a stored message.
async fn message(world: &World, organization: &Organization) -> String {
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": "Hello."}))
        .await;
    let id = &answer.json()["data"]["message"]["id"];
    id.as_str()
        .unwrap_or_else(|| panic!("{}", answer.text()))
        .to_owned()
}

/// The id of a delivery that is held: every endpoint is switched off first, so that nothing leaves this machine.
async fn delivery(world: &World, organization: &Organization) -> String {
    let ask = async |method: &str, path: &str, body: Value| {
        let request = Request::new(method, path).bearer(&organization.key);
        let request = if body.is_null() {
            request
        } else {
            request.json(&body)
        };
        world.gateway.answer(&request).await.json()["data"].take()
    };
    let body = json!({"url": "https://hooks.example.org/in", "events": ["*"]});
    ask("POST", "/v1/webhooks", body).await;
    let enabled = ask("GET", "/v1/webhooks?status=enabled&limit=100", Value::Null).await;
    for endpoint in enabled.as_array().unwrap() {
        let path = format!("/v1/webhooks/{}", endpoint["id"].as_str().unwrap());
        let off = ask("PATCH", &path, json!({"status": "disabled"})).await;
        assert_eq!(off["status"], "disabled");
    }
    let store = outbox::store(&world.gateway).await;
    outbox::publish(&store, &organization.id, 0..1).await;
    store.close().await;
    let held = ask("GET", "/v1/webhooks/deliveries?status=held", Value::Null).await;
    held[0]["id"].as_str().unwrap().to_owned()
}

/// The id of a replay of nothing.
async fn replay(world: &World, organization: &Organization) -> String {
    let body = json!({"delivery_ids": [outbox::APP]});
    let request = Request::new("POST", "/v1/webhooks/deliveries/bulk-replay")
        .bearer(&organization.key)
        .json(&body);
    let report = world.gateway.answer(&request).await.json();
    report["data"]["id"].as_str().unwrap().to_owned()
}

/// A person that an agent's credential speaks with.
async fn person(world: &World, organization: &Organization) -> String {
    let post = async |path: &str, body: Value| {
        let request = Request::new("POST", path)
            .bearer(&organization.key)
            .json(&body);
        let answer = world.gateway.answer(&request).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()
    };
    let agent = post("/v1/agents", json!({"name": "Intake"})).await;
    let agent = agent["data"]["agent"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/agents/{agent}/credentials");
    post(&path, json!({"runtime_user": "someone"})).await;
    "someone".to_owned()
}

/// The id of a new member of a collection, or of the first one where callers make none.
async fn member(
    world: &World,
    organization: &Organization,
    path: &str,
    above: &str,
    name: &str,
) -> String {
    let of = |method: &str| {
        let mut all = document().operations().iter();
        all.find(|operation| operation.method == method && operation.path == above)
    };
    let operation = of("POST").or_else(|| of("GET"));
    let operation = operation.unwrap_or_else(|| {
        panic!("nothing makes or lists what {{{name}}} behind {above} names: say it in walk::path")
    });
    let request = request(operation, path).bearer(&organization.key);
    let answer = world.gateway.answer(&request).await;
    let mut data = answer.json()["data"].take();
    if data["agent"].is_array() {
        data = data["agent"].take();
    }
    let record = if data.is_array() {
        data[0].take()
    } else {
        data
    };
    let id = record["id"].as_str();
    id.unwrap_or_else(|| panic!("{above}: {}", answer.text()))
        .to_owned()
}

/// A name of a file for an operation: `post_v1_agents_id_archive`.
fn file(operation: &Operation) -> String {
    let label = format!("{} {}", operation.method, operation.path).to_lowercase();
    let mut name = String::new();
    for character in label.chars() {
        if character.is_ascii_alphanumeric() || character == '_' {
            name.push(character);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    name.trim_end_matches('_').to_owned()
}
