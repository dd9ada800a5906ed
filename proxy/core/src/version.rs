//! Dated API versions: shapes, not routes (contract 5).
//!
//! The newest shape is what handlers build; a version that is older down-converts it. A version is one
//! variant here and, where its shapes differ, one module that converts from the next newer one.

use std::fmt;

/// A supported value of `Svc-Version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApiVersion {
    V2026_04_01,
    V2026_05_27,
    V2026_07_12,
    V2026_07_31,
}

impl ApiVersion {
    /// Oldest first.
    pub const ALL: &[Self] = &[
        Self::V2026_04_01,
        Self::V2026_05_27,
        Self::V2026_07_12,
        Self::V2026_07_31,
    ];

    /// The version whose shapes handlers build.
    pub const NEWEST: Self = Self::V2026_07_31;

    /// What a caller gets who names none and whose key names none (contract X14).
    pub const DEPLOYMENT_DEFAULT: Self = Self::V2026_07_12;

    /// The date, as `Svc-Version` has it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::V2026_04_01 => "2026-04-01",
            Self::V2026_05_27 => "2026-05-27",
            Self::V2026_07_12 => "2026-07-12",
            Self::V2026_07_31 => "2026-07-31",
        }
    }

    /// Reads a word of [`Self::word`]; `None` for any other date (`INVALID_API_VERSION`).
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|version| version.word() == word)
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
