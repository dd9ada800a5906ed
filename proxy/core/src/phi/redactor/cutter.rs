//! Where a text that still arrives may be cut, so that what is before the cut can be judged and sent.
//!
//! A function of the text alone, character by character: the cuts are the same however the text arrives. It
//! knows nothing of detectors; it only sees which words cannot be the middle of something.

use std::collections::HashSet;

use super::words::{is_common, is_opening, is_wary};

/// Plain words behind one that may be part of PHI, before a cut: a surname or the rest of a date has come by
/// then.
const PLAIN_WORDS_AFTER: u32 = 2;

/// Bytes from which any white space is a cut: the most that is held back of ordinary text.
const MAX_UNIT_BYTES: usize = 256;

/// Bytes from which any letter of a script without capitals is a cut: some sixty letters without a sign.
const MAX_CASELESS_BYTES: usize = 192;

/// Bytes from which white space is a cut in such scripts: some words.
const CASELESS_BYTES: usize = 48;

/// Bytes from which every character is a cut: an encoded blob, or no text at all.
const MAX_UNBROKEN_BYTES: usize = 1_024;

/// Least bytes between two cuts, by the bytes that came before: the first word goes at once, later ones share
/// a detector call.
const PACE: [(usize, usize); 5] = [(0, 1), (16, 12), (64, 24), (256, 48), (usize::MAX, 96)];

/// Numbers of at most [`MAX_SMALL_DIGITS`] digits in a row before a cut: a date has three.
const SMALL_NUMBERS: u32 = 4;

/// Digits of a number that is nothing by itself: a dose, the number of a list.
const MAX_SMALL_DIGITS: u32 = 2;

/// Digits that a word of small letters may have: `w12` is no identifier.
const MAX_PLAIN_DIGITS: u32 = 3;

/// Longest word, in bytes, that is looked up.
const MAX_WORD_BYTES: usize = 32;

/// Follows one channel of text.
#[derive(Default)]
pub(super) struct Cutter {
    /// Since the channel began, and since the last cut.
    all_bytes: usize,
    unit_bytes: usize,
    has_text: bool,
    /// Whether this unit has letters without capitals: nothing tells which of them are a name.
    is_caseless: bool,
    /// Whether a word of this unit may be part of PHI.
    is_wary: bool,
    plain_words: u32,
    small_numbers: u32,
    word: Word,
}

/// The word so far.
#[derive(Default)]
struct Word {
    /// Letters and apostrophes as they stand.
    text: String,
    letters: u32,
    digits: u32,
    /// A sign that stands between words and, here, between letters if more come.
    after_sign: bool,
    has_capital: bool,
    is_odd: bool,
}

/// What a character means for the text before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    No,
    /// Behind this character.
    Here,
    /// Behind this character, and the unit is a plain word that begins the channel: there is nothing to judge.
    Opening,
}

impl Cutter {
    /// Takes in one character. `known` are words of values that are known, in small letters.
    pub(super) fn push(&mut self, letter: char, known: &HashSet<String>) -> Cut {
        self.all_bytes += letter.len_utf8();
        self.unit_bytes += letter.len_utf8();
        if letter.is_whitespace() {
            self.end_word(known);
            let is_due = (letter == '\n' && self.has_text)
                || self.unit_bytes >= MAX_UNIT_BYTES
                || (self.is_caseless && !self.is_wary && self.unit_bytes >= CASELESS_BYTES)
                || self.plain_words >= self.plain_words_needed()
                || (self.small_numbers >= SMALL_NUMBERS && !self.is_wary);
            return self.cut_if(is_due && self.unit_bytes >= self.pace());
        }
        self.has_text = true;
        if is_caseless(letter) {
            // Most such scripts have no white space: values end behind any letter, and a cut waits for a sign.
            self.end_word(known);
            self.is_caseless = true;
            return self.cut_if(self.unit_bytes >= MAX_CASELESS_BYTES);
        }
        if self.is_caseless && ends_clause(letter) {
            self.end_word(known);
            return self.cut_if(self.unit_bytes >= self.pace());
        }
        self.word.push(letter);
        let is_first_word = self.word.text.len() == self.all_bytes;
        if is_first_word && is_opening(&self.word.text) {
            self.cut();
            return Cut::Opening;
        }
        self.cut_if(self.unit_bytes >= MAX_UNBROKEN_BYTES)
    }

    /// The unit ends here, whatever comes.
    pub(super) fn cut(&mut self) {
        self.unit_bytes = 0;
        self.has_text = false;
        self.is_caseless = false;
        self.is_wary = false;
        self.plain_words = 0;
        self.small_numbers = 0;
        self.word.clear();
    }

    fn cut_if(&mut self, is_due: bool) -> Cut {
        if !is_due {
            return Cut::No;
        }
        let is_one_plain_word =
            self.plain_words == 1 && !self.is_wary && !self.is_caseless && self.small_numbers == 0;
        let is_opening = is_one_plain_word && self.unit_bytes == self.all_bytes;
        self.cut();
        if is_opening { Cut::Opening } else { Cut::Here }
    }

    fn pace(&self) -> usize {
        let before = self.all_bytes - self.unit_bytes;
        PACE.iter()
            .find(|(until, _)| before <= *until)
            .map_or(0, |(_, least)| *least)
    }

    fn plain_words_needed(&self) -> u32 {
        if self.is_wary { PLAIN_WORDS_AFTER } else { 1 }
    }

    fn end_word(&mut self, known: &HashSet<String>) {
        let kind = self.word.kind(known);
        self.word.clear();
        match kind {
            Some(Kind::Plain) => {
                self.plain_words += 1;
                self.small_numbers = 0;
            }
            Some(Kind::SmallNumber) => self.small_numbers += 1,
            Some(Kind::Wary) => {
                self.is_wary = true;
                self.plain_words = 0;
                self.small_numbers = 0;
            }
            None => {}
        }
    }
}

enum Kind {
    Plain,
    /// Part of PHI only beside something that may be.
    SmallNumber,
    /// May be part of PHI.
    Wary,
}

impl Word {
    fn push(&mut self, letter: char) {
        if letter.is_alphanumeric() {
            let is_inside = std::mem::take(&mut self.after_sign) && self.letters + self.digits > 0;
            self.is_odd |= is_inside;
        }
        match letter {
            _ if letter.is_lowercase() => self.letters += 1,
            _ if letter.is_alphabetic() => {
                self.letters += 1;
                self.has_capital = true;
            }
            _ if letter.is_numeric() => self.digits += 1,
            '-' | '\'' | '\u{2019}' if self.digits == 0 => {}
            _ if is_quiet_sign(letter) => {
                self.after_sign = true;
                return;
            }
            _ => self.is_odd = true,
        }
        if self.text.len() < MAX_WORD_BYTES {
            self.text
                .push(if letter == '\u{2019}' { '\'' } else { letter });
        }
    }

    /// Keeps its room: a reply has many words.
    fn clear(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        *self = Self {
            text,
            ..Self::default()
        };
    }

    fn kind(&self, known: &HashSet<String>) -> Option<Kind> {
        if self.letters + self.digits == 0 && !self.is_odd {
            return None;
        }
        if !self.is_odd && self.letters == 0 && self.digits <= MAX_SMALL_DIGITS {
            return Some(Kind::SmallNumber);
        }
        let is_plain = !self.is_odd
            && self.letters > 0
            && self.digits <= MAX_PLAIN_DIGITS
            && (!self.has_capital || is_common(&self.text))
            && !is_wary(&self.text)
            && (known.is_empty() || !known.contains(&self.text.to_lowercase()));
        Some(if is_plain { Kind::Plain } else { Kind::Wary })
    }
}

/// Letters of scripts without capitals, most of which write words without white space. Letters that only change others
/// (`Hawai'i`) are of every script.
fn is_caseless(letter: char) -> bool {
    letter.is_alphabetic()
        && !letter.is_lowercase()
        && !letter.is_uppercase()
        && !matches!(letter, '\u{2b0}'..='\u{2ff}')
}

/// Signs behind which nothing goes on that stood before, in scripts that have signs of their own. Those of ASCII stand in
/// numbers and addresses, too, and have white space behind them where a clause ends.
const fn ends_clause(sign: char) -> bool {
    matches!(
        sign,
        '\u{3002}'
            | '\u{ff0c}'
            | '\u{ff1b}'
            | '\u{ff01}'
            | '\u{ff1f}'
            | '\u{60c}'
            | '\u{61b}'
            | '\u{61f}'
            | '\u{964}'
            | '\u{2026}'
    )
}

/// Signs around words that make no word look like an identifier.
const fn is_quiet_sign(letter: char) -> bool {
    matches!(
        letter,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '"'
            | '('
            | ')'
            | '*'
            | '#'
            | '|'
            | '`'
            | '~'
            | '\u{2013}'
            | '\u{2014}'
            | '\u{201c}'
            | '\u{201d}'
            | '\u{2018}'
            | '\u{2022}'
            | '\u{2026}'
            | '>'
    )
}
