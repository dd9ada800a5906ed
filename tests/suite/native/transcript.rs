//! The exact bytes of a chat, streamed and not.

use serde_json::json;
use svc_tests::fake::mark;
use svc_tests::gateway::chat;
use svc_tests::golden;
use svc_tests::sse::{self, Events};
use svc_tests::world::World;

use crate::engines::on_both_engines;

on_both_engines! {
    a_streamed_chat_is_the_specified_sequence,
    a_whole_chat_has_the_specified_shape,
    streamed_and_whole_replies_say_the_same,
    a_reply_without_any_text_is_still_a_reply,
    connections_are_kept_between_chats,
}

async fn a_streamed_chat_is_the_specified_sequence(world: &World) {
    let organization = world.organization();
    let mark = mark();
    world
        .fake
        .expect(json!({"contains": mark, "text": "A quokka is a small marsupial."}))
        .await;
    let body = json!({"message": mark});
    let stream = Events::of(world.gateway.ask(&chat(&organization.key, body)).await);
    let headers = golden::headers(&stream.reply().headers);
    assert_eq!(stream.reply().header("svc-version"), Some("2026-07-12"));
    let request_id = stream.reply().header("request-id").map(str::to_owned);
    let events = stream.rest().await;
    assert_eq!(
        sse::names(&events),
        ["run.started", "message.delta", "run.completed"]
    );
    assert_eq!(sse::text_of(&events), "A quokka is a small marsupial.");
    let (first, last) = (&events[0].data, &events[events.len() - 1].data);
    assert_eq!(first["request_id"].as_str(), request_id.as_deref());
    assert_eq!(first["request_id"], last["request_id"]);
    assert_eq!(first["message_id"], last["message_id"]);
    golden::compare(
        "chat_stream.txt",
        &format!("200\n{headers}\n{}", golden::events(&events)),
    );
}

async fn a_whole_chat_has_the_specified_shape(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let answer = world
        .gateway
        .chat(
            &organization.key,
            json!({"message": format!("{mark} is a small marsupial")}),
        )
        .await;
    golden::compare("chat_whole.txt", &golden::answer(&answer));
    let body = answer.json();
    assert_eq!(
        body["meta"]["request_id"].as_str(),
        Some(answer.request_id())
    );
    for (pointer, prefix) in [
        ("/data/message/id", "msg_"),
        ("/data/conversation_id", "conv_"),
        ("/meta/request_id", "req_"),
    ] {
        let id = body.pointer(pointer).and_then(|id| id.as_str()).unwrap();
        assert!(
            id.starts_with(prefix) && id.len() == prefix.len() + 26,
            "{id}"
        );
    }
}

async fn streamed_and_whole_replies_say_the_same(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let reply = json!({
        "contains": mark, "times": 2, "text": "Ünïcødé 🦘 and \"quotes\"\nand a second line.",
        "usage": {"input_tokens": 1234, "output_tokens": 567, "cache_read_input_tokens": 89, "cache_creation_input_tokens": 10},
        "stop_reason": "stop_sequence",
    });
    world.fake.expect(reply).await;
    let events = world
        .gateway
        .stream(&organization.key, json!({"message": mark}))
        .await
        .rest()
        .await;
    let whole = world
        .gateway
        .chat(&organization.key, json!({"message": mark}))
        .await
        .json();
    let completed = &events.last().unwrap().data;
    assert_eq!(whole["data"]["message"]["content"], sse::text_of(&events));
    assert_eq!(
        whole["data"]["message"]["content"],
        "Ünïcødé 🦘 and \"quotes\"\nand a second line."
    );
    assert_eq!(whole["data"]["finish_reason"], completed["finish_reason"]);
    assert_eq!(completed["finish_reason"], "stop");
    assert_eq!(completed["stop_reason_raw"], "stop_sequence");
    // 1234 + 567 at 1.0x; cache tokens weigh nothing until they are priced (contract 12.1).
    assert_eq!(completed["credits_consumed"], json!(1.801));
    assert_eq!(whole["meta"]["usage"]["credits_consumed"], json!(1.801));
    assert_eq!(whole["meta"]["usage"]["sonnet_equivalent_tokens"], 1801);
    // 1234 × 3 + 567 × 15 + 89 × 0.30 + 10 × 3.75 = 12 271.2 millionths, rounded half up once.
    assert_eq!(whole["meta"]["usage"]["cost_usd"], json!(0.012271));
    assert_eq!(
        completed["usage"],
        json!({"input_tokens": 1234, "output_tokens": 567, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 89})
    );
}

async fn a_reply_without_any_text_is_still_a_reply(world: &World) {
    let organization = world.organization();
    let mark = mark();
    world
        .fake
        .expect(json!({"contains": mark, "times": 2, "text": ""}))
        .await;
    let events = world
        .gateway
        .stream(&organization.key, json!({"message": mark}))
        .await
        .rest()
        .await;
    assert_eq!(sse::names(&events), ["run.started", "run.completed"]);
    let whole = world
        .gateway
        .chat(&organization.key, json!({"message": mark}))
        .await;
    assert_eq!(
        (whole.status, &whole.json()["data"]["message"]["content"]),
        (200, &json!(""))
    );
}

async fn connections_are_kept_between_chats(world: &World) {
    let organization = world.organization();
    let mut connection = world.gateway.connect().await;
    for turn in 0..4 {
        let streamed = turn % 2 == 0;
        let body = json!({"message": mark(), "stream": streamed});
        connection
            .send(&chat(&organization.key, body).bytes())
            .await;
        let (answer, kept) = connection.reply().await.whole().await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        connection = kept;
    }
}
