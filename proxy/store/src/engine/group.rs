//! Group commit for SQLite: one writer on a thread of its own, many callers, one `COMMIT` (with its fsync) for
//! up to [`GROUP_JOBS`] pieces of work. One that fails takes nothing else with it; results are delivered only after the
//! commit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::Connection;
use super::connection::args;
use super::log::Checkpointer;
use super::writer::Writer;
use crate::error::StoreError;

/// 64 pieces of work per commit: 29,700 rows/s against 1,055 singly (architecture 6, measured).
const GROUP_JOBS: usize = 64;

/// What the writer is asked to do.
pub(super) enum Order {
    Work(Box<dyn Job>),
    /// Answered when all that is queued has run and the connection is closed.
    Close(oneshot::Sender<()>),
}

/// A piece of work and whoever waits for it.
pub(super) trait Job: Send {
    /// Whether it may run a second time, once all that the first time did was rolled back.
    fn repeats(&self) -> bool;

    /// Runs, or only hears why there is no connection to run on; `false` where what it did must be undone.
    fn run(&mut self, cx: Result<&mut Connection, StoreError>) -> bool;

    /// Tells the caller; the argument says how the group's commit went.
    fn deliver(self: Box<Self>, committed: Result<(), StoreError>);
}

/// Whoever waits, and what they will hear.
struct Caller<T> {
    reply: oneshot::Sender<Result<T, StoreError>>,
    permit: OwnedSemaphorePermit,
    /// Of the last run.
    result: Result<T, StoreError>,
}

impl<T> Caller<T> {
    fn new(reply: oneshot::Sender<Result<T, StoreError>>, permit: OwnedSemaphorePermit) -> Self {
        Self {
            reply,
            permit,
            result: Err(StoreError::Closed),
        }
    }

    fn deliver(self, committed: Result<(), StoreError>) {
        let answer = self.result.and_then(|value| committed.map(|()| value));
        // Before the answer, so that a caller who has it finds the room free.
        drop(self.permit);
        // A caller that has gone away needs no answer.
        self.reply.send(answer).ok();
    }
}

/// A piece of work, and whether it can be done again.
struct Task<T, F> {
    repeats: bool,
    work: F,
    caller: Caller<T>,
}

impl<T, F> Job for Task<T, F>
where
    T: Send + 'static,
    F: FnMut(&mut Connection) -> Result<T, StoreError> + Send + 'static,
{
    fn repeats(&self) -> bool {
        self.repeats
    }

    fn run(&mut self, cx: Result<&mut Connection, StoreError>) -> bool {
        self.caller.result = cx.and_then(&mut self.work);
        self.caller.result.is_ok()
    }

    fn deliver(self: Box<Self>, committed: Result<(), StoreError>) {
        self.caller.deliver(committed);
    }
}

impl Order {
    /// Work that is used up by running.
    pub(super) fn once<T, F>(
        work: F,
        reply: oneshot::Sender<Result<T, StoreError>>,
        permit: OwnedSemaphorePermit,
    ) -> Self
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>>
            + Send
            + 'static,
    {
        let mut work = Some(work);
        Self::Work(Box::new(Task {
            repeats: false,
            work: move |cx: &mut Connection| match work.take() {
                Some(work) => at_once(|| work(cx)),
                None => Err(StoreError::GivenUp),
            },
            caller: Caller::new(reply, permit),
        }))
    }

    /// Work that can be done again.
    pub(super) fn again<T, F>(
        work: F,
        reply: oneshot::Sender<Result<T, StoreError>>,
        permit: OwnedSemaphorePermit,
    ) -> Self
    where
        T: Send + 'static,
        F: for<'c> Fn(&'c mut Connection) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        Self::Work(Box::new(Task {
            repeats: true,
            work: move |cx: &mut Connection| at_once(|| work(cx)),
            caller: Caller::new(reply, permit),
        }))
    }
}

/// Runs work that has only the writer's own statements to wait for; a panic in it is an error like any other.
fn at_once<'c, T>(
    work: impl FnOnce() -> BoxFuture<'c, Result<T, StoreError>>,
) -> Result<T, StoreError> {
    match catch_unwind(AssertUnwindSafe(|| work().now_or_never())) {
        Ok(Some(result)) => result,
        Ok(None) => Err(StoreError::Waited),
        Err(_panic) => Err(StoreError::Panicked),
    }
}

/// Whether so many are writing that waiting for more of them saves commits.
#[derive(Default)]
struct Crowd {
    /// Pieces of work in the group before.
    last: usize,
    /// Groups that are not waited for any more.
    in_vain: u32,
}

/// Pieces of work in one group that speak of a crowd.
const CROWD: usize = 4;
/// 0.4 ms: about as long as the commit that follows.
const GATHERING: Duration = Duration::from_micros(400);
/// Groups after which it is tried again where nobody came.
const GROUPS_BETWEEN_TRIES: u32 = 16;

impl Crowd {
    /// Waits for more of what is queued, where the group before was a crowd and waiting has been worth it of late: a
    /// commit writes the same pages of tables and indexes however many rows there are in them.
    fn gather(&mut self, orders: &mut Vec<Order>, queue: &mut mpsc::Receiver<Order>) {
        if self.in_vain > 0 {
            self.in_vain -= 1;
        } else if self.last >= CROWD {
            let there = orders.len();
            std::thread::sleep(GATHERING);
            while orders.len() < GROUP_JOBS
                && let Ok(order) = queue.try_recv()
            {
                orders.push(order);
            }
            // Those who wait for the writer bring nothing new: all of them may be here.
            if orders.len() == there {
                self.in_vain = GROUPS_BETWEEN_TRIES;
            }
        }
        self.last = orders.len();
    }
}

/// The writer's thread: takes what has queued up, runs it as one group, and so on until the store closes.
pub(super) fn run(path: PathBuf, writer: Writer, mut queue: mpsc::Receiver<Order>) {
    let checkpointer = Checkpointer::start(path.clone());
    let mut checkpointer = checkpointer
        .inspect_err(|error| tracing::error!(%error, "the write-ahead log is left to the writer"))
        .ok();
    let mut kept = Some(writer);
    let mut orders = Vec::with_capacity(GROUP_JOBS);
    let mut crowd = Crowd::default();
    while queue.blocking_recv_many(&mut orders, GROUP_JOBS) > 0 {
        crowd.gather(&mut orders, &mut queue);
        let mut group = Vec::with_capacity(orders.len());
        let mut closing = None;
        for order in orders.drain(..) {
            match order {
                Order::Work(work) => group.push(work),
                Order::Close(reply) => {
                    queue.close();
                    closing = Some(reply);
                }
            }
        }
        if !group.is_empty() {
            let opened = kept.take().map_or_else(|| Writer::open(&path), Ok);
            kept = commit(opened, group);
            if let Some(checkpointer) = &mut checkpointer {
                checkpointer.committed();
            }
        }
        if let Some(reply) = closing {
            drop(checkpointer.take());
            drop(kept.take());
            reply.send(()).ok();
        }
    }
}

/// Runs and commits a group; gives the connection back where it can be used again.
fn commit(opened: Result<Writer, StoreError>, mut group: Vec<Box<dyn Job>>) -> Option<Writer> {
    let (committed, kept) = match opened {
        Ok(writer) => {
            let mut cx = Connection::Writer(writer);
            let committed = run_group(&mut cx, &mut group);
            (committed, reusable(cx))
        }
        Err(error) => {
            for job in &mut group {
                job.run(Err(error.clone()));
            }
            (Err(error), None)
        }
    };
    for job in group {
        job.deliver(committed.clone());
    }
    kept
}

/// The connection, once no transaction is open on it; one on which even `ROLLBACK` fails is closed.
fn reusable(cx: Connection) -> Option<Writer> {
    let Connection::Writer(mut writer) = cx else {
        return None;
    };
    if writer.is_busy() && writer.batch("ROLLBACK").is_err() {
        return None;
    }
    Some(writer)
}

/// Runs a group in one transaction.
///
/// What can be done again goes first and side by side, without savepoints: keeping the way back open costs a copy of
/// every page that each of them touches, and hardly ever is one of them undone. Where one is, all that has been done is
/// rolled back, and this time each runs under a savepoint of its own, as what cannot be done again always does.
fn run_group(cx: &mut Connection, group: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    if let [alone] = group {
        return run_alone(cx, alone.as_mut());
    }
    group.sort_by_key(|job| !job.repeats());
    let repeating = group.partition_point(|job| job.repeats());
    let (again, once) = group.split_at_mut(repeating);
    let mut state = begin(cx);
    let mut to_run = once;
    if state.is_ok() && !again.iter_mut().all(|job| job.run(Ok(&mut *cx))) {
        state = undo(cx).and_then(|()| begin(cx));
        to_run = group;
    } else if let Err(error) = &state {
        for job in again {
            job.run(Err(error.clone()));
        }
    }
    for job in to_run {
        if state.is_ok() {
            state = control(cx, "SAVEPOINT job");
        }
        if let Err(error) = &state {
            job.run(Err(error.clone()));
            continue;
        }
        let ending = if job.run(Ok(&mut *cx)) {
            Ok(())
        } else {
            control(cx, "ROLLBACK TO job")
        };
        // Where the engine has ended the whole transaction by itself (disk full, I/O error), the savepoint is
        // gone, this statement fails, and so does the group.
        state = ending.and_then(|()| control(cx, "RELEASE job"));
    }
    state?;
    control(cx, "COMMIT")
}

/// Rolls back, unless the engine has done so by itself, as it may where a read or a write fails.
fn undo(cx: &mut Connection) -> Result<(), StoreError> {
    match cx {
        Connection::Writer(writer) if !writer.is_busy() => Ok(()),
        _ => control(cx, "ROLLBACK"),
    }
}

/// Work that is alone has nobody to be kept apart from.
fn run_alone(cx: &mut Connection, job: &mut dyn Job) -> Result<(), StoreError> {
    if let Err(error) = begin(cx) {
        job.run(Err(error.clone()));
        return Err(error);
    }
    if job.run(Ok(&mut *cx)) {
        control(cx, "COMMIT")
    } else {
        undo(cx)
    }
}

fn begin(cx: &mut Connection) -> Result<(), StoreError> {
    match cx {
        Connection::Writer(writer) => writer.begin(),
        _ => control(cx, "BEGIN IMMEDIATE"),
    }
}

/// One statement of transaction control.
fn control(cx: &mut Connection, sql: &'static str) -> Result<(), StoreError> {
    at_once(|| Box::pin(async move { cx.execute(sql, args![]).await.map(drop) }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use std::sync::Arc;

    use sqlx::SqlitePool;
    use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
    use tokio::sync::Semaphore;

    use super::*;

    type Answer = oneshot::Receiver<Result<(), StoreError>>;

    /// Which of the pieces of work of a queue can be done again.
    #[derive(Clone, Copy, Debug)]
    enum Repeats {
        None,
        Second,
        All,
    }

    impl Repeats {
        const EACH: [Self; 3] = [Self::None, Self::Second, Self::All];

        fn at(self, place: usize) -> bool {
            match self {
                Self::None => false,
                Self::Second => place % 2 == 1,
                Self::All => true,
            }
        }
    }

    async fn order(
        room: &Arc<Semaphore>,
        repeats: bool,
        value: i64,
        fails: Option<StoreError>,
    ) -> (Order, Answer) {
        let (reply, answer) = oneshot::channel();
        let permit = room.clone().acquire_owned().await.unwrap();
        let insert = |cx: &mut Connection, value: i64, fails: Option<StoreError>| {
            // A statement that is refused at its second row has written its first.
            let sql = "INSERT INTO numbers (value) VALUES ($1 - 10000), ($1)";
            let done = cx.execute(sql, args![value]);
            let done = done.now_or_never().unwrap();
            done?;
            match fails {
                Some(StoreError::Panicked) => panic!("planted"),
                Some(error) => Err(error),
                None => Ok(()),
            }
        };
        let order = if repeats {
            Order::again(
                move |cx| {
                    let fails = fails.clone();
                    Box::pin(async move { insert(cx, value, fails) })
                },
                reply,
                permit,
            )
        } else {
            let work = move |cx: &mut Connection| insert(cx, value, fails);
            Order::once(move |cx| Box::pin(async move { work(cx) }), reply, permit)
        };
        (order, answer)
    }

    async fn pool(folder: &std::path::Path) -> SqlitePool {
        let options = SqliteConnectOptions::new()
            .filename(folder.join("group.db"))
            .create_if_missing(true);
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await
            .unwrap();
        sqlx::query("CREATE TABLE numbers (value BIGINT NOT NULL CHECK (value < 1000))")
            .execute(&pool)
            .await
            .unwrap();
        pool
    }

    async fn run_queue(
        pool: &SqlitePool,
        repeats: Repeats,
        plan: Vec<(i64, Option<StoreError>)>,
    ) -> Vec<Result<(), StoreError>> {
        let room = Arc::new(Semaphore::new(GROUP_JOBS));
        let (sender, queue) = mpsc::channel(GROUP_JOBS);
        let mut answers = Vec::new();
        for (place, (value, fails)) in plan.into_iter().enumerate() {
            let (order, answer) = order(&room, repeats.at(place), value, fails).await;
            sender.send(order).await.unwrap();
            answers.push(answer);
        }
        drop(sender);
        let path = pool.connect_options().get_filename().to_owned();
        let writer = Writer::open(&path).unwrap();
        tokio::task::spawn_blocking(move || run(path, writer, queue))
            .await
            .unwrap();
        let mut results = Vec::new();
        for answer in answers {
            results.push(answer.await.unwrap());
        }
        results
    }

    async fn stored(pool: &SqlitePool) -> Vec<i64> {
        let sql = "SELECT value FROM numbers ORDER BY value";
        let all: Vec<i64> = sqlx::query_scalar(sql).fetch_all(pool).await.unwrap();
        let (first, second): (Vec<i64>, Vec<i64>) = all.into_iter().partition(|value| *value < 0);
        let first: Vec<i64> = first.into_iter().map(|value| value + 10_000).collect();
        assert_eq!(first, second);
        second
    }

    #[tokio::test]
    async fn a_job_that_fails_panics_or_is_refused_harms_no_neighbour() {
        for repeats in Repeats::EACH {
            let folder = tempfile::tempdir().unwrap();
            let pool = pool(folder.path()).await;
            let plan = vec![
                (1, None),
                (2, Some(StoreError::Moved)),
                (3, None),
                (4, Some(StoreError::Panicked)),
                (5_000, None),
                (6, None),
            ];
            let results = run_queue(&pool, repeats, plan).await;
            let good: Vec<bool> = results.iter().map(Result::is_ok).collect();
            assert_eq!(good, [true, false, true, false, false, true], "{repeats:?}");
            assert!(matches!(results[1], Err(StoreError::Moved)));
            assert!(matches!(results[3], Err(StoreError::Panicked)));
            assert!(matches!(results[4], Err(StoreError::Refused { .. })));
            assert_eq!(stored(&pool).await, [1, 3, 6], "{repeats:?}");
        }
    }

    #[tokio::test]
    async fn what_goes_well_is_done_once() {
        for repeats in Repeats::EACH {
            let folder = tempfile::tempdir().unwrap();
            let pool = pool(folder.path()).await;
            let plan = (0..40).map(|value| (value, None)).collect();
            let results = run_queue(&pool, repeats, plan).await;
            assert!(results.iter().all(Result::is_ok), "{repeats:?}");
            assert_eq!(stored(&pool).await, Vec::from_iter(0..40), "{repeats:?}");
        }
    }

    #[tokio::test]
    async fn work_that_waits_for_anything_else_is_rolled_back() {
        let folder = tempfile::tempdir().unwrap();
        let pool = pool(folder.path()).await;
        let (reply, answer) = oneshot::channel();
        let permit = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
        let waiting = Order::once(
            |cx| {
                Box::pin(async move {
                    cx.execute("INSERT INTO numbers (value) VALUES (1)", args![])
                        .await?;
                    tokio::task::yield_now().await;
                    Ok(())
                })
            },
            reply,
            permit,
        );
        let (sender, queue) = mpsc::channel(1);
        sender.send(waiting).await.unwrap();
        drop(sender);
        let path = pool.connect_options().get_filename().to_owned();
        let writer = Writer::open(&path).unwrap();
        tokio::task::spawn_blocking(move || run(path, writer, queue))
            .await
            .unwrap();
        assert!(matches!(answer.await.unwrap(), Err(StoreError::Waited)));
        assert_eq!(stored(&pool).await, [0_i64; 0]);
    }

    #[tokio::test]
    async fn a_commit_that_fails_fails_the_whole_group_and_the_next_one_works() {
        let folder = tempfile::tempdir().unwrap();
        let pool = pool(folder.path()).await;
        // A deferred foreign key is judged at COMMIT, after every job has answered "done".
        sqlx::raw_sql(
            "PRAGMA foreign_keys = ON;
             CREATE TABLE parents (id BIGINT PRIMARY KEY);
             CREATE TABLE children (parent BIGINT REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);
             CREATE TRIGGER orphan AFTER INSERT ON numbers WHEN NEW.value = 7
             BEGIN INSERT INTO children (parent) VALUES (7); END",
        )
        .execute(&pool)
        .await
        .unwrap();
        for repeats in Repeats::EACH {
            let plan = vec![(1, None), (7, None), (3, None)];
            let results = run_queue(&pool, repeats, plan).await;
            assert!(results.iter().all(Result::is_err), "{repeats:?}");
            assert_eq!(stored(&pool).await, [0_i64; 0]);
        }
        for repeats in [Repeats::None, Repeats::All] {
            // Alone, without a savepoint, a failing job leaves nothing either.
            let plan = vec![(9, Some(StoreError::Moved))];
            let results = run_queue(&pool, repeats, plan).await;
            assert!(matches!(results[0], Err(StoreError::Moved)));
            assert_eq!(stored(&pool).await, [0_i64; 0]);
        }
        let results = run_queue(&pool, Repeats::None, vec![(8, None)]).await;
        assert!(results[0].is_ok());
        assert_eq!(stored(&pool).await, [8]);
    }
}
