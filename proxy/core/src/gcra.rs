//! The generic cell rate algorithm as one pure function.
//!
//! State is a single number, the theoretical arrival time (TAT) of the next conforming request, so that
//! every store (memory, SQL, Redis) can keep it in one cell and pass the same vectors.

use crate::limit::US_PER_MS;
use crate::time::Timestamp;

/// `limit` requests per `window_ms`, all of which may come at once (burst = limit, contract 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub limit: u32,
    /// The time in which an empty bucket is full again.
    pub window_ms: u32,
}

/// What one request does to a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow {
        /// To be stored in place of the old TAT, in microseconds since the Unix epoch.
        tat_us: i64,
        /// Requests that would still pass at this instant.
        remaining: u32,
        /// When the bucket is full again.
        reset: Timestamp,
    },
    Deny {
        /// Milliseconds until one request would pass, at least 1.
        retry_after_ms: u64,
        reset: Timestamp,
    },
}

impl Quota {
    /// Microseconds that one request takes out of the bucket; of a closed limit, its whole window.
    pub fn emission_us(self) -> i64 {
        let window_us = i64::from(self.window_ms) * US_PER_MS;
        (window_us / i64::from(self.limit.max(1))).max(1)
    }

    /// Decides one request at `now_us` (microseconds) for a bucket whose last TAT was `tat_us`
    /// (0 for a fresh one). A limit of 0 is closed: every request is denied for one window.
    ///
    /// No request moves the TAT further than one burst past its own time. One that stands more than two ahead comes from
    /// a clock that has been set back since, and counts as none: nobody waits longer than one window. (Two, because
    /// requests need not come in the order of their times.)
    pub fn decide(self, tat_us: i64, now_us: i64) -> Decision {
        let window_us = i64::from(self.window_ms) * US_PER_MS;
        if self.limit == 0 {
            let reset = ceil_ms(now_us + window_us);
            return Decision::Deny {
                retry_after_ms: u64::from(self.window_ms),
                reset,
            };
        }
        let emission_us = self.emission_us();
        let burst_us = emission_us * i64::from(self.limit);
        let is_of_a_clock_set_back = tat_us > now_us + 2 * burst_us;
        let base_us = if is_of_a_clock_set_back {
            now_us
        } else {
            tat_us.max(now_us)
        };
        let next_us = base_us + emission_us;
        let earliest_us = next_us - burst_us;
        if earliest_us > now_us {
            let wait_us = earliest_us - now_us;
            let retry_after_ms =
                wait_us.div_euclid(US_PER_MS) + i64::from(wait_us.rem_euclid(US_PER_MS) > 0);
            return Decision::Deny {
                retry_after_ms: retry_after_ms.max(1).unsigned_abs(),
                reset: ceil_ms(base_us),
            };
        }
        let remaining = (now_us - earliest_us) / emission_us;
        Decision::Allow {
            tat_us: next_us,
            remaining: u32::try_from(remaining).unwrap_or(u32::MAX),
            reset: ceil_ms(next_us),
        }
    }
}

fn ceil_ms(us: i64) -> Timestamp {
    Timestamp(us.div_euclid(US_PER_MS) + i64::from(us.rem_euclid(US_PER_MS) > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PER_MINUTE: Quota = Quota {
        limit: 60,
        window_ms: 60_000,
    };

    #[test]
    fn a_full_burst_passes_and_the_next_is_denied() {
        let (mut tat, now) = (0, 1_000_000_000_000);
        for left in (0..60).rev() {
            let Decision::Allow {
                tat_us, remaining, ..
            } = PER_MINUTE.decide(tat, now)
            else {
                unreachable!()
            };
            assert_eq!(remaining, left);
            tat = tat_us;
        }
        let Decision::Deny { retry_after_ms, .. } = PER_MINUTE.decide(tat, now) else {
            unreachable!()
        };
        assert_eq!(retry_after_ms, 1_000);
        assert!(matches!(
            PER_MINUTE.decide(tat, now + 1_000_000),
            Decision::Allow { remaining: 0, .. }
        ));
        assert!(matches!(
            PER_MINUTE.decide(tat, now + 999_000),
            Decision::Deny {
                retry_after_ms: 1,
                ..
            }
        ));
    }

    #[test]
    fn a_clock_that_is_set_back_costs_one_window_at_most() {
        let (now, window_us) = (1_000_000_000_000, 60_000_000);
        for ahead_us in [3_600_000_000, 86_400_000_000, 2 * window_us + 1] {
            let Decision::Allow {
                tat_us, remaining, ..
            } = PER_MINUTE.decide(now + ahead_us, now)
            else {
                unreachable!("{ahead_us}")
            };
            assert_eq!((tat_us, remaining), (now + 1_000_000, 59));
        }
        let Decision::Deny { retry_after_ms, .. } = PER_MINUTE.decide(now + 2 * window_us, now)
        else {
            unreachable!()
        };
        assert_eq!(retry_after_ms, 61_000);
        // A request that comes before one of a later time is one of the same burst.
        let full = PER_MINUTE.decide(now + window_us, now - 1_000);
        assert!(matches!(full, Decision::Deny { .. }));
    }

    #[test]
    fn zero_is_closed() {
        assert!(matches!(
            Quota {
                limit: 0,
                window_ms: 60_000
            }
            .decide(0, 5),
            Decision::Deny { .. }
        ));
    }

    #[test]
    fn limits_above_one_per_microsecond_do_not_divide_by_zero() {
        assert!(matches!(
            Quota {
                limit: u32::MAX,
                window_ms: 1
            }
            .decide(0, 5),
            Decision::Allow { .. }
        ));
    }
}
