//! The model as `phi_context::model` reads it.

use std::collections::HashMap;
use std::error::Error;

use phi_context::model::{GROUPS, MARK, Model, STEP, group, mark, slot};
use phi_context::tag::{NOTHING, SORTS, TAGS, first, may_follow};
use phi_lexicon::language::Language;

use crate::chain::Weights;
use crate::example::Key;

/// What is missed costs more than what is hidden for nothing.
struct Caution {
    /// How much less likely it is made that a token is nothing.
    nothing: f32,
    /// How much likelier it is made that a value begins, for each of `SORTS`.
    begins: [f32; SORTS.len()],
}

impl Caution {
    const fn of(language: Language) -> Self {
        match language {
            Language::Own => Self {
                nothing: 1.7,
                begins: [-0.4, 0.4, 0.0, 0.4, -0.5, 0.0, 0.0],
            },
            Language::Other => Self {
                nothing: 1.4,
                begins: [0.0; SORTS.len()],
            },
        }
    }

    /// What it adds to the weight of a tag behind any other.
    fn of_tag(&self, tag: usize) -> f32 {
        if tag == NOTHING {
            return -self.nothing;
        }
        let begins = self.begins.iter().enumerate();
        begins
            .filter(|(sort, _)| first(*sort) == tag)
            .map(|(_, caution)| *caution)
            .sum()
    }
}

pub fn write<M: Model>(
    language: Language,
    weights: &Weights,
    alphabet: &HashMap<Key, u32>,
    kept: &[bool],
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut table = vec![0_u8; M::BYTES];
    let mut put = |at: usize, bytes: &[u8]| -> Result<(), Box<dyn Error>> {
        let room = table.get_mut(at..at + bytes.len());
        room.ok_or("beyond the table")?.copy_from_slice(bytes);
        Ok(())
    };
    let caution = Caution::of(language);
    for (before, row) in weights.pairs.iter().enumerate() {
        for (tag, weight) in row.iter().enumerate() {
            let factor = if may_follow(before, tag) {
                (weight + caution.of_tag(tag)).exp()
            } else {
                0.0
            };
            let at = M::PAIRS_AT + (before * TAGS + tag) * 4;
            put(at, &factor.to_le_bytes())?;
        }
    }
    let mut groups: Vec<Vec<(Key, u32)>> = vec![Vec::new(); GROUPS];
    for (key, feature) in alphabet {
        if kept.get(*feature as usize).is_some_and(|kept| *kept) {
            let group = groups.get_mut(group(*key));
            group
                .ok_or("a group beyond the last")?
                .push((*key, *feature));
        }
    }
    let mut order: Vec<usize> = (0..GROUPS).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(groups.get(*at).map_or(0, Vec::len)), *at));
    let mut is_taken = vec![false; M::SLOTS];
    for at in order {
        let features = groups.get_mut(at).ok_or("a group beyond the last")?;
        features.sort_unstable();
        let shift = (0..=u16::MAX)
            .find(|shift| are_free(&is_taken, features, *shift))
            .ok_or("no shift brings the features of a group to free slots")?;
        put(M::SHIFTS_AT + at * 2, &shift.to_le_bytes())?;
        for (key, feature) in features {
            let slot = slot(*key, shift, M::SLOTS);
            *is_taken.get_mut(slot).ok_or("a slot beyond the last")? = true;
            let row = weights.features.get(*feature as usize);
            let mut bytes = row.ok_or("a feature without weights")?.map(small);
            bytes[MARK] = mark(*key);
            put(slot * TAGS, &bytes)?;
        }
    }
    Ok(table)
}

/// Whether the features of a group have slots of their own with this shift.
fn are_free(is_taken: &[bool], features: &[(Key, u32)], shift: u16) -> bool {
    let slots = || {
        features
            .iter()
            .map(|(key, _)| slot(*key, shift, is_taken.len()))
    };
    slots().all(|slot| is_taken.get(slot) == Some(&false))
        && slots()
            .enumerate()
            .all(|(at, slot)| !slots().take(at).any(|other| other == slot))
}

/// In whole steps.
#[allow(clippy::cast_possible_truncation, reason = "clamped")]
fn small(weight: f32) -> u8 {
    ((weight / STEP).round().clamp(-127.0, 127.0) as i8).cast_unsigned()
}
