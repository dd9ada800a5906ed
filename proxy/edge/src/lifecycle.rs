//! From serving to leaving: who is still in flight, what phase the edge is in, and who asked it to go.

use std::time::Duration;

use pingora::server::ShutdownWatch;
use svc_pipeline::request::CutOff;
use tokio::sync::{mpsc, watch};

use crate::application::PublicDoor;
use crate::metrics::EdgeMetrics;

/// How [`crate::Edge::run`] came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// Every exchange ended by itself.
    Drained,
    /// The deadline passed; what was still open was ended with a retryable error.
    CutOff,
    /// A second signal asked not to wait; what was still open was ended with a retryable error.
    AtOnce,
}

/// Asks a running edge to go, as the signals do.
#[derive(Clone)]
pub struct EdgeHandle {
    wishes: mpsc::Sender<Wish>,
    listening: watch::Receiver<Listening>,
    phase: watch::Receiver<Phase>,
}

impl EdgeHandle {
    /// Say that no new callers are wanted, stop accepting, finish what is in flight, leave: SIGTERM.
    pub fn drain(&self) {
        // A full queue holds the same wish already.
        let _ = self.wishes.try_send(Wish::Drain);
    }

    /// Give the listening sockets to a successor, then drain: SIGQUIT.
    pub fn hand_over(&self) {
        let _ = self.wishes.try_send(Wish::HandOver);
    }

    pub(crate) fn public_door(&self) -> PublicDoor {
        match *self.phase.borrow() {
            Phase::Serving => PublicDoor::Open,
            Phase::Announced | Phase::Leaving | Phase::Closing | Phase::Ending => {
                PublicDoor::Closed
            }
        }
    }

    /// Returns once every listener accepts; `false` when one could not be opened.
    pub async fn listening(&mut self) -> bool {
        self.listening
            .wait_for(|state| *state != Listening::Starting)
            .await
            .is_ok_and(|state| *state == Listening::Ready)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Drain,
    HandOver,
    /// A listener could not be opened: there is nothing to serve.
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listening {
    Starting,
    Ready,
    Failed,
}

/// What connections and exchanges have to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Serving,
    /// Whoever asks is told to send nobody else. New connections are taken all the same; a connection serves one more
    /// request at most.
    Announced,
    /// No new connections; a connection serves one more request at most.
    Leaving,
    /// As before, and idle connections close at once.
    Closing,
    /// The deadline passed: streams end with an error event, waiting requests with 503.
    Ending,
}

pub(crate) struct Lifecycle {
    phase: watch::Sender<Phase>,
    in_flight: watch::Sender<usize>,
    connections: watch::Sender<usize>,
    listening: watch::Sender<Listening>,
    public_stop: watch::Sender<bool>,
    admin_stop: watch::Sender<bool>,
    wishes: mpsc::Sender<Wish>,
    metrics: EdgeMetrics,
    pub(crate) cut_off: CutOff,
}

/// 4: each kind of wish once, and one to spare; more would say nothing new.
const WISHES: usize = 4;

impl Lifecycle {
    pub(crate) fn new(metrics: EdgeMetrics) -> (Self, mpsc::Receiver<Wish>) {
        let (wishes, receiver) = mpsc::channel(WISHES);
        let lifecycle = Self {
            phase: watch::Sender::new(Phase::Serving),
            in_flight: watch::Sender::new(0),
            connections: watch::Sender::new(0),
            listening: watch::Sender::new(Listening::Starting),
            public_stop: watch::Sender::new(false),
            admin_stop: watch::Sender::new(false),
            wishes,
            metrics,
            cut_off: CutOff::default(),
        };
        (lifecycle, receiver)
    }

    pub(crate) fn handle(&self) -> EdgeHandle {
        EdgeHandle {
            wishes: self.wishes.clone(),
            listening: self.listening.subscribe(),
            phase: self.phase.subscribe(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    pub(crate) fn enter(&self, phase: Phase) {
        tracing::info!(?phase, "edge phase");
        if phase == Phase::Ending {
            self.cut_off.begin();
        }
        self.phase.send_replace(phase);
    }

    /// Resolves when the edge has come to `phase` or beyond.
    pub(crate) async fn reached(&self, phase: Phase) {
        let mut watch = self.phase.subscribe();
        // The sender lives as long as self, so that this cannot fail while it is awaited.
        let _ = watch.wait_for(|now| *now >= phase).await;
    }

    pub(crate) fn listening(&self, state: Listening) {
        self.listening.send_replace(state);
        if state == Listening::Failed {
            let _ = self.wishes.try_send(Wish::Fail);
        }
    }

    /// Tells pingora's accept loops when to end.
    pub(crate) fn public_stop(&self) -> ShutdownWatch {
        self.public_stop.subscribe()
    }

    pub(crate) fn admin_stop(&self) -> ShutdownWatch {
        self.admin_stop.subscribe()
    }

    pub(crate) fn stop_public(&self) {
        self.public_stop.send_replace(true);
    }

    pub(crate) fn stop_admin(&self) {
        self.admin_stop.send_replace(true);
    }

    /// Counts one exchange until the guard is dropped.
    pub(crate) fn exchange(&self) -> Counted<'_> {
        self.metrics.requests_in_flight.inc();
        counted(&self.in_flight, Some(&self.metrics))
    }

    /// Counts one public connection until the guard is dropped.
    pub(crate) fn connection(&self) -> Counted<'_> {
        counted(&self.connections, None)
    }

    /// Waits until no exchange is in flight; `false` when `limit` passes first.
    pub(crate) async fn exchanges_gone(&self, limit: Duration) -> bool {
        gone(&self.in_flight, limit).await
    }

    /// Waits until no connection is open; `false` when `limit` passes first.
    pub(crate) async fn connections_gone(&self, limit: Duration) -> bool {
        gone(&self.connections, limit).await
    }
}

async fn gone(count: &watch::Sender<usize>, limit: Duration) -> bool {
    let mut watch = count.subscribe();
    let zero = watch.wait_for(|count| *count == 0);
    tokio::time::timeout(limit, zero).await.is_ok()
}

/// One more until the guard is dropped, when `gauge` goes down too.
pub(crate) fn counted<'a>(
    count: &'a watch::Sender<usize>,
    gauge: Option<&'a EdgeMetrics>,
) -> Counted<'a> {
    count.send_modify(|count| *count += 1);
    Counted { count, gauge }
}

pub(crate) struct Counted<'a> {
    count: &'a watch::Sender<usize>,
    gauge: Option<&'a EdgeMetrics>,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.count
            .send_modify(|count| *count = count.saturating_sub(1));
        if let Some(metrics) = self.gauge {
            metrics.requests_in_flight.dec();
        }
    }
}
