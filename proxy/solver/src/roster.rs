//! A roster: who takes which slot. What answers are made of, and what rules are checked on.

use crate::spec::Spec;

pub(crate) struct Roster<'a> {
    pub(crate) spec: &'a Spec,
    /// For each slot its resources, ascending.
    pub(crate) by_slot: Vec<Vec<usize>>,
    /// Row by row of resources.
    taken: Vec<bool>,
}

impl<'a> Roster<'a> {
    pub(crate) fn new(spec: &'a Spec, by_slot: Vec<Vec<usize>>) -> Self {
        let width = spec.slots.len();
        let mut taken = vec![false; width * spec.resources.len()];
        for (slot, resources) in by_slot.iter().enumerate() {
            for resource in resources {
                if let Some(cell) = taken.get_mut(resource * width + slot) {
                    *cell = true;
                }
            }
        }
        Self {
            spec,
            by_slot,
            taken,
        }
    }

    pub(crate) fn takes(&self, resource: usize, slot: usize) -> bool {
        let cell = resource * self.spec.slots.len() + slot;
        self.taken.get(cell).copied().unwrap_or(false)
    }

    pub(crate) fn takes_any(&self, resource: usize, slots: &[usize]) -> bool {
        slots.iter().any(|slot| self.takes(resource, *slot))
    }

    /// How many of these slots a resource takes.
    pub(crate) fn count(&self, resource: usize, slots: &[usize]) -> i64 {
        self.sum(resource, slots, |_| 1)
    }

    /// Minutes that a resource spends in these slots.
    pub(crate) fn minutes(&self, resource: usize, slots: &[usize]) -> i64 {
        self.sum(resource, slots, |slot| {
            let times = self.spec.slots.get(slot).and_then(|slot| slot.times);
            times.map_or(0, |times| times.end - times.start)
        })
    }

    fn sum(&self, resource: usize, slots: &[usize], worth: impl Fn(usize) -> i64) -> i64 {
        slots
            .iter()
            .filter(|slot| self.takes(resource, **slot))
            .map(|slot| worth(*slot))
            .sum()
    }

    /// Ids of each slot and its people.
    pub(crate) fn ids(&self) -> Vec<(String, Vec<String>)> {
        let name = |place: &usize| self.spec.resources.get(*place).map(|one| one.id.clone());
        let slots = self.spec.slots.iter().zip(&self.by_slot);
        slots
            .map(|(slot, people)| (slot.id.clone(), people.iter().filter_map(name).collect()))
            .collect()
    }

    /// Who takes a slot.
    pub(crate) fn people(&self, slot: usize) -> &[usize] {
        self.by_slot.get(slot).map_or(&[], Vec::as_slice)
    }
}

/// How far a number is outside of its bounds.
pub(crate) fn outside(number: i64, min: Option<i64>, max: Option<i64>) -> u64 {
    let under = min.map_or(0, |min| min - number).max(0);
    let over = max.map_or(0, |max| number - max).max(0);
    under.unsigned_abs() + over.unsigned_abs()
}
