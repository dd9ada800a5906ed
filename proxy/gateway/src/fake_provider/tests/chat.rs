//! The chat-completions format: what is answered, streamed and whole, and what is refused.

use serde_json::{Value, json};

use super::{Fake, KEY, start, with};

const PATH: &str = "/v1/chat/completions";

fn post(fake: &Fake, body: &Value) -> reqwest::RequestBuilder {
    fake.client.post(fake.url(PATH)).bearer_auth(KEY).json(body)
}

async fn send(fake: &Fake, body: &Value) -> (u16, Value) {
    let response = post(fake, body).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

/// The data of every event of a stream.
async fn stream(fake: &Fake, body: &Value) -> Vec<String> {
    let body = with(body.clone(), "stream", json!(true));
    let response = post(fake, &body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let bytes = response.bytes().await.unwrap();
    let (mut framer, mut frames) = (svc_core::sse::Framer::default(), Vec::new());
    framer.push(&bytes, &mut frames).unwrap();
    framer.finish(&mut frames).unwrap();
    assert!(frames.iter().all(|frame| frame.name.is_empty()));
    frames.into_iter().map(|frame| frame.data).collect()
}

fn with_usage(body: Value) -> Value {
    with(body, "stream_options", json!({"include_usage": true}))
}

fn ask(text: &str) -> Value {
    json!({"model": "beta-1", "messages": [{"role": "user", "content": text}]})
}

fn tools(strict: bool) -> Value {
    json!([{"type": "function", "function": {
        "name": "look", "strict": strict,
        "parameters": {"type": "object", "required": ["id"], "additionalProperties": false,
                       "properties": {"id": {"type": "integer"}}},
    }}])
}

/// The message, reason and usage that a stream builds up, without ids.
fn assemble(data: &[String]) -> Value {
    let (last, chunks) = data.split_last().unwrap();
    assert_eq!(last, "[DONE]");
    let (mut text, mut calls) = (String::new(), Vec::<Value>::new());
    let (mut reason, mut usage) = (Value::Null, Value::Null);
    for chunk in chunks {
        let chunk: Value = serde_json::from_str(chunk).unwrap();
        assert_eq!(chunk["object"], "chat.completion.chunk");
        if let Value::Object(_) = chunk["usage"] {
            assert_eq!(chunk["choices"], json!([]));
            usage = chunk["usage"].clone();
            continue;
        }
        let choice = &chunk["choices"][0];
        text.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        for call in choice["delta"]["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let at = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            if call.get("id").is_some() {
                assert_eq!(calls.len(), at, "dense and in order");
                calls.push(json!([call["function"]["name"], ""]));
            }
            let more = calls[at][1].as_str().unwrap().to_owned()
                + call["function"]["arguments"].as_str().unwrap();
            calls[at][1] = more.into();
        }
        if !choice["finish_reason"].is_null() {
            reason = choice["finish_reason"].clone();
        }
    }
    json!({"text": text, "calls": calls, "reason": reason, "usage": usage})
}

fn told(answer: &Value) -> Value {
    let choice = &answer["choices"][0];
    let calls: Vec<Value> = choice["message"]["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| json!([call["function"]["name"], call["function"]["arguments"]]))
        .collect();
    json!({
        "text": choice["message"]["content"].as_str().unwrap_or_default(),
        "calls": calls,
        "reason": choice["finish_reason"],
        "usage": answer["usage"],
    })
}

#[tokio::test]
async fn an_answer_is_the_same_streamed_and_whole() {
    let fake = start().await;
    let behaviour = json!({
        "times": 2, "thinking": "Considering.", "text": "Grüße an [NAME_1].",
        "tools": [{"name": "look", "input": {"who": ["é", 1.5, null]}}, {"name": "ping"}],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 100},
    });
    fake.order(json!([behaviour])).await;
    let (status, whole) = send(&fake, &ask("x")).await;
    assert_eq!(status, 200, "{whole}");
    let whole = told(&whole);
    assert_eq!(whole["calls"][1], json!(["ping", "{}"]));
    assert_eq!(whole["reason"], "tool_calls");
    assert_eq!(whole["usage"]["prompt_tokens"], 110);
    assert_eq!(
        whole["usage"]["prompt_tokens_details"]["cached_tokens"],
        100
    );
    assert_eq!(assemble(&stream(&fake, &with_usage(ask("x"))).await), whole);
}

#[tokio::test]
async fn usage_is_streamed_to_who_asks() {
    let fake = start().await;
    let without = stream(&fake, &ask("x")).await;
    assert_eq!(assemble(&without)["usage"], Value::Null);
    assert!(!without[0].contains("\"usage\""));
    let asked = stream(&fake, &with_usage(ask("x"))).await;
    assert!(asked[0].contains("\"usage\":null"));
    assert_eq!(assemble(&asked)["usage"]["completion_tokens"], 3);
}

#[tokio::test]
async fn the_request_decides_the_answer() {
    let fake = start().await;
    let text = async |body: Value| {
        let (status, answer) = send(&fake, &body).await;
        assert_eq!(status, 200, "{answer}");
        told(&answer)
    };
    let echoed = text(ask("I am [NAME_1].")).await;
    assert_eq!(
        (&echoed["text"], &echoed["reason"]),
        (&json!("You said: I am [NAME_1]."), &json!("stop"))
    );
    let cut = text(with(
        ask("a long text to cut"),
        "max_completion_tokens",
        json!(3),
    ))
    .await;
    assert_eq!(
        (&cut["text"], &cut["reason"]),
        (&json!("You said: a "), &json!("length"))
    );
    let stopped = text(with(ask("one STOP two"), "stop", json!("STOP"))).await;
    assert_eq!(stopped["text"], "You said: one ");
    let directed = text(ask(r#"[[fake:tool look {"id": 2}]][[fake:stop stop]]"#)).await;
    assert_eq!(
        (&directed["calls"], &directed["reason"]),
        (&json!([["look", "{\"id\":2}"]]), &json!("stop"))
    );
    let body = with(ask("go"), "tools", tools(true));
    let named = json!({"type": "function", "function": {"name": "look"}});
    for choice in [json!("required"), named] {
        let forced = text(with(body.clone(), "tool_choice", choice)).await;
        assert_eq!(forced["calls"], json!([["look", "{\"id\":1}"]]));
    }
    let messages = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "it is 7"},
    ]);
    let answered = text(with(body, "messages", messages)).await;
    assert_eq!(answered["text"], "The tool answered: it is 7");
    let format = json!({"type": "json_schema", "json_schema": {"name": "r", "schema": {
        "type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}}});
    let shaped = text(with(ask("x"), "response_format", format)).await;
    assert_eq!(shaped["text"], "{\"ok\":true}");
}

#[tokio::test]
async fn faults_and_journal_are_those_of_every_format() {
    let fake = start().await;
    fake.order(json!([
        {"status": 429, "retry_after": "3"},
        {"status": 400, "error_type": "context_length_exceeded"},
        {"no_terminal_event": true},
        {"error_event_after_events": 2},
        {"malformed_after_events": 1},
    ]))
    .await;
    let response = post(&fake, &ask("x")).send().await.unwrap();
    assert_eq!(response.headers()["retry-after"], "3");
    assert!(response.headers().contains_key("x-request-id"));
    let busy: Value = response.json().await.unwrap();
    assert_eq!(busy["error"]["code"], "rate_limit_exceeded");
    let (status, long) = send(&fake, &ask("x")).await;
    assert_eq!(
        (status, &long["error"]["code"]),
        (400, &json!("context_length_exceeded"))
    );
    let cut = stream(&fake, &with_usage(ask("x"))).await;
    assert!(cut.last().unwrap().contains("\"finish_reason\":null"));
    let failed = stream(&fake, &ask("x")).await;
    let last: Value = serde_json::from_str(failed.last().unwrap()).unwrap();
    assert_eq!(
        (failed.len(), &last["error"]["type"]),
        (3, &json!("server_error"))
    );
    let broken = stream(&fake, &ask("x")).await;
    assert!(serde_json::from_str::<Value>(&broken[1]).is_err());
    let seen = fake.requests("await_ended=5").await;
    assert_eq!(seen[0]["path"], PATH);
    assert_eq!(seen[0]["body"]["model"], "beta-1");
    let headers = seen[0]["headers"].as_array().unwrap();
    assert!(headers.iter().all(|header| header[0] != "authorization"));
}

#[tokio::test]
async fn odd_framing_says_the_same() {
    let fake = start().await;
    let plain = assemble(&stream(&fake, &ask("the same")).await);
    for oddity in [
        json!({"line_end": "crlf", "bom": true}),
        json!({"line_end": "cr", "comments": true, "multi_line_data": true}),
        json!({"unterminated": true, "no_space": true, "drip_bytes": 1}),
    ] {
        fake.order(json!([oddity])).await;
        assert_eq!(
            assemble(&stream(&fake, &ask("the same")).await),
            plain,
            "{oddity}"
        );
    }
}

#[tokio::test]
async fn a_credential_is_asked_for() {
    let fake = start().await;
    for request in [
        fake.client.post(fake.url(PATH)),
        fake.client.post(fake.url(PATH)).bearer_auth("wrong"),
        fake.client.post(fake.url(PATH)).header("x-api-key", KEY),
    ] {
        let response = request.json(&ask("x")).send().await.unwrap();
        assert_eq!(response.status(), 401);
        let answer: Value = response.json().await.unwrap();
        assert_eq!(answer["error"]["code"], "invalid_api_key");
    }
}

fn turns(messages: Value) -> Value {
    with(with(ask(""), "messages", messages), "tools", tools(false))
}

fn called(ids: &[&str], rest: &[Value]) -> Value {
    let calls: Vec<Value> = ids
        .iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}}))
        .collect();
    let mut all = vec![
        json!({"role": "user", "content": "go"}),
        json!({"role": "assistant", "tool_calls": calls}),
    ];
    all.extend_from_slice(rest);
    turns(all.into())
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "seen"})
}

fn parts(part: Value) -> Value {
    turns(json!([{"role": "user", "content": [part]}]))
}

fn image(url: &str) -> Value {
    parts(json!({"type": "image_url", "image_url": {"url": url}}))
}

#[tokio::test]
async fn what_the_format_allows_passes() {
    let fake = start().await;
    let file = json!({"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="});
    for body in [
        called(&["a", "call:b"], &[result("call:b"), result("a")]),
        called(
            &["a"],
            &[result("a"), json!({"role": "user", "content": "and"})],
        ),
        turns(
            json!([{"role": "developer", "content": "x"}, {"role": "user", "content": "", "name": "ann"}]),
        ),
        turns(json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": ""}])),
        image("data:image/png;base64,aGk="),
        image("https://example.org/a.png"),
        parts(json!({"type": "file", "file": file})),
        with(ask("x"), "temperature", json!(2)),
        with(ask("x"), "stop", json!(["a", "b", "c", "d"])),
        with(ask("x"), "user", json!("é".repeat(64))),
        with(
            ask("as JSON"),
            "response_format",
            json!({"type": "json_object"}),
        ),
        with(
            turns(json!([{"role": "user", "content": "x"}])),
            "parallel_tool_calls",
            json!(false),
        ),
    ] {
        let (status, answer) = send(&fake, &body).await;
        assert_eq!(status, 200, "{body}: {answer}");
    }
}

#[tokio::test]
async fn what_the_format_forbids_is_refused() {
    let fake = start().await;
    let open_tool = json!([{"type": "function", "function": {
        "name": "look", "strict": true, "parameters": {"type": "object", "properties": {}}}}]);
    let named = json!({"type": "function", "function": {"name": "no"}});
    for (body, reason) in [
        // 5: dangling, late, foreign and doubled results.
        (called(&["a"], &[]), "did not have response"),
        (called(&["a", "b"], &[result("a")]), "did not have response"),
        (
            called(
                &["a"],
                &[json!({"role": "user", "content": "x"}), result("a")],
            ),
            "did not have response",
        ),
        (
            called(&["a"], &[result("a"), result("z")]),
            "must be a response",
        ),
        (
            called(&["a"], &[result("a"), result("a")]),
            "must be a response",
        ),
        (called(&["a", "a"], &[result("a")]), "duplicate"),
        (called(&[&"x".repeat(41)], &[]), "40 characters"),
        (turns(json!([result("a")])), "must be a response"),
        // 8, 43: tools.
        (with(ask("x"), "tools", json!([])), "1 to 128"),
        (
            with(
                ask("x"),
                "tools",
                json!([{"type": "function", "function": {"name": "a b"}}]),
            ),
            "pattern",
        ),
        (with(ask("x"), "tools", open_tool), "additionalProperties"),
        // 16, 24: nulls and names of old.
        (
            turns(json!([{"role": "assistant", "content": null}])),
            "got null",
        ),
        (
            turns(json!([{"role": "user", "content": null}])),
            "got null",
        ),
        (
            with(ask("x"), "max_tokens", json!(5)),
            "max_completion_tokens",
        ),
        // 45: choices without tools.
        (
            with(ask("x"), "tool_choice", json!("auto")),
            "'tools' are specified",
        ),
        (
            with(ask("x"), "parallel_tool_calls", json!(true)),
            "'tools' are specified",
        ),
        (
            with(with(ask("x"), "tools", tools(false)), "tool_choice", named),
            "not found",
        ),
        // Fields, roles and parts.
        (with(ask("x"), "top_k", json!(1)), "Extra inputs"),
        (with(ask("x"), "temperature", json!(2.1)), "temperature"),
        (
            with(ask("x"), "stop", json!(["a", "b", "c", "d", "e"])),
            "stop",
        ),
        (with(ask("x"), "stream", json!("yes")), "boolean"),
        (
            with(ask("x"), "user", json!("é".repeat(65))),
            "maximum length 64",
        ),
        (with_usage(ask("x")), "stream_options"),
        (
            with(ask("x"), "response_format", json!({"type": "json_object"})),
            "word 'json'",
        ),
        (turns(json!([])), "at least 1"),
        (turns(json!([{"role": "model", "content": "x"}])), "role"),
        (image("ftp://example.org/a.png"), "data URL"),
        (image("data:image/tiff;base64,aGk="), "unsupported type"),
        (image("data:image/png;base64,?"), "base64"),
        (
            parts(json!({"type": "document", "document": {}})),
            "not allowed",
        ),
        (
            parts(json!({"type": "text", "text": "x", "cache_control": {}})),
            "Extra inputs",
        ),
    ] {
        let (status, answer) = send(&fake, &body).await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(status, 400, "{body}");
        assert_eq!(answer["error"]["type"], "invalid_request_error");
        assert!(message.contains(reason), "{body}: {message}");
    }
}
