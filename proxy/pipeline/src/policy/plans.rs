//! `plans.toml`: default limits and the allotment of each plan tier.

use std::collections::BTreeSet;

use serde::Deserialize;
use svc_core::money::Micro;
use svc_core::plan::Tier;

use super::Findings;
use super::models::Catalogue;
use crate::feature;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    limits: Limits,
    plan: Vec<Entry>,
}

/// Requests of each bucket; 0 is closed (contract 6). Organizations, credentials and webhooks may have others.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    pub key_per_minute: u32,
    pub organization_per_minute: u32,
    pub organization_per_day: u32,
    /// Failing authentications from one client address, or IPv6 network.
    pub failed_authentications_per_minute: u32,
    pub agent_per_minute: u32,
    /// Requests of one agent credential that may be in flight.
    pub agent_concurrency: u32,
    /// Requests of one inbound webhook.
    pub inbound_per_minute: u32,
    /// Token and introspection requests of one OAuth client; a third of them may come at once.
    pub oauth_client_per_minute: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    tier: String,
    monthly_credits: String,
    features: Vec<String>,
}

/// One tier.
pub struct Plan {
    pub tier: Tier,
    /// Credits of one cycle.
    pub monthly_credits: Micro,
    /// What organizations of this tier may use.
    pub features: Vec<String>,
}

/// The tiers of `plans.toml`, and the limits of whoever has none of their own.
pub struct Plans {
    pub limits: Limits,
    plans: Vec<Plan>,
}

impl Plans {
    /// The plan of a tier.
    pub fn find(&self, tier: Tier) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.tier == tier)
    }

    /// Whether organizations of this tier may use the feature.
    pub fn offers(&self, tier: Tier, feature: &str) -> bool {
        self.find(tier)
            .is_some_and(|plan| plan.features.iter().any(|name| name == feature))
    }

    /// The word of the least tier that has the feature.
    pub fn tier_with(&self, feature: &str) -> Option<&'static str> {
        self.tiers_with(feature).next().map(Tier::word)
    }

    /// The tiers that have the feature, the least first.
    pub fn tiers_with(&self, feature: &str) -> impl Iterator<Item = Tier> {
        let tiers = Tier::ALL.into_iter();
        tiers.filter(move |tier| self.offers(*tier, feature))
    }

    /// The tiers whose organizations may use webhooks: the others are sent nothing.
    pub fn with_webhooks(&self) -> Vec<Tier> {
        self.tiers_with(feature::WEBHOOKS).collect()
    }

    /// Features are looked at beside the catalogue, which may name some: not where that is broken itself.
    pub(crate) fn build(
        file: File,
        catalogue: Option<&Catalogue>,
        name: &str,
        findings: &mut Findings,
    ) -> Self {
        let known = catalogue.map(feature::known);
        let mut plans = Vec::with_capacity(file.plan.len());
        let mut strangers = Vec::new();
        for Entry {
            tier,
            monthly_credits,
            features,
        } in file.plan
        {
            let credits = Micro::parse(&monthly_credits).filter(|credits| credits.0 >= 0);
            if credits.is_none() {
                findings.add(
                    name,
                    format!(
                        "plan {tier}: monthly_credits is not a decimal with at most six digits after the point, or too large"
                    ),
                );
            }
            if let Some(known) = &known {
                unknown_features(&tier, &features, known, name, findings);
            }
            let Some(tier) = Tier::parse(&tier) else {
                strangers.push(tier);
                continue;
            };
            plans.push(Plan {
                tier,
                monthly_credits: credits.unwrap_or(Micro::ZERO),
                features,
            });
        }
        for tier in Tier::ALL {
            if plans.iter().filter(|plan| plan.tier == tier).count() != 1 {
                findings.add(name, format!("plan {tier} must stand exactly once"));
            }
        }
        for tier in strangers {
            findings.add(name, format!("plan {tier} is not a known tier"));
        }
        Self {
            limits: file.limits,
            plans,
        }
    }
}

fn unknown_features(
    tier: &str,
    features: &[String],
    known: &BTreeSet<&str>,
    name: &str,
    findings: &mut Findings,
) {
    for feature in features {
        if !known.contains(feature.as_str()) {
            let names: Vec<&str> = known.iter().copied().collect();
            let names = names.join(", ");
            let message = format!("plan {tier}: unknown feature {feature}; known are {names}");
            findings.add(name, message);
        }
    }
}
