//! Events of a driver as canonical events, and the order that they must keep.

use svc_core::chat::{ChatEvent, Finish, FinishReason, Fragments, Usage, without_nul};

use super::{DriverFailure, DriverFault, DriverFaultKind, wit_types as wit};
use crate::error::PluginError;

/// Longest machine word of a fault (provider.wit).
const MAX_WORD_BYTES: usize = 64;
/// Tool calls of one reply; more is a driver gone wrong.
const MAX_TOOL_CALLS: usize = 1_024;

/// The event by which a driver says that the model declines, where its wire format tells.
const DECLINED: &str = "declined";

/// Bytes of all that one reply says: as many as an unstreamed answer may have.
const MAX_REPLY_BYTES: usize = 16 * 1024 * 1024;
/// What each piece of it counts for besides: an empty one is kept all the same, and takes some hundred bytes. The
/// largest outputs of models are 128,000 tokens, of a piece each.
const EVENT_BYTES: usize = 32;
/// Tokens that a provider can have counted: many times the largest window, and no sum of prices overflows by them.
pub(super) const MAX_TOKENS: u64 = 1 << 32;

/// Where a run stands between its first and its last event.
#[derive(Default)]
pub(super) struct Order {
    started: bool,
    finished: bool,
    /// Tool calls by index.
    calls: Vec<Call>,
    said_bytes: usize,
    /// The last call, where it has ended and said nothing. Whether it has no arguments, or the reply was cut off in
    /// front of them, is told by what follows.
    unsaid: Option<u32>,
    /// Where the caller has asked to stop.
    stop_sequences: Vec<String>,
}

/// A tool call that has started.
struct Call {
    id: String,
    is_over: bool,
    arguments: Fragments,
}

impl Order {
    /// Of a reply that may end at each of `stop_sequences`.
    pub(super) fn new(stop_sequences: Vec<String>) -> Self {
        Self {
            stop_sequences,
            ..Self::default()
        }
    }

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
            self.one(event, events)?;
        }
        Ok(())
    }

    fn one(&mut self, event: wit::Event, events: &mut Vec<ChatEvent>) -> Result<(), DriverFailure> {
        let is_early = matches!(
            event,
            wit::Event::Started(_) | wit::Event::KeepAlive | wit::Event::Failed(_)
        );
        if !self.started && !is_early {
            return Err(PluginError::Contract("an event before the first").into());
        }
        if let Some(bytes) = content_bytes(&event) {
            self.said_bytes = self.said_bytes.saturating_add(bytes);
            if self.said_bytes > MAX_REPLY_BYTES {
                return Err(protocol("reply_too_long").into());
            }
            self.end_unsaid(events);
        }
        let event = match event {
            wit::Event::Started((provider_id, provider_model)) => {
                if std::mem::replace(&mut self.started, true) {
                    return Err(PluginError::Contract("two first events").into());
                }
                ChatEvent::Started {
                    provider_id,
                    provider_model,
                }
            }
            wit::Event::Text(text) => ChatEvent::Text(without_nul(text)),
            // Its signature is over what stands there. PHI Guard, which seals that for its caller, mends it.
            wit::Event::Reasoning(text) => ChatEvent::Reasoning(text),
            wit::Event::ReasoningSignature(text) => ChatEvent::ReasoningSignature(text),
            wit::Event::RedactedReasoning(data) => ChatEvent::RedactedReasoning { data },
            wit::Event::ToolCallStart((index, id, name)) => {
                if index as usize != self.calls.len() || self.calls.len() == MAX_TOOL_CALLS {
                    return Err(PluginError::Contract("tool calls are not numbered densely").into());
                }
                if name.is_empty() {
                    return Err(protocol("nameless_tool_call").into());
                }
                let (id, name) = (self.id_of_its_own(without_nul(id)), without_nul(name));
                self.calls.push(Call {
                    id: id.clone(),
                    is_over: false,
                    arguments: Fragments::default(),
                });
                ChatEvent::ToolCallStart { index, id, name }
            }
            wit::Event::ToolCallDelta((index, fragment)) => {
                let arguments = &mut self.open_call(index)?.arguments;
                match arguments.take(without_nul(fragment)) {
                    Some(fragment) => ChatEvent::ToolCallDelta { index, fragment },
                    None => return Ok(()),
                }
            }
            wit::Event::ToolCallEnd(index) => return self.end_call(index, events),
            wit::Event::ProviderToolCompleted((tool_type, item_id)) => {
                let (tool_type, item_id) = (shown_word(tool_type), without_nul(item_id));
                ChatEvent::ProviderToolCompleted { tool_type, item_id }
            }
            wit::Event::Usage(usage) => ChatEvent::Usage(usage_from_wit(usage)?),
            wit::Event::KeepAlive => ChatEvent::KeepAlive,
            wit::Event::Finished(finish) => {
                if self.calls.iter().any(|call| !call.is_over) {
                    return Err(PluginError::Contract("the reply ends inside a tool call").into());
                }
                self.finished = true;
                let finish = self.finish(finish);
                if finish.reason == FinishReason::Length {
                    let cut = self.unsaid.take();
                    events.extend(cut.map(|index| ChatEvent::ToolCallEnd { index }));
                }
                self.end_unsaid(events);
                ChatEvent::Finished(finish)
            }
            wit::Event::Failed(error) => return Err(fault(error).into()),
            wit::Event::Other((name, _)) if name.starts_with("must-") => {
                return Err(PluginError::Contract("an event that this host does not know").into());
            }
            wit::Event::Other((name, _)) if name == DECLINED => ChatEvent::Declined,
            wit::Event::Other(_) => return Ok(()),
        };
        events.push(event);
        Ok(())
    }

    /// A result finds its call by the id alone: a call without one, or with that of another, gets one that no other has.
    fn id_of_its_own(&self, id: String) -> String {
        let is_free = |id: &String| !self.calls.iter().any(|call| call.id == *id);
        if !id.is_empty() && is_free(&id) {
            return id;
        }
        let stem = if id.is_empty() { "call" } else { &id };
        let mut others = (self.calls.len()..).map(|number| format!("{stem}_{number}"));
        others.find(is_free).unwrap_or_default()
    }

    /// Ends a call. One that says nothing has no arguments, if another call has started behind it.
    fn end_call(&mut self, index: u32, events: &mut Vec<ChatEvent>) -> Result<(), DriverFailure> {
        let is_last = index as usize + 1 == self.calls.len();
        let call = self.open_call(index)?;
        call.is_over = true;
        match call.arguments.end() {
            Some(fragment) if fragment.is_empty() => {}
            Some(fragment) => events.push(ChatEvent::ToolCallDelta { index, fragment }),
            None if is_last => {
                self.unsaid = Some(index);
                return Ok(());
            }
            None => events.push(no_arguments(index)),
        }
        events.push(ChatEvent::ToolCallEnd { index });
        Ok(())
    }

    /// The call that said nothing is whole.
    fn end_unsaid(&mut self, events: &mut Vec<ChatEvent>) {
        if let Some(index) = self.unsaid.take() {
            events.push(no_arguments(index));
            events.push(ChatEvent::ToolCallEnd { index });
        }
    }

    /// A stop sequence is told to the caller as it is. One that nobody asked for could be anything that the provider
    /// was told. Whether a reply that came to its end waits for results is told by its calls: providers have more than
    /// one word for it.
    fn finish(&self, finish: wit::Finish) -> Finish {
        let wit::Finish {
            reason,
            raw,
            stop_sequence,
            ext,
        } = finish;
        Finish {
            reason: match reason {
                wit::FinishReason::End | wit::FinishReason::ToolCalls => {
                    match self.calls.is_empty() {
                        true => FinishReason::Stop,
                        false => FinishReason::ToolCalls,
                    }
                }
                wit::FinishReason::MaxTokens => FinishReason::Length,
                wit::FinishReason::Refusal => FinishReason::Refusal,
                wit::FinishReason::ContentFilter => FinishReason::ContentFilter,
                wit::FinishReason::Other => FinishReason::Other,
            },
            raw: shown_word(raw),
            stop_sequence: stop_sequence.filter(|stop| self.stop_sequences.contains(stop)),
            refused_category: refused_category(&ext),
        }
    }

    fn open_call(&mut self, index: u32) -> Result<&mut Call, DriverFailure> {
        let call = self.calls.get_mut(index as usize);
        let call = call.filter(|call| !call.is_over);
        call.ok_or_else(|| PluginError::Contract("a piece of a tool call that is not open").into())
    }
}

/// The arguments of a call that has none: clients fail on no text at all (wire.md 2, point 9).
fn no_arguments(index: u32) -> ChatEvent {
    ChatEvent::ToolCallDelta {
        index,
        fragment: "{}".to_owned(),
    }
}

/// How much the model says with this, where it goes on: what it said before is whole then.
fn content_bytes(event: &wit::Event) -> Option<usize> {
    let bytes = match event {
        wit::Event::Text(text)
        | wit::Event::Reasoning(text)
        | wit::Event::ReasoningSignature(text)
        | wit::Event::RedactedReasoning(text)
        | wit::Event::ToolCallDelta((_, text)) => mended_bytes(text),
        wit::Event::ToolCallStart((_, one, other))
        | wit::Event::ProviderToolCompleted((one, other)) => {
            mended_bytes(one) + mended_bytes(other)
        }
        wit::Event::Started(_)
        | wit::Event::ToolCallEnd(_)
        | wit::Event::Usage(_)
        | wit::Event::KeepAlive
        | wit::Event::Finished(_)
        | wit::Event::Failed(_)
        | wit::Event::Other(_) => return None,
    };
    Some(bytes + EVENT_BYTES)
}

/// The length of a text once it is [`without_nul`].
fn mended_bytes(text: &str) -> usize {
    let growth = char::REPLACEMENT_CHARACTER.len_utf8() - 1;
    text.len() + growth * text.bytes().filter(|byte| *byte == 0).count()
}

/// An answer that no caller could go on from, whatever its driver made of it.
pub(super) fn protocol(word: &str) -> DriverFault {
    DriverFault {
        kind: DriverFaultKind::Protocol,
        param: None,
        upstream_code: Some(word.to_owned()),
        retryable: true,
        retry_after_ms: None,
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

/// # Errors
/// A count that no model can have reached.
fn usage_from_wit(usage: wit::Usage) -> Result<Usage, DriverFault> {
    let wit::Usage {
        input_tokens,
        output_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
        ext: _,
    } = usage;
    let counts = [
        input_tokens,
        output_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
    ];
    if counts.iter().any(|count| *count > MAX_TOKENS) {
        return Err(protocol("impossible_usage"));
    }
    Ok(Usage {
        input_tokens,
        output_tokens,
        cache_read_input_tokens,
        cache_creation_input_tokens,
    })
}

/// The hint of an end that says what made the model refuse.
const CATEGORY: &str = "category";

/// The provider's word for what made the model refuse, if it is one word.
fn refused_category(ext: &[(String, Vec<u8>)]) -> Option<String> {
    let (_, said) = ext.iter().find(|(name, _)| name == CATEGORY)?;
    let word = serde_json::from_slice::<String>(said).ok()?;
    is_shown_word(&word).then_some(word)
}

/// The provider's word for the end of a reply or for a tool of its own, which callers see. What is no word could be
/// anything that the provider was told.
fn shown_word(raw: String) -> String {
    if is_shown_word(&raw) {
        raw
    } else {
        "other".to_owned()
    }
}

fn is_shown_word(raw: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    raw.len() <= MAX_WORD_BYTES && raw.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started() -> wit::Event {
        wit::Event::Started(("id".to_owned(), "model".to_owned()))
    }

    fn finished() -> wit::Event {
        finished_by(wit::FinishReason::End)
    }

    fn finished_by(reason: wit::FinishReason) -> wit::Event {
        wit::Event::Finished(wit::Finish {
            reason,
            raw: "end".to_owned(),
            stop_sequence: None,
            ext: Vec::new(),
        })
    }

    #[test]
    fn an_end_is_told_in_a_word_or_not_at_all() {
        let told = |raw: &str| {
            let finish = wit::Finish {
                reason: wit::FinishReason::Other,
                raw: raw.to_owned(),
                stop_sequence: None,
                ext: Vec::new(),
            };
            Order::default().finish(finish).raw
        };
        let category = |said: &str| {
            let ext = vec![(CATEGORY.to_owned(), said.as_bytes().to_vec())];
            refused_category(&ext)
        };
        assert_eq!(category(r#""bio""#).as_deref(), Some("bio"));
        for other in [r#""of Jane Doe""#, "null", "7", "bio"] {
            assert_eq!(category(other), None);
        }
        assert_eq!(told("end_turn"), "end_turn");
        assert_eq!(told("of Jane Doe"), "other");
        assert_eq!(told("536-22-8714"), "other");
        assert_eq!(told(&"a".repeat(MAX_WORD_BYTES + 1)), "other");
    }

    #[test]
    fn a_tool_of_the_provider_is_told_in_a_word_or_not_at_all() {
        for (named, told) in [
            ("web_search", "web_search"),
            ("Jane Doe", "other"),
            ("536-22-8714", "other"),
        ] {
            let tool = wit::Event::ProviderToolCompleted((named.to_owned(), "id".to_owned()));
            let mut events = Vec::new();
            assert!(
                Order::default()
                    .take(vec![started(), tool], &mut events)
                    .is_ok()
            );
            let types = events.into_iter().filter_map(|event| match event {
                ChatEvent::ProviderToolCompleted { tool_type, .. } => Some(tool_type),
                _ => None,
            });
            assert_eq!(types.collect::<Vec<_>>(), [told]);
        }
    }

    #[test]
    fn a_stop_sequence_is_told_where_the_caller_asked_for_it() {
        let order = Order::new(vec!["END".to_owned(), "[NAME_1]".to_owned()]);
        let told = |stop: Option<&str>| {
            let finish = wit::Finish {
                reason: wit::FinishReason::End,
                raw: "stop_sequence".to_owned(),
                stop_sequence: stop.map(str::to_owned),
                ext: Vec::new(),
            };
            order.finish(finish).stop_sequence
        };
        for asked in ["END", "[NAME_1]"] {
            assert_eq!(told(Some(asked)).as_deref(), Some(asked));
        }
        for other in [Some("END of Jane Doe"), Some("536-22-8714"), Some(""), None] {
            assert_eq!(told(other), None);
        }
    }

    fn call(index: u32) -> wit::Event {
        call_of(index, &format!("id_{index}"))
    }

    fn call_of(index: u32, id: &str) -> wit::Event {
        wit::Event::ToolCallStart((index, id.to_owned(), "name".to_owned()))
    }

    fn piece(index: u32, fragment: &str) -> wit::Event {
        wit::Event::ToolCallDelta((index, fragment.to_owned()))
    }

    fn end(index: u32) -> wit::Event {
        wit::Event::ToolCallEnd(index)
    }

    /// What becomes of a reply: its text, and the pieces and ends of its calls.
    fn told(sent: impl IntoIterator<Item = wit::Event>) -> Vec<String> {
        let mut events = Vec::new();
        let sent = std::iter::once(started()).chain(sent).collect();
        assert!(Order::default().take(sent, &mut events).is_ok());
        let words = events.into_iter().filter_map(|event| match event {
            ChatEvent::Text(text) => Some(text),
            ChatEvent::ToolCallDelta { index, fragment } => Some(format!("{index} {fragment}")),
            ChatEvent::ToolCallEnd { index } => Some(format!("end {index}")),
            ChatEvent::Finished(_) => Some("finished".to_owned()),
            _ => None,
        });
        words.collect()
    }

    #[test]
    fn a_call_at_the_limit_that_said_nothing_never_got_its_arguments() {
        use wit::FinishReason::{ContentFilter, End, MaxTokens, Other, Refusal, ToolCalls};
        let silent = || [call(0), call(1), piece(1, ""), end(1), end(0)];
        let cut = silent().into_iter().chain([finished_by(MaxTokens)]);
        assert_eq!(told(cut), ["0 {}", "end 0", "end 1", "finished"]);
        let whole = ["0 {}", "end 0", "1 {}", "end 1", "finished"];
        for reason in [End, ToolCalls, Refusal, ContentFilter, Other] {
            let said = silent().into_iter().chain([finished_by(reason)]);
            assert_eq!(told(said), whole);
        }
    }

    #[test]
    fn a_call_that_the_model_went_on_from_is_whole() {
        let search = wit::Event::ProviderToolCompleted(("search".to_owned(), "id".to_owned()));
        let limit = || finished_by(wit::FinishReason::MaxTokens);
        let text = wit::Event::Text("so".to_owned());
        let before_text = told([call(0), end(0), text, limit()]);
        assert_eq!(before_text, ["0 {}", "end 0", "so", "finished"]);
        let before_search = told([call(0), end(0), search, limit()]);
        assert_eq!(before_search, ["0 {}", "end 0", "finished"]);
    }

    #[test]
    fn arguments_that_say_nothing_are_an_empty_object() {
        for text in ["", " ", "\n", "null", " null\n"] {
            let told_by = |reason| {
                let pieces = text.chars().map(|char| piece(0, &char.to_string()));
                let ending = [end(0), finished_by(reason)];
                told([call(0)].into_iter().chain(pieces).chain(ending))
            };
            let whole = told_by(wit::FinishReason::ToolCalls);
            assert_eq!(whole, ["0 {}", "end 0", "finished"], "{text:?}");
            let cut = told_by(wit::FinishReason::MaxTokens);
            assert_eq!(cut, ["end 0", "finished"], "{text:?}");
        }
        for (text, shown) in [(" nulx", "0 nulx"), (" nul", "0 nul")] {
            let said = told([call(0), piece(0, text), end(0), finished()]);
            assert_eq!(said, [shown, "end 0", "finished"]);
        }
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
        // Neither call has arguments, which takes a piece each.
        assert_eq!(good.len(), 8);
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
    fn calls_that_no_result_could_tell_apart_get_ids_of_their_own() {
        for (given, expected) in [
            (["", "", "c"], ["call_0", "call_1", "c"]),
            (["c", "c", "c"], ["c", "c_1", "c_2"]),
            (["c_1", "c", "c"], ["c_1", "c", "c_2"]),
            (["c", "c_2", "c"], ["c", "c_2", "c_3"]),
        ] {
            let calls = (0..).zip(given);
            let calls = calls.flat_map(|(index, id)| [call_of(index, id), end(index)]);
            let sent = std::iter::once(started()).chain(calls).collect();
            let mut events = Vec::new();
            assert_eq!(Order::default().take(sent, &mut events), Ok(()));
            let ids = events.into_iter().filter_map(|event| match event {
                ChatEvent::ToolCallStart { id, .. } => Some(id),
                _ => None,
            });
            assert_eq!(ids.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_call_without_a_name_is_the_providers_fault() {
        let nameless = wit::Event::ToolCallStart((0, "id".to_owned(), String::new()));
        let taken = Order::default().take(vec![started(), nameless], &mut Vec::new());
        let expected = DriverFailure::Fault(protocol("nameless_tool_call"));
        assert_eq!(taken, Err(expected));
    }

    #[test]
    fn what_could_not_be_sent_back_is_replaced() {
        let text = wit::Event::Text("a\0b".to_owned());
        let pieces = ["{\"a\":\"\0", "\\u00", "00\"}"].map(|fragment| piece(0, fragment));
        let sent = [text, call(0)].into_iter().chain(pieces).chain([end(0)]);
        let expected = ["a\u{fffd}b", "0 {\"a\":\"\u{fffd}", "0 \\ufffd\"}", "end 0"];
        assert_eq!(told(sent), expected);
    }

    #[test]
    fn a_reply_waits_for_results_where_it_has_calls() {
        use wit::FinishReason::{End, MaxTokens, ToolCalls};
        let reason_of = |sent: Vec<wit::Event>, reason| {
            let sent = [vec![started()], sent, vec![finished_by(reason)]].concat();
            let mut events = Vec::new();
            assert!(Order::default().take(sent, &mut events).is_ok());
            match events.pop() {
                Some(ChatEvent::Finished(finish)) => Some(finish.reason),
                _ => None,
            }
        };
        let called = || vec![call(0), end(0)];
        for reason in [End, ToolCalls] {
            let waits = reason_of(called(), reason);
            assert_eq!(waits, Some(FinishReason::ToolCalls));
            let is_over = reason_of(vec![piece_of_text()], reason);
            assert_eq!(is_over, Some(FinishReason::Stop));
        }
        let cut = reason_of(called(), MaxTokens);
        assert_eq!(cut, Some(FinishReason::Length));
    }

    #[test]
    fn a_reply_without_an_end_and_counts_that_cannot_be_are_the_providers_fault() {
        let page = || wit::Event::Text("a".repeat(MAX_REPLY_BYTES / 4 - EVENT_BYTES));
        let fits = vec![started(), page(), page(), page(), page()];
        let mut order = Order::default();
        assert_eq!(order.take(fits, &mut Vec::new()), Ok(()));
        let more = order.take(vec![piece_of_text()], &mut Vec::new());
        let too_long = || DriverFailure::Fault(protocol("reply_too_long"));
        assert_eq!(more, Err(too_long()));
        // NUL counts as what takes its place.
        let nuls = wit::Event::Text("\0".repeat(MAX_REPLY_BYTES / 3));
        let more = Order::default().take(vec![started(), nuls], &mut Vec::new());
        assert_eq!(more, Err(too_long()));
        // What is empty is kept all the same.
        let empty = [
            wit::Event::Text(String::new()),
            wit::Event::Reasoning(String::new()),
            wit::Event::ReasoningSignature(String::new()),
            wit::Event::RedactedReasoning(String::new()),
            wit::Event::ProviderToolCompleted((String::new(), String::new())),
        ];
        for event in empty {
            let mut order = Order::default();
            assert_eq!(order.take(vec![started()], &mut Vec::new()), Ok(()));
            let most = MAX_REPLY_BYTES / EVENT_BYTES;
            let fits = vec![event.clone(); most];
            assert_eq!(order.take(fits, &mut Vec::new()), Ok(()));
            let more = order.take(vec![event], &mut Vec::new());
            assert_eq!(more, Err(too_long()));
        }

        let usage = |output_tokens| {
            wit::Event::Usage(wit::Usage {
                input_tokens: 1,
                output_tokens,
                cache_read_input_tokens: 0,
                cache_creation_input_tokens: 0,
                ext: Vec::new(),
            })
        };
        let counted = |tokens| {
            let sent = vec![started(), usage(tokens)];
            Order::default().take(sent, &mut Vec::new())
        };
        assert_eq!(counted(MAX_TOKENS), Ok(()));
        let impossible = || Err(DriverFailure::Fault(protocol("impossible_usage")));
        assert_eq!(counted(MAX_TOKENS + 1), impossible());
        assert_eq!(counted(u64::MAX), impossible());
    }

    fn piece_of_text() -> wit::Event {
        wit::Event::Text("a".to_owned())
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
