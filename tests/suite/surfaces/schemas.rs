//! Schemas that a provider is asked to promise: what each kind is sent of them, and what is refused at once.

use serde_json::{Map, Value, json};
use svc_tests::fake::mark;
use svc_tests::surfaces::{Form, MODELS, Surface};
use svc_tests::wire::{Answer, Request};
use svc_tests::world::World;

use super::ask;
use crate::engines::on_sqlite;

on_sqlite! {
    what_kind_a_compiles_is_sent_to_it,
    a_schema_that_would_take_long_is_refused_at_once,
    what_kind_b_refuses_to_promise_is_asked_for_without,
    a_mark_within_a_document_is_the_documents,
}

/// A question whose answer must conform to a schema.
fn question(model: &str, words: &str, schema: &Value) -> Value {
    let mut body = Surface::Messages.question(model, words, Form::Whole);
    body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    body
}

async fn answer_to(world: &World, key: &str, body: &Value) -> Answer {
    ask(world, key, Surface::Messages, body).await
}

/// A closed object that requires its only property.
fn closed(property: &Value) -> Value {
    json!({"type": "object", "properties": {"a": property}, "required": ["a"], "additionalProperties": false})
}

async fn what_kind_a_compiles_is_sent_to_it(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[0];
    let all = json!({"allOf": [{"type": "string", "format": "date"}, {"type": "string", "pattern": "^2"}]});
    let mark = mark();
    let mut body = question(model, &mark, &closed(&all));
    let nothing = json!({"type": "object", "properties": {}});
    body["tools"] = json!([{"name": "now", "strict": true, "input_schema": nothing}]);
    let answer = answer_to(world, &organization.key, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let sent = world.fake.received(&mark).await["body"].clone();
    assert_eq!(
        sent["output_config"]["format"]["schema"]["properties"]["a"],
        all
    );
    assert_eq!(
        sent["tools"][0]["input_schema"]["additionalProperties"],
        json!(false)
    );
}

async fn a_schema_that_would_take_long_is_refused_at_once(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[0];
    let repeated = (0..50).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": ["array", "array"], "items": inner}),
    );
    let chained = |links: usize| {
        let each = (0..links).map(|at| {
            let next = format!("#/$defs/d{}", (at + 1) % links);
            (format!("d{at}"), json!({"$ref": next}))
        });
        let mut schema = closed(&json!({"$ref": "#/$defs/d0"}));
        schema["$defs"] = Value::Object(each.collect::<Map<_, _>>());
        schema
    };
    let large = closed(&json!({"type": "string", "description": "so ".repeat(100_000)}));
    for schema in [closed(&repeated), chained(7_000), large] {
        for path in ["/v1/messages", "/v1/messages/count_tokens"] {
            let mut body = question(model, "so", &schema);
            if path.ends_with("count_tokens") {
                let fields = body.as_object_mut().unwrap();
                fields.retain(|name, _| name != "max_tokens" && name != "stream");
            }
            let request = Request::new("POST", path).bearer(&organization.key);
            let answer = world.gateway.answer(&request.json(&body)).await;
            let error = answer.json();
            assert_eq!(
                (
                    answer.status,
                    Surface::Messages.code(&error),
                    &error["error"]["param"]
                ),
                (
                    400,
                    "UNSUPPORTED_PARAMETER".to_owned(),
                    &json!("output_config.format.schema")
                ),
                "{path} {error}"
            );
        }
    }
    // As many values as fit are still read within the time of a call.
    let many: Vec<Value> = (0..25_000).map(|_| json!({"a": 0})).collect();
    let dense = closed(&json!({"type": "string", "default": many}));
    let body = question(model, "so", &dense);
    let answer = answer_to(world, &organization.key, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

async fn what_kind_b_refuses_to_promise_is_asked_for_without(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[1];
    for (property, is_promised) in [
        (json!({"type": "string", "pattern": "^a+$"}), true),
        (json!({"type": "string", "pattern": "^(?!b)a+$"}), false),
        (json!({"type": "string", "enum": []}), false),
        (
            json!({"type": "object", "properties": {}, "required": ["b"], "additionalProperties": false}),
            false,
        ),
    ] {
        let mark = mark();
        let body = question(model, &mark, &closed(&property));
        let answer = answer_to(world, &organization.key, &body).await;
        assert_eq!(answer.status, 200, "{property}: {}", answer.text());
        let sent = world.fake.received(&mark).await["body"].clone();
        let strict = &sent["response_format"]["json_schema"]["strict"];
        assert_eq!(strict == &json!(true), is_promised, "{property}: {sent}");
    }
}

async fn a_mark_within_a_document_is_the_documents(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[0];
    let mark = mark();
    let cached = json!({"type": "ephemeral"});
    let source = json!({"type": "content", "content": [
        {"type": "text", "text": "so"},
        {"type": "text", "text": "it is", "cache_control": cached},
    ]});
    let mut body = Surface::Messages.question(model, "", Form::Whole);
    body["messages"] = json!([{"role": "user", "content": [
        {"type": "document", "source": source},
        {"type": "text", "text": mark},
    ]}]);
    let answer = answer_to(world, &organization.key, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let sent = world.fake.received(&mark).await["body"].clone();
    assert_eq!(
        sent["messages"][0]["content"][0]["cache_control"], cached,
        "{sent}"
    );
}
