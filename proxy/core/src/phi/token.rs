//! The grammar of placeholders: `[KIND_n]`, and the forms that models make of it.
//!
//! Brackets make them prefix-free: `[NAME_1]` is no part of `[NAME_10]`.

use std::ops::Range;

use super::kind::{Kind, MAX_KIND_BYTES};
use super::merge::{Finding, part};
use super::scan::TextScan;

/// Digits of the largest number.
const MAX_NUMBER_DIGITS: usize = 10;

/// Longest inside of a placeholder, in bytes: kind, underscore, number.
const MAX_INSIDE_BYTES: usize = MAX_KIND_BYTES + 1 + MAX_NUMBER_DIGITS;

/// The placeholder as providers see it.
pub(super) fn bracketed(kind: &Kind, number: u32) -> String {
    format!("[{}_{number}]", kind.as_str())
}

/// The placeholder where a provider accepts no brackets.
pub(super) fn bare(kind: &Kind, number: u32) -> String {
    format!("{}_{number}", kind.as_str())
}

/// Reads the inside of a bracketed placeholder character by character into its canonical form, so that
/// `[Name_1]`, `[NAME 1]` and `[NAME\_1]` all become `NAME_1`.
#[derive(Default)]
pub(super) struct Inside {
    canonical: String,
    escaped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// May still become a placeholder.
    Open,
    /// The closing bracket; whether a backslash stood before it.
    Closed { escaped: bool },
    /// No placeholder.
    Broken,
}

impl Inside {
    /// Takes in what stands behind the opening bracket.
    pub(super) fn push(&mut self, letter: char) -> Step {
        let escaped = std::mem::take(&mut self.escaped);
        match letter {
            ']' => return Step::Closed { escaped },
            '_' => self.canonical.push('_'),
            _ if escaped => return Step::Broken,
            '\\' => self.escaped = true,
            ' ' => self.canonical.push('_'),
            _ if letter.is_ascii_alphanumeric() => {
                self.canonical.push(letter.to_ascii_uppercase());
            }
            _ => return Step::Broken,
        }
        if self.canonical.len() > MAX_INSIDE_BYTES {
            Step::Broken
        } else {
            Step::Open
        }
    }

    pub(super) fn canonical(&self) -> &str {
        &self.canonical
    }

    pub(super) fn clear(&mut self) {
        self.canonical.clear();
        self.escaped = false;
    }
}

/// Kind and number of a canonical inside.
pub(super) fn parse(canonical: &str) -> Option<(&str, u32)> {
    let (kind, digits) = canonical.rsplit_once('_')?;
    let canonical_number =
        !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    let canonical_kind =
        kind.starts_with(|first: char| first.is_ascii_uppercase()) && !kind.ends_with('_');
    if canonical_number && canonical_kind {
        Some((kind, digits.parse().ok()?))
    } else {
        None
    }
}

/// Text that looks like a placeholder, whoever wrote it.
pub(super) struct Token {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
    pub(super) number: u32,
}

/// Every look-alike in `text` whose kind is in use, in order.
pub(super) fn tokens(text: &str, in_use: impl Fn(&str) -> bool) -> Vec<Token> {
    let mut found = Vec::new();
    let mut inside = Inside::default();
    for start in memchr::memchr_iter(b'[', text.as_bytes()) {
        inside.clear();
        let rest = text.get(start + 1..).unwrap_or_default();
        let closed = rest.char_indices().find_map(|(at, letter)| {
            let step = inside.push(letter);
            (step != Step::Open).then_some((at, step))
        });
        if let Some((at, Step::Closed { .. })) = closed
            && let Some((kind, number)) = parse(inside.canonical())
            && in_use(kind)
        {
            found.push(Token {
                range: start..start + 1 + at + 1,
                kind: Kind::canonical(kind),
                number,
            });
        }
    }
    found
}

/// Whether a text is a look-alike of whatever kind, and nothing more.
pub(super) fn is_one(text: &str) -> bool {
    let whole = |token: &Token| token.range == (0..text.len());
    text.starts_with('[') && tokens(text, |_| true).first().is_some_and(whole)
}

/// Largest number that keeps a look-alike which was not issued from being searched for PHI: what is longer
/// than four digits could be an identifier in disguise.
pub(super) const MAX_LITERAL_NUMBER: u32 = 9_999;

/// Takes placeholders out of findings: what is masked is not masked again. Both lists are sorted and free of
/// overlaps, and so is the result.
pub(super) fn divide(scan: &TextScan, findings: &[Finding], tokens: &[Token]) -> Vec<Finding> {
    let mut pieces = Vec::with_capacity(findings.len());
    let mut ahead = tokens;
    for finding in findings {
        let passed = ahead.partition_point(|token| token.range.end <= finding.start);
        ahead = ahead.get(passed..).unwrap_or_default();
        let mut from = finding.start;
        let inside = ahead
            .iter()
            .take_while(|token| token.range.start < finding.end)
            .map(|token| (token.range.start, token.range.end));
        for (token_start, token_end) in inside.chain([(finding.end, finding.end)]) {
            pieces.extend(part(scan, finding, from, token_start.max(from)));
            from = from.max(token_end);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, u32)> {
        tokens(text, |_| true)
            .into_iter()
            .map(|token| (token.kind.as_str().to_owned(), token.number))
            .collect()
    }

    #[test]
    fn drifted_forms_are_the_same_placeholder() {
        for form in [
            "[NAME_1]",
            "[Name_1]",
            "[name 1]",
            r"[NAME\_1]",
            r"[NAME_1\]",
        ] {
            assert_eq!(read(form), [("NAME".to_owned(), 1)], "{form}");
        }
        assert_eq!(
            read(r"[Health\_Plan ID_12]"),
            [("HEALTH_PLAN_ID".to_owned(), 12)]
        );
    }

    #[test]
    fn other_brackets_are_not() {
        for text in [
            "[NAME]",
            "[1]",
            "[NAME_]",
            "[_1]",
            "[NAME_01]",
            "[NAME_1",
            "NAME_1]",
            "[NAME\n1]",
            "[NAME__1]",
            r"[NA\ME_1]",
            "[NAME_99999999999]",
            "[é_1]",
        ] {
            assert_eq!(read(text), [], "{text}");
        }
        assert_eq!(read("[[NAME_1]]"), [("NAME".to_owned(), 1)]);
    }

    #[test]
    fn one_is_no_part_of_ten() {
        assert_eq!(read("[NAME_10]"), [("NAME".to_owned(), 10)]);
    }
}
