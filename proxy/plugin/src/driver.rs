//! Provider drivers: the canonical request in, the upstream request out; frames in, canonical events out.

mod count;
mod events;
mod request;
mod run;
mod upstream;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method};
use serde_json::{Map, Value};
use svc_core::chat::ChatRequest;

use crate::bindings::provider::exports::gateway::provider::{driver as wit, token_count};
use crate::bindings::provider::gateway::provider::types as wit_types;
use crate::error::{AdmissionError, Failed, PluginError};
use crate::manifest::{Auth, NO_SIGNING};
use crate::metrics::{Function, Outcome};
use crate::version::{Version, refuse_unknown, uninformed};
use events::Order;

pub use count::TokenAnswer;
pub use run::DriverRun;

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

/// How the answer is cut for [`DriverRun::push`], [`DriverRun::push_lines`] and [`DriverRun::push_bytes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// The whole body in one [`DriverRun::push_bytes`].
    WholeBody,
    /// One frame per server-sent event: [`DriverRun::push`].
    Sse,
    /// One frame per line: [`DriverRun::push_lines`].
    JsonLines,
    /// Chunks as they come.
    Raw,
}

/// How the upstream connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The body came to its end.
    Complete,
    /// It broke off before its framing said so.
    Truncated,
    /// The upstream took too long.
    TimedOut,
    /// The connection failed in another way.
    Reset,
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

/// A failure as the driver reports it. Machine words only: at most 64 of `[A-Za-z0-9_.:-]`, of `param` brackets too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the driver reports {kind:?} (code {upstream_code:?}, parameter {param:?})")]
pub struct DriverFault {
    pub kind: DriverFaultKind,
    pub param: Option<String>,
    pub upstream_code: Option<String>,
    pub retryable: bool,
    /// What the provider asked for, in milliseconds.
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

/// Most response headers that a driver may ask for.
const MAX_WANTED_HEADERS: usize = 32;
/// What a driver never sees of an answer (provider.wit).
const WITHHELD: [HeaderName; 3] = [
    http::header::SET_COOKIE,
    http::header::AUTHORIZATION,
    http::header::WWW_AUTHENTICATE,
];

/// One admitted version of a driver.
pub struct Driver {
    version: Arc<Version>,
    indices: wit::GuestIndices,
    /// None for a driver that cannot count.
    counting: Option<token_count::GuestIndices>,
    auth: AuthPlacement,
    wanted: Arc<[HeaderName]>,
}

impl Driver {
    /// The id in the manifest, by which the catalogue names it.
    pub fn id(&self) -> &str {
        self.version.id()
    }

    /// The version in the manifest.
    pub fn version(&self) -> &str {
        self.version.number()
    }

    /// Where the credential goes; from the manifest, never from the guest.
    pub fn auth(&self) -> &AuthPlacement {
        &self.auth
    }

    /// Builds the upstream request on a fresh instance, which the run then owns.
    ///
    /// # Errors
    /// [`DriverFailure::Fault`] when the request cannot be represented, [`DriverFailure::Plugin`] when the
    /// driver failed.
    pub async fn start(
        &self,
        request: &DriverRequest<'_>,
    ) -> Result<(DriverRun, UpstreamRequest), Failed<DriverFailure>> {
        let starting = self.start_run(request);
        self.version.measured(Function::Start, starting).await
    }

    async fn start_run(
        &self,
        request: &DriverRequest<'_>,
    ) -> Result<(DriverRun, UpstreamRequest), DriverFailure> {
        let sent = request::to_wit(request);
        let load = |store: &mut _, instance: &_| self.indices.load(store, instance);
        let (mut cell, guest) = self.version.instance(load).await?;
        let (store, allowance) = cell.serving(request::bytes(request));
        let run = guest.run();
        let answer = allowance.serve(run.call_start(store, &sent)).await?;
        let (resource, upstream) = answer.map_err(events::fault)?;
        let upstream = upstream::check(upstream, &self.auth)?;
        let (wanted, version) = (Arc::clone(&self.wanted), Arc::clone(&self.version));
        let order = Order::new(request.chat.stop_sequences.clone());
        let run = DriverRun::new(cell, guest, resource, order, wanted, version);
        Ok((run, upstream))
    }

    /// The part of admission that only drivers have: `info` against the manifest.
    pub(crate) async fn admit(version: Version) -> Result<Self, AdmissionError> {
        let indices = version.exported(wit::GuestIndices::new)?;
        let counts = version.manifest().counts_tokens();
        let counting = counts
            .then(|| version.exported(token_count::GuestIndices::new))
            .transpose()?;
        let load = |store: &mut _, instance: &_| indices.load(store, instance);
        let (mut cell, guest) = version.blank(load).await?;
        let (store, allowance) = cell.admitting();
        let info = allowance.spend(guest.call_info(store)).await;
        // The catalogue says what kind a provider is of, and a driver refuses what it cannot honour.
        let wit_types::DriverInfo {
            kind: _,
            auth,
            features: _,
            wants_headers,
            ext,
        } = info.map_err(uninformed)?;
        let auth = auth_placement(auth)?;
        if version
            .manifest()
            .auth
            .as_ref()
            .map(manifest_auth)
            .transpose()?
            .as_ref()
            != Some(&auth)
        {
            return Err(AdmissionError::new(
                "info",
                "the plugin and its manifest differ in [auth]",
            ));
        }
        refuse_unknown("info", &ext)?;
        Ok(Self {
            version: Arc::new(version),
            indices,
            counting,
            auth,
            wanted: wanted_headers(&wants_headers)?,
        })
    }
}

impl<'a> From<&'a DriverFailure> for Outcome<'a> {
    fn from(failure: &'a DriverFailure) -> Self {
        match failure {
            DriverFailure::Fault(_) => Self::Fault,
            DriverFailure::Plugin(error) => Self::Failed(error),
        }
    }
}

fn header_name(name: &str) -> Result<HeaderName, AdmissionError> {
    HeaderName::try_from(name)
        .map_err(|_| AdmissionError::new("info", format!("{name} is not a header name")))
}

fn auth_placement(auth: wit_types::AuthScheme) -> Result<AuthPlacement, AdmissionError> {
    Ok(match auth {
        wit_types::AuthScheme::None => AuthPlacement::None,
        wit_types::AuthScheme::Header((name, template)) => AuthPlacement::Header {
            name: header_name(&name)?,
            template,
        },
        wit_types::AuthScheme::Query(name) => AuthPlacement::Query { name },
        wit_types::AuthScheme::HostSigned(scheme) => return Err(unsigned(&scheme)),
    })
}

fn manifest_auth(auth: &Auth) -> Result<AuthPlacement, AdmissionError> {
    Ok(match auth {
        Auth::None => AuthPlacement::None,
        Auth::Header { name, template } => AuthPlacement::Header {
            name: header_name(name)?,
            template: template.clone(),
        },
        Auth::Query { name } => AuthPlacement::Query { name: name.clone() },
        Auth::HostSigned { scheme } => return Err(unsigned(scheme)),
    })
}

fn unsigned(scheme: &str) -> AdmissionError {
    AdmissionError::new("info", format!("{NO_SIGNING}: {scheme:?}"))
}

fn wanted_headers(names: &[String]) -> Result<Arc<[HeaderName]>, AdmissionError> {
    if names.len() > MAX_WANTED_HEADERS {
        return Err(AdmissionError::new(
            "info",
            format!("more than {MAX_WANTED_HEADERS} wanted headers"),
        ));
    }
    let wanted: Vec<HeaderName> = names
        .iter()
        .map(|name| header_name(name))
        .collect::<Result<_, _>>()?;
    match wanted.iter().find(|name| WITHHELD.contains(name)) {
        Some(name) => Err(AdmissionError::new(
            "info",
            format!("{name} is never shown to a driver"),
        )),
        None => Ok(wanted.into()),
    }
}
