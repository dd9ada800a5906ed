//! The closed vocabulary: one row per type of constraint or preference.

use crate::rule::Rule;
use crate::spec::ItemReader;
use crate::{constraint, preference};

/// Where a type may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// In `constraints`: it holds in every answer.
    Hard,
    /// In `preferences`: each unit of violation costs its weight.
    Soft,
}

/// One type.
pub struct Form {
    pub word: &'static str,
    pub strengths: &'static [Strength],
    /// Whether its own fields say what it costs, in place of `weight`.
    pub weighs_itself: bool,
    /// What it asks.
    pub summary: &'static str,
    /// What one unit of violation is.
    pub unit: &'static str,
    /// An item, as JSON, without `weight`.
    pub example: &'static str,
    pub(crate) read: fn(&mut ItemReader<'_>) -> Box<dyn Rule>,
}

/// Every type.
pub static VOCABULARY: &[&Form] = &[
    &constraint::MAX_PER_DAY,
    &constraint::COUNT,
    &constraint::ROLLING,
    &constraint::MINUTES,
    &constraint::CONSECUTIVE_DAYS,
    &constraint::CONSECUTIVE_DAYS_OFF,
    &constraint::CONSECUTIVE_SLOTS,
    &constraint::FORBIDDEN_SEQUENCE,
    &constraint::MIN_REST,
    &constraint::NO_OVERLAP,
    &constraint::UNAVAILABLE,
    &constraint::FIXED,
    &constraint::MAX_WEEKENDS,
    &constraint::COMPLETE_WEEKENDS,
    &constraint::SLOT_MIX,
    &constraint::APART,
    &constraint::TOGETHER,
    &constraint::SAME_RESOURCE,
    &constraint::DIFFERENT_RESOURCES,
    &preference::PREFER,
    &preference::AVOID,
    &preference::SOFT_COVERAGE,
    &preference::BALANCE,
    &preference::COST,
    &preference::STABILITY,
];

pub(crate) const HARD: &[Strength] = &[Strength::Hard];
pub(crate) const SOFT: &[Strength] = &[Strength::Soft];
pub(crate) const BOTH: &[Strength] = &[Strength::Hard, Strength::Soft];

/// The type of this word, where it may stand.
pub(crate) fn find(word: &str, strength: Strength) -> Option<&'static Form> {
    VOCABULARY
        .iter()
        .copied()
        .find(|form| form.word == word && form.strengths.contains(&strength))
}
