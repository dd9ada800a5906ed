//! The Messages wire format, both directions. Shapes only; field names are the wire's own.

use std::borrow::Cow;

use driver_kit::json::{Count, Passed, or_default, text};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

// ------------------------------------------------------------------- request

/// Counting tokens takes the same fields, less those that say how to answer.
#[derive(Serialize)]
pub struct Request<'a> {
    pub model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "System::is_empty")]
    pub system: System<'a>,
    pub messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    #[serde(flatten)]
    pub passed: Passed<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum System<'a> {
    Text(&'a str),
    Blocks(Vec<Block<'a>>),
}

impl System<'_> {
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Blocks(blocks) => blocks.is_empty(),
        }
    }
}

#[derive(Serialize)]
pub struct Turn<'a> {
    pub role: &'static str,
    pub content: Vec<Block<'a>>,
}

#[derive(Serialize)]
pub struct Block<'a> {
    #[serde(flatten)]
    pub body: Body<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<Box<RawValue>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Body<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        context: Option<&'a str>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: Box<RawValue>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Source<'a> {
    Base64 {
        media_type: &'a str,
        data: String,
    },
    Url {
        url: &'a str,
    },
    Text {
        media_type: &'static str,
        data: &'a str,
    },
}

#[derive(Serialize)]
pub struct Tool<'a> {
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
    pub input_schema: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_examples: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<Box<RawValue>>,
}

#[derive(Serialize)]
pub struct ToolChoice<'a> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disable_parallel_tool_use: Option<bool>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum Thinking<'a> {
    Budget {
        #[serde(rename = "type")]
        kind: &'static str,
        budget_tokens: u32,
    },
    /// As the caller gave it.
    Whole(&'a RawValue),
}

/// What a whole `thinking` is about.
#[derive(Deserialize)]
pub struct ThinkingKind<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Cow<'a, str>,
}

#[derive(Serialize)]
pub struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<&'a str>,
}

#[derive(Serialize)]
pub struct OutputFormat {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub schema: Box<RawValue>,
}

#[derive(Serialize)]
pub struct Metadata<'a> {
    pub user_id: Cow<'a, str>,
}

// ------------------------------------------------------------------ response

/// A stream event, or a whole answer: both carry `type` and differ in the fields that are there.
#[derive(Deserialize)]
pub struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Cow<'a, str>,
    #[serde(default)]
    pub index: u64,
    #[serde(borrow)]
    pub message: Option<Answer<'a>>,
    #[serde(borrow)]
    pub content_block: Option<AnswerBlock<'a>>,
    #[serde(borrow)]
    pub delta: Option<Delta<'a>>,
    pub usage: Option<Usage>,
    #[serde(borrow)]
    pub error: Option<ErrorBody<'a>>,
}

#[derive(Deserialize)]
pub struct Answer<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub id: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub model: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    pub content: Vec<AnswerBlock<'a>>,
    #[serde(borrow)]
    pub stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub stop_sequence: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub stop_details: Option<StopDetails<'a>>,
    pub usage: Option<Usage>,
    #[serde(borrow)]
    pub error: Option<ErrorBody<'a>>,
}

#[derive(Deserialize)]
pub struct AnswerBlock<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub text: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub thinking: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub signature: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub data: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub id: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub name: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub tool_use_id: Cow<'a, str>,
    #[serde(borrow)]
    pub input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub struct Delta<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub text: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub partial_json: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub thinking: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub signature: Cow<'a, str>,
    #[serde(borrow)]
    pub stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub stop_sequence: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub stop_details: Option<StopDetails<'a>>,
}

/// Why the model refused. Its explanation is a sentence, which nobody is to see.
#[derive(Deserialize)]
pub struct StopDetails<'a> {
    #[serde(borrow)]
    pub category: Option<Cow<'a, str>>,
}

/// Absent and null counters keep what an earlier event said.
#[derive(Deserialize)]
pub struct Usage {
    pub input_tokens: Option<Count>,
    pub output_tokens: Option<Count>,
    pub cache_read_input_tokens: Option<Count>,
    pub cache_creation_input_tokens: Option<Count>,
}

/// The answer to counting: a number or an error.
#[derive(Deserialize)]
pub struct TokenCount<'a> {
    pub input_tokens: Option<Count>,
    #[serde(borrow)]
    pub error: Option<ErrorBody<'a>>,
}

#[derive(Deserialize)]
pub struct ErrorBody<'a> {
    #[serde(rename = "type", borrow, default)]
    pub kind: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub message: Cow<'a, str>,
}
