//! A time limit for TLS handshakes, whose connections count from the first: pingora's own is a minute, whatever a head
//! may take. Counts those that fail.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::metrics::EdgeMetrics;
use crate::socket::hang_up;

/// Sockets whose handshake is under way.
pub(crate) struct Handshakes {
    limit: Duration,
    under_way: Mutex<HashMap<RawFd, Handshake>>,
    metrics: EdgeMetrics,
}

struct Handshake {
    until: Instant,
    timer: AbortHandle,
}

impl Handshakes {
    pub(crate) fn new(limit: Duration, metrics: EdgeMetrics) -> Arc<Self> {
        Arc::new(Self {
            limit,
            under_way: Mutex::default(),
            metrics,
        })
    }

    /// From here on `socket` has its time; it is hung up when that is over.
    pub(crate) fn begin(self: &Arc<Self>, socket: RawFd) {
        let until = Instant::now() + self.limit;
        let watching = Arc::clone(self);
        // It cannot look before its handshake is entered.
        let mut under_way = self.under_way.lock();
        #[expect(
            clippy::disallowed_methods,
            reason = "ends with its handshake or ends that"
        )]
        let timer = tokio::spawn(async move {
            tokio::time::sleep_until(until).await;
            watching.cut_off(socket);
        });
        let timer = timer.abort_handle();
        under_way.insert(socket, Handshake { until, timer });
    }

    /// The handshake is over and well.
    pub(crate) fn end(&self, socket: RawFd) {
        self.take(socket);
    }

    /// The socket is about to be closed. A handshake that is under way has failed: the two do not agree, either has left,
    /// or what came was none.
    pub(crate) fn close(&self, socket: RawFd) {
        if self.take(socket) {
            self.failed("broken");
        }
    }

    fn take(&self, socket: RawFd) -> bool {
        let ended = self.under_way.lock().remove(&socket);
        if let Some(handshake) = &ended {
            handshake.timer.abort();
        }
        ended.is_some()
    }

    fn cut_off(&self, socket: RawFd) {
        let mut under_way = self.under_way.lock();
        // Another connection may have the number by now, with time of its own.
        let is_late = |handshake: &Handshake| handshake.until <= Instant::now();
        if under_way.get(&socket).is_some_and(is_late) {
            under_way.remove(&socket);
            // Nobody closes it without having been here.
            hang_up(socket);
            self.failed("timeout");
        }
    }

    fn failed(&self, reason: &'static str) {
        let failed = &self.metrics.handshakes_failed;
        failed.with_label_values(&[reason]).inc();
        tracing::debug!(reason, "a TLS handshake failed");
    }
}
