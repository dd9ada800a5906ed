//! A new version of a plugin, dropped into the folder of a gateway under load.

use std::path::Path;

use svc_tests::patience::eventually;
use svc_tests::policies::{copy, plugins};
use svc_tests::program;
use svc_tests::world::World;

use crate::guest::{Workshop, encode, write_plugin};
use crate::load::under_load;

/// Good calls of one version of a plugin so far.
async fn calls(world: &World, id: &str, version: &str) -> f64 {
    let (id, version) = (format!("plugin=\"{id}\""), format!("version=\"{version}\""));
    world
        .gateway
        .metric_sum("svc_plugin_calls_total", &["outcome=\"ok\"", &id, &version])
        .await
}

/// Builds a shipped guest under another version number, into `folder`.
fn build(id: &str, version: &str, folder: &Path) {
    let house = tempfile::tempdir().unwrap();
    let repository = program::repository();
    for part in ["plugins", "wit"] {
        copy_sources(&repository.join(part), &house.path().join(part));
    }
    // The compiler that `make setup` may have put aside is looked for beside the guests.
    let _ = std::os::unix::fs::symlink(
        repository.join(".toolchain"),
        house.path().join(".toolchain"),
    );
    let sources = house.path().join("plugins");
    let manifest = sources.join(id).join("Cargo.toml");
    edit(
        &manifest,
        "version = \"0.1.0\"",
        &format!("version = \"{version}\""),
        "[package]",
    );
    edit(
        &sources.join("Cargo.lock"),
        "version = \"0.1.0\"",
        &format!("version = \"{version}\""),
        &format!("name = \"{id}\""),
    );
    let described = std::fs::read_to_string(sources.join(id).join("plugin.toml")).unwrap();
    let described = described.replacen(
        "version = \"0.1.0\"",
        &format!("version = \"{version}\""),
        1,
    );
    let target_folder = program::target().join("guests-next");
    let module = Workshop {
        sources,
        target_folder,
    }
    .compile(id)
    .unwrap();
    write_plugin(folder, &encode(&module).unwrap(), &described).unwrap();
}

fn copy_sources(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if name == "target" || name == "dist" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            copy_sources(&entry.path(), &to.join(name));
        } else {
            std::fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}

/// Replaces the first `from` behind `anchor`.
fn edit(path: &Path, from: &str, to: &str, anchor: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    let (before, behind) = text
        .split_once(anchor)
        .unwrap_or_else(|| panic!("{anchor} in {}", path.display()));
    let behind = behind.replacen(from, to, 1);
    std::fs::write(path, format!("{before}{anchor}{behind}")).unwrap();
}

/// Puts a plugin in place file by file, as a copy over the network would: no moment of it may do harm.
fn drop_in(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    let wasm = std::fs::read(from.join("plugin.wasm")).unwrap();
    std::fs::write(to.join("plugin.wasm"), &wasm[..wasm.len() / 3]).unwrap();
    std::fs::copy(from.join("plugin.toml"), to.join("plugin.toml")).unwrap();
    std::fs::write(to.join("plugin.wasm"), wasm).unwrap();
}

#[tokio::test]
async fn a_new_version_takes_over_without_a_failed_call() {
    let folder = plugins();
    let built = tempfile::tempdir().unwrap();
    let stage = built.path().to_owned();
    let building = tokio::task::spawn_blocking(move || {
        build("provider-alpha", "0.1.1", &stage.join("alpha"));
        build("phi-patterns", "0.2.0", &stage.join("patterns"));
    });
    building.await.unwrap();
    let world = World::with(|setup| setup.plugins(folder.path())).await;
    let organization = world.organization_with(&["--per-minute", "1000000"]);
    under_load(&world, &organization.key, async |load| {
        for (source, id, version) in [
            ("alpha", "provider-alpha", "0.1.1"),
            ("patterns", "phi-patterns", "0.2.0"),
        ] {
            drop_in(
                &built.path().join(source),
                &folder.path().join(format!("{id}-next")),
            );
            eventually("a call of the new version", async || {
                (calls(&world, id, version).await >= 1.0).then_some(())
            })
            .await;
            load.more(20).await;
        }
        // In place, and broken: cut off, then of another digest than the manifest says.
        let patterns = folder.path().join("phi-patterns-next");
        let wasm = std::fs::read(patterns.join("plugin.wasm")).unwrap();
        std::fs::write(patterns.join("plugin.wasm"), &wasm[..1000]).unwrap();
        eventually("a refused plugin in the log", async || {
            world.gateway.log().contains("plugin refused").then_some(())
        })
        .await;
        load.more(20).await;
        let before = calls(&world, "phi-patterns", "0.2.0").await;
        load.more(5).await;
        assert!(
            calls(&world, "phi-patterns", "0.2.0").await > before,
            "the good version still serves"
        );
        // Gone altogether: what is loaded serves on.
        std::fs::remove_dir_all(folder.path().join("provider-alpha-next")).unwrap();
        load.more(20).await;
    })
    .await;
    svc_tests::books::check(&world.gateway.database, &organization.id).await;
}

#[tokio::test]
async fn plugins_that_nobody_has_signed_are_warned_of_where_that_is_the_policy() {
    for (policy, is_told) in [("warn", true), ("off", false)] {
        let world = World::with(|setup| setup.key("plugins", "signatures", policy)).await;
        // What is said of the first one stands in front of the second.
        eventually("two plugins in the log", async || {
            (world.gateway.log().matches("plugin admitted").count() >= 2).then_some(())
        })
        .await;
        let log = world.gateway.log();
        let told = log.contains("nobody has signed this plugin");
        assert_eq!(told, is_told, "{policy}");
    }
}

/// A plugin with an unknown key in its manifest, one for another world, a file that is no component.
#[tokio::test]
async fn a_broken_plugin_is_refused_and_the_good_one_serves() {
    let folder = plugins();
    let world = World::with(|setup| setup.plugins(folder.path())).await;
    let organization = world.organization();
    let good = folder.path().join("phi-patterns");
    let manifest = std::fs::read_to_string(good.join("plugin.toml")).unwrap();
    let newer = manifest.replacen("version = \"0.1.0\"", "version = \"9.0.0\"", 1);
    let cases = [
        ("unknown-key", format!("surprise = 1\n{newer}"), None),
        ("wrong-version", newer.clone(), None),
        ("no-component", newer.clone(), Some(b"MZ not wasm".to_vec())),
        ("no-manifest", String::from("= nonsense"), None),
    ];
    for (name, manifest, wasm) in cases {
        let at = folder.path().join(name);
        copy(&good, &at);
        std::fs::write(at.join("plugin.toml"), manifest).unwrap();
        if let Some(wasm) = wasm {
            std::fs::write(at.join("plugin.wasm"), wasm).unwrap();
        }
    }
    eventually("four refusals", async || {
        (world.gateway.log().matches("plugin refused").count() >= 4).then_some(())
    })
    .await;
    let mark = svc_tests::fake::mark();
    let answer = world
        .gateway
        .chat(
            &organization.key,
            serde_json::json!({"message": format!("{mark} 536-22-8714")}),
        )
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(
        !world.fake.received(&mark).await["body"]
            .to_string()
            .contains("536-22-8714")
    );
    assert!(calls(&world, "phi-patterns", "9.0.0").await < 0.5);
}
