//! What the fake answers, before any wire format: deterministic content from a request and its behaviour.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::fake_provider::sample::sample;
use crate::fake_provider::script::{Behaviour, UsageOrder};

/// A request as far as the answer depends on it.
#[derive(Default)]
pub(crate) struct Ask {
    pub(crate) model: String,
    pub(crate) stream: bool,
    /// Whether a stream is to say its usage, where the format leaves that to the caller.
    pub(crate) stream_usage: bool,
    /// Text of the last user turn.
    pub(crate) said: String,
    /// Text of the tool results of the last turn, when it has any.
    pub(crate) tool_answer: Option<String>,
    /// A tool that must be called, with its input schema.
    pub(crate) forced_tool: Option<(String, Value)>,
    /// A schema that the text must satisfy.
    pub(crate) output_schema: Option<Value>,
    pub(crate) thinking: bool,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) stop_sequences: Vec<String>,
    /// Characters of everything that counts as input.
    pub(crate) input_chars: u64,
}

/// One answer.
pub(crate) struct Reply {
    /// The request's number: ids are made from it.
    pub(crate) seq: u64,
    pub(crate) model: String,
    pub(crate) blocks: Vec<Block>,
    pub(crate) stop: Stop,
    pub(crate) usage: Usage,
    /// As asked.
    pub(crate) stream_usage: bool,
}

/// A part of an answer; streamed parts come in pieces.
pub(crate) enum Block {
    Text(Vec<String>),
    Thinking {
        pieces: Vec<String>,
        signature: String,
    },
    RedactedThinking(String),
    ToolUse {
        /// None: the format makes one from the request's number and the place.
        id: Option<String>,
        name: String,
        input: Value,
    },
}

pub(crate) enum Stop {
    End,
    MaxTokens,
    Sequence(String),
    ToolUse,
    /// A word of the wire format, as a behaviour gave it.
    Ordered(String),
}

#[derive(Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cache_read_input_tokens: u64,
    pub(crate) cache_creation_input_tokens: u64,
}

/// Characters of text in one stream event: short enough to cut placeholders and dates in two.
const PIECE_CHARS: usize = 12;

/// Bound on the echoed text, in characters.
const MAX_ECHO_CHARS: usize = 2_000;

const CHARS_PER_TOKEN: u64 = 4;

/// Tokens of a number of characters: four to one, rounded up, at least one.
pub(crate) fn tokens(chars: u64) -> u64 {
    chars.div_ceil(CHARS_PER_TOKEN).max(1)
}

/// The answer to a request; `behaviour` decides what it names, the request the rest.
pub(crate) fn compose(ask: &Ask, behaviour: &Behaviour, seq: u64) -> Reply {
    let ordered = ordered_blocks(behaviour);
    let (blocks, mut stop) = if ordered.is_empty() {
        own_answer(ask)
    } else {
        let calls = ordered
            .iter()
            .any(|block| matches!(block, Block::ToolUse { .. }));
        (ordered, if calls { Stop::ToolUse } else { Stop::End })
    };
    if let Some(word) = &behaviour.stop_reason {
        stop = Stop::Ordered(word.clone());
    }
    let usage = usage(ask, &blocks, behaviour.usage.as_ref());
    Reply {
        seq,
        model: ask.model.clone(),
        blocks,
        stop,
        usage,
        stream_usage: ask.stream_usage,
    }
}

/// The signature that the fake gives its thinking, and wants back with it.
pub(crate) fn signature(thinking: &str) -> String {
    let digest = Sha256::digest(thinking.as_bytes());
    let digest: String = hex::encode(digest).chars().take(32).collect();
    format!("sig_fake_{digest}")
}

/// The text of a call's input.
pub(crate) fn input_text(input: &Value) -> String {
    match input {
        Value::String(text) => text.clone(),
        input => input.to_string(),
    }
}

/// Cuts text into pieces of at most `chars` characters.
pub(crate) fn pieces(text: &str, chars: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text.chars().peekable();
    while rest.peek().is_some() {
        pieces.push(rest.by_ref().take(chars.max(1)).collect());
    }
    pieces
}

fn ordered_blocks(behaviour: &Behaviour) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(thinking) = &behaviour.thinking {
        blocks.push(thinking_block(thinking));
    }
    if let Some(data) = &behaviour.redacted_thinking {
        blocks.push(Block::RedactedThinking(data.clone()));
    }
    if let Some(text) = ordered_text(behaviour) {
        blocks.push(Block::Text(text));
    }
    blocks.extend(behaviour.tools.iter().map(|call| Block::ToolUse {
        id: call.id.clone(),
        name: call.name.clone(),
        input: call.input.clone(),
    }));
    blocks
}

fn ordered_text(behaviour: &Behaviour) -> Option<Vec<String>> {
    if let Some(chunks) = &behaviour.text_chunks {
        return Some(chunks.clone());
    }
    match (&behaviour.text, behaviour.event_count) {
        (Some(text), Some(count)) => {
            let count = usize::try_from(count.max(1)).unwrap_or(usize::MAX);
            Some(pieces(text, text.chars().count().div_ceil(count)))
        }
        (Some(text), None) => Some(pieces(text, PIECE_CHARS)),
        (None, Some(count)) => Some((1..=count).map(|number| format!("{number} ")).collect()),
        (None, None) => None,
    }
}

/// What the fake says of its own accord.
fn own_answer(ask: &Ask) -> (Vec<Block>, Stop) {
    let mut blocks = Vec::new();
    if let Some((name, schema)) = &ask.forced_tool {
        blocks.push(Block::ToolUse {
            id: None,
            name: name.clone(),
            input: sample(schema),
        });
        return (blocks, Stop::ToolUse);
    }
    let text = match (&ask.output_schema, &ask.tool_answer) {
        (Some(schema), _) => sample(schema).to_string(),
        (None, Some(answer)) => format!("The tool answered: {}", echo(answer)),
        (None, None) => format!("You said: {}", echo(&ask.said)),
    };
    let mut left = ask.max_tokens.map_or(usize::MAX, |tokens| {
        usize::try_from(tokens.saturating_mul(CHARS_PER_TOKEN)).unwrap_or(usize::MAX)
    });
    if ask.thinking {
        let thought = format!("The user wrote {} characters.", ask.said.chars().count());
        let thought: String = thought.chars().take(left).collect();
        left -= thought.chars().count();
        blocks.push(thinking_block(&thought));
    }
    let (text, stop) = limit(&text, left, &ask.stop_sequences);
    if !text.is_empty() {
        blocks.push(Block::Text(pieces(&text, PIECE_CHARS)));
    }
    (blocks, stop)
}

/// Ends a text at its first stop sequence or after `chars` characters, whichever comes first.
fn limit(text: &str, chars: usize, stop_sequences: &[String]) -> (String, Stop) {
    let first = stop_sequences
        .iter()
        .filter_map(|sequence| text.find(sequence.as_str()).map(|at| (at, sequence)))
        .min_by_key(|(at, _)| *at);
    let (text, stop) = match first {
        Some((at, sequence)) => (
            text.get(..at).unwrap_or_default(),
            Stop::Sequence(sequence.clone()),
        ),
        None => (text, Stop::End),
    };
    if text.chars().count() <= chars {
        (text.to_owned(), stop)
    } else {
        (text.chars().take(chars).collect(), Stop::MaxTokens)
    }
}

fn thinking_block(text: &str) -> Block {
    Block::Thinking {
        pieces: pieces(text, PIECE_CHARS),
        signature: signature(text),
    }
}

fn echo(text: &str) -> String {
    text.trim().chars().take(MAX_ECHO_CHARS).collect()
}

fn usage(ask: &Ask, blocks: &[Block], order: Option<&UsageOrder>) -> Usage {
    let chars_of = |pieces: &[String]| pieces.iter().map(|piece| piece.chars().count()).sum();
    let output_chars: usize = blocks
        .iter()
        .map(|block| match block {
            Block::Text(pieces) | Block::Thinking { pieces, .. } => chars_of(pieces),
            Block::RedactedThinking(data) => data.chars().count(),
            Block::ToolUse { name, input, .. } => {
                name.chars().count() + input.to_string().chars().count()
            }
        })
        .sum();
    let UsageOrder {
        input_tokens,
        output_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
    } = order.cloned().unwrap_or_default();
    let output_chars = u64::try_from(output_chars).unwrap_or(u64::MAX);
    Usage {
        input_tokens: input_tokens.unwrap_or_else(|| tokens(ask.input_chars)),
        output_tokens: output_tokens.unwrap_or_else(|| tokens(output_chars)),
        cache_read_input_tokens: cache_read_input_tokens.unwrap_or(0),
        cache_creation_input_tokens: cache_creation_input_tokens.unwrap_or(0),
    }
}
