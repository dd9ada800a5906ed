//! One typed way to run a statement on either engine. `$1` placeholders work on both; values are bound from
//! [`Arg`] and read through [`Field`], so that a statement is written once.
//!
//! SQLite has two kinds of connection: sqlx's, on which a statement is a trip to another thread and back, for
//! reads; and the writer's own ([`Writer`]), whose statements run where they are asked for (decision 8).

use serde_json::Value;
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Postgres, Row as _, Sqlite};
use svc_core::money::Micro;
use svc_core::secret::Mode;
use svc_core::time::Timestamp;

use super::writer::{Writer, WriterRow};
use crate::error::StoreError;

/// A connection of either engine, inside a transaction where [`super::Db::write`] gave it.
pub(crate) enum Connection {
    Sqlite(PoolConnection<Sqlite>),
    /// SQLite's one writer: nothing that is asked of it ever waits for another task.
    Writer(Writer),
    Postgres(PoolConnection<Postgres>),
}

/// A value for a placeholder.
#[derive(Clone)]
pub(crate) enum Arg {
    Text(Option<String>),
    Int(Option<i64>),
    Bool(bool),
    Bytes(Option<Vec<u8>>),
}

/// The arguments of a statement, in the order of its placeholders.
macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$($crate::engine::Arg::from($value)),*] };
}
pub(crate) use args;

/// Rows of one statement, the most first: few texts to prepare, few trips to the server.
pub(crate) const ROWS_PER_STATEMENT: [usize; 3] = [64, 8, 1];

/// Both engines differ only in the type of the connection.
macro_rules! on_either {
    ($cx:expr, $sql:expr, $args:expr, $run:ident, $writer:expr) => {
        match $cx {
            Connection::Writer(writer) => return $writer(writer, $sql, $args),
            Connection::Sqlite(connection) => bind!(Sqlite, $sql, $args)
                .$run(&mut **connection)
                .await
                .map(Either::Sqlite),
            Connection::Postgres(connection) => bind!(Postgres, $sql, $args)
                .$run(&mut **connection)
                .await
                .map(Either::Postgres),
        }
    };
}

macro_rules! bind {
    ($engine:ty, $sql:expr, $args:expr) => {{
        let mut query = sqlx::query::<$engine>($sql);
        for arg in $args {
            query = match arg {
                Arg::Text(value) => query.bind(value),
                Arg::Int(value) => query.bind(value),
                Arg::Bool(value) => query.bind(value),
                Arg::Bytes(value) => query.bind(value),
            };
        }
        query
    }};
}

enum Either<S, P> {
    Sqlite(S),
    Postgres(P),
}

impl Connection {
    /// Runs a statement and returns the number of rows that it changed.
    pub(crate) async fn execute(
        &mut self,
        sql: &'static str,
        args: Vec<Arg>,
    ) -> Result<u64, StoreError> {
        Ok(
            match on_either!(self, sql, args, execute, Writer::execute)? {
                Either::Sqlite(done) => done.rows_affected(),
                Either::Postgres(done) => done.rows_affected(),
            },
        )
    }

    /// As [`Self::execute`], with arguments that were made beforehand: SQLite's writer, for whom everybody waits, binds
    /// them where they are.
    pub(crate) async fn execute_with(
        &mut self,
        sql: &'static str,
        args: &[Arg],
    ) -> Result<u64, StoreError> {
        match self {
            Self::Writer(writer) => writer.execute(sql, args),
            Self::Sqlite(_) | Self::Postgres(_) => self.execute(sql, args.to_vec()).await,
        }
    }

    /// Runs a statement that must change exactly one row.
    pub(crate) async fn execute_one(
        &mut self,
        what: &'static str,
        sql: &'static str,
        args: Vec<Arg>,
    ) -> Result<(), StoreError> {
        match self.execute(sql, args).await? {
            1 => Ok(()),
            _ => Err(StoreError::Missing(what)),
        }
    }

    /// All rows of a query, whose SQL bounds their number.
    pub(crate) async fn rows(
        &mut self,
        sql: &'static str,
        args: Vec<Arg>,
    ) -> Result<Vec<Row>, StoreError> {
        Ok(
            match on_either!(self, sql, args, fetch_all, Writer::rows)? {
                Either::Sqlite(rows) => rows.into_iter().map(Row::Sqlite).collect(),
                Either::Postgres(rows) => rows.into_iter().map(Row::Postgres).collect(),
            },
        )
    }

    /// Runs a statement over values, some at a time; `sql` is given their placeholders.
    pub(crate) async fn rows_over(
        &mut self,
        mut values: Vec<Arg>,
        sql: impl Fn(&str) -> String,
    ) -> Result<Vec<Row>, StoreError> {
        let mut found = Vec::new();
        for size in ROWS_PER_STATEMENT {
            while values.len() >= size {
                let rest = values.split_off(size);
                let places: Vec<String> = (1..=size).map(|place| format!("${place}")).collect();
                found.extend(self.rows_of(sql(&places.join(", ")), values).await?);
                values = rest;
            }
        }
        Ok(found)
    }

    /// As [`Self::rows`], for a query that was put together from texts of this crate.
    pub(crate) async fn rows_of(
        &mut self,
        sql: String,
        args: Vec<Arg>,
    ) -> Result<Vec<Row>, StoreError> {
        let sql = AssertSqlSafe(sql);
        Ok(match self {
            Self::Writer(writer) => return writer.rows_of(&sql.0, args),
            Self::Sqlite(connection) => {
                let query = bind!(Sqlite, sql, args);
                let rows = query.fetch_all(&mut **connection).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Self::Postgres(connection) => {
                let query = bind!(Postgres, sql, args);
                let rows = query.fetch_all(&mut **connection).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    /// The only row of a query, if there is one.
    pub(crate) async fn row(
        &mut self,
        sql: &'static str,
        args: Vec<Arg>,
    ) -> Result<Option<Row>, StoreError> {
        Ok(
            match on_either!(self, sql, args, fetch_optional, Writer::row)? {
                Either::Sqlite(row) => row.map(Row::Sqlite),
                Either::Postgres(row) => row.map(Row::Postgres),
            },
        )
    }

    /// As [`Self::row`], for what the row stands for.
    pub(crate) async fn one<T>(
        &mut self,
        sql: &'static str,
        args: Vec<Arg>,
        read: impl FnOnce(&Row) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.row(sql, args).await?.as_ref().map(read).transpose()
    }

    /// What a query counts, under the name `found`.
    pub(crate) async fn count<T: Field>(
        &mut self,
        sql: &'static str,
        args: Vec<Arg>,
    ) -> Result<T, StoreError> {
        let row = self.row(sql, args).await?;
        row.ok_or(StoreError::Missing("count"))?.get("found")
    }

    /// Runs statements without arguments, several if they are separated by semicolons. Only for text of this
    /// crate: transaction control and migrations.
    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        let statement = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        match self {
            Self::Writer(writer) => writer.batch(sql)?,
            Self::Sqlite(connection) => statement.execute(&mut **connection).await.map(drop)?,
            Self::Postgres(connection) => statement.execute(&mut **connection).await.map(drop)?,
        }
        Ok(())
    }

    /// Has the pool replace this connection instead of using it again.
    pub(crate) fn close_on_drop(&mut self) {
        match self {
            Self::Sqlite(connection) => connection.close_on_drop(),
            // Its thread opens another one ([`super::group`]).
            Self::Writer(_) => {}
            Self::Postgres(connection) => connection.close_on_drop(),
        }
    }

    /// Ends a transaction that failed; a connection on which even that fails is not used again.
    pub(crate) async fn close_unless_idle(&mut self) {
        let ended = tokio::time::timeout(super::WAIT_TIMEOUT, self.batch("ROLLBACK")).await;
        if !matches!(ended, Ok(Ok(()))) {
            self.close_on_drop();
        }
    }
}

/// A row of either engine.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Writer(WriterRow),
    Postgres(PgRow),
}

impl Row {
    /// Reads a column by its name.
    pub(crate) fn get<T: Field>(&self, column: &'static str) -> Result<T, StoreError> {
        T::read(self, column)
    }

    /// Reads a column that holds one of some words.
    pub(crate) fn word<T>(
        &self,
        column: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        let word: String = self.get(column)?;
        parse(&word).ok_or(StoreError::Corrupt { column })
    }
}

/// A type that a column can be read as.
pub(crate) trait Field: Sized {
    fn read(row: &Row, column: &'static str) -> Result<Self, StoreError>;
}

macro_rules! plain_fields {
    ($($plain:ty),*) => {$(
        impl Field for $plain {
            fn read(row: &Row, column: &'static str) -> Result<Self, StoreError> {
                match row {
                    Row::Writer(row) => return row.get(column),
                    Row::Sqlite(row) => row.try_get(column),
                    Row::Postgres(row) => row.try_get(column),
                }
                .map_err(|_| StoreError::Corrupt { column })
            }
        }
        impl Field for Option<$plain> {
            fn read(row: &Row, column: &'static str) -> Result<Self, StoreError> {
                match row {
                    Row::Writer(row) => return row.get(column),
                    Row::Sqlite(row) => row.try_get(column),
                    Row::Postgres(row) => row.try_get(column),
                }
                .map_err(|_| StoreError::Corrupt { column })
            }
        }
    )*};
}
plain_fields!(String, i64, bool, Vec<u8>);

/// Types that are kept in a column of another type; `None` where the stored value is none of theirs.
macro_rules! derived_fields {
    ($($target:ty, $stored:ty, $convert:expr;)*) => {$(
        impl Field for $target {
            fn read(row: &Row, column: &'static str) -> Result<Self, StoreError> {
                let stored: $stored = row.get(column)?;
                let convert: fn($stored) -> Option<$target> = $convert;
                convert(stored).ok_or(StoreError::Corrupt { column })
            }
        }
        impl Field for Option<$target> {
            fn read(row: &Row, column: &'static str) -> Result<Self, StoreError> {
                let stored: Option<$stored> = row.get(column)?;
                let convert: fn($stored) -> Option<$target> = $convert;
                stored
                    .map(|stored| convert(stored).ok_or(StoreError::Corrupt { column }))
                    .transpose()
            }
        }
        )*};
}
derived_fields! {
    Timestamp, i64, |ms| Some(Timestamp(ms));
    Micro, i64, |micro| Some(Micro(micro));
    u32, i64, |number| u32::try_from(number).ok();
    u64, i64, |number| u64::try_from(number).ok();
    Mode, String, |word| Mode::parse(&word);
    [u8; 32], Vec<u8>, |digest| digest.try_into().ok();
    Value, String, |text| serde_json::from_str(&text).ok();
    Vec<String>, String, |text| serde_json::from_str(&text).ok();
}

macro_rules! arg_from {
    ($($variant:ident $source:ty, $convert:expr;)*) => {$(
        impl From<$source> for Arg {
            fn from(value: $source) -> Self {
                Self::$variant($convert(value))
            }
        }
    )*};
}

/// A count beyond what a column holds stops at the column's end.
fn column_int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

arg_from! {
    Text &str, |text: &str| Some(text.to_owned());
    Text String, Some;
    Text &String, |text: &String| Some(text.clone());
    Text Option<&str>, |text: Option<&str>| text.map(str::to_owned);
    Text Option<String>, |text| text;
    Text &Option<String>, Clone::clone;
    Text Mode, |mode: Mode| Some(mode.word().to_owned());
    Text Option<Mode>, |mode: Option<Mode>| mode.map(|mode| mode.word().to_owned());
    Text &Value, |value: &Value| Some(value.to_string());
    Text Option<&Value>, |value: Option<&Value>| value.map(Value::to_string);
    Text &[String], |list: &[String]| Some(Value::from(list.to_vec()).to_string());
    Int i64, Some;
    Int Option<i64>, |number| number;
    Int u32, |number| Some(i64::from(number));
    Int Option<u32>, |number: Option<u32>| number.map(i64::from);
    Int u64, |number| Some(column_int(number));
    Int Timestamp, |at: Timestamp| Some(at.0);
    Int Option<Timestamp>, |at: Option<Timestamp>| at.map(|at| at.0);
    Int Micro, |amount: Micro| Some(amount.0);
    Int Option<Micro>, |amount: Option<Micro>| amount.map(|amount| amount.0);
    Bool bool, |value| value;
    Bytes Vec<u8>, Some;
    Bytes Option<Vec<u8>>, |bytes| bytes;
    Bytes &[u8], |bytes: &[u8]| Some(bytes.to_vec());
}
