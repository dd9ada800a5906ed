//! Connections that are kept between pieces of work. sqlx's pool asks every connection that comes back whether it still
//! answers, which is a trip to the server (or to the reader's thread) for each piece of work; here a connection is
//! asked only after it has rested, or when its work went wrong.
//!
//! A database that is gone is waited for once, by one task; whoever wants a connection meanwhile hears so at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sqlx::pool::PoolConnection;
use sqlx::{Connection, Database, Pool};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::WAIT_TIMEOUT;
use crate::error::StoreError;

/// 5 s: a connection is probed only when it has rested longer.
const PROBE_AFTER: Duration = Duration::from_secs(5);
/// 30 min, as sqlx has it: a connection that is older is made anew, so that what the server has changed comes to hold.
const LIFETIME: Duration = Duration::from_secs(30 * 60);
/// 1 s: a server that makes no connection in this time, after one of its connections fell silent, is gone.
const DOUBT: Duration = Duration::from_secs(1);
/// 500 ms: between attempts at a database that refuses connections without waiting.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(500);

/// A pool and those of its connections that rest.
pub(super) struct Kept<DB: Database> {
    pool: Pool<DB>,
    resting: Arc<Shelf<DB>>,
    turns: Arc<Semaphore>,
    health: Arc<Health>,
    runtime: Handle,
}

/// What is known of the database.
#[derive(Default)]
struct Health {
    /// No connection could be made lately.
    is_gone: AtomicBool,
    /// A task tries whether one can be made.
    is_tried: AtomicBool,
}

struct Shelf<DB: Database>(Mutex<Vec<Resting<DB>>>);

struct Resting<DB: Database> {
    connection: PoolConnection<DB>,
    made: Instant,
    since: Instant,
}

/// What must be given back for a connection to be kept.
pub(super) struct Ticket {
    made: Instant,
    _turn: OwnedSemaphorePermit,
}

impl<DB: Database> Clone for Kept<DB> {
    fn clone(&self) -> Self {
        Self {
            pool: self.pool.clone(),
            resting: Arc::clone(&self.resting),
            turns: Arc::clone(&self.turns),
            health: Arc::clone(&self.health),
            runtime: self.runtime.clone(),
        }
    }
}

impl<DB: Database> Kept<DB> {
    /// `connections`: what there is room for at once. The pool has room for one more, with which it is found out whether
    /// the database is there.
    pub(super) fn new(pool: Pool<DB>, connections: u32, runtime: Handle) -> Self {
        Self {
            pool,
            resting: Arc::new(Shelf(Mutex::default())),
            turns: Arc::new(Semaphore::new(connections as usize)),
            health: Arc::default(),
            runtime,
        }
    }

    /// A connection that answers. Whoever drops it gives it to the pool, which asks it; see [`Self::keep`].
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: at once while the database is known to be gone.
    pub(super) async fn take(&self) -> Result<(PoolConnection<DB>, Ticket), StoreError> {
        self.unless_gone()?;
        let turn = tokio::time::timeout(WAIT_TIMEOUT, Arc::clone(&self.turns).acquire_owned());
        let turn = turn
            .await
            .map_err(|_| sqlx::Error::PoolTimedOut)?
            .map_err(|_| StoreError::Closed)?;
        loop {
            // Not in the condition of a `while let`, where the lock would be held across the probe.
            let rested = self.resting.0.lock().pop();
            let Some(rested) = rested else { break };
            let Resting {
                mut connection,
                made,
                since,
            } = rested;
            let is_gone = self.is_gone();
            if is_gone || since.elapsed() > PROBE_AFTER {
                let patience = if is_gone { DOUBT } else { WAIT_TIMEOUT };
                let asked = tokio::time::timeout(patience, connection.ping()).await;
                if !matches!(asked, Ok(Ok(()))) {
                    connection.close_on_drop();
                    // Nobody there: nobody waits as long again for each of the others.
                    if asked.is_err() {
                        self.close_resting();
                        self.doubt();
                    }
                    continue;
                }
            }
            return Ok((connection, Ticket { made, _turn: turn }));
        }
        self.unless_gone()?;
        // Rare, and its future is large: on the heap, so that no other piece of work carries room for it.
        let acquired = Box::pin(self.pool.acquire()).await;
        let connection = acquired.map_err(|error| {
            // Perhaps it is back by now.
            self.doubt();
            unasked(error)
        })?;
        let made = Instant::now();
        Ok((connection, Ticket { made, _turn: turn }))
    }

    /// Whether the log was told that no connection can be made.
    pub(super) fn is_gone(&self) -> bool {
        self.health.is_gone.load(Ordering::Acquire)
    }

    /// A connection that rests may still be good, whatever becomes of new ones.
    fn unless_gone(&self) -> Result<(), StoreError> {
        if self.is_gone() && self.resting.0.lock().is_empty() {
            let reason = "no connection can be made";
            return Err(StoreError::Unavailable(reason.to_owned()));
        }
        Ok(())
    }

    fn lost(&self, error: &dyn std::fmt::Display) {
        if !self.health.is_gone.swap(true, Ordering::AcqRel) {
            tracing::error!(%error, "the database is gone; what needs it is refused until it is back");
        }
    }

    /// Has one task find out whether a connection can be made, and where none can, wait until then.
    pub(super) fn doubt(&self) {
        if !self.health.is_tried.swap(true, Ordering::AcqRel) {
            let kept = self.clone();
            self.runtime.spawn(async move {
                kept.try_until_back().await;
                kept.health.is_tried.store(false, Ordering::Release);
            });
        }
    }

    async fn try_until_back(&self) {
        let mut tried = tokio::time::timeout(DOUBT, self.pool.acquire()).await;
        loop {
            match tried {
                Ok(Ok(mut connection)) => {
                    // The room in the pool is kept for the next doubt.
                    connection.close_on_drop();
                    if self.health.is_gone.swap(false, Ordering::AcqRel) {
                        tracing::info!("the database is back");
                    }
                    return;
                }
                Ok(Err(sqlx::Error::PoolClosed)) => return,
                Ok(Err(error)) => self.lost(&error),
                Err(silence) => self.lost(&silence),
            }
            tokio::time::sleep(BETWEEN_ATTEMPTS).await;
            tried = Ok(self.pool.acquire().await);
        }
    }

    /// Has the pool replace every connection that rests.
    fn close_resting(&self) {
        let resting = std::mem::take(&mut *self.resting.0.lock());
        for mut rested in resting {
            rested.connection.close_on_drop();
        }
    }

    /// Keeps a connection on which nothing is under way.
    pub(super) fn keep(&self, mut connection: PoolConnection<DB>, ticket: Ticket) {
        let Ticket { made, _turn } = ticket;
        if made.elapsed() > LIFETIME {
            connection.close_on_drop();
            return;
        }
        let since = Instant::now();
        let mut resting = self.resting.0.lock();
        if !self.turns.is_closed() {
            resting.push(Resting {
                connection,
                made,
                since,
            });
        }
    }

    /// Closes the pool once all connections are back.
    pub(super) async fn close(&self) {
        self.turns.close();
        let resting = std::mem::take(&mut *self.resting.0.lock());
        drop(resting);
        self.pool.close().await;
    }
}

/// Why there is no connection: nothing was asked on one.
fn unasked(error: sqlx::Error) -> StoreError {
    match StoreError::from(error) {
        StoreError::Lost(why) => StoreError::Unavailable(why),
        other => other,
    }
}

/// A store may be dropped when its runtime is gone, and a connection that goes back to its pool needs one.
impl<DB: Database> Drop for Shelf<DB> {
    fn drop(&mut self) {
        for rested in self.0.get_mut().drain(..) {
            drop(rested.connection.detach());
        }
    }
}
