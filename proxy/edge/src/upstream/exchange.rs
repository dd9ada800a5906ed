//! One attempt at one exchange over one connection: the request out, the head in, the body in pieces. Knows
//! which failures leave no doubt that the upstream did nothing.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING,
    UPGRADE,
};
use http::{HeaderMap, Method, StatusCode, Uri};
use pingora::http::RequestHeader;
use pingora::protocols::http::client::HttpSession;
use pingora::upstreams::peer::HttpPeer;
use pingora::{Error, ErrorType, RetryType};
use prometheus::IntGauge;
use svc_pipeline::upstream::{
    InboundBody, InboundResponse, OutboundRequest, Repetition, Target, UpstreamError,
};
use tokio::time::Instant;

use super::Inner;
use crate::socket::hold_back;
use crate::timer::LazyTimer;

type Session = HttpSession<()>;

/// A connection in use. Dropped, it closes (HTTP/1) or resets its stream (HTTP/2).
pub(super) struct Held {
    session: Option<Session>,
    connector: Arc<Inner>,
    peer: HttpPeer,
    usual_group: u64,
    in_flight: IntGauge,
}

impl Held {
    pub(super) fn new(
        session: Session,
        connector: Arc<Inner>,
        peer: HttpPeer,
        usual_group: u64,
        in_flight: IntGauge,
    ) -> Self {
        in_flight.inc();
        Self {
            session: Some(session),
            connector,
            peer,
            usual_group,
            in_flight,
        }
    }

    /// Gives a connection whose response ended cleanly back to the pool.
    async fn release(&mut self) {
        if let Some(session) = self.session.take() {
            // A fresh connection of a repetition joins the usual pool from here on; an HTTP/2 connection
            // stays where pingora has filed it.
            if matches!(session, HttpSession::H1(_)) {
                self.peer.group_key = self.usual_group;
            }
            self.give_back(session).await;
        }
    }

    async fn give_back(&self, session: Session) {
        let Inner {
            pool, pool_idle, ..
        } = &*self.connector;
        pool.release_http_session(session, &self.peer, Some(*pool_idle))
            .await;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.in_flight.dec();
        let Some(mut session) = self.session.take() else {
            return;
        };
        if matches!(session, HttpSession::H2(_)) {
            // Neither waits for HTTP/2: a reset frame is queued, the shared connection goes back to the pool
            // and keeps its idle limit there.
            let _ = session.shutdown().now_or_never();
            let _ = self.give_back(session).now_or_never();
        }
    }
}

/// What a failed attempt means.
pub(super) enum Failure {
    /// A pooled connection that the upstream had closed: it cannot have answered, and may be repeated once.
    Stale,
    Final(UpstreamError),
}

impl From<UpstreamError> for Failure {
    fn from(error: UpstreamError) -> Self {
        Self::Final(error)
    }
}

pub(super) struct Attempt {
    pub(super) session: Held,
    pub(super) target: Arc<Target>,
    pub(super) reused: bool,
    /// Of the whole exchange.
    pub(super) deadline: Instant,
}

impl Attempt {
    /// Sends the request and reads the head.
    pub(super) async fn run(
        mut self,
        request: &OutboundRequest,
    ) -> Result<InboundResponse, Failure> {
        let reused = self.reused;
        let head_limit = self.target.deadlines.head;
        let begun = Instant::now();
        let Some(session) = self.session.session.as_mut() else {
            return Err(UpstreamError::Protocol.into());
        };
        let written = write(session, &self.target, request).await;
        if let Err(error) = &written
            && matches!(error.etype(), ErrorType::InvalidHTTPHeader)
        {
            return Err(UpstreamError::Protocol.into());
        }
        if written.is_err()
            && let HttpSession::H2(stream) = session
        {
            // Nothing went out where not even the head could be queued. Pingora panics when asked for the
            // answer to such a request.
            let unsent = stream.request_header().is_none();
            return Err(if unsent && reused {
                Failure::Stale
            } else {
                UpstreamError::Reset.into()
            });
        }
        // A refusal may come before the request is read whole, and is an answer though our write broke.
        let head = tokio::time::timeout(head_limit, read_head(session)).await;
        match head {
            Err(_) => Err(UpstreamError::HeadTimeout.into()),
            Ok(Err(error)) => {
                let again = if !reused || begun.elapsed() > STALE_WITHIN {
                    Again::Never
                } else if written.is_ok() && request.repetition == Repetition::Harmful {
                    Again::IfUnprocessed
                } else {
                    Again::IfUnanswered
                };
                Err(head_failure(&error, again))
            }
            Ok(Ok((status, headers))) => Ok(InboundResponse {
                status,
                headers,
                body: Box::new(Inbound {
                    reusable: written.is_ok(),
                    state: State::Reading,
                    patience: LazyTimer::new(self.patient_until()),
                    attempt: self,
                }),
            }),
        }
    }

    /// When the body is given up that is waited for from now on.
    fn patient_until(&self) -> Instant {
        let idle = Instant::now() + self.target.deadlines.idle;
        idle.min(self.deadline)
    }
}

async fn write(
    session: &mut Session,
    target: &Target,
    request: &OutboundRequest,
) -> pingora::Result<()> {
    let http2 = matches!(session, HttpSession::H2(_));
    let header = request_header(target, request, http2)?;
    // HTTP/2 carries the end of the stream on its last frame: an empty one after it is counted as abuse.
    if http2 {
        session.write_request_header(Box::new(header)).await?;
        return session.write_request_body(request.body.clone(), true).await;
    }
    if request.body.is_empty() {
        session.write_request_header(Box::new(header)).await?;
        return session.finish_request_body().await;
    }
    hold_back(session.stream(), true);
    let written = async {
        session.write_request_header(Box::new(header)).await?;
        session
            .write_request_body(request.body.clone(), false)
            .await?;
        session.finish_request_body().await
    };
    let written = written.await;
    hold_back(session.stream(), false);
    written
}

/// Fields that belong to one connection (RFC 9110, 7.6.1), and those that are the connector's.
fn is_hop_by_hop(name: &HeaderName, nominated: &[String]) -> bool {
    const OF_OLD: [HeaderName; 2] = [
        HeaderName::from_static("keep-alive"),
        HeaderName::from_static("proxy-connection"),
    ];
    [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE].contains(name)
        || OF_OLD.contains(name)
        || nominated.iter().any(|other| other == name.as_str())
}

fn nominated(headers: &HeaderMap) -> Vec<String> {
    headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect()
}

fn request_header(
    target: &Target,
    request: &OutboundRequest,
    http2: bool,
) -> pingora::Result<RequestHeader> {
    let path = format!("{}{}", target.base_path, request.path_and_query);
    let (mut parts, ()) = http::Request::new(()).into_parts();
    parts.method = request.method.clone();
    parts.headers.reserve(request.headers.len() + 2);
    let nominated = nominated(&request.headers);
    for (name, value) in &request.headers {
        let ours = [HOST, CONTENT_LENGTH].contains(name);
        if !ours && !is_hop_by_hop(name, &nominated) {
            parts.headers.append(name, value.clone());
        }
    }
    let authority = authority(target);
    let uri = if http2 {
        // A path alone is refused by some servers (measured with nginx).
        let scheme = if target.tls { "https" } else { "http" };
        Uri::builder()
            .scheme(scheme)
            .authority(authority)
            .path_and_query(path)
            .build()
    } else {
        let host = HeaderValue::try_from(authority);
        let host = host.map_err(|_| Error::new(ErrorType::InvalidHTTPHeader))?;
        parts.headers.insert(HOST, host);
        Uri::builder().path_and_query(path).build()
    };
    parts.uri = uri.map_err(|_| Error::new(ErrorType::InvalidHTTPHeader))?;
    // Methods without a body say nothing about its length (RFC 9110, 8.6).
    let bodiless = matches!(request.method, Method::GET | Method::HEAD | Method::DELETE);
    if !(bodiless && request.body.is_empty()) {
        let length = HeaderValue::from(request.body.len());
        parts.headers.insert(CONTENT_LENGTH, length);
    }
    Ok(parts.into())
}

/// Host and port as `Host` and `:authority` name them.
fn authority(target: &Target) -> String {
    let host = if target.host.contains(':') {
        format!("[{}]", target.host)
    } else {
        target.host.to_string()
    };
    let usual = if target.tls { 443 } else { 80 };
    if target.port == usual {
        host
    } else {
        format!("{host}:{}", target.port)
    }
}

/// Reads past interim responses to the final head.
async fn read_head(session: &mut Session) -> pingora::Result<(StatusCode, HeaderMap)> {
    // 16 interim responses are more than any server has a reason for.
    const MOST_INTERIM: usize = 16;
    for _ in 0..MOST_INTERIM {
        session.read_response_header().await?;
        let Some(header) = session.response_header() else {
            break;
        };
        if header.status == StatusCode::SWITCHING_PROTOCOLS {
            break;
        }
        if !header.status.is_informational() {
            let nominated = nominated(&header.headers);
            let mut headers = HeaderMap::with_capacity(header.headers.len());
            for (name, value) in &header.headers {
                if !is_hop_by_hop(name, &nominated) {
                    headers.append(name, value.clone());
                }
            }
            return Ok((header.status, headers));
        }
    }
    Error::e_explain(ErrorType::InvalidHTTPHeader, "no final response head")
}

/// 1 s: a connection that was closed before the request came says so within a round trip. One that breaks later had an
/// upstream that worked; and whoever lets a request go out has looked at what holds a moment before.
const STALE_WITHIN: Duration = Duration::from_secs(1);

/// When a request may go out once more, over a connection that cannot be stale.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    IfUnanswered,
    /// An upstream that has all of it may have done it before it left: only where it says that it has not.
    IfUnprocessed,
    Never,
}

fn head_failure(error: &Error, again: Again) -> Failure {
    let is_unprocessed = matches!(error.retry, RetryType::Decided(true));
    let is_asked = match again {
        Again::IfUnanswered => true,
        Again::IfUnprocessed => is_unprocessed,
        Again::Never => false,
    };
    if is_asked && left_before_answering(error) {
        return Failure::Stale;
    }
    Failure::Final(match error.etype() {
        ErrorType::InvalidHTTPHeader | ErrorType::InvalidH2 => UpstreamError::Protocol,
        _ => UpstreamError::Reset,
    })
}

/// Whether the upstream closed without a byte of an answer. Pingora marks such errors `ReusedOnly`, but also
/// those where the head had begun; only its text tells them apart (`v1/client.rs`, `read_response`). For
/// HTTP/2 it marks what the upstream says it has not processed (`v2/client.rs`, `handle_read_header_error`).
fn left_before_answering(error: &Error) -> bool {
    const NOTHING: &str = "bytes already read: 0";
    match error.retry {
        RetryType::ReusedOnly => error
            .context
            .as_ref()
            .is_some_and(|context| context.as_str().ends_with(NOTHING)),
        // A broken answer is an answer: the upstream may have done the work.
        RetryType::Decided(again) => again && *error.etype() != ErrorType::InvalidH2,
    }
}

/// Why no connection came about.
pub(super) fn connect_error(error: &Error) -> UpstreamError {
    match error.etype() {
        ErrorType::ConnectTimedout | ErrorType::TLSHandshakeTimedout => {
            UpstreamError::ConnectTimeout
        }
        ErrorType::TLSHandshakeFailure | ErrorType::InvalidCert | ErrorType::TLSWantX509Lookup => {
            UpstreamError::Tls
        }
        _ => UpstreamError::Connect,
    }
}

struct Inbound {
    attempt: Attempt,
    state: State,
    /// Whether the request went out whole: else the connection ends with this exchange.
    reusable: bool,
    patience: LazyTimer,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    Ended,
    Failed(UpstreamError),
}

/// 64 KiB: what is given at once of a body that has arrived in small pieces.
const GATHERED_BYTES: usize = 64 * 1024;

impl InboundBody for Inbound {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, UpstreamError>> {
        async move {
            match self.state {
                State::Ended => return Ok(None),
                State::Failed(error) => return Err(error),
                State::Reading => {}
            }
            match self.read().await {
                Ok(Some(first)) => Ok(Some(self.with_what_arrived(first).await)),
                Ok(None) => {
                    self.end().await;
                    Ok(None)
                }
                Err(error) => {
                    self.fail(error);
                    Err(error)
                }
            }
        }
        .boxed()
    }
}

impl Inbound {
    async fn read(&mut self) -> Result<Option<Bytes>, UpstreamError> {
        let until = self.attempt.patient_until();
        let is_last = until == self.attempt.deadline;
        let Some(session) = self.attempt.session.session.as_mut() else {
            return Ok(None);
        };
        let reading = async {
            loop {
                match session.read_response_body().await {
                    // HTTP/2 may send empty frames; they are no progress.
                    Ok(Some(bytes)) if bytes.is_empty() => {}
                    read => return read,
                }
            }
        };
        tokio::select! {
            biased;
            read = reading => read.map_err(|error| body_error(&error)),
            () = self.patience.reached(until) => Err(if is_last {
                UpstreamError::TotalTimeout
            } else {
                UpstreamError::IdleTimeout
            }),
        }
    }

    /// A piece with those behind it that are here already. Servers send each event of a stream as a chunk of its own;
    /// what comes in one packet is judged and passed on at once. How the body ends is told next time.
    async fn with_what_arrived(&mut self, first: Bytes) -> Bytes {
        let mut gathered = BytesMut::new();
        while first.len().max(gathered.len()) < GATHERED_BYTES {
            match self.arrived() {
                Some(Ok(Some(bytes))) if gathered.is_empty() && !bytes.is_empty() => {
                    gathered.reserve(first.len() + bytes.len());
                    gathered.extend_from_slice(&first);
                    gathered.extend_from_slice(&bytes);
                }
                Some(Ok(Some(bytes))) => gathered.extend_from_slice(&bytes),
                Some(Ok(None)) => {
                    self.end().await;
                    break;
                }
                Some(Err(error)) => {
                    self.fail(error);
                    break;
                }
                None => break,
            }
        }
        if gathered.is_empty() {
            first
        } else {
            gathered.freeze()
        }
    }

    /// The next piece, if nothing has to be waited for. Pingora's reads may be given up at any point.
    fn arrived(&mut self) -> Option<Result<Option<Bytes>, UpstreamError>> {
        let session = self.attempt.session.session.as_mut()?;
        let read = session.read_response_body().now_or_never()?;
        Some(read.map_err(|error| body_error(&error)))
    }

    async fn end(&mut self) {
        self.state = State::Ended;
        if self.reusable {
            self.attempt.session.release().await;
        } else {
            self.attempt.session.session = None;
        }
    }

    fn fail(&mut self, error: UpstreamError) {
        self.state = State::Failed(error);
        let Attempt {
            session, target, ..
        } = &mut self.attempt;
        // Close now: the owner may keep this value for a while yet.
        session.session = None;
        let metrics = &session.connector.metrics;
        metrics
            .errors
            .with_label_values(&[target.label(), error.word()])
            .inc();
    }
}

fn body_error(error: &Error) -> UpstreamError {
    match error.etype() {
        ErrorType::InvalidHTTPHeader | ErrorType::Custom(_) => UpstreamError::Protocol,
        _ => UpstreamError::Truncated,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use svc_pipeline::upstream::{ChosenBy, Deadlines, Reached};

    fn target(host: &str, port: u16) -> Target {
        let second = Duration::from_secs(1);
        Target {
            name: "alpha".into(),
            chosen_by: ChosenBy::Operator,
            tls: true,
            host: host.into(),
            port,
            base_path: "/base".into(),
            ca_file: None,
            deadlines: Deadlines {
                connect: second,
                head: second,
                idle: second,
                total: second,
            },
        }
    }

    fn request() -> OutboundRequest {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, x-mine"),
            ("x-mine", "1"),
            ("host", "evil.example"),
            ("content-length", "99"),
            ("transfer-encoding", "chunked"),
            ("te", "trailers"),
            ("x-kept", "2"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        OutboundRequest {
            method: Method::POST,
            path_and_query: "/v1/messages?a=b".to_owned(),
            headers,
            body: Bytes::from_static(b"body"),
            repetition: Repetition::Harmless,
            reached: Reached::default(),
        }
    }

    #[test]
    fn framing_host_and_hop_by_hop_fields_are_the_connectors() {
        let header = request_header(&target("provider.example", 8443), &request(), false).unwrap();
        let names: Vec<&str> = header.headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-kept", "host", "content-length"]);
        assert_eq!(header.headers[HOST], "provider.example:8443");
        assert_eq!(header.headers[CONTENT_LENGTH], "4");
        assert_eq!(header.uri.to_string(), "/base/v1/messages?a=b");
    }

    #[test]
    fn http2_names_the_authority_in_the_address() {
        let header = request_header(&target("::1", 443), &request(), true).unwrap();
        assert_eq!(header.uri.to_string(), "https://[::1]/base/v1/messages?a=b");
        assert!(!header.headers.contains_key(HOST));
    }

    #[test]
    fn only_silence_on_a_pooled_connection_is_repeated() {
        let mut error = Error::explain(
            ErrorType::ConnectionClosed,
            "while reading response headers, bytes already read: 0",
        );
        error.retry = RetryType::ReusedOnly;
        let is_stale = |error: &Error, again| match head_failure(error, again) {
            Failure::Stale => true,
            Failure::Final(error) => {
                assert_eq!(error, UpstreamError::Reset);
                false
            }
        };
        assert!(is_stale(&error, Again::IfUnanswered));
        // It may have been done.
        assert!(!is_stale(&error, Again::IfUnprocessed));
        assert!(!is_stale(&error, Again::Never));
        let mut unprocessed = Error::explain(ErrorType::H2Error, "refused stream");
        unprocessed.retry = RetryType::Decided(true);
        assert!(is_stale(&unprocessed, Again::IfUnprocessed));
        assert!(!is_stale(&unprocessed, Again::Never));
        let mut begun = Error::explain(
            ErrorType::ConnectionClosed,
            "while reading response headers, bytes already read: 10",
        );
        begun.retry = RetryType::ReusedOnly;
        assert!(!is_stale(&begun, Again::IfUnanswered));
    }
}
