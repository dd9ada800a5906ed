//! The streams of an HTTP/2 connection, and its last word when it has been idle. Pingora closes such a connection without
//! one, perhaps under a request that is on its way, which nobody could tell from one that was served (RFC 9113, 6.8).

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pingora::listeners::TlsAccept;
use pingora::protocols::tls::{SslDigest, TlsRef};
use pingora::server::ShutdownWatch;
use tokio::sync::watch;

use crate::lifecycle::{Counted, counted};

/// How many streams of one connection are open. All of them find it in what they know of their TLS handshake.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<watch::Sender<usize>>);

impl Streams {
    pub(crate) fn of(handshake: &SslDigest) -> Option<Self> {
        handshake.extension.get::<Self>().cloned()
    }

    /// Counts one stream until the guard is dropped.
    pub(crate) fn begin(&self) -> Counted<'_> {
        counted(&self.0, None)
    }

    /// Has the connection say GOAWAY, by `last_word`, once it has been idle for `idle` or the edge stops. Returns when
    /// an idle one has had its time to end by itself: its client may be gone without a word too.
    pub(crate) async fn part(
        &self,
        last_word: &watch::Sender<bool>,
        idle: Duration,
        mut stop: ShutdownWatch,
    ) {
        // 1 s: a client that is there answers within one round trip.
        const CLOSING: Duration = Duration::from_secs(1);
        let has_to_go = tokio::select! {
            () = self.idle_for(idle) => false,
            _ = stop.wait_for(|stops| *stops) => true,
        };
        last_word.send_replace(true);
        if has_to_go {
            // How long a drain takes is not decided here.
            return std::future::pending().await;
        }
        self.idle_for(CLOSING).await;
    }

    /// Resolves when no stream has been open for so long.
    async fn idle_for(&self, time: Duration) {
        let mut open = self.0.subscribe();
        // The sender lives as long as self, so that neither wait can fail.
        while open.wait_for(|count| *count == 0).await.is_ok() {
            let begun = open.wait_for(|count| *count > 0);
            if tokio::time::timeout(time, begun).await.is_err() {
                return;
            }
        }
    }
}

/// Gives every TLS connection its count.
pub(crate) struct Counting;

#[async_trait]
impl TlsAccept for Counting {
    async fn handshake_complete_callback(
        &self,
        _tls: &TlsRef,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(Streams::default()))
    }
}
