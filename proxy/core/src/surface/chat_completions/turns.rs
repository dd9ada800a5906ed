//! `messages` of the chat-completions surface as system prompt and canonical turns.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::request::MAX_NAME_CHARS;
use crate::chat::{Arguments, Document, Media, Message, Part, Role, ToolCall, ToolResult};
use crate::fault::Problems;
use crate::surface::blocks;
use crate::surface::fields::{Fields, Path};
use crate::surface::places::{PartPlace, Place, Placed, of_content};
use crate::surface::turns::{self, LastWord, Turn, check_order, says_nothing};

/// System messages, wherever they stand, in order, and the turns (wire.md 2, points 18 and 19).
pub(super) fn turns(items: Vec<Value>, problems: &mut Problems) -> (Placed, Vec<Turn>) {
    let mut system = Placed::default();
    let mut arguments = Arguments::default();
    let (turns, are_whole) = turns::read(items, problems, |at, item, problems| {
        turn(at, item, &mut system, &mut arguments, problems)
    });
    // A system prompt asks something by itself too: the assistant opens the conversation.
    let is_opened = turns.is_empty() && !says_nothing(&system.parts);
    if are_whole && !is_opened {
        check_order(&turns, LastWord::OfAnyone, problems);
    }
    (system, merge_results(turns))
}

/// One entry of `messages`; what is for the system prompt goes there.
fn turn(
    at: usize,
    item: Value,
    system: &mut Placed,
    arguments: &mut Arguments,
    problems: &mut Problems,
) -> Option<Turn> {
    let all = Path::Name("messages");
    let path = all.item(at);
    let mut fields = Fields::of(item, path, problems)?;
    let role = fields.required_string("role", problems);
    let name = fields.string("name", problems);
    if role.as_deref() != Some("assistant") && fields.take("tool_calls").is_some() {
        problems.add(path.field("tool_calls"), "is for assistant messages only");
    }
    if role.as_deref() != Some("tool") && fields.take("tool_call_id").is_some() {
        problems.add(path.field("tool_call_id"), "is for tool messages only");
    }
    let mark = blocks::decode_mark(&mut fields, problems);
    let (role, mut said) = match role.as_deref()? {
        "system" => {
            let mut said = required(at, &mut fields, text_part, problems);
            mark_last(&mut said.parts, mark);
            system.append(said);
            fields.end(problems);
            return None;
        }
        "user" => (Role::User, required(at, &mut fields, user_part, problems)),
        "assistant" => (
            Role::Assistant,
            assistant(at, &mut fields, arguments, problems),
        ),
        "tool" => (Role::User, tool(at, &mut fields, problems)),
        // `developer` is no role of this surface (wire.md 2, point 21).
        _ => {
            problems.add(
                path.field("role"),
                "must be system, user, assistant or tool",
            );
            return None;
        }
    };
    fields.end(problems);
    mark_last(&mut said.parts, mark);
    let Placed {
        parts: content,
        places,
    } = said;
    let message = Message {
        role,
        content,
        name,
    };
    Some(Turn {
        at,
        message,
        places,
    })
}

/// Tool messages in a row are one turn (wire.md 2, point 2). Their names are the tools', not an author's.
fn merge_results(turns: Vec<Turn>) -> Vec<Turn> {
    let is_result = |part: &Part| matches!(part, Part::ToolResult(_));
    let mut merged: Vec<Turn> = Vec::with_capacity(turns.len());
    for mut turn in turns {
        if !turn.message.content.iter().any(is_result) {
            merged.push(turn);
            continue;
        }
        match merged.last_mut() {
            Some(last) if last.message.content.last().is_some_and(is_result) => {
                last.message.content.append(&mut turn.message.content);
                last.places.append(&mut turn.places);
            }
            _ => {
                turn.message.name = None;
                merged.push(turn);
            }
        }
    }
    merged
}

/// `cache_control` of a message is that of the last of its parts that takes one. It is no field of this format; clients
/// send it to whoever may stand before a provider that has prompt caches (`litellm`).
fn mark_last(parts: &mut [Part], mark: Option<Value>) {
    let last = parts.iter_mut().rev().find_map(Part::cache_mark_mut);
    if let Some(place) = last
        && mark.is_some()
    {
        *place = mark;
    }
}

type ReadPart = fn(&str, &mut Fields<'_>, Path<'_>, &mut Problems) -> Option<Part>;

/// Content of the message at `at` that must be there.
fn required(at: usize, fields: &mut Fields<'_>, read: ReadPart, problems: &mut Problems) -> Placed {
    fields.require("content", problems);
    content(at, fields, read, problems)
}

/// A string or an array of parts; empty text is left out (wire.md 2, point 15).
fn content(at: usize, fields: &mut Fields<'_>, read: ReadPart, problems: &mut Problems) -> Placed {
    let Some(content) = fields.take("content") else {
        return Placed::default();
    };
    let message = fields.path();
    let path = message.field("content");
    let places = of_content(&content, Place::FieldOf("messages", at, "content"));
    let parts = match content {
        Value::String(text) => vec![Part::text(text)],
        Value::Array(items) => blocks::at_most(blocks::MAX_PARTS, "parts", items, path, problems)
            .into_iter()
            .enumerate()
            .filter_map(|(at, item)| part(item, path.item(at), read, problems))
            .collect(),
        _ => {
            problems.add(path, "must be a string or an array of content parts");
            Vec::new()
        }
    };
    Placed::without_empty_text(parts, places)
}

fn part(item: Value, path: Path<'_>, read: ReadPart, problems: &mut Problems) -> Option<Part> {
    let mut fields = Fields::of(item, path, problems)?;
    let kind = fields.required_string("type", problems)?;
    let mut part = read(&kind, &mut fields, path, problems)?;
    breakpoint(&mut fields, problems);
    if let Some(mark) = blocks::decode_mark(&mut fields, problems)
        && let Some(place) = part.cache_mark_mut()
    {
        *place = Some(mark);
    }
    fields.end(problems);
    Some(part)
}

/// `prompt_cache_breakpoint`, checked for shape: how long its provider keeps what of a prompt changes no reply.
fn breakpoint(fields: &mut Fields<'_>, problems: &mut Problems) {
    let part = fields.path();
    let path = part.field("prompt_cache_breakpoint");
    if let Some(value) = fields.take("prompt_cache_breakpoint")
        && let Some(mut mark) = Fields::of(value, path, problems)
    {
        mark.require("mode", problems);
        mark.word("mode", &["explicit"], problems);
        mark.string("ttl", problems);
        mark.end(problems);
    }
}

/// Parts of system and tool messages.
fn text_part(
    kind: &str,
    fields: &mut Fields<'_>,
    path: Path<'_>,
    problems: &mut Problems,
) -> Option<Part> {
    if kind != "text" {
        problems.add_foreign(path.field("type"), "must be text");
        return None;
    }
    fields.required_string("text", problems).map(Part::text)
}

/// Parts of assistant messages. A refusal is text (wire.md 2, point 28). Clients that keep a reply spell fields of its
/// message out beside each text (`@openai/agents`).
fn assistant_part(
    kind: &str,
    fields: &mut Fields<'_>,
    path: Path<'_>,
    problems: &mut Problems,
) -> Option<Part> {
    if kind == "refusal" {
        return fields.required_string("refusal", problems).map(Part::text);
    }
    let part = text_part(kind, fields, path, problems)?;
    fields.only("role", |role| role == "assistant", problems);
    for name in ["annotations", "logprobs"] {
        fields.only(name, blocks::is_empty_array, problems);
    }
    Some(part)
}

/// Parts of user messages.
fn user_part(
    kind: &str,
    fields: &mut Fields<'_>,
    path: Path<'_>,
    problems: &mut Problems,
) -> Option<Part> {
    match kind {
        "text" => fields.required_string("text", problems).map(Part::text),
        "image_url" => {
            fields.require("image_url", problems);
            let path = path.field("image_url");
            let mut image = Fields::of(fields.take("image_url")?, path, problems)?;
            let url = image.required_string("url", problems);
            let detail = image.word("detail", &["auto", "low", "high", "original"], problems);
            image.end(problems);
            let path = path.field("url");
            let url = url?;
            let media = if url.starts_with("data:") {
                data_url(&url, path, problems)?
            } else {
                blocks::web_address(url, path, problems)?
            };
            let mut part = blocks::image(media, path, problems)?;
            if let Part::Image(image) = &mut part {
                image.detail = detail;
            }
            Some(part)
        }
        "file" => {
            fields.require("file", problems);
            let path = path.field("file");
            let mut file = Fields::of(fields.take("file")?, path, problems)?;
            let title = file.string("filename", problems);
            // Files are kept by no one here.
            file.only("file_id", |_| false, problems);
            let data = file.required_string("file_data", problems);
            file.end(problems);
            let media = data_url(&data?, path.field("file_data"), problems)?;
            Some(Part::Document(Document {
                media: as_text(media),
                title,
                context: None,
                cache_mark: None,
            }))
        }
        _ => {
            problems.add_foreign(path.field("type"), "must be text, image_url or file");
            None
        }
    }
}

/// `data:<media type>;base64,<data>` (RFC 2397).
fn data_url(url: &str, path: Path<'_>, problems: &mut Problems) -> Option<Media> {
    let read = || {
        let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
        let media_type = head.strip_suffix(";base64")?;
        let essence = media_type.split(';').next()?.to_ascii_lowercase();
        let data = STANDARD.decode(data).ok()?;
        (!essence.is_empty() && !data.is_empty()).then(|| Media::Inline {
            media_type: essence,
            data: data.into(),
        })
    };
    let media = read();
    if media.is_none() {
        problems.add(path, "must be a data URL with a media type and base64 data");
    }
    media
}

/// Plain text as text, which more models take than files of it.
fn as_text(media: Media) -> Media {
    match media {
        Media::Inline { media_type, data } if media_type == "text/plain" => {
            match std::str::from_utf8(&data) {
                Ok(text) => Media::Text(text.to_owned()),
                Err(_) => Media::Inline { media_type, data },
            }
        }
        other => other,
    }
}

/// Text, a refusal, and tool calls; the fields that only replies have must say nothing.
fn assistant(
    at: usize,
    fields: &mut Fields<'_>,
    arguments: &mut Arguments,
    problems: &mut Problems,
) -> Placed {
    let mut said = content(at, fields, assistant_part, problems);
    // A reply says its refusal twice: it is at the end of the text already.
    let is_said = |refusal: &str, parts: &[Part]| {
        let ends = |part: &Part| matches!(part, Part::Text { text, .. } if text.ends_with(refusal));
        parts.last().is_some_and(ends)
    };
    if let Some(refusal) = fields.string("refusal", problems)
        && !refusal.is_empty()
        && !is_said(&refusal, &said.parts)
    {
        let place = PartPlace::alone(Place::FieldOf("messages", at, "refusal"));
        said.push(Part::text(refusal), place);
    }
    let calls = fields.array("tool_calls", problems).unwrap_or_default();
    let place = Place::FieldOf("messages", at, "tool_calls");
    let message = fields.path();
    let path = message.field("tool_calls");
    let calls = blocks::at_most(blocks::MAX_PARTS, "calls", calls, path, problems);
    for (at, item) in calls.into_iter().enumerate() {
        if let Some(call) = tool_call(item, path.item(at), arguments, problems) {
            said.push(Part::ToolCall(call), PartPlace::item(place, at));
        }
    }
    fields.only("annotations", blocks::is_empty_array, problems);
    // What the official SDKs have read out of the text (`parse`), and out of arguments.
    fields.only("parsed", |_| true, problems);
    // Reasoning of a reply over another surface, which has no place in this format (`litellm`).
    fields.only("reasoning_content", Value::is_string, problems);
    fields.only("thinking_blocks", Value::is_array, problems);
    // Where clients keep what else they have no place for when they send a reply back.
    let is_reasoning = |name: &str| matches!(name, "reasoning_content" | "thinking_blocks");
    let may_be_left_out = |kept: &Value| {
        kept.as_object().is_some_and(|kept| {
            let mut kept = kept.iter();
            kept.all(|(name, value)| value.is_null() || is_reasoning(name))
        })
    };
    fields.only("provider_specific_fields", may_be_left_out, problems);
    for name in ["audio", "function_call"] {
        fields.only(name, |_| false, problems);
    }
    said
}

fn tool_call(
    item: Value,
    path: Path<'_>,
    arguments: &mut Arguments,
    problems: &mut Problems,
) -> Option<ToolCall> {
    let mut call = Fields::of(item, path, problems)?;
    let id = call.required_string("id", problems);
    // Clients that put streamed chunks together keep the index.
    call.count("index", 0, problems);
    let kind = call.required_string("type", problems)?;
    if kind != "function" {
        problems.add_foreign(path.field("type"), "must be function");
        return None;
    }
    call.require("function", problems);
    let function = call.take("function")?;
    call.end(problems);
    let path = path.field("function");
    let mut function = Fields::of(function, path, problems)?;
    let name = function.required_string("name", problems);
    let text = function.required_string("arguments", problems);
    function.only("parsed_arguments", |_| true, problems);
    function.end(problems);
    if let Some(name) = &name {
        blocks::check_tool_name(name, MAX_NAME_CHARS, path.field("name"), problems);
    }
    Some(ToolCall {
        id: id?,
        name: name?,
        // As the model wrote them, good or bad.
        arguments: arguments.of_any(&text?),
        cache_mark: None,
    })
}

/// A tool message is its result.
fn tool(at: usize, fields: &mut Fields<'_>, problems: &mut Problems) -> Placed {
    let call_id = fields.required_string("tool_call_id", problems);
    let Placed {
        parts: content,
        places,
    } = required(at, fields, text_part, problems);
    let mut said = Placed::default();
    if let Some(call_id) = call_id {
        let result = ToolResult {
            call_id,
            is_error: false,
            content,
            cache_mark: None,
        };
        let place = PartPlace::result(Place::Entry("messages", at), &places);
        said.push(Part::ToolResult(result), place);
    }
    said
}
