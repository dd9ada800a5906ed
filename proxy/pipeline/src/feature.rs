//! What a plan offers and an organization has switched on (contract 2, step 13).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use svc_core::fault::{Code, Fault};

use crate::caller::Caller;
use crate::policy::models::Catalogue;
use crate::policy::plans::Plans;

/// Credentials of other services, and dispatch through them (contract 11).
pub const INTEGRATIONS: &str = "integrations";

/// Endpoints that events are delivered to (contract 15). On until the organization switches it off.
pub const WEBHOOKS: &str = svc_core::webhook::FEATURE;

/// Named by contract 8; nothing asks for it yet.
pub const RETRIEVAL: &str = "retrieval";

/// What the record of every organization says, switched or not (contract 8).
const ALWAYS_SHOWN: [&str; 2] = [INTEGRATIONS, RETRIEVAL];

/// Parts of an inference request, which policies mark as HIPAA-eligible or not.
pub(crate) const TOOLS: &str = "tools";
pub(crate) const PROVIDER_TOOLS: &str = "provider_tools";
pub(crate) const IMAGES: &str = "images";
pub(crate) const DOCUMENTS: &str = "documents";

/// `reason` of the refusal of what an organization does not want.
pub(crate) const SWITCHED_OFF: &str = "switched_off";

/// What the program knows. Nothing asks for `retrieval` yet, and no part of a request is of `provider_tools`.
const ALL: [&str; 7] = [
    INTEGRATIONS,
    WEBHOOKS,
    RETRIEVAL,
    TOOLS,
    PROVIDER_TOOLS,
    IMAGES,
    DOCUMENTS,
];

/// What a plan may offer and an organization can switch: what the program knows, and what the catalogue marks.
pub fn known(catalogue: &Catalogue) -> BTreeSet<&str> {
    let marked = catalogue.marked_features();
    ALL.into_iter().chain(marked).collect()
}

/// Why an organization may not use a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// Its plan does not have it.
    Plan,
    /// It has not switched it on, or has switched it off.
    Switch,
}

impl Lack {
    /// The word of `details.reason`.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Plan => "not_in_plan",
            Self::Switch => SWITCHED_OFF,
        }
    }
}

/// Whether this caller's organization may use webhooks.
///
/// # Errors
/// 403: not in its plan, or switched off.
pub fn webhooks(caller: &Caller, plans: &Plans) -> Result<(), Fault> {
    in_plan(WEBHOOKS, caller, plans)?;
    webhooks_left(caller)
}

/// Whether this caller's organization may look at the webhooks that it has and end them, which needs no plan: what an
/// earlier plan has left must not stay for good.
///
/// # Errors
/// 403: switched off.
pub fn webhooks_left(caller: &Caller) -> Result<(), Fault> {
    if caller.has_switched_off(WEBHOOKS) {
        let message = "The organization has switched webhooks off.";
        let fault = Fault::new(Code::FeatureNotAvailable, message);
        // No tier has what the organization does not want.
        let fault = fault.detail("required_tier", Value::Null);
        return Err(fault.detail("reason", SWITCHED_OFF));
    }
    Ok(())
}

/// The features of an organization as its record shows them, of those that it has switched.
pub fn shown(switched: &BTreeMap<String, bool>) -> BTreeMap<&str, bool> {
    let at_first = ALWAYS_SHOWN.map(|name| (name, is_on_at_first(name)));
    let switched = switched.iter().map(|(name, on)| (name.as_str(), *on));
    at_first.into_iter().chain(switched).collect()
}

/// Whether a feature is on that an organization has never switched.
pub fn is_on_at_first(name: &str) -> bool {
    name == WEBHOOKS
}

/// Whether this caller's organization may use integrations.
///
/// # Errors
/// 403: not in its plan, or switched off.
pub fn integrations(caller: &Caller, plans: &Plans) -> Result<(), Fault> {
    in_plan(INTEGRATIONS, caller, plans)?;
    integrations_left(caller)
}

/// As [`webhooks_left`], of integrations.
///
/// # Errors
/// 403: switched off.
pub fn integrations_left(caller: &Caller) -> Result<(), Fault> {
    if caller.has_feature(INTEGRATIONS) {
        Ok(())
    } else {
        Err(Code::IntegrationsDisabled.fault())
    }
}

/// What keeps this caller's organization from using its integrations in a run; `None`: nothing does.
pub(crate) fn lack_of_integrations(caller: &Caller, plans: &Plans) -> Option<Lack> {
    if !plans.offers(caller.plan_tier, INTEGRATIONS) {
        Some(Lack::Plan)
    } else if !caller.has_feature(INTEGRATIONS) {
        Some(Lack::Switch)
    } else {
        None
    }
}

fn in_plan(feature: &str, caller: &Caller, plans: &Plans) -> Result<(), Fault> {
    if plans.offers(caller.plan_tier, feature) {
        return Ok(());
    }
    let fault = Code::FeatureNotAvailable.fault();
    Err(fault.detail("required_tier", plans.tier_with(feature)))
}
