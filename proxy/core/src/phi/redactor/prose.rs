//! Text or reasoning on its way: held up to the next cut.

use std::collections::HashSet;

use super::cutter::{Cut, Cutter};
use super::unit::{Atom, Text, Unit, keep_tail};

/// One channel. Holds content.
#[derive(Default)]
pub(super) struct Prose {
    cutter: Cutter,
    /// What was sent last, as the provider wrote it.
    before: String,
    held: String,
}

impl Prose {
    /// Takes in text up to the first cut, if there is one; gives the bytes taken.
    pub(super) fn take(&mut self, piece: &str, known: &HashSet<String>) -> (usize, Cut) {
        for (at, letter) in piece.char_indices() {
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

    /// What is held, as a unit; nothing where nothing is.
    pub(super) fn unit(&mut self) -> Option<Unit> {
        self.cutter.cut();
        let raw = std::mem::take(&mut self.held);
        if raw.is_empty() {
            return None;
        }
        let before = self.before.clone();
        self.before.push_str(&raw);
        keep_tail(&mut self.before);
        Some(Unit {
            context: Vec::new(),
            atoms: vec![Atom::Text(Text::prose(before, raw))],
        })
    }
}
