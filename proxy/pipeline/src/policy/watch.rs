//! The policy set in force, and its replacement when a file changes.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;
use svc_plugin::PluginHost;
use svc_store::{Store, TransactionError, policy_epoch};
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::{Known, PolicyProblem, PolicySet, agreements};
use crate::metrics::Metrics;
use crate::phi;

/// Editors write in several steps; a set is read once the folder has been still for this long.
const STILL: Duration = Duration::from_millis(150);

/// How often the folder is looked at without being told of a change: one that was replaced as a whole, or that a link
/// leads to now, is another one than is watched. A set that the store was not there to take is tried again as often.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Changes waiting to be looked at; one is as good as many.
const PENDING_CHANGES: usize = 1;

/// Holds the current set; readers pin it with one atomic load.
pub struct Policies {
    folder: PathBuf,
    known: Known,
    current: ArcSwap<PolicySet>,
    /// Problems of the last reload that failed, until one succeeds.
    refused: Mutex<Vec<PolicyProblem>>,
    /// Somebody asked for the files to be read.
    asked: Notify,
}

impl Policies {
    /// Loads the set of `folder` for the first time.
    ///
    /// # Errors
    /// Every problem of the files, or of asking the store for the epoch.
    pub async fn open(
        folder: &Path,
        known: Known,
        store: &Store,
    ) -> Result<Self, Vec<PolicyProblem>> {
        let set = read(folder, &known).await?;
        let set = numbered(set, store)
            .await
            .map_err(|refusal| match refusal {
                Refusal::Files(problems) | Refusal::Store(_, problems) => problems,
            })?;
        let current = ArcSwap::from_pointee(set);
        Ok(Self {
            folder: folder.to_owned(),
            known,
            current,
            refused: Mutex::default(),
            asked: Notify::new(),
        })
    }

    /// The set in force. Whoever holds it keeps it, whatever is reloaded meanwhile.
    pub fn current(&self) -> Arc<PolicySet> {
        self.current.load_full()
    }

    /// What keeps the files on disk from being in force.
    pub fn refused(&self) -> Vec<PolicyProblem> {
        self.refused.lock().clone()
    }

    /// Has the files read as if one of them had changed.
    pub fn read_again(&self) {
        self.asked.notify_one();
    }

    /// Takes the set that `waiting` is, or else reads the files again. A set with problems, or with cases that do not
    /// hold, is reported and changes nothing. Gives the set that waits for the store: without one, nothing is to be
    /// done until a file changes.
    async fn reload(
        &self,
        waiting: Option<Box<PolicySet>>,
        store: &Store,
        plugins: &PluginHost,
        metrics: &Metrics,
    ) -> Option<Box<PolicySet>> {
        let set = match waiting {
            Some(set) => Ok(*set),
            None => tried(&self.folder, &self.known, plugins).await,
        };
        let taken = match set {
            Ok(set) => numbered(set, store).await,
            Err(problems) => Err(Refusal::Files(problems)),
        };
        let (waiting, problems) = match taken {
            Ok(set) => {
                self.take(set, metrics);
                return None;
            }
            Err(Refusal::Files(problems)) => (None, problems),
            Err(Refusal::Store(set, problems)) => (Some(set), problems),
        };
        let is_settled = waiting.is_none();
        // What is tried again every few seconds is said once.
        if is_settled || *self.refused.lock() != problems {
            for problem in &problems {
                tracing::error!(
                    file = problem.file,
                    problem = problem.message,
                    "policy set refused"
                );
            }
            metrics.policy_reloads.with_label_values(&["refused"]).inc();
            *self.refused.lock() = problems;
        }
        waiting
    }

    fn take(&self, set: PolicySet, metrics: &Metrics) {
        if set.digest != self.current.load().digest {
            tracing::info!(
                epoch = set.epoch,
                digest = set.digest,
                "policy set taken into force"
            );
            metrics.policy_epoch.set(set.epoch);
            metrics
                .policy_reloads
                .with_label_values(&["accepted"])
                .inc();
            self.current.store(Arc::new(set));
        }
        self.refused.lock().clear();
    }

    /// Watches the folder for as long as the returned value lives; reloads run on `background`.
    ///
    /// # Errors
    /// When the folder cannot be watched.
    pub fn watch(
        self: &Arc<Self>,
        store: Store,
        plugins: Arc<PluginHost>,
        metrics: Arc<Metrics>,
        background: &Handle,
    ) -> Result<Watch, notify::Error> {
        let (changed, mut changes) = mpsc::channel::<()>(PENDING_CHANGES);
        let mut watcher =
            notify::recommended_watcher(move |event: Result<notify::Event, notify::Error>| {
                if event.is_ok_and(|event| !event.kind.is_access()) {
                    // A full channel means that a look at the folder is due anyway.
                    let _ = changed.try_send(());
                }
            })?;
        watcher.watch(&self.folder, RecursiveMode::Recursive)?;
        let mut watched = Watched {
            folder: identity(&self.folder),
            watcher,
        };
        let policies = Arc::clone(self);
        let watching = background.spawn(async move {
            let mut seen = look(&policies.folder).await;
            // Read and tried, and of the files as they were seen.
            let mut waiting = None;
            loop {
                let told = tokio::select! {
                    told = tokio::time::timeout(LOOK_EVERY, changes.recv()) => told,
                    () = policies.asked.notified() => Ok(Some(())),
                };
                if let Ok(Some(())) = told {
                    while let Ok(Some(())) = tokio::time::timeout(STILL, changes.recv()).await {}
                }
                // Before the look, so that nothing changes between the two unseen.
                let folder = policies.folder.clone();
                let following = tokio::task::spawn_blocking(move || {
                    watched.follow(&folder);
                    watched
                });
                let Ok(followed) = following.await else {
                    return;
                };
                watched = followed;
                match told {
                    Ok(None) => return,
                    Ok(Some(())) => {
                        seen = look(&policies.folder).await;
                        waiting = None;
                    }
                    Err(_) => {
                        let now = look(&policies.folder).await;
                        if now != seen {
                            seen = now;
                            waiting = None;
                        } else if waiting.is_none() {
                            continue;
                        }
                    }
                }
                waiting = policies
                    .reload(waiting.take(), &store, &plugins, &metrics)
                    .await;
            }
        });
        Ok(Watch(watching))
    }
}

/// Ends watching when dropped.
pub struct Watch(JoinHandle<()>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The folder that notifications come from, which need not be the one that lies at its path now.
struct Watched {
    folder: Option<Identity>,
    watcher: RecommendedWatcher,
}

/// Device and number of a folder.
type Identity = (u64, u64);

fn identity(folder: &Path) -> Option<Identity> {
    let metadata = std::fs::metadata(folder).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

impl Watched {
    /// Watches the folder that lies at the path now, and all folders in it. Where that fails it is tried again with the
    /// next look.
    fn follow(&mut self, path: &Path) {
        let now = identity(path);
        if now.is_none() {
            return;
        }
        if now != self.folder {
            // The former one may lie elsewhere by now.
            self.watcher.unwatch(path).ok();
        }
        // Also where it seems to be the same: a folder that was removed took its watch along, and the one that was made
        // in its place may have got its number. To watch what is watched changes nothing.
        if self.watcher.watch(path, RecursiveMode::Recursive).is_ok() {
            self.folder = now;
        }
    }
}

/// Path, size and time of change of every file; empty for a folder that cannot be read.
type Seen = Vec<(PathBuf, u64, Option<SystemTime>)>;

async fn look(folder: &Path) -> Seen {
    let folder = folder.to_owned();
    let looking = tokio::task::spawn_blocking(move || {
        let mut seen = Vec::new();
        collect(&folder, &mut BTreeSet::new(), &mut seen);
        seen.sort();
        seen
    });
    looking.await.unwrap_or_default()
}

/// Looks into each folder once: links may lead to it in circles.
fn collect(folder: &Path, entered: &mut BTreeSet<Identity>, seen: &mut Seen) {
    if !identity(folder).is_some_and(|identity| entered.insert(identity)) {
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    // By which of two paths a folder is entered must not depend on the order of its directory.
    paths.sort();
    for path in paths {
        match std::fs::metadata(&path) {
            Ok(facts) if facts.is_dir() => collect(&path, entered, seen),
            Ok(facts) => seen.push((path, facts.len(), facts.modified().ok())),
            Err(_) => {}
        }
    }
}

/// Why the files on disk are not in force.
enum Refusal {
    /// They are not good, and stay so until one of them changes.
    Files(Vec<PolicyProblem>),
    /// The store did not take this set; it may do so later.
    Store(Box<PolicySet>, Vec<PolicyProblem>),
}

/// Reads the files, on a thread that may wait for the disk and compute.
async fn read(folder: &Path, known: &Known) -> Result<PolicySet, Vec<PolicyProblem>> {
    let (folder, known) = (folder.to_owned(), known.clone());
    let reading = tokio::task::spawn_blocking(move || PolicySet::load(&folder, &known));
    reading.await.unwrap_or_else(|error| {
        Err(vec![PolicyProblem {
            file: "policies".to_owned(),
            message: format!("could not be read: {error}"),
        }])
    })
}

/// Reads the files and tries their cases. While a detector is missing every request is refused, and no case can hold:
/// the set is then taken without.
async fn tried(
    folder: &Path,
    known: &Known,
    plugins: &PluginHost,
) -> Result<PolicySet, Vec<PolicyProblem>> {
    let set = read(folder, known).await?;
    let is_complete = set
        .phi
        .detectors
        .iter()
        .all(|id| plugins.detector(id).is_ok());
    if is_complete {
        let failures = phi::failures(&set, plugins).await;
        if !failures.is_empty() {
            return Err(failures);
        }
    } else {
        tracing::warn!("a detector of the new policy set is missing: its cases were not tried");
    }
    Ok(set)
}

/// Publishes the agreements of a set and gives it the epoch of its content, both or neither.
async fn numbered(mut set: PolicySet, store: &Store) -> Result<PolicySet, Refusal> {
    match policy_epoch::enter(store, &set.digest, &set.agreements).await {
        Ok(epoch) => {
            set.epoch = epoch;
            Ok(set)
        }
        Err(TransactionError::Refused(versions)) => {
            let problem = |version: String| PolicyProblem {
                file: format!("{}/{version}.md", agreements::FOLDER),
                message:
                    "is published with another text or title; a change needs a version of its own"
                        .to_owned(),
            };
            Err(Refusal::Files(versions.into_iter().map(problem).collect()))
        }
        Err(TransactionError::Store(error)) => {
            let problem = PolicyProblem {
                file: "epoch".to_owned(),
                message: format!("the store did not take the set: {error}"),
            };
            Err(Refusal::Store(Box::new(set), vec![problem]))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Two links to their own folder would otherwise be 2^40 paths.
    #[tokio::test]
    async fn a_folder_is_looked_into_once_whatever_links_lead_to_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("baa")).unwrap();
        std::fs::write(folder.path().join("baa/1.md"), "text").unwrap();
        for name in ["current", "latest"] {
            std::os::unix::fs::symlink(".", folder.path().join(name)).unwrap();
        }
        let seen = look(folder.path()).await;
        let paths: Vec<&Path> = seen.iter().map(|(path, ..)| path.as_path()).collect();
        assert_eq!(paths, [folder.path().join("baa/1.md")]);
    }
}
