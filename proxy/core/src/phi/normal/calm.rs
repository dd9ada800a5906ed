//! The fast path: whether a text can hold any disguise at all. Errs towards yes.

use super::blob::MIN_BLOB_BYTES;

// What a byte may be part of, as bits.
const LETTER: u8 = 1;
/// A letter that looks like a digit.
const TWIN: u8 = 2;
const DIGIT: u8 = 4;
const WORD: u8 = LETTER | TWIN | DIGIT;
/// Part of an encoded blob beside letters and digits.
const BLOB: u8 = 8;
/// Begins an escape, ends a blob, or is no plain text.
const LOUD: u8 = 16;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut at: u8 = 0;
    loop {
        // In a constant, an index out of bounds would not compile.
        classes[at as usize] = match at {
            b'O' | b'o' | b'I' | b'l' => TWIN,
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'+' | b'/' | b'-' | b'_' => BLOB,
            b'%' | b'&' | b'\\' | b'=' | 0..=8 | 14..=27 | 127..=255 => LOUD,
            _ => 0,
        };
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
    let mut word_bits: u8 = 0;
    let mut singles: u32 = 0;
    for byte in text.bytes() {
        let class = CLASSES.get(usize::from(byte)).copied().unwrap_or(LOUD);
        if class & WORD != 0 {
            run += 1;
            word += 1;
            word_bits |= class;
            continue;
        }
        if class == BLOB {
            run += 1;
        } else {
            if class == LOUD || run >= MIN_BLOB_BYTES {
                return false;
            }
            run = 0;
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
            _ if word_bits == TWIN | DIGIT => return false,
            _ => singles = 0,
        }
        word = 0;
        word_bits = 0;
    }
    run < MIN_BLOB_BYTES && !(word == 1 && singles + 1 >= MIN_SINGLES) && word_bits != TWIN | DIGIT
}
