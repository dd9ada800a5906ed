//! What pages refuse: it is told where it went wrong, and it is in the log.

use serde_json::json;
use svc_tests::books;
use svc_tests::browser::Browser;
use svc_tests::program;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::pages::{between, somebody};
use super::{invite, new_app};
use crate::engines::{on_both_engines, on_sqlite};

on_both_engines! {
    what_a_role_does_not_allow_is_in_the_log,
    a_nul_character_is_no_trouble_of_ours,
}

on_sqlite! {
    every_problem_has_its_place,
    who_may_not_change_gets_no_form,
    switched_off_webhooks_are_off,
    nobody_gets_a_link_while_suspended,
    another_schema_starts_from_the_one_there_is,
}

async fn what_a_role_does_not_allow_is_in_the_log(world: &World) {
    let organization = world.organization();
    let mut browser = somebody(world, &organization, "viewer").await;
    let page = browser.get("/ui/keys").await;
    let csrf = page.hidden("/ui/mode").remove(0);
    let owner = &organization.user_id;
    for (path, event) in [
        ("/ui/keys".to_owned(), "api_key.denied"),
        (
            "/ui/agents/agt_01M7YT30ARKHN4SPHGEK4YVZTP/archive".to_owned(),
            "agent.denied",
        ),
        ("/ui/settings".to_owned(), "organization.denied"),
        ("/ui/users".to_owned(), "user.denied"),
        (format!("/ui/users/{owner}/suspend"), "user.denied"),
        (format!("/ui/users/{owner}/link"), "user.denied"),
    ] {
        let refused = browser.post(&path, std::slice::from_ref(&csrf)).await;
        assert_eq!(refused.status(), 403, "{path}: {}", refused.text);
        let row = books::single(&world.gateway.database, refused.answer.request_id()).await;
        assert_eq!(row["event"], event, "{path}");
        assert_eq!(row["actor_type"], "user", "{path}");
        assert_eq!(row["result"], "denied", "{path}");
    }
}

async fn a_nul_character_is_no_trouble_of_ours(world: &World) {
    let organization = world.organization();
    let mut stranger = Browser::new(&world.gateway);
    let page = stranger.get("/ui/login").await;
    let typed = [("email", "a\0b"), ("password", "x")];
    let refused = stranger.submit(&page, "/ui/login", &typed).await;
    assert_eq!(refused.status(), 422, "{}", refused.text);
    assert!(refused.text.contains("NUL"), "{}", refused.text);

    let authorize = "/v1/oauth/authorize?client_id=%00&redirect_uri=https%3A%2F%2Fa.example%2Fcb";
    assert_eq!(stranger.get(authorize).await.status(), 400);
    let token = Request::new("POST", "/v1/oauth/token")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(b"grant_type=authorization_code&client_id=a%00b&code=x");
    let answer = world.gateway.answer(&token).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert_eq!(answer.json()["error"], "invalid_request");

    let audit = Request::new("GET", "/v1/audit?actor_id=%00").bearer(&organization.key);
    let answer = world.gateway.answer(&audit).await;
    assert_eq!(answer.status, 422, "{}", answer.text());
    let told = &answer.json()["error"]["details"]["$query.actor_id"];
    assert_eq!(told, &json!(["holds a NUL character"]));

    let mut owner = Browser::owner(&world.gateway, &organization).await;
    for path in [
        "/ui/audit?actor_id=%00",
        "/ui/audit?request_id=a%00",
        "/ui/deliveries?endpoint_id=%00",
    ] {
        let status = owner.get(path).await.status();
        assert!((400..500).contains(&status), "{path}: {status}");
    }
    let page = owner.get("/ui/users").await;
    let typed = [
        ("name", "a\0b"),
        ("email", "a@clinic.example"),
        ("role", "member"),
    ];
    assert_eq!(owner.submit(&page, "/ui/users", &typed).await.status(), 422);
}

async fn every_problem_has_its_place(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let app = new_app(&mut browser).await;
    let page = browser.get(&app).await;
    let wrong = [("key", "patient"), ("fields", "[{\"key\": ")];
    let refused = browser.submit(&page, &app, &wrong).await;
    assert_eq!(refused.status(), 422);
    let told = between(&refused, "id=\"e-fields\">", "</p>");
    assert!(told.starts_with("is not valid JSON"), "{told}");
    // The page has the id of what it asked for last, which is the app that it shows.
    let sql = "SELECT result FROM audit WHERE org_id = $1 AND event = 'entity.denied'";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["result"], "failure");
    let schema = r#"[{"key": "mrn", "type": "string", "required": true},
                     {"key": "ward", "type": "enum", "values": ["a", "b"]}]"#;
    let right = [("key", "patient"), ("fields", schema)];
    browser.submit(&page, &app, &right).await.leads_to();

    let wizard = format!("{app}/inbound");
    let page = browser.get(&wizard).await;
    let mut typed = vec![
        ("name", "Lab"),
        ("entity_key", "patient"),
        ("field_mapping", ""),
        ("sample", r#"{"ward": "zz"}"#),
        ("do", "try"),
    ];
    let refused = browser.submit(&page, &wizard, &typed).await;
    let told = between(&refused, "id=\"e-sample\">", "</p>");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "mrn: is required");
    assert!(lines[1].starts_with("ward: must be one of"), "{told}");
    typed[2].1 = "a = mrn\r\nno pair";
    typed[3].1 = "no JSON";
    let refused = browser.submit(&page, &wizard, &typed).await;
    let told = between(&refused, "id=\"e-field_mapping\">", "</p>");
    assert_eq!(told, "no. 2: a line is: source = field");
    assert!(!between(&refused, "id=\"e-sample\">", "</p>").is_empty());
    // What the entrance refuses, and a source with two fields.
    typed[2].1 = "a = mrn\r\na = ward";
    typed[3].1 = r#"{"a": "1", "a": "2"}"#;
    let refused = browser.submit(&page, &wizard, &typed).await;
    let told = between(&refused, "id=\"e-field_mapping\">", "</p>");
    assert!(told.starts_with("no. 2: has the source"), "{told}");
    let told = between(&refused, "id=\"e-sample\">", "</p>");
    assert!(told.contains("duplicate key"), "{told}");
    typed[3].1 = r#"{"a": "\u0000"}"#;
    let refused = browser.submit(&page, &wizard, &typed).await;
    let told = between(&refused, "id=\"e-sample\">", "</p>");
    assert!(told.contains("NUL"), "{told}");
    let twice = r#"[{"key": "mrn", "type": "string", "type": "integer"}]"#;
    let fields = [("key", "other"), ("fields", twice)];
    let app_page = browser.get(&app).await;
    let refused = browser.submit(&app_page, &app, &fields).await;
    let told = between(&refused, "id=\"e-fields\">", "</p>");
    assert!(told.starts_with("has a duplicate key"), "{told}");

    let page = browser.get("/ui/replay").await;
    let refused = browser.submit(&page, "/ui/replay", &[]).await;
    assert_eq!(refused.status(), 422);
    assert!(!between(&refused, "id=\"e-endpoint_id\">", "</p>").is_empty());

    let page = browser.get("/ui/settings").await;
    let typed = [
        ("name", "Clinic"),
        ("phi_mode", "redact"),
        ("features", "webhooks"),
        ("per_request_max_tokens", "4096"),
        ("webhook_payload", "thin"),
        ("conversation_days", "0"),
        ("audit_days", "10"),
    ];
    let refused = browser.submit(&page, "/ui/settings", &typed).await;
    assert_eq!(refused.status(), 422);
    for field in ["conversation_days", "audit_days"] {
        assert!(!between(&refused, &format!("id=\"e-{field}\">"), "</p>").is_empty());
    }

    let page = browser.get("/ui/users").await;
    let typed = [
        ("name", "Eve"),
        ("email", "\"><img>@x.example"),
        ("role", "member"),
    ];
    let refused = browser.submit(&page, "/ui/users", &typed).await;
    assert_eq!(
        between(&refused, "id=\"e-email\">", "</p>"),
        "is not an address"
    );
}

async fn who_may_not_change_gets_no_form(world: &World) {
    let organization = world.organization();
    let mut owner = Browser::owner(&world.gateway, &organization).await;
    let app = new_app(&mut owner).await;
    let mut compliance = somebody(world, &organization, "compliance").await;
    for path in ["/ui/replay".to_owned(), format!("{app}/inbound")] {
        assert_eq!(owner.get(&path).await.status(), 200, "{path}");
        assert_eq!(compliance.get(&path).await.status(), 403, "{path}");
    }
}

async fn switched_off_webhooks_are_off(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let box_of = "name=\"features\" value=\"webhooks\"";
    let page = browser.get("/ui/settings").await;
    assert!(
        page.text.contains(&format!("{box_of} checked")),
        "on at first"
    );
    assert_eq!(browser.get("/ui/webhooks").await.status(), 200);
    let typed = [
        ("name", "Clinic"),
        ("phi_mode", "redact"),
        ("per_request_max_tokens", "4096"),
        ("webhook_payload", "thin"),
        ("conversation_days", "30"),
        ("audit_days", "2190"),
    ];
    browser
        .submit(&page, "/ui/settings", &typed)
        .await
        .leads_to();
    assert_eq!(browser.get("/ui/webhooks").await.status(), 403);
    let page = browser.get("/ui/settings").await;
    assert!(!page.text.contains(&format!("{box_of} checked")));
    let mut on = typed.to_vec();
    on.push(("features", "webhooks"));
    browser.submit(&page, "/ui/settings", &on).await.leads_to();
    assert_eq!(browser.get("/ui/webhooks").await.status(), 200);
}

async fn nobody_gets_a_link_while_suspended(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let other = invite(world, &organization, "member");
    let page = browser.get("/ui/users").await;
    let link = format!("/ui/users/{}/link", other.id);
    let csrf = page.hidden(&link);
    let suspend = format!("/ui/users/{}/suspend", other.id);
    browser.submit(&page, &suspend, &[]).await.leads_to();
    let page = browser.get("/ui/users").await;
    assert!(!page.text.contains(&link));
    assert!(
        page.text
            .contains("<a href=\"/ui/keys\">API keys</a> go on")
    );
    let mut command = world.gateway.command();
    command.args(["admin", "reset-password", "--email", &other.email]);
    assert!(!program::run(&mut command).status.success());
    let refused = browser.post(&link, &csrf).await;
    assert_eq!(refused.status(), 422);
    assert!(!refused.text.contains("id=\"new-link\""));
    let row = books::single(&world.gateway.database, refused.answer.request_id()).await;
    assert_eq!(row["event"], "user.denied");
    assert_eq!(row["result"], "failure");
}

async fn another_schema_starts_from_the_one_there_is(world: &World) {
    let mut browser = Browser::owner(&world.gateway, &world.organization()).await;
    let app = new_app(&mut browser).await;
    let page = browser.get(&app).await;
    let schema = r#"[{"key": "bed_of_theirs", "type": "string"}]"#;
    let typed = [("key", "patient"), ("fields", schema)];
    browser.submit(&page, &app, &typed).await.leads_to();
    let records = browser.get(&format!("{app}/records/patient")).await;
    assert!(between(&records, "id=\"schema\">", "</pre>").contains("bed_of_theirs"));
    let page = browser.get(&format!("{app}?entity=patient")).await;
    let form = between(&page, "name=\"fields\"", "</textarea>");
    assert!(form.contains("bed_of_theirs"), "{form}");
    assert!(page.text.contains("value=\"patient\""));
}
