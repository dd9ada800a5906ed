//! `svc-gateway serve`: everything wired together, in the order in which it starts.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures_util::FutureExt;
use prometheus::Registry;
use svc_core::address::AddressRules;
use svc_core::id::IdKind;
use svc_edge::{
    AddressRule, Application, ConnectorOptions, Edge, EdgeMetrics, EdgeOptions, PingoraConnector,
    Start, UpstreamMetrics,
};
use svc_pipeline::applications::Applications;
use svc_pipeline::budget::Rooms;
use svc_pipeline::filter::Callers;
use svc_pipeline::gateway::{Gateway, Settings};
use svc_pipeline::integration::Bindings;
use svc_pipeline::limiter::Limiter;
use svc_pipeline::metrics::Metrics;
use svc_pipeline::openid::OpenId;
use svc_pipeline::owed::Owed;
use svc_pipeline::phi::lists::Lists;
use svc_pipeline::phi::results::Results;
use svc_pipeline::policy::watch::Policies;
use svc_pipeline::provider::Providers;
use svc_pipeline::strangers::Strangers;
use svc_pipeline::trail::Refusals;
use svc_pipeline::upkeep::Pulse;
use svc_pipeline::upstream::{ChosenBy, Connector};
use svc_pipeline::{moment, service, upkeep};
use svc_solver::Pool;
use svc_store::Store;
use svc_store::limit::Counters;
use svc_webhook::Dispatcher;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, oneshot};

use crate::configuration::{Configuration, KNOWN_PROVIDERS, LimitsStore, Provider, Secret};
use crate::lock::{Lock, Lockable};
use crate::signals::Signals;
use crate::{
    admin_page, core_dump, descriptors, fake_provider, providers, solve, telemetry, welcome, wiring,
};

/// Options of `serve`.
#[derive(Clone, Copy, Default, clap::Args)]
pub(crate) struct Options {
    /// Take the listening sockets over from a running gateway, which gets SIGQUIT.
    #[arg(long)]
    upgrade: bool,
    /// Make an organization, a new one at each start, and print a curl line that is ready to run. Not for production.
    #[arg(long)]
    welcome: bool,
}

/// Serves until a signal ends it.
///
/// # Errors
/// Whatever keeps the gateway from starting.
pub(crate) fn run(configuration: &Configuration, options: &Options) -> anyhow::Result<ExitCode> {
    let background = wiring::runtime("background")?;
    let problems = {
        let _inside = background.enter();
        configuration.problems()
    };
    if !problems.is_empty() {
        anyhow::bail!("the configuration cannot be used:\n{}", problems.join("\n"));
    }
    let exporter = {
        let _inside = background.enter();
        telemetry::start(&configuration.telemetry)?
    };
    if let Err(error) = core_dump::forbid() {
        tracing::warn!(%error, "a crash may leave a core dump, which has keys and content in it");
    }
    if let Err(error) = descriptors::raise() {
        tracing::warn!(%error, "the limit of file descriptors stays as it is");
    }
    for doubt in configuration.doubts() {
        tracing::warn!("{doubt}");
    }
    let signals = {
        let _inside = background.enter();
        Signals::watch().context("watching signals")?
    };
    let folder = &configuration.server.data_dir;
    if wiring::is_open_to_others(folder) {
        tracing::warn!(folder = %folder.display(), "others may look into the data folder; chmod 700 keeps them out");
    }
    // Before the store is opened. A successor locks when it has the sockets: one that waits for them keeps nobody out.
    // What could keep it from locking is found out here, where it has not got them yet.
    let lockables = lockables(configuration)?;
    let (alone, waiting) = match options.upgrade {
        true => (Vec::new(), lockables),
        false => {
            let alone: anyhow::Result<_> = lockables.into_iter().map(Lockable::alone).collect();
            (alone?, Vec::new())
        }
    };
    let registry = Registry::new();
    exporter.register(&registry)?;
    let mut configuration = configuration.clone();
    let fakes = start_fakes(&mut configuration)?;
    let upstream = UpstreamMetrics::register(&registry)?;
    let built = build(&configuration, &background, &registry, &upstream);
    let gateway = background.block_on(built)?;
    let _watcher = gateway
        .policies
        .watch(
            gateway.store.clone(),
            Arc::clone(&gateway.plugins),
            Arc::clone(&gateway.metrics),
            background.handle(),
        )
        .context("watching the policies")?;
    let signalled = Arc::clone(&gateway);
    background.spawn(async move { signals.follow(&signalled).await });
    let (outside, settings) = webhooks(&configuration, &gateway, &registry, upstream)?;
    let (delivering, dispatcher) = oneshot::channel();
    let edge = edge(&configuration, options, &gateway, &registry, dispatcher)?;
    if options.welcome {
        let mut handle = edge.handle();
        let (configuration, store) = (configuration.clone(), gateway.store.clone());
        background.spawn(async move {
            if handle.listening().await
                && let Err(error) = welcome::print(&configuration, &store, fakes).await
            {
                tracing::error!(error = format!("{error:#}"), "no welcome");
            }
        });
    }
    if options.upgrade {
        tracing::info!(
            "waiting for the sockets of the running gateway, which hands them over on SIGQUIT"
        );
        edge.take_over()?;
    }
    let shared: anyhow::Result<Vec<Lock>> = waiting.into_iter().map(Lockable::shared).collect();
    let _locked = (alone, shared?);
    // Not before the sockets are here: who waits for them recovers, seals and delivers nothing.
    background
        .block_on(upkeep::start(&gateway))
        .context("entering this replica")?;
    // The edge holds the other end.
    let _ = delivering.send(Dispatcher::start(outside, settings));
    tracing::info!(listen = %configuration.server.listen, admin = %configuration.server.admin_listen, "serving");
    let departure = edge.run()?;
    tracing::info!(?departure, "left");
    drop(exporter);
    background.shutdown_timeout(SHUTDOWN);
    Ok(ExitCode::SUCCESS)
}

/// What is locked for one gateway and its successor: the data folder, and the store where it is a file.
fn lockables(configuration: &Configuration) -> anyhow::Result<Vec<Lockable>> {
    let database = Store::file(&configuration.database_url()).context("store.database_url")?;
    let folder = &configuration.server.data_dir;
    wiring::private_folder(folder)?;
    // Whoever shares both is told of the database.
    let mut lockables = Vec::new();
    if let Some(database) = database {
        lockables.push(Lockable::of_database(database)?);
    }
    lockables.push(Lockable::of_folder(folder)?);
    Ok(lockables)
}

/// What is still running on the background runtime when everything is settled is not worth waiting for.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// Where no provider has an address, starts the bundled fake provider in the place of [`KNOWN_PROVIDERS`]; the same for
/// test mode. Says so, because nothing real answers then.
fn start_fakes(configuration: &mut Configuration) -> anyhow::Result<bool> {
    let live_missing = configuration
        .providers
        .values()
        .all(|provider| provider.base_url.is_none());
    let test_missing = configuration
        .test_providers
        .values()
        .all(|provider| provider.base_url.is_none());
    if !live_missing && !test_missing {
        return Ok(false);
    }
    let key = svc_core::secret::api_key(svc_core::secret::Mode::Test, || rand::random_range(0..62));
    let address = fake_provider::start_embedded(key.clone())?;
    let fake = Provider {
        base_url: Some(format!("http://{address}")),
        api_key: Some(Secret(key)),
        ..Provider::default()
    };
    if live_missing {
        let names = KNOWN_PROVIDERS.join(" and ");
        tracing::warn!(%address, "no provider is configured: the bundled fake provider answers for {names}");
        for name in KNOWN_PROVIDERS {
            configuration
                .providers
                .insert(name.to_owned(), fake.clone());
        }
    }
    if test_missing {
        for name in KNOWN_PROVIDERS {
            configuration
                .test_providers
                .insert(name.to_owned(), fake.clone());
        }
    }
    Ok(live_missing)
}

/// The OpenID provider of the dashboard, where one is configured. It is asked for nothing before somebody signs in.
fn openid(
    configuration: &Configuration,
    connector: &Arc<dyn Connector>,
) -> anyhow::Result<Option<Arc<dyn OpenId>>> {
    let Some(openid) = configuration.dashboard.openid.clone() else {
        return Ok(None);
    };
    let settings = svc_dashboard::openid::Settings {
        issuer: openid.issuer,
        client_id: openid.client_id,
        client_secret: openid.client_secret.map(|Secret(text)| text),
        label: openid.label,
        email_domains: openid.email_domains,
        ca_file: openid.ca_file,
        base_url: configuration.base_url(),
    };
    let provider = svc_dashboard::openid::Provider::new(settings, connector.clone());
    Ok(Some(Arc::new(provider.context("dashboard.openid")?)))
}

async fn build(
    configuration: &Configuration,
    background: &Runtime,
    registry: &Registry,
    upstream: &UpstreamMetrics,
) -> anyhow::Result<Arc<Gateway>> {
    let store = wiring::store(configuration, background.handle()).await?;
    wiring::right_master_key(&store).await?;
    let metrics = Arc::new(Metrics::new(registry)?);
    let folder = configuration.policies_folder()?;
    let policies = Policies::open(&folder, configuration.known(), &store)
        .await
        .map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            anyhow::anyhow!("the policies cannot be used: {}", problems.join("; "))
        })?;
    metrics.policy_epoch.set(policies.current().epoch);
    let plugins = wiring::plugin_host(configuration).await?;
    plugins.register_metrics(registry)?;
    for id in &policies.current().phi.detectors {
        if let Err(error) = plugins.detector(id) {
            tracing::error!(%error, "inference answers 503 until this detector is there");
        }
    }
    let addresses = configuration.integrations.addresses()?;
    let rule = address_rule(addresses.clone());
    let connector = PingoraConnector::new(outbound(configuration), rule, upstream.clone())?;
    let connector: Arc<dyn Connector> = Arc::new(connector);
    let limiter = limiter(configuration, &store, &metrics, background)?;
    Ok(Arc::new(Gateway {
        policies: Arc::new(policies),
        store,
        plugins,
        solver: solver(configuration, background)?,
        openid: openid(configuration, &connector)?,
        connector,
        providers: Providers {
            live: providers::build(&configuration.providers)?,
            test: providers::build(&configuration.test_providers)?,
        },
        callers: Callers::default(),
        applications: Applications::default(),
        bindings: Bindings::default(),
        strangers: Strangers::default(),
        limiter: Arc::new(limiter),
        rooms: Rooms::default(),
        phi_lists: Lists::default(),
        phi_results: Arc::new(Results::new(&metrics)),
        hashing: Semaphore::new(HASHED_AT_ONCE),
        owed: Owed::new(metrics.unsettled.clone(), metrics.unwritten.clone()),
        refusals: Refusals::default(),
        metrics,
        join_trace: (!configuration.telemetry.otlp_endpoint.is_empty()).then_some(telemetry::join),
        settings: Settings {
            default_version: configuration.default_version()?,
            base_url: configuration.base_url(),
            sessions: configuration.dashboard.sessions(),
            inference_body_bytes: configuration.limits.inference_body_bytes,
            solve_body_bytes: configuration.solver.body_bytes,
            egress_body_bytes: configuration.integrations.body_bytes,
            addresses,
            integration_deadlines: configuration.integrations.deadlines(),
            webhook_max_attempts: configuration.webhooks.max_attempts(),
            heartbeat_interval: Duration::from_millis(configuration.limits.heartbeat_ms),
        },
        replica_id: moment::id(IdKind::Bare),
        pulse: Pulse::default(),
        background: background.handle().clone(),
    }))
}

/// 76 MiB for Argon2 at most; more people than this do not sign in within the same tenth of a second.
const HASHED_AT_ONCE: usize = 4;

/// What webhooks are delivered with: the background runtime, and connections of their own.
fn webhooks(
    configuration: &Configuration,
    gateway: &Arc<Gateway>,
    registry: &Registry,
    upstream: UpstreamMetrics,
) -> anyhow::Result<(svc_webhook::Outside, svc_webhook::Settings)> {
    let addresses = configuration.integrations.addresses()?;
    let rule = address_rule(addresses.clone());
    let connector = PingoraConnector::new(outbound(configuration), rule, upstream)?;
    let policies = Arc::clone(&gateway.policies);
    let outside = svc_webhook::Outside {
        store: gateway.store.clone(),
        connector: Arc::new(connector),
        metrics: svc_webhook::Metrics::register(registry)?,
        with_webhooks: Arc::new(move || policies.current().plans.with_webhooks()),
        replica_id: gateway.replica_id.clone(),
        background: gateway.background.clone(),
    };
    let settings = configuration.webhooks.settings(addresses)?;
    Ok((outside, settings))
}

fn outbound(configuration: &Configuration) -> ConnectorOptions {
    ConnectorOptions {
        name_servers: configuration.server.name_servers.clone(),
        ..ConnectorOptions::default()
    }
}

/// Operators choose their providers' addresses; the rules against SSRF are for addresses that callers choose.
fn address_rule(rules: AddressRules) -> AddressRule {
    Arc::new(move |target, address| match target.chosen_by {
        ChosenBy::Operator => true,
        ChosenBy::Caller { .. } => rules.allow(address),
    })
}

/// Rate limits, counted where the configuration says.
fn limiter(
    configuration: &Configuration,
    store: &Store,
    metrics: &Metrics,
    background: &Runtime,
) -> anyhow::Result<Limiter> {
    let _inside = background.enter();
    let counters = match configuration.limits_store()? {
        LimitsStore::Memory => return Ok(Limiter::alone()),
        LimitsStore::Database => Counters::database(store.clone()),
        LimitsStore::Redis(url) => Counters::redis(url)?,
    };
    let (down, background) = (metrics.limits_down.clone(), background.handle().clone());
    Ok(Limiter::sharing(counters, down, background))
}

/// Workers for specs, tried out beside the start: without them every other route serves.
fn solver(configuration: &Configuration, background: &Runtime) -> anyhow::Result<Pool> {
    let pool = solve::pool(configuration, background.handle().clone())?;
    let tried = pool.clone();
    background.spawn(async move {
        match tried.check().await {
            Ok(()) => tracing::info!("the solver is ready"),
            Err(error) => {
                tracing::warn!(%error, "the solver is not available: /v1/solve answers 503")
            }
        }
    });
    Ok(pool)
}

fn edge(
    configuration: &Configuration,
    options: &Options,
    gateway: &Arc<Gateway>,
    registry: &Registry,
    dispatcher: oneshot::Receiver<Dispatcher>,
) -> anyhow::Result<Edge> {
    let (server, limits) = (&configuration.server, &configuration.limits);
    let tls = configuration.tls_listener();
    let listen = match &tls {
        None => vec![server.listen],
        Some(_) => Vec::new(),
    };
    let threads = match server.threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    };
    let edge_options = EdgeOptions {
        listen,
        tls,
        admin_listen: Some(server.admin_listen),
        threads,
        limits: svc_edge::Limits {
            header_bytes: limits.header_bytes,
            header_deadline: Duration::from_millis(limits.header_ms),
            body_deadline: Duration::from_millis(limits.body_ms),
            idle: Duration::from_millis(limits.keepalive_ms),
            h2_idle: Duration::from_millis(limits.keepalive_ms),
            write: Duration::from_millis(limits.write_ms),
            connections: limits.connections,
            connections_per_address: limits.connections_per_address,
            ..svc_edge::Limits::default()
        },
        trusted_proxies: configuration.trusted_proxies()?,
        notice: Duration::from_secs(server.notice_seconds),
        drain_deadline: Duration::from_secs(server.drain_seconds),
        start: if options.upgrade {
            Start::TakeOver
        } else {
            Start::Bind
        },
        pid_file: server.data_dir.join("svc-gateway.pid"),
        upgrade_sock: server.data_dir.join("upgrade.sock"),
    };
    let application = application(gateway, registry, dispatcher);
    Edge::new(edge_options, application, EdgeMetrics::register(registry)?)
        .context("building the edge")
}

/// `dispatcher` is there once the edge runs.
fn application(
    gateway: &Arc<Gateway>,
    registry: &Registry,
    dispatcher: oneshot::Receiver<Dispatcher>,
) -> Application {
    let (serving, refusing) = (Arc::clone(gateway), Arc::clone(gateway));
    let (watched, registry) = (Arc::clone(gateway), registry.clone());
    let leaving = Arc::clone(gateway);
    Application {
        serve: Arc::new(move |head, body| service::serve(Arc::clone(&serving), head, body).boxed()),
        admin: Arc::new(move |path, door| {
            let (gateway, registry) = (Arc::clone(&watched), registry.clone());
            async move { admin_page::answer(&gateway, &registry, &path, door).await }.boxed()
        }),
        refuse: Arc::new(move |request_id, path, headers, fault| {
            service::refuse(&refusing, request_id, path, headers, fault)
        }),
        farewell: Box::new(move || {
            async move {
                if let Ok(dispatcher) = dispatcher.await {
                    dispatcher.stop().await;
                }
                upkeep::finish(&leaving).await;
            }
            .boxed()
        }),
    }
}
