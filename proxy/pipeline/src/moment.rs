//! The one clock and the one source of identifiers. Everything else takes time and ids from here.

use std::time::{SystemTime, UNIX_EPOCH};

use rand::RngExt;
use svc_core::id::IdKind;
use svc_core::time::Timestamp;

/// Milliseconds of the wall clock.
pub fn now() -> Timestamp {
    Timestamp(i64::try_from(since_epoch().as_millis()).unwrap_or(i64::MAX))
}

/// Microseconds of the wall clock, for rate limits.
pub fn now_us() -> i64 {
    i64::try_from(since_epoch().as_micros()).unwrap_or(i64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "this is the one clock")]
fn since_epoch() -> std::time::Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// A fresh identifier.
pub fn id(kind: IdKind) -> String {
    kind.make(now(), rand::rng().random())
}
