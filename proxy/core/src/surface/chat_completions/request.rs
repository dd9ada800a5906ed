//! Request bodies of the chat-completions surface as canonical chats.
//!
//! Three kinds of parameters besides the mapped ones: inert by the specification (checked for shape, then
//! forgotten), such that only their meaningless values pass, and foreign, refused by name (wire.md 3).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::turns::turns;
use crate::chat::{ChatRequest, ResponseFormat, Sampling, Tool, ToolChoice};
use crate::fault::{Fault, Problems};
use crate::json;
use crate::surface::blocks;
use crate::surface::fields::{Fields, Path};
use crate::surface::places::{Decoded, Places, Words};
use crate::surface::turns::into_messages;

/// Spec, Limits.
const MAX_TOKENS: u32 = 32_000;
/// Spec, Limits.
const MAX_TEMPERATURE: f64 = 2.0;
/// The wire format's own limit of stop sequences (wire.md 2).
const MAX_STOPS: usize = 4;
/// The wire format's own limit of replies to one request.
const MAX_CHOICES: f64 = 128.0;
/// The wire format's own limit for the names of tools and schemas (wire.md 2, point 8).
pub(super) const MAX_NAME_CHARS: usize = 64;
/// Names of this surface that differ from those of a chat.
const WORDS: Words = Words {
    request: &[
        ("max_output_tokens", "max_tokens"),
        ("stop_sequences", "stop"),
        ("response_format.name", "response_format.json_schema.name"),
        (
            "response_format.strict",
            "response_format.json_schema.strict",
        ),
        (SCHEMA, "response_format.json_schema.schema"),
        ("effort", "reasoning_effort"),
    ],
    tool: &[
        ("name", "function.name"),
        ("description", "function.description"),
        ("input_schema", "function.parameters"),
        ("strict", "function.strict"),
    ],
    part: &[
        ("name", "function.name"),
        ("arguments", "function.arguments"),
        ("call_id", "tool_call_id"),
        ("title", "file.filename"),
        // Only files are refused for what they are.
        ("media", "file.file_data"),
        // At the front of a data URL.
        ("media_type", ""),
    ],
};
/// The place in a chat of what an answer has to conform to.
const SCHEMA: &str = "response_format.schema";

/// Reads a body of `POST /v1/chat/completions`.
///
/// # Errors
/// `VALIDATION_FAILED` with every problem; `UNSUPPORTED_PARAMETER` for a parameter that this surface cannot
/// honour.
pub fn decode(body: &[u8]) -> Result<Decoded, Fault> {
    let mut fields = Fields::top(json::object(body)?);
    let mut problems = Problems::default();
    let model = fields
        .required_string("model", &mut problems)
        .unwrap_or_default();
    fields.require("messages", &mut problems);
    let messages = fields.array("messages", &mut problems).unwrap_or_default();
    let (system, turns) = turns(messages, &mut problems);
    let (messages, turns) = into_messages(turns);
    let mut places = Places::new(system.places, turns, &WORDS);
    let tools = tools(&mut fields, &mut problems);
    let tool_choice = tool_choice(&mut fields, &tools, &mut places, &mut problems);
    let parallel_tool_calls = fields.boolean("parallel_tool_calls", &mut problems);
    let max_tokens = max_tokens(&mut fields, &mut places, &mut problems);
    let stream = fields.boolean("stream", &mut problems).unwrap_or(false);
    let temperature = fields.number("temperature", 0.0..=MAX_TEMPERATURE, &mut problems);
    let response_format = response_format(&mut fields, &mut places, &mut problems);
    let ext = only_some(&mut fields, &mut problems);
    inert(&mut fields, &mut problems);
    meaningless(&mut fields, &mut problems);
    fields.end(&mut problems);
    problems.into_compat_result()?;
    let chat = ChatRequest {
        model,
        system: system.parts,
        has_house_prompt: false,
        messages,
        tools,
        tool_choice,
        parallel_tool_calls,
        max_tokens,
        sampling: Sampling {
            temperature,
            top_p: None,
            top_k: None,
        },
        stop_sequences: Vec::new(),
        response_format,
        reasoning_tokens: None,
        metadata: BTreeMap::new(),
        stream,
        ext,
    };
    Ok(Decoded { chat, places })
}

/// Parameters that some drivers honour and the others refuse by name.
fn only_some(fields: &mut Fields<'_>, problems: &mut Problems) -> Map<String, Value> {
    let mut ext = Map::new();
    if let Some(effort) = fields.word("reasoning_effort", EFFORTS, problems) {
        ext.insert("must-effort".to_owned(), json!(effort));
    }
    if let Some(verbosity) = fields.word("verbosity", &["low", "medium", "high"], problems) {
        ext.insert("must-verbosity".to_owned(), json!(verbosity));
    }
    if let Some(seed) = fields.take("seed") {
        let number = seed.as_number().and_then(json::integer);
        match number {
            Some(number) => drop(ext.insert("must-seed".to_owned(), number.into())),
            None => problems.add("seed", "must be a whole number that fits 64 bits"),
        }
    }
    ext
}

/// Words of `reasoning_effort`.
const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// `max_tokens`, or its newer name (wire.md 3).
fn max_tokens(
    fields: &mut Fields<'_>,
    places: &mut Places,
    problems: &mut Problems,
) -> Option<u32> {
    let names = ["max_completion_tokens", "max_tokens"];
    let [newer, older] = names.map(|name| {
        let limit = fields.count(name, 1, problems)?;
        if limit > MAX_TOKENS {
            problems.add(name, format!("must be from 1 to {MAX_TOKENS}"));
        }
        Some(limit)
    });
    if let (Some(newer), Some(older)) = (newer, older)
        && newer != older
    {
        problems.add("max_tokens", "differs from max_completion_tokens");
    }
    if newer.is_some() {
        places.move_to("max_output_tokens", "max_completion_tokens");
    }
    newer.or(older)
}

/// Spec, Endpoints: shape-validated, without effect; with them what only concerns how a provider or a client
/// keeps its books (wire.md 3).
fn inert(fields: &mut Fields<'_>, problems: &mut Problems) {
    fields.number("top_p", 0.0..=1.0, problems);
    for penalty in ["frequency_penalty", "presence_penalty"] {
        fields.number(penalty, -2.0..=2.0, problems);
    }
    if let Some(choices) = fields.count("n", 1, problems)
        && f64::from(choices) > MAX_CHOICES
    {
        problems.add("n", format!("must be from 1 to {MAX_CHOICES}"));
    }
    stop(fields, problems);
    for name in ["user", "safety_identifier", "prompt_cache_key"] {
        fields.string(name, problems);
    }
    fields.word(
        "prompt_cache_retention",
        &["in_memory", "in-memory", "24h"],
        problems,
    );
    if let Some(value) = fields.take("prompt_cache_options")
        && let Some(mut options) = Fields::of(value, "prompt_cache_options", problems)
    {
        options.word("mode", &["implicit", "explicit"], problems);
        options.string("ttl", problems);
        options.end(problems);
    }
    if let Some(entries) = fields.object("metadata", problems) {
        for (name, value) in &entries {
            if !value.is_string() {
                problems.add(format!("metadata.{name}"), "must be a string");
            }
        }
    }
    if let Some(value) = fields.take("stream_options")
        && let Some(mut options) = Fields::of(value, "stream_options", problems)
    {
        options.boolean("include_usage", problems);
        options.boolean("include_obfuscation", problems);
        options.end(problems);
    }
}

fn stop(fields: &mut Fields<'_>, problems: &mut Problems) {
    let is_wrong = match fields.take("stop") {
        None | Some(Value::String(_)) => false,
        Some(Value::Array(stops)) => stops.len() > MAX_STOPS || !stops.iter().all(Value::is_string),
        Some(_) => true,
    };
    if is_wrong {
        problems.add(
            "stop",
            format!("must be a string or up to {MAX_STOPS} strings"),
        );
    }
}

/// Parameters that change the reply in a way that not every model has: what asks for nothing passes.
fn meaningless(fields: &mut Fields<'_>, problems: &mut Problems) {
    for name in ["store", "logprobs"] {
        fields.only(name, |value| *value == json!(false), problems);
    }
    fields.only("modalities", |value| *value == json!(["text"]), problems);
    fields.only(
        "service_tier",
        |value| *value == json!("auto") || *value == json!("default"),
        problems,
    );
    fields.only(
        "logit_bias",
        |value| value.as_object().is_some_and(Map::is_empty),
        problems,
    );
    for name in [
        "top_logprobs",
        "audio",
        "prediction",
        "web_search_options",
        "functions",
        "function_call",
    ] {
        fields.only(name, |_| false, problems);
    }
}

fn tools(fields: &mut Fields<'_>, problems: &mut Problems) -> Vec<Tool> {
    let items = fields.array("tools", problems).unwrap_or_default();
    let items = blocks::at_most(blocks::MAX_TOOLS, "tools", items, "tools", problems);
    let all = Path::Name("tools");
    let mut tools: Vec<Tool> = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        let path = all.item(at);
        let Some(tool) = tool(item, path, problems) else {
            continue;
        };
        let name_path = path.field("function.name");
        blocks::check_tool_name(&tool.name, MAX_NAME_CHARS, name_path, problems);
        if tools.iter().any(|other| other.name == tool.name) {
            problems.add(name_path, "is used by another tool");
        }
        tools.push(tool);
    }
    tools
}

/// `{type: function, function: {name, description, parameters, strict}}`.
fn tool(item: Value, path: Path<'_>, problems: &mut Problems) -> Option<Tool> {
    let mut fields = Fields::of(item, path, problems)?;
    let kind = fields.required_string("type", problems)?;
    if kind != "function" {
        problems.add_foreign(path.field("type"), "must be function");
        return None;
    }
    fields.require("function", problems);
    let function = fields.take("function")?;
    let mark = blocks::decode_mark(&mut fields, problems);
    fields.end(problems);
    let mut function = Fields::of(function, path.field("function"), problems)?;
    // Clients that send one have it at either place.
    let cache_mark = blocks::decode_mark(&mut function, problems).or(mark);
    let name = function.required_string("name", problems);
    let description = function.string("description", problems);
    // Left out or empty, it is a tool without arguments.
    let parameters = function
        .object("parameters", problems)
        .filter(|schema| !schema.is_empty());
    if let Some(schema) = &parameters {
        let path = function.path();
        blocks::check_schema(schema, path.field("parameters"), problems);
    }
    let strict = function.boolean("strict", problems);
    function.end(problems);
    Some(Tool {
        name: name?,
        description,
        input_schema: parameters.map_or_else(blocks::empty_schema, Value::Object),
        input_examples: None,
        strict,
        cache_mark,
    })
}

/// Where the function to call is named.
const NAME_OF_CHOICE: &str = "tool_choice.function.name";

/// A word, or the function to call.
fn tool_choice(
    fields: &mut Fields<'_>,
    tools: &[Tool],
    places: &mut Places,
    problems: &mut Problems,
) -> Option<ToolChoice> {
    let choice = match fields.take("tool_choice")? {
        Value::String(word) => match word.as_str() {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            "required" => ToolChoice::Required,
            _ => {
                problems.add("tool_choice", "must be auto, none, required or a function");
                return None;
            }
        },
        other => {
            places.move_to("tool_choice", NAME_OF_CHOICE);
            ToolChoice::Named(named_function(other, problems)?)
        }
    };
    // Both provider kinds refuse a choice without anything to choose from (wire.md 2, point 45).
    if tools.is_empty() {
        problems.add("tool_choice", "needs tools");
    } else if let ToolChoice::Named(name) = &choice
        && !tools.iter().any(|tool| tool.name == *name)
    {
        problems.add(NAME_OF_CHOICE, "names no tool of this request");
    }
    Some(choice)
}

fn named_function(value: Value, problems: &mut Problems) -> Option<String> {
    let mut choice = Fields::of(value, "tool_choice", problems)?;
    if choice.required_string("type", problems)? != "function" {
        problems.add_foreign("tool_choice.type", "must be function");
        return None;
    }
    choice.require("function", problems);
    let function = choice.take("function")?;
    choice.end(problems);
    let mut function = Fields::of(function, "tool_choice.function", problems)?;
    let name = function.required_string("name", problems);
    function.end(problems);
    name
}

fn response_format(
    fields: &mut Fields<'_>,
    places: &mut Places,
    problems: &mut Problems,
) -> Option<ResponseFormat> {
    let value = fields.take("response_format")?;
    let mut format = Fields::of(value, "response_format", problems)?;
    format.require("type", problems);
    let kind = format.word("type", &["text", "json_object", "json_schema"], problems)?;
    let decoded = match kind {
        "json_object" => Some(ResponseFormat::JsonObject),
        "json_schema" => {
            format.require("json_schema", problems);
            let inner = format.take("json_schema");
            inner.and_then(|value| json_schema(value, places, problems))
        }
        _ => None,
    };
    format.end(problems);
    decoded
}

/// `{name, description, schema, strict}`. The description joins the schema, where JSON Schema has a place for
/// it; one that stands there already is the more exact of the two.
fn json_schema(
    value: Value,
    places: &mut Places,
    problems: &mut Problems,
) -> Option<ResponseFormat> {
    const PATH: &str = "response_format.json_schema";
    let mut fields = Fields::of(value, PATH, problems)?;
    let name = fields.required_string("name", problems);
    // A schema's name has the form of a tool's.
    if let Some(name) = &name {
        blocks::check_tool_name(
            name,
            MAX_NAME_CHARS,
            Path::Name(PATH).field("name"),
            problems,
        );
    }
    let description = fields.string("description", problems);
    fields.require("schema", problems);
    let schema = fields.object("schema", problems);
    let strict = fields.boolean("strict", problems);
    fields.end(problems);
    let mut schema = schema?;
    if let Some(description) = description
        && !schema.contains_key("description")
    {
        schema.insert("description".to_owned(), Value::String(description));
        // Both are the schema from here on.
        places.move_to(SCHEMA, PATH);
    }
    Some(ResponseFormat::JsonSchema {
        name,
        schema: Value::Object(schema),
        strict,
    })
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
