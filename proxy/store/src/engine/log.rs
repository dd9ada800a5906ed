//! SQLite's write-ahead log, brought into the database file beside the writer. Left to itself, SQLite does so behind a
//! commit, and whoever commits next waits for it: 2 ms, ten times a second under load.

use std::cell::Cell;
use std::ffi::c_int;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::OpenFlags;
use rusqlite::hooks::Wal;

use crate::error::StoreError;

/// 4 MiB: pages that are worth the trip, by SQLite's own measure.
const WORTH_PAGES: c_int = 1_000;
/// 32 MiB: pages behind which the writer does it after all. A log is begun anew only once all of it is in the file, and
/// where a writer never rests there is always something behind that.
const MOST_PAGES: c_int = 8_000;

thread_local! {
    /// Pages in the log after the last commit of this thread.
    static LOGGED: Cell<c_int> = const { Cell::new(0) };
}

/// Has the connection note the length of the log at each commit, in place of what SQLite does itself.
pub(super) fn watch(connection: &rusqlite::Connection) {
    connection.wal_hook(Some(committed));
}

fn committed(log: &Wal, pages: c_int) -> rusqlite::Result<()> {
    LOGGED.set(pages);
    if pages >= MOST_PAGES {
        // The commit stands whatever becomes of this; the next one tries again.
        log.checkpoint().ok();
    }
    Ok(())
}

/// A thread that brings the log into the file when it is asked to; dropping it waits until that is done.
pub(super) struct Checkpointer {
    /// None once it is to end.
    asks: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// The length of the log when it was last asked.
    asked_at: c_int,
}

impl Checkpointer {
    pub(super) fn start(path: PathBuf) -> io::Result<Self> {
        let (asks, asked) = sync_channel(1);
        let thread = thread::Builder::new().name("sqlite-log".to_owned());
        let thread = thread.spawn(move || {
            if let Err(error) = serve(&path, &asked) {
                tracing::error!(%error, "the write-ahead log is left to the writer");
            }
        })?;
        Ok(Self {
            asks: Some(asks),
            thread: Some(thread),
            asked_at: 0,
        })
    }

    /// To be told of each commit, on the thread that made it.
    pub(super) fn committed(&mut self) {
        let pages = LOGGED.get();
        // A log that is shorter than it was has been begun anew.
        if pages < self.asked_at {
            self.asked_at = 0;
        }
        if pages - self.asked_at >= WORTH_PAGES
            && let Some(asks) = &self.asks
        {
            self.asked_at = pages;
            // Where it was asked already, it has yet to look.
            asks.try_send(()).ok();
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.asks = None;
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn serve(path: &std::path::Path, asked: &Receiver<()>) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = rusqlite::Connection::open_with_flags(path, flags)?;
    while asked.recv().is_ok() {
        // Passive: waits for nobody, and nobody waits for it.
        let done = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()));
        if let Err(error) = done {
            tracing::warn!(%error, "the write-ahead log could not be brought into the database yet");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;
    use std::time::Duration;

    use super::super::writer::Writer;
    use super::*;

    const BLOB: &str = "INSERT INTO blobs VALUES (randomblob(4000 * 100))";

    fn database(folder: &Path) -> PathBuf {
        let path = folder.join("log.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection
            .execute_batch("CREATE TABLE blobs (data BLOB NOT NULL)")
            .unwrap();
        path
    }

    fn pages(path: &Path) -> u64 {
        std::fs::metadata(path).unwrap().len() / 4_096
    }

    #[test]
    fn the_log_goes_into_the_file_beside_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let mut writer = Writer::open(&path).unwrap();
        let mut checkpointer = Checkpointer::start(path.clone()).unwrap();
        for _ in 0..8 {
            writer.batch(BLOB).unwrap();
            checkpointer.committed();
        }
        thread::sleep(Duration::from_millis(50));
        assert!(pages(&path) < 10, "eight hundred pages are not worth it");
        for _ in 0..4 {
            writer.batch(BLOB).unwrap();
            checkpointer.committed();
        }
        drop(checkpointer);
        assert!(pages(&path) > 900);
    }

    #[test]
    fn without_it_the_writer_bounds_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let mut writer = Writer::open(&path).unwrap();
        for _ in 0..75 {
            writer.batch(BLOB).unwrap();
        }
        assert!(pages(&path) < 10);
        for _ in 0..10 {
            writer.batch(BLOB).unwrap();
        }
        assert!(pages(&path) > 7_500);
        // Begun anew: the log is as long as it was.
        let log = folder.path().join("log.db-wal");
        let length = std::fs::metadata(&log).unwrap().len();
        for _ in 0..20 {
            writer.batch(BLOB).unwrap();
        }
        assert_eq!(std::fs::metadata(&log).unwrap().len(), length);
    }
}
