//! Counters in the gateway's own database. On PostgreSQL requests that ask at the same time share one call of
//! `limits_take_batch`, which waits for no disk; on SQLite each is a piece of the writer's next group commit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use svc_core::limit::Rule;
use tokio::sync::oneshot;

use super::{Answer, Asked, Clock, LEASE_US, MOST_LEASED_US, Placed, judge};
use crate::engine::{Arg, Connection, args};
use crate::sweep::{SWEEP_ROWS, sweep};
use crate::{Store, StoreError};

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
    asked: Owned,
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
            let numbers = self.ask(Owned::of(asked)).await?;
            return judge(asked, &numbers);
        }
        let owned = Owned::of(asked);
        store
            .db
            .write(move |cx| Box::pin(async move { take_here(cx, owned).await }))
            .await
    }

    async fn ask(&self, asked: Owned) -> Result<Vec<i64>, StoreError> {
        let (reply, answer) = oneshot::channel();
        let is_first = {
            let mut queue = self.together.0.lock();
            queue.waiting.push(Waiting { asked, reply });
            !std::mem::replace(&mut queue.is_asking, true)
        };
        if is_first {
            let (store, together) = (self.store.clone(), Arc::clone(&self.together));
            let clock = self.clock;
            self.store
                .db
                .spawn(async move { together.run(&store, clock).await });
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
    async fn run(&self, store: &Store, clock: Clock) {
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
            let asking = take_batch(store, arguments(clock, batch.iter().map(|one| &one.asked)));
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
    column: "limits_take_batch",
};

/// What `limits_take_batch` is given for these requests, in their order; see there (migrations 0020 and 0029).
fn arguments<'a>(clock: Clock, requests: impl Iterator<Item = &'a Owned> + Clone) -> Vec<Arg> {
    let mut buckets: BTreeMap<(u8, &str), i64> = BTreeMap::new();
    for request in requests.clone() {
        for (bucket, _) in &request.takes {
            buckets.insert(rank(bucket), 0);
        }
    }
    let mut names = PgArray::default();
    for (((_, bucket), place), at) in buckets.iter_mut().zip(1..) {
        names.text(Some(bucket));
        *place = at;
    }
    let [mut places, mut limits, mut emissions] = [(); 3].map(|()| PgArray::default());
    let [mut ends, mut nows] = [(); 2].map(|()| PgArray::default());
    let [mut slot_buckets, mut slot_ids, mut slot_limits] = [(); 3].map(|()| PgArray::default());
    let mut end = 0_u32;
    for request in requests {
        for (bucket, rule) in &request.takes {
            places.number(buckets.get(&rank(bucket)).copied());
            limits.number(Some(rule.limit()));
            emissions.number(match rule {
                Rule::Rate(quota) => Some(quota.emission_us()),
                Rule::Daily(_) => None,
            });
        }
        end += u32::try_from(request.takes.len()).unwrap_or(u32::MAX);
        ends.number(Some(end));
        nows.number(match clock {
            Clock::Server => None,
            Clock::Caller => Some(request.now_us),
        });
        let place = request.place.as_ref();
        slot_buckets.text(place.map(|(_, bucket, _)| bucket.as_str()));
        slot_ids.text(place.map(|(id, ..)| id.as_str()));
        slot_limits.number(place.map(|(.., limit)| *limit));
    }
    args![
        names.finish(),
        places.finish(),
        limits.finish(),
        emissions.finish(),
        ends.finish(),
        nows.finish(),
        slot_buckets.finish(),
        slot_ids.finish(),
        slot_limits.finish(),
        LEASE_US,
    ]
}

async fn take_batch(store: &Store, arguments: Vec<Arg>) -> Result<Vec<Vec<i64>>, StoreError> {
    let answer = store
        .db
        .write_alone(|cx| {
            Box::pin(async move {
                let sql = "SELECT limits_take_batch($1::TEXT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], \
                           $5::BIGINT[], $6::BIGINT[], $7::TEXT[], $8::TEXT[], $9::BIGINT[], $10) AS answer";
                let row = cx.row(sql, arguments).await?;
                row.ok_or(StoreError::Missing("answer of limits_take_batch"))?
                    .get::<String>("answer")
            })
        })
        .await?;
    serde_json::from_str(&answer).map_err(|_| CORRUPT)
}

/// Where a bucket stands in the order in which all callers lock them, those of the version before too: the key, its
/// organization, the day; or the organization, the day, an agent's credential.
fn rank(bucket: &str) -> (u8, &str) {
    let rank = match bucket {
        _ if bucket.starts_with("key:agc_") => 3,
        _ if bucket.starts_with("day:") => 2,
        _ if bucket.starts_with("org:") => 1,
        _ => 0,
    };
    (rank, bucket)
}

/// An array as PostgreSQL reads it: `{1,NULL}`, `{"a"}`.
#[derive(Default)]
struct PgArray(String);

impl PgArray {
    fn number(&mut self, number: Option<impl Into<i64>>) {
        self.item(number.map(|number| number.into().to_string()));
    }

    fn text(&mut self, text: Option<&str>) {
        let quoted = text.map(|text| {
            let escaped = text.replace('\\', r"\\").replace('"', r#"\""#);
            format!(r#""{escaped}""#)
        });
        self.item(quoted);
    }

    fn item(&mut self, item: Option<String>) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(item.as_deref().unwrap_or("NULL"));
    }

    fn finish(self) -> String {
        if self.0.is_empty() {
            "{}".to_owned()
        } else {
            self.0 + "}"
        }
    }
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
        let sql = "UPDATE limit_slots SET lease_until = $2 WHERE bucket = $1 AND lease_until > $3";
        let arguments = args![&bucket, now_us + LEASE_US, now_us + MOST_LEASED_US];
        cx.execute(sql, arguments).await?;
        let sql = "DELETE FROM limit_slots WHERE bucket = $1 AND lease_until <= $2";
        cx.execute(sql, args![&bucket, now_us]).await?;
        let sql = "SELECT COUNT(*) AS found FROM limit_slots WHERE bucket = $1";
        let in_flight: u32 = cx.count(sql, args![&bucket]).await?;
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
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                let now_us = clock.now_us(cx, now_us).await?;
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
        sweep!(
            "rate_limits",
            "bucket",
            "idle_from <= $1",
            "LIMIT $2 FOR UPDATE SKIP LOCKED"
        )
    } else {
        sweep!("rate_limits", "bucket", "idle_from <= $1", "LIMIT $2")
    };
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                let buckets = cx.execute(buckets, args![now_us, SWEEP_ROWS]).await?;
                let sql = sweep!("limit_slots", "id", "lease_until <= $1", "LIMIT $2");
                let places = cx.execute(sql, args![now_us, SWEEP_ROWS]).await?;
                Ok(buckets + places)
            })
        })
        .await
}
