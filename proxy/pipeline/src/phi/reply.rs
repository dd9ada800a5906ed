//! The guard on the way back: PHI that is new in a reply is taken out of it, and placeholders that this request
//! or conversation issued become what they stand for, where the organization wants that.

use std::sync::Arc;

use svc_core::chat::{ChatEvent, ChatRequest, ReplyBuilder, without_nul};
use svc_core::fault::Fault;
use svc_core::id::IdKind;
use svc_core::phi::{
    Inquiry, PlaceholderMap, ReplyRedactor, ReplyRestorer, RestoreTable, Step, TextScan, call_id,
    looks_sealed,
};
use svc_core::secret::Mode;
use svc_core::surface::blocks::tool_name_is_valid;
use tokio::runtime::Handle;

use svc_store::{Store, tenant};

use super::Scan;
use super::reasoning::{Sealing, Thinking};
use crate::caller::Caller;
use crate::estimate::is_large;
use crate::gateway::Gateway;
use crate::metrics::Metrics;
use crate::moment;
use crate::policy::phi::PhiPolicy;

/// Watches one reply.
pub(crate) struct ReplyGuard {
    redactor: ReplyRedactor,
    /// `None` where `phi_restore` is off: the caller sees placeholders.
    restorer: Option<ReplyRestorer>,
    /// What was asked: the names of its tools were read with it.
    chat: Arc<ChatRequest>,
    /// Whether that is too much to be read where others are served; absent until something is found in the reply.
    is_large: Option<bool>,
    thinking: Thinking,
    /// What one event became, on its way.
    passing: Vec<ChatEvent>,
    store: Store,
    /// For what would keep a thread busy that serves others.
    background: Handle,
    org_id: String,
    mode: Mode,
}

/// In place of the name of a tool that the request did not name and that holds PHI, or that no request could name.
const NAMELESS_TOOL: &str = "unnamed_tool";

/// A history may name no longer one on every surface and at every provider kind (wire.md 2, point 8).
const MAX_TOLD_NAME_CHARS: usize = 64;

/// Where the events of a reply go once they have been judged.
pub(crate) struct Outlet<'o> {
    /// With placeholders: what is stored.
    pub(crate) kept: &'o mut ReplyBuilder,
    /// What the caller sees.
    pub(crate) shown: &'o mut Vec<ChatEvent>,
}

impl ReplyGuard {
    pub(crate) fn new(
        scan: &Scan,
        chat: Arc<ChatRequest>,
        caller: &Caller,
        gateway: &Gateway,
    ) -> Self {
        let restorer = caller.phi_restore.then(|| {
            ReplyRestorer::new(
                Arc::new(RestoreTable::of(&scan.placeholders)),
                Arc::clone(&chat),
            )
        });
        Self {
            redactor: ReplyRedactor::new(&scan.placeholders, Arc::clone(&chat)),
            restorer,
            chat,
            is_large: None,
            thinking: Thinking::default(),
            passing: Vec::new(),
            store: gateway.store.clone(),
            background: gateway.background.clone(),
            org_id: caller.organization_id.clone(),
            mode: caller.mode,
        }
    }

    /// Notes which driver gives the reply, and whether it is that of the model's first route.
    pub(crate) fn given_by(&mut self, driver: &str, is_first: bool) {
        self.thinking.given_by(driver, is_first);
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
        let (signature, event) = self.thinking.takes(event);
        for event in [signature, event].into_iter().flatten() {
            self.judge(event, scan, policy).await?;
        }
        self.steps(scan, policy, &mut outlet).await
    }

    async fn judge(
        &mut self,
        event: ChatEvent,
        scan: &mut Scan,
        policy: &PhiPolicy,
    ) -> Result<(), Fault> {
        let is_signature = matches!(event, ChatEvent::ReasoningSignature(_));
        match self.whole(event, scan, policy).await? {
            Some(event) => self.redactor.push(event),
            None if is_signature => self.thinking.unsigned(),
            None => {}
        }
        Ok(())
    }

    /// Judges what is no text for people and cannot be redacted in part: names and ids of tool calls and of tools that
    /// ran at the provider, and what the provider keeps sealed. `None`: nobody gets it.
    async fn whole(
        &self,
        event: ChatEvent,
        scan: &mut Scan,
        policy: &PhiPolicy,
    ) -> Result<Option<ChatEvent>, Fault> {
        Ok(match event {
            ChatEvent::Reasoning(text) => Some(ChatEvent::Reasoning(without_nul(text))),
            ChatEvent::ToolCallStart { index, id, name } => {
                let is_known = self.chat.tools.iter().any(|tool| tool.name == name);
                let is_told = is_known
                    || (tool_name_is_valid(&name, MAX_TOLD_NAME_CHARS)
                        && is_clean(&name, scan, policy).await?);
                let name = if is_told {
                    name
                } else {
                    NAMELESS_TOOL.to_owned()
                };
                let id = told_id(id, scan, policy).await?;
                Some(ChatEvent::ToolCallStart { index, id, name })
            }
            ChatEvent::ProviderToolCompleted { tool_type, item_id } => {
                let tool_type = if is_clean(&tool_type, scan, policy).await? {
                    tool_type
                } else {
                    NAMELESS_TOOL.to_owned()
                };
                let item_id = told_id(item_id, scan, policy).await?;
                Some(ChatEvent::ProviderToolCompleted { tool_type, item_id })
            }
            ChatEvent::ReasoningSignature(text) => {
                let passes = looks_sealed(&text) || is_clean(&text, scan, policy).await?;
                passes.then_some(ChatEvent::ReasoningSignature(text))
            }
            ChatEvent::RedactedReasoning { data } => {
                let passes = looks_sealed(&data) || is_clean(&data, scan, policy).await?;
                passes.then_some(ChatEvent::RedactedReasoning { data })
            }
            event => Some(event),
        })
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
        if let Some(signature) = self.thinking.signature() {
            self.judge(signature, scan, policy).await?;
        }
        self.redactor.finish();
        self.steps(scan, policy, &mut outlet).await?;
        if let Some(restorer) = &mut self.restorer {
            restorer.finish(outlet.shown);
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
                Step::Send(event) => self.send(event, &scan.placeholders, first, outlet).await?,
                Step::Scan(text) => {
                    let findings = scan.readers.find_in_reply(&text, policy).await?;
                    // A short request is read where its answer is wanted.
                    if !findings.is_empty()
                        && *self.is_large.get_or_insert_with(|| is_large(&self.chat))
                        && let Some(inquiry) = self.redactor.inquire(&text, &findings)
                    {
                        self.inquire(inquiry).await?;
                    }
                    self.redactor
                        .found(&text, findings, &mut scan.placeholders)
                        .map_err(|error| Fault::unavailable(format_args!("PHI Guard: {error}")))?;
                }
            }
        }
        Ok(())
    }

    /// Has a long request read on a thread of its own.
    async fn inquire(&mut self, inquiry: Inquiry) -> Result<(), Fault> {
        let reading = self.background.spawn_blocking(move || inquiry.answer());
        let answer = reading
            .await
            .map_err(|error| Fault::internal(format_args!("PHI Guard: {error}")))?
            .map_err(|error| Fault::unavailable(format_args!("PHI Guard: {error}")))?;
        self.redactor.learn(answer);
        Ok(())
    }

    /// Lets an event go. `first` is as in [`show`].
    async fn send(
        &mut self,
        event: ChatEvent,
        placeholders: &PlaceholderMap,
        first: usize,
        outlet: &mut Outlet<'_>,
    ) -> Result<(), Fault> {
        let sealing = Sealing {
            store: &self.store,
            org_id: &self.org_id,
            mode: self.mode,
        };
        self.thinking.keeps(&event);
        if !matches!(event, ChatEvent::ReasoningSignature(_)) {
            outlet.kept.push(&event);
        }
        match &mut self.restorer {
            Some(restorer) => restorer.push(event, &mut self.passing),
            None => self.passing.push(event),
        }
        for mut event in self.passing.drain(..) {
            self.thinking.shows(&event);
            // A stream is read past the task that knew its organization.
            match &mut event {
                ChatEvent::ReasoningSignature(signature) => {
                    let whole = std::mem::take(signature);
                    let signing = self.thinking.sign(whole, sealing, placeholders);
                    let (keep, show) = tenant::within(&self.org_id, signing).await?;
                    *signature = show;
                    outlet.kept.push(&ChatEvent::ReasoningSignature(keep));
                }
                ChatEvent::RedactedReasoning { data } => {
                    let whole = std::mem::take(data);
                    let marking = self.thinking.mark(whole, sealing);
                    *data = tenant::within(&self.org_id, marking).await?;
                }
                _ => {}
            }
            show(event, first, outlet.shown);
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

async fn is_clean(text: &str, scan: &mut Scan, policy: &PhiPolicy) -> Result<bool, Fault> {
    let text = TextScan::of(&mut ChatRequest::of_user_text(text));
    Ok(scan.readers.find(&text, policy).await?.is_empty())
}

/// The id of a call as the caller may see it: another one where it could be something that the provider was told.
async fn told_id(id: String, scan: &mut Scan, policy: &PhiPolicy) -> Result<String, Fault> {
    Ok(
        if call_id::is_made_by_chance(&id) || is_clean(&id, scan, policy).await? {
            id
        } else {
            format!("{}{}", call_id::OUR_CALLS, moment::id(IdKind::Bare))
        },
    )
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
