//! `scope`: whether the credential may use this route (contract 2, step 6).

use futures_util::future::BoxFuture;
use serde_json::json;
use svc_core::fault::{Code, Fault};
use svc_core::scope::Scope;

use super::{Filter, Passed};
use crate::caller::Caller;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::policy::pipelines::Route;

pub(super) struct ScopeGate;

impl Filter for ScopeGate {
    fn name(&self) -> &'static str {
        "scope"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Version]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Authorized]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            authorized(caller, &exchange.route)
        })
    }

    fn still_passes(&self, passed: &Passed<'_>) -> Result<(), Fault> {
        authorized(passed.caller, passed.route)
    }
}

/// Whether a caller may use a route.
///
/// # Errors
/// 403.
pub(crate) fn authorized(caller: &Caller, route: &Route) -> Result<(), Fault> {
    let (required, _) = route.asks()?;
    // Agents speak with models; solving and the control plane are for keys (spec, Authentication 5).
    let is_closed = caller.agent.is_some() && required != Scope::AiChat;
    if !is_closed && caller.scopes.contains(&required) {
        return Ok(());
    }
    let granted: Vec<&str> = caller
        .scopes
        .iter()
        .map(|scope: &Scope| scope.word())
        .collect();
    let fault = Code::MissingScope
        .fault()
        .detail("required_scope", required.word())
        .detail("granted_scopes", json!(granted));
    Err(if is_closed {
        fault.detail("reason", "agent_credential_not_allowed")
    } else {
        fault
    })
}
