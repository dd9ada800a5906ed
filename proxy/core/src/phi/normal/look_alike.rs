//! Letters of other scripts that look like plain ones (UTS 39), inside words where that is a disguise.

use std::sync::LazyLock;

use unicode_security::skeleton;

use super::rewrite::{Rewrite, Rewriter};

/// Replaces look-alikes in words that mix scripts, and in words that are all look-alikes where the text
/// around them is plain.
pub(super) fn replace(text: &str) -> Option<Rewrite> {
    if text.is_ascii() {
        return None;
    }
    let plain_letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let foreign = text.chars().filter(|letter| is_foreign(*letter)).count();
    if foreign == 0 {
        return None;
    }
    let is_plain_text = plain_letters > foreign;
    let mut rewriter = Rewriter::new(text);
    let mut start = 0;
    for (at, letter) in text.char_indices() {
        if !letter.is_alphanumeric() {
            word(text, start, at, is_plain_text, &mut rewriter);
            start = at + letter.len_utf8();
        }
    }
    word(text, start, text.len(), is_plain_text, &mut rewriter);
    rewriter.finish()
}

fn word(text: &str, start: usize, end: usize, is_plain_text: bool, rewriter: &mut Rewriter<'_>) {
    let word = text.get(start..end).unwrap_or_default();
    if word.is_ascii() {
        return;
    }
    let is_mixed = word.bytes().any(|byte| byte.is_ascii_alphanumeric());
    let all_look_plain = || {
        word.chars()
            .all(|letter| !is_foreign(letter) || plain_letter(letter).is_some())
    };
    let is_disguise = is_mixed || (is_plain_text && all_look_plain());
    if !is_disguise {
        return;
    }
    for (at, letter) in word.char_indices() {
        if is_foreign(letter)
            && let Some(plain) = plain_letter(letter)
        {
            let mut bytes = [0; 4];
            let from = start + at;
            rewriter.replace(
                from..from + letter.len_utf8(),
                plain.encode_utf8(&mut bytes),
            );
        }
    }
}

/// Whether a letter belongs to the Latin script as European languages write it.
pub(super) const fn is_latin(letter: char) -> bool {
    letter.is_ascii_alphabetic() || matches!(letter, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

fn is_foreign(letter: char) -> bool {
    !letter.is_ascii() && letter.is_alphanumeric() && !is_latin(letter)
}

/// Scripts whose letters are looked up often: Greek, Coptic, Cyrillic, Armenian, Hebrew lie below.
const TABLE_END: u32 = 0x600;

/// What letters below [`TABLE_END`] look like; 0 for nothing plain.
static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    (0..TABLE_END)
        .map(|code| {
            char::from_u32(code)
                .and_then(look_up)
                .and_then(|plain| u8::try_from(plain).ok())
                .unwrap_or(0)
        })
        .collect()
});

fn plain_letter(letter: char) -> Option<char> {
    let code = u32::from(letter);
    if code < TABLE_END {
        return TABLE
            .get(code as usize)
            .filter(|plain| **plain != 0)
            .map(|plain| char::from(*plain));
    }
    look_up(letter)
}

fn look_up(letter: char) -> Option<char> {
    let mut bytes = [0; 4];
    let mut looks = skeleton(letter.encode_utf8(&mut bytes));
    let first = looks.next()?;
    let is_plain = first.is_ascii_alphanumeric() && looks.next().is_none();
    if !is_plain {
        return None;
    }
    // The table joins letters of both cases that look alike (`I`, `l`, `1`); keep a capital a capital.
    match first {
        'l' if letter.is_uppercase() => Some('I'),
        _ if letter.is_uppercase() => Some(first.to_ascii_uppercase()),
        _ => Some(first),
    }
}
