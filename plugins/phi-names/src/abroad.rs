//! Names and places behind labels in other languages: `Name des Patienten: Maria Muster`, `氏名：山田太郎`.
//! Which labels there are, [`phi_text::abroad`] knows.

mod person;
mod place;

use phi_text::abroad::{self, Means};

use crate::kind::{ADDRESS, Finding, LOCATION, NAME, PERHAPS_LOCATION};

const SCORE: u16 = 850;
const PERHAPS_SCORE: u16 = 700;
/// Bytes of the longest value.
const MAX_BYTES: usize = 200;

/// Appends the findings behind labels with a colon in `text[from..to]`.
pub fn find(text: &str, from: usize, to: usize, findings: &mut Vec<Finding>) {
    let part = text.as_bytes().get(from..to).unwrap_or_default();
    abroad::each(part, &mut |means, start| {
        findings.extend(value(text, means, from + start, to));
    });
}

/// What the value at `start..end` is under the name of a field.
pub fn find_value(text: &str, label: &[u8], start: usize, end: usize) -> Option<Finding> {
    // Names and places begin with a capital, streets seldom.
    let value = text.get(start..end)?;
    if !value.contains(|sign: char| !sign.is_ascii() || sign.is_ascii_uppercase()) {
        return None;
    }
    self::value(text, abroad::get(label)?, start, end)
}

fn value(text: &str, means: Means, start: usize, to: usize) -> Option<Finding> {
    let line = line(text.get(start..to)?);
    let (kind, score, range) = match means {
        Means::Name => (NAME, SCORE, person::find(line, true)?),
        Means::PerhapsName => (NAME, PERHAPS_SCORE, person::find(line, false)?),
        Means::Address => (ADDRESS, SCORE, 0..place::address(line)?),
        Means::City => place::city(line).map(|(is_sure, len)| {
            let kind = if is_sure { LOCATION } else { PERHAPS_LOCATION };
            (kind, SCORE, 0..len)
        })?,
        Means::Zip => (PERHAPS_LOCATION, SCORE, 0..place::zip(line)?),
        _ => return None,
    };
    Some(Finding::new(kind, start + range.start, start + range.end, score).contextual())
}

/// What may be a value: up to the end of the line, of the cell or of the string.
fn line(text: &str) -> &str {
    let text = text
        .get(..text.floor_char_boundary(MAX_BYTES))
        .unwrap_or(text);
    let end = text.find([
        '\n', '\r', '\t', '|', '"', '<', '>', '{', '}', '[', ']', '=', '*', '\\',
    ]);
    let line = text.get(..end.unwrap_or(text.len())).unwrap_or(text);
    line.split("  ").next().unwrap_or(line).trim_end()
}

/// Whether a value may end before `rest`.
fn is_end(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '\u{a0}', '\u{3000}']);
    // `yup.string()`
    let mut signs = rest.chars();
    let is_member = signs.next() == Some('.') && signs.next().is_some_and(char::is_alphanumeric);
    !is_member
        && rest
            .chars()
            .next()
            .is_none_or(|sign| !sign.is_alphanumeric() && !matches!(sign, ':' | '：' | '_' | '@'))
}

#[cfg(test)]
mod tests;
