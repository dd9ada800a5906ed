//! Types of constraints, one file each: what it asks, as JSON, in the model, on a roster and in words. All but
//! two also serve as preferences.

mod apart;
mod complete_weekends;
mod consecutive_days;
mod consecutive_days_off;
mod consecutive_slots;
mod count;
mod different_resources;
mod fixed;
mod forbidden_sequence;
mod max_per_day;
mod max_weekends;
mod min_rest;
mod minutes;
mod no_overlap;
mod rolling;
mod runs;
mod same_resource;
mod slot_mix;
mod spacing;
mod together;
mod unavailable;

pub(crate) use apart::APART;
pub(crate) use complete_weekends::COMPLETE_WEEKENDS;
pub(crate) use consecutive_days::CONSECUTIVE_DAYS;
pub(crate) use consecutive_days_off::CONSECUTIVE_DAYS_OFF;
pub(crate) use consecutive_slots::CONSECUTIVE_SLOTS;
pub(crate) use count::COUNT;
pub(crate) use different_resources::DIFFERENT_RESOURCES;
pub(crate) use fixed::FIXED;
pub(crate) use forbidden_sequence::FORBIDDEN_SEQUENCE;
pub(crate) use max_per_day::MAX_PER_DAY;
pub(crate) use max_weekends::MAX_WEEKENDS;
pub(crate) use min_rest::MIN_REST;
pub(crate) use minutes::MINUTES;
pub(crate) use no_overlap::NO_OVERLAP;
pub(crate) use rolling::ROLLING;
pub(crate) use same_resource::SAME_RESOURCE;
pub(crate) use slot_mix::SLOT_MIX;
pub(crate) use together::TOGETHER;
pub(crate) use unavailable::UNAVAILABLE;
