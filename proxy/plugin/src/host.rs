//! The registry of admitted plugins: opened once, asked on every request, swapped by the scan.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use svc_core::time::Timestamp;

use crate::admission::{Admitted, Gate, Plugin};
use crate::cache::CodeCache;
use crate::detector::Detector;
use crate::driver::Driver;
use crate::error::{PluginError, PluginKind};
use crate::metrics::Families;
use crate::scan::{Shared, scan};
use crate::signature::{SignaturePolicy, TrustRoot};
use crate::status::PluginStatus;
use crate::watch::Watch;
use crate::{engine, sandbox};

/// What the operator grants at most; a manifest that asks for more gets this.
#[derive(Clone, Copy, Debug)]
pub struct Ceilings {
    /// Memory of one instance.
    pub memory_mib: u32,
    /// Computing time of one `detect`, `start`, `head`, `push` or `close`, and as much again for each MiB that it is
    /// given.
    pub call_ms: u32,
    /// Computing time of one `configure`.
    pub configure_ms: u32,
    /// What one call may give back.
    pub output_kib: u32,
    /// Instances alive at once, over all plugins; a driver's run holds one.
    pub instances: u32,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self {
            // Room for the largest request (contract 1.2) on its way through a driver: as it came, in another
            // encoding, and in the upstream body.
            memory_mib: 256,
            call_ms: 200,
            configure_ms: 5_000,
            output_kib: 48 * 1024,
            instances: 1_000,
        }
    }
}

/// What the host is opened with.
pub struct HostOptions {
    /// One folder per plugin in here: `plugin.wasm`, `plugin.toml` and, signed, `plugin.toml.sig`.
    pub folder: PathBuf,
    /// Compiled code; created with mode 0700.
    pub cache_folder: PathBuf,
    /// Whether plugins must be signed by a trust root.
    pub signatures: SignaturePolicy,
    pub trust_roots: Vec<TrustRoot>,
    pub ceilings: Ceilings,
    /// Configuration by plugin id; `{}` for the rest.
    pub configuration: BTreeMap<String, Map<String, Value>>,
    /// Where watching and admission run.
    pub background: tokio::runtime::Handle,
    /// The gateway's clock, for status.
    pub now: fn() -> Timestamp,
}

/// A folder could not be used or the engine could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the plugin host: {attempted}: {source}")]
pub struct OpenError {
    pub attempted: String,
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Watches the plugin folder and hands out what it admitted.
pub struct PluginHost {
    shared: Arc<Shared>,
    background: tokio::runtime::Handle,
    _watch: Watch,
}

impl PluginHost {
    /// Admits what lies in the folder and starts to watch it. Plugins that are refused are in [`Self::status`];
    /// they are no reason to fail here.
    ///
    /// # Errors
    /// When a folder cannot be made or watched, or no engine can be made.
    pub async fn open(options: HostOptions) -> Result<Arc<Self>, OpenError> {
        let HostOptions {
            folder,
            cache_folder,
            signatures,
            trust_roots,
            ceilings,
            configuration,
            background,
            now,
        } = options;
        fs::create_dir_all(&folder).map_err(failed(format!("make {}", folder.display())))?;
        let cache = CodeCache::open(&cache_folder, now)
            .map_err(failed(format!("open {}", cache_folder.display())))?;
        let (engine, ticker) = engine::open(&ceilings).map_err(failed("make the engine"))?;
        let linker = sandbox::linker(&engine).map_err(failed("link the host's functions"))?;
        let metrics = Families::new().map_err(failed("make the metrics"))?;
        let gate = Gate {
            engine,
            ticker: Arc::new(ticker),
            linker,
            cache,
            signatures,
            trust_roots,
            ceilings,
            configuration,
            metrics,
        };
        let shared = Arc::new(Shared {
            folder,
            now,
            gate: Arc::new(gate),
            serving: ArcSwap::default(),
            seen: tokio::sync::Mutex::default(),
            status: Mutex::default(),
        });
        // Watching first: what changes during the first scan is seen by the next.
        let watch =
            Watch::start(&shared, &background).map_err(failed("watch the plugin folder"))?;
        let host = Arc::new(Self {
            shared,
            background,
            _watch: watch,
        });
        host.rescan().await;
        Ok(host)
    }

    /// The version that takes new calls now; holding it pins it.
    ///
    /// # Errors
    /// [`PluginError::Missing`].
    pub fn detector(&self, id: &str) -> Result<Arc<Detector>, PluginError> {
        match self.shared.serving.load().get(id) {
            Some(Admitted {
                plugin: Plugin::Detector(detector),
                ..
            }) => Ok(Arc::clone(detector)),
            _ => Err(PluginError::Missing {
                kind: PluginKind::PhiDetector,
                id: id.to_owned(),
            }),
        }
    }

    /// As [`Self::detector`].
    ///
    /// # Errors
    /// [`PluginError::Missing`].
    pub fn driver(&self, id: &str) -> Result<Arc<Driver>, PluginError> {
        match self.shared.serving.load().get(id) {
            Some(Admitted {
                plugin: Plugin::Driver(driver),
                ..
            }) => Ok(Arc::clone(driver)),
            _ => Err(PluginError::Missing {
                kind: PluginKind::ProviderDriver,
                id: id.to_owned(),
            }),
        }
    }

    /// Every plugin id seen, sorted.
    pub fn status(&self) -> Vec<PluginStatus> {
        self.shared.status.lock().values().cloned().collect()
    }

    /// Looks at the folder now and waits until everything found is admitted or refused.
    pub async fn rescan(&self) {
        let scan = self.background.spawn(scan(Arc::clone(&self.shared)));
        if let Err(error) = scan.await {
            tracing::error!(%error, "the scan of the plugin folder broke off");
        }
    }

    /// Adds the plugin metrics to the registry of `/metrics`.
    ///
    /// # Errors
    /// When a name is taken.
    pub fn register_metrics(
        &self,
        registry: &prometheus::Registry,
    ) -> Result<(), prometheus::Error> {
        self.shared.gate.metrics.register(registry)
    }
}

fn failed<E: Into<Box<dyn Error + Send + Sync>>>(
    attempted: impl Into<String>,
) -> impl FnOnce(E) -> OpenError {
    let attempted = attempted.into();
    move |source| OpenError {
        attempted,
        source: source.into(),
    }
}
