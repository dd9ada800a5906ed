//! A request as the edge hands it over: head first, body on demand.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http::header::USER_AGENT;
use http::{HeaderMap, Method};
use svc_core::fault::{Code, Fault, invalid};
use tokio::sync::{mpsc, oneshot};

/// Everything known before the first body byte.
pub struct RequestHead {
    /// What the request is called by whoever answers it: its exchange, or the edge in its place.
    pub request_id: String,
    pub method: Method,
    /// Decoded no further than HTTP does: percent escapes stand as sent.
    pub path: String,
    /// Without the question mark.
    pub query: Option<String>,
    pub headers: HeaderMap,
    /// The caller's address: the socket's, or a trusted proxy's word for it.
    pub client: IpAddr,
    /// When the head was complete; durations count from here.
    pub received: Instant,
    pub cut_off: CutOff,
}

/// Longest user agent that is kept.
const MAX_USER_AGENT_CHARS: usize = 256;

impl RequestHead {
    /// What the client calls itself, as it was sent: some write their names as UTF-8. What is no text has marks in its
    /// place.
    pub fn user_agent(&self) -> Option<String> {
        let sent = self.headers.get(USER_AGENT)?;
        let text = String::from_utf8_lossy(sent.as_bytes());
        Some(text.chars().take(MAX_USER_AGENT_CHARS).collect())
    }
}

/// Whether the gateway breaks off what is still open because its time to leave is over. One for all requests of an
/// edge, which says so before it drops them: who is dropped without it was left by its client.
#[derive(Clone, Debug, Default)]
pub struct CutOff(Arc<AtomicBool>);

impl CutOff {
    /// From now on what is dropped was broken off here.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether [`Self::begin`] was called.
    pub fn has_begun(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Why a body did not arrive whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    #[error("the body is longer than the limit of {limit_bytes} bytes")]
    TooLarge { limit_bytes: usize },
    #[error("the body did not arrive in time")]
    TimedOut,
    /// Where it ends cannot be told (RFC 9112, 7.1). Its sender is still there to be told so.
    #[error("the body is not framed as HTTP says")]
    Misframed,
    /// The client left; nobody is there to answer.
    #[error("the client is gone")]
    Gone,
}

impl From<BodyError> for Fault {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge { limit_bytes } => Code::PayloadTooLarge
                .fault()
                .at("$body")
                .detail("limit_bytes", limit_bytes),
            BodyError::TimedOut => invalid("$body", "did not arrive in time"),
            BodyError::Misframed => invalid("$body", "is not framed as HTTP says"),
            BodyError::Gone => Fault::unavailable("the client left before its body was complete"),
        }
    }
}

/// One wish for the whole body; the edge answers it once, under its own total deadline.
pub struct BodyDemand {
    /// A longer body is [`BodyError::TooLarge`].
    pub limit_bytes: usize,
    pub answer: oneshot::Sender<Result<Bytes, BodyError>>,
}

/// The pipeline's end: filters read the body when its turn comes (contract 2, step 9) and not before, so
/// that an unknown caller cannot make the gateway buffer anything.
pub struct BodyReader {
    demands: mpsc::Sender<BodyDemand>,
}

/// The edge's end.
pub type BodyDemands = mpsc::Receiver<BodyDemand>;

/// Both ends of a request body.
pub fn body() -> (BodyReader, BodyDemands) {
    let (demands, receiver) = mpsc::channel(1);
    (BodyReader { demands }, receiver)
}

impl BodyReader {
    /// Reads the whole body. The second call finds it empty, as HTTP would.
    ///
    /// # Errors
    /// [`BodyError`]; after `Gone` no response can be delivered.
    pub async fn read(&mut self, limit_bytes: usize) -> Result<Bytes, BodyError> {
        let (answer, whole) = oneshot::channel();
        self.demands
            .send(BodyDemand {
                limit_bytes,
                answer,
            })
            .await
            .map_err(|_| BodyError::Gone)?;
        whole.await.map_err(|_| BodyError::Gone)?
    }
}
