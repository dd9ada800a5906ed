//! The model: a linear chain. Each feature of a token has a weight for each tag, and so has each pair of tags that follow
//! each other. What comes out is how likely a token is to have each tag, given all of its sequence.

use crate::feature::Sequence;
use crate::tag::{NOTHING, TAGS};

/// Made by the trainer: pairs of tags, fingerprints, weights.
static TABLE: &[u8] = include_bytes!("../model.bin");

/// A feature is in one of so many buckets, which are looked through at once.
pub const BUCKETS: usize = 1 << 15;
/// Features that a bucket has room for.
pub const ROOM: usize = 8;
/// Weights are whole numbers of this part.
pub const STEP: f32 = 1.0 / 20.0;

/// What the features of a bucket are known by. Zero is free.
pub type Marks = [u16; ROOM];

const PAIRS_BYTES: usize = TAGS * TAGS * 4;
const MARKS_BYTES: usize = BUCKETS * ROOM * 2;
/// Bytes of the table.
pub const BYTES: usize = PAIRS_BYTES + MARKS_BYTES + BUCKETS * ROOM * TAGS;
/// Where the marks begin.
pub const MARKS_AT: usize = PAIRS_BYTES;
/// Where the weights begin, in the order of the marks.
pub const WEIGHTS_AT: usize = PAIRS_BYTES + MARKS_BYTES;

/// The bucket of a feature, and its mark there.
#[allow(clippy::cast_possible_truncation, reason = "the parts that are wanted")]
pub const fn place(feature: u64) -> (usize, u16) {
    ((feature >> 49) as usize, (feature >> 32) as u16 | 1)
}

/// Likelihoods of the tags of one token.
pub type Row = [f32; TAGS];

/// The model at work on one sequence after the other.
pub struct Chain {
    rows: Vec<Row>,
    /// Room to work in.
    alone: Vec<Row>,
    pairs: [Row; TAGS],
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            alone: Vec::new(),
            pairs: pairs(),
        }
    }
}

impl Chain {
    /// How likely each token is to have each tag.
    pub fn read(&mut self, sequence: &Sequence<'_>, range: core::ops::Range<usize>) -> &[Row] {
        self.rows.clear();
        self.rows.extend(range.map(|at| likely(sequence, at)));
        // What is nothing beyond doubt divides the sequence: most tokens need no more than that.
        let mut rest = self.rows.as_mut_slice();
        while let Some(from) = rest.iter().position(|row| !is_surely_nothing(row)) {
            let (_, run) = rest.split_at_mut(from);
            let end = run.iter().position(is_surely_nothing).unwrap_or(run.len());
            let (run, behind) = run.split_at_mut(end);
            smooth(run, &self.pairs, &mut self.alone);
            rest = behind;
        }
        &self.rows
    }
}

/// Whether nothing around a token can make it PHI.
fn is_surely_nothing(row: &Row) -> bool {
    const ALL_OTHERS: f32 = 1e-4;
    row[NOTHING] >= 1.0 && row.iter().sum::<f32>() - 1.0 < ALL_OTHERS
}

/// Turns the likelihoods of tokens by themselves into those in their sequence, by going forward and back.
fn smooth(rows: &mut [Row], pairs: &[Row; TAGS], alone: &mut Vec<Row>) {
    alone.clear();
    alone.extend_from_slice(rows);
    let mut before: Option<Row> = None;
    for row in rows.iter_mut() {
        let from = match before {
            // A run begins as behind nothing.
            None => pairs[NOTHING],
            Some(before) => {
                let mut reached = [0.0; TAGS];
                for (pair, share) in pairs.iter().zip(before) {
                    for (reached, pair) in reached.iter_mut().zip(pair) {
                        *reached += pair * share;
                    }
                }
                reached
            }
        };
        for (value, from) in row.iter_mut().zip(from) {
            *value *= from;
        }
        normalize(row);
        before = Some(*row);
    }
    // And ends as before nothing.
    let mut behind: Row = [0.0; TAGS];
    for (behind, pair) in behind.iter_mut().zip(pairs) {
        *behind = pair[NOTHING];
    }
    for (row, alone) in rows.iter_mut().zip(alone.iter()).rev() {
        let mut weighed = [0.0; TAGS];
        for ((weighed, alone), behind) in weighed.iter_mut().zip(alone).zip(behind) {
            *weighed = alone * behind;
        }
        for (value, behind) in row.iter_mut().zip(behind) {
            *value *= behind;
        }
        normalize(row);
        let mut back = [0.0; TAGS];
        for (back, pair) in back.iter_mut().zip(pairs) {
            for (weighed, pair) in weighed.iter().zip(pair) {
                *back += weighed * pair;
            }
        }
        normalize(&mut back);
        behind = back;
    }
}

fn normalize(row: &mut Row) {
    let sum: f32 = row.iter().sum();
    let share = 1.0 / sum.max(f32::MIN_POSITIVE);
    for value in row {
        *value *= share;
    }
}

/// How likely a token is to have each tag, but for the tags around it. The likeliest has 1.
fn likely(sequence: &Sequence<'_>, at: usize) -> Row {
    let mut scores = [0_i16; TAGS];
    sequence.each(at, |feature| {
        if let Some(weights) = weights(feature) {
            for (score, weight) in scores.iter_mut().zip(weights) {
                *score += i16::from(weight.cast_signed());
            }
        }
    });
    let most = scores.iter().copied().max().unwrap_or_default();
    let mut row = [0.0; TAGS];
    for (value, score) in row.iter_mut().zip(scores) {
        *value = exp(f32::from(score.saturating_sub(most)) * STEP);
    }
    row
}

/// The weights of a feature, if it has any.
#[inline]
fn weights(feature: u64) -> Option<&'static [u8; TAGS]> {
    let (bucket, mark) = place(feature);
    let at = MARKS_AT + bucket * ROOM * 2;
    let bytes: &[u8; ROOM * 2] = TABLE.get(at..at + ROOM * 2)?.try_into().ok()?;
    let (marks, _) = bytes.as_chunks::<2>();
    let mut found = 0_u32;
    for (slot, other) in marks.iter().enumerate() {
        found |= u32::from(u16::from_le_bytes(*other) == mark) << slot;
    }
    if found == 0 {
        return None;
    }
    let slot = bucket * ROOM + found.trailing_zeros() as usize;
    let at = WEIGHTS_AT + slot * TAGS;
    TABLE.get(at..at + TAGS)?.try_into().ok()
}

/// Factors of each tag behind each tag.
fn pairs() -> [Row; TAGS] {
    let mut pairs = [[0.0; TAGS]; TAGS];
    let (bytes, _) = TABLE.as_chunks::<4>();
    for (factor, bytes) in pairs.iter_mut().flatten().zip(bytes) {
        *factor = f32::from_le_bytes(*bytes);
    }
    pairs
}

/// e to the power of `x`, which is no more than 7, to four digits. With the same bits on every machine, because it adds
/// and multiplies only.
fn exp(x: f32) -> f32 {
    /// Of 2 to the power of a part of one, from the sixth power down.
    const SERIES: [f32; 7] = [
        0.000_154,
        0.001_333_4,
        0.009_618_1,
        0.055_504_1,
        0.240_226_5,
        core::f32::consts::LN_2,
        1.0,
    ];
    const LOG2_E: f32 = core::f32::consts::LOG2_E;
    let x = (x * LOG2_E).clamp(-100.0, 30.0);
    let whole = x.floor();
    let part = x - whole;
    let power = SERIES.iter().fold(0.0, |sum, factor| sum * part + factor);
    // -100 to 30.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let scale = f32::from_bits(((whole as i32 + 127) as u32) << 23);
    power * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_right_to_four_digits() {
        for step in -400_i16..70 {
            let x = f32::from(step) / 10.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-4, "{x}");
        }
    }

    #[test]
    fn the_table_has_its_size() {
        assert_eq!(TABLE.len(), BYTES);
    }
}
