//! Cutting a text into pieces that a detector takes in one call.
//!
//! Whole segments travel together while they fit; a segment that is too long by itself is cut at white space and
//! the pieces overlap, so that a finding across a cut is whole in one of them.

use crate::detector::Segment;

/// One call's share of the text: absolute bytes, and the segments (or pieces of one) inside.
pub(crate) struct Window {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) segments: Vec<Segment>,
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
            Some(window) if segment.end - window.start <= max_bytes => {
                window.end = segment.end;
                window.segments.push(*segment);
            }
            _ => windows.push(Window {
                start: segment.start,
                end: segment.end,
                segments: vec![*segment],
            }),
        }
    }
    windows
}

fn pieces(text: &str, segment: &Segment, max_bytes: usize, overlap_bytes: usize) -> Vec<Window> {
    let mut pieces = Vec::new();
    let mut start = segment.start;
    loop {
        let end = if segment.end - start <= max_bytes {
            segment.end
        } else {
            // White space in the second half, else any character border.
            cut(
                text,
                start + max_bytes / 2 + overlap_bytes.min(max_bytes / 4),
                start + max_bytes,
            )
        };
        pieces.push(Window {
            start,
            end,
            segments: vec![Segment {
                start,
                end,
                ..*segment
            }],
        });
        if end == segment.end {
            return pieces;
        }
        start = after_space(text, text.floor_char_boundary(end - overlap_bytes), end);
    }
}

/// The last place in `low..=high` that follows white space, else the last character border.
fn cut(text: &str, low: usize, high: usize) -> usize {
    let high = text.floor_char_boundary(high);
    let low = text.floor_char_boundary(low);
    let space = text
        .get(low..high)
        .and_then(|part| part.rfind(|char: char| char.is_ascii_whitespace()));
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
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::detector::Origin;

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
}
