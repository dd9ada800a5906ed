//! `phi_guard`: nothing that the detectors know reaches a provider from any position of the request.

use std::time::Instant;

use futures_util::future::BoxFuture;
use http::HeaderValue;
use svc_core::fault::{Code, Fault};
use svc_core::phi::ENTITIES_HEADER;

use super::Filter;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::phi::{self, Detectors};

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
            let mode = given(exchange.facts.caller.as_ref(), "the caller")?.phi_mode;
            let chat = exchange
                .facts
                .chat
                .as_mut()
                .ok_or_else(|| Fault::internal("no filter gave the chat"))?;
            let thread = exchange.facts.thread.as_mut();
            let placeholders = thread
                .map(|thread| std::mem::take(&mut thread.placeholders))
                .unwrap_or_default();
            let policy = &exchange.policy.phi;
            let detectors = Detectors::pin(&exchange.gateway.plugins, policy)?;
            let outcome = phi::guard(chat, &detectors, policy, mode, placeholders).await;
            let metrics = &exchange.gateway.metrics;
            metrics
                .phi_scan_seconds
                .observe(began.elapsed().as_secs_f64());
            let scan = match outcome {
                Ok(scan) => scan,
                Err(fault) => {
                    exchange.trail.found(mode, &fault, detectors.versions());
                    if matches!(fault.code, Code::PhiBlocked | Code::PhiInToolSchema) {
                        metrics
                            .phi_entities
                            .with_label_values(&["any", "blocked"])
                            .inc();
                    }
                    return Err(fault);
                }
            };
            for (kind, count) in scan.counts.iter() {
                metrics
                    .phi_entities
                    .with_label_values(&[kind, "redacted"])
                    .inc_by(count);
            }
            if let Some(value) = scan
                .counts
                .header()
                .and_then(|text| HeaderValue::from_str(&text).ok())
            {
                exchange.headers.insert(ENTITIES_HEADER, value);
            }
            exchange.trail.scanned(&scan);
            exchange.facts.scan = Some(scan);
            Ok(())
        })
    }
}
