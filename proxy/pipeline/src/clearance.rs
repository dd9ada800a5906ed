//! Whether a request may still go out: asked again before its content goes to one more provider, which is a disclosure
//! of its own and may come minutes after the first. Who asks is found out anew, and every filter is asked whether it
//! would pass what it has passed.
//!
//! Counts nothing and rewrites nothing. Where other rules have come into force, the request is not read again: its
//! caller can send it again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Method;
use svc_core::chat::ChatRequest;
use svc_core::fault::{Code, Fault};
use svc_core::phi::Counts;
use svc_core::surface::Surface;
use svc_store::tenant;

use crate::caller::Caller;
use crate::exchange::{Exchange, given};
use crate::feature;
use crate::filter::{Passed, Presented};
use crate::gateway::Gateway;
use crate::inside;
use crate::integration::Way;
use crate::moment;
use crate::policy::PolicySet;
use crate::policy::pipelines::Route;
use crate::provider::Provider;

/// 1 s: most requests go out well within it, and a verdict that was good at their gate is not asked for twice.
const RECENT: Duration = Duration::from_secs(1);

/// What a request has passed by.
pub(crate) struct Clearance {
    gateway: Arc<Gateway>,
    policy: Arc<PolicySet>,
    route: Arc<Route>,
    surface: Surface,
    shown: Shown,
    /// As of `judged`.
    caller: Arc<Caller>,
    /// Index into the pinned catalogue.
    model: usize,
    /// What PHI Guard has replaced, reading by the lists of this revision.
    replaced: Counts,
    lists_revision: i64,
    judged: Instant,
}

/// How whoever asks was known.
#[derive(Clone)]
enum Shown {
    Credential(Presented),
    /// To a page, which asks with this method.
    Person(Method),
}

impl Clearance {
    /// Of an exchange that has passed its filters.
    ///
    /// # Errors
    /// 500 where it has not.
    pub(crate) fn of(exchange: &Exchange) -> Result<Self, Fault> {
        let facts = &exchange.facts;
        let caller = given(facts.caller.as_ref(), "the caller")?;
        let scan = given(facts.scan.as_ref(), "the PHI scan")?;
        let head = &exchange.head;
        let shown = match caller.is_person {
            true => Shown::Person(head.method.clone()),
            false => Shown::Credential(Presented::read(&head.headers, exchange.surface)?),
        };
        Ok(Self {
            gateway: Arc::clone(&exchange.gateway),
            policy: Arc::clone(&exchange.policy),
            route: Arc::clone(&exchange.route),
            surface: exchange.surface,
            shown,
            caller: Arc::clone(caller),
            model: *given(facts.model.as_ref(), "the model")?,
            replaced: scan.counts.clone(),
            lists_revision: facts.lists_revision,
            judged: exchange.judged,
        })
    }

    /// Whether it was found out so lately that it needs no new look for a first provider.
    pub(crate) fn is_recent(&self) -> bool {
        self.judged.elapsed() < RECENT
    }

    /// Judges anew, by what holds now, who asks and whether `chat` may go out.
    ///
    /// # Errors
    /// What a request that comes now would be refused with.
    pub(crate) async fn renew(&mut self, chat: &ChatRequest) -> Result<(), Fault> {
        let judged = Instant::now();
        let org_id = &self.caller.organization_id;
        let caller = Box::pin(tenant::within(org_id, self.recognize())).await?;
        let models = &self.policy.catalogue.models;
        let passed = Passed {
            caller: &caller,
            route: &self.route,
            policy: &self.policy,
            surface: self.surface,
            model: given(models.get(self.model), "the model")?,
            chat,
            replaced: &self.replaced,
            now: moment::now(),
        };
        for filter in &self.route.filters {
            filter.still_passes(&passed)?;
        }
        (self.caller, self.judged) = (caller, judged);
        Ok(())
    }

    async fn recognize(&self) -> Result<Arc<Caller>, Fault> {
        let (gateway, now) = (&self.gateway, moment::now());
        match &self.shown {
            Shown::Credential(presented) => {
                let (store, background) = (&gateway.store, &gateway.background);
                let found = gateway.callers.find(store, *presented, now, background);
                Ok(found.await?)
            }
            Shown::Person(method) => inside::recognize(gateway, &self.caller, method, now).await,
        }
    }

    /// Whether the request would be read by other rules now.
    ///
    /// # Errors
    /// 503 where that cannot be found out.
    pub(crate) async fn has_new_rules(&self) -> Result<bool, Fault> {
        let gateway = &self.gateway;
        if gateway.policies.current().epoch != self.policy.epoch {
            return Ok(true);
        }
        let org_id = &self.caller.organization_id;
        let reading = gateway.phi_lists.of(&gateway.store, org_id);
        let lists = Box::pin(tenant::within(org_id, reading)).await?;
        Ok(lists.revision != self.lists_revision)
    }

    /// What an organization's own credential is by now, found by its alias. The operator's key never takes its place: who
    /// pays does not change unasked (contract 11).
    ///
    /// # Errors
    /// 403 where nothing is bound to it any more, or the organization may use nothing; 503 where that cannot be found out.
    pub(crate) async fn own(&self, before: &Way) -> Result<(Arc<Way>, Arc<Provider>), Fault> {
        let (gateway, caller) = (&self.gateway, &self.caller);
        let reading = gateway.bindings.of(gateway, caller);
        let bound = Box::pin(tenant::within(&caller.organization_id, reading)).await?;
        let found = bound.find(&caller.default_project_id, &before.alias);
        let way = found.ok_or_else(|| Code::IntegrationsDisabled.fault())?;
        let lack = feature::lack_of_integrations(caller, &self.policy.plans);
        let provider = way.provider(lack)?;
        Ok((Arc::clone(way), Arc::clone(provider)))
    }
}
