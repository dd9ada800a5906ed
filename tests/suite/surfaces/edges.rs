//! What clients send and models say now and then: requests that are odd and legal, and replies that end in odd places.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use svc_tests::fake::mark;
use svc_tests::surfaces::{End, FORMS, Form, Heard, MODELS, SURFACES, Surface};
use svc_tests::wire::Answer;
use svc_tests::world::World;

use super::ask;
use crate::engines::{on_sqlite, on_worlds_of_their_own};

on_sqlite! {
    a_reply_cut_inside_a_call_is_a_reply_cut_short,
    a_cut_call_is_not_stored,
    a_whole_call_stays_whatever_word_ends_the_reply,
    arguments_that_say_nothing_are_an_empty_object,
    arguments_that_are_no_object_are_the_providers_failure,
    arguments_that_are_no_object_are_shown_where_they_are_text,
    arguments_that_are_no_object_go_back_to_the_model,
    the_assistant_may_speak_first,
    another_agents_words_may_be_the_last,
    a_turn_of_nothing_asks_nothing,
    a_prompt_that_is_too_long_is_called_so,
    thinking_of_another_account_is_called_so,
    a_system_prompt_may_ask_by_itself,
    what_a_provider_does_not_take_has_the_callers_name,
    one_call_id_may_stand_in_two_turns,
    text_documents_of_any_type_are_read,
    tool_names_of_the_history_are_checked,
    cache_marks_reach_kind_a_from_every_block,
    images_by_address_reach_the_provider,
    a_stop_sequence_comes_back_as_it_was_given,
    signed_reasoning_goes_back_as_the_provider_wrote_it,
    thousands_of_parallel_calls_go_through,
}

// What the provider received is asked for by many tests: these bodies would be in each answer.
on_worlds_of_their_own! { the_largest_body_goes_through }

fn hear(surface: Surface, form: Form, answer: &Answer) -> Heard {
    match form {
        Form::Streamed => surface.heard(answer),
        Form::Whole => surface.read(answer),
    }
}

/// A tool of the surface.
fn tools(surface: Surface) -> Value {
    let schema = json!({"type": "object"});
    match surface {
        Surface::Native | Surface::Messages => json!([{"name": "look", "input_schema": schema}]),
        Surface::ChatCompletions => {
            json!([{"type": "function", "function": {"name": "look", "parameters": schema}}])
        }
    }
}

/// A body of two calls `look`, whose results follow.
fn two_calls(model: &str, ids: [&str; 2]) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "so"})];
    for id in ids {
        messages.push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "look", "input": {}}]}));
        messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": id}]}));
    }
    json!({"model": model, "max_tokens": 64, "messages": messages, "tools": tools(Surface::Messages)})
}

async fn a_reply_cut_inside_a_call_is_a_reply_cut_short(world: &World) {
    let organization = world.organization();
    for (kind, model) in MODELS {
        for surface in SURFACES {
            // In the midst of its arguments, and in front of them.
            for (form, begun) in FORMS
                .into_iter()
                .flat_map(|form| [(form, "{\"path\": \"notes/2"), (form, "")])
            {
                let mark = mark();
                let (reason, told) = match (kind, surface) {
                    ("A", Surface::Messages) => ("max_tokens", "max_tokens"),
                    ("A", _) => ("max_tokens", "length"),
                    (_, Surface::Messages) => ("length", "max_tokens"),
                    _ => ("length", "length"),
                };
                let calls = json!([
                    {"name": "look", "input": {"whole": true}},
                    {"name": "look", "input": begun},
                ]);
                let order = json!({"contains": mark, "text": "Well, ", "tools": calls, "stop_reason": reason});
                world.fake.expect(order).await;
                let mut body = surface.question(model, &mark, form);
                body["tools"] = tools(surface);
                let answer = ask(world, &organization.key, surface, &body).await;
                let case = format!("{kind} {surface:?} {form:?}: {}", answer.text());
                assert_eq!(answer.status, 200, "{case}");
                match form {
                    Form::Whole => {
                        let heard = surface.read(&answer);
                        assert_eq!(heard.finish, told, "{case}");
                        assert_eq!(heard.calls.len(), 1, "{case}");
                    }
                    Form::Streamed => {
                        assert!(answer.text().contains(&format!("\"{told}\"")), "{case}");
                        assert!(answer.text().contains("Well, "), "{case}");
                        // The native surface shows whole calls; elsewhere both have begun.
                        let shown = if surface == Surface::Native { 1 } else { 2 };
                        assert_eq!(answer.text().matches("\"look\"").count(), shown, "{case}");
                        assert!(!answer.text().contains("\"{}\""), "{case}");
                    }
                }
            }
        }
    }
}

/// The conversation goes on with the result of the one call that was whole.
async fn a_cut_call_is_not_stored(world: &World) {
    let organization = world.organization();
    let surface = Surface::Native;
    for (model, reason) in [(MODELS[0].1, "max_tokens"), (MODELS[1].1, "length")] {
        for begun in ["{\"path\": \"notes/2", ""] {
            let mark = mark();
            let calls = json!([{"name": "look"}, {"name": "look", "input": begun}]);
            let order = json!({"contains": mark, "tools": calls, "stop_reason": reason});
            world.fake.expect(order).await;
            let mut body = surface.question(model, &mark, Form::Whole);
            body["tools"] = tools(surface);
            let answer = ask(world, &organization.key, surface, &body).await;
            let heard = surface.read(&answer);
            assert_eq!(heard.calls.len(), 1, "{}", answer.text());
            let result = json!({"tool_call_id": heard.calls[0].0, "content": "found"});
            let body = json!({
                "model": model, "stream": false, "tools": tools(surface), "tool_results": [result],
                "conversation_id": answer.json()["data"]["conversation_id"],
            });
            let answer = ask(world, &organization.key, surface, &body).await;
            assert_eq!(answer.status, 200, "{begun:?}: {}", answer.text());
        }
    }
}

/// Only a limit can have cut what kind A gives as an object.
async fn a_whole_call_stays_whatever_word_ends_the_reply(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[0];
    for word in ["refusal", "something_new"] {
        for surface in SURFACES {
            for form in FORMS {
                let mark = mark();
                let calls = json!([{"name": "look", "input": {"whole": true}}]);
                let order = json!({"contains": mark, "tools": calls, "stop_reason": word});
                world.fake.expect(order).await;
                let mut body = surface.question(model, &mark, form);
                body["tools"] = tools(surface);
                let answer = ask(world, &organization.key, surface, &body).await;
                let heard = hear(surface, form, &answer);
                let calls: Vec<&Value> = heard.calls.iter().map(|call| &call.2).collect();
                let expected = json!({"whole": true});
                assert_eq!(calls, [&expected], "{word} {surface:?} {form:?}");
            }
        }
    }
}

async fn arguments_that_say_nothing_are_an_empty_object(world: &World) {
    let organization = world.organization();
    let nothing = [json!({}), json!(""), json!("null"), json!(" "), json!("\n")];
    for (kind, model) in MODELS {
        for surface in SURFACES {
            for (form, input) in FORMS
                .into_iter()
                .flat_map(|form| nothing.iter().map(move |input| (form, input)))
            {
                let mark = mark();
                let order = json!({"contains": mark, "tools": [{"name": "look", "input": input}]});
                world.fake.expect(order).await;
                let mut body = surface.question(model, &mark, form);
                body["tools"] = tools(surface);
                let answer = ask(world, &organization.key, surface, &body).await;
                let case = format!("{kind} {surface:?} {form:?} {input}");
                assert_eq!(answer.status, 200, "{case}: {}", answer.text());
                // Clients parse what came: another text than an object's fails here.
                let heard = hear(surface, form, &answer);
                let calls: Vec<&Value> = heard.calls.iter().map(|call| &call.2).collect();
                assert_eq!(calls, [&json!({})], "{case}");
            }
        }
    }
}

/// Where they are an object nobody can run such a call, and without its arguments it would be another one.
async fn arguments_that_are_no_object_are_the_providers_failure(world: &World) {
    let organization = world.organization();
    for (kind, model) in MODELS {
        for surface in [Surface::Native, Surface::Messages] {
            for input in [json!(["x"]), json!(7)] {
                let mark = mark();
                let order = json!({"contains": mark, "tools": [{"name": "look", "input": input}]});
                world.fake.expect(order).await;
                let mut body = surface.question(model, &mark, Form::Whole);
                body["tools"] = tools(surface);
                let answer = ask(world, &organization.key, surface, &body).await;
                let case = format!("{kind} {surface:?} {input}: {}", answer.text());
                assert_eq!(answer.status, 502, "{case}");
                let code = surface.code(&answer.json());
                assert_eq!(code, "INFERENCE_UPSTREAM_FAILURE", "{case}");
            }
        }
    }
}

async fn arguments_that_are_no_object_are_shown_where_they_are_text(world: &World) {
    let organization = world.organization();
    let surface = Surface::ChatCompletions;
    let cut = "{\"path\": \"notes/2";
    for (kind, model) in MODELS {
        for (input, written) in [
            (json!(["x"]), "[\"x\"]"),
            (json!(7), "7"),
            (json!(cut), cut),
        ] {
            // A whole answer of kind A is JSON all through.
            let forms = if kind == "A" && input.is_string() {
                &FORMS[..1]
            } else {
                &FORMS[..]
            };
            for form in forms {
                let mark = mark();
                let order = json!({"contains": mark, "tools": [{"name": "look", "input": input}]});
                world.fake.expect(order).await;
                let mut body = surface.question(model, &mark, *form);
                body["tools"] = tools(surface);
                let answer = ask(world, &organization.key, surface, &body).await;
                let case = format!("{kind} {form:?} {input}: {}", answer.text());
                assert_eq!(answer.status, 200, "{case}");
                match form {
                    Form::Whole => {
                        let choice = &answer.json()["choices"][0];
                        let function = &choice["message"]["tool_calls"][0]["function"];
                        assert_eq!(function["arguments"], written, "{case}");
                        assert_eq!(choice["finish_reason"], "tool_calls", "{case}");
                    }
                    Form::Streamed => {
                        assert!(answer.text().ends_with("data: [DONE]\n\n"), "{case}");
                    }
                }
            }
        }
    }
}

/// PHI Guard reads them first.
async fn arguments_that_are_no_object_go_back_to_the_model(world: &World) {
    let organization = world.organization();
    for (kind, model) in MODELS {
        for (written, sent) in [
            ("{\"path\": \"notes/2", "{\"path\": \"notes/2"),
            ("[1]", "[1]"),
            (
                "{\"ssn\": \"536-90-4399\", \"ok\": ",
                "{\"ssn\": \"[SSN_1]\", \"ok\": ",
            ),
        ] {
            let mark = mark();
            let function = json!({"name": "look", "arguments": written});
            let call = json!({"id": "c", "type": "function", "function": function});
            let body = json!({"model": model, "tools": tools(Surface::ChatCompletions), "messages": [
                {"role": "user", "content": "so"},
                {"role": "assistant", "content": null, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": mark},
            ]});
            let answer = ask(world, &organization.key, Surface::ChatCompletions, &body).await;
            assert_eq!(answer.status, 200, "{kind} {written}: {}", answer.text());
            let seen = world.fake.seen(&mark).await;
            let turn = &seen[0]["body"]["messages"][1];
            if kind == "A" {
                let input = &turn["content"][0]["input"];
                assert_eq!(*input, json!({"INVALID_JSON": sent}));
            } else {
                let function = &turn["tool_calls"][0]["function"];
                assert_eq!(function["arguments"], sent);
            }
        }
    }
}

async fn the_assistant_may_speak_first(world: &World) {
    let organization = world.organization();
    for (_, model) in MODELS {
        for surface in [Surface::Messages, Surface::ChatCompletions] {
            let mark = mark();
            let body = json!({"model": model, "max_tokens": 64, "messages": [
                {"role": "assistant", "content": "Hello, what can I do?"},
                {"role": "user", "content": mark},
            ]});
            let answer = ask(world, &organization.key, surface, &body).await;
            assert_eq!(surface.read(&answer).text, format!("You said: {mark}"));
        }
    }
}

/// As graphs of agents send it. To go on with words of its own is another thing, which no model here does.
async fn another_agents_words_may_be_the_last(world: &World) {
    let organization = world.organization();
    for (kind, model) in MODELS {
        for surface in [Surface::Messages, Surface::ChatCompletions] {
            let mark = mark();
            let mut body = surface.question(model, "Draft a line.", Form::Whole);
            let turn = json!({"role": "assistant", "content": mark});
            body["messages"].as_array_mut().unwrap().push(turn);
            let answer = ask(world, &organization.key, surface, &body).await;
            if (surface, kind) == (Surface::ChatCompletions, "B") {
                assert_eq!(answer.status, 200, "{}", answer.text());
                let sent = world.fake.received(&mark).await["body"]["messages"].clone();
                let last = json!({"role": "assistant", "content": mark});
                assert_eq!(sent.as_array().unwrap().last(), Some(&last));
                continue;
            }
            let error = answer.json();
            assert_eq!(
                (answer.status, surface.code(&error)),
                (400, "UNSUPPORTED_PARAMETER".to_owned()),
                "{error}"
            );
            assert_eq!(error["error"]["param"], "messages[1]");
            assert!(world.fake.seen(&mark).await.is_empty());
        }
    }
}

async fn a_turn_of_nothing_asks_nothing(world: &World) {
    let organization = world.organization();
    for (_, model) in MODELS {
        let surface = Surface::ChatCompletions;
        let mut body = surface.question(model, "", Form::Whole);
        body["messages"] = json!([{"role": "assistant", "content": null}]);
        let answer = ask(world, &organization.key, surface, &body).await;
        assert_eq!(surface.code(&answer.json()), "VALIDATION_FAILED");
    }
}

/// Client libraries go over to a larger window where they read these words.
async fn a_prompt_that_is_too_long_is_called_so(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[0];
    let overlong = "so ".repeat(420_000);
    let (mine, theirs) = (mark(), mark());
    let said = "prompt is too long: 210000 tokens > 200000 maximum";
    let refusal = json!({"contains": theirs, "status": 400, "error_message": said, "times": 2});
    world.fake.expect(refusal).await;
    for surface in [Surface::Messages, Surface::ChatCompletions] {
        for (words, code) in [
            (format!("{mine} {overlong}"), "VALIDATION_FAILED"),
            (theirs.clone(), "INFERENCE_UPSTREAM_FAILURE"),
        ] {
            let body = surface.question(model, &words, Form::Whole);
            let answer = ask(world, &organization.key, surface, &body).await;
            let said = answer.text();
            assert_eq!(surface.code(&answer.json()), code, "{said}");
            assert!(said.contains("prompt is too long"), "{said}");
        }
    }
    assert!(world.fake.seen(&mine).await.is_empty());
}

/// Coding agents take the thinking out of their history where they read these words, and ask again.
async fn thinking_of_another_account_is_called_so(world: &World) {
    let organization = world.organization();
    let (mark, model) = (mark(), MODELS[0].1);
    let said = "messages.1.content.0: Invalid `signature` in `thinking` block";
    let refusal = json!({"contains": mark, "status": 400, "error_message": said});
    world.fake.expect(refusal).await;
    let surface = Surface::Messages;
    let mut body = surface.question(model, &mark, Form::Whole);
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "EqQB"});
    body["messages"] = json!([
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "t"}]},
        {"role": "user", "content": mark},
    ]);
    let answer = ask(world, &organization.key, surface, &body).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    let error = &answer.json()["error"];
    assert_eq!(error["code"], "UNSUPPORTED_PARAMETER");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("signature in thinking block"), "{message}");
}

async fn a_system_prompt_may_ask_by_itself(world: &World) {
    let organization = world.organization();
    let surface = Surface::ChatCompletions;
    for (kind, model) in MODELS {
        for form in FORMS {
            let mark = mark();
            let mut body = surface.question(model, "", form);
            body["messages"] = json!([{"role": "system", "content": mark}]);
            let answer = ask(world, &organization.key, surface, &body).await;
            let heard = hear(surface, form, &answer);
            assert_eq!(heard.end, Some(End::Well), "{kind} {form:?}");
            let seen = world.fake.seen(&mark).await;
            let sent = seen[0]["body"]["messages"].as_array().unwrap();
            // Kind A wants a user in front.
            let role = if kind == "A" { "user" } else { "system" };
            assert_eq!((sent.len(), &sent[0]["role"]), (1, &json!(role)));
        }
    }
}

/// Refused before anything is sent, by the place in the body.
async fn what_a_provider_does_not_take_has_the_callers_name(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[1];
    let source = json!({"type": "url", "url": "https://a.example/a.pdf"});
    let content = json!([{"type": "text", "text": "so"}, {"type": "document", "source": source}]);
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let tool = json!({"name": "look", "strict": true, "input_schema": open});
    let function = json!({"name": "look", "strict": true, "parameters": open});
    let many: Vec<Value> = (0..129)
        .map(|at| json!({"name": format!("look_{at}"), "input_schema": open}))
        .collect();
    for (surface, field, value, param) in [
        (
            Surface::Messages,
            "messages",
            json!([{"role": "user", "content": content}]),
            "messages[0].content[1].source",
        ),
        (Surface::Messages, "tools", json!([tool]), "tools[0].strict"),
        (
            Surface::ChatCompletions,
            "tools",
            json!([{"type": "function", "function": function}]),
            "tools[0].function.strict",
        ),
        (Surface::Messages, "tools", json!(many), "tools"),
    ] {
        for form in FORMS {
            let mut body = surface.question(model, "so", form);
            body[field] = value.clone();
            let answer = ask(world, &organization.key, surface, &body).await;
            let error = answer.json();
            assert_eq!(
                (
                    answer.status,
                    surface.code(&error),
                    &error["error"]["param"]
                ),
                (400, "UNSUPPORTED_PARAMETER".to_owned(), &json!(param)),
                "{error}"
            );
        }
    }
}

async fn one_call_id_may_stand_in_two_turns(world: &World) {
    let organization = world.organization();
    for (kind, model) in MODELS {
        let mark = mark();
        let mut body = two_calls(model, ["call_0", "call_0"]);
        body["messages"][4]["content"][0]["content"] = json!(mark);
        let answer = ask(world, &organization.key, Surface::Messages, &body).await;
        assert_eq!(answer.status, 200, "{kind}: {}", answer.text());
        let sent = &world.fake.seen(&mark).await[0]["body"]["messages"];
        if kind == "A" {
            let id = |at: usize, name: &str| sent[at]["content"][0][name].clone();
            assert_eq!(
                (id(1, "id"), id(2, "tool_use_id")),
                (json!("call_0"), json!("call_0"))
            );
            assert_ne!(id(3, "id"), json!("call_0"));
            assert_eq!(id(3, "id"), id(4, "tool_use_id"));
        }
    }
}

async fn text_documents_of_any_type_are_read(world: &World) {
    let organization = world.organization();
    for (kind, model) in MODELS {
        for media_type in ["text/csv", "text/markdown"] {
            let mark = mark();
            let data = STANDARD.encode(format!("a,b\n1,{mark}\n"));
            let document = json!({"type": "document", "source": {"type": "base64", "media_type": media_type, "data": data}});
            let file = json!({"type": "file", "file": {"filename": "a", "file_data": format!("data:{media_type};base64,{data}")}});
            for (surface, part) in [
                (Surface::Messages, document),
                (Surface::ChatCompletions, file),
            ] {
                let body = json!({"model": model, "max_tokens": 64, "messages": [{"role": "user", "content": [part, {"type": "text", "text": mark}]}]});
                let answer = ask(world, &organization.key, surface, &body).await;
                assert_eq!(answer.status, 200, "{kind} {media_type}: {}", answer.text());
            }
            for sent in world.fake.seen(&mark).await {
                assert!(
                    sent["body"].to_string().contains(&format!("1,{mark}")),
                    "{sent}"
                );
            }
        }
    }
}

async fn tool_names_of_the_history_are_checked(world: &World) {
    let organization = world.organization();
    for (_, model) in MODELS {
        let mut body = two_calls(model, ["c1", "c2"]);
        body["messages"][3]["content"][0]["name"] = json!("look up");
        let answer = ask(world, &organization.key, Surface::Messages, &body).await;
        let error = answer.json();
        assert_eq!(
            (answer.status, Surface::Messages.code(&error)),
            (422, "VALIDATION_FAILED".to_owned())
        );
        assert_eq!(error["error"]["param"], "messages[3].content[0].name");
        let call =
            json!({"id": "c", "type": "function", "function": {"name": "a.b", "arguments": "{}"}});
        let body = json!({"model": model, "messages": [
            {"role": "user", "content": "so"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "x"},
        ]});
        let answer = ask(world, &organization.key, Surface::ChatCompletions, &body).await;
        let error = answer.json();
        let param = "messages[1].tool_calls[0].function.name";
        assert_eq!(
            (answer.status, &error["error"]["param"]),
            (400, &json!(param))
        );
        // The shape has no details, so the message says them.
        let message = error["error"]["message"].as_str().unwrap();
        assert!(
            message.contains(&format!("{param} must be 1 to 64")),
            "{message}"
        );
    }
}

async fn cache_marks_reach_kind_a_from_every_block(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[0];
    let mark = mark();
    let cache = json!({"type": "ephemeral"});
    let mut body = two_calls(model, ["c1", "c2"]);
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AQID"}, "cache_control": cache});
    body["messages"][0]["content"] = json!([image, {"type": "text", "text": "so"}]);
    body["messages"][1]["content"][0]["cache_control"] = cache.clone();
    body["messages"][4]["content"][0]["content"] = json!([{"type": "text", "text": mark}]);
    body["cache_control"] = cache.clone();
    let answer = ask(world, &organization.key, Surface::Messages, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let sent = &world.fake.seen(&mark).await[0]["body"]["messages"];
    for place in ["/0/content/0", "/1/content/0", "/4/content/0"] {
        assert_eq!(
            sent.pointer(place).unwrap()["cache_control"],
            cache,
            "{place}: {sent}"
        );
    }
}

async fn images_by_address_reach_the_provider(world: &World) {
    let organization = world.organization();
    let addresses = [
        "https://upload.example.org/wikipedia/commons/thumb/d/dd/Gfp-wisconsin-madison-the-nature-boardwalk.jpg/2560px-Gfp-wisconsin-madison-the-nature-boardwalk.jpg",
        "https://assets.example.com/m/1cd9d098ac3e6467/original/Claude-3-Model-Card-October-Addendum.pdf",
        "https://example.com/2026/11/20/Golden_Gate_Bridge_San_Francisco.jpg",
        "https://cdn.example.net/uploads/7d0ad8f0-8c1f-4b8b-9d9d-0d6a2f3c4e5b/original.png?width=640&height=480&fit=crop",
        "https://my-bucket.s3.us-east-1.amazonaws.com/images/scan.png?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20261120%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20261120T101112Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=733255ef022bec3f2a8701cd61d4b371f3f28c9f193a1f02279211d48d5193d7",
        "https://storage.example.com/bucket/cat.jpeg?X-Goog-Credential=reader%40project.iam.gserviceaccount.com%2F20261120%2Fus-central1%2Fstorage%2Fgoog4_request&X-Goog-Date=20261120T181309Z",
        "http://203.0.113.7:8080/image.png",
        "https://storage.example.com/v0/b/app.appspot.com/o/photos%2FIMG_4821.jpeg?alt=media&token=0b4a1c62-3e1a-4f7e-9f0e-1a2b3c4d5e6f",
    ];
    for (kind, model) in MODELS {
        for address in addresses {
            let mark = mark();
            let image = json!({"type": "image", "source": {"type": "url", "url": address}});
            let part =
                json!({"type": "image_url", "image_url": {"url": address, "detail": "high"}});
            for (surface, part) in [(Surface::Messages, image), (Surface::ChatCompletions, part)] {
                let body = json!({"model": model, "max_tokens": 64, "messages": [{"role": "user", "content": [{"type": "text", "text": mark}, part]}]});
                let answer = ask(world, &organization.key, surface, &body).await;
                assert_eq!(answer.status, 200, "{kind} {address}: {}", answer.text());
            }
            let seen = world.fake.seen(&mark).await;
            assert!(
                seen.iter()
                    .all(|sent| sent["body"].to_string().contains(address)),
                "{seen:?}"
            );
            if kind == "B" {
                assert!(
                    seen[1]["body"].to_string().contains("\"detail\":\"high\""),
                    "{seen:?}"
                );
            }
        }
        // What stands in an address cannot be replaced there.
        for address in [
            "https://a.example/scans/Harold_Whitfield/ct.png",
            "https://a.example/scans/harold-whitfield.png",
            "https://a.example/scans/John-Smith.png",
            "https://a.example/x.png?ssn=536-22-1234",
            "https://a.example/Whitfield.png",
        ] {
            let image = json!({"type": "image", "source": {"type": "url", "url": address}});
            let body = json!({"model": model, "max_tokens": 64, "messages": [{"role": "user", "content": [{"type": "text", "text": "Patient Harold Whitfield."}, image]}]});
            let answer = ask(world, &organization.key, Surface::Messages, &body).await;
            let error = answer.json();
            assert_eq!(
                (answer.status, &error["error"]["code"]),
                (403, &json!("PHI_BLOCKED")),
                "{address}: {error}"
            );
            let locations = error["error"]["details"]["locations"].as_array().unwrap();
            assert!(
                locations.contains(&json!("messages[0].content[1]")),
                "{error}"
            );
        }
    }
}

async fn a_stop_sequence_comes_back_as_it_was_given(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[0];
    let stop = "Harold Whitfield";
    for form in FORMS {
        let surface = Surface::Messages;
        let mut body =
            surface.question(model, &format!("Patient {stop} was seen. {}", mark()), form);
        body["stop_sequences"] = json!([stop]);
        let answer = ask(world, &organization.key, surface, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let told = format!("\"stop_sequence\":\"{stop}\"");
        assert!(answer.text().contains(&told), "{}", answer.text());
    }
}

/// Its words come to the caller without new values and with their own; the provider gets back what it signed.
async fn signed_reasoning_goes_back_as_the_provider_wrote_it(world: &World) {
    let organization = world.organization();
    let (_, model) = MODELS[0];
    let surface = Surface::Messages;
    let name = "Harold Whitfield";
    let thoughts = [
        ("Plain words of no interest.", "Plain words of no interest."),
        (
            "Born on 04/12/1961, so 65 now.",
            "Born on [DATE_1], so 65 now.",
        ),
        (
            "[NAME_1] asks for advice.",
            "Harold Whitfield asks for advice.",
        ),
        (
            "[NAME_1] was seen on 04/12/1961.",
            "Harold Whitfield was seen on [DATE_1].",
        ),
    ];
    for (thought, shown) in thoughts {
        for form in FORMS {
            let mark = mark();
            let order = json!({"contains": mark, "thinking": thought, "tools": [{"name": "look", "input": {}}]});
            world.fake.expect(order).await;
            let question = json!({"role": "user", "content": format!("Patient {name} has a question. {mark}")});
            let mut body = surface.question(model, "", form);
            body["max_tokens"] = json!(2_048);
            body["thinking"] = json!({"type": "enabled", "budget_tokens": 1_024});
            body["tools"] = tools(surface);
            body["messages"] = json!([question]);
            let answer = ask(world, &organization.key, surface, &body).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let (text, signature) = thinking(form, &answer);
            assert_eq!(text, shown, "{form:?}");
            let id = world.fake.seen(&mark).await.len();
            assert_eq!(id, 1);
            // Another name in front gives the first one another number, should it be read anew.
            body["stream"] = json!(false);
            body["system"] = json!("Report to Dr. Beatrice Langley.");
            body["messages"] = json!([
                question,
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": text, "signature": signature},
                    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
                ]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": mark}]},
            ]);
            // The fake refuses reasoning that is not what it signed.
            let answer = ask(world, &organization.key, surface, &body).await;
            assert_eq!(answer.status, 200, "{thought}: {}", answer.text());
            let seen = world.fake.seen(&mark).await;
            let sent = &seen.last().unwrap()["body"]["messages"][1]["content"][0];
            assert_eq!(sent["thinking"], thought);
            if thought != shown {
                // Nobody else's signature opens, and a broken one does not.
                let foreign = world.organization();
                // Where it stands is told as the caller counts.
                let system = json!({"role": "system", "content": "Brief."});
                body["messages"].as_array_mut().unwrap().insert(0, system);
                let answer = ask(world, &foreign.key, surface, &body).await;
                assert_eq!(answer.status, 400, "{}", answer.text());
                let error = answer.json()["error"].take();
                assert_eq!(error["code"], "UNSUPPORTED_PARAMETER", "{error}");
                assert_eq!(error["param"], "messages[2].content[0].signature");
            }
        }
    }
}

/// The text and the signature of the thinking in an answer of the messages surface.
fn thinking(form: Form, answer: &Answer) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if form == Form::Whole {
        let block = &answer.json()["content"][0];
        return (text(&block["thinking"]), text(&block["signature"]));
    }
    let (mut thought, mut signature) = (String::new(), String::new());
    for line in answer.text().lines() {
        let Some(data) = line.strip_prefix("data: ") else {
            continue;
        };
        let data: Value = serde_json::from_str(data).unwrap();
        thought.push_str(&text(&data["delta"]["thinking"]));
        signature.push_str(&text(&data["delta"]["signature"]));
    }
    (thought, signature)
}

async fn the_largest_body_goes_through(world: &World) {
    let organization = world.organization();
    // 31 MiB of base64: just below the limit of a body (contract 1.2).
    let data = STANDARD.encode(vec![7_u8; 31 * 1024 * 1024 / 4 * 3]);
    for (kind, model) in MODELS {
        let document = json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}});
        let file = json!({"type": "file", "file": {"filename": "a.pdf", "file_data": format!("data:application/pdf;base64,{data}")}});
        for (surface, part) in [
            (Surface::Messages, document),
            (Surface::ChatCompletions, file),
        ] {
            let body = json!({"model": model, "max_tokens": 64, "messages": [{"role": "user", "content": [part, {"type": "text", "text": "so"}]}]});
            let answer = ask(world, &organization.key, surface, &body).await;
            assert_eq!(answer.status, 200, "{kind} {surface:?}: {}", answer.text());
            assert_eq!(hear(surface, Form::Whole, &answer).end, Some(End::Well));
        }
    }
}

async fn thousands_of_parallel_calls_go_through(world: &World) {
    let organization = world.organization();
    for (kind, model) in MODELS {
        let ids = 0..4_000;
        let calls: Vec<Value> = ids
            .clone()
            .map(|id| json!({"type": "tool_use", "id": format!("c{id}"), "name": "look", "input": {}}))
            .collect();
        let results: Vec<Value> = ids
            .rev()
            .map(|id| json!({"type": "tool_result", "tool_use_id": format!("c{id}"), "content": "x"}))
            .collect();
        let body = json!({"model": model, "max_tokens": 64, "tools": tools(Surface::Messages), "messages": [
            {"role": "user", "content": "so"},
            {"role": "assistant", "content": calls},
            {"role": "user", "content": results},
        ]});
        let answer = ask(world, &organization.key, Surface::Messages, &body).await;
        assert_eq!(answer.status, 200, "{kind}: {}", answer.text());
    }
}
