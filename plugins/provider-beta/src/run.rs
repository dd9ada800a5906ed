//! An exchange with kind B: which of its answers mean what.

use driver_kit::Exchange;
use driver_kit::fault::protocol;

use crate::bindings::gateway::provider::types::{ChatRequest, DriverError, Event, UpstreamRequest};
use crate::fault::from_answer;
use crate::request;
use crate::response::Reply;
use crate::wire::Answer;

pub type Run = driver_kit::Run<Reply>;

impl Exchange for Reply {
    fn request(chat: &ChatRequest) -> Result<UpstreamRequest, DriverError> {
        request::build(chat)
    }

    /// Kind B names no events.
    fn frame(&mut self, _name: &str, data: &[u8], events: &mut Vec<Event>) {
        self.stream(data, events);
    }

    fn whole(&mut self, data: &[u8], events: &mut Vec<Event>) {
        match serde_json::from_slice::<Answer<'_>>(data) {
            Ok(answer) => self.completion(&answer, events),
            Err(_) => self.end(protocol("bad_json"), events),
        }
    }

    fn fail(&mut self, error: DriverError, events: &mut Vec<Event>) {
        self.end(error, events);
    }

    fn refusal(status: u16, body: &[u8], retry_after_ms: Option<u64>) -> DriverError {
        let answer = serde_json::from_slice::<Answer<'_>>(body).ok();
        let error = answer.as_ref().and_then(|answer| answer.error.as_ref());
        from_answer(status, error, retry_after_ms)
    }
}

/// One exchange of synthetic words, there and back.
pub fn self_test() -> Result<(), String> {
    driver_kit::self_test::<Reply>(
        br#"{"model":"model","messages":[{"role":"user","content":"ping"}],"max_completion_tokens":1,"stream":true,"stream_options":{"include_usage":true}}"#,
        &[
            r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
            r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{"content":"pong"},"finish_reason":null}],"usage":null}"#,
            r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#,
            r#"{"id":"c","model":"x","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#,
            "[DONE]",
        ],
    )
}
