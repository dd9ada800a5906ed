//! Types that are preferences only, one file each.

pub(crate) mod avoid;
pub(crate) mod balance;
pub(crate) mod cost;
pub(crate) mod prefer;
pub(crate) mod soft_coverage;
pub(crate) mod stability;
