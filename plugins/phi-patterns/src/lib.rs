//! PHI detector for identifiers with a shape or a label: dates, ages above 89, telephone and fax numbers, e-mail
//! addresses, numbers of persons, plans, accounts, cards, licences, vehicles and devices, addresses of the web.
//!
//! It finds candidates by byte class and decides by hand-written rules, check digits and the words around; it knows
//! no names and no places. No text leaves it, only offsets.

mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/v0.1/plugin", "../../wit/v0.1/phi"],
        world: "gateway:phi/phi-detector",
        generate_all,
    });
}

pub mod field;
pub mod kind;
pub mod number;
pub mod sample;
pub mod scan;
pub mod trigger;

pub use phi_text::text;

use bindings::exports::gateway::phi::detector::{self, DetectError, Segment, Span};
use bindings::exports::gateway::plugin::lifecycle;
use bindings::gateway::phi::types::{
    DetectorInfo, EntityKind, OffsetUnit, SegmentOrigin, SpanHints,
};
use bindings::gateway::plugin::types::PluginKind;

// The manifest allows 32 MiB in all.
guest_memory::heap!(24 * 1024 * 1024);

struct Patterns;

/// Longest text of one call: scanning it takes a tenth of the call's budget.
const MAX_TEXT_BYTES: u32 = 256 * 1024;
/// Longer than any finding together with the words that decide about it.
const OVERLAP_BYTES: u32 = 256;

impl lifecycle::Guest for Patterns {
    fn describe() -> lifecycle::Manifest {
        lifecycle::Manifest {
            id: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kind: PluginKind::PhiDetector,
            api: "0.1.0".to_owned(),
            config_schema: br#"{"type":"object","additionalProperties":false}"#.to_vec(),
            counters: Vec::new(),
            ext: Vec::new(),
        }
    }

    /// There is nothing to configure; all tables are made at build time.
    fn configure(config: Vec<u8>) -> Result<(), lifecycle::ConfigError> {
        if config.trim_ascii() == b"{}" {
            return Ok(());
        }
        Err(lifecycle::ConfigError {
            path: String::new(),
            message: "this detector takes no configuration".to_owned(),
        })
    }

    fn self_test() -> Result<(), String> {
        scan::self_test()
    }
}

impl detector::Guest for Patterns {
    fn info() -> DetectorInfo {
        let kind = |kind: &kind::Kind| EntityKind {
            name: kind.name.to_owned(),
            hipaa_class: kind.hipaa_class,
            default_threshold: kind.default_threshold,
        };
        DetectorInfo {
            kinds: kind::KINDS.iter().map(kind).collect(),
            offsets: OffsetUnit::Utf8Bytes,
            languages: vec!["en".to_owned()],
            max_text: MAX_TEXT_BYTES,
            overlap: OVERLAP_BYTES,
            deterministic: true,
            ext: Vec::new(),
        }
    }

    fn detect(text: String, segments: Vec<Segment>) -> Result<Vec<Span>, DetectError> {
        if text.len() > MAX_TEXT_BYTES as usize {
            return Err(DetectError::TooLarge);
        }
        let mut spans = Vec::new();
        let mut findings = Vec::new();
        for (at, segment) in segments.iter().enumerate() {
            let part = text
                .as_bytes()
                .get(segment.start as usize..segment.end as usize)
                .ok_or(DetectError::Internal)?;
            findings.clear();
            scan::scan(part, &mut findings);
            if is_structured(segment.origin) {
                let earlier = segments.get(..at).unwrap_or_default();
                if let Some(found) = keyed(text.as_bytes(), part, earlier) {
                    findings.push(found);
                    findings.sort_by_key(|finding| finding.start);
                }
            }
            if is_definition(segment.origin) {
                findings.retain(|finding| !sample::is_sample(part, finding));
            }
            spans.extend(findings.iter().map(|finding| span(segment.start, finding)));
        }
        Ok(spans)
    }
}

/// Segments back to the key of a value: `{"system": …, "value": …}` has its meaning three before.
const MAX_KEY_DISTANCE: usize = 3;

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

const fn is_definition(origin: SegmentOrigin) -> bool {
    matches!(
        origin,
        SegmentOrigin::ToolName | SegmentOrigin::ToolDescription | SegmentOrigin::ToolSchema
    )
}

/// What `value` is under the key in the segment before it, or under what an earlier one says about a bare `value`.
fn keyed(text: &[u8], value: &[u8], earlier: &[Segment]) -> Option<kind::Finding> {
    let mut keys = earlier
        .iter()
        .rev()
        .take(MAX_KEY_DISTANCE)
        .filter_map(|segment| text.get(segment.start as usize..segment.end as usize))
        .filter(|key| key.len() <= phi_text::fields::MAX_LABEL_BYTES);
    let key = keys.next()?;
    if key == b"value" {
        let meaning = keys.next()?;
        let last = meaning.rsplit(|byte| matches!(byte, b'/' | b':')).next()?;
        return field::find_value(value, last, 0, value.len());
    }
    field::find_value(value, key, 0, value.len())
}

/// Lengths fit 32 bits: the text is at most [`MAX_TEXT_BYTES`].
#[allow(clippy::cast_possible_truncation)]
fn span(base: u32, finding: &kind::Finding) -> Span {
    let mut hints = SpanHints::empty();
    hints.set(SpanHints::VERIFIED, finding.verified);
    hints.set(SpanHints::CONTEXTUAL, finding.contextual);
    Span {
        start: base + finding.start as u32,
        end: base + finding.end as u32,
        kind: finding.kind as u16,
        score: finding.score,
        hints,
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Patterns with_types_in bindings);
