//! The canonical request as a Messages request.

use driver_kit::fault::{invalid, unsupported};
use driver_kit::json::{Passed, raw};
use driver_kit::{is_tool_name, post};
use serde_json::value::RawValue;

use crate::bindings::gateway::provider::types::{
    ChatRequest, DriverError, Framing, PartBody, ResponseFormat, ToolChoice, UpstreamRequest,
};
use crate::config::{self, Config};
use crate::turns::{mark, system, turns};
use crate::wire;

const PATH: &str = "/v1/messages";
const COUNT_PATH: &str = "/v1/messages/count_tokens";
const API_VERSION: &str = "anthropic-version";
/// Kind A requires a limit; for a caller without one, what most clients send on their own (wire notes 1).
const DEFAULT_MAX_TOKENS: u32 = 4_096;
/// Kind A's smallest reasoning budget.
const MIN_REASONING_TOKENS: u32 = 1_024;
/// Parameters that pass as they came.
const PASSED: [&str; 2] = ["service_tier", "inference_geo"];
/// Parameters that have a place of their own in the body.
const PLACED: [&str; 2] = [EFFORT, THINKING];
const EFFORT: &str = "effort";
const THINKING: &str = "thinking";
/// What stands in for the definition of a tool that only the history knows.
const ANY_OBJECT: &[u8] = br#"{"type":"object"}"#;

/// Builds the upstream request.
pub fn build(chat: &ChatRequest, config: &Config) -> Result<UpstreamRequest, DriverError> {
    let has_sampling = chat.temperature.is_some() || chat.top_p.is_some() || chat.top_k.is_some();
    let api_version = match config.api_version.as_str() {
        version if has_sampling && version >= config::FIRST_WITHOUT_SAMPLING => config::OLDEST,
        version => version,
    };
    let framing = if chat.streaming {
        Framing::Sse
    } else {
        Framing::WholeBody
    };
    let max_tokens = chat.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    let body = wire::Request {
        max_tokens: Some(max_tokens),
        // Canonical 0 to 2, kind A 0 to 1: clamped, not scaled (wire notes 2, point 22).
        temperature: chat.temperature.map(|value| value.clamp(0.0, 1.0)),
        top_p: chat.top_p,
        top_k: chat.top_k,
        stop_sequences: &chat.stop_sequences,
        metadata: chat
            .metadata
            .iter()
            .find(|(name, _)| name == "user_id")
            .map(|(_, value)| wire::Metadata { user_id: value }),
        stream: Some(chat.streaming),
        passed: passed(chat)?,
        ..prompt(chat, max_tokens)?
    };
    post(PATH, &[(API_VERSION, api_version)], framing, &body)
}

/// Builds the request that counts the tokens of the same prompt.
pub fn build_count(chat: &ChatRequest, config: &Config) -> Result<UpstreamRequest, DriverError> {
    // Nothing is answered, so no reasoning budget can be too large for the answer.
    let body = prompt(chat, u32::MAX)?;
    let headers = [(API_VERSION, config.api_version.as_str())];
    post(COUNT_PATH, &headers, Framing::WholeBody, &body)
}

/// What the prompt consists of, and nothing about the answer.
fn prompt(chat: &ChatRequest, max_tokens: u32) -> Result<wire::Request<'_>, DriverError> {
    let mut tools = tools(chat)?;
    let mut tool_choice = tool_choice(chat)?;
    if tools.is_empty() {
        tools = synthesised(chat)?;
        if !tools.is_empty() {
            // The caller offers no tool now: the history alone needs the definitions (wire notes 2, point 47).
            tool_choice = Some(choice("none", None));
        }
    }
    Ok(wire::Request {
        model: &chat.model,
        max_tokens: None,
        system: system_field(chat)?,
        messages: turns(&chat.messages)?,
        tools,
        tool_choice,
        temperature: None,
        top_p: None,
        top_k: None,
        stop_sequences: &[],
        thinking: thinking(chat, max_tokens)?,
        output_config: output_config(chat)?,
        metadata: None,
        stream: None,
        passed: Passed::default(),
    })
}

/// One unmarked block is a string, as most clients send it.
fn system_field(chat: &ChatRequest) -> Result<wire::System<'_>, DriverError> {
    let blocks = system(&chat.system)?;
    Ok(match blocks.as_slice() {
        [
            wire::Block {
                body: wire::Body::Text { text },
                cache_control: None,
            },
        ] => wire::System::Text(text),
        _ => wire::System::Blocks(blocks),
    })
}

fn tools(chat: &ChatRequest) -> Result<Vec<wire::Tool<'_>>, DriverError> {
    let mut tools = Vec::with_capacity(chat.tools.len());
    for (index, tool) in chat.tools.iter().enumerate() {
        if !is_tool_name(&tool.name) {
            return Err(invalid(&format!("tools[{index}].name"), "tool_name"));
        }
        tools.push(wire::Tool {
            name: &tool.name,
            description: tool.description.as_deref(),
            input_schema: raw(&tool.input_schema, &format!("tools[{index}].input_schema"))?,
            strict: tool.strict,
            cache_control: mark(&tool.cache_mark)?,
        });
    }
    Ok(tools)
}

/// Definitions for the tools that the history calls, by first appearance.
fn synthesised(chat: &ChatRequest) -> Result<Vec<wire::Tool<'_>>, DriverError> {
    let mut tools: Vec<wire::Tool<'_>> = Vec::new();
    for part in chat.messages.iter().flat_map(|message| &message.content) {
        if let PartBody::ToolCall(call) = &part.body {
            if !is_tool_name(&call.name) {
                return Err(invalid("messages", "tool_name"));
            }
            if tools.iter().all(|tool| tool.name != call.name) {
                let input_schema = raw(ANY_OBJECT, "tools")?;
                tools.push(wire::Tool {
                    name: &call.name,
                    description: None,
                    input_schema,
                    strict: None,
                    cache_control: None,
                });
            }
        }
    }
    Ok(tools)
}

const fn choice<'a>(kind: &'static str, name: Option<&'a str>) -> wire::ToolChoice<'a> {
    wire::ToolChoice {
        kind,
        name,
        disable_parallel_tool_use: None,
    }
}

fn tool_choice(chat: &ChatRequest) -> Result<Option<wire::ToolChoice<'_>>, DriverError> {
    if chat.tools.is_empty() {
        // Without tools any choice is a 400; auto and none mean the same as no choice at all.
        return match &chat.tool_choice {
            None | Some(ToolChoice::Auto | ToolChoice::None) => Ok(None),
            Some(_) => Err(invalid("tool_choice", "no_tools")),
        };
    }
    let one_call = (chat.parallel_tool_calls == Some(false)).then_some(true);
    let mut choice = match &chat.tool_choice {
        None if one_call.is_none() => return Ok(None),
        None | Some(ToolChoice::Auto) => choice("auto", None),
        Some(ToolChoice::None) => return Ok(Some(choice("none", None))),
        Some(ToolChoice::Required) => choice("any", None),
        Some(ToolChoice::Named(name)) if chat.tools.iter().any(|tool| &tool.name == name) => {
            choice("tool", Some(name))
        }
        Some(ToolChoice::Named(_)) => return Err(invalid("tool_choice", "unknown_tool")),
        Some(ToolChoice::Other(_)) => return Err(unsupported("tool_choice")),
    };
    choice.disable_parallel_tool_use = one_call;
    Ok(Some(choice))
}

fn thinking(
    chat: &ChatRequest,
    max_tokens: u32,
) -> Result<Option<wire::Thinking<'_>>, DriverError> {
    match chat.reasoning_tokens {
        None => whole_thinking(chat),
        Some(budget) if budget < MIN_REASONING_TOKENS || budget >= max_tokens => {
            Err(invalid("reasoning_tokens", "reasoning_budget"))
        }
        Some(budget_tokens) => Ok(Some(whole_thinking(chat)?.unwrap_or(
            wire::Thinking::Budget {
                kind: "enabled",
                budget_tokens,
            },
        ))),
    }
}

/// What the caller said beyond a budget.
fn whole_thinking(chat: &ChatRequest) -> Result<Option<wire::Thinking<'_>>, DriverError> {
    let value = extra(chat, THINKING).map(serde_json::from_slice::<&RawValue>);
    let value = value.transpose();
    Ok(value
        .map_err(|_| invalid(THINKING, "bad_json"))?
        .map(wire::Thinking::Whole))
}

/// The words of kind A for an effort; less than its lowest is its lowest, and none is not asking for any.
fn effort(chat: &ChatRequest) -> Result<Option<&str>, DriverError> {
    let Some(value) = extra(chat, EFFORT) else {
        return Ok(None);
    };
    let word: &str = serde_json::from_slice(value).map_err(|_| invalid(EFFORT, "bad_json"))?;
    Ok(match word {
        "none" => None,
        "minimal" => Some("low"),
        word => Some(word),
    })
}

/// A parameter without a field of its own; the request's stands behind the catalogue's and wins.
fn extra<'a>(chat: &'a ChatRequest, wanted: &str) -> Option<&'a [u8]> {
    let found = chat.ext.iter().rfind(|(name, _)| bare(name) == wanted);
    found.map(|(_, value)| value.as_slice())
}

/// The name of a parameter, whether or not it must be honoured.
fn bare(name: &str) -> &str {
    name.strip_prefix("must-").unwrap_or(name)
}

fn output_config(chat: &ChatRequest) -> Result<Option<wire::OutputConfig<'_>>, DriverError> {
    let format = match &chat.response_format {
        None => None,
        Some(ResponseFormat::JsonSchema(format)) => Some(wire::OutputFormat {
            kind: "json_schema",
            schema: raw(&format.schema, "response_format")?,
        }),
        // Kind A has no plain JSON mode.
        Some(ResponseFormat::JsonObject | ResponseFormat::Other(_)) => {
            return Err(unsupported("response_format"));
        }
    };
    let effort = effort(chat)?;
    let is_given = format.is_some() || effort.is_some();
    Ok(is_given.then_some(wire::OutputConfig { format, effort }))
}

fn passed(chat: &ChatRequest) -> Result<Passed<'_>, DriverError> {
    let mut passed = Passed::default();
    for (name, value) in &chat.ext {
        let bare = bare(name);
        if PASSED.contains(&bare) {
            passed.put(bare, value)?;
        } else if bare != name.as_str() && !PLACED.contains(&bare) {
            return Err(unsupported(bare));
        }
    }
    Ok(passed)
}
