//! Filters: the gates that a request passes before its handler. Each is a small value with one duty.

mod audit;
mod auth;
mod baa;
mod body;
mod conversation;
mod decode_chat_completions;
mod decode_count;
mod decode_messages;
mod decode_native;
mod delegation;
mod eligibility;
mod grant;
pub(crate) mod limits;
mod metering;
mod model_access;
mod pause;
mod phi_guard;
mod scope;
mod version;
pub use auth::{Callers, Refusal, Sent, network};
pub use body::{is_media_type, json_media_type};
pub(crate) use metering::evaluation_open;

use futures_util::future::BoxFuture;
use svc_core::fault::Fault;

use crate::exchange::Exchange;
use crate::fact::Fact;

/// One gate.
pub trait Filter: Send + Sync {
    /// The word in `pipelines.toml` and in metrics.
    fn name(&self) -> &'static str;

    /// Facts that an earlier filter must have given.
    fn needs(&self) -> &'static [Fact];

    /// Facts that this filter gives.
    fn gives(&self) -> &'static [Fact];

    /// Passes the exchange on, or ends it with a fault.
    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>>;
}

/// Every filter of the gateway.
static FILTERS: &[&dyn Filter] = &[
    &auth::Auth,
    &version::Version,
    &scope::ScopeGate,
    &delegation::Delegation,
    &limits::Limits,
    &decode_native::DecodeNative,
    &decode_messages::DecodeMessages,
    &decode_chat_completions::DecodeChatCompletions,
    &decode_count::DecodeCount,
    &grant::Grant,
    &conversation::Conversation,
    &pause::Pause,
    &model_access::ModelAccess,
    &eligibility::Eligibility,
    &baa::Baa,
    &metering::Metering,
    &metering::Unmetered,
    &phi_guard::PhiGuard,
    &audit::Audit,
];

/// The filter of this name.
pub fn find(name: &str) -> Option<&'static dyn Filter> {
    FILTERS.iter().copied().find(|filter| filter.name() == name)
}

/// Names of all filters, for metrics.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILTERS.iter().map(|filter| filter.name())
}
