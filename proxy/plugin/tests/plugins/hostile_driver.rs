//! A driver that misbehaves fails its own run, at whichever call, in bounded time, and nothing else.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderMap;
use serde_json::Map;
use svc_core::chat::{ChatEvent, ChatRequest};
use svc_core::sse::Frame;
use svc_plugin::{
    Driver, DriverFailure, DriverRequest, DriverRun, Failed, KillReason, PluginError, StreamEnd,
};

use crate::stage::{EVIL_DRIVER, EVIL_DRIVER_MANIFEST, Stage};

async fn driver() -> Arc<Driver> {
    let stage = Stage::new();
    stage.install("evil-driver", &EVIL_DRIVER, EVIL_DRIVER_MANIFEST);
    let host = stage.open().await;
    host.driver("evil-driver")
        .unwrap_or_else(|_| panic!("{:?}", host.status()))
}

async fn start(driver: &Driver, deed: &str) -> Result<DriverRun, DriverFailure> {
    let request = DriverRequest {
        chat: &ChatRequest::of_user_text("a"),
        model: deed,
        extra: &Map::new(),
    };
    named(driver.start(&request).await).map(|(run, _)| run)
}

/// The answer to a call of the evil driver, whose every failure says so.
fn named<T>(answer: Result<T, Failed<DriverFailure>>) -> Result<T, DriverFailure> {
    answer.map_err(|failed| {
        assert_eq!(&*failed.plugin, "evil-driver@0.1.0");
        failed.error
    })
}

fn frames() -> [Frame; 1] {
    [Frame {
        name: String::new(),
        data: "{}".to_owned(),
    }]
}

/// A whole run; the events that came until it ended.
async fn whole(driver: &Driver, deed: &str) -> (Result<(), DriverFailure>, Vec<ChatEvent>) {
    let mut events = Vec::new();
    let calls = async {
        let mut run = start(driver, deed).await?;
        named(run.head(200, &HeaderMap::new()).await)?;
        named(run.push(&frames(), &mut events).await)?;
        named(run.close(StreamEnd::Complete, &mut events).await)
    };
    (calls.await, events)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_ended_at_any_call_leaves_the_others_alone() {
    let driver = driver().await;
    let mut bystander = start(&driver, "good")
        .await
        .unwrap_or_else(|failure| panic!("{failure}"));
    bystander.head(200, &HeaderMap::new()).await.unwrap();
    let deeds = [
        ("trap", KillReason::Trap),
        ("loop", KillReason::Deadline),
        ("memory", KillReason::Memory),
        ("recursion", KillReason::Stack),
    ];
    let calls = [("start", 0), ("head", 0), ("push", 0), ("close", 2)];
    let mut cases: Vec<_> = calls
        .iter()
        .flat_map(|(call, events)| {
            deeds.map(|(deed, reason)| (format!("{call}:{deed}"), reason, *events))
        })
        .collect();
    cases.push(("push:output".to_owned(), KillReason::Output, 0));
    for (deed, reason, count) in cases {
        let began = Instant::now();
        let (answer, events) = whole(&driver, &deed).await;
        let killed = DriverFailure::Plugin(PluginError::Killed(reason));
        assert_eq!(answer, Err(killed), "{deed}");
        assert_eq!(events.len(), count, "{deed}");
        // The call budget is 1 s of computing; the rest is for a busy machine.
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "{deed} took {:?}",
            began.elapsed()
        );
        let (answer, events) = whole(&driver, "good").await;
        assert_eq!((answer, events.len()), (Ok(()), 3), "after {deed}");
    }
    let mut events = Vec::new();
    bystander.push(&frames(), &mut events).await.unwrap();
    bystander
        .close(StreamEnd::Complete, &mut events)
        .await
        .unwrap();
    assert_eq!(events.len(), 3);
}

#[tokio::test]
async fn a_driver_that_breaks_its_interface_is_told_by_the_rule() {
    let driver = driver().await;
    for (deed, rule) in [
        ("start:address", "the upstream path leaves its place"),
        ("start:climb", "the upstream path leaves its place"),
        (
            "start:credential",
            "an upstream header is not the driver's to set",
        ),
        (
            "start:host",
            "an upstream header is not the driver's to set",
        ),
        ("start:split", "an upstream header is malformed"),
        ("push:early", "an event before the first"),
        ("push:twice", "two first events"),
        ("push:after", "an event after the last"),
        ("close:after", "an event after the last"),
        ("close:never", "a run without a last event"),
    ] {
        let (answer, _) = whole(&driver, deed).await;
        let broken = DriverFailure::Plugin(PluginError::Contract(rule));
        assert_eq!(answer, Err(broken), "{deed}");
    }
}

#[tokio::test]
async fn a_failed_run_is_over() {
    let driver = driver().await;
    let mut run = start(&driver, "push:trap")
        .await
        .unwrap_or_else(|failure| panic!("{failure}"));
    run.head(200, &HeaderMap::new()).await.unwrap();
    let mut events = Vec::new();
    assert!(run.push(&frames(), &mut events).await.is_err());
    let ended = Err(DriverFailure::Plugin(PluginError::Ended));
    assert_eq!(named(run.push(&frames(), &mut events).await), ended);
    let closed = run.close(StreamEnd::Complete, &mut events).await;
    assert_eq!(named(closed), ended);
    assert!(events.is_empty());
}

#[tokio::test]
async fn a_call_dropped_half_way_is_harmless() {
    let driver = driver().await;
    // More runs than there are instances: each has to give its own back, whatever becomes of it.
    for turn in 0..200 {
        let call = ["head", "push"][turn % 2];
        let mut run = start(&driver, &format!("{call}:loop"))
            .await
            .unwrap_or_else(|failure| panic!("turn {turn}: {failure}"));
        let mut events = Vec::new();
        {
            let calls = async {
                run.head(200, &HeaderMap::new()).await?;
                run.push(&frames(), &mut events).await
            };
            // The loop yields its thread at the first tick, and is dropped there.
            tokio::select! {
                biased;
                answer = calls => panic!("turn {turn}: {answer:?}"),
                () = tokio::task::yield_now() => {}
            }
        }
        let after = run.push(&frames(), &mut events).await;
        assert_eq!(
            named(after),
            Err(DriverFailure::Plugin(PluginError::Ended)),
            "turn {turn}"
        );
        assert!(events.is_empty());
    }
    let (answer, events) = whole(&driver, "good").await;
    assert_eq!((answer, events.len()), (Ok(()), 3));
}
