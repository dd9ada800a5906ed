//! The gateway: the services that exchanges use. Made once, shared by all.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use svc_core::address::AddressRules;
use svc_core::version::ApiVersion;
use svc_plugin::PluginHost;
use svc_solver::Pool;
use svc_store::Store;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tracing::Span;

use crate::applications::Applications;
use crate::budget::Rooms;
use crate::filter::Callers;
use crate::integration::Bindings;
use crate::limiter::Limiter;
use crate::metrics::Metrics;
use crate::openid::OpenId;
use crate::owed::Owed;
use crate::phi::lists::Lists;
use crate::phi::results::Results;
use crate::policy::watch::Policies;
use crate::provider::Providers;
use crate::strangers::Strangers;
use crate::trail::Refusals;
use crate::upkeep::Pulse;
use crate::upstream::{Connector, Deadlines};

/// Numbers that the operator may set (`config/gateway.toml`).
pub struct Settings {
    pub default_version: ApiVersion,
    /// The address that callers use, without a slash at its end; never taken from a request.
    pub base_url: String,
    pub sessions: Sessions,
    /// Contract 1.2: 32 MiB on the inference surfaces.
    pub inference_body_bytes: usize,
    /// Contract 1.2: 8 MiB for a spec.
    pub solve_body_bytes: usize,
    /// Bodies on their way to an integration, which are held whole.
    pub egress_body_bytes: usize,
    /// Which addresses callers may choose (contract 15.4).
    pub addresses: AddressRules,
    pub integration_deadlines: Deadlines,
    /// Attempts of one schedule of a webhook delivery, as records show them.
    pub webhook_max_attempts: u32,
    /// Contract 21: 15 s of silence on the native stream.
    pub heartbeat_interval: Duration,
}

/// How long people stay signed in.
#[derive(Clone, Copy, Debug)]
pub struct Sessions {
    /// Without a request.
    pub idle_ms: i64,
    /// Whatever they do.
    pub whole_ms: i64,
}

/// Everything that exchanges share. One for each process.
pub struct Gateway {
    pub policies: Arc<Policies>,
    pub store: Store,
    pub plugins: Arc<PluginHost>,
    /// Where constraints are solved.
    pub solver: Pool,
    /// The way out to providers and integrations.
    pub connector: Arc<dyn Connector>,
    pub providers: Providers,
    /// Credentials that were found good lately.
    pub callers: Callers,
    /// OAuth applications that were asked about lately.
    pub applications: Applications,
    /// Organizations' own credentials, by alias.
    pub bindings: Bindings,
    /// Failing authentications that wait to be written.
    pub strangers: Strangers,
    pub limiter: Arc<Limiter>,
    /// What organizations had left of their budgets lately.
    pub rooms: Rooms,
    /// Values that organizations list.
    pub phi_lists: Lists,
    /// What detectors found lately.
    pub phi_results: Arc<Results>,
    /// Passwords that are hashed at once: each takes the memory that makes guessing dear.
    pub hashing: Semaphore,
    /// Where people may sign in beside the sign-in page's own form.
    pub openid: Option<Arc<dyn OpenId>>,
    pub metrics: Arc<Metrics>,
    /// Makes the span of a request part of the trace that its caller began; `None` where no traces are sent.
    pub join_trace: Option<fn(&Span, &HeaderMap)>,
    /// What has to be written before the process may end.
    pub owed: Arc<Owed>,
    /// Refused requests among it.
    pub refusals: Refusals,
    pub settings: Settings,
    /// This process, in holds and audit intents: recovery closes what a dead replica left open.
    pub replica_id: String,
    pub pulse: Pulse,
    /// The runtime that outlives the listeners: settling runs here, where no disconnect reaches it.
    pub background: Handle,
}
