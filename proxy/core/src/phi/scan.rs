//! All text of a request in one buffer with segments: what detectors read in one call.

use std::ops::Range;

use super::Origin;
use super::visit::{Form, visit};
use crate::chat::ChatRequest;

/// One text position in the buffer, in bytes, on character borders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    pub start: usize,
    pub end: usize,
    pub origin: Origin,
    pub form: Form,
}

/// The text of a request. Belongs to the request as it was: any change of the request makes it stale.
#[derive(Default)]
pub struct TextScan {
    text: String,
    segments: Vec<Segment>,
    /// Which segments are tool definitions; they are neighbours.
    tools: Range<usize>,
}

/// Between two segments: no word, number or line of one runs into the next.
const SEPARATOR: char = '\n';

impl TextScan {
    /// Reads every text position. The request stays as it is; it is taken mutably because reading and
    /// rewriting are one walk.
    pub fn of(chat: &mut ChatRequest) -> Self {
        let mut scan = Self::default();
        visit(chat, &mut |spot, text| {
            if !scan.text.is_empty() {
                scan.text.push(SEPARATOR);
            }
            let start = scan.text.len();
            scan.text.push_str(text);
            if spot.is_tool_definition() {
                if scan.tools.is_empty() {
                    scan.tools.start = scan.segments.len();
                }
                scan.tools.end = scan.segments.len() + 1;
            }
            scan.segments.push(Segment {
                start,
                end: scan.text.len(),
                origin: spot.origin,
                form: spot.form,
            });
            None
        });
        scan
    }

    /// The buffer that offsets of findings count in.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// In order, without overlap.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Positions in [`Self::segments`] that belong to tool definitions.
    pub fn tools(&self) -> Range<usize> {
        self.tools.clone()
    }

    /// The text of one segment.
    pub(super) fn segment_text(&self, at: usize) -> Option<&str> {
        let segment = self.segments.get(at)?;
        self.text.get(segment.start..segment.end)
    }

    /// The first segment that ends behind `offset`.
    pub(super) fn segment_at(&self, offset: usize) -> usize {
        self.segments
            .partition_point(|segment| segment.end <= offset)
    }
}
