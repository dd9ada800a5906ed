//! Tables whose columns are apart by two spaces or more, as programs print them for people: a line of labels, perhaps
//! a rule, and lines of values below.

use super::Visit;
use super::header::{Cells, Labels, MAX_COLUMNS, bare, is_rule};
use crate::chunk;
use crate::text::{byte, byte_before};

/// Fewest columns that make a table where no rule says that it is one: two are a label with its value.
const MIN_COLUMNS: usize = 3;

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut header: Option<Header> = None;
    // Where the line of the gap begins, and where the one would that goes on with the table.
    let (mut line, mut next) = (0, 0);
    let mut cells = [(0, 0); MAX_COLUMNS];
    let mut at = 0;
    while let Some(gap) = chunk::next_double(text, at, b' ') {
        if gap == 0 || byte_before(text, gap) == b'\n' {
            // What is indented is no table yet.
            at = skip_spaces(text, gap);
            continue;
        }
        while let Some(end) = chunk::next_of(text.get(..gap).unwrap_or_default(), line, [b'\n']) {
            line = end + 1;
        }
        let end = chunk::next_of(text, gap, [b'\n']).unwrap_or(text.len());
        let between = text.get(next..line).unwrap_or_default().trim_ascii_end();
        header = header.filter(|_| next == line || is_rule(between));
        let is_ruled = next < line || is_rule(text.get(line..end).unwrap_or_default());
        (at, next) = (end, end + 1);
        if let Some(header) = &mut header
            && is_ruled
        {
            header.is_ruled = true;
        }
        // Sentences may be two spaces apart.
        if header.is_none() && ENDS.contains(&byte_before(text, gap)) {
            continue;
        }
        let count = split(text, line, end, &mut cells);
        match &header {
            Some(header) => header.row(text, line, &cells, count, visit),
            None => header = Header::read(text, line, &mut cells, count),
        }
    }
}

/// What a label ends with that has its value behind it, and what a sentence ends with.
const ENDS: &[u8] = b":.,;!?";

struct Header {
    labels: Labels,
    /// Where its line begins.
    start: usize,
    is_ruled: bool,
}

impl Header {
    fn read(text: &[u8], start: usize, cells: &mut Cells, count: usize) -> Option<Self> {
        let is_other = cells
            .iter()
            .take(count)
            .any(|cell| ENDS.contains(&byte_before(text, cell.1)));
        (!is_other).then_some(Self {
            labels: Labels::read(text, cells, count)?,
            start,
            is_ruled: false,
        })
    }

    fn row(&self, text: &[u8], start: usize, cells: &Cells, count: usize, visit: &mut Visit<'_>) {
        if !self.is_ruled && self.labels.count.max(count) < MIN_COLUMNS {
            return;
        }
        for (index, cell) in cells.iter().enumerate().take(count) {
            let column = if count == self.labels.count {
                Some(index)
            } else {
                self.column(start, *cell)
            };
            if let Some(label) = column.and_then(|column| self.labels.of(text, column))
                && let Some((from, to)) = bare(text, cell.0, cell.1)
            {
                visit(label, from, to);
            }
        }
    }

    /// The column whose label begins or ends where the cell does, in lines of another number of cells.
    fn column(&self, start: usize, cell: (usize, usize)) -> Option<usize> {
        self.labels.places().position(|label| {
            label.1 > 0
                && (label.0 - self.start == cell.0 - start
                    || label.1 - self.start == cell.1 - start)
        })
    }
}

/// The cells of a line; gives how many there are.
fn split(text: &[u8], start: usize, end: usize, cells: &mut Cells) -> usize {
    let line = text.get(..end).unwrap_or_default();
    let line = line.trim_ascii_end();
    let mut count = 0;
    let mut from = skip_spaces(line, start);
    while from < line.len() {
        let gap = chunk::next_double(line, from, b' ').unwrap_or(line.len());
        let Some(slot) = cells.get_mut(count) else {
            return count;
        };
        *slot = (from, gap);
        count += 1;
        from = skip_spaces(line, gap);
    }
    count
}

fn skip_spaces(line: &[u8], mut at: usize) -> usize {
    while byte(line, at) == b' ' {
        at += 1;
    }
    at
}
