//! The fake as an upstream of load runs: canned answers at the least cost, in the shape of real ones.
//!
//! Checks the credential and nothing else, remembers nothing, obeys no directive.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use memchr::memmem;

use crate::fake_provider::format::Format;
use crate::fake_provider::frame;
use crate::fake_provider::reply::{Ask, compose};
use crate::fake_provider::script::Behaviour;

/// The answers of one format, made once.
#[derive(Clone)]
pub(crate) struct Canned {
    whole: Bytes,
    /// The stream in one piece, for when nothing waits between events.
    stream: Bytes,
    events: Arc<[Bytes]>,
}

/// About thirty events: the length of a short chat answer.
const TEXT: &str = "This is a canned answer of the fake provider. It has the length that a short answer \
                    in a chat has, some three hundred characters, so that a load run moves about as many \
                    bytes and events as a real conversation does. Nothing in it depends on the request \
                    that it answers, and it is always the same.";

impl Canned {
    pub(crate) fn new(format: &Format) -> Self {
        let ask = Ask {
            model: "canned".into(),
            input_chars: 400,
            stream_usage: true,
            ..Ask::default()
        };
        let behaviour = Behaviour {
            text: Some(TEXT.into()),
            ..Behaviour::default()
        };
        let reply = compose(&ask, &behaviour, 0);
        let events: Vec<Bytes> = (format.events)(&reply).iter().map(frame::plain).collect();
        Self {
            whole: (format.whole)(&reply).to_string().into(),
            stream: events.concat().into(),
            events: events.into(),
        }
    }

    /// The canned answer to a request body.
    pub(crate) fn answer(&self, request: &[u8], event_delay: Duration) -> Response {
        let (body, content_type) = if !asks_for_stream(request) {
            (Body::from(self.whole.clone()), "application/json")
        } else if event_delay.is_zero() {
            (Body::from(self.stream.clone()), "text/event-stream")
        } else {
            (self.slow_stream(event_delay), "text/event-stream")
        };
        let mut response = Response::new(body);
        let content_type = HeaderValue::from_static(content_type);
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        response
    }

    fn slow_stream(&self, event_delay: Duration) -> Body {
        let events = Arc::clone(&self.events);
        let sent_none = (events, 0);
        Body::from_stream(stream::unfold(sent_none, move |(events, at)| async move {
            let event = events.get(at)?.clone();
            tokio::time::sleep(event_delay).await;
            Some((Ok::<_, std::convert::Infallible>(event), (events, at + 1)))
        }))
    }
}

/// Looks for `"stream": true` without reading the JSON around it. A text that contains it as JSON would is
/// escaped there, so it does not match.
fn asks_for_stream(request: &[u8]) -> bool {
    const FIELD: &[u8] = b"\"stream\"";
    memmem::find_iter(request, FIELD).any(|at| {
        let value = request.get(at + FIELD.len()..).unwrap_or_default();
        let value = value.trim_ascii_start();
        let value = value.strip_prefix(b":").unwrap_or_default();
        value.trim_ascii_start().starts_with(b"true")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_asked_for_by_the_field_alone() {
        assert!(asks_for_stream(br#"{"stream" : true}"#));
        assert!(asks_for_stream(br#"{"a":"stream","stream":true}"#));
        assert!(!asks_for_stream(
            br#"{"stream":false,"text":"\"stream\":true"}"#
        ));
    }
}
