//! Which resources, slots and days a rule is about.

use super::Spec;
use super::places::Places;

/// Of every rule. Ascending places in the spec's own order.
#[derive(Default)]
pub(crate) struct Scope {
    pub(crate) resources: Places,
    pub(crate) slots: Places,
    /// Days that sequences and windows run over.
    pub(crate) days: Days,
}

/// Days from `first` until before `end`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Days {
    pub(crate) first: usize,
    pub(crate) end: usize,
}

impl Days {
    pub(crate) const fn len(self) -> usize {
        self.end.saturating_sub(self.first)
    }
}

impl Scope {
    /// The slots of each day of the scope, from its first day on.
    pub(crate) fn by_day(&self, spec: &Spec) -> Vec<Vec<usize>> {
        by_day(&self.slots, self.days, spec)
    }

    /// Slots of each day that has any.
    pub(crate) fn busy_days(&self, spec: &Spec) -> Vec<Vec<usize>> {
        let mut days = self.by_day(spec);
        days.retain(|day| !day.is_empty());
        days
    }
}

/// Slots by day, from the first of these days on.
pub(crate) fn by_day(slots: &[usize], days: Days, spec: &Spec) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); days.len()];
    for slot in slots {
        let day = spec.slots.get(*slot).map(|slot| slot.day);
        let place = day.and_then(|day| day.checked_sub(days.first));
        if let Some(day) = place.and_then(|place| found.get_mut(place)) {
            day.push(*slot);
        }
    }
    found
}
