//! The seam between the fake and a wire format: one static row per provider kind.
//!
//! A new provider kind is one module that offers a [`Format`] and one line in [`FORMATS`].

use http::HeaderMap;
use serde_json::Value;

use crate::fake_provider::reply::{Ask, Reply};
use crate::fake_provider::{chat, messages};

/// Every wire format the fake speaks.
pub(crate) static FORMATS: &[&Format] = &[&messages::FORMAT, &chat::FORMAT];

/// Characters that media count for: their data is no text.
pub(super) const MEDIA_CHARS: u64 = 4_000;

/// Characters of one fragment of a call's arguments.
pub(super) const JSON_PIECE_CHARS: usize = 16;

/// Who speaks in a turn.
pub(super) fn role(turn: &Value) -> &str {
    turn.get("role").and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn chars(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

/// What a route of a format does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Answer,
    Count,
}

/// One wire format: how it is read, refused and written.
pub(crate) struct Format {
    pub(crate) name: &'static str,
    pub(crate) path: &'static str,
    /// Where it counts tokens without answering, if it can.
    pub(crate) count_path: Option<&'static str>,
    /// Headers that carry the credential, the strongest first.
    pub(crate) credential_headers: &'static [&'static str],
    /// Headers of every answer: noise a real provider sends and a gateway must not pass on.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// The header of every answer that has the request's id.
    pub(crate) request_id_header: &'static str,
    /// Refuses what the real one refuses, and reads the rest.
    pub(crate) read: fn(Operation, &HeaderMap, &Value) -> Result<Ask, Refusal>,
    /// The answer in one piece.
    pub(crate) whole: fn(&Reply) -> Value,
    /// The same answer as a stream.
    pub(crate) events: fn(&Reply) -> Vec<Event>,
    /// The answer of the counting route.
    pub(crate) count: fn(u64) -> Value,
    /// The body of an error answer; the text is the request's id.
    pub(crate) error: fn(&Refusal, &str) -> Value,
    /// An error in the middle of a stream.
    pub(crate) error_event: fn(&Refusal) -> Event,
    /// The error word of a status.
    pub(crate) error_kind: fn(u16) -> &'static str,
}

/// One event of a stream, before framing.
pub(crate) struct Event {
    /// Empty: the event has no name line.
    pub(crate) name: &'static str,
    pub(crate) data: Data,
    /// Whether it belongs to the regular end of a stream.
    pub(crate) terminal: bool,
}

/// What an event carries.
pub(crate) enum Data {
    Json(Value),
    /// A word that is no JSON.
    Word(&'static str),
}

impl Data {
    /// On one line.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Json(value) => value.to_string(),
            Self::Word(word) => (*word).to_owned(),
        }
    }

    /// JSON over several lines: line ends stand between values, never inside a string.
    pub(crate) fn lines(&self) -> String {
        match self {
            Self::Json(value) => format!("{value:#}"),
            Self::Word(word) => (*word).to_owned(),
        }
    }
}

/// Why the fake does not answer.
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// Unset: the word of the status.
    pub(crate) kind: Option<String>,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            kind: None,
            message: message.into(),
        }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }
}

impl Format {
    /// The error word of a refusal.
    pub(crate) fn kind_of<'r>(&self, refusal: &'r Refusal) -> &'r str {
        match &refusal.kind {
            Some(kind) => kind,
            None => (self.error_kind)(refusal.status),
        }
    }
}
