//! The master key: wraps the organization keys. It lives in a file of the operator's, never in the database.
//!
//! The file has one line per version, `version base64`; the highest version is used for new wraps, the others
//! open what they wrapped. To rotate: add a line, restart, run [`crate::org_key::rewrap`] for every
//! organization and [`crate::signing_key::rewrap`], remove the old line.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::seal::{KEY_BYTES, SealError, SecretKey};

/// Every version of the master key that is at hand, newest last.
#[derive(Clone)]
pub struct MasterKey {
    versions: Vec<(u32, SecretKey)>,
}

/// More than this is no key file.
const FILE_BYTES: u64 = 64 * 1024;

impl MasterKey {
    /// A single key as version 1.
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self {
            versions: vec![(1, SecretKey::from_bytes(bytes))],
        }
    }

    /// Reads the text of a key file, or a key alone, which is version 1: what key management services give.
    ///
    /// # Errors
    /// [`SealError::MasterKey`] names the line that is wrong, never its content.
    pub fn parse(text: &str) -> Result<Self, SealError> {
        if let Some(key) = read(text) {
            return Ok(Self {
                versions: vec![(1, key)],
            });
        }
        let mut versions = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |why: &str| SealError::MasterKey(format!("line {}: {why}", at + 1));
            let (version, key) = line
                .split_once(' ')
                .ok_or_else(|| wrong("expected `version base64`"))?;
            let version: u32 = version
                .parse()
                .map_err(|_| wrong("the version is no number"))?;
            let key = read(key).ok_or_else(|| wrong("the key is not 32 bytes in base64"))?;
            versions.push((version, key));
        }
        versions.sort_by_key(|(version, _)| *version);
        let twice = versions
            .iter()
            .zip(versions.iter().skip(1))
            .any(|((one, _), (next, _))| one == next);
        if versions.is_empty() || twice {
            return Err(SealError::MasterKey(
                "needs at least one key and no version twice".to_owned(),
            ));
        }
        Ok(Self { versions })
    }

    /// Reads the key file, creating it with a fresh key for its owner alone (mode 0600) where there is none.
    /// Processes that start at once end up with one key. Blocking.
    ///
    /// # Errors
    /// [`SealError::MasterKey`]: unreadable, readable by others, or malformed.
    pub fn load_or_create(path: &Path) -> Result<Self, SealError> {
        let failed = |what: &str, error: std::io::Error| {
            SealError::MasterKey(format!("cannot {what} {}: {error}", path.display()))
        };
        if !path
            .try_exists()
            .map_err(|error| failed("look for", error))?
        {
            create(path).map_err(|error| failed("create", error))?;
        }
        let metadata = std::fs::metadata(path).map_err(|error| failed("read", error))?;
        if metadata.permissions().mode() & 0o007 != 0 || metadata.len() > FILE_BYTES {
            return Err(SealError::MasterKey(format!(
                "{} must be a key file that others cannot read (chmod 600)",
                path.display()
            )));
        }
        let text = std::fs::read_to_string(path).map_err(|error| failed("read", error))?;
        Self::parse(&text)
    }

    pub(crate) fn current(&self) -> Result<(u32, &SecretKey), SealError> {
        let newest = self.versions.last().map(|(version, key)| (*version, key));
        newest.ok_or_else(|| SealError::MasterKey("is empty".to_owned()))
    }

    pub(crate) fn version(&self, version: u32) -> Result<&SecretKey, SealError> {
        self.versions
            .iter()
            .find(|(known, _)| *known == version)
            .map(|(_, key)| key)
            .ok_or(SealError::KeyMissing {
                owner: "master",
                version,
            })
    }
}

/// 32 bytes in base64.
fn read(text: &str) -> Option<SecretKey> {
    let bytes = STANDARD.decode(text.trim()).ok()?;
    let bytes = <[u8; KEY_BYTES]>::try_from(bytes).ok()?;
    Some(SecretKey::from_bytes(bytes))
}

/// Writes a new key beside the path and links it into place, so that no reader ever sees half a file and the
/// first of several creators wins.
fn create(path: &Path) -> std::io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", std::process::id()));
    let key = STANDARD.encode(SecretKey::generate().bytes());
    let written = (|| {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(format!("1 {key}\n").as_bytes())?;
        file.sync_all()?;
        match std::fs::hard_link(&draft, path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    })();
    let removed = std::fs::remove_file(&draft);
    written?;
    removed?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    // Without this a power cut could lose the only key of data that is already stored.
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_file_is_created_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        let first = MasterKey::load_or_create(&path).unwrap();
        let again = MasterKey::load_or_create(&path).unwrap();
        assert_eq!(
            first.current().unwrap().1.bytes(),
            again.current().unwrap().1.bytes()
        );
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("master.key");
        MasterKey::load_or_create(&path).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        assert!(matches!(
            MasterKey::load_or_create(&path),
            Err(SealError::MasterKey(_))
        ));
    }

    #[test]
    fn the_highest_version_is_current_and_the_others_stay() {
        let line = |version: u32, byte: u8| format!("{version} {}\n", STANDARD.encode([byte; 32]));
        let key = MasterKey::parse(&format!("# keys\n{}{}", line(2, 2), line(1, 1))).unwrap();
        assert_eq!(key.current().unwrap().0, 2);
        assert_eq!(key.version(1).unwrap().bytes(), &[1; 32]);
        assert!(key.version(3).is_err());
        let alone = MasterKey::parse(&format!("{}\n", STANDARD.encode([7; 32]))).unwrap();
        assert_eq!(alone.version(1).unwrap().bytes(), &[7; 32]);
        for bad in ["", "1", "1 AAAA", "x AAAA", &format!("{0}{0}", line(1, 1))] {
            assert!(MasterKey::parse(bad).is_err());
        }
    }
}
