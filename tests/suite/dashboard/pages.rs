//! Pages do what endpoints do: in the name of whoever is signed in, as far as their role goes, with one row each.

use serde_json::{Value, json};
use svc_tests::browser::{Browser, Page};
use svc_tests::fake::mark;
use svc_tests::organization::Organization;
use svc_tests::world::World;

use super::{events, invite};
use crate::engines::{on_both_engines, on_sqlite};

on_both_engines! {
    a_key_made_here_works_until_it_is_revoked_here,
    an_agent_and_its_credential,
    what_is_found_in_the_log_is_proved,
    everybody_is_on_some_page_of_users,
    a_change_of_role_ends_sessions,
    phi_is_counted_and_never_shown,
}

on_sqlite! {
    a_role_sees_what_is_its_own,
    refusals_stand_beside_their_fields,
    a_form_sent_twice_is_done_once,
    live_and_test_are_looked_at_apart,
    settings_keep_what_the_form_does_not_show,
    an_agreement_is_signed_and_downloaded,
    an_integration_is_made_bound_and_revoked,
    usage_is_drawn_and_capped,
    an_inbound_webhook_is_tried_made_and_posted_to,
    the_playground_shows_what_a_provider_received,
}

/// Every page of the menu.
const PAGES: [&str; 17] = [
    "/ui",
    "/ui/keys",
    "/ui/agents",
    "/ui/usage",
    "/ui/phi",
    "/ui/audit",
    "/ui/integrations",
    "/ui/apps",
    "/ui/applications",
    "/ui/playground",
    "/ui/agreement",
    "/ui/users",
    "/ui/settings",
    "/ui/models",
    "/ui/plugins",
    "/ui/policies",
    "/ui/account",
];

/// What stands between the first of these and the next of those.
pub(super) fn between<'a>(page: &'a Page, start: &str, end: &str) -> &'a str {
    let (_, rest) = page
        .text
        .split_once(start)
        .unwrap_or_else(|| panic!("no {start:?} in {}", page.text));
    rest.split_once(end).expect("an end").0
}

pub(super) async fn somebody<'w>(
    world: &'w World,
    organization: &Organization,
    role: &str,
) -> Browser<'w> {
    let invited = invite(world, organization, role);
    let mut browser = Browser::new(&world.gateway);
    browser.accept(&invited.invitation).await;
    browser
}

/// The rows of an event of an organization, as documents.
pub(super) async fn rows(world: &World, organization: &Organization, event: &str) -> Vec<Value> {
    let sql =
        "SELECT document FROM audit WHERE org_id = $1 AND event = $2 ORDER BY occurred_at, id";
    let rows = world
        .gateway
        .database
        .rows(sql, &[&organization.id, event])
        .await;
    let documents = rows
        .iter()
        .map(|row| row["document"].as_str().expect("a document"));
    documents
        .map(|text| serde_json::from_str(text).expect("JSON"))
        .collect()
}

async fn a_key_made_here_works_until_it_is_revoked_here(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/keys").await;
    assert_eq!(page.status(), 200, "{}", page.text);
    let wanted = [
        ("name", "ward <3>"),
        ("scopes", "ai:chat"),
        ("expires_at", "2027-06-30"),
    ];
    let made = browser.submit(&page, "/ui/keys", &wanted).await;
    assert_eq!(made.status(), 201, "{}", made.text);
    let key = between(&made, "id=\"new-key\">", "</code>").to_owned();
    let chat = world.gateway.chat(&key, json!({"message": mark()})).await;
    assert_eq!(chat.status, 200, "{}", chat.text());

    let listed = browser.get("/ui/keys").await;
    assert!(listed.text.contains("ward &#60;3&#62;") && !listed.text.contains(&key));
    assert!(
        listed
            .text
            .contains("<span>2027-06-30</span> <span>23:59:59 UTC</span>"),
        "{}",
        listed.text
    );
    let created = rows(world, &organization, "api_key.created").await;
    assert_eq!(created.len(), 1, "{created:?}");
    let row = &created[0];
    assert_eq!(row["actor"]["type"], "user");
    assert_eq!(row["actor"]["id"], organization.user_id);
    assert_eq!(row["details"]["via"], "ui");
    assert_eq!(row["request"]["path"], "/v1/api_keys");
    assert_eq!(made.answer.request_id().len(), 30);

    let id = row["target"]["id"].as_str().unwrap();
    let action = format!("/ui/keys/{id}/revoke");
    let revoked = browser.submit(&listed, &action, &[]).await;
    assert_eq!(revoked.leads_to(), "/ui/keys?done=revoked");
    let chat = world.gateway.chat(&key, json!({"message": mark()})).await;
    assert_eq!(chat.status, 401, "{}", chat.text());
    assert_eq!(rows(world, &organization, "api_key.revoked").await.len(), 1);
}

async fn an_agent_and_its_credential(world: &World) {
    let organization = world.organization();
    let mut browser = somebody(world, &organization, "member").await;
    let page = browser.get("/ui/agents").await;
    let wanted = [
        ("name", "Intake"),
        ("surfaces", "native"),
        ("max_tokens", "512"),
    ];
    let made = browser.submit(&page, "/ui/agents", &wanted).await;
    let place = made.leads_to().split('?').next().unwrap().to_owned();
    let page = browser.get(&place).await;
    let issue = format!("{place}/credentials");
    let issued = browser.submit(&page, &issue, &[("label", "tablet")]).await;
    assert_eq!(issued.status(), 201, "{}", issued.text);
    let credential = between(&issued, "id=\"new-credential\">", "</code>").to_owned();
    let chat = world
        .gateway
        .chat(&credential, json!({"message": mark()}))
        .await;
    assert_eq!(chat.status, 200, "{}", chat.text());
    let body = json!({"model": "alpha-haiku-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": mark()}]});
    let other = svc_tests::wire::Request::new("POST", "/v1/messages")
        .bearer(&credential)
        .json(&body);
    assert_eq!(
        world.gateway.answer(&other).await.status,
        403,
        "native only"
    );

    let archived = browser
        .submit(&issued, &format!("{place}/archive"), &[])
        .await;
    archived.leads_to();
    let chat = world
        .gateway
        .chat(&credential, json!({"message": mark()}))
        .await;
    assert_eq!(chat.status, 401);
    for event in ["agent.created", "agent_credential.issued", "agent.archived"] {
        assert_eq!(rows(world, &organization, event).await.len(), 1, "{event}");
    }
}

async fn what_is_found_in_the_log_is_proved(world: &World) {
    let organization = world.organization();
    let mut browser = somebody(world, &organization, "compliance").await;
    let log = browser.get("/ui/audit?event=user.*").await;
    assert_eq!(log.status(), 200, "{}", log.text);
    assert!(log.text.contains("user.password_changed"), "{}", log.text);
    assert!(!log.text.contains("audit.queried"));
    let place = between(&log, "<a href=\"/ui/audit/aud_", "\"").replace("&amp;", "&");
    let row = browser.get(&format!("/ui/audit/aud_{place}")).await;
    assert_eq!(row.status(), 200, "{}", row.text);
    assert!(
        row.text
            .contains("This row is in the signed log, unchanged"),
        "{}",
        row.text
    );
    let back = "<a href=\"/ui/audit?event=user.*\">Back to the log</a>";
    assert!(row.text.contains(back), "{}", row.text);
    let wrong = browser.get("/ui/audit?event=Not%20an%20event").await;
    assert_eq!(wrong.status(), 422);
    assert!(
        wrong.text.contains("is not a known value"),
        "{}",
        wrong.text
    );
    for misleading in ["There is no such row", "/ui/audit/export"] {
        assert!(!wrong.text.contains(misleading), "{}", wrong.text);
    }
    let lines = browser.get("/ui/audit/export?as=ndjson&event=user.*").await;
    assert_eq!(lines.status(), 200);
    let disposition = lines.answer.header("content-disposition");
    assert_eq!(disposition, Some("attachment; filename=\"audit.ndjson\""));
    assert!(lines.text.lines().count() >= 2, "{}", lines.text);
    let queried = rows(world, &organization, "audit.queried").await;
    assert!(queried.iter().all(|row| row["actor"]["type"] == "user"));
}

async fn everybody_is_on_some_page_of_users(world: &World) {
    let organization = world.organization();
    let mut owner = Browser::owner(&world.gateway, &organization).await;
    let oldest = invite(world, &organization, "member");
    let sql = "INSERT INTO users (id, org_id, email, name, role, status, mfa_enabled, created_at, last_login_at) \
               SELECT $1, org_id, $2, name, role, status, mfa_enabled, created_at + 1, last_login_at \
               FROM users WHERE id = $3";
    for number in 0..50 {
        let (_, unique) = oldest.id.split_at(oldest.id.len() - 8);
        let id = format!("user_0{number:017}{unique}");
        let email = format!("{id}@clinic.example");
        let args: [&str; 3] = [&id, &email, &oldest.id];
        world.gateway.database.change(sql, &args).await;
    }
    let first = owner.get("/ui/users").await;
    assert!(!first.text.contains(&oldest.id), "{}", first.text);
    let next = between(&first, "href=\"/ui/users?cursor=", "\"");
    let second = owner.get(&format!("/ui/users?cursor={next}")).await;
    assert!(second.text.contains(&oldest.id), "{}", second.text);
    assert!(!second.text.contains("/ui/users?cursor="));
    let suspend = format!("/ui/users/{}/suspend", oldest.id);
    owner.submit(&second, &suspend, &[]).await.leads_to();
    let strange = owner.get("/ui/users?cursor=somewhere").await;
    assert_eq!(strange.status(), 200, "the first page");
}

async fn a_change_of_role_ends_sessions(world: &World) {
    let organization = world.organization();
    let mut owner = Browser::owner(&world.gateway, &organization).await;
    let invited = invite(world, &organization, "viewer");
    let mut other = Browser::new(&world.gateway);
    other.accept(&invited.invitation).await;
    let page = owner.get("/ui/users").await;
    assert!(page.text.contains(&invited.email), "{}", page.text);
    let action = format!("/ui/users/{}/role", invited.id);
    let changed = owner.submit(&page, &action, &[("role", "admin")]).await;
    assert_eq!(changed.leads_to(), "/ui/users?done=saved");
    assert_eq!(other.get("/ui/keys").await.status(), 303);
    other
        .sign_in(&invited.email, svc_tests::browser::PASSWORD)
        .await
        .leads_to();

    // An admin neither makes owners nor touches one, and nobody changes themselves.
    let page = other.get("/ui/users").await;
    let own = page.hidden("/ui/users");
    let csrf = own.iter().find(|(name, _)| name == "csrf").unwrap().clone();
    for (path, role) in [
        (format!("/ui/users/{}/role", organization.user_id), "viewer"),
        (format!("/ui/users/{}/suspend", organization.user_id), ""),
        (action.clone(), "owner"),
    ] {
        let fields = [csrf.clone(), ("role".to_owned(), role.to_owned())];
        assert_eq!(other.post(&path, &fields).await.status(), 403, "{path}");
    }
    let fields = [
        csrf,
        ("name".to_owned(), "Next".to_owned()),
        ("email".to_owned(), format!("{}@clinic.example", mark())),
        ("role".to_owned(), "owner".to_owned()),
    ];
    assert_eq!(other.post("/ui/users", &fields).await.status(), 422);

    let page = owner.get("/ui/users").await;
    let suspend = format!("/ui/users/{}/suspend", invited.id);
    owner.submit(&page, &suspend, &[]).await.leads_to();
    assert_eq!(other.get("/ui/account").await.status(), 303);
    let told = events(world, &invited.id).await;
    let last = ["user.signed_in", "user.denied", "user.suspended"];
    assert!(told.ends_with(&last.map(str::to_owned)), "{told:?}");
}

async fn phi_is_counted_and_never_shown(world: &World) {
    let organization = world.organization();
    let message = format!("{} SSN 536-22-1234", mark());
    let chat = world
        .gateway
        .chat(&organization.key, json!({"message": message}))
        .await;
    assert_eq!(chat.status, 200, "{}", chat.text());
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/phi").await;
    assert_eq!(page.status(), 200, "{}", page.text);
    assert!(
        page.text
            .contains("<td>SSN</td><td class=\"number\">1</td>"),
        "{}",
        page.text
    );
    assert!(page.text.contains("phi-patterns@"), "{}", page.text);
    assert!(!page.text.contains("536-22"));
    // Whoever looks at what the log says leaves a row in it.
    let queried = rows(world, &organization, "audit.queried").await;
    let [row] = queried.as_slice() else {
        panic!("{queried:?}")
    };
    assert_eq!(row["actor"]["type"], "user");
    assert_eq!(row["details"]["filters"][0][0], "from", "{row}");
}

async fn a_role_sees_what_is_its_own(world: &World) {
    let organization = world.organization_with(&["--features", "integrations"]);
    for (role, closed) in [
        ("owner", &[][..]),
        ("admin", &[]),
        ("compliance", &["/ui/playground"]),
        (
            "member",
            &["/ui/phi", "/ui/audit", "/ui/users", "/ui/applications"],
        ),
        (
            "viewer",
            &[
                "/ui/phi",
                "/ui/audit",
                "/ui/users",
                "/ui/integrations",
                "/ui/apps",
                "/ui/applications",
                "/ui/playground",
            ],
        ),
    ] {
        let mut browser = somebody(world, &organization, role).await;
        let home = browser.get("/ui").await;
        for path in PAGES {
            let expected = if closed.contains(&path) { 403 } else { 200 };
            let page = browser.get(path).await;
            assert_eq!(page.status(), expected, "{role} at {path}: {}", page.text);
            let link = format!("<a href=\"{path}\"");
            let menu = between(&home, "aria-label=\"Pages\"", "</nav>");
            assert_eq!(
                menu.contains(&link),
                expected == 200,
                "{role}: {path} in the menu"
            );
        }
    }
    // Who may not change sees no form, and sending one changes nothing.
    for role in ["compliance", "member", "viewer"] {
        let mut browser = somebody(world, &organization, role).await;
        let page = browser.get("/ui/keys").await;
        assert!(!page.text.contains("Create the key"), "{role}");
        let csrf = page.hidden("/ui/mode").remove(0);
        for path in [
            "/ui/keys",
            "/ui/usage/budget",
            "/ui/settings",
            "/ui/agreement",
            "/ui/models",
            "/ui/users",
        ] {
            let fields = [csrf.clone(), ("name".to_owned(), "forged".to_owned())];
            let status = browser.post(path, &fields).await.status();
            assert!((400..500).contains(&status), "{role} at {path}: {status}");
        }
    }
    assert!(
        rows(world, &organization, "api_key.created")
            .await
            .is_empty()
    );
    assert!(
        rows(world, &organization, "organization.updated")
            .await
            .is_empty()
    );
}

async fn refusals_stand_beside_their_fields(world: &World) {
    let mut browser = Browser::owner(&world.gateway, &world.organization()).await;
    let page = browser.get("/ui/keys").await;
    let wrong = [
        ("name", ""),
        ("expires_at", "2020-01-01"),
        ("rate_limits", "many"),
    ];
    let refused = browser.submit(&page, "/ui/keys", &wrong).await;
    assert_eq!(refused.status(), 422);
    for field in ["name", "scopes", "expires_at", "rate_limits"] {
        let start = format!("id=\"e-{field}\">");
        assert!(!between(&refused, &start, "</p>").is_empty());
    }
    assert!(
        refused.text.contains("value=\"2020-01-01\""),
        "what was typed is kept"
    );
}

async fn a_form_sent_twice_is_done_once(world: &World) {
    let organization = world.organization();
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/keys").await;
    let wanted = [("name", "twice"), ("scopes", "ai:chat")];
    let first = browser.submit(&page, "/ui/keys", &wanted).await;
    let again = browser.submit(&page, "/ui/keys", &wanted).await;
    let key = |page: &Page| between(page, "id=\"new-key\">", "</code>").to_owned();
    assert_eq!(key(&first), key(&again));
    assert_eq!(rows(world, &organization, "api_key.created").await.len(), 1);
}

async fn live_and_test_are_looked_at_apart(world: &World) {
    let mut browser = Browser::owner(&world.gateway, &world.organization()).await;
    let page = browser.get("/ui/agents").await;
    assert!(page.text.contains("Live data"));
    browser
        .submit(&page, "/ui/agents", &[("name", "Of the living")])
        .await
        .leads_to();
    let page = browser.get("/ui/agents").await;
    let switched = browser.submit(&page, "/ui/mode", &[("mode", "test")]).await;
    assert_eq!(switched.leads_to(), "/ui/agents");
    let page = browser.get("/ui/agents").await;
    assert!(
        page.text.contains("Test data") && !page.text.contains("Of the living"),
        "{}",
        page.text
    );
    let keys = browser.get("/ui/keys").await;
    let made = browser
        .submit(&keys, "/ui/keys", &[("name", "t"), ("scopes", "ai:chat")])
        .await;
    assert!(between(&made, "id=\"new-key\">", "</code>").starts_with("svc_api_test_"));
}

async fn settings_keep_what_the_form_does_not_show(world: &World) {
    let organization = world.organization_with(&["--features", "integrations"]);
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/settings").await;
    assert_eq!(page.status(), 200, "{}", page.text);
    let wanted = [
        ("name", "Mercy <Clinic>"),
        ("phi_mode", "block"),
        ("switches", "phi_restore"),
        ("features", "integrations"),
        ("features", "webhooks"),
        ("per_request_max_tokens", "4096"),
        ("default_system_prompt", "Be brief.\r\nBe kind."),
        ("webhook_payload", "thin"),
        ("conversation_days", "30"),
        ("audit_days", "2190"),
    ];
    let saved = browser.submit(&page, "/ui/settings", &wanted).await;
    assert_eq!(saved.leads_to(), "/ui/settings?done=saved");
    let changes = rows(world, &organization, "organization.updated").await;
    assert_eq!(changes.len(), 1);
    let changed: Vec<&String> = changes[0]["details"]["changes"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(
        changed,
        [
            "name",
            "phi_mode",
            "default_system_prompt_sha256",
            "per_request_max_tokens",
            "retention"
        ]
    );
    let page = browser.get("/ui/settings").await;
    assert!(
        page.text.contains("Be brief.\nBe kind.</textarea>"),
        "{}",
        page.text
    );
    assert!(page.text.contains("Mercy &#60;Clinic&#62;"));
    let mut short = wanted;
    short[9] = ("audit_days", "30");
    let refused = browser.submit(&page, "/ui/settings", &short).await;
    assert_eq!(refused.status(), 422);
    assert!(refused.text.contains("2190"), "{}", refused.text);
}

async fn an_agreement_is_signed_and_downloaded(world: &World) {
    let organization = world.organization_with(&["--no-baa"]);
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let home = browser.get("/ui").await;
    assert!(home.text.contains("Read and sign it"), "{}", home.text);
    let page = browser.get("/ui/agreement").await;
    let who = [
        ("signer_name", "Joy Okafor"),
        ("signer_title", "Director"),
        ("signer_email", "joy@clinic.example"),
    ];
    let refused = browser.submit(&page, "/ui/agreement", &who).await;
    assert_eq!(refused.status(), 422, "without a signature");
    // It is set as on paper, and no mark of its text is left.
    let document = between(&page, "<div class=\"document", "</div>");
    assert!(document.contains("role=\"heading\"") && !document.contains("# "));
    assert!(
        document.contains("<strong>") || !document.contains("**"),
        "{document}"
    );
    let mut signed = who.to_vec();
    signed.push(("agree", "yes"));
    // Sent twice, it is signed once.
    for _ in 0..2 {
        let done = browser.submit(&page, "/ui/agreement", &signed).await;
        assert_eq!(done.leads_to(), "/ui/agreement?done=signed");
    }
    let page = browser.get("/ui/agreement").await;
    let id = between(&page, "/ui/agreement/baa_", "/download").to_owned();
    let file = browser
        .get(&format!("/ui/agreement/baa_{id}/download"))
        .await;
    assert_eq!(file.answer.header("content-type"), Some("application/pdf"));
    assert_eq!(file.answer.header("cache-control"), Some("no-store"));
    assert!(file.answer.body.starts_with(b"%PDF-"));
    assert_eq!(
        browser
            .get("/ui/agreement/baa_nothing/download")
            .await
            .status(),
        404
    );
    let chat = world
        .gateway
        .chat(&organization.key, json!({"message": mark()}))
        .await;
    assert_eq!(chat.status, 200, "{}", chat.text());
}

async fn an_integration_is_made_bound_and_revoked(world: &World) {
    let organization = world.organization_with(&["--features", "integrations"]);
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/integrations").await;
    let wanted = [
        ("name", "EHR"),
        ("base_url", "https://ehr.example.org/api"),
        ("scheme", "header"),
        ("auth", "X-Api-Key"),
        ("secret", "a secret of theirs"),
    ];
    let made = browser.submit(&page, "/ui/integrations", &wanted).await;
    let place = made.leads_to().split('?').next().unwrap().to_owned();
    let page = browser.get(&place).await;
    assert!(!page.text.contains("a secret of theirs"));
    let bound = browser
        .submit(&page, &format!("{place}/bindings"), &[("alias", "ehr")])
        .await;
    bound.leads_to();
    let page = browser.get(&place).await;
    assert!(page.text.contains("<code>ehr</code>"), "{}", page.text);
    let taken = browser
        .submit(&page, &format!("{place}/bindings"), &[("alias", "ehr")])
        .await;
    assert_eq!(taken.status(), 422);
    assert!(
        taken.text.contains("alias of this project already"),
        "{}",
        taken.text
    );
    browser
        .submit(&page, &format!("{place}/revoke"), &[])
        .await
        .leads_to();
    let page = browser.get(&place).await;
    assert!(
        page.text.contains("stale") && !page.text.contains("Revoke the integration"),
        "{}",
        page.text
    );
}

async fn usage_is_drawn_and_capped(world: &World) {
    let organization = world.organization();
    let chat = world
        .gateway
        .chat(&organization.key, json!({"message": mark()}))
        .await;
    assert_eq!(chat.status, 200);
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/usage?by=surface").await;
    assert_eq!(page.status(), 200, "{}", page.text);
    assert!(page.text.contains("aria-label=\"Credits by day\""));
    assert!(
        page.text
            .contains("<td>native</td><td class=\"number\">1</td>"),
        "{}",
        page.text
    );
    let cap = [
        ("monthly_credit_cap", "0"),
        ("monthly_spend_cap_usd", ""),
        ("alert_thresholds", "0.5, 1"),
    ];
    let saved = browser.submit(&page, "/ui/usage/budget", &cap).await;
    assert_eq!(saved.leads_to(), "/ui/usage?done=saved");
    let chat = world
        .gateway
        .chat(&organization.key, json!({"message": mark()}))
        .await;
    assert_eq!(chat.status, 429, "{}", chat.text());
    let page = browser.get("/ui/usage").await;
    let wrong = [
        ("monthly_credit_cap", "lots"),
        ("monthly_spend_cap_usd", ""),
        ("alert_thresholds", "1"),
    ];
    let refused = browser.submit(&page, "/ui/usage/budget", &wrong).await;
    assert_eq!(refused.status(), 422);
    assert!(!between(&refused, "id=\"e-monthly_credit_cap\">", "</p>").is_empty());
}

async fn an_inbound_webhook_is_tried_made_and_posted_to(world: &World) {
    let organization = world.organization();
    let mut browser = somebody(world, &organization, "member").await;
    let page = browser.get("/ui/apps").await;
    let made = browser
        .submit(&page, "/ui/apps", &[("name", "Intake")])
        .await;
    let app = made.leads_to().split('?').next().unwrap().to_owned();
    let page = browser.get(&app).await;
    let wrong = [("key", "patient"), ("fields", "[{\"key\": \"mrn\"}]")];
    let refused = browser.submit(&page, &app, &wrong).await;
    assert_eq!(refused.status(), 422, "{}", refused.text);
    let schema = r#"[{"key": "mrn", "type": "string", "required": true, "phi": true}, {"key": "ward", "type": "enum", "values": ["a"]}]"#;
    let saved = browser
        .submit(&page, &app, &[("key", "patient"), ("fields", schema)])
        .await;
    assert_eq!(
        saved.leads_to(),
        format!("{app}/records/patient?done=saved")
    );

    let wizard = format!("{app}/inbound");
    let page = browser.get(&wizard).await;
    let mut typed = vec![
        ("name", "Lab"),
        ("entity_key", "patient"),
        ("field_mapping", "patient.id = mrn"),
        ("sample", r#"{"patient": {"id": "4711"}, "ward": "b"}"#),
        ("do", "try"),
    ];
    let refused = browser.submit(&page, &wizard, &typed).await;
    assert_eq!(refused.status(), 422);
    assert!(
        !between(&refused, "id=\"e-sample\">", "</p>").is_empty(),
        "{}",
        refused.text
    );
    typed[3].1 = r#"{"patient": {"id": "<4711>"}, "ward": "a", "other": 1}"#;
    let tried = browser.submit(&page, &wizard, &typed).await;
    assert_eq!(tried.status(), 200, "{}", tried.text);
    assert!(
        between(&tried, "id=\"preview\">", "</pre>").contains("&#60;4711&#62;"),
        "{}",
        tried.text
    );
    assert!(
        rows(world, &organization, "inbound_webhook.created")
            .await
            .is_empty()
    );
    typed[4].1 = "make";
    let made = browser.submit(&tried, &wizard, &typed).await;
    assert_eq!(made.status(), 201, "{}", made.text);
    let entrance = between(&made, "id=\"new-entrance\">", "</code>").to_owned();
    let path = browser.path(&entrance).to_owned();
    let sent = svc_tests::wire::Request::new("POST", &path)
        .json(&json!({"patient": {"id": "4712"}, "ward": "a"}));
    let answer = world.gateway.answer(&sent).await;
    assert_eq!(answer.status, 201, "{}", answer.text());

    let records = browser.get(&format!("{app}/records/patient")).await;
    assert!(records.text.contains("<td>4712</td>"), "{}", records.text);
    let id = answer.json()["data"]["record_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let place = format!("{app}/records/patient/{id}");
    let record = browser.get(&place).await;
    assert!(record.text.contains("4712"), "{}", record.text);
    let removed = browser
        .submit(&record, &format!("{place}/remove"), &[])
        .await;
    removed.leads_to();
    for event in [
        "app.created",
        "entity.created",
        "inbound_webhook.created",
        "record.deleted",
    ] {
        assert_eq!(rows(world, &organization, event).await.len(), 1, "{event}");
    }
}

async fn the_playground_shows_what_a_provider_received(world: &World) {
    let organization = world.organization();
    let mut browser = somebody(world, &organization, "member").await;
    let page = browser.get("/ui/playground").await;
    assert_eq!(page.status(), 200, "{}", page.text);
    let word = mark();
    let message = format!("{word}: Patient with SSN 536-22-1234 <b>");
    let typed = [
        ("model", "alpha-haiku-4-5"),
        ("system", ""),
        ("message", message.as_str()),
    ];
    let turn = browser.submit(&page, "/ui/playground", &typed).await;
    assert_eq!(turn.status(), 200, "{}", turn.text);
    let side = |page: &Page, id: &str| {
        between(page, &format!("<h2 id=\"{id}\">"), "</section>").to_owned()
    };
    assert!(side(&turn, "typed").contains("536-22-1234 &#60;b&#62;"));
    let received = side(&turn, "received");
    assert!(
        received.contains(&word) && !received.contains("536-22-1234"),
        "{received}"
    );
    assert!(side(&turn, "answered").contains("<pre>"));
    let completed = rows(world, &organization, "inference.completed").await;
    assert_eq!(completed.len(), 1);
    assert_eq!(completed[0]["actor"]["type"], "user");
    let sql = "SELECT id FROM messages WHERE org_id = $1";
    let kept = world.gateway.database.rows(sql, &[&organization.id]).await;
    assert!(kept.is_empty(), "nothing of it is stored");

    let blocking = world.organization_with(&["--phi-mode", "block"]);
    let mut browser = Browser::owner(&world.gateway, &blocking).await;
    let page = browser.get("/ui/playground").await;
    let refused = browser.submit(&page, "/ui/playground", &typed).await;
    assert_eq!(refused.status(), 422);
    assert!(side(&refused, "received").contains("Nothing: the message was refused before."));
}
