//! A detector as the gateway calls it: what it is, how it tries itself, and one call over all segments of a text.

use std::marker::PhantomData;

use crate::bindings::exports::gateway::phi::detector::{self, DetectError, Segment, Span};
use crate::bindings::exports::gateway::plugin::lifecycle::{self, ConfigError, Manifest};
use crate::bindings::gateway::phi::types::{DetectorInfo, EntityKind, OffsetUnit, SegmentOrigin};
use crate::bindings::gateway::plugin::types::PluginKind;
use crate::finding::{Finding, Kind};

/// Version of the interfaces in `wit/v0.1`.
const API: &str = "0.1.0";
/// The detectors of the kit take no configuration.
const CONFIG_SCHEMA: &[u8] = br#"{"type":"object","additionalProperties":false}"#;

/// A detector without configuration that finds equal things in equal texts.
pub trait Detector {
    /// Name and version of the crate: `env!("CARGO_PKG_NAME")`, `env!("CARGO_PKG_VERSION")`.
    const ID: &'static str;
    /// See [`Self::ID`].
    const VERSION: &'static str;
    /// In the order of the manifest.
    const KINDS: &'static [Kind];
    /// BCP 47 tags of the languages that it was made for; empty means any.
    const LANGUAGES: &'static [&'static str] = &["en"];
    /// Tried at admission.
    const SELF_TEST: SelfTest;
    /// Longest text of one call; the host cuts longer ones. Scanning it must take well below the call's budget.
    const MAX_TEXT_BYTES: u32 = 256 * 1024;
    /// Longer than any finding together with the words that decide about it.
    const OVERLAP_BYTES: u32 = 256;
    /// Whether what it finds in a text that somebody says (a prompt, a message, a result, a description) depends on
    /// nothing that is said elsewhere. Then the host remembers what it found in each long one by itself, and has the
    /// others read.
    const READS_APART: bool = false;

    /// Appends the findings in the segments of `text`, in bytes of `text`, sorted by start. Each must lie in one
    /// segment. Segments are inside of the text, on borders of characters, in order, and do not overlap.
    fn find(text: &str, segments: &[Segment], findings: &mut Vec<Finding>);
}

/// What a detector must find and must leave alone before it may serve.
pub struct SelfTest {
    /// One for each kind, in their order.
    pub samples: &'static [&'static str],
    /// Has nothing.
    pub clean: &'static str,
}

/// A [`Detector`] under the interface of the gateway.
pub struct Guest<D>(PhantomData<D>);

/// [`Detector::find`] of a detector for which a segment is a text of its own: `find` appends what is in it, in bytes
/// of the segment.
pub fn in_each(
    text: &str,
    segments: &[Segment],
    findings: &mut Vec<Finding>,
    find: impl Fn(&str, &mut Vec<Finding>),
) {
    for segment in segments {
        let first = findings.len();
        find(part(text, segment), findings);
        for finding in findings.iter_mut().skip(first) {
            *finding = finding.behind(segment.start as usize);
        }
    }
}

/// The text of a segment.
pub fn part<'t>(text: &'t str, segment: &Segment) -> &'t str {
    text.get(segment.start as usize..segment.end as usize)
        .unwrap_or_default()
}

/// Whether the segment before may be the key of a value: it ends on the line before. Two lines above ends what says
/// nothing of it: what stands before a key, or the item of a list before another one.
pub const fn is_behind_its_key(key: &Segment, value: &Segment) -> bool {
    value.start.saturating_sub(key.end) <= 1
}

/// Whether the segment is part of a tool's definition. A request is refused for PHI there, and samples of formats are
/// usual: only what is sure should count.
pub const fn is_definition(origin: SegmentOrigin) -> bool {
    matches!(
        origin,
        SegmentOrigin::ToolName | SegmentOrigin::ToolDescription | SegmentOrigin::ToolSchema
    )
}

impl<D: Detector> lifecycle::Guest for Guest<D> {
    fn describe() -> Manifest {
        Manifest {
            id: D::ID.to_owned(),
            version: D::VERSION.to_owned(),
            kind: PluginKind::PhiDetector,
            api: API.to_owned(),
            config_schema: CONFIG_SCHEMA.to_vec(),
            counters: Vec::new(),
            ext: Vec::new(),
        }
    }

    /// Runs before every call: tables are made at build time, never here.
    fn configure(config: Vec<u8>) -> Result<(), ConfigError> {
        if config.trim_ascii() == b"{}" {
            return Ok(());
        }
        Err(ConfigError {
            path: String::new(),
            message: "this detector takes no configuration".to_owned(),
        })
    }

    fn self_test() -> Result<(), String> {
        let SelfTest { samples, clean } = D::SELF_TEST;
        for (at, kind) in D::KINDS.iter().enumerate() {
            let sample = samples.get(at).copied().unwrap_or_default();
            if !alone::<D>(sample).iter().any(|finding| finding.kind == at) {
                return Err(format!("{} is not found", kind.name));
            }
        }
        if !alone::<D>(clean).is_empty() {
            return Err("a text without PHI has a finding".to_owned());
        }
        if D::READS_APART && !reads_apart::<D>(samples) {
            return Err("what is found in a text depends on what is said elsewhere".to_owned());
        }
        Ok(())
    }
}

/// Whether the same is found in texts that stand one behind the other as in each alone.
fn reads_apart<D: Detector>(samples: &[&str]) -> bool {
    let (mut text, mut segments, mut apart) = (String::new(), Vec::new(), Vec::new());
    for sample in samples {
        let start = text.len();
        apart.extend(
            alone::<D>(sample)
                .iter()
                .map(|finding| finding.behind(start)),
        );
        text.push_str(sample);
        segments.push(said(start, text.len()));
        text.push('\n');
    }
    let mut together = Vec::new();
    D::find(&text, &segments, &mut together);
    together == apart
}

impl<D: Detector> detector::Guest for Guest<D> {
    fn info() -> DetectorInfo {
        let kind = |kind: &Kind| EntityKind {
            name: kind.name.to_owned(),
            hipaa_class: kind.hipaa_class,
            default_threshold: kind.default_threshold,
        };
        DetectorInfo {
            kinds: D::KINDS.iter().map(kind).collect(),
            offsets: OffsetUnit::Utf8Bytes,
            languages: D::LANGUAGES.iter().map(|tag| (*tag).to_owned()).collect(),
            max_text: D::MAX_TEXT_BYTES,
            overlap: D::OVERLAP_BYTES,
            deterministic: true,
            ext: D::READS_APART
                .then(|| ("texts-apart".to_owned(), b"true".to_vec()))
                .into_iter()
                .collect(),
        }
    }

    fn detect(text: String, segments: Vec<Segment>) -> Result<Vec<Span>, DetectError> {
        if text.len() > D::MAX_TEXT_BYTES as usize {
            return Err(DetectError::TooLarge);
        }
        let is_inside = |segment: &Segment| {
            text.get(segment.start as usize..segment.end as usize)
                .is_some()
        };
        if !segments.iter().all(is_inside) {
            return Err(DetectError::Internal);
        }
        let mut findings = Vec::new();
        D::find(&text, &segments, &mut findings);
        // The host refuses the whole text where a span cuts a character. Segments do not: the wider span is inside.
        let spans = findings.iter().map(|finding| finding.within(&text).span());
        Ok(spans.collect())
    }
}

/// The findings of a text that is one segment of somebody's message.
pub(crate) fn alone<D: Detector>(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    D::find(text, &[said(0, text.len())], &mut findings);
    findings
}

/// A segment of somebody's message.
fn said(start: usize, end: usize) -> Segment {
    // A text of a sample or a test is short.
    let offset = |at: usize| u32::try_from(at).unwrap_or_default();
    Segment {
        start: offset(start),
        end: offset(end),
        origin: SegmentOrigin::UserText,
    }
}
