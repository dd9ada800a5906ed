//! Classes of identical resources, counted instead of named: a relaxation that is small whatever the spec's size.
//! Infeasible here is infeasible; and where a roster can be dealt out from its counts, that roster is an answer.

use std::collections::HashMap;

use crate::coverage::Leeway;
use crate::engine::proto::{Constraint, CpModel, IntegerVariable, Linear};
use crate::model::MAX_TERMS;
use crate::roster::Roster;
use crate::rule::Rows;
use crate::spec::Spec;

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
    /// Of each constraint; `None` for those that are not sums per resource, and for those beyond the bounds of a model.
    /// These are left out.
    rows: Vec<Option<Rows<'a>>>,
    /// Resources that no slot and no row tells apart.
    classes: Vec<Vec<usize>>,
}

impl<'a> Relaxation<'a> {
    pub(crate) fn new(spec: &'a Spec, leeways: &'a [Leeway]) -> Self {
        let mut terms = 0;
        let rows = spec.hard.iter().map(|item| {
            // A spec of more does not fit into a model either.
            let rows = (terms <= MAX_TERMS).then(|| item.rule.rows(spec))??;
            terms += rows.sums.iter().map(|sum| sum.terms.len()).sum::<usize>();
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

    /// Some slots and rules of the spec; with `only`, of each slot the requirement whose condition reads so.
    pub(crate) fn counts(&self, covered: &[usize], rules: &[usize], only: Option<&str>) -> Counts {
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
        Counts {
            proto: builder.proto,
            variables: builder.variables,
        }
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
    /// Of each slot, class and variable.
    by_slot: Vec<Vec<(usize, i32)>>,
    variables: Vec<(usize, usize, i32)>,
}

impl Builder<'_> {
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
    fn slot(&mut self, spec: &Spec, place: usize, leeway: Option<Leeway>, only: Option<&str>) {
        let Some(slot) = spec.slots.get(place) else {
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
            let members = i64::try_from(members.len()).unwrap_or(i64::MAX);
            for sum in &rows.sums {
                let mut vars = Vec::new();
                let mut most = 0;
                for (slot, weight) in &sum.terms {
                    let counts = self.by_slot.get(*slot).map_or(&[][..], Vec::as_slice);
                    let found = counts.iter().find(|(other, _)| *other == class);
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
