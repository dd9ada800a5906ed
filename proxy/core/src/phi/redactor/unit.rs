//! A stretch of a reply between two cuts: scanned once, with what came before it, and then sent.

use std::borrow::Cow;
use std::ops::Range;

use crate::phi::counts::Counts;
use crate::phi::kind::Kind;
use crate::phi::map::{PlaceholderMap, Speaker};
use crate::phi::merge::{Finding, part};
use crate::phi::normal::Rewrite;
use crate::phi::redact::Shifted;
use crate::phi::restore::json::unescape;
use crate::phi::scan::{Document, Passage, TextScan};
use crate::phi::token;
use crate::phi::{Form, Origin};

/// What came before a unit and is scanned with it, in bytes: a sentence or two.
pub(super) const CONTEXT_BYTES: usize = 256;

/// Texts to judge and what stands between them. Holds content.
#[derive(Default)]
pub(super) struct Unit {
    /// Texts that were sent before and tell what these may be.
    pub(super) context: Vec<String>,
    pub(super) atoms: Vec<Atom>,
    /// Of JSON, what stands before it.
    pub(super) document: Option<String>,
}

/// One piece of a unit.
pub(super) enum Atom {
    /// Goes as it is.
    Fixed(String),
    Text(Text),
    /// A number of JSON; one that is PHI becomes a string.
    Number(String),
}

pub(super) struct Text {
    /// What came before in the same text.
    before: String,
    /// As it arrived.
    raw: String,
    /// What `raw` reads as, where it is the inside of a JSON string with escapes.
    unescaped: Option<Rewrite>,
    /// Where numbers of JSON stand in `raw`. One that is PHI becomes a string.
    numbers: Vec<Range<usize>>,
}

impl Text {
    pub(super) fn prose(before: String, raw: String, numbers: Vec<Range<usize>>) -> Self {
        Self {
            before,
            raw,
            unescaped: None,
            numbers,
        }
    }

    pub(super) fn in_json(before: String, raw: String) -> Self {
        Self {
            before,
            unescaped: unescape(&raw),
            raw,
            numbers: Vec::new(),
        }
    }

    pub(super) fn reads(&self) -> &str {
        self.unescaped.as_ref().map_or(&self.raw, Rewrite::text)
    }
}

/// What is written down while a unit is redacted.
pub(super) struct Edits<'e> {
    pub(super) map: &'e mut PlaceholderMap,
    pub(super) counts: &'e mut Counts,
    /// Values that were replaced, as they read.
    pub(super) values: Vec<(Kind, String)>,
}

impl Unit {
    /// Whether there is nothing in it that could be PHI.
    pub(super) fn is_blank(&self) -> bool {
        let is_blank = |text: &str| !text.contains(char::is_alphanumeric);
        self.atoms.iter().all(|atom| match atom {
            Atom::Fixed(_) => true,
            Atom::Text(text) => is_blank(text.reads()),
            Atom::Number(number) => is_blank(number),
        })
    }

    pub(super) fn scan(&self, origin: Origin) -> TextScan {
        let context = self
            .context
            .iter()
            .map(|text| ([text.as_str(), ""], Form::Text, false));
        let mut lead = self.document.clone().unwrap_or_default();
        let texts = self.atoms.iter().enumerate().filter_map(|(at, atom)| {
            let (text, form) = match atom {
                Atom::Fixed(text) => {
                    lead.push_str(text);
                    return None;
                }
                Atom::Text(text) if self.is_key(at) => ([&*text.before, text.reads()], Form::Key),
                Atom::Text(text) => ([&*text.before, text.reads()], Form::Text),
                Atom::Number(number) => ([number.as_str(), ""], Form::Number),
            };
            let is_keyed = form != Form::Key && leads_to_a_value(&lead);
            lead.clear();
            Some((text, form, is_keyed))
        });
        TextScan::of_texts(context.chain(texts), origin, self.as_document(origin))
    }

    /// Whether this piece is a key of JSON.
    fn is_key(&self, at: usize) -> bool {
        matches!(self.atoms.get(at + 1), Some(Atom::Fixed(text)) if ends_a_key(text))
    }

    /// The JSON that the texts stand in.
    fn as_document(&self, origin: Origin) -> Option<Document> {
        let mut lead = self.document.clone()?;
        let mut document = Document::new(origin);
        let mut segment = self.context.len();
        for (at, atom) in self.atoms.iter().enumerate() {
            if let Atom::Fixed(text) = atom {
                lead.push_str(text);
                continue;
            }
            document.passages.push(Passage {
                lead: std::mem::take(&mut lead),
                segment,
                is_key: self.is_key(at),
            });
            segment += 1;
        }
        Some(document)
    }

    /// The unit as it arrived.
    pub(super) fn raw(self) -> String {
        self.atoms
            .into_iter()
            .map(|atom| match atom {
                Atom::Fixed(text) | Atom::Number(text) => text,
                Atom::Text(text) => text.raw,
            })
            .collect()
    }

    /// The unit with placeholders in the place of `findings`, which are sorted. What was sent before stays sent.
    ///
    /// # Errors
    /// [`Shifted`] when `findings` are not of this unit.
    pub(super) fn redact(
        self,
        scan: &TextScan,
        findings: &[Finding],
        edits: &mut Edits<'_>,
    ) -> Result<String, Shifted> {
        let mut out = String::new();
        let mut segment = self.context.len();
        for atom in &self.atoms {
            let (raw, before_bytes, text) = match atom {
                Atom::Fixed(text) => {
                    out.push_str(text);
                    continue;
                }
                Atom::Number(number) => (number, 0, None),
                Atom::Text(text) => (&text.raw, text.before.len(), Some(text)),
            };
            let first = findings.partition_point(|finding| finding.segment < segment);
            let mine = findings
                .get(first..)
                .unwrap_or_default()
                .iter()
                .take_while(|finding| finding.segment == segment);
            let from = scan.segments().get(segment).map_or(0, |at| at.start) + before_bytes;
            let text = edited(raw, from, text, scan, mine, edits).ok_or(Shifted { segment })?;
            match (atom, text) {
                (Atom::Number(_), Cow::Owned(text)) => out.extend(["\"", &text, "\""]),
                (_, text) => out.push_str(&text),
            }
            segment += 1;
        }
        Ok(out)
    }
}

/// One text with placeholders; borrowed where none belongs in it, and nothing where one has no place in it. `from` is
/// where it begins in the scan.
fn edited<'f, 't>(
    raw: &'t str,
    from: usize,
    of: Option<&Text>,
    scan: &TextScan,
    findings: impl Iterator<Item = &'f Finding>,
    edits: &mut Edits<'_>,
) -> Option<Cow<'t, str>> {
    let unescaped = of.and_then(|text| text.unescaped.as_ref());
    let numbers = of.map_or(&[][..], |text| &text.numbers);
    let mut text = String::new();
    let mut done = 0;
    for finding in findings {
        let Some(finding) = part(scan, finding, finding.start.max(from), finding.end) else {
            continue;
        };
        let inside = finding.start - from..finding.end - from;
        let inside = match unescaped {
            Some(unescaped) => unescaped.source_of(inside),
            None => inside,
        };
        let number_of_json = numbers
            .iter()
            .find(|number| number.start <= inside.start && inside.end <= number.end);
        let original = scan.text().get(finding.start..finding.end)?;
        let identity = scan.identity(&finding);
        let number = edits
            .map
            .issue(&finding.kind, identity, original, Speaker::Model);
        edits.counts.add(&finding.kind);
        let value = scan.value(&finding).to_owned();
        edits.values.push((finding.kind.clone(), value));
        let place = number_of_json.unwrap_or(&inside);
        // The first finding in a number has replaced all of it.
        if place.end <= done {
            continue;
        }
        let mark = if number_of_json.is_some() { "\"" } else { "" };
        text.push_str(raw.get(done..place.start.max(done))?);
        text.push_str(mark);
        text.push_str(&token::bracketed(&finding.kind, number));
        text.push_str(mark);
        done = place.end;
    }
    if done == 0 {
        return Some(Cow::Borrowed(raw));
    }
    text.push_str(raw.get(done..)?);
    Some(Cow::Owned(text))
}

/// Whether what stands behind this is the value of the key before it, or the first text of it: `": [null, "`.
fn leads_to_a_value(json: &str) -> bool {
    let Some((_, behind)) = json.rsplit_once(':') else {
        return false;
    };
    let is_mark = |sign: char| sign.is_ascii_whitespace() || "[]{},\"".contains(sign);
    let said = behind.split(is_mark);
    said.into_iter()
        .all(|word| matches!(word, "" | "null" | "true" | "false"))
}

/// Whether JSON goes on like this behind a key.
fn ends_a_key(json: &str) -> bool {
    let behind = json.strip_prefix('"');
    behind.is_some_and(|behind| behind.trim_start().starts_with(':'))
}

/// The end of a text that goes with the next one: whole words, at most [`CONTEXT_BYTES`].
pub(super) fn keep_tail(text: &mut String) {
    if text.len() <= CONTEXT_BYTES {
        return;
    }
    let from = text.ceil_char_boundary(text.len() - CONTEXT_BYTES);
    let tail = text.get(from..).unwrap_or_default();
    let word = tail.find(char::is_whitespace).map_or(from, |at| from + at);
    text.drain(..word);
}
