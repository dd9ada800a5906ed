//! The canonical chat: what every surface decodes to and every provider driver starts from.
//!
//! Three surfaces and N provider kinds are adapters at the two edges of this model. Types that hold content
//! have no `Debug`, `Display` or `Serialize`: content reaches neither a log nor a wire by accident. What the
//! model does not name travels in `ext`, carried to the driver or refused, never dropped silently.

mod fragments;
mod reasoning;
mod size;
mod surrogates;
mod tool;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};

pub use fragments::Fragments;
pub use size::Size;
pub use surrogates::without_nul;
pub use tool::{
    Arguments, BadArguments, MAX_ARGUMENT_DEPTH, Tool, ToolCall, ToolChoice, ToolResult,
};

/// The smallest budget of reasoning that a provider takes (wire format of the messages surface).
pub const MIN_REASONING_TOKENS: u32 = 1_024;

/// One inference request, independent of the surface that it came in on.
#[derive(Clone, PartialEq)]
pub struct ChatRequest {
    /// Catalogue id, not the provider's own name.
    pub model: String,
    /// The system prompt as blocks, in order; the operator's default stands here too.
    pub system: Vec<Part>,
    /// Whether `system` is the organization's default, which the caller did not send.
    pub has_house_prompt: bool,
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
    /// Whether the provider may be told to keep a cache entry for an hour: no driver sends a mark on blank text.
    pub fn writes_for_an_hour(&self) -> bool {
        let turns = self.messages.iter().flat_map(|message| &message.content);
        let mut tools = self.tools.iter();
        self.system
            .iter()
            .chain(turns)
            .any(Part::writes_for_an_hour)
            || tools.any(|tool| is_hour_long(tool.cache_mark.as_ref()))
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
            has_house_prompt: false,
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

/// How the next token is drawn. `None` is what the caller left to the model; what a model takes is the catalogue's to
/// say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// 0 to 2 on the chat-completions surface (spec, Limits), 0 to 1 on the messages surface.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// How many of the likeliest tokens are drawn from.
    pub top_k: Option<u32>,
}

/// Who speaks in a turn.
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
        cache_mark: Option<Value>,
    },
    Image(Image),
    Document(Document),
    ToolCall(ToolCall),
    ToolResult(ToolResult),
    /// The model's reasoning with the provider's signature; returned to the same provider unchanged.
    Reasoning {
        text: String,
        signature: Option<String>,
        /// Id of the driver that gave it, where that is known: no other has any use for it.
        driver: Option<Arc<str>>,
    },
    /// Reasoning that the provider keeps sealed.
    RedactedReasoning {
        data: String,
        /// As that of reasoning.
        driver: Option<Arc<str>>,
    },
}

impl Part {
    /// Text without a prompt-cache mark.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            cache_mark: None,
        }
    }

    /// Hint: a prompt-cache mark belongs after this part (JSON as the surface gave it).
    pub fn cache_mark(&self) -> Option<&Value> {
        match self {
            Self::Text { cache_mark, .. }
            | Self::Image(Image { cache_mark, .. })
            | Self::Document(Document { cache_mark, .. })
            | Self::ToolCall(ToolCall { cache_mark, .. })
            | Self::ToolResult(ToolResult { cache_mark, .. }) => cache_mark.as_ref(),
            Self::Reasoning { .. } | Self::RedactedReasoning { .. } => None,
        }
    }

    fn writes_for_an_hour(&self) -> bool {
        let inner: &[Self] = match self {
            Self::Text { text, .. } if text.trim().is_empty() => return false,
            Self::ToolResult(result) => &result.content,
            _ => &[],
        };
        is_hour_long(self.cache_mark()) || inner.iter().any(Self::writes_for_an_hour)
    }

    /// Where the mark of [`Self::cache_mark`] stands; reasoning takes none.
    pub fn cache_mark_mut(&mut self) -> Option<&mut Option<Value>> {
        match self {
            Self::Text { cache_mark, .. }
            | Self::Image(Image { cache_mark, .. })
            | Self::Document(Document { cache_mark, .. })
            | Self::ToolCall(ToolCall { cache_mark, .. })
            | Self::ToolResult(ToolResult { cache_mark, .. }) => Some(cache_mark),
            Self::Reasoning { .. } | Self::RedactedReasoning { .. } => None,
        }
    }
}

/// The word of a cache mark that asks for an hour, in place of five minutes.
const HOUR: &str = "1h";

fn is_hour_long(mark: Option<&Value>) -> bool {
    mark.and_then(|mark| mark.get("ttl"))
        .is_some_and(|ttl| ttl == HOUR)
}

/// A picture in a turn or in a tool's result.
#[derive(Clone, PartialEq)]
pub struct Image {
    pub media: Media,
    /// How closely to look, in the words of the chat-completions surface: a hint that only kind B takes.
    pub detail: Option<&'static str>,
    pub cache_mark: Option<Value>,
}

impl From<Media> for Image {
    fn from(media: Media) -> Self {
        Self {
            media,
            detail: None,
            cache_mark: None,
        }
    }
}

/// A document in a turn or in a tool's result.
#[derive(Clone, PartialEq)]
pub struct Document {
    pub media: Media,
    pub title: Option<String>,
    /// What the caller says about the document, for the model beside it.
    pub context: Option<String>,
    pub cache_mark: Option<Value>,
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

/// What the text of the reply has to be.
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

    /// Whether a reply that ends so may end in the midst of a tool call.
    pub const fn cuts_calls(self) -> bool {
        !matches!(self, Self::Stop | Self::ToolCalls)
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
    /// The provider's word for what made the model refuse, where it has one.
    pub refused_category: Option<String>,
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
    /// All text from here on is the model's refusal, in a wire format that tells one from an answer.
    Declined,
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
    /// A piece of the arguments' JSON text; empty arguments are `{}`.
    ToolCallDelta {
        index: u32,
        fragment: String,
    },
    /// A call that ends without a piece never got its arguments: the reply was cut off in front of them.
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
    /// What of the text is a refusal ([`ChatEvent::Declined`]).
    pub refusal: Option<String>,
    pub usage: Usage,
    pub finish: Option<Finish>,
    /// Tools that ran at the provider: type and item id of each ([`ChatEvent::ProviderToolCompleted`]).
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

/// Collects events into a reply; the streamed and the unstreamed reply come out the same because both go
/// through the same events.
#[derive(Default)]
pub struct ReplyBuilder {
    reply: ChatReply,
    /// Per tool-call index: position in `reply.content` and the arguments' text so far.
    calls: BTreeMap<u32, (usize, String)>,
    keeps_unparsed: bool,
    drops_prose: bool,
}

impl ReplyBuilder {
    /// One that keeps arguments which are no JSON object (see [`ToolCall::unparsed`]), for a surface that shows their
    /// text.
    pub fn keeping_unparsed() -> Self {
        Self {
            keeps_unparsed: true,
            ..Self::default()
        }
    }

    /// The same, of which nobody reads the text or the reasoning: calls are judged and tokens counted.
    #[must_use]
    pub fn without_prose(self) -> Self {
        Self {
            drops_prose: true,
            ..self
        }
    }

    /// Takes in the next event.
    pub fn push(&mut self, event: &ChatEvent) {
        match event {
            ChatEvent::Text(_)
            | ChatEvent::Reasoning(_)
            | ChatEvent::ReasoningSignature(_)
            | ChatEvent::RedactedReasoning { .. }
                if self.drops_prose => {}
            ChatEvent::Started { .. } | ChatEvent::KeepAlive | ChatEvent::ToolCallEnd { .. } => {}
            ChatEvent::Declined => {
                self.reply.refusal.get_or_insert_default();
            }
            ChatEvent::Text(piece) => {
                if let Some(refusal) = &mut self.reply.refusal {
                    refusal.push_str(piece);
                }
                match self.reply.content.last_mut() {
                    Some(Part::Text { text, .. }) => text.push_str(piece),
                    _ => self.reply.content.push(Part::text(piece)),
                }
            }
            ChatEvent::Reasoning(piece) => match self.reply.content.last_mut() {
                Some(Part::Reasoning {
                    text,
                    signature: None,
                    driver: _,
                }) => text.push_str(piece),
                _ => self.reply.content.push(Part::Reasoning {
                    text: piece.clone(),
                    signature: None,
                    driver: None,
                }),
            },
            ChatEvent::ReasoningSignature(mark) => match self.reply.content.last_mut() {
                Some(Part::Reasoning {
                    signature: signature @ None,
                    ..
                }) => *signature = Some(mark.clone()),
                // Whole signatures come here: another one is of a block without text.
                _ => self.reply.content.push(Part::Reasoning {
                    text: String::new(),
                    signature: Some(mark.clone()),
                    driver: None,
                }),
            },
            ChatEvent::RedactedReasoning { data } => {
                self.reply.content.push(Part::RedactedReasoning {
                    data: data.clone(),
                    driver: None,
                });
            }
            ChatEvent::ToolCallStart { index, id, name } => {
                self.calls
                    .insert(*index, (self.reply.content.len(), String::new()));
                let call = ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: Value::Object(Map::new()),
                    cache_mark: None,
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

    /// The whole reply. A call that the reply's end cut short is left out: nobody can run it, and no result will
    /// ever answer it.
    ///
    /// # Errors
    /// [`BadArguments`] when a call that the model finished has no JSON object for arguments, unless they are kept.
    pub fn finish(mut self) -> Result<ChatReply, BadArguments> {
        let finish = self.reply.finish.as_ref();
        let is_cut = finish.is_some_and(|finish| finish.reason.cuts_calls());
        let mut cut = Vec::new();
        let mut arguments = Arguments::default();
        for (index, (position, text)) in self.calls {
            match (
                arguments.of_call(&text, index),
                self.reply.content.get_mut(position),
            ) {
                _ if text.is_empty() => cut.push(position),
                (Ok(arguments), Some(Part::ToolCall(call))) => call.arguments = arguments,
                (Err(_), _) if is_cut => cut.push(position),
                (Err(_), Some(Part::ToolCall(call))) if self.keeps_unparsed => {
                    call.arguments = tool::unparsed(&text);
                }
                _ => return Err(BadArguments { index }),
            }
        }
        if !cut.is_empty() {
            let mut position = 0..;
            let content = &mut self.reply.content;
            content.retain(|_| position.next().is_none_or(|at| !cut.contains(&at)));
        }
        Ok(self.reply)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::tool::UNPARSED;
    use super::*;
    use crate::json;

    /// A reply with a text, a whole call, and a call whose arguments are `text`.
    fn reply(text: &str, reason: FinishReason) -> Result<ChatReply, BadArguments> {
        built(ReplyBuilder::default(), text, reason)
    }

    fn built(
        mut builder: ReplyBuilder,
        text: &str,
        reason: FinishReason,
    ) -> Result<ChatReply, BadArguments> {
        builder.push(&ChatEvent::Text("so".into()));
        for (index, text) in [(0, "{\"a\":1}"), (1, text)] {
            let start = ChatEvent::ToolCallStart {
                index,
                id: format!("c{index}"),
                name: "f".into(),
            };
            let fragment = text.into();
            let delta = ChatEvent::ToolCallDelta { index, fragment };
            for event in [start, delta, ChatEvent::ToolCallEnd { index }] {
                builder.push(&event);
            }
        }
        builder.push(&ChatEvent::Finished(Finish {
            reason,
            raw: String::new(),
            stop_sequence: None,
            refused_category: None,
        }));
        builder.finish()
    }

    #[test]
    fn without_its_prose_a_reply_is_judged_alike() {
        let without = || ReplyBuilder::default().without_prose();
        let reason = FinishReason::ToolCalls;
        let whole = built(without(), "{}", reason).map(|reply| reply.content.len());
        assert_eq!(whole, Ok(2));
        let bad = built(without(), "{", reason).map(|_| ());
        assert_eq!(bad, Err(BadArguments { index: 1 }));
    }

    #[test]
    fn a_call_that_was_cut_short_is_left_out() {
        for text in ["{\"a\": [1", "{\"a\"", "{"] {
            let cut = reply(text, FinishReason::Length).map(|reply| reply.content.len());
            assert_eq!(cut, Ok(2), "{text}");
            let bad = reply(text, FinishReason::ToolCalls).map(|_| ());
            assert_eq!(bad, Err(BadArguments { index: 1 }), "{text}");
        }
        for text in ["{\"b\":2}", "{}"] {
            let whole = reply(text, FinishReason::Length).map(|reply| reply.content.len());
            assert_eq!(whole, Ok(3), "{text}");
        }
    }

    #[test]
    fn a_call_that_never_got_its_arguments_is_left_out() {
        let cut = reply("", FinishReason::Length).map(|reply| reply.content.len());
        assert_eq!(cut, Ok(2));
    }

    #[test]
    fn arguments_that_are_no_object_are_kept_as_text_where_that_is_shown() {
        for text in ["{\"a\": [1", "[1]", "\"x\"", "7", "{'a': 1}"] {
            let whole = built(
                ReplyBuilder::keeping_unparsed(),
                text,
                FinishReason::ToolCalls,
            );
            let kept = whole.map(|reply| match reply.content.last() {
                Some(Part::ToolCall(call)) => call.unparsed().map(str::to_owned),
                _ => None,
            });
            assert_eq!(kept, Ok(Some(text.to_owned())), "{text}");
        }
        let cut = built(
            ReplyBuilder::keeping_unparsed(),
            "{\"a\"",
            FinishReason::Length,
        );
        assert_eq!(cut.map(|reply| reply.content.len()), Ok(2));
        for arguments in [
            json!({}),
            json!({ UNPARSED: 1 }),
            json!({ UNPARSED: "x", "a": 1 }),
        ] {
            let call = ToolCall {
                id: "c".into(),
                name: "f".into(),
                arguments,
                cache_mark: None,
            };
            assert_eq!(call.unparsed(), None);
        }
    }

    #[test]
    fn arguments_go_as_deep_as_can_come_back() {
        let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
        let mut arguments = Arguments::default();
        assert!(arguments.of_call(&nested(MAX_ARGUMENT_DEPTH), 0).is_ok());
        let deep = nested(MAX_ARGUMENT_DEPTH + 1);
        let bad = arguments.of_call(&deep, 3);
        assert_eq!(bad, Err(BadArguments { index: 3 }));
        // A reply shows them as they were written.
        let kept = built(
            ReplyBuilder::keeping_unparsed(),
            &deep,
            FinishReason::ToolCalls,
        );
        let kept = kept.map(|reply| match reply.content.last() {
            Some(Part::ToolCall(call)) => call.unparsed() == Some(&deep),
            _ => false,
        });
        assert_eq!(kept, Ok(true));
        // Text has no levels of a body around it.
        let deepest = nested(json::MAX_PARSED_DEPTH);
        assert_eq!(arguments.of_any(&deepest).to_string(), deepest);
        let deeper = nested(json::MAX_PARSED_DEPTH + 1);
        assert_eq!(arguments.of_any(&deeper), json!({ UNPARSED: deeper }));
    }

    #[test]
    fn the_calls_of_one_reply_hold_no_more_than_a_body_together() {
        let half = format!("{{\"a\":[{}0]}}", "0,".repeat(json::MAX_VALUES / 2));
        let build = |mut builder: ReplyBuilder| {
            for index in 0..3 {
                let start = ChatEvent::ToolCallStart {
                    index,
                    id: format!("c{index}"),
                    name: "f".into(),
                };
                builder.push(&start);
                let fragment = if index < 2 { &half } else { "{\"b\":1}" };
                let fragment = fragment.to_owned();
                builder.push(&ChatEvent::ToolCallDelta { index, fragment });
            }
            builder.finish()
        };
        let bad = build(ReplyBuilder::default()).map(|_| ());
        assert_eq!(bad, Err(BadArguments { index: 1 }));
        let kept = build(ReplyBuilder::keeping_unparsed()).map(|reply| {
            let parts = reply.content.iter();
            let texts = parts.map(|part| match part {
                Part::ToolCall(call) => call.unparsed().map(str::len),
                _ => None,
            });
            texts.collect::<Vec<_>>()
        });
        assert_eq!(kept, Ok(vec![None, Some(half.len()), None]));
    }

    #[test]
    fn arguments_that_say_nothing_are_an_empty_object() {
        for text in ["", " \n", "null", " null "] {
            let read = Arguments::default().of_call(text, 0);
            assert_eq!(read, Ok(json!({})), "{text:?}");
        }
        for text in ["[1]", "{} trailing", "1", "\"x\""] {
            let read = Arguments::default().of_call(text, 7);
            assert_eq!(read, Err(BadArguments { index: 7 }), "{text:?}");
        }
    }
}
