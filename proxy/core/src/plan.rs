//! Tiers of plans (contract 8). What each includes is a matter of the policy `plans.toml`.

use std::fmt;

/// What an organization has agreed to with the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    Evaluation,
    Standard,
    Premium,
    Enterprise,
}

impl Tier {
    /// The least first, as `required_tier` names them.
    pub const ALL: [Self; 4] = [
        Self::Evaluation,
        Self::Standard,
        Self::Premium,
        Self::Enterprise,
    ];

    /// The word of `tier`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Evaluation => "evaluation",
            Self::Standard => "standard",
            Self::Premium => "premium",
            Self::Enterprise => "enterprise",
        }
    }

    /// Reads a word of [`Self::word`]; `None` for an unknown tier.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.word() == word)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
