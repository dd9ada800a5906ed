//! Requests: what a surface decodes from a canonical conversation is that conversation, two surfaces decode
//! the same one alike, and whatever a body holds, it is read or refused in known words.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use svc_core::chat::{ChatRequest, Document, Media, Message, Part, Role, ToolCall, ToolResult};
use svc_core::fault::{Code, Fault};
use svc_core::phi::visit;
use svc_core::surface::messages::WireVersion;
use svc_core::surface::{Decoded, blocks, chat_completions, messages};

/// A part before it is one: parts cannot be shown, since they hold content.
#[derive(Clone, Debug)]
enum Said {
    Text(String),
    Image(Vec<u8>),
    Address(String),
    File(Vec<u8>, Option<String>),
    Note(String),
}

impl Said {
    fn part(&self) -> Part {
        let inline = |media_type: &str, data: &[u8]| Media::Inline {
            media_type: media_type.into(),
            data: data.to_vec().into(),
        };
        let document = |media, title: &Option<String>| {
            Part::Document(Document {
                media,
                title: title.clone(),
                context: None,
                cache_mark: None,
            })
        };
        match self {
            Self::Text(text) => Part::text(text),
            Self::Image(data) => Part::Image(inline("image/png", data).into()),
            Self::Address(url) => Part::Image(Media::Url(url.clone()).into()),
            Self::File(data, title) => document(inline("application/pdf", data), title),
            Self::Note(text) => document(Media::Text(text.clone()), &None),
        }
    }
}

fn part_text() -> impl Strategy<Value = String> {
    // Never blank: a turn that says nothing is refused.
    "[a-zé\"\\\\ 😀]{0,11}[a-zé\"\\\\😀]"
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![
        4 => part_text().prop_map(Said::Text),
        1 => vec(any::<u8>(), 1..8).prop_map(Said::Image),
        1 => "https://[a-z]{1,8}/[a-z]{0,8}".prop_map(Said::Address),
        1 => (vec(any::<u8>(), 1..8), proptest::option::of("[a-z.]{1,8}"))
            .prop_map(|(data, title)| Said::File(data, title)),
        1 => part_text().prop_map(Said::Note),
    ]
}

/// A question, perhaps a text, and calls: result, argument name, argument.
type Round = (Vec<Said>, Option<String>, Vec<(String, String, i32)>);

/// System texts, rounds, and the last turn, which is the user's.
type Plan = (Vec<String>, Vec<Round>, Vec<Said>);

fn plan() -> impl Strategy<Value = Plan> {
    let calls = vec((part_text(), part_text(), any::<i32>()), 0..3);
    let round = (vec(said(), 1..4), proptest::option::of(part_text()), calls);
    (vec(part_text(), 0..3), vec(round, 0..4), vec(said(), 1..3))
}

fn turns((ask, text, calls): &Round) -> Vec<Message> {
    let mut answer: Vec<Part> = text.iter().map(Part::text).collect();
    let mut results = Vec::new();
    for (at, (text, key, number)) in calls.iter().enumerate() {
        let id = format!("call-{at}");
        answer.push(Part::ToolCall(ToolCall {
            id: id.clone(),
            name: "lookup".into(),
            arguments: json!({key: number}),
            cache_mark: None,
        }));
        results.push(Part::ToolResult(ToolResult {
            call_id: id,
            is_error: false,
            content: vec![Part::text(text)],
            cache_mark: None,
        }));
    }
    let ask = ask.iter().map(Said::part).collect();
    let mut turns = vec![message(Role::User, ask), message(Role::Assistant, answer)];
    if !results.is_empty() {
        turns.push(message(Role::User, results));
    }
    turns
}

fn message(role: Role, content: Vec<Part>) -> Message {
    Message {
        role,
        content,
        name: None,
    }
}

fn conversation((system, rounds, last): &Plan) -> ChatRequest {
    let mut chat = ChatRequest::of_user_text("");
    chat.model = "alpha-haiku-4-5".into();
    chat.max_tokens = Some(512);
    chat.system = system.iter().map(Part::text).collect();
    chat.messages = rounds.iter().flat_map(turns).collect();
    let last = last.iter().map(Said::part).collect();
    chat.messages.push(message(Role::User, last));
    chat
}

/// The conversation as a client of the messages surface would write it.
fn as_messages(chat: &ChatRequest) -> Value {
    let turns: Vec<Value> = chat
        .messages
        .iter()
        .map(|message| {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            json!({"role": role, "content": message.content.iter().map(blocks::encode).collect::<Vec<_>>()})
        })
        .collect();
    let system: Vec<Value> = chat.system.iter().map(blocks::encode).collect();
    json!({"model": chat.model, "max_tokens": chat.max_tokens, "system": system, "messages": turns})
}

fn data_url(media: &Media) -> String {
    match media {
        Media::Inline { media_type, data } => {
            format!("data:{media_type};base64,{}", STANDARD.encode(data))
        }
        Media::Text(text) => format!("data:text/plain;base64,{}", STANDARD.encode(text)),
        Media::Url(url) => url.clone(),
    }
}

/// The conversation as a client of the chat-completions surface would write it.
fn as_chat_completions(chat: &ChatRequest) -> Value {
    let system = chat
        .system
        .iter()
        .map(|part| json!({"role": "system", "content": [blocks::encode(part)]}));
    let mut turns: Vec<Value> = system.collect();
    for message in &chat.messages {
        let (mut parts, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for part in &message.content {
            match part {
                Part::Text { .. } => parts.push(blocks::encode(part)),
                Part::Image(image) => parts.push(
                    json!({"type": "image_url", "image_url": {"url": data_url(&image.media)}}),
                ),
                Part::Document(Document { media, title, .. }) => {
                    parts.push(json!({"type": "file", "file": {"filename": title, "file_data": data_url(media)}}));
                }
                Part::ToolCall(call) => calls.push(json!({"id": call.id, "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments.to_string()}})),
                Part::ToolResult(result) => results
                    .push(json!({"role": "tool", "tool_call_id": result.call_id,
                    "content": result.content.iter().map(blocks::encode).collect::<Vec<_>>()})),
                Part::Reasoning { .. } | Part::RedactedReasoning { .. } => {
                    panic!("not on this surface")
                }
            }
        }
        match message.role {
            Role::User if results.is_empty() => {
                turns.push(json!({"role": "user", "content": parts}))
            }
            Role::User => turns.append(&mut results),
            Role::Assistant => {
                turns.push(json!({"role": "assistant", "content": parts, "tool_calls": calls}))
            }
        }
    }
    json!({"model": chat.model, "max_tokens": chat.max_tokens, "messages": turns})
}

/// JSON of any shape, shallow.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..40_000).prop_map(Value::from),
        "[^\u{0}]{0,6}".prop_map(Value::from),
        proptest::sample::select(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(proptest::sample::select(FIELDS), inner, 0..6)
                .prop_map(|fields| fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Map<_, _>>())
                .prop_map(Value::from),
        ]
    })
}

const WORDS: &[&str] = &[
    "user",
    "assistant",
    "system",
    "tool",
    "text",
    "image",
    "image_url",
    "file",
    "document",
    "tool_use",
    "tool_result",
    "thinking",
    "function",
    "enabled",
    "adaptive",
    "auto",
    "json_schema",
    "ephemeral",
    "{}",
    "data:image/png;base64,AQI=",
    "base64",
    "url",
];

const FIELDS: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "stream",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "metadata",
    "stop_sequences",
    "stop",
    "n",
    "store",
    "response_format",
    "role",
    "content",
    "type",
    "text",
    "id",
    "name",
    "input",
    "tool_use_id",
    "tool_call_id",
    "tool_calls",
    "function",
    "arguments",
    "parameters",
    "source",
    "data",
    "media_type",
    "image_url",
    "url",
    "file",
    "file_data",
    "cache_control",
    "budget_tokens",
    "schema",
    "json_schema",
    "signature",
    "format",
    "user_id",
    "thread",
];

/// Bodies with the fields that matter, holding anything.
fn any_body() -> impl Strategy<Value = Value> {
    let turn = (
        proptest::sample::select(&["user", "assistant", "system", "tool"][..]),
        any_json(),
        any_json(),
    );
    let turns = vec(turn, 0..5).prop_map(|turns| {
        let turns = turns.into_iter().map(|(role, content, calls)| {
            if calls.is_array() && role == "assistant" {
                json!({"role": role, "content": content, "tool_calls": calls})
            } else {
                json!({"role": role, "content": content})
            }
        });
        Value::from(turns.collect::<Vec<_>>())
    });
    (
        turns,
        btree_map(proptest::sample::select(FIELDS), any_json(), 0..4),
    )
        .prop_map(|(turns, extra)| {
            let mut body = json!({"model": "m", "max_tokens": 5, "messages": turns});
            for (name, value) in extra {
                body[name] = value;
            }
            body
        })
}

/// Places of texts that the body does not have.
fn lost(decoded: Decoded, body: &Value) -> Vec<String> {
    let Decoded { mut chat, places } = decoded;
    let mut lost = Vec::new();
    visit(&mut chat, &mut |spot, _| {
        let place = places.name(&spot.location());
        let mut steps = place.split(['.', '[', ']']).filter(|step| !step.is_empty());
        let found = steps.try_fold(body, |value, step| match step.parse::<usize>() {
            Ok(at) => value.get(at),
            Err(_) => value.get(step),
        });
        if found.is_none() {
            lost.push(place);
        }
        None
    });
    lost
}

fn in_known_words(decoded: Result<Decoded, Fault>) -> bool {
    match decoded {
        Ok(Decoded { chat, .. }) => !(chat.messages.is_empty() && chat.system.is_empty()),
        Err(fault) => {
            matches!(
                fault.code,
                Code::ValidationFailed | Code::UnsupportedParameter
            ) && fault.param.is_some()
        }
    }
}

proptest! {
    #[test]
    fn a_conversation_survives_the_messages_surface(plan in plan()) {
        let chat = conversation(&plan);
        let body = as_messages(&chat);
        let read = messages::decode(body.to_string().as_bytes(), WireVersion::Classic);
        let same = read.map(|read| (read.chat == chat, lost(read, &body)));
        prop_assert_eq!(same.map_err(|fault| fault.param), Ok((true, Vec::new())));
    }

    #[test]
    fn a_conversation_survives_the_chat_completions_surface(plan in plan()) {
        let chat = conversation(&plan);
        let body = as_chat_completions(&chat);
        let read = chat_completions::decode(body.to_string().as_bytes());
        let same = read.map(|read| (read.chat == chat, lost(read, &body)));
        prop_assert_eq!(same.map_err(|fault| fault.param), Ok((true, Vec::new())));
    }

    #[test]
    fn any_body_is_read_or_refused_in_known_words(body in any_body()) {
        let bytes = body.to_string().into_bytes();
        for version in [WireVersion::Classic, WireVersion::WithoutSampling] {
            prop_assert!(in_known_words(messages::decode(&bytes, version)));
            prop_assert!(in_known_words(messages::decode_count(&bytes, version)));
        }
        prop_assert!(in_known_words(chat_completions::decode(&bytes)));
    }
}
