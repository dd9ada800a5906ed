//! What the chat-completions wire format refuses in messages.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::fake_provider::chat::validation::{check_name, present};
use crate::fake_provider::messages::validation::{
    Checked, Fields, list, object, only, required, text,
};

/// Longest id of a tool call.
const MAX_ID_CHARS: usize = 40;
const IMAGE_TYPES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];
const FILE_TYPES: &[&str] = &["application/pdf"];

pub(crate) fn check_messages(messages: &[Value]) -> Checked {
    if messages.is_empty() {
        return Err("messages: Expected an array with at least 1 item".into());
    }
    // Calls of the last assistant message, and whether they are answered yet.
    let mut open: BTreeMap<&str, bool> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        let path = format!("messages.{at}");
        let message = object(&path, message)?;
        let role = text(&path, required(&path, message, "role")?)?;
        if role == "tool" {
            check_tool(&path, message, &mut open)?;
            continue;
        }
        check_answered(&open)?;
        open.clear();
        match role {
            "system" | "developer" => {
                only(&format!("{path}."), message, &["role", "content", "name"])?;
                check_content(&path, message, &["text"])?;
            }
            "user" => {
                only(&format!("{path}."), message, &["role", "content", "name"])?;
                check_content(&path, message, &["text", "image_url", "file"])?;
            }
            "assistant" => check_assistant(&path, message, &mut open)?,
            _ => return Err(format!("{path}.role: '{role}' is not a known role")),
        }
        if let Some(name) = present(message, "name") {
            text(&path, name)?;
        }
    }
    check_answered(&open)
}

/// 5: every call is answered before anything else is said.
fn check_answered(open: &BTreeMap<&str, bool>) -> Checked {
    let left: Vec<&str> = open
        .iter()
        .filter(|(_, answered)| !**answered)
        .map(|(id, _)| *id)
        .collect();
    if left.is_empty() {
        return Ok(());
    }
    Err(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
         'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        left.join(", ")
    ))
}

fn check_tool<'v>(path: &str, message: &'v Fields, open: &mut BTreeMap<&'v str, bool>) -> Checked {
    only(
        &format!("{path}."),
        message,
        &["role", "content", "tool_call_id"],
    )?;
    check_content(path, message, &["text"])?;
    let id = text(path, required(path, message, "tool_call_id")?)?;
    match open.get_mut(id) {
        Some(answered) if !*answered => {
            *answered = true;
            Ok(())
        }
        _ => Err(format!(
            "{path}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
        )),
    }
}

fn check_assistant<'v>(
    path: &str,
    message: &'v Fields,
    open: &mut BTreeMap<&'v str, bool>,
) -> Checked {
    only(
        &format!("{path}."),
        message,
        &["role", "content", "name", "refusal", "tool_calls"],
    )?;
    let calls = present(message, "tool_calls");
    if present(message, "content").is_some() {
        check_content(path, message, &["text", "refusal"])?;
    } else if calls.is_none() && present(message, "refusal").is_none() {
        // 16.
        return Err(format!("{path}.content: expected a string, got null"));
    }
    let Some(calls) = calls else {
        return Ok(());
    };
    let calls = list(&format!("{path}.tool_calls"), calls)?;
    if calls.is_empty() {
        return Err(format!("{path}.tool_calls: [] is too short"));
    }
    for (at, call) in calls.iter().enumerate() {
        let path = format!("{path}.tool_calls.{at}");
        let call = object(&path, call)?;
        only(&format!("{path}."), call, &["id", "type", "function"])?;
        if required(&path, call, "type")? != "function" {
            return Err(format!("{path}.type: should be 'function'"));
        }
        let function = object(&path, required(&path, call, "function")?)?;
        only(
            &format!("{path}.function."),
            function,
            &["name", "arguments"],
        )?;
        check_name(&path, text(&path, required(&path, function, "name")?)?)?;
        text(&path, required(&path, function, "arguments")?)?;
        let id = text(&path, required(&path, call, "id")?)?;
        if !(1..=MAX_ID_CHARS).contains(&id.chars().count()) {
            return Err(format!(
                "{path}.id: Expected a string with 1 to 40 characters"
            ));
        }
        if open.insert(id, false).is_some() {
            return Err(format!("{path}.id: duplicate value"));
        }
    }
    Ok(())
}

fn check_content(path: &str, message: &Fields, kinds: &[&str]) -> Checked {
    let path = format!("{path}.content");
    let content = present(message, "content")
        .ok_or_else(|| format!("{path}: expected a string or an array, got null"))?;
    if content.is_string() {
        return Ok(());
    }
    let parts = list(&path, content)?;
    if parts.is_empty() {
        return Err(format!("{path}: [] is too short"));
    }
    for (at, part) in parts.iter().enumerate() {
        let path = format!("{path}.{at}");
        let part = object(&path, part)?;
        let kind = text(&path, required(&path, part, "type")?)?;
        if !kinds.contains(&kind) {
            return Err(format!("{path}.type: '{kind}' is not allowed here"));
        }
        only(&format!("{path}."), part, &["type", kind])?;
        let value = required(&path, part, kind)?;
        match kind {
            "image_url" => check_image(&path, object(&path, value)?)?,
            "file" => check_file(&path, object(&path, value)?)?,
            _ => drop(text(&path, value)?),
        }
    }
    Ok(())
}

fn check_image(path: &str, image: &Fields) -> Checked {
    only(&format!("{path}.image_url."), image, &["url", "detail"])?;
    let url = text(path, required(path, image, "url")?)?;
    if url.starts_with("https://") || url.starts_with("http://") {
        return Ok(());
    }
    check_data(path, url, IMAGE_TYPES)
}

fn check_file(path: &str, file: &Fields) -> Checked {
    only(
        &format!("{path}.file."),
        file,
        &["filename", "file_data", "file_id"],
    )?;
    if file.contains_key("file_id") {
        return only(&format!("{path}.file."), file, &["file_id"]);
    }
    text(path, required(path, file, "filename")?)?;
    check_data(
        path,
        text(path, required(path, file, "file_data")?)?,
        FILE_TYPES,
    )
}

/// A data address of one of the types.
fn check_data(path: &str, address: &str, types: &[&str]) -> Checked {
    let data = address.strip_prefix("data:");
    let (media_type, data) = data
        .and_then(|rest| rest.split_once(";base64,"))
        .ok_or_else(|| format!("{path}: expected a data URL or an HTTP(S) address"))?;
    if !types.contains(&media_type) {
        return Err(format!("{path}: unsupported type '{media_type}'"));
    }
    match STANDARD.decode(data) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("{path}: invalid base64 data")),
    }
}

/// Whether a message has the word that plain JSON mode wants somewhere.
pub(crate) fn says_json(message: &Value) -> bool {
    message
        .get("content")
        .is_some_and(|content| content.to_string().to_ascii_lowercase().contains("json"))
}
