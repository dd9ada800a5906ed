//! What the chat-completions wire format refuses in a request's top-level fields.
//!
//! A field that the format does not know is refused, not skipped. The numbers behind rules are the points of
//! wire.md 2.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::fake_provider::chat::messages::{check_messages, says_json};
use crate::fake_provider::chat::schema::{check_parameters, check_schema};
use crate::fake_provider::messages::validation::{
    Checked, Fields, is_word, list, object, only, required, text,
};

const FIELDS: &[&str] = &[
    "model",
    "messages",
    "max_completion_tokens",
    "stream",
    "stream_options",
    "stop",
    "temperature",
    "top_p",
    "n",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "reasoning_effort",
    "verbosity",
    "seed",
    "service_tier",
    "user",
    "metadata",
    "store",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
];
const FUNCTION_FIELDS: &[&str] = &["name", "description", "parameters", "strict"];

/// The real one takes four.
const MAX_STOP_SEQUENCES: usize = 4;
/// Longest name of a tool, a schema or an author.
const MAX_NAME_CHARS: usize = 64;
const MAX_TOOLS: usize = 128;
/// Longest `user`.
const MAX_USER_CHARS: usize = 64;

/// Refuses a body that the real one would refuse.
pub(crate) fn check(body: &Value) -> Checked {
    let fields = object("body", body)?;
    // 24: models of today take the new name alone.
    if fields.contains_key("max_tokens") {
        return Err(
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.".into(),
        );
    }
    only("", fields, FIELDS)?;
    text("model", required("", fields, "model")?)?;
    check_scalars(fields)?;
    check_stop(fields)?;
    let tools = check_tools(fields)?;
    check_tool_choice(fields, &tools)?;
    let messages = list("messages", required("", fields, "messages")?)?;
    check_messages(messages)?;
    check_format(fields, messages)
}

fn check_scalars(fields: &Fields) -> Checked {
    let stream = flag(fields, "stream")?;
    flag(fields, "store")?;
    if let Some(options) = present(fields, "stream_options") {
        if stream != Some(true) {
            return Err("stream_options: is only allowed when 'stream' is enabled".into());
        }
        let options = object("stream_options", options)?;
        only(
            "stream_options.",
            options,
            &["include_usage", "include_obfuscation"],
        )?;
        flag(options, "include_usage")?;
    }
    if let Some(limit) = present(fields, "max_completion_tokens")
        && limit.as_u64().is_none_or(|tokens| tokens == 0)
    {
        return Err("max_completion_tokens: Expected a value >= 1".into());
    }
    if present(fields, "n").is_some_and(|n| n != 1) {
        return Err("n: this provider gives one choice".into());
    }
    for (name, highest) in [("temperature", 2.0), ("top_p", 1.0)] {
        if let Some(value) = present(fields, name)
            && value
                .as_f64()
                .is_none_or(|value| !(0.0..=highest).contains(&value))
        {
            return Err(format!("{name}: is out of range"));
        }
    }
    for name in ["user", "reasoning_effort", "verbosity"] {
        if let Some(value) = present(fields, name) {
            text(name, value)?;
        }
    }
    if let Some(user) = present(fields, "user")
        && text("user", user)?.chars().count() > MAX_USER_CHARS
    {
        return Err(
            "Invalid 'user': string too long. Expected a string with maximum length 64.".into(),
        );
    }
    if let Some(tier) = present(fields, "service_tier")
        && !["auto", "default", "flex", "priority"]
            .iter()
            .any(|known| tier == known)
    {
        return Err("service_tier: is not a known tier".into());
    }
    Ok(())
}

fn check_stop(fields: &Fields) -> Checked {
    match present(fields, "stop") {
        None | Some(Value::String(_)) => Ok(()),
        Some(several) => {
            let several = list("stop", several)?;
            if !(1..=MAX_STOP_SEQUENCES).contains(&several.len()) {
                return Err("stop: Expected an array with 1 to 4 items".into());
            }
            several
                .iter()
                .try_for_each(|one| text("stop", one).map(drop))
        }
    }
}

/// The names of the tools of a request.
fn check_tools(fields: &Fields) -> Result<BTreeSet<&str>, String> {
    let mut names = BTreeSet::new();
    let Some(tools) = present(fields, "tools") else {
        return Ok(names);
    };
    let tools = list("tools", tools)?;
    if !(1..=MAX_TOOLS).contains(&tools.len()) {
        return Err("tools: Expected an array with 1 to 128 items".into());
    }
    for (at, tool) in tools.iter().enumerate() {
        let path = format!("tools.{at}");
        let tool = object(&path, tool)?;
        only(&format!("{path}."), tool, &["type", "function"])?;
        if required(&path, tool, "type")? != "function" {
            return Err(format!("{path}.type: should be 'function'"));
        }
        let path = format!("{path}.function");
        let function = object(&path, required(&path, tool, "function")?)?;
        only(&format!("{path}."), function, FUNCTION_FIELDS)?;
        let name = text(&path, required(&path, function, "name")?)?;
        check_name(&path, name)?;
        if !names.insert(name) {
            return Err("tools: names must be unique".into());
        }
        if let Some(parameters) = present(function, "parameters") {
            let parameters = object(&format!("{path}.parameters"), parameters)?;
            if parameters.get("type").is_none_or(|kind| kind != "object") {
                return Err(format!(
                    "Invalid schema for function '{name}': type must be 'object'"
                ));
            }
            let strict = flag(function, "strict")? == Some(true);
            check_parameters(&format!("function '{name}'"), parameters, strict)?;
        }
        flag(function, "strict")?;
    }
    Ok(names)
}

fn check_tool_choice(fields: &Fields, tools: &BTreeSet<&str>) -> Checked {
    // 45: a choice without tools.
    for name in ["tool_choice", "parallel_tool_calls"] {
        if tools.is_empty() && present(fields, name).is_some() {
            return Err(format!(
                "{name}: is only allowed when 'tools' are specified"
            ));
        }
    }
    flag(fields, "parallel_tool_calls")?;
    let Some(choice) = present(fields, "tool_choice") else {
        return Ok(());
    };
    if let Some(word) = choice.as_str() {
        return match word {
            "auto" | "none" | "required" => Ok(()),
            _ => Err("tool_choice: should be 'auto', 'none', 'required' or a function".into()),
        };
    }
    let choice = object("tool_choice", choice)?;
    only("tool_choice.", choice, &["type", "function"])?;
    if required("tool_choice", choice, "type")? != "function" {
        return Err("tool_choice.type: should be 'function'".into());
    }
    let function = required("tool_choice", choice, "function")?;
    let function = object("tool_choice.function", function)?;
    only("tool_choice.function.", function, &["name"])?;
    let name = text(
        "tool_choice.function",
        required("tool_choice.function", function, "name")?,
    )?;
    if tools.contains(name) {
        Ok(())
    } else {
        Err(format!(
            "tool_choice: function '{name}' not found in 'tools'"
        ))
    }
}

fn check_format(fields: &Fields, messages: &[Value]) -> Checked {
    let Some(format) = present(fields, "response_format") else {
        return Ok(());
    };
    let format = object("response_format", format)?;
    match text(
        "response_format",
        required("response_format", format, "type")?,
    )? {
        "text" => only("response_format.", format, &["type"]),
        "json_object" => {
            only("response_format.", format, &["type"])?;
            if messages.iter().any(says_json) {
                Ok(())
            } else {
                Err(
                    "'messages' must contain the word 'json' in some form, to use \
                     'response_format' of type 'json_object'."
                        .into(),
                )
            }
        }
        "json_schema" => {
            only("response_format.", format, &["type", "json_schema"])?;
            let path = "response_format.json_schema";
            let schema = object(path, required("response_format", format, "json_schema")?)?;
            only(
                "response_format.json_schema.",
                schema,
                &["name", "description", "schema", "strict"],
            )?;
            check_name(path, text(path, required(path, schema, "name")?)?)?;
            let strict = flag(schema, "strict")? == Some(true);
            match present(schema, "schema") {
                Some(fields) => check_schema("response_format", object(path, fields)?, strict),
                None => Ok(()),
            }
        }
        _ => Err("response_format.type: should be 'text', 'json_object' or 'json_schema'".into()),
    }
}

/// 8: the names that tools and schemas may have.
pub(crate) fn check_name(path: &str, name: &str) -> Checked {
    if is_word(name) && name.len() <= MAX_NAME_CHARS {
        Ok(())
    } else {
        Err(format!(
            "{path}.name: Expected a string that matches the pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
        ))
    }
}

/// A field that is there and not null.
pub(crate) fn present<'v>(fields: &'v Fields, name: &str) -> Option<&'v Value> {
    fields.get(name).filter(|value| !value.is_null())
}

fn flag(fields: &Fields, name: &str) -> Result<Option<bool>, String> {
    match present(fields, name) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!("{name}: expected a boolean")),
    }
}
