//! Which value has which placeholder, for one conversation or one stateless request.
//!
//! Holds PHI: no `Debug`, `Display` or `Serialize`; [`PlaceholderMap::to_json`] is for sealed storage only.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::kind::{ENTITY_KINDS, Kind};
use super::sweep::stand_in;
use super::token;

/// Who brought a value into the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The organization's own system prompt: values from there are never restored.
    Operator,
    /// The caller's program, in a system prompt of its own: values from there go back to it and not to people.
    Program,
    Caller,
    /// The caller's history, which brings back what a model called tools with: new values of it are the caller's, but what
    /// tools got of a system prompt does not become so.
    Calls,
    /// A reply: what is new there is taken out, and stays out.
    Model,
}

impl Speaker {
    /// Of whom a map tells.
    const STORED: [Self; 3] = [Self::Operator, Self::Caller, Self::Model];

    /// To how many a value of theirs may be restored: a value that somebody says later is theirs if it is more.
    const fn reach(self) -> u8 {
        match self {
            Self::Operator | Self::Model => 0,
            Self::Program | Self::Calls => IN_CALLS,
            Self::Caller => IN_TEXT,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            // Told apart by `FOR_TOOLS`: who does not know that restores nothing of it.
            Self::Operator | Self::Program => "operator",
            Self::Caller | Self::Calls => "caller",
            Self::Model => "model",
        }
    }

    fn from_word(word: &str, is_for_tools: bool) -> Option<Self> {
        let found = Self::STORED
            .into_iter()
            .find(|speaker| speaker.word() == word);
        found.map(|speaker| match speaker {
            Self::Operator if is_for_tools => Self::Program,
            speaker => speaker,
        })
    }
}

/// The reach of what is restored in the arguments of calls, and in text too.
pub(super) const IN_CALLS: u8 = 1;
pub(super) const IN_TEXT: u8 = 2;

/// The field of a stored value that tools get.
const FOR_TOOLS: &str = "tools";

/// Placeholders of one conversation, by kind and number.
#[derive(Clone, Default, PartialEq)]
pub struct PlaceholderMap {
    kinds: BTreeMap<Kind, Ledger>,
}

#[derive(Clone, Default, PartialEq)]
struct Ledger {
    entries: BTreeMap<u32, Entry>,
    numbers: Numbers,
    last: u32,
}

/// Numbers by the forms in which spellings of their values are equal.
#[derive(Clone, Default, PartialEq)]
struct Numbers(HashMap<String, u32>);

impl Numbers {
    /// The number of a value: of its own form, or of one that is written without the signs that divide it.
    fn find(&self, kind: &Kind, value: &str) -> Option<u32> {
        let normal = kind.normal(value);
        let found = match kind.divided(value) {
            Some(divided) => self.0.get(&divided).or_else(|| self.0.get(&normal)),
            None => {
                let whole = self.0.get(&normal);
                whole.or_else(|| self.0.get(&Self::undivided(&normal)))
            }
        };
        found.copied()
    }

    /// What knows a number keeps it.
    fn insert(&mut self, kind: &Kind, value: &str, number: u32) {
        let normal = kind.normal(value);
        match kind.divided(value) {
            Some(divided) => {
                self.0.entry(Self::undivided(&normal)).or_insert(number);
                self.0.entry(divided).or_insert(number);
            }
            None => {
                self.0.entry(normal).or_insert(number);
            }
        }
    }

    /// Where a value is found that is written without signs, and was first written with some.
    fn undivided(normal: &str) -> String {
        format!("~{normal}")
    }
}

/// Placeholders that earlier replies show to a caller who gets values in their place, each with the least reach that a
/// value would have had to have to be restored there: no such value is meant.
#[derive(Default)]
pub(super) struct Shown(HashMap<(Kind, u32), u8>);

impl Shown {
    pub(super) fn add(&mut self, kind: &Kind, number: u32, reach: u8) {
        let least = self.0.entry((kind.clone(), number)).or_insert(reach);
        *least = reach.min(*least);
    }

    /// Whether a number is none for a new value of somebody.
    fn bars(&self, kind: &Kind, number: u32, speaker: Speaker) -> bool {
        // Most requests show none.
        !self.0.is_empty()
            && self
                .0
                .get(&(kind.clone(), number))
                .is_some_and(|reach| speaker.reach() >= *reach)
    }
}

#[derive(Clone, PartialEq)]
enum Entry {
    /// A value as it was first written, what it reads as where that differs, and who wrote it.
    Value {
        original: String,
        reads: Option<String>,
        speaker: Speaker,
    },
    /// Somebody wrote this placeholder who had it not from us; the number belongs to their text.
    Literal,
}

/// A placeholder of an earlier reply, and what it stood for. Holds PHI.
#[derive(Clone, PartialEq)]
pub struct Kept {
    pub kind: String,
    pub number: u32,
    /// As it was first written.
    pub original: String,
    /// What it reads as, where that differs.
    pub reads: Option<String>,
}

/// What a placeholder of an earlier reply stood for is something else by now, or too much to be looked for.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a placeholder of an earlier reply stands for another value now")]
pub struct Contradicted;

/// A stored map that cannot be read. Says where, never what.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadMap {
    #[error("the placeholder map is not JSON of the known layout")]
    Layout,
    #[error("the placeholder map has layout {0}, which this version does not know")]
    Unknown(u64),
}

/// Layout of the stored JSON.
const LAYOUT: u64 = 1;

impl PlaceholderMap {
    /// Whether nothing was issued or reserved.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The number of a value that reads as `reads` and is written as `original`; a value that is new gets the
    /// next free one. A value that the caller sends after the operator or a model is the caller's from then on.
    pub(super) fn issue(
        &mut self,
        kind: &Kind,
        reads: &str,
        original: &str,
        speaker: Speaker,
    ) -> u32 {
        self.issue_beside(&Shown::default(), kind, reads, original, speaker)
    }

    /// As [`Self::issue`], where earlier replies show placeholders.
    pub(super) fn issue_beside(
        &mut self,
        shown: &Shown,
        kind: &Kind,
        reads: &str,
        original: &str,
        speaker: Speaker,
    ) -> u32 {
        // What tools got may be taken for another kind when the history brings it back, or with what is beside it.
        let is_of_calls = speaker == Speaker::Calls && !self.has(kind, reads);
        let speaker = if is_of_calls && self.may_be_of_program(original) {
            Speaker::Program
        } else {
            speaker
        };
        let ledger = self.kinds.entry(kind.clone()).or_default();
        if let Some(number) = ledger.numbers.find(kind, reads) {
            if let Some(Entry::Value {
                original: first_written,
                reads: first_reads,
                speaker: first,
            }) = ledger.entries.get_mut(&number)
                && speaker.reach() > first.reach()
            {
                original.clone_into(first_written);
                *first_reads = (reads != original).then(|| reads.to_owned());
                *first = match speaker {
                    Speaker::Calls => Speaker::Caller,
                    speaker => speaker,
                };
            }
            return number;
        }
        let speaker = match speaker {
            Speaker::Calls => Speaker::Caller,
            speaker => speaker,
        };
        let mut number = ledger.last.saturating_add(1);
        while ledger.entries.contains_key(&number) || shown.bars(kind, number, speaker) {
            number = number.saturating_add(1);
        }
        ledger.last = number;
        ledger.numbers.insert(kind, reads, number);
        let entry = Entry::Value {
            original: original.to_owned(),
            reads: (reads != original).then(|| reads.to_owned()),
            speaker,
        };
        ledger.entries.insert(number, entry);
        number
    }

    fn has(&self, kind: &Kind, reads: &str) -> bool {
        let ledger = self.kinds.get(kind);
        ledger.is_some_and(|ledger| ledger.numbers.find(kind, reads).is_some())
    }

    /// Whether a text holds what only the caller's program has said; where that is too much to look for, it may.
    fn may_be_of_program(&self, text: &str) -> bool {
        const MOST: usize = 256;
        let entries = self
            .kinds
            .values()
            .flat_map(|ledger| ledger.entries.values());
        let mut said = entries.filter_map(|entry| match entry {
            Entry::Value {
                original,
                speaker: Speaker::Program,
                ..
            } => Some(original.as_str()),
            _ => None,
        });
        let is_in_text = said.by_ref().take(MOST).any(|value| text.contains(value));
        is_in_text || said.next().is_some()
    }

    /// Keeps a number that foreign text uses from ever standing for a value.
    pub(super) fn reserve(&mut self, kind: &Kind, number: u32) {
        let ledger = self.kinds.entry(kind.clone()).or_default();
        ledger.entries.entry(number).or_insert(Entry::Literal);
    }

    /// What the placeholders of a text stand for.
    pub fn kept(&self, text: &str) -> Vec<Kept> {
        let (mut kept, mut seen) = (Vec::new(), HashSet::new());
        for token in token::tokens(text, |kind| self.knows_kind(kind)) {
            if !seen.insert((token.kind.clone(), token.number)) {
                continue;
            }
            let ledger = self.kinds.get(&token.kind);
            let entry = ledger.and_then(|ledger| ledger.entries.get(&token.number));
            if let Some(Entry::Value {
                original, reads, ..
            }) = entry
            {
                kept.push(Kept {
                    kind: token.kind.as_str().to_owned(),
                    number: token.number,
                    original: original.clone(),
                    reads: reads.clone(),
                });
            }
        }
        kept
    }

    /// Takes back what the placeholders of an earlier reply stood for, before any are issued: that text goes to the
    /// provider again as it was. A value that stands in what the caller has `shown` of it is the caller's, others are
    /// restored only if the caller says them. What stood for nothing never will.
    ///
    /// # Errors
    /// [`Contradicted`].
    pub fn take_back(
        &mut self,
        text: &str,
        kept: &[Kept],
        shown: &str,
    ) -> Result<(), Contradicted> {
        let originals: Vec<&str> = kept.iter().map(|kept| kept.original.as_str()).collect();
        let are_shown = stand_in(shown, &originals).ok_or(Contradicted)?;
        for (at, of_text) in kept.iter().enumerate() {
            let speaker = if are_shown.contains(&at) {
                Speaker::Caller
            } else {
                Speaker::Model
            };
            let kind = Kind::canonical(&of_text.kind);
            self.kinds
                .entry(kind.clone())
                .or_default()
                .take_back(&kind, of_text, speaker)?;
        }
        let is_known = |kind: &str| {
            self.knows_kind(kind) || ENTITY_KINDS.iter().any(|known| known.name == kind)
        };
        for token in token::tokens(text, is_known) {
            self.reserve(&token.kind, token.number);
        }
        Ok(())
    }

    /// Whether a number was issued or reserved.
    pub(super) fn holds(&self, kind: &str, number: u32) -> bool {
        self.kinds
            .get(kind)
            .is_some_and(|ledger| ledger.entries.contains_key(&number))
    }

    /// Whether the caller of text reads a value in the place of this number.
    pub(super) fn is_read(&self, kind: &str, number: u32) -> bool {
        let ledger = self.kinds.get(kind);
        let entry = ledger.and_then(|ledger| ledger.entries.get(&number));
        matches!(entry, Some(Entry::Value { speaker, .. }) if speaker.reach() >= IN_TEXT)
    }

    /// Whether a text is a placeholder of this map, and nothing else.
    pub(super) fn is_placeholder(&self, text: &str) -> bool {
        let tokens = token::tokens(text, |kind| self.knows_kind(kind));
        tokens.iter().any(|token| {
            token.range == (0..text.len()) && self.holds(token.kind.as_str(), token.number)
        })
    }

    pub(super) fn knows_kind(&self, kind: &str) -> bool {
        self.kinds.contains_key(kind)
    }

    /// Every value with its kind, as it reads. What only looks like a placeholder is none.
    pub(super) fn values(&self) -> impl Iterator<Item = (&Kind, &str)> {
        self.kinds.iter().flat_map(|(kind, ledger)| {
            ledger
                .entries
                .values()
                .filter_map(move |entry| match entry {
                    Entry::Value {
                        original,
                        reads,
                        speaker: _,
                    } => Some((kind, reads.as_deref().unwrap_or(original))),
                    Entry::Literal => None,
                })
                .filter(|(_, value)| !token::is_one(value))
        })
    }

    /// What may be restored: the inside of the placeholder, the value, and who brought it.
    pub(super) fn restorable(&self) -> impl Iterator<Item = (String, String, Speaker)> {
        self.kinds.iter().flat_map(|(kind, ledger)| {
            ledger
                .entries
                .iter()
                .filter_map(move |(number, entry)| match entry {
                    Entry::Value {
                        original,
                        reads: _,
                        speaker: speaker @ (Speaker::Program | Speaker::Caller),
                    } => Some((token::bare(kind, *number), original.clone(), *speaker)),
                    Entry::Value { .. } | Entry::Literal => None,
                })
        })
    }

    /// The map as JSON, to be sealed before it is stored.
    pub fn to_json(&self) -> String {
        let kinds: Map<String, Value> = self
            .kinds
            .iter()
            .map(|(kind, ledger)| {
                let entries = ledger.entries.iter().map(|(number, entry)| match entry {
                    Entry::Value {
                        original,
                        reads,
                        speaker,
                    } => {
                        let mut stored =
                            json!({"n": number, "value": original, "from": speaker.word()});
                        if let Some(reads) = reads {
                            stored["reads"] = json!(reads);
                        }
                        if *speaker == Speaker::Program {
                            stored[FOR_TOOLS] = json!(true);
                        }
                        stored
                    }
                    Entry::Literal => json!({"n": number}),
                });
                (kind.as_str().to_owned(), entries.collect())
            })
            .collect();
        json!({"layout": LAYOUT, "kinds": kinds}).to_string()
    }

    /// Reads what [`Self::to_json`] wrote.
    ///
    /// # Errors
    /// [`BadMap`]; the conversation cannot be continued then, since numbers could be given twice.
    pub fn from_json(text: &str) -> Result<Self, BadMap> {
        let stored: Value = serde_json::from_str(text).map_err(|_| BadMap::Layout)?;
        match stored.get("layout").and_then(Value::as_u64) {
            Some(LAYOUT) => {}
            Some(other) => return Err(BadMap::Unknown(other)),
            None => return Err(BadMap::Layout),
        }
        let kinds = stored.get("kinds").and_then(Value::as_object);
        let mut map = Self::default();
        for (name, entries) in kinds.ok_or(BadMap::Layout)? {
            let kind = Kind::canonical(name);
            let mut ledger = Ledger::default();
            for entry in entries.as_array().ok_or(BadMap::Layout)? {
                ledger.read(&kind, entry)?;
            }
            map.kinds.insert(kind, ledger);
        }
        Ok(map)
    }
}

impl Ledger {
    fn take_back(
        &mut self,
        kind: &Kind,
        kept: &Kept,
        speaker: Speaker,
    ) -> Result<(), Contradicted> {
        let reads = kept.reads.as_ref().unwrap_or(&kept.original);
        let known = self.numbers.find(kind, reads);
        match (known, self.entries.get_mut(&kept.number)) {
            (Some(known), Some(Entry::Value { speaker: first, .. })) if known == kept.number => {
                if speaker.reach() > first.reach() {
                    *first = speaker;
                }
            }
            (None, None) => {
                let entry = Entry::Value {
                    original: kept.original.clone(),
                    reads: kept.reads.clone(),
                    speaker,
                };
                self.entries.insert(kept.number, entry);
                self.numbers.insert(kind, reads, kept.number);
            }
            _ => return Err(Contradicted),
        }
        Ok(())
    }

    fn read(&mut self, kind: &Kind, stored: &Value) -> Result<(), BadMap> {
        let number = stored
            .get("n")
            .and_then(Value::as_u64)
            .and_then(|number| u32::try_from(number).ok())
            .ok_or(BadMap::Layout)?;
        let is_for_tools = stored.get(FOR_TOOLS) == Some(&Value::Bool(true));
        let entry = match (stored.get("value"), stored.get("from")) {
            (None, None) => Entry::Literal,
            (Some(Value::String(original)), Some(Value::String(from))) => {
                let reads = match stored.get("reads") {
                    None => None,
                    Some(Value::String(reads)) => Some(reads.clone()),
                    Some(_) => return Err(BadMap::Layout),
                };
                self.numbers
                    .insert(kind, reads.as_ref().unwrap_or(original), number);
                self.last = self.last.max(number);
                Entry::Value {
                    original: original.clone(),
                    reads,
                    speaker: Speaker::from_word(from, is_for_tools).ok_or(BadMap::Layout)?,
                }
            }
            _ => return Err(BadMap::Layout),
        };
        self.entries.insert(number, entry);
        Ok(())
    }
}
