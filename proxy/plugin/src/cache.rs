//! Compiled code on disk, so that a restart does not compile again.
//!
//! Loading compiled code is as trusted as loading a library: only files that this gateway wrote count. They lie in
//! a folder that nobody else may enter and each carries a MAC under a key that lies beside them; a file that does
//! not check out is compiled anew, never run.

use std::fs::{self, DirBuilder};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use wasmtime::Engine;
use wasmtime::component::Component;

/// One block of SHA-256, the size that HMAC takes as it is.
const KEY_BYTES: usize = 64;
const MAC_BYTES: usize = 32;
const KEY_FILE: &str = "key";

/// The folder of compiled code.
pub(crate) struct CodeCache {
    folder: PathBuf,
    key: [u8; KEY_BYTES],
}

/// Whether code came from the cache; for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Cache,
    Compiler,
}

impl CodeCache {
    /// Opens or makes the folder (0700) and its key (0600).
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
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
        Ok((deserialize(engine, &code)?, Origin::Compiler))
    }

    fn read(&self, path: &Path, name: &str) -> Option<Vec<u8>> {
        let mut file = fs::read(path).ok()?;
        if file.len() < MAC_BYTES {
            return None;
        }
        let code = file.split_off(MAC_BYTES);
        self.mac(name, &code).verify_slice(&file).ok()?;
        Some(code)
    }

    fn write(&self, path: &Path, name: &str, code: &[u8]) -> io::Result<()> {
        let mut aside = aside(&self.folder)?;
        aside.write_all(&self.mac(name, code).finalize().into_bytes())?;
        aside.write_all(code)?;
        aside.as_file().sync_all()?;
        aside.persist(path)?;
        Ok(())
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
        "{}-{}.code",
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
    tempfile::Builder::new().suffix(".new").tempfile_in(folder)
}
