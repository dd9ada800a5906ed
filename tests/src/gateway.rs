//! A gateway as a process of its own: how it is set up, started, asked, signalled, killed and started again.

use std::fs::OpenOptions;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;

use serde_json::Value;

use crate::database::Database;
use crate::fake::PROVIDER_KEY;
use crate::patience::eventually;
use crate::sse::Events;
use crate::wire::{Answer, Connection, Reply, Request};
use crate::{guardian, openapi, port, program};

/// What a gateway is started with.
pub struct Setup {
    provider: String,
    postgres: Option<String>,
    policies: Option<PathBuf>,
    plugins: Option<PathBuf>,
    tables: toml::Table,
    tls: Option<(PathBuf, PathBuf)>,
}

impl Setup {
    /// A gateway on SQLite, with the shipped policies and plugins, in front of this provider; no address leaves
    /// it without one.
    pub fn new(provider: &str) -> Self {
        let (tables, provider) = (toml::Table::new(), provider.to_owned());
        Self {
            provider,
            postgres: None,
            policies: None,
            plugins: None,
            tables,
            tls: None,
        }
    }

    #[must_use]
    pub fn on(mut self, database_url: Option<String>) -> Self {
        self.postgres = database_url;
        self
    }

    #[must_use]
    pub fn policies(mut self, folder: &Path) -> Self {
        self.policies = Some(folder.to_owned());
        self
    }

    #[must_use]
    pub fn plugins(mut self, folder: &Path) -> Self {
        self.plugins = Some(folder.to_owned());
        self
    }

    #[must_use]
    pub fn tls(mut self, certificate: &Path, key: &Path) -> Self {
        self.tls = Some((certificate.to_owned(), key.to_owned()));
        self
    }

    /// One key of the configuration file.
    #[must_use]
    pub fn key(mut self, table: &str, key: &str, value: impl Into<toml::Value>) -> Self {
        put(&mut self.tables, table, key, value.into());
        self
    }

    /// Writes the configuration and starts the gateway.
    pub async fn start(self) -> Gateway {
        let gateway = self.prepare();
        gateway.start().await;
        gateway
    }

    /// As [`Setup::start`], for a gateway that serves and says that it is not ready.
    pub async fn start_unready(self) -> Gateway {
        let gateway = self.prepare();
        let child = gateway.spawn(&["serve"]);
        *gateway.child.lock().expect("the child") = Some(child);
        gateway.told(503).await;
        gateway
    }

    /// Writes the configuration and starts nothing.
    pub fn prepare(mut self) -> Gateway {
        let folder = tempfile::tempdir().expect("a folder");
        guardian::folder(folder.path());
        let (address, admin) = (port::free(), port::free());
        let policies = self
            .policies
            .unwrap_or_else(|| program::repository().join("policies"));
        let plugins = self.plugins.unwrap_or_else(program::plugins);
        put(
            &mut self.tables,
            "policies",
            "folder",
            path_value(&policies),
        );
        put(&mut self.tables, "plugins", "folder", path_value(&plugins));
        if let Some((certificate, key)) = &self.tls {
            let mut tls = toml::Table::new();
            tls.insert("certificate".into(), path_value(certificate));
            tls.insert("key".into(), path_value(key));
            put(&mut self.tables, "server", "tls", tls.into());
        }
        let config = folder.path().join("gateway.toml");
        std::fs::write(&config, self.tables.to_string()).expect("writing the configuration");
        let database = match &self.postgres {
            Some(url) => Database::Postgres(url.clone()),
            None => Database::Sqlite(folder.path().join("data/gateway.sqlite")),
        };
        Gateway {
            address,
            admin,
            database,
            provider: self.provider,
            postgres: self.postgres,
            config,
            child: Mutex::new(None),
            folder,
        }
    }
}

fn path_value(path: &Path) -> toml::Value {
    toml::Value::String(path.display().to_string())
}

fn put(tables: &mut toml::Table, table: &str, key: &str, value: toml::Value) {
    let table = tables
        .entry(table)
        .or_insert_with(|| toml::Table::new().into());
    table
        .as_table_mut()
        .expect("a table")
        .insert(key.into(), value);
}

pub struct Gateway {
    pub address: SocketAddr,
    pub admin: SocketAddr,
    pub database: Database,
    provider: String,
    postgres: Option<String>,
    config: PathBuf,
    child: Mutex<Option<Child>>,
    folder: tempfile::TempDir,
}

impl Gateway {
    /// A command of this gateway's own configuration: `check`, `admin …`, `plugin list`.
    pub fn command(&self) -> Command {
        let mut command = program::command();
        command
            .arg("--config")
            .arg(&self.config)
            .current_dir(self.folder.path());
        command.env("SVC_LISTEN", self.address.to_string());
        command.env("SVC_ADMIN_LISTEN", self.admin.to_string());
        command.env("SVC_BASE_URL", format!("http://{}", self.address));
        command.env("SVC_DATA_DIR", self.folder.path().join("data"));
        command.env("SVC_THREADS", "2");
        if !self.provider.is_empty() {
            command
                .env("ALPHA_BASE_URL", &self.provider)
                .env("ALPHA_API_KEY", PROVIDER_KEY)
                .env("BETA_BASE_URL", &self.provider)
                .env("BETA_API_KEY", PROVIDER_KEY);
        }
        if let Some(url) = &self.postgres {
            command.env("DATABASE_URL", url);
        }
        command
    }

    /// Starts the process and waits until it is ready.
    pub async fn start(&self) {
        let child = self.spawn(&["serve"]);
        let before = self.child.lock().expect("the child").replace(child);
        assert!(before.is_none(), "started twice");
        self.ready().await;
    }

    /// A process of this gateway, not kept: the successor of an upgrade.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let log = || {
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(self.log_path())
                .expect("the log file")
        };
        let mut command = self.command();
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log())
            .stderr(log());
        let child = command.spawn().expect("starting the gateway");
        guardian::watch(child.id());
        child
    }

    /// Waits until `/readyz` says so.
    pub async fn ready(&self) {
        self.told(200).await;
    }

    /// Waits until `/readyz` answers with this status.
    async fn told(&self, status: u16) {
        let said = eventually("an answer of /readyz", async || {
            if let Some(status) = self.exited() {
                return Some(Err(status));
            }
            let connected = tokio::net::TcpStream::connect(self.admin).await.ok()?;
            let mut connection = Connection::over(connected);
            connection
                .try_send(&Request::new("GET", "/readyz").bytes())
                .await
                .ok()?;
            let reply = connection.reply_if_any().await?;
            (reply.whole().await.0.status == status).then_some(Ok(()))
        });
        if let Err(status) = said.await {
            panic!("the gateway ended with {status}:\n{}", self.log());
        }
    }

    fn exited(&self) -> Option<ExitStatus> {
        let mut child = self.child.lock().expect("the child");
        child
            .as_mut()
            .and_then(|child| child.try_wait().expect("waiting for the gateway"))
    }

    pub fn pid(&self) -> u32 {
        self.child
            .lock()
            .expect("the child")
            .as_ref()
            .expect("a running gateway")
            .id()
    }

    /// `kill -9`, and the end of it.
    pub fn kill(&self) {
        let mut child = self
            .child
            .lock()
            .expect("the child")
            .take()
            .expect("a running gateway");
        child.kill().expect("killing the gateway");
        child.wait().expect("the end of the gateway");
        guardian::forget(child.id());
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Waits until the process has ended by itself.
    pub async fn ended(&self) -> ExitStatus {
        let status = eventually("the end of the gateway", async || self.exited()).await;
        if let Some(child) = self.child.lock().expect("the child").take() {
            guardian::forget(child.id());
        }
        status
    }

    /// Gives the process away, for a test that watches two of them.
    pub fn release(&self) -> Child {
        self.child
            .lock()
            .expect("the child")
            .take()
            .expect("a running gateway")
    }

    /// Takes a process over that was started with [`Gateway::spawn`].
    pub fn adopt(&self, child: Child) {
        *self.child.lock().expect("the child") = Some(child);
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn config(&self) -> &Path {
        &self.config
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Everything that the gateway has written to its output and error output.
    pub fn log(&self) -> String {
        program::text(&std::fs::read(self.log_path()).unwrap_or_default())
    }

    pub async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// Sends a request on a connection of its own, up to the head of the answer.
    pub async fn ask(&self, request: &Request) -> Reply {
        let mut connection = self.connect().await;
        connection.send(&request.bytes()).await;
        connection.reply().await
    }

    /// Sends a request on a connection of its own. The answer is held to what is documented of its route.
    pub async fn answer(&self, request: &Request) -> Answer {
        let mut connection = self.connect().await;
        connection.send(&request.bytes()).await;
        let reply = connection.reply_to(request.method()).await;
        let answer = reply.whole().await.0;
        openapi::check(request, &answer);
        answer
    }

    /// An unstreamed chat.
    pub async fn chat(&self, key: &str, body: Value) -> Answer {
        self.answer(&chat(key, whole(body))).await
    }

    /// A streamed chat.
    pub async fn stream(&self, key: &str, body: Value) -> Events {
        Events::of(self.ask(&chat(key, body)).await)
    }

    /// A page of the admin listener.
    pub async fn admin_page(&self, path: &str) -> Answer {
        let mut connection = Connection::open(self.admin).await;
        connection.send(&Request::new("GET", path).bytes()).await;
        connection.reply().await.whole().await.0
    }

    /// The sum of all samples of a metric that have these labels, `name="value"` each.
    pub async fn metric_sum(&self, name: &str, labels: &[&str]) -> f64 {
        let page = self.admin_page("/metrics").await.text();
        let samples = page
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix('{'));
        let samples = samples.filter(|rest| labels.iter().all(|label| rest.contains(label)));
        samples
            .filter_map(|rest| rest.rsplit_once(' ')?.1.parse::<f64>().ok())
            .sum()
    }

    /// One sample of `/metrics`, by its name and labels as they stand there; 0 when it is not there.
    pub async fn metric(&self, sample: &str) -> f64 {
        let page = self.admin_page("/metrics").await.text();
        let line = page
            .lines()
            .find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
        line.map_or(0.0, |value| value.parse().expect("a number"))
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if let Ok(mut child) = self.child.lock()
            && let Some(child) = child.as_mut()
        {
            let _ = child.kill();
            let _ = child.wait();
            guardian::forget(child.id());
        }
        if std::thread::panicking() {
            let log = self.log();
            let tail = log.lines().rev().take(40).collect::<Vec<_>>();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            #[expect(clippy::print_stderr, reason = "shown beside the failure of the test")]
            {
                eprintln!("--- end of the gateway's log ---\n{}", tail.join("\n"));
            }
        }
    }
}

/// A request to the native surface.
pub fn chat(key: &str, body: Value) -> Request {
    Request::new("POST", "/v1/ai/chat").bearer(key).json(&body)
}

/// The same chat, not streamed.
pub fn whole(mut body: Value) -> Value {
    body["stream"] = Value::Bool(false);
    body
}

pub fn signal(pid: u32, name: &str) {
    let pid = pid.to_string();
    program::output_of(Command::new("kill").args(["-s", name, &pid]));
}
