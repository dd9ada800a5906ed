//! Workers under supervision: a pool with a short queue. A worker that hangs is stopped, then killed; one that
//! crashes, grows or was killed is replaced. Answers are verified here, on this side of the pipe.

mod handle;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use svc_core::fault::{Code, Fault};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::explain::Conflict;
use crate::roster::Roster;
use crate::solve::Outcome;
use crate::spec::{Spec, problem};
use crate::verify;
use crate::worker::{Answer, Progress};
use handle::{Heard, Worker};

/// How workers are run.
pub struct Settings {
    /// The program that becomes a worker with `solver-worker`.
    pub program: PathBuf,
    /// The engine's shared library.
    pub library: PathBuf,
    /// Searches at once.
    pub workers: usize,
    /// Specs that may wait for a worker, and as many that may wait to be read.
    pub queue: usize,
    /// Address space of one worker.
    pub memory_bytes: u64,
}

/// What a spec came to.
pub struct Solved {
    pub status: Status,
    /// Ids of each slot and of the resources that take it, in the spec's own order; empty when infeasible.
    pub assignments: Vec<(String, Vec<String>)>,
    /// What the violated preferences cost together; `None` when infeasible.
    pub objective: Option<u64>,
    /// Empty unless infeasible.
    pub conflicts: Vec<Conflict>,
}

/// Of a result (spec, Solve result).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Optimal,
    Feasible,
    Infeasible,
}

impl Status {
    /// The word of `status`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Feasible => "feasible",
            Self::Infeasible => "infeasible",
        }
    }
}

/// Why a spec has no result.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    #[error("the rules expand to more than the solver takes")]
    TooLarge,
    #[error("too many specs wait for the solver")]
    Busy,
    #[error("the solver cannot be used: {0}")]
    Unusable(String),
    #[error("the solver's process ended")]
    Crashed,
    #[error("the solver gave no answer in time")]
    TimedOut,
    #[error("the solver failed: {0}")]
    Failed(String),
    #[error("the solver's answer is wrong: {0}")]
    Broken(String),
}

impl Unavailable {
    /// The word in `error.details.reason` and in metrics.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Busy => "busy",
            Self::Unusable(_) => "unusable",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed_out",
            Self::Failed(_) => "failed",
            Self::Broken(_) => "wrong_answer",
        }
    }

    /// As callers see it: a spec to be changed, or a call to be made again.
    pub fn fault(&self) -> Fault {
        match self {
            Self::TooLarge => problem::too_large(),
            _ => Code::SolverUnavailable
                .fault()
                .detail("reason", self.reason())
                .retry_in(self.retry_after_seconds())
                .because(self),
        }
    }

    /// Seconds after which trying again makes sense.
    const fn retry_after_seconds(&self) -> u64 {
        match self {
            // A search takes as long as a caller allows, 10 s unless it says otherwise.
            Self::Busy => 10,
            Self::Unusable(_) => 60,
            _ => 5,
        }
    }
}

/// How long a worker may take to load the library: 0.03 to 0.15 s on an idle machine.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How long an idle worker may take to say that it is ready: well under 1 ms, more where cores are taken. One that
/// takes longer is replaced, which takes longer still.
const GREETING_LIMIT: Duration = Duration::from_secs(1);
/// From the wish to stop until the process is killed: searches that can stop do so in 1 to 52 ms.
const STOP_LIMIT: Duration = Duration::from_millis(250);
/// From the wish to stop until a worker has said what it has proved by then: it may be making a model, or putting
/// thousands of conflicts into words.
const LAST_WORD_LIMIT: Duration = Duration::from_secs(5);
/// What a search may take: on an idle core its budget is about the caller's limit, and cores are shared. An
/// answer must not depend on how busy they are, so patience is long.
const PATIENCE_FACTOR: u32 = 3;
const GRACE: Duration = Duration::from_secs(10);
/// A worker that keeps more memory than this is replaced; a fresh one has 21 MB.
const MAX_IDLE_BYTES: u64 = 150 * 1024 * 1024;

/// Shared by all requests.
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    solving: Queue,
    reading: Queue,
    settings: Settings,
    idle: Mutex<Vec<Worker>>,
    runtime: Handle,
}

impl Pool {
    /// Starts nothing yet. Workers are supervised on this runtime.
    pub fn new(settings: Settings, runtime: Handle) -> Self {
        Self(Arc::new(Inner {
            solving: Queue::new(&settings),
            reading: Queue::new(&settings),
            idle: Mutex::new(Vec::new()),
            settings,
            runtime,
        }))
    }

    /// Reads a large spec beside the threads that serve: as many at once as are solved at once, because 8 MiB of JSON
    /// can take hundreds of megabytes while they are read. A caller who leaves frees the place when the reading ends.
    ///
    /// # Errors
    /// A queue without a place, and a reading that panicked.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let permit = self.0.reading.turn().await?;
        let reading = self.0.runtime.spawn_blocking(move || {
            let _permit = permit;
            read()
        });
        let read = reading.await;
        read.map_err(|error| Unavailable::Failed(error.to_string()))
    }

    /// Solves a spec whose bytes these are. Dropping the future frees the worker.
    ///
    /// # Errors
    /// No worker, or one that does not give a good answer.
    pub async fn solve(&self, spec: &Arc<Spec>, bytes: &[u8]) -> Result<Solved, Unavailable> {
        self.run(spec, bytes, None).await
    }

    /// The same, with word of how the search goes.
    ///
    /// # Errors
    /// As [`Pool::solve`].
    pub async fn solve_telling(
        &self,
        spec: &Arc<Spec>,
        bytes: &[u8],
        tell: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Solved, Unavailable> {
        self.run(spec, bytes, Some(tell)).await
    }

    /// Solves a spec of our own, to see that the engine works.
    ///
    /// # Errors
    /// As [`Pool::solve`].
    pub async fn check(&self) -> Result<(), Unavailable> {
        let spec = crate::parse(SELF_CHECK.as_bytes())
            .map_err(|_| Unavailable::Failed("the self-check is not a spec".to_owned()))?;
        let solved = self.solve(&Arc::new(spec), SELF_CHECK.as_bytes()).await?;
        if solved.status == Status::Optimal && solved.objective == Some(2) {
            Ok(())
        } else {
            Err(Unavailable::Broken("not the self-check's".to_owned()))
        }
    }

    /// Specs that wait for a worker.
    pub fn waiting(&self) -> usize {
        self.0.solving.waiting.load(Ordering::SeqCst)
    }

    async fn run(
        &self,
        spec: &Arc<Spec>,
        bytes: &[u8],
        tell: Option<&(dyn Fn(Progress) + Send + Sync)>,
    ) -> Result<Solved, Unavailable> {
        let mut lease = self.lease().await?;
        let allowed = Duration::from_secs(spec.time_limit_seconds.unsigned_abs());
        let patience = allowed * PATIENCE_FACTOR + GRACE;
        let end = Instant::now() + patience;
        let answer = match timeout(patience, lease.ask(bytes, tell)).await {
            Ok(answer) => answer?,
            Err(_) => lease.last_word().await?,
        };
        match answer {
            Answer::Done { outcome } => checked(lease, spec, outcome, end).await,
            Answer::Stopped => Err(Unavailable::TimedOut),
            Answer::Failed { reason } => Err(Unavailable::Failed(reason)),
        }
    }

    /// A worker for one spec.
    async fn lease(&self) -> Result<Lease, Unavailable> {
        let permit = self.0.solving.turn().await?;
        let worker = loop {
            let idle = self.0.idle.lock().pop();
            let Some(mut worker) = idle else {
                break self.start().await?;
            };
            if let Ok(Ok(())) = timeout(GREETING_LIMIT, worker.greet()).await {
                break worker;
            }
        };
        Ok(Lease {
            pool: self.clone(),
            held: Some((worker, permit)),
            is_busy: false,
        })
    }

    async fn start(&self) -> Result<Worker, Unavailable> {
        let settings = &self.0.settings;
        let starting = Worker::start(settings);
        let mut worker = starting.map_err(|error| Unavailable::Unusable(error.to_string()))?;
        match timeout(START_LIMIT, worker.hear()).await {
            Ok(Ok(Heard::Ready)) => Ok(worker),
            Ok(Ok(Heard::Unusable(reason))) => Err(Unavailable::Unusable(reason)),
            Ok(_) => Err(Unavailable::Crashed),
            Err(_) => Err(Unavailable::TimedOut),
        }
    }
}

/// Where specs wait for their turn; first come, first served.
struct Queue {
    permits: Arc<Semaphore>,
    waiting: AtomicUsize,
    most: usize,
}

impl Queue {
    fn new(settings: &Settings) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(settings.workers)),
            waiting: AtomicUsize::new(0),
            most: settings.queue,
        }
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, Unavailable> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        let _place = self.place()?;
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.map_err(|_| Unavailable::Crashed)
    }

    fn place(&self) -> Result<Place<'_>, Unavailable> {
        let ahead = self.waiting.fetch_add(1, Ordering::SeqCst);
        let place = Place(&self.waiting);
        if ahead < self.most {
            Ok(place)
        } else {
            Err(Unavailable::Busy)
        }
    }
}

/// A place in the queue, given up when it is dropped.
struct Place<'a>(&'a AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A worker for as long as one spec needs it.
struct Lease {
    pool: Pool,
    held: Option<(Worker, OwnedSemaphorePermit)>,
    is_busy: bool,
}

impl Lease {
    async fn ask(
        &mut self,
        bytes: &[u8],
        tell: Option<&(dyn Fn(Progress) + Send + Sync)>,
    ) -> Result<Answer, Unavailable> {
        let Some((worker, _)) = &mut self.held else {
            return Err(Unavailable::Crashed);
        };
        self.is_busy = true;
        let asked = worker.ask(bytes, tell.is_some()).await;
        asked.map_err(|_| Unavailable::Crashed)?;
        loop {
            match worker.hear().await {
                Ok(Heard::Answer(answer)) => {
                    self.is_busy = false;
                    return Ok(answer);
                }
                Ok(Heard::Progress(progress)) => {
                    if let Some(tell) = tell {
                        tell(progress);
                    }
                }
                Ok(Heard::Ready | Heard::Unusable(_)) | Err(_) => return Err(Unavailable::Crashed),
            }
        }
    }
}

impl Lease {
    /// Of a worker whose time is over: a proof that there is no roster is one without its best explanation, too.
    async fn last_word(&mut self) -> Result<Answer, Unavailable> {
        let Some((worker, _)) = &mut self.held else {
            return Err(Unavailable::Crashed);
        };
        match timeout(LAST_WORD_LIMIT, worker.stop()).await {
            Ok(Ok(answer)) => {
                self.is_busy = false;
                Ok(answer)
            }
            Ok(Err(_)) | Err(_) => Err(Unavailable::TimedOut),
        }
    }
}

/// An idle worker goes back. A busy one is asked to stop, and killed where it does not: its caller has left, or
/// its time is over. Its place stays taken until the processor is free.
impl Drop for Lease {
    fn drop(&mut self) {
        let Some((mut worker, permit)) = self.held.take() else {
            return;
        };
        let pool = self.pool.clone();
        if !self.is_busy {
            return pool.take_back(worker, permit);
        }
        let runtime = pool.0.runtime.clone();
        runtime.spawn(async move {
            let stopped = timeout(STOP_LIMIT, worker.stop()).await;
            if let Ok(Ok(_)) = stopped {
                pool.take_back(worker, permit);
            } else {
                worker.kill().await;
                drop(permit);
            }
        });
    }
}

impl Pool {
    fn take_back(&self, worker: Worker, permit: OwnedSemaphorePermit) {
        // One whose size cannot be read is gone.
        if worker
            .resident_bytes()
            .is_some_and(|bytes| bytes <= MAX_IDLE_BYTES)
        {
            self.0.idle.lock().push(worker);
        }
        drop(permit);
    }
}

/// Cells, counted once for each rule, above which checking a roster is not for a thread that serves others: these take
/// about a millisecond.
const MAX_INLINE_CELLS: usize = 200_000;

/// Checks an answer. That takes a processor as the search did, so the worker's place stays taken, also when the caller
/// leaves.
async fn checked(
    lease: Lease,
    spec: &Arc<Spec>,
    outcome: Outcome,
    end: Instant,
) -> Result<Solved, Unavailable> {
    let rules = spec.hard.len() + spec.soft.len() + 1;
    let cells = spec.resources.len() * (spec.slots.len() + spec.calendar.days);
    if cells * rules <= MAX_INLINE_CELLS {
        return check(spec, outcome, end);
    }
    let spec = Arc::clone(spec);
    let runtime = lease.pool.0.runtime.clone();
    let checking = runtime.spawn_blocking(move || {
        let checked = check(&spec, outcome, end);
        drop(lease);
        checked
    });
    let checked = checking.await;
    checked.map_err(|error| Unavailable::Failed(error.to_string()))?
}

/// Nothing that a worker says is believed.
fn check(spec: &Spec, outcome: Outcome, end: Instant) -> Result<Solved, Unavailable> {
    match outcome {
        Outcome::TooLarge => Err(Unavailable::TooLarge),
        Outcome::Infeasible { conflicts } => Ok(Solved {
            status: Status::Infeasible,
            assignments: Vec::new(),
            objective: None,
            conflicts,
        }),
        Outcome::Solved {
            is_optimal,
            assignments,
            objective,
        } => {
            let known = |resource: &usize| *resource < spec.resources.len();
            let is_roster = assignments.len() == spec.slots.len()
                && assignments.iter().all(|people| {
                    people.iter().all(known) && people.is_sorted_by(|one, other| one < other)
                });
            if !is_roster {
                return Err(wrong(verify::Broken::Eligibility));
            }
            let roster = Roster::new(spec, assignments);
            let is_over = || Instant::now() >= end;
            let verified = verify::objective_unless(&roster, is_over).map_err(wrong)?;
            match verified {
                None => return Err(Unavailable::TimedOut),
                Some(verified) if verified != objective => {
                    return Err(wrong(verify::Broken::Objective));
                }
                Some(_) => {}
            }
            let status = if is_optimal {
                Status::Optimal
            } else {
                Status::Feasible
            };
            Ok(Solved {
                status,
                assignments: roster.ids(),
                objective: Some(objective),
                conflicts: Vec::new(),
            })
        }
    }
}

fn wrong(broken: verify::Broken) -> Unavailable {
    Unavailable::Broken(broken.to_string())
}

/// Two people, one slot: the one who would rather not costs 2, the other 3.
const SELF_CHECK: &str = r#"{
    "version": 1,
    "resources": [{"id": "a"}, {"id": "b"}],
    "slots": [{"id": "s", "day": "2026-07-31", "requirements": [{"count": 1, "where": []}]}],
    "preferences": [
        {"type": "avoid", "resource_ids": ["a"], "weight": 2},
        {"type": "avoid", "resource_ids": ["b"], "weight": 3}
    ],
    "options": {"time_limit_seconds": 1}
}"#;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::mpsc::sync_channel;
    use std::task::{Context, Waker};

    use super::*;

    /// A pool with one worker that is never started.
    fn pool() -> (tokio::runtime::Runtime, Pool) {
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        let settings = Settings {
            program: PathBuf::new(),
            library: PathBuf::new(),
            workers: 1,
            queue: 1,
            memory_bytes: 0,
        };
        let pool = Pool::new(settings, runtime.handle().clone());
        (runtime, pool)
    }

    #[test]
    fn no_more_specs_are_read_at_once_than_are_solved() {
        let (runtime, pool) = pool();
        let (started, has_started) = sync_channel(1);
        let (finish, may_finish) = sync_channel::<()>(1);
        let reading = pool.clone();
        let first = runtime.spawn(async move {
            let read = move || {
                started.send(()).unwrap();
                may_finish.recv().unwrap();
            };
            reading.read(read).await.unwrap();
        });
        has_started.recv().unwrap();
        // The caller leaves, and what it began goes on.
        first.abort();
        assert!(runtime.block_on(first).is_err());
        assert_eq!(pool.0.reading.permits.available_permits(), 0);
        // One may wait for its turn, and whoever comes then is told so at once.
        let mut second = Box::pin(pool.read(|| 7));
        let mut context = Context::from_waker(Waker::noop());
        assert!(second.as_mut().poll(&mut context).is_pending());
        let third = runtime.block_on(pool.read(|| 8));
        assert!(matches!(third, Err(Unavailable::Busy)));
        finish.send(()).unwrap();
        assert_eq!(runtime.block_on(second).unwrap(), 7);
        assert_eq!(runtime.block_on(pool.read(|| 9)).unwrap(), 9);
    }

    #[test]
    fn an_answer_is_not_checked_beyond_its_time() {
        let spec = crate::parse(SELF_CHECK.as_bytes()).ok().unwrap();
        let answer = || Outcome::Solved {
            is_optimal: true,
            assignments: vec![vec![0]],
            objective: 2,
        };
        let now = Instant::now();
        let late = check(&spec, answer(), now);
        assert!(matches!(late, Err(Unavailable::TimedOut)));
        assert!(check(&spec, answer(), now + GRACE * 1_000).is_ok());
    }
}
