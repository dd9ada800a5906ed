//! Counters of one process.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use parking_lot::Mutex;
use svc_core::limit::{Rule, Verdict};

use super::{Answer, Asked, LEASE_US, Placed};

/// Locks are held for one map operation; the count keeps unrelated keys apart.
const SHARDS: usize = 16;

/// A shard that grows past this drops the buckets that are as good as fresh, so that memory stays bounded by the
/// callers of one window.
const SWEEP_ABOVE_ENTRIES: usize = 4_096;

/// Buckets and places by name.
pub struct Memory {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Default)]
struct Shard {
    cells: HashMap<String, Cell>,
    /// Ends of leases in microseconds, by bucket and id.
    places: HashMap<String, HashMap<String, i64>>,
}

#[derive(Clone, Copy)]
struct Cell {
    value: i64,
    idle_from_us: i64,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            shards: std::array::from_fn(|_| Mutex::default()),
        }
    }
}

impl Memory {
    /// Takes one request out of each bucket until one denies, then a place.
    pub fn take(&self, asked: &Asked<'_>) -> Answer {
        let mut answer = Answer::default();
        for (verdict, take) in answer.verdicts.iter_mut().zip(asked.takes) {
            let taken = self.take_one(take.bucket, take.rule, asked.now_us);
            *verdict = Some(taken);
            if !taken.allowed {
                return answer;
            }
        }
        if let Some(place) = asked.place {
            let mut shard = self.shard(place.bucket).lock();
            let places = shard.places.entry(place.bucket.to_owned()).or_default();
            places.retain(|_, lease_until| *lease_until > asked.now_us);
            let in_flight = u32::try_from(places.len()).unwrap_or(u32::MAX);
            let placed = Placed::of(in_flight, place.limit);
            if placed == Placed::Taken {
                places.insert(place.id.to_owned(), asked.now_us + LEASE_US);
            }
            answer.place = Some(placed);
        }
        answer
    }

    /// Takes one request out of one bucket.
    pub fn take_one(&self, bucket: &str, rule: Rule, now_us: i64) -> Verdict {
        let mut shard = self.shard(bucket).lock();
        let cells = &mut shard.cells;
        let kept = cells.get_mut(bucket);
        let taken = rule.take(kept.as_ref().map_or(0, |cell| cell.value), now_us);
        let cell = Cell {
            value: taken.cell,
            idle_from_us: rule.idle_from_us(taken.cell),
        };
        match kept {
            Some(kept) => *kept = cell,
            None => {
                if cells.len() >= SWEEP_ABOVE_ENTRIES {
                    cells.retain(|_, cell| cell.idle_from_us > now_us);
                }
                cells.insert(bucket.to_owned(), cell);
            }
        }
        taken.verdict
    }

    /// Whether the next request would pass, without taking it.
    pub fn peek(&self, bucket: &str, rule: Rule, now_us: i64) -> Verdict {
        let shard = self.shard(bucket).lock();
        let cell = shard.cells.get(bucket).map_or(0, |cell| cell.value);
        rule.take(cell, now_us).verdict
    }

    /// Gives a place back.
    pub fn release(&self, bucket: &str, id: &str) {
        let mut shard = self.shard(bucket).lock();
        if let Some(places) = shard.places.get_mut(bucket) {
            places.remove(id);
            if places.is_empty() {
                shard.places.remove(bucket);
            }
        }
    }

    /// Extends the lease of a place that is held.
    pub fn renew(&self, bucket: &str, id: &str, now_us: i64) {
        let mut shard = self.shard(bucket).lock();
        let places = shard.places.get_mut(bucket);
        if let Some(lease_until) = places.and_then(|places| places.get_mut(id)) {
            *lease_until = now_us + LEASE_US;
        }
    }

    fn shard(&self, bucket: &str) -> &Mutex<Shard> {
        let at = self.hasher.hash_one(bucket) as usize % SHARDS;
        // `at` is below the array's length by construction.
        self.shards.get(at).unwrap_or(&self.shards[0])
    }
}

#[cfg(test)]
mod tests {
    use svc_core::gcra::Quota;

    use super::*;

    const NOW_US: i64 = 1_795_205_340_123_000;

    #[test]
    fn memory_is_bounded_by_the_callers_of_one_window() {
        let memory = Memory::default();
        let rule = Rule::Rate(Quota {
            limit: 2,
            window_ms: 60_000,
        });
        for caller in 0..200_000_i64 {
            memory.take_one(
                &format!("address:{caller}"),
                rule,
                NOW_US + caller * 1_000_000,
            );
        }
        let entries: usize = memory
            .shards
            .iter()
            .map(|shard| shard.lock().cells.len())
            .sum();
        assert!(entries <= SHARDS * (SWEEP_ABOVE_ENTRIES + 1), "{entries}");
    }
}
