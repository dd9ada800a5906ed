//! The guard on the way back: placeholders that this request or conversation issued become what they stand
//! for, where the organization wants that.

use std::sync::Arc;

use svc_core::chat::ChatEvent;
use svc_core::phi::{ReplyRestorer, RestoreTable};

use super::Scan;

/// Watches one reply.
pub(crate) struct ReplyGuard {
    /// `None` where `phi_restore` is off: the caller sees placeholders.
    restorer: Option<ReplyRestorer>,
}

impl ReplyGuard {
    pub(crate) fn new(scan: &Scan, restore: bool) -> Self {
        let restorer =
            restore.then(|| ReplyRestorer::new(Arc::new(RestoreTable::of(&scan.placeholders))));
        Self { restorer }
    }

    /// Takes the next event in and appends what the caller may see by now.
    pub(crate) fn pass(&mut self, event: ChatEvent, shown: &mut Vec<ChatEvent>) {
        match &mut self.restorer {
            Some(restorer) => shown.extend(restorer.push(event)),
            None => shown.push(event),
        }
    }

    /// Placeholders restored so far.
    pub(crate) fn restored(&self) -> u64 {
        self.restorer.as_ref().map_or(0, ReplyRestorer::restored)
    }
}
