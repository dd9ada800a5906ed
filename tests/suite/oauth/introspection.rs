//! Introspection: one's own, and of everything else exactly one answer (contract 16.5).

use serde_json::{Value, json};
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::{INTROSPECT, Scene, agent, basic, data, error, form, parameter, text};
use crate::engines::on_both_engines;

on_both_engines! {
    an_application_sees_its_own,
    a_token_is_worth_what_the_whole_line_of_its_agent_allows,
    everything_else_is_exactly_inactive,
    who_asks_has_to_show_who_they_are,
}

async fn an_application_sees_its_own(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let token = scene.token(world, &mut browser).await;
    let shown = scene.introspect(world, &token).await;
    let (exp, iat) = (
        shown["exp"].as_i64().unwrap(),
        shown["iat"].as_i64().unwrap(),
    );
    assert_eq!(exp - iat, 24 * 3600);
    assert_eq!(
        shown,
        json!({
            "active": true,
            "client_id": scene.client_id(),
            "token_type": "Bearer",
            "exp": exp,
            "iat": iat,
            "iss": format!("http://{}", world.gateway.address),
            "sub": scene.organization.user_id,
            "jti": shown["jti"],
            "agent_id": scene.agent_id,
            "org_id": scene.organization.id,
            "mode": "live",
            "authorization_details": [{"type": "svc_agent_access", "actions": ["chat"]}],
        })
    );
    assert!(text(&shown, "jti").starts_with("agc_"));
    // So does a key of the organization that may read.
    let request = form(
        INTROSPECT,
        &[("token", &token), ("token_type_hint", "access_token")],
    );
    let answer = world.gateway.answer(&request.bearer(&scene.key)).await;
    assert_eq!(answer.json(), shown);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

async fn a_token_is_worth_what_the_whole_line_of_its_agent_allows(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let parent = json!({"parent_agent_id": scene.agent_id});
    let child = agent(world, &scene.key, parent).await;
    let of_child = [("agent_id", child.as_str())];
    let first = scene.code_for(&mut browser, &of_child).await;
    let second = scene.code_for(&mut browser, &of_child).await;
    let token = scene.redeem(world, &first).await.json();
    let token = text(&token, "access_token");
    // Its parent's grants become fewer: what was asked for before is worth less, and so is what is shown.
    let path = format!("/v1/agents/{}", scene.agent_id);
    let constraints = json!({"models": ["alpha-haiku-4-5"]});
    let fewer = json!({"scope_grants": [{"scope": "ai:chat", "constraints": constraints}]});
    data(world, &scene.key, "PATCH", &path, fewer).await;
    let left =
        json!([{"type": "svc_agent_access", "actions": ["chat"], "models": ["alpha-haiku-4-5"]}]);
    let shown = scene.introspect(world, token).await;
    assert_eq!(shown["authorization_details"], left);
    let issued = scene.redeem(world, &second).await.json();
    assert_eq!(issued["authorization_details"], left);
    // Its parent is archived: the token is refused, nobody is asked, and both are said.
    let archive = format!("{path}/archive");
    data(world, &scene.key, "POST", &archive, json!({})).await;
    assert_eq!(scene.chat(world, token).await, "AGENT_CREDENTIAL_REVOKED");
    let shown = scene.introspect(world, token).await;
    assert_eq!(shown, json!({"active": false}));
    let page = browser.get(&scene.authorize(&of_child)).await;
    let refusal = parameter(page.leads_to(), "error");
    assert_eq!(refusal.as_deref(), Some("access_denied"));
}

async fn everything_else_is_exactly_inactive(world: &World) {
    const INACTIVE: &str = r#"{"active":false}"#;
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let token = scene.token(world, &mut browser).await;
    let asked = async |who: &Scene, token: &str| {
        let request = form(INTROSPECT, &[("token", token)]).header("Authorization", &who.basic());
        let answer = world.gateway.answer(&request).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text()
    };
    let path = format!("/v1/agents/{}/credentials", scene.agent_id);
    let native = data(world, &scene.key, "POST", &path, json!({})).await;
    let unknown = format!("svc_agt_{}", "0".repeat(40));
    for foreign in [
        "x",
        "svc_agt_short",
        &unknown,
        text(&native, "credential"),
        &scene.key,
    ] {
        assert_eq!(asked(&scene, foreign).await, INACTIVE);
    }
    let other = scene.beside(world, json!({})).await;
    assert_eq!(asked(&other, &token).await, INACTIVE);
    let stranger = world.organization().key;
    let request = form(INTROSPECT, &[("token", &token)]).bearer(&stranger);
    assert_eq!(world.gateway.answer(&request).await.text(), INACTIVE);
    let request = form(INTROSPECT, &[("token", text(&native, "credential"))]).bearer(&scene.key);
    assert_eq!(world.gateway.answer(&request).await.text(), INACTIVE);
    // Expired, then revoked.
    let sql = "UPDATE agent_credentials SET expires_at = 1 WHERE application_id = $1";
    world.gateway.database.change(sql, &[scene.id()]).await;
    assert_eq!(asked(&scene, &token).await, INACTIVE);
    let second = scene.token(world, &mut browser).await;
    let listed = data(world, &scene.key, "GET", &path, Value::Null).await;
    let newest = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["status"] == "active" && one["source"] == "oauth");
    let revoke = format!("{path}/{}/revoke", text(newest.unwrap(), "id"));
    data(world, &scene.key, "POST", &revoke, Value::Null).await;
    assert_eq!(asked(&scene, &second).await, INACTIVE);
}

async fn who_asks_has_to_show_who_they_are(world: &World) {
    let scene = Scene::new(world).await;
    let public = scene.beside(world, json!({"type": "public"})).await;
    let body = json!({"name": "of the test", "scopes": ["ai:chat"]});
    let narrow = data(world, &scene.key, "POST", "/v1/api_keys", body).await;
    let ask = || form(INTROSPECT, &[("token", "x")]);
    for request in [
        ask(),
        ask().header("Authorization", &basic(scene.client_id(), "wrong")),
        ask().bearer("svc_api_live_00000000000000000000000000000000"),
        ask().bearer("x"),
        form(
            INTROSPECT,
            &[("token", "x"), ("client_id", public.client_id())],
        ),
    ] {
        let answer = world.gateway.answer(&request).await;
        assert_eq!(error(&answer, 401), "invalid_client");
        assert_eq!(
            answer.header("www-authenticate"),
            Some("Basic realm=\"svc\"")
        );
    }
    let answer = world
        .gateway
        .answer(&ask().bearer(text(&narrow, "key")))
        .await;
    assert_eq!(error(&answer, 403), "insufficient_scope");
    let empty = form(INTROSPECT, &[("token", "")]).header("Authorization", &scene.basic());
    assert_eq!(
        error(&world.gateway.answer(&empty).await, 400),
        "invalid_request"
    );
    let in_the_address =
        form(&format!("{INTROSPECT}?token=x"), &[]).header("Authorization", &scene.basic());
    assert_eq!(
        error(&world.gateway.answer(&in_the_address).await, 400),
        "invalid_request"
    );
    assert_eq!(
        world
            .gateway
            .answer(&Request::new("GET", INTROSPECT))
            .await
            .status,
        405
    );
}
