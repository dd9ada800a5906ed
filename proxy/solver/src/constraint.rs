//! Types of constraints, one file each: what it asks, as JSON, in the model, on a roster and in words. All but
//! two also serve as preferences.

pub(crate) mod apart;
pub(crate) mod complete_weekends;
pub(crate) mod consecutive_days;
pub(crate) mod consecutive_days_off;
pub(crate) mod consecutive_slots;
pub(crate) mod count;
pub(crate) mod different_resources;
pub(crate) mod fixed;
pub(crate) mod forbidden_sequence;
pub(crate) mod max_per_day;
pub(crate) mod max_weekends;
pub(crate) mod min_rest;
pub(crate) mod minutes;
pub(crate) mod no_overlap;
pub(crate) mod rolling;
mod runs;
pub(crate) mod same_resource;
pub(crate) mod slot_mix;
mod spacing;
pub(crate) mod together;
pub(crate) mod unavailable;
