//! Puts placeholders in the place of findings, in the original text.
//!
//! Text that looks like a placeholder and that this conversation did not issue keeps its look, and its
//! number is never given to a value: so it can never be restored to one. Placeholders that were issued stay
//! themselves, and no part of one is replaced again.

use std::borrow::Cow;
use std::collections::HashSet;
use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

use super::Origin;
use super::counts::Counts;
use super::kind::{ENTITY_KINDS, Kind};
use super::map::{PlaceholderMap, Speaker};
use super::merge::Finding;
use super::restore::json::unescape;
use super::restore::prose::Prose;
use super::scan::{Segment, TextScan};
use super::token::{self, Token};
use super::visit::{Form, visit};
use crate::chat::ChatRequest;

/// The request is not the one that was scanned. It may be half rewritten: refuse it.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the request changed between scan and rewriting, at text position {segment}")]
pub struct Shifted {
    /// Position in [`TextScan::segments`] at which the two differ.
    pub segment: usize,
}

/// Replaces `findings` of `scan` in `chat`, and counts what was replaced. Numbers are given in the order of
/// first appearance.
///
/// # Errors
/// [`Shifted`] when `chat` is not what `scan` read.
pub fn redact(
    chat: &mut ChatRequest,
    scan: &TextScan,
    findings: &[Finding],
    map: &mut PlaceholderMap,
) -> Result<Counts, Shifted> {
    let tokens = look_alikes(scan, findings, map);
    let findings = token::divide(scan, findings, &tokens);
    let (edits, counts) = plan(scan, &findings, &tokens, map);
    if !edits.is_empty() {
        rewrite(chat, scan, edits)?;
    }
    Ok(counts)
}

/// Finds what looks like a placeholder, and reserves the numbers that text of others uses. A placeholder
/// that the assistant wrote earlier may be one of ours that comes back (restoring is off): those are left to
/// the order of appearance.
fn look_alikes(scan: &TextScan, findings: &[Finding], map: &mut PlaceholderMap) -> Vec<Token> {
    let found: HashSet<&str> = findings
        .iter()
        .map(|finding| finding.kind.as_str())
        .collect();
    let in_use = |kind: &str| {
        found.contains(kind)
            || map.knows_kind(kind)
            || ENTITY_KINDS.iter().any(|known| known.name == kind)
    };
    let disguised = disguised(scan, in_use);
    let mut tokens = token::tokens(scan.text(), in_use);
    for (kind, number) in &disguised {
        map.reserve(kind, *number);
    }
    let mut said_before: HashSet<(Kind, u32)> = HashSet::new();
    tokens.retain(|token| {
        let Token {
            range,
            kind,
            number,
        } = token;
        if map.holds(kind.as_str(), *number) {
            return true;
        }
        let by_assistant = matches!(
            segment_of(scan, range.start).map(|segment| segment.origin),
            Some(Origin::AssistantText | Origin::ToolArguments)
        );
        let disguise = *number > token::MAX_LITERAL_NUMBER;
        if by_assistant && !disguise {
            said_before.insert((kind.clone(), *number));
        } else if disguise || !said_before.contains(&(kind.clone(), *number)) {
            map.reserve(kind, *number);
        }
        !disguise
    });
    tokens
}

/// Look-alikes in disguise, of others than the assistant. They are no placeholders here, but a model may write
/// them out plainly.
fn disguised(scan: &TextScan, in_use: impl Fn(&str) -> bool) -> Vec<(Kind, u32)> {
    let mut numbers = Vec::new();
    if !scan.is_disguised() {
        return numbers;
    }
    let (reading, _) = scan.reading();
    for token in token::tokens(reading, &in_use) {
        for piece in scan.pieces(token.range) {
            let origin = scan
                .segments()
                .get(piece.segment)
                .map(|segment| segment.origin);
            let by_assistant =
                matches!(origin, Some(Origin::AssistantText | Origin::ToolArguments));
            let written = scan.text().get(piece.source).unwrap_or_default();
            if !by_assistant && token::tokens(written, &in_use).is_empty() {
                numbers.push((token.kind.clone(), token.number));
            }
        }
    }
    numbers
}

fn segment_of(scan: &TextScan, offset: usize) -> Option<&Segment> {
    scan.segments().get(scan.segment_at(offset))
}

/// What takes the place of one stretch of the buffer.
struct Edit {
    range: Range<usize>,
    placeholder: String,
}

/// Walks findings and look-alikes, which do not overlap, in order, and gives the numbers.
fn plan(
    scan: &TextScan,
    findings: &[Finding],
    tokens: &[Token],
    map: &mut PlaceholderMap,
) -> (Vec<Edit>, Counts) {
    let mut edits = Vec::with_capacity(findings.len());
    let mut counts = Counts::default();
    let mut tokens = tokens.iter().peekable();
    for finding in findings {
        while let Some(token) = tokens.next_if(|token| token.range.start < finding.start) {
            map.reserve(&token.kind, token.number);
        }
        if let Some(edit) = replacement(scan, finding, map) {
            edits.push(edit);
            counts.add(&finding.kind);
        }
    }
    for token in tokens {
        map.reserve(&token.kind, token.number);
    }
    (edits, counts)
}

fn replacement(scan: &TextScan, finding: &Finding, map: &mut PlaceholderMap) -> Option<Edit> {
    let value = scan.text().get(finding.start..finding.end)?;
    let segment = scan.segments().get(finding.segment)?;
    let speaker = match segment.origin {
        Origin::SystemPrompt => Speaker::Operator,
        _ => Speaker::Caller,
    };
    let written = as_meant(scan, segment, finding.start, value);
    let number = map.issue(&finding.kind, scan.identity(finding), &written, speaker);
    let placeholder = match segment.form {
        Form::Identifier => token::bare(&finding.kind, number),
        Form::Text | Form::Key | Form::Number | Form::Address => {
            token::bracketed(&finding.kind, number)
        }
    };
    Some(Edit {
        range: finding.start..finding.end,
        placeholder,
    })
}

/// A value as it is meant: without the escapes of the strings of JSON that it stands in. Where it goes back into some, it
/// gets theirs.
fn as_meant<'s>(scan: &TextScan, segment: &Segment, start: usize, value: &'s str) -> Cow<'s, str> {
    let mut meant = Cow::Borrowed(value);
    if segment.form != Form::Text || !value.contains('\\') {
        return meant;
    }
    let mut reader = Prose::default();
    let before = scan.text().get(segment.start..start).unwrap_or_default();
    for letter in before.chars() {
        reader.push(letter);
    }
    for _ in 0..reader.strings() {
        if let Some(read) = unescape(&meant) {
            meant = Cow::Owned(read.text().to_owned());
        }
    }
    meant
}

/// Writes the edits into the request, by the same walk that read it.
fn rewrite(chat: &mut ChatRequest, scan: &TextScan, edits: Vec<Edit>) -> Result<(), Shifted> {
    let mut edits = edits.into_iter().peekable();
    let mut at = 0;
    let mut shifted = None;
    visit(chat, &mut |_, text| {
        let position = at;
        at += 1;
        let Some(segment) = scan.segments().get(position) else {
            shifted.get_or_insert(position);
            return None;
        };
        if scan.segment_text(position) != Some(text) {
            shifted.get_or_insert(position);
            return None;
        }
        edited(text, segment, &mut edits)
    });
    if at != scan.segments().len() || edits.peek().is_some() {
        shifted.get_or_insert(at);
    }
    match shifted {
        None => Ok(()),
        Some(segment) => Err(Shifted { segment }),
    }
}

/// A segment's text with its edits, or `None` where it has none.
fn edited(text: &str, segment: &Segment, edits: &mut Peekable<IntoIter<Edit>>) -> Option<String> {
    edits.peek().filter(|edit| edit.range.start < segment.end)?;
    let mut changed = String::with_capacity(text.len());
    let mut numbers = JsonNumbers::default();
    let mut from = 0;
    while let Some(Edit { range, placeholder }) =
        edits.next_if(|edit| edit.range.start < segment.end)
    {
        let range = range.start - segment.start..range.end - segment.start;
        changed.push_str(text.get(from..range.start)?);
        // JSON stays JSON: a placeholder is no number.
        if segment.form == Form::Text && numbers.is_one(text, &range) {
            changed.extend(["\"", &placeholder, "\""]);
        } else {
            changed.push_str(&placeholder);
        }
        from = range.end;
    }
    changed.push_str(text.get(from..)?);
    Some(changed)
}

/// Tells numbers of JSON within a text from others, in the order in which they stand.
#[derive(Default)]
struct JsonNumbers {
    reader: Prose,
    /// Bytes of the text that were read.
    read: usize,
}

impl JsonNumbers {
    /// Whether the stretch is a whole number of JSON. Few are, so it is looked at its neighbours first.
    fn is_one(&mut self, text: &str, range: &Range<usize>) -> bool {
        let value = text.get(range.clone()).unwrap_or_default();
        let before = text.get(..range.start).unwrap_or_default().trim_ascii_end();
        let behind = text.get(range.end..).unwrap_or_default().trim_ascii_start();
        let may_be = value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
            && before.ends_with([':', ',', '['])
            && behind.starts_with([',', ']', '}']);
        if !may_be {
            return false;
        }
        let unread = text.get(self.read..range.start).unwrap_or_default();
        for letter in unread.chars() {
            self.reader.push(letter);
        }
        self.read = range.start;
        self.reader.is_bare_json()
    }
}
