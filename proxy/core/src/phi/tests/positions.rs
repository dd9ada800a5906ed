//! The walk reaches every position of a request.

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::chat::{Document, Media, ResponseFormat, Tool, ToolCall, ToolChoice, ToolResult};

/// A request with text from `plant` in every position, JSON numbers and keys included.
fn full(plant: &mut dyn FnMut() -> String) -> ChatRequest {
    let number = json!(4_111_222_333_u64);
    let json = |plant: &mut dyn FnMut() -> String| json!({plant(): [plant(), {plant(): number.clone()}], "list": [number.clone()]});
    let text = |plant: &mut dyn FnMut() -> String| Part::Text {
        text: plant(),
        cache_mark: Some(json(plant)),
    };
    let media = |plant: &mut dyn FnMut() -> String| {
        vec![
            Part::Image(Media::Url(format!("https://a.example/{}", plant())).into()),
            Part::Document(Document {
                media: Media::Text(plant()),
                title: Some(plant()),
                context: Some(plant()),
                cache_mark: Some(json(plant)),
            }),
            Part::Document(Document {
                media: Media::Inline {
                    media_type: format!("text/{}", plant()),
                    data: Bytes::from(plant()),
                },
                title: None,
                context: None,
                cache_mark: None,
            }),
        ]
    };
    let mut nested = media(plant);
    nested.push(text(plant));
    let mut content = media(plant);
    content.push(text(plant));
    content.push(Part::ToolResult(ToolResult {
        call_id: plant(),
        is_error: false,
        content: nested,
        cache_mark: Some(json(plant)),
    }));
    let replies = vec![
        Part::Reasoning {
            text: plant(),
            signature: Some(plant()),
            driver: None,
        },
        Part::RedactedReasoning {
            data: plant(),
            driver: None,
        },
        Part::ToolCall(ToolCall {
            id: plant(),
            name: plant(),
            arguments: json!({plant(): plant(), "n": 4_111_222_333_u64, "deep": [[{plant(): null}]]}),
            cache_mark: Some(json(plant)),
        }),
    ];
    let schema = |plant: &mut dyn FnMut() -> String| json!({"type": "object", "properties": {plant(): {"description": plant(), "enum": [plant(), 4_111_222_333_u64]}}});
    let mut chat = chat(vec![
        Message {
            role: Role::User,
            content,
            name: Some(plant()),
        },
        Message {
            role: Role::Assistant,
            content: replies,
            name: None,
        },
    ]);
    chat.system = vec![text(plant), text(plant)];
    chat.tools = vec![Tool {
        name: plant(),
        description: Some(plant()),
        input_schema: schema(plant),
        input_examples: Some(json!([{"a": plant()}])),
        strict: None,
        cache_mark: Some(json!(plant())),
    }];
    chat.tool_choice = Some(ToolChoice::Named(plant()));
    chat.stop_sequences = vec![plant(), plant()];
    chat.response_format = Some(ResponseFormat::JsonSchema {
        name: Some(plant()),
        schema: schema(plant),
        strict: None,
    });
    chat.metadata = [(plant(), plant()), (plant(), plant())].into();
    chat.ext
        .insert(plant(), json!([plant(), {plant(): 4_111_222_333_u64}]));
    chat
}

/// Everything that a driver could send, found without the walk under test.
fn dump(chat: &ChatRequest) -> String {
    let ChatRequest {
        model,
        system,
        has_house_prompt: _,
        messages,
        tools,
        tool_choice,
        parallel_tool_calls: _,
        max_tokens: _,
        sampling: _,
        stop_sequences,
        response_format,
        reasoning_tokens: _,
        metadata,
        stream: _,
        ext,
    } = chat;
    let mut out = vec![
        model.clone(),
        stop_sequences.join("\n"),
        Value::Object(ext.clone()).to_string(),
    ];
    out.extend(
        metadata
            .iter()
            .map(|(key, value)| format!("{key}\n{value}")),
    );
    system.iter().for_each(|part| dump_part(part, &mut out));
    for Message {
        role: _,
        content,
        name,
    } in messages
    {
        out.extend(name.clone());
        content.iter().for_each(|part| dump_part(part, &mut out));
    }
    for Tool {
        name,
        description,
        input_schema,
        input_examples,
        strict: _,
        cache_mark,
    } in tools
    {
        out.extend([
            name.clone(),
            input_schema.to_string(),
            format!("{cache_mark:?}"),
            format!("{input_examples:?}"),
        ]);
        out.extend(description.clone());
    }
    if let Some(ToolChoice::Named(name)) = tool_choice {
        out.push(name.clone());
    }
    if let Some(ResponseFormat::JsonSchema {
        name,
        schema,
        strict: _,
    }) = response_format
    {
        out.extend([format!("{name:?}"), schema.to_string()]);
    }
    out.join("\n")
}

fn dump_part(part: &Part, out: &mut Vec<String>) {
    match part {
        Part::Text { text, .. } => out.push(text.clone()),
        Part::Image(image) => dump_media(&image.media, out),
        Part::Document(Document {
            media,
            title,
            context,
            cache_mark: _,
        }) => {
            dump_media(media, out);
            out.push(format!("{title:?} {context:?}"));
        }
        Part::ToolCall(ToolCall {
            id,
            name,
            arguments,
            cache_mark: _,
        }) => {
            out.extend([id.clone(), name.clone(), arguments.to_string()]);
        }
        Part::ToolResult(ToolResult {
            call_id,
            is_error: _,
            content,
            cache_mark: _,
        }) => {
            out.push(call_id.clone());
            content.iter().for_each(|part| dump_part(part, out));
        }
        Part::Reasoning {
            text, signature, ..
        } => out.extend([text.clone(), format!("{signature:?}")]),
        Part::RedactedReasoning { data, .. } => out.push(data.clone()),
    }
    out.push(format!("{:?}", part.cache_mark()));
}

fn dump_media(media: &Media, out: &mut Vec<String>) {
    out.push(match media {
        Media::Inline { media_type, data } => {
            format!("{media_type} {}", String::from_utf8_lossy(data))
        }
        Media::Url(text) | Media::Text(text) => text.clone(),
    });
}

proptest! {
    #[test]
    fn no_planted_value_survives_in_any_position(
        seed in 100_000_u64..999_999,
        before in "[a-z ]{0,12}",
        after in "[a-z .]{0,12}",
    ) {
        let mut values = Vec::new();
        let mut chat = full(&mut || {
            let value = format!("Q{seed}X{}", values.len());
            values.push(value.clone());
            format!("{before} {value} {after}")
        });
        let untouched = chat.clone();
        let mut known: Vec<(&str, &str)> =
            values.iter().map(|value| ("MRN", value.as_str())).collect();
        known.push(("PHONE", "4111222333"));
        // The scan alone changes nothing.
        let scan = TextScan::of(&mut chat);
        prop_assert!(chat == untouched);
        prop_assert!(values.iter().all(|value| scan.text().contains(value.as_str())));
        let mut map = PlaceholderMap::default();
        let counts = guard(&mut chat, &known, &mut map);
        let sent = dump(&chat);
        prop_assert!(!sent.contains(&seed.to_string()), "left in {sent}");
        prop_assert!(!sent.contains("4111222333"), "left in {sent}");
        prop_assert!(counts.total() >= values.len() as u64);
    }
}

#[test]
fn a_clean_request_is_left_alone() {
    let mut chat = full(&mut || "clean".into());
    let untouched = chat.clone();
    let mut map = PlaceholderMap::default();
    assert!(guard(&mut chat, &[("NAME", "Jane")], &mut map).is_empty());
    assert!(chat == untouched && map.is_empty());
}

#[test]
fn numbers_become_strings_and_keys_are_renamed_in_place() {
    let mut chat = chat(Vec::new());
    chat.ext.insert(
        "x".into(),
        json!({"a": 1, "Jane Doe": 4_111_222_333_u64, "jane doe": 2, "z": [true, null, 1.5]}),
    );
    let mut map = PlaceholderMap::default();
    guard(
        &mut chat,
        &[("NAME", "Jane Doe"), ("PHONE", "4111222333")],
        &mut map,
    );
    assert_eq!(
        chat.ext["x"].to_string(),
        r#"{"a":1,"[NAME_1]":"[PHONE_1]","[NAME_1] (2)":2,"z":[true,null,1.5]}"#
    );
}

#[test]
fn metadata_keys_that_fall_together_keep_both_values() {
    let mut chat = chat(Vec::new());
    chat.metadata = [("Jane Doe", "1"), ("jane doe", "2")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    guard(
        &mut chat,
        &[("NAME", "Jane Doe")],
        &mut PlaceholderMap::default(),
    );
    let pairs: Vec<_> = chat
        .metadata
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    assert_eq!(pairs, ["[NAME_1]=1", "[NAME_1] (2)=2"]);
}

#[test]
fn names_and_ids_take_placeholders_without_brackets() {
    let call = Part::ToolCall(ToolCall {
        id: "call-ab12345".into(),
        name: "f".into(),
        arguments: json!({}),
        cache_mark: None,
    });
    let result = Part::ToolResult(ToolResult {
        call_id: "call-ab12345".into(),
        is_error: false,
        content: Vec::new(),
        cache_mark: None,
    });
    let mut chat = chat(vec![user(""), user("")]);
    chat.messages[0].content = vec![call];
    chat.messages[1].content = vec![result];
    guard(
        &mut chat,
        &[("MRN", "ab12345")],
        &mut PlaceholderMap::default(),
    );
    assert_eq!(dump(&chat).matches("call-MRN_1").count(), 2);
}

#[test]
fn sealed_data_goes_back_unchanged() {
    let sealed = "QUJD1234567890".repeat(8);
    let mut chat = chat(vec![assistant("")]);
    chat.messages[0].content = vec![Part::RedactedReasoning {
        data: sealed.clone(),
        driver: None,
    }];
    assert!(TextScan::of(&mut chat).text().is_empty());
    guard(
        &mut chat,
        &[("PHONE", "1234567890")],
        &mut PlaceholderMap::default(),
    );
    assert_eq!(dump(&chat).matches(&sealed).count(), 1);
}

#[test]
fn segments_are_in_order_and_tell_where_they_come_from() {
    let mut chat = full(&mut || "x".into());
    let scan = TextScan::of(&mut chat);
    let mut last = 0;
    for segment in scan.segments() {
        assert!(segment.start >= last && segment.end > segment.start);
        last = segment.end;
    }
    let origins: Vec<Origin> = scan.segments().iter().map(|s| s.origin).collect();
    for origin in [
        Origin::SystemPrompt,
        Origin::UserText,
        Origin::AssistantText,
        Origin::ToolName,
        Origin::ToolDescription,
        Origin::ToolSchema,
        Origin::ToolArguments,
        Origin::ToolResult,
        Origin::Metadata,
        Origin::Other,
    ] {
        assert!(origins.contains(&origin), "{origin:?}");
    }
    let tools = &scan.segments()[scan.tools()];
    assert_eq!(tools[0].origin, Origin::ToolName);
    assert!(
        tools
            .iter()
            .all(|segment| segment.origin != Origin::SystemPrompt)
    );
}

#[test]
fn inline_documents_are_read_in_their_encoding() {
    let utf16: Vec<u8> = [0xfeff]
        .into_iter()
        .chain("of Jane Doe".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let document = |media_type: &str, data: Vec<u8>| {
        Part::Document(Document {
            media: Media::Inline {
                media_type: media_type.into(),
                data: Bytes::from(data),
            },
            title: None,
            context: None,
            cache_mark: None,
        })
    };
    let image = b"\x89PNG Jane Doe".to_vec();
    let mut chat = chat(vec![user("")]);
    chat.messages[0].content = vec![
        document("application/json", b"\"Jane Doe\"".to_vec()),
        document("application/x", utf16),
        document("Text/plain", b"Jos\xe9, Jane Doe".to_vec()),
        document("image/png", image.clone()),
    ];
    guard(
        &mut chat,
        &[("NAME", "Jane Doe")],
        &mut PlaceholderMap::default(),
    );
    let data: Vec<Vec<u8>> = chat.messages[0]
        .content
        .iter()
        .map(|part| match part {
            Part::Document(Document {
                media: Media::Inline { data, .. },
                ..
            }) => data.to_vec(),
            _ => panic!("no document"),
        })
        .collect();
    let texts = ["\"[NAME_1]\"", "\u{feff}of [NAME_1]", "José, [NAME_1]"];
    assert_eq!(&data[..3], texts.map(|text| text.as_bytes().to_vec()));
    assert_eq!(data[3], image);
}
