//! One gateway per SQLite database: a lock beside its file that every serving gateway shares with its successor and
//! with nobody else, wherever their data folders are. It ends with the process, however that ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Behind the name of the database. The file stays where it is: whoever removed it would let a second gateway lock
/// another one.
const SUFFIX: &str = ".lock";

/// A lock that is held for as long as this lives.
#[must_use]
pub(crate) struct Lock(
    #[expect(dead_code, reason = "the lock lives as long as the file is open")] File,
);

/// The file that is locked, open and not locked yet.
pub(crate) struct Lockable {
    file: File,
    database: PathBuf,
}

impl Lockable {
    /// Opens the file beside `database`, which need not be there yet. Its folder must.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(crate) fn open(database: PathBuf) -> anyhow::Result<Self> {
        let path = path(&database);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .with_context(|| format!("opening {}", path.display()))?;
        Ok(Self { file, database })
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
        let database = self.database.display();
        match locked {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => bail!(
                "another gateway serves from the database {database}, and SQLite is for one: stop it first, or take \
                 over from it with --upgrade"
            ),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("locking the database {database}"))
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
        Lockable::open(database.to_owned())?.alone()
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
        let waiting = Lockable::open(database.clone()).unwrap();
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
        assert!(Lockable::open(folder.path().join("none/a")).is_err());
    }
}
