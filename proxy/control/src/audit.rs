//! The audit log, queried (contract 14.3): a page as JSON, or everything as a stream. Every query leaves a row of its
//! own, with its filters.

mod csv;
mod export;
mod ocsf;
pub(crate) mod proof;
mod vocabulary;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use svc_core::audit_leaf::INTEGRITY;
use svc_core::fault::Problems;
use svc_core::id;
use svc_core::surface::Surface;
use svc_core::time::Timestamp;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::fact::Fact;
use svc_pipeline::handler::Handler;
use svc_pipeline::policy::models::Catalogue;
use svc_pipeline::response::Response;
use svc_store::audit::{self, ActorKind, Filter, Listed};
use svc_store::audit_tree::Leaf;
use svc_store::page::Order;

use crate::call::{Answering, Call, Reply, store_fault};
use crate::cursor::Binding;
use crate::endpoint::{NEEDS, Watched};
use crate::lines::accepts_lines;
use crate::query::{PageSize, Query};
use vocabulary::{is_event, is_target_type};

/// `GET /v1/audit` in each of its forms.
pub(crate) struct Log;

/// What each query's row says.
const HAPPENED: &str = "queried";

static PAGES: Watched = Watched {
    answer: page,
    happened: HAPPENED,
};

impl Handler for Log {
    fn name(&self) -> &'static str {
        "control"
    }

    fn needs(&self) -> &'static [Fact] {
        NEEDS
    }

    fn handle(&self, exchange: Exchange) -> BoxFuture<'static, Response> {
        match stream_form(&exchange) {
            Some(form) => Box::pin(export::serve(exchange, form)),
            None => PAGES.handle(exchange),
        }
    }
}

/// How every matching row is streamed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Rows with their proofs, one JSON object a line.
    Lines,
    /// OCSF events, one a line.
    OcsfLines,
    Csv,
}

/// What `format` may say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Ocsf,
    Csv,
}

impl Format {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "json" => Some(Self::Json),
            "ocsf" => Some(Self::Ocsf),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// The stream that is asked for; `None` for a page. What `format` says wrongly is a page's to refuse.
fn stream_form(exchange: &Exchange) -> Option<Form> {
    let head = &exchange.head;
    let mut query = Query::parse(&head.path, head.query.as_deref());
    let format = query.one("format", &mut Problems::default());
    match format.as_deref().and_then(Format::parse) {
        Some(Format::Csv) => Some(Form::Csv),
        Some(Format::Ocsf) if accepts_lines(&head.headers) => Some(Form::OcsfLines),
        None | Some(Format::Json) if accepts_lines(&head.headers) => Some(Form::Lines),
        _ => None,
    }
}

/// A row as it is shown: with its place in the tree, once it has one.
pub(crate) fn shown(row: Listed) -> Value {
    let mut document = row.document;
    if let Some(document) = document.as_object_mut() {
        document.insert(INTEGRITY.to_owned(), integrity(row.leaf.as_ref()));
    }
    document
}

fn integrity(leaf: Option<&Leaf>) -> Value {
    leaf.map_or(
        Value::Null,
        |leaf| json!({"leaf_index": leaf.index, "leaf_hash": hex::encode(leaf.hash)}),
    )
}

/// Contract 1.4.
const PAGE: PageSize = PageSize {
    default: 50,
    most: 1_000,
};
/// Events that one query may name.
const MAX_EVENTS: usize = 50;
const RESULTS: [&str; 5] = ["success", "denied", "failure", "cancelled", "unknown"];

fn page(mut call: Call) -> Answering {
    Box::pin(async move {
        let mut problems = Problems::default();
        let mut query = std::mem::take(&mut call.query);
        let binding = Binding::of(&call)?;
        let asked = shown_filters(&query, &call.policy.catalogue);
        let filter = filter(&mut query, &mut problems);
        let format = query.word("format", Format::parse, &mut problems);
        let page = query.page_between(("from", "to"), PAGE, &binding, &mut problems);
        query.end(&mut problems);
        problems.into_result()?;
        let caller = &call.caller;
        let (store, organization) = (&call.gateway.store, &caller.organization_id);
        let found = audit::list(store, organization, caller.mode, &filter, &page).await;
        let found = found.map_err(|error| store_fault(&error))?;
        let count = found.rows.len();
        let rows = found.rows.into_iter().map(shown);
        let rows = rows.map(|row| match format {
            Some(Format::Ocsf) => ocsf::event(&row),
            _ => row,
        });
        let pagination = query.pagination(&page, &binding, found.next.as_ref());
        let reply = Reply::page(rows.collect(), pagination);
        Ok(reply.detail("filters", asked).detail("rows", json!(count)))
    })
}

/// What was asked for, as rows say it. They are kept for years: a value that is neither a word of ours nor an id nor a
/// time was typed by somebody, and is not repeated.
fn shown_filters(query: &Query, catalogue: &Catalogue) -> Value {
    query.shown(|name, value| match name {
        "actor_id" | "request_id" | "target_id" => id::is_id(value),
        "model" => catalogue.find(value).is_some(),
        "from" | "to" => Timestamp::parse(value).is_some(),
        "limit" | "since_size" => {
            value.len() <= MAX_DIGITS && value.bytes().all(|byte| byte.is_ascii_digit())
        }
        "event" => is_event(value),
        "target_type" => is_target_type(value),
        // Whatever is not a word of ours was refused.
        "actor_type" | "surface" | "result" | "phi_detected" | "order" | "format" => true,
        _ => false,
    })
}

/// Of a position in the log.
const MAX_DIGITS: usize = 12;

fn filter(query: &mut Query, problems: &mut Problems) -> Filter {
    let named =
        |is_known: fn(&str) -> bool| move |word: &str| is_known(word).then(|| word.to_owned());
    let events = query.words("event", named(is_event), problems);
    if events.len() > MAX_EVENTS {
        problems.add(
            "$query.event",
            format!("must be named at most {MAX_EVENTS} times"),
        );
    }
    let known = |words: &'static [&'static str]| {
        move |word: &str| words.contains(&word).then(|| word.to_owned())
    };
    Filter {
        events,
        actor_ids: query.one("actor_id", problems).into_iter().collect(),
        actor_type: query.word("actor_type", actor, problems),
        request_id: query.one("request_id", problems),
        target_type: query.word("target_type", named(is_target_type), problems),
        target_id: query.one("target_id", problems),
        result: query.word("result", known(&RESULTS), problems),
        surface: query.word("surface", surface, problems),
        model: query.one("model", problems),
        phi_detected: query.word("phi_detected", truth, problems),
        order: query.word("order", order, problems).unwrap_or_default(),
    }
}

fn actor(word: &str) -> Option<String> {
    let mut kinds = ActorKind::ALL.iter();
    kinds
        .any(|kind| kind.word() == word)
        .then(|| word.to_owned())
}

fn surface(word: &str) -> Option<String> {
    Surface::parse(word).map(|surface| surface.word().to_owned())
}

fn truth(word: &str) -> Option<bool> {
    match word {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn order(word: &str) -> Option<Order> {
    match word {
        "desc" => Some(Order::NewestFirst),
        "asc" => Some(Order::OldestFirst),
        _ => None,
    }
}
