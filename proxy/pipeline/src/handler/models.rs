//! `models`: the catalogue as far as the caller may use it, in the shape of the caller's SDK (contract 21).

use futures_util::future::BoxFuture;
use http::StatusCode;
use serde_json::Value;
use svc_core::fault::{Code, Fault};
use svc_core::surface::Surface;
use svc_core::surface::models::{
    End, Listed, Page, chat_completions_list, chat_completions_model, messages_list, messages_model,
};
use svc_core::time::Timestamp;

use super::Handler;
use crate::exchange::{Exchange, given};
use crate::fact::Fact;
use crate::policy::models::{Access, Model};
use crate::response::Response;

pub(super) struct Models;

impl Handler for Models {
    fn name(&self) -> &'static str {
        "models"
    }

    fn needs(&self) -> &'static [Fact] {
        &[
            Fact::Caller,
            Fact::Version,
            Fact::Authorized,
            Fact::Admitted,
        ]
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            match shown(&exchange) {
                Ok(body) => exchange.json(StatusCode::OK, &body),
                Err(fault) => exchange.refuse(fault).await,
            }
        })
    }
}

/// The list, or the one model that the path names. A model that the caller may not use does not exist.
fn shown(exchange: &Exchange) -> Result<Value, Fault> {
    let caller = given(exchange.facts.caller.as_ref(), "the caller")?;
    let (scope, _) = exchange.route.asks()?;
    let usable = |model: &&Model| {
        let retired = |at| exchange.now >= at;
        let agent = caller.agent.as_ref();
        let granted = agent.is_none_or(|agent| agent.may_use(scope, &model.id));
        let open = model.access == Access::Standard || caller.premium_models.contains(&model.id);
        granted
            && open
            && !model
                .retirement
                .as_ref()
                .is_some_and(|end| retired(end.retired_at))
    };
    let models: Vec<Listed<'_>> = exchange
        .policy
        .catalogue
        .models
        .iter()
        .filter(usable)
        .map(|model| Listed {
            id: &model.id,
            created: model.released_at,
            context_window_tokens: model.context_window_tokens,
            max_output_tokens: model.max_output_tokens,
            end: announced_end(model, exchange.now),
        })
        .collect();
    let messages = exchange.surface == Surface::Messages;
    if exchange.parameters.is_empty() {
        let query = exchange.head.query.as_deref().unwrap_or_default();
        let page = Page::read(form_urlencoded::parse(query.as_bytes()))?;
        let list = if messages {
            messages_list
        } else {
            chat_completions_list
        };
        return list(&models, &page);
    }
    let wanted = exchange.parameter("id");
    let found = models.iter().find(|model| model.id == wanted);
    let found = found.ok_or_else(|| Code::ResourceNotFound.fault())?;
    let one = if messages {
        messages_model
    } else {
        chat_completions_model
    };
    Ok(one(found))
}

fn announced_end(model: &Model, now: Timestamp) -> Option<End> {
    let end = model.retirement.as_ref()?;
    (end.announced_at <= now).then_some(End {
        announced: end.announced_at,
        retires: end.retired_at,
    })
}
