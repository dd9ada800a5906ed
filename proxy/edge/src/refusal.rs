//! The answers that the edge gives itself: no service saw the request. Same envelope as everywhere.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, StatusCode};
use svc_core::fault::Fault;
use svc_core::surface::Surface;
use svc_pipeline::response::{Body, Response};

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

/// The native envelope: a request that no route has seen has no surface.
pub(crate) fn response(fault: &Fault, request_id: &str) -> Response {
    let status = StatusCode::from_u16(Surface::Native.status(fault.code))
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // Contract 1.3: on every response.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert(REQUEST_ID, id);
    }
    if let Some(seconds) = fault.retry_after_seconds() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    let body = Surface::Native.error_body(fault, request_id).to_string();
    Response {
        status,
        headers,
        body: Body::Full(Bytes::from(body)),
    }
}
