//! Replies of the chat-completions surface, streamed and whole.
//!
//! A refusal stands in the place that the wire format has for one, and in the text too: clients that do not know the
//! place would show nothing (wire.md 2, point 28). Reasoning has no place here. Text before a tool call goes out in a
//! stream and is left out of a whole reply, whose `content` is null then (spec, Endpoints; wire.md 2, point 14).

use std::io::Write as _;

use serde_json::{Value, json};

use super::usage;
use crate::chat::{ChatEvent, ChatReply, Finish, FinishReason, Part};
use crate::fault::Fault;
use crate::json;
use crate::surface::{ReplyEncoder, RunHead, RunSummary, Surface};

/// Writes replies of the chat-completions surface.
#[derive(Default)]
pub struct Encoder {
    /// What every chunk begins with.
    prefix: Vec<u8>,
    /// In order of start, which is their index on the wire. They go out one after the other: some clients lose
    /// the pieces of calls that alternate.
    calls: Vec<Call>,
    /// The call that goes out as it grows; those behind it wait.
    current: usize,
    has_text: bool,
    /// The text is a refusal.
    declines: bool,
}

struct Call {
    /// The canonical index.
    index: u32,
    id: String,
    name: String,
    /// Arguments that were not sent yet.
    arguments: String,
    begun: bool,
    ended: bool,
}

/// Contract 21: a comment, which every client skips; an event would break some (wire.md 1).
const HEARTBEAT: &[u8] = b": keep-alive\n\n";

/// The literal line that ends a good stream.
const DONE: &[u8] = b"data: [DONE]\n\n";

impl ReplyEncoder for Encoder {
    fn open(&mut self, head: &RunHead, out: &mut Vec<u8>) {
        let named = named(head, "chat.completion.chunk").to_string();
        self.prefix = format!("data: {},\"choices\":[", named.trim_end_matches('}')).into_bytes();
        // The role alone: with a content beside it, clients would show "" where a call makes it null.
        self.choice(&json!({"role": "assistant"}), None, out);
    }

    fn event(&mut self, event: &ChatEvent, out: &mut Vec<u8>) -> Result<(), Fault> {
        match event {
            ChatEvent::Text(text) => self.text(text, out),
            ChatEvent::Declined => self.declines = true,
            ChatEvent::ToolCallStart { index, id, name } => {
                self.calls.push(Call {
                    index: *index,
                    id: id.clone(),
                    name: name.clone(),
                    arguments: String::new(),
                    begun: false,
                    ended: false,
                });
                self.send_calls(out);
            }
            ChatEvent::ToolCallDelta { index, fragment } => {
                if let Some(call) = self.call(*index) {
                    call.arguments.push_str(fragment);
                }
                self.send_calls(out);
            }
            ChatEvent::ToolCallEnd { index } => {
                if let Some(call) = self.call(*index) {
                    call.ended = true;
                }
                self.send_calls(out);
            }
            ChatEvent::Reasoning(_)
            | ChatEvent::ReasoningSignature(_)
            | ChatEvent::RedactedReasoning { .. }
            | ChatEvent::ProviderToolCompleted { .. }
            | ChatEvent::Started { .. }
            | ChatEvent::Usage(_)
            | ChatEvent::KeepAlive
            | ChatEvent::Finished(_) => {}
        }
        Ok(())
    }

    fn complete(&mut self, run: &RunSummary<'_>, out: &mut Vec<u8>) {
        for call in &mut self.calls {
            call.ended = true;
        }
        self.send_calls(out);
        let has_calls = !self.calls.is_empty();
        if !has_calls && !self.has_text {
            self.choice(&json!({"content": ""}), None, out);
        }
        let reason = finish_reason(run.finish, has_calls, self.declines);
        self.choice(&json!({}), Some(reason), out);
        // Spec: the last chunk before the terminator, asked for or not.
        out.extend_from_slice(&self.prefix);
        out.extend_from_slice(b"],\"usage\":");
        json::write(&usage(&run.usage), out);
        out.extend_from_slice(b"}\n\n");
        out.extend_from_slice(DONE);
    }

    /// Spec, Events: a terminal line with the error, and no `[DONE]` behind it.
    fn fail(&mut self, fault: &Fault, request_id: &str, out: &mut Vec<u8>) {
        let body = Surface::ChatCompletions.error_body(fault, request_id);
        out.extend_from_slice(b"data: ");
        json::write(&body, out);
        out.extend_from_slice(b"\n\n");
    }

    fn heartbeat(&self) -> &'static [u8] {
        HEARTBEAT
    }

    fn whole(&self, reply: &ChatReply, run: &RunSummary<'_>) -> Value {
        let calls: Vec<Value> = reply.content.iter().filter_map(tool_call).collect();
        let has_calls = !calls.is_empty();
        let refusal = reply.refusal.as_deref();
        let mut message = json!({"role": "assistant", "content": null, "refusal": refusal});
        if has_calls {
            message["tool_calls"] = Value::Array(calls);
        } else {
            message["content"] = Value::String(reply.text());
        }
        let mut choice = json!({
            "index": 0,
            "message": null,
            "logprobs": null,
            "finish_reason": finish_reason(run.finish, has_calls, refusal.is_some()),
        });
        choice["message"] = message;
        let mut body = named(run.head, "chat.completion");
        body["choices"] = Value::Array(vec![choice]);
        body["usage"] = usage(&run.usage);
        body
    }
}

/// What chunks and whole replies name alike.
fn named(head: &RunHead, object: &str) -> Value {
    let RunHead {
        request_id: _,
        message_id,
        conversation_id: _,
        model,
        created,
        estimated_input_tokens: _,
    } = head;
    let bare = message_id.strip_prefix("msg_").unwrap_or(message_id);
    json!({
        "id": format!("chatcmpl_{bare}"),
        "object": object,
        "created": created.unix_seconds(),
        "model": model,
    })
}

fn tool_call(part: &Part) -> Option<Value> {
    match part {
        Part::ToolCall(call) => {
            let arguments = call
                .unparsed()
                .map_or_else(|| call.arguments.to_string(), str::to_owned);
            Some(json!({
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": arguments},
            }))
        }
        _ => None,
    }
}

/// The wire format's words for the end of a reply (wire.md 3). Calls decide: kind B says `stop` after a forced
/// one. An end that nobody knows may have cut the reply: it must not look whole. Who declines in words has finished
/// them: SDKs show a refusal only behind `stop`.
const fn finish_reason(finish: &Finish, has_calls: bool, declines: bool) -> &'static str {
    match finish.reason {
        FinishReason::Refusal if declines => "stop",
        FinishReason::Stop if has_calls => "tool_calls",
        FinishReason::Stop => "stop",
        FinishReason::Length | FinishReason::Other => "length",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Refusal | FinishReason::ContentFilter => "content_filter",
    }
}

impl Encoder {
    /// The frame that comes hundreds of times per reply goes without an intermediate tree.
    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        self.has_text = true;
        out.extend_from_slice(&self.prefix);
        out.extend_from_slice(b"{\"index\":0,\"delta\":{\"content\":");
        json::write(text, out);
        // In one piece with the text: an SDK that reads the text as JSON stops at the first sign of a refusal.
        if self.declines {
            out.extend_from_slice(b",\"refusal\":");
            json::write(text, out);
        }
        out.extend_from_slice(b"},\"finish_reason\":null}]}\n\n");
    }

    fn call(&mut self, index: u32) -> Option<&mut Call> {
        self.calls.iter_mut().rfind(|call| call.index == index)
    }

    /// Sends what the current call has, and those behind it once it has ended.
    fn send_calls(&mut self, out: &mut Vec<u8>) {
        while let Some(call) = self.calls.get_mut(self.current) {
            let at = self.current;
            let begins = !std::mem::replace(&mut call.begun, true);
            let arguments = std::mem::take(&mut call.arguments);
            let ended = call.ended;
            if begins {
                let start = json!({"tool_calls": [{
                    "index": at, "id": call.id, "type": "function",
                    "function": {"name": call.name, "arguments": ""},
                }]});
                self.choice(&start, None, out);
            }
            self.arguments(at, &arguments, out);
            if !ended {
                return;
            }
            self.current += 1;
        }
    }

    /// As [`Self::text`], of the call at `at`.
    fn arguments(&self, at: usize, arguments: &str, out: &mut Vec<u8>) {
        if arguments.is_empty() {
            return;
        }
        out.extend_from_slice(&self.prefix);
        // Writing to memory does not fail.
        let _ = write!(
            out,
            "{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":{at},\"function\":{{\"arguments\":"
        );
        json::write(arguments, out);
        out.extend_from_slice(b"}}]},\"finish_reason\":null}]}\n\n");
    }

    fn choice(&self, delta: &Value, finish_reason: Option<&str>, out: &mut Vec<u8>) {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
        out.extend_from_slice(&self.prefix);
        json::write(&choice, out);
        out.extend_from_slice(b"]}\n\n");
    }
}
