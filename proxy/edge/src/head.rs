//! From pingora's request header to the pipeline's [`RequestHead`]: limits, authority, the caller's address.
//! Never decodes a path.

use std::net::IpAddr;
use std::time::Instant;

use http::header::{HOST, HeaderName, HeaderValue, TRANSFER_ENCODING};
use http::{HeaderMap, Method, Version};
use pingora::http::RequestHeader;
use pingora::protocols::http::ServerSession;
use svc_core::fault::{Fault, invalid};
use svc_core::id::IdKind;
use svc_pipeline::moment;
use svc_pipeline::request::{CutOff, RequestHead};

use crate::options::{Limits, Network};

/// What is wrong with a head of more bytes than the limit.
pub(crate) const TOO_LARGE: &str = "is too large";

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Builds the head.
///
/// # Errors
/// 422 for a head over the limits or a request form that an origin server does not serve.
pub(crate) fn build(
    session: &ServerSession,
    socket: IpAddr,
    limits: &Limits,
    trusted: &[Network],
    cut_off: &CutOff,
) -> Result<RequestHead, Box<Fault>> {
    let header = session.req_header();
    if size(session, header) > limits.header_bytes {
        return Err(refused("$header", TOO_LARGE));
    }
    if header.headers.len() > limits.header_count {
        return Err(refused("$header", "has too many fields"));
    }
    // RFC 9112, 6.1: chunked is applied once. A front that reads two codings would frame the body otherwise, and
    // nothing here takes another one off.
    let mut codings = header.headers.get_all(TRANSFER_ENCODING).iter();
    if let Some(coding) = codings.next() {
        if codings.next().is_some() {
            return Err(refused("$header", "has more than one Transfer-Encoding"));
        }
        if !coding
            .as_bytes()
            .trim_ascii()
            .eq_ignore_ascii_case(b"chunked")
        {
            return Err(refused(
                "$header.Transfer-Encoding",
                "must be chunked and nothing else",
            ));
        }
    }
    // RFC 9112, 3.2. HTTP/2 has no such rule, and HTTP/1.0 knew no Host.
    let is_http11 = session.as_http1().is_some() && header.version == Version::HTTP_11;
    if is_http11 && header.headers.get_all(HOST).iter().count() != 1 {
        return Err(refused("$header", "must have one Host"));
    }
    if header.method == Method::CONNECT {
        return Err(refused("$header", "CONNECT is not served"));
    }
    if !header.raw_path_is_utf8() {
        return Err(refused("$path", "is not UTF-8"));
    }
    let mut headers = header.headers.clone();
    // HTTP/2 names the authority beside the fields; everything behind the edge reads Host.
    if !headers.contains_key(HOST)
        && let Some(authority) = header.uri.authority()
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        headers.insert(HOST, host);
    }
    let client = client(socket, &headers, trusted);
    Ok(RequestHead {
        request_id: moment::id(IdKind::Request),
        method: header.method.clone(),
        path: header.uri.path().to_owned(),
        query: header.uri.query().map(str::to_owned),
        headers,
        client,
        received: Instant::now(),
        cut_off: cut_off.clone(),
    })
}

fn refused(at: &str, message: &str) -> Box<Fault> {
    Box::new(invalid(at, message))
}

/// Bytes of the head as HTTP/1.1 would send it.
fn size(session: &ServerSession, header: &RequestHeader) -> usize {
    if let Some(http1) = session.as_http1() {
        return http1.get_headers_raw_bytes().len();
    }
    // Name, colon, space, value, line end.
    const FIELD_OVERHEAD: usize = 4;
    let fields = header
        .headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + FIELD_OVERHEAD)
        .sum::<usize>();
    fields + header.raw_path().len()
}

/// The last address that no trusted proxy vouches for: each proxy appends whom it saw.
fn client(socket: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let known = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let socket = socket.to_canonical();
    if !known(socket) {
        return socket;
    }
    let mut seen = socket;
    let values: Vec<&str> = headers
        .get_all(FORWARDED_FOR)
        .iter()
        .map(|value| value.to_str().unwrap_or(""))
        .collect();
    for hop in values.iter().rev().flat_map(|value| value.rsplit(',')) {
        let Some(address) = address(hop.trim()) else {
            break;
        };
        seen = address;
        if !known(address) {
            break;
        }
    }
    seen
}

/// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `[2001:db8::1]:4711`.
fn address(text: &str) -> Option<IpAddr> {
    let with_port = || Some(text.parse::<std::net::SocketAddr>().ok()?.ip());
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let found: IpAddr = text.parse().ok().or_else(with_port).or_else(bracketed)?;
    Some(found.to_canonical())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn seen_as(socket: &str, forwarded: &[&'static str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_static(value));
        }
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        client(socket.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn a_stranger_cannot_name_itself() {
        assert_eq!(seen_as("192.0.2.9", &["198.51.100.1"]), "192.0.2.9");
    }

    #[test]
    fn a_trusted_proxy_is_believed_as_far_as_trust_reaches() {
        assert_eq!(seen_as("10.0.0.1", &["198.51.100.1"]), "198.51.100.1");
        assert_eq!(
            seen_as("10.0.0.1", &["203.0.113.7, 198.51.100.1, 10.2.2.2"]),
            "198.51.100.1"
        );
        assert_eq!(
            seen_as("10.0.0.1", &["203.0.113.7", "198.51.100.1:80"]),
            "198.51.100.1"
        );
        assert_eq!(
            seen_as("::ffff:10.0.0.1", &["[2001:db8::5]:1"]),
            "2001:db8::5"
        );
    }

    #[test]
    fn an_unreadable_hop_ends_the_chain() {
        assert_eq!(seen_as("10.0.0.1", &["unknown"]), "10.0.0.1");
        assert_eq!(
            seen_as("10.0.0.1", &["198.51.100.1, secret, 10.0.0.7"]),
            "10.0.0.7"
        );
        assert_eq!(seen_as("10.0.0.1", &[]), "10.0.0.1");
    }
}
