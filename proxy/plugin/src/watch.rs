//! Notices that the plugin folder has changed and looks again once it is quiet.
//!
//! Both ways of installing work: a folder that is renamed into place, and files that are copied one by one, whose
//! manifest and component agree only at the end.

use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{interval, timeout};

use crate::scan::{Shared, scan};

/// A copy in progress touches its files more often than this.
const QUIET: Duration = Duration::from_millis(150);
/// A folder that never gets quiet is looked at all the same after so many quiet periods' worth of waiting.
const MAX_WAITS: u32 = 20;
/// File systems without notifications exist; refusals for want of time are retried then, too.
const POLL: Duration = Duration::from_secs(30);

/// Ends watching when dropped.
pub(crate) struct Watch(tokio::task::JoinHandle<()>);

impl Watch {
    pub(crate) fn start(
        shared: &Arc<Shared>,
        background: &tokio::runtime::Handle,
    ) -> notify::Result<Self> {
        // One slot: that something has changed is all there is to know.
        let (changed, changes) = mpsc::channel(1);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| !is_reading(event.kind)) {
                let _ = changed.try_send(());
            }
        })?;
        watcher.watch(&shared.folder, RecursiveMode::Recursive)?;
        let following = follow(Arc::clone(shared), watcher, changes);
        Ok(Self(background.spawn(following)))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Our own reading must not wake us.
const fn is_reading(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(access) if !matches!(access, AccessKind::Close(AccessMode::Write)))
}

async fn follow(
    shared: Arc<Shared>,
    mut watcher: RecommendedWatcher,
    mut changes: mpsc::Receiver<()>,
) {
    let mut poll = interval(POLL);
    // The first tick is at once; opening the host has scanned already.
    poll.tick().await;
    loop {
        tokio::select! {
            change = changes.recv() => {
                if change.is_none() {
                    return;
                }
                for _ in 0..MAX_WAITS {
                    match timeout(QUIET, changes.recv()).await {
                        Ok(Some(())) => {}
                        Ok(None) | Err(_) => break,
                    }
                }
            }
            // A folder that was replaced took its watch along. Before the scan, so that nothing changes between the two
            // unseen.
            _ = poll.tick() => {
                let folder = shared.folder.clone();
                let following = tokio::task::spawn_blocking(move || {
                    watcher.unwatch(&folder).ok();
                    watcher.watch(&folder, RecursiveMode::Recursive).ok();
                    watcher
                });
                let Ok(followed) = following.await else {
                    return;
                };
                watcher = followed;
            }
        }
        scan(Arc::clone(&shared)).await;
    }
}
