//! The connection of SQLite's one writer. Statements run on the thread that asks, at once: inside a group
//! commit there is nothing to wait for but the disk. Knows no transaction; [`super::group`] does.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{CachedStatement, ErrorCode, OpenFlags};

use super::connection::{Arg, Row};
use super::{BETWEEN_ATTEMPTS, WAIT_TIMEOUT};
use super::{frames, log};
use crate::error::StoreError;

/// Prepared statements that are kept; the store has fewer that write.
const CACHED_STATEMENTS: usize = 256;

/// 200 ms: how long a lock is waited for that was there for [`WAIT_TIMEOUT`] already, and how long nobody waits for it
/// after somebody has.
const LOCKED_WAIT: Duration = Duration::from_millis(200);

/// Stays with the file, and is what sqlx's connections find.
const WAL: &str = "PRAGMA journal_mode = WAL";

/// What every connection that writes is set to. FULL: a commit is on the disk before it is reported. Foreign keys
/// are off by default; without recursive triggers, INSERT OR REPLACE deletes rows past the append-only triggers. What
/// is deleted is overwritten: a destroyed key must not lie in a free page. Nothing is written before its commit
/// ([`frames`]).
const SETTINGS: &str = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; \
                        PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384; PRAGMA cache_spill = OFF; PRAGMA secure_delete = ON";

pub(crate) struct Writer {
    connection: rusqlite::Connection,
    /// By where the text of the crate stands.
    known: HashMap<(usize, usize), Known>,
    /// When somebody else was last found to have had the database locked for as long as is waited for it.
    found_locked: Option<Instant>,
}

/// What is found out once about a statement.
struct Known {
    /// The text as [`for_writer`] gives it.
    sql: Box<str>,
    /// Names of its columns, once it was asked for rows.
    columns: OnceCell<Arc<[String]>>,
}

impl Known {
    fn new(sql: &str) -> Self {
        Self {
            sql: for_writer(sql).into(),
            columns: OnceCell::new(),
        }
    }
}

impl Writer {
    /// Opens a database file that exists; blocks for [`WAIT_TIMEOUT`] at most.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        frames::register()?;
        let connection = rusqlite::Connection::open_with_flags_and_vfs(path, flags, frames::NAME)?;
        connection.busy_timeout(WAIT_TIMEOUT)?;
        write_ahead(&connection)?;
        log::watch(&connection);
        connection.execute_batch(SETTINGS)?;
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        Ok(Self {
            connection,
            known: HashMap::new(),
            found_locked: None,
        })
    }

    /// Begins a transaction. A lock of somebody else is waited for by the first who meets it; as long as it stays, whoever
    /// comes next hears of it soon, and whoever has queued up behind those who waited hears of it at once: nobody waits
    /// for it once with each statement, nor once behind each other.
    pub(super) fn begin(&mut self) -> Result<(), StoreError> {
        let patience = match self.found_locked {
            None => WAIT_TIMEOUT,
            Some(found) if found.elapsed() < LOCKED_WAIT => Duration::ZERO,
            Some(_) => LOCKED_WAIT,
        };
        if patience != WAIT_TIMEOUT {
            self.connection.busy_timeout(patience)?;
        }
        let begun = self.execute("BEGIN IMMEDIATE", []).map(drop);
        if matches!(begun, Err(StoreError::Unavailable(_))) {
            if !patience.is_zero() {
                self.found_locked = Some(Instant::now());
            }
        } else if patience != WAIT_TIMEOUT {
            self.connection.busy_timeout(WAIT_TIMEOUT)?;
            self.found_locked = None;
        }
        begun
    }

    /// Whether a transaction is open.
    pub(super) fn is_busy(&self) -> bool {
        !self.connection.is_autocommit()
    }

    pub(super) fn execute(
        &mut self,
        sql: &'static str,
        args: impl AsRef<[Arg]>,
    ) -> Result<u64, StoreError> {
        let (connection, known) = self.known(sql);
        let mut statement = prepared(connection, known, args.as_ref())?;
        Ok(statement.raw_execute()? as u64)
    }

    pub(super) fn rows(
        &mut self,
        sql: &'static str,
        args: Vec<Arg>,
    ) -> Result<Vec<Row>, StoreError> {
        let (connection, known) = self.known(sql);
        collect(connection, known, &args, usize::MAX)
    }

    /// As [`Self::rows`], for a text that was put together.
    pub(super) fn rows_of(&mut self, sql: &str, args: Vec<Arg>) -> Result<Vec<Row>, StoreError> {
        collect(&self.connection, &Known::new(sql), &args, usize::MAX)
    }

    pub(super) fn row(
        &mut self,
        sql: &'static str,
        args: Vec<Arg>,
    ) -> Result<Option<Row>, StoreError> {
        let (connection, known) = self.known(sql);
        Ok(collect(connection, known, &args, 1)?.pop())
    }

    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch(sql)?)
    }

    fn known(&mut self, sql: &'static str) -> (&rusqlite::Connection, &Known) {
        let place = (sql.as_ptr() as usize, sql.len());
        let known = self.known.entry(place).or_insert_with(|| Known::new(sql));
        (&self.connection, known)
    }
}

/// A statement with its arguments bound.
fn prepared<'c>(
    connection: &'c rusqlite::Connection,
    known: &Known,
    args: &[Arg],
) -> Result<CachedStatement<'c>, StoreError> {
    let mut statement = connection.prepare_cached(&known.sql)?;
    let count = statement.parameter_count();
    let args = args.get(..count).ok_or_else(|| StoreError::Refused {
        code: "client".to_owned(),
        message: "a statement has a placeholder without an argument".to_owned(),
    })?;
    for (at, argument) in (1..).zip(args) {
        statement.raw_bind_parameter(at, argument)?;
    }
    Ok(statement)
}

/// A text as the writer runs it.
fn for_writer(sql: &str) -> String {
    let sql = numbered(sql);
    match sql.strip_prefix("INSERT INTO ") {
        Some(rest) if !sql.contains("ON CONFLICT") => format!("{UNKEPT} {rest}"),
        _ => sql,
    }
}

/// Whoever inserts what is refused undoes all that it has done ([`super::group`]), as PostgreSQL makes it do in any
/// case. So SQLite need not keep what the one statement has changed, which is a copy of every page that it touches.
const UNKEPT: &str = "INSERT OR FAIL INTO";

/// `?3` in the place of `$3`: SQLite numbers the one by its digit and the other by where it first stands, and looks for
/// names through all that it has read.
fn numbered(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len());
    let mut bytes = sql.split_inclusive('$').peekable();
    while let Some(piece) = bytes.next() {
        let is_placeholder = bytes
            .peek()
            .is_some_and(|next| next.starts_with(|first: char| first.is_ascii_digit()));
        match piece.strip_suffix('$') {
            Some(before) if is_placeholder => {
                text.push_str(before);
                text.push('?');
            }
            _ => text.push_str(piece),
        }
    }
    text
}

/// Turns the write-ahead log on. Of several that do so to a new file at once, SQLite tells all but one that it is
/// locked, without waiting for the busy timeout: each of them holds what another one waits for.
fn write_ahead(connection: &rusqlite::Connection) -> Result<(), StoreError> {
    let attempts = WAIT_TIMEOUT.as_millis() / BETWEEN_ATTEMPTS.as_millis();
    for _ in 1..attempts {
        match connection.execute_batch(WAL) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                std::thread::sleep(BETWEEN_ATTEMPTS);
            }
            done => return Ok(done?),
        }
    }
    Ok(connection.execute_batch(WAL)?)
}

impl ToSql for Arg {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Self::Int(Some(number)) => ValueRef::Integer(*number),
            Self::Bool(word) => ValueRef::Integer(i64::from(*word)),
            Self::Bytes(Some(bytes)) => ValueRef::Blob(bytes),
            Self::Text(None) | Self::Int(None) | Self::Bytes(None) => ValueRef::Null,
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

fn collect(
    connection: &rusqlite::Connection,
    known: &Known,
    args: &[Arg],
    most: usize,
) -> Result<Vec<Row>, StoreError> {
    let mut statement = prepared(connection, known, args)?;
    let columns = known.columns.get_or_init(|| {
        let names = statement.column_names().into_iter();
        names.map(str::to_owned).collect()
    });
    let mut found = Vec::new();
    let mut rows = statement.raw_query();
    while found.len() < most {
        let Some(row) = rows.next()? else { break };
        let values = (0..columns.len()).map(|at| Ok(row.get_ref(at)?.try_into()?));
        let values: Result<Vec<Value>, rusqlite::Error> = values.collect();
        found.push(Row::Writer(WriterRow {
            columns: Arc::clone(columns),
            values: values?,
        }));
    }
    Ok(found)
}

/// A row that has left its statement.
pub(crate) struct WriterRow {
    columns: Arc<[String]>,
    values: Vec<Value>,
}

impl WriterRow {
    pub(super) fn get<T: Plain>(&self, column: &'static str) -> Result<T, StoreError> {
        let at = self.columns.iter().position(|name| name == column);
        at.and_then(|at| T::from_value(self.values.get(at)?))
            .ok_or(StoreError::Corrupt { column })
    }
}

/// The types that a column has by itself.
pub(super) trait Plain: Sized {
    /// `None` where the value is none of this type.
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! plain {
    ($($type:ty, $pattern:pat => $value:expr;)*) => {$(
        impl Plain for $type {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    $pattern => Some($value),
                    _ => None,
                }
            }
        }
        impl Plain for Option<$type> {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Null => Some(None),
                    other => <$type>::from_value(other).map(Some),
                }
            }
        }
    )*};
}
plain! {
    String, Value::Text(text) => text.clone();
    i64, Value::Integer(number) => *number;
    bool, Value::Integer(number) => *number != 0;
    Vec<u8>, Value::Blob(bytes) => bytes.clone();
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// As many groups queue up while one waits.
    #[test]
    fn whoever_has_queued_up_behind_a_lock_that_was_waited_for_does_not_wait_for_it_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locked.db");
        std::fs::File::create(&path).unwrap();
        let mut writer = Writer::open(&path).unwrap();
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        writer.found_locked = Instant::now().checked_sub(LOCKED_WAIT);
        let began = Instant::now();
        for _ in 0..64 {
            let begun = writer.begin();
            assert!(matches!(begun, Err(StoreError::Unavailable(_))));
        }
        let waited = began.elapsed();
        assert!(waited >= LOCKED_WAIT, "{waited:?}");
        assert!(waited < 3 * LOCKED_WAIT, "{waited:?}");
        // It is gone: nobody is refused any more.
        other.execute_batch("COMMIT").unwrap();
        writer.begin().unwrap();
        assert!(writer.found_locked.is_none());
    }

    #[test]
    fn placeholders_are_numbered_by_their_digit() {
        let sql = "UPDATE a SET b = $2 WHERE c = $10 AND d = '$.e$' AND f = $1";
        let numbered = numbered(sql);
        assert_eq!(
            numbered,
            "UPDATE a SET b = ?2 WHERE c = ?10 AND d = '$.e$' AND f = ?1"
        );
        assert_eq!(super::numbered("SELECT 1"), "SELECT 1");
    }

    #[test]
    fn nothing_is_kept_for_an_insert_that_must_not_fail() {
        let unkept = for_writer("INSERT INTO a (b) VALUES ($1)");
        assert_eq!(unkept, "INSERT OR FAIL INTO a (b) VALUES (?1)");
        for sql in [
            "INSERT INTO a (b) VALUES (?1) ON CONFLICT (b) DO NOTHING",
            "INSERT OR REPLACE INTO a (b) VALUES (?1)",
            "UPDATE a SET b = ?1",
        ] {
            assert_eq!(for_writer(sql), sql);
        }
    }
}
