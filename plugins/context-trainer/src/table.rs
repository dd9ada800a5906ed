//! The model as `phi_context::model` reads it.

use std::collections::HashMap;
use std::error::Error;

use phi_context::model::{BUCKETS, BYTES, MARKS_AT, ROOM, STEP, WEIGHTS_AT};
use phi_context::tag::{NOTHING, TAGS, may_follow};

use crate::chain::Weights;
use crate::example::Key;

/// How much less likely it is made that a token is nothing: what is missed costs more than what is hidden for nothing.
const CAUTION: f32 = 1.2;

pub fn write(
    weights: &Weights,
    alphabet: &HashMap<Key, u32>,
    kept: &[bool],
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut table = vec![0_u8; BYTES];
    for (before, row) in weights.pairs.iter().enumerate() {
        for (tag, weight) in row.iter().enumerate() {
            let caution = if tag == NOTHING { CAUTION } else { 0.0 };
            let factor = if may_follow(before, tag) {
                (weight - caution).exp()
            } else {
                0.0
            };
            let at = (before * TAGS + tag) * 4;
            table
                .get_mut(at..at + 4)
                .ok_or("no room for pairs")?
                .copy_from_slice(&factor.to_le_bytes());
        }
    }
    let mut buckets: Vec<Vec<(f32, Key, u32)>> = vec![Vec::new(); BUCKETS];
    for (key, feature) in alphabet {
        let at = *feature as usize;
        if kept.get(at).is_some_and(|kept| *kept) {
            let row = weights
                .features
                .get(at)
                .ok_or("a feature without weights")?;
            let size = row
                .iter()
                .fold(0.0_f32, |most, weight| most.max(weight.abs()));
            buckets
                .get_mut(key.0)
                .ok_or("a bucket beyond the last")?
                .push((size, *key, *feature));
        }
    }
    for (bucket, features) in buckets.iter_mut().enumerate() {
        // Where a bucket has no room, what weighs least goes.
        features.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (slot, (_, (_, mark), feature)) in features.iter().take(ROOM).enumerate() {
            let slot = bucket * ROOM + slot;
            let at = MARKS_AT + slot * 2;
            table
                .get_mut(at..at + 2)
                .ok_or("no room for marks")?
                .copy_from_slice(&mark.to_le_bytes());
            let at = WEIGHTS_AT + slot * TAGS;
            let row = weights
                .features
                .get(*feature as usize)
                .ok_or("a feature without weights")?;
            for (byte, weight) in table
                .get_mut(at..at + TAGS)
                .ok_or("no room for weights")?
                .iter_mut()
                .zip(row)
            {
                *byte = small(*weight);
            }
        }
    }
    Ok(table)
}

/// In whole steps.
#[allow(clippy::cast_possible_truncation, reason = "clamped")]
fn small(weight: f32) -> u8 {
    ((weight / STEP).round().clamp(-127.0, 127.0) as i8).cast_unsigned()
}
