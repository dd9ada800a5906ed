//! Configuration: one TOML file, environment variables before it, defaults behind it. The only place that
//! reads the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use svc_core::version::ApiVersion;
use svc_pipeline::policy::Known;
use svc_pipeline::policy::models::{Model, named_providers};
use svc_pipeline::policy::pipelines::Endpoint;

mod environment;
mod problems;
mod reading;
mod tables;

pub(crate) use environment::KNOWN_PROVIDERS;

pub(crate) use tables::{
    Dashboard, Integrations, Limits, LogFormat, Plugins, Policies, Provider, Secret, Server,
    Signatures, Solver, Store, Telemetry, Versions, Webhooks,
};

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

/// Where rate limits are counted.
pub(crate) enum LimitsStore<'a> {
    Memory,
    Database,
    Redis(&'a str),
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
            self.store.database_url = Some(Secret(url));
        }
        if let Some(folder) = variable("SVC_PLUGIN_CACHE") {
            self.plugins.cache_folder = Some(folder.into());
        }
        if let Some(store) = variable("SVC_LIMITS_STORE") {
            self.limits.store = Some(Secret(store));
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
                (_, Some(text)) => Some(Secret(text)),
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
        let known = KNOWN_PROVIDERS.map(str::to_owned);
        let names: BTreeSet<String> = configured.cloned().chain(known).collect();
        Known {
            providers: names.into_iter().collect(),
            endpoints: &*ENDPOINTS,
        }
    }

    /// Whether a provider of this model has an address.
    pub(crate) fn reaches(&self, model: &Model) -> bool {
        let mut providers = model
            .routes
            .iter()
            .map(|route| self.providers.get(&route.provider));
        providers.any(|provider| provider.is_some_and(|provider| provider.base_url.is_some()))
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
        match self.limits.store.as_ref().map(|Secret(text)| text.as_str()) {
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
        match &self.store.database_url {
            Some(Secret(url)) => url.clone(),
            None => {
                let file = self.server.data_dir.join("gateway.sqlite");
                format!("sqlite://{}", file.display())
            }
        }
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

/// The environment's word for the client secret at the OpenID provider.
const OPENID_SECRET: &str = "SVC_OPENID_CLIENT_SECRET";

/// A secret that a file holds.
fn secret(path: &Path) -> anyhow::Result<Secret> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("reading the secret in {}", path.display()))?;
    let text = text.trim();
    ensure!(!text.is_empty(), "{} is empty", path.display());
    Ok(Secret(text.to_owned()))
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
            "DATABASE_URL" => Some("postgres://svc:secret@db.example/svc".to_owned()),
            "SVC_LIMITS_STORE" => Some("redis://:secret@cache.example".to_owned()),
            _ => None,
        };
        configuration.apply_environment(&BTreeSet::new(), environment);
        configuration.readable().unwrap();
        assert_eq!(configuration.server.listen.port(), 1);
        assert!(configuration.providers["alpha"].api_key.is_some());
        assert!(!format!("{configuration:?}").contains("secret"));
    }
}
