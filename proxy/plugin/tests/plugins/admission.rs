//! Who is let in.

use std::fs;
use std::os::unix::fs::MetadataExt;

use ed25519_dalek::{Signer, SigningKey};
use svc_plugin::{PluginError, SignaturePolicy, State, TrustRoot};
use tempfile::TempDir;

use crate::stage::{EVIL, EVIL_MANIFEST, Stage, evil};

/// Installs the manifest and says why it was refused; None when it was admitted.
async fn refusal(stage: &Stage, manifest: &str) -> Option<String> {
    stage.install("evil", &EVIL, manifest);
    let host = stage.open().await;
    let status = host.status().remove(0);
    assert_eq!(host.detector("evil").is_ok(), status.state == State::Ready);
    status.last_error
}

#[tokio::test]
async fn an_unsigned_plugin_is_refused_where_a_signature_is_required() {
    let mut stage = Stage::new();
    let key = SigningKey::from_bytes(&[3; 32]);
    stage.signatures = SignaturePolicy::Require;
    stage.trust_roots =
        vec![TrustRoot::parse(&hex::encode(key.verifying_key().to_bytes())).unwrap()];
    let error = refusal(&stage, EVIL_MANIFEST).await.unwrap();
    assert!(
        error.contains("signature: the manifest has no plugin.toml.sig"),
        "{error}"
    );
    let manifest = fs::read(stage.path().join("evil/plugin.toml")).unwrap();
    fs::write(
        stage.path().join("evil/plugin.toml.sig"),
        hex::encode(key.sign(&manifest).to_bytes()),
    )
    .unwrap();
    let host = stage.open().await;
    assert!(host.status()[0].serving.as_ref().unwrap().signed);
    fs::write(
        stage.path().join("evil/plugin.toml.sig"),
        hex::encode(key.sign(b"another").to_bytes()),
    )
    .unwrap();
    assert!(stage.open().await.detector("evil").is_err());
}

#[tokio::test]
async fn what_the_guest_says_has_to_agree_with_the_manifest() {
    for (from, to, says) in [
        (
            "id = \"evil\"",
            "id = \"good\"",
            "describe: the plugin and its manifest differ in id",
        ),
        ("7.7.1", "7.7.2", "differ in version"),
        (
            "[\"SSN\"]",
            "[\"MRN\"]",
            "info: the plugin and its manifest differ in entity kinds",
        ),
        (
            ", \"gateway:phi/types@0.1.0\"",
            "",
            "imports: gateway:phi/types@0.1.0 is not in the manifest",
        ),
        ("[\"loud\", \"quiet\"]", "[\"loud\"]", "differ in counters"),
        (
            "phi/phi-detector@",
            "phi/phi-stream-detector@",
            "exports: the world needs gateway:phi/stream-detector@0.1.0",
        ),
    ] {
        let error = refusal(&Stage::new(), &EVIL_MANIFEST.replacen(from, to, 1))
            .await
            .unwrap_or_default();
        assert!(error.contains(says), "{says}: {error}");
    }
}

#[tokio::test]
async fn a_refused_configuration_names_its_place() {
    let mut stage = Stage::new();
    let mut configuration = serde_json::Map::new();
    configuration.insert("x".to_owned(), true.into());
    stage.configuration.insert("evil".to_owned(), configuration);
    let error = refusal(&stage, EVIL_MANIFEST).await.unwrap();
    assert!(error.contains("configure: /x: not that"), "{error}");
}

#[tokio::test]
async fn a_component_that_is_not_the_pinned_one_is_refused() {
    let stage = Stage::new();
    assert_eq!(refusal(&stage, EVIL_MANIFEST).await, None);
    let mut component = EVIL.clone();
    *component.last_mut().unwrap() ^= 1;
    fs::write(stage.path().join("evil/plugin.wasm"), component).unwrap();
    let host = stage.open().await;
    assert!(
        host.status()[0]
            .last_error
            .as_ref()
            .unwrap()
            .contains("digest")
    );
    let missing = host.detector("evil").err();
    assert!(matches!(missing, Some(PluginError::Missing { .. })));
}

#[tokio::test]
async fn compiled_code_is_kept_and_a_changed_file_is_not_trusted() {
    let cache = TempDir::new().unwrap();
    let mut stage = Stage::new();
    stage.cache = cache.path().join("code");
    assert_eq!(refusal(&stage, EVIL_MANIFEST).await, None);
    let code = || {
        fs::read_dir(&stage.cache)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_some())
    };
    let path = code().expect("the code is kept");
    // What is written is a file of its own first.
    let inode = || fs::metadata(&path).unwrap().ino();
    let written = inode();
    let good = fs::read(&path).unwrap();
    assert!(stage.open().await.detector("evil").is_ok());
    assert_eq!(inode(), written, "not written again");
    let mut changed = good.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&path, changed).unwrap();
    assert!(stage.open().await.detector("evil").is_ok());
    assert_eq!(fs::read(&path).unwrap().len(), good.len());
    assert_ne!(inode(), written, "compiled anew");
    fs::write(stage.cache.join("key"), b"damaged").unwrap();
    assert!(stage.open().await.detector("evil").is_ok());
    assert_eq!(fs::read(stage.cache.join("key")).unwrap().len(), 64);
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&stage.cache).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700);
}

#[tokio::test]
async fn an_unknown_id_is_missing() {
    let stage = Stage::new();
    let host = stage.open().await;
    assert!(host.driver("nobody").is_err());
    assert!(host.status().is_empty());
    assert!(host.register_metrics(&prometheus::Registry::new()).is_ok());
}

/// What people are told of a folder beside the state of its plugins.
#[tokio::test]
async fn what_is_no_plugin_to_the_host_is_told() {
    let stage = Stage::new();
    stage.install("evil", &EVIL, EVIL_MANIFEST);
    assert!(svc_plugin::left_out(&stage.path()).unwrap().is_empty());
    let bare = stage.path().join("bare");
    fs::create_dir(&bare).unwrap();
    fs::write(bare.join("plugin.wasm"), b"component").unwrap();
    for at in 0..64 {
        let folder = stage.path().join(format!("more-{at}"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("plugin.toml"), b"").unwrap();
    }
    let told = svc_plugin::left_out(&stage.path()).unwrap();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("bare") && told[0].contains("no plugin.toml"));
    assert!(told[1].contains("more-9") && told[1].contains("64"));
}

/// Errors stand in a table and in the log: one line each, and no bytes.
#[tokio::test]
async fn what_is_wrong_with_a_plugin_is_one_line() {
    let (trapping, strange, good) = (evil("7.7.8"), evil("7.7.7"), evil("7.7.1"));
    let unread = EVIL_MANIFEST.replacen("schema = 1", "schema = one", 1);
    let cases: [(&[u8], &str, &str); 5] = [
        (&trapping.0, &trapping.1, "7.7.8: self-test: wasm trap"),
        (
            &strange.0,
            &strange.1,
            "7.7.7: info: kind SSN: hipaa-class is above 18",
        ),
        (
            b"\xff\xfe\0 not a component at all",
            &good.1,
            "7.7.1: imports: plugin.wasm is no component",
        ),
        (
            b"\0asm\x01\0\0\0",
            &good.1,
            "7.7.1: imports: plugin.wasm is a module and no component",
        ),
        (&good.0, &unread, "manifest: line 2: "),
    ];
    for (component, manifest, says) in cases {
        let stage = Stage::new();
        stage.install("evil", component, manifest);
        let error = stage.open().await.status().remove(0).last_error.unwrap();
        assert!(error.starts_with(says), "{says}: {error}");
        assert!(!error.contains('\n') && error.len() < 200, "{error}");
    }
}

#[tokio::test]
async fn folders_that_offer_one_version_with_different_content_are_told() {
    let stage = Stage::new();
    let (component, manifest) = evil("7.7.1");
    stage.install("a", &component, &manifest);
    stage.install("b", &component, &manifest);
    let host = stage.open().await;
    assert_eq!(
        host.status()[0].doubt,
        None,
        "the same twice is no question"
    );
    // Another component of the same version: what stands behind the version is not the same any more.
    let mut other = component.clone();
    other.extend([0, 2, 1, b'x']);
    stage.install("b", &other, &manifest);
    host.rescan().await;
    let status = host.status().remove(0);
    let doubt = status
        .doubt
        .unwrap_or_else(|| panic!("{:?}", status.last_error));
    assert!(
        doubt.starts_with("7.7.1: ") && doubt.contains("/a and ") && doubt.contains("/b offer"),
        "{doubt}"
    );
    fs::remove_dir_all(stage.path().join("b")).unwrap();
    host.rescan().await;
    assert_eq!(host.status()[0].doubt, None);
}

#[tokio::test]
async fn every_refused_folder_of_an_id_is_told() {
    let stage = Stage::new();
    for (folder, version) in [("a", "7.7.2"), ("b", "7.7.3")] {
        let manifest = EVIL_MANIFEST.replace("7.7.1", version);
        stage.install(folder, &EVIL, &manifest);
    }
    let error = stage.open().await.status().remove(0).last_error.unwrap();
    assert!(
        error.contains("7.7.2 in a: describe") && error.contains("7.7.3 in b: describe"),
        "{error}"
    );
}
