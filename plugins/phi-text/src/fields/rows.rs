//! Tables in JSON: a list of labels under `columns`, or first in a list of lists, and lists of as many values behind.

use super::Visit;
use super::header::{Cells, Labels, MAX_COLUMNS, bare};
use super::json::{skip_space, string};
use crate::chunk;
use crate::text::{byte, starts};

/// Bytes of a value that is no string.
const MAX_BARE_BYTES: usize = 64;
/// What lists of labels are called.
const NAMES: [&[u8]; 7] = [
    b"columns",
    b"cols",
    b"headers",
    b"header",
    b"fields",
    b"column_names",
    b"columnNames",
];

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut header: Option<Labels> = None;
    let mut cells = [(0, 0); MAX_COLUMNS];
    let mut at = 0;
    while let Some(open) = chunk::next_of(text, at, [b'[']) {
        let Some((count, end)) = flat(text, open, &mut cells) else {
            at = open + 1;
            continue;
        };
        at = end;
        let head = text.get(..open).unwrap_or_default().trim_ascii_end();
        let is_first = head.ends_with(b"[");
        let is_item = is_first || head.ends_with(b",");
        let is_row = header
            .as_ref()
            .is_some_and(|labels| is_item && labels.count == count);
        if is_named(head) || is_first && !is_row {
            header = Labels::read(text, &mut cells, count);
        } else if let Some(labels) = header.as_ref().filter(|_| is_row) {
            for (column, cell) in cells.iter().enumerate().take(count) {
                if let (Some(label), Some((start, end))) =
                    (labels.of(text, column), bare(text, cell.0, cell.1))
                {
                    visit(label, start, end);
                }
            }
        }
    }
}

/// Whether `head` ends with the key of a list of labels.
fn is_named(head: &[u8]) -> bool {
    let Some(key) = head.strip_suffix(b":") else {
        return false;
    };
    let key = key.trim_ascii_end();
    let key = key.strip_suffix(b"\"").or(key.strip_suffix(b"'"));
    let key = key.map(|key| key.strip_suffix(b"\\").unwrap_or(key));
    key.is_some_and(|key| {
        NAMES.iter().any(|name| {
            let at = key.len().checked_sub(name.len());
            at.is_some_and(|at| {
                starts(key.get(at..).unwrap_or_default(), name)
                    && matches!(byte(key, at.wrapping_sub(1)), b'"' | b'\'')
            })
        })
    })
}

/// The items of the list at `open` that has no lists or objects inside: how many, and where it ends.
fn flat(text: &[u8], open: usize, cells: &mut Cells) -> Option<(usize, usize)> {
    let mut at = skip_space(text, open + 1);
    let mut count = 0;
    loop {
        let slot = cells.get_mut(count)?;
        if let Some((start, end, after)) = string(text, at) {
            *slot = (start, end);
            at = after;
        } else {
            let rest = text.get(at..)?;
            let len = rest
                .iter()
                .take(MAX_BARE_BYTES)
                .position(|byte| matches!(byte, b',' | b'[' | b']' | b'{' | b'}' | b'\n' | b'"'))?;
            if len == 0 {
                return None;
            }
            *slot = (at, at + len);
            at += len;
        }
        count += 1;
        at = skip_space(text, at);
        match byte(text, at) {
            b',' => at = skip_space(text, at + 1),
            b']' => return Some((count, at + 1)),
            _ => return None,
        }
    }
}
