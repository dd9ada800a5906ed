//! What can go wrong with a plugin, on a call and at admission.
//!
//! Errors of calls are words and numbers of our own: nothing that a guest wrote after it saw content is ever in
//! them.

use std::fmt;
use std::sync::Arc;

/// What a plugin is for; each kind has a world of its own in `wit/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PluginKind {
    PhiDetector,
    ProviderDriver,
}

impl PluginKind {
    /// The word of manifests, metrics and status.
    pub const fn word(self) -> &'static str {
        match self {
            Self::PhiDetector => "phi-detector",
            Self::ProviderDriver => "provider-driver",
        }
    }
}

/// Why the host ended a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KillReason {
    /// The guest itself trapped (unreachable, division by zero, out-of-bounds access).
    Trap,
    /// It computed for longer than its budget.
    Deadline,
    /// It asked for more memory or table space than its limit.
    Memory,
    /// Its call stack overflowed.
    Stack,
    /// It gave back more bytes than its limit.
    Output,
}

impl KillReason {
    pub const ALL: [Self; 5] = [
        Self::Trap,
        Self::Deadline,
        Self::Memory,
        Self::Stack,
        Self::Output,
    ];

    /// The label of metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Trap => "trap",
            Self::Deadline => "deadline",
            Self::Memory => "memory",
            Self::Stack => "stack",
            Self::Output => "output",
        }
    }
}

/// A call that gave no usable answer. The caller fails closed (contract 21: 503 `INFERENCE_UNAVAILABLE`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginError {
    #[error("no {} plugin \"{id}\" is loaded", kind.word())]
    Missing { kind: PluginKind, id: String },
    #[error("the plugin was ended: {}", .0.word())]
    Killed(KillReason),
    /// A detector's own refusal.
    #[error("the detector answered {0}")]
    Refused(&'static str),
    /// The answer breaks the rules of the interface.
    #[error("the plugin broke its interface: {0}")]
    Contract(&'static str),
    /// Every instance slot is taken.
    #[error("no free plugin instance")]
    Exhausted,
    /// The text is larger than the host hands to any plugin.
    #[error("the text is too large for a plugin call")]
    TooLarge,
    /// An earlier call of the same run failed, or the run has ended.
    #[error("the run has ended")]
    Ended,
    /// The sandbox itself failed; not the guest's doing as far as the host knows.
    #[error("the plugin sandbox failed")]
    Sandbox,
}

impl PluginError {
    /// The `outcome` label of metrics.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "missing",
            Self::Killed(reason) => reason.word(),
            Self::Refused(_) => "refused",
            Self::Contract(_) => "contract",
            Self::Exhausted => "exhausted",
            Self::TooLarge => "too_large",
            Self::Ended => "ended",
            Self::Sandbox => "sandbox",
        }
    }
}

/// What went wrong with a call, and whose call it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{plugin}: {error}")]
pub struct Failed<E> {
    /// The version, as `id@version`.
    pub plugin: Arc<str>,
    pub error: E,
}

/// Why a plugin was not let in. Free text is safe here: no customer data exists at admission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmissionError {
    /// The step that failed: `manifest`, `digest`, `signature`, `imports`, `compile`, `describe`, …
    pub step: &'static str,
    pub reason: String,
}

/// Longest reason; a guest may give one of any length.
const MAX_REASON_CHARS: usize = 500;

impl AdmissionError {
    /// The reason is kept as one line.
    pub(crate) fn new(step: &'static str, reason: impl fmt::Display) -> Self {
        let reason = reason.to_string();
        let words = reason.split(|sign: char| sign.is_whitespace() || sign.is_control());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let mut reason = words.join(" ");
        if let Some((cut, _)) = reason.char_indices().nth(MAX_REASON_CHARS) {
            reason.truncate(cut);
            reason.push('…');
        }
        Self { step, reason }
    }

    /// What the sandbox says, without the places in the guest's code that a trap comes with.
    pub(crate) fn of_guest(step: &'static str, error: &wasmtime::Error) -> Self {
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        let told: Vec<&str> = causes
            .iter()
            .map(String::as_str)
            .filter(|cause| !cause.contains('\n'))
            .collect();
        match told.is_empty() {
            true => Self::new(step, causes.join(": ")),
            false => Self::new(step, told.join(": ")),
        }
    }
}

impl fmt::Display for AdmissionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.step, self.reason)
    }
}

impl std::error::Error for AdmissionError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_of_bounded_length() {
        let error = AdmissionError::new("self-test", "two\n\n  lines\u{7}\tand a bell");
        assert_eq!(error.to_string(), "self-test: two lines and a bell");
        let long = AdmissionError::new("self-test", "ä".repeat(MAX_REASON_CHARS + 1));
        assert_eq!(long.reason.chars().count(), MAX_REASON_CHARS + 1);
        assert!(long.reason.ends_with('…'));
    }

    #[test]
    fn what_ended_a_guest_is_told_without_places_in_its_code() {
        let trap = wasmtime::Error::msg("wasm trap: unreachable");
        let error = trap.context("error while executing at wasm backtrace:\n    0: 0x12 - a!b");
        let told = AdmissionError::of_guest("describe", &error);
        assert_eq!(told.to_string(), "describe: wasm trap: unreachable");
    }
}
