//! What this process owes to the audit log: runs that are open, and rows on their way for requests whose callers have
//! left. Whoever ends the process waits until nothing is owed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use prometheus::IntGauge;

/// What is owed now. One for each process.
pub struct Owed {
    debts: AtomicUsize,
    /// The part of them that is runs, as operators see it.
    runs: IntGauge,
    /// The part of the runs that is late: they have ended, and the store did not take it.
    late: IntGauge,
}

/// A run that is late, until it is dropped.
#[must_use]
pub struct Late(Arc<Owed>);

/// One thing that is owed, until it is dropped.
#[must_use]
pub struct Debt {
    owed: Arc<Owed>,
    is_run: bool,
}

impl Owed {
    /// Nothing is owed yet; `runs` shows the runs among it, and `late` those that have ended.
    pub fn new(runs: IntGauge, late: IntGauge) -> Arc<Self> {
        Arc::new(Self {
            debts: AtomicUsize::new(0),
            runs,
            late,
        })
    }

    /// A run whose intent is durable: its end is owed.
    pub fn run(self: &Arc<Self>) -> Debt {
        self.runs.inc();
        self.debt(true)
    }

    /// A run whose end could not be written when it came. It is owed by another debt.
    pub fn late(self: &Arc<Self>) -> Late {
        self.late.inc();
        Late(Arc::clone(self))
    }

    /// Rows that are being written.
    pub fn rows(self: &Arc<Self>) -> Debt {
        self.debt(false)
    }

    /// Runs and rows that are owed. At 0 the process may end.
    pub fn count(&self) -> usize {
        self.debts.load(Ordering::Acquire)
    }

    fn debt(self: &Arc<Self>, is_run: bool) -> Debt {
        self.debts.fetch_add(1, Ordering::AcqRel);
        let owed = Arc::clone(self);
        Debt { owed, is_run }
    }
}

impl Late {
    /// It stays late for as long as this process lives: nobody tries again.
    pub fn for_good(self) {
        std::mem::forget(self);
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        self.0.late.dec();
    }
}

impl Drop for Debt {
    fn drop(&mut self) {
        self.owed.debts.fetch_sub(1, Ordering::AcqRel);
        if self.is_run {
            self.owed.runs.dec();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn operators_see_the_runs_and_whoever_leaves_sees_everything() {
        let gauge = |name: &str| IntGauge::new(name, "runs").unwrap();
        let owed = Owed::new(gauge("runs"), gauge("late"));
        let (run, rows) = (owed.run(), owed.rows());
        assert_eq!((owed.count(), owed.runs.get()), (2, 1));
        drop(run);
        assert_eq!((owed.count(), owed.runs.get()), (1, 0));
        drop(rows);
        assert_eq!(owed.count(), 0);
        let (late, lost) = (owed.late(), owed.late());
        assert_eq!((owed.count(), owed.late.get()), (0, 2));
        drop(late);
        lost.for_good();
        assert_eq!(owed.late.get(), 1);
    }
}
