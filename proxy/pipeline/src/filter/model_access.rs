//! `model_access`: whether the model exists, is open to the organization and still served; its limits.

use futures_util::future::BoxFuture;
use http::HeaderValue;
use svc_core::chat::{ChatRequest, MIN_REASONING_TOKENS, Size};
use svc_core::fault::{Code, Fault, invalid};
use svc_core::surface::{Places, Surface};
use svc_core::time::Timestamp;

use super::{Filter, Passed, eligibility};
use crate::caller::Caller;
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
            let chat = given(exchange.facts.chat.as_mut(), "the chat")?;
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
            is_open(model, caller)?;
            if let Some(retirement) = &model.retirement {
                retired(retirement, exchange.now)?;
                announce(retirement, &mut exchange.headers);
            }
            let window_tokens = model.context_window_tokens;
            let size = Size::of(chat, too_many(window_tokens));
            if !fits(size.text_bytes, window_tokens) {
                let places = exchange.facts.places.as_ref();
                let at = overlong(exchange.surface, chat, places, window_tokens);
                return Err(invalid(at, too_long_a_prompt(window_tokens)));
            }
            let (surface, places) = (exchange.surface, exchange.facts.places.as_ref());
            representable(surface, chat, places, model)?;
            let max_tokens = capped(chat.max_tokens, caller.per_request_max_tokens, model);
            fit_reasoning(chat, max_tokens)?;
            chat.max_tokens = Some(max_tokens);
            let price = model.price_of(chat);
            let price_list = &exchange.policy.catalogue.price_list;
            exchange.trail.chose(model, price, price_list, max_tokens);
            exchange.facts.model = Some(index);
            Ok(())
        })
    }

    fn still_passes(&self, passed: &Passed<'_>) -> Result<(), Fault> {
        is_open(passed.model, passed.caller)
    }
}

fn is_open(model: &Model, caller: &Caller) -> Result<(), Fault> {
    if model.access == Access::Premium && !caller.premium_models.contains(&model.id) {
        return Err(Code::ModelAccessDenied.fault().at("model"));
    }
    Ok(())
}

/// Contract 21: a value above the organization's cap or the model's own limit is lowered; absent is the cap.
fn capped(asked: Option<u32>, organization_cap: u32, model: &Model) -> u32 {
    let cap = organization_cap.min(model.max_output_tokens).max(1);
    asked.map_or(cap, |asked| asked.min(cap))
}

/// Reasoning is part of the output: where the caller's limit is lowered, the budget is lowered in the same proportion,
/// so that the answer keeps its share.
fn fit_reasoning(chat: &mut ChatRequest, max_tokens: u32) -> Result<(), Fault> {
    let Some(budget) = chat.reasoning_tokens else {
        return Ok(());
    };
    let asked = chat.max_tokens.unwrap_or(max_tokens).max(budget);
    if asked <= max_tokens && budget < max_tokens {
        return Ok(());
    }
    if max_tokens <= MIN_REASONING_TOKENS {
        return Err(unsupported("thinking"));
    }
    let share = u64::from(budget) * u64::from(max_tokens) / u64::from(asked);
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
fn representable(
    surface: Surface,
    chat: &mut ChatRequest,
    places: Option<&Places>,
    model: &Model,
) -> Result<(), Fault> {
    let lacks = |feature: &str| !model.features.iter().any(|name| name == feature);
    if let Some(feature) = eligibility::features(chat)
        .into_iter()
        .find(|name| lacks(name))
    {
        let param = asking(surface, chat, places, feature);
        return Err(unsupported(param).detail("feature", feature));
    }
    model
        .sampling
        .apply(&mut chat.sampling)
        .map_err(unsupported)
}

/// The field of the body that asks for a feature.
fn asking(surface: Surface, chat: &ChatRequest, places: Option<&Places>, feature: &str) -> String {
    let place = eligibility::place_of(chat, feature);
    let named = places.map_or_else(|| place.clone(), |places| places.name(&place));
    // A native body has no turns: this one is of the stored conversation.
    if surface == Surface::Native && named.starts_with("messages") {
        return "conversation_id".to_owned();
    }
    named
}

fn unsupported(param: impl Into<String>) -> Fault {
    Fault::new(
        Code::UnsupportedParameter,
        "The model does not take this parameter.",
    )
    .at(param)
}

/// Text that is certain not to fit is refused before any upstream call. No tokenizer packs ordinary text
/// into fewer tokens than one per six bytes, so nothing that fits is ever refused.
const MAX_BYTES_PER_TOKEN: u64 = 6;

fn fits(text_bytes: usize, window_tokens: u64) -> bool {
    text_bytes as u64 / MAX_BYTES_PER_TOKEN <= window_tokens
}

/// In words by which client libraries know that a model with a larger window may help.
fn too_long_a_prompt(window_tokens: u64) -> String {
    format!("must be shorter: prompt is too long for the context window of {window_tokens} tokens")
}

/// Bytes of text that are too many for any prompt: nobody needs to know by how much.
fn too_many(window_tokens: u64) -> usize {
    let bytes = window_tokens
        .saturating_add(1)
        .saturating_mul(MAX_BYTES_PER_TOKEN);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The field of the body that does not fit: the system prompt, the tools or the schema of the answer by themselves, the
/// stored conversation without which all would fit, or else what the caller says.
fn overlong(
    surface: Surface,
    chat: &ChatRequest,
    places: Option<&Places>,
    window_tokens: u64,
) -> String {
    let most = too_many(window_tokens);
    let system_bytes = Size::of_parts(&chat.system, most).text_bytes;
    if !fits(system_bytes, window_tokens) {
        // Some bodies have it among their turns.
        let place = places.map(|places| places.name("system[0]"));
        let field = place
            .as_deref()
            .and_then(|place| place.split(['[', '.']).next());
        return field.unwrap_or("system").to_owned();
    }
    let tools_bytes = Size::of_tools(&chat.tools, most).text_bytes;
    if !fits(tools_bytes, window_tokens) {
        return "tools".to_owned();
    }
    let format = Size::of_format(chat.response_format.as_ref(), most);
    if !fits(format.text_bytes, window_tokens) {
        const SCHEMA: &str = "response_format.schema";
        return places.map_or_else(|| SCHEMA.to_owned(), |places| places.name(SCHEMA));
    }
    let turn = chat.messages.last();
    let turn_bytes = turn.map_or(0, |turn| Size::of_parts(&turn.content, most).text_bytes);
    let field = match surface {
        Surface::Native if fits(system_bytes + tools_bytes + turn_bytes, window_tokens) => {
            "conversation_id"
        }
        Surface::Native => "message",
        Surface::Messages | Surface::ChatCompletions => "messages",
    };
    field.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use svc_core::chat::{Media, Part};
    use svc_core::surface::messages::{self, WireVersion};
    use svc_core::surface::{chat_completions, native};

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
            (40_000, 4_000, 8_192, 1_024),
            (32_000, 8_191, 8_192, 2_096),
            (32_000, 8_000, 8_192, 2_048),
            (32_000, 1_024, 1_025, 1_024),
            (8_192, 8_191, 8_192, 8_191),
            (4_000, 2_000, 4_000, 2_000),
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

    fn decoded(surface: Surface, body: &Value) -> Option<(ChatRequest, Places)> {
        let body = body.to_string();
        let body = body.as_bytes();
        Some(match surface {
            Surface::Native => {
                let request = native::decode(body).ok()?;
                (request.chat, request.places)
            }
            Surface::Messages => {
                let decoded = messages::decode(body, WireVersion::Classic).ok()?;
                (decoded.chat, decoded.places)
            }
            Surface::ChatCompletions => {
                let decoded = chat_completions::decode(body).ok()?;
                (decoded.chat, decoded.places)
            }
        })
    }

    #[test]
    fn what_a_model_does_not_take_is_named_where_it_stands() {
        let named = |surface: Surface, body: Value, feature: &str| {
            let (chat, places) = decoded(surface, &body)?;
            Some(asking(surface, &chat, Some(&places), feature))
        };
        let source = json!({"type": "base64", "media_type": "image/png", "data": "AQID"});
        let image = json!({"type": "image", "source": source});
        let text = json!({"type": "text", "text": "so"});
        let results = json!([
            {"tool_call_id": "a", "content": "none"},
            {"tool_call_id": "b", "content": [text, image]},
        ]);
        let native = json!({"message": "", "conversation_id": "conv_01ARZ3NDEKTSV4RRFFQ69G5FAV", "tool_results": results});
        assert_eq!(
            named(Surface::Native, native, "images").as_deref(),
            Some("tool_results[1].content[1]")
        );
        let turns = json!([
            {"role": "user", "content": "so"},
            {"role": "assistant", "content": "so"},
            {"role": "user", "content": [text, image]},
        ]);
        let body = json!({"model": "m", "max_tokens": 5, "messages": turns});
        assert_eq!(
            named(Surface::Messages, body, "images").as_deref(),
            Some("messages[2].content[1]")
        );
        let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AQID"}});
        let turns = json!([
            {"role": "system", "content": "so"},
            {"role": "user", "content": [text, url]},
        ]);
        let body = json!({"model": "m", "messages": turns});
        assert_eq!(
            named(Surface::ChatCompletions, body, "images").as_deref(),
            Some("messages[1].content[1]")
        );
        let body = json!({"message": "so", "tools": [{"name": "look", "input_schema": {"type": "object"}}]});
        assert_eq!(
            named(Surface::Native, body, "tools").as_deref(),
            Some("tools")
        );
    }

    #[test]
    fn what_a_stored_turn_has_is_named_by_its_conversation() {
        let body = json!({"message": "so", "conversation_id": "conv_01ARZ3NDEKTSV4RRFFQ69G5FAV"});
        let found = decoded(Surface::Native, &body).map(|(mut chat, mut places)| {
            let mut stored = ChatRequest::of_user_text("before").messages;
            let media = Media::Url("https://example.com/a.png".to_owned());
            for turn in &mut stored {
                turn.content.push(Part::Image(media.clone().into()));
            }
            places.put_behind(stored.len());
            stored.append(&mut chat.messages);
            chat.messages = stored;
            asking(Surface::Native, &chat, Some(&places), "images")
        });
        assert_eq!(found.as_deref(), Some("conversation_id"));
    }

    /// The field that does not fit a window of 20 tokens, behind turns that are stored.
    fn overlong_of(surface: Surface, body: &Value, stored: &[&str]) -> Option<String> {
        let (mut chat, places) = decoded(surface, body)?;
        for text in stored {
            let mut before = ChatRequest::of_user_text(*text).messages;
            before.append(&mut chat.messages);
            chat.messages = before;
        }
        Some(overlong(surface, &chat, Some(&places), 20))
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let long = "marsupial ".repeat(20);
        let half = "marsupial ".repeat(8);
        let native = |system: &str, message: &str, stored: &[&str]| {
            let body = json!({"system": system, "message": message});
            overlong_of(Surface::Native, &body, stored)
        };
        assert_eq!(native("", &long, &[]).as_deref(), Some("message"));
        assert_eq!(native(&long, "so", &[]).as_deref(), Some("system"));
        assert_eq!(native(&half, &half, &[]).as_deref(), Some("message"));
        let behind = native(&half, "so", &[&half]);
        assert_eq!(behind.as_deref(), Some("conversation_id"));
        let behind = native("", &long, &[&half]);
        assert_eq!(behind.as_deref(), Some("message"));
        let tools = |description: &str, message: &str, stored: &[&str]| {
            let schema = json!({"type": "object"});
            let tool = json!({"name": "look", "description": description, "input_schema": schema});
            let body = json!({"message": message, "tools": [tool]});
            overlong_of(Surface::Native, &body, stored)
        };
        assert_eq!(tools(&long, "so", &[]).as_deref(), Some("tools"));
        assert_eq!(tools(&half, &half, &[]).as_deref(), Some("message"));
        let behind = tools(&half, "so", &[&half]);
        assert_eq!(behind.as_deref(), Some("conversation_id"));

        let schema = json!({"type": "object", "description": long});
        let format = json!({"type": "json_schema", "schema": schema});
        let said = json!([{"role": "user", "content": "so"}]);
        let messages = json!({
            "model": "m", "max_tokens": 5, "messages": said, "output_config": {"format": format},
        });
        assert_eq!(
            overlong_of(Surface::Messages, &messages, &[]).as_deref(),
            Some("output_config.format.schema")
        );
        let format = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema}});
        let completions = json!({"model": "m", "messages": said, "response_format": format});
        assert_eq!(
            overlong_of(Surface::ChatCompletions, &completions, &[]).as_deref(),
            Some("response_format.json_schema.schema")
        );

        let turns = |system: &str, said: &str| {
            json!({"model": "m", "max_tokens": 5, "messages": [
                {"role": "system", "content": system}, {"role": "user", "content": said},
            ]})
        };
        let apart = json!({"model": "m", "max_tokens": 5, "system": long, "messages": [
            {"role": "user", "content": "so"},
        ]});
        let named = overlong_of(Surface::Messages, &apart, &[]);
        assert_eq!(named.as_deref(), Some("system"));
        for surface in [Surface::Messages, Surface::ChatCompletions] {
            for body in [turns(&long, "so"), turns("so", &long)] {
                let named = overlong_of(surface, &body, &[]);
                assert_eq!(named.as_deref(), Some("messages"), "{surface:?}");
            }
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
