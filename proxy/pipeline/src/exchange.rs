//! An exchange: one request on its way through filters to its handler, and what is known about it.

use std::sync::Arc;
use std::time::Instant;

use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Map, Value};
use svc_core::chat::ChatRequest;
use svc_core::fault::{Code, Fault};
use svc_core::json;
use svc_core::surface::{Places, Surface};
use svc_core::time::Timestamp;
use svc_core::version::ApiVersion;
use svc_store::audit::Target;

use crate::budget::Reservation;
use crate::caller::Caller;
use crate::conversation::Thread;
use crate::gateway::Gateway;
use crate::inside::Witness;
use crate::limiter::Slot;
use crate::phi::Scan;
use crate::policy::PolicySet;
use crate::policy::pipelines::{Access, Route};
use crate::request::{BodyReader, RequestHead};
use crate::response::{Body, Response};
use crate::trail::Trail;

/// Carries the request id on every response (spec, Success envelope).
pub const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
/// The same for SDKs of the chat-completions surface, which read no other (wire.md 3).
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Overrides what SDKs make of a status: `false` where another try helps nobody (wire.md 1).
pub const X_SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
/// Names a dated version, on requests and on responses that came as far (contract 5).
pub const SVC_VERSION: HeaderName = HeaderName::from_static("svc-version");

/// One request, from its head to its response. Dropping it is a disconnect: the trail then settles by itself.
pub struct Exchange {
    pub gateway: Arc<Gateway>,
    /// Pinned when the head came, and once more when a body that was waited for is whole ([`crate::arrival`]): a reload
    /// never changes the rules between.
    pub policy: Arc<PolicySet>,
    pub route: Arc<Route>,
    /// What the caller speaks, and what its errors look like.
    pub surface: Surface,
    /// What stands in the places of the route's path, by name.
    pub parameters: Vec<(String, String)>,
    pub request_id: String,
    /// The time by which it is judged: when its head came, and from its body on, when that was whole.
    pub now: Timestamp,
    pub head: RequestHead,
    /// Read with [`Self::read_body`](crate::arrival).
    pub(crate) body: BodyReader,
    /// Whether the body came so long after its head that what was found out before it may hold no more.
    pub(crate) is_late: bool,
    /// When it was last found out who asks and what holds for them.
    pub(crate) judged: Instant,
    /// Headers that the response will carry whatever it says.
    pub headers: HeaderMap,
    pub facts: Facts,
    pub trail: Trail,
}

/// What filters have established. Policy loading proves that a fact is there where it is asked for; asking
/// for one that is not is an internal error, never a gate left open.
#[derive(Default)]
pub struct Facts {
    pub caller: Option<Arc<Caller>>,
    /// Whether the request counts against the caller's limits by now.
    pub is_counted: bool,
    /// Given back when the exchange ends, whichever way.
    pub slot: Option<Slot>,
    pub version: Option<ApiVersion>,
    pub chat: Option<ChatRequest>,
    /// Where the chat stands in the body.
    pub places: Option<Places>,
    pub thread: Option<Thread>,
    /// Index into the pinned catalogue.
    pub model: Option<usize>,
    pub scan: Option<Scan>,
    /// Of the organization's lists that PHI Guard read by.
    pub lists_revision: i64,
    /// Whoever is to see what the provider receives: the person at the playground who typed it.
    pub witness: Option<Witness>,
}

/// The fact that a step relies on.
///
/// # Errors
/// 500 when no filter has given it.
pub fn given<T>(fact: Option<T>, name: &str) -> Result<T, Fault> {
    fact.ok_or_else(|| Fault::internal(format_args!("no filter gave {name}")))
}

impl Exchange {
    /// A fault as a response, after its audit rows are written. A refusal that cannot be audited is
    /// answered as unavailable: audit fails closed.
    pub async fn refuse(mut self, fault: Fault) -> Response {
        let fault = match self.trail.refuse(&fault, self.surface).await {
            Ok(()) => fault,
            Err(unavailable) => unavailable,
        };
        self.fault_response(&fault)
    }

    /// Writes the row of what an endpoint is about to do outside; from then on it is owed its end, which
    /// [`Trail::conclude`] writes, and every other way out.
    ///
    /// # Errors
    /// 503 when it could not be written: what is not in the log does not happen.
    pub async fn intend(
        &mut self,
        target: Target,
        details: Map<String, Value>,
    ) -> Result<(), Fault> {
        let caller = given(self.facts.caller.as_ref(), "the caller")?;
        let nothing = Reservation::new(caller, &self.policy.plans, None, self.now);
        self.trail.reserves(nothing);
        self.trail.intend(target, details).await
    }

    /// A fault as a response, without any audit.
    pub fn fault_response(&self, fault: &Fault) -> Response {
        log_fault(fault, &self.request_id, &self.route.path);
        let mut response = fault_response(self.surface, fault, &self.request_id);
        for (name, value) in &self.headers {
            response.headers.insert(name, value.clone());
        }
        response
    }

    /// A JSON response with the headers gained on the way.
    pub fn json(&self, status: StatusCode, body: &Value) -> Response {
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        finish_headers(&mut headers, &self.request_id, self.surface);
        Response {
            status,
            headers,
            body: Body::Full(json::bytes(body).into()),
        }
    }

    /// Any other response, with the headers gained on the way.
    pub fn respond(&self, status: StatusCode, own: HeaderMap, body: Body) -> Response {
        let mut headers = self.headers.clone();
        headers.extend(own);
        finish_headers(&mut headers, &self.request_id, self.surface);
        Response {
            status,
            headers,
            body,
        }
    }

    /// What stands in the path under this name ([`Matched::Route`]); empty where the route has none of it.
    ///
    /// [`Matched::Route`]: crate::policy::pipelines::Matched::Route
    pub fn parameter(&self, name: &str) -> &str {
        self.parameters
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }
}

/// Headers of every response (contract 1.3).
pub fn finish_headers(headers: &mut HeaderMap, request_id: &str, surface: Surface) {
    if let Ok(value) = HeaderValue::from_str(request_id) {
        if surface == Surface::ChatCompletions {
            headers.insert(X_REQUEST_ID, value.clone());
        }
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

/// A fault as a surface shows it, for requests that never became an exchange too.
pub fn fault_response(surface: Surface, fault: &Fault, request_id: &str) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    finish_headers(&mut headers, request_id, surface);
    if fault.retryable
        && let Some(seconds) = fault.retry_after_seconds()
    {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    let status = surface.status(fault.code);
    if surface != Surface::Native && !worth_retrying(fault, status) {
        headers.insert(X_SHOULD_RETRY, HeaderValue::from_static("false"));
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(
            WWW_AUTHENTICATE,
            HeaderValue::from_static("Bearer realm=\"svc\""),
        );
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Response {
        status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        headers,
        body: Body::Full(json::bytes(&surface.error_body(fault, request_id)).into()),
    }
}

/// Official SDKs retry 409, 429 and 5xx by themselves, and some sleep for as long as they are told; the header
/// says where that helps nobody (wire.md 3).
fn worth_retrying(fault: &Fault, status: u16) -> bool {
    let retried_by_sdks = status == 409 || status == 429 || status >= 500;
    let wait_seconds = fault.retry_after_seconds().unwrap_or_default();
    !retried_by_sdks || fault.retryable && wait_seconds <= LONGEST_USEFUL_WAIT_SECONDS
}

/// 60 s: what an SDK may sleep through before its user had better hear of it (wire.md 3).
pub(crate) const LONGEST_USEFUL_WAIT_SECONDS: u64 = 60;

/// The answer to a path without a route (contract 2.1).
pub fn not_found(request_id: &str, surface: Surface) -> Response {
    let fault = Fault::new(Code::NotFound, "There is no such route.");
    let mut response = fault_response(surface, &fault, request_id);
    // SDKs of the chat-completions surface ask for paths that are none of its own (`/v1/responses`), and know a request
    // by this name alone.
    if let Ok(value) = HeaderValue::from_str(request_id) {
        response.headers.insert(X_REQUEST_ID, value);
    }
    response
}

/// The answer to a route without this method (contract 2.2).
pub fn method_not_allowed(
    request_id: &str,
    surface: Surface,
    allow: &[Method],
    access: Access,
) -> Response {
    let mut response = fault_response(surface, &Code::MethodNotAllowed.fault(), request_id);
    let allow = allow
        .iter()
        .map(Method::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if let Ok(allow) = HeaderValue::from_str(&allow) {
        response.headers.insert(ALLOW, allow);
    }
    // Caches keep a 405 where nothing says otherwise (RFC 9110, 15.1).
    if access != Access::Own {
        let value = HeaderValue::from_static("no-store");
        response.headers.insert(CACHE_CONTROL, value);
    }
    response
}

/// Where a fault is handled, it is logged, once: code, request and cause, never content.
pub fn log_fault(fault: &Fault, request_id: &str, route: &str) {
    let code = fault.code.word();
    if fault.code.row().status >= 500 {
        tracing::error!(
            request_id,
            route,
            code,
            cause = fault.cause(),
            "request failed"
        );
    } else {
        tracing::debug!(
            request_id,
            route,
            code,
            cause = fault.cause(),
            "request refused"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sdks_repeat_what_a_short_wait_cures() {
        let limited = |seconds| Code::RateLimited.fault().retry_after(seconds);
        assert!(worth_retrying(&limited(60), 429));
        assert!(!worth_retrying(&limited(61), 429));
        assert!(!worth_retrying(&Code::BudgetExceeded.fault(), 429));
        // They leave it alone by themselves.
        assert!(worth_retrying(&Code::ValidationFailed.fault(), 422));
    }
}
