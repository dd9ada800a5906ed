//! Request bodies of the three surfaces: read or refused in known words, and what is read survives the messages
//! surface's own blocks.

use svc_core::chat::{ChatRequest, Part};
use svc_core::fault::{Code, Fault};
use svc_core::surface::messages::WireVersion;
use svc_core::surface::{Decoded, blocks, chat_completions, messages, native};

pub(crate) fn native(data: &[u8]) {
    match native::decode(data) {
        Ok(read) => {
            assert!(read.chat.messages.len() == 1, "one turn");
            sound(&read.chat);
        }
        Err(fault) => known(&fault),
    }
}

pub(crate) fn messages(data: &[u8]) {
    for version in [WireVersion::Classic, WireVersion::WithoutSampling] {
        let chat = |decoded: Decoded| decoded.chat;
        let read = messages::decode(data, version).map(chat);
        let counted = messages::decode_count(data, version).map(chat);
        if let (Ok(read), Ok(counted)) = (&read, &counted) {
            assert!(
                read.messages == counted.messages && read.system == counted.system,
                "counted is what would be sent"
            );
        }
        for decoded in [read, counted] {
            judge(decoded);
        }
    }
}

pub(crate) fn chat_completions(data: &[u8]) {
    judge(chat_completions::decode(data).map(|decoded| decoded.chat));
}

fn judge(decoded: Result<ChatRequest, Fault>) {
    match decoded {
        Ok(chat) => sound(&chat),
        Err(fault) => known(&fault),
    }
}

fn known(fault: &Fault) {
    let codes = [Code::ValidationFailed, Code::UnsupportedParameter];
    assert!(codes.contains(&fault.code), "{}", fault.code.word());
    assert!(fault.param.is_some(), "a refusal names what is wrong");
}

/// What the drivers rely on, and that stored parts read back as they were.
fn sound(chat: &ChatRequest) {
    let says_something = !(chat.messages.is_empty() && chat.system.is_empty());
    assert!(says_something, "no turn and no system prompt");
    assert!(chat.max_tokens != Some(0), "no token");
    let turns = chat.messages.iter().map(|message| &message.content);
    for parts in turns.chain([&chat.system]) {
        let stored: Vec<_> = parts.iter().map(blocks::encode).collect();
        let read = blocks::decode_stored(stored);
        assert!(
            read.as_ref() == Some(parts),
            "a stored turn reads differently"
        );
    }
    for tool in &chat.tools {
        assert!(tool.input_schema.is_object(), "a schema is an object");
        let is_valid = blocks::tool_name_is_valid(&tool.name, blocks::MAX_TOOL_NAME_CHARS);
        assert!(is_valid, "a tool's name");
    }
    let parts = chat.messages.iter().flat_map(|message| &message.content);
    for part in parts {
        if let Part::ToolCall(call) = part {
            assert!(call.arguments.is_object(), "arguments are an object");
        }
    }
}
