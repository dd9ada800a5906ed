//! Replicas: the running gateways and how long each is taken to be alive. Holds and open intents of a replica
//! whose lease has ended are closed by [`crate::recovery`].

use svc_core::time::Timestamp;

use crate::engine::args;
use crate::{Store, StoreError};

/// Enters a replica, or extends its lease. Call it before the first request and at least three times per lease.
///
/// # Errors
/// Those of the database.
pub async fn heartbeat(
    store: &Store,
    replica_id: &str,
    now: Timestamp,
    lease_until: Timestamp,
) -> Result<(), StoreError> {
    let arguments = args![replica_id, now, lease_until];
    store
        .db
        .write(|cx| {
            Box::pin(async move {
                let sql = "INSERT INTO replicas (id, started_at, lease_until) VALUES ($1, $2, $3) \
                           ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until";
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

/// How many replicas are alive at `now`, at least 1: the divisor of rate limits while the store is down.
///
/// # Errors
/// Those of the database.
pub async fn count_alive(store: &Store, now: Timestamp) -> Result<u64, StoreError> {
    let arguments = args![now];
    store
        .db
        .read(|cx| {
            Box::pin(async move {
                let sql = "SELECT COUNT(*) AS alive FROM replicas WHERE lease_until > $1";
                let row = cx.row(sql, arguments).await?;
                let alive: u64 = row.map_or(Ok(0), |row| row.get("alive"))?;
                Ok(alive.max(1))
            })
        })
        .await
}
