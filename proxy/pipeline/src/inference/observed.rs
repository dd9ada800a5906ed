//! What real traffic says about a provider: requests, failures and latencies of the last five minutes, in this
//! process. Nothing is probed, and nothing of what a provider said is kept.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use svc_core::fault::{Code, Fault};
use svc_core::time::Timestamp;

use super::breaker::Health;
use crate::moment;

/// Contract 18.
pub const WINDOW: Duration = Duration::from_secs(300);
const SLOT: Duration = Duration::from_secs(10);
const SLOTS: usize = 30;
/// Latencies are told apart by a fourth of a doubling, from 1 ms to more than the longest run.
const STEPS_PER_DOUBLING: f64 = 4.0;
const STEPS: usize = 84;

/// One provider, as its calls went.
pub struct Observed {
    started: Instant,
    inner: Mutex<Inner>,
}

struct Inner {
    slots: [Slot; SLOTS],
    last_success_at: Option<Timestamp>,
    last_error: Option<(Code, Timestamp)>,
}

/// What happened within one slot of time.
#[derive(Clone, Copy)]
struct Slot {
    /// Which one it is, counted from the start; older content is void.
    number: u64,
    requests: u32,
    failures: u32,
    latencies: [u32; STEPS],
}

const EMPTY: Slot = Slot {
    number: 0,
    requests: 0,
    failures: 0,
    latencies: [0; STEPS],
};

/// The window, summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    pub requests: u64,
    /// Those that got no answer because of the provider, and those that broke off; at most `requests`.
    pub failures: u64,
    /// Until the first events; `None` without any.
    pub p50_ms: Option<u64>,
    /// As the median.
    pub p95_ms: Option<u64>,
    /// However long ago, while this process runs.
    pub last_success_at: Option<Timestamp>,
    pub last_error: Option<(Code, Timestamp)>,
}

impl Default for Observed {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            inner: Mutex::new(Inner {
                slots: [EMPTY; SLOTS],
                last_success_at: None,
                last_error: None,
            }),
        }
    }
}

impl Observed {
    /// A call that has been answered, or was not.
    pub(super) fn attempt(
        &self,
        health: Health,
        fault: Option<&Fault>,
        took: Duration,
        now: Instant,
    ) {
        let mut inner = self.inner.lock();
        match health {
            Health::Unknown => return,
            Health::Sound | Health::Answering => inner.last_success_at = Some(moment::now()),
            Health::Refusing | Health::Failing => {
                inner.last_error = fault.map(|fault| (fault.code, moment::now()));
            }
        }
        let slot = inner.slot(self.number(now));
        slot.requests = slot.requests.saturating_add(1);
        if health.is_failure() {
            slot.failures = slot.failures.saturating_add(1);
        } else if let Some(count) = slot.latencies.get_mut(step(took)) {
            *count = count.saturating_add(1);
        }
    }

    /// A call that had been answered and broke off later.
    pub(super) fn broke(&self, health: Health, fault: &Fault, now: Instant) {
        if !health.is_failure() {
            return;
        }
        let mut inner = self.inner.lock();
        inner.last_error = Some((fault.code, moment::now()));
        let slot = inner.slot(self.number(now));
        slot.failures = slot.failures.saturating_add(1);
    }

    /// The last [`WINDOW`] before `now`, in slots of 10 s; latencies are at most a fifth too long.
    pub fn summary(&self, now: Instant) -> Summary {
        let newest = self.number(now);
        let inner = self.inner.lock();
        let oldest = newest.saturating_sub(SLOTS as u64 - 1);
        let mut latencies = [0_u64; STEPS];
        let (mut requests, mut failures) = (0_u64, 0_u64);
        for slot in inner
            .slots
            .iter()
            .filter(|slot| (oldest..=newest).contains(&slot.number))
        {
            requests += u64::from(slot.requests);
            failures += u64::from(slot.failures);
            for (sum, count) in latencies.iter_mut().zip(slot.latencies) {
                *sum += u64::from(count);
            }
        }
        Summary {
            requests,
            // A run that was answered before the window began may have broken off within it.
            failures: failures.min(requests),
            p50_ms: quantile(&latencies, 50),
            p95_ms: quantile(&latencies, 95),
            last_success_at: inner.last_success_at,
            last_error: inner.last_error,
        }
    }

    fn number(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.started);
        elapsed.as_secs() / SLOT.as_secs()
    }
}

impl Inner {
    /// The slot of this number, emptied of what stood there a window ago.
    fn slot(&mut self, number: u64) -> &mut Slot {
        let at = usize::try_from(number % SLOTS as u64).unwrap_or_default();
        // Always below SLOTS: the remainder of a division by it.
        let slot = &mut self.slots[at];
        if slot.number != number {
            *slot = Slot { number, ..EMPTY };
        }
        slot
    }
}

fn step(took: Duration) -> usize {
    let ms = took.as_secs_f64() * 1_000.0;
    let step = (ms.max(1.0).log2() * STEPS_PER_DOUBLING).floor();
    // Never negative, and cut at the last one.
    step.min(STEPS as f64 - 1.0) as usize
}

/// The upper end of the step in which the `percent`th part of the calls lies.
fn quantile(latencies: &[u64; STEPS], percent: u64) -> Option<u64> {
    let total: u64 = latencies.iter().sum();
    let rank = (total * percent).div_ceil(100);
    let mut seen = 0;
    for (step, count) in latencies.iter().enumerate() {
        seen += count;
        if *count > 0 && seen >= rank {
            let end = ((step as f64 + 1.0) / STEPS_PER_DOUBLING).exp2();
            return Some(end.ceil() as u64);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(summary: &Summary) -> (u64, u64) {
        (summary.requests, summary.failures)
    }

    #[test]
    fn the_window_forgets_what_is_older() {
        let observed = Observed::default();
        let start = observed.started;
        let fault = Code::InferenceUpstreamFailure.fault();
        let ms = Duration::from_millis;
        observed.attempt(Health::Sound, None, ms(100), start);
        observed.attempt(Health::Failing, Some(&fault), ms(5), start + SLOT);
        observed.attempt(Health::Unknown, Some(&fault), ms(5), start + SLOT);
        let now = observed.summary(start + SLOT);
        assert_eq!(counted(&now), (2, 1));
        assert!(now.last_success_at.is_some() && now.last_error.is_some());
        assert_eq!(counted(&observed.summary(start + WINDOW)), (1, 1));
        let later = observed.summary(start + WINDOW + SLOT);
        assert_eq!((counted(&later), later.p50_ms), ((0, 0), None));
        observed.attempt(Health::Sound, None, ms(100), start + WINDOW);
        assert_eq!(counted(&observed.summary(start + WINDOW)), (2, 1));
    }

    #[test]
    fn a_run_that_breaks_off_is_one_request_that_failed() {
        let observed = Observed::default();
        let fault = Code::InferenceUpstreamFailure.fault();
        let now = observed.started;
        observed.attempt(Health::Sound, None, Duration::from_millis(9), now);
        observed.broke(Health::Failing, &fault, now);
        assert_eq!(counted(&observed.summary(now)), (1, 1));
    }

    #[test]
    fn whoever_is_refused_was_failed() {
        let observed = Observed::default();
        let fault = Code::InferenceUpstreamFailure.fault();
        let now = observed.started;
        observed.attempt(
            Health::Refusing,
            Some(&fault),
            Duration::from_millis(9),
            now,
        );
        let summary = observed.summary(now);
        assert_eq!(counted(&summary), (1, 1));
        assert!(summary.last_success_at.is_none() && summary.last_error.is_some());
    }

    #[test]
    fn quantiles_are_within_a_fifth() {
        let observed = Observed::default();
        let now = observed.started;
        for ms in 1..=1_000 {
            observed.attempt(Health::Sound, None, Duration::from_millis(ms), now);
        }
        let summary = observed.summary(now);
        for (found, exact) in [(summary.p50_ms, 500), (summary.p95_ms, 950)] {
            let found = found.unwrap_or_default();
            assert!(
                (exact..=exact * 6 / 5).contains(&found),
                "{found} for {exact}"
            );
        }
    }
}
