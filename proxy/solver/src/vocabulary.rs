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
    &constraint::max_per_day::MAX_PER_DAY,
    &constraint::count::COUNT,
    &constraint::rolling::ROLLING,
    &constraint::minutes::MINUTES,
    &constraint::consecutive_days::CONSECUTIVE_DAYS,
    &constraint::consecutive_days_off::CONSECUTIVE_DAYS_OFF,
    &constraint::consecutive_slots::CONSECUTIVE_SLOTS,
    &constraint::forbidden_sequence::FORBIDDEN_SEQUENCE,
    &constraint::min_rest::MIN_REST,
    &constraint::no_overlap::NO_OVERLAP,
    &constraint::unavailable::UNAVAILABLE,
    &constraint::fixed::FIXED,
    &constraint::max_weekends::MAX_WEEKENDS,
    &constraint::complete_weekends::COMPLETE_WEEKENDS,
    &constraint::slot_mix::SLOT_MIX,
    &constraint::apart::APART,
    &constraint::together::TOGETHER,
    &constraint::same_resource::SAME_RESOURCE,
    &constraint::different_resources::DIFFERENT_RESOURCES,
    &preference::prefer::PREFER,
    &preference::avoid::AVOID,
    &preference::soft_coverage::SOFT_COVERAGE,
    &preference::balance::BALANCE,
    &preference::cost::COST,
    &preference::stability::STABILITY,
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
