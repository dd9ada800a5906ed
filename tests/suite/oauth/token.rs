//! The token endpoint: a code once, for whoever it was meant for, and every bad request by its word (contract 16.4).

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::policies::Policies;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::{
    OTHER_VERIFIER, Scene, TOKEN, VERIFIER, agent, basic, data, error, form, parameter, say, text,
};
use crate::engines::on_both_engines;

on_both_engines! {
    a_code_becomes_a_credential_of_the_agent,
    every_bad_request_has_its_word,
    every_bad_code_is_an_invalid_grant,
    nothing_is_given_while_the_agents_parent_is_archived,
    a_token_that_could_do_nothing_is_not_issued,
    a_second_valid_use_ends_what_the_first_produced,
    three_wrong_verifiers_burn_a_code,
    a_client_shows_itself_in_one_way,
    a_client_has_its_own_limit,
    a_test_application_gets_test_credentials,
    what_was_granted_is_enforced,
    a_token_reads_nothing_that_is_stored,
}

async fn a_code_becomes_a_credential_of_the_agent(world: &World) {
    let scene = Scene::with(world, json!({"default_expiry_hours": 2}), json!({})).await;
    let mut browser = scene.owner(world).await;
    let code = scene.code(&mut browser).await;
    let answer = scene.redeem(world, &code).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert!(answer.header("svc-version").is_none());
    let body = answer.json();
    let token = text(&body, "access_token");
    assert!(token.starts_with("svc_agt_") && !token.starts_with("svc_agt_test_"));
    assert_eq!(body["token_type"], "Bearer");
    assert_eq!(body["expires_in"], 7200);
    assert_eq!(body["agent_id"], json!(scene.agent_id));
    let granted = json!([{"type": "svc_agent_access", "actions": ["chat"]}]);
    assert_eq!(body["authorization_details"], granted);
    assert_eq!(body.as_object().unwrap().len(), 5);
    assert_eq!(scene.chat(world, token).await, "200");
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(row["event"], "oauth.token_issued");
    assert_eq!(
        (&row["actor_type"], &row["actor_id"]),
        (&json!("oauth_application"), &scene.application["id"])
    );
    assert_eq!(row["org_id"], scene.organization.id);
    let document = text(&row, "document");
    assert!(!document.contains(token) && !document.contains(&code));
    assert!(document.contains(&scene.organization.user_id));
    // Nothing that was handed out is legible at rest.
    for table in ["oauth_codes", "agent_credentials", "oauth_applications"] {
        let rows = world
            .gateway
            .database
            .rows(&format!("SELECT * FROM {table}"), &[])
            .await;
        let text = Value::Array(rows).to_string();
        for secret in [token, &code, scene.secret()] {
            assert!(!text.contains(secret), "in {table}");
        }
    }
}

async fn every_bad_request_has_its_word(world: &World) {
    let first = Scene::new(world).await;
    let secret_in_the_address = |path: &str| format!("{path}?client_secret=x");
    let long = "x".repeat(5_000);
    let (short, wide) = ("a".repeat(42), "a".repeat(129));
    for (changes, status, word) in [
        (&[("grant_type", "")][..], 400, "invalid_request"),
        (&[("code", "")], 400, "invalid_request"),
        (&[("code_verifier", "")], 400, "invalid_request"),
        (&[("code_verifier", &short)], 400, "invalid_request"),
        (&[("code_verifier", &wide)], 400, "invalid_request"),
        (
            &[(
                "code_verifier",
                "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOE+/=",
            )],
            400,
            "invalid_request",
        ),
        (&[("code", &long)], 400, "invalid_request"),
        (
            &[("grant_type", "client_credentials")],
            400,
            "unsupported_grant_type",
        ),
        (
            &[("grant_type", "refresh_token")],
            400,
            "unsupported_grant_type",
        ),
        (&[("grant_type", "password")], 400, "unsupported_grant_type"),
        (&[("code", "unknown")], 400, "invalid_grant"),
    ] {
        let scene = first.beside(world, json!({})).await;
        let answer = scene.redeem_with(world, "unknown", changes).await;
        assert_eq!(error(&answer, status), word, "{changes:?}");
    }
    let scene = first.beside(world, json!({})).await;
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", "x"),
        ("code_verifier", VERIFIER),
    ];
    let twice = [fields[0], fields[1], fields[1], fields[2]];
    let json_body =
        json!({"grant_type": "authorization_code", "code": "x", "code_verifier": VERIFIER});
    for request in [
        form(TOKEN, &twice),
        form(&secret_in_the_address(TOKEN), &fields),
        form(&format!("{TOKEN}?code=x"), &fields),
        Request::new("POST", TOKEN).json(&json_body),
        Request::new("POST", TOKEN)
            .header("Content-Type", "multipart/form-data; boundary=x")
            .body(b"x"),
        form(TOKEN, &fields).header("Content-Type", "application/json"),
        Request::new("POST", TOKEN),
        form(TOKEN, &[("code", &"x".repeat(40_000))]),
    ] {
        let request = request.header("Authorization", &scene.basic());
        let answer = world.gateway.answer(&request).await;
        assert_eq!(error(&answer, 400), "invalid_request");
    }
    let read = world.gateway.answer(&Request::new("GET", TOKEN)).await;
    assert_eq!(read.status, 405);
}

async fn every_bad_code_is_an_invalid_grant(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    // Of another client, whose attempts do the code no harm.
    let code = scene.code(&mut browser).await;
    let other = scene.beside(world, json!({})).await;
    for _ in 0..4 {
        assert_eq!(
            error(&other.redeem(world, &code).await, 400),
            "invalid_grant"
        );
    }
    // Another address.
    let elsewhere = [("redirect_uri", "https://carenav.example/other")];
    assert_eq!(
        error(&scene.redeem_with(world, &code, &elsewhere).await, 400),
        "invalid_grant"
    );
    // It need not be sent.
    let unsaid = scene
        .redeem_with(world, &code, &[("redirect_uri", "")])
        .await;
    assert_eq!(unsaid.status, 200, "{}", unsaid.text());
    // Expired.
    let code = scene.code(&mut browser).await;
    let sql = "UPDATE oauth_codes SET expires_at = 1 WHERE application_id = $1 AND used_at IS NULL";
    world.gateway.database.change(sql, &[scene.id()]).await;
    assert_eq!(
        error(&scene.redeem(world, &code).await, 400),
        "invalid_grant"
    );
    // The agent is archived meanwhile.
    let code = scene.code(&mut browser).await;
    let path = format!("/v1/agents/{}", scene.agent_id);
    data(
        world,
        &scene.key,
        "POST",
        &format!("{path}/archive"),
        json!({}),
    )
    .await;
    assert_eq!(
        error(&scene.redeem(world, &code).await, 400),
        "invalid_grant"
    );
    data(
        world,
        &scene.key,
        "POST",
        &format!("{path}/reactivate"),
        json!({}),
    )
    .await;
    // The user is suspended meanwhile.
    let sql = "UPDATE users SET status = 'suspended' WHERE id = $1";
    world
        .gateway
        .database
        .change(sql, &[&scene.organization.user_id])
        .await;
    assert_eq!(
        error(&scene.redeem(world, &code).await, 400),
        "invalid_grant"
    );
    let sql = "UPDATE users SET status = 'active' WHERE id = $1";
    world
        .gateway
        .database
        .change(sql, &[&scene.organization.user_id])
        .await;
    // Neither used the code up.
    assert_eq!(scene.redeem(world, &code).await.status, 200);
}

async fn nothing_is_given_while_the_agents_parent_is_archived(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let parent = json!({"parent_agent_id": scene.agent_id});
    let child = agent(world, &scene.key, parent).await;
    let of_child = [("agent_id", child.as_str())];
    let code = scene.code_for(&mut browser, &of_child).await;
    let page = browser.get(&scene.authorize(&of_child)).await;
    let path = format!("/v1/agents/{}", scene.agent_id);
    let archive = format!("{path}/archive");
    data(world, &scene.key, "POST", &archive, json!({})).await;
    assert_eq!(
        error(&scene.redeem(world, &code).await, 400),
        "invalid_grant"
    );
    let done = say(&mut browser, &page, "allow").await;
    assert_eq!(
        parameter(done.leads_to(), "error").as_deref(),
        Some("access_denied")
    );
    let reactivate = format!("{path}/reactivate");
    data(world, &scene.key, "POST", &reactivate, json!({})).await;
    assert_eq!(scene.redeem(world, &code).await.status, 200);
}

async fn a_token_that_could_do_nothing_is_not_issued(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let parent = json!({"parent_agent_id": scene.agent_id});
    let child = agent(world, &scene.key, parent).await;
    let code = scene
        .code_for(&mut browser, &[("agent_id", child.as_str())])
        .await;
    let path = format!("/v1/agents/{}", scene.agent_id);
    let change = async |grants: Value| {
        let body = json!({"scope_grants": grants});
        data(world, &scene.key, "PATCH", &path, body).await;
    };
    // The user has said yes to `chat`, and the agent's parent has lost that meanwhile.
    let elsewhere = json!([{"scope": "ai:chat", "constraints": {"surfaces": ["messages"]}}]);
    for grants in [elsewhere, json!([{"scope": "control:read"}]), json!([])] {
        change(grants.clone()).await;
        let refused = scene.redeem(world, &code).await;
        assert_eq!(error(&refused, 400), "invalid_grant", "{grants}");
    }
    // Grants that nobody can read are a defect of ours, and no reason to give anything.
    let database = &world.gateway.database;
    let sql = "UPDATE oauth_codes SET scope_grants = $2 WHERE application_id = $1";
    let read = "SELECT scope_grants FROM oauth_codes WHERE application_id = $1";
    let stored = database.rows(read, &[scene.id()]).await;
    let stored = text(&stored[0], "scope_grants").to_owned();
    change(json!([{"scope": "ai:chat"}])).await;
    database.change(sql, &[scene.id(), "7"]).await;
    assert_eq!(
        error(&scene.redeem(world, &code).await, 500),
        "server_error"
    );
    database.change(sql, &[scene.id(), &stored]).await;
    // Nothing has used the code up.
    assert_eq!(scene.redeem(world, &code).await.status, 200);
}

async fn a_second_valid_use_ends_what_the_first_produced(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let code = scene.code(&mut browser).await;
    let first = scene.redeem(world, &code).await.json();
    let token = text(&first, "access_token");
    assert_eq!(scene.chat(world, token).await, "200");
    // Whoever does not have everything does no harm with it.
    let other = scene.beside(world, json!({})).await;
    assert_eq!(
        error(&other.redeem(world, &code).await, 400),
        "invalid_grant"
    );
    let wrong = [("code_verifier", OTHER_VERIFIER)];
    for _ in 0..4 {
        assert_eq!(
            error(&scene.redeem_with(world, &code, &wrong).await, 400),
            "invalid_grant"
        );
    }
    assert_eq!(scene.chat(world, token).await, "200");
    let again = scene.redeem(world, &code).await;
    assert_eq!(error(&again, 400), "invalid_grant");
    assert_eq!(scene.chat(world, token).await, "AGENT_CREDENTIAL_REVOKED");
    assert_eq!(
        scene.introspect(world, token).await,
        json!({"active": false})
    );
    let row = books::single(&world.gateway.database, again.request_id()).await;
    assert_eq!(row["event"], "oauth.token_revoked");
    assert_eq!(
        error(&scene.redeem(world, &code).await, 400),
        "invalid_grant"
    );
}

async fn three_wrong_verifiers_burn_a_code(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let wrong = [("code_verifier", OTHER_VERIFIER)];
    let code = scene.code(&mut browser).await;
    for _ in 0..2 {
        assert_eq!(
            error(&scene.redeem_with(world, &code, &wrong).await, 400),
            "invalid_grant"
        );
    }
    assert_eq!(scene.redeem(world, &code).await.status, 200);
    let code = scene.code(&mut browser).await;
    let mut last = String::new();
    for _ in 0..3 {
        let answer = scene.redeem_with(world, &code, &wrong).await;
        assert_eq!(error(&answer, 400), "invalid_grant");
        last = answer.request_id().to_owned();
    }
    assert_eq!(
        error(&scene.redeem(world, &code).await, 400),
        "invalid_grant"
    );
    let row = books::single(&world.gateway.database, &last).await;
    assert_eq!(row["event"], "oauth.code_burned");
}

async fn a_client_shows_itself_in_one_way(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let (id, secret) = (scene.client_id(), scene.secret());
    let grant = |code: &str| {
        vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code_verifier", VERIFIER.to_owned()),
            ("code", code.to_owned()),
        ]
    };
    let send = async |header: Option<String>, fields: Vec<(&str, String)>| {
        let fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let mut request = form(TOKEN, &fields);
        if let Some(header) = header {
            request = request.header("Authorization", &header);
        }
        world.gateway.answer(&request).await
    };
    // Both halves of Basic are form-encoded, as RFC 6749 wants it; %5F is what some libraries make of `_`.
    let code = scene.code(&mut browser).await;
    let encoded = basic(&id.replace('_', "%5F"), &secret.replace('_', "%5f"));
    assert_eq!(send(Some(encoded), grant(&code)).await.status, 200);
    let code = scene.code(&mut browser).await;
    let mut posted = grant(&code);
    posted.push(("client_id", id.to_owned()));
    posted.push(("client_secret", secret.to_owned()));
    assert_eq!(send(None, posted.clone()).await.status, 200);
    assert_eq!(
        error(&send(Some(scene.basic()), posted).await, 400),
        "invalid_request"
    );
    let other = |name: &'static str, value: &str| {
        let mut fields = grant("x");
        fields.push((name, value.to_owned()));
        fields
    };
    let foreign = other("client_id", "svc_app_000000000000000000000000");
    assert_eq!(
        error(&send(Some(scene.basic()), foreign.clone()).await, 400),
        "invalid_request"
    );
    for (header, fields) in [
        (None, grant("x")),
        (None, foreign),
        (None, other("client_id", id)),
        (Some(basic(id, "svc_cs_wrong")), grant("x")),
        (Some(basic("svc_app_nobody", secret)), grant("x")),
        (Some("Basic ###".to_owned()), grant("x")),
        (Some(format!("Bearer {}", scene.key)), grant("x")),
        (None, other("client_assertion", "x")),
    ] {
        let answer = send(header.clone(), fields).await;
        assert_eq!(error(&answer, 401), "invalid_client", "{header:?}");
        assert_eq!(
            answer.header("www-authenticate"),
            Some("Basic realm=\"svc\"")
        );
    }
    // Who can keep no secret has none.
    for kind in ["public", "native"] {
        let scene = scene.beside(world, json!({"type": kind})).await;
        let code = scene.code(&mut browser).await;
        let mut fields = grant(&code);
        fields.push(("client_id", scene.client_id().to_owned()));
        let mut with_secret = fields.clone();
        with_secret.push(("client_secret", secret.to_owned()));
        assert_eq!(error(&send(None, with_secret).await, 401), "invalid_client");
        assert_eq!(send(None, fields).await.status, 200);
    }
}

async fn a_client_has_its_own_limit(world: &World) {
    let scene = Scene::new(world).await;
    // More than come back while a slow machine asks.
    const MANY: u32 = 200;
    let limited = async |ask: &dyn Fn() -> Request| {
        for _ in 0..MANY {
            let answer = world.gateway.answer(&ask()).await;
            if answer.status == 429 {
                return answer;
            }
        }
        panic!("no limit in {MANY} requests");
    };
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", "unknown"),
        ("code_verifier", VERIFIER),
    ];
    let redeem = || form(TOKEN, &fields).header("Authorization", &scene.basic());
    let answer = limited(&redeem).await;
    assert_eq!(error(&answer, 429), "temporarily_unavailable");
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=20).contains(&wait), "{wait}");
    let introspect = || {
        let request = form(super::INTROSPECT, &[("token", "x")]);
        request.header("Authorization", &scene.basic())
    };
    limited(&introspect).await;
    let other = scene.beside(world, json!({})).await;
    assert_eq!(
        error(&other.redeem(world, "unknown").await, 400),
        "invalid_grant"
    );
    // Who only knows its name uses up nothing of it.
    let guess = || {
        let header = basic(other.client_id(), "wrong");
        form(TOKEN, &fields).header("Authorization", &header)
    };
    limited(&guess).await;
    assert_eq!(
        error(&other.redeem(world, "unknown").await, 400),
        "invalid_grant"
    );
}

/// All of an IPv6 network of 64 bits is one customer's.
#[tokio::test]
async fn guesses_are_counted_by_the_network_behind_a_trusted_proxy() {
    let trusted = toml::Value::from(vec!["127.0.0.0/8"]);
    let world = World::with(|setup| setup.key("server", "trusted_proxies", trusted)).await;
    let scene = Scene::new(&world).await;
    let wrong = basic(scene.client_id(), "wrong");
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", "unknown"),
        ("code_verifier", VERIFIER),
    ];
    // The first address is what a client says of itself, and nobody believes it.
    let guess = async |network: &str, host: u32| {
        let forwarded = format!("2001:db8:9::{host:x}, 2001:db8:{network}::{host:x}");
        let request = form(TOKEN, &fields)
            .header("Authorization", &wrong)
            .header("X-Forwarded-For", &forwarded);
        world.gateway.answer(&request).await.status
    };
    let mut statuses = Vec::new();
    for host in 1..=200 {
        statuses.push(guess("1", host).await);
        if statuses.ends_with(&[429]) {
            break;
        }
    }
    assert!(statuses.ends_with(&[401, 429]), "{statuses:?}");
    assert_eq!(guess("2", 1).await, 401);
}

/// The name of an application without a secret stands in every link to it.
#[tokio::test]
async fn strangers_use_up_nothing_of_an_application_without_a_secret() {
    let trusted = toml::Value::from(vec!["127.0.0.0/8"]);
    let world = World::with(|setup| setup.key("server", "trusted_proxies", trusted)).await;
    let scene = Scene::with(&world, json!({}), json!({"type": "native"})).await;
    let mut browser = scene.owner(&world).await;
    let code = scene.code(&mut browser).await;
    let send = async |network: &str, code: &str| {
        let fields = [
            ("grant_type", "authorization_code"),
            ("client_id", scene.client_id()),
            ("code", code),
            ("code_verifier", VERIFIER),
        ];
        let request = form(TOKEN, &fields).header("X-Forwarded-For", network);
        world.gateway.answer(&request).await.status
    };
    let mut statuses = Vec::new();
    for _ in 1..=200 {
        statuses.push(send("198.51.100.1", "junk").await);
        if statuses.ends_with(&[429]) {
            break;
        }
    }
    assert!(statuses.ends_with(&[400, 429]), "{statuses:?}");
    assert_eq!(send("198.51.100.2", &code).await, 200);
    // Whoever has a code is the application, wherever it is: its own limit holds.
    let mut statuses = Vec::new();
    for network in 1..=200 {
        let network = format!("203.0.113.{network}");
        statuses.push(send(&network, &code).await);
        if statuses.ends_with(&[429]) {
            break;
        }
    }
    assert!(statuses.ends_with(&[400, 429]), "{statuses:?}");
}

async fn a_test_application_gets_test_credentials(world: &World) {
    let mut scene = Scene::new(world).await;
    let body = json!({"name": "of the test", "scopes": ["control:oauth", "control:agents", "control:read"], "mode": "test"});
    let test = data(world, &scene.key, "POST", "/v1/api_keys", body).await;
    let key = text(&test, "key").to_owned();
    let live_agent = scene.agent_id.clone();
    scene.application = super::application(world, &key, json!({"mode": "test"})).await;
    scene.agent_id = super::agent(world, &key, json!({})).await;
    let mut browser = scene.owner(world).await;
    let page = browser.get(&scene.authorize(&[])).await;
    assert!(page.text.contains("Test mode"), "{}", page.text);
    let code = scene.code(&mut browser).await;
    let answer = scene.redeem(world, &code).await.json();
    let token = text(&answer, "access_token");
    assert!(token.starts_with("svc_agt_test_"), "{token}");
    assert_eq!(scene.chat(world, token).await, "200");
    assert_eq!(scene.introspect(world, token).await["mode"], "test");
    // A live agent is not there for it, and a live key sees nothing of it.
    let page = browser
        .get(&scene.authorize(&[("agent_id", &live_agent)]))
        .await;
    assert_eq!(
        super::parameter(page.leads_to(), "error").as_deref(),
        Some("invalid_request")
    );
    let request = form(super::INTROSPECT, &[("token", token)]).bearer(&scene.key);
    assert_eq!(
        world.gateway.answer(&request).await.text(),
        r#"{"active":false}"#
    );
    let path = format!("/v1/agents/{}/credentials", scene.agent_id);
    let request = Request::new("GET", &path).bearer(&scene.key);
    assert_eq!(world.gateway.answer(&request).await.status, 404);
}

async fn what_was_granted_is_enforced(world: &World) {
    let grant = json!({"scope": "ai:chat", "constraints": {"models": ["alpha-haiku-4-5", "alpha-sonnet-4-6"]}});
    let scene = Scene::with(world, json!({"scope_grants": [grant]}), json!({})).await;
    let mut browser = scene.owner(world).await;
    // Two entries are two ways, and not what comes of mixing them.
    let details = json!([
        {"type": "svc_agent_access", "actions": ["messages"], "models": ["alpha-sonnet-4-6"]},
        {"type": "svc_agent_access", "actions": ["chat"], "models": ["alpha-haiku-4-5"], "max_tokens": 100},
    ]);
    let code = scene
        .code_for(
            &mut browser,
            &[("authorization_details", &details.to_string())],
        )
        .await;
    let answer = scene.redeem(world, &code).await.json();
    assert_eq!(answer["authorization_details"], details);
    let token = text(&answer, "access_token");
    let native = async |model: &str, max_tokens: u32| {
        let body = json!({"message": "Hello.", "model": model, "max_tokens": max_tokens});
        let answer = world.gateway.chat(token, body).await;
        let mut broken = answer.json()["error"]["details"].take();
        (answer.status, broken["constraint"].take())
    };
    let messages = async |model: &str| {
        let body = json!({"model": model, "max_tokens": 200, "messages": [{"role": "user", "content": "Hello."}]});
        let request = Request::new("POST", "/v1/messages")
            .bearer(token)
            .json(&body);
        world.gateway.answer(&request).await.status
    };
    assert_eq!(native("alpha-haiku-4-5", 100).await.0, 200);
    // What is told is of the way that allows most.
    let (many, other) = ("alpha-haiku-4-5", "alpha-sonnet-4-6");
    assert_eq!(native(many, 101).await, (403, json!("max_tokens")));
    assert_eq!(native(other, 100).await, (403, json!("models")));
    assert_eq!(messages("alpha-sonnet-4-6").await, 200);
    assert_eq!(messages("alpha-haiku-4-5").await, 403);
    let request = Request::new("GET", "/v1/agents").bearer(token);
    assert_eq!(world.gateway.answer(&request).await.status, 403);
    // The agent's grants become fewer: so do the token's.
    let path = format!("/v1/agents/{}", scene.agent_id);
    let fewer = json!({"scope_grants": [{"scope": "ai:chat", "constraints": {"models": ["alpha-haiku-4-5"]}}]});
    data(world, &scene.key, "PATCH", &path, fewer).await;
    assert_eq!(messages("alpha-sonnet-4-6").await, 403);
    assert_eq!(native("alpha-haiku-4-5", 100).await.0, 200);
}

/// The page says what an application may do, and not that it reads what others have said.
async fn a_token_reads_nothing_that_is_stored(world: &World) {
    let scene = Scene::new(world).await;
    let said = world
        .gateway
        .chat(&scene.key, json!({"message": "Hello."}))
        .await
        .json();
    let path = format!("/v1/ai/messages/{}", text(&said["data"]["message"], "id"));
    let mut browser = scene.owner(world).await;
    let token = scene.token(world, &mut browser).await;
    for (bearer, status) in [(&scene.key, 200), (&token, 404)] {
        let read = Request::new("GET", &path).bearer(bearer);
        assert_eq!(world.gateway.answer(&read).await.status, status);
    }
}

/// A gateway whose clients may ask as often as they like.
async fn generous(database_url: Option<String>) -> World {
    let policies = Policies::copy();
    policies.edit(
        "plans.toml",
        "oauth_client_per_minute = 30",
        "oauth_client_per_minute = 30000",
    );
    let world = World::with(|setup| setup.policies(policies.path()).on(database_url)).await;
    std::mem::forget(policies);
    world
}

#[tokio::test]
async fn of_a_hundred_that_redeem_a_code_at_once_one_does_on_sqlite() {
    a_hundred(&generous(None).await).await;
}

#[tokio::test]
async fn of_a_hundred_that_redeem_a_code_at_once_one_does_on_postgres() {
    let database = tokio::task::spawn_blocking(svc_tests::postgres::database).await;
    a_hundred(&generous(Some(database.expect("a database"))).await).await;
}

async fn a_hundred(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let code = scene.code(&mut browser).await;
    let all = join_all((0..100).map(|_| scene.redeem(world, &code))).await;
    let good: Vec<Value> = all
        .iter()
        .filter(|answer| answer.status == 200)
        .map(svc_tests::wire::Answer::json)
        .collect();
    assert_eq!(good.len(), 1);
    for answer in all.iter().filter(|answer| answer.status != 200) {
        assert_eq!(error(answer, 400), "invalid_grant");
    }
    // Ninety-nine came again with everything: nothing is left.
    assert_eq!(
        scene.chat(world, text(&good[0], "access_token")).await,
        "AGENT_CREDENTIAL_REVOKED"
    );
    let sql = "SELECT id FROM agent_credentials WHERE application_id = $1";
    assert_eq!(
        world.gateway.database.rows(sql, &[scene.id()]).await.len(),
        1
    );
}
