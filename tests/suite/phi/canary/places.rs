//! Every place of a request where text may stand, one line each: where, on which surfaces, what is planted there, and
//! whether it goes on to a provider of kind A and of kind B.

use serde_json::{Value, json};
use svc_core::phi::Form;
use svc_tests::surfaces::Surface;

use super::plant::Plant;

/// The four ways in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Route {
    Native,
    Messages,
    Count,
    Chat,
}

pub(super) const ROUTES: [Route; 4] = [Route::Native, Route::Messages, Route::Count, Route::Chat];

/// What becomes of a planted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Answered; the provider gets the text without its PHI.
    Sent,
    /// Answered; the provider gets nothing of the text.
    Dropped,
    /// Refused by the driver, whose provider takes no such thing: `UNSUPPORTED_PARAMETER`.
    Unfit,
    /// Refused by the gateway with this code; the provider gets nothing.
    Refused(&'static str),
}

use Fate::{Dropped, Refused, Sent, Unfit};
use Form::{Address, Identifier, Key, Number, Pseudonym, Text};
use Route::{Chat, Count, Messages, Native};

pub(super) struct Position {
    /// The visitor's location without numbers; empty where the surface forgets the text before there is a chat.
    pub(super) place: &'static str,
    pub(super) form: Form,
    pub(super) routes: &'static [Route],
    /// Fields of the body that hold the text, in place of the ordinary ones.
    pub(super) fields: fn(&Plant) -> Value,
    /// With a provider of kind A, and of kind B.
    pub(super) fate: [Fate; 2],
}

impl Fate {
    /// Tokens for a model of kind B are estimated here: neither driver nor provider has a say.
    pub(super) fn on(self, route: Route, kind: &str) -> Self {
        match self {
            Sent | Unfit if route == Count && kind == "B" => Dropped,
            fate => fate,
        }
    }
}

impl Route {
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Count => "/v1/messages/count_tokens",
            Self::Native => Surface::Native.path(),
            Self::Messages => Surface::Messages.path(),
            Self::Chat => Surface::ChatCompletions.path(),
        }
    }

    pub(super) const fn surface(self) -> Surface {
        match self {
            Self::Native => Surface::Native,
            Self::Messages | Self::Count => Surface::Messages,
            Self::Chat => Surface::ChatCompletions,
        }
    }

    /// An ordinary body without text, and over it the fields that are given.
    pub(super) fn body(self, model: &str, is_streamed: bool, fields: Value) -> Value {
        let mut body = match self {
            Self::Native => json!({"model": model, "message": "well"}),
            _ => json!({"model": model, "messages": [{"role": "user", "content": "well"}]}),
        };
        if self != Self::Count {
            body["max_tokens"] = json!(2_048);
            body["stream"] = json!(is_streamed);
        }
        if let Value::Object(fields) = fields {
            for (name, value) in fields {
                body[name] = value;
            }
        }
        body
    }
}

const ON_MESSAGES: &[Route] = &[Messages, Count];
const ON_BLOCKS: &[Route] = &[Native, Messages, Count];
/// What both provider kinds get.
const BOTH: [Fate; 2] = [Sent, Sent];
/// What is for kind A alone: kind B has no place for it.
const A_ALONE: [Fate; 2] = [Sent, Dropped];
const B_ALONE: [Fate; 2] = [Dropped, Sent];
const NEITHER: [Fate; 2] = [Dropped, Dropped];
const TOOL: [Fate; 2] = [Refused("PHI_IN_TOOL_SCHEMA"); 2];
const ADDRESS: [Fate; 2] = [Refused("PHI_BLOCKED"); 2];
const INVALID: [Fate; 2] = [Refused("VALIDATION_FAILED"); 2];

const fn at(
    place: &'static str,
    form: Form,
    routes: &'static [Route],
    fate: [Fate; 2],
    fields: fn(&Plant) -> Value,
) -> Position {
    Position {
        place,
        form,
        routes,
        fields,
        fate,
    }
}

fn user(content: Value) -> Value {
    json!({"messages": [{"role": "user", "content": content}]})
}

fn part(part: Value) -> Value {
    user(json!([part, {"type": "text", "text": "well"}]))
}

/// A part that is replaced whole, beside the tracer.
fn beside(p: &Plant, part: Value) -> Value {
    user(json!([part, {"type": "text", "text": p.tracer}]))
}

/// A turn of the model in the middle.
fn model(content: Value) -> Value {
    json!({"messages": [{"role": "user", "content": "well"}, {"role": "assistant", "content": content},
                        {"role": "user", "content": "and"}]})
}

/// A call and its result, as blocks.
fn call(id: &str, name: &str, input: Value, result: Value) -> Value {
    json!({"messages": [
        {"role": "user", "content": "well"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]},
    ]})
}

/// The same on the chat-completions surface.
fn function_call(id: &str, name: &str, arguments: &Value, result: Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"messages": [
        {"role": "user", "content": "well"},
        {"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id, "content": result},
    ]})
}

fn arguments(arguments: Value) -> Value {
    call("c1", "look", arguments, json!("done"))
}

fn function_arguments(arguments: Value) -> Value {
    function_call("c1", "look", &arguments, json!("done"))
}

fn document(source: Value) -> Value {
    part(json!({"type": "document", "source": source}))
}

fn plain_source() -> Value {
    json!({"type": "text", "media_type": "text/plain", "data": "well"})
}

fn encoded(media_type: &str, data: String) -> Value {
    json!({"type": "base64", "media_type": media_type, "data": data})
}

fn tool(name: &str, description: &str, schema: Value) -> Value {
    json!({"tools": [{"name": name, "description": description, "input_schema": schema}]})
}

fn schema(schema: Value) -> Value {
    tool(
        "look",
        "looks",
        json!({"type": "object", "properties": {"q": schema}}),
    )
}

fn function(name: &str, description: &str, schema: Value) -> Value {
    let function = json!({"name": name, "description": description, "parameters": schema});
    json!({"tools": [{"type": "function", "function": function}]})
}

fn examples(example: Value) -> Value {
    let mut fields = tool("look", "looks", object(json!({})));
    fields["tools"][0]["input_examples"] = json!([example]);
    fields
}

fn parameters(schema: Value) -> Value {
    function(
        "look",
        "looks",
        json!({"type": "object", "properties": {"q": schema}}),
    )
}

fn output(schema: Value) -> Value {
    json!({"output_config": {"format": {"type": "json_schema", "schema": schema}}})
}

fn json_schema(name: &str, description: &str, schema: Value) -> Value {
    let format = json!({"name": name, "description": description, "schema": schema});
    json!({"response_format": {"type": "json_schema", "json_schema": format}})
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

#[rustfmt::skip] // One place, one line.
pub(super) const POSITIONS: &[Position] = &[
    // Turns.
    at("messages[].content[]", Text, &[Native], BOTH, |p| json!({"message": p.text()})),
    at("messages[].content[]", Text, &[Messages, Count, Chat], BOTH, |p| user(json!(p.text()))),
    at("messages[].content[]", Text, &[Messages, Count, Chat], BOTH, |p| part(json!({"type": "text", "text": p.text()}))),
    at("messages[].content[]", Text, &[Messages, Count, Chat], BOTH, |p| model(json!(p.text()))),
    at("messages[].content[]", Text, &[Messages, Count, Chat], BOTH, |p| model(json!([{"type": "text", "text": p.text()}]))),
    at("messages[].content[]", Text, &[Chat], BOTH, |p| model(json!([{"type": "refusal", "refusal": p.text()}]))),
    at("messages[].content[]", Text, &[Chat], BOTH, |p| json!({"messages": [{"role": "user", "content": "well"}, {"role": "assistant", "content": "so", "refusal": p.text()}, {"role": "user", "content": "and"}]})),
    at("messages[].name", Text, &[Chat], NEITHER, |p| json!({"messages": [{"role": "user", "content": "well", "name": p.text()}]})),
    at("messages[].name", Text, &[Chat], B_ALONE, |p| json!({"messages": [{"role": "user", "content": "well", "name": p.identifier()}]})),
    // System prompt.
    at("system[]", Text, &[Native, Messages, Count], BOTH, |p| json!({"system": p.text()})),
    at("system[]", Text, ON_MESSAGES, BOTH, |p| json!({"system": [{"type": "text", "text": "so"}, {"type": "text", "text": p.text()}]})),
    at("system[]", Text, &[Messages, Count, Chat], BOTH, |p| json!({"messages": [{"role": "system", "content": p.text()}, {"role": "user", "content": "well"}]})),
    at("system[].cache_control", Text, ON_MESSAGES, INVALID, |p| json!({"system": [{"type": "text", "text": "so", "cache_control": {"type": "ephemeral", "ttl": p.text()}}]})),
    // Images and documents.
    at("messages[].content[]", Address, ON_MESSAGES, ADDRESS, |p| beside(p, json!({"type": "image", "source": {"type": "url", "url": p.address()}}))),
    at("messages[].content[]", Address, &[Chat], ADDRESS, |p| beside(p, json!({"type": "image_url", "image_url": {"url": p.address()}}))),
    at("messages[].content[]", Text, ON_MESSAGES, BOTH, |p| document(json!({"type": "text", "media_type": "text/plain", "data": p.text()}))),
    at("messages[].content[]", Text, ON_MESSAGES, BOTH, |p| document(encoded("text/plain", p.blob()))),
    at("messages[].content[]", Text, ON_MESSAGES, BOTH, |p| document(encoded("application/pdf", p.blob()))),
    at("messages[].content[]", Address, ON_MESSAGES, ADDRESS, |p| beside(p, json!({"type": "document", "source": {"type": "url", "url": p.address()}}))),
    at("messages[].content[].media_type", Text, ON_MESSAGES, NEITHER, |p| document(encoded(&format!("text/{}", p.text()), "d2VsbA==".into()))),
    at("messages[].content[].title", Text, ON_MESSAGES, BOTH, |p| part(json!({"type": "document", "source": plain_source(), "title": p.text()}))),
    at("messages[].content[].context", Text, ON_MESSAGES, BOTH, |p| part(json!({"type": "document", "source": plain_source(), "context": p.text()}))),
    at("messages[].content[].title", Text, &[Chat], BOTH, |p| part(json!({"type": "file", "file": { "filename": p.text(), "file_data": "data:application/pdf;base64,d2VsbA=="}}))),
    at("messages[].content[]", Text, &[Chat], BOTH, |p| part(json!({"type": "file", "file": { "filename": "a.txt", "file_data": format!("data:text/plain;base64,{}", p.blob())}}))),
    at("messages[].content[].media_type", Text, &[Chat], NEITHER, |p| part(json!({"type": "file", "file": { "filename": "a.txt", "file_data": format!("data:text/{};base64,d2VsbA==", p.identifier())}}))),
    // Calls and their results.
    at("messages[].content[].id", Identifier, ON_MESSAGES, BOTH, |p| call(&p.identifier(), "look", json!({}), json!("done"))),
    at("messages[].content[].call_id", Identifier, ON_MESSAGES, BOTH, |p| call(&p.identifier(), "look", json!({}), json!("done"))),
    at("messages[].content[].name", Identifier, ON_MESSAGES, BOTH, |p| call("c1", &p.identifier(), json!({}), json!("done"))),
    at("messages[].content[].arguments", Text, ON_MESSAGES, BOTH, |p| arguments(json!({"a": {"b": [p.text()]}}))),
    at("messages[].content[].arguments", Key, ON_MESSAGES, BOTH, |p| arguments(json!({"a": {p.text(): 1}}))),
    at("messages[].content[].arguments", Number, ON_MESSAGES, BOTH, |p| arguments(json!({"a": p.tracer, "b": [p.number()]}))),
    at("messages[].content[].content[]", Text, ON_MESSAGES, BOTH, |p| call("c1", "look", json!({}), json!(p.text()))),
    at("messages[].content[].content[]", Text, ON_MESSAGES, BOTH, |p| call("c1", "look", json!({}), json!([{"type": "text", "text": p.text()}]))),
    at("messages[].content[].content[]", Text, ON_MESSAGES, BOTH, |p| call("c1", "look", json!({}), json!([{"type": "document", "source": encoded("text/plain", p.blob())}]))),
    at("messages[].content[].content[].title", Text, ON_MESSAGES, BOTH, |p| call("c1", "look", json!({}), json!([{"type": "document", "source": plain_source(), "title": p.text()}]))),
    at("messages[].content[].id", Identifier, &[Chat], BOTH, |p| function_call(&p.identifier(), "look", &json!({}), json!("done"))),
    at("messages[].content[].call_id", Identifier, &[Chat], BOTH, |p| function_call(&p.identifier(), "look", &json!({}), json!("done"))),
    at("messages[].content[].name", Identifier, &[Chat], BOTH, |p| function_call("c1", &p.identifier(), &json!({}), json!("done"))),
    at("messages[].content[].arguments", Text, &[Chat], BOTH, |p| function_arguments(json!({"a": {"b": [p.text()]}}))),
    at("messages[].content[].arguments", Key, &[Chat], BOTH, |p| function_arguments(json!({"a": {p.text(): 1}}))),
    at("messages[].content[].arguments", Number, &[Chat], BOTH, |p| function_arguments(json!({"a": p.tracer, "b": [p.number()]}))),
    at("messages[].content[].content[]", Text, &[Chat], BOTH, |p| function_call("c1", "look", &json!({}), json!(p.text()))),
    at("messages[].content[].content[]", Text, &[Chat], BOTH, |p| function_call("c1", "look", &json!({}), json!([{"type": "text", "text": p.text()}]))),
    // What a model thought.
    at("messages[].content[]", Text, ON_MESSAGES, NEITHER, |p| model(json!([{"type": "thinking", "thinking": p.text(), "signature": "c2ln"}, {"type": "text", "text": "so"}]))),
    at("messages[].content[].signature", Text, ON_MESSAGES, NEITHER, |p| model(json!([{"type": "thinking", "thinking": "hm", "signature": p.text()}, {"type": "text", "text": "so"}]))),
    at("messages[].content[].signature", Text, ON_MESSAGES, BOTH, |p| model(json!([{"type": "thinking", "thinking": "hm", "signature": p.blob()}, {"type": "text", "text": p.tracer}]))),
    at("messages[].content[].data", Text, ON_MESSAGES, A_ALONE, |p| model(json!([{"type": "redacted_thinking", "data": p.text()}, {"type": "text", "text": "so"}]))),
    at("messages[].content[].data", Text, ON_MESSAGES, BOTH, |p| model(json!([{"type": "redacted_thinking", "data": p.blob()}, {"type": "text", "text": p.tracer}]))),
    // Definitions of tools.
    at("tools[].name", Identifier, ON_BLOCKS, TOOL, |p| tool(&p.identifier(), "looks", object(json!({})))),
    at("tools[].description", Text, ON_BLOCKS, TOOL, |p| tool("look", &p.text(), object(json!({})))),
    at("tools[].input_schema", Key, ON_BLOCKS, TOOL, |p| tool("look", "looks", object(json!({p.text(): {"type": "string"}})))),
    at("tools[].input_schema", Text, ON_BLOCKS, TOOL, |p| schema(json!({"description": p.text()}))),
    at("tools[].input_schema", Text, ON_BLOCKS, TOOL, |p| schema(json!({"title": p.text()}))),
    at("tools[].input_schema", Text, ON_BLOCKS, TOOL, |p| schema(json!({"enum": ["a", p.text()]}))),
    at("tools[].input_schema", Text, ON_BLOCKS, TOOL, |p| schema(json!({"const": p.text()}))),
    at("tools[].input_schema", Text, ON_BLOCKS, TOOL, |p| schema(json!({"examples": [[p.text()]]}))),
    at("tools[].input_schema", Text, ON_BLOCKS, TOOL, |p| schema(json!({"$comment": p.text()}))),
    at("tools[].input_schema", Number, ON_BLOCKS, TOOL, |p| schema(json!({"default": p.number(), "title": p.tracer}))),
    at("tool_choice", Identifier, ON_BLOCKS, TOOL, |p| { let mut fields = tool(&p.identifier(), "looks", object(json!({}))); fields["tool_choice"] = json!({"type": "tool", "name": p.identifier()}); fields }),
    at("tools[].cache_control", Text, ON_BLOCKS, INVALID, |p| json!({"tools": [{"name": "look", "input_schema": object(json!({})), "cache_control": {"type": p.text()}}]})),
    at("tools[].input_examples", Text, ON_BLOCKS, TOOL, |p| examples(json!({"q": [p.text()]}))),
    at("tools[].input_examples", Number, ON_BLOCKS, TOOL, |p| examples(json!({"q": p.number(), "so": p.tracer}))),
    at("tools[].input_examples", Key, ON_BLOCKS, TOOL, |p| examples(json!({p.text(): 1}))),
    at("tools[].name", Identifier, &[Chat], TOOL, |p| function(&p.identifier(), "looks", object(json!({})))),
    at("tools[].description", Text, &[Chat], TOOL, |p| function("look", &p.text(), object(json!({})))),
    at("tools[].input_schema", Key, &[Chat], TOOL, |p| function("look", "looks", object(json!({p.text(): {"type": "string"}})))),
    at("tools[].input_schema", Text, &[Chat], TOOL, |p| parameters(json!({"enum": ["a", p.text()]}))),
    at("tools[].input_schema", Text, &[Chat], TOOL, |p| parameters(json!({"description": p.text()}))),
    at("tools[].input_schema", Number, &[Chat], TOOL, |p| parameters(json!({"default": p.number(), "title": p.tracer}))),
    at("tool_choice", Identifier, &[Chat], TOOL, |p| { let mut fields = function(&p.identifier(), "looks", object(json!({}))); fields["tool_choice"] = json!({"type": "function", "function": {"name": p.identifier()}}); fields }),
    // The form of the answer.
    at("response_format.schema", Text, ON_MESSAGES, BOTH, |p| output(object(json!({"a": {"enum": [p.text()]}})))),
    at("response_format.schema", Key, ON_MESSAGES, BOTH, |p| output(object(json!({p.text(): {"type": "string"}})))),
    at("response_format.schema", Number, ON_MESSAGES, BOTH, |p| output(object(json!({"a": {"type": "integer", "default": p.number(), "title": p.tracer}})))),
    at("response_format.name", Identifier, &[Chat], B_ALONE, |p| json_schema(&p.identifier(), "so", object(json!({})))),
    at("response_format.schema", Text, &[Chat], BOTH, |p| json_schema("a", &p.text(), object(json!({})))),
    at("response_format.schema", Key, &[Chat], BOTH, |p| json_schema("a", "so", object(json!({p.text(): {"type": "string"}})))),
    // What else a request says.
    at("stop_sequences[]", Text, &[Messages], BOTH, |p| json!({"stop_sequences": ["so", p.text()]})),
    // As long as it is, a stand-in goes to kind B.
    at("metadata", Pseudonym, &[Messages], BOTH, |p| { let mut fields = user(json!(p.tracer)); fields["metadata"] = json!({"user_id": p.text()}); fields }),
    at("ext.must-inference_geo", Text, &[Messages], [Sent, Unfit], |p| json!({"inference_geo": p.text()})),
    at("ext.must-seed", Number, &[Chat], [Unfit, Sent], |p| { let mut fields = user(json!(p.tracer)); fields["seed"] = json!(p.number()); fields }),
    // What the chat-completions surface checks and forgets.
    at("", Text, &[Chat], NEITHER, |p| json!({"user": p.text()})),
    at("", Text, &[Chat], NEITHER, |p| json!({"safety_identifier": p.text()})),
    at("", Text, &[Chat], NEITHER, |p| json!({"prompt_cache_key": p.text()})),
    at("", Text, &[Chat], NEITHER, |p| json!({"stop": [p.text()]})),
    at("", Text, &[Chat], NEITHER, |p| json!({"metadata": {"note": p.text()}})),
    at("", Key, &[Chat], NEITHER, |p| json!({"metadata": {p.text(): "so"}})),
    at("", Text, &[Chat], NEITHER, |p| json!({"messages": [{"role": "user", "content": "well"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c1", "name": p.text(), "content": "done"}]})),
    at("", Text, &[Chat], NEITHER, |p| json!({"messages": [{"role": "system", "content": "so", "name": p.text()}, {"role": "user", "content": "well"}]})),
];
