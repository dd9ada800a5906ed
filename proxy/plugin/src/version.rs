//! One admitted version of a plugin, whatever it is for: where its instances come from, and how its calls are
//! counted.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::{Instance, InstancePre};
use wasmtime::{Error, Store};

use crate::error::{AdmissionError, Failed, PluginError};
use crate::manifest::Manifest;
use crate::metrics::{Function, Outcome, VersionMetrics};
use crate::sandbox::{Cell, Inside, Mould, classify};

pub(crate) struct Version {
    manifest: Arc<Manifest>,
    number: String,
    /// `id@version`.
    name: Arc<str>,
    mould: Mould,
    metrics: VersionMetrics,
}

impl Version {
    pub(crate) fn new(manifest: Arc<Manifest>, mould: Mould, metrics: VersionMetrics) -> Self {
        let number = manifest.version.to_string();
        Self {
            name: format!("{}@{number}", manifest.id).into(),
            number,
            manifest,
            mould,
            metrics,
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.manifest.id
    }

    pub(crate) fn number(&self) -> &str {
        &self.number
    }

    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Both, as `id@version`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Makes one call, counts it, and says whose it was where it fails.
    pub(crate) async fn measured<T, E>(
        &self,
        function: Function,
        call: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failed<E>>
    where
        for<'a> Outcome<'a>: From<&'a E>,
    {
        let answer = self.metrics.measured(function, call).await;
        answer.map_err(|error| self.failed(error))
    }

    /// A failure of this version.
    pub(crate) fn failed<E>(&self, error: E) -> Failed<E> {
        Failed {
            plugin: Arc::clone(&self.name),
            error,
        }
    }

    /// What every instance is configured with.
    pub(crate) fn configuration(&self) -> &[u8] {
        self.mould.configuration()
    }

    /// Where an interface that the manifest promises is exported.
    pub(crate) fn exported<I>(
        &self,
        find: fn(&InstancePre<Inside>) -> Result<I, Error>,
    ) -> Result<I, AdmissionError> {
        find(self.mould.pre()).map_err(|error| AdmissionError::of_guest("exports", &error))
    }

    /// An instance that says what the plugin is, and nothing of a request.
    pub(crate) async fn blank<G>(
        &self,
        load: impl FnOnce(&mut Store<Inside>, &Instance) -> Result<G, Error>,
    ) -> Result<(Cell, G), AdmissionError> {
        let mut cell = self.mould.blank().await.map_err(uninformed)?;
        let guest = load(&mut cell.store, &cell.instance).map_err(uninformed)?;
        Ok((cell, guest))
    }

    /// A fresh instance for one call or run.
    pub(crate) async fn instance<G>(
        &self,
        load: impl FnOnce(&mut Store<Inside>, &Instance) -> Result<G, Error>,
    ) -> Result<(Cell, G), PluginError> {
        let began = Instant::now();
        let mut cell = self.mould.ready().await?;
        self.metrics.instantiated(began.elapsed());
        let guest = load(&mut cell.store, &cell.instance).map_err(|error| classify(&error))?;
        Ok((cell, guest))
    }

    /// As [`Mould::has_room`].
    pub(crate) fn has_room(&self) -> bool {
        self.mould.has_room()
    }
}

/// `info` could not be asked.
pub(crate) fn uninformed(error: Error) -> AdmissionError {
    AdmissionError::of_guest("info", &error)
}

/// Extensions that this host does not know are passed over, unless they must be honoured (plugin.wit).
pub(crate) fn refuse_unknown(
    step: &'static str,
    ext: &[(String, Vec<u8>)],
) -> Result<(), AdmissionError> {
    match ext.iter().find(|(name, _)| name.starts_with("must-")) {
        Some((name, _)) => Err(AdmissionError::new(
            step,
            format!("{name} is not known here"),
        )),
        None => Ok(()),
    }
}
