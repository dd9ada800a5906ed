//! Tools: how they are defined, what a model calls them with, and what they answer.

use serde_json::{Map, Value, json};

use super::Part;
use crate::json;

/// A call that the model made, as its turn holds it.
#[derive(Clone, PartialEq)]
pub struct ToolCall {
    /// By which a [`ToolResult`] names the call.
    pub id: String,
    pub name: String,
    /// A JSON object; see [`Self::unparsed`] for those that were none.
    pub arguments: Value,
    pub cache_mark: Option<Value>,
}

impl ToolCall {
    /// The text of arguments that were no JSON object.
    pub fn unparsed(&self) -> Option<&str> {
        match &self.arguments {
            Value::Object(fields) if fields.len() == 1 => fields.get(UNPARSED)?.as_str(),
            _ => None,
        }
    }
}

/// What a tool answered. Stands in the user turn behind the call.
#[derive(Clone, PartialEq)]
pub struct ToolResult {
    /// The [`ToolCall::id`] that it answers.
    pub call_id: String,
    pub is_error: bool,
    /// Text, images and documents only.
    pub content: Vec<Part>,
    pub cache_mark: Option<Value>,
}

/// A tool that the model may call. Definitions with PHI are refused whatever the mode (`PHI_IN_TOOL_SCHEMA`).
#[derive(Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: Option<String>,
    /// A JSON Schema object, as the caller gave it.
    pub input_schema: Value,
    /// Arguments that show how the tool is used, as an array: a hint that only kind A takes.
    pub input_examples: Option<Value>,
    /// The caller wants arguments that conform to the schema exactly.
    pub strict: Option<bool>,
    pub cache_mark: Option<Value>,
}

/// Whether the model may, must or must not call a tool.
#[derive(Clone, PartialEq, Eq)]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    /// This tool and no other.
    Named(String),
}

/// Levels of a call's arguments, their own object counted: around them stand the five of a messages body that brings the
/// call back, which are more than those of a stored turn.
pub const MAX_ARGUMENT_DEPTH: usize = json::MAX_DEPTH - 5;

/// Reads the arguments of the calls of one request or of one reply. Together they hold no more than
/// [`json::MAX_VALUES`], as many as a body may bring back.
pub struct Arguments {
    values_left: usize,
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            values_left: json::MAX_VALUES,
        }
    }
}

impl Arguments {
    /// The arguments of a finished call; what says nothing is an empty object (wire.md 2, point 9).
    ///
    /// # Errors
    /// [`BadArguments`] for text that is not a JSON object, or one too deep or large to come back.
    pub fn of_call(&mut self, text: &str, index: u32) -> Result<Value, BadArguments> {
        let read = self.object(text, MAX_ARGUMENT_DEPTH);
        read.ok_or(BadArguments { index })
    }

    /// Arguments that come back as text, as an object also where that is none: models write such text, and limits cut
    /// it. See [`ToolCall::unparsed`].
    pub fn of_any(&mut self, text: &str) -> Value {
        let read = self.object(text, json::MAX_PARSED_DEPTH);
        read.unwrap_or_else(|| unparsed(text))
    }

    fn object(&mut self, text: &str, max_depth: usize) -> Option<Value> {
        match text.trim_ascii() {
            "" | "null" => Some(Value::Object(Map::new())),
            text if text.starts_with('{') => json::of_model(text, max_depth, &mut self.values_left),
            _ => None,
        }
    }
}

/// Arguments that are no JSON object, as the only field of one.
pub(super) fn unparsed(text: &str) -> Value {
    json!({ UNPARSED: text })
}

/// The field in which kind A's vendor has such text sent back (its page on fine-grained tool streaming).
pub(super) const UNPARSED: &str = "INVALID_JSON";

/// Arguments that a model wrote and that are not a JSON object, or one beyond [`MAX_ARGUMENT_DEPTH`] or what
/// [`Arguments`] may hold.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("tool call {index} has arguments that are not a JSON object, or one too deep or large")]
pub struct BadArguments {
    /// Position among the reply's tool calls, from 0.
    pub index: u32,
}
