//! What older tabs, other modes and second sendings do: nothing that whoever sent the form did not see.

use serde_json::{Value, json};
use svc_tests::browser::{Browser, PASSWORD, Page, shown};
use svc_tests::organization::Organization;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::pages::{between, rows};
use super::second_factor::enrol;
use super::{invite, new_app};
use crate::engines::{on_both_engines, on_sqlite};

on_both_engines! {
    an_older_tab_undoes_nothing,
    what_is_shown_once_is_made_once,
    deliveries_are_sent_again_once,
}

on_sqlite! {
    two_changes_of_one_field_are_told,
    boxes_and_caps_are_saved_one_by_one,
    a_grant_that_was_narrowed_stays_narrow,
    a_schema_is_not_replaced_unseen,
    a_role_is_not_changed_unseen,
    a_form_of_the_other_mode_does_nothing,
    what_cannot_be_undone_is_asked_for_twice,
    the_address_of_a_form_leads_to_its_page,
}

/// What the API answers to a call that must succeed.
async fn api(
    world: &World,
    organization: &Organization,
    method: &str,
    path: &str,
    body: Value,
) -> Value {
    let mut request = Request::new(method, path).bearer(&organization.key);
    if !body.is_null() {
        request = request.json(&body);
    }
    let answer = world.gateway.answer(&request).await;
    assert!((200..=201).contains(&answer.status), "{}", answer.text());
    answer.json()["data"].take()
}

/// Sends a form of a page with what it shows, but for these fields.
async fn send(
    browser: &mut Browser<'_>,
    page: &Page,
    action: &str,
    change: &[(&str, &[&str])],
) -> Page {
    let mut fields = shown(page, action);
    fields.retain(|(name, _)| !change.iter().any(|(changed, _)| changed == name));
    for (name, values) in change {
        let values = values.iter().map(|value| (*value).to_owned());
        fields.extend(values.map(|value| ((*name).to_owned(), value)));
    }
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    browser.submit(page, action, &fields).await
}

async fn an_older_tab_undoes_nothing(world: &World) {
    let organization = world.organization();
    let path = format!("/v1/orgs/{}", organization.id);
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let older = browser.get("/ui/settings").await;
    let switched = json!({"ai_paused": true, "phi_mode": "block"});
    api(world, &organization, "PATCH", &path, switched).await;
    let prompt = [("default_system_prompt", &["Be kind."][..])];
    let saved = send(&mut browser, &older, "/ui/settings", &prompt).await;
    assert_eq!(saved.leads_to(), "/ui/settings?done=saved");
    let now = api(world, &organization, "GET", &path, Value::Null).await;
    assert_eq!(now["ai_paused"], true);
    assert_eq!(now["phi_mode"], "block");
    assert_eq!(now["default_system_prompt"], "Be kind.");
    let updated = rows(world, &organization, "organization.updated").await;
    let changes = updated.last().unwrap()["details"]["changes"].clone();
    assert_eq!(changes.as_object().unwrap().len(), 1, "{changes}");
}

async fn two_changes_of_one_field_are_told(world: &World) {
    let organization = world.organization();
    let path = format!("/v1/orgs/{}", organization.id);
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let older = browser.get("/ui/settings").await;
    let theirs = json!({"name": "Theirs", "ai_paused": true});
    api(world, &organization, "PATCH", &path, theirs).await;
    let mine = [("name", &["Mine"][..]), ("phi_mode", &["block"])];
    let stays = send(&mut browser, &older, "/ui/settings", &mine).await;
    assert_eq!(stays.status(), 409, "{}", stays.text);
    let told = between(&stays, "id=\"e-name\">", "</p>");
    assert!(
        told.contains("“Theirs”") && told.contains("“Mine”"),
        "{told}"
    );
    assert!(
        stays.text.contains("value=\"Mine\""),
        "what was typed is kept"
    );
    assert!(
        stays.text.contains("value=\"ai_paused\" checked"),
        "{}",
        stays.text
    );
    assert!(stays.text.contains("href=\"#f-name\""));
    let now = api(world, &organization, "GET", &path, Value::Null).await;
    assert_eq!(
        (&now["name"], &now["phi_mode"]),
        (&json!("Theirs"), &json!("redact"))
    );
    // Who has read that may save it.
    send(&mut browser, &stays, "/ui/settings", &[])
        .await
        .leads_to();
    let now = api(world, &organization, "GET", &path, Value::Null).await;
    assert_eq!(
        (&now["name"], &now["phi_mode"]),
        (&json!("Mine"), &json!("block"))
    );
    assert_eq!(now["ai_paused"], true);
}

async fn boxes_and_caps_are_saved_one_by_one(world: &World) {
    let organization = world.organization();
    let path = format!("/v1/orgs/{}", organization.id);
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let both = json!({"premium_models_enabled": ["alpha-opus-4-6", "beta-5.5-pro"]});
    api(world, &organization, "PATCH", &path, both).await;
    let older = browser.get("/ui/models").await;
    let one = json!({"premium_models_enabled": ["alpha-opus-4-6"]});
    api(world, &organization, "PATCH", &path, one).await;
    let other = [("models", &["beta-5.5-pro"][..])];
    send(&mut browser, &older, "/ui/models", &other)
        .await
        .leads_to();
    let now = api(world, &organization, "GET", &path, Value::Null).await;
    assert_eq!(
        now["premium_models_enabled"],
        json!([]),
        "each of the two was taken out"
    );

    let older = browser.get("/ui/usage").await;
    let cap = json!({"monthly_credit_cap": 100});
    api(world, &organization, "PATCH", "/v1/usage/budget", cap).await;
    let shares = [("alert_thresholds", &["0.5"][..])];
    send(&mut browser, &older, "/ui/usage/budget", &shares)
        .await
        .leads_to();
    let now = api(world, &organization, "GET", "/v1/usage/budget", Value::Null).await;
    assert_eq!(
        (&now["monthly_credit_cap"], &now["alert_thresholds"]),
        (&json!(100), &json!([0.5]))
    );
    let page = browser.get("/ui/usage").await;
    let wrong = [
        ("alert_thresholds", &[""][..]),
        ("monthly_credit_cap", &["lots"]),
    ];
    let refused = send(&mut browser, &page, "/ui/usage/budget", &wrong).await;
    assert_eq!(refused.status(), 422);
    let told = |field: &str| between(&refused, &format!("id=\"e-{field}\">"), "</p>").to_owned();
    assert_eq!(told("alert_thresholds"), "must be 1 to 10 numbers");
    assert_eq!(
        told("monthly_credit_cap"),
        "must be a number of at least 0 with at most 6 decimals"
    );
}

async fn a_grant_that_was_narrowed_stays_narrow(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let made = json!({"name": "Narrow", "scope_grants": [{"scope": "ai:chat", "tools": ["x"]}]});
    let made = api(world, &organization, "POST", "/v1/agents", made).await;
    let id = made["agent"][0]["id"].as_str().unwrap().to_owned();
    let (path, page_path) = (format!("/v1/agents/{id}"), format!("/ui/agents/{id}"));
    let older = browser.get(&page_path).await;
    let narrow = json!([{"scope": "ai:chat", "tools": [], "constraints": {"max_tokens": 5}}]);
    api(
        world,
        &organization,
        "PATCH",
        &path,
        json!({"scope_grants": narrow}),
    )
    .await;
    let text = [("description", &["only this"][..])];
    send(&mut browser, &older, &page_path, &text)
        .await
        .leads_to();
    let now = api(world, &organization, "GET", &path, Value::Null).await;
    assert_eq!(now["agent"][0]["scope_grants"], narrow);
    assert_eq!(now["agent"][0]["description"], "only this");
    // An empty list allows anything: that it has come to allow nothing is a change of it.
    let more = [("tools", &["y"][..])];
    let stays = send(&mut browser, &older, &page_path, &more).await;
    assert_eq!(stays.status(), 409, "{}", stays.text);
    let told = between(&stays, "id=\"e-tools\">", "</p>");
    assert!(told.contains("“nothing at all”"), "{told}");
}

async fn a_schema_is_not_replaced_unseen(world: &World) {
    let mut browser = Browser::owner(&world.gateway, &world.organization()).await;
    let app = new_app(&mut browser).await;
    let empty = browser.get(&app).await;
    let schema = |key: &str| format!(r#"[{{"key": "{key}", "type": "string"}}]"#);
    let (first, second) = (schema("mrn"), schema("ward"));
    let typed = [("key", &["patient"][..]), ("fields", &[first.as_str()])];
    send(&mut browser, &empty, &app, &typed).await.leads_to();
    // The page for a new one, and an older page of this one.
    let older = browser.get(&format!("{app}?entity=patient")).await;
    let typed = [("key", &["patient"][..]), ("fields", &[second.as_str()])];
    let stays = send(&mut browser, &empty, &app, &typed).await;
    assert_eq!(stays.status(), 409, "{}", stays.text);
    send(&mut browser, &stays, &app, &[]).await.leads_to();
    let third = schema("bed");
    let typed = [("fields", &[third.as_str()][..])];
    let stays = send(&mut browser, &older, &app, &typed).await;
    assert_eq!(stays.status(), 409, "{}", stays.text);
    assert!(between(&stays, "id=\"e-fields\">", "</p>").contains("ward"));
    // A key that is none is told beside the key.
    let typed = [("key", &[" "][..])];
    let refused = send(&mut browser, &empty, &app, &typed).await;
    assert_eq!(refused.status(), 422, "{}", refused.text);
    assert!(between(&refused, "id=\"e-key\">", "</p>").starts_with("must be a small letter"));
}

async fn a_role_is_not_changed_unseen(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let other = invite(world, &organization, "member");
    let older = browser.get("/ui/users").await;
    let action = format!("/ui/users/{}/role", other.id);
    let page = browser.get("/ui/users").await;
    let down = [("role", "viewer")];
    browser.submit(&page, &action, &down).await.leads_to();
    let stays = browser.submit(&older, &action, &[("role", "admin")]).await;
    assert_eq!(stays.status(), 409, "{}", stays.text);
    assert!(stays.text.contains("viewer by now"), "{}", stays.text);
    assert!(stays.text.contains("href=\"/ui/users\""));
    assert_eq!(
        rows(world, &organization, "user.role_changed").await.len(),
        1
    );
}

async fn a_form_of_the_other_mode_does_nothing(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let live = browser.get("/ui/keys").await;
    let account = browser.get("/ui/account").await;
    let test = [("mode", "test")];
    browser.submit(&live, "/ui/mode", &test).await.leads_to();
    let key = [("name", "Of the living"), ("scopes", "ai:chat")];
    let refused = browser.submit(&live, "/ui/keys", &key).await;
    assert_eq!(refused.status(), 403, "{}", refused.text);
    assert!(
        refused.text.contains("showed live data"),
        "{}",
        refused.text
    );
    assert!(
        refused.text.contains("href=\"/ui/keys\""),
        "{}",
        refused.text
    );
    assert!(
        rows(world, &organization, "api_key.created")
            .await
            .is_empty()
    );
    let page = browser.get("/ui/keys").await;
    let made = browser.submit(&page, "/ui/keys", &key).await;
    assert_eq!(made.status(), 201, "{}", made.text);
    // What is the same in both is done all the same.
    browser
        .submit(&account, "/ui/account/totp", &[("beginning", PASSWORD)])
        .await
        .leads_to();
    browser.submit(&live, "/ui/mode", &test).await.leads_to();
    assert_eq!(
        browser.submit(&live, "/ui/logout", &[]).await.leads_to(),
        "/ui/login"
    );
}

async fn what_is_shown_once_is_made_once(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    // A secret of an application.
    let page = browser.get("/ui/applications").await;
    let wanted = [
        ("name", "Partner"),
        ("publisher", "Partner Inc."),
        ("type", "confidential"),
        ("redirect_uris", "https://partner.example/callback"),
    ];
    let made = browser.submit(&page, "/ui/applications", &wanted).await;
    assert_eq!(made.status(), 201, "{}", made.text);
    let id = between(&made, "action=\"/ui/applications/", "/").to_owned();
    let rotate = format!("/ui/applications/{id}/rotate");
    let hours = [("grace_hours", "24")];
    let first = browser.submit(&made, &rotate, &hours).await;
    let again = browser.submit(&made, &rotate, &hours).await;
    let secret = |page: &Page| between(page, "id=\"client-secret\">", "</code>").to_owned();
    assert_eq!(secret(&first), secret(&again));
    let rotated = "oauth_application.secret_rotated";
    assert_eq!(rows(world, &organization, rotated).await.len(), 1);

    // A link for somebody.
    let other = invite(world, &organization, "member");
    let page = browser.get("/ui/users").await;
    let action = format!("/ui/users/{}/link", other.id);
    let first = browser.submit(&page, &action, &[]).await;
    let again = browser.submit(&page, &action, &[]).await;
    let link = |page: &Page| between(page, "id=\"new-link\">", "</code>").to_owned();
    assert_eq!(link(&first), link(&again));
    let issued = first;
    // Somebody new.
    let page = browser.get("/ui/users").await;
    let email = format!("twice-{}", other.email);
    let mut wanted = [("name", "Twice"), ("email", &*email), ("role", "member")];
    let first = browser.submit(&page, "/ui/users", &wanted).await;
    let again = browser.submit(&page, "/ui/users", &wanted).await;
    assert_eq!(link(&first), link(&again));
    assert_eq!(again.status(), 201);
    // The same form for somebody else is no reload.
    let elsewhere = format!("thrice-{}", other.email);
    wanted[1].1 = &elsewhere;
    let refused = browser.submit(&page, "/ui/users", &wanted).await;
    assert_eq!(refused.status(), 422, "{}", refused.text);

    let page = browser.get("/ui/users").await;
    let anew = browser.submit(&page, &action, &[]).await;
    assert_ne!(link(&issued), link(&anew));

    // Recovery codes.
    enrol(&mut browser).await;
    let page = browser.get("/ui/account").await;
    let renew = "/ui/account/recovery-codes";
    let typed = [("renewing", svc_tests::browser::PASSWORD)];
    let first = browser.submit(&page, renew, &typed).await;
    let again = browser.submit(&page, renew, &typed).await;
    let codes = |page: &Page| between(page, "<ul class=\"codes\">", "</ul>").to_owned();
    assert_eq!(codes(&first), codes(&again));
    let renewed = "user.recovery_codes_renewed";
    assert_eq!(rows(world, &organization, renewed).await.len(), 1);
}

async fn deliveries_are_sent_again_once(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/replay").await;
    let mut wanted = vec![
        ("endpoint_id", "whk_01JD0000000000000000000000"),
        ("from", "2026-01-01T00:00"),
        ("dry_run", "true"),
    ];
    // To look first takes nothing from the form.
    let looked = browser.submit(&page, "/ui/replay", &wanted).await;
    assert_eq!(looked.status(), 200, "{}", looked.text);
    wanted.pop();
    for _ in 0..2 {
        let sent = browser.submit(&page, "/ui/replay", &wanted).await;
        assert_eq!(sent.status(), 200, "{}", sent.text);
    }
    let sql = "SELECT event FROM audit WHERE org_id = $1 AND event = 'webhook_delivery.replayed'";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    // Of the look and of the sending.
    assert_eq!(rows.len(), 2, "{rows:?}");
}

async fn what_cannot_be_undone_is_asked_for_twice(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/keys").await;
    let log = format!("<a href=\"/ui/audit?actor_id={}\">", organization.key_id);
    assert!(page.text.contains(&log), "its id leads to what it did");
    let revoke = format!("/ui/keys/{}/revoke", organization.key_id);
    let (before, _) = page.text.split_once(&revoke).expect("a form");
    let (_, opened) = before.rsplit_once("<details").expect("something to open");
    assert!(!opened.contains("</details>"), "{opened}");
    assert!(opened.contains("<summary>Revoke"), "{opened}");
    let form = between(&page, &revoke, "</form>");
    assert!(form.contains("This cannot be undone."), "{form}");
    let revoked = browser.submit(&page, &revoke, &[]).await;
    assert_eq!(revoked.leads_to(), "/ui/keys?done=revoked");
}

async fn the_address_of_a_form_leads_to_its_page(world: &World) {
    let mut browser = Browser::owner(&world.gateway, &world.organization()).await;
    for (form, page) in [
        ("/ui/usage/budget", "/ui/usage"),
        ("/ui/keys/key_1/revoke", "/ui/keys"),
        ("/ui/agents/agt_1/credentials", "/ui/agents/agt_1"),
        ("/ui/account/totp/confirm", "/ui/account/totp"),
        ("/ui/mode", "/ui"),
    ] {
        assert_eq!(browser.get(form).await.leads_to(), page);
    }
    assert_eq!(browser.get("/ui/nothing/at/all").await.status(), 404);
}
