//! The one clock and the one source of identifiers. Everything else takes time and ids from here.

use std::cell::Cell;
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

thread_local! {
    /// Millisecond and random part of the last identifier of an audit row.
    static LAST_ROW: Cell<(i64, u128)> = const { Cell::new((0, 0)) };
}

/// A fresh identifier of an audit row. Of two rows that one thread makes in one millisecond the second has the larger
/// one: the intent of a request that is refused at once stands before its end in every list.
pub fn audit_id() -> String {
    let at = now();
    let (last_at, last) = LAST_ROW.get();
    let random = if at.0 == last_at {
        last.wrapping_add(1)
    } else {
        rand::rng().random()
    };
    LAST_ROW.set((at.0, random));
    IdKind::Audit.make(at, random)
}

/// A fresh identifier.
pub fn id(kind: IdKind) -> String {
    kind.make(now(), rand::rng().random())
}
