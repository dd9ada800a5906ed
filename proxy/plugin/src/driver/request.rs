//! The canonical request as the records of `provider.wit`. Every record is taken apart whole, so that a new field
//! cannot be forgotten here.

use serde_json::Value;
use svc_core::chat::{
    ChatRequest, Document, Media, Message, Part, ResponseFormat, Role, Sampling, Size, Tool,
    ToolCall, ToolChoice, ToolResult,
};

use super::{DriverRequest, wit_types as wit};

/// Bytes that a guest is given with a request, but for its structure.
pub(super) fn bytes(request: &DriverRequest<'_>) -> usize {
    Size::of(request.chat, usize::MAX).bytes()
}

/// Copies the request for the guest.
pub(super) fn to_wit(request: &DriverRequest<'_>) -> wit::ChatRequest {
    let DriverRequest { chat, model, extra } = request;
    let ChatRequest {
        model: _catalogue_id,
        system,
        has_house_prompt: _,
        messages,
        tools,
        tool_choice,
        parallel_tool_calls,
        max_tokens,
        sampling,
        stop_sequences,
        response_format,
        reasoning_tokens,
        metadata,
        stream,
        ext,
    } = chat;
    let Sampling {
        temperature,
        top_p,
        top_k,
    } = *sampling;
    wit::ChatRequest {
        model: (*model).to_owned(),
        system: system.iter().map(part).collect(),
        messages: messages.iter().map(message).collect(),
        tools: tools.iter().map(tool).collect(),
        tool_choice: tool_choice.as_ref().map(choice),
        parallel_tool_calls: *parallel_tool_calls,
        max_output_tokens: *max_tokens,
        temperature,
        top_p,
        top_k,
        stop_sequences: stop_sequences.clone(),
        response_format: response_format.as_ref().map(format),
        reasoning_tokens: *reasoning_tokens,
        metadata: metadata
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        streaming: *stream,
        ext: extra
            .iter()
            .chain(ext)
            .map(|(name, value)| (name.clone(), json(value)))
            .collect(),
    }
}

fn json(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn message(message: &Message) -> wit::Message {
    let Message {
        role,
        content,
        name,
    } = message;
    wit::Message {
        role: match role {
            Role::User => wit::Role::User,
            Role::Assistant => wit::Role::Assistant,
        },
        content: content.iter().map(part).collect(),
        name: name.clone(),
        ext: Vec::new(),
    }
}

fn part(part: &Part) -> wit::Part {
    let body = match part {
        Part::Text { text, .. } => wit::PartBody::Text(text.clone()),
        Part::Image(image) => wit::PartBody::Image(media(&image.media)),
        Part::Document(attached) => wit::PartBody::Document(document(attached)),
        Part::ToolCall(ToolCall {
            id,
            name,
            arguments,
            cache_mark: _,
        }) => wit::PartBody::ToolCall(wit::ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: json(arguments),
        }),
        Part::ToolResult(ToolResult {
            call_id,
            is_error,
            content,
            cache_mark: _,
        }) => wit::PartBody::ToolResult(wit::ToolResult {
            call_id: call_id.clone(),
            is_error: *is_error,
            content: content.iter().map(result_part).collect(),
        }),
        Part::Reasoning {
            text,
            signature,
            driver: _,
        } => wit::PartBody::Reasoning(wit::Reasoning {
            text: text.clone(),
            signature: signature.clone(),
        }),
        Part::RedactedReasoning { data, driver: _ } => {
            wit::PartBody::RedactedReasoning(data.clone())
        }
    };
    wit::Part {
        body,
        cache_mark: part.cache_mark().map(json),
        ext: ext(part),
    }
}

/// Decoders put text, images and documents alone into a result; anything else is named, so that the driver refuses
/// it rather than the host losing it.
fn result_part(part: &Part) -> wit::ResultPart {
    let other = |kind: &str| wit::ResultBody::Other((kind.to_owned(), b"null".to_vec()));
    let body = match part {
        Part::Text { text, .. } => wit::ResultBody::Text(text.clone()),
        Part::Image(image) => wit::ResultBody::Image(media(&image.media)),
        Part::Document(attached) => wit::ResultBody::Document(document(attached)),
        Part::ToolCall(_) => other("tool-call"),
        Part::ToolResult(_) => other("tool-result"),
        Part::Reasoning { .. } => other("reasoning"),
        Part::RedactedReasoning { .. } => other("redacted-reasoning"),
    };
    wit::ResultPart {
        body,
        cache_mark: part.cache_mark().map(json),
        ext: ext(part),
    }
}

/// Hints without a field: `detail` of an image, and `arguments_text` of a call whose arguments were no JSON object, for
/// wire formats that have them as text.
fn ext(part: &Part) -> Vec<(String, Vec<u8>)> {
    let hint = match part {
        Part::Image(image) => image.detail.map(|word| ("detail", word)),
        Part::ToolCall(call) => call.unparsed().map(|text| ("arguments_text", text)),
        _ => None,
    };
    let hints = hint.map(|(name, text)| (name.to_owned(), json(&Value::from(text))));
    hints.into_iter().collect()
}

fn document(document: &Document) -> wit::Document {
    let Document {
        media: source,
        title,
        context,
        cache_mark: _,
    } = document;
    wit::Document {
        media: media(source),
        title: title.clone(),
        context: context.clone(),
    }
}

fn media(media: &Media) -> wit::Media {
    match media {
        Media::Inline { media_type, data } => wit::Media::Inline(wit::InlineMedia {
            media_type: media_type.clone(),
            data: data.to_vec(),
        }),
        Media::Url(url) => wit::Media::Url(url.clone()),
        Media::Text(text) => wit::Media::Text(text.clone()),
    }
}

fn tool(tool: &Tool) -> wit::Tool {
    let Tool {
        name,
        description,
        input_schema,
        input_examples,
        strict,
        cache_mark,
    } = tool;
    // A hint without a field, for wire formats that have a place for it.
    let examples = input_examples.as_ref().map(json);
    let examples = examples.map(|examples| ("input_examples".to_owned(), examples));
    wit::Tool {
        name: name.clone(),
        description: description.clone(),
        input_schema: json(input_schema),
        strict: *strict,
        cache_mark: cache_mark.as_ref().map(json),
        ext: examples.into_iter().collect(),
    }
}

fn choice(choice: &ToolChoice) -> wit::ToolChoice {
    match choice {
        ToolChoice::Auto => wit::ToolChoice::Auto,
        ToolChoice::None => wit::ToolChoice::None,
        ToolChoice::Required => wit::ToolChoice::Required,
        ToolChoice::Named(name) => wit::ToolChoice::Named(name.clone()),
    }
}

fn format(format: &ResponseFormat) -> wit::ResponseFormat {
    match format {
        ResponseFormat::JsonObject => wit::ResponseFormat::JsonObject,
        ResponseFormat::JsonSchema {
            name,
            schema,
            strict,
        } => wit::ResponseFormat::JsonSchema(wit::JsonSchemaFormat {
            name: name.clone(),
            schema: json(schema),
            strict: *strict,
        }),
    }
}
