//! The gateway's tables, read from beside it: rows as JSON objects, the same on both engines.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use sqlx::postgres::PgRow;
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{AssertSqlSafe, Column, ConnectOptions, Connection, Row, TypeInfo, ValueRef};

use crate::patience::{PATIENCE, in_time};

#[derive(Clone, Debug)]
pub enum Database {
    Sqlite(PathBuf),
    Postgres(String),
}

impl Database {
    /// The address, as `DATABASE_URL` takes it.
    pub fn url(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("sqlite://{}", path.display()),
            Self::Postgres(url) => url.clone(),
        }
    }

    /// The rows of a query; `$1`, `$2` … are texts.
    ///
    /// # Panics
    /// When the database refuses.
    pub async fn rows(&self, sql: &str, parameters: &[&str]) -> Vec<Value> {
        let rows = in_time("a query", self.query(sql, parameters)).await;
        rows.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    async fn query(&self, sql: &str, parameters: &[&str]) -> Result<Vec<Value>, sqlx::Error> {
        match self {
            Self::Sqlite(path) => {
                let options = SqliteConnectOptions::new()
                    .filename(path)
                    .busy_timeout(PATIENCE);
                let mut connection = options.connect().await?;
                let mut query = sqlx::query(AssertSqlSafe(sql.to_owned()));
                for parameter in parameters {
                    query = query.bind(*parameter);
                }
                let rows = query.fetch_all(&mut connection).await;
                connection.close().await?;
                Ok(rows?.iter().map(sqlite_row).collect())
            }
            Self::Postgres(url) => {
                let mut connection = sqlx::PgConnection::connect(url).await?;
                let mut query = sqlx::query(AssertSqlSafe(sql.to_owned()));
                for parameter in parameters {
                    query = query.bind(*parameter);
                }
                let rows = query.fetch_all(&mut connection).await;
                connection.close().await?;
                Ok(rows?.iter().map(postgres_row).collect())
            }
        }
    }

    /// Whether the database refuses a statement.
    pub async fn refuses(&self, sql: &str, parameters: &[&str]) -> bool {
        in_time("a statement", self.query(sql, parameters))
            .await
            .is_err()
    }

    /// A statement whose rows do not matter.
    pub async fn change(&self, sql: &str, parameters: &[&str]) {
        self.rows(sql, parameters).await;
    }
}

fn sqlite_row(row: &SqliteRow) -> Value {
    let mut fields = Map::new();
    for (at, column) in row.columns().iter().enumerate() {
        let raw = row.try_get_raw(at).expect("a value");
        let value = if raw.is_null() {
            Value::Null
        } else {
            match raw.type_info().name() {
                "INTEGER" | "BIGINT" | "INT8" => json!(row.get::<i64, _>(at)),
                "BOOLEAN" => json!(row.get::<bool, _>(at)),
                "REAL" => json!(row.get::<f64, _>(at)),
                "TEXT" => json!(row.get::<String, _>(at)),
                "BLOB" => json!(hex::encode(row.get::<Vec<u8>, _>(at))),
                other => panic!("column {} has type {other}", column.name()),
            }
        };
        fields.insert(column.name().to_owned(), value);
    }
    Value::Object(fields)
}

fn postgres_row(row: &PgRow) -> Value {
    let mut fields = Map::new();
    for (at, column) in row.columns().iter().enumerate() {
        let raw = row.try_get_raw(at).expect("a value");
        let value = if raw.is_null() {
            Value::Null
        } else {
            match column.type_info().name() {
                "INT8" => json!(row.get::<i64, _>(at)),
                "INT4" => json!(row.get::<i32, _>(at)),
                "INT2" => json!(row.get::<i16, _>(at)),
                "BOOL" => json!(row.get::<bool, _>(at)),
                "FLOAT8" => json!(row.get::<f64, _>(at)),
                "TEXT" | "VARCHAR" | "NAME" => json!(row.get::<String, _>(at)),
                "BYTEA" => json!(hex::encode(row.get::<Vec<u8>, _>(at))),
                other => panic!("column {} has type {other}", column.name()),
            }
        };
        fields.insert(column.name().to_owned(), value);
    }
    Value::Object(fields)
}
