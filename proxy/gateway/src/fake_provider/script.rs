//! What the fake is told to do: a list of behaviours, each for one or more of the coming requests.
//!
//! A test puts the list (`PUT /_control/script`); each request takes the first behaviour that matches it.
//! Every field has a neutral default, so a behaviour names only what it wants.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Barrier;

use crate::fake_provider::listener::Close;

/// Bound on waiting behaviours: more is a test that lost its way.
const MAX_BEHAVIOURS: usize = 10_000;

/// The body of `PUT` and `POST /_control/script`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Orders {
    pub(crate) behaviours: Vec<Behaviour>,
}

/// One behaviour: which requests it is for, what it answers, and what goes wrong.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Behaviour {
    /// Takes only requests whose model, last user turn or answers of tools contain this.
    pub(crate) contains: Option<String>,
    /// How many requests it is for.
    pub(crate) times: u64,

    // What is answered.
    /// The text, instead of the echo.
    pub(crate) text: Option<String>,
    /// The text in exactly these pieces, one stream event each.
    pub(crate) text_chunks: Option<Vec<String>>,
    /// The text in this many pieces; without `text` it counts: `1 2 3 `.
    pub(crate) event_count: Option<u32>,
    /// Thinking in front of the text.
    pub(crate) thinking: Option<String>,
    /// Redacted thinking in front of the text: its opaque data.
    pub(crate) redacted_thinking: Option<String>,
    /// Tool calls behind the text.
    pub(crate) tools: Vec<ToolCall>,
    /// Stop reason in the words of the wire format.
    pub(crate) stop_reason: Option<String>,
    pub(crate) usage: Option<UsageOrder>,

    // What is answered instead.
    /// An error with this status.
    pub(crate) status: Option<u16>,
    pub(crate) error_type: Option<String>,
    /// The default message quotes the last user text, as real ones may.
    pub(crate) error_message: Option<String>,
    /// Value of the `retry-after` header, sent as it stands.
    pub(crate) retry_after: Option<String>,
    /// A page of HTML with status 200, as a proxy between would send.
    pub(crate) html_page: bool,
    /// These bytes as the body, whatever they are.
    pub(crate) raw_body: Option<String>,
    pub(crate) content_type: Option<String>,

    // Time.
    pub(crate) delay_before_head_ms: u64,
    /// None of the requests that it is for is answered before all have come.
    pub(crate) together: bool,
    /// Where they wait for each other.
    #[serde(skip)]
    pub(crate) meeting: Option<Arc<Barrier>>,
    /// Before each event of a stream; unset: the option of the command line.
    pub(crate) delay_between_events_ms: Option<u64>,
    /// Writes this many bytes at a time, head included …
    pub(crate) drip_bytes: u64,
    /// … this far apart; 0: at once, yet in writes of their own.
    pub(crate) drip_interval_ms: u64,
    /// After this many events nothing more comes, and nothing is closed. 0: not even the head.
    pub(crate) stall_after_events: Option<usize>,

    // Broken streams. A JSON answer counts as two events, its halves.
    /// After this many events the connection ends as `close` says. 0: before the head.
    pub(crate) close_after_events: Option<usize>,
    pub(crate) close: Close,
    /// After this many events one comes that is no JSON.
    pub(crate) malformed_after_events: Option<usize>,
    /// After this many events an error event ends the stream (`error_type`, `error_message`).
    pub(crate) error_event_after_events: Option<usize>,
    /// The events that end a stream are left out; the HTTP ends as if all were well.
    pub(crate) no_terminal_event: bool,

    // Odd but legal framing of events.
    pub(crate) line_end: LineEnd,
    pub(crate) bom: bool,
    /// A comment before each event.
    pub(crate) comments: bool,
    /// No space behind the colon.
    pub(crate) no_space: bool,
    /// JSON spread over several data lines.
    pub(crate) multi_line_data: bool,
    /// `id` and `retry` lines in each event.
    pub(crate) id_and_retry: bool,
    /// No blank line behind the last event.
    pub(crate) unterminated: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    /// An object, or the text that the model wrote in the place of one.
    #[serde(default = "empty_object")]
    pub(crate) input: Value,
    /// The call's id; unset: one made from the request's number.
    #[serde(default)]
    pub(crate) id: Option<String>,
}

/// Counters instead of the counted ones; an unset one keeps the count.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct UsageOrder {
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    pub(crate) cache_read_input_tokens: Option<u64>,
    pub(crate) cache_creation_input_tokens: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LineEnd {
    Lf,
    Crlf,
    Cr,
}

/// The waiting behaviours.
#[derive(Default)]
pub(crate) struct Script {
    waiting: Mutex<Vec<Behaviour>>,
}

/// The list would grow over [`MAX_BEHAVIOURS`].
pub(crate) struct TooMany;

impl Script {
    pub(crate) fn replace(&self, behaviours: Vec<Behaviour>) -> Result<usize, TooMany> {
        let mut waiting = self.waiting.lock();
        waiting.clear();
        extend(&mut waiting, behaviours)
    }

    pub(crate) fn extend(&self, behaviours: Vec<Behaviour>) -> Result<usize, TooMany> {
        extend(&mut self.waiting.lock(), behaviours)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.lock().len()
    }

    /// The behaviour for a request whose model, last user turn and answers of tools are `words`, taken off the list
    /// when used up.
    pub(crate) fn take(&self, words: &[&str]) -> Option<Behaviour> {
        let mut waiting = self.waiting.lock();
        let at = waiting
            .iter()
            .position(|behaviour| match &behaviour.contains {
                Some(needle) => words.iter().any(|word| word.contains(needle.as_str())),
                None => true,
            })?;
        let behaviour = waiting.get_mut(at)?;
        behaviour.times = behaviour.times.saturating_sub(1);
        if behaviour.times == 0 {
            Some(waiting.remove(at))
        } else {
            Some(behaviour.clone())
        }
    }
}

impl Behaviour {
    fn with_its_meeting(mut self) -> Self {
        if self.together {
            let all = usize::try_from(self.times).unwrap_or(usize::MAX);
            self.meeting = Some(Arc::new(Barrier::new(all)));
        }
        self
    }
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            contains: None,
            times: 1,
            text: None,
            text_chunks: None,
            event_count: None,
            thinking: None,
            redacted_thinking: None,
            tools: Vec::new(),
            stop_reason: None,
            usage: None,
            status: None,
            error_type: None,
            error_message: None,
            retry_after: None,
            html_page: false,
            raw_body: None,
            content_type: None,
            delay_before_head_ms: 0,
            together: false,
            meeting: None,
            delay_between_events_ms: None,
            drip_bytes: 0,
            drip_interval_ms: 0,
            stall_after_events: None,
            close_after_events: None,
            close: Close::Cut,
            malformed_after_events: None,
            error_event_after_events: None,
            no_terminal_event: false,
            line_end: LineEnd::Lf,
            bom: false,
            comments: false,
            no_space: false,
            multi_line_data: false,
            id_and_retry: false,
            unterminated: false,
        }
    }
}

fn extend(waiting: &mut Vec<Behaviour>, behaviours: Vec<Behaviour>) -> Result<usize, TooMany> {
    if waiting.len() + behaviours.len() > MAX_BEHAVIOURS {
        return Err(TooMany);
    }
    waiting.extend(behaviours.into_iter().map(Behaviour::with_its_meeting));
    Ok(waiting.len())
}

fn empty_object() -> Value {
    Value::Object(serde_json::Map::new())
}
