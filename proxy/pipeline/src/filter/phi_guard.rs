//! `phi_guard`: nothing that the detectors know reaches a provider from any position of the request.

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue};
use svc_core::fault::{Code, Fault};
use svc_core::phi::refusal::blocked_since;
use svc_core::phi::{Counts, ENTITIES_HEADER, Listener};

use super::{Filter, Passed};
use crate::caller::PhiMode;
use crate::estimate::is_large;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::phi::lists::Held;
use crate::phi::results::OwnResults;
use crate::phi::{self, Detectors, Refused, Scan, Sealing, Thoughts};
use crate::place::located;

pub(super) struct PhiGuard;

impl Filter for PhiGuard {
    fn name(&self) -> &'static str {
        "phi_guard"
    }

    /// Needs the reservation: contract 2.14 puts PHI behind the budget.
    fn needs(&self) -> &'static [Fact] {
        &[
            Fact::Caller,
            Fact::Chat,
            Fact::Conversation,
            Fact::Reservation,
        ]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::PhiScan]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let began = Instant::now();
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            let mode = caller.phi_mode;
            let policy = &exchange.policy.phi;
            let profile = policy.profile_of(&caller.organization_id);
            let gateway = &exchange.gateway;
            let org_id = &caller.organization_id;
            let Held { revision, lists } = gateway.phi_lists.of(&gateway.store, org_id).await?;
            exchange.facts.lists_revision = revision;
            let detectors = Detectors::pin(&gateway.plugins, policy, profile)?
                .with_lists(lists)
                .with_results(OwnResults::new(&gateway.phi_results, org_id));
            let versions = detectors.versions();
            let outcome = guard(exchange, detectors, mode).await;
            let metrics = &exchange.gateway.metrics;
            metrics
                .phi_scan_seconds
                .observe(began.elapsed().as_secs_f64());
            let scan = match outcome {
                Ok(scan) => scan,
                Err(Refused { fault, counts }) => {
                    show(&counts, &mut exchange.headers);
                    // A guard that failed has not scanned: its row must not say that nothing was found.
                    if counts.iter().next().is_some() {
                        exchange.trail.found(mode, &counts, versions);
                    }
                    if matches!(fault.code, Code::PhiBlocked | Code::PhiInToolSchema) {
                        metrics
                            .phi_entities
                            .with_label_values(&["any", "blocked"])
                            .inc();
                    }
                    return Err(*fault);
                }
            };
            for (kind, count) in scan.counts.iter() {
                metrics
                    .phi_entities
                    .with_label_values(&[kind, "redacted"])
                    .inc_by(count);
            }
            show(&scan.counts, &mut exchange.headers);
            exchange.trail.scanned(&scan);
            exchange.facts.scan = Some(scan);
            Ok(())
        })
    }

    fn still_passes(&self, passed: &Passed<'_>) -> Result<(), Fault> {
        match passed.caller.phi_mode {
            PhiMode::Block if !passed.replaced.is_empty() => Err(blocked_since(passed.replaced)),
            PhiMode::Block | PhiMode::Redact => Ok(()),
        }
    }
}

/// Tells the caller what was found, whether the request goes on or not (contract 21).
fn show(counts: &Counts, headers: &mut HeaderMap) {
    let text = counts.header();
    if let Some(value) = text.and_then(|text| HeaderValue::from_str(&text).ok()) {
        headers.insert(ENTITIES_HEADER, value);
    }
}

/// Runs the guard over the exchange's chat, where its size asks for it on a thread of its own.
async fn guard(
    exchange: &mut Exchange,
    detectors: Detectors,
    mode: PhiMode,
) -> Result<Scan, Refused> {
    let mut chat = given(exchange.facts.chat.take(), "the chat")?;
    let (mut placeholders, stored_messages) = match &mut exchange.facts.thread {
        Some(thread) => (
            std::mem::take(&mut thread.placeholders),
            thread.stored_messages,
        ),
        None => Default::default(),
    };
    let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
    let listener = Listener {
        gets_values: caller.phi_restore,
        stored_messages,
    };
    let sealing = Sealing {
        store: &exchange.gateway.store,
        org_id: &caller.organization_id,
        mode: caller.mode,
    };
    let places = exchange.facts.places.as_ref();
    let thoughts = Thoughts::take(sealing, &mut chat, &mut placeholders, places).await?;
    let policy = Arc::clone(&exchange.policy);
    let is_large = is_large(&chat);
    let guarding = async move {
        let outcome = phi::guard(
            &mut chat,
            &detectors,
            &policy.phi,
            mode,
            placeholders,
            listener,
        );
        let outcome = outcome.await;
        (chat, outcome)
    };
    let (mut chat, outcome) = if is_large {
        let background = exchange.gateway.background.clone();
        let guarding = background
            .clone()
            .spawn_blocking(move || background.block_on(guarding));
        let guarded = guarding.await;
        guarded.map_err(|error| Fault::internal(format_args!("PHI Guard: {error}")))?
    } else {
        guarding.await
    };
    let outcome = outcome.map_err(|refused| Refused {
        fault: Box::new(located(places, *refused.fault)),
        ..refused
    });
    thoughts.give_back(&mut chat);
    exchange.facts.chat = Some(chat);
    outcome
}
