//! `delegation`: whether the user behind the credential may do this (contract 2, step 7).

use futures_util::future::BoxFuture;
use svc_core::fault::{Code, Fault};

use super::{Filter, Passed};
use crate::caller::Caller;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::policy::pipelines::{Gate, Route};
use crate::role;

pub(super) struct Delegation;

impl Filter for Delegation {
    fn name(&self) -> &'static str {
        "delegation"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Authorized]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Delegated]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            delegated(caller, &exchange.route)
        })
    }

    fn still_passes(&self, passed: &Passed<'_>) -> Result<(), Fault> {
        delegated(passed.caller, passed.route)
    }
}

/// Whether the user behind a caller may use a route, as far as that asks for one.
///
/// # Errors
/// 422 where there is none, 403 where they may not.
pub(crate) fn delegated(caller: &Caller, route: &Route) -> Result<(), Fault> {
    let (_, gate) = route.asks()?;
    if gate == Gate::Scope {
        return Ok(());
    }
    let user = caller.delegating_user.as_ref();
    let user = user.filter(|user| !user.suspended);
    let user = user.ok_or_else(|| Code::DelegatingUserRequired.fault())?;
    // People at a page are let in by their role; a credential needs an admin behind it.
    let is_let_in = user.role.is_org_admin() || caller.is_person && role::may(user.role, route);
    if gate == Gate::OrgAdmin && !is_let_in {
        return Err(Code::OrgAdminRequired.fault());
    }
    Ok(())
}
