//! Who may what: every route by every kind of caller, as a table in `tests/golden/who_may_what/`, one file a route.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use svc_core::scope::Scope;
use svc_tests::golden;
use svc_tests::openapi::{Operation, document};
use svc_tests::organization::Organization;
use svc_tests::policies::Policies;
use svc_tests::postgres;
use svc_tests::wire::Answer;
use svc_tests::world::World;

use super::{file, organization, path, request};

/// More failing authentications in a minute than the walk has: what they cost is refusal::limit's matter.
const LIMIT: (&str, &str) = (
    "failed_authentications_per_minute = 300",
    "failed_authentications_per_minute = 30000",
);

/// A gateway of the walk's own, whose limit of failing authentications is out of the way.
async fn walk(database_url: Option<String>) {
    let policies = Policies::copy();
    policies.edit("plans.toml", LIMIT.0, LIMIT.1);
    let world = World::with(|setup| setup.policies(policies.path()).on(database_url)).await;
    every_route_answers_every_caller_as_it_should(&world).await;
}

#[tokio::test]
async fn on_sqlite() {
    walk(None).await;
}

#[tokio::test]
async fn on_postgres() {
    let database = tokio::task::spawn_blocking(postgres::database).await;
    walk(Some(database.expect("a database"))).await;
}

/// Keys and credentials of one organization, and of a stranger's.
struct Cast {
    organization: Organization,
    revoked: String,
    expired: String,
    stranger: String,
    agent: String,
    other_mode: String,
    no_user: String,
    member: String,
    /// Keys with one scope, and with all but one.
    with: BTreeMap<String, String>,
    without: BTreeMap<String, String>,
}

fn scopes() -> Vec<&'static str> {
    Scope::ALL.iter().map(|scope| scope.word()).collect()
}

async fn made(world: &World, key: &str, path: &str, body: Value) -> Value {
    let request = svc_tests::wire::Request::new("POST", path).bearer(key);
    let answer = world.gateway.answer(&request.json(&body)).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["data"].take()
}

/// A key's text and id.
async fn key(world: &World, owner: &str, mode: &str, scopes: &[&str]) -> (String, String) {
    let body = json!({"name": "of the walk", "scopes": scopes, "mode": mode});
    let data = made(world, owner, "/v1/api_keys", body).await;
    let text = |name: &str| data[name].as_str().unwrap().to_owned();
    (text("key"), text("id"))
}

impl Cast {
    async fn of(world: &World) -> Self {
        let (organization, all) = (organization(world), scopes());
        let owner = &organization.key;
        let database = &world.gateway.database;
        let (revoked, id) = key(world, owner, "live", &all).await;
        let request = svc_tests::wire::Request::new("DELETE", &format!("/v1/api_keys/{id}"));
        let gone = world.gateway.answer(&request.bearer(owner)).await;
        assert_eq!(gone.status, 200);
        // Nobody has seen these keys yet: no verdict about them is remembered.
        let (expired, id) = key(world, owner, "live", &all).await;
        let sql = "UPDATE api_keys SET expires_at = 1 WHERE id = $1";
        database.change(sql, &[&id]).await;
        let (no_user, id) = key(world, owner, "live", &all).await;
        let sql = "UPDATE api_keys SET delegating_user_id = NULL WHERE id = $1";
        database.change(sql, &[&id]).await;
        let (member, id) = key(world, owner, "live", &all).await;
        let user = organization.id.replace("org_", "user_");
        let sql = "INSERT INTO users (id, org_id, email, name, role, status, mfa_enabled, created_at) \
                   VALUES ($1, $2, $1, 'M', 'member', 'active', FALSE, 0)";
        database.change(sql, &[&user, &organization.id]).await;
        let sql = "UPDATE api_keys SET delegating_user_id = $1 WHERE id = $2";
        database.change(sql, &[&user, &id]).await;
        let (other_mode, _) = key(world, owner, "test", &all).await;
        let (mut with, mut without) = (BTreeMap::new(), BTreeMap::new());
        for scope in &all {
            // A key hands on what it has; the example of a new key asks for `ai:chat`.
            let (one, _) = key(world, owner, "live", &dedup(&[scope, "ai:chat"])).await;
            with.insert((*scope).to_owned(), one);
            let others: Vec<&str> = all
                .iter()
                .filter(|other| *other != scope)
                .copied()
                .collect();
            let (most, _) = key(world, owner, "live", &others).await;
            without.insert((*scope).to_owned(), most);
        }
        Self {
            revoked,
            expired,
            stranger: super::organization(world).key,
            agent: agent(world, owner).await,
            other_mode,
            no_user,
            member,
            with,
            without,
            organization,
        }
    }

    /// Every caller by name, in the order of the table. Who may succeed comes last.
    fn all(&self, operation: &Operation) -> [(&'static str, Option<&str>); 12] {
        let unknown = "svc_api_live_00000000000000000000000000000000";
        [
            ("nobody", None),
            ("malformed", Some("svc_api_live_short")),
            ("unknown", Some(unknown)),
            ("revoked", Some(&self.revoked)),
            ("expired", Some(&self.expired)),
            ("without the scope", Some(&self.without[&operation.scope])),
            ("another organization", Some(&self.stranger)),
            ("other mode", Some(&self.other_mode)),
            ("agent", Some(&self.agent)),
            ("no delegating user", Some(&self.no_user)),
            ("member", Some(&self.member)),
            ("with the scope", Some(&self.with[&operation.scope])),
        ]
    }
}

fn dedup<'a>(scopes: &[&'a str]) -> Vec<&'a str> {
    let mut scopes = scopes.to_vec();
    scopes.dedup();
    scopes
}

/// The credential of an agent that was granted everything.
async fn agent(world: &World, owner: &str) -> String {
    let grants: Value = scopes()
        .iter()
        .map(|scope| json!({"scope": scope}))
        .collect();
    let agent = json!({"name": "a", "scope_grants": grants});
    let agent = made(world, owner, "/v1/agents", agent).await["agent"][0]["id"].clone();
    let path = format!("/v1/agents/{}/credentials", agent.as_str().unwrap());
    let wanted = json!({"rate_limits": {"per_minute": 10_000}});
    let credential = made(world, owner, &path, wanted).await;
    credential["credential"].as_str().unwrap().to_owned()
}

async fn every_route_answers_every_caller_as_it_should(world: &World) {
    let cast = Cast::of(world).await;
    for operation in document().operations() {
        // Who may call these is no matter of credentials; each has tests of its own.
        if operation.gate == "own" {
            continue;
        }
        let mut table = format!("{} {}\n", operation.method, operation.path);
        table.push_str(&format!("{}, {}\n\n", operation.scope, operation.gate));
        let mut place = path(world, &cast.organization, &operation.path).await;
        for (name, credential) in cast.all(operation) {
            if matches!(name, "member" | "with the scope") {
                place = path(world, &cast.organization, &operation.path).await;
            }
            let request = request(operation, &place);
            let request = match credential {
                Some(credential) => request.bearer(credential),
                None => request,
            };
            let answer = world.gateway.answer(&request).await;
            let word = word(&answer);
            rule(operation, name, &answer, &word);
            table.push_str(&format!("{name:<21} {} {word}\n", answer.status));
        }
        let table = table.replace(" \n", "\n");
        golden::compare(&format!("who_may_what/{}.txt", file(operation)), &table);
    }
}

/// The code of a refusal on any surface.
fn word(answer: &Answer) -> String {
    if answer.status < 400 {
        return String::new();
    }
    let error = answer.json()["error"].take();
    let word = error["svc_code"]
        .as_str()
        .or_else(|| error["code"].as_str());
    word.expect("a code").to_owned()
}

/// What holds whatever the table says.
fn rule(operation: &Operation, name: &str, answer: &Answer, word: &str) {
    let label = format!("{} {} by {name}", operation.method, operation.path);
    let error = || answer.json()["error"].take();
    let names_something = operation.path.contains('{') && !operation.path.contains("/models/");
    match name {
        "nobody" | "malformed" | "unknown" | "revoked" | "expired" => {
            assert_eq!((answer.status, word), (401, "INVALID_API_KEY"), "{label}");
        }
        "without the scope" => {
            assert_eq!((answer.status, word), (403, "MISSING_SCOPE"), "{label}");
            if let Some(details) = error()["details"].as_object() {
                assert_eq!(
                    details["required_scope"],
                    operation.scope.as_str(),
                    "{label}"
                );
            }
        }
        "agent" if operation.scope != "ai:chat" => {
            assert_eq!((answer.status, word), (403, "MISSING_SCOPE"), "{label}");
            let reason = &error()["details"]["reason"];
            assert_eq!(reason, "agent_credential_not_allowed", "{label}");
        }
        "another organization" if names_something => {
            let is_blind = if operation.path.contains("{organization}") {
                word == "ORGANIZATION_MISMATCH"
            } else {
                word == "RESOURCE_NOT_FOUND"
            };
            assert!(is_blind, "{label}: {}", answer.text());
        }
        "no delegating user" if operation.gate != "scope" => {
            assert_eq!(
                (answer.status, word),
                (422, "DELEGATING_USER_REQUIRED"),
                "{label}"
            );
        }
        "member" if operation.gate == "org_admin" => {
            assert_eq!(
                (answer.status, word),
                (403, "ORG_ADMIN_REQUIRED"),
                "{label}"
            );
        }
        "with the scope" => {
            let success = operation.successes();
            let is_expected = success.is_empty() || success.contains(&answer.status);
            assert!(is_expected, "{label}: {}", answer.text());
        }
        _ => {}
    }
}
