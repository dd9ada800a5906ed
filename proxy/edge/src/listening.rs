//! Pingora's listening service with a stop of our own: pingora ends its accept loops only together with the
//! whole server, after a fixed sleep; we end them first and then wait for what is in flight. Its waiting for the
//! sockets of a predecessor ends the process after six seconds without a word; ours takes as long as it takes.

use std::fs::Permissions;
use std::io::{ErrorKind, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use parking_lot::Mutex;
use pingora::apps::ServerApp;
use pingora::server::{ListenFds, ShutdownWatch};
use pingora::services::Service;
use pingora::services::listening::Service as Listener;
use rustix::io::retry_on_intr;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::lifecycle::{Lifecycle, Listening};

/// The listening sockets, once a service has them; what a successor is given.
pub(crate) type Sockets = Arc<Mutex<Option<ListenFds>>>;

/// Addresses and sockets that a predecessor has handed over; empty where none was asked.
pub(crate) type Inherited = Arc<OnceLock<Vec<(String, RawFd)>>>;

/// What a hand-over holds at most, as pingora writes it: sockets, and their addresses in one text with blanks between.
const MOST_SOCKETS: usize = 32;
const MOST_NAME_BYTES: usize = 2_048;
/// 5 s: a predecessor connects when it has everything to send.
const WORD: Duration = Duration::from_secs(5);

/// Waits until a predecessor hands its sockets over at `path`, for as long as that takes. Sockets of addresses that are
/// not `expected` are closed. Blocking.
///
/// # Errors
/// When nobody could hand anything over there.
pub(crate) fn inherit(path: &str, expected: &[String]) -> std::io::Result<Vec<(String, RawFd)>> {
    // A successor that was ended while it waited leaves its socket.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // One socket for all of the waiting: whoever connects is heard, whenever that is.
    let waiting = UnixListener::bind(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    let handed_over = loop {
        let (stream, _) = waiting.accept()?;
        match received(&stream) {
            Ok(sockets) if !sockets.is_empty() => break sockets,
            // Whoever spoke there was no predecessor.
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "somebody connected and handed nothing over"),
        }
    };
    std::fs::remove_file(path).ok();
    // Connections to a socket that nobody accepts from would hang: those that are not kept are closed here.
    Ok(handed_over
        .into_iter()
        .filter(|(address, _)| expected.contains(address))
        .map(|(address, socket)| (address, socket.into_raw_fd()))
        .collect())
}

/// What pingora's `Fds::send_to_sock` has sent: addresses and their sockets.
fn received(stream: &UnixStream) -> std::io::Result<Vec<(String, OwnedFd)>> {
    stream.set_read_timeout(Some(WORD))?;
    let mut names = [0_u8; MOST_NAME_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_SOCKETS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = retry_on_intr(|| {
        let mut parts = [IoSliceMut::new(&mut names)];
        recvmsg(stream, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    let mut sockets: Vec<OwnedFd> = Vec::new();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = part {
            sockets.extend(more);
        }
    }
    let names = names.get(..message.bytes).unwrap_or_default();
    let names = std::str::from_utf8(names).map_err(std::io::Error::other)?;
    let names = names.split_ascii_whitespace().map(str::to_owned);
    Ok(names.zip(sockets).collect())
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
    const PULSE: Duration = Duration::from_secs(1);
    loop {
        tokio::time::sleep(PULSE).await;
    }
}

/// Reports readiness when every socket of the edge is in pingora's table: it tells nobody itself.
async fn announce(fds: ListenFds, expected: &[String], lifecycle: &Lifecycle) {
    // 30 s at 10 ms: pingora gives up binding long before.
    const CHECKS: usize = 3_000;
    const PAUSE: Duration = Duration::from_millis(10);
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;

    use pingora::server::Fds;

    use super::*;

    #[test]
    fn whoever_hands_nothing_over_does_not_end_the_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("upgrade.sock");
        let path = path.to_str().unwrap().to_owned();
        let expected = ["127.0.0.1:1".to_owned()];
        let inherited = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| inherit(&path, &expected));
            while UnixStream::connect(&path).is_err() {
                std::thread::yield_now();
            }
            let sockets = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
            let mut table = Fds::new();
            for (address, socket) in ["127.0.0.1:1", "127.0.0.1:2"].iter().zip(&sockets) {
                table.add((*address).to_owned(), socket.as_raw_fd());
            }
            table.send_to_sock(path.as_str()).unwrap();
            waiting.join().unwrap().unwrap()
        });
        let addresses: Vec<&str> = inherited
            .iter()
            .map(|(address, _)| address.as_str())
            .collect();
        assert_eq!(addresses, ["127.0.0.1:1"]);
        assert!(!std::path::Path::new(&path).exists());
    }
}
