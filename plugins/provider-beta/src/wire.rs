//! The chat-completions wire format, both directions. Shapes only; field names are the wire's own.

use std::borrow::Cow;

use driver_kit::json::{Count, Passed, or_default};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

// ------------------------------------------------------------------- request

#[derive(Serialize)]
pub struct Request<'a> {
    pub model: &'a str,
    pub messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Cow<'a, str>>,
    pub stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    pub passed: Passed<'a>,
}

#[derive(Serialize)]
pub struct StreamOptions {
    pub include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message<'a> {
    System {
        content: String,
    },
    User {
        content: Content<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
    },
    Assistant {
        /// None, which is `null` on the wire, stands only beside calls.
        content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: String,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl<'a> },
    File { file: File<'a> },
}

#[derive(Serialize)]
pub struct ImageUrl<'a> {
    pub url: Cow<'a, str>,
    /// A JSON string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<RawValue>>,
}

#[derive(Serialize)]
pub struct File<'a> {
    pub filename: &'a str,
    /// A data address.
    pub file_data: String,
}

#[derive(Serialize)]
pub struct ToolCall<'a> {
    pub id: &'a str,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub function: CalledFunction<'a>,
}

#[derive(Serialize)]
pub struct CalledFunction<'a> {
    pub name: &'a str,
    /// A JSON object as text, or what the model wrote in the place of one.
    pub arguments: Cow<'a, str>,
}

#[derive(Serialize)]
pub struct Tool<'a> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub function: Function<'a>,
}

#[derive(Serialize)]
pub struct Function<'a> {
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
    pub parameters: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum ToolChoice<'a> {
    Word(&'static str),
    Named {
        #[serde(rename = "type")]
        kind: &'static str,
        function: Named<'a>,
    },
}

#[derive(Serialize)]
pub struct Named<'a> {
    pub name: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResponseFormat<'a> {
    JsonObject,
    JsonSchema { json_schema: JsonSchema<'a> },
}

#[derive(Serialize)]
pub struct JsonSchema<'a> {
    pub name: &'a str,
    pub schema: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

// ------------------------------------------------------------------ response

/// A stream chunk or a whole answer: their choices hold a `delta` or a `message` of one shape. Any field may be
/// null.
#[derive(Deserialize)]
pub struct Answer<'a> {
    #[serde(borrow)]
    pub id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub choices: Option<Vec<Choice<'a>>>,
    pub usage: Option<Usage>,
    #[serde(borrow)]
    pub error: Option<ErrorBody<'a>>,
}

#[derive(Deserialize)]
pub struct Choice<'a> {
    #[serde(default, deserialize_with = "or_default")]
    pub index: u64,
    #[serde(borrow)]
    pub delta: Option<Delta<'a>>,
    /// Of whole answers. Some endpoints say all of it once more at the end of a stream.
    #[serde(borrow)]
    pub message: Option<Delta<'a>>,
    #[serde(borrow)]
    pub finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub struct Delta<'a> {
    #[serde(borrow)]
    pub content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub refusal: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize)]
pub struct CallDelta<'a> {
    /// Absent in whole answers, where the place says it.
    pub index: Option<u64>,
    #[serde(borrow)]
    pub id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub function: Option<FunctionDelta<'a>>,
}

#[derive(Deserialize)]
pub struct FunctionDelta<'a> {
    #[serde(borrow)]
    pub name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub arguments: Option<Cow<'a, str>>,
}

/// `prompt_tokens` includes what was read from the cache.
#[derive(Deserialize)]
pub struct Usage {
    pub prompt_tokens: Option<Count>,
    pub completion_tokens: Option<Count>,
    pub prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
pub struct PromptDetails {
    pub cached_tokens: Option<Count>,
}

#[derive(Deserialize)]
pub struct ErrorBody<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub code: Option<Code<'a>>,
    #[serde(borrow)]
    pub message: Option<Cow<'a, str>>,
}

/// A word; some endpoints repeat the status as a number.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Code<'a> {
    Word(#[serde(borrow)] Cow<'a, str>),
    Other(IgnoredAny),
}
