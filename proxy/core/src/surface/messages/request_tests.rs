//! Every rule of the decoder with a body that it takes and one that it refuses.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use crate::chat::{self, Image, Media, ToolChoice};

/// A body that passes, with fields added or replaced.
fn body(fields: Value) -> Vec<u8> {
    let mut body = json!({
        "model": "alpha-haiku-4-5",
        "max_tokens": 2_000,
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
    match decode(&body(fields), WireVersion::Classic) {
        Ok(decoded) => decoded,
        Err(fault) => unreachable!("{} at {:?}", fault.code.word(), fault.param),
    }
}

fn refused(fields: Value) -> (Code, String) {
    let fault = decode(&body(fields), WireVersion::Classic).err().unwrap();
    (fault.code, fault.param.unwrap_or_default())
}

fn problems(fields: Value) -> Vec<String> {
    let fault = decode(&body(fields), WireVersion::Classic).err().unwrap();
    fault.details.keys().cloned().collect()
}

fn invalid_at(param: &str) -> (Code, String) {
    (Code::ValidationFailed, param.to_owned())
}

fn foreign_at(param: &str) -> (Code, String) {
    (Code::UnsupportedParameter, param.to_owned())
}

fn user(content: Value) -> Value {
    json!({"messages": [{"role": "user", "content": content}]})
}

fn tool() -> Value {
    json!([{"name": "f", "input_schema": {"type": "object"}}])
}

#[test]
fn the_smallest_body_is_read() {
    let chat = read(json!({}));
    assert_eq!(chat.model, "alpha-haiku-4-5");
    assert_eq!(chat.max_tokens, Some(2_000));
    assert!(!chat.stream && chat.ext.is_empty() && chat.system.is_empty());
    assert!(chat.messages[0].content == [Part::text("hi")]);
}

#[test]
fn what_is_required_is_missed_together() {
    let fault = decode(b"{}", WireVersion::Classic).err().unwrap();
    let missing: Vec<&String> = fault.details.keys().collect();
    assert_eq!(missing, ["max_tokens", "model", "messages"]);
    assert_eq!(refused(json!({"max_tokens": 0})), invalid_at("max_tokens"));
    assert_eq!(refused(json!({"messages": []})), invalid_at("messages"));
}

#[test]
fn foreign_fields_are_refused_by_name_at_any_depth() {
    for name in ["store", "container", "mcp_servers", "seed"] {
        assert_eq!(refused(json!({name: true})), foreign_at(name));
    }
    let nested = json!({"messages": [{"role": "user", "content": "hi", "name": "bob"}]});
    assert_eq!(refused(nested), foreign_at("messages[0].name"));
    let block = user(json!([{"type": "text", "text": "a", "tint": 1}]));
    assert_eq!(refused(block), foreign_at("messages[0].content[0].tint"));
    // By name comes before whatever else is wrong.
    assert_eq!(
        refused(json!({"max_tokens": "many", "store": true})),
        foreign_at("store")
    );
}

#[test]
fn an_edit_of_the_history_that_changes_nothing_passes() {
    let managed = |edits: Value| json!({"context_management": {"edits": edits}});
    let all = json!({"type": "clear_thinking_20251015", "keep": "all"});
    assert!(read(managed(json!([]))).ext.is_empty());
    assert!(read(managed(json!([all]))).ext.is_empty());
    assert!(read(json!({"context_management": {}})).ext.is_empty());
    for other in [
        json!({"type": "clear_thinking_20251015"}),
        json!({"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}}),
        json!({"type": "clear_tool_uses_20250919"}),
    ] {
        assert_eq!(
            refused(managed(json!([all, other]))),
            foreign_at("context_management.edits[1]")
        );
    }
    assert_eq!(
        refused(json!({"context_management": {"compact": true}})),
        foreign_at("context_management.compact")
    );
    assert_eq!(
        refused(json!({"context_management": true})),
        invalid_at("context_management")
    );
}

#[test]
fn replies_come_back_with_all_their_nulls() {
    let reply = json!([{"type": "text", "text": "a", "citations": null, "parsed_output": null}]);
    let chat = read(json!({"messages": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": reply, "stop_reason": null},
        {"role": "user", "content": "r"},
    ]}));
    assert_eq!(chat.messages.len(), 3);
}

#[test]
fn a_thread_is_refused_in_the_words_that_let_the_sdk_repeat() {
    let fault = decode(br#"{"thread":{"type":"create"}}"#, WireVersion::Classic);
    let fault = fault.err().unwrap();
    assert_eq!(
        (fault.code, fault.param.as_deref()),
        (Code::UnsupportedParameter, Some("thread"))
    );
    assert_eq!(
        fault.details_value(),
        json!({"error_code": "thread_unsupported_request", "unsupported": ["thread"]})
    );
    assert!(read(json!({"thread": null})).ext.is_empty());
}

#[test]
fn versions_are_dates_and_the_newer_ones_have_no_sampling() {
    let version = |value| WireVersion::of_header(value).ok();
    assert_eq!(version(None), Some(WireVersion::Classic));
    assert_eq!(version(Some("2023-06-01")), Some(WireVersion::Classic));
    assert_eq!(
        version(Some("2026-10-21")),
        Some(WireVersion::WithoutSampling)
    );
    assert_eq!(
        version(Some("2027-01-01")),
        Some(WireVersion::WithoutSampling)
    );
    for bad in ["", "latest", "2026-1-1", "20261021xx"] {
        assert_eq!(version(Some(bad)), None, "{bad}");
    }

    let asked = json!({"temperature": 1.0, "top_p": 0.5, "top_k": 3});
    let sampling = read(asked.clone()).sampling;
    assert_eq!(
        (sampling.temperature, sampling.top_p, sampling.top_k),
        (Some(1.0), Some(0.5), Some(3))
    );
    let fault = decode(&body(asked), WireVersion::WithoutSampling)
        .err()
        .unwrap();
    assert_eq!(fault.param.as_deref(), Some("temperature"));
    assert_eq!(
        refused(json!({"temperature": 1.1})),
        invalid_at("temperature")
    );
    assert_eq!(refused(json!({"top_p": -0.1})), invalid_at("top_p"));
}

#[test]
fn systems_join_in_order_wherever_they_stand() {
    let chat = read(json!({
        "system": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}, {"type": "text", "text": ""}],
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "system", "content": "b"},
        ],
    }));
    let marked = Part::Text {
        text: "a".into(),
        cache_mark: Some(json!({"type": "ephemeral", "ttl": "1h"})),
    };
    assert!(chat.system == [marked, Part::text("b")]);
    assert_eq!(chat.messages.len(), 1);
    let image = json!([{"type": "image", "source": {"type": "url", "url": "https://a.b/c.png"}}]);
    assert_eq!(refused(json!({"system": image})), invalid_at("system"));
    assert_eq!(refused(json!({"system": 1})), invalid_at("system"));
}

#[test]
fn every_block_has_its_place() {
    let chat = read(json!({"tools": tool(), "messages": [
        {"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AQI="}},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}, "title": "t", "citations": {"enabled": false}},
            {"type": "text", "text": ""},
            {"type": "text", "text": "look", "citations": []},
        ]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "text", "text": "let me"},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}, "caller": {"type": "direct"}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "no"}]},
    ]}));
    assert_eq!(
        chat.messages
            .iter()
            .map(|message| message.content.len())
            .collect::<Vec<_>>(),
        [3, 4, 1]
    );
    assert!(
        matches!(&chat.messages[0].content[0], Part::Image(Image { media: Media::Inline { data, .. }, .. }) if data[..] == [1, 2])
    );

    let assistant = |block: Value| {
        json!({"messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [block]},
            {"role": "user", "content": "r"},
        ]})
    };
    let result = json!({"type": "tool_result", "tool_use_id": "t"});
    assert_eq!(
        refused(assistant(result)),
        invalid_at("messages[1].content")
    );
    let thinking = json!([{"type": "thinking", "thinking": "x", "signature": "s"}]);
    assert_eq!(refused(user(thinking)), invalid_at("messages[0].content"));
    let document = json!({"type": "document", "source": {"type": "text", "data": "d"}});
    assert!(!read(assistant(document.clone())).messages.is_empty());
    assert!(decode(&body(assistant(document)), WireVersion::WithoutSampling).is_err());
}

#[test]
fn blocks_that_nothing_here_can_honour_are_foreign() {
    for (block, param) in [
        (json!({"type": "server_tool_use"}), "type"),
        (
            json!({"type": "image", "source": {"type": "file", "file_id": "f"}}),
            "source.type",
        ),
        (
            json!({"type": "text", "text": "a", "citations": [{}]}),
            "citations",
        ),
        (
            json!({"type": "document", "source": {"type": "text", "data": "d"}, "citations": {"enabled": true}}),
            "citations",
        ),
    ] {
        let at = format!("messages[0].content[0].{param}");
        assert_eq!(refused(user(json!([block]))), foreign_at(&at));
    }
    for (field, value) in [
        ("type", json!("web_search_20250305")),
        ("defer_loading", json!(true)),
    ] {
        let mut tools = tool();
        tools[0][field] = value;
        assert_eq!(
            refused(json!({"tools": tools})),
            foreign_at(&format!("tools[0].{field}"))
        );
    }
    let mut tools = tool();
    tools[0]["type"] = json!("custom");
    tools[0]["defer_loading"] = json!(false);
    tools[0]["eager_input_streaming"] = json!(true);
    assert_eq!(read(json!({"tools": tools})).tools.len(), 1);
    assert!(read(json!({"speed": "standard"})) == read(json!({})));
    assert_eq!(refused(json!({"speed": "fast"})), foreign_at("speed"));
}

#[test]
fn examples_of_a_tools_arguments_are_kept() {
    let mut tools = tool();
    tools[0]["input_examples"] = json!([{"a": 1}, {}]);
    let chat = read(json!({"tools": tools}));
    assert_eq!(chat.tools[0].input_examples, Some(json!([{"a": 1}, {}])));
    tools[0]["input_examples"] = json!([]);
    assert_eq!(read(json!({"tools": tools})).tools[0].input_examples, None);
    tools[0]["input_examples"] = json!([{}, "a"]);
    assert_eq!(
        refused(json!({"tools": tools})),
        invalid_at("tools[0].input_examples[1]")
    );
}

#[test]
fn a_document_in_blocks_is_their_text() {
    let document = |content: Value| {
        let source = json!({"type": "content", "content": content});
        user(json!([{"type": "document", "title": "t", "source": source}]))
    };
    for (content, words) in [
        (json!("a"), "a"),
        (
            json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
            "a\nb",
        ),
    ] {
        let chat = read(document(content));
        assert!(matches!(&chat.messages[0].content[0],
            Part::Document(chat::Document { media: Media::Text(text), .. }) if text == words));
    }
    let at = "messages[0].content[0].source.content";
    let image = json!({"type": "image", "source": {"type": "url", "url": "https://a.b/c.png"}});
    assert_eq!(
        refused(document(json!([image]))),
        foreign_at(&format!("{at}[0]"))
    );
    assert_eq!(refused(document(Value::Null)), invalid_at(at));
}

#[test]
fn media_are_checked() {
    let source = |source: Value| user(json!([{"type": "image", "source": source}]));
    let at = "messages[0].content[0].source";
    let tiff = json!({"type": "base64", "media_type": "image/tiff", "data": "AQI="});
    assert_eq!(refused(source(tiff)), invalid_at(at));
    let broken = json!({"type": "base64", "media_type": "image/png", "data": "A"});
    assert_eq!(refused(source(broken)), invalid_at(&format!("{at}.data")));
    let local = json!({"type": "url", "url": "file:///etc/passwd"});
    assert_eq!(refused(source(local)), invalid_at(&format!("{at}.url")));
    assert_eq!(
        refused(source(json!({"type": "text", "data": "x"}))),
        invalid_at(at)
    );
}

#[test]
fn empty_turns_are_refused_or_kept_for_the_driver() {
    assert_eq!(refused(user(json!(""))), invalid_at("messages[0].content"));
    assert_eq!(
        refused(user(Value::Null)),
        invalid_at("messages[0].content")
    );
    let chat = read(json!({"messages": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": "b"},
    ]}));
    assert!(chat.messages[1].content.is_empty());
}

#[test]
fn roles_and_the_last_turn_are_checked() {
    let last = |role: &str| json!({"messages": [{"role": "user", "content": "a"}, {"role": role, "content": "b"}]});
    assert_eq!(refused(last("tool")), invalid_at("messages[1].role"));
    assert_eq!(refused(last("assistant")), foreign_at("messages[1]"));
    assert_eq!(read(last("user")).messages.len(), 2);
}

#[test]
fn dangling_tool_calls_are_refused() {
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]});
    let ask = json!({"role": "user", "content": "q"});
    assert_eq!(
        refused(json!({"messages": [ask, call]})),
        invalid_at("messages[1]")
    );
    assert_eq!(
        refused(json!({"messages": [ask, call, ask]})),
        invalid_at("messages[1]")
    );
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2"}]});
    assert_eq!(
        refused(json!({"messages": [ask, result]})),
        invalid_at("messages[1]")
    );
}

#[test]
fn tool_choice_needs_tools_and_carries_parallelism() {
    let choice = json!({"type": "any", "disable_parallel_tool_use": true});
    let chat = read(json!({"tools": tool(), "tool_choice": choice}));
    assert!(
        chat.tool_choice == Some(ToolChoice::Required) && chat.parallel_tool_calls == Some(false)
    );
    assert_eq!(
        refused(json!({"tool_choice": {"type": "auto"}})),
        invalid_at("tool_choice")
    );
    let unknown = json!({"tools": tool(), "tool_choice": {"type": "tool", "name": "g"}});
    assert_eq!(refused(unknown), invalid_at("tool_choice.name"));
}

#[test]
fn thinking_is_a_budget_or_travels_whole() {
    let enabled = json!({"thinking": {"type": "enabled", "budget_tokens": 1_024}});
    let chat = read(enabled);
    assert!(chat.reasoning_tokens == Some(1_024) && chat.ext.is_empty());
    let disabled = json!({"type": "disabled"});
    let chat = read(json!({"thinking": disabled}));
    assert_eq!(
        (chat.reasoning_tokens, &chat.ext["thinking"]),
        (None, &disabled)
    );
    let adaptive = json!({"type": "adaptive", "display": "omitted"});
    let chat = read(json!({"thinking": adaptive}));
    assert_eq!(
        (chat.reasoning_tokens, &chat.ext["must-thinking"]),
        (None, &adaptive)
    );

    for (thinking, param) in [
        (json!({"type": "enabled"}), "thinking.budget_tokens"),
        (
            json!({"type": "enabled", "budget_tokens": 1_023}),
            "thinking.budget_tokens",
        ),
        (
            json!({"type": "enabled", "budget_tokens": 2_000}),
            "thinking.budget_tokens",
        ),
        (json!({"type": "long"}), "thinking.type"),
        (json!({}), "thinking.type"),
        (json!("on"), "thinking"),
    ] {
        assert_eq!(refused(json!({"thinking": thinking})), invalid_at(param));
    }
    let elsewhere = json!({"thinking": {"type": "between_tools"}});
    assert_eq!(refused(elsewhere), foreign_at("thinking.type"));
    let extra = json!({"thinking": {"type": "disabled", "budget_tokens": 1_024}});
    assert_eq!(refused(extra), foreign_at("thinking.budget_tokens"));
}

#[test]
fn output_formats_and_effort() {
    let format = json!({"type": "json_schema", "schema": {"type": "object"}});
    let chat = read(json!({"output_config": {"format": format, "effort": "high"}}));
    assert!(matches!(
        &chat.response_format,
        Some(ResponseFormat::JsonSchema {
            name: None,
            strict: None,
            ..
        })
    ));
    let asked = |schema: Value| {
        let chat =
            read(json!({"output_config": {"format": {"type": "json_schema", "schema": schema}}}));
        match chat.response_format {
            Some(ResponseFormat::JsonSchema { strict, .. }) => strict,
            _ => None,
        }
    };
    let inner = json!({"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"], "additionalProperties": false});
    let outer = |inner: &Value, required: Value| {
        json!({"type": "object", "properties": {"a": {"type": "array", "items": inner}},
            "required": required, "additionalProperties": false})
    };
    assert_eq!(asked(outer(&inner, json!(["a"]))), Some(true));
    assert_eq!(asked(outer(&inner, json!([]))), None);
    assert_eq!(asked(outer(&json!({"type": "object"}), json!(["a"]))), None);
    assert_eq!(chat.ext["must-effort"], "high");
    assert!(
        read(json!({"output_format": format}))
            .response_format
            .is_some()
    );

    let both = json!({"output_format": format, "output_config": {"format": format}});
    assert_eq!(refused(both), invalid_at("output_format"));
    let config = |config: Value| json!({"output_config": config});
    assert_eq!(
        refused(config(json!({"effort": "huge"}))),
        invalid_at("output_config.effort")
    );
    assert_eq!(
        refused(config(json!({"task_budget": {}}))),
        foreign_at("output_config.task_budget")
    );
    let kind = json!({"format": {"type": "json_object"}});
    assert_eq!(refused(config(kind)).0, Code::ValidationFailed);
}

#[test]
fn stops_metadata_and_tiers() {
    let chat = read(json!({
        "stop_sequences": ["END", "\n\nHuman:"], "metadata": {"user_id": "u-1"},
        "service_tier": "standard_only", "inference_geo": "us", "stream": true,
    }));
    assert_eq!(chat.stop_sequences, ["END", "\n\nHuman:"]);
    assert_eq!(chat.metadata["user_id"], "u-1");
    assert_eq!(chat.ext["must-service_tier"], "standard_only");
    assert_eq!(chat.ext["must-inference_geo"], "us");
    assert!(chat.stream);
    assert!(
        read(json!({"service_tier": "auto", "metadata": {"user_id": null}}))
            .ext
            .is_empty()
    );

    assert_eq!(
        refused(json!({"stop_sequences": ["a", " "]})),
        invalid_at("stop_sequences[1]")
    );
    assert_eq!(
        refused(json!({"stop_sequences": "END"})),
        invalid_at("stop_sequences")
    );
    assert_eq!(
        refused(json!({"metadata": {"trace": "x"}})),
        foreign_at("metadata.trace")
    );
    assert_eq!(
        refused(json!({"metadata": {"user_id": 7}})),
        invalid_at("metadata.user_id")
    );
    assert_eq!(
        refused(json!({"service_tier": "priority"})),
        invalid_at("service_tier")
    );
    assert_eq!(refused(json!({"stream": "yes"})), invalid_at("stream"));
}

#[test]
fn cache_marks_keep_their_form() {
    let mark = json!({"type": "ephemeral"});
    let marked = read(json!({
        "messages": [
            {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://a.b/c"}, "cache_control": mark}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}, "cache_control": mark}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "x", "cache_control": mark}]}]},
        ],
        "cache_control": mark,
    }));
    let last = |at: usize| marked.messages[at].content.last().unwrap();
    for at in 0..3 {
        assert_eq!(last(at).cache_mark(), Some(&mark));
    }
    assert!(
        matches!(last(2), Part::ToolResult(result) if result.content[0].cache_mark() == Some(&mark))
    );
    let chat = read(json!({"cache_control": {"type": "ephemeral"}}));
    assert!(matches!(
        &chat.messages[0].content[0],
        Part::Text {
            cache_mark: Some(_),
            ..
        }
    ));
    for bad in [
        json!({"type": "eternal"}),
        json!({"type": "ephemeral", "ttl": "2h"}),
        json!({}),
    ] {
        assert_eq!(
            refused(json!({"cache_control": bad})).0,
            Code::ValidationFailed
        );
    }
    let noted = user(
        json!([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "note": "x"}}]),
    );
    assert_eq!(
        refused(noted),
        foreign_at("messages[0].content[0].cache_control.note")
    );
}

#[test]
fn counting_takes_the_prompt_and_nothing_else() {
    let counted = json!({
        "model": "beta-5.4", "system": "s", "tools": tool(), "tool_choice": {"type": "auto"},
        "thinking": {"type": "enabled", "budget_tokens": 9_000},
        "messages": [{"role": "user", "content": "hi"}],
    });
    let chat = decode_count(counted.to_string().as_bytes(), WireVersion::Classic);
    let chat = chat.ok().unwrap().chat;
    assert!(chat.max_tokens.is_none() && chat.tools.len() == 1 && chat.system.len() == 1);
    // What was said so far may be counted before anybody goes on.
    let said = json!([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]);
    let ended = json!({"model": "m", "messages": said});
    assert!(decode_count(ended.to_string().as_bytes(), WireVersion::Classic).is_ok());
    let fault = decode_count(&body(json!({})), WireVersion::Classic)
        .err()
        .unwrap();
    assert_eq!(fault.param.as_deref(), Some("max_tokens"));
    assert_eq!(super::super::token_count(7), json!({"input_tokens": 7}));
}

#[test]
fn a_blank_turn_asks_nothing() {
    for content in [
        json!(""),
        json!("\n"),
        json!([{"type": "text", "text": " "}]),
    ] {
        assert_eq!(refused(user(content)), invalid_at("messages[0].content"));
    }
}

#[test]
fn what_cannot_be_read_is_one_problem() {
    for (item, at) in [
        (json!({"role": "tool", "content": "a"}), "messages[0].role"),
        (json!({"role": "user"}), "messages[0].content"),
        (json!({"role": "user", "content": 7}), "messages[0].content"),
        (
            json!({"role": "user", "content": [{"type": "text", "text": 7}]}),
            "messages[0].content[0].text",
        ),
        (
            json!({"role": "user", "content": [{"type": "tool_result"}]}),
            "messages[0].content[0].tool_use_id",
        ),
    ] {
        assert_eq!(problems(json!({"messages": [item]})), [at]);
    }
}

/// A body in which nothing stands where it stands in the chat.
fn moved() -> Value {
    let document = json!({"type": "document", "title": "t", "source": {"type": "base64", "media_type": "text/plain", "data": "aGk="}});
    json!({
        "system": [{"type": "text", "text": ""}, {"type": "text", "text": "s"}],
        "messages": [
            {"role": "system", "content": "first"},
            {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "q"}, document]},
            {"role": "system", "content": [{"type": "text", "text": "then"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": "y"}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "one"},
                {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": ""}, document]},
            ]},
            {"role": "user", "content": "so"},
        ],
        "tools": tool(),
        "tool_choice": {"type": "tool", "name": "f"},
        "stop_sequences": ["END"],
        "metadata": {"user_id": "u"},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
        "inference_geo": "us",
        "cache_control": {"type": "ephemeral"},
    })
}

#[test]
fn places_are_those_of_the_body() {
    let places = placed(moved()).places;
    for (place, named) in [
        ("system[0]", "system[1]"),
        ("system[1]", "messages[0].content"),
        ("system[2]", "messages[2].content[0]"),
        ("system[0].cache_control", "system[1].cache_control"),
        ("messages[0].content[0]", "messages[1].content[1]"),
        (
            "messages[0].content[1].title",
            "messages[1].content[2].title",
        ),
        (
            "messages[0].content[1].media_type",
            "messages[1].content[2].source.media_type",
        ),
        (
            "messages[0].content[1].media",
            "messages[1].content[2].source",
        ),
        (
            "messages[1].content[0].signature",
            "messages[3].content[0].signature",
        ),
        ("messages[1].content[1].id", "messages[3].content[1].id"),
        ("messages[1].content[1].name", "messages[3].content[1].name"),
        (
            "messages[1].content[1].arguments",
            "messages[3].content[1].input",
        ),
        (
            "messages[2].content[0].call_id",
            "messages[4].content[0].tool_use_id",
        ),
        (
            "messages[2].content[0].content[0]",
            "messages[4].content[0].content",
        ),
        (
            "messages[2].content[1].content[1]",
            "messages[4].content[1].content[1]",
        ),
        (
            "messages[2].content[1].content[1].media_type",
            "messages[4].content[1].content[1].source.media_type",
        ),
        ("messages[3].content", "messages[5].content"),
        ("messages[3].content[0]", "messages[5].content"),
        ("messages[3].content[0].cache_control", "cache_control"),
        ("tools[0]/description", "tools[0]/description"),
        ("tools[0].strict", "tools[0].strict"),
        (
            "tools[0]/input_schema/properties/a.b",
            "tools[0]/input_schema/properties/a.b",
        ),
        ("tool_choice", "tool_choice.name"),
        ("tool_choice.type", "tool_choice"),
        (
            "parallel_tool_calls",
            "tool_choice.disable_parallel_tool_use",
        ),
        ("max_output_tokens", "max_tokens"),
        ("reasoning_tokens", "thinking"),
        ("thinking", "thinking"),
        ("stop_sequences[0]", "stop_sequences[0]"),
        ("metadata", "metadata.user_id"),
        ("response_format", "output_config.format"),
        ("response_format.schema", "output_config.format.schema"),
        ("ext.must-effort", "output_config.effort"),
        ("must-effort", "output_config.effort"),
        ("effort", "output_config.effort"),
        ("ext.must-inference_geo", "inference_geo"),
        // What the body does not have.
        ("messages[9].content[0]", "messages[9].content[0]"),
        ("messages[0].content[9]", "messages[0].content[9]"),
    ] {
        assert_eq!(places.name(place), named);
    }
    let older = json!({"output_format": {"type": "json_schema", "schema": {"type": "object"}}, "system": "s"});
    let places = placed(older).places;
    assert_eq!(places.name("response_format"), "output_format");
    let auto = json!({"tools": tool(), "tool_choice": {"type": "auto", "disable_parallel_tool_use": true}});
    assert_eq!(placed(auto).places.name("tool_choice"), "tool_choice");
    assert_eq!(
        places.name("response_format.schema"),
        "output_format.schema"
    );
    assert_eq!(places.name("system[0]"), "system");
    let marked = json!([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]);
    let mut marked = user(marked);
    marked["cache_control"] = json!({"type": "ephemeral"});
    let own = "messages[0].content[0].cache_control";
    assert_eq!(placed(marked).places.name(own), own);
}

#[test]
fn what_is_wrong_with_many_entries_is_listed_up_to_a_limit() {
    let wrong = vec![json!(0); 3_000];
    assert_eq!(problems(json!({ "messages": wrong })).len(), 1_000);
    let many = vec![json!({"type": "text", "text": "a"}); blocks::MAX_PARTS + 1];
    assert_eq!(
        refused(user(json!(many))),
        invalid_at("messages[0].content")
    );
    assert_eq!(problems(user(json!(many))).len(), 1);
}

#[test]
fn the_deepest_arguments_of_a_reply_can_be_sent_back() {
    let levels = chat::MAX_ARGUMENT_DEPTH;
    let text = format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    let input = chat::Arguments::default().of_call(&text, 0).unwrap();
    let call = json!({"type": "tool_use", "id": "c", "name": "f", "input": input});
    let result = json!({"type": "tool_result", "tool_use_id": "c", "content": "so"});
    let read = read(json!({"messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]}));
    let Part::ToolCall(call) = &read.messages[1].content[0] else {
        unreachable!("a call was sent")
    };
    assert_eq!(call.arguments, input);
}
