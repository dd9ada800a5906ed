//! Where rate limits are counted (contract 6): in this process, in the gateway's own database, or in a Redis or Valkey
//! server. All three hold one cell per bucket and one place per request in flight, and pass the same vectors; only
//! places that outlive a process have a lease.
//!
//! A request asks once for everything that it has to pass: one round trip, and nothing behind the first bucket that
//! denies is touched. What a cell means is [`svc_core::limit`]; who asks for what, and what happens while a shared
//! counter is down, is not known here.

mod database;
mod memory;
mod redis;

use svc_core::limit::{Rule, Verdict};

use crate::clock::Clock;
use crate::{Store, StoreError};
pub use memory::Memory;

/// Most buckets of one request: key or agent, organization per minute, organization per day; and one to spare.
pub const MAX_TAKES: usize = 4;
/// 5 min: how long a place in shared counters counts whose replica was lost (contract 6).
pub const LEASE_MS: i64 = 300_000;

const LEASE_US: i64 = LEASE_MS * svc_core::limit::US_PER_MS;
/// A lease that lasts for longer was taken by a clock that has been set back since, and is cut to its length: whoever
/// holds the place extends it in time.
const MOST_LEASED_US: i64 = 2 * LEASE_US;

/// One request out of one bucket. Names hold ids and prefixes, never content.
#[derive(Clone, Copy, Debug)]
pub struct Take<'a> {
    pub bucket: &'a str,
    pub rule: Rule,
}

/// A place among the requests in flight that share a bucket.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Unique for ever: the one whose place it is.
    pub id: &'a str,
    pub bucket: &'a str,
    pub limit: u32,
}

/// Everything that one request has to pass, in this order: at most [`MAX_TAKES`], then the place.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Taken from in this order, until one denies.
    pub takes: &'a [Take<'a>],
    pub place: Option<Place<'a>>,
    /// The caller's time in microseconds, for counters that go by it ([`Clock`]).
    pub now_us: i64,
}

/// What became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// In the order of the takes; none behind the first that denied.
    pub verdicts: [Option<Verdict>; MAX_TAKES],
    /// Where a place was asked for and reached.
    pub place: Option<Placed>,
}

/// What became of the wish for a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// To be given back with [`Counters::release`].
    Taken,
    /// So many are in flight.
    Full(u32),
}

impl Placed {
    fn of(in_flight: u32, limit: u32) -> Self {
        if in_flight < limit {
            Self::Taken
        } else {
            Self::Full(in_flight)
        }
    }
}

/// Counters that outlive a replica, and that others may share.
pub enum Counters {
    Database(database::Database),
    Redis(Box<redis::Server>, Clock),
}

impl Counters {
    /// The gateway's own database.
    pub fn database(store: Store) -> Self {
        Self::Database(database::Database::new(store, Clock::Server))
    }

    /// A Redis or Valkey server at `redis://[user][:password@]host[:port][/number]`, or `rediss://` for TLS. Connects
    /// when it is first used, on the runtime that this is called on.
    ///
    /// # Errors
    /// [`StoreError::Address`].
    pub fn redis(url: &str) -> Result<Self, StoreError> {
        let server = Box::new(redis::Server::new(url)?);
        Ok(Self::Redis(server, Clock::Server))
    }

    /// The same counters with another clock; that of the caller is [`Asked::now_us`].
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        match self {
            Self::Database(database) => Self::Database(database.with_clock(clock)),
            Self::Redis(server, _) => Self::Redis(server, clock),
        }
    }

    /// Takes one request out of every bucket and then a place, up to the first that denies.
    ///
    /// # Errors
    /// Those of the database or server. Nothing is known then; a place that was taken all the same is released like any
    /// other.
    pub async fn take(&self, asked: &Asked<'_>) -> Result<Answer, StoreError> {
        match self {
            Self::Database(database) => database.take(asked).await,
            Self::Redis(server, clock) => server.take(*clock, asked).await,
        }
    }

    /// Gives a place back. One that is gone already is no error.
    ///
    /// # Errors
    /// Those of the database or server; the place ends with its lease.
    pub async fn release(&self, bucket: &str, id: &str) -> Result<(), StoreError> {
        match self {
            Self::Database(database) => database.release(id).await,
            Self::Redis(server, _) => server.release(bucket, id).await,
        }
    }

    /// Extends the leases of these places (bucket and id) to [`LEASE_MS`] from now.
    ///
    /// # Errors
    /// Those of the database or server.
    pub async fn renew(&self, places: &[(String, String)], now_us: i64) -> Result<(), StoreError> {
        match self {
            Self::Database(database) => database.renew(places, now_us).await,
            Self::Redis(server, clock) => server.renew(*clock, places, now_us).await,
        }
    }

    /// Removes what is as good as none; gives how many rows. A Redis server does so by itself.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn sweep(&self, now_us: i64) -> Result<u64, StoreError> {
        match self {
            Self::Database(database) => database.sweep(now_us).await,
            Self::Redis(..) => Ok(0),
        }
    }

    /// Whether it answers.
    ///
    /// # Errors
    /// What keeps it from answering.
    pub async fn ping(&self) -> Result<(), StoreError> {
        match self {
            Self::Database(database) => database.ping().await,
            Self::Redis(server, _) => server.ping().await,
        }
    }
}

/// Reads the answer of a shared counter: requests in flight or -1, then time and cell of each bucket that was reached.
/// What the caller is told is computed here, by the one function that knows how.
fn judge(asked: &Asked<'_>, numbers: &[i64]) -> Result<Answer, StoreError> {
    let corrupt = || StoreError::Corrupt {
        column: "limits_take_batch",
    };
    let (in_flight, cells) = numbers.split_first().ok_or_else(corrupt)?;
    let mut answer = Answer::default();
    let (pairs, _) = cells.as_chunks::<2>();
    for ((verdict, take), [now_us, cell]) in answer.verdicts.iter_mut().zip(asked.takes).zip(pairs)
    {
        *verdict = Some(take.rule.take(*cell, *now_us).verdict);
    }
    if let (Some(place), Ok(in_flight)) = (asked.place, u32::try_from(*in_flight)) {
        answer.place = Some(Placed::of(in_flight, place.limit));
    }
    Ok(answer)
}
