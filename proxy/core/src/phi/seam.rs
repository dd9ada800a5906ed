//! What stands between the strings and values of JSON, wherever JSON stands: in a text, or in a string of JSON. A
//! finding that runs over it becomes one of each side, so that JSON stays JSON and a row of quoted cells keeps them.

use std::ops::Range;

/// The parts of a text between the seams that it has: quotation marks beside a colon, a comma or a bracket, and
/// quotation marks at its ends. Numbers there are parts by themselves, and what is no value of anybody's (`true`) is none.
pub(super) fn between(text: &str) -> Vec<Range<usize>> {
    if !text.contains('"') {
        return vec![Range {
            start: 0,
            end: text.len(),
        }];
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for seam in runs(text) {
        let run = text.get(seam.clone()).unwrap_or_default();
        let is_edge = seam.start == 0 || seam.end == text.len();
        if run.contains('"') && (is_edge || run.contains(is_mark)) {
            parts.push(start..seam.start);
            start = seam.end;
        }
    }
    parts.push(start..text.len());
    parts.retain(|part| !part.is_empty());
    if let [_] = parts.as_slice() {
        return parts;
    }
    parts
        .into_iter()
        .flat_map(|part| values(text, part))
        .collect()
}

/// A part, or the numbers and words of JSON that it lists.
fn values(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let listed = text.get(part.clone()).unwrap_or_default();
    let mut values = Vec::new();
    for value in listed.split(is_mark) {
        let value = value.trim();
        if is_word(value) || value.is_empty() {
            continue;
        }
        if !value.bytes().all(is_of_number) {
            return vec![part];
        }
        // Both are slices of the same text.
        let start = part.start + (value.as_ptr() as usize - listed.as_ptr() as usize);
        values.push(start..start + value.len());
    }
    values
}

/// Longest runs of what seams are made of.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(is_of_seam)?;
        let rest = text.get(start..)?;
        let length = rest.find(|sign| !is_of_seam(sign));
        at = start + length.unwrap_or(rest.len());
        Some(start..at)
    })
}

fn is_of_seam(sign: char) -> bool {
    // A string within a string has its quotation marks escaped.
    is_mark(sign) || matches!(sign, '"' | '\\') || sign.is_whitespace()
}

const fn is_mark(sign: char) -> bool {
    matches!(sign, ':' | ',' | '{' | '}' | '[' | ']')
}

fn is_word(value: &str) -> bool {
    matches!(value, "true" | "false" | "null")
}

const fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_values_of_json() {
        for (text, expected) in [
            ("12 Main Street", &["12 Main Street"][..]),
            (r#"Robert "Bob" Smith"#, &[r#"Robert "Bob" Smith"#]),
            (r#""Jane Doe""#, &["Jane Doe"]),
            (r#"street": "12 Main Street"#, &["street", "12 Main Street"]),
            (r#"street\": \"12 Main"#, &["street", "12 Main"]),
            (r#"March", "year": 2026"#, &["March", "year", "2026"]),
            ("{\"street\" :\n  \"Elm\"\n}, {\"", &["street", "Elm"]),
            (r#"a", true, 8, -1.5e3, "b"#, &["a", "8", "-1.5e3", "b"]),
            (
                r#"March"], "data":[3, 4, null"#,
                &["March", "data", "3", "4"],
            ),
            (r#"Jos","é"#, &["Jos", "é"]),
            (
                r#"Smith","John","1962-03-14"#,
                &["Smith", "John", "1962-03-14"],
            ),
            (r#"", ""#, &[]),
            // No numbers of JSON.
            (r#""415 555 2671","10:30 h""#, &["415 555 2671", "10:30 h"]),
        ] {
            let parts = between(text);
            let parts: Vec<&str> = parts.into_iter().map(|part| &text[part]).collect();
            assert_eq!(parts, expected, "{text}");
        }
    }
}
