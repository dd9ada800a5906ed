//! Cookies of ours: for the very host alone, and out of reach for scripts.

use cookie::{Cookie, SameSite};
use http::HeaderValue;
use http::header::{COOKIE, SET_COOKIE};
use svc_pipeline::exchange::Exchange;

/// Browsers take such a cookie from the very host alone, over HTTPS, for all paths (RFC 6265bis, 4.1.3.2).
const HOST_PREFIX: &str = "__Host-";

/// What a browser sends under this name.
pub(crate) fn read(exchange: &Exchange, name: &str) -> Option<String> {
    let (name, _) = named(exchange, name);
    let sent = exchange.head.headers.get_all(COOKIE).iter();
    let texts = sent.filter_map(|value| value.to_str().ok());
    let mut cookies = texts.flat_map(Cookie::split_parse).flatten();
    let found = cookies.find(|cookie| cookie.name() == name)?;
    Some(found.value().to_owned()).filter(|value| !value.is_empty())
}

/// Has the browser keep this until it is closed.
pub(crate) fn set(exchange: &mut Exchange, name: &str, value: &str) {
    let (name, is_secure) = named(exchange, name);
    append(exchange, &written(&name, value, is_secure));
}

/// Has the browser forget one.
pub(crate) fn forget(exchange: &mut Exchange, name: &str) {
    let (name, is_secure) = named(exchange, name);
    let cookie = written(&name, "", is_secure) + "; Max-Age=0";
    append(exchange, &cookie);
}

/// The name of a cookie, and whether it is for HTTPS alone.
fn named(exchange: &Exchange, name: &str) -> (String, bool) {
    let is_secure = exchange.gateway.settings.base_url.starts_with("https:");
    let name = if is_secure {
        format!("{HOST_PREFIX}{name}")
    } else {
        name.to_owned()
    };
    (name, is_secure)
}

fn written(name: &str, value: &str, is_secure: bool) -> String {
    Cookie::build((name, value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(is_secure)
        .to_string()
}

fn append(exchange: &mut Exchange, cookie: &str) {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        exchange.headers.append(SET_COOKIE, value);
    }
}
