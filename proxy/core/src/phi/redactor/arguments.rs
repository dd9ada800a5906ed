//! The arguments of one tool call on their way: JSON text, cut between its strings and numbers.
//!
//! Arguments are no reading for people while they arrive, so a short call is judged in one piece, its keys
//! beside its values. It does not validate: words that stand outside of strings, where models forget their quotes or
//! take others, are read too.

use super::unit::{Atom, CONTEXT_BYTES, Text, Unit, keep_tail};
use crate::phi::restore::json::{JsonReader, Unit as Letter, is_of_number};
use crate::phi::scan::inside_quotes;

/// Bytes from which a unit ends between two values.
const UNIT_BYTES: usize = 512;

/// Bytes from which a string is cut at white space, and at any character.
const MAX_STRING_BYTES: usize = 1_024;
const MAX_UNBROKEN_BYTES: usize = 4_096;

/// The longest string that says what another one is.
const CONTEXT_STRING_BYTES: usize = 64;

/// Texts of the unit before that are scanned with the next one: the last keys and values.
const CONTEXT_TEXTS: usize = 4;

/// One tool call's arguments. Holds content.
#[derive(Default)]
pub(super) struct Arguments {
    reader: JsonReader,
    in_string: bool,
    /// What the unit holds so far, in bytes.
    unit_bytes: usize,
    atoms: Vec<Atom>,
    /// The end of `atoms` that is still growing: one of these four.
    fixed: String,
    number: String,
    /// Outside of strings: a literal of JSON, or what no JSON has.
    words: String,
    string: String,
    /// The part of the string that was sent before.
    before: String,
    context: Vec<String>,
    /// The end of what went before, as [`Self::write`] notes it.
    written: String,
}

impl Arguments {
    /// Takes in text up to the first cut, if there is one; gives the bytes taken.
    pub(super) fn take(&mut self, fragment: &str) -> (usize, bool) {
        for (at, letter) in fragment.char_indices() {
            self.unit_bytes += letter.len_utf8();
            if self.push(letter) {
                return (at + letter.len_utf8(), true);
            }
        }
        (fragment.len(), false)
    }

    fn push(&mut self, letter: char) -> bool {
        match self.reader.push(letter) {
            Letter::Structure if letter == '"' => {
                if self.in_string {
                    self.end_string();
                    self.before.clear();
                } else {
                    self.end_number();
                    self.end_words();
                }
                self.in_string = !self.in_string;
                self.fixed.push(letter);
            }
            Letter::Structure => self.structure(letter),
            Letter::Partial | Letter::Escaped { .. } => self.string_letter(letter),
            Letter::Plain => {
                self.string_letter(letter);
                return is_long(&self.string, letter);
            }
        }
        if !self.words.is_empty() {
            return is_long(&self.words, letter);
        }
        // Behind a quote it is not known yet whether that was a key.
        !self.in_string && letter != '"' && self.number.is_empty() && self.unit_bytes >= UNIT_BYTES
    }

    fn structure(&mut self, letter: char) {
        let goes_on = !self.number.is_empty() && is_of_number(letter);
        let is_mark = "{}[]:,".contains(letter);
        if !self.words.is_empty() && !is_mark {
            self.words.push(letter);
        } else if letter.is_ascii_digit() || letter == '-' || goes_on {
            self.end_fixed();
            self.number.push(letter);
        } else if is_mark || letter.is_whitespace() {
            self.end_number();
            self.end_words();
            self.fixed.push(letter);
        } else {
            self.end_fixed();
            // No number of JSON is followed by a letter.
            self.words = std::mem::take(&mut self.number);
            self.words.push(letter);
        }
    }

    fn string_letter(&mut self, letter: char) {
        self.end_fixed();
        self.string.push(letter);
    }

    /// What is held, as a unit; nothing where nothing is.
    pub(super) fn unit(&mut self) -> Option<Unit> {
        self.end_string();
        self.end_number();
        self.end_words();
        self.end_fixed();
        self.unit_bytes = 0;
        let atoms = std::mem::take(&mut self.atoms);
        if atoms.is_empty() {
            return None;
        }
        let texts = atoms.iter().filter_map(|atom| match atom {
            Atom::Fixed(_) => None,
            Atom::Text(text) => Some(text.reads().to_owned()),
            Atom::Number(number) => Some(number.clone()),
        });
        let mut context: Vec<String> = texts.collect();
        context.drain(..context.len().saturating_sub(CONTEXT_TEXTS));
        context.iter_mut().for_each(keep_tail);
        context.retain(|text| !text.is_empty());
        let context = std::mem::replace(&mut self.context, context);
        let document = self.written.clone();
        self.write(&atoms);
        Some(Unit {
            context,
            atoms,
            document: Some(document),
        })
    }

    /// Notes what goes away, for the document around what comes: from the end of a string on, and of long strings
    /// nothing.
    fn write(&mut self, atoms: &[Atom]) {
        let mut ends = vec![0];
        let mut is_string = false;
        for atom in atoms {
            match atom {
                Atom::Fixed(text) => {
                    ends.push(self.written.len() + usize::from(is_string && text.starts_with('"')));
                    self.written.push_str(text);
                }
                Atom::Number(number) => self.written.push_str(number),
                Atom::Text(text) if text.reads().len() <= CONTEXT_STRING_BYTES => {
                    self.written.push_str(&inside_quotes(text.reads()));
                }
                Atom::Text(_) => {}
            }
            is_string = matches!(atom, Atom::Text(_));
        }
        let least = self.written.len().saturating_sub(CONTEXT_BYTES);
        let from = ends.into_iter().find(|end| *end >= least);
        let (gone, kept) = self.written.split_at(from.unwrap_or(self.written.len()));
        if !gone.is_empty() {
            self.written = openers(gone) + kept.trim_start_matches(',');
        }
    }

    fn end_string(&mut self) {
        if self.string.is_empty() {
            return;
        }
        let raw = std::mem::take(&mut self.string);
        let before = std::mem::take(&mut self.before);
        let text = Text::in_json(before.clone(), raw);
        // Only a string that goes on needs it.
        self.before = before + text.reads();
        keep_tail(&mut self.before);
        self.atoms.push(Atom::Text(text));
    }

    fn end_number(&mut self) {
        if !self.number.is_empty() {
            let number = std::mem::take(&mut self.number);
            self.atoms.push(Atom::Number(number));
        }
    }

    fn end_words(&mut self) {
        if self.words.is_empty() {
            return;
        }
        let words = std::mem::take(&mut self.words);
        let is_literal = matches!(words.trim_end(), "true" | "false" | "null");
        self.atoms.push(if is_literal {
            Atom::Fixed(words)
        } else {
            Atom::Text(Text::prose(String::new(), words, Vec::new()))
        });
    }

    fn end_fixed(&mut self) {
        if !self.fixed.is_empty() {
            let fixed = std::mem::take(&mut self.fixed);
            self.atoms.push(Atom::Fixed(fixed));
        }
    }
}

/// The last key of JSON whose value is open at its end, with the brackets that are open since.
fn openers(json: &str) -> String {
    let mut open: Vec<(Option<usize>, usize)> = Vec::new();
    let (mut string, mut key, mut in_string) = (0, None, false);
    for (at, sign) in json.char_indices() {
        match sign {
            '"' => {
                if !in_string {
                    string = at;
                }
                in_string = !in_string;
            }
            _ if in_string => {}
            ':' => key = Some(string),
            '[' | '{' => open.push((key.take(), at)),
            ']' | '}' => drop(open.pop()),
            ',' => key = None,
            _ => {}
        }
    }
    let keyed = open.iter().rposition(|(key, _)| key.is_some());
    let open = open.get(keyed.unwrap_or(0)..).unwrap_or_default();
    open.iter()
        .filter_map(|(key, at)| json.get(key.unwrap_or(*at)..=*at))
        .collect()
}

/// Whether a text is cut behind this letter, its last.
fn is_long(text: &str, letter: char) -> bool {
    text.len() >= MAX_UNBROKEN_BYTES || (text.len() >= MAX_STRING_BYTES && letter.is_whitespace())
}
