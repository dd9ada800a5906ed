//! Outbound webhooks: the endpoints that are told of events, and their secrets.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use svc_core::fault::Fault;
use svc_core::webhook::{EVERY_EVENT, EventName};
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;

use crate::field::{Boxes, Choice, Input};
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::pager::Pager;
use crate::redirect::see_other;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

const API: &str = "/v1/webhooks";
const PAGE: &str = "/ui/webhooks";

#[derive(Template)]
#[template(path = "webhooks.html")]
struct Webhooks {
    layout: Layout,
    told: Told,
    endpoints: Vec<Value>,
    pager: Pager,
    may_change: bool,
    /// Shown once, and never again.
    secret: Option<String>,
    url: Input,
    events: Boxes,
    description: Input,
    max_in_flight: Input,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render(exchange, visitor, Sent::nothing(), None))
}

async fn render(
    exchange: &mut Exchange,
    visitor: &Visitor,
    sent: Sent,
    secret: Option<String>,
) -> Result<Response, Fault> {
    let ask = Pager::turn(exchange, Ask::get(API));
    let answer = inside::ask(exchange, visitor.person(), ask).await?;
    let events = EventName::ALL.iter().map(|event| event.word());
    let events = Choice::words(events.chain([EVERY_EVENT]));
    let page = Webhooks {
        layout: Layout::new(exchange, visitor, "Webhooks"),
        endpoints: show::rows(answer.data),
        pager: Pager::new(exchange, PAGE, &answer.pagination),
        may_change: visitor.may(exchange, &Method::POST, API),
        secret,
        url: Input::new("url", "url", "Address")
            .hint("Where deliveries are posted to, over HTTPS.")
            .sent(&sent),
        events: Boxes::new("events", "Events", events)
            .hint("* stands for every event, also those to come.")
            .sent(&sent),
        description: Input::text("description", "Description")
            .sent(&sent)
            .optional(),
        max_in_flight: Input::new("number", "max_in_flight", "Deliveries at a time")
            .hint("1 to 50; 5 where nothing is said.")
            .sent(&sent)
            .optional(),
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

pub(crate) fn create<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let ask = Ask::new(Method::POST, API)
            .body(wanted(&fields))
            .once(&fields.once(exchange));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(answer) => {
                let secret = show::plain(&answer.data, "/secret").to_owned();
                let sent = Sent::done(StatusCode::CREATED);
                render(exchange, visitor, sent, Some(secret)).await
            }
            Err(fault) => {
                let sent = Sent::refused(fault, fields)?;
                render(exchange, visitor, sent, None).await
            }
        }
    })
}

/// The form as the API takes it.
fn wanted(fields: &Fields) -> Map<String, Value> {
    let mut body = fields.texts(&["description"]);
    body.insert("url".to_owned(), fields.text("url").trim().into());
    let events: Vec<&str> = fields.all("events").collect();
    body.insert("events".to_owned(), json!(events));
    if let Some(limit) = fields.number("max_in_flight") {
        body.insert("max_in_flight".to_owned(), limit);
    }
    body
}

#[derive(Template)]
#[template(path = "webhook.html")]
struct Webhook {
    layout: Layout,
    told: Told,
    endpoint: Value,
    deliveries: Vec<Value>,
    secret: Option<String>,
    may_change: bool,
    hours: Input,
}

pub(crate) fn show_one<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render_one(exchange, visitor, Sent::nothing(), None))
}

/// Deliveries that the page of an endpoint shows.
const NEWEST: &str = "10";

async fn render_one(
    exchange: &mut Exchange,
    visitor: &Visitor,
    sent: Sent,
    secret: Option<String>,
) -> Result<Response, Fault> {
    let id = exchange.parameter("id").to_owned();
    let person = visitor.person();
    let endpoint = inside::ask(exchange, person, Ask::get(format!("{API}/{id}"))).await?;
    let newest = Ask::get(format!("{API}/deliveries"));
    let newest = newest.with("endpoint_id", &id).with("limit", NEWEST);
    let deliveries = inside::ask(exchange, person, newest).await?;
    let page = Webhook {
        layout: Layout::new(exchange, visitor, "Webhook endpoint"),
        endpoint: endpoint.data,
        deliveries: show::rows(deliveries.data),
        secret,
        may_change: visitor.may(exchange, &Method::POST, API),
        hours: Input::new(
            "number",
            "expire_previous_in_hours",
            "Hours for the old secret",
        )
        .hint(
            "0 to 168: so long deliveries carry a signature of each. A week where nothing is said.",
        )
        .optional()
        .told(&sent.told),
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

pub(crate) fn rotate<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let mut body = Map::new();
        if let Some(hours) = fields.number("expire_previous_in_hours") {
            body.insert("expire_previous_in_hours".to_owned(), hours);
        }
        let path = format!("{API}/{}/rotate-secret", exchange.parameter("id"));
        let ask = Ask::new(Method::POST, path)
            .body(body)
            .once(&fields.once(exchange));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(answer) => {
                let secret = show::plain(&answer.data, "/secret").to_owned();
                render_one(exchange, visitor, Sent::nothing(), Some(secret)).await
            }
            Err(fault) => {
                let sent = Sent::refused(fault, fields)?;
                render_one(exchange, visitor, sent, None).await
            }
        }
    })
}

/// Switches deliveries on or off.
pub(crate) fn switch<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let id = exchange.parameter("id").to_owned();
        let mut body = Map::new();
        body.insert("status".to_owned(), fields.text("to").into());
        let ask = Ask::new(Method::PATCH, format!("{API}/{id}")).body(body);
        inside::ask(exchange, visitor.person(), ask).await?;
        Ok(see_other(exchange, &format!("{PAGE}/{id}?done=saved")))
    })
}

pub(crate) fn remove<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    _: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let path = format!("{API}/{}", exchange.parameter("id"));
        inside::ask(exchange, visitor.person(), Ask::new(Method::DELETE, path)).await?;
        Ok(see_other(exchange, &format!("{PAGE}?done=removed")))
    })
}
