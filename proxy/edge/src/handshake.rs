//! A time limit for TLS handshakes, whose connections count from the first: pingora's own is a minute, whatever a head
//! may take.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::socket::hang_up;

/// Sockets whose handshake is under way.
pub(crate) struct Handshakes {
    limit: Duration,
    under_way: Mutex<HashMap<RawFd, Handshake>>,
}

struct Handshake {
    until: Instant,
    timer: AbortHandle,
}

impl Handshakes {
    pub(crate) fn new(limit: Duration) -> Arc<Self> {
        Arc::new(Self {
            limit,
            under_way: Mutex::default(),
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

    /// The handshake is over, or its socket about to be closed.
    pub(crate) fn end(&self, socket: RawFd) {
        if let Some(handshake) = self.under_way.lock().remove(&socket) {
            handshake.timer.abort();
        }
    }

    fn cut_off(&self, socket: RawFd) {
        let mut under_way = self.under_way.lock();
        // Another connection may have the number by now, with time of its own.
        let is_late = |handshake: &Handshake| handshake.until <= Instant::now();
        if under_way.get(&socket).is_some_and(is_late) {
            under_way.remove(&socket);
            // Nobody closes it without having been here.
            hang_up(socket);
            tracing::debug!("a TLS handshake took too long");
        }
    }
}
