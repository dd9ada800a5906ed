//! Replies of the messages surface, streamed and whole.
//!
//! Clients want blocks strictly one after the other with dense indices; the model may interleave its tool
//! calls. So blocks stand in a queue in the order in which they began: the first is sent as it grows, those
//! behind it wait. It never invents an event kind: some clients fail on unknown ones (wire.md 1).

use std::collections::VecDeque;
use std::io::Write as _;

use serde_json::{Value, json};

use super::usage;
use crate::chat::{ChatEvent, ChatReply, Finish, FinishReason, Part, Usage};
use crate::fault::Fault;
use crate::json;
use crate::surface::{ReplyEncoder, RunHead, RunSummary, Surface, blocks, put};

/// Writes replies of the messages surface.
#[derive(Default)]
pub struct Encoder {
    /// Until `message_start` is written: it waits for the first counts of the input.
    head: Option<RunHead>,
    usage: Usage,
    queue: VecDeque<Block>,
    /// The index of the next block that is begun on the wire.
    next_index: u32,
    has_calls: bool,
}

struct Block {
    body: Body,
    /// The index on the wire, once the block is begun there.
    index: Option<u32>,
}

/// What a block holds and has not sent yet.
enum Body {
    Text(String),
    /// The signature goes out whole at the end: clients replace it with every delta.
    Thinking {
        text: String,
        signature: Option<String>,
    },
    Sealed(String),
    Call {
        call: u32,
        id: String,
        name: String,
        arguments: String,
        ended: bool,
    },
}

/// Spec, Events: keep-alive.
const HEARTBEAT: &[u8] = b"event: ping\ndata: {\"type\":\"ping\"}\n\n";

impl ReplyEncoder for Encoder {
    fn open(&mut self, head: &RunHead, _out: &mut Vec<u8>) {
        self.head = Some(head.clone());
    }

    fn event(&mut self, event: &ChatEvent, out: &mut Vec<u8>) -> Result<(), Fault> {
        match event {
            ChatEvent::Usage(usage) => {
                self.usage = *usage;
                self.begin(out);
            }
            ChatEvent::Started { .. }
            | ChatEvent::KeepAlive
            | ChatEvent::Finished(_)
            // A refusal is text, and the reason of the end tells it.
            | ChatEvent::Declined
            // The wire format has no block for a tool that this surface cannot ask for.
            | ChatEvent::ProviderToolCompleted { .. } => {}
            ChatEvent::Text(_)
            | ChatEvent::Reasoning(_)
            | ChatEvent::ReasoningSignature(_)
            | ChatEvent::RedactedReasoning { .. }
            | ChatEvent::ToolCallStart { .. }
            | ChatEvent::ToolCallDelta { .. }
            | ChatEvent::ToolCallEnd { .. } => {
                self.begin(out);
                self.grow(event);
                self.send(out);
            }
        }
        Ok(())
    }

    fn complete(&mut self, run: &RunSummary<'_>, out: &mut Vec<u8>) {
        self.usage = run.usage;
        self.begin(out);
        while let Some(mut block) = self.queue.pop_front() {
            block.send(&mut self.next_index, out);
            block.close(out);
        }
        let (stop_reason, stop_sequence) = stop_reason(run.finish, self.has_calls);
        let mut delta = json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason, "stop_sequence": stop_sequence},
            "usage": usage(&run.usage),
        });
        tell_refusal(run.finish, &mut delta["delta"]);
        put("message_delta", &delta, out);
        put("message_stop", &json!({"type": "message_stop"}), out);
    }

    fn fail(&mut self, fault: &Fault, request_id: &str, out: &mut Vec<u8>) {
        put(
            "error",
            &Surface::Messages.error_body(fault, request_id),
            out,
        );
    }

    fn heartbeat(&self) -> &'static [u8] {
        HEARTBEAT
    }

    fn whole(&self, reply: &ChatReply, run: &RunSummary<'_>) -> Value {
        let content: Value = reply.content.iter().filter_map(block).collect();
        let has_calls = reply
            .content
            .iter()
            .any(|part| matches!(part, Part::ToolCall(_)));
        let (stop_reason, stop_sequence) = stop_reason(run.finish, has_calls);
        let mut message = message(run.head, &run.usage);
        message["content"] = content;
        message["stop_reason"] = json!(stop_reason);
        message["stop_sequence"] = json!(stop_sequence);
        tell_refusal(run.finish, &mut message);
        message
    }
}

/// The message object as `message_start` shows it: without content and end.
fn message(head: &RunHead, counted: &Usage) -> Value {
    json!({
        "id": head.message_id,
        "type": "message",
        "role": "assistant",
        "model": head.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(counted),
    })
}

/// The counts so far. Until the provider has said how long the prompt is, our own count stands there, never 0
/// (wire.md 2, point 33).
fn known(counted: Usage, head: &RunHead) -> Usage {
    let input_tokens = match counted {
        Usage {
            input_tokens: 0,
            output_tokens: _,
            cache_read_input_tokens: 0,
            cache_creation_input_tokens: 0,
        } => head.estimated_input_tokens,
        counted => counted.input_tokens,
    };
    Usage {
        input_tokens,
        ..counted
    }
}

/// A part as a block of the whole reply; empty text is none (wire.md 2, point 15).
fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text { text, .. } if text.is_empty() => None,
        // Clients want the signature to be there, were it empty.
        Part::Reasoning {
            text,
            signature,
            driver: _,
        } => Some(json!({
            "type": "thinking", "thinking": text, "signature": signature.as_deref().unwrap_or_default(),
        })),
        other => Some(blocks::encode(other)),
    }
}

/// The wire format's words for the end of a reply. Calls decide: kind B says `stop` after a forced one. An end that
/// nobody knows may have cut the reply: it must not look whole.
fn stop_reason(finish: &Finish, has_calls: bool) -> (&'static str, Option<&str>) {
    let stop = finish.stop_sequence.as_deref();
    match finish.reason {
        FinishReason::Stop if has_calls => ("tool_use", None),
        FinishReason::Stop if stop.is_some() => ("stop_sequence", stop),
        FinishReason::Stop => ("end_turn", None),
        FinishReason::Length if finish.raw == CONTEXT_EXCEEDED => (CONTEXT_EXCEEDED, None),
        FinishReason::Length | FinishReason::Other => ("max_tokens", None),
        FinishReason::ToolCalls => ("tool_use", None),
        FinishReason::Refusal | FinishReason::ContentFilter => ("refusal", None),
    }
}

/// What made the model refuse, where the provider says so in a word. Its explanation is left out: a provider's sentences
/// may speak of the prompt.
fn tell_refusal(finish: &Finish, end: &mut Value) {
    if finish.reason == FinishReason::Refusal
        && let Some(category) = &finish.refused_category
    {
        end["stop_details"] = json!({"type": "refusal", "category": category, "explanation": null});
    }
}

/// Finer than `max_tokens`, where the provider speaks this wire format itself.
const CONTEXT_EXCEEDED: &str = "model_context_window_exceeded";

impl Encoder {
    /// `message_start`, once.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some(head) = self.head.take() {
            let message = message(&head, &known(self.usage, &head));
            let data = json!({"type": "message_start", "message": message});
            put("message_start", &data, out);
        }
    }

    /// Takes content in, part by part as [`crate::chat::ReplyBuilder`] does, so that a streamed reply and a
    /// whole one have the same blocks.
    fn grow(&mut self, event: &ChatEvent) {
        let last = self.queue.back_mut().map(|block| &mut block.body);
        match (event, last) {
            (ChatEvent::Text(piece), Some(Body::Text(text))) => text.push_str(piece),
            (ChatEvent::Text(piece), _) => self.add(Body::Text(piece.clone())),
            (
                ChatEvent::Reasoning(piece),
                Some(Body::Thinking {
                    text,
                    signature: None,
                }),
            ) => text.push_str(piece),
            (ChatEvent::Reasoning(piece), _) => self.add(Body::Thinking {
                text: piece.clone(),
                signature: None,
            }),
            (
                ChatEvent::ReasoningSignature(mark),
                Some(Body::Thinking {
                    signature: signature @ None,
                    ..
                }),
            ) => *signature = Some(mark.clone()),
            (ChatEvent::ReasoningSignature(mark), _) => self.add(Body::Thinking {
                text: String::new(),
                signature: Some(mark.clone()),
            }),
            (ChatEvent::RedactedReasoning { data }, _) => self.add(Body::Sealed(data.clone())),
            (ChatEvent::ToolCallStart { index, id, name }, _) => {
                self.has_calls = true;
                self.add(Body::Call {
                    call: *index,
                    id: id.clone(),
                    name: name.clone(),
                    arguments: String::new(),
                    ended: false,
                });
            }
            (ChatEvent::ToolCallDelta { index, fragment }, _) => {
                if let Some(Body::Call { arguments, .. }) = self.call(*index) {
                    arguments.push_str(fragment);
                }
            }
            (ChatEvent::ToolCallEnd { index }, _) => {
                if let Some(Body::Call { ended, .. }) = self.call(*index) {
                    *ended = true;
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, body: Body) {
        self.queue.push_back(Block { body, index: None });
    }

    fn call(&mut self, wanted: u32) -> Option<&mut Body> {
        self.queue
            .iter_mut()
            .rev()
            .map(|block| &mut block.body)
            .find(|body| matches!(body, Body::Call { call, .. } if *call == wanted))
    }

    /// Sends what the first block has, and what stands behind it as soon as the first can grow no more.
    fn send(&mut self, out: &mut Vec<u8>) {
        while let Some(block) = self.queue.front_mut() {
            block.send(&mut self.next_index, out);
            let is_over = match block.body {
                Body::Call { ended, .. } => ended,
                Body::Sealed(_) => true,
                Body::Text(_) | Body::Thinking { .. } => self.queue.len() > 1,
            };
            if !is_over {
                return;
            }
            if let Some(block) = self.queue.pop_front() {
                block.close(out);
            }
        }
    }
}

impl Block {
    /// Begins the block on the wire if it is not yet, and sends what it holds back.
    fn send(&mut self, next_index: &mut u32, out: &mut Vec<u8>) {
        if matches!(&self.body, Body::Text(text) if text.is_empty()) {
            return;
        }
        let index = self.begin(next_index, out);
        match &mut self.body {
            Body::Text(text) => delta(index, ("text_delta", "text"), text, out),
            Body::Thinking { text, .. } => delta(index, ("thinking_delta", "thinking"), text, out),
            Body::Sealed(_) => {}
            Body::Call { arguments, .. } => delta(index, ARGUMENTS, arguments, out),
        }
    }

    /// Ends the block on the wire, if it was ever begun there.
    fn close(self, out: &mut Vec<u8>) {
        let Some(index) = self.index else { return };
        if let Body::Thinking {
            signature: Some(mut signature),
            ..
        } = self.body
        {
            delta(index, ("signature_delta", "signature"), &mut signature, out);
        }
        let data = json!({"type": "content_block_stop", "index": index});
        put("content_block_stop", &data, out);
    }

    fn begin(&mut self, next_index: &mut u32, out: &mut Vec<u8>) -> u32 {
        if let Some(index) = self.index {
            return index;
        }
        let index = *next_index;
        *next_index += 1;
        self.index = Some(index);
        let block = match &self.body {
            Body::Text(_) => json!({"type": "text", "text": ""}),
            Body::Thinking { .. } => json!({"type": "thinking", "thinking": "", "signature": ""}),
            Body::Sealed(data) => json!({"type": "redacted_thinking", "data": data}),
            Body::Call { id, name, .. } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": {}})
            }
        };
        let data = json!({"type": "content_block_start", "index": index, "content_block": block});
        put("content_block_start", &data, out);
        index
    }
}

/// Kind and field of an arguments fragment.
const ARGUMENTS: (&str, &str) = ("input_json_delta", "partial_json");

/// One delta, and the text is spent. The frame that comes hundreds of times per reply goes without an
/// intermediate tree.
fn delta(index: u32, (kind, field): (&str, &str), text: &mut String, out: &mut Vec<u8>) {
    if text.is_empty() {
        return;
    }
    // Writing to memory does not fail.
    let _ = write!(
        out,
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":{index},\
         \"delta\":{{\"type\":\"{kind}\",\"{field}\":"
    );
    json::write(text, out);
    out.extend_from_slice(b"}}\n\n");
    text.clear();
}
