//! Deliveries of outbound webhooks: what was sent where, each attempt, and sending it again.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use svc_core::fault::Fault;
use svc_core::webhook::EventName;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;
use svc_pipeline::role::not_allowed;
use svc_store::webhook_delivery::Status;

use crate::field::{Choice, Input, Select};
use crate::form::Fields;
use crate::frame::{Answering, html, live_html};
use crate::menu::Layout;
use crate::pager::Pager;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

const API: &str = "/v1/webhooks/deliveries";
const REPLAY: &str = "/v1/webhooks/deliveries/bulk-replay";
const PAGE: &str = "/ui/deliveries";
const FILTERS: &[&str] = &["endpoint_id", "status", "event"];

#[derive(Template)]
#[template(path = "deliveries.html")]
struct Deliveries {
    layout: Layout,
    deliveries: Vec<Value>,
    pager: Pager,
    endpoint: Input,
    status: Select,
    event: Select,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let query = Fields::of_query(exchange);
        let mut ask = Ask::get(API);
        let mut filters = Vec::new();
        for name in FILTERS {
            if let Some(value) = query.filled(name) {
                ask = ask.with(name, value);
                filters.push(((*name).to_owned(), value.to_owned()));
            }
        }
        let ask = Pager::turn(exchange, ask);
        let answer = inside::ask(exchange, visitor.person(), ask).await?;
        let page = Deliveries {
            layout: Layout::new(exchange, visitor, "Deliveries"),
            deliveries: show::rows(answer.data),
            pager: Pager::filtered(exchange, PAGE, &filters, &answer.pagination),
            endpoint: Input::text("endpoint_id", "Endpoint")
                .value(query.text("endpoint_id"))
                .optional(),
            status: any("status", "Status", states()).chosen(query.text("status")),
            event: any("event", "Event", events()).chosen(query.text("event")),
        };
        live_html(exchange, StatusCode::OK, &page)
    })
}

fn states() -> impl Iterator<Item = &'static str> {
    Status::ALL.iter().map(|status| status.word())
}

fn events() -> impl Iterator<Item = &'static str> {
    EventName::ALL.iter().map(|event| event.word())
}

/// A choice that may be left open.
fn any(
    name: &'static str,
    label: &'static str,
    words: impl Iterator<Item = &'static str>,
) -> Select {
    let mut choices = vec![Choice::new("", "any")];
    choices.extend(Choice::words(words));
    Select::new(name, label, choices)
}

#[derive(Template)]
#[template(path = "delivery.html")]
struct Delivery {
    layout: Layout,
    delivery: Value,
    attempts: Vec<Value>,
    may_replay: bool,
}

pub(crate) fn show_one<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let path = format!("{API}/{}", exchange.parameter("id"));
        let mut delivery = inside::ask(exchange, visitor.person(), Ask::get(path)).await?;
        let attempts = delivery.data.get_mut("attempts").map(Value::take);
        let page = Delivery {
            layout: Layout::new(exchange, visitor, "Delivery"),
            attempts: show::rows(attempts.unwrap_or_default()),
            delivery: delivery.data,
            may_replay: visitor.may(exchange, &Method::POST, REPLAY),
        };
        html(exchange, StatusCode::OK, &page)
    })
}

#[derive(Template)]
#[template(path = "replay.html")]
struct Replay {
    layout: Layout,
    told: Told,
    /// What was, or would be, sent again.
    result: Option<Value>,
    is_dry: bool,
    skipped: Vec<Value>,
    ids: Vec<String>,
    endpoint: Input,
    from: Input,
    to: Input,
    event: Select,
}

pub(crate) fn show_replay<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        if !visitor.may(exchange, &Method::POST, REPLAY) {
            return Err(not_allowed());
        }
        let sent = Sent::tried(Fields::of_query(exchange));
        render_replay(exchange, visitor, sent, None)
    })
}

fn render_replay(
    exchange: &Exchange,
    visitor: &Visitor,
    sent: Sent,
    result: Option<Value>,
) -> Result<Response, Fault> {
    let skipped = result.as_ref().and_then(|result| result.get("skipped"));
    let page = Replay {
        layout: Layout::new(exchange, visitor, "Replay deliveries"),
        skipped: show::rows(skipped.cloned().unwrap_or_default()),
        is_dry: sent.text("dry_run") == "true",
        ids: sent.all("delivery_ids").map(str::to_owned).collect(),
        endpoint: Input::text("endpoint_id", "Endpoint").sent(&sent),
        from: Input::new("datetime-local", "from", "Since (UTC)").sent(&sent),
        to: Input::new("datetime-local", "to", "Until (UTC)")
            .sent(&sent)
            .optional(),
        event: any("event", "Event", events()).sent(&sent),
        result,
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

pub(crate) fn replay<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let mut ask = Ask::new(Method::POST, REPLAY).body(wanted(&fields));
        // Looking changes nothing, and may be followed by sending.
        if !is_dry(&fields) {
            ask = ask.once(&fields.once(exchange));
        }
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(answer) => render_replay(exchange, visitor, Sent::tried(fields), Some(answer.data)),
            Err(fault) => {
                let sent = ["endpoint_id", "from", "to", "event"]
                    .into_iter()
                    .fold(Sent::refused(fault, fields)?, |sent, field| {
                        sent.moved(&format!("filter.{field}"), field)
                    });
                render_replay(exchange, visitor, sent, None)
            }
        }
    })
}

/// Whether it is only asked what would be sent.
fn is_dry(fields: &Fields) -> bool {
    fields.text("dry_run") == "true"
}

/// The form as the API takes it: deliveries by their ids, or all that a filter finds.
fn wanted(fields: &Fields) -> Map<String, Value> {
    let mut body = Map::new();
    let ids: Vec<&str> = fields.all("delivery_ids").collect();
    if ids.is_empty() {
        let mut filter = Map::new();
        for name in ["endpoint_id", "event"] {
            if let Some(value) = fields.filled(name) {
                filter.insert(name.to_owned(), value.into());
            }
        }
        for name in ["from", "to"] {
            if let Some(minute) = fields.filled(name) {
                // As browsers send it: a minute without a zone.
                filter.insert(name.to_owned(), format!("{minute}:00Z").into());
            }
        }
        body.insert("filter".to_owned(), Value::Object(filter));
    } else {
        body.insert("delivery_ids".to_owned(), json!(ids));
    }
    if is_dry(fields) {
        body.insert("dry_run".to_owned(), true.into());
    }
    body
}
