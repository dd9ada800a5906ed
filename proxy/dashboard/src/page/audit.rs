//! The audit log: found by filters, one row with the proof that it is in the log, and exports.

use askama::Template;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, StatusCode};
use serde_json::Value;
use svc_core::audit_leaf;
use svc_core::checkpoint::Verifier;
use svc_core::fault::{Code, Fault};
use svc_core::merkle::{self, Hash};
use svc_core::time::Timestamp;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::inside::{self, Ask};
use svc_store::audit_key;

use crate::field::{Choice, Input, Select};
use crate::form::Fields;
use crate::frame::{Answering, html, live_html};
use crate::menu::Layout;
use crate::pager::{self, CURSOR, Pager};
use crate::session::Visitor;
use crate::show;
use crate::told::Told;
use crate::trouble::down;

const API: &str = "/v1/audit";
const PAGE: &str = "/ui/audit";

/// Filters of the page, as the API calls them.
const FILTERS: [&str; 10] = [
    "from",
    "to",
    "event",
    "result",
    "actor_id",
    "target_id",
    "request_id",
    "model",
    "surface",
    "phi_detected",
];
const RESULTS: [(&str, &str); 6] = [
    ("", "any"),
    ("success", "success"),
    ("denied", "denied"),
    ("failure", "failure"),
    ("cancelled", "cancelled"),
    ("unknown", "unknown"),
];
const PHI: [(&str, &str); 3] = [("", "any"), ("true", "found"), ("false", "not found")];

#[derive(Template)]
#[template(path = "audit.html")]
struct Log {
    layout: Layout,
    told: Told,
    rows: Vec<Value>,
    pager: Pager,
    /// The filters as part of an address.
    query: String,
    /// The same with the place in the log.
    here: String,
    from: Input,
    to: Input,
    event: Input,
    result: Select,
    actor_id: Input,
    target_id: Input,
    request_id: Input,
    phi_detected: Select,
}

/// The filters that somebody filled in.
fn filters(query: &Fields) -> Vec<(String, String)> {
    let filled = FILTERS.iter().filter_map(|name| {
        let value = query.filled(name)?;
        Some(((*name).to_owned(), value.to_owned()))
    });
    filled.collect()
}

/// What is asked of the API with these filters. Days begin at midnight UTC; the last one is in.
fn asked(filters: &[(String, String)]) -> Ask {
    let mut ask = Ask::get(API);
    for (name, value) in filters {
        let value = match name.as_str() {
            "from" => format!("{value}T00:00:00Z"),
            "to" => format!("{value}T23:59:59.999Z"),
            _ => value.clone(),
        };
        ask = ask.with(name, &value);
    }
    ask
}

pub(crate) fn list<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let query = Fields::of_query(exchange);
        let filters = filters(&query);
        let ask = Pager::turn(exchange, asked(&filters));
        let answered = inside::ask(exchange, visitor.person(), ask).await;
        let (status, told, rows, pagination) = match answered {
            Ok(answer) => (
                StatusCode::OK,
                Told::default(),
                show::rows(answer.data),
                answer.pagination,
            ),
            Err(fault) if fault.code == Code::ValidationFailed => {
                let told = Told::of_query(&fault);
                (
                    StatusCode::UNPROCESSABLE_ENTITY,
                    told,
                    Vec::new(),
                    Value::Null,
                )
            }
            Err(fault) => return Err(fault),
        };
        let page = log(exchange, visitor, &query, &filters, told, rows, &pagination);
        live_html(exchange, status, &page)
    })
}

fn log(
    exchange: &Exchange,
    visitor: &Visitor,
    query: &Fields,
    filters: &[(String, String)],
    told: Told,
    rows: Vec<Value>,
    pagination: &Value,
) -> Log {
    let choices = |words: &[(&str, &str)]| {
        words
            .iter()
            .map(|(word, label)| Choice::new(*word, *label))
            .collect()
    };
    let text = |name: &'static str, label: &'static str| {
        Input::text(name, label)
            .value(query.text(name))
            .optional()
            .told(&told)
    };
    let day = |name: &'static str, label: &'static str| {
        Input::new("date", name, label)
            .value(query.text(name))
            .optional()
            .told(&told)
    };
    Log {
        layout: Layout::new(exchange, visitor, "Audit log"),
        rows,
        pager: Pager::filtered(exchange, PAGE, filters, pagination),
        query: pager::query(filters, None),
        here: pager::query(filters, query.filled(CURSOR)),
        from: day("from", "From day"),
        to: day("to", "To day"),
        event: text("event", "Event").hint("api_key.created, or api_key.*"),
        result: Select::new("result", "Result", choices(&RESULTS)).chosen(query.text("result")),
        actor_id: text("actor_id", "Actor"),
        target_id: text("target_id", "Target"),
        request_id: text("request_id", "Request"),
        phi_detected: Select::new("phi_detected", "PHI", choices(&PHI))
            .chosen(query.text("phi_detected")),
        told,
    }
}

pub(crate) fn export<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let query = Fields::of_query(exchange);
        let ask = asked(&filters(&query));
        let (ask, name) = match query.text("as") {
            "ocsf" => {
                let lines = ask.with("format", "ocsf").accepting("application/x-ndjson");
                (lines, "audit-ocsf.ndjson")
            }
            "csv" => (ask.with("format", "csv"), "audit.csv"),
            _ => (ask.accepting("application/x-ndjson"), "audit.ndjson"),
        };
        let mut response = inside::file(exchange, visitor.person(), ask).await?;
        let disposition = format!("attachment; filename=\"{name}\"");
        if let Ok(value) = HeaderValue::from_str(&disposition) {
            response.headers.insert(CONTENT_DISPOSITION, value);
        }
        Ok(response)
    })
}

#[derive(Template)]
#[template(path = "audit_row.html")]
struct Row {
    layout: Layout,
    row: Value,
    document: String,
    /// The log as somebody looked at it.
    back: String,
    proof: Value,
    /// Whether the proof shows that the row, as it stands here, is in the log that the checkpoint signs.
    is_proved: bool,
}

pub(crate) fn one<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let id = exchange.parameter("id").to_owned();
        let query = Fields::of_query(exchange);
        let row = find(exchange, visitor, &id, query.text("at")).await?;
        let ask = Ask::get(format!("{API}/{id}/proof"));
        let proof = inside::ask(exchange, visitor.person(), ask).await?.data;
        let verifier = audit_key::verifier(&exchange.gateway.store).await;
        let verifier = verifier.map_err(|error| down(&error))?;
        let page = Row {
            layout: Layout::new(exchange, visitor, "Audit row"),
            back: pager::address(PAGE, &filters(&query), query.filled(CURSOR)),
            document: serde_json::to_string_pretty(&row).map_err(Fault::internal)?,
            is_proved: verifier.is_some_and(|verifier| is_proved(&row, &proof, &verifier)),
            proof,
            row,
        };
        html(exchange, StatusCode::OK, &page)
    })
}

/// The row of this id among those of its instant, which the address names: the API lists rows and has no single ones.
async fn find(
    exchange: &mut Exchange,
    visitor: &Visitor,
    id: &str,
    at: &str,
) -> Result<Value, Fault> {
    let at = Timestamp::parse(at).ok_or_else(|| Code::ResourceNotFound.fault())?;
    let ask = Ask::get(API)
        .with("from", &at.to_string())
        .with("to", &at.plus_ms(1).to_string())
        .with("limit", "1000");
    let rows = inside::ask(exchange, visitor.person(), ask).await?.data;
    let mut rows = show::rows(rows).into_iter();
    let found = rows.find(|row| show::plain(row, "/id") == id);
    found.ok_or_else(|| Code::ResourceNotFound.fault())
}

/// The check that a witness would make: the row's own leaf, the proof, the root of the checkpoint, its signature.
fn is_proved(row: &Value, proof: &Value, verifier: &Verifier) -> bool {
    let number = |name: &str| proof.get(name).and_then(Value::as_u64);
    let hashes = proof.get("hashes").and_then(Value::as_array);
    let hashes: Option<Vec<Hash>> = hashes.map(|hashes| {
        let texts = hashes.iter().filter_map(Value::as_str);
        let bytes = texts.filter_map(|text| hex::decode(text).ok()?.try_into().ok());
        bytes.collect()
    });
    let checkpoint = verifier.open(show::plain(proof, "/checkpoint"));
    match (
        audit_leaf::hash(row),
        hashes,
        number("leaf_index"),
        checkpoint,
    ) {
        (Some(leaf), Some(hashes), Some(index), Ok(checkpoint)) => {
            let head = &checkpoint.head;
            merkle::includes(&head.root, head.size, index, &leaf, &hashes)
        }
        _ => false,
    }
}
