//! Credentials of other services, and the names under which projects use them.

use askama::Template;
use http::Method;
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

const API: &str = "/v1/integrations";
const PAGE: &str = "/ui/integrations";

const SCHEMES: [(&str, &str); 3] = [
    ("bearer", "Authorization: Bearer"),
    ("basic", "user name and password (Basic)"),
    ("header", "a header of its own"),
];

#[derive(Template)]
#[template(path = "integrations.html")]
struct Integrations {
    layout: Layout,
    told: Told,
    integrations: Vec<Value>,
    pager: Pager,
    may_change: bool,
    name: Input,
    base_url: Input,
    scheme: Select,
    auth_name: Input,
    secret: Input,
}

pub(crate) fn list<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render(exchange, visitor, Sent::nothing()))
}

async fn render(exchange: &mut Exchange, visitor: &Visitor, sent: Sent) -> Result<Response, Fault> {
    let ask = Pager::turn(exchange, Ask::get(API));
    let answer = inside::ask(exchange, visitor.person(), ask).await?;
    let schemes = SCHEMES.map(|(word, label)| Choice::new(word, label));
    let page = Integrations {
        layout: Layout::new(exchange, visitor, "Integrations"),
        integrations: show::rows(answer.data),
        pager: Pager::new(exchange, PAGE, &answer.pagination),
        may_change: visitor.may(exchange, &Method::POST, API),
        name: Input::text("name", "Name").sent(&sent),
        base_url: Input::new("url", "base_url", "Base address")
            .hint("https, and reachable from the internet unless the operator allows its network.")
            .sent(&sent),
        scheme: Select::new("scheme", "How the secret is sent", schemes.into())
            .chosen(sent.filled("scheme").unwrap_or("bearer"))
            .told(&sent.told),
        auth_name: Input::text("auth", "User name, or name of the header")
            .sent(&sent)
            .optional(),
        secret: Input::password("secret", "Secret")
            .hint("At least 8 bytes. It is never shown again.")
            .told(&sent.told),
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
                let id = show::plain(&answer.data, "/0/id");
                Ok(see_other(exchange, &format!("{PAGE}/{id}?done=created")))
            }
            Err(fault) => render(exchange, visitor, Sent::refused(fault, fields)?).await,
        }
    })
}

/// The form as the API takes it.
fn wanted(fields: &Fields) -> Map<String, Value> {
    let scheme = fields.text("scheme");
    let mut auth = Map::new();
    auth.insert("scheme".to_owned(), scheme.into());
    let named = match scheme {
        "basic" => Some("username"),
        "header" => Some("header_name"),
        _ => None,
    };
    if let (Some(key), Some(name)) = (named, fields.filled("auth")) {
        auth.insert(key.to_owned(), name.into());
    }
    let mut body = fields.texts(&["name", "base_url"]);
    body.insert("type".to_owned(), "custom_http".into());
    body.insert("auth".to_owned(), Value::Object(auth));
    body.insert("secret".to_owned(), fields.text("secret").into());
    body
}

#[derive(Template)]
#[template(path = "integration.html")]
struct Integration {
    layout: Layout,
    told: Told,
    integration: Value,
    bindings: Vec<Value>,
    pager: Pager,
    may_rotate: bool,
    may_bind: bool,
    secret: Input,
    alias: Input,
    allowed_paths: Area,
}

fn path(exchange: &Exchange) -> String {
    format!("{API}/{}", exchange.parameter("id"))
}

fn back(exchange: &Exchange, done: &str) -> String {
    format!("{PAGE}/{}?done={done}", exchange.parameter("id"))
}

pub(crate) fn show_one<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(one(exchange, visitor, Sent::nothing()))
}

async fn one(exchange: &mut Exchange, visitor: &Visitor, sent: Sent) -> Result<Response, Fault> {
    let path = path(exchange);
    let mut found = inside::ask(exchange, visitor.person(), Ask::get(&path)).await?;
    let integration = found.data.pointer_mut("/0").map(Value::take);
    let ask = Pager::turn(exchange, Ask::get(format!("{path}/bindings")));
    let bindings = inside::ask(exchange, visitor.person(), ask).await?;
    let page = Integration {
        layout: Layout::new(exchange, visitor, "Integration"),
        integration: integration.unwrap_or_default(),
        bindings: show::rows(bindings.data),
        pager: Pager::new(exchange, &exchange.head.path, &bindings.pagination),
        may_rotate: visitor.may(exchange, &Method::POST, &format!("{path}/rotate-secret")),
        may_bind: visitor.may(exchange, &Method::POST, &format!("{path}/bindings")),
        secret: Input::password("secret", "New secret")
            .hint("The old one is not sent again.")
            .told(&sent.told),
        alias: Input::text("alias", "Alias")
            .hint("Small letters, digits, - and _: the name in /v1/egress.")
            .sent(&sent),
        allowed_paths: Area::new("allowed_paths", "Allowed paths", 3)
            .hint("One a line, such as /fhir/*. Empty means any path below the base address.")
            .sent(&sent),
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

/// Asks for a change, and shows the page of the integration with what came of it.
async fn change(
    exchange: &mut Exchange,
    visitor: &Visitor,
    fields: Fields,
    ask: Ask,
    done: &str,
) -> Result<Response, Fault> {
    match inside::ask(exchange, visitor.person(), ask).await {
        Ok(_) => Ok(see_other(exchange, &back(exchange, done))),
        Err(fault) => one(exchange, visitor, Sent::refused(fault, fields)?).await,
    }
}

pub(crate) fn rotate<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let mut body = Map::new();
        body.insert("secret".to_owned(), fields.text("secret").into());
        let path = format!("{}/rotate-secret", path(exchange));
        let ask = Ask::new(Method::POST, path)
            .body(body)
            .once(&fields.once(exchange));
        change(exchange, visitor, fields, ask, "saved").await
    })
}

pub(crate) fn revoke<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let ask = Ask::new(Method::DELETE, path(exchange));
        change(exchange, visitor, fields, ask, "revoked").await
    })
}

pub(crate) fn bind<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let mut body = Map::new();
        body.insert("project_id".to_owned(), "default".into());
        body.insert("alias".to_owned(), fields.text("alias").trim().into());
        let paths = fields.lines("allowed_paths");
        if !paths.is_empty() {
            body.insert("allowed_paths".to_owned(), json!(paths));
        }
        let path = format!("{}/bindings", path(exchange));
        let ask = Ask::new(Method::POST, path).body(body);
        change(exchange, visitor, fields, ask, "created").await
    })
}

pub(crate) fn unbind<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let id = exchange.parameter("binding_id");
        let path = format!("{}/bindings/{id}", path(exchange));
        let ask = Ask::new(Method::DELETE, path);
        change(exchange, visitor, fields, ask, "removed").await
    })
}
