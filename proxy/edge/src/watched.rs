//! A client's byte stream with four eyes on it: when the first byte of a request came, how long its head gets, whether an
//! HTTP/2 client ever finishes its preface, and whether chunks are framed as they must be ([`crate::framing`]). Pingora
//! restarts its own timers with every read, and reads a head of a megabyte. Knows no HTTP beyond that; passes all bytes
//! through unchanged but stray line ends between requests, and those of a head or a body that breaks its rules.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use pingora::protocols::raw_connect::ProxyDigest;
use pingora::protocols::tls::SslDigest;
use pingora::protocols::{
    ALPN, GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl,
    Stream, TimingDigest, UniqueID, UniqueIDType,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Sleep;

use crate::framing::{BodyLength, Framing, Untrusted};
use crate::options::Limits;

/// RFC 9113, 3.4: `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`.
const PREFACE_BYTES: usize = 24;

/// What the reader of an HTTP/1.1 connection asks its stream.
#[derive(Default)]
pub(crate) struct Pace {
    seen: AtomicBool,
    arrived: Notify,
    swallowing: AtomicBool,
    served: AtomicBool,
    /// Whether a head is being read: what has come of the next one meanwhile counts when its turn comes.
    in_head: AtomicBool,
    /// The path of a head that got too long.
    outgrown: Mutex<Option<String>>,
    framing: Mutex<Framing>,
    misframed: AtomicBool,
}

impl Pace {
    /// Starts waiting for the first byte of the next head. `true` for the first one of the connection.
    pub(crate) fn rearm(&self) -> bool {
        self.swallowing.store(false, Ordering::Relaxed);
        self.seen.store(false, Ordering::Relaxed);
        self.in_head.store(true, Ordering::Relaxed);
        !self.served.swap(true, Ordering::Relaxed)
    }

    /// Whether a byte came since [`Pace::rearm`].
    pub(crate) fn seen(&self) -> bool {
        self.seen.load(Ordering::Relaxed)
    }

    /// A head of HTTP/1.1 has been read, and its body begins: from here on its framing is watched.
    ///
    /// # Errors
    /// A framing that is broken already, or that nobody can follow.
    pub(crate) fn body_begins(&self, head: &[u8], body: BodyLength) -> Result<(), Untrusted> {
        self.in_head.store(false, Ordering::Relaxed);
        let begun = self.framing.lock().begin(head, body);
        if begun.is_err() {
            self.misframed.store(true, Ordering::Relaxed);
        }
        begun
    }

    /// Whether the framing of a body was broken. What has come since then is nobody's.
    pub(crate) fn misframed(&self) -> bool {
        self.misframed.load(Ordering::Relaxed)
    }

    /// The path of the head that has just failed, if that is because it got too long.
    pub(crate) fn outgrown(&self) -> Option<String> {
        self.outgrown.lock().take()
    }

    /// Whether it is not known any more where the messages of this connection begin.
    pub(crate) fn is_lost(&self) -> bool {
        self.framing.lock().is_lost()
    }

    /// Follows bytes of HTTP/1.1; `false` where they break their framing or make a head longer than `header_bytes`.
    fn follow(&self, bytes: &[u8], header_bytes: usize) -> bool {
        if self.misframed() {
            return true;
        }
        let mut framing = self.framing.lock();
        if framing.feed(bytes).is_err() {
            self.misframed.store(true, Ordering::Relaxed);
            return false;
        }
        let is_too_long = framing.unfinished() > header_bytes;
        if is_too_long && self.in_head.load(Ordering::Relaxed) {
            *self.outgrown.lock() = Some(framing.give_up());
            return false;
        }
        true
    }

    /// Resolves when a head did not start within `idle` or did not end within `whole` after its first byte.
    pub(crate) async fn overdue(&self, idle: Duration, whole: Duration) {
        let first_byte = async {
            loop {
                let arrived = self.arrived.notified();
                if self.seen() {
                    return;
                }
                arrived.await;
            }
        };
        if tokio::time::timeout(idle, first_byte).await.is_ok() {
            tokio::time::sleep(whole).await;
        }
    }

    /// From here to the next head, line ends are noise: clients of old send one after a body, and a byte
    /// that pingora has to keep blinds it to the client's leaving.
    pub(crate) fn swallow_line_ends(&self) {
        self.swallowing.store(true, Ordering::Relaxed);
    }
}

pub(crate) struct Watched {
    inner: Stream,
    pace: Arc<Pace>,
    header_bytes: usize,
    http2: bool,
    preface: Option<Preface>,
}

struct Preface {
    missing: usize,
    deadline: Pin<Box<Sleep>>,
}

impl Watched {
    /// The time for a head limits the preface where the client chose HTTP/2.
    pub(crate) fn new(inner: Stream, limits: &Limits) -> Self {
        let http2 = matches!(inner.selected_alpn_proto(), Some(ALPN::H2));
        let preface = http2.then(|| Preface {
            missing: PREFACE_BYTES,
            deadline: Box::pin(tokio::time::sleep(limits.header_deadline)),
        });
        Self {
            inner,
            pace: Arc::default(),
            header_bytes: limits.header_bytes,
            http2,
            preface,
        }
    }

    pub(crate) fn pace(&self) -> &Arc<Pace> {
        &self.pace
    }

    fn note(&mut self, count: usize, noise: bool) {
        if count > 0 && !noise && !self.pace.seen.swap(true, Ordering::Relaxed) {
            self.pace.arrived.notify_waiters();
        }
        if let Some(preface) = &mut self.preface {
            preface.missing = preface.missing.saturating_sub(count);
            if preface.missing == 0 {
                self.preface = None;
            }
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = &mut *self;
        if let Some(preface) = &mut this.preface
            && preface.deadline.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Err(std::io::ErrorKind::TimedOut.into()));
        }
        loop {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut this.inner).poll_read(cx, buffer))?;
            let fresh = buffer.filled().get(before..).unwrap_or_default();
            let noise = fresh.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
            if noise && !fresh.is_empty() && this.pace.swallowing.load(Ordering::Relaxed) {
                buffer.set_filled(before);
                continue;
            }
            let count = fresh.len();
            if !this.http2 && !this.pace.follow(fresh, this.header_bytes) {
                buffer.set_filled(before);
                return Poll::Ready(Err(std::io::ErrorKind::InvalidData.into()));
            }
            this.note(count, noise);
            return Poll::Ready(Ok(()));
        }
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[async_trait]
impl Shutdown for Watched {
    async fn shutdown(&mut self) {
        self.inner.shutdown().await;
    }
}

impl UniqueID for Watched {
    fn id(&self) -> UniqueIDType {
        self.inner.id()
    }
}

impl Ssl for Watched {
    fn get_ssl_digest(&self) -> Option<Arc<SslDigest>> {
        self.inner.get_ssl_digest()
    }

    fn selected_alpn_proto(&self) -> Option<ALPN> {
        self.inner.selected_alpn_proto()
    }
}

impl GetTimingDigest for Watched {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        self.inner.get_timing_digest()
    }
}

impl GetProxyDigest for Watched {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        self.inner.get_proxy_digest()
    }
}

impl GetSocketDigest for Watched {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        self.inner.get_socket_digest()
    }
}

impl Peek for Watched {}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watched({})", self.inner.id())
    }
}
