//! A guest that misbehaves fails its own call, in bounded time, and nothing else.

use std::sync::Arc;
use std::time::{Duration, Instant};

use svc_core::phi::Origin;
use svc_plugin::{Detector, KillReason, PluginError, Reader, Segment, Span};

use crate::stage::{EVIL, EVIL_MANIFEST, Stage, patient};

async fn ask(detector: &Arc<Detector>, text: &str) -> Result<Vec<Span>, PluginError> {
    let segment = Segment {
        start: 0,
        end: text.len(),
        origin: Origin::UserText,
    };
    let answer = detector.detect(text, &[segment]).await;
    answer.map_err(|failed| {
        assert_eq!(&*failed.plugin, "evil@7.7.1");
        failed.error
    })
}

#[tokio::test]
async fn texts_of_one_request_share_an_instance_until_a_call_fails() {
    let stage = Stage::new();
    stage.install("evil", &EVIL, EVIL_MANIFEST);
    let host = stage.open().await;
    let registry = prometheus::Registry::new();
    host.register_metrics(&registry).unwrap();
    let instances = || {
        let families = registry.gather();
        let made = families
            .iter()
            .find(|family| family.name() == "svc_plugin_instantiate_seconds")
            .unwrap();
        made.get_metric()[0].get_histogram().get_sample_count()
    };
    let mut reader = Reader::new(host.detector("evil").unwrap());
    let mut read = async |text: &str| {
        let segment = Segment {
            start: 0,
            end: text.len(),
            origin: Origin::AssistantText,
        };
        reader
            .detect(text, &[segment])
            .await
            .map(|spans| spans.len())
    };
    let before = instances();
    for _ in 0..3 {
        assert_eq!(read("good").await, Ok(1));
    }
    assert_eq!(instances(), before + 1);
    for bad in ["trap", "refuse", "range"] {
        assert!(read(bad).await.is_err(), "{bad}");
        let then = instances();
        assert_eq!(read("good").await, Ok(1));
        assert_eq!(instances(), then + 1, "a fresh instance after {bad}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_bad_answer_is_told_by_its_reason_and_the_next_call_is_good() {
    let stage = Stage::new();
    stage.install("evil", &EVIL, EVIL_MANIFEST);
    let host = stage.open().await;
    let detector = host
        .detector("evil")
        .unwrap_or_else(|_| panic!("{:?}", host.status()));
    let killed = |reason| Err(PluginError::Killed(reason));
    let cases = [
        ("trap", killed(KillReason::Trap)),
        ("loop", killed(KillReason::Deadline)),
        ("memory", killed(KillReason::Memory)),
        ("recursion", killed(KillReason::Stack)),
        ("output", killed(KillReason::Output)),
        (
            "many",
            Err(PluginError::Contract("more spans than the text can have")),
        ),
        (
            "range",
            Err(PluginError::Contract("a span is not inside one segment")),
        ),
        (
            "empty",
            Err(PluginError::Contract("a span is not inside one segment")),
        ),
        (
            "kind",
            Err(PluginError::Contract("a span has an unknown kind")),
        ),
        ("refuse", Err(PluginError::Refused("unsupported-language"))),
    ];
    for (text, expected) in cases {
        let began = Instant::now();
        assert_eq!(ask(&detector, text).await, expected, "{text}");
        // The call budget is 100 ms of computing; the rest is for a busy machine.
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "{text} took {:?}",
            began.elapsed()
        );
        assert_eq!(
            ask(&detector, "good").await.map(|spans| spans.len()),
            Ok(1),
            "after {text}"
        );
    }
}

#[tokio::test]
async fn a_span_that_cuts_a_character_is_refused() {
    let stage = Stage::new();
    stage.install("evil", &EVIL, EVIL_MANIFEST);
    let detector = stage.open().await.detector("evil").unwrap();
    // The fifth byte is the first half of the letter.
    let answer = ask(&detector, "cut é").await;
    assert_eq!(
        answer,
        Err(PluginError::Contract("a span cuts a character"))
    );
}

#[tokio::test]
async fn a_looping_guest_leaves_its_thread_to_others() {
    let stage = Stage::new();
    stage.install("evil", &EVIL, EVIL_MANIFEST);
    let detector = stage.open().await.detector("evil").unwrap();
    // One thread for both: without yielding the good calls would all come after the loop's end.
    let (looping, good) = tokio::join!(ask(&detector, "loop"), async {
        let mut calls = 0;
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(20) {
            ask(&detector, "good").await.unwrap();
            calls += 1;
            tokio::task::yield_now().await;
        }
        calls
    });
    assert_eq!(looping, Err(PluginError::Killed(KillReason::Deadline)));
    assert!(good > 1, "{good} calls beside the loop");
}

#[tokio::test]
async fn a_looping_guest_is_stopped_after_a_rest_as_well() {
    let stage = Stage::new();
    stage.install("evil", &EVIL, EVIL_MANIFEST);
    let detector = stage.open().await.detector("evil").unwrap();
    // Long enough for the epoch's thread to fall asleep.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(
        ask(&detector, "loop").await,
        Err(PluginError::Killed(KillReason::Deadline))
    );
}

#[tokio::test]
async fn a_dropped_call_leaves_nothing_behind() {
    let stage = Stage::new();
    stage.install("evil", &EVIL, &patient(EVIL_MANIFEST));
    let detector = stage.open().await.detector("evil").unwrap();
    // More calls than there are instances: each dropped one has to give its own back.
    for _ in 0..200 {
        let call = ask(&detector, "loop");
        tokio::select! {
            biased;
            () = tokio::task::yield_now() => {}
            answer = call => panic!("{answer:?}"),
        }
    }
    assert_eq!(ask(&detector, "good").await.map(|spans| spans.len()), Ok(1));
}
