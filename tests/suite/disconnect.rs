//! Callers who leave, at every stage: the provider notices at once, and the books say `cancelled`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use svc_tests::books;
use svc_tests::browser::Browser;
use svc_tests::fake::mark;
use svc_tests::gateway::{chat, whole};
use svc_tests::organization::Organization;
use svc_tests::patience::eventually;
use svc_tests::surfaces::{Form, MODELS, SURFACES};
use svc_tests::world::World;

use crate::engines::{on_both_engines, on_sqlite};

on_both_engines! {
    leaving_before_the_providers_head_cancels_the_call,
    leaving_in_the_middle_of_a_stream_cancels_the_call,
    leaving_while_a_whole_reply_is_awaited_cancels_the_call,
    leaving_while_a_whole_reply_comes_cancels_the_call,
    leaving_the_playground_cancels_the_call,
    leaving_at_any_moment_leaves_nothing_held,
}

on_sqlite! { leaving_while_the_body_is_sent_calls_nobody }

/// Milliseconds within which the provider must see its caller leave. The gateway takes well under one; the
/// rest is for a machine that runs other tests beside this one.
const NOTICED_MS: u64 = 250;

#[expect(
    clippy::disallowed_methods,
    reason = "compared with the times that the fake provider notes"
)]
fn now_us() -> u64 {
    u64::try_from(
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_micros(),
    )
    .unwrap()
}

/// After the caller left at `left_us`: what the provider saw, and the terminal row.
async fn cancelled(world: &World, organization: &Organization, mark: &str, left_us: u64) -> Value {
    let seen = world.fake.ended(mark).await;
    let noticed_us = seen["closed_by_peer_at_us"]
        .as_u64()
        .unwrap_or_else(|| panic!("not left: {seen:#}"));
    let late_ms = noticed_us.saturating_sub(left_us) / 1000;
    assert!(
        late_ms < NOTICED_MS,
        "the provider noticed after {late_ms} ms"
    );
    let database = &world.gateway.database;
    let sql = "SELECT request_id FROM audit WHERE org_id = $1 AND phase = 'requested'";
    let rows = database.rows(sql, &[&organization.id]).await;
    assert_eq!(rows.len(), 1);
    let (_, terminal) = books::pair(database, rows[0]["request_id"].as_str().unwrap()).await;
    assert_eq!(
        (&terminal["event"], &terminal["result"]),
        (&json!("inference.cancelled"), &json!("cancelled"))
    );
    let (debit, _) = books::postings(database, rows[0]["request_id"].as_str().unwrap()).await;
    assert_eq!(debit["amount_micro"], 0);
    books::check(database, &organization.id).await;
    debit
}

async fn leaving_before_the_providers_head_cancels_the_call(world: &World) {
    let organization = world.organization();
    let mark = mark();
    world
        .fake
        .expect(json!({"contains": mark, "stall_after_events": 0}))
        .await;
    let mut connection = world.gateway.connect().await;
    connection
        .send(&chat(&organization.key, json!({"message": mark})).bytes())
        .await;
    world.fake.received(&mark).await;
    drop(connection);
    cancelled(world, &organization, &mark, now_us()).await;
}

async fn leaving_the_playground_cancels_the_call(world: &World) {
    let organization = world.organization();
    let mark = mark();
    world
        .fake
        .expect(json!({"contains": mark, "stall_after_events": 0}))
        .await;
    let mut browser = Browser::owner(&world.gateway, &organization).await;
    let page = browser.get("/ui/playground").await;
    let mut fields = page.hidden("/ui/playground");
    let (_, model) = MODELS[0];
    for (name, value) in [("model", model), ("system", ""), ("message", mark.as_str())] {
        fields.push((name.to_owned(), value.to_owned()));
    }
    let mut connection = world.gateway.connect().await;
    connection
        .send(&browser.form("/ui/playground", &fields).bytes())
        .await;
    world.fake.received(&mark).await;
    drop(connection);
    cancelled(world, &organization, &mark, now_us()).await;
}

/// Also while the intent is on its way to the store: whoever leaves then has a run that was opened.
async fn leaving_at_any_moment_leaves_nothing_held(world: &World) {
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    let key = &organization.key;
    let (_, model) = MODELS[0];
    for step in 0..40 {
        for surface in SURFACES {
            let body = surface.question(model, "so", Form::Whole);
            let mut connection = world.gateway.connect().await;
            connection.send(&surface.request(key, &body).bytes()).await;
            tokio::time::sleep(Duration::from_micros(250 * step)).await;
        }
    }
    books::check(&world.gateway.database, &organization.id).await;
}

async fn leaving_in_the_middle_of_a_stream_cancels_the_call(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let usage = json!({"input_tokens": 77, "output_tokens": 900});
    world
        .fake
        .expect(
            json!({"contains": mark, "event_count": 50, "stall_after_events": 8, "usage": usage}),
        )
        .await;
    let mut stream = world
        .gateway
        .stream(&organization.key, json!({"message": mark}))
        .await;
    stream.until("message.delta").await;
    drop(stream);
    let debit = cancelled(world, &organization, &mark, now_us()).await;
    // What the operator was billed for is known: the tokens seen so far (contract 14.2).
    assert_eq!(debit["input_tokens"], 77);
    let output = debit["output_tokens"].as_i64().unwrap();
    assert!((1..900).contains(&output), "{output}");
}

async fn leaving_while_a_whole_reply_is_awaited_cancels_the_call(world: &World) {
    let organization = world.organization();
    let mark = mark();
    world
        .fake
        .expect(json!({"contains": mark, "stall_after_events": 0}))
        .await;
    let mut connection = world.gateway.connect().await;
    connection
        .send(&chat(&organization.key, whole(json!({"message": mark}))).bytes())
        .await;
    world.fake.received(&mark).await;
    drop(connection);
    cancelled(world, &organization, &mark, now_us()).await;
}

async fn leaving_while_a_whole_reply_comes_cancels_the_call(world: &World) {
    let organization = world.organization();
    let mark = mark();
    world
        .fake
        .expect(json!({"contains": mark, "stall_after_events": 1}))
        .await;
    let mut connection = world.gateway.connect().await;
    connection
        .send(&chat(&organization.key, whole(json!({"message": mark}))).bytes())
        .await;
    // Half of the JSON is out once the fake has chosen its status.
    eventually("half an answer", async || {
        let seen = world.fake.received(&mark).await;
        (!seen["status"].is_null()).then_some(())
    })
    .await;
    drop(connection);
    cancelled(world, &organization, &mark, now_us()).await;
}

/// Nothing was asked yet: no provider call, no hold; the rows say that a caller left.
async fn leaving_while_the_body_is_sent_calls_nobody(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let request =
        chat(&organization.key, json!({"message": mark})).header("Expect", "100-continue");
    let bytes = request.bytes();
    let body = bytes.len() - json!({"message": mark}).to_string().len();
    let mut connection = world.gateway.connect().await;
    connection.send(&bytes[..body]).await;
    // Asked for its body, the request has passed the rate limits.
    assert_eq!(connection.line().await, "HTTP/1.1 100 Continue");
    connection.send(&bytes[body..bytes.len() - 4]).await;
    drop(connection);
    let database = &world.gateway.database;
    let rows = eventually("the rows of a left request", async || {
        let sql =
            "SELECT event FROM audit WHERE org_id = $1 AND request_id IS NOT NULL ORDER BY phase";
        let rows = database.rows(sql, &[&organization.id]).await;
        (rows.len() >= 2).then_some(rows)
    });
    let events: Vec<Value> = rows
        .await
        .into_iter()
        .map(|row| row["event"].clone())
        .collect();
    assert_eq!(events, ["inference.requested", "inference.cancelled"]);
    assert!(world.fake.seen(&mark).await.is_empty());
    books::check(database, &organization.id).await;
}
