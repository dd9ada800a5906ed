//! A solve spec as it was accepted: resources, slots and rules in canonical order, so that the order in which a
//! caller lists things changes nothing. Knows no engine.

pub(crate) mod calendar;
mod canonical;
mod fields;
mod item;
mod parse;
pub(crate) mod places;
pub(crate) mod problem;
pub(crate) mod scope;

pub use parse::parse;

pub(crate) use item::ItemReader;

use std::collections::BTreeMap;

use calendar::Calendar;
use places::Places;

use crate::rule::Rule;

/// Largest spec (issue 6; the interface leaves the bounds open).
pub(crate) const MAX_RESOURCES: usize = 500;
pub(crate) const MAX_SLOTS: usize = 5_000;
pub(crate) const MAX_ITEMS: usize = 2_000;
pub(crate) const MAX_REQUIREMENTS: usize = 20;
/// Pairs of a resource and a slot that it could take.
pub(crate) const MAX_PAIRS: usize = 300_000;
/// Two years: every day between the first slot and the last has a place in sequences.
pub(crate) const MAX_DAYS: usize = 731;
/// Penalty units that one wish may weigh.
pub(crate) const MAX_WEIGHT: i64 = 1_000_000;
/// Characters of one id.
pub(crate) const MAX_ID_CHARS: usize = 200;
/// Largest number in a rule; no count, day or minute of a spec in bounds reaches it.
pub(crate) const MAX_NUMBER: i64 = 10_000_000;

/// Seconds (spec, Limits).
pub(crate) const DEFAULT_TIME_LIMIT_SECONDS: i64 = 10;
pub(crate) const MAX_TIME_LIMIT_SECONDS: i64 = 30;

/// An accepted spec. Holds the caller's data: no Debug, no Display.
pub struct Spec {
    /// By id.
    pub(crate) resources: Vec<Resource>,
    /// By day, start and id.
    pub(crate) slots: Vec<Slot>,
    pub(crate) calendar: Calendar,
    pub(crate) hard: Vec<Item>,
    pub(crate) soft: Vec<Item>,
    pub(crate) time_limit_seconds: i64,
}

pub(crate) struct Resource {
    pub(crate) id: String,
    pub(crate) attributes: Attributes,
    /// Where the caller listed it.
    pub(crate) place: usize,
}

pub(crate) struct Slot {
    pub(crate) id: String,
    /// Days after the first day of the spec.
    pub(crate) day: usize,
    pub(crate) times: Option<Times>,
    pub(crate) attributes: Attributes,
    pub(crate) requirements: Vec<Requirement>,
    /// Where the caller listed it.
    pub(crate) place: usize,
}

/// Minutes after the first midnight of the spec; `end` is later than `start`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Times {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl Times {
    pub(crate) const fn minutes(self) -> i64 {
        self.end - self.start
    }
}

pub(crate) struct Requirement {
    pub(crate) count: i64,
    /// Resources that may fill it, ascending.
    pub(crate) eligible: Places,
    /// The condition in words, for conflicts.
    pub(crate) words: String,
}

/// Attribute values as canonical JSON: equal texts are equal values, and 1, "1" and true differ.
pub(crate) type Attributes = BTreeMap<String, String>;

/// One constraint or preference.
pub(crate) struct Item {
    /// The word of its type, and its `id` or else its place: `<type>:<id>`.
    pub(crate) label: String,
    pub(crate) rule: Box<dyn Rule>,
    /// Penalty per unit of violation; 0 for constraints.
    pub(crate) weight: i64,
}

impl Slot {
    /// People that it needs in all.
    pub(crate) fn need(&self) -> i64 {
        self.requirements
            .iter()
            .map(|requirement| requirement.count)
            .sum()
    }

    /// Whether this resource is among the [`Self::candidates`].
    pub(crate) fn admits(&self, resource: usize) -> bool {
        let mut requirements = self.requirements.iter();
        requirements.any(|requirement| requirement.eligible.binary_search(&resource).is_ok())
    }

    /// Resources that may fill at least one requirement, ascending.
    pub(crate) fn candidates(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self
            .requirements
            .iter()
            .flat_map(|requirement| requirement.eligible.iter().copied())
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
