//! What is refused, each rule with the nearest request that passes.

use serde_json::{Value, json};

use super::{KEY, ask, start, with};

fn turns(messages: Value) -> Value {
    let tools = json!([{"name": "look", "input_schema": {"type": "object"}}]);
    with(with(ask(""), "messages", messages), "tools", tools)
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "look", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "seen"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A question whose answer must conform to a schema.
fn compiled(schema: Value) -> Value {
    let format = json!({"type": "json_schema", "schema": schema});
    with(ask("x"), "output_config", json!({"format": format}))
}

/// A conversation with the given calls and the turns that follow them.
fn after_calls(calls: Value, mut rest: Vec<Value>) -> Value {
    let mut all = vec![
        json!({"role": "user", "content": "go"}),
        json!({"role": "assistant", "content": calls}),
    ];
    all.append(&mut rest);
    turns(all.into())
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

/// Definitions each of which holds the next one twice.
fn doubling(levels: usize) -> Value {
    let object = |next: &Value| json!({"type": "object", "properties": {"a": next, "b": next}, "additionalProperties": false});
    let each = (0..levels).map(|at| {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        (format!("d{at}"), object(&next))
    });
    let mut definitions: serde_json::Map<String, Value> = each.collect();
    definitions.insert(format!("d{levels}"), json!({"type": "null"}));
    let mut schema = object(&json!({"$ref": "#/$defs/d0"}));
    schema["$defs"] = Value::Object(definitions);
    schema
}

fn accepted() -> Vec<Value> {
    let tools = json!([{"name": "look", "type": "custom", "description": "d", "strict": true,
                        "input_schema": {"type": "object", "$schema": "x", "additionalProperties": false}}]);
    vec![
        ask("plain"),
        compiled(json!({
            "type": "object", "additionalProperties": false, "$defs": {"ref": {"type": "string", "format": "date"}},
            "properties": {"minimum": {"$ref": "#/$defs/ref"}, "a": {"$ref": "#/$defs/ref"},
                           "b": {"type": ["array", "null"], "items": {"enum": [1, null]}, "minItems": 1}},
        })),
        compiled(doubling(40)),
        turns(json!([user(json!([text("a")])), user(json!("b"))])),
        after_calls(
            json!([call("a"), call("b")]),
            vec![user(json!([result("b"), result("a"), text("and")]))],
        ),
        after_calls(
            json!([text("x"), call("a_-9")]),
            vec![user(json!([result("a_-9")]))],
        ),
        with(ask("x"), "temperature", json!(1)),
        with(ask("x"), "system", json!([text("be brief")])),
        with(ask("x"), "metadata", json!({"user_id": "é".repeat(256)})),
        with(ask("x"), "inference_geo", json!("us")),
        with(
            with(ask("x"), "tools", tools),
            "tool_choice",
            json!({"type": "any", "disable_parallel_tool_use": true}),
        ),
        turns(json!([user(json!([
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
            {"type": "document", "source": {"type": "url", "url": "https://example.org/x.pdf"}},
            {"type": "text", "text": "see", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        ]))])),
        turns(json!([user(json!("x")), {"role": "assistant", "content": ""}])),
    ]
}

fn refused() -> Vec<(Value, &'static str)> {
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    let mut cases = vec![
        // 2: two turns of results instead of one.
        (
            after_calls(
                json!([call("a"), call("b")]),
                vec![user(json!([result("a")])), user(json!([result("b")]))],
            ),
            "without `tool_result`",
        ),
        // 3: text before results.
        (
            after_calls(
                json!([call("a")]),
                vec![user(json!([text("x"), result("a")]))],
            ),
            "must come before",
        ),
        // 5: dangling, late, foreign and doubled results, and calls with one id.
        (after_calls(json!([call("a")]), vec![]), "final turn"),
        (
            with(
                with(
                    after_calls(json!([call("a")]), vec![user(json!([result("a")]))]),
                    "thinking",
                    json!({"type": "enabled", "budget_tokens": 1024}),
                ),
                "max_tokens",
                json!(2048),
            ),
            "must start with a thinking block",
        ),
        (
            after_calls(
                json!([call("a")]),
                vec![user(json!("x")), user(json!([result("a")]))],
            ),
            "without `tool_result`",
        ),
        (
            after_calls(
                json!([call("a")]),
                vec![user(json!([result("a"), result("z")]))],
            ),
            "unexpected `tool_use_id`",
        ),
        (
            after_calls(
                json!([call("a")]),
                vec![user(json!([result("a"), result("a")]))],
            ),
            "single `tool_result`",
        ),
        (
            after_calls(
                json!([call("a"), call("a")]),
                vec![user(json!([result("a")]))],
            ),
            "unique",
        ),
        // 6: ids of another provider.
        (
            after_calls(
                json!([call("call:1")]),
                vec![user(json!([result("call:1")]))],
            ),
            "match pattern",
        ),
        // 15: empty and blank text.
        (ask(""), "non-empty"),
        (turns(json!([user(json!([text("")]))])), "non-empty"),
        (turns(json!([user(json!([text(" \n")]))])), "non-whitespace"),
        (with(ask("x"), "system", json!([text("")])), "non-empty"),
        (
            with(ask("x"), "metadata", json!({"user_id": "é".repeat(257)})),
            "at most 256",
        ),
        // 22: sampling out of range.
        (with(ask("x"), "temperature", json!(1.2)), "temperature"),
        // 45, 47: tools that are not there.
        (
            with(ask("x"), "tool_choice", json!({"type": "auto"})),
            "while providing tools",
        ),
        (
            with(
                after_calls(json!([call("a")]), vec![user(json!([result("a")]))]),
                "tools",
                json!([]),
            ),
            "must be defined",
        ),
        (
            with(
                turns(json!([user(json!("x"))])),
                "tool_choice",
                json!({"type": "tool", "name": "no"}),
            ),
            "not found",
        ),
        // Fields and roles.
        (with(ask("x"), "n", json!(1)), "Extra inputs"),
        (with(ask("x"), "max_tokens", json!(0)), "max_tokens"),
        (with(ask("x"), "stream", json!("yes")), "boolean"),
        (turns(json!([])), "at least one"),
        (
            turns(json!([{"role": "developer", "content": "x"}])),
            "role",
        ),
        (turns(json!([{"role": "system", "content": "x"}])), "role"),
        (
            turns(json!([{"role": "assistant", "content": "x"}])),
            "first message",
        ),
        (
            turns(json!([{"role": "user", "content": "x", "name": "n"}])),
            "Extra inputs",
        ),
        (
            turns(json!([user(json!([call("a")]))])),
            "not allowed in user turns",
        ),
        (
            turns(json!([user(json!("x")), {"role": "assistant", "content": "so "}])),
            "trailing whitespace",
        ),
        (
            with(
                ask("x"),
                "tools",
                json!([{"name": "a b", "input_schema": {"type": "object"}}]),
            ),
            "match pattern",
        ),
        (
            with(
                ask("x"),
                "tools",
                json!([{"name": "a", "input_schema": {}}]),
            ),
            "'object'",
        ),
        (
            with(
                ask("x"),
                "thinking",
                json!({"type": "enabled", "budget_tokens": 1024}),
            ),
            "greater than",
        ),
        (
            turns(json!([user(json!([
                marked, marked, marked, marked, marked
            ]))])),
            "maximum of 4",
        ),
    ];
    let closed = |property: Value| json!({"type": "object", "properties": {"a": property}, "additionalProperties": false});
    for (schema, reason) in [
        (json!({"type": "object"}), "must be explicitly set to false"),
        (
            closed(json!({"type": "object", "additionalProperties": true})),
            "must be explicitly set to false",
        ),
        (
            closed(json!({"type": "integer", "maximum": 2, "minimum": 1})),
            "For 'integer' type, properties minimum, maximum are not supported",
        ),
        (
            closed(json!({"type": "string", "maxLength": 1})),
            "maxLength",
        ),
        (
            closed(json!({"type": "string", "format": "phone"})),
            "format",
        ),
        (
            closed(json!({"type": "string", "pattern": "(?=a)"})),
            "Pattern",
        ),
        (closed(json!({"type": "array", "minItems": 2})), "minItems"),
        (closed(json!({"oneOf": [{"type": "string"}]})), "oneOf"),
        (closed(json!({"anyOf": []})), "anyOf must not be empty"),
        (
            closed(json!({"anyOf": vec![json!({"type": ["string", "null"]}); 16]})),
            "too many parameters with union types (17",
        ),
        (closed(json!({"type": []})), "type must not be empty"),
        (
            closed(json!({"allOf": [{"$ref": "#/properties/a"}]})),
            "allOf with $ref",
        ),
        (closed(json!({"enum": [{}]})), "enum"),
        (closed(json!({})), "must have a 'type'"),
        (closed(json!({"$ref": "https://example.org"})), "$ref"),
        (
            closed(json!({"anyOf": [{"$ref": "#/properties/a"}]})),
            "Circular",
        ),
    ] {
        cases.push((compiled(schema.clone()), reason));
        let tools = json!([{"name": "a", "input_schema": schema, "strict": true}]);
        // Arguments are an object.
        cases.push((with(ask("x"), "tools", tools), reason));
    }
    for name in ["model", "messages", "max_tokens"] {
        let mut body = ask("x");
        body.as_object_mut().unwrap().remove(name);
        cases.push((body, "Field required"));
    }
    cases
}

#[tokio::test]
async fn what_the_format_allows_passes() {
    let fake = start().await;
    for body in accepted() {
        let (status, answer) = fake.send(&body).await;
        assert_eq!(status, 200, "{body}: {answer}");
    }
}

#[tokio::test]
async fn what_the_format_forbids_is_refused() {
    let fake = start().await;
    for (body, reason) in refused() {
        let (status, answer) = fake.send(&body).await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(status, 400, "{body}");
        assert_eq!(answer["error"]["type"], "invalid_request_error");
        assert!(message.contains(reason), "{body}: {message}");
    }
}

#[tokio::test]
async fn the_new_version_has_rules_of_its_own() {
    let fake = start().await;
    let send = async |body: Value| {
        let request = fake.request("/v1/messages", &body);
        let request = request.header("anthropic-version", "2026-10-21");
        // reqwest appends; the version must stand alone.
        let mut request = request.build().unwrap();
        let headers = request.headers_mut();
        headers.insert("anthropic-version", "2026-10-21".parse().unwrap());
        fake.client
            .execute(request)
            .await
            .unwrap()
            .status()
            .as_u16()
    };
    assert_eq!(send(ask("x")).await, 200);
    assert_eq!(send(with(ask("x"), "temperature", json!(1))).await, 400);
    let system =
        turns(json!([user(json!("x")), {"role": "system", "content": "y"}, user(json!("z"))]));
    assert_eq!(send(system).await, 200);
}

#[tokio::test]
async fn heads_are_checked_before_bodies() {
    let fake = start().await;
    let send = async |headers: &[(&str, &str)]| {
        let mut request = fake.client.post(fake.url("/v1/messages")).body("{");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let answer: Value = response.json().await.unwrap();
        (
            status,
            answer["error"]["message"].as_str().unwrap().to_owned(),
        )
    };
    let json = ("content-type", "application/json");
    let key = ("x-api-key", KEY);
    assert_eq!(send(&[json]).await.0, 401);
    assert_eq!(send(&[json, ("x-api-key", "wrong")]).await.0, 401);
    assert_eq!(
        send(&[json, ("authorization", "Bearer wrong")]).await.0,
        401
    );
    assert!(send(&[key]).await.1.starts_with("content-type"));
    let bearer = format!("Bearer {KEY}");
    assert!(
        send(&[json, ("authorization", &bearer)])
            .await
            .1
            .contains("not valid JSON")
    );
    let response = fake
        .client
        .get(fake.url("/v1/messages"))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 405);
    let response = fake.client.get(fake.url("/v2")).send().await.unwrap();
    assert_eq!(response.status(), 404);
    let mut request = fake.request("/v1/messages", &ask("x")).build().unwrap();
    request.headers_mut().remove("anthropic-version");
    assert_eq!(fake.client.execute(request).await.unwrap().status(), 400);
}
