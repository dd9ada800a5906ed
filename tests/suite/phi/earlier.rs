//! What earlier turns of a client without a stored conversation leave behind: placeholders that were shown, and reasoning
//! whose placeholders the provider knows.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::surfaces::{Form, Surface};
use svc_tests::wire::Answer;
use svc_tests::world::World;

use crate::control::data;
use crate::engines::on_sqlite;
use crate::surfaces::ask;

on_sqlite! {
    a_placeholder_of_a_reply_is_nobody_else_later,
    sealed_reasoning_keeps_its_people_apart,
    reasoning_of_one_mode_is_none_of_the_other,
    calls_whose_reasoning_is_lost_go_on,
    ids_that_a_provider_made_come_back,
    who_reads_values_means_what_looks_like_a_placeholder,
}

const MODEL: &str = "alpha-sonnet-4-6";
const PATIENT: &str = "Helen Marsh (MRN 5550123) is allergic to penicillin.";

/// Turns of the caller and of the model, as a body of the surface.
fn body(turns: &Value) -> Value {
    let mut body = Surface::Messages.question(MODEL, "", Form::Whole);
    body["max_tokens"] = json!(4096);
    body["tools"] = json!([{"name": "find", "input_schema": {"type": "object"}}]);
    body["messages"] = turns.clone();
    body
}

/// The text that a whole answer shows.
fn text(answer: &Answer) -> String {
    let answer = answer.json();
    let blocks = answer["content"].as_array().unwrap().iter();
    blocks.filter_map(|block| block["text"].as_str()).collect()
}

async fn a_placeholder_of_a_reply_is_nobody_else_later(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let (first, second) = (mark(), mark());
    let asked = json!({"role": "user", "content": format!("{first} show me 88123. {PATIENT}")});
    let order = json!({"contains": first, "text": "Her sister (MRN 7770001) is not."});
    world.fake.expect(order).await;
    let answer = ask(world, key, Surface::Messages, &body(&json!([asked]))).await;
    let told = text(&answer);
    assert!(told.starts_with("Her sister (MRN [MRN_"), "{told}");
    let sisters = told.split(['[', ']']).nth(1).unwrap();

    // Only now the number of the first sentence is a patient's.
    let says = format!("It is [{sisters}].");
    let order = json!({"contains": second, "text": says});
    world.fake.expect(order).await;
    let turns = json!([
        asked,
        {"role": "assistant", "content": told},
        {"role": "user", "content": format!("MRN 88123 is stable. Who is not? {second}")},
    ]);
    let answer = ask(world, key, Surface::Messages, &body(&turns)).await;
    assert_eq!(text(&answer), says);
    let sent = world.fake.received(&second).await["body"]["messages"].to_string();
    assert_eq!(sent.matches(sisters).count(), 1, "{sent}");
}

/// A call with reasoning in front, as the caller gets it.
async fn thought(world: &World, key: &str, asked: &Value, mark: &str, says: &str) -> Value {
    let call = json!([{"name": "find", "input": {"what": "that"}}]);
    let order = json!({"contains": mark, "thinking": says, "tools": call});
    world.fake.expect(order).await;
    let answer = ask(world, key, Surface::Messages, &body(&json!([asked]))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let content = answer.json()["content"].take();
    assert_eq!(content[0]["type"], "thinking", "{content}");
    content
}

/// The turns after a call, with what it has found.
fn after(asked: &Value, content: &Value, found: &str) -> Value {
    let blocks = content.as_array().unwrap();
    let call = blocks.iter().find(|block| block["type"] == "tool_use");
    let id = &call.unwrap()["id"];
    let result = json!({"type": "tool_result", "tool_use_id": id, "content": found});
    json!([
        asked,
        {"role": "assistant", "content": content},
        {"role": "user", "content": [result]},
    ])
}

async fn sealed_reasoning_keeps_its_people_apart(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let (first, second) = (mark(), mark());
    let asked = json!({"role": "user", "content": format!("{first} show me 88123. {PATIENT}")});
    let says = "MRN [MRN_1] is allergic to penicillin.";
    let content = thought(world, key, &asked, &first, says).await;
    let shown = content[0]["thinking"].as_str().unwrap();
    assert_eq!(shown, "MRN 5550123 is allergic to penicillin.");

    let order = json!({"contains": second, "text": "No penicillin for MRN [MRN_1]."});
    world.fake.expect(order).await;
    let found = format!("MRN 88123, patient stable. {second}");
    let turns = after(&asked, &content, &found);
    let answer = ask(world, key, Surface::Messages, &body(&turns)).await;
    assert_eq!(text(&answer), "No penicillin for MRN 5550123.");
    let sent = world.fake.received(&second).await["body"]["messages"].clone();
    assert_eq!(sent[1]["content"][0]["thinking"], says);
    let patient = sent[0]["content"].to_string();
    assert!(patient.contains("(MRN [MRN_1])"), "{sent}");
    assert!(!sent[2].to_string().contains("[MRN_1]"), "{sent}");
}

async fn reasoning_of_one_mode_is_none_of_the_other(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let asked = json!({"role": "user", "content": format!("{mark} {PATIENT}")});
    let says = "[NAME_1] is the wife of Bob Carter, SSN 441-55-9876.";
    let content = thought(world, &organization.key, &asked, &mark, says).await;
    let shown = content[0].to_string();
    assert!(!shown.contains("441-55"), "{shown}");
    assert!(shown.contains("svc_reasoning_"), "{shown}");

    let turns = after(&asked, &content, "none");
    let made = json!({"name": "t", "scopes": ["ai:chat"], "mode": "test"});
    let made = data(world, &organization.key, "POST", "/v1/api_keys", made).await;
    let test = made["key"].as_str().unwrap();
    for key in [test, &world.organization().key] {
        let answer = ask(world, key, Surface::Messages, &body(&turns)).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
        let error = answer.json()["error"].take();
        assert_eq!(error["code"], "UNSUPPORTED_PARAMETER");
        assert_eq!(error["param"], "messages[1].content[0].signature");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("signature in thinking block"), "{message}");
    }
}

/// What a tool has found makes PHI of what the provider was told in clear: its reasoning cannot go back as it was.
async fn calls_whose_reasoning_is_lost_go_on(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let (first, second) = (mark(), mark());
    let asked = json!({"role": "user", "content": format!("what is under 88123? {first}")});
    let says = "They want 88123.";
    let content = thought(world, key, &asked, &first, says).await;
    assert_eq!(content[0]["thinking"], says);
    let found = format!("MRN 88123, patient stable. {second}");
    let mut body = body(&after(&asked, &content, &found));
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 2048});
    let answer = ask(world, key, Surface::Messages, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let sent = world.fake.received(&second).await["body"].clone();
    assert_eq!(sent["messages"][1]["content"][0]["type"], "tool_use");
    assert!(sent.get("thinking").is_none(), "{sent}");

    // One that was brought back whole goes on thinking.
    let mark = mark();
    let mut next = body;
    next["messages"] = after(&asked, &content, &format!("none {mark}"));
    let answer = ask(world, key, Surface::Messages, &next).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let sent = world.fake.received(&mark).await["body"].clone();
    assert_eq!(sent["messages"][1]["content"][0]["thinking"], says);
    assert_eq!(sent["thinking"]["type"], "enabled");
}

async fn ids_that_a_provider_made_come_back(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let id = "toolu_01wx8tDl1v04yV9H1sIpg0Vn";
    let call = json!({"type": "tool_use", "id": id, "name": "find", "input": {}});
    let asked = json!({"role": "user", "content": "Good morning"});
    let turns = after(&asked, &json!([call]), &mark);
    let answer = ask(world, &organization.key, Surface::Messages, &body(&turns)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let sent = world.fake.received(&mark).await["body"]["messages"].clone();
    assert_eq!(sent[1]["content"][0]["id"], id);
    assert_eq!(sent[2]["content"][0]["tool_use_id"], id);
}

/// Of a stored conversation too, whose numbers last: the last reply would be about another patient else.
async fn who_reads_values_means_what_looks_like_a_placeholder(world: &World) {
    let organization = world.organization();
    let marks = [mark(), mark(), mark(), mark()];
    let tell = async |mark: &str, says: &str, body: Value| {
        world
            .fake
            .expect(json!({"contains": mark, "text": says}))
            .await;
        let mut body = body;
        body["stream"] = false.into();
        let answer = world.gateway.chat(&organization.key, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["data"].take()
    };
    let message = format!("{} Patient Helen Marsh is allergic.", marks[0]);
    let first = tell(&marks[0], "[NAME_1] is.", json!({"message": message})).await;
    assert_eq!(first["message"]["content"], "Helen Marsh is.");
    let conversation = &first["conversation_id"];
    // What is not stored leaves nothing behind, the number that was shown among it.
    let body = json!({"message": marks[1], "conversation_id": conversation, "store": false});
    let second = tell(&marks[1], "Mr. Otto Lang has called about her.", body).await;
    let shown = second["message"]["content"].as_str().unwrap();
    assert!(shown.contains("[NAME_2] has called"), "{shown}");
    let message = format!(
        "{} Patient Ida Stone comes too. The form says [NAME_1].",
        marks[2]
    );
    let body = json!({"message": message, "conversation_id": conversation});
    let says = "[NAME_2] comes. The form says [NAME_3].";
    let third = tell(&marks[2], says, body).await;
    let told = "Ida Stone comes. The form says [NAME_1].";
    assert_eq!(third["message"]["content"], told);
    let sent = world.fake.received(&marks[2]).await["body"]["messages"].to_string();
    let expected = "Patient [NAME_2] comes too. The form says [NAME_3].";
    assert!(sent.contains(expected), "{sent}");
    let message = format!("{} Is [NAME_2] allergic?", marks[3]);
    let body = json!({"message": message, "conversation_id": conversation});
    let fourth = tell(&marks[3], "Who is [NAME_4]?", body).await;
    assert_eq!(fourth["message"]["content"], "Who is [NAME_2]?");
    let sent = world.fake.received(&marks[3]).await["body"]["messages"].to_string();
    assert!(
        sent.contains(expected) && sent.contains("Is [NAME_4] allergic?"),
        "{sent}"
    );
}
