//! The canonical chat: what every surface decodes to and every provider driver starts from.
//!
//! Three surfaces and N provider kinds are adapters at the two edges of this model. Types that hold content
//! have no `Debug`, `Display` or `Serialize`: content reaches neither a log nor a wire by accident. What the
//! model does not name travels in `ext`, carried to the driver or refused, never dropped silently.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Map, Value};

/// One inference request, independent of the surface that it came in on.
#[derive(Clone, PartialEq)]
pub struct ChatRequest {
    /// Catalogue id, not the provider's own name.
    pub model: String,
    /// The system prompt as blocks, in order; the operator's default stands here too.
    pub system: Vec<Part>,
    pub messages: Vec<Message>,
    pub tools: Vec<Tool>,
    pub tool_choice: Option<ToolChoice>,
    /// `Some(false)` asks for at most one tool call per turn.
    pub parallel_tool_calls: Option<bool>,
    /// Output tokens, at least 1; capped by organization and model before the driver sees it.
    pub max_tokens: Option<u32>,
    pub sampling: Sampling,
    pub stop_sequences: Vec<String>,
    pub response_format: Option<ResponseFormat>,
    /// Budget in tokens for the model's own reasoning, where the caller asked for it.
    pub reasoning_tokens: Option<u32>,
    /// String pairs that the caller attached to the request (`metadata`, `user`).
    pub metadata: BTreeMap<String, String>,
    /// Whether the caller wants a stream.
    pub stream: bool,
    /// Parameters without a field above, by canonical name. Names that start with `must-` are honoured by
    /// the driver or refused. The surfaces give:
    ///
    /// - `must-effort`: how much to reason, `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`;
    /// - `must-thinking`: the `thinking` object of the messages surface, where it says more than
    ///   `reasoning_tokens` can; it then stands in place of that budget;
    /// - `must-seed` and `must-verbosity`: a whole number, and `low`, `medium` or `high`;
    /// - `must-service_tier` and `must-inference_geo`: words of the messages surface.
    pub ext: Map<String, Value>,
}

impl ChatRequest {
    /// Bytes of text in system prompt and turns.
    pub fn text_bytes(&self) -> usize {
        let turns = self.messages.iter().flat_map(|message| &message.content);
        self.system.iter().chain(turns).map(Part::text_bytes).sum()
    }

    /// One user message and nothing else.
    pub fn of_user_text(text: impl Into<String>) -> Self {
        let message = Message {
            role: Role::User,
            content: vec![Part::text(text)],
            name: None,
        };
        Self {
            model: String::new(),
            system: Vec::new(),
            messages: vec![message],
            tools: Vec::new(),
            tool_choice: None,
            parallel_tool_calls: None,
            max_tokens: None,
            sampling: Sampling::default(),
            stop_sequences: Vec::new(),
            response_format: None,
            reasoning_tokens: None,
            metadata: BTreeMap::new(),
            stream: false,
            ext: Map::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub top_k: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
}

/// One turn. Tool results are parts of a user turn; system text is no turn (see [`ChatRequest::system`]).
#[derive(Clone, PartialEq)]
pub struct Message {
    pub role: Role,
    pub content: Vec<Part>,
    /// The author's name that some surfaces allow; scanned for PHI, without a place at kind A.
    pub name: Option<String>,
}

/// One piece of a turn.
#[derive(Clone, PartialEq)]
pub enum Part {
    Text {
        text: String,
        /// Hint: a prompt-cache mark belongs after this part (JSON as the surface gave it).
        cache_mark: Option<Value>,
    },
    Image(Media),
    Document {
        media: Media,
        title: Option<String>,
        context: Option<String>,
    },
    ToolCall(ToolCall),
    ToolResult(ToolResult),
    /// The model's reasoning with the provider's signature; returned to the same provider unchanged.
    Reasoning {
        text: String,
        signature: Option<String>,
    },
    /// Reasoning that the provider keeps sealed.
    RedactedReasoning {
        data: String,
    },
}

impl Part {
    /// Bytes of text in this part; what a provider has to decode or fetch counts for nothing.
    pub fn text_bytes(&self) -> usize {
        match self {
            Self::Text { text, .. } | Self::Reasoning { text, .. } => text.len(),
            Self::Document {
                media: Media::Text(text),
                ..
            } => text.len(),
            Self::ToolResult(result) => result.content.iter().map(Self::text_bytes).sum(),
            Self::Image(_)
            | Self::Document { .. }
            | Self::ToolCall(_)
            | Self::RedactedReasoning { .. } => 0,
        }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            cache_mark: None,
        }
    }
}

/// Bytes inline or behind an address that the provider fetches.
#[derive(Clone, PartialEq)]
pub enum Media {
    Inline {
        media_type: String,
        data: Bytes,
    },
    Url(String),
    /// A document given as plain text.
    Text(String),
}

#[derive(Clone, PartialEq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// A JSON object.
    pub arguments: Value,
}

#[derive(Clone, PartialEq)]
pub struct ToolResult {
    pub call_id: String,
    pub is_error: bool,
    /// Text, images and documents only.
    pub content: Vec<Part>,
}

#[derive(Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: Option<String>,
    /// A JSON Schema object, passed through untouched.
    pub input_schema: Value,
    /// The caller wants arguments that conform to the schema exactly.
    pub strict: Option<bool>,
    pub cache_mark: Option<Value>,
}

#[derive(Clone, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    Named(String),
}

#[derive(Clone, PartialEq)]
pub enum ResponseFormat {
    JsonObject,
    JsonSchema {
        name: Option<String>,
        schema: Value,
        strict: Option<bool>,
    },
}

/// Token counts as the provider billed them. `input` excludes both cache counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub cache_creation_input_tokens: u64,
}

/// Why a reply ended, normalized: end-of-turn and stop-sequence are one (spec, `run.completed`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    Stop,
    Length,
    ToolCalls,
    Refusal,
    ContentFilter,
    Other,
}

impl FinishReason {
    /// The word of the native surface (contract 21).
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::Refusal => "refusal",
            Self::ContentFilter => "content_filter",
            Self::Other => "other",
        }
    }
}

/// The end of a reply.
#[derive(Clone, PartialEq, Eq)]
pub struct Finish {
    pub reason: FinishReason,
    /// The provider's own word, finer-grained (`stop_reason_raw`).
    pub raw: String,
    /// The stop sequence that matched, where the provider names it.
    pub stop_sequence: Option<String>,
}

/// What happens while a reply is made, in order. Tool calls of one reply have dense indices from 0 and may
/// interleave; `Finished` is the last event of a good reply and a failure is a [`crate::fault::Fault`].
#[derive(Clone, PartialEq)]
pub enum ChatEvent {
    /// The provider's own id of the reply and the model that it says it used.
    Started {
        provider_id: String,
        provider_model: String,
    },
    Text(String),
    Reasoning(String),
    ReasoningSignature(String),
    RedactedReasoning {
        data: String,
    },
    ToolCallStart {
        index: u32,
        id: String,
        name: String,
    },
    /// A piece of the arguments' JSON text.
    ToolCallDelta {
        index: u32,
        fragment: String,
    },
    ToolCallEnd {
        index: u32,
    },
    /// A tool that ran at the provider.
    ProviderToolCompleted {
        tool_type: String,
        item_id: String,
    },
    /// Totals so far, not differences.
    Usage(Usage),
    /// The provider showed life without content.
    KeepAlive,
    Finished(Finish),
}

/// A whole reply, as the unstreamed surfaces return it and conversations store it.
#[derive(Clone, Default, PartialEq)]
pub struct ChatReply {
    pub content: Vec<Part>,
    pub usage: Usage,
    pub finish: Option<Finish>,
    pub provider_tools: Vec<(String, String)>,
}

impl ChatReply {
    /// All text of the reply, joined.
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(|part| match part {
                Part::Text { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

/// Arguments that a model wrote and that are not a JSON object.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("tool call {index} has arguments that are not a JSON object")]
pub struct BadArguments {
    pub index: u32,
}

/// Collects events into a reply; the streamed and the unstreamed reply come out the same because both go
/// through the same events.
#[derive(Default)]
pub struct ReplyBuilder {
    reply: ChatReply,
    /// Per tool-call index: position in `reply.content` and the arguments' text so far.
    calls: BTreeMap<u32, (usize, String)>,
}

impl ReplyBuilder {
    /// Takes in the next event.
    pub fn push(&mut self, event: &ChatEvent) {
        match event {
            ChatEvent::Started { .. } | ChatEvent::KeepAlive | ChatEvent::ToolCallEnd { .. } => {}
            ChatEvent::Text(piece) => match self.reply.content.last_mut() {
                Some(Part::Text { text, .. }) => text.push_str(piece),
                _ => self.reply.content.push(Part::text(piece)),
            },
            ChatEvent::Reasoning(piece) => match self.reply.content.last_mut() {
                Some(Part::Reasoning {
                    text,
                    signature: None,
                }) => text.push_str(piece),
                _ => self.reply.content.push(Part::Reasoning {
                    text: piece.clone(),
                    signature: None,
                }),
            },
            ChatEvent::ReasoningSignature(mark) => match self.reply.content.last_mut() {
                Some(Part::Reasoning { signature, .. }) => {
                    signature.get_or_insert_default().push_str(mark)
                }
                _ => self.reply.content.push(Part::Reasoning {
                    text: String::new(),
                    signature: Some(mark.clone()),
                }),
            },
            ChatEvent::RedactedReasoning { data } => {
                self.reply
                    .content
                    .push(Part::RedactedReasoning { data: data.clone() });
            }
            ChatEvent::ToolCallStart { index, id, name } => {
                self.calls
                    .insert(*index, (self.reply.content.len(), String::new()));
                let call = ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: Value::Object(Map::new()),
                };
                self.reply.content.push(Part::ToolCall(call));
            }
            ChatEvent::ToolCallDelta { index, fragment } => {
                if let Some((_, text)) = self.calls.get_mut(index) {
                    text.push_str(fragment);
                }
            }
            ChatEvent::ProviderToolCompleted { tool_type, item_id } => {
                self.reply
                    .provider_tools
                    .push((tool_type.clone(), item_id.clone()));
            }
            ChatEvent::Usage(usage) => self.reply.usage = *usage,
            ChatEvent::Finished(finish) => self.reply.finish = Some(finish.clone()),
        }
    }

    /// Tokens so far, for a run that is cut short.
    pub fn usage(&self) -> Usage {
        self.reply.usage
    }

    /// The whole reply. A call without any arguments text has `{}`.
    ///
    /// # Errors
    /// [`BadArguments`] when a tool call's text is not a JSON object.
    pub fn finish(mut self) -> Result<ChatReply, BadArguments> {
        for (index, (position, text)) in self.calls {
            if text.is_empty() {
                continue;
            }
            match (
                serde_json::from_str(&text),
                self.reply.content.get_mut(position),
            ) {
                (Ok(arguments @ Value::Object(_)), Some(Part::ToolCall(call))) => {
                    call.arguments = arguments
                }
                _ => return Err(BadArguments { index }),
            }
        }
        Ok(self.reply)
    }
}
