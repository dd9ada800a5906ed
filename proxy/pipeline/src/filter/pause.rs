//! `pause`: the organization's own AI switch (contract 2, step 14).

use futures_util::future::BoxFuture;
use svc_core::fault::{Code, Fault};

use super::{Filter, Passed};
use crate::caller::Caller;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;

pub(super) struct Pause;

impl Filter for Pause {
    fn name(&self) -> &'static str {
        "pause"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Chat, Fact::Granted]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::AiAllowed]
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
    if caller.ai_paused {
        Err(Code::AiPaused.fault())
    } else {
        Ok(())
    }
}
