//! What of a segment people or models have said, and what programs tell each other.
//!
//! A definition holds samples, and a request is refused for what is found there; ids of calls, names of fields and
//! addresses have no words around them. Arguments and results in JSON are programs' own, but for their strings of several
//! words: a note in a record is somebody's words as much as one alone. What a tool is asked for stays: a place that it is
//! asked about is nobody's.

use core::ops::Range;

use detector_kit::{Segment, SegmentOrigin, is_behind_its_key, is_definition, part};

/// Words of a string that says something.
const LEAST_WORDS: usize = 4;

/// Keys of what a program is to look for or to do.
const ASKED: [&str; 10] = [
    "query",
    "q",
    "search",
    "search_query",
    "searchquery",
    "command",
    "cmd",
    "sql",
    "code",
    "pattern",
];

/// Calls with each stretch of a segment that is to be judged; `before` is the segment before it.
pub fn each(
    text: &str,
    before: Option<&Segment>,
    segment: &Segment,
    mut call: impl FnMut(Range<usize>),
) {
    let whole = segment.start as usize..segment.end as usize;
    let value = part(text, segment);
    let is_of_programs = match segment.origin {
        SegmentOrigin::Metadata | SegmentOrigin::Other => return,
        SegmentOrigin::ToolArguments => true,
        SegmentOrigin::ToolResult => value.trim_start().starts_with(['{', '[']),
        origin if is_definition(origin) => return,
        _ => false,
    };
    if !is_of_programs {
        if !is_of_one_piece(value) {
            call(whole);
        }
    } else if value.trim_start().starts_with(['{', '[']) {
        each_string(value, |string| {
            call(whole.start + string.start..whole.start + string.end);
        });
    } else if is_prose(value) {
        let key = before.filter(|key| is_behind_its_key(key, segment));
        if !key.is_some_and(|key| is_asked(part(text, key))) {
            call(whole);
        }
    }
}

fn is_asked(key: &str) -> bool {
    ASKED.iter().any(|asked| key.eq_ignore_ascii_case(asked))
}

/// An address or a token: nothing in it is a word among others.
fn is_of_one_piece(text: &str) -> bool {
    text.contains("://") && !text.trim().contains(char::is_whitespace)
}

/// Calls with each string of JSON that is prose.
fn each_string(json: &str, mut call: impl FnMut(Range<usize>)) {
    let bytes = json.as_bytes();
    let (mut from, mut key, mut last) = (None, "", "");
    for at in 0..bytes.len() {
        match (bytes.get(at), from) {
            (Some(b'"'), Some(start)) if !is_escaped(bytes, start, at) => {
                last = json.get(start..at).unwrap_or_default();
                if !is_asked(key) && is_prose(last) {
                    call(start..at);
                }
                from = None;
            }
            (Some(b'"'), None) => from = Some(at + 1),
            (Some(b':'), None) => key = last,
            (Some(b',' | b'{'), None) => (key, last) = ("", ""),
            _ => {}
        }
    }
}

/// Whether a sign inside of a string is escaped: an odd number of backslashes stands before it.
fn is_escaped(bytes: &[u8], start: usize, at: usize) -> bool {
    let head = bytes.get(start..at).unwrap_or_default();
    head.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Whether a string is words, and neither code nor a command nor a row of values.
fn is_prose(string: &str) -> bool {
    /// Signs that only code has many of: one in so many bytes at most.
    const RARE: usize = 24;
    let words = string.split_ascii_whitespace();
    let words = words.filter(|word| {
        word.bytes()
            .any(|byte| byte.is_ascii_alphabetic() || byte >= 0x80)
    });
    let of_code = string
        .bytes()
        .filter(|byte| b"{}<>=$`|_;()[]".contains(byte))
        .count();
    !string.starts_with('/')
        && words.take(LEAST_WORDS).count() == LEAST_WORDS
        && of_code * RARE <= string.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, origin: SegmentOrigin) -> Vec<&str> {
        let segment = Segment {
            start: 0,
            end: text.len() as u32,
            origin,
        };
        let mut said = Vec::new();
        each(text, None, &segment, |range| said.push(&text[range]));
        said
    }

    #[test]
    fn notes_in_records_are_said() {
        let record = r#"{"status":"ok","note":"lives with opal and dex","id":"a-1","more":["and \"Bo\" sees her often"]}"#;
        let notes = ["lives with opal and dex", r#"and \"Bo\" sees her often"#];
        assert_eq!(said(record, SegmentOrigin::ToolResult), notes);
        assert_eq!(said(record, SegmentOrigin::ToolArguments), notes);
        assert_eq!(said(record, SegmentOrigin::UserText), [record]);
        let note = "lives with opal and dex";
        assert_eq!(said(note, SegmentOrigin::ToolArguments), [note]);
        assert_eq!(said("a plain result", SegmentOrigin::ToolResult).len(), 1);
    }

    #[test]
    fn what_programs_tell_each_other_is_not() {
        for record in [
            r#"{"query":"flights from Boston to Denver"}"#,
            r#"{"path":"/var/lib/a b c d","n":[1,2,3,4]}"#,
            r#"{"run":"let x = a + b; if (x > 3) { return x; }"}"#,
            r#"{"city":"San Francisco, CA"}"#,
        ] {
            assert!(
                said(record, SegmentOrigin::ToolResult).is_empty(),
                "{record}"
            );
        }
        for origin in [
            SegmentOrigin::Metadata,
            SegmentOrigin::Other,
            SegmentOrigin::ToolDescription,
        ] {
            assert!(said("lives with opal and dex", origin).is_empty());
        }
        assert!(said("flights from here", SegmentOrigin::ToolArguments).is_empty());
        let text = "query\nflights from Boston to Denver";
        let segment = |start, end| Segment {
            start,
            end,
            origin: SegmentOrigin::ToolArguments,
        };
        let (key, value) = (segment(0, 5), segment(6, text.len() as u32));
        let mut said = Vec::new();
        each(text, Some(&key), &value, |range| said.push(range));
        assert!(said.is_empty());
    }
}
