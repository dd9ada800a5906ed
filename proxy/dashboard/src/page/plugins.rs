//! The plugins that this gateway runs: detectors and drivers, their versions and how they stand.

use askama::Template;
use http::StatusCode;
use svc_pipeline::exchange::Exchange;

use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::session::Visitor;
use crate::show::{self, Clock};

struct Line {
    id: String,
    state: &'static str,
    colour: &'static str,
    kind: String,
    version: String,
    digest: String,
    loaded_at: Option<Clock>,
    is_signed: bool,
    last_error: Option<String>,
    /// Newest first: when, which version, what happened.
    history: Vec<(Clock, String, String)>,
}

#[derive(Template)]
#[template(path = "plugins.html")]
struct Plugins {
    layout: Layout,
    plugins: Vec<Line>,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let plugins = exchange.gateway.plugins.status().into_iter().map(|plugin| {
            let state = plugin.state.word();
            let serving = plugin.serving;
            let history = plugin.history.into_iter().rev();
            Line {
                id: plugin.id,
                state,
                colour: match state {
                    "ready" => "good",
                    "refused" => "wrong",
                    _ => "warn",
                },
                kind: serving
                    .as_ref()
                    .map_or_else(String::new, |version| version.kind.word().to_owned()),
                version: serving
                    .as_ref()
                    .map_or_else(|| "–".to_owned(), |version| version.version.clone()),
                digest: serving
                    .as_ref()
                    .map_or_else(String::new, |version| version.digest.clone()),
                loaded_at: serving
                    .as_ref()
                    .map(|version| show::instant(version.loaded_at)),
                is_signed: serving.as_ref().is_some_and(|version| version.signed),
                last_error: plugin.last_error,
                history: history
                    .map(|event| (show::instant(event.at), event.version, event.event))
                    .collect(),
            }
        });
        let page = Plugins {
            plugins: plugins.collect(),
            layout: Layout::new(exchange, visitor, "Plugins"),
        };
        html(exchange, StatusCode::OK, &page)
    })
}
