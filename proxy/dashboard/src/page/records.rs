//! The records browser: what an entity holds. Opening a record leaves an audit row, as everywhere.

use askama::Template;
use http::{Method, StatusCode};
use serde_json::Value;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};

use crate::app;
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::pager::Pager;
use crate::redirect::see_other;
use crate::session::Visitor;
use crate::show;

#[derive(Template)]
#[template(path = "records.html")]
struct Records {
    layout: Layout,
    app: String,
    key: String,
    version: String,
    schema: String,
    may_change: bool,
    fields: Vec<Value>,
    records: Vec<Value>,
    pager: Pager,
}

fn api(exchange: &Exchange) -> String {
    let key = exchange.parameter("key");
    format!("{}/entities/{key}", app::path(exchange))
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let (api, person) = (api(exchange), visitor.person());
        let entity = inside::ask(exchange, person, Ask::get(api.as_str())).await?;
        let ask = Pager::turn(exchange, Ask::get(format!("{api}/records")));
        let records = inside::ask(exchange, person, ask).await?;
        let (app, key) = (exchange.parameter("app"), exchange.parameter("key"));
        let page = Records {
            layout: Layout::new(exchange, visitor, "Records"),
            app: app.to_owned(),
            key: key.to_owned(),
            version: show::text(&entity.data, "/schema_version"),
            schema: show::pretty(&entity.data, "/fields"),
            may_change: visitor.may(exchange, &Method::PUT, &api),
            fields: show::rows(entity.data.get("fields").cloned().unwrap_or_default()),
            pager: Pager::new(
                exchange,
                &format!("/ui/apps/{app}/records/{key}"),
                &records.pagination,
            ),
            records: show::rows(records.data),
        };
        html(exchange, StatusCode::OK, &page)
    })
}

#[derive(Template)]
#[template(path = "record.html")]
struct Record {
    layout: Layout,
    app: String,
    key: String,
    record: Value,
    fields: Vec<(String, String)>,
    may_change: bool,
}

pub(crate) fn show_one<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let path = format!("{}/records/{}", api(exchange), exchange.parameter("id"));
        let record = inside::ask(exchange, visitor.person(), Ask::get(path.as_str())).await?;
        let fields = record.data.get("fields").and_then(Value::as_object);
        let fields = fields.into_iter().flatten();
        let page = Record {
            layout: Layout::new(exchange, visitor, "Record"),
            app: exchange.parameter("app").to_owned(),
            key: exchange.parameter("key").to_owned(),
            fields: fields
                .map(|(name, value)| (name.clone(), shown(value)))
                .collect(),
            record: record.data,
            may_change: visitor.may(exchange, &Method::DELETE, &path),
        };
        html(exchange, StatusCode::OK, &page)
    })
}

/// A value as it was sent: no grouping of digits here.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub(crate) fn remove<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    _: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let path = format!("{}/records/{}", api(exchange), exchange.parameter("id"));
        inside::ask(exchange, visitor.person(), Ask::new(Method::DELETE, path)).await?;
        let (app, key) = (exchange.parameter("app"), exchange.parameter("key"));
        let path = format!("/ui/apps/{app}/records/{key}?done=removed");
        Ok(see_other(exchange, &path))
    })
}
