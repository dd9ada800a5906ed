//! Compiled code on disk, so that a restart does not compile again.
//!
//! Loading compiled code is as trusted as loading a library: only files that this gateway wrote count. They lie in
//! a folder that nobody else may enter and each carries a MAC under a key that lies beside them; a file that does
//! not check out is compiled anew, never run. Code of versions that are gone goes too, some time after them.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use svc_core::time::Timestamp;
use tempfile::NamedTempFile;
use wasmtime::Engine;
use wasmtime::component::Component;

/// One block of SHA-256, the size that HMAC takes as it is.
const KEY_BYTES: usize = 64;
const MAC_BYTES: usize = 32;
const KEY_FILE: &str = "key";
/// What compiled code is called, and what it is called while it is written.
const CODE: &str = "code";
const ASIDE: &str = "new";
/// 30 days: whoever goes back to an earlier version has done so by then. Code that a gateway holds for longer is
/// compiled anew at its next start.
const KEPT_UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The folder of compiled code.
pub(crate) struct CodeCache {
    folder: PathBuf,
    key: [u8; KEY_BYTES],
    now: fn() -> Timestamp,
}

/// Whether code came from the cache; for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Cache,
    Compiler,
}

impl CodeCache {
    /// Opens or makes the folder (0700) and its key (0600). By the clock `now`, code is old.
    pub(crate) fn open(folder: &Path, now: fn() -> Timestamp) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        let path = folder.join(KEY_FILE);
        let key = match read_key(&path) {
            Ok(key) => key,
            Err(error) if error.kind() == io::ErrorKind::NotFound => make_key(&path, folder)?,
            // What was kept under the old key does not check out any more and is compiled anew.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                tracing::warn!(%error, "the key of compiled plugin code is made again");
                fs::remove_file(&path)?;
                make_key(&path, folder)?
            }
            Err(error) => return Err(error),
        };
        Ok(Self {
            folder: folder.to_owned(),
            key,
            now,
        })
    }

    /// The component's code, from the folder or from the compiler. Takes seconds when it compiles.
    pub(crate) fn load(
        &self,
        engine: &Engine,
        bytes: &[u8],
    ) -> wasmtime::Result<(Component, Origin)> {
        let name = name(engine, bytes);
        let path = self.folder.join(&name);
        if let Some(code) = self.read(&path, &name)
            && let Ok(component) = deserialize(engine, &code)
        {
            return Ok((component, Origin::Cache));
        }
        let code = engine.precompile_component(bytes)?;
        if let Err(error) = self.write(&path, &name, &code) {
            tracing::warn!(%error, "compiled plugin code could not be kept");
        }
        if let Err(error) = self.remove_unused() {
            tracing::warn!(%error, "compiled plugin code that nobody uses could not be removed");
        }
        Ok((deserialize(engine, &code)?, Origin::Compiler))
    }

    fn read(&self, path: &Path, name: &str) -> Option<Vec<u8>> {
        let mut file = fs::File::open(path).ok()?;
        let mut mac = Vec::new();
        file.read_to_end(&mut mac).ok()?;
        if mac.len() < MAC_BYTES {
            return None;
        }
        let code = mac.split_off(MAC_BYTES);
        self.mac(name, &code).verify_slice(&mac).ok()?;
        // Where this fails, the code is compiled again some day.
        let _ = file.set_modified(self.now());
        Some(code)
    }

    fn write(&self, path: &Path, name: &str, code: &[u8]) -> io::Result<()> {
        let mut aside = aside(&self.folder)?;
        aside.write_all(&self.mac(name, code).finalize().into_bytes())?;
        aside.write_all(code)?;
        aside.as_file().set_modified(self.now())?;
        aside.as_file().sync_all()?;
        aside.persist(path)?;
        Ok(())
    }

    /// Removes what nobody has written or loaded for [`KEPT_UNUSED`]: every new version leaves an old one behind.
    fn remove_unused(&self) -> io::Result<()> {
        let Some(since) = self.now().checked_sub(KEPT_UNUSED) else {
            return Ok(());
        };
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let ours = [CODE, ASIDE].map(OsStr::new).map(Some);
            if !ours.contains(&path.extension()) {
                continue;
            }
            let used = fs::metadata(&path).and_then(|said| said.modified());
            let removed = match used {
                Ok(used) if used >= since => Ok(()),
                Ok(_) => fs::remove_file(&path),
                Err(error) => Err(error),
            };
            match removed {
                // Another gateway was first.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed?,
            }
        }
        Ok(())
    }

    fn now(&self) -> SystemTime {
        let since_epoch = u64::try_from((self.now)().0).unwrap_or_default();
        SystemTime::UNIX_EPOCH + Duration::from_millis(since_epoch)
    }

    fn mac(&self, name: &str, code: &[u8]) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new(&self.key.into());
        mac.update(name.as_bytes());
        mac.update(code);
        mac
    }
}

/// # Safety of the call inside
/// `Component::deserialize` runs what it is given. It is given what this engine's compiler returned, or what
/// [`CodeCache::read`] found under our MAC, which covers the name and with it digest, engine configuration,
/// wasmtime version and host features.
#[allow(unsafe_code)]
fn deserialize(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: see above; the bytes were made by `precompile_component` of a compatible engine.
    unsafe { Component::deserialize(engine, code) }
}

/// Component digest and everything about the engine that compiled code depends on.
fn name(engine: &Engine, bytes: &[u8]) -> String {
    let mut compatibility = DigestHasher(Sha256::new());
    engine
        .precompile_compatibility_hash()
        .hash(&mut compatibility);
    format!(
        "{}-{}.{CODE}",
        hex::encode(Sha256::digest(bytes)),
        hex::encode(compatibility.0.finalize())
    )
}

/// `Hash` into SHA-256; the standard hashers promise no stable value between builds.
struct DigestHasher(Sha256);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        let digest = self.0.clone().finalize();
        digest
            .iter()
            .take(8)
            .fold(0, |value, byte| (value << 8) | u64::from(*byte))
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

fn read_key(path: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let bytes = fs::read(path)?;
    bytes.try_into().map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{} is damaged", path.display()),
        )
    })
}

/// The key appears whole or not at all: another gateway may open the folder at the same moment.
fn make_key(path: &Path, folder: &Path) -> io::Result<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
    let mut aside = aside(folder)?;
    aside.write_all(&key)?;
    aside.as_file().sync_all()?;
    match aside.persist_noclobber(path) {
        Ok(_) => Ok(key),
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => read_key(path),
        Err(refused) => Err(refused.error),
    }
}

/// A file of its own (0600) that takes its name once it is complete.
fn aside(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .suffix(&format!(".{ASIDE}"))
        .tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

    #[test]
    fn code_that_nobody_has_used_for_long_goes_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let on = |now| CodeCache::open(folder.path(), now).unwrap();
        let first = on(|| Timestamp(0));
        for name in ["old.code", "used.code", "half.new", "other.txt"] {
            first.write(&path(name), name, b"code").unwrap();
        }
        let second = on(|| Timestamp(20 * DAY_MS));
        let used = second.read(&path("used.code"), "used.code");
        assert_eq!(used.as_deref(), Some(&b"code"[..]));
        let names = |cache: CodeCache| {
            cache.remove_unused().unwrap();
            let entries = fs::read_dir(folder.path()).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.collect();
            names.sort();
            names
        };
        let all = ["half.new", "key", "old.code", "other.txt", "used.code"];
        assert_eq!(names(second), all);
        let third = on(|| Timestamp(40 * DAY_MS));
        assert_eq!(names(third), ["key", "other.txt", "used.code"]);
    }
}
