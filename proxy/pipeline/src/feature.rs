//! What a plan offers and an organization has switched on (contract 2, step 13).

use svc_core::fault::{Code, Fault};

use crate::caller::Caller;
use crate::policy::plans::Plans;

/// Credentials of other services, and dispatch through them (contract 11).
pub const INTEGRATIONS: &str = "integrations";

/// Endpoints that events are delivered to (contract 15).
pub const WEBHOOKS: &str = "webhooks";

/// Whether this caller's organization may use webhooks.
///
/// # Errors
/// 403: not in its plan.
pub fn webhooks(caller: &Caller, plans: &Plans) -> Result<(), Fault> {
    if plans.offers(&caller.plan_tier, WEBHOOKS) {
        return Ok(());
    }
    let fault = Code::FeatureNotAvailable.fault();
    Err(fault.detail("required_tier", plans.tier_with(WEBHOOKS)))
}

/// Whether this caller's organization may use integrations.
///
/// # Errors
/// 403: not in its plan, or switched off.
pub fn integrations(caller: &Caller, plans: &Plans) -> Result<(), Fault> {
    if !plans.offers(&caller.plan_tier, INTEGRATIONS) {
        let fault = Code::FeatureNotAvailable.fault();
        return Err(fault.detail("required_tier", plans.tier_with(INTEGRATIONS)));
    }
    if caller.has_feature(INTEGRATIONS) {
        Ok(())
    } else {
        Err(Code::IntegrationsDisabled.fault())
    }
}
