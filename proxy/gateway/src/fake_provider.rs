//! The bundled fake provider: a strict stand-in for a real upstream, for demos, tests and load runs.
//!
//! It refuses what the real wire format refuses, answers deterministically, misbehaves on request (see
//! [`script`]) and remembers everything it was sent; the one that `serve` starts for itself takes no orders but those
//! in a request's text, and remembers nothing. It never calls out and never holds a real credential.
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
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::routing::{MethodRouter, any};
use serde_json::json;

use crate::fake_provider::answer::Route;
use crate::fake_provider::control::Control;
use crate::fake_provider::format::{FORMATS, Format, Operation};
use crate::fake_provider::journal::{Journal, Received, Ticket};
use crate::fake_provider::listener::{Peer, WireListener};
use crate::fake_provider::quiet::Canned;
use crate::fake_provider::script::Script;

/// Options of `svc-gateway fake-provider`.
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
    script: Arc<Script>,
    memory: Memory,
}

/// What is known of earlier requests.
enum Memory {
    Journal(Arc<Journal>),
    /// How many there were: ids are made from it.
    Count(AtomicU64),
}

impl Provider {
    /// # Errors
    /// When the request should be noted in the record file, and cannot be.
    fn receive(&self, received: Received<'_>) -> anyhow::Result<Ticket> {
        match &self.memory {
            Memory::Journal(journal) => journal.receive(received),
            Memory::Count(count) => Ok(Ticket::unrecorded(
                1 + count.fetch_add(1, Ordering::Relaxed),
            )),
        }
    }
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
    let canned: fn(&Format) -> Option<Canned> = if quiet {
        |format| Some(Canned::new(format))
    } else {
        |_| None
    };
    let control = Control {
        script: Arc::default(),
        journal: Arc::new(Journal::open(record.as_deref())?),
    };
    let provider = Arc::new(Provider {
        api_key,
        latency: Duration::from_millis(latency_ms),
        event_delay: Duration::from_millis(event_delay_ms),
        script: Arc::clone(&control.script),
        memory: Memory::Journal(Arc::clone(&control.journal)),
    });
    let router = answers(provider, canned).merge(control::router(control));
    listen_on(listen, router).await
}

/// Starts the fake of a gateway that serves, which runs as long as the process, and gives its address. It has a thread
/// of its own: whatever callers make it do, nothing else waits for it.
///
/// # Errors
/// When there is no free port, or no thread.
pub(crate) fn start_embedded(api_key: String) -> anyhow::Result<SocketAddr> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("making the runtime of the fake provider")?;
    let bound = runtime.block_on(bind_embedded(api_key))?;
    let address = bound.address();
    let run = move || {
        if let Err(error) = runtime.block_on(bound.run()) {
            tracing::error!(error = format!("{error:#}"), "the fake provider ended");
        }
    };
    let thread = std::thread::Builder::new().name("fake provider".to_owned());
    thread
        .spawn(run)
        .context("starting the thread of the fake provider")?;
    Ok(address)
}

/// As [`bind`], on a free port of this machine and for whoever has the key. Nobody can ask what it was sent, and it
/// keeps none of it: it may be the content of many organizations.
async fn bind_embedded(api_key: String) -> anyhow::Result<Bound> {
    let provider = Arc::new(Provider {
        api_key: Some(api_key),
        latency: Duration::ZERO,
        event_delay: Duration::ZERO,
        script: Arc::default(),
        memory: Memory::Count(AtomicU64::new(0)),
    });
    let free_port = (Ipv4Addr::LOCALHOST, 0).into();
    listen_on(free_port, answers(provider, |_| None)).await
}

async fn listen_on(address: SocketAddr, router: Router) -> anyhow::Result<Bound> {
    let listener = WireListener::bind(address)
        .await
        .with_context(|| format!("binding the fake provider to {address}"))?;
    Ok(Bound {
        address: listener.address()?,
        listener,
        router,
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
fn answers(provider: Arc<Provider>, canned: fn(&Format) -> Option<Canned>) -> Router {
    let mut router = Router::new();
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
