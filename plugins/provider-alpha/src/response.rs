//! The provider's answer, streamed or whole, as canonical events. Both forms go through the same few steps, so
//! that they come out the same.

use driver_kit::Exchange;
use driver_kit::fault::protocol;
use driver_kit::json::{Count, mended};
use driver_kit::stop::{self, failure};
use serde_json::json;

use crate::bindings::gateway::provider::types::{
    ChatRequest, DriverError, Event, Finish, FinishReason, UpstreamRequest, Usage,
};
use crate::fault::{from_answer, from_event};
use crate::wire::{Answer, AnswerBlock, Delta, Event as WireEvent, StopDetails};
use crate::{config, request};

/// What is known of the reply so far.
#[derive(Default)]
pub struct Reply {
    started: bool,
    usage: Counts,
    stop: Option<Stop>,
    /// Calls begun; kind A indexes all blocks, canonical events index calls.
    calls: u32,
    open: Vec<OpenBlock>,
    /// Blocks of other kinds between their start and their stop, by the wire's index.
    others: Vec<u64>,
    /// Whether a block of thinking has begun, and nothing came of it yet.
    thinks_of_nothing: bool,
    /// Provider-side tools that have begun: id, type.
    provider_tools: Vec<(String, String)>,
    done: bool,
}

#[derive(Default, Clone, Copy)]
struct Counts {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_creation: u64,
}

struct Stop {
    raw: String,
    sequence: Option<String>,
    /// The word for what made the model refuse.
    category: Option<String>,
}

/// A tool call between its start and its stop.
struct OpenBlock {
    /// The wire's index.
    index: u64,
    call: u32,
    /// Arguments that came with the start, if any; used when no fragment follows.
    input: Option<String>,
    has_fragment: bool,
}

impl Exchange for Reply {
    type Body<'a> = Answer<'a>;

    fn request(chat: &ChatRequest) -> Result<UpstreamRequest, DriverError> {
        request::build(chat, config::get())
    }

    /// Ends the reply badly, unless it has ended.
    fn fail(&mut self, error: DriverError, events: &mut Vec<Event>) {
        if !self.done {
            self.done = true;
            events.push(Event::Failed(error));
        }
    }

    /// One stream event.
    fn frame(&mut self, name: &str, data: &[u8], events: &mut Vec<Event>) {
        if self.done {
            return;
        }
        let Ok(event) = serde_json::from_slice::<WireEvent<'_>>(data) else {
            return match mended(data) {
                Some(mended) => self.frame(name, &mended, events),
                // A heartbeat without data is legal; everything else is JSON.
                None if name == "ping" => events.push(Event::KeepAlive),
                None => self.fail(protocol("bad_json"), events),
            };
        };
        let kind = if event.kind.is_empty() {
            name
        } else {
            &*event.kind
        };
        // A piece of a reply that has not begun.
        let is_piece = kind.starts_with("content_block_") || kind == "message_delta";
        if is_piece && !self.started {
            return self.fail(protocol("no_message_start"), events);
        }
        match kind {
            "message_start" => self.start(event.message.as_ref(), events),
            "content_block_start" => match &event.content_block {
                Some(block) => self.block_start(event.index, block, events),
                None => self.fail(protocol("no_content_block"), events),
            },
            "content_block_delta" => match &event.delta {
                Some(delta) => self.block_delta(event.index, delta, events),
                None => self.fail(protocol("no_delta"), events),
            },
            "content_block_stop" => self.block_stop(event.index, events),
            "message_delta" => {
                self.take_usage(event.usage.as_ref());
                if let Some(Delta {
                    stop_reason: Some(raw),
                    stop_sequence,
                    stop_details,
                    ..
                }) = &event.delta
                {
                    self.take_stop(raw, stop_sequence.as_deref(), stop_details.as_ref());
                }
                events.push(self.usage());
                self.fail_as_told(events);
            }
            "message_stop" => self.finish(events),
            "ping" => events.push(Event::KeepAlive),
            "error" => {
                let error = event
                    .error
                    .as_ref()
                    .map_or_else(|| protocol("error_event"), from_event);
                self.fail(error, events);
            }
            // Event types are added over time; clients are told to ignore what they do not know.
            _ => {}
        }
    }

    /// A whole answer.
    fn whole(&mut self, answer: &Answer<'_>, events: &mut Vec<Event>) {
        if let Some(error) = &answer.error {
            return self.fail(from_event(error), events);
        }
        if answer.kind != "message" {
            return self.fail(protocol("not_a_message"), events);
        }
        self.start(Some(answer), events);
        for (index, block) in (0..).zip(whole_blocks(answer)) {
            self.block_start(index, block, events);
            // An empty object counts here: nothing of a whole block is still to come.
            self.fragment(index, input(block).unwrap_or("{}"), events);
            self.block_stop(index, events);
        }
        if let Some(usage) = &answer.usage {
            self.usage.output = number(usage.output_tokens).unwrap_or(0);
        }
        if let Some(raw) = &answer.stop_reason {
            let (sequence, details) = (&answer.stop_sequence, &answer.stop_details);
            self.take_stop(raw, sequence.as_deref(), details.as_ref());
        }
        events.push(self.usage());
        self.fail_as_told(events);
        self.finish(events);
    }

    fn refusal(status: u16, body: Option<&Answer<'_>>, retry_after_ms: Option<u64>) -> DriverError {
        let error = body.and_then(|body| body.error.as_ref());
        from_answer(status, error, retry_after_ms)
    }
}

impl Reply {
    fn start(&mut self, answer: Option<&Answer<'_>>, events: &mut Vec<Event>) {
        let Some(answer) = answer.filter(|_| !self.started) else {
            return self.fail(protocol("message_start"), events);
        };
        self.started = true;
        events.push(Event::Started((
            answer.id.to_string(),
            answer.model.to_string(),
        )));
        self.take_usage(answer.usage.as_ref());
        // The count of output at the start is provisional (wire notes 2, point 34).
        self.usage.output = 0;
        events.push(self.usage());
    }

    fn block_start(&mut self, index: u64, block: &AnswerBlock<'_>, events: &mut Vec<Event>) {
        if block.kind != "tool_use" {
            self.others.push(index);
        }
        match &*block.kind {
            "text" => push_text(&block.text, Event::Text, events),
            "thinking" => {
                self.thinks_of_nothing = true;
                self.think(&block.thinking, events);
                self.sign(&block.signature, events);
            }
            "redacted_thinking" => events.push(Event::RedactedReasoning(block.data.to_string())),
            "tool_use" => {
                let call = self.calls;
                self.calls += 1;
                self.open.push(OpenBlock {
                    index,
                    call,
                    // Every streamed call starts with an empty object, which says nothing yet.
                    input: input(block)
                        .filter(|text| !is_empty(text))
                        .map(str::to_owned),
                    has_fragment: false,
                });
                events.push(Event::ToolCallStart((
                    call,
                    block.id.to_string(),
                    block.name.to_string(),
                )));
            }
            "server_tool_use" => self
                .provider_tools
                .push((block.id.to_string(), block.name.to_string())),
            kind if kind.ends_with("_tool_result") => {
                let begun = self
                    .provider_tools
                    .iter()
                    .find(|(id, _)| *id == *block.tool_use_id);
                let name = begun.map_or_else(
                    || kind.trim_end_matches("_tool_result").to_owned(),
                    |(_, name)| name.clone(),
                );
                events.push(Event::ProviderToolCompleted((
                    name,
                    block.tool_use_id.to_string(),
                )));
            }
            _ => {}
        }
    }

    fn block_delta(&mut self, index: u64, delta: &Delta<'_>, events: &mut Vec<Event>) {
        match &*delta.kind {
            "text_delta" => push_text(&delta.text, Event::Text, events),
            "thinking_delta" => self.think(&delta.thinking, events),
            "signature_delta" => self.sign(&delta.signature, events),
            // The first fragment is empty (wire notes 2, point 10).
            "input_json_delta" if !delta.partial_json.is_empty() => {
                self.fragment(index, &delta.partial_json, events);
            }
            _ => {}
        }
    }

    fn think(&mut self, text: &str, events: &mut Vec<Event>) {
        if !text.is_empty() {
            self.thinks_of_nothing = false;
        }
        push_text(text, Event::Reasoning, events);
    }

    /// A signature without text is of a block of its own, whatever was signed before.
    fn sign(&mut self, signature: &str, events: &mut Vec<Event>) {
        if !signature.is_empty() && std::mem::take(&mut self.thinks_of_nothing) {
            events.push(Event::Reasoning(String::new()));
        }
        push_text(signature, Event::ReasoningSignature, events);
    }

    /// A piece of the arguments of the call in this block, if it is one.
    fn fragment(&mut self, index: u64, text: &str, events: &mut Vec<Event>) {
        if let Some(open) = self.open.iter_mut().find(|open| open.index == index) {
            open.has_fragment = true;
            events.push(Event::ToolCallDelta((open.call, text.to_owned())));
        } else if !self.others.contains(&index) {
            // Some call would be run without it.
            self.fail(protocol("late_tool_call"), events);
        }
    }

    fn block_stop(&mut self, index: u64, events: &mut Vec<Event>) {
        self.others.retain(|other| *other != index);
        if let Some(at) = self.open.iter().position(|open| open.index == index) {
            let open = self.open.swap_remove(at);
            if let Some(input) = open.input.filter(|_| !open.has_fragment) {
                events.push(Event::ToolCallDelta((open.call, input)));
            }
            events.push(Event::ToolCallEnd(open.call));
        }
    }

    /// Ends the reply badly where its provider says so in the place of a reason.
    fn fail_as_told(&mut self, events: &mut Vec<Event>) {
        if let Some(error) = self.stop.as_ref().and_then(|stop| failure(&stop.raw)) {
            self.fail(error, events);
        }
    }

    fn finish(&mut self, events: &mut Vec<Event>) {
        if self.done {
            return;
        }
        let Some(stop) = self
            .stop
            .take()
            .filter(|_| self.started && self.open.is_empty())
        else {
            return self.fail(protocol("early_message_stop"), events);
        };
        self.done = true;
        events.push(Event::Finished(Finish {
            reason: reason(&stop.raw),
            raw: stop.raw,
            stop_sequence: stop.sequence,
            ext: stop.category.iter().map(|word| category(word)).collect(),
        }));
    }

    fn take_stop(&mut self, raw: &str, sequence: Option<&str>, details: Option<&StopDetails<'_>>) {
        let category = details.and_then(|details| details.category.as_deref());
        self.stop = Some(Stop {
            raw: raw.to_owned(),
            sequence: sequence.map(str::to_owned),
            category: category.map(str::to_owned),
        });
    }

    fn take_usage(&mut self, usage: Option<&crate::wire::Usage>) {
        let Some(usage) = usage else { return };
        let counts = &mut self.usage;
        counts.output = number(usage.output_tokens).unwrap_or(counts.output);
        // Of what was read the end may say nothing, or zero.
        for (known, said) in [
            (&mut counts.input, usage.input_tokens),
            (&mut counts.cache_read, usage.cache_read_input_tokens),
            (
                &mut counts.cache_creation,
                usage.cache_creation_input_tokens,
            ),
        ] {
            *known = number(said).unwrap_or(0).max(*known);
        }
    }

    fn usage(&self) -> Event {
        Event::Usage(Usage {
            input_tokens: self.usage.input,
            output_tokens: self.usage.output,
            cache_read_input_tokens: self.usage.cache_read,
            cache_creation_input_tokens: self.usage.cache_creation,
            ext: Vec::new(),
        })
    }
}

/// The blocks of an answer, but for a call at its end that the limit cut off: its input is what had come, and reads as
/// if it were all.
fn whole_blocks<'a, 'b>(answer: &'a Answer<'b>) -> &'a [AnswerBlock<'b>] {
    let is_limit = |raw: &str| matches!(reason(raw), FinishReason::MaxTokens);
    let is_cut = answer.stop_reason.as_deref().is_some_and(is_limit);
    match answer.content.as_slice() {
        [whole @ .., last] if is_cut && last.kind == "tool_use" => whole,
        all => all,
    }
}

/// The input that a call brings along. What is no object goes on as it is: the host refuses such a call, which would
/// otherwise be run without what the model said.
fn input<'a>(block: &AnswerBlock<'a>) -> Option<&'a str> {
    block.input.map(|raw| raw.get())
}

fn is_empty(input: &str) -> bool {
    let inside = input.strip_prefix('{');
    inside.is_some_and(|inside| inside.trim_ascii_start() == "}")
}

fn number(count: Option<Count>) -> Option<u64> {
    count.map(|Count(number)| number)
}

fn push_text(text: &str, event: impl FnOnce(String) -> Event, events: &mut Vec<Event>) {
    if !text.is_empty() {
        events.push(event(text.to_owned()));
    }
}

/// The hint of an end that says what made the model refuse.
fn category(word: &str) -> (String, Vec<u8>) {
    ("category".to_owned(), json!(word).to_string().into_bytes())
}

fn reason(raw: &str) -> FinishReason {
    match raw {
        "pause_turn" => FinishReason::End,
        "tool_use" => FinishReason::ToolCalls,
        raw => stop::reason(raw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hints of the end of a reply whose pieces these are.
    fn hints(pieces: &[&str]) -> Vec<(String, Vec<u8>)> {
        let (mut reply, mut events) = (Reply::default(), Vec::new());
        for piece in pieces {
            reply.frame("", piece.as_bytes(), &mut events);
        }
        match events.pop() {
            Some(Event::Finished(finish)) => finish.ext,
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_refusal_says_its_category_and_no_more() {
        let start = r#"{"type":"message_start","message":{"type":"message","id":"m","model":"a"}}"#;
        let stop = r#"{"type":"message_stop"}"#;
        let refused = |details: &str| {
            let delta = format!(r#"{{"stop_reason":"refusal","stop_details":{details}}}"#);
            let end = format!(r#"{{"type":"message_delta","delta":{delta}}}"#);
            hints(&[start, &end, stop])
        };
        let said = r#"{"type":"refusal","category":"bio","explanation":"They asked how."}"#;
        assert_eq!(
            refused(said),
            [("category".to_owned(), br#""bio""#.to_vec())]
        );
        for nothing in ["null", r#"{"type":"refusal","category":null}"#, "{}"] {
            assert_eq!(refused(nothing), []);
        }
    }
}
