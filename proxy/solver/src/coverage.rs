//! Coverage: every slot has exactly the people it needs, each on one of its seats. In the model, and counted on a
//! roster without it.

use crate::model::{Encoder, Literal, flat};
use crate::roster::Roster;
use crate::spec::{Slot, Spec};

/// What it costs that a slot is short of people, or has more; `None` is not allowed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Leeway {
    under_weight: Option<i64>,
    over_weight: Option<i64>,
}

impl Leeway {
    pub(crate) const fn allows(self, missing: i64, beyond: i64) -> bool {
        (missing == 0 || self.under_weight.is_some()) && (beyond == 0 || self.over_weight.is_some())
    }

    /// Least and most people for a requirement of `count`.
    pub(crate) const fn bounds(self, count: i64, most: i64) -> (i64, i64) {
        let low = if self.under_weight.is_some() {
            0
        } else {
            count
        };
        let high = if self.over_weight.is_some() {
            most
        } else {
            count
        };
        (low, high)
    }

    /// Whether it may be short of people.
    pub(crate) const fn may_be_short(self) -> bool {
        self.under_weight.is_some()
    }

    /// Whether nothing of the slot's coverage is a constraint.
    pub(crate) const fn is_free(self) -> bool {
        self.under_weight.is_some() && self.over_weight.is_some()
    }
}

/// Of each slot, from the preferences that soften it.
pub(crate) fn leeways(spec: &Spec) -> Vec<Leeway> {
    let mut leeways = vec![Leeway::default(); spec.slots.len()];
    for wish in spec
        .soft
        .iter()
        .filter_map(|item| item.rule.soft_coverage())
    {
        for slot in &wish.slots {
            let Some(leeway) = leeways.get_mut(*slot) else {
                continue;
            };
            add(&mut leeway.under_weight, wish.under_weight);
            add(&mut leeway.over_weight, wish.over_weight);
        }
    }
    leeways
}

fn add(sum: &mut Option<i64>, weight: Option<i64>) {
    if let Some(weight) = weight {
        *sum = Some(sum.unwrap_or(0) + weight);
    }
}

/// Encodes the coverage of a slot. Where it has leeway and `pays`, that costs; where it does not pay (a model
/// without preferences) it is free.
pub(crate) fn encode(slot: usize, leeway: Leeway, pays: bool, encoder: &mut Encoder<'_>) {
    let Some(found) = encoder.spec.slots.get(slot) else {
        return;
    };
    let seats = seats(slot, found, encoder);
    for (requirement, terms) in found.requirements.iter().zip(seats) {
        let (vars, _) = flat(&terms);
        let (least, most) = encoder.activity(&vars);
        let count = requirement.count;
        match leeway.under_weight {
            None => encoder.linear(terms.clone(), Some(count), None),
            Some(weight) if pays => {
                let under = encoder.cost(count, weight);
                let mut vars = vars.clone();
                vars.push((under, 1));
                encoder.raw(vars, count, most.max(count) + count);
            }
            Some(_) => {}
        }
        match leeway.over_weight {
            None => encoder.linear(terms, None, Some(count)),
            Some(weight) if pays && most > count => {
                let over = encoder.cost(most - count, weight);
                let mut vars = vars;
                vars.push((over, -1));
                encoder.raw(vars, least - most, count);
            }
            Some(_) => {}
        }
    }
}

/// For each requirement, who sits on its seats. Who could sit on several gets a choice.
fn seats(slot: usize, found: &Slot, encoder: &mut Encoder<'_>) -> Vec<Vec<(Literal, i64)>> {
    let mut seats: Vec<Vec<(Literal, i64)>> = vec![Vec::new(); found.requirements.len()];
    for (resource, taken) in encoder.pairs(slot).to_vec() {
        let meets: Vec<usize> = found
            .requirements
            .iter()
            .enumerate()
            .filter(|(_, requirement)| requirement.eligible.binary_search(&resource).is_ok())
            .map(|(place, _)| place)
            .collect();
        if let [one] = meets.as_slice() {
            if let Some(seats) = seats.get_mut(*one) {
                seats.push((taken, 1));
            }
            continue;
        }
        let mut choice = vec![(!taken, 1)];
        for place in meets {
            let seat = encoder.boolean();
            choice.push((seat, 1));
            if let Some(seats) = seats.get_mut(place) {
                seats.push((seat, 1));
            }
        }
        // Taken is one seat, not taken is none.
        let (vars, constant) = flat(&choice);
        encoder.raw(vars, 1 - constant, 1 - constant);
    }
    seats
}

/// How a slot is covered by those who take it, seated as well as can be.
pub(crate) struct Coverage {
    pub(crate) missing: i64,
    pub(crate) beyond: i64,
}

pub(crate) fn of(roster: &Roster<'_>, slot: usize) -> Coverage {
    let people = roster.people(slot);
    let Some(found) = roster.spec.slots.get(slot) else {
        return Coverage {
            missing: 0,
            beyond: 0,
        };
    };
    let seated = seated(found, people);
    Coverage {
        missing: found.need() - seated,
        beyond: i64::try_from(people.len()).unwrap_or(i64::MAX) - seated,
    }
}

/// Most of these people that can sit at once: a matching, grown person by person.
pub(crate) fn seated(slot: &Slot, people: &[usize]) -> i64 {
    let mut seats: Vec<Vec<usize>> = vec![Vec::new(); slot.requirements.len()];
    let mut seated = 0;
    for person in people {
        let mut tried = vec![false; slot.requirements.len()];
        seated += i64::from(seat(*person, slot, &mut seats, &mut tried));
    }
    seated
}

/// Finds a seat, moving others where that helps. As deep as a slot has requirements.
fn seat(person: usize, slot: &Slot, seats: &mut [Vec<usize>], tried: &mut [bool]) -> bool {
    for (place, requirement) in slot.requirements.iter().enumerate() {
        let is_open = tried.get(place) == Some(&false);
        if !is_open || requirement.eligible.binary_search(&person).is_err() {
            continue;
        }
        if let Some(tried) = tried.get_mut(place) {
            *tried = true;
        }
        let count = usize::try_from(requirement.count).unwrap_or(0);
        let sitting = seats.get(place).cloned().unwrap_or_default();
        if sitting.len() < count {
            if let Some(seats) = seats.get_mut(place) {
                seats.push(person);
            }
            return true;
        }
        for (chair, other) in sitting.iter().enumerate() {
            if seat(*other, slot, seats, tried) {
                if let Some(chair) = seats.get_mut(place).and_then(|seats| seats.get_mut(chair)) {
                    *chair = person;
                }
                return true;
            }
        }
    }
    false
}
