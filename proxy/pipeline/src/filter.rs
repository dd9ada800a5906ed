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
pub(crate) use auth::{Presented, recognize};
pub use body::{is_media_type, json_media_type};
pub(crate) use delegation::delegated;
pub(crate) use grant::reach;
pub(crate) use metering::evaluation_open;
pub(crate) use scope::authorized;

use futures_util::future::BoxFuture;
use svc_core::chat::ChatRequest;
use svc_core::fault::Fault;
use svc_core::phi::Counts;
use svc_core::surface::Surface;
use svc_core::time::Timestamp;

use crate::caller::Caller;
use crate::exchange::Exchange;
use crate::fact::Fact;
use crate::policy::PolicySet;
use crate::policy::models::Model;
use crate::policy::pipelines::Route;

/// One gate.
pub trait Filter: Send + Sync {
    /// The word in `pipelines.toml` and in metrics.
    fn name(&self) -> &'static str;

    /// Facts that an earlier filter must have given.
    fn needs(&self) -> &'static [Fact];

    /// Facts that this filter gives.
    fn gives(&self) -> &'static [Fact];

    /// The surface whose bodies this filter reads; `None` where it reads none.
    fn reads(&self) -> Option<Surface> {
        None
    }

    /// Facts that this filter must stand behind wherever a pipeline gives them at all.
    fn behind(&self) -> &'static [Fact] {
        &[]
    }

    /// Passes the exchange on, or ends it with a fault.
    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>>;

    /// Whether this filter would pass by what holds now what it has passed before (`crate::clearance`). What counts is not
    /// counted again.
    ///
    /// # Errors
    /// As of [`Self::apply`].
    fn still_passes(&self, _: &Passed<'_>) -> Result<(), Fault> {
        Ok(())
    }
}

/// A request that has passed every filter, and who it is of by now.
pub struct Passed<'a> {
    pub caller: &'a Caller,
    pub route: &'a Route,
    pub policy: &'a PolicySet,
    pub surface: Surface,
    pub model: &'a Model,
    /// As the provider reads it.
    pub chat: &'a ChatRequest,
    /// What PHI Guard has replaced in it.
    pub replaced: &'a Counts,
    pub now: Timestamp,
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use std::path::Path;

    use super::*;

    /// The word of a fact in the table of `docs/policies.md`.
    const fn word(fact: Fact) -> &'static str {
        match fact {
            Fact::Caller => "caller",
            Fact::Version => "version",
            Fact::Authorized => "authorized",
            Fact::Delegated => "delegating user",
            Fact::Admitted => "admitted",
            Fact::Chat => "chat",
            Fact::Granted => "agent's grant",
            Fact::Conversation => "conversation",
            Fact::AiAllowed => "AI switch",
            Fact::Model => "model",
            Fact::Eligible => "eligibility",
            Fact::Baa => "BAA",
            Fact::Reservation => "reservation",
            Fact::Metered => "metering",
            Fact::PhiScan => "PHI scan",
            Fact::Intent => "intent",
        }
    }

    /// The facts of a cell; what stands in parentheses is said of them.
    fn facts(cell: &str) -> Vec<&str> {
        let facts = cell.split(',').map(|fact| {
            let bare = fact.split_once('(').map_or(fact, |(bare, _)| bare);
            bare.trim()
        });
        facts.filter(|fact| !fact.is_empty()).collect()
    }

    #[test]
    fn the_page_of_policies_has_the_table_of_filters() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policies.md");
        let page = std::fs::read_to_string(page).unwrap();
        let table = page
            .split("| filter | refuses with | needs | gives |")
            .nth(1);
        let rows = table.unwrap().lines().skip(2);
        let mut documented = Vec::new();
        for row in rows.take_while(|row| row.starts_with('|')) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let [_, names, _, needs, gives, _] = cells[..] else {
                panic!("{row}")
            };
            for name in names.split(", ").map(|name| name.trim_matches('`')) {
                let filter = find(name).unwrap_or_else(|| panic!("{name} is no filter"));
                let words = |facts: &[Fact]| facts.iter().copied().map(word).collect::<Vec<_>>();
                assert_eq!(facts(needs), words(filter.needs()), "{name} needs");
                assert_eq!(facts(gives), words(filter.gives()), "{name} gives");
                documented.push(filter.name());
            }
        }
        assert_eq!(documented, names().collect::<Vec<_>>());
    }
}
