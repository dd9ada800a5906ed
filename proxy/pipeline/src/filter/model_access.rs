//! `model_access`: whether the model exists, is open to the organization and still served; its limits.

use futures_util::future::BoxFuture;
use http::HeaderValue;
use svc_core::chat::ChatRequest;
use svc_core::fault::{Code, Fault, invalid};
use svc_core::surface::Surface;
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
                let at = match exchange.surface {
                    Surface::Native => "message",
                    Surface::Messages | Surface::ChatCompletions => "messages",
                };
                return Err(invalid(at, "cannot fit the model's context window"));
            }
            representable(chat, model)?;
            let max_tokens = capped(chat.max_tokens, caller.per_request_max_tokens, model);
            fit_reasoning(chat, max_tokens)?;
            chat.max_tokens = Some(max_tokens);
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

/// The smallest budget of reasoning that a provider takes (wire format of the messages surface).
const MIN_REASONING_TOKENS: u32 = 1_024;

/// Reasoning is part of the output: a budget that fits below the caller's limit and not below the lowered one is
/// lowered in the same proportion, so that the answer keeps its share.
fn fit_reasoning(chat: &mut ChatRequest, max_tokens: u32) -> Result<(), Fault> {
    let Some(budget) = chat.reasoning_tokens.filter(|budget| *budget >= max_tokens) else {
        return Ok(());
    };
    if max_tokens <= MIN_REASONING_TOKENS {
        return Err(unsupported("thinking"));
    }
    let asked = u64::from(chat.max_tokens.unwrap_or(budget).max(budget).max(1));
    let share = u64::from(budget) * u64::from(max_tokens) / asked;
    let fitting = u32::try_from(share).unwrap_or(u32::MAX);
    let fitting = fitting.clamp(MIN_REASONING_TOKENS, max_tokens - 1);
    chat.reasoning_tokens = Some(fitting);
    // The same budget, where the caller said more than a budget.
    if let Some(whole) = chat.ext.get_mut("must-thinking")
        && let Some(budget) = whole.get_mut("budget_tokens")
    {
        *budget = fitting.into();
    }
    Ok(())
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

/// What the model cannot take is refused by name, never dropped (wire.md 3), but for sampling, where the
/// catalogue decides.
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
    model
        .sampling
        .apply(&mut chat.sampling)
        .map_err(unsupported)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fitted(asked: u32, budget: u32, max_tokens: u32) -> Result<ChatRequest, Fault> {
        let mut chat = ChatRequest::of_user_text("Hello.");
        chat.max_tokens = Some(asked);
        chat.reasoning_tokens = Some(budget);
        let whole = json!({"type": "enabled", "budget_tokens": budget, "display": "omitted"});
        chat.ext.insert("must-thinking".to_owned(), whole);
        fit_reasoning(&mut chat, max_tokens).map(|()| chat)
    }

    #[test]
    fn a_budget_of_reasoning_is_lowered_with_its_limit() {
        for (asked, budget, max_tokens, expected) in [
            (40_000, 32_000, 8_192, 6_553),
            (40_000, 4_000, 8_192, 4_000),
            (9_000, 8_999, 8_192, 8_191),
            (60_000, 8_192, 8_192, 1_118),
            (900_000, 8_192, 8_192, 1_024),
        ] {
            let chat = fitted(asked, budget, max_tokens).ok();
            let found = chat.map(|chat| {
                (
                    chat.reasoning_tokens,
                    chat.ext["must-thinking"]["budget_tokens"].clone(),
                )
            });
            assert_eq!(found, Some((Some(expected), json!(expected))));
        }
    }

    #[test]
    fn a_limit_without_room_for_reasoning_refuses_it_by_name() {
        let fault = fitted(4_096, 2_048, 1_024).err();
        let fault = fault.map(|fault| (fault.code, fault.param));
        assert_eq!(
            fault,
            Some((Code::UnsupportedParameter, Some("thinking".into())))
        );
    }
}
