//! The tables of the configuration file, and what stands in them where the file says nothing.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use ipnet::IpNet;
use serde::Deserialize;
use svc_core::address::{AddressRules, Schemes};
use svc_core::version::ApiVersion;
use svc_pipeline::gateway::Sessions;
use svc_pipeline::upstream::Deadlines;

/// A key, a password, or an address that may hold one: no `Debug` shows it.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(pub(crate) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
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
    pub(crate) notice_seconds: u64,
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
    /// `memory`, `database` or the address of a Redis server.
    pub(super) store: Option<Secret>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Versions {
    pub(super) default: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Store {
    pub(super) database_url: Option<Secret>,
    /// Program and arguments.
    pub(crate) master_key_command: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Policies {
    pub(super) folder: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Plugins {
    pub(crate) folder: Option<PathBuf>,
    pub(super) cache_folder: Option<PathBuf>,
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
    pub(crate) api_key: Option<Secret>,
}

/// The way to services whose addresses callers choose (contract 15.4).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Integrations {
    pub(super) allowed_networks: Vec<String>,
    pub(super) allowed_ports: Vec<u16>,
    pub(super) plain_http: bool,
    pub(crate) body_bytes: usize,
    pub(super) connect_ms: u64,
    pub(super) head_ms: u64,
    pub(super) idle_ms: u64,
    pub(super) total_ms: u64,
}

/// How events are delivered; where they may go is what `[integrations]` says (contract 15.4).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Webhooks {
    pub(super) max_attempts: u32,
    pub(super) delays_ms: Vec<u64>,
    pub(super) jitter_percent: u32,
    pub(super) timeout_ms: u64,
    pub(super) connect_ms: u64,
    pub(super) in_flight: u32,
    pub(super) honour_retry_after: bool,
    pub(super) disable_when_gone: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Solver {
    pub(super) library: Option<PathBuf>,
    pub(crate) workers: usize,
    pub(crate) queue: usize,
    pub(crate) memory_bytes: u64,
    pub(crate) body_bytes: usize,
}

/// Pages under `/ui`, and signing in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Dashboard {
    pub(super) idle_minutes: u32,
    pub(super) session_hours: u32,
    pub(crate) openid: Option<OpenId>,
}

/// Where people of the dashboard may sign in beside its own form.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenId {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    pub(super) client_secret_file: Option<PathBuf>,
    #[serde(default = "openid_label")]
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) email_domains: Vec<String>,
    pub(crate) ca_file: Option<PathBuf>,
    /// From the environment or `client_secret_file`; never from the configuration file itself.
    #[serde(skip)]
    pub(crate) client_secret: Option<Secret>,
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
            notice_seconds: 0, // nobody has to be told where nothing stands in front
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

fn openid_label() -> String {
    "your organization's account".to_owned()
}
