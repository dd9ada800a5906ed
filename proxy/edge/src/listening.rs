//! Pingora's listening service with a stop of our own: pingora ends its accept loops only together with the
//! whole server, after a fixed sleep; we end them first and then wait for what is in flight.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use pingora::apps::ServerApp;
use pingora::server::{ListenFds, ShutdownWatch};
use pingora::services::Service;
use pingora::services::listening::Service as Listener;

use crate::inheritance::{Inherited, Sockets};
use crate::lifecycle::{Lifecycle, Listening};

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
        let inheritance = self.inherited.get();
        let inherited = inheritance.map_or(&[][..], |inheritance| &inheritance.sockets);
        for (address, socket) in inherited {
            fds.lock().add(address.clone(), *socket);
        }
        *self.sockets.lock() = Some(ListenFds::clone(&fds));
        let seen = announce(ListenFds::clone(&fds), &self.expected, &self.lifecycle);
        let lifecycle = &self.lifecycle;
        let seen = async {
            let is_ready = seen.await;
            // The predecessor has waited for too long, and serves on.
            if is_ready && inheritance.is_some_and(|inheritance| !inheritance.serves()) {
                lifecycle.listening(Listening::Failed);
            }
        };
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
    const PULSE: Duration = Duration::from_secs(1);
    loop {
        tokio::time::sleep(PULSE).await;
    }
}

/// Reports readiness when every socket of the edge is in pingora's table: it tells nobody itself. `false` where they
/// never are.
async fn announce(fds: ListenFds, expected: &[String], lifecycle: &Lifecycle) -> bool {
    // 30 s at 10 ms: pingora gives up binding long before.
    const CHECKS: usize = 3_000;
    const PAUSE: Duration = Duration::from_millis(10);
    for _ in 0..CHECKS {
        let ready = {
            let fds = fds.lock();
            expected.iter().all(|address| fds.get(address).is_some())
        };
        if ready {
            lifecycle.listening(Listening::Ready);
            return true;
        }
        tokio::time::sleep(PAUSE).await;
    }
    false
}
