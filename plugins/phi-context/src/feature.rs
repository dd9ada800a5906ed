//! What the model looks at around a token, as numbers.

use crate::token::{Token, shape};

/// Tokens that are looked back for a label.
const LABEL_REACH: usize = 6;
/// Tokens on either side that are looked at.
const REACH: usize = 6;
/// What is looked at around a token, which is in the middle.
const WINDOW: usize = 2 * REACH + 1;

/// A sequence of tokens as the model sees them, and how all of it is written.
pub struct Sequence {
    /// With [`REACH`] of nothing on either side.
    seen: Vec<Seen>,
    cased: u64,
}

/// What of a token goes into features: numbers of all 64 bits.
#[derive(Clone, Copy)]
struct Seen {
    word: u64,
    look: u64,
    gap: u64,
    shape: u64,
    class: u64,
    prefix: u64,
    suffix: u64,
    /// The last word in the line that stands before a colon or the like, not far before the token.
    label: u64,
}

impl Seen {
    /// Before the first and behind the last token.
    const NOTHING: Self = Self {
        word: spread(1),
        look: spread(1),
        gap: spread(1),
        shape: 0,
        class: 0,
        prefix: 0,
        suffix: 0,
        label: 0,
    };
}

/// On which side of a token a word is near.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    Behind,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::Before, Self::Behind];
}

/// Where words are near, wherever they are: so many tokens away.
const BEFORE: core::ops::RangeInclusive<usize> = 3..=6;
const BEHIND: core::ops::RangeInclusive<usize> = 3..=4;

impl Sequence {
    pub fn new(tokens: &[Token]) -> Self {
        /// Of the words of a cased text, one in so many has a capital.
        const FEW: usize = 24;
        let is_written = |token: &&Token, wanted| token.shape == wanted && token.tongue.is_cased;
        let written = |wanted: u8| {
            tokens
                .iter()
                .filter(|token| is_written(token, wanted))
                .count()
        };
        let (small, capital) = (written(shape::SMALL), written(shape::CAPITAL));
        let mut seen = Vec::with_capacity(tokens.len() + 2 * REACH);
        seen.resize(REACH, Seen::NOTHING);
        let mut label = None;
        let mut before = 0;
        for (at, token) in tokens.iter().enumerate() {
            if token.gap.is_line() {
                label = None;
            } else if at > 0 && token.gap.is_label() {
                label = Some((before, at));
            }
            let word = spread(token.word);
            seen.push(Seen {
                word,
                look: spread(token.look()),
                gap: spread(token.gap.number()),
                shape: spread(token.shape.into()),
                class: spread(token.class_and_shape()),
                prefix: spread(token.prefix),
                suffix: spread(token.suffix),
                label: label
                    .filter(|(_, from)| at - from < LABEL_REACH)
                    .map_or(0, |(word, _)| word),
            });
            before = word;
        }
        seen.resize(seen.len() + REACH, Seen::NOTHING);
        Self {
            seen,
            cased: spread((capital * FEW < small + capital).into()),
        }
    }

    /// Calls with the number of each feature of a token.
    pub fn each(&self, at: usize, mut call: impl FnMut(u64)) {
        self.around(at, &mut call);
        for (side, place) in Self::near(at) {
            call(self.of_near(side, place));
        }
    }

    /// As [`Sequence::each`], without those of words that are near, wherever.
    #[inline]
    pub fn around(&self, at: usize, mut call: impl FnMut(u64)) {
        let window = self.seen.get(at..).and_then(<[Seen]>::first_chunk);
        let Some(window): Option<&[Seen; WINDOW]> = window else {
            return;
        };
        let [.., back2, back, here, next, next2, _, _, _, _] = window;
        let cased = self.cased;
        let mut template = 0;
        let mut tell = |a: u64, b: u64, c: u64| {
            template += 1;
            call(mix(template, a, b, c));
        };
        tell(here.word, 0, 0);
        tell(here.class, cased, 0);
        tell(here.look, cased, here.gap);
        tell(here.shape, here.gap, next.gap);
        tell(here.prefix, 0, 0);
        tell(here.suffix, 0, 0);
        tell(back.word, here.gap, 0);
        tell(back2.word, 0, 0);
        tell(next.word, next.gap, 0);
        tell(next2.word, 0, 0);
        tell(back.look, here.look, here.gap);
        tell(here.look, next.look, next.gap);
        tell(here.label, here.look, 0);
    }

    /// Where words are near a token, as places of [`Sequence::of_near`].
    pub fn near(at: usize) -> impl Iterator<Item = (Side, usize)> {
        let middle = at + REACH;
        BEFORE
            .map(move |distance| (Side::Before, middle - distance))
            .chain(BEHIND.map(move |distance| (Side::Behind, middle + distance)))
    }

    /// Places of [`Sequence::near`] that there are.
    pub const fn places(&self) -> usize {
        self.seen.len()
    }

    /// The feature that the word of a place is for all tokens that it is near.
    pub fn of_near(&self, side: Side, place: usize) -> u64 {
        let template = match side {
            Side::Before => 90,
            Side::Behind => 91,
        };
        let word = self.seen.get(place).map_or(0, |seen| seen.word);
        mix(template, word, 0, 0)
    }
}

/// One number of another, alike on every machine: any bit of it changes many.
#[inline]
const fn spread(number: u64) -> u64 {
    let mixed = (number ^ number >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

/// One number of several.
#[inline]
const fn mix(template: u64, a: u64, b: u64, c: u64) -> u64 {
    let sum = template
        .wrapping_mul(0xe703_7ed1_a0b4_28db)
        .wrapping_add(a)
        .wrapping_add(b.rotate_left(21))
        .wrapping_add(c.rotate_left(42));
    (sum ^ sum >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}
