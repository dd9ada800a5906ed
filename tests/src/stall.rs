//! A place inside the gateway's transactions where it stops: a trigger that the test puts into the database. What is
//! killed there is killed in the middle of a step, as often as one likes and without a special build.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection};

use crate::database::Database;
use crate::patience::{PATIENCE, eventually};

/// Any number: what the trigger waits for on PostgreSQL.
const LOCK: i64 = 7_105_115;

pub struct Stall<'d> {
    database: &'d Database,
    table: &'static str,
    /// Holds the lock, on PostgreSQL.
    holder: Option<PgConnection>,
}

impl<'d> Stall<'d> {
    /// Stops whoever inserts into or updates a row of this organization.
    pub async fn at(
        database: &'d Database,
        table: &'static str,
        operation: &'static str,
        organization_id: &str,
    ) -> Self {
        let holder = match database {
            Database::Sqlite(_) => {
                for sql in [
                    "CREATE TABLE stall_numbers (n BIGINT)".to_owned(),
                    "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10000) \
                     INSERT INTO stall_numbers SELECT n FROM r"
                        .to_owned(),
                    // It would take years to count them.
                    format!(
                        "CREATE TRIGGER stall BEFORE {operation} ON {table} WHEN NEW.org_id = '{organization_id}' \
                         BEGIN SELECT COUNT(*) FROM stall_numbers a, stall_numbers b, stall_numbers c, \
                         stall_numbers d WHERE a.n + b.n + c.n + d.n < 0; END"
                    ),
                ] {
                    database.change(&sql, &[]).await;
                }
                None
            }
            Database::Postgres(url) => {
                let mut holder = PgConnection::connect(url).await.expect("a connection");
                let setup = format!(
                    "SELECT pg_advisory_lock({LOCK}); \
                     CREATE FUNCTION stall() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN \
                     PERFORM pg_advisory_lock({LOCK}); PERFORM pg_advisory_unlock({LOCK}); RETURN NEW; END $$; \
                     CREATE TRIGGER stall BEFORE {operation} ON {table} FOR EACH ROW \
                     WHEN (NEW.org_id = '{organization_id}') EXECUTE FUNCTION stall()"
                );
                sqlx::raw_sql(AssertSqlSafe(setup))
                    .execute(&mut holder)
                    .await
                    .expect("the trigger");
                Some(holder)
            }
        };
        Self {
            database,
            table,
            holder,
        }
    }

    /// Waits until somebody has stopped there.
    pub async fn reached(&self) {
        match self.database {
            Database::Sqlite(path) => {
                // Nobody else holds the writer's lock for so many looks in a row.
                let mut looks = 0;
                eventually("a writer that stands still", async || {
                    let options = sqlx::sqlite::SqliteConnectOptions::new()
                        .filename(path)
                        .busy_timeout(std::time::Duration::ZERO);
                    let mut connection = sqlx::SqliteConnection::connect_with(&options)
                        .await
                        .expect("a connection");
                    let free = sqlx::raw_sql("BEGIN IMMEDIATE; ROLLBACK")
                        .execute(&mut connection)
                        .await;
                    connection.close().await.expect("the end of it");
                    looks = if free.is_ok() { 0 } else { looks + 1 };
                    (looks >= LOOKS).then_some(())
                })
                .await;
            }
            Database::Postgres(_) => {
                let sql = "SELECT CAST(pid AS BIGINT) AS pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
                           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
                eventually("a session that waits", async || {
                    let waiting = self.database.rows(sql, &[]).await;
                    (!waiting.is_empty()).then_some(())
                })
                .await;
            }
        }
    }

    /// Takes the trigger away. What stood there has to be dead by then.
    pub async fn lift(mut self) {
        let table = self.table;
        let Some(mut holder) = self.holder.take() else {
            self.database.change("DROP TRIGGER stall", &[]).await;
            self.database.change("DROP TABLE stall_numbers", &[]).await;
            return;
        };
        let lift = format!(
            "SELECT pg_advisory_unlock({LOCK}); DROP TRIGGER stall ON {table}; DROP FUNCTION stall()"
        );
        let lifting = sqlx::raw_sql(AssertSqlSafe(lift)).execute(&mut holder);
        let lifted = tokio::time::timeout(PATIENCE, lifting).await;
        lifted.expect("in time").expect("the end of the trigger");
        holder.close().await.expect("the end of the connection");
    }
}

/// 10 ms apart; no transaction of the gateway takes that long.
const LOOKS: u32 = 20;
