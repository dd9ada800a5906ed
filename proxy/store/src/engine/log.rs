//! SQLite's write-ahead log, brought into the database file beside the writer. Left to itself, SQLite does so behind a
//! commit, and whoever commits next waits for it: 2 ms, ten times a second under load. Nor does it help to do all of it
//! elsewhere: commits that ask for the disk meanwhile wait behind it. So it is done a few pages at a time ([`frames`]).
//!
//! A log is begun anew by the first commit that finds all of it in the file. Beside a writer that never rests something is
//! always left; once that is little, the writer does it.

use std::cell::Cell;
use std::ffi::c_int;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use rusqlite::OpenFlags;
use rusqlite::hooks::Wal;

use super::frames;
use super::writer::Writer;
use crate::error::StoreError;

/// 8 MiB: frames that are worth a pass over the log.
const WORTH: c_int = 2_000;
/// 32 MiB: frames behind which the log is to be begun anew.
const LONG: c_int = 8_000;
/// Frames that the writer may bring into the file: those of a few commits, most of them of the same pages.
const LITTLE: c_int = 128;
/// 128 MiB: frames behind which it brings in whatever there is.
const MOST: c_int = 32_000;

thread_local! {
    /// Frames in the log after the last commit of this thread.
    static LOGGED: Cell<c_int> = const { Cell::new(0) };
}

/// Has the connection note the length of the log at each commit, in place of what SQLite does itself.
pub(super) fn watch(connection: &rusqlite::Connection) {
    connection.wal_hook(Some(committed));
}

fn committed(log: &Wal, frames: c_int) -> rusqlite::Result<()> {
    LOGGED.set(frames);
    if frames >= MOST {
        // The commit stands whatever becomes of this; the next one tries again.
        log.checkpoint().ok();
    }
    Ok(())
}

/// Brings the log into the file as far as nobody is in the way; how many of its frames are there now.
pub(super) fn checkpoint(connection: &rusqlite::Connection) -> Result<c_int, StoreError> {
    // Passive: waits for nobody, and nobody waits for it.
    let sql = "PRAGMA wal_checkpoint(PASSIVE)";
    Ok(connection.query_row(sql, (), |row| row.get("checkpointed"))?)
}

/// A thread that brings the log into the file when it is asked to; dropping it waits until that is done.
pub(super) struct Checkpointer {
    /// None once it is to end.
    asks: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// The length of the log when it was last asked.
    asked_at: c_int,
    /// Frames that were in the file after its last pass.
    done: Arc<AtomicI32>,
}

impl Checkpointer {
    pub(super) fn start(path: PathBuf) -> io::Result<Self> {
        let (asks, asked) = sync_channel(1);
        let done = Arc::new(AtomicI32::new(0));
        let thread = thread::Builder::new().name("sqlite-log".to_owned());
        let tells = done.clone();
        let thread = thread.spawn(move || {
            if let Err(error) = serve(&path, &asked, &tells) {
                tracing::error!(%error, "the write-ahead log is left to the writer");
            }
        })?;
        Ok(Self {
            asks: Some(asks),
            thread: Some(thread),
            asked_at: 0,
            done,
        })
    }

    /// To be told of each commit, on the thread that made it.
    pub(super) fn committed(&mut self, writer: &Writer) {
        let frames = LOGGED.get();
        // A log that is shorter than it was has been begun anew.
        if frames < self.asked_at {
            self.asked_at = 0;
            self.done.store(0, Ordering::Relaxed);
        }
        if frames >= LONG && frames - self.done.load(Ordering::Relaxed) <= LITTLE {
            if let Err(error) = writer.checkpoint() {
                tracing::warn!(%error, "the write-ahead log could not be begun anew yet");
            }
        } else if frames - self.asked_at >= WORTH || (frames >= LONG && frames > self.asked_at) {
            self.asked_at = frames;
            if let Some(asks) = &self.asks {
                // Where it was asked already, it has yet to look.
                asks.try_send(()).ok();
            }
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

fn serve(path: &Path, asked: &Receiver<()>, done: &AtomicI32) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    frames::register()?;
    let connection = rusqlite::Connection::open_with_flags_and_vfs(path, flags, frames::UNHURRIED)?;
    while asked.recv().is_ok() {
        match checkpoint(&connection) {
            Ok(frames) => done.store(frames, Ordering::Relaxed),
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log could not be brought into the database yet");
            }
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

    /// Some hundred pages.
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

    fn insert(writer: &mut Writer, checkpointer: &mut Checkpointer) {
        writer.batch(BLOB).unwrap();
        checkpointer.committed(writer);
    }

    #[test]
    fn the_log_goes_into_the_file_beside_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let mut writer = Writer::open(&path).unwrap();
        let mut checkpointer = Checkpointer::start(path.clone()).unwrap();
        for _ in 0..18 {
            insert(&mut writer, &mut checkpointer);
        }
        thread::sleep(Duration::from_millis(50));
        assert!(pages(&path) < 10, "so few are not worth a pass");
        for _ in 0..4 {
            insert(&mut writer, &mut checkpointer);
        }
        drop(checkpointer);
        assert!(pages(&path) > 1_900);
    }

    #[test]
    fn a_long_log_is_begun_anew_once_little_of_it_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let log = folder.path().join("log.db-wal");
        let mut writer = Writer::open(&path).unwrap();
        let mut checkpointer = Checkpointer::start(path.clone()).unwrap();
        for _ in 0..300 {
            insert(&mut writer, &mut checkpointer);
            // Never so long that the writer would have to do all of it.
            assert!(LOGGED.get() < LONG + 4_000);
            while LOGGED.get() >= LONG
                && LOGGED.get() - checkpointer.done.load(Ordering::Relaxed) > LITTLE
            {
                thread::sleep(Duration::from_millis(1));
            }
        }
        assert!(pages(&log) < 13_000);
        drop(checkpointer);
        let sql = "SELECT COUNT(*) AS count FROM blobs";
        let rows = writer.rows(sql, Vec::new()).unwrap();
        assert_eq!(rows[0].get::<i64>("count").unwrap(), 300);
    }

    #[test]
    fn without_it_the_writer_bounds_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let mut writer = Writer::open(&path).unwrap();
        let large = BLOB.replace("100", "2000");
        for _ in 0..15 {
            writer.batch(&large).unwrap();
        }
        assert!(pages(&path) < 10);
        writer.batch(&large).unwrap();
        writer.batch(&large).unwrap();
        assert!(pages(&path) > 30_000);
        // Begun anew: the log is as long as it was.
        let log = folder.path().join("log.db-wal");
        let length = pages(&log);
        writer.batch(&large).unwrap();
        assert_eq!(pages(&log), length);
    }
}
