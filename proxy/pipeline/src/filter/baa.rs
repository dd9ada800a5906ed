//! `baa`: no inference without an active Business Associate Agreement (spec; contract 13).

use futures_util::future::BoxFuture;
use svc_core::fault::{Code, Fault};

use super::{Filter, Passed};
use crate::caller::Caller;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;

pub(super) struct Baa;

impl Filter for Baa {
    fn name(&self) -> &'static str {
        "baa"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Eligible]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Baa]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            judge(caller)
        })
    }

    fn still_passes(&self, passed: &Passed<'_>) -> Result<(), Fault> {
        judge(passed.caller)
    }
}

fn judge(caller: &Caller) -> Result<(), Fault> {
    if caller.baa_in_force {
        Ok(())
    } else {
        Err(Code::BaaRequired.fault())
    }
}
