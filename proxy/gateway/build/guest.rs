//! Building guests: cargo for the `plugins` workspace, and a core module as a component.
//!
//! Compiled into the gateway's build script and into the tests of the plugin host. Nothing here runs in a
//! serving gateway.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo speaks to its children through the environment"
)]

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

pub(crate) type Failure = Box<dyn Error>;

pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// 256 KiB of stack instead of 1 MiB: what a guest has of memory is looked through whenever one of its instances is over.
/// Sixteen numbers at a time where they are small, as in the model of `phi-context`.
const FLAGS: &str = r#"target.wasm32-unknown-unknown.rustflags=["-Clink-arg=-zstack-size=262144", "-Ctarget-feature=+simd128"]"#;

/// Where guests are compiled: the crate sources, and a target folder that no other cargo locks.
pub(crate) struct Workshop {
    /// The `plugins` workspace.
    pub(crate) sources: PathBuf,
    pub(crate) target_folder: PathBuf,
}

impl Workshop {
    /// Compiles one guest and gives its core module.
    pub(crate) fn compile(&self, package: &str) -> Result<Vec<u8>, Failure> {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .args([
                "build",
                "--release",
                "--locked",
                "--quiet",
                "--target",
                TARGET,
                "--package",
                package,
                "--config",
                FLAGS,
            ])
            .arg("--manifest-path")
            .arg(self.sources.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(&self.target_folder)
            .current_dir(&self.sources);
        clean_environment(&mut cargo);
        self.choose_toolchain(&mut cargo)?;
        let status = cargo
            .status()
            .map_err(|error| format!("cannot run cargo for {package}: {error}"))?;
        if !status.success() {
            return Err(format!("cargo could not build the guest {package}: {status}").into());
        }
        let module = self
            .target_folder
            .join(TARGET)
            .join("release")
            .join(package.replace('-', "_") + ".wasm");
        fs::read(&module)
            .map_err(|error| format!("cannot read {}: {error}", module.display()).into())
    }

    /// The installed toolchain where it has the target, else the one that `make setup` put aside.
    fn choose_toolchain(&self, cargo: &mut Command) -> Result<(), Failure> {
        if has_target() {
            return Ok(());
        }
        let env_file = self.sources.join("../.toolchain/wasm/env");
        let Ok(lines) = fs::read_to_string(&env_file) else {
            return Err(
                format!("the Rust target {TARGET} is not installed: run `make setup`").into(),
            );
        };
        for line in lines.lines() {
            match line.split_once('=') {
                Some(("PATH_PREFIX", prefix)) => {
                    let mut path = OsString::from(prefix);
                    if let Some(rest) = std::env::var_os("PATH") {
                        path.push(":");
                        path.push(rest);
                    }
                    cargo.env("PATH", path);
                }
                Some((name, value)) => drop(cargo.env(name, value)),
                None => {}
            }
        }
        // That compiler comes without a built standard library for the target.
        cargo
            .env("RUSTC_BOOTSTRAP", "1")
            .arg("-Zbuild-std=std,panic_abort");
        Ok(())
    }
}

/// What the outer cargo or rustc set for themselves says nothing about the guests.
fn clean_environment(cargo: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let Some(name) = name.to_str() else { continue };
        let is_kept = name == "CARGO_HOME"
            || ["CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTRIES_"]
                .iter()
                .any(|prefix| name.starts_with(prefix));
        let is_foreign = name.starts_with("CARGO")
            || matches!(
                name,
                "RUSTC"
                    | "RUSTFLAGS"
                    | "RUSTDOC"
                    | "RUSTC_WRAPPER"
                    | "RUSTC_WORKSPACE_WRAPPER"
                    | "RUSTC_LINKER"
                    | "TARGET"
                    | "HOST"
                    | "OUT_DIR"
                    | "NUM_JOBS"
                    | "OPT_LEVEL"
                    | "PROFILE"
                    | "DEBUG"
                    | "LD_LIBRARY_PATH"
            );
        if is_foreign && !is_kept {
            cargo.env_remove(name);
        }
    }
}

/// Whether the installed toolchain can compile for the target.
fn has_target() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    output.is_ok_and(|output| {
        output.status.success()
            && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
    })
}

/// A core module with embedded interface types as a component.
pub(crate) fn encode(module: &[u8]) -> Result<Vec<u8>, Failure> {
    let encoder = wit_component::ComponentEncoder::default()
        .validate(true)
        .module(module);
    let component = encoder.and_then(|mut encoder| encoder.encode());
    component.map_err(|error| format!("cannot encode the component: {error:#}").into())
}

/// Writes `plugin.wasm` and `plugin.toml` with size and digest filled in. Unchanged files stay untouched, so that
/// a gateway that watches the folder sees a change only where there is one.
pub(crate) fn write_plugin(folder: &Path, component: &[u8], manifest: &str) -> Result<(), Failure> {
    let digest: String = Sha256::digest(component)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let pinned = fill(manifest, "sha256 = \"\"", &format!("sha256 = \"{digest}\""))?;
    let pinned = fill(&pinned, "size = 0", &format!("size = {}", component.len()))?;
    fs::create_dir_all(folder)?;
    write_atomically(&folder.join("plugin.wasm"), component)?;
    write_atomically(&folder.join("plugin.toml"), pinned.as_bytes())?;
    Ok(())
}

fn fill(manifest: &str, blank: &str, filled: &str) -> Result<String, Failure> {
    if manifest.lines().filter(|line| *line == blank).count() != 1 {
        return Err(format!("the manifest must have exactly one line `{blank}`").into());
    }
    Ok(manifest.replacen(blank, filled, 1))
}

fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    fs::write(&aside, bytes)?;
    fs::rename(&aside, path)
}
