//! Failures in machine words. A provider's own message never becomes part of one.

use crate::bindings::gateway::provider::types::{DriverError, ErrorKind};

/// The request cannot be sent by this wire format.
pub fn unsupported(param: &str) -> DriverError {
    DriverError {
        param: Some(param.to_owned()),
        ..plain(ErrorKind::UnsupportedParameter, None)
    }
}

/// The request cannot be sent at all.
pub fn invalid(param: &str, code: &str) -> DriverError {
    DriverError {
        param: Some(param.to_owned()),
        ..plain(ErrorKind::InvalidRequest, Some(code))
    }
}

/// An answer that is not of the wire format, or ended early.
pub fn protocol(code: &str) -> DriverError {
    plain(ErrorKind::Protocol, Some(code))
}

/// A failure that another try may cure, where its kind says so.
pub fn plain(kind: ErrorKind, code: Option<&str>) -> DriverError {
    let retryable = matches!(
        kind,
        ErrorKind::RateLimited
            | ErrorKind::Overloaded
            | ErrorKind::UpstreamFailure
            | ErrorKind::Protocol
    );
    DriverError {
        kind,
        param: None,
        upstream_code: code.map(str::to_owned),
        retryable,
        retry_after_ms: None,
    }
}

/// An error status: what the driver makes of it, and the provider's word for it, if that is one.
pub fn refused(
    status: u16,
    kind: ErrorKind,
    word: Option<&str>,
    retry_after_ms: Option<u64>,
) -> DriverError {
    let code = word.map_or_else(|| format!("http_{status}"), str::to_owned);
    DriverError {
        retry_after_ms,
        ..plain(kind, Some(&code))
    }
}

/// What an error status means when its body says nothing more. Three are about the request; every other is a failure of
/// the provider, whatever it blames (contract 21, upstream failures).
pub fn by_status(status: u16) -> ErrorKind {
    match status {
        400 | 413 | 422 => ErrorKind::InvalidRequest,
        401..=403 => ErrorKind::UpstreamAuth,
        404 | 410 => ErrorKind::ModelUnavailable,
        429 => ErrorKind::RateLimited,
        503 | 529 => ErrorKind::Overloaded,
        300..=399 => ErrorKind::Protocol,
        _ => ErrorKind::UpstreamFailure,
    }
}

/// The text, where it is a machine word that `driver-error.upstream-code` holds.
pub fn word(text: &str) -> Option<&str> {
    let is_word = (1..=MAX_WORD_BYTES).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte));
    is_word.then_some(text)
}

/// Longest machine word (provider.wit).
const MAX_WORD_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_told_apart() {
        for (status, kind, retryable) in [
            (400, ErrorKind::InvalidRequest, false),
            (413, ErrorKind::InvalidRequest, false),
            (422, ErrorKind::InvalidRequest, false),
            (401, ErrorKind::UpstreamAuth, false),
            (404, ErrorKind::ModelUnavailable, false),
            (429, ErrorKind::RateLimited, true),
            (500, ErrorKind::UpstreamFailure, true),
            (503, ErrorKind::Overloaded, true),
            (529, ErrorKind::Overloaded, true),
            (302, ErrorKind::Protocol, true),
            (405, ErrorKind::UpstreamFailure, true),
            (406, ErrorKind::UpstreamFailure, true),
            (408, ErrorKind::UpstreamFailure, true),
            (409, ErrorKind::UpstreamFailure, true),
            (415, ErrorKind::UpstreamFailure, true),
            (418, ErrorKind::UpstreamFailure, true),
            (421, ErrorKind::UpstreamFailure, true),
            (431, ErrorKind::UpstreamFailure, true),
            (451, ErrorKind::UpstreamFailure, true),
        ] {
            let error = refused(status, by_status(status), None, Some(7));
            assert_eq!((error.kind, error.retryable), (kind, retryable), "{status}");
            assert_eq!(error.retry_after_ms, Some(7));
            assert_eq!(error.upstream_code, Some(format!("http_{status}")));
        }
    }

    #[test]
    fn only_machine_words_are_words() {
        assert_eq!(word("rate_limit_error"), Some("rate_limit_error"));
        for text in ["", "John Doe is rejected", "é", &"a".repeat(65)] {
            assert_eq!(word(text), None, "{text}");
        }
    }
}
