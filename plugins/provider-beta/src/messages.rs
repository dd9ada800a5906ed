//! The conversation as kind B wants it: one message per tool result, right behind the calls and in their order.

use std::borrow::Cow;
use std::collections::BTreeMap;

use driver_kit::fault::{invalid, unsupported};
use driver_kit::{Ids, check_documents};

use crate::bindings::gateway::provider::types::{
    ChatRequest, DriverError, Message, Part, PartBody, ResultBody, Role, ToolResult,
};
use crate::media::{document, image, is_taken, is_words, text, words};
use crate::wire::{self, CalledFunction, Content, ToolCall};

/// Between the blocks of a system prompt: kind B has one text.
const BLOCK_BREAK: &str = "\n\n";
/// What tells a failed tool from a good one: kind B has no field for it (wire notes 2, point 1).
const ERROR_MARK: &str = "Error: ";
/// Longest author's name.
const MAX_NAME_CHARS: usize = 64;

/// All messages of the request, the system prompt first.
pub fn messages<'a>(
    chat: &'a ChatRequest,
    ids: &'a Ids<'a>,
) -> Result<Vec<wire::Message<'a>>, DriverError> {
    check_documents(&chat.messages, is_taken)?;
    let mut all = Vec::with_capacity(chat.messages.len() + 1);
    all.extend(system(&chat.system)?);
    let mut open: Vec<&str> = Vec::new();
    for turn in chat.messages.chunk_by(|one, next| one.role == next.role) {
        match turn.first().map(|message| message.role) {
            Some(Role::User) => {
                results(turn, &std::mem::take(&mut open), ids, &mut all)?;
                for message in turn {
                    all.extend(user(message)?);
                }
            }
            Some(Role::Assistant) => open = assistant(turn, &open, ids, &mut all)?,
            None => {}
        }
    }
    if open.is_empty() {
        Ok(all)
    } else {
        Err(invalid("messages", "unpaired_tool_call"))
    }
}

/// One message for all blocks (wire notes 2, point 19).
fn system(parts: &[Part]) -> Result<Option<wire::Message<'_>>, DriverError> {
    let mut blocks = Vec::with_capacity(parts.len());
    for part in parts {
        match &part.body {
            PartBody::Text(text) if text.is_empty() => {}
            PartBody::Text(text) => blocks.push(text.as_str()),
            _ => return Err(unsupported("system")),
        }
    }
    Ok((!blocks.is_empty()).then(|| wire::Message::System {
        content: blocks.join(BLOCK_BREAK),
    }))
}

/// The results of a user turn, one message each, in the order of the calls `open` that they answer. A call
/// without a result as well as a result without a call would be a 400.
fn results<'a>(
    turn: &'a [Message],
    open: &[&str],
    ids: &'a Ids<'a>,
    all: &mut Vec<wire::Message<'a>>,
) -> Result<(), DriverError> {
    let parts = turn.iter().flat_map(|message| &message.content);
    let mut results: Vec<&ToolResult> = parts
        .filter_map(|part| match &part.body {
            PartBody::ToolResult(result) => Some(result),
            _ => None,
        })
        .collect();
    let order: BTreeMap<&str, usize> = open.iter().copied().zip(0..).collect();
    results.sort_by_cached_key(|result| order.get(result.call_id.as_str()).copied());
    let answered = results.iter().map(|result| result.call_id.as_str());
    if !answered.eq(open.iter().copied()) {
        return Err(invalid("messages", "unpaired_tool_call"));
    }
    let mut attached = Vec::new();
    for result in results {
        all.push(wire::Message::Tool {
            tool_call_id: ids.name(&result.call_id),
            content: result_text(result)?,
        });
        attach(result, ids, &mut attached)?;
    }
    if !attached.is_empty() {
        all.push(wire::Message::User {
            content: Content::Parts(attached),
            name: None,
        });
    }
    Ok(())
}

fn result_text(result: &ToolResult) -> Result<String, DriverError> {
    let mut texts = Vec::with_capacity(result.content.len());
    for part in &result.content {
        match &part.body {
            ResultBody::Text(text) if text.is_empty() => {}
            ResultBody::Text(text) => texts.push(text.clone()),
            ResultBody::Document(document) if is_words(document) => texts.push(words(document)?),
            ResultBody::Image(_) | ResultBody::Document(_) => {}
            ResultBody::Other(_) => return Err(unsupported("messages")),
        }
    }
    let text = texts.join("\n");
    Ok(if result.is_error {
        format!("{ERROR_MARK}{text}")
    } else {
        text
    })
}

/// A tool message holds text alone; what else a result has follows in a user message that names the call.
fn attach<'a>(
    result: &'a ToolResult,
    ids: &Ids<'_>,
    parts: &mut Vec<wire::Part<'a>>,
) -> Result<(), DriverError> {
    let mut own = Vec::new();
    for part in &result.content {
        match &part.body {
            ResultBody::Image(media) => own.push(image(media, &part.ext)?),
            ResultBody::Document(attached) if !is_words(attached) => {
                document(attached, &mut own)?;
            }
            ResultBody::Document(_) | ResultBody::Text(_) | ResultBody::Other(_) => {}
        }
    }
    if !own.is_empty() {
        let label = format!("Attached to the result of {}:", ids.name(&result.call_id));
        parts.push(wire::Part::Text { text: label.into() });
        parts.append(&mut own);
    }
    Ok(())
}

/// A user message without its tool results; none when nothing is left.
fn user(message: &Message) -> Result<Option<wire::Message<'_>>, DriverError> {
    let mut parts = Vec::with_capacity(message.content.len());
    for part in &message.content {
        match &part.body {
            PartBody::Text(words) if words.is_empty() => {}
            PartBody::Text(words) => parts.push(text(words)),
            PartBody::Image(media) => parts.push(image(media, &part.ext)?),
            PartBody::Document(attached) => document(attached, &mut parts)?,
            PartBody::ToolResult(_) | PartBody::Reasoning(_) | PartBody::RedactedReasoning(_) => {}
            PartBody::ToolCall(_) => return Err(invalid("messages", "tool_call_in_user_turn")),
            PartBody::Other(_) => return Err(unsupported("messages")),
        }
    }
    if parts.is_empty() {
        return Ok(None);
    }
    let content = match <[wire::Part<'_>; 1]>::try_from(parts) {
        Ok([wire::Part::Text { text }]) => Content::Text(text),
        Ok(one) => Content::Parts(one.into()),
        Err(parts) => Content::Parts(parts),
    };
    Ok(Some(wire::Message::User {
        content,
        name: name(message),
    }))
}

/// The messages of an assistant turn; answers the ids of their calls. Once a message has calls the rest of the turn
/// joins it, since results must follow at once.
fn assistant<'a>(
    turn: &'a [Message],
    open: &[&str],
    ids: &'a Ids<'a>,
    all: &mut Vec<wire::Message<'a>>,
) -> Result<Vec<&'a str>, DriverError> {
    if !open.is_empty() {
        return Err(invalid("messages", "unpaired_tool_call"));
    }
    let mut opened = Vec::new();
    for message in turn {
        let mut words = String::new();
        let mut calls = Vec::new();
        for part in &message.content {
            match &part.body {
                PartBody::Text(text) => words.push_str(text),
                PartBody::ToolCall(call) => {
                    opened.push(call.id.as_str());
                    calls.push(ToolCall {
                        id: ids.name(&call.id),
                        kind: "function",
                        function: CalledFunction {
                            name: &call.name,
                            arguments: arguments(&call.arguments, &part.ext)?,
                        },
                    });
                }
                // Another provider's, or sealed: of no use here (wire notes 2, points 29 and 30).
                PartBody::Reasoning(_) | PartBody::RedactedReasoning(_) => {}
                PartBody::ToolResult(_) => {
                    return Err(invalid("messages", "tool_result_in_assistant_turn"));
                }
                PartBody::Image(_) | PartBody::Document(_) | PartBody::Other(_) => {
                    return Err(unsupported("messages"));
                }
            }
        }
        match all.last_mut() {
            Some(wire::Message::Assistant {
                content,
                tool_calls,
                ..
            }) if !tool_calls.is_empty() => {
                tool_calls.append(&mut calls);
                if !words.is_empty() {
                    content.get_or_insert_default().push_str(&words);
                }
            }
            _ => all.push(wire::Message::Assistant {
                // Points 15 and 16: no text is null beside calls, and an empty text without.
                content: (!words.is_empty() || calls.is_empty()).then_some(words),
                name: name(message),
                tool_calls: calls,
            }),
        }
    }
    Ok(opened)
}

/// The text of a call's arguments. Where the model wrote no JSON object it comes as a hint, and goes back as it was.
fn arguments<'a>(
    object: &'a [u8],
    hints: &[(String, Vec<u8>)],
) -> Result<Cow<'a, str>, DriverError> {
    let bad = || invalid("messages", "bad_json");
    match hints.iter().find(|(name, _)| name == "arguments_text") {
        Some((_, text)) => serde_json::from_slice::<String>(text)
            .map(Cow::Owned)
            .map_err(|_| bad()),
        None => std::str::from_utf8(object)
            .map(Cow::Borrowed)
            .map_err(|_| bad()),
    }
}

/// The author's name where kind B takes it; it means nothing to a model, so another one is left out.
fn name(message: &Message) -> Option<&str> {
    message.name.as_deref().filter(|name| {
        (1..=MAX_NAME_CHARS).contains(&name.chars().count())
            && !name.contains(|letter: char| letter.is_whitespace() || r"<|\/>".contains(letter))
    })
}
