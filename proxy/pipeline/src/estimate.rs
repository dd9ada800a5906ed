//! How many tokens a prompt has at most, as far as that can be said without the model's tokenizer: for the hold
//! of a run, and as the answer where a provider cannot count. Errs on the high side.

use std::io::{self, Write};

use serde_json::Value;
use svc_core::chat::{
    ChatRequest, Document, Media, Message, Part, ResponseFormat, Tool, ToolCall, ToolResult,
};

/// Providers count about four bytes of text to a token; three keeps the estimate on the safe side.
const BYTES_PER_TOKEN: u64 = 3;
/// What an image or document counts for when its size in tokens is unknown.
const TOKENS_PER_MEDIUM: u64 = 1_600;
/// Role and borders of one turn, as the chat formats of both provider kinds wrap it.
const TOKENS_PER_TURN: u64 = 4;
/// What stands around the definition of one tool.
const TOKENS_PER_TOOL: u64 = 12;

/// Tokens of everything that the model reads.
pub(crate) fn estimated_input_tokens(chat: &ChatRequest) -> u64 {
    let system: u64 = chat.system.iter().map(part_tokens).sum();
    let turns: u64 = chat.messages.iter().map(turn_tokens).sum();
    let tools: u64 = chat.tools.iter().map(tool_tokens).sum();
    let format = match &chat.response_format {
        Some(ResponseFormat::JsonSchema { schema, .. }) => json_tokens(schema),
        Some(ResponseFormat::JsonObject) | None => 0,
    };
    // The model's own turn is opened for it.
    system + turns + tools + format + TOKENS_PER_TURN
}

fn turn_tokens(message: &Message) -> u64 {
    let Message {
        role: _,
        content,
        name,
    } = message;
    let name = name.as_deref().map_or(0, text_tokens);
    TOKENS_PER_TURN + name + content.iter().map(part_tokens).sum::<u64>()
}

fn tool_tokens(tool: &Tool) -> u64 {
    let Tool {
        name,
        description,
        input_schema,
        strict: _,
        cache_mark: _,
    } = tool;
    let description = description.as_deref().map_or(0, text_tokens);
    TOKENS_PER_TOOL + text_tokens(name) + description + json_tokens(input_schema)
}

fn part_tokens(part: &Part) -> u64 {
    match part {
        Part::Text { text, .. } | Part::Reasoning { text, .. } => text_tokens(text),
        Part::RedactedReasoning { data } => text_tokens(data),
        Part::ToolCall(ToolCall {
            id: _,
            name,
            arguments,
            cache_mark: _,
        }) => TOKENS_PER_TOOL + text_tokens(name) + json_tokens(arguments),
        Part::ToolResult(ToolResult { content, .. }) => {
            TOKENS_PER_TURN + content.iter().map(part_tokens).sum::<u64>()
        }
        Part::Image(_) => TOKENS_PER_MEDIUM,
        Part::Document(Document {
            media,
            title,
            context,
            cache_mark: _,
        }) => {
            let words = [title, context].into_iter().flatten();
            media_tokens(media) + words.map(|text| text_tokens(text)).sum::<u64>()
        }
    }
}

fn media_tokens(media: &Media) -> u64 {
    match media {
        Media::Text(text) => text_tokens(text),
        Media::Inline { media_type, data } if media_type.starts_with("text/") => {
            bytes_tokens(data.len() as u64)
        }
        Media::Inline { .. } | Media::Url(_) => TOKENS_PER_MEDIUM,
    }
}

fn text_tokens(text: &str) -> u64 {
    bytes_tokens(text.len() as u64)
}

fn json_tokens(value: &Value) -> u64 {
    let mut length = Length(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut length, value);
    bytes_tokens(length.0)
}

const fn bytes_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// Counts what is written and keeps nothing of it.
struct Length(u64);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn everything_that_the_model_reads_counts() {
        let mut chat = ChatRequest::of_user_text("x".repeat(300));
        // 100 for the text, the turn, and the model's own.
        assert_eq!(estimated_input_tokens(&chat), 108);
        let mut before = 108;
        let mut grows = |chat: &ChatRequest, least: u64| {
            let now = estimated_input_tokens(chat);
            assert!(now >= before + least, "{before} and then {now}");
            before = now;
        };
        chat.system.push(Part::text("y".repeat(30)));
        grows(&chat, 10);
        chat.tools.push(Tool {
            name: "look".into(),
            description: Some("z".repeat(60)),
            input_schema: json!({"type": "object", "properties": {"city": {"type": "string"}}}),
            strict: None,
            cache_mark: None,
        });
        grows(&chat, 20 + 18);
        chat.response_format = Some(ResponseFormat::JsonSchema {
            name: None,
            schema: json!({"type": "object"}),
            strict: None,
        });
        grows(&chat, 5);
        let media = Media::Inline {
            media_type: "image/png".into(),
            data: vec![0; 8].into(),
        };
        let result = Part::ToolResult(ToolResult {
            call_id: "call-1".into(),
            is_error: false,
            content: vec![Part::text("w".repeat(90)), Part::Image(media.into())],
            cache_mark: None,
        });
        for message in &mut chat.messages {
            message.content.push(result.clone());
        }
        grows(&chat, 30 + TOKENS_PER_MEDIUM);
    }
}
