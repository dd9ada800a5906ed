//! Native tools (contract 21): definitions in, calls out, results back in.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::sse;
use svc_tests::world::World;

use crate::engines::on_both_engines;

on_both_engines! {
    a_tool_call_comes_as_one_event_with_whole_arguments,
    tool_results_continue_a_stored_conversation,
    every_open_call_needs_exactly_its_result,
    results_that_come_twice_at_once_leave_a_conversation_that_goes_on,
    a_tool_choice_reaches_the_provider,
}

fn weather() -> Value {
    json!([{
        "name": "weather", "description": "Weather of a city",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }])
}

async fn a_tool_call_comes_as_one_event_with_whole_arguments(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let arguments =
        json!({"city": "Wien", "nested": {"list": [1, 2.5, null, true], "text": "a \"b\"\n"}});
    let calls =
        json!([{"name": "weather", "input": arguments, "id": "call_A-1"}, {"name": "weather"}]);
    world
        .fake
        .expect(json!({"contains": mark, "times": 2, "text": "Let me look.", "tools": calls}))
        .await;
    let body = json!({"message": mark, "tools": weather()});
    let events = world
        .gateway
        .stream(&organization.key, body.clone())
        .await
        .rest()
        .await;
    assert_eq!(
        sse::names(&events),
        [
            "run.started",
            "message.delta",
            "tool_call",
            "tool_call",
            "run.completed"
        ]
    );
    let calls: Vec<&Value> = events
        .iter()
        .filter(|event| event.name == "tool_call")
        .map(|event| &event.data)
        .collect();
    assert_eq!(
        calls[0],
        &json!({"id": "call_A-1", "name": "weather", "arguments": arguments})
    );
    assert_eq!(
        (&calls[1]["name"], &calls[1]["arguments"]),
        (&json!("weather"), &json!({}))
    );
    assert_eq!(events.last().unwrap().data["finish_reason"], "tool_calls");
    let whole = world.gateway.chat(&organization.key, body).await.json();
    assert_eq!(whole["data"]["message"]["content"], "Let me look.");
    assert_eq!(whole["data"]["message"]["tool_calls"][0], *calls[0]);
    assert_eq!(whole["data"]["finish_reason"], "tool_calls");
}

/// A conversation with an open call, and the call's id.
async fn with_open_call(world: &World, key: &str) -> (Value, Value) {
    let mark = mark();
    let call = json!({"name": "weather", "input": {"city": "Graz"}});
    world
        .fake
        .expect(json!({"contains": mark, "tools": [call]}))
        .await;
    let answer = world
        .gateway
        .chat(key, json!({"message": mark, "tools": weather()}))
        .await
        .json();
    let calls = &answer["data"]["message"]["tool_calls"];
    (
        answer["data"]["conversation_id"].clone(),
        calls[0]["id"].clone(),
    )
}

async fn tool_results_continue_a_stored_conversation(world: &World) {
    let organization = world.organization();
    let (conversation, call) = with_open_call(world, &organization.key).await;
    let mark = mark();
    let body = json!({
        "conversation_id": conversation, "tools": weather(),
        "tool_results": [{"tool_call_id": call, "content": format!("{mark}: sunny"), "is_error": false}],
    });
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        answer.json()["data"]["message"]["content"],
        format!("The tool answered: {mark}: sunny")
    );
    let messages = world.fake.received(&mark).await["body"]["messages"].clone();
    let turns = messages.as_array().unwrap();
    assert_eq!(turns.len(), 3, "{messages:#}");
    let (call, result) = (&turns[1]["content"][0], &turns[2]["content"][0]);
    assert_eq!(
        (&call["type"], &call["input"]),
        (&json!("tool_use"), &json!({"city": "Graz"}))
    );
    assert_eq!(
        (&result["type"], &result["tool_use_id"]),
        (&json!("tool_result"), &call["id"])
    );
}

async fn every_open_call_needs_exactly_its_result(world: &World) {
    let organization = world.organization();
    let (conversation, call) = with_open_call(world, &organization.key).await;
    let unheard = mark();
    let result = |id: &Value| json!({"tool_call_id": id, "content": unheard});
    let cases = [
        (json!({"message": unheard}), "tool_results"),
        (
            json!({"tool_results": [result(&json!("toolu_nobody"))]}),
            "tool_results[0].tool_call_id",
        ),
        (
            json!({"tool_results": [result(&call), result(&call)]}),
            "tool_results[1].tool_call_id",
        ),
        (json!({"tool_results": []}), "message"),
        (
            json!({"tool_results": [{"content": unheard}]}),
            "tool_results[0].tool_call_id",
        ),
        (
            json!({"tool_results": [{"tool_call_id": call, "content": unheard, "is_error": "no"}]}),
            "tool_results[0].is_error",
        ),
    ];
    for (mut body, param) in cases {
        body["conversation_id"] = conversation.clone();
        body["tools"] = weather();
        let answer = world.gateway.chat(&organization.key, body.clone()).await;
        let error = &answer.json()["error"];
        assert_eq!(
            (answer.status, &error["code"], &error["param"]),
            (422, &json!("VALIDATION_FAILED"), &json!(param)),
            "{body}"
        );
    }
    let body = json!({"tool_results": [result(&call)]});
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["param"]),
        (422, &json!("tool_results"))
    );
    assert!(world.fake.seen(&unheard).await.is_empty());
    // Nothing of it was stored: the call is still open and can be answered.
    let body = json!({"conversation_id": conversation, "tools": weather(), "tool_results": [result(&call)]});
    assert_eq!(
        world.gateway.chat(&organization.key, body).await.status,
        200
    );
}

/// As a client sends them that repeats itself after a time-out.
async fn results_that_come_twice_at_once_leave_a_conversation_that_goes_on(world: &World) {
    let organization = world.organization();
    let key = &organization.key;
    let (conversation, call) = with_open_call(world, key).await;
    let both = mark();
    let order = json!({"contains": both, "times": 2, "together": true, "text": "Sunny."});
    world.fake.expect(order).await;
    let body = json!({
        "conversation_id": conversation, "tools": weather(),
        "tool_results": [{"tool_call_id": call, "content": both}],
    });
    let (first, second) = tokio::join!(
        world.gateway.chat(key, body.clone()),
        world.gateway.chat(key, body)
    );
    for answer in [first, second] {
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let last = mark();
    let body = json!({"conversation_id": conversation, "message": last});
    let answer = world.gateway.chat(key, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let messages = world.fake.received(&last).await["body"]["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 5, "{messages:#}");
}

async fn a_tool_choice_reaches_the_provider(world: &World) {
    let organization = world.organization();
    let mark = mark();
    let choice = json!({"type": "tool", "name": "weather", "disable_parallel_tool_use": true});
    let body = json!({"message": mark, "tools": weather(), "tool_choice": choice});
    let events = world
        .gateway
        .stream(&organization.key, body)
        .await
        .rest()
        .await;
    assert_eq!(
        sse::names(&events),
        ["run.started", "tool_call", "run.completed"]
    );
    assert_eq!(events[1].data["arguments"], json!({"city": "text"}));
    let sent = &world.fake.received(&mark).await["body"];
    assert_eq!(sent["tool_choice"], choice);
    assert_eq!(
        sent["tools"][0]["input_schema"],
        weather()[0]["input_schema"]
    );
}
