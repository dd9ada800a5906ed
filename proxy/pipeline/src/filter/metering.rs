//! `metering` and `unmetered`: whether the organization may spend what this run can cost at most (contract 12.2).
//!
//! This gate answers from the store and gives the caller its exact refusal; the hold itself is one
//! conditional UPDATE in the transaction that writes the audit intent, so that a request commits once before
//! its first upstream byte and not twice.

use futures_util::future::BoxFuture;
use svc_core::fault::{Code, Fault};
use svc_core::plan::Tier;
use svc_core::time::Timestamp;

use super::{Filter, Passed};
use crate::budget::{self, Reservation};
use crate::caller::Caller;
use crate::estimate::estimate;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;

pub(super) struct Metering;

impl Filter for Metering {
    fn name(&self) -> &'static str {
        "metering"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Chat, Fact::Model, Fact::Baa]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Reservation, Fact::Metered]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let chat = given(exchange.facts.chat.take(), "the chat")?;
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            let index = *given(exchange.facts.model.as_ref(), "the model")?;
            let model = given(exchange.policy.catalogue.models.get(index), "the model")?;
            evaluation_open(caller, exchange.now)?;
            let max_tokens = chat.max_tokens.map_or(0, u64::from);
            let price = model.price_of(&chat);
            let (chat, prompt) = estimate(chat, &exchange.gateway.background).await?;
            exchange.facts.chat = Some(chat);
            let most_tokens = prompt.at_most(model.context_window_tokens);
            let charge = price.worst_case(most_tokens, max_tokens);
            let plans = &exchange.policy.plans;
            let reservation = Reservation::new(caller, plans, Some(charge), exchange.now);
            let (request_id, now) = (&exchange.request_id, exchange.now);
            budget::check(&exchange.gateway, caller, &reservation, request_id, now).await?;
            exchange.trail.reserves(reservation);
            exchange.trail.expects(prompt.about);
            Ok(())
        })
    }

    fn still_passes(&self, passed: &Passed<'_>) -> Result<(), Fault> {
        evaluation_open(passed.caller, passed.now)
    }
}

/// `unmetered`: for what is asked of a model and costs nothing (contract X30). No budget stands in its way; its
/// reservation is empty and only keeps the lease on the request, so that recovery finds it.
pub(super) struct Unmetered;

impl Filter for Unmetered {
    fn name(&self) -> &'static str {
        "unmetered"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Baa]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Reservation]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            evaluation_open(caller, exchange.now)?;
            let plans = &exchange.policy.plans;
            let reservation = Reservation::new(caller, plans, None, exchange.now);
            exchange.trail.reserves(reservation);
            Ok(())
        })
    }

    fn still_passes(&self, passed: &Passed<'_>) -> Result<(), Fault> {
        evaluation_open(passed.caller, passed.now)
    }
}

/// The evaluation tier ends with its window (contract 8).
pub(crate) fn evaluation_open(caller: &Caller, now: Timestamp) -> Result<(), Fault> {
    let has_ended = caller
        .evaluation_ends_at
        .is_some_and(|ends_at| ends_at <= now);
    if caller.plan_tier == Tier::Evaluation && has_ended {
        return Err(Code::EvaluationAccessBlocked.fault());
    }
    Ok(())
}
