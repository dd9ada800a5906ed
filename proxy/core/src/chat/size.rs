//! How large a request is: for whoever decides where, and for how long, it is read. Makes no text of what is counted.
//!
//! Records are taken apart whole, so that a new field cannot be forgotten here.

use serde_json::{Map, Number, Value};

use super::{
    ChatRequest, Document, Image, Media, Message, Part, ResponseFormat, Tool, ToolCall, ToolResult,
};

/// Bytes of a request. JSON counts as its compact text without escapes, and so never for too much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Text that the model reads: prompt, turns, tools and the schema of its answer.
    pub text_bytes: usize,
    /// What a provider has to decode, what it keeps sealed, and parameters.
    pub other_bytes: usize,
}

/// Where there is much JSON, counting it stops at `most` bytes of text.
impl Size {
    /// All of it.
    pub fn of(chat: &ChatRequest, most: usize) -> Self {
        let ChatRequest {
            model: _,
            system,
            has_house_prompt: _,
            messages,
            tools,
            tool_choice: _,
            parallel_tool_calls: _,
            max_tokens: _,
            sampling: _,
            stop_sequences,
            response_format,
            reasoning_tokens: _,
            metadata,
            stream: _,
            ext,
        } = chat;
        let mut count = Count::up_to(most);
        count.parts(system);
        for message in messages {
            count.message(message);
        }
        count.tools(tools);
        count.format(response_format.as_ref());
        let stops = stop_sequences.iter().map(String::len);
        let pairs = metadata
            .iter()
            .map(|(name, value)| name.len() + value.len());
        let parameters: usize = stops.chain(pairs).sum();
        count.size.other_bytes += parameters + of_fields(ext, most);
        count.size
    }

    /// Some parts of it.
    pub fn of_parts(parts: &[Part], most: usize) -> Self {
        let mut count = Count::up_to(most);
        count.parts(parts);
        count.size
    }

    /// The definitions of some tools.
    pub fn of_tools(tools: &[Tool], most: usize) -> Self {
        let mut count = Count::up_to(most);
        count.tools(tools);
        count.size
    }

    /// What an answer has to conform to.
    pub fn of_format(format: Option<&ResponseFormat>, most: usize) -> Self {
        let mut count = Count::up_to(most);
        count.format(format);
        count.size
    }

    /// Everything together.
    pub const fn bytes(self) -> usize {
        self.text_bytes + self.other_bytes
    }
}

struct Count {
    size: Size,
    most: usize,
}

impl Count {
    fn up_to(most: usize) -> Self {
        Self {
            size: Size::default(),
            most,
        }
    }

    fn message(&mut self, message: &Message) {
        let Message {
            role: _,
            content,
            name,
        } = message;
        self.word(name.as_deref());
        self.parts(content);
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            self.part(part);
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Text {
                text,
                cache_mark: _,
            } => self.size.text_bytes += text.len(),
            Part::Image(Image {
                media,
                detail: _,
                cache_mark: _,
            }) => self.media(media),
            Part::Document(Document {
                media,
                title,
                context,
                cache_mark: _,
            }) => {
                self.word(title.as_deref());
                self.word(context.as_deref());
                self.media(media);
            }
            Part::ToolCall(ToolCall {
                id: _,
                name,
                arguments,
                cache_mark: _,
            }) => {
                self.word(Some(name));
                self.json(arguments);
            }
            Part::ToolResult(ToolResult {
                call_id: _,
                is_error: _,
                content,
                cache_mark: _,
            }) => self.parts(content),
            Part::Reasoning {
                text,
                signature,
                driver: _,
            } => {
                self.size.text_bytes += text.len();
                self.size.other_bytes += signature.as_ref().map_or(0, String::len);
            }
            Part::RedactedReasoning { data, driver: _ } => self.size.other_bytes += data.len(),
        }
    }

    fn media(&mut self, media: &Media) {
        match media {
            Media::Inline {
                media_type: _,
                data,
            } => self.size.other_bytes += data.len(),
            Media::Url(address) => self.size.other_bytes += address.len(),
            Media::Text(text) => self.size.text_bytes += text.len(),
        }
    }

    fn tools(&mut self, tools: &[Tool]) {
        for tool in tools {
            let Tool {
                name,
                description,
                input_schema,
                input_examples,
                strict: _,
                cache_mark: _,
            } = tool;
            self.word(Some(name));
            self.word(description.as_deref());
            self.json(input_schema);
            if let Some(examples) = input_examples {
                self.json(examples);
            }
        }
    }

    fn format(&mut self, format: Option<&ResponseFormat>) {
        match format {
            None | Some(ResponseFormat::JsonObject) => {}
            Some(ResponseFormat::JsonSchema {
                name,
                schema,
                strict: _,
            }) => {
                self.word(name.as_deref());
                self.json(schema);
            }
        }
    }

    fn word(&mut self, word: Option<&str>) {
        self.size.text_bytes += word.map_or(0, str::len);
    }

    fn json(&mut self, value: &Value) {
        let left = self.most.saturating_sub(self.size.text_bytes);
        if left > 0 {
            self.size.text_bytes += of_value(value, left);
        }
    }
}

/// Bytes of a value, all of them or at least `most`.
fn of_value(value: &Value, most: usize) -> usize {
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => of_number(number),
        Value::String(text) => 2 + text.len(),
        Value::Array(items) => {
            // Brackets, and a comma behind each item but the last.
            let mut bytes = 2 + items.len().saturating_sub(1);
            for item in items {
                if bytes >= most {
                    break;
                }
                bytes += of_value(item, most - bytes);
            }
            bytes
        }
        Value::Object(fields) => of_fields(fields, most),
    }
}

fn of_fields(fields: &Map<String, Value>, most: usize) -> usize {
    let mut bytes = 2 + fields.len().saturating_sub(1);
    for (name, value) in fields {
        if bytes >= most {
            break;
        }
        // Quotes and a colon.
        bytes += 3 + name.len();
        bytes += of_value(value, most.saturating_sub(bytes));
    }
    bytes
}

fn of_number(number: &Number) -> usize {
    /// `1.5`, and anything longer.
    const FRACTION_BYTES: usize = 3;
    let digits = |number: u64| number.checked_ilog10().map_or(1, |log| 1 + log as usize);
    match (number.as_u64(), number.as_i64()) {
        (Some(whole), _) => digits(whole),
        (None, Some(whole)) => 1 + digits(whole.unsigned_abs()),
        (None, None) => FRACTION_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_counts_as_its_text() {
        for value in [
            json!(null),
            json!([true, false, 0, 9, 10, -1, u64::MAX, i64::MIN, 1.5]),
            json!([]),
            json!({}),
            json!({"a": {"b": ["é", ""]}, "c": [[], [1]]}),
        ] {
            assert_eq!(
                of_value(&value, usize::MAX),
                value.to_string().len(),
                "{value}"
            );
        }
        // Never for more.
        let value = json!(["\"\n", 0.123_456_789]);
        assert!(of_value(&value, usize::MAX) <= value.to_string().len());
    }

    #[test]
    fn much_json_is_not_counted_to_its_end() {
        let many = Value::from(vec![json!({"name": "value"}); 1_000]);
        let bytes = of_value(&many, 2_000);
        assert!((2_000..3_000).contains(&bytes), "{bytes}");
        let mut chat = ChatRequest::of_user_text("x".repeat(100));
        chat.tools = vec![tool(many); 10];
        let size = Size::of(&chat, 2_000);
        assert!((2_000..3_000).contains(&size.text_bytes), "{size:?}");
    }

    fn tool(input_schema: Value) -> Tool {
        Tool {
            name: "look".to_owned(),
            description: Some("Looks.".to_owned()),
            input_schema,
            input_examples: None,
            strict: None,
            cache_mark: None,
        }
    }

    #[test]
    fn everything_that_can_be_large_counts() {
        let mut chat = ChatRequest::of_user_text("12345");
        let mut before = Size::of(&chat, usize::MAX);
        assert_eq!((before.text_bytes, before.bytes()), (5, 5 + 2));
        let mut grows = |chat: &ChatRequest, text_bytes: usize, other_bytes: usize| {
            let now = Size::of(chat, usize::MAX);
            let grown = (
                now.text_bytes - before.text_bytes,
                now.other_bytes - before.other_bytes,
            );
            assert_eq!(grown, (text_bytes, other_bytes));
            before = now;
        };
        chat.tools.push(tool(json!({"type": "object"})));
        grows(&chat, 4 + 6 + 17, 0);
        chat.response_format = Some(ResponseFormat::JsonSchema {
            name: Some("answer".to_owned()),
            schema: json!({}),
            strict: None,
        });
        grows(&chat, 6 + 2, 0);
        chat.stop_sequences.push("stop".to_owned());
        chat.metadata.insert("a".to_owned(), "bc".to_owned());
        chat.ext.insert("b".to_owned(), json!(1));
        grows(&chat, 0, 4 + 3 + 5);
        let data = |media_type: &str| Media::Inline {
            media_type: media_type.to_owned(),
            data: vec![0; 8].into(),
        };
        let parts = [
            (Part::Image(data("image/png").into()), 0, 8),
            (
                Part::Document(Document {
                    media: Media::Text("inside".to_owned()),
                    title: Some("title".to_owned()),
                    context: Some("context".to_owned()),
                    cache_mark: None,
                }),
                6 + 5 + 7,
                0,
            ),
            (
                Part::ToolCall(ToolCall {
                    id: "call".to_owned(),
                    name: "look".to_owned(),
                    arguments: json!({"a": 1}),
                    cache_mark: None,
                }),
                4 + 7,
                0,
            ),
            (
                Part::ToolResult(ToolResult {
                    call_id: "call".to_owned(),
                    is_error: false,
                    content: vec![Part::text("found"), Part::Image(data("image/png").into())],
                    cache_mark: None,
                }),
                5,
                8,
            ),
            (
                Part::Reasoning {
                    text: "so".to_owned(),
                    signature: Some("sealed".to_owned()),
                    driver: None,
                },
                2,
                6,
            ),
            (
                Part::RedactedReasoning {
                    data: "sealed".to_owned(),
                    driver: None,
                },
                0,
                6,
            ),
        ];
        for (part, text_bytes, other_bytes) in parts {
            chat.system.push(part);
            grows(&chat, text_bytes, other_bytes);
        }
    }
}
