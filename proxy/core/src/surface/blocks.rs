//! Content blocks, tools and tool choice in the shape of the messages surface, which the native surface
//! shares (contract 21, native tools) and in which stored turns are kept.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::fields::{Fields, Path};
use super::places::Places;
use crate::chat::{Document, Media, Part, Tool, ToolCall, ToolChoice, ToolResult};
use crate::fault::Problems;

/// Bounds of one request: more tools than any model takes, as many messages as the wire formats' own vendors, and more
/// parts in one content than fit a model's window with any text in them.
pub(super) const MAX_TOOLS: usize = 512;
pub(super) const MAX_MESSAGES: usize = 100_000;
pub(super) const MAX_PARTS: usize = 100_000;
/// The wire format's limit for tool names. Kind B takes fewer: its driver refuses the others (wire.md 2, point 8).
pub const MAX_TOOL_NAME_CHARS: usize = 128;

/// One part as a content block.
pub fn encode(part: &Part) -> Value {
    let mut block = match part {
        Part::Text { text, .. } => json!({"type": "text", "text": text}),
        Part::Image(image) => json!({"type": "image", "source": encode_media(&image.media)}),
        Part::Document(document) => {
            json!({"type": "document", "source": encode_media(&document.media)})
        }
        Part::ToolCall(call) => json!({"type": "tool_use", "id": call.id, "name": call.name}),
        Part::ToolResult(result) => json!({
            "type": "tool_result",
            "tool_use_id": result.call_id,
            "is_error": result.is_error,
        }),
        Part::Reasoning { text, .. } => json!({"type": "thinking", "thinking": text}),
        Part::RedactedReasoning { data, .. } => json!({"type": "redacted_thinking", "data": data}),
    };
    match part {
        // The macro would copy these trees once more.
        Part::ToolCall(call) => set(&mut block, "input", Some(call.arguments.clone())),
        Part::ToolResult(result) => {
            let content = result.content.iter().map(encode).collect();
            set(&mut block, "content", Some(content));
        }
        Part::Document(Document { title, context, .. }) => {
            set(&mut block, "title", title.clone().map(Value::String));
            set(&mut block, "context", context.clone().map(Value::String));
        }
        Part::Reasoning { signature, .. } => set(
            &mut block,
            "signature",
            signature.clone().map(Value::String),
        ),
        _ => {}
    }
    set(&mut block, DRIVER, part.driver().map(Value::from));
    set(&mut block, "cache_control", part.cache_mark().cloned());
    block
}

/// Names the driver of stored reasoning. The wire format does not have it, so no caller can say it.
const DRIVER: &str = "driver";

fn set(block: &mut Value, key: &str, value: Option<Value>) {
    if let (Some(fields), Some(value)) = (block.as_object_mut(), value) {
        fields.insert(key.to_owned(), value);
    }
}

fn encode_media(media: &Media) -> Value {
    match media {
        Media::Inline { media_type, data } => {
            json!({"type": "base64", "media_type": media_type, "data": STANDARD.encode(data)})
        }
        Media::Url(url) => json!({"type": "url", "url": url}),
        Media::Text(text) => json!({"type": "text", "media_type": "text/plain", "data": text}),
    }
}

/// A string or an array of blocks, as parts.
pub fn decode_content(value: Value, path: Path<'_>, problems: &mut Problems) -> Vec<Part> {
    match value {
        Value::String(text) => vec![Part::text(text)],
        Value::Array(blocks) => at_most(MAX_PARTS, "parts", blocks, path, problems)
            .into_iter()
            .enumerate()
            .filter_map(|(at, block)| decode(block, path.item(at), problems))
            .collect(),
        _ => {
            problems.add(path, "must be a string or an array of content blocks");
            Vec::new()
        }
    }
}

/// One content block as a part; problems are noted, unknown block types among them.
pub fn decode(value: Value, path: Path<'_>, problems: &mut Problems) -> Option<Part> {
    let mut block = Fields::of(value, path, problems)?;
    let kind = block.required_string("type", problems)?;
    let mut part = match kind.as_str() {
        "text" => {
            let text = block.required_string("text", problems);
            block.only("citations", is_empty_array, problems);
            text.map(Part::text)
        }
        "image" => {
            let source = block.take("source");
            decode_image(source, path.field("source"), problems)
        }
        "document" => {
            let source = block.take("source");
            let cache_mark = source.as_ref().and_then(mark_within);
            let media = decode_media(source, path.field("source"), problems);
            let (title, context) = (
                block.string("title", problems),
                block.string("context", problems),
            );
            let disabled = |value: &Value| *value == json!({"enabled": false});
            block.only("citations", disabled, problems);
            media.map(|media| {
                Part::Document(Document {
                    media,
                    title,
                    context,
                    cache_mark,
                })
            })
        }
        "tool_use" => decode_call(&mut block, problems),
        "tool_result" => decode_result(&mut block, path, problems),
        "thinking" => {
            // A reply without a signature is shown with an empty one.
            let signature = block
                .string("signature", problems)
                .filter(|signature| !signature.is_empty());
            block
                .required_string("thinking", problems)
                .map(|text| Part::Reasoning {
                    text,
                    signature,
                    driver: None,
                })
        }
        "redacted_thinking" => block
            .required_string("data", problems)
            .map(|data| Part::RedactedReasoning { data, driver: None }),
        _ => {
            problems.add_foreign(path.field("type"), "is not a known content block type");
            return None;
        }
    };
    // A mark on a block kind that cannot carry one changes nothing at the provider.
    if let Some(mark) = decode_mark(&mut block, problems)
        && let Some(place) = part.as_mut().and_then(Part::cache_mark_mut)
    {
        *place = Some(mark);
    }
    block.end(problems);
    part
}

/// The items of an array that may hold so many; of one that holds more, none.
pub(super) fn at_most(
    most: usize,
    what: &str,
    items: Vec<Value>,
    path: impl Into<String>,
    problems: &mut Problems,
) -> Vec<Value> {
    if items.len() <= most {
        return items;
    }
    problems.add(path, format!("may hold at most {most} {what}"));
    Vec::new()
}

pub(super) fn is_empty_array(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

/// `cache_control`, as the caller gave it.
pub fn decode_mark(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Value> {
    let value = fields.take("cache_control")?;
    let path = fields.path();
    let mut mark = Fields::of(value.clone(), path.field("cache_control"), problems)?;
    mark.require("type", problems);
    mark.word("type", &["ephemeral"], problems);
    mark.word("ttl", &["5m", "1h"], problems);
    mark.end(problems);
    Some(value)
}

/// What every provider kind takes as an image.
const IMAGE_TYPES: &[&str] = &[JPEG, PNG, GIF, WEBP];
const JPEG: &str = "image/jpeg";
const PNG: &str = "image/png";
const GIF: &str = "image/gif";
const WEBP: &str = "image/webp";
/// What many clients call it, and only some providers take.
const JPEG_AS_SAID: &str = "image/jpg";

fn decode_image(source: Option<Value>, path: Path<'_>, problems: &mut Problems) -> Option<Part> {
    image(decode_media(source, path, problems)?, path, problems)
}

/// Media as an image. What it begins with decides what it is: clients name any picture as it suits them, and kind A
/// refuses one that is not what it is called.
pub fn image(mut media: Media, path: Path<'_>, problems: &mut Problems) -> Option<Part> {
    if let Media::Inline { media_type, data } = &mut media {
        if let Some(found) = image_type(data) {
            found.clone_into(media_type);
        } else if media_type == JPEG_AS_SAID {
            JPEG.clone_into(media_type);
        }
    }
    match &media {
        Media::Inline { media_type, .. } if !IMAGE_TYPES.contains(&media_type.as_str()) => {
            problems.add(path, format!("must be one of: {}", IMAGE_TYPES.join(", ")));
            None
        }
        Media::Text(_) => {
            problems.add(path, "must be an image");
            None
        }
        Media::Inline { .. } | Media::Url(_) => Some(Part::Image(media.into())),
    }
}

fn image_type(data: &[u8]) -> Option<&'static str> {
    let is_webp = data.starts_with(b"RIFF") && data.get(8..12) == Some(b"WEBP");
    let begins = |with: &[u8]| data.starts_with(with);
    if begins(b"\x89PNG\r\n\x1a\n") {
        Some(PNG)
    } else if begins(b"\xff\xd8\xff") {
        Some(JPEG)
    } else if begins(b"GIF87a") || begins(b"GIF89a") {
        Some(GIF)
    } else if is_webp {
        Some(WEBP)
    } else {
        None
    }
}

/// An address that a provider can fetch.
pub fn web_address(url: String, path: Path<'_>, problems: &mut Problems) -> Option<Media> {
    if url.starts_with("https://") || url.starts_with("http://") {
        return Some(Media::Url(url));
    }
    problems.add(path, "must be an http or https address");
    None
}

fn decode_media(value: Option<Value>, path: Path<'_>, problems: &mut Problems) -> Option<Media> {
    let mut source = Fields::of(value.unwrap_or(Value::Null), path, problems)?;
    let kind = source.required_string("type", problems)?;
    let media = match kind.as_str() {
        "base64" => {
            let media_type = source.required_string("media_type", problems);
            let data = source.required_string("data", problems)?;
            let data = STANDARD.decode(data.as_bytes()).unwrap_or_default();
            if data.is_empty() {
                problems.add(path.field("data"), "must be base64 data");
                return None;
            }
            media_type.map(|media_type| Media::Inline {
                media_type,
                data: data.into(),
            })
        }
        "url" => source
            .required_string("url", problems)
            .and_then(|url| web_address(url, path.field("url"), problems)),
        "text" => {
            source.take("media_type");
            source.required_string("data", problems).map(Media::Text)
        }
        "content" => {
            source.require("content", problems);
            let content = source.take("content");
            content.and_then(|value| words(value, path.field("content"), problems))
        }
        _ => {
            problems.add_foreign(path.field("type"), "must be base64, url, text or content");
            return None;
        }
    };
    source.end(problems);
    media
}

/// A document that its caller has cut into blocks, for citations of them: what there is of text in it is one text.
fn words(value: Value, path: Path<'_>, problems: &mut Problems) -> Option<Media> {
    let found = problems.len();
    let mut texts = Vec::new();
    for (at, part) in decode_content(value, path, problems)
        .into_iter()
        .enumerate()
    {
        match part {
            Part::Text { text, .. } => texts.push(text),
            _ => problems.add_foreign(path.item(at), "must be text"),
        }
    }
    (problems.len() == found).then(|| Media::Text(texts.join("\n")))
}

/// The last mark of the blocks that a document is cut into: as one text it has one, where the last of them ends.
fn mark_within(source: &Value) -> Option<Value> {
    let mut blocks = source.get("content")?.as_array()?.iter().rev();
    blocks
        .find_map(|block| block.get("cache_control").filter(|mark| !mark.is_null()))
        .cloned()
}

fn decode_call(block: &mut Fields<'_>, problems: &mut Problems) -> Option<Part> {
    let id = block.required_string("id", problems);
    let name = block.required_string("name", problems);
    let input = block.object("input", problems).unwrap_or_default();
    block.only("caller", is_direct, problems);
    Some(Part::ToolCall(ToolCall {
        id: id?,
        name: name?,
        arguments: Value::Object(input),
        cache_mark: None,
    }))
}

/// Calls by the model itself are the only ones there are here.
fn is_direct(value: &Value) -> bool {
    *value == json!({"type": "direct"})
}

fn decode_result(block: &mut Fields<'_>, path: Path<'_>, problems: &mut Problems) -> Option<Part> {
    let call_id = block.required_string("tool_use_id", problems);
    let is_error = block.boolean("is_error", problems).unwrap_or(false);
    let content = result_content(block.take("content"), path.field("content"), problems);
    Some(Part::ToolResult(ToolResult {
        call_id: call_id?,
        is_error,
        content,
        cache_mark: None,
    }))
}

/// Content of a tool result: absent, a string, or blocks of text, images and documents.
pub fn result_content(value: Option<Value>, path: Path<'_>, problems: &mut Problems) -> Vec<Part> {
    let parts = value.map_or_else(Vec::new, |value| decode_content(value, path, problems));
    let plain =
        |part: &Part| matches!(part, Part::Text { .. } | Part::Image(_) | Part::Document(_));
    if !parts.iter().all(plain) {
        problems.add(path, "may hold text, images and documents only");
    }
    parts
}

/// The `tools` array.
pub fn decode_tools(value: Value, path: Path<'_>, problems: &mut Problems) -> Vec<Tool> {
    let Value::Array(items) = value else {
        problems.add(path, "must be an array");
        return Vec::new();
    };
    let items = at_most(MAX_TOOLS, "tools", items, path, problems);
    let mut tools: Vec<Tool> = Vec::with_capacity(items.len());
    for (at, item) in items.into_iter().enumerate() {
        let path = path.item(at);
        let Some(tool) = decode_tool(item, path, problems) else {
            continue;
        };
        if tools.iter().any(|other| other.name == tool.name) {
            problems.add(path.field("name"), "is used by another tool");
        }
        tools.push(tool);
    }
    tools
}

fn decode_tool(value: Value, path: Path<'_>, problems: &mut Problems) -> Option<Tool> {
    let mut fields = Fields::of(value, path, problems)?;
    if fields
        .string("type", problems)
        .is_some_and(|kind| kind != "custom")
    {
        problems.add_foreign(path.field("type"), "must be custom");
        return None;
    }
    let name = fields.required_string("name", problems);
    let description = fields.string("description", problems);
    fields.require("input_schema", problems);
    let schema = fields.object("input_schema", problems);
    if let Some(schema) = &schema {
        check_schema(schema, path.field("input_schema"), problems);
    }
    let input_examples = examples(&mut fields, problems);
    let strict = fields.boolean("strict", problems);
    let cache_mark = decode_mark(&mut fields, problems);
    // How arguments are cut into pieces is no part of what they say.
    fields.boolean("eager_input_streaming", problems);
    fields.only("defer_loading", |value| *value == json!(false), problems);
    fields.only(
        "allowed_callers",
        |value| *value == json!(["direct"]),
        problems,
    );
    fields.end(problems);
    let name = name?;
    check_tool_name(&name, MAX_TOOL_NAME_CHARS, path.field("name"), problems);
    Some(Tool {
        name,
        description,
        input_schema: Value::Object(schema?),
        input_examples,
        strict,
        cache_mark,
    })
}

/// `input_examples`: arguments as the model might give them.
fn examples(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Value> {
    let examples = fields.array("input_examples", problems)?;
    let tool = fields.path();
    let path = tool.field("input_examples");
    for (at, example) in examples.iter().enumerate() {
        if !example.is_object() {
            problems.add(path.item(at), "must be an object");
        }
    }
    (!examples.is_empty()).then_some(Value::Array(examples))
}

/// Arguments are an object with every provider kind, and each refuses a schema that does not say so.
pub(super) fn check_schema(schema: &Map<String, Value>, path: Path<'_>, problems: &mut Problems) {
    if schema.get("type") != Some(&json!("object")) {
        problems.add(path.field("type"), "must be object");
    }
}

/// Notes a tool's name that no provider would take.
pub(super) fn check_tool_name(
    name: &str,
    max_chars: usize,
    path: impl Into<String>,
    problems: &mut Problems,
) {
    if !tool_name_is_valid(name, max_chars) {
        let rule = format!("must be 1 to {max_chars} letters, digits, `_` or `-`");
        problems.add(path, rule);
    }
}

/// Whether every provider takes this as a tool's name, where it takes so many characters.
pub fn tool_name_is_valid(name: &str, max_chars: usize) -> bool {
    (1..=max_chars).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// `tool_choice`, and whether parallel calls are allowed where it says so.
pub fn decode_tool_choice(
    value: Value,
    path: Path<'_>,
    tools: &[Tool],
    problems: &mut Problems,
) -> (Option<ToolChoice>, Option<bool>) {
    let Some(mut fields) = Fields::of(value, path, problems) else {
        return (None, None);
    };
    let kind = fields.required_string("type", problems);
    let parallel = fields
        .boolean("disable_parallel_tool_use", problems)
        .map(|disabled| !disabled);
    let choice = match kind.as_deref() {
        Some("auto") => Some(ToolChoice::Auto),
        Some("any") => Some(ToolChoice::Required),
        Some("none") => Some(ToolChoice::None),
        Some("tool") => fields
            .required_string("name", problems)
            .map(ToolChoice::Named),
        Some(_) => {
            problems.add(path.field("type"), "must be auto, any, tool or none");
            None
        }
        None => None,
    };
    fields.end(problems);
    if let Some(ToolChoice::Named(name)) = &choice
        && !tools.iter().any(|tool| tool.name == *name)
    {
        problems.add(path.field("name"), "names no tool of this request");
    }
    // Both provider kinds refuse a choice without anything to choose from (wire.md 2, point 45).
    if tools.is_empty() && choice.is_some() {
        problems.add(path, "needs tools");
    }
    (choice, parallel)
}

/// How a body says what a chat's `parallel_tool_calls` says.
pub(super) const PARALLEL_WORD: (&str, &str) = (
    "parallel_tool_calls",
    "tool_choice.disable_parallel_tool_use",
);

/// A choice that names a tool is the place of that name.
pub(super) fn place_tool_choice(choice: Option<&ToolChoice>, places: &mut Places) {
    if let Some(ToolChoice::Named(_)) = choice {
        places.move_to("tool_choice", "tool_choice.name");
    }
}

/// Parts of a stored turn, written by [`encode`].
pub fn decode_stored(blocks: Vec<Value>) -> Option<Vec<Part>> {
    let mut problems = Problems::default();
    let parts = blocks
        .into_iter()
        .map(|block| decode_reasoned(block, &mut problems))
        .collect();
    problems.is_empty().then_some(parts)?
}

/// A stored block, and of reasoning the driver that gave it; none where it was stored before that was kept.
fn decode_reasoned(mut block: Value, problems: &mut Problems) -> Option<Part> {
    let said = block
        .as_object_mut()
        .and_then(|fields| fields.remove(DRIVER));
    let mut part = decode(block, Path::Name(""), problems)?;
    if let Part::Reasoning { driver, .. } | Part::RedactedReasoning { driver, .. } = &mut part {
        *driver = said.as_ref().and_then(Value::as_str).map(Arc::from);
    }
    Some(part)
}

/// An empty object, the schema of a tool without arguments.
pub fn empty_schema() -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), Value::from("object"));
    Value::Object(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_part_survives_storage() {
        let parts = vec![
            Part::Text {
                text: "a".into(),
                cache_mark: Some(json!({"type": "ephemeral"})),
            },
            Part::Image(
                Media::Inline {
                    media_type: "image/png".into(),
                    data: vec![1, 2, 255].into(),
                }
                .into(),
            ),
            Part::Image(Media::Url("https://example.org/x.png".into()).into()),
            Part::Document(Document {
                media: Media::Text("d".into()),
                title: Some("t".into()),
                context: None,
                cache_mark: None,
            }),
            Part::ToolCall(ToolCall {
                id: "c1".into(),
                name: "f".into(),
                arguments: json!({"x": 1}),
                cache_mark: None,
            }),
            Part::ToolResult(ToolResult {
                call_id: "c1".into(),
                is_error: true,
                content: vec![Part::text("r")],
                cache_mark: None,
            }),
            Part::Reasoning {
                text: "hm".into(),
                signature: Some("sig".into()),
                driver: None,
            },
            Part::Reasoning {
                text: "hm".into(),
                signature: None,
                driver: Some("provider-alpha".into()),
            },
            Part::RedactedReasoning {
                data: "sealed".into(),
                driver: Some("provider-beta".into()),
            },
        ];
        let blocks: Vec<Value> = parts.iter().map(encode).collect();
        assert!(decode_stored(blocks).is_some_and(|back| back == parts));
    }

    #[test]
    fn no_caller_says_whose_reasoning_it_is() {
        let mut problems = Problems::default();
        let block = json!({"type": "thinking", "thinking": "hm", "driver": "provider-alpha"});
        decode(block, Path::Name("m"), &mut problems);
        assert!(!problems.is_empty());
    }

    #[test]
    fn an_image_has_the_name_that_every_provider_takes() {
        let unknown = b"\x01".as_slice();
        for (said, data, named) in [
            ("image/jpg", unknown, Some("image/jpeg")),
            ("image/jpeg", unknown, Some("image/jpeg")),
            ("image/png", unknown, Some("image/png")),
            ("image/tiff", unknown, None),
            ("image/png", b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            ("image/jpg", b"\x89PNG\r\n\x1a\n\0", Some("image/png")),
            ("image/*", b"GIF89a", Some("image/gif")),
            ("image/jpeg", b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            ("image/png", b"RIFF\0\0\0\0WAVE", Some("image/png")),
        ] {
            let media = Media::Inline {
                media_type: said.into(),
                data: data.to_vec().into(),
            };
            let mut problems = Problems::default();
            let part = image(media, Path::Name("m"), &mut problems);
            let found = match &part {
                Some(Part::Image(image)) => match &image.media {
                    Media::Inline { media_type, .. } => Some(media_type.as_str()),
                    _ => None,
                },
                _ => None,
            };
            assert_eq!((found, problems.is_empty()), (named, named.is_some()));
        }
    }

    #[test]
    fn a_document_has_the_last_mark_of_its_blocks_where_it_has_none_itself() {
        let hour = json!({"type": "ephemeral", "ttl": "1h"});
        let short = json!({"type": "ephemeral"});
        let none = Value::Null;
        for (marks, own, expected) in [
            ([&none, &none], &none, &none),
            ([&short, &none], &none, &short),
            ([&short, &hour], &none, &hour),
            ([&hour, &none], &short, &short),
        ] {
            let block = |mark: &&Value| json!({"type": "text", "text": "a", "cache_control": mark});
            let content: Vec<Value> = marks.iter().map(block).collect();
            let document = json!({"type": "document", "cache_control": own,
                "source": {"type": "content", "content": content}});
            let mut problems = Problems::default();
            let part = decode(document, Path::Name("m"), &mut problems);
            assert!(problems.is_empty());
            let mark = part.as_ref().and_then(Part::cache_mark);
            assert_eq!(mark, Some(expected).filter(|mark| !mark.is_null()));
        }
    }

    #[test]
    fn a_schema_of_the_wrong_type_is_one_problem() {
        for (tool, said) in [
            (
                json!({"name": "a", "input_schema": []}),
                "must be an object, not an array",
            ),
            (json!({"name": "a"}), "is required"),
            (json!({"name": "a", "input_schema": null}), "is required"),
        ] {
            let mut problems = Problems::default();
            decode_tools(json!([tool]), Path::Name("tools"), &mut problems);
            let fault = problems.into_result().err();
            let details = fault.map(|fault| fault.details_value());
            let expected = json!({"tools[0].input_schema": [said]});
            assert_eq!(details, Some(expected));
        }
    }

    #[test]
    fn every_problem_is_named_with_its_path() {
        let mut problems = Problems::default();
        let content =
            json!([{"type": "text"}, {"type": "video"}, {"type": "text", "text": "x", "y": 1}]);
        decode_content(content, Path::Name("m"), &mut problems);
        decode_tools(
            json!([{"name": "a b", "input_schema": {}}, {"name": "c"}]),
            Path::Name("tools"),
            &mut problems,
        );
        let fault = problems.into_result().err();
        let paths: Vec<String> = fault
            .map(|fault| fault.details.keys().cloned().collect())
            .unwrap_or_default();
        assert_eq!(
            paths,
            [
                "m[0].text",
                "m[1].type",
                "m[2].y",
                "tools[0].input_schema.type",
                "tools[0].name",
                "tools[1].input_schema"
            ]
        );
    }
}
