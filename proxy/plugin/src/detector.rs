//! PHI detectors: text and segments in, validated spans out.

use std::sync::Arc;

use crate::error::PluginError;

/// Where a piece of the text came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    SystemPrompt,
    UserText,
    AssistantText,
    ToolName,
    ToolDescription,
    ToolSchema,
    ToolArguments,
    ToolResult,
    Metadata,
    Other,
}

/// A slice of the text in bytes, on character borders; segments are in order and do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub start: usize,
    pub end: usize,
    pub origin: Origin,
}

/// What a detector knows about its finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// A check digit or an equal test passed.
    pub verified: bool,
    /// PHI only together with what stands near.
    pub contextual: bool,
    /// Part of a longer span of the same kind follows or precedes.
    pub partial: bool,
}

/// One finding, inside one segment, in bytes of the text handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
    /// Index into [`Detector::kinds`].
    pub kind: usize,
    /// Confidence per mille, in steps of 50.
    pub score: u16,
    pub hints: Hints,
}

/// One kind of entity that a detector finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    pub name: Arc<str>,
    /// Safe Harbor identifier class 1 to 18, or 0.
    pub hipaa_class: u8,
    /// Spans below this score are dropped unless policy sets another threshold; the caller applies it.
    pub default_threshold: u16,
}

/// One admitted version of a detector.
pub struct Detector {}

impl Detector {
    pub fn id(&self) -> &str {
        ""
    }

    pub fn version(&self) -> &str {
        ""
    }

    /// The kinds that [`Span::kind`] points into.
    pub fn kinds(&self) -> &[Kind] {
        &[]
    }

    /// True when equal text always gives equal spans.
    pub fn deterministic(&self) -> bool {
        false
    }

    /// Finds PHI in the segments of `text`, on a fresh instance; spans come sorted by start and may overlap.
    /// No spans below any threshold are dropped here.
    ///
    /// # Errors
    /// Whatever goes wrong, the caller blocks the request: nothing of `text` counts as scanned.
    pub async fn detect(
        &self,
        _text: &str,
        _segments: &[Segment],
    ) -> Result<Vec<Span>, PluginError> {
        Err(PluginError::Sandbox)
    }
}
