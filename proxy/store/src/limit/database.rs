//! Counters in the gateway's own database. On PostgreSQL requests that ask at the same time share one call of
//! `limits_take_all`, which waits for no disk; on SQLite each is a piece of the writer's next group commit.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;
use svc_core::limit::Rule;
use tokio::sync::oneshot;

use super::{Answer, Asked, Clock, LEASE_US, Place, Placed, judge};
use crate::engine::{Connection, args};
use crate::{Store, StoreError};

/// Rows that one [`sweep`] removes of each table, so that it never holds the writer for long.
const SWEEP_ROWS: u32 = 1_000;

/// An [`Asked`] that may leave its caller.
struct Owned {
    takes: Vec<(String, Rule)>,
    place: Option<(String, String, u32)>,
    now_us: i64,
}

/// Counters of one database.
pub struct Database {
    store: Store,
    clock: Clock,
    together: Arc<Together>,
}

/// Requests that wait for the call after the one that is on its way. One call at a time: what it would gain to have two
/// is less than what they would wait for each other's rows.
#[derive(Default)]
struct Together(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    is_asking: bool,
}

struct Waiting {
    /// One element of what `limits_take_all` takes.
    asked: String,
    reply: oneshot::Sender<Result<Vec<i64>, StoreError>>,
}

/// Requests of one call: it must stay far below every deadline.
const MOST_TOGETHER: usize = 64;

/// 2 s: as long as callers wait (`pipeline::limiter`); what takes longer must not hold up those that come after.
const PATIENCE: Duration = Duration::from_secs(2);

impl Database {
    pub(super) fn new(store: Store, clock: Clock) -> Self {
        Self {
            store,
            clock,
            together: Arc::default(),
        }
    }

    pub(super) fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    pub(super) async fn take(&self, asked: &Asked<'_>) -> Result<Answer, StoreError> {
        let store = &self.store;
        if store.db.is_postgres() {
            let numbers = self.ask(as_json(asked, self.clock)).await?;
            return judge(asked, &numbers);
        }
        let owned = Owned::of(asked);
        store
            .db
            .write(move |cx| Box::pin(async move { take_here(cx, owned).await }))
            .await
    }

    async fn ask(&self, asked: String) -> Result<Vec<i64>, StoreError> {
        let (reply, answer) = oneshot::channel();
        let is_first = {
            let mut queue = self.together.0.lock();
            queue.waiting.push(Waiting { asked, reply });
            !std::mem::replace(&mut queue.is_asking, true)
        };
        if is_first {
            let (store, together) = (self.store.clone(), Arc::clone(&self.together));
            self.store
                .db
                .spawn(async move { together.run(&store).await });
        }
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(super) async fn release(&self, id: &str) -> Result<(), StoreError> {
        let arguments = args![id];
        self.store
            .db
            .write_alone(|cx| {
                Box::pin(async move {
                    let sql = "DELETE FROM limit_slots WHERE id = $1";
                    cx.execute(sql, arguments).await.map(drop)
                })
            })
            .await
    }

    pub(super) async fn renew(
        &self,
        places: &[(String, String)],
        now_us: i64,
    ) -> Result<(), StoreError> {
        renew(&self.store, self.clock, places, now_us).await
    }

    pub(super) async fn sweep(&self, now_us: i64) -> Result<u64, StoreError> {
        sweep(&self.store, now_us).await
    }

    pub(super) async fn ping(&self) -> Result<(), StoreError> {
        self.store.ping().await
    }
}

impl Together {
    /// One call after the other, until nobody waits.
    async fn run(&self, store: &Store) {
        loop {
            let batch: Vec<Waiting> = {
                let mut queue = self.0.lock();
                // Whoever has given up has counted elsewhere.
                queue.waiting.retain(|one| !one.reply.is_closed());
                let count = queue.waiting.len().min(MOST_TOGETHER);
                queue.is_asking = count > 0;
                queue.waiting.drain(..count).collect()
            };
            if batch.is_empty() {
                return;
            }
            let asked: Vec<&str> = batch.iter().map(|one| one.asked.as_str()).collect();
            let asking = take_all(store, format!("[{}]", asked.join(",")));
            let answered = tokio::time::timeout(PATIENCE, asking).await;
            let answered = answered.unwrap_or(Err(StoreError::TimedOut));
            match answered {
                Ok(answers) if answers.len() == batch.len() => {
                    for (waiting, answer) in batch.into_iter().zip(answers) {
                        // A caller that has gone away needs no answer.
                        waiting.reply.send(Ok(answer)).ok();
                    }
                }
                answered => {
                    let error = answered.err().unwrap_or(CORRUPT);
                    for waiting in batch {
                        waiting.reply.send(Err(error.clone())).ok();
                    }
                }
            }
        }
    }
}

const CORRUPT: StoreError = StoreError::Corrupt {
    column: "limits_take_all",
};

async fn take_all(store: &Store, asked: String) -> Result<Vec<Vec<i64>>, StoreError> {
    let arguments = args![asked];
    let answer = store
        .db
        .write_alone(|cx| {
            Box::pin(async move {
                let sql = "SELECT limits_take_all($1) AS answer";
                let row = cx.row(sql, arguments).await?;
                row.ok_or(StoreError::Missing("answer of limits_take_all"))?
                    .get::<String>("answer")
            })
        })
        .await?;
    serde_json::from_str(&answer).map_err(|_| CORRUPT)
}

fn as_json(asked: &Asked<'_>, clock: Clock) -> String {
    let takes: Vec<_> = asked
        .takes
        .iter()
        .map(|take| {
            let emission_us = match take.rule {
                Rule::Rate(quota) => Some(quota.emission_us()),
                Rule::Daily(_) => None,
            };
            json!({"bucket": take.bucket, "limit": take.rule.limit(), "emission_us": emission_us})
        })
        .collect();
    let place = asked.place.map(|Place { id, bucket, limit }| {
        json!({"id": id, "bucket": bucket, "limit": limit, "lease_us": LEASE_US})
    });
    let now_us = match clock {
        Clock::Server => None,
        Clock::Caller => Some(asked.now_us),
    };
    json!({"takes": takes, "slot": place, "now_us": now_us}).to_string()
}

impl Owned {
    fn of(asked: &Asked<'_>) -> Self {
        let takes = asked.takes.iter();
        let place = asked.place;
        Self {
            takes: takes
                .map(|take| (take.bucket.to_owned(), take.rule))
                .collect(),
            place: place.map(|place| (place.id.to_owned(), place.bucket.to_owned(), place.limit)),
            now_us: asked.now_us,
        }
    }
}

/// On the one writer, where nobody is between reading a cell and writing it.
async fn take_here(cx: &mut Connection, owned: Owned) -> Result<Answer, StoreError> {
    let Owned {
        takes,
        place,
        now_us,
    } = owned;
    let mut answer = Answer::default();
    for (verdict, (bucket, rule)) in answer.verdicts.iter_mut().zip(takes) {
        let sql = "SELECT cell FROM rate_limits WHERE bucket = $1";
        let row = cx.row(sql, args![&bucket]).await?;
        let cell = row.map_or(Ok(0), |row| row.get("cell"))?;
        let taken = rule.take(cell, now_us);
        *verdict = Some(taken.verdict);
        if !taken.verdict.allowed {
            return Ok(answer);
        }
        let sql = "INSERT INTO rate_limits (bucket, cell, idle_from) VALUES ($1, $2, $3) \
                   ON CONFLICT (bucket) DO UPDATE SET cell = excluded.cell, idle_from = excluded.idle_from";
        cx.execute(
            sql,
            args![bucket, taken.cell, rule.idle_from_us(taken.cell)],
        )
        .await?;
    }
    if let Some((id, bucket, limit)) = place {
        let sql = "DELETE FROM limit_slots WHERE bucket = $1 AND lease_until <= $2";
        cx.execute(sql, args![&bucket, now_us]).await?;
        let sql = "SELECT COUNT(*) AS in_flight FROM limit_slots WHERE bucket = $1";
        let row = cx.row(sql, args![&bucket]).await?;
        let in_flight: u32 = row.map_or(Ok(0), |row| row.get("in_flight"))?;
        let placed = Placed::of(in_flight, limit);
        if placed == Placed::Taken {
            let sql = "INSERT INTO limit_slots (id, bucket, lease_until) VALUES ($1, $2, $3)";
            cx.execute(sql, args![id, bucket, now_us + LEASE_US])
                .await?;
        }
        answer.place = Some(placed);
    }
    Ok(answer)
}

async fn renew(
    store: &Store,
    clock: Clock,
    places: &[(String, String)],
    now_us: i64,
) -> Result<(), StoreError> {
    let ids: Vec<String> = places.iter().map(|(_, id)| id.clone()).collect();
    let by_server = clock == Clock::Server && store.db.is_postgres();
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                let now_us = if by_server {
                    let sql = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT AS now_us";
                    let row = cx.row(sql, args![]).await?;
                    row.ok_or(StoreError::Missing("time"))?.get("now_us")?
                } else {
                    now_us
                };
                for id in ids {
                    let sql = "UPDATE limit_slots SET lease_until = $2 WHERE id = $1";
                    cx.execute(sql, args![id, now_us + LEASE_US]).await?;
                }
                Ok(())
            })
        })
        .await
}

async fn sweep(store: &Store, now_us: i64) -> Result<u64, StoreError> {
    // Rows that a request has locked are not idle, whatever they say.
    let buckets = if store.db.is_postgres() {
        "DELETE FROM rate_limits WHERE idle_from <= $1 AND bucket IN \
         (SELECT bucket FROM rate_limits WHERE idle_from <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)"
    } else {
        "DELETE FROM rate_limits WHERE idle_from <= $1 AND bucket IN \
         (SELECT bucket FROM rate_limits WHERE idle_from <= $1 LIMIT $2)"
    };
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                let buckets = cx.execute(buckets, args![now_us, SWEEP_ROWS]).await?;
                let sql = "DELETE FROM limit_slots WHERE lease_until <= $1 AND id IN \
                           (SELECT id FROM limit_slots WHERE lease_until <= $1 LIMIT $2)";
                let places = cx.execute(sql, args![now_us, SWEEP_ROWS]).await?;
                Ok(buckets + places)
            })
        })
        .await
}
