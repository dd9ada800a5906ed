//! Tables of HTML: a row of `th`, or of `td` that are labels, and rows of as many cells below.

use super::Visit;
use super::header::{Cells, Labels, MAX_COLUMNS, bare};
use crate::chunk;
use crate::text::{byte, starts};

/// Elements that a cell has around its text.
const MAX_INNER: usize = 4;
/// Bytes of the longest element with its attributes; a longer one is not read, so that one without an end costs little.
const MAX_ELEMENT_BYTES: usize = 1024;

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut row = Row::default();
    let mut header: Option<Labels> = None;
    let mut at = 0;
    while let Some(open) = chunk::next_of(text, at, [b'<']) {
        at = open + 1;
        let name = text.get(at..).unwrap_or_default();
        if is_element(name, b"tr") {
            row = Row::default();
        } else if is_element(name, b"th") || is_element(name, b"td") {
            row.has_labels |= is_element(name, b"th");
            row.push(cell(text, at));
        } else if is_element(name, b"/tr") {
            header = row.end(text, header, visit);
            row = Row::default();
        } else if is_element(name, b"/table") {
            header = None;
        }
    }
}

struct Row {
    cells: Cells,
    count: usize,
    has_labels: bool,
}

impl Default for Row {
    fn default() -> Self {
        Self {
            cells: [(0, 0); MAX_COLUMNS],
            count: 0,
            has_labels: false,
        }
    }
}

impl Row {
    fn push(&mut self, cell: (usize, usize)) {
        if let Some(slot) = self.cells.get_mut(self.count) {
            *slot = cell;
            self.count += 1;
        }
    }

    /// Visits the row under its header, or gives the header that it is.
    fn end(mut self, text: &[u8], header: Option<Labels>, visit: &mut Visit<'_>) -> Option<Labels> {
        let Some(labels) = header.filter(|labels| labels.count == self.count) else {
            // Two cells are a label with its value.
            return (self.has_labels || self.count > 2)
                .then(|| Labels::read(text, &mut self.cells, self.count))
                .flatten();
        };
        for (column, cell) in self.cells.iter().enumerate().take(self.count) {
            if let (Some(label), Some((start, end))) =
                (labels.of(text, column), bare(text, cell.0, cell.1))
            {
                visit(label, start, end);
            }
        }
        Some(labels)
    }
}

/// Whether an element of the name begins here, behind its `<`.
fn is_element(text: &[u8], name: &[u8]) -> bool {
    starts(text, name) && !byte(text, name.len()).is_ascii_alphanumeric()
}

/// The text of the cell whose name is at `at`, without the elements around it.
fn cell(text: &[u8], at: usize) -> (usize, usize) {
    let mut start = at;
    for _ in 0..MAX_INNER {
        let near = text.get(..text.len().min(start + MAX_ELEMENT_BYTES));
        let Some(close) = near.and_then(|near| chunk::next_of(near, start, [b'>'])) else {
            return (0, 0);
        };
        start = close + 1;
        let is_inner = byte(text, start) == b'<' && byte(text, start + 1) != b'/';
        if !is_inner || is_element(text.get(start + 1..).unwrap_or_default(), b"td") {
            break;
        }
    }
    let end = chunk::next_of(text, start, [b'<']).unwrap_or(text.len());
    (start, end)
}
