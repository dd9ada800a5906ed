//! Numbers that were PHI. A placeholder is no number, so that a model can only say it in a string, also where a schema
//! asks for a number: what comes back there is a number again.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::json::{JsonReader, Unit};
use crate::phi::promised;

/// Under which keys a JSON Schema wants numbers only, alone or in lists.
#[derive(Default)]
pub(in crate::phi) struct NumberKeys {
    keys: HashSet<String>,
}

/// What a schema allows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    Numbers,
    /// Nothing that says anything of a number: `null`, and what stands for placeholders.
    Nothing,
    Others,
}

/// References and alternatives that are followed, one within the other.
const MAX_DEPTH: usize = 8;

impl NumberKeys {
    /// What a schema says. A key that stands for something else anywhere in it is none of them.
    pub(in crate::phi) fn of(schema: &Value) -> Self {
        let (mut keys, mut others) = (HashSet::new(), HashSet::new());
        let mut rest = vec![schema];
        while let Some(inner) = rest.pop() {
            match inner {
                Value::Object(fields) => {
                    if let Some(Value::Object(properties)) = fields.get("properties") {
                        for (key, value) in properties {
                            match wants(value, schema, 0) {
                                Wants::Numbers => keys.insert(key.clone()),
                                Wants::Nothing | Wants::Others => others.insert(key.clone()),
                            };
                        }
                    }
                    rest.extend(fields.values());
                }
                Value::Array(items) => rest.extend(items),
                _ => {}
            }
        }
        keys.retain(|key| !others.contains(key));
        Self { keys }
    }

    pub(in crate::phi) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

fn wants(schema: &Value, root: &Value, depth: usize) -> Wants {
    let Value::Object(fields) = schema else {
        return Wants::Others;
    };
    if depth == MAX_DEPTH {
        return Wants::Others;
    }
    if promised::is_of_placeholders(schema) {
        return Wants::Nothing;
    }
    match fields.get("type") {
        Some(Value::String(word)) => of_type(word, fields, root, depth),
        Some(Value::Array(words)) => all(words
            .iter()
            .map(|word| of_type(word.as_str().unwrap_or_default(), fields, root, depth))),
        Some(_) => Wants::Others,
        None => {
            let alternatives = ["anyOf", "oneOf", "allOf"];
            let listed = alternatives
                .iter()
                .find_map(|word| fields.get(*word)?.as_array());
            if let Some(listed) = listed {
                return all(listed.iter().map(|inner| wants(inner, root, depth + 1)));
            }
            let target = fields
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|target| root.pointer(target.strip_prefix('#')?));
            target.map_or(Wants::Others, |inner| wants(inner, root, depth + 1))
        }
    }
}

fn of_type(word: &str, fields: &Map<String, Value>, root: &Value, depth: usize) -> Wants {
    match word {
        "integer" | "number" => Wants::Numbers,
        "null" => Wants::Nothing,
        "array" => fields
            .get("items")
            .map_or(Wants::Others, |items| wants(items, root, depth + 1)),
        _ => Wants::Others,
    }
}

/// What several alternatives want together.
fn all(alternatives: impl Iterator<Item = Wants>) -> Wants {
    alternatives.fold(Wants::Nothing, |all, one| match (all, one) {
        (Wants::Others, _) | (_, Wants::Others) => Wants::Others,
        (Wants::Numbers, _) | (_, Wants::Numbers) => Wants::Numbers,
        (Wants::Nothing, Wants::Nothing) => Wants::Nothing,
    })
}

/// Takes the quotes from numbers under such keys, while the JSON text still arrives. Text that is no JSON passes.
pub(in crate::phi) struct Unquoter {
    keys: NumberKeys,
    reader: JsonReader,
    /// Whether some text came that JSON does not begin with.
    is_prose: bool,
    /// Brackets that are open: whether of a list, and whether a number is wanted in it.
    open: Vec<Level>,
    /// The string that is read: of a key, as far as it may be one.
    word: String,
    /// A string that may become a number, with its first quote.
    held: Option<String>,
    in_string: bool,
}

#[derive(Clone, Copy)]
struct Level {
    is_list: bool,
    /// Whether what comes next is wanted as a number.
    is_wanted: bool,
    /// Whether a value comes next, and no key.
    is_value: bool,
}

/// Digits of the longest number that every reader of JSON keeps as it is (RFC 8259, 6).
const MAX_DIGITS: usize = 15;
/// Bytes of the longest key that is compared.
const MAX_KEY_BYTES: usize = 256;

impl Unquoter {
    pub(in crate::phi) fn new(keys: NumberKeys) -> Self {
        Self {
            keys,
            reader: JsonReader::default(),
            is_prose: false,
            open: Vec::new(),
            word: String::new(),
            held: None,
            in_string: false,
        }
    }

    /// Takes in the next piece; gives what can be sent on.
    pub(in crate::phi) fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        for letter in piece.chars() {
            if self.is_prose {
                out.push(letter);
                continue;
            }
            let unit = self.reader.push(letter);
            match unit {
                Unit::Structure if letter == '"' => self.quote(&mut out),
                Unit::Structure => self.structure(letter, &mut out),
                Unit::Plain => self.letter(letter, &mut out),
                Unit::Partial => {}
                Unit::Escaped { reads, raw } => {
                    self.let_go(&mut out);
                    self.note(reads);
                    out.push_str(&raw);
                }
            }
        }
        out
    }

    /// The end of the text, or of what comes in one piece; gives what was held back.
    pub(in crate::phi) fn finish(&mut self) -> String {
        let mut out = String::new();
        self.let_go(&mut out);
        out.push_str(&self.reader.finish());
        out
    }

    fn quote(&mut self, out: &mut String) {
        self.in_string = !self.in_string;
        if self.in_string {
            self.word.clear();
            let level = self.open.last();
            if level.is_some_and(|level| level.is_value && level.is_wanted) {
                self.held = Some(String::from('"'));
            } else {
                out.push('"');
            }
            return;
        }
        match self.held.take() {
            Some(held) => {
                let number = held.get(1..).unwrap_or_default();
                let digits = number.bytes().filter(u8::is_ascii_digit).count();
                let is_number = digits <= MAX_DIGITS
                    && serde_json::from_str::<serde_json::Number>(number).is_ok();
                if is_number {
                    out.push_str(number);
                } else {
                    out.push_str(&held);
                    out.push('"');
                }
            }
            None => out.push('"'),
        }
    }

    fn letter(&mut self, letter: char, out: &mut String) {
        match &mut self.held {
            Some(held)
                if held.len() <= 2 * MAX_DIGITS
                    && (letter.is_ascii_digit() || "-.".contains(letter)) =>
            {
                held.push(letter);
            }
            _ => {
                self.let_go(out);
                self.note(letter);
                out.push(letter);
            }
        }
    }

    fn structure(&mut self, letter: char, out: &mut String) {
        out.push(letter);
        let wanted = self
            .open
            .last()
            .is_some_and(|level| level.is_value && level.is_wanted);
        match letter {
            '{' => self.open.push(Level {
                is_list: false,
                is_wanted: false,
                is_value: false,
            }),
            '[' => self.open.push(Level {
                is_list: true,
                is_wanted: wanted,
                is_value: true,
            }),
            '}' | ']' => drop(self.open.pop()),
            ':' => {
                let is_wanted = self.keys.keys.contains(&self.word);
                if let Some(level) = self.open.last_mut().filter(|level| !level.is_list) {
                    (level.is_wanted, level.is_value) = (is_wanted, true);
                }
            }
            ',' => {
                if let Some(level) = self.open.last_mut().filter(|level| !level.is_list) {
                    (level.is_wanted, level.is_value) = (false, false);
                }
            }
            _ if self.open.is_empty() && !letter.is_ascii_whitespace() => self.is_prose = true,
            _ => {}
        }
    }

    fn note(&mut self, letter: char) {
        if self.word.len() < MAX_KEY_BYTES {
            self.word.push(letter);
        }
    }

    fn let_go(&mut self, out: &mut String) {
        if let Some(held) = self.held.take() {
            out.push_str(&held);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys(schema: &Value) -> Vec<String> {
        let mut keys: Vec<String> = NumberKeys::of(schema).keys.into_iter().collect();
        keys.sort();
        keys
    }

    #[test]
    fn keys_of_numbers_are_known_by_the_schema() {
        let schema = json!({
            "$defs": {
                "Id": {"type": "integer"},
                "Visit": {"type": "object", "properties": {"bed": {"type": "number"}, "name": {"type": "integer"}}}
            },
            "properties": {
                "mrn": {"type": "integer", "minimum": 1},
                "age": {"type": ["integer", "null"]},
                "zip": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "ids": {"type": "array", "items": {"type": "integer"}},
                "owner": {"$ref": "#/$defs/Id"},
                "visit": {"$ref": "#/$defs/Visit"},
                "name": {"type": "string"},
                "code": {"type": ["integer", "string"]},
                "any": {},
                "self": {"$ref": "#/properties/self"},
                "empty": {"type": "null"}
            }
        });
        assert_eq!(keys(&schema), ["age", "bed", "ids", "mrn", "owner", "zip"]);
        assert!(NumberKeys::of(&json!({"type": "integer"})).is_empty());
        let mut promised = schema.clone();
        promised::loosen_numbers(&mut promised);
        assert_eq!(keys(&promised), keys(&schema));
    }

    fn unquoted(text: &str, bytes: usize) -> String {
        let schema = json!({"properties": {
            "mrn": {"type": "integer"},
            "ids": {"type": "array", "items": {"type": "number"}},
            "n\u{e9}": {"type": "integer"},
            "note": {"type": "string"}
        }});
        let mut unquoter = Unquoter::new(NumberKeys::of(&schema));
        let letters: Vec<char> = text.chars().collect();
        let mut out = String::new();
        for piece in letters.chunks(bytes) {
            out.push_str(&unquoter.push(&piece.iter().collect::<String>()));
        }
        out.push_str(&unquoter.finish());
        out
    }

    #[test]
    fn a_number_loses_its_quotes_where_one_is_wanted() {
        for (text, expected) in [
            (r#"{"mrn": "4471223"}"#, r#"{"mrn": 4471223}"#),
            (
                r#"{"mrn":"-4.5","note":"12"}"#,
                r#"{"mrn":-4.5,"note":"12"}"#,
            ),
            (
                r#"{"ids": ["1", "x", "2"], "a": ["3"]}"#,
                r#"{"ids": [1, "x", 2], "a": ["3"]}"#,
            ),
            (
                r#"[{"mrn": "1"}, {"mrn": "2"}]"#,
                r#"[{"mrn": 1}, {"mrn": 2}]"#,
            ),
            (r#"{"n\u00e9": "7"}"#, r#"{"n\u00e9": 7}"#),
            (
                r#"{"ids": [{"note": "3", "mrn": "4"}]}"#,
                r#"{"ids": [{"note": "3", "mrn": 4}]}"#,
            ),
        ] {
            for bytes in [1, 2, 5, 100] {
                assert_eq!(unquoted(text, bytes), expected);
            }
        }
    }

    #[test]
    fn nothing_else_changes() {
        for text in [
            // Not a number of JSON, or one that readers would round.
            r#"{"mrn": "0044712"}"#,
            r#"{"mrn": "[MRN_1]", "ids": ["12 ", "", "1\u0031", "--1", "1.", "12a"]}"#,
            r#"{"mrn": "1234567890123456"}"#,
            r#"{"note": "mrn\": \"5", "x": {"note": "5"}}"#,
            r#"{"mrn": 5, "ids": [1, 2], "note": null}"#,
            r#"The mrn: {"mrn": "5"}"#,
            r#"{"mrn": "44"#,
            r#"{"mrn": "44\"#,
            "",
            "}]\"5\"",
        ] {
            for bytes in [1, 3, 100] {
                assert_eq!(unquoted(text, bytes), text);
            }
        }
    }
}
