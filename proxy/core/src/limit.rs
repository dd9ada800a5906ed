//! Rate limits as pure functions over one stored number each, so that every store of them (memory, SQL, Redis) keeps
//! one cell per bucket and passes the same vectors (contract 6).

use crate::gcra::{Decision, Quota};
use crate::time::{MS_PER_DAY, Timestamp};

/// How one bucket is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// GCRA. The cell is the theoretical arrival time in microseconds.
    Rate(Quota),
    /// Requests per UTC day. The cell is the number of the day, shifted by [`DAY_SHIFT`], and the count of that day.
    Daily(u32),
}

/// What one request does to one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub allowed: bool,
    /// Requests of one window or day: that of the rule.
    pub limit: u32,
    /// Requests that would still pass at this instant.
    pub remaining: u32,
    /// When the limit is whole again.
    pub reset: Timestamp,
    /// Whole seconds until a denied request may pass, at least 1; 0 for one that passed.
    pub retry_after_seconds: u64,
}

/// A verdict and the cell that stands in the bucket from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub verdict: Verdict,
    /// To be stored in place of the old cell. A denied request uses nothing up.
    pub cell: i64,
}

/// A count takes the lower 32 bits of a daily cell.
pub const DAY_SHIFT: u32 = 32;

/// Microseconds in a millisecond: cells and clocks of limits count in microseconds.
pub const US_PER_MS: i64 = 1_000;
/// Microseconds in a UTC day.
pub const US_PER_DAY: i64 = MS_PER_DAY * US_PER_MS;

/// The window of a limit by minute.
pub const MINUTE_MS: u32 = 60_000;

impl Rule {
    /// This many requests a minute.
    pub const fn per_minute(limit: u32) -> Self {
        Self::Rate(Quota {
            limit,
            window_ms: MINUTE_MS,
        })
    }

    /// Requests of one window or day; 0 is closed.
    pub const fn limit(self) -> u32 {
        match self {
            Self::Rate(quota) => quota.limit,
            Self::Daily(limit) => limit,
        }
    }

    /// The same rule for one of `replicas` that cannot see each other. What is open stays open by one request.
    #[must_use]
    pub fn shared_by(self, replicas: u32) -> Self {
        let part = |limit: u32| share(limit, replicas);
        match self {
            Self::Rate(quota) => Self::Rate(Quota {
                limit: part(quota.limit),
                ..quota
            }),
            Self::Daily(limit) => Self::Daily(part(limit)),
        }
    }

    /// Decides one request at `now_us` for a bucket with this cell (0 for a fresh one).
    pub fn take(self, cell: i64, now_us: i64) -> Taken {
        match self {
            Self::Rate(quota) => rate(quota, cell, now_us),
            Self::Daily(limit) => daily(limit, cell, now_us),
        }
    }

    /// From when on (microseconds) a bucket with this cell is as good as a fresh one.
    pub const fn idle_from_us(self, cell: i64) -> i64 {
        match self {
            Self::Rate(_) => cell,
            Self::Daily(_) => ((cell >> DAY_SHIFT) + 1) * US_PER_DAY,
        }
    }
}

/// An equal part of a limit, at least 1 of what is not closed.
pub fn share(limit: u32, replicas: u32) -> u32 {
    (limit / replicas.max(1)).max(limit.min(1))
}

fn rate(quota: Quota, cell: i64, now_us: i64) -> Taken {
    match quota.decide(cell, now_us) {
        Decision::Allow {
            tat_us,
            remaining,
            reset,
        } => Taken {
            verdict: Verdict {
                allowed: true,
                limit: quota.limit,
                remaining,
                reset,
                retry_after_seconds: 0,
            },
            cell: tat_us,
        },
        Decision::Deny {
            retry_after_ms,
            reset,
        } => Taken {
            verdict: Verdict {
                allowed: false,
                limit: quota.limit,
                remaining: 0,
                reset,
                retry_after_seconds: retry_after_ms.div_ceil(1_000).max(1),
            },
            cell,
        },
    }
}

fn daily(limit: u32, cell: i64, now_us: i64) -> Taken {
    let today = now_us.div_euclid(US_PER_DAY);
    let used = if cell >> DAY_SHIFT == today {
        cell & i64::from(u32::MAX)
    } else {
        0
    };
    let allowed = used < i64::from(limit);
    let count = used + i64::from(allowed);
    let tomorrow_us = (today + 1) * US_PER_DAY;
    let wait_ms = (tomorrow_us - now_us).div_euclid(US_PER_MS);
    let verdict = Verdict {
        allowed,
        limit,
        remaining: u32::try_from(i64::from(limit) - count).unwrap_or_default(),
        reset: Timestamp(tomorrow_us.div_euclid(US_PER_MS)),
        retry_after_seconds: if allowed {
            0
        } else {
            wait_ms.unsigned_abs().div_ceil(1_000).max(1)
        },
    };
    Taken {
        verdict,
        cell: (today << DAY_SHIFT) + count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_US: i64 = 1_795_205_340_123_000;

    #[test]
    fn a_day_ends_at_midnight_utc() {
        let rule = Rule::Daily(1);
        let first = rule.take(0, NOW_US);
        assert!(first.verdict.allowed && first.verdict.remaining == 0);
        let second = rule.take(first.cell, NOW_US);
        assert!(!second.verdict.allowed);
        assert_eq!(second.cell, first.cell);
        let midnight_us = rule.idle_from_us(first.cell);
        assert_eq!(
            second.verdict.reset,
            Timestamp(midnight_us.div_euclid(US_PER_MS))
        );
        assert!(!rule.take(first.cell, midnight_us - 1).verdict.allowed);
        assert!(rule.take(first.cell, midnight_us).verdict.allowed);
    }

    #[test]
    fn a_replica_alone_never_gets_more_than_its_share_and_never_nothing() {
        assert_eq!([share(600, 3), share(2, 3), share(0, 3)], [200, 1, 0]);
        assert_eq!(share(600, 0), 600);
        assert_eq!(Rule::Daily(10).shared_by(2).limit(), 5);
    }
}
