//! The end of an edge: who asks it to go, and the way from there to the last exchange.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use pingora::server::{ListenFds, ShutdownSignal, ShutdownSignalWatch};
use tokio::net::UnixStream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::application::Farewell;
use crate::bequest::{self, Successor};
use crate::edge::{EdgeError, write_pid};
use crate::inheritance::Sockets;
use crate::lifecycle::{Departure, Lifecycle, Phase, Wish};

/// Waits for the order to go, and carries it out. Pingora asks this for its shutdown signal; by the time it
/// gets one, nothing is in flight any more.
pub(crate) struct DepartureWatch {
    pub(crate) wishes: tokio::sync::Mutex<mpsc::Receiver<Wish>>,
    pub(crate) lifecycle: Arc<Lifecycle>,
    pub(crate) sockets: Sockets,
    pub(crate) upgrade_sock: String,
    pub(crate) pid_file: PathBuf,
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

/// What is wanted while a successor is on its way. Whoever orders it once more says nothing new.
async fn another(signals: &mut Signals, wishes: &mut mpsc::Receiver<Wish>) -> Wish {
    loop {
        match next(signals, wishes).await {
            Wish::HandOver => {}
            wish @ (Wish::Drain | Wish::Fail) => return wish,
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
                    // Whoever wants something else meanwhile does not wait for a successor that may never come, or
                    // never serve.
                    let serves = tokio::select! {
                        serves = self.hand_over() => serves,
                        another = another(&mut signals, &mut wishes) => {
                            wish = another;
                            continue;
                        }
                    };
                    if !serves {
                        tracing::error!(
                            "nobody took the listening sockets over; this gateway goes on serving"
                        );
                        self.name_itself();
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

    /// Gives the listening sockets to a successor; `true` once that serves with them.
    async fn hand_over(&self) -> bool {
        let sockets = self.sockets.lock().as_ref().map(ListenFds::clone);
        let Some(sockets) = sockets else { return false };
        let Some(mut successor) = self.successor().await else {
            return false;
        };
        if let Err(error) = bequest::hand_over(&successor, &sockets).await {
            tracing::warn!(%error, "the listening sockets could not be handed over");
            return false;
        }
        match bequest::outcome(&mut successor, &self.pid_file, bequest::PATIENCE).await {
            Successor::Serves => {
                // 3 s: from its word to its accept loops a successor needs milliseconds; a loaded machine gets room.
                // Both accept meanwhile, so waiting costs nothing.
                const OVERLAP: Duration = Duration::from_secs(3);
                tokio::time::sleep(OVERLAP).await;
                true
            }
            Successor::Fails => {
                tracing::warn!("the successor has the listening sockets and does not serve");
                false
            }
        }
    }

    /// Waits until a successor asks for the sockets; `None` where none does.
    async fn successor(&self) -> Option<UnixStream> {
        // 10 min: a successor that compiles large plugins on a busy machine takes minutes to come so far.
        const PATIENCE: Duration = Duration::from_secs(10 * 60);
        const LOOK_EVERY: Duration = Duration::from_millis(100);
        let waiting = async {
            let mut is_told = false;
            loop {
                if let Ok(stream) = UnixStream::connect(&self.upgrade_sock).await {
                    return stream;
                }
                if !is_told {
                    tracing::info!("waiting for a successor that takes the listening sockets over");
                    is_told = true;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.ok()
    }

    /// A successor that failed may have written its own id, or taken it away again.
    fn name_itself(&self) {
        let pid = std::process::id().to_string();
        if std::fs::read_to_string(&self.pid_file).is_ok_and(|found| found == pid) {
            return;
        }
        if let Err(error) = write_pid(&self.pid_file, &pid) {
            let path = self.pid_file.display();
            tracing::warn!(%error, %path, "the process id file could not be written again");
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
