//! Failures in machine words: status lines and error bodies of kind B as `driver-error`.
//!
//! The provider's message is looked at (some endpoints tell an over-long prompt in it alone) and never passed on.

use driver_kit::fault::{by_status, plain, refused, word};

use crate::bindings::gateway::provider::types::{DriverError, ErrorKind};
use crate::wire::{Code, ErrorBody};

/// An error status with or without a body that could be read.
pub fn from_answer(
    status: u16,
    error: Option<&ErrorBody<'_>>,
    retry_after_ms: Option<u64>,
) -> DriverError {
    let kind = match (by_status(status), error.and_then(told)) {
        // The status alone says whose fault it is (contract 21, upstream failures): a body cannot turn a rejected
        // request into one to send again, nor a bad credential or a broken provider into the caller's fault.
        (ErrorKind::InvalidRequest, Some(told)) if is_about_the_request(told) => told,
        (ErrorKind::RateLimited, Some(told)) if !is_about_the_request(told) => told,
        (by_status, _) => by_status,
    };
    refused(status, kind, error.and_then(said), retry_after_ms)
}

/// An error in a stream, or in an answer, that began with a good status.
pub fn from_body(error: &ErrorBody<'_>) -> DriverError {
    let kind = told(error).unwrap_or(match error.kind.as_deref() {
        Some("invalid_request_error") => ErrorKind::InvalidRequest,
        Some("authentication_error" | "permission_error") => ErrorKind::UpstreamAuth,
        Some("tokens" | "requests") => ErrorKind::RateLimited,
        _ => ErrorKind::UpstreamFailure,
    });
    plain(kind, Some(said(error).unwrap_or("error")))
}

/// The words that mean more than a status.
fn told(error: &ErrorBody<'_>) -> Option<ErrorKind> {
    let code = match &error.code {
        Some(Code::Word(code)) => &**code,
        Some(Code::Other(_)) | None => error.kind.as_deref().unwrap_or(""),
    };
    Some(match code {
        "context_length_exceeded" | "string_above_max_length" => ErrorKind::ContextTooLong,
        "content_filter" | "content_policy_violation" | "invalid_prompt" => {
            ErrorKind::ContentRefused
        }
        "model_not_found" => ErrorKind::ModelUnavailable,
        "invalid_api_key" => ErrorKind::UpstreamAuth,
        // The operator's bill, which no waiting pays.
        "insufficient_quota" | "billing_hard_limit_reached" => ErrorKind::UpstreamAuth,
        "rate_limit_exceeded" => ErrorKind::RateLimited,
        "server_overloaded" | "overloaded_error" => ErrorKind::Overloaded,
        _ if says_too_long(error.message.as_deref().unwrap_or("")) => ErrorKind::ContextTooLong,
        _ => return None,
    })
}

const fn is_about_the_request(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ContextTooLong | ErrorKind::ContentRefused)
}

fn says_too_long(message: &str) -> bool {
    ["maximum context length", "context window", "context length"]
        .iter()
        .any(|words| message.contains(words))
}

/// The provider's code, else its type, when it is a machine word.
fn said<'a>(error: &'a ErrorBody<'_>) -> Option<&'a str> {
    let code = match &error.code {
        Some(Code::Word(code)) => word(code),
        Some(Code::Other(_)) | None => None,
    };
    code.or_else(|| error.kind.as_deref().and_then(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body<'a>(kind: &'a str, code: Option<&'a str>, message: &'a str) -> ErrorBody<'a> {
        ErrorBody {
            kind: Some(kind.into()),
            code: code.map(|code| Code::Word(code.into())),
            message: Some(message.into()),
        }
    }

    #[test]
    fn codes_say_more_than_a_status_and_messages_stay_inside() {
        let request = "invalid_request_error";
        for (status, error, kind, word) in [
            (
                400,
                body(request, Some("context_length_exceeded"), ""),
                ErrorKind::ContextTooLong,
                "context_length_exceeded",
            ),
            (
                400,
                body(
                    "BadRequestError",
                    None,
                    "maximum context length is 8192, John Doe",
                ),
                ErrorKind::ContextTooLong,
                "BadRequestError",
            ),
            (
                400,
                body(request, Some("content_filter"), ""),
                ErrorKind::ContentRefused,
                "content_filter",
            ),
            (
                429,
                body("insufficient_quota", Some("insufficient_quota"), ""),
                ErrorKind::UpstreamAuth,
                "insufficient_quota",
            ),
            (
                400,
                body("John Doe is rejected", Some("John Doe"), ""),
                ErrorKind::InvalidRequest,
                "http_400",
            ),
            (
                429,
                body(request, Some("context_length_exceeded"), ""),
                ErrorKind::RateLimited,
                "context_length_exceeded",
            ),
            (
                415,
                body(request, Some("context_length_exceeded"), ""),
                ErrorKind::UpstreamFailure,
                "context_length_exceeded",
            ),
            (
                401,
                body(request, Some("context_length_exceeded"), ""),
                ErrorKind::UpstreamAuth,
                "context_length_exceeded",
            ),
        ] {
            let found = from_answer(status, Some(&error), None);
            assert_eq!(
                (found.kind, found.upstream_code.as_deref()),
                (kind, Some(word))
            );
        }
    }

    #[test]
    fn what_is_rejected_stays_rejected_whatever_its_code_says() {
        for code in [
            "model_not_found",
            "invalid_api_key",
            "insufficient_quota",
            "rate_limit_exceeded",
            "server_overloaded",
        ] {
            for status in [400, 413, 422] {
                let error = body("invalid_request_error", Some(code), "");
                let found = from_answer(status, Some(&error), None);
                assert_eq!(
                    (found.kind, found.retryable),
                    (ErrorKind::InvalidRequest, false),
                    "{status} {code}"
                );
                assert_eq!(found.upstream_code.as_deref(), Some(code));
            }
        }
    }
}
