//! What detectors read in the place of a text that is disguised or divided.
//!
//! First comes each segment, folded where it needs that; then once more the segments that hold something encoded,
//! decoded, and those with words that something unseen divides, divided, each value behind its key; then the seams of
//! texts that a reader joins; then what is around the breaks of full lines; then questions with their answers, as a
//! form has a field and its value; then JSON documents, each as one text; then the names that are known from before.

use std::borrow::Cow;
use std::ops::Range;

use super::{DIVIDER, Document, Passage, Piece, SEPARATOR, Segment, Stretch, readings_of};
use crate::phi::Origin;
use crate::phi::normal::{Readings, Rewrite, readings};
use crate::phi::visit::Form;

/// Text on each side of a seam, in bytes: longer than any value that is one word.
const SEAM_BYTES: usize = 64;

/// The text without disguise.
#[derive(Default)]
pub(super) struct Reading {
    text: String,
    /// As detectors are told them.
    segments: Vec<Segment>,
    /// Where it comes from, in order; a seam has two.
    views: Vec<View>,
    /// Segments with their decoded and divided views, in order: of each there is one at most, the divided one last.
    further: Vec<(usize, usize)>,
}

/// A stretch of the reading that comes from one segment.
struct View {
    start: usize,
    end: usize,
    /// Position in the scan's segments.
    segment: usize,
    /// Where in that segment it begins; 0 for all of it.
    skipped: usize,
    /// Nothing where the segment reads as it is written.
    rewrite: Option<Rewrite>,
}

impl Reading {
    /// Reads segments of a text, of which those of `disguised` read differently.
    pub(super) fn of(text: &str, segments: &[Segment], disguised: Vec<(usize, Readings)>) -> Self {
        let mut reading = Self::default();
        let mut further = Vec::new();
        let mut disguised = disguised.into_iter().peekable();
        for (at, segment) in segments.iter().enumerate() {
            let mut folded = None;
            if let Some((_, readings)) = disguised.next_if(|(segment, _)| *segment == at) {
                folded = readings.folded;
                let rewrites = readings.decoded.into_iter().chain(readings.divided);
                further.extend(rewrites.map(|rewrite| (at, rewrite)));
            }
            let written = text.get(segment.start..segment.end).unwrap_or_default();
            let before = at.checked_sub(1).and_then(|before| segments.get(before));
            reading.begin(*segment, is_near(before, segment));
            reading.push(written, at, 0, folded);
        }
        let mut further = further.into_iter().peekable();
        while let Some((at, rewrite)) = further.next() {
            let key = at.checked_sub(1).filter(|at| is_key(segments, *at));
            if let Some(key) = key.filter(|key| reading.last_segment() != Some(*key)) {
                reading.push_again(text, segments, key);
            }
            if let Some(segment) = segments.get(at) {
                let key = key.and_then(|key| segments.get(key));
                reading.begin(*segment, is_near(key, segment));
                reading.further.push((at, reading.views.len()));
                reading.push("", at, 0, Some(rewrite));
            }
            let value = segments.get(at + 1);
            let is_keyed = value.is_some_and(|value| is_near(segments.get(at), value));
            if is_key(segments, at)
                && is_keyed
                && further.peek().is_none_or(|(next, _)| *next != at + 1)
            {
                reading.push_again(text, segments, at + 1);
            }
        }
        reading
    }

    /// Adds a segment once more, as plainly as it reads, beside its key or value: one says what the other is.
    fn push_again(&mut self, text: &str, segments: &[Segment], at: usize) {
        if let Some(segment) = segments.get(at) {
            let written = text.get(segment.start..segment.end).unwrap_or_default();
            let Readings {
                folded,
                decoded,
                divided,
            } = readings_of(written, segment.form);
            self.begin(*segment, segment.form != Form::Key);
            self.push(written, at, 0, divided.or(decoded).or(folded));
        }
    }

    fn last_segment(&self) -> Option<usize> {
        self.views.last().map(|view| view.segment)
    }

    /// Adds the end of one segment and the start of the next as one text, where no line ends between.
    pub(super) fn push_seam(
        &mut self,
        text: &str,
        segments: &[Segment],
        before: usize,
        behind: usize,
    ) {
        let (Some(left), Some(right)) = (segments.get(before), segments.get(behind)) else {
            return;
        };
        let from = text
            .ceil_char_boundary(left.end.saturating_sub(SEAM_BYTES))
            .max(left.start);
        let to = text
            .floor_char_boundary(right.start + SEAM_BYTES)
            .min(right.end);
        let tail = text.get(from..left.end).unwrap_or_default();
        let head = text.get(right.start..to).unwrap_or_default();
        if tail.ends_with('\n') || head.starts_with('\n') {
            return;
        }
        self.begin(*right, false);
        self.push(tail, before, from - left.start, readings(tail).folded);
        self.push(head, behind, 0, readings(head).folded);
    }

    /// Adds what is around a break as one line.
    pub(super) fn push_wrap(&mut self, segments: &[Segment], around: Stretch, line: Rewrite) {
        if let Some(segment) = segments.get(around.0) {
            self.begin(*segment, false);
            self.push("", around.0, around.1.start, Some(line));
        }
    }

    /// Adds an answer behind its question, with what stands between a field's name and its value. The question is
    /// there for the answer alone: it comes from no segment, so nothing is found in it a second time.
    pub(super) fn push_answer(
        &mut self,
        text: &str,
        segments: &[Segment],
        question: Stretch,
        answer: Stretch,
    ) {
        let (Some(asks), Some(answers)) = (segments.get(question.0), segments.get(answer.0)) else {
            return;
        };
        let of = |segment: &Segment, part: &Range<usize>| {
            let part = segment.start + part.start..segment.start + part.end;
            text.get(part).unwrap_or_default()
        };
        let (asked, answered) = (of(asks, &question.1), of(answers, &answer.1));
        self.begin(*answers, false);
        let folded = readings(asked).folded;
        self.text
            .push_str(folded.as_ref().map_or(asked, Rewrite::text));
        self.text.push_str(": ");
        let folded = readings(answered).folded;
        self.push(answered, answer.0, answer.1.start, folded);
    }

    /// Adds a JSON document as it is written, strings as they read but for signs that would end them. What is between
    /// them and its keys come from no segment.
    pub(super) fn push_document(&mut self, text: &str, segments: &[Segment], document: Document) {
        let whole = Segment {
            start: 0,
            end: 0,
            origin: document.origin,
            form: Form::Text,
        };
        self.begin(whole, false);
        let end = document.end();
        for Passage {
            lead,
            segment,
            is_key,
        } in document.passages
        {
            self.text.push_str(&lead);
            let Some(at) = segments.get(segment) else {
                continue;
            };
            let written = inside_quotes(text.get(at.start..at.end).unwrap_or_default());
            if is_key {
                self.text.push_str(&written);
                continue;
            }
            let folded = match at.form {
                Form::Number => None,
                _ => readings(&written).folded,
            };
            self.push(&written, segment, 0, folded);
        }
        self.text.push_str(&end);
        if let Some(begun) = self.segments.last_mut() {
            begun.end = self.text.len();
        }
    }

    /// Adds a value that is known already under a key. Neither comes from a segment: nothing is found in them.
    pub(super) fn push_known(&mut self, key: &str, value: &str) {
        for (text, form) in [(key, Form::Key), (value, Form::Text)] {
            let known = Segment {
                start: 0,
                end: 0,
                origin: Origin::Metadata,
                form,
            };
            self.begin(known, form != Form::Key);
            self.text.push_str(text);
            if let Some(begun) = self.segments.last_mut() {
                begun.end = self.text.len();
            }
        }
    }

    pub(super) fn parts(&self) -> (&str, &[Segment]) {
        (&self.text, &self.segments)
    }

    pub(super) fn segment_behind(&self, offset: usize) -> usize {
        self.views
            .get(self.view_at(offset))
            .map_or(usize::MAX, |view| view.segment)
    }

    pub(super) fn pieces(&self, reads: Range<usize>, segments: &[Segment]) -> Vec<Piece> {
        let views = self
            .views
            .get(self.view_at(reads.start)..)
            .unwrap_or_default();
        views
            .iter()
            .take_while(|view| view.start < reads.end)
            .filter_map(|view| {
                let reads = reads.start.max(view.start)..reads.end.min(view.end);
                let segment = segments.get(view.segment)?;
                let inside = reads.start - view.start..reads.end - view.start;
                let inside = match &view.rewrite {
                    Some(rewrite) => rewrite.source_of(inside),
                    None => inside,
                };
                let from = segment.start + view.skipped;
                Some(Piece {
                    segment: view.segment,
                    reads,
                    source: from + inside.start..from + inside.end,
                })
            })
            .collect()
    }

    /// Where bytes of the text are read, in each way that their segment is read as a whole; the plainest comes last.
    pub(super) fn reads_of(
        &self,
        segment: usize,
        source: Range<usize>,
        segments: &[Segment],
    ) -> impl DoubleEndedIterator<Item = Range<usize>> {
        let first = self.further.partition_point(|(at, _)| *at < segment);
        let behind = self.further.partition_point(|(at, _)| *at <= segment);
        let further = self.further.get(first..behind).unwrap_or_default();
        let views = std::iter::once(segment).chain(further.iter().map(|(_, view)| *view));
        let from = segments.get(segment).map_or(0, |segment| segment.start);
        let inside = source.start - from..source.end - from;
        views.filter_map(move |view| {
            let view = self.views.get(view)?;
            let inside = match &view.rewrite {
                Some(rewrite) => rewrite.reads_of(inside.clone()),
                None => inside.clone(),
            };
            Some(view.start + inside.start..view.start + inside.end)
        })
    }

    /// How a segment reads with its escapes opened; nothing where it has none.
    pub(super) fn opened(&self, segment: usize) -> Option<&Rewrite> {
        let first = self.further.partition_point(|(at, _)| *at < segment);
        let (at, view) = self.further.get(first)?;
        let view = self.views.get(*view).filter(|_| *at == segment)?;
        view.rewrite.as_ref()
    }

    /// Whether a place of the reading is in a segment as it reads with its escapes opened.
    pub(super) fn is_opened(&self, offset: usize) -> bool {
        let at = self.view_at(offset);
        self.further
            .binary_search_by_key(&at, |(_, view)| *view)
            .is_ok()
    }

    fn view_at(&self, offset: usize) -> usize {
        self.views.partition_point(|view| view.end <= offset)
    }

    /// Begins a segment as detectors are told it; `is_near`: it may be the value of the one before.
    fn begin(&mut self, segment: Segment, is_near: bool) {
        if !self.text.is_empty() {
            self.text
                .push_str(if is_near { SEPARATOR } else { DIVIDER });
        }
        let start = self.text.len();
        self.segments.push(Segment {
            start,
            end: start,
            ..segment
        });
    }

    /// Adds to the segment that was begun.
    fn push(&mut self, text: &str, segment: usize, skipped: usize, rewrite: Option<Rewrite>) {
        let start = self.text.len();
        self.text
            .push_str(rewrite.as_ref().map_or(text, Rewrite::text));
        let end = self.text.len();
        self.views.push(View {
            start,
            end,
            segment,
            skipped,
            rewrite,
        });
        if let Some(begun) = self.segments.last_mut() {
            begun.end = end;
        }
    }
}

/// A text as a string of JSON may have it without an escape. As long as it was: places in it stay what they are.
pub(in crate::phi) fn inside_quotes(text: &str) -> Cow<'_, str> {
    if text.contains(['"', '\\']) {
        Cow::Owned(text.replace(['"', '\\'], "'"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a segment stands right behind the one before it.
fn is_near(before: Option<&Segment>, segment: &Segment) -> bool {
    before.is_some_and(|before| segment.start - before.end == SEPARATOR.len())
}

fn is_key(segments: &[Segment], at: usize) -> bool {
    segments
        .get(at)
        .is_some_and(|segment| segment.form == Form::Key)
}
