//! The socket below the fake: numbers connections and breaks them on request.
//!
//! HTTP libraries are too polite to write three bytes at a time, reset a connection or close half of it;
//! these faults are made here, under them. Knows no HTTP.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;

/// How a connection ends when a script ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Close {
    /// The body ends as if it were whole; nothing is wrong with the HTTP.
    End,
    /// The connection is closed (FIN) in the middle of the body.
    Cut,
    /// The connection is reset (RST) in the middle of the body.
    Reset,
    /// Our sending side is closed (FIN), our receiving side stays open.
    #[serde(rename = "half_close")]
    Half,
}

/// One connection, seen from the handlers that answer on it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) id: u64,
    fault: AtomicU8,
    pace_bytes: AtomicU64,
    pace_us: AtomicU64,
    flushes: AtomicU64,
}

/// The connection a request came in on, as axum hands it to a handler.
#[derive(Clone, Debug)]
pub(crate) struct Peer(pub(crate) Arc<Connection>);

pub(crate) struct WireListener {
    listener: TcpListener,
    accepted: u64,
}

/// One accepted socket with its faults.
pub(crate) struct Wire {
    stream: TcpStream,
    connection: Arc<Connection>,
    /// Runs while the next piece of a dripping answer is not due.
    pause: Option<Pin<Box<Sleep>>>,
}

/// 10 ms: how long to leave the listener alone after a failed accept (out of file descriptors, mostly).
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

const NO_FAULT: u8 = 0;
const CUT: u8 = 1;
const RESET: u8 = 2;
const HALF_CLOSE: u8 = 3;

impl Connection {
    fn new(id: u64) -> Arc<Self> {
        Arc::new(Self {
            id,
            fault: AtomicU8::new(NO_FAULT),
            pace_bytes: AtomicU64::new(0),
            pace_us: AtomicU64::new(0),
            flushes: AtomicU64::new(0),
        })
    }

    /// From the next write on, writes at most `bytes` at a time with `interval` between. 0 bytes: no limit.
    pub(crate) fn pace(&self, bytes: u64, interval: Duration) {
        let interval_us = u64::try_from(interval.as_micros()).unwrap_or(u64::MAX);
        self.pace_us.store(interval_us, Ordering::Relaxed);
        self.pace_bytes.store(bytes, Ordering::Relaxed);
    }

    /// The next write ends the connection instead of being sent.
    pub(crate) fn break_off(&self, close: Close) {
        let fault = match close {
            Close::End => NO_FAULT,
            Close::Cut => CUT,
            Close::Reset => RESET,
            Close::Half => HALF_CLOSE,
        };
        self.fault.store(fault, Ordering::Release);
    }

    /// How often everything written so far has been handed to the kernel.
    pub(crate) fn flushes(&self) -> u64 {
        self.flushes.load(Ordering::Acquire)
    }
}

impl WireListener {
    pub(crate) async fn bind(address: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            listener: TcpListener::bind(address).await?,
            accepted: 0,
        })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Listener for WireListener {
    type Io = Wire;
    type Addr = Peer;

    async fn accept(&mut self) -> (Wire, Peer) {
        loop {
            let Ok((stream, _)) = self.listener.accept().await else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            // Best effort: without it split writes are joined again by the kernel.
            let _ = stream.set_nodelay(true);
            self.accepted += 1;
            let connection = Connection::new(self.accepted);
            let wire = Wire {
                stream,
                connection: Arc::clone(&connection),
                pause: None,
            };
            return (wire, Peer(connection));
        }
    }

    fn local_addr(&self) -> io::Result<Peer> {
        Ok(Peer(Connection::new(0)))
    }
}

impl Connected<IncomingStream<'_, WireListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, WireListener>) -> Self {
        stream.remote_addr().clone()
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.connection.fault.load(Ordering::Acquire) {
            NO_FAULT => {}
            CUT => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            RESET => {
                self.stream.set_zero_linger()?;
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            _ => {
                ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
                return Poll::Ready(Ok(bytes.len()));
            }
        }
        if let Some(pause) = self.pause.as_mut() {
            ready!(pause.as_mut().poll(cx));
            self.pause = None;
        }
        let pace_bytes = self.connection.pace_bytes.load(Ordering::Relaxed);
        let piece = match usize::try_from(pace_bytes) {
            Ok(limit @ 1..) => bytes.get(..limit).unwrap_or(bytes),
            _ => bytes,
        };
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, piece))?;
        let pace_us = self.connection.pace_us.load(Ordering::Relaxed);
        if pace_bytes > 0 && pace_us > 0 {
            let pause = tokio::time::sleep(Duration::from_micros(pace_us));
            self.pause = Some(Box::pin(pause));
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.connection.flushes.fetch_add(1, Ordering::Release);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
