//! Text or reasoning on its way: held up to the next cut.

use std::collections::HashSet;
use std::ops::Range;

use super::cutter::{Cut, Cutter};
use super::unit::{Atom, Text, Unit, keep_tail};
use crate::phi::restore::json::is_of_number;
use crate::phi::restore::prose::Prose as Reader;

/// One channel. Holds content.
#[derive(Default)]
pub(super) struct Prose {
    cutter: Cutter,
    /// What was sent last, as the provider wrote it.
    before: String,
    held: String,
    reader: Reader,
    /// Where numbers of JSON stand in `held`.
    numbers: Vec<Range<usize>>,
}

impl Prose {
    /// Takes in text up to the first cut, if there is one; gives the bytes taken.
    pub(super) fn take(&mut self, piece: &str, known: &HashSet<String>) -> (usize, Cut) {
        let held_bytes = self.held.len();
        for (at, letter) in piece.char_indices() {
            self.read(letter, held_bytes + at);
            let cut = self.cutter.push(letter, known);
            if cut != Cut::No {
                let taken = at + letter.len_utf8();
                self.held.push_str(piece.get(..taken).unwrap_or_default());
                return (taken, cut);
            }
        }
        self.held.push_str(piece);
        (piece.len(), Cut::No)
    }

    fn read(&mut self, letter: char, at: usize) {
        self.reader.push(letter);
        if self.reader.is_bare_json() && is_of_number(letter) {
            match self.numbers.last_mut() {
                Some(number) if number.end == at => number.end = at + 1,
                _ => self.numbers.push(at..at + 1),
            }
        }
    }

    /// What is held, as a unit; nothing where nothing is.
    pub(super) fn unit(&mut self) -> Option<Unit> {
        self.cutter.cut();
        let raw = std::mem::take(&mut self.held);
        let numbers = std::mem::take(&mut self.numbers);
        if raw.is_empty() {
            return None;
        }
        let before = self.before.clone();
        self.before.push_str(&raw);
        keep_tail(&mut self.before);
        Some(Unit {
            context: Vec::new(),
            atoms: vec![Atom::Text(Text::prose(before, raw, numbers))],
            document: None,
        })
    }
}
