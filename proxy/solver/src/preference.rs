//! Types that are preferences only, one file each.

mod avoid;
mod balance;
mod cost;
mod prefer;
mod soft_coverage;
mod stability;

pub(crate) use avoid::AVOID;
pub(crate) use balance::BALANCE;
pub(crate) use cost::COST;
pub(crate) use prefer::PREFER;
pub(crate) use soft_coverage::{SOFT_COVERAGE, SoftCoverage};
pub(crate) use stability::STABILITY;
