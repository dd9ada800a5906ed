//! Builds the shipped plugins beside the gateway: `<target>/<profile>/plugins/<id>/{plugin.wasm,plugin.toml}`.
//!
//! A guest is shipped when its folder under `plugins/` has a `plugin.toml`.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script is told what to build through its environment"
)]

#[path = "build/guest.rs"]
mod guest;

use std::fs;
use std::path::{Path, PathBuf};

use guest::{Failure, Workshop};

fn main() -> Result<(), Failure> {
    let repository = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?)
        .join("../..")
        .canonicalize()?;
    let sources = repository.join("plugins");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    // <target>/<profile>/build/<package>/out
    let profile_folder = out
        .ancestors()
        .nth(3)
        .ok_or("OUT_DIR is not inside a target folder")?;
    let target_folder = profile_folder
        .parent()
        .ok_or("OUT_DIR is not inside a target folder")?
        .join("guests");
    let workshop = Workshop {
        sources: sources.clone(),
        target_folder,
    };

    watch(&repository)?;
    for id in shipped(&sources)? {
        let component =
            guest::encode(&workshop.compile(&id)?).map_err(|error| format!("{id}: {error}"))?;
        let manifest = fs::read_to_string(sources.join(&id).join("plugin.toml"))?;
        let folder = profile_folder.join("plugins").join(&id);
        guest::write_plugin(&folder, &component, &manifest)
            .map_err(|error| format!("{id}: {error}"))?;
        // Somebody who removes the output gets it back.
        println!(
            "cargo::rerun-if-changed={}",
            folder.join("plugin.toml").display()
        );
    }
    Ok(())
}

/// Folder names, which are package names and plugin ids.
fn shipped(sources: &Path) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    for entry in fs::read_dir(sources)? {
        let entry = entry?;
        if entry.path().join("plugin.toml").is_file() {
            ids.push(
                entry
                    .file_name()
                    .into_string()
                    .map_err(|_| "a plugin folder's name is not UTF-8")?,
            );
        }
    }
    ids.sort();
    Ok(ids)
}

/// Everything that a guest is made of; cargo looks into folders by itself.
fn watch(repository: &Path) -> Result<(), Failure> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!(
        "cargo::rerun-if-changed={}",
        repository.join("wit").display()
    );
    // Absent where the installed toolchain has the target; watching an absent file would rerun each time.
    let fallback = repository.join(".toolchain/wasm/env");
    if fallback.exists() {
        println!("cargo::rerun-if-changed={}", fallback.display());
    }
    let sources = repository.join("plugins");
    for entry in fs::read_dir(&sources)? {
        let path = entry?.path();
        // A target folder of somebody who ran cargo in there is no source.
        if path.file_name().is_some_and(|name| name != "target") {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    Ok(())
}
