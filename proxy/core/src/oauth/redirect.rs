//! Where answers go: which addresses an application may register, when a sent one is a registered one, and what a page
//! that leads there has to say.

use url::{Host, Url};

use super::ClientKind;
use crate::address::names_a_user;

/// Longest address that is registered.
pub const MAX_CHARS: usize = 2_048;

/// The loopback addresses as RFC 8252, 7.3 writes them. `localhost` is a name, which something may resolve elsewhere.
const LOOPBACKS: [&str; 2] = ["http://127.0.0.1", "http://[::1]"];

/// Judges an address that an application wants to register.
///
/// # Errors
/// What is wrong with it, in words that repeat nothing of it.
pub fn check(text: &str, kind: ClientKind) -> Result<(), &'static str> {
    if text.len() > MAX_CHARS {
        return Err("must have at most 2048 characters");
    }
    if text.contains('*') {
        return Err("must not hold a wildcard");
    }
    if text.contains('#') {
        return Err("must not have a fragment");
    }
    // What a parser would drop or a header could not carry; compared and sent as it stands.
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
    if !is_plain {
        return Err("holds a character that an address cannot have");
    }
    let url = Url::parse(text).map_err(|_| "is not an absolute address")?;
    if names_a_user(text) {
        return Err("must not hold a user name or password");
    }
    // The parser takes `https:host` and `https:///host` for `https://host`.
    let behind = text.strip_prefix("https://");
    match url.scheme() {
        "https" if behind.is_some_and(|rest| !rest.starts_with('/')) => Ok(()),
        "https" => Err("is not an absolute address"),
        "http" if loopback(text).is_some() => Ok(()),
        "http" => Err("may be http only on 127.0.0.1 or [::1]"),
        // RFC 8252, 7.1: a private scheme is a domain name of the maker's, reversed.
        scheme if kind == ClientKind::Native && scheme.contains('.') => Ok(()),
        _ if kind == ClientKind::Native => {
            Err("must be https, http on a loopback address, or a private scheme with a dot")
        }
        _ => Err("must be https, or http on a loopback address"),
    }
}

/// Whether a sent address is the registered one: the same text. Only a native application on a loopback address may
/// listen on any port (RFC 8252, 7.3; contract X13).
pub fn matches(registered: &str, sent: &str, kind: ClientKind) -> bool {
    if registered == sent {
        return true;
    }
    kind == ClientKind::Native
        && loopback(registered)
            .zip(loopback(sent))
            .is_some_and(|(registered, sent)| registered == sent)
}

/// The loopback address and what stands behind its port.
fn loopback(text: &str) -> Option<(&'static str, &str)> {
    let (address, rest) = LOOPBACKS
        .into_iter()
        .find_map(|address| Some((address, text.strip_prefix(address)?)))?;
    let rest = match rest.strip_prefix(':') {
        None => rest,
        Some(after) => {
            let end = after
                .find(|character: char| !character.is_ascii_digit())
                .unwrap_or(after.len());
            let (port, rest) = after.split_at(end);
            port.parse::<u16>().ok().filter(|port| *port > 0)?;
            rest
        }
    };
    // Anything else would make the address the user name of another host.
    (rest.is_empty() || rest.starts_with(['/', '?'])).then_some((address, rest))
}

/// The address with more in its query, which stays as it is.
pub fn with_query(address: &str, pairs: &str) -> String {
    let joint = match address.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some((_, query)) if query.ends_with('&') => "",
        Some(_) => "&",
    };
    format!("{address}{joint}{pairs}")
}

/// What `form-action` of a page names, so that its form may end at this address: the origin, or the scheme of an
/// address that has none a policy could name. Policies have no words for IPv6 literals (CSP 3, 2.3.1).
pub fn policy_source(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    match (url.scheme(), url.host()) {
        ("http" | "https", Some(Host::Domain(_) | Host::Ipv4(_))) => {
            Some(url.origin().ascii_serialization())
        }
        (scheme, _) => Some(format!("{scheme}:")),
    }
}

/// What people are told of an address: its host, or its scheme where that is all there is.
pub fn shown(address: &str) -> String {
    let Ok(url) = Url::parse(address) else {
        return String::new();
    };
    match (url.scheme(), url.host_str(), url.port()) {
        ("http" | "https", Some(host), Some(port)) => format!("{host}:{port}"),
        ("http" | "https", Some(host), None) => host.to_owned(),
        (scheme, _, _) => format!("{scheme}:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ClientKind::{Confidential, Native, Public};

    #[test]
    fn only_addresses_that_lead_to_the_application_are_registered() {
        for (text, kinds) in [
            (
                "https://carenav.example/cb",
                &[Confidential, Public, Native][..],
            ),
            (
                "https://carenav.example/cb?tenant=1",
                &[Confidential, Public, Native],
            ),
            ("http://127.0.0.1/cb", &[Confidential, Public, Native]),
            ("http://127.0.0.1:7777/cb", &[Confidential, Public, Native]),
            ("http://[::1]/cb", &[Confidential, Public, Native]),
            ("com.example.app:/cb", &[Native]),
            ("com.example.app://cb", &[Native]),
            ("myapp:/cb", &[]),
            ("http://localhost/cb", &[]),
            ("http://127.0.0.1:80@evil.example/", &[]),
            ("http://127.0.0.1.evil.example/", &[]),
            ("http://127.0.0.1:0/", &[]),
            ("http://carenav.example/cb", &[]),
            ("https://carenav.example/cb#x", &[]),
            ("https://*.carenav.example/cb", &[]),
            ("https://user:pass@carenav.example/cb", &[]),
            ("https://@carenav.example/cb", &[]),
            ("https:carenav.example", &[]),
            ("https:///carenav.example/cb", &[]),
            (" https://carenav.example/cb", &[]),
            ("https://carenav.example/cb ", &[]),
            ("https://carenav.example/a b", &[]),
            ("https://carenav.example/\u{e9}", &[]),
            ("https://carenav.example\\@evil.example", &[]),
            ("javascript:alert(1)", &[]),
            ("data:text/html,x", &[]),
            ("/cb", &[]),
            ("", &[]),
        ] {
            for kind in [Confidential, Public, Native] {
                let found = check(text, kind).is_ok();
                assert_eq!(found, kinds.contains(&kind), "{text} {}", kind.word());
            }
        }
        let long = format!("https://carenav.example/{}", "a".repeat(MAX_CHARS));
        assert!(check(&long, Confidential).is_err());
    }

    #[test]
    fn the_text_decides_and_the_port_only_of_native_loopback() {
        let cases = [
            ("https://a.example/cb", "https://a.example/cb", true, true),
            (
                "https://a.example/cb",
                "https://a.example/cb/",
                false,
                false,
            ),
            ("https://a.example/cb", "https://A.example/cb", false, false),
            (
                "https://a.example/cb",
                "https://a.example:443/cb",
                false,
                false,
            ),
            (
                "https://a.example/cb",
                "https://a.example/cb?x=1",
                false,
                false,
            ),
            (
                "http://127.0.0.1/cb",
                "http://127.0.0.1:5123/cb",
                true,
                false,
            ),
            (
                "http://127.0.0.1:1/cb",
                "http://127.0.0.1:2/cb",
                true,
                false,
            ),
            ("http://[::1]/cb", "http://[::1]:5123/cb", true, false),
            ("http://127.0.0.1/cb", "http://[::1]/cb", false, false),
            (
                "http://127.0.0.1/cb",
                "http://127.0.0.1:5123/other",
                false,
                false,
            ),
            (
                "http://127.0.0.1/cb",
                "http://127.0.0.1:99999/cb",
                false,
                false,
            ),
            (
                "http://127.0.0.1",
                "http://127.0.0.1:80@evil.example",
                false,
                false,
            ),
            ("com.example.app:/cb", "com.example.app:/cb", true, true),
            ("com.example.app:/cb", "com.example.app:/CB", false, false),
        ];
        for (registered, sent, native, other) in cases {
            assert_eq!(matches(registered, sent, Native), native, "{sent}");
            assert_eq!(matches(registered, sent, Public), other, "{sent}");
        }
    }

    #[test]
    fn the_registered_query_stays() {
        let at = |address| with_query(address, "code=1");
        assert_eq!(at("https://a.example/cb"), "https://a.example/cb?code=1");
        assert_eq!(
            at("https://a.example/cb?x=%20"),
            "https://a.example/cb?x=%20&code=1"
        );
        assert_eq!(at("https://a.example/cb?"), "https://a.example/cb?code=1");
        assert_eq!(at("com.example.app:/cb"), "com.example.app:/cb?code=1");
    }

    #[test]
    fn a_policy_names_the_origin_or_the_scheme() {
        let source = |address| policy_source(address).unwrap_or_default();
        assert_eq!(source("https://a.example/cb?x=1"), "https://a.example");
        assert_eq!(
            source("https://a.example:8443/cb"),
            "https://a.example:8443"
        );
        assert_eq!(source("http://127.0.0.1:5123/cb"), "http://127.0.0.1:5123");
        assert_eq!(source("http://[::1]:5123/cb"), "http:");
        assert_eq!(source("com.example.app:/cb"), "com.example.app:");
        assert_eq!(shown("https://a.example:8443/cb"), "a.example:8443");
        assert_eq!(shown("com.example.app:/cb"), "com.example.app:");
    }
}
