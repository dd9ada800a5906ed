//! Request bodies of the messages surface as canonical chats.
//!
//! Conforming is what the wire format has (wire.md 3). What no driver could honour is refused by name here;
//! what only some can goes on in `ext` under a `must-` name.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::chat::{
    ChatRequest, MIN_REASONING_TOKENS, Message, Part, ResponseFormat, Role, Sampling,
};
use crate::fault::{Code, Fault, Problems, invalid};
use crate::json;
use crate::surface::blocks;
use crate::surface::fields::{Fields, Path};
use crate::surface::messages::promise::can_be_promised;
use crate::surface::places::{Decoded, Place, Placed, Places, Words, of_content};
use crate::surface::turns::{self, LastWord, Turn, check_order, into_messages};

/// Which rules of the wire format a caller speaks: the header `anthropic-version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireVersion {
    /// `2023-06-01`, and callers that name none.
    Classic,
    /// `2026-10-21` and later: no sampling parameters, no documents in assistant turns (wire.md 1).
    WithoutSampling,
}

/// Dates of this form compare as text.
const FIRST_WITHOUT_SAMPLING: &str = "2026-10-21";

impl WireVersion {
    /// Reads the header.
    ///
    /// # Errors
    /// 422 `VALIDATION_FAILED` for what is no date.
    pub fn of_header(value: Option<&str>) -> Result<Self, Fault> {
        match value {
            None => Ok(Self::Classic),
            Some(date) if !is_date(date) => Err(invalid(
                "$header.anthropic-version",
                "must be a date, YYYY-MM-DD",
            )),
            Some(date) if date >= FIRST_WITHOUT_SAMPLING => Ok(Self::WithoutSampling),
            Some(_) => Ok(Self::Classic),
        }
    }
}

fn is_date(text: &str) -> bool {
    text.len() == "YYYY-MM-DD".len()
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Names of this surface that differ from those of a chat.
const WORDS: Words = Words {
    request: &[
        ("max_output_tokens", "max_tokens"),
        // How it chooses, whatever it names.
        ("tool_choice.type", "tool_choice"),
        blocks::PARALLEL_WORD,
        ("reasoning_tokens", "thinking"),
        ("metadata", "metadata.user_id"),
        ("effort", "output_config.effort"),
    ],
    tool: &[],
    part: &[
        ("arguments", "input"),
        ("call_id", "tool_use_id"),
        ("media", "source"),
        ("media_type", "source.media_type"),
    ],
};

/// Reads a body of `POST /v1/messages`.
///
/// # Errors
/// 422 `VALIDATION_FAILED` with every problem; 400 `UNSUPPORTED_PARAMETER` for a field or block kind that this
/// surface cannot honour.
pub fn decode(body: &[u8], version: WireVersion) -> Result<Decoded, Fault> {
    let mut fields = top(body)?;
    let mut problems = Problems::default();
    fields.require("max_tokens", &mut problems);
    let max_tokens = fields.count("max_tokens", 1, &mut problems);
    let stream = fields.boolean("stream", &mut problems).unwrap_or(false);
    let sampling = sampling(&mut fields, version, &mut problems);
    let stop_sequences = stop_sequences(&mut fields, &mut problems);
    let metadata = metadata(&mut fields, &mut problems);
    let Decoded { mut chat, places } =
        prompt(&mut fields, version, LastWord::OfUser, &mut problems);
    if let (Some(budget), Some(max)) = (chat.reasoning_tokens, max_tokens)
        && budget >= max
    {
        problems.add("thinking.budget_tokens", "must be less than max_tokens");
    }
    if let Some(tier) = fields.word("service_tier", &["auto", "standard_only"], &mut problems)
        && tier != "auto"
    {
        chat.ext.insert("must-service_tier".to_owned(), json!(tier));
    }
    if let Some(geo) = fields.string("inference_geo", &mut problems) {
        chat.ext.insert("must-inference_geo".to_owned(), json!(geo));
    }
    fields.end(&mut problems);
    problems.into_compat_result()?;
    let chat = ChatRequest {
        max_tokens,
        stream,
        sampling,
        stop_sequences,
        metadata,
        ..chat
    };
    Ok(Decoded { chat, places })
}

/// Reads a body of `POST /v1/messages/count_tokens`: what a prompt consists of, and nothing about the reply.
///
/// # Errors
/// As [`decode`].
pub fn decode_count(body: &[u8], version: WireVersion) -> Result<Decoded, Fault> {
    let mut fields = top(body)?;
    let mut problems = Problems::default();
    let decoded = prompt(&mut fields, version, LastWord::OfAnyone, &mut problems);
    fields.end(&mut problems);
    problems.into_compat_result()?;
    Ok(decoded)
}

/// The body's fields. A `thread` is refused before all else and in the words that let the SDK repeat without
/// it by itself (wire.md 3).
fn top(body: &[u8]) -> Result<Fields<'static>, Fault> {
    let mut fields = Fields::top(json::object(body)?);
    match fields.take("thread") {
        None => Ok(fields),
        Some(_) => Err(Fault::new(
            Code::UnsupportedParameter,
            "This endpoint does not keep message threads.",
        )
        .at("thread")
        .detail("error_code", "thread_unsupported_request")
        .detail("unsupported", json!(["thread"]))),
    }
}

/// The fields that both calls have.
fn prompt(
    fields: &mut Fields<'_>,
    version: WireVersion,
    last: LastWord,
    problems: &mut Problems,
) -> Decoded {
    let model = fields
        .required_string("model", problems)
        .unwrap_or_default();
    let mut system = fields
        .take("system")
        .map(|value| {
            system_parts(
                value,
                Place::Field("system"),
                Path::Name("system"),
                problems,
            )
        })
        .unwrap_or_default();
    let messages = fields.array("messages", problems).unwrap_or_default();
    let turns = turns(messages, version, last, &mut system, problems);
    let (mut messages, turns) = into_messages(turns);
    let mut places = Places::new(system.places, turns, &WORDS);
    let tools = fields
        .take("tools")
        .map(|value| blocks::decode_tools(value, Path::Name("tools"), problems))
        .unwrap_or_default();
    let (tool_choice, parallel_tool_calls) =
        fields.take("tool_choice").map_or((None, None), |value| {
            blocks::decode_tool_choice(value, Path::Name("tool_choice"), &tools, problems)
        });
    blocks::place_tool_choice(tool_choice.as_ref(), &mut places);
    context_management(fields, problems);
    // Which no more than says how it is everywhere.
    fields.only("speed", |value| *value == json!("standard"), problems);
    let mut ext = Map::new();
    let reasoning_tokens = thinking(fields, &mut ext, problems);
    let response_format = output_config(fields, &mut ext, &mut places, problems);
    if let Some(mark) = blocks::decode_mark(fields, problems) {
        mark_end(&mut messages, &mut places, mark);
    }
    let chat = ChatRequest {
        model,
        system: system.parts,
        has_house_prompt: false,
        messages,
        tools,
        tool_choice,
        parallel_tool_calls,
        max_tokens: None,
        sampling: Sampling::default(),
        stop_sequences: Vec::new(),
        response_format,
        reasoning_tokens,
        metadata: BTreeMap::new(),
        stream: false,
        ext,
    };
    Decoded { chat, places }
}

/// `cache_control` of the whole request stands for a mark behind the last block that takes one.
fn mark_end(messages: &mut [Message], places: &mut Places, mark: Value) {
    let turn = messages.len().saturating_sub(1);
    let last = messages.last_mut().and_then(|message| {
        let mut parts = message.content.iter_mut().enumerate().rev();
        parts.find_map(|(at, part)| Some((at, part.cache_mark_mut()?)))
    });
    if let Some((at, place)) = last
        && place.is_none()
    {
        *place = Some(mark);
        let moved = format!("messages[{turn}].content[{at}].cache_control");
        places.move_to(moved, "cache_control");
    }
}

/// A string or text blocks, the empty ones left out (wire.md 2, point 15).
fn system_parts(value: Value, place: Place, path: Path<'_>, problems: &mut Problems) -> Placed {
    let places = of_content(&value, place);
    let parts = blocks::decode_content(value, path, problems);
    if parts.iter().any(|part| !matches!(part, Part::Text { .. })) {
        problems.add(path, "may hold text only");
    }
    Placed::without_empty_text(parts, places)
}

/// `messages`; those of the role `system` go behind the system prompt, in order (wire.md 2, points 18, 19).
fn turns(
    items: Vec<Value>,
    version: WireVersion,
    last: LastWord,
    system: &mut Placed,
    problems: &mut Problems,
) -> Vec<Turn> {
    let (turns, are_whole) = turns::read(items, problems, |at, item, problems| {
        turn(at, item, version, system, problems)
    });
    if are_whole {
        check_order(&turns, last, problems);
    }
    turns
}

/// One entry of `messages`; what is for the system prompt goes there.
fn turn(
    at: usize,
    item: Value,
    version: WireVersion,
    system: &mut Placed,
    problems: &mut Problems,
) -> Option<Turn> {
    let all = Path::Name("messages");
    let path = all.item(at);
    let mut fields = Fields::of(item, path, problems)?;
    let role = fields.required_string("role", problems);
    let content_path = path.field("content");
    let place = Place::FieldOf("messages", at, "content");
    fields.require("content", problems);
    let content = fields.take("content");
    fields.end(problems);
    let role = match role.as_deref()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => {
            system.append(system_parts(content?, place, content_path, problems));
            return None;
        }
        _ => {
            problems.add(path.field("role"), "must be user, assistant or system");
            return None;
        }
    };
    let content = content?;
    let places = of_content(&content, place);
    let parts = blocks::decode_content(content, content_path, problems);
    check_places(role, &parts, version, content_path, problems);
    let Placed { parts, places } = Placed::without_empty_text(parts, places);
    let message = Message {
        role,
        content: parts,
        name: None,
    };
    Some(Turn {
        at,
        message,
        places,
    })
}

/// Which kind of block may stand in whose turn, and what calls may be named (wire.md 2, point 8).
fn check_places(
    role: Role,
    content: &[Part],
    version: WireVersion,
    path: Path<'_>,
    problems: &mut Problems,
) {
    for (at, part) in content.iter().enumerate() {
        if let Part::ToolCall(call) = part {
            let (longest, path) = (blocks::MAX_TOOL_NAME_CHARS, path.item(at));
            blocks::check_tool_name(&call.name, longest, path.field("name"), problems);
        }
        let wrong = match (part, role) {
            (Part::Text { .. }, _)
            | (Part::Image(_) | Part::Document(_) | Part::ToolResult(_), Role::User)
            | (
                Part::ToolCall(_) | Part::Reasoning { .. } | Part::RedactedReasoning { .. },
                Role::Assistant,
            ) => continue,
            (Part::Document(_), Role::Assistant) if version == WireVersion::Classic => continue,
            (Part::Document(_), Role::Assistant) => "may not hold documents",
            (Part::Image(_), Role::Assistant) => "may not hold images",
            (Part::ToolResult(_), Role::Assistant) => "may not hold tool results",
            (Part::ToolCall(_), Role::User) => "may not hold tool calls",
            (Part::Reasoning { .. } | Part::RedactedReasoning { .. }, Role::User) => {
                "may not hold thinking"
            }
        };
        problems.add(path, wrong);
    }
}

/// The wire format's own ranges. Newer versions have none of the three, whatever the value (wire.md 1).
fn sampling(fields: &mut Fields<'_>, version: WireVersion, problems: &mut Problems) -> Sampling {
    if version == WireVersion::WithoutSampling {
        for name in ["temperature", "top_p", "top_k"] {
            fields.only(name, |_| false, problems);
        }
        return Sampling::default();
    }
    Sampling {
        temperature: fields.number("temperature", 0.0..=1.0, problems),
        top_p: fields.number("top_p", 0.0..=1.0, problems),
        top_k: fields.count("top_k", 0, problems),
    }
}

fn stop_sequences(fields: &mut Fields<'_>, problems: &mut Problems) -> Vec<String> {
    let items = fields.array("stop_sequences", problems).unwrap_or_default();
    let mut stops = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        match item {
            Value::String(text) if !text.trim().is_empty() => stops.push(text),
            _ => problems.add(
                format!("stop_sequences[{at}]"),
                "must be a string that is not blank",
            ),
        }
    }
    stops
}

/// `metadata.user_id`, the only entry of the wire format.
fn metadata(fields: &mut Fields<'_>, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut metadata = BTreeMap::new();
    if let Some(value) = fields.take("metadata")
        && let Some(mut entries) = Fields::of(value, "metadata", problems)
    {
        if let Some(user) = entries.string("user_id", problems) {
            metadata.insert("user_id".to_owned(), user);
        }
        entries.end(problems);
    }
    metadata
}

/// `thinking`. What a token budget cannot say travels whole as `must-thinking`, and that none is wanted as `thinking`,
/// which models that have none may pass over.
fn thinking(
    fields: &mut Fields<'_>,
    ext: &mut Map<String, Value>,
    problems: &mut Problems,
) -> Option<u32> {
    let value = fields.take("thinking")?;
    let mut thinking = Fields::of(value.clone(), "thinking", problems)?;
    thinking.require("type", problems);
    // A kind of the wire format that only models elsewhere have.
    if value
        .get("type")
        .is_some_and(|kind| kind == "between_tools")
    {
        problems.add_foreign("thinking.type", "cannot be honored here");
        return None;
    }
    let kind = thinking.word("type", &["enabled", "disabled", "adaptive"], problems);
    let display = thinking.word("display", &["summarized", "omitted"], problems);
    let mut budget = None;
    if kind == Some("enabled") {
        thinking.require("budget_tokens", problems);
        budget = thinking.count("budget_tokens", u64::from(MIN_REASONING_TOKENS), problems);
    }
    thinking.end(problems);
    if kind == Some("adaptive") || (kind == Some("enabled") && display.is_some()) {
        ext.insert("must-thinking".to_owned(), value);
    } else if kind == Some("disabled") {
        // Some models think unless they are told not to; to others it says nothing.
        ext.insert("thinking".to_owned(), json!({"type": "disabled"}));
    }
    budget
}

/// `context_management`: nothing is taken out of a history here, so that an edit which keeps all thinking is done. Coding
/// agents ask for it with every request. What takes something out is foreign.
fn context_management(fields: &mut Fields<'_>, problems: &mut Problems) {
    let path = Path::Name("context_management");
    let Some(value) = fields.take("context_management") else {
        return;
    };
    let Some(mut management) = Fields::of(value, path, problems) else {
        return;
    };
    let edits = management.array("edits", problems).unwrap_or_default();
    let all = json!({"type": "clear_thinking_20251015", "keep": "all"});
    for (at, edit) in edits.iter().enumerate() {
        if *edit != all {
            problems.add_foreign(path.field("edits").item(at), "cannot be honored here");
        }
    }
    management.end(problems);
}

/// Words of `output_config.effort`.
const EFFORTS: &[&str] = &["low", "medium", "high", "xhigh", "max"];

/// `output_config`, and `output_format`, which older SDKs send in place of its `format`.
fn output_config(
    fields: &mut Fields<'_>,
    ext: &mut Map<String, Value>,
    places: &mut Places,
    problems: &mut Problems,
) -> Option<ResponseFormat> {
    let mut format = fields
        .take("output_format")
        .map(|value| ("output_format", value));
    if let Some(value) = fields.take("output_config")
        && let Some(mut config) = Fields::of(value, "output_config", problems)
    {
        if let Some(effort) = config.word("effort", EFFORTS, problems) {
            ext.insert("must-effort".to_owned(), json!(effort));
        }
        if let Some(value) = config.take("format") {
            if format.is_some() {
                problems.add("output_format", "stands beside output_config.format");
            }
            format = Some(("output_config.format", value));
        }
        config.end(problems);
    }
    let (path, value) = format?;
    let path = Path::Name(path);
    places.move_to("response_format", path);
    places.move_to("response_format.schema", path.field("schema"));
    let mut format = Fields::of(value, path, problems)?;
    format.require("type", problems);
    format.word("type", &["json_schema"], problems);
    let schema = format.object("schema", problems);
    if schema.is_none() {
        problems.add(path.field("schema"), "is required");
    }
    format.end(problems);
    let schema = Value::Object(schema?);
    Some(ResponseFormat::JsonSchema {
        name: None,
        strict: can_be_promised(&schema).then_some(true),
        schema,
    })
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
