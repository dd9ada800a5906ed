//! Apps, their entities, and the records in them.

use askama::Template;
use http::Method;
use serde_json::{Map, Value};
use svc_core::fault::{Code, Fault, invalid};
use svc_core::json;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;

use crate::app::{self, API};
use crate::edit::{Edit, SHOWN};
use crate::field::{Area, Input};
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::pager::Pager;
use crate::redirect::see_other;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

const PAGE: &str = "/ui/apps";

#[derive(Template)]
#[template(path = "apps.html")]
struct Apps {
    layout: Layout,
    told: Told,
    apps: Vec<Value>,
    pager: Pager,
    may_change: bool,
    name: Input,
}

pub(crate) fn list<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render(exchange, visitor, Sent::nothing()))
}

async fn render(exchange: &mut Exchange, visitor: &Visitor, sent: Sent) -> Result<Response, Fault> {
    let ask = Pager::turn(exchange, Ask::get(API));
    let answer = inside::ask(exchange, visitor.person(), ask).await?;
    let page = Apps {
        layout: Layout::new(exchange, visitor, "Records"),
        apps: show::rows(answer.data),
        pager: Pager::new(exchange, PAGE, &answer.pagination),
        may_change: visitor.may(exchange, &Method::POST, API),
        name: Input::text("name", "Name").sent(&sent),
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
        let mut body = Map::new();
        body.insert("name".to_owned(), fields.text("name").trim().into());
        let ask = Ask::new(Method::POST, API)
            .body(body)
            .once(&fields.once(exchange));
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(answer) => {
                let id = show::plain(&answer.data, "/id");
                Ok(see_other(exchange, &format!("{PAGE}/{id}?done=created")))
            }
            Err(fault) => render(exchange, visitor, Sent::refused(fault, fields)?).await,
        }
    })
}

#[derive(Template)]
#[template(path = "app.html")]
struct App {
    layout: Layout,
    told: Told,
    app: Value,
    entities: Vec<Value>,
    webhooks: Vec<Value>,
    may_change: bool,
    /// The entity whose schema the form started from; none for a new one.
    of: String,
    shown: String,
    key: Input,
    schema: Area,
}

pub(crate) fn one<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(show_app(exchange, visitor, Sent::nothing()))
}

/// An app has at most so many entities and webhooks, and a page of the API at most 100.
const MOST: &str = "100";

async fn show_app(
    exchange: &mut Exchange,
    visitor: &Visitor,
    sent: Sent,
) -> Result<Response, Fault> {
    let (path, person) = (app::path(exchange), visitor.person());
    let app = inside::ask(exchange, person, Ask::get(&path)).await?.data;
    let ask = Ask::get(format!("{path}/entities")).with("limit", MOST);
    let entities = inside::ask(exchange, person, ask).await?.data;
    let ask = Ask::get(format!("{path}/inbound-webhooks")).with("limit", MOST);
    let webhooks = inside::ask(exchange, person, ask).await?.data;
    // Another schema starts from the one that there is.
    let query = Fields::of_query(exchange);
    let named = sent.filled("key").or(query.filled("entity"));
    let named = named.unwrap_or_default().to_owned();
    let schema = match named.as_str() {
        "" => None,
        named => stored(exchange, visitor, named).await?,
    };
    let of = schema.as_ref().map_or("", |_| &named);
    let shown = schema.as_ref().map(|schema| EDIT.shown(schema));
    let schema = schema.unwrap_or_else(|| as_fields(EXAMPLE));
    let page = App {
        layout: Layout::new(exchange, visitor, "App"),
        app,
        entities: show::rows(entities),
        webhooks: show::rows(webhooks),
        may_change: visitor.may(exchange, &Method::POST, API),
        key: Input::text("key", "Key")
            .hint("A small letter, then small letters, digits and _.")
            .value(sent.sent("key").unwrap_or(&named))
            .told(&sent.told),
        schema: Area::new("fields", "Fields", 8)
            .hint("As the API takes them: a JSON array of {\"key\", \"type\", \"required\", \"phi\", …}.")
            .value(sent.filled("fields").unwrap_or(schema.text("fields")))
            .told(&sent.told),
        of: of.to_owned(),
        shown: shown.unwrap_or_default(),
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

/// What the form shows of an entity.
const EDIT: Edit = Edit {
    whole: &["fields"],
    apart: &[],
};

fn as_fields(schema: &str) -> Fields {
    let pair = ("fields".to_owned(), schema.to_owned());
    [pair].into_iter().collect()
}

/// The schema of an entity as the form shows it, where there is one.
async fn stored(
    exchange: &mut Exchange,
    visitor: &Visitor,
    key: &str,
) -> Result<Option<Fields>, Fault> {
    let ask = Ask::get(entity_path(exchange, key));
    match inside::ask(exchange, visitor.person(), ask).await {
        Ok(entity) => Ok(Some(as_fields(&show::pretty(&entity.data, "/fields")))),
        Err(fault) if fault.code.row().status == 404 => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// The API's path of an entity. No path names an empty key; a space is refused as any other that is none.
fn entity_path(exchange: &Exchange, key: &str) -> String {
    let key = if key.is_empty() { " " } else { key };
    format!("{}/entities/{}", app::path(exchange), app::escaped(key))
}

const EXAMPLE: &str = "[\n  {\"key\": \"mrn\", \"type\": \"string\", \"required\": true, \"phi\": true},\n  \
                       {\"key\": \"ward\", \"type\": \"enum\", \"values\": [\"a\", \"b\"]}\n]";

pub(crate) fn put_entity<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let key = fields.text("key").trim().to_owned();
        let path = entity_path(exchange, &key);
        if visitor.may(exchange, &Method::PUT, &path)
            && let Some(now) = stored(exchange, visitor, &key).await?
        {
            let mut sent = fields.clone();
            if fields.text("of") != key {
                // What the form showed was another entity's.
                sent.put(SHOWN, std::iter::empty());
            }
            if let Err(stays) = EDIT.over(&now, sent) {
                return show_app(exchange, visitor, stays).await;
            }
        }
        let (schema, problem) = match json::of_person(fields.text("fields")) {
            Ok(schema) => (schema, None),
            // The API refuses no schema at all, and leaves the row of that.
            Err(problem) => (Value::Null, Some(invalid("fields", problem))),
        };
        let mut body = Map::new();
        body.insert("fields".to_owned(), schema);
        let ask = Ask::new(Method::PUT, path).body(body);
        match inside::ask(exchange, visitor.person(), ask).await {
            Ok(_) => {
                let place = format!("{PAGE}/{}", exchange.parameter("app"));
                Ok(see_other(
                    exchange,
                    &format!("{place}/records/{key}?done=saved"),
                ))
            }
            Err(fault) => {
                let fault = match problem {
                    Some(problem) if fault.code == Code::ValidationFailed => problem,
                    _ => fault,
                };
                let sent = Sent::refused(fault, fields)?.moved("entity_key", "key");
                show_app(exchange, visitor, sent).await
            }
        }
    })
}
