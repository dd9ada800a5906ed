//! One exchange on each surface with each provider kind, streamed and not: what the caller sent, what the provider got,
//! what the caller received. Frozen in `tests/golden/exchange/`.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::golden;
use svc_tests::surfaces::{FORMS, Form, MODELS, SURFACES, Surface};
use svc_tests::wire::Answer;
use svc_tests::world::World;

use crate::engines::on_sqlite;

on_sqlite! { one_exchange_on_every_surface_with_every_kind }

/// A system prompt, a tool and a forced choice of it, in each surface's own form.
fn question(surface: Surface, model: &str, mark: &str, form: Form) -> Value {
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let text = format!("{mark}: what is it like there?");
    let mut body = surface.question(model, &text, form);
    match surface {
        Surface::Native | Surface::Messages => {
            body["system"] = json!("Be brief.");
            body["tools"] = json!([{"name": "weather", "description": "Weather of a city", "input_schema": schema}]);
            body["tool_choice"] = json!({"type": "any", "disable_parallel_tool_use": true});
        }
        Surface::ChatCompletions => {
            let system = json!({"role": "system", "content": "Be brief."});
            body["messages"] = json!([system, body["messages"][0]]);
            body["tools"] = json!([{"type": "function", "function": {
                "name": "weather", "description": "Weather of a city", "parameters": schema,
            }}]);
            body["tool_choice"] = json!("required");
            body["parallel_tool_calls"] = json!(false);
        }
    }
    body
}

/// Reasoning where the kind has any, text, and a call whose arguments need care.
fn reply(kind: &str, mark: &str) -> Value {
    let mut order = json!({
        "contains": mark, "text_chunks": ["Let me ", "look: \"there\" 🦘\n"],
        "tools": [{"id": "call_1", "name": "weather", "input": {"city": "there \"1\"", "days": [1, 2.5, null]}}],
        "usage": {"input_tokens": 120, "output_tokens": 34, "cache_read_input_tokens": 16},
    });
    if kind == "A" {
        order["thinking"] = json!("One look will do.");
        order["redacted_thinking"] = json!("c2VhbGVk");
        order["usage"]["cache_creation_input_tokens"] = json!(8);
    }
    order
}

fn received(form: Form, answer: &Answer) -> String {
    match form {
        Form::Whole => golden::answer(answer),
        Form::Streamed => format!(
            "{}\n{}\n{}",
            answer.status,
            golden::headers(&answer.headers),
            golden::stream(&answer.text())
        ),
    }
}

async fn one_exchange_on_every_surface_with_every_kind(world: &World) {
    let organization = world.organization();
    for (kind, model) in MODELS {
        for surface in SURFACES {
            for form in FORMS {
                let mark = mark();
                world.fake.expect(reply(kind, &mark)).await;
                let body = question(surface, model, &mark, form);
                let request = surface.request(&organization.key, &body);
                let answer = world.gateway.answer(&request).await;
                let upstream = &world.fake.seen(&mark).await[0];
                let headers: Vec<(String, String)> =
                    serde_json::from_value(upstream["headers"].clone()).unwrap();
                let text = format!(
                    "--- the caller sent\nPOST {}\n{}--- the provider got\n{} {}\n{}\n{}--- the caller received\n{}",
                    surface.path(),
                    golden::value(&body),
                    upstream["method"].as_str().unwrap(),
                    upstream["path"].as_str().unwrap(),
                    golden::headers(&headers),
                    golden::value(&upstream["body"]),
                    received(form, &answer)
                );
                let form = match form {
                    Form::Streamed => "streamed",
                    Form::Whole => "whole",
                };
                let name = format!("exchange/{}_{kind}_{form}.txt", surface.word());
                golden::compare(&name, &text);
            }
        }
    }
}
