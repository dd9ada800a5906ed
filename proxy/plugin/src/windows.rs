//! Cutting a text into pieces that a detector takes in one call.
//!
//! Whole segments travel together while they fit; a segment that is too long by itself is cut between its records, else
//! at white space, and the pieces overlap, so that a finding across a cut is whole in one of them. Before a later piece
//! goes what says what is in it: the header of its table.

mod heading;

use std::borrow::Cow;
use std::ops::Range;

use crate::detector::Segment;
use heading::Headings;

/// One call's share of the text: absolute bytes, and the segments (or pieces of one) inside.
pub(crate) struct Window {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) segments: Vec<Segment>,
    /// What a detector reads before the text of the only segment, as if it were a part of it. It comes from no
    /// segment: nothing is found in it.
    heading: String,
}

impl Window {
    /// What a detector is given; nothing where the window is not inside of the text.
    pub(crate) fn read<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        let own = text.get(self.start..self.end)?;
        Some(match self.heading.as_str() {
            "" => Cow::Borrowed(own),
            heading => Cow::Owned([heading, own].concat()),
        })
    }

    /// Where a segment of the window stands in what a detector is given.
    pub(crate) fn stretch(&self, segment: &Segment) -> Range<usize> {
        segment.start - self.start..segment.end - self.start + self.heading.len()
    }

    /// Where in the text a finding stands that a detector gave; nothing where all of it is in the heading.
    pub(crate) fn place(&self, found: &Range<usize>) -> Option<Range<usize>> {
        let own = |at: usize| at.saturating_sub(self.heading.len()) + self.start;
        (self.heading.is_empty() || found.end > self.heading.len())
            .then(|| own(found.start)..own(found.end))
    }
}

/// Windows of at most `max_bytes` that cover all segments; none when there is nothing to scan.
pub(crate) fn windows(
    text: &str,
    segments: &[Segment],
    max_bytes: usize,
    overlap_bytes: usize,
) -> Vec<Window> {
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
            // A heading is read before the text of one segment alone.
            Some(window)
                if window.heading.is_empty() && segment.end - window.start <= max_bytes =>
            {
                window.end = segment.end;
                window.segments.push(*segment);
            }
            _ => windows.push(Window {
                start: segment.start,
                end: segment.end,
                segments: vec![*segment],
                heading: String::new(),
            }),
        }
    }
    windows
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
    use svc_core::phi::Origin;

    fn segment(start: usize, end: usize) -> Segment {
        Segment {
            start,
            end,
            origin: Origin::UserText,
        }
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
