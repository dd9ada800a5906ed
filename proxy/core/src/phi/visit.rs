//! The walk over every text position of a request: reading and rewriting are the same walk.
//!
//! Records are taken apart exhaustively, so that a new field breaks the build here instead of slipping past
//! the guard. It neither judges nor stores text.

mod content;
mod keys;
mod place;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use content::document_text;
pub use content::looks_sealed;
use keys::{free_key, rename};
pub(super) use place::InDocument;
pub use place::{Form, Joint, Spot};
use place::{Place, Step};

use super::Origin;
use super::call_id::is_made_by_chance;
use crate::chat::{
    ChatRequest, Document, Image, Media, Message, Part, ResponseFormat, Role, Sampling, Tool,
    ToolCall, ToolChoice, ToolResult,
};

/// Called with every text that is not empty; what it returns takes the text's place.
pub type Visitor<'v> = dyn FnMut(&Spot<'_>, &str) -> Option<String> + 'v;

/// Visits every text position of a request, always in the same order: what stays the same from turn to turn
/// first, messages last, so that numbers given by first appearance stay when a conversation grows.
pub fn visit(chat: &mut ChatRequest, visitor: &mut Visitor<'_>) {
    let ChatRequest {
        // Chosen from the catalogue before this step; not free text.
        model: _,
        system,
        has_house_prompt: _,
        messages,
        tools,
        tool_choice,
        parallel_tool_calls: _,
        max_tokens: _,
        sampling:
            Sampling {
                temperature: _,
                top_p: _,
                top_k: _,
            },
        stop_sequences,
        response_format,
        reasoning_tokens: _,
        metadata,
        stream: _,
        ext,
    } = chat;
    let mut walk = Walk {
        visitor,
        number: String::new(),
        joint: Joint::Apart,
        is_keyed: false,
        documents: 0,
        lead: None,
    };
    walk.parts(
        &Place::root("system"),
        Origin::SystemPrompt,
        system.iter_mut(),
    );
    for (at, tool) in tools.iter_mut().enumerate() {
        walk.tool(&Place::root("tools").then(Step::Index(at)), tool);
    }
    if let Some(ToolChoice::Named(name)) = tool_choice {
        let place = Place::root("tool_choice");
        walk.text(&place, Origin::ToolName, Form::Identifier, name);
    }
    for (at, stop) in stop_sequences.iter_mut().enumerate() {
        let root = Place::root("stop_sequences");
        walk.text(&root.then(Step::Index(at)), Origin::Other, Form::Text, stop);
    }
    match response_format {
        None | Some(ResponseFormat::JsonObject) => {}
        Some(ResponseFormat::JsonSchema {
            name,
            schema,
            strict: _,
        }) => {
            let place = Place::root("response_format");
            if let Some(name) = name {
                walk.text(
                    &place.field("name"),
                    Origin::ToolName,
                    Form::Identifier,
                    name,
                );
            }
            walk.json(&place.field("schema"), Origin::ToolSchema, schema);
        }
    }
    walk.metadata(metadata);
    walk.in_document(String::new(), |walk| {
        walk.object(&Place::root("ext"), Origin::Other, ext);
    });
    for (at, message) in messages.iter_mut().enumerate() {
        walk.message(&Place::root("messages").then(Step::Index(at)), message);
    }
}

/// Keys of a JSON schema whose values are such as the property above them has. What else a schema says of a property is
/// no value of it.
const SAMPLE_KEYS: [&str; 5] = ["default", "const", "enum", "example", "examples"];
/// Keys of a JSON schema whose keys are names of schemas, and no keys of one.
const NAMES_BELOW: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// The type of a schema that lists numbers and says no type, which a number that is replaced would change.
fn type_of_numbers(fields: &Map<String, Value>) -> Option<Value> {
    let values = listed_values(fields);
    let are_numbers = values
        .iter()
        .all(|value| value.is_number() || value.is_null());
    if fields.contains_key("type") || !are_numbers || !values.iter().any(Value::is_number) {
        return None;
    }
    let kind = match values.iter().any(Value::is_f64) {
        true => "number",
        false => "integer",
    };
    Some(match values.iter().any(Value::is_null) {
        true => json!([kind, "null"]),
        false => json!(kind),
    })
}

/// The values that a schema lists.
fn listed_values(fields: &Map<String, Value>) -> &[Value] {
    match (fields.get("enum"), fields.get("const")) {
        (Some(Value::Array(values)), _) => values,
        (_, Some(value)) => std::slice::from_ref(value),
        _ => &[],
    }
}

/// The longest name of a property that samples are read with.
const MAX_LABEL_BYTES: usize = 64;

/// The beginning of a document that shows what is meant, which detectors take for less.
fn as_example(lead: &str) -> String {
    format!("{{\"example\": {lead}")
}

/// The metadata by which providers tell the users of a caller apart.
const USER_ID: &str = "user_id";

struct Walk<'w, 'v> {
    visitor: &'w mut Visitor<'v>,
    /// A number's text, kept for its memory.
    number: String,
    /// What the next text is.
    joint: Joint,
    /// Whether it stands right behind a key.
    is_keyed: bool,
    /// JSON documents that were begun.
    documents: usize,
    /// What was written of the document since its last text; nothing outside of one.
    lead: Option<String>,
}

impl Walk<'_, '_> {
    fn text(&mut self, place: &Place<'_>, origin: Origin, form: Form, text: &mut String) {
        if let Some(changed) = self.replacement(place, origin, form, text) {
            *text = changed;
        }
    }

    fn replacement(
        &mut self,
        place: &Place<'_>,
        origin: Origin,
        form: Form,
        text: &str,
    ) -> Option<String> {
        let joint = std::mem::replace(&mut self.joint, Joint::Apart);
        if text.is_empty() {
            self.is_keyed &= form != Form::Key;
            return None;
        }
        let is_keyed = std::mem::replace(&mut self.is_keyed, form == Form::Key);
        let document = self.lead.as_deref().map(|lead| InDocument {
            number: self.documents,
            lead,
        });
        let spot = Spot {
            origin,
            form,
            joint,
            is_keyed: is_keyed && form != Form::Key,
            document,
            place,
        };
        let changed = (self.visitor)(&spot, text);
        if let Some(lead) = &mut self.lead {
            lead.clear();
        }
        changed
    }

    fn optional(&mut self, place: &Place<'_>, origin: Origin, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(place, origin, Form::Text, text);
        }
    }

    fn message(&mut self, place: &Place<'_>, message: &mut Message) {
        let Message {
            role,
            content,
            name,
        } = message;
        let origin = match role {
            Role::User => Origin::UserText,
            Role::Assistant => Origin::AssistantText,
        };
        self.optional(&place.field("name"), Origin::Metadata, name);
        self.parts(&place.field("content"), origin, content.iter_mut());
    }

    fn parts<'p>(
        &mut self,
        place: &Place<'_>,
        origin: Origin,
        parts: impl Iterator<Item = &'p mut Part>,
    ) {
        let mut joint = Joint::First;
        for (at, part) in parts.enumerate() {
            let is_text = matches!(part, Part::Text { .. });
            self.joint = if is_text { joint } else { Joint::Apart };
            self.part(&place.then(Step::Index(at)), origin, part);
            joint = if is_text { Joint::Next } else { Joint::First };
        }
        self.joint = Joint::Apart;
    }

    fn part(&mut self, place: &Place<'_>, origin: Origin, part: &mut Part) {
        match part {
            Part::Text {
                text,
                cache_mark: _,
            } => self.text(place, origin, Form::Text, text),
            Part::Image(Image {
                media,
                detail: _,
                cache_mark: _,
            }) => self.media(place, origin, media),
            Part::Document(Document {
                media,
                title,
                context,
                cache_mark: _,
            }) => {
                self.optional(&place.field("title"), origin, title);
                self.optional(&place.field("context"), origin, context);
                self.media(place, origin, media);
            }
            Part::ToolCall(call) => self.tool_call(place, call),
            Part::ToolResult(result) => self.tool_result(place, result),
            Part::Reasoning {
                text,
                signature,
                driver: _,
            } => {
                self.text(place, Origin::AssistantText, Form::Text, text);
                if let Some(signature) = signature {
                    self.sealed(&place.field("signature"), signature);
                }
            }
            Part::RedactedReasoning { data, driver: _ } => self.sealed(&place.field("data"), data),
        }
        if let Some(mark) = part.cache_mark_mut() {
            self.mark(place, mark);
        }
    }

    fn media(&mut self, place: &Place<'_>, origin: Origin, media: &mut Media) {
        match media {
            Media::Inline { media_type, data } => {
                self.text(
                    &place.field("media_type"),
                    Origin::Other,
                    Form::Text,
                    media_type,
                );
                // What is between the words of such a file (`MediaBox[0 0 9 9]`) is for programs, and nobody says it.
                let origin = if media_type.eq_ignore_ascii_case("application/pdf") {
                    Origin::Other
                } else {
                    origin
                };
                if let Some(text) = document_text(media_type, data)
                    && let Some(changed) = self.replacement(place, origin, Form::Text, &text)
                {
                    *data = Bytes::from(changed);
                }
            }
            // Nobody's words: detectors judge an address as what programs tell each other.
            Media::Url(url) => self.text(place, Origin::Other, Form::Address, url),
            Media::Text(text) => self.text(place, origin, Form::Text, text),
        }
    }

    fn tool_call(&mut self, place: &Place<'_>, call: &mut ToolCall) {
        let ToolCall {
            id,
            name,
            arguments,
            cache_mark: _,
        } = call;
        self.call_id(&place.field("id"), id);
        self.text(
            &place.field("name"),
            Origin::ToolName,
            Form::Identifier,
            name,
        );
        self.in_document(String::new(), |walk| {
            walk.json(&place.field("arguments"), Origin::ToolArguments, arguments);
        });
    }

    /// What a provider made by chance means nobody, whatever it looks like in part, and must come back as it was.
    fn call_id(&mut self, place: &Place<'_>, id: &mut String) {
        if !is_made_by_chance(id) {
            self.text(place, Origin::Other, Form::Identifier, id);
        }
    }

    fn tool_result(&mut self, place: &Place<'_>, result: &mut ToolResult) {
        let ToolResult {
            call_id,
            is_error: _,
            content,
            cache_mark: _,
        } = result;
        self.call_id(&place.field("call_id"), call_id);
        self.parts(
            &place.field("content"),
            Origin::ToolResult,
            content.iter_mut(),
        );
    }

    fn tool(&mut self, place: &Place<'_>, tool: &mut Tool) {
        let Tool {
            name,
            description,
            input_schema,
            input_examples,
            strict: _,
            cache_mark,
        } = tool;
        self.text(
            &place.field("name"),
            Origin::ToolName,
            Form::Identifier,
            name,
        );
        self.optional(
            &place.field("description"),
            Origin::ToolDescription,
            description,
        );
        self.json(
            &place.field("input_schema"),
            Origin::ToolSchema,
            input_schema,
        );
        if let Some(examples) = input_examples {
            self.samples("", &place.field("input_examples"), examples);
        }
        self.mark(place, cache_mark);
    }

    fn metadata(&mut self, metadata: &mut BTreeMap<String, String>) {
        let place = Place::root("metadata");
        let mut renamed = Vec::new();
        let mut next = "{\"";
        self.in_document(String::new(), |walk| {
            for (key, value) in metadata.iter_mut() {
                // A user's id is there to tell users apart: it is what it looks like by itself.
                let document = walk.lead.take_if(|_| key == USER_ID);
                walk.write(next);
                if let Some(changed) = walk.replacement(&place, Origin::Metadata, Form::Key, key) {
                    renamed.push((key.clone(), changed));
                }
                walk.write("\": \"");
                let form = match document {
                    Some(_) => Form::Pseudonym,
                    None => Form::Text,
                };
                let place = place.then(Step::Key(key));
                walk.text(&place, Origin::Metadata, form, value);
                if document.is_some() {
                    walk.lead = document;
                } else {
                    next = "\", \"";
                }
            }
        });
        let mut copies = HashMap::new();
        for (key, changed) in renamed {
            if let Some(value) = metadata.remove(&key) {
                let free = free_key(changed, &mut copies, |key| metadata.contains_key(key));
                metadata.insert(free, value);
            }
        }
    }

    fn mark(&mut self, place: &Place<'_>, mark: &mut Option<Value>) {
        if let Some(mark) = mark {
            self.json(&place.field("cache_control"), Origin::Other, mark);
        }
    }

    /// What a provider sealed goes back to it unchanged. What does not look sealed, or can be opened by anybody,
    /// is text like any other.
    fn sealed(&mut self, place: &Place<'_>, data: &mut String) {
        if !looks_sealed(data) {
            self.text(place, Origin::Other, Form::Text, data);
        }
    }

    /// What `visit` meets is one document, which begins with `lead`.
    fn in_document(&mut self, lead: String, visit: impl FnOnce(&mut Self)) {
        self.documents += 1;
        self.lead = Some(lead);
        visit(self);
        self.lead = None;
    }

    /// Writes on at the document that is visited.
    fn write(&mut self, json: &str) {
        if let Some(lead) = &mut self.lead {
            lead.push_str(json);
        }
    }

    fn json(&mut self, place: &Place<'_>, origin: Origin, value: &mut Value) {
        match value {
            Value::Null => self.write("null"),
            Value::Bool(true) => self.write("true"),
            Value::Bool(false) => self.write("false"),
            Value::Number(number) => {
                let mut text = std::mem::take(&mut self.number);
                text.clear();
                // Writing to a string cannot fail.
                let _ = write!(text, "{number}");
                if let Some(changed) = self.replacement(place, origin, Form::Number, &text) {
                    *value = Value::String(changed);
                }
                self.number = text;
            }
            Value::String(text) => {
                self.write("\"");
                self.text(place, origin, Form::Text, text);
                self.write("\"");
            }
            Value::Array(items) => {
                self.write("[");
                for (at, item) in items.iter_mut().enumerate() {
                    if at > 0 {
                        self.write(", ");
                    }
                    self.json(&place.then(Step::Item(at)), origin, item);
                }
                self.write("]");
            }
            Value::Object(fields) => self.object(place, origin, fields),
        }
    }

    /// A sample, or a list of them, of which the first ones are read each by itself.
    fn samples(&mut self, lead: &str, place: &Place<'_>, value: &mut Value) {
        const APART: usize = 64;
        let lead = as_example(lead);
        let Value::Array(items) = value else {
            return self.in_document(lead, |walk| walk.json(place, Origin::ToolSchema, value));
        };
        let mut items = items.iter_mut().enumerate();
        for (at, item) in items.by_ref().take(APART) {
            self.in_document(lead.clone(), |walk| {
                walk.json(&place.then(Step::Item(at)), Origin::ToolSchema, item);
            });
        }
        self.in_document(lead + "[", |walk| {
            for (at, item) in items {
                walk.json(&place.then(Step::Item(at)), Origin::ToolSchema, item);
                walk.write(", ");
            }
        });
    }

    fn object(&mut self, place: &Place<'_>, origin: Origin, fields: &mut Map<String, Value>) {
        let mut renamed = Vec::new();
        let is_schema = origin == Origin::ToolSchema && self.lead.is_none();
        let of_numbers = is_schema.then(|| type_of_numbers(fields)).flatten();
        self.write("{");
        for (at, (key, value)) in fields.iter_mut().enumerate() {
            self.write(if at > 0 { ", \"" } else { "\"" });
            if let Some(changed) = self.replacement(place, origin, Form::Key, key) {
                renamed.push((at, changed));
            }
            self.write("\": ");
            let sample_of = place.key().filter(|above| {
                is_schema && SAMPLE_KEYS.contains(&key.as_str()) && !NAMES_BELOW.contains(above)
            });
            let place = place.then(Step::Key(key));
            if let Some(property) = sample_of {
                // A longer name is no label of anything.
                let property = match property.len() {
                    ..=MAX_LABEL_BYTES => property.replace(['"', '\\'], "'"),
                    _ => String::new(),
                };
                self.samples(&format!("{{\"{property}\": "), &place, value);
            } else {
                self.json(&place, origin, value);
            }
        }
        self.write("}");
        self.is_keyed &= fields.is_empty();
        if let Some(kind) = of_numbers
            && listed_values(fields).iter().any(Value::is_string)
        {
            fields.insert("type".to_owned(), kind);
        }
        if !renamed.is_empty() {
            rename(fields, renamed);
        }
    }
}
