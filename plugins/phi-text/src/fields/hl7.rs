//! HL7 v2: segments of three capitals, fields between `|`. Each repetition of a field is visited by itself. A line may be
//! indented or quoted, and a message may stand inside of one: `Parse this: PID|1||…`.

use super::{MAX_VALUE_BYTES, Visit, trimmed};
use crate::chunk;
use crate::text::{byte, byte_before, is_border};

/// Fields of one segment.
const MAX_FIELDS: usize = 64;

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        line(text, at + wrap_len(text, at), end, visit);
        at = end + 1;
    }
}

/// Visits the segments between `at` and `end`, the first of which may have any name.
fn line(text: &[u8], mut at: usize, end: usize, visit: &mut Visit<'_>) {
    while at < end {
        let next = next_segment(text, at + NAME_BYTES + 1, end).unwrap_or(end);
        if let Some(name) = segment_name(text, at) {
            let own = text.get(..next).unwrap_or_default();
            let own = own.trim_ascii_end();
            let own = own.strip_suffix(b"\"").unwrap_or(own);
            segment(text, name, at + NAME_BYTES, own.len(), visit);
        }
        at = next;
    }
}

/// Bytes of what a line is wrapped in before a segment.
pub(super) fn wrap_len(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter()
        .take_while(|byte| b" \t>\"'`[(,".contains(byte))
        .count()
}

/// Where the next segment of a known name begins in `from..end`, behind a space or what else a message is wrapped in.
fn next_segment(text: &[u8], from: usize, end: usize) -> Option<usize> {
    let mut at = from;
    while let Some(pipe) = chunk::next_of(text.get(..end)?, at, [b'|']) {
        at = pipe + 1;
        let start = pipe.checked_sub(NAME_BYTES).filter(|start| *start >= from);
        let is_known = |start: &usize| {
            wrap_len(text, start - 1) > 0
                && segment_name(text, *start)
                    .is_some_and(|name| SEGMENTS.iter().any(|known| name == *known))
        };
        if let Some(start) = start.filter(is_known) {
            return Some(start);
        }
    }
    None
}

/// Bytes of the name of a segment.
const NAME_BYTES: usize = 3;
/// Segments that say something of somebody, and those that messages begin with.
const SEGMENTS: [&[u8; NAME_BYTES]; 28] = [
    b"MSH", b"EVN", b"PID", b"PD1", b"NK1", b"PV1", b"PV2", b"GT1", b"IN1", b"IN2", b"IN3", b"MRG",
    b"ORC", b"OBR", b"OBX", b"NTE", b"DG1", b"AL1", b"PR1", b"FT1", b"SPM", b"TXA", b"RXA", b"RXE",
    b"RXO", b"SCH", b"ROL", b"STF",
];

fn line_end(text: &[u8], mut at: usize) -> usize {
    while let Some(end) = chunk::next_of(text, at, [b'\n', b'\r', b'\\']) {
        // `\n` and `\r` may come as escapes inside of JSON.
        match (byte(text, end), byte(text, end + 1)) {
            (b'\\', b'n' | b'r') => return end + 1,
            (b'\\', _) => at = end + 1,
            _ => return end,
        }
    }
    text.len()
}

/// `PID|`.
pub(super) fn segment_name(text: &[u8], at: usize) -> Option<&[u8]> {
    let name = text.get(at..at + 3)?;
    let is_name = name.first()?.is_ascii_uppercase()
        && name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && byte(text, at + 3) == b'|';
    is_name.then_some(name)
}

fn segment(text: &[u8], name: &[u8], first: usize, end: usize, visit: &mut Visit<'_>) {
    // MSH-1 is the separator itself.
    let mut number = usize::from(name == b"MSH");
    let mut start = first;
    while number < MAX_FIELDS && start < end {
        let stop = until(text, start, end, b'|');
        let mut part = start;
        while part < stop && number > 0 {
            let part_end = until(text, part, stop, b'~');
            if part < part_end {
                let mut label = [0; 8];
                visit(numbered(&mut label, name, number), part, part_end);
                if is_person(text.get(part..part_end).unwrap_or_default()) {
                    visit(PERSON, part, part_end);
                }
            }
            part = part_end + 1;
        }
        number += 1;
        start = stop + 1;
    }
}

/// Bytes of the label of a field: `PID-19`.
pub(super) const LABEL_BYTES: usize = 8;

/// The field that a path is of: `PID.19`, `PID-19.1`, `PID_19`, `PID.3.1` of XML, JSON and lists.
pub(super) fn of_path<'l>(label: &'l mut [u8; LABEL_BYTES], path: &[u8]) -> Option<&'l [u8]> {
    let name = path.get(..NAME_BYTES)?;
    let (sign, rest) = path.get(NAME_BYTES..)?.split_first()?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // `PID-19` is the label itself.
    let is_path = SEGMENTS.iter().any(|known| name == *known)
        && (1..=2).contains(&digits)
        && (matches!(sign, b'.' | b'_') || *sign == b'-' && rest.len() > digits)
        && rest
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    // Behind any other sign there may be more digits than a number has.
    is_path.then(|| {
        let digits = rest.iter().take(digits);
        let number = digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0'));
        numbered(label, name, number)
    })
}

/// `PID-19: 412679083`, `PID-5.1: DOE`: lists of fields with what is in them, each up to the next
/// one or the end of the line.
pub(super) fn listed(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while let Some(colon) = chunk::next_of(text, at, [b':']) {
        at = colon + 1;
        // `PID-5: patient name (XPN)` is about fields.
        if let Some(path) = path_before(text, colon)
            && let Some((start, end)) = trimmed(text, at, listed_end(text, at))
            && !byte(text, start).is_ascii_lowercase()
        {
            visit(path, start, end);
        }
    }
}

/// The path of a field that ends before the colon at `colon`.
fn path_before(text: &[u8], colon: usize) -> Option<&[u8]> {
    /// Bytes of the longest path: `PID-11.10`.
    const PATH: usize = 9;
    let head = text.get(colon.saturating_sub(PATH)..colon)?;
    let is_of_path =
        |byte: &&u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b".-".contains(byte);
    let len = head.iter().rev().take_while(is_of_path).count();
    let path = head.get(head.len() - len..)?;
    let is_field = path.get(NAME_BYTES) == Some(&b'-')
        && SEGMENTS.iter().any(|known| path.starts_with(*known))
        && path.last().is_some_and(u8::is_ascii_digit);
    is_field.then_some(path)
}

/// Where the value ends that begins at `start`: with its line, or before the next path.
fn listed_end(text: &[u8], start: usize) -> usize {
    let mut limit = text.len().min(start + MAX_VALUE_BYTES);
    while limit > start && !is_border(text, limit) {
        limit -= 1;
    }
    let near = text.get(..limit).unwrap_or_default();
    let line = line_end(near, start);
    let mut at = start;
    while let Some(colon) = chunk::next_of(near, at, [b':']).filter(|colon| *colon < line) {
        at = colon + 1;
        if let Some(path) = path_before(near, colon) {
            let mut end = colon - path.len();
            while end > start && b" \t,;|".contains(&byte_before(near, end)) {
                end -= 1;
            }
            return end;
        }
    }
    line
}

/// A field that has a person of the staff with an identifier.
const PERSON: &[u8] = b"OBR-16";
/// Digits of the shortest identifier of a person.
const MIN_DIGITS: usize = 4;
/// What stands third where a code and its meaning stand first (HL7 table 0396).
const CODE_SYSTEMS: [&[u8]; 12] = [
    b"LOINC", b"SNOMED", b"SCT", b"SNM", b"CPT", b"ICD", b"NDC", b"CVX", b"MVX", b"RXNORM",
    b"UCUM", b"LOCAL",
];

/// `1447219880^KULKARNI^RAVINDRA` (XCN), in whichever field: messages are counted wrong when they are written by hand.
fn is_person(field: &[u8]) -> bool {
    let mut parts = field.split(|byte| *byte == b'^');
    let (Some(id), Some(family), Some(given)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_name = |part: &[u8]| {
        part.len() > 2
            && part
                .iter()
                .all(|byte| byte.is_ascii_alphabetic() || b"' -.".contains(byte) || *byte >= 0x80)
    };
    let digits = id.iter().filter(|byte| byte.is_ascii_digit()).count();
    digits >= MIN_DIGITS
        && id.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-')
        && is_name(family)
        && is_name(given)
        && !CODE_SYSTEMS.iter().any(|system| given.starts_with(system))
}

/// `PID-5` in `label`.
pub(super) fn numbered<'l>(label: &'l mut [u8; 8], name: &[u8], number: usize) -> &'l [u8] {
    let mut len = 0;
    let mut push = |byte: u8| {
        if let Some(slot) = label.get_mut(len) {
            *slot = byte;
            len += 1;
        }
    };
    name.iter().for_each(|byte| push(*byte));
    push(b'-');
    // Two digits at most: numbers are below `MAX_FIELDS`.
    let (tens, ones) = (number / 10 % 10, number % 10);
    if tens > 0 {
        push(b'0' + u8::try_from(tens).unwrap_or_default());
    }
    push(b'0' + u8::try_from(ones).unwrap_or_default());
    label.get(..len).unwrap_or_default()
}

/// Where `sign` stands next in `start..end`, else `end`.
pub(super) fn until(text: &[u8], start: usize, end: usize, sign: u8) -> usize {
    text.get(start..end)
        .and_then(|part| part.iter().position(|byte| *byte == sign))
        .map_or(end, |found| start + found)
}
