//! What a detector finds, and the kinds that it can be.

use crate::bindings::exports::gateway::phi::detector::Span;
use crate::bindings::gateway::phi::types::SpanHints;

/// One finding, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// In the text that the detector was given; `end` is behind the last byte.
    pub start: usize,
    pub end: usize,
    /// Index into the detector's kinds.
    pub kind: usize,
    /// Per mille.
    pub score: u16,
    /// A check digit fits.
    pub verified: bool,
    /// The words around made it one.
    pub contextual: bool,
}

impl Finding {
    /// A finding without hints.
    pub const fn new(kind: usize, start: usize, end: usize, score: u16) -> Self {
        Self {
            start,
            end,
            kind,
            score,
            verified: false,
            contextual: false,
        }
    }

    /// The same, with a check digit that fits.
    #[must_use]
    pub const fn verified(mut self) -> Self {
        self.verified = true;
        self
    }

    /// The same, for what is PHI only together with what stands near.
    #[must_use]
    pub const fn contextual(mut self) -> Self {
        self.contextual = true;
        self
    }

    /// The same finding in a text that begins `bytes` before.
    #[must_use]
    pub const fn behind(mut self, bytes: usize) -> Self {
        self.start += bytes;
        self.end += bytes;
        self
    }

    /// The same, with the characters of `text` whole that it cuts.
    #[must_use]
    pub(crate) fn within(mut self, text: &str) -> Self {
        self.start = text.floor_char_boundary(self.start);
        self.end = text.ceil_char_boundary(self.end);
        self
    }

    /// Offsets and kinds fit: texts are at most `Detector::MAX_TEXT_BYTES`, kinds are few.
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn span(&self) -> Span {
        let Self {
            start,
            end,
            kind,
            score,
            verified,
            contextual,
        } = *self;
        let mut hints = SpanHints::empty();
        hints.set(SpanHints::VERIFIED, verified);
        hints.set(SpanHints::CONTEXTUAL, contextual);
        Span {
            start: start as u32,
            end: end as u32,
            kind: kind as u16,
            score,
            hints,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_has_the_characters_whole_that_it_would_cut() {
        let text = "a 患者 b";
        assert_eq!(
            Finding::new(0, 3, 6, 900).within(text),
            Finding::new(0, 2, 8, 900)
        );
        assert_eq!(
            Finding::new(0, 2, 5, 900).within(text),
            Finding::new(0, 2, 5, 900)
        );
    }
}

/// What an entity kind is called and how strict it is by default.
#[derive(Debug)]
pub struct Kind {
    /// The word that the host knows it by (`NAME`, `MRN`).
    pub name: &'static str,
    /// Safe Harbor identifier class, 1 to 18; 0 for what is none.
    pub hipaa_class: u8,
    /// Per mille: findings below it are dropped unless the policy says otherwise.
    pub default_threshold: u16,
}

impl Kind {
    /// With the threshold that the shipped policy uses.
    pub const fn new(name: &'static str, hipaa_class: u8) -> Self {
        Self {
            name,
            hipaa_class,
            default_threshold: 500,
        }
    }
}
