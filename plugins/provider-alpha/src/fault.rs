//! Failures in machine words: status lines and error bodies of kind A as `driver-error`.
//!
//! The provider's message is looked at (only it tells an over-long prompt from another bad request) and never
//! passed on.

use driver_kit::fault::{by_status, plain, refused, word};

use crate::bindings::gateway::provider::types::{DriverError, ErrorKind};
use crate::wire::ErrorBody;

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
    let word = error.and_then(|error| word(&error.kind));
    refused(status, kind, word, retry_after_ms)
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
    plain(kind, Some(word(&error.kind).unwrap_or("error")))
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
    }
}
