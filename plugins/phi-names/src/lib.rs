//! PHI detector for what has no shape: names of persons, addresses, places below the state, organizations.
//!
//! Words before and behind, lists of names and places, and vetoes decide; nothing is learnt. It knows no numbers but
//! those of streets and postal codes. No text leaves it, only offsets.

mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/v0.1/plugin", "../../wit/v0.1/phi"],
        world: "gateway:phi/phi-detector",
        generate_all,
    });
}

pub mod field;
pub mod finding;
pub mod lexicon;
pub mod name;
pub mod organization;
pub mod place;
pub mod scan;
pub mod sentence;
pub mod token;
pub mod vocabulary;

use bindings::exports::gateway::phi::detector::{self, DetectError, Segment, Span};
use bindings::exports::gateway::plugin::lifecycle;
use bindings::gateway::phi::types::{
    DetectorInfo, EntityKind, OffsetUnit, SegmentOrigin, SpanHints,
};
use bindings::gateway::plugin::types::PluginKind;

use finding::{Finding, KINDS};
use scan::Part;

// The manifest allows 32 MiB in all.
guest_memory::heap!(24 * 1024 * 1024);

struct Names;

/// Longest text of one call: scanning it takes a tenth of the call's budget.
const MAX_TEXT_BYTES: u32 = 256 * 1024;
/// Longer than any finding together with the words that decide about it.
const OVERLAP_BYTES: u32 = 256;

impl lifecycle::Guest for Names {
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

impl detector::Guest for Names {
    fn info() -> DetectorInfo {
        let kind = |kind: &finding::Kind| EntityKind {
            name: kind.name.to_owned(),
            hipaa_class: kind.hipaa_class,
            default_threshold: kind.default_threshold,
        };
        DetectorInfo {
            kinds: KINDS.iter().map(kind).collect(),
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
        let mut parts = Vec::with_capacity(segments.len());
        for segment in &segments {
            let (start, end) = (segment.start as usize, segment.end as usize);
            if text.get(start..end).is_none() {
                return Err(DetectError::Internal);
            }
            parts.push(Part { start, end });
        }
        let mut all = scan::scan(&text, &parts);
        for (at, (segment, findings)) in segments.iter().zip(&mut all).enumerate() {
            if is_structured(segment.origin) {
                keyed(&text, &parts, at, findings);
            }
            if is_definition(segment.origin) {
                // A request is refused for these: only what is sure counts.
                findings.retain(|finding| finding.score >= DEFINITION_SCORE);
            }
        }
        scan::drop_lonely(&text, &mut all);
        Ok(all.iter().flatten().map(span).collect())
    }
}

/// Adds what the part at `at` is under the key in the part before it.
fn keyed(text: &str, parts: &[Part], at: usize, findings: &mut Vec<Finding>) {
    let key = at.checked_sub(1).and_then(|before| parts.get(before));
    let (Some(key), Some(part)) = (key, parts.get(at)) else {
        return;
    };
    let key = text.get(key.start..key.end).unwrap_or_default();
    if key.len() <= phi_text::fields::MAX_LABEL_BYTES {
        field::find_value(text, key.as_bytes(), part.start, part.end, findings);
        findings.sort_by_key(|finding| (finding.start, finding.end));
    }
}

/// Least score of a finding in a tool definition.
const DEFINITION_SCORE: u16 = 850;

/// Keys and values are segments of their own, in the order in which they stand.
const fn is_structured(origin: SegmentOrigin) -> bool {
    matches!(
        origin,
        SegmentOrigin::ToolArguments | SegmentOrigin::Metadata | SegmentOrigin::Other
    )
}

const fn is_definition(origin: SegmentOrigin) -> bool {
    matches!(
        origin,
        SegmentOrigin::ToolName | SegmentOrigin::ToolDescription | SegmentOrigin::ToolSchema
    )
}

/// Lengths fit 32 bits: the text is at most [`MAX_TEXT_BYTES`].
#[allow(clippy::cast_possible_truncation)]
fn span(finding: &Finding) -> Span {
    let mut hints = SpanHints::empty();
    hints.set(SpanHints::CONTEXTUAL, finding.contextual);
    Span {
        start: finding.start as u32,
        end: finding.end as u32,
        kind: finding.kind as u16,
        score: finding.score,
        hints,
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Names with_types_in bindings);
