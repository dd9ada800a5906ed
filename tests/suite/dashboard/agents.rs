//! Saving an agent changes what its person changed, and nothing else.

use serde_json::{Value, json};
use svc_tests::browser::{Browser, Page, shown};
use svc_tests::organization::Organization;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::pages::{between, rows, somebody};
use crate::engines::on_sqlite;

on_sqlite! {
    what_nobody_touched_stays,
    nothing_is_another_choice_than_anything,
    a_refusal_stands_beside_its_field,
    something_and_nothing_at_once_is_refused,
    what_somebody_else_made_of_a_list_takes_its_box_along,
    an_agent_sent_twice_is_made_once,
}

/// The agent that a call which must succeed gives.
async fn agent(
    world: &World,
    organization: &Organization,
    method: &str,
    path: &str,
    body: &Value,
) -> Value {
    let mut request = Request::new(method, path).bearer(&organization.key);
    if !body.is_null() {
        request = request.json(body);
    }
    let answer = world.gateway.answer(&request).await;
    assert!((200..=201).contains(&answer.status), "{}", answer.text());
    answer.json()["data"]["agent"][0].take()
}

/// Opens the agent's page, lets somebody change the form, and sends it.
async fn save(
    browser: &mut Browser<'_>,
    id: &str,
    change: impl FnOnce(&mut Vec<(String, String)>),
) -> Page {
    let action = format!("/ui/agents/{id}");
    let page = browser.get(&action).await;
    let mut fields = shown(&page, &action);
    change(&mut fields);
    submit(browser, &page, &action, &fields).await
}

async fn submit(
    browser: &mut Browser<'_>,
    page: &Page,
    action: &str,
    fields: &[(String, String)],
) -> Page {
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    browser.submit(page, action, &fields).await
}

fn set(fields: &mut Vec<(String, String)>, name: &str, value: &str) {
    fields.retain(|(other, _)| other != name);
    fields.push((name.to_owned(), value.to_owned()));
}

async fn what_nobody_touched_stays(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let wide = json!({"scope": "ai:chat"});
    let many = json!({"surfaces": ["messages", "native"], "models": ["alpha-haiku-4-5"], "max_tokens": 512});
    for more in [
        json!({"scope_grants": []}),
        json!({"scope_grants": [{"scope": "control:read"}]}),
        json!({"scope_grants": [{"scope": "ai:chat", "tools": []}]}),
        json!({"scope_grants": [{"scope": "ai:chat", "constraints": {"surfaces": []}}]}),
        json!({"scope_grants": [{"scope": "control:read"},
                                {"scope": "ai:chat", "tools": ["b", " a "], "constraints": many}]}),
        json!({"scope_grants": [wide], "allowed_models": []}),
        json!({"scope_grants": [wide], "allowed_models": ["alpha-sonnet-4-6", "alpha-haiku-4-5"],
               "default_model": "alpha-haiku-4-5", "description": "one\ntwo "}),
    ] {
        let mut body = more.clone();
        body["name"] = json!("Before");
        let before = agent(world, &organization, "POST", "/v1/agents", &body).await;
        let id = before["id"].as_str().unwrap();
        let saved = save(&mut browser, id, |fields| set(fields, "name", "After")).await;
        saved.leads_to();
        let path = format!("/v1/agents/{id}");
        let mut after = agent(world, &organization, "GET", &path, &Value::Null).await;
        assert_eq!(after["name"], "After");
        for key in ["name", "updated_at"] {
            after[key] = before[key].clone();
        }
        assert_eq!(after, before, "{more}");
        let updated = rows(world, &organization, "agent.updated").await;
        let last = updated.last().unwrap();
        assert_eq!(last["details"]["fields"], json!(["name"]), "{more}");
    }
}

async fn nothing_is_another_choice_than_anything(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let body = json!({"name": "Intake", "scope_grants": [{"scope": "ai:chat"}]});
    let made = agent(world, &organization, "POST", "/v1/agents", &body).await;
    let id = made["id"].as_str().unwrap();
    let path = format!("/v1/agents/{id}");
    for none in ["tools", "surfaces", "allowed_models"] {
        let change = |fields: &mut Vec<_>| fields.push(("none".to_owned(), none.to_owned()));
        save(&mut browser, id, change).await.leads_to();
    }
    let closed = agent(world, &organization, "GET", &path, &Value::Null).await;
    let grant = json!({"scope": "ai:chat", "tools": [], "constraints": {"surfaces": []}});
    assert_eq!(closed["scope_grants"], json!([grant]));
    assert_eq!(closed["allowed_models"], json!([]));
    let open = |fields: &mut Vec<(String, String)>| fields.retain(|(name, _)| name != "none");
    save(&mut browser, id, open).await.leads_to();
    let opened = agent(world, &organization, "GET", &path, &Value::Null).await;
    let grant = json!({"scope": "ai:chat", "tools": null, "constraints": {}});
    assert_eq!(opened["scope_grants"], json!([grant]));
    assert_eq!(opened["allowed_models"], Value::Null);
    let silence = |fields: &mut Vec<(String, String)>| fields.retain(|(name, _)| name != "speaks");
    save(&mut browser, id, silence).await.leads_to();
    let silent = agent(world, &organization, "GET", &path, &Value::Null).await;
    assert_eq!(silent["scope_grants"], json!([]));
}

async fn a_refusal_stands_beside_its_field(world: &World) {
    let mut browser = Browser::owner(&world.gateway, &world.organization()).await;
    let page = browser.get("/ui/agents").await;
    let wrong = [
        ("name", "Intake"),
        ("tools", "book\r\nbook"),
        ("max_tokens", "0"),
    ];
    let refused = browser.submit(&page, "/ui/agents", &wrong).await;
    assert_eq!(refused.status(), 422, "{}", refused.text);
    let tools = between(&refused, "id=\"e-tools\">", "</p>");
    assert_eq!(tools, "no. 2: is named twice");
    assert!(!between(&refused, "id=\"e-max_tokens\">", "</p>").is_empty());
}

async fn something_and_nothing_at_once_is_refused(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/agents").await;
    let both = [
        ("name", "Intake"),
        ("allowed_models", "alpha-haiku-4-5"),
        ("none", "allowed_models"),
        ("tools", "book"),
        ("none", "tools"),
    ];
    let refused = browser.submit(&page, "/ui/agents", &both).await;
    assert_eq!(refused.status(), 422, "{}", refused.text);
    for field in ["allowed_models", "tools"] {
        let told = between(&refused, &format!("id=\"e-{field}\">"), "</p>");
        assert!(told.contains("only one of them can be meant"), "{told}");
    }
    assert!(rows(world, &organization, "agent.created").await.is_empty());
    let body = json!({"name": "Intake", "scope_grants": [{"scope": "ai:chat", "tools": ["book"]}]});
    let made = agent(world, &organization, "POST", "/v1/agents", &body).await;
    let id = made["id"].as_str().unwrap();
    let change = |fields: &mut Vec<_>| fields.push(("none".to_owned(), "tools".to_owned()));
    let refused = save(&mut browser, id, change).await;
    assert_eq!(refused.status(), 422, "{}", refused.text);
    assert!(refused.text.contains("only one of them can be meant"));
    let path = format!("/v1/agents/{id}");
    let after = agent(world, &organization, "GET", &path, &Value::Null).await;
    assert_eq!(after["scope_grants"], made["scope_grants"]);
    // Both are in the log, and whoever may not change it at all is told that.
    let mut viewer = somebody(world, &organization, "viewer").await;
    let csrf = viewer.get("/ui/agents").await.hidden("/ui/mode").remove(0);
    let fields = [("tools", "book"), ("none", "tools")];
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let fields: Vec<(String, String)> = [csrf].into_iter().chain(fields).collect();
    for action in ["/ui/agents".to_owned(), format!("/ui/agents/{id}")] {
        let refused = viewer.post(&action, &fields).await;
        assert_eq!(refused.status(), 403, "{}", refused.text);
    }
    let denied = rows(world, &organization, "agent.denied").await;
    let results: Vec<&Value> = denied.iter().map(|row| &row["outcome"]["result"]).collect();
    assert_eq!(results, ["failure", "failure", "denied", "denied"]);
}

async fn what_somebody_else_made_of_a_list_takes_its_box_along(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let grants = |tools: Value| json!([{"scope": "ai:chat", "tools": tools}]);
    let body = json!({"name": "Intake", "scope_grants": grants(json!([]))});
    let made = agent(world, &organization, "POST", "/v1/agents", &body).await;
    let id = made["id"].as_str().unwrap();
    let (action, path) = (format!("/ui/agents/{id}"), format!("/v1/agents/{id}"));
    let older = browser.get(&action).await;
    let ticked = ("none".to_owned(), "tools".to_owned());
    let mut fields = shown(&older, &action);
    assert!(fields.contains(&ticked), "{fields:?}");
    let body = json!({"scope_grants": grants(json!(["book"]))});
    agent(world, &organization, "PATCH", &path, &body).await;
    set(&mut fields, "name", "");
    let refused = submit(&mut browser, &older, &action, &fields).await;
    assert_eq!(refused.status(), 422, "{}", refused.text);
    let mut fields = shown(&refused, &action);
    assert!(!fields.contains(&ticked), "{fields:?}");
    set(&mut fields, "name", "Corrected");
    let saved = submit(&mut browser, &refused, &action, &fields).await;
    saved.leads_to();
    let after = agent(world, &organization, "GET", &path, &Value::Null).await;
    assert_eq!(after["name"], "Corrected");
    assert_eq!(after["scope_grants"][0]["tools"], json!(["book"]));
}

async fn an_agent_sent_twice_is_made_once(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/agents").await;
    let wanted = [("name", "Twice")];
    let first = browser.submit(&page, "/ui/agents", &wanted).await;
    let again = browser.submit(&page, "/ui/agents", &wanted).await;
    assert_eq!(first.leads_to(), again.leads_to());
    assert_eq!(rows(world, &organization, "agent.created").await.len(), 1);
}
