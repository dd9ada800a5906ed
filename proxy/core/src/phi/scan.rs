//! All text of a request in one buffer with segments: what detectors read in one call.

mod reading;

use std::ops::Range;

use super::Origin;
use super::map::PlaceholderMap;
use super::merge::Finding;
use super::normal::{self, Readings, Rewrite};
use super::visit::{Form, InDocument, Joint, visit};
use crate::chat::ChatRequest;
use reading::Reading;
pub(super) use reading::inside_quotes;

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
    /// The first segment of each message; of one without text, the next.
    messages: Vec<usize>,
    /// What detectors read, where that is not `text` itself.
    reading: Option<Reading>,
}

/// A stretch of what detectors read, and of the text behind it.
pub(super) struct Piece {
    pub(super) segment: usize,
    pub(super) reads: Range<usize>,
    pub(super) source: Range<usize>,
}

/// Part of a segment: its position, and bytes of its text.
type Stretch = (usize, Range<usize>);

/// What is read beside the text as it stands.
#[derive(Default)]
struct Aside {
    disguised: Vec<(usize, Readings)>,
    /// Segments that readers join.
    seams: Vec<(usize, usize)>,
    /// What is around the breaks of full lines, as one line.
    wraps: Vec<(Stretch, Rewrite)>,
    /// Questions, and what answers them.
    answers: Vec<(Stretch, Stretch)>,
    documents: Vec<Document>,
}

/// A JSON document as one text: what a value is may stand further up than the key in front of it.
pub(super) struct Document {
    pub(super) origin: Origin,
    pub(super) passages: Vec<Passage>,
}

/// A text of a document, and what stands before it there.
pub(super) struct Passage {
    pub(super) lead: String,
    pub(super) segment: usize,
    /// Keys are there for their values alone: nothing is found in them a second time.
    pub(super) is_key: bool,
}

impl Document {
    /// Detectors know a document as any text in which somebody shows data, or defines a tool.
    pub(super) const fn new(origin: Origin) -> Self {
        let origin = match origin {
            Origin::ToolName | Origin::ToolDescription | Origin::ToolSchema => {
                Origin::ToolDescription
            }
            _ => Origin::ToolResult,
        };
        Self {
            origin,
            passages: Vec::new(),
        }
    }

    /// What ends the document behind its last text: all that its passages opened is closed.
    pub(super) fn end(&self) -> String {
        let mut leads = self.passages.iter().map(|passage| passage.lead.as_str());
        let mut open = Vec::new();
        for sign in leads.clone().flat_map(str::chars) {
            match sign {
                '{' => open.push('}'),
                '[' => open.push(']'),
                '}' | ']' => drop(open.pop()),
                _ => {}
            }
        }
        let is_string = leads.next_back().is_some_and(|lead| lead.ends_with('"'));
        let quote = is_string.then_some('"').into_iter();
        quote.chain(open.into_iter().rev()).collect()
    }

    /// Takes away the keys behind its last value. Whether there is a value then, and something that says what it is.
    fn is_structured(&mut self) -> bool {
        let last = self.passages.iter().rposition(|passage| !passage.is_key);
        self.passages.truncate(last.map_or(0, |at| at + 1));
        let mut passages = self.passages.iter();
        passages.any(|passage| !passage.is_key && passage.lead.contains(':'))
    }
}

impl Aside {
    /// Adds what is read beside the text of segment `at` of a request. A reply arrives in pieces, and what is found in
    /// it must not depend on where they end.
    fn add(&mut self, at: usize, text: &str) {
        let wraps = normal::wraps(text);
        self.wraps
            .extend(wraps.map(|(around, line)| ((at, around), line)));
        let answers = normal::answers(text);
        self.answers
            .extend(answers.map(|answer| ((at, answer.question), (at, answer.answer))));
    }
}

/// The readings of a text of this form.
fn readings_of(text: &str, form: Form) -> Readings {
    match form {
        Form::Number => Readings::default(),
        Form::Address => normal::address_readings(text),
        Form::Text | Form::Key | Form::Identifier | Form::Pseudonym => normal::readings(text),
    }
}

/// Between two segments: no word, number or line of one runs into the next.
const SEPARATOR: &str = "\n";
/// Before a key, and what is not the value of the key before it: detectors must not take the one for a label of the
/// other.
const DIVIDER: &str = "\n\n";

/// What stands before a segment. Of texts that have no keys nobody takes one for another's.
const fn separator(origin: Origin, is_keyed: bool) -> &'static str {
    match origin {
        Origin::ToolArguments | Origin::ToolSchema | Origin::Metadata | Origin::Other
            if !is_keyed =>
        {
            DIVIDER
        }
        _ => SEPARATOR,
    }
}

/// The kind whose parts come again.
const NAME: &str = "NAME";
/// The key under which a detector knows whatever is a name as one.
const NAMED: &str = "patient name";

impl TextScan {
    /// Reads every text position. The request stays as it is; it is taken mutably because reading and
    /// rewriting are one walk.
    pub fn of(chat: &mut ChatRequest) -> Self {
        let mut scan = Self::default();
        let mut aside = Aside::default();
        let mut last_part = None;
        let mut last_said: Option<usize> = None;
        let mut last_document = None;
        visit(chat, &mut |spot, text| {
            let at = scan.segments.len();
            if spot.is_tool_definition() {
                if scan.tools.is_empty() {
                    scan.tools.start = at;
                }
                scan.tools.end = at + 1;
            }
            if let Some(message) = spot.message() {
                scan.messages.resize(message + 1, at);
            }
            match spot.joint {
                Joint::Apart => {}
                Joint::First => last_part = Some(at),
                Joint::Next => aside
                    .seams
                    .extend(last_part.replace(at).map(|before| (before, at))),
            }
            scan.take(&[text], spot.origin, spot.form, spot.is_keyed, &mut aside);
            if spot.form == Form::Text {
                aside.add(at, text);
            }
            if let Some(InDocument { number, lead }) = spot.document {
                if last_document.replace(number) != Some(number) {
                    aside.documents.push(Document::new(spot.origin));
                }
                let passage = Passage {
                    lead: lead.to_owned(),
                    segment: at,
                    is_key: spot.form == Form::Key,
                };
                if let Some(document) = aside.documents.last_mut() {
                    document.passages.push(passage);
                }
            }
            let is_said = matches!(spot.origin, Origin::UserText | Origin::AssistantText);
            if is_said
                && spot.joint != Joint::Apart
                && let Some(before) = last_said.replace(at)
                && spot.joint == Joint::First
            {
                aside.answers.extend(scan.answered(before, at));
            }
            None
        });
        scan.read(aside);
        scan
    }

    /// Has the names that earlier turns brought read too, where those turns themselves are read with placeholders in
    /// their place: a detector that has seen a name knows parts of it when they come again.
    #[must_use]
    pub fn recalling(mut self, known: &PlaceholderMap) -> Self {
        let mut names = known.values().filter(|(kind, _)| kind.as_str() == NAME);
        if let Some(first) = names.next() {
            let reading = self
                .reading
                .get_or_insert_with(|| Reading::of(&self.text, &self.segments, Vec::new()));
            for (_, name) in std::iter::once(first).chain(names) {
                reading.push_known(NAMED, name);
            }
        }
        self
    }

    /// Reads texts that are no request, each in its parts and whether it stands behind its key, and the document that they
    /// stand in.
    pub(super) fn of_texts<'t>(
        texts: impl Iterator<Item = ([&'t str; 2], Form, bool)>,
        origin: Origin,
        document: Option<Document>,
    ) -> Self {
        let mut scan = Self::default();
        let mut aside = Aside {
            documents: document.into_iter().collect(),
            ..Aside::default()
        };
        for (text, form, is_keyed) in texts {
            scan.take(&text, origin, form, is_keyed, &mut aside);
        }
        scan.read(aside);
        scan
    }

    /// Takes in one text, given in parts.
    fn take(
        &mut self,
        parts: &[&str],
        origin: Origin,
        form: Form,
        is_keyed: bool,
        aside: &mut Aside,
    ) {
        if !self.text.is_empty() {
            self.text.push_str(separator(origin, is_keyed));
        }
        let start = self.text.len();
        self.text.extend(parts.iter().copied());
        let text = self.text.get(start..).unwrap_or_default();
        let readings = readings_of(text, form);
        if !readings.are_plain() {
            aside.disguised.push((self.segments.len(), readings));
        }
        self.segments.push(Segment {
            start,
            end: self.text.len(),
            origin,
            form,
        });
    }

    /// What the turn in segment `at` answers of what the other side said in segment `before`.
    fn answered(&self, before: usize, at: usize) -> impl Iterator<Item = (Stretch, Stretch)> {
        let origin = |at: usize| self.segments.get(at).map(|segment| segment.origin);
        let is_other = origin(before) != origin(at);
        let said = |at| {
            self.segment_text(at)
                .filter(|_| is_other)
                .unwrap_or_default()
        };
        let answers = normal::answered(said(before), said(at)).into_iter();
        answers.map(move |answer| ((before, answer.question), (at, answer.answer)))
    }

    /// Builds what detectors read, where that is not the text itself.
    fn read(&mut self, aside: Aside) {
        let Aside {
            disguised,
            seams,
            wraps,
            answers,
            mut documents,
        } = aside;
        documents.retain_mut(Document::is_structured);
        let is_plain = disguised.is_empty() && seams.is_empty() && wraps.is_empty();
        if is_plain && answers.is_empty() && documents.is_empty() {
            return;
        }
        let mut reading = Reading::of(&self.text, &self.segments, disguised);
        for (before, at) in seams {
            reading.push_seam(&self.text, &self.segments, before, at);
        }
        for (around, rewrite) in wraps {
            reading.push_wrap(&self.segments, around, rewrite);
        }
        for (question, answer) in answers {
            reading.push_answer(&self.text, &self.segments, question, answer);
        }
        for document in documents {
            reading.push_document(&self.text, &self.segments, document);
        }
        self.reading = Some(reading);
    }

    /// What detectors read, with its segments in order and without overlap; offsets of candidates count here.
    pub fn reading(&self) -> (&str, &[Segment]) {
        match &self.reading {
            Some(reading) => reading.parts(),
            None => (&self.text, &self.segments),
        }
    }

    /// Whether detectors read anything but the text itself.
    pub(super) fn is_disguised(&self) -> bool {
        self.reading.is_some()
    }

    /// A stretch of [`Self::reading`], cut at its segments; with each piece the segment and the bytes of
    /// [`Self::text`] behind it.
    pub(super) fn pieces(&self, reads: Range<usize>) -> Vec<Piece> {
        if let Some(reading) = &self.reading {
            return reading.pieces(reads, &self.segments);
        }
        let first = self.segment_at(reads.start);
        let ahead = self.segments.iter().enumerate().skip(first);
        ahead
            .take_while(|(_, segment)| segment.start < reads.end)
            .map(|(at, segment)| {
                let source = reads.start.max(segment.start)..reads.end.min(segment.end);
                Piece {
                    segment: at,
                    reads: source.clone(),
                    source,
                }
            })
            .collect()
    }

    /// The segment behind a place in [`Self::reading`].
    pub(super) fn segment_behind(&self, offset: usize) -> usize {
        match &self.reading {
            Some(reading) => reading.segment_behind(offset),
            None => self.segment_at(offset),
        }
    }

    /// Where bytes of [`Self::text`] inside one segment are read, in each way that it is read; the plainest comes last.
    fn reads_of(
        &self,
        segment: usize,
        source: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Range<usize>> {
        let reading = self.reading.as_ref();
        let read = reading.map(|reading| reading.reads_of(segment, source.clone(), &self.segments));
        let as_written = reading.is_none().then_some(source);
        as_written.into_iter().chain(read.into_iter().flatten())
    }

    /// What a finding reads as; of a blob, the part that was found.
    pub(super) fn value(&self, finding: &Finding) -> &str {
        let reads = finding.reads.clone().or_else(|| {
            self.reads_of(finding.segment, finding.start..finding.end)
                .next_back()
        });
        self.reading()
            .0
            .get(reads.unwrap_or_default())
            .unwrap_or_default()
    }

    /// What tells a finding's value from others: what it reads as, or the whole of a blob in which more was
    /// found than the value.
    pub(super) fn identity(&self, finding: &Finding) -> &str {
        let value = self.value(finding);
        let source = finding.start..finding.end;
        let mut wholes = self.reads_of(finding.segment, source.clone());
        if wholes.any(|whole| self.reading().0.get(whole) == Some(value)) {
            value
        } else {
            self.text.get(source).unwrap_or_default()
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

    /// Positions in [`Self::segments`] that belong to so many messages at the front.
    pub(super) fn first_messages(&self, count: usize) -> Range<usize> {
        let start = |message: usize| {
            let found = self.messages.get(message);
            found.copied().unwrap_or(self.segments.len())
        };
        start(0)..start(count)
    }

    /// Whether a finding is one of this text: what is not cannot be replaced.
    pub(super) fn holds(&self, finding: &Finding) -> bool {
        let segment = self.segments.get(finding.segment);
        segment.is_some_and(|segment| segment.start <= finding.start && finding.end <= segment.end)
            && self.text.get(finding.start..finding.end).is_some()
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
