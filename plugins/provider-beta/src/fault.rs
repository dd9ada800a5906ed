//! Failures in machine words: status lines and error bodies of kind B as `driver-error`.
//!
//! The provider's message is looked at (some endpoints tell an over-long prompt in it alone) and never passed on.

use crate::bindings::gateway::provider::types::{DriverError, ErrorKind};
use crate::wire::{Code, ErrorBody};

pub const RETRY_AFTER: &str = "retry-after";
pub const RETRY_AFTER_MS: &str = "retry-after-ms";

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

/// An answer that is not the chat-completions wire format, or ended early.
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

/// An error status with or without a body that could be read.
pub fn from_answer(
    status: u16,
    error: Option<&ErrorBody<'_>>,
    retry_after_ms: Option<u64>,
) -> DriverError {
    let by_status = by_status(status);
    let kind = match error.and_then(told) {
        // A body cannot turn a bad credential or a broken provider into the caller's fault.
        Some(told) if by_status == ErrorKind::InvalidRequest || status == 429 => told,
        _ => by_status,
    };
    let word = error.and_then(word);
    let code = word.map_or_else(|| format!("http_{status}"), str::to_owned);
    DriverError {
        retry_after_ms,
        ..plain(kind, Some(&code))
    }
}

/// An error in a stream, or in an answer, that began with a good status.
pub fn from_body(error: &ErrorBody<'_>) -> DriverError {
    let kind = told(error).unwrap_or(match error.kind.as_deref() {
        Some("invalid_request_error") => ErrorKind::InvalidRequest,
        Some("authentication_error" | "permission_error") => ErrorKind::UpstreamAuth,
        Some("tokens" | "requests") => ErrorKind::RateLimited,
        _ => ErrorKind::UpstreamFailure,
    });
    plain(kind, Some(word(error).unwrap_or("error")))
}

/// What an error status means when its body says nothing more.
fn by_status(status: u16) -> ErrorKind {
    match status {
        401..=403 => ErrorKind::UpstreamAuth,
        404 | 410 => ErrorKind::ModelUnavailable,
        429 => ErrorKind::RateLimited,
        503 | 529 => ErrorKind::Overloaded,
        408 | 409 | 425 | 500..=599 => ErrorKind::UpstreamFailure,
        300..=399 => ErrorKind::Protocol,
        _ => ErrorKind::InvalidRequest,
    }
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

fn says_too_long(message: &str) -> bool {
    ["maximum context length", "context window", "context length"]
        .iter()
        .any(|words| message.contains(words))
}

/// The provider's code, else its type, when it is a machine word.
fn word<'a>(error: &'a ErrorBody<'_>) -> Option<&'a str> {
    let code = match &error.code {
        Some(Code::Word(code)) => Some(&**code),
        Some(Code::Other(_)) | None => None,
    };
    code.filter(|code| is_word(code))
        .or_else(|| error.kind.as_deref().filter(|kind| is_word(kind)))
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

    fn body<'a>(kind: &'a str, code: Option<&'a str>, message: &'a str) -> ErrorBody<'a> {
        ErrorBody {
            kind: Some(kind.into()),
            code: code.map(|code| Code::Word(code.into())),
            message: Some(message.into()),
        }
    }

    #[test]
    fn statuses_are_told_apart() {
        for (status, kind, retryable) in [
            (400, ErrorKind::InvalidRequest, false),
            (401, ErrorKind::UpstreamAuth, false),
            (404, ErrorKind::ModelUnavailable, false),
            (429, ErrorKind::RateLimited, true),
            (500, ErrorKind::UpstreamFailure, true),
            (503, ErrorKind::Overloaded, true),
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
    fn retry_after_is_seconds_or_milliseconds() {
        assert_eq!(retry_after_ms(RETRY_AFTER, " 3 "), Some(3_000));
        assert_eq!(retry_after_ms(RETRY_AFTER_MS, "250"), Some(250));
        assert_eq!(
            retry_after_ms(RETRY_AFTER, "Wed, 21 Oct 2026 07:28:00 GMT"),
            None
        );
    }
}
