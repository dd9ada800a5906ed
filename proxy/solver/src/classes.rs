//! Classes of identical resources, counted instead of named: a relaxation that is small whatever the spec's size.
//! Infeasible here is infeasible; and where a roster can be dealt out from its counts, that roster is an answer.

use std::collections::HashMap;

use crate::coverage::Leeway;
use crate::engine::proto::{Constraint, CpModel, IntegerVariable, Linear};
use crate::model::MAX_TERMS;
use crate::roster::Roster;
use crate::rule::Rows;
use crate::spec::{Slot, Spec};

/// Terms of rows that are looked at for one relaxation, with those that are left out: about a second of work.
const MAX_READ: usize = 200_000_000;

/// Counts of each class in each slot.
pub(crate) struct Counts {
    pub(crate) proto: CpModel,
    /// Slot, class and variable.
    variables: Vec<(usize, usize, i32)>,
}

/// The relaxation of a spec, from which those of its parts are made.
pub(crate) struct Relaxation<'a> {
    spec: &'a Spec,
    leeways: &'a [Leeway],
    /// Of each constraint, without the slots that none of its resources can take; `None` for those that are not sums
    /// per resource, and for those beyond the bounds on all rows. These are left out.
    rows: Vec<Option<Rows<'a>>>,
    /// Resources that no slot and no row tells apart.
    classes: Vec<Vec<usize>>,
}

impl<'a> Relaxation<'a> {
    pub(crate) fn new(spec: &'a Spec, leeways: &'a [Leeway]) -> Self {
        let slots_of = slots_of(spec);
        let (mut read, mut kept) = (0, 0);
        let rows = spec.hard.iter().map(|item| {
            // Bounds on memory and time. A term stands here once for all resources of its rule, and in a model once for
            // each that can take its slot: what is too large for a model may well be counted.
            if read > MAX_READ || kept > MAX_TERMS {
                return None;
            }
            let mut rows = item.rule.rows(spec)?;
            read += rows.terms();
            narrow(&mut rows, &slots_of, spec.slots.len());
            kept += rows.terms();
            Some(rows)
        });
        let rows: Vec<Option<Rows<'_>>> = rows.collect();
        Self {
            spec,
            leeways,
            classes: classes(spec, &rows),
            rows,
        }
    }

    /// Whether it says all that these rules say of one resource.
    pub(crate) fn knows(&self, rules: &[usize]) -> bool {
        let row = |rule: &usize| self.rows.get(*rule).is_some_and(Option::is_some);
        rules.iter().all(row)
    }

    /// Some slots and rules of the spec; with `only`, of each slot the requirement whose condition reads so. `None` where
    /// that is more than the engine gets.
    pub(crate) fn counts(
        &self,
        covered: &[usize],
        rules: &[usize],
        only: Option<&str>,
    ) -> Option<Counts> {
        let mut open = covered.to_vec();
        for item in rules.iter().filter_map(|rule| self.spec.hard.get(*rule)) {
            open.extend_from_slice(item.rule.raises());
        }
        open.sort_unstable();
        open.dedup();
        let mut builder = Builder {
            classes: &self.classes,
            proto: CpModel::default(),
            by_slot: vec![Vec::new(); self.spec.slots.len()],
            variables: Vec::new(),
            terms: 0,
        };
        for slot in &open {
            let leeway = self.leeways.get(*slot).copied().unwrap_or_default();
            let is_covered = covered.binary_search(slot).is_ok();
            builder.slot(self.spec, *slot, is_covered.then_some(leeway), only);
        }
        for rule in rules {
            if let Some(Some(rows)) = self.rows.get(*rule) {
                builder.rows(rows);
            }
        }
        (!builder.is_full()).then_some(Counts {
            proto: builder.proto,
            variables: builder.variables,
        })
    }

    /// Deals each slot to its classes' members in turn. Whether the roster keeps the rules is for the caller to
    /// check.
    pub(crate) fn deal(&self, counts: &Counts, solution: &[i64]) -> Roster<'a> {
        let mut by_slot: Vec<Vec<usize>> = vec![Vec::new(); self.spec.slots.len()];
        let mut next = vec![0_usize; self.classes.len()];
        for (slot, class, variable) in &counts.variables {
            let place = usize::try_from(*variable).unwrap_or(usize::MAX);
            let count = solution.get(place).copied().unwrap_or(0);
            let members = self.classes.get(*class).map_or(&[][..], Vec::as_slice);
            let (Some(next), Some(people)) = (next.get_mut(*class), by_slot.get_mut(*slot)) else {
                continue;
            };
            let turn = members.iter().cycle().skip(*next % members.len().max(1));
            let count = usize::try_from(count).unwrap_or(0);
            people.extend(turn.take(count));
            *next += count;
        }
        for people in &mut by_slot {
            people.sort_unstable();
        }
        Roster::new(self.spec, by_slot)
    }
}

/// Of each resource the slots that it can take.
fn slots_of(spec: &Spec) -> Vec<Vec<usize>> {
    let mut slots_of = vec![Vec::new(); spec.resources.len()];
    for (place, candidates) in spec.slots.iter().map(Slot::candidates).enumerate() {
        for resource in candidates {
            if let Some(slots) = slots_of.get_mut(resource) {
                slots.push(place);
            }
        }
    }
    slots_of
}

/// Leaves out the slots that none of the rows' resources can take: nobody is counted there.
fn narrow(rows: &mut Rows<'_>, slots_of: &[Vec<usize>], slots: usize) {
    let mut is_taken = vec![false; slots];
    for resource in rows.resources {
        for slot in slots_of.get(*resource).into_iter().flatten() {
            if let Some(is_taken) = is_taken.get_mut(*slot) {
                *is_taken = true;
            }
        }
    }
    for sum in &mut rows.sums {
        sum.terms
            .retain(|(slot, _)| is_taken.get(*slot) == Some(&true));
        sum.terms.shrink_to_fit();
    }
}

fn classes(spec: &Spec, rows: &[Option<Rows<'_>>]) -> Vec<Vec<usize>> {
    let mut class_of = vec![0_usize; spec.resources.len()];
    let mut sets: Vec<&[usize]> = rows.iter().flatten().map(|rows| rows.resources).collect();
    for slot in &spec.slots {
        let requirements = slot.requirements.iter();
        sets.extend(requirements.map(|requirement| &*requirement.eligible));
    }
    sets.sort_unstable();
    sets.dedup();
    for set in sets {
        let mut renamed: HashMap<(usize, bool), usize> = HashMap::new();
        for (resource, class) in class_of.iter_mut().enumerate() {
            let key = (*class, set.binary_search(&resource).is_ok());
            let next = renamed.len();
            *class = *renamed.entry(key).or_insert(next);
        }
    }
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for (resource, class) in class_of.into_iter().enumerate() {
        if classes.len() <= class {
            classes.resize(class + 1, Vec::new());
        }
        if let Some(class) = classes.get_mut(class) {
            class.push(resource);
        }
    }
    classes
}

struct Builder<'a> {
    classes: &'a [Vec<usize>],
    proto: CpModel,
    /// Of each slot, class and variable, by class.
    by_slot: Vec<Vec<(usize, i32)>>,
    variables: Vec<(usize, usize, i32)>,
    /// As a model counts them.
    terms: usize,
}

impl Builder<'_> {
    /// Whether it is more than the engine gets.
    const fn is_full(&self) -> bool {
        self.terms > MAX_TERMS
    }

    fn integer(&mut self, most: i64) -> i32 {
        self.terms += 1;
        self.proto.variables.push(IntegerVariable {
            domain: vec![0, most],
        });
        i32::try_from(self.proto.variables.len() - 1).unwrap_or(i32::MAX)
    }

    /// `low ≤ Σ weight·variable ≤ high`; what cannot be makes the model infeasible.
    fn linear(&mut self, vars: &[(i32, i64)], low: i64, high: i64) {
        let is_impossible = low > high || vars.is_empty() && (low > 0 || high < 0);
        if is_impossible {
            let never = self.integer(0);
            return self.push(&[(never, 1)], 1, 1);
        }
        if !vars.is_empty() {
            self.push(vars, low, high);
        }
    }

    fn push(&mut self, vars: &[(i32, i64)], low: i64, high: i64) {
        self.terms += vars.len();
        self.proto.constraints.push(Constraint {
            linear: Some(Linear {
                vars: vars.iter().map(|(variable, _)| *variable).collect(),
                coeffs: vars.iter().map(|(_, weight)| *weight).collect(),
                domain: vec![low, high],
            }),
            ..Constraint::default()
        });
    }

    /// Counts for a slot, and its coverage where it is asked for.
    fn slot(&mut self, spec: &Spec, place: usize, leeway: Option<Leeway>, only: Option<&str>) {
        let Some(slot) = spec.slots.get(place).filter(|_| !self.is_full()) else {
            return;
        };
        let mut seats: Vec<Vec<(i32, i64)>> = vec![Vec::new(); slot.requirements.len()];
        let mut counts = Vec::new();
        for (class, members) in self.classes.iter().enumerate() {
            let Some(first) = members.first() else {
                continue;
            };
            let meets: Vec<usize> = slot
                .requirements
                .iter()
                .enumerate()
                .filter(|(_, requirement)| requirement.eligible.binary_search(first).is_ok())
                .map(|(requirement, _)| requirement)
                .collect();
            if meets.is_empty() {
                continue;
            }
            let most = i64::try_from(members.len()).unwrap_or(i64::MAX);
            let count = self.integer(most);
            counts.push((class, count));
            self.variables.push((place, class, count));
            if let [one] = meets.as_slice() {
                if let Some(seats) = seats.get_mut(*one) {
                    seats.push((count, 1));
                }
                continue;
            }
            let mut split = vec![(count, -1)];
            for requirement in meets {
                let seat = self.integer(most);
                split.push((seat, 1));
                if let Some(seats) = seats.get_mut(requirement) {
                    seats.push((seat, 1));
                }
            }
            self.linear(&split, 0, 0);
        }
        if let Some(leeway) = leeway {
            for (requirement, seats) in slot.requirements.iter().zip(&seats) {
                if only.is_some_and(|words| requirement.words != words) {
                    continue;
                }
                let most = i64::try_from(spec.resources.len()).unwrap_or(i64::MAX);
                let (low, high) = leeway.bounds(requirement.count, most);
                self.linear(seats, low, high);
            }
        }
        if let Some(here) = self.by_slot.get_mut(place) {
            *here = counts;
        }
    }

    /// What holds for each of its members holds for the sum over a class.
    fn rows(&mut self, rows: &Rows<'_>) {
        let concerned = self.classes.iter().enumerate().filter(|(_, members)| {
            let first = members.first();
            first.is_some_and(|first| rows.resources.binary_search(first).is_ok())
        });
        for (class, members) in concerned {
            if self.is_full() {
                return;
            }
            let members = i64::try_from(members.len()).unwrap_or(i64::MAX);
            for sum in &rows.sums {
                let mut vars = Vec::new();
                let mut most = 0;
                for (slot, weight) in &sum.terms {
                    let counts = self.by_slot.get(*slot).map_or(&[][..], Vec::as_slice);
                    let found = counts.binary_search_by_key(&class, |(class, _)| *class);
                    let found = found.ok().and_then(|place| counts.get(place));
                    if let Some((_, variable)) = found {
                        vars.push((*variable, *weight));
                        most += weight * members;
                    }
                }
                // What one member does comes in whole steps: shifts of 480 minutes, say.
                let weights = vars.iter().map(|(_, weight)| *weight);
                let step = weights.fold(0, greatest_divisor).max(1);
                let low = (sum.min).map_or(0, |min| (min + step - 1) / step * step * members);
                let high = (sum.max).map_or(most, |max| max / step * step * members);
                if low > 0 || high < most {
                    self.linear(&vars, low, high);
                }
            }
        }
    }
}

/// The greatest number that divides both (Euclid).
const fn greatest_divisor(one: i64, other: i64) -> i64 {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;
    use crate::coverage;

    /// Groups of 60 people, each eligible for a share of as many slots as there may be, and these constraints.
    fn spec(groups: usize, constraints: Vec<Value>) -> Spec {
        let resources: Vec<Value> = (0..60 * groups)
            .map(|place| json!({"id": format!("r{place:03}"), "attributes": {"group": place % groups}}))
            .collect();
        let first = jiff::civil::date(2026, 1, 1);
        let slots: Vec<Value> = (0..5_000)
            .map(|place| {
                let day = first + jiff::Span::new().days(i64::try_from(place % 700).unwrap());
                let group = json!([{"key": "group", "equals": place % groups}]);
                json!({"id": format!("s{place:04}"), "day": day.to_string(),
                       "requirements": [{"count": 1, "where": group}]})
            })
            .collect();
        let spec = json!({"resources": resources, "slots": slots, "constraints": constraints});
        crate::parse(spec.to_string().as_bytes()).ok().unwrap()
    }

    /// Which of its constraints are counted, and whether the engine gets the counts of all.
    fn counted(spec: &Spec) -> (usize, bool) {
        let leeways = coverage::leeways(spec);
        let relaxation = Relaxation::new(spec, &leeways);
        let slots: Vec<usize> = (0..spec.slots.len()).collect();
        let rules: Vec<usize> = (0..spec.hard.len()).collect();
        let known = rules.iter().filter(|rule| relaxation.knows(&[**rule]));
        let counts = relaxation.counts(&slots, &rules, None);
        (known.count(), counts.is_some())
    }

    fn personal(place: usize) -> Value {
        json!({"type": "max_per_day", "limit": 1, "resource_ids": [format!("r{:03}", place)]})
    }

    #[test]
    fn rules_of_one_person_each_are_all_counted() {
        // Over all slots these are 7.2 million terms; those of slots that the person can take are 0.9 million.
        let spec = spec(8, (0..1_440).map(|place| personal(place % 480)).collect());
        assert_eq!(counted(&spec), (1_440, true));
    }

    #[test]
    fn counts_of_people_one_by_one_are_bounded_as_a_model_is() {
        // 5,000 slots in each of 30 days' windows: 150 thousand terms, and 9 million for 60 people.
        let window = json!({"type": "rolling", "window_days": 30, "max": 8});
        assert_eq!(counted(&spec(1, vec![window.clone()])), (1, true));
        let mut rules: Vec<Value> = (0..60).map(personal).collect();
        rules.push(window);
        assert_eq!(counted(&spec(1, rules)), (61, false));
    }
}
