//! Opening what every command shares: runtimes, store, plugins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};
use svc_pipeline::moment;
use svc_plugin::{Ceilings, HostOptions, PluginHost, SignaturePolicy};
use svc_store::master_key::MasterKey;
use svc_store::{Store, StoreError, StoreOptions};
use tempfile::TempDir;
use tokio::runtime::{Handle, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::configuration::{Configuration, Signatures};
use crate::key_source::{self, is_missing};

/// Runs one command to its end.
///
/// # Errors
/// When no runtime can be made.
pub(crate) fn blocking<T>(command: impl Future<Output = T>) -> anyhow::Result<T> {
    Ok(runtime("command")?.block_on(command))
}

/// Runs one command that keeps something for its own time in the system's temporary folder to its end, or to the signal
/// that ends it: what it keeps goes with it.
///
/// # Errors
/// Those of the command, a signal, and when no runtime can be made.
pub(crate) fn tidily<T>(command: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = runtime("command")?;
    let done = runtime.block_on(async {
        let watch = |kind| signal(kind).context("watching signals");
        let mut interrupt = watch(SignalKind::interrupt())?;
        let mut terminate = watch(SignalKind::terminate())?;
        let mut hangup = watch(SignalKind::hangup())?;
        tokio::select! {
            done = command => done,
            _ = interrupt.recv() => bail!("interrupted"),
            _ = terminate.recv() => bail!("ended by a signal"),
            _ = hangup.recv() => bail!("ended by a signal"),
        }
    });
    // A plugin that is being compiled is no reason to stay.
    runtime.shutdown_background();
    done
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

/// Refuses a master key that is not the store's, before anything is written with it. One that is older than the store's
/// newest will do, as while it is replaced one replica after the other.
///
/// # Errors
/// [`NOT_ITS_KEY`], and those of the database.
pub(crate) async fn right_master_key(store: &Store) -> anyhow::Result<()> {
    match store.check_master_key().await {
        Ok(None) => Ok(()),
        Ok(Some(version)) => {
            tracing::warn!(
                version,
                "the master key lacks this version: what needs an organization that was made with it answers 503; add \
                 it and restart"
            );
            Ok(())
        }
        Err(error @ StoreError::Seal(_)) => Err(error).context(NOT_ITS_KEY),
        Err(error) => Err(error).context("trying the master key out"),
    }
}

const NOT_ITS_KEY: &str = "the master key is not the one that this store was made with";

/// Whether a store has something that only its own master key opens. Nothing is made where there is no store yet.
///
/// # Errors
/// A database that cannot be opened.
async fn has_a_key_of_its_own(url: &str, runtime: &Handle) -> anyhow::Result<bool> {
    if Store::file(url)?.is_some_and(|file| !file.exists()) {
        return Ok(false);
    }
    // A key that nobody has.
    let nobodys = MasterKey::from_bytes(rand::random());
    let store = Store::open(url, StoreOptions::default(), nobodys, runtime).await;
    let store = store.context("opening the store")?;
    let checked = store.check_master_key().await;
    store.close().await;
    match checked {
        Ok(_) => Ok(false),
        Err(StoreError::Seal(_)) => Ok(true),
        Err(error) => Err(error).context("looking for sealed keys in the store"),
    }
}

/// The store, with the master key of the configured source. A key is made for a store only that has none yet: another
/// one would open nothing of what is there.
///
/// # Errors
/// A folder, key or database that cannot be opened.
pub(crate) async fn store(
    configuration: &Configuration,
    runtime: &Handle,
) -> anyhow::Result<Store> {
    let url = configuration.database_url();
    let source = key_source::configured(configuration);
    // Whoever keeps neither database nor key there needs no folder.
    let key = source.would_make()?;
    if Store::file(&url)?.is_some() || key.is_some() {
        private_folder(&configuration.server.data_dir)?;
    }
    if let Some(missing) = key
        && has_a_key_of_its_own(&url, runtime).await?
    {
        bail!(
            "there is no master key {}, and this store was made with one: put it there",
            missing.display()
        );
    }
    let master = source.read().await?;
    Store::open(&url, StoreOptions::default(), master, runtime)
        .await
        .context("opening the store")
}

/// As [`store`], where there is one already: whoever asks about a store from another folder or without the gateway's
/// environment is not told of an empty one that is made for the purpose.
///
/// # Errors
/// As [`store`], and a store that is not there.
pub(crate) async fn existing_store(
    configuration: &Configuration,
    runtime: &Handle,
) -> anyhow::Result<Store> {
    if let Some(missing) = would_make(configuration)? {
        bail!(
            "there is no store {}: run this in the folder, and with the configuration and the environment, of the gateway",
            missing.display()
        );
    }
    store(configuration, runtime).await
}

/// The file that [`store`] would make for the store.
///
/// # Errors
/// An address that is none, and a folder that may not be looked into.
pub(crate) fn would_make(configuration: &Configuration) -> anyhow::Result<Option<PathBuf>> {
    let file = Store::file(&configuration.database_url()).context("store.database_url")?;
    let Some(file) = file else { return Ok(None) };
    let is_missing = is_missing(&file)?;
    Ok(is_missing.then(|| std::path::absolute(&file).unwrap_or(file)))
}

/// The plugin host over the configured folder.
///
/// # Errors
/// A folder or trust root that cannot be used. Refused plugins are no error here.
pub(crate) async fn plugin_host(configuration: &Configuration) -> anyhow::Result<Arc<PluginHost>> {
    configuration.plugins.is_there()?;
    private_folder(&configuration.server.data_dir)?;
    host(configuration, configuration.plugin_cache()).await
}

/// A plugin host for a command that only looks.
pub(crate) struct Looking {
    pub(crate) host: Arc<PluginHost>,
    /// What lies in the plugin folder and is no plugin to the host.
    pub(crate) left_out: Vec<String>,
    _scratch: TempDir,
}

/// As [`plugin_host`], but makes nothing that stays: whoever serves later may be another user than whoever looks, and
/// could not use it.
///
/// # Errors
/// As [`plugin_host`], and a plugin folder that is not there.
pub(crate) async fn looking_host(configuration: &Configuration) -> anyhow::Result<Looking> {
    let folder = configuration.plugins_folder()?;
    ensure!(folder.is_dir(), "there is no folder {}", folder.display());
    let scratch = TempDir::new().context("making a folder for compiled plugins")?;
    copy_cache(&configuration.plugin_cache(), scratch.path());
    let host = host(configuration, scratch.path().to_owned()).await?;
    let left_out = svc_plugin::left_out(&folder);
    let left_out = left_out.with_context(|| format!("reading {}", folder.display()))?;
    Ok(Looking {
        host,
        left_out,
        _scratch: scratch,
    })
}

/// Takes over what was compiled before, as far as it can be read: the rest is compiled again.
fn copy_cache(cache: &Path, into: &Path) {
    let entries = std::fs::read_dir(cache).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            std::fs::copy(entry.path(), into.join(entry.file_name())).ok();
        }
    }
}

async fn host(
    configuration: &Configuration,
    cache_folder: PathBuf,
) -> anyhow::Result<Arc<PluginHost>> {
    let folder = configuration.plugins_folder()?;
    let trust_roots = configuration.plugins.trust_roots();
    let trust_roots = trust_roots.map_err(|problems| anyhow!("{}", problems.join("; ")));
    let places = format!(
        "the plugin folder {} with the cache {}",
        folder.display(),
        cache_folder.display()
    );
    let options = HostOptions {
        cache_folder,
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
        folder,
    };
    PluginHost::open(options).await.context(places)
}

/// Makes the data folder, for the gateway's own user alone. One that is there keeps its mode.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn private_folder(path: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("making the data folder {}", path.display()))
}

/// Whether others than the gateway's own user may enter or read a folder.
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(path);
    metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}
