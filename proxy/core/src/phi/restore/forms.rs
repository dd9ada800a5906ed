//! Numbers and dates that were PHI. A placeholder is no number, so that a model can only say it in a string, also where a
//! schema asks for a number: what comes back there is a number again. Where it asks for a date (`"format": "date"`), the
//! date comes back as JSON Schema has dates, however it was spelled, if there is no doubt which it is.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Map, Number, Value};

use super::dates;
use super::json::{JsonReader, Unit};
use crate::phi::promised;

/// Where a JSON Schema wants numbers and nothing else, or dates.
pub(in crate::phi) struct FormPlaces {
    shapes: Vec<Shape>,
    root: usize,
}

/// What stands at a place, as far as numbers or dates are asked for: positions in [`FormPlaces::shapes`].
enum Shape {
    /// Anything that is no number or date alone.
    Other,
    /// A number, or what stands for one.
    Number,
    /// `null`, which says nothing of a form.
    Nothing,
    Date,
    Object {
        named: HashMap<String, usize>,
        /// What stands under any other key.
        rest: usize,
    },
    List(usize),
    /// What stands at another position.
    Same(usize),
}

const OTHER: usize = 0;
const NUMBER: usize = 1;
const NOTHING: usize = 2;
const DATE: usize = 3;

impl FormPlaces {
    /// What a schema says; nothing where it wants no number or date. Of what is too deep or large nothing is said.
    pub(in crate::phi) fn of(schema: &Value) -> Option<Self> {
        let mut builder = Builder {
            root: schema,
            shapes: vec![Shape::Other, Shape::Number, Shape::Nothing, Shape::Date],
            known: HashMap::new(),
            has_forms: false,
        };
        let root = builder.shape(schema, 0);
        let Builder {
            shapes, has_forms, ..
        } = builder;
        let mut places = Self { shapes, root };
        places.root = places.settled(root);
        has_forms.then_some(places)
    }

    /// What stands under a key; nothing is known of a key that was not read whole.
    fn under(&self, object: usize, key: Option<&str>) -> usize {
        match (self.shapes.get(object), key) {
            (Some(Shape::Object { named, rest }), Some(key)) => {
                self.settled(named.get(key).copied().unwrap_or(*rest))
            }
            _ => OTHER,
        }
    }

    fn in_list(&self, list: usize) -> usize {
        match self.shapes.get(list) {
            Some(Shape::List(items)) => self.settled(*items),
            _ => OTHER,
        }
    }

    /// The position itself, of one that refers to others.
    fn settled(&self, mut at: usize) -> usize {
        for _ in 0..MAX_DEPTH {
            match self.shapes.get(at) {
                Some(Shape::Same(other)) => at = *other,
                _ => return at,
            }
        }
        OTHER
    }
}

struct Builder<'s> {
    root: &'s Value,
    shapes: Vec<Shape>,
    /// Schemas that were read or are being read, by where they are.
    known: HashMap<*const Value, usize>,
    has_forms: bool,
}

/// Schemas that are read, and how deep they lie within each other.
const MAX_SCHEMAS: usize = 4_096;
const MAX_DEPTH: usize = 64;

impl<'s> Builder<'s> {
    fn shape(&mut self, schema: &'s Value, depth: usize) -> usize {
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        let Value::Object(fields) = schema else {
            return OTHER;
        };
        if depth == MAX_DEPTH || self.known.len() == MAX_SCHEMAS {
            return OTHER;
        }
        // What refers to itself says nothing by that; objects and lists have their place at once.
        let place = self.shapes.len();
        self.shapes.push(Shape::Other);
        self.known.insert(schema, place);
        let shape = if promised::is_of_placeholders(fields) {
            NUMBER
        } else {
            self.read(fields, place, depth)
        };
        if shape != place {
            self.put(place, Shape::Same(shape));
            self.known.insert(schema, shape);
        }
        self.has_forms |= matches!(shape, NUMBER | DATE);
        shape
    }

    fn read(&mut self, fields: &'s Map<String, Value>, place: usize, depth: usize) -> usize {
        match fields.get("type") {
            Some(Value::String(word)) => self.of_type(word, fields, place, depth),
            Some(Value::Array(words)) => {
                let words: BTreeSet<&str> = words.iter().filter_map(Value::as_str).collect();
                let mut said = words.iter().filter(|word| **word != "null");
                match (said.next(), said.next(), said.next()) {
                    (None, ..) => NOTHING,
                    (Some(word), None, _) => self.of_type(word, fields, place, depth),
                    (Some(&"integer"), Some(&"number"), None) => NUMBER,
                    _ => OTHER,
                }
            }
            Some(_) => OTHER,
            None if fields.contains_key("properties") => self.object(fields, place, depth),
            None => {
                let alternatives = ["anyOf", "oneOf", "allOf"];
                let listed = alternatives
                    .iter()
                    .find_map(|word| fields.get(*word)?.as_array());
                if let Some(listed) = listed {
                    return self.all(listed, place, depth);
                }
                let root = self.root;
                let target = fields
                    .get("$ref")
                    .and_then(Value::as_str)
                    .and_then(|target| root.pointer(target.strip_prefix('#')?));
                target.map_or(OTHER, |inner| self.shape(inner, depth + 1))
            }
        }
    }

    fn of_type(
        &mut self,
        word: &str,
        fields: &'s Map<String, Value>,
        place: usize,
        depth: usize,
    ) -> usize {
        match word {
            "integer" | "number" => NUMBER,
            "string" if promised::wants_date(fields) => DATE,
            "null" => NOTHING,
            "object" => self.object(fields, place, depth),
            "array" => {
                let items = match fields.get("items") {
                    Some(items) if !fields.contains_key("prefixItems") => {
                        self.shape(items, depth + 1)
                    }
                    _ => OTHER,
                };
                self.put(place, Shape::List(items))
            }
            _ => OTHER,
        }
    }

    fn object(&mut self, fields: &'s Map<String, Value>, place: usize, depth: usize) -> usize {
        let mut named = HashMap::new();
        if let Some(Value::Object(properties)) = fields.get("properties") {
            for (key, value) in properties {
                // Of the rest nothing is known, nor of any other key.
                if self.known.len() >= MAX_SCHEMAS {
                    break;
                }
                named.insert(key.clone(), self.shape(value, depth + 1));
            }
        }
        let is_whole = self.known.len() < MAX_SCHEMAS && !fields.contains_key("patternProperties");
        let rest = match fields.get("additionalProperties") {
            Some(rest) if is_whole => self.shape(rest, depth + 1),
            _ => OTHER,
        };
        self.put(place, Shape::Object { named, rest })
    }

    /// What several alternatives are together: the only one that says something, or objects of which each key means the
    /// same wherever it stands.
    fn all(&mut self, alternatives: &'s [Value], place: usize, depth: usize) -> usize {
        let mut found = BTreeSet::new();
        for inner in alternatives {
            let shape = self.shape(inner, depth + 1);
            if shape != NOTHING {
                found.insert(shape);
            }
        }
        if found.len() < 2 {
            return found.first().copied().unwrap_or(NOTHING);
        }
        let mut together: HashMap<String, usize> = HashMap::new();
        for shape in found {
            let Some(Shape::Object { named, .. }) = self.shapes.get(shape) else {
                return OTHER;
            };
            for (key, shape) in named {
                match together.get_mut(key) {
                    Some(known) if known != shape => *known = OTHER,
                    Some(_) => {}
                    None => drop(together.insert(key.clone(), *shape)),
                }
            }
        }
        let object = Shape::Object {
            named: together,
            rest: OTHER,
        };
        self.put(place, object)
    }

    fn put(&mut self, place: usize, shape: Shape) -> usize {
        if let Some(slot) = self.shapes.get_mut(place) {
            *slot = shape;
        }
        place
    }
}

/// Takes the quotes from numbers where numbers are wanted, and spells dates as they are wanted, while the JSON text still
/// arrives. Text that is no JSON passes.
pub(in crate::phi) struct Former {
    places: Arc<FormPlaces>,
    reader: JsonReader,
    /// Whether some text came that JSON does not begin with.
    is_prose: bool,
    open: Vec<Level>,
    /// The last string, as far as it may be a key; nothing of one that is too long, or has half a character.
    word: Option<String>,
    /// A string that may become a number or a date.
    held: Option<Held>,
    in_string: bool,
}

struct Held {
    is_date: bool,
    /// With its first quote.
    text: String,
}

impl Held {
    /// Whether one more letter may belong to it.
    fn takes(&self, letter: char) -> bool {
        if self.is_date {
            self.text.len() <= dates::MAX_BYTES && dates::is_of_date(letter)
        } else {
            self.text.len() <= 2 * MAX_DIGITS && (letter.is_ascii_digit() || "-.".contains(letter))
        }
    }

    /// The value that the whole string is, without its last quote.
    fn value(mut self) -> String {
        let inside = self.text.get(1..).unwrap_or_default();
        if self.is_date {
            if let Some(iso) = dates::iso(inside) {
                self.text = format!("\"{iso}");
            }
        } else if is_number(inside) {
            return inside.to_owned();
        }
        self.text.push('"');
        self.text
    }
}

/// An object or a list that is open.
#[derive(Clone, Copy)]
struct Level {
    is_list: bool,
    shape: usize,
    /// What the next value is; nothing where a key comes first.
    value: Option<usize>,
}

/// Digits of the longest number that every reader of JSON keeps as it is (RFC 8259, 6).
const MAX_DIGITS: usize = 15;
/// Bytes of the longest key that is compared.
const MAX_KEY_BYTES: usize = 256;

impl Former {
    pub(in crate::phi) fn new(places: Arc<FormPlaces>) -> Self {
        Self {
            places,
            reader: JsonReader::default(),
            is_prose: false,
            open: Vec::new(),
            word: None,
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

    /// The end of the text; gives what was held back. Another text may follow.
    pub(in crate::phi) fn finish(&mut self) -> String {
        let mut out = String::new();
        self.let_go(&mut out);
        out.push_str(&self.reader.finish());
        *self = Self::new(Arc::clone(&self.places));
        out
    }

    fn quote(&mut self, out: &mut String) {
        self.in_string = !self.in_string;
        if self.in_string {
            self.word = Some(String::new());
            match self.open.last().and_then(|level| level.value) {
                Some(form @ (NUMBER | DATE)) => {
                    let (is_date, text) = (form == DATE, String::from('"'));
                    self.held = Some(Held { is_date, text });
                }
                _ => out.push('"'),
            }
            return;
        }
        match self.held.take() {
            Some(held) => out.push_str(&held.value()),
            None => out.push('"'),
        }
    }

    fn letter(&mut self, letter: char, out: &mut String) {
        match &mut self.held {
            Some(held) if held.takes(letter) => held.text.push(letter),
            _ => {
                self.let_go(out);
                self.note(letter);
                out.push(letter);
            }
        }
    }

    fn structure(&mut self, letter: char, out: &mut String) {
        out.push(letter);
        let shape = match self.open.last() {
            Some(level) => level.value.unwrap_or(OTHER),
            None => self.places.root,
        };
        match letter {
            '{' => self.open.push(Level {
                is_list: false,
                shape,
                value: None,
            }),
            '[' => self.open.push(Level {
                is_list: true,
                shape,
                value: Some(self.places.in_list(shape)),
            }),
            '}' | ']' => drop(self.open.pop()),
            ':' | ',' => {
                if let Some(level) = self.open.last_mut().filter(|level| !level.is_list) {
                    let is_value = letter == ':';
                    level.value =
                        is_value.then(|| self.places.under(level.shape, self.word.as_deref()));
                }
            }
            _ if self.open.is_empty() && !letter.is_ascii_whitespace() => self.is_prose = true,
            _ => {}
        }
    }

    fn note(&mut self, letter: char) {
        match &mut self.word {
            Some(word) if word.len() < MAX_KEY_BYTES && letter != char::REPLACEMENT_CHARACTER => {
                word.push(letter);
            }
            word => *word = None,
        }
    }

    fn let_go(&mut self, out: &mut String) {
        if let Some(held) = self.held.take() {
            out.push_str(&held.text);
        }
    }
}

/// Whether a value is a number that JSON has, and that no reader rounds.
pub(in crate::phi) fn is_number(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_plain = value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
    is_plain && digits <= MAX_DIGITS && serde_json::from_str::<Number>(value).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn formed_by(schema: &Value, text: &str, letters: usize) -> String {
        let Some(places) = FormPlaces::of(schema) else {
            return text.to_owned();
        };
        let mut former = Former::new(Arc::new(places));
        let all: Vec<char> = text.chars().collect();
        let mut out = String::new();
        for piece in all.chunks(letters) {
            out.push_str(&former.push(&piece.iter().collect::<String>()));
        }
        out.push_str(&former.finish());
        out
    }

    #[test]
    fn a_schema_says_where_numbers_are_wanted() {
        let schema = json!({
            "$defs": {
                "Id": {"type": "integer"},
                "Visit": {"type": "object", "properties": {
                    "bed": {"type": "number"}, "name": {"type": "integer"},
                    "next": {"$ref": "#/$defs/Visit"}
                }}
            },
            "properties": {
                "mrn": {"type": "integer", "minimum": 1},
                "age": {"type": ["integer", "null"]},
                "zip": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "ids": {"type": "array", "items": {"type": "integer"}},
                "owner": {"$ref": "#/$defs/Id"},
                "visit": {"$ref": "#/$defs/Visit"},
                "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
                "name": {"type": "string"},
                "code": {"type": ["integer", "string"]},
                "env": {"type": "object", "additionalProperties": {"type": "string"}},
                "free": {"type": "object"},
                "any": {},
                "self": {"$ref": "#/properties/self"},
                "row": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}}
            }
        });
        let text = r#"{"mrn":"1","age":"1","zip":"1","ids":["1"],"owner":"1",
            "visit":{"bed":"1","name":"1","next":{"bed":"1","mrn":"1"}},"counts":{"a":"1","mrn":"1"},
            "name":"1","code":"1","env":{"mrn":"1"},"free":{"mrn":"1"},"any":"1","self":"1","row":["1"],"x":"1"}"#;
        let expected = r#"{"mrn":1,"age":1,"zip":1,"ids":[1],"owner":1,
            "visit":{"bed":1,"name":1,"next":{"bed":1,"mrn":"1"}},"counts":{"a":1,"mrn":1},
            "name":"1","code":"1","env":{"mrn":"1"},"free":{"mrn":"1"},"any":"1","self":"1","row":["1"],"x":"1"}"#;
        assert_eq!(formed_by(&schema, text, 7), expected);
        let mut promised = schema.clone();
        let alternative = promised::alternative(&["MRN".to_owned()].into());
        promised::loosen(&mut promised, &alternative.unwrap_or_default());
        assert_ne!(promised, schema);
        assert_eq!(formed_by(&promised, text, 7), expected);
        // Alternatives, and what refers to what is not read to its end.
        let visit = json!({"properties": {"kind": {"const": "visit"}, "mrn": {"type": "integer"}, "n": {"type": "integer"}}});
        let bill = json!({"properties": {"kind": {"const": "bill"}, "sum": {"type": "number"}, "n": {"type": "string"}}});
        let either = json!({"anyOf": [visit, bill]});
        let text = r#"{"kind":"1","mrn":"1","sum":"1","n":"1"}"#;
        let expected = r#"{"kind":"1","mrn":1,"sum":1,"n":"1"}"#;
        assert_eq!(formed_by(&either, text, 5), expected);
        let chain = json!({
            "$ref": "#/$defs/N",
            "$defs": {"N": {"anyOf": [
                {"type": "object", "properties": {"mrn": {"type": "integer"}, "next": {"$ref": "#/$defs/N"}}},
                {"type": "null"}
            ]}}
        });
        let text = r#"{"mrn":"1","next":{"mrn":"1","next":{"mrn":"1"}}}"#;
        let expected = r#"{"mrn":1,"next":{"mrn":1,"next":{"mrn":1}}}"#;
        assert_eq!(formed_by(&chain, text, 5), expected);
        let list = json!({"type": "array", "items": {"properties": {"a": {"type": "number"}}}});
        assert_eq!(formed_by(&list, r#"[{"a":"1"}]"#, 3), r#"[{"a":1}]"#);
        for schema in [
            json!({"type": "string"}),
            json!(true),
            json!({"properties": {}}),
        ] {
            assert!(FormPlaces::of(&schema).is_none());
        }
    }

    /// References that lead to each other in every way cost no more than they are.
    #[test]
    fn a_schema_is_read_once() {
        let around: Vec<Value> = (0..200).map(|_| json!({"$ref": "#/$defs/a"})).collect();
        let schema = json!({
            "properties": {"x": {"$ref": "#/$defs/a"}, "n": {"type": "integer"}},
            "$defs": {"a": {"anyOf": around}}
        });
        assert_eq!(
            formed_by(&schema, r#"{"x":"1","n":"1"}"#, 4),
            r#"{"x":"1","n":1}"#
        );
        let mut deep = json!({"type": "integer"});
        for _ in 0..500 {
            deep = json!({"anyOf": [deep]});
        }
        let schema = json!({"properties": {"x": deep}});
        assert_eq!(formed_by(&schema, r#"{"x":"1"}"#, 4), r#"{"x":"1"}"#);
    }

    fn formed(text: &str, letters: usize) -> String {
        let schema = json!({"properties": {
            "mrn": {"type": "integer"},
            "ids": {"type": "array", "items": {"type": "number"}},
            "n\u{e9}": {"type": "integer"},
            "note": {"type": "string"}
        }});
        formed_by(&schema, text, letters)
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
            (r#"{"n\u00e9": "7"}"#, r#"{"n\u00e9": 7}"#),
        ] {
            for bytes in [1, 2, 5, 100] {
                assert_eq!(formed(text, bytes), expected);
            }
        }
    }

    #[test]
    fn a_date_is_spelled_as_one_is_wanted() {
        let day = || json!({"type": "string", "format": "date"});
        let described = json!({"type": "string", "description": "When.\n\n{\"format\":\"date\"}"});
        let schema = json!({"properties": {
            "a": day(), "b": described, "c": {"anyOf": [day(), {"type": "null"}]},
            "d": {"type": "array", "items": day()}, "e": {"type": "string"},
            "f": {"anyOf": [day(), {"type": "string"}]}
        }});
        let text = r#"{"a":"March 4, 1961","b":"4 Mar 1961","c":"1961-03-04","d":["25.12.1961","03/04/1961"],"e":"March 4, 1961","f":"March 4, 1961"}"#;
        let expected = r#"{"a":"1961-03-04","b":"1961-03-04","c":"1961-03-04","d":["1961-12-25","03/04/1961"],"e":"March 4, 1961","f":"March 4, 1961"}"#;
        for letters in [1, 3, 500] {
            assert_eq!(formed_by(&schema, text, letters), expected);
        }
        for text in [
            r#"{"a":"March 4, 1961 or so, as far as anybody in the family remembers"}"#,
            r#"{"a":"March\u0020 4, 1961","d":["[DATE_1]","March 4, 1961"#,
            r#"{"a":""}"#,
        ] {
            assert_eq!(formed_by(&schema, text, 2), text);
        }
    }

    /// What is told of numbers that were replaced is what is read here.
    #[test]
    fn numbers_that_were_listed_come_back_as_numbers() {
        let told = "The placeholder that stands for the number, with its brackets.";
        let one = json!({"type": "string", "enum": ["[MRN_1]"], "description": format!("Whose.\n\n{told}")});
        let schema = json!({"properties": {
            "a": one, "b": {"anyOf": [{"type": ["integer", "null"], "enum": [7, null]}, one]},
            "c": {"type": "string", "description": "Whose."}
        }});
        let text = r#"{"a":"5550123","b":"5550123","c":"5550123"}"#;
        let expected = r#"{"a":5550123,"b":5550123,"c":"5550123"}"#;
        assert_eq!(formed_by(&schema, text, 4), expected);
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
            r#"{"mrn\ud83d\ude00": "5"}"#,
            "",
            "}]\"5\"",
        ] {
            for bytes in [1, 3, 100] {
                assert_eq!(formed(text, bytes), text);
            }
        }
    }
}
