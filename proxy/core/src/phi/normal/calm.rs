//! What a text can hold of disguises at all: one look at each byte, which rules out most. Errs towards yes.

use super::blob::MIN_BLOB_BYTES;
use super::fold::is_silent_control;
use super::spaced::MIN_SINGLES;
use super::twin::twin;

/// What could not be ruled out in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Doubts {
    /// Characters beyond ASCII, or controls that nobody sees.
    pub(super) letters: bool,
    /// Escapes, and runs that are long enough for an encoding.
    pub(super) escapes: bool,
    /// Words of one character in a row.
    pub(super) rows: bool,
    /// Letters that stand for digits.
    pub(super) twins: bool,
    /// Words or numbers that are joined.
    pub(super) joints: bool,
}

impl Doubts {
    /// Everything is possible.
    pub(super) const ALL: Self = Self {
        letters: true,
        escapes: true,
        rows: true,
        twins: true,
        joints: true,
    };

    pub(super) fn of(text: &str) -> Self {
        let Glance {
            mut doubts,
            is_close,
        } = glance(text.as_bytes());
        if doubts.letters {
            return Self::ALL;
        }
        if is_close {
            (doubts.rows, doubts.twins) = rows_and_twins(text.as_bytes());
        }
        doubts
    }
}

/// What one look shows.
struct Glance {
    /// Without rows and twins.
    doubts: Doubts,
    /// Rows or twins are possible: only [`rows_and_twins`] knows.
    is_close: bool,
}

// What a byte may be part of: a lane of eight bits each, the lowest of which an entry of the table may set.
const WORD: u32 = 0;
/// Part of an encoded blob.
const RUN: u32 = 8;
/// A letter that looks like a digit.
const TWIN: u32 = 16;
const DIGIT: u32 = 24;
/// Begins an escape, or ends a blob.
const ESCAPE: u32 = 32;
/// No plain text.
const STRANGE: u32 = 40;
const UNDERSCORE: u32 = 48;
const LINE: u32 = 56;

/// Bytes that are looked at together.
const CHUNK: usize = 8;
/// The first and the last of them, in every lane.
const FIRST: u64 = 0x8080_8080_8080_8080;
const LAST: u64 = 0x0101_0101_0101_0101;

static CLASSES: [u64; 256] = classes();

const fn classes() -> [u64; 256] {
    let mut classes = [0; 256];
    let mut at: u8 = 0;
    loop {
        // In a constant, an index out of bounds would not compile.
        classes[at as usize] = match at {
            _ if twin(at).is_some() => 1 << WORD | 1 << RUN | 1 << TWIN,
            b'a'..=b'z' | b'A'..=b'Z' => 1 << WORD | 1 << RUN,
            b'0'..=b'9' => 1 << WORD | 1 << RUN | 1 << DIGIT,
            b'_' => 1 << RUN | 1 << UNDERSCORE,
            b'+' | b'/' | b'-' => 1 << RUN,
            b'\n' => 1 << LINE,
            b'%' | b'&' | b'\\' | b'=' => 1 << ESCAPE,
            _ if is_silent_control(at) || !at.is_ascii() => 1 << STRANGE,
            _ => 0,
        };
        if at == u8::MAX {
            return classes;
        }
        at += 1;
    }
}

/// Looks at eight bytes at a time, as bits: the first byte is the highest bit of each lane. What is done hardly depends
/// on what is read: text cannot be foreseen, and a wrong guess costs more than eight bytes.
fn glance(text: &[u8]) -> Glance {
    let (mut seen, mut before) = (0_u64, 0_u64);
    let (mut run, mut longest_run) = (0, 0);
    let (mut begun_lately, mut most_begun) = (0, 0);
    let (mut mixed, mut joined) = (0, 0);
    let (chunks, rest) = text.as_chunks::<CHUNK>();
    let mut last = [b' '; CHUNK];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    for chunk in chunks.iter().chain([&last]) {
        let lanes = chunk.iter().fold(0, |lanes, byte| {
            let class = CLASSES.get(usize::from(*byte));
            lanes << 1 | class.copied().unwrap_or(1 << STRANGE)
        });
        seen |= lanes;
        let runs = lane(lanes, RUN);
        longest_run = longest_run.max(run + runs.leading_ones());
        run = if runs == u8::MAX {
            run + runs.count_ones()
        } else {
            runs.trailing_ones()
        };
        // The classes of each byte's left neighbour; that of the first one is the last of the chunk before.
        let left = lanes >> 1 & !FIRST | before << (CHUNK - 1) & FIRST;
        before = lanes & LAST;
        mixed |= lane(lanes, TWIN) & lane(left, DIGIT) | lane(lanes, DIGIT) & lane(left, TWIN);
        // A digit beside a letter, or behind a sign that numbers and words are joined by; such a sign at a line's end.
        let digits = (lane(lanes, DIGIT), lane(left, DIGIT));
        let letters = (lane(lanes, WORD) & !digits.0, lane(left, WORD) & !digits.1);
        let sign = lane(left, RUN) & !lane(left, WORD);
        joined |= digits.0 & (letters.1 | sign) | letters.0 & digits.1 | lane(lanes, LINE) & sign;
        let begun = lane(lanes, WORD) & !lane(left, WORD);
        let inside = lane(lanes, WORD) & lane(left, WORD);
        // Words that begin with no longer word between them: up to its second byte, and again behind its last one.
        let head = begun & !u8::MAX.unbounded_shr(inside.leading_zeros());
        most_begun = most_begun.max(begun_lately + head.count_ones());
        begun_lately = if inside == 0 {
            begun_lately + begun.count_ones()
        } else {
            let behind = (1_u8 << inside.trailing_zeros()) - 1;
            (begun & behind).count_ones()
        };
    }
    let holds = |class| lane(seen, class) != 0;
    Glance {
        doubts: Doubts {
            letters: holds(STRANGE),
            escapes: holds(ESCAPE) || longest_run as usize >= MIN_BLOB_BYTES,
            rows: false,
            twins: false,
            joints: holds(UNDERSCORE) || joined != 0,
        },
        is_close: mixed != 0 || most_begun as usize >= MIN_SINGLES,
    }
}

/// One class of eight bytes.
const fn lane(lanes: u64, class: u32) -> u8 {
    (lanes >> class) as u8
}

/// Whether there are rows of single characters, and words of digits and letters that look like some.
fn rows_and_twins(text: &[u8]) -> (bool, bool) {
    let (mut rows, mut twins) = (false, false);
    let (mut word, mut word_lanes, mut singles) = (0_usize, 0_u64, 0);
    for byte in text.iter().chain(b" ") {
        let class = CLASSES.get(usize::from(*byte)).copied().unwrap_or(0);
        if class & 1 << WORD != 0 {
            word += 1;
            word_lanes |= class;
            // A letter that looks like no digit: the word is none.
            if class & (1 << TWIN | 1 << DIGIT) == 0 {
                word_lanes |= 1 << STRANGE;
            }
            continue;
        }
        match word {
            // A second separator keeps the count: `J a n e  D o e`, `1 2 3 - 4`.
            0 => {}
            1 => singles += 1,
            _ => singles = 0,
        }
        rows |= singles >= MIN_SINGLES;
        let is_mixed = word_lanes & 1 << TWIN != 0 && word_lanes & 1 << DIGIT != 0;
        twins |= is_mixed && word_lanes & 1 << STRANGE == 0;
        (word, word_lanes) = (0, 0);
    }
    (rows, twins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubts(text: &str) -> String {
        let Doubts {
            letters,
            escapes,
            rows,
            twins,
            joints,
        } = Doubts::of(text);
        let named = [
            (letters, "letters"),
            (escapes, "escapes"),
            (rows, "rows"),
            (twins, "twins"),
            (joints, "joints"),
        ];
        let named = named.iter().filter(|(is_doubted, _)| *is_doubted);
        named.map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_what_may_be_there_is_doubted() {
        for (text, expected) in [
            ("", ""),
            (
                "The patient takes 10 mg once a day, I think. BP 128/82 ..",
                "joints",
            ),
            ("Maria_Lopez", "joints"),
            ("DOB1980", "joints"),
            ("a 5000now, 8 letters on", "joints"),
            ("visit-1980", "joints"),
            ("wrap-\nped", "joints"),
            ("1980/visit-", ""),
            ("seen for hypertension", "escapes"),
            ("abcdefghijk", ""),
            ("abcdefghijkl", "escapes"),
            ("x abcd-fgh_jk/ x", "escapes joints"),
            ("50% of it", "escapes"),
            ("a b c of", ""),
            ("a b c d", "rows"),
            ("she is J a n e", "rows"),
            ("1 2 3 - 4", "rows"),
            ("a b see c d", ""),
            ("see a  b  c  d", "rows"),
            ("536-22-87l4", "twins joints"),
            ("l5", "twins joints"),
            ("All5", "joints"),
            ("lO 5", ""),
            ("J a n e 87l4", "rows twins joints"),
            ("caf\u{e9}", "letters escapes rows twins joints"),
            ("a\u{1}b", "letters escapes rows twins joints"),
        ] {
            assert_eq!(doubts(text), expected, "{text}");
        }
    }

    #[test]
    fn a_glance_is_never_surer_than_a_look() {
        // All texts of up to six of these: a long word, a single character, digits, twins, what is between them.
        let pieces = ["word", "a", " ", "-", "7", "l", "  "];
        for length in 0..=6_u32 {
            for number in 0..pieces.len().pow(length) {
                let mut text = String::new();
                let mut number = number;
                for _ in 0..length {
                    text.push_str(pieces.get(number % pieces.len()).unwrap_or(&""));
                    number /= pieces.len();
                }
                for text in [
                    format!("a {text}"),
                    format!("{text} b a"),
                    format!("so, {text}"),
                ] {
                    let (rows, twins) = rows_and_twins(text.as_bytes());
                    assert!(
                        glance(text.as_bytes()).is_close || !(rows || twins),
                        "{text:?}"
                    );
                }
            }
        }
    }
}
