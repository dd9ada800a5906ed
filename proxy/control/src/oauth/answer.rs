//! Answers of the endpoints that applications call, in the words of RFC 6749, 5.2: not the native envelope.

use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, PRAGMA, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};
use svc_core::fault::{Code, Fault};
use svc_pipeline::exchange::{Exchange, log_fault};
use svc_pipeline::response::{Body, Response};
use svc_store::StoreError;

/// A refusal. Its description repeats nothing of the request.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    error: &'static str,
    description: &'static str,
    challenge: Option<&'static str>,
    retry_after_seconds: Option<u64>,
    /// For the log.
    fault: Option<Box<Fault>>,
}

/// 1 s: what a client waits that finds the store down (contract 3.2).
const STORE_DOWN_SECONDS: u64 = 1;

impl Refusal {
    const fn new(status: StatusCode, error: &'static str, description: &'static str) -> Self {
        Self {
            status,
            error,
            description,
            challenge: None,
            retry_after_seconds: None,
            fault: None,
        }
    }

    pub(super) const fn invalid_request(description: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", description)
    }

    pub(super) const fn invalid_grant(description: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_grant", description)
    }

    pub(super) const fn unsupported_grant_type() -> Self {
        let description = "grant_type must be authorization_code";
        Self::new(
            StatusCode::BAD_REQUEST,
            "unsupported_grant_type",
            description,
        )
    }

    /// One description for every reason: which of them it was is nobody's business.
    pub(super) fn invalid_client() -> Self {
        let description = "The client is unknown, revoked, or has not shown who it is.";
        let refusal = Self::new(StatusCode::UNAUTHORIZED, "invalid_client", description);
        Self {
            challenge: Some("Basic realm=\"svc\""),
            ..refusal
        }
    }

    /// RFC 6750, 3.1.
    pub(super) fn insufficient_scope() -> Self {
        let description = "The key lacks the scope control:read.";
        let refusal = Self::new(StatusCode::FORBIDDEN, "insufficient_scope", description);
        Self {
            challenge: Some(
                "Bearer realm=\"svc\", error=\"insufficient_scope\", scope=\"control:read\"",
            ),
            ..refusal
        }
    }

    /// RFC 6749 has no word for it (contract 16.4).
    pub(super) fn limited(seconds: u64) -> Self {
        let description = "Too many requests of this client.";
        let status = StatusCode::TOO_MANY_REQUESTS;
        let refusal = Self::new(status, "temporarily_unavailable", description);
        Self {
            retry_after_seconds: Some(seconds),
            ..refusal
        }
    }

    pub(super) fn store(error: &StoreError) -> Self {
        let fault = crate::call::store_fault(error);
        if error.is_outage() {
            let description = "The service is temporarily unavailable.";
            let status = StatusCode::SERVICE_UNAVAILABLE;
            let refusal = Self::new(status, "temporarily_unavailable", description);
            Self {
                retry_after_seconds: Some(STORE_DOWN_SECONDS),
                fault: Some(Box::new(fault)),
                ..refusal
            }
        } else {
            Self::internal(fault)
        }
    }

    pub(super) fn internal(fault: Fault) -> Self {
        let description = "An unexpected error occurred.";
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self {
            fault: Some(Box::new(fault)),
            ..Self::new(status, "server_error", description)
        }
    }

    fn respond(self, exchange: &Exchange) -> Response {
        let Self {
            status,
            error,
            description,
            challenge,
            retry_after_seconds,
            fault,
        } = self;
        if let Some(fault) = fault {
            log_fault(&fault, &exchange.request_id, &exchange.route.path);
        }
        let mut headers = HeaderMap::new();
        if let Some(challenge) = challenge {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        if let Some(seconds) = retry_after_seconds {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        let body = json!({"error": error, "error_description": description});
        unstored(exchange, status, headers, &body)
    }
}

/// What a gate of the pipeline says, in these words.
impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        match (fault.code, fault.retry_after_seconds()) {
            (Code::RateLimited, Some(seconds)) => Self::limited(seconds),
            _ => Self::internal(fault),
        }
    }
}

/// Either outcome of an endpoint, which nobody may keep (RFC 6749, 5.1).
pub(super) fn respond(exchange: &Exchange, outcome: Result<Value, Refusal>) -> Response {
    match outcome {
        Ok(body) => unstored(exchange, StatusCode::OK, HeaderMap::new(), &body),
        Err(refusal) => refusal.respond(exchange),
    }
}

fn unstored(
    exchange: &Exchange,
    status: StatusCode,
    mut headers: HeaderMap,
    body: &Value,
) -> Response {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    // A page redeems its code here itself. What it shows stands in the form, and never in a cookie.
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    exchange.respond(status, headers, Body::Full(body.to_string().into()))
}
