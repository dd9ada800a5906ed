//! Building a model for the engine: who can take which slot, and sums, clauses and costs over that. Rules use it
//! without knowing whether they are hard or a wish: a wish pays for each unit that a constraint would forbid.

use std::collections::HashMap;

use crate::engine::proto::{Constraint, CpModel, IntegerVariable, Linear, Literals, Objective};
use crate::roster::Roster;
use crate::rule::Sum;
use crate::spec::{Item, Spec};

/// A truth value of the model: a constant, or a variable or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Literal {
    Constant(bool),
    /// As the engine counts: `i`, or `-i - 1` for its negation.
    Variable(i32),
}

impl std::ops::Not for Literal {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(!value),
            Self::Variable(reference) => Self::Variable(-reference - 1),
        }
    }
}

/// What the items that are being encoded cost when they are not kept.
#[derive(Clone, Copy)]
enum Mode {
    Forbidden,
    Costs(i64),
}

/// Literals and coefficients of one model; about a gigabyte in the engine.
pub(crate) const MAX_TERMS: usize = 6_000_000;
/// Literals that are looked at for one model, with those that are constants: some ten seconds of work. Rules about
/// pairs that cannot be have no terms, and there can be many.
const MAX_LOOKS: usize = 1_000_000_000;
/// 2^53: JSON numbers are exact below it.
const MAX_OBJECTIVE: i128 = 1 << 53;

/// The model is beyond what the engine gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rules expand to more than the solver takes")]
pub(crate) struct TooLarge;

pub(crate) struct Encoder<'a> {
    pub(crate) spec: &'a Spec,
    bounds: Vec<(i64, i64)>,
    constraints: Vec<Constraint>,
    /// Of each variable what it costs, where it stands in the objective; the last ones may be missing.
    costs: Vec<Option<i64>>,
    offset: i64,
    /// Upper bound of the objective.
    worst: i128,
    /// For each slot, the resources that can take it, ascending.
    assigned: Vec<Vec<(usize, Literal)>>,
    /// What is true where any of these is. By variables, so that what is kept grows with the terms.
    any: HashMap<Vec<Literal>, Literal>,
    /// Groups of slots of which a constraint lets some resources take one at most, and where each slot is in them.
    exclusive: Vec<Exclusive>,
    exclusive_of: HashMap<usize, Vec<usize>>,
    /// Places in all of these groups.
    learned: usize,
    mode: Mode,
    terms: usize,
    looks: usize,
}

/// Ascending.
struct Exclusive {
    resources: Vec<usize>,
    slots: Vec<usize>,
}

/// A model, and how to read its solutions.
pub(crate) struct Model {
    pub(crate) proto: CpModel,
    assigned: Vec<Vec<(usize, Literal)>>,
}

impl<'a> Encoder<'a> {
    /// Variables for every pair of the open slots; nobody takes the others.
    pub(crate) fn new(spec: &'a Spec, is_open: impl Fn(usize) -> bool) -> Self {
        let mut encoder = Self {
            spec,
            bounds: Vec::new(),
            constraints: Vec::new(),
            costs: Vec::new(),
            offset: 0,
            worst: 0,
            assigned: Vec::with_capacity(spec.slots.len()),
            any: HashMap::new(),
            exclusive: Vec::new(),
            exclusive_of: HashMap::new(),
            learned: 0,
            mode: Mode::Forbidden,
            terms: 0,
            looks: 0,
        };
        for (place, slot) in spec.slots.iter().enumerate() {
            let candidates = if is_open(place) {
                slot.candidates()
            } else {
                Vec::new()
            };
            let pairs = candidates
                .into_iter()
                .map(|resource| (resource, encoder.boolean()))
                .collect();
            encoder.assigned.push(pairs);
        }
        encoder
    }

    /// Learns from constraints that will be encoded which slots exclude each other: what is defined over such slots
    /// is a sum then, of which the engine's linear relaxation knows more. What is beyond the bounds of a model is not
    /// learned.
    pub(crate) fn learn<'i>(&mut self, items: impl Iterator<Item = &'i Item>) {
        for rows in items.filter_map(|item| item.rule.rows(self.spec)) {
            self.looks += rows.terms();
            if self.is_full() {
                return;
            }
            let is_exclusive =
                |sum: &Sum| sum.max == Some(1) && sum.terms.iter().all(|(_, weight)| *weight >= 1);
            for sum in rows.sums.iter().filter(|sum| is_exclusive(sum)) {
                self.learned += sum.terms.len() + rows.resources.len();
                if self.learned > MAX_TERMS {
                    return;
                }
                let mut slots: Vec<usize> = sum.terms.iter().map(|(slot, _)| *slot).collect();
                slots.sort_unstable();
                for slot in &slots {
                    let groups = self.exclusive_of.entry(*slot).or_default();
                    groups.push(self.exclusive.len());
                }
                self.exclusive.push(Exclusive {
                    resources: rows.resources.to_vec(),
                    slots,
                });
            }
        }
    }

    fn excludes(&self, resource: usize, slots: &[usize]) -> bool {
        let groups = slots.first().and_then(|slot| self.exclusive_of.get(slot));
        let mut groups = groups.into_iter().flatten();
        groups.any(|group| {
            self.exclusive.get(*group).is_some_and(|group| {
                group.resources.binary_search(&resource).is_ok()
                    && slots
                        .iter()
                        .all(|slot| group.slots.binary_search(slot).is_ok())
            })
        })
    }

    /// Whether it is refused whatever else is encoded. Rules that expand to much ask between their parts.
    pub(crate) const fn is_full(&self) -> bool {
        self.terms > MAX_TERMS || self.looks > MAX_LOOKS
    }

    /// Counts literals that a rule has looked at by itself.
    pub(crate) const fn looked(&mut self, literals: usize) {
        self.looks += literals;
    }

    /// Encodes a constraint.
    pub(crate) fn forbid_breaking(&mut self, item: &Item) {
        self.mode = Mode::Forbidden;
        item.rule.encode(self);
    }

    /// Encodes a preference.
    pub(crate) fn charge_for_breaking(&mut self, item: &Item) {
        self.mode = Mode::Costs(item.weight);
        item.rule.encode(self);
        self.mode = Mode::Forbidden;
    }

    pub(crate) fn finish(self) -> Result<Model, TooLarge> {
        if self.is_full() || self.worst >= MAX_OBJECTIVE {
            return Err(TooLarge);
        }
        let variables = self.bounds.iter().map(|(least, most)| IntegerVariable {
            domain: vec![*least, *most],
        });
        let costs = (0..).zip(&self.costs);
        let (vars, coeffs): (Vec<i32>, Vec<i64>) = costs
            .filter_map(|(variable, cost)| Some((variable, (*cost)?)))
            .unzip();
        let objective = (!vars.is_empty()).then(|| Objective {
            vars,
            coeffs,
            // Below 2^53, as checked above.
            offset: self.offset as f64,
            domain: Vec::new(),
        });
        Ok(Model {
            proto: CpModel {
                variables: variables.collect(),
                constraints: self.constraints,
                objective,
                hint: None,
            },
            assigned: self.assigned,
        })
    }

    /// Whether this resource takes this slot.
    pub(crate) fn assigned(&self, resource: usize, slot: usize) -> Literal {
        let pairs = self.assigned.get(slot).map_or(&[][..], Vec::as_slice);
        match pairs.binary_search_by_key(&resource, |(resource, _)| *resource) {
            Ok(place) => pairs
                .get(place)
                .map_or(Literal::Constant(false), |(_, literal)| *literal),
            Err(_) => Literal::Constant(false),
        }
    }

    /// Everybody who can take a slot.
    pub(crate) fn pairs(&self, slot: usize) -> &[(usize, Literal)] {
        self.assigned.get(slot).map_or(&[], Vec::as_slice)
    }

    /// Whether this resource takes any of these slots.
    pub(crate) fn any(&mut self, resource: usize, slots: &[usize]) -> Literal {
        self.looks += slots.len();
        let mut taken: Vec<Literal> = Vec::new();
        for slot in slots {
            match self.assigned(resource, *slot) {
                Literal::Constant(true) => return Literal::Constant(true),
                Literal::Constant(false) => {}
                literal => taken.push(literal),
            }
        }
        match taken.as_slice() {
            [] => return Literal::Constant(false),
            [one] => return *one,
            _ => {}
        }
        if let Some(known) = self.any.get(&taken) {
            return *known;
        }
        let any = self.boolean();
        if self.excludes(resource, slots) {
            let mut terms: Vec<(Literal, i64)> =
                taken.iter().map(|literal| (*literal, 1)).collect();
            terms.push((any, -1));
            let (vars, constant) = flat(&terms);
            self.raw(vars, -constant, -constant);
        } else {
            for literal in &taken {
                self.always(vec![!*literal, any]);
            }
            let mut clause = taken.clone();
            clause.push(!any);
            self.always(clause);
        }
        self.any.insert(taken, any);
        any
    }

    pub(crate) fn boolean(&mut self) -> Literal {
        Literal::Variable(self.integer(0, 1))
    }

    /// A new variable; in a model that is refused any that there is.
    pub(crate) fn integer(&mut self, least: i64, most: i64) -> i32 {
        self.terms += 1;
        if self.is_kept() {
            self.bounds.push((least, most));
        }
        i32::try_from(self.bounds.len().saturating_sub(1)).unwrap_or(i32::MAX)
    }

    /// `min ≤ Σ weight·literal ≤ max`; a unit of violation is one below or above.
    pub(crate) fn linear(
        &mut self,
        terms: Vec<(Literal, i64)>,
        min: Option<i64>,
        max: Option<i64>,
    ) {
        self.looks += terms.len();
        let (vars, constant) = flat(&terms);
        let (least, most) = self.activity(&vars);
        let (min, max) = (min.map(|min| min - constant), max.map(|max| max - constant));
        match self.mode {
            Mode::Forbidden => {
                let needs_min = min.is_some_and(|min| min > least);
                let needs_max = max.is_some_and(|max| max < most);
                if !needs_min && !needs_max {
                    return;
                }
                let (low, high) = (min.unwrap_or(least), max.unwrap_or(most));
                if low > most || high < least || low > high {
                    self.always(Vec::new());
                } else if !needs_min && high == 1 && constant == 0 && all_single(&terms) {
                    self.at_most_one(terms.iter().map(|(literal, _)| *literal));
                } else {
                    self.raw(vars, low, high);
                }
            }
            Mode::Costs(weight) => {
                if let Some(min) = min.filter(|min| *min > least) {
                    let under = self.cost(min - least, weight);
                    let mut vars = vars.clone();
                    vars.push((under, 1));
                    self.raw(vars, min, most.max(min) + (min - least));
                }
                if let Some(max) = max.filter(|max| *max < most) {
                    let over = self.cost(most - max, weight);
                    let mut vars = vars;
                    vars.push((over, -1));
                    self.raw(vars, least.min(max) - (most - max), max);
                }
            }
        }
    }

    /// Not all of these at once; a unit of violation where they are.
    pub(crate) fn forbid(&mut self, literals: &[Literal]) {
        let clause = literals.iter().map(|literal| !*literal).collect();
        self.clauses(vec![clause], 1);
    }

    /// All of these clauses; so many units of violation where any is broken.
    pub(crate) fn clauses(&mut self, clauses: Vec<Vec<Literal>>, units: i64) {
        self.looks += clauses.iter().map(Vec::len).sum::<usize>();
        match self.mode {
            Mode::Forbidden => {
                for clause in clauses {
                    self.always(clause);
                }
            }
            Mode::Costs(weight) => {
                let open: Vec<Vec<Literal>> = clauses
                    .into_iter()
                    .filter(|clause| !clause.contains(&Literal::Constant(true)))
                    .collect();
                if open.is_empty() {
                    return;
                }
                let broken = Literal::Variable(self.cost(1, weight * units));
                for mut clause in open {
                    clause.push(broken);
                    self.always(clause);
                }
            }
        }
    }

    /// A cost for each unit, whatever the mode's own weight.
    pub(crate) fn charge(&mut self, literal: Literal, units: i64) {
        let Mode::Costs(weight) = self.mode else {
            return self.always(vec![!literal]);
        };
        self.add_cost(literal, weight * units);
    }

    fn add_cost(&mut self, literal: Literal, cost: i64) {
        self.looks += 1;
        self.worst += i128::from(cost);
        match literal {
            Literal::Constant(false) => {}
            Literal::Constant(true) => self.offset += cost,
            Literal::Variable(reference) if reference >= 0 => self.weigh(reference, cost),
            Literal::Variable(reference) => {
                self.offset += cost;
                self.weigh(-reference - 1, -cost);
            }
        }
    }

    /// Adds to what a variable costs. However many preferences charge for it, it stands in the objective once.
    fn weigh(&mut self, variable: i32, cost: i64) {
        let place = usize::try_from(variable).ok();
        let Some(place) = place.filter(|_| self.is_kept()) else {
            return;
        };
        if self.costs.len() <= place {
            self.costs.resize(place + 1, None);
        }
        if let Some(sum) = self.costs.get_mut(place) {
            *sum = Some(sum.unwrap_or(0) + cost);
        }
    }

    /// An integer of 0 to `most` that costs so much each.
    pub(crate) fn cost(&mut self, most: i64, weight: i64) -> i32 {
        let variable = self.integer(0, most);
        self.worst += i128::from(most) * i128::from(weight);
        self.weigh(variable, weight);
        variable
    }

    /// The weight of the preference that is being encoded.
    pub(crate) const fn weight(&self) -> i64 {
        match self.mode {
            Mode::Forbidden => 0,
            Mode::Costs(weight) => weight,
        }
    }

    /// A clause that always holds, in preferences too; an empty one makes the model infeasible.
    pub(crate) fn always(&mut self, clause: Vec<Literal>) {
        self.looks += clause.len();
        let mut literals = Vec::with_capacity(clause.len());
        for literal in clause {
            match literal {
                Literal::Constant(true) => return,
                Literal::Constant(false) => {}
                Literal::Variable(reference) => literals.push(reference),
            }
        }
        if literals.is_empty() {
            literals.push(self.integer(0, 0));
        }
        self.terms += literals.len();
        self.push(Constraint {
            bool_or: Some(Literals { literals }),
            ..Constraint::default()
        });
    }

    fn at_most_one(&mut self, literals: impl Iterator<Item = Literal>) {
        let literals: Vec<i32> = literals
            .filter_map(|literal| match literal {
                Literal::Variable(reference) => Some(reference),
                Literal::Constant(_) => None,
            })
            .collect();
        self.terms += literals.len();
        self.push(Constraint {
            at_most_one: Some(Literals { literals }),
            ..Constraint::default()
        });
    }

    /// `low ≤ Σ weight·variable ≤ high`, always.
    pub(crate) fn raw(&mut self, vars: Vec<(i32, i64)>, low: i64, high: i64) {
        self.terms += vars.len();
        let linear = Linear {
            vars: vars.iter().map(|(variable, _)| *variable).collect(),
            coeffs: vars.iter().map(|(_, weight)| *weight).collect(),
            domain: vec![low, high],
        };
        self.push(Constraint {
            linear: Some(linear),
            ..Constraint::default()
        });
    }

    fn push(&mut self, constraint: Constraint) {
        if self.is_kept() {
            self.constraints.push(constraint);
        }
    }

    /// What is refused at the end needs no memory until then.
    const fn is_kept(&self) -> bool {
        self.terms <= MAX_TERMS
    }

    /// Least and most that a sum can be.
    pub(crate) fn activity(&self, vars: &[(i32, i64)]) -> (i64, i64) {
        let mut range = (0, 0);
        for (variable, weight) in vars {
            let place = usize::try_from(*variable).unwrap_or(usize::MAX);
            let (least, most) = self.bounds.get(place).copied().unwrap_or((0, 1));
            let (one, other) = (least * weight, most * weight);
            range.0 += one.min(other);
            range.1 += one.max(other);
        }
        range
    }
}

fn all_single(terms: &[(Literal, i64)]) -> bool {
    terms.iter().all(|(literal, weight)| {
        *weight == 1 && !matches!(literal, Literal::Variable(reference) if *reference < 0)
    })
}

/// Literals as variables and a constant.
pub(crate) fn flat(terms: &[(Literal, i64)]) -> (Vec<(i32, i64)>, i64) {
    let mut vars = Vec::with_capacity(terms.len());
    let mut constant = 0;
    for (literal, weight) in terms {
        match literal {
            Literal::Constant(false) => {}
            Literal::Constant(true) => constant += weight,
            Literal::Variable(reference) if *reference >= 0 => vars.push((*reference, *weight)),
            Literal::Variable(reference) => {
                constant += weight;
                vars.push((-reference - 1, -weight));
            }
        }
    }
    (vars, constant)
}

impl Model {
    /// The roster of a solution.
    pub(crate) fn roster<'a>(&self, spec: &'a Spec, solution: &[i64]) -> Roster<'a> {
        let value = |literal: Literal| match literal {
            Literal::Constant(value) => value,
            Literal::Variable(reference) => {
                let place = usize::try_from(reference).unwrap_or(usize::MAX);
                solution.get(place) == Some(&1)
            }
        };
        let by_slot = self.assigned.iter().map(|pairs| {
            let taken = pairs.iter().filter(|(_, literal)| value(*literal));
            taken.map(|(resource, _)| *resource).collect()
        });
        Roster::new(spec, by_slot.collect())
    }

    /// The variables of pairs, with slot and resource.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, usize, i32)> {
        let slots = self.assigned.iter().enumerate();
        slots.flat_map(|(slot, pairs)| {
            pairs
                .iter()
                .filter_map(move |(resource, literal)| match literal {
                    Literal::Variable(reference) => Some((slot, *resource, *reference)),
                    Literal::Constant(_) => None,
                })
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn literals_that_are_constants_are_counted_too() {
        let spec = r#"{"resources": [{"id": "a"}], "slots": [{"id": "s", "day": "2026-01-01"}]}"#;
        let spec = crate::parse(spec.as_bytes()).ok().unwrap();
        let mut encoder = Encoder::new(&spec, |_| true);
        encoder.looks = MAX_LOOKS;
        assert!(!encoder.is_full());
        let nobody = encoder.assigned(0, 0);
        encoder.linear(vec![(nobody, 1)], None, Some(1));
        assert!(encoder.is_full());
        assert_eq!(encoder.finish().err(), Some(TooLarge));
    }

    #[test]
    fn a_model_that_is_refused_takes_no_more_memory_or_time() {
        let resources: Vec<Value> = (0..60)
            .map(|place| json!({"id": format!("r{place}")}))
            .collect();
        let slots: Vec<Value> = (0..1_000)
            .map(|place| {
                json!({"id": format!("s{place}"), "day": "2026-01-01", "start": "08:00", "end": "16:00",
                       "requirements": [{"count": 1}]})
            })
            .collect();
        let wish = json!({"type": "no_overlap", "weight": 1});
        let spec = json!({"resources": resources, "slots": slots, "preferences": [wish]});
        let spec = crate::parse(spec.to_string().as_bytes()).ok().unwrap();
        let mut encoder = Encoder::new(&spec, |_| true);
        // 30 million pairs of slots, each with a variable of its own.
        encoder.charge_for_breaking(&spec.soft[0]);
        assert!(encoder.is_full());
        assert!(encoder.looks < 2 * MAX_TERMS, "{} looks", encoder.looks);
        let (terms, variables) = (encoder.terms, encoder.bounds.len());
        for _ in 0..MAX_TERMS {
            encoder.cost(1, i64::MAX);
        }
        assert_eq!(encoder.terms, terms + MAX_TERMS);
        assert_eq!(
            (encoder.bounds.len(), encoder.costs.len()),
            (variables, variables)
        );
        assert_eq!(encoder.finish().err(), Some(TooLarge));
    }

    #[test]
    fn what_several_preferences_charge_for_stands_in_the_objective_once() {
        let spec = r#"{"resources": [{"id": "a"}], "slots": [{"id": "s", "day": "2026-01-01", "requirements": [{"count": 1}]}]}"#;
        let spec = crate::parse(spec.as_bytes()).ok().unwrap();
        let mut encoder = Encoder::new(&spec, |_| true);
        let taken = encoder.assigned(0, 0);
        encoder.mode = Mode::Costs(1);
        let free = encoder.boolean();
        let paid = encoder.cost(1, 7);
        for literal in [taken, !taken, taken, !free, free] {
            encoder.charge(literal, 3);
        }
        let objective = encoder.finish().ok().unwrap().proto.objective.unwrap();
        assert_eq!(objective.vars, [0, 1, paid]);
        assert_eq!(objective.coeffs, [3, 0, 7]);
        assert_eq!(objective.offset, 6.0);
    }
}
