//! What a driver may ask the host to send: a path and headers that cannot reach anywhere else and cannot carry or
//! displace a credential.

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use svc_core::query::parameters;

use super::{AuthPlacement, Framing, UpstreamRequest, wit_types as wit};
use crate::error::PluginError;

const MAX_PATH_BYTES: usize = 2_048;
const MAX_HEADERS: usize = 32;
const MAX_HEADER_VALUE_BYTES: usize = 4_096;
/// The host's own business (provider.wit).
const FORBIDDEN: [&str; 14] = [
    "authorization",
    "cookie",
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
    "accept-encoding",
    "forwarded",
    "via",
];
/// A path that leaves the operator's base address, plainly or escaped.
const ESCAPES: [&str; 8] = ["//", "..", "\\", "#", "://", "%2e", "%2f", "%5c"];

/// Holds the guest's request against the rules.
///
/// # Errors
/// [`PluginError::Contract`] with the rule that is broken.
pub(super) fn check(
    request: wit::UpstreamRequest,
    auth: &AuthPlacement,
) -> Result<UpstreamRequest, PluginError> {
    let wit::UpstreamRequest {
        method,
        path,
        headers,
        body,
        framing,
    } = request;
    if !is_path(&path) {
        return Err(PluginError::Contract("the upstream path leaves its place"));
    }
    if brings_credential(&path, auth) {
        return Err(PluginError::Contract(
            "the upstream path has the parameter of the credential",
        ));
    }
    if headers.len() > MAX_HEADERS {
        return Err(PluginError::Contract("too many upstream headers"));
    }
    let mut checked = HeaderMap::with_capacity(headers.len());
    for wit::Header { name, value } in headers {
        let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value))
        else {
            return Err(PluginError::Contract("an upstream header is malformed"));
        };
        if is_forbidden(&name, auth) {
            return Err(PluginError::Contract(
                "an upstream header is not the driver's to set",
            ));
        }
        if value.len() > MAX_HEADER_VALUE_BYTES {
            return Err(PluginError::Contract("an upstream header is too long"));
        }
        checked.append(name, value);
    }
    Ok(UpstreamRequest {
        method: match method {
            wit::Method::Post => Method::POST,
            wit::Method::Get => Method::GET,
        },
        path,
        headers: checked,
        body: body.into(),
        framing: framing_from_wit(framing),
    })
}

pub(super) const fn framing_from_wit(framing: wit::Framing) -> Framing {
    match framing {
        wit::Framing::WholeBody => Framing::WholeBody,
        wit::Framing::Sse => Framing::Sse,
        wit::Framing::JsonLines => Framing::JsonLines,
        wit::Framing::Raw => Framing::Raw,
    }
}

fn is_path(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    path.starts_with('/')
        && path.len() <= MAX_PATH_BYTES
        && path.bytes().all(|byte| byte.is_ascii_graphic())
        && !ESCAPES.iter().any(|escape| lower.contains(escape))
}

/// Whether the query has the parameter in which the host puts the credential, escaped or not: which of two a provider
/// reads is its own choice.
fn brings_credential(path: &str, auth: &AuthPlacement) -> bool {
    let (AuthPlacement::Query { name: credential }, Some((_, query))) =
        (auth, path.split_once('?'))
    else {
        return false;
    };
    // Some servers part parameters at a semicolon too.
    let mut parts = query.split(';').flat_map(parameters);
    parts.any(|parameter| parameter.name.eq_ignore_ascii_case(credential))
}

fn is_forbidden(name: &HeaderName, auth: &AuthPlacement) -> bool {
    let is_credential =
        matches!(auth, AuthPlacement::Header { name: credential, .. } if credential == name);
    is_credential || FORBIDDEN.contains(&name.as_str()) || name.as_str().starts_with("proxy-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, header: (&str, &str)) -> wit::UpstreamRequest {
        wit::UpstreamRequest {
            method: wit::Method::Post,
            path: path.to_owned(),
            headers: vec![wit::Header {
                name: header.0.to_owned(),
                value: header.1.to_owned(),
            }],
            body: Vec::new(),
            framing: wit::Framing::Sse,
        }
    }

    #[test]
    fn only_a_plain_path_and_harmless_headers_pass() {
        let auth = AuthPlacement::Header {
            name: HeaderName::from_static("x-api-key"),
            template: "{secret}".to_owned(),
        };
        let accept = ("accept", "text/event-stream");
        assert!(check(request("/v1/messages?beta=true", accept), &auth).is_ok());
        for path in [
            "",
            "v1",
            "//evil",
            "/a//b",
            "/a/../b",
            "http://evil/",
            "/a b",
            "/a\r\nb",
            "/a#b",
            "/é",
            "/%2E%2e/x",
            "/a\\b",
        ] {
            assert!(check(request(path, accept), &auth).is_err(), "{path:?}");
        }
        for header in [
            ("Authorization", "x"),
            ("X-Api-Key", "x"),
            ("cookie", "x"),
            ("Host", "x"),
            ("Proxy-Authorization", "x"),
            ("transfer-encoding", "chunked"),
            ("a b", "x"),
            ("accept", "a\r\nhost: b"),
        ] {
            assert!(check(request("/v1", header), &auth).is_err(), "{header:?}");
        }
    }

    #[test]
    fn the_parameter_of_the_credential_is_the_hosts_alone() {
        let auth = AuthPlacement::Query {
            name: "key".to_owned(),
        };
        let accept = ("accept", "text/event-stream");
        for path in ["/v1", "/key=x", "/v1?monkey=1", "/v1?alt=sse&keys=1&a=key"] {
            assert!(check(request(path, accept), &auth).is_ok(), "{path}");
        }
        for path in [
            "/v1?key=mine",
            "/v1?alt=sse&key=mine",
            "/v1?key",
            "/v1?Key=mine",
            "/v1?%6bey=mine",
            "/v1?a=b;key=mine",
        ] {
            assert!(check(request(path, accept), &auth).is_err(), "{path}");
        }
        // Where the credential is elsewhere, the name is the provider's.
        assert!(check(request("/v1?key=a", accept), &AuthPlacement::None).is_ok());
    }
}
