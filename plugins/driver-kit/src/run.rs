//! One inference run over HTTP: which half of the answer comes next, and how it may end.

use std::cell::RefCell;

use serde::Deserialize;

use crate::bindings::exports::gateway::provider::driver::{self, End, Frame, GuestRun};
use crate::bindings::gateway::provider::types::{
    ChatRequest, DriverError, ErrorKind, Event, Framing, Header, UpstreamRequest,
};
use crate::fault::{plain, protocol};
use crate::json::mended;

/// One exchange in a provider's wire format: the request, and what is known of its answer so far.
///
/// Whatever is handed in after the answer has ended, in success or failure, is passed over.
pub trait Exchange: Default + 'static {
    /// A JSON body: an answer, or an error.
    type Body<'a>: Deserialize<'a>;

    /// Builds the upstream request.
    ///
    /// # Errors
    /// For what the wire format cannot say.
    fn request(chat: &ChatRequest) -> Result<UpstreamRequest, DriverError>;

    /// One frame of a streamed answer; the name is empty where the stream gives none.
    fn frame(&mut self, name: &str, data: &[u8], events: &mut Vec<Event>);

    /// A whole answer.
    fn whole(&mut self, body: &Self::Body<'_>, events: &mut Vec<Event>);

    /// Ends the answer badly, unless it has ended.
    fn fail(&mut self, error: DriverError, events: &mut Vec<Event>);

    /// An error status, with the body that came with it, if it can be read.
    fn refusal(
        status: u16,
        body: Option<&Self::Body<'_>>,
        retry_after_ms: Option<u64>,
    ) -> DriverError;
}

/// The run of a driver with this wire format.
pub struct Run<E>(RefCell<State<E>>);

struct State<E> {
    exchange: E,
    body: Body,
    /// Of an error status.
    retry_after_ms: Option<u64>,
}

/// What `push` gets to see.
enum Body {
    Stream,
    Whole,
    Error(u16),
}

const CONTENT_TYPE: &str = "content-type";
const RETRY_AFTER: &str = "retry-after";
const RETRY_AFTER_MS: &str = "retry-after-ms";

/// What a run looks at in the head of an answer, for `driver-info.wants-headers`.
pub fn wanted_headers() -> Vec<String> {
    [CONTENT_TYPE, RETRY_AFTER, RETRY_AFTER_MS]
        .map(str::to_owned)
        .to_vec()
}

impl<E: Exchange> Default for Run<E> {
    fn default() -> Self {
        Self(RefCell::new(State {
            exchange: E::default(),
            body: Body::Stream,
            retry_after_ms: None,
        }))
    }
}

impl<E: Exchange> GuestRun for Run<E> {
    fn start(request: ChatRequest) -> Result<(driver::Run, UpstreamRequest), DriverError> {
        let upstream = E::request(&request)?;
        Ok((driver::Run::new(Self::default()), upstream))
    }

    fn head(&self, status: u16, headers: Vec<Header>) -> Result<Framing, DriverError> {
        self.0.borrow_mut().head(status, &headers)
    }

    fn push(&self, data: Vec<u8>, frames: Vec<Frame>) -> Result<Vec<Event>, DriverError> {
        let mut state = self.0.borrow_mut();
        let mut events = Vec::with_capacity(frames.len());
        for frame in frames {
            let name = slice(&data, frame.name_start, frame.name_end)?;
            let payload = slice(&data, frame.data_start, frame.data_end)?;
            let name = std::str::from_utf8(name).unwrap_or("");
            state.push(name, payload, &mut events)?;
        }
        Ok(events)
    }

    fn close(&self, how: End) -> Vec<Event> {
        let mut state = self.0.borrow_mut();
        let mut events = Vec::new();
        let error = match (how, &state.body) {
            // The status said it all: the body was empty or never came.
            (_, Body::Error(status)) => E::refusal(*status, None, state.retry_after_ms),
            (End::TimedOut, _) => plain(ErrorKind::UpstreamFailure, Some("timed_out")),
            (End::Reset, _) => plain(ErrorKind::UpstreamFailure, Some("reset")),
            (End::Cancelled, _) => plain(ErrorKind::Other, Some("cancelled")),
            (End::Complete | End::Truncated, _) => protocol("truncated"),
        };
        state.exchange.fail(error, &mut events);
        events
    }
}

impl<E: Exchange> State<E> {
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
            let wait = |name| retry_after_ms(name, &find(name)?.value);
            self.retry_after_ms = wait(RETRY_AFTER_MS).or_else(|| wait(RETRY_AFTER));
            if !content_type.starts_with("application/json") {
                return Err(E::refusal(status, None, self.retry_after_ms));
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

    fn push(
        &mut self,
        name: &str,
        data: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), DriverError> {
        match self.body {
            // An event without data keeps a connection open, and says nothing.
            Body::Stream if data.trim_ascii().is_empty() => {}
            Body::Stream => self.exchange.frame(name, data, events),
            Body::Whole => match serde_json::from_slice::<E::Body<'_>>(unmarked(data)) {
                Ok(body) => self.exchange.whole(&body, events),
                Err(_) => match mended(data) {
                    Some(mended) => return self.push(name, &mended, events),
                    None => self.exchange.fail(protocol("bad_json"), events),
                },
            },
            Body::Error(status) => {
                let body = serde_json::from_slice::<E::Body<'_>>(unmarked(data)).ok();
                return Err(E::refusal(status, body.as_ref(), self.retry_after_ms));
            }
        }
        Ok(())
    }
}

/// Without a byte order mark (wire notes 2, point 37).
fn unmarked(data: &[u8]) -> &[u8] {
    data.strip_prefix("\u{feff}".as_bytes()).unwrap_or(data)
}

fn slice(data: &[u8], start: u32, end: u32) -> Result<&[u8], DriverError> {
    data.get(start as usize..end as usize)
        .ok_or_else(|| plain(ErrorKind::Internal, Some("frame_range")))
}

/// Milliseconds to wait, which some say in parts. The host, which has a clock, shows dates as seconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "no number below zero, and one too large is the largest"
)]
fn retry_after_ms(name: &str, value: &str) -> Option<u64> {
    let number: f64 = value.trim().parse().ok()?;
    let milliseconds = if name == RETRY_AFTER {
        number * 1_000.0
    } else {
        number
    };
    (milliseconds >= 0.0 && milliseconds.is_finite()).then_some(milliseconds.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_milliseconds() {
        assert_eq!(retry_after_ms(RETRY_AFTER, " 3 "), Some(3_000));
        assert_eq!(retry_after_ms(RETRY_AFTER, "2.5"), Some(2_500));
        assert_eq!(retry_after_ms(RETRY_AFTER_MS, "250"), Some(250));
        assert_eq!(retry_after_ms(RETRY_AFTER_MS, "1500.5"), Some(1_501));
        assert_eq!(retry_after_ms(RETRY_AFTER_MS, "-1"), None);
        assert_eq!(retry_after_ms(RETRY_AFTER_MS, "nan"), None);
        assert_eq!(retry_after_ms(RETRY_AFTER, "soon"), None);
    }
}
