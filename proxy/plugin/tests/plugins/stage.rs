//! A plugin folder of a test's own, and the guests that go into it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use svc_core::time::Timestamp;
use svc_plugin::{Ceilings, HostOptions, PluginHost, SignaturePolicy, TrustRoot};
use tempfile::TempDir;

use crate::guest::{self, Workshop};

/// The repository's root.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn component(package: &str) -> Vec<u8> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap()
        .join("guests");
    let workshop = Workshop {
        sources: repository().join("plugins"),
        target_folder: target,
    };
    guest::encode(&workshop.compile(package).unwrap()).unwrap()
}

pub(crate) static ALPHA: LazyLock<Vec<u8>> = LazyLock::new(|| component("provider-alpha"));
pub(crate) static BETA: LazyLock<Vec<u8>> = LazyLock::new(|| component("provider-beta"));
pub(crate) static PATTERNS: LazyLock<Vec<u8>> = LazyLock::new(|| component("phi-patterns"));
pub(crate) static EVIL: LazyLock<Vec<u8>> = LazyLock::new(|| component("evil"));
pub(crate) static EVIL_DRIVER: LazyLock<Vec<u8>> = LazyLock::new(|| component("evil-driver"));
/// Compiled code is shared by the tests; which of them compiles first does not matter.
static CACHE: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());

pub(crate) const EVIL_MANIFEST: &str = r#"
schema = 1
id = "evil"
version = "7.7.1"
kind = "phi-detector"
world = "gateway:phi/phi-detector@0.1.0"
counters = ["loud", "quiet"]
[component]
sha256 = ""
size = 0
imports = ["gateway:plugin/types@0.1.0", "gateway:plugin/counters@0.1.0", "gateway:phi/types@0.1.0"]
[entity-kinds]
names = ["SSN"]
[limits]
memory-mib = 32
call-ms = 100
configure-ms = 1000
output-kib = 4096
"#;

pub(crate) const EVIL_DRIVER_MANIFEST: &str = r#"
schema = 1
id = "evil-driver"
version = "0.1.0"
kind = "provider-driver"
world = "gateway:provider/provider-driver@0.1.0"
counters = ["frames"]
[component]
sha256 = ""
size = 0
imports = ["gateway:plugin/types@0.1.0", "gateway:plugin/counters@0.1.0", "gateway:provider/types@0.1.0"]
[limits]
memory-mib = 32
call-ms = 1000
configure-ms = 1000
output-kib = 4096
[auth]
kind = "header"
name = "authorization"
template = "Bearer {secret}"
"#;

/// The evil guest under another version of the same length.
pub(crate) fn evil(version: &str) -> (Vec<u8>, String) {
    let from = b"7.7.1";
    assert_eq!(version.len(), from.len());
    let mut bytes = EVIL.clone();
    let places: Vec<usize> = (0..bytes.len() - from.len())
        .filter(|at| bytes[*at..].starts_with(from))
        .collect();
    assert_eq!(places.len(), 1, "the version stands once in the module");
    bytes[places[0]..places[0] + from.len()].copy_from_slice(version.as_bytes());
    (bytes, EVIL_MANIFEST.replace("7.7.1", version))
}

pub(crate) fn shipped_manifest(id: &str) -> String {
    fs::read_to_string(repository().join("plugins").join(id).join("plugin.toml")).unwrap()
}

/// The same manifest with time enough for a busy machine, for tests that are not about time.
pub(crate) fn patient(manifest: &str) -> String {
    let asked = manifest
        .lines()
        .find(|line| line.starts_with("call-ms"))
        .unwrap();
    manifest.replacen(asked, "call-ms = 2000", 1)
}

/// A folder to put plugins into.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) cache: PathBuf,
    pub(crate) signatures: SignaturePolicy,
    pub(crate) trust_roots: Vec<TrustRoot>,
    pub(crate) configuration:
        std::collections::BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
            cache: CACHE.path().to_owned(),
            signatures: SignaturePolicy::Off,
            trust_roots: Vec::new(),
            configuration: std::collections::BTreeMap::new(),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("plugins")
    }

    /// Installs file by file.
    pub(crate) fn install(&self, name: &str, component: &[u8], manifest: &str) {
        guest::write_plugin(&self.path().join(name), component, manifest).unwrap();
    }

    pub(crate) async fn open(&self) -> Arc<PluginHost> {
        let options = HostOptions {
            folder: self.path(),
            cache_folder: self.cache.clone(),
            signatures: self.signatures,
            trust_roots: self.trust_roots.clone(),
            ceilings: Ceilings {
                instances: 64,
                call_ms: 2_000,
                ..Ceilings::default()
            },
            configuration: self.configuration.clone(),
            background: tokio::runtime::Handle::current(),
            now: || Timestamp(1_795_205_340_123),
        };
        PluginHost::open(options).await.unwrap()
    }
}
