//! Data as dumps of PostgreSQL have them: `COPY patients (mrn, name) FROM stdin;`, and rows of as many values apart by
//! tabs, up to `\.`.

use super::{MAX_LABEL_BYTES, Visit, trimmed};
use crate::chunk;
use crate::text::{begins_with, starts};

/// Bytes of the longest list of columns.
const MAX_COLUMNS_BYTES: usize = 4096;

/// Bytes of `from`.
const FROM_BYTES: usize = 4;
/// What stands for no value.
const NULL: &[u8] = b"\\N";

/// The columns of the rows that follow.
#[derive(Default)]
pub(super) struct Reader<'t> {
    columns: Vec<&'t [u8]>,
}

impl<'t> Reader<'t> {
    pub(super) fn line(&mut self, text: &'t [u8], start: usize, end: usize, visit: &mut Visit<'_>) {
        let line = text.get(start..end).unwrap_or_default();
        if starts(line, b"copy ") {
            self.columns = labels(line).unwrap_or_default();
        } else if line.starts_with(b"\\.") {
            self.columns.clear();
        } else if !self.columns.is_empty() {
            // Another number of values ends the rows.
            if chunk::count(line, b'\t') + 1 == self.columns.len() {
                row(text, start, end, &self.columns, visit);
            } else {
                self.columns.clear();
            }
        }
    }
}

fn labels(line: &[u8]) -> Option<Vec<&[u8]>> {
    let line = line.get(..line.len().min(MAX_COLUMNS_BYTES))?;
    let open = line.iter().position(|byte| *byte == b'(')?;
    let close = line.iter().position(|byte| *byte == b')')?;
    let columns = line.get(open + 1..close)?;
    let behind = line.get(close + 1..)?.trim_ascii_start();
    if !begins_with(behind, &["from"]) || !begins_with(behind.get(FROM_BYTES..)?, &["stdin"]) {
        return None;
    }
    let names = columns.split(|byte| *byte == b',').map(|name| {
        let name = name.trim_ascii();
        let name = name.strip_prefix(b"\"").unwrap_or(name);
        name.strip_suffix(b"\"").unwrap_or(name)
    });
    Some(names.collect())
}

fn row(text: &[u8], start: usize, end: usize, columns: &[&[u8]], visit: &mut Visit<'_>) {
    let mut from = start;
    for label in columns {
        let stop = chunk::next_of(text.get(..end).unwrap_or_default(), from, [b'\t']);
        let stop = stop.unwrap_or(end);
        let value =
            trimmed(text, from, stop).filter(|place| text.get(place.0..place.1) != Some(NULL));
        if let Some((start, end)) = value
            && label.len() <= MAX_LABEL_BYTES
        {
            visit(label, start, end);
        }
        if stop >= end {
            return;
        }
        from = stop + 1;
    }
}
