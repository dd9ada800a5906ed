//! The conversation as kind A wants it: strictly alternating turns, tool results first and in the order of
//! their calls, no blank block, every call answered.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use driver_kit::fault::{invalid, unsupported};
use driver_kit::json::raw;
use driver_kit::{Ids, check_documents};
use serde_json::value::RawValue;

use crate::bindings::gateway::provider::types::{
    Document, DriverError, Media, Message, Part, PartBody, ResultBody, ResultPart, Role, ToolResult,
};
use crate::ids::ids;
use crate::wire::{Block, Body, Source, Turn};

/// All turns of the request.
pub fn turns(messages: &[Message]) -> Result<Vec<Turn<'_>>, DriverError> {
    check_documents(messages, is_taken)?;
    let mut ids = ids(messages);
    let mut turns: Vec<Turn<'_>> = Vec::with_capacity(messages.len());
    for message in messages {
        let role = role(message.role);
        let mut blocks = blocks(message, &mut ids)?;
        match turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some(last) if last.role == role => last.content.append(&mut blocks),
            _ => turns.push(Turn {
                role,
                content: blocks,
            }),
        }
    }
    order_results(&mut turns)?;
    trim_prefill(&mut turns);
    if turns.first().is_none_or(|first| first.role == ASSISTANT) {
        let text = BEFORE_A_GREETING;
        let opening = Block {
            body: Body::Text { text },
            cache_control: None,
        };
        turns.insert(
            0,
            Turn {
                role: USER,
                content: vec![opening],
            },
        );
    }
    Ok(turns)
}

/// Kind A wants the user to speak first; applications often begin with a greeting of the assistant, or ask for one with
/// a system prompt alone.
const BEFORE_A_GREETING: &str = "(The assistant opens the conversation.)";

/// Text blocks of the system prompt.
pub fn system(parts: &[Part]) -> Result<Vec<Block<'_>>, DriverError> {
    let mut blocks = Vec::with_capacity(parts.len());
    for part in parts {
        match &part.body {
            PartBody::Text(text) if is_blank(text) => {}
            PartBody::Text(text) => blocks.push(Block {
                body: Body::Text { text },
                cache_control: mark(&part.cache_mark)?,
            }),
            _ => return Err(unsupported("system")),
        }
    }
    Ok(blocks)
}

pub fn mark(mark: &Option<Vec<u8>>) -> Result<Option<Box<RawValue>>, DriverError> {
    mark.as_deref()
        .map(|bytes| raw(bytes, "cache_control"))
        .transpose()
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::User => USER,
        Role::Assistant => ASSISTANT,
    }
}

pub const USER: &str = "user";
const ASSISTANT: &str = "assistant";

fn blocks<'a>(message: &'a Message, ids: &mut Ids<'a>) -> Result<Vec<Block<'a>>, DriverError> {
    let mut blocks = Vec::with_capacity(message.content.len());
    for part in &message.content {
        if let Some(body) = body(part, message.role, ids)? {
            // Kind A takes no mark on reasoning.
            let markable = !matches!(body, Body::Thinking { .. } | Body::RedactedThinking { .. });
            let cache_control = if markable {
                mark(&part.cache_mark)?
            } else {
                None
            };
            blocks.push(Block {
                body,
                cache_control,
            });
        }
    }
    Ok(blocks)
}

/// Kind A answers a text block of nothing but white space with 400 (wire notes 2, point 15).
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// One block, or none for what kind A must not see: blank text, reasoning that is not its own.
fn body<'a>(
    part: &'a Part,
    role: Role,
    ids: &mut Ids<'a>,
) -> Result<Option<Body<'a>>, DriverError> {
    Ok(Some(match (&part.body, role) {
        (PartBody::Text(text), _) if is_blank(text) => return Ok(None),
        (PartBody::Text(text), _) => Body::Text { text },
        (PartBody::Image(media), _) => Body::Image {
            source: image(media)?,
        },
        (PartBody::Document(document), _) => document_body(document)?,
        (PartBody::ToolCall(call), Role::Assistant) => Body::ToolUse {
            id: Cow::Owned(ids.call(&call.id).to_owned()),
            name: &call.name,
            input: raw(&call.arguments, "messages")?,
        },
        (PartBody::ToolResult(result), Role::User) => result_body(result, ids)?,
        (PartBody::ToolCall(_), Role::User) => {
            return Err(invalid("messages", "tool_call_in_user_turn"));
        }
        (PartBody::ToolResult(_), Role::Assistant) => {
            return Err(invalid("messages", "tool_result_in_assistant_turn"));
        }
        (PartBody::Reasoning(reasoning), Role::Assistant) => match &reasoning.signature {
            Some(signature) => Body::Thinking {
                thinking: &reasoning.text,
                signature,
            },
            None => return Ok(None),
        },
        (PartBody::RedactedReasoning(data), Role::Assistant) => Body::RedactedThinking { data },
        (PartBody::Reasoning(_) | PartBody::RedactedReasoning(_), Role::User) => return Ok(None),
        (PartBody::Other(_), _) => return Err(unsupported("messages")),
    }))
}

fn result_body<'a>(result: &'a ToolResult, ids: &Ids<'a>) -> Result<Body<'a>, DriverError> {
    let mut content = Vec::with_capacity(result.content.len());
    for part in &result.content {
        if let Some(block) = result_block(part)? {
            content.push(block);
        }
    }
    Ok(Body::ToolResult {
        tool_use_id: Cow::Owned(ids.name(&result.call_id).to_owned()),
        content,
        is_error: result.is_error,
    })
}

fn result_block(part: &ResultPart) -> Result<Option<Block<'_>>, DriverError> {
    let body = match &part.body {
        ResultBody::Text(text) if is_blank(text) => return Ok(None),
        ResultBody::Text(text) => Body::Text { text },
        ResultBody::Image(media) => Body::Image {
            source: image(media)?,
        },
        ResultBody::Document(document) => document_body(document)?,
        ResultBody::Other(_) => return Err(unsupported("messages")),
    };
    Ok(Some(Block {
        body,
        cache_control: mark(&part.cache_mark)?,
    }))
}

fn document_body(document: &Document) -> Result<Body<'_>, DriverError> {
    Ok(Body::Document {
        source: document_source(&document.media)?,
        title: document.title.as_deref(),
        context: document.context.as_deref(),
    })
}

/// Whether kind A takes a document at all.
fn is_taken(document: &Document) -> bool {
    match &document.media {
        Media::Inline(inline) => inline.media_type == PDF || inline.media_type.starts_with("text/"),
        Media::Url(_) | Media::Text(_) => true,
        Media::Other(_) => false,
    }
}

/// Kind A takes text documents as text, and PDF alone as data.
fn document_source(media: &Media) -> Result<Source<'_>, DriverError> {
    match media {
        Media::Inline(inline) if inline.media_type.starts_with("text/") => Ok(Source::Text {
            media_type: PLAIN,
            data: std::str::from_utf8(&inline.data).map_err(|_| invalid("messages", "not_utf8"))?,
        }),
        Media::Inline(inline) if inline.media_type != PDF => Err(unsupported("messages")),
        _ => source(media),
    }
}

const PLAIN: &str = "text/plain";
const PDF: &str = "application/pdf";

fn image(media: &Media) -> Result<Source<'_>, DriverError> {
    match media {
        Media::Text(_) => Err(invalid("messages", "image_as_text")),
        _ => source(media),
    }
}

fn source(media: &Media) -> Result<Source<'_>, DriverError> {
    Ok(match media {
        Media::Inline(inline) => Source::Base64 {
            media_type: &inline.media_type,
            data: STANDARD.encode(&inline.data),
        },
        Media::Url(url) => Source::Url { url },
        Media::Text(data) => Source::Text {
            media_type: PLAIN,
            data,
        },
        Media::Other(_) => return Err(unsupported("messages")),
    })
}

/// Puts the results of a user turn in front, in the order of the calls they answer, and refuses a call without
/// a result in the next turn as well as a result without a call: kind A answers either with 400.
fn order_results(turns: &mut [Turn<'_>]) -> Result<(), DriverError> {
    let unpaired = || invalid("messages", "unpaired_tool_call");
    // The calls of the turn before and their order.
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for turn in turns {
        let asked = std::mem::take(&mut open);
        let mut answered = BTreeSet::new();
        for block in &turn.content {
            match &block.body {
                Body::ToolResult { tool_use_id, .. } => {
                    let rank = asked.get(&**tool_use_id).ok_or_else(unpaired)?;
                    answered.insert(*rank);
                }
                Body::ToolUse { id, .. } => {
                    open.insert(id.clone().into_owned(), open.len());
                }
                _ => {}
            }
        }
        let results = turn.content.iter().filter(|block| is_result(block));
        // Two results for one call leave another call without any.
        if answered.len() != asked.len() || results.count() != asked.len() {
            return Err(unpaired());
        }
        if !asked.is_empty() {
            turn.content.sort_by_cached_key(|block| match &block.body {
                Body::ToolResult { tool_use_id, .. } => asked.get(&**tool_use_id).copied(),
                _ => Some(asked.len()),
            });
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(unpaired())
    }
}

const fn is_result(block: &Block<'_>) -> bool {
    matches!(block.body, Body::ToolResult { .. })
}

/// A last turn of the assistant is a start for the model to go on from; kind A refuses white space at its end.
fn trim_prefill(turns: &mut Vec<Turn<'_>>) {
    let Some(last) = turns.last_mut().filter(|turn| turn.role == ASSISTANT) else {
        return;
    };
    if let Some(Block {
        body: Body::Text { text },
        ..
    }) = last.content.last_mut()
    {
        *text = text.trim_end();
        if text.is_empty() {
            last.content.pop();
        }
    }
    if last.content.is_empty() {
        turns.pop();
    }
}
