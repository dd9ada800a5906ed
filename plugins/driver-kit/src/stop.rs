//! Words for the end of a reply that no wire format has and that endpoints say all the same. A driver looks here for
//! what its own format does not explain.

use crate::bindings::gateway::provider::types::{DriverError, ErrorKind, FinishReason};
use crate::fault::plain;

/// The failure that an endpoint reports where others say how the reply ended: what came before it is no reply.
pub fn failure(word: &str) -> Option<DriverError> {
    let is_failure = matches!(
        word,
        "error" | "network_error" | "insufficient_system_resource" | "abort"
    );
    is_failure.then(|| plain(ErrorKind::UpstreamFailure, Some(word)))
}

/// What a word means, from whatever endpoint it comes.
pub fn reason(word: &str) -> FinishReason {
    match word {
        "eos" | "eos_token" | "end_turn" | "stop" | "stop_sequence" => FinishReason::End,
        "length"
        | "max_tokens"
        | "model_length"
        | "model_context_window_exceeded"
        | "repetition_truncation" => FinishReason::MaxTokens,
        "content_filter" | "sensitive" => FinishReason::ContentFilter,
        "refusal" => FinishReason::Refusal,
        _ => FinishReason::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_from_ends() {
        for word in [
            "error",
            "network_error",
            "insufficient_system_resource",
            "abort",
        ] {
            let failed = failure(word);
            assert!(failed.is_some_and(|error| {
                let kind = error.kind == ErrorKind::UpstreamFailure;
                kind && error.retryable && error.upstream_code.as_deref() == Some(word)
            }));
            assert_eq!(reason(word), FinishReason::Other);
        }
        for word in ["stop", "length", "sensitive", "something_new", ""] {
            assert!(failure(word).is_none(), "{word}");
        }
    }
}
