//! The first row of a table: which of its cells are labels, and which only number or decorate. Shared by tables of all
//! kinds; reads no values.

use super::{MAX_LABEL_BYTES, is_edge, is_of_label};
use crate::chunk;
use crate::text::{byte, is_word};

/// Columns of one table; those behind it have no label.
pub(super) const MAX_COLUMNS: usize = 128;
/// Words of the longest label of a column.
const MAX_WORDS: usize = 5;
/// Columns of a table that may have no label: the number of the row, and another one.
const MAX_UNLABELLED: usize = 2;

pub(super) type Cells = [(usize, usize); MAX_COLUMNS];

/// Labels of the columns of one table.
pub(super) struct Labels {
    cells: Box<[(usize, usize)]>,
    pub(super) count: usize,
    /// Whether every cell with a word is a label.
    pub(super) is_whole: bool,
}

impl Labels {
    /// The labels in the first `count` of `cells`, where they are a header; the cells are trimmed to them.
    pub(super) fn read(text: &[u8], cells: &mut Cells, count: usize) -> Option<Self> {
        let mut labels = 0;
        let mut is_whole = true;
        for cell in cells.iter_mut().take(count) {
            *cell = bare(text, cell.0, cell.1).unwrap_or_default();
            let label = text.get(cell.0..cell.1).unwrap_or_default();
            // A line of JSON is none: `"minimal": ["PatientID", "PatientName"],`.
            if label.contains(&b'"') && label.windows(2).any(|pair| pair == b"\":") {
                return None;
            }
            if !label.iter().any(|byte| is_word(*byte)) {
                // `#` and `%` are above what needs no label.
                *cell = (0, 0);
            } else if is_column(label) {
                labels += 1;
            } else if is_said(label) {
                // `2nd visit`, `Total ($)`: above what needs none either.
                *cell = (0, 0);
                is_whole = false;
            } else {
                return None;
            }
        }
        if is_list(text, cells.get(..count).unwrap_or_default()) {
            return None;
        }
        // Before the first and behind the last separator a line of Markdown has nothing.
        let edges = [0, count.saturating_sub(1)];
        let empty = edges
            .iter()
            .filter(|edge| cells.get(**edge) == Some(&(0, 0)))
            .count();
        (labels >= 2 && labels + MAX_UNLABELLED + empty >= count).then(|| Self {
            cells: cells.iter().copied().take(count).collect(),
            count,
            is_whole,
        })
    }

    /// The label of the column; nothing where it has none.
    pub(super) fn of<'t>(&self, text: &'t [u8], column: usize) -> Option<&'t [u8]> {
        let (start, end) = *self.cells.get(column)?;
        text.get(start..end).filter(|label| !label.is_empty())
    }

    /// Where the labels stand.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        self.cells.iter().copied()
    }
}

/// Whether `label` can be the label of a column: few words that begin with a letter.
fn is_column(label: &[u8]) -> bool {
    label.len() <= MAX_LABEL_BYTES / 2
        && label.first().is_some_and(u8::is_ascii_alphabetic)
        && chunk::count(label, b' ') < MAX_WORDS
        && label
            .iter()
            .all(|byte| is_of_label(*byte) || *byte >= 0x80 || b"%'?+&".contains(byte))
}

/// Whether a cell has words and is no value: a header may have one that no label looks like.
fn is_said(label: &[u8]) -> bool {
    let letters = label
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic() || **byte >= 0x80);
    let digits = label.iter().filter(|byte| byte.is_ascii_digit());
    // A longer one is a sentence, whose commas make no table.
    let words = label.split(|byte| *byte == b' ').count();
    label.len() <= 40 && words <= MAX_WORDS + 1 && letters.count() > 2 && digits.count() < 3
}

/// Whether only the first cell has a label of its own: `Surgeon: Ann Poe, MD` is one label with a list behind it.
fn is_list(text: &[u8], cells: &[(usize, usize)]) -> bool {
    let mut have_labels = cells.iter().map(|(start, end)| {
        let cell = text.get(*start..*end).unwrap_or_default();
        cell.windows(2).any(|pair| pair == b": ")
    });
    have_labels.next() == Some(true) && !have_labels.any(|has_label| has_label)
}

/// As [`super::trimmed`], also without the stars of bold words.
pub(super) fn bare(text: &[u8], mut start: usize, mut end: usize) -> Option<(usize, usize)> {
    let is_edge = |at: usize| is_edge(text, at) || byte(text, at) == b'*';
    while start < end && is_edge(start) {
        start += 1;
    }
    while start < end && is_edge(end - 1) {
        end -= 1;
    }
    (start < end).then_some((start, end))
}

/// Whether a line only divides others: `---+---`, `|:--|--:|`, `=== ===`.
pub(super) fn is_rule(line: &[u8]) -> bool {
    let is_of_rule = |byte: &u8| {
        matches!(
            byte,
            b'-' | b'+' | b'=' | b'|' | b':' | b' ' | b'\t' | b'\r'
        )
    };
    line.iter().all(is_of_rule) && line.windows(2).any(|pair| matches!(pair, b"--" | b"=="))
}
