//! The guard on the way back: PHI that is new in a reply is taken out of it, and placeholders that this request
//! or conversation issued become what they stand for, where the organization wants that.

use std::sync::Arc;

use svc_core::chat::{ChatEvent, ReplyBuilder};
use svc_core::fault::Fault;
use svc_core::phi::{ReplyRedactor, ReplyRestorer, RestoreTable, Step};

use super::{Readers, Scan};
use crate::metrics::Metrics;
use crate::policy::phi::PhiPolicy;

/// Watches one reply.
pub(crate) struct ReplyGuard {
    redactor: ReplyRedactor,
    /// `None` where `phi_restore` is off: the caller sees placeholders.
    restorer: Option<ReplyRestorer>,
    /// At work from the first text on.
    readers: Option<Readers>,
}

/// Where the events of a reply go once they have been judged.
pub(crate) struct Outlet<'o> {
    /// With placeholders: what is stored.
    pub(crate) kept: &'o mut ReplyBuilder,
    /// What the caller sees.
    pub(crate) shown: &'o mut Vec<ChatEvent>,
}

impl ReplyGuard {
    pub(crate) fn new(scan: &Scan, restore: bool) -> Self {
        let restorer =
            restore.then(|| ReplyRestorer::new(Arc::new(RestoreTable::of(&scan.placeholders))));
        Self {
            redactor: ReplyRedactor::new(&scan.placeholders),
            restorer,
            readers: None,
        }
    }

    /// More events have to be waited for: the plugin instances can serve others meanwhile.
    pub(crate) fn rest(&mut self) {
        if let Some(readers) = &mut self.readers {
            readers.rest();
        }
    }

    /// Takes the next event in, has detectors read what became due, and lets go what has been judged.
    ///
    /// # Errors
    /// 503 when a detector fails: the reply cannot go on.
    pub(crate) async fn pass(
        &mut self,
        event: ChatEvent,
        scan: &mut Scan,
        policy: &PhiPolicy,
        mut outlet: Outlet<'_>,
    ) -> Result<(), Fault> {
        self.redactor.push(event);
        self.steps(scan, policy, &mut outlet).await
    }

    /// The reply was cut short: lets go what was held back.
    ///
    /// # Errors
    /// As [`Self::pass`].
    pub(crate) async fn finish(
        &mut self,
        scan: &mut Scan,
        policy: &PhiPolicy,
        mut outlet: Outlet<'_>,
    ) -> Result<(), Fault> {
        self.redactor.finish();
        self.steps(scan, policy, &mut outlet).await?;
        if let Some(restorer) = &mut self.restorer {
            outlet.shown.extend(restorer.finish());
        }
        Ok(())
    }

    async fn steps(
        &mut self,
        scan: &mut Scan,
        policy: &PhiPolicy,
        outlet: &mut Outlet<'_>,
    ) -> Result<(), Fault> {
        let first = outlet.shown.len();
        while let Some(step) = self.redactor.step() {
            match step {
                Step::Send(event) => {
                    outlet.kept.push(&event);
                    match &mut self.restorer {
                        Some(restorer) => {
                            for event in restorer.push(event) {
                                show(event, first, outlet.shown);
                            }
                        }
                        None => show(event, first, outlet.shown),
                    }
                }
                Step::Scan(text) => {
                    let readers = self.readers.get_or_insert_with(|| scan.pinned.readers());
                    let findings = readers.find(&text, policy).await?;
                    self.redactor
                        .found(&text, findings, &mut scan.placeholders)
                        .map_err(|error| Fault::unavailable(format_args!("PHI Guard: {error}")))?;
                }
            }
        }
        Ok(())
    }

    /// Placeholders restored so far.
    pub(crate) fn restored(&self) -> u64 {
        self.restorer.as_ref().map_or(0, ReplyRestorer::restored)
    }

    /// Counts what the guard did to a reply that is over.
    pub(crate) fn measure(&self, metrics: &Metrics) {
        let entities = &metrics.phi_entities;
        for (kind, count) in self.redactor.redacted().iter() {
            entities
                .with_label_values(&[kind, "redacted_in_reply"])
                .inc_by(count);
        }
        let drifted = self.restorer.as_ref().map_or(0, ReplyRestorer::drifted);
        for (action, count) in [("restored", self.restored()), ("restored_drifted", drifted)] {
            if count > 0 {
                entities.with_label_values(&["any", action]).inc_by(count);
            }
        }
    }
}

/// Appends an event; what was cut out of one event for the detectors alone, from `first` on, stays one piece.
fn show(event: ChatEvent, first: usize, shown: &mut Vec<ChatEvent>) {
    let before = shown.get_mut(first..).and_then(<[ChatEvent]>::last_mut);
    match (before, &event) {
        (Some(ChatEvent::Text(before)), ChatEvent::Text(text))
        | (Some(ChatEvent::Reasoning(before)), ChatEvent::Reasoning(text)) => before.push_str(text),
        (
            Some(ChatEvent::ToolCallDelta {
                index: last,
                fragment: before,
            }),
            ChatEvent::ToolCallDelta { index, fragment },
        ) if *last == *index => before.push_str(fragment),
        _ => shown.push(event),
    }
}
