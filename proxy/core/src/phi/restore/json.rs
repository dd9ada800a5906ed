//! JSON text read character by character, only as far as restoring needs it: where strings are, and what
//! their escapes mean. It does not validate.

/// What one more character of the text gives.
pub(super) enum Unit {
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
pub(super) struct JsonReader {
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

/// Length of `\uXXXX` in bytes.
const UNICODE_ESCAPE_BYTES: usize = 6;

impl JsonReader {
    pub(super) fn push(&mut self, letter: char) -> Unit {
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

    /// The end of the text: an escape sequence that never became complete.
    pub(super) fn finish(&mut self) -> String {
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

/// Appends text as it stands inside a JSON string.
pub(super) fn escape_into(text: &str, out: &mut String) {
    let quoted = serde_json::Value::from(text).to_string();
    out.push_str(
        quoted
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .unwrap_or_default(),
    );
}
