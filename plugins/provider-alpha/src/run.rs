//! An exchange with kind A: which of its answers mean what.

use driver_kit::Exchange;
use driver_kit::fault::protocol;

use crate::bindings::gateway::provider::types::{ChatRequest, DriverError, Event, UpstreamRequest};
use crate::fault::from_answer;
use crate::response::Reply;
use crate::wire::Answer;
use crate::{config, request};

pub type Run = driver_kit::Run<Reply>;

impl Exchange for Reply {
    fn request(chat: &ChatRequest) -> Result<UpstreamRequest, DriverError> {
        request::build(chat, config::get())
    }

    fn frame(&mut self, name: &str, data: &[u8], events: &mut Vec<Event>) {
        self.stream(name, data, events);
    }

    fn whole(&mut self, data: &[u8], events: &mut Vec<Event>) {
        match serde_json::from_slice::<Answer<'_>>(data) {
            Ok(answer) => self.message(&answer, events),
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
        br#"{"model":"model","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"ping"}]}],"stream":true}"#,
        &[
            r#"{"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":1,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"pong"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
            r#"{"type":"message_stop"}"#,
        ],
    )
}
