//! Cutting a text into pieces that a detector takes in one call.
//!
//! Whole segments travel together while they fit; a segment that is too long by itself is cut between its records, else
//! at white space, and the pieces overlap, so that a finding across a cut is whole in one of them. Before a later piece
//! goes what says what is in it: the header of its table.
//!
//! Where a detector reads texts apart, a long one goes alone, and shorter ones go together up to a size. So what stays the
//! same from turn to turn, or from request to request, is in windows that stay the same.

mod heading;

use std::borrow::Cow;
use std::ops::Range;

use svc_core::phi::Origin;

use crate::detector::Segment;
use heading::Headings;

/// How a detector takes texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// Of one window.
    pub(crate) max_bytes: usize,
    /// Read twice where a segment is cut.
    pub(crate) overlap_bytes: usize,
    /// What it finds in what people, models and programs say depends on nothing that is said elsewhere.
    pub(crate) is_apart: bool,
}

/// Longest text that does not go alone: to call a detector costs as much as to read 100 bytes.
const TOGETHER_BYTES: usize = 1024;
/// Of shorter ones as many as make up so much.
const SHARED_BYTES: usize = 8 * 1024;

/// One call's share of the text: absolute bytes, and the segments (or pieces of one) inside.
pub struct Window {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) segments: Vec<Segment>,
    /// What a detector reads before the text of the only segment, as if it were a part of it. It comes from no
    /// segment: nothing is found in it.
    heading: String,
}

impl Window {
    /// One that covers a segment.
    pub fn of(segment: Segment) -> Self {
        Self {
            start: segment.start,
            end: segment.end,
            segments: vec![segment],
            heading: String::new(),
        }
    }

    /// The first byte of the text that it covers.
    pub const fn start(&self) -> usize {
        self.start
    }

    /// What tells it from all other windows of the same text: the bytes that it covers, and those that are read before.
    pub const fn bounds(&self) -> (usize, usize, usize) {
        (self.start, self.end, self.heading.len())
    }

    /// The segments, in bytes of what a detector is given.
    pub fn stretches(&self) -> impl ExactSizeIterator<Item = Segment> + '_ {
        self.segments.iter().map(|segment| {
            let Range { start, end } = self.stretch(segment);
            Segment {
                start,
                end,
                origin: segment.origin,
            }
        })
    }

    /// What a detector is given; nothing where the window is not inside of the text.
    pub fn read<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        let own = text.get(self.start..self.end)?;
        Some(match self.heading.as_str() {
            "" => Cow::Borrowed(own),
            heading => Cow::Owned([heading, own].concat()),
        })
    }

    /// Where a segment of the window stands in what a detector is given.
    fn stretch(&self, segment: &Segment) -> Range<usize> {
        segment.start - self.start..segment.end - self.start + self.heading.len()
    }

    /// Where in the text a finding stands that a detector gave; nothing where all of it is in the heading.
    pub(crate) fn place(&self, found: &Range<usize>) -> Option<Range<usize>> {
        let own = |at: usize| at.saturating_sub(self.heading.len()) + self.start;
        (self.heading.is_empty() || found.end > self.heading.len())
            .then(|| own(found.start)..own(found.end))
    }
}

/// Windows that cover all segments; none when there is nothing to scan.
pub(crate) fn windows(text: &str, segments: &[Segment], reach: Reach) -> Vec<Window> {
    let Reach {
        max_bytes,
        overlap_bytes,
        is_apart,
    } = reach;
    let mut windows: Vec<Window> = Vec::new();
    for segment in segments
        .iter()
        .filter(|segment| segment.start < segment.end)
    {
        if segment.end - segment.start > max_bytes {
            windows.extend(pieces(text, segment, max_bytes, overlap_bytes));
            continue;
        }
        match windows.last_mut() {
            Some(window)
                if segment.end - window.start <= max_bytes && window.goes_on(segment, is_apart) =>
            {
                window.end = segment.end;
                window.segments.push(*segment);
            }
            _ => windows.push(Window::of(*segment)),
        }
    }
    windows
}

impl Window {
    /// Whether a segment behind it is read together with it.
    fn goes_on(&self, next: &Segment, is_apart: bool) -> bool {
        // A heading is read before the text of one segment alone.
        if !self.heading.is_empty() {
            return false;
        }
        let Some(last) = self.segments.last().filter(|_| is_apart) else {
            return true;
        };
        let is_long = |segment: &Segment| {
            is_text(segment.origin) && segment.end - segment.start > TOGETHER_BYTES
        };
        let is_full = self.end - self.start >= SHARED_BYTES && is_text(next.origin);
        !is_long(last) && !is_long(next) && !is_full && !ends_definitions(last, next)
    }
}

/// Whether a text is somebody's words, and no key, value or name.
const fn is_text(origin: Origin) -> bool {
    match origin {
        Origin::SystemPrompt
        | Origin::UserText
        | Origin::AssistantText
        | Origin::ToolDescription
        | Origin::ToolResult => true,
        Origin::ToolName
        | Origin::ToolSchema
        | Origin::ToolArguments
        | Origin::Metadata
        | Origin::Other => false,
    }
}

/// Whether the definitions of tools are behind us. The names of those that are called stand alone.
const fn ends_definitions(last: &Segment, next: &Segment) -> bool {
    matches!(last.origin, Origin::ToolDescription | Origin::ToolSchema)
        && !matches!(
            next.origin,
            Origin::ToolName | Origin::ToolDescription | Origin::ToolSchema
        )
}

fn pieces(text: &str, segment: &Segment, max_bytes: usize, overlap_bytes: usize) -> Vec<Window> {
    let mut pieces = Vec::new();
    let mut headings = Headings::new(text, segment.start);
    let (mut start, mut heading) = (segment.start, String::new());
    loop {
        let own_bytes = max_bytes - heading.len();
        let end = if segment.end - start <= own_bytes {
            segment.end
        } else {
            // White space in the second half, else any character border.
            cut(
                text,
                start + own_bytes / 2 + overlap_bytes.min(own_bytes / 4),
                start + own_bytes,
            )
        };
        let last = std::mem::replace(&mut start, end);
        pieces.push(Window {
            start: last,
            end,
            segments: vec![Segment {
                start: last,
                end,
                ..*segment
            }],
            heading: std::mem::take(&mut heading),
        });
        if end == segment.end {
            return pieces;
        }
        let overlap = text.floor_char_boundary(end - overlap_bytes);
        // At most half of the text that was read is read again.
        let earliest = text.floor_char_boundary(last + (end - last) / 2);
        headings.read_to(overlap);
        start = headings
            .record(earliest, overlap)
            .unwrap_or_else(|| after_space(text, overlap, end));
        heading = headings.before(start, max_bytes / 4);
    }
}

/// The last place in `low..=high` that follows the end of a line, else white space, else the last character border.
fn cut(text: &str, low: usize, high: usize) -> usize {
    let high = text.floor_char_boundary(high);
    let low = text.floor_char_boundary(low);
    let part = text.get(low..high).unwrap_or_default();
    let space = part
        .rfind(['\n', '\r'])
        .or_else(|| part.rfind(|char: char| char.is_ascii_whitespace()));
    space.map_or(high, |at| low + at + 1)
}

/// The first place from `low` on that follows white space and leaves an overlap, else `low`.
fn after_space(text: &str, low: usize, end: usize) -> usize {
    let space = text
        .get(low..end)
        .and_then(|part| part.find(|char: char| char.is_ascii_whitespace()));
    space
        .map(|at| low + at + 1)
        .filter(|start| *start < end)
        .unwrap_or(low)
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used)]
mod tests {
    use super::*;

    fn segment(start: usize, end: usize) -> Segment {
        of(Origin::UserText, start, end)
    }

    fn of(origin: Origin, start: usize, end: usize) -> Segment {
        Segment { start, end, origin }
    }

    /// The windows of a detector that reads all texts of a request together.
    fn windows(
        text: &str,
        segments: &[Segment],
        max_bytes: usize,
        overlap_bytes: usize,
    ) -> Vec<Window> {
        let reach = Reach {
            max_bytes,
            overlap_bytes,
            is_apart: false,
        };
        super::windows(text, segments, reach)
    }

    /// Those of one that reads them apart; where each ends.
    fn apart(segments: &[Segment]) -> Vec<usize> {
        let text = "word ".repeat(20_000);
        let reach = Reach {
            max_bytes: 64 * 1024,
            overlap_bytes: 64,
            is_apart: true,
        };
        let all = super::windows(&text, segments, reach);
        let count: usize = all.iter().map(|window| window.segments.len()).sum();
        assert_eq!(count, segments.len());
        all.iter().map(|window| window.end).collect()
    }

    #[test]
    fn a_long_text_goes_alone_and_short_ones_go_together() {
        let long = 2_000;
        let talk = |prompt_bytes: usize, turns: usize| {
            let mut segments = vec![of(Origin::SystemPrompt, 0, prompt_bytes)];
            for turn in 0..turns {
                let start = prompt_bytes + 1 + 500 * turn;
                segments.push(segment(start, start + 499));
            }
            segments
        };
        assert_eq!(apart(&talk(100, 2)), [1_100]);
        assert_eq!(apart(&talk(long, 2)), [long, long + 1_000]);
        // A conversation that has grown has the same windows before its last.
        let (before, after) = (apart(&talk(long, 40)), apart(&talk(long, 50)));
        assert!(before.len() > 3);
        assert_eq!(before[..before.len() - 1], after[..before.len() - 1]);
    }

    #[test]
    fn keys_stay_with_their_values_and_definitions_end_a_window() {
        let tool = [
            of(Origin::ToolName, 0, 10),
            of(Origin::ToolDescription, 11, 500),
            of(Origin::ToolSchema, 501, 510),
            of(Origin::ToolSchema, 511, 6_000),
        ];
        let said = [segment(6_001, 6_050)];
        let call = [
            of(Origin::ToolName, 6_051, 6_060),
            of(Origin::ToolArguments, 6_061, 6_070),
            of(Origin::ToolArguments, 6_071, 16_000),
            of(Origin::ToolArguments, 16_002, 16_010),
            of(Origin::ToolArguments, 16_011, 16_020),
        ];
        let all = [&tool[..], &said, &call].concat();
        assert_eq!(apart(&all), [6_000, 16_020]);
    }

    #[test]
    fn small_segments_share_a_window_and_large_ones_overlap() {
        let text = "word ".repeat(400);
        let all = windows(
            &text,
            &[segment(0, 10), segment(10, 20), segment(20, 2_000)],
            256,
            32,
        );
        assert_eq!(
            (all[0].start, all[0].end, all[0].segments.len()),
            (0, 20, 2)
        );
        for pair in all[1..].windows(2) {
            assert!(pair[0].end - pair[0].start <= 256);
            assert!(
                pair[1].start > pair[0].start && pair[1].start <= pair[0].end - 5,
                "pieces overlap"
            );
            assert_eq!(&text[pair[0].end - 1..pair[0].end], " ");
        }
        assert_eq!(all.last().map(|window| window.end), Some(2_000));
    }

    #[test]
    fn text_without_white_space_is_cut_on_character_borders() {
        let text = "é".repeat(2_000);
        let all = windows(&text, &[segment(0, text.len())], 1_025, 33);
        assert!(all.len() > 3);
        assert!(
            all.iter()
                .all(|window| text.get(window.start..window.end).is_some())
        );
        assert!(all.windows(2).all(|pair| pair[1].start < pair[0].end));
    }

    /// What a detector reads of each piece of a text that is one segment.
    fn read(text: &str) -> Vec<String> {
        let all = windows(text, &[segment(0, text.len())], 1_024, 64);
        assert!(all.len() > 3, "{}", all.len());
        assert_eq!((all[0].start, all.last().unwrap().end), (0, text.len()));
        assert!(all.windows(2).all(|pair| pair[1].start < pair[0].end));
        let read = all
            .iter()
            .map(|window| window.read(text).unwrap().into_owned());
        let read: Vec<String> = read.collect();
        assert!(read.iter().all(|part| part.len() <= 1_024));
        read
    }

    /// The lines or records of a table, each with its number.
    fn records(one: impl Fn(usize) -> String) -> String {
        (1_000..1_400).map(one).collect()
    }

    #[test]
    fn every_piece_of_a_table_begins_with_its_header_and_a_whole_row() {
        for (separator, rule) in [(",", ""), ("\t", ""), (" | ", "---|---|---\n"), ("   ", "")] {
            let header = format!("{}\n{rule}", ["mrn", "name", "city"].join(separator));
            let row =
                |number| format!("{}\n", [&format!("{number}"), "Ann", "Rye"].join(separator));
            let text = format!("The census, as asked:\n\n{header}{}", records(row));
            for part in &read(&text)[1..] {
                assert!(part.starts_with(&header), "{part}");
                let own = part.split_inclusive('\n').skip(heading::HEAD_LINES);
                assert!(
                    own.clone().count() > 5
                        && own.clone().all(|line| line.len() == row(0).len() + 3)
                );
            }
        }
    }

    #[test]
    fn a_line_may_end_with_two_signs() {
        let text = format!(
            "mrn,name\r\n{}",
            records(|number| format!("{number},Ann\r\n"))
        );
        for part in &read(&text)[1..] {
            assert!(part.starts_with("mrn,name\r\n1000,Ann"), "{part}");
        }
    }

    #[test]
    fn lists_tuples_and_rows_begin_behind_what_says_what_is_in_them() {
        let cases = [
            (
                "INSERT INTO visits (mrn, name) VALUES ",
                "INSERT INTO visits (mrn, name) VALUES\n(",
                records(|number| format!("({number}, 'Ann'),")),
            ),
            (
                "{\"columns\": [\"mrn\", \"name\"], \"data\": [[0, \"Bo\"],",
                "\"columns\": [\"mrn\", \"name\"]\n[[0, \"Bo\"]\n,[",
                records(|number| format!("[{number}, \"Ann\"],")),
            ),
            (
                "<table><tr><th>MRN</th><th>Name</th></tr>",
                "<table><tr><th>MRN</th><th>Name</th></tr>\n<tr>",
                records(|number| format!("<tr>\n<td>{number}</td>\n<td>Ann</td>\n</tr>\n")),
            ),
        ];
        for (head, begins, records) in cases {
            for part in &read(&format!("{head}{records}"))[1..] {
                assert!(part.starts_with(begins), "{part}");
            }
        }
    }

    #[test]
    fn a_table_that_has_ended_heads_nothing() {
        let table = format!("a,b,c\n{}", "1,2,3\n".repeat(100));
        let html = format!(
            "<table><tr><td>a</td></tr>{}</table>",
            "<tr></tr>".repeat(100)
        );
        let talk = "She is well and has no pain.\n".repeat(100);
        for part in &read(&format!("{table}{html}\n{talk}"))[4..] {
            assert!(part.starts_with("She"), "{part}");
        }
    }

    #[test]
    fn the_segment_behind_a_table_has_a_window_of_its_own() {
        let table = format!("a,b\n{}", "1,2\n".repeat(600));
        let text = format!("{table}She is well.");
        let segments = [segment(0, table.len()), segment(table.len(), text.len())];
        let all = windows(&text, &segments, 1_024, 64);
        let last = all.last().unwrap().read(&text);
        assert_eq!(last.as_deref(), Some("She is well."));
    }

    #[test]
    fn what_is_found_in_a_heading_is_nothing_and_the_rest_is_where_it_stands() {
        let text = format!("a,b\n{}", "1,2\n".repeat(600));
        let all = windows(&text, &[segment(0, text.len())], 1_024, 64);
        let window = &all[1];
        let heading = window.stretch(&window.segments[0]).end - (window.end - window.start);
        assert_eq!(window.place(&(0..heading)), None);
        let found = heading..heading + 3;
        let place = window.place(&found).unwrap();
        assert_eq!(place, window.start..window.start + 3);
        assert_eq!(window.read(&text).unwrap()[found], text[place]);
        let place = window.place(&(heading - 1..heading + 1)).unwrap();
        assert_eq!(place, window.start..window.start + 1);
    }
}
