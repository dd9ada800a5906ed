//! JSON and prose within each other: a reply in a schema, a fenced example, an object within a sentence, a document in
//! a tool's argument.
//!
//! In prose, JSON begins at an opening bracket that a quotation mark follows, and ends with its last bracket. What
//! stands in its strings is read as there, so that a value can go in escaped; everything else is plain text. A string
//! is prose again, down to [`MAX_STRINGS`] of them, one in the other.

use super::json::{JsonReader, Unit};

/// Strings of JSON, one in the other, that are told apart; a deeper one is text of the last. Nobody nests as many, and
/// each doubles the backslashes of what goes in.
const MAX_STRINGS: usize = 8;

/// JSON, whose strings are prose.
#[derive(Default)]
pub(super) struct JsonText {
    json: JsonReader,
    /// How many strings all of it stands in.
    within: usize,
    /// What the string says, from its first opening bracket on.
    string: Option<Box<Prose>>,
}

/// Prose, which may hold JSON.
#[derive(Default)]
pub(in crate::phi) struct Prose {
    place: Place,
    json: JsonText,
}

#[derive(Clone, Copy, Default)]
enum Place {
    #[default]
    Plain,
    /// Behind an opening bracket, and nothing but white space since.
    Bracket,
    /// In JSON, with this many brackets open.
    Json { depth: u32 },
}

impl JsonText {
    pub(super) fn push(&mut self, letter: char) -> Unit {
        let unit = self.json.push(letter);
        match &unit {
            Unit::Partial => {}
            Unit::Plain => self.say(letter),
            Unit::Escaped { reads, .. } => self.say(*reads),
            Unit::Structure => self.string = None,
        }
        unit
    }

    /// How many strings this place is within, one in the other.
    pub(super) fn strings(&self) -> usize {
        if self.json.in_string() {
            1 + self.string.as_ref().map_or(0, |string| string.strings())
        } else {
            0
        }
    }

    /// The end of the text: an escape sequence that never became complete.
    pub(super) fn finish(&mut self) -> String {
        self.json.finish()
    }

    fn say(&mut self, letter: char) {
        match &mut self.string {
            Some(string) => {
                string.push(letter);
            }
            None if matches!(letter, '{' | '[') && self.within + 1 < MAX_STRINGS => {
                let string = Prose::within(self.within + 1);
                self.string.insert(Box::new(string)).push(letter);
            }
            None => {}
        }
    }
}

impl Prose {
    fn within(strings: usize) -> Self {
        let json = JsonText {
            within: strings,
            ..JsonText::default()
        };
        Self {
            json,
            ..Self::default()
        }
    }

    /// Reads on.
    pub(in crate::phi) fn read(&mut self, text: &str) {
        for letter in text.chars() {
            self.push(letter);
        }
    }

    pub(in crate::phi) fn push(&mut self, letter: char) -> Unit {
        match (self.place, letter) {
            (Place::Json { depth }, _) => return self.in_json(letter, depth),
            (_, '{' | '[') => self.place = Place::Bracket,
            (Place::Bracket, '"') => return self.in_json(letter, 1),
            (Place::Bracket, _) if letter.is_ascii_whitespace() => {}
            _ => self.place = Place::Plain,
        }
        Unit::Plain
    }

    /// As [`JsonText::strings`].
    pub(in crate::phi) fn strings(&self) -> usize {
        self.json.strings()
    }

    /// Whether this place is in JSON and in no string: a number stands there, or a mark.
    pub(in crate::phi) fn is_bare_json(&self) -> bool {
        matches!(self.place, Place::Json { .. }) && self.strings() == 0
    }

    /// As [`JsonText::finish`].
    pub(super) fn finish(&mut self) -> String {
        self.json.finish()
    }

    fn in_json(&mut self, letter: char, depth: u32) -> Unit {
        let unit = self.json.push(letter);
        if !matches!(unit, Unit::Structure) {
            return unit;
        }
        self.place = match letter {
            '{' | '[' => Place::Json {
                depth: depth.saturating_add(1),
            },
            '}' | ']' if depth > 1 => Place::Json { depth: depth - 1 },
            // A fence ends JSON that was not finished.
            '}' | ']' | '`' => Place::Plain,
            _ => Place::Json { depth },
        };
        Unit::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::escaped;
    use super::*;

    /// The beginning of a string of JSON within a string within a string.
    fn nested(strings: usize) -> String {
        let opener = "{\"a\": \"".to_owned();
        (1..strings).fold(opener.clone(), |inner, _| {
            opener.clone() + &escaped(&inner, 1)
        })
    }

    #[test]
    fn strings_are_told_apart_down_to_a_limit() {
        for strings in 1..=MAX_STRINGS + 4 {
            let mut reader = Prose::default();
            reader.read(&nested(strings));
            assert_eq!(reader.strings(), strings.min(MAX_STRINGS), "{strings}");
        }
    }
}
