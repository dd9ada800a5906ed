//! Places of resources and slots that rules are about. Rules that choose alike hold one list together, and what all
//! lists of a spec hold is bounded, because a short condition can choose thousands.

use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::Arc;

use super::Attributes;
use super::item::Condition;
use super::scope::Days;

/// Ascending places in the spec's own order.
#[derive(Clone, Default)]
pub(crate) struct Places(Arc<[usize]>);

impl Deref for Places {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a Places {
    type Item = &'a usize;
    type IntoIter = std::slice::Iter<'a, usize>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// Which resources, or which slots, have which attributes.
pub(crate) struct Index<'a> {
    size: usize,
    having: HashMap<(&'a str, &'a str), Vec<usize>>,
}

impl<'a> Index<'a> {
    pub(crate) fn new(attributes: impl Iterator<Item = &'a Attributes>) -> Self {
        let (mut size, mut having) = (0, HashMap::<_, Vec<usize>>::new());
        for (place, attributes) in attributes.enumerate() {
            size = place + 1;
            for (key, value) in attributes {
                having
                    .entry((key.as_str(), value.as_str()))
                    .or_default()
                    .push(place);
            }
        }
        Self { size, having }
    }

    /// Those that meet a condition.
    fn meeting(&self, condition: &Condition) -> Vec<usize> {
        let lists = condition.parts().map(|part| self.having.get(&part));
        let Some(mut lists) = lists.collect::<Option<Vec<_>>>() else {
            return Vec::new();
        };
        lists.sort_by_key(|list| list.len());
        let Some((shortest, others)) = lists.split_first() else {
            return (0..self.size).collect();
        };
        let mut chosen = shortest.to_vec();
        for list in others {
            keep_common(&mut chosen, list);
        }
        chosen
    }
}

/// Leaves what stands in both; both ascend.
pub(crate) fn keep_common(chosen: &mut Vec<usize>, other: &[usize]) {
    let mut rest = other.iter().peekable();
    chosen.retain(|place| {
        while rest.next_if(|other| *other < place).is_some() {}
        rest.peek() == Some(&place)
    });
}

/// Places in all lists of one spec: 40 MB. Rules that choose more would expand to more than the engine gets.
const MAX_KEPT: usize = 5_000_000;

/// The lists of a spec that is being read.
#[derive(Default)]
pub(crate) struct Lists {
    resources: HashMap<Condition, Places>,
    slots: HashMap<(Condition, Days), Places>,
    kept: usize,
}

impl Lists {
    /// Whether the spec chooses more than it may; nothing more needs to be read then.
    pub(crate) const fn are_too_long(&self) -> bool {
        self.kept > MAX_KEPT
    }

    /// A list that nothing else shares.
    pub(crate) fn keep(&mut self, places: Vec<usize>) -> Places {
        self.kept += places.len();
        Places(places.into())
    }

    /// The resources that meet a condition.
    pub(crate) fn resources(&mut self, index: &Index<'_>, condition: &Condition) -> Places {
        if let Some(known) = self.resources.get(condition) {
            return known.clone();
        }
        let places = self.keep(index.meeting(condition));
        self.resources.insert(condition.clone(), places.clone());
        places
    }

    /// The slots that meet a condition on some days; these are their places.
    pub(crate) fn slots(
        &mut self,
        index: &Index<'_>,
        condition: &Condition,
        days: Days,
        on_days: &Range<usize>,
    ) -> Places {
        let key = (condition.clone(), days);
        if let Some(known) = self.slots.get(&key) {
            return known.clone();
        }
        let mut chosen = index.meeting(condition);
        chosen.retain(|slot| on_days.contains(slot));
        let places = self.keep(chosen);
        self.slots.insert(key, places.clone());
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(one: &[usize], other: &[usize]) -> Vec<usize> {
        let mut chosen = one.to_vec();
        keep_common(&mut chosen, other);
        chosen
    }

    #[test]
    fn what_is_common_stands_in_both() {
        assert_eq!(common(&[1, 3, 5, 9], &[0, 3, 4, 9, 12]), [3, 9]);
        assert_eq!(common(&[1, 3], &[]), [0; 0]);
        assert_eq!(common(&[], &[1, 3]), [0; 0]);
        assert_eq!(common(&[7], &[1, 3, 7]), [7]);
    }

    #[test]
    fn choices_that_are_alike_are_held_once() {
        let attributes = [Attributes::new(), Attributes::new()];
        let index = Index::new(attributes.iter());
        let mut lists = Lists::default();
        let everybody = Condition::default();
        let one = lists.resources(&index, &everybody);
        let other = lists.resources(&index, &everybody);
        assert_eq!(*one, [0, 1]);
        assert!(Arc::ptr_eq(&one.0, &other.0));
        assert_eq!(lists.kept, 2);
    }
}
