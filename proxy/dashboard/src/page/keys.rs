//! API keys: who may ask the API for what.

use std::collections::HashMap;

use askama::Template;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use svc_core::fault::Fault;
use svc_core::scope::Scope;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;

use super::users;
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

const API: &str = "/v1/api_keys";
const PAGE: &str = "/ui/keys";

#[derive(Template)]
#[template(path = "keys.html")]
struct Keys {
    layout: Layout,
    told: Told,
    keys: Vec<Value>,
    /// By user id, where the visitor may see who is there.
    people: HashMap<String, String>,
    /// Whether the visitor may look for a key in the audit log.
    may_look: bool,
    pager: Pager,
    /// Shown once, and never again.
    new_key: Option<String>,
    may_change: bool,
    name: Input,
    scopes: Boxes,
    expires_at: Input,
    per_minute: Input,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render(exchange, visitor, Sent::nothing(), None))
}

async fn render(
    exchange: &mut Exchange,
    visitor: &Visitor,
    sent: Sent,
    new_key: Option<String>,
) -> Result<Response, Fault> {
    let ask = Ask::get(API).with("mode", visitor.mode.word());
    let answer = inside::ask(exchange, visitor.person(), Pager::turn(exchange, ask)).await?;
    let scopes = Choice::words(Scope::ALL.iter().map(|scope| scope.word()));
    let page = Keys {
        layout: Layout::new(exchange, visitor, "API keys"),
        keys: show::rows(answer.data),
        people: users::names(exchange, visitor).await?,
        may_look: visitor.may(exchange, &Method::GET, "/v1/audit"),
        pager: Pager::new(exchange, PAGE, &answer.pagination),
        new_key,
        may_change: visitor.may(exchange, &Method::POST, API),
        name: Input::text("name", "Name")
            .hint("What it is used for, or where.")
            .sent(&sent),
        scopes: Boxes::new("scopes", "Scopes", scopes)
            .hint("What its holder may do. The fewer the better.")
            .sent(&sent),
        expires_at: Input::new("date", "expires_at", "Last day")
            .hint("It stops working at the end of this day (UTC).")
            .sent(&sent)
            .optional(),
        per_minute: Input::new("number", "rate_limits", "Requests per minute")
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
                let key = show::plain(&answer.data, "/key").to_owned();
                let sent = Sent::done(StatusCode::CREATED);
                render(exchange, visitor, sent, Some(key)).await
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
    let mut body = fields.texts(&["name"]);
    let scopes: Vec<&str> = fields.all("scopes").collect();
    body.insert("scopes".to_owned(), json!(scopes));
    if let Some(day) = fields.filled("expires_at") {
        let end = format!("{day}T23:59:59.999Z");
        body.insert("expires_at".to_owned(), end.into());
    }
    if let Some(limit) = fields.number("rate_limits") {
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
        Ok(see_other(exchange, &format!("{PAGE}?done=revoked")))
    })
}
