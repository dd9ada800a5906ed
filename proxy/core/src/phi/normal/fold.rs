//! Folding: what no reader sees goes, and characters that only look different become the plain ones.
//!
//! Letters of real words in other scripts stay: a Russian name must reach the detectors as it is.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::look_alike;
use super::rewrite::{Rewrite, Rewriter, Unseen};

/// Longest reading of one character, in characters. The few compatibility forms beyond are whole phrases.
const MAX_EXPANSION_CHARS: usize = 4;

/// Marks taken in with one letter; further ones are decoration.
const MAX_MARKS: usize = 8;

/// Folds a text; nothing where it is plain already.
pub(super) fn fold(text: &str) -> Option<Rewrite> {
    if text.is_ascii() && !text.bytes().any(is_silent_control) {
        return None;
    }
    match plain_forms(text) {
        Some(plain) => Some(plain.and_then(look_alike::replace)),
        None => look_alike::replace(text),
    }
}

fn plain_forms(text: &str) -> Option<Rewrite> {
    let mut rewriter = Rewriter::new(text);
    let mut before: Option<(usize, char)> = None;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let end = at + letter.len_utf8();
        if letter.is_ascii() {
            if is_silent_control(letter as u8) {
                rewriter.leave_out(at..end, Unseen::Between);
            } else {
                before = Some((at, letter));
            }
            continue;
        }
        if is_left_out(letter) {
            rewriter.leave_out(at..end, place_of(letter));
            continue;
        }
        if is_combining_mark(letter) {
            let mut end = end;
            while let Some((from, mark)) = letters.next_if(|(_, next)| is_combining_mark(*next)) {
                end = from + mark.len_utf8();
            }
            marked(text, before.take(), at..end, &mut rewriter);
            continue;
        }
        before = Some((at, letter));
        if let Some(plain) = plain(letter) {
            let mut bytes = [0; 4];
            rewriter.replace(at..end, plain.encode_utf8(&mut bytes));
        } else {
            compatible(text, at..end, letter, &mut rewriter);
        }
    }
    rewriter.finish()
}

/// One character by its compatibility form (NFKC).
fn compatible(text: &str, range: Range<usize>, letter: char, rewriter: &mut Rewriter<'_>) {
    if is_nfkc_quick(std::iter::once(letter)) == IsNormalized::Yes {
        return;
    }
    let form: String = text.get(range.clone()).unwrap_or_default().nfkc().collect();
    let is_same = form.chars().eq(std::iter::once(letter));
    if !is_same && form.chars().count() <= MAX_EXPANSION_CHARS {
        rewriter.replace(range, &form);
    }
}

/// A letter with the marks behind it: composed where that gives one letter; on a plain letter, what does not
/// compose is decoration and goes.
fn marked(
    text: &str,
    base: Option<(usize, char)>,
    marks: Range<usize>,
    rewriter: &mut Rewriter<'_>,
) {
    let Some((start, letter)) = base.filter(|(start, _)| *start >= rewriter.done()) else {
        // The base itself was rewritten, or there is none.
        if rewriter.done() == marks.start && marks.start > 0 {
            rewriter.replace(marks, "");
        }
        return;
    };
    let cluster = text.get(start..marks.end).unwrap_or_default();
    let seen = cluster.chars().filter(|letter| !is_left_out(*letter));
    let composed: String = seen.take(1 + MAX_MARKS).nfkc().collect();
    let plain = letter.is_ascii() || look_alike::is_latin(letter);
    let reads: String = if plain {
        composed
            .chars()
            .filter(|c| !is_combining_mark(*c))
            .collect()
    } else {
        composed
    };
    if reads != cluster {
        rewriter.replace(start..marks.end, &reads);
    }
}

/// Control characters that separate nothing. HL7 and X12 use 0x0B and 0x1C to 0x1F as separators.
pub(super) const fn is_silent_control(byte: u8) -> bool {
    matches!(byte, 0..=8 | 14..=27 | 127)
}

/// Characters without a width: joiners, marks of direction, fillers, selectors (UTS 39, 5.3, and the
/// `Default_Ignorable_Code_Point` property).
pub const fn is_unseen(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0001}' | '\u{e007f}'
        | '\u{e0100}'..='\u{e01ef}')
}

/// What is no part of the words around it: what nobody sees, and what readers put where they found no character, such as
/// NUL or half of one. The gateway is such a reader (`plugin::driver`).
const fn is_left_out(letter: char) -> bool {
    is_unseen(letter) || letter == char::REPLACEMENT_CHARACTER
}

/// Where a character that is left out may stand.
const fn place_of(unseen: char) -> Unseen {
    match unseen {
        char::REPLACEMENT_CHARACTER => Unseen::Lost,
        '\u{ad}'
        | '\u{34f}'
        | '\u{200c}'
        | '\u{200d}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}' => Unseen::Inside,
        _ => Unseen::Between,
    }
}

/// The plain character of the same meaning, where compatibility forms do not give it.
fn plain(letter: char) -> Option<char> {
    let plain = match letter {
        '\u{2010}'..='\u{2015}'
        | '\u{2212}'
        | '\u{2043}'
        | '\u{2e3a}'
        | '\u{fe58}'
        | '\u{fe63}'
        | '\u{2796}'
        | '\u{30fb}' => '-',
        '\u{2018}'..='\u{201b}'
        | '\u{2032}'
        | '\u{2b9}'
        | '\u{2bb}'..='\u{2bd}'
        | '\u{60}'
        | '\u{b4}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
        '\u{2044}' | '\u{2215}' | '\u{29f8}' => '/',
        '\u{2219}' | '\u{22c5}' => '\u{b7}',
        '\u{2800}' => ' ',
        // Letters in squares and flags have no compatibility form.
        '\u{1f150}'..='\u{1f169}' => counted(letter, '\u{1f150}', b'A')?,
        '\u{1f170}'..='\u{1f189}' => counted(letter, '\u{1f170}', b'A')?,
        '\u{1f1e6}'..='\u{1f1ff}' => counted(letter, '\u{1f1e6}', b'A')?,
        // Tags repeat ASCII without being shown.
        '\u{e0020}'..='\u{e007e}' => counted(letter, '\u{e0020}', b' ')?,
        _ => return digit(letter),
    };
    Some(plain)
}

fn counted(letter: char, first: char, as_byte: u8) -> Option<char> {
    let steps = u32::from(letter).checked_sub(u32::from(first))?;
    char::from_u32(u32::from(as_byte) + steps)
}

/// Zeros of the scripts that have digits of their own; nine more follow each (Unicode 17, category Nd).
#[rustfmt::skip]
static ZEROS: [u32; 76] = [
    0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66,
    0x0de6, 0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x10d40, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x116d0, 0x116da, 0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50, 0x11d50, 0x11da0, 0x11de0,
    0x11f50, 0x16130, 0x16a60, 0x16ac0, 0x16b50, 0x16d70, 0x1ccf0, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec,
    0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0,
];

fn digit(letter: char) -> Option<char> {
    let code = u32::from(letter);
    let behind = ZEROS.partition_point(|zero| *zero <= code);
    let zero = ZEROS.get(behind.checked_sub(1)?)?;
    char::from_digit(code - zero, 10)
}
