//! A new version takes over under load without a failed call, and a bad one never does.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use svc_core::phi::Origin;
use svc_plugin::{PluginHost, Segment, State};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::stage::{Stage, evil};

/// Far beyond debounce, compilation and a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The last digit of the version that answers.
async fn version(host: &PluginHost) -> u16 {
    let detector = host.detector("evil").unwrap();
    let segment = Segment {
        start: 0,
        end: 7,
        origin: Origin::UserText,
    };
    detector.detect("version", &[segment]).await.unwrap()[0].score / 50
}

async fn until(host: &PluginHost, reached: impl Fn(&PluginHost) -> bool) {
    let wait = async {
        while !reached(host) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(timeout(PATIENCE, wait).await.is_ok(), "{:?}", host.status());
}

fn serving(host: &PluginHost) -> Option<String> {
    Some(host.status().first()?.serving.as_ref()?.version.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn versions_swap_under_load_without_a_failed_call() {
    let stage = Stage::new();
    let (component, manifest) = evil("7.7.1");
    stage.install("evil", &component, &manifest);
    let host = stage.open().await;
    let done = Arc::new(AtomicBool::new(false));
    let calls = Arc::new(AtomicU64::new(0));
    let mut load = JoinSet::new();
    for _ in 0..4 {
        let (host, done, calls) = (Arc::clone(&host), Arc::clone(&done), Arc::clone(&calls));
        load.spawn(async move {
            let mut last = 0;
            while !done.load(Ordering::Relaxed) {
                let answer = version(&host).await;
                assert!(
                    answer >= last,
                    "an older version answered after a newer one"
                );
                last = answer;
                calls.fetch_add(1, Ordering::Relaxed);
            }
            last
        });
    }
    for next in ["7.7.2", "7.7.3", "7.7.4"] {
        let (component, manifest) = evil(next);
        stage.install("evil", &component, &manifest);
        until(&host, |host| serving(host).as_deref() == Some(next)).await;
    }
    // A pinned version goes on answering, whatever is swapped in meanwhile.
    let pinned = host.detector("evil").unwrap();
    let aside = stage.path().join(".next");
    let (component, manifest) = evil("7.7.5");
    crate::guest::write_plugin(&aside, &component, &manifest).unwrap();
    fs::rename(stage.path().join("evil"), stage.path().join(".old")).unwrap();
    fs::rename(&aside, stage.path().join("evil")).unwrap();
    until(&host, |host| serving(host).as_deref() == Some("7.7.5")).await;
    assert_eq!(pinned.version(), "7.7.4");
    let before = calls.load(Ordering::Relaxed);
    until(&host, |_| calls.load(Ordering::Relaxed) > before + 50).await;
    done.store(true, Ordering::Relaxed);
    assert_eq!(load.join_all().await, [5; 4]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_version_is_reported_and_never_replaces_a_good_one() {
    let stage = Stage::new();
    let (component, manifest) = evil("7.7.1");
    stage.install("evil", &component, &manifest);
    let host = stage.open().await;
    // Version 9 fails its own check.
    let (component, manifest) = evil("7.7.9");
    stage.install("evil", &component, &manifest);
    // In the place of the good one, which the next start would not find.
    until(&host, |host| host.status()[0].state == State::Removed).await;
    assert_eq!(
        host.status()[0].last_error.as_deref(),
        Some("7.7.9: self-test: broken on purpose")
    );
    assert_eq!(version(&host).await, 1);
    // Bytes that are no component.
    let (_, manifest) = evil("7.7.6");
    stage.install("evil", b"\0asm not really", &manifest);
    until(&host, |host| {
        host.status()[0]
            .last_error
            .as_deref()
            .is_some_and(|error| error.starts_with("7.7.6: imports"))
    })
    .await;
    assert_eq!(version(&host).await, 1);
    // And a good one again; the highest version of all folders serves.
    let (component, manifest) = evil("7.7.3");
    stage.install("evil", &component, &manifest);
    until(&host, |host| host.status()[0].state == State::Ready).await;
    let (component, manifest) = evil("7.7.2");
    stage.install("another", &component, &manifest);
    host.rescan().await;
    assert_eq!(version(&host).await, 3);
    let events: Vec<String> = host.status()[0]
        .history
        .iter()
        .map(|event| event.event.clone())
        .collect();
    assert_eq!(
        events.first().map(String::as_str),
        Some("admitted"),
        "{events:?}"
    );
    assert!(
        events
            .iter()
            .any(|event| event.contains("broken on purpose"))
    );
    // The last folder of a plugin that goes away takes nothing with it.
    fs::remove_dir_all(stage.path().join("another")).unwrap();
    fs::remove_dir_all(stage.path().join("evil")).unwrap();
    until(&host, |host| host.status()[0].state == State::Removed).await;
    assert_eq!(version(&host).await, 3);
}

/// The next start would be without it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_gone_is_told_once_and_again_when_it_is_back() {
    let stage = Stage::new();
    let (component, manifest) = evil("7.7.1");
    stage.install("evil", &component, &manifest);
    let host = stage.open().await;
    let registry = prometheus::Registry::new();
    host.register_metrics(&registry).unwrap();
    let removed = || {
        let families = registry.gather();
        let mut families = families.iter();
        let gauge = families.find(|family| family.name() == "svc_plugin_removed")?;
        Some(gauge.get_metric()[0].get_gauge().get_value())
    };
    assert_eq!(removed(), None);
    fs::rename(stage.path().join("evil"), stage.path().join(".aside")).unwrap();
    for _ in 0..2 {
        host.rescan().await;
        assert_eq!(host.status()[0].state, State::Removed);
        assert_eq!(removed(), Some(1.0));
    }
    // A folder that is refused does not hide that.
    let (broken, of_broken) = evil("7.7.9");
    stage.install("next", &broken, &of_broken);
    host.rescan().await;
    let status = host.status().remove(0);
    assert!(status.state == State::Removed && status.last_error.is_some());
    fs::remove_dir_all(stage.path().join("next")).unwrap();
    fs::rename(stage.path().join(".aside"), stage.path().join("evil")).unwrap();
    host.rescan().await;
    assert_eq!(host.status()[0].state, State::Ready);
    assert_eq!(removed(), Some(0.0));
    let events = host.status().remove(0).history;
    let told = |what: &str| events.iter().filter(|event| event.event == what).count();
    assert_eq!((told("removed"), told("returned")), (1, 1), "{events:?}");
    // Neither does another folder that is refused, beside one that is good.
    stage.install("next", &broken, &of_broken);
    host.rescan().await;
    assert_eq!(host.status()[0].state, State::Stale);
    assert_eq!(removed(), Some(0.0));
}

/// As good as gone: the next start would refuse the folder.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_refused_by_now_offers_nothing() {
    let stage = Stage::new();
    let (component, manifest) = evil("7.7.1");
    stage.install("evil", &component, &manifest);
    let host = stage.open().await;
    let registry = prometheus::Registry::new();
    host.register_metrics(&registry).unwrap();
    // What somebody has changed serves as it was.
    fs::write(stage.path().join("evil/plugin.wasm"), b"somebody else's").unwrap();
    host.rescan().await;
    let status = host.status().remove(0);
    assert!(status.state == State::Removed && status.last_error.is_some());
    assert_eq!(version(&host).await, 1);
    let families = registry.gather();
    let mut families = families.iter();
    let gauge = families.find(|family| family.name() == "svc_plugin_removed");
    let told = gauge.unwrap().get_metric()[0].get_gauge().get_value();
    assert!(told > 0.0);
    stage.install("evil", &component, &manifest);
    host.rescan().await;
    assert_eq!(host.status()[0].state, State::Ready);
}

/// What tells results of one version from those of another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fingerprint_tells_components_apart() {
    let stage = Stage::new();
    let (component, manifest) = evil("7.7.1");
    stage.install("evil", &component, &manifest);
    let fingerprint = async || *stage.open().await.detector("evil").unwrap().fingerprint();
    let first = fingerprint().await;
    assert_eq!(fingerprint().await, first);
    let (component, manifest) = evil("7.7.2");
    stage.install("evil", &component, &manifest);
    assert_ne!(fingerprint().await, first);
}
