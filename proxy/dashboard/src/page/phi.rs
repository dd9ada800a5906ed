//! PHI activity: what was found, where and by which detector, and what became of it. Counts, never a text.

use askama::Template;
use http::StatusCode;
use serde_json::json;
use svc_core::time::{MS_PER_DAY, Timestamp};
use svc_pipeline::exchange::Exchange;
use svc_pipeline::role::not_allowed;
use svc_store::audit::Row;
use svc_store::phi_activity::{self, Activity, Counts};
use svc_store::usage::Span;

use crate::chart::{self, Bar};
use crate::field::{Choice, Select};
use crate::form::Fields;
use crate::frame::{Answering, html};
use crate::journal;
use crate::menu::Layout;
use crate::session::Visitor;
use crate::show;
use crate::trouble::down;

/// Spans that somebody may look at, in days.
const DAYS: [i64; 4] = [30, 7, 90, 1];

#[derive(Template)]
#[template(path = "phi.html")]
struct Phi {
    layout: Layout,
    days: Select,
    requests: u64,
    blocked: u64,
    redacted: u64,
    chart: String,
    kinds: Vec<(String, Counts)>,
    surfaces: Vec<(String, Counts)>,
    detectors: Vec<(String, u64)>,
    is_cut: bool,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        // Counts of the log are for whoever may read the log.
        if !visitor.may(exchange, &http::Method::GET, "/v1/audit") {
            return Err(not_allowed());
        }
        let query = Fields::of_query(exchange);
        let wanted = query.filled("days").and_then(|text| text.parse().ok());
        let days = DAYS.into_iter().find(|days| Some(*days) == wanted);
        let days = days.unwrap_or(DAYS[0]);
        let (_, to) = exchange.now.day();
        let span = Span {
            org_id: visitor.user.org_id.clone(),
            mode: visitor.mode,
            from: to.plus_ms(-days * MS_PER_DAY),
            to,
        };
        let row = queried(exchange, visitor, &span);
        journal::write(exchange, row).await?;
        let activity = phi_activity::read(&exchange.gateway.store, &span).await;
        let activity = activity.map_err(|error| down(&error))?;
        let chart = chart::bars("Requests with PHI by day", &bars(&span, &activity));
        let mut kinds: Vec<(String, Counts)> = activity.kinds.into_iter().collect();
        kinds.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.redacted + counts.blocked));
        let choices = DAYS.map(|days| {
            let label = match days {
                1 => "today".to_owned(),
                days => format!("last {days} days"),
            };
            Choice::new(days.to_string(), label)
        });
        let page = Phi {
            layout: Layout::new(exchange, visitor, "PHI activity"),
            days: Select::new("days", "Span", choices.into()).chosen(&days.to_string()),
            requests: activity.requests,
            blocked: activity.blocked,
            redacted: activity.requests - activity.blocked,
            chart,
            kinds,
            surfaces: activity.surfaces.into_iter().collect(),
            detectors: activity.detectors.into_iter().collect(),
            is_cut: activity.is_cut,
        };
        html(exchange, StatusCode::OK, &page)
    })
}

/// The row of whoever looks at what the log says (contract 14.3), as a query of the API leaves it.
fn queried(exchange: &Exchange, visitor: &Visitor, span: &Span) -> Row {
    let row = journal::done(exchange, &visitor.user, "audit.queried", &visitor.user);
    let row = Row {
        mode: Some(visitor.mode),
        target: None,
        ..row
    };
    let filters = json!([["from", span.from.to_string()], ["to", span.to.to_string()]]);
    journal::detailed(row, "filters", filters)
}

/// One bar for every day of the span, the quiet ones too.
fn bars(span: &Span, activity: &Activity) -> Vec<Bar> {
    let first = span.from.0.div_euclid(MS_PER_DAY);
    let last = span.to.0.div_euclid(MS_PER_DAY);
    let days = (first..last).map(|day| {
        let count = activity.days.get(&day).copied().unwrap_or_default();
        let date = Timestamp(day * MS_PER_DAY).to_string();
        Bar {
            label: date.get(5..10).unwrap_or("?").to_owned(),
            value: u32::try_from(count).map_or(f64::MAX, f64::from),
            shown: match count {
                1 => "1 request".to_owned(),
                count => format!("{} requests", show::count(count)),
            },
        }
    });
    days.collect()
}
