//! X12: segments that end with `~`, elements between `*`. What an element is often depends on the qualifier before it,
//! which becomes part of the label: `REF-SY`, `NM1-MI`. Words may stand before the first segment: `Parse NM1*IL*1*…`.

use super::Visit;
use super::hl7::{numbered, until, wrap_len};
use crate::chunk;

/// Elements of one segment.
const MAX_ELEMENTS: usize = 32;

pub(super) fn each(text: &[u8], visit: &mut Visit<'_>) {
    let mut at = 0;
    while at < text.len() {
        let end = chunk::next_of(text, at, [b'~', b'\n', b'\r']).unwrap_or(text.len());
        segment(text, at, end, visit);
        at = end + 1;
    }
}

fn segment(text: &[u8], at: usize, end: usize, visit: &mut Visit<'_>) {
    // Two or three capitals and a `*`, as soon as anything else is seen it is prose.
    let at = at + wrap_len(text, at);
    let head = text.get(at..end).unwrap_or_default().trim_ascii_start();
    let at = if head.iter().take(4).any(|byte| *byte == b'*') {
        at
    } else if let Some(inside) = first_inside(text, at, end) {
        inside
    } else {
        return;
    };
    let mut elements = [(0, 0); MAX_ELEMENTS];
    let mut count = 0;
    let mut start = at;
    for slot in &mut elements {
        if start > end {
            break;
        }
        let stop = until(text, start, end, b'*');
        *slot = (start, stop);
        count += 1;
        start = stop + 1;
    }
    let element = |number: usize| -> &[u8] {
        elements
            .get(number)
            .filter(|_| number < count)
            .and_then(|(start, end)| text.get(*start..*end))
            .unwrap_or_default()
    };
    let name = element(0).trim_ascii_start();
    let is_segment = count > 1
        && (2..=3).contains(&name.len())
        && name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && name.first().is_some_and(u8::is_ascii_uppercase);
    if !is_segment {
        return;
    }
    for number in 1..count {
        let Some(&(start, stop)) = elements.get(number) else {
            continue;
        };
        if start == stop {
            continue;
        }
        let mut label = [0; 8];
        visit(numbered(&mut label, name, number), start, stop);
        if is_qualifier(element(number - 1)) && number > 1 {
            let mut label = [0; 8];
            visit(
                qualified(&mut label, name, element(number - 1)),
                start,
                stop,
            );
        }
    }
}

/// Where the first segment begins that has words before it.
fn first_inside(text: &[u8], at: usize, end: usize) -> Option<usize> {
    let head = text.get(at..until(text, at, end, b'*'))?;
    let name = SEGMENTS.iter().find(|name| head.ends_with(name))?;
    let start = at + head.len() - name.len();
    (start > at && wrap_len(text, start - 1) > 0).then_some(start)
}

/// Segments that a piece of a message begins with.
const SEGMENTS: [&[u8]; 24] = [
    b"ISA", b"GS", b"ST", b"BHT", b"HL", b"NM1", b"N1", b"N3", b"N4", b"DMG", b"REF", b"PER",
    b"CLM", b"CLP", b"SBR", b"PAT", b"DTP", b"HI", b"SV1", b"SV2", b"INS", b"EB", b"TRN", b"SVC",
];

fn is_qualifier(element: &[u8]) -> bool {
    (1..=3).contains(&element.len()) && element.iter().all(u8::is_ascii_alphanumeric)
}

/// `REF-SY` in `label`.
fn qualified<'l>(label: &'l mut [u8; 8], name: &[u8], qualifier: &[u8]) -> &'l [u8] {
    let mut len = 0;
    for byte in name.iter().chain(b"-").chain(qualifier) {
        if let Some(slot) = label.get_mut(len) {
            *slot = *byte;
            len += 1;
        }
    }
    label.get(..len).unwrap_or_default()
}
