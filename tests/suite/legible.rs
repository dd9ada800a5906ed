//! What must not be read by whoever gets hold of the database's files (contract 19.4, 19.6): every kind of secret and
//! of content that the gateway keeps, stored through its own doors and then looked for in the bytes on the disk.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use svc_tests::fake::{FakeProvider, mark};
use svc_tests::gateway::Setup;
use svc_tests::organization::{Organization, bootstrap};
use svc_tests::postgres::{Durability, Server};
use svc_tests::wire::Request;
use svc_tests::{program, world::World};

/// In a place where names are stored as they are: found, so that the search itself is known to work.
const IN_CLEAR: &str = "clear-quillwort-name";

#[tokio::test]
async fn nothing_sensitive_is_legible_in_the_files_of_sqlite() {
    let world = World::start(None).await;
    let sensitive = store_everything(&world).await;
    look(&world.gateway.data(), &sensitive);
    // What stood in the write-ahead log stands in the main file after a clean end.
    world.gateway.signal("TERM");
    world.gateway.ended().await;
    look(&world.gateway.data(), &sensitive);
}

#[tokio::test]
async fn nothing_sensitive_is_legible_in_the_files_of_postgres() {
    let server = tokio::task::spawn_blocking(|| Server::start(Durability::None));
    let server = server.await.unwrap();
    let fake = FakeProvider::start();
    let setup = Setup::new(&fake.base_url()).on(Some(server.database()));
    let gateway = setup.start().await;
    let world = World { fake, gateway };
    let sensitive = store_everything(&world).await;
    server.flush();
    look(server.files(), &sensitive);
}

/// One value of each kind, by what it is.
type Sensitive = Vec<(&'static str, String)>;

async fn store_everything(world: &World) -> Sensitive {
    let organization = bootstrap(&world.gateway, &["--features", "integrations"]);
    let mut sensitive = vec![("an API key", organization.key.clone())];
    sensitive.extend(credentials(world, &organization).await);
    sensitive.extend(conversation(world, &organization).await);
    sensitive.push(("a listed value", listed(world, &organization)));
    sensitive.extend(records(world, &organization).await);
    sensitive
}

async fn call(
    world: &World,
    organization: &Organization,
    (method, path): (&str, &str),
    body: Value,
) -> Value {
    let request = Request::new(method, path).bearer(&organization.key);
    // The answer that is kept for the key holds the secret once more.
    let request = request.header("Idempotency-Key", &mark()).json(&body);
    let answer = world.gateway.answer(&request).await;
    assert!(answer.status < 300, "{path}: {}", answer.text());
    answer.json()["data"].clone()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

async fn credentials(world: &World, organization: &Organization) -> Sensitive {
    let secret = "dispatch-secret-kestrel-55120";
    let (method, path) = ("POST", "/v1/integrations");
    let integration = json!({"type": "custom_http", "name": "Registry", "base_url": "https://registry.example.org",
                             "auth": {"scheme": "bearer"}, "secret": secret});
    call(world, organization, (method, path), integration).await;
    let key = json!({"name": IN_CLEAR, "scopes": ["ai:chat"]});
    let key = call(world, organization, ("POST", "/v1/api_keys"), key).await;
    let agent = json!({"name": "Intake"});
    let agent = call(world, organization, ("POST", "/v1/agents"), agent).await;
    let path = format!("/v1/agents/{}/credentials", text(&agent["agent"][0]["id"]));
    let credential = call(world, organization, ("POST", &path), json!({})).await;
    vec![
        ("an integration's secret", secret.to_owned()),
        ("a key's token", text(&key["key"])),
        ("a credential's token", text(&credential["credential"])),
    ]
}

async fn conversation(world: &World, organization: &Organization) -> Sensitive {
    let words = [
        ("the caller's words", "wimplewort"),
        ("a system prompt", "sallowthorn"),
        ("the organization's prompt", "marlspike"),
        ("a person's number", "219-09-9985"),
        ("a person's name", "Thaddeus Ravenscroft"),
    ];
    let path = format!("/v1/orgs/{}", organization.id);
    let prompt = json!({"default_system_prompt": format!("Speak of {}.", words[2].1)});
    call(world, organization, ("PATCH", &path), prompt).await;
    let message = format!(
        "{}: patient {} has SSN {}. Repeat it.",
        words[0].1, words[4].1, words[3].1
    );
    let chat =
        json!({"message": message, "system": format!("You know {}.", words[1].1), "store": true});
    let answer = world.gateway.chat(&organization.key, chat).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    words
        .map(|(what, word)| (what, word.to_owned()))
        .into_iter()
        .collect()
}

/// A record that is made, changed and posted from outside.
async fn records(world: &World, organization: &Organization) -> Sensitive {
    let words = [
        ("a value that is marked as PHI", "brindlemoor-4711"),
        ("a value that is not", "thistlecombe"),
        ("a value that is no more", "osierfen"),
        ("a value that came in", "gorsewick"),
    ];
    let app = call(
        world,
        organization,
        ("POST", "/v1/apps"),
        json!({"name": IN_CLEAR}),
    )
    .await;
    let app = format!("/v1/apps/{}", text(&app["id"]));
    let entity = format!("{app}/entities/patient");
    let fields =
        json!([{"key": "mrn", "type": "string", "phi": true}, {"key": "note", "type": "text"}]);
    call(
        world,
        organization,
        ("PUT", &entity),
        json!({"fields": fields}),
    )
    .await;
    let endpoint = format!("{entity}/records");
    let record = json!({"fields": {"mrn": words[0].1, "note": words[2].1}});
    let record = call(world, organization, ("POST", &endpoint), record).await;
    let one = format!("{endpoint}/{}", text(&record["id"]));
    let change = json!({"fields": {"note": words[1].1}});
    call(world, organization, ("PATCH", &one), change).await;
    let webhook = json!({"entity_key": "patient", "name": "Lab"});
    let webhooks = format!("{app}/inbound-webhooks");
    let webhook = call(world, organization, ("POST", &webhooks), webhook).await;
    let token = text(&webhook["token"]);
    let post = Request::new("POST", &format!("/api/svc/v1/incoming/{token}"));
    let post = post.header("X-Idempotency-Key", "fenwillow-key");
    let answer = world
        .gateway
        .answer(&post.json(&json!({"mrn": words[3].1})))
        .await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let mut sensitive: Sensitive = words
        .map(|(what, word)| (what, word.to_owned()))
        .into_iter()
        .collect();
    sensitive.push(("an inbound token", token));
    sensitive.push(("an inbound key", "fenwillow-key".to_owned()));
    sensitive
}

fn listed(world: &World, organization: &Organization) -> String {
    use std::io::Write;
    let value = "ward-cockatrice-9".to_owned();
    let mut command = world.gateway.command();
    command.args([
        "admin",
        "phi-list",
        "add",
        "--list",
        "deny",
        "--organization",
    ]);
    command.arg(&organization.id).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{value}").unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    value
}

/// Looks for every value in every file below a folder.
fn look(folder: &Path, sensitive: &Sensitive) {
    assert!(
        !holders(folder, IN_CLEAR).is_empty(),
        "the search finds nothing"
    );
    for (what, value) in sensitive {
        let found = holders(folder, value);
        assert!(found.is_empty(), "{what} is legible in {found:?}");
    }
}

/// The files that have this text in them, in any case of its letters.
fn holders(folder: &Path, needle: &str) -> Vec<PathBuf> {
    let mut grep = Command::new("grep");
    // A file may go away while the engine works (-s).
    grep.args(["-rsaliF", "-e", needle]).arg(folder);
    let output = program::run(&mut grep);
    let found = program::text(&output.stdout);
    found.lines().map(PathBuf::from).collect()
}
