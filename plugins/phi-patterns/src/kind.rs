//! The kinds of identifier, one file each, and the table that the scan runs through.

pub mod card;
pub mod date;
pub mod email;
pub mod mrn;
pub mod phone;
pub mod ssn;

use crate::number::Numbers;

/// One finding in a segment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    pub start: usize,
    pub end: usize,
    pub kind: usize,
    /// Per mille.
    pub score: u16,
    /// A check digit fits.
    pub verified: bool,
    /// The words around made it one.
    pub contextual: bool,
}

impl Finding {
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

    #[must_use]
    pub const fn verified(mut self) -> Self {
        self.verified = true;
        self
    }

    #[must_use]
    pub const fn contextual(mut self) -> Self {
        self.contextual = true;
        self
    }
}

/// What an entity kind is called and how strict it is by default.
pub struct Kind {
    pub name: &'static str,
    /// Safe Harbor identifier class.
    pub hipaa_class: u8,
    pub default_threshold: u16,
}

pub const DATE: usize = 0;
pub const PHONE: usize = 1;
pub const FAX: usize = 2;
pub const EMAIL: usize = 3;
pub const SSN: usize = 4;
pub const MRN: usize = 5;
pub const CREDIT_CARD: usize = 6;

const fn kind(name: &'static str, hipaa_class: u8) -> Kind {
    Kind {
        name,
        hipaa_class,
        default_threshold: 500,
    }
}

/// In the order of the constants above and of the manifest.
pub const KINDS: [Kind; 7] = [
    kind("DATE", 3),
    kind("PHONE", 4),
    kind("FAX", 5),
    kind("EMAIL", 6),
    kind("SSN", 7),
    kind("MRN", 8),
    kind("CREDIT_CARD", 10),
];

/// Asks about a group of digits: the numbers around, and which group.
pub type NumberFinder = fn(&Numbers<'_>, usize) -> Option<Finding>;
/// Asks about the word that begins at a place in the text.
pub type WordFinder = fn(&[u8], usize) -> Option<Finding>;

/// The first that finds wins.
pub const NUMBER_FINDERS: [NumberFinder; 4] =
    [card::find, ssn::find, date::find_numeric, phone::find];

/// As [`NUMBER_FINDERS`].
pub const WORD_FINDERS: [WordFinder; 2] = [mrn::find, date::find_named];
