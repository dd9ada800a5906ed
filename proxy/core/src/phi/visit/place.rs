//! Where a text position is. A place is a chain on the stack: it costs nothing until somebody asks for its
//! words, and its words hold no text but keys of tool schemas.

use std::fmt::Write as _;

use crate::phi::Origin;

/// What a text position may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    /// A key of a JSON object; its place is that of the object.
    Key,
    /// A JSON number; a replacement makes it a string.
    Number,
    /// A name or id of the letters, digits, `_` and `-` that providers accept there.
    Identifier,
    /// An address that the provider fetches: with a placeholder in it, it leads nowhere.
    Address,
    /// An id by which callers have a provider tell their users apart.
    Pseudonym,
}

/// Whether a text is a part of a turn that readers join with the part before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// No text part.
    Apart,
    First,
    Next,
}

/// A text's place in a JSON document.
#[derive(Clone, Copy)]
pub struct InDocument<'a> {
    /// Which of the documents of the request; they are numbered as they are visited.
    pub number: usize,
    /// What stands between the text before it and this one, as JSON is written; before the first, what opens the
    /// document.
    pub lead: &'a str,
}

/// A text position under visit. Its path is written out only when somebody asks.
#[derive(Clone, Copy)]
pub struct Spot<'a> {
    pub origin: Origin,
    pub form: Form,
    pub joint: Joint,
    /// Whether it is the value of the key that was visited before, or the first text of it.
    pub is_keyed: bool,
    /// Where it stands in JSON.
    pub document: Option<InDocument<'a>>,
    pub(super) place: &'a Place<'a>,
}

/// A path as a list that lives on the stack, last step first.
pub(super) struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Field(&'static str),
    Index(usize),
    /// Steps inside JSON of the caller.
    Key(&'a str),
    Item(usize),
}

/// Longest location, in bytes, before deeper steps are left out; keys are the caller's and of any length.
const MAX_LOCATION_BYTES: usize = 256;

impl Spot<'_> {
    /// Where the text stands in the chat: `messages[2].content[0]`. Ends where JSON of the caller begins, whose keys
    /// may be PHI. What the caller's body calls it is the surface's to say.
    pub fn location(&self) -> String {
        let mut location = String::new();
        for step in self.place.steps() {
            match step {
                Step::Field(name) if location.is_empty() => location.push_str(name),
                Step::Field(name) => {
                    location.push('.');
                    location.push_str(name);
                }
                Step::Index(at) => {
                    // Writing to a string cannot fail.
                    let _ = write!(location, "[{at}]");
                }
                // Surfaces give these names, no caller does.
                Step::Key(name) if location == "ext" => {
                    location.push('.');
                    location.push_str(name);
                }
                Step::Key(_) | Step::Item(_) => break,
            }
        }
        location
    }

    /// Whether the text belongs to `tools`.
    pub fn is_tool_definition(&self) -> bool {
        let mut place = self.place;
        while let Some(parent) = place.parent {
            place = parent;
        }
        matches!(place.step, Step::Field("tools"))
    }

    /// The message that the text belongs to, by its place in the chat.
    pub fn message(&self) -> Option<usize> {
        let (mut place, mut below) = (self.place, None);
        while let Some(parent) = place.parent {
            below = Some(place.step);
            place = parent;
        }
        match (place.step, below) {
            (Step::Field("messages"), Some(Step::Index(at))) => Some(at),
            _ => None,
        }
    }

    /// As [`Self::location`] with everything behind the first index as a JSON pointer (RFC 6901):
    /// `tools[0]/input_schema/properties/x/description`. Only for places whose keys were found clean.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for (depth, step) in self.place.steps().into_iter().enumerate() {
            let before = pointer.len();
            // Writing to a string cannot fail.
            let _ = match step {
                Step::Field(name) if depth == 0 => pointer.write_str(name),
                Step::Field(name) => write!(pointer, "/{name}"),
                Step::Index(at) => write!(pointer, "[{at}]"),
                Step::Key(key) => write!(pointer, "/{}", key.replace('~', "~0").replace('/', "~1")),
                Step::Item(at) => write!(pointer, "/{at}"),
            };
            if pointer.len() > MAX_LOCATION_BYTES {
                pointer.truncate(before);
                break;
            }
        }
        pointer
    }
}

impl<'a> Place<'a> {
    pub(super) const fn root(name: &'static str) -> Self {
        Self {
            parent: None,
            step: Step::Field(name),
        }
    }

    pub(super) const fn then(&'a self, step: Step<'a>) -> Self {
        Self {
            parent: Some(self),
            step,
        }
    }

    pub(super) const fn field(&'a self, name: &'static str) -> Self {
        self.then(Step::Field(name))
    }

    /// The key of the caller's JSON that this is the value of.
    pub(super) const fn key(&self) -> Option<&'a str> {
        match self.step {
            Step::Key(key) => Some(key),
            Step::Field(_) | Step::Index(_) | Step::Item(_) => None,
        }
    }

    fn steps(&self) -> Vec<Step<'_>> {
        let mut steps = Vec::new();
        let mut place = Some(self);
        while let Some(Place { parent, step }) = place {
            steps.push(*step);
            place = *parent;
        }
        steps.reverse();
        steps
    }
}
