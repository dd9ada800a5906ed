//! Prose that may hold JSON: a reply in a schema, a fenced example, an object within a sentence.
//!
//! JSON begins at an opening bracket that a quotation mark follows, and ends with its last bracket. What stands
//! in its strings is read as there, so that a value can go in escaped; everything else is plain text.

use super::json::{JsonReader, Unit};

#[derive(Default)]
pub(super) struct ProseReader {
    place: Place,
    json: JsonReader,
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

impl ProseReader {
    pub(super) fn push(&mut self, letter: char) -> Unit {
        match (self.place, letter) {
            (Place::Json { depth }, _) => return self.in_json(letter, depth),
            (_, '{' | '[') => self.place = Place::Bracket,
            (Place::Bracket, '"') => return self.in_json(letter, 1),
            (Place::Bracket, _) if letter.is_ascii_whitespace() => {}
            _ => self.place = Place::Plain,
        }
        Unit::Plain
    }

    /// Whether this place is within a string of JSON.
    pub(super) fn in_string(&self) -> bool {
        self.json.in_string()
    }

    /// The end of the text: an escape sequence that never became complete.
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
