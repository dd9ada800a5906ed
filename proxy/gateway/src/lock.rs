//! One gateway per data folder, where the store is a file in it: a lock that every serving gateway shares with its
//! successor and with nobody else. It ends with the process, however that ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, bail};

/// The name of the locked file. It stays where it is: whoever removed it would let a second gateway lock another one.
const NAME: &str = "svc-gateway.lock";

/// A lock that is held for as long as this lives.
#[must_use]
pub(crate) struct Lock(
    #[expect(dead_code, reason = "the lock lives as long as the file is open")] File,
);

/// For a gateway that starts: nobody else may have the lock.
///
/// # Errors
/// Another gateway serves from the folder, or the folder cannot be written.
pub(crate) fn alone(folder: &Path) -> anyhow::Result<Lock> {
    let file = open(folder)?;
    taken(file.try_lock(), folder)?;
    // A successor shares the lock later. Where somebody else is faster at this very moment, one of both does not start.
    taken(file.try_lock_shared(), folder)?;
    Ok(Lock(file))
}

/// For a successor that has the sockets of its predecessor, which holds the lock until it has left.
///
/// # Errors
/// A gateway starts in the folder at this moment, or the folder cannot be written.
pub(crate) fn shared(folder: &Path) -> anyhow::Result<Lock> {
    let file = open(folder)?;
    taken(file.try_lock_shared(), folder)?;
    Ok(Lock(file))
}

fn open(folder: &Path) -> anyhow::Result<File> {
    let path = folder.join(NAME);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path);
    file.with_context(|| format!("opening {}", path.display()))
}

fn taken(locked: Result<(), TryLockError>, folder: &Path) -> anyhow::Result<()> {
    let folder = folder.display();
    match locked {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => bail!(
            "another gateway serves from the data folder {folder}, and SQLite is for one: stop it first, or take over \
             from it with --upgrade"
        ),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("locking the data folder {folder}"))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_a_successor_shares_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let first = alone(folder.path()).unwrap();
        let refused = alone(folder.path()).err().unwrap();
        assert!(refused.to_string().contains("--upgrade"), "{refused}");
        let successor = shared(folder.path()).unwrap();
        drop(first);
        assert!(alone(folder.path()).is_err());
        drop(successor);
        assert!(alone(folder.path()).is_ok());
    }
}
