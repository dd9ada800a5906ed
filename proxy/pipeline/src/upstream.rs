//! The way out: what the pipeline asks of a connector. The edge implements it over pingora's connection pool;
//! inference, integrations and webhooks share it, each with its own target and address rules.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, StatusCode};

/// Where requests go: one provider, one integration, one webhook endpoint.
#[derive(Clone, Debug)]
pub struct Target {
    /// Enters the pool key and, of operators' targets, the metrics; two targets never share a connection.
    pub name: Arc<str>,
    pub chosen_by: ChosenBy,
    pub tls: bool,
    /// Host name or address literal, without brackets.
    pub host: Arc<str>,
    pub port: u16,
    /// Prefix of every path, without a trailing slash (`/v1` of a base address); may be empty.
    pub base_path: Arc<str>,
    /// PEM file of the authorities to trust in place of the system's.
    pub ca_file: Option<PathBuf>,
    pub deadlines: Deadlines,
}

/// Who has decided where requests go: addresses that callers choose are held against the rules of contract 15.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    Operator,
    Caller {
        /// The word in metrics: callers may make any number of targets.
        label: &'static str,
    },
}

impl Target {
    /// The word in metrics.
    pub fn label(&self) -> &str {
        match self.chosen_by {
            ChosenBy::Operator => &self.name,
            ChosenBy::Caller { label } => label,
        }
    }

    /// A driver's path as it stands below the base path. Drivers of the two common formats give paths from the root
    /// (`/v1/messages`), so a base address with a trailing `/v1` means the same as one without.
    pub fn below<'p>(&self, path: &'p str) -> &'p str {
        let behind = path.strip_prefix(VERSION);
        match behind.filter(|behind| behind.starts_with('/')) {
            Some(behind) if self.base_path.ends_with(VERSION) => behind,
            _ => path,
        }
    }
}

const VERSION: &str = "/v1";

/// How long an upstream may take. `idle` begins anew with every piece of the body, `connect` and `head` with a second
/// connection, `total` never.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    /// Name resolution, TCP and TLS together.
    pub connect: Duration,
    /// From the last request byte to the response head.
    pub head: Duration,
    /// Between two reads of the body.
    pub idle: Duration,
    /// From the call to the last body byte.
    pub total: Duration,
}

/// One outbound request, body and all. `Host`, `Content-Length` and framing are the connector's.
pub struct OutboundRequest {
    pub method: Method,
    /// Starts with `/`; joined to the target's base path.
    pub path_and_query: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub repetition: Repetition,
    pub reached: Reached,
}

/// What it would mean that an upstream gets a request twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// The same as once, or no harm.
    Harmless,
    /// A second deed (RFC 9110, 9.2.2): one that may have arrived whole is not sent again.
    Harmful,
}

impl Repetition {
    /// As its method says.
    pub fn of(method: &Method) -> Self {
        if method.is_idempotent() {
            Self::Harmless
        } else {
            Self::Harmful
        }
    }
}

/// The address that a request went to or was tried at last, for whoever keeps its own copy and asks afterwards.
#[derive(Clone, Debug, Default)]
pub struct Reached(Arc<Mutex<Option<IpAddr>>>);

impl Reached {
    /// Notes where the request is going now.
    pub fn note(&self, address: IpAddr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
    }

    /// `None` before a connection was tried.
    pub fn address(&self) -> Option<IpAddr> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer whose body is still to be read.
pub struct InboundResponse {
    /// Whatever it is: judging it is the caller's.
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Box<dyn InboundBody>,
}

/// Bytes as they come. Dropping it closes (HTTP/1) or resets (HTTP/2) the exchange; a body read to its clean
/// end gives the connection back to the pool.
pub trait InboundBody: Send {
    /// The next bytes, `None` at the clean end. A connection that ends before the framing says so is
    /// [`UpstreamError::Truncated`].
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, UpstreamError>>;
}

/// Why a body is not there as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    #[error("the answer is too long")]
    TooLong,
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
}

/// Reads a body to its end.
///
/// # Errors
/// The upstream's, or more than `most_bytes`.
pub async fn whole(mut body: Box<dyn InboundBody>, most_bytes: usize) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    while let Some(more) = body.next().await? {
        if bytes.len() + more.len() > most_bytes {
            return Err(Unread::TooLong);
        }
        bytes.extend_from_slice(&more);
    }
    Ok(bytes)
}

/// Reads on to the end of a body that nobody asks for, so that its connection can be used again; one that is longer than
/// `most_bytes`, or breaks, loses it.
pub async fn drain(mut body: Box<dyn InboundBody>, most_bytes: usize) {
    let mut read = 0_usize;
    while let Ok(Some(bytes)) = body.next().await {
        read = read.saturating_add(bytes.len());
        if read > most_bytes {
            return;
        }
    }
}

/// Why an upstream did not answer. No text of the upstream is in here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    #[error("the name could not be resolved")]
    Resolve,
    #[error("the address is not allowed")]
    Forbidden,
    #[error("the connection was refused or failed")]
    Connect,
    #[error("the TLS handshake failed")]
    Tls,
    #[error("connecting took too long")]
    ConnectTimeout,
    #[error("the response head took too long")]
    HeadTimeout,
    #[error("the body stood still too long")]
    IdleTimeout,
    #[error("the whole exchange took too long")]
    TotalTimeout,
    #[error("the connection broke before the response head")]
    Reset,
    #[error("the body ended before its framing said so")]
    Truncated,
    #[error("the answer is not valid HTTP")]
    Protocol,
}

impl UpstreamError {
    /// Whether the upstream cannot have seen the request, so that another route may be tried.
    pub const fn before_sending(self) -> bool {
        matches!(
            self,
            Self::Resolve | Self::Forbidden | Self::Connect | Self::Tls | Self::ConnectTimeout
        )
    }

    /// The word in metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Forbidden => "forbidden",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::ConnectTimeout => "connect_timeout",
            Self::HeadTimeout => "head_timeout",
            Self::IdleTimeout => "idle_timeout",
            Self::TotalTimeout => "total_timeout",
            Self::Reset => "reset",
            Self::Truncated => "truncated",
            Self::Protocol => "protocol",
        }
    }
}

/// Sends requests to targets over pooled connections.
///
/// Retries by itself only what is safe: a connection that could not be opened (next address), and once a
/// reused connection that failed at once and before any response byte, if the request may be repeated or cannot have
/// arrived whole. Never after a fresh connection took the request.
pub trait Connector: Send + Sync {
    /// Sends `request` and waits for the response head. Dropping the future cancels the exchange.
    fn send(
        &self,
        target: Arc<Target>,
        request: OutboundRequest,
    ) -> BoxFuture<'static, Result<InboundResponse, UpstreamError>>;
}
