//! Applications: made, changed, given another secret and revoked (contract 16.1).

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::patience::eventually;
use svc_tests::world::World;

use super::{Scene, TOKEN, application, basic, data, error, form, text};
use crate::engines::on_both_engines;
use svc_tests::wire::Request;

on_both_engines! {
    a_change_is_judged_before_it_is_looked_for,
    an_application_is_shown_as_it_was_made,
    what_cannot_be_registered_is_said_whole,
    an_old_secret_is_good_for_its_grace,
    revoking_ends_everything_at_once,
    other_organizations_and_modes_see_nothing,
}

const PATH: &str = "/v1/oauth/applications";

/// What is wrong with a request comes before what it is about (contract 2).
async fn a_change_is_judged_before_it_is_looked_for(world: &World) {
    let key = world.organization().key;
    let path = format!("{PATH}/oapp_00000000000000000000000000");
    for (query, body, status) in [
        ("", json!({"zzz": 1}), 422),
        ("?zzz=1", json!({}), 422),
        ("", json!({"name": "CareNav"}), 404),
    ] {
        let request = Request::new("PATCH", &format!("{path}{query}"));
        let request = request.bearer(&key).json(&body);
        let answer = world.gateway.answer(&request).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
}

async fn an_application_is_shown_as_it_was_made(world: &World) {
    let organization = world.organization();
    let key = organization.key.clone();
    let mut made = application(
        world,
        &key,
        json!({"homepage_url": "https://carenav.example"}),
    )
    .await;
    let secret = text(&made, "client_secret").to_owned();
    assert!(
        secret.starts_with("svc_cs_") && secret.len() == 47,
        "{secret}"
    );
    assert!(text(&made, "client_id").starts_with("svc_app_"));
    assert!(text(&made, "secret_hint").ends_with(&secret[43..]));
    assert_eq!(made["mode"], "live");
    assert_eq!(
        made["authorization_details_types"],
        json!(["svc_agent_access"])
    );
    made.as_object_mut().unwrap().remove("client_secret");
    let path = format!("{PATH}/{}", text(&made, "id"));
    assert_eq!(data(world, &key, "GET", &path, Value::Null).await, made);
    let listed = data(world, &key, "GET", PATH, Value::Null).await;
    assert_eq!(listed, json!([made]));
    // Whose user is no admin may not even read.
    let member = "UPDATE users SET role = $1 WHERE id = $2";
    for (role, status) in [("member", 403), ("compliance", 403), ("admin", 200)] {
        let arguments = [role, organization.user_id.as_str()];
        world.gateway.database.change(member, &arguments).await;
        eventually("the role", async || {
            for path in [PATH, path.as_str()] {
                let answer = world
                    .gateway
                    .answer(&Request::new("GET", path).bearer(&key))
                    .await;
                if answer.status != status {
                    return None;
                }
                if status == 403 {
                    assert_eq!(answer.json()["error"]["code"], "ORG_ADMIN_REQUIRED");
                }
            }
            Some(())
        })
        .await;
    }
    let changed = json!({"name": "CareNav 2", "publisher": null, "redirect_uris": ["https://other.example/cb"]});
    let changed = data(world, &key, "PATCH", &path, changed).await;
    assert_eq!(changed["name"], "CareNav 2");
    assert_eq!(changed["publisher"], Value::Null);
    assert_eq!(changed["homepage_url"], made["homepage_url"]);
    assert_eq!(changed["client_id"], made["client_id"]);
    for kind in ["public", "native"] {
        let made = application(world, &key, json!({"type": kind})).await;
        assert!(made.get("client_secret").is_none());
        assert_eq!(made["secret_hint"], Value::Null);
        let path = format!("{PATH}/{}/rotate-secret", text(&made, "id"));
        let request = Request::new("POST", &path).bearer(&key);
        assert_eq!(world.gateway.answer(&request).await.status, 422);
    }
}

async fn what_cannot_be_registered_is_said_whole(world: &World) {
    let key = world.organization().key;
    let good =
        json!({"name": "A", "type": "confidential", "redirect_uris": ["https://a.example/cb"]});
    for (name, value, param) in [
        ("name", json!(""), "name"),
        ("name", json!("x".repeat(101)), "name"),
        ("name", Value::Null, "name"),
        ("type", json!("web"), "type"),
        ("mode", json!("test"), "mode"),
        ("redirect_uris", json!([]), "redirect_uris"),
        ("redirect_uris", json!("https://a.example"), "redirect_uris"),
        (
            "redirect_uris",
            json!(["https://a.example/#x"]),
            "redirect_uris[0]",
        ),
        (
            "redirect_uris",
            json!(["http://a.example/"]),
            "redirect_uris[0]",
        ),
        (
            "redirect_uris",
            json!(["https://*.a.example/"]),
            "redirect_uris[0]",
        ),
        (
            "redirect_uris",
            json!(["com.example.app:/cb"]),
            "redirect_uris[0]",
        ),
        (
            "redirect_uris",
            json!(["javascript:alert(1)"]),
            "redirect_uris[0]",
        ),
        ("redirect_uris", json!(["/cb"]), "redirect_uris[0]"),
        (
            "redirect_uris",
            json!(["https://a.example", "https://a.example"]),
            "redirect_uris[1]",
        ),
        ("homepage_url", json!("ftp://a.example"), "homepage_url"),
        // People decide by these: they are what they look like.
        ("name", json!("Care\u{202e}vaN"), "name"),
        ("name", json!("\u{200b}"), "name"),
        ("name", json!(" "), "name"),
        ("publisher", json!("Acme\nInc"), "publisher"),
        (
            "authorization_details_types",
            json!(["other"]),
            "authorization_details_types[0]",
        ),
        (
            "authorization_details_types",
            json!([]),
            "authorization_details_types",
        ),
        ("client_id", json!("svc_app_x"), "client_id"),
    ] {
        let mut body = good.clone();
        body[name] = value;
        let request = Request::new("POST", PATH).bearer(&key).json(&body);
        let answer = world.gateway.answer(&request).await;
        assert_eq!(answer.status, 422, "{body}");
        assert_eq!(answer.json()["error"]["param"], param, "{body}");
    }
    let eleven: Vec<String> = (0..11)
        .map(|at| format!("https://a.example/{at}"))
        .collect();
    let body = json!({"name": 7, "type": "web", "redirect_uris": eleven});
    let request = Request::new("POST", PATH).bearer(&key).json(&body);
    let answer = world.gateway.answer(&request).await.json();
    let details = answer["error"]["details"].as_object().unwrap();
    let paths: Vec<&String> = details.keys().collect();
    assert_eq!(paths, ["name", "type", "redirect_uris"]);
}

async fn an_old_secret_is_good_for_its_grace(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let token = scene.token(world, &mut browser).await;
    // What a client is told that has shown who it is, and nothing else that is right.
    let shown = async |secret: &str| {
        let request = form(TOKEN, &[("grant_type", "password")])
            .header("Authorization", &basic(scene.client_id(), secret));
        let answer = world.gateway.answer(&request).await;
        let status = answer.status;
        error(&answer, status)
    };
    let path = format!("{PATH}/{}/rotate-secret", scene.id());
    let rotated = data(world, &scene.key, "POST", &path, json!({"grace_hours": 24})).await;
    let second = text(&rotated, "client_secret");
    assert!(rotated["previous_secret_expires_at"].is_string());
    assert_eq!(shown(scene.secret()).await, "unsupported_grant_type");
    assert_eq!(shown(second).await, "unsupported_grant_type");
    let sql = "UPDATE oauth_applications SET previous_expires_at = 1 WHERE id = $1";
    world.gateway.database.change(sql, &[scene.id()]).await;
    assert_eq!(shown(scene.secret()).await, "invalid_client");
    assert_eq!(shown(second).await, "unsupported_grant_type");
    let rotated = data(world, &scene.key, "POST", &path, json!({})).await;
    assert_eq!(rotated["previous_secret_expires_at"], Value::Null);
    assert_eq!(shown(second).await, "invalid_client");
    assert_eq!(
        shown(text(&rotated, "client_secret")).await,
        "unsupported_grant_type"
    );
    assert_eq!(scene.chat(world, &token).await, "200");
    for bad in [
        json!({"grace_hours": 25}),
        json!({"grace_hours": -1}),
        json!({"hours": 1}),
    ] {
        let request = Request::new("POST", &path).bearer(&scene.key).json(&bad);
        assert_eq!(world.gateway.answer(&request).await.status, 422, "{bad}");
    }
}

async fn revoking_ends_everything_at_once(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let token = scene.token(world, &mut browser).await;
    let code = scene.code(&mut browser).await;
    let waiting = browser.get(&scene.authorize(&[])).await;
    assert_eq!(scene.chat(world, &token).await, "200");
    let path = format!("{PATH}/{}", scene.id());
    let request = Request::new("POST", &format!("{path}/revoke")).bearer(&scene.key);
    let revoked = world.gateway.answer(&request).await;
    assert_eq!(
        revoked.json()["data"]["status"],
        "revoked",
        "{}",
        revoked.text()
    );
    let row = books::single(&world.gateway.database, revoked.request_id()).await;
    assert_eq!(row["event"], "oauth_application.revoked");
    assert_eq!(
        scene.chat(world, &token).await,
        "DEVELOPER_CREDENTIAL_REVOKED"
    );
    assert_eq!(
        error(&scene.redeem(world, &code).await, 401),
        "invalid_client"
    );
    let page = super::say(&mut browser, &waiting, "allow").await;
    assert_eq!(page.status(), 400, "{}", page.text);
    assert_eq!(browser.get(&scene.authorize(&[])).await.status(), 400);
    // Whoever may read asks about it: it is as if it had never been.
    let request = form(super::INTROSPECT, &[("token", &token)]).bearer(&scene.key);
    let answer = world.gateway.answer(&request).await;
    assert_eq!(answer.text(), r#"{"active":false}"#);
    let credentials = format!("/v1/agents/{}/credentials", scene.agent_id);
    let listed = data(world, &scene.key, "GET", &credentials, Value::Null).await;
    assert_eq!(listed[0]["status"], "revoked");
    assert_eq!(listed[0]["source"], "oauth");
    assert_eq!(listed[0]["application_id"], scene.application["id"]);
    let again = Request::new("POST", &format!("{path}/revoke")).bearer(&scene.key);
    let again = world.gateway.answer(&again).await;
    assert_eq!(again.json()["data"], revoked.json()["data"]);
    for (method, path, body) in [
        ("PATCH", path.clone(), json!({"name": "B"})),
        ("POST", format!("{path}/rotate-secret"), json!({})),
    ] {
        let request = Request::new(method, &path).bearer(&scene.key).json(&body);
        assert_eq!(world.gateway.answer(&request).await.status, 422, "{path}");
    }
    // A row that is gone altogether.
    let sql = "UPDATE agent_credentials SET application_id = 'oapp_gone' WHERE application_id = $1";
    world.gateway.database.change(sql, &[scene.id()]).await;
    assert_eq!(
        scene.chat(world, &token).await,
        "DEVELOPER_CREDENTIAL_NOT_FOUND"
    );
}

async fn other_organizations_and_modes_see_nothing(world: &World) {
    let scene = Scene::new(world).await;
    let other = world.organization().key;
    let body = json!({"name": "of the test", "scopes": ["control:oauth"], "mode": "test"});
    let test = data(world, &scene.key, "POST", "/v1/api_keys", body).await;
    for key in [other.as_str(), text(&test, "key")] {
        let path = format!("{PATH}/{}", scene.id());
        for (method, path) in [
            ("GET", path.clone()),
            ("PATCH", path.clone()),
            ("POST", format!("{path}/rotate-secret")),
            ("POST", format!("{path}/revoke")),
        ] {
            let mut request = Request::new(method, &path).bearer(key);
            if method == "PATCH" {
                request = request.json(&json!({"name": "B"}));
            }
            let answer = world.gateway.answer(&request).await;
            assert_eq!(answer.status, 404, "{method} {path}");
        }
        assert_eq!(data(world, key, "GET", PATH, Value::Null).await, json!([]));
    }
}
