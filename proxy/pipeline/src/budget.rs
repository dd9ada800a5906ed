//! What a run may cost at most, and what stands in its way (contract 12).

use serde_json::Value;
use svc_core::fault::{Code, Fault};
use svc_core::metering::Charge;
use svc_core::money::Micro;
use svc_core::time::Timestamp;
use svc_store::budget::{self, Cycle, HoldRequest, Judgement, Limit, Refusal, Room};

use crate::caller::Caller;
use crate::gateway::Gateway;
use crate::lately::Lately;
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
        let allotment = Some(caller.allotment(plans));
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

/// Organizations remembered at once; more are read from the store each time.
const MAX_ROOMS: u64 = 100_000;
/// How many requests like this one the remembered room must have space for, so that what others have taken since
/// then does not matter.
const AMPLE: i64 = 16;

/// What organizations had left when they were last asked about. It only saves a question whose answer is clear:
/// the hold itself is always taken in the store.
pub struct Rooms(Lately<String, Room>);

impl Default for Rooms {
    fn default() -> Self {
        Self(Lately::new(MAX_ROOMS))
    }
}

impl Rooms {
    /// The budget of this caller's organization was changed here: the next request asks.
    pub fn forget(&self, caller: &Caller) {
        self.0.forget(caller.buckets.organization.as_str());
    }

    fn is_ample(&self, caller: &Caller, worst_case: Charge) -> bool {
        let fits = |amount: Micro, room: Micro| amount.0.saturating_mul(AMPLE) <= room.0;
        self.0
            .fresh(caller.buckets.organization.as_str())
            .is_some_and(|room| {
                fits(worst_case.credits, room.credits) && fits(worst_case.cost_usd, room.spend_usd)
            })
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
    let clear = |worst_case| gateway.rooms.is_ample(caller, worst_case);
    if reservation.worst_case.is_none_or(clear) {
        return Ok(());
    }
    let unavailable = |error| Fault::unavailable(format_args!("budget: {error}"));
    let hold = reservation.hold(gateway, caller, request_id, now);
    let rooms = &gateway.rooms.0;
    let asked = rooms.asking();
    let judged = budget::check(&gateway.store, &hold).await;
    match judged.map_err(unavailable)? {
        Judgement::Fits(room) => {
            let organization = caller.buckets.organization.clone();
            rooms.keep(organization, room, asked);
            Ok(())
        }
        Judgement::Refused(refusal) => Err(refused(&refusal, reservation.cycle)),
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
