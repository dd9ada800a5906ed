//! `plugin.toml`: what a plugin is, what it may import and what it asks for. The signed word on a plugin; what the
//! guest says about itself has to agree with it.

use std::collections::BTreeSet;

use semver::Version;
use serde::Deserialize;

use crate::error::{AdmissionError, PluginKind};

/// The version of this file's format.
const SCHEMA: u32 = 1;
/// Longest id (plugin.wit).
const MAX_ID_CHARS: usize = 64;
/// Most counters (plugin.wit).
const MAX_COUNTERS: usize = 32;
/// Most kinds of entity; the index is 16 bits, and no detector needs a tenth of this.
const MAX_ENTITY_KINDS: usize = 256;
/// What this host links or knows as types. A manifest that asks for anything else is for another gateway.
const OFFERED: [&str; 5] = [
    "gateway:plugin/types@0.1.0",
    "gateway:plugin/counters@0.1.0",
    "gateway:plugin/devlog@0.1.0",
    "gateway:phi/types@0.1.0",
    "gateway:provider/types@0.1.0",
];
/// The interface family of `wit/v0.1`.
pub(crate) const API: &str = "0.1.0";
/// Of drivers that count tokens too.
const COUNTING_WORLD: &str = "gateway:provider/provider-driver-counting@0.1.0";
/// Of detectors that follow a stream.
const STREAM_WORLD: &str = "gateway:phi/phi-stream-detector@0.1.0";
const WORLDS: [(&str, PluginKind); 4] = [
    ("gateway:phi/phi-detector@0.1.0", PluginKind::PhiDetector),
    (STREAM_WORLD, PluginKind::PhiDetector),
    (
        "gateway:provider/provider-driver@0.1.0",
        PluginKind::ProviderDriver,
    ),
    (COUNTING_WORLD, PluginKind::ProviderDriver),
];
/// What stands for the secret in a header template.
pub const SECRET: &str = "{secret}";

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(crate) schema: u32,
    pub(crate) id: String,
    pub(crate) version: Version,
    pub(crate) kind: PluginKind,
    pub(crate) world: String,
    #[serde(default)]
    pub(crate) counters: Vec<String>,
    pub(crate) component: Component,
    pub(crate) entity_kinds: Option<EntityKinds>,
    pub(crate) limits: Limits,
    pub(crate) auth: Option<Auth>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Component {
    /// Of `plugin.wasm`, hex.
    pub(crate) sha256: String,
    /// Bytes.
    pub(crate) size: u64,
    pub(crate) imports: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct EntityKinds {
    /// In the order of the index that spans carry.
    pub(crate) names: Vec<String>,
}

/// What the plugin asks for; the operator's ceilings win.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Limits {
    pub(crate) memory_mib: u32,
    pub(crate) call_ms: u32,
    pub(crate) configure_ms: u32,
    pub(crate) output_kib: u32,
}

/// Where the host puts the provider's secret.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Auth {
    None,
    Header { name: String, template: String },
    Query { name: String },
    HostSigned { scheme: String },
}

impl Manifest {
    /// Reads and checks a manifest.
    ///
    /// # Errors
    /// [`AdmissionError`] of step `manifest` that says which rule is broken.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, AdmissionError> {
        let text = std::str::from_utf8(bytes).map_err(|error| refuse(&error))?;
        let manifest: Self = toml::from_str(text).map_err(|error| unreadable(text, &error))?;
        manifest.check().map_err(|rule| refuse(&rule))?;
        Ok(manifest)
    }

    /// The export by which its world differs from the plain one of its kind, where nothing calls it yet.
    pub(crate) fn uncalled_export(&self) -> Option<&'static str> {
        (self.world == STREAM_WORLD).then_some("gateway:phi/stream-detector@0.1.0")
    }

    /// Whether the plugin exports `token-count`.
    pub(crate) fn counts_tokens(&self) -> bool {
        self.world == COUNTING_WORLD
    }

    fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("schema must be {SCHEMA}"));
        }
        if !is_id(&self.id) {
            return Err(format!("id must be 1 to {MAX_ID_CHARS} of [a-z0-9.-]"));
        }
        if !WORLDS.contains(&(self.world.as_str(), self.kind)) {
            return Err(format!(
                "world {} is not offered for kind {}",
                self.world,
                self.kind.word()
            ));
        }
        if let Some(import) = self
            .component
            .imports
            .iter()
            .find(|import| !OFFERED.contains(&import.as_str()))
        {
            return Err(format!("import {import} is not offered"));
        }
        if self.component.sha256.len() != 64
            || !self
                .component
                .sha256
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit())
        {
            return Err("component.sha256 must be 64 hex digits".to_owned());
        }
        self.check_counters()?;
        match self.kind {
            PluginKind::PhiDetector => self.check_detector(),
            PluginKind::ProviderDriver => self.check_driver(),
        }
    }

    /// The names become labels of metrics.
    fn check_counters(&self) -> Result<(), String> {
        if self.counters.len() > MAX_COUNTERS {
            return Err(format!("at most {MAX_COUNTERS} counters"));
        }
        let mut seen = BTreeSet::new();
        if self
            .counters
            .iter()
            .all(|name| is_counter(name) && seen.insert(name))
        {
            Ok(())
        } else {
            Err(format!(
                "counters must be different names of 1 to {MAX_ID_CHARS} of [a-z0-9_.-]"
            ))
        }
    }

    fn check_detector(&self) -> Result<(), String> {
        if self.auth.is_some() {
            return Err("a detector has no [auth]".to_owned());
        }
        let Some(kinds) = &self.entity_kinds else {
            return Err("a detector needs [entity-kinds]".to_owned());
        };
        let fits = (1..=MAX_ENTITY_KINDS).contains(&kinds.names.len());
        if !fits || !kinds.names.iter().all(|name| is_entity_kind(name)) {
            return Err(format!(
                "entity-kinds.names must be 1 to {MAX_ENTITY_KINDS} names of [A-Z0-9_]"
            ));
        }
        Ok(())
    }

    fn check_driver(&self) -> Result<(), String> {
        if self.entity_kinds.is_some() {
            return Err("a driver has no [entity-kinds]".to_owned());
        }
        match &self.auth {
            None => Err("a driver needs [auth]".to_owned()),
            Some(Auth::Header { name, template }) => {
                if http::HeaderName::try_from(name.as_str()).is_err() {
                    return Err("auth.name is not a header name".to_owned());
                }
                if template.matches(SECRET).count() != 1
                    || !template.bytes().all(|byte| (0x20..0x7f).contains(&byte))
                {
                    return Err(format!(
                        "auth.template must be printable ASCII with one {SECRET}"
                    ));
                }
                Ok(())
            }
            Some(Auth::HostSigned { scheme }) => Err(format!("{NO_SIGNING}: {scheme:?}")),
            Some(Auth::None | Auth::Query { .. }) => Ok(()),
        }
    }
}

/// A driver that could never be used is better refused than admitted.
pub(crate) const NO_SIGNING: &str = "the host offers no signing scheme yet";

/// The text that the error would quote stands in the file; its line is enough.
fn unreadable(text: &str, error: &toml::de::Error) -> AdmissionError {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or_default();
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    refuse(&format_args!("line {line}: {}", error.message()))
}

fn refuse(reason: &dyn std::fmt::Display) -> AdmissionError {
    AdmissionError::new("manifest", reason)
}

fn is_id(id: &str) -> bool {
    (1..=MAX_ID_CHARS).contains(&id.len())
        && id.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'.' || byte == b'-'
        })
}

fn is_counter(name: &str) -> bool {
    (1..=MAX_ID_CHARS).contains(&name.len())
        && name.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte)
        })
}

fn is_entity_kind(name: &str) -> bool {
    (1..=MAX_ID_CHARS).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::unwrap_in_result)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
schema = 1
id = "acme-mrn"
version = "1.4.0"
kind = "phi-detector"
world = "gateway:phi/phi-detector@0.1.0"
[component]
sha256 = "0000000000000000000000000000000000000000000000000000000000000000"
size = 1
imports = ["gateway:plugin/counters@0.1.0"]
[entity-kinds]
names = ["MRN"]
[limits]
memory-mib = 32
call-ms = 20
configure-ms = 50
output-kib = 512
"#;

    #[test]
    fn a_good_manifest_is_read_and_each_broken_rule_is_named() {
        assert_eq!(
            Manifest::parse(GOOD.as_bytes()).unwrap().version,
            Version::new(1, 4, 0)
        );
        for (from, to, says) in [
            ("schema = 1", "schema = 2", "schema"),
            ("acme-mrn", "Acme", "id must"),
            ("\"phi-detector\"", "\"provider-driver\"", "world"),
            (
                "gateway:plugin/counters@0.1.0",
                "wasi:io/streams@0.2.0",
                "import",
            ),
            ("\"MRN\"", "\"mrn\"", "entity-kinds"),
            ("size = 1", "size = 1\nurl = \"x\"", "url"),
            ("[limits]", "[auth]\nkind = \"none\"\n[limits]", "[auth]"),
            (
                "[limits]",
                "[policy]\non-failure = \"allow\"\n[limits]",
                "policy",
            ),
            ("1.4.0", "1.4", "version"),
            (
                "[component]",
                "counters = [\"John Doe\"]\n[component]",
                "counters",
            ),
            (
                "[component]",
                "counters = [\"a\", \"a\"]\n[component]",
                "counters",
            ),
        ] {
            let broken = GOOD.replacen(from, to, 1);
            let error = Manifest::parse(broken.as_bytes()).unwrap_err();
            assert!(error.reason.contains(says), "{says}: {error}");
        }
    }

    #[test]
    fn a_driver_says_where_its_secret_goes() {
        let driver = GOOD
            .replace("phi-detector\"\n", "provider-driver\"\n")
            .replace(
                "gateway:phi/phi-detector",
                "gateway:provider/provider-driver",
            )
            .replace("[entity-kinds]\nnames = [\"MRN\"]", "[auth]\nAUTH");
        let judged = |auth: &str| {
            let manifest = driver.replace("AUTH", auth);
            Manifest::parse(manifest.as_bytes()).map_err(|error| error.reason)
        };
        for auth in [
            "kind = \"none\"",
            "kind = \"query\"\nname = \"key\"",
            "kind = \"header\"\nname = \"authorization\"\ntemplate = \"Bearer {secret}\"",
        ] {
            judged(auth).unwrap();
        }
        for (auth, says) in [
            (
                "kind = \"header\"\nname = \"a b\"\ntemplate = \"{secret}\"",
                "auth.name",
            ),
            (
                "kind = \"header\"\nname = \"x-key\"\ntemplate = \"\"",
                "auth.template",
            ),
            (
                "kind = \"host-signed\"\nscheme = \"aws-sigv4\"",
                "aws-sigv4",
            ),
        ] {
            let reason = judged(auth).unwrap_err();
            assert!(reason.contains(says), "{reason}");
        }
    }
}
