//! The native surface: `POST /v1/ai/chat` requests, results, stream events and message records
//! (spec, Resources and Events; contract 21).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::blocks;
use super::fields::{Fields, Path};
use super::places::{PartPlace, Place, Placed, Places, TurnPlace, Words, of_content};
use super::{ReplyEncoder, RunHead, RunSummary, put};
use crate::chat::{
    Arguments, BadArguments, ChatEvent, ChatReply, ChatRequest, Message, Part, Role, Sampling,
    ToolResult, Usage,
};
use crate::fault::{Code, Fault, Problems};
use crate::id::IdKind;
use crate::json;
use crate::money::Micro;
use crate::time::Timestamp;

/// Spec: default model on native chat.
pub const DEFAULT_MODEL: &str = "alpha-sonnet-4-6";

/// Names of this surface that differ from those of a chat.
const WORDS: Words = Words {
    request: &[("max_output_tokens", "max_tokens"), blocks::PARALLEL_WORD],
    tool: &[],
    part: &[
        ("call_id", "tool_call_id"),
        ("media", "source"),
        ("media_type", "source.media_type"),
    ],
};

/// A decoded body of `POST /v1/ai/chat`. The chat holds this turn alone: the caller's history is stored.
pub struct NativeRequest {
    pub chat: ChatRequest,
    pub places: Places,
    /// Canonical form (`conv_…`); `Some` continues that conversation.
    pub conversation_id: Option<String>,
    /// `None` where the body is silent: the default depends on the credential (contract X22).
    pub store: Option<bool>,
    /// Whether the body names a model; [`DEFAULT_MODEL`] stands in the chat where it does not.
    pub names_model: bool,
    /// Whether the body names a system prompt of its own, which overrides the organization's.
    pub overrides_system: bool,
}

/// Reads a request body.
///
/// # Errors
/// 422 `VALIDATION_FAILED` with every problem; 400 `UNSUPPORTED_PARAMETER` for a field or block kind that this surface
/// lacks, at any depth.
pub fn decode(body: &[u8]) -> Result<NativeRequest, Fault> {
    let mut fields = Fields::top(json::object(body)?);
    let mut problems = Problems::default();

    let has_message = fields.has("message");
    let message = fields.string("message", &mut problems);
    let model = fields.string("model", &mut problems);
    let names_model = model.is_some();
    let model = model.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
    let stream = fields.boolean("stream", &mut problems).unwrap_or(true);
    let conversation = fields.string("conversation_id", &mut problems);
    let store = fields.boolean("store", &mut problems);
    let system = fields.string("system", &mut problems);
    let max_tokens = fields.count("max_tokens", 1, &mut problems);
    let tools = fields
        .take("tools")
        .map(|value| blocks::decode_tools(value, Path::Name("tools"), &mut problems));
    let tools = tools.unwrap_or_default();
    let (tool_choice, parallel_tool_calls) =
        fields.take("tool_choice").map_or((None, None), |value| {
            blocks::decode_tool_choice(value, Path::Name("tool_choice"), &tools, &mut problems)
        });
    let found = problems.len();
    let results = fields
        .take("tool_results")
        .map(|value| tool_results(value, &mut problems))
        .unwrap_or_default();
    let has_no_results = results.parts.is_empty() && problems.len() == found;
    fields.end(&mut problems);

    // A message of the wrong type is one problem, not two; so are results that cannot be read.
    let is_blank = |text: &str| text.trim().is_empty();
    let says_nothing = message.as_deref().map_or(!has_message, is_blank);
    if has_no_results && says_nothing {
        problems.add("message", "is required");
    }
    if !results.parts.is_empty() && conversation.is_none() {
        problems.add("tool_results", "needs a conversation_id");
    }
    let conversation_id = conversation
        .as_deref()
        .and_then(|id| IdKind::Conversation.accept(id));
    if conversation.is_some() && conversation_id.is_none() {
        problems.add("conversation_id", "is not a conversation id");
    }
    problems.into_native_result()?;

    let mut said = results;
    if let Some(text) = message.filter(|text| !text.is_empty()) {
        said.push(Part::text(text), PartPlace::alone(Place::Field("message")));
    }
    let turn = TurnPlace {
        at: 0,
        parts: said.places,
    };
    let mut places = Places::new(
        vec![PartPlace::alone(Place::Field("system"))],
        vec![turn],
        &WORDS,
    );
    blocks::place_tool_choice(tool_choice.as_ref(), &mut places);
    let overrides_system = system.is_some();
    let chat = ChatRequest {
        model,
        system: system
            .filter(|text| !text.is_empty())
            .map(Part::text)
            .into_iter()
            .collect(),
        has_house_prompt: false,
        messages: vec![Message {
            role: Role::User,
            content: said.parts,
            name: None,
        }],
        tools,
        tool_choice,
        parallel_tool_calls,
        max_tokens,
        sampling: Sampling::default(),
        stop_sequences: Vec::new(),
        response_format: None,
        reasoning_tokens: None,
        metadata: BTreeMap::new(),
        stream,
        ext: Map::new(),
    };
    Ok(NativeRequest {
        chat,
        places,
        conversation_id,
        store,
        names_model,
        overrides_system,
    })
}

/// `tool_results: [{tool_call_id, content, is_error}]`.
fn tool_results(value: Value, problems: &mut Problems) -> Placed {
    let mut results = Placed::default();
    let Value::Array(items) = value else {
        problems.add("tool_results", "must be an array");
        return results;
    };
    let items = blocks::at_most(
        blocks::MAX_PARTS,
        "results",
        items,
        "tool_results",
        problems,
    );
    let all = Path::Name("tool_results");
    for (at, item) in items.into_iter().enumerate() {
        let path = all.item(at);
        let Some(mut fields) = Fields::of(item, path, problems) else {
            continue;
        };
        let call_id = fields.required_string("tool_call_id", problems);
        let is_error = fields.boolean("is_error", problems).unwrap_or(false);
        let content = fields.take("content");
        let places = content
            .as_ref()
            .map(|content| of_content(content, Place::FieldOf("tool_results", at, "content")));
        let content = blocks::result_content(content, path.field("content"), problems);
        fields.end(problems);
        if let Some(call_id) = call_id {
            let result = Part::ToolResult(ToolResult {
                call_id,
                is_error,
                content,
                cache_mark: None,
            });
            let place = Place::Entry("tool_results", at);
            let place = PartPlace::result(place, &places.unwrap_or_default());
            results.push(result, place);
        }
    }
    results
}

/// Writes replies of the native surface.
#[derive(Default)]
pub struct Encoder {
    /// Open tool calls: id, name and the arguments' text so far. The event shows them whole.
    calls: BTreeMap<u32, (String, String, String)>,
    arguments: Arguments,
    /// A call without good arguments: a fault, unless the reply was cut short there.
    bad: Option<BadArguments>,
}

/// Spec, Events: sent when idle, ignored by clients.
const HEARTBEAT: &[u8] = b"event: heartbeat\ndata: {}\n\n";

impl ReplyEncoder for Encoder {
    fn open(&mut self, head: &RunHead, out: &mut Vec<u8>) {
        let RunHead {
            request_id,
            message_id,
            conversation_id,
            model,
            created: _,
            estimated_input_tokens: _,
        } = head;
        let data = json!({
            "request_id": request_id, "message_id": message_id, "model": model, "conversation_id": conversation_id,
        });
        put("run.started", &data, out);
    }

    fn event(&mut self, event: &ChatEvent, out: &mut Vec<u8>) -> Result<(), Fault> {
        match event {
            ChatEvent::Text(text) => message_delta(text, out),
            ChatEvent::ToolCallStart { index, id, name } => {
                self.calls
                    .insert(*index, (id.clone(), name.clone(), String::new()));
            }
            ChatEvent::ToolCallDelta { index, fragment } => {
                if let Some((_, _, text)) = self.calls.get_mut(index) {
                    text.push_str(fragment);
                }
            }
            ChatEvent::ToolCallEnd { index } => {
                let call = self.calls.remove(index);
                // Without arguments it was cut off: nobody can run it.
                if let Some((id, name, text)) = call.filter(|(_, _, text)| !text.is_empty()) {
                    match self.arguments.of_call(&text, *index) {
                        Ok(arguments) => put("tool_call", &tool_call(&id, &name, arguments), out),
                        Err(bad) => {
                            self.bad.get_or_insert(bad);
                        }
                    }
                }
            }
            ChatEvent::ProviderToolCompleted { tool_type, item_id } => {
                put(
                    "provider_tool.completed",
                    &json!({"tool_type": tool_type, "item_id": item_id}),
                    out,
                );
            }
            // Reasoning has no event on this surface; it is stored with the conversation. A refusal is text, and the reason
            // of the end tells it.
            ChatEvent::Declined
            | ChatEvent::Reasoning(_)
            | ChatEvent::ReasoningSignature(_)
            | ChatEvent::RedactedReasoning { .. }
            | ChatEvent::Started { .. }
            | ChatEvent::Usage(_)
            | ChatEvent::KeepAlive => {}
            ChatEvent::Finished(finish) => {
                if let Some(bad) = self.bad.take().filter(|_| !finish.reason.cuts_calls()) {
                    return Err(Code::InferenceUpstreamFailure
                        .fault()
                        .from_provider()
                        .because(bad));
                }
            }
        }
        Ok(())
    }

    fn complete(&mut self, run: &RunSummary<'_>, out: &mut Vec<u8>) {
        let data = json!({
            "request_id": run.head.request_id,
            "message_id": run.head.message_id,
            "credits_consumed": run.charge.credits.to_json(),
            "usage": {
                "input_tokens": run.usage.input_tokens,
                "output_tokens": run.usage.output_tokens,
                "cache_creation_input_tokens": run.usage.cache_creation_input_tokens,
                "cache_read_input_tokens": run.usage.cache_read_input_tokens,
            },
            "finish_reason": run.finish.reason.word(),
            "stop_reason_raw": run.finish.raw,
            "phi": run.phi.to_json(),
        });
        put("run.completed", &data, out);
    }

    /// Contract X11: the flat form on the native stream.
    fn fail(&mut self, fault: &Fault, _request_id: &str, out: &mut Vec<u8>) {
        let data = json!({
            "code": fault.code.word(),
            "message": fault.message,
            "retryable": fault.retryable,
            "failure_layer": fault.layer.word(),
        });
        put("error", &data, out);
    }

    fn heartbeat(&self) -> &'static [u8] {
        HEARTBEAT
    }

    fn whole(&self, reply: &ChatReply, run: &RunSummary<'_>) -> Value {
        let mut body = json!({
            "success": true,
            "data": {
                "message": {
                    "id": run.head.message_id,
                    "role": "assistant",
                    "content": null,
                    "tool_calls": null,
                },
                "conversation_id": run.head.conversation_id,
                "finish_reason": run.finish.reason.word(),
                "stop_reason_raw": run.finish.raw,
            },
            "meta": {
                "request_id": run.head.request_id,
                "usage": {
                    "model": run.head.model,
                    "input_tokens": run.usage.input_tokens,
                    "output_tokens": run.usage.output_tokens,
                    "cache_creation_input_tokens": run.usage.cache_creation_input_tokens,
                    "cache_read_input_tokens": run.usage.cache_read_input_tokens,
                    "sonnet_equivalent_tokens": run.charge.sonnet_equivalent_tokens,
                    "credits_consumed": run.charge.credits.to_json(),
                    "cost_usd": run.charge.cost_usd.to_json(),
                },
                "phi": run.phi.to_json(),
            },
        });
        // The macro would copy what is given to it.
        let message = &mut body["data"]["message"];
        message["content"] = Value::String(reply.text());
        message["tool_calls"] = tool_calls(reply);
        body
    }
}

fn tool_calls(reply: &ChatReply) -> Value {
    let calls = reply.content.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(tool_call(&call.id, &call.name, call.arguments.clone())),
        _ => None,
    });
    calls.collect()
}

/// A call as the event and the whole reply show it.
fn tool_call(id: &str, name: &str, arguments: Value) -> Value {
    let mut call = json!({"id": id, "name": name});
    call["arguments"] = arguments;
    call
}

/// The one frame that comes hundreds of times per reply goes without an intermediate tree.
fn message_delta(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: message.delta\ndata: {\"text\":");
    json::write(text, out);
    out.extend_from_slice(b"}\n\n");
}

/// A stored message as `GET /v1/ai/messages/{id}` shows it.
pub struct MessageRecord {
    pub id: String,
    /// Of the request that made the message, not of the one that asks for it.
    pub request_id: String,
    pub org_id: String,
    pub conversation_id: String,
    /// Catalogue id.
    pub model: String,
    /// `user` or `assistant`.
    pub role: String,
    /// Of the reply; zero on the caller's own messages.
    pub usage: Usage,
    pub credits_consumed: Micro,
    pub content: String,
    pub created_at: Timestamp,
    /// Word of [`crate::chat::FinishReason`], of a reply.
    pub stop_reason: Option<String>,
    /// `{"mode", "redacted", "entity_types", "restored"}` (contract 21), or null.
    pub phi: Value,
    /// The terminal audit row of the run.
    pub audit_id: Option<String>,
}

/// The success envelope of a message record.
pub fn message_record(record: &MessageRecord, request_id: &str) -> Value {
    let MessageRecord {
        id,
        request_id: made_by,
        org_id,
        conversation_id,
        model,
        role,
        usage,
        credits_consumed,
        content,
        created_at,
        stop_reason,
        phi,
        audit_id,
    } = record;
    json!({
        "success": true,
        "data": {
            "id": id,
            "request_id": made_by,
            "org_id": org_id,
            "conversation_id": conversation_id,
            "model": model,
            "role": role,
            "usage": {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cache_read_input_tokens": usage.cache_read_input_tokens,
                "cache_write_input_tokens": usage.cache_creation_input_tokens,
            },
            "credits_consumed": credits_consumed.to_json(),
            "content": content,
            "stop_reason": stop_reason,
            "phi": phi,
            "audit_id": audit_id,
            "created_at": created_at.to_string(),
        },
        "meta": {"request_id": request_id},
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn refused(body: &str) -> Fault {
        decode(body.as_bytes()).err().unwrap()
    }

    #[test]
    fn defaults_are_the_specifications() {
        let request = decode(br#"{"message":"hi"}"#).ok().unwrap();
        assert_eq!(request.chat.model, "alpha-sonnet-4-6");
        assert!(
            request.chat.stream && request.store.is_none() && request.conversation_id.is_none()
        );
        assert_eq!(request.chat.messages.len(), 1);
    }

    #[test]
    fn what_a_driver_refuses_has_the_name_of_the_body() {
        let tool = r#"{"name":"f","input_schema":{"type":"object"}}"#;
        let named = |choice: &str, place: &str| {
            let body = format!(r#"{{"message":"hi","tools":[{tool}],"tool_choice":{choice}}}"#);
            decode(body.as_bytes()).ok().unwrap().places.name(place)
        };
        let (auto, named_one) = (r#"{"type":"auto"}"#, r#"{"type":"tool","name":"f"}"#);
        assert_eq!(named(auto, "tool_choice"), "tool_choice");
        assert_eq!(named(named_one, "tool_choice"), "tool_choice.name");
        assert_eq!(named(auto, "max_output_tokens"), "max_tokens");
        let parallel = "tool_choice.disable_parallel_tool_use";
        assert_eq!(named(auto, "parallel_tool_calls"), parallel);
    }

    #[test]
    fn every_problem_comes_at_once() {
        let fault = refused(r#"{"message":7,"stream":"yes","max_tokens":0,"conversation_id":"x"}"#);
        let paths: Vec<&String> = fault.details.keys().collect();
        assert_eq!(
            paths,
            ["message", "stream", "max_tokens", "conversation_id"]
        );
    }

    #[test]
    fn results_that_cannot_be_read_are_one_problem() {
        let fault = refused(r#"{"tool_results":[7]}"#);
        assert!(fault.details.keys().eq(["tool_results[0]"]));
        let fault = refused(r#"{"tool_results":[]}"#);
        assert!(fault.details.keys().eq(["message"]));
    }

    #[test]
    fn foreign_fields_are_refused_by_name() {
        let fault = refused(r#"{"message":"hi","temperature":1}"#);
        assert_eq!(
            (fault.code, fault.param.as_deref()),
            (Code::UnsupportedParameter, Some("temperature"))
        );
    }

    #[test]
    fn unknown_fields_and_kinds_are_refused_at_any_depth() {
        let tool = |field: &str| {
            format!(r#""tools":[{{"name":"f","input_schema":{{"type":"object"}},{field}}}]"#)
        };
        let result = |field: &str| format!(r#""tool_results":[{{"tool_call_id":"c1",{field}}}]"#);
        let choice = format!(
            r#"{},"tool_choice":{{"type":"auto","foo":1}}"#,
            tool(r#""strict":true"#)
        );
        for (fields, param) in [
            (r#""foo":null"#.to_owned(), "foo"),
            (tool(r#""foo":1"#), "tools[0].foo"),
            (tool(r#""foo":null"#), "tools[0].foo"),
            (tool(r#""type":"web_search""#), "tools[0].type"),
            (choice, "tool_choice.foo"),
            (result(r#""foo":1"#), "tool_results[0].foo"),
            (
                result(r#""content":[{"type":"text","text":"x","zz":null}]"#),
                "tool_results[0].content[0].zz",
            ),
            (
                result(r#""content":[{"type":"video"}]"#),
                "tool_results[0].content[0].type",
            ),
        ] {
            // Whatever else is wrong.
            let fault = refused(&format!(r#"{{"message":7,{fields}}}"#));
            assert_eq!(
                (fault.code, fault.param.as_deref()),
                (Code::UnsupportedParameter, Some(param)),
                "{fields}"
            );
        }
    }

    #[test]
    fn what_is_known_and_wrong_is_not_valid() {
        for (fields, param) in [
            (r#""tools":[{"name":"f"}]"#, "tools[0].input_schema"),
            (
                r#""tool_results":[{"tool_call_id":null}]"#,
                "tool_results[0].tool_call_id",
            ),
        ] {
            let fault = refused(&format!(r#"{{"message":"hi",{fields}}}"#));
            assert_eq!(fault.code, Code::ValidationFailed, "{fields}");
            assert!(fault.details.keys().eq([param]), "{fields}");
        }
    }

    #[test]
    fn more_tokens_than_can_be_counted_are_the_most() {
        for tokens in ["4294967296", "18446744073709551616", "1e20", "1e30"] {
            let body = format!(r#"{{"message":"hi","max_tokens":{tokens}}}"#);
            let request = decode(body.as_bytes()).ok().unwrap();
            assert_eq!(request.chat.max_tokens, Some(u32::MAX), "{tokens}");
        }
        for tokens in ["-1e20", "1.5"] {
            let fault = refused(&format!(r#"{{"message":"hi","max_tokens":{tokens}}}"#));
            assert_eq!(fault.param.as_deref(), Some("max_tokens"), "{tokens}");
        }
    }

    #[test]
    fn places_have_the_callers_names() {
        let body = r#"{"conversation_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","message":"and?","system":"Brief.",
            "tool_results":[{"tool_call_id":"c1","content":"42"},
            {"tool_call_id":"c2","content":[{"type":"text","text":"4"},{"type":"text","text":"2"}]}]}"#;
        let mut places = decode(body.as_bytes()).ok().unwrap().places;
        // What was said before stands before it.
        places.put_behind(1);
        for (location, named) in [
            ("system[0]", "system"),
            (
                "messages[1].content[0].content[0]",
                "tool_results[0].content",
            ),
            (
                "messages[1].content[1].content[1]",
                "tool_results[1].content[1]",
            ),
            (
                "messages[1].content[0].call_id",
                "tool_results[0].tool_call_id",
            ),
            ("messages[1].content[2]", "message"),
            ("messages[0].content[1]", "messages[0].content[1]"),
            ("tools[0].description", "tools[0].description"),
        ] {
            assert_eq!(places.name(location), named);
        }
        let body = r#"{"message":"and?"}"#;
        let places = decode(body.as_bytes()).ok().unwrap().places;
        assert_eq!(places.name("messages[0].content"), "message");
    }

    #[test]
    fn tool_results_continue_a_conversation_without_a_message() {
        let body = r#"{"conversation_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "tool_results":[{"tool_call_id":"c1","content":"42"}]}"#;
        let request = decode(body.as_bytes()).ok().unwrap();
        assert_eq!(
            request.conversation_id.as_deref(),
            Some("conv_01ARZ3NDEKTSV4RRFFQ69G5FAV")
        );
        assert!(matches!(
            request.chat.messages[0].content[..],
            [Part::ToolResult(_)]
        ));
        assert_eq!(
            refused(r#"{"tool_results":[{"tool_call_id":"c1"}]}"#)
                .param
                .as_deref(),
            Some("tool_results")
        );
    }

    #[test]
    fn a_call_that_never_got_its_arguments_is_not_shown() {
        for (fragment, is_shown) in [("{}", true), ("", false)] {
            let mut out = Vec::new();
            let mut encoder = Encoder::default();
            let start = ChatEvent::ToolCallStart {
                index: 0,
                id: "c".into(),
                name: "f".into(),
            };
            let delta = ChatEvent::ToolCallDelta {
                index: 0,
                fragment: fragment.into(),
            };
            for event in [start, delta, ChatEvent::ToolCallEnd { index: 0 }] {
                assert!(encoder.event(&event, &mut out).is_ok());
            }
            assert_eq!(!out.is_empty(), is_shown, "{fragment}");
        }
    }

    #[test]
    fn frames_are_flat_json_behind_an_event_line() {
        let mut out = Vec::new();
        let mut encoder = Encoder::default();
        assert!(
            encoder
                .event(&ChatEvent::Text("a\n\"b\"".into()), &mut out)
                .is_ok()
        );
        encoder.fail(
            &Code::InferenceUpstreamFailure.fault().from_provider(),
            "req_1",
            &mut out,
        );
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "event: message.delta\ndata: {\"text\":\"a\\n\\\"b\\\"\"}\n\nevent: error\ndata: {\"code\":\
             \"INFERENCE_UPSTREAM_FAILURE\",\"message\":\"The model provider failed.\",\"retryable\":true,\
             \"failure_layer\":\"provider\"}\n\n"
        );
    }
}
