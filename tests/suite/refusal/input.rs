//! Bodies that are not what they should be (contract 1.2).

use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::gateway::chat;
use svc_tests::wire::Request;
use svc_tests::world::World;

use super::{error_of, expect};
use crate::engines::on_sqlite;

on_sqlite! {
    what_is_not_one_clean_json_object_is_refused,
    wrong_types_are_named_one_by_one,
    what_is_wrong_many_times_is_listed_up_to_a_limit,
    unknown_fields_are_refused_by_name,
    other_media_types_are_refused,
    query_parameters_of_sdks_are_ignored_and_others_refused,
    tools_are_checked_to_the_bottom,
    tools_that_no_window_holds_are_refused,
    refusals_never_quote_the_body,
}

fn raw(key: &str, body: &[u8]) -> Request {
    Request::new("POST", "/v1/ai/chat")
        .bearer(key)
        .header("Content-Type", "application/json")
        .body(body)
}

async fn what_is_not_one_clean_json_object_is_refused(world: &World) {
    let organization = world.organization();
    let mark = mark();
    // The body, the array, the tool and the schema are four levels; `levels` are below them.
    let nested = |levels: usize| {
        let (open, close) = (r#"{"a":"#.repeat(levels), "}".repeat(levels));
        let schema = format!(r#"{{"type":"object","a":{open}1{close}}}"#);
        format!(r#"{{"message":"{mark}","tools":[{{"name":"t","input_schema":{schema}}}]}}"#)
    };
    let text = |body: &str| body.replace("MARK", &mark).into_bytes();
    let cases: Vec<Vec<u8>> = vec![
        text(""),
        text(" "),
        text("MARK"),
        text("null"),
        text("[]"),
        text("\"MARK\""),
        text("[{\"message\":\"MARK\"}]"),
        text("{\"message\":\"MARK\""),
        text("{\"message\":\"MARK\",}"),
        text("{'message':'MARK'}"),
        text("{\"message\":\"MARK\"} {}"),
        text("{\"message\":\"MARK\"}\0"),
        text("{\"message\":\"MARK\",\"message\":\"x\"}"),
        text("{\"message\":\"MARK\",\"m\\u0065ssage\":\"x\"}"),
        text(
            "{\"message\":\"MARK\",\"tools\":[{\"name\":\"t\",\"input_schema\":{\"a\":1,\"a\":2}}]}",
        ),
        text("{\"message\":\"MARK \\u0000\"}"),
        text("{\"message\":\"MARK \\ud800\"}"),
        text("{\"message\":\"MARK \\udc00\\ud800\"}"),
        text("{\"message\":\"MARK\",\"max_tokens\":1e999}"),
        text("{\"message\":\"MARK\nnew line\"}"),
        [text("{\"message\":\"MARK "), b"\xff\"}".to_vec()].concat(),
        [text("{\"message\":\"MARK "), b"\xed\xa0\x80\"}".to_vec()].concat(),
        [b"\xef\xbb\xbf".to_vec(), text("{\"message\":\"MARK\"}")].concat(),
        nested(61).into_bytes(),
        nested(5_000).into_bytes(),
        format!(
            r#"{{"message":"{mark}","tool_results":[{}0]}}"#,
            "0,".repeat(1_000_000)
        )
        .into_bytes(),
    ];
    for body in cases {
        let answer = world.gateway.answer(&raw(&organization.key, &body)).await;
        assert_eq!(
            answer.status,
            422,
            "{}: {}",
            String::from_utf8_lossy(&body),
            answer.text()
        );
        let error = expect(&answer, "VALIDATION_FAILED", Some("$body"));
        assert!(error["details"]["$body"][0].is_string(), "{error}");
    }
    assert!(world.fake.seen(&mark).await.is_empty());
    // Sixty-four levels pass.
    let deepest = nested(60).into_bytes();
    assert_eq!(
        world
            .gateway
            .answer(&raw(&organization.key, &deepest))
            .await
            .status,
        200
    );
}

async fn what_is_wrong_many_times_is_listed_up_to_a_limit(world: &World) {
    let organization = world.organization();
    let body = json!({"message": "x", "tool_results": vec![0; 3_000]});
    let answer = world.gateway.answer(&chat(&organization.key, body)).await;
    let error = expect(&answer, "VALIDATION_FAILED", Some("tool_results[0]"));
    let listed = error["details"].as_object().map(|details| details.len());
    assert_eq!(listed, Some(1_000));
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("3000 problems"), "{message}");
}

async fn wrong_types_are_named_one_by_one(world: &World) {
    let organization = world.organization();
    let cases: Vec<(Value, &[&str])> = vec![
        (json!({}), &["message"]),
        (json!({"message": ""}), &["message"]),
        (json!({"message": null}), &["message"]),
        (json!({"message": ["x"]}), &["message"]),
        (json!({"message": {"text": "x"}}), &["message"]),
        (json!({"message": "x", "model": 1}), &["model"]),
        (json!({"message": "x", "stream": "true"}), &["stream"]),
        (json!({"message": "x", "stream": 1}), &["stream"]),
        (json!({"message": "x", "store": "no"}), &["store"]),
        (json!({"message": "x", "system": ["x"]}), &["system"]),
        (json!({"message": "x", "max_tokens": 0}), &["max_tokens"]),
        (json!({"message": "x", "max_tokens": -1}), &["max_tokens"]),
        (json!({"message": "x", "max_tokens": 1.5}), &["max_tokens"]),
        (json!({"message": "x", "max_tokens": "10"}), &["max_tokens"]),
        (
            json!({"message": "x", "conversation_id": 7}),
            &["conversation_id"],
        ),
        (
            json!({"message": "x", "conversation_id": "conv_"}),
            &["conversation_id"],
        ),
        (
            json!({"message": "x", "conversation_id": "conv_01arz3ndektsv4rrffq69g5fav"}),
            &["conversation_id"],
        ),
        (
            json!({"message": "x", "conversation_id": "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV"}),
            &["conversation_id"],
        ),
        (json!({"message": "x", "tools": {}}), &["tools"]),
        (
            json!({"message": "x", "tool_results": "x"}),
            &["tool_results"],
        ),
        (
            json!({"message": 7, "stream": "yes", "max_tokens": 0}),
            &["message", "stream", "max_tokens"],
        ),
    ];
    for (body, params) in cases {
        let answer = world
            .gateway
            .answer(&chat(&organization.key, body.clone()))
            .await;
        assert_eq!(answer.status, 422, "{body}: {}", answer.text());
        let error = expect(&answer, "VALIDATION_FAILED", Some(params[0]));
        let named: Vec<&String> = error["details"].as_object().unwrap().keys().collect();
        assert_eq!(named, params, "{body}");
        assert!(
            error["details"]
                .as_object()
                .unwrap()
                .values()
                .all(|list| list[0].is_string()),
            "{error}"
        );
    }
}

async fn unknown_fields_are_refused_by_name(world: &World) {
    let organization = world.organization();
    let mark = mark();
    for field in [
        "temperature",
        "messages",
        "Message",
        "phi_mode",
        "metadata",
        "stop",
    ] {
        let mut body = json!({"message": mark});
        body[field] = json!("x");
        let answer = world.gateway.answer(&chat(&organization.key, body)).await;
        assert_eq!(answer.status, 400);
        expect(&answer, "UNSUPPORTED_PARAMETER", Some(field));
    }
    let schema = json!({"type": "object"});
    for (field, value, param) in [
        (
            "tools",
            json!([{"name": "a", "input_schema": schema, "extra": 1}]),
            "tools[0].extra",
        ),
        (
            "tools",
            json!([{"name": "a", "input_schema": schema, "extra": null}]),
            "tools[0].extra",
        ),
        (
            "tools",
            json!([{"type": "web_search", "name": "a"}]),
            "tools[0].type",
        ),
        (
            "tool_choice",
            json!({"type": "auto", "extra": 1}),
            "tool_choice.extra",
        ),
        (
            "tool_results",
            json!([{"tool_call_id": "c", "content": [{"type": "text", "text": "x", "extra": 1}]}]),
            "tool_results[0].content[0].extra",
        ),
    ] {
        let mut body = json!({"message": mark});
        body[field] = value;
        let answer = world.gateway.answer(&chat(&organization.key, body)).await;
        assert_eq!(answer.status, 400, "{param}: {}", answer.text());
        expect(&answer, "UNSUPPORTED_PARAMETER", Some(param));
    }
    assert!(world.fake.seen(&mark).await.is_empty());
}

async fn other_media_types_are_refused(world: &World) {
    let organization = world.organization();
    let (refused, accepted) = (mark(), mark());
    let request = |body: &str, media_type: Option<&str>| {
        let request = Request::new("POST", "/v1/ai/chat")
            .bearer(&organization.key)
            .body(body.as_bytes());
        media_type.map_or(request.clone(), |media_type| {
            request.header("Content-Type", media_type)
        })
    };
    let body = format!(r#"{{"message":"{refused}","stream":false}}"#);
    for media_type in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data"),
        Some("application/jsonx"),
        Some("text/json"),
        Some(""),
    ] {
        let answer = world.gateway.answer(&request(&body, media_type)).await;
        assert_eq!(answer.status, 422, "{media_type:?}");
        expect(&answer, "VALIDATION_FAILED", Some("$header.Content-Type"));
    }
    // Whoever says two things has said neither; on the control plane too.
    for media_types in [
        ["application/json", "text/plain"],
        ["text/plain", "application/json"],
    ] {
        let [first, second] = media_types;
        for path in ["/v1/ai/chat", "/v1/agents"] {
            let twice = Request::new("POST", path).bearer(&organization.key);
            let twice = twice.header("Content-Type", first);
            let twice = twice.header("Content-Type", second).body(body.as_bytes());
            let answer = world.gateway.answer(&twice).await;
            assert_eq!(answer.status, 422, "{media_types:?} to {path}");
            expect(&answer, "VALIDATION_FAILED", Some("$header.Content-Type"));
        }
    }
    assert!(world.fake.seen(&refused).await.is_empty());
    let body = format!(r#"{{"message":"{accepted}","stream":false}}"#);
    for media_type in [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/json;charset=UTF-8",
    ] {
        let answer = world
            .gateway
            .answer(&request(&body, Some(media_type)))
            .await;
        assert_eq!(answer.status, 200, "{media_type}");
    }
}

async fn query_parameters_of_sdks_are_ignored_and_others_refused(world: &World) {
    let organization = world.organization();
    let body = json!({"message": mark(), "stream": false});
    let request = Request::new("POST", "/v1/ai/chat?beta=true&x")
        .bearer(&organization.key)
        .json(&body);
    let answer = world.gateway.answer(&request).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let id = answer.json()["data"]["message"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let request =
        Request::new("GET", &format!("/v1/ai/messages/{id}?expand=all")).bearer(&organization.key);
    let answer = world.gateway.answer(&request).await;
    assert_eq!(answer.status, 422, "{}", answer.text());
    expect(&answer, "VALIDATION_FAILED", Some("$query.expand"));
}

async fn tools_are_checked_to_the_bottom(world: &World) {
    let organization = world.organization();
    let schema = json!({"type": "object"});
    let cases = [
        (json!([{}]), "tools[0].name"),
        (json!([7]), "tools[0]"),
        (
            json!([{"name": "a b", "input_schema": schema}]),
            "tools[0].name",
        ),
        (
            json!([{"name": "", "input_schema": schema}]),
            "tools[0].name",
        ),
        (
            json!([{"name": "a".repeat(129), "input_schema": schema}]),
            "tools[0].name",
        ),
        (json!([{"name": "a"}]), "tools[0].input_schema"),
        (
            json!([{"name": "a", "input_schema": []}]),
            "tools[0].input_schema",
        ),
        (
            json!([{"name": "a", "input_schema": schema}, {"name": "a", "input_schema": schema}]),
            "tools[1].name",
        ),
    ];
    for (tools, param) in cases {
        let answer = world
            .gateway
            .answer(&chat(
                &organization.key,
                json!({"message": "x", "tools": tools}),
            ))
            .await;
        assert_eq!(answer.status, 422, "{tools}: {}", answer.text());
        expect(&answer, "VALIDATION_FAILED", Some(param));
    }
    let tools = json!([{"name": "a", "input_schema": schema}]);
    let choices = [
        (json!({"type": "tool", "name": "b"}), "tool_choice.name"),
        (json!({"type": "tool"}), "tool_choice.name"),
        (json!({"type": "maybe"}), "tool_choice.type"),
        (json!("auto"), "tool_choice"),
    ];
    for (choice, param) in choices {
        let body = json!({"message": "x", "tools": tools, "tool_choice": choice});
        let answer = world.gateway.answer(&chat(&organization.key, body)).await;
        expect(&answer, "VALIDATION_FAILED", Some(param));
    }
    let answer = world
        .gateway
        .answer(&chat(
            &organization.key,
            json!({"message": "x", "tool_choice": {"type": "auto"}}),
        ))
        .await;
    expect(&answer, "VALIDATION_FAILED", Some("tool_choice"));
}

/// Definitions are read by the model as the rest of the prompt is.
async fn tools_that_no_window_holds_are_refused(world: &World) {
    let organization = world.organization();
    let mark = mark();
    // Of 200,000 tokens, which no more than six bytes of text make.
    let words = "marsupial ".repeat(120_001);
    let schema = json!({"type": "object", "properties": {"a": {"description": words}}});
    let tools = json!([{"name": "look", "input_schema": schema}]);
    let body = json!({"message": mark, "model": "alpha-haiku-4-5", "tools": tools});
    let answer = world.gateway.chat(&organization.key, body).await;
    assert_eq!(answer.status, 422);
    expect(&answer, "VALIDATION_FAILED", Some("tools"));
    assert!(world.fake.seen(&mark).await.is_empty());
}

/// A value in a body may be PHI (contract 1.3).
async fn refusals_never_quote_the_body(world: &World) {
    let organization = world.organization();
    let secret = "536-22-8714";
    let bodies = [
        format!(r#"{{"message": {secret}}}"#),
        format!(r#"{{"message":"x","model":"{secret}"}}"#),
        format!(r#"{{"message":"x","conversation_id":"{secret}"}}"#),
        format!(r#"{{"message":"x","stream":"{secret}"}}"#),
        format!(r#"{{"message":"x","tools":[{{"name":"{secret} ","input_schema":{{}}}}]}}"#),
        format!(r#"{{"message":"x","tools":[],"tool_choice":{{"type":"{secret}"}}}}"#),
        format!(
            r#"{{"message":"x","conversation_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","tool_results":[{{"tool_call_id":"{secret}"}}]}}"#
        ),
    ];
    for body in bodies {
        let answer = world
            .gateway
            .answer(&raw(&organization.key, body.as_bytes()))
            .await;
        assert!(
            (400..500).contains(&answer.status),
            "{body}: {}",
            answer.text()
        );
        error_of(&answer);
        let head = format!("{:?}", answer.headers);
        // Four digits alone stand in times and ids by chance.
        assert!(
            !answer.text().contains("22-8714") && !head.contains("22-8714"),
            "{body}: {}",
            answer.text()
        );
    }
}
