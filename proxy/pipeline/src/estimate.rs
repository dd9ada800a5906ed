//! How many tokens a prompt has, as far as that can be said without the model's tokenizer: about, for what is told and
//! metered where a provider does not count; and at most, for the hold of a run, which errs on the high side
//! (contract 12.2: the worst case). Pictures count the same in both, by no size of theirs.

use std::borrow::Borrow;
use std::io::{self, Write};
use std::iter::Sum;
use std::ops::Add;

use serde_json::Value;
use svc_core::chat::{
    ChatRequest, Document, Media, Message, Part, ResponseFormat, Size, Tool, ToolCall, ToolResult,
};
use svc_core::fault::Fault;
use tokio::runtime::Handle;

/// Providers count about four bytes of text to a token; three is nearer for languages other than English.
const BYTES_PER_TOKEN: u64 = 3;
/// For holds. Words in letters without accents, and the spaces between them, come to two bytes a token and more in any
/// language, names and codes included. Of everything else (digits, signs, other scripts, emoji) each byte may be a
/// token of its own, and never more than one: tokenizers begin with the bytes.
const PLAIN_BYTES_PER_TOKEN: u64 = 2;
/// What an image counts for, and about what a document does whose size in tokens is unknown.
const TOKENS_PER_MEDIUM: u64 = 1_600;
/// A page of a document is read as 1,500 to 3,000 tokens of text and as a picture. With its layout and its part of the
/// fonts it takes about 5 KB and more, its text compressed: for holds, a byte of a document is a token, and no document
/// is less than a page.
const TOKENS_PER_PAGE: u64 = 3_000 + TOKENS_PER_MEDIUM;
/// A document that the provider fetches may fill every window.
const UNKNOWN: u64 = u64::MAX;
/// Role and borders of one turn, as the chat formats of both provider kinds wrap it.
const TOKENS_PER_TURN: u64 = 4;
/// What stands around the definition of one tool.
const TOKENS_PER_TOOL: u64 = 12;

/// About how many tokens some text comes to.
pub(crate) const fn of_text(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// Tokens of a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Estimate {
    pub(crate) about: u64,
    most: u64,
}

impl Estimate {
    /// For a model with this window. A prompt that passes it is refused by the provider, and costs nothing.
    pub(crate) fn at_most(self, window_tokens: u64) -> u64 {
        self.most.min(window_tokens)
    }

    const fn exactly(tokens: u64) -> Self {
        Self {
            about: tokens,
            most: tokens,
        }
    }

    /// Text of so many bytes, the plain ones among them.
    const fn text(bytes: u64, plain: u64) -> Self {
        Self {
            about: of_text(bytes),
            most: plain.div_ceil(PLAIN_BYTES_PER_TOKEN) + (bytes - plain),
        }
    }
}

impl Add for Estimate {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            about: self.about.saturating_add(other.about),
            most: self.most.saturating_add(other.most),
        }
    }
}

impl Sum for Estimate {
    fn sum<I: Iterator<Item = Self>>(estimates: I) -> Self {
        estimates.fold(Self::default(), Self::add)
    }
}

/// Reading this much takes milliseconds, which is too long for a thread that serves others.
const INLINE_BYTES: usize = 256 * 1024;

/// Whether what is read is too much for a thread that serves others.
pub(crate) fn is_large(chat: &ChatRequest) -> bool {
    Size::of(chat, 1 + INLINE_BYTES).bytes() > INLINE_BYTES
}

/// Tokens of everything that the model reads; gives the chat back.
///
/// # Errors
/// 500 when the background runtime is gone.
pub(crate) async fn estimate<C>(chat: C, background: &Handle) -> Result<(C, Estimate), Fault>
where
    C: Borrow<ChatRequest> + Send + 'static,
{
    let count = |chat: C| {
        let read = prompt(chat.borrow());
        (chat, read)
    };
    if !is_large(chat.borrow()) {
        return Ok(count(chat));
    }
    let counting = background.spawn_blocking(move || count(chat)).await;
    counting.map_err(|error| Fault::internal(format_args!("estimating a prompt: {error}")))
}

fn prompt(chat: &ChatRequest) -> Estimate {
    let system: Estimate = chat.system.iter().map(part).sum();
    let turns: Estimate = chat.messages.iter().map(turn).sum();
    let tools: Estimate = chat.tools.iter().map(tool).sum();
    let format = match &chat.response_format {
        Some(ResponseFormat::JsonSchema { schema, .. }) => json(schema),
        Some(ResponseFormat::JsonObject) | None => Estimate::default(),
    };
    // The model's own turn is opened for it.
    system + turns + tools + format + Estimate::exactly(TOKENS_PER_TURN)
}

fn turn(message: &Message) -> Estimate {
    let Message {
        role: _,
        content,
        name,
    } = message;
    let parts: Estimate = content.iter().map(part).sum();
    Estimate::exactly(TOKENS_PER_TURN) + words(name.as_deref()) + parts
}

fn tool(tool: &Tool) -> Estimate {
    let Tool {
        name,
        description,
        input_schema,
        input_examples,
        strict: _,
        cache_mark: _,
    } = tool;
    Estimate::exactly(TOKENS_PER_TOOL)
        + text(name.as_bytes())
        + words(description.as_deref())
        + json(input_schema)
        + input_examples.as_ref().map_or_else(Estimate::default, json)
}

fn part(part: &Part) -> Estimate {
    match part {
        Part::Text { text: said, .. } | Part::Reasoning { text: said, .. } => text(said.as_bytes()),
        Part::RedactedReasoning { data, .. } => text(data.as_bytes()),
        Part::ToolCall(ToolCall {
            id: _,
            name,
            arguments,
            cache_mark: _,
        }) => Estimate::exactly(TOKENS_PER_TOOL) + text(name.as_bytes()) + json(arguments),
        Part::ToolResult(ToolResult { content, .. }) => {
            let parts: Estimate = content.iter().map(self::part).sum();
            Estimate::exactly(TOKENS_PER_TURN) + parts
        }
        Part::Image(_) => Estimate::exactly(TOKENS_PER_MEDIUM),
        Part::Document(Document {
            media,
            title,
            context,
            cache_mark: _,
        }) => document(media) + words(title.as_deref()) + words(context.as_deref()),
    }
}

fn document(media: &Media) -> Estimate {
    let most = match media {
        Media::Text(said) => return text(said.as_bytes()),
        Media::Inline { media_type, data } if media_type.starts_with("text/") => return text(data),
        Media::Inline { data, .. } => TOKENS_PER_PAGE.max(data.len() as u64),
        Media::Url(_) => UNKNOWN,
    };
    Estimate {
        about: TOKENS_PER_MEDIUM,
        most,
    }
}

fn words(said: Option<&str>) -> Estimate {
    said.map(|said| text(said.as_bytes())).unwrap_or_default()
}

fn text(bytes: &[u8]) -> Estimate {
    Estimate::text(bytes.len() as u64, plain(bytes))
}

fn json(value: &Value) -> Estimate {
    let mut length = Length::default();
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut length, value);
    Estimate::text(length.bytes, length.plain)
}

/// How many of these bytes are letters without accents, or spaces.
fn plain(bytes: &[u8]) -> u64 {
    let plain = bytes
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic() || **byte == b' ');
    plain.count() as u64
}

/// Counts what is written and keeps nothing of it.
#[derive(Default)]
struct Length {
    bytes: u64,
    plain: u64,
}

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        self.plain += plain(bytes);
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

    /// Larger than every prompt here.
    const WINDOW_TOKENS: u64 = 1_000_000;

    #[test]
    fn everything_that_the_model_reads_counts() {
        let mut chat = ChatRequest::of_user_text("x".repeat(300));
        // 100 for the text, or 150 at most, the turn, and the model's own.
        let first = prompt(&chat);
        assert_eq!((first.about, first.at_most(WINDOW_TOKENS)), (108, 158));
        let mut before = first;
        let mut grows = |chat: &ChatRequest, least: u64| {
            let now = prompt(chat);
            assert!(now.about >= before.about + least, "{before:?} and {now:?}");
            assert!(now.most >= before.most + least, "{before:?} and {now:?}");
            before = now;
        };
        chat.system.push(Part::text("y".repeat(30)));
        grows(&chat, 10);
        chat.tools.push(Tool {
            name: "look".into(),
            description: Some("z".repeat(60)),
            input_schema: json!({"type": "object", "properties": {"city": {"type": "string"}}}),
            input_examples: None,
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
    #[test]
    fn a_hold_is_at_least_what_dense_text_comes_to() {
        let most = |text: &str| {
            let chat = ChatRequest::of_user_text(text);
            prompt(&chat).at_most(WINDOW_TOKENS) - 2 * TOKENS_PER_TURN
        };
        // Two bytes a token and less: what tokenizers make of these.
        for (text, tokens) in [
            ("患者さんは昨日から熱があります。", 16),
            ("ታካሚው ትኩሳት አለው", 30),
            ("🩺💊🫀🧬", 12),
            ("7.35 7.41 138 4.2 102 24", 24 / 2),
        ] {
            let is = most(text);
            assert!((tokens..=text.len() as u64).contains(&is), "{text}: {is}");
        }
        // Words in plain letters are not held for byte by byte.
        let words = "The patient has had a fever since yesterday";
        assert!(most(words) <= words.len() as u64 / 2 + 1);
    }

    #[test]
    fn a_document_is_held_for_by_its_size_and_within_the_window() {
        let most = |media: Media| {
            let mut chat = ChatRequest::of_user_text("");
            chat.system.push(Part::Document(Document {
                media,
                title: None,
                context: None,
                cache_mark: None,
            }));
            let read = prompt(&chat);
            assert!(read.about <= 2 * TOKENS_PER_MEDIUM);
            read.at_most(WINDOW_TOKENS)
        };
        let inline = |media_type: &str, bytes: usize| Media::Inline {
            media_type: media_type.to_owned(),
            data: vec![b'x'; bytes].into(),
        };
        let pdf = "application/pdf";
        let around = 2 * TOKENS_PER_TURN;
        assert_eq!(most(inline(pdf, 10)), TOKENS_PER_PAGE + around);
        assert_eq!(most(inline(pdf, 300_000)), 300_000 + around);
        assert_eq!(most(inline(pdf, 30_000_000)), WINDOW_TOKENS);
        assert_eq!(most(inline("text/plain", 3_000)), 1_500 + around);
        assert_eq!(most(Media::Text("x".repeat(3_000))), 1_500 + around);
        let elsewhere = Media::Url("https://example.com/a.pdf".to_owned());
        assert_eq!(most(elsewhere), WINDOW_TOKENS);
    }
}
