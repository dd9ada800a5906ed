//! The three inference surfaces side by side: one question asked on each, and what each answer says, in words that
//! they share.

use serde_json::{Value, json};

use crate::wire::{Answer, Request};

/// A model of each provider kind in the shipped catalogue. Both take a temperature and are open to every plan.
pub const MODELS: [(&str, &str); 2] = [("A", "alpha-haiku-4-5"), ("B", "beta-5.4")];

/// Tokens that every question here asks for: the messages surface cannot do without.
pub const MAX_TOKENS: u32 = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    Native,
    Messages,
    ChatCompletions,
}

pub const SURFACES: [Surface; 3] = [Surface::Native, Surface::Messages, Surface::ChatCompletions];

/// How an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Streamed,
    Whole,
}

pub const FORMS: [Form; 2] = [Form::Streamed, Form::Whole];

impl Surface {
    /// Also the name in golden files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Messages => "messages",
            Self::ChatCompletions => "chat_completions",
        }
    }

    pub const fn path(self) -> &'static str {
        match self {
            Self::Native => "/v1/ai/chat",
            Self::Messages => "/v1/messages",
            Self::ChatCompletions => "/v1/chat/completions",
        }
    }

    /// The body that asks one question.
    pub fn question(self, model: &str, text: &str, form: Form) -> Value {
        let turns = json!([{"role": "user", "content": text}]);
        let mut body = match self {
            Self::Native => json!({"model": model, "max_tokens": MAX_TOKENS, "message": text}),
            Self::Messages | Self::ChatCompletions => {
                json!({"model": model, "max_tokens": MAX_TOKENS, "messages": turns})
            }
        };
        body["stream"] = json!(form == Form::Streamed);
        body
    }

    pub fn request(self, key: &str, body: &Value) -> Request {
        Request::new("POST", self.path()).bearer(key).json(body)
    }

    /// What a stream said.
    ///
    /// # Panics
    /// When a frame is not of this surface's format, or the stream ends in neither of the two ways.
    pub fn heard(self, answer: &Answer) -> Heard {
        assert_eq!(answer.status, 200, "{}", answer.text());
        let mut heard = Heard::default();
        for frame in frames(&answer.text()) {
            assert!(heard.end.is_none(), "more after the end: {frame:?}");
            match self {
                Self::Native => heard.native(&frame),
                Self::Messages => heard.messages(&frame),
                Self::ChatCompletions => heard.chat_completions(&frame),
            }
        }
        assert!(heard.end.is_some(), "no end: {}", answer.text());
        heard
    }

    /// What an unstreamed answer said.
    ///
    /// # Panics
    /// When it is not an answer of this surface.
    pub fn read(self, answer: &Answer) -> Heard {
        assert_eq!(answer.status, 200, "{}", answer.text());
        let body = answer.json();
        let mut heard = Heard::default();
        match self {
            Self::Native => {
                let data = &body["data"];
                heard.text = text(&data["message"]["content"]);
                for call in list(&data["message"]["tool_calls"]) {
                    heard.call(&call["id"], &call["name"], call["arguments"].clone());
                }
                heard.usage = usage(&body["meta"]["usage"]);
                heard.finish = data["finish_reason"].clone();
            }
            Self::Messages => {
                for block in list(&body["content"]) {
                    heard.block(block, block["input"].clone());
                }
                heard.usage = usage(&body["usage"]);
                heard.finish = body["stop_reason"].clone();
            }
            Self::ChatCompletions => {
                let choice = &body["choices"][0];
                heard.text = text(&choice["message"]["content"]);
                for call in list(&choice["message"]["tool_calls"]) {
                    let arguments = &call["function"]["arguments"];
                    heard.call(&call["id"], &call["function"]["name"], parsed(arguments));
                }
                heard.usage = body["usage"].clone();
                heard.finish = choice["finish_reason"].clone();
            }
        }
        heard.end = Some(End::Well);
        heard
    }

    /// The code of an error body, or of an error that ends a stream.
    pub fn code(self, error: &Value) -> String {
        let code = match self {
            Self::Native if error["error"].is_object() => &error["error"]["code"],
            Self::Native => &error["code"],
            Self::Messages => &error["error"]["code"],
            Self::ChatCompletions => &error["error"]["svc_code"],
        };
        text(code)
    }
}

/// One frame of a stream: its name, empty where there is none, and its data; none for a comment.
fn frames(stream: &str) -> Vec<(String, String)> {
    assert!(stream.ends_with("\n\n"), "half a frame: {stream:?}");
    let frames = stream.split("\n\n").filter(|frame| !frame.is_empty());
    let frames = frames.filter(|frame| !frame.starts_with(':'));
    frames
        .map(|frame| match frame.split_once('\n') {
            Some((name, data)) => (field(name, "event: "), field(data, "data: ")),
            None => (String::new(), field(frame, "data: ")),
        })
        .collect()
}

fn field(line: &str, name: &str) -> String {
    let value = line.strip_prefix(name);
    value
        .unwrap_or_else(|| panic!("no {name:?} in {line:?}"))
        .to_owned()
}

/// How an answer ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    Well,
    /// The error as the surface shows it.
    Badly(Value),
}

/// What an answer said.
#[derive(Debug, Default, PartialEq)]
pub struct Heard {
    pub text: String,
    /// Reasoning with its signature, and what is sealed.
    pub reasoning: Vec<Value>,
    /// Id, name and arguments of each call.
    pub calls: Vec<(String, String, Value)>,
    /// The surface's own word.
    pub finish: Value,
    /// Counters by the surface's own names.
    pub usage: Value,
    pub end: Option<End>,
    /// Blocks or calls that are still open: what has come of them.
    open: Vec<(Value, String)>,
}

impl Heard {
    fn native(&mut self, (name, data): &(String, String)) {
        let data: Value = serde_json::from_str(data).expect("JSON");
        match name.as_str() {
            "run.started" | "heartbeat" => {}
            "message.delta" => self.text.push_str(&text(&data["text"])),
            "tool_call" => self.call(&data["id"], &data["name"], data["arguments"].clone()),
            "run.completed" => {
                self.usage = usage(&data["usage"]);
                self.finish = data["finish_reason"].clone();
                self.end = Some(End::Well);
            }
            "error" => self.end = Some(End::Badly(data)),
            other => panic!("unknown event {other}"),
        }
    }

    fn messages(&mut self, (name, data): &(String, String)) {
        let data: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(data["type"], name.as_str());
        match name.as_str() {
            "message_start" | "ping" => {}
            "content_block_start" => {
                assert!(self.open.is_empty(), "two blocks are open");
                self.open
                    .push((data["content_block"].clone(), String::new()));
            }
            "content_block_delta" => {
                let (block, arguments) = self.open.last_mut().expect("an open block");
                for (piece, whole) in [
                    ("text", "text"),
                    ("thinking", "thinking"),
                    ("signature", "signature"),
                ] {
                    if let Some(piece) = data["delta"][piece].as_str() {
                        let before = text(&block[whole]);
                        block[whole] = json!(before + piece);
                    }
                }
                arguments.push_str(&text(&data["delta"]["partial_json"]));
            }
            "content_block_stop" => {
                let (block, arguments) = self.open.pop().expect("an open block");
                let arguments = match block["type"].as_str() {
                    Some("tool_use") => parsed(&json!(arguments)),
                    _ => Value::Null,
                };
                self.block(&block, arguments);
            }
            "message_delta" => {
                self.usage = usage(&data["usage"]);
                self.finish = data["delta"]["stop_reason"].clone();
            }
            "message_stop" => self.end = Some(End::Well),
            "error" => {
                // What was heard of a text counts although it has not ended.
                for (block, _) in std::mem::take(&mut self.open) {
                    self.text.push_str(&text(&block["text"]));
                }
                self.end = Some(End::Badly(data));
            }
            other => panic!("unknown event {other}"),
        }
    }

    fn chat_completions(&mut self, (name, data): &(String, String)) {
        assert_eq!(name, "", "no event lines on this surface");
        if data == "[DONE]" {
            for (call, arguments) in std::mem::take(&mut self.open) {
                let arguments = parsed(&json!(arguments));
                self.call(&call["id"], &call["function"]["name"], arguments);
            }
            self.end = Some(End::Well);
            return;
        }
        let data: Value = serde_json::from_str(data).expect("JSON");
        if !data["error"].is_null() {
            self.end = Some(End::Badly(data));
            return;
        }
        if !data["usage"].is_null() {
            self.usage = data["usage"].clone();
        }
        let choice = &data["choices"][0];
        self.text.push_str(&text(&choice["delta"]["content"]));
        for piece in list(&choice["delta"]["tool_calls"]) {
            let at = piece["index"].as_u64().expect("an index");
            let at = usize::try_from(at).expect("a small index");
            if at == self.open.len() {
                self.open.push((piece.clone(), String::new()));
            }
            let arguments = text(&piece["function"]["arguments"]);
            self.open[at].1.push_str(&arguments);
        }
        if !choice["finish_reason"].is_null() {
            self.finish = choice["finish_reason"].clone();
        }
    }

    /// A content block of the messages surface.
    fn block(&mut self, block: &Value, arguments: Value) {
        match block["type"].as_str().expect("a type") {
            "text" => self.text.push_str(&text(&block["text"])),
            "tool_use" => self.call(&block["id"], &block["name"], arguments),
            "thinking" | "redacted_thinking" => self.reasoning.push(block.clone()),
            other => panic!("unknown block {other}"),
        }
    }

    fn call(&mut self, id: &Value, name: &Value, arguments: Value) {
        assert!(arguments.is_object(), "{arguments}");
        self.calls.push((text(id), text(name), arguments));
    }
}

/// The four counters of an answer that counts as providers of kind A do; what else stands there is money.
fn usage(counts: &Value) -> Value {
    let names = [
        "input_tokens",
        "output_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    ];
    let count = |name: &str| counts[name].as_u64().unwrap_or_else(|| panic!("{name}"));
    json!(names.map(count))
}

fn parsed(arguments: &Value) -> Value {
    let written = text(arguments);
    serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written:?}"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
