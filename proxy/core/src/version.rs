//! Dated API versions: shapes, not routes (contract 5).
//!
//! What a later date has added stands beside what was there, so all dates have one shape so far and nothing is converted.
//! A date that changes a shape brings the conversions into the older ones with it: a published version never changes
//! shape for a pinned caller (spec, Versioning 5). Their places are where answers become bytes, `Exchange::json` and the
//! native encoder.

use std::fmt;

/// The dates, oldest first. One line per version; the words are the wire's.
macro_rules! versions {
    ($($variant:ident $word:literal;)*) => {
        /// A supported value of `Svc-Version`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ApiVersion { $($variant),* }

        impl ApiVersion {
            /// Oldest first.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The date, as `Svc-Version` has it.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// Reads a word of [`Self::word`]; `None` for any other date (`INVALID_API_VERSION`).
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

versions! {
    V2026_04_01 "2026-04-01";
    V2026_05_27 "2026-05-27";
    V2026_07_12 "2026-07-12";
    V2026_07_31 "2026-07-31";
}

impl ApiVersion {
    /// The version whose shapes handlers build.
    pub const NEWEST: Self = Self::ALL[Self::ALL.len() - 1];

    /// What a caller gets who names none and whose key names none (contract X14).
    pub const DEPLOYMENT_DEFAULT: Self = Self::V2026_07_12;
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
