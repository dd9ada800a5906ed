//! The fast path: whether a text can hold any disguise at all. Errs towards yes.

use super::blob::MIN_BLOB_BYTES;

/// What a byte may be part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A letter or digit.
    Word,
    /// Part of an encoded blob beside letters and digits.
    Blob,
    /// Begins an escape, ends a blob, or is no plain text.
    Loud,
    Plain,
}

static CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Plain; 256];
    let mut at: u8 = 0;
    loop {
        let class = match at {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => Class::Word,
            b'+' | b'/' | b'-' | b'_' => Class::Blob,
            b'%' | b'&' | b'\\' | b'=' | 0..=8 | 14..=27 | 127..=255 => Class::Loud,
            _ => Class::Plain,
        };
        // In a constant, an index out of bounds would not compile.
        classes[at as usize] = class;
        if at == u8::MAX {
            return classes;
        }
        at += 1;
    }
}

/// Single characters in a row, with one separator, that make a word look spaced out.
const MIN_SINGLES: u32 = 4;

/// Whether nothing in `text` could read as anything else.
pub(super) fn is_calm(text: &str) -> bool {
    let mut run: usize = 0;
    let mut word: u32 = 0;
    let mut singles: u32 = 0;
    for byte in text.bytes() {
        let class = CLASSES
            .get(usize::from(byte))
            .copied()
            .unwrap_or(Class::Loud);
        match class {
            Class::Word => {
                run += 1;
                word += 1;
                continue;
            }
            Class::Blob => run += 1,
            Class::Plain => {
                if run >= MIN_BLOB_BYTES {
                    return false;
                }
                run = 0;
            }
            Class::Loud => return false,
        }
        match word {
            // A second separator keeps the count: `J a n e  D o e`, `1 2 3 - 4`.
            0 => {}
            1 => {
                singles += 1;
                if singles >= MIN_SINGLES {
                    return false;
                }
            }
            _ => singles = 0,
        }
        word = 0;
    }
    run < MIN_BLOB_BYTES && !(word == 1 && singles + 1 >= MIN_SINGLES)
}
