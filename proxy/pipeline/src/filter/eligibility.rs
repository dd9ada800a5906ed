//! `eligibility`: features that are not HIPAA-eligible, unless the organization has enabled them, and those that it has
//! switched off.

use futures_util::future::BoxFuture;
use svc_core::chat::{ChatRequest, Part};
use svc_core::fault::{Code, Fault};

use super::{Filter, Passed};
use crate::caller::Caller;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::feature::{DOCUMENTS, IMAGES, SWITCHED_OFF, TOOLS};
use crate::policy::PolicySet;

pub(super) struct Eligibility;

impl Filter for Eligibility {
    fn name(&self) -> &'static str {
        "eligibility"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Chat, Fact::Model]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Eligible]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            let chat = given(exchange.facts.chat.as_ref(), "the chat")?;
            judge(caller, chat, &exchange.policy)
        })
    }

    fn still_passes(&self, passed: &Passed<'_>) -> Result<(), Fault> {
        judge(passed.caller, passed.chat, passed.policy)
    }
}

fn judge(caller: &Caller, chat: &ChatRequest, policy: &PolicySet) -> Result<(), Fault> {
    for feature in features(chat) {
        if caller.has_switched_off(feature) {
            let message = "The organization has switched this feature off.";
            let fault = Fault::new(Code::FeatureNotHipaaEligible, message);
            let fault = fault.detail("feature", feature);
            return Err(fault.detail("reason", SWITCHED_OFF));
        }
        if !caller.has_feature(feature) && !policy.catalogue.hipaa_eligible(feature) {
            return Err(Code::FeatureNotHipaaEligible
                .fault()
                .detail("feature", feature));
        }
    }
    Ok(())
}

/// The marked features that a request uses.
pub(super) fn features(chat: &ChatRequest) -> Vec<&'static str> {
    let mut features = Vec::new();
    if !chat.tools.is_empty() {
        features.push(TOOLS);
    }
    for part in chat.messages.iter().flat_map(|message| &message.content) {
        collect(part, &mut features);
    }
    features.sort_unstable();
    features.dedup();
    features
}

fn collect(part: &Part, features: &mut Vec<&'static str>) {
    features.extend(feature(part));
    if let Part::ToolResult(result) = part {
        result
            .content
            .iter()
            .for_each(|part| collect(part, features));
    }
}

fn feature(part: &Part) -> Option<&'static str> {
    match part {
        Part::Image(_) => Some(IMAGES),
        Part::Document(_) => Some(DOCUMENTS),
        Part::Text { .. }
        | Part::ToolCall(_)
        | Part::ToolResult(_)
        | Part::Reasoning { .. }
        | Part::RedactedReasoning { .. } => None,
    }
}

/// Where in the chat a feature is used first.
pub(super) fn place_of(chat: &ChatRequest, feature: &str) -> String {
    if feature == TOOLS {
        return TOOLS.to_owned();
    }
    let turns = chat.messages.iter().enumerate();
    let mut places = turns.filter_map(|(at, turn)| {
        let within = place_among(&turn.content, feature)?;
        Some(format!("messages[{at}].{within}"))
    });
    places.next().unwrap_or_else(|| "messages".to_owned())
}

fn place_among(parts: &[Part], wanted: &str) -> Option<String> {
    parts.iter().enumerate().find_map(|(at, part)| {
        let place = format!("content[{at}]");
        match part {
            Part::ToolResult(result) => {
                let within = place_among(&result.content, wanted)?;
                Some(format!("{place}.{within}"))
            }
            part => (feature(part) == Some(wanted)).then_some(place),
        }
    })
}
