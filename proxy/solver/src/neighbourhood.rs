//! Large neighbourhood search for rosters in which a plain search finds nothing at all: a roster that keeps the rules
//! is made better piece by piece. All but a few of its pairs stay as they are; what they leave open is a model of its
//! own, a fifth of the whole one, that the engine searches for a moment. Everything in it is deterministic.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::engine::proto::{Constraint, CpModel, IntegerVariable, Linear, Literals, Objective};
use crate::engine::{self, EngineError, Found, Library, Search, Verdict};
use crate::model::Model;
use crate::spec::Spec;

/// Deterministic seconds that the first searches get; each one that found nothing better gives the next a little more.
const FIRST_BUDGET: f64 = 0.04;
const BUDGET_GROWTH: f64 = 1.04;
const MOST_BUDGET: f64 = 0.2;
/// A short search of a small model takes about twice the time that the engine counts, and a little for its beginning.
const CHARGE: f64 = 2.0;
const CHARGE_EACH: f64 = 0.008;
/// Searches without gain after which every second one must do away with a heavy cost.
const PATIENCE: u32 = 6;
/// By how much a neighbourhood grows that was searched to its end, and shrinks that was not.
const GROW: f64 = 1.1;
const SHRINK: f64 = 0.9;
/// The first size of those that must do better, as a part of the others'.
const STRICT_SIZE: f64 = 1.3;
/// A cost is heavy from this part of the heaviest on.
const HEAVY_PART: i64 = 5;
/// Rounds in which bounds are tightened before a part is handed over; few are ever used.
const TIGHTENINGS: u32 = 8;
/// Beyond every sum of a model (2^53), and small enough to add a few of them.
const UNBOUNDED: i64 = 1 << 60;

/// What is left free.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Days in a row, for everybody.
    Days,
    /// Some people, on every day.
    People,
    /// Some people, for half of the days.
    Wide,
    /// Two spans of days, for everybody.
    Two,
}

/// In turn, each with the size it begins with: days or people.
const KINDS: [(Kind, f64); 4] = [
    (Kind::Days, 6.0),
    (Kind::People, 3.0),
    (Kind::Wide, 6.0),
    (Kind::Two, 3.0),
];

/// The search by neighbourhoods, which goes on where it stopped.
pub(crate) struct Neighbourhoods<'a> {
    library: &'a Library,
    whole: Whole,
    chance: Chance,
    /// For each of the kinds; then for those that must do better.
    sizes: [[f64; KINDS.len()]; 2],
    piece_budget: f64,
    searches: u32,
    without_gain: u32,
}

impl<'a> Neighbourhoods<'a> {
    pub(crate) fn new(library: &'a Library, spec: &Spec, model: &Model) -> Self {
        Self {
            library,
            whole: Whole::new(spec, model),
            chance: Chance(engine::SEED.unsigned_abs()),
            sizes: [
                KINDS.map(|(_, size)| size),
                KINDS.map(|(_, size)| size * STRICT_SIZE),
            ],
            piece_budget: FIRST_BUDGET,
            searches: 0,
            without_gain: 0,
        }
    }

    /// What a solution costs.
    pub(crate) fn value(&self, solution: &[i64]) -> i64 {
        self.whole.value(solution)
    }

    /// Makes a solution better until the budget, in deterministic seconds, is spent or nothing better can be: no
    /// solution is below `bound`. `tell` gets each better objective.
    ///
    /// # Errors
    /// A library that fails, or [`Library::stop`].
    pub(crate) fn improve(
        &mut self,
        solution: Vec<i64>,
        bound: f64,
        budget: f64,
        tell: impl Fn(i64),
    ) -> Result<Found, EngineError> {
        let whole = &self.whole;
        let mut best = Best {
            value: whole.value(&solution),
            solution,
        };
        let mut spent = 0.0;
        let least = bound.max(whole.least() as f64);
        let mut is_best = best.value as f64 <= least;
        while spent < budget && !is_best {
            let is_stalled = self.without_gain >= PATIENCE;
            let turn = if is_stalled {
                self.searches / 2
            } else {
                self.searches
            };
            let at = turn as usize % KINDS.len();
            let is_strict = is_stalled
                && self.searches % 2 == 1
                && whole.short(&best.solution).next().is_some();
            let limit = if is_strict {
                best.value - whole.heaviest / 2
            } else {
                best.value
            };
            let sizes = self.sizes.get_mut(usize::from(is_strict));
            let Some(size) = sizes.and_then(|sizes| sizes.get_mut(at)) else {
                break;
            };
            let kind = KINDS.get(at).map_or(Kind::Days, |(kind, _)| *kind);
            let free = whole.around(
                kind,
                self.chance.round(*size).max(2),
                &best.solution,
                &mut self.chance,
            );
            let part = whole.part(&best.solution, &free, limit);
            let seed = engine::SEED
                .saturating_mul(1_000)
                .saturating_add(i64::from(self.searches));
            let found = engine::search(
                self.library,
                &part.model,
                Search::Piece { seed },
                self.piece_budget.min(budget - spent),
            )?;
            spent += CHARGE * found.spent + CHARGE_EACH;
            self.searches += 1;
            let is_done = matches!(found.verdict, Verdict::Optimal { .. } | Verdict::Infeasible);
            let is_everything = free.len() == whole.pairs.len();
            let mut is_better = false;
            if let Verdict::Optimal { solution, .. } | Verdict::Feasible { solution, .. } =
                found.verdict
            {
                let solution = part.filled(&solution);
                let value = whole.value(&solution);
                is_better = value < best.value;
                // One that is as good is another place to go on from.
                if value <= best.value {
                    best = Best { value, solution };
                }
            }
            is_best = best.value as f64 <= least || (is_done && is_everything && !is_strict);
            if is_better {
                tell(best.value);
                self.without_gain = 0;
            } else {
                self.without_gain += 1;
                self.piece_budget = (self.piece_budget * BUDGET_GROWTH).min(MOST_BUDGET);
            }
            let most = match kind {
                Kind::Days | Kind::Two => whole.days,
                Kind::People | Kind::Wide => whole.people,
            };
            *size = if is_done {
                (*size * GROW).min(most as f64)
            } else {
                (*size * SHRINK).max(2.0)
            };
        }
        // Below 2^53.
        let (solution, objective) = (best.solution, best.value as f64);
        let verdict = if is_best {
            Verdict::Optimal {
                solution,
                objective,
            }
        } else {
            Verdict::Feasible {
                solution,
                objective,
            }
        };
        Ok(Found {
            verdict,
            spent,
            bound: least,
        })
    }
}

struct Best {
    value: i64,
    solution: Vec<i64>,
}

/// A pair's variable, and where it is.
struct Pair {
    variable: usize,
    day: usize,
    person: usize,
}

/// The form that a constraint had, which the engine likes to see again.
#[derive(Clone, Copy)]
enum Form {
    Sum,
    AnyOf,
    AtMostOne,
}

/// `low ≤ Σ weight·variable ≤ high`.
struct Row {
    form: Form,
    terms: Vec<(usize, i64)>,
    low: i64,
    high: i64,
}

struct Whole {
    bounds: Vec<(i64, i64)>,
    rows: Vec<Row>,
    costs: Vec<(usize, i64)>,
    offset: i64,
    pairs: Vec<Pair>,
    days: usize,
    people: usize,
    heaviest: i64,
    /// Variables that cost much, with the day of the slot that they speak of.
    heavy: Vec<(usize, usize)>,
}

/// A model of what is free, and the values of everything else.
struct Part {
    model: CpModel,
    free: Vec<usize>,
    values: Vec<i64>,
}

impl Part {
    fn filled(&self, solution: &[i64]) -> Vec<i64> {
        let mut values = self.values.clone();
        for (variable, value) in self.free.iter().zip(solution) {
            set(&mut values, *variable, *value);
        }
        values
    }
}

fn set<T>(list: &mut [T], at: usize, value: T) {
    if let Some(place) = list.get_mut(at) {
        *place = value;
    }
}

fn index(reference: i32) -> usize {
    usize::try_from(reference).unwrap_or(usize::MAX)
}

impl Row {
    fn of(constraint: &Constraint) -> Option<Self> {
        let Constraint {
            bool_or,
            at_most_one,
            linear,
        } = constraint;
        if let Some(Linear {
            vars,
            coeffs,
            domain,
        }) = linear
        {
            let terms = vars.iter().map(|variable| index(*variable));
            return Some(Self {
                form: Form::Sum,
                terms: terms.zip(coeffs.iter().copied()).collect(),
                low: *domain.first()?,
                high: *domain.last()?,
            });
        }
        let (form, literals) = match (bool_or, at_most_one) {
            (Some(any), _) => (Form::AnyOf, any),
            (None, Some(one)) => (Form::AtMostOne, one),
            (None, None) => return None,
        };
        let terms = literals.literals.iter().map(|literal| match literal {
            positive if *positive >= 0 => (index(*positive), 1),
            negative => (index(-negative - 1), -1),
        });
        let terms: Vec<(usize, i64)> = terms.collect();
        let negative = terms.iter().filter(|(_, weight)| *weight < 0).count();
        let one = 1 - i64::try_from(negative).unwrap_or(i64::MAX);
        let (low, high) = match form {
            Form::AnyOf => (one, UNBOUNDED),
            Form::Sum | Form::AtMostOne => (-UNBOUNDED, one),
        };
        Some(Self {
            form,
            terms,
            low,
            high,
        })
    }

    /// Least and most that the sum can be.
    fn activity(&self, bounds: &[(i64, i64)]) -> (i64, i64) {
        self.terms.iter().fold((0, 0), |(least, most), term| {
            let (low, high) = reach(*term, bounds);
            (least + low, most + high)
        })
    }
}

/// Least and most of a term.
fn reach((variable, weight): (usize, i64), bounds: &[(i64, i64)]) -> (i64, i64) {
    let (low, high) = bounds.get(variable).copied().unwrap_or((0, 0));
    if weight > 0 {
        (low * weight, high * weight)
    } else {
        (high * weight, low * weight)
    }
}

impl Whole {
    fn new(spec: &Spec, model: &Model) -> Self {
        let proto = &model.proto;
        let bounds: Vec<(i64, i64)> = proto
            .variables
            .iter()
            .map(|IntegerVariable { domain }| {
                let (low, high) = (domain.first().copied(), domain.last().copied());
                (low.unwrap_or(0), high.unwrap_or(0))
            })
            .collect();
        let rows: Vec<Row> = proto.constraints.iter().filter_map(Row::of).collect();
        let objective = proto.objective.clone().unwrap_or_default();
        let costs: Vec<(usize, i64)> = objective
            .vars
            .iter()
            .map(|variable| index(*variable))
            .zip(objective.coeffs.iter().copied())
            .collect();
        let day_of = |slot: usize| spec.slots.get(slot).map_or(0, |slot| slot.day);
        let pairs: Vec<Pair> = model
            .pairs()
            .map(|(slot, person, variable)| Pair {
                variable: index(variable),
                day: day_of(slot),
                person,
            })
            .collect();
        let heaviest = costs.iter().map(|(_, cost)| cost.abs()).max().unwrap_or(0);
        let mut whole = Self {
            bounds,
            rows,
            costs,
            // An integer below 2^53.
            offset: objective.offset.round() as i64,
            days: pairs.iter().map(|pair| pair.day + 1).max().unwrap_or(1),
            people: spec.resources.len(),
            pairs,
            heaviest,
            heavy: Vec::new(),
        };
        whole.heavy = whole.heavy();
        whole
    }

    fn heavy(&self) -> Vec<(usize, usize)> {
        let mut day_of = vec![None; self.bounds.len()];
        for pair in &self.pairs {
            set(&mut day_of, pair.variable, Some(pair.day));
        }
        let mut costly = vec![false; self.bounds.len()];
        for (variable, cost) in &self.costs {
            let is_pair = day_of.get(*variable).is_some_and(Option::is_some);
            let is_heavy = !is_pair && *cost >= ceil_div(self.heaviest, HEAVY_PART);
            set(&mut costly, *variable, is_heavy);
        }
        let mut heavy = Vec::new();
        for row in &self.rows {
            let mut days = row
                .terms
                .iter()
                .filter_map(|(variable, _)| *day_of.get(*variable)?);
            let Some(day) = days.next() else { continue };
            let charged = row.terms.iter().map(|(variable, _)| *variable);
            let charged = charged.filter(|variable| costly.get(*variable) == Some(&true));
            heavy.extend(charged.map(|variable| (variable, day)));
        }
        heavy
    }

    fn value(&self, solution: &[i64]) -> i64 {
        let costs = self.costs.iter();
        let costs =
            costs.map(|(variable, cost)| cost * solution.get(*variable).copied().unwrap_or(0));
        self.offset + costs.sum::<i64>()
    }

    /// What no solution is below: every cost at its least.
    fn least(&self) -> i64 {
        let costs = self.costs.iter();
        self.offset + costs.map(|cost| reach(*cost, &self.bounds).0).sum::<i64>()
    }

    /// The days of heavy costs that a solution has.
    fn short<'a>(&'a self, solution: &'a [i64]) -> impl Iterator<Item = usize> + 'a {
        let costs = self.heavy.iter();
        let paid =
            costs.filter(|(variable, _)| solution.get(*variable).is_some_and(|value| *value > 0));
        paid.map(|(_, day)| *day)
    }

    /// The variables of the pairs that are free in a neighbourhood.
    fn around(
        &self,
        kind: Kind,
        size: usize,
        solution: &[i64],
        chance: &mut Chance,
    ) -> BTreeSet<usize> {
        const NO_DAYS: Range<usize> = 0..0;
        let span = |days: usize, chance: &mut Chance| {
            let short: Vec<usize> = self.short(solution).collect();
            let centre = if !short.is_empty() && chance.below(2) == 0 {
                short.get(chance.below(short.len())).copied().unwrap_or(0)
            } else {
                chance.below(self.days)
            };
            let days = days.min(self.days);
            let first = centre
                .saturating_sub(chance.below(days))
                .min(self.days - days);
            first..first + days
        };
        let everybody = vec![true; self.people];
        let (spans, people) = match kind {
            Kind::Days => ([span(size, chance), NO_DAYS], everybody),
            Kind::Two => ([span(size, chance), span(size, chance)], everybody),
            Kind::People => ([0..self.days, NO_DAYS], chance.some_of(self.people, size)),
            Kind::Wide => {
                let half = span(self.days.div_ceil(2).max(2), chance);
                ([half, NO_DAYS], chance.some_of(self.people, size))
            }
        };
        let is_free = |pair: &&Pair| {
            people.get(pair.person) == Some(&true)
                && spans.iter().any(|span| span.contains(&pair.day))
        };
        let free = self.pairs.iter().filter(is_free);
        free.map(|pair| pair.variable).collect()
    }

    /// The model of what is left when all other pairs are as the solution has them: what follows from those is
    /// worked out here, which is cheaper than having the engine do it.
    fn part(&self, solution: &[i64], free: &BTreeSet<usize>, limit: i64) -> Part {
        let mut bounds = self.bounds.clone();
        for pair in self
            .pairs
            .iter()
            .filter(|pair| !free.contains(&pair.variable))
        {
            let value = solution.get(pair.variable).copied().unwrap_or(0);
            set(&mut bounds, pair.variable, (value, value));
        }
        for _ in 0..TIGHTENINGS {
            if !self.tighten(&mut bounds) {
                break;
            }
        }
        let mut place_of = vec![None; bounds.len()];
        let mut left = Vec::new();
        let mut variables = Vec::new();
        for (variable, (low, high)) in bounds.iter().enumerate() {
            if low < high {
                set(&mut place_of, variable, i32::try_from(left.len()).ok());
                left.push(variable);
                variables.push(IntegerVariable {
                    domain: vec![*low, *high],
                });
            }
        }
        let place = |variable: usize| place_of.get(variable).copied().flatten();
        let value = |variable: usize| bounds.get(variable).map_or(0, |(low, _)| *low);
        let constraints = self.rows.iter().filter_map(|row| {
            let (least, most) = row.activity(&bounds);
            if least >= row.low && most <= row.high {
                return None;
            }
            let open = row.terms.iter();
            let open = open.filter_map(|(variable, weight)| Some((place(*variable)?, *weight)));
            let open: Vec<(i32, i64)> = open.collect();
            let closed = row
                .terms
                .iter()
                .filter(|(variable, _)| place(*variable).is_none());
            let closed: i64 = closed
                .map(|(variable, weight)| weight * value(*variable))
                .sum();
            Some(row.again(&open, closed))
        });
        let constraints = constraints.collect();
        let costs = self.costs.iter();
        let open: Vec<(i32, i64)> = costs
            .clone()
            .filter_map(|(variable, cost)| Some((place(*variable)?, *cost)))
            .collect();
        let closed = costs.filter(|(variable, _)| place(*variable).is_none());
        let closed: i64 = closed.map(|(variable, cost)| cost * value(*variable)).sum();
        let offset = self.offset + closed;
        let objective = Objective {
            vars: open.iter().map(|(place, _)| *place).collect(),
            coeffs: open.iter().map(|(_, cost)| *cost).collect(),
            // Below 2^53.
            offset: offset as f64,
            domain: vec![-UNBOUNDED, limit - offset],
        };
        Part {
            model: CpModel {
                variables,
                constraints,
                objective: Some(objective),
                hint: None,
            },
            free: left,
            values: bounds.iter().map(|(low, _)| *low).collect(),
        }
    }

    /// Takes from every variable what its constraints leave no room for; whether there was anything.
    fn tighten(&self, bounds: &mut [(i64, i64)]) -> bool {
        let mut is_tighter = false;
        for row in &self.rows {
            let (least, most) = row.activity(bounds);
            if least >= row.low && most <= row.high {
                continue;
            }
            for term in &row.terms {
                let (variable, weight) = *term;
                let (low, high) = reach(*term, bounds);
                // Without this term, at the bounds that the row began with: what is cut off is cut off rightly.
                let (above, below) = (row.high - (least - low), row.low - (most - high));
                let Some((from, to)) = bounds.get_mut(variable) else {
                    continue;
                };
                if from == to {
                    continue;
                }
                let (new_from, new_to) = if weight > 0 {
                    (ceil_div(below, weight), above.div_euclid(weight))
                } else {
                    (ceil_div(-above, -weight), (-below).div_euclid(-weight))
                };
                if new_from > *from || new_to < *to {
                    *from = new_from.max(*from);
                    *to = new_to.min(*to);
                    is_tighter = true;
                }
            }
        }
        is_tighter
    }
}

/// For a positive divisor.
fn ceil_div(number: i64, divisor: i64) -> i64 {
    -(-number).div_euclid(divisor)
}

impl Row {
    /// The row of what is open, in the form that it had.
    fn again(&self, open: &[(i32, i64)], closed: i64) -> Constraint {
        let literals = || Literals {
            literals: open
                .iter()
                .map(|(place, weight)| if *weight > 0 { *place } else { -place - 1 })
                .collect(),
        };
        match self.form {
            Form::AnyOf => Constraint {
                bool_or: Some(literals()),
                ..Constraint::default()
            },
            Form::AtMostOne => Constraint {
                at_most_one: Some(literals()),
                ..Constraint::default()
            },
            Form::Sum => Constraint {
                linear: Some(Linear {
                    vars: open.iter().map(|(place, _)| *place).collect(),
                    coeffs: open.iter().map(|(_, weight)| *weight).collect(),
                    domain: vec![self.low - closed, self.high - closed],
                }),
                ..Constraint::default()
            },
        }
    }
}

/// Numbers that look random and are the same on every machine (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `count`, which is small; 0 where that is 0.
    fn below(&mut self, count: usize) -> usize {
        let next = self.next();
        let count = u64::try_from(count).unwrap_or(1).max(1);
        usize::try_from(next % count).unwrap_or(0)
    }

    /// A number beside this one, the nearer the likelier.
    fn round(&mut self, number: f64) -> usize {
        let whole = number.floor();
        // 2^53 steps, each exact.
        let part = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let up = u8::from(part < number - whole);
        // A number of days or people.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small and not negative"
        )]
        let whole = whole as usize;
        whole + usize::from(up)
    }

    /// `some` of so many, marked.
    fn some_of(&mut self, count: usize, some: usize) -> Vec<bool> {
        let mut order: Vec<usize> = (0..count).collect();
        let mut marked = vec![false; count];
        for at in 0..some.min(count) {
            let other = at + self.below(count - at);
            order.swap(at, other);
            if let Some(one) = order.get(at) {
                set(&mut marked, *one, true);
            }
        }
        marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_goes_up() {
        assert_eq!(
            [7, 6, 0, -6, -7].map(|number| ceil_div(number, 3)),
            [3, 2, 0, -2, -2]
        );
    }

    #[test]
    fn chance_is_the_same_everywhere() {
        let mut chance = Chance(1);
        assert_eq!(chance.next(), 0x910a_2dec_8902_5cc1);
        let marked = chance.some_of(10, 4);
        assert_eq!(marked.iter().filter(|one| **one).count(), 4);
        assert_eq!(Chance(3).some_of(3, 9), [true; 3]);
    }

    #[test]
    fn what_follows_from_the_rest_is_not_searched() {
        // a + b = 1, c ≥ a, and c costs.
        let row = |terms: &[(usize, i64)], low, high| Row {
            form: Form::Sum,
            terms: terms.to_vec(),
            low,
            high,
        };
        let whole = Whole {
            bounds: vec![(0, 1), (0, 1), (0, 5), (0, 1)],
            rows: vec![
                row(&[(0, 1), (1, 1)], 1, 1),
                row(&[(2, 1), (0, -1)], 0, UNBOUNDED),
                row(&[(3, 1), (1, 1)], 0, 1),
            ],
            costs: vec![(2, 7)],
            offset: 1,
            pairs: [0, 1, 3]
                .map(|variable| Pair {
                    variable,
                    day: variable,
                    person: 0,
                })
                .into(),
            days: 4,
            people: 1,
            heaviest: 7,
            heavy: Vec::new(),
        };
        let part = whole.part(&[1, 0, 1, 0], &BTreeSet::from([1, 3]), 8);
        // b follows from a, and nothing is left to say about d.
        assert_eq!(part.free, [2, 3]);
        assert_eq!(part.values, [1, 0, 1, 0]);
        assert!(part.model.constraints.is_empty());
        let objective = part.model.objective.clone().unwrap_or_default();
        assert_eq!(
            (objective.offset, objective.domain),
            (1.0, vec![-UNBOUNDED, 7])
        );
        assert_eq!(whole.value(&part.filled(&[2, 1])), 15);
        assert_eq!(whole.least(), 1);
    }
}
