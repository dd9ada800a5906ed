//! Fields of structured text: what has a label by its place. JSON, XML, `key=value`, delimited tables with a header,
//! SQL, HL7 v2 and X12. Prose has none. No format is checked: what looks like one is read as far as it goes.

mod hl7;
mod json;
mod pair;
mod table;
mod x12;

/// Called with the label and where its value stands, quotes excluded. Labels are as written, or `PID-5` and `NM1-3`
/// where the format numbers its fields.
pub type Visit<'v> = dyn FnMut(&[u8], usize, usize) + 'v;

/// Bytes of the longest label.
pub const MAX_LABEL_BYTES: usize = 64;
/// Bytes of the longest value that is one thing and no text.
pub const MAX_VALUE_BYTES: usize = 256;

/// Visits every field of `text`. A value may be visited under more than one label.
pub fn each(text: &[u8], visit: &mut Visit<'_>) {
    let marks = Marks::of(text);
    if marks.pipe {
        hl7::each(text, visit);
    }
    if marks.star || marks.tilde {
        x12::each(text, visit);
    }
    if marks.quote && marks.colon {
        json::each(text, visit);
    }
    if marks.equals || marks.angle {
        pair::each(text, visit);
    }
    if marks.comma || marks.pipe || marks.tab {
        table::each(text, visit);
    }
}

/// Which signs a text has at all: most have too few to be structured.
#[derive(Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "eight independent facts about one text"
)]
struct Marks {
    pipe: bool,
    star: bool,
    tilde: bool,
    quote: bool,
    colon: bool,
    equals: bool,
    angle: bool,
    comma: bool,
    tab: bool,
}

impl Marks {
    fn of(text: &[u8]) -> Self {
        let mut seen = [false; 256];
        for byte in text {
            if let Some(seen) = seen.get_mut(usize::from(*byte)) {
                *seen = true;
            }
        }
        let has = |byte: u8| seen.get(usize::from(byte)).copied().unwrap_or_default();
        let lines = has(b'\n') || has(b'\r');
        Self {
            pipe: has(b'|'),
            star: has(b'*'),
            tilde: has(b'~'),
            quote: has(b'"') || has(b'\''),
            colon: has(b':'),
            equals: has(b'='),
            angle: has(b'<') && has(b'>'),
            comma: has(b',') && (lines || has(b'(')),
            tab: has(b'\t') && lines,
        }
    }
}

/// Whether `label` can be one: short, and begins with a letter.
fn is_label(label: &[u8]) -> bool {
    label.len() <= MAX_LABEL_BYTES
        && label.first().is_some_and(u8::is_ascii_alphabetic)
        && label
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b" _-.#/:()[]@".contains(byte))
}

/// Where a value begins and ends without white space and quotes around it; nothing where none is left.
fn trimmed(text: &[u8], mut start: usize, mut end: usize) -> Option<(usize, usize)> {
    let is_edge = |at: usize| {
        text.get(at)
            .is_none_or(|byte| b" \t\r\n\"'`".contains(byte))
    };
    while start < end && is_edge(start) {
        start += 1;
    }
    while start < end && is_edge(end - 1) {
        end -= 1;
    }
    (start < end).then_some((start, end))
}

#[cfg(test)]
mod tests;
