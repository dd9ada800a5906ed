//! What can go wrong in the store. Carries messages and codes of the database, never values of a row.

use crate::seal::SealError;

/// Why a read or a write did not happen. A write that returns an error has left nothing behind, with one exception:
/// where the connection was lost or the time was up while PostgreSQL committed ([`StoreError::Unavailable`],
/// [`StoreError::TimedOut`]), nobody knows. Whoever repeats a write must bear that it may have happened.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be reached or cannot write; another attempt later may succeed. PostgreSQL may have committed
    /// before it was lost.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
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
            Self::Unavailable(_) | Self::Overloaded | Self::TimedOut | Self::Closed
        )
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
                let outage = if code.len() == SQLSTATE_CHARS {
                    POSTGRES_OUTAGES.iter().any(|class| code.starts_with(class))
                } else {
                    let primary = code.parse::<u32>().map(|code| (code & 0xff).to_string());
                    primary.is_ok_and(|code| SQLITE_OUTAGES.contains(&code.as_str()))
                };
                let message = database.message().to_owned();
                if outage {
                    Self::Unavailable(message)
                } else {
                    Self::Refused { code, message }
                }
            }
            sqlx::Error::PoolClosed => Self::Closed,
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

/// Length of an SQLSTATE; SQLite's codes are shorter decimal numbers.
const SQLSTATE_CHARS: usize = 5;
