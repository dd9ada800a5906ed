//! The shipped detector in its sandbox.

use svc_core::phi::Origin;
use svc_plugin::{Segment, State};

use crate::stage::{PATTERNS, Stage, patient, shipped_manifest};

#[tokio::test]
async fn findings_come_back_with_their_kind_and_place() {
    let stage = Stage::new();
    stage.install("phi-patterns", &PATTERNS, &shipped_manifest("phi-patterns"));
    let host = stage.open().await;
    let status = host.status();
    assert_eq!(status[0].state, State::Ready, "{status:?}");
    let detector = host.detector("phi-patterns").unwrap();
    let text = "é SSN 219-09-9999 MRN: 00482913";
    let border = text.find("MRN").unwrap();
    let segments = [
        Segment {
            start: 0,
            end: border,
            origin: Origin::UserText,
        },
        Segment {
            start: border,
            end: text.len(),
            origin: Origin::ToolResult,
        },
    ];
    let spans = detector.detect(text, &segments).await.unwrap();
    let found: Vec<(&str, &str)> = spans
        .iter()
        .map(|span| (&*detector.kinds()[span.kind], &text[span.start..span.end]))
        .collect();
    assert_eq!(found, [("SSN", "219-09-9999"), ("MRN", "00482913")]);
}

#[tokio::test]
async fn a_text_longer_than_one_call_is_scanned_whole() {
    let stage = Stage::new();
    stage.install(
        "phi-patterns",
        &PATTERNS,
        &patient(&shipped_manifest("phi-patterns")),
    );
    let host = stage.open().await;
    let detector = host.detector("phi-patterns").unwrap();
    let mut text = String::new();
    let mut planted = 0;
    while text.len() < 1_200_000 {
        text.push_str("the patient was comfortable and in no distress overnight, reach her at (212) 555-0142 today; ");
        planted += 1;
    }
    let segment = Segment {
        start: 0,
        end: text.len(),
        origin: Origin::UserText,
    };
    let spans = detector.detect(&text, &[segment]).await.unwrap();
    assert_eq!(spans.len(), planted);
    assert!(
        spans
            .iter()
            .all(|span| &text[span.start..span.end] == "(212) 555-0142")
    );
}
