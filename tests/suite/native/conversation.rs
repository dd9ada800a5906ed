//! Stored conversations: what continues them, what does not, and who may.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::sse;
use svc_tests::world::World;

use crate::engines::on_both_engines;

on_both_engines! {
    a_conversation_continues_with_its_history,
    a_bare_id_continues_a_conversation,
    nothing_is_stored_with_store_false,
    a_turn_that_is_not_stored_still_sees_the_history,
    a_failed_turn_leaves_no_trace_in_the_history,
    a_foreign_conversation_does_not_exist,
}

/// What the provider was told by the request with this mark.
async fn told(world: &World, mark: &str) -> Value {
    world.fake.received(mark).await["body"]["messages"].clone()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text}]})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
}

async fn a_conversation_continues_with_its_history(world: &World) {
    let organization = world.organization();
    let (first, second, third) = (mark(), mark(), mark());
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": first}))
        .await
        .json();
    let conversation = answer["data"]["conversation_id"].clone();
    let body = json!({"message": second, "conversation_id": conversation});
    let events = world
        .gateway
        .stream(&organization.key, body)
        .await
        .rest()
        .await;
    assert_eq!(events[0].data["conversation_id"], conversation);
    let body = json!({"message": third, "conversation_id": conversation});
    let answer = world.gateway.chat(&organization.key, body).await.json();
    assert_eq!(answer["data"]["conversation_id"], conversation);
    let history = json!([
        user(&first),
        assistant(&format!("You said: {first}")),
        user(&second),
        assistant(&format!("You said: {second}")),
        user(&third),
    ]);
    assert_eq!(told(world, &third).await, history);
}

async fn a_bare_id_continues_a_conversation(world: &World) {
    let organization = world.organization();
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": mark()}))
        .await
        .json();
    let conversation = answer["data"]["conversation_id"].as_str().unwrap();
    let bare = conversation.strip_prefix("conv_").unwrap();
    let continued = world
        .gateway
        .chat(
            &organization.key,
            json!({"message": mark(), "conversation_id": bare}),
        )
        .await;
    assert_eq!(
        (
            continued.status,
            &continued.json()["data"]["conversation_id"]
        ),
        (200, &json!(conversation))
    );
}

async fn nothing_is_stored_with_store_false(world: &World) {
    let organization = world.organization();
    let answer = world
        .gateway
        .chat(
            &organization.key,
            json!({"message": mark(), "store": false}),
        )
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    for table in ["conversations", "messages"] {
        let sql = format!("SELECT id FROM {table} WHERE org_id = $1");
        assert!(
            world
                .gateway
                .database
                .rows(&sql, &[&organization.id])
                .await
                .is_empty(),
            "{table}"
        );
    }
    let message = answer.json()["data"]["message"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let request = svc_tests::wire::Request::new("GET", &format!("/v1/ai/messages/{message}"))
        .bearer(&organization.key);
    assert_eq!(world.gateway.answer(&request).await.status, 404);
}

async fn a_turn_that_is_not_stored_still_sees_the_history(world: &World) {
    let organization = world.organization();
    let (first, unstored, third) = (mark(), mark(), mark());
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": first}))
        .await
        .json();
    let conversation = answer["data"]["conversation_id"].clone();
    let body = json!({"message": unstored, "conversation_id": conversation, "store": false});
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(answer.json()["data"]["conversation_id"], conversation);
    assert_eq!(told(world, &unstored).await[0], user(&first));
    let body = json!({"message": third, "conversation_id": conversation});
    world.gateway.chat(&organization.key, body).await;
    let history = json!([
        user(&first),
        assistant(&format!("You said: {first}")),
        user(&third)
    ]);
    assert_eq!(told(world, &third).await, history);
}

async fn a_failed_turn_leaves_no_trace_in_the_history(world: &World) {
    let organization = world.organization();
    let (first, failing, third) = (mark(), mark(), mark());
    let answer = world
        .gateway
        .chat(&organization.key, json!({"message": first}))
        .await
        .json();
    let conversation = answer["data"]["conversation_id"].clone();
    world
        .fake
        .expect(json!({"contains": failing, "event_count": 5, "close_after_events": 4}))
        .await;
    let body = json!({"message": failing, "conversation_id": conversation});
    let events = world
        .gateway
        .stream(&organization.key, body)
        .await
        .rest()
        .await;
    assert_eq!(
        events.last().unwrap().name,
        "error",
        "{:?}",
        sse::names(&events)
    );
    let body = json!({"message": third, "conversation_id": conversation});
    assert_eq!(
        world.gateway.chat(&organization.key, body).await.status,
        200
    );
    let history = json!([
        user(&first),
        assistant(&format!("You said: {first}")),
        user(&third)
    ]);
    assert_eq!(told(world, &third).await, history);
}

/// Byte for byte the same as one that never was, but for the request's own id (contract 7).
async fn a_foreign_conversation_does_not_exist(world: &World) {
    let (owner, other) = (world.organization(), world.organization());
    let answer = world
        .gateway
        .chat(&owner.key, json!({"message": mark()}))
        .await
        .json();
    let conversation = answer["data"]["conversation_id"].clone();
    let unheard = mark();
    let ask = async |id: &Value| {
        let answer = world
            .gateway
            .chat(
                &other.key,
                json!({"message": unheard, "conversation_id": id}),
            )
            .await;
        let own_id = answer.request_id().to_owned();
        (answer.status, answer.text().replace(&own_id, "*"))
    };
    let foreign = ask(&conversation).await;
    let unknown = ask(&json!("conv_01ARZ3NDEKTSV4RRFFQ69G5FAV")).await;
    assert_eq!(foreign, unknown);
    assert_eq!(foreign.0, 404);
    assert!(
        foreign.1.contains("\"RESOURCE_NOT_FOUND\""),
        "{}",
        foreign.1
    );
    assert!(world.fake.seen(&unheard).await.is_empty());
}
