//! PHI detector for what has no shape: names of persons, addresses, places below the state, organizations.
//!
//! Words before and behind, lists of names and places, and vetoes decide; nothing is learnt. It knows no numbers but
//! those of streets and postal codes. No text leaves it, only offsets.

pub mod abroad;
pub mod code;
pub mod field;
pub mod file_name;
pub mod foreign;
pub mod kind;
pub mod name;
pub mod nobody;
pub mod organization;
pub mod place;
pub mod scan;
pub mod sentence;
pub mod token;
pub mod vocabulary;

use detector_kit::{Detector, Finding, Kind, Segment, SelfTest};

pub struct Names;

detector_kit::detector!(Names, heap_bytes = 24 * 1024 * 1024);

impl Detector for Names {
    const ID: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const KINDS: &'static [Kind] = &kind::KINDS;
    const SELF_TEST: SelfTest = SelfTest {
        samples: &SAMPLES,
        clean: "Patient with Parkinson's disease on aspirin, Foley catheter in place, seen in the clinic.",
    };

    fn find(text: &str, segments: &[Segment], findings: &mut Vec<Finding>) {
        scan::scan(text, segments, findings);
    }
}

/// In the order of `kind::KINDS`.
const SAMPLES: [&str; 4] = [
    "seen by Dr. Kumar today",
    "lives at 12 North Main Street, Apt 4",
    "moved to Boston, MA last year",
    "admitted to Lakeside General Hospital",
];
