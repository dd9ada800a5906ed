//! What is kept of a person that agents speak with: exported, and erased (contract 18 and 19.4).

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::organization::Organization;
use svc_tests::program;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::{call, code, data, key_with};
use crate::engines::on_both_engines;

on_both_engines! {
    an_export_holds_everything_of_one_person_and_nothing_of_others,
    an_export_of_lines_says_where_it_ends,
    a_person_who_is_erased_cannot_be_read_any_more,
    a_person_who_is_erased_while_a_model_speaks_is_not_kept,
}

/// A credential of a new agent that speaks with this person.
pub(super) async fn credential(world: &World, organization: &Organization, user: &str) -> String {
    let key = &organization.key;
    let body = json!({"name": "Intake", "scope_grants": [{"scope": "ai:chat"}]});
    let agent = data(world, key, "POST", "/v1/agents", body).await["agent"][0]["id"].clone();
    let path = format!("/v1/agents/{}/credentials", agent.as_str().unwrap());
    let made = data(world, key, "POST", &path, json!({"runtime_user": user})).await;
    made["credential"].as_str().unwrap().to_owned()
}

/// Says something, and gives the id of the conversation.
pub(super) async fn says(world: &World, credential: &str, text: &str) -> Value {
    let body = json!({"message": text, "stream": false});
    let answer = world.gateway.chat(credential, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"]["conversation_id"].clone()
}

fn path(organization: &Organization, user: &str) -> String {
    format!("/v1/orgs/{}/end-users/{user}/export", organization.id)
}

async fn an_export_holds_everything_of_one_person_and_nothing_of_others(world: &World) {
    let organization = world.organization();
    let ann = credential(world, &organization, "ann smith").await;
    let bob = credential(world, &organization, "bob").await;
    let (of_ann, of_bob) = (mark(), mark());
    let text = format!("{of_ann}, mail ann@example.com");
    let conversation = says(world, &ann, &text).await;
    says(world, &bob, &of_bob).await;
    let key = &organization.key;
    let answer = call(
        world,
        key,
        "GET",
        &path(&organization, "ann%20smith"),
        Value::Null,
    )
    .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let export = answer.json()["data"].clone();
    assert_eq!(export["runtime_user"], "ann smith");
    let conversations = export["conversations"].as_array().unwrap();
    assert_eq!(
        (conversations.len(), &conversations[0]["id"]),
        (1, &conversation)
    );
    let said: Vec<&str> = conversations[0]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert_eq!(said, [text.as_str(), &format!("You said: {text}")]);
    assert_eq!(export["agent_credentials"].as_array().unwrap().len(), 1);
    let events: Vec<&str> = export["audit_events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["event"].as_str().unwrap())
        .collect();
    assert!(events.contains(&"inference.requested") && events.contains(&"inference.completed"));
    assert!(!answer.text().contains(&of_bob));
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(row["event"], "end_user.exported");
    let document = books::document(&row);
    let digest = hex::encode(svc_core::secret::digest("ann smith"));
    let text = document.to_string();
    assert!(!text.contains("smith") && !text.contains(&digest), "{text}");
    let named = document["details"]["runtime_user_hmac"].as_str().unwrap();
    assert_eq!(named.len(), 64);
    for nobody in ["carl", "%00", "bob%00", "%ff"] {
        let path = path(&organization, nobody);
        assert_eq!(
            code(world, key, "GET", &path, Value::Null, 404).await,
            "RESOURCE_NOT_FOUND"
        );
    }
    let other = world.organization();
    let refused = code(
        world,
        &other.key,
        "GET",
        &path(&organization, "bob"),
        Value::Null,
        403,
    )
    .await;
    assert_eq!(refused, "ORGANIZATION_MISMATCH");
    let reader = key_with(world, &organization, &["control:read"]).await;
    assert_eq!(
        code(
            world,
            &reader,
            "GET",
            &path(&organization, "bob"),
            Value::Null,
            403
        )
        .await,
        "MISSING_SCOPE"
    );
}

async fn an_export_of_lines_says_where_it_ends(world: &World) {
    let organization = world.organization();
    let ann = credential(world, &organization, "ann").await;
    for _ in 0..2 {
        says(world, &ann, &mark()).await;
    }
    let request = Request::new("GET", &path(&organization, "ann"))
        .bearer(&organization.key)
        .header("Accept", "application/x-ndjson");
    let answer = world.gateway.answer(&request).await;
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    let lines: Vec<Value> = answer
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (end, rest) = lines.split_last().unwrap();
    assert_eq!(end["type"], "end");
    let count = |kind: &str| rest.iter().filter(|line| line["type"] == kind).count();
    for kind in ["agent_credential", "conversation", "message", "audit_event"] {
        assert_eq!(end["counts"][kind], json!(count(kind)), "{kind}");
    }
    assert_eq!(
        (
            count("conversation"),
            count("message"),
            count("audit_event")
        ),
        (2, 4, 4)
    );
}

/// Credentials of one person whose lines are more than the sockets between two processes hold.
const MANY: usize = 10_000;

/// Whoever reads slowly reads what was said since, too.
#[tokio::test]
async fn an_open_export_ends_with_the_right_to_it() {
    let world = World::start(None).await;
    let organization = world.organization();
    let key = &organization.key;
    credential(&world, &organization, "ann").await;
    let sql = format!(
        "INSERT INTO agent_credentials (id, org_id, mode, agent_id, source, label, digest, hint, scope_grants, \
         runtime_user, delegated_by, created_at, expires_at) \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) \
         SELECT 'agc_' || i, org_id, mode, agent_id, source, $2, CAST(i AS BLOB), hint, scope_grants, \
         runtime_user, delegated_by, created_at, expires_at FROM agent_credentials, n WHERE org_id = $1"
    );
    let label = "x".repeat(2_000);
    let database = &world.gateway.database;
    database.change(&sql, &[&organization.id, &label]).await;
    let body = json!({"name": "leaked", "scopes": ["org.end_users.read"]});
    let leaked = data(&world, key, "POST", "/v1/api_keys", body).await;
    let request = Request::new("GET", &path(&organization, "ann"))
        .bearer(leaked["key"].as_str().unwrap())
        .header("Accept", "application/x-ndjson");
    let mut connection = world.gateway.connect().await;
    connection.send(&request.bytes()).await;
    let reply = connection.reply().await;
    assert_eq!(reply.status, 200);
    let revoke = format!("/v1/api_keys/{}", leaked["id"].as_str().unwrap());
    data(&world, key, "DELETE", &revoke, Value::Null).await;
    let text = reply.whole().await.0.text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() < MANY, "{} lines", lines.len());
    let last: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    let told = json!({"type": "error", "data": {"code": "INVALID_API_KEY"}});
    assert_eq!(last, told);
}

fn erase(world: &World, organization: &Organization, user: &str) -> String {
    let mut command = world.gateway.command();
    command.args([
        "admin",
        "erase-end-user",
        "--organization",
        &organization.id,
    ]);
    command.args(["--runtime-user", user]);
    program::output_of(&mut command)
}

#[tokio::test]
async fn a_destroyed_key_stands_in_no_file_of_sqlite() {
    let world = World::start(None).await;
    let organization = world.organization();
    let ann = credential(&world, &organization, "ann").await;
    says(&world, &ann, &mark()).await;
    let sql = "SELECT hex(wrapped) AS wrapped FROM end_user_keys WHERE runtime_user = $1";
    let rows = world.gateway.database.rows(sql, &["ann"]).await;
    let key = hex::decode(rows[0]["wrapped"].as_str().unwrap()).unwrap();
    assert!(is_in_a_file(&world, &key), "the search finds nothing");
    erase(&world, &organization, "ann");
    assert!(!is_in_a_file(&world, &key));
}

pub(super) fn is_in_a_file(world: &World, needle: &[u8]) -> bool {
    let mut files = std::fs::read_dir(world.gateway.data()).unwrap();
    files.any(|file| {
        // A folder among them has no bytes.
        let bytes = std::fs::read(file.unwrap().path()).unwrap_or_default();
        bytes.windows(needle.len()).any(|window| window == needle)
    })
}

async fn a_person_who_is_erased_cannot_be_read_any_more(world: &World) {
    let organization = world.organization();
    let ann = credential(world, &organization, "ann").await;
    let bob = credential(world, &organization, "bob").await;
    let gone = says(world, &ann, &mark()).await;
    let kept = says(world, &bob, &mark()).await;
    let erased = erase(world, &organization, "ann");
    assert_eq!(erased.trim(), "1 conversations are unreadable");
    let erased = erase(world, &organization, "ann");
    assert_eq!(erased.trim(), "nothing is stored of that person");
    for (conversation, credential, status) in [(gone, &ann, 404), (kept, &bob, 200)] {
        let body = json!({"message": mark(), "stream": false, "conversation_id": conversation});
        let answer = world.gateway.chat(credential, body).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    let rows = data(
        world,
        &organization.key,
        "GET",
        "/v1/audit?event=end_user.*",
        Value::Null,
    )
    .await;
    assert_eq!(
        (rows.as_array().unwrap().len(), &rows[0]["event"]),
        (1, &json!("end_user.erased"))
    );
    assert!(
        !rows.to_string().contains("ann"),
        "whoever is erased is not named"
    );
    let key = &organization.key;
    let export = data(world, key, "GET", &path(&organization, "ann"), Value::Null).await;
    assert_eq!(export["conversations"], json!([]));
}

async fn a_person_who_is_erased_while_a_model_speaks_is_not_kept(world: &World) {
    let organization = world.organization();
    let ann = credential(world, &organization, "ann").await;
    let mark = mark();
    let body = json!({"message": format!("{mark} [[fake:delay 4000]][[fake:text well]]")});
    let mut events = world.gateway.stream(&ann, body).await;
    let started = events.until("run.started").await;
    // Nothing is stored yet, and nothing will be.
    let erased = erase(world, &organization, "ann");
    assert_eq!(erased.trim(), "0 conversations are unreadable");
    let rest = events.rest().await;
    assert_eq!(rest.last().unwrap().name, "run.completed", "{rest:?}");
    let database = &world.gateway.database;
    for sql in [
        "SELECT id FROM conversations WHERE org_id = $1",
        "SELECT id FROM end_user_keys WHERE org_id = $1 AND runtime_user IS NOT NULL",
    ] {
        assert!(
            database.rows(sql, &[&organization.id]).await.is_empty(),
            "{sql}"
        );
    }
    let conversation = &started.data["conversation_id"];
    let body = json!({"message": "and?", "stream": false, "conversation_id": conversation});
    assert_eq!(world.gateway.chat(&ann, body).await.status, 404);
    let sql = "SELECT * FROM audit WHERE org_id = $1 AND event = 'inference.completed'";
    let rows = database.rows(sql, &[&organization.id]).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(books::document(&rows[0])["details"]["stored"], json!(false));
    books::check(database, &organization.id).await;
}

/// The stream goes on after the filters of its request have ended: its reads are of the organization all the same.
#[tokio::test]
async fn lines_of_an_export_are_read_behind_the_wall_on_postgres() {
    let database = tokio::task::spawn_blocking(svc_tests::postgres::database).await;
    let database = database.expect("a database");
    let world = World::with(|setup| setup.on(Some(database))).await;
    let organization = world.organization();
    let ann = credential(&world, &organization, "ann").await;
    says(&world, &ann, &mark()).await;
    // From now on nobody sees a conversation but in the name of an organization.
    for table in ["conversations", "messages"] {
        let sql = format!(
            "CREATE POLICY named ON {table} AS RESTRICTIVE \
             USING (coalesce(current_setting('svc.tenant', true), '') <> '')"
        );
        world.gateway.database.change(&sql, &[]).await;
    }
    let request = Request::new("GET", &path(&organization, "ann"))
        .bearer(&organization.key)
        .header("Accept", "application/x-ndjson");
    let answer = world.gateway.answer(&request).await;
    let end: Value = serde_json::from_str(answer.text().lines().next_back().unwrap()).unwrap();
    assert_eq!(end["type"], "end");
    assert_eq!(end["counts"]["conversation"], 1);
    assert_eq!(end["counts"]["message"], 2);
}
