//! How far the opening of an inference has come. Whoever asked for it may leave; the store finishes what was handed in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// What is known of the opening of one inference.
#[derive(Clone, Default)]
pub struct Progress(Arc<AtomicU8>);

/// It waits for its turn, or was not handed in yet.
const WAITS: u8 = 0;
const BEGAN: u8 = 1;
/// It got no turn, and will get none.
const OVER: u8 = 2;

impl Progress {
    /// Whether the intent and its hold may stand, now or later; once this is `false` it stays so.
    pub fn may_stand(&self) -> bool {
        self.0.load(Ordering::Acquire) != OVER
    }
}

/// The part of an opening that has its work: it is dropped with it.
pub(super) struct Work(Progress);

impl Work {
    pub(super) fn of(progress: &Progress) -> Self {
        Self(progress.clone())
    }

    /// There is a connection to work on.
    pub(super) fn begins(&self) {
        self.0.0.store(BEGAN, Ordering::Release);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let state = &self.0.0;
        // Work that has begun may have written something.
        state
            .compare_exchange(WAITS, OVER, Ordering::AcqRel, Ordering::Acquire)
            .ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_began_stands_nowhere() {
        let progress = Progress::default();
        assert!(progress.may_stand());
        let work = Work::of(&progress);
        assert!(progress.may_stand());
        drop(work);
        assert!(!progress.may_stand());
        let progress = Progress::default();
        let work = Work::of(&progress);
        work.begins();
        drop(work);
        assert!(progress.may_stand());
    }
}
