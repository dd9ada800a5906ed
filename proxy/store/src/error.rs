//! What can go wrong in the store. Carries messages and codes of the database, never values of a row.

use sqlx::postgres::{PgDatabaseError, PgSeverity};

use crate::seal::SealError;

/// Why a read or a write did not happen. A write that returns an error has left nothing behind, with one exception:
/// where the connection was lost or the time was up while PostgreSQL committed ([`StoreError::may_have_happened`]),
/// nobody knows. Whoever repeats a write must bear that it may have happened.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached, or said that it cannot write now (its disk is full, somebody else holds a lock);
    /// another attempt later may succeed. Nothing was written.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// The connection was lost before PostgreSQL answered, perhaps after it had committed.
    #[error("the database is unavailable: {0}")]
    Lost(String),
    /// The server that counts for rate limits does not answer, or says no.
    #[error("the server of counters is unavailable: {0}")]
    Counters(String),
    /// More work is queued than [`crate::StoreOptions::queue_jobs`] allows.
    #[error("the store's queue is full")]
    Overloaded,
    /// One piece of work ran past [`crate::engine::JOB_TIMEOUT`] and was rolled back, or PostgreSQL did not answer in
    /// time to its beginning or its end. What was to be committed then may have been.
    #[error("the database did not answer in time")]
    TimedOut,
    /// One piece of work on SQLite's writer waited for something that is not the database.
    #[error("the work waited inside a transaction and was rolled back")]
    Waited,
    /// One piece of work panicked.
    #[error("the work panicked and was rolled back")]
    Panicked,
    /// The work itself decided against what it had done.
    #[error("the work was given up and rolled back")]
    GivenUp,
    /// [`crate::Store::close`] was called, or its runtime is gone.
    #[error("the store is closed")]
    Closed,
    /// A unique value is taken. `constraint` names the rule as the engine does, never the value.
    #[error("a row with this key exists ({constraint})")]
    Exists { constraint: String },
    /// A row that the work builds on does not exist, or not for this organization and mode.
    #[error("no such {0}")]
    Missing(&'static str),
    /// A conversation has issued other placeholders since it was loaded.
    #[error("the conversation has moved on since it was loaded")]
    Moved,
    /// More than a list may hold.
    #[error("{0}")]
    TooMany(String),
    /// The database refused a statement.
    #[error("the database refused the statement ({code}): {message}")]
    Refused { code: String, message: String },
    /// A stored value is not what its column holds.
    #[error("column {column} holds a value that cannot be read")]
    Corrupt { column: &'static str },
    /// The schema cannot be used by this program.
    #[error("schema: {0}")]
    Schema(String),
    /// An address that is neither one of a database (`sqlite://path`, `postgres://…`) nor one of a server of counters
    /// (`redis://…`).
    #[error("database address: {0}")]
    Address(String),
    #[error(transparent)]
    Seal(#[from] SealError),
}

impl StoreError {
    /// Whether the database itself is the trouble, so that callers answer 503 rather than 500.
    pub const fn is_outage(&self) -> bool {
        matches!(
            self,
            Self::Unavailable(_)
                | Self::Lost(_)
                | Self::Counters(_)
                | Self::Overloaded
                | Self::TimedOut
                | Self::Closed
        )
    }

    /// Whether what was to be written may stand all the same. What the database refused itself was rolled back, unless
    /// it took the connection or itself down with it.
    pub const fn may_have_happened(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::TimedOut)
    }
}

/// As the writer's SQLite reports them: the same codes by another library.
impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ffi::{
            SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_TRIGGER, SQLITE_CONSTRAINT_UNIQUE,
        };
        let rusqlite::Error::SqliteFailure(failure, message) = &error else {
            return Self::Refused {
                code: "client".to_owned(),
                message: error.to_string(),
            };
        };
        let message = message.clone().unwrap_or_else(|| failure.to_string());
        let code = failure.extended_code;
        if code == SQLITE_CONSTRAINT_TRIGGER && message.ends_with(IS_THERE) {
            return Self::Exists {
                constraint: message,
            };
        }
        if [SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE].contains(&code) {
            return Self::Exists {
                constraint: message,
            };
        }
        if SQLITE_OUTAGES.contains(&(code & PRIMARY_CODE).to_string().as_str()) {
            Self::Unavailable(message)
        } else {
            Self::Refused {
                code: code.to_string(),
                message,
            }
        }
    }
}

/// How the triggers of SQLite say that a row of a table that is only appended to is there (migration 26): they are asked
/// before its keys are.
const IS_THERE: &str = "is append-only: the row is there";

/// The part of an extended result code of SQLite that is the primary one.
const PRIMARY_CODE: i32 = 0xff;

/// SQLSTATE classes of PostgreSQL that speak of the server, not of the statement: connection (08), resources
/// (53), operator intervention and statement timeout (57), system (58), lost in a race (40), lock or transaction held
/// too long (55P03, 25P03).
const POSTGRES_OUTAGES: &[&str] = &["08", "53", "57", "58", "40", "55P03", "25P03"];
/// Those of them with which PostgreSQL may end a connection whose transaction is on its way: connection (08), the server
/// stops (57P), unknown (40003).
const POSTGRES_LOSSES: &[&str] = &["08", "57P", "40003"];
/// What ends a connection whose transaction nobody has asked to commit: it was idle for too long.
const POSTGRES_IDLE: &str = "25P03";
/// SQLite's primary result codes of the same kind: busy, locked, read-only, I/O, corrupt, full, cannot open.
const SQLITE_OUTAGES: &[&str] = &["5", "6", "8", "10", "11", "13", "14"];

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(database) => {
                let code = database.code().unwrap_or_default().into_owned();
                if database.is_unique_violation() {
                    let constraint = database.constraint().unwrap_or(database.message());
                    return Self::Exists {
                        constraint: constraint.to_owned(),
                    };
                }
                let told = database.try_downcast_ref::<PgDatabaseError>();
                let severity = told.map(PgDatabaseError::severity);
                Self::told(severity, code, database.message().to_owned())
            }
            sqlx::Error::PoolClosed => Self::Closed,
            sqlx::Error::Io(_) | sqlx::Error::Protocol(_) => Self::Lost(error.to_string()),
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

impl StoreError {
    /// What a database has said, by its code. PostgreSQL that cannot write its log any more says so with the code of a
    /// disk and goes down; what it was about to commit may be in that log, and stand when it is back.
    fn told(severity: Option<PgSeverity>, code: String, message: String) -> Self {
        let ends_connection = matches!(severity, Some(PgSeverity::Panic | PgSeverity::Fatal));
        if ends_connection && code != POSTGRES_IDLE {
            return Self::Lost(message);
        }
        let begins_with_any =
            |classes: &[&str]| classes.iter().any(|class| code.starts_with(class));
        let outage = if code.len() == SQLSTATE_CHARS {
            if begins_with_any(POSTGRES_LOSSES) {
                return Self::Lost(message);
            }
            begins_with_any(POSTGRES_OUTAGES)
        } else {
            let primary = code.parse::<u32>().map(|code| (code & 0xff).to_string());
            primary.is_ok_and(|code| SQLITE_OUTAGES.contains(&code.as_str()))
        };
        if outage {
            Self::Unavailable(message)
        } else {
            Self::Refused { code, message }
        }
    }
}

/// Length of an SQLSTATE; SQLite's codes are shorter decimal numbers.
const SQLSTATE_CHARS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn told(code: &str) -> StoreError {
        told_as(PgSeverity::Error, code)
    }

    fn told_as(severity: PgSeverity, code: &str) -> StoreError {
        StoreError::told(Some(severity), code.to_owned(), String::new())
    }

    #[test]
    fn what_the_database_says_that_it_cannot_do_was_not_done() {
        // PostgreSQL: disk full, statement time-out, deadlock, lock time-out. SQLite: busy, full, an error of the disk.
        for code in ["53100", "57014", "40P01", "55P03", "5", "13", "778"] {
            let error = told(code);
            assert!(error.is_outage() && !error.may_have_happened(), "{code}");
        }
        // The connection ends, but nobody had asked to commit.
        let idle = told_as(PgSeverity::Fatal, "25P03");
        assert!(idle.is_outage() && !idle.may_have_happened());
        let locked = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(13), None);
        assert!(!StoreError::from(locked).may_have_happened());
        let no_connection = StoreError::from(sqlx::Error::PoolTimedOut);
        assert!(no_connection.is_outage() && !no_connection.may_have_happened());
    }

    #[test]
    fn what_was_on_its_way_when_the_connection_was_lost_may_have_happened() {
        let broken = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        for error in [
            sqlx::Error::Io(broken).into(),
            told("57P01"),
            told("08006"),
            // A log that could not be written or brought to the disk: with the codes of a disk that is broken or full.
            told_as(PgSeverity::Panic, "58030"),
            told_as(PgSeverity::Panic, "53100"),
            told_as(PgSeverity::Fatal, "XX000"),
        ] {
            assert!(error.is_outage() && error.may_have_happened(), "{error:?}");
        }
        assert!(StoreError::TimedOut.may_have_happened());
        assert!(!told("42601").is_outage());
    }
}
