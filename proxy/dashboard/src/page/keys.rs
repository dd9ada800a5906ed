//! API keys: who may ask the API for what.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use svc_core::fault::Fault;
use svc_core::scope::Scope;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;

use crate::field::{Boxes, Choice, Input};
use crate::form::Fields;
use crate::frame::{Answering, Told, html};
use crate::menu::Layout;
use crate::pager::Pager;
use crate::session::{Visitor, see_other, token};
use crate::show;

const API: &str = "/v1/api_keys";
const PAGE: &str = "/ui/keys";

#[derive(Template)]
#[template(path = "keys.html")]
struct Keys {
    layout: Layout,
    told: Told,
    keys: Vec<Value>,
    pager: Pager,
    /// Shown once, and never again.
    new_key: Option<String>,
    may_change: bool,
    once: String,
    name: Input,
    scopes: Boxes,
    expires_at: Input,
    per_minute: Input,
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
    new_key: Option<String>,
) -> Result<Response, Fault> {
    let ask = Ask::get(API).with("mode", visitor.mode.word());
    let answer = inside::ask(exchange, visitor.person(), Pager::turn(exchange, ask)).await?;
    let scopes = Choice::words(Scope::ALL.iter().map(|scope| scope.word()));
    let page = Keys {
        layout: Layout::new(exchange, visitor, "API keys"),
        keys: show::rows(answer.data),
        pager: Pager::new(PAGE, &answer.pagination),
        new_key,
        may_change: visitor.may(exchange, &Method::POST, API),
        once: token(),
        name: Input::text("name", "Name")
            .hint("What it is used for, or where.")
            .value(sent.text("name"))
            .told(&told),
        scopes: Boxes::new("scopes", "Scopes", scopes)
            .hint("What its holder may do. The fewer the better.")
            .ticked(sent.all("scopes"))
            .told(&told),
        expires_at: Input::new("date", "expires_at", "Last day")
            .hint("It stops working at the end of this day (UTC).")
            .value(sent.text("expires_at"))
            .optional()
            .told(&told),
        per_minute: Input::new("number", "rate_limits", "Requests per minute")
            .value(sent.text("rate_limits"))
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
        let ask = Ask::new(Method::POST, API)
            .body(wanted(&fields))
            .once(fields.text("once"));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(answer) => {
                let key = show::plain(&answer.data, "/key").to_owned();
                let (status, told) = (StatusCode::CREATED, Told::default());
                render(
                    exchange,
                    visitor,
                    status,
                    &Fields::default(),
                    told,
                    Some(key),
                )
                .await
            }
            Err(fault) => {
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                let told = Told::of_form(fault)?;
                render(exchange, visitor, status, &fields, told, None).await
            }
        }
    })
}

/// The form as the API takes it.
fn wanted(fields: &Fields) -> Map<String, Value> {
    let mut body = Map::new();
    if let Some(name) = fields.filled("name") {
        body.insert("name".to_owned(), name.into());
    }
    let scopes: Vec<&str> = fields.all("scopes").collect();
    body.insert("scopes".to_owned(), json!(scopes));
    if let Some(day) = fields.filled("expires_at") {
        let end = format!("{day}T23:59:59.999Z");
        body.insert("expires_at".to_owned(), end.into());
    }
    if let Some(limit) = fields.filled("rate_limits") {
        let limit = limit.parse::<u32>().map_or(Value::from(limit), Value::from);
        body.insert("rate_limits".to_owned(), json!({"per_minute": limit}));
    }
    body
}

pub(crate) fn revoke<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    _: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let path = format!("{API}/{}", exchange.parameter("id"));
        inside::ask(exchange, visitor.person(), Ask::new(Method::DELETE, path)).await?;
        Ok(see_other(exchange, "/ui/keys?done=revoked"))
    })
}
