//! A database per test, and the PostgreSQL server that half of them need.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};
use svc_store::master_key::MasterKey;
use svc_store::{Store, StoreError, StoreOptions};
use tempfile::TempDir;
use tokio::runtime::Handle;

/// 4 s in all: a lock is waited for somewhat longer.
const LOOK_EVERY: Duration = Duration::from_millis(10);
const MOST_LOOKS: u32 = 400;

/// An empty database; its file or server lives as long as this does.
pub(crate) struct TestDb {
    pub(crate) url: String,
    /// Where the engine keeps its bytes.
    pub(crate) files: PathBuf,
    _folder: Option<TempDir>,
}

impl TestDb {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            url: format!("sqlite://{}/store.db", folder.path().display()),
            files: folder.path().to_owned(),
            _folder: Some(folder),
        }
    }

    pub(crate) async fn postgres() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let server = tokio::task::spawn_blocking(server).await.unwrap();
        let name = format!("store_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut connection = server.options("postgres").connect().await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(format!(
            "CREATE DATABASE {name} OWNER gateway"
        )))
        .execute(&mut connection)
        .await
        .unwrap();
        connection.close().await.unwrap();
        Self {
            url: format!(
                "postgres://gateway@localhost/{name}?host={}",
                server.socket.display()
            ),
            files: server.socket.join("data"),
            _folder: None,
        }
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        self.url.starts_with("sqlite:")
    }

    pub(crate) async fn open(&self) -> Store {
        self.try_open().await.unwrap()
    }

    pub(crate) async fn try_open(&self) -> Result<Store, StoreError> {
        self.open_with(MasterKey::from_bytes([7; 32])).await
    }

    pub(crate) async fn open_with(&self, master: MasterKey) -> Result<Store, StoreError> {
        let options = StoreOptions {
            connections: 4,
            ..StoreOptions::default()
        };
        Store::open(&self.url, options, master, &Handle::current()).await
    }

    /// Runs a statement past the store, as an intruder or an operator with a shell would: on SQLite without the settings
    /// of the store's own connections. Returns the number of changed rows.
    pub(crate) async fn tamper(&self, sql: &str) -> Result<u64, String> {
        let sql = AssertSqlSafe(sql.to_owned());
        let changed = if self.is_sqlite() {
            let options: SqliteConnectOptions = self.url.parse().unwrap();
            let mut connection = options.foreign_keys(false).connect().await.unwrap();
            let done = sqlx::raw_sql(sql).execute(&mut connection).await;
            done.map(|done| done.rows_affected())
        } else {
            let options: PgConnectOptions = self.url.parse().unwrap();
            let mut connection = options.connect().await.unwrap();
            let done = sqlx::raw_sql(sql).execute(&mut connection).await;
            done.map(|done| done.rows_affected())
        };
        changed.map_err(|error| error.to_string())
    }

    /// Drops the triggers that guard the audit log, as an intruder who owns the database could.
    pub(crate) async fn disarm(&self) {
        let triggers = if self.is_sqlite() {
            "DROP TRIGGER audit_no_update; DROP TRIGGER audit_no_delete"
        } else {
            "DROP TRIGGER audit_append_only ON audit; DROP TRIGGER audit_no_early_delete ON audit"
        };
        self.tamper(triggers).await.unwrap();
    }

    /// The first column of a query, as texts.
    pub(crate) async fn texts(&self, sql: &str) -> Vec<String> {
        let sql = AssertSqlSafe(sql.to_owned());
        if self.is_sqlite() {
            let options: SqliteConnectOptions = self.url.parse().unwrap();
            let mut connection = options.connect().await.unwrap();
            let rows = sqlx::query_scalar(sql).fetch_all(&mut connection).await;
            rows.unwrap()
        } else {
            let options: PgConnectOptions = self.url.parse().unwrap();
            let mut connection = options.connect().await.unwrap();
            let rows = sqlx::query_scalar(sql).fetch_all(&mut connection).await;
            rows.unwrap()
        }
    }

    /// How the engine would read what a query asks for, one step a line. PostgreSQL is told to avoid what only small
    /// tables are read by.
    pub(crate) async fn plan(&self, sql: &str) -> String {
        let steps: Vec<String> = if self.is_sqlite() {
            let options: SqliteConnectOptions = self.url.parse().unwrap();
            let mut connection = options.connect().await.unwrap();
            let sql = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
            let rows = sqlx::raw_sql(sql).fetch_all(&mut connection).await.unwrap();
            rows.iter().map(|row| row.get("detail")).collect()
        } else {
            let options: PgConnectOptions = self.url.parse().unwrap();
            let mut connection = options.connect().await.unwrap();
            let sql = AssertSqlSafe(format!(
                "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; EXPLAIN {sql}"
            ));
            let rows = sqlx::raw_sql(sql).fetch_all(&mut connection).await.unwrap();
            rows.iter().map(|row| row.get(0)).collect()
        };
        steps.join("\n")
    }

    /// Returns once a transaction in this database of PostgreSQL waits for a lock.
    pub(crate) async fn until_somebody_waits(&self) {
        let sql = "SELECT query FROM pg_stat_activity \
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let mut looks = 0;
        while self.texts(sql).await.is_empty() {
            looks += 1;
            assert!(looks < MOST_LOOKS, "nobody waits for a lock");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// A transaction of somebody else on PostgreSQL, left open.
    pub(crate) async fn begin(&self) -> Open {
        let options: PgConnectOptions = self.url.parse().unwrap();
        let open = Open(options.connect().await.unwrap());
        open.run("BEGIN").await
    }

    /// Has PostgreSQL write all that it keeps in memory, which only its superuser may ask for; SQLite has written.
    pub(crate) async fn flush(&self) {
        if self.is_sqlite() {
            return;
        }
        let options: PgConnectOptions = self.url.parse().unwrap();
        let mut connection = options.username("postgres").connect().await.unwrap();
        let done = sqlx::raw_sql("CHECKPOINT").execute(&mut connection).await;
        done.unwrap();
    }

    /// Whether any file of the engine has this text in it.
    pub(crate) fn holds(&self, needle: &str) -> bool {
        let mut grep = Command::new("grep");
        // A file may go away while the engine works (-s): then it holds nothing.
        grep.args(["-rsaqF", "-e", needle]).arg(&self.files);
        grep.status().unwrap().success()
    }
}

/// An open transaction.
pub(crate) struct Open(sqlx::PgConnection);

impl Open {
    pub(crate) async fn run(mut self, sql: &str) -> Self {
        let sql = AssertSqlSafe(sql.to_owned());
        sqlx::raw_sql(sql).execute(&mut self.0).await.unwrap();
        self
    }

    pub(crate) async fn commit(self) {
        self.run("COMMIT").await;
    }
}

/// The server of this test program.
struct Server {
    socket: PathBuf,
    /// The shell that watches over the server. Its standard input closes when this program ends, however it
    /// ends: the signal to stop.
    _shell: Child,
}

impl Server {
    fn options(&self, database: &str) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .socket(&self.socket)
            .username("postgres")
            .database(database)
    }
}

/// Starts the server, says so, waits for the end of its standard input, stops it and cleans up.
const SCRIPT: &str = r#"
cd "$2" || exit 1
"$1/initdb" -D data -A trust -U postgres -E UTF8 --no-sync >log 2>&1 || { cat log; exit 1; }
"$1/pg_ctl" -D data -w -l server.log start \
    -o "-k '$2' -c listen_addresses='' -c fsync=off -c max_connections=200" >>log 2>&1 \
    || { cat log server.log; exit 1; }
# Row-level security binds no superuser.
"$1/createuser" -h "$2" -U postgres gateway >>log 2>&1 || { cat log; exit 1; }
echo ready
cat >/dev/null
"$1/pg_ctl" -D data -m immediate stop >/dev/null 2>&1
rm -rf "$2"
"#;

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let binaries = binaries().expect(
            "PostgreSQL is not installed: run `make setup`, or `apt-get install -y postgresql`",
        );
        let folder = tempfile::tempdir().unwrap().keep();
        let mut command = if is_root() {
            // The server refuses to run as root; its package brings a user for it.
            let status = Command::new("chown").arg("postgres").arg(&folder).status();
            assert!(
                status.unwrap().success(),
                "no user `postgres` to run the server"
            );
            let mut command = Command::new("setpriv");
            command.args([
                "--reuid=postgres",
                "--regid=postgres",
                "--clear-groups",
                "sh",
            ]);
            command
        } else {
            Command::new("sh")
        };
        let mut child = command
            .args(["-c", SCRIPT, "sh"])
            .arg(binaries)
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = String::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if line == "ready" {
                return Server {
                    socket: folder,
                    _shell: child,
                };
            }
            said.push_str(&line);
            said.push('\n');
        }
        child.wait().unwrap();
        panic!("PostgreSQL did not start:\n{said}");
    })
}

fn binaries() -> Option<PathBuf> {
    let has_server =
        |folder: &Path| folder.join("initdb").exists() && folder.join("pg_ctl").exists();
    let told = Command::new("pg_config").arg("--bindir").output().ok();
    let told = told.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    if let Some(folder) = told.filter(|folder| has_server(folder)) {
        return Some(folder);
    }
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .flatten()
        .map(|version| version.path().join("bin"))
        .filter(|folder| has_server(folder))
        .collect();
    versions.sort();
    versions.pop()
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout.trim_ascii() == b"0"
}
