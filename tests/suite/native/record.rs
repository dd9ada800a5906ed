//! `GET /v1/ai/messages/{id}`: the stored message of the caller's own organization, and nobody else's.

use serde_json::json;
use svc_tests::fake::mark;
use svc_tests::golden;
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use crate::engines::on_both_engines;

on_both_engines! {
    a_message_is_read_back_as_it_was_said,
    a_foreign_message_does_not_exist,
    head_is_get_without_its_body,
}

fn get(key: &str, id: &str) -> Request {
    Request::new("GET", &format!("/v1/ai/messages/{id}")).bearer(key)
}

/// An answer without its own request's id.
fn anonymous(answer: &Answer) -> (u16, String) {
    (
        answer.status,
        answer.text().replace(answer.request_id(), "*"),
    )
}

async fn a_message_is_read_back_as_it_was_said(world: &World) {
    let organization = world.organization();
    let chat = world
        .gateway
        .chat(
            &organization.key,
            json!({"message": format!("{} hops", mark())}),
        )
        .await
        .json();
    let id = chat["data"]["message"]["id"].as_str().unwrap();
    let answer = world.gateway.answer(&get(&organization.key, id)).await;
    golden::compare("message.txt", &golden::answer(&answer));
    let record = &answer.json()["data"];
    assert_eq!(record["id"], id);
    assert_eq!(record["org_id"], organization.id);
    assert_eq!(record["request_id"], chat["meta"]["request_id"]);
    assert_eq!(record["conversation_id"], chat["data"]["conversation_id"]);
    assert_eq!(record["content"], chat["data"]["message"]["content"]);
    assert_eq!(
        record["credits_consumed"],
        chat["meta"]["usage"]["credits_consumed"]
    );
    let audit_id = record["audit_id"].as_str().unwrap();
    let sql = "SELECT event FROM audit WHERE id = $1";
    let rows = world.gateway.database.rows(sql, &[audit_id]).await;
    assert_eq!(rows[0]["event"], "inference.completed");
    // Reading is not an inference: no row, no charge (contract 14.2, other reads).
    assert!(
        svc_tests::books::rows(&world.gateway.database, answer.request_id())
            .await
            .is_empty()
    );
}

async fn a_foreign_message_does_not_exist(world: &World) {
    let (owner, other) = (world.organization(), world.organization());
    let chat = world
        .gateway
        .chat(&owner.key, json!({"message": mark()}))
        .await
        .json();
    let id = chat["data"]["message"]["id"].as_str().unwrap();
    let foreign = anonymous(&world.gateway.answer(&get(&other.key, id)).await);
    assert_eq!(foreign.0, 404);
    assert!(
        foreign.1.contains("\"RESOURCE_NOT_FOUND\""),
        "{}",
        foreign.1
    );
    for unknown in [
        "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "msg_",
        "nonsense",
        &id.to_lowercase(),
        "%6dsg",
    ] {
        assert_eq!(
            anonymous(&world.gateway.answer(&get(&other.key, unknown)).await),
            foreign,
            "{unknown}"
        );
    }
}

async fn head_is_get_without_its_body(world: &World) {
    let organization = world.organization();
    let chat = world
        .gateway
        .chat(&organization.key, json!({"message": mark()}))
        .await
        .json();
    let id = chat["data"]["message"]["id"].as_str().unwrap();
    for (id, status) in [(id, 200), ("msg_01ARZ3NDEKTSV4RRFFQ69G5FAV", 404)] {
        let whole = world.gateway.answer(&get(&organization.key, id)).await;
        let head = Request::new("HEAD", &format!("/v1/ai/messages/{id}")).bearer(&organization.key);
        let mut connection = world.gateway.connect().await;
        connection.send(&head.bytes()).await;
        let (answer, mut connection) = connection.reply_to("HEAD").await.whole().await;
        assert_eq!((answer.status, answer.body.len()), (status, 0));
        assert_eq!(
            answer.header("content-length"),
            Some(whole.body.len().to_string().as_str())
        );
        assert_eq!(answer.header("content-type"), Some("application/json"));
        // Not a byte of body follows: the next answer on the connection starts where it should.
        connection.send(&get(&organization.key, id).bytes()).await;
        assert_eq!(connection.reply().await.whole().await.0.status, status);
    }
}
