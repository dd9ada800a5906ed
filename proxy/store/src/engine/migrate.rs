//! Brings a database to the schema of this program: one folder of migrations for both engines.
//!
//! A migration is a file `NNNN_name.sql`, never changed once released: its checksum is stored and compared.
//! Two things differ between the engines and are written into the files: the token `BYTES` stands for the type
//! of a byte string, and a line `--[sqlite]`, `--[postgres]` or `--[both]` says which engine the lines after it
//! are for. Everything pending runs in one transaction under a lock, so that any number of replicas may open
//! the same database at once.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::{Connection, args};
use crate::error::StoreError;
use crate::tenant;

/// A step of the schema.
struct Migration {
    version: i64,
    name: &'static str,
    sql: &'static str,
}

macro_rules! migrations {
    ($($version:literal $name:literal;)*) => {
        &[$(Migration {
            version: $version,
            name: $name,
            sql: include_str!(concat!("../../migrations/", $name, ".sql")),
        }),*]
    };
}

/// In order; one line per file of the folder.
const MIGRATIONS: &[Migration] = migrations! {
    1 "0001_organizations";
    2 "0002_conversations";
    3 "0003_metering";
    4 "0004_audit";
    5 "0005_idempotency";
    6 "0006_agents";
    7 "0007_phi_lists";
    8 "0008_integrations";
    9 "0009_agreements";
    10 "0010_audit_tree";
    11 "0011_limits";
    12 "0012_end_users";
    13 "0013_outbound_webhooks";
    14 "0014_records";
    15 "0015_accounts";
    16 "0016_oauth";
    17 "0017_identities";
    18 "0018_limits_together";
    19 "0019_webhook_attempts";
    20 "0020_fewer_trips";
    21 "0021_seal_at_once";
    22 "0022_fewer_trees";
    23 "0023_plain_addresses";
    24 "0024_along_indexes";
    25 "0025_fewer_rows";
    26 "0026_no_replacing";
    27 "0027_clocks_set_back";
    28 "0028_no_renumbering";
    29 "0029_places_of_clocks_set_back";
    30 "0030_who_issued_a_link";
};

/// Any fixed number of our own: PostgreSQL's name for the migration lock ("svc-gwst" in ASCII).
const LOCK: &str = "SELECT pg_advisory_xact_lock(8319669998029566836)";

/// A replica that serves meanwhile may hold a table that a migration wants, and want one that it holds: PostgreSQL ends
/// one of both, and that is where the migration begins again.
const TRIES: u32 = 5;
/// Longer each time, so that whoever serves gets done.
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// Runs what is pending, or refuses a database that is newer than, or different from, what this program knows.
pub(super) async fn run(cx: &mut Connection) -> Result<(), StoreError> {
    for done in 1..TRIES {
        match try_once(cx).await {
            Err(error) if error.is_outage() && matches!(cx, Connection::Postgres(_)) => {
                tokio::time::sleep(BETWEEN_TRIES * done).await;
            }
            done => return done,
        }
    }
    try_once(cx).await
}

async fn try_once(cx: &mut Connection) -> Result<(), StoreError> {
    match cx {
        // The write lock of SQLite is the migration lock.
        Connection::Sqlite(_) | Connection::Writer(_) => cx.batch("BEGIN IMMEDIATE").await?,
        Connection::Postgres(_) => {
            cx.batch("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
                .await?;
            cx.batch(LOCK).await?;
        }
    }
    let result = apply(cx).await;
    cx.batch(if result.is_ok() { "COMMIT" } else { "ROLLBACK" })
        .await?;
    result
}

async fn apply(cx: &mut Connection) -> Result<(), StoreError> {
    cx.batch(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
             version BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)",
    )
    .await?;
    let rows = cx
        .rows(
            "SELECT version, name, checksum FROM schema_migrations ORDER BY version",
            args![],
        )
        .await?;
    let mut known = MIGRATIONS.iter();
    for row in rows {
        let (version, name): (i64, String) = (row.get("version")?, row.get("name")?);
        let Some(migration) = known.next() else {
            return Err(StoreError::Schema(format!(
                "the database has migration {version} ({name}), which this program does not know; use a newer one"
            )));
        };
        if (migration.version, checksum(migration.sql)) != (version, row.get("checksum")?) {
            return Err(StoreError::Schema(format!(
                "migration {version} ({name}) was applied with another content"
            )));
        }
    }
    for migration in known {
        cx.batch(&for_engine(migration.sql, cx)).await?;
        cx.execute(
            "INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)",
            args![migration.version, migration.name, checksum(migration.sql)],
        )
        .await?;
    }
    if matches!(cx, Connection::Postgres(_)) {
        cx.batch(tenant::POLICIES).await?;
    }
    Ok(())
}

fn checksum(sql: &str) -> String {
    hex::encode(Sha256::digest(sql.as_bytes()))
}

/// The text of a migration that one engine gets.
fn for_engine(sql: &str, cx: &Connection) -> String {
    let (engine, bytes) = match cx {
        Connection::Sqlite(_) | Connection::Writer(_) => ("sqlite", "BLOB"),
        Connection::Postgres(_) => ("postgres", "BYTEA"),
    };
    let mut text = String::with_capacity(sql.len());
    let mut wanted = true;
    for line in sql.lines() {
        if let Some(section) = line.strip_prefix("--[") {
            let section = section.trim_end_matches(']');
            wanted = section == "both" || section == engine;
        } else if wanted {
            text.push_str(&line.replace("BYTES", bytes));
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_dense_and_name_their_files() {
        for (at, migration) in MIGRATIONS.iter().enumerate() {
            assert_eq!(usize::try_from(migration.version), Ok(at + 1));
            assert!(
                migration
                    .name
                    .starts_with(&format!("{:04}_", migration.version))
            );
        }
    }
}
