//! Models and their providers: what may be used, and how it stands with those who answer.

use askama::Template;
use http::Method;
use serde_json::{Map, Value, json};
use svc_core::fault::Fault;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::policy::models::Access;
use svc_pipeline::response::Response;

use crate::edit::Edit;
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::redirect::see_other;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

const PAGE: &str = "/ui/models";

/// A model of the catalogue as the page shows it.
struct Line {
    id: String,
    providers: String,
    is_premium: bool,
    is_enabled: bool,
    context_window_tokens: u64,
    max_output_tokens: u32,
    retirement: Option<String>,
}

#[derive(Template)]
#[template(path = "models.html")]
struct Models {
    layout: Layout,
    told: Told,
    models: Vec<Line>,
    price_list: String,
    status: Value,
    providers: Vec<Value>,
    shown: String,
    may_change: bool,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render(exchange, visitor, Sent::nothing()))
}

fn api(visitor: &Visitor) -> String {
    format!("/v1/orgs/{}", visitor.organization.id)
}

/// What the form shows of the organization.
const EDIT: Edit = Edit {
    whole: &[],
    apart: &["models"],
};

/// The form before anybody ticked: what is enabled of the catalogue's premium models.
fn stored(exchange: &Exchange, visitor: &Visitor) -> Fields {
    let enabled = &visitor.organization.settings.premium_models;
    let models = exchange.policy.catalogue.models.iter();
    let premium = models.filter(|model| model.access == Access::Premium);
    let enabled = premium.filter(|model| enabled.contains(&model.id));
    enabled
        .map(|model| ("models".to_owned(), model.id.clone()))
        .collect()
}

async fn render(exchange: &mut Exchange, visitor: &Visitor, sent: Sent) -> Result<Response, Fault> {
    let ask = Ask::get("/v1/provider-status");
    let health = inside::ask(exchange, visitor.person(), ask).await?.data;
    let stored = stored(exchange, visitor);
    let sent = sent.else_showing(&stored);
    let catalogue = &exchange.policy.catalogue;
    let models = catalogue.models.iter().map(|model| {
        let providers: Vec<&str> = model
            .routes
            .iter()
            .map(|route| route.provider.as_str())
            .collect();
        let retirement = model.retirement.as_ref();
        Line {
            id: model.id.clone(),
            providers: providers.join(", then "),
            is_premium: model.access == Access::Premium,
            is_enabled: model.access != Access::Premium
                || sent.all("models").any(|enabled| enabled == model.id),
            context_window_tokens: model.context_window_tokens,
            max_output_tokens: model.max_output_tokens,
            retirement: retirement
                .map(|end| format!("{}, then {}", end.retired_at, end.recommended_replacement)),
        }
    });
    let page = Models {
        layout: Layout::new(exchange, visitor, "Models and providers"),
        models: models.collect(),
        price_list: catalogue.price_list.clone(),
        providers: show::rows(health.get("providers").cloned().unwrap_or_default()),
        status: health,
        shown: EDIT.shown(&stored),
        may_change: visitor.may(exchange, &Method::PATCH, &api(visitor)),
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

pub(crate) fn save<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let (path, now) = (api(visitor), stored(exchange, visitor));
        let saving = EDIT.save(exchange, visitor, &path, &now, fields, wanted);
        match saving.await? {
            None => Ok(see_other(exchange, &format!("{PAGE}?done=saved"))),
            Some(sent) => render(exchange, visitor, sent).await,
        }
    })
}

/// The form as the API takes it.
fn wanted(fields: &Fields) -> Map<String, Value> {
    let models: Vec<&str> = fields.all("models").collect();
    let mut body = Map::new();
    body.insert("premium_models_enabled".to_owned(), json!(models));
    body
}
