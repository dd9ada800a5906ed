//! Inbound webhooks: which payload becomes which record is tried before the webhook is made, its token is shown once.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Map, Value};
use svc_core::entity::{Mapping, Schema};
use svc_core::fault::{Fault, Problems};
use svc_core::json;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;
use svc_pipeline::role::not_allowed;

use crate::app;
use crate::field::{Area, Choice, Input, Select};
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::redirect::see_other;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

#[derive(Template)]
#[template(path = "inbound_new.html")]
struct Wizard {
    layout: Layout,
    told: Told,
    app: String,
    name: Input,
    entity: Select,
    mapping: Area,
    sample: Area,
    /// What the sample would become.
    preview: Option<String>,
}

pub(crate) fn wizard<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        if !may_change(exchange, visitor) {
            return Err(not_allowed());
        }
        render(exchange, visitor, Sent::nothing(), None).await
    })
}

fn may_change(exchange: &Exchange, visitor: &Visitor) -> bool {
    visitor.may(exchange, &Method::POST, app::API)
}

async fn render(
    exchange: &mut Exchange,
    visitor: &Visitor,
    sent: Sent,
    preview: Option<String>,
) -> Result<Response, Fault> {
    let ask = Ask::get(format!("{}/entities", app::path(exchange))).with("limit", "100");
    let entities = inside::ask(exchange, visitor.person(), ask).await?.data;
    let entities = show::rows(entities);
    let keys = entities.iter().map(|entity| show::plain(entity, "/key"));
    let page = Wizard {
        layout: Layout::new(exchange, visitor, "New inbound webhook"),
        app: exchange.parameter("app").to_owned(),
        name: Input::text("name", "Name").hint("Who sends.").sent(&sent),
        entity: Select::new("entity_key", "Entity", Choice::words(keys)).sent(&sent),
        mapping: Area::new("field_mapping", "Mapping", 5)
            .hint("One pair a line, such as patient.id = mrn. What is not mapped passes as it is.")
            .sent(&sent),
        sample: Area::new("sample", "A payload to try it with", 6)
            .hint("JSON. It is not kept.")
            .sent(&sent),
        preview,
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

/// The lines of the form as the API takes them.
fn mapping(fields: &Fields, problems: &mut Problems) -> Map<String, Value> {
    let mut pairs = Map::new();
    for (at, line) in fields.text("field_mapping").lines().enumerate() {
        match line.split_once('=') {
            Some((source, field)) => {
                let before = pairs.insert(source.trim().to_owned(), field.trim().into());
                if before.is_some() {
                    let problem = "has the source of a line above: each source has one field";
                    problems.add(format!("field_mapping[{at}]"), problem);
                }
            }
            None if line.trim().is_empty() => {}
            None => problems.add(format!("field_mapping[{at}]"), "a line is: source = field"),
        }
    }
    pairs
}

/// One form, two buttons: the payload is tried, or the webhook is made.
pub(crate) fn submit<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let done = if fields.text("do") == "try" {
            preview(exchange, visitor, &fields).await.map(Done::Tried)
        } else {
            create(exchange, visitor, &fields).await.map(Done::Made)
        };
        match done {
            Ok(Done::Made(webhook)) => made(exchange, visitor, webhook),
            Ok(Done::Tried(text)) => {
                render(exchange, visitor, Sent::tried(fields), Some(text)).await
            }
            Err(fault) => {
                let sent = Sent::refused(fault, fields)?;
                render(exchange, visitor, sent, None).await
            }
        }
    })
}

enum Done {
    Tried(String),
    Made(Value),
}

/// What the sample would become, by the same functions that the entrance uses.
async fn preview(
    exchange: &mut Exchange,
    visitor: &Visitor,
    fields: &Fields,
) -> Result<String, Fault> {
    if !may_change(exchange, visitor) {
        return Err(not_allowed());
    }
    let key = app::escaped(fields.text("entity_key"));
    let ask = Ask::get(format!("{}/entities/{key}", app::path(exchange)));
    let entity = inside::ask(exchange, visitor.person(), ask).await?.data;
    let schema = Schema::stored(entity.get("fields").cloned().unwrap_or_default());
    let schema = schema.ok_or_else(|| Fault::internal("a shown schema cannot be read"))?;
    let mut problems = Problems::default();
    let pairs = mapping(fields, &mut problems);
    let mapping = Mapping::read(pairs, Some(&schema), "field_mapping", &mut problems);
    let sample = match json::of_person(fields.text("sample")) {
        Ok(Value::Object(sample)) => sample,
        Ok(_) => {
            problems.add("sample", "must be one JSON object");
            Map::new()
        }
        Err(problem) => {
            problems.add("sample", format!("must be one JSON object: it {problem}"));
            Map::new()
        }
    };
    problems.into_result()?;
    let mut problems = Problems::default();
    let mut mapped = mapping.apply(sample);
    mapped.retain(|key, _| schema.field(key).is_some());
    let values = schema.judge(mapped, "sample", &mut problems);
    problems.into_result()?;
    serde_json::to_string_pretty(&values.shown(&schema)).map_err(Fault::internal)
}

async fn create(
    exchange: &mut Exchange,
    visitor: &Visitor,
    fields: &Fields,
) -> Result<Value, Fault> {
    let mut body = Map::new();
    for key in ["name", "entity_key"] {
        body.insert(key.to_owned(), fields.text(key).trim().into());
    }
    let mut problems = Problems::default();
    let pairs = mapping(fields, &mut problems);
    if may_change(exchange, visitor) {
        problems.into_result()?;
    }
    body.insert("field_mapping".to_owned(), Value::Object(pairs));
    let ask = Ask::new(
        Method::POST,
        format!("{}/inbound-webhooks", app::path(exchange)),
    )
    .body(body)
    .once(&fields.once(exchange));
    Ok(inside::ask(exchange, visitor.person(), ask).await?.data)
}

#[derive(Template)]
#[template(path = "inbound.html")]
struct Inbound {
    layout: Layout,
    app: String,
    webhook: Value,
    mapping: String,
    /// Where the sender posts to, shown once.
    entrance: Option<String>,
    may_change: bool,
}

fn made(exchange: &Exchange, visitor: &Visitor, webhook: Value) -> Result<Response, Fault> {
    let base = &exchange.gateway.settings.base_url;
    let token = show::plain(&webhook, "/token");
    let entrance = Some(format!("{base}/api/svc/v1/incoming/{token}"));
    page(exchange, visitor, StatusCode::CREATED, webhook, entrance)
}

fn page(
    exchange: &Exchange,
    visitor: &Visitor,
    status: StatusCode,
    webhook: Value,
    entrance: Option<String>,
) -> Result<Response, Fault> {
    let mapping = webhook.get("field_mapping").unwrap_or(&Value::Null);
    let page = Inbound {
        mapping: serde_json::to_string_pretty(mapping).map_err(Fault::internal)?,
        layout: Layout::new(exchange, visitor, "Inbound webhook"),
        app: exchange.parameter("app").to_owned(),
        webhook,
        entrance,
        may_change: may_change(exchange, visitor),
    };
    html(exchange, status, &page)
}

fn path(exchange: &Exchange) -> String {
    let id = exchange.parameter("id");
    format!("{}/inbound-webhooks/{id}", app::path(exchange))
}

pub(crate) fn show_one<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let ask = Ask::get(path(exchange));
        let webhook = inside::ask(exchange, visitor.person(), ask).await?.data;
        page(exchange, visitor, StatusCode::OK, webhook, None)
    })
}

pub(crate) fn rotate<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let ask = Ask::new(Method::POST, format!("{}/rotate-token", path(exchange)))
            .once(&fields.once(exchange));
        let webhook = inside::ask(exchange, visitor.person(), ask).await?.data;
        made(exchange, visitor, webhook)
    })
}

pub(crate) fn switch<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let mut body = Map::new();
        body.insert("status".to_owned(), fields.text("status").into());
        let ask = Ask::new(Method::PATCH, path(exchange)).body(body);
        inside::ask(exchange, visitor.person(), ask).await?;
        let place = format!(
            "/ui/apps/{}/inbound/{}",
            exchange.parameter("app"),
            exchange.parameter("id")
        );
        Ok(see_other(exchange, &format!("{place}?done=saved")))
    })
}

pub(crate) fn remove<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    _: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let ask = Ask::new(Method::DELETE, path(exchange));
        inside::ask(exchange, visitor.person(), ask).await?;
        let place = format!("/ui/apps/{}?done=removed", exchange.parameter("app"));
        Ok(see_other(exchange, &place))
    })
}
