//! One look at the plugin folder: what is new is admitted, and per id the highest version that was admitted serves.
//!
//! A version that is refused never displaces one that serves, and neither does a folder that is gone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use svc_core::time::Timestamp;

use crate::admission::{Admitted, Gate, Package};
use crate::error::AdmissionError;
use crate::manifest::Manifest;
use crate::regular::open_regular;
use crate::signature::SignaturePolicy;
use crate::status::{PluginStatus, PluginVersion, State, StatusEvent};

/// Plugin folders looked at; the rest is reported.
const MAX_FOLDERS: usize = 64;
/// Largest component: an interpreter with its library takes about 20 MiB.
const MAX_COMPONENT_BYTES: u64 = 64 * 1024 * 1024;
const MAX_MANIFEST_BYTES: u64 = 64 * 1024;
/// Steps that may fail for want of time or of a free instance; they are tried again at the next scan. The others
/// depend on the files alone.
const TRANSIENT_STEPS: [&str; 6] = [
    "instantiate",
    "describe",
    "configure",
    "self-test",
    "info",
    "files",
];

/// What requests, scans and the watcher share.
pub(crate) struct Shared {
    pub(crate) folder: PathBuf,
    pub(crate) now: fn() -> Timestamp,
    pub(crate) gate: Arc<Gate>,
    /// By plugin id. A request loads it once and holds what it found.
    pub(crate) serving: ArcSwap<BTreeMap<String, Admitted>>,
    /// Held through a scan: there is one at a time.
    pub(crate) seen: tokio::sync::Mutex<BTreeMap<PathBuf, Seen>>,
    pub(crate) status: Mutex<BTreeMap<String, PluginStatus>>,
}

/// What became of a folder's content.
pub(crate) struct Seen {
    /// None where the files must be read again to know that they have not changed.
    facts: Option<Facts>,
    /// Over all three files.
    fingerprint: [u8; 32],
    /// From the manifest, else the folder's name.
    id: String,
    /// From the manifest, else empty.
    version: String,
    outcome: Result<Admitted, AdmissionError>,
    /// What this folder offered last and, while its files are broken, still offers.
    last_good: Option<Admitted>,
}

impl Seen {
    /// Whether the same files would have the same outcome.
    fn is_settled(&self) -> bool {
        match &self.outcome {
            Ok(_) => true,
            Err(error) => !TRANSIENT_STEPS.contains(&error.step),
        }
    }
}

/// What the file system says of each of the three files. As long as it says the same, nobody has changed them.
type Facts = [Option<FileFacts>; 3];

/// Inode, size, and the times of change of content and inode in seconds and nanoseconds.
type FileFacts = (u64, u64, [i64; 4]);

/// Looks once. Only one runs at a time; a second waits and then looks again.
pub(crate) async fn scan(shared: Arc<Shared>) {
    let mut seen = shared.seen.lock().await;
    let folder = shared.folder.clone();
    let listed = tokio::task::spawn_blocking(move || list(&folder)).await;
    let folders = match listed {
        Ok(Ok(folders)) => folders,
        Ok(Err(error)) => return tracing::error!(%error, "the plugin folder cannot be read"),
        Err(error) => return tracing::error!(%error, "the plugin folder could not be listed"),
    };
    let gone: Vec<PathBuf> = seen
        .keys()
        .filter(|path| !folders.contains(path))
        .cloned()
        .collect();
    for path in gone {
        seen.remove(&path);
    }
    for path in folders {
        let before = seen.get(&path).filter(|before| before.is_settled());
        let known = before.and_then(|before| before.facts);
        let (at, now) = (path.clone(), (shared.now)());
        match tokio::task::spawn_blocking(move || find(&at, known, now)).await {
            Ok(Found::Files(files)) => look(&shared, &mut seen, path, *files).await,
            Ok(Found::Gone) => {
                seen.remove(&path);
            }
            Ok(Found::Same) | Err(_) => {}
        }
    }
    settle(&shared, &seen);
}

async fn look(
    shared: &Arc<Shared>,
    seen: &mut BTreeMap<PathBuf, Seen>,
    path: PathBuf,
    files: Files,
) {
    let Files {
        facts,
        fingerprint,
        read,
    } = files;
    if let Some(before) = seen.get_mut(&path)
        && before.fingerprint == fingerprint
        && before.is_settled()
    {
        before.facts = facts;
        return;
    }
    let package = read.as_ref().ok();
    let manifest = package.and_then(|package| Manifest::parse(&package.manifest).ok());
    let id = manifest
        .as_ref()
        .map_or_else(|| name_of(&path), |manifest| manifest.id.clone());
    let version = manifest
        .as_ref()
        .map(|manifest| manifest.version.to_string())
        .unwrap_or_default();
    let outcome = match read {
        Ok(package) => shared.gate.admit(package).await,
        Err(error) => Err(error),
    };
    let is_news = seen.get(&path).is_none_or(|before| {
        before.fingerprint != fingerprint || before.outcome.as_ref().err() != outcome.as_ref().err()
    });
    if let (true, Err(error)) = (is_news, &outcome) {
        let folder = name_of(&path);
        tracing::error!(plugin = id, version, folder, %error, "plugin refused");
        note(shared, &id, &version, error.to_string());
    }
    let earlier = seen.remove(&path).and_then(|before| before.last_good);
    let last_good = outcome.as_ref().ok().cloned().or(earlier);
    seen.insert(
        path,
        Seen {
            facts,
            fingerprint,
            id,
            version,
            outcome,
            last_good,
        },
    );
}

/// A plugin folder's own name.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Two folders that offer the same version of an id, with different content.
fn rivals(id: &str, seen: &BTreeMap<PathBuf, Seen>) -> Option<String> {
    let mut first: BTreeMap<&semver::Version, (&Path, &str)> = BTreeMap::new();
    for (path, seen) in seen {
        let Some(Admitted { manifest, .. }) = &seen.last_good else {
            continue;
        };
        if manifest.id != id {
            continue;
        }
        let mine = (path.as_path(), manifest.component.sha256.as_str());
        let (counts, digest) = *first.entry(&manifest.version).or_insert(mine);
        if digest != mine.1 {
            let (counts, path) = (counts.display(), path.display());
            let version = &manifest.version;
            return Some(format!(
                "{version}: {counts} and {path} offer this version with different content; the first counts"
            ));
        }
    }
    None
}

/// Chooses who serves, swaps once, and writes the status.
fn settle(shared: &Shared, seen: &BTreeMap<PathBuf, Seen>) {
    let before = shared.serving.load_full();
    let mut after = BTreeMap::clone(&before);
    let mut best: BTreeMap<&str, &Admitted> = BTreeMap::new();
    for admitted in seen.values().filter_map(|seen| seen.last_good.as_ref()) {
        let chosen = best
            .entry(admitted.manifest.id.as_str())
            .or_insert(admitted);
        if admitted.manifest.version > chosen.manifest.version {
            *chosen = admitted;
        }
    }
    let mut swapped: Vec<&Admitted> = Vec::new();
    for (&id, &admitted) in &best {
        let is_same = before
            .get(id)
            .is_some_and(|old| Arc::ptr_eq(&old.manifest, &admitted.manifest));
        if !is_same {
            after.insert(id.to_owned(), admitted.clone());
            swapped.push(admitted);
        }
    }
    if !swapped.is_empty() {
        shared.serving.store(Arc::new(after.clone()));
    }
    for admitted in swapped {
        let Manifest {
            id,
            version,
            component,
            kind,
            ..
        } = &*admitted.manifest;
        let version = version.to_string();
        tracing::info!(
            plugin = id,
            version,
            digest = component.sha256,
            signed = admitted.signed,
            "plugin admitted"
        );
        if !admitted.signed && shared.gate.signatures == SignaturePolicy::Warn {
            tracing::warn!(plugin = id, version, "nobody has signed this plugin");
        }
        note(shared, id, &version, "admitted".to_owned());
        let serving = PluginVersion {
            version,
            kind: *kind,
            digest: component.sha256.clone(),
            loaded_at: (shared.now)(),
            signed: admitted.signed,
        };
        entry(&mut shared.status.lock(), id).serving = Some(serving);
    }
    for (id, status) in &mut *shared.status.lock() {
        let (was, doubted) = (status.state, status.doubt.take());
        // What a folder offered before its files were broken serves on, and not after the next start.
        let offered = |seen: &Seen| {
            seen.outcome
                .as_ref()
                .is_ok_and(|one| one.manifest.id == *id)
        };
        describe(status, seen, seen.values().any(offered));
        presence(shared, status, was);
        status.doubt = rivals(id, seen);
        if let Some(doubt) = status.doubt.as_ref().filter(|_| status.doubt != doubted) {
            tracing::warn!(plugin = id, "{doubt}");
        }
    }
}

/// Tells when no folder offers any more what serves, because all are gone or refused, and when one does again. Nothing is
/// missing until the process ends; then it is.
fn presence(shared: &Shared, status: &mut PluginStatus, was: State) {
    let Some(PluginVersion { version, .. }) = &status.serving else {
        return;
    };
    let (plugin, version) = (&status.id, version.clone());
    let event = match (was, status.state) {
        (State::Removed, State::Removed) => return,
        (_, State::Removed) => {
            tracing::warn!(
                plugin,
                version,
                "no folder offers this plugin any more; what was loaded serves until the gateway ends"
            );
            "removed"
        }
        (State::Removed, _) => {
            tracing::info!(plugin, version, "a folder offers this plugin again");
            "returned"
        }
        _ => return,
    };
    let is_removed = status.state == State::Removed;
    shared.gate.metrics.removed(plugin, is_removed);
    status.note(StatusEvent {
        at: (shared.now)(),
        version,
        event: event.to_owned(),
    });
}

fn describe(status: &mut PluginStatus, seen: &BTreeMap<PathBuf, Seen>, is_present: bool) {
    let mine = seen.iter().filter(|(_, seen)| seen.id == status.id);
    let refused = mine.filter_map(|(path, seen)| Some((path, seen, seen.outcome.as_ref().err()?)));
    let errors: Vec<String> = refused
        .map(|(path, seen, error)| {
            let (version, folder) = (&*seen.version, name_of(path));
            match (version, folder == status.id) {
                ("", _) => error.to_string(),
                (_, true) => format!("{version}: {error}"),
                // Which of several folders it is, the id does not tell.
                (_, false) => format!("{version} in {folder}: {error}"),
            }
        })
        .collect();
    status.last_error = (!errors.is_empty()).then(|| errors.join("; "));
    status.state = match (&status.serving, &status.last_error) {
        (None, _) => State::Refused,
        (Some(_), _) if !is_present => State::Removed,
        (Some(_), Some(_)) => State::Stale,
        (Some(_), None) => State::Ready,
    };
}

fn note(shared: &Shared, id: &str, version: &str, event: String) {
    entry(&mut shared.status.lock(), id).note(StatusEvent {
        at: (shared.now)(),
        version: version.to_owned(),
        event,
    });
}

fn entry<'a>(status: &'a mut BTreeMap<String, PluginStatus>, id: &str) -> &'a mut PluginStatus {
    status
        .entry(id.to_owned())
        .or_insert_with(|| PluginStatus::new(id.to_owned()))
}

/// Folders whose names have no leading dot, by name; the others are left to whoever prepares a new version.
fn visible(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_hidden && path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// What lies in the plugin folder and is not looked at, one text each: components without a manifest, and folders
/// beyond as many as there may be. For commands that show the folder to people.
///
/// # Errors
/// When the folder cannot be read.
pub fn left_out(folder: &Path) -> io::Result<Vec<String>> {
    let (plugins, others): (Vec<PathBuf>, Vec<PathBuf>) = visible(folder)?
        .into_iter()
        .partition(|path| path.join(MANIFEST).is_file());
    let manifestless = others
        .iter()
        .filter(|path| path.join(COMPONENT).is_file())
        .map(|path| format!("{} has a {COMPONENT} and no {MANIFEST}", path.display()));
    let beyond = plugins.iter().skip(MAX_FOLDERS).map(|path| {
        format!(
            "{} is beyond the {MAX_FOLDERS} folders that are looked at",
            path.display()
        )
    });
    Ok(manifestless.chain(beyond).collect())
}

/// Folders with a manifest, by name.
fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = visible(folder)?;
    folders.retain(|path| path.join(MANIFEST).is_file());
    if folders.len() > MAX_FOLDERS {
        tracing::error!(
            folders = folders.len(),
            limit = MAX_FOLDERS,
            "too many plugin folders; the last are left out"
        );
        folders.truncate(MAX_FOLDERS);
    }
    Ok(folders)
}

const MANIFEST: &str = "plugin.toml";
const COMPONENT: &str = "plugin.wasm";
const SIGNATURE: &str = "plugin.toml.sig";

/// What a look at a folder found.
enum Found {
    /// The folder has gone since it was listed.
    Gone,
    /// What was known of it.
    Same,
    Files(Box<Files>),
}

/// The content of a folder.
struct Files {
    facts: Option<Facts>,
    fingerprint: [u8; 32],
    read: Result<Package, AdmissionError>,
}

/// 2 s: times of change are this coarse at the most (FAT). A file that changed within them may change again unseen.
const COARSEST_MS: i64 = 2_000;

/// Reads and hashes what a folder holds, unless that is what the file system says is `known`.
fn find(folder: &Path, known: Option<Facts>, now: Timestamp) -> Found {
    // Before anything is read: what changes meanwhile is seen the next time.
    let facts = facts(folder);
    if known == Some(facts) {
        return Found::Same;
    }
    let read = read(folder);
    if read.is_err() && !folder.join(MANIFEST).is_file() {
        return Found::Gone;
    }
    let fingerprint = read.as_ref().map_or([0; 32], fingerprint);
    let is_at_rest = |(_, _, times): &FileFacts| {
        let [_, _, seconds, nanoseconds] = times;
        let changed_ms = seconds * 1_000 + nanoseconds / 1_000_000;
        changed_ms <= now.0.saturating_sub(COARSEST_MS)
    };
    let facts = facts.iter().flatten().all(is_at_rest).then_some(facts);
    Found::Files(Box::new(Files {
        facts,
        fingerprint,
        read,
    }))
}

fn facts(folder: &Path) -> Facts {
    [MANIFEST, COMPONENT, SIGNATURE].map(|name| {
        let said = fs::metadata(folder.join(name)).ok()?;
        let times = [
            said.mtime(),
            said.mtime_nsec(),
            said.ctime(),
            said.ctime_nsec(),
        ];
        Some((said.ino(), said.size(), times))
    })
}

fn read(folder: &Path) -> Result<Package, AdmissionError> {
    let load = |name: &str, limit: u64| {
        bounded(&folder.join(name), limit)
            .map_err(|error| AdmissionError::new("files", format!("{name}: {error}")))
    };
    let signature = if folder.join(SIGNATURE).exists() {
        Some(load(SIGNATURE, MAX_MANIFEST_BYTES)?)
    } else {
        None
    };
    Ok(Package {
        manifest: load(MANIFEST, MAX_MANIFEST_BYTES)?,
        component: load(COMPONENT, MAX_COMPONENT_BYTES)?,
        signature,
    })
}

fn bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?
        .take(limit + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("is larger than {limit} bytes"),
        ));
    }
    Ok(bytes)
}

fn fingerprint(package: &Package) -> [u8; 32] {
    let mut digest = Sha256::new();
    for bytes in [
        &package.manifest,
        package.signature.as_ref().unwrap_or(&Vec::new()),
        &package.component,
    ] {
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const LATER: Timestamp = Timestamp(i64::MAX);

    fn files(found: Found) -> Files {
        match found {
            Found::Files(files) => *files,
            Found::Gone | Found::Same => unreachable!("the files are read"),
        }
    }

    #[test]
    fn files_are_read_when_they_have_changed_and_only_then() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(matches!(find(folder.path(), None, LATER), Found::Gone));
        fs::write(at(MANIFEST), "manifest").unwrap();
        fs::write(at(COMPONENT), "one").unwrap();
        let first = files(find(folder.path(), None, LATER));
        assert!(first.facts.is_some());
        assert!(matches!(
            find(folder.path(), first.facts, LATER),
            Found::Same
        ));
        // As long as before, and put in its place at once.
        fs::write(at("new"), "two").unwrap();
        fs::rename(at("new"), at(COMPONENT)).unwrap();
        let second = files(find(folder.path(), first.facts, LATER));
        assert_ne!(second.fingerprint, first.fingerprint);
        fs::remove_file(at(MANIFEST)).unwrap();
        assert!(matches!(
            find(folder.path(), second.facts, LATER),
            Found::Gone
        ));
    }

    #[test]
    fn what_has_just_changed_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(MANIFEST), "manifest").unwrap();
        fs::write(folder.path().join(COMPONENT), "one").unwrap();
        let young = files(find(folder.path(), None, Timestamp(0)));
        assert_eq!(young.facts, None);
    }
}
