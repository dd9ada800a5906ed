//! Delegated access for applications (contract 16): what they send, what users see and say, and what tokens are good
//! for, on both engines.

mod applications;
mod authorize;
mod consent;
mod introspection;
mod token;
mod trouble;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use svc_tests::browser::{Browser, Page};
use svc_tests::organization::Organization;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

/// The pair of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
/// Nobody's.
const OTHER_VERIFIER: &str = "0000000000000000000000000000000000000000000";
const REDIRECT: &str = "https://carenav.example/cb?tenant=1";

const AUTHORIZE: &str = "/v1/oauth/authorize";
const TOKEN: &str = "/v1/oauth/token";
const INTROSPECT: &str = "/v1/oauth/introspect";

/// An organization with an agent, and an application that asks for it.
struct Scene {
    organization: Organization,
    key: String,
    agent_id: String,
    application: Value,
}

/// A request that must succeed; its data.
async fn data(world: &World, key: &str, method: &str, path: &str, body: Value) -> Value {
    let mut request = Request::new(method, path).bearer(key);
    if !body.is_null() {
        request = request.json(&body);
    }
    let answer = world.gateway.answer(&request).await;
    assert!((200..=201).contains(&answer.status), "{}", answer.text());
    answer.json()["data"].take()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    let found = value[name].as_str();
    found.unwrap_or_else(|| panic!("{name} in {value}"))
}

async fn agent(world: &World, key: &str, more: Value) -> String {
    let mut body = json!({"name": "Intake", "scope_grants": [{"scope": "ai:chat"}]});
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    let made = data(world, key, "POST", "/v1/agents", body).await;
    text(&made["agent"][0], "id").to_owned()
}

async fn application(world: &World, key: &str, more: Value) -> Value {
    let mut body = json!({"name": "CareNav", "publisher": "Acme Inc", "type": "confidential", "redirect_uris": [REDIRECT]});
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    data(world, key, "POST", "/v1/oauth/applications", body).await
}

impl Scene {
    async fn new(world: &World) -> Self {
        Self::with(world, json!({}), json!({})).await
    }

    async fn with(world: &World, of_agent: Value, of_application: Value) -> Self {
        let organization = world.organization();
        let key = organization.key.clone();
        Self {
            agent_id: agent(world, &key, of_agent).await,
            application: application(world, &key, of_application).await,
            organization,
            key,
        }
    }

    /// The same organization and agent, and another application.
    async fn beside(&self, world: &World, of_application: Value) -> Self {
        Self {
            organization: self.organization.clone(),
            key: self.key.clone(),
            agent_id: self.agent_id.clone(),
            application: application(world, &self.key, of_application).await,
        }
    }

    fn client_id(&self) -> &str {
        text(&self.application, "client_id")
    }

    fn id(&self) -> &str {
        text(&self.application, "id")
    }

    fn secret(&self) -> &str {
        text(&self.application, "client_secret")
    }

    /// A good authorization request with some parameters replaced; an empty one is left out.
    fn authorize(&self, changes: &[(&str, &str)]) -> String {
        let details = json!([{"type": "svc_agent_access", "actions": ["chat"]}]).to_string();
        let good = [
            ("response_type", "code"),
            ("client_id", self.client_id()),
            ("redirect_uri", REDIRECT),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("agent_id", &self.agent_id),
            ("authorization_details", &details),
            ("state", "s 1&x"),
        ];
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        for (name, value) in good {
            let change = changes.iter().find(|(other, _)| *other == name);
            let value = change.map_or(value, |(_, value)| value);
            if !value.is_empty() {
                pairs.append_pair(name, value);
            }
        }
        format!("{AUTHORIZE}?{}", pairs.finish())
    }

    /// The owner, signed in.
    async fn owner<'w>(&self, world: &'w World) -> Browser<'w> {
        Browser::owner(&world.gateway, &self.organization).await
    }

    /// What the application gets when the user of this browser says yes.
    async fn code(&self, browser: &mut Browser<'_>) -> String {
        self.code_for(browser, &[]).await
    }

    async fn code_for(&self, browser: &mut Browser<'_>, changes: &[(&str, &str)]) -> String {
        let page = browser.get(&self.authorize(changes)).await;
        assert_eq!(page.status(), 200, "{}", page.text);
        let done = say(browser, &page, "allow").await;
        parameter(done.leads_to(), "code")
            .unwrap_or_else(|| panic!("no code in {}", done.leads_to()))
    }

    /// Redeems a code as it should be.
    async fn redeem(&self, world: &World, code: &str) -> Answer {
        self.redeem_with(world, code, &[]).await
    }

    /// As [`Scene::redeem`], with some parameters replaced; an empty one is left out.
    async fn redeem_with(&self, world: &World, code: &str, changes: &[(&str, &str)]) -> Answer {
        let good = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", REDIRECT),
        ];
        let mut fields: Vec<(&str, &str)> = Vec::new();
        for (name, value) in good {
            let change = changes.iter().find(|(other, _)| *other == name);
            fields.push((name, change.map_or(value, |(_, value)| value)));
        }
        fields.retain(|(_, value)| !value.is_empty());
        let request = form(TOKEN, &fields).header("Authorization", &self.basic());
        world.gateway.answer(&request).await
    }

    fn basic(&self) -> String {
        basic(self.client_id(), self.secret())
    }

    /// A token of this application.
    async fn token(&self, world: &World, browser: &mut Browser<'_>) -> String {
        let code = self.code(browser).await;
        let answer = self.redeem(world, &code).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        text(&answer.json(), "access_token").to_owned()
    }

    /// What introspection says to this application.
    async fn introspect(&self, world: &World, token: &str) -> Value {
        let request = form(INTROSPECT, &[("token", token)]).header("Authorization", &self.basic());
        let answer = world.gateway.answer(&request).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    /// What a chat with this token comes to: 200, or the code of its refusal.
    async fn chat(&self, world: &World, token: &str) -> String {
        let answer = world
            .gateway
            .chat(token, json!({"message": "Hello."}))
            .await;
        match answer.status {
            200 => "200".to_owned(),
            _ => text(&answer.json()["error"], "code").to_owned(),
        }
    }
}

/// Says yes or no on a consent page.
async fn say(browser: &mut Browser<'_>, page: &Page, decision: &str) -> Page {
    browser
        .submit(page, "/ui/consent", &[("decision", decision)])
        .await
}

fn basic(id: &str, secret: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")))
}

/// A form as applications send it.
fn form(path: &str, fields: &[(&str, &str)]) -> Request {
    let body: String = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    Request::new("POST", path)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(body.as_bytes())
}

/// A parameter of an address.
fn parameter(address: &str, name: &str) -> Option<String> {
    let (_, query) = address.split_once('?')?;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let found = pairs.find(|(other, _)| other == name);
    found.map(|(_, value)| value.into_owned())
}

/// The word of a refusal in the shape of RFC 6749, and that nobody may keep it.
fn error(answer: &Answer, status: u16) -> String {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let body = answer.json();
    assert!(body["error_description"].is_string(), "{body}");
    text(&body, "error").to_owned()
}
