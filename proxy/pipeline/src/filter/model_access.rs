//! `model_access`: whether the model exists, is open to the organization and still served; its limits.

use futures_util::future::BoxFuture;
use http::HeaderValue;
use svc_core::chat::{ChatRequest, Sampling};
use svc_core::fault::{Code, Fault, invalid};
use svc_core::time::Timestamp;

use super::{Filter, eligibility};
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::policy::models::{Access, Model, Retirement};

pub(super) struct ModelAccess;

impl Filter for ModelAccess {
    fn name(&self) -> &'static str {
        "model_access"
    }

    fn needs(&self) -> &'static [Fact] {
        &[Fact::Caller, Fact::Chat, Fact::AiAllowed]
    }

    fn gives(&self) -> &'static [Fact] {
        &[Fact::Model]
    }

    fn apply<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
            let chat = exchange
                .facts
                .chat
                .as_mut()
                .ok_or_else(|| Fault::internal("no filter gave the chat"))?;
            let found = exchange
                .policy
                .catalogue
                .models
                .iter()
                .enumerate()
                .find(|(_, model)| model.id == chat.model);
            let Some((index, model)) = found else {
                return Err(Code::ModelAccessDenied.fault().at("model"));
            };
            if model.access == Access::Premium && !caller.premium_models.contains(&model.id) {
                return Err(Code::ModelAccessDenied.fault().at("model"));
            }
            if let Some(retirement) = &model.retirement {
                retired(retirement, exchange.started_at)?;
                announce(retirement, &mut exchange.headers);
            }
            if least_tokens(chat) > model.context_window_tokens {
                return Err(invalid("messages", "cannot fit the model's context window"));
            }
            representable(chat, model)?;
            chat.max_tokens = Some(capped(
                chat.max_tokens,
                caller.per_request_max_tokens,
                model,
            ));
            exchange
                .trail
                .chose(model, &exchange.policy.catalogue.price_list);
            exchange.facts.model = Some(index);
            Ok(())
        })
    }
}

/// Contract 21: a value above the organization's cap or the model's own limit is lowered; absent is the cap.
fn capped(asked: Option<u32>, organization_cap: u32, model: &Model) -> u32 {
    let cap = organization_cap.min(model.max_output_tokens).max(1);
    asked.map_or(cap, |asked| asked.min(cap))
}

fn retired(retirement: &Retirement, now: Timestamp) -> Result<(), Fault> {
    if now < retirement.retired_at {
        return Ok(());
    }
    Err(Code::ModelRetired
        .fault()
        .at("model")
        .detail("retired_at", retirement.retired_at.to_string())
        .detail(
            "recommended_replacement",
            retirement.recommended_replacement.as_str(),
        )
        .detail("docs_url", retirement.docs_url.as_str()))
}

/// Contract 21: an announced model answers with `Deprecation` (RFC 9745) and `Sunset` (RFC 8594).
fn announce(retirement: &Retirement, headers: &mut http::HeaderMap) {
    let deprecation = format!("@{}", retirement.announced_at.unix_seconds());
    if let Ok(value) = HeaderValue::from_str(&deprecation) {
        headers.insert("deprecation", value);
    }
    if let Ok(value) = HeaderValue::from_str(&retirement.retired_at.http_date()) {
        headers.insert("sunset", value);
    }
}

/// What the model cannot take is refused by name, never dropped (wire.md 3). Sampling inside another range is
/// brought to the nearest value that the model has.
fn representable(chat: &mut ChatRequest, model: &Model) -> Result<(), Fault> {
    let lacks = |feature: &str| !model.features.iter().any(|name| name == feature);
    if let Some(feature) = eligibility::features(chat)
        .into_iter()
        .find(|name| lacks(name))
    {
        let param = if feature == "tools" {
            "tools"
        } else {
            "messages"
        };
        return Err(unsupported(param).detail("feature", feature));
    }
    let sampling = &mut chat.sampling;
    if let Some((low, high)) = model.temperature {
        sampling.temperature = sampling.temperature.map(|asked| asked.clamp(low, high));
        return Ok(());
    }
    // Such a model takes its default alone, as its own API does.
    let other = |asked: Option<f64>| asked.is_some_and(|asked| (asked - 1.0).abs() > f64::EPSILON);
    if other(sampling.temperature) {
        return Err(unsupported("temperature"));
    }
    if other(sampling.top_p) {
        return Err(unsupported("top_p"));
    }
    if sampling.top_k.is_some() {
        return Err(unsupported("top_k"));
    }
    *sampling = Sampling::default();
    Ok(())
}

fn unsupported(param: &'static str) -> Fault {
    Fault::new(
        Code::UnsupportedParameter,
        "The model does not take this parameter.",
    )
    .at(param)
}

/// Text that is certain not to fit is refused before any upstream call. No tokenizer packs ordinary text
/// into fewer tokens than one per six bytes, so nothing that fits is ever refused.
const MAX_BYTES_PER_TOKEN: u64 = 6;

fn least_tokens(chat: &ChatRequest) -> u64 {
    chat.text_bytes() as u64 / MAX_BYTES_PER_TOKEN
}
