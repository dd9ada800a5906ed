//! What the model looks at around a token, as numbers.

use crate::token::{Token, shape};

/// Tokens that are looked back for a label.
const LABEL_REACH: usize = 6;

/// A sequence of tokens, and how all of it is written.
pub struct Sequence<'t> {
    tokens: &'t [Token],
    is_uncased: bool,
}

impl<'t> Sequence<'t> {
    pub fn new(tokens: &'t [Token]) -> Self {
        /// Of the words of a cased text, one in so many has a capital.
        const FEW: usize = 24;
        let written = |wanted: u8| tokens.iter().filter(|token| token.shape == wanted).count();
        let (small, capital) = (written(shape::SMALL), written(shape::CAPITAL));
        Self {
            tokens,
            is_uncased: capital * FEW < small + capital,
        }
    }

    /// Calls with the number of each feature of a token.
    #[inline]
    pub fn each(&self, at: usize, mut call: impl FnMut(u64)) {
        let near = |distance: isize| -> Seen {
            at.checked_add_signed(distance)
                .and_then(|at| self.tokens.get(at))
                .map_or(Seen::NOTHING, |token| Seen {
                    word: token.word,
                    look: token.look(),
                    gap: token.gap.number(),
                })
        };
        let Some(token) = self.tokens.get(at) else {
            return;
        };
        let cased = u64::from(self.is_uncased);
        let (here, back, back2, next, next2) = (near(0), near(-1), near(-2), near(1), near(2));
        let label = self.label(at);
        let mut template = 0;
        let mut tell = |a: u64, b: u64, c: u64| {
            template += 1;
            call(mix(template, a, b, c));
        };
        tell(here.word, 0, 0);
        tell(token.class_and_shape(), cased, 0);
        tell(here.look, cased, here.gap);
        tell(u64::from(token.shape), here.gap, next.gap);
        tell(token.prefix, 0, 0);
        tell(token.suffixes[0], 0, 0);
        tell(token.suffixes[1], 0, 0);
        tell(back.word, here.gap, 0);
        tell(back2.word, 0, 0);
        tell(next.word, next.gap, 0);
        tell(next2.word, 0, 0);
        tell(back.word, here.word, 0);
        tell(here.word, next.word, 0);
        tell(back2.word, back.word, 0);
        tell(next.word, next2.word, 0);
        tell(back.word, here.look, cased);
        tell(here.look, next.word, cased);
        tell(back.look, here.look, here.gap);
        tell(here.look, next.look, next.gap);
        tell(back.look, here.look, next.look);
        tell(back2.look, back.look, here.look);
        tell(here.look, next.look, next2.look);
        tell(back2.word, here.look, 0);
        tell(back2.word, back.word, here.look);
        tell(back.word, here.look, next.word);
        tell(label, here.look, 0);
        // Words that are near, wherever.
        for distance in 3..=6 {
            call(mix(90, near(-distance).word, 0, 0));
        }
        for distance in 3..=4 {
            call(mix(91, near(distance).word, 0, 0));
        }
    }

    /// The last word in the line that stands before a colon or the like, not far before the token.
    fn label(&self, at: usize) -> u64 {
        let first = at.saturating_sub(LABEL_REACH);
        let pairs = self.tokens.get(first..=at).unwrap_or_default().windows(2);
        for pair in pairs.rev() {
            if let [before, behind] = pair {
                if behind.gap.is_line() {
                    return 0;
                }
                if behind.gap.is_label() {
                    return before.word;
                }
            }
        }
        0
    }
}

#[derive(Clone, Copy)]
struct Seen {
    word: u64,
    look: u64,
    gap: u64,
}

impl Seen {
    /// Before the first and behind the last token.
    const NOTHING: Self = Self {
        word: 1,
        look: 1,
        gap: 1,
    };
}

/// One number of several, alike on every machine.
#[inline]
const fn mix(template: u64, a: u64, b: u64, c: u64) -> u64 {
    let sum = a
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(b.wrapping_mul(0xd6e8_feb8_6659_fd93))
        .wrapping_add(c.wrapping_mul(0xa076_1d64_78bd_642f))
        .wrapping_add(template.wrapping_mul(0xe703_7ed1_a0b4_28db));
    (sum ^ sum >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
