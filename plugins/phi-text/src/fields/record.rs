//! Records that are printed one field a line, the fields apart from their values by a bar in one column or by a tab:
//! `\x` of psql, `EXPAND` of cqlsh, vertical output of Spark.

use super::header::is_rule;
use super::hinted::is_small;
use super::{Visit, is_label, trimmed};
use crate::chunk;
use crate::text::byte;

/// What lines say that begin a record.
const BEGINNINGS: [&[u8]; 4] = [b"[ RECORD ", b"RECORD ", b"@ Row ", b"[RECORD "];

/// `-[ RECORD 1 ]---`, also where the rule is drawn or missing.
pub(super) fn is_beginning(line: &[u8]) -> bool {
    let is_of_rule = |byte: &&u8| matches!(byte, b'-' | b' ');
    let rule = line.iter().take_while(is_of_rule).count();
    let words = line.get(rule..).unwrap_or_default();
    matches!(words.first(), Some(b'[' | b'R' | b'@'))
        && BEGINNINGS.iter().any(|known| words.starts_with(known))
}

/// What the lines before are.
#[derive(Default)]
pub(super) enum Reader {
    #[default]
    None,
    /// One row, which may be the header of a table.
    Row(Row),
    /// Rows of a record, all of which have their bar there.
    Rows(usize),
    /// A record that said that it is one.
    Record,
    /// A table with a header.
    Table,
}

impl Reader {
    pub(super) fn line(&mut self, text: &[u8], start: usize, end: usize, visit: &mut Visit<'_>) {
        let line = text.get(start..end).unwrap_or_default();
        let may_begin = matches!(line.first(), Some(b'-' | b' ' | b'[' | b'R' | b'@'));
        if may_begin && is_beginning(line) {
            *self = Self::Record;
        } else if is_rule(line) {
            if !matches!(self, Self::Record) {
                *self = Self::Table;
            }
        } else if let Some(row) = Row::read(text, start, end) {
            *self = std::mem::take(self).next(text, row, visit);
        } else if matches!(self, Self::None) || !line.contains(&b'|') {
            // A field without a value ends no record.
            *self = Self::None;
        }
    }

    fn next(self, text: &[u8], row: Row, visit: &mut Visit<'_>) -> Self {
        match self {
            Self::Table => Self::Table,
            Self::Record => {
                row.visit(text, visit);
                Self::Record
            }
            Self::Row(first) if first.column == row.column => {
                for row in [&first, &row] {
                    if !row.is_small(text) {
                        row.visit(text, visit);
                    }
                }
                Self::Rows(row.column)
            }
            Self::Rows(column) if column == row.column => {
                if !row.is_small(text) {
                    row.visit(text, visit);
                }
                Self::Rows(column)
            }
            Self::None | Self::Row(_) | Self::Rows(_) => Self::Row(row),
        }
    }
}

pub(super) struct Row {
    /// Where the bar stands in the line; of a tab, and between bars at the edges, it does not matter.
    column: usize,
    key: (usize, usize),
    value: (usize, usize),
}

impl Row {
    /// The line at `start..end` where it has one bar or one tab, behind something that can be a label.
    fn read(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let line = text.get(start..end)?;
        chunk::next_of(line, 0, [b'|', b'\t'])?;
        let inside = line.trim_ascii();
        let is_framed = matches!(inside, [b'|', .., b'|']);
        let lead = line.len() - line.trim_ascii_start().len();
        let (from, to) = match is_framed {
            true => (start + lead + 1, start + lead + inside.len() - 1),
            false => (start, end),
        };
        let line = text.get(..to)?;
        let sign = chunk::next_of(line, from, [b'|', b'\t'])?;
        let key = trimmed(text, from, sign)?;
        let label = text.get(key.0..key.1)?;
        let is_tab = byte(text, sign) == b'\t';
        // A word before a tab is a label of prose too.
        let is_name = !is_tab || label.contains(&b'_') || is_humped(label);
        if !is_label(label) || !is_name || chunk::next_of(line, sign + 1, [b'|', b'\t']).is_some() {
            return None;
        }
        let value = trimmed(text, sign + 1, to)?;
        Some(Self {
            column: if is_tab || is_framed { 0 } else { sign - start },
            key,
            value,
        })
    }

    /// Whether the value explains the label, or is a type.
    fn is_small(&self, text: &[u8]) -> bool {
        text.get(self.value.0..self.value.1).is_some_and(is_small)
    }

    fn visit(&self, text: &[u8], visit: &mut Visit<'_>) {
        if let Some(label) = text.get(self.key.0..self.key.1) {
            visit(label, self.value.0, self.value.1);
        }
    }
}

/// Whether two lines, each with one bar and the second directly below the first, are of a record and no header with a
/// row: their bars stand in one column, and only what is before them is written as names of fields are.
pub(super) fn are_rows(text: &[u8], first: (usize, usize), second: (usize, usize)) -> bool {
    let rows = (
        Row::read(text, first.0, first.1),
        Row::read(text, second.0, second.1),
    );
    let (Some(one), Some(two)) = rows else {
        return false;
    };
    let is_small = |at: usize| byte(text, at).is_ascii_lowercase();
    one.column > 0
        && one.column == two.column
        && is_small(one.key.0)
        && is_small(two.key.0)
        && !is_small(one.value.0)
}

fn is_humped(label: &[u8]) -> bool {
    let pairs = label.iter().zip(label.iter().skip(1));
    !label.contains(&b' ')
        && pairs
            .into_iter()
            .any(|(one, two)| one.is_ascii_lowercase() && two.is_ascii_uppercase())
}
