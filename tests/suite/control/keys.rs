//! API keys (contract 9).

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::world::World;

use super::{call, code, data, key_with, request};
use crate::engines::on_both_engines;

on_both_engines! {
    a_key_is_shown_once_used_and_revoked,
    lists_are_paged_and_filtered,
    every_problem_is_told_at_once,
    what_is_no_text_is_no_parameter,
    a_coded_body_is_refused,
    nobody_hands_on_more_than_they_have,
    a_test_key_neither_sees_nor_ends_live_ones,
    every_write_has_its_row,
}

async fn a_key_is_shown_once_used_and_revoked(world: &World) {
    let organization = world.organization();
    let owner = &organization.key;
    let body = json!({"name": "prod gateway", "scopes": ["ai:chat"], "expires_at": "2027-06-01T00:00:00+02:00"});
    let made = data(world, owner, "POST", "/v1/api_keys", body).await;
    let key = made["key"].as_str().unwrap();
    assert!(key.starts_with("svc_api_live_"), "{made}");
    assert_eq!(made["status"], "active");
    assert_eq!(made["expires_at"], "2027-05-31T22:00:00.000Z");
    assert_eq!(made["delegating_user"]["role"], "owner");
    assert_eq!(
        made["created_by"],
        json!({"type": "api_key", "id": organization.key_id})
    );
    let chat = world.gateway.chat(key, json!({"message": mark()})).await;
    assert_eq!(chat.status, 200, "{}", chat.text());
    let listed = data(world, owner, "GET", "/v1/api_keys", Value::Null).await;
    assert_eq!(listed[0]["id"], made["id"]);
    assert!(listed[0].get("key").is_none(), "{listed}");
    assert!(
        listed[0]["hint"]
            .as_str()
            .unwrap()
            .ends_with(&key[key.len() - 4..])
    );

    let path = format!("/v1/api_keys/{}", made["id"].as_str().unwrap());
    let revoked = data(world, owner, "DELETE", &path, Value::Null).await;
    assert_eq!(revoked["status"], "revoked");
    // On the replica that answered, at once.
    let chat = world.gateway.chat(key, json!({"message": mark()})).await;
    assert_eq!(chat.status, 401, "{}", chat.text());
    let again = data(world, owner, "DELETE", &path, Value::Null).await;
    assert_eq!(again, revoked);
    let other = world.organization();
    assert_eq!(
        code(world, &other.key, "DELETE", &path, Value::Null, 404).await,
        "RESOURCE_NOT_FOUND"
    );
}

async fn lists_are_paged_and_filtered(world: &World) {
    let organization = world.organization();
    let owner = &organization.key;
    for _ in 0..5 {
        key_with(world, &organization, &["ai:chat"]).await;
    }
    let mut seen = Vec::new();
    let mut path = "/v1/api_keys?limit=2".to_owned();
    loop {
        let page = call(world, owner, "GET", &path, Value::Null).await.json();
        let rows = page["data"].as_array().unwrap();
        seen.extend(
            rows.iter()
                .map(|row| row["id"].as_str().unwrap().to_owned()),
        );
        // Rows that come meanwhile do not move the pages that follow.
        key_with(world, &organization, &["ai:chat"]).await;
        let pagination = &page["meta"]["pagination"];
        assert_eq!(pagination["limit"], 2);
        match pagination["next_cursor"].as_str() {
            Some(cursor) => path = format!("/v1/api_keys?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
    let mut sorted = seen.clone();
    sorted.sort();
    sorted.reverse();
    assert_eq!(seen, sorted, "newest first, none twice");

    let first = call(world, owner, "GET", "/v1/api_keys?limit=2", Value::Null)
        .await
        .json();
    let cursor = first["meta"]["pagination"]["next_cursor"]
        .as_str()
        .unwrap()
        .to_owned();
    let other = world.organization();
    for (key, path) in [
        (
            owner,
            format!("/v1/api_keys?limit=2&status=active&cursor={cursor}"),
        ),
        (&other.key, format!("/v1/api_keys?limit=2&cursor={cursor}")),
        (owner, format!("/v1/agents?limit=2&cursor={cursor}")),
        (owner, format!("/v1/api_keys?cursor={cursor}x")),
    ] {
        let refused = call(world, key, "GET", &path, Value::Null).await;
        assert_eq!(refused.status, 422, "{path}");
        assert_eq!(refused.json()["error"]["param"], "$query.cursor", "{path}");
    }
    let many = ["status=revoked"; 1_100].join("&");
    for (query, count) in [
        ("status=revoked", 0),
        ("mode=test", 0),
        ("status=active&status=expired&limit=100", 9),
        ("created_by=nobody", 0),
        ("created_before=2020-01-01T00:00:00Z", 0),
        // A word that stands many times is one word.
        (many.as_str(), 0),
    ] {
        let path = format!("/v1/api_keys?{query}");
        let found = data(world, owner, "GET", &path, Value::Null).await;
        assert_eq!(found.as_array().unwrap().len(), count, "{query}");
    }
}

async fn every_problem_is_told_at_once(world: &World) {
    let owner = world.organization().key;
    let body = json!({
        "scopes": ["ai:chat", "ai:chat", "ai:everything"], "expires_at": "2020-01-01T00:00:00Z",
        "default_version": "2026-01-01", "rate_limits": {"per_minute": 601, "per_day": 1}, "colour": null,
    });
    let refused = call(world, &owner, "POST", "/v1/api_keys?dry=1", body).await;
    assert_eq!(refused.status, 422);
    let error = refused.json()["error"].clone();
    let paths: Vec<&str> = error["details"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        paths,
        [
            "$query.dry",
            "scopes[1]",
            "scopes[2]",
            "expires_at",
            "default_version",
            "rate_limits.per_minute",
            "rate_limits.per_day",
            "colour",
            "name"
        ]
    );
    assert_eq!(error["param"], "$query.dry");
    for (query, param) in [
        ("limit=0", "$query.limit"),
        ("limit=101", "$query.limit"),
        ("limit=1&limit=2", "$query.limit"),
        ("status=gone", "$query.status"),
        ("created_after=yesterday", "$query.created_after"),
        ("stauts=active", "$query.stauts"),
    ] {
        let path = format!("/v1/api_keys?{query}");
        let refused = call(world, &owner, "GET", &path, Value::Null).await;
        assert_eq!(refused.status, 422, "{query}");
        assert_eq!(refused.json()["error"]["param"], param);
    }
}

async fn what_is_no_text_is_no_parameter(world: &World) {
    let owner = world.organization().key;
    for (path, wanted) in [
        ("/v1/agents?name=%ff", "$query.name"),
        ("/v1/agents?name=%c3%28", "$query.name"),
        ("/v1/agents?name=%ed%a0%80", "$query.name"),
        ("/v1/agents?name=%zz", "$query.name"),
        ("/v1/agents?name=%", "$query.name"),
        ("/v1/agents?limit=5&%ff=1", "$query.…"),
        ("/v1/audit?actor_id=%ff", "$query.actor_id"),
        ("/v1/audit?event=auth.*&model=a%2", "$query.model"),
        ("/v1/api_keys?created_by=%e2%82", "$query.created_by"),
        ("/v1/ai/messages/msg_x?z=%ff", "$query.z"),
    ] {
        let refused = call(world, &owner, "GET", path, Value::Null).await;
        let error = refused.json()["error"].clone();
        assert_eq!(
            (refused.status, &error["code"], &error["param"]),
            (422, &json!("VALIDATION_FAILED"), &json!(wanted)),
            "{path}"
        );
        let told = &error["details"][wanted];
        assert_eq!(told[0], "must be percent-encoded UTF-8", "{path}: {told}");
    }
    for name in ["caf%C3%A9", "100%25", "a+b"] {
        let path = format!("/v1/agents?name={name}");
        data(world, &owner, "GET", &path, Value::Null).await;
    }
    let path = "/v1/agents?cursor=%ff";
    let refused = call(world, &owner, "GET", path, Value::Null).await;
    let told = refused.json()["error"]["details"].clone();
    let wanted = "does not belong to this list and these filters";
    assert_eq!(told, json!({"$query.cursor": [wanted]}));
}

async fn a_coded_body_is_refused(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let body = json!({"name": "coded"});
    let ask = async |method, path: &str, coding: &str| {
        let request = request(key, method, path, &body).header("Content-Encoding", coding);
        world.gateway.answer(&request).await
    };
    let organization = format!("/v1/orgs/{}", organization.id);
    for (method, path) in [
        ("POST", "/v1/agents"),
        ("POST", "/v1/api_keys"),
        ("PATCH", organization.as_str()),
        ("POST", "/v1/webhooks"),
        ("POST", "/v1/solve"),
    ] {
        for coding in ["gzip", "br", "identity, gzip"] {
            let refused = ask(method, path, coding).await;
            let details = &refused.json()["error"]["details"];
            assert_eq!(refused.status, 422, "{path}: {}", refused.text());
            let wanted = json!({"$header.Content-Encoding": ["must be identity"]});
            assert_eq!(details, &wanted, "{path}");
        }
    }
    let taken = ask("POST", "/v1/agents", "identity").await;
    assert_eq!(taken.status, 201, "{}", taken.text());
}

async fn nobody_hands_on_more_than_they_have(world: &World) {
    let organization = world.organization();
    let small = key_with(world, &organization, &["control:keys", "ai:chat"]).await;
    let body = json!({"name": "x", "scopes": ["ai:chat", "control:read"]});
    let refused = call(world, &small, "POST", "/v1/api_keys", body).await;
    assert_eq!(refused.status, 403);
    let error = refused.json()["error"].clone();
    assert_eq!(error["code"], "MISSING_SCOPE");
    assert_eq!(error["details"]["required_scope"], "control:read");
    let body = json!({"name": "test", "scopes": ["ai:chat", "control:keys"], "mode": "test"});
    let made = data(world, &small, "POST", "/v1/api_keys", body).await;
    let test_key = made["key"].as_str().unwrap();
    assert!(test_key.starts_with("svc_api_test_"));
    let body = json!({"name": "live again", "scopes": ["ai:chat"], "mode": "live"});
    assert_eq!(
        code(world, test_key, "POST", "/v1/api_keys", body, 422).await,
        "VALIDATION_FAILED"
    );
}

async fn a_test_key_neither_sees_nor_ends_live_ones(world: &World) {
    let organization = world.organization();
    let owner = &organization.key;
    let body = json!({"name": "t", "scopes": ["control:keys", "control:read"], "mode": "test"});
    let made = data(world, owner, "POST", "/v1/api_keys", body).await;
    let test_key = made["key"].as_str().unwrap();
    let listed = data(world, test_key, "GET", "/v1/api_keys", Value::Null).await;
    let ids: Vec<&Value> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|key| &key["id"])
        .collect();
    assert_eq!(ids, [&made["id"]]);
    let path = "/v1/api_keys?mode=live";
    let refused = call(world, test_key, "GET", path, Value::Null).await;
    assert_eq!(refused.status, 422);
    assert_eq!(refused.json()["error"]["param"], "$query.mode");
    let path = format!("/v1/api_keys/{}", organization.key_id);
    assert_eq!(
        code(world, test_key, "DELETE", &path, Value::Null, 404).await,
        "RESOURCE_NOT_FOUND"
    );
    data(world, owner, "GET", "/v1/usage", Value::Null).await;
    let path = format!("/v1/api_keys/{}", made["id"].as_str().unwrap());
    let ended = data(world, test_key, "DELETE", &path, Value::Null).await;
    assert_eq!(ended["status"], "revoked");
}

async fn every_write_has_its_row(world: &World) {
    let organization = world.organization();
    let body = json!({"name": "audited", "scopes": ["ai:chat"]});
    let made = call(world, &organization.key, "POST", "/v1/api_keys", body).await;
    let row = books::single(&world.gateway.database, made.request_id()).await;
    assert_eq!(row["event"], "api_key.created");
    assert_eq!(row["target_id"], made.json()["data"]["id"]);
    assert_eq!(row["actor_id"], organization.key_id.as_str());
    let document = books::document(&row);
    assert_eq!(
        document["outcome"],
        json!({"result": "success", "status": 201, "code": null})
    );
    assert_eq!(document["details"]["scopes"], json!(["ai:chat"]));
    let secret = made.json()["data"]["key"].as_str().unwrap().to_owned();
    assert!(!document.to_string().contains(&secret));
    let refused = call(world, &organization.key, "POST", "/v1/api_keys", json!({})).await;
    let row = books::single(&world.gateway.database, refused.request_id()).await;
    assert_eq!(
        (&row["event"], &row["result"]),
        (&json!("api_key.denied"), &json!("failure"))
    );
    let reader = key_with(world, &organization, &["control:read"]).await;
    let refused = call(world, &reader, "POST", "/v1/api_keys", json!({})).await;
    assert_eq!(refused.status, 403);
    let row = books::single(&world.gateway.database, refused.request_id()).await;
    assert_eq!(
        (&row["event"], &row["result"]),
        (&json!("api_key.denied"), &json!("denied"))
    );
}
