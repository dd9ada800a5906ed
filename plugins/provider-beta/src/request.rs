//! The canonical request as a chat-completions request.

use driver_kit::fault::{invalid, unsupported};
use driver_kit::json::Passed;
use driver_kit::{is_tool_name, post, user_id};

use crate::bindings::gateway::provider::types::{
    ChatRequest, DriverError, Framing, PartBody, ResponseFormat, ResultBody, ToolChoice,
    UpstreamRequest,
};
use crate::ids::ids;
use crate::messages::messages;
use crate::schema::{is_closed, spelled_out};
use crate::wire;

const PATH: &str = "/v1/chat/completions";
/// Most tools of a request.
const MAX_TOOLS: usize = 128;
/// Most stop sequences (wire notes 2, mapping).
const MAX_STOP_SEQUENCES: usize = 4;
/// Longest name of a tool or a schema (wire notes 2, point 8).
const MAX_NAME_CHARS: usize = 64;
/// Longest user's name that kind B takes.
const MAX_USER_CHARS: usize = 64;
/// Highest temperature; lower than 0 is none (wire notes 2, point 22).
const MAX_TEMPERATURE: f64 = 2.0;
/// Kind B wants a name for every schema.
const SCHEMA_NAME: &str = "response";
/// Parameters that pass as they came.
const PASSED: [&str; 4] = ["reasoning_effort", "seed", "service_tier", "verbosity"];
/// The canonical name of `reasoning_effort`, whose words are the same.
const EFFORT: &str = "effort";
/// Kind A's word for the ordinary tier, and kind B's.
const ORDINARY_TIER: [&[u8]; 2] = [br#""standard_only""#, br#""default""#];

/// Builds the upstream request.
pub fn build(chat: &ChatRequest) -> Result<UpstreamRequest, DriverError> {
    check_called(chat)?;
    let ids = ids(&chat.messages);
    let request = wire::Request {
        model: &chat.model,
        messages: messages(chat, &ids)?,
        tools: tools(chat)?,
        tool_choice: tool_choice(chat)?,
        // Without tools it is a 400.
        parallel_tool_calls: chat.parallel_tool_calls.filter(|_| !chat.tools.is_empty()),
        max_completion_tokens: chat.max_output_tokens,
        temperature: chat
            .temperature
            .map(|value| value.clamp(0.0, MAX_TEMPERATURE)),
        top_p: chat.top_p,
        stop: stop(chat)?,
        response_format: response_format(chat)?,
        user: user_id(&chat.metadata, MAX_USER_CHARS),
        stream: chat.streaming,
        // Without it a stream says nothing of usage (wire notes 2, point 32).
        stream_options: chat.streaming.then_some(wire::StreamOptions {
            include_usage: true,
        }),
        passed: passed(chat)?,
    };
    refuse_unknown(chat)?;
    let framing = if chat.streaming {
        Framing::Sse
    } else {
        Framing::WholeBody
    };
    post(PATH, &[], framing, &request)
}

/// Parameters that have no place at kind B.
fn refuse_unknown(chat: &ChatRequest) -> Result<(), DriverError> {
    if chat.top_k.is_some() {
        return Err(unsupported("top_k"));
    }
    if chat.reasoning_tokens.is_some() {
        return Err(unsupported("thinking"));
    }
    Ok(())
}

/// A name that only kind A takes is refused as such.
fn check_name(name: &str, place: &str) -> Result<(), DriverError> {
    if is_tool_name(name, MAX_NAME_CHARS) {
        Ok(())
    } else if is_tool_name(name, name.len()) {
        Err(unsupported(place))
    } else {
        Err(invalid(place, "tool_name"))
    }
}

/// Calls of the history may have been made by another kind.
fn check_called(chat: &ChatRequest) -> Result<(), DriverError> {
    for (turn, message) in chat.messages.iter().enumerate() {
        let too_long = message.content.iter().position(|part| match &part.body {
            PartBody::ToolCall(call) => call.name.chars().count() > MAX_NAME_CHARS,
            _ => false,
        });
        if let Some(at) = too_long {
            let place = format!("messages[{turn}].content[{at}].name");
            return Err(unsupported(&place));
        }
    }
    Ok(())
}

fn tools(chat: &ChatRequest) -> Result<Vec<wire::Tool<'_>>, DriverError> {
    if chat.tools.len() > MAX_TOOLS {
        return Err(unsupported("tools"));
    }
    let mut tools = Vec::with_capacity(chat.tools.len());
    for (index, tool) in chat.tools.iter().enumerate() {
        check_name(&tool.name, &format!("tools[{index}].name"))?;
        if tool.strict == Some(true) && !is_closed(&tool.input_schema) {
            return Err(unsupported(&format!("tools[{index}].strict")));
        }
        tools.push(wire::Tool {
            kind: "function",
            function: wire::Function {
                name: &tool.name,
                description: tool.description.as_deref(),
                parameters: spelled_out(
                    &tool.input_schema,
                    &format!("tools[{index}].input_schema"),
                )?,
                strict: tool.strict,
            },
        });
    }
    Ok(tools)
}

fn tool_choice(chat: &ChatRequest) -> Result<Option<wire::ToolChoice<'_>>, DriverError> {
    let word = |word| Ok(Some(wire::ToolChoice::Word(word)));
    let no_tools = chat.tools.is_empty();
    match &chat.tool_choice {
        None => Ok(None),
        // Without tools any choice is a 400; auto and none mean the same as no choice at all.
        Some(ToolChoice::Auto | ToolChoice::None) if no_tools => Ok(None),
        Some(_) if no_tools => Err(invalid("tool_choice", "no_tools")),
        Some(ToolChoice::Auto) => word("auto"),
        Some(ToolChoice::None) => word("none"),
        Some(ToolChoice::Required) => word("required"),
        Some(ToolChoice::Named(name)) if chat.tools.iter().any(|tool| &tool.name == name) => {
            Ok(Some(wire::ToolChoice::Named {
                kind: "function",
                function: wire::Named { name },
            }))
        }
        Some(ToolChoice::Named(_)) => Err(invalid("tool_choice", "unknown_tool")),
        Some(ToolChoice::Other(_)) => Err(unsupported("tool_choice")),
    }
}

fn stop(chat: &ChatRequest) -> Result<&[String], DriverError> {
    if chat.stop_sequences.len() > MAX_STOP_SEQUENCES {
        return Err(unsupported("stop_sequences"));
    }
    Ok(&chat.stop_sequences)
}

fn response_format(chat: &ChatRequest) -> Result<Option<wire::ResponseFormat<'_>>, DriverError> {
    match &chat.response_format {
        None => Ok(None),
        Some(ResponseFormat::JsonObject) if says_json(chat) => {
            Ok(Some(wire::ResponseFormat::JsonObject))
        }
        Some(ResponseFormat::JsonObject) => Err(invalid("response_format", "no_json_word")),
        Some(ResponseFormat::JsonSchema(format)) => {
            let name = format.name.as_deref().unwrap_or(SCHEMA_NAME);
            // A schema's name has the form of a tool's.
            if !is_tool_name(name, MAX_NAME_CHARS) {
                return Err(invalid("response_format", "schema_name"));
            }
            if format.strict == Some(true) && !is_closed(&format.schema) {
                return Err(unsupported("response_format.strict"));
            }
            Ok(Some(wire::ResponseFormat::JsonSchema {
                json_schema: wire::JsonSchema {
                    name,
                    schema: spelled_out(&format.schema, "response_format")?,
                    strict: format.strict,
                },
            }))
        }
        Some(ResponseFormat::Other(_)) => Err(unsupported("response_format")),
    }
}

/// Kind B answers a request for some JSON that speaks of none with 400.
fn says_json(chat: &ChatRequest) -> bool {
    let said = |text: &str| text.to_ascii_lowercase().contains("json");
    let turns = chat.messages.iter().flat_map(|message| &message.content);
    chat.system
        .iter()
        .chain(turns)
        .any(|part| match &part.body {
            PartBody::Text(text) => said(text),
            PartBody::ToolResult(result) => result
                .content
                .iter()
                .any(|part| matches!(&part.body, ResultBody::Text(text) if said(text))),
            _ => false,
        })
}

fn passed(chat: &ChatRequest) -> Result<Passed<'_>, DriverError> {
    let mut passed = Passed::default();
    for (name, value) in &chat.ext {
        let (required, bare) = match name.strip_prefix("must-") {
            Some(bare) => (true, bare),
            None => (false, name.as_str()),
        };
        let bare = if bare == EFFORT {
            "reasoning_effort"
        } else {
            bare
        };
        let [of_a, of_b] = ORDINARY_TIER;
        let value = if value == of_a { of_b } else { value };
        if PASSED.contains(&bare) {
            passed.put(bare, value)?;
        } else if required {
            return Err(unsupported(bare));
        }
    }
    Ok(passed)
}
