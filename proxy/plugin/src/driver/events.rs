//! Events of a driver as canonical events, and the order that they must keep.

use svc_core::chat::{ChatEvent, Finish, FinishReason, Usage};

use super::{DriverFailure, DriverFault, DriverFaultKind, wit_types as wit};
use crate::error::PluginError;

/// Longest machine word of a fault (provider.wit).
const MAX_WORD_BYTES: usize = 64;
/// Tool calls of one reply; more is a driver gone wrong.
const MAX_TOOL_CALLS: usize = 1_024;

/// Where a run stands between its first and its last event.
#[derive(Default)]
pub(super) struct Order {
    started: bool,
    finished: bool,
    /// Per tool call, by index: whether its end is still to come.
    calls: Vec<bool>,
}

impl Order {
    pub(super) fn finished(&self) -> bool {
        self.finished
    }

    /// Appends what `sent` means to `events`, up to a failure.
    ///
    /// # Errors
    /// The driver's own fault, or [`PluginError::Contract`] for an event out of order.
    pub(super) fn take(
        &mut self,
        sent: Vec<wit::Event>,
        events: &mut Vec<ChatEvent>,
    ) -> Result<(), DriverFailure> {
        for event in sent {
            if self.finished {
                return Err(PluginError::Contract("an event after the last").into());
            }
            if let Some(event) = self.one(event)? {
                events.push(event);
            }
        }
        Ok(())
    }

    fn one(&mut self, event: wit::Event) -> Result<Option<ChatEvent>, DriverFailure> {
        let is_early = matches!(
            event,
            wit::Event::Started(_) | wit::Event::KeepAlive | wit::Event::Failed(_)
        );
        if !self.started && !is_early {
            return Err(PluginError::Contract("an event before the first").into());
        }
        Ok(Some(match event {
            wit::Event::Started((provider_id, provider_model)) => {
                if std::mem::replace(&mut self.started, true) {
                    return Err(PluginError::Contract("two first events").into());
                }
                ChatEvent::Started {
                    provider_id,
                    provider_model,
                }
            }
            wit::Event::Text(text) => ChatEvent::Text(text),
            wit::Event::Reasoning(text) => ChatEvent::Reasoning(text),
            wit::Event::ReasoningSignature(text) => ChatEvent::ReasoningSignature(text),
            wit::Event::RedactedReasoning(data) => ChatEvent::RedactedReasoning { data },
            wit::Event::ToolCallStart((index, id, name)) => {
                if index as usize != self.calls.len() || self.calls.len() == MAX_TOOL_CALLS {
                    return Err(PluginError::Contract("tool calls are not numbered densely").into());
                }
                self.calls.push(true);
                ChatEvent::ToolCallStart { index, id, name }
            }
            wit::Event::ToolCallDelta((index, fragment)) => {
                self.open_call(index)?;
                ChatEvent::ToolCallDelta { index, fragment }
            }
            wit::Event::ToolCallEnd(index) => {
                *self.open_call(index)? = false;
                ChatEvent::ToolCallEnd { index }
            }
            wit::Event::ProviderToolCompleted((tool_type, item_id)) => {
                ChatEvent::ProviderToolCompleted { tool_type, item_id }
            }
            wit::Event::Usage(usage) => ChatEvent::Usage(usage_from_wit(usage)),
            wit::Event::KeepAlive => ChatEvent::KeepAlive,
            wit::Event::Finished(finish) => {
                if self.calls.iter().any(|open| *open) {
                    return Err(PluginError::Contract("the reply ends inside a tool call").into());
                }
                self.finished = true;
                ChatEvent::Finished(finish_from_wit(finish))
            }
            wit::Event::Failed(error) => return Err(fault(error).into()),
            wit::Event::Other((name, _)) if name.starts_with("must-") => {
                return Err(PluginError::Contract("an event that this host does not know").into());
            }
            wit::Event::Other(_) => return Ok(None),
        }))
    }

    fn open_call(&mut self, index: u32) -> Result<&mut bool, DriverFailure> {
        let call = self.calls.get_mut(index as usize).filter(|open| **open);
        call.ok_or_else(|| PluginError::Contract("a piece of a tool call that is not open").into())
    }
}

/// The driver's report, cut down to machine words.
pub(super) fn fault(error: wit::DriverError) -> DriverFault {
    let wit::DriverError {
        kind,
        param,
        upstream_code,
        retryable,
        retry_after_ms,
    } = error;
    DriverFault {
        kind: match kind {
            wit::ErrorKind::UnsupportedParameter => DriverFaultKind::UnsupportedParameter,
            wit::ErrorKind::InvalidRequest => DriverFaultKind::InvalidRequest,
            wit::ErrorKind::UpstreamAuth => DriverFaultKind::UpstreamAuth,
            wit::ErrorKind::RateLimited => DriverFaultKind::RateLimited,
            wit::ErrorKind::Overloaded => DriverFaultKind::Overloaded,
            wit::ErrorKind::ContextTooLong => DriverFaultKind::ContextTooLong,
            wit::ErrorKind::ContentRefused => DriverFaultKind::ContentRefused,
            wit::ErrorKind::ModelUnavailable => DriverFaultKind::ModelUnavailable,
            wit::ErrorKind::UpstreamFailure => DriverFaultKind::UpstreamFailure,
            wit::ErrorKind::Protocol => DriverFaultKind::Protocol,
            wit::ErrorKind::Internal => DriverFaultKind::Internal,
            wit::ErrorKind::Other => DriverFaultKind::Other,
        },
        param: param.and_then(|text| word(&text, b"_.:-[]")),
        upstream_code: upstream_code.and_then(|text| word(&text, b"_.:-")),
        retryable,
        retry_after_ms,
    }
}

/// The text's start, as far as it is letters, digits and `marks`; none when nothing is left.
fn word(text: &str, marks: &[u8]) -> Option<String> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || marks.contains(byte);
    let word: String = text
        .bytes()
        .take_while(is_part)
        .take(MAX_WORD_BYTES)
        .map(char::from)
        .collect();
    (!word.is_empty()).then_some(word)
}

fn usage_from_wit(usage: wit::Usage) -> Usage {
    let wit::Usage {
        input_tokens,
        output_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
        ext: _,
    } = usage;
    Usage {
        input_tokens,
        output_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
    }
}

fn finish_from_wit(finish: wit::Finish) -> Finish {
    let wit::Finish {
        reason,
        raw,
        stop_sequence,
        ext: _,
    } = finish;
    Finish {
        reason: match reason {
            wit::FinishReason::End => FinishReason::Stop,
            wit::FinishReason::MaxTokens => FinishReason::Length,
            wit::FinishReason::ToolCalls => FinishReason::ToolCalls,
            wit::FinishReason::Refusal => FinishReason::Refusal,
            wit::FinishReason::ContentFilter => FinishReason::ContentFilter,
            wit::FinishReason::Other => FinishReason::Other,
        },
        raw: stop_word(raw),
        stop_sequence,
    }
}

/// The provider's word for the end of a reply, which callers see. What is no word could be anything that the provider
/// was told.
fn stop_word(raw: String) -> String {
    let is_part = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    if raw.len() <= MAX_WORD_BYTES && raw.bytes().all(is_part) {
        raw
    } else {
        "other".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started() -> wit::Event {
        wit::Event::Started(("id".to_owned(), "model".to_owned()))
    }

    fn finished() -> wit::Event {
        wit::Event::Finished(wit::Finish {
            reason: wit::FinishReason::End,
            raw: "end".to_owned(),
            stop_sequence: None,
            ext: Vec::new(),
        })
    }

    #[test]
    fn an_end_is_told_in_a_word_or_not_at_all() {
        let told = |raw: &str| {
            finish_from_wit(wit::Finish {
                reason: wit::FinishReason::Other,
                raw: raw.to_owned(),
                stop_sequence: None,
                ext: Vec::new(),
            })
            .raw
        };
        assert_eq!(told("end_turn"), "end_turn");
        assert_eq!(told("of Jane Doe"), "other");
        assert_eq!(told("536-22-8714"), "other");
        assert_eq!(told(&"a".repeat(MAX_WORD_BYTES + 1)), "other");
    }

    fn call(index: u32) -> wit::Event {
        wit::Event::ToolCallStart((index, "id".to_owned(), "name".to_owned()))
    }

    #[test]
    fn events_out_of_order_are_refused() {
        let mut good = Vec::new();
        let sent = vec![
            started(),
            call(0),
            call(1),
            wit::Event::ToolCallEnd(1),
            wit::Event::ToolCallEnd(0),
            finished(),
        ];
        assert!(Order::default().take(sent, &mut good).is_ok());
        assert_eq!(good.len(), 6);
        for sent in [
            vec![wit::Event::Text("a".to_owned())],
            vec![started(), started()],
            vec![started(), call(1)],
            vec![started(), call(0), finished()],
            vec![started(), wit::Event::ToolCallDelta((0, "a".to_owned()))],
            vec![
                started(),
                call(0),
                wit::Event::ToolCallEnd(0),
                wit::Event::ToolCallEnd(0),
            ],
            vec![started(), finished(), wit::Event::KeepAlive],
            vec![
                started(),
                wit::Event::Other(("must-new".to_owned(), Vec::new())),
            ],
        ] {
            assert!(matches!(
                Order::default().take(sent, &mut good),
                Err(DriverFailure::Plugin(PluginError::Contract(_)))
            ));
        }
    }

    #[test]
    fn faults_carry_machine_words_only() {
        let error = wit::DriverError {
            kind: wit::ErrorKind::Other,
            param: Some("messages[2].content".to_owned()),
            upstream_code: Some("rate_limit: John Doe".to_owned()),
            retryable: true,
            retry_after_ms: None,
        };
        let fault = fault(error);
        assert_eq!(fault.param.as_deref(), Some("messages[2].content"));
        assert_eq!(fault.upstream_code.as_deref(), Some("rate_limit:"));
        assert_eq!(word(" John", b""), None);
        assert_eq!(
            word(&"a".repeat(100), b"").map(|word| word.len()),
            Some(MAX_WORD_BYTES)
        );
    }
}
