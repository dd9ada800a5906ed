//! `phi.toml`: detectors, thresholds and actions.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Findings;

/// Confidence is counted per mille.
const MAX_THRESHOLD: u16 = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    detectors: Vec<String>,
    defaults: Rule,
    #[serde(default)]
    kinds: BTreeMap<String, PartialRule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub action: Action,
    /// Findings of lower confidence are dropped.
    pub threshold: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartialRule {
    action: Option<Action>,
    threshold: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The organization's `phi_mode` decides.
    Redact,
    /// Refuse the request whatever the mode.
    Block,
    /// Leave the text.
    Allow,
}

pub struct PhiPolicy {
    /// Ids of the detector plugins; all of them read every request.
    pub detectors: Vec<String>,
    defaults: Rule,
    kinds: BTreeMap<String, Rule>,
}

impl PhiPolicy {
    pub fn rule(&self, kind: &str) -> Rule {
        self.kinds.get(kind).copied().unwrap_or(self.defaults)
    }

    pub(crate) fn build(file: File, name: &str, findings: &mut Findings) -> Self {
        if file.detectors.is_empty() {
            findings.add(name, "at least one detector is needed");
        }
        let kinds: BTreeMap<String, Rule> = file
            .kinds
            .into_iter()
            .map(|(kind, rule)| {
                let action = rule.action.unwrap_or(file.defaults.action);
                let threshold = rule.threshold.unwrap_or(file.defaults.threshold);
                (kind, Rule { action, threshold })
            })
            .collect();
        for (kind, rule) in kinds
            .iter()
            .chain([(&"defaults".to_owned(), &file.defaults)])
        {
            if rule.threshold > MAX_THRESHOLD {
                findings.add(name, format!("{kind}: threshold is above {MAX_THRESHOLD}"));
            }
        }
        Self {
            detectors: file.detectors,
            defaults: file.defaults,
            kinds,
        }
    }
}
