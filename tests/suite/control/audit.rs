//! The audit log, queried (contract 14.3).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::world::World;

use super::{call, data, key_with};
use crate::engines::on_both_engines;

on_both_engines! {
    rows_are_found_by_what_they_say,
    what_was_never_scanned_is_not_without_a_finding,
    pages_go_on_where_they_ended,
    every_query_leaves_a_row,
}

async fn rows_are_found_by_what_they_say(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let chat = world.gateway.chat(key, json!({"message": mark()})).await;
    let phi = world
        .gateway
        .chat(
            key,
            json!({"message": "SSN 536-22-8714 ".to_owned() + &mark()}),
        )
        .await;
    key_with(world, &organization, &["ai:chat"]).await;
    let request_id = chat.request_id();
    for (query, count) in [
        (format!("request_id={request_id}"), 2),
        (
            format!("request_id={request_id}&event=inference.completed"),
            1,
        ),
        (
            format!("request_id={request_id}&event=inference.*&order=asc"),
            2,
        ),
        (
            "event=inference.requested&event=api_key.created".to_owned(),
            3,
        ),
        ("phi_detected=true&event=inference.completed".to_owned(), 1),
        ("target_type=api_key".to_owned(), 1),
        (
            format!(
                "actor_type=api_key&actor_id={}&event=inference.completed",
                organization.key_id
            ),
            2,
        ),
        (
            "surface=native&model=alpha-sonnet-4-6&result=success".to_owned(),
            2,
        ),
        ("to=2020-01-01T00:00:00Z".to_owned(), 0),
        ("event=master_key.*".to_owned(), 0),
    ] {
        let rows = data(
            world,
            key,
            "GET",
            &format!("/v1/audit?{query}"),
            Value::Null,
        )
        .await;
        assert_eq!(rows.as_array().unwrap().len(), count, "{query}: {rows}");
    }
    let path = format!(
        "/v1/audit?request_id={}&event=inference.completed",
        phi.request_id()
    );
    let row = data(world, key, "GET", &path, Value::Null).await[0].clone();
    assert_eq!(row["object"], "audit_event");
    assert_eq!(row["phi"]["entity_counts"], json!({"SSN": 1}));
    assert!(!row.to_string().contains("536-22-8714"));
    for (query, param) in [
        ("event=Inference", "$query.event"),
        ("event=inference.complete", "$query.event"),
        ("event=jane_doe.*", "$query.event"),
        ("target_type=jane_doe.diabetes", "$query.target_type"),
        ("result=good", "$query.result"),
        ("phi_detected=1", "$query.phi_detected"),
        ("limit=1001", "$query.limit"),
        ("created_after=2020-01-01T00:00:00Z", "$query.created_after"),
        ("actor=x", "$query.actor"),
    ] {
        let refused = call(
            world,
            key,
            "GET",
            &format!("/v1/audit?{query}"),
            Value::Null,
        )
        .await;
        let error = refused.json()["error"].clone();
        assert_eq!(
            (refused.status, error["param"].as_str()),
            (422, Some(param)),
            "{query}"
        );
    }
}

async fn what_was_never_scanned_is_not_without_a_finding(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let plain = world.gateway.chat(key, json!({"message": mark()})).await;
    let message = "SSN 536-22-8714 ".to_owned() + &mark();
    let phi = world.gateway.chat(key, json!({"message": message})).await;
    // Neither a write of the control plane nor a model that nobody has is scanned.
    key_with(world, &organization, &["ai:chat"]).await;
    let unknown = json!({"message": mark(), "model": "nobody-1"});
    assert_eq!(world.gateway.chat(key, unknown).await.status, 403);
    let found = async |query: &str| {
        let path = format!("/v1/audit?order=asc&{query}");
        let rows = data(world, key, "GET", &path, Value::Null).await;
        let rows = rows.as_array().unwrap().clone();
        let of = |row: &Value| row["request"]["id"].as_str().unwrap().to_owned();
        rows.iter().map(of).collect::<Vec<_>>()
    };
    let (plain, phi) = (plain.request_id(), phi.request_id());
    assert_eq!(found("phi_detected=false").await, [plain, plain]);
    assert_eq!(found("phi_detected=true").await, [phi, phi]);
    let paged = "phi_detected=false&limit=1";
    assert_eq!(found(paged).await, [plain]);
}

async fn pages_go_on_where_they_ended(world: &World) {
    let organization = world.organization();
    for _ in 0..5 {
        key_with(world, &organization, &["ai:chat"]).await;
    }
    for order in ["asc", "desc"] {
        let mut seen = Vec::new();
        let first = format!("/v1/audit?event=api_key.created&limit=2&order={order}");
        let mut path = first.clone();
        loop {
            let page = call(world, &organization.key, "GET", &path, Value::Null)
                .await
                .json();
            for row in page["data"].as_array().unwrap() {
                seen.push(row["occurred_at"].as_str().unwrap().to_owned());
            }
            match page["meta"]["pagination"]["next_cursor"].as_str() {
                Some(cursor) => path = format!("{first}&cursor={cursor}"),
                None => break,
            }
        }
        assert_eq!(seen.len(), 5, "{order}");
        assert!(
            if order == "asc" {
                seen.is_sorted()
            } else {
                seen.iter().rev().is_sorted()
            },
            "{seen:?}"
        );
    }
}

async fn every_query_leaves_a_row(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let answer = call(
        world,
        key,
        "GET",
        "/v1/audit?event=auth.*&limit=5",
        Value::Null,
    )
    .await;
    let row = books::single(&world.gateway.database, answer.request_id()).await;
    assert_eq!(row["event"], "audit.queried");
    let details = books::document(&row)["details"].clone();
    assert_eq!(
        details["filters"],
        json!([["event", "auth.*"], ["limit", "5"]])
    );
    assert_eq!(details["rows"], 0);
    let refused = call(world, key, "GET", "/v1/audit?who=me", Value::Null).await;
    let row = books::single(&world.gateway.database, refused.request_id()).await;
    assert_eq!(
        (&row["event"], &row["result"]),
        (&json!("audit.denied"), &json!("failure"))
    );
    let other = world.organization();
    let theirs = data(world, &other.key, "GET", "/v1/audit", Value::Null).await;
    let theirs: Vec<&Value> = theirs.as_array().unwrap().iter().collect();
    let events: BTreeSet<&str> = theirs
        .iter()
        .map(|row| row["event"].as_str().unwrap())
        .collect();
    assert_eq!(events, BTreeSet::from(["baa.accepted", "user.invited"]));
    for row in theirs {
        assert_eq!(row["org_id"], other.id, "nobody sees the rows of others");
    }
}
