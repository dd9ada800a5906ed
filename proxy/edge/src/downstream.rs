//! The client's side of one exchange: writing with a time limit, noticing that the client left. One small
//! vocabulary for HTTP/1.1 and HTTP/2, so that nobody else needs pingora's session.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HeaderName, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use pingora::http::ResponseHeader;
use pingora::protocols::http::ServerSession;
use svc_pipeline::response::{Body, Response};

use crate::socket::hold_back;
use crate::watched::Pace;

/// 64 KiB: one write, so that the time limit of a write means progress and not the whole body.
const SLICE_BYTES: usize = 64 * 1024;
/// A client that sends on after its answer began is read so far, to see whether it leaves.
const DISCARD_BYTES: usize = 1024 * 1024;

/// The client cannot be reached any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone;

pub(crate) struct Downstream<'a> {
    session: &'a mut ServerSession,
    pace: &'a Pace,
    write_limit: Duration,
    asked: Asked,
    discarded: usize,
    /// Whether the kernel keeps what is written.
    held: bool,
}

/// What the framing of a response depends on.
#[derive(Clone, Copy)]
struct Asked {
    head: bool,
    http1_1: bool,
}

enum Framing {
    /// `None` where a body is forbidden.
    Length(Option<usize>),
    UntilEnd,
}

impl<'a> Downstream<'a> {
    pub(crate) fn new(
        session: &'a mut ServerSession,
        pace: &'a Pace,
        write_limit: Duration,
    ) -> Self {
        let header = session.req_header();
        let asked = Asked {
            head: header.method == Method::HEAD,
            http1_1: header.version == Version::HTTP_11,
        };
        Self::asked(session, pace, write_limit, asked)
    }

    /// For a session whose head could not be read: asking it for one would panic.
    pub(crate) fn headless(
        session: &'a mut ServerSession,
        pace: &'a Pace,
        write_limit: Duration,
    ) -> Self {
        let asked = Asked {
            head: false,
            http1_1: true,
        };
        Self::asked(session, pace, write_limit, asked)
    }

    fn asked(
        session: &'a mut ServerSession,
        pace: &'a Pace,
        write_limit: Duration,
        asked: Asked,
    ) -> Self {
        Self {
            session,
            pace,
            write_limit,
            asked,
            discarded: 0,
            held: false,
        }
    }

    pub(crate) fn session(&mut self) -> &mut ServerSession {
        self.session
    }

    /// Sends a response whose body is at hand; a stream in it is dropped.
    pub(crate) async fn send_whole(&mut self, response: Response) -> Result<(), Gone> {
        let Response {
            status,
            headers,
            body,
        } = response;
        let (length, bytes) = match body {
            Body::Full(bytes) => (Some(bytes.len()), bytes),
            // The length of a stream that nobody wants to see is not known.
            Body::Stream(_) => (None, Bytes::new()),
            Body::Untold { length } => (length, Bytes::new()),
        };
        let bodiless = matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        let length = length.filter(|_| !bodiless);
        self.header(status, headers, Framing::Length(length))
            .await?;
        if !bodiless && !self.is_head() {
            let mut rest = bytes;
            while rest.len() > SLICE_BYTES {
                let slice = rest.split_to(SLICE_BYTES);
                self.write(slice).await?;
            }
            self.write(rest).await?;
        }
        self.end().await
    }

    /// Has the kernel keep what is written for a packet that is filled, or send it.
    pub(crate) fn hold_back(&mut self, held: bool) {
        if self.held != held {
            self.held = held;
            hold_back(self.session.stream(), held);
        }
    }

    pub(crate) fn holds_back(&self) -> bool {
        self.held
    }

    /// Sends the head of a response whose body follows in batches.
    pub(crate) async fn start_stream(
        &mut self,
        status: StatusCode,
        headers: HeaderMap,
    ) -> Result<(), Gone> {
        self.header(status, headers, Framing::UntilEnd).await
    }

    /// Sends and flushes one batch. An empty one would end a chunked body and is skipped.
    pub(crate) async fn write(&mut self, batch: Bytes) -> Result<(), Gone> {
        if batch.is_empty() {
            return Ok(());
        }
        let writing = self.session.write_response_body(batch, false);
        within(self.write_limit, writing).await
    }

    /// Ends the body cleanly.
    pub(crate) async fn end(&mut self) -> Result<(), Gone> {
        let ending = self.session.finish_body();
        within(self.write_limit, ending).await
    }

    pub(crate) async fn say_continue(&mut self) -> Result<(), Gone> {
        // Pingora gives keep-alive up with any head that goes out before the body is in, this one included.
        let keep_alive = self.session.get_keepalive();
        let writing = self.session.write_continue_response();
        within(self.write_limit, writing).await?;
        self.session.set_keepalive(keep_alive);
        Ok(())
    }

    pub(crate) fn is_head(&self) -> bool {
        self.asked.head
    }

    /// Resolves when the client has left. May be dropped and asked again at any time.
    pub(crate) async fn gone(&mut self) {
        while !self.session.is_body_done() {
            if self.discarded >= DISCARD_BYTES {
                return std::future::pending().await;
            }
            match self.session.read_request_body().await {
                Ok(Some(bytes)) => self.discarded += bytes.len(),
                Ok(None) => break,
                Err(_) => return,
            }
        }
        self.pace.swallow_line_ends();
        // Pends for as long as the client stays; pipelined bytes are kept for the next request.
        while self.session.read_body_or_idle(true).await.is_ok() {}
    }

    async fn header(
        &mut self,
        status: StatusCode,
        headers: HeaderMap,
        framing: Framing,
    ) -> Result<(), Gone> {
        let header = response_header(status, headers, &framing, self.asked);
        let writing = self.session.write_response_header(Box::new(header));
        within(self.write_limit, writing).await
    }
}

async fn within(
    limit: Duration,
    writing: impl Future<Output = pingora::Result<()>>,
) -> Result<(), Gone> {
    match tokio::time::timeout(limit, writing).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Gone),
    }
}

/// Framing and connection fields are the edge's alone.
fn response_header(
    status: StatusCode,
    mut headers: HeaderMap,
    framing: &Framing,
    asked: Asked,
) -> ResponseHeader {
    const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
    for ours in [
        CONNECTION,
        CONTENT_LENGTH,
        TRANSFER_ENCODING,
        UPGRADE,
        KEEP_ALIVE,
    ] {
        headers.remove(ours);
    }
    match framing {
        Framing::Length(Some(bytes)) => {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(*bytes));
        }
        Framing::Length(None) => {}
        // HTTP/1.0 has no chunks: there the end of the connection ends the body. HTTP/2 has frames.
        Framing::UntilEnd if asked.http1_1 => {
            headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        Framing::UntilEnd => {}
    }
    let (mut parts, ()) = http::Response::new(()).into_parts();
    parts.status = status;
    parts.headers = headers;
    parts.into()
}
