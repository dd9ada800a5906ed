//! A response as the edge takes it over: head and whole body, or head and a stream of batches.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, StatusCode};
use svc_core::fault::Fault;

/// What a request ends in.
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Body,
}

/// What follows the head of a response.
pub enum Body {
    /// Sent with Content-Length.
    Full(Bytes),
    /// Sent chunked, each batch flushed as it comes.
    Stream(Box<dyn ByteStream>),
    /// Of an answer to HEAD that somebody else gave: nothing but the length that GET would have, where they say it.
    Untold { length: Option<usize> },
}

/// What keeps intermediaries from closing a silent stream.
#[derive(Clone)]
pub struct Heartbeat {
    /// Silence on the downstream side after which `bytes` are sent.
    pub interval: Duration,
    pub bytes: Bytes,
}

/// A body that is still being made. Dropping it cancels the work behind it, upstream included.
pub trait ByteStream: Send {
    /// The next batch, never empty; `None` ends the body cleanly. The edge polls one such future to its end
    /// and drops it only together with the stream, or to call [`ByteStream::abort`].
    fn next(&mut self) -> BoxFuture<'_, Option<Bytes>>;

    /// Whether nothing comes any more: the next batch is the end.
    fn is_over(&self) -> bool {
        false
    }

    /// What to send while [`ByteStream::next`] is pending.
    fn heartbeat(&self) -> Option<Heartbeat>;

    /// Ends the stream before its time (shutdown): what was seen is settled, and the surface's error event
    /// for `fault` comes back as the last bytes to send.
    fn abort(self: Box<Self>, fault: Fault) -> BoxFuture<'static, Bytes>;
}
