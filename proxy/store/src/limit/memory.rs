//! Counters of one process. Places have no lease here: who holds one gives it back, and a process that dies takes its
//! memory along.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use parking_lot::Mutex;
use svc_core::limit::{Rule, Verdict};

use super::{Answer, Asked, Placed};

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
    /// Ids by bucket; no bucket is empty.
    places: HashMap<String, HashSet<String>>,
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
            let in_flight = shard.places.get(place.bucket).map_or(0, HashSet::len);
            let in_flight = u32::try_from(in_flight).unwrap_or(u32::MAX);
            let placed = Placed::of(in_flight, place.limit);
            if placed == Placed::Taken {
                let places = shard.places.entry(place.bucket.to_owned()).or_default();
                places.insert(place.id.to_owned());
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
    use crate::limit::{LEASE_US, Place};

    const NOW_US: i64 = 1_795_205_340_123_000;

    #[test]
    fn a_place_is_held_until_it_is_given_back() {
        let memory = Memory::default();
        let ask = |id: &str, now_us: i64| {
            let place = Place {
                id,
                bucket: "key:agc_a",
                limit: 1,
            };
            let asked = Asked {
                takes: &[],
                place: Some(place),
                now_us,
            };
            memory.take(&asked).place
        };
        assert_eq!(ask("first", NOW_US), Some(Placed::Taken));
        // As long as no lease lasts, and longer.
        for later_us in [LEASE_US + 1, 10 * LEASE_US] {
            assert_eq!(ask("second", NOW_US + later_us), Some(Placed::Full(1)));
        }
        memory.release("key:agc_a", "first");
        assert_eq!(ask("second", NOW_US), Some(Placed::Taken));
    }

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
