//! `eligibility`: features that are not HIPAA-eligible, unless the organization has enabled them.

use futures_util::future::BoxFuture;
use svc_core::chat::{ChatRequest, Part};
use svc_core::fault::{Code, Fault};

use super::Filter;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::feature::{DOCUMENTS, IMAGES, PROVIDER_TOOLS, TOOLS};

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
            for feature in features(chat) {
                let enabled = caller.has_feature(feature);
                if !enabled && !exchange.policy.catalogue.hipaa_eligible(feature) {
                    return Err(Code::FeatureNotHipaaEligible
                        .fault()
                        .detail("feature", feature));
                }
            }
            Ok(())
        })
    }
}

/// The marked features that a request uses.
pub(super) fn features(chat: &ChatRequest) -> Vec<&'static str> {
    let mut features = Vec::new();
    if !chat.tools.is_empty() {
        features.push(TOOLS);
    }
    if chat.ext.contains_key("must-provider-tools") {
        features.push(PROVIDER_TOOLS);
    }
    for part in chat.messages.iter().flat_map(|message| &message.content) {
        collect(part, &mut features);
    }
    features.sort_unstable();
    features.dedup();
    features
}

fn collect(part: &Part, features: &mut Vec<&'static str>) {
    match part {
        Part::Image(_) => features.push(IMAGES),
        Part::Document(_) => features.push(DOCUMENTS),
        Part::ToolResult(result) => result
            .content
            .iter()
            .for_each(|part| collect(part, features)),
        Part::Text { .. }
        | Part::ToolCall(_)
        | Part::Reasoning { .. }
        | Part::RedactedReasoning { .. } => {}
    }
}
