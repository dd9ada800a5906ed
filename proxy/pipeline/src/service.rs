//! The entrance: a request head and a body reader in, a response out.

use std::sync::Arc;
use std::time::Instant;

use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue};
use svc_core::fault::{Code, Fault};
use svc_core::id::IdKind;
use svc_core::surface::Surface;
use svc_store::tenant;

use tracing::Instrument;

use crate::exchange::{Exchange, Facts, fault_response, method_not_allowed, not_found};
use crate::filter::{Filter, limits};
use crate::gateway::Gateway;
use crate::moment;
use crate::policy::pipelines::{Matched, Route, Routes};
use crate::request::{BodyReader, RequestHead};
use crate::response::Response;
use crate::trail::Trail;

/// Serves one request. Dropping the future is a disconnect.
pub async fn serve(gateway: Arc<Gateway>, head: RequestHead, body: BodyReader) -> Response {
    let policy = gateway.policies.current();
    let request_id = head.request_id.clone();
    match policy.routes.find(&head.method, &head.path) {
        Matched::Nothing => {
            let surface = surface_of(&policy.routes, &head.path, &head.headers);
            counted(&gateway, "none", not_found(&request_id, surface))
        }
        Matched::OtherMethods { allow, access } => {
            let surface = surface_of(&policy.routes, &head.path, &head.headers);
            let response = method_not_allowed(&request_id, surface, &allow, access);
            counted(&gateway, "none", response)
        }
        Matched::Route { route, parameters } => {
            let surface = route.surface(&head.headers);
            let trail = Trail::new(
                Arc::clone(&gateway),
                &route,
                surface,
                &request_id,
                &head,
                policy.epoch,
            );
            let exchange = Exchange {
                gateway: Arc::clone(&gateway),
                policy,
                route: Arc::clone(&route),
                surface,
                parameters,
                request_id,
                now: moment::now(),
                head,
                body,
                is_late: false,
                judged: Instant::now(),
                headers: HeaderMap::new(),
                facts: Facts::default(),
                trail,
            };
            let span = tracing::trace_span!(
                target: TRACES,
                "request",
                otel.name = %route.path,
                otel.kind = "server",
                request_id = exchange.request_id,
            );
            if let Some(join_trace) = exchange.gateway.join_trace {
                join_trace(&span, &exchange.head.headers);
            }
            let response = run(exchange, &route).instrument(span).await;
            counted(&gateway, &route.path, response)
        }
    }
}

/// Target of the spans that go to the trace exporter. They are below every log level that an operator runs
/// with, so that logs do not repeat them.
pub const TRACES: &str = "svc::trace";

/// Every filter in order, then the handler. From the filter on that finds out who the caller is, everything is done
/// in the name of the caller's organization.
async fn run(mut exchange: Exchange, route: &Route) -> Response {
    let mut filters = route.filters.iter();
    let mut clock = Instant::now();
    while exchange.facts.caller.is_none()
        && let Some(filter) = filters.next()
    {
        if let Err(fault) = apply(*filter, &mut exchange, &mut clock).await {
            return exchange.refuse(fault).await;
        }
    }
    let Some(caller) = &exchange.facts.caller else {
        return route.handler.handle(exchange).await;
    };
    let caller = Arc::clone(caller);
    tenant::within(&caller.organization_id, async move {
        for filter in filters {
            if let Err(fault) = apply(*filter, &mut exchange, &mut clock).await {
                if !exchange.facts.is_counted {
                    Box::pin(limits::count(&mut exchange)).await;
                }
                return exchange.refuse(fault).await;
            }
        }
        route.handler.handle(exchange).await
    })
    .await
}

/// `clock`: when the filter before ended, and after this one, when it did.
async fn apply(
    filter: &dyn Filter,
    exchange: &mut Exchange,
    clock: &mut Instant,
) -> Result<(), Fault> {
    let span = tracing::trace_span!(target: TRACES, "filter", otel.name = filter.name());
    let outcome = filter.apply(exchange).instrument(span).await;
    let now = Instant::now();
    let spent = now.duration_since(std::mem::replace(clock, now));
    exchange.gateway.metrics.filtered(filter.name(), spent);
    outcome
}

fn counted(gateway: &Gateway, route: &str, response: Response) -> Response {
    gateway
        .metrics
        .requests
        .with_label_values(&[route, response.status.as_str()])
        .inc();
    response
}

/// The answer to a request that nobody serves, or nobody serves any more (a head or a body that is no HTTP, a panic,
/// the end of the process), as its path's surface shows it. The rows of a request that ran have the same id.
pub fn refuse(
    gateway: &Gateway,
    request_id: Option<&str>,
    path: &str,
    headers: &HeaderMap,
    fault: &Fault,
) -> Response {
    let surface = surface_of(&gateway.policies.current().routes, path, headers);
    let mut response = match request_id {
        Some(id) => fault_response(surface, fault, id),
        None => fault_response(surface, fault, &moment::id(IdKind::Request)),
    };
    let no_store = HeaderValue::from_static("no-store");
    response.headers.insert(CACHE_CONTROL, no_store);
    response
}

/// The surface of a request that is no exchange. An unknown path below a compat surface's own paths gets that surface's
/// error shape.
fn surface_of(routes: &Routes, path: &str, headers: &HeaderMap) -> Surface {
    if let Some(surface) = routes.surface(path, headers) {
        surface
    } else if path.starts_with("/v1/messages") {
        Surface::Messages
    } else if path.starts_with("/v1/chat/completions") {
        Surface::ChatCompletions
    } else {
        Surface::Native
    }
}

/// The answer of an endpoint whose work broke (a panic).
pub fn internal_error() -> Response {
    let fault = Code::InternalError.fault();
    let request_id = moment::id(IdKind::Request);
    fault_response(Surface::Native, &fault, &request_id)
}
