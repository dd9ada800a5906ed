//! The authorization endpoint: every bad request has one answer, and no redirect where the address is in doubt
//! (contract 16.2 and 16.3).

use serde_json::{Value, json};
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::{AUTHORIZE, CHALLENGE, REDIRECT, Scene, parameter};
use crate::engines::{on_both_engines, on_sqlite};

on_both_engines! {
    every_bad_parameter_is_told_to_the_application,
    where_the_address_is_in_doubt_there_is_a_page,
    a_native_application_may_name_any_port,
    a_stranger_signs_in_first,
}

on_sqlite! {
    the_metadata_names_what_there_is,
}

async fn the_metadata_names_what_there_is(world: &World) {
    let request = Request::new("GET", "/.well-known/oauth-authorization-server");
    let answer = world.gateway.answer(&request).await;
    let issuer = format!("http://{}", world.gateway.address);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("cache-control"), Some("public, max-age=300"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert!(answer.header("svc-version").is_none());
    assert_eq!(
        answer.json(),
        json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/v1/oauth/authorize"),
            "token_endpoint": format!("{issuer}/v1/oauth/token"),
            "introspection_endpoint": format!("{issuer}/v1/oauth/introspect"),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
            "introspection_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "authorization_details_types_supported": ["svc_agent_access"],
            "authorization_response_iss_parameter_supported": true,
        })
    );
}

fn details(value: Value) -> String {
    value.to_string()
}

async fn every_bad_parameter_is_told_to_the_application(world: &World) {
    let scene = Scene::new(world).await;
    let entry = json!({"type": "svc_agent_access", "actions": ["chat"]});
    let wide = details(
        json!([{"type": "svc_agent_access", "actions": ["chat"], "tools": ["x".repeat(17_000)]}]),
    );
    let many = details(Value::Array(vec![entry; 17]));
    let long = "a".repeat(44);
    let table: Vec<(&str, String, &str)> = [
        ("response_type", "", "invalid_request"),
        ("response_type", "token", "unsupported_response_type"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge", &CHALLENGE[1..], "invalid_request"),
        ("code_challenge", &long, "invalid_request"),
        (
            "code_challenge",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM",
            "invalid_request",
        ),
        ("code_challenge_method", "", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("agent_id", "", "invalid_request"),
        (
            "agent_id",
            "agt_01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "invalid_request",
        ),
        ("agent_id", "nobody", "invalid_request"),
        ("authorization_details", "", "invalid_request"),
        ("authorization_details", "{}", "invalid_request"),
        ("authorization_details", "[1]", "invalid_request"),
        ("authorization_details", "[{", "invalid_request"),
        (
            "authorization_details",
            "[]",
            "invalid_authorization_details",
        ),
        (
            "authorization_details",
            r#"[{"type":"x","actions":["chat"]}]"#,
            "invalid_authorization_details",
        ),
        (
            "authorization_details",
            &wide,
            "invalid_authorization_details",
        ),
        (
            "authorization_details",
            &many,
            "invalid_authorization_details",
        ),
        (
            "authorization_details",
            r#"[{"type":"svc_agent_access","actions":["chat"],"more":1}]"#,
            "invalid_authorization_details",
        ),
        (
            "authorization_details",
            r#"[{"type":"svc_agent_access","actions":["fly"]}]"#,
            "invalid_authorization_details",
        ),
        (
            "authorization_details",
            r#"[{"type":"svc_agent_access","actions":[]}]"#,
            "invalid_authorization_details",
        ),
        (
            "authorization_details",
            r#"[{"type":"svc_agent_access","actions":["chat"],"models":["alpha-haiku-4-5","beta-x"]}]"#,
            "invalid_authorization_details",
        ),
    ]
    .into_iter()
    .map(|(name, value, word)| (name, value.to_owned(), word))
    .collect();
    for (name, value, word) in table {
        let path = scene.authorize(&[(name, &value)]);
        told(world, &path, word, Some("s 1&x")).await;
    }
    for name in [
        "response_type",
        "code_challenge",
        "code_challenge_method",
        "agent_id",
        "authorization_details",
    ] {
        let twice = format!("{}&{name}=x", scene.authorize(&[]));
        told(world, &twice, "invalid_request", Some("s 1&x")).await;
    }
    let twice = format!("{}&state=x", scene.authorize(&[]));
    told(world, &twice, "invalid_request", None).await;
    told(
        world,
        &scene.authorize(&[("agent_id", ""), ("state", "")]),
        "invalid_request",
        None,
    )
    .await;
}

/// The application is told this, at its own address and by us.
async fn told(world: &World, path: &str, word: &str, state: Option<&str>) {
    let answer = world.gateway.answer(&Request::new("GET", path)).await;
    assert_eq!(answer.status, 303, "{path}: {}", answer.text());
    let location = answer.header("location").expect("an address");
    assert!(location.starts_with(&format!("{REDIRECT}&")), "{location}");
    assert_eq!(
        parameter(location, "error").as_deref(),
        Some(word),
        "{path}"
    );
    let description = parameter(location, "error_description").expect("a description");
    assert!(
        description.is_ascii() && !description.contains(['"', '\\']),
        "{description}"
    );
    assert_eq!(parameter(location, "state").as_deref(), state);
    let issuer = format!("http://{}", world.gateway.address);
    assert_eq!(parameter(location, "iss"), Some(issuer));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
}

async fn where_the_address_is_in_doubt_there_is_a_page(world: &World) {
    let scene = Scene::new(world).await;
    let revoked = scene.beside(world, json!({})).await;
    let path = format!("/v1/oauth/applications/{}/revoke", revoked.id());
    super::data(world, &scene.key, "POST", &path, Value::Null).await;
    let again = |name: &str| {
        format!(
            "{}&{name}=https%3A%2F%2Fcarenav.example",
            scene.authorize(&[])
        )
    };
    for path in [
        AUTHORIZE.to_owned(),
        scene.authorize(&[("client_id", "")]),
        scene.authorize(&[("client_id", "svc_app_000000000000000000000000")]),
        revoked.authorize(&[]),
        scene.authorize(&[("redirect_uri", "")]),
        scene.authorize(&[("redirect_uri", "https://carenav.example/cb")]),
        scene.authorize(&[("redirect_uri", "https://carenav.example/cb?tenant=1&x=2")]),
        scene.authorize(&[("redirect_uri", "https://CARENAV.example/cb?tenant=1")]),
        scene.authorize(&[("redirect_uri", "https://evil.example/cb")]),
        again("redirect_uri"),
        again("client_id"),
    ] {
        let answer = world.gateway.answer(&Request::new("GET", &path)).await;
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.header("location").is_none());
        assert_eq!(
            answer.header("content-type"),
            Some("text/html; charset=utf-8")
        );
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        let json = Request::new("GET", &path).header("Accept", "application/json");
        let answer = world.gateway.answer(&json).await;
        assert_eq!(answer.json()["error"], "invalid_request", "{path}");
        assert_eq!(answer.status, 400);
    }
    let posted = world.gateway.answer(&Request::new("POST", AUTHORIZE)).await;
    assert_eq!(posted.status, 405);
}

async fn a_native_application_may_name_any_port(world: &World) {
    let uris = json!([
        "http://127.0.0.1/cb",
        "http://[::1]:7/cb",
        "com.example.app:/cb"
    ]);
    let native = Scene::with(
        world,
        json!({}),
        json!({"type": "native", "redirect_uris": uris}),
    )
    .await;
    let uris = json!(["http://127.0.0.1/cb"]);
    let public = native
        .beside(world, json!({"type": "public", "redirect_uris": uris}))
        .await;
    for (scene, address, status) in [
        (&native, "http://127.0.0.1:51234/cb", 303),
        (&native, "http://[::1]:51234/cb", 303),
        (&native, "http://[::1]/cb", 303),
        (&native, "com.example.app:/cb", 303),
        (&native, "http://127.0.0.1:51234/other", 400),
        (&native, "http://localhost:51234/cb", 400),
        (&native, "http://127.0.0.1:80@evil.example/cb", 400),
        (&public, "http://127.0.0.1/cb", 303),
        (&public, "http://127.0.0.1:51234/cb", 400),
    ] {
        let path = scene.authorize(&[("redirect_uri", address)]);
        let answer = world.gateway.answer(&Request::new("GET", &path)).await;
        assert_eq!(answer.status, status, "{address}");
    }
}

async fn a_stranger_signs_in_first(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = svc_tests::browser::Browser::new(&world.gateway);
    let page = browser.get(&scene.authorize(&[])).await;
    let login = page.leads_to().to_owned();
    let next = parameter(&login, "next").expect("where to go on");
    assert!(
        login.starts_with("/ui/login?") && next.starts_with("/ui/consent/"),
        "{login}"
    );
    // Nothing of the request is in the address.
    assert!(!login.contains(scene.client_id()) && !login.contains("carenav"));
    let page = browser.get(&next).await;
    assert!(page.leads_to().starts_with("/ui/login?"));
    // An invitation signs in too.
    browser.accept(&scene.organization.invitation).await;
    let page = browser.get(&next).await;
    assert_eq!(page.status(), 200, "{}", page.text);
    let done = super::say(&mut browser, &page, "allow").await;
    assert!(parameter(done.leads_to(), "code").is_some());
}
