//! Replicas: the running gateways and how long each is taken to be alive. Holds and open intents of a replica
//! whose lease has ended are closed by [`crate::recovery`]. Machines whose clocks disagree agree on who is alive: the
//! leases go by one clock ([`Clock::Server`]).

use svc_core::time::Timestamp;

use crate::clock::Clock;
use crate::engine::{Connection, args};
use crate::{Store, StoreError};

/// Cuts to `$1` what stands further ahead than `$2` and is not `$3`'s.
macro_rules! far_ahead {
    ($locking:literal) => {
        concat!(
            "UPDATE replicas SET lease_until = $1 WHERE id IN \
             (SELECT id FROM replicas WHERE lease_until > $2 AND id <> $3",
            $locking,
            ")"
        )
    };
}

/// Enters a replica, or extends its lease to `lease_ms` from now. Call it before the first request and at least three
/// times per lease.
///
/// A lease of another replica that stands further ahead than leases can, by a clock that has been set back since, is cut
/// to the same length: whoever is dead is found dead in time, and whoever is alive extends it in time.
///
/// # Errors
/// Those of the database.
pub async fn heartbeat(
    store: &Store,
    replica_id: &str,
    (clock, now): (Clock, Timestamp),
    lease_ms: i64,
) -> Result<(), StoreError> {
    let replica_id = replica_id.to_owned();
    store
        .db
        .write(move |cx| {
            Box::pin(async move {
                let now = clock.now(cx, now).await?;
                let sql = "INSERT INTO replicas (id, started_at, lease_until) VALUES ($1, $2, $3) \
                           ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until";
                let arguments = args![&replica_id, now, now.plus_ms(lease_ms)];
                cx.execute(sql, arguments).await?;
                // Those that are being extended meanwhile need it no more; to wait for them could be to wait for each
                // other.
                let sql = match cx {
                    Connection::Postgres(_) => far_ahead!(" FOR NO KEY UPDATE SKIP LOCKED"),
                    Connection::Sqlite(_) | Connection::Writer(_) => far_ahead!(""),
                };
                // Twice the length: machines whose clocks differ by less leave each other's leases alone.
                let arguments = args![
                    now.plus_ms(lease_ms),
                    now.plus_ms(lease_ms.saturating_mul(2)),
                    replica_id
                ];
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await
}

/// Ends a lease at once. What the replica left open may be recovered from now on.
///
/// # Errors
/// Those of the database.
pub async fn leave(store: &Store, replica_id: &str) -> Result<(), StoreError> {
    let arguments = args![replica_id];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "DELETE FROM replicas WHERE id = $1";
                cx.execute(sql, arguments).await.map(drop)
            })
        })
        .await
}

/// How many replicas are alive now, at least 1: the divisor of rate limits while the store is down.
///
/// # Errors
/// Those of the database.
pub async fn count_alive(
    store: &Store,
    (clock, now): (Clock, Timestamp),
) -> Result<u64, StoreError> {
    store
        .db
        .read(move |cx| {
            Box::pin(async move {
                let now = clock.now(cx, now).await?;
                let sql = "SELECT COUNT(*) AS found FROM replicas WHERE lease_until > $1";
                let alive: u64 = cx.count(sql, args![now]).await?;
                Ok(alive.max(1))
            })
        })
        .await
}
