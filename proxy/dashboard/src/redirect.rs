//! Where people are sent: to the page that comes next, and to the sign-in page and back.

use http::header::LOCATION;
use http::{HeaderName, HeaderValue, StatusCode};
use svc_pipeline::exchange::Exchange;
use svc_pipeline::response::{Body, Response};

use crate::page::nowhere::above;

/// What htmx says of itself, and how it is sent to another page: it would put what a 303 leads to into this one.
const HX_REQUEST: HeaderName = HeaderName::from_static("hx-request");
const HX_REDIRECT: HeaderName = HeaderName::from_static("hx-redirect");

/// The way to the sign-in page and back to the page that was asked for.
pub(crate) fn sign_in_first(exchange: &Exchange) -> Response {
    let head = &exchange.head;
    let asked = match &head.query {
        Some(query) => format!("{}?{query}", head.path),
        None => head.path.clone(),
    };
    let next: String = form_urlencoded::byte_serialize(asked.as_bytes()).collect();
    to_sign_in(exchange, &format!("/ui/login?next={next}"))
}

/// The same for whoever has sent a form: nothing of it is done, the sign-in page says so, and leads back to the page that
/// the form stands on.
pub(crate) fn sign_in_again(exchange: &Exchange) -> Response {
    if exchange.head.path == LEAVING {
        return to_sign_in(exchange, "/ui/login");
    }
    let page = above(exchange, &exchange.head.path);
    let next: String = form_urlencoded::byte_serialize(page.as_bytes()).collect();
    to_sign_in(exchange, &format!("/ui/login?next={next}&{LOST}=1"))
}

/// The form of whoever wants to be signed out.
const LEAVING: &str = "/ui/logout";

/// Says on the sign-in page that something was lost.
pub(crate) const LOST: &str = "lost";

fn to_sign_in(exchange: &Exchange, location: &str) -> Response {
    let head = &exchange.head;
    let mut response = see_other(exchange, location);
    if head.headers.contains_key(HX_REQUEST)
        && let Some(location) = response.headers.remove(LOCATION)
    {
        response.status = StatusCode::OK;
        response.headers.insert(HX_REDIRECT, location);
    }
    response
}

/// 303: what comes next is a GET, of another page of ours or, from the consent page, of an application's.
pub(crate) fn see_other(exchange: &Exchange, location: &str) -> Response {
    let mut headers = crate::frame::headers(&[]);
    if let Ok(location) = HeaderValue::from_str(location) {
        headers.insert(LOCATION, location);
    }
    exchange.respond(
        StatusCode::SEE_OTHER,
        headers,
        Body::Full(Default::default()),
    )
}

/// A path of our own; whatever could lead anywhere else is the overview.
pub(crate) fn local(next: Option<&str>) -> &str {
    let is_local = |next: &&str| {
        let second = next.as_bytes().get(1);
        next.starts_with('/')
            && !matches!(second, Some(b'/' | b'\\'))
            && next.bytes().all(|byte| byte.is_ascii_graphic())
            && !next.contains('\\')
    };
    next.filter(is_local).unwrap_or("/ui")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for ours in [
            "/ui",
            "/ui/keys?status=active",
            "/v1/oauth/authorize?client_id=svc_app_1",
        ] {
            assert_eq!(local(Some(ours)), ours);
        }
        for foreign in [
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "ui",
            "",
            "/ui\r\nSet-Cookie: a=b",
            "/ui/\\..",
            "javascript:alert(1)",
        ] {
            assert_eq!(local(Some(foreign)), "/ui", "{foreign:?}");
        }
    }
}
