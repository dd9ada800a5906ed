//! Two file systems of our own over that of the machine; what they say nothing of is passed on as it is.
//!
//! [`COLLECTING`]: the frames of a commit in one write. SQLite writes each page of its log in two calls, header and page,
//! and a commit of the gateway has some twenty of them. Here they are held back until SQLite asks for them to be on the
//! disk, which with `synchronous = FULL` it does before it tells anybody of the commit.
//!
//! [`UNHURRIED`]: the pages of a checkpoint a few at a time. SQLite hands all of them to the machine and then asks for all
//! of them to be on the disk, and a commit that asks meanwhile waits behind them. Here every few are on the disk before
//! the next are written.
//!
//! The rules that make the first one sound, beside SQLite's own (the second one only asks for more than SQLite does):
//! - only the connection that writes is opened with it, with `synchronous = FULL`;
//! - `cache_spill = OFF`: nothing is written to the log but in a commit, so that nothing is held back outside of one.
//!   What was held back by a connection without the right to write could overwrite what another one has written since;
//! - whatever looks at the file (reads, its size, cutting it off, closing it) comes after what was held back;
//! - what could not be written is given up, and the commit with it.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::ffi::{
    self, SQLITE_IOCAP_POWERSAFE_OVERWRITE, SQLITE_IOERR, SQLITE_OK, SQLITE_OPEN_MAIN_DB,
    SQLITE_OPEN_WAL, SQLITE_SYNC_DATAONLY, SQLITE_SYNC_NORMAL, sqlite3_file, sqlite3_int64,
    sqlite3_io_methods, sqlite3_vfs,
};

use crate::error::StoreError;

/// For the connection that writes.
pub(super) const COLLECTING: &CStr = c"svc-collecting";
/// For the connection that brings the log into the database file.
pub(super) const UNHURRIED: &CStr = c"svc-unhurried";

/// 31 pages with their headers; more is written while the commit goes on. SQLite hands the machine 17 bits' worth of a
/// write at most, and takes one of just 128 KiB for a disk that is full (`seekAndWriteFd`).
const MOST_BYTES: usize = 0x1_ffff;

/// Pages that are put on the disk together: about as many as one commit has.
const PAGES_AT_ONCE: u32 = 16;
/// What is left to others behind each of them: as long as they took, and this at most.
const LONGEST_REST: Duration = Duration::from_millis(1);

/// A file as SQLite sees it. The machine's own stands behind it in the same memory.
#[repr(C)]
struct File {
    base: sqlite3_file,
    own: *mut Own,
}

/// What a file of ours is for.
enum Own {
    Log(Held),
    /// The database file; pages that were written since they were last put on the disk.
    Pages(u32),
}

/// What a file system of ours knows.
struct Kind {
    machine: *mut sqlite3_vfs,
    /// The `SQLITE_OPEN_` flag of the files that become ours.
    takes: c_int,
}

const KINDS: [(&CStr, c_int); 2] = [
    (COLLECTING, SQLITE_OPEN_WAL),
    (UNHURRIED, SQLITE_OPEN_MAIN_DB),
];

/// Makes the file systems known to SQLite, once for the process.
///
/// # Errors
/// When SQLite has none to build upon.
pub(super) fn register() -> Result<(), StoreError> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let done = REGISTERED.get_or_init(|| {
        // SAFETY: asks for the file system of the machine, which SQLite keeps for as long as the process lives.
        let machine = unsafe { ffi::sqlite3_vfs_find(ptr::null()) };
        if machine.is_null() {
            return false;
        }
        // SAFETY: not null, as found; the structure is plain data and may be copied.
        let copied = unsafe { ptr::read(machine) };
        let Ok(own) = c_int::try_from(size_of::<File>()) else {
            return false;
        };
        KINDS.into_iter().all(|(name, takes)| {
            let vfs = Box::leak(Box::new(sqlite3_vfs {
                szOsFile: copied.szOsFile + own,
                pNext: ptr::null_mut(),
                zName: name.as_ptr(),
                // Ours to use: [`open`] alone looks at it, and hands the machine's own structure on.
                pAppData: Box::into_raw(Box::new(Kind { machine, takes })).cast(),
                xOpen: Some(open),
                ..copied
            }));
            // SAFETY: what is registered lives for ever.
            unsafe { ffi::sqlite3_vfs_register(vfs, 0) == SQLITE_OK }
        })
    });
    if *done {
        Ok(())
    } else {
        Err(StoreError::Unavailable(
            "SQLite has no file system".to_owned(),
        ))
    }
}

/// What was written and is not in the file yet: one run of bytes.
#[derive(Default)]
struct Held {
    at: sqlite3_int64,
    bytes: Vec<u8>,
    /// Whether anything may be held back at all.
    holds: bool,
}

impl Held {
    /// Whether so many bytes may join what is held, and whether they are to be held at all.
    fn takes(&self, at: sqlite3_int64, length: usize) -> (bool, bool) {
        let joined = self.bytes.len().saturating_add(length);
        let end =
            sqlite3_int64::try_from(self.bytes.len()).map(|held| self.at.saturating_add(held));
        let follows = self.bytes.is_empty() || end == Ok(at);
        let holds = self.holds && length <= MOST_BYTES;
        (follows && holds && joined <= MOST_BYTES, holds)
    }
}

/// Calls a method of the machine's file; an error where it has none.
macro_rules! machine {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        let real = real($file);
        // SAFETY: the machine has opened this file, and gave it its methods.
        let method = unsafe { (*(*real).pMethods).$method };
        match method {
            // SAFETY: the arguments are SQLite's own, for this very method.
            Some(method) => unsafe { method(real $(, $argument)*) },
            None => SQLITE_IOERR,
        }
    }};
}

/// The machine's file behind one of ours.
fn real(file: *mut sqlite3_file) -> *mut sqlite3_file {
    file.cast::<File>().wrapping_add(1).cast()
}

/// What a file of ours is for.
///
/// # Safety
/// `file` was opened by [`open`] and is not closed. SQLite uses a file from one thread at a time, so that nobody else
/// has this reference.
unsafe fn own<'a>(file: *mut sqlite3_file) -> &'a mut Own {
    // SAFETY: as the caller says; `open` has set the pointer, and `close` alone takes it away.
    unsafe { &mut *(*file.cast::<File>()).own }
}

/// Writes what is held back. Given up where that fails.
fn write_held(file: *mut sqlite3_file) -> c_int {
    // SAFETY: called by the methods of an open file alone.
    let Own::Log(held) = (unsafe { own(file) }) else {
        return SQLITE_OK;
    };
    if held.bytes.is_empty() {
        return SQLITE_OK;
    }
    let Ok(count) = c_int::try_from(held.bytes.len()) else {
        return SQLITE_IOERR;
    };
    let written = machine!(file, xWrite, held.bytes.as_ptr().cast(), count, held.at);
    held.bytes.clear();
    written
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: `vfs` is one of those that were registered, whose data lives for ever.
    let Kind { machine, takes } = unsafe { &*(*vfs).pAppData.cast::<Kind>() };
    let machine = *machine;
    // SAFETY: found by SQLite, which keeps it.
    let Some(open) = (unsafe { (*machine).xOpen }) else {
        return SQLITE_IOERR;
    };
    if flags & takes == 0 {
        // SAFETY: SQLite's own arguments; there is more room behind `file` than the machine asks for.
        return unsafe { open(machine, name, file, flags, out_flags) };
    }
    // SAFETY: as above; behind our part there is as much room as the machine asks for.
    let opened = unsafe { open(machine, name, real(file), flags, out_flags) };
    let ours: *mut File = file.cast();
    if opened != SQLITE_OK {
        // SAFETY: SQLite's memory for this file. Without methods it is not closed.
        unsafe { (*ours).base.pMethods = ptr::null() };
        return opened;
    }
    let own = if flags & SQLITE_OPEN_WAL == 0 {
        Own::Pages(0)
    } else {
        // Elsewhere SQLite goes on writing behind the point that it has asked to be on the disk.
        let traits = machine!(file, xDeviceCharacteristics);
        Own::Log(Held {
            holds: traits & SQLITE_IOCAP_POWERSAFE_OVERWRITE != 0,
            ..Held::default()
        })
    };
    // SAFETY: SQLite's memory for this file, which `close` is called for.
    unsafe {
        (*ours).own = Box::into_raw(Box::new(own));
        (*ours).base.pMethods = &raw const METHODS;
    }
    SQLITE_OK
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let written = write_held(file);
    let closed = machine!(file, xClose);
    // SAFETY: made by `open` with `Box::into_raw`, and taken away here alone.
    drop(unsafe { Box::from_raw((*file.cast::<File>()).own) });
    if written == SQLITE_OK {
        closed
    } else {
        written
    }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    bytes: *const c_void,
    count: c_int,
    at: sqlite3_int64,
) -> c_int {
    let Ok(length) = usize::try_from(count) else {
        return SQLITE_IOERR;
    };
    // SAFETY: a method of an open file.
    let (goes_on, holds) = match unsafe { own(file) } {
        Own::Log(held) => held.takes(at, length),
        Own::Pages(_) => return write_page(file, bytes, count, at),
    };
    if !goes_on {
        let written = write_held(file);
        if written != SQLITE_OK {
            return written;
        }
    }
    // SAFETY: a method of an open file.
    let Own::Log(held) = (unsafe { own(file) }) else {
        return SQLITE_IOERR;
    };
    if !holds {
        return machine!(file, xWrite, bytes, count, at);
    }
    // SAFETY: SQLite hands over `count` bytes there.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast(), length) };
    if held.bytes.is_empty() {
        held.at = at;
    }
    held.bytes.extend_from_slice(bytes);
    SQLITE_OK
}

/// Writes a page of the database; behind every few, has them on the disk and lets others have it for as long.
fn write_page(
    file: *mut sqlite3_file,
    bytes: *const c_void,
    count: c_int,
    at: sqlite3_int64,
) -> c_int {
    let written = machine!(file, xWrite, bytes, count, at);
    // SAFETY: called by a method of an open file.
    let Own::Pages(pages) = (unsafe { own(file) }) else {
        return SQLITE_IOERR;
    };
    *pages += 1;
    if written != SQLITE_OK || *pages < PAGES_AT_ONCE {
        return written;
    }
    *pages = 0;
    let started = Instant::now();
    let done = machine!(file, xSync, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
    thread::sleep(started.elapsed().min(LONGEST_REST));
    done
}

/// The methods that come after what was held back, and are otherwise the machine's.
macro_rules! behind {
    ($($name:ident: $method:ident($($argument:ident: $type:ty),*);)*) => {$(
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $type)*) -> c_int {
            match write_held(file) {
                SQLITE_OK => machine!(file, $method $(, $argument)*),
                error => error,
            }
        }
    )*};
}
behind! {
    read: xRead(into: *mut c_void, count: c_int, at: sqlite3_int64);
    truncate: xTruncate(size: sqlite3_int64);
    sync: xSync(flags: c_int);
    file_size: xFileSize(size: *mut sqlite3_int64);
    lock: xLock(level: c_int);
    unlock: xUnlock(level: c_int);
    check_reserved_lock: xCheckReservedLock(held: *mut c_int);
    file_control: xFileControl(operation: c_int, argument: *mut c_void);
    // Of the database file alone.
    shm_map: xShmMap(page: c_int, size: c_int, extend: c_int, into: *mut *mut c_void);
    shm_lock: xShmLock(offset: c_int, count: c_int, flags: c_int);
    shm_unmap: xShmUnmap(delete: c_int);
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    let real = real(file);
    // SAFETY: the machine has opened this file, and gave it its methods.
    if let Some(barrier) = unsafe { (*(*real).pMethods).xShmBarrier } {
        // SAFETY: the argument is SQLite's own, for this very method.
        unsafe { barrier(real) };
    }
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    machine!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    machine!(file, xDeviceCharacteristics)
}

/// Of the second version: the index of the log is shared, no file is mapped.
static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use rusqlite::{Connection, OpenFlags};

    use super::super::writer::Writer;

    fn database(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("frames.db");
        let connection = Connection::open(&path).unwrap();
        let schema = "PRAGMA journal_mode = WAL;
                      CREATE TABLE numbers (value INTEGER PRIMARY KEY, padding BLOB NOT NULL);
                      CREATE INDEX by_padding ON numbers (padding)";
        connection.execute_batch(schema).unwrap();
        path
    }

    fn insert(value: i64) -> String {
        format!("INSERT INTO numbers VALUES ({value}, randomblob(700))")
    }

    fn count(connection: &Connection) -> i64 {
        let sql = "SELECT COUNT(*) FROM numbers";
        connection.query_row(sql, (), |row| row.get(0)).unwrap()
    }

    fn is_sound(connection: &Connection) -> bool {
        let sql = "PRAGMA integrity_check";
        let told: String = connection.query_row(sql, (), |row| row.get(0)).unwrap();
        told == "ok"
    }

    #[test]
    fn a_commit_is_there_for_others_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let mut writer = Writer::open(&path).unwrap();
        let other = Connection::open(&path).unwrap();
        for value in 0..300 {
            writer.batch(&insert(value)).unwrap();
            assert_eq!(count(&other), value + 1);
        }
        assert!(is_sound(&other));
        // What a crash leaves: the files as they are now, read by somebody who knows nothing of the writer.
        let crashed = folder.path().join("crashed.db");
        std::fs::copy(&path, &crashed).unwrap();
        std::fs::copy(
            folder.path().join("frames.db-wal"),
            folder.path().join("crashed.db-wal"),
        )
        .unwrap();
        let crashed = Connection::open(&crashed).unwrap();
        assert_eq!(count(&crashed), 300);
        assert!(is_sound(&crashed));
    }

    #[test]
    fn what_is_rolled_back_is_written_by_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let mut writer = Writer::open(&path).unwrap();
        let other = Connection::open(&path).unwrap();
        let length = || {
            std::fs::metadata(folder.path().join("frames.db-wal"))
                .unwrap()
                .len()
        };
        writer.batch(&insert(0)).unwrap();
        let before = length();
        // More pages than the cache has.
        writer.batch("BEGIN IMMEDIATE").unwrap();
        let many = "WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 30000) \
                    INSERT INTO numbers SELECT v, randomblob(700) FROM n";
        writer.batch(many).unwrap();
        writer.batch("ROLLBACK").unwrap();
        assert_eq!(length(), before);
        other.execute_batch(&insert(1)).unwrap();
        writer.batch(&insert(2)).unwrap();
        assert_eq!(count(&other), 3);
        assert!(is_sound(&other));
    }

    #[test]
    fn several_writers_and_checkpoints_in_turn_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let mut writer = Writer::open(&path).unwrap();
        let mut second = Writer::open(&path).unwrap();
        let other = Connection::open(&path).unwrap();
        for value in 0..400 {
            match value % 4 {
                0 => writer.batch(&insert(value)).unwrap(),
                1 => second.batch(&insert(value)).unwrap(),
                2 => other.execute_batch(&insert(value)).unwrap(),
                _ => {
                    let update = format!(
                        "UPDATE numbers SET padding = zeroblob(900) WHERE value % 7 = {}",
                        value % 7
                    );
                    writer.batch(&update).unwrap();
                    writer.batch(&insert(value)).unwrap();
                }
            }
            let how = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"];
            if value % 23 == 0 {
                let how = how[(value / 23) as usize % how.len()];
                let by = format!("PRAGMA wal_checkpoint({how})");
                if value % 2 == 0 {
                    other.query_row(&by, (), |_| Ok(())).unwrap();
                } else {
                    second.rows_of(&by, Vec::new()).unwrap();
                }
            }
            assert_eq!(count(&other), value + 1);
        }
        drop((writer, second, other));
        let reopened = Connection::open(&path).unwrap();
        assert_eq!(count(&reopened), 400);
        assert!(is_sound(&reopened));
    }

    #[test]
    fn a_commit_larger_than_what_is_held_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let mut writer = Writer::open(&path).unwrap();
        let many = "WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000) \
                    INSERT INTO numbers SELECT v, randomblob(700) FROM n";
        writer.batch(many).unwrap();
        let other = Connection::open(&path).unwrap();
        assert_eq!(count(&other), 5_000);
        assert!(is_sound(&other));
    }

    #[test]
    fn a_checkpoint_without_hurry_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = database(folder.path());
        let mut writer = Writer::open(&path).unwrap();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let unhurried = Connection::open_with_flags_and_vfs(&path, flags, super::UNHURRIED);
        let unhurried = unhurried.unwrap();
        for round in 0..5 {
            for value in 0..100 {
                writer.batch(&insert(round * 100 + value)).unwrap();
            }
            let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
            unhurried.query_row(sql, (), |_| Ok(())).unwrap();
            // The file alone has everything.
            let alone = folder.path().join("alone.db");
            std::fs::copy(&path, &alone).unwrap();
            let alone = Connection::open(&alone).unwrap();
            assert_eq!(count(&alone), (round + 1) * 100);
            assert!(is_sound(&alone));
        }
        // It writes as any connection does.
        unhurried.execute_batch(&insert(1_000)).unwrap();
        writer.batch(&insert(1_001)).unwrap();
        assert_eq!(count(&unhurried), 502);
    }
}
