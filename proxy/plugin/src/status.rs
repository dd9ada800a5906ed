//! What the host tells operators about its plugins: `svc-gateway plugin list`, provider status, the dashboard.

use svc_core::time::Timestamp;

use crate::error::PluginKind;

/// One plugin id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginStatus {
    pub id: String,
    pub state: State,
    /// The version that takes new calls; none while no version was ever admitted.
    pub serving: Option<PluginVersion>,
    /// Why versions that were found do not serve, in the order of their folders, which are named where their names are
    /// not the plugin's.
    pub last_error: Option<String>,
    /// Folders that offer one version with different content; which of them counts.
    pub doubt: Option<String>,
    /// Newest last, at most [`HISTORY_EVENTS`].
    pub history: Vec<StatusEvent>,
}

impl PluginStatus {
    pub(crate) const fn new(id: String) -> Self {
        Self {
            id,
            state: State::Refused,
            serving: None,
            last_error: None,
            doubt: None,
            history: Vec::new(),
        }
    }

    /// Adds to the history.
    pub(crate) fn note(&mut self, event: StatusEvent) {
        if self.history.len() == HISTORY_EVENTS {
            self.history.remove(0);
        }
        self.history.push(event);
    }
}

/// One version that was admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginVersion {
    pub version: String,
    pub kind: PluginKind,
    /// SHA-256 of the component, hex.
    pub digest: String,
    pub loaded_at: Timestamp,
    /// Whether a trust root signed the manifest.
    pub signed: bool,
}

/// How a plugin id stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Every version that was found was admitted; the highest one serves.
    Ready,
    /// A version serves; another one that was found was refused.
    Stale,
    /// Nothing serves.
    Refused,
    /// No folder offers a version any more, because all are gone or refused; the one that was loaded still serves.
    Removed,
}

impl State {
    /// The word of `plugin list` and the dashboard.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Stale => "stale",
            Self::Refused => "refused",
            Self::Removed => "removed",
        }
    }
}

/// One change in the life of a plugin id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusEvent {
    pub at: Timestamp,
    pub version: String,
    /// `admitted`, `removed`, `returned`, or the reason of a refusal.
    pub event: String,
}

/// Changes kept per plugin id; older ones are in the log.
const HISTORY_EVENTS: usize = 32;
