//! The frames of a commit in one write. SQLite writes each page of its log in two calls, header and page, and a commit
//! of the gateway has some twenty of them. A file system of our own over that of the machine collects what is written
//! to the log until SQLite asks for it to be on the disk, which with `synchronous = FULL` it does before it tells
//! anybody of the commit; every other file and every other call is passed on as it is.
//!
//! The rules that make this sound, beside SQLite's own:
//! - only the connection that writes is opened with it ([`NAME`]), with `synchronous = FULL`;
//! - `cache_spill = OFF`: nothing is written to the log but in a commit, so that nothing is held back outside of one.
//!   What was held back by a connection without the right to write could overwrite what another one has written since;
//! - whatever looks at the file (reads, its size, cutting it off, closing it) comes after what was held back;
//! - what could not be written is given up, and the commit with it.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use rusqlite::ffi::{
    self, SQLITE_IOCAP_POWERSAFE_OVERWRITE, SQLITE_IOERR, SQLITE_OK, SQLITE_OPEN_WAL, sqlite3_file,
    sqlite3_int64, sqlite3_io_methods, sqlite3_vfs,
};

use crate::error::StoreError;

/// What the file system is called.
pub(super) const NAME: &CStr = c"svc-gateway";

/// 31 pages with their headers; more is written while the commit goes on. SQLite hands the machine 17 bits' worth of a
/// write at most, and takes one of just 128 KiB for a disk that is full (`seekAndWriteFd`).
const MOST_BYTES: usize = 0x1_ffff;

/// A log as SQLite sees it. The machine's own file stands behind it in the same memory.
#[repr(C)]
struct File {
    base: sqlite3_file,
    held: *mut Held,
}

/// Makes the file system known to SQLite, once for the process.
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
        let vfs = Box::leak(Box::new(sqlite3_vfs {
            szOsFile: copied.szOsFile + own,
            pNext: ptr::null_mut(),
            zName: NAME.as_ptr(),
            // Ours to use: [`open`] alone looks at it, and hands the machine's own structure on.
            pAppData: machine.cast(),
            xOpen: Some(open),
            ..copied
        }));
        // SAFETY: what is registered lives for ever.
        unsafe { ffi::sqlite3_vfs_register(vfs, 0) == SQLITE_OK }
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

/// What is held back of a file of ours.
///
/// # Safety
/// `file` was opened by [`open`] and is not closed. SQLite uses a file from one thread at a time, so that nobody else
/// has this reference.
unsafe fn held<'a>(file: *mut sqlite3_file) -> &'a mut Held {
    // SAFETY: as the caller says; `open` has set the pointer, and `close` alone takes it away.
    unsafe { &mut *(*file.cast::<File>()).held }
}

/// Writes what is held back. Given up where that fails.
fn write_held(file: *mut sqlite3_file) -> c_int {
    // SAFETY: called by the methods of an open file alone.
    let held = unsafe { held(file) };
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
    // SAFETY: `vfs` is the one that was registered, whose data is the machine's.
    let machine: *mut sqlite3_vfs = unsafe { (*vfs).pAppData }.cast();
    // SAFETY: found by SQLite, which keeps it.
    let Some(open) = (unsafe { (*machine).xOpen }) else {
        return SQLITE_IOERR;
    };
    if flags & SQLITE_OPEN_WAL == 0 {
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
    // Elsewhere SQLite goes on writing behind the point that it has asked to be on the disk.
    let traits = machine!(file, xDeviceCharacteristics);
    let held = Held {
        holds: traits & SQLITE_IOCAP_POWERSAFE_OVERWRITE != 0,
        ..Held::default()
    };
    // SAFETY: SQLite's memory for this file, which `close` is called for.
    unsafe {
        (*ours).held = Box::into_raw(Box::new(held));
        (*ours).base.pMethods = &raw const METHODS;
    }
    SQLITE_OK
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let written = write_held(file);
    let closed = machine!(file, xClose);
    // SAFETY: made by `open` with `Box::into_raw`, and taken away here alone.
    drop(unsafe { Box::from_raw((*file.cast::<File>()).held) });
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
    let (goes_on, holds) = unsafe { held(file) }.takes(at, length);
    if !goes_on {
        let written = write_held(file);
        if written != SQLITE_OK {
            return written;
        }
    }
    if !holds {
        return machine!(file, xWrite, bytes, count, at);
    }
    // SAFETY: a method of an open file; SQLite hands over `count` bytes there.
    let (held, bytes) = unsafe { (held(file), std::slice::from_raw_parts(bytes.cast(), length)) };
    if held.bytes.is_empty() {
        held.at = at;
    }
    held.bytes.extend_from_slice(bytes);
    SQLITE_OK
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
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    machine!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    machine!(file, xDeviceCharacteristics)
}

/// Of the first version: a log is neither mapped nor shared.
static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 1,
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
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use rusqlite::Connection;

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
}
