//! Which headers go through a binding, and which end at the gateway: those that are between the caller and the gateway,
//! or between the gateway and the service, and those by which one would speak for another. Never their values.

use std::borrow::Cow;
use std::collections::HashSet;

use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName};

/// Headers of a caller that are between it and the gateway; those of one connection (RFC 9110, 7.6.1) are among them.
const OURS: &[&str] = &[
    "authorization",
    "connection",
    "content-length",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "svc-version",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-api-key",
];
/// By which proxies say who is behind them, and some services believe whoever says it.
const FORWARDING: &[&str] = &[
    "cf-connecting-ip",
    "client-ip",
    "fastly-client-ip",
    "forwarded",
    "true-client-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-original-forwarded-for",
    "x-real-ip",
];
const FORWARDING_PREFIX: &str = "x-forwarded-";

/// Headers of a service that a browser would take as said of the gateway's own origin, cookies and pages of others that
/// may read it among them; and those that mean something else in an answer of the gateway.
const OF_OUR_ORIGIN: &[&str] = &[
    "alt-svc",
    "clear-site-data",
    "expect-ct",
    "idempotent-replayed",
    "nel",
    "origin-agent-cluster",
    "public-key-pins",
    "public-key-pins-report-only",
    "report-to",
    "reporting-endpoints",
    "service-worker-allowed",
    "set-cookie",
    "set-cookie2",
    "strict-transport-security",
    "x-should-retry",
];
const OF_OUR_ORIGIN_PREFIXES: &[&str] = &["access-control-", "svc-", "x-ratelimit-"];

/// A name as services read it that are run by CGI or WSGI: there `_` and `-` are one.
fn as_read(name: &str) -> Cow<'_, str> {
    if name.contains('_') {
        Cow::Owned(name.replace('_', "-"))
    } else {
        Cow::Borrowed(name)
    }
}

/// The headers of a caller that are the service's: neither ours nor, by what `Connection` names, of the connection, nor
/// any that the service could take for the one that has the secret.
pub(super) fn passed_on(sent: &HeaderMap, secret: &HeaderName) -> HeaderMap {
    let named: HashSet<String> = sent
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let secret = as_read(secret.as_str());
    let mut headers = HeaderMap::new();
    for (name, value) in sent {
        let word = as_read(name.as_str());
        let is_ours = word == secret
            || OURS.contains(&&*word)
            || FORWARDING.contains(&&*word)
            || word.starts_with(FORWARDING_PREFIX);
        if !is_ours && !named.contains(name.as_str()) {
            headers.append(name, value.clone());
        }
    }
    headers
}

/// The headers of a service that are the caller's. How long its answer is shows in the answer.
pub(super) fn handed_back(answered: &HeaderMap) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in answered {
        let word = name.as_str();
        let is_ours = OF_OUR_ORIGIN.contains(&word)
            || OF_OUR_ORIGIN_PREFIXES
                .iter()
                .any(|prefix| word.starts_with(prefix));
        if !is_ours && name != CONTENT_LENGTH {
            headers.append(name, value.clone());
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(names: &[&'static str]) -> HeaderMap {
        let pairs = names.iter().map(|name| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static("a value"),
            )
        });
        HeaderMap::from_iter(pairs)
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        headers.keys().map(HeaderName::as_str).collect()
    }

    const SECRET: HeaderName = HeaderName::from_static("x-auth-token");

    #[test]
    fn what_is_of_the_connection_is_not_passed_on() {
        let mut sent = headers(&["x-hop", "authorization", "te", "accept"]);
        let named = HeaderValue::from_static("Close, X-Hop, authorization");
        sent.insert(CONNECTION, named);
        assert_eq!(names(&passed_on(&sent, &SECRET)), ["accept"]);
    }

    #[test]
    fn a_name_is_judged_as_any_service_may_read_it() {
        let sent = headers(&[
            "x_auth_token",
            "x-auth_token",
            "x_forwarded_for",
            "x-forwarded_host",
            "x_real_ip",
            "true-client-ip",
            "content_length",
            "x_patient_id",
        ]);
        assert_eq!(names(&passed_on(&sent, &SECRET)), ["x_patient_id"]);
    }

    #[test]
    fn a_service_does_not_speak_for_the_gateway() {
        let answered = headers(&[
            "strict-transport-security",
            "alt-svc",
            "clear-site-data",
            "set-cookie",
            "access-control-allow-origin",
            "svc-phi-entities",
            "svc-integration",
            "idempotent-replayed",
            "x-ratelimit-remaining",
            "content-length",
            "content-type",
            "etag",
            "retry-after",
        ]);
        let handed = handed_back(&answered);
        let mut names = names(&handed);
        names.sort_unstable();
        assert_eq!(names, ["content-type", "etag", "retry-after"]);
    }
}
