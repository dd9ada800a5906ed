//! The entrance: a request head and a body reader in, a response out.

use std::sync::Arc;
use std::time::Instant;

use http::HeaderMap;
use svc_core::fault::Code;
use svc_core::id::IdKind;
use svc_core::surface::Surface;

use crate::exchange::{Exchange, Facts, fault_response, method_not_allowed, not_found};
use crate::gateway::Gateway;
use crate::moment;
use crate::policy::pipelines::{Matched, Route};
use crate::request::{BodyReader, RequestHead};
use crate::response::Response;
use crate::trail::Trail;

/// Serves one request. Dropping the future is a disconnect.
pub async fn serve(gateway: Arc<Gateway>, head: RequestHead, body: BodyReader) -> Response {
    let policy = gateway.policies.current();
    let request_id = moment::id(IdKind::Request);
    match policy.routes.find(&head.method, &head.path) {
        Matched::Nothing => counted(&gateway, "none", not_found(&request_id, &head.path)),
        Matched::OtherMethods { allow, surface } => counted(
            &gateway,
            "none",
            method_not_allowed(&request_id, surface, &allow),
        ),
        Matched::Route { route, parameters } => {
            let started_at = moment::now();
            let trail = Trail::new(
                Arc::clone(&gateway),
                &route,
                &request_id,
                &head,
                policy.epoch,
            );
            let exchange = Exchange {
                gateway: Arc::clone(&gateway),
                policy,
                route: Arc::clone(&route),
                parameters,
                request_id,
                started_at,
                head,
                body,
                headers: HeaderMap::new(),
                facts: Facts::default(),
                trail,
            };
            counted(&gateway, &route.path, run(exchange, &route).await)
        }
    }
}

/// Every filter in order, then the handler.
async fn run(mut exchange: Exchange, route: &Route) -> Response {
    for filter in &route.filters {
        let began = Instant::now();
        let outcome = filter.apply(&mut exchange).await;
        let spent = exchange
            .gateway
            .metrics
            .filter_seconds
            .with_label_values(&[filter.name()]);
        spent.observe(began.elapsed().as_secs_f64());
        if let Err(fault) = outcome {
            return exchange.refuse(fault).await;
        }
    }
    route.handler.handle(exchange).await
}

fn counted(gateway: &Gateway, route: &str, response: Response) -> Response {
    gateway
        .metrics
        .requests
        .with_label_values(&[route, response.status.as_str()])
        .inc();
    response
}

/// The answer when the service itself broke (a panic): the edge sends it where nothing was sent yet.
pub fn internal_error() -> Response {
    let fault = Code::InternalError.fault();
    let request_id = moment::id(IdKind::Request);
    fault_response(Surface::Native, &fault, &request_id)
}
