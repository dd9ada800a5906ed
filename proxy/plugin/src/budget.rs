//! Computing time of a guest call.
//!
//! Only the time in which the guest's future is being polled counts: a guest that yields its thread every tick is
//! not charged for what others do meanwhile.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

/// The clock of one store, shared between the caller's side and the epoch callback. Both run on the thread that
/// polls; the atomics are there for `Sync` alone.
pub(crate) struct Budget {
    origin: Instant,
    limit_ns: AtomicU64,
    spent_ns: AtomicU64,
    resumed_ns: AtomicU64,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self {
            origin: Instant::now(),
            limit_ns: AtomicU64::new(0),
            spent_ns: AtomicU64::new(0),
            resumed_ns: AtomicU64::new(0),
        }
    }

    /// Runs one guest call under a limit.
    pub(crate) async fn within<F: Future>(&self, limit: Duration, call: F) -> F::Output {
        self.limit_ns.store(nanoseconds(limit), Ordering::Relaxed);
        self.spent_ns.store(0, Ordering::Relaxed);
        let mut call = pin!(call);
        poll_fn(|cx| {
            self.resumed_ns.store(self.now_ns(), Ordering::Relaxed);
            let poll: Poll<F::Output> = call.as_mut().poll(cx);
            self.spent_ns
                .fetch_add(self.running_ns(), Ordering::Relaxed);
            poll
        })
        .await
    }

    /// Whether the running call has used up its limit.
    pub(crate) fn is_spent(&self) -> bool {
        let spent_ns = self
            .spent_ns
            .load(Ordering::Relaxed)
            .saturating_add(self.running_ns());
        spent_ns >= self.limit_ns.load(Ordering::Relaxed)
    }

    fn running_ns(&self) -> u64 {
        self.now_ns()
            .saturating_sub(self.resumed_ns.load(Ordering::Relaxed))
    }

    fn now_ns(&self) -> u64 {
        nanoseconds(self.origin.elapsed())
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
