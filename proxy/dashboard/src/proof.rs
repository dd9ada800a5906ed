//! The proof that a form is one of ours. It belongs to the visitor's cookie and tells nothing about it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use http::header::ORIGIN;
use http::{HeaderMap, HeaderName};
use sha2::Sha256;
use svc_core::fault::{Code, Fault};
use svc_core::secret::{self, Mode};
use svc_pipeline::exchange::Exchange;
use url::Url;

use crate::form::Fields;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a form of whoever has this cookie carries. It tells nothing about the cookie.
pub(crate) fn of(cookie: &str) -> String {
    tag(cookie, &["svc form"])
}

/// As [`of`], of pages that show this mode.
pub(crate) fn of_mode(cookie: &str, mode: Mode) -> String {
    tag(cookie, &["svc form", mode.word()])
}

/// The words under the key that a cookie is; which word ends where is part of it.
pub(crate) fn tag(cookie: &str, words: &[&str]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(cookie.as_bytes()) else {
        return String::new();
    };
    for word in words {
        mac.update(&(word.len() as u64).to_be_bytes());
        mac.update(word.as_bytes());
    }
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// Checks that a form is one of ours: that it carries the proof of its page, and comes from nowhere else.
///
/// # Errors
/// 403.
pub(crate) fn check(exchange: &Exchange, csrf: &str, fields: &Fields) -> Result<(), Fault> {
    let headers = &exchange.head.headers;
    let base = &exchange.gateway.settings.base_url;
    if is_foreign(headers, base) || !is_equal(fields.text("csrf"), csrf) {
        return Err(foreign());
    }
    Ok(())
}

pub(crate) fn foreign() -> Fault {
    Fault::new(
        Code::MissingScope,
        "This form is out of date or was sent from another site. Go back, load the page again and repeat it.",
    )
}

/// What browsers say of where a form was sent from. Pages that send no referrer have their forms' `Origin` be `null`, so
/// that only `Sec-Fetch-Site` tells ours from others; over plain HTTP browsers leave it out, and the token decides.
fn is_foreign(headers: &HeaderMap, base_url: &str) -> bool {
    let one = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = one(SEC_FETCH_SITE) {
        return site != "same-origin";
    }
    match one(ORIGIN) {
        None | Some("null") => false,
        Some(origin) => Some(origin) != origin_of(base_url).as_deref(),
    }
}

fn origin_of(base_url: &str) -> Option<String> {
    let url = Url::parse(base_url).ok()?;
    Some(url.origin().ascii_serialization())
}

/// Of two texts of which one is secret, without telling where they differ.
pub(crate) fn is_equal(sent: &str, expected: &str) -> bool {
    let digest = |text: &str| secret::digest(text);
    !expected.is_empty() && digest(sent) == digest(expected)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]
    use super::*;
    use http::HeaderValue;

    #[test]
    fn forms_of_other_sites_are_foreign() {
        let base = "https://gateway.example:8443/";
        let foreign = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, HeaderValue::from_str(value).expect("a value"));
            }
            is_foreign(&headers, base)
        };
        assert!(!foreign(&[
            ("sec-fetch-site", "same-origin"),
            ("origin", "null")
        ]));
        assert!(!foreign(&[("origin", "https://gateway.example:8443")]));
        assert!(!foreign(&[]));
        assert!(foreign(&[("sec-fetch-site", "cross-site")]));
        assert!(foreign(&[
            ("sec-fetch-site", "same-site"),
            ("origin", "https://gateway.example:8443")
        ]));
        assert!(foreign(&[("sec-fetch-site", "none")]));
        assert!(foreign(&[("origin", "https://gateway.example")]));
        assert!(foreign(&[("origin", "https://evil.example")]));
    }

    #[test]
    fn a_proof_belongs_to_one_cookie() {
        assert_eq!(of("a"), of("a"));
        assert_ne!(of("a"), of("b"));
        assert_ne!(of_mode("a", Mode::Live), of_mode("a", Mode::Test));
        assert!(!is_equal("", ""));
    }
}
