//! Credentials of other services: kept, bound, and used where a platform needs them (contract 11 and 15.4).

mod cut_off;

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::{FakeProvider, mark};
use svc_tests::gateway::Setup;
use svc_tests::organization::Organization;
use svc_tests::patience::eventually;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;
use svc_tests::{postgres, program};

use super::{call, code, data};
use crate::engines::on_both_engines;

on_both_engines! {
    a_credential_is_registered_rotated_and_revoked,
    every_problem_of_a_registration_is_told,
    addresses_that_are_not_public_are_refused,
    bindings_are_made_once_and_removed,
    an_alias_that_many_bind_at_once_is_bound_once,
    what_the_plan_or_the_organization_lacks_is_refused,
}

const INTEGRATIONS: &str = "/v1/integrations";

/// An organization that has switched integrations on.
fn switched_on(world: &World) -> Organization {
    world.organization_with(&["--per-minute", "1000000", "--features", "integrations"])
}

fn bridge() -> Value {
    json!({"type": "custom_http", "name": "EHR bridge", "base_url": "https://ehr.example.org/api",
           "auth": {"scheme": "header", "header_name": "X-Api-Key"}, "secret": "bridge-secret-9f2c"})
}

/// The one record of an answer whose data is an array of one.
async fn single(world: &World, key: &str, method: &str, path: &str, body: Value) -> Value {
    let mut found = data(world, key, method, path, body).await;
    assert_eq!(found.as_array().unwrap().len(), 1);
    found[0].take()
}

fn path_of(record: &Value) -> String {
    format!("{INTEGRATIONS}/{}", record["id"].as_str().unwrap())
}

async fn a_credential_is_registered_rotated_and_revoked(world: &World) {
    let organization = switched_on(world);
    let key = &organization.key;
    let answer = call(world, key, "POST", INTEGRATIONS, bridge()).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let made = answer.json()["data"][0].clone();
    assert_eq!(made["secret_hint"], "…9f2c");
    assert_eq!(
        (&made["secret_version"], &made["bindings_count"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(made["created_by"]["type"], "user");
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(row["event"], "integration.created");
    assert_eq!(row["target_id"], made["id"]);
    let path = path_of(&made);
    assert_eq!(single(world, key, "GET", &path, Value::Null).await, made);
    let rotate = format!("{path}/rotate-secret");
    let rotated = single(
        world,
        key,
        "POST",
        &rotate,
        json!({"secret": "another-secret-77aa"}),
    )
    .await;
    assert_eq!(
        (&rotated["secret_hint"], &rotated["secret_version"]),
        (&json!("…77aa"), &json!(2))
    );
    assert_eq!(
        (&rotated["id"], &rotated["name"]),
        (&made["id"], &made["name"])
    );
    assert!(rotated["rotated_at"].is_string());
    let stranger = switched_on(world);
    for (method, path) in [("GET", path.as_str()), ("DELETE", &path), ("POST", &rotate)] {
        let body = if path == rotate {
            json!({"secret": "12345678"})
        } else {
            Value::Null
        };
        assert_eq!(
            code(world, &stranger.key, method, path, body, 404).await,
            "RESOURCE_NOT_FOUND"
        );
    }
    let revoked = single(world, key, "DELETE", &path, Value::Null).await;
    assert_eq!(revoked["status"], "revoked");
    assert_eq!(
        single(world, key, "DELETE", &path, Value::Null).await,
        revoked
    );
    let refused = call(world, key, "POST", &rotate, json!({"secret": "12345678"})).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["param"]),
        (422, &json!("integrationId"))
    );
    let active = data(
        world,
        key,
        "GET",
        "/v1/integrations?status=active",
        Value::Null,
    )
    .await;
    assert_eq!(active, json!([]));
    let all = data(
        world,
        key,
        "GET",
        "/v1/integrations?status=revoked",
        Value::Null,
    )
    .await;
    assert_eq!(all, json!([revoked]));
}

async fn every_problem_of_a_registration_is_told(world: &World) {
    let key = switched_on(world).key;
    let body = json!({"type": "smtp", "base_url": "http://ehr.example.org", "secret": "short", "extra": 1,
                      "auth": {"scheme": "basic", "username": "a:b", "header_name": "X"}});
    let refused = call(world, &key, "POST", INTEGRATIONS, body).await;
    assert_eq!(refused.status, 422);
    let details = refused.json()["error"]["details"].clone();
    let named: Vec<&String> = details.as_object().unwrap().keys().collect();
    for field in [
        "type",
        "name",
        "base_url",
        "secret",
        "extra",
        "auth.username",
        "auth.header_name",
    ] {
        assert!(named.contains(&&field.to_owned()), "{field}: {details}");
    }
    for (auth, secret, param) in [
        (
            json!({"scheme": "header", "header_name": "Host"}),
            "12345678",
            "auth.header_name",
        ),
        (
            json!({"scheme": "header", "header_name": "a b"}),
            "12345678",
            "auth.header_name",
        ),
        (json!({"scheme": "header"}), "12345678", "auth.header_name"),
        (json!({"scheme": "bearer"}), "line\nbreak", "secret"),
        (json!({"scheme": "oauth"}), "12345678", "auth.scheme"),
        (json!("bearer"), "12345678", "auth"),
    ] {
        let mut body = bridge();
        body["auth"] = auth;
        body["secret"] = secret.into();
        let refused = call(world, &key, "POST", INTEGRATIONS, body).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (422, &json!(param))
        );
        assert!(
            !refused.text().contains(secret),
            "no error repeats a secret"
        );
    }
}

async fn addresses_that_are_not_public_are_refused(world: &World) {
    let key = switched_on(world).key;
    for base_url in [
        "https://127.0.0.1",
        "https://0x7f000001/",
        "https://localhost",
        "https://[::1]/",
        "https://10.1.2.3",
        "https://169.254.169.254/latest",
        "https://[::ffff:127.0.0.1]",
        "https://user:pw@ehr.example.org",
        "https://ehr.example.org:22",
        "https://ehr.example.org/?a",
        "gopher://ehr.example.org",
        "ehr.example.org",
    ] {
        let mut body = bridge();
        body["base_url"] = base_url.into();
        let refused = call(world, &key, "POST", INTEGRATIONS, body).await;
        let param = refused.json()["error"]["param"].clone();
        assert_eq!(
            (refused.status, param),
            (422, json!("base_url")),
            "{base_url}"
        );
    }
}

async fn bindings_are_made_once_and_removed(world: &World) {
    let organization = switched_on(world);
    let key = &organization.key;
    let made = single(world, key, "POST", INTEGRATIONS, bridge()).await;
    let bindings = format!("{}/bindings", path_of(&made));
    let body = json!({"project_id": "default", "alias": "ehr", "allowed_paths": ["/fhir/*"]});
    let bound = data(world, key, "POST", &bindings, body.clone()).await;
    assert_eq!(
        (&bound["alias"], &bound["credential_state"]),
        (&json!("ehr"), &json!("active"))
    );
    assert_eq!(bound["allowed_paths"], json!(["/fhir/*"]));
    let again = call(world, key, "POST", &bindings, body).await;
    assert_eq!(
        (again.status, &again.json()["error"]["param"]),
        (422, &json!("alias"))
    );
    for (body, param) in [
        (json!({"project_id": "default", "alias": "EHR"}), "alias"),
        (
            json!({"project_id": "proj_00000000000000000000000000", "alias": "x"}),
            "project_id",
        ),
        (json!({"alias": "x"}), "project_id"),
        (
            json!({"project_id": "default", "alias": "x", "allowed_paths": []}),
            "allowed_paths",
        ),
        (
            json!({"project_id": "default", "alias": "x", "allowed_paths": ["fhir"]}),
            "allowed_paths[0]",
        ),
        (
            json!({"project_id": "default", "alias": "x", "allowed_paths": ["/a/../b"]}),
            "allowed_paths[0]",
        ),
        (
            json!({"project_id": "default", "alias": "x", "allowed_paths": ["/a", "/b", "/a"]}),
            "allowed_paths[2]",
        ),
    ] {
        let refused = call(world, key, "POST", &bindings, body.clone()).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (422, &json!(param)),
            "{body}"
        );
    }
    let read = single(world, key, "GET", &path_of(&made), Value::Null).await;
    assert_eq!(read["bindings_count"], 1);
    single(world, key, "DELETE", &path_of(&made), Value::Null).await;
    let listed = data(world, key, "GET", &bindings, Value::Null).await;
    assert_eq!(listed[0]["credential_state"], "stale");
    let late = json!({"project_id": "default", "alias": "late"});
    let refused = call(world, key, "POST", &bindings, late).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["param"]),
        (422, &json!("integrationId"))
    );
    let one = format!("{bindings}/{}", bound["id"].as_str().unwrap());
    let gone = data(world, key, "DELETE", &one, Value::Null).await;
    assert_eq!(
        gone,
        json!({"id": bound["id"], "object": "integration_binding", "deleted": true})
    );
    assert_eq!(
        code(world, key, "DELETE", &one, Value::Null, 404).await,
        "RESOURCE_NOT_FOUND"
    );
    // What is not there comes before what is switched off, and what is switched off deletes nothing.
    let body = json!({"project_id": "default", "alias": "ehr"});
    let other = single(world, key, "POST", INTEGRATIONS, bridge()).await;
    let bindings = format!("{}/bindings", path_of(&other));
    let bound = data(world, key, "POST", &bindings, body).await;
    let organization = format!("/v1/orgs/{}", organization.id);
    let switched = |on: bool| json!({"features": {"integrations": on}});
    data(world, key, "PATCH", &organization, switched(false)).await;
    let unknown = format!("{bindings}/bind_00000000000000000000000000");
    let there = format!("{bindings}/{}", bound["id"].as_str().unwrap());
    for (path, status, expected) in [
        (&unknown, 404, "RESOURCE_NOT_FOUND"),
        (&there, 403, "INTEGRATIONS_DISABLED"),
    ] {
        let refused = code(world, key, "DELETE", path, Value::Null, status).await;
        assert_eq!(refused, expected);
    }
    data(world, key, "PATCH", &organization, switched(true)).await;
    data(world, key, "DELETE", &there, Value::Null).await;
}

async fn an_alias_that_many_bind_at_once_is_bound_once(world: &World) {
    let organization = switched_on(world);
    let key = &organization.key;
    let mut bindings = Vec::new();
    for _ in 0..2 {
        let made = single(world, key, "POST", INTEGRATIONS, bridge()).await;
        bindings.push(format!("{}/bindings", path_of(&made)));
    }
    for alias in ["a", "b", "c", "d"] {
        let body = json!({"project_id": "default", "alias": alias});
        let calls = bindings.iter().cycle().take(8);
        let calls = calls.map(|path| call(world, key, "POST", path, body.clone()));
        let mut statuses: Vec<u16> = join_all(calls)
            .await
            .iter()
            .map(|answer| answer.status)
            .collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 422, 422, 422, 422, 422, 422, 422]);
    }
}

async fn what_the_plan_or_the_organization_lacks_is_refused(world: &World) {
    let off = world.organization().key;
    assert_eq!(
        code(world, &off, "GET", INTEGRATIONS, Value::Null, 403).await,
        "INTEGRATIONS_DISABLED"
    );
    assert_eq!(
        code(world, &off, "POST", INTEGRATIONS, bridge(), 403).await,
        "INTEGRATIONS_DISABLED"
    );
    let small = world.organization_with(&["--plan", "evaluation"]).key;
    let refused = call(world, &small, "GET", INTEGRATIONS, Value::Null).await;
    let error = refused.json()["error"].clone();
    assert_eq!(error["code"], "FEATURE_NOT_AVAILABLE");
    assert_eq!(error["details"]["required_tier"], "standard");
}

const SECRET: &str = "clinics-own-key-wjqz";

/// A gateway that may reach a service of the clinic's on this machine, which knows one secret.
struct Clinic {
    world: World,
    service: FakeProvider,
    organization: Organization,
}

impl Clinic {
    async fn start(database_url: Option<String>) -> Self {
        let service = FakeProvider::start_for(SECRET);
        let port = i64::from(service.address.port());
        let world = World::with(|setup: Setup| {
            let networks = vec![toml::Value::from("127.0.0.0/8")];
            let setup = setup
                .on(database_url)
                .key("integrations", "allowed_networks", networks);
            let setup = setup.key("integrations", "plain_http", true);
            setup.key(
                "integrations",
                "allowed_ports",
                vec![toml::Value::from(port)],
            )
        })
        .await;
        let organization = switched_on(&world);
        Self {
            world,
            service,
            organization,
        }
    }

    /// Registers the service and binds it; the path of the credential.
    async fn bind(&self, secret: &str, alias: &str, paths: Value) -> String {
        self.bind_below("", secret, alias, paths).await
    }

    /// The same with a base address of the service that ends in `root`.
    async fn bind_below(&self, root: &str, secret: &str, alias: &str, paths: Value) -> String {
        let (world, key) = (&self.world, &self.organization.key);
        let base_url = format!("{}{root}", self.service.base_url());
        let body = json!({"type": "custom_http", "name": "own", "base_url": base_url,
                          "auth": {"scheme": "header", "header_name": "x-api-key"}, "secret": secret});
        let path = path_of(&single(world, key, "POST", INTEGRATIONS, body).await);
        let body = json!({"project_id": "default", "alias": alias, "allowed_paths": paths});
        data(world, key, "POST", &format!("{path}/bindings"), body).await;
        path
    }

    async fn chat(&self, text: &str) -> Answer {
        let body = json!({"message": text, "stream": false, "store": false});
        self.world.gateway.chat(&self.organization.key, body).await
    }

    async fn dispatch(&self, alias: &str, path: &str, body: &Value) -> Answer {
        let request = self.request(alias, path, body);
        self.world.gateway.answer(&request).await
    }

    fn request(&self, alias: &str, path: &str, body: &Value) -> Request {
        let path = format!("/v1/egress/default/{alias}{path}");
        let request = Request::new("POST", &path)
            .bearer(&self.organization.key)
            .json(body);
        let request = request.header("anthropic-version", "2023-06-01");
        request.header("cookie", "session=1")
    }
}

impl Clinic {
    /// Runs on its own key are refused, once the reason is known everywhere, and reach nobody.
    async fn is_refused_for(&self, reason: &str) {
        let (mark, refused) = eventually("the refusal of a run", async || {
            let mark = mark();
            let answer = self.chat(&mark).await;
            (answer.status == 403).then_some((mark, answer))
        })
        .await;
        let error = refused.json()["error"].clone();
        assert_eq!(error["code"], "INTEGRATIONS_DISABLED");
        assert_eq!(error["details"]["reason"], reason);
        assert!(self.service.seen(&mark).await.is_empty());
        assert!(self.world.fake.seen(&mark).await.is_empty());
    }
}

fn question(text: &str) -> Value {
    json!({"model": "claude-haiku-4-5", "max_tokens": 20, "messages": [{"role": "user", "content": text}]})
}

/// Both engines: what is bound is read through SQL.
async fn clinics() -> [Clinic; 2] {
    let database = tokio::task::spawn_blocking(postgres::database)
        .await
        .expect("a database");
    [
        Clinic::start(None).await,
        Clinic::start(Some(database)).await,
    ]
}

#[tokio::test]
async fn a_model_runs_on_the_organizations_own_key() {
    for clinic in clinics().await {
        let mark = mark();
        assert_eq!(clinic.chat(&mark).await.status, 200);
        assert_eq!(clinic.world.fake.seen(&mark).await.len(), 1);
        let path = clinic.bind(SECRET, "alpha", Value::Null).await;
        let mark = svc_tests::fake::mark();
        let answer = clinic.chat(&mark).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(clinic.service.seen(&mark).await.len(), 1);
        assert!(clinic.world.fake.seen(&mark).await.is_empty());
        let database = &clinic.world.gateway.database;
        let (_, terminal) = books::pair(database, answer.request_id()).await;
        let document = books::document(&terminal);
        assert_eq!(document["details"]["billed_to"], "organization");
        assert!(document["details"]["credits"].as_f64().unwrap() > 0.0);
        let rows = database
            .rows(
                "SELECT DISTINCT billed_to FROM ledger WHERE request_id = $1",
                &[answer.request_id()],
            )
            .await;
        assert_eq!(rows, [json!({"billed_to": "organization"})]);
        books::check(database, &clinic.organization.id).await;
        // A key that is revoked is not replaced by the operator's.
        single(
            &clinic.world,
            &clinic.organization.key,
            "DELETE",
            &path,
            Value::Null,
        )
        .await;
        let mark = svc_tests::fake::mark();
        let refused = clinic.chat(&mark).await;
        let error = refused.json()["error"].clone();
        assert_eq!(
            (refused.status, &error["code"]),
            (403, &json!("INTEGRATIONS_DISABLED"))
        );
        assert_eq!(
            (&error["retryable"], &error["details"]["reason"]),
            (&json!(false), &json!("credential_revoked"))
        );
        assert!(
            clinic.service.seen(&mark).await.is_empty()
                && clinic.world.fake.seen(&mark).await.is_empty()
        );
    }
}

/// Neither the organization's own switch nor a lowered plan sends its content to the operator's provider.
#[tokio::test]
async fn a_key_of_ones_own_is_never_replaced_by_the_operators() {
    for clinic in clinics().await {
        let (world, key) = (&clinic.world, &clinic.organization.key);
        let path = clinic.bind(SECRET, "alpha", Value::Null).await;
        let switched = |on: bool| json!({"features": {"integrations": on}});
        let settings = format!("/v1/orgs/{}", clinic.organization.id);
        data(world, key, "PATCH", &settings, switched(false)).await;
        clinic.is_refused_for("switched_off").await;
        data(world, key, "PATCH", &settings, switched(true)).await;
        assert_eq!(clinic.chat(&mark()).await.status, 200);
        let mut command = world.gateway.command();
        command.args(["admin", "set-plan", "--tier", "evaluation"]);
        let set = program::run(command.args(["--organization", &clinic.organization.id]));
        assert!(set.status.success(), "{}", program::text(&set.stderr));
        clinic.is_refused_for("not_in_plan").await;
        // What is left can be looked at and ended; nothing is made or sent.
        let mut another = bridge();
        another["base_url"] = clinic.service.base_url().into();
        let body = json!({"project_id": "default", "alias": "other"});
        let bindings = format!("{path}/bindings");
        for (method, path, body) in [
            ("POST", INTEGRATIONS, another),
            ("POST", &bindings, body),
            ("POST", "/v1/egress/default/alpha/v1/messages", json!({})),
        ] {
            let refused = code(world, key, method, path, body, 403).await;
            assert_eq!(refused, "FEATURE_NOT_AVAILABLE", "{path}");
        }
        let listed = data(world, key, "GET", INTEGRATIONS, Value::Null).await;
        assert_eq!(path_of(&listed[0]), path);
        let bound = data(world, key, "GET", &bindings, Value::Null).await;
        let one = format!("{bindings}/{}", bound[0]["id"].as_str().unwrap());
        data(world, key, "DELETE", &one, Value::Null).await;
        let mark = mark();
        assert_eq!(clinic.chat(&mark).await.status, 200);
        assert_eq!(clinic.world.fake.seen(&mark).await.len(), 1);
        let revoked = single(world, key, "DELETE", &path, Value::Null).await;
        assert_eq!(revoked["status"], "revoked");
    }
}

/// It says what GET would say, without a body that could be counted.
#[tokio::test]
async fn a_head_through_a_binding_keeps_the_length_of_the_service() {
    let clinic = Clinic::start(None).await;
    clinic.bind(SECRET, "up", Value::Null).await;
    let ask = async |method: &str| {
        let request = Request::new(method, "/v1/egress/default/up/v1/nowhere");
        let request = request.bearer(&clinic.organization.key);
        let mut connection = clinic.world.gateway.connect().await;
        connection.send(&request.bytes()).await;
        let answer = connection.reply_to(method).await.whole().await.0;
        let length = answer.header("content-length").map(str::to_owned);
        (answer.status, length)
    };
    let (get, head) = (ask("GET").await, ask("HEAD").await);
    assert_eq!(get, head);
    assert!(get.1.is_some_and(|length| length != "0"));
}

#[tokio::test]
async fn a_bad_key_of_ones_own_opens_no_circuit_for_others() {
    let clinic = Clinic::start(None).await;
    clinic
        .bind("not-the-clinics-key", "alpha", Value::Null)
        .await;
    for _ in 0..30 {
        let answer = clinic.chat(&mark()).await;
        assert!(matches!(answer.status, 502 | 503), "{}", answer.text());
    }
    let other = clinic.world.organization();
    let body = json!({"message": mark(), "stream": false});
    assert_eq!(
        clinic.world.gateway.chat(&other.key, body).await.status,
        200
    );
}

#[tokio::test]
async fn a_call_goes_out_with_the_secret_and_without_the_callers_key() {
    for clinic in clinics().await {
        let path = clinic.bind(SECRET, "ehr", json!(["/v1/*"])).await;
        let mark = mark();
        let answer = clinic
            .dispatch("ehr", "/v1/messages?beta=true", &question(&mark))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("svc-integration"), Some("ehr"));
        assert!(answer.text().contains(&mark));
        let seen = clinic.service.seen(&mark).await;
        assert_eq!(
            (seen.len(), &seen[0]["path"]),
            (1, &json!("/v1/messages?beta=true"))
        );
        let headers = seen[0]["headers"].to_string();
        assert!(
            !headers.contains(&clinic.organization.key) && !headers.contains("session=1"),
            "{headers}"
        );
        let database = &clinic.world.gateway.database;
        let rows = books::rows(database, answer.request_id()).await;
        let events: Vec<&str> = rows
            .iter()
            .map(|row| row["event"].as_str().unwrap())
            .collect();
        assert_eq!(events, ["integration.requested", "integration.dispatched"]);
        for row in &rows {
            let document = books::document(row).to_string();
            assert!(
                document.contains("/v1/egress/{project}/{alias}/{*path}")
                    && !document.contains("messages")
            );
        }
        let used = single(
            &clinic.world,
            &clinic.organization.key,
            "GET",
            &path,
            Value::Null,
        )
        .await;
        assert!(used["last_used_at"].is_string() || used["last_used_at"].is_null());
        // An answer of the service stays the service's, whatever it says.
        let refused = clinic
            .dispatch("ehr", "/v1/messages", &json!({"model": 1}))
            .await;
        assert_eq!(
            (refused.status, refused.header("svc-integration")),
            (400, Some("ehr"))
        );
    }
}

/// A service may have done what it was asked to before its connection broke.
#[tokio::test]
async fn a_call_that_may_have_been_done_is_not_made_again() {
    let clinic = Clinic::start(None).await;
    clinic.bind(SECRET, "ehr", Value::Null).await;
    // Leaves a connection that is kept.
    let kept = question(&mark());
    let kept = clinic.dispatch("ehr", "/v1/messages", &kept).await;
    assert_eq!(kept.status, 200, "{}", kept.text());
    let mark = mark();
    let order = json!({"contains": mark, "close_after_events": 0, "close": "cut", "times": 2});
    clinic.service.expect(order).await;
    let body = question(&mark);
    let unknown = clinic.dispatch("ehr", "/v1/messages", &body).await;
    let error = unknown.json()["error"].clone();
    assert_eq!((unknown.status, &error["retryable"]), (502, &json!(false)));
    assert_eq!(clinic.service.seen(&mark).await.len(), 1);
}

#[tokio::test]
async fn nothing_goes_out_where_it_must_not() {
    let clinic = Clinic::start(None).await;
    let path = clinic.bind(SECRET, "ehr", json!(["/v1/messages"])).await;
    let mark = mark();
    let body = question(&mark);
    for (alias, to, status, named) in [
        ("ehr", "/v1/models", 404, "NOT_FOUND"),
        ("ehr", "/v1/messages/", 404, "NOT_FOUND"),
        ("ehr", "/v1/../v1/messages", 422, "VALIDATION_FAILED"),
        ("ehr", "/v1/%2e%2e/messages", 422, "VALIDATION_FAILED"),
        ("other", "/v1/messages", 404, "RESOURCE_NOT_FOUND"),
    ] {
        let refused = clinic.dispatch(alias, to, &body).await;
        assert_eq!(refused.status, status, "{to}: {}", refused.text());
        assert_eq!(refused.json()["error"]["code"], named, "{to}");
        assert_eq!(refused.header("svc-integration"), None);
        let row = books::single(&clinic.world.gateway.database, refused.request_id()).await;
        assert_eq!(row["event"], "integration.denied");
    }
    // Another organization has no such alias.
    let stranger = switched_on(&clinic.world);
    let request = Request::new("POST", "/v1/egress/default/ehr/v1/messages")
        .bearer(&stranger.key)
        .json(&body);
    assert_eq!(clinic.world.gateway.answer(&request).await.status, 404);
    // Rotated: the old secret is gone at once. Revoked: stale, and no call is made.
    let (world, key) = (&clinic.world, &clinic.organization.key);
    let rotate = format!("{path}/rotate-secret");
    single(
        world,
        key,
        "POST",
        &rotate,
        json!({"secret": "some-other-secret"}),
    )
    .await;
    let refused = clinic.dispatch("ehr", "/v1/messages", &body).await;
    assert_eq!(
        (refused.status, refused.header("svc-integration")),
        (401, Some("ehr"))
    );
    let before = clinic.service.seen(&mark).await.len();
    single(world, key, "DELETE", &path, Value::Null).await;
    let stale = clinic.dispatch("ehr", "/v1/messages", &body).await;
    let error = stale.json()["error"].clone();
    assert_eq!((stale.status, &error["param"]), (422, &json!("alias")));
    assert_eq!(clinic.service.seen(&mark).await.len(), before);
}

#[tokio::test]
async fn a_secret_is_legible_nowhere() {
    let clinic = Clinic::start(None).await;
    clinic.bind(SECRET, "ehr", Value::Null).await;
    clinic
        .dispatch("ehr", "/v1/messages", &question(&mark()))
        .await;
    let data = clinic.world.gateway.data();
    assert!(clinic.world.gateway.log().len() > 1_000);
    assert!(!clinic.world.gateway.log().contains(SECRET));
    let mut looked = 0;
    for entry in std::fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            looked += 1;
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes
                .windows(SECRET.len())
                .any(|window| window == SECRET.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
    assert!(
        looked >= 2,
        "database and master key: {}",
        program::text(data.display().to_string().as_bytes())
    );
}

/// What a binding allows holds for runs as it does for calls through the gateway (contract 11), and a key that is not
/// used has not been used.
#[tokio::test]
async fn a_model_runs_on_paths_that_its_binding_allows() {
    for clinic in clinics().await {
        let (world, key) = (&clinic.world, &clinic.organization.key);
        for (root, paths, is_allowed) in [
            ("", json!(["/v1/models", "/v1/messages/*"]), false),
            ("", json!(["/v1/messages"]), true),
            ("/v1", json!(["/v1/messages"]), false),
            ("/v1", json!(["/messages"]), true),
            ("/v1", json!(["/*"]), true),
        ] {
            let path = clinic
                .bind_below(root, SECRET, "alpha", paths.clone())
                .await;
            let mark = mark();
            let answer = clinic.chat(&mark).await;
            let sent = clinic.service.seen(&mark).await.len();
            if is_allowed {
                assert_eq!(
                    (answer.status, sent),
                    (200, 1),
                    "{paths}: {}",
                    answer.text()
                );
                let used = || single(world, key, "GET", &path, Value::Null);
                eventually("a noted use", async || {
                    (!used().await["last_used_at"].is_null()).then_some(())
                })
                .await;
            } else {
                let error = answer.json()["error"].clone();
                assert_eq!((answer.status, sent), (403, 0), "{paths}: {error}");
                assert_eq!(error["code"], "INTEGRATIONS_DISABLED");
                assert_eq!(error["details"]["reason"], "path_not_allowed");
                let record = single(world, key, "GET", &path, Value::Null).await;
                assert_eq!(record["last_used_at"], Value::Null);
                assert_eq!(error["details"]["integration_id"], record["id"]);
            }
            assert!(world.fake.seen(&mark).await.is_empty());
            // The next one takes the alias.
            let bindings = format!("{path}/bindings");
            let bound = data(world, key, "GET", &bindings, Value::Null).await;
            let id = bound[0]["id"].as_str().unwrap();
            data(
                world,
                key,
                "DELETE",
                &format!("{bindings}/{id}"),
                Value::Null,
            )
            .await;
        }
    }
}
