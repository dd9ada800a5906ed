//! Opening what every command shares: runtimes, store, plugins.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use svc_pipeline::moment;
use svc_plugin::{Ceilings, HostOptions, PluginHost, SignaturePolicy, TrustRoot};
use svc_store::{Store, StoreOptions};
use tokio::runtime::{Handle, Runtime};

use crate::configuration::{Configuration, Signatures};
use crate::key_source;

/// Runs one command to its end.
///
/// # Errors
/// When no runtime can be made.
pub(crate) fn blocking<T>(command: impl Future<Output = T>) -> anyhow::Result<T> {
    Ok(runtime("command")?.block_on(command))
}

/// A runtime of our own, beside pingora's.
///
/// # Errors
/// When its threads cannot be started.
pub(crate) fn runtime(name: &str) -> anyhow::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name(name)
        .build()
        .with_context(|| format!("starting the {name} runtime"))
}

/// The store, with the master key of the configured source.
///
/// # Errors
/// A folder, key or database that cannot be opened.
pub(crate) async fn store(
    configuration: &Configuration,
    runtime: &Handle,
) -> anyhow::Result<Store> {
    let folder = &configuration.server.data_dir;
    private_folder(folder)?;
    let master = key_source::configured(configuration).read().await?;
    let url = configuration.database_url();
    Store::open(&url, StoreOptions::default(), master, runtime)
        .await
        .context("opening the store")
}

/// The plugin host over the configured folder.
///
/// # Errors
/// A folder or trust root that cannot be used. Refused plugins are no error here.
pub(crate) async fn plugin_host(configuration: &Configuration) -> anyhow::Result<Arc<PluginHost>> {
    let folder = configuration.plugins_folder()?;
    private_folder(&configuration.server.data_dir)?;
    let trust_roots: anyhow::Result<Vec<_>> = configuration
        .plugins
        .trust_roots
        .iter()
        .map(|text| TrustRoot::parse(text).with_context(|| format!("plugins.trust_roots: {text}")))
        .collect();
    let options = HostOptions {
        cache_folder: configuration.plugin_cache(),
        signatures: match configuration.plugins.signatures {
            Signatures::Require => SignaturePolicy::Require,
            Signatures::Warn => SignaturePolicy::Warn,
            Signatures::Off => SignaturePolicy::Off,
        },
        trust_roots: trust_roots?,
        ceilings: Ceilings::default(),
        configuration: BTreeMap::new(),
        background: Handle::current(),
        now: moment::now,
        folder: folder.clone(),
    };
    PluginHost::open(options)
        .await
        .with_context(|| format!("the plugin folder {}", folder.display()))
}

fn private_folder(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("making the data folder {}", path.display()))
}
