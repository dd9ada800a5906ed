//! The thread that advances the engine's epoch while guests run, and sleeps while none do.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

/// How often a running guest has to look up; also the longest that one keeps its thread (wasm notes 1: 1 ms).
const TICK: Duration = Duration::from_millis(1);
/// Ticks without a guest, after which the thread sleeps: waking it is a system call, which a busy gateway must not
/// make for each call.
const QUIET_TICKS: u32 = 100;

/// Ends its thread when dropped.
pub(crate) struct Ticker {
    state: Arc<State>,
    thread: Thread,
}

#[derive(Default)]
struct State {
    /// Whether a guest ran since the last tick.
    attended: AtomicBool,
    asleep: AtomicBool,
    over: AtomicBool,
}

impl Ticker {
    /// # Errors
    /// When no thread can be made.
    pub(crate) fn start(tick: impl Fn() + Send + 'static) -> io::Result<Self> {
        let state = Arc::new(State::default());
        let ours = Arc::clone(&state);
        let thread = thread::Builder::new()
            .name("plugin-epoch".to_owned())
            .spawn(move || ours.run(tick))?;
        Ok(Self {
            state,
            thread: thread.thread().clone(),
        })
    }

    /// To be called each time before a guest runs: from here on there are ticks, for [`QUIET_TICKS`] at least.
    pub(crate) fn attend(&self) {
        // Seen set, the thread counts from its next tick anew.
        if self.state.attended.load(Ordering::Relaxed) {
            return;
        }
        self.state.attended.store(true, Ordering::SeqCst);
        if self.state.asleep.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

impl State {
    fn run(&self, tick: impl Fn()) {
        let mut quiet_ticks = 0;
        while !self.over.load(Ordering::SeqCst) {
            tick();
            thread::sleep(TICK);
            if self.attended.swap(false, Ordering::SeqCst) {
                quiet_ticks = 0;
            } else {
                quiet_ticks += 1;
            }
            if quiet_ticks == QUIET_TICKS {
                self.sleep();
                quiet_ticks = 0;
            }
        }
    }

    /// A guest that comes now either finds the thread asleep and wakes it, or is found by it.
    fn sleep(&self) {
        self.asleep.store(true, Ordering::SeqCst);
        while !self.attended.load(Ordering::SeqCst) && !self.over.load(Ordering::SeqCst) {
            thread::park();
        }
        self.asleep.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::time::Instant;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn counting() -> io::Result<(Ticker, Arc<AtomicU64>)> {
        let ticks = Arc::new(AtomicU64::new(0));
        let ticked = Arc::clone(&ticks);
        let ticker = Ticker::start(move || {
            ticked.fetch_add(1, Ordering::Relaxed);
        })?;
        Ok((ticker, ticks))
    }

    fn until(mut holds: impl FnMut() -> bool) {
        let begin = Instant::now();
        while !holds() {
            assert!(begin.elapsed() < PATIENCE, "it never came to be");
            thread::sleep(TICK);
        }
    }

    #[test]
    fn it_sleeps_while_no_guest_runs_and_wakes_for_one() -> io::Result<()> {
        let (ticker, ticks) = counting()?;
        for _ in 0..3 {
            until(|| ticker.state.asleep.load(Ordering::SeqCst));
            let before = ticks.load(Ordering::Relaxed);
            thread::sleep(TICK * 20);
            assert_eq!(ticks.load(Ordering::Relaxed), before);
            ticker.attend();
            until(|| ticks.load(Ordering::Relaxed) > before + u64::from(QUIET_TICKS / 2));
        }
        Ok(())
    }

    #[test]
    fn while_guests_run_there_are_ticks() -> io::Result<()> {
        let (ticker, ticks) = counting()?;
        let before = ticks.load(Ordering::Relaxed);
        until(|| {
            ticker.attend();
            ticks.load(Ordering::Relaxed) > before + u64::from(QUIET_TICKS) * 3
        });
        Ok(())
    }

    #[test]
    fn its_thread_ends_with_it() -> io::Result<()> {
        let (ticker, ticks) = counting()?;
        until(|| ticker.state.asleep.load(Ordering::SeqCst));
        drop(ticker);
        until(|| Arc::strong_count(&ticks) == 1);
        let (ticker, ticks) = counting()?;
        drop(ticker);
        until(|| Arc::strong_count(&ticks) == 1);
        Ok(())
    }
}
