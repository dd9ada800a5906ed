//! Configuration: one TOML file, environment variables before it, defaults behind it. The only place that
//! reads the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use ipnet::IpNet;
use serde::Deserialize;
use svc_core::address::{AddressRules, Schemes};
use svc_core::version::ApiVersion;
use svc_pipeline::gateway::Sessions;
use svc_pipeline::policy::Known;
use svc_pipeline::policy::models::named_providers;
use svc_pipeline::policy::pipelines::Endpoint;
use svc_pipeline::upstream::Deadlines;

mod environment;
mod problems;
mod reading;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Configuration {
    pub(crate) server: Server,
    pub(crate) limits: Limits,
    pub(crate) versions: Versions,
    pub(crate) store: Store,
    pub(crate) policies: Policies,
    pub(crate) plugins: Plugins,
    pub(crate) providers: BTreeMap<String, Provider>,
    pub(crate) test_providers: BTreeMap<String, Provider>,
    pub(crate) integrations: Integrations,
    pub(crate) webhooks: Webhooks,
    pub(crate) solver: Solver,
    pub(crate) dashboard: Dashboard,
    pub(crate) telemetry: Telemetry,
    /// What file and environment say wrongly, and files that cannot be read.
    #[serde(skip)]
    unreadable: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Server {
    pub(crate) listen: SocketAddr,
    pub(crate) admin_listen: SocketAddr,
    pub(crate) base_url: Option<String>,
    pub(crate) threads: usize,
    pub(crate) data_dir: PathBuf,
    pub(crate) trusted_proxies: Vec<String>,
    pub(crate) drain_seconds: u64,
    pub(crate) name_servers: Vec<SocketAddr>,
    pub(crate) tls: Option<Tls>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tls {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Limits {
    pub(crate) header_bytes: usize,
    pub(crate) header_ms: u64,
    pub(crate) body_ms: u64,
    pub(crate) inference_body_bytes: usize,
    pub(crate) keepalive_ms: u64,
    pub(crate) write_ms: u64,
    pub(crate) connections_per_address: usize,
    pub(crate) connections: usize,
    pub(crate) heartbeat_ms: u64,
    store: Option<Counting>,
}

/// Where rate limits are counted, as configured: `memory`, `database` or the address of a Redis server, which may hold
/// a password.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
struct Counting(String);

impl std::fmt::Debug for Counting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Counting")
    }
}

/// Where rate limits are counted.
pub(crate) enum LimitsStore<'a> {
    Memory,
    Database,
    Redis(&'a str),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Versions {
    default: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Store {
    database_url: Option<String>,
    /// Program and arguments.
    pub(crate) master_key_command: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Policies {
    folder: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Plugins {
    folder: Option<PathBuf>,
    cache_folder: Option<PathBuf>,
    pub(crate) signatures: Signatures,
    pub(crate) trust_roots: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Signatures {
    Require,
    #[default]
    Warn,
    Off,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Provider {
    pub(crate) base_url: Option<String>,
    pub(crate) api_key_file: Option<PathBuf>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) connect_ms: u64,
    pub(crate) head_ms: u64,
    pub(crate) idle_ms: u64,
    pub(crate) total_ms: u64,
    /// From the environment or `api_key_file`; never from the configuration file itself.
    #[serde(skip)]
    pub(crate) api_key: Option<ApiKey>,
}

/// A key that no `Debug` shows.
#[derive(Clone)]
pub(crate) struct ApiKey(pub(crate) String);

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey")
    }
}

/// The way to services whose addresses callers choose (contract 15.4).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Integrations {
    allowed_networks: Vec<String>,
    allowed_ports: Vec<u16>,
    plain_http: bool,
    pub(crate) body_bytes: usize,
    connect_ms: u64,
    head_ms: u64,
    idle_ms: u64,
    total_ms: u64,
}

/// How events are delivered; where they may go is what `[integrations]` says (contract 15.4).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Webhooks {
    max_attempts: u32,
    delays_ms: Vec<u64>,
    jitter_percent: u32,
    timeout_ms: u64,
    connect_ms: u64,
    in_flight: u32,
    honour_retry_after: bool,
    disable_when_gone: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Solver {
    library: Option<PathBuf>,
    pub(crate) workers: usize,
    pub(crate) queue: usize,
    pub(crate) memory_bytes: u64,
    pub(crate) body_bytes: usize,
}

/// Pages under `/ui`, and signing in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Dashboard {
    idle_minutes: u32,
    session_hours: u32,
    pub(crate) openid: Option<OpenId>,
}

/// Where people of the dashboard may sign in beside its own form.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenId {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    client_secret_file: Option<PathBuf>,
    #[serde(default = "openid_label")]
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) email_domains: Vec<String>,
    pub(crate) ca_file: Option<PathBuf>,
    /// From the environment or `client_secret_file`; never from the configuration file itself.
    #[serde(skip)]
    pub(crate) client_secret: Option<ApiKey>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Telemetry {
    pub(crate) otlp_endpoint: String,
    pub(crate) log_format: LogFormat,
    pub(crate) log_level: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            admin_listen: SocketAddr::from(([127, 0, 0, 1], 9090)),
            base_url: None,
            threads: 0,
            data_dir: PathBuf::from("var"),
            trusted_proxies: Vec::new(),
            drain_seconds: 30,
            name_servers: Vec::new(),
            tls: None,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            header_bytes: 64 * 1024,
            header_ms: 10_000,
            body_ms: 60_000,
            inference_body_bytes: 32 * 1024 * 1024, // contract 1.2
            keepalive_ms: 75_000, // more than the 60 s of common load balancers, which must let go first
            write_ms: 30_000,
            connections_per_address: 1_000,
            connections: 20_000,
            heartbeat_ms: 15_000, // contract 21
            store: None,
        }
    }
}

impl Default for Versions {
    fn default() -> Self {
        Self {
            default: ApiVersion::DEPLOYMENT_DEFAULT.word().to_owned(),
        }
    }
}

impl Default for Provider {
    fn default() -> Self {
        Self {
            base_url: None,
            api_key_file: None,
            ca_file: None,
            connect_ms: 5_000,
            // The SDKs' own patience (wire.md 1): the head of an unstreamed reply comes when all of it is made,
            // and a model that reasons may send nothing meanwhile.
            head_ms: 600_000,
            idle_ms: 600_000,
            total_ms: 600_000,
            api_key: None,
        }
    }
}

impl Default for Integrations {
    fn default() -> Self {
        Self {
            allowed_networks: Vec::new(),
            allowed_ports: AddressRules::default().ports,
            plain_http: false,
            body_bytes: 8 * 1024 * 1024, // a FHIR bundle of a few thousand resources
            connect_ms: 5_000,
            head_ms: 30_000,
            idle_ms: 30_000,
            total_ms: 120_000,
        }
    }
}

impl Integrations {
    /// Which addresses callers may choose.
    ///
    /// # Errors
    /// A network that is not one.
    pub(crate) fn addresses(&self) -> anyhow::Result<AddressRules> {
        let networks: Result<Vec<IpNet>, _> = self
            .allowed_networks
            .iter()
            .map(|text| text.parse())
            .collect();
        Ok(AddressRules {
            networks: networks.context("integrations.allowed_networks")?,
            ports: self.allowed_ports.clone(),
            schemes: if self.plain_http {
                Schemes::HttpToo
            } else {
                Schemes::Https
            },
        })
    }

    pub(crate) fn deadlines(&self) -> Deadlines {
        Deadlines {
            connect: Duration::from_millis(self.connect_ms),
            head: Duration::from_millis(self.head_ms),
            idle: Duration::from_millis(self.idle_ms),
            total: Duration::from_millis(self.total_ms),
        }
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        let settings = svc_webhook::Settings::default();
        Self {
            max_attempts: settings.schedule.max_attempts,
            delays_ms: svc_webhook::schedule::DELAYS_MS.to_vec(),
            jitter_percent: settings.schedule.jitter_percent,
            timeout_ms: milliseconds(settings.timeout),
            connect_ms: milliseconds(settings.connect_timeout),
            in_flight: settings.in_flight,
            honour_retry_after: settings.honours_retry_after,
            disable_when_gone: settings.gone_disables,
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Webhooks {
    /// How deliveries are made.
    ///
    /// # Errors
    /// Numbers that do not fit together.
    pub(crate) fn settings(
        &self,
        addresses: AddressRules,
    ) -> anyhow::Result<svc_webhook::Settings> {
        let problems = self.problems();
        if !problems.is_empty() {
            bail!("{}", problems.join("; "));
        }
        let Self {
            max_attempts,
            delays_ms,
            jitter_percent,
            timeout_ms,
            connect_ms,
            in_flight,
            honour_retry_after,
            disable_when_gone,
        } = self;
        let delays = delays_ms.iter().copied();
        Ok(svc_webhook::Settings {
            schedule: svc_webhook::schedule::Schedule {
                delays: delays.map(Duration::from_millis).collect(),
                max_attempts: *max_attempts,
                jitter_percent: *jitter_percent,
            },
            timeout: Duration::from_millis(*timeout_ms),
            connect_timeout: Duration::from_millis(*connect_ms),
            in_flight: *in_flight,
            honours_retry_after: *honour_retry_after,
            gone_disables: *disable_when_gone,
            addresses,
        })
    }

    /// Attempts of one schedule.
    pub(crate) const fn max_attempts(&self) -> u32 {
        self.max_attempts
    }
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            library: None,
            workers: 0,
            queue: 16,
            memory_bytes: 2 * 1024 * 1024 * 1024, // dense models of the largest spec took 0.5 GB
            body_bytes: 8 * 1024 * 1024,          // contract 1.2
        }
    }
}

impl Default for Dashboard {
    fn default() -> Self {
        Self {
            idle_minutes: 30,  // automatic logoff (45 CFR 164.312(a)(2)(iii))
            session_hours: 12, // a long shift
            openid: None,
        }
    }
}

impl Dashboard {
    pub(crate) fn sessions(&self) -> Sessions {
        Sessions {
            idle_ms: i64::from(self.idle_minutes) * 60_000,
            whole_ms: i64::from(self.session_hours) * 3_600_000,
        }
    }
}

impl Default for Telemetry {
    fn default() -> Self {
        Self {
            otlp_endpoint: String::new(),
            log_format: LogFormat::Text,
            log_level: "info".into(),
        }
    }
}

/// Every route of the program, by the crate that answers it.
static ENDPOINTS: LazyLock<[&[Endpoint]; 2]> =
    LazyLock::new(|| [svc_control::ENDPOINTS, &svc_dashboard::ENDPOINTS]);

impl Configuration {
    /// Reads the file (`config/gateway.toml` beside the working directory or the executable when none is
    /// named), then the environment.
    ///
    /// # Errors
    /// A file that cannot be read or is no TOML. What else is wrong (unknown keys and values of another type among it,
    /// which are left out here) is told by [`Self::readable`] and [`Self::problems`].
    pub(crate) fn load(file: Option<&Path>) -> anyhow::Result<Self> {
        let found = file
            .map(Path::to_owned)
            .or_else(|| beside("config/gateway.toml"));
        let mut configuration = match &found {
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .with_context(|| format!("reading {}", path.display()))?;
                let read = reading::read(&text);
                let (mut read, wrong) = read.with_context(|| format!("in {}", path.display()))?;
                let wrong = wrong.into_iter();
                read.unreadable
                    .extend(wrong.map(|why| format!("in {}: {why}", path.display())));
                read
            }
            None => Self::default(),
        };
        let models = configuration
            .policies_folder()
            .map(|folder| folder.join("models.toml"));
        // What is wrong with it is told when the policies are read.
        let models = models.and_then(|path| Ok(std::fs::read_to_string(path)?));
        let catalogue = models.map_or_else(|_| BTreeSet::new(), |text| named_providers(&text));
        configuration.apply_environment(&catalogue, variable);
        Ok(configuration)
    }

    /// Whether the environment, every key of the file and every file that is named could be read.
    ///
    /// # Errors
    /// All that could not.
    pub(crate) fn readable(&self) -> anyhow::Result<()> {
        match self.unreadable.is_empty() {
            true => Ok(()),
            false => bail!("{}", self.unreadable.join("\n")),
        }
    }

    /// `catalogue` are the providers that the models name: a variable is looked for under a name that is known.
    fn apply_environment(
        &mut self,
        catalogue: &BTreeSet<String>,
        variable: impl Fn(&str) -> Option<String>,
    ) {
        let mut unreadable = Vec::new();
        let mut address = |name: &str, into: &mut SocketAddr| match variable(name) {
            None => {}
            Some(text) => match text.parse() {
                Ok(address) => *into = address,
                Err(_) => unreadable.push(format!("{name} is not an address and port")),
            },
        };
        address("SVC_LISTEN", &mut self.server.listen);
        address("SVC_ADMIN_LISTEN", &mut self.server.admin_listen);
        if let Some(url) = variable("SVC_BASE_URL") {
            self.server.base_url = Some(url);
        }
        if let Some(folder) = variable("SVC_DATA_DIR") {
            self.server.data_dir = folder.into();
        }
        if let Some(threads) = variable("SVC_THREADS") {
            match threads.parse() {
                Ok(threads) => self.server.threads = threads,
                Err(_) => unreadable.push("SVC_THREADS is not a number".to_owned()),
            }
        }
        if let Some(url) = variable("DATABASE_URL") {
            self.store.database_url = Some(url);
        }
        if let Some(folder) = variable("SVC_PLUGIN_CACHE") {
            self.plugins.cache_folder = Some(folder.into());
        }
        if let Some(store) = variable("SVC_LIMITS_STORE") {
            self.limits.store = Some(Counting(store));
        }
        unreadable.extend(environment::providers(
            &mut self.providers,
            catalogue,
            &variable,
        ));
        for (table, configured) in [
            ("providers", &mut self.providers),
            ("test_providers", &mut self.test_providers),
        ] {
            for (name, provider) in configured {
                if provider.api_key.is_none()
                    && let Some(path) = &provider.api_key_file
                {
                    match secret(path) {
                        Ok(key) => provider.api_key = Some(key),
                        Err(error) => {
                            unreadable.push(format!("{table}.{name}.api_key_file: {error:#}"))
                        }
                    }
                }
            }
        }
        if let Some(openid) = &mut self.dashboard.openid {
            openid.client_secret = match (&openid.client_secret_file, variable(OPENID_SECRET)) {
                (_, Some(text)) => Some(ApiKey(text)),
                (Some(path), None) => match secret(path) {
                    Ok(secret) => Some(secret),
                    Err(error) => {
                        unreadable.push(format!("dashboard.openid.client_secret_file: {error:#}"));
                        None
                    }
                },
                (None, None) => None,
            };
        }
        self.unreadable.extend(unreadable);
    }

    /// Names that the catalogue may use: those of the environment, and those that the file configures.
    pub(crate) fn known(&self) -> Known {
        let configured = self.providers.keys().chain(self.test_providers.keys());
        let known = environment::KNOWN_PROVIDERS.map(str::to_owned);
        let names: BTreeSet<String> = configured.cloned().chain(known).collect();
        Known {
            providers: names.into_iter().collect(),
            endpoints: &*ENDPOINTS,
        }
    }

    pub(crate) fn default_version(&self) -> anyhow::Result<ApiVersion> {
        match ApiVersion::parse(&self.versions.default) {
            Some(version) => Ok(version),
            None => bail!("versions.default names no supported version"),
        }
    }

    /// Without a choice: memory on SQLite, which one gateway has to itself; the database on PostgreSQL, so that limits
    /// hold across replicas.
    ///
    /// # Errors
    /// Another word.
    pub(crate) fn limits_store(&self) -> anyhow::Result<LimitsStore<'_>> {
        match self
            .limits
            .store
            .as_ref()
            .map(|Counting(text)| text.as_str())
        {
            None if self.is_on_sqlite() => Ok(LimitsStore::Memory),
            None | Some("database") => Ok(LimitsStore::Database),
            Some("memory") => Ok(LimitsStore::Memory),
            Some(url) if url.starts_with("redis://") || url.starts_with("rediss://") => {
                Ok(LimitsStore::Redis(url))
            }
            // Not shown: it may be an address with a password and a slip of the pen.
            Some(_) => bail!(
                "limits.store is none of \"memory\", \"database\" and a redis:// or rediss:// address"
            ),
        }
    }

    pub(crate) fn database_url(&self) -> String {
        let default = || {
            format!(
                "sqlite://{}",
                self.server.data_dir.join("gateway.sqlite").display()
            )
        };
        self.store.database_url.clone().unwrap_or_else(default)
    }

    /// Whether the store is a file that one gateway has to itself.
    pub(crate) fn is_on_sqlite(&self) -> bool {
        self.database_url().starts_with("sqlite:")
    }

    pub(crate) fn policies_folder(&self) -> anyhow::Result<PathBuf> {
        let found = self.policies.folder.clone().or_else(|| beside("policies"));
        found.context("no folder `policies` beside the working directory or the executable; set policies.folder")
    }

    /// Where plugins are: configured, or `plugins` beside the executable.
    pub(crate) fn plugins_folder(&self) -> anyhow::Result<PathBuf> {
        if let Some(folder) = &self.plugins.folder {
            return Ok(folder.clone());
        }
        let executable = std::env::current_exe().context("finding the executable")?;
        Ok(executable
            .parent()
            .unwrap_or(Path::new("."))
            .join("plugins"))
    }

    /// Where compiled plugins are kept: configured, or `plugin-cache` in the data folder.
    pub(crate) fn plugin_cache(&self) -> PathBuf {
        let configured = self.plugins.cache_folder.clone();
        configured.unwrap_or_else(|| self.server.data_dir.join("plugin-cache"))
    }

    /// The engine's library: configured, or where set-up puts it, below a folder at or above the executable.
    pub(crate) fn solver_library(&self) -> PathBuf {
        let found = self.solver.library.clone();
        let found = found.or_else(|| SOLVER_LIBRARIES.into_iter().find_map(beside));
        found.unwrap_or_else(|| PathBuf::from(SOLVER_LIBRARIES[0]))
    }

    /// The address that callers use, without a trailing slash: the configured one, else the listener's.
    pub(crate) fn base_url(&self) -> String {
        let scheme = if self.server.tls.is_some() {
            "https"
        } else {
            "http"
        };
        let url = self.server.base_url.clone();
        let url = url.unwrap_or_else(|| format!("{scheme}://{}", self.server.listen));
        url.trim_end_matches('/').to_owned()
    }
}

fn openid_label() -> String {
    "your organization's account".to_owned()
}

/// The environment's word for the client secret at the OpenID provider.
const OPENID_SECRET: &str = "SVC_OPENID_CLIENT_SECRET";

/// A secret that a file holds.
fn secret(path: &Path) -> anyhow::Result<ApiKey> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("reading the secret in {}", path.display()))?;
    let text = text.trim();
    ensure!(!text.is_empty(), "{} is empty", path.display());
    Ok(ApiKey(text.to_owned()))
}

/// The master key as the environment gives it (the text of a key file), where it does.
pub(crate) fn master_key() -> Option<String> {
    variable("SVC_MASTER_KEY")
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the environment"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Where OR-tools' wheel is unpacked: for a deployment, and for a working copy (tests/scripts/setup).
const SOLVER_LIBRARIES: [&str; 2] = [
    "solver/ortools/.libs/libortools.so.9",
    ".toolchain/solver/ortools/.libs/libortools.so.9",
];

/// A path below the working directory, or below a folder above the executable (`target/release` lies two
/// below the repository).
fn beside(relative: &str) -> Option<PathBuf> {
    let here = PathBuf::from(relative);
    if here.exists() {
        return Some(here);
    }
    let executable = std::env::current_exe().ok()?;
    executable
        .ancestors()
        .skip(1)
        .take(3)
        .map(|folder| folder.join(relative))
        .find(|path| path.exists())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_shipped_file_is_valid_and_changes_nothing() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/gateway.toml");
        let shipped: Configuration =
            toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(
            format!("{shipped:?}"),
            format!("{:?}", Configuration::default())
        );
    }

    #[test]
    fn every_commented_key_of_the_shipped_file_is_a_real_one() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/gateway.toml");
        let text = std::fs::read_to_string(path).unwrap();
        let uncommented: Vec<&str> = text
            .lines()
            .filter_map(|line| match line.strip_prefix("# ") {
                Some(rest)
                    if rest.starts_with('[') || rest.contains(" = ") && !rest.contains(": ") =>
                {
                    Some(rest)
                }
                Some(_) => None,
                None => Some(line),
            })
            .collect();
        let full: Configuration = toml::from_str(&uncommented.join("\n")).unwrap();
        assert!(full.server.tls.is_some() && full.providers.contains_key("alpha"));
    }

    #[test]
    fn a_file_without_a_key_is_told_by_its_key() {
        let mut configuration: Configuration = toml::from_str(
            "[providers.gamma]\nbase_url = 'http://a.example'\napi_key_file = '/dev/null'\n\
             [test_providers.gamma]\napi_key_file = '/nowhere'",
        )
        .unwrap();
        configuration.apply_environment(&BTreeSet::new(), |_| None);
        let told = configuration.readable().unwrap_err().to_string();
        for key in [
            "providers.gamma.api_key_file: /dev/null is empty",
            "test_providers.gamma.api_key_file: ",
        ] {
            assert!(told.contains(key), "{told}");
        }
    }

    #[test]
    fn the_environment_comes_first() {
        let mut configuration = Configuration::default();
        let environment = |name: &str| match name {
            "SVC_LISTEN" => Some("127.0.0.1:1".to_owned()),
            "ALPHA_BASE_URL" => Some("http://127.0.0.1:2/v1".to_owned()),
            "ALPHA_API_KEY" => Some("secret".to_owned()),
            _ => None,
        };
        configuration.apply_environment(&BTreeSet::new(), environment);
        configuration.readable().unwrap();
        assert_eq!(configuration.server.listen.port(), 1);
        assert!(configuration.providers["alpha"].api_key.is_some());
        assert!(!format!("{configuration:?}").contains("secret"));
    }
}
