//! Addresses under `/ui` that are no page: of old links, of forms, and `/ui/` as people type it.

use http::Method;
use svc_core::fault::Code;
use svc_pipeline::exchange::Exchange;
use svc_pipeline::policy::pipelines::Matched;

use crate::frame::{Answering, NO_PAGE};
use crate::redirect::see_other;

pub(crate) fn show(_: &mut Exchange) -> Answering<'_> {
    Box::pin(async { Err(Code::NotFound.fault()) })
}

/// `/ui/`, as people type it.
pub(crate) fn without_slash(exchange: &mut Exchange) -> Answering<'_> {
    Box::pin(async { Ok(see_other(exchange, "/ui")) })
}

/// The address of a form, which somebody goes to again after it was refused.
pub(crate) fn above_form(exchange: &mut Exchange) -> Answering<'_> {
    Box::pin(async {
        let page = above(exchange, &exchange.head.path);
        Ok(see_other(exchange, page))
    })
}

/// The page at an address, or the nearest above it.
pub(crate) fn above<'a>(exchange: &Exchange, mut path: &'a str) -> &'a str {
    let routes = &exchange.policy.routes;
    loop {
        let is_page = match routes.find(&Method::GET, path) {
            Matched::Route { route, .. } => route.handler.name() != NO_PAGE,
            Matched::OtherMethods { .. } | Matched::Nothing => false,
        };
        if is_page {
            return path;
        }
        match path.rsplit_once('/') {
            Some((parent, _)) => path = parent,
            None => return "/ui",
        }
    }
}
