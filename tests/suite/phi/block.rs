//! Mode `block`, and tool definitions in any mode: refused, with kinds and places and never the text.

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::sse;
use svc_tests::surfaces::{Form, Surface};
use svc_tests::world::World;

use super::{PLANTED, core};
use crate::engines::{on_both_engines, on_sqlite};
use crate::refusal::expect;

on_both_engines! { a_blocking_organization_refuses_phi }

on_sqlite! {
    clean_text_passes_a_blocking_organization,
    names_that_something_unseen_divides_are_refused,
    tool_definitions_with_phi_are_refused_in_any_mode,
    places_are_those_of_the_callers_own_body,
    places_behind_a_stored_conversation_are_those_of_the_body,
    tool_definitions_are_pointed_at_as_they_were_written,
}

async fn a_blocking_organization_refuses_phi(world: &World) {
    let organization = world.organization_with(&["--phi-mode", "block"]);
    for (kind, value) in PLANTED {
        let mark = mark();
        for streamed in [true, false] {
            let body =
                json!({"message": format!("{mark} about {value} today"), "stream": streamed});
            let answer = world
                .gateway
                .answer(&svc_tests::gateway::chat(&organization.key, body))
                .await;
            assert_eq!(answer.status, 403, "{kind}: {}", answer.text());
            let error = expect(&answer, "PHI_BLOCKED", None);
            let details = &error["details"];
            assert_eq!(
                (&details["entity_types"], &details["counts"]),
                (&json!([kind]), &json!({kind: 1}))
            );
            let places = details["locations"].as_array().unwrap();
            assert_eq!(places.len(), 1, "{error}");
            let shown = answer.header("svc-phi-entities");
            assert_eq!(shown, Some(format!("{kind}=1").as_str()));
            assert!(!answer.text().contains(core(value)), "{}", answer.text());
        }
        assert!(world.fake.seen(&mark).await.is_empty(), "{kind}");
    }
    let body = json!({"message": "x", "system": "SSN 536-22-8714 and 441-08-2257"});
    let error = expect(
        &world.gateway.chat(&organization.key, body).await,
        "PHI_BLOCKED",
        None,
    );
    assert_eq!(error["details"]["counts"], json!({"SSN": 2}));
    assert!(
        error["details"]["locations"][0]
            .as_str()
            .unwrap()
            .starts_with("system"),
        "{error}"
    );
}

async fn clean_text_passes_a_blocking_organization(world: &World) {
    let organization = world.organization_with(&["--phi-mode", "block"]);
    let said = format!(
        "{} BP 120/80, 2/6 systolic murmur, strength 5/5, pain 7/10, 500 mg twice a day",
        mark()
    );
    let events = world
        .gateway
        .stream(&organization.key, json!({"message": said}))
        .await
        .rest()
        .await;
    assert_eq!(sse::text_of(&events), format!("You said: {said}"));
    assert_eq!(
        events.last().unwrap().data["phi"],
        json!({"mode": "block", "redacted": 0, "entity_types": [], "restored": 0})
    );
}

async fn names_that_something_unseen_divides_are_refused(world: &World) {
    let blocking = world.organization_with(&["--phi-mode", "block"]);
    let redacting = world.organization();
    for (said, found) in [
        ("Patient: Thomas\u{200b}Barker was seen today", 1),
        ("Patient: Thomas\u{2060}Barker was seen today", 1),
        ("Patient: Thomas\u{feff}\u{200d}Barker was seen today", 1),
        ("Dr.\u{200b}Marsh saw Maria\u{200b}Lopez", 2),
    ] {
        let mark = mark();
        let body = || json!({"message": format!("{mark} {said}"), "stream": false});
        let refused = world.gateway.chat(&blocking.key, body()).await;
        let error = expect(&refused, "PHI_BLOCKED", None);
        assert_eq!(
            error["details"]["counts"],
            json!({"NAME": found}),
            "{said:?}"
        );
        assert!(world.fake.seen(&mark).await.is_empty(), "{said:?}");
        let passed = world.gateway.chat(&redacting.key, body()).await;
        assert_eq!(passed.status, 200, "{}", passed.text());
        let seen = world.fake.seen(&mark).await;
        let sent = serde_json::to_string(&seen).unwrap();
        for name in ["Thomas", "Barker", "Marsh", "Maria", "Lopez"] {
            assert!(!sent.contains(name), "{name} in {sent}");
        }
        assert!(passed.text().contains(said), "{}", passed.text());
    }
}

async fn tool_definitions_with_phi_are_refused_in_any_mode(world: &World) {
    let mark = mark();
    let clean = json!({"name": "clean", "description": "Looks up a chart", "input_schema": {"type": "object"}});
    let with = |description: Value, schema: Value| json!([clean, {"name": "look", "description": description, "input_schema": schema}]);
    let object = json!({"type": "object"});
    let cases = [
        (
            with(json!("As for 536-22-8714"), object.clone()),
            "tools[1]/description",
        ),
        (
            with(
                json!("x"),
                json!({"type": "object", "properties": {"q": {"type": "string", "description": "like 536-22-8714"}}}),
            ),
            "tools[1]/input_schema/properties/q/description",
        ),
        (
            with(
                json!("x"),
                json!({"type": "object", "properties": {"q": {"enum": ["a", "ruth.aldana@lakeside-mail.org"]}}}),
            ),
            "tools[1]/input_schema/properties/q/enum/1",
        ),
        (
            with(
                json!("x"),
                json!({"type": "object", "properties": {"q": {"default": 4_539_148_803_436_467_u64}}}),
            ),
            "tools[1]/input_schema/properties/q/default",
        ),
        // Known by the property that they are samples of.
        (
            with(
                json!("x"),
                json!({"type": "object", "properties": {"ssn": {"type": "string", "default": "536228714"}}}),
            ),
            "tools[1]/input_schema/properties/ssn/default",
        ),
        (
            with(
                json!("x"),
                json!({"type": "object", "properties": {"ssn": {"type": "integer", "enum": [1, 536_228_714]}}}),
            ),
            "tools[1]/input_schema/properties/ssn/enum/1",
        ),
    ];
    // Samples that are nobody's.
    let harmless = json!({"type": "object", "properties": {
        "first_name": {"type": "string", "example": "Jane"},
        "patient_name": {"type": "string", "default": "John Smith"},
        "order_id": {"type": "string", "example": "ORD-8841"},
        "address": {"type": "string", "enum": ["billing", "shipping"]},
        "line": {"type": "integer", "default": 100},
        "family": {"enum": ["serif", "sans"]},
        "default": {"type": "string", "description": "what else"},
    }});
    for mode in ["redact", "block"] {
        let organization = world.organization_with(&["--phi-mode", mode]);
        let body = json!({"message": svc_tests::fake::mark(), "tools": with(json!("x"), harmless.clone())});
        let answer = world.gateway.chat(&organization.key, body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        for (tools, param) in &cases {
            let answer = world
                .gateway
                .chat(&organization.key, json!({"message": mark, "tools": tools}))
                .await;
            assert_eq!(answer.status, 400, "{param}: {}", answer.text());
            expect(&answer, "PHI_IN_TOOL_SCHEMA", Some(param));
            assert!(!answer.text().contains("8714") && !answer.text().contains("aldana"));
        }
    }
    assert!(world.fake.seen(&mark).await.is_empty());
}

async fn places_are_those_of_the_callers_own_body(world: &World) {
    let organization = world.organization_with(&["--phi-mode", "block"]);
    let ssn = "536-22-8714";
    let said = format!("SSN {ssn}");
    let body = json!({
        "model": "alpha-haiku-4-5",
        "max_tokens": 64,
        "messages": [
            {"role": "system", "content": said},
            {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": said}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"q": ssn}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": said}]},
            {"role": "assistant", "content": "so"},
            {"role": "user", "content": said},
        ],
        "tools": [{"name": "look", "input_schema": {"type": "object"}}],
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "properties": {"q": {"const": ssn}}}}},
    });
    let request = Surface::Messages.request(&organization.key, &body);
    let answer = world.gateway.answer(&request).await;
    assert_eq!(answer.status, 403, "{}", answer.text());
    assert_eq!(
        answer.json()["error"]["details"]["locations"],
        json!([
            "messages[0].content",
            "output_config.format.schema",
            "messages[1].content[1]",
            "messages[2].content[0].input",
            "messages[3].content[0].content",
            "messages[5].content",
        ])
    );
}

async fn places_behind_a_stored_conversation_are_those_of_the_body(world: &World) {
    let organization = world.organization_with(&["--phi-mode", "block"]);
    let mark = mark();
    let calls = json!([{"name": "look"}, {"name": "look"}]);
    world
        .fake
        .expect(json!({"contains": mark, "tools": calls}))
        .await;
    let tools = json!([{"name": "look", "input_schema": {"type": "object"}}]);
    let body = json!({"message": mark, "tools": tools});
    let answer = world.gateway.chat(&organization.key, body).await;
    let data = &answer.json()["data"];
    let id = |at: usize| data["message"]["tool_calls"][at]["id"].clone();
    let block = |text: &str| json!({"type": "text", "text": text});
    let said = "SSN 536-22-8714";
    let body = json!({
        "conversation_id": data["conversation_id"],
        "tools": tools,
        "tool_results": [
            {"tool_call_id": id(0), "content": said},
            {"tool_call_id": id(1), "content": [block("so"), block(said)]},
        ],
    });
    let answer = world.gateway.chat(&organization.key, body).await;
    let error = expect(&answer, "PHI_BLOCKED", None);
    assert_eq!(
        error["details"]["locations"],
        json!(["tool_results[0].content", "tool_results[1].content[1]"])
    );
}

async fn tool_definitions_are_pointed_at_as_they_were_written(world: &World) {
    let organization = world.organization();
    let schema =
        json!({"type": "object", "properties": {"q": {"description": "like 536-22-8714"}}});
    let tool = json!({"name": "look", "input_schema": schema});
    let function = json!({"type": "function", "function": {"name": "look", "parameters": schema}});
    for (surface, tool, param) in [
        (
            Surface::Messages,
            tool,
            "tools[0]/input_schema/properties/q/description",
        ),
        (
            Surface::ChatCompletions,
            function,
            "tools[0]/function/parameters/properties/q/description",
        ),
    ] {
        let mut body = surface.question("alpha-haiku-4-5", &mark(), Form::Whole);
        body["tools"] = json!([tool]);
        let request = surface.request(&organization.key, &body);
        let answer = world.gateway.answer(&request).await;
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert_eq!(answer.json()["error"]["param"], param);
    }
}
