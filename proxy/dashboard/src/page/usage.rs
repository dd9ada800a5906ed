//! What was used in this cycle, by day and by whatever one asks for, and the caps that the organization sets itself.

use std::collections::HashMap;

use askama::Template;
use http::Method;
use serde_json::{Map, Number, Value, json};
use svc_core::fault::Fault;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_pipeline::response::Response;

use crate::chart::{self, Bar};
use crate::edit::{Edit, differing};
use crate::field::{Choice, Input, Select};
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::redirect::see_other;
use crate::sent::Sent;
use crate::session::Visitor;
use crate::show;
use crate::told::Told;

const API: &str = "/v1/usage";
const BUDGET: &str = "/v1/usage/budget";
const PAGE: &str = "/ui/usage";

/// What usage can be broken down by, beside days.
const GROUPS: [(&str, &str); 4] = [
    ("model", "Model"),
    ("key", "API key"),
    ("agent", "Agent"),
    ("surface", "Surface"),
];

#[derive(Template)]
#[template(path = "usage.html")]
struct Usage {
    layout: Layout,
    told: Told,
    usage: Value,
    days: String,
    /// Where a line says what it is of.
    pointer: String,
    group_label: &'static str,
    by: Select,
    lines: Vec<Value>,
    parts: String,
    budget: Value,
    shown: String,
    may_change: bool,
    credit_cap: Input,
    spend_cap: Input,
    thresholds: Input,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(render(exchange, visitor, Sent::nothing()))
}

/// What the form shows of the budget.
const EDIT: Edit = Edit {
    whole: &[
        "monthly_credit_cap",
        "monthly_spend_cap_usd",
        "alert_thresholds",
    ],
    apart: &[],
};

/// The form before anybody typed.
fn stored(budget: &Value) -> Fields {
    let texts = EDIT.whole.iter().map(|name| {
        let text = match budget.get(name) {
            Some(Value::Array(shares)) => {
                let shares: Vec<String> = shares.iter().map(show::typed).collect();
                shares.join(", ")
            }
            other => other.map(show::typed).unwrap_or_default(),
        };
        ((*name).to_owned(), text)
    });
    texts.collect()
}

async fn render(exchange: &mut Exchange, visitor: &Visitor, sent: Sent) -> Result<Response, Fault> {
    let query = Fields::of_query(exchange);
    let wanted = query.text("by");
    let known = GROUPS.iter().find(|(word, _)| *word == wanted);
    let (group, group_label) = *known.unwrap_or(&GROUPS[0]);
    let person = visitor.person();
    let by_day = Ask::get(API).with("group_by", "day");
    let usage = inside::ask(exchange, person, by_day).await?.data;
    let grouped = Ask::get(API).with("group_by", group);
    let grouped = inside::ask(exchange, person, grouped).await?.data;
    let budget = inside::ask(exchange, person, Ask::get(BUDGET)).await?.data;
    let lines = grouped.get("breakdown").cloned().map(show::rows);
    let lines = named(exchange, visitor, group, lines.unwrap_or_default()).await?;
    let stored = stored(&budget);
    let sent = sent.else_showing(&stored);
    let choices = GROUPS.map(|(word, label)| Choice::new(word, label));
    let page = Usage {
        layout: Layout::new(exchange, visitor, "Usage and budget"),
        days: chart::bars("Credits by day", &days(&usage)),
        usage,
        pointer: format!("/{group}"),
        group_label,
        by: Select::new("by", "Broken down by", choices.into()).chosen(group),
        parts: chart::bars(&format!("Credits by {group_label}"), &parts(&lines, group)),
        lines,
        may_change: visitor.may(exchange, &Method::PATCH, BUDGET),
        credit_cap: Input::new("text", "monthly_credit_cap", "Credits in a cycle, at most")
            .hint("Empty means no cap beside the plan's. 0 stops everything.")
            .sent(&sent)
            .optional(),
        spend_cap: Input::new(
            "text",
            "monthly_spend_cap_usd",
            "US dollars in a cycle, at most",
        )
        .sent(&sent)
        .optional(),
        thresholds: Input::text("alert_thresholds", "Alerts at these shares of a cap")
            .hint("Separated by commas, such as 0.5, 0.8, 1")
            .sent(&sent),
        shown: EDIT.shown(&stored),
        budget,
        told: sent.told,
    };
    html(exchange, sent.status, &page)
}

/// Pages of names that are read: what is beyond them stands there by its id.
const MAX_PAGES: usize = 5;

/// The lines with the names of the keys or agents that they are of.
async fn named(
    exchange: &mut Exchange,
    visitor: &Visitor,
    group: &str,
    mut lines: Vec<Value>,
) -> Result<Vec<Value>, Fault> {
    let path = match group {
        "key" => "/v1/api_keys",
        "agent" => "/v1/agents",
        _ => return Ok(lines),
    };
    let mut names: HashMap<String, Value> = HashMap::new();
    let mut cursor = String::new();
    for _ in 0..MAX_PAGES {
        let mut ask = Ask::get(path).with("limit", "100");
        if !cursor.is_empty() {
            ask = ask.with("cursor", &cursor);
        }
        let answer = inside::ask(exchange, visitor.person(), ask).await?;
        for mut row in show::rows(answer.data) {
            let name = row.get_mut("name").map(Value::take).unwrap_or_default();
            names.insert(show::plain(&row, "/id").to_owned(), name);
        }
        show::plain(&answer.pagination, "/next_cursor").clone_into(&mut cursor);
        if cursor.is_empty() {
            break;
        }
    }
    for line in &mut lines {
        let name = line.get(group).and_then(Value::as_str);
        let name = name.and_then(|id| names.get(id)).cloned();
        if let (Some(line), Some(name)) = (line.as_object_mut(), name) {
            line.insert("name".to_owned(), name);
        }
    }
    Ok(lines)
}

fn bar(line: &Value, label: String) -> Bar {
    let credits = line.get("credits").and_then(Value::as_f64);
    Bar {
        label,
        value: credits.unwrap_or_default(),
        shown: format!("{} credits", show::text(line, "/credits")),
    }
}

fn days(usage: &Value) -> Vec<Bar> {
    let lines = usage.get("breakdown").cloned().map(show::rows);
    let mut lines = lines.unwrap_or_default();
    lines.sort_by(|a, b| show::plain(a, "/day").cmp(show::plain(b, "/day")));
    let month_and_day = |line: &Value| {
        show::plain(line, "/day")
            .get(5..10)
            .unwrap_or("?")
            .to_owned()
    };
    lines
        .iter()
        .map(|line| bar(line, month_and_day(line)))
        .collect()
}

/// Bars of a chart are few; the table has every line.
const MAX_PARTS: usize = 12;

fn parts(lines: &[Value], group: &str) -> Vec<Bar> {
    let pointer = format!("/{group}");
    let lines = lines.iter().take(MAX_PARTS);
    lines
        .map(|line| match show::plain(line, "/name") {
            "" => bar(line, show::text(line, &pointer)),
            name => bar(line, name.to_owned()),
        })
        .collect()
}

pub(crate) fn save<'a>(
    exchange: &'a mut Exchange,
    visitor: &'a Visitor,
    fields: Fields,
) -> Answering<'a> {
    Box::pin(async move {
        let before = inside::ask(exchange, visitor.person(), Ask::get(BUDGET)).await?;
        let before = before.data;
        let wanted = |fields: &Fields| differing(wanted(fields), &before);
        let now = stored(&before);
        let saving = EDIT.save(exchange, visitor, BUDGET, &now, fields, wanted);
        match saving.await? {
            None => Ok(see_other(exchange, &format!("{PAGE}?done=saved"))),
            Some(sent) => render(exchange, visitor, sent).await,
        }
    })
}

/// The form as the API takes it.
fn wanted(fields: &Fields) -> Map<String, Value> {
    let mut body = Map::new();
    for key in ["monthly_credit_cap", "monthly_spend_cap_usd"] {
        body.insert(key.to_owned(), fields.number(key).unwrap_or_default());
    }
    let shares = fields.text("alert_thresholds").split(',').map(str::trim);
    let shares = shares.filter(|share| !share.is_empty());
    let shares: Vec<Value> = shares
        .map(|share| {
            let number = serde_json::from_str::<Number>(share);
            number.map_or_else(|_| Value::from(share), Value::Number)
        })
        .collect();
    body.insert("alert_thresholds".to_owned(), json!(shares));
    body
}
