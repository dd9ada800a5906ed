//! A timer for what is put off again and again. It is moved when it fires, not each time: moving one takes a lock of
//! the runtime's, and most of what it would end is over long before.

use std::pin::Pin;

use tokio::time::{Instant, Sleep, sleep_until};

pub(crate) struct LazyTimer(Pin<Box<Sleep>>);

impl LazyTimer {
    /// For what is not due before `at`.
    pub(crate) fn new(at: Instant) -> Self {
        Self(Box::pin(sleep_until(at)))
    }

    /// Resolves at `at`, which must not be earlier than it ever was. May be given up and asked again at any time.
    pub(crate) async fn reached(&mut self, at: Instant) {
        loop {
            self.0.as_mut().await;
            if self.0.deadline() >= at {
                return;
            }
            self.0.as_mut().reset(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::time::{Duration, advance};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_put_off_is_due_at_its_last_time() {
        let second = Duration::from_secs(1);
        let begun = Instant::now();
        let mut timer = LazyTimer::new(begun + second);
        for at in 1..4 {
            // It fires for the former time meanwhile.
            advance(second).await;
            let due = begun + second * (at + 1);
            assert!(timer.reached(due).now_or_never().is_none());
        }
        let last = begun + second * 4;
        timer.reached(last).await;
        assert!(Instant::now() >= last && Instant::now() < last + second);
        // What is due stays due, and what is put off from there is not.
        assert!(timer.reached(last).now_or_never().is_some());
        assert!(timer.reached(last + second).now_or_never().is_none());
    }
}
