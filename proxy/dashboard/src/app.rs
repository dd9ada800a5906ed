//! Where the API has the app that a page is about.

use svc_pipeline::exchange::Exchange;

/// The API's path of all apps.
pub(crate) const API: &str = "/v1/apps";

/// The API's path of the app that the page's path names.
pub(crate) fn path(exchange: &Exchange) -> String {
    format!("{API}/{}", exchange.parameter("app"))
}

/// A key as the segment of a path.
pub(crate) fn escaped(key: &str) -> String {
    form_urlencoded::byte_serialize(key.as_bytes()).collect()
}
