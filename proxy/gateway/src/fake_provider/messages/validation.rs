//! What the Messages wire format refuses in a request's head and top-level fields.
//!
//! A field that the format does not know is refused, not skipped. Messages name the place as the real one
//! does (`messages.0.content.1`). The numbers behind rules are the points of wire.md 2.

use std::collections::BTreeSet;

use http::HeaderMap;
use serde_json::{Map, Value};

use crate::fake_provider::format::{Operation, Refusal};
use crate::fake_provider::messages::schema::{check_compiled, check_unions};
use crate::fake_provider::messages::turns::{
    check_calls_had_thinking, check_text, check_turns, has_tool_blocks,
};

/// A rule's verdict: the message of the refusal names the place.
pub(crate) type Checked = Result<(), String>;
pub(crate) type Fields = Map<String, Value>;

pub(crate) const OLD_VERSION: &str = "2023-06-01";
/// Takes sampling parameters away and lets a turn have the role `system` (wire.md 1).
pub(crate) const NEW_VERSION: &str = "2026-10-21";

const ANSWER_FIELDS: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "system",
    "stream",
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "tools",
    "tool_choice",
    "thinking",
    "metadata",
    "service_tier",
    "inference_geo",
    "output_config",
    "cache_control",
];
const COUNT_FIELDS: &[&str] = &[
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "cache_control",
];
const TOOL_FIELDS: &[&str] = &[
    "type",
    "name",
    "description",
    "input_schema",
    "input_examples",
    "strict",
    "cache_control",
];
const SAMPLING: &[&str] = &["temperature", "top_p", "top_k"];

/// Cache marks in one request; the real one takes four.
const MAX_CACHE_MARKS: usize = 4;
/// The smallest thinking budget the real one takes, in tokens.
const MIN_THINKING_TOKENS: u64 = 1024;
const MAX_TOOL_NAME_CHARS: usize = 128;
const MAX_USER_ID_CHARS: usize = 256;

/// Refuses a request that the real one would refuse.
pub(crate) fn check(
    operation: Operation,
    headers: &HeaderMap,
    body: &Value,
) -> Result<(), Refusal> {
    let version = version(headers).map_err(Refusal::invalid)?;
    let fields = object("body", body).map_err(Refusal::invalid)?;
    check_fields(operation, version, fields).map_err(Refusal::invalid)
}

fn version(headers: &HeaderMap) -> Result<&'static str, String> {
    let sent = headers.get("anthropic-version");
    let sent = sent.ok_or("anthropic-version: header is required")?;
    [OLD_VERSION, NEW_VERSION]
        .into_iter()
        .find(|version| sent == version)
        .ok_or_else(|| "anthropic-version: is not a valid version".to_owned())
}

fn check_fields(operation: Operation, version: &str, fields: &Fields) -> Checked {
    let known = match operation {
        Operation::Answer => ANSWER_FIELDS,
        Operation::Count => COUNT_FIELDS,
    };
    only("", fields, known)?;
    text("model", required("", fields, "model")?)?;
    if operation == Operation::Answer {
        let max_tokens = required("", fields, "max_tokens")?;
        if max_tokens.as_u64().is_none_or(|tokens| tokens == 0) {
            return Err("max_tokens: Input should be greater than or equal to 1".into());
        }
    }
    check_scalars(version, fields)?;
    let tools = check_tools(fields)?;
    check_unions(compiled(fields))?;
    check_tool_choice(fields, &tools)?;
    check_thinking(fields)?;
    if let Some(system) = fields.get("system") {
        check_system(system)?;
    }
    let turns = list("messages", required("", fields, "messages")?)?;
    check_turns(version, turns)?;
    let thinking = fields
        .get("thinking")
        .and_then(|thinking| thinking.get("type"));
    if thinking.is_some_and(|kind| kind == "enabled") {
        check_calls_had_thinking(turns)?;
    }
    // 47: a history with tools needs their definitions.
    if tools.is_empty() && turns.iter().any(has_tool_blocks) {
        return Err("tools: must be defined when messages contain tool use or tool results".into());
    }
    if cache_marks(&Value::Object(fields.clone())) > MAX_CACHE_MARKS {
        return Err("A maximum of 4 blocks with cache_control may be provided.".into());
    }
    Ok(())
}

/// The schemas that the real one compiles: that of the answer, and those of strict tools.
fn compiled(fields: &Fields) -> impl Iterator<Item = &Value> {
    let config = fields.get("output_config");
    let answer = config.and_then(|config| config.pointer("/format/schema"));
    let tools = fields.get("tools").and_then(Value::as_array);
    let tools = tools.into_iter().flatten();
    let strict = tools.filter(|tool| tool.get("strict") == Some(&Value::Bool(true)));
    let schemas = strict.filter_map(|tool| tool.get("input_schema"));
    answer.into_iter().chain(schemas)
}

fn check_scalars(version: &str, fields: &Fields) -> Checked {
    if let Some(stream) = fields.get("stream")
        && !stream.is_boolean()
    {
        return Err("stream: Input should be a valid boolean".into());
    }
    for name in SAMPLING {
        let Some(value) = fields.get(*name) else {
            continue;
        };
        // 22: absent under the new version, at most 1 under the old one.
        if version == NEW_VERSION {
            return Err(format!("{name}: is not supported in this version"));
        }
        let range = if *name == "top_k" {
            0.0..=f64::from(u32::MAX)
        } else {
            0.0..=1.0
        };
        if value.as_f64().is_none_or(|value| !range.contains(&value)) {
            return Err(format!("{name}: is out of range"));
        }
    }
    if let Some(sequences) = fields.get("stop_sequences") {
        for sequence in list("stop_sequences", sequences)? {
            if text("stop_sequences", sequence)?.trim().is_empty() {
                return Err("stop_sequences: each must contain non-whitespace".into());
            }
        }
    }
    if let Some(geo) = fields.get("inference_geo") {
        text("inference_geo", geo)?;
    }
    if let Some(metadata) = fields.get("metadata") {
        check_metadata(object("metadata", metadata)?)?;
    }
    if let Some(config) = fields.get("output_config") {
        check_output(object("output_config", config)?)?;
    }
    Ok(())
}

fn check_output(config: &Fields) -> Checked {
    only("output_config.", config, &["format", "effort"])?;
    let Some(format) = config.get("format") else {
        return Ok(());
    };
    let path = "output_config.format";
    let format = object(path, format)?;
    only("output_config.format.", format, &["type", "schema"])?;
    if required(path, format, "type")? != "json_schema" {
        return Err(format!("{path}.type: Input should be 'json_schema'"));
    }
    check_compiled(
        "output_config.format.schema",
        required(path, format, "schema")?,
    )
}

fn check_metadata(metadata: &Fields) -> Checked {
    only("metadata.", metadata, &["user_id"])?;
    let id = metadata.get("user_id").filter(|id| !id.is_null());
    let id = id.map(|id| text("metadata.user_id", id)).transpose()?;
    if id.is_some_and(|id| id.chars().count() > MAX_USER_ID_CHARS) {
        return Err("metadata.user_id: String should have at most 256 characters".into());
    }
    Ok(())
}

/// The names of the tools of a request.
fn check_tools(fields: &Fields) -> Result<BTreeSet<&str>, String> {
    let mut names = BTreeSet::new();
    let Some(tools) = fields.get("tools") else {
        return Ok(names);
    };
    for (at, tool) in list("tools", tools)?.iter().enumerate() {
        let path = format!("tools.{at}");
        let tool = object(&path, tool)?;
        let name = text(&path, required(&path, tool, "name")?)?;
        if !is_word(name) || name.len() > MAX_TOOL_NAME_CHARS {
            return Err(format!(
                "{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            ));
        }
        if !names.insert(name) {
            return Err("tools: Tool names must be unique.".into());
        }
        let kind = tool
            .get("type")
            .map_or("custom", |kind| kind.as_str().unwrap_or_default());
        // Tools of the provider itself have dated type names and fields of their own.
        if kind != "custom" {
            continue;
        }
        only(&format!("{path}."), tool, TOOL_FIELDS)?;
        let schema = object(&path, required(&path, tool, "input_schema")?)?;
        if schema.get("type").is_none_or(|kind| kind != "object") {
            return Err(format!(
                "{path}.input_schema.type: Input should be 'object'"
            ));
        }
        match tool.get("strict") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => {
                let schema = required(&path, tool, "input_schema")?;
                check_compiled(&format!("{path}.input_schema"), schema)?;
            }
            Some(_) => return Err(format!("{path}.strict: Input should be a valid boolean")),
        }
    }
    Ok(names)
}

fn check_tool_choice(fields: &Fields, tools: &BTreeSet<&str>) -> Checked {
    let Some(choice) = fields.get("tool_choice") else {
        return Ok(());
    };
    // 45: a choice without tools.
    if tools.is_empty() {
        return Err("tool_choice: may only be specified while providing tools".into());
    }
    let choice = object("tool_choice", choice)?;
    let kind = text("tool_choice.type", required("tool_choice", choice, "type")?)?;
    let known: &[&str] = match kind {
        "auto" | "any" => &["type", "disable_parallel_tool_use"],
        "tool" => &["type", "name", "disable_parallel_tool_use"],
        "none" => &["type"],
        _ => return Err("tool_choice.type: should be 'auto', 'any', 'tool' or 'none'".into()),
    };
    only("tool_choice.", choice, known)?;
    if kind == "tool" {
        let name = text("tool_choice.name", required("tool_choice", choice, "name")?)?;
        if !tools.contains(name) {
            return Err(format!("Tool '{name}' not found in provided tools"));
        }
    }
    Ok(())
}

fn check_thinking(fields: &Fields) -> Checked {
    let Some(thinking) = fields.get("thinking") else {
        return Ok(());
    };
    let thinking = object("thinking", thinking)?;
    let kind = text("thinking.type", required("thinking", thinking, "type")?)?;
    match kind {
        "disabled" => return only("thinking.", thinking, &["type"]),
        "adaptive" => only("thinking.", thinking, &["type", "display"])?,
        "enabled" => {
            only("thinking.", thinking, &["type", "budget_tokens", "display"])?;
            let budget = required("thinking", thinking, "budget_tokens")?.as_u64();
            if budget.is_none_or(|tokens| tokens < MIN_THINKING_TOKENS) {
                return Err("thinking.budget_tokens: should be at least 1024".into());
            }
            let limit = fields.get("max_tokens").and_then(Value::as_u64);
            if limit.is_some_and(|limit| budget >= Some(limit)) {
                return Err("max_tokens must be greater than thinking.budget_tokens".into());
            }
        }
        _ => return Err("thinking.type: should be 'enabled', 'adaptive' or 'disabled'".into()),
    }
    let choice = fields
        .get("tool_choice")
        .and_then(|choice| choice.get("type"));
    // What adapts itself may be forced to call.
    if kind == "enabled" && choice.is_some_and(|kind| kind == "any" || kind == "tool") {
        return Err("Thinking may not be enabled when tool_choice forces tool use.".into());
    }
    let temperature = fields.get("temperature").and_then(Value::as_f64);
    if temperature.is_some_and(|temperature| temperature < 1.0) {
        return Err("`temperature` may only be set to 1 when thinking is enabled.".into());
    }
    Ok(())
}

fn check_system(system: &Value) -> Checked {
    match system {
        Value::String(_) => Ok(()),
        Value::Array(blocks) => {
            for (at, block) in blocks.iter().enumerate() {
                let path = format!("system.{at}");
                let block = object(&path, block)?;
                if block.get("type").is_none_or(|kind| kind != "text") {
                    return Err(format!("{path}.type: should be 'text'"));
                }
                check_text(&path, block)?;
            }
            Ok(())
        }
        _ => Err("system: should be a string or a list of text blocks".into()),
    }
}

fn cache_marks(value: &Value) -> usize {
    match value {
        Value::Array(all) => all.iter().map(cache_marks).sum(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| match (name.as_str(), value) {
                ("cache_control", Value::Object(_)) => 1,
                // Free-form places: a field of that name there is data.
                ("input" | "input_schema" | "input_examples", _) => 0,
                _ => cache_marks(value),
            })
            .sum(),
        _ => 0,
    }
}

pub(crate) fn only(prefix: &str, fields: &Fields, known: &[&str]) -> Checked {
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(format!("{prefix}{name}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

pub(crate) fn required<'v>(
    path: &str,
    fields: &'v Fields,
    name: &str,
) -> Result<&'v Value, String> {
    let separator = if path.is_empty() { "" } else { "." };
    fields
        .get(name)
        .ok_or_else(|| format!("{path}{separator}{name}: Field required"))
}

pub(crate) fn object<'v>(path: &str, value: &'v Value) -> Result<&'v Fields, String> {
    value
        .as_object()
        .ok_or_else(|| format!("{path}: Input should be an object"))
}

pub(crate) fn list<'v>(path: &str, value: &'v Value) -> Result<&'v [Value], String> {
    value
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| format!("{path}: Input should be a valid list"))
}

pub(crate) fn text<'v>(path: &str, value: &'v Value) -> Result<&'v str, String> {
    value
        .as_str()
        .ok_or_else(|| format!("{path}: Input should be a valid string"))
}

pub(crate) fn is_word(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !text.is_empty() && text.bytes().all(word)
}
