//! Where the parts of a chat stand in the body that it was read from, so that a refusal names what its caller wrote.
//!
//! Decoders lift system prompts out of the turns, leave empty texts out, put results together and give fields other
//! names. What is kept of that here are paths, and nothing of what stands there.

use std::fmt;

use serde_json::Value;

use crate::chat::{ChatRequest, Part};

/// A body of a compat surface that was read.
pub struct Decoded {
    pub chat: ChatRequest,
    pub places: Places,
}

/// The places of one chat in its body.
pub struct Places {
    system: Vec<PartPlace>,
    turns: Vec<TurnPlace>,
    /// Turns of a stored conversation, which stand in no body, in front of these.
    stored_turns: usize,
    /// What stands elsewhere in this body alone: the place in the chat, and the one in the body.
    moved: Vec<(String, String)>,
    words: &'static Words,
}

/// A name in the chat, and the surface's own.
type Word = (&'static str, &'static str);

/// What a surface gives other names than a chat.
pub(super) struct Words {
    /// Whole places outside of turns and tools.
    pub(super) request: &'static [Word],
    /// Fields of a tool.
    pub(super) tool: &'static [Word],
    /// Fields of a part; without a word where it is no field of its own in the body.
    pub(super) part: &'static [Word],
}

/// Where a turn stands.
pub(super) struct TurnPlace {
    /// Its index in the caller's array; that of the first, where several became one turn.
    pub(super) at: usize,
    pub(super) parts: Vec<PartPlace>,
}

/// A field of the body, an entry of an array there, or a field of such an entry. Written out for a refusal alone.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Field(&'static str),
    Entry(&'static str, usize),
    FieldOf(&'static str, usize, &'static str),
}

/// Where a part stands.
pub(super) struct PartPlace {
    place: Place,
    /// Its index, where an array stands there.
    at: Option<usize>,
    /// Of a tool result whose content is an array: where its parts stand in that.
    items: Option<Vec<usize>>,
}

/// Parts, and the place of each.
#[derive(Default)]
pub(super) struct Placed {
    pub(super) parts: Vec<Part>,
    pub(super) places: Vec<PartPlace>,
}

impl Places {
    pub(super) const fn new(
        system: Vec<PartPlace>,
        turns: Vec<TurnPlace>,
        words: &'static Words,
    ) -> Self {
        Self {
            system,
            turns,
            stored_turns: 0,
            moved: Vec::new(),
            words,
        }
    }

    /// Notes that this body has something elsewhere than the surface's words say.
    pub(super) fn move_to(&mut self, place: impl Into<String>, named: impl Into<String>) {
        self.moved.push((place.into(), named.into()));
    }

    /// The chat's first turns come from a stored conversation: the body's are behind them.
    pub fn put_behind(&mut self, stored_turns: usize) {
        self.stored_turns = stored_turns;
    }

    /// What the body calls a place of the chat: `messages[1].content[0].arguments` is `messages[2].content[1].input`
    /// there. Drivers know the chat by the names of `provider.wit`, which differ in `max_output_tokens`. A place that
    /// the body does not have keeps its name.
    pub fn name(&self, place: &str) -> String {
        let moved = self.moved.iter().find(|(of_chat, _)| of_chat == place);
        let named = match moved {
            Some((_, named)) => Some(named.clone()),
            None => self.found(place),
        };
        named.unwrap_or_else(|| place.to_owned())
    }

    fn found(&self, place: &str) -> Option<String> {
        let Words {
            request,
            tool,
            part: _,
        } = self.words;
        match step(place) {
            ("system", Some(at), rest) => Some(self.part(self.system.get(at)?, rest)),
            ("messages", Some(at), rest) => {
                let turn = self.turns.get(at.checked_sub(self.stored_turns)?)?;
                match step(rest.strip_prefix('.')?) {
                    // Without an index it is the only part.
                    ("content", at, rest) => {
                        Some(self.part(turn.parts.get(at.unwrap_or_default())?, rest))
                    }
                    _ => Some(format!("messages[{}]{rest}", turn.at)),
                }
            }
            // As a location or as a pointer.
            ("tools", Some(at), rest) => {
                let separator = rest.get(..1)?;
                let (field, _, behind) = step(rest.get(1..)?);
                let field = word(tool, field).replace('.', separator);
                Some(format!("tools[{at}]{separator}{field}{behind}"))
            }
            _ => {
                // A parameter without a field of its own has its bare name in the body too.
                let bare = place.strip_prefix("ext.").unwrap_or(place);
                let bare = bare.strip_prefix("must-").unwrap_or(bare);
                Some(word(request, bare).to_owned())
            }
        }
    }

    /// A place in a part.
    fn part(&self, part: &PartPlace, rest: &str) -> String {
        let Some(rest) = rest.strip_prefix('.') else {
            return part.path();
        };
        let ("content", Some(at), inner) = step(rest) else {
            return self.field(part.path(), rest);
        };
        let mut path = format!("{}.content", part.path());
        if let Some(item) = part.items.as_ref().and_then(|items| items.get(at)) {
            path = format!("{path}[{item}]");
        }
        match inner.strip_prefix('.') {
            Some(field) => self.field(path, field),
            None => path,
        }
    }

    /// A field of the part that stands there.
    fn field(&self, path: String, field: &str) -> String {
        match word(self.words.part, field) {
            "" => path,
            own => format!("{path}.{own}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => f.write_str(name),
            Self::Entry(array, at) => write!(f, "{array}[{at}]"),
            Self::FieldOf(array, at, name) => write!(f, "{array}[{at}].{name}"),
        }
    }
}

impl PartPlace {
    /// A part that stands there alone.
    pub(super) const fn alone(place: Place) -> Self {
        Self {
            place,
            at: None,
            items: None,
        }
    }

    /// An item of the array that stands there.
    pub(super) const fn item(place: Place, at: usize) -> Self {
        Self {
            place,
            at: Some(at),
            items: None,
        }
    }

    /// A tool result that stands there, with the places of its content.
    pub(super) fn result(place: Place, content: &[Self]) -> Self {
        Self {
            place,
            at: None,
            items: content.iter().map(|place| place.at).collect(),
        }
    }

    fn path(&self) -> String {
        let Self { place, at, .. } = self;
        match at {
            Some(at) => format!("{place}[{at}]"),
            None => place.to_string(),
        }
    }
}

impl Placed {
    /// Parts without the empty texts (wire.md 2, point 15).
    pub(super) fn without_empty_text(parts: Vec<Part>, places: Vec<PartPlace>) -> Self {
        let is_empty = |part: &Part| matches!(part, Part::Text { text, .. } if text.is_empty());
        let (parts, places) = parts
            .into_iter()
            .zip(places)
            .filter(|(part, _)| !is_empty(part))
            .unzip();
        Self { parts, places }
    }

    pub(super) fn push(&mut self, part: Part, place: PartPlace) {
        self.parts.push(part);
        self.places.push(place);
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.parts.append(&mut other.parts);
        self.places.append(&mut other.places);
    }
}

/// Where the parts of a content stand, which is one text or an array of parts.
pub(super) fn of_content(content: &Value, place: Place) -> Vec<PartPlace> {
    let Value::Array(parts) = content else {
        return vec![PartPlace::alone(place)];
    };
    let of_part = |(at, part): (usize, &Value)| {
        let inner = part.get("content").and_then(Value::as_array);
        PartPlace {
            items: inner.map(|inner| (0..inner.len()).collect()),
            ..PartPlace::item(place, at)
        }
    };
    parts.iter().enumerate().map(of_part).collect()
}

/// The first step of a place and what is behind it: `messages[2].content[0]` is `messages`, 2 and `.content[0]`.
fn step(place: &str) -> (&str, Option<usize>, &str) {
    let end = place.find(['[', '.', '/']).unwrap_or(place.len());
    let (word, rest) = place.split_at(end);
    let index = rest.strip_prefix('[').and_then(|rest| {
        let (index, behind) = rest.split_once(']')?;
        Some((index.parse().ok()?, behind))
    });
    match index {
        Some((index, behind)) => (word, Some(index), behind),
        None => (word, None, rest),
    }
}

/// The surface's word for a name, which is the same where it has none of its own.
fn word<'w>(words: &[Word], name: &'w str) -> &'w str {
    let own = words.iter().find(|(of_chat, _)| *of_chat == name);
    own.map_or(name, |(_, own)| *own)
}
