//! Counters in the gateway's own database. On PostgreSQL a request is one call of `limits_take`, which waits for no
//! disk; on SQLite it is a piece of the writer's next group commit.

use serde_json::json;
use svc_core::limit::Rule;

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

pub(super) async fn take(
    store: &Store,
    clock: Clock,
    asked: &Asked<'_>,
) -> Result<Answer, StoreError> {
    if !store.db.is_postgres() {
        let owned = Owned::of(asked);
        return store
            .db
            .write(move |cx| Box::pin(async move { take_here(cx, owned).await }))
            .await;
    }
    let given_us = match clock {
        Clock::Server => None,
        Clock::Caller => Some(asked.now_us),
    };
    let arguments = args![as_json(asked), given_us];
    let answer = store
        .db
        .write_alone(|cx| {
            Box::pin(async move {
                let sql = "SELECT limits_take($1, $2) AS answer";
                let row = cx.row(sql, arguments).await?;
                row.ok_or(StoreError::Missing("answer of limits_take"))?
                    .get::<String>("answer")
            })
        })
        .await?;
    let numbers: Vec<i64> = serde_json::from_str(&answer).map_err(|_| StoreError::Corrupt {
        column: "limits_take",
    })?;
    judge(asked, &numbers)
}

fn as_json(asked: &Asked<'_>) -> String {
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
    json!({"takes": takes, "slot": place}).to_string()
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

pub(super) async fn release(store: &Store, id: &str) -> Result<(), StoreError> {
    let arguments = args![id];
    store
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

pub(super) async fn sweep(store: &Store, now_us: i64) -> Result<u64, StoreError> {
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                let sql = "DELETE FROM rate_limits WHERE idle_from <= $1 AND bucket IN \
                           (SELECT bucket FROM rate_limits WHERE idle_from <= $1 LIMIT $2)";
                let buckets = cx.execute(sql, args![now_us, SWEEP_ROWS]).await?;
                let sql = "DELETE FROM limit_slots WHERE lease_until <= $1 AND id IN \
                           (SELECT id FROM limit_slots WHERE lease_until <= $1 LIMIT $2)";
                let places = cx.execute(sql, args![now_us, SWEEP_ROWS]).await?;
                Ok(buckets + places)
            })
        })
        .await
}
