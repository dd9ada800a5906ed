//! Puts values back in the place of placeholders, while the text still arrives.
//!
//! Every character is judged by what came before it, so that the result is the same however the text is cut.
//! Held back is only a tail that can still become a placeholder of the table. Nothing is restored into an
//! address that the model wrote: fetching it would carry the value away.

pub(super) mod address;
mod dates;
pub(super) mod forms;
pub(super) mod json;
pub(super) mod prose;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use address::AddressWatch;
use json::Unit;
use prose::{JsonText, Prose};
use serde_json::Value;

use super::map::{PlaceholderMap, Speaker};
use super::token::{Inside, Step};

/// What one reply may restore: placeholders with a value that the caller brought. Holds PHI.
#[derive(Default)]
pub struct RestoreTable {
    /// By the canonical inside, `NAME_1`.
    values: BTreeMap<String, Known>,
}

struct Known {
    value: String,
    /// Only the caller's program has said it, in its system prompt: its tools get it, and people do not.
    is_for_tools: bool,
}

impl RestoreTable {
    /// Everything in the map but what came from the organization's system prompt alone.
    pub fn of(map: &PlaceholderMap) -> Self {
        let values = map.restorable().map(|(inside, value, speaker)| {
            let is_for_tools = speaker == Speaker::Program;
            (
                inside,
                Known {
                    value,
                    is_for_tools,
                },
            )
        });
        Self {
            values: values.collect(),
        }
    }

    /// Whether there is nothing to restore.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn value(&self, inside: &str, channel: Channel) -> Option<&str> {
        let known = self.values.get(inside)?;
        (channel == Channel::Json || !known.is_for_tools).then_some(&known.value)
    }

    fn has_prefix(&self, prefix: &str) -> bool {
        self.values
            .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
            .next()
            .is_some_and(|(inside, _)| inside.starts_with(prefix))
    }
}

/// How the text of a channel is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Text or reasoning. Values go in as they are, and escaped into the strings of JSON that it holds.
    Prose,
    /// The JSON text of a tool call's arguments: only strings in it hold placeholders, and values go in
    /// escaped. They go to the program that asked, so that it gets what it said in its system prompt, too.
    Json,
}

/// Restores one channel of one reply.
pub struct Restorer {
    table: Arc<RestoreTable>,
    reader: Reader,
    address: AddressWatch,
    /// The last sign that was no white space.
    last: char,
    state: State,
    /// The candidate as it arrived, and as it reads.
    held: String,
    held_reads: String,
    inside: Inside,
    restored: u64,
    drifted: u64,
}

enum Reader {
    Prose(Prose),
    Json(JsonText),
}

impl Reader {
    fn push(&mut self, letter: char) -> Unit {
        match self {
            Self::Prose(reader) => reader.push(letter),
            Self::Json(reader) => reader.push(letter),
        }
    }

    const fn channel(&self) -> Channel {
        match self {
            Self::Prose(_) => Channel::Prose,
            Self::Json(_) => Channel::Json,
        }
    }

    fn is_bare_json(&self) -> bool {
        matches!(self, Self::Prose(reader) if reader.is_bare_json())
    }

    fn strings(&self) -> usize {
        match self {
            Self::Prose(reader) => reader.strings(),
            Self::Json(reader) => reader.strings(),
        }
    }

    fn finish(&mut self) -> String {
        match self {
            Self::Prose(reader) => reader.finish(),
            Self::Json(reader) => reader.finish(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// Behind a backslash that may belong to an escaped bracket.
    Backslash,
    /// Behind an opening bracket; this many bytes of `held` are a backslash before it.
    Bracket {
        backslash_bytes: usize,
    },
}

impl Restorer {
    /// A restorer for a channel of which nothing was seen yet.
    pub fn new(table: Arc<RestoreTable>, channel: Channel) -> Self {
        Self {
            table,
            reader: match channel {
                Channel::Prose => Reader::Prose(Prose::default()),
                Channel::Json => Reader::Json(JsonText::default()),
            },
            address: AddressWatch::default(),
            last: ' ',
            state: State::Outside,
            held: String::new(),
            held_reads: String::new(),
            inside: Inside::default(),
            restored: 0,
            drifted: 0,
        }
    }

    /// Takes in the next piece; gives what can be sent on.
    pub fn push(&mut self, piece: &str) -> String {
        if self.table.is_empty() {
            return piece.to_owned();
        }
        let mut out = String::with_capacity(self.held.len() + piece.len());
        for letter in piece.chars() {
            match self.reader.push(letter) {
                Unit::Partial => {}
                Unit::Plain => {
                    let mut raw = [0; 4];
                    self.letter(letter, letter.encode_utf8(&mut raw), &mut out);
                }
                // No escape of JSON, but one of Markdown, as prose has it.
                Unit::Escaped {
                    reads: reads @ ('[' | ']'),
                    raw,
                } if raw.len() == 2 && matches!(self.reader, Reader::Prose(_)) => {
                    self.letter('\\', "\\", &mut out);
                    let mut utf8 = [0; 4];
                    self.letter(reads, reads.encode_utf8(&mut utf8), &mut out);
                }
                Unit::Escaped { reads, raw } => self.letter(reads, &raw, &mut out),
                Unit::Structure => {
                    self.release(&mut out);
                    self.address = AddressWatch::default();
                    out.push(letter);
                }
            }
        }
        out
    }

    /// The end of the text; gives what was held back.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        self.release(&mut out);
        out.push_str(&self.reader.finish());
        out
    }

    /// Placeholders restored so far.
    pub fn restored(&self) -> u64 {
        self.restored
    }

    /// How many of them were not written as they were issued.
    pub fn drifted(&self) -> u64 {
        self.drifted
    }

    /// One character: what it reads as, and as it arrived.
    fn letter(&mut self, reads: char, raw: &str, out: &mut String) {
        loop {
            match self.state {
                State::Outside => {
                    self.outside(reads, raw, out);
                    return;
                }
                State::Backslash if reads == '[' => {
                    let backslash_bytes = self.held.len();
                    self.hold(reads, raw);
                    self.state = State::Bracket { backslash_bytes };
                    return;
                }
                State::Backslash => self.release(out),
                State::Bracket { backslash_bytes } => match self.inside.push(reads) {
                    Step::Open if self.table.has_prefix(self.inside.canonical()) => {
                        self.hold(reads, raw);
                        return;
                    }
                    Step::Closed { escaped } if self.restore(backslash_bytes, escaped, out) => {
                        return;
                    }
                    Step::Open | Step::Closed { .. } | Step::Broken => self.release(out),
                },
            }
        }
    }

    fn outside(&mut self, reads: char, raw: &str, out: &mut String) {
        match reads {
            '[' if !self.address.inside() => {
                self.hold(reads, raw);
                self.state = State::Bracket { backslash_bytes: 0 };
            }
            '\\' if !self.address.inside() => {
                self.hold(reads, raw);
                self.state = State::Backslash;
            }
            _ => {
                self.address.see(reads);
                if !reads.is_whitespace() {
                    self.last = reads;
                }
                out.push_str(raw);
            }
        }
    }

    fn hold(&mut self, reads: char, raw: &str) {
        self.held.push_str(raw);
        self.held_reads.push(reads);
    }

    /// Writes the value of the candidate, if it has one. Of `\[NAME_1\]` both backslashes go; a backslash
    /// before a bracket that closes without one is the text's own.
    fn restore(&mut self, backslash_bytes: usize, escaped: bool, out: &mut String) -> bool {
        let channel = self.reader.channel();
        let Some(value) = self.table.value(self.inside.canonical(), channel) else {
            return false;
        };
        if !escaped {
            out.push_str(self.held.get(..backslash_bytes).unwrap_or_default());
        }
        match self.reader.strings() {
            // A value by itself: `{"on": date([DATE_1])}` is no JSON.
            0 if self.reader.is_bare_json()
                && matches!(self.last, ':' | ',' | '[')
                && !json::is_value(value) =>
            {
                out.push_str(&Value::from(value).to_string());
            }
            0 => out.push_str(value),
            strings => out.push_str(&json::escaped(value, strings)),
        }
        self.address.see_placeholder(value);
        self.last = ']';
        self.restored += 1;
        let is_exact = self.held_reads.strip_prefix('[') == Some(self.inside.canonical());
        self.drifted += u64::from(!is_exact);
        self.forget();
        true
    }

    /// Lets the candidate go as it arrived.
    fn release(&mut self, out: &mut String) {
        out.push_str(&self.held);
        for reads in self.held_reads.chars() {
            self.address.see(reads);
        }
        self.forget();
    }

    fn forget(&mut self) {
        self.held.clear();
        self.held_reads.clear();
        self.inside.clear();
        self.state = State::Outside;
    }
}

/// Restores a whole text; gives it with the count of placeholders restored.
pub fn restore(text: &str, table: &Arc<RestoreTable>, channel: Channel) -> (String, u64) {
    let mut restorer = Restorer::new(Arc::clone(table), channel);
    let mut out = restorer.push(text);
    out.push_str(&restorer.finish());
    (out, restorer.restored())
}
