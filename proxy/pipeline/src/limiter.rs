//! Rate limits of one replica, in memory: GCRA buckets and daily counters (contract 6).

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use parking_lot::Mutex;
use svc_core::gcra::{Decision, Quota};
use svc_core::time::Timestamp;

/// Locks are held for one map operation; the count keeps unrelated keys apart.
const SHARDS: usize = 16;

/// A shard that grows past this drops the buckets that are full again, so that memory stays bounded by the
/// callers of one window.
const SWEEP_ABOVE_ENTRIES: usize = 4_096;

const US_PER_MS: i64 = 1_000;

/// What one request does to one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub allowed: bool,
    pub limit: u32,
    pub remaining: u32,
    /// When the limit is whole again.
    pub reset: Timestamp,
    /// Whole seconds until a denied request may pass, at least 1.
    pub retry_after_seconds: u64,
}

/// Buckets by name. Names hold ids and prefixes, never content.
pub struct Limiter {
    hasher: RandomState,
    shards: [Mutex<HashMap<String, Cell>>; SHARDS],
}

#[derive(Clone, Copy)]
enum Cell {
    /// Theoretical arrival time in microseconds.
    Bucket(i64),
    /// Requests since `day`.
    Day { day: Timestamp, count: u32 },
}

impl Default for Limiter {
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            shards: std::array::from_fn(|_| Mutex::default()),
        }
    }
}

impl Limiter {
    /// Takes one request out of a GCRA bucket.
    pub fn take(&self, bucket: &str, quota: Quota, now_us: i64) -> Verdict {
        self.with(bucket, now_us, |cell| {
            let tat_us = if let Some(Cell::Bucket(tat_us)) = cell {
                *tat_us
            } else {
                0
            };
            let decision = quota.decide(tat_us, now_us);
            if let Decision::Allow { tat_us, .. } = decision {
                *cell = Some(Cell::Bucket(tat_us));
            }
            verdict(decision, quota)
        })
    }

    /// Whether the next request would pass, without taking it.
    pub fn peek(&self, bucket: &str, quota: Quota, now_us: i64) -> Verdict {
        let shard = self.shard(bucket).lock();
        let tat_us = if let Some(Cell::Bucket(tat_us)) = shard.get(bucket) {
            *tat_us
        } else {
            0
        };
        verdict(quota.decide(tat_us, now_us), quota)
    }

    /// Takes one request out of a UTC day's fixed count.
    pub fn take_daily(&self, bucket: &str, limit: u32, now_us: i64) -> Verdict {
        let now = Timestamp(now_us.div_euclid(US_PER_MS));
        let (today, tomorrow) = now.day();
        self.with(bucket, now_us, |cell| {
            let used = match cell {
                Some(Cell::Day { day, count }) if *day == today => *count,
                _ => 0,
            };
            let allowed = used < limit;
            let count = used + u32::from(allowed);
            *cell = Some(Cell::Day { day: today, count });
            let wait_ms = tomorrow.0 - now.0;
            Verdict {
                allowed,
                limit,
                remaining: limit.saturating_sub(count),
                reset: tomorrow,
                retry_after_seconds: wait_ms.unsigned_abs().div_ceil(1_000).max(1),
            }
        })
    }

    fn shard(&self, bucket: &str) -> &Mutex<HashMap<String, Cell>> {
        let at = self.hasher.hash_one(bucket) as usize % SHARDS;
        // `at` is below the array's length by construction.
        self.shards.get(at).unwrap_or(&self.shards[0])
    }

    fn with<T>(&self, bucket: &str, now_us: i64, change: impl FnOnce(&mut Option<Cell>) -> T) -> T {
        let mut shard = self.shard(bucket).lock();
        let mut cell = shard.get(bucket).copied();
        let answer = change(&mut cell);
        if let Some(cell) = cell {
            match shard.get_mut(bucket) {
                Some(kept) => *kept = cell,
                None => {
                    if shard.len() >= SWEEP_ABOVE_ENTRIES {
                        let (today, _) = Timestamp(now_us.div_euclid(US_PER_MS)).day();
                        shard.retain(|_, cell| match cell {
                            Cell::Bucket(tat_us) => *tat_us > now_us,
                            Cell::Day { day, .. } => *day == today,
                        });
                    }
                    shard.insert(bucket.to_owned(), cell);
                }
            }
        }
        answer
    }
}

fn verdict(decision: Decision, quota: Quota) -> Verdict {
    match decision {
        Decision::Allow {
            remaining, reset, ..
        } => Verdict {
            allowed: true,
            limit: quota.limit,
            remaining,
            reset,
            retry_after_seconds: 0,
        },
        Decision::Deny {
            retry_after_ms,
            reset,
        } => Verdict {
            allowed: false,
            limit: quota.limit,
            remaining: 0,
            reset,
            retry_after_seconds: retry_after_ms.div_ceil(1_000).max(1),
        },
    }
}

/// Requests in flight by credential.
#[derive(Clone, Default)]
pub struct Slots(Arc<Mutex<HashMap<String, u32>>>);

/// A place among them; dropping it makes room for the next request.
pub struct Slot {
    slots: Slots,
    credential: String,
}

impl Slots {
    /// A place, or the number of those that are taken.
    pub(crate) fn take(&self, credential: &str, limit: u32) -> Result<Slot, u32> {
        let mut taken = self.0.lock();
        let in_flight = taken.get(credential).copied().unwrap_or_default();
        if in_flight >= limit {
            return Err(in_flight);
        }
        taken.insert(credential.to_owned(), in_flight + 1);
        drop(taken);
        Ok(Slot {
            slots: self.clone(),
            credential: credential.to_owned(),
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.slots.0.lock();
        match taken.get_mut(&self.credential) {
            Some(in_flight) if *in_flight > 1 => *in_flight -= 1,
            _ => {
                taken.remove(&self.credential);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_US: i64 = 1_795_205_340_123_000;
    const QUOTA: Quota = Quota {
        limit: 2,
        window_ms: 60_000,
    };

    #[test]
    fn buckets_are_apart() {
        let limiter = Limiter::default();
        assert!(limiter.take("key:a", QUOTA, NOW_US).allowed);
        assert!(limiter.take("key:a", QUOTA, NOW_US).allowed);
        let denied = limiter.take("key:a", QUOTA, NOW_US);
        assert!(!denied.allowed && denied.retry_after_seconds == 30);
        assert!(limiter.take("key:b", QUOTA, NOW_US).allowed);
    }

    #[test]
    fn a_day_ends_at_midnight_utc() {
        let limiter = Limiter::default();
        assert!(limiter.take_daily("org", 1, NOW_US).allowed);
        assert!(!limiter.take_daily("org", 1, NOW_US).allowed);
        let (_, tomorrow) = Timestamp(NOW_US / 1_000).day();
        assert!(limiter.take_daily("org", 1, tomorrow.0 * 1_000).allowed);
    }

    #[test]
    fn memory_is_bounded_by_the_callers_of_one_window() {
        let limiter = Limiter::default();
        for caller in 0..200_000_i64 {
            limiter.take(
                &format!("address:{caller}"),
                QUOTA,
                NOW_US + caller * 1_000_000,
            );
        }
        let entries: usize = limiter.shards.iter().map(|shard| shard.lock().len()).sum();
        assert!(entries <= SHARDS * (SWEEP_ABOVE_ENTRIES + 1), "{entries}");
    }
}
