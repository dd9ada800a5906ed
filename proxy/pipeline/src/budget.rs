//! What a run may cost at most, and what stands in its way (contract 12).

use serde_json::Value;
use svc_core::fault::{Code, Fault};
use svc_core::metering::Charge;
use svc_core::money::Micro;
use svc_core::time::Timestamp;
use svc_store::budget::{self, Cycle, HoldRequest, Limit, Refusal};

use crate::caller::Caller;
use crate::gateway::Gateway;
use crate::policy::plans::Plans;

/// A hold that is still to be taken.
#[derive(Clone)]
pub(crate) struct Reservation {
    pub(crate) cycle: Cycle,
    pub(crate) allotment: Option<Micro>,
    /// `None` for what costs nothing.
    pub(crate) worst_case: Option<Charge>,
}

impl Reservation {
    pub(crate) fn new(
        caller: &Caller,
        plans: &Plans,
        worst_case: Option<Charge>,
        now: Timestamp,
    ) -> Self {
        let (start, end) = now.cycle(caller.cycle_anchor_day);
        // A tier that the policy does not know includes nothing: metering fails closed.
        let plan = || {
            plans
                .find(&caller.plan_tier)
                .map_or(Micro::ZERO, |plan| plan.monthly_credits)
        };
        let allotment = Some(caller.monthly_credits.unwrap_or_else(plan));
        Self {
            cycle: Cycle { start, end },
            allotment,
            worst_case,
        }
    }

    pub(crate) fn hold(
        &self,
        gateway: &Gateway,
        caller: &Caller,
        request_id: &str,
        now: Timestamp,
    ) -> HoldRequest {
        HoldRequest {
            request_id: request_id.to_owned(),
            org_id: caller.organization_id.clone(),
            mode: caller.mode,
            cycle: self.cycle,
            allotment: self.allotment,
            worst_case: self.worst_case,
            replica_id: gateway.replica_id.clone(),
            now,
        }
    }
}

/// Judges the hold without taking it.
///
/// # Errors
/// `CONSUMPTION_BLOCKED`, `BUDGET_EXCEEDED`, or 503 where the store does not answer.
pub(crate) async fn check(
    gateway: &Gateway,
    caller: &Caller,
    reservation: &Reservation,
    request_id: &str,
    now: Timestamp,
) -> Result<(), Fault> {
    let hold = reservation.hold(gateway, caller, request_id, now);
    let judged = budget::check(&gateway.store, &hold).await;
    match judged.map_err(|error| Fault::unavailable(format_args!("budget: {error}")))? {
        budget::Reservation::Held => Ok(()),
        budget::Reservation::Refused(refusal) => Err(refused(&refusal, reservation.cycle)),
    }
}

/// A refused hold as the fault of contract 3.3.
pub(crate) fn refused(refusal: &Refusal, cycle: Cycle) -> Fault {
    let amount = |amount: Option<Micro>| amount.map_or(Value::Null, Micro::to_json);
    match refusal.limit {
        Limit::PlanCredits => Code::ConsumptionBlocked
            .fault()
            .detail("cycle_start", cycle.start.to_string())
            .detail("cycle_reset_at", cycle.end.to_string())
            .detail("allotment_credits", amount(refusal.allotment))
            .detail("used_credits", refusal.sums.used_credits.to_json())
            .detail("cap_kind", "plan_credits"),
        Limit::CreditCap | Limit::SpendCap => Code::BudgetExceeded
            .fault()
            .detail("cycle_reset_at", cycle.end.to_string())
            .detail("current_spend_usd", refusal.sums.used_spend_usd.to_json())
            .detail("cap_usd", amount(refusal.spend_cap_usd))
            .detail("current_credits", refusal.sums.used_credits.to_json())
            .detail("cap_credits", amount(refusal.credit_cap)),
    }
}
