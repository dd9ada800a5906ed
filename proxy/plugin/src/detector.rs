//! PHI detectors: text and segments in, validated spans out.

use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use svc_core::phi::Origin;

use crate::bindings::phi::exports::gateway::phi::detector as wit;
use crate::bindings::phi::gateway::phi::types as wit_types;
use crate::error::{AdmissionError, Failed, PluginError};
use crate::metrics::Function;
use crate::offsets::{self, Unit};
use crate::sandbox::Cell;
use crate::version::{Version, refuse_unknown, uninformed};
use crate::windows::{Reach, Window, windows};

/// A slice of the text in bytes, on character borders; segments are in order and do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The first byte, `end` the one behind the last.
    pub start: usize,
    pub end: usize,
    pub origin: Origin,
}

/// What a detector knows about its finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// A check digit or an equal test passed.
    pub verified: bool,
    /// Part of a longer span of the same kind follows or precedes.
    pub partial: bool,
}

/// One finding, inside one segment, in bytes of the text handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte, `end` the one behind the last.
    pub start: usize,
    pub end: usize,
    /// Index into [`Detector::kinds`].
    pub kind: usize,
    /// Confidence per mille, in steps of 50.
    pub score: u16,
    pub hints: Hints,
}

/// Longest text of one [`Detector::detect`], over all windows: no request body is larger.
const MAX_TEXT_BYTES: usize = 64 * 1024 * 1024;
/// Smallest `max-text` that a detector may have: splitting finer than this would cut most findings.
const MIN_MAX_TEXT_BYTES: u32 = 1024;
/// Steps in which scores are told apart (phi.wit).
const SCORE_STEP: u16 = 50;
const MAX_SCORE: u16 = 1_000;
/// Identifier classes of Safe Harbor (45 CFR 164.514(b)(2)(i), A to R); 0 is none.
const MAX_HIPAA_CLASS: u8 = 18;
/// Spans that any answer may have, beside one per four bytes of text (phi.wit).
const FREE_SPANS: usize = 64;

/// A configured instance and its functions.
type Live = (Cell, wit::Guest);

/// A detector that reads the texts of one request and its reply in a row, all on one instance. It holds a place in the
/// pool of instances from its first text on, until it [rests](Self::rest).
pub struct Reader {
    detector: Arc<Detector>,
    live: Option<Live>,
}

impl Reader {
    /// A reader that has no instance yet.
    pub fn new(detector: Arc<Detector>) -> Self {
        Self {
            detector,
            live: None,
        }
    }

    /// The version that it reads with.
    pub fn detector(&self) -> &Detector {
        &self.detector
    }

    /// The next text has to be waited for: the instance can serve others, where they may need it.
    pub fn rest(&mut self) {
        if self.live.is_some() && !self.detector.version.has_room() {
            self.live = None;
        }
    }

    /// As [`Detector::detect`]. After an error the next text gets a fresh instance.
    ///
    /// # Errors
    /// As [`Detector::detect`].
    pub async fn detect(
        &mut self,
        text: &str,
        segments: &[Segment],
    ) -> Result<Vec<Span>, Failed<PluginError>> {
        let mut spans = Vec::new();
        for window in self.detector.windows(text, segments)? {
            spans.append(&mut self.read(text, &window).await?);
        }
        Ok(in_order(spans))
    }

    /// What stands in one of the [windows](Detector::windows) of a text. After an error the next one gets a fresh
    /// instance.
    ///
    /// # Errors
    /// As [`Detector::detect`].
    pub async fn read(
        &mut self,
        text: &str,
        window: &Window,
    ) -> Result<Vec<Span>, Failed<PluginError>> {
        let Self { detector, live } = self;
        let reading = detector.detect_window(live, text, window);
        let answer = detector.version.measured(Function::Detect, reading).await;
        if answer.is_err() {
            *live = None;
        }
        answer
    }
}

/// The spans of all windows as those of one text.
pub fn in_order(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| {
        (
            span.start,
            span.end,
            span.kind,
            std::cmp::Reverse(span.score),
        )
    });
    // Where windows overlap, both find the same.
    spans.dedup_by_key(|span| (span.start, span.end, span.kind));
    spans
}

/// One admitted version of a detector.
pub struct Detector {
    version: Version,
    indices: wit::GuestIndices,
    kinds: Vec<Arc<str>>,
    unit: Unit,
    reach: Reach,
    deterministic: bool,
    fingerprint: [u8; 32],
}

impl Detector {
    /// The id in the manifest, by which policies name it.
    pub fn id(&self) -> &str {
        self.version.id()
    }

    /// The version in the manifest.
    pub fn version(&self) -> &str {
        self.version.number()
    }

    /// Both, as `id@version`.
    pub fn name(&self) -> &str {
        self.version.name()
    }

    /// The kinds that [`Span::kind`] points into, in the detector's own words (`NAME`, `MRN`).
    pub fn kinds(&self) -> &[Arc<str>] {
        &self.kinds
    }

    /// True when equal text always gives equal spans.
    pub fn deterministic(&self) -> bool {
        self.deterministic
    }

    /// SHA-256 over the digest of the component and its configuration: where two detectors have the same one and are
    /// [`deterministic`](Self::deterministic), equal texts have equal spans.
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.fingerprint
    }

    /// Finds PHI in the segments of `text`, on a fresh instance; spans come sorted by start and may overlap.
    /// Every span is inside one segment and on character borders. None is dropped for its score here.
    ///
    /// # Errors
    /// Whatever goes wrong, the caller blocks the request: nothing of `text` counts as scanned.
    pub async fn detect(
        self: &Arc<Self>,
        text: &str,
        segments: &[Segment],
    ) -> Result<Vec<Span>, Failed<PluginError>> {
        Reader::new(Arc::clone(self)).detect(text, segments).await
    }

    /// The shares of a text that it reads, one after the other.
    ///
    /// # Errors
    /// A text that is too long, and segments that are none of it.
    pub fn windows(
        &self,
        text: &str,
        segments: &[Segment],
    ) -> Result<Vec<Window>, Failed<PluginError>> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(self.version.failed(PluginError::TooLarge));
        }
        if !are_ordered(text, segments) {
            return Err(self.version.failed(PluginError::Sandbox));
        }
        Ok(windows(text, segments, self.reach))
    }

    async fn detect_window(
        &self,
        live: &mut Option<Live>,
        text: &str,
        window: &Window,
    ) -> Result<Vec<Span>, PluginError> {
        let Some(part) = window.read(text) else {
            return Err(PluginError::Sandbox);
        };
        let part = part.as_ref();
        let sent: Vec<wit::Segment> = window.stretches().map(to_wit).collect();
        let load = |store: &mut _, instance: &_| self.indices.load(store, instance);
        // Taken out, so that an instance whose call fails or is given up serves nothing more.
        let (mut cell, guest) = match live.take() {
            Some(live) => live,
            None => self.version.instance(load).await?,
        };
        let (store, allowance) = cell.serving(part.len());
        let answer = allowance
            .serve(guest.call_detect(store, part, &sent))
            .await?;
        let found = answer.map_err(|error| PluginError::Refused(refusal(error)))?;
        *live = Some((cell, guest));
        if found.len() > FREE_SPANS + part.len() / 4 {
            return Err(PluginError::Contract("more spans than the text can have"));
        }
        let ranges: Vec<Range<u32>> = found.iter().map(|span| span.start..span.end).collect();
        let mut spans = Vec::with_capacity(found.len());
        for (span, range) in found.iter().zip(self.byte_ranges(part, &ranges)?) {
            // The window has a heading that is there for its own text alone.
            if let Some(place) = window.place(&range) {
                spans.push(self.check(text, span, place, window)?);
            }
        }
        Ok(spans)
    }

    fn byte_ranges(
        &self,
        part: &str,
        ranges: &[Range<u32>],
    ) -> Result<Vec<Range<usize>>, PluginError> {
        if self.unit == Unit::Bytes {
            return Ok(ranges
                .iter()
                .map(|range| range.start as usize..range.end as usize)
                .collect());
        }
        let places = offsets::to_bytes(
            part,
            self.unit,
            ranges.iter().flat_map(|range| [range.start, range.end]),
        );
        let find = |offset: u32| {
            places.get(&offset).copied().ok_or(PluginError::Contract(
                "a span is out of range or cuts a character",
            ))
        };
        ranges
            .iter()
            .map(|range| Ok(find(range.start)?..find(range.end)?))
            .collect()
    }

    fn check(
        &self,
        text: &str,
        span: &wit::Span,
        range: Range<usize>,
        window: &Window,
    ) -> Result<Span, PluginError> {
        let wit::Span {
            start: _,
            end: _,
            kind,
            score,
            hints,
        } = *span;
        let Range { start, end } = range;
        // Segments are in order: the last one that starts at or before the span is the only candidate.
        let at = window
            .segments
            .partition_point(|segment| segment.start <= start);
        let segment = at.checked_sub(1).and_then(|at| window.segments.get(at));
        if start >= end || segment.is_none_or(|segment| end > segment.end) {
            return Err(PluginError::Contract("a span is not inside one segment"));
        }
        if !(text.is_char_boundary(start) && text.is_char_boundary(end)) {
            return Err(PluginError::Contract("a span cuts a character"));
        }
        if kind as usize >= self.kinds.len() {
            return Err(PluginError::Contract("a span has an unknown kind"));
        }
        if score > MAX_SCORE {
            return Err(PluginError::Contract("a span has a score above 1000"));
        }
        Ok(Span {
            start,
            end,
            kind: kind as usize,
            score: (score + SCORE_STEP / 2) / SCORE_STEP * SCORE_STEP,
            hints: Hints {
                verified: hints.contains(wit_types::SpanHints::VERIFIED),
                partial: hints.contains(wit_types::SpanHints::PARTIAL),
            },
        })
    }

    /// The part of admission that only detectors have: `info` against the manifest.
    pub(crate) async fn admit(version: Version) -> Result<Self, AdmissionError> {
        let indices = version.exported(wit::GuestIndices::new)?;
        let load = |store: &mut _, instance: &_| indices.load(store, instance);
        let (mut cell, guest) = version.blank(load).await?;
        let (store, allowance) = cell.admitting();
        let info = allowance.spend(guest.call_info(store)).await;
        let wit::DetectorInfo {
            kinds,
            offsets,
            languages: _,
            max_text,
            overlap,
            deterministic,
            ext,
        } = info.map_err(uninformed)?;
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
        if version
            .manifest()
            .entity_kinds
            .as_ref()
            .is_none_or(|listed| listed.names != names)
        {
            return Err(AdmissionError::new(
                "info",
                "the plugin and its manifest differ in entity kinds",
            ));
        }
        if max_text < MIN_MAX_TEXT_BYTES || overlap >= max_text / 2 {
            return Err(AdmissionError::new(
                "info",
                "max-text is below 1024 or overlap not below half of it",
            ));
        }
        if let Some(kind) = kinds.iter().find(|kind| !is_possible(kind)) {
            return Err(AdmissionError::new(
                "info",
                format!(
                    "kind {}: hipaa-class is above {MAX_HIPAA_CLASS} or default-threshold above {MAX_SCORE}",
                    kind.name
                ),
            ));
        }
        refuse_unknown("info", &ext)?;
        let mut fingerprint = Sha256::new();
        fingerprint.update(&version.manifest().component.sha256);
        // A digest in hex has one length: nothing of it runs into the configuration.
        fingerprint.update(version.configuration());
        Ok(Self {
            fingerprint: fingerprint.finalize().into(),
            version,
            indices,
            kinds: kinds.into_iter().map(|kind| kind.name.into()).collect(),
            unit: match offsets {
                wit_types::OffsetUnit::Utf8Bytes => Unit::Bytes,
                wit_types::OffsetUnit::Utf16Units => Unit::Utf16Units,
                wit_types::OffsetUnit::CodePoints => Unit::CodePoints,
            },
            reach: Reach {
                max_bytes: max_text as usize,
                overlap_bytes: overlap as usize,
                is_apart: ext.iter().any(is_apart),
            },
            deterministic,
        })
    }
}

/// By which a detector says that it reads texts apart (`true`).
const APART: &str = "texts-apart";

fn is_apart((name, value): &(String, Vec<u8>)) -> bool {
    name == APART && value.trim_ascii() == b"true"
}

/// Whether segments are on character borders, in order, and apart from each other.
fn are_ordered(text: &str, segments: &[Segment]) -> bool {
    let mut last = 0;
    segments.iter().all(|segment| {
        let good = last <= segment.start && text.get(segment.start..segment.end).is_some();
        last = segment.end;
        good
    })
}

/// Whether the numbers of a kind are within what they count. They inform whoever reads the manifest of a detector; the
/// host judges by its own table of kinds and by the policy.
fn is_possible(kind: &wit_types::EntityKind) -> bool {
    kind.hipaa_class <= MAX_HIPAA_CLASS && kind.default_threshold <= MAX_SCORE
}

/// Windows are at most `max-text` (32 bits) long.
fn to_wit(Segment { start, end, origin }: Segment) -> wit::Segment {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    wit::Segment {
        start: offset(start),
        end: offset(end),
        origin: match origin {
            Origin::SystemPrompt => wit_types::SegmentOrigin::SystemPrompt,
            Origin::UserText => wit_types::SegmentOrigin::UserText,
            Origin::AssistantText => wit_types::SegmentOrigin::AssistantText,
            Origin::ToolName => wit_types::SegmentOrigin::ToolName,
            Origin::ToolDescription => wit_types::SegmentOrigin::ToolDescription,
            Origin::ToolSchema => wit_types::SegmentOrigin::ToolSchema,
            Origin::ToolArguments => wit_types::SegmentOrigin::ToolArguments,
            Origin::ToolResult => wit_types::SegmentOrigin::ToolResult,
            Origin::Metadata => wit_types::SegmentOrigin::Metadata,
            Origin::Other => wit_types::SegmentOrigin::Other,
        },
    }
}

const fn refusal(error: wit::DetectError) -> &'static str {
    match error {
        wit::DetectError::TooLarge => "too-large",
        wit::DetectError::UnsupportedLanguage => "unsupported-language",
        wit::DetectError::NotConfigured => "not-configured",
        wit::DetectError::Internal => "internal",
    }
}
