//! Connections that are kept between pieces of work. sqlx's pool asks every connection that comes back whether it still
//! answers, which is a trip to the server (or to the reader's thread) for each piece of work; here a connection is
//! asked only after it has rested, or when its work went wrong.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use sqlx::pool::PoolConnection;
use sqlx::{Connection, Database, Pool};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::WAIT_TIMEOUT;
use crate::error::StoreError;

/// 5 s: a connection is probed only when it has rested longer.
const PROBE_AFTER: Duration = Duration::from_secs(5);
/// 30 min, as sqlx has it: a connection that is older is made anew, so that what the server has changed comes to hold.
const LIFETIME: Duration = Duration::from_secs(30 * 60);

/// A pool and those of its connections that rest.
pub(super) struct Kept<DB: Database> {
    pool: Pool<DB>,
    resting: Arc<Shelf<DB>>,
    turns: Arc<Semaphore>,
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
        }
    }
}

impl<DB: Database> Kept<DB> {
    /// `connections`: what the pool has at most.
    pub(super) fn new(pool: Pool<DB>, connections: u32) -> Self {
        Self {
            pool,
            resting: Arc::new(Shelf(Mutex::default())),
            turns: Arc::new(Semaphore::new(connections as usize)),
        }
    }

    /// A connection that answers. Whoever drops it gives it to the pool, which asks it; see [`Self::keep`].
    pub(super) async fn take(&self) -> Result<(PoolConnection<DB>, Ticket), StoreError> {
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
            if since.elapsed() > PROBE_AFTER {
                let asked = tokio::time::timeout(WAIT_TIMEOUT, connection.ping()).await;
                if !matches!(asked, Ok(Ok(()))) {
                    connection.close_on_drop();
                    // Nobody there: nobody waits as long again for each of the others.
                    if asked.is_err() {
                        self.close_resting();
                    }
                    continue;
                }
            }
            return Ok((connection, Ticket { made, _turn: turn }));
        }
        // Rare, and its future is large: on the heap, so that no other piece of work carries room for it.
        let connection = Box::pin(self.pool.acquire()).await?;
        let made = Instant::now();
        Ok((connection, Ticket { made, _turn: turn }))
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

/// A store may be dropped when its runtime is gone, and a connection that goes back to its pool needs one.
impl<DB: Database> Drop for Shelf<DB> {
    fn drop(&mut self) {
        for rested in self.0.get_mut().drain(..) {
            drop(rested.connection.detach());
        }
    }
}
