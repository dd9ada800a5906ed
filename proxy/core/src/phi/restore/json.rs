//! JSON text read character by character, only as far as restoring needs it: where strings are, and what
//! their escapes mean. It does not validate.

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::phi::normal::{Rewrite, Rewriter};

/// What one more character of the text gives.
pub(in crate::phi) enum Unit {
    /// An escape sequence that is not complete.
    Partial,
    /// A character inside a string.
    Plain,
    /// As `Plain`, with what the escape sequence reads as and how it was written.
    Escaped { reads: char, raw: String },
    /// Anything outside of strings, and their quotes.
    Structure,
}

#[derive(Default)]
pub(in crate::phi) struct JsonReader {
    state: State,
    /// The escape sequence so far.
    escape: String,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    String,
    Escape,
    Hex,
}

/// Bytes of a backslash, a `u` and four hex digits.
const UNICODE_ESCAPE_BYTES: usize = 6;

impl JsonReader {
    pub(in crate::phi) fn push(&mut self, letter: char) -> Unit {
        match self.state {
            State::Outside => {
                if letter == '"' {
                    self.state = State::String;
                }
                Unit::Structure
            }
            State::String => match letter {
                '"' => {
                    self.state = State::Outside;
                    Unit::Structure
                }
                '\\' => {
                    self.escape.push(letter);
                    self.state = State::Escape;
                    Unit::Partial
                }
                _ => Unit::Plain,
            },
            State::Escape => {
                self.escape.push(letter);
                if letter == 'u' {
                    self.state = State::Hex;
                    Unit::Partial
                } else {
                    self.complete(short_escape(letter))
                }
            }
            State::Hex => {
                self.escape.push(letter);
                if self.escape.len() < UNICODE_ESCAPE_BYTES {
                    return Unit::Partial;
                }
                // Half of a surrogate pair reads as a character that no placeholder has.
                let reads = self
                    .escape
                    .get(2..)
                    .and_then(|digits| u32::from_str_radix(digits, 16).ok())
                    .and_then(char::from_u32)
                    .unwrap_or(char::REPLACEMENT_CHARACTER);
                self.complete(reads)
            }
        }
    }

    /// Whether this place is within a string.
    pub(super) fn in_string(&self) -> bool {
        self.state != State::Outside
    }

    /// The end of the text: an escape sequence that never became complete.
    pub(in crate::phi) fn finish(&mut self) -> String {
        std::mem::take(&mut self.escape)
    }

    fn complete(&mut self, reads: char) -> Unit {
        self.state = State::String;
        Unit::Escaped {
            reads,
            raw: self.finish(),
        }
    }
}

const fn short_escape(letter: char) -> char {
    match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        other => other,
    }
}

/// What the inside of a JSON string reads as; nothing where that is what stands there.
pub(in crate::phi) fn unescape(raw: &str) -> Option<Rewrite> {
    if !raw.contains('\\') {
        return None;
    }
    let mut rewriter = Rewriter::new(raw);
    let mut reader = JsonReader {
        state: State::String,
        escape: String::new(),
    };
    // The first half of a surrogate pair, and where it stands.
    let mut high: Option<(usize, u16)> = None;
    for (at, letter) in raw.char_indices() {
        let end = at + letter.len_utf8();
        let Unit::Escaped { reads, raw: escape } = reader.push(letter) else {
            continue;
        };
        let start = end - escape.len();
        let half = escape
            .strip_prefix("\\u")
            .and_then(|digits| u16::from_str_radix(digits, 16).ok())
            .filter(|unit| (0xd800..0xe000).contains(unit));
        let pair = match (
            high.take()
                .filter(|(from, _)| from + UNICODE_ESCAPE_BYTES == start),
            half,
        ) {
            (Some((from, first)), Some(second)) => char::decode_utf16([first, second])
                .next()
                .and_then(Result::ok)
                .map(|letter| (from, letter)),
            _ => None,
        };
        let mut utf8 = [0; 4];
        match (pair, half) {
            (Some((from, letter)), _) => rewriter.replace(from..end, letter.encode_utf8(&mut utf8)),
            (None, Some(unit)) => high = Some((start, unit)),
            (None, None) => rewriter.replace(start..end, reads.encode_utf8(&mut utf8)),
        }
    }
    rewriter.finish()
}

/// Text as it stands within `strings` strings of JSON, at least one. What has escapes that nobody writes elsewhere came
/// out of one, which could not be seen, and goes into the innermost as it is.
pub(super) fn escaped(text: &str, strings: usize) -> String {
    let is_escaped = ["\\u", "\\\"", "\\/"]
        .iter()
        .any(|escape| text.contains(escape));
    let innermost = if is_escaped && is_value(&format!("\"{text}\"")) {
        text.to_owned()
    } else {
        escape(text)
    };
    (1..strings).fold(innermost, |text, _| escape(&text))
}

/// Text as it stands inside a JSON string.
fn escape(text: &str) -> String {
    let mut quoted = Value::from(text).to_string();
    quoted.pop();
    quoted.split_off(1)
}

/// Whether numbers of JSON have such a sign.
pub(in crate::phi) fn is_of_number(sign: char) -> bool {
    sign.is_ascii_digit() || "+-.eE".contains(sign)
}

/// Whether a text is one value of JSON.
pub(super) fn is_value(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}
