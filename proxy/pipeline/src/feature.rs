//! What a plan offers and an organization has switched on (contract 2, step 13).

use svc_core::fault::{Code, Fault};

use crate::caller::Caller;
use crate::policy::plans::Plans;

/// Credentials of other services, and dispatch through them (contract 11).
pub const INTEGRATIONS: &str = "integrations";

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
