//! A detector that knows one sentence and finds nothing else: what a request costs when PHI Guard searches with next to
//! nothing. For the bench; never shipped, so that its manifest is not here (`tests/bench/detector.toml`). It is also the
//! smallest detector that `detector-kit` makes.

use detector_kit::{Detector, Finding, Kind, Segment, SelfTest, in_each};

pub struct Quiet;

detector_kit::detector!(Quiet, heap_bytes = 24 * 1024 * 1024);

const SAMPLE: &str = "quiet finds this";

impl Detector for Quiet {
    const ID: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const KINDS: &'static [Kind] = &[Kind::new("SSN", 7)];
    const SELF_TEST: SelfTest = SelfTest {
        samples: &[SAMPLE],
        clean: "and nothing in this",
    };

    fn find(text: &str, segments: &[Segment], findings: &mut Vec<Finding>) {
        in_each(text, segments, findings, |text, findings| {
            if text == SAMPLE {
                findings.push(Finding::new(0, 0, text.len(), 1000));
            }
        });
    }
}
