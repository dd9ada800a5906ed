//! Failures in machine words: status lines and error bodies of kind A as `driver-error`.
//!
//! The provider's message is looked at (only it tells an over-long prompt from another bad request) and never
//! passed on.

use crate::bindings::gateway::provider::types::{DriverError, ErrorKind};
use crate::wire::ErrorBody;

pub const RETRY_AFTER: &str = "retry-after";
pub const RETRY_AFTER_MS: &str = "retry-after-ms";

/// The request cannot be sent: not by this wire format, or not at all.
pub fn unsupported(param: &str) -> DriverError {
    DriverError {
        retryable: false,
        param: Some(param.to_owned()),
        ..plain(ErrorKind::UnsupportedParameter, None)
    }
}

pub fn invalid(param: &str, code: &str) -> DriverError {
    DriverError {
        retryable: false,
        param: Some(param.to_owned()),
        ..plain(ErrorKind::InvalidRequest, Some(code))
    }
}

/// An answer that is not the Messages wire format, or ended early.
pub fn protocol(code: &str) -> DriverError {
    plain(ErrorKind::Protocol, Some(code))
}

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

/// What an error status means when its body says nothing more.
pub fn by_status(status: u16) -> ErrorKind {
    match status {
        400 | 413 | 422 => ErrorKind::InvalidRequest,
        401..=403 => ErrorKind::UpstreamAuth,
        404 | 410 => ErrorKind::ModelUnavailable,
        429 => ErrorKind::RateLimited,
        503 | 529 => ErrorKind::Overloaded,
        408 | 409 | 425 | 500..=599 => ErrorKind::UpstreamFailure,
        300..=399 => ErrorKind::Protocol,
        _ => ErrorKind::InvalidRequest,
    }
}

/// An error status with or without a body that could be read.
pub fn from_answer(
    status: u16,
    error: Option<&ErrorBody<'_>>,
    retry_after_ms: Option<u64>,
) -> DriverError {
    let kind = match error {
        Some(error)
            if by_status(status) == ErrorKind::InvalidRequest && says_too_long(&error.message) =>
        {
            ErrorKind::ContextTooLong
        }
        _ => by_status(status),
    };
    let code = match error {
        Some(error) if is_word(&error.kind) => error.kind.to_string(),
        _ => format!("http_{status}"),
    };
    DriverError {
        retry_after_ms,
        ..plain(kind, Some(&code))
    }
}

/// An `error` event in a stream that began well.
pub fn from_event(error: &ErrorBody<'_>) -> DriverError {
    let kind = match &*error.kind {
        "invalid_request_error" if says_too_long(&error.message) => ErrorKind::ContextTooLong,
        "invalid_request_error" | "request_too_large" => ErrorKind::InvalidRequest,
        "authentication_error" | "permission_error" | "billing_error" => ErrorKind::UpstreamAuth,
        "not_found_error" => ErrorKind::ModelUnavailable,
        "rate_limit_error" => ErrorKind::RateLimited,
        "overloaded_error" => ErrorKind::Overloaded,
        _ => ErrorKind::UpstreamFailure,
    };
    plain(
        kind,
        Some(if is_word(&error.kind) {
            &error.kind
        } else {
            "error"
        }),
    )
}

/// Milliseconds to wait; a date, which needs a clock, is left out.
pub fn retry_after_ms(name: &str, value: &str) -> Option<u64> {
    let number: u64 = value.trim().parse().ok()?;
    if name == RETRY_AFTER {
        number.checked_mul(1_000)
    } else {
        Some(number)
    }
}

fn says_too_long(message: &str) -> bool {
    [
        "prompt is too long",
        "context window",
        "context limit",
        "too many total text bytes",
    ]
    .iter()
    .any(|words| message.contains(words))
}

/// 64 bytes: what `driver-error.upstream-code` holds.
fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body<'a>(kind: &'a str, message: &'a str) -> ErrorBody<'a> {
        ErrorBody {
            kind: kind.into(),
            message: message.into(),
        }
    }

    #[test]
    fn statuses_are_told_apart_and_messages_stay_inside() {
        let too_long = body(
            "invalid_request_error",
            "prompt is too long: 210000 tokens, John Doe",
        );
        let error = from_answer(400, Some(&too_long), None);
        assert_eq!(
            (error.kind, error.retryable),
            (ErrorKind::ContextTooLong, false)
        );
        assert_eq!(
            error.upstream_code.as_deref(),
            Some("invalid_request_error")
        );
        let odd = body("John Doe is rejected", "");
        assert_eq!(
            from_answer(400, Some(&odd), None).upstream_code.as_deref(),
            Some("http_400")
        );
        for (status, kind, retryable) in [
            (401, ErrorKind::UpstreamAuth, false),
            (404, ErrorKind::ModelUnavailable, false),
            (429, ErrorKind::RateLimited, true),
            (500, ErrorKind::UpstreamFailure, true),
            (529, ErrorKind::Overloaded, true),
            (302, ErrorKind::Protocol, true),
        ] {
            let error = from_answer(status, None, Some(7));
            assert_eq!(
                (error.kind, error.retryable, error.retry_after_ms),
                (kind, retryable, Some(7)),
                "{status}"
            );
        }
    }

    #[test]
    fn retry_after_is_seconds_or_milliseconds() {
        assert_eq!(retry_after_ms(RETRY_AFTER, " 3 "), Some(3_000));
        assert_eq!(retry_after_ms(RETRY_AFTER_MS, "250"), Some(250));
        assert_eq!(
            retry_after_ms(RETRY_AFTER, "Wed, 21 Oct 2026 07:28:00 GMT"),
            None
        );
    }
}
