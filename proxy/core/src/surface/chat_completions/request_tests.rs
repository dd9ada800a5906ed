//! Every rule of the decoder with a body that it takes and one that it refuses.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::chat::{Document, Image, Media, Part, Role};
use crate::fault::Code;

/// A body that passes, with fields added or replaced.
fn body(fields: Value) -> Vec<u8> {
    let mut body = json!({
        "model": "beta-5.4",
        "messages": [{"role": "user", "content": "hi"}],
    });
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    body.to_string().into_bytes()
}

fn read(fields: Value) -> ChatRequest {
    placed(fields).chat
}

fn placed(fields: Value) -> Decoded {
    match decode(&body(fields)) {
        Ok(decoded) => decoded,
        Err(fault) => unreachable!("{} at {:?}", fault.code.word(), fault.param),
    }
}

fn refused(fields: Value) -> (Code, String) {
    let fault = decode(&body(fields)).err().unwrap();
    (fault.code, fault.param.unwrap_or_default())
}

fn problems(fields: Value) -> Vec<String> {
    let fault = decode(&body(fields)).err().unwrap();
    fault.details.keys().cloned().collect()
}

fn invalid_at(param: &str) -> (Code, String) {
    (Code::ValidationFailed, param.to_owned())
}

fn foreign_at(param: &str) -> (Code, String) {
    (Code::UnsupportedParameter, param.to_owned())
}

fn messages(messages: Value) -> Value {
    json!({ "messages": messages })
}

fn tool() -> Value {
    json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": true}}])
}

#[test]
fn the_smallest_body_is_read() {
    let chat = read(json!({}));
    assert!(!chat.stream && chat.max_tokens.is_none() && chat.ext.is_empty());
    assert!(chat.messages[0].content == [Part::text("hi")]);
    let fault = decode(b"{}").err().unwrap();
    assert_eq!(
        fault.details.keys().collect::<Vec<_>>(),
        ["model", "messages"]
    );
}

#[test]
fn limits_have_two_names_and_one_range() {
    assert_eq!(read(json!({"max_tokens": 32_000})).max_tokens, Some(32_000));
    assert_eq!(
        read(json!({"max_completion_tokens": 5})).max_tokens,
        Some(5)
    );
    assert_eq!(
        read(json!({"max_completion_tokens": 5, "max_tokens": 5})).max_tokens,
        Some(5)
    );
    assert_eq!(
        refused(json!({"max_tokens": 32_001})),
        invalid_at("max_tokens")
    );
    assert_eq!(
        refused(json!({"max_completion_tokens": 0})),
        invalid_at("max_completion_tokens")
    );
    let both = json!({"max_completion_tokens": 5, "max_tokens": 6});
    assert_eq!(refused(both), invalid_at("max_tokens"));
}

#[test]
fn inert_parameters_are_checked_and_forgotten() {
    let chat = read(json!({
        "top_p": 0.5, "n": 3, "frequency_penalty": -2, "presence_penalty": 2.0, "stop": ["a", "b"], "user": "u",
        "store": false, "metadata": {"a": "b"}, "logprobs": false, "safety_identifier": "s",
        "prompt_cache_key": "k", "service_tier": "auto", "modalities": ["text"], "logit_bias": {},
        "prompt_cache_options": {"mode": "explicit", "ttl": "30m"},
        "stream": true, "stream_options": {"include_usage": true},
    }));
    let plain = read(json!({"stream": true}));
    assert!(chat == plain, "nothing of it reaches the model");
    assert!(read(json!({"stop": "x"})).stop_sequences.is_empty());

    for (fields, param) in [
        (json!({"top_p": 1.5}), "top_p"),
        (
            json!({"prompt_cache_options": {"mode": "never"}}),
            "prompt_cache_options.mode",
        ),
        (json!({"n": 0}), "n"),
        (json!({"n": 129}), "n"),
        (json!({"frequency_penalty": "low"}), "frequency_penalty"),
        (json!({"presence_penalty": 2.1}), "presence_penalty"),
        (json!({"stop": ["a", "b", "c", "d", "e"]}), "stop"),
        (json!({"stop": [1]}), "stop"),
        (json!({"user": 1}), "user"),
        (json!({"metadata": {"a": 1}}), "metadata.a"),
        (
            json!({"stream_options": {"include_usage": 1}}),
            "stream_options.include_usage",
        ),
    ] {
        assert_eq!(refused(fields), invalid_at(param));
    }
}

#[test]
fn what_changes_the_meaning_is_refused_by_name() {
    for (name, value) in [
        ("store", json!(true)),
        ("logprobs", json!(true)),
        ("top_logprobs", json!(2)),
        ("logit_bias", json!({"50256": -100})),
        ("modalities", json!(["text", "audio"])),
        ("audio", json!({})),
        ("prediction", json!({})),
        ("functions", json!([])),
        ("function_call", json!("auto")),
        ("service_tier", json!("flex")),
        ("web_search_options", json!({})),
        ("conversation_id", json!("c")),
        ("anything_else", json!(1)),
    ] {
        assert_eq!(refused(json!({name: value})), foreign_at(name));
    }
    let options = json!({"stream_options": {"chunk": 1}});
    assert_eq!(refused(options), foreign_at("stream_options.chunk"));
}

#[test]
fn temperature_and_effort() {
    assert_eq!(
        read(json!({"temperature": 2})).sampling.temperature,
        Some(2.0)
    );
    assert_eq!(
        refused(json!({"temperature": 2.1})),
        invalid_at("temperature")
    );
    assert_eq!(
        read(json!({"reasoning_effort": "low"})).ext["must-effort"],
        "low"
    );
    assert_eq!(
        refused(json!({"reasoning_effort": "huge"})),
        invalid_at("reasoning_effort")
    );
}

#[test]
fn what_only_some_drivers_honour_travels_under_its_name() {
    let chat = read(json!({"seed": -7, "verbosity": "low"}));
    assert_eq!(
        (&chat.ext["must-seed"], &chat.ext["must-verbosity"]),
        (&json!(-7), &json!("low"))
    );
    assert_eq!(read(json!({"seed": 1.0})).ext["must-seed"], json!(1));
    for seed in [json!(1.5), json!("1"), json!(i64::MAX.unsigned_abs() + 1)] {
        assert_eq!(refused(json!({"seed": seed})), invalid_at("seed"));
    }
    assert_eq!(
        refused(json!({"verbosity": "loud"})),
        invalid_at("verbosity")
    );
}

#[test]
fn roles_are_the_specifications_four() {
    let chat = read(messages(json!([
        {"role": "system", "content": "a"},
        {"role": "user", "content": "q", "name": "ann"},
        {"role": "system", "content": [{"type": "text", "text": "b"}, {"type": "text", "text": ""}]},
    ])));
    assert!(chat.system == [Part::text("a"), Part::text("b")]);
    assert_eq!(chat.messages[0].name.as_deref(), Some("ann"));
    for role in ["developer", "function", ""] {
        let fields = messages(json!([{"role": role, "content": "a"}]));
        assert_eq!(refused(fields), invalid_at("messages[0].role"));
    }
}

#[test]
fn the_assistant_may_have_the_last_word() {
    for content in [json!("b"), json!(null)] {
        let chat = read(messages(json!([
            {"role": "user", "content": "a"}, {"role": "assistant", "content": content},
        ])));
        let roles: Vec<Role> = chat.messages.iter().map(|turn| turn.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant]);
    }
}

#[test]
fn a_system_prompt_may_stand_alone_and_nothing_may_not() {
    let chat = read(messages(json!([
        {"role": "system", "content": "a"},
        {"role": "system", "content": "b"},
    ])));
    assert!(chat.messages.is_empty() && chat.system == [Part::text("a"), Part::text("b")]);
    for content in ["", " "] {
        let silent = messages(json!([{"role": "system", "content": content}]));
        assert_eq!(refused(silent), invalid_at("messages"), "{content:?}");
    }
    assert_eq!(refused(messages(json!([]))), invalid_at("messages"));
    // Behind a system prompt the other rules stand.
    let dangling = messages(json!([
        {"role": "system", "content": "a"},
        {"role": "tool", "tool_call_id": "call_1", "content": "b"},
    ]));
    assert_eq!(refused(dangling), invalid_at("messages[1]"));
}

#[test]
fn content_is_required_where_there_is_nothing_else() {
    for role in ["system", "user"] {
        let fields = messages(json!([{"role": role, "content": null}]));
        assert_eq!(refused(fields), invalid_at("messages[0].content"));
    }
    let empty = messages(json!([{"role": "user", "content": ""}]));
    assert_eq!(refused(empty), invalid_at("messages[0].content"));
    let number = messages(json!([{"role": "user", "content": 7}]));
    assert_eq!(refused(number), invalid_at("messages[0].content"));
    let silent = read(messages(json!([
        {"role": "user", "content": "a"}, {"role": "assistant", "content": null}, {"role": "user", "content": "b"},
    ])));
    assert!(silent.messages[1].content.is_empty());
}

#[test]
fn what_cannot_be_read_is_one_problem() {
    for (item, at) in [
        (
            json!({"role": "developer", "content": "a"}),
            "messages[0].role",
        ),
        (json!({"role": "user"}), "messages[0].content"),
        (json!({"role": "user", "content": 7}), "messages[0].content"),
        (
            json!({"role": "user", "content": [{"type": "text", "text": 7}]}),
            "messages[0].content[0].text",
        ),
        (
            json!({"role": "tool", "content": "a"}),
            "messages[0].tool_call_id",
        ),
    ] {
        assert_eq!(problems(messages(json!([item]))), [at]);
    }
}

#[test]
fn a_tool_round_becomes_one_user_turn() {
    let chat = read(json!({"tools": tool(), "messages": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": null, "refusal": null, "annotations": [], "audio": null, "tool_calls": [
            {"id": "c1", "index": 0, "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}},
            {"id": "c2", "type": "function", "function": {"name": "f", "arguments": ""}},
        ]},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "x"}], "name": "f"},
        {"role": "user", "content": "and?"},
    ]}));
    let roles: Vec<Role> = chat.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User, Role::User]);
    let calls: Vec<&Value> = chat.messages[1]
        .content
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some(&call.arguments),
            _ => None,
        })
        .collect();
    assert_eq!(calls, [&json!({"a": 1}), &json!({})]);
    let results: Vec<(&str, usize)> = chat.messages[2]
        .content
        .iter()
        .filter_map(|part| match part {
            Part::ToolResult(result) => Some((result.call_id.as_str(), result.content.len())),
            _ => None,
        })
        .collect();
    assert_eq!(results, [("c2", 0), ("c1", 1)]);
    assert_eq!(chat.messages[2].name, None);
}

#[test]
fn broken_tool_rounds_are_refused() {
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let ask = json!({"role": "user", "content": "q"});
    let calling = json!({"role": "assistant", "tool_calls": [call]});
    assert_eq!(
        refused(messages(json!([ask, calling]))),
        invalid_at("messages[1]")
    );
    let stray = json!({"role": "tool", "tool_call_id": "c9", "content": "x"});
    assert_eq!(
        refused(messages(json!([ask, stray]))),
        invalid_at("messages[1]")
    );
    let nameless = json!({"role": "tool", "content": "x"});
    assert_eq!(
        refused(messages(json!([ask, nameless]))),
        invalid_at("messages[1].tool_call_id")
    );
    let mute = json!({"role": "tool", "tool_call_id": "c1"});
    assert_eq!(
        refused(messages(json!([ask, calling, mute]))),
        invalid_at("messages[2].content")
    );
    let misplaced = json!({"role": "user", "content": "q", "tool_calls": [call]});
    assert_eq!(
        refused(messages(json!([misplaced]))),
        invalid_at("messages[0].tool_calls")
    );
    let misplaced = json!({"role": "user", "content": "q", "tool_call_id": "c1"});
    assert_eq!(
        refused(messages(json!([misplaced]))),
        invalid_at("messages[0].tool_call_id")
    );
    let custom =
        json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {}}]});
    let at = "messages[1].tool_calls[0].type";
    assert_eq!(refused(messages(json!([ask, custom, ask]))), foreign_at(at));
}

/// A value takes many times the memory of its text.
#[test]
fn the_arguments_of_all_calls_hold_no_more_than_a_body_together() {
    let half = format!("{{\"a\":[{}0]}}", "0,".repeat(json::MAX_VALUES / 2));
    let calls = [half.as_str(), &half, "{\"b\":1}"];
    let asked = calls.iter().enumerate().flat_map(|(at, text)| {
        let id = format!("c{at}");
        let function = json!({"name": "f", "arguments": text});
        let call = json!({"id": id, "type": "function", "function": function});
        [
            json!({"role": "assistant", "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": id, "content": "no"}),
        ]
    });
    let first = json!({"role": "user", "content": "q"});
    let turns: Vec<Value> = std::iter::once(first).chain(asked).collect();
    let chat = read(messages(json!(turns)));
    let parts = chat.messages.iter().flat_map(|turn| &turn.content);
    let texts = parts.filter_map(|part| match part {
        Part::ToolCall(call) => Some(call.unparsed().map(str::len)),
        _ => None,
    });
    let texts: Vec<Option<usize>> = texts.collect();
    assert_eq!(texts, [None, Some(half.len()), None]);
}

#[test]
fn arguments_are_taken_as_the_model_wrote_them() {
    let arguments = |arguments: Value| {
        let function = json!({"name": "f", "arguments": arguments});
        let call = json!({"id": "c1", "type": "function", "function": function});
        messages(json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "no"},
        ]))
    };
    let read_as = |text: &str| {
        let chat = read(arguments(json!(text)));
        match &chat.messages[1].content[0] {
            Part::ToolCall(call) => call.arguments.clone(),
            _ => unreachable!("no call"),
        }
    };
    for text in ["", " ", "null", "{}"] {
        assert_eq!(read_as(text), json!({}), "{text:?}");
    }
    for text in ["{\"a\": \"x", "[1]", "\"x\"", "7", "nonsense"] {
        assert_eq!(read_as(text), json!({"INVALID_JSON": text}));
    }
    let deep = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
    assert_eq!(read_as(&deep).to_string(), deep);
    let at = "messages[1].tool_calls[0].function.arguments";
    for other in [json!({"a": 1}), json!(null)] {
        assert_eq!(refused(arguments(other)), invalid_at(at));
    }
}

#[test]
fn marks_of_the_formats_own_cache_are_checked_and_forgotten() {
    let marked = |mark: Value| {
        let part = json!({"type": "text", "text": "a", "prompt_cache_breakpoint": mark});
        messages(
            json!([{"role": "system", "content": [part]}, {"role": "user", "content": [part]}]),
        )
    };
    let chat = read(marked(json!({"mode": "explicit", "ttl": "12h"})));
    assert!(chat.system == [Part::text("a")] && chat.messages[0].content == [Part::text("a")]);
    let at = "messages[0].content[0].prompt_cache_breakpoint.mode";
    for mark in [json!({"mode": "implicit"}), json!({})] {
        assert_eq!(refused(marked(mark)), invalid_at(at));
    }
}

#[test]
fn refusals_are_text() {
    let chat = read(messages(json!([
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}], "refusal": "never"},
        {"role": "user", "content": "why?"},
    ])));
    assert!(chat.messages[1].content == [Part::text("no"), Part::text("never")]);
    // As a reply of this surface had it.
    let chat = read(messages(json!([
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "I cannot.", "refusal": "I cannot."},
        {"role": "user", "content": "why?"},
    ])));
    assert!(chat.messages[1].content == [Part::text("I cannot.")]);
}

#[test]
fn images_and_files_come_as_addresses_or_data() {
    let user = |part: Value| messages(json!([{"role": "user", "content": [part]}]));
    let image =
        |url: &str| user(json!({"type": "image_url", "image_url": {"url": url, "detail": "low"}}));
    let chat = read(image("data:image/PNG;base64,AQI="));
    assert!(matches!(&chat.messages[0].content[0],
        Part::Image(Image { media: Media::Inline { media_type, data }, .. }) if media_type == "image/png" && data[..] == [1, 2]));
    let chat = read(image("https://a.b/c.png"));
    assert!(matches!(
        &chat.messages[0].content[0],
        Part::Image(Image {
            media: Media::Url(_),
            detail: Some("low"),
            ..
        })
    ));
    let file =
        |data: &str| user(json!({"type": "file", "file": {"filename": "n", "file_data": data}}));
    let chat = read(file("data:text/plain;charset=utf-8;base64,aGk="));
    assert!(matches!(&chat.messages[0].content[0],
        Part::Document(Document { media: Media::Text(text), title: Some(_), .. }) if text == "hi"));
    let chat = read(file("data:application/pdf;base64,AQI="));
    assert!(matches!(
        &chat.messages[0].content[0],
        Part::Document(Document {
            media: Media::Inline { .. },
            ..
        })
    ));

    let at = "messages[0].content[0]";
    for url in [
        "data:image/png,AQI=",
        "data:;base64,AQI=",
        "data:image/png;base64,?",
        "ftp://a",
        "data:image/tiff;base64,AQI=",
    ] {
        assert_eq!(
            refused(image(url)),
            invalid_at(&format!("{at}.image_url.url")),
            "{url}"
        );
    }
    assert_eq!(
        refused(file("aGk=")),
        invalid_at(&format!("{at}.file.file_data"))
    );
    let kept = user(json!({"type": "file", "file": {"file_id": "file-1"}}));
    assert_eq!(refused(kept), foreign_at(&format!("{at}.file.file_id")));
    let audio = user(json!({"type": "input_audio", "input_audio": {}}));
    assert_eq!(refused(audio), foreign_at(&format!("{at}.type")));
}

#[test]
fn tools_and_choices() {
    let chat =
        read(json!({"tools": tool(), "tool_choice": "required", "parallel_tool_calls": false}));
    assert!(chat.tools[0].strict == Some(true) && chat.tool_choice == Some(ToolChoice::Required));
    assert_eq!(chat.parallel_tool_calls, Some(false));
    for bare in [
        json!({"name": "f"}),
        json!({"name": "f", "parameters": {}}),
        json!({"name": "f", "parameters": null}),
    ] {
        let tools = json!([{"type": "function", "function": bare}]);
        let schema = &read(json!({"tools": tools})).tools[0].input_schema;
        assert_eq!(*schema, json!({"type": "object"}));
    }
    for parameters in [json!({"properties": {}}), json!({"type": "array"})] {
        let function = json!({"name": "f", "parameters": parameters});
        let tools = json!([{"type": "function", "function": function}]);
        assert_eq!(
            refused(json!({"tools": tools})),
            invalid_at("tools[0].function.parameters.type")
        );
    }
    let named = json!({"type": "function", "function": {"name": "f"}});
    let chat = read(json!({"tools": tool(), "tool_choice": named}));
    assert!(chat.tool_choice == Some(ToolChoice::Named("f".into())));

    for (fields, param) in [
        (json!({"tool_choice": "auto"}), "tool_choice"),
        (
            json!({"tools": tool(), "tool_choice": "any"}),
            "tool_choice",
        ),
        (
            json!({"tools": tool(), "tool_choice": {"type": "function", "function": {"name": "g"}}}),
            "tool_choice.function.name",
        ),
        (
            json!({"tools": [{"type": "function"}]}),
            "tools[0].function",
        ),
        (
            json!({"tools": [{"type": "function", "function": {"name": "a b"}}]}),
            "tools[0].function.name",
        ),
        (
            json!({"tools": [tool()[0], tool()[0]]}),
            "tools[1].function.name",
        ),
        (json!({"tools": {}}), "tools"),
    ] {
        assert_eq!(refused(fields), invalid_at(param));
    }
    assert_eq!(
        refused(json!({"tools": [{"type": "custom"}]})),
        foreign_at("tools[0].type")
    );
    let allowed = json!({"tools": tool(), "tool_choice": {"type": "allowed_tools"}});
    assert_eq!(refused(allowed), foreign_at("tool_choice.type"));
}

#[test]
fn response_formats() {
    let format = |value: Value| json!({ "response_format": value });
    assert!(
        read(format(json!({"type": "text"})))
            .response_format
            .is_none()
    );
    let object = read(format(json!({"type": "json_object"})));
    assert!(object.response_format == Some(ResponseFormat::JsonObject));
    let schema =
        json!({"name": "n", "description": "d", "schema": {"type": "object"}, "strict": true});
    let chat = read(format(
        json!({"type": "json_schema", "json_schema": schema}),
    ));
    let expected = ResponseFormat::JsonSchema {
        name: Some("n".into()),
        schema: json!({"type": "object", "description": "d"}),
        strict: Some(true),
    };
    assert!(chat.response_format == Some(expected));

    for (value, param) in [
        (json!({"type": "xml"}), "response_format.type"),
        (
            json!({"type": "json_schema"}),
            "response_format.json_schema",
        ),
        (
            json!({"type": "json_schema", "json_schema": {"name": "n"}}),
            "response_format.json_schema.schema",
        ),
        (
            json!({"type": "json_schema", "json_schema": {"name": "a b", "schema": {}}}),
            "response_format.json_schema.name",
        ),
    ] {
        assert_eq!(refused(format(value)), invalid_at(param));
    }
}

#[test]
fn a_blank_turn_asks_nothing_and_a_blank_text_beside_others_stays() {
    for content in [
        json!(""),
        json!(" \n"),
        json!([{"type": "text", "text": "\t"}]),
    ] {
        let turn = messages(json!([{"role": "user", "content": content}]));
        assert_eq!(refused(turn), invalid_at("messages[0].content"));
    }
    let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "\n\n"}]);
    let chat = read(messages(json!([{"role": "user", "content": parts}])));
    assert_eq!(chat.messages[0].content.len(), 2);
}

#[test]
fn what_a_client_keeps_beside_a_reply_may_say_nothing_only() {
    let with = |kept: Value| {
        let reply = json!({"role": "assistant", "content": "b", "provider_specific_fields": kept});
        let [before, after] = ["a", "c"].map(|text| json!({"role": "user", "content": text}));
        messages(json!([before, reply, after]))
    };
    read(with(json!({"refusal": null})));
    let thought = json!([{"type": "thinking", "thinking": "so", "signature": "s"}]);
    read(with(
        json!({"citations": null, "thinking_blocks": thought, "reasoning_content": "so"}),
    ));
    let path = "messages[1].provider_specific_fields";
    assert_eq!(refused(with(json!({"refusal": "no"}))), foreign_at(path));
}

#[test]
fn reasoning_that_a_client_sends_back_is_left_out() {
    let reply = json!({"role": "assistant", "content": "b", "reasoning_content": "so", "thinking_blocks": []});
    let [before, after] = ["a", "c"].map(|text| json!({"role": "user", "content": text}));
    let chat = read(messages(json!([before, reply, after])));
    assert!(chat.messages[1].content == [Part::text("b")]);
}

#[test]
fn what_an_sdk_has_read_out_of_a_reply_is_left_out() {
    let function = json!({"name": "look", "arguments": "{\"a\": 1}", "parsed_arguments": {"a": 1}});
    let call = json!({"id": "c", "type": "function", "function": function});
    let reply =
        json!({"role": "assistant", "content": "b", "parsed": {"x": 1}, "tool_calls": [call]});
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "r"});
    let chat = read(messages(
        json!([{"role": "user", "content": "a"}, reply, result]),
    ));
    let said = &chat.messages[1].content;
    assert!(said[0] == Part::text("b") && matches!(&said[1], Part::ToolCall(_)) && said.len() == 2);
}

#[test]
fn fields_of_a_reply_may_stand_beside_each_of_its_texts() {
    let with = |part: Value| {
        let [before, after] = ["a", "c"].map(|text| json!({"role": "user", "content": text}));
        messages(json!([before, {"role": "assistant", "content": [part]}, after]))
    };
    let beside = |role: &str, annotations: Value| json!({"type": "text", "text": "b", "role": role, "refusal": null, "annotations": annotations, "logprobs": []});
    let chat = read(with(beside("assistant", json!([]))));
    assert!(chat.messages[1].content == [Part::text("b")]);
    let at = |field: &str| foreign_at(&format!("messages[1].content[0].{field}"));
    assert_eq!(refused(with(beside("user", json!([])))), at("role"));
    assert_eq!(
        refused(with(beside("assistant", json!([{}])))),
        at("annotations")
    );
}

#[test]
fn cache_marks_are_kept_wherever_clients_have_them() {
    let mark = json!({"type": "ephemeral"});
    let marked = |part: &Part| part.cache_mark() == Some(&mark);
    let mut tools = tool();
    tools[0]["cache_control"] = mark.clone();
    let call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let chat = read(json!({"tools": tools, "messages": [
        {"role": "system", "content": "s", "cache_control": mark},
        {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": mark}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "tool_calls": [call], "cache_control": mark},
        {"role": "tool", "tool_call_id": "a", "content": "r", "cache_control": mark},
    ]}));
    assert!(chat.system.iter().all(marked));
    assert_eq!(chat.tools[0].cache_mark.as_ref(), Some(&mark));
    let [question, call, result] = chat.messages.as_slice() else {
        unreachable!("{} turns", chat.messages.len())
    };
    let [first, second] = question.content.as_slice() else {
        unreachable!("{} parts", question.content.len())
    };
    assert!(marked(first) && !marked(second));
    assert!(call.content.iter().chain(&result.content).all(marked));
    let bad = json!({"messages": [{"role": "user", "content": "a", "cache_control": {"type": "for good"}}]});
    assert_eq!(refused(bad), invalid_at("messages[0].cache_control.type"));
}

/// A body in which nothing stands where it stands in the chat.
fn moved() -> Value {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}});
    let file = json!({"type": "file", "file": {"filename": "t", "file_data": "data:application/pdf;base64,AQI="}});
    json!({
        "messages": [
            {"role": "system", "content": "first"},
            {"role": "user", "name": "bob", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "q"}, file]},
            {"role": "system", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "then"}]},
            {"role": "assistant", "content": "a", "refusal": "no", "tool_calls": [call("a"), call("b")]},
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "two"}]},
            {"role": "user", "content": "so"},
        ],
        "tools": tool(),
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
        "reasoning_effort": "low",
        "seed": 7,
    })
}

#[test]
fn places_are_those_of_the_body() {
    let places = placed(moved()).places;
    for (place, named) in [
        ("system[0]", "messages[0].content"),
        ("system[1]", "messages[2].content[1]"),
        ("messages[0].name", "messages[1].name"),
        ("messages[0].content[0]", "messages[1].content[1]"),
        ("messages[0].content[1]", "messages[1].content[2]"),
        (
            "messages[0].content[1].title",
            "messages[1].content[2].file.filename",
        ),
        (
            "messages[0].content[1].media_type",
            "messages[1].content[2]",
        ),
        (
            "messages[0].content[1].media",
            "messages[1].content[2].file.file_data",
        ),
        ("messages[1].content[0]", "messages[3].content"),
        ("messages[1].content[1]", "messages[3].refusal"),
        ("messages[1].content[2].id", "messages[3].tool_calls[0].id"),
        (
            "messages[1].content[3].name",
            "messages[3].tool_calls[1].function.name",
        ),
        (
            "messages[1].content[3].arguments",
            "messages[3].tool_calls[1].function.arguments",
        ),
        ("messages[2].content[0].call_id", "messages[4].tool_call_id"),
        ("messages[2].content[0].content[0]", "messages[4].content"),
        (
            "messages[2].content[1].content[0]",
            "messages[5].content[1]",
        ),
        ("messages[3].content", "messages[6].content"),
        ("tools[0]/name", "tools[0]/function/name"),
        ("tools[0]/description", "tools[0]/function/description"),
        (
            "tools[0]/input_schema/properties/a.b/title",
            "tools[0]/function/parameters/properties/a.b/title",
        ),
        ("tools[0].description", "tools[0].function.description"),
        ("tools[0].strict", "tools[0].function.strict"),
        ("tools", "tools"),
        ("tool_choice", "tool_choice.function.name"),
        ("response_format.name", "response_format.json_schema.name"),
        (
            "response_format.strict",
            "response_format.json_schema.strict",
        ),
        (
            "response_format.schema",
            "response_format.json_schema.schema",
        ),
        ("ext.must-effort", "reasoning_effort"),
        ("effort", "reasoning_effort"),
        ("ext.must-seed", "seed"),
        ("must-verbosity", "verbosity"),
        ("parallel_tool_calls", "parallel_tool_calls"),
        ("max_output_tokens", "max_tokens"),
        ("stop_sequences", "stop"),
    ] {
        assert_eq!(places.name(place), named);
    }
    let newer = json!({"max_completion_tokens": 5, "tools": tool(), "tool_choice": "auto"});
    let places = placed(newer).places;
    assert_eq!(places.name("max_output_tokens"), "max_completion_tokens");
    assert_eq!(places.name("tool_choice"), "tool_choice");
    // A description became a part of the schema.
    let schema = json!({"name": "n", "description": "d", "schema": {"type": "object"}});
    let described = json!({"response_format": {"type": "json_schema", "json_schema": schema}});
    assert_eq!(
        placed(described).places.name("response_format.schema"),
        "response_format.json_schema"
    );
}
