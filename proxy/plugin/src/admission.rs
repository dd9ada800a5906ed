//! Letting a plugin in: everything that is checked before it may see a request.
//!
//! Runs off the request path. Nothing here trusts the guest: what it says about itself is compared with the
//! manifest, which the signature covers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use wasmparser::{Parser, Payload, Validator};
use wasmtime::Engine;
use wasmtime::component::Linker;

use crate::bindings::plugin::exports::gateway::plugin::lifecycle;
use crate::bindings::plugin::gateway::plugin::types;
use crate::cache::CodeCache;
use crate::detector::Detector;
use crate::driver::Driver;
use crate::error::{AdmissionError, PluginKind};
use crate::host::Ceilings;
use crate::manifest::{API, Manifest};
use crate::metrics::Families;
use crate::sandbox::{Inside, Limits, Mould};
use crate::signature::{self, SignaturePolicy, TrustRoot};
use crate::ticker::Ticker;
use crate::version::{Version, refuse_unknown};

/// The three files of a plugin folder, as read.
pub(crate) struct Package {
    pub(crate) manifest: Vec<u8>,
    pub(crate) component: Vec<u8>,
    pub(crate) signature: Option<Vec<u8>>,
}

/// Everything that admission needs beside the package.
pub(crate) struct Gate {
    pub(crate) engine: Engine,
    pub(crate) ticker: Arc<Ticker>,
    pub(crate) linker: Linker<Inside>,
    pub(crate) cache: CodeCache,
    pub(crate) signatures: SignaturePolicy,
    pub(crate) trust_roots: Vec<TrustRoot>,
    pub(crate) ceilings: Ceilings,
    pub(crate) configuration: BTreeMap<String, Map<String, Value>>,
    pub(crate) metrics: Families,
}

/// An admitted version.
#[derive(Clone)]
pub(crate) struct Admitted {
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) signed: bool,
    pub(crate) plugin: Plugin,
}

#[derive(Clone)]
pub(crate) enum Plugin {
    Detector(Arc<Detector>),
    Driver(Arc<Driver>),
}

impl Gate {
    /// Admits a package or says at which step it failed.
    pub(crate) async fn admit(
        self: &Arc<Self>,
        package: Package,
    ) -> Result<Admitted, AdmissionError> {
        let gate = Arc::clone(self);
        // Parsing, hashing and compiling take up to seconds of computing.
        let checked = tokio::task::spawn_blocking(move || gate.compile(package));
        let (manifest, signed, mould) = checked
            .await
            .map_err(|error| AdmissionError::new("compile", error))??;
        let manifest = Arc::new(manifest);
        examine(&mould, &manifest).await?;
        let number = manifest.version.to_string();
        let metrics = self.metrics.version(&manifest.id, &number);
        let counters = self
            .metrics
            .counters(&manifest.id, &number, &manifest.counters);
        let mould = mould.counting(counters);
        let version = Version::new(Arc::clone(&manifest), mould, metrics);
        let plugin = match manifest.kind {
            PluginKind::PhiDetector => Plugin::Detector(Arc::new(Detector::admit(version).await?)),
            PluginKind::ProviderDriver => Plugin::Driver(Arc::new(Driver::admit(version).await?)),
        };
        Ok(Admitted {
            manifest,
            signed,
            plugin,
        })
    }

    fn compile(&self, package: Package) -> Result<(Manifest, bool, Mould), AdmissionError> {
        let Package {
            manifest: manifest_bytes,
            component,
            signature,
        } = package;
        let manifest = Manifest::parse(&manifest_bytes)?;
        check_digest(&manifest, &component)?;
        let signed = signature::check(
            self.signatures,
            &self.trust_roots,
            &manifest_bytes,
            signature.as_deref(),
        )?;
        check_imports(&manifest, &component)?;
        let failed = |step| move |error| AdmissionError::of_guest(step, &error);
        let (code, origin) = self
            .cache
            .load(&self.engine, &component)
            .map_err(failed("compile"))?;
        tracing::debug!(plugin = manifest.id, ?origin, "plugin code is ready");
        if let Some(export) = manifest.uncalled_export()
            && code.get_export_index(None, export).is_none()
        {
            return Err(AdmissionError::new(
                "exports",
                format!("the world needs {export}"),
            ));
        }
        let pre = self.linker.instantiate_pre(&code).map_err(failed("link"))?;
        let configuration = self
            .configuration
            .get(&manifest.id)
            .cloned()
            .unwrap_or_default();
        let configuration = Value::Object(configuration).to_string().into_bytes();
        let mould = Mould::new(pre, self.limits(&manifest), configuration, &self.ticker)
            .map_err(failed("exports"))?;
        Ok((manifest, signed, mould))
    }

    fn limits(&self, manifest: &Manifest) -> Limits {
        let asked = manifest.limits;
        let ceilings = self.ceilings;
        let ms = |asked: u32, ceiling: u32| Duration::from_millis(u64::from(asked.min(ceiling)));
        Limits {
            memory_bytes: asked.memory_mib.min(ceilings.memory_mib) as usize * 1024 * 1024,
            call: ms(asked.call_ms, ceilings.call_ms),
            configure: ms(asked.configure_ms, ceilings.configure_ms),
            output_bytes: asked.output_kib.min(ceilings.output_kib) as usize * 1024,
            // A quarter, so that whoever waits never makes others wait.
            patient_instances: u64::from(ceilings.instances / 4),
        }
    }
}

fn check_digest(manifest: &Manifest, component: &[u8]) -> Result<(), AdmissionError> {
    let differs = |what: &str| {
        Err(AdmissionError::new(
            "digest",
            format!("plugin.wasm and the manifest differ in {what}"),
        ))
    };
    if component.len() as u64 != manifest.component.size {
        return differs("size");
    }
    if !hex::encode(Sha256::digest(component)).eq_ignore_ascii_case(&manifest.component.sha256) {
        return differs("sha256");
    }
    Ok(())
}

/// Reads the whole file before anything compiles it, and holds every import against the manifest, whose own list
/// is held against what the host offers.
fn check_imports(manifest: &Manifest, component: &[u8]) -> Result<(), AdmissionError> {
    let bad = |error: wasmparser::BinaryReaderError| AdmissionError::new("imports", error);
    if !Parser::is_component(component) {
        let what = match Parser::is_core_wasm(component) {
            true => "plugin.wasm is a module and no component",
            false => "plugin.wasm is no component",
        };
        return Err(AdmissionError::new("imports", what));
    }
    Validator::new().validate_all(component).map_err(bad)?;
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(component) {
        match payload.map_err(bad)? {
            Payload::Version { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 1 => {
                for import in imports {
                    let name = import.map_err(bad)?.name.name;
                    if !manifest
                        .component
                        .imports
                        .iter()
                        .any(|listed| listed == name)
                    {
                        return Err(AdmissionError::new(
                            "imports",
                            format!("{name} is not in the manifest"),
                        ));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Really instantiates: what the guest says of itself, its configuration, its own check.
async fn examine(mould: &Mould, manifest: &Manifest) -> Result<(), AdmissionError> {
    let failed = |step| move |error| AdmissionError::of_guest(step, &error);
    let mut cell = mould.blank().await.map_err(failed("instantiate"))?;
    let guest = mould.lifecycle(&mut cell).map_err(failed("exports"))?;
    let (store, allowance) = cell.admitting();
    let described = allowance
        .spend(guest.call_describe(store))
        .await
        .map_err(failed("describe"))?;
    compare(&described, manifest)?;

    let refused = |error: lifecycle::ConfigError| {
        AdmissionError::new("configure", format!("{}: {}", error.path, error.message))
    };
    let mut cell = mould
        .configured()
        .await
        .map_err(failed("configure"))?
        .map_err(refused)?;
    let guest = mould.lifecycle(&mut cell).map_err(failed("exports"))?;
    let (store, allowance) = cell.admitting();
    let tested = allowance
        .spend(guest.call_self_test(store))
        .await
        .map_err(failed("self-test"))?;
    tested.map_err(|reason| AdmissionError::new("self-test", reason))
}

fn compare(described: &lifecycle::Manifest, manifest: &Manifest) -> Result<(), AdmissionError> {
    let lifecycle::Manifest {
        id,
        version,
        kind,
        api,
        config_schema,
        counters,
        ext,
    } = described;
    let kind = match kind {
        types::PluginKind::PhiDetector => PluginKind::PhiDetector,
        types::PluginKind::ProviderDriver => PluginKind::ProviderDriver,
    };
    let differs = |what: &str| {
        Err(AdmissionError::new(
            "describe",
            format!("the plugin and its manifest differ in {what}"),
        ))
    };
    if *id != manifest.id {
        return differs("id");
    }
    if *version != manifest.version.to_string() {
        return differs("version");
    }
    if kind != manifest.kind {
        return differs("kind");
    }
    if *counters != manifest.counters {
        return differs("counters");
    }
    if api != API {
        return Err(AdmissionError::new(
            "describe",
            format!("this host speaks API {API}, the plugin {api}"),
        ));
    }
    refuse_unknown("describe", ext)?;
    let is_object = |bytes: &[u8]| {
        serde_json::from_slice::<Value>(bytes).is_ok_and(|schema| schema.is_object())
    };
    if !config_schema.is_empty() && !is_object(config_schema) {
        return Err(AdmissionError::new(
            "describe",
            "config-schema is not a JSON object",
        ));
    }
    Ok(())
}
