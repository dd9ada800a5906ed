//! How many findings of which kind: the only thing about PHI that leaves a request.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::kind::Kind;

/// Name of the header that carries [`Counts::header`] (contract 21).
pub const ENTITIES_HEADER: &str = "Svc-Phi-Entities";

/// Findings by kind, in the order of the kinds' names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<Kind, u64>);

impl Counts {
    /// Counts one more finding of a kind.
    pub fn add(&mut self, kind: &Kind) {
        match self.0.get_mut(kind) {
            Some(count) => *count += 1,
            None => {
                self.0.insert(kind.clone(), 1);
            }
        }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Findings of all kinds.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Kinds and their findings, in the order of [`Self`].
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(kind, count)| (kind.as_str(), *count))
    }

    /// Kinds, sorted, each once (`entity_types`).
    pub fn entity_types(&self) -> Vec<String> {
        self.iter().map(|(kind, _)| kind.to_owned()).collect()
    }

    /// Value of `Svc-Phi-Entities`, `NAME=2,SSN=1`; `None` where there is nothing to say.
    pub fn header(&self) -> Option<String> {
        let pairs: Vec<String> = self
            .iter()
            .map(|(kind, count)| format!("{kind}={count}"))
            .collect();
        (!pairs.is_empty()).then(|| pairs.join(","))
    }

    /// An object of counts by kind, as audit rows and `error.details.counts` have it.
    pub fn to_json(&self) -> Map<String, Value> {
        self.iter()
            .map(|(kind, count)| (kind.to_owned(), Value::from(count)))
            .collect()
    }
}

impl<'a> FromIterator<&'a Kind> for Counts {
    fn from_iter<I: IntoIterator<Item = &'a Kind>>(kinds: I) -> Self {
        let mut counts = Self::default();
        for kind in kinds {
            counts.add(kind);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_sorted_and_absent_when_empty() {
        let kinds = ["SSN", "NAME", "NAME"].map(Kind::named);
        let counts: Counts = kinds.iter().collect();
        assert_eq!(counts.header().as_deref(), Some("NAME=2,SSN=1"));
        assert_eq!(counts.total(), 3);
        assert_eq!(counts.entity_types(), ["NAME", "SSN"]);
        assert_eq!(Counts::default().header(), None);
    }
}
