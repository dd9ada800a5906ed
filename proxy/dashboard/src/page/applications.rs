//! OAuth applications: third parties that people of the organization may let speak with one agent.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use svc_core::fault::Fault;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;

use crate::field::{Area, Choice, Input, Select};
use crate::form::Fields;
use crate::frame::{Answering, Told, html};
use crate::menu::Layout;
use crate::pager::Pager;
use crate::session::{Visitor, see_other, token};
use crate::show;

const API: &str = "/v1/oauth/applications";
const PAGE: &str = "/ui/applications";
/// Contract 16.1.
const TYPES: &[&str] = &["confidential", "public", "native"];

#[derive(Template)]
#[template(path = "applications.html")]
struct Applications {
    layout: Layout,
    told: Told,
    applications: Vec<Value>,
    pager: Pager,
    may_change: bool,
    once: String,
    /// `client_id` and, for confidential ones, the secret: shown once.
    made: Option<Value>,
    name: Input,
    publisher: Input,
    kind: Select,
    redirect_uris: Area,
    homepage_url: Input,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let (status, told) = (StatusCode::OK, Told::default());
        render(exchange, visitor, status, &Fields::default(), told, None).await
    })
}

async fn render(
    exchange: &mut Exchange,
    visitor: &Visitor,
    status: StatusCode,
    sent: &Fields,
    told: Told,
    made: Option<Value>,
) -> Result<Response, Fault> {
    let ask = Pager::turn(exchange, Ask::get(API));
    let answer = inside::ask(exchange, visitor.person(), ask).await?;
    let kinds = Choice::words(TYPES.iter().copied());
    let page = Applications {
        layout: Layout::new(exchange, visitor, "OAuth applications"),
        applications: show::rows(answer.data),
        pager: Pager::new(PAGE, &answer.pagination),
        may_change: visitor.may(exchange, &Method::POST, API),
        once: token(),
        made,
        name: Input::text("name", "Name")
            .hint("What people read on the consent page.")
            .value(sent.text("name"))
            .told(&told),
        publisher: Input::text("publisher", "Publisher")
            .value(sent.text("publisher"))
            .told(&told),
        kind: Select::new("type", "Type", kinds)
            .chosen(sent.text("type"))
            .told(&told),
        redirect_uris: Area::new("redirect_uris", "Redirect addresses", 3)
            .hint("One a line, compared letter by letter.")
            .value(sent.text("redirect_uris"))
            .told(&told),
        homepage_url: Input::new("url", "homepage_url", "Homepage")
            .value(sent.text("homepage_url"))
            .optional()
            .told(&told),
        told,
    };
    html(exchange, status, &page)
}

pub(crate) fn create<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let ask = Ask::new(Method::POST, API).body(wanted(&fields));
        let ask = ask.once(fields.text("once"));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(answer) => {
                let (status, none) = (StatusCode::CREATED, Fields::default());
                let told = Told::default();
                render(exchange, visitor, status, &none, told, Some(answer.data)).await
            }
            Err(fault) => {
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                let told = Told::of_form(fault)?;
                render(exchange, visitor, status, &fields, told, None).await
            }
        }
    })
}

fn wanted(fields: &Fields) -> Map<String, Value> {
    let mut body = Map::new();
    for name in ["name", "publisher", "type", "homepage_url"] {
        if let Some(text) = fields.filled(name) {
            body.insert(name.to_owned(), text.into());
        }
    }
    let lines = fields.text("redirect_uris").lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    body.insert("redirect_uris".to_owned(), json!(lines));
    body
}

pub(crate) fn rotate<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let mut body = Map::new();
        if let Some(hours) = fields.filled("grace_hours") {
            let hours = hours.parse::<u32>().map_or(Value::from(hours), Value::from);
            body.insert("grace_hours".to_owned(), hours);
        }
        let path = format!("{API}/{}/rotate-secret", exchange.parameter("id"));
        let ask = Ask::new(Method::POST, path).body(body);
        let answer = inside::ask(exchange, visitor.person(), ask).await?;
        let (status, none) = (StatusCode::OK, Fields::default());
        let told = Told::default();
        render(exchange, visitor, status, &none, told, Some(answer.data)).await
    })
}

pub(crate) fn revoke<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    _: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let path = format!("{API}/{}/revoke", exchange.parameter("id"));
        let ask = Ask::new(Method::POST, path).body(Map::new());
        inside::ask(exchange, visitor.person(), ask).await?;
        Ok(see_other(exchange, &format!("{PAGE}?done=revoked")))
    })
}
