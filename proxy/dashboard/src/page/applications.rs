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
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::pager::Pager;
use crate::redirect::see_other;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

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
    /// `client_id` and, for confidential ones, the secret: shown once.
    made: Option<Value>,
    name: Input,
    publisher: Input,
    kind: Select,
    redirect_uris: Area,
    homepage_url: Input,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render(exchange, visitor, Sent::nothing(), None))
}

async fn render(
    exchange: &mut Exchange,
    visitor: &Visitor,
    sent: Sent,
    made: Option<Value>,
) -> Result<Response, Fault> {
    let ask = Pager::turn(exchange, Ask::get(API));
    let answer = inside::ask(exchange, visitor.person(), ask).await?;
    let kinds = Choice::words(TYPES.iter().copied());
    let page = Applications {
        layout: Layout::new(exchange, visitor, "OAuth applications"),
        applications: show::rows(answer.data),
        pager: Pager::new(exchange, PAGE, &answer.pagination),
        may_change: visitor.may(exchange, &Method::POST, API),
        made,
        name: Input::text("name", "Name")
            .hint("What people read on the consent page.")
            .sent(&sent),
        publisher: Input::text("publisher", "Publisher").sent(&sent),
        kind: Select::new("type", "Type", kinds).sent(&sent),
        redirect_uris: Area::new("redirect_uris", "Redirect addresses", 3)
            .hint("One a line, compared letter by letter.")
            .sent(&sent),
        homepage_url: Input::new("url", "homepage_url", "Homepage")
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
        let ask = Ask::new(Method::POST, API).body(wanted(&fields));
        let ask = ask.once(&fields.once(exchange));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(answer) => {
                let sent = Sent::done(StatusCode::CREATED);
                render(exchange, visitor, sent, Some(answer.data)).await
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
    let mut body = fields.texts(&["name", "publisher", "type", "homepage_url"]);
    let lines = fields.lines("redirect_uris");
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
        if let Some(hours) = fields.number("grace_hours") {
            body.insert("grace_hours".to_owned(), hours);
        }
        let path = format!("{API}/{}/rotate-secret", exchange.parameter("id"));
        let ask = Ask::new(Method::POST, path).body(body);
        let ask = ask.once(&fields.once(exchange));
        let answer = inside::ask(exchange, visitor.person(), ask).await?;
        render(exchange, visitor, Sent::nothing(), Some(answer.data)).await
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
