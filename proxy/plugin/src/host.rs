//! The registry of admitted plugins.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use svc_core::time::Timestamp;

use crate::detector::Detector;
use crate::driver::Driver;
use crate::error::{PluginError, PluginKind};
use crate::signature::{SignaturePolicy, TrustRoot};
use crate::status::PluginStatus;

/// What the operator grants at most; a manifest that asks for more gets this.
#[derive(Clone, Copy, Debug)]
pub struct Ceilings {
    pub memory_mib: u32,
    /// Computing time of one `detect`, `start`, `head`, `push` or `close`.
    pub call_ms: u32,
    pub configure_ms: u32,
    pub output_kib: u32,
    /// Instances alive at once, over all plugins; a driver's run holds one.
    pub instances: u32,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self {
            memory_mib: 64,
            call_ms: 200,
            configure_ms: 5_000,
            output_kib: 16 * 1024,
            instances: 1_000,
        }
    }
}

pub struct HostOptions {
    /// One folder per plugin in here: `plugin.wasm`, `plugin.toml` and, signed, `plugin.toml.sig`.
    pub folder: PathBuf,
    /// Compiled code; created with mode 0700.
    pub cache_folder: PathBuf,
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
pub struct PluginHost {}

impl PluginHost {
    /// Admits what lies in the folder and starts to watch it. Plugins that are refused are in [`Self::status`];
    /// they are no reason to fail here.
    ///
    /// # Errors
    /// When a folder cannot be made or read, or no engine can be made.
    pub async fn open(_options: HostOptions) -> Result<Arc<Self>, OpenError> {
        Ok(Arc::new(Self {}))
    }

    /// The version that takes new calls now; holding it pins it.
    ///
    /// # Errors
    /// [`PluginError::Missing`].
    pub fn detector(&self, id: &str) -> Result<Arc<Detector>, PluginError> {
        Err(PluginError::Missing {
            kind: PluginKind::PhiDetector,
            id: id.to_owned(),
        })
    }

    /// As [`Self::detector`].
    ///
    /// # Errors
    /// [`PluginError::Missing`].
    pub fn driver(&self, id: &str) -> Result<Arc<Driver>, PluginError> {
        Err(PluginError::Missing {
            kind: PluginKind::ProviderDriver,
            id: id.to_owned(),
        })
    }

    /// Every plugin id seen, sorted.
    pub fn status(&self) -> Vec<PluginStatus> {
        Vec::new()
    }

    /// Looks at the folder now and waits until everything found is admitted or refused.
    pub async fn rescan(&self) {}

    /// Adds the plugin metrics to the registry of `/metrics`.
    ///
    /// # Errors
    /// When a name is taken.
    pub fn register_metrics(
        &self,
        _registry: &prometheus::Registry,
    ) -> Result<(), prometheus::Error> {
        Ok(())
    }
}
