//! PHI detector that has learnt from labeled texts: what is PHI by the words around it, however it is written. It finds
//! what the rules of others have no rule for: rare names, speech in small letters, dates and numbers in words, places and
//! organizations of everywhere.
//!
//! Two linear chains over words, numbers and signs, one for English and Spanish and one for other languages, made by
//! `context-trainer` from texts that were written for them; the model card is in `docs/phi-quality.md`. A finding's score rises with how likely it is to be PHI. No text leaves it,
//! only offsets.

mod age;
mod catalog;
mod code;
mod date;
pub mod feature;
pub mod language;
mod list;
mod measure;
pub mod model;
mod number;
mod public;
mod said;
pub mod scan;
mod share;
mod source;
pub mod tag;
pub mod token;

use detector_kit::{Detector, Finding, Kind, Segment, SelfTest};

use tag::Sort;

pub struct Context;

detector_kit::detector!(Context, heap_bytes = 24 * 1024 * 1024);

const NAME: usize = 0;
const LOCATION: usize = 1;
const ADDRESS: usize = 2;
const ORGANIZATION: usize = 3;
const DATE: usize = 4;
const AGE_OVER_89: usize = 5;
const PHONE: usize = 6;
const MRN: usize = 7;
const HEALTH_PLAN_ID: usize = 8;
const ACCOUNT_NUMBER: usize = 9;
const LICENSE_NUMBER: usize = 10;
const VEHICLE_ID: usize = 11;
const DEVICE_ID: usize = 12;
const OTHER_ID: usize = 13;

/// In the order of the numbers above.
const KINDS: [Kind; 14] = [
    Kind::new("NAME", 1),
    Kind::new("LOCATION", 2),
    Kind::new("ADDRESS", 2),
    Kind::new("ORGANIZATION", 0),
    Kind::new("DATE", 3),
    Kind::new("AGE_OVER_89", 3),
    Kind::new("PHONE", 4),
    Kind::new("MRN", 8),
    Kind::new("HEALTH_PLAN_ID", 9),
    Kind::new("ACCOUNT_NUMBER", 10),
    Kind::new("LICENSE_NUMBER", 11),
    Kind::new("VEHICLE_ID", 12),
    Kind::new("DEVICE_ID", 13),
    Kind::new("OTHER_ID", 18),
];

/// The kind of a sort, but for codes, which `code` tells apart.
const fn kind_of(sort: Sort) -> usize {
    match sort {
        Sort::Name => NAME,
        Sort::Location => LOCATION,
        Sort::Address => ADDRESS,
        Sort::Organization => ORGANIZATION,
        Sort::Date => DATE,
        Sort::Age => AGE_OVER_89,
        Sort::Code => OTHER_ID,
    }
}

impl Detector for Context {
    const ID: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const KINDS: &'static [Kind] = &KINDS;
    const LANGUAGES: &'static [&'static str] = &[];
    const SELF_TEST: SelfTest = SelfTest {
        samples: &SAMPLES,
        clean: "Patient with Parkinson's disease on aspirin 81 mg, BP 120/80, Foley catheter in place.",
    };

    /// Each word costs more than it does rules.
    const MAX_TEXT_BYTES: u32 = 64 * 1024;
    const READS_APART: bool = true;

    fn find(text: &str, segments: &[Segment], findings: &mut Vec<Finding>) {
        scan::scan(text, segments, findings);
    }
}

/// In the order of [`KINDS`].
const SAMPLES: [&str; 14] = [
    "Patient: Thandiwe Okoro was seen by Dr. Lindqvist today.",
    "She lives in Duluth, Minnesota, with her two sons.",
    "He lives at 418 Willow Creek Road, Apt 3.",
    "She was admitted to Lakeside General Hospital last year.",
    "He was seen on March 14, 2024 and comes again on the tenth of June.",
    "My grandmother is ninety seven years old.",
    "You can call me on my cell phone, 614 555 0192.",
    "The patient Okoro was seen again, MRN: 4471223",
    "Her insurance is Aetna, member ID XZE500118274, group 77120.",
    "Please charge account number 7730021846.",
    "Driver's license number D0884712",
    "The license plate of her car is JRX 8820.",
    "Insulin pump, serial number PX4471B, and its charger.",
    "See case number 24-CV-01877 and badge B-1190.",
];

#[cfg(test)]
mod tests {
    use detector_kit::bindings::exports::gateway::plugin::lifecycle::Guest;

    #[test]
    fn it_passes_its_own_test() {
        assert_eq!(<super::Plugin as Guest>::self_test(), Ok(()));
    }
}
