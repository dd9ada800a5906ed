//! Agents and their credentials, on the control plane and where they speak with models (contract 10).

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::{call, code, data};
use crate::engines::on_both_engines;

on_both_engines! {
    an_agent_goes_through_its_states,
    an_id_is_the_same_with_escapes_of_what_needs_none,
    a_change_merges_and_null_clears,
    the_cap_of_credentials_holds_under_a_race,
    grants_only_get_narrower,
    a_credential_speaks_within_its_grant,
    nobody_hands_on_more_than_they_have_or_longer,
    nobody_hands_on_models_that_they_may_not_use,
    a_credential_without_a_user_owns_no_conversation,
    a_credential_reads_as_far_as_its_grants_go,
    bad_credentials_are_told_apart,
    limits_of_a_credential_hold,
}

async fn agent(world: &World, key: &str, body: Value) -> Value {
    data(world, key, "POST", "/v1/agents", body).await["agent"][0].clone()
}

fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap()
}

/// A credential of a new agent that may chat.
async fn credential(world: &World, key: &str, grant: Value, body: Value) -> (Value, String) {
    let agent = agent(
        world,
        key,
        json!({"name": "Intake", "scope_grants": [grant]}),
    )
    .await;
    let path = format!("/v1/agents/{}/credentials", id(&agent));
    let made = data(world, key, "POST", &path, body).await;
    let secret = made["credential"].as_str().unwrap().to_owned();
    (made, secret)
}

async fn an_agent_goes_through_its_states(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let made = agent(world, key, json!({"name": "Intake"})).await;
    assert_eq!(made["status"], "active");
    assert_eq!(made["default_expiry_hours"], 24);
    let path = format!("/v1/agents/{}", id(&made));
    for (move_, status) in [
        ("archive", "archived"),
        ("archive", "archived"),
        ("reactivate", "active"),
        ("reactivate", "active"),
    ] {
        let moved = call(world, key, "POST", &format!("{path}/{move_}"), json!({})).await;
        assert_eq!(
            moved.json()["data"]["agent"][0]["status"],
            status,
            "{}",
            moved.text()
        );
        let row = books::single(&world.gateway.database, moved.request_id()).await;
        assert_eq!(row["target_id"], made["id"]);
    }
    let read = data(world, key, "GET", &path, Value::Null).await;
    assert_eq!(read["agent"].as_array().unwrap().len(), 1);
    assert_eq!(read["agent"][0]["archived_at"], Value::Null);
    let archived = data(world, key, "GET", "/v1/agents?status=archived", Value::Null).await;
    assert_eq!(archived, json!([]));
    let named = data(world, key, "GET", "/v1/agents?name=Int", Value::Null).await;
    assert_eq!(named.as_array().unwrap().len(), 1);
    let other = world.organization();
    assert_eq!(
        code(world, &other.key, "GET", &path, Value::Null, 404).await,
        "RESOURCE_NOT_FOUND"
    );
}

async fn an_id_is_the_same_with_escapes_of_what_needs_none(world: &World) {
    let key = &world.organization().key;
    let made = agent(world, key, json!({"name": "Intake"})).await;
    let path = format!("/v1/agents/{}", id(&made));
    let escaped = path.replacen("agt_0", "%61gt%5F%30", 1);
    let read = data(world, key, "GET", &escaped, Value::Null).await;
    assert_eq!(read["agent"], json!([made]));
    let escaped = format!("{escaped}/archive");
    let archived = call(world, key, "POST", &escaped, json!({})).await;
    assert_eq!(archived.status, 200, "{}", archived.text());
    let row = books::single(&world.gateway.database, archived.request_id()).await;
    let shown = books::document(&row)["request"]["path"].clone();
    assert_eq!(shown, format!("{path}/archive"));
    // Other escapes name nobody, and separate nothing.
    for other in ["%2Farchive", "%00", "%FF", "%C3%A9", "%25", "%zz"] {
        let path = format!("{path}{other}");
        let found = code(world, key, "GET", &path, Value::Null, 404).await;
        assert_eq!(found, "RESOURCE_NOT_FOUND", "{path}");
    }
}

async fn a_change_merges_and_null_clears(world: &World) {
    let key = world.organization().key;
    let made = agent(world, &key, json!({"name": "A", "description": "d", "metadata": {"k": "v"}, "default_model": "alpha-haiku-4-5"})).await;
    let path = format!("/v1/agents/{}", id(&made));
    let body = json!({"description": null, "max_active_credentials": 2});
    let changed = data(world, &key, "PATCH", &path, body).await["agent"][0].clone();
    assert_eq!(changed["description"], Value::Null);
    assert_eq!(changed["max_active_credentials"], 2);
    assert_eq!(changed["metadata"], json!({"k": "v"}));
    assert_eq!(changed["default_model"], "alpha-haiku-4-5");
    for (body, param) in [
        (json!({"name": null}), "name"),
        (json!({"default_model": "gpt-4"}), "default_model"),
        (
            json!({"allowed_models": ["alpha-haiku-4-5", "x"]}),
            "allowed_models[1]",
        ),
        (
            json!({"allowed_models": ["alpha-sonnet-4-6"]}),
            "default_model",
        ),
        (json!({"default_expiry_hours": 721}), "default_expiry_hours"),
        (json!({"parent_agent_id": "x"}), "parent_agent_id"),
        (json!({"metadata": {"k": 1}}), "metadata"),
    ] {
        let refused = call(world, &key, "PATCH", &path, body.clone()).await;
        assert_eq!(refused.status, 422, "{body}");
        assert_eq!(refused.json()["error"]["param"], param, "{body}");
    }
}

async fn the_cap_of_credentials_holds_under_a_race(world: &World) {
    let key = world.organization().key;
    let made = agent(
        world,
        &key,
        json!({"name": "capped", "max_active_credentials": 3}),
    )
    .await;
    let path = format!("/v1/agents/{}/credentials", id(&made));
    let answers = join_all((0..8).map(|_| call(world, &key, "POST", &path, json!({})))).await;
    assert_eq!(
        answers.iter().filter(|answer| answer.status == 201).count(),
        3
    );
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        let error = answer.json()["error"].clone();
        assert_eq!(error["code"], "AGENT_CONCURRENT_CREDENTIALS_EXCEEDED");
        assert_eq!(error["details"], json!({"limit": 3, "active": 3}));
    }
    let listed = data(world, &key, "GET", &path, Value::Null).await;
    assert!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row.get("credential").is_none())
    );
    let revoke = format!("{path}/{}/revoke", id(&listed[0]));
    assert_eq!(
        data(world, &key, "POST", &revoke, Value::Null).await["status"],
        "revoked"
    );
    assert_eq!(
        call(world, &key, "POST", &path, json!({})).await.status,
        201
    );
    let revoked = format!("{path}?status=revoked");
    assert_eq!(
        data(world, &key, "GET", &revoked, Value::Null)
            .await
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

async fn grants_only_get_narrower(world: &World) {
    let key = world.organization().key;
    let grant = json!([{"scope": "ai:chat", "tools": ["a"], "constraints": {"max_tokens": 100}}]);
    let mut parent = agent(world, &key, json!({"name": "0", "scope_grants": grant})).await;
    let wide = json!({"name": "w", "parent_agent_id": parent["id"], "scope_grants": [{"scope": "ai:chat"}]});
    let refused = call(world, &key, "POST", "/v1/agents", wide).await;
    assert_eq!(
        refused.json()["error"]["param"],
        "scope_grants[0]",
        "{}",
        refused.text()
    );
    let path = format!("/v1/agents/{}/credentials", id(&parent));
    let wide = json!({"scope_grants": [{"scope": "ai:chat", "tools": ["a", "b"]}]});
    assert_eq!(
        call(world, &key, "POST", &path, wide).await.json()["error"]["param"],
        "scope_grants"
    );
    for depth in 1..=4 {
        let body = json!({"name": "child", "parent_agent_id": parent["id"], "scope_grants": grant});
        let answer = call(world, &key, "POST", "/v1/agents", body).await;
        if depth == 4 {
            let error = answer.json()["error"].clone();
            assert_eq!(error["code"], "AGENT_DELEGATION_CHAIN_DEPTH_EXCEEDED");
            assert_eq!(error["details"], json!({"max_depth": 3, "depth": 4}));
        } else {
            parent = answer.json()["data"]["agent"][0].clone();
            assert_eq!(parent["delegation_depth"], depth);
        }
    }
}

async fn a_credential_speaks_within_its_grant(world: &World) {
    let organization = world.organization();
    let grant = json!({"scope": "ai:chat", "tools": ["lookup"],
        "constraints": {"max_tokens": 64, "models": ["alpha-haiku-4-5"], "surfaces": ["native"]}});
    let (made, secret) = credential(world, &organization.key, grant, json!({})).await;
    let model = "alpha-haiku-4-5";
    let good = world
        .gateway
        .chat(&secret, json!({"message": mark(), "model": model}))
        .await;
    assert_eq!(good.status, 200, "{}", good.text());
    let (_, terminal) = books::pair(&world.gateway.database, good.request_id()).await;
    assert_eq!(terminal["actor_type"], "agent_credential");
    assert_eq!(terminal["actor_id"], made["id"]);
    let tool = |name: &str| json!([{"name": name, "input_schema": {"type": "object"}}]);
    for (body, code, detail) in [
        (
            json!({"message": "x"}),
            "SCOPE_CONSTRAINT_VIOLATION",
            json!("models"),
        ),
        (
            json!({"message": "x", "model": model, "max_tokens": 65}),
            "SCOPE_CONSTRAINT_VIOLATION",
            json!("max_tokens"),
        ),
        (
            json!({"message": "x", "model": model, "tools": tool("other")}),
            "TOOL_NOT_IN_SCOPE",
            Value::Null,
        ),
    ] {
        let refused = world.gateway.chat(&secret, body.clone()).await;
        let error = refused.json()["error"].clone();
        assert_eq!(
            (refused.status, error["code"].as_str()),
            (403, Some(code)),
            "{body}"
        );
        assert_eq!(error["details"]["constraint"], detail);
    }
    let in_scope =
        json!({"message": mark(), "model": model, "tools": tool("lookup"), "max_tokens": 64});
    assert_eq!(world.gateway.chat(&secret, in_scope).await.status, 200);
    // Narrowing the agent counts for credentials that are out.
    let path = format!("/v1/agents/{}", made["agent_id"].as_str().unwrap());
    let none = json!({"scope_grants": [{"scope": "ai:chat", "tools": []}]});
    data(world, &organization.key, "PATCH", &path, none).await;
    let refused = world
        .gateway
        .chat(
            &secret,
            json!({"message": mark(), "model": model, "tools": tool("lookup")}),
        )
        .await;
    assert_eq!(
        refused.json()["error"]["code"],
        "TOOL_NOT_IN_SCOPE",
        "{}",
        refused.text()
    );
    for path in ["/v1/agents", "/v1/usage"] {
        let refused = call(world, &secret, "GET", path, Value::Null).await;
        let error = refused.json()["error"].clone();
        assert_eq!(
            (refused.status, error["code"].as_str()),
            (403, Some("MISSING_SCOPE"))
        );
        assert_eq!(error["details"]["reason"], "agent_credential_not_allowed");
    }
}

async fn nobody_hands_on_more_than_they_have_or_longer(world: &World) {
    let key = world.organization().key;
    let key = key.as_str();
    let chat = json!([{"scope": "ai:chat"}]);
    let parent = agent(world, key, json!({"name": "Ward", "scope_grants": chat})).await;
    let body = json!({"name": "Bed", "scope_grants": chat, "parent_agent_id": id(&parent)});
    let child = agent(world, key, body).await;
    let path = format!("/v1/agents/{}/credentials", id(&child));
    let made = data(world, key, "POST", &path, json!({})).await;
    let secret = made["credential"].as_str().unwrap();
    let model = "alpha-sonnet-4-6";
    let ask = || {
        world
            .gateway
            .chat(secret, json!({"message": mark(), "model": model}))
    };
    assert_eq!(ask().await.status, 200);
    // What the parent loses, the child has lost.
    let narrow = json!([{"scope": "ai:chat", "constraints": {"models": ["alpha-haiku-4-5"]}}]);
    let parent_path = format!("/v1/agents/{}", id(&parent));
    let body = json!({"scope_grants": narrow});
    data(world, key, "PATCH", &parent_path, body).await;
    let refused = ask().await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"]),
        (403, &json!("SCOPE_CONSTRAINT_VIOLATION"))
    );
    // And a change does not give it back.
    let child_path = format!("/v1/agents/{}", id(&child));
    let wide = json!({"scope_grants": chat});
    let refused = call(world, key, "PATCH", &child_path, wide).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["param"]),
        (422, &json!("scope_grants[0]"))
    );
    data(
        world,
        key,
        "PATCH",
        &child_path,
        json!({"scope_grants": narrow}),
    )
    .await;
    data(
        world,
        key,
        "POST",
        &format!("{parent_path}/archive"),
        json!({}),
    )
    .await;
    let refused = ask().await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"]),
        (401, &json!("AGENT_CREDENTIAL_REVOKED"))
    );
    let listed = async |query: &str| {
        let rows = data(world, key, "GET", &format!("{path}{query}"), Value::Null).await;
        let rows = rows.as_array().unwrap().clone();
        let status = rows.iter().map(|row| row["status"].clone());
        status.collect::<Vec<Value>>()
    };
    // Lists say the same of it.
    for (query, status) in [
        ("", &["suspended"][..]),
        ("?status=suspended", &["suspended"]),
        ("?status=active", &[]),
    ] {
        assert_eq!(listed(query).await, status, "{query}");
    }
    // What would be refused is not issued.
    let refused = call(world, key, "POST", &path, json!({})).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["param"]),
        (422, &json!("agentId")),
        "{}",
        refused.text()
    );
    let reactivate = format!("{parent_path}/reactivate");
    data(world, key, "POST", &reactivate, json!({})).await;
    assert_eq!(listed("").await, ["active"]);
    data(world, key, "POST", &path, json!({})).await;
}

async fn nobody_hands_on_models_that_they_may_not_use(world: &World) {
    let key = world.organization().key;
    let key = key.as_str();
    let (haiku, sonnet) = ("alpha-haiku-4-5", "alpha-sonnet-4-6");
    let chat = json!([{"scope": "ai:chat"}]);
    let both = json!({"name": "Ward", "scope_grants": chat, "allowed_models": [haiku, sonnet]});
    let parent = agent(world, key, both).await;
    let child = |more: Value| {
        let mut body =
            json!({"name": "Bed", "scope_grants": chat, "parent_agent_id": parent["id"]});
        let more = more.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(more);
        body
    };
    for (more, param) in [
        (
            json!({"allowed_models": [haiku, "beta-5.4"]}),
            "allowed_models[1]",
        ),
        (json!({"default_model": "beta-5.4"}), "default_model"),
    ] {
        let refused = call(world, key, "POST", "/v1/agents", child(more)).await;
        let param = json!(param);
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (422, &param)
        );
    }
    let bed = agent(world, key, child(json!({"default_model": sonnet}))).await;
    let below = json!({"name": "Pump", "scope_grants": chat, "parent_agent_id": bed["id"]});
    let pump = agent(world, key, below).await;
    let path = format!("/v1/agents/{}/credentials", id(&pump));
    let made = data(world, key, "POST", &path, json!({})).await;
    let secret = made["credential"].as_str().unwrap();
    let ask = async |model: &str| {
        let body = json!({"message": mark(), "model": model});
        let answer = world.gateway.chat(secret, body).await;
        (
            answer.status,
            answer.json()["error"]["details"]["limit"].clone(),
        )
    };
    assert_eq!(ask(sonnet).await, (200, Value::Null));
    assert_eq!(ask("beta-5.4").await, (403, json!([haiku, sonnet])));
    // What the first of them loses, all have lost; and a change does not give it back.
    let parent_path = format!("/v1/agents/{}", id(&parent));
    let narrow = json!({"allowed_models": [haiku]});
    data(world, key, "PATCH", &parent_path, narrow).await;
    assert_eq!(ask(sonnet).await, (403, json!([haiku])));
    assert_eq!(ask(haiku).await.0, 200);
    let listed = data_of_models(world, secret).await;
    assert_eq!(listed, [haiku]);
    let pump_path = format!("/v1/agents/{}", id(&pump));
    for (body, param) in [
        (json!({"allowed_models": [sonnet]}), "allowed_models[0]"),
        (json!({"default_model": sonnet}), "default_model"),
    ] {
        let refused = call(world, key, "PATCH", &pump_path, body).await;
        let param = json!(param);
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (422, &param)
        );
    }
    let renamed = json!({"name": "Bed 2"});
    data(
        world,
        key,
        "PATCH",
        &format!("/v1/agents/{}", id(&bed)),
        renamed,
    )
    .await;
}

/// Ids of the models that a credential may use.
async fn data_of_models(world: &World, secret: &str) -> Vec<String> {
    let listed = call(world, secret, "GET", "/v1/models", Value::Null).await;
    let listed = listed.json()["data"].as_array().unwrap().clone();
    let ids = listed.iter().map(|model| id(model).to_owned());
    ids.collect()
}

async fn a_credential_without_a_user_owns_no_conversation(world: &World) {
    let organization = world.organization();
    let grant = json!({"scope": "ai:chat"});
    let (_, secret) = credential(world, &organization.key, grant.clone(), json!({})).await;
    let silent = world
        .gateway
        .chat(&secret, json!({"message": mark()}))
        .await;
    assert_eq!(silent.status, 200, "{}", silent.text());
    let refused = world
        .gateway
        .chat(&secret, json!({"message": "x", "store": true}))
        .await;
    assert_eq!(
        refused.json()["error"]["code"],
        "CONVERSATION_OWNER_REQUIRED"
    );

    let user = json!({"runtime_user": "patient-7"});
    let (_, owner) = credential(world, &organization.key, grant.clone(), user).await;
    let stored = world.gateway.chat(&owner, json!({"message": mark()})).await;
    assert_eq!(stored.status, 200, "{}", stored.text());
    let conversation = stored.json()["data"]["conversation_id"].clone();
    let next = json!({"message": mark(), "conversation_id": conversation});
    assert_eq!(world.gateway.chat(&owner, next.clone()).await.status, 200);
    let (_, other) = credential(
        world,
        &organization.key,
        grant,
        json!({"runtime_user": "patient-8"}),
    )
    .await;
    let foreign = world.gateway.chat(&other, next).await;
    assert_eq!(
        (foreign.status, foreign.json()["error"]["code"].as_str()),
        (404, Some("RESOURCE_NOT_FOUND"))
    );

    let message = stored.json()["data"]["message"]["id"].clone();
    let path = format!("/v1/ai/messages/{}", message.as_str().unwrap());
    for (credential, status) in [
        (&owner, 200),
        (&other, 404),
        (&secret, 404),
        (&organization.key, 200),
    ] {
        let read = Request::new("GET", &path).bearer(credential);
        assert_eq!(world.gateway.answer(&read).await.status, status);
    }
}

async fn a_credential_reads_as_far_as_its_grants_go(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let model = "alpha-haiku-4-5";
    let body = json!({"message": mark(), "model": model});
    let said = world.gateway.chat(key, body).await.json();
    let path = format!("/v1/ai/messages/{}", id(&said["data"]["message"]));
    for (constraints, status, broken) in [
        (json!({}), 200, Value::Null),
        (
            json!({"surfaces": ["native"], "models": [model]}),
            200,
            Value::Null,
        ),
        (
            json!({"surfaces": ["messages", "chat_completions"]}),
            403,
            json!("surfaces"),
        ),
        (json!({"models": ["beta-5.4"]}), 404, Value::Null),
    ] {
        let grant = json!({"scope": "ai:chat", "constraints": constraints});
        let (_, secret) = credential(world, key, grant, json!({})).await;
        let read = Request::new("GET", &path).bearer(&secret);
        let answer = world.gateway.answer(&read).await;
        assert_eq!(answer.status, status, "{constraints}: {}", answer.text());
        let error = answer.json()["error"].clone();
        assert_eq!(error["details"]["constraint"], broken, "{error}");
    }
}

async fn bad_credentials_are_told_apart(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let (made, secret) = credential(world, key, json!({"scope": "ai:chat"}), json!({})).await;
    let ask = async |secret: &str| {
        let answer = world.gateway.chat(secret, json!({"message": mark()})).await;
        let error = answer.json()["error"].clone();
        (
            answer.status,
            error["code"].as_str().unwrap_or_default().to_owned(),
            error["details"]["reason"].clone(),
        )
    };
    let unknown = format!("svc_agt_{}", "0".repeat(40));
    for bad in [
        unknown.as_str(),
        "svc_agt_short",
        "svc_agt_ééé",
        &format!("{secret}x"),
    ] {
        assert_eq!(
            ask(bad).await,
            (401, "AGENT_CREDENTIAL_NOT_FOUND".to_owned(), Value::Null)
        );
    }
    assert_eq!(ask(&secret).await.0, 200);
    let agent = format!("/v1/agents/{}", made["agent_id"].as_str().unwrap());
    data(world, key, "POST", &format!("{agent}/archive"), Value::Null).await;
    let revoked = "AGENT_CREDENTIAL_REVOKED".to_owned();
    assert_eq!(
        ask(&secret).await,
        (401, revoked.clone(), json!("agent_archived"))
    );
    let issue = call(
        world,
        key,
        "POST",
        &format!("{agent}/credentials"),
        json!({}),
    )
    .await;
    assert_eq!(
        issue.json()["error"]["param"],
        "agentId",
        "{}",
        issue.text()
    );
    data(
        world,
        key,
        "POST",
        &format!("{agent}/reactivate"),
        Value::Null,
    )
    .await;
    assert_eq!(ask(&secret).await.0, 200);
    let revoke = format!("{agent}/credentials/{}/revoke", id(&made));
    data(world, key, "POST", &revoke, Value::Null).await;
    assert_eq!(ask(&secret).await, (401, revoked, json!("revoked")));
}

async fn limits_of_a_credential_hold(world: &World) {
    let organization = world.organization();
    let limits = json!({"rate_limits": {"per_minute": 2, "concurrency": 1}});
    let (_, secret) = credential(
        world,
        &organization.key,
        json!({"scope": "ai:chat"}),
        limits,
    )
    .await;
    let slow = mark();
    let behaviour = json!({"contains": slow, "event_count": 4, "delay_between_events_ms": 500});
    world.fake.expect(behaviour).await;
    let mut running = world
        .gateway
        .stream(&secret, json!({"message": slow}))
        .await;
    running.next().await;
    let refused = world.gateway.chat(&secret, json!({"message": "x"})).await;
    let error = refused.json()["error"].clone();
    assert_eq!(
        (refused.status, error["code"].as_str()),
        (429, Some("AGENT_CONCURRENCY_CAP_EXCEEDED"))
    );
    assert_eq!(
        (&error["details"]["limit"], &error["details"]["in_flight"]),
        (&json!(1), &json!(1))
    );
    while running.next().await.is_some() {}
    let limited = world.gateway.chat(&secret, json!({"message": "x"})).await;
    let error = limited.json()["error"].clone();
    assert_eq!(
        (limited.status, error["code"].as_str()),
        (429, Some("AGENT_RATE_LIMIT_EXCEEDED"))
    );
    assert_eq!(error["details"]["scope"], "agent");
    assert_eq!(limited.header("x-ratelimit-scope"), Some("agent"));
}
