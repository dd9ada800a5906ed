//! How long tests wait, and the only loop that looks again and again.

use std::future::Future;
use std::time::{Duration, Instant};

/// 60 s: far above anything that is waited for, on a machine that is busy with the other tests too.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Pause between two looks at what gives no event: a row in a database, a line in a log, a port.
const LOOK: Duration = Duration::from_millis(10);

/// The result of a future that must come in time.
///
/// # Panics
/// When it does not.
pub async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what}: nothing within {PATIENCE:?}"),
    }
}

/// Looks until there is something to see.
///
/// # Panics
/// When there never is.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = look().await {
            return value;
        }
        assert!(
            start.elapsed() < PATIENCE,
            "{what}: not seen within {PATIENCE:?}"
        );
        tokio::time::sleep(LOOK).await;
    }
}
