//! Checks a roster against its spec, without the model that it came from. No answer leaves that has not passed.

use crate::coverage::{self, Leeway};
use crate::roster::Roster;

/// A roster that its spec does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    #[error("a resource takes a slot that it is not eligible for")]
    Eligibility,
    #[error("a slot is not covered")]
    Coverage,
    #[error("a constraint is broken")]
    Constraint,
    #[error("the objective is not what was claimed")]
    Objective,
}

/// The objective of a roster that keeps all constraints.
///
/// # Errors
/// The first constraint that it breaks.
pub(crate) fn objective(roster: &Roster<'_>) -> Result<u64, Broken> {
    // Nothing ends it early, so there is an objective.
    objective_unless(roster, || false).map(Option::unwrap_or_default)
}

/// The same; `None` where checking is over before all rules were checked. It is asked for between rules.
///
/// # Errors
/// As [`objective`].
pub(crate) fn objective_unless(
    roster: &Roster<'_>,
    is_over: impl Fn() -> bool,
) -> Result<Option<u64>, Broken> {
    let spec = roster.spec;
    for (place, (slot, leeway)) in spec.slots.iter().zip(coverage::leeways(spec)).enumerate() {
        let candidates = slot.candidates();
        let people = roster.people(place);
        if !people
            .iter()
            .all(|person| candidates.binary_search(person).is_ok())
        {
            return Err(Broken::Eligibility);
        }
        if !is_covered(roster, place, leeway) {
            return Err(Broken::Coverage);
        }
    }
    for item in &spec.hard {
        if is_over() {
            return Ok(None);
        }
        if item.rule.units(roster) > 0 {
            return Err(Broken::Constraint);
        }
    }
    let mut penalty = 0;
    for item in &spec.soft {
        if is_over() {
            return Ok(None);
        }
        // A type that weighs itself counts in penalties already.
        let weight = item.weight.max(1).unsigned_abs();
        penalty += weight * item.rule.units(roster);
    }
    Ok(Some(penalty))
}

fn is_covered(roster: &Roster<'_>, slot: usize, leeway: Leeway) -> bool {
    let coverage = coverage::of(roster, slot);
    leeway.allows(coverage.missing, coverage.beyond)
}
