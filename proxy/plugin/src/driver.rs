//! Provider drivers: the canonical request in, the upstream request out; frames in, canonical events out.

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::{Map, Value};
use svc_core::chat::{ChatEvent, ChatRequest};
use svc_core::sse::Frame;

use crate::error::PluginError;

/// What a driver starts from.
pub struct DriverRequest<'a> {
    pub chat: &'a ChatRequest,
    /// The provider's own model name.
    pub model: &'a str,
    /// What the model catalogue adds, by canonical name; goes before the request's own `ext`.
    pub extra: &'a Map<String, Value>,
}

/// The request that the host sends; it adds base address, host name and credential.
pub struct UpstreamRequest {
    pub method: Method,
    /// Starts with one `/`; may have a query.
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub framing: Framing,
}

/// How the answer is cut for [`DriverRun::push`] and [`DriverRun::push_bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// The whole body in one [`DriverRun::push_bytes`].
    WholeBody,
    /// One frame per server-sent event: [`DriverRun::push`].
    Sse,
    /// One [`DriverRun::push_bytes`] per line.
    JsonLines,
    /// Chunks as they come.
    Raw,
}

/// How the upstream connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    Complete,
    Truncated,
    TimedOut,
    Reset,
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    A,
    B,
    Custom,
}

/// What a driver says it can honour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    pub streaming: bool,
    pub tools: bool,
    pub parallel_tool_calls: bool,
    pub tool_choice_named: bool,
    pub strict_tools: bool,
    pub images: bool,
    pub image_urls: bool,
    pub documents: bool,
    pub document_urls: bool,
    pub reasoning: bool,
    pub reasoning_budget: bool,
    pub prompt_cache: bool,
    pub temperature: bool,
    pub top_p: bool,
    pub top_k: bool,
    pub stop_sequences: bool,
    pub json_object: bool,
    pub json_schema: bool,
    pub metadata: bool,
    pub token_count: bool,
}

/// Where the host puts the secret; `template` holds one `{secret}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthPlacement {
    None,
    Header {
        name: http::HeaderName,
        template: String,
    },
    Query {
        name: String,
    },
    /// A signing scheme of the host, by name.
    HostSigned {
        scheme: String,
    },
}

/// What a driver makes of a failure; mirrors `driver-error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverFaultKind {
    UnsupportedParameter,
    InvalidRequest,
    UpstreamAuth,
    RateLimited,
    Overloaded,
    ContextTooLong,
    ContentRefused,
    ModelUnavailable,
    UpstreamFailure,
    Protocol,
    Internal,
    Other,
}

/// A failure as the driver reports it. Machine words only: at most 64 of `[A-Za-z0-9_.:-]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the driver reports {kind:?} (code {upstream_code:?}, parameter {param:?})")]
pub struct DriverFault {
    pub kind: DriverFaultKind,
    pub param: Option<String>,
    pub upstream_code: Option<String>,
    pub retryable: bool,
    pub retry_after_ms: Option<u64>,
}

/// Either the driver reports a failure or the driver itself failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriverFailure {
    #[error(transparent)]
    Fault(#[from] DriverFault),
    #[error(transparent)]
    Plugin(#[from] PluginError),
}

/// One admitted version of a driver.
pub struct Driver {}

impl Driver {
    pub fn id(&self) -> &str {
        ""
    }

    pub fn version(&self) -> &str {
        ""
    }

    pub fn kind(&self) -> ProviderKind {
        ProviderKind::Custom
    }

    pub fn features(&self) -> Features {
        Features::default()
    }

    /// Where the credential goes; from the manifest, never from the guest.
    pub fn auth(&self) -> &AuthPlacement {
        &AuthPlacement::None
    }

    /// Builds the upstream request on a fresh instance, which the run then owns.
    ///
    /// # Errors
    /// [`DriverFailure::Fault`] when the request cannot be represented, [`DriverFailure::Plugin`] when the
    /// driver failed.
    pub async fn start(
        &self,
        _request: &DriverRequest<'_>,
    ) -> Result<(DriverRun, UpstreamRequest), DriverFailure> {
        Err(PluginError::Sandbox.into())
    }
}

/// One inference run. Dropping it ends the guest.
pub struct DriverRun {}

impl DriverRun {
    /// Hands over the status and the headers that the driver asked for; answers how to cut the body.
    ///
    /// # Errors
    /// [`DriverFailure`]; the run is over then.
    pub async fn head(
        &mut self,
        _status: u16,
        _headers: &HeaderMap,
    ) -> Result<Framing, DriverFailure> {
        Err(PluginError::Sandbox.into())
    }

    /// Hands over the events that have arrived and appends what they mean to `events`, also what came before
    /// a failure.
    ///
    /// # Errors
    /// [`DriverFailure`]; the run is over then.
    pub async fn push(
        &mut self,
        _frames: &[Frame],
        _events: &mut Vec<ChatEvent>,
    ) -> Result<(), DriverFailure> {
        Err(PluginError::Sandbox.into())
    }

    /// As [`DriverRun::push`], for the framings without event names: one frame.
    ///
    /// # Errors
    /// [`DriverFailure`]; the run is over then.
    pub async fn push_bytes(
        &mut self,
        _data: &[u8],
        _events: &mut Vec<ChatEvent>,
    ) -> Result<(), DriverFailure> {
        Err(PluginError::Sandbox.into())
    }

    /// Whether the last event (`Finished`) has come; the rest of the body is of no interest.
    pub fn finished(&self) -> bool {
        false
    }

    /// Ends the run; after it `events` ends with `Finished`, or this is an error.
    ///
    /// # Errors
    /// [`DriverFailure`], among them a stream that ended early.
    pub async fn close(
        self,
        _end: StreamEnd,
        _events: &mut Vec<ChatEvent>,
    ) -> Result<(), DriverFailure> {
        Err(PluginError::Sandbox.into())
    }
}
