//! The books: two audit rows and two postings for every way that a run can end.

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::fake::mark;
use svc_tests::world::World;

use crate::engines::on_both_engines;

on_both_engines! {
    a_good_run_is_written_and_charged_once,
    a_streamed_run_is_written_before_its_last_event,
    a_run_whose_provider_does_not_count_costs_no_more_than_was_held,
    a_failed_run_costs_no_credits,
    a_refused_request_leaves_two_rows_and_no_posting,
    a_request_refused_before_admission_leaves_one_row,
    the_intent_is_durable_before_the_provider_hears_of_it,
    parallel_runs_never_overdraw,
    the_logs_of_books_cannot_be_changed,
}

async fn a_good_run_is_written_and_charged_once(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let usage = json!({"input_tokens": 1000, "output_tokens": 500});
    world
        .fake
        .expect(json!({"contains": mark, "text": "ok", "usage": usage}))
        .await;
    let answer = world
        .gateway
        .chat(
            &organization.key,
            json!({"message": mark, "model": "alpha-opus-4-6"}),
        )
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let database = &world.gateway.database;
    let (requested, completed) = books::pair(database, answer.request_id()).await;
    assert_eq!(
        (&completed["event"], &completed["result"]),
        (&json!("inference.completed"), &json!("success"))
    );
    assert_eq!(
        completed["target_id"],
        answer.json()["data"]["message"]["id"]
    );
    let document = books::document(&completed);
    assert_eq!(document["actor"]["id"], organization.key_id);
    assert_eq!(
        document["actor"]["delegating_user_id"],
        organization.user_id
    );
    assert_eq!(document["request"]["svc_version"], "2026-07-12");
    assert_eq!(
        document["outcome"],
        json!({"result": "success", "status": 200, "code": null})
    );
    // 1500 tokens at 1.7x (contract 12.1).
    assert_eq!(document["details"]["credits"], json!(2.55));
    assert_eq!(
        books::document(&requested)["details"]["model"],
        "alpha-opus-4-6"
    );
    let (debit, credit) = books::postings(database, answer.request_id()).await;
    assert_eq!(
        debit["amount_micro"].as_i64().map(i64::abs),
        Some(2_550_000)
    );
    assert_eq!(
        (&debit["unit"], &debit["model"]),
        (&json!("credit"), &json!("alpha-opus-4-6"))
    );
    // 1000 × 5 + 500 × 25 millionths.
    assert_eq!(debit["cost_usd_micro"], 17_500);
    assert_ne!(debit["account"], credit["account"]);
    books::check(database, &organization.id).await;
}

/// Whoever has seen `run.completed` can rely on the books.
async fn a_streamed_run_is_written_before_its_last_event(world: &World) {
    let organization = world.organization();
    let mut stream = world
        .gateway
        .stream(&organization.key, json!({"message": mark()}))
        .await;
    let completed = stream.until("run.completed").await;
    let request_id = completed.data["request_id"].as_str().unwrap();
    let rows = books::rows(&world.gateway.database, request_id).await;
    assert_eq!(rows.len(), 2);
    books::postings(&world.gateway.database, request_id).await;
    books::check(&world.gateway.database, &organization.id).await;
}

/// More letters to a token than we count with: without the provider's word, the hold is what the answer may cost.
async fn a_run_whose_provider_does_not_count_costs_no_more_than_was_held(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let uncounted =
        json!({"contains": mark, "text": "a".repeat(400), "usage": {"output_tokens": 0}});
    world.fake.expect(uncounted).await;
    let body = json!({"message": mark, "max_tokens": 20, "stream": false});
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["meta"]["usage"]["output_tokens"], 20);
    books::check(&world.gateway.database, &organization.id).await;
}

async fn a_failed_run_costs_no_credits(world: &World) {
    let organization = world.organization();
    let database = &world.gateway.database;
    let refused = mark();
    world
        .fake
        .expect(json!({"contains": refused, "status": 529}))
        .await;
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": refused}))
        .await;
    assert_eq!(answer.status, 502);
    let (_, failed) = books::pair(database, answer.request_id()).await;
    assert_eq!(
        (&failed["event"], &failed["result"]),
        (&json!("inference.failed"), &json!("failure"))
    );
    let document = books::document(&failed);
    assert_eq!(document["outcome"]["code"], "INFERENCE_UPSTREAM_FAILURE");
    assert_eq!(document["outcome"]["status"], 502);

    // Broken off after some text: the operator was billed for it, the organization is not.
    let broken = mark();
    let usage = json!({"input_tokens": 300, "output_tokens": 40});
    world
        .fake
        .expect(
            json!({"contains": broken, "event_count": 8, "close_after_events": 9, "usage": usage}),
        )
        .await;
    let events = world
        .gateway
        .stream(&organization.key, json!({"message": broken}))
        .await
        .rest()
        .await;
    let request_id = events[0].data["request_id"].as_str().unwrap();
    assert_eq!(events.last().unwrap().name, "error");
    let (_, failed) = books::pair(database, request_id).await;
    assert_eq!(failed["event"], "inference.failed");
    let (debit, _) = books::postings(database, request_id).await;
    assert_eq!(debit["amount_micro"], 0);
    assert_eq!(debit["input_tokens"], 300);
    assert!(
        debit["output_tokens"].as_i64().unwrap() > 0
            && debit["cost_usd_micro"].as_i64().unwrap() > 900,
        "{debit}"
    );
    books::check(database, &organization.id).await;
}

async fn a_refused_request_leaves_two_rows_and_no_posting(world: &World) {
    let organization = world.organization_with(&["--models", "standard", "--phi-mode", "block"]);
    let database = &world.gateway.database;
    let cases: [(Value, u16, &str); 4] = [
        (json!({"message": 7}), 422, "inference.failed"),
        (
            json!({"message": "x", "colour": "red"}),
            400,
            "inference.failed",
        ),
        (
            json!({"message": "x", "model": "alpha-opus-4-6"}),
            403,
            "inference.blocked",
        ),
        (
            json!({"message": "My SSN is 536-22-8714."}),
            403,
            "inference.blocked",
        ),
    ];
    for (body, status, event) in cases {
        let answer = world.gateway.chat(&organization.key, body.clone()).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
        let (_, terminal) = books::pair(database, answer.request_id()).await;
        assert_eq!(terminal["event"], event, "{body}");
        let document = books::document(&terminal);
        assert_eq!(document["outcome"]["code"], answer.json()["error"]["code"]);
        assert_eq!(document["outcome"]["status"], status);
        assert!(
            books::has_no_posting(database, answer.request_id()).await,
            "{body}"
        );
    }
    books::check(database, &organization.id).await;
}

async fn a_request_refused_before_admission_leaves_one_row(world: &World) {
    let database = &world.gateway.database;
    let unscoped = world.organization_with(&["--scopes", "control:read"]);
    let answer = world
        .gateway
        .chat(&unscoped.key, json!({"message": "x"}))
        .await;
    assert_eq!(answer.status, 403);
    let row = books::single(database, answer.request_id()).await;
    assert_eq!(
        (&row["phase"], &row["result"]),
        (&json!("single"), &json!("denied"))
    );
    let slow = world.organization_with(&["--per-minute", "1"]);
    assert_eq!(
        world
            .gateway
            .chat(&slow.key, json!({"message": mark()}))
            .await
            .status,
        200
    );
    let answer = world.gateway.chat(&slow.key, json!({"message": "x"})).await;
    assert_eq!(answer.status, 429);
    let row = books::single(database, answer.request_id()).await;
    assert_eq!(books::document(&row)["outcome"]["code"], "RATE_LIMITED");
    books::check(database, &slow.id).await;
}

/// While the provider thinks, the intent is on disk and the hold is taken.
async fn the_intent_is_durable_before_the_provider_hears_of_it(world: &World) {
    let organization = world.organization();
    let mark = mark();
    world
        .fake
        .expect(json!({"contains": mark, "stall_after_events": 0}))
        .await;
    let mut connection = world.gateway.connect().await;
    let request = svc_tests::gateway::chat(&organization.key, json!({"message": mark}));
    connection.send(&request.bytes()).await;
    world.fake.received(&mark).await;
    let database = &world.gateway.database;
    let sql = "SELECT request_id, phase FROM audit WHERE org_id = $1 AND request_id IS NOT NULL";
    let rows = database.rows(sql, &[&organization.id]).await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["phase"], "requested");
    let held = database
        .rows(
            "SELECT credits_micro FROM holds WHERE org_id = $1",
            &[&organization.id],
        )
        .await;
    assert!(
        held.len() == 1 && held[0]["credits_micro"].as_i64() > Some(0),
        "{held:?}"
    );
    drop(connection);
    let (_, terminal) = books::pair(database, rows[0]["request_id"].as_str().unwrap()).await;
    assert_eq!(terminal["event"], "inference.cancelled");
    books::check(database, &organization.id).await;
}

/// Holds admit no more than the allotment could pay for, however many come at once.
async fn parallel_runs_never_overdraw(world: &World) {
    // Each request may cost 1.1 credits or so; five credits admit four of sixteen at once, never more.
    let organization = world.organization_with(&["--credits", "5"]);
    let mark = mark();
    let slow = json!({"contains": mark, "times": 16, "text": "ok", "delay_before_head_ms": 300,
        "usage": {"input_tokens": 100, "output_tokens": 900}});
    world.fake.expect(slow).await;
    let body = json!({"message": mark, "max_tokens": 1000});
    let answers = (0..16).map(|_| world.gateway.chat(&organization.key, body.clone()));
    let answers = futures_util::future::join_all(answers).await;
    let good = answers.iter().filter(|answer| answer.status == 200).count();
    let blocked: Vec<_> = answers
        .iter()
        .filter(|answer| answer.status != 200)
        .collect();
    assert!((1..=5).contains(&good), "{good} of 16 passed");
    for answer in &blocked {
        let error = &answer.json()["error"];
        assert_eq!(
            (answer.status, &error["code"]),
            (402, &json!("CONSUMPTION_BLOCKED")),
            "{}",
            answer.text()
        );
        books::pair(&world.gateway.database, answer.request_id()).await;
    }
    books::check(&world.gateway.database, &organization.id).await;
    let sql = "SELECT used_credits_micro FROM budgets WHERE org_id = $1";
    let used = world.gateway.database.rows(sql, &[&organization.id]).await[0]["used_credits_micro"]
        .as_i64()
        .unwrap();
    assert!(used <= 5_000_000, "{used}");
}

async fn the_logs_of_books_cannot_be_changed(world: &World) {
    let organization = world.organization();
    assert_eq!(
        world
            .gateway
            .chat(&organization.key, json!({"message": mark()}))
            .await
            .status,
        200
    );
    for sql in [
        "UPDATE audit SET event = 'x' WHERE org_id = $1",
        "DELETE FROM audit WHERE org_id = $1",
        "UPDATE ledger SET amount_micro = 0 WHERE org_id = $1",
        "DELETE FROM ledger WHERE org_id = $1",
    ] {
        assert!(
            world
                .gateway
                .database
                .refuses(sql, &[&organization.id])
                .await,
            "{sql}"
        );
    }
}
