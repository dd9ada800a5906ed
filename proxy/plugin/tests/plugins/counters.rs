//! What guests count, within the bounds of the interface.

use http::HeaderMap;
use prometheus::Registry;
use serde_json::Map;
use svc_core::chat::ChatRequest;
use svc_core::phi::Origin;
use svc_core::sse::Frame;
use svc_plugin::{DriverRequest, PluginHost, Segment};

use crate::stage::{EVIL, EVIL_DRIVER, EVIL_DRIVER_MANIFEST, EVIL_MANIFEST, Stage};

/// The value of one counter as `/metrics` shows it.
fn counted(host: &PluginHost, plugin: &str, version: &str, counter: &str) -> u64 {
    let registry = Registry::new();
    host.register_metrics(&registry).unwrap();
    let families = registry.gather();
    let family = families
        .iter()
        .find(|family| family.name() == "svc_plugin_counter_total")
        .unwrap();
    let labels = [
        ("counter", counter),
        ("plugin", plugin),
        ("version", version),
    ];
    let metric = family.get_metric().iter().find(|metric| {
        let mut shown: Vec<_> = metric
            .get_label()
            .iter()
            .map(|label| (label.name(), label.value()))
            .collect();
        shown.sort_unstable();
        shown == labels
    });
    metric.unwrap().get_counter().get_value() as u64
}

async fn detect(host: &PluginHost, text: &str) {
    let segment = Segment {
        start: 0,
        end: text.len(),
        origin: Origin::UserText,
    };
    let detector = host.detector("evil").unwrap();
    detector.detect(text, &[segment]).await.unwrap();
}

#[tokio::test]
async fn a_guest_counts_up_to_a_bound_per_call() {
    let stage = Stage::new();
    stage.install("evil", &EVIL, EVIL_MANIFEST);
    let host = stage.open().await;
    // The self-test counted too, before anything was served.
    assert_eq!(counted(&host, "evil", "7.7.1", "quiet"), 0);
    detect(&host, "good").await;
    assert_eq!(counted(&host, "evil", "7.7.1", "loud"), 0);
    detect(&host, "count").await;
    assert_eq!(counted(&host, "evil", "7.7.1", "quiet"), 3);
    // 64 calls, of which one named no counter and one the other; each adds 1000 at most.
    assert_eq!(counted(&host, "evil", "7.7.1", "loud"), 62_000);
    detect(&host, "count").await;
    assert_eq!(counted(&host, "evil", "7.7.1", "loud"), 124_000);
}

#[tokio::test]
async fn every_call_of_a_run_may_count() {
    let stage = Stage::new();
    stage.install("evil-driver", &EVIL_DRIVER, EVIL_DRIVER_MANIFEST);
    let host = stage.open().await;
    let request = DriverRequest {
        chat: &ChatRequest::of_user_text("a"),
        model: "push:count",
        extra: &Map::new(),
    };
    let driver = host.driver("evil-driver").unwrap();
    let (mut run, _) = driver
        .start(&request)
        .await
        .unwrap_or_else(|failure| panic!("{failure}"));
    run.head(200, &HeaderMap::new()).await.unwrap();
    let frame = Frame {
        name: String::new(),
        data: "{}".to_owned(),
    };
    let mut events = Vec::new();
    run.push(&[frame.clone(), frame.clone()], &mut events)
        .await
        .unwrap();
    assert_eq!(counted(&host, "evil-driver", "0.1.0", "frames"), 2);
}

#[tokio::test]
async fn counters_that_the_manifest_does_not_name_are_refused() {
    let stage = Stage::new();
    let manifest = EVIL_MANIFEST.replace("\"loud\", ", "");
    stage.install("evil", &EVIL, &manifest);
    let host = stage.open().await;
    let error = host.status().remove(0).last_error.unwrap();
    assert!(error.contains("counters"), "{error}");
}
