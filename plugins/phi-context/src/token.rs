//! Words and numbers of a text, each with what the model looks at. Signs are what stands between them.

use phi_lexicon::language::Language;
use phi_lexicon::roles::ROLES;
use phi_lexicon::{Class, Hash, look_up};
use phi_text::script::stands_alone;

/// One word or number.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub start: usize,
    pub end: usize,
    /// Of its small letters; of a number that is longer than two digits, of its length alone.
    pub word: u64,
    /// How it is written.
    pub shape: u8,
    /// What the lists say about it.
    pub class: u16,
    pub tongue: Tongue,
    /// What the word does to those beside it, plus one; 0 for nothing.
    pub role: u8,
    pub gap: Gap,
    /// Of its first three letters; of a code, of the order of its letters and digits.
    pub prefix: u64,
    /// Of its last four letters.
    pub suffix: u64,
}

/// What a word says of the language that it is of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tongue {
    pub language: Option<Language>,
    /// Whether a list of another language has it.
    pub is_foreign: bool,
    /// Whether neither English nor Spanish is written so.
    pub is_of_script: bool,
    /// Whether its script has small letters and capitals.
    pub is_cased: bool,
}

/// What stands between a token and the one before: its first three signs, and whether a line ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap(u32);

impl Gap {
    const SPACE: u32 = 1;
    const LINE: u32 = 1 << 30;
    const SIGN_BITS: u32 = 7;
    const SIGNS: u32 = 3;
    /// All signs beyond ASCII.
    const OTHER: u32 = 0x7f;

    pub const fn is_line(self) -> bool {
        self.0 & Self::LINE != 0
    }

    /// Whether a value follows what stands before.
    pub fn is_label(self) -> bool {
        self.has(b":=#|")
    }

    /// Whether a question ends here.
    pub fn is_question(self) -> bool {
        self.has(b"?")
    }

    /// Whether the number before is a share of a hundred.
    pub fn is_share(self) -> bool {
        self.has(b"%")
    }

    /// Whether it is one hyphen and nothing else.
    pub fn is_hyphen(self) -> bool {
        self.is_only('-')
    }

    /// Whether nothing but space or a hyphen stands between, or nothing at all.
    pub fn is_close(self) -> bool {
        matches!(self.0, 0 | Self::SPACE) || self.is_hyphen()
    }

    /// Whether nothing but space stands between.
    pub const fn is_space(self) -> bool {
        self.0 == Self::SPACE
    }

    /// Whether a sentence or what somebody says may begin here.
    pub fn begins_clause(self) -> bool {
        self.is_line() || self.0 & Self::SPACE != 0 && self.has(b".?!:\"") || self.has(b"\"")
    }

    /// Whether a sentence or a line ends here.
    pub fn ends_a_sentence(self) -> bool {
        self.is_line() || self.0 & Self::SPACE != 0 && self.has(b".?!;")
    }

    /// Whether a tag of markup begins or ends here.
    pub fn is_of_markup(self) -> bool {
        self.has(b"<>")
    }

    /// Whether a square bracket stands between, as placeholders have on either side.
    pub fn is_square(self) -> bool {
        self.has(b"[]")
    }

    /// Whether a word or a cell begins here, and no part of a name of a program.
    pub fn is_wide(self) -> bool {
        self.0 & Self::SPACE != 0 || self.is_line() || self.has(b"\"'\t,;|")
    }

    /// Whether two values stand on either side, and not parts of one.
    pub fn divides(self) -> bool {
        self.is_line() || self.has(b",;|\"'<>={}[]*~^\t")
    }

    pub fn has_comma(self) -> bool {
        self.has(b",")
    }

    /// Whether two sides of an equation stand here, or a value and its tolerance.
    pub fn is_equation(self) -> bool {
        self.has(b"=") || self.has(b"+") && self.has(b"/")
    }

    /// Whether a sign stands between that only code and formulas have.
    pub fn is_of_code(self) -> bool {
        self.has(b"*={}[]<>|\\%$")
    }

    /// Whether brackets close right behind the one side and a program goes on: `15))).toBe`.
    pub fn closes_a_call(self) -> bool {
        self.0 & (Self::SPACE | Self::LINE) == 0 && self.has(b")")
    }

    /// Whether two strings or values of JSON or of a program stand on either side.
    pub fn is_seam(self) -> bool {
        self.has(b"\"'") && self.has(b":,[]\\=();") || self.has(b"{}")
    }

    /// Whether no value runs on here: between strings, and between cells of a row.
    pub fn ends_a_value(self) -> bool {
        let is_tight = self.0 & Self::SPACE == 0;
        self.is_seam() || self.has(b"|\t") || is_tight && self.has(b",")
    }

    /// Whether it is the one sign and nothing else.
    pub fn is_only(self, sign: char) -> bool {
        self == Self::default().with(sign)
    }

    fn has(self, wanted: &[u8]) -> bool {
        let mut signs = (self.0 & !Self::LINE) >> 1;
        while signs != 0 {
            if u8::try_from(signs & Self::OTHER).is_ok_and(|sign| wanted.contains(&sign)) {
                return true;
            }
            signs >>= Self::SIGN_BITS;
        }
        false
    }

    pub const fn number(self) -> u64 {
        self.0 as u64
    }

    fn with(self, sign: char) -> Self {
        if sign == '\n' || sign == '\r' {
            return Self(self.0 | Self::LINE);
        }
        if sign.is_whitespace() && sign != '\t' {
            return Self(self.0 | Self::SPACE);
        }
        let mut at = 1;
        while at < 1 + Self::SIGNS * Self::SIGN_BITS {
            if (self.0 >> at) & Self::OTHER == 0 {
                let code = u32::from(sign).min(Self::OTHER);
                return Self(self.0 | code << at);
            }
            at += Self::SIGN_BITS;
        }
        self
    }
}

/// The class of a word that no list knows. A bit that `Class::bits` leaves free.
pub const UNKNOWN: u16 = 1 << 8;

/// What `phi_lexicon::Class` says, by its bits.
const GIVEN: u16 = 1;
const SURNAME: u16 = 2;
const CITY: u16 = 4;
const WORD: u16 = 8;
const SURE: u16 = 16;
const COMMON: u16 = 64;
/// A word of the language of a text that is neither English nor Spanish.
const FOREIGN: u16 = 1 << 9;

/// How words are written. Numbers of one to twelve digits follow.
pub mod shape {
    pub const SMALL: u8 = 0;
    pub const CAPITAL: u8 = 1;
    pub const UPPER: u8 = 2;
    pub const INITIAL: u8 = 3;
    pub const MIXED: u8 = 4;
    /// Letters and digits.
    pub const CODE: u8 = 5;
    /// Four digits that may be a year.
    pub const YEAR: u8 = 6;
    /// A number of no digits, which is none.
    pub const NUMBER: u8 = 8;
}

impl Token {
    /// All that the lists say, and the writing.
    pub const fn class_and_shape(&self) -> u64 {
        (self.class as u64) << 8 | self.shape as u64
    }

    /// Whether it is a number of more than four digits.
    pub const fn is_long_number(&self) -> bool {
        self.shape > shape::NUMBER + 4
    }

    /// Whether it is a word of every day, and no letter alone.
    pub const fn is_of_the_language(&self) -> bool {
        self.class & (WORD | COMMON | FOREIGN) != 0 && self.end - self.start > 1
    }

    /// Takes what it is in other languages for what it is here.
    pub const fn put_abroad(&mut self) {
        if self.tongue.is_foreign {
            self.class = self.class & !UNKNOWN | FOREIGN;
        }
    }

    /// Whether it is one of the words that are used most, in small letters, and nobody's and no place's name.
    pub const fn is_plain(&self) -> bool {
        self.shape == shape::SMALL
            && self.class & COMMON != 0
            && self.class & (GIVEN | SURNAME | CITY) == 0
    }

    /// Whether it is one letter of a script whose letters are words by themselves.
    pub fn is_sign(&self, text: &str) -> bool {
        let mut letters = text.get(self.start..self.end).unwrap_or_default().chars();
        letters.next().is_some_and(stands_alone)
    }

    /// Whether a list of names, given or of families, has it.
    pub const fn is_listed_name(&self) -> bool {
        self.class & (GIVEN | SURNAME) != 0
    }

    /// Whether a list of towns has it.
    pub const fn is_listed_town(&self) -> bool {
        self.class & CITY != 0
    }

    /// What is looked at most: the writing, and the lists in a few words.
    pub const fn look(&self) -> u64 {
        /// Behind all that the lists say.
        const ROLE: u64 = 16;
        let class = self.class;
        let said = if self.role != 0 {
            ROLE + self.role as u64
        } else if class & COMMON != 0 {
            1
        } else if class & SURE != 0 {
            2
        } else if class & WORD != 0 && class & (GIVEN | SURNAME | CITY) != 0 {
            3
        } else if class & WORD != 0 {
            4
        } else if class & (GIVEN | SURNAME) != 0 {
            5
        } else if class & CITY != 0 {
            6
        } else if class & UNKNOWN != 0 {
            7
        } else {
            8
        };
        said << 8 | self.shape as u64
    }
}

/// Appends the tokens of `text[from..to]`, which is on borders of characters.
pub fn read(text: &str, from: usize, to: usize, tokens: &mut Vec<Token>) {
    let mut gap = Gap(Gap::LINE);
    let mut at = from;
    while let Some(first) = char_at(text, at, to) {
        let behind = at + first.len_utf8();
        if first.is_alphanumeric() {
            let end = match stands_alone(first) {
                true => sign_end(text, behind, to),
                false => word_end(text, behind, to),
            };
            tokens.push(token(text, at, end, gap));
            gap = Gap::default();
            at = end;
        } else {
            gap = gap.with(first);
            at = behind;
        }
    }
}

fn char_at(text: &str, at: usize, to: usize) -> Option<char> {
    let byte = *text.as_bytes().get(at).filter(|_| at < to)?;
    if byte.is_ascii() {
        return Some(char::from(byte));
    }
    text.get(at..to)?.chars().next()
}

/// Letters and digits, with apostrophes between letters (`o'halloran`), but not before a possessive `s`.
fn word_end(text: &str, mut at: usize, to: usize) -> usize {
    while let Some(next) = char_at(text, at, to) {
        let len = next.len_utf8();
        if is_part(next) {
            at += len;
            continue;
        }
        let behind = || char_at(text, at + len, to);
        let is_inside = matches!(next, '\'' | '\u{2019}')
            && behind().is_some_and(|letter| letter.is_alphabetic() && !stands_alone(letter))
            && !is_possessive(text, at + len, to);
        if !is_inside {
            break;
        }
        at += len;
    }
    at
}

/// Where a letter ends that is a word by itself: behind its marks.
fn sign_end(text: &str, mut at: usize, to: usize) -> usize {
    while let Some(mark) = char_at(text, at, to).filter(|next| is_mark(*next)) {
        at += mark.len_utf8();
    }
    at
}

/// Marks that stand behind their letter belong to it.
fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() && !stands_alone(letter) || is_mark(letter)
}

/// Accents, vowels and other marks that are written above or below of a letter, and what joins two letters.
const fn is_mark(letter: char) -> bool {
    matches!(
        letter,
        '\u{300}'..='\u{36f}'
            | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
            | '\u{610}'..='\u{61a}'
            | '\u{64b}'..='\u{65f}'
            | '\u{93c}' | '\u{94d}' | '\u{9bc}' | '\u{9cd}' | '\u{a3c}' | '\u{a4d}' | '\u{abc}' | '\u{acd}'
            | '\u{b3c}' | '\u{b4d}' | '\u{bcd}' | '\u{c4d}' | '\u{ccd}' | '\u{d4d}'
            | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}'
            | '\u{200c}' | '\u{200d}'
    )
}

fn has_case(letter: char) -> bool {
    letter.is_ascii() || letter.is_lowercase() || letter.is_uppercase()
}

/// Whether neither English nor Spanish has a Latin letter.
const fn is_foreign_letter(letter: char) -> bool {
    matches!(letter, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
        && !matches!(
            letter,
            '\u{c1}'
                | '\u{c9}'
                | '\u{cd}'
                | '\u{d1}'
                | '\u{d3}'
                | '\u{d7}'
                | '\u{da}'
                | '\u{dc}'
                | '\u{e1}'
                | '\u{e9}'
                | '\u{ed}'
                | '\u{f1}'
                | '\u{f3}'
                | '\u{f7}'
                | '\u{fa}'
                | '\u{fc}'
        )
}

/// Whether neither English nor Spanish is written with a letter.
fn is_of_other_script(letter: char) -> bool {
    let is_latin =
        matches!(letter, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{ff00}'..='\u{ff5e}');
    !is_latin && letter.is_alphabetic()
}

fn is_possessive(text: &str, at: usize, to: usize) -> bool {
    matches!(char_at(text, at, to), Some('s' | 'S'))
        && !char_at(text, at + 1, to).is_some_and(char::is_alphanumeric)
}

fn token(text: &str, start: usize, end: usize, gap: Gap) -> Token {
    let written = text.get(start..end).unwrap_or_default();
    if written.bytes().all(|byte| byte.is_ascii_digit()) {
        let (shape, word) = number(written);
        return Token {
            start,
            end,
            word,
            shape,
            class: 0,
            tongue: Tongue::default(),
            role: 0,
            gap,
            prefix: 0,
            suffix: 0,
        };
    }
    let hash = Hash::new().over(written);
    let shape = written_as(written);
    let said = look_up(hash);
    let class = match said.bits() {
        0 => UNKNOWN,
        bits => bits,
    };
    let tongue = match written.is_ascii() {
        true => Tongue {
            language: said.language(),
            is_foreign: said.is_foreign(),
            is_of_script: false,
            is_cased: true,
        },
        false => beyond(written, shape, class, said),
    };
    let (prefix, suffix) = if shape == shape::CODE {
        (pattern(written), 0)
    } else {
        (head(written, 3), tail(written, 4))
    };
    Token {
        start,
        end,
        word: hash.value(),
        shape,
        class,
        tongue,
        role: ROLES
            .by_hash(hash.value())
            .map_or(0, |role| 1 + *role as u8),
        gap,
        prefix,
        suffix,
    }
}

/// What a word with letters beyond ASCII says of its language.
fn beyond(word: &str, shape: u8, class: u16, said: Class) -> Tongue {
    let mut letters = word.chars();
    let first = letters.next();
    // Units and formulas have single letters of Greek: `\u{3bc}g`.
    let is_of_script = first.is_some_and(stands_alone)
        || first.is_some_and(is_of_other_script) && letters.next().is_some_and(is_of_other_script);
    let is_new = shape == shape::SMALL && class == UNKNOWN;
    let is_other = is_of_script || is_new && word.contains(is_foreign_letter);
    Tongue {
        language: if is_other {
            Some(Language::Other)
        } else {
            said.language()
        },
        is_foreign: said.is_foreign(),
        is_of_script,
        is_cased: first.is_some_and(has_case),
    }
}

fn number(digits: &str) -> (u8, u64) {
    const LONGEST: usize = 12;
    /// Longer numbers are known by their length alone.
    const SPELT: usize = 2;
    let len = digits.len().min(LONGEST);
    let is_year = len == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    // At most twelve.
    #[allow(clippy::cast_possible_truncation)]
    let shape = if is_year {
        shape::YEAR
    } else {
        shape::NUMBER + len as u8
    };
    let word = if len <= SPELT {
        Hash::new().over(digits).value()
    } else {
        u64::from(shape)
    };
    (shape, word)
}

fn written_as(word: &str) -> u8 {
    let (upper, lower, digits) = letters(word);
    match (upper, lower, digits) {
        (_, _, 1..) => shape::CODE,
        (0, _, _) => shape::SMALL,
        (1, 0, _) => shape::INITIAL,
        (_, 0, _) => shape::UPPER,
        (1, ..) if word.starts_with(char::is_uppercase) => shape::CAPITAL,
        _ => shape::MIXED,
    }
}

/// How many capitals, other letters and digits a word has.
fn letters(word: &str) -> (usize, usize, usize) {
    let (mut upper, mut lower, mut digits) = (0, 0, 0);
    if word.is_ascii() {
        for byte in word.bytes() {
            upper += usize::from(byte.is_ascii_uppercase());
            lower += usize::from(byte.is_ascii_lowercase());
            digits += usize::from(byte.is_ascii_digit());
        }
        return (upper, lower, digits);
    }
    for letter in word.chars() {
        if letter.is_uppercase() {
            upper += 1;
        } else if letter.is_numeric() {
            digits += 1;
        } else if letter.is_alphabetic() {
            lower += 1;
        }
    }
    (upper, lower, digits)
}

/// Runs of letters and of digits, with how long they are.
fn pattern(code: &str) -> u64 {
    const LONGEST_RUN: u64 = 7;
    let (mut pattern, mut run, mut was) = (0_u64, 0_u64, None);
    for letter in code.chars() {
        let is = Some(letter.is_numeric());
        if was == is {
            run = (run + 1).min(LONGEST_RUN);
        } else {
            pattern = pattern << 4 | run << 1 | u64::from(is == Some(true));
            (run, was) = (1, is);
        }
    }
    pattern << 4 | run << 1
}

/// The first letters of a word, as a number.
fn head(word: &str, letters: usize) -> u64 {
    joined(word.chars().take(letters))
}

/// The last letters of a word, as a number.
fn tail(word: &str, letters: usize) -> u64 {
    joined(word.chars().rev().take(letters))
}

fn joined(letters: impl Iterator<Item = char>) -> u64 {
    /// Enough for four letters of nearly all alphabets.
    const LETTER_BITS: u32 = 16;
    letters.fold(0, |joined, letter| {
        let small = match letter.is_ascii() {
            true => letter.to_ascii_lowercase(),
            false => letter.to_lowercase().next().unwrap_or(letter),
        };
        joined << LETTER_BITS ^ u64::from(small)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        read(text, 0, text.len(), &mut tokens);
        tokens
    }

    fn words(text: &str) -> Vec<&str> {
        tokens(text)
            .iter()
            .map(|token| &text[token.start..token.end])
            .collect()
    }

    #[test]
    fn words_and_numbers_stand_apart_from_signs() {
        assert_eq!(
            words("O'Halloran's INR: 8.9, T2DM (3/14)"),
            ["O'Halloran", "s", "INR", "8", "9", "T2DM", "3", "14"]
        );
        assert_eq!(words("Jos\u{e9} Mu\u{f1}oz\n"), ["Jos\u{e9}", "Mu\u{f1}oz"]);
        assert!(words(" \t\n,").is_empty());
    }

    #[test]
    fn letters_of_scripts_without_spaces_are_words() {
        assert_eq!(
            words("CT\u{68c0}\u{67e5}3\u{6708}"),
            ["CT", "\u{68c0}", "\u{67e5}", "3", "\u{6708}"]
        );
        assert_eq!(words("\u{ae40}\u{bbfc}\u{c218}\u{b2d8}").len(), 4);
        // But not where words have spaces, whatever marks are in them.
        assert_eq!(
            words("\u{938}\u{941}\u{928}\u{940}\u{924}\u{93e} \u{936}\u{930}\u{94d}\u{92e}\u{93e}")
                .len(),
            2
        );
        assert_eq!(
            words("\u{418}\u{432}\u{430}\u{43d}"),
            ["\u{418}\u{432}\u{430}\u{43d}"]
        );
    }

    #[test]
    fn a_gap_knows_its_signs_and_lines() {
        let gap = |text: &str| tokens(text)[1].gap;
        assert!(gap("MRN: 5").is_label() && gap("a=b").is_label() && gap("a (#5").is_label());
        assert!(!gap("a, b").is_label() && !gap("a b").is_label());
        assert!(gap("a.\nb").is_line() && !gap("a. b").is_line());
        assert_ne!(gap("3/4"), gap("3-4"));
        assert_eq!(gap("a \u{2014} b"), gap("a \u{2013} b"));
    }
}
