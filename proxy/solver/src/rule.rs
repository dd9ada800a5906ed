//! What every constraint and preference can do: be encoded for the engine, be checked on a roster without the
//! encoding, and say in words what it asks.

use crate::model::Encoder;
use crate::roster::Roster;
use crate::spec::Spec;

/// One constraint or preference of a spec.
pub(crate) trait Rule: Send + Sync {
    /// Adds it to the model: what it forbids, or in a preference what that costs.
    fn encode(&self, encoder: &mut Encoder<'_>);

    /// How far a roster is from it, in the units that docs/solve.md states; 0 is kept. Shares nothing with
    /// [`Rule::encode`].
    fn units(&self, roster: &Roster<'_>) -> u64;

    /// What it asks, in words, for conflicts.
    fn words(&self, spec: &Spec) -> String;

    /// Slots where it can ask for more people, not only for fewer: explanations keep these open.
    fn raises(&self) -> &[usize] {
        &[]
    }

    /// The same sums for each of its resources, where it is nothing else: identical people can then be counted
    /// together.
    fn rows(&self, _spec: &Spec) -> Option<Rows<'_>> {
        None
    }

    /// Whether it counts minutes: then a need is counted in them, too.
    fn counts_minutes(&self) -> bool {
        false
    }

    /// Its coverage wish, where it is one: coverage is the model's own.
    fn soft_coverage(&self) -> Option<&crate::preference::soft_coverage::SoftCoverage> {
        None
    }
}

/// Bounds on weighted sums of slots, each for every one of these resources.
pub(crate) struct Rows<'a> {
    pub(crate) resources: &'a [usize],
    pub(crate) sums: Vec<Sum>,
}

impl Rows<'_> {
    /// Of all sums, for one resource.
    pub(crate) fn terms(&self) -> usize {
        self.sums.iter().map(|sum| sum.terms.len()).sum()
    }
}

/// `min ≤ Σ weight·assigned ≤ max`.
#[derive(Clone)]
pub(crate) struct Sum {
    pub(crate) terms: Vec<(usize, i64)>,
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
}

impl Sum {
    /// One for each slot, at most so many.
    pub(crate) fn at_most(slots: &[usize], max: i64) -> Self {
        Self::between(slots, None, Some(max))
    }

    pub(crate) fn between(slots: &[usize], min: Option<i64>, max: Option<i64>) -> Self {
        Self {
            terms: slots.iter().map(|slot| (*slot, 1)).collect(),
            min,
            max,
        }
    }
}

/// Encodes sums for each resource.
pub(crate) fn encode_rows(rows: &Rows<'_>, encoder: &mut Encoder<'_>) {
    for resource in rows.resources {
        if encoder.is_full() {
            return;
        }
        for sum in &rows.sums {
            let terms = sum
                .terms
                .iter()
                .map(|(slot, weight)| (encoder.assigned(*resource, *slot), *weight))
                .collect();
            encoder.linear(terms, sum.min, sum.max);
        }
    }
}
