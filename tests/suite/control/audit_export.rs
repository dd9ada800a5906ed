//! The audit log, exported and proven: what an auditor does with it offline, and what somebody who owns the database
//! cannot hide (contract 14.3 and 14.4).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};
use svc_core::checkpoint::Verifier;
use svc_core::merkle;
use svc_tests::books;
use svc_tests::database::Database;
use svc_tests::gateway::Gateway;
use svc_tests::organization::Organization;
use svc_tests::patience::eventually;
use svc_tests::postgres;
use svc_tests::program;
use svc_tests::wire::Answer;
use svc_tests::world::World;

use super::{call, code, data, key_with, request};
use crate::engines::on_both_engines;

on_both_engines! {
    an_export_verifies_offline,
    a_file_that_was_changed_is_named,
    a_row_is_proven_to_its_organization_alone,
    a_log_is_a_continuation_of_a_kept_checkpoint,
    rows_come_as_csv_and_as_ocsf,
}

/// A world whose triggers may be dropped.
async fn of_its_own(engine: &str) -> World {
    let database = match engine {
        "sqlite" => None,
        _ => Some(
            tokio::task::spawn_blocking(postgres::database)
                .await
                .unwrap(),
        ),
    };
    World::start(database).await
}

async fn lines(world: &World, key: &str, path: &str) -> Answer {
    let request = request(key, "GET", path, &Value::Null);
    let request = request.header("Accept", "application/x-ndjson");
    let answer = world.gateway.answer(&request).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    answer
}

fn saved(world: &World, name: &str, text: &str) -> PathBuf {
    let path = world.gateway.data().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn verify(path: &std::path::Path, more: &[&str]) -> Output {
    // Neither a configuration nor a store: an auditor has none.
    let mut command = program::command();
    command.args(["audit", "verify"]).arg(path).args(more);
    program::run(&mut command)
}

fn verifies(path: &std::path::Path, more: &[&str]) -> String {
    let output = verify(path, more);
    let said = program::text(&output.stdout);
    assert!(
        output.status.success() && said.contains("VERIFIED"),
        "{said}"
    );
    said
}

fn refuses(path: &std::path::Path, what: &str) {
    let output = verify(path, &[]);
    let said = program::text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("FAILED") && said.contains(what),
        "{what}: {said}"
    );
}

fn key_of(gateway: &Gateway) -> String {
    program::output_of(gateway.command().args(["admin", "audit-key"]))
        .trim()
        .to_owned()
}

fn parsed(answer: &Answer) -> Vec<Value> {
    let text = answer.text();
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

/// An organization with this many rows at least.
async fn busy(world: &World, rows: usize) -> Organization {
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    for _ in 0..rows {
        key_with(world, &organization, &["ai:chat"]).await;
    }
    organization
}

async fn an_export_verifies_offline(world: &World) {
    // More than one batch.
    let organization = busy(world, 230).await;
    let answer = lines(world, &organization.key, "/v1/audit?order=asc").await;
    let exported = parsed(&answer);
    let rows: Vec<&Value> = exported
        .iter()
        .filter(|line| line["type"] == "audit_event")
        .collect();
    assert_eq!(exported[0]["type"], "export");
    assert_eq!(exported[0]["data"]["org_id"], organization.id);
    assert_eq!(
        exported.last().unwrap()["counts"]["audit_event"],
        rows.len()
    );
    let created = rows
        .iter()
        .filter(|row| row["data"]["event"] == "api_key.created");
    assert_eq!(created.count(), 230, "everything written before is in it");
    let leaves: BTreeSet<u64> = rows
        .iter()
        .map(|row| row["data"]["integrity"]["leaf_index"].as_u64().unwrap())
        .collect();
    assert_eq!(leaves.len(), rows.len());
    let path = saved(world, "export.ndjson", &answer.text());
    let key = key_of(&world.gateway);
    let said = verifies(&path, &["--key", &key]);
    assert!(said.contains("as given"), "{said}");
    let of = format!(
        "export: organization {}, live mode, made at 2",
        organization.id
    );
    assert!(said.contains(&of) && !said.contains("note:"), "{said}");
    assert!(verifies(&path, &[]).contains("named by the export itself"));
    // From now on there is hardly anything, and all of it is right.
    let late = "/v1/audit?from=2099-01-01T00:00:00Z";
    let late = lines(world, &organization.key, late).await;
    let said = verifies(&saved(world, "late.ndjson", &late.text()), &[]);
    let note = "note: the export is of 2099-01-01T00:00:00";
    assert!(
        said.contains(note) && said.contains("VERIFIED: 0 rows"),
        "{said}"
    );
    let other = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
    assert!(!verify(&path, &["--key", other]).status.success());
    // The query left one row, with its filters.
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(row["event"], "audit.queried");
    let details = books::document(&row)["details"].clone();
    assert_eq!(details["filters"], json!([["order", "asc"]]));
    assert_eq!(details["export"], true);
    let filtered = "/v1/audit?event=api_key.*&from=2020-01-01T00:00:00Z";
    let filtered = lines(world, &organization.key, filtered).await;
    assert_eq!(parsed(&filtered).len(), 232);
    let said = verifies(&saved(world, "filtered.ndjson", &filtered.text()), &[]);
    assert!(said.contains("has filters"), "{said}");
    // A stream has no pages.
    for query in [
        "limit=5",
        "cursor=c_x",
        "since_size=x",
        "since_size=99999999",
    ] {
        let wrong = request(
            &organization.key,
            "GET",
            &format!("/v1/audit?{query}"),
            &Value::Null,
        );
        let wrong = wrong.header("Accept", "application/x-ndjson");
        assert_eq!(world.gateway.answer(&wrong).await.status, 422, "{query}");
    }
}

async fn a_file_that_was_changed_is_named(world: &World) {
    let organization = busy(world, 3).await;
    let text = lines(world, &organization.key, "/v1/audit").await.text();
    let all: Vec<&str> = text.lines().collect();
    let joined = |lines: &[&str]| format!("{}\n", lines.join("\n"));
    let write = |text: &str| saved(world, "changed.ndjson", text);
    verifies(&write(&text), &[]);
    let first: Value = serde_json::from_str(all[1]).unwrap();
    let id = first["data"]["id"].as_str().unwrap();
    // Changed: the row says so, and so does the end.
    refuses(
        &write(&text.replacen("api_key.created", "api_key.revoked", 1)),
        &format!("row {id} (line 2"),
    );
    // Removed, doubled, exchanged, cut off.
    let mut removed = all.clone();
    removed.remove(1);
    refuses(&write(&joined(&removed)), "lines are missing");
    let mut doubled = all.clone();
    doubled.insert(1, all[1]);
    refuses(&write(&joined(&doubled)), "as another row does");
    let mut exchanged = all.clone();
    exchanged.swap(1, 2);
    refuses(&write(&joined(&exchanged)), "out of order");
    refuses(
        &write(&joined(&all[..all.len() - 1])),
        "the export is cut off",
    );
    refuses(&write(&text[..text.len() - 5]), "is cut off");
    refuses(&write(&joined(&all[1..])), "line 1 has no place here");
    refuses(&write(&format!("{text}{}\n", all[1])), "behind the end");
    // A checkpoint of another size is not what was signed.
    let size = first_size(&text);
    let larger = text.replacen(&format!("\\n{size}\\n"), &format!("\\n{}\\n", size + 1), 1);
    refuses(
        &write(&larger),
        "the checkpoint has a signature that is not valid",
    );
}

fn first_size(text: &str) -> u64 {
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let note = head["data"]["checkpoint"].as_str().unwrap().to_owned();
    note.lines().nth(1).unwrap().parse().unwrap()
}

async fn a_row_is_proven_to_its_organization_alone(world: &World) {
    let organization = busy(world, 2).await;
    let key = &organization.key;
    let row = data(world, key, "GET", "/v1/audit?limit=1", Value::Null).await[0].clone();
    let id = row["id"].as_str().unwrap();
    let path = format!("/v1/audit/{id}/proof");
    let answer = call(world, key, "GET", &path, Value::Null).await;
    let proof = answer.json()["data"].clone();
    let verifier = Verifier::parse(&key_of(&world.gateway)).unwrap();
    let note = proof["checkpoint"].as_str().unwrap();
    let head = verifier.open(note).unwrap().head;
    assert_eq!(proof["tree_size"], head.size);
    let hash = |value: &Value| -> merkle::Hash {
        hex::decode(value.as_str().unwrap())
            .unwrap()
            .try_into()
            .unwrap()
    };
    let hashes: Vec<merkle::Hash> = proof["hashes"]
        .as_array()
        .unwrap()
        .iter()
        .map(hash)
        .collect();
    let leaf = svc_core::audit_leaf::hash(&row).unwrap();
    let index = proof["leaf_index"].as_u64().unwrap();
    assert!(merkle::includes(
        &head.root, head.size, index, &leaf, &hashes
    ));
    let queried = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(queried["event"], "audit.queried");
    assert_eq!(
        books::document(&queried)["details"]["filters"],
        json!([["id", id]])
    );
    // A page shows the place of each row, once it has one.
    let shown = eventually("a sealed row", async || {
        let rows = data(
            world,
            key,
            "GET",
            "/v1/audit?event=api_key.created",
            Value::Null,
        )
        .await;
        let row = rows.as_array()?.iter().find(|row| row["id"] == id)?.clone();
        (!row["integrity"].is_null()).then_some(row)
    });
    let shown = shown.await;
    assert_eq!(shown["integrity"]["leaf_index"], index);
    assert_eq!(shown["integrity"]["leaf_hash"], hex::encode(leaf));
    let other = world.organization();
    for (key, path) in [
        (&other.key, path.as_str()),
        (key, "/v1/audit/aud_00000000000000000000000000/proof"),
        (key, "/v1/audit/key_1/proof"),
    ] {
        let code = code(world, key, "GET", path, Value::Null, 404).await;
        assert_eq!(code, "RESOURCE_NOT_FOUND");
    }
}

async fn a_log_is_a_continuation_of_a_kept_checkpoint(world: &World) {
    let organization = busy(world, 2).await;
    let key = &organization.key;
    let kept = call(world, key, "GET", "/v1/audit/checkpoint", Value::Null).await;
    assert_eq!(
        kept.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
    let verifier = Verifier::parse(&key_of(&world.gateway)).unwrap();
    let old = verifier.open(&kept.text()).unwrap().head;
    let kept = saved(world, "kept", &kept.text());
    let kept = kept.to_str().unwrap();
    key_with(world, &organization, &["ai:chat"]).await;
    let export = lines(world, key, &format!("/v1/audit?since_size={}", old.size)).await;
    let said = verifies(
        &saved(world, "since.ndjson", &export.text()),
        &["--since", kept],
    );
    assert!(
        said.contains(&format!("continues the log of {} rows: yes", old.size)),
        "{said}"
    );
    let without = lines(world, key, "/v1/audit").await;
    let output = verify(
        &saved(world, "without.ndjson", &without.text()),
        &["--since", kept],
    );
    assert!(program::text(&output.stdout).contains("ask for it with since_size"));
    let path = format!("/v1/audit/consistency?from={}", old.size);
    let proof = data(world, key, "GET", &path, Value::Null).await;
    let new = verifier
        .open(proof["checkpoint"].as_str().unwrap())
        .unwrap()
        .head;
    let hashes = proof["hashes"].as_array().unwrap().iter();
    let hashes: Vec<merkle::Hash> = hashes
        .map(|hash| {
            hex::decode(hash.as_str().unwrap())
                .unwrap()
                .try_into()
                .unwrap()
        })
        .collect();
    assert!(merkle::extends(&old, &new, &hashes));
    for path in [
        "/v1/audit/consistency",
        "/v1/audit/consistency?from=5&to=4",
        "/v1/audit/consistency?from=99999999",
    ] {
        let code = code(world, key, "GET", path, Value::Null, 422).await;
        assert_eq!(code, "VALIDATION_FAILED", "{path}");
    }
}

async fn rows_come_as_csv_and_as_ocsf(world: &World) {
    let organization = busy(world, 2).await;
    let key = &organization.key;
    let planted = request(key, "GET", "/v1/audit?limit=1", &Value::Null);
    let planted = planted.header("User-Agent", "=HYPERLINK(\"http://example.com\")");
    assert_eq!(world.gateway.answer(&planted).await.status, 200);
    let csv = call(
        world,
        key,
        "GET",
        "/v1/audit?format=csv&order=asc",
        Value::Null,
    )
    .await;
    assert_eq!(
        csv.header("content-type"),
        Some("text/csv; charset=utf-8; header=present")
    );
    let text = csv.text();
    let records: Vec<&str> = text.split("\r\n").collect();
    assert!(records[0].starts_with("\"id\",\"event\",\"occurred_at\""));
    assert!(
        text.contains("\"'=HYPERLINK(\"\"http://example.com\"\")\""),
        "{text}"
    );
    // The header, the rows, the end, and nothing behind the last line's end.
    let count = records.len() - 3;
    assert!(records[records.len() - 2].starts_with(&format!("\"end\",\"{count}\",")));
    let row = books::single(&world.gateway.database, csv.request_id()).await;
    assert_eq!(row["event"], "audit.queried");
    let page = "/v1/audit?format=ocsf&event=api_key.created&limit=1";
    let page = call(world, key, "GET", page, Value::Null).await.json();
    assert_eq!(page["data"][0]["class_uid"], 6003);
    assert_eq!(page["data"][0]["type_uid"], 600_301);
    assert_eq!(page["meta"]["pagination"]["has_more"], true);
    let events = parsed(&lines(world, key, "/v1/audit?format=ocsf").await);
    assert!(events.len() > count);
    assert!(events.iter().all(|event| event["class_uid"] == 6003));
    let code = code(world, key, "GET", "/v1/audit?format=xml", Value::Null, 422).await;
    assert_eq!(code, "VALIDATION_FAILED");
}

mod what_the_owner_of_the_database_does_is_named {
    #[tokio::test]
    async fn sqlite() {
        super::tampered("sqlite").await;
    }

    #[tokio::test]
    async fn postgres() {
        super::tampered("postgres").await;
    }
}

async fn tampered(engine: &str) {
    let world = of_its_own(engine).await;
    let organization = busy(&world, 6).await;
    let key = &organization.key;
    let database = &world.gateway.database;
    let export = async |name: &str| {
        let text = lines(&world, key, "/v1/audit?order=asc&event=api_key.created").await;
        saved(&world, name, &text.text())
    };
    let before = export("before.ndjson").await;
    verifies(&before, &[]);
    let text = std::fs::read_to_string(&before).unwrap();
    let ids: Vec<String> = text
        .lines()
        .filter_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            line["data"]["id"].as_str().map(str::to_owned)
        })
        .collect();
    for change in [
        "UPDATE audit SET document = '{}' WHERE id = $1",
        "DELETE FROM audit WHERE id = $1",
        "UPDATE audit_leaves SET leaf_index = 9999 WHERE audit_id = $1",
        "DELETE FROM audit_leaves WHERE audit_id = $1",
    ] {
        assert!(database.refuses(change, &[&ids[0]]).await, "{change}");
    }
    disarm(database).await;
    // Changed.
    let sql = "UPDATE audit SET document = REPLACE(document, 'api_key.created', 'api_key.created ') WHERE id = $1";
    database.change(sql, &[&ids[0]]).await;
    // Reordered: two rows exchange what they say.
    let sql = "UPDATE audit SET document = (SELECT other.document FROM audit other WHERE other.id = $2) WHERE id = $1";
    database.change(sql, &[&ids[1], &ids[2]]).await;
    // Removed.
    database
        .change("DELETE FROM audit WHERE id = $1", &[&ids[3]])
        .await;
    // Inserted.
    let sql = "INSERT INTO audit SELECT 'aud_planted', org_id, mode, NULL, 'single', event, occurred_at, actor_type, \
               actor_id, target_type, target_id, result, surface, model, phi_detected, \
               REPLACE(document, id, 'aud_planted') FROM audit WHERE id = $1";
    database.change(sql, &[&ids[4]]).await;
    let after = export("after.ndjson").await;
    refuses(&after, &format!("row {} (line 2, leaf", ids[0]));
    refuses(&after, "was changed: it does not give its leaf hash");
    let said = program::text(&verify(&after, &[]).stdout);
    assert!(
        said.lines()
            .any(|line| line.contains(&ids[2]) && line.contains("line 3")),
        "{said}"
    );
    refuses(&after, &format!("row {} (leaf", ids[3]));
    refuses(&after, "was removed before its time");
    refuses(&after, "row aud_planted");
    refuses(&after, "was inserted past the gateway");
    // A row whose leaf is removed with it leaves a hole that the proofs of its neighbours fall into.
    let sql = "DELETE FROM audit_leaves WHERE audit_id = $1";
    database.change(sql, &[&ids[3]]).await;
    refuses(
        &export("hole.ndjson").await,
        "has no proof: hashes were removed",
    );
}

/// Drops every trigger that guards the log.
async fn disarm(database: &Database) {
    let triggers: &[&str] = match database {
        Database::Sqlite(_) => &[
            "DROP TRIGGER audit_no_update",
            "DROP TRIGGER audit_no_delete",
            "DROP TRIGGER audit_is_queued",
            "DROP TRIGGER audit_leaves_no_delete",
        ],
        Database::Postgres(_) => &[
            "ALTER TABLE audit DISABLE TRIGGER USER",
            "ALTER TABLE audit_leaves DISABLE TRIGGER USER",
        ],
    };
    for trigger in triggers {
        database.change(trigger, &[]).await;
    }
}

mod a_gateway_that_is_killed_while_it_seals_loses_and_doubles_nothing {
    #[tokio::test]
    async fn sqlite() {
        super::killed("sqlite").await;
    }

    #[tokio::test]
    async fn postgres() {
        super::killed("postgres").await;
    }
}

async fn killed(engine: &str) {
    let world = of_its_own(engine).await;
    let organization = busy(&world, 1).await;
    for round in 1..=3_u32 {
        let first = leaves(&world).await;
        // Writes go on while rows are sealed, and until nobody answers any more.
        let writers = (0..4).map(|_| async {
            let body = json!({"name": "of a test", "scopes": ["ai:chat"]});
            let write = request(&organization.key, "POST", "/v1/api_keys", &body);
            while ask(&world, &write.bytes()).await {}
        });
        let killer = async {
            let more = i64::from(round * 20);
            eventually("rows that are sealed", async || {
                (leaves(&world).await > first + more).then_some(())
            })
            .await;
            world.gateway.kill();
        };
        futures_util::future::join(futures_util::future::join_all(writers), killer).await;
        world.gateway.start().await;
        let text = eventually("an export after the restart", async || {
            let export = request(&organization.key, "GET", "/v1/audit", &Value::Null);
            let export = export.header("Accept", "application/x-ndjson");
            let answer = world.gateway.answer(&export).await;
            assert!([200, 503].contains(&answer.status), "{}", answer.text());
            (answer.status == 200).then(|| answer.text())
        });
        verifies(&saved(&world, "killed.ndjson", &text.await), &[]);
        whole(&world.gateway.database).await;
    }
}

async fn leaves(world: &World) -> i64 {
    let sql = "SELECT COUNT(*) AS leaves FROM audit_leaves";
    let rows = world.gateway.database.rows(sql, &[]).await;
    rows[0]["leaves"].as_i64().unwrap()
}

/// Whether the gateway answered.
async fn ask(world: &World, bytes: &[u8]) -> bool {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let Ok(mut stream) = tokio::net::TcpStream::connect(world.gateway.address).await else {
        return false;
    };
    let mut first = [0; 16];
    stream.write_all(bytes).await.is_ok()
        && matches!(stream.read(&mut first).await, Ok(read) if read > 0)
}

/// Every row is a leaf or waits, never both and never neither; leaves have no holes.
async fn whole(database: &Database) {
    let sql = "SELECT COUNT(*) AS amiss FROM audit a LEFT JOIN audit_leaves l ON l.audit_id = a.id \
               LEFT JOIN audit_unsealed q ON q.audit_id = a.id \
               WHERE (l.audit_id IS NULL AND q.audit_id IS NULL) OR (l.audit_id IS NOT NULL AND q.audit_id IS NOT NULL)";
    assert_eq!(database.rows(sql, &[]).await[0]["amiss"], 0);
    let sql = "SELECT COUNT(*) AS leaves, COALESCE(MAX(leaf_index), -1) AS last, \
               (SELECT size FROM audit_tree) AS size FROM audit_leaves";
    // One statement: leaves and size are of the same instant.
    let row = database.rows(sql, &[]).await.remove(0);
    let count = row["leaves"].as_i64().unwrap();
    assert_eq!(row["last"].as_i64(), Some(count - 1), "{row}");
    assert_eq!(row["size"].as_i64(), Some(count), "{row}");
}

/// Rows that are more than the sockets between two processes hold.
const MANY: usize = 12_000;

#[tokio::test]
async fn an_open_export_ends_once_with_the_right_to_it() {
    let world = of_its_own("sqlite").await;
    let organization = world.organization();
    let leaked = json!({"name": "leaked", "scopes": ["control:read"]});
    let leaked = data(&world, &organization.key, "POST", "/v1/api_keys", leaked).await;
    let sql = format!(
        "INSERT INTO audit WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) \
         SELECT 'aud_' || printf('%026d', i), org_id, mode, 'req_' || printf('%026d', i), phase, event, occurred_at, \
         actor_type, actor_id, target_type, target_id, result, surface, model, phi_detected, \
         json_set(document, '$.id', 'aud_' || printf('%026d', i), '$.request.user_agent', $2) \
         FROM audit, n WHERE org_id = $1 AND target_id = $3 AND event = 'api_key.created'"
    );
    let padding = "x".repeat(1_500);
    let id = leaked["id"].as_str().unwrap();
    let database = &world.gateway.database;
    database
        .change(&sql, &[&organization.id, &padding, id])
        .await;
    eventually("the rows are sealed", async || {
        let sql = "SELECT seq FROM audit_unsealed LIMIT 1";
        let waiting = database.rows(sql, &[]).await;
        waiting.is_empty().then_some(())
    })
    .await;
    let key = leaked["key"].as_str().unwrap();
    let request = request(key, "GET", "/v1/audit", &Value::Null);
    let request = request.header("Accept", "application/x-ndjson");
    let mut connection = world.gateway.connect().await;
    connection.send(&request.bytes()).await;
    let reply = connection.reply().await;
    assert_eq!(reply.status, 200);
    let path = format!("/v1/api_keys/{id}");
    data(&world, &organization.key, "DELETE", &path, Value::Null).await;
    let text = reply.whole().await.0.text();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let count = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
    assert!(count("audit_event") < MANY && count("end") == 0);
    let told = json!({"type": "error", "data": {"code": "INVALID_API_KEY"}});
    assert_eq!((count("error"), lines.last()), (1, Some(&told)));
}
