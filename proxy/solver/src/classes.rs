//! Classes of identical resources, counted instead of named: a relaxation that is small whatever the spec's size.
//! Infeasible here is infeasible; and where a roster can be dealt out from its counts, that roster is an answer.

use std::collections::HashMap;

use crate::coverage::Leeway;
use crate::engine::proto::{Constraint, CpModel, IntegerVariable, Linear};
use crate::roster::Roster;
use crate::rule::Rows;
use crate::spec::Spec;

/// Counts of each class in each slot.
pub(crate) struct Counts {
    pub(crate) proto: CpModel,
    classes: Vec<Vec<usize>>,
    /// Slot, class and variable.
    variables: Vec<(usize, usize, i32)>,
}

/// The relaxation of some slots and rules. Rules that are not sums per resource are left out.
pub(crate) fn relax(spec: &Spec, leeways: &[Leeway], covered: &[usize], rules: &[usize]) -> Counts {
    let items = rules.iter().filter_map(|place| spec.hard.get(*place));
    let rows: Vec<Rows<'_>> = items
        .clone()
        .filter_map(|item| item.rule.rows(spec))
        .collect();
    let mut open = covered.to_vec();
    for item in items {
        open.extend_from_slice(item.rule.raises());
    }
    open.sort_unstable();
    open.dedup();
    let mut builder = Builder {
        classes: classes(spec, &open, &rows),
        proto: CpModel::default(),
        by_slot: HashMap::new(),
        variables: Vec::new(),
    };
    for slot in &open {
        let leeway = leeways.get(*slot).copied().unwrap_or_default();
        let is_covered = covered.binary_search(slot).is_ok();
        builder.slot(spec, *slot, is_covered.then_some(leeway));
    }
    for rows in &rows {
        builder.rows(rows);
    }
    Counts {
        proto: builder.proto,
        classes: builder.classes,
        variables: builder.variables,
    }
}

/// Resources that no open slot and no row tells apart.
fn classes(spec: &Spec, open: &[usize], rows: &[Rows<'_>]) -> Vec<Vec<usize>> {
    let mut class_of = vec![0_usize; spec.resources.len()];
    let mut sets: Vec<&[usize]> = rows.iter().map(|rows| rows.resources).collect();
    for slot in open.iter().filter_map(|slot| spec.slots.get(*slot)) {
        let requirements = slot.requirements.iter();
        sets.extend(requirements.map(|requirement| requirement.eligible.as_slice()));
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

struct Builder {
    classes: Vec<Vec<usize>>,
    proto: CpModel,
    /// Class and variable.
    by_slot: HashMap<usize, Vec<(usize, i32)>>,
    variables: Vec<(usize, usize, i32)>,
}

impl Builder {
    fn integer(&mut self, most: i64) -> i32 {
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
    fn slot(&mut self, spec: &Spec, place: usize, leeway: Option<Leeway>) {
        let Some(slot) = spec.slots.get(place) else {
            return;
        };
        let mut seats: Vec<Vec<(i32, i64)>> = vec![Vec::new(); slot.requirements.len()];
        let mut counts = Vec::new();
        for class in 0..self.classes.len() {
            let members = self.classes.get(class).map_or(&[][..], Vec::as_slice);
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
                let most = i64::try_from(spec.resources.len()).unwrap_or(i64::MAX);
                let (low, high) = leeway.bounds(requirement.count, most);
                self.linear(seats, low, high);
            }
        }
        self.by_slot.insert(place, counts);
    }

    /// What holds for each of its members holds for the sum over a class.
    fn rows(&mut self, rows: &Rows<'_>) {
        let mut concerned: Vec<(usize, i64)> = Vec::new();
        for (class, members) in self.classes.iter().enumerate() {
            let first = members.first();
            if first.is_some_and(|first| rows.resources.binary_search(first).is_ok()) {
                concerned.push((class, i64::try_from(members.len()).unwrap_or(i64::MAX)));
            }
        }
        let mut sums: Vec<(Vec<(i32, i64)>, i64, i64)> = Vec::new();
        for sum in &rows.sums {
            for (class, members) in &concerned {
                let mut vars = Vec::new();
                let mut most = 0;
                for (slot, weight) in &sum.terms {
                    let counts = self.by_slot.get(slot).map_or(&[][..], Vec::as_slice);
                    let found = counts.iter().find(|(other, _)| other == class);
                    if let Some((_, variable)) = found {
                        vars.push((*variable, *weight));
                        most += weight * members;
                    }
                }
                let low = sum.min.map_or(0, |min| min * members);
                let high = sum.max.map_or(most, |max| max * members);
                if low > 0 || high < most {
                    sums.push((vars, low, high));
                }
            }
        }
        for (vars, low, high) in sums {
            self.linear(&vars, low, high);
        }
    }
}

impl Counts {
    /// Deals each slot to its classes' members in turn. Whether the roster keeps the rules is for the caller to
    /// check.
    pub(crate) fn deal<'a>(&self, spec: &'a Spec, solution: &[i64]) -> Roster<'a> {
        let mut by_slot: Vec<Vec<usize>> = vec![Vec::new(); spec.slots.len()];
        let mut next = vec![0_usize; self.classes.len()];
        for (slot, class, variable) in &self.variables {
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
        Roster::new(spec, by_slot)
    }
}
