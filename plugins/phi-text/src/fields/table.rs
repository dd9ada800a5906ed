//! Tables: lines of cells under a header (CSV, tabs, pipes, Markdown), and the columns of an SQL `INSERT`.

use super::header::{Cells, Labels, MAX_COLUMNS, bare, is_rule};
use super::record::{self, is_beginning};
use super::{MAX_LABEL_BYTES, Visit, is_label, trimmed};
use crate::chunk;
use crate::text::{byte, is_word, starts};

/// Fewest columns that make a table of lines.
const MIN_COLUMNS: usize = 2;

/// Bytes of one tuple of values; a longer one is not read, so that a lost quote costs little.
const MAX_TUPLE_BYTES: usize = 8 * 1024;

/// What cells are apart by.
const SEPARATORS: [u8; 4] = [b',', PIPE, b'\t', b';'];
const PIPE: u8 = b'|';
/// Where it stands among them.
const BAR: usize = 1;

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    /// Bytes that are passed over together where all are letters and spaces, as most are.
    const BYTES: usize = 8;
    let sign = |byte: &u8| TABLE_SIGNS.get(usize::from(*byte)).copied();
    let mut lines = Lines {
        start: 0,
        counts: [0; SEPARATORS.len()],
        quoted: false,
        is_inside: false,
        is_record: false,
        headers: Default::default(),
        cells: [(0, 0); MAX_COLUMNS],
    };
    let mut take = |at: usize, bytes: &[u8]| {
        let signs = bytes.iter().filter_map(sign).enumerate();
        let mut here = signs.fold(0, |here, (bit, sign)| {
            here | u32::from(sign != NO_SIGN) << bit
        });
        while here != 0 {
            let index = here.trailing_zeros() as usize;
            if let Some(sign) = bytes.get(index).and_then(sign) {
                lines.take(text, at + index, sign, visit);
            }
            here &= here - 1;
        }
    };
    let (chunks, rest) = text.as_chunks::<BYTES>();
    for (index, chunk) in chunks.iter().enumerate() {
        let together = chunk.iter().filter_map(sign);
        if together.fold(NO_SIGN, |signs, sign| signs & sign) != NO_SIGN {
            take(index * BYTES, chunk);
        }
    }
    take(text.len() - rest.len(), rest);
    lines.end(text, text.len(), visit);
}

/// Visits the values of rows of SQL, where `(` follows a word that ends as `VALUES` does.
pub(super) fn statements(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(open) = chunk::next_of(text, at, [b'(']) {
        let head = text.get(open.saturating_sub(8)..open).unwrap_or_default();
        if matches!(head.trim_ascii_end(), [.., b'e' | b'E', b's' | b'S']) {
            if find(text, 0, VALUES).is_some() {
                inserts(text, visit);
                named_rows(text, visit);
            }
            return;
        }
        at = open + 1;
    }
}

/// The line that is read, and what those before it are for each separator. A line of labels has lines of as many cells
/// below it, until one has not as many.
struct Lines {
    start: usize,
    /// How many of each separator the line has so far.
    counts: [usize; SEPARATORS.len()],
    quoted: bool,
    /// Whether the lines are those of a string: `{"csv": "mrn,sex\n60417,F"}`.
    is_inside: bool,
    /// Whether the lines are those of a record that said that it is one: what stands before a bar is a label.
    is_record: bool,
    headers: [Header; SEPARATORS.len()],
    /// Room for the cells of one line.
    cells: Cells,
}

#[derive(Default)]
enum Header {
    #[default]
    None,
    /// A line that may be one.
    Line(Line),
    Labels(Table),
}

/// Where a line stands, and how many columns it has.
#[derive(Clone, Copy)]
struct Line {
    place: (usize, usize),
    columns: usize,
}

/// A header, and the lines below it that have other cells than it has labels: notes run over two lines, exports have
/// blank ones.
struct Table {
    labels: Labels,
    /// How many there were since the last row.
    odd: usize,
    /// The last of them, which may begin another table.
    last: Option<Line>,
}

/// Lines in a row that may have other cells.
const MAX_ODD: usize = 3;
/// Bytes of the end of a line, at most.
const END_BYTES: usize = 2;
/// Columns of a table that a blank line does not end.
const WIDE: usize = 3;

impl Lines {
    /// Takes the sign at `at` in.
    fn take(&mut self, text: &[u8], at: usize, sign: u8, visit: &mut Visit<'_>) {
        match sign {
            QUOTE => self.quote(text, at, visit),
            // Where a line ends with both, the second one ends it.
            LINE if byte(text, at) == b'\r' && byte(text, at + 1) == b'\n' => {}
            LINE if self.quoted && closes(text, at) => {}
            LINE => self.end(text, at, visit),
            column => {
                let count = self.counts.get_mut(usize::from(column));
                if let Some(count) = count.filter(|_| !self.quoted) {
                    *count += 1;
                }
            }
        }
    }

    /// A quote begins or ends a cell, or a string of a program that has a table inside. `66"` is a height.
    fn quote(&mut self, text: &[u8], at: usize, visit: &mut Visit<'_>) {
        if !self.quoted && opens_table(text, at) {
            (self.start, self.counts) = (at + 1, Default::default());
            self.is_inside = true;
        } else if self.is_inside && !self.quoted && closes_table(text, at) {
            self.end(text, at, visit);
            self.is_inside = false;
        } else {
            self.quoted = !self.quoted && opens_cell(text, self.start, at);
        }
    }

    /// The line ends at `end`.
    fn end(&mut self, text: &[u8], end: usize, visit: &mut Visit<'_>) {
        let line = (self.start, end);
        let mut counts = std::mem::take(&mut self.counts);
        self.skip_record(text.get(line.0..line.1).unwrap_or_default(), &mut counts);
        let headers = self.headers.iter_mut().zip(counts);
        for (separator, (header, count)) in SEPARATORS.into_iter().zip(headers) {
            let is_open = !matches!(header, Header::None);
            if count > 0 || is_open {
                header.next(text, (line, separator, count + 1), &mut self.cells, visit);
            }
        }
        self.start = end + 1;
        self.quoted = false;
    }

    /// Takes the bar of a line of a record out, so that the line before is no header of it.
    fn skip_record(&mut self, line: &[u8], counts: &mut [usize; SEPARATORS.len()]) {
        let (Some(bars), Some(header)) = (counts.get_mut(BAR), self.headers.get_mut(BAR)) else {
            return;
        };
        if is_beginning(line) && line.iter().any(u8::is_ascii_digit) {
            self.is_record = true;
            *header = Header::None;
        } else if self.is_record && *bars == 1 {
            *bars = 0;
        } else if self.is_record && !is_rule(line) {
            self.is_record = false;
        }
    }
}

/// Whether nothing of a cell stands before the quote at `at`, in the line that begins at `start`.
fn opens_cell(text: &[u8], start: usize, at: usize) -> bool {
    let before = text.get(start..at).unwrap_or_default().trim_ascii_end();
    before.last().is_none_or(|byte| SEPARATORS.contains(byte))
}

/// Whether the quote at `at` begins a string of JSON or of a program that has several lines, as it stands or once its
/// escapes are opened.
fn opens_table(text: &[u8], at: usize) -> bool {
    let head = text.get(..at).unwrap_or_default();
    let near = head.get(head.len().saturating_sub(3)..).unwrap_or_default();
    if !matches!(near.trim_ascii_end().last(), Some(b':' | b'=' | b'(')) {
        return false;
    }
    // `"csv": ""mrn","sex"\n…`: the first cell has quotes too.
    let from = at + 1;
    match chunk::next_of(text, from, [b'"', b'\n', b'\r']) {
        Some(end) if end == from => is_word(byte(text, from + 1)),
        Some(end) => byte(text, end) != b'"',
        None => false,
    }
}

/// Whether a string ends with the quote at `at`.
fn closes_table(text: &[u8], at: usize) -> bool {
    match byte(text, at + 1) {
        b'}' | b']' | b')' | b';' | b'\n' | b'\r' | 0 => true,
        b',' => matches!(byte(text, at + 2), b'"' | b'\n' | b'\r' | b' '),
        _ => false,
    }
}

/// Whether a quote closes behind the end of a line: the cell goes on.
fn closes(text: &[u8], at: usize) -> bool {
    /// Bytes of a note that has several lines.
    const NOTE: usize = 512;
    let near = text.get(at..text.len().min(at + NOTE)).unwrap_or_default();
    let end = near.iter().position(|byte| *byte == b'"');
    end.is_some_and(|end| {
        matches!(
            byte(near, end + 1),
            b',' | b';' | b'\t' | b'|' | b'\n' | b'\r'
        )
    })
}

impl Header {
    /// What it is once a line of `columns` has followed.
    fn next(
        &mut self,
        text: &[u8],
        (line, separator, columns): ((usize, usize), u8, usize),
        cells: &mut Cells,
        visit: &mut Visit<'_>,
    ) {
        let columns = columns.min(MAX_COLUMNS);
        if separator == PIPE && text.get(line.0..line.1).is_some_and(is_rule) {
            return;
        }
        let next = (columns >= MIN_COLUMNS).then_some(Line {
            place: line,
            columns,
        });
        // Without a rule between them two lines may be fields.
        let is_record = |(above, next): (Line, Line)| {
            separator == PIPE
                && next.columns == MIN_COLUMNS
                && next.place.0 <= above.place.1 + END_BYTES
                && record::are_rows(text, above.place, next.place)
        };
        // A line is looked at when the next one has as many cells: most never are.
        let above = match self {
            Self::None => None,
            Self::Line(line) => Some(*line),
            Self::Labels(table) => table.last,
        };
        if let (Some(above), Some(next)) = (above, next)
            && above.columns == next.columns
            && !is_record((above, next))
            && let Some(labels) = read_header(text, above.place, separator, cells)
        {
            let is_header = !labels.is_whole
                && read_header(text, next.place, separator, cells)
                    .is_some_and(|labels| labels.is_whole);
            if is_header {
                *self = Self::Line(next);
                return;
            }
            row(text, &labels, (next.place, separator), cells, visit);
            *self = Self::Labels(Table {
                labels,
                odd: 0,
                last: None,
            });
            return;
        }
        match self {
            // Behind other lines a line of labels begins a table of its own.
            Self::Labels(table)
                if table.labels.count == columns
                    && table.odd > 0
                    && read_header(text, line, separator, cells)
                        .is_some_and(|labels| labels.is_whole) =>
            {
                *self = next.map_or(Self::None, Self::Line);
            }
            Self::Labels(table) if table.labels.count == columns => {
                (table.odd, table.last) = (0, None);
                row(text, &table.labels, (line, separator), cells, visit);
            }
            Self::Labels(table) if table.odd < MAX_ODD && table.labels.count >= WIDE => {
                (table.odd, table.last) = (table.odd + 1, next);
            }
            _ => *self = next.map_or(Self::None, Self::Line),
        }
    }
}

/// What a byte is to [`each`]: the index of a separator, or one of these.
const NO_SIGN: u8 = u8::MAX;
const QUOTE: u8 = u8::MAX - 1;
const LINE: u8 = u8::MAX - 2;

const TABLE_SIGNS: [u8; 256] = {
    let mut signs = [NO_SIGN; 256];
    let mut column = 0;
    while column < SEPARATORS.len() {
        signs[SEPARATORS[column] as usize] = column as u8;
        column += 1;
    }
    signs[b'"' as usize] = QUOTE;
    signs[b'\n' as usize] = LINE;
    signs[b'\r' as usize] = LINE;
    signs
};

/// The labels of a line where every cell can be one.
fn read_header(
    text: &[u8],
    (start, end): (usize, usize),
    separator: u8,
    cells: &mut Cells,
) -> Option<Labels> {
    // One label and nothing, as before the end of a statement of a program.
    let line = text.get(start..end)?.trim_ascii();
    let has_edge = line.first() == Some(&separator) || line.last() == Some(&separator);
    if has_edge && chunk::count(line, separator) < MIN_COLUMNS {
        return None;
    }
    let count = split(text, start, end, separator, cells);
    if let Some(first) = cells.first_mut() {
        first.0 = behind_opening(text, *first);
    }
    Labels::read(text, cells, count)
}

/// Where the text begins in a first cell that opens a string: `` rows = `mrn ``.
fn behind_opening(text: &[u8], (start, end): (usize, usize)) -> usize {
    let cell = text.get(start..end).unwrap_or_default();
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`');
    let Some(quote) = cell.iter().rposition(is_quote) else {
        return start;
    };
    let head = cell.get(..quote).unwrap_or_default();
    let head = head
        .iter()
        .rposition(|byte| !is_quote(byte) && *byte != b' ');
    let opens = head.is_some_and(|last| matches!(byte(cell, last), b':' | b'=' | b'('));
    start + if opens { quote + 1 } else { 0 }
}

fn row(
    text: &[u8],
    labels: &Labels,
    ((start, end), separator): ((usize, usize), u8),
    cells: &mut Cells,
    visit: &mut Visit<'_>,
) {
    let count = split(text, start, end, separator, cells);
    let mut before = None;
    for (column, cell) in cells.iter().enumerate().take(count) {
        let value = bare(text, cell.0, cell.1);
        if let (Some(label), Some((start, end))) = (labels.of(text, column), value) {
            visit(label, start, end);
            // `| Field | Value |`: the cell before is the label.
            if ANSWERS.iter().any(|word| label.eq_ignore_ascii_case(word))
                && let Some(label) = before.and_then(|(from, to)| text.get(from..to))
                && is_label(label)
            {
                visit(label, start, end);
            }
        }
        before = value;
    }
}

/// Labels of a column whose cells have their label before them.
const ANSWERS: [&[u8]; 3] = [b"value", b"answer", b"response"];

/// Cells of a line; separators inside of quotes divide nothing. Gives how many there are.
fn split(
    text: &[u8],
    start: usize,
    end: usize,
    separator: u8,
    cells: &mut [(usize, usize)],
) -> usize {
    let line = text.get(..end).unwrap_or_default();
    let mut count = 0;
    let (mut from, mut at) = (start, start);
    let mut quoted = false;
    while at <= end {
        let found = chunk::next_of(line, at, [separator, b'"']).unwrap_or(end);
        at = found + 1;
        if found < end && byte(line, found) == b'"' {
            quoted = !quoted && opens_cell(text, start, found);
        } else if found == end || !quoted {
            if let Some(slot) = cells.get_mut(count) {
                *slot = (from, found);
            }
            count += 1;
            from = at;
        }
    }
    count.min(MAX_COLUMNS)
}

/// What rows of SQL stand behind.
const VALUES: &[u8] = b"values";

/// `INSERT INTO t (a, b) VALUES ('x', 'y'), ('z', 'w')`.
fn inserts(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(found) = find(text, at, b"insert into") {
        at = found + 1;
        let Some(open) = position(text, found, b'(', MAX_LABEL_BYTES * 2) else {
            continue;
        };
        let Some(close) = position(text, open, b')', MAX_LABEL_BYTES * MAX_COLUMNS) else {
            continue;
        };
        let mut labels = [(0, 0); MAX_COLUMNS];
        let columns = split(text, open + 1, close, b',', &mut labels);
        let mut values = close + 1;
        while byte(text, values).is_ascii_whitespace() {
            values += 1;
        }
        if !starts(text.get(values..).unwrap_or_default(), VALUES) {
            continue;
        }
        let mut row = values + VALUES.len();
        while let Some(end) = tuple(text, row, &labels, columns, visit) {
            row = end;
        }
    }
}

/// `(VALUES ('x', 'y'), ('z', 'w')) AS t (a, b)`: the columns have their names behind their values.
fn named_rows(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(found) = find(text, at, VALUES) {
        let first = found + VALUES.len();
        let mut end = first;
        while let Some(next) = tuple(text, end, &[(0, 0); MAX_COLUMNS], 0, &mut |_, _, _| {}) {
            end = next;
        }
        at = end;
        let begins = text.get(first..).unwrap_or_default().trim_ascii_start();
        if end == first && begins.starts_with(b"(") {
            // A tuple without an end, which no other one in it has either.
            at = first + MAX_TUPLE_BYTES;
        }
        // `) AS t (`
        let near = text.get(end..text.len().min(end + MAX_LABEL_BYTES));
        let near = near.unwrap_or_default();
        let behind = near.trim_ascii_start();
        let Some(open) = near.iter().position(|byte| *byte == b'(') else {
            continue;
        };
        if end == first || !behind.starts_with(b")") {
            continue;
        }
        let open = end + open;
        let Some(close) = position(text, open, b')', MAX_LABEL_BYTES * MAX_COLUMNS) else {
            continue;
        };
        let mut labels = [(0, 0); MAX_COLUMNS];
        let columns = split(text, open + 1, close, b',', &mut labels);
        let mut row = first;
        while row < end
            && let Some(next) = tuple(text, row, &labels, columns, visit)
        {
            row = next;
        }
        at = close;
    }
}

/// Visits the values of the tuple that begins behind `at`; gives where it ends.
fn tuple(
    text: &[u8],
    at: usize,
    labels: &Cells,
    columns: usize,
    visit: &mut Visit<'_>,
) -> Option<usize> {
    let mut start = at;
    while matches!(byte(text, start), b' ' | b'\n' | b'\r' | b'\t' | b',') {
        start += 1;
    }
    if byte(text, start) != b'(' {
        return None;
    }
    let (mut column, mut from, mut quoted) = (0, start + 1, false);
    let rest = text.get(start + 1..)?;
    for (index, found) in rest.iter().take(MAX_TUPLE_BYTES).enumerate() {
        let here = start + 1 + index;
        match found {
            b'\'' => quoted = !quoted,
            b',' | b')' if !quoted => {
                let label = labels.get(column).filter(|_| column < columns);
                if let (Some(label), Some((value, end))) = (
                    label.and_then(|label| trimmed(text, label.0, label.1)),
                    trimmed(text, from, here),
                ) {
                    // `N'Ely'`, `E'Ely'`
                    let prefix = matches!(
                        (byte(text, value), byte(text, value + 1)),
                        (b'N' | b'E', b'\'')
                    );
                    let value = value + 2 * usize::from(prefix);
                    if value < end {
                        visit(text.get(label.0..label.1)?, value, end);
                    }
                }
                column += 1;
                from = here + 1;
                if *found == b')' {
                    return Some(here + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn position(text: &[u8], from: usize, sign: u8, within: usize) -> Option<usize> {
    let part = text.get(from..text.len().min(from + within))?;
    part.iter()
        .position(|byte| *byte == sign)
        .map(|found| from + found)
}

/// Where `words` (small letters, the first one ASCII) stand next, whatever the case.
fn find(text: &[u8], from: usize, words: &[u8]) -> Option<usize> {
    let first = *words.first()?;
    let mut at = from;
    loop {
        at = chunk::next_of(text, at, [first, first.to_ascii_uppercase()])?;
        if starts(text.get(at..)?, words) {
            return Some(at);
        }
        at += 1;
    }
}
