//! What is wrong with a configuration, all of it at once. `check` prints it, and `serve` does not start with any.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use http::Uri;
use ipnet::IpNet;
use svc_edge::{Network, TlsListener};
use svc_plugin::TrustRoot;
use svc_store::Store;
use svc_store::limit::Counters;
use svc_store::master_key::MasterKey;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::{
    Configuration, Dashboard, Integrations, LimitsStore, Plugins, Provider, Solver, Telemetry,
    Webhooks,
};
use crate::{descriptors, providers};

impl Configuration {
    /// Empty for one that can be served with.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = self.unreadable.clone();
        let mut judge = |judged: anyhow::Result<()>| {
            problems.extend(judged.err().map(|error| format!("{error:#}")));
        };
        let Self {
            server,
            limits,
            telemetry,
            ..
        } = self;
        judge(self.default_version().map(drop));
        judge(own_address(server.base_url.as_deref()));
        judge(apart(server.listen, server.admin_listen));
        if server.threads > MAX_THREADS {
            judge(Err(anyhow::anyhow!(
                "server.threads must be at most {MAX_THREADS}"
            )));
        }
        if let Some(listener) = self.tls_listener() {
            judge(listener.check().context("server.tls"));
        }
        for (name, value, least) in [
            (
                "header_bytes",
                limits.header_bytes as u64,
                LEAST_HEADER_BYTES,
            ),
            ("header_ms", limits.header_ms, 1),
            ("body_ms", limits.body_ms, 1),
            (
                "inference_body_bytes",
                limits.inference_body_bytes as u64,
                1,
            ),
            ("keepalive_ms", limits.keepalive_ms, 1),
            ("write_ms", limits.write_ms, 1),
            (
                "connections_per_address",
                limits.connections_per_address as u64,
                1,
            ),
            ("connections", limits.connections as u64, 1),
            ("heartbeat_ms", limits.heartbeat_ms, 1),
        ] {
            judge(at_least(&format!("limits.{name}"), value, least));
        }
        judge(self.counted());
        judge(self.database());
        judge(self.master_key());
        judge(self.plugins.is_there());
        judge(data_folder(&server.data_dir));
        let cache = self.plugins.cache_folder.as_deref();
        judge(cache.map_or(Ok(()), |folder| may_be_made("plugins.cache_folder", folder)));
        for (table, configured) in [
            ("providers", &self.providers),
            ("test_providers", &self.test_providers),
        ] {
            for (name, provider) in configured {
                judge(reachable(table, name, provider));
                let table = format!("{table}.{name}");
                judge(authorities(&table, provider.ca_file.as_deref()));
                for (key, value) in [
                    ("connect_ms", provider.connect_ms),
                    ("head_ms", provider.head_ms),
                    ("idle_ms", provider.idle_ms),
                    ("total_ms", provider.total_ms),
                ] {
                    judge(at_least(&format!("{table}.{key}"), value, 1));
                }
            }
        }
        for (key, value) in self.integrations.counts() {
            judge(at_least(&format!("integrations.{key}"), value, 1));
        }
        for (key, value, least) in self.solver.counts() {
            judge(at_least(&format!("solver.{key}"), value, least));
        }
        for (key, value) in self.dashboard.counts() {
            judge(at_least(&format!("dashboard.{key}"), value, 1));
        }
        if let Some(openid) = &self.dashboard.openid {
            judge(issuer(&openid.issuer));
            if openid.client_id.is_empty() {
                judge(Err(anyhow::anyhow!("dashboard.openid.client_id is empty")));
            }
            judge(authorities("dashboard.openid", openid.ca_file.as_deref()));
        }
        let endpoint = Some(telemetry.otlp_endpoint.as_str()).filter(|text| !text.is_empty());
        judge(collector(endpoint));
        judge(telemetry.filter().map(drop));
        problems.extend(no_blocks::<Network>(
            "server.trusted_proxies",
            &server.trusted_proxies,
        ));
        problems.extend(no_blocks::<IpNet>(
            "integrations.allowed_networks",
            &self.integrations.allowed_networks,
        ));
        problems.extend(self.integrations.no_ports());
        let openid = self.dashboard.openid.iter();
        problems.extend(openid.flat_map(|openid| no_domains(&openid.email_domains)));
        problems.extend(self.plugins.trust_roots().err().into_iter().flatten());
        problems.extend(self.webhooks.problems());
        problems
    }

    /// What can be served with and is rarely meant.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let keyless = |(name, provider): (&String, &Provider)| {
            let is_keyless = provider.base_url.is_some() && provider.api_key.is_none();
            is_keyless.then(|| format!("providers.{name} has an address and no API key"))
        };
        let keyless = self.providers.iter().filter_map(keyless);
        // Of an address that is refused, nothing more is said.
        let database = self.database().is_ok().then(|| self.database_url());
        let database = database.and_then(|url| Store::doubt(&url));
        let database = database.map(|doubt| format!("store.database_url: {doubt}"));
        let ports = self.integrations.allowed_ports.is_empty().then(|| {
            "integrations.allowed_ports is empty: no service of an organization can be reached"
                .to_owned()
        });
        let descriptors = descriptors::doubt(self.limits.connections);
        let doubts = keyless.chain(database).chain(ports);
        doubts.chain(descriptors).collect()
    }

    /// Why live requests would be answered by a stand-in for a provider.
    pub(crate) fn faked(&self) -> Option<String> {
        let has_address = |provider: &Provider| provider.base_url.is_some();
        let is_faked = !self.providers.values().any(has_address);
        is_faked.then(|| {
            "no provider has an address (providers.….base_url): the bundled fake provider answers live requests, and they \
             are billed"
                .to_owned()
        })
    }

    /// A solver that cannot be there. The gateway serves without one, and answers `SOLVER_UNAVAILABLE`.
    pub(crate) fn missing_solver(&self) -> Option<String> {
        let library = self.solver.library.as_ref()?;
        let missing = || format!("solver.library: there is no file {}", library.display());
        (!library.is_file()).then(missing)
    }

    /// Proxies whose word on their callers' addresses is taken.
    ///
    /// # Errors
    /// A block that is none.
    pub(crate) fn trusted_proxies(&self) -> anyhow::Result<Vec<Network>> {
        let blocks = self.server.trusted_proxies.iter().map(|text| text.parse());
        let blocks: Result<_, _> = blocks.collect();
        blocks.context("server.trusted_proxies")
    }

    /// The listener for callers, where it speaks TLS.
    pub(crate) fn tls_listener(&self) -> Option<TlsListener> {
        let tls = self.server.tls.as_ref()?;
        Some(TlsListener {
            listen: vec![self.server.listen],
            certificate: tls.certificate.clone(),
            key: tls.key.clone(),
            check_every: CERTIFICATE_CHECK,
        })
    }

    /// Whether the store has an address, and, where it is a file, a folder that is there or will be made. The address
    /// is not shown: it may hold a password.
    fn database(&self) -> anyhow::Result<()> {
        const SCHEMES: [&str; 3] = ["sqlite:", "postgres:", "postgresql:"];
        let url = self.database_url();
        if !SCHEMES.iter().any(|scheme| url.starts_with(scheme)) {
            bail!("store.database_url must start with sqlite: or postgres:");
        }
        Store::judge(&url).context("store.database_url")?;
        let Some(path) = url.strip_prefix("sqlite:") else {
            return Ok(());
        };
        let path = path.strip_prefix("//").unwrap_or(path);
        let path = path.split('?').next().unwrap_or_default();
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        // The data folder is made at the start, with every folder above it. A sign that stands for another is not read
        // here.
        let is_there = folder.as_os_str().is_empty()
            || folder.is_dir()
            || self.server.data_dir.starts_with(folder)
            || path.contains('%');
        ensure!(
            is_there,
            "store.database_url: there is no folder {}",
            folder.display()
        );
        Ok(())
    }

    /// Whether the master key that the environment or a command gives can be one. No command is run.
    fn master_key(&self) -> anyhow::Result<()> {
        match self.store.master_key_command.first() {
            Some(program) => ensure!(
                !program.is_empty(),
                "store.master_key_command: the program is empty"
            ),
            None => {
                let given = super::master_key();
                given
                    .map_or(Ok(()), |text| MasterKey::parse(&text).map(drop))
                    .context("SVC_MASTER_KEY")?;
            }
        }
        Ok(())
    }

    fn counted(&self) -> anyhow::Result<()> {
        if let LimitsStore::Redis(url) = self.limits_store()? {
            Counters::redis(url).context("limits.store")?;
        }
        Ok(())
    }
}

/// How often the certificate files are looked at.
const CERTIFICATE_CHECK: Duration = Duration::from_secs(1);

impl Plugins {
    /// Whether a folder that is named is there: one that is not is a slip of the pen. The usual one is made.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn is_there(&self) -> anyhow::Result<()> {
        match &self.folder {
            Some(named) if !named.is_dir() => {
                bail!("plugins.folder: there is no folder {}", named.display())
            }
            _ => Ok(()),
        }
    }

    /// Whose signatures count.
    ///
    /// # Errors
    /// Every entry that is no key.
    pub(crate) fn trust_roots(&self) -> Result<Vec<TrustRoot>, Vec<String>> {
        let (mut roots, mut problems) = (Vec::new(), Vec::new());
        for text in &self.trust_roots {
            match TrustRoot::parse(text) {
                Some(root) => roots.push(root),
                None => problems.push(format!(
                    "plugins.trust_roots: {text:?} is not an ed25519 public key of 64 hex digits"
                )),
            }
        }
        match problems.is_empty() {
            true => Ok(roots),
            false => Err(problems),
        }
    }
}

impl Telemetry {
    /// Which log lines are written. A word that is neither a level nor about a part of the program would be taken for
    /// the name of one, and everything else would fall silent.
    ///
    /// # Errors
    /// A directive that is none.
    pub(crate) fn filter(&self) -> anyhow::Result<EnvFilter> {
        let directives = self.log_level.split(',').map(str::trim);
        for directive in directives.filter(|text| !text.is_empty()) {
            let is_about_a_part = directive.contains(['=', '[']);
            ensure!(
                is_about_a_part || directive.parse::<LevelFilter>().is_ok(),
                "telemetry.log_level: {directive} is not a level"
            );
        }
        EnvFilter::try_new(&self.log_level).context("telemetry.log_level")
    }
}

/// 15 s: an attempt and the writing of its result fit into a lease of 20 s (contract 19.2).
const MAX_WEBHOOK_TIMEOUT_MS: u64 = 15_000;
/// Connections to receivers at once.
const MAX_WEBHOOKS_IN_FLIGHT: u64 = 10_000;

impl Webhooks {
    /// Numbers that do not fit together.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let delays = self.delays_ms.len();
        if self.max_attempts == 0 || self.max_attempts as usize > delays {
            problems.push(format!(
                "webhooks.max_attempts must be between 1 and the number of webhooks.delays_ms, {delays}"
            ));
        }
        for (name, value, most) in [
            ("timeout_ms", self.timeout_ms, MAX_WEBHOOK_TIMEOUT_MS),
            ("in_flight", self.in_flight.into(), MAX_WEBHOOKS_IN_FLIGHT),
        ] {
            if !(1..=most).contains(&value) {
                problems.push(format!("webhooks.{name} must be between 1 and {most}"));
            }
        }
        if self.connect_ms == 0 {
            problems.push("webhooks.connect_ms must be at least 1".to_owned());
        }
        if self.jitter_percent > 100 {
            problems.push("webhooks.jitter_percent must be at most 100".to_owned());
        }
        problems
    }
}

impl Integrations {
    /// What is wrong with the ports that callers may name.
    fn no_ports(&self) -> Option<String> {
        self.allowed_ports
            .contains(&0)
            .then(|| "integrations.allowed_ports: there is no port 0".to_owned())
    }

    /// Numbers that must not be 0.
    fn counts(&self) -> [(&'static str, u64); 5] {
        [
            ("body_bytes", self.body_bytes as u64),
            ("connect_ms", self.connect_ms),
            ("head_ms", self.head_ms),
            ("idle_ms", self.idle_ms),
            ("total_ms", self.total_ms),
        ]
    }
}

impl Solver {
    /// Numbers with the least that they may be.
    fn counts(&self) -> [(&'static str, u64, u64); 2] {
        [
            ("memory_bytes", self.memory_bytes, LEAST_SOLVER_BYTES),
            ("body_bytes", self.body_bytes as u64, 1),
        ]
    }
}

impl Dashboard {
    /// Numbers that must not be 0.
    fn counts(&self) -> [(&'static str, u64); 2] {
        [
            ("idle_minutes", self.idle_minutes.into()),
            ("session_hours", self.session_hours.into()),
        ]
    }
}

/// More threads than any machine has cores; beyond that the system refuses to start them.
const MAX_THREADS: usize = 1_024;
/// 64 MiB of address space: the engine's library alone is more than half of it.
const LEAST_SOLVER_BYTES: u64 = 64 * 1024 * 1024;
/// 1 KiB: a request line with an address and a credential.
const LEAST_HEADER_BYTES: u64 = 1_024;

fn at_least(name: &str, value: u64, least: u64) -> anyhow::Result<()> {
    ensure!(value >= least, "{name} must be at least {least}");
    Ok(())
}

/// Two listeners of one address would share its connections, each getting some of the other's.
fn apart(public: SocketAddr, admin: SocketAddr) -> anyhow::Result<()> {
    let covers = |one: SocketAddr, other: SocketAddr| {
        let is_everywhere = one.ip().is_unspecified();
        one.ip() == other.ip() || is_everywhere && (one.is_ipv6() || other.is_ipv4())
    };
    let are_one = public.port() == admin.port()
        && public.port() != 0
        && (covers(public, admin) || covers(admin, public));
    ensure!(
        !are_one,
        "server.listen and server.admin_listen are the same address"
    );
    Ok(())
}

/// Every text that is no address block.
fn no_blocks<T: FromStr>(name: &str, texts: &[String]) -> Vec<String> {
    let wrong = texts.iter().filter(|text| text.parse::<T>().is_err());
    wrong
        .map(|text| format!("{name}: {text:?} is not an address block like \"10.0.0.0/8\""))
        .collect()
}

/// Every text that the part of an address behind its @ cannot be.
fn no_domains(texts: &[String]) -> Vec<String> {
    let wrong = texts
        .iter()
        .filter(|text| text.is_empty() || text.contains(['@', ' ']));
    wrong
        .map(|text| {
            format!("dashboard.openid.email_domains: {text:?} is not a domain like \"example.org\"")
        })
        .collect()
}

/// An empty name would be that of the working folder, which is not the gateway's own.
fn data_folder(folder: &Path) -> anyhow::Result<()> {
    const NAME: &str = "server.data_dir";
    ensure!(!folder.as_os_str().is_empty(), "{NAME} is empty");
    may_be_made(NAME, folder)
}

/// Whether there may be a folder: what is there already of its path must be one.
fn may_be_made(name: &str, folder: &Path) -> anyhow::Result<()> {
    let there = folder.ancestors().find(|path| path.exists());
    if let Some(there) = there.filter(|path| !path.is_dir()) {
        bail!("{name}: {} is no folder", there.display());
    }
    Ok(())
}

fn authorities(table: &str, file: Option<&Path>) -> anyhow::Result<()> {
    let Some(file) = file else {
        return Ok(());
    };
    svc_edge::check_authorities(file).map_err(|why| anyhow::anyhow!("{table}.ca_file: {why}"))
}

/// What links and tokens begin with: a path would be lost where browsers are sent to one of ours.
fn own_address(text: Option<&str>) -> anyhow::Result<()> {
    web_address("server.base_url", text)?;
    let uri: Option<Uri> = text.and_then(|text| text.parse().ok());
    ensure!(
        uri.is_none_or(|uri| matches!(uri.path(), "" | "/")),
        "server.base_url must not have a path"
    );
    Ok(())
}

/// Where spans go. Most collectors' pages give the whole address, of which the end is ours to append.
fn collector(text: Option<&str>) -> anyhow::Result<()> {
    const NAME: &str = "telemetry.otlp_endpoint";
    web_address(NAME, text)?;
    let is_whole = text.is_some_and(|text| text.trim_end_matches('/').ends_with(TRACES_PATH));
    ensure!(
        !is_whole,
        "{NAME} must not end in {TRACES_PATH}, which is appended"
    );
    Ok(())
}

/// The path of traces (OTLP over HTTP).
const TRACES_PATH: &str = "/v1/traces";

/// Whoever could answer in the provider's place could sign in as anybody.
fn issuer(text: &str) -> anyhow::Result<()> {
    const NAME: &str = "dashboard.openid.issuer";
    web_address(NAME, Some(text))?;
    let uri: Uri = text.parse().context(NAME)?;
    let host = uri.host().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let address = address.parse::<IpAddr>();
    let is_loopback = host == "localhost" || address.is_ok_and(|ip| ip.is_loopback());
    ensure!(
        uri.scheme_str() == Some("https") || is_loopback,
        "{NAME} must be an https:// address; http:// is for loopback alone"
    );
    Ok(())
}

fn web_address(name: &str, text: Option<&str>) -> anyhow::Result<()> {
    let Some(text) = text else {
        return Ok(());
    };
    providers::address(text)
        .map(drop)
        .map_err(|why| anyhow::anyhow!("{name} {why}"))
}

fn reachable(table: &str, name: &str, provider: &Provider) -> anyhow::Result<()> {
    web_address(
        &format!("{table}.{name}.base_url"),
        provider.base_url.as_deref(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        match toml::from_str::<Configuration>(text) {
            Ok(configuration) => configuration.problems(),
            Err(error) => vec![error.to_string()],
        }
    }

    /// 60 s: idle time of an AWS application load balancer and of nginx.
    #[test]
    fn by_default_a_load_balancer_gives_up_an_idle_connection_first() {
        let limits = Configuration::default().limits;
        assert!(limits.keepalive_ms > 60_000 + 10_000);
    }

    #[test]
    fn the_defaults_are_sound() {
        assert_eq!(problems(""), [""; 0]);
    }

    #[test]
    fn every_problem_is_named_by_its_key() {
        for (text, key) in [
            ("[versions]\ndefault = '1999-01-01'", "versions.default"),
            ("[limits]\nstore = 'mongo'", "limits.store"),
            ("[limits]\nstore = 'redis://'", "limits.store"),
            ("[limits]\nheader_ms = 0", "limits.header_ms"),
            ("[limits]\nheader_bytes = 1023", "limits.header_bytes"),
            ("[server]\nthreads = 100000", "server.threads"),
            (
                "[server]\nbase_url = 'http://x.example/y'",
                "server.base_url",
            ),
            (
                "[server]\nadmin_listen = '0.0.0.0:8080'",
                "server.listen and server.admin_listen",
            ),
            (
                "[server]\nlisten = '[::]:9090'",
                "server.listen and server.admin_listen",
            ),
            (
                "[plugins]\ncache_folder = '/dev/null'",
                "plugins.cache_folder",
            ),
            (
                "[plugins]\ncache_folder = '/dev/null/cache'",
                "plugins.cache_folder: /dev/null is no folder",
            ),
            ("[server]\ndata_dir = ''", "server.data_dir is empty"),
            (
                "[server]\ndata_dir = '/dev/null/var'",
                "server.data_dir: /dev/null is no folder",
            ),
            (
                "[integrations]\nallowed_ports = [443, 0]",
                "integrations.allowed_ports",
            ),
            (
                "[dashboard.openid]\nissuer = 'https://x.example'\nclient_id = 'y'\nemail_domains = ['@x.example']",
                "dashboard.openid.email_domains: \"@x.example\"",
            ),
            (
                "[telemetry]\notlp_endpoint = 'http://127.0.0.1:4318/v1/traces/'",
                "telemetry.otlp_endpoint",
            ),
            ("[webhooks]\nconnect_ms = 0", "webhooks.connect_ms"),
            ("[integrations]\nidle_ms = 0", "integrations.idle_ms"),
            ("[dashboard]\nidle_minutes = 0", "dashboard.idle_minutes"),
            ("[dashboard]\nsession_hours = 0", "dashboard.session_hours"),
            (
                "[dashboard.openid]\nissuer = 'x'\nclient_id = 'y'",
                "dashboard.openid.issuer",
            ),
            (
                "[dashboard.openid]\nissuer = 'http://x.example'\nclient_id = 'y'",
                "dashboard.openid.issuer",
            ),
            (
                "[dashboard.openid]\nissuer = 'https://x.example'\nclient_id = ''",
                "dashboard.openid.client_id",
            ),
            (
                "[store]\nmaster_key_command = ['']",
                "store.master_key_command",
            ),
            (
                "[store]\ndatabase_url = 'sqlite:///nowhere/at/all.sqlite'",
                "store.database_url",
            ),
            (
                "[providers.alpha]\nca_file = '/nowhere/ca.pem'",
                "providers.alpha.ca_file",
            ),
            (
                "[test_providers.beta]\nconnect_ms = 0",
                "test_providers.beta.connect_ms",
            ),
            (
                "[integrations]\nallowed_networks = ['abc']",
                "integrations.allowed_networks",
            ),
            ("[webhooks]\ndelays_ms = []", "webhooks.max_attempts"),
            ("[webhooks]\ntimeout_ms = 99999", "webhooks.timeout_ms"),
            (
                "[server]\ntrusted_proxies = ['x']",
                "server.trusted_proxies",
            ),
            ("[server]\nbase_url = 'not a url'", "server.base_url"),
            (
                "[server]\nbase_url = 'ftp://example.org'",
                "server.base_url",
            ),
            (
                "[server.tls]\ncertificate = '/nope'\nkey = '/nope'",
                "server.tls",
            ),
            ("[store]\ndatabase_url = 'mysql://x'", "store.database_url"),
            (
                "[providers.alpha]\nbase_url = 'alpha'",
                "providers.alpha.base_url",
            ),
            (
                "[test_providers.beta]\nbase_url = 'https://a:99999'",
                "test_providers.beta.base_url",
            ),
            (
                "[providers.alpha]\nbase_url = 'https://user:secretpw@a'",
                "providers.alpha.base_url",
            ),
            (
                "[providers.alpha]\nbase_url = 'http://h?k=secretpw'",
                "providers.alpha.base_url",
            ),
            ("[limits]\nstore = 'redis://:secretpw@h:0'", "limits.store"),
            (
                "[store]\ndatabase_url = 'postgres://u:secretpw@h:99999/x'",
                "store.database_url",
            ),
            (
                "[store]\ndatabase_url = 'postgres://u:secretpw@h/x?sslmod=verify-full'",
                "store.database_url: database address: unknown parameter sslmod",
            ),
            ("[solver]\nmemory_bytes = 0", "solver.memory_bytes"),
            ("[plugins]\nfolder = '/nowhere'", "plugins.folder"),
            (
                "[plugins]\ntrust_roots = ['zz']",
                "plugins.trust_roots: \"zz\"",
            ),
            (
                "[telemetry]\notlp_endpoint = 'zz'",
                "telemetry.otlp_endpoint",
            ),
            ("[telemetry]\nlog_level = 'loud'", "telemetry.log_level"),
            (
                "[telemetry]\nlog_level = 'info,svc_store=loud'",
                "telemetry.log_level",
            ),
        ] {
            let found = problems(text);
            assert!(
                matches!(&found[..], [one] if one.starts_with(key)),
                "{text}: {found:?}"
            );
            assert!(!found.concat().contains("secretpw"), "{found:?}");
        }
    }

    #[test]
    fn all_problems_come_at_once() {
        let text = "[limits]\nstore = 'mongo'\nwrite_ms = 0\n[server]\nbase_url = 'x'\n[webhooks]\nin_flight = 0";
        assert_eq!(problems(text).len(), 4);
        let text = "[webhooks]\nmax_attempts = 0\njitter_percent = 200\ntimeout_ms = 0\n\
                    [server]\ntrusted_proxies = ['x', '10.0.0.0/8', 'y']";
        let found = problems(text);
        assert_eq!(found.len(), 5, "{found:?}");
        assert!(found.iter().any(|one| one.contains("\"y\"")), "{found:?}");
        let text = "[plugins]\ntrust_roots = ['x', 'y']";
        assert_eq!(problems(text).len(), 2);
    }

    #[test]
    fn addresses_that_only_look_alike_pass() {
        for text in [
            "[server]\nlisten = '0.0.0.0:9090'\nadmin_listen = '[::1]:9090'",
            "[server]\nlisten = '127.0.0.1:0'\nadmin_listen = '127.0.0.1:0'",
            "[server]\nlisten = '127.0.0.2:9090'",
            "[server]\nbase_url = 'https://x.example/'",
        ] {
            assert_eq!(problems(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_database_that_is_refused_is_not_doubted_as_well() {
        let configuration: Configuration =
            toml::from_str("[store]\ndatabase_url = 'mysql://db.example/x'").unwrap_or_default();
        let doubts = configuration.doubts();
        assert!(!doubts.concat().contains("database_url"), "{doubts:?}");
    }

    #[test]
    fn a_collector_below_a_path_passes() {
        let text = "[telemetry]\notlp_endpoint = 'https://collector.example/otlp'";
        assert_eq!(problems(text), [""; 0]);
    }

    #[test]
    fn usual_filters_pass() {
        for level in [
            "info",
            "WARN",
            "off",
            "info,svc_store=debug",
            "svc_pipeline[request]=trace",
            "",
        ] {
            let telemetry = Telemetry {
                log_level: level.to_owned(),
                ..Telemetry::default()
            };
            assert!(telemetry.filter().is_ok(), "{level}");
        }
    }
}
