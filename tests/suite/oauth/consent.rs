//! What users see and say (contract 16.3): the page, its headers, and answers that count once and for their own session
//! alone.

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::browser::Browser;
use svc_tests::program;
use svc_tests::world::World;

use super::{REDIRECT, Scene, agent, data, parameter, say, text};
use crate::engines::{on_both_engines, on_sqlite};
use svc_tests::wire::Request;

on_both_engines! {
    the_answer_goes_where_it_was_wanted,
    what_is_allowed_is_what_the_page_showed,
    an_answer_counts_once_and_for_its_session,
    who_may_not_delegate_is_denied,
    another_organizations_application_may_ask,
}

on_sqlite! {
    the_page_says_what_is_asked_for,
    the_page_lets_the_browser_go_to_the_application_and_nowhere_else,
    signing_in_lets_the_browser_go_on_to_the_application,
    a_forged_answer_does_nothing,
    a_name_stays_a_text,
}

async fn the_answer_goes_where_it_was_wanted(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let issuer = format!("http://{}", world.gateway.address);
    for (decision, event) in [
        ("allow", "oauth.code_issued"),
        ("deny", "oauth.access_denied"),
    ] {
        let page = browser.get(&scene.authorize(&[])).await;
        let done = say(&mut browser, &page, decision).await;
        let location = done.leads_to();
        assert!(location.starts_with(&format!("{REDIRECT}&")), "{location}");
        assert_eq!(parameter(location, "state").as_deref(), Some("s 1&x"));
        assert_eq!(parameter(location, "iss"), Some(issuer.clone()));
        let code = parameter(location, "code");
        match decision {
            "allow" => assert_eq!(code.map(|code| code.len()), Some(43)),
            _ => assert_eq!(
                parameter(location, "error").as_deref(),
                Some("access_denied")
            ),
        }
        let row = books::single(&world.gateway.database, done.answer.request_id()).await;
        assert_eq!(row["event"], event);
        assert_eq!(row["actor_type"], "user");
        assert_eq!(row["actor_id"], scene.organization.user_id);
        assert_eq!(row["target_id"], scene.application["id"]);
        assert_eq!(row["org_id"], scene.organization.id);
        assert!(!text(&row, "document").contains(REDIRECT));
    }
}

async fn what_is_allowed_is_what_the_page_showed(world: &World) {
    let narrow =
        json!([{"scope": "ai:chat", "constraints": {"surfaces": ["native"], "max_tokens": 100}}]);
    let of_agent = json!({"scope_grants": narrow, "default_expiry_hours": 1});
    let scene = Scene::with(world, of_agent, json!({})).await;
    let mut browser = scene.owner(world).await;
    let agent = format!("/v1/agents/{}", scene.agent_id);
    let application = format!("/v1/oauth/applications/{}", scene.id());
    let mut page = browser.get(&scene.authorize(&[])).await;
    for (path, change, said) in [
        (
            &agent,
            json!({"scope_grants": [{"scope": "ai:chat"}]}),
            "answers of any length",
        ),
        (&agent, json!({"default_expiry_hours": 720}), "30 days"),
        (&agent, json!({"allowed_models": ["beta-5.4"]}), "beta-5.4"),
        (&agent, json!({"name": "Billing"}), "Billing"),
        (&application, json!({"name": "CareMap"}), "CareMap"),
        (
            &application,
            json!({"publisher": "Example Inc"}),
            "Example Inc",
        ),
    ] {
        assert!(!page.text.contains(said), "{said} in {}", page.text);
        data(world, &scene.key, "PATCH", path, change).await;
        page = say(&mut browser, &page, "allow").await;
        assert_eq!(page.status(), 409, "{}", page.text);
        let is_told = page.text.contains("Nothing is allowed yet");
        assert!(is_told && page.text.contains(said), "{}", page.text);
    }
    let sql = "SELECT digest FROM oauth_codes WHERE application_id = $1";
    let codes = world.gateway.database.rows(sql, &[scene.id()]).await;
    assert!(codes.is_empty(), "{codes:?}");
    // What no page shows is nothing to ask again for, and whoever has read the page anew has read it.
    let unseen = json!({"description": "of the ward"});
    data(world, &scene.key, "PATCH", &agent, unseen).await;
    let done = say(&mut browser, &page, "allow").await;
    let code = parameter(done.leads_to(), "code").unwrap();
    let answer = scene.redeem(world, &code).await.json();
    assert_eq!(answer["expires_in"], 720 * 3_600);
    // A no needs no second look.
    let page = browser.get(&scene.authorize(&[])).await;
    let body = json!({"default_expiry_hours": 2});
    data(world, &scene.key, "PATCH", &agent, body).await;
    let done = say(&mut browser, &page, "deny").await;
    let error = parameter(done.leads_to(), "error");
    assert_eq!(error.as_deref(), Some("access_denied"));
}

async fn an_answer_counts_once_and_for_its_session(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let page = browser.get(&scene.authorize(&[])).await;
    // Somebody else's session, with a proof of its own.
    let other = invite(world, &scene, "owner");
    let mut thief = Browser::new(&world.gateway);
    thief.accept(&other).await;
    let own = thief.get(&scene.authorize(&[])).await;
    let mut fields = own.hidden("/ui/consent");
    let request = page.hidden("/ui/consent");
    let stolen = request.iter().find(|(name, _)| name == "request").unwrap();
    for field in &mut fields {
        if field.0 == "request" {
            field.1.clone_from(&stolen.1);
        }
    }
    fields.push(("decision".into(), "allow".into()));
    assert_eq!(thief.post("/ui/consent", &fields).await.status(), 400);
    let path = format!("/ui/consent/{}", stolen.1);
    assert_eq!(thief.get(&path).await.status(), 400);
    // The page can be loaded again, until it is answered.
    assert_eq!(browser.get(&path).await.status(), 200);
    let neither = browser
        .submit(&page, "/ui/consent", &[("decision", "maybe")])
        .await;
    assert_eq!(neither.status(), 400);
    let first = say(&mut browser, &page, "allow").await;
    assert!(parameter(first.leads_to(), "code").is_some());
    assert_eq!(say(&mut browser, &page, "allow").await.status(), 400);
    assert_eq!(browser.get(&path).await.status(), 400);
    // Ten minutes are over.
    let page = browser.get(&scene.authorize(&[])).await;
    let sql = "UPDATE oauth_requests SET expires_at = 1 WHERE application_id = $1";
    world.gateway.database.change(sql, &[scene.id()]).await;
    assert_eq!(say(&mut browser, &page, "allow").await.status(), 400);
    // An address that is not registered any more.
    let page = browser.get(&scene.authorize(&[])).await;
    let path = format!("/v1/oauth/applications/{}", scene.id());
    let body = json!({"redirect_uris": ["https://other.example/cb"]});
    data(world, &scene.key, "PATCH", &path, body).await;
    assert_eq!(say(&mut browser, &page, "allow").await.status(), 400);
}

/// Somebody more of the scene's organization: their invitation.
fn invite(world: &World, scene: &Scene, role: &str) -> String {
    let email = format!("{}@clinic.example", svc_tests::fake::mark().to_lowercase());
    let mut command = world.gateway.command();
    command.args(["admin", "create-user", "--json", "--role", role]);
    command.args(["--email", &email, "--organization", &scene.organization.id]);
    let said: Value = serde_json::from_str(&program::output_of(&mut command)).expect("JSON");
    text(&said, "invitation_url").to_owned()
}

/// The application is told no, without the user being asked.
async fn denied(browser: &mut Browser<'_>, path: &str, word: &str) {
    let page = browser.get(path).await;
    let location = page.leads_to();
    assert_eq!(
        parameter(location, "error").as_deref(),
        Some(word),
        "{location}"
    );
    assert!(parameter(location, "iss").is_some() && parameter(location, "state").is_some());
}

async fn who_may_not_delegate_is_denied(world: &World) {
    let scene = Scene::with(world, json!({"max_active_credentials": 1}), json!({})).await;
    for (role, may) in [
        ("admin", true),
        ("member", true),
        ("compliance", false),
        ("viewer", false),
    ] {
        let mut browser = Browser::new(&world.gateway);
        browser.accept(&invite(world, &scene, role)).await;
        if may {
            assert_eq!(
                browser.get(&scene.authorize(&[])).await.status(),
                200,
                "{role}"
            );
        } else {
            denied(&mut browser, &scene.authorize(&[]), "access_denied").await;
        }
    }
    let mut owner = scene.owner(world).await;
    let foreign = agent(world, &world.organization().key, json!({})).await;
    denied(
        &mut owner,
        &scene.authorize(&[("agent_id", &foreign)]),
        "access_denied",
    )
    .await;
    let silent = agent(world, &scene.key, json!({"scope_grants": []})).await;
    let path = scene.authorize(&[("agent_id", &silent)]);
    denied(&mut owner, &path, "invalid_authorization_details").await;
    // What changes while somebody reads the page counts too.
    let page = owner.get(&scene.authorize(&[])).await;
    let token = scene.token(world, &mut owner).await;
    assert!(token.starts_with("svc_agt_"));
    let done = say(&mut owner, &page, "allow").await;
    assert_eq!(
        parameter(done.leads_to(), "error").as_deref(),
        Some("access_denied")
    );
    denied(&mut owner, &scene.authorize(&[]), "access_denied").await;
    let archived = agent(world, &scene.key, json!({})).await;
    let path = format!("/v1/agents/{archived}/archive");
    data(world, &scene.key, "POST", &path, json!({})).await;
    denied(
        &mut owner,
        &scene.authorize(&[("agent_id", &archived)]),
        "access_denied",
    )
    .await;
}

/// A third party registers once; users of other organizations consent for agents of their own.
async fn another_organizations_application_may_ask(world: &World) {
    let maker = world.organization_with(&["--name", "Acme Incorporated"]);
    let application = super::application(world, &maker.key, json!({})).await;
    let clinic = Scene::new(world).await;
    let scene = Scene {
        application,
        organization: clinic.organization.clone(),
        key: clinic.key.clone(),
        agent_id: clinic.agent_id.clone(),
    };
    let mut browser = scene.owner(world).await;
    let page = browser.get(&scene.authorize(&[])).await;
    assert!(page.text.contains("Acme Incorporated"), "{}", page.text);
    let token = scene.token(world, &mut browser).await;
    assert_eq!(scene.chat(world, &token).await, "200");
    let shown = scene.introspect(world, &token).await;
    assert_eq!(shown["org_id"], clinic.organization.id);
    // The clinic sees it among its credentials; the maker's revocation reaches it at once.
    let path = format!("/v1/agents/{}/credentials", clinic.agent_id);
    let listed = data(world, &clinic.key, "GET", &path, Value::Null).await;
    assert_eq!(listed[0]["application_id"], scene.application["id"]);
    let path = format!("/v1/oauth/applications/{}/revoke", scene.id());
    data(world, &maker.key, "POST", &path, Value::Null).await;
    assert_eq!(
        scene.chat(world, &token).await,
        "DEVELOPER_CREDENTIAL_REVOKED"
    );
}

async fn the_page_says_what_is_asked_for(world: &World) {
    let grant = json!({"scope": "ai:chat", "tools": ["lookup_slot", "book"],
                       "constraints": {"max_tokens": 512, "models": ["alpha-haiku-4-5", "alpha-sonnet-4-6"]}});
    let of_agent = json!({"scope_grants": [grant], "default_expiry_hours": 72});
    let scene = Scene::with(world, of_agent, json!({})).await;
    let mut browser = scene.owner(world).await;
    let details = json!([
        {"type": "svc_agent_access", "actions": ["chat", "messages"], "models": ["alpha-haiku-4-5", "beta-5.4"],
         "tools": ["lookup_slot"], "max_tokens": 4096},
        {"type": "svc_agent_access", "actions": ["chat_completions"]},
    ]);
    let path = scene.authorize(&[("authorization_details", &details.to_string())]);
    let page = browser.get(&path).await;
    for said in [
        "CareNav",
        "Acme Inc",
        "carenav.example",
        "Intake",
        "Example Clinic",
        "hold conversations",
        "messages format",
        "chat-completions format",
        "alpha-haiku-4-5",
        "lookup_slot",
        "lookup_slot, book",
        "at most 512 tokens",
        "3 days",
        "Live",
        ">Allow<",
        ">Deny<",
    ] {
        assert!(page.text.contains(said), "{said} in {}", page.text);
    }
    assert!(!page.text.contains("beta-5.4") && !page.text.contains("4096"));
    assert!(!page.text.contains("Test mode") && !page.text.contains("<select"));
    assert!(!page.text.contains("<script"), "{}", page.text);
}

async fn the_page_lets_the_browser_go_to_the_application_and_nowhere_else(world: &World) {
    let uris = json!([
        "https://carenav.example:8443/cb",
        "http://127.0.0.1/cb",
        "http://[::1]/cb",
        "com.example.app:/cb"
    ]);
    let of_application = json!({"type": "native", "redirect_uris": uris});
    let scene = Scene::with(world, json!({}), of_application).await;
    let mut browser = scene.owner(world).await;
    for (address, source) in [
        (
            "https://carenav.example:8443/cb",
            "https://carenav.example:8443",
        ),
        ("http://127.0.0.1:5123/cb", "http://127.0.0.1:5123"),
        ("http://[::1]:5123/cb", "http:"),
        ("com.example.app:/cb", "com.example.app:"),
    ] {
        let page = browser
            .get(&scene.authorize(&[("redirect_uri", address)]))
            .await;
        assert_eq!(page.status(), 200, "{}", page.text);
        let policy = page.answer.header("content-security-policy").unwrap();
        let directives: Vec<&str> = policy.split("; ").collect();
        for directive in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            &format!("form-action 'self' {source}"),
        ] {
            assert!(directives.contains(&directive), "{directive} in {policy}");
        }
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(page.answer.header(name), Some(value));
        }
    }
}

async fn signing_in_lets_the_browser_go_on_to_the_application(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = Browser::new(&world.gateway);
    let sent = browser.get(&scene.authorize(&[])).await;
    let login = sent.leads_to().to_owned();
    assert!(login.starts_with("/ui/login?next="), "{login}");
    // Where the request is refused, the form that signs in is the one whose redirects end there.
    let allowed = "form-action 'self' https://carenav.example";
    let page = browser.get(&login).await;
    let policy = page.answer.header("content-security-policy").unwrap();
    assert!(policy.split("; ").any(|one| one == allowed), "{policy}");
    let wrong = [("email", "nobody@clinic.example"), ("password", "x")];
    let page = browser.submit(&page, "/ui/login", &wrong).await;
    assert_eq!(page.status(), 401);
    let policy = page.answer.header("content-security-policy").unwrap();
    assert!(policy.split("; ").any(|one| one == allowed), "{policy}");
    for other in ["/ui/login", "/ui/login?next=%2Fui%2Fconsent%2Fx"] {
        let page = browser.get(other).await;
        let policy = page.answer.header("content-security-policy").unwrap();
        let own = "form-action 'self'";
        assert!(policy.split("; ").any(|one| one == own), "{policy}");
    }
}

async fn a_forged_answer_does_nothing(world: &World) {
    let scene = Scene::new(world).await;
    let mut browser = scene.owner(world).await;
    let page = browser.get(&scene.authorize(&[])).await;
    let right = page.hidden("/ui/consent");
    let with = |csrf: &str| {
        let mut fields = right.clone();
        for (name, value) in &mut fields {
            if name == "csrf" {
                *value = csrf.to_owned();
            }
        }
        fields.push(("decision".into(), "allow".into()));
        fields
    };
    let csrf = right
        .iter()
        .find(|(name, _)| name == "csrf")
        .unwrap()
        .1
        .clone();
    assert_eq!(browser.post("/ui/consent", &with("")).await.status(), 403);
    assert_eq!(
        browser.post("/ui/consent", &with("guess")).await.status(),
        403
    );
    for (name, value) in [
        ("Origin", "https://evil.example"),
        ("Sec-Fetch-Site", "cross-site"),
    ] {
        let mut forger = Browser::new(&world.gateway).header(name, value);
        forger.cookies = browser.cookies.clone();
        assert_eq!(forger.post("/ui/consent", &with(&csrf)).await.status(), 403);
    }
    let mut stranger = Browser::new(&world.gateway);
    assert_eq!(
        stranger.post("/ui/consent", &with(&csrf)).await.status(),
        303
    );
    let sql = "SELECT digest FROM oauth_codes WHERE application_id = $1";
    assert!(
        world
            .gateway
            .database
            .rows(sql, &[scene.id()])
            .await
            .is_empty()
    );
    let done = browser.post("/ui/consent", &with(&csrf)).await;
    assert!(parameter(done.leads_to(), "code").is_some());
    // A link that is followed answers nothing.
    let got = Request::new("GET", "/ui/consent");
    assert_eq!(world.gateway.answer(&got).await.status, 405);
}

async fn a_name_stays_a_text(world: &World) {
    let name = "<script>alert(1)</script>\"'&";
    let of_application = json!({"name": name, "publisher": "<img src=x onerror=alert(2)>"});
    let scene = Scene::with(world, json!({"name": "<b>Intake</b>"}), of_application).await;
    let mut browser = scene.owner(world).await;
    let page = browser.get(&scene.authorize(&[])).await;
    assert_eq!(page.status(), 200);
    for raw in ["<script>", "<img", "<b>"] {
        assert!(!page.text.contains(raw), "{raw} in {}", page.text);
    }
    assert!(page.text.contains("alert(1)"));
    // Whatever direction it is written in, the words around it stay in theirs.
    assert!(page.text.contains("Allow “<bdi>"), "{}", page.text);
}
