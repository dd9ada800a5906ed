//! What the Messages wire format refuses in turns and their blocks.
//!
//! Turns are judged as they come, never merged: a gateway that leaves merging to the provider is wrong about
//! half of them. The numbers behind rules are the points of wire.md 2.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::fake_provider::messages::validation::{
    Checked, Fields, NEW_VERSION, OLD_VERSION, is_word, object, only, required, text,
};
use crate::fake_provider::reply::signature;

const IMAGE_TYPES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];
const DOCUMENT_TYPES: &[&str] = &["application/pdf", "text/plain"];

pub(crate) fn check_turns(version: &str, turns: &[Value]) -> Checked {
    if turns.is_empty() {
        return Err("messages: at least one message is required".into());
    }
    // Calls of the turn before, and whether they are answered yet.
    let mut open: BTreeMap<&str, bool> = BTreeMap::new();
    let mut used = BTreeSet::new();
    for (at, turn) in turns.iter().enumerate() {
        let path = format!("messages.{at}");
        let turn = object(&path, turn)?;
        only(&format!("{path}."), turn, &["role", "content"])?;
        let role = text(&path, required(&path, turn, "role")?)?;
        match role {
            "user" | "assistant" => {}
            "system" if version == NEW_VERSION => {}
            _ => return Err(format!("{path}.role: should be 'user' or 'assistant'")),
        }
        if at == 0 && role == "assistant" {
            return Err("messages: first message must use the \"user\" role".into());
        }
        let last = at + 1 == turns.len();
        let content = required(&path, turn, "content")?;
        match content {
            Value::String(text) => check_plain(&path, text, role, last)?,
            Value::Array(blocks) => {
                check_blocks(version, &path, role, last, blocks)?;
                answer_calls(&path, blocks, &mut open)?;
            }
            _ => return Err(format!("{path}.content: should be a string or a list")),
        }
        // 2, 5: every call is answered in the very next turn.
        let left: Vec<&str> = open
            .iter()
            .filter(|(_, answered)| !**answered)
            .map(|(id, _)| *id)
            .collect();
        if !left.is_empty() {
            return Err(format!(
                "{path}: `tool_use` ids were found without `tool_result` blocks immediately after: {}",
                left.join(", ")
            ));
        }
        open.clear();
        for id in calls(content) {
            if !used.insert(id) {
                return Err(format!("{path}: `tool_use` ids must be unique"));
            }
            open.insert(id, false);
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err("messages: the final turn has `tool_use` without `tool_result` blocks after it".into())
    }
}

/// 15: no empty text, anywhere but in a last assistant turn.
fn check_plain(path: &str, text: &str, role: &str, last: bool) -> Checked {
    if text.is_empty() && !(last && role == "assistant") {
        return Err(format!("{path}: all messages must have non-empty content"));
    }
    if last && role == "assistant" && text.ends_with(char::is_whitespace) {
        return Err(format!(
            "{path}: final assistant content cannot end with trailing whitespace"
        ));
    }
    Ok(())
}

fn check_blocks(version: &str, path: &str, role: &str, last: bool, blocks: &[Value]) -> Checked {
    if blocks.is_empty() && !(last && role == "assistant") {
        return Err(format!("{path}: all messages must have non-empty content"));
    }
    let mut results_over = false;
    for (at, block) in blocks.iter().enumerate() {
        let path = format!("{path}.content.{at}");
        let block = object(&path, block)?;
        let kind = text(&path, required(&path, block, "type")?)?;
        match (role, kind) {
            (_, "text") => {
                check_text(&path, block)?;
                let cited = block
                    .get("citations")
                    .and_then(Value::as_array)
                    .is_some_and(|citations| !citations.is_empty());
                if cited && role == "user" && version == NEW_VERSION {
                    return Err(format!("{path}.citations: not allowed in user turns"));
                }
            }
            ("user", "image") => check_image(&path, block)?,
            ("user", "document") => check_document(&path, block)?,
            ("user", "tool_result") => check_tool_result(&path, block)?,
            ("assistant", "tool_use") => check_tool_use(&path, block)?,
            ("assistant", "thinking") => check_thought(&path, block)?,
            ("assistant", "redacted_thinking") => {
                only(&format!("{path}."), block, &["type", "data"])?;
                text(&path, required(&path, block, "data")?)?;
            }
            ("assistant", "document") if version == OLD_VERSION => check_document(&path, block)?,
            _ => {
                return Err(format!(
                    "{path}: block type '{kind}' is not allowed in {role} turns"
                ));
            }
        }
        // 3: results stand first.
        if kind == "tool_result" && results_over {
            return Err(format!(
                "{path}: `tool_result` blocks must come before other content"
            ));
        }
        results_over |= kind != "tool_result";
    }
    Ok(())
}

pub(crate) fn check_text(path: &str, block: &Fields) -> Checked {
    only(
        &format!("{path}."),
        block,
        &["type", "text", "cache_control", "citations"],
    )?;
    // 15.
    match text(path, required(path, block, "text")?)? {
        "" => Err(format!("{path}: text content blocks must be non-empty")),
        text if text.trim().is_empty() => Err(format!(
            "{path}: text content blocks must contain non-whitespace text"
        )),
        _ => check_cache_mark(path, block),
    }
}

fn check_image(path: &str, block: &Fields) -> Checked {
    only(
        &format!("{path}."),
        block,
        &["type", "source", "cache_control"],
    )?;
    check_source(path, block, IMAGE_TYPES)?;
    check_cache_mark(path, block)
}

fn check_document(path: &str, block: &Fields) -> Checked {
    only(
        &format!("{path}."),
        block,
        &[
            "type",
            "source",
            "title",
            "context",
            "citations",
            "cache_control",
        ],
    )?;
    check_source(path, block, DOCUMENT_TYPES)?;
    check_cache_mark(path, block)
}

fn check_source(path: &str, block: &Fields, media_types: &[&str]) -> Checked {
    let path = format!("{path}.source");
    let source = object(&path, required(&path, block, "source")?)?;
    match text(&path, required(&path, source, "type")?)? {
        "url" => {
            only(&format!("{path}."), source, &["type", "url"])?;
            let url = text(&path, required(&path, source, "url")?)?;
            if url.starts_with("https://") || url.starts_with("http://") {
                Ok(())
            } else {
                Err(format!("{path}.url: only HTTP(S) addresses are supported"))
            }
        }
        "file" => only(&format!("{path}."), source, &["type", "file_id"]),
        "content" => only(&format!("{path}."), source, &["type", "content"]),
        kind @ ("base64" | "text") => {
            only(&format!("{path}."), source, &["type", "media_type", "data"])?;
            let media_type = text(&path, required(&path, source, "media_type")?)?;
            if !media_types.contains(&media_type) {
                return Err(format!("{path}.media_type: is not supported here"));
            }
            let data = text(&path, required(&path, source, "data")?)?;
            if kind == "base64" && STANDARD.decode(data).is_err() {
                return Err(format!("{path}.data: invalid base64 data"));
            }
            Ok(())
        }
        _ => Err(format!("{path}.type: is not a known source type")),
    }
}

fn check_tool_use(path: &str, block: &Fields) -> Checked {
    only(
        &format!("{path}."),
        block,
        &["type", "id", "name", "input", "cache_control"],
    )?;
    check_id(path, "id", block)?;
    text(path, required(path, block, "name")?)?;
    if !required(path, block, "input")?.is_object() {
        return Err(format!("{path}.input: Input should be a valid dictionary"));
    }
    check_cache_mark(path, block)
}

fn check_tool_result(path: &str, block: &Fields) -> Checked {
    only(
        &format!("{path}."),
        block,
        &[
            "type",
            "tool_use_id",
            "content",
            "is_error",
            "cache_control",
        ],
    )?;
    check_id(path, "tool_use_id", block)?;
    if let Some(is_error) = block.get("is_error")
        && !is_error.is_boolean()
    {
        return Err(format!("{path}.is_error: Input should be a valid boolean"));
    }
    match block.get("content") {
        None | Some(Value::String(_)) => {}
        Some(Value::Array(parts)) => {
            for (at, part) in parts.iter().enumerate() {
                let path = format!("{path}.content.{at}");
                let part = object(&path, part)?;
                match text(&path, required(&path, part, "type")?)? {
                    "text" => check_text(&path, part)?,
                    "image" => check_image(&path, part)?,
                    "document" => check_document(&path, part)?,
                    _ => return Err(format!("{path}.type: is not allowed in a tool result")),
                }
            }
        }
        Some(_) => return Err(format!("{path}.content: should be a string or a list")),
    }
    check_cache_mark(path, block)
}

/// 29: thinking comes back as it was given, signature and all.
fn check_thought(path: &str, block: &Fields) -> Checked {
    only(
        &format!("{path}."),
        block,
        &["type", "thinking", "signature"],
    )?;
    let thinking = text(path, required(path, block, "thinking")?)?;
    if text(path, required(path, block, "signature")?)? == signature(thinking) {
        Ok(())
    } else {
        Err(format!("{path}: Invalid `signature` in `thinking` block"))
    }
}

/// 29: with a budget for thinking, a loop of calls whose results come now began with some. The loop is one turn of the
/// model: what it says between its calls needs none.
pub(crate) fn check_calls_had_thinking(turns: &[Value]) -> Checked {
    let kinds = |turn: &Value| {
        let blocks = turn["content"].as_array().into_iter().flatten();
        let kinds = blocks.map(|block| block["type"].as_str().unwrap_or_default().to_owned());
        kinds.collect::<Vec<_>>()
    };
    let is_asking = |turn: &Value| {
        turn["role"] == "user" && !kinds(turn).iter().any(|kind| kind == "tool_result")
    };
    let first_of_loop = turns
        .iter()
        .rposition(is_asking)
        .map_or(0, |asked| asked + 1);
    let of_first = turns.get(first_of_loop).map(kinds).unwrap_or_default();
    let first = of_first.first().map_or("text", String::as_str);
    let calls = of_first.iter().any(|kind| kind == "tool_use");
    if !calls || matches!(first, "thinking" | "redacted_thinking") {
        return Ok(());
    }
    Err(format!(
        "messages.{first_of_loop}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{first}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block"
    ))
}

/// 6: the only characters an id may have.
fn check_id(path: &str, name: &str, block: &Fields) -> Checked {
    if is_word(text(path, required(path, block, name)?)?) {
        Ok(())
    } else {
        Err(format!(
            "{path}.{name}: String should match pattern '^[a-zA-Z0-9_-]+$'"
        ))
    }
}

fn check_cache_mark(path: &str, block: &Fields) -> Checked {
    let Some(mark) = block.get("cache_control") else {
        return Ok(());
    };
    if mark.is_null() {
        return Ok(());
    }
    let path = format!("{path}.cache_control");
    let mark = object(&path, mark)?;
    only(&format!("{path}."), mark, &["type", "ttl"])?;
    let ttl = mark.get("ttl").is_none_or(|ttl| ttl == "5m" || ttl == "1h");
    if mark.get("type").is_some_and(|kind| kind == "ephemeral") && ttl {
        Ok(())
    } else {
        Err(format!(
            "{path}: should be ephemeral, with ttl '5m' or '1h'"
        ))
    }
}

/// Marks the calls that this turn's results answer; a result without a call before it is refused.
fn answer_calls<'v>(
    path: &str,
    blocks: &'v [Value],
    open: &mut BTreeMap<&'v str, bool>,
) -> Checked {
    for block in blocks {
        let Some(id) = block.get("tool_use_id").and_then(Value::as_str) else {
            continue;
        };
        match open.insert(id, true) {
            Some(false) => {}
            Some(true) => {
                return Err(format!(
                    "{path}: each `tool_use` must have a single `tool_result`; found several for {id}"
                ));
            }
            None => {
                return Err(format!(
                    "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}"
                ));
            }
        }
    }
    Ok(())
}

/// The ids of a turn's calls.
fn calls(content: &Value) -> impl Iterator<Item = &str> {
    let blocks = content.as_array().into_iter().flatten();
    blocks
        .filter(|block| block.get("type").is_some_and(|kind| kind == "tool_use"))
        .filter_map(|block| block.get("id").and_then(Value::as_str))
}

pub(crate) fn has_tool_blocks(turn: &Value) -> bool {
    let blocks = turn.get("content").and_then(Value::as_array);
    blocks.into_iter().flatten().any(|block| {
        block
            .get("type")
            .is_some_and(|kind| kind == "tool_use" || kind == "tool_result")
    })
}
