//! Request bodies for the decoders: read within the limit, checked for their media type, and parsed where that
//! takes nobody else's time.

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use svc_core::fault::{Fault, invalid};

use crate::exchange::Exchange;

/// Parsing this much takes about a millisecond; more is not for a thread that serves others.
const INLINE_BYTES: usize = 256 * 1024;

/// Reads the body and parses it (contract 2, steps 9 to 11).
///
/// # Errors
/// 413 for a body beyond the limit, 422 for another media type, and the parser's own.
pub(super) async fn parsed<T: Send + 'static>(
    exchange: &mut Exchange,
    parse: impl FnOnce(&[u8]) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let limit_bytes = exchange.gateway.settings.inference_body_bytes;
    let body = exchange.read_body(limit_bytes).await?;
    json_media_type(&exchange.head.headers)?;
    let parse = |body: &[u8]| parse(body).map_err(|fault| fault.in_order_of(body));
    if body.len() <= INLINE_BYTES {
        return parse(&body);
    }
    let parsing = exchange
        .gateway
        .background
        .spawn_blocking(move || parse(&body));
    parsing
        .await
        .map_err(|error| Fault::internal(format_args!("decoding a body: {error}")))?
}

/// Contract 1.2: a wrong media type is a validation failure. So is a coding: nothing here takes one off, and what is
/// not coded as it says would be read as what it is not. Whoever reads a JSON body asks this first.
///
/// # Errors
/// 422 on the header.
pub fn json_media_type(headers: &HeaderMap) -> Result<(), Fault> {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    let is_plain = |coding: &HeaderValue| {
        let coding = coding.as_bytes().trim_ascii();
        coding.is_empty() || coding.eq_ignore_ascii_case(b"identity")
    };
    if !codings.all(is_plain) {
        return Err(invalid("$header.Content-Encoding", "must be identity"));
    }
    if is_media_type(headers, "application/json") {
        return Ok(());
    }
    Err(invalid("$header.Content-Type", "must be application/json"))
}

/// Whether a body says that it is of this media type, and says nothing else: whoever looks at another one of several
/// headers would read another body.
pub fn is_media_type(headers: &HeaderMap, wanted: &str) -> bool {
    let is_wanted = |value: &HeaderValue| {
        let essence = value.to_str().unwrap_or_default().split(';').next();
        let essence = essence.unwrap_or_default().trim();
        essence.eq_ignore_ascii_case(wanted)
    };
    headers.contains_key(CONTENT_TYPE) && headers.get_all(CONTENT_TYPE).iter().all(is_wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_of_one_media_type() {
        let json = "application/json";
        for (sent, is_json) in [
            (&[][..], false),
            (&[json], true),
            (&["Application/JSON; charset=utf-8"], true),
            (&[json, json], true),
            (&["text/plain"], false),
            (&[json, "text/plain"], false),
            (&["text/plain", json], false),
            (&["application/json, text/plain"], false),
            (&[json, ""], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in sent {
                headers.append(CONTENT_TYPE, HeaderValue::from_static(value));
            }
            assert_eq!(is_media_type(&headers, json), is_json, "{sent:?}");
        }
    }

    #[test]
    fn a_coded_body_is_refused_by_its_header() {
        let told = |coding: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
            let refused = json_media_type(&headers).err();
            refused.is_some_and(|fault| fault.details.contains_key("$header.Content-Encoding"))
        };
        for (coding, refused) in [
            ("identity", false),
            ("Identity", false),
            ("", false),
            ("gzip", true),
            ("br", true),
            ("identity, gzip", true),
        ] {
            assert_eq!(told(coding), refused, "{coding}");
        }
    }
}
