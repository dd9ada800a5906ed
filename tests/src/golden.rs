//! Transcripts that are frozen in `tests/golden/`: a published version never changes its shapes.
//!
//! Ids, times and the fake provider's counters are masked. A golden file is made once, by running the tests
//! with `SVC_WRITE_GOLDEN=1`; after that a difference is a failure, not a reason to run it again.

use serde_json::{Value, json};

use crate::program;
use crate::sse::Event;
use crate::wire::Answer;

/// Compares a text with its golden file.
///
/// # Panics
/// When they differ, or there is none.
pub fn compare(name: &str, text: &str) {
    let path = program::repository().join("tests/golden").join(name);
    #[expect(
        clippy::disallowed_methods,
        reason = "whether to write golden files is for the person at the terminal"
    )]
    let writes = std::env::var_os("SVC_WRITE_GOLDEN").is_some();
    if writes && !path.exists() {
        let folder = path.parent().expect("a folder");
        std::fs::create_dir_all(folder).expect("making a folder");
        std::fs::write(&path, text).expect("writing a golden file");
    }
    let golden = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}\n{text}", path.display()));
    assert!(
        golden == text,
        "{} differs.\n--- golden\n{golden}\n--- now\n{text}",
        path.display()
    );
}

/// An answer as text: status, headers in order of their names, body as indented JSON; masked.
pub fn answer(answer: &Answer) -> String {
    let mut text = format!("{}\n", answer.status);
    text.push_str(&headers(&answer.headers));
    text.push('\n');
    if !answer.body.is_empty() {
        let mut body = answer.json();
        mask(&mut body);
        text.push_str(&format!("{body:#}\n"));
    }
    text
}

/// Headers, one a line; what differs between runs is masked.
pub fn headers(headers: &[(String, String)]) -> String {
    let mut lines: Vec<String> = headers
        .iter()
        .map(|(name, value)| match name.as_str() {
            "date" | "host" | "x-ratelimit-reset" | "x-ratelimit-remaining" | "content-length" => {
                format!("{name}: *\n")
            }
            _ => format!("{name}: {}\n", masked(value)),
        })
        .collect();
    lines.sort();
    lines.concat()
}

/// Events as text, one a line; masked.
pub fn events(events: &[Event]) -> String {
    let line = |event: &Event| {
        let mut data = event.data.clone();
        mask(&mut data);
        format!("{} {data}\n", event.name)
    };
    events.iter().map(line).collect()
}

/// A stream as text: each frame's name, and its data masked; what is no JSON stays as it is. How text and arguments
/// are cut into pieces is no part of the format: neighbouring pieces are one.
pub fn stream(text: &str) -> String {
    let mut frames: Vec<(String, Value)> = Vec::new();
    for frame in text.split("\n\n").filter(|frame| !frame.is_empty()) {
        let (name, data) = match frame.split_once('\n') {
            Some((name, data)) => (format!("{name}\n"), data),
            None => (String::new(), frame),
        };
        let json = data.strip_prefix("data: ").unwrap_or(data);
        // `[DONE]` and comments are no JSON.
        let mut json = serde_json::from_str(json).unwrap_or_else(|_| json!({"no_json": data}));
        mask(&mut json);
        let last = frames.last_mut();
        let is_piece = last.is_some_and(|(before, whole)| *before == name && joined(whole, &json));
        if !is_piece {
            frames.push((name, json));
        }
    }
    let line = |(name, data): (String, Value)| match data.get("no_json") {
        Some(text) => format!("{name}{}\n\n", text.as_str().unwrap_or_default()),
        None => format!("{name}data: {data}\n\n"),
    };
    frames.into_iter().map(line).collect()
}

/// Where a frame may hold a piece of something longer.
const PIECES: &[&str] = &[
    "/text",
    "/delta/text",
    "/delta/thinking",
    "/delta/partial_json",
    "/choices/0/delta/content",
    "/choices/0/delta/tool_calls/0/function/arguments",
];

/// Appends a piece to the frame before, where the two differ in nothing else.
fn joined(whole: &mut Value, next: &Value) -> bool {
    PIECES.iter().any(|place| {
        let before = whole.pointer(place).and_then(Value::as_str);
        let piece = next.pointer(place).and_then(Value::as_str);
        let (Some(before), Some(piece)) = (before, piece) else {
            return false;
        };
        let longer = Value::from(format!("{before}{piece}"));
        let put = |frame: &mut Value| {
            if let Some(text) = frame.pointer_mut(place) {
                *text = longer.clone();
            }
        };
        let (mut grown, mut other) = (whole.clone(), next.clone());
        put(&mut grown);
        put(&mut other);
        let is_piece = grown == other;
        if is_piece {
            *whole = grown;
        }
        is_piece
    })
}

/// A value as indented JSON, masked.
pub fn value(value: &Value) -> String {
    let mut value = value.clone();
    mask(&mut value);
    format!("{value:#}\n")
}

fn mask(value: &mut Value) {
    match value {
        Value::String(text) => *text = masked(text),
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| match value {
            // Seconds since the epoch, on the chat-completions surface.
            Value::Number(number) if name == "created" => *number = 0.into(),
            value => mask(value),
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Characters of a ULID.
const ULID_CHARS: usize = 26;

/// A text with its ULIDs, timestamps, and the fake's own numbers as stars.
fn masked(text: &str) -> String {
    let is_time = text.len() == 24 && text.ends_with('Z') && text.as_bytes()[10] == b'T';
    if is_time {
        return "<time>".into();
    }
    let words = text.split_inclusive(|character: char| !character.is_ascii_alphanumeric());
    let mut out = String::new();
    for word in words {
        let core = word.trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
        let ulid = core.len() == ULID_CHARS
            && core
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let mark = core.len() == 10 && core.starts_with("quokka");
        let number = core.len() == 6
            && out.ends_with("fake_")
            && core.bytes().all(|byte| byte.is_ascii_digit());
        if ulid || number || mark {
            out.push('*');
            out.push_str(&word[core.len()..]);
        } else {
            out.push_str(word);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_times_and_marks_are_masked_and_nothing_else() {
        assert_eq!(masked("req_01KAF8C2X3Y4Z5A6B7C8D9E0F1"), "req_*");
        assert_eq!(masked("toolu_fake_000017_0"), "toolu_fake_*_0");
        assert_eq!(masked("You said: quokkaabcd is it"), "You said: * is it");
        assert_eq!(masked("2026-11-20T20:09:00.123Z"), "<time>");
        assert_eq!(masked("2026-07-12"), "2026-07-12");
        assert_eq!(masked("alpha-sonnet-4-6"), "alpha-sonnet-4-6");
    }
}
