//! One inference run: which half of the answer comes next, and how it may end.

use std::cell::RefCell;

use crate::bindings::exports::gateway::provider::driver::{self, End, Frame, GuestRun};
use crate::bindings::gateway::provider::types::{
    ChatRequest, DriverError, ErrorKind, Event, Framing, Header, Message, Part, PartBody, Role,
    UpstreamRequest,
};
use crate::fault::{from_answer, plain, protocol, retry_after_ms};
use crate::request;
use crate::response::Reply;
use crate::wire::Answer;

pub const CONTENT_TYPE: &str = "content-type";

#[derive(Default)]
pub struct Run(RefCell<State>);

#[derive(Default)]
struct State {
    reply: Reply,
    body: Body,
    /// Of an error status.
    retry_after_ms: Option<u64>,
}

/// What `push` gets to see.
#[derive(Default)]
enum Body {
    #[default]
    Stream,
    Whole,
    Error(u16),
}

impl GuestRun for Run {
    fn start(request: ChatRequest) -> Result<(driver::Run, UpstreamRequest), DriverError> {
        let upstream = request::build(&request)?;
        Ok((driver::Run::new(Self::default()), upstream))
    }

    fn head(&self, status: u16, headers: Vec<Header>) -> Result<Framing, DriverError> {
        self.0.borrow_mut().head(status, &headers)
    }

    fn push(&self, data: Vec<u8>, frames: Vec<Frame>) -> Result<Vec<Event>, DriverError> {
        let mut state = self.0.borrow_mut();
        let mut events = Vec::with_capacity(frames.len());
        for frame in frames {
            // Kind B names no events.
            let payload = data
                .get(frame.data_start as usize..frame.data_end as usize)
                .ok_or_else(|| plain(ErrorKind::Internal, Some("frame_range")))?;
            state.push(payload, &mut events)?;
        }
        Ok(events)
    }

    fn close(&self, how: End) -> Vec<Event> {
        let mut state = self.0.borrow_mut();
        let mut events = Vec::new();
        let error = match (how, &state.body) {
            // The status said it all: the body was empty or never came.
            (_, Body::Error(status)) => from_answer(*status, None, state.retry_after_ms),
            (End::TimedOut, _) => plain(ErrorKind::UpstreamFailure, Some("timed_out")),
            (End::Reset, _) => plain(ErrorKind::UpstreamFailure, Some("reset")),
            (End::Cancelled, _) => plain(ErrorKind::Other, Some("cancelled")),
            (End::Complete | End::Truncated, _) => protocol("truncated"),
        };
        state.reply.fail(error, &mut events);
        events
    }
}

impl State {
    fn head(&mut self, status: u16, headers: &[Header]) -> Result<Framing, DriverError> {
        let find = |wanted: &str| {
            headers
                .iter()
                .find(|header| header.name.eq_ignore_ascii_case(wanted))
        };
        let content_type = find(CONTENT_TYPE)
            .map_or("", |header| header.value.as_str())
            .to_ascii_lowercase();
        if !(200..300).contains(&status) {
            let wait =
                find(crate::fault::RETRY_AFTER_MS).or_else(|| find(crate::fault::RETRY_AFTER));
            self.retry_after_ms =
                wait.and_then(|header| retry_after_ms(&header.name, &header.value));
            if !content_type.starts_with("application/json") {
                return Err(from_answer(status, None, self.retry_after_ms));
            }
            self.body = Body::Error(status);
            return Ok(Framing::WholeBody);
        }
        if content_type.starts_with("text/event-stream") {
            return Ok(Framing::Sse);
        }
        if content_type.starts_with("application/json") {
            self.body = Body::Whole;
            return Ok(Framing::WholeBody);
        }
        Err(protocol("content_type"))
    }

    fn push(&mut self, data: &[u8], events: &mut Vec<Event>) -> Result<(), DriverError> {
        match self.body {
            Body::Stream => self.reply.stream(data, events),
            Body::Whole => match serde_json::from_slice::<Answer<'_>>(data) {
                Ok(answer) => self.reply.whole(&answer, events),
                Err(_) => self.reply.fail(protocol("bad_json"), events),
            },
            Body::Error(status) => {
                let answer = serde_json::from_slice::<Answer<'_>>(data).ok();
                let error = answer.as_ref().and_then(|answer| answer.error.as_ref());
                return Err(from_answer(status, error, self.retry_after_ms));
            }
        }
        Ok(())
    }
}

/// One exchange of synthetic words, there and back.
pub fn self_test() -> Result<(), String> {
    let request = ChatRequest {
        model: "model".to_owned(),
        system: Vec::new(),
        messages: vec![Message {
            role: Role::User,
            content: vec![Part {
                body: PartBody::Text("ping".to_owned()),
                cache_mark: None,
                ext: Vec::new(),
            }],
            name: None,
            ext: Vec::new(),
        }],
        tools: Vec::new(),
        tool_choice: None,
        parallel_tool_calls: None,
        max_output_tokens: Some(1),
        temperature: None,
        top_p: None,
        top_k: None,
        stop_sequences: Vec::new(),
        response_format: None,
        reasoning_tokens: None,
        metadata: Vec::new(),
        streaming: true,
        ext: Vec::new(),
    };
    let upstream = request::build(&request).map_err(|error| format!("{:?}", error.kind))?;
    let expected = br#"{"model":"model","messages":[{"role":"user","content":"ping"}],"max_completion_tokens":1,"stream":true,"stream_options":{"include_usage":true}}"#;
    if upstream.body != expected {
        return Err("the request does not come out as it should".to_owned());
    }
    let mut state = State::default();
    let mut events = Vec::new();
    for data in [
        r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}"#,
        r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{"content":"pong"},"finish_reason":null}],"usage":null}"#,
        r#"{"id":"c","model":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#,
        r#"{"id":"c","model":"x","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#,
        "[DONE]",
    ] {
        state.reply.stream(data.as_bytes(), &mut events);
    }
    match events.as_slice() {
        [
            Event::Started(_),
            Event::Text(text),
            Event::Usage(_),
            Event::Finished(_),
        ] if text == "pong" => Ok(()),
        _ => Err("the answer does not come out as it should".to_owned()),
    }
}
