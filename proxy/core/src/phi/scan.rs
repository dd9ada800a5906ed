//! All text of a request in one buffer with segments: what detectors read in one call.

use std::borrow::Cow;
use std::ops::Range;

use super::Origin;
use super::merge::Finding;
use super::normal::{self, Readings, Rewrite};
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
    /// What detectors read, where that is not `text` itself.
    reading: Option<Reading>,
}

/// The text without disguise. First comes each segment, folded where it needs that; behind them the segments
/// that hold something encoded once more, decoded.
#[derive(Default)]
struct Reading {
    text: String,
    segments: Vec<Segment>,
    /// One for each of `segments`.
    views: Vec<View>,
}

struct View {
    /// Position in [`TextScan::segments`].
    segment: usize,
    /// Nothing where the segment reads as it is written.
    rewrite: Option<Rewrite>,
}

/// Between two segments: no word, number or line of one runs into the next.
const SEPARATOR: char = '\n';

impl TextScan {
    /// Reads every text position. The request stays as it is; it is taken mutably because reading and
    /// rewriting are one walk.
    pub fn of(chat: &mut ChatRequest) -> Self {
        let mut scan = Self::default();
        let mut disguised = Vec::new();
        visit(chat, &mut |spot, text| {
            if spot.is_tool_definition() {
                if scan.tools.is_empty() {
                    scan.tools.start = scan.segments.len();
                }
                scan.tools.end = scan.segments.len() + 1;
            }
            scan.take(text, spot.origin, spot.form, &mut disguised);
            None
        });
        scan.read(disguised);
        scan
    }

    /// Reads texts that are no request.
    pub(super) fn of_texts<'t>(
        texts: impl Iterator<Item = (Cow<'t, str>, Form)>,
        origin: Origin,
    ) -> Self {
        let mut scan = Self::default();
        let mut disguised = Vec::new();
        for (text, form) in texts {
            scan.take(&text, origin, form, &mut disguised);
        }
        scan.read(disguised);
        scan
    }

    fn take(
        &mut self,
        text: &str,
        origin: Origin,
        form: Form,
        disguised: &mut Vec<(usize, Readings)>,
    ) {
        if !self.text.is_empty() {
            self.text.push(SEPARATOR);
        }
        let start = self.text.len();
        self.text.push_str(text);
        if form != Form::Number {
            let readings = normal::readings(text);
            if readings.folded.is_some() || readings.decoded.is_some() {
                disguised.push((self.segments.len(), readings));
            }
        }
        self.segments.push(Segment {
            start,
            end: self.text.len(),
            origin,
            form,
        });
    }

    /// Builds what detectors read, where any segment is disguised.
    fn read(&mut self, disguised: Vec<(usize, Readings)>) {
        if disguised.is_empty() {
            return;
        }
        let mut reading = Reading::default();
        let mut decoded = Vec::new();
        let mut disguised = disguised.into_iter().peekable();
        for (at, segment) in self.segments.iter().enumerate() {
            let mut folded = None;
            if let Some((_, readings)) = disguised.next_if(|(segment, _)| *segment == at) {
                folded = readings.folded;
                decoded.extend(readings.decoded.map(|rewrite| (at, rewrite)));
            }
            let text = self
                .text
                .get(segment.start..segment.end)
                .unwrap_or_default();
            reading.push(text, *segment, at, folded);
        }
        for (at, rewrite) in decoded {
            if let Some(segment) = self.segments.get(at) {
                reading.push("", *segment, at, Some(rewrite));
            }
        }
        self.reading = Some(reading);
    }

    /// What detectors read, with its segments in order and without overlap; offsets of candidates count here.
    pub fn reading(&self) -> (&str, &[Segment]) {
        match &self.reading {
            Some(reading) => (&reading.text, &reading.segments),
            None => (&self.text, &self.segments),
        }
    }

    /// Whether anything reads differently from how it is written.
    pub(super) fn is_disguised(&self) -> bool {
        self.reading.is_some()
    }

    /// The segment behind one of [`Self::reading`].
    pub(super) fn segment_behind(&self, read_segment: usize) -> usize {
        let view = self
            .reading
            .as_ref()
            .and_then(|reading| reading.views.get(read_segment));
        view.map_or(read_segment, |view| view.segment)
    }

    /// The bytes of [`Self::text`] behind a stretch of [`Self::reading`] inside one of its segments.
    pub(super) fn source_of(&self, read_segment: usize, reads: Range<usize>) -> Range<usize> {
        let Some(reading) = &self.reading else {
            return reads;
        };
        let (Some(from), Some(view)) = (
            reading.segments.get(read_segment),
            reading.views.get(read_segment),
        ) else {
            return 0..0;
        };
        let Some(segment) = self.segments.get(view.segment) else {
            return 0..0;
        };
        let inside = reads.start - from.start..reads.end - from.start;
        let inside = match &view.rewrite {
            Some(rewrite) => rewrite.source_of(inside),
            None => inside,
        };
        segment.start + inside.start..segment.start + inside.end
    }

    /// Where bytes of [`Self::text`] inside one segment are read, decoded if that segment is.
    pub(super) fn reads_of(&self, segment: usize, source: Range<usize>) -> Range<usize> {
        let Some(reading) = &self.reading else {
            return source;
        };
        let behind = reading.views.get(self.segments.len()..).unwrap_or_default();
        let read_segment = behind
            .binary_search_by_key(&segment, |view| view.segment)
            .map_or(segment, |at| self.segments.len() + at);
        let (Some(to), Some(view), Some(from)) = (
            reading.segments.get(read_segment),
            reading.views.get(read_segment),
            self.segments.get(segment),
        ) else {
            return 0..0;
        };
        let inside = source.start - from.start..source.end - from.start;
        let inside = match &view.rewrite {
            Some(rewrite) => rewrite.reads_of(inside),
            None => inside,
        };
        to.start + inside.start..to.start + inside.end
    }

    /// What a finding reads as; of a blob, the part that was found.
    pub(super) fn value(&self, finding: &Finding) -> &str {
        let reads = match &finding.reads {
            Some(reads) => reads.clone(),
            None => self.reads_of(finding.segment, finding.start..finding.end),
        };
        self.reading().0.get(reads).unwrap_or_default()
    }

    /// What tells a finding's value from others: what it reads as, or the whole of a blob in which more was
    /// found than the value.
    pub(super) fn identity(&self, finding: &Finding) -> &str {
        let whole = self.reads_of(finding.segment, finding.start..finding.end);
        let whole = self.reading().0.get(whole).unwrap_or_default();
        if self.value(finding) == whole {
            whole
        } else {
            self.text
                .get(finding.start..finding.end)
                .unwrap_or_default()
        }
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

    /// The first segment of [`Self::reading`] that ends behind `offset`.
    pub(super) fn read_segment_at(&self, offset: usize) -> usize {
        let (_, segments) = self.reading();
        segments.partition_point(|segment| segment.end <= offset)
    }

    /// The first segment that ends behind `offset`.
    pub(super) fn segment_at(&self, offset: usize) -> usize {
        self.segments
            .partition_point(|segment| segment.end <= offset)
    }
}

impl Reading {
    fn push(&mut self, text: &str, segment: Segment, at: usize, rewrite: Option<Rewrite>) {
        if !self.text.is_empty() {
            self.text.push(SEPARATOR);
        }
        let start = self.text.len();
        self.text
            .push_str(rewrite.as_ref().map_or(text, Rewrite::text));
        self.segments.push(Segment {
            start,
            end: self.text.len(),
            ..segment
        });
        self.views.push(View {
            segment: at,
            rewrite,
        });
    }
}
