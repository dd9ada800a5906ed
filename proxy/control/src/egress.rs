//! Dispatch through a binding: the caller names an alias and a path, the gateway adds base address and secret
//! (contract 11 and 15.4). The caller never sees the secret, the service never sees the caller's key. Answers are
//! read whole before anything is passed on: a broken one is an error, never a short success.

mod headers;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Map, Value};
use svc_core::fault::{Code, Fault, invalid};
use svc_pipeline::exchange::{Exchange, finish_headers, given};
use svc_pipeline::fact::Fact;
use svc_pipeline::handler::Handler;
use svc_pipeline::integration::{PATH_NOT_ALLOWED, Ready, Unusable, Way};
use svc_pipeline::response::{Body, Response};
use svc_pipeline::trail::Entry;
use svc_pipeline::upstream::{OutboundRequest, Reached, Repetition, Unread, UpstreamError, whole};
use svc_pipeline::{feature, moment};
use svc_store::audit::Target;

use crate::bindings::DEFAULT_PROJECT;
use crate::call::missing;

/// `/v1/egress/{project}/{alias}/{*path}`.
pub(crate) struct Egress;

/// Tells an answer of the service from one of the gateway: the alias that it came through.
const SVC_INTEGRATION: HeaderName = HeaderName::from_static("svc-integration");

/// Longest answer; it is held whole.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

impl Handler for Egress {
    fn name(&self) -> &'static str {
        "egress"
    }

    fn needs(&self) -> &'static [Fact] {
        &[
            Fact::Caller,
            Fact::Version,
            Fact::Authorized,
            Fact::Delegated,
            Fact::Admitted,
        ]
    }

    fn handle(&self, mut exchange: Exchange) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            match dispatch(&mut exchange).await {
                Ok(response) => response,
                Err(fault) => exchange.refuse(fault).await,
            }
        })
    }
}

async fn dispatch(exchange: &mut Exchange) -> Result<Response, Fault> {
    let limit_bytes = exchange.gateway.settings.egress_body_bytes;
    let body = exchange.read_body(limit_bytes).await?;
    let caller = given(exchange.facts.caller.clone(), "the caller")?;
    let path = format!("/{}", exchange.parameter("path"));
    if !is_safe(&path) {
        return Err(invalid(
            "$path",
            "must be a plain path without dot segments",
        ));
    }
    let project = match exchange.parameter("project") {
        DEFAULT_PROJECT => caller.default_project_id.clone(),
        named => named.to_owned(),
    };
    let gateway = exchange.gateway.clone();
    let bound = gateway.bindings.of(&gateway, &caller).await?;
    let way = bound.find(&project, exchange.parameter("alias"));
    let way = way.ok_or_else(missing)?;
    feature::integrations(&caller, &exchange.policy.plans)?;
    if !way.allows(&path) {
        let fault = Fault::new(Code::NotFound, "The binding does not allow this path.");
        return Err(fault.detail("reason", PATH_NOT_ALLOWED));
    }
    let ready = way.state.as_ref().map_err(|unusable| cannot(*unusable))?;
    let request = outbound(exchange, ready, path, body);
    let mut details = minutes(way, &request);
    exchange.intend(target(way), details.clone()).await?;
    way.touch(&gateway, moment::now());
    let answer = gateway.connector.send(ready.target.clone(), request).await;
    let answer = answer.map_err(unanswered)?;
    let body = whole(answer.body, MAX_ANSWER_BYTES).await.map_err(unread)?;
    let body = Bytes::from(body);
    details.insert("response_bytes".into(), body.len().into());
    let entry = Entry {
        event: "integration.dispatched".to_owned(),
        target: Some(target(way)),
        status: answer.status.as_u16(),
        details,
    };
    exchange.trail.conclude(entry).await?;
    Ok(response(
        exchange,
        way,
        answer.status,
        &answer.headers,
        body,
    ))
}

fn target(way: &Way) -> Target {
    Target {
        kind: "integration_credential".to_owned(),
        id: way.integration_id.clone(),
    }
}

/// What the rows say of a call: never its path, which may name a patient.
fn minutes(way: &Way, request: &OutboundRequest) -> Map<String, Value> {
    let mut details = Map::new();
    details.insert("binding_id".into(), way.binding_id.as_str().into());
    details.insert("alias".into(), way.alias.as_str().into());
    details.insert("request_bytes".into(), request.body.len().into());
    details
}

fn cannot(unusable: Unusable) -> Fault {
    match unusable {
        Unusable::Stale => invalid("alias", "its credential is revoked"),
        Unusable::Forbidden => invalid("alias", "its address is not allowed"),
    }
}

/// Whether a path is what it looks like: no dot segments, with parameters behind them or not, no empty ones, nothing
/// encoded that a service might read as either.
pub(crate) fn is_safe(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let hides = ["%2e", "%2f", "%5c", "%00", "%25", "%3b"];
    let segments = || path.split('/').skip(1);
    path.bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && !hides.iter().any(|hidden| lower.contains(hidden))
        && !segments().any(|segment| matches!(segment.split(';').next(), Some("." | "..")))
        && !path.contains("//")
}

fn outbound(exchange: &Exchange, ready: &Ready, path: String, body: Bytes) -> OutboundRequest {
    let (name, value) = &ready.header;
    let mut headers = headers::passed_on(&exchange.head.headers, name);
    headers.insert(name, value.clone());
    OutboundRequest {
        method: exchange.head.method.clone(),
        path_and_query: match &exchange.head.query {
            Some(query) => format!("{path}?{query}"),
            None => path,
        },
        headers,
        body,
        repetition: Repetition::of(&exchange.head.method),
        reached: Reached::default(),
    }
}

/// A service that gave no answer. Whether a repetition is harmless is known only where nothing was sent.
fn unanswered(error: UpstreamError) -> Fault {
    let message = "The integration did not answer.";
    let fault = Fault::new(Code::InferenceUpstreamFailure, message).from_provider();
    let fault = fault.detail("reason", error.word()).because(error);
    if error.before_sending() && error != UpstreamError::Forbidden {
        fault
    } else {
        fault.never_retry()
    }
}

fn unread(error: Unread) -> Fault {
    match error {
        Unread::TooLong => {
            let message = "The integration's answer is too long.";
            let fault = Fault::new(Code::InferenceUpstreamFailure, message).from_provider();
            fault.detail("reason", "body_too_large").never_retry()
        }
        Unread::Upstream(error) => unanswered(error),
    }
}

/// The answer, with the gateway's own headers in place of any of the same name.
fn response(
    exchange: &Exchange,
    way: &Way,
    status: StatusCode,
    answered: &HeaderMap,
    body: Bytes,
) -> Response {
    let body = match exchange.head.method {
        Method::HEAD => Body::Untold {
            length: length(answered),
        },
        _ => Body::Full(body),
    };
    let mut headers = headers::handed_back(answered);
    for (name, value) in &exchange.headers {
        headers.insert(name, value.clone());
    }
    if let Ok(alias) = HeaderValue::from_str(&way.alias) {
        headers.insert(SVC_INTEGRATION, alias);
    }
    finish_headers(&mut headers, &exchange.request_id, exchange.surface);
    Response {
        status,
        headers,
        body,
    }
}

/// What a service says that GET would bring; it has nothing that we could count (RFC 9110, 8.6).
fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_what_it_looks_like() {
        for path in ["/fhir/Patient", "/fhir/Patient/1%20a", "/a.b/c..d", "/x/"] {
            assert!(is_safe(path), "{path}");
        }
        for path in [
            "/../x",
            "/a/..",
            "/./x",
            "/a/..;/x",
            "/a/..;v=1/x",
            "/a/..%3b/x",
            "/a//b",
            "//b",
            "/%2e%2e/x",
            "/a%2Fb",
            "/a%5cb",
            "/a\\b",
            "/%252e/x",
            "/a b",
            "/é",
        ] {
            assert!(!is_safe(path), "{path}");
        }
    }
}
