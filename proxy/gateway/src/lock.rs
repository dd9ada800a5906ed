//! One gateway per SQLite database, wherever their data folders are, and one per data folder, whatever their database:
//! a lock that every serving gateway shares with its successor and with nobody else. It ends with the process, however
//! that ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Behind the name of the database. The file stays where it is: whoever removed it would let a second gateway lock
/// another one.
const SUFFIX: &str = ".lock";
/// In a data folder; stays there too.
const OF_FOLDER: &str = "svc-gateway.lock";

/// A lock that is held for as long as this lives.
#[must_use]
pub(crate) struct Lock(
    #[expect(dead_code, reason = "the lock lives as long as the file is open")] File,
);

/// The file that is locked, open and not locked yet.
pub(crate) struct Lockable {
    file: File,
    place: PathBuf,
    /// Why two of them cannot be.
    reason: &'static str,
}

impl Lockable {
    /// Opens the file beside `database`, which need not be there yet. Its folder must.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(crate) fn of_database(database: PathBuf) -> anyhow::Result<Self> {
        let path = path(&database);
        Self::open(
            &path,
            database,
            "another gateway serves from it, and SQLite is for one",
        )
    }

    /// Opens the file in a data folder, which must be there.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(crate) fn of_folder(folder: &Path) -> anyhow::Result<Self> {
        Self::open(
            &folder.join(OF_FOLDER),
            folder.to_owned(),
            "another gateway has it as its data folder, which is for one",
        )
    }

    fn open(path: &Path, place: PathBuf, reason: &'static str) -> anyhow::Result<Self> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .with_context(|| format!("opening {}", path.display()))?;
        Ok(Self {
            file,
            place,
            reason,
        })
    }

    /// For a gateway that starts: nobody else may have the lock.
    ///
    /// # Errors
    /// Another gateway serves from the database.
    pub(crate) fn alone(self) -> anyhow::Result<Lock> {
        self.taken(self.file.try_lock())?;
        // A successor shares the lock later. Where somebody else is faster at this very moment, one of both does not
        // start.
        self.shared()
    }

    /// For a successor that has the sockets of its predecessor, which holds the lock until it has left.
    ///
    /// # Errors
    /// A gateway starts with the database at this moment.
    pub(crate) fn shared(self) -> anyhow::Result<Lock> {
        self.taken(self.file.try_lock_shared())?;
        Ok(Lock(self.file))
    }

    fn taken(&self, locked: Result<(), TryLockError>) -> anyhow::Result<()> {
        let (place, reason) = (self.place.display(), self.reason);
        match locked {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => {
                bail!("{place}: {reason}: stop it first, or take over from it with --upgrade")
            }
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("locking {place}"))
            }
        }
    }
}

/// As SQLite names its own files: beside what a link leads to.
fn path(database: &Path) -> PathBuf {
    let real = std::fs::canonicalize(database);
    let mut path = real
        .unwrap_or_else(|_| database.to_owned())
        .into_os_string();
    path.push(SUFFIX);
    path.into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::{Duration, Instant};

    use super::*;

    fn alone(database: &Path) -> anyhow::Result<Lock> {
        Lockable::of_database(database.to_owned())?.alone()
    }

    /// A child that another test forks at this moment has a copy of the lock until it runs its program.
    fn is_free_again(database: &Path) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            if alone(database).is_ok() {
                return true;
            }
            std::thread::yield_now();
        }
        false
    }

    #[test]
    fn only_a_successor_shares_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("gateway.sqlite");
        let waiting = Lockable::of_database(database.clone()).unwrap();
        let first = alone(&database).unwrap();
        let refused = alone(&database).err().unwrap();
        assert!(refused.to_string().contains("--upgrade"), "{refused}");
        let successor = waiting.shared().unwrap();
        drop(first);
        assert!(alone(&database).is_err());
        drop(successor);
        assert!(is_free_again(&database));
    }

    #[test]
    fn a_link_leads_to_the_same_lock() {
        let folder = tempfile::tempdir().unwrap();
        let (database, link) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&database, "").unwrap();
        std::os::unix::fs::symlink(&database, &link).unwrap();
        let first = alone(&database).unwrap();
        assert!(alone(&link).is_err());
        drop(first);
        assert!(is_free_again(&link));
    }

    #[test]
    fn a_folder_that_is_not_there_is_told_before_anything_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Lockable::of_database(folder.path().join("none/a")).is_err());
        assert!(Lockable::of_folder(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_data_folder_is_for_one_gateway() {
        let folder = tempfile::tempdir().unwrap();
        let first = Lockable::of_folder(folder.path()).unwrap().alone().unwrap();
        let second = Lockable::of_folder(folder.path()).unwrap();
        let refused = second.alone().err().unwrap().to_string();
        assert!(refused.contains("data folder"), "{refused}");
        let successor = Lockable::of_folder(folder.path()).unwrap();
        drop((successor.shared().unwrap(), first));
    }
}
