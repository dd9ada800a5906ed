//! Whose time counts for what several machines hold against each other: leases of replicas, rate limits. Their clocks
//! disagree; the server's is one for all of them. An SQLite file is of one machine, whose time its callers bring along.

use svc_core::limit::US_PER_MS;
use svc_core::time::Timestamp;

use crate::StoreError;
use crate::engine::{Connection, args};

/// Whose time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// That of the server, where there is one: clocks that disagree cost nobody a request or a lease.
    Server,
    /// That of the argument.
    Caller,
}

impl Clock {
    /// The time of this moment in microseconds; `now_us` where it is not for the server to say.
    pub(crate) async fn now_us(self, cx: &mut Connection, now_us: i64) -> Result<i64, StoreError> {
        let by_server = self == Self::Server && matches!(cx, Connection::Postgres(_));
        if !by_server {
            return Ok(now_us);
        }
        let sql = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT AS now_us";
        let row = cx.row(sql, args![]).await?;
        row.ok_or(StoreError::Missing("time"))?.get("now_us")
    }

    /// As [`Self::now_us`], in milliseconds.
    pub(crate) async fn now(
        self,
        cx: &mut Connection,
        now: Timestamp,
    ) -> Result<Timestamp, StoreError> {
        let now_us = self.now_us(cx, now.0.saturating_mul(US_PER_MS)).await?;
        Ok(Timestamp(now_us.div_euclid(US_PER_MS)))
    }
}
