//! Words and numbers of a text, with what the lists and the vocabulary say about each.

use phi_text::chunk;
use phi_text::text::{byte, byte_before, is_word};

use phi_lexicon::roles::{ROLES, Role};
use phi_lexicon::{Class, Hash, look_up};

/// How a word is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Lower,
    /// `Jane`, `McDonald`.
    Capital,
    /// `JANE`.
    Upper,
    /// `J`.
    Initial,
    Number,
}

#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub start: usize,
    pub end: usize,
    pub shape: Shape,
    pub class: Class,
    pub role: Option<Role>,
    /// Of the word in small letters, without `'s`; of nothing where the word cannot be a name.
    pub hash: Hash,
    /// Part of an address of the web, a path or an identifier.
    pub is_glued: bool,
}

impl Token {
    pub const fn len(&self) -> usize {
        self.end - self.start
    }

    /// What the lists say, also about a word that is written small.
    pub fn class_of(&self, text: &str) -> Class {
        look_up(Hash::new().over(self.text(text)))
    }

    pub const fn is_empty(&self) -> bool {
        self.end == self.start
    }

    pub fn is(&self, role: Role) -> bool {
        self.role == Some(role)
    }

    /// Written as names are.
    pub const fn is_capital(&self) -> bool {
        matches!(self.shape, Shape::Capital | Shape::Upper)
    }

    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// Whether capitals mean anything in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    Cased,
    /// All small or all capital.
    Uncased,
}

/// Appends the tokens of `text[from..to]`. Lists are asked about words that may be names.
pub fn read(text: &str, from: usize, to: usize, tokens: &mut Vec<Token>) -> Writing {
    let bytes = text.as_bytes();
    let part = bytes.get(..to).unwrap_or_default();
    let writing = writing(part.get(from..).unwrap_or_default());
    let mut at = from;
    while let Some(&here) = part.get(at) {
        if here.is_ascii_alphabetic() || here >= 0x80 {
            let (token, end) = match plain_word(bytes, part, at, writing) {
                Some(token) => (Some(token), token.end),
                None => other_word(text, at, to, writing),
            };
            tokens.extend(token);
            at = end + possessive_len(bytes, end);
        } else if here.is_ascii_digit() {
            let end = number_end(bytes, at, to);
            tokens.push(number(bytes, at, end));
            at = end;
        } else {
            at += 1;
        }
    }
    writing
}

/// The word at `at` where it has letters of ASCII alone, as most have: one pass over it.
fn plain_word(bytes: &[u8], part: &[u8], start: usize, writing: Writing) -> Option<Token> {
    let mut hash = Hash::new();
    let (mut end, mut upper) = (start, 0);
    while let Some(&byte) = part.get(end) {
        let small = byte | 0x20;
        if !small.is_ascii_lowercase() {
            break;
        }
        hash = hash.with_small(small);
        upper += usize::from(byte != small);
        end += 1;
    }
    let goes_on = match part.get(end) {
        None => false,
        Some(b'-' | b'\'') => byte(bytes, end + 1).is_ascii_alphabetic(),
        Some(byte) => *byte >= 0x80,
    };
    if goes_on || end == start {
        return None;
    }
    let len = end - start;
    let shape = match upper {
        _ if byte(bytes, start).is_ascii_lowercase() => Shape::Lower,
        1 if len == 1 => Shape::Initial,
        _ if upper == len => Shape::Upper,
        _ => Shape::Capital,
    };
    let role = ROLES.by_hash(hash.value()).copied();
    // `RoBERTa`: no name has so many capitals within small letters, but `McDONALD`.
    let is_camel =
        shape == Shape::Capital && upper > 2 && !matches!(byte(bytes, start + 1), b'c' | b'a');
    let is_asked =
        !is_camel && shape != Shape::Lower || writing == Writing::Uncased && !is_plain(role);
    let (hash, class) = if is_asked {
        (hash, look_up(hash))
    } else {
        (Hash::new(), Class::default())
    };
    Some(Token {
        start,
        end,
        shape,
        class,
        role,
        hash,
        is_glued: is_glued(bytes, start, end, shape),
    })
}

/// A word with a dash, an apostrophe or letters beyond ASCII, and where it ends; dashes and quotes beyond ASCII are no
/// words.
fn other_word(text: &str, at: usize, to: usize, writing: Writing) -> (Option<Token>, usize) {
    let bytes = text.as_bytes();
    let end = word_end(bytes, at, to);
    let is_word = byte(bytes, at).is_ascii()
        || text
            .get(at..end)
            .is_some_and(|word| word.contains(char::is_alphabetic));
    (is_word.then(|| word(text, at, end, writing)), end)
}

/// Bytes of a possessive `'s` behind a word, with either apostrophe.
fn possessive_len(text: &[u8], end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    let len = match rest {
        [b'\'', b's' | b'S', ..] => 2,
        [0xe2, 0x80, 0x99, b's' | b'S', ..] => 4,
        _ => 0,
    };
    if byte(rest, len).is_ascii_alphabetic() {
        0
    } else {
        len
    }
}

fn writing(text: &[u8]) -> Writing {
    /// Letters that tell how a text is written.
    const FEW_LETTERS: usize = 12;
    let (upper, lower) = chunk::letters(text);
    let letters = upper + lower;
    // A month or a drug may have a capital in a text of small letters.
    let begins_small = || {
        text.iter()
            .find(|byte| byte.is_ascii_alphabetic())
            .is_some_and(u8::is_ascii_lowercase)
    };
    let is_small = upper * 150 < letters || upper * 30 < letters && begins_small();
    let is_shouted = upper * 4 > letters * 3;
    if letters >= FEW_LETTERS && (is_small || is_shouted) {
        Writing::Uncased
    } else {
        Writing::Cased
    }
}

fn number_end(text: &[u8], at: usize, to: usize) -> usize {
    let rest = text.get(at..to).unwrap_or_default();
    at + rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count()
}

fn number(text: &[u8], start: usize, end: usize) -> Token {
    Token {
        start,
        end,
        shape: Shape::Number,
        class: Class::default(),
        role: None,
        hash: Hash::new(),
        is_glued: is_joined(byte_before(text, start)),
    }
}

/// Words go on over an apostrophe or a dash with a letter behind it; a possessive `'s` is no part.
fn word_end(text: &[u8], at: usize, to: usize) -> usize {
    let mut end = at;
    while end < to {
        let here = byte(text, end);
        let next = byte(text, end + 1);
        let goes_on = here.is_ascii_alphabetic()
            || here >= 0x80 && !is_typographic(text, end)
            || here == b'-' && next.is_ascii_alphabetic()
            || here == b'\'' && is_inside_of_name(text, end);
        if !goes_on {
            break;
        }
        end += 1;
    }
    end.max(at + 1 + continuation(text, at))
}

/// `O'Brien` goes on; `they're` and `Jane's` do not.
fn is_inside_of_name(text: &[u8], at: usize) -> bool {
    (1..=3).all(|ahead| byte(text, at + ahead).is_ascii_alphabetic())
}

/// Quotes, dashes and the like in U+2000 to U+206F, and the no-break space.
fn is_typographic(text: &[u8], at: usize) -> bool {
    matches!(
        (byte(text, at), byte(text, at + 1)),
        (0xe2, 0x80 | 0x81) | (0xc2, 0xa0..=0xbf)
    )
}

/// Bytes of the character at `at` behind its first.
fn continuation(text: &[u8], at: usize) -> usize {
    match byte(text, at) {
        0xf0.. => 3,
        0xe0.. => 2,
        0xc0.. => 1,
        _ => 0,
    }
}

const fn is_joined(byte: u8) -> bool {
    matches!(byte, b'@' | b'_' | b'/' | b'\\' | b'$')
}

fn word(text: &str, start: usize, end: usize, writing: Writing) -> Token {
    let bytes = text.as_bytes();
    let word = text.get(start..end).unwrap_or_default();
    let shape = shape(word);
    let role = ROLES.get(word.as_bytes()).copied();
    let may_be_name =
        shape != Shape::Lower || writing == Writing::Uncased && !is_plain(role) || !word.is_ascii();
    let (hash, class) = if may_be_name {
        let hash = Hash::new().over(word);
        (hash, class(word, hash))
    } else {
        (Hash::new(), Class::default())
    };
    Token {
        start,
        end,
        shape,
        class,
        role,
        hash,
        is_glued: is_glued(bytes, start, end, shape),
    }
}

/// Nobody asks the lists about these words in small letters.
const fn is_plain(role: Option<Role>) -> bool {
    matches!(
        role,
        Some(Role::Stop | Role::Place | Role::Generic | Role::Medical)
    )
}

#[inline]
fn is_glued(bytes: &[u8], start: usize, end: usize, shape: Shape) -> bool {
    let (head, tail) = (byte_before(bytes, start), byte(bytes, end));
    // As most words stand.
    if matches!(head, b' ' | b'\n' | 0) && matches!(tail, b' ' | b',' | b'\n' | 0) {
        return false;
    }
    let is_in_code = is_joined(head) && !is_emphasis(bytes, start, shape)
        || matches!(tail, b'@' | b'\\')
        || tail == b'_' && is_word(byte(bytes, end + 1))
        || tail.is_ascii_digit()
        || head.is_ascii_digit()
        // `Austin::Base`.
        || tail == b':' && byte(bytes, end + 1) == b':' && is_word(byte(bytes, end + 2))
        || head == b':' && byte_before(bytes, start - 1) == b':';
    // `example.com`, but no name at the end of a sentence.
    let is_in_address = || {
        head == b'.' && start > 1 && byte_before(bytes, start - 1).is_ascii_alphanumeric()
            || tail == b'.' && byte(bytes, end + 1).is_ascii_lowercase()
    };
    is_in_code || shape == Shape::Lower && is_in_address()
}

/// `_Jane Doe_`: an underscore before a capital with no word before it is emphasis (Markdown).
fn is_emphasis(bytes: &[u8], start: usize, shape: Shape) -> bool {
    shape == Shape::Capital
        && byte_before(bytes, start) == b'_'
        && matches!(
            byte_before(bytes, start - 1),
            0 | b' ' | b'\n' | b'\t' | b'(' | b'"' | b'_'
        )
}

fn shape(word: &str) -> Shape {
    if word.as_bytes().first().is_some_and(u8::is_ascii_lowercase) {
        return Shape::Lower;
    }
    let mut letters = word.chars().filter(|letter| letter.is_alphabetic());
    let Some(first) = letters.next() else {
        return Shape::Lower;
    };
    if !first.is_uppercase() {
        return Shape::Lower;
    }
    let (mut upper, mut lower) = (1, 0);
    for letter in letters {
        if letter.is_uppercase() {
            upper += 1;
        } else {
            lower += 1;
        }
    }
    match (upper, lower) {
        (1, 0) => Shape::Initial,
        (_, 0) => Shape::Upper,
        _ => Shape::Capital,
    }
}

/// What the lists say of a word, or of the parts of a double one.
pub fn class_of(word: &str) -> Class {
    class(word, Hash::new().over(word))
}

/// Of a word, or of the parts of a double one.
fn class(word: &str, hash: Hash) -> Class {
    let whole = look_up(hash);
    if !whole.is_unknown() {
        return whole;
    }
    // `Smith-Jones` is what its first part is, `Al-Masri-Boyd` what its second one is.
    if word.contains('-') {
        const ARTICLES: [&str; 6] = ["al", "el", "ul", "ur", "de", "st"];
        let mut parts = word.split('-');
        let first = parts.next().unwrap_or_default();
        let is_article = ARTICLES.iter().any(|one| first.eq_ignore_ascii_case(one));
        let part = if is_article {
            parts.next()
        } else {
            Some(first)
        };
        return part
            .map(|part| look_up(Hash::new().over(part)))
            .unwrap_or_default();
    }
    // `Nguyễn` is in the lists without its accents.
    if word.is_ascii() {
        return whole;
    }
    let plain = look_up(Hash::new().without_accents(word));
    if plain.is_name() { plain } else { whole }
}
