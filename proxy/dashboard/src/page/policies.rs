//! The policies in force: their epoch, what kept newer files from taking their place, and the way of every route.

use askama::Template;
use http::StatusCode;
use svc_pipeline::exchange::Exchange;

use crate::frame::{Answering, html};
use crate::menu::Layout;
use crate::session::Visitor;

/// A pipeline with the routes that run it.
struct Way {
    routes: Vec<String>,
    steps: Vec<&'static str>,
    end: &'static str,
}

#[derive(Template)]
#[template(path = "policies.html")]
struct Policies {
    layout: Layout,
    epoch: i64,
    digest: String,
    refused: Vec<String>,
    detectors: Vec<String>,
    ways: Vec<Way>,
}

pub(crate) fn show<'a>(exchange: &'a mut Exchange, visitor: &'a Visitor) -> Answering<'a> {
    Box::pin(async move {
        let policy = &exchange.policy;
        let refused = exchange.gateway.policies.refused();
        let mut ways: Vec<Way> = Vec::new();
        // Pages run no filters, and are drawn by being looked at.
        let routes = policy.routes.all().iter();
        for route in routes.filter(|route| !route.path.starts_with("/ui")) {
            let steps: Vec<&'static str> = route.filters.iter().map(|step| step.name()).collect();
            let label = format!("{} {}", route.method, route.path);
            let end = route.handler.name();
            match ways
                .iter_mut()
                .find(|way| way.steps == steps && way.end == end)
            {
                Some(way) => way.routes.push(label),
                None => ways.push(Way {
                    routes: vec![label],
                    steps,
                    end,
                }),
            }
        }
        ways.sort_by_key(|way| std::cmp::Reverse(way.steps.len()));
        let page = Policies {
            layout: Layout::new(exchange, visitor, "Policies"),
            epoch: policy.epoch,
            digest: policy.digest.clone(),
            refused: refused.iter().map(ToString::to_string).collect(),
            detectors: policy.phi.detectors.clone(),
            ways,
        };
        html(exchange, StatusCode::OK, &page)
    })
}
