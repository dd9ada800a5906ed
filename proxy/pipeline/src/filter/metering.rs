//! `metering`: whether the organization may spend what this run can cost at most (contract 12.2).
//!
//! This gate answers from the store and gives the caller its exact refusal; the hold itself is one
//! conditional UPDATE in the transaction that writes the audit intent, so that a request commits once before
//! its first upstream byte and not twice.

use futures_util::future::BoxFuture;
use svc_core::chat::{ChatRequest, Part};
use svc_core::fault::{Code, Fault};

use super::Filter;
use crate::budget::{self, Reservation};
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
        &[Fact::Reservation]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            let chat = given(exchange.facts.chat.as_ref(), "the chat")?;
            let index = *given(exchange.facts.model.as_ref(), "the model")?;
            let model = given(exchange.policy.catalogue.models.get(index), "the model")?;
            if caller.plan_tier == EVALUATION
                && caller
                    .evaluation_ends_at
                    .is_some_and(|ends_at| ends_at <= exchange.started_at)
            {
                return Err(Code::EvaluationAccessBlocked.fault());
            }
            let max_tokens = chat.max_tokens.map_or(0, u64::from);
            let charge = model
                .price
                .worst_case(estimated_input_tokens(chat), max_tokens);
            let reservation =
                Reservation::new(caller, &exchange.policy.plans, charge, exchange.started_at);
            let (request_id, now) = (&exchange.request_id, exchange.started_at);
            budget::check(&exchange.gateway, caller, &reservation, request_id, now).await?;
            exchange.trail.reserves(reservation);
            Ok(())
        })
    }
}

/// The tier whose window can end (contract 8).
const EVALUATION: &str = "evaluation";

/// Providers count about four bytes of text to a token; three keeps the hold on the safe side.
const BYTES_PER_TOKEN: u64 = 3;
/// What an image or document counts for when its size in tokens is unknown.
const TOKENS_PER_MEDIUM: u64 = 1_600;

fn estimated_input_tokens(chat: &ChatRequest) -> u64 {
    let parts = chat
        .system
        .iter()
        .chain(chat.messages.iter().flat_map(|message| &message.content));
    parts.map(part_tokens).sum()
}

fn part_tokens(part: &Part) -> u64 {
    let text = |text: &str| (text.len() as u64).div_ceil(BYTES_PER_TOKEN);
    match part {
        Part::Text { text: content, .. } | Part::Reasoning { text: content, .. } => text(content),
        Part::RedactedReasoning { data } => text(data),
        Part::ToolCall(call) => text(&call.arguments.to_string()),
        Part::ToolResult(result) => result.content.iter().map(part_tokens).sum(),
        Part::Image(_) | Part::Document { .. } => TOKENS_PER_MEDIUM,
    }
}
