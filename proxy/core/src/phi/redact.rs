//! Puts placeholders in the place of findings, in the original text.
//!
//! Text that looks like a placeholder and that this conversation did not issue keeps its look, and its
//! number is never given to a value: so it can never be restored to one. Placeholders that were issued stay
//! themselves, and no part of one is replaced again. Only where somebody writes one who has read a value in its place,
//! they mean what they write: it is a value then, with a placeholder of its own.

use std::borrow::Cow;
use std::collections::HashSet;
use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

use super::Origin;
use super::counts::Counts;
use super::kind::{ENTITY_KINDS, Kind};
use super::map::{IN_CALLS, IN_TEXT, PlaceholderMap, Shown, Speaker};
use super::merge::Finding;
use super::restore::address::ends_inside;
use super::restore::json::{is_of_number, unescape};
use super::restore::prose::Prose;
use super::scan::{Segment, TextScan};
use super::token::{self, Token};
use super::visit::{Form, visit};
use crate::chat::ChatRequest;

/// The text is not the one that was scanned, or what was found is not of it. It may be half rewritten: refuse it.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the text changed between scan and rewriting, at text position {segment}")]
pub struct Shifted {
    /// Position in [`TextScan::segments`] at which the two differ.
    pub segment: usize,
}

/// Who reads the reply.
#[derive(Clone, Copy, Debug, Default)]
pub struct Listener {
    /// They get values in the place of placeholders.
    pub gets_values: bool,
    /// Messages at the front of the chat that are as they were stored: with the placeholders of the conversation.
    pub stored_messages: usize,
}

/// Replaces `findings` of `scan` in `chat`, and counts what was replaced. Numbers are given in the order of
/// first appearance.
///
/// # Errors
/// [`Shifted`] when `chat` is not what `scan` read, or `findings` are not of it.
pub fn redact(
    chat: &mut ChatRequest,
    scan: &TextScan,
    findings: &[Finding],
    map: &mut PlaceholderMap,
    listener: Listener,
) -> Result<Counts, Shifted> {
    if let Some(finding) = findings.iter().find(|finding| !scan.holds(finding)) {
        let segment = finding.segment;
        return Err(Shifted { segment });
    }
    let (tokens, shown) = look_alikes(scan, findings, map);
    let findings = token::divide(scan, findings, &tokens);
    let mut along = Along::new(scan);
    if listener.gets_values {
        along.shown = shown;
        let stored = scan.first_messages(listener.stored_messages);
        let is_meant = |token: &&Token| is_meant(scan, token, &stored, map);
        along.meant = tokens
            .iter()
            .filter(is_meant)
            .map(|token| token.range.start)
            .collect();
    }
    if chat.has_house_prompt {
        along.prompter = Speaker::Operator;
    }
    let (edits, counts) = plan(along, &findings, &tokens, map)?;
    if !edits.is_empty() {
        rewrite(chat, scan, edits)?;
    }
    Ok(counts)
}

/// Finds what looks like a placeholder, and reserves the numbers that text of others uses. A placeholder
/// that the assistant wrote earlier may be one of ours that comes back, where it was not restored: those are left to
/// the order of appearance, for values that are not.
fn look_alikes(
    scan: &TextScan,
    findings: &[Finding],
    map: &mut PlaceholderMap,
) -> (Vec<Token>, Shown) {
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
    let mut shown = Shown::default();
    tokens.retain(|token| {
        let Token {
            range,
            kind,
            number,
        } = token;
        if map.holds(kind.as_str(), *number) {
            return true;
        }
        let reach = match segment_of(scan, range.start).map(|segment| segment.origin) {
            Some(Origin::AssistantText) => Some(IN_TEXT),
            Some(Origin::ToolArguments) => Some(IN_CALLS),
            _ => None,
        };
        let disguise = *number > token::MAX_LITERAL_NUMBER;
        if let Some(reach) = reach.filter(|_| !disguise) {
            shown.add(kind, *number, reach);
            said_before.insert((kind.clone(), *number));
        } else if disguise || !said_before.contains(&(kind.clone(), *number)) {
            map.reserve(kind, *number);
        }
        !disguise
    });
    (tokens, shown)
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

/// Whether whoever wrote a look-alike means it, because they read a value in the place of the placeholder.
fn is_meant(scan: &TextScan, token: &Token, stored: &Range<usize>, map: &PlaceholderMap) -> bool {
    let at = scan.segment_at(token.range.start);
    scan.segments().get(at).is_some_and(|segment| {
        segment.form == Form::Text
            && matches!(
                segment.origin,
                Origin::SystemPrompt | Origin::UserText | Origin::ToolResult
            )
            && !stored.contains(&at)
            && map.is_read(token.kind.as_str(), token.number)
            // No value is read in an address.
            && !scan
                .text()
                .get(segment.start..token.range.start)
                .is_some_and(ends_inside)
    })
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
    mut along: Along<'_>,
    findings: &[Finding],
    tokens: &[Token],
    map: &mut PlaceholderMap,
) -> Result<(Vec<Edit>, Counts), Shifted> {
    let mut edits = Vec::with_capacity(findings.len());
    let mut counts = Counts::default();
    let mut tokens = tokens.iter().peekable();
    for finding in findings {
        while let Some(token) = tokens.next_if(|token| token.range.start < finding.start) {
            edits.extend(passed(&along, token, map));
        }
        let edit = replacement(&mut along, finding, map);
        edits.push(edit.ok_or(Shifted {
            segment: finding.segment,
        })?);
        counts.add(&finding.kind);
    }
    for token in tokens {
        edits.extend(passed(&along, token, map));
    }
    Ok((edits, counts))
}

/// The edit of a look-alike that is meant as it stands; of others the number is kept.
fn passed(along: &Along<'_>, token: &Token, map: &mut PlaceholderMap) -> Option<Edit> {
    let Token {
        range,
        kind,
        number,
    } = token;
    if !along.meant.contains(&range.start) {
        map.reserve(kind, *number);
        return None;
    }
    let written = along.scan.text().get(range.clone())?;
    let number = map.issue_beside(&along.shown, kind, written, written, Speaker::Caller);
    Some(Edit {
        range: range.clone(),
        placeholder: token::bracketed(kind, number),
    })
}

/// The edit of a finding; nothing where its place is none of the scan's.
fn replacement(along: &mut Along<'_>, finding: &Finding, map: &mut PlaceholderMap) -> Option<Edit> {
    let scan = along.scan;
    let range = finding.start..finding.end;
    let value = scan.text().get(range.clone())?;
    let segment = scan.segments().get(finding.segment)?;
    let speaker = match segment.origin {
        Origin::SystemPrompt => along.prompter,
        Origin::ToolArguments => Speaker::Calls,
        _ => Speaker::Caller,
    };
    let is_text = segment.form == Form::Text;
    let written = if is_text && value.contains('\\') {
        as_meant(value, along.at(finding)?.strings())
    } else {
        Cow::Borrowed(value)
    };
    // JSON stays JSON: a placeholder is no number.
    let is_number = is_text
        && may_be_number(scan.segment_text(finding.segment)?, segment, &range)
        && along.at(finding)?.is_bare_json();
    let number = map.issue_beside(
        &along.shown,
        &finding.kind,
        scan.identity(finding),
        &written,
        speaker,
    );
    let placeholder = match segment.form {
        Form::Identifier => token::bare(&finding.kind, number),
        Form::Text | Form::Key | Form::Number | Form::Address | Form::Pseudonym => {
            token::bracketed(&finding.kind, number)
        }
    };
    Some(Edit {
        range,
        placeholder: if is_number {
            format!("\"{placeholder}\"")
        } else {
            placeholder
        },
    })
}

/// A value as it is meant: without the escapes of the strings of JSON that it stands in. Where it goes back into some,
/// it gets theirs.
fn as_meant(value: &str, strings: usize) -> Cow<'_, str> {
    let mut meant = Cow::Borrowed(value);
    for _ in 0..strings {
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
        edited(text, segment, &mut edits).unwrap_or_else(|| {
            shifted.get_or_insert(position);
            None
        })
    });
    if at != scan.segments().len() || edits.peek().is_some() {
        shifted.get_or_insert(at);
    }
    match shifted {
        None => Ok(()),
        Some(segment) => Err(Shifted { segment }),
    }
}

/// A segment's text with its edits, `Some(None)` where it has none; nothing where they are not on it.
fn edited(
    text: &str,
    segment: &Segment,
    edits: &mut Peekable<IntoIter<Edit>>,
) -> Option<Option<String>> {
    if edits
        .peek()
        .is_none_or(|edit| edit.range.start >= segment.end)
    {
        return Some(None);
    }
    let mut changed = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(Edit { range, placeholder }) =
        edits.next_if(|edit| edit.range.start < segment.end)
    {
        let start = range.start.checked_sub(segment.start)?;
        changed.push_str(text.get(from..start)?);
        changed.push_str(&placeholder);
        from = range.end.checked_sub(segment.start)?;
    }
    changed.push_str(text.get(from..)?);
    Some(Some(changed))
}

/// Whether a stretch of a segment's text looks like a whole number of JSON. Few do, so that hardly any text is read for
/// the answer.
fn may_be_number(text: &str, segment: &Segment, range: &Range<usize>) -> bool {
    let inside = |at: usize| at.saturating_sub(segment.start);
    let (before, rest) = text
        .split_at_checked(inside(range.start))
        .unwrap_or_default();
    let (value, behind) = rest.split_at_checked(range.len()).unwrap_or_default();
    value.chars().all(is_of_number)
        && before.trim_ascii_end().ends_with([':', ',', '['])
        && behind.trim_ascii_start().starts_with([',', ']', '}'])
}

/// Reads the texts of a scan as JSON and prose, as far as findings ask for it. They stand in order, so that no text is
/// read twice.
struct Along<'s> {
    scan: &'s TextScan,
    /// Whose words a system prompt is.
    prompter: Speaker,
    shown: Shown,
    /// Where look-alikes begin that are meant as they stand.
    meant: HashSet<usize>,
    /// Of which segment something was read, and up to which byte of the buffer.
    segment: usize,
    read: usize,
    reader: Prose,
}

impl<'s> Along<'s> {
    fn new(scan: &'s TextScan) -> Self {
        Self {
            scan,
            prompter: Speaker::Program,
            shown: Shown::default(),
            meant: HashSet::new(),
            segment: 0,
            read: 0,
            reader: Prose::default(),
        }
    }

    /// What a finding's place is in; nothing where findings are in no order.
    fn at(&mut self, finding: &Finding) -> Option<&Prose> {
        let unread = self.unread(finding)?;
        self.reader.read(unread);
        Some(&self.reader)
    }

    /// What of a finding's segment stands before it and was not read yet. It is, from now on.
    fn unread(&mut self, finding: &Finding) -> Option<&'s str> {
        if self.segment != finding.segment {
            self.segment = finding.segment;
            self.read = self.scan.segments().get(finding.segment)?.start;
            self.reader = Prose::default();
        }
        let unread = self.scan.text().get(self.read..finding.start)?;
        self.read = finding.start;
        Some(unread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(segment: usize, range: Range<usize>) -> Finding {
        Finding {
            start: range.start,
            end: range.end,
            kind: Kind::named("NAME"),
            score: 1_000,
            segment,
            refuses: false,
            reads: None,
        }
    }

    #[test]
    fn no_text_is_read_twice() {
        let text = r#"{"a": "Jos\u00e9", "b": "Ren\u00e9e"}"#.repeat(100);
        let scan = TextScan::of(&mut ChatRequest::of_user_text(text.clone()));
        let mut along = Along::new(&scan);
        let places = text.match_indices('\\');
        let findings = places.map(|(at, _)| finding(0, at..at + 1));
        let read = findings.map(|finding| along.unread(&finding).map_or(0, str::len));
        assert!(read.sum::<usize>() <= text.len());
    }

    #[test]
    fn findings_that_are_not_on_the_text_refuse_it() {
        let mut chat = ChatRequest::of_user_text("Jane Doé was here");
        let scan = TextScan::of(&mut chat);
        for range in [5..400, 400..404, 5..8] {
            let findings = [finding(0, range)];
            let redacted = redact(
                &mut chat,
                &scan,
                &findings,
                &mut PlaceholderMap::default(),
                Listener::default(),
            );
            assert_eq!(redacted, Err(Shifted { segment: 0 }));
        }
        let known = [finding(7, 0..4)];
        let redacted = redact(
            &mut chat,
            &scan,
            &known,
            &mut PlaceholderMap::default(),
            Listener::default(),
        );
        assert_eq!(redacted, Err(Shifted { segment: 7 }));
    }
}
