//! Computing time of a guest call.
//!
//! Only the processor time of the thread counts, and only while it polls the guest's future: neither what others do
//! between two polls nor a busy machine that takes the processor away is the guest's doing. That clock is a system
//! call, so a call's first poll, which ends with the first tick of the epoch and nearly always with the answer, is
//! not timed.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::ticker::Ticker;

/// The clock of one store, shared between the caller's side and the epoch callback. Both run on the thread that
/// polls; the atomics are there for `Sync` alone.
pub(crate) struct Budget {
    ticker: Arc<Ticker>,
    limit_ns: AtomicU64,
    spent_ns: AtomicU64,
    /// [`UNTIMED`] in the first poll of a call.
    resumed_ns: AtomicU64,
}

const UNTIMED: u64 = u64::MAX;

impl Budget {
    pub(crate) fn new(ticker: Arc<Ticker>) -> Self {
        Self {
            ticker,
            limit_ns: AtomicU64::new(0),
            spent_ns: AtomicU64::new(0),
            resumed_ns: AtomicU64::new(0),
        }
    }

    /// Runs one guest call under a limit. The call is on the heap: every caller above would move it along.
    pub(crate) fn within<'a, F: Future + 'a>(
        &'a self,
        limit: Duration,
        call: F,
    ) -> impl Future<Output = F::Output> + use<'a, F> {
        let mut call = Box::pin(call);
        let mut first = true;
        poll_fn(move |cx| {
            if std::mem::take(&mut first) {
                self.limit_ns.store(nanoseconds(limit), Ordering::Relaxed);
                self.spent_ns.store(0, Ordering::Relaxed);
                self.resumed_ns.store(UNTIMED, Ordering::Relaxed);
            } else {
                self.resumed_ns.store(thread_ns(), Ordering::Relaxed);
            }
            self.ticker.attend();
            let poll: Poll<F::Output> = call.as_mut().poll(cx);
            self.spent_ns
                .fetch_add(self.running_ns(), Ordering::Relaxed);
            poll
        })
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
        match self.resumed_ns.load(Ordering::Relaxed) {
            UNTIMED => 0,
            resumed_ns => thread_ns().saturating_sub(resumed_ns),
        }
    }
}

/// Processor time of this thread. A poll never moves to another one half-way.
fn thread_ns() -> u64 {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(spent.tv_sec).unwrap_or_default();
    let rest = u64::try_from(spent.tv_nsec).unwrap_or_default();
    seconds.saturating_mul(NS_PER_SECOND).saturating_add(rest)
}

const NS_PER_SECOND: u64 = 1_000_000_000;

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
