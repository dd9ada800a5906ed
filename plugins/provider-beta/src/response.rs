//! The provider's answer, streamed or whole, as canonical events. Both forms go through the same few steps, so
//! that they come out the same.

use driver_kit::Exchange;
use driver_kit::fault::protocol;
use driver_kit::json::{Count, mended};
use driver_kit::stop::{self, failure};

use crate::bindings::gateway::provider::types::{
    ChatRequest, DriverError, Event, Finish, FinishReason, UpstreamRequest, Usage,
};
use crate::calls::Calls;
use crate::fault::{from_answer, from_body};
use crate::request;
use crate::wire::{self, Answer, Choice, Delta};

/// What ends a stream.
const DONE: &[u8] = b"[DONE]";
/// Tells a host whose surface has a place for it that the text from here on is a refusal.
const DECLINED: &str = "declined";

/// What is known of the reply so far.
#[derive(Default)]
pub struct Reply {
    started: bool,
    calls: Calls,
    /// The model declined, in words of their own field.
    declined: bool,
    /// The provider's word for the end, once it has come.
    stop: Option<String>,
    done: bool,
    /// The answer came at once.
    is_whole: bool,
}

impl Exchange for Reply {
    type Body<'a> = Answer<'a>;

    fn request(chat: &ChatRequest) -> Result<UpstreamRequest, DriverError> {
        request::build(chat)
    }

    /// Ends the reply badly, unless it has ended.
    fn fail(&mut self, error: DriverError, events: &mut Vec<Event>) {
        if !self.done {
            self.done = true;
            events.push(Event::Failed(error));
        }
    }

    /// Kind B names no events.
    fn frame(&mut self, _name: &str, data: &[u8], events: &mut Vec<Event>) {
        if self.done {
            return;
        }
        if data.trim_ascii() == DONE {
            return self.finish(events);
        }
        match serde_json::from_slice::<Answer<'_>>(data) {
            Ok(answer) => self.take(&answer, events),
            Err(_) => match mended(data) {
                Some(mended) => self.frame("", &mended, events),
                None => self.fail(protocol("bad_json"), events),
            },
        }
    }

    /// A whole answer.
    fn whole(&mut self, answer: &Answer<'_>, events: &mut Vec<Event>) {
        let choices = answer.choices.as_deref().unwrap_or_default();
        if answer.error.is_none() && !choices.iter().any(is_first) {
            return self.fail(protocol("no_choices"), events);
        }
        self.is_whole = true;
        self.take(answer, events);
        self.finish(events);
    }

    fn refusal(status: u16, body: Option<&Answer<'_>>, retry_after_ms: Option<u64>) -> DriverError {
        let error = body.and_then(|body| body.error.as_ref());
        from_answer(status, error, retry_after_ms)
    }
}

impl Reply {
    fn take(&mut self, answer: &Answer<'_>, events: &mut Vec<Event>) {
        if let Some(error) = &answer.error {
            return self.fail(from_body(error), events);
        }
        let choices = answer.choices.as_deref().unwrap_or_default();
        let id = answer.id.as_deref().unwrap_or("");
        // Some endpoints send verdicts on the prompt first, in a chunk of nobody.
        if !self.started && (!id.is_empty() || !choices.is_empty()) {
            self.started = true;
            let model = answer.model.as_deref().unwrap_or("");
            events.push(Event::Started((id.to_owned(), model.to_owned())));
        }
        // One choice was asked for.
        for choice in choices.iter().filter(|choice| is_first(choice)) {
            let said = match self.is_whole {
                true => choice.message.as_ref().or(choice.delta.as_ref()),
                false => choice.delta.as_ref(),
            };
            if let Some(delta) = said {
                self.delta(delta, events);
            }
            let reason = choice.finish_reason.as_deref().unwrap_or("");
            if !reason.is_empty() && self.stop.is_none() {
                self.stop(reason, events);
            }
        }
        // Zeros say that nothing was counted, also behind a chunk that did.
        let counts = answer.usage.as_ref().map(usage);
        let counts = counts.filter(|counts| {
            counts.input_tokens + counts.cache_read_input_tokens + counts.output_tokens > 0
        });
        if let Some(counts) = counts.filter(|_| self.started && !self.done) {
            events.push(Event::Usage(counts));
        }
    }

    fn delta(&mut self, delta: &Delta<'_>, events: &mut Vec<Event>) {
        if let Some(text) = delta.content.as_deref().filter(|text| !text.is_empty()) {
            events.push(Event::Text(text.to_owned()));
        }
        // A refusal must not vanish (wire notes 2, point 28).
        if let Some(text) = delta.refusal.as_deref().filter(|text| !text.is_empty()) {
            if !std::mem::replace(&mut self.declined, true) {
                events.push(Event::Other((DECLINED.to_owned(), b"true".to_vec())));
            }
            events.push(Event::Text(text.to_owned()));
        }
        let calls = delta.tool_calls.as_deref().unwrap_or_default();
        if self.stop.is_some() && !calls.is_empty() {
            return self.fail(protocol("late_tool_call"), events);
        }
        for (place, call) in (0..).zip(calls) {
            let index = call.index.or(self.is_whole.then_some(place));
            self.calls.take(index, call, events);
        }
    }

    fn stop(&mut self, reason: &str, events: &mut Vec<Event>) {
        if let Some(error) = failure(reason) {
            self.fail(error, events);
        } else if self.calls.end(events) {
            self.stop = Some(reason.to_owned());
        } else {
            self.fail(protocol("incomplete_tool_call"), events);
        }
    }

    fn finish(&mut self, events: &mut Vec<Event>) {
        let Some(raw) = self.stop.take().filter(|_| self.started) else {
            return self.fail(protocol("early_done"), events);
        };
        if self.done {
            return;
        }
        self.done = true;
        events.push(Event::Finished(Finish {
            reason: self.reason(&raw),
            raw,
            stop_sequence: None,
            ext: Vec::new(),
        }));
    }

    fn reason(&self, raw: &str) -> FinishReason {
        let reason = match raw {
            "tool_calls" | "function_call" => FinishReason::End,
            raw => stop::reason(raw),
        };
        match reason {
            // A call that the request forced ends with `stop` too, and some endpoints say one of the other words where
            // there is no call.
            FinishReason::End if self.calls.any() => FinishReason::ToolCalls,
            FinishReason::End if self.declined => FinishReason::Refusal,
            reason => reason,
        }
    }
}

fn is_first(choice: &Choice<'_>) -> bool {
    choice.index == 0
}

/// Kind B counts what it read from the cache as part of the prompt.
fn usage(counts: &wire::Usage) -> Usage {
    let number = |count: Option<Count>| count.map_or(0, |Count(number)| number);
    let prompt = number(counts.prompt_tokens);
    let details = counts.prompt_tokens_details.as_ref();
    let cached = number(details.and_then(|details| details.cached_tokens)).min(prompt);
    Usage {
        input_tokens: prompt - cached,
        output_tokens: number(counts.completion_tokens),
        cache_read_input_tokens: cached,
        cache_creation_input_tokens: 0,
        ext: Vec::new(),
    }
}
