//! The bundled fake provider: a strict stand-in for a real upstream, for demos, tests and load runs.
//!
//! It refuses what the real wire format refuses, answers deterministically, misbehaves on request (see
//! [`script`]) and remembers everything it was sent. It never calls out and never holds a real credential.
//!
//! Counting rule: one token is four characters, rounded up, over all text of a request or an answer, at
//! least one.

mod answer;
mod chat;
mod control;
mod directive;
mod format;
mod frame;
mod journal;
mod listener;
mod messages;
mod plan;
mod quiet;
mod reply;
mod sample;
mod script;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::routing::{MethodRouter, any, get, put};
use serde_json::json;

use crate::fake_provider::answer::Route;
use crate::fake_provider::format::{FORMATS, Format, Operation};
use crate::fake_provider::journal::Journal;
use crate::fake_provider::listener::{Peer, WireListener};
use crate::fake_provider::quiet::Canned;
use crate::fake_provider::script::Script;

/// Options of `svc-gateway fake-provider`, and of the one that `serve` starts for itself.
#[derive(Clone, clap::Args)]
pub(crate) struct Options {
    /// Address to listen on; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// The key that callers must send; without it any non-empty key will do.
    #[arg(long)]
    pub(crate) api_key: Option<String>,
    /// File that gets one JSON line per request, written before its answer starts.
    #[arg(long)]
    pub(crate) record: Option<PathBuf>,
    /// Milliseconds to wait before each answer.
    #[arg(long, default_value_t = 0)]
    pub(crate) latency_ms: u64,
    /// Milliseconds to wait before each event of a stream.
    #[arg(long, default_value_t = 0)]
    pub(crate) event_delay_ms: u64,
    /// For load runs: canned answers, no checks of the body, nothing remembered.
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl Options {
    /// A fake on a free port of this machine that takes any key.
    pub(crate) fn on_a_free_port() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            api_key: None,
            record: None,
            latency_ms: 0,
            event_delay_ms: 0,
            quiet: false,
        }
    }
}

/// A fake provider that has its address and waits to be run.
pub(crate) struct Bound {
    address: SocketAddr,
    listener: WireListener,
    router: Router,
}

/// What every request handler shares.
pub(crate) struct Provider {
    api_key: Option<String>,
    latency: Duration,
    event_delay: Duration,
    journal: Arc<Journal>,
    script: Script,
}

/// Binds the address of `options`. Connections wait in the backlog until [`Bound::run`].
///
/// # Errors
/// When the address is taken or the record file cannot be opened.
pub(crate) async fn bind(options: Options) -> anyhow::Result<Bound> {
    let Options {
        listen,
        api_key,
        record,
        latency_ms,
        event_delay_ms,
        quiet,
    } = options;
    let listener = WireListener::bind(listen)
        .await
        .with_context(|| format!("binding the fake provider to {listen}"))?;
    let canned: fn(&Format) -> Option<Canned> = if quiet {
        |format| Some(Canned::new(format))
    } else {
        |_| None
    };
    let provider = Arc::new(Provider {
        api_key,
        latency: Duration::from_millis(latency_ms),
        event_delay: Duration::from_millis(event_delay_ms),
        journal: Arc::new(Journal::open(record.as_deref())?),
        script: Script::default(),
    });
    Ok(Bound {
        address: listener.address()?,
        listener,
        router: router(provider, canned),
    })
}

impl Bound {
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the returned future is dropped.
    ///
    /// # Errors
    /// When the listener fails.
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let service = self.router.into_make_service_with_connect_info::<Peer>();
        axum::serve(self.listener, service)
            .await
            .context("serving the fake provider")
    }
}

/// Runs the `fake-provider` command: prints the bound address as one line of JSON, serves until a signal.
///
/// # Errors
/// As [`bind`] and [`Bound::run`].
pub(crate) async fn serve(options: Options) -> anyhow::Result<()> {
    let bound = bind(options).await?;
    let formats: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    let line = json!({"listening": bound.address().to_string(), "formats": formats});
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")
        .and_then(|()| stdout.flush())
        .context("printing the address")?;
    drop(stdout);
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .context("listening for SIGTERM")?;
    tokio::select! {
        ended = bound.run() => ended,
        _ = tokio::signal::ctrl_c() => Ok(()),
        _ = terminate.recv() => Ok(()),
    }
}

/// The routes of every format; `canned` gives the answers of a quiet fake.
fn router(provider: Arc<Provider>, canned: fn(&Format) -> Option<Canned>) -> Router {
    let mut router = Router::new()
        .route(
            "/_control/script",
            put(control::replace_script)
                .post(control::extend_script)
                .delete(control::clear_script)
                .get(control::show_script),
        )
        .route(
            "/_control/requests",
            get(control::requests).delete(control::clear_requests),
        );
    for format in FORMATS {
        let answering = Route {
            format,
            operation: Operation::Answer,
            canned: canned(format),
        };
        router = router.route(format.path, route(answering));
        if let Some(path) = format.count_path {
            let counting = Route {
                format,
                operation: Operation::Count,
                canned: None,
            };
            router = router.route(path, route(counting));
        }
    }
    router
        .fallback(answer::unknown_route)
        .layer(DefaultBodyLimit::disable())
        .with_state(provider)
}

fn route(route: Route) -> MethodRouter<Arc<Provider>> {
    any(
        move |state: State<Arc<Provider>>, peer: ConnectInfo<Peer>, request: Request| {
            answer::handle(route, state, peer, request)
        },
    )
}
