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
    let kind = by_status(status);
    let message = match error {
        Some(error) if kind == ErrorKind::InvalidRequest => &*error.message,
        _ => "",
    };
    let word = error.and_then(|error| word(&error.kind));
    if says_foreign_thinking(message) {
        return DriverError {
            param: Some(SIGNATURE.to_owned()),
            ..refused(
                status,
                ErrorKind::UnsupportedParameter,
                word,
                retry_after_ms,
            )
        };
    }
    let kind = match says_too_long(message) {
        true => ErrorKind::ContextTooLong,
        false => kind,
    };
    refused(status, kind, word, retry_after_ms)
}

/// What the host calls the signature of a thinking block.
const SIGNATURE: &str = "signature";

/// Whether thinking was sent that this account's models did not write, or that somebody changed.
fn says_foreign_thinking(message: &str) -> bool {
    message
        .replace('`', "")
        .to_ascii_lowercase()
        .contains("signature in thinking block")
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
        let foreign = body(
            "invalid_request_error",
            "messages.1.content.0: Invalid `signature` in `thinking` block",
        );
        let error = from_answer(400, Some(&foreign), None);
        assert_eq!(
            (error.kind, error.param.as_deref()),
            (ErrorKind::UnsupportedParameter, Some("signature"))
        );
        assert_eq!(from_answer(529, Some(&foreign), None).param, None);
        let odd = body("John Doe is rejected", "");
        assert_eq!(
            from_answer(400, Some(&odd), None).upstream_code.as_deref(),
            Some("http_400")
        );
    }
}
