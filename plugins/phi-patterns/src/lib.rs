//! PHI detector for identifiers with a shape or a label: dates, ages above 89, telephone and fax numbers, e-mail
//! addresses, numbers of persons, plans, accounts, cards, licences, vehicles and devices, addresses of the web.
//!
//! It finds candidates by byte class and decides by hand-written rules, check digits and the words around; it knows
//! no names and no places. No text leaves it, only offsets.

pub mod abroad;
pub mod apart;
pub mod field;
pub mod kind;
pub mod number;
pub mod sample;
pub mod scan;
pub mod trigger;

pub use phi_text::text;

use phi_text::fields;

use detector_kit::{Detector, Finding, Kind, Segment, SegmentOrigin, SelfTest};
use detector_kit::{is_behind_its_key, is_definition, part};

pub struct Patterns;

detector_kit::detector!(Patterns, heap_bytes = 24 * 1024 * 1024);

impl Detector for Patterns {
    const ID: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const KINDS: &'static [Kind] = &kind::KINDS;
    const READS_APART: bool = true;
    const SELF_TEST: SelfTest = SelfTest {
        samples: &SAMPLES,
        clean: "BP 120/80, 2/6 murmur, strength 5/5, pain 7/10, aspirin 81 mg.",
    };

    fn find(text: &str, segments: &[Segment], findings: &mut Vec<Finding>) {
        let mut found = Vec::new();
        for (at, segment) in segments.iter().enumerate() {
            let value = part(text, segment).as_bytes();
            found.clear();
            scan::scan(value, &mut found);
            apart::scan(part(text, segment), &mut found);
            let earlier = segments.get(..at).unwrap_or_default();
            if is_structured(segment.origin)
                && earlier
                    .last()
                    .is_some_and(|key| is_behind_its_key(key, segment))
                && let Some(keyed) = keyed(text, value, earlier)
            {
                found.push(keyed);
                found.sort_by_key(|finding| finding.start);
            }
            if is_definition(segment.origin) && !found.is_empty() {
                let definition = sample::Definition::of(value);
                found.retain(|finding| !definition.is_sample(finding));
            }
            let start = segment.start as usize;
            findings.extend(found.iter().map(|finding| finding.behind(start)));
        }
    }
}

/// Keys and values are segments of their own, in the order in which they stand.
const fn is_structured(origin: SegmentOrigin) -> bool {
    matches!(
        origin,
        SegmentOrigin::ToolArguments
            | SegmentOrigin::ToolSchema
            | SegmentOrigin::Metadata
            | SegmentOrigin::Other
    )
}

/// What `value` is under the key in the segment before it, or under what an earlier one says about a bare `value`.
fn keyed(text: &str, value: &[u8], earlier: &[Segment]) -> Option<Finding> {
    let mut keys = earlier
        .iter()
        .rev()
        .take(fields::MAX_KEYS)
        .map(|segment| part(text, segment).as_bytes())
        .filter(|key| key.len() <= fields::MAX_LABEL_BYTES);
    if let Some(label) = fields::keyed(keys.clone()) {
        return field::find_value(value, label, 0, value.len());
    }
    let key = keys.next()?;
    if key == b"reference"
        && let Some(id) = value.strip_prefix(b"Patient/")
    {
        return field::find_value(
            value,
            fields::PATIENT_ID,
            value.len() - id.len(),
            value.len(),
        );
    }
    if key == b"value" {
        let meaning = keys.next()?;
        let last = meaning.rsplit(|byte| matches!(byte, b'/' | b':')).next()?;
        return field::find_value(value, last, 0, value.len());
    }
    // `{"role": "user", "content": …}`: what is called a user is no key.
    let is_kind = key == b"user"
        && keys
            .next()
            .is_some_and(|earlier| KINDS_OF.contains(&earlier));
    (!is_kind).then(|| field::find_value(value, key, 0, value.len()))?
}

/// Keys whose value says what somebody or something is.
const KINDS_OF: [&[u8]; 12] = [
    b"role",
    b"type",
    b"kind",
    b"actor",
    b"author",
    b"scope",
    b"entity",
    b"subject",
    b"sender",
    b"source",
    b"target",
    b"resource",
];

/// In the order of `kind::KINDS`.
const SAMPLES: [&str; 17] = [
    "DOB 03/14/1962",
    "a 93-year-old man",
    "call (212) 555-0142",
    "fax: 212-555-0143",
    "mail to jane@example.org",
    "SSN 219-09-9999",
    "MRN: 00482913",
    "MBI 1EG4-TE5-MK73",
    "account number 88120394",
    "card 4111 1111 1111 1111",
    "NPI 1234567893",
    "VIN 1M8GDM9AXKP042788",
    "pacemaker serial number PX4420913",
    "see https://portal.lakeside-clinic.com/u/jane",
    "from 203.0.113.54",
    "fingerprint id FP-448120",
    "accession number S24-10233",
];
