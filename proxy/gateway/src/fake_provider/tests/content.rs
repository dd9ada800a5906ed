//! What is answered: the same content streamed and whole, deterministic, within the request's limits.

use serde_json::{Value, json};

use super::{
    Fake, ask, ask_stream, assemble, events, options, start, start_with, with, without_ids,
};

async fn both(fake: &Fake, body: Value) -> Value {
    let (status, whole) = fake.send(&body).await;
    assert_eq!(status, 200, "{whole}");
    let stream = fake.send_text(&with(body, "stream", json!(true))).await;
    let events = events(stream.as_bytes());
    assert_eq!(events.last().unwrap().0, "message_stop");
    let whole = without_ids(whole);
    assert_eq!(assemble(&events), whole);
    whole
}

#[tokio::test]
async fn the_default_answer_echoes_the_last_user_text() {
    let fake = start().await;
    let answer = both(&fake, ask("I am [NAME_1].")).await;
    assert_eq!(
        answer["content"],
        json!([{"type": "text", "text": "You said: I am [NAME_1]."}])
    );
    assert_eq!(answer["stop_reason"], "end_turn");
    assert_eq!(answer["usage"]["input_tokens"], 4);
    assert_eq!(answer["usage"]["output_tokens"], 6);
}

#[tokio::test]
async fn every_kind_of_block_is_the_same_streamed_and_whole() {
    let fake = start().await;
    let behaviour = json!({
        "times": 2, "thinking": "Considering it at length.", "redacted_thinking": "b3BhcXVl",
        "text": "Grüße an [NAME_1] — two tools follow.",
        "tools": [{"name": "look", "input": {"when": "2026-01-02", "who": ["é", 1.5, null]}}, {"name": "ping"}],
        "usage": {"cache_read_input_tokens": 100, "cache_creation_input_tokens": 7},
    });
    fake.order(json!([behaviour])).await;
    let answer = both(&fake, ask("anything")).await;
    assert_eq!(answer["stop_reason"], "tool_use");
    assert_eq!(answer["content"].as_array().unwrap().len(), 5);
    assert_eq!(answer["content"][4]["input"], json!({}));
    assert_eq!(answer["usage"]["cache_read_input_tokens"], 100);
}

#[tokio::test]
async fn an_empty_input_streams_no_json() {
    let fake = start().await;
    let stream = fake.send_text(&ask_stream("[[fake:tool ping]]")).await;
    let pieces: Vec<_> = events(stream.as_bytes())
        .into_iter()
        .filter(|(name, _)| name == "content_block_delta")
        .map(|(_, data)| data["delta"]["partial_json"].clone())
        .collect();
    assert_eq!(pieces, [json!("")]);
}

#[tokio::test]
async fn the_count_at_the_start_is_provisional_and_at_the_end_cumulative() {
    let fake = start().await;
    let stream = fake.send_text(&ask_stream("some words to count")).await;
    let events = events(stream.as_bytes());
    assert_eq!(events[0].1["message"]["usage"]["output_tokens"], 1);
    let (_, last) = &events[events.len() - 2];
    assert_eq!(last["usage"]["output_tokens"], 8);
    assert_eq!(
        last["usage"]["input_tokens"],
        events[0].1["message"]["usage"]["input_tokens"]
    );
}

#[tokio::test]
async fn limits_of_the_request_end_the_answer() {
    let fake = start().await;
    let answer = both(
        &fake,
        with(ask("a long text to cut"), "max_tokens", json!(3)),
    )
    .await;
    assert_eq!(answer["content"][0]["text"], "You said: a ");
    assert_eq!(answer["stop_reason"], "max_tokens");
    let answer = both(
        &fake,
        with(
            ask("one STOP two"),
            "stop_sequences",
            json!(["STOP", "two"]),
        ),
    )
    .await;
    assert_eq!(answer["content"][0]["text"], "You said: one ");
    assert_eq!(answer["stop_reason"], "stop_sequence");
    assert_eq!(answer["stop_sequence"], "STOP");
}

#[tokio::test]
async fn a_tool_loop_comes_to_its_end() {
    let fake = start().await;
    let tools = json!([{"name": "look", "input_schema": {
        "type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}}]);
    let body = with(ask("go"), "tools", tools);
    let forced = with(
        body.clone(),
        "tool_choice",
        json!({"type": "tool", "name": "look"}),
    );
    let (_, answer) = fake.send(&forced).await;
    assert_eq!(answer["content"][0]["input"], json!({"id": 1}));
    assert_eq!(answer["stop_reason"], "tool_use");
    let result = json!({"type": "tool_result", "tool_use_id": answer["content"][0]["id"], "content": "it is 7"});
    let messages = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": answer["content"]},
        {"role": "user", "content": [result]},
    ]);
    let answer = both(&fake, with(body, "messages", messages)).await;
    assert_eq!(answer["content"][0]["text"], "The tool answered: it is 7");
}

#[tokio::test]
async fn thinking_is_taken_back_only_as_it_was_given() {
    let fake = start().await;
    let thinking = json!({"type": "enabled", "budget_tokens": 1024});
    let body = with(
        with(ask("think"), "max_tokens", json!(2000)),
        "thinking",
        thinking,
    );
    let answer = both(&fake, body.clone()).await;
    assert_eq!(answer["content"][0]["type"], "thinking");
    let mut messages = json!([
        {"role": "user", "content": "think"},
        {"role": "assistant", "content": answer["content"]},
        {"role": "user", "content": "more"},
    ]);
    let (status, _) = fake
        .send(&with(body.clone(), "messages", messages.clone()))
        .await;
    assert_eq!(status, 200);
    messages[1]["content"][0]["thinking"] = json!("altered");
    let (status, _) = fake.send(&with(body, "messages", messages)).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn a_loop_of_calls_thinks_in_its_first_step_or_not_at_all() {
    let fake = start().await;
    let body = with(
        with(ask("think"), "max_tokens", json!(2000)),
        "thinking",
        json!({"type": "enabled", "budget_tokens": 1024}),
    );
    let thinks = both(&fake, body.clone()).await["content"][0].clone();
    let body = with(
        body,
        "tools",
        json!([{"name": "f", "input_schema": {"type": "object"}}]),
    );
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
    let result =
        |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id}]});
    let says = |content: Value| json!({"role": "assistant", "content": content});
    let after = |first: Value, second: Value| {
        json!([
            {"role": "user", "content": "go"},
            says(first), result("a"), says(second), result("b")
        ])
    };
    for (turns, expected) in [
        (after(json!([thinks, call("a")]), json!([call("b")])), 200),
        (after(json!([call("a")]), json!([thinks, call("b")])), 400),
        (
            after(json!([thinks, call("a")]), json!([thinks, call("b")])),
            200,
        ),
    ] {
        let (status, answer) = fake.send(&with(body.clone(), "messages", turns)).await;
        assert_eq!(status, expected, "{answer}");
    }
}

#[tokio::test]
async fn counting_agrees_with_the_usage() {
    let fake = start().await;
    let body = json!({"model": "alpha-1", "system": "Be brief.", "messages": ask("count this")["messages"]});
    let response = fake
        .request("/v1/messages/count_tokens", &body)
        .send()
        .await
        .unwrap();
    let count: Value = response.json().await.unwrap();
    let (_, answer) = fake.send(&with(body, "max_tokens", json!(10))).await;
    assert_eq!(count, json!({"input_tokens": 5}));
    assert_eq!(answer["usage"]["input_tokens"], 5);
}

#[tokio::test]
async fn a_quiet_fake_answers_in_the_same_shapes() {
    let mut quiet = options();
    quiet.quiet = true;
    let fake = start_with(quiet).await;
    let answer = both(&fake, ask("anything")).await;
    assert_eq!(answer["stop_reason"], "end_turn");
    assert!(fake.requests("").await.is_empty());
    // A script still has its way.
    fake.order(json!([{"status": 529}])).await;
    assert_eq!(fake.send(&ask("x")).await.0, 529);
    assert_eq!(fake.send(&ask("x")).await.0, 200);
}
