//! Pingora's listening service with a stop of our own: pingora ends its accept loops only together with the
//! whole server, after a fixed sleep; we end them first and then wait for what is in flight. Its waiting for the
//! sockets of a predecessor ends the process after six seconds without a word; ours takes as long as it takes.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::os::fd::RawFd;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures_util::FutureExt;
use parking_lot::Mutex;
use pingora::apps::ServerApp;
use pingora::server::{Fds, ListenFds, ShutdownWatch};
use pingora::services::Service;
use pingora::services::listening::Service as Listener;

use crate::lifecycle::{Lifecycle, Listening};

/// The listening sockets, once a service has them; what a successor is given.
pub(crate) type Sockets = Arc<Mutex<Option<ListenFds>>>;

/// Addresses and sockets that a predecessor has handed over; empty where none was asked.
pub(crate) type Inherited = Arc<OnceLock<Vec<(String, RawFd)>>>;

/// Waits until a predecessor hands its sockets over at `path`, for as long as that takes. Sockets of addresses that are
/// not `expected` are closed. Blocking.
///
/// # Errors
/// When nobody could hand anything over there.
pub(crate) fn inherit(path: &str, expected: &[String]) -> std::io::Result<Vec<(String, RawFd)>> {
    let expected: HashSet<String> = expected.iter().cloned().collect();
    loop {
        let mut table = Fds::new();
        match table.get_from_sock(path) {
            Ok(()) if !table.is_empty() => {
                // Connections to a socket that nobody accepts from would hang.
                table.close_unclaimed(&expected);
                let (addresses, sockets) = table.serialize();
                return Ok(addresses.into_iter().zip(sockets).collect());
            }
            // Whoever spoke there was no predecessor.
            Ok(()) => {}
            Err(error) => {
                let error = std::io::Error::from(error);
                // It looks six times, a second apart, and gives up; a predecessor tries as often, so that a look that
                // begins anew misses none.
                if error.kind() != ErrorKind::WouldBlock {
                    return Err(error);
                }
            }
        }
    }
}

pub(crate) struct Stoppable<A> {
    pub(crate) listener: Listener<A>,
    pub(crate) stop: ShutdownWatch,
    pub(crate) sockets: Sockets,
    pub(crate) inherited: Inherited,
    pub(crate) lifecycle: Arc<Lifecycle>,
    /// Addresses of the whole edge, as the table of sockets names them.
    pub(crate) expected: Arc<Vec<String>>,
}

#[async_trait]
impl<A: ServerApp + Send + Sync + 'static> Service for Stoppable<A> {
    async fn start_service(
        &mut self,
        fds: Option<ListenFds>,
        _server_shutdown: ShutdownWatch,
        listeners_per_fd: usize,
    ) {
        let Some(fds) = fds else {
            return self.lifecycle.listening(Listening::Failed);
        };
        // Before the listener looks for its socket there; every service does so, as none knows which is the first.
        for (address, socket) in self.inherited.get().into_iter().flatten() {
            fds.lock().add(address.clone(), *socket);
        }
        *self.sockets.lock() = Some(ListenFds::clone(&fds));
        let seen = announce(ListenFds::clone(&fds), &self.expected, &self.lifecycle);
        let serving = Service::start_service(
            &mut self.listener,
            Some(fds),
            self.stop.clone(),
            listeners_per_fd,
        );
        // Pingora panics when an address cannot be bound, and would serve on without it.
        let serving = AssertUnwindSafe(serving).catch_unwind();
        let (outcome, ()) = tokio::join!(beside(pulse(), serving), seen);
        if outcome.is_err() {
            tracing::error!(service = self.listener.name(), "a listener failed");
            self.lifecycle.listening(Listening::Failed);
        }
    }

    fn name(&self) -> &str {
        self.listener.name()
    }

    fn threads(&self) -> Option<usize> {
        self.listener.threads
    }

    fn listen_addresses(&self) -> Option<Vec<String>> {
        self.listener.listen_addresses()
    }
}

/// Drives `aside`, which never ends, for as long as `main` takes.
async fn beside<T>(aside: impl Future<Output = ()>, main: impl Future<Output = T>) -> T {
    tokio::select! {
        output = main => output,
        () = aside => std::future::pending().await,
    }
}

/// Keeps a timer on this runtime that ends before those of requests. A timer that ends before all others makes tokio
/// write to the runtime's own wake-up descriptor, and look for what woke it: three times a request, for time limits
/// that are nearly never reached.
async fn pulse() {
    // 1 s: shorter than the limits that requests set, and nothing for an idle process.
    const PULSE: std::time::Duration = std::time::Duration::from_secs(1);
    loop {
        tokio::time::sleep(PULSE).await;
    }
}

/// Reports readiness when every socket of the edge is in pingora's table: it tells nobody itself.
async fn announce(fds: ListenFds, expected: &[String], lifecycle: &Lifecycle) {
    // 30 s at 10 ms: pingora gives up binding long before.
    const CHECKS: usize = 3_000;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);
    for _ in 0..CHECKS {
        let ready = {
            let fds = fds.lock();
            expected.iter().all(|address| fds.get(address).is_some())
        };
        if ready {
            return lifecycle.listening(Listening::Ready);
        }
        tokio::time::sleep(PAUSE).await;
    }
}
