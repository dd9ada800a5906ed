//! The model: a linear chain. Each feature of a token has a weight for each tag, and so has each pair of tags that follow
//! each other. What comes out is how likely a token is to have each tag, given all of its sequence.

use core::marker::PhantomData;
use core::ops::Range;

use crate::feature::{Sequence, Side};
use crate::tag::{NOTHING, TAGS};

/// A model as the trainer made it.
pub trait Model {
    /// Features that the table has room for: each has a slot of its own.
    const SLOTS: usize;
    /// Weights of each slot, factors of pairs of tags, shifts.
    const TABLE: &'static [u8];

    /// Where the factors of pairs begin, and where the shifts.
    const PAIRS_AT: usize = Self::SLOTS * TAGS;
    const SHIFTS_AT: usize = Self::PAIRS_AT + TAGS * TAGS * 4;
    /// Bytes of the table.
    const BYTES: usize = Self::SHIFTS_AT + GROUPS * 2;

    /// Factors of each tag behind each tag, and the other way round.
    const PAIRS: &'static [[Row; TAGS]; 2] = &pairs::<Self>();
}

/// For texts in English and Spanish.
pub struct Own;

/// For texts in other languages.
pub struct Other;

static OWN: Aligned<[u8; Own::BYTES]> = Aligned(*include_bytes!("../own.bin"));
static OTHER: Aligned<[u8; Other::BYTES]> = Aligned(*include_bytes!("../other.bin"));

impl Model for Own {
    const SLOTS: usize = 448_000;
    const TABLE: &'static [u8] = &OWN.0;
}

impl Model for Other {
    const SLOTS: usize = 384_000;
    const TABLE: &'static [u8] = &OTHER.0;
}

/// A slot is never in two lines of memory.
#[repr(align(64))]
struct Aligned<T>(T);

/// Features are in so many groups; the shift of its group brings each of them to its slot.
pub const GROUPS: usize = 1 << 17;
/// Weights are whole numbers of this part.
pub const STEP: f32 = 1.0 / 20.0;

/// A weight for each tag; in place of that of the tag that is never used, the mark of the feature.
pub type Weights = [u8; TAGS];

/// Where the mark of a feature is among its weights.
pub const MARK: usize = TAGS - 1;

/// The group of a feature.
pub const fn group(feature: u64) -> usize {
    part(feature >> 32, GROUPS)
}

/// The slot of a feature of a group with this shift, among so many.
pub const fn slot(feature: u64, shift: u16, slots: usize) -> usize {
    let moved = (feature ^ (shift as u64).wrapping_mul(0x9e37_79b1)) & 0xffff_ffff;
    part(moved.wrapping_mul(0x85eb_ca6b) & 0xffff_ffff, slots)
}

/// What a slot tells its feature by.
#[allow(clippy::cast_possible_truncation, reason = "the part that is wanted")]
pub const fn mark(feature: u64) -> u8 {
    (feature >> 32) as u8
}

/// A number of 32 bits as one below `parts`.
#[allow(clippy::cast_possible_truncation, reason = "below `parts`")]
const fn part(number: u64, parts: usize) -> usize {
    ((number * parts as u64) >> 32) as usize
}

/// The weights of a feature; nothing, if it has none.
#[inline]
fn weights<M: Model>(feature: u64) -> &'static Weights {
    const NONE: &Weights = &[0; TAGS];
    let at = M::SHIFTS_AT + group(feature) * 2;
    let shift = M::TABLE.get(at..).and_then(<[u8]>::first_chunk);
    let shift = shift.map_or(0, |shift| u16::from_le_bytes(*shift));
    let at = slot(feature, shift, M::SLOTS) * TAGS;
    match M::TABLE.get(at..).and_then(<[u8]>::first_chunk) {
        Some(weights) if weights[MARK] == mark(feature) => weights,
        _ => NONE,
    }
}

const fn pairs<M: Model + ?Sized>() -> [[Row; TAGS]; 2] {
    let mut pairs = [[[0.0; TAGS]; TAGS]; 2];
    let (_, bytes) = M::TABLE.split_at(M::PAIRS_AT);
    let (mut bytes, _) = bytes.split_at(M::SHIFTS_AT - M::PAIRS_AT);
    let mut place = 0;
    while let Some((factor, rest)) = bytes.split_first_chunk() {
        let (before, tag) = (place / TAGS, place % TAGS);
        let factor = f32::from_le_bytes(*factor);
        pairs[0][before][tag] = factor;
        pairs[1][tag][before] = factor;
        (bytes, place) = (rest, place + 1);
    }
    pairs
}

/// Likelihoods of the tags of one token.
pub type Row = [f32; TAGS];

/// Sums of weights.
type Scores = [i16; TAGS];

/// A model at work on one sequence after the other.
pub struct Chain<M> {
    model: PhantomData<M>,
    rows: Vec<Row>,
    /// Room to work in.
    alone: Vec<Row>,
    /// Of each place of the sequence, what its word weighs for those that it is near.
    near: Vec<Option<[&'static Weights; 2]>>,
}

impl<M: Model> Default for Chain<M> {
    fn default() -> Self {
        Self {
            model: PhantomData,
            rows: Vec::new(),
            alone: Vec::new(),
            near: Vec::new(),
        }
    }
}

impl<M: Model> Chain<M> {
    /// What is read next is another sequence.
    pub fn begin(&mut self) {
        self.near.clear();
    }

    /// How likely each token of a part is to have each tag.
    pub fn read(&mut self, sequence: &Sequence, range: Range<usize>) -> &[Row] {
        self.near.resize(sequence.places(), None);
        self.rows.clear();
        for at in range {
            let row = self.likely(sequence, at);
            self.rows.push(row);
        }
        // What is nothing beyond doubt divides the sequence.
        let mut rest = self.rows.as_mut_slice();
        while let Some(from) = rest.iter().position(|row| !is_surely_nothing(row)) {
            let (_, run) = rest.split_at_mut(from);
            let end = run.iter().position(is_surely_nothing).unwrap_or(run.len());
            let (run, behind) = run.split_at_mut(end);
            smooth(run, M::PAIRS, &mut self.alone);
            rest = behind;
        }
        &self.rows
    }

    /// How likely a token is to have each tag, but for the tags around it. The likeliest has 1.
    fn likely(&mut self, sequence: &Sequence, at: usize) -> Row {
        let mut scores = [0; TAGS];
        sequence.around(at, |feature| add(&mut scores, weights::<M>(feature)));
        for (side, place) in Sequence::near(at) {
            // A word is near several tokens.
            if let Some(near) = self.near.get_mut(place) {
                let near = near.get_or_insert_with(|| {
                    Side::BOTH.map(|side| weights::<M>(sequence.of_near(side, place)))
                });
                add(&mut scores, near[side as usize]);
            }
        }
        scores[MARK] = i16::MIN;
        let most = scores.iter().copied().max().unwrap_or_default();
        scores.map(|score| power(most.saturating_sub(score)))
    }
}

/// Whether nothing around a token can make it PHI.
fn is_surely_nothing(row: &Row) -> bool {
    const ALL_OTHERS: f32 = 0.01;
    row[NOTHING] >= 1.0 && row.iter().sum::<f32>() - 1.0 < ALL_OTHERS
}

/// Turns the likelihoods of tokens by themselves into those in their sequence, by going forward and back.
fn smooth(rows: &mut [Row], [pairs, back]: &[[Row; TAGS]; 2], alone: &mut Vec<Row>) {
    alone.clear();
    alone.extend_from_slice(rows);
    // A run begins as behind nothing.
    let mut reached = pairs[NOTHING];
    for row in rows.iter_mut() {
        multiply(row, &reached);
        normalize(row);
        reached = through(pairs, row);
    }
    // And ends as before nothing.
    let mut behind = back[NOTHING];
    for (row, alone) in rows.iter_mut().zip(alone.iter()).rev() {
        multiply(row, &behind);
        normalize(row);
        multiply(&mut behind, alone);
        normalize(&mut behind);
        behind = through(back, &behind);
    }
}

fn multiply(row: &mut Row, by: &Row) {
    for (value, by) in row.iter_mut().zip(by) {
        *value *= by;
    }
}

/// What is reached from these shares.
fn through(pairs: &[Row; TAGS], shares: &Row) -> Row {
    let mut reached = [0.0; TAGS];
    for (pair, share) in pairs.iter().zip(shares) {
        for (reached, pair) in reached.iter_mut().zip(pair) {
            *reached += pair * share;
        }
    }
    reached
}

fn normalize(row: &mut Row) {
    // Four sums at once.
    let mut sums = [0.0_f32; 4];
    for values in row.as_chunks::<4>().0 {
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value;
        }
    }
    let share = 1.0 / sums.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    for value in row {
        *value *= share;
    }
}

#[inline]
fn add(scores: &mut Scores, weights: &Weights) {
    for (score, weight) in scores.iter_mut().zip(weights) {
        *score += i16::from(weight.cast_signed());
    }
}

/// e to the power of so many steps below zero.
fn power(steps: i16) -> f32 {
    usize::try_from(steps)
        .ok()
        .and_then(|steps| POWERS.get(steps))
        .copied()
        .unwrap_or_default()
}

/// Of each number of steps that leaves something. With the same bits on every machine, because a multiplication has.
static POWERS: [f32; 512] = {
    /// e to the power of one step below zero.
    const OF_ONE: f64 = 0.951_229_424_500_714;
    let mut powers = [1.0; 512];
    let (mut at, mut power) = (1, 1.0);
    while at < powers.len() {
        power *= OF_ONE;
        powers[at] = power as f32;
        at += 1;
    }
    powers
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_right() {
        for (steps, power) in POWERS.iter().enumerate() {
            let x = -(steps as f32) * STEP;
            assert!((power / x.exp() - 1.0).abs() < 1e-4, "{x}");
        }
    }
}
