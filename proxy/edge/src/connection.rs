//! One client connection: admission, reading heads within their deadlines, keep-alive, and a close that lets
//! the client read its answer. What happens between head and close is [`crate::exchange`].

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::HeaderMap;
use pingora::ErrorType;
use pingora::apps::{
    HttpPersistentSettings, HttpServerApp, HttpServerOptions, ReusedHttpStream, ServerApp,
};
use pingora::protocols::http::ServerSession;
use pingora::protocols::http::v2::server::{H2Options, default_h2_options};
use pingora::protocols::{ALPN, Stream};
use pingora::server::ShutdownWatch;
use svc_core::fault::invalid;
use tokio::sync::watch;

use crate::admission::Admission;
use crate::application::{Refuse, Service};
use crate::downstream::Downstream;
use crate::exchange::{self, After, BAD_HEAD};
use crate::handshake::Handshakes;
use crate::head;
use crate::lifecycle::{Lifecycle, Phase};
use crate::metrics::EdgeMetrics;
use crate::options::{Limits, Network};
use crate::streams::Streams;
use crate::watched::{Pace, Watched};

/// Everything that a connection needs to know.
pub(crate) struct Gate {
    pub(crate) serve: Service,
    pub(crate) refuse: Refuse,
    pub(crate) limits: Limits,
    pub(crate) trusted_proxies: Vec<Network>,
    pub(crate) lifecycle: Arc<Lifecycle>,
    pub(crate) metrics: EdgeMetrics,
    pub(crate) server_options: HttpServerOptions,
}

/// The application of one listener.
pub(crate) struct Door {
    pub(crate) gate: Arc<Gate>,
    pub(crate) entrance: Entrance,
}

/// What a connection passes before anything of it is read.
pub(crate) enum Entrance {
    Plain(Arc<Admission>),
    /// It was admitted before its handshake, which is over.
    Tls(Arc<Handshakes>),
}

#[async_trait]
impl ServerApp for Door {
    async fn process_new(
        self: &Arc<Self>,
        stream: Stream,
        shutdown: &ShutdownWatch,
    ) -> Option<Stream> {
        let address = stream
            .get_socket_digest()
            .and_then(|digest| digest.peer_addr()?.as_inet().map(|inet| inet.ip()))?;
        let _permit = match &self.entrance {
            Entrance::Plain(admission) => Some(admission.admit(address)?),
            Entrance::Tls(handshakes) => {
                handshakes.end(stream.id());
                None
            }
        };
        let _open = self.gate.lifecycle.connection();
        let streams = match stream.selected_alpn_proto() {
            Some(ALPN::H2) => Streams::of(stream.get_ssl_digest()?.as_ref()),
            _ => None,
        };
        let watched = Watched::new(stream, &self.gate.limits);
        let Some(streams) = streams else {
            return ServerApp::process_new(&self.gate, Box::new(watched), shutdown).await;
        };
        let (last_word, stop) = watch::channel(false);
        tokio::select! {
            ended = ServerApp::process_new(&self.gate, Box::new(watched), &stop) => ended,
            () = streams.part(&last_word, self.gate.limits.h2_idle, shutdown.clone()) => None,
        }
    }
}

#[async_trait]
impl HttpServerApp for Gate {
    async fn process_new_http(
        self: &Arc<Self>,
        mut session: ServerSession,
        _shutdown: &ShutdownWatch,
    ) -> Option<ReusedHttpStream> {
        let streams = streams_of(&session);
        let _open = streams.as_ref().map(Streams::begin);
        let pace = pace_of(&session);
        self.read_head(&mut session, &pace).await?;
        // To the very end: a connection that lingers still carries an answer.
        let _in_flight = self.lifecycle.exchange();
        let mut keep_alive = session.get_keepalive().is_some();
        if self.lifecycle.phase() != Phase::Serving {
            keep_alive = false;
        }
        session.set_keepalive(keep_alive.then_some(self.limits.idle.as_secs().max(1)));
        session.set_write_timeout(Some(self.limits.write));
        // A late CRLF or a pipelined request must not kill this one.
        session.set_pipelining_enabled(true);
        let after = exchange::run(self, &mut session, &pace).await;
        self.part(session, after).await
    }

    fn h2_options(&self) -> Option<H2Options> {
        let mut options = default_h2_options();
        options.max_concurrent_streams(self.limits.h2_streams);
        // Twice our own limit, so that most offenders get our answer and not a bare reset.
        let list = self.limits.header_bytes.saturating_mul(2);
        options.max_header_list_size(u32::try_from(list).unwrap_or(u32::MAX));
        Some(options)
    }

    fn server_options(&self) -> Option<&HttpServerOptions> {
        Some(&self.server_options)
    }
}

impl Gate {
    /// Reads the next head. `None`: there is none, or it has been refused.
    async fn read_head(&self, session: &mut ServerSession, pace: &Pace) -> Option<()> {
        if session.is_http2() {
            return Some(());
        }
        let first = pace.rearm();
        let idle = if first {
            self.limits.header_deadline
        } else {
            self.limits.idle
        };
        // The timers are ours: pingora's restart with every read. 0 is "no limit" there.
        session.set_keepalive(Some(0));
        session.set_read_timeout(None);
        let closing = async {
            self.lifecycle.reached(Phase::Closing).await;
            if pace.seen() {
                std::future::pending::<()>().await;
            }
        };
        let read = tokio::select! {
            read = session.read_request() => read,
            () = pace.overdue(idle, self.limits.header_deadline) => {
                if pace.seen() {
                    self.refused("header_timeout");
                }
                return None;
            }
            () = closing => return None,
        };
        match read {
            Ok(true) => return Some(()),
            // However pingora takes the end of a stream that was cut.
            read => match (pace.outgrown(), read) {
                (Some(path), _) => {
                    self.refused(BAD_HEAD);
                    self.refuse_head(session, pace, &path, head::TOO_LARGE)
                        .await;
                }
                (None, Err(error)) if *error.etype() == ErrorType::InvalidHTTPHeader => {
                    self.refused("header_invalid");
                    self.refuse_head(session, pace, "", "is not valid HTTP")
                        .await;
                }
                (None, _) => {}
            },
        }
        None
    }

    async fn refuse_head(
        &self,
        session: &mut ServerSession,
        pace: &Pace,
        path: &str,
        problem: &str,
    ) {
        session.set_keepalive(None);
        let fault = invalid("$header", problem);
        let answer = (self.refuse)(None, path, &HeaderMap::new(), &fault);
        let mut downstream = Downstream::headless(session, pace, self.limits.write);
        if downstream.send_whole(answer).await.is_ok() {
            linger(session).await;
        }
    }

    pub(crate) fn refused(&self, reason: &str) {
        self.metrics
            .requests_refused
            .with_label_values(&[reason])
            .inc();
    }

    /// Ends the exchange and hands the connection back where it can be used again.
    async fn part(&self, mut session: ServerSession, after: After) -> Option<ReusedHttpStream> {
        match after {
            After::Finish => {
                let settings = HttpPersistentSettings::for_session(&session);
                let ended = tokio::time::timeout(self.limits.write, session.finish()).await;
                let stream = ended.ok()?.ok()??;
                Some(ReusedHttpStream::from_reusable_stream(stream, settings))
            }
            After::Linger => {
                linger(&mut session).await;
                None
            }
            // Dropping the session closes HTTP/1 and resets HTTP/2.
            After::Abandon => None,
        }
    }
}

fn pace_of(session: &ServerSession) -> Arc<Pace> {
    session
        .stream()
        .and_then(|stream| stream.as_any().downcast_ref::<Watched>())
        .map_or_else(Arc::default, |watched| Arc::clone(watched.pace()))
}

fn streams_of(session: &ServerSession) -> Option<Streams> {
    let handshake = session.digest()?.ssl_digest.as_ref()?;
    Streams::of(handshake)
}

/// Where a request came from; pingora has it for every TCP connection.
pub(crate) fn address_of(session: &ServerSession) -> IpAddr {
    session
        .client_addr()
        .and_then(|address| address.as_inet())
        .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |inet| inet.ip())
}

/// Closes our side and reads on for a moment: closing on unread bytes resets the connection, and the reset
/// can overtake the answer that says why (RFC 9112, 9.6).
async fn linger(session: &mut ServerSession) {
    // 2 s and 4 MiB: enough for a client to notice the answer, too little to be worth an attack.
    const WAIT: Duration = Duration::from_secs(2);
    const MOST_BYTES: usize = 4 * 1024 * 1024;
    let ServerSession::H1(session) = session else {
        return;
    };
    let reading = async {
        session.shutdown().await;
        // Raw bytes, whatever they were meant to be: the framing may be what was wrong.
        for _ in 0..MOST_BYTES {
            match session.idle().await {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
    };
    // Out of patience is as good as done.
    let _ = tokio::time::timeout(WAIT, reading).await;
}
