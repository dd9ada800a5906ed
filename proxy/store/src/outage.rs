//! What goes on beside the requests is tried again and again while the database is away: the log hears once of each such
//! work that it fails, and once that it is done again. While the database is known to be gone, that has been said for all
//! of them.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use crate::{Store, StoreError};

/// Works that fail, by what the log was told of them.
#[derive(Default)]
pub(crate) struct Failing(Mutex<BTreeSet<&'static str>>);

impl Failing {
    /// `true`: it did not fail before.
    fn begins(&self, what: &'static str) -> bool {
        self.0.lock().insert(what)
    }

    /// `true`: it failed before.
    fn ends(&self, what: &'static str) -> bool {
        self.0.lock().remove(what)
    }
}

impl Store {
    /// Tells the log what became of work that is tried again by itself. `what` says that it was not done, and is the
    /// same each time.
    pub fn told<T>(&self, what: &'static str, done: &Result<T, StoreError>) {
        match done {
            Ok(_) if self.failing.ends(what) => tracing::info!("no longer: {what}"),
            // The process is leaving.
            Ok(_) | Err(StoreError::Closed) => {}
            Err(error) if !error.is_outage() => tracing::error!(%error, "{what}"),
            Err(error) if self.db.is_gone() || !self.failing.begins(what) => {
                tracing::debug!(%error, "{what}");
            }
            Err(error) => tracing::error!(%error, "{what}"),
        }
    }

    /// Tells the log what became of work that many do at once and nobody tries again. `of` says whose it was.
    pub fn told_of<T>(&self, what: &'static str, of: &str, done: &Result<T, StoreError>) {
        match done {
            Ok(_) | Err(StoreError::Closed) => {}
            // Those who cannot do without the store say so.
            Err(error) if error.is_outage() => tracing::debug!(%error, of, "{what}"),
            Err(error) => tracing::warn!(%error, of, "{what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_work_is_news_once_when_it_fails_and_once_when_it_is_done() {
        let failing = Failing::default();
        assert!(!failing.ends("seal"));
        assert!(failing.begins("seal") && failing.begins("look"));
        assert!(!failing.begins("seal"));
        assert!(failing.ends("seal") && !failing.ends("seal"));
        assert!(failing.begins("seal") && !failing.begins("look"));
    }
}
