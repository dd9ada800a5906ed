//! The end of an edge: who asks it to go, and the way from there to the last exchange.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use pingora::server::{ListenFds, ShutdownSignal, ShutdownSignalWatch};
use tokio::net::UnixStream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::application::Farewell;
use crate::edge::EdgeError;
use crate::inheritance::Sockets;
use crate::lifecycle::{Departure, Lifecycle, Phase, Wish};

/// Waits for the order to go, and carries it out. Pingora asks this for its shutdown signal; by the time it
/// gets one, nothing is in flight any more.
pub(crate) struct DepartureWatch {
    pub(crate) wishes: tokio::sync::Mutex<mpsc::Receiver<Wish>>,
    pub(crate) lifecycle: Arc<Lifecycle>,
    pub(crate) sockets: Sockets,
    pub(crate) upgrade_sock: String,
    pub(crate) notice: Duration,
    pub(crate) drain_deadline: Duration,
    pub(crate) farewell: Mutex<Option<Farewell>>,
    pub(crate) ended: Arc<Mutex<Option<Result<Departure, EdgeError>>>>,
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
}

impl Signals {
    fn watch() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.terminate.recv() => Wish::Drain,
            _ = self.interrupt.recv() => Wish::Drain,
            _ = self.quit.recv() => Wish::HandOver,
        }
    }

    async fn stop(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// What is wanted next, by a signal or from inside.
async fn next(signals: &mut Signals, wishes: &mut mpsc::Receiver<Wish>) -> Wish {
    tokio::select! {
        wish = signals.next() => wish,
        wish = wishes.recv() => wish.unwrap_or(Wish::Drain),
    }
}

#[async_trait]
impl ShutdownSignalWatch for DepartureWatch {
    async fn recv(&self) -> ShutdownSignal {
        let ended = self.depart().await;
        let farewell = self.farewell.lock().take();
        if let Some(farewell) = farewell {
            // 60 s: settling what the last exchanges left behind is a few database writes, for which the store takes
            // 30 s at most when it closes.
            const FAREWELL: Duration = Duration::from_secs(60);
            if tokio::time::timeout(FAREWELL, farewell()).await.is_err() {
                tracing::error!("background work did not end in time");
            }
        }
        *self.ended.lock() = Some(ended);
        ShutdownSignal::FastShutdown
    }
}

impl DepartureWatch {
    async fn depart(&self) -> Result<Departure, EdgeError> {
        let mut signals = Signals::watch().map_err(EdgeError::Signals)?;
        let mut wishes = self.wishes.lock().await;
        let mut wish = next(&mut signals, &mut wishes).await;
        loop {
            let phase = match wish {
                Wish::Fail => return Err(EdgeError::ListenerFailed),
                Wish::Drain => Phase::Closing,
                Wish::HandOver => {
                    // Whoever wants something else meanwhile does not wait for a successor that may never come.
                    let there = tokio::select! {
                        there = self.successor() => there,
                        another = next(&mut signals, &mut wishes) => {
                            wish = another;
                            continue;
                        }
                    };
                    if !there || !self.hand_over().await {
                        tracing::error!(
                            "nobody took the listening sockets over; this gateway goes on serving"
                        );
                        wish = next(&mut signals, &mut wishes).await;
                        continue;
                    }
                    Phase::Leaving
                }
            };
            let in_a_hurry = async {
                match phase {
                    // Whoever asks once more for what has been done says nothing new.
                    Phase::Leaving => signals.stop().await,
                    _ => drop(signals.next().await),
                }
            };
            return Ok(tokio::select! {
                departure = self.leave(phase) => departure,
                () = in_a_hurry => self.leave_at_once().await,
            });
        }
    }

    /// Waits until a successor asks for the sockets; `false` where none does. Whoever connects and says nothing is
    /// none to it ([`crate::inheritance`]).
    async fn successor(&self) -> bool {
        // 10 min: a successor that compiles large plugins on a busy machine takes minutes to come so far.
        const PATIENCE: Duration = Duration::from_secs(10 * 60);
        const LOOK_EVERY: Duration = Duration::from_millis(100);
        let waiting = async {
            let mut is_told = false;
            while UnixStream::connect(&self.upgrade_sock).await.is_err() {
                if !is_told {
                    tracing::info!("waiting for a successor that takes the listening sockets over");
                    is_told = true;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.is_ok()
    }

    /// Gives the listening sockets to a successor and lets it come up while we still accept.
    async fn hand_over(&self) -> bool {
        let sockets = self.sockets.lock().as_ref().map(ListenFds::clone);
        let Some(sockets) = sockets else { return false };
        let path = self.upgrade_sock.clone();
        // Pingora's sender blocks, and retries for about 5 s where the successor has gone since.
        let sent = tokio::task::spawn_blocking(move || {
            let sockets = sockets.lock();
            sockets
                .send_to_sock(path.as_str())
                .map_err(|error| error.to_string())
        })
        .await;
        match sent {
            Ok(Ok(_)) => {
                // 3 s: from its sockets to its accept loops a successor needs milliseconds; a loaded
                // machine gets room. Both accept meanwhile, so waiting costs nothing.
                const OVERLAP: Duration = Duration::from_secs(3);
                tokio::time::sleep(OVERLAP).await;
                true
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the listening sockets could not be handed over");
                false
            }
            Err(_) => false,
        }
    }

    /// All of the way, unless a successor listens on the same sockets: then nobody has to be told to stay away.
    async fn leave(&self, phase: Phase) -> Departure {
        if phase == Phase::Closing && !self.notice.is_zero() {
            self.lifecycle.enter(Phase::Announced);
            tokio::time::sleep(self.notice).await;
        }
        self.drain(phase).await
    }

    /// Stops accepting and waits for what is in flight, to its end or to the deadline.
    async fn drain(&self, phase: Phase) -> Departure {
        // Before the listeners go: an answer that is sent once they are gone tells its client to close.
        self.lifecycle.enter(Phase::Leaving);
        self.lifecycle.stop_public();
        if phase > Phase::Leaving {
            self.lifecycle.enter(phase);
        } else {
            self.lifecycle.stop_admin();
            // 5 s: a client that reuses its connection meanwhile is told to close it with the answer, and
            // none is cut off while it sends.
            const PARTING: Duration = Duration::from_secs(5);
            self.lifecycle.connections_gone(PARTING).await;
            self.lifecycle.enter(Phase::Closing);
        }
        if self.lifecycle.exchanges_gone(self.drain_deadline).await {
            self.flush().await;
            return Departure::Drained;
        }
        self.cut_off().await;
        Departure::CutOff
    }

    /// A second signal: no exchange is waited for, but the word with which everything open ends, so that its runs are
    /// settled. Where that word was being said already it gets its time once more; the farewell follows in any case.
    async fn leave_at_once(&self) -> Departure {
        self.lifecycle.stop_public();
        self.cut_off().await;
        Departure::AtOnce
    }

    /// Ends what is open with a retryable error.
    async fn cut_off(&self) {
        self.lifecycle.enter(Phase::Ending);
        // 5 s: writing the last event to clients that read.
        const LAST_WORDS: Duration = Duration::from_secs(5);
        if !self.lifecycle.exchanges_gone(LAST_WORDS).await {
            tracing::warn!("leaving with exchanges still open");
        }
        self.flush().await;
    }

    /// HTTP/2 queues its last frames with the connection, and TLS wants its goodbye.
    async fn flush(&self) {
        // 1 s: closing needs one round trip at most.
        const CLOSING: Duration = Duration::from_secs(1);
        self.lifecycle.connections_gone(CLOSING).await;
    }
}
