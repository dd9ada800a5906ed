//! The two database engines behind one door: pools, the group-committing writer, migrations.
//!
//! Everything runs on the runtime whose handle [`Db::open`] was given, because sqlx's sockets and timers
//! belong to the runtime that opened them; callers may stand on any runtime. Work that was handed in is
//! finished even if its caller goes away. No SQL of a record family is here.

mod address;
mod connection;
mod frames;
mod group;
mod kept;
mod log;
mod migrate;
mod writer;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::sqlite::{SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection as _, Postgres, Sqlite};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

pub(crate) use address::{doubt, file, judge};
pub(crate) use connection::{Arg, Connection, ROWS_PER_STATEMENT, Row, args};

use crate::error::StoreError;
use crate::tenant;
use group::Order;
use kept::{Kept, Ticket};
use writer::Writer;

/// How much of the machine the store may use.
#[derive(Clone, Copy, Debug)]
pub struct StoreOptions {
    /// Connections of the pool (SQLite: of readers, beside the one writer).
    pub connections: u32,
    /// Pieces of work that may wait or run at once; more are refused at once.
    pub queue_jobs: usize,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            connections: 8,
            queue_jobs: 4_096,
        }
    }
}

/// 5 s: how long a statement may wait for a lock or a connection (below every request deadline).
const WAIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Reports at once, a fourth of the usual connections.
const REPORTS: usize = 2;
/// 10 ms: between attempts at what SQLite refuses without waiting.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(10);
/// 250 ms: between attempts at a server that is not there when the store opens.
const REACH_AGAIN_AFTER: Duration = Duration::from_millis(250);
/// 10 s: the longest a piece of work may take before it is rolled back, and PostgreSQL's `COMMIT` after it. Work on the
/// writer of SQLite waits for nothing but the disk and is not timed.
pub(crate) const JOB_TIMEOUT: Duration = Duration::from_secs(10);
/// 30 s: a piece of work that waits for its connection and its `BEGIN` ([`WAIT_TIMEOUT`] each), takes as long as it may
/// and has to wait for its `COMMIT` as long again ([`JOB_TIMEOUT`] each).
const CLOSE_TIMEOUT: Duration = Duration::from_secs(30);

/// An open database.
#[derive(Clone)]
pub(crate) struct Db {
    engine: Engine,
    runtime: Handle,
    room: Arc<Room>,
}

/// Room for work that waits or runs.
struct Room {
    /// One permit per piece of work.
    permits: Arc<Semaphore>,
    /// One permit per report.
    reports: Arc<Semaphore>,
    size: u32,
    closing: AtomicBool,
}

#[derive(Clone)]
enum Engine {
    Sqlite {
        readers: Kept<Sqlite>,
        writer: mpsc::Sender<Order>,
    },
    Postgres(Kept<Postgres>),
}

impl Db {
    /// Opens `sqlite://path` or `postgres://…`, creating the SQLite file and bringing the schema up to date.
    pub(crate) async fn open(
        url: &str,
        options: StoreOptions,
        runtime: &Handle,
    ) -> Result<Self, StoreError> {
        let url = url.to_owned();
        let size = u32::try_from(options.queue_jobs).unwrap_or(u32::MAX).max(1);
        let reports = REPORTS.min(options.connections.max(1) as usize);
        let room = Arc::new(Room {
            permits: Arc::new(Semaphore::new(size as usize)),
            reports: Arc::new(Semaphore::new(reports)),
            size,
            closing: AtomicBool::new(false),
        });
        let inside = runtime.clone();
        let opening = runtime.spawn(async move {
            if url.starts_with("sqlite:") {
                open_sqlite(&url, options, &inside).await
            } else if url.starts_with("postgres:") || url.starts_with("postgresql:") {
                open_postgres(&url, options, &inside).await
            } else {
                Err(StoreError::Address(
                    "must start with sqlite:// or postgres://".to_owned(),
                ))
            }
        });
        let engine = opening.await.map_err(|_| StoreError::Closed)??;
        Ok(Self {
            engine,
            runtime: runtime.clone(),
            room,
        })
    }

    /// Runs `work` on one connection, without a transaction. It must not write.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        match (&self.engine, tenant::current()) {
            (Engine::Postgres(_), Some(_)) => self.write(work).await,
            _ => self.bare(work).await,
        }
    }

    /// The only row of one query, if there is one, as what it stands for.
    pub(crate) async fn find<T: Send + 'static>(
        &self,
        sql: &'static str,
        args: Vec<Arg>,
        read: fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.read(move |cx| Box::pin(cx.one(sql, args, read))).await
    }

    /// As [`Self::read`], for what may read thousands of rows. Few of them run at once: there are connections left for
    /// what callers wait for.
    pub(crate) async fn report<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        let turn = Arc::clone(&self.room.reports).acquire_owned();
        let turn = tokio::time::timeout(JOB_TIMEOUT, turn).await;
        let turn = turn.map_err(|_| StoreError::Overloaded)?;
        let turn = turn.map_err(|_| StoreError::Closed)?;
        self.read(move |cx| {
            Box::pin(async move {
                // The work goes on although nobody waits for it any more, and so does its turn.
                let _turn = turn;
                work(cx).await
            })
        })
        .await
    }

    /// As [`Self::read`], past the wall between organizations: for what is made of the rows of all of them.
    pub(crate) async fn read_of_all<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        self.bare(work).await
    }

    /// Runs `work`, which is one statement that writes, without `BEGIN` and `COMMIT` around it: on PostgreSQL a
    /// statement is a transaction by itself, and one trip instead of three. Nothing but its own text
    /// keeps it to the rows of one organization ([`crate::tenant`]). As [`Self::write`] on SQLite.
    pub(crate) async fn write_alone<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        match &self.engine {
            Engine::Sqlite { .. } => self.write(work).await,
            Engine::Postgres(_) => self.bare(work).await,
        }
    }

    /// Brings what SQLite's log holds into the database file and cuts the log to nothing, so that what was replaced or
    /// deleted stands in neither. PostgreSQL keeps its log by itself.
    pub(crate) async fn empty_log(&self) -> Result<(), StoreError> {
        if self.is_postgres() {
            return Ok(());
        }
        let began = Instant::now();
        loop {
            let emptied = self.bare(|cx| {
                Box::pin(async move {
                    // Waits for whoever reads from the log or writes to it, but not for who checkpoints.
                    let row = cx.row("PRAGMA wal_checkpoint(TRUNCATE)", args![]).await?;
                    let row = row.ok_or(StoreError::Missing("answer of the checkpoint"))?;
                    Ok(row.get::<i64>("busy")? == 0)
                })
            });
            if emptied.await? {
                return Ok(());
            }
            if began.elapsed() > WAIT_TIMEOUT {
                let reason = "the write-ahead log is in use";
                return Err(StoreError::Unavailable(reason.to_owned()));
            }
            tokio::time::sleep(BETWEEN_ATTEMPTS).await;
        }
    }

    /// Runs `work` where the connections are, whoever goes away.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }

    pub(crate) const fn is_postgres(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// Whether the log was told that no connection can be made.
    pub(crate) fn is_gone(&self) -> bool {
        match &self.engine {
            Engine::Sqlite { readers, .. } => readers.is_gone(),
            Engine::Postgres(kept) => kept.is_gone(),
        }
    }

    async fn bare<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        let permit = self.permit()?;
        let engine = self.engine.clone();
        let running = self.runtime.spawn(async move {
            let _permit = permit;
            let (mut cx, ticket) = engine.connection().await?;
            let result = bounded(work(&mut cx)).await;
            match &result {
                Ok(_) => engine.keep(cx, ticket),
                Err(StoreError::TimedOut) => {
                    engine.doubt();
                    cx.close_on_drop();
                }
                Err(error) if error.is_outage() => cx.close_on_drop(),
                Err(_) => {}
            }
            result
        });
        running.await.map_err(|_| StoreError::Closed)?
    }

    /// Runs `work` in one transaction and returns its result once it is durable. An error of `work` rolls
    /// back all that it did, and nothing that anyone else did.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        let permit = self.permit()?;
        match &self.engine {
            Engine::Sqlite { writer, .. } => {
                let (reply, answer) = oneshot::channel();
                ask(writer, Order::once(work, reply, permit), answer).await
            }
            Engine::Postgres(_) => self.transact(work, permit).await,
        }
    }

    /// As [`Self::write`], for work that every request has and that can be done again: SQLite's writer saves itself the
    /// trouble of undoing it by itself.
    pub(crate) async fn write_again<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        let permit = self.permit()?;
        match &self.engine {
            Engine::Sqlite { writer, .. } => {
                let (reply, answer) = oneshot::channel();
                ask(writer, Order::again(work, reply, permit), answer).await
            }
            Engine::Postgres(_) => self.transact(work, permit).await,
        }
    }

    /// A transaction on a connection of PostgreSQL.
    async fn transact<T, F>(&self, work: F, permit: OwnedSemaphorePermit) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        let engine = self.engine.clone();
        let begin = tenant::begin(tenant::current().as_deref());
        let running = self.runtime.spawn(async move {
            let _permit = permit;
            let (mut cx, ticket) = engine.connection().await?;
            let result = transaction(&mut cx, &begin, work).await;
            if result.is_ok() {
                engine.keep(cx, ticket);
            } else if matches!(result, Err(StoreError::TimedOut)) {
                // Whoever did not answer is asked nothing more: an answer that comes late belongs to nobody.
                engine.doubt();
                cx.close_on_drop();
            } else {
                cx.close_unless_idle().await;
            }
            result
        });
        running.await.map_err(|_| StoreError::Closed)?
    }

    /// Finishes what is queued, for at most [`CLOSE_TIMEOUT`], and closes every connection.
    pub(crate) async fn close(&self) {
        self.room.closing.store(true, Ordering::Release);
        // Reports that wait for their turn never get one.
        self.room.reports.close();
        let (room, engine) = (self.room.clone(), self.engine.clone());
        let closing = self.runtime.spawn(async move {
            // All permits together mean that nothing waits or runs any more.
            let drained = room.permits.acquire_many(room.size);
            if tokio::time::timeout(CLOSE_TIMEOUT, drained).await.is_err() {
                tracing::warn!("the store closes with work unfinished");
            }
            match engine {
                Engine::Sqlite { readers, writer } => {
                    readers.close().await;
                    let (reply, answer) = oneshot::channel();
                    if writer.send(Order::Close(reply)).await.is_ok() {
                        answer.await.ok();
                    }
                }
                Engine::Postgres(pool) => pool.close().await,
            }
        });
        closing.await.ok();
    }

    fn permit(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        if self.room.closing.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        let permits = self.room.permits.clone();
        permits
            .try_acquire_owned()
            .map_err(|_| StoreError::Overloaded)
    }
}

/// Hands an order to SQLite's writer and waits for the answer.
async fn ask<T>(
    writer: &mpsc::Sender<Order>,
    order: Order,
    answer: oneshot::Receiver<Result<T, StoreError>>,
) -> Result<T, StoreError> {
    writer.send(order).await.map_err(|_| StoreError::Closed)?;
    answer.await.map_err(|_| StoreError::Closed)?
}

impl Engine {
    /// A connection for what is not the work of SQLite's writer.
    async fn connection(&self) -> Result<(Connection, Ticket), StoreError> {
        Ok(match self {
            Self::Sqlite { readers, .. } => {
                let (connection, ticket) = readers.take().await?;
                (Connection::Sqlite(connection), ticket)
            }
            Self::Postgres(pool) => {
                let (connection, ticket) = pool.take().await?;
                (Connection::Postgres(connection), ticket)
            }
        })
    }

    /// A connection did not answer: whether another can be made is found out.
    fn doubt(&self) {
        match self {
            Self::Sqlite { readers, .. } => readers.doubt(),
            Self::Postgres(pool) => pool.doubt(),
        }
    }

    /// Keeps a connection on which everything went well for the next piece of work.
    fn keep(&self, cx: Connection, ticket: Ticket) {
        match (self, cx) {
            (Self::Sqlite { readers, .. }, Connection::Sqlite(reader)) => {
                readers.keep(reader, ticket)
            }
            (Self::Postgres(pool), Connection::Postgres(connection)) => {
                pool.keep(connection, ticket)
            }
            // No engine gives a connection of another kind.
            (Self::Sqlite { .. } | Self::Postgres(_), _) => {}
        }
    }
}

/// Runs a piece of work within [`JOB_TIMEOUT`]; a panic in it is an error like any other.
async fn bounded<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    match tokio::time::timeout(JOB_TIMEOUT, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(result)) => result,
        Ok(Err(_panic)) => Err(StoreError::Panicked),
        Err(_elapsed) => Err(StoreError::TimedOut),
    }
}

/// A transaction, every step of which has its time: a server that vanishes without a word answers none of them, and the
/// kernel gives it a quarter of an hour. A `COMMIT` that nobody answered may hold or not.
async fn transaction<T, F>(cx: &mut Connection, begin: &str, work: F) -> Result<T, StoreError>
where
    F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>>,
{
    within(WAIT_TIMEOUT, cx.batch(begin)).await?;
    let value = bounded(work(cx)).await?;
    // As long as work: it waits for the server's disk, and an answer is worth more than a guess.
    within(JOB_TIMEOUT, cx.batch("COMMIT")).await?;
    Ok(value)
}

/// A statement of transaction control that may take so long.
async fn within(
    limit: Duration,
    statement: impl Future<Output = Result<(), StoreError>>,
) -> Result<(), StoreError> {
    let answered = tokio::time::timeout(limit, statement).await;
    answered.unwrap_or(Err(StoreError::TimedOut))
}

async fn open_sqlite(
    url: &str,
    options: StoreOptions,
    runtime: &Handle,
) -> Result<Engine, StoreError> {
    let address = |error: &dyn std::fmt::Display| StoreError::Address(error.to_string());
    let connect = address::sqlite(url)?
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(WAIT_TIMEOUT)
        // Without it, INSERT OR REPLACE deletes rows past the append-only triggers.
        .pragma("recursive_triggers", "ON");
    let path = connect.get_filename().to_owned();
    create_private(&path).map_err(|error| address(&error))?;
    // First of all: the mode of the file must be settled before sqlx asks for it.
    let writer = {
        let path = path.clone();
        let opening = tokio::task::spawn_blocking(move || Writer::open(&path));
        opening.await.map_err(|_| StoreError::Closed)??
    };
    let connections = options.connections.max(1);
    let pool = |connections: u32| {
        SqlitePoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(WAIT_TIMEOUT)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None)
    };
    let migrating = pool(1).connect_with(connect.clone()).await?;
    migrate::run(&mut Connection::Sqlite(migrating.acquire().await?)).await?;
    migrating.close().await;
    let readers = pool(connections + 1)
        .connect_with(connect.pragma("query_only", "ON"))
        .await?;
    let readers = Kept::new(readers, connections, runtime.clone());
    let (orders, queue) = mpsc::channel(options.queue_jobs.max(1));
    std::thread::Builder::new()
        .name("sqlite-writer".to_owned())
        .spawn(move || group::run(path, writer, queue))
        .map_err(|error| address(&error))?;
    Ok(Engine::Sqlite {
        readers,
        writer: orders,
    })
}

/// Only the gateway's own user reads the database; SQLite gives its log files the mode of the main file.
fn create_private(path: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let created = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match created {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

/// Makes one connection, as the pool would, and says where there is none and why: the pool says that its time is up.
async fn reach(connect: &PgConnectOptions) -> Result<(), StoreError> {
    let place = match connect.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => format!("{}:{}", connect.get_host(), connect.get_port()),
    };
    let began = Instant::now();
    loop {
        let patience = WAIT_TIMEOUT.saturating_sub(began.elapsed());
        let connecting = PgConnection::connect_with(connect);
        let why = match tokio::time::timeout(patience, connecting).await {
            Ok(Ok(connection)) => {
                // Whoever answers so is there.
                connection.close().await.ok();
                return Ok(());
            }
            Ok(Err(error)) => {
                // A server that is about to start is waited for.
                let may_come = match &error {
                    sqlx::Error::Io(_) => true,
                    sqlx::Error::Database(told) => told.is_transient_in_connect_phase(),
                    _ => false,
                };
                if may_come && began.elapsed() + REACH_AGAIN_AFTER < WAIT_TIMEOUT {
                    tokio::time::sleep(REACH_AGAIN_AFTER).await;
                    continue;
                }
                error.to_string()
            }
            Err(_) => format!("no answer within {} s", WAIT_TIMEOUT.as_secs()),
        };
        let told = format!("PostgreSQL at {place}: {why}");
        return Err(StoreError::Unavailable(told));
    }
}

async fn open_postgres(
    url: &str,
    options: StoreOptions,
    runtime: &Handle,
) -> Result<Engine, StoreError> {
    let wait_ms = WAIT_TIMEOUT.as_millis().to_string();
    let idle_ms = JOB_TIMEOUT.as_millis().to_string();
    let connect = address::postgres(url)?
        .application_name("svc-gateway")
        .options([
            ("statement_timeout", wait_ms.as_str()),
            ("lock_timeout", wait_ms.as_str()),
            ("idle_in_transaction_session_timeout", idle_ms.as_str()),
        ]);
    reach(&connect).await?;
    let connections = options.connections.max(1);
    let pool = PgPoolOptions::new()
        .max_connections(connections + 1)
        .acquire_timeout(WAIT_TIMEOUT)
        .connect_with(connect)
        .await?;
    let mut cx = Connection::Postgres(pool.acquire().await?);
    migrate::run(&mut cx).await?;
    if tenant::is_bypassed(&mut cx).await? {
        tracing::warn!(
            "the role that the gateway uses passes by PostgreSQL's row-level security; give it one that is no superuser"
        );
    }
    drop(cx);
    let kept = Kept::new(pool, connections, runtime.clone());
    Ok(Engine::Postgres(kept))
}
