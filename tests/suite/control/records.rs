//! Records: made one by one and many at a time, read, changed and deleted, unreadable where they are kept (contract
//! 17.2, 19.4).

use futures_util::future::join_all;
use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::database::Database;
use svc_tests::world::World;

use super::apps::entity;
use super::{call, code, data, request};
use crate::engines::on_both_engines;

on_both_engines! {
    a_record_is_made_read_changed_and_deleted,
    every_problem_of_a_record_is_told_and_none_is_stored,
    many_records_are_made_or_none,
    lists_are_pages_and_leave_a_row,
    writers_of_one_record_do_not_undo_each_other,
    what_a_record_holds_is_legible_nowhere,
    a_key_makes_one_record,
    the_organizations_key_may_change_under_its_records,
}

fn fields() -> Value {
    json!([
        {"key": "mrn", "type": "string", "required": true, "max_length": 32, "phi": true},
        {"key": "ward", "type": "enum", "values": ["a", "b"]},
        {"key": "seen", "type": "datetime"},
    ])
}

async fn a_record_is_made_read_changed_and_deleted(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let records = format!("{}/records", entity(world, key, fields()).await);
    let body =
        json!({"fields": {"seen": "2026-11-20T21:09:00+01:00", "mrn": "47-11", "ward": null}});
    let answer = call(world, key, "POST", &records, body).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let made = answer.json()["data"].clone();
    assert_eq!(
        made["fields"],
        json!({"mrn": "47-11", "ward": null, "seen": "2026-11-20T20:09:00.000Z"})
    );
    assert_eq!(
        (
            &made["created_via"],
            &made["origin_delivery_id"],
            &made["entity_key"]
        ),
        (&json!("api"), &Value::Null, &json!("patient"))
    );
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(
        (&row["event"], &row["target_id"]),
        (&json!("record.created"), &made["id"])
    );
    // Times whose year has four digits in one place and not in UTC.
    for beyond in ["0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"] {
        let body = json!({"fields": {"mrn": "1", "seen": beyond}});
        let refused = call(world, key, "POST", &records, body).await;
        assert_eq!(refused.status, 422, "{beyond}: {}", refused.text());
        assert_eq!(refused.json()["error"]["param"], "fields.seen");
    }
    let one = format!("{records}/{}", made["id"].as_str().unwrap());
    let read = call(world, key, "GET", &one, Value::Null).await;
    assert_eq!(read.json()["data"], made);
    let row = books::single(&world.gateway.database, read.request_id()).await;
    assert_eq!(
        (&row["event"], &row["target_id"]),
        (&json!("record.read"), &made["id"])
    );
    assert_eq!(books::document(&row)["details"]["has_phi"], true);
    let answer = call(
        world,
        key,
        "PATCH",
        &one,
        json!({"fields": {"ward": "b", "seen": null}}),
    )
    .await;
    let changed = answer.json()["data"].clone();
    assert_eq!(
        changed["fields"],
        json!({"mrn": "47-11", "ward": "b", "seen": null})
    );
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(row["event"], "record.updated");
    assert_eq!(
        books::document(&row)["details"]["changed_fields"],
        json!(["ward", "seen"])
    );
    let same = data(world, key, "PATCH", &one, json!({"fields": {"ward": "b"}})).await;
    assert_eq!(same, changed, "what changes nothing leaves no trace");
    let stranger = world.organization().key;
    for method in ["GET", "DELETE"] {
        let found = code(world, &stranger, method, &one, Value::Null, 404).await;
        assert_eq!(found, "RESOURCE_NOT_FOUND");
    }
    let gone = data(world, key, "DELETE", &one, Value::Null).await;
    assert_eq!(
        gone,
        json!({"id": made["id"], "object": "record", "deleted": true})
    );
    for method in ["GET", "DELETE"] {
        assert_eq!(
            code(world, key, method, &one, Value::Null, 404).await,
            "RESOURCE_NOT_FOUND"
        );
    }
    let patch = json!({"fields": {}});
    assert_eq!(
        code(world, key, "PATCH", &one, patch, 404).await,
        "RESOURCE_NOT_FOUND"
    );
}

async fn every_problem_of_a_record_is_told_and_none_is_stored(world: &World) {
    let key = world.organization().key;
    let records = format!("{}/records", entity(world, &key, fields()).await);
    let body = json!({"fields": {"ward": "secret-c", "seen": "yesterday", "nickname": "Bob"}});
    let refused = call(world, &key, "POST", &records, body).await;
    assert_eq!(refused.status, 422);
    let details = refused.json()["error"]["details"].clone();
    let named: Vec<&String> = details.as_object().unwrap().keys().collect();
    assert_eq!(
        named,
        [
            "fields.ward",
            "fields.seen",
            "fields.nickname",
            "fields.mrn"
        ]
    );
    for value in ["secret-c", "yesterday", "Bob"] {
        assert!(!refused.text().contains(value), "no error repeats a value");
    }
    for body in [
        json!({}),
        json!({"fields": []}),
        json!({"fields": {"mrn": "1"}, "x": 1}),
    ] {
        assert_eq!(
            code(world, &key, "POST", &records, body, 422).await,
            "VALIDATION_FAILED"
        );
    }
    assert_eq!(
        data(world, &key, "GET", &records, Value::Null).await,
        json!([])
    );
}

async fn many_records_are_made_or_none(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let records = format!("{}/records", entity(world, key, fields()).await);
    let bulk = format!("{records}/bulk");
    let many = |count: usize| -> Value {
        let records: Value = (0..count)
            .map(|at| json!({"fields": {"mrn": at.to_string()}}))
            .collect();
        json!({"records": records})
    };
    let answer = call(world, key, "POST", &bulk, many(1_000)).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let batch = answer.json()["data"].clone();
    assert_eq!(
        (&batch["object"], &batch["count"]),
        (&json!("record_batch"), &json!(1_000))
    );
    let ids = batch["record_ids"].as_array().unwrap();
    assert_eq!(ids.len(), 1_000);
    let one = format!("{records}/{}", ids[417].as_str().unwrap());
    let read = data(world, key, "GET", &one, Value::Null).await;
    assert_eq!(
        (&read["fields"]["mrn"], &read["created_via"]),
        (&json!("417"), &json!("bulk"))
    );
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(
        (&row["event"], &row["target_id"]),
        (&json!("record.bulk_created"), &batch["id"])
    );
    for count in [0, 1_001] {
        let refused = call(world, key, "POST", &bulk, many(count)).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (422, &json!("records"))
        );
    }
    let mut bad = many(3);
    bad["records"][1] = json!({"fields": {"ward": "z"}});
    bad["records"][2] = json!({"values": {}});
    let refused = call(world, key, "POST", &bulk, bad.clone()).await;
    let details = refused.json()["error"]["details"].clone();
    let named: Vec<&String> = details.as_object().unwrap().keys().collect();
    assert_eq!(
        named,
        [
            "records[1].fields.ward",
            "records[1].fields.mrn",
            "records[2].values",
            "records[2].fields"
        ]
    );
    bad["records"][2] = json!({"fields": {"mrn": 7}});
    let refused = call(world, key, "POST", &bulk, bad).await;
    let details = refused.json()["error"]["details"].clone();
    let named: Vec<&String> = details.as_object().unwrap().keys().collect();
    assert_eq!(
        named,
        [
            "records[1].fields.ward",
            "records[1].fields.mrn",
            "records[2].fields.mrn"
        ]
    );
    let sql = "SELECT COUNT(*) AS count FROM records WHERE org_id = $1";
    let rows = world.gateway.database.rows(sql, &[&organization.id]).await;
    assert_eq!(rows[0]["count"], 1_000);
}

async fn lists_are_pages_and_leave_a_row(world: &World) {
    let key = world.organization().key;
    let records = format!("{}/records", entity(world, &key, fields()).await);
    let mut made = Vec::new();
    for mrn in 0..5 {
        let body = json!({"fields": {"mrn": mrn.to_string()}});
        made.push(data(world, &key, "POST", &records, body).await);
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("{records}?limit=2{cursor}");
        let answer = call(world, &key, "GET", &path, Value::Null).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let row = books::single(&world.gateway.database, answer.request_id()).await;
        assert_eq!(row["event"], "record.listed");
        let body = answer.json();
        seen.extend(body["data"].as_array().unwrap().clone());
        match body["meta"]["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let id = |record: &Value| record["id"].as_str().unwrap().to_owned();
    let mut wanted: Vec<(String, String)> = made
        .iter()
        .map(|one| (one["created_at"].as_str().unwrap().to_owned(), id(one)))
        .collect();
    wanted.sort_by(|a, b| b.cmp(a));
    let wanted: Vec<String> = wanted.into_iter().map(|(_, id)| id).collect();
    assert_eq!(seen.iter().map(id).collect::<Vec<_>>(), wanted);
    let unknown = format!("{records}?mrn=1");
    assert_eq!(
        code(world, &key, "GET", &unknown, Value::Null, 422).await,
        "VALIDATION_FAILED"
    );
}

async fn writers_of_one_record_do_not_undo_each_other(world: &World) {
    let key = world.organization().key;
    let names: Vec<String> = (0..12).map(|at| format!("f{at}")).collect();
    let schema: Value = names
        .iter()
        .map(|name| json!({"key": name, "type": "integer"}))
        .collect();
    let records = format!("{}/records", entity(world, &key, schema).await);
    let made = data(world, &key, "POST", &records, json!({"fields": {}})).await;
    let one = format!("{records}/{}", made["id"].as_str().unwrap());
    let writes = names.iter().map(async |name| {
        let mut fields = serde_json::Map::new();
        fields.insert(name.clone(), json!(1));
        data(world, &key, "PATCH", &one, json!({"fields": fields})).await
    });
    join_all(writes).await;
    let read = data(world, &key, "GET", &one, Value::Null).await;
    assert!(names.iter().all(|name| read["fields"][name] == 1), "{read}");
}

/// Every byte that the database keeps of an organization, as text.
async fn everything(database: &Database) -> String {
    let mut text = String::new();
    for table in ["records", "entities", "idempotency", "audit"] {
        for row in database.rows(&format!("SELECT * FROM {table}"), &[]).await {
            text.push_str(&row.to_string());
        }
    }
    text
}

async fn what_a_record_holds_is_legible_nowhere(world: &World) {
    let key = world.organization().key;
    let path = entity(world, &key, fields()).await;
    let records = format!("{path}/records");
    let (marked, unmarked) = ("MRN-7f3a9e51c2", "2031-03-04T05:06:07.089Z");
    let body = json!({"fields": {"mrn": marked, "seen": unmarked, "ward": "b"}});
    let create = request(&key, "POST", &records, &body).header("Idempotency-Key", "once");
    let made = world.gateway.answer(&create).await;
    assert_eq!(made.status, 201);
    let one = format!("{records}/{}", made.json()["data"]["id"].as_str().unwrap());
    data(world, &key, "GET", &one, Value::Null).await;
    data(world, &key, "GET", &records, Value::Null).await;
    let refused = json!({"fields": {"mrn": [marked]}});
    code(world, &key, "PATCH", &one, refused, 422).await;
    let kept = everything(&world.gateway.database).await;
    for value in [marked, unmarked] {
        assert!(!kept.contains(value), "{value} is legible in a table");
        assert!(
            !kept.contains(&hex::encode(value)),
            "{value} is legible in a column of bytes"
        );
        if let Database::Sqlite(file) = &world.gateway.database {
            for file in [file.clone(), file.with_extension("sqlite-wal")] {
                let bytes = std::fs::read(file).unwrap_or_default();
                let found = bytes
                    .windows(value.len())
                    .any(|window| window == value.as_bytes());
                assert!(!found, "{value} is legible in the file");
            }
        }
        assert!(
            !world.gateway.log().contains(value),
            "{value} is in the log"
        );
    }
}

async fn a_key_makes_one_record(world: &World) {
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let key = &organization.key;
    let records = format!("{}/records", entity(world, key, fields()).await);
    let body = json!({"fields": {"mrn": "1"}});
    let create = request(key, "POST", &records, &body).header("Idempotency-Key", "once");
    let answers = join_all((0..20).map(|_| world.gateway.answer(&create))).await;
    assert!(answers.iter().any(|answer| answer.status == 201));
    let listed = data(world, key, "GET", &records, Value::Null).await;
    assert_eq!(listed.as_array().unwrap().len(), 1);
}

async fn the_organizations_key_may_change_under_its_records(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let records = format!("{}/records", entity(world, key, fields()).await);
    let body = json!({"fields": {"mrn": "kept"}});
    let made = data(world, key, "POST", &records, body).await;
    let rotate = [
        "admin",
        "rotate-organization-key",
        "--organization",
        &organization.id,
    ];
    let rotated = world.gateway.command().args(rotate).output().unwrap();
    assert!(
        rotated.status.success(),
        "{}",
        String::from_utf8_lossy(&rotated.stderr)
    );
    let one = format!("{records}/{}", made["id"].as_str().unwrap());
    assert_eq!(data(world, key, "GET", &one, Value::Null).await, made);
    let after = json!({"fields": {"mrn": "later"}});
    data(world, key, "POST", &records, after).await;
}
